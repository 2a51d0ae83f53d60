//! What the command line of an agent switches off, or reads in place of the user's settings.

use crate::interpreter::{Machine, Value};

/// Options by which nobody is asked any more, or nothing looks on.
const UNASKED: &[&str] = &[
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-allow-all",
    "--dangerously-bypass-hook-trust",
    "--skip-permissions-unsafe",
    "--yolo",
    "--trust-all-tools",
    "--allow-all-tools",
    "--allow-all",
    "--yes-always",
    "--pure",
    "--safe-mode",
    "--bare",
    "--no-hooks",
    "--disable-hooks",
    "--no-plugins",
    "--disable-plugins",
    "--no-extensions",
    "--no-sandbox",
    "--disable-sandbox",
    "--auto-approve",
    "--accept-hooks",
    "--ignore-user-config",
    "--allow-all-paths",
    "--always-approve",
    "--no-confirm",
    "--auto_run",
    "--auto-run",
    "--cowboy-mode",
];

/// Options with a value that says the same.
const UNASKED_VALUES: &[(&[&str], &[&str])] = &[
    (&["--permission-mode"], &["bypassPermissions"]),
    (&["--approval-mode", "--approval-policy"], &["yolo", "never"]),
    (&["-s", "--sandbox"], &["danger-full-access", "none", "false", "off"]),
    (&["--auto"], &["high"]),
    (&["--setting-sources"], &[""]),
    (&["--trust-tools"], &["*"]),
    (&["--ask-for-approval"], &["never"]),
    // A tool that runs commands, whichever: everything can be done with it.
    (&["--allow-tool"], &["shell", "shell(*)", "shell(*:*)", "*"]),
    (&["--allowedTools", "--allowed-tools"], &["Bash", "Bash(*)", "Bash(*:*)", "*"]),
    (&["--agent"], &["auto-approve"]),
];

/// Options of single agents that say the same (sources: what each prints for `--help`, and its documentation).
const OWN: &[(&[&str], &[&str])] = &[
    (
        &[
            "gemini",
            "gemini-cli",
            "qwen",
            "qwen-code",
            "crush",
            "kimi",
            "kimi-cli",
            "iflow",
            "codebuddy",
            "cline",
            "mini",
            "mini-swe-agent",
            "gptme",
            "interpreter",
            "open-interpreter",
        ],
        &["-y"],
    ),
    (&["cursor-agent"], &["-f", "--force"]),
    (&["aider", "aider-chat"], &["--yes"]),
    (&["kilo", "kilocode", "cn"], &["--auto"]),
    (&["plandex", "pdx"], &["--full", "--auto-exec"]),
    (&["q", "kiro-cli"], &["-a"]),
    (&["openhands"], &["--headless"]),
];

/// Options by which an agent looks for its settings elsewhere, or takes those of the folder it is in without a question (source: what each
/// prints for `--help`).
const ELSEWHERE: &[(&[&str], &[&str])] = &[
    (&["gemini", "gemini-cli"], &["--policy", "--admin-policy", "--skip-trust"]),
    (&["claude", "claude-code"], &["--plugin-dir"]),
    (&["copilot"], &["--config-dir"]),
    (&["cline"], &["--config", "--data-dir", "--hooks-dir"]),
    (&["droid"], &["--settings"]),
];

/// Options with which the hooks of an agent do not run: observed with Gemini CLI 0.61.
const WITHOUT_HOOKS: &[(&[&str], &[&str])] = &[(&["gemini", "gemini-cli"], &["--acp", "--experimental-acp"])];

/// The options of Codex that change a setting for one run.
const CODEX_SETTINGS: &[&str] = &["-c", "--config", "--disable"];

/// Agents that ask nobody of themselves: with one of these words, or always where there are none. Sources: the documentation of opencode
/// ("Permissions": everything is allowed unless it is configured), pi ("no permission prompts"), Crush (`crush run` approves by itself), Mistral
/// Vibe (programmatic mode), Kimi CLI (`--print` implies `--yolo`), Cursor (`--print` has full write access), gptme (`--non-interactive`),
/// Auggie (`--print`), trae-agent (`run`), Codebuff, Forge, Grok CLI (headless mode), goose (`auto` is its mode).
const BY_THEMSELVES: &[(&[&str], &[&str])] = &[
    (&["pi", "codebuff", "forge"], &[]),
    // Without these a user sits before its screen.
    (&["opencode", "opencode-ai", "kilo", "kilocode"], &["run", "--prompt", "github", "pr"]),
    (&["crush", "trae-cli"], &["run"]),
    (&["vibe", "grok", "grok-cli"], &["-p", "--prompt"]),
    (&["kimi", "kimi-cli"], &["--print"]),
    (&["cursor-agent", "cursor", "auggie"], &["-p", "--print"]),
    (&["gptme"], &["-n", "--non-interactive"]),
];

