//! Programs that stay open for what is typed into them, where the client lets the agent type without a review.
//!
//! Shells and interpreters of known languages say so themselves when nothing is connected to their input
//! ([`Machine::left_open`]); here are those that have no code to be followed, and those that start an editor or a pager, in which a key opens
//! a shell. Git starts a pager on a terminal only, and whether there is one no hook is told, so its listings are none of these.

mod typed_code;

use crate::fetchers::has_series;
use crate::{Call, Input, Machine, Value};

/// When a program waits for words that it runs.
#[derive(Clone, Copy)]
enum Waits {
    /// Where nothing is named that it is to work on.
    Alone,
    /// Whatever is named, but for these options, with which it ends by itself.
    Unless(&'static [&'static str]),
    /// With one of these options.
    With(&'static [&'static str]),
    /// Where one of these words stands last: behind it would stand what it runs.
    Last(&'static [&'static str]),
    /// With one of these words, and an option that hands over what is typed.
    Attached(&'static [&'static str]),
    /// With one of these series of words, or whatever is named where there are none, but for those options.
    Words(&'static [&'static str], &'static [&'static str]),
    /// Where it makes or enters a terminal: these subcommands, or none, without an option that leaves it in the background.
    Terminal(&'static [&'static str], &'static [&'static str]),
    /// Where nothing takes in what it shows, but for these options: a pager.
    Showing(&'static [&'static str]),
    /// With one of these options, or whatever is named where there are none, in the editor that these variables name, but for those options.
    Editing { with: &'static [&'static str], unless: &'static [&'static str] },
}

/// The variables that name an editor, the first that is set counts.
const EDITORS: [&str; 3] = ["SUDO_EDITOR", "VISUAL", "EDITOR"];

/// Those of git: its own go first, and one is for lists of commits.
const EDITORS_OF_GIT: [&str; 3] = ["GIT_EDITOR", "VISUAL", "EDITOR"];
const EDITORS_OF_LISTS: [&str; 4] = ["GIT_SEQUENCE_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"];

