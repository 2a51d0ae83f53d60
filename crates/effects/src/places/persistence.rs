//! Files that make something run later by itself.

use crate::path::AbsolutePath;

/// What would run the file later, in a few words (`a shell start-up file`); `None` when nothing is known to.
///
/// Answers for a file that is written, wherever the home directory is.
pub(crate) fn persistence(path: &AbsolutePath) -> Option<&'static str> {
    let text = path.as_str();
    let name = path.name()?;
    if text.ends_with(".sample") {
        return None;
    }
    if let Some((_, what)) = NAMES.iter().find(|(whole, _)| name == *whole) {
        return Some(what);
    }
    if let Some((_, what)) = ENDS.iter().find(|(end, _)| text.ends_with(end)) {
        return Some(what);
    }
    INSIDE.iter().find(|(part, _)| inside(text, part)).map(|(_, what)| *what)
}

/// Whether a file tells the continuous integration of a project what to run.
pub(crate) fn is_pipeline(path: &AbsolutePath) -> bool {
    let text = path.as_str();
    let by_name = matches!(
        path.name(),
        Some(
            ".gitlab-ci.yml"
                | ".travis.yml"
                | ".drone.yml"
                | "Jenkinsfile"
                | "bitbucket-pipelines.yml"
                | "azure-pipelines.yml"
                | "appveyor.yml"
                | ".appveyor.yml"
                | "cloudbuild.yaml"
                | "buildspec.yml"
        )
    );
    by_name
        || ["/.github/workflows/", "/.github/actions/", "/.circleci/", "/.buildkite/"]
            .iter()
            .any(|part| text.contains(part))
}

/// Files by their whole name, anywhere.
const NAMES: &[(&str, &str)] = &[
    (".bashrc", "a shell start-up file"),
    (".bash_profile", "a shell start-up file"),
    (".bash_login", "a shell start-up file"),
    (".bash_logout", "a shell start-up file"),
    (".bash_aliases", "a shell start-up file"),
    (".profile", "a shell start-up file"),
    (".zshrc", "a shell start-up file"),
    (".zshenv", "a shell start-up file"),
    (".zprofile", "a shell start-up file"),
    (".zlogin", "a shell start-up file"),
    (".kshrc", "a shell start-up file"),
    (".cshrc", "a shell start-up file"),
    (".tcshrc", "a shell start-up file"),
    (".xinitrc", "a session start-up file"),
    (".xprofile", "a session start-up file"),
    (".xsessionrc", "a session start-up file"),
    (".gitconfig", "git configuration, which can run commands"),
    (".envrc", "a directory start-up file"),
    (".cursorrules", "instructions that an agent obeys"),
    (".windsurfrules", "instructions that an agent obeys"),
    (".clinerules", "instructions that an agent obeys"),
    (".mcp.json", "agent configuration, which can run commands"),
    ("cline_mcp_settings.json", "agent configuration, which can run commands"),
];

/// Files by the end of their path.
const ENDS: &[(&str, &str)] = &[
    ("/.ssh/authorized_keys", "a list of keys that may log in"),
    ("/.ssh/authorized_keys2", "a list of keys that may log in"),
    ("/.ssh/rc", "a login start-up file"),
    ("/.ssh/config", "SSH configuration, which can run commands"),
    ("/.config/fish/config.fish", "a shell start-up file"),
    ("/.config/git/config", "git configuration, which can run commands"),
    ("/.git/config", "git configuration, which can run commands"),
    ("/.config/crontab", "a table of timed commands"),
    ("/etc/crontab", "a table of timed commands"),
    ("/etc/anacrontab", "a table of timed commands"),
    ("/etc/profile", "a shell start-up file"),
    ("/etc/bash.bashrc", "a shell start-up file"),
    ("/etc/rc.local", "a machine start-up file"),
    ("/etc/ld.so.preload", "a list of libraries loaded into every program"),
    ("/etc/sudoers", "the rules of who may become root"),
    ("/.claude/settings.json", "agent configuration, which can run commands"),
    ("/.claude/settings.local.json", "agent configuration, which can run commands"),
    ("/.claude.json", "agent configuration, which can run commands"),
    ("/.codex/config.toml", "agent configuration, which can run commands"),
    ("/.codex/hooks.json", "agent configuration, which can run commands"),
    ("/.gemini/settings.json", "agent configuration, which can run commands"),
    ("/.cursor/mcp.json", "agent configuration, which can run commands"),
    ("/.cursor/hooks.json", "agent configuration, which can run commands"),
    ("/.continue/config.json", "agent configuration, which can run commands"),
    ("/.continue/config.yaml", "agent configuration, which can run commands"),
    ("/.vscode/settings.json", "editor configuration, which can run commands"),
    ("/.vscode/tasks.json", "editor configuration, which can run commands"),
    ("/.vscode/launch.json", "editor configuration, which can run commands"),
    ("/.idea/workspace.xml", "editor configuration, which can run commands"),
    ("/.github/copilot-instructions.md", "instructions that an agent obeys"),
    ("/.vscode/mcp.json", "agent configuration, which can run commands"),
];

/// Directories whose files are run.
const INSIDE: &[(&str, &str)] = &[
    ("/.git/hooks/", "a git hook"),
    ("/.husky/", "a git hook"),
    ("/.config/fish/conf.d/", "a shell start-up file"),
    ("/.config/autostart/", "a program started at login"),
    ("/.config/systemd/user/", "a service of this person"),
    ("/.local/share/systemd/user/", "a service of this person"),
    ("/Library/LaunchAgents/", "a program started at login"),
    ("/Library/StartupItems/", "a program started with the machine"),
    ("/Library/LaunchDaemons/", "a program started with the machine"),
    ("/etc/cron.d/", "a table of timed commands"),
    ("/etc/cron.hourly/", "a timed command"),
    ("/etc/cron.daily/", "a timed command"),
    ("/etc/cron.weekly/", "a timed command"),
    ("/etc/cron.monthly/", "a timed command"),
    ("/var/spool/cron/", "a table of timed commands"),
    ("/etc/systemd/system/", "a service of this machine"),
    ("/lib/systemd/system/", "a service of this machine"),
    ("/etc/init.d/", "a service of this machine"),
    ("/etc/profile.d/", "a shell start-up file"),
    ("/etc/xdg/autostart/", "a program started at login"),
    ("/etc/sudoers.d/", "the rules of who may become root"),
    ("/etc/pam.d/", "the rules of who may log in"),
    ("/etc/udev/rules.d/", "a rule that runs on devices"),
    ("/.idea/runConfigurations/", "editor configuration, which can run commands"),
    ("/.cursor/rules/", "instructions that an agent obeys"),
];

/// Whether a path lies in a directory of the table, or is that directory itself.
fn inside(text: &str, part: &str) -> bool {
    text.contains(part) || part.strip_suffix('/').is_some_and(|directory| text.ends_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> bool {
        persistence(&AbsolutePath::new(path).unwrap()).is_some()
    }

    #[test]
    fn what_runs_later_is_known() {
        for path in [
            "/home/dev/.bashrc",
            "/home/dev/.ssh/authorized_keys",
            "/home/dev/proj/.git/hooks/pre-commit",
            "/etc/cron.d/job",
            "/home/dev/.config/systemd/user/x.service",
            "/home/dev/proj/.vscode/tasks.json",
        ] {
            assert!(found(path), "{path} runs later");
        }
        for path in [
            "/home/dev/proj/bashrc",
            "/home/dev/proj/.git/hooks/pre-commit.sample",
            "/home/dev/.ssh/known_hosts",
        ] {
            assert!(!found(path), "{path} does not");
        }
    }
}
