//! Other coding agents: what they are started with decides who looks on.

mod options;
mod servers;

use checkrein_facts::{GuardedStart, Steering, steering, steering_names};
use checkrein_protocol::AbsolutePath;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::steered_agents::steers;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};

use options::{asks_nobody, by_itself, with_other_settings};

/// The modes of goose in which it asks. Where nothing is said it does not (source: its guide to permission modes).
const ASKING_MODES: &[&str] = &["approve", "smart_approve", "chat"];

/// Variables that a plain no switches off.
const SWITCHES: &[&str] = &["PLUGINS", "HOOKS", "EXTENSIONS"];

/// Subcommands that handle what watches an agent.
const WATCHING: &[&str] = &["plugin", "plugins", "hook", "hooks", "extension", "extensions"];
/// Verbs that take something away from it.
const TAKING_AWAY: &[&str] =
    &["remove", "rm", "uninstall", "disable", "delete", "off", "unlink", "clear", "reset", "revoke"];
/// Subcommands with what others wrote for an agent, and the verbs that take more of it in.
const EXTENDING: &[&str] =
    &["plugin", "plugins", "extension", "extensions", "skill", "skills", "marketplace"];
const TAKING_IN: &[&str] = &["install", "add", "i", "link", "import", "update", "upgrade"];
/// Agents of which `plugin` takes a package, and `uninstall` the agent away (source: what each prints for `--help`).
const WITH_PLUGINS: &[&str] = &["opencode", "opencode-ai", "kilo", "kilocode"];
/// What lists plugins and takes none in.
const LISTING: &[&str] = &["list", "ls", "show", "info", "help"];
/// Verbs of `mcp` that take a server in without naming its command on the line: it stands in JSON, in the settings of another program, or in a
/// file of the project that waits for a yes (what each prints for `mcp --help`: Claude Code, Auggie, Amazon Q and Kiro, Cursor, Gemini CLI,
/// Amp).
const SERVERS_IN: &[(&[&str], &[&str])] = &[
    (&["claude", "claude-code", "auggie"], &["add-json", "add-from-claude-desktop", "import"]),
    (&["q", "kiro-cli"], &["import"]),
    (&["cursor-agent"], &["enable"]),
    (&["gemini", "gemini-cli", "qwen", "qwen-code"], &["enable"]),
    (&["amp"], &["approve"]),
];
/// Options by which an agent goes on without whoever started it, held by a server of its own (Claude Code, "CLI reference").
const GOING_ON_ALONE: &[(&[&str], &[&str])] = &[(&["claude", "claude-code"], &["--bg", "--background"])];
/// Verbs that change a setting.
const SETTING: &[&str] = &["set", "unset", "remove", "add", "disable", "enable", "delete"];
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
const WATCHED_SETTINGS: &[&str] =
    &["plugin", "hook", "permission", "approval", "sandbox", "trust", "yolo", "defaultagent"];

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
    let mut words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let mut first = call.words.first().and_then(Value::as_exact);
    // The entry of `q` tells its subcommands apart itself.
    if let Some(verb) = call.program.strip_prefix("q ") {
        words.insert(0, verb);
        first = Some(verb);
    }
    let words = words;
    if words.iter().any(|word| matches!(*word, "--help" | "-h" | "--version" | "-v" | "-V"))
        && words.len() <= 2
    {
        return Exit::unknown();
    }
    let verbs = Verbs::of(&words, first);
    let name = call.program.split(' ').next().unwrap_or(&call.program);
    if verbs.any(|verb, rest| takes_away(name, verb, rest) || sets(verb, rest)) {
        machine.add(unwatched("changes what watches the agent"));
        return Exit::unknown();
    }
    if verbs.any(|verb, rest| takes_in(name, verb, rest)) {
        // Its hooks, commands and servers run in every later session, with the rights of the agent.
        machine.add(unwatched("adds code and instructions of others to every later session of the agent"));
        return Exit::unknown();
    }
    if verbs.any(|verb, _| verb == "mcp") {
        servers::given(machine, &words);
        if words.contains(&"--trust") {
            machine.add(unwatched("adds a server of which the agent asks about no call"));
        }
        servers::added(machine, call);
        if SERVERS_IN.iter().any(|(programs, taking)| {
            programs.contains(&name)
                && verbs.any(|_, rest| rest.first().is_some_and(|verb| taking.contains(verb)))
        }) {
            machine.add(unwatched("adds a program that starts with every later session of the agent"));
        }
        if verbs.sure == Some("mcp") {
            return Exit::unknown();
        }
    }
    servers::given(machine, &words);
    let by_options = asks_nobody(&words, name);
    let only_looks = verbs
        .sure
        .is_some_and(|verb| LOOKING.contains(&verb) || WATCHING.contains(&verb) || EXTENDING.contains(&verb));
    if only_looks && by_options.is_none() {
        return Exit::unknown();
    }
    // What stands with an editor comes into it for good.
    for extension in options_of(&words, "--install-extension") {
        machine.add(
            Draft::new(EffectKind::PackageInstall, Target::Service(extension.to_owned()))
                .note("code of others in every later session of the editor"),
        );
    }
    if words.iter().any(|word| *word == "--add-mcp" || word.starts_with("--add-mcp=")) {
        machine.add(unwatched("adds a server to every later session of the agent"));
    }
    let goose = || by_mode_of_goose(machine, call);
    let other_settings = || with_other_settings(machine, &words, name);
    if let Some(note) = by_options
        .or_else(|| by_itself(&words, name))
        .or_else(goose)
        .or_else(other_settings)
        .or_else(|| lives_elsewhere(machine))
        .or_else(|| starts_unguarded(machine, call, &words))
        .or_else(|| begins_apart(machine, name))
        .or_else(|| goes_on_alone(&words, name))
    {
        machine.add(unwatched(note));
    }
    if GOING_ON_ALONE.iter().any(|(programs, _)| programs.contains(&name)) {
        for text in options_of(&words, "--exec") {
            machine.possibly(|machine| {
                machine.cut_loose(|machine| machine.run_text(&Value::exact(text), Input::Inherited))
            });
        }
    }
    let home = &machine.world().place().home;
    // What holds the home directory holds the settings of every agent, and those of the guard.
    if machine.may_write_from_here(home) {
        machine.out_here(|machine| {
            machine.add(unwatched("starts an agent in a container that may write your home directory: no hook of checkrein runs there"));
        });
    }
    machine.opaque("starts another agent");
    Exit::unknown()
}

