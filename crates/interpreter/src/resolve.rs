//! From text to the path that the kernel would reach.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::path::AbsolutePath;
use crate::places;
use crate::world::Entry;

/// The greatest number of symbolic links that are followed for one path (as Linux does).
const LINKS: usize = 40;

/// What is done when the last part of a path is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It is meant itself.
    Keep,
    /// What it points to is meant.
    Follow,
}

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

/// The path that `text` reaches from `start`, through the symbolic links that `entry` knows of. What does not exist is
/// taken as written.
pub fn resolve(
    entry: &dyn Fn(&AbsolutePath) -> Entry,
    start: &AbsolutePath,
    text: &str,
    last: Last,
) -> AbsolutePath {
    let mut here = if text.starts_with('/') { AbsolutePath::root() } else { start.clone() };
    let mut rest: VecDeque<String> =
        text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let mut links = 0;
    let follow_last = last == Last::Follow || text.ends_with('/');
    while let Some(part) = rest.pop_front() {
        match part.as_str() {
            "." => {}
            ".." => here = here.parent().unwrap_or(here),
            name => {
                let next = here.join(name);
                if rest.is_empty() && !follow_last {
                    return next;
                }
                match entry(&next) {
                    Entry::Symlink(target) if links < LINKS => {
                        links += 1;
                        if target.starts_with('/') {
                            here = AbsolutePath::root();
                        }
                        for piece in target.rsplit('/').filter(|piece| !piece.is_empty()) {
                            rest.push_front(piece.to_owned());
                        }
                    }
                    Entry::Symlink(_)
                    | Entry::Missing
                    | Entry::File(_)
                    | Entry::Directory
                    | Entry::Special
                    | Entry::Unknown => here = next,
                }
            }
        }
    }
    here
}
