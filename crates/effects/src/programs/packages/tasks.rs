//! Tasks of a project that a runner finds in a file: which file each runner reads, and which of the tasks in it run.
//!
//! | module | holds |
//! |---|---|
//! | `files` | how each file writes its tasks |
//! | `tox` | how tox writes its environments |
//! | `unread` | runners whose files nobody reads as they do |
//!
//! A command in a task that is not known is a tool of the project, as it is in a script of a package.

mod files;
mod tox;
mod unread;

use crate::effect::{EffectKind, Severity};
use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Call, Input, Machine, Value};
use crate::path::AbsolutePath;
use crate::programs::instructions::{instructions_coming_in, not_read};
use crate::world::Entry;

use super::nearest;
pub(crate) use unread::{follow_text as follow_unread_text, keep_what_reaches_out};

/// The greatest number of tasks that one call runs (ours).
const TASKS: usize = 64;

/// The home directory, as a text that a shell fills in; where none does it is filled in here.
const HOME: &str = "${HOME-}";

/// A step of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Text for a shell.
    Text(String),
    /// Words of a command that no shell reads.
    Words(String),
    /// Code for an interpreter.
    Code(&'static str, String),
    /// Another task.
    Task(String),
    /// Something that is run and cannot be read, in words.
    Unread(String),
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    /// The directory in which the steps run, beside the file.
    pub(super) directory: Option<String>,
    /// Variables of the environment.
    pub(super) variables: Vec<(String, String)>,
}

/// What a call asks of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Names of tasks, and what is handed to them.
    pub(super) operands: Vec<String>,
    /// Variables that the call gives: `NAME=value`.
    pub(super) given: Vec<(String, String)>,
    /// What stands behind `--`.
    pub(super) rest: Vec<String>,
}

/// How a file is read: its tasks, and the names of those that run; `None` where it cannot be read.
type Reader = fn(&str, &Asked) -> Option<(Vec<Task>, Vec<String>)>;

/// A runner.
struct Runner {
    names: &'static [&'static str],
    /// The subcommands that run tasks; none where the runner needs none.
    subcommands: &'static [&'static str],
    /// The files in which it looks, the first that is there.
    files: &'static [&'static str],
    /// Options that name the file, and the directory.
    file: &'static [&'static str],
    directory: &'static [&'static str],
    /// Other options with a value.
    values: &'static [&'static str],
    /// Options with which nothing runs.
    quiet: &'static [&'static str],
    /// Those with which nothing runs where they stand before the name of a task: behind it they are handed to that.
    lists: &'static [&'static str],
    read: Reader,
}

