//! The names of what an archive holds: `tar`, `tar` packed by gzip, and `zip`.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use checkrein_facts::Listing;
use checkrein_protocol::AbsolutePath;

use crate::budget::Budget;
use crate::inflate::{self, Sink, Wanted};

/// The greatest length of a packed archive that is read, in bytes (ours).
const PACKED: u64 = 12 * 1024 * 1024;
/// The greatest length of the list of a zip archive, in bytes (ours).
const DIRECTORY: u64 = 1024 * 1024;
/// The unit in which a tar archive is written.
const BLOCK: usize = 512;
/// The greatest length of a name that stands in a header of its own, in bytes (ours).
const LONG_NAME: u64 = 64 * 1024;

/// The names in an archive, as they are written, directories with a slash behind; unknown when it is of another kind or too long.
pub(crate) fn members(archive: &AbsolutePath, budget: &Budget) -> Listing {
    find(archive, budget).map_or(Listing::Unknown, Listing::Names)
}

fn find(archive: &AbsolutePath, budget: &Budget) -> Option<Vec<String>> {
    budget.question().ok()?;
    let path = Path::new(archive.as_str());
    // Neither a pipe nor a device is opened: they may never answer.
    let facts = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let mut start = [0_u8; 4];
    let read = file.read_at(&mut start, 0).ok()?;
    match start.get(..read)? {
        [0x1f, 0x8b, ..] => {
            budget.bytes(facts.len().min(PACKED)).ok()?;
            let mut packed = Vec::new();
            file.take(PACKED + 1).read_to_end(&mut packed).ok()?;
            if u64::try_from(packed.len()).ok()? > PACKED {
                return None;
            }
            let mut list = TarList::default();
            inflate::gzip(&packed, &mut list)?;
            // What follows is packed by itself, or missing.
            if list.state == State::Over { list.finish() } else { None }
        }
        [b'P', b'K', ..] => zip(&file, facts.len(), budget),
        [] => None,
        _ => tar(&file, facts.len(), budget),
    }
}

/// Reads the headers of a tar archive and passes over what is between.
fn tar(file: &File, length: u64, budget: &Budget) -> Option<Vec<String>> {
    let mut list = TarList::default();
    let mut at = 0;
    while at < length && list.state != State::Over {
        if list.skipped > 0 && list.held.is_empty() {
            at = at.checked_add(list.skipped)?;
            list.skipped = 0;
            continue;
        }
        budget.question().ok()?;
        let mut block = [0_u8; BLOCK];
        let read = file.read_at(&mut block, at).ok()?;
        if read == 0 {
            break;
        }
        at += u64::try_from(read).ok()?;
        if list.take(block.get(..read)?) == Wanted::Enough {
            break;
        }
    }
    list.finish()
}

/// What the next block of a tar archive is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum State {
    /// A header.
    #[default]
    Header,
    /// A header, or the second of the empty blocks that end the archive.
    Empty,
    /// The name of the next member, or what says it, so many bytes long.
    Name(Naming, u64),
    /// The end was reached.
    Over,
    /// It is no archive, or holds too much.
    Failed,
}

/// How a name is written that stands in a member of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// As it is.
    Plain,
    /// Among other records: `30 path=...`.
    Records,
}

/// The names of a tar archive, from its bytes in order.
#[derive(Debug, Default)]
struct TarList {
    names: Vec<String>,
    state: State,
    /// The name that a member before the next one has told.
    told: Option<String>,
    /// Bytes of the present block that have come.
    held: Vec<u8>,
    /// How many bytes are passed over first.
    skipped: u64,
    /// Whether a header was seen.
    seen: bool,
}

