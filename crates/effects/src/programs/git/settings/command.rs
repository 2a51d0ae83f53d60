//! `git config`.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Draft, Exit, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::super::Git;
use super::super::options::Words;
use super::super::written_settings::SettingChange;
use super::meaning::{foreign_base, is_harmless_program, names_trace, stops_checking};
use crate::interpreter::git_settings::runs_code;

pub(super) fn config(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    const VERBS: &[&str] = &[
        "list",
        "get",
        "set",
        "unset",
        "rename-section",
        "remove-section",
        "edit",
        "get-color",
        "get-colorbool",
    ];
    let verb = words.operand(0).filter(|word| VERBS.contains(word));
    let operands = words.operands_from(usize::from(verb.is_some()));
    let looks = matches!(verb, Some("list" | "get" | "get-color" | "get-colorbool"))
        || words.any(&[
            "-l",
            "--list",
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--get-color",
            "--get-colorbool",
        ]);
    let takes_away = matches!(verb, Some("unset" | "rename-section" | "remove-section"))
        || words.any(&["--unset", "--unset-all", "--rename-section", "--remove-section"]);
    let key = operands.first();
    if looks || operands.len() < 2 && !takes_away && verb != Some("set") {
        let known =
            key.and_then(Value::as_exact).and_then(|key| git.settings.exact(&key.to_ascii_lowercase()));
        return known.map_or_else(Exit::unknown, |value| Exit::printing(Value::exact(value)));
    }
    let Some(file) = git.settings_file(words) else {
        git.machine.add(
            Draft::new(EffectKind::FileModify, Target::Unknown)
                .note("which configuration file changes is not known"),
        );
        return Exit::silent();
    };
    let named = key.and_then(Value::as_exact).map(str::to_owned);
    let value = operands.get(1).cloned().unwrap_or(Value::Unknown);
    let path = Value::exact(file.as_str());
    let text = match (&named, takes_away) {
        (Some(name), false) => git.with_setting(&file, name, &value),
        (Some(_) | None, _) => Value::Unknown,
    };
    let before = git.machine.effect_count();
    if let Some(change) = named.as_deref().and_then(|name| setting_change(words, verb, name, &value)) {
        git.announce_setting(&file, change);
    }
    git.machine.write_text(&path, &text);
    let dangerous = match &named {
        Some(name) => {
            let is_harmless = value.as_exact().is_some_and(|value| {
                is_harmless_program(name, value)
                    && (!name.eq_ignore_ascii_case("core.hookspath") || git.has_committed_hooks(value, &file))
            });
            runs_code(name) && !is_harmless
        }
        None => true,
    };
    // An alias of the repository runs when it is called by name only, and then it is interpreted.
    let is_local_alias =
        named.as_deref().is_some_and(|name| name.starts_with("alias.")) && file.name() == Some("config");
    // With these git adds what it does to a file from then on (git-config(1), `trace2`).
    let traces = named.as_deref().is_some_and(names_trace);
    if traces && !takes_away && value.as_exact().is_none_or(|value| value.starts_with('/')) {
        git.machine.possibly(|machine| machine.write(&value));
    }
    // A file that is named, and lies elsewhere without the name of such a file, may hold anything.
    let is_named = words.any(&["-f", "--file"])
        || ["GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]
            .iter()
            .any(|name| git.machine.variable(name).is_some());
    let is_any_file = is_named
        && !file.is_within(&git.machine.world().place().workspace)
        && !file.name().is_some_and(|name| name.contains("config") || name == ".gitmodules");
    if is_any_file && !dangerous {
        return Exit::silent();
    }
    if !takes_away && named.as_deref().is_some_and(|name| stops_checking(name, &value)) {
        git.machine.add(
            Draft::new(EffectKind::SystemModification, Target::Service("checks of certificates".to_owned()))
                .severity(Severity::High)
                .note("git no longer checks whom it talks to"),
        );
    }
    let moved_to = named.as_deref().filter(|_| !takes_away).and_then(foreign_base);
    if let Some(base) = moved_to {
        let draft = Draft::new(EffectKind::Persistence, Target::Path(file));
        git.machine.add(draft.note(format!("what git fetches comes from `{base}` from now on")));
    } else if !dangerous || takes_away || is_local_alias {
        git.machine.amend(before, |effect| {
            effect.nature = Nature::SettingThatRunsNothing;
            "a setting that runs nothing".clone_into(&mut effect.note);
        });
    } else {
        let name = named.as_deref().unwrap_or("a setting that is not known");
        let draft = Draft::new(EffectKind::Persistence, Target::Path(file))
            .note(format!("`{name}` names code that git runs later"));
        git.machine.add(draft);
    }
    Exit::silent()
}

/// What `git config` does to the file, where its words say all of it.
fn setting_change<'a>(
    words: &Words,
    verb: Option<&str>,
    name: &'a str,
    value: &'a Value,
) -> Option<SettingChange<'a>> {
    if words.any(&["--type", "--bool", "--int", "--path", "--value", "--fixed-value", "--comment"]) {
        return None;
    }
    // Which values are meant, a further word may say.
    let has_pattern = words.operands_from(usize::from(verb.is_some())).len() > 2;
    let is = |verbs: &str, options: &[&str]| verb == Some(verbs) || verb.is_none() && words.any(options);
    let is_all = words.any(&["--all", "--unset-all"]);
    if is("remove-section", &["--remove-section"]) {
        return Some(SettingChange::RemoveSection { name });
    }
    if is("rename-section", &["--rename-section"]) {
        return Some(SettingChange::RenameSection { name, to: value });
    }
    if has_pattern {
        return None;
    }
    if is("unset", &["--unset", "--unset-all"]) {
        return Some(if is_all { SettingChange::UnsetAll { name } } else { SettingChange::Unset { name } });
    }
    match verb {
        None | Some("set") if words.any(&["--add", "--append"]) => Some(SettingChange::Add { name, value }),
        None | Some("set") => Some(SettingChange::Set { name, value }),
        Some(_) => None,
    }
}

