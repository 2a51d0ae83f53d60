//! Lines that a command adds to the start-up files of a shell: a directory to look for programs in, the language, the editor.
//!
//! Such lines run nothing. Whatever else is added there runs at every start of a shell, and is asked about.

use crate::effect::{Effect, EffectKind};
use crate::interpreter::Machine;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText, HostPaths};

/// The start-up files of shells that read assignments as POSIX writes them.
const START_UP_FILES: &[&str] =
    &[".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zprofile", ".zshenv"];

/// Variables whose value is the name of a program, as the user calls it.
const PROGRAMS: &[&str] = &["EDITOR", "VISUAL", "PAGER"];

/// Variables whose value is a word that runs nothing.
const WORDS: &[&str] = &["LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ"];

/// Variables whose value is a directory, besides those that end in `_HOME`.
const DIRECTORIES: &[&str] = &["GOPATH", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT"];

/// Notes of files to which only settings were added that they make nothing run.
pub(crate) fn settle(machine: &mut Machine<'_>) {
    let home = machine.world().place().home.clone();
    let files: Vec<AbsolutePath> = START_UP_FILES
        .iter()
        .map(|name| home.join(name))
        .filter(|file| adds_settings(machine, file))
        .collect();
    if files.is_empty() {
        return;
    }
    machine.amend(0, |effect| {
        if is_addition(effect) && effect.target.path().is_some_and(|path| files.contains(path)) {
            effect.nature = Nature::SettingThatRunsNothing;
            "adds settings that run nothing".clone_into(&mut effect.note);
        }
    });
}

fn is_addition(effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::FileModify => effect.nature == Nature::AppendedByRedirection,
        EffectKind::FileCreate => effect.nature == Nature::Ordinary,
        _ => false,
    }
}

/// Whether the command added lines to a file, each of which only sets a variable to a value that runs nothing.
fn adds_settings(machine: &Machine<'_>, file: &AbsolutePath) -> bool {
    let mut changes = machine.effects_since(0).filter(|effect| effect.target.path() == Some(file)).peekable();
    if changes.peek().is_none() || !changes.all(is_addition) {
        return false;
    }
    let before = match (machine.world().entry(file), machine.world().text(file)) {
        (Entry::Missing, _) => String::new(),
        (Entry::File(_), FileText::Whole(text)) => text,
        _ => return false,
    };
    let after = machine.text(file);
    let added = after.as_exact().and_then(|after| after.strip_prefix(before.as_str()));
    let begins_a_line = before.is_empty() || before.ends_with('\n');
    let place = machine.world().place();
    begins_a_line && added.is_some_and(|added| added.lines().all(|line| runs_nothing(line, place)))
}

fn runs_nothing(line: &str, place: &HostPaths) -> bool {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return true;
    }
    let setting = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let Some((name, value)) = setting.split_once('=') else { return false };
    let Some(value) = unquoted(value) else { return false };
    let is_word = |value: &str| {
        !value.is_empty()
            && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
    };
    match name {
        // What says where an agent or its guard has its place is no matter of taste.
        _ if crate::programs::is_place_of_agents(name) => false,
        "PATH" => adds_directories(value, place),
        _ if PROGRAMS.contains(&name) || WORDS.contains(&name) || name.starts_with("LC_") => is_word(value),
        _ if DIRECTORIES.contains(&name) || name.ends_with("_HOME") => is_directory_of_user(value, place),
        _ => false,
    }
}

/// A value without the quotes around it, where nothing in it is carried out or ends it.
fn unquoted(value: &str) -> Option<&str> {
    let inner = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let is_literal = value.starts_with('\'') && value.contains('$');
    let text = inner.unwrap_or(value);
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_-.:~+${}".contains(letter));
    (plain && !is_literal).then_some(text)
}

/// Whether a search path keeps what it was, and gets directories of the user or of the machine's software.
fn adds_directories(value: &str, place: &HostPaths) -> bool {
    let keeps = |part: &str| matches!(part, "$PATH" | "${PATH}");
    value.split(':').filter(|part| keeps(part)).count() == 1
        && value.split(':').all(|part| keeps(part) || is_directory_of_user(part, place))
}

/// Whether a directory is one of the user's own or of software for everybody: no project, nothing that everybody may write.
fn is_directory_of_user(text: &str, place: &HostPaths) -> bool {
    let below_home = ["$HOME/", "${HOME}/", "~/"]
        .into_iter()
        .find_map(|start| text.strip_prefix(start))
        .map(|rest| (rest, place.home.join(rest)));
    let (rest, path) = match below_home {
        Some((rest, path)) => (rest, path),
        None => match AbsolutePath::new(text) {
            Some(path) => (text, path),
            None => return false,
        },
    };
    let is_known = path.is_within(&place.home)
        || ["/usr/", "/opt/"].iter().any(|start| path.as_str().starts_with(start));
    is_known
        && !rest.contains(['$', '~', '{'])
        && !rest.contains("..")
        && path != place.home
        && !path.is_within(&place.workspace)
        && !place.is_temporary(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_run_nothing_are_settings() {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let place = HostPaths::new(home.clone(), home.join("proj"));
        for line in [
            "export PATH=\"$HOME/bin:$PATH\"",
            "PATH=$PATH:/opt/tool/bin",
            "export EDITOR=vim",
            "export LC_ALL=en_US.UTF-8",
            "export JAVA_HOME=/usr/lib/jvm/java-21",
            "# a note; reboot",
            "",
        ] {
            assert!(runs_nothing(line, &place), "{line}");
        }
        for line in [
            "export PATH=\"/tmp/x:$PATH\"",
            "export PATH=\"$HOME/proj/bin:$PATH\"",
            "export PATH=\"$HOME/bin\"",
            "export PATH=\".:$PATH\"",
            "export PATH=\"$(evil):$PATH\"",
            "export PATH='$HOME/bin:$PATH'",
            "export PATH=\"$HOME/bin:$PATH\"; reboot",
            "export EDITOR='rm -rf'",
            "export LD_PRELOAD=$HOME/x.so",
            "export HISTSIZE=0",
            "export HOME=/opt/x",
            "export PROMPT_COMMAND=x",
            "alias ls=x",
            "reboot",
        ] {
            assert!(!runs_nothing(line, &place), "{line}");
        }
    }
}
