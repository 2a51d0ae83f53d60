//! The index of git without what changes when somebody only looks at it.
//!
//! Format: `gitformat-index(5)`, versions 2 to 4. An entry begins with 40 bytes of times, numbers and lengths of the file, of which only
//! the mode counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The lengths of names of objects: SHA-1, SHA-256.
const NAMES: [usize; 2] = [20, 32];

/// The bits of the flags of an entry that are not about how it is written: those that git keeps, and the stage of a merge.
const KEPT_FLAGS: u16 = 0xb000;

/// The entries of an index: mode, object, flags and name of each, in one form whatever the version of the file. `shared` reads the file beside
/// it that holds the rest of a split index, by its name. `None` when it is no index, or one that cannot be read to its end.
pub(crate) fn without_times(index: &[u8], shared: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let entries = entries(index, shared)?;
    Some(entries.into_iter().flat_map(|entry| [entry.facts, entry.name, vec![0]].concat()).collect())
}

/// What an index holds at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InIndex {
    /// One file.
    File,
    /// Several, of which a merge has not come to one.
    Conflict,
    /// Nothing.
    Nothing,
}

/// The paths at which two indexes do not hold the same, with what the second one holds; `None` when one cannot be read.
pub(crate) fn differences(
    then: &[u8],
    now: &[u8],
    shared: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<BTreeMap<Vec<u8>, InIndex>> {
    let by_name = |index: &[u8]| {
        let mut found: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for entry in entries(index, &shared)? {
            found.entry(entry.name).or_default().push(entry.facts);
        }
        Some(found)
    };
    let (then, now) = (by_name(then)?, by_name(now)?);
    let names = then.keys().chain(now.keys()).filter(|name| then.get(*name) != now.get(*name));
    let held = |name: &Vec<u8>| match now.get(name).map(Vec::as_slice) {
        None | Some([]) => InIndex::Nothing,
        Some([one]) if stage(one) == 0 => InIndex::File,
        Some(_) => InIndex::Conflict,
    };
    Some(names.map(|name| (name.clone(), held(name))).collect())
}

/// The entries of an index.
fn entries(index: &[u8], shared: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Vec<Entry>> {
    NAMES.iter().find_map(|name| {
        let read = read(index, *name)?;
        let Some(link) = read.link else { return Some(read.entries) };
        let (base, bitmaps) = link.split_at_checked(*name)?;
        if base.iter().all(|byte| *byte == 0) {
            return Some(read.entries);
        }
        let mut hexadecimal = String::new();
        for byte in base {
            write!(hexadecimal, "{byte:02x}").ok()?;
        }
        let base = shared(&format!("sharedindex.{hexadecimal}"))?;
        joined(self::read(&base, *name)?.entries, read.entries, bitmaps)
    })
}

/// One entry of an index.
#[derive(Debug, Clone)]
struct Entry {
    name: Vec<u8>,
    /// Mode, object and flags.
    facts: Vec<u8>,
}

/// What an index file holds.
struct Read<'a> {
    entries: Vec<Entry>,
    /// What leads to the file with the rest of the entries.
    link: Option<&'a [u8]>,
}

fn read(index: &[u8], name_length: usize) -> Option<Read<'_>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut entries = Vec::new();
    let mut before = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let flags_at = at + 40 + name_length;
        let flags = short(flags_at)?;
        let is_extended = flags & 0x4000 != 0;
        let further = if is_extended { short(flags_at + 2)? } else { 0 };
        let path_at = flags_at + if is_extended { 4 } else { 2 };
        // In version 4 a number says how much of the end of the name before is left out.
        let (cut, length) = if version == 4 { varint(index.get(path_at..)?)? } else { (0, 0) };
        let path_from = path_at + length;
        let end = path_from + index.get(path_from..)?.iter().position(|byte| *byte == 0)?;
        let mut name: Vec<u8> = if version == 4 { std::mem::take(&mut before) } else { Vec::new() };
        name.truncate(name.len().checked_sub(cut)?);
        name.extend_from_slice(index.get(path_from..end)?);
        before.clone_from(&name);
        let mut facts = index.get(at + 24..at + 28)?.to_vec();
        facts.extend_from_slice(index.get(at + 40..flags_at)?);
        facts.extend((flags & KEPT_FLAGS).to_be_bytes());
        facts.extend(further.to_be_bytes());
        entries.push(Entry { name, facts });
        at = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
    }
    // Extensions: four letters, a length, the rest; then the sum.
    let mut link = None;
    while at + name_length < index.len() {
        let length = usize::try_from(number(at + 4)?).ok()?;
        let content = index.get(at + 8..at.checked_add(8)?.checked_add(length)?)?;
        if index.get(at..at + 4)? == b"link" {
            link = Some(content);
        }
        at += 8 + length;
    }
    (at + name_length == index.len()).then_some(Read { entries, link })
}

/// The entries of a split index: those of the shared file without the deleted ones, with the replaced ones as they are now, and what is new.
fn joined(base: Vec<Entry>, own: Vec<Entry>, bitmaps: &[u8]) -> Option<Vec<Entry>> {
    let (deleted, rest) = bits(bitmaps)?;
    let (replaced, _) = bits(rest)?;
    // What replaces another has no name.
    let (replacements, new): (Vec<Entry>, Vec<Entry>) =
        own.into_iter().partition(|entry| entry.name.is_empty());
    let mut replacements = replacements.into_iter();
    let mut all = BTreeMap::new();
    for (place, entry) in base.into_iter().enumerate() {
        let has = |bits: &[bool]| bits.get(place).copied().unwrap_or(false);
        let facts = if has(&replaced) { replacements.next()?.facts } else { entry.facts };
        if !has(&deleted) {
            all.insert((entry.name, stage(&facts)), facts);
        }
    }
    all.extend(new.into_iter().map(|entry| ((entry.name, stage(&entry.facts)), entry.facts)));
    Some(all.into_iter().map(|((name, _), facts)| Entry { name, facts }).collect())
}

