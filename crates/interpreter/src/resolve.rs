//! The names of secrets on the way to a path.

use std::cell::RefCell;

use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, Last, resolve};

/// The name of a secret under which `text` is reached from `start`, where it leads through symbolic links to a place whose own name tells
/// nothing: `.env` that lies in another folder, keys that are kept elsewhere. `None` where the place is known by its own name, or is a sample.
pub fn secret_behind_links(
    entry: &dyn Fn(&AbsolutePath) -> Entry,
    start: &AbsolutePath,
    text: &str,
    home: &AbsolutePath,
) -> Option<AbsolutePath> {
    let links = RefCell::new(Vec::new());
    let noted = |path: &AbsolutePath| {
        let found = entry(path);
        if matches!(found, Entry::Symlink(_)) {
            links.borrow_mut().push(path.clone());
        }
        found
    };
    let real = resolve(&noted, start, text, Last::Follow);
    let links = links.into_inner();
    let tells = |path: &AbsolutePath| places::credential(path, home).is_some();
    if links.is_empty()
        || tells(&real)
        || real.as_str().starts_with("/dev/")
        || real.name().is_some_and(places::is_sample)
    {
        return None;
    }
    let written = resolve(&|_| Entry::Missing, start, text, Last::Follow);
    std::iter::once(written).chain(links).find(tells)
}