/// The values of an option, behind it or in the same word.
fn options_of<'a>(words: &[&'a str], option: &str) -> Vec<&'a str> {
    let attached = words.iter().filter_map(|word| word.strip_prefix(option)?.strip_prefix('='));
    let separate = words.windows(2).filter_map(|pair| match pair {
        [name, value] if *name == option => Some(*value),
        _ => None,
    });
    attached.chain(separate).collect()
}

/// Whether nothing would tell that this session started the agent, so that what it does counts for no limits of this one.
fn begins_apart(machine: &Machine<'_>, name: &str) -> Option<&'static str> {
    let is_window = EDITORS.contains(&name);
    (machine.is_cut_loose() && !machine.is_away() && !is_window).then_some(
        "starts an agent where nothing tells that it belongs to this session, so what it does counts for none of its limits",
    )
}

/// Whether the agent goes on without whoever started it.
fn goes_on_alone(words: &[&str], name: &str) -> Option<&'static str> {
    let goes_on = GOING_ON_ALONE.iter().any(|(programs, options)| {
        programs.contains(&name) && words.iter().any(|word| options.contains(word))
    });
    goes_on.then_some(
        "starts an agent where nothing tells that it belongs to this session, so what it does counts for none of its limits",
    )
}

/// The words of a command line that may be its subcommand.
struct Verbs<'a> {
    words: &'a [&'a str],
    /// Where they stand: behind an option the first word may be the value of that option, or the subcommand.
    places: Vec<usize>,
    /// The one that surely is, since nothing stands before it.
    sure: Option<&'a str>,
}

impl<'a> Verbs<'a> {
    /// `first` is the first word as far as it is known: `words` leaves out those that are not.
    fn of(words: &'a [&'a str], first: Option<&'a str>) -> Self {
        let mut places = Vec::new();
        let mut is_perhaps_value = false;
        for (place, word) in words.iter().enumerate() {
            if word.starts_with('-') {
                is_perhaps_value = !word.contains('=');
                continue;
            }
            places.push(place);
            if !is_perhaps_value {
                break;
            }
            is_perhaps_value = false;
        }
        Self { words, places, sure: first.filter(|word| !word.starts_with('-')) }
    }

    /// Whether something is true of one of them and the words behind it.
    fn any(&self, is_so: impl Fn(&str, &[&str]) -> bool) -> bool {
        self.places.iter().any(|place| match self.words.get(*place..) {
            Some([verb, rest @ ..]) => is_so(verb, rest),
            Some([]) | None => false,
        })
    }
}

