//! Other coding agents: what they are started with decides who looks on.

use checkrein_facts::GuardedStart;
use checkrein_protocol::AbsolutePath;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};

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
    (&["--allow-tool"], &["shell", "*"]),
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

/// The modes of goose in which it asks. Where nothing is said it does not (source: its guide to permission modes).
const ASKING_MODES: &[&str] = &["approve", "smart_approve", "chat"];

/// Agents that ask nobody of themselves: with one of these words, or always where there are none. Sources: the documentation of opencode
/// ("Permissions": everything is allowed unless it is configured), pi ("no permission prompts"), Crush (`crush run` approves by itself), Mistral
/// Vibe (programmatic mode), Kimi CLI (`--print` implies `--yolo`), Cursor (`--print` has full write access), gptme (`--non-interactive`),
/// Auggie (`--print`), trae-agent (`run`), Codebuff, Forge, Grok CLI (headless mode), goose (`auto` is its mode).
const BY_THEMSELVES: &[(&[&str], &[&str])] = &[
    (&["pi", "codebuff", "forge"], &[]),
    // Without these a user sits before its screen.
    (&["opencode", "opencode-ai"], &["run", "--prompt", "github", "pr"]),
    (&["crush", "trae-cli"], &["run"]),
    (&["vibe", "grok", "grok-cli"], &["-p", "--prompt"]),
    (&["kimi", "kimi-cli"], &["--print"]),
    (&["cursor-agent", "cursor", "auggie"], &["-p", "--print"]),
    (&["gptme"], &["-n", "--non-interactive"]),
];

/// Variables that say the same, whatever they hold but a plain no.
const UNASKED_VARIABLES: &[&str] = &[
    "OPENCODE_PURE",
    "OPENCODE_YOLO",
    "OPENCODE_PERMISSION",
    "IS_SANDBOX",
    "GEMINI_YOLO",
    "HERMES_YOLO_MODE",
    "CLAUDE_CODE_SIMPLE",
    "COPILOT_ALLOW_ALL",
    "ALTIMATE_CLI_YOLO",
];

/// Variables that a plain no switches off.
const SWITCHES: &[&str] = &["PLUGINS", "HOOKS", "EXTENSIONS"];

/// Variables that tell an agent where its settings lie, and its guard where its state does; another place means other hooks, or none, and
/// another memory of what the user allowed and stopped.
const PLACES: &[&str] = &[
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "CHECKREIN_HOME",
    "CHECKREIN_RUN",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "KIRO_HOME",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "HERMES_HOME",
    "OPENCLAW_HOME",
    "OPENCLAW_CONFIG_PATH",
    "AMP_SETTINGS_FILE",
    "COPILOT_HOME",
    "GOOSE_CONFIG_DIR",
    "CURSOR_CONFIG_DIR",
    "QWEN_HOME",
    "PI_CODING_AGENT_DIR",
];

/// Subcommands that handle what watches an agent.
const WATCHING: &[&str] = &["plugin", "plugins", "hook", "hooks", "extension", "extensions"];
/// Verbs that take something away from it.
const TAKING_AWAY: &[&str] =
    &["remove", "rm", "uninstall", "disable", "delete", "off", "unlink", "clear", "reset", "revoke"];
/// Subcommands with what others wrote for an agent, and the verbs that take more of it in.
const EXTENDING: &[&str] =
    &["plugin", "plugins", "extension", "extensions", "skill", "skills", "marketplace"];
const TAKING_IN: &[&str] = &["install", "add", "i", "link", "import", "update", "upgrade"];
/// Subcommands that start no agent.
const LOOKING: &[&str] = &[
    "mcp",
    "config",
    "doctor",
    "login",
    "logout",
    "auth",
    "export",
    "upgrade",
    "models",
    "update",
    "list",
    "ls",
    "completion",
    "completions",
    "status",
    "version",
    "help",
    "sessions",
    "stats",
    "usage",
    "whoami",
];
/// What a setting is about when its loss leaves an agent unwatched.
const WATCHED_SETTINGS: &[&str] = &["plugin", "hook", "permission", "approval", "sandbox", "trust", "yolo"];