impl Sink for TarList {
    fn take(&mut self, piece: &[u8]) -> Wanted {
        let mut rest = piece;
        while !rest.is_empty() {
            if matches!(self.state, State::Over | State::Failed) {
                return Wanted::Enough;
            }
            if self.skipped > 0 {
                let length = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(rest.len());
                self.skipped -= u64::try_from(length).unwrap_or(0);
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            let wanted = match &self.state {
                State::Name(_, length) => padded(*length),
                State::Header | State::Empty | State::Over | State::Failed => {
                    u64::try_from(BLOCK).unwrap_or(0)
                }
            };
            let missing = usize::try_from(wanted).unwrap_or(0).saturating_sub(self.held.len());
            let length = missing.min(rest.len());
            self.held.extend_from_slice(rest.get(..length).unwrap_or_default());
            rest = rest.get(length..).unwrap_or_default();
            if length == missing {
                let block = std::mem::take(&mut self.held);
                let next = match self.state.clone() {
                    State::Name(naming, length) => self.name(&block, naming, length),
                    State::Header | State::Empty | State::Over | State::Failed => self.header(&block),
                };
                self.state = next.unwrap_or(State::Failed);
            }
        }
        if matches!(self.state, State::Over | State::Failed) { Wanted::Enough } else { Wanted::More }
    }
}

impl TarList {
    fn header(&mut self, block: &[u8]) -> Option<State> {
        if block.iter().all(|byte| *byte == 0) {
            return Some(if self.state == State::Empty { State::Over } else { State::Empty });
        }
        if self.state == State::Empty {
            // Whether what follows a lone empty block counts is not the same for all programs.
            return None;
        }
        let sum = |place: usize, byte: u8| u64::from(if (148..156).contains(&place) { b' ' } else { byte });
        let computed: u64 = block.iter().enumerate().map(|(place, byte)| sum(place, *byte)).sum();
        if number(block.get(148..156)?)? != computed {
            return None;
        }
        self.seen = true;
        let size = number(block.get(124..136)?)?;
        let kind = *block.get(156)?;
        match kind {
            b'L' => return (size <= LONG_NAME).then_some(State::Name(Naming::Plain, size)),
            b'x' => return (size <= LONG_NAME).then_some(State::Name(Naming::Records, size)),
            b'K' | b'g' => {
                self.skipped = padded(size);
                return Some(State::Header);
            }
            _ => {}
        }
        let mut name = if let Some(told) = self.told.take() {
            told
        } else {
            let name = text(block.get(..100)?)?;
            let is_divided = block.get(257..263)? == b"ustar\0";
            let prefix = if is_divided { text(block.get(345..500)?)? } else { String::new() };
            if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
        };
        if kind == b'5' && !name.ends_with('/') {
            name.push('/');
        }
        if self.names.len() >= Listing::LIMIT {
            return None;
        }
        self.names.push(name);
        // Links and directories hold nothing, whatever the header says.
        self.skipped = if matches!(kind, b'1'..=b'6') { 0 } else { padded(size) };
        Some(State::Header)
    }

    fn name(&mut self, block: &[u8], naming: Naming, length: u64) -> Option<State> {
        let held = block.get(..usize::try_from(length).ok()?)?;
        match naming {
            Naming::Plain => self.told = Some(text(held)?),
            Naming::Records => {
                let mut rest = held;
                while !rest.is_empty() {
                    let space = rest.iter().position(|byte| *byte == b' ')?;
                    let size: usize = std::str::from_utf8(rest.get(..space)?).ok()?.parse().ok()?;
                    let record = rest.get(space + 1..size.checked_sub(1)?)?;
                    if let Some(path) = record.strip_prefix(b"path=") {
                        self.told = Some(text(path)?);
                    }
                    rest = rest.get(size..)?;
                }
            }
        }
        Some(State::Header)
    }

