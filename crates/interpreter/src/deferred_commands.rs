//! Commands that stand where one does not look for them: in variables, aliases, traps and options.

use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::path::AbsolutePath;

use super::call::{Call, Input};
use super::draft::Draft;
use super::machine::Machine;
use super::parameter::is_empty;
use super::telling_variables::{is_installed, named_in_flags, names_program};
use super::value::Value;

/// What is expected behind an option that names a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// The pager or browser that a user likes: any name will do.
    Taste,
    /// A program that does a part of the work.
    Part,
}

/// Options that name a program which then runs, by program.
const RUNNING_OPTIONS: &[(&[&str], &[&str], Expected)] = &[
    (&["rg", "ripgrep", "rga"], &["--pre", "--hostname-bin"], Expected::Part),
    (&["man"], &["--html", "-H", "--pager", "-P"], Expected::Taste),
    (&["sort"], &["--compress-program"], Expected::Part),
    (&["bat", "batcat", "delta"], &["--pager"], Expected::Taste),
    (&["zip"], &["-TT", "--unzip-command"], Expected::Part),
    (&["tcpdump"], &["-z", "--postrotate-command"], Expected::Part),
];
impl Machine<'_> {
    /// Runs what the options of a call name as programs.
    pub(super) fn run_options(&mut self, call: &Call) {
        let Some((_, options, expected)) =
            RUNNING_OPTIONS.iter().find(|(programs, ..)| programs.contains(&call.program.as_str()))
        else {
            return;
        };
        let mut words = call.words.iter();
        while let Some(word) = words.next() {
            let start = word.known_start();
            if start == "--" {
                return;
            }
            let value = match start.split_once('=') {
                Some((name, _)) if options.contains(&name) => behind(word, name.len() + 1),
                Some(_) => None,
                // The value of these is always attached.
                None if matches!(start.as_str(), "--html" | "-H") => None,
                None if options.contains(&start.as_str()) => words.next().cloned(),
                None => options
                    .iter()
                    .find(|name| name.len() == 2 && start.starts_with(*name) && start.len() > 2)
                    .and_then(|name| behind(word, name.len())),
            };
            let Some(value) = value else { continue };
            if *expected == Expected::Taste && value.as_exact().is_some_and(is_plain) {
                self.possibly(|machine| machine.run_text(&value, Input::Inherited));
            } else {
                self.run_where_unseen(&value, "an option makes it run");
            }
        }
    }

    /// Runs text that stands where one does not look for a command. A program that nobody knows weighs more there.
    pub fn run_where_unseen(&mut self, text: &Value, note: &str) {
        let before = self.effect_count();
        self.possibly(|machine| machine.run_text(text, Input::Inherited));
        self.amend(before, |effect| {
            if effect.kind == EffectKind::Opaque && effect.severity < Severity::High {
                effect.severity = Severity::High;
                effect.note = format!("{}; {note}", effect.note);
            }
        });
    }

    /// Adds what variables do that make other programs run code.
    pub fn mark_telling_variables(&mut self, names: &[&str]) {
        for name in names {
            let Some(value) = self.variable(name) else { continue };
            if is_empty(&value) == Some(true) {
                continue;
            }
            let text = value.as_exact().unwrap_or_default().to_owned();
            let has = |flags: &[&str]| {
                text.split_whitespace().any(|word| flags.iter().any(|flag| word.starts_with(flag)))
            };
            let tells = match *name {
                "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" => !self.names_installed_libraries(&text),
                "PYTHONSTARTUP" | "GCONV_PATH" | "PERL5DB" => true,
                "PYTHONBREAKPOINT" => !is_debugger(&text),
                "PERL5OPT" => has(&["-M", "-m", "-d", "-e", "-I"]),
                "RUBYOPT" => has(&["-r", "-I"]),
                "NODE_OPTIONS" => self.loads_into_node(&text),
                "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" | "JAVA_OPTS" | "MAVEN_OPTS"
                | "GRADLE_OPTS" | "SBT_OPTS" | "ANT_OPTS" | "LEIN_JVM_OPTS" | "CATALINA_OPTS" => {
                    text.split_whitespace().any(loads_into_java)
                }
                "ERL_FLAGS" | "ERL_AFLAGS" | "ERL_ZFLAGS" | "ELIXIR_ERL_OPTIONS" => has(&["-eval", "-run"]),
                "PS0" | "PS1" | "PS2" | "PS3" | "PS4" => {
                    self.show_prompt(name);
                    false
                }
                "TOX_OVERRIDE" => {
                    self.run_commands_of_tox(&text);
                    false
                }
                "BASH_ENV" | "ENV" if value.alternatives().is_none() => true,
                "BASH_ENV" | "ENV" => {
                    let value = self.expand_again(&text);
                    self.possibly(|machine| machine.run_file(&value, &[]));
                    false
                }
                "PROMPT_COMMAND" => {
                    self.run_at_every_command(&value);
                    false
                }
                name if names_program(name) => {
                    self.run_named_program(name, &text);
                    false
                }
                name => {
                    self.load_what_variable_names(name, &value);
                    for program in named_in_flags(name, &text) {
                        self.run_named_program(name, program);
                    }
                    false
                }
            };
            if tells {
                self.unread(format!("the variable `{name}` makes programs run code of its own"));
            }
        }
    }

    /// Whether a list of libraries names only installed ones: by name, or where the system and its packages keep them.
    fn names_installed_libraries(&self, text: &str) -> bool {
        const KEPT: &[&str] = &["/usr/lib", "/lib", "/usr/local/lib", "/opt/homebrew/lib", "/usr/local/opt"];
        let is_installed = |name: &str| {
            let is_plain = name.contains(".so") || name.ends_with(".dylib");
            let path = AbsolutePath::new(name).filter(|_| !name.contains(".."));
            let is_kept = path.is_some_and(|path| {
                KEPT.iter().any(|start| path.as_str().starts_with(start)) && !self.is_of_session(&path)
            });
            is_plain && (is_kept || !name.contains('/') && self.variable("LD_LIBRARY_PATH").is_none())
        };
        let mut names = text.split([':', ' ']).filter(|name| !name.is_empty()).peekable();
        names.peek().is_some() && names.all(is_installed)
    }

    /// Runs what a variable names as the program for showing or editing, when it is more than a name.
    fn run_named_program(&mut self, name: &str, text: &str) {
        if self.world().variable(name).as_deref() == Some(text) || is_installed(text) {
            return;
        }
        let text = text.trim_start_matches('|').replace("%s", "");
        let first = text.split_whitespace().next().unwrap_or_default();
        // An editor or pager that is only a name is a choice of the user.
        if !is_plain(&text) || self.knows(first) {
            self.possibly(|machine| machine.run_text(&Value::Exact(text), Input::Inherited));
        }
    }

    /// Runs what an override of tox's settings puts in the place of the commands of an environment (tox, "Overriding configuration from the
    /// command line": `testenv.commands=...`).
    fn run_commands_of_tox(&mut self, text: &str) {
        for setting in text.split(';') {
            let Some((key, command)) = setting.split_once('=') else { continue };
            if key.rsplit('.').next().is_some_and(|key| key.starts_with("commands")) {
                self.possibly(|machine| machine.run_text(&Value::exact(command), Input::Inherited));
            }
        }
    }

    /// Runs text that runs before every command of a shell, and adds that what is typed is written down when it is.
    pub(crate) fn run_at_every_command(&mut self, text: &Value) {
        let before = self.effect_count();
        self.perhaps(|machine| machine.in_subshell(|machine| machine.run_here(text)));
        let words = text.known_start();
        let sees_commands = words.contains("BASH_COMMAND") || words.contains("history");
        let workspace = self.world().place().workspace.clone();
        // What a script says of itself in the workspace is a log; what a user types is written down elsewhere.
        let is_log = |effect: &Effect| effect.target.path().is_some_and(|path| path.is_within(&workspace));
        let listens = self.effects_since(before).any(|effect| match effect.kind {
            EffectKind::FileCreate | EffectKind::FileModify => !is_log(effect),
            kind => matches!(kind, EffectKind::NetworkRequest | EffectKind::DataUpload),
        }) || words.contains("logger ");
        if sees_commands && listens {
            self.add(
                Draft::new(EffectKind::SecretRead, Target::Service("what is typed".to_owned()))
                    .note("writes down every command as it is typed"),
            );
        }
    }

    /// Lets the trap for `DEBUG` change the shell before a command, where its text can: what the shell would do besides is known since the trap
    /// was set.
    pub(crate) fn run_debug_trap(&mut self) {
        let Some(text) = self.shell.at_debug.take() else { return };
        if changes_shell(&text) {
            // Functions leave it aside unless they are told not to (bash(1), `functrace`).
            self.perhaps(|machine| machine.run_here(&text));
        }
        self.shell.at_debug = Some(text);
    }

    /// Adds that an alias puts other commands behind the name of a program, when it does.
    pub(crate) fn note_alias(&mut self, name: &str, text: &str) {
        if !self.knows(name) {
            return;
        }
        let parsed = checkrein_shell::parse(text);
        let runs_more = parsed.script.len() > 1
            || parsed.script.iter().any(|statement| {
                matches!(
                    statement.command,
                    checkrein_shell::Command::AndOr(_) | checkrein_shell::Command::Pipeline(_)
                )
            });
        let calls_itself = text.split([';', '&', '|', ' ', '\n']).any(|word| word == name);
        if runs_more && calls_itself {
            self.run_where_unseen(&Value::exact(text), "an alias makes it run");
            self.unread(format!("the alias `{name}` runs more than the program of that name"));
        }
    }
}

