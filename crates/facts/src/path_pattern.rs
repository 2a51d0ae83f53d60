//! Patterns of paths: which paths they name, as far as the world tells.

use crate::{Entry, Last, Listing, World, resolve};
use checkrein_glob::{Glob, Style};
use checkrein_protocol::AbsolutePath;

/// A pattern of absolute paths: `*`, `?` and `[...]` stay inside one name, `**` crosses names.
#[derive(Debug, Clone)]
pub struct PathPattern<'a> {
    /// The directory above the first part with a wildcard.
    pub base: AbsolutePath,
    /// The parts from the first wildcard on.
    rest: Vec<&'a str>,
}

/// The paths that a pattern names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matches {
    /// All of them.
    Paths(Vec<AbsolutePath>),
    /// They could not be listed within bounds.
    Unknown,
}

/// The greatest number of directories that are listed for one pattern (ours).
const DIRECTORIES: usize = 128;
/// The greatest number of paths that one pattern is taken to name (ours).
const PATHS: usize = 512;

impl<'a> PathPattern<'a> {
    /// Splits a pattern; `None` when it is not absolute.
    pub fn new(text: &'a str) -> Option<Self> {
        let mut parts = text.strip_prefix('/')?.split('/').filter(|part| !part.is_empty() && *part != ".");
        let mut base = AbsolutePath::root();
        let mut rest = Vec::new();
        for part in parts.by_ref() {
            if part.contains(['*', '?', '[']) {
                rest.push(part);
                break;
            }
            base = base.join(part);
        }
        rest.extend(parts);
        Some(Self { base, rest })
    }

    /// The last part, as written; `None` when nothing in the pattern is wild.
    pub fn last(&self) -> Option<&'a str> {
        self.rest.last().copied()
    }

    /// Whether the pattern names everything in its base directory (`/x/*`, `/x/**`, `/x/.*`).
    pub fn names_everything(&self) -> bool {
        match self.rest.as_slice() {
            [one] | ["**", one] => is_any_name(one),
            _ => false,
        }
    }

    /// Whether the pattern names everything in its base directory, or all that is hidden there, with or without what only shells need in
    /// front of it (`/x/.[!.]*`, `/x/.??*`), or all that begins with one of a range of letters (`/x/[a-z]*`).
    pub fn names_all_of_a_sort(&self) -> bool {
        self.names_everything() || matches!(self.rest.as_slice(), [one] if is_any_name(&without_classes(one)))
    }

    /// Whether hidden names are meant too.
    pub fn names_hidden(&self) -> bool {
        self.rest.iter().any(|part| *part == "**" || part.starts_with('.'))
    }

    /// Whether the pattern matches a path.
    pub fn matches(&self, path: &AbsolutePath) -> bool {
        let Some(relative) = path.relative_to(&self.base) else { return false };
        if relative.is_empty() {
            return self.rest.iter().all(|part| *part == "**");
        }
        Glob::new(&self.rest.join("/"), Style::Shell).matches(relative)
    }

    /// The existing paths that the pattern names.
    pub fn expand(&self, world: &dyn World) -> Matches {
        let mut found = Vec::new();
        let mut budget = DIRECTORIES;
        match walk(&self.base, &self.rest, world, &mut budget, &mut found) {
            Some(()) => Matches::Paths(found),
            None => Matches::Unknown,
        }
    }
}

/// Collects what `rest` names below a directory; `None` when that is too much or cannot be listed.
fn walk(
    directory: &AbsolutePath,
    rest: &[&str],
    world: &dyn World,
    budget: &mut usize,
    found: &mut Vec<AbsolutePath>,
) -> Option<()> {
    let Some((part, behind)) = rest.split_first() else {
        if found.len() >= PATHS {
            return None;
        }
        found.push(directory.clone());
        return Some(());
    };
    if !part.contains(['*', '?', '[']) {
        let next = directory.join(part);
        return match world.entry(&next) {
            Entry::Missing => Some(()),
            entry => step(&next, &entry, behind, world, budget, found),
        };
    }
    *budget = budget.checked_sub(1)?;
    let names = match world.children(directory) {
        Listing::Names(names) => names,
        Listing::Unknown => match world.entry(directory) {
            Entry::Missing | Entry::File(_) | Entry::Special => return Some(()),
            Entry::Directory | Entry::Symlink(_) | Entry::Unknown => return None,
        },
    };
    if *part == "**" {
        if !behind.is_empty() {
            walk(directory, behind, world, budget, found)?;
        }
        for name in &names {
            let next = directory.join(name);
            if world.entry(&next) == Entry::Directory {
                walk(&next, rest, world, budget, found)?;
            } else if behind.is_empty() {
                walk(&next, behind, world, budget, found)?;
            }
        }
        return Some(());
    }
    let glob = Glob::new(part, Style::Shell);
    for name in names.iter().filter(|name| glob.matches(name)) {
        let next = directory.join(name);
        if behind.is_empty() {
            walk(&next, behind, world, budget, found)?;
        } else {
            step(&next, &world.entry(&next), behind, world, budget, found)?;
        }
    }
    Some(())
}