/// Packages of npm, and the agents in them (sources: the page of each on npmjs.com, its `bin`).
const PACKAGES: &[(&str, &str)] = &[
    ("@anthropic-ai/claude-code", "claude"),
    ("@anthropic-ai/claude-agent-sdk", "claude"),
    ("@openai/codex", "codex"),
    ("@google/gemini-cli", "gemini"),
    ("@qwen-code/qwen-code", "qwen"),
    ("@sourcegraph/amp", "amp"),
    ("@github/copilot", "copilot"),
    ("@charmland/crush", "crush"),
    ("@kilocode/cli", "kilocode"),
    ("@continuedev/cli", "cn"),
    ("@augmentcode/auggie", "auggie"),
    ("@iflow-ai/iflow-cli", "iflow"),
    ("@tencent-ai/codebuddy-code", "codebuddy"),
    ("@vibe-kit/grok-cli", "grok"),
    ("@mariozechner/pi-coding-agent", "pi"),
    ("opencode-ai", "opencode"),
    ("openclaw", "openclaw"),
    ("codebuff", "codebuff"),
    ("cline", "cline"),
];

/// The agent that a package holds, also with a version or a path in it behind its name.
pub(super) fn of_package(text: &str) -> Option<&'static str> {
    let is_meant = |package: &str| {
        text.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    };
    PACKAGES.iter().find(|(package, _)| is_meant(package)).map(|(_, program)| *program)
}

/// The agent whose code a file is, by the package in which it lies.
pub(super) fn of_file(file: &Value) -> Option<&'static str> {
    let text = file.as_exact().map_or_else(|| file.known_end(), str::to_owned);
    match text.rsplit_once("node_modules/") {
        Some((_, own)) => of_package(own),
        // A folder of a project may have the plain name of a package.
        None => Some(text.trim_start_matches('/')).filter(|own| own.starts_with('@')).and_then(of_package),
    }
}

/// `claude`, `codex`, `gemini`, ...
pub(crate) fn agent(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    if words.iter().any(|word| matches!(*word, "--help" | "-h" | "--version" | "-v" | "-V"))
        && words.len() <= 2
    {
        return Exit::unknown();
    }
    let verb = words.iter().find(|word| !word.starts_with('-')).copied();
    let takes_away = verb.is_some_and(|verb| WATCHING.contains(&verb))
        && words.iter().any(|word| TAKING_AWAY.contains(word));
    let sets = verb == Some("config")
        && words.iter().any(|word| matches!(*word, "set" | "unset" | "remove" | "add"))
        && words
            .iter()
            .any(|word| WATCHED_SETTINGS.iter().any(|setting| word.to_lowercase().contains(setting)));
    if takes_away || sets {
        machine.add(unwatched("changes what watches the agent"));
        return Exit::unknown();
    }
    let takes_in = verb.is_some_and(|verb| EXTENDING.contains(&verb))
        && words.iter().skip(1).any(|word| TAKING_IN.contains(word));
    if takes_in {
        // Its hooks, commands and servers run in every later session, with the rights of the agent.
        machine.add(unwatched("adds code and instructions of others to every later session of the agent"));
        return Exit::unknown();
    }
    if verb == Some("mcp") {
        run_server(machine, call);
        return Exit::unknown();
    }
    if verb
        .is_some_and(|verb| LOOKING.contains(&verb) || WATCHING.contains(&verb) || EXTENDING.contains(&verb))
    {
        return Exit::unknown();
    }
    let goose = || by_mode_of_goose(machine, call);
    let other_settings = || with_other_settings(machine, &words, &call.program);
    if let Some(note) = asks_nobody(&words, &call.program)
        .or_else(goose)
        .or_else(other_settings)
        .or_else(|| lives_elsewhere(machine))
        .or_else(|| starts_unguarded(machine, call, &words))
    {
        machine.add(unwatched(note));
    }
    machine.opaque("starts another agent");
    Exit::unknown()
}

/// The options of `mcp add` that take a value (`claude`, `codex`, `gemini`).
const OF_SERVERS: &[&str] = &[
    "-e",
    "--env",
    "-t",
    "--transport",
    "-s",
    "--scope",
    "-H",
    "--header",
    "--url",
    "--timeout",
    "--description",
    "--bearer-token-env-var",
    "--include-tools",
    "--exclude-tools",
    "--client-id",
    "--callback-port",
];

