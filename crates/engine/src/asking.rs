//! Who asks: a user, or an agent that is about to let itself off.
//!
//! Variables say so only as long as nobody takes them away. What an agent cannot change is above whom it started its processes: below our
//! own supervision, which all orphans come to, or below its client. Who leaves that line, by forking twice, has a session whose leader is
//! not above it any more, or none but a shell without a terminal. A copy of the program under another name, by which the hook would not know
//! it, is told from the one beside the registered hook. What cannot be told from a user: a process that somebody else starts
//! for the agent (a running `tmux`, `at`, `systemd-run --user`), or that has left the line and made itself a terminal (`script`).

use std::fmt;
use std::os::unix::fs::MetadataExt as _;

use checkrein_protocol::AbsolutePath;

use crate::environment::HostEnvironment;
use crate::installation::Installations;
use crate::processes;

/// The longest command line that is read, in bytes (Linux allows no longer arguments by default).
const LONGEST: u64 = 2 * 1024 * 1024;

/// What speaks for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// A client says in the environment of its tools that they are its tools.
    Environment,
    /// It runs below `checkrein run` or `checkrein exec`.
    Supervised,
    /// It runs below the program of a client.
    Client(String),
    /// Whoever started it is gone, and it has no terminal of its own: nobody can tell where it comes from.
    Detached,
    /// It is another file than the program beside the hook that is registered; that one.
    Copy(AbsolutePath),
}

impl fmt::Display for Sign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => formatter.write_str("this process was started by an agent"),
            Self::Supervised => {
                formatter.write_str("this process runs below `checkrein run` or `checkrein exec`")
            }
            Self::Client(name) => write!(formatter, "this process was started by an agent (`{name}`)"),
            Self::Detached => formatter.write_str("who started this process is gone and cannot be told"),
            Self::Copy(installed) => {
                write!(formatter, "this is another program than `{installed}`, which is installed here")
            }
        }
    }
}

/// Who may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// A user.
    Person,
    /// A user, or what runs on behalf of one without a terminal, such as a service.
    PersonOrService,
}

/// What speaks against it that such a one asks; `None` when nothing does.
pub fn sign(environment: &HostEnvironment, asker: Asker) -> Option<Sign> {
    if environment.is_inside_agent() {
        return Some(Sign::Environment);
    }
    judge(&line_of_own(), asker).or_else(|| match asker {
        Asker::Person => copied_from(environment).map(Sign::Copy),
        Asker::PersonOrService => None,
    })
}

/// The same of another process, which is told by the line above it and by its environment. Of one that is gone nothing can be told.
pub fn sign_of(process: i32, asker: Asker) -> Option<Sign> {
    let line = line_of(process);
    if line.is_empty() {
        return Some(Sign::Detached);
    }
    let variables = processes::environment_of(process).unwrap_or_default();
    let is_marked = |entry: &[u8]| {
        checkrein_clients::marks().any(|name| {
            let value = entry.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            value.is_some_and(|value| !value.is_empty())
        })
    };
    if variables.split(|byte| *byte == 0).any(is_marked) {
        return Some(Sign::Environment);
    }
    judge(&line, asker)
}

/// The program that is installed, where this process is another file: under a name of its own an agent may run it unseen. Where no hook is
/// registered by its path, none is known to be installed.
fn copied_from(environment: &HostEnvironment) -> Option<AbsolutePath> {
    differs(&std::fs::canonicalize(std::env::current_exe().ok()?).ok()?, environment, None)
}

/// The program with which people answer, where a process runs another file: the one beside this program, or one beside a registered hook.
/// `None` where the system does not tell which file a process runs, as macOS.
pub(crate) fn runs_another(environment: &HostEnvironment, process: i32) -> Option<AbsolutePath> {
    if cfg!(target_os = "macos") {
        return None;
    }
    let own = std::env::current_exe().ok()?;
    let beside = AbsolutePath::new(own.parent()?.join("checkrein").to_str()?)?;
    let running = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    differs(&running, environment, Some(beside))
}

fn differs(
    own: &std::path::Path,
    environment: &HostEnvironment,
    beside: Option<AbsolutePath>,
) -> Option<AbsolutePath> {
    let installed: Vec<AbsolutePath> = Installations::load(environment)
        .ok()?
        .programs()
        .filter_map(|hook| Some(hook.parent()?.join("checkrein")))
        .chain(beside)
        .filter(|program| std::fs::metadata(program.as_str()).is_ok_and(|facts| facts.is_file()))
        .collect();
    let is_own =
        |program: &AbsolutePath| std::fs::canonicalize(program.as_str()).is_ok_and(|program| program == own);
    if installed.iter().any(is_own) { None } else { installed.into_iter().next() }
}

/// A process of the line from this one upward.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Process {
    number: i32,
    session: i32,
    has_terminal: bool,
    /// Whether it runs a program of the system, which nobody but root can have put there.
    is_of_system: bool,
    name: String,
    words: Vec<String>,
}