/// Programs that run what is typed into them, also as commands of a shell (`:!`, `!`, `system`). Source: their manual pages.
const PROGRAMS: &[(&[&str], Waits)] = &[
    (
        &[
            "irb", "pry", "ghci", "iex", "erl", "scala", "jshell", "julia", "R", "radian", "octave",
            "ipython", "bpython", "ptpython", "xonsh", "nu", "elvish", "pwsh", "guile", "racket", "clisp",
            "sbcl", "ocaml", "utop", "swipl", "gnuplot", "maxima", "tclsh", "wish", "expect", "bb", "clj",
            "kotlinc", "evcxr",
        ],
        Waits::Alone,
    ),
    (
        &["gdb", "lldb", "rust-gdb", "rust-lldb"],
        Waits::Unless(&["-batch", "--batch", "-b", "--version", "--help", "-v", "-h"]),
    ),
    (
        &["vi", "vim", "nvim", "view", "vimdiff", "ex", "emacs", "rvim", "rview"],
        Waits::Unless(&[
            "-c",
            "-es",
            "-s",
            "-S",
            "--headless",
            "--batch",
            "-batch",
            "--version",
            "--help",
            "-h",
            "+qa",
            "+q",
            "+qall",
            "--script",
        ]),
    ),
    (&["sftp", "lftp", "ftp"], Waits::Unless(&["-b", "-c", "-e", "-f", "-V", "--version", "--help", "-s"])),
    (&["telnet", "mosh"], Waits::Unless(&["--version", "--help"])),
    (
        &["tmux"],
        Waits::Terminal(&["new", "new-session", "attach", "attach-session", "a", "at"], &["-d", "-V", "-C"]),
    ),
    (&["byobu", "zellij"], Waits::Terminal(&["attach", "a", "new", "new-session"], &["--version"])),
    (
        &["screen"],
        Waits::Unless(&["-X", "-ls", "-list", "-wipe", "-v", "-dm", "-dmS", "-Dm", "-d", "-D", "-Q"]),
    ),
    (&["less", "more", "most", "zless", "zmore"], Waits::Showing(&["--version", "--help", "-V", "-?", "-h"])),
    (
        &["man"],
        Waits::Showing(&[
            "-P",
            "--pager",
            "-k",
            "--apropos",
            "-f",
            "--whatis",
            "-w",
            "--where",
            "--path",
            "-W",
            "--help",
            "--version",
            "-V",
        ]),
    ),
    (&["crontab"], Waits::Editing { with: &["-e"], unless: &[] }),
    (
        &["visudo", "vipw", "vigr"],
        Waits::Editing { with: &[], unless: &["-c", "--check", "--version", "-V", "--help", "-h"] },
    ),
    (&["sudoedit"], Waits::Editing { with: &[], unless: &["--help", "-h"] }),
    (&["php"], Waits::With(&["-a", "--interactive"])),
    (&["docker", "podman"], Waits::Attached(&["start"])),
    // What it attaches to gets what is typed, unless it is told otherwise (docker-attach(1)).
    (&["docker", "podman"], Waits::Words(&["attach", "container attach"], &["--no-stdin"])),
    (&["kubectl", "oc"], Waits::Attached(&["attach", "debug"])),
    (&["minikube"], Waits::Words(&["ssh"], &["--", "-c"])),
    (&["adb"], Waits::Last(&["shell"])),
    (&["aws"], Waits::Words(&["ssm start-session"], &["--document-name"])),
    // `!` runs a command in the one, and both read what is typed behind their files (dc(1), bc(1)).
    (&["dc"], Waits::Unless(&["-e", "--expression", "--version", "--help", "-h", "-V"])),
    (&["bc"], Waits::Alone),
    (
        &["info"],
        Waits::Showing(&[
            "-o",
            "--output",
            "--subnodes",
            "-w",
            "--where",
            "--location",
            "--help",
            "--version",
            "-h",
        ]),
    ),
    (&["make", "gmake"], Waits::Words(&["menuconfig", "nconfig", "config"], &["-n", "--dry-run"])),
    // Streams of commands and of names (git-fast-import(1), git-cat-file(1), rsync(1)).
    (&["rsync"], Waits::With(&["--files-from=-"])),
    // Consoles of frameworks and languages.
    (&["rails"], Waits::Words(&["console", "c", "dbconsole", "db"], &[])),
    (
        &["python", "python3", "uv", "poetry", "pipenv", "django-admin"],
        Waits::Words(DJANGO, &["-c", "--command"]),
    ),
    (&["flask", "scrapy", "pyramid"], Waits::Words(&["shell"], &["-c"])),
    (&["php", "artisan", "sail"], Waits::Words(&["artisan tinker", "tinker", "psysh"], &["--execute"])),
    (&["psysh", "boris", "bpython", "ptipython", "xonsh", "deno", "bun repl"], Waits::Alone),
    (&["deno", "bun"], Waits::Words(&["repl"], &["--eval"])),
    (&["iex"], Waits::Words(&[], &["-e", "--eval"])),
    (&["stack", "cabal"], Waits::Words(&["ghci", "repl"], &[])),
    (&["sbt", "lein", "mill"], Waits::Alone),
    (
        &["sbt", "lein", "clj", "clojure", "gradle", "mvn"],
        Waits::Words(&["console", "repl", "consoleQuick"], &[]),
    ),
    (&["swift"], Waits::Words(&["repl"], &[])),
    (&["swift", "csi", "jshell", "groovysh", "spark-shell", "pyspark"], Waits::Alone),
    (&["dotnet"], Waits::Words(&["fsi"], &["--exec"])),
    (&["jupyter"], Waits::Words(&["console", "qtconsole"], &[])),
    (&["mongosh", "mongo"], Waits::Words(&[], &["--eval", "-f", "--file"])),
    (&["redis-cli", "valkey-cli", "cqlsh", "influx", "usql", "pgcli", "mycli", "litecli"], Waits::Alone),
    (&["terraform", "tofu", "pulumi"], Waits::Words(&["console"], &[])),
    // Shells of environments, containers and machines elsewhere.
    (&["nix-shell"], Waits::Words(&[], &["--run", "--command"])),
    (&["nix"], Waits::Words(&["develop", "shell"], &["-c", "--command"])),
    (&["poetry", "pipenv", "hatch", "pixi", "devbox", "guix", "pdm"], Waits::Words(&["shell"], &[])),
    (&["distrobox", "toolbox"], Waits::Words(&["enter"], &["--", "-e"])),
    (
        &["lxc", "incus", "multipass", "limactl", "lima", "colima", "vagrant", "machinectl"],
        Waits::Words(&["shell", "ssh"], &["--", "-c", "--command"]),
    ),
    (
        &["gcloud", "az", "doctl", "fly", "flyctl", "heroku", "railway", "platform", "gh"],
        Waits::Words(REMOTE_SHELLS, &["--command", "-C", "--", "-c"]),
    ),
    // Debuggers.
    (
        &["python", "python3"],
        Waits::Words(
            &["pdb", "code", "IPython", "ptpython", "ipdb", "pudb", "bpython", "asyncio", "idlelib"],
            &["-c"],
        ),
    ),
    (&["pytest", "py.test"], Waits::With(&["--pdb", "--trace"])),
    (&["node"], Waits::Words(&["inspect"], &[])),
    (&["dlv", "jdb", "rdbg", "byebug", "pdb", "pudb", "ipdb", "perldoc"], Waits::Words(&[], &["--headless"])),
    // Editors and what moves about in files, from which commands can be started.
    (
        &[
            "ed",
            "red",
            "nano",
            "pico",
            "micro",
            "joe",
            "hx",
            "helix",
            "kak",
            "mcedit",
            "jed",
            "ne",
            "ranger",
            "mc",
            "nnn",
            "lf",
            "vifm",
            "yazi",
            "lazygit",
            "lazydocker",
            "tig",
            "gitui",
            "k9s",
            "ncdu",
            "htop",
            "w3m",
            "lynx",
            "elinks",
            "links",
            "mutt",
            "neomutt",
            "aerc",
        ],
        Waits::Words(&[], &["-dump", "--dump", "-b", "--batch", "-s"]),
    ),
    (&["systemctl"], Waits::Editing { with: &["edit"], unless: &["--stdin"] }),
    (&["kubectl", "oc"], Waits::Editing { with: &["edit"], unless: &["--help"] }),
    // Other agents, in whose own prompt a line runs without their hooks.
    (
        &[
            "claude",
            "gemini",
            "qwen",
            "opencode",
            "copilot",
            "kilo",
            "droid",
            "crush",
            "aider",
            "cursor-agent",
            "goose",
        ],
        Waits::Words(
            &[],
            &[
                "-p",
                "--print",
                "--prompt",
                "-m",
                "--message",
                "exec",
                "run",
                "mcp",
                "plugin",
                "plugins",
                "config",
                "doctor",
                "update",
                "login",
                "logout",
                "auth",
                "models",
                "list",
                "sessions",
                "session",
                "stats",
                "extensions",
                "hooks",
                "serve",
                "acp",
                "--acp",
                "install",
                "export",
            ],
        ),
    ),
    // What waits for a yes, that the agent would give itself.
    (
        &["terraform", "tofu", "terragrunt"],
        Waits::Words(&["apply", "destroy"], &["-auto-approve", "--auto-approve"]),
    ),
    (&["pulumi"], Waits::Words(&["up", "destroy", "refresh"], &["-y", "--yes", "--skip-preview"])),
];

