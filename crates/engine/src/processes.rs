//! What the system tells of a process: who started it, in which session it is, how much memory it takes, which home it was given. Linux
//! tells it in `/proc`; macOS is asked by calls, and does not tell of the memory of others.

use std::os::unix::fs::MetadataExt as _;

/// The longest `stat` that is read, in bytes; the kernel writes far less.
#[cfg(not(target_os = "macos"))]
const LONGEST: u64 = 4096;

/// The longest environment that is read, in bytes: what Linux takes for one start of a program, as it is set everywhere.
#[cfg(not(target_os = "macos"))]
const LONGEST_ENVIRONMENT: u64 = 2 * 1024 * 1024;

/// The longest table of the memory of a process, in bytes (ours).
const LONGEST_MAPS: u64 = 4 * 1024 * 1024;

/// How many processes above this one are looked at (ours).
const MOST_ABOVE: usize = 32;

/// The number of this process.
pub(crate) fn own() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// The process above another one; 0 where there is none, or the system does not tell.
pub(crate) fn above(number: i32) -> i32 {
    if number == own() {
        return rustix::process::getppid().map_or(0, rustix::process::Pid::as_raw_pid);
    }
    Process::read(number).map_or(0, |process| process.parent)
}

/// `HOME` as each process above one was started with it, the nearest first, as far up as this user may look; `None` where it was not set.
pub(crate) fn homes_above(number: i32) -> Vec<Option<String>> {
    let mut homes = Vec::new();
    let mut next = above(number);
    while next > 0 && homes.len() < MOST_ABOVE {
        let Some(environment) = environment_of(next) else { break };
        homes.push(home_in(&environment));
        next = Process::read(next).map_or(0, |process| process.parent);
    }
    homes
}

