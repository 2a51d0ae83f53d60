//! What stands below some places, to compare before and after.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Mode and content or target, by path.
pub type Picture = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// All that stands at these places and below, without the objects and the index of git, whose bytes say less than their entries. What is closed
/// to the user has no content here.
pub fn picture(places: Vec<PathBuf>) -> Picture {
    let mut found = Picture::new();
    let mut waiting = places;
    while let Some(path) = waiting.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let content = if facts.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            waiting.extend(entries.filter(|path| !path.ends_with("objects") && !path.ends_with("index")));
            Vec::new()
        } else if facts.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_vec()
        } else {
            fs::read(&path).unwrap_or_default()
        };
        found.insert(path, (facts.mode(), content));
    }
    found
}
