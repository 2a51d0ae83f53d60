//! What files held when they were last read, so that one which did not change since is not read again.
//!
//! Nothing of git's own is believed for it: an agent can write an index. What is remembered is what git calls the plain bytes of a file, which
//! no attribute and no setting changes. It counts as long as device, inode, length and both times are the same; a program can set the time of
//! modification, and not that of the change of status.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many seconds a file must have been at rest when it was read (ours). File systems tell times coarsely, and bytes that were written
/// through a mapping can change for half a minute under one time.
const AT_REST: i64 = 60;

/// The first line of the list.
const VERSION: &[u8] = b"checkrein contents 1";

/// What tells whether a file is the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn of(facts: &Metadata) -> Self {
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            length: facts.len(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }

    /// Whether the file was left alone for a while before a time, in seconds since 1970.
    fn is_at_rest(&self, now: i64) -> bool {
        self.changed.0 <= now.saturating_sub(AT_REST) && self.modified.0 <= now.saturating_sub(AT_REST)
    }
}

/// What the files of one work tree held when they were last read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RememberedContents {
    files: BTreeMap<OsString, (FileStamp, String)>,
    learned: usize,
}

impl RememberedContents {
    /// Returns the identity of what a file holds, where it is the one that was read.
    pub(crate) fn of(&self, name: &OsStr, facts: &Metadata) -> Option<&str> {
        let (stamp, id) = self.files.get(name)?;
        (*stamp == FileStamp::of(facts)).then_some(id.as_str())
    }

    /// Remembers what a file held that was read after these facts were taken. One that was changed a moment ago is forgotten: it may have
    /// been written to since under the same time.
    pub(crate) fn learn(&mut self, name: &OsStr, facts: &Metadata, id: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let stamp = FileStamp::of(facts);
        if stamp.is_at_rest(i64::try_from(now).unwrap_or_default()) {
            self.files.insert(name.to_owned(), (stamp, id.to_owned()));
            self.learned += 1;
        } else {
            self.files.remove(name);
        }
    }

    /// Returns how many files were read that it did not know.
    pub fn learned(&self) -> usize {
        self.learned
    }

    /// Returns it as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for (name, (stamp, id)) in &self.files {
            let FileStamp { device, inode, length, modified, changed } = stamp;
            let facts = format!(
                "\0{id} {device} {inode} {length} {} {} {} {} ",
                modified.0, modified.1, changed.0, changed.1
            );
            bytes.extend_from_slice(facts.as_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes
    }

    /// Reads what [`RememberedContents::to_bytes`] wrote; `None` where it is anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut entries = bytes.split(|byte| *byte == 0);
        if entries.next() != Some(VERSION) {
            return None;
        }
        let files = entries.map(|entry| {
            let mut fields = entry.splitn(9, |byte| *byte == b' ');
            let mut text = || std::str::from_utf8(fields.next()?).ok();
            let id = text()?.to_owned();
            let (device, inode, length) =
                (text()?.parse().ok()?, text()?.parse().ok()?, text()?.parse().ok()?);
            let modified = (text()?.parse().ok()?, text()?.parse().ok()?);
            let changed = (text()?.parse().ok()?, text()?.parse().ok()?);
            let name = OsStr::from_bytes(fields.next()?).to_owned();
            Some((name, (FileStamp { device, inode, length, modified, changed }, id)))
        });
        Some(Self { files: files.collect::<Option<_>>()?, learned: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, metadata, write};
    use std::time::Duration;

    #[test]
    fn a_file_that_was_at_rest_is_known_until_anything_of_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.py");
        write(&path, "x = 1\n").unwrap();
        let name = OsStr::new("a b.py");
        let mut contents = RememberedContents::default();
        contents.learn(name, &metadata(&path).unwrap(), "abc");
        assert_eq!(contents.of(name, &metadata(&path).unwrap()), None, "it was written a moment ago");

        // Nothing sets the time of a change of status: it is put into what is remembered.
        let facts = metadata(&path).unwrap();
        let stamp = FileStamp::of(&facts);
        assert!(
            stamp.is_at_rest(stamp.changed.0 + AT_REST) && !stamp.is_at_rest(stamp.changed.0 + AT_REST - 1)
        );
        contents.files.insert(name.to_owned(), (stamp, "abc".to_owned()));
        let read = RememberedContents::from_bytes(&contents.to_bytes()).unwrap();
        assert_eq!(read.of(name, &metadata(&path).unwrap()), Some("abc"));

        // Other bytes of the same length, with the time of modification put back.
        let modified = facts.modified().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        write(&path, "x = 2\n").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(metadata(&path).unwrap().modified().unwrap(), modified);
        assert_eq!(read.of(name, &metadata(&path).unwrap()), None);
    }

    #[test]
    fn what_is_cut_off_or_of_another_form_is_nothing() {
        let mut contents = RememberedContents::default();
        let folder = tempfile::tempdir().unwrap();
        let stamp = FileStamp::of(&metadata(folder.path()).unwrap());
        contents.files.insert("a".into(), (stamp, "abc".to_owned()));
        let bytes = contents.to_bytes();
        assert_eq!(RememberedContents::from_bytes(&bytes), Some(contents));
        assert_eq!(RememberedContents::from_bytes(&bytes[..bytes.len() - 6]), None);
        assert_eq!(RememberedContents::from_bytes(b"checkrein contents 2"), None);
        assert_eq!(RememberedContents::from_bytes(b""), None);
    }
}
