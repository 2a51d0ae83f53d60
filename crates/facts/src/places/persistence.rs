//! Files that make something run later by itself.

mod home;

use checkrein_protocol::AbsolutePath;

use super::system::is_home_of_somebody;

/// What would run the file later, in a few words (`a shell start-up file`); `None` when nothing is known to.
///
/// Answers for a file that is written; `home` is the home directory of the user, the table holds in other homes too.
pub fn persistence(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    let text = path.as_str();
    let name = path.name()?;
    if text.ends_with(".sample") {
        return None;
    }
    if let Some(what) = in_home(path, home).and_then(|rest| of_home(&rest)) {
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

/// Whether a file is one that is known by its place in a home directory, whatever else lies around it.
pub fn is_known_at_home(path: &AbsolutePath, home: &AbsolutePath) -> bool {
    in_home(path, home).is_some_and(|rest| of_home(&rest).is_some())
}

/// The path from the home directory in which a file lies, that of the user or of somebody else.
fn in_home(path: &AbsolutePath, home: &AbsolutePath) -> Option<String> {
    if let Some(rest) = path.relative_to(home) {
        return Some(rest.to_owned());
    }
    let others = std::iter::successors(path.parent(), AbsolutePath::parent);
    let other =
        others.filter(|above| above.parts().count() > 0).filter(is_home_of_somebody).find(|above| {
            above.parts().count() == 2 || above.as_str() == "/root" || above.as_str().ends_with("/var/root")
        })?;
    path.relative_to(&other).map(str::to_owned)
}

/// What would run a file of a home directory, given by its path from there.
fn of_home(rest: &str) -> Option<&'static str> {
    let is_meant = |place: &&&str| match place.strip_suffix('/') {
        Some(folder) => rest == folder || rest.starts_with(*place),
        None => rest == **place,
    };
    // A shell starts with what lies in a home directory, not with what is kept in a project.
    if let Some(group) = home::HOME.iter().find(|group| group.places.iter().any(|place| is_meant(&place))) {
        return Some(group.what);
    }
    let program = home::PROGRAMS.iter().find_map(|folder| rest.strip_prefix(folder))?;
    home::EVERYDAY.contains(&program).then_some(SHADOWS)
}

/// What a program is that is run in the place of one of the machine.
pub const SHADOWS: &str = "a program that is run in the place of another of that name";

/// Whether a file tells the continuous integration of a project what to run.
pub fn is_pipeline(path: &AbsolutePath) -> bool {
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
    ("sitecustomize.py", "run by every Python program"),
    ("usercustomize.py", "run by every Python program"),
    (".gitconfig", "git configuration, which can run commands"),
    (".envrc", "a directory start-up file"),
    // Codex 0.169 reads it in place of `AGENTS.md` (its strings; its documentation).
    ("AGENTS.override.md", "instructions that an agent obeys"),
    (".cursorrules", "instructions that an agent obeys"),
    (".windsurfrules", "instructions that an agent obeys"),
    (".clinerules", "instructions that an agent obeys"),
    (".gdbinit", "run by every debugger that is started there"),
    (".lldbinit", "run by every debugger that is started there"),
    (".pnpmfile.cjs", "package manager settings, which can run commands"),
    (".pnpmfile.mjs", "package manager settings, which can run commands"),
    (".exrc", "editor configuration, which can run commands"),
    (".nvimrc", "editor configuration, which can run commands"),
    (".lvimrc", "editor configuration, which can run commands"),
    (".lazy.lua", "editor configuration, which can run commands"),
    (".nvim.lua", "editor configuration, which can run commands"),
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
    // Copilot CLI ("Add MCP servers", "LSP servers", "Extensions"), Cursor ("Background agents", "Worktrees"), Codex ("Local environments").
    ("/.github/mcp.json", "agent configuration, which can run commands"),
    ("/.github/lsp.json", "agent configuration, which can run commands"),
    ("/.copilot/lsp-config.json", "agent configuration, which can run commands"),
    ("/.cursor/environment.json", "agent configuration, which can run commands"),
    ("/.cursor/worktrees.json", "agent configuration, which can run commands"),
    ("/.cursor/mcp.json", "agent configuration, which can run commands"),
    ("/.cursor/hooks.json", "agent configuration, which can run commands"),
    ("/.continue/config.json", "agent configuration, which can run commands"),
    ("/.continue/config.yaml", "agent configuration, which can run commands"),
    ("/.vscode/settings.json", "editor configuration, which can run commands"),
    ("/.vscode/tasks.json", "editor configuration, which can run commands"),
    ("/.vscode/launch.json", "editor configuration, which can run commands"),
    ("/.idea/workspace.xml", "editor configuration, which can run commands"),
    ("/.idea/watcherTasks.xml", "editor configuration, which can run commands"),
    ("/.helix/config.toml", "editor configuration, which can run commands"),
    ("/.helix/languages.toml", "editor configuration, which can run commands"),
    (".run.xml", "editor configuration, which can run commands"),
    ("/.windsurf/mcp_config.json", "agent configuration, which can run commands"),
    ("/.codeium/windsurf/memories/global_rules.md", "instructions that an agent obeys"),
    ("/.gemini/system.md", "instructions that an agent obeys"),
    ("/.qwen/system.md", "instructions that an agent obeys"),
    ("/.gemini/sandbox.bashrc", "agent configuration, which can run commands"),
    ("/.qwen/sandbox.bashrc", "agent configuration, which can run commands"),
    ("/.github/copilot-instructions.md", "instructions that an agent obeys"),
    ("/.vscode/mcp.json", "agent configuration, which can run commands"),
    ("/.factory/mcp.json", "agent configuration, which can run commands"),
    ("/.kilocode/mcp.json", "agent configuration, which can run commands"),
    ("/.roo/mcp.json", "agent configuration, which can run commands"),
    ("/.codeium/windsurf/mcp_config.json", "agent configuration, which can run commands"),
    ("/.copilot/mcp-config.json", "agent configuration, which can run commands"),
    ("/claude_desktop_config.json", "agent configuration, which can run commands"),
    ("/github-copilot/mcp.json", "agent configuration, which can run commands"),
    ("/.junie/mcp/mcp.json", "agent configuration, which can run commands"),
    ("/.lmstudio/mcp.json", "agent configuration, which can run commands"),
    ("/.amazonq/mcp.json", "agent configuration, which can run commands"),
    ("/.aws/amazonq/mcp.json", "agent configuration, which can run commands"),
    ("/.zed/settings.json", "editor configuration, which can run commands"),
    ("/.zed/tasks.json", "editor configuration, which can run commands"),
    ("/.zed/debug.json", "editor configuration, which can run commands"),
    ("/.mvn/extensions.xml", "settings of a build tool, which can run commands"),
    ("/.mvn/jvm.config", "settings of a build tool, which can run commands"),
    ("/ClaudeCode/managed-settings.json", "agent configuration, which can run commands"),
    ("/etc/claude-code/managed-settings.json", "agent configuration, which can run commands"),
    ("/etc/csh.cshrc", "a shell start-up file"),
    ("/etc/csh.login", "a shell start-up file"),
    ("/etc/inputrc", "a shell start-up file"),
    ("/etc/gitconfig", "git configuration, which can run commands"),
    ("/etc/inetd.conf", "a service of this machine"),
    ("/etc/inittab", "a machine start-up file"),
];

/// Directories whose files are run.
const INSIDE: &[(&str, &str)] = &[
    ("/.git/hooks/", "a git hook"),
    ("/.husky/", "a git hook"),
    ("/.config/fish/conf.d/", "a shell start-up file"),
    ("/.config/autostart/", "a program started at login"),
    ("/.config/systemd/user/", "a service of this user"),
    ("/.local/share/systemd/user/", "a service of this user"),
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
    ("/etc/systemd/user/", "a service of every user"),
    ("/.config/environment.d/", "variables of every login"),
    ("/.config/plasma-workspace/env/", "a session start-up file"),
    ("/etc/X11/xinit/", "a session start-up file"),
    ("/etc/update-motd.d/", "a program started at login"),
    ("/etc/apt/apt.conf.d/", "package manager settings, which can run commands"),
    ("/etc/sudoers.d/", "the rules of who may become root"),
    ("/etc/polkit-1/", "the rules of who may become root"),
    ("/etc/bash_completion.d/", "a shell start-up file"),
    ("/etc/fish/", "a shell start-up file"),
    ("/etc/skel/", "a shell start-up file"),
    ("/etc/X11/Xsession.d/", "a session start-up file"),
    ("/etc/periodic/", "a timed command"),
    ("/etc/logrotate.d/", "a timed command"),
    ("/etc/xinetd.d/", "a service of this machine"),
    ("/etc/dbus-1/", "a service of this machine"),
    ("/etc/NetworkManager/dispatcher.d/", "run when the network changes"),
    ("/etc/network/if-up.d/", "run when the network changes"),
    ("/etc/ppp/ip-up.d/", "run when the network changes"),
    ("/etc/kernel/postinst.d/", "run when a kernel is installed"),
    ("/etc/pacman.d/hooks/", "package manager settings, which can run commands"),
    ("/etc/tmpfiles.d/", "settings of the machine at every start"),
    ("/etc/binfmt.d/", "settings of the kernel at every start"),
    ("/etc/pam.d/", "the rules of who may log in"),
    ("/etc/udev/rules.d/", "a rule that runs on devices"),
    ("/.idea/runConfigurations/", "editor configuration, which can run commands"),
    ("/.github/extensions/", "code that an agent loads by itself"),
    ("/.copilot/extensions/", "code that an agent loads by itself"),
    ("/.codex/environments/", "agent configuration, which can run commands"),
    ("/.continue/mcpServers/", "agent configuration, which can run commands"),
];

/// The files of a home directory that run later, as paths below it; one file for each directory of which every file does.
pub fn known_at_home() -> impl Iterator<Item = String> {
    let file = |listed: &str| if listed.ends_with('/') { format!("{listed}x") } else { listed.to_owned() };
    home::HOME.iter().flat_map(move |group| group.places.iter().map(move |listed| file(listed)))
}

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
            "/home/dev/proj/.github/mcp.json",
            "/home/dev/proj/.github/lsp.json",
            "/home/dev/.copilot/lsp-config.json",
            "/home/dev/proj/.github/extensions/x/extension.mjs",
            "/home/dev/proj/.cursor/environment.json",
            "/home/dev/proj/.cursor/worktrees.json",
            "/home/dev/proj/.codex/environments/environment.toml",
            "/home/dev/proj/.continue/mcpServers/x.yaml",
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
            "/home/dev/proj/.cursor/rules/a.mdc",
        ] {
            assert!(!found(path), "{path} does not");
        }
    }

    #[test]
    fn every_place_of_a_home_counts_in_every_home() {
        for group in home::HOME {
            assert!(!group.source.is_empty(), "{}", group.what);
            for listed in group.places {
                let file = if listed.ends_with('/') { format!("{listed}x") } else { (*listed).to_owned() };
                for owner in ["/home/dev", "/home/other", "/root"] {
                    let whole = AbsolutePath::new(owner).unwrap().join(&file);
                    let home = AbsolutePath::new("/home/dev").unwrap();
                    assert_eq!(persistence(&whole, &home), Some(group.what), "{whole}");
                }
                let kept = AbsolutePath::new("/home/dev/proj/dotfiles").unwrap().join(&file);
                let anywhere = NAMES.iter().any(|(name, _)| kept.name() == Some(name))
                    || INSIDE.iter().any(|(part, _)| kept.as_str().contains(part))
                    || ENDS.iter().any(|(end, _)| kept.as_str().ends_with(end));
                assert_eq!(found(kept.as_str()), anywhere, "{kept}");
            }
        }
    }

    #[test]
    fn another_program_of_an_everyday_name_counts_and_a_tool_of_ones_own_does_not() {
        for path in [
            "/home/dev/.local/bin/ls",
            "/home/dev/.cargo/bin/cargo",
            "/home/dev/bin/sudo",
            "/root/.pyenv/shims/python",
        ] {
            assert!(found(path), "{path}");
        }
        for path in [
            "/home/dev/.local/bin/mytool",
            "/home/dev/.local/bin/rg",
            "/home/dev/proj/bin/ls",
            "/home/dev/.local/bin/sub/ls",
        ] {
            assert!(!found(path), "{path}");
        }
    }
}
