//! What `/proc` tells of a process: who started it, in which session it is, how much memory it takes, which home it was given.

/// The longest `stat` that is read, in bytes; the kernel writes far less.
const LONGEST: u64 = 4096;

/// The longest environment that is read, in bytes: what Linux takes for one start of a program, as it is set everywhere.
const LONGEST_ENVIRONMENT: u64 = 2 * 1024 * 1024;

/// How many processes above this one are looked at (ours).
const MOST_ABOVE: usize = 32;

/// `HOME` as each process above this one was started with it, the nearest first, as far up as this user may look; `None` where it was
/// not set.
pub(crate) fn homes_above() -> Vec<Option<String>> {
    let mut homes = Vec::new();
    let mut next = rustix::process::getppid().map_or(0, rustix::process::Pid::as_raw_pid);
    while next > 0 && homes.len() < MOST_ABOVE {
        let Ok(environment) = checkrein_files::read(format!("/proc/{next}/environ"), LONGEST_ENVIRONMENT)
        else {
            break;
        };
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
}

impl Process {
    /// The process with this number; `None` when there is none, or `/proc` does not tell.
    pub(crate) fn read(number: i32) -> Option<Self> {
        let bytes = checkrein_files::read(format!("/proc/{number}/stat"), LONGEST).ok()?;
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// The name stands in parentheses and may hold any letter; behind it stand state, parent, group, session, terminal, and as the
    /// twenty-second the resident pages.
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
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Process, home_in};

    #[test]
    fn a_home_is_found_among_other_variables() {
        assert_eq!(home_in(b"A=1\0HOME=/home/a b\0XHOME=/x\0"), Some("/home/a b".to_owned()));
        assert_eq!(home_in(b"XHOME=/x\0"), None);
        assert_eq!(home_in(b""), None);
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
