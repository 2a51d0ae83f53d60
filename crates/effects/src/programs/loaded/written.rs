//! Files that a tool of the project loads by their name alone, at the time they are written.
//!
//! Nothing runs yet when `conftest.py` or `Directory.Build.targets` is written. Its next run is started by somebody who thinks of tests or of a
//! build, though, and no other command names the file: what in it reaches out of the workspace is asked about while it is seen.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Input, Machine, Value, known_hosts};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::super::packages::{follow_unread_text, is_task_file, keep_what_reaches_out};
use super::table;
use super::{Reading, follow_possibly, language_of};

/// Modules that every Python imports at its start. Source: Python 3.12, "site".
const AT_START_OF_PYTHON: &[&str] = &["sitecustomize.py", "usercustomize.py"];

/// How a file is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loading {
    /// As code, or settings in which commands stand.
    ByTool,
    /// By a runner of tasks.
    Tasks,
}

/// Whether a tool of the project loads what is written there.
pub(crate) fn is_loaded(path: &AbsolutePath) -> bool {
    loading(path).is_some()
}

fn loading(path: &AbsolutePath) -> Option<Loading> {
    let (name, text) = (path.name()?, path.as_str());
    let ends = |file: &str| {
        let file = file.trim_start_matches("../");
        text.strip_suffix(file).is_some_and(|before| before.ends_with('/'))
    };
    // What is called like a test is code that the session writes all day, and is followed where it runs.
    let is_data = matches!(language_of(path), Some(Reading::Commands));
    let all = table::all;
    let is_loaded = AT_START_OF_PYTHON.contains(&name)
        || all().any(|loader| loader.files.iter().any(|file| ends(file)))
        || is_data
            && all().any(|loader| {
                let mut tests = loader.tests.iter();
                tests.any(|(start, end)| name.starts_with(start) && name.ends_with(end))
            });
    let is_task_file = is_task_file(name);
    let is_code = !is_data && language_of(path).is_some();
    if is_task_file && !is_code {
        Some(Loading::Tasks)
    } else {
        (is_loaded || is_task_file).then_some(Loading::ByTool)
    }
}

/// Adds what the text of such a file would do beyond the workspace, as if its tool loaded it now.
pub(crate) fn follow_written(machine: &mut Machine<'_>, path: &AbsolutePath, text: &str) {
    let Some(loading) = loading(path).filter(|_| path.is_within(&machine.world().place().workspace)) else {
        return;
    };
    machine.remember_written(&Target::Path(path.clone()), Value::exact(text));
    let directory = path.parent().unwrap_or_else(AbsolutePath::root);
    machine.inside(&Value::exact(directory.as_str()), |machine| match loading {
        Loading::ByTool => follow_possibly(machine, path),
        Loading::Tasks => {
            let before = machine.effect_count();
            follow_unread_text(machine, text);
            leave_what_is_called_by_name(machine, before);
        }
    });
}

/// Takes back what is no matter before somebody calls a task by its name, when it is looked at again: tools that are fetched from where they are
/// published, programs and settings that are installed, and what is removed of them outside of the home directory or where nothing is now.
fn leave_what_is_called_by_name(machine: &mut Machine<'_>, before: usize) {
    let home = machine.world().place().home.clone();
    let missing: Vec<AbsolutePath> = machine
        .effects_since(before)
        .filter_map(|effect| effect.target.path())
        .filter(|path| machine.entry(path) == Entry::Missing)
        .cloned()
        .collect();
    machine.amend(before, |effect| {
        let is_published = matches!(&effect.target, Target::Host(host) if known_hosts::reach(host) != NetworkReach::External);
        let is_left = match effect.kind {
            EffectKind::RemoteCodeExecution => is_published,
            EffectKind::FileCreate | EffectKind::FileModify | EffectKind::Persistence => true,
            EffectKind::FileDelete => effect.target.path().is_some_and(|path| {
                missing.contains(path) || !path.is_within(&home) && !home.is_within(path)
            }),
            _ => false,
        };
        if is_left {
            effect.kind = EffectKind::ProcessSpawn;
            effect.severity = Severity::Low;
        }
    });
}

/// Adds what a cell of a notebook would do beyond the workspace, as if it ran now.
pub(crate) fn follow_cell(machine: &mut Machine<'_>, code: &str) {
    let before = machine.effect_count();
    machine.possibly(|machine| {
        machine.run_words(&["ipython", "-c", code].map(Value::exact), Input::Inherited);
    });
    keep_what_reaches_out(machine, before);
}
