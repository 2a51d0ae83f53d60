//! Programs that hand their words over to git, each with a work tree and a repository of its own: yadm(1), vcsh(1), etckeeper(8), chezmoi, and
//! the subcommands of git by the names of their programs.

use crate::interpreter::{Call, Exit, Input, Machine, Value};

/// Where yadm keeps its repository, below the home directory (yadm(1), "FILES").
const OF_YADM: &str = ".local/share/yadm/repo.git";
/// Where vcsh keeps its repositories, below the home directory (vcsh(1), "VCSH_REPO_D").
const OF_VCSH: &str = ".config/vcsh/repo.d";
/// Where chezmoi keeps its sources, below the home directory ("Concepts").
const OF_CHEZMOI: &str = ".local/share/chezmoi";
/// Options of yadm that may stand anywhere, each with a value (yadm(1), "OPTIONS").
const OPTIONS_OF_YADM: &[&str] = &[
    "-Y",
    "--yadm-dir",
    "--yadm-data",
    "--yadm-repo",
    "--yadm-config",
    "--yadm-encrypt",
    "--yadm-archive",
    "--yadm-bootstrap",
];

/// `git-clean` is `git clean`.
pub(crate) fn git_by_program(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(name) = call.program.strip_prefix("git-") else { return Exit::unknown() };
    hand_over(machine, std::slice::from_ref(&Value::exact(name)), &call.words)
}

/// `yadm SUBCOMMAND...`
pub(crate) fn yadm(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let (repository, words) = without_options_of_yadm(machine, &call.words);
    at_home(machine, repository, |machine| hand_over(machine, &[], &words))
}

/// `yadm enter COMMAND...`
pub(crate) fn yadm_enter(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let (repository, _) = without_options_of_yadm(machine, &call.words);
    run_at_home(machine, repository, &call.arguments.operands)
}

/// `vcsh REPOSITORY SUBCOMMAND...`
pub(crate) fn vcsh(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some((name, words)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    let repository = repository_of_vcsh(machine, name);
    at_home(machine, repository, |machine| hand_over(machine, &[], words))
}

/// `vcsh run REPOSITORY COMMAND...`
pub(crate) fn vcsh_run(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some((name, words)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    let repository = repository_of_vcsh(machine, name);
    run_at_home(machine, repository, words)
}

/// `vcsh foreach SUBCOMMAND...`; with `-g` the words are a command of their own.
pub(crate) fn vcsh_foreach(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let repository = repository_of_vcsh(machine, &Value::Unknown);
    let words = &call.arguments.operands;
    if call.arguments.has(&["-g"]) {
        return run_at_home(machine, repository, words);
    }
    at_home(machine, repository, |machine| hand_over(machine, &[], words))
}

/// `etckeeper vcs SUBCOMMAND...`
pub(crate) fn etckeeper_vcs(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words = behind(&call.words, "vcs");
    let directory = Value::exact("/etc");
    machine.inside(&directory, |machine| hand_over(machine, &[], words))
}

/// `chezmoi git [--] SUBCOMMAND...`
pub(crate) fn chezmoi_git(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words = behind(&call.words, "git");
    let words = words.strip_prefix(&[Value::exact("--")]).unwrap_or(words);
    let directory = below_home(machine, OF_CHEZMOI);
    machine.inside(&directory, |machine| hand_over(machine, &[], words))
}

/// Runs git with these words.
fn hand_over(machine: &mut Machine<'_>, first: &[Value], words: &[Value]) -> Exit {
    let whole: Vec<Value> =
        std::iter::once(&Value::exact("git")).chain(first).chain(words).cloned().collect();
    machine.run_words(&whole, Input::Inherited)
}

/// Runs words as a command for which the home directory is the work tree of a repository; without any that is a shell for a person.
fn run_at_home(machine: &mut Machine<'_>, repository: Value, words: &[Value]) -> Exit {
    if words.is_empty() {
        return Exit::unknown();
    }
    at_home(machine, repository, |machine| machine.run_words(words, Input::Inherited))
}

/// Runs `work` where the home directory is the work tree of a repository.
fn at_home<T>(machine: &mut Machine<'_>, repository: Value, work: impl FnOnce(&mut Machine<'_>) -> T) -> T {
    let home = Value::exact(machine.world().place().home.as_str());
    let variables = vec![("GIT_DIR".to_owned(), repository), ("GIT_WORK_TREE".to_owned(), home)];
    machine.with_variables(variables, work)
}

fn repository_of_vcsh(machine: &Machine<'_>, name: &Value) -> Value {
    let directory = below_home(machine, OF_VCSH);
    match name.as_exact() {
        Some(name) => directory.followed_by(&Value::exact(format!("/{name}.git"))),
        None => directory,
    }
}

fn below_home(machine: &Machine<'_>, place: &str) -> Value {
    Value::exact(machine.world().place().home.join(place).as_str())
}

/// The repository of yadm, and the words that are not its own.
fn without_options_of_yadm(machine: &Machine<'_>, words: &[Value]) -> (Value, Vec<Value>) {
    let mut repository = below_home(machine, OF_YADM);
    let mut rest = Vec::new();
    let mut all = words.iter();
    while let Some(word) = all.next() {
        let Some(option) = word.as_exact().filter(|text| OPTIONS_OF_YADM.contains(text)) else {
            rest.push(word.clone());
            continue;
        };
        let Some(value) = all.next() else { break };
        match option {
            "--yadm-repo" => repository = value.clone(),
            "--yadm-data" => repository = value.followed_by(&Value::exact("/repo.git")),
            _ => {}
        }
    }
    (repository, rest)
}

/// The words behind the name of a subcommand.
fn behind<'w>(words: &'w [Value], name: &str) -> &'w [Value] {
    let at = words.iter().position(|word| word.as_exact() == Some(name));
    at.and_then(|at| words.get(at + 1..)).unwrap_or_default()
}