/// The consoles of Django (docs.djangoproject.com, "django-admin and manage.py"; django-extensions).
const DJANGO: &[&str] = &["manage.py shell", "manage.py shell_plus", "manage.py dbshell", "shell", "dbshell"];

/// How shells on other machines are opened (the help of each).
const REMOTE_SHELLS: &[&str] = &[
    "compute ssh",
    "ssh console",
    "console",
    "ssh",
    "run bash",
    "pg:psql",
    "codespace ssh",
    "ps:exec",
    "interactive",
];

/// What in code opens a console or a debugger (the documentation of each language's own).
const OPENING_CALLS: &[&str] = &[
    "breakpoint()",
    "set_trace(",
    "code.interact(",
    "InteractiveConsole(",
    "IPython.embed(",
    "binding.irb",
    "binding.pry",
    "repl.start(",
    "IO.gets(",
];

/// Words of code of `awk` that run what was read.
const RUNNING_CODE: &[&str] = &["system(", "| getline", "|getline", "| \"sh\"", "|\"sh\""];

/// Says that a call leaves a program open that runs what is typed into it.
pub(crate) fn note(machine: &mut Machine<'_>, call: &Call) {
    let is_typed = call.input == Input::Inherited;
    let mut known = PROGRAMS.iter().filter(|(names, _)| names.contains(&call.program.as_str()));
    let waits = known.any(|(_, waits)| match waits {
        // A pager reads what it shows, and the keys from the terminal.
        Waits::Showing(_) => waits.holds(call) && is_on_screen(machine),
        Waits::Editing { .. } => waits.holds(call) && waits_in_editor(machine, &EDITORS),
        Waits::Alone
        | Waits::Unless(_)
        | Waits::With(_)
        | Waits::Attached(_)
        | Waits::Last(_)
        | Waits::Words(..)
        | Waits::Terminal(..) => is_typed && waits.holds(call),
    });
    if is_typed && passes_on(call) {
        machine.note_typed(&call.input);
    }
    let stays_by_variable = PYTHONS.contains(&call.program.as_str())
        && machine.given_variable("PYTHONINSPECT").is_some_and(|value| value != Value::exact(""));
    if waits
        || stays_by_variable
        || is_typed && typed_code::is_read(call)
        || is_typed && (opens_by_code(call) || call.program == "xargs" && reads_names(call))
    {
        machine.left_open(&call.program);
    } else if call.program == "git" && is_typed && reads_stream(call) {
        machine.left_open("git");
    } else if call.program == "git"
        && let Some(variables) = editing_git(call)
        && waits_in_editor(machine, variables)
    {
        machine.left_open("the editor of git");
    }
}