    /// The names, when the archive was one and was read to its end.
    fn finish(mut self) -> Option<Vec<String>> {
        let whole = self.seen && self.held.is_empty() && self.state != State::Failed;
        self.names.sort();
        self.names.dedup();
        whole.then_some(self.names)
    }
}

pub(crate) fn padded(length: u64) -> u64 {
    length.div_ceil(512).saturating_mul(512)
}

/// A number as tar writes it: in octal digits, or in bytes when the first bit is set.
pub(crate) fn number(field: &[u8]) -> Option<u64> {
    if let Some((first, rest)) = field.split_first()
        && first & 0x80 != 0
    {
        let start = u64::from(first & 0x7f);
        return rest.iter().try_fold(start, |sum, byte| sum.checked_mul(256)?.checked_add(u64::from(*byte)));
    }
    let digits: &[u8] = field.split(|byte| *byte == 0).next()?;
    let digits = std::str::from_utf8(digits).ok()?.trim();
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

pub(crate) fn text(field: &[u8]) -> Option<String> {
    let bytes = field.split(|byte| *byte == 0).next()?;
    String::from_utf8(bytes.to_vec()).ok()
}

/// The list at the end of a zip archive.
fn zip(file: &File, length: u64, budget: &Budget) -> Option<Vec<String>> {
    let tail = length.min(22 + 65_535);
    budget.bytes(tail).ok()?;
    let mut end = vec![0; usize::try_from(tail).ok()?];
    file.read_exact_at(&mut end, length - tail).ok()?;
    let at = end.windows(4).rposition(|window| window == b"PK\x05\x06")?;
    let short = |data: &[u8], at: usize| Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]));
    let long =
        |data: &[u8], at: usize| Some(u64::from(short(data, at)?) | u64::from(short(data, at + 2)?) << 16);
    let count = short(&end, at + 10)?;
    let (size, start) = (long(&end, at + 12)?, long(&end, at + 16)?);
    if usize::from(count) > Listing::LIMIT || size > DIRECTORY || start >= u64::from(u32::MAX) {
        return None;
    }
    budget.bytes(size).ok()?;
    let mut list = vec![0; usize::try_from(size).ok()?];
    file.read_exact_at(&mut list, start).ok()?;
    let mut names = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        if list.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| short(&list, at + field));
        let (name, extra, comment) = (usize::from(name?), usize::from(extra?), usize::from(comment?));
        names.push(String::from_utf8(list.get(at + 46..at + 46 + name)?.to_vec()).ok()?);
        at += 46 + name + extra + comment;
    }
    names.sort();
    names.dedup();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn run(directory: &Path, script: &str) {
        let done = Command::new("sh").arg("-c").arg(script).current_dir(directory).status().unwrap();
        assert!(done.success(), "{script}");
    }

    fn names(directory: &Path, archive: &str) -> Option<Vec<String>> {
        let path = AbsolutePath::new(directory.join(archive).to_str().unwrap()).unwrap();
        match members(&path, &Budget::new()) {
            Listing::Names(names) => Some(names),
            Listing::Unknown => None,
        }
    }

    #[test]
    fn archives_are_read_as_the_programs_write_them() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let long = format!("deep/{}/{}", "a".repeat(70), "b".repeat(80));
        run(
            place,
            &format!(
                "mkdir -p t/.claude t/deep && echo x > t/.claude/s.json && ln -s s t/link && mkdir -p t/{long} && head -c 70000 /dev/urandom > t/deep/big && ln t/deep/big t/second"
            ),
        );
        let mut wanted: Vec<String> =
            ["./", "./.claude/", "./.claude/s.json", "./deep/", "./deep/big", "./link", "./second"]
                .map(str::to_owned)
                .to_vec();
        let mut above = String::from("./deep/");
        for part in [&"a".repeat(70), &"b".repeat(80)] {
            above = format!("{above}{part}/");
            wanted.push(above.clone());
        }
        wanted.sort();
        for (format, packed) in [("gnu", ""), ("posix", ""), ("ustar", ""), ("gnu", "z"), ("posix", "z")] {
            let archive = format!("{format}{packed}.tar");
            run(place, &format!("tar -C t --format={format} -c{packed}f {archive} ."));
            assert_eq!(names(place, &archive).as_ref(), Some(&wanted), "{archive}");
        }
        run(place, "python3 -m zipfile -c a.zip t/.claude t/deep/big");
        let zipped = names(place, "a.zip").unwrap();
        assert!(
            zipped.contains(&".claude/s.json".to_owned()) && zipped.contains(&"big".to_owned()),
            "{zipped:?}"
        );
    }

    #[test]
    fn what_is_no_archive_or_is_cut_short_is_not_known() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        run(
            place,
            "echo text > t && head -c 5000 /dev/zero > zeros && tar -cf a.tar t && gzip -k a.tar && head -c 60 a.tar.gz > cut.gz && xz -k a.tar 2>/dev/null || cp t a.tar.xz; mkfifo pipe",
        );
        for archive in ["t", "cut.gz", "pipe", "gone", "a.tar.xz"] {
            assert_eq!(names(place, archive), None, "{archive}");
        }
        assert_eq!(names(place, "a.tar.gz"), Some(vec!["t".to_owned()]));
    }
}
