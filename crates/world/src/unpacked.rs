//! All that an archive holds, so that whoever has every part of it elsewhere knows that nothing is lost with it: `tar`, `tar` packed by gzip,
//! `zip`, and single files packed by gzip.

use crate::inflate;
use crate::members::{number, padded, text};

/// The unit in which a tar archive is written.
const BLOCK: usize = 512;

/// How many members are read at most (ours).
const MEMBERS: usize = 5_000;

/// One member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveMember {
    /// The path, as it is written.
    pub name: String,
    /// What it is.
    pub content: MemberContent,
}

/// What a member of an archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberContent {
    /// A regular file with its bytes.
    File(Vec<u8>),
    /// A directory.
    Directory,
    /// A symbolic link with its target.
    Link(String),
    /// Another name of the member with this name.
    SecondName(String),
}

/// What a file holds that `gzip` packed; `None` where something else is in it as well, where it is damaged, or holds more than `limit` bytes.
pub fn gunzipped(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    inflate::gzip_alone(packed, limit)
}

/// The members of an archive; `None` where something else is in it as well, such as a comment, where it is damaged or of another kind, or
/// holds more than `limit` bytes.
pub fn archive_members(bytes: &[u8], limit: usize) -> Option<Vec<ArchiveMember>> {
    match bytes {
        [0x1f, 0x8b, ..] => tar(&gunzipped(bytes, limit)?),
        [b'P', b'K', ..] => zip(bytes, limit),
        _ => tar(bytes),
    }
}

fn tar(bytes: &[u8]) -> Option<Vec<ArchiveMember>> {
    let mut members = Vec::new();
    let (mut told_name, mut told_target) = (None, None);
    let mut at = 0;
    loop {
        let header = bytes.get(at..at + BLOCK)?;
        at += BLOCK;
        if header.iter().all(|byte| *byte == 0) {
            // Nothing but empty blocks ends it.
            let is_end = bytes.get(at..)?.iter().all(|byte| *byte == 0);
            return (is_end && !members.is_empty()).then_some(members);
        }
        let sum = |place: usize, byte: u8| u64::from(if (148..156).contains(&place) { b' ' } else { byte });
        let computed: u64 = header.iter().enumerate().map(|(place, byte)| sum(place, *byte)).sum();
        if number(header.get(148..156)?)? != computed || members.len() >= MEMBERS {
            return None;
        }
        let kind = *header.get(156)?;
        // Links and directories hold nothing, whatever the header says.
        let size = if matches!(kind, b'1'..=b'6') { 0 } else { number(header.get(124..136)?)? };
        let data = bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)?;
        at = at.checked_add(usize::try_from(padded(size)).ok()?)?;
        let own_name = || {
            let name = text(header.get(..100)?)?;
            let is_divided = header.get(257..263)? == b"ustar\0";
            let prefix = if is_divided { text(header.get(345..500)?)? } else { String::new() };
            Some(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
        };
        let target = |told: Option<String>| told.or_else(|| text(header.get(157..257)?));
        let content = match kind {
            b'L' => {
                told_name = Some(text(data)?);
                continue;
            }
            b'K' => {
                told_target = Some(text(data)?);
                continue;
            }
            b'x' => {
                for (key, value) in records(data)? {
                    match key {
                        "path" => told_name = Some(value),
                        "linkpath" => told_target = Some(value),
                        "mtime" | "atime" | "ctime" | "uid" | "gid" | "uname" | "gname" => {}
                        // What else stands there is of no use here, and may be anything.
                        _ => return None,
                    }
                }
                continue;
            }
            b'0' | 0 | b'7' => MemberContent::File(data.to_vec()),
            b'1' => MemberContent::SecondName(target(told_target.take())?),
            b'2' => MemberContent::Link(target(told_target.take())?),
            b'5' => MemberContent::Directory,
            _ => return None,
        };
        let name = told_name.take().or_else(own_name)?;
        members.push(ArchiveMember { name, content });
    }
}

/// The records of a header of its own: `30 path=...`.
fn records(mut rest: &[u8]) -> Option<Vec<(&str, String)>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let size: usize = std::str::from_utf8(rest.get(..space)?).ok()?.parse().ok()?;
        let record = std::str::from_utf8(rest.get(space + 1..size.checked_sub(1)?)?).ok()?;
        let (key, value) = record.split_once('=')?;
        found.push((key, value.to_owned()));
        rest = rest.get(size..)?;
    }
    Some(found)
}

fn short(data: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?])))
}

fn long(data: &[u8], at: usize) -> Option<usize> {
    Some(short(data, at)? | short(data, at + 2)? << 16)
}

/// The length of what ends a zip archive without a comment.
const ZIP_END: usize = 22;

/// The part of the facts of a member in a zip archive that tells what kind of file it is, as Unix has it, and the one for links.
const KIND: usize = 0o170_000;
const LINK: usize = 0o120_000;

