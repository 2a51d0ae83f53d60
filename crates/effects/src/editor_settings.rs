//! Settings of an editor in a project that say how things look, and run nothing.

use crate::effect::{Effect, EffectKind};
use crate::interpreter::{Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;

/// Where Visual Studio Code keeps the settings of a project.
const FILE: &str = "/.vscode/settings.json";

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
    let is_settings = |path: &&AbsolutePath| path.as_str().ends_with(FILE);
    let written = machine.effects_since(0).filter_map(|effect| effect.target.path());
    let Some(path) = written.into_iter().find(is_settings).cloned() else { return };
    if let Value::Exact(text) = machine.text(&path) {
        machine.amend(0, |effect| settle_effect(effect, &path, &text));
    }
}

/// The same for one effect of an action after which a file holds this text.
pub(crate) fn settle_effect(effect: &mut Effect, path: &AbsolutePath, text: &str) {
    let writes = matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    if writes && effect.target.path() == Some(path) && path.as_str().ends_with(FILE) && only_looks(text) {
        effect.nature = Nature::SettingThatRunsNothing;
        "settings that run nothing".clone_into(&mut effect.note);
    }
}

fn only_looks(text: &str) -> bool {
    type Settings = serde_json::Map<String, serde_json::Value>;
    let is_look = |key: &String| LOOKS.iter().any(|start| key.starts_with(start));
    serde_json::from_str::<Settings>(text).is_ok_and(|settings| {
        settings.iter().all(|(key, value)| {
            // Of one language: `"[rust]": {...}`.
            let of_language = value.as_object().filter(|_| key.starts_with('['));
            is_look(key) || of_language.is_some_and(|inner| inner.keys().all(is_look))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn settings_of_looks_run_nothing_and_others_may() {
        assert!(only_looks(r#"{"editor.tabSize": 2, "[rust]": {"editor.formatOnSave": true}}"#));
        for other in [
            r#"{"editor.tabSize": 2, "python.defaultInterpreterPath": "/tmp/python"}"#,
            r#"{"[rust]": {"rust-analyzer.server.path": "/tmp/x"}}"#,
            r#"{"terminal.integrated.profiles.linux": {}}"#,
            "{",
        ] {
            assert!(!only_looks(other), "{other}");
        }
    }
}
