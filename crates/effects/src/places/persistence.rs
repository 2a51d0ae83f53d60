//! Files that make something run later by itself.

use crate::path::AbsolutePath;

use super::system::is_home_of_somebody;

/// What would run the file later, in a few words (`a shell start-up file`); `None` when nothing is known to.
///
/// Answers for a file that is written; `home` is the home directory of the person, the table holds in other homes too.
pub(crate) fn persistence(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    let text = path.as_str();
    let name = path.name()?;
    if text.ends_with(".sample") {
        return None;
    }
    // A shell starts with what lies in a home directory, not with what is kept in a project.
    let in_home = path.parent().is_some_and(|parent| parent == *home || is_home_of_somebody(&parent));
    if let Some((_, what)) = START_UP.iter().find(|(whole, _)| in_home && name == *whole) {
        return Some(what);
    }
    if let Some((_, what)) = NAMES.iter().find(|(whole, _)| name == *whole) {
        return Some(what);
    }
    if name.ends_with(".pth") && text.contains("-packages/") {
        return Some("run by every Python program");
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

/// Files in a home directory by their whole name.
const START_UP: &[(&str, &str)] = &[
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
    (".zlogout", "a shell start-up file"),
    (".shrc", "a shell start-up file"),
    (".mkshrc", "a shell start-up file"),
    (".login", "a shell start-up file"),
    (".xsession", "a session start-up file"),
    (".pam_environment", "variables of every login"),
    (".kshrc", "a shell start-up file"),
    (".cshrc", "a shell start-up file"),
    (".tcshrc", "a shell start-up file"),
    (".xinitrc", "a session start-up file"),
    (".xprofile", "a session start-up file"),
    (".xsessionrc", "a session start-up file"),
];

/// Files by their whole name, anywhere.
const NAMES: &[(&str, &str)] = &[
    ("sitecustomize.py", "run by every Python program"),
    ("usercustomize.py", "run by every Python program"),
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
    ("/etc/environment", "variables of every login"),
    ("/etc/zshrc", "a shell start-up file"),
    ("/etc/zshenv", "a shell start-up file"),
    ("/etc/zsh/zshrc", "a shell start-up file"),
    ("/etc/zsh/zshenv", "a shell start-up file"),
    ("/etc/ld.so.conf", "where every program looks for libraries"),
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
    ("/etc/ld.so.conf.d/", "where every program looks for libraries"),
    ("/etc/sysctl.d/", "settings of the kernel at every start"),
    ("/etc/modprobe.d/", "settings of the kernel at every start"),
    ("/etc/modules-load.d/", "settings of the kernel at every start"),
    ("/etc/security/", "the rules of who may log in"),
    ("/etc/ssh/", "the rules of who may log in"),
    ("/run/systemd/system/", "a service of this machine"),
    ("/etc/systemd/user/", "a service of every person"),
    ("/.config/environment.d/", "variables of every login"),
    ("/.config/plasma-workspace/env/", "a session start-up file"),
    ("/etc/X11/xinit/", "a session start-up file"),
    ("/etc/update-motd.d/", "a program started at login"),
    ("/etc/apt/apt.conf.d/", "package manager settings, which can run commands"),
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
        let home = AbsolutePath::new("/home/dev").unwrap();
        persistence(&AbsolutePath::new(path).unwrap(), &home).is_some()
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
            "/home/dev/.shrc",
            "/home/dev/.local/lib/python3.12/site-packages/usercustomize.py",
            "/home/dev/.local/lib/python3.12/site-packages/x.pth",
        ] {
            assert!(found(path), "{path} runs later");
        }
        for path in [
            "/home/dev/proj/bashrc",
            "/home/dev/proj/dotfiles/.bashrc",
            "/home/dev/proj/.git/hooks/pre-commit.sample",
            "/home/dev/.ssh/known_hosts",
        ] {
            assert!(!found(path), "{path} does not");
        }
    }
}