fn zip(bytes: &[u8], limit: usize) -> Option<Vec<ArchiveMember>> {
    let end = bytes.len().checked_sub(ZIP_END)?;
    if bytes.get(end..end + 4)? != b"PK\x05\x06" {
        return None;
    }
    let count = short(bytes, end + 10)?;
    let mut at = long(bytes, end + 16)?;
    let mut left = limit;
    let mut members = Vec::new();
    for _ in 0..count {
        let head = bytes.get(at..at + 46)?;
        let (name, extra, comment) = (short(head, 28)?, short(head, 30)?, short(head, 32)?);
        if head.get(..4)? != b"PK\x01\x02" || comment != 0 || members.len() >= MEMBERS {
            return None;
        }
        let (method, packed, length) = (short(head, 10)?, long(head, 20)?, long(head, 24)?);
        let (mode, start) = (short(head, 40)?, long(head, 42)?);
        left = left.checked_sub(length)?;
        let named = String::from_utf8(bytes.get(at + 46..at + 46 + name)?.to_vec()).ok()?;
        at += 46 + name + extra;
        let local = bytes.get(start..start + 30)?;
        let data = start + 30 + short(local, 26)? + short(local, 28)?;
        let data = bytes.get(data..data.checked_add(packed)?)?;
        let data = match method {
            0 => data.to_vec(),
            8 => inflate::packed_alone(data, length)?,
            _ => return None,
        };
        let content = if named.ends_with('/') {
            MemberContent::Directory
        } else if mode & KIND == LINK {
            MemberContent::Link(String::from_utf8(data).ok()?)
        } else {
            MemberContent::File(data)
        };
        members.push(ArchiveMember { name: named, content });
    }
    (!members.is_empty()).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    const LIMIT: usize = 1024 * 1024;

    fn run(directory: &Path, script: &str) {
        let done = Command::new("sh").arg("-c").arg(script).current_dir(directory).status().unwrap();
        assert!(done.success(), "{script}");
    }

    #[test]
    fn archives_are_read_with_all_that_they_hold() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let long = format!("{}/{}", "d".repeat(60), "e".repeat(60));
        run(
            place,
            &format!(
                "mkdir -p t/{long} && echo one > t/one && seq 3000 > t/{long}/many && ln -s one t/link && ln t/one t/second"
            ),
        );
        let many = std::fs::read(place.join(format!("t/{long}/many"))).unwrap();
        for (format, packed) in [("gnu", ""), ("posix", ""), ("ustar", ""), ("gnu", "z"), ("posix", "z")] {
            run(place, &format!("tar --format={format} -c{packed}f a.tar t/one t/second t/link t/{long}"));
            let archive = std::fs::read(place.join("a.tar")).unwrap();
            let members = archive_members(&archive, LIMIT).unwrap();
            let names: Vec<&str> = members.iter().map(|one| one.name.trim_end_matches('/')).collect();
            let (above, below) = (format!("t/{long}"), format!("t/{long}/many"));
            assert_eq!(names, ["t/one", "t/second", "t/link", &above, &below], "{format}{packed}");
            let contents: Vec<&MemberContent> = members.iter().map(|one| &one.content).collect();
            let file = |bytes: &[u8]| MemberContent::File(bytes.to_vec());
            let wanted = [
                &file(b"one\n"),
                &MemberContent::SecondName("t/one".to_owned()),
                &MemberContent::Link("one".to_owned()),
                &MemberContent::Directory,
                &file(&many),
            ];
            assert_eq!(contents, wanted, "{format}{packed}");
            assert_eq!(archive_members(&archive, 100), None.or(packed.is_empty().then_some(members)));
        }
        run(place, &format!("python3 -m zipfile -c a.zip t/one t/{long}"));
        let members = archive_members(&std::fs::read(place.join("a.zip")).unwrap(), LIMIT).unwrap();
        let held =
            |content: &[u8]| members.iter().any(|one| one.content == MemberContent::File(content.to_vec()));
        assert!(held(b"one\n") && held(&many), "{members:?}");
    }

    #[test]
    fn what_holds_more_than_its_members_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        run(
            place,
            "echo one > one && tar -cf a.tar one && gzip -k one && (cat a.tar; echo mine) > more.tar && (cat one.gz; echo mine | gzip) > more.gz && (cat one.gz; echo mine) > behind.gz",
        );
        let read = |name: &str| std::fs::read(place.join(name)).unwrap();
        assert_eq!(gunzipped(&read("one.gz"), LIMIT).as_deref(), Some(&b"one\n"[..]));
        assert_eq!(gunzipped(&read("one.gz"), 3), None);
        assert!(archive_members(&read("a.tar"), LIMIT).is_some());
        for name in ["more.gz", "behind.gz", "one"] {
            assert_eq!(gunzipped(&read(name), LIMIT), None, "{name}");
        }
        for name in ["more.tar", "one", "one.gz"] {
            assert_eq!(archive_members(&read(name), LIMIT), None, "{name}");
        }
        let with_words = b"\x1f\x8b\x08\x10\0\0\0\0\0\xffwords\0".to_vec();
        let packed = read("one.gz");
        let body = packed.get(10..).unwrap().iter().skip_while(|byte| **byte != 0).skip(1).copied();
        assert_eq!(gunzipped(&with_words.into_iter().chain(body).collect::<Vec<_>>(), LIMIT), None);
    }
}