/// Whether a subcommand takes something away that watches the agent, or the agent with all of its settings.
fn takes_away(program: &str, verb: &str, rest: &[&str]) -> bool {
    WATCHING.contains(&verb) && rest.iter().any(|word| TAKING_AWAY.contains(word))
        || WITH_PLUGINS.contains(&program) && verb == "uninstall"
}

/// Whether a subcommand changes a setting by which the agent is watched (`codex features disable hooks`, `kiro-cli settings KEY VALUE`).
fn sets(verb: &str, rest: &[&str]) -> bool {
    let changes = match verb {
        "config" | "features" => rest.iter().any(|word| SETTING.contains(word)),
        "settings" => rest.iter().any(|word| SETTING.contains(word)) || rest.len() > 1,
        // The agent of Kiro that counts where none is named says which tools need no question.
        "agent" => return rest.contains(&"set-default"),
        _ => false,
    };
    let is_watched = |word: &&str| {
        let word = word.to_lowercase();
        WATCHED_SETTINGS.iter().any(|setting| word.contains(setting))
    };
    changes && rest.iter().any(is_watched)
}

/// Whether a subcommand takes in what others wrote.
fn takes_in(program: &str, verb: &str, rest: &[&str]) -> bool {
    EXTENDING.contains(&verb) && rest.iter().any(|word| TAKING_IN.contains(word))
        // `gemini hooks migrate` copies the hooks of Claude Code.
        || verb == "hooks" && rest.contains(&"migrate")
        // `opencode plugin MODULE` installs it, and names it in the settings.
        || WITH_PLUGINS.contains(&program)
            && matches!(verb, "plugin" | "plug")
            && rest.iter().find(|word| !word.starts_with('-')).is_some_and(|word| !LISTING.contains(word))
}

fn unwatched(note: &str) -> Draft {
    Draft::new(EffectKind::SystemModification, Target::Service("another agent".to_owned()))
        .severity(Severity::High)
        .note(note)
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
    steering(name) == Some(Steering::Place)
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

/// Adds that agents which start later ask nobody, or talk to somebody else.
pub(crate) fn steer_later_agents(machine: &mut Machine<'_>) {
    machine.add(unwatched("has every later agent ask nobody, or talk to another host than its own"));
}

/// Whether variables that the command sets take the agent away from its settings.
fn lives_elsewhere(machine: &Machine<'_>) -> Option<&'static str> {
    // What is set on another machine is not known, and is nothing that the command set.
    if machine.is_away() {
        return None;
    }
    let before = |name: &str| present_place(machine, name);
    // What the shell has from the client that started it is nothing that the command set, also where it may not hand it on whole.
    let given = |name: &&str| {
        let value = machine.given_variable(name)?;
        (value.as_exact() != before(name).as_deref()).then_some(value)
    };
    let is_no = |value: &Value| matches!(value.as_exact(), Some("" | "0" | "false" | "no" | "off"));
    let steered = |what: &[Steering]| {
        steering_names(what)
            .any(|name| given(&name).is_some_and(|value| steers(name, value.as_exact()).is_some()))
    };
    if steered(&[Steering::Unasked, Steering::Unbound])
        || SWITCHES.iter().filter_map(given).any(|value| is_no(&value))
    {
        return Some("starts an agent without what watches it");
    }
    let is_elsewhere = steering_names(&[Steering::Place])
        .any(|name| given(&name).is_some() || machine.variable(name).is_none() && before(name).is_some());
    if is_elsewhere {
        return Some("starts an agent with other settings than its own");
    }
    if steered(&[Steering::Code]) {
        return Some("starts an agent that loads other code than its own");
    }
    steered(&[Steering::Connection])
        .then_some("starts an agent that talks to another host than its own, which reads and answers all")
}

/// Editors with an agent in them: without words that start it, they open a window before which a user sits.
const EDITORS: &[&str] = &["cursor", "kiro", "windsurf", "windsurf-next", "trae", "antigravity", "warp"];
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
        GuardedStart::Unconfirmed => Some(
            "starts an agent without the guard: its hooks of checkrein are registered, but it runs them only once the user has confirmed \
             them in it (`/hooks` in codex; `checkrein doctor` says how)",
        ),
        GuardedStart::Guarded | GuardedStart::Unknown => None,
    }
}