/// Goes on below a name, where a symbolic link leads: what lies beyond it is weighed where it is.
fn step(
    next: &AbsolutePath,
    entry: &Entry,
    behind: &[&str],
    world: &dyn World,
    budget: &mut usize,
    found: &mut Vec<AbsolutePath>,
) -> Option<()> {
    if behind.is_empty() || !matches!(entry, Entry::Symlink(_)) {
        return walk(next, behind, world, budget, found);
    }
    let real = resolve(&|path| world.entry(path), &AbsolutePath::root(), next.as_str(), Last::Follow);
    match world.entry(&real) {
        Entry::Missing | Entry::Symlink(_) => Some(()),
        Entry::File(_) | Entry::Directory | Entry::Special | Entry::Unknown => {
            walk(&real, behind, world, budget, found)
        }
    }
}

/// Whether one part of a pattern stands for any name (`*`, `.*`, `?*`, `**`).
fn is_any_name(part: &str) -> bool {
    part.contains('*') && part.chars().all(|character| matches!(character, '*' | '?' | '.'))
}

/// A part of a pattern in which a question mark stands for each class (`[...]`).
fn without_classes(part: &str) -> String {
    let mut plain = String::new();
    let mut rest = part;
    while let Some((before, class)) = rest.split_once('[') {
        plain.push_str(before);
        // A bracket right behind the beginning, or behind a sign of negation, stands for itself.
        let start = class.find(|c| c != '!' && c != '^').unwrap_or(class.len());
        let end = class.get(start..).and_then(|text| {
            let first = text.chars().next().map_or(0, char::len_utf8);
            text.get(first..).and_then(|text| text.find(']')).map(|end| start + first + end + 1)
        });
        let Some(end) = end else {
            plain.push('[');
            rest = class;
            continue;
        };
        plain.push('?');
        rest = class.get(end..).unwrap_or_default();
        // `[[:alnum:]]`
        rest = rest.strip_prefix(']').filter(|_| class.starts_with("[:")).unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}

/// Whether a name matches one part of a pattern. As in a shell, a leading dot must be matched by a dot.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    Glob::new(pattern, Style::Shell).matches(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stars_are_not_slow() {
        let text = format!("/p/{}x", "**/".repeat(100));
        let pattern = PathPattern::new(&text).unwrap();
        assert!(!pattern.matches(&AbsolutePath::new(&format!("/p{}", "/d".repeat(200))).unwrap()));
    }

    #[test]
    fn two_stars_cross_directories() {
        let pattern = PathPattern::new("/p/**/*.pyc").unwrap();
        let path = |text| AbsolutePath::new(text).unwrap();
        assert!(pattern.matches(&path("/p/a.pyc")));
        assert!(pattern.matches(&path("/p/a/b/c.pyc")));
        assert!(!pattern.matches(&path("/p/a/b/c.py")));
        assert!(!pattern.matches(&path("/q/a.pyc")));
        assert!(!PathPattern::new("/p/*").unwrap().matches(&path("/p")));
        assert!(PathPattern::new("/p/**").unwrap().matches(&path("/p")));
        assert!(PathPattern::new("/p/*").unwrap().names_everything());
        assert!(!PathPattern::new("/p/*.log").unwrap().names_everything());
    }

    #[test]
    fn all_that_is_hidden_is_named_in_several_ways() {
        let all = |text: &str| PathPattern::new(text).unwrap().names_all_of_a_sort();
        for text in
            ["/p/*", "/p/.*", "/p/.[!.]*", "/p/.??*", "/p/..?*", "/p/[a-z]*", "/p/[[:alnum:]]*", "/p/[]a]*"]
        {
            assert!(all(text), "{text}");
        }
        for text in ["/p/.x*", "/p/a*", "/p/*.log", "/p/.[!.]", "/p/[a-z]*.log", "/p/x[", "/p/.build-[0-9]*"]
        {
            assert!(!all(text), "{text}");
        }
    }
}