/// The runners. Sources: taskfile.dev, "Schema"; tox, "Configuration"; getcomposer.org, "Scripts"; pre-commit.com, "Repository-local
/// hooks"; lefthook, "Configuration"; rake, "Rakefile Format"; pdm, "Scripts"; poethepoet.natn.io; hatch, "Scripts"; pixi.sh,
/// "Advanced Tasks"; docs.deno.com, "deno task"; the Cargo Book, "[alias]".
const RUNNERS: &[Runner] = &[
    Runner {
        names: &["task", "go-task"],
        subcommands: &[],
        files: &[
            "Taskfile.yml",
            "taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "taskfile.dist.yml",
            "Taskfile.dist.yaml",
            "taskfile.dist.yaml",
        ],
        file: &["-t", "--taskfile"],
        directory: &["-d", "--dir"],
        values: &["-o", "--output", "-C", "--concurrency", "-I", "--interval"],
        quiet: &["-l", "--list", "-a", "--list-all", "-n", "--dry", "--summary", "-i", "--init", "--status"],
        lists: &[],
        read: files::taskfile,
    },
    Runner {
        names: &["tox"],
        subcommands: &[],
        files: &["tox.ini", "setup.cfg", "pyproject.toml", "tox.toml"],
        file: &["-c", "--conf"],
        directory: &["--root"],
        values: &[
            "-m",
            "-x",
            "--override",
            "--workdir",
            "-p",
            "--parallel",
            "--result-json",
            "--installpkg",
            "--skip-env",
        ],
        quiet: &["-l", "--listenvs", "-a", "--listenvs-all", "--notest", "-n", "--showconfig"],
        lists: &[],
        read: tox::tox,
    },
    Runner {
        names: &["composer"],
        subcommands: &[],
        files: &["composer.json"],
        file: &[],
        directory: &["-d", "--working-dir"],
        values: &["--timeout"],
        quiet: &["--no-scripts"],
        lists: &["-l", "--list"],
        read: files::composer,
    },
    Runner {
        names: &["pre-commit", "prek"],
        subcommands: &["run"],
        files: &[".pre-commit-config.yaml"],
        file: &["-c", "--config"],
        directory: &[],
        values: &[
            "--files",
            "--from-ref",
            "--to-ref",
            "-s",
            "--source",
            "-o",
            "--origin",
            "--hook-stage",
            "--color",
        ],
        quiet: &[],
        lists: &[],
        read: files::hooks,
    },
    Runner {
        names: &["lefthook"],
        subcommands: &["run"],
        files: &["lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".lefthook.yaml"],
        file: &[],
        directory: &[],
        values: &["--commands", "--file"],
        quiet: &[],
        lists: &[],
        read: files::lefthook,
    },
    Runner {
        names: &["rake"],
        subcommands: &[],
        files: &["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"],
        file: &["-f", "--rakefile"],
        directory: &["-C"],
        values: &["-I", "-r", "-R", "-e"],
        quiet: &["-T", "--tasks", "-D", "-P", "-n", "--dry-run", "-W", "-A"],
        lists: &[],
        read: files::rakefile,
    },
    Runner {
        names: &["pdm", "poe", "hatch", "rye"],
        subcommands: &[],
        files: &["pyproject.toml"],
        file: &[],
        directory: &["-C", "-p", "--project"],
        values: &["-e", "--env"],
        quiet: &[],
        lists: &["-l", "--list", "-d"],
        read: files::pyproject,
    },
    Runner {
        names: &["pixi"],
        subcommands: &["run", "r"],
        files: &["pixi.toml", "pyproject.toml"],
        file: &["--manifest-path"],
        directory: &[],
        values: &["-e", "--environment"],
        quiet: &["-n", "--dry-run"],
        lists: &[],
        read: files::pyproject,
    },
    Runner {
        names: &["deno"],
        subcommands: &["task"],
        files: &["deno.json", "deno.jsonc", "package.json"],
        file: &["-c", "--config"],
        directory: &["--cwd"],
        values: &[],
        quiet: &[],
        lists: &[],
        read: files::deno,
    },
    Runner {
        names: &["cargo"],
        subcommands: &["xtask", "dev", "x"],
        files: &[".cargo/config.toml", ".cargo/config"],
        file: &[],
        directory: &["-C"],
        values: &[],
        quiet: &[],
        lists: &[],
        read: files::cargo,
    },
];

/// Whether a runner finds its tasks in a file of this name.
pub(super) fn are_in(name: &str) -> bool {
    RUNNERS.iter().any(|runner| runner.files.contains(&name)) || unread::are_in(name)
}

/// Subcommands behind which the name of a task stands.
const RUNNING: &[&str] = &["run", "run-script"];

/// Runs the tasks that a call of a runner names, as far as they can be read; whether it is one of a runner whose file is there.
pub(crate) fn tasks(machine: &mut Machine<'_>, call: &Call) -> bool {
    let name = call.program.split(' ').next().unwrap_or_default();
    unread::follow(machine, call);
    let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&name)) else { return false };
    let Some(words) = call.words.iter().map(Value::as_exact).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let (mut asked, mut file, mut directory) = (Asked::default(), None, None);
    let mut left = words.into_iter();
    while let Some(word) = left.next() {
        if word == "--" {
            asked.rest.extend(left);
            break;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option.to_owned(), Some(value.to_owned())),
            Some(_) | None => (word.clone(), None),
        };
        let is_one_of = |names: &[&str]| names.contains(&option.as_str());
        let names_none = asked.operands.iter().all(|word| RUNNING.contains(&word.as_str()));
        if asked.operands.len() < 2 && is_one_of(runner.quiet) || names_none && is_one_of(runner.lists) {
            return false;
        }
        if is_one_of(runner.file) {
            file = value.or_else(|| left.next());
        } else if is_one_of(runner.directory) {
            directory = value.or_else(|| left.next());
        } else if is_one_of(runner.values) {
            if value.is_none() {
                left.next();
            }
        } else if name == "tox" && is_one_of(&["-e", "--env"]) {
            let names = value.or_else(|| left.next()).unwrap_or_default();
            asked.operands.extend(names.split(',').map(|name| name.trim().to_owned()));
        } else if let (Some((name, value)), false) = (word.split_once('='), word.starts_with('-')) {
            asked.given.push((name.to_owned(), value.to_owned()));
        } else if !word.starts_with('-') || !asked.operands.is_empty() {
            asked.operands.push(word);
        }
    }
    if !runner.subcommands.is_empty()
        && !asked.operands.first().is_some_and(|first| runner.subcommands.contains(&first.as_str()))
    {
        return false;
    }
    let variable = if name == "composer" { machine.variable("COMPOSER") } else { None };
    let file = file.or_else(|| variable.and_then(|file| file.as_exact().map(str::to_owned)));
    let work = |machine: &mut Machine<'_>| run(machine, runner, file.as_deref(), &asked, &call.input);
    match directory {
        Some(directory) => machine.inside(&Value::Exact(directory), work),
        None => work(machine),
    }
}