/// The stage of a merge, by which entries of one name are sorted.
fn stage(facts: &[u8]) -> u8 {
    facts.len().checked_sub(4).and_then(|at| facts.get(at)).copied().unwrap_or_default() & 0x30
}

/// A compressed bitmap (`gitformat-bitmap(5)`, appendix A), and what stands behind it.
fn bits(bytes: &[u8]) -> Option<(Vec<bool>, &[u8])> {
    const MOST: usize = 1 << 24;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (size, count) = (usize::try_from(number(0)?).ok()?, usize::try_from(number(4)?).ok()?);
    let end = count.checked_mul(8)?.checked_add(8)?;
    let words: Vec<u64> = bytes
        .get(8..end)?
        .chunks_exact(8)
        .filter_map(|word| Some(u64::from_be_bytes(word.try_into().ok()?)))
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        // A run of equal words, and how many stand behind it as they are.
        let run = usize::try_from(word >> 1 & 0xffff_ffff).ok()?;
        let as_they_are = usize::try_from(word >> 33).ok()?;
        if size > MOST || found.len() + run.checked_mul(64)? > size + 64 {
            return None;
        }
        found.resize(found.len() + run * 64, word & 1 == 1);
        for literal in words.get(at + 1..(at + 1).checked_add(as_they_are)?)? {
            found.extend((0..64).map(|bit| literal >> bit & 1 == 1));
        }
        at += 1 + as_they_are;
    }
    found.truncate(size);
    Some((found, bytes.get(end + 4..)?))
}

/// A number of a name in version 4, and how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (place, byte) in bytes.iter().take(8).enumerate() {
        let digits = usize::from(byte & 0x7f);
        value = if place == 0 { digits } else { (value + 1).checked_mul(128)?.checked_add(digits)? };
        if byte & 0x80 == 0 {
            return Some((value, place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=dev", "-c", "user.email=dev@localhost"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_look_changes_no_entries_and_staging_does() {
        for (format, version) in
            [("sha1", "2"), ("sha1", "3"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")]
        {
            let scratch = tempfile::tempdir().unwrap();
            let root = scratch.path();
            git(root, &["init", "-q", &format!("--object-format={format}")]);
            for name in ["a", "directory/longer name", "directory/other", "z"] {
                fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                fs::write(root.join(name), name).unwrap();
            }
            git(root, &["add", "-A"]);
            git(root, &["commit", "-qm", "first"]);
            fs::write(root.join("meant"), "to add").unwrap();
            git(root, &["add", "-N", "meant"]);
            git(root, &["update-index", "--index-version", version]);
            let read = || fs::read(root.join(".git/index")).unwrap();
            let before = read();
            // Another time makes git write the file anew; one that is certainly another.
            let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
            fs::File::options().write(true).open(root.join("a")).unwrap().set_modified(at).unwrap();
            git(root, &["status"]);
            let after = read();
            assert!(before != after, "{format} {version}: written anew");
            let without_times = |bytes: &[u8]| super::without_times(bytes, |_| None);
            let kept = without_times(&before);
            assert!(kept.is_some(), "{format} {version}");
            assert_eq!(kept, without_times(&after), "{format} {version}");
            fs::write(root.join("a"), "staged").unwrap();
            git(root, &["add", "a"]);
            assert_ne!(kept, without_times(&read()), "{format} {version}");
        }
    }

    #[test]
    fn the_same_entries_are_the_same_in_every_form_of_the_file() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        git(root, &["init", "-q"]);
        for number in 0..200 {
            fs::write(root.join(format!("a longer name of a file {number}")), "one").unwrap();
        }
        git(root, &["add", "-A"]);
        let entries = || {
            let index = fs::read(root.join(".git/index")).unwrap();
            let shared = |name: &str| fs::read(root.join(".git").join(name)).ok();
            super::without_times(&index, shared).unwrap()
        };
        let plain = entries();
        for form in ["--index-version=4", "--split-index", "--index-version=2", "--no-split-index"] {
            let form: Vec<&str> = form.split('=').collect();
            git(root, &[&["update-index"], form.as_slice()].concat());
            assert_eq!(entries(), plain, "{form:?}");
        }
        git(root, &["update-index", "--split-index"]);
        fs::write(root.join("a longer name of a file 70"), "two").unwrap();
        fs::write(root.join("new"), "new").unwrap();
        fs::remove_file(root.join("a longer name of a file 9")).unwrap();
        git(root, &["add", "-A"]);
        let split = entries();
        assert_ne!(split, plain);
        git(root, &["update-index", "--no-split-index"]);
        assert_eq!(entries(), split);
    }

    #[test]
    fn what_is_no_index_is_none() {
        for bytes in
            [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x01", b"DIRC\0\0\0\x07\0\0\0\0aaaaaaaaaaaaaaaaaaaa"]
        {
            assert_eq!(without_times(bytes, |_| None), None);
        }
    }
}
