//! The index of git without what changes when somebody only looks at it.
//!
//! Format: `gitformat-index(5)`, versions 2 to 4. An entry begins with 40 bytes of times, numbers and lengths of the file, of which only
//! the mode counts.

/// The lengths of names of objects: SHA-1, SHA-256.
const NAMES: [usize; 2] = [20, 32];

/// The entries of an index: mode, object, flags and name of each. `None` when it is none, or one whose entries are elsewhere.
pub(crate) fn without_times(index: &[u8]) -> Option<Vec<u8>> {
    NAMES.iter().find_map(|name| entries(index, *name))
}

fn entries(index: &[u8], name_length: usize) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut kept = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        kept.extend_from_slice(index.get(at + 24..at + 28)?);
        let flags_at = at + 40 + name_length;
        let flags = u16::from_be_bytes(index.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = flags & 0x4000 != 0;
        let path_at = flags_at + if is_extended { 4 } else { 2 };
        // In version 4 a number stands before the path, which never holds a zero but as its only byte.
        let path_from = if version == 4 { path_at + varint_length(index.get(path_at..)?)? } else { path_at };
        let length = index.get(path_from..)?.iter().position(|byte| *byte == 0)?;
        let end = path_from + length;
        kept.extend_from_slice(index.get(at + 40..end + 1)?);
        at = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
    }
    // Extensions: four letters, a length, the rest; then the sum.
    while at + name_length < index.len() {
        if index.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    (at + name_length == index.len()).then_some(kept)
}

fn varint_length(bytes: &[u8]) -> Option<usize> {
    Some(bytes.iter().position(|byte| byte & 0x80 == 0)? + 1)
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
            let kept = without_times(&before);
            assert!(kept.is_some(), "{format} {version}");
            assert_eq!(kept, without_times(&after), "{format} {version}");
            fs::write(root.join("a"), "staged").unwrap();
            git(root, &["add", "a"]);
            assert_ne!(kept, without_times(&read()), "{format} {version}");
        }
    }

    #[test]
    fn what_is_no_index_is_none() {
        for bytes in
            [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x01", b"DIRC\0\0\0\x07\0\0\0\0aaaaaaaaaaaaaaaaaaaa"]
        {
            assert_eq!(without_times(bytes), None);
        }
    }
}