/// This process, the one above it, and so on.
fn line_of_own() -> Vec<Process> {
    line_of(i32::try_from(std::process::id()).unwrap_or_default())
}

/// A process, the one above it, and so on.
fn line_of(mut number: i32) -> Vec<Process> {
    let mut line = Vec::new();
    // Bounded: a process that ends meanwhile could close a circle.
    while number > 0 && line.len() < 1024 {
        let Some((process, parent)) = read(number) else { break };
        line.push(process);
        number = parent;
    }
    line
}

fn read(number: i32) -> Option<(Process, i32)> {
    let found = processes::Process::read(number)?;
    let words = processes::words_of(number, LONGEST).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).take(4).map(|word| String::from_utf8_lossy(word).into_owned());
    let process = Process {
        number,
        session: found.session,
        has_terminal: found.has_terminal,
        is_of_system: is_of_system(number),
        name: found.name,
        words: words.collect(),
    };
    Some((process, found.parent))
}

/// Whether a process is one of root, or runs a file that only root can change. Where the system does not tell, as macOS, every one is.
fn is_of_system(number: i32) -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    let of_root = std::fs::metadata(format!("/proc/{number}")).is_ok_and(|process| process.uid() == 0);
    let only_root = || {
        std::fs::metadata(format!("/proc/{number}/exe"))
            .is_ok_and(|program| program.uid() == 0 && program.mode() & 0o022 == 0)
    };
    of_root || only_root()
}

fn judge(line: &[Process], asker: Asker) -> Option<Sign> {
    let above = line.get(1..).unwrap_or_default();
    if above.iter().any(|process| [SUPERVISING, CONFINING].contains(&process.name.as_str())) {
        return Some(Sign::Supervised);
    }
    if let Some(client) = above.iter().find_map(client) {
        return Some(Sign::Client(client.to_owned()));
    }
    match asker {
        Asker::Person if is_detached(line) => Some(Sign::Detached),
        Asker::Person | Asker::PersonOrService => None,
    }
}

/// Whether the line does not lead to where a session of a user or of a service begins.
fn is_detached(line: &[Process]) -> bool {
    let Some(own) = line.first() else { return false };
    let Some(place) = line.iter().position(|process| process.number == own.session) else { return true };
    let Some(above) = line.get(place + 1).filter(|above| above.number == 1 || above.name == "systemd") else {
        return false;
    };
    // What began a session and ended left it to this one, as every program does that nobody waits for.
    let adopts = above.name == "systemd" || INITS.contains(&above.name.as_str());
    let is_known = line.get(place).is_some_and(|leader| {
        let name = leader.name.as_str();
        // In a container the first process starts the others itself, whatever they are.
        if adopts {
            leader.is_of_system && LEADERS.contains(&name)
        } else {
            place > 0 && !STARTERS.contains(&name)
        }
    });
    !own.has_terminal && !is_known
}

/// What is called so is the first process of a machine on which people log in.
const INITS: &[&str] =
    &["systemd", "init", "launchd", "runit", "s6-svscan", "openrc-init", "dinit", "finit", "shepherd"];

/// Programs that lead a session only as long as they run something else; no service and no login is one.
const STARTERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env", "nohup", "setsid", "timeout", "perl",
    "python3",
];

/// The names that the processes of `run` and `exec` give themselves.
const SUPERVISING: &str = checkrein_sandbox::SUPERVISING;
const CONFINING: &str = checkrein_sandbox::CONFINING;

/// Programs of the system that lead the sessions in which people and their jobs work without a terminal: logins, timed jobs, desktops and
/// containers. What leads a session besides, and was started by nobody who is left, may be anything that an agent wrote.
const LEADERS: &[&str] = &[
    "sshd",
    "sshd-session",
    "sshd-auth",
    "dropbear",
    "login",
    "cron",
    "crond",
    "anacron",
    "fcron",
    "atd",
    "systemd",
    "gnome-shell",
    "gnome-session-b",
    "plasmashell",
    "kwin_wayland",
    "xfce4-session",
    "xfce4-panel",
    "cinnamon-sessio",
    "gdm-x-session",
    "gdm-wayland-ses",
    "sddm-helper",
    "lightdm",
    "containerd-shim",
    "conmon",
    "tini",
    "docker-init",
    "dumb-init",
    "catatonit",
];

