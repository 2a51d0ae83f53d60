//! The help of the whole program, in groups, the completions and the manual pages.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;
use crate::terminal::hanging;

/// The commands in the order of the help. A test holds it against the commands that there are.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Daily work",
        &[
            "init",
            "doctor",
            "check",
            "log",
            "show",
            "watch",
            "serve",
            "engine",
            "open",
            "stats",
            "history",
            "statusline",
            "undo",
            "allow",
            "approval",
            "change",
            "wrong",
            "missed",
            "run",
            "exec",
            "acp",
            "mask",
            "route",
            "gate",
            "pipeline",
            "push-hook",
            "task",
            "halt",
            "resume",
            "trust",
        ],
    ),
    (
        "Records and settings",
        &[
            "session",
            "snapshot",
            "worktree",
            "incident",
            "issue",
            "ticket",
            "agent",
            "surprise",
            "replay",
            "config",
            "policy",
            "audit",
            "credential",
            "notice",
            "mcp",
            "plugin",
        ],
    ),
    ("Installation", &["update", "uninstall", "completions", "manual", "hook"]),
    ("Help", &["help"]),
];

/// The column at which the help of a command begins in the list of all.
const ABOUT: usize = 15;

/// The command line, with its commands in groups.
pub(crate) fn command_line() -> Command {
    let mut command = Arguments::command();
    // `help` is among the commands only once they are complete.
    command.build();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(groups, "{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "{}", hanging(&format!("  {name:<11}  {about}"), ABOUT));
        }
        groups.push('\n');
    }
    let template =
        format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}");
    Arguments::command().help_template(template)
}

/// The completions for a shell: of the forms that the help shows.
pub(crate) fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut shown_forms(), "checkrein", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a manual page for each form that the help shows into `folder`, which is there.
pub(crate) fn write_manual(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(shown_forms(), folder)?;
    for page in fs::read_dir(folder)? {
        let path = page?.path();
        let is_ours = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"checkrein"));
        if is_ours && path.extension().is_some_and(|end| end == "1") {
            let text = fs::read_to_string(&path)?;
            fs::write(&path, with_titles(&with_version(&text)))?;
        }
    }
    Ok(())
}

/// A manual page that ends with the name and version of the program, and not with the name of a subcommand.
fn with_version(page: &str) -> String {
    let lines = page.lines().map(|line| match line.split_once("  \"") {
        Some((title, _)) if title.starts_with(".TH ") => {
            format!("{title}  \"checkrein {}\"", env!("CARGO_PKG_VERSION"))
        }
        _ => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}

/// A manual page with the titles that manual pages have: what stands below the options is about the command, or shows examples.
fn with_titles(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (extra, rest) = extra.split_at(extra.find("\n.SH ").map_or(extra.len(), |end| end + 1));
    let examples = ["Examples:\n", "Example:\n"];
    let Some((place, word)) = examples.into_iter().find_map(|word| Some((extra.find(word)?, word))) else {
        return format!("{before}.SH DETAILS\n{extra}{rest}");
    };
    let (told, shown) = extra.split_at(place);
    let shown = shown.strip_prefix(word).unwrap_or(shown);
    let told = told.trim_end();
    let details = if told.is_empty() { String::new() } else { format!(".SH DETAILS\n{told}\n") };
    // Lines of a command stay lines.
    format!("{before}{details}.SH EXAMPLES\n.nf\n{}\n.fi\n{rest}", shown.trim_end())
}

/// The command line without the forms that are kept for those who know them from earlier versions.
fn shown_forms() -> Command {
    let whole = Arguments::command();
    let kept: Vec<Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let shown = Command::new("checkrein").args(whole.get_arguments().cloned()).subcommands(kept);
    let shown = shown.version(env!("CARGO_PKG_VERSION"));
    match (whole.get_about(), whole.get_after_help()) {
        (Some(about), Some(examples)) => shown.about(about.clone()).after_help(examples.clone()),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let mut command = Arguments::command();
        command.build();
        let mut all: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn manual_pages_have_titles_that_say_what_follows() {
        let folder = tempfile::tempdir().unwrap();
        write_manual(folder.path()).unwrap();
        for page in fs::read_dir(folder.path()).unwrap() {
            let text = fs::read_to_string(page.unwrap().path()).unwrap();
            assert!(!text.contains("EXTRA") && !text.contains("\nExample"), "{text}");
        }
        let log = fs::read_to_string(folder.path().join("checkrein-log.1")).unwrap();
        assert!(log.contains(".TH checkrein-log 1  \"checkrein 0."), "{log}");
        assert!(
            log.contains(".SH DETAILS\nSession by session")
                && log.contains(".SH EXAMPLES\n.nf\n  checkrein log\n")
        );
        let first = fs::read_to_string(folder.path().join("checkrein.1")).unwrap();
        assert!(first.contains(".SH EXAMPLES\n") && first.contains("\n.SH VERSION\n"), "{first}");
    }

    #[test]
    fn completions_know_the_nouns_and_not_the_old_forms() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = completions(shell);
            assert!(text.contains("snapshot") && text.contains("restore"), "{shell}");
            assert!(!text.contains("surprises") && !text.contains("notify"), "{shell}");
        }
    }
}
