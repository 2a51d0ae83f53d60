//! From text to the path that the kernel would reach.

use std::collections::VecDeque;

use crate::Entry;
use checkrein_protocol::AbsolutePath;

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