/// The interpreters that stay open when a variable says so (python(1), `PYTHONINSPECT`).
const PYTHONS: [&str; 3] = ["python", "python3", "pypy3"];

/// Whether git carries out a stream of commands that it reads.
fn reads_stream(call: &Call) -> bool {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    words.contains(&"fast-import")
        || words.contains(&"cat-file") && words.iter().any(|word| word.starts_with("--batch"))
}

/// Filters that hand on what they read, with how many words of theirs are not names of files (their manual pages).
const FILTERS: &[(&str, usize)] = &[
    ("cat", 0),
    ("head", 0),
    ("tail", 0),
    ("tac", 0),
    ("rev", 0),
    ("nl", 0),
    ("fold", 0),
    ("sort", 0),
    ("uniq", 0),
    ("line", 0),
    ("tr", 2),
    ("sed", 1),
    ("awk", 1),
    ("gawk", 1),
    ("mawk", 1),
    ("grep", 1),
    ("cut", 0),
    ("fmt", 0),
    ("dd", 8),
    ("tee", 8),
    ("base64", 0),
    ("xxd", 0),
];

/// Whether a filter hands on what is typed into it. The value of an option that stands apart counts for a word of its own.
fn passes_on(call: &Call) -> bool {
    let Some((_, words)) = FILTERS.iter().find(|(name, _)| *name == call.program) else { return false };
    let is_name = |word: &&Value| {
        word.as_exact()
            .is_none_or(|text| text != "-" && !text.starts_with('-') && text.parse::<u64>().is_err())
    };
    call.words.iter().filter(is_name).count() <= *words
}

/// Whether code in a call opens a console, or lets `awk` run the lines that are typed.
fn opens_by_code(call: &Call) -> bool {
    const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk", "original-awk"];
    const LANGUAGES: &[&str] = &[
        "python", "python3", "node", "nodejs", "ruby", "perl", "php", "pypy3", "bun", "deno", "ipython",
        "elixir", "iex",
    ];
    let program = call.program.as_str();
    let texts = || call.words.iter().filter_map(Value::as_exact);
    let holds = |names: &[&str]| texts().any(|text| names.iter().any(|name| text.contains(name)));
    if AWKS.contains(&program) {
        // Behind the program stand the files that are read in place of what is typed.
        return call.words.len() == 1 && holds(RUNNING_CODE);
    }
    LANGUAGES.contains(&program) && holds(OPENING_CALLS)
}

/// Whether `xargs` takes the words of a command from what is typed.
fn reads_names(call: &Call) -> bool {
    let is_file = |text: &str| {
        text.starts_with("-a") || text.starts_with("--arg-file") || text == "--help" || text == "--version"
    };
    !call.words.iter().filter_map(Value::as_exact).any(is_file)
}

/// Whether nothing takes in what is written at the present point.
fn is_on_screen(machine: &Machine<'_>) -> bool {
    machine.is_shown() && !machine.is_listened_to() && !machine.is_kept()
}