/// `HOME` in an environment as the kernel shows it.
fn home_in(environment: &[u8]) -> Option<String> {
    let value = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"HOME="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The environment with which a process was started, each entry with a zero behind it.
#[cfg(not(target_os = "macos"))]
pub(crate) fn environment_of(number: i32) -> Option<Vec<u8>> {
    checkrein_files::read(format!("/proc/{number}/environ"), LONGEST_ENVIRONMENT).ok()
}

#[cfg(target_os = "macos")]
pub(crate) fn environment_of(number: i32) -> Option<Vec<u8>> {
    Some(checkrein_sandbox::process_table::started_with(number)?.environment.join(&0))
}

/// The words with which a process was started, each with a zero behind it; `None` where the system does not tell, or the words are longer.
#[cfg(not(target_os = "macos"))]
pub(crate) fn words_of(number: i32, longest: u64) -> Option<Vec<u8>> {
    checkrein_files::read(format!("/proc/{number}/cmdline"), longest).ok()
}

#[cfg(target_os = "macos")]
pub(crate) fn words_of(number: i32, longest: u64) -> Option<Vec<u8>> {
    let words = checkrein_sandbox::process_table::started_with(number)?.words.join(&0);
    (words.len() as u64 <= longest).then_some(words)
}

/// Code that a process runs besides its program and what root put into the system: a library that somebody had it load, or code that stands
/// in no file. Where the system does not tell, as macOS, there is none.
pub(crate) fn foreign_code(number: i32) -> Option<String> {
    if cfg!(target_os = "macos") {
        return None;
    }
    let Ok(text) = checkrein_files::read(format!("/proc/{number}/maps"), LONGEST_MAPS) else {
        return Some("it cannot be looked at".to_owned());
    };
    let program = std::fs::read_link(format!("/proc/{number}/exe")).ok()?;
    let of_root = |path: &str| {
        std::fs::metadata(path)
            .is_ok_and(|facts| facts.is_file() && facts.uid() == 0 && facts.mode() & 0o022 == 0)
    };
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(executed)
        .find(|place| {
            let is_of_kernel =
                ["[vdso]", "[vsyscall]", "[uprobes]", "[sigpage]", "[vectors]"].contains(place);
            !is_of_kernel && program.to_str() != Some(*place) && !of_root(place)
        })
        .map(|place| if place.is_empty() { "in no file".to_owned() } else { place.to_owned() })
}

/// Where the code of a part of memory comes from, by its line in the table of a process; empty where it comes from no file, `None` where the
/// part holds no code.
fn executed(line: &str) -> Option<&str> {
    let mut rest = line;
    let mut fields = [""; 5];
    for field in &mut fields {
        (*field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = rest.trim_start();
    }
    fields.get(1)?.contains('x').then_some(rest)
}

/// What is known of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// The process above it; 0 for the first.
    pub(crate) parent: i32,
    /// The leader of its session.
    pub(crate) session: i32,
    /// Whether it has a controlling terminal.
    pub(crate) has_terminal: bool,
    /// Its name, at most 15 bytes of it.
    pub(crate) name: String,
    /// Resident memory, in pages.
    pub(crate) resident_pages: u64,
    /// When it was started, as the system counts; 0 where it does not tell.
    pub(crate) started: u64,
}

impl Process {
    /// The process with this number; `None` when there is none, or the system does not tell.
    #[cfg(target_os = "macos")]
    pub(crate) fn read(number: i32) -> Option<Self> {
        let found = checkrein_sandbox::process_table::listed(number)?;
        let session = rustix::process::Pid::from_raw(number)
            .and_then(|number| rustix::process::getsid(Some(number)).ok())
            .map_or(0, rustix::process::Pid::as_raw_pid);
        Some(Self {
            parent: found.parent,
            session,
            has_terminal: found.has_terminal,
            name: found.name,
            resident_pages: 0,
            started: 0,
        })
    }

    /// The process with this number; `None` when there is none, or `/proc` does not tell.
    #[cfg(not(target_os = "macos"))]
    pub(crate) fn read(number: i32) -> Option<Self> {
        let bytes = checkrein_files::read(format!("/proc/{number}/stat"), LONGEST).ok()?;
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// The name stands in parentheses and may hold any letter; behind it stand state, parent, group, session, terminal, and as the
    /// twenty-second the resident pages.
    #[cfg(not(target_os = "macos"))]
    fn parse(stat: &str) -> Option<Self> {
        let (head, rest) = stat.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<i64>().ok();
        Some(Self {
            parent: i32::try_from(number(1)?).ok()?,
            session: i32::try_from(number(3)?).ok()?,
            has_terminal: number(4)? != 0,
            name: name.to_owned(),
            resident_pages: u64::try_from(number(21)?).ok()?,
            started: u64::try_from(number(19)?).ok()?,
        })
    }

    /// The client that started a hook, with its number: the nearest process above that is no shell.
    pub(crate) fn client(hook: i32) -> Option<(i32, Self)> {
        let mut next = above(hook);
        for _ in 0..MOST_ABOVE {
            let process = Self::read(next).filter(|_| next > 1)?;
            if !process.is_shell() {
                return Some((next, process));
            }
            next = process.parent;
        }
        None
    }

    /// Whether it is a shell, through which clients start a hook.
    pub(crate) fn is_shell(&self) -> bool {
        matches!(self.name.as_str(), "sh" | "dash" | "bash" | "zsh")
    }
}

#[cfg(test)]
mod tests {
    use super::{Process, executed, foreign_code, home_in};

    #[test]
    fn a_home_is_found_among_other_variables() {
        assert_eq!(home_in(b"A=1\0HOME=/home/a b\0XHOME=/x\0"), Some("/home/a b".to_owned()));
        assert_eq!(home_in(b"XHOME=/x\0"), None);
        assert_eq!(home_in(b""), None);
    }

    #[test]
    fn where_code_comes_from_is_told() {
        for (line, place) in [
            (
                "55d0-55d1 r-xp 00001000 fe:00 42                 /home/dev/my lib.so",
                Some("/home/dev/my lib.so"),
            ),
            ("55d0-55d1 r--p 00001000 fe:00 42                 /usr/lib/libc.so", None),
            ("55d0-55d1 rwxp 00000000 00:00 0 ", Some("")),
            ("7ffd-7ffe r-xp 00000000 00:00 0                  [vdso]", Some("[vdso]")),
            ("55d0-55d1 r-xp 00000000 00:01 7   /memfd:x (deleted)", Some("/memfd:x (deleted)")),
        ] {
            assert_eq!(executed(line), place, "{line}");
        }
        assert_eq!(foreign_code(i32::try_from(std::process::id()).unwrap()), None);
    }

    #[test]
    fn a_name_may_hold_anything() {
        let rest = "S 7 8 9 34816 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4321 0";
        for name in ["sh", "a) b (c", "tmux: server", ""] {
            let process = Process::parse(&format!("12 ({name}) {rest}")).unwrap();
            assert_eq!(
                (process.parent, process.session, process.has_terminal, process.resident_pages),
                (7, 9, true, 4321),
                "{name}"
            );
            assert_eq!(process.name, name);
        }
        assert_eq!(Process::parse("12 (sh"), None);
    }

    #[test]
    fn this_process_is_told_of() {
        let own = Process::read(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert_eq!(u32::try_from(own.parent).unwrap(), std::os::unix::process::parent_id());
        assert!(own.resident_pages > 0);
    }
}