/// The client whose program a process runs, itself or by an interpreter.
fn client(process: &Process) -> Option<&'static str> {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let interprets = ["node", "bun", "deno", "python", "python3"]
        .contains(&base(process.words.first().map_or("", String::as_str)).as_str());
    let mut names = vec![process.name.clone()];
    names.extend(process.words.first().map(|word| base(word)));
    let script = process.words.iter().skip(1).find(|word| !word.starts_with('-')).filter(|_| interprets);
    names.extend(script.map(|word| base(word)));
    let package =
        script.and_then(|script| checkrein_clients::packages().find(|(part, _)| script.contains(part)));
    checkrein_clients::programs()
        .find(|known| names.iter().any(|name| name == known))
        .or(package.map(|(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of names from this process upward; the numbers go down to 1, and the session is that of the named place.
    fn line(names: &[&str], leader: usize, terminal: bool) -> Vec<Process> {
        let count = i32::try_from(names.len()).unwrap();
        let session = count - i32::try_from(leader).unwrap();
        let process = |(place, name): (usize, &&str)| Process {
            number: count - i32::try_from(place).unwrap(),
            session,
            has_terminal: terminal,
            is_of_system: true,
            name: name.split(' ').next().unwrap().rsplit('/').next().unwrap().to_owned(),
            words: name.split(' ').map(str::to_owned).collect(),
        };
        names.iter().enumerate().map(process).collect()
    }

    fn of(names: &[&str], leader: usize, terminal: bool) -> Option<Sign> {
        judge(&line(names, leader, terminal), Asker::Person)
    }

    #[test]
    fn people_and_what_works_for_them_may_ask() {
        for (names, leader, terminal) in [
            // A terminal window, tmux, ssh with and without a terminal, a console.
            (vec!["checkrein", "bash", "gnome-terminal-", "systemd", "systemd"], 1, true),
            (vec!["checkrein", "zsh", "tmux: server", "systemd"], 1, true),
            (vec!["checkrein", "bash", "sshd-session", "sshd", "systemd"], 1, true),
            (vec!["checkrein", "bash", "sshd-session", "sshd", "systemd"], 1, false),
            (vec!["checkrein", "bash", "login", "systemd"], 1, true),
            // Jobs: cron, a runner of continuous integration, a container.
            (vec!["checkrein", "sh", "cron", "systemd"], 1, false),
            (vec!["checkrein", "bash", "runner", "containerd-shim", "systemd"], 3, false),
            (vec!["checkrein", "sh"], 1, false),
            // The first process of a container that starts what it is told to.
            (vec!["checkrein", "bash", "runner", "agent"], 2, false),
        ] {
            assert_eq!(of(&names, leader, terminal), None, "{names:?}");
        }
    }

    #[test]
    fn what_an_agent_starts_is_below_it_whatever_it_does_to_its_variables() {
        let supervised = ["checkrein", "sh", "checkrein-run", "checkrein-run", "bash", "sshd", "systemd"];
        assert_eq!(of(&supervised, 4, true), Some(Sign::Supervised));
        assert_eq!(
            of(&["checkrein", "sh", "checkrein-exec", "bash", "systemd"], 3, true),
            Some(Sign::Supervised)
        );
        for agent in [
            "claude",
            "/usr/bin/node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
            "node --no-warnings /usr/local/bin/codex",
            "python3 /home/dev/.local/bin/aider",
        ] {
            let found = of(&["checkrein", "bash", agent, "zsh", "tmux", "systemd"], 3, true);
            assert!(matches!(found, Some(Sign::Client(_))), "{agent}: {found:?}");
        }
        // A file of that name that somebody edits is not the program.
        assert_eq!(of(&["checkrein", "bash", "vim /srv/claude", "zsh", "sshd", "systemd"], 3, true), None);
    }

    #[test]
    fn who_left_the_line_cannot_be_told() {
        // Its parent ended; the leader of its session is not above it.
        assert_eq!(of(&["checkrein", "systemd"], 7, true), Some(Sign::Detached));
        assert_eq!(of(&["checkrein", "sh", "systemd"], 7, false), Some(Sign::Detached));
        // The same with a session of its own.
        assert_eq!(of(&["checkrein", "sh", "systemd"], 1, false), Some(Sign::Detached));
        assert_eq!(of(&["checkrein", "systemd"], 0, false), Some(Sign::Detached));
        // Any program can lead a session, and call itself as it likes.
        for leader in ["awk", "node", "python3.11", "make", "rs-1f2e3d", "Runner.Listener"] {
            assert_eq!(
                of(&["checkrein", "sh", leader, "systemd"], 2, false),
                Some(Sign::Detached),
                "{leader}"
            );
        }
        let mut named = line(&["checkrein", "sh", "cron", "systemd"], 2, false);
        named[2].is_of_system = false;
        assert_eq!(judge(&named, Asker::Person), Some(Sign::Detached));
        // What a service runs may be meant for it.
        let service = line(&["checkrein", "systemd"], 0, false);
        assert_eq!(judge(&service, Asker::PersonOrService), None);
    }

    #[test]
    fn the_line_of_this_process_begins_with_it_and_leads_upward() {
        let line = line_of_own();
        assert_eq!(line[0].number, i32::try_from(std::process::id()).unwrap());
        assert!(line.len() > 1 && line[0].session >= 0, "{line:?}");
    }
}
