//! Patterns of paths: which paths they name, as far as the world tells.

use crate::path::AbsolutePath;
use crate::world::{Entry, Listing, World};

/// A pattern of absolute paths: `*`, `?` and `[...]` stay inside one name, `**` crosses names.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern<'a> {
    /// The directory above the first part with a wildcard.
    pub(crate) base: AbsolutePath,
    /// The parts from the first wildcard on.
    rest: Vec<&'a str>,
}

/// The paths that a pattern names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Matches {
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
    pub(crate) fn new(text: &'a str) -> Option<Self> {
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
    pub(crate) fn last(&self) -> Option<&'a str> {
        self.rest.last().copied()
    }

    /// Whether the pattern names everything in its base directory (`/x/*`, `/x/**`, `/x/.*`).
    pub(crate) fn names_everything(&self) -> bool {
        match self.rest.as_slice() {
            [one] | ["**", one] => is_any_name(one),
            _ => false,
        }
    }

    /// Whether hidden names are meant too.
    pub(crate) fn names_hidden(&self) -> bool {
        self.rest.iter().any(|part| *part == "**" || part.starts_with('.'))
    }

    /// Whether the pattern matches a path.
    pub(crate) fn matches(&self, path: &AbsolutePath) -> bool {
        let Some(relative) = path.relative_to(&self.base) else { return false };
        let parts: Vec<&str> = relative.split('/').filter(|part| !part.is_empty()).collect();
        parts_match(&self.rest, &parts)
    }

    /// The existing paths that the pattern names.
    pub(crate) fn expand(&self, world: &dyn World) -> Matches {
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
            _ => walk(&next, behind, world, budget, found),
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
    for name in names.iter().filter(|name| name_matches(part, name)) {
        walk(&directory.join(name), behind, world, budget, found)?;
    }
    Some(())
}

/// Whether one part of a pattern stands for any name (`*`, `.*`, `?*`, `**`).
fn is_any_name(part: &str) -> bool {
    part.contains('*') && part.chars().all(|character| matches!(character, '*' | '?' | '.'))
}

/// Whether all parts of a path match a pattern, where `**` stands for any number of names.
fn parts_match(pattern: &[&str], parts: &[&str]) -> bool {
    // Piece by piece: which beginnings of the path the pattern can have consumed. No backtracking.
    let mut reached = vec![false; parts.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for piece in pattern {
        let mut next = vec![false; parts.len() + 1];
        for (consumed, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            if *piece == "**" {
                next.iter_mut().skip(consumed).for_each(|slot| *slot = true);
            } else if parts.get(consumed).is_some_and(|name| name_matches(piece, name))
                && let Some(slot) = next.get_mut(consumed + 1)
            {
                *slot = true;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// Whether a name matches one part of a pattern. As in a shell, a leading dot must be matched by a dot.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with('[') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Linear in both lengths: only the last star is ever taken back.
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, position));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => class_end(&pattern, at, name.get(position).copied()),
            Some(character) if Some(character) == name.get(position) => Some(at + 1),
            Some(_) | None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                position += 1;
            }
            (None, Some((star_at, star_position))) => {
                at = star_at + 1;
                position = star_position + 1;
                star = Some((star_at, star_position + 1));
            }
            (None, None) => return false,
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|character| *character == '*'))
}

/// Where the pattern goes on behind the class `[...]` at `start`, when the class holds the character.
fn class_end(pattern: &[char], start: usize, character: Option<char>) -> Option<usize> {
    let character = character?;
    let length = pattern.get(start + 2..)?.iter().position(|found| *found == ']')?;
    let end = start + 2 + length;
    let mut body = pattern.get(start + 1..end)?;
    let mut negated = false;
    if let Some((first @ ('!' | '^'), rest)) = body.split_first() {
        negated = *first == '!' || *first == '^';
        body = rest;
    }
    let mut held = false;
    let mut index = 0;
    while let Some(low) = body.get(index) {
        if let (Some('-'), Some(high)) = (body.get(index + 1), body.get(index + 2)) {
            held |= (*low..=*high).contains(&character);
            index += 3;
        } else {
            held |= *low == character;
            index += 1;
        }
    }
    (held != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, name) in [
            ("*", "a"),
            ("*.log", "x.log"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a]", "b"),
            (".*", ".git"),
            ("*a*b", "xaab"),
        ] {
            assert!(name_matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*", ".git"), ("*.log", "x.txt"), ("a?c", "ac"), ("[a-c]x", "dx"), ("[!a]", "a"), ("[", "x")]
        {
            assert!(!name_matches(pattern, name), "{pattern} {name}");
        }
    }

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
        assert!(PathPattern::new("/p/*").unwrap().names_everything());
        assert!(!PathPattern::new("/p/*.log").unwrap().names_everything());
    }
}