/// Whether the options switch off what would ask.
pub(super) fn asks_nobody(words: &[&str], program: &str) -> Option<&'static str> {
    let by_option = words.iter().any(|word| UNASKED.contains(&word.split('=').next().unwrap_or(word)));
    let by_value = UNASKED_VALUES.iter().any(|(options, values)| {
        words.iter().enumerate().any(|(index, word)| {
            let (name, attached) =
                word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
            options.contains(&name)
                && attached.or(words.get(index + 1).copied()).is_some_and(|value| values.contains(&value))
        })
    });
    let by_own = OWN.iter().any(|(programs, options)| {
        programs.contains(&program) && words.iter().any(|word| options.contains(word))
    });
    let by_own = by_own || program == "codex" && words.windows(2).any(|pair| matches!(pair, ["-a", "never"]));
    // Settings that are given as text count before those of the user.
    let by_settings = words.iter().any(|word| word.contains("disableAllHooks"));
    (by_option || by_value || by_own || by_settings).then_some("starts an agent that asks nobody")
}

/// Whether the agent asks nobody of itself.
pub(super) fn by_itself(words: &[&str], program: &str) -> Option<&'static str> {
    let by_itself = BY_THEMSELVES.iter().any(|(programs, options)| {
        programs.contains(&program) && (options.is_empty() || words.iter().any(|word| options.contains(word)))
    });
    by_itself.then_some("starts an agent that asks nobody")
}

/// Whether the agent is told to look for settings elsewhere, or that some of its own do not count.
///
/// Claude Code may be given settings in a file that switch off what would ask, or that are not known, or leaves some of its own out
/// (Claude Code, "CLI reference": `--settings`, `--setting-sources`).
pub(super) fn with_other_settings(
    machine: &Machine<'_>,
    words: &[&str],
    program: &str,
) -> Option<&'static str> {
    let values = |option: &'static str| {
        words.iter().enumerate().filter_map(move |(index, word)| match word.strip_prefix(option)? {
            "" => words.get(index + 1).copied(),
            attached => attached.strip_prefix('='),
        })
    };
    let is_given = |option: &&'static str| {
        words.iter().any(|word| {
            word.strip_prefix(*option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    let names = |table: &[(&[&str], &[&'static str])]| {
        table.iter().any(|(programs, options)| programs.contains(&program) && options.iter().any(is_given))
    };
    if names(WITHOUT_HOOKS)
        || program == "codex" && CODEX_SETTINGS.iter().any(|option| values(option).any(unhooks))
    {
        return Some("starts an agent whose hooks do not run");
    }
    if program == "codex"
        && (["-c", "--config"].iter().any(|option| values(option).any(leads_elsewhere))
            || ["-p", "--profile"]
                .iter()
                .any(|option| values(option).any(|name| steers_by_profile(machine, name))))
    {
        return Some("starts an agent with other settings than its own");
    }
    if names(ELSEWHERE) {
        return Some("starts an agent with other settings than its own");
    }
    if !matches!(program, "claude" | "claude-code") {
        return None;
    }
    let leaves_out = values("--setting-sources").any(|sources| {
        ["user", "project", "local"].iter().any(|source| !sources.split(',').any(|one| one.trim() == *source))
    });
    let holds_what_asks = |file: &str| {
        let path = machine.one_path_through(&Value::exact(file));
        let text = path.map(|path| machine.announced_text(&path));
        text.as_ref().and_then(Value::as_exact).is_some_and(|text| !text.contains("disableAllHooks"))
    };
    let by_file =
        values("--settings").any(|given| !given.trim_start().starts_with('{') && !holds_what_asks(given));
    (leaves_out || by_file).then_some("starts an agent with other settings than its own")
}

/// Parts of the keys by which Codex asks nobody, calls no hooks, or runs without bounds (Codex 0.169, "Config": its strings hold each).
const CODEX_UNHOOKING: &[&str] =
    &["hook", "approval_policy", "sandbox_mode", "trust_level", "sandbox_workspace_write", "permissions"];

/// Parts of the keys by which it starts other programs, talks to somebody else, or obeys other instructions.
const CODEX_STEERING: &[&str] = &[
    "model_provider",
    "base_url",
    "mcp_servers",
    "shell_environment_policy",
    "notify",
    "instructions",
    "project_doc",
    "plugins",
    "profile",
];

/// Whether a setting that Codex is given by its command line is about what calls the guard, or what asks.
fn unhooks(setting: &str) -> bool {
    CODEX_UNHOOKING.iter().any(|part| setting.contains(part))
}

/// Whether a setting that Codex is given by its command line leads it to other programs, hosts or instructions.
fn leads_elsewhere(setting: &str) -> bool {
    let key = setting.split('=').next().unwrap_or(setting);
    CODEX_STEERING.iter().any(|part| key.contains(part))
}

/// Whether a profile of Codex may change what asks or looks on: a file of its own over the settings of the user (help of 0.169: `--profile`), of
/// which nothing is known where it cannot be read.
fn steers_by_profile(machine: &Machine<'_>, name: &str) -> bool {
    let file = machine.world().place().home.join(&format!(".codex/{name}.config.toml"));
    let text = machine.announced_text(&file);
    let is_plain = |text: &str| {
        let mut settings = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        !settings.any(|line| unhooks(line) || leads_elsewhere(line) || line.starts_with("[features"))
    };
    !text.as_exact().is_some_and(is_plain)
}
