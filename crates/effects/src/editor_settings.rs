//! Settings of an editor, or of a directory, in a project that say how things look, what a person may start, or what variables hold: they run
//! nothing by themselves.

use crate::directory_variables;
use crate::effect::{Effect, EffectKind};
use crate::interpreter::{Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;

/// Where Visual Studio Code keeps the settings of a project.
const SETTINGS: &str = "/.vscode/settings.json";

/// Where it keeps what a person starts by name or by a key, as the targets of a Makefile. A task starts by itself where it says `folderOpen`
/// (code.visualstudio.com, "Tasks", "Debugging").
const STARTED_BY_NAME: &[&str] = &["/.vscode/tasks.json", "/.vscode/launch.json"];

/// Groups of settings of which even a switch lets something run, or lets somebody in, by their beginnings and by words in them.
const GRAVE: &[&str] =
    &["security.", "task.", "extensions.", "http.", "remote.", "terminal.", "chat.", "github.", "git."];
const GRAVE_WORDS: &[&str] =
    &["approve", "trust", "unsafe", "yolo", "shell", "proxy", "server", "executable", "runonsave"];

/// Beginnings of settings that say how things look and how text is laid out (code.visualstudio.com, "Default settings"); extensions and their
/// programs have others.
const LOOKS: &[&str] = &[
    "editor.",
    "files.",
    "workbench.",
    "search.",
    "explorer.",
    "breadcrumbs.",
    "diffEditor.",
    "problems.",
    "zenMode.",
    "window.",
    "timeline.",
    "outline.",
    "cSpell.",
    "javascript.format.",
    "javascript.preferences.",
    "typescript.format.",
    "typescript.preferences.",
];

/// Notes of what a command wrote into such settings that it runs nothing, where the whole text says so.
pub(crate) fn settle(machine: &mut Machine<'_>) {
    let is_settings = |path: &&AbsolutePath| is_known(path);
    let written = machine.effects_since(0).filter_map(|effect| effect.target.path());
    let Some(path) = written.into_iter().find(is_settings).cloned() else { return };
    if let Value::Exact(text) = machine.text(&path) {
        machine.amend(0, |effect| settle_effect(effect, &path, &text));
    }
}

/// The same for one effect of an action after which a file holds this text.
pub(crate) fn settle_effect(effect: &mut Effect, path: &AbsolutePath, text: &str) {
    let writes = matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    if writes && effect.target.path() == Some(path) && runs_nothing(path, text) {
        effect.nature = Nature::SettingThatRunsNothing;
        "settings that run nothing".clone_into(&mut effect.note);
    }
}

fn is_known(path: &AbsolutePath) -> bool {
    path.as_str().ends_with(SETTINGS) || is_started_by_name(path) || is_of_directory(path)
}

fn is_of_directory(path: &AbsolutePath) -> bool {
    path.as_str().ends_with("/.envrc")
}

fn is_started_by_name(path: &AbsolutePath) -> bool {
    STARTED_BY_NAME.iter().any(|end| path.as_str().ends_with(end))
}

fn runs_nothing(path: &AbsolutePath, text: &str) -> bool {
    if is_started_by_name(path) {
        // A word of JSON can be spelled in escapes.
        !text.contains("folderOpen") && !text.contains("\\u")
    } else if is_of_directory(path) {
        directory_variables::runs_nothing(text)
    } else {
        path.as_str().ends_with(SETTINGS) && only_looks(text)
    }
}

/// Whether a value names nothing but what lies in the project, or a word of which nothing runs.
fn is_plain(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => true,
        serde_json::Value::String(text) => {
            let inside = text.strip_prefix("${workspaceFolder}/").or_else(|| text.strip_prefix("./"));
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            match inside {
                Some(rest) => {
                    !rest.split('/').any(|part| part == ".." || part.contains('$')) && !rest.contains(' ')
                }
                None => !text.starts_with('-') && text.chars().all(is_word),
            }
        }
        serde_json::Value::Array(items) => items.iter().all(is_plain),
        serde_json::Value::Object(_) => false,
    }
}

fn only_looks(text: &str) -> bool {
    type Settings = serde_json::Map<String, serde_json::Value>;
    let is_look = |key: &String| LOOKS.iter().any(|start| key.starts_with(start));
    let is_harmless = |key: &String, value: &serde_json::Value| {
        let lower = key.to_ascii_lowercase();
        let is_grave = GRAVE.iter().any(|start| key.starts_with(start))
            || GRAVE_WORDS.iter().any(|word| lower.contains(word));
        is_look(key) || !is_grave && is_plain(value)
    };
    serde_json::from_str::<Settings>(text).is_ok_and(|settings| {
        settings.iter().all(|(key, value)| {
            // Of one language: `"[rust]": {...}`.
            let of_language = value.as_object().filter(|_| key.starts_with('['));
            is_harmless(key, value)
                || of_language.is_some_and(|inner| inner.iter().all(|(key, value)| is_harmless(key, value)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{only_looks, runs_nothing};
    use crate::path::AbsolutePath;

    #[test]
    fn tasks_that_a_person_starts_run_nothing_by_themselves() {
        let path = AbsolutePath::new("/p/.vscode/tasks.json").unwrap();
        assert!(runs_nothing(&path, r#"{"tasks": [{"label": "test", "command": "npm test"}]}"#));
        assert!(!runs_nothing(
            &path,
            r#"{"tasks": [{"command": "x", "runOptions": {"runOn": "folderOpen"}}]}"#
        ));
    }

    #[test]
    fn settings_of_looks_run_nothing_and_others_may() {
        assert!(only_looks(r#"{"editor.tabSize": 2, "[rust]": {"editor.formatOnSave": true}}"#));
        for project in [
            r#"{"python.defaultInterpreterPath": "${workspaceFolder}/.venv/bin/python", "files.exclude": {"a": true}}"#,
            r#"{"python.testing.pytestEnabled": true, "python.testing.pytestArgs": ["tests"]}"#,
            r#"{"eslint.validate": ["javascript"], "rust-analyzer.check.command": "clippy"}"#,
        ] {
            assert!(only_looks(project), "{project}");
        }
        for other in [
            r#"{"task.allowAutomaticTasks": "on"}"#,
            r#"{"security.workspace.trust.enabled": false}"#,
            r#"{"chat.tools.autoApprove": true}"#,
            r#"{"http.proxyStrictSSL": false}"#,
            r#"{"python.defaultInterpreterPath": "${workspaceFolder}/../x"}"#,
            r#"{"php.validate.executablePath": "evil"}"#,
            r#"{"editor.tabSize": 2, "python.defaultInterpreterPath": "/tmp/python"}"#,
            r#"{"[rust]": {"rust-analyzer.server.path": "/tmp/x"}}"#,
            r#"{"terminal.integrated.profiles.linux": {}}"#,
            "{",
        ] {
            assert!(!only_looks(other), "{other}");
        }
    }
}
