//! The help of the whole program, in groups, the completions and the manual pages.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;

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
            "open",
            "stats",
            "statusline",
            "undo",
            "allow",
            "approval",
            "wrong",
            "missed",
            "run",
            "exec",
            "acp",
            "mask",
            "route",
            "gate",
            "pipeline",
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
            "surprise",
            "replay",
            "config",
            "policy",
            "audit",
            "credential",
            "notice",
            "mcp",
        ],
    ),
    ("Installation", &["update", "uninstall", "completions", "manual", "hook"]),
    ("Help", &["help"]),
];

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
            let _ = writeln!(groups, "  {name:<11}  {about}");
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
    clap_mangen::generate_to(shown_forms(), folder)
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
    fn completions_know_the_nouns_and_not_the_old_forms() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = completions(shell);
            assert!(text.contains("snapshot") && text.contains("restore"), "{shell}");
            assert!(!text.contains("surprises") && !text.contains("notify"), "{shell}");
        }
    }
}
