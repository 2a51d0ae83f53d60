//! A picture of a workspace: the names in its directories, so that what is gone later can be named.

use std::collections::BTreeMap;

use checkrein_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ignore::PathKind;

/// What a stored picture begins with; another layout gets another number.
const MAGIC: &[u8; 8] = b"reinpic1";

/// The greatest length of a stored picture that is read, in bytes (ours): 20,000 names are about 600 KB.
pub const PICTURE_LIMIT: usize = 8 * 1024 * 1024;

/// The names in the directories of a workspace, as far as they were looked at. Names that hold secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Picture {
    /// The root of the workspace.
    pub(crate) root: String,
    /// When it was taken.
    pub(crate) taken: Timestamp,
    /// The directories by their path from the root; the root itself is empty.
    pub(crate) folders: BTreeMap<String, Folder>,
}

/// One directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Folder {
    /// When names in it last came or went: seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
    /// Whether the names stand as they are and nothing can have changed since without changing `modified`.
    pub(crate) trusted: bool,
    /// The names of its directories, each followed by a slash.
    pub(crate) directories: String,
    /// All other names, each followed by a slash.
    pub(crate) files: String,
}

impl Picture {
    /// Reads a stored picture; `None` when it is damaged, of another version, or too large. A cache: none is as good as a bad one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (sum, payload) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        if bytes.len() > PICTURE_LIMIT || u64::from_le_bytes(*sum) != checksum(payload) {
            return None;
        }
        postcard::from_bytes(payload).ok()
    }

    /// The picture as it is stored; `None` when it would be too large to be read again.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let payload = postcard::to_stdvec(self).ok()?;
        let mut bytes = Vec::with_capacity(MAGIC.len() + 8 + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&checksum(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        (bytes.len() <= PICTURE_LIMIT).then_some(bytes)
    }

    /// How many directories it shows.
    pub fn directories(&self) -> usize {
        self.folders.len()
    }
}

impl Folder {
    /// Whether its names can be taken in place of reading the directory. No name in a directory is empty or leads elsewhere.
    pub(crate) fn is_usable(&self) -> bool {
        self.trusted && self.names().all(|(name, _)| !matches!(name, "" | "." | ".."))
    }

    /// All names in it.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, PathKind)> {
        let directories = self.directories.split_terminator('/').map(|name| (name, PathKind::Directory));
        directories.chain(self.files.split_terminator('/').map(|name| (name, PathKind::File)))
    }
}

/// FNV-1a over whole words: tells a torn file from a whole one; against accidents, not against people.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x0000_0100_0000_01b3;
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0_u8; 8];
        for (place, byte) in word.iter_mut().zip(chunk) {
            *place = *byte;
        }
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR).rotate_left(23);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let folder = Folder {
            modified: (7, 9),
            trusted: true,
            directories: "src/".to_owned(),
            files: "a.txt/b c.txt/".to_owned(),
        };
        let folders = BTreeMap::from([(String::new(), folder), ("src".to_owned(), Folder::default())]);
        Picture { root: "/p".to_owned(), taken: Timestamp(5), folders }
    }

    #[test]
    fn a_stored_picture_comes_back() {
        let picture = picture();
        let bytes = picture.to_bytes().unwrap();
        assert_eq!(Picture::from_bytes(&bytes), Some(picture.clone()));
        let root = picture.folders.get("").unwrap();
        let names = [("src", PathKind::Directory), ("a.txt", PathKind::File), ("b c.txt", PathKind::File)];
        assert_eq!(root.names().collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_picture_never_leads_out_of_its_directory() {
        let usable = |directories: &str| {
            Folder { directories: directories.to_owned(), trusted: true, ..Folder::default() }.is_usable()
        };
        assert!(usable("") && usable("src/..src/"));
        assert!(!usable("src/../") && !usable("./") && !usable("src//"));
    }

    #[test]
    fn a_damaged_picture_is_none() {
        let whole = picture().to_bytes().unwrap();
        for position in 0..whole.len() {
            let mut edited = whole.clone();
            edited[position] ^= 0x21;
            assert_eq!(Picture::from_bytes(&edited), None, "byte {position}");
            assert_eq!(Picture::from_bytes(&whole[..position]), None, "cut at {position}");
        }
    }

    /// Bytes with a sum that fits.
    fn forged(payload: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&checksum(payload).to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn a_sum_that_fits_does_not_make_a_picture() {
        // Lengths that the bytes do not hold take no memory.
        assert_eq!(Picture::from_bytes(&forged(&[0xff; 64])), None);
        let whole = picture().to_bytes().unwrap();
        let payload = &whole[MAGIC.len() + 8..];
        for position in 0..payload.len() {
            for bit in 0..8 {
                let mut edited = payload.to_vec();
                edited[position] ^= 1 << bit;
                // What can be read can be stored and read again; the rest is none.
                if let Some(read) = Picture::from_bytes(&forged(&edited)) {
                    assert_eq!(Picture::from_bytes(&read.to_bytes().unwrap()), Some(read));
                }
            }
        }
    }
}
