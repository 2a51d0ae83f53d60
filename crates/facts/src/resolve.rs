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

/// What the kernel shows a process of itself below `/proc` that works in `cwd`: its directory, its root, and where these stand (proc(5)); `None`
/// at any other path. It is the process that is reviewed which looks there, and never the one that reviews.
pub fn entry_of_process_itself(path: &AbsolutePath, cwd: &AbsolutePath) -> Option<Entry> {
    let parts: Vec<&str> = path.parts().collect();
    let (["proc", "self" | "thread-self", "task", _, rest @ ..]
    | ["proc", "self" | "thread-self", rest @ ..]) = parts.as_slice()
    else {
        return None;
    };
    match rest {
        [] | ["task"] => Some(Entry::Directory),
        ["cwd"] => Some(Entry::Symlink(cwd.as_str().to_owned())),
        ["root"] => Some(Entry::Symlink("/".to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> String {
        let cwd = AbsolutePath::new("/home/dev/proj").unwrap();
        let on_disk = |path: &AbsolutePath| match path.as_str() {
            "/proc/self" => Entry::Symlink("4711".to_owned()),
            "/proc/4711/cwd" | "/proc/4711/root" => Entry::Symlink("/somewhere/else".to_owned()),
            "/home/dev/proj/q" => Entry::Symlink("/proc/self/cwd".to_owned()),
            _ => Entry::Missing,
        };
        let entry =
            |path: &AbsolutePath| entry_of_process_itself(path, &cwd).unwrap_or_else(|| on_disk(path));
        resolve(&entry, &cwd, text, Last::Follow).as_str().to_owned()
    }

    #[test]
    fn a_process_that_looks_at_itself_is_the_one_that_is_reviewed() {
        for text in [
            "/proc/self/cwd/a",
            "/proc/thread-self/cwd/a",
            "/proc/self/task/12/cwd/a",
            "/proc/self/./cwd/b/../a",
            "/proc/self/root/home/dev/proj/a",
            "q/a",
            "/proc/self/cwd/../proj/a",
        ] {
            assert_eq!(resolved(text), "/home/dev/proj/a", "{text}");
        }
        assert_eq!(resolved("/proc/self/cwd/../.config/x"), "/home/dev/.config/x");
        assert_eq!(resolved("/proc/4711/cwd/a"), "/somewhere/else/a", "that of another process is a link");
        assert_eq!(resolved("/proc/self/environ"), "/proc/self/environ");
    }
}