/// What `mcp add NAME -- COMMAND` has every later session of the agent start.
fn run_server(machine: &mut Machine<'_>, call: &Call) {
    let text = |value: &Value| value.as_exact().map(str::to_owned);
    let Some(verb) = call.words.iter().position(|word| matches!(word.as_exact(), Some("add"))) else {
        return;
    };
    let given = call.words.get(verb + 1..).unwrap_or_default();
    let command = if let Some(end) = given.iter().position(|word| word.as_exact() == Some("--")) {
        given.get(end + 1..).unwrap_or_default()
    } else {
        let mut words = given.iter().enumerate();
        let mut operands = Vec::new();
        while let Some((place, word)) = words.next() {
            match text(word) {
                Some(option) if OF_SERVERS.contains(&option.as_str()) => drop(words.next()),
                Some(option) if option.starts_with('-') => {}
                Some(_) | None => operands.push(place),
            }
            // Behind the name stands the command with options of its own.
            if operands.len() == 2 {
                break;
            }
        }
        operands.get(1).and_then(|place| given.get(*place..)).unwrap_or_default()
    };
    let is_address = command.first().and_then(Value::as_exact).is_some_and(|word| word.contains("://"));
    if !command.is_empty() && !is_address {
        let command = command.to_vec();
        machine.possibly(|machine| machine.run_words(&command, Input::Inherited));
    }
}

fn unwatched(note: &str) -> Draft {
    Draft::new(EffectKind::SystemModification, Target::Service("another agent".to_owned()))
        .severity(Severity::High)
        .note(note)
}

/// Whether the options switch off what would ask.
fn asks_nobody(words: &[&str], program: &str) -> Option<&'static str> {
    let by_option = words.iter().any(|word| UNASKED.contains(&word.split('=').next().unwrap_or(word)));
    let by_value = UNASKED_VALUES.iter().any(|(options, values)| {
        words.iter().enumerate().any(|(index, word)| {
            let (name, attached) =
                word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
            options.contains(&name)
                && attached.or(words.get(index + 1).copied()).is_some_and(|value| values.contains(&value))
        })
    });
    let name = program.split(' ').next().unwrap_or(program);
    let by_own = OWN.iter().any(|(programs, options)| {
        programs.contains(&name) && words.iter().any(|word| options.contains(word))
    });
    let by_own = by_own || name == "codex" && words.windows(2).any(|pair| matches!(pair, ["-a", "never"]));
    let by_itself = BY_THEMSELVES.iter().any(|(programs, options)| {
        programs.contains(&name) && (options.is_empty() || words.iter().any(|word| options.contains(word)))
    });
    let by_own = by_own || by_itself;
    // Settings that are given as text count before those of the user.
    let by_settings = words.iter().any(|word| word.contains("disableAllHooks"));
    (by_option || by_value || by_own || by_settings).then_some("starts an agent that asks nobody")
}

