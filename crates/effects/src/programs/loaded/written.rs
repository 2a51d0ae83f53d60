//! Files that a tool of the project loads by their name alone, at the time they are written.
//!
//! Nothing runs yet when `conftest.py` or `Directory.Build.targets` is written. Its next run is started by somebody who thinks of tests or of a
//! build, though, and no other command names the file: what in it reaches out of the workspace is asked about while it is seen.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Input, Machine, Value, known_hosts};
use crate::path::AbsolutePath;

use super::super::packages::{follow_unread_text, keep_what_reaches_out};
use super::table;
use super::{Reading, follow_possibly, language_of};

/// Modules that every Python imports at its start. Source: Python 3.12, "site".
const AT_START_OF_PYTHON: &[&str] = &["sitecustomize.py", "usercustomize.py"];

/// Files of tasks, read for the texts in them that look like commands. Source: the manuals of the runners in `packages::tasks`.
const TASKS: &[&str] = &[
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "Procfile",
    "Procfile.dev",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "turbo.json",
    "Makefile.toml",
    "Earthfile",
];

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
    if TASKS.contains(&name) {
        return Some(Loading::Tasks);
    }
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
    is_loaded.then_some(Loading::ByTool)
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
            // Targets that fetch the tools of a project from where these are published are everyday, and are looked at when they run.
            machine.amend(before, |effect| {
                let is_published = matches!(&effect.target, Target::Host(host) if known_hosts::reach(host) != NetworkReach::External);
                if effect.kind == EffectKind::RemoteCodeExecution && is_published {
                    effect.kind = EffectKind::ProcessSpawn;
                    effect.severity = Severity::Low;
                }
            });
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