/// Whether the editor that the first of these variables names waits for keys. One that is not named is `vi` or the like.
fn waits_in_editor(machine: &Machine<'_>, variables: &[&str]) -> bool {
    let named = variables.iter().find_map(|name| machine.given_variable(name));
    let Some(text) = named.as_ref().map(Value::as_exact) else { return true };
    // What a command sets in a way that is not followed is set for a reason.
    let Some(program) = text.and_then(|text| text.split_whitespace().next()) else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    ["vi", "vim", "nvim", "view", "ex", "emacs", "nano", "pico", "less", "sensible-editor"].contains(&name)
}

/// The letters of a word with options of git, without the value that stands behind the last of them.
fn letters(word: &str) -> &str {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return "" };
    let end = letters.find(['m', 'F', 'C', 'c', 't', 'S', 'u']).map_or(letters.len(), |place| place + 1);
    letters.get(..end).unwrap_or_default()
}

/// The variables that name the editor that a call of git starts whether or not there is a terminal; `None` where it starts none
/// (git-commit(1), git-rebase(1), git-tag(1), git-notes(1), git-config(1), git-branch(1)).
fn editing_git(call: &Call) -> Option<&'static [&'static str]> {
    let mut words = call.words.iter().filter_map(Value::as_exact);
    let verb = loop {
        match words.next()? {
            "-c" if words.clone().next()?.to_ascii_lowercase().contains(".editor=") => return None,
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => break word,
        }
    };
    let rest: Vec<&str> = words.take_while(|word| *word != "--").collect();
    // Also among letters that stand together, and with a value behind `=`.
    let has = |options: &[&str]| {
        rest.iter().any(|word| {
            options.iter().any(|option| match option.strip_prefix('-').filter(|name| name.len() == 1) {
                Some(letter) => letters(word).contains(letter),
                None => word.split('=').next() == Some(*option),
            })
        })
    };
    let takes_message = has(&["-m", "--message", "-F", "--file", "-C", "--reuse-message", "--no-edit"]);
    // Pieces of a change are chosen by typing, and edited in an editor (git-add(1), "Interactive mode").
    let chooses = has(&["-p", "--patch", "-i", "--interactive"]);
    let edits = match verb {
        "commit" => {
            chooses
                || has(&["-e", "--edit", "-c", "--reedit-message"])
                || !takes_message && !has(&["--fixup", "--dry-run", "-h", "--help"])
        }
        "tag" => has(&["-a", "--annotate", "-s", "--sign"]) && (has(&["-e", "--edit"]) || !takes_message),
        "notes" => {
            rest.first().is_some_and(|word| ["add", "append", "edit"].contains(word)) && !takes_message
        }
        "config" => has(&["-e", "--edit"]) || rest.first() == Some(&"edit"),
        "branch" => has(&["--edit-description"]),
        "add" | "stage" => chooses || has(&["-e", "--edit"]),
        "checkout" | "restore" | "reset" => has(&["-p", "--patch"]),
        "difftool" | "mergetool" => !has(&["-x", "--extcmd", "--tool-help", "-h", "--help"]),
        "stash" => has(&["-p", "--patch"]) && !["show", "list"].iter().any(|verb| rest.first() == Some(verb)),
        "rebase" if has(&["-i", "--interactive", "--edit-todo"]) => return Some(&EDITORS_OF_LISTS),
        _ => false,
    };
    edits.then_some(&EDITORS_OF_GIT)
}

impl Waits {
    fn holds(self, call: &Call) -> bool {
        let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
        let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
        match self {
            Self::Alone => call.words.is_empty(),
            Self::Unless(options) | Self::Showing(options) => !has(options),
            Self::Editing { with, unless } => (with.is_empty() || has(with)) && !has(unless),
            Self::With(options) => has(options),
            Self::Last(verbs) => words.last().is_some_and(|last| verbs.contains(last)),
            Self::Attached(verbs) => {
                has(verbs) && has(&["-i", "--interactive", "-it", "-ti", "-ai", "--stdin", "-ia"])
            }
            Self::Words(series, unless) => {
                has_series(call, series) && !has(unless) && !has(&["--help", "--version", "-h", "-V"])
            }
            Self::Terminal(verbs, options) => {
                let verb = words.iter().find(|word| !word.starts_with('-'));
                verb.is_none_or(|verb| verbs.contains(verb)) && !has(options)
            }
        }
    }
}