fn run(machine: &mut Machine<'_>, runner: &Runner, file: Option<&str>, asked: &Asked, input: &Input) -> bool {
    let found: Vec<(AbsolutePath, Value)> = match file {
        Some("-" | "/dev/stdin" | "/dev/fd/0") => {
            let Some(text) = instructions_coming_in(machine, input) else { return true };
            let place = machine.cwd().cloned().unwrap_or_else(AbsolutePath::root);
            vec![(place.join("-"), Value::Exact(text))]
        }
        Some(file) => {
            let Some(path) = machine.one_path_through(&Value::exact(file)) else { return false };
            let path = if machine.entry(&path) == Entry::Directory {
                let present = runner.files.iter().map(|name| path.join(name));
                present.into_iter().find(|path| machine.entry(path) != Entry::Missing).unwrap_or(path)
            } else {
                path
            };
            let text = machine.text(&path);
            vec![(path, text)]
        }
        None => (runner.files.iter())
            .filter_map(|name| nearest(machine, name).map(|(directory, text)| (directory.join(name), text)))
            .collect(),
    };
    for (path, text) in found {
        let Some(text) = text.as_exact() else {
            not_read(machine, &path);
            return true;
        };
        let Some((tasks, chosen)) = (runner.read)(text, asked) else {
            machine.unread(format!(
                "`{}` cannot be read, and what it says is carried out",
                path.name().unwrap_or_default()
            ));
            return true;
        };
        // Another of the files may be the one that holds tasks.
        if tasks.is_empty() {
            continue;
        }
        if chosen.is_empty() {
            return false;
        }
        let directory = path.parent().unwrap_or_else(AbsolutePath::root);
        let directory = match directory.name() {
            Some(".cargo") => directory.parent().unwrap_or_else(AbsolutePath::root),
            Some(_) | None => directory,
        };
        let mut done: Vec<String> = Vec::new();
        for name in &chosen {
            run_task(machine, &directory, &tasks, name, &mut done);
        }
        return true;
    }
    false
}

fn run_task(
    machine: &mut Machine<'_>,
    directory: &AbsolutePath,
    tasks: &[Task],
    name: &str,
    done: &mut Vec<String>,
) {
    if done.iter().any(|known| known == name) {
        return;
    }
    if done.len() >= TASKS {
        machine.unread("there are more tasks than are followed");
        return;
    }
    done.push(name.to_owned());
    for task in tasks.iter().filter(|task| task.name == name) {
        let home = machine.world().place().home.as_str().to_owned();
        let place = task
            .directory
            .as_ref()
            .map_or_else(|| directory.clone(), |name| directory.join(&name.replace(HOME, &home)));
        let place = Value::exact(place.as_str());
        for step in &task.steps {
            let before = machine.effect_count();
            let text = match step {
                Step::Task(name) => {
                    run_task(machine, directory, tasks, name, done);
                    continue;
                }
                Step::Unread(what) => {
                    machine.unread(what.clone());
                    continue;
                }
                Step::Text(text) => vec![Value::exact(text.as_str())],
                Step::Words(text) => quoted_words(text)
                    .into_iter()
                    .map(|word| Value::Exact(word.replace(HOME, &home)))
                    .collect(),
                Step::Code(interpreter, code) => {
                    vec![Value::exact(*interpreter), Value::exact("-e"), Value::exact(code.as_str())]
                }
            };
            let variables = task
                .variables
                .iter()
                .map(|(name, value)| (name.clone(), Value::exact(value.replace(HOME, &home))));
            let variables = variables.collect();
            machine.inside(&place, |machine| {
                machine.with_variables(variables, |machine| match (step, text.as_slice()) {
                    (Step::Text(_), [text]) => machine.run_text(text, Input::Inherited),
                    (_, words) => machine.run_words(words, Input::Inherited),
                })
            });
            machine.amend(before, |effect| {
                if effect.kind == EffectKind::Opaque && effect.severity < Severity::High {
                    effect.kind = EffectKind::ProcessSpawn;
                    effect.severity = Severity::Low;
                }
            });
        }
    }
}
