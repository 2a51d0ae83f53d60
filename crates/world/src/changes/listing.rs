//! The names in one directory, as they are and as a picture shows them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::picture::Folder;

/// The names in a directory.
pub(super) struct Listing {
    pub(super) directories: Vec<OsString>,
    pub(super) files: Vec<OsString>,
}

impl Listing {
    /// What a picture shows.
    pub(super) fn of(folder: &Folder) -> Self {
        let split = |names: &str| names.split_terminator('/').map(OsString::from).collect();
        Self { directories: split(&folder.directories), files: split(&folder.files) }
    }

    /// Reads a directory; `None` when it cannot be read or holds more names than `most`.
    pub(super) fn read(path: &Path, most: usize) -> Option<Self> {
        let mut listing = Self { directories: Vec::new(), files: Vec::new() };
        for entry in fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let names = if is_directory { &mut listing.directories } else { &mut listing.files };
            names.push(entry.file_name());
            if listing.directories.len() + listing.files.len() > most {
                return None;
            }
        }
        listing.directories.sort();
        listing.files.sort();
        Some(listing)
    }
}

/// The names in a directory as a picture shows them.
pub(super) struct Shown {
    pub(super) directories: String,
    pub(super) files: String,
    /// Whether they are the names themselves.
    pub(super) is_plain: bool,
}

impl Shown {
    pub(super) fn of(listing: &Listing, mask: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut is_plain = true;
        let mut join = |names: &[OsString]| {
            let mut joined = String::new();
            for name in names {
                let (text, plain) = Self::name(name.as_bytes(), mask);
                is_plain &= plain;
                joined.push_str(&text);
                joined.push('/');
            }
            joined
        };
        let (directories, files) = (join(&listing.directories), join(&listing.files));
        Self { directories, files, is_plain }
    }

    /// What a picture showed that can be used as it is.
    pub(super) fn again(folder: &Folder) -> Self {
        Self { directories: folder.directories.clone(), files: folder.files.clone(), is_plain: true }
    }

    /// A name as it is shown, and whether that is the name itself.
    pub(super) fn name(name: &[u8], mask: &dyn Fn(&str) -> Option<String>) -> (String, bool) {
        let text = String::from_utf8_lossy(name);
        if let Some(masked) = mask(&text) {
            return (masked.replace('/', "_"), false);
        }
        let is_plain = matches!(text, std::borrow::Cow::Borrowed(_));
        (text.into_owned(), is_plain)
    }
}
