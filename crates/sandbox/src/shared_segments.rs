//! Shared memory of System V that processes below this one made. A segment outlives its maker and belongs to no process once all have
//! let go of it, so counting what is resident of processes misses it, and ending them leaves it.

use std::collections::BTreeSet;
use std::fs;

use crate::mediation::SharedKind;

/// The segments of the machine, as the kernel lists them.
const LIST: &str = "/proc/sysvipc/shm";

/// How far up the processes above a maker are looked at (ours).
const ABOVE: usize = 256;

/// Those that processes below this one made since a moment, as far as the maker was still there when it was looked.
#[derive(Debug)]
pub struct SharedSegments {
    /// Of others, or of nobody that can be told.
    others: BTreeSet<i64>,
    own: BTreeSet<i64>,
}

/// A line of the list.
struct Segment {
    number: i64,
    size: u64,
    resident: Option<u64>,
    maker: i32,
    attached: u64,
}

impl SharedSegments {
    /// What is there now belongs to others.
    pub fn of_now() -> Self {
        Self { others: listed().map(|segment| segment.number).collect(), own: BTreeSet::new() }
    }

    /// Takes up what was made since the last look. Whose maker has ended meanwhile is left alone: another program of the user may have made it.
    pub fn look(&mut self) {
        let mut there = BTreeSet::new();
        for segment in listed() {
            there.insert(segment.number);
            if self.others.contains(&segment.number) || self.own.contains(&segment.number) {
                continue;
            }
            let side = if is_below(segment.maker) { &mut self.own } else { &mut self.others };
            side.insert(segment.number);
        }
        // A number that is free again may be given to somebody else.
        self.own.retain(|number| there.contains(number));
        self.others.retain(|number| there.contains(number));
    }

    /// The bytes of those that no process has in its memory.
    pub fn detached(&self) -> u64 {
        let own = listed().filter(|segment| segment.attached == 0 && self.own.contains(&segment.number));
        own.map(|segment| segment.resident.unwrap_or(segment.size)).sum()
    }

    /// Removes them all, once nothing below is left that could use them.
    pub fn remove(&mut self) {
        self.look();
        for number in std::mem::take(&mut self.own) {
            remove(SharedKind::Memory, number);
        }
    }
}

fn listed() -> impl Iterator<Item = Segment> {
    let text = fs::read_to_string(LIST).unwrap_or_default();
    let lines: Vec<Segment> = text.lines().skip(1).filter_map(segment).collect();
    lines.into_iter()
}

fn segment(line: &str) -> Option<Segment> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    Some(Segment {
        number: columns.get(1)?.parse().ok()?,
        size: columns.get(3)?.parse().ok()?,
        maker: columns.get(4)?.parse().ok()?,
        attached: columns.get(6)?.parse().ok()?,
        // Older kernels do not tell.
        resident: columns.get(14).and_then(|bytes| bytes.parse().ok()),
    })
}

/// Whether a process is this one or below it.
fn is_below(process: i32) -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let above = |number: &i32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name may hold blanks and brackets.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    std::iter::successors(Some(process), above).take(ABOVE).any(|number| number == own)
}

/// Removes what System V has processes share. Who may not does not.
#[expect(unsafe_code, reason = "no safe crate shares by System V")]
pub(crate) fn remove(kind: SharedKind, number: i64) {
    let Ok(number) = libc::c_int::try_from(number) else { return };
    // SAFETY: the arguments are numbers, and this command reads no memory of ours.
    let _ = unsafe {
        match kind {
            SharedKind::Memory => libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()),
            SharedKind::Messages => libc::msgctl(number, libc::IPC_RMID, std::ptr::null_mut()),
            SharedKind::Semaphores => libc::semctl(number, 0, libc::IPC_RMID),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_read() {
        let line = "         0     131074   600                104857600  4711  4712      0  1000  1000  1000  1000 1763829127          0 1763829127             52428800                     0";
        let segment = segment(line).unwrap();
        assert_eq!((segment.number, segment.size, segment.maker), (131_074, 104_857_600, 4711));
        assert_eq!((segment.attached, segment.resident), (0, Some(52_428_800)));
        assert!(is_below(i32::try_from(std::process::id()).unwrap()) && !is_below(1));
    }
}