/// Whether Claude Code is given settings in a file that switch off what would ask, or that are not known, or leaves some of its own out
/// (Claude Code, "CLI reference": `--settings`, `--setting-sources`).
fn with_other_settings(machine: &Machine<'_>, words: &[&str], program: &str) -> Option<&'static str> {
    if !matches!(program.split(' ').next(), Some("claude" | "claude-code")) {
        return None;
    }
    let value = |option: &str| {
        words.iter().enumerate().find_map(|(index, word)| match word.strip_prefix(option)? {
            "" => words.get(index + 1).copied(),
            attached => attached.strip_prefix('='),
        })
    };
    let leaves_out = value("--setting-sources").is_some_and(|sources| {
        ["user", "project", "local"].iter().any(|source| !sources.split(',').any(|one| one.trim() == *source))
    });
    let holds_what_asks = |file: &str| {
        let path = machine.one_path_through(&Value::exact(file));
        let text = path.map(|path| machine.announced_text(&path));
        text.as_ref().and_then(Value::as_exact).is_some_and(|text| !text.contains("disableAllHooks"))
    };
    let by_file = value("--settings")
        .is_some_and(|given| !given.trim_start().starts_with('{') && !holds_what_asks(given));
    (leaves_out || by_file).then_some("starts an agent with other settings than its own")
}

/// Whether goose runs in a mode that asks nobody, which is the one that it has by itself.
fn by_mode_of_goose(machine: &Machine<'_>, call: &Call) -> Option<&'static str> {
    if call.program.split(' ').next() != Some("goose") {
        return None;
    }
    let asks = machine
        .variable("GOOSE_MODE")
        .is_some_and(|mode| mode.as_exact().is_some_and(|mode| ASKING_MODES.contains(&mode)));
    (!asks).then_some("starts an agent that asks nobody")
}

/// Whether a variable tells an agent where its settings lie, or its guard where its state does.
pub(crate) fn is_place(name: &str) -> bool {
    PLACES.contains(&name)
}

/// What such a variable held before the command; `None` when it was not set.
pub(crate) fn present_place(machine: &Machine<'_>, name: &str) -> Option<String> {
    if name == "HOME" {
        Some(machine.world().place().home.as_str().to_owned())
    } else {
        machine.world().variable(name)
    }
}

/// Adds that agents which start later look for their settings, or their guard for its state, at another place.
pub(crate) fn move_later_agents(machine: &mut Machine<'_>) {
    machine.add(unwatched(
        "gives every later agent another place for its settings, or for what its guard remembers",
    ));
}

/// Whether variables that the command sets take the agent away from its settings.
fn lives_elsewhere(machine: &Machine<'_>) -> Option<&'static str> {
    // What is set on another machine is not known, and is nothing that the command set.
    if machine.is_away() {
        return None;
    }
    let before = |name: &str| present_place(machine, name);
    let given = |name: &&str| {
        let value = machine.variable(name)?;
        (value.as_exact() != before(name).as_deref()).then_some(value)
    };
    let is_no = |value: &Value| matches!(value.as_exact(), Some("" | "0" | "false" | "no" | "off"));
    if UNASKED_VARIABLES.iter().filter_map(given).any(|value| !is_no(&value))
        || SWITCHES.iter().filter_map(given).any(|value| is_no(&value))
    {
        return Some("starts an agent without what watches it");
    }
    PLACES
        .iter()
        .any(|name| given(name).is_some() || machine.variable(name).is_none() && before(name).is_some())
        .then_some("starts an agent with other settings than its own")
}

/// Editors with an agent in them: without words that start it, they open a window before which a user sits.
const EDITORS: &[&str] = &["cursor", "kiro", "windsurf", "antigravity", "warp"];
const OF_EDITORS: &[&str] = &["agent", "chat", "-p", "--print"];
/// Programs and words that get an answer in words, or a command that the user is asked about.
const TALKING: &[&str] =
    &["butterfish", "ai-shell", "shell-ai", "gorilla-cli", "chatblade", "cody", "tabnine"];
const EXPLAINING: &[&str] = &["explain", "suggest"];
/// The options by which an agent works in another directory than the one where it is started (sources: what each prints for `--help`).
const DIRECTORIES: &[(&[&str], &[&str])] = &[
    (&["codex"], &["-C", "--cd"]),
    (&["droid", "kilo", "cline"], &["--cwd"]),
    (&["opencode", "opencode-ai"], &["--dir"]),
];

/// Whether the agent would begin where no hook asks the guard, which is used on this machine otherwise.
fn starts_unguarded(machine: &mut Machine<'_>, call: &Call, words: &[&str]) -> Option<&'static str> {
    // Behind another program it is the last word: `gh copilot`.
    let name = call.program.split(' ').next_back().unwrap_or(&call.program).to_owned();
    let is_window = EDITORS.contains(&name.as_str()) && !words.iter().any(|word| OF_EDITORS.contains(word));
    let only_talks = TALKING.contains(&name.as_str())
        || words.iter().find(|word| !word.starts_with('-')).is_some_and(|verb| EXPLAINING.contains(verb));
    if machine.is_away() || is_window || only_talks {
        return None;
    }
    let options = DIRECTORIES.iter().find(|(programs, _)| programs.contains(&name.as_str()));
    let given = options.and_then(|(_, options)| {
        call.words.iter().enumerate().find_map(|(index, word)| {
            let word = word.as_exact()?;
            let attached = |option: &&str| word.strip_prefix(*option)?.strip_prefix('=').map(Value::exact);
            let separate = || options.contains(&word).then(|| call.words.get(index + 1).cloned()).flatten();
            options.iter().find_map(attached).or_else(separate)
        })
    });
    let directory = match &given {
        Some(directory) => machine.one_path_through(directory),
        None => machine.cwd().cloned(),
    };
    // Where it begins is not known: only what holds everywhere guards it.
    let directory = directory.unwrap_or_else(AbsolutePath::root);
    match machine.world().guarded_start(&name, &directory) {
        GuardedStart::Unguarded => {
            Some("starts an agent without the guard: no hook of checkrein is registered for it there")
        }
        GuardedStart::Guarded | GuardedStart::Unknown => None,
    }
}