impl Git<'_, '_> {
    /// The file that `git config` changes.
    fn settings_file(&self, words: &Words) -> Option<AbsolutePath> {
        let named = |name: &str| {
            let named = self.machine.variable(name)?;
            (named.as_exact() != Some("")).then_some(named)
        };
        // git-config(1), "ENVIRONMENT": `GIT_CONFIG` counts for this command alone, and not beside an option that says which file is meant.
        if words.has("--global") {
            return match named("GIT_CONFIG_GLOBAL") {
                Some(file) => self.located(&file),
                None => Some(self.machine.world().place().home.join(".gitconfig")),
            };
        }
        if words.has("--system") {
            return match named("GIT_CONFIG_SYSTEM") {
                Some(file) => self.located(&file),
                None => Some(AbsolutePath::root().join("etc/gitconfig")),
            };
        }
        let by_variable = named("GIT_CONFIG").filter(|_| !words.any(&["--local", "--worktree"]));
        match words.arguments.value(&["-f", "--file"]).or(by_variable.as_ref()) {
            Some(value) => self.located(value),
            None => self.repository_directory().map(|directory| {
                let apart = words.has("--worktree")
                    && self.settings.exact("extensions.worktreeconfig").is_some_and(|value| value == "true");
                directory.join(if apart { "config.worktree" } else { "config" })
            }),
        }
    }

    /// The text of a configuration file with one more setting.
    pub(in super::super) fn with_setting(&self, file: &AbsolutePath, name: &str, value: &Value) -> Value {
        let before = match self.machine.entry(file) {
            Entry::Missing => Value::exact(""),
            Entry::File(_) => self.machine.text(file),
            Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => return Value::Unknown,
        };
        let (Some(before), Some(value), Some((section, key))) =
            (before.as_exact(), value.as_exact(), name.rsplit_once('.'))
        else {
            return Value::Unknown;
        };
        let header = match section.split_once('.') {
            Some((section, part)) => format!("[{section} \"{}\"]", escaped(part)),
            None => format!("[{section}]"),
        };
        Value::exact(format!("{before}\n{header}\n\t{key} = \"{}\"\n", escaped(value)))
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
