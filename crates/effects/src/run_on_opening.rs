//! Settings of a project that run commands as soon as somebody opens it, enters its directory or commits to it.
//!
//! What is written into them runs later, in the name of the user: commands in the text that reach out of the workspace count as possible.
//! Whether such a file is one that runs something is said by its place (`persistence` in `checkrein_facts`), or, where most of what stands
//! in it runs nothing, by a word in it.

use crate::effect::EffectKind;
use crate::interpreter::{Draft, Machine, Value};
use crate::path::AbsolutePath;
use crate::programs::follow_unread_text;

/// What of a file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All that stands in it may.
    Whole,
    /// The same, once this word stands in it.
    With(&'static str),
    /// What stands behind this word, up to the next word that ends so: the rest runs elsewhere.
    Behind(&'static str, &'static str),
}

/// Files by the end of their path.
///
/// Sources: containers.dev ("Lifecycle scripts": `initializeCommand` runs on the host, all others in the container); code.visualstudio.com
/// ("Tasks", `runOn`); zed.dev ("Tasks", "Language servers"); docs.helix-editor.com ("Languages"); direnv(1); mise.jdx.dev ("Hooks");
/// `exrc` in the manuals of Vim and Neovim; jetpack.io ("init_hook"); pre-commit.com; lefthook.dev; JetBrains ("Run configurations",
/// "File watchers").
const FILES: &[(&str, Part)] = &[
    ("/devcontainer.json", Part::Behind("initializeCommand", "Command\"")),
    ("/.devcontainer.json", Part::Behind("initializeCommand", "Command\"")),
    ("/.vscode/tasks.json", Part::Whole),
    (".code-workspace", Part::With("folderOpen")),
    ("/.zed/tasks.json", Part::Whole),
    ("/.zed/settings.json", Part::Whole),
    ("/.helix/config.toml", Part::Whole),
    ("/.helix/languages.toml", Part::Whole),
    ("/.idea/workspace.xml", Part::Whole),
    ("/.idea/watcherTasks.xml", Part::Whole),
    (".run.xml", Part::Whole),
    ("/.envrc", Part::Whole),
    ("/mise.toml", Part::With("hooks")),
    ("/.mise.toml", Part::With("hooks")),
    ("/mise.local.toml", Part::With("hooks")),
    ("/.mise.local.toml", Part::With("hooks")),
    ("/mise/config.toml", Part::With("hooks")),
    ("/devbox.json", Part::With("init_hook")),
    ("/.exrc", Part::Whole),
    ("/.nvimrc", Part::Whole),
    ("/.lvimrc", Part::Whole),
    ("/.nvim.lua", Part::Whole),
    ("/.lazy.lua", Part::Whole),
    ("/lefthook.yml", Part::Whole),
    ("/.lefthook.yml", Part::Whole),
    ("/.pre-commit-config.yaml", Part::Whole),
];
/// Directories whose files run.
const INSIDE: &[&str] = &["/.idea/runConfigurations/", "/.husky/"];

/// Adds what the settings that a command wrote would run.
pub(crate) fn settle(machine: &mut Machine<'_>) {
    let mut written: Vec<AbsolutePath> = machine
        .effects_since(0)
        .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify))
        .filter_map(|effect| effect.target.path().cloned())
        .filter(|path| part_of(path).is_some())
        .collect();
    written.sort();
    written.dedup();
    for path in written {
        if let Value::Exact(text) = machine.text(&path) {
            follow(machine, &path, &text);
        }
    }
}

/// Adds what a text would run that is written into a file of a project.
pub(crate) fn follow(machine: &mut Machine<'_>, path: &AbsolutePath, text: &str) {
    let Some(part) = part_of(path).filter(|_| path.is_within(&machine.world().place().workspace)) else {
        return;
    };
    let running = match part {
        Part::Whole => text.to_owned(),
        Part::With(word) if text.contains(word) => text.to_owned(),
        Part::Behind(word, end) => match text.split_once(word) {
            // Its own name ends so, too, and stands in quotes.
            Some((_, behind)) => format!("\"{word}{}", behind.split(end).next().unwrap_or_default()),
            None => return,
        },
        Part::With(_) => return,
    };
    // What an editor hands to a shell without quotes: `:!make`, `":sh make"`.
    let handed = text.lines().filter_map(|line| line.split_once('!').or_else(|| line.split_once(":sh ")));
    let handed = handed.map(|(_, behind)| behind.trim_end_matches(['"', '\'', ',']));
    let running = handed.fold(running, |whole, command| format!("{whole}\n{command}"));
    if part != Part::Whole {
        for aim in machine.paths_through(&Value::exact(path.as_str())) {
            let draft = Draft::at(EffectKind::Persistence, aim);
            machine.add(draft.note("runs commands when the project is opened"));
        }
    }
    let directory = path.parent().unwrap_or_else(AbsolutePath::root);
    machine.inside(&Value::exact(directory.as_str()), |machine| follow_unread_text(machine, &running));
}

/// Whether anything in a file may run when its project is opened.
pub(crate) fn is_meant(path: &AbsolutePath) -> bool {
    part_of(path).is_some()
}

fn part_of(path: &AbsolutePath) -> Option<Part> {
    let text = path.as_str();
    let by_end = FILES.iter().find(|(end, _)| text.ends_with(end)).map(|(_, part)| *part);
    by_end.or_else(|| INSIDE.iter().any(|part| text.contains(part)).then_some(Part::Whole))
}