/// Whether the text of a trap may change what the shell reads behind it.
pub(super) fn changes_shell(text: &Value) -> bool {
    const CHANGING: [&str; 9] =
        ["=", "cd ", "pushd ", "set ", "read ", "eval ", "unset ", "printf -v", "alias "];
    text.as_exact().is_none_or(|text| CHANGING.iter().any(|word| text.contains(word)))
}

/// Whether a value of `PYTHONBREAKPOINT` is one that people set it to (PEP 553; the manuals of these debuggers). Any other name is a function
/// that `breakpoint()` calls with whatever it is given.
fn is_debugger(text: &str) -> bool {
    matches!(
        text,
        "" | "0"
            | "pdb.set_trace"
            | "ipdb.set_trace"
            | "pudb.set_trace"
            | "pudb.forked.set_trace"
            | "web_pdb.set_trace"
            | "remote_pdb.set_trace"
            | "rpdb.set_trace"
            | "celery.contrib.rdb.set_trace"
            | "IPython.embed"
            | "IPython.core.debugger.set_trace"
            | "bpdb.set_trace"
            | "debugpy.breakpoint"
            | "sys.breakpointhook"
            | "code.interact"
    )
}

/// Whether an option of the JVM loads code into it (java(1), "Extra options"). Its own debugger (`-agentlib:jdwp`) does not.
fn loads_into_java(option: &str) -> bool {
    const LOADING: &[&str] = &[
        "-javaagent:",
        "-agentpath:",
        "-agentlib:",
        "-Xbootclasspath",
        "-XX:OnError=",
        "-XX:OnOutOfMemoryError=",
        "-XX:Flags=",
        "-XX:VMOptionsFile=",
    ];
    LOADING.iter().any(|start| option.starts_with(start)) && !option.starts_with("-agentlib:jdwp")
}

/// Whether a text is the name of a program with options at most: no path, nothing of the shell's language.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '))
}

/// What stands behind the first bytes of a word.
fn behind(word: &Value, length: usize) -> Option<Value> {
    match word {
        Value::Exact(text) => text.get(length..).map(Value::exact),
        Value::Between { .. } | Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => Some(Value::Unknown),
    }
}
