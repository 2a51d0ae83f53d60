//! Patterns of paths, carried out against the tree.

use crate::path::AbsolutePath;
use crate::world::{Entry, Last, Listing, resolve};

use super::machine::Machine;
use super::pattern::{Letters, Pattern, is_pattern, unescape};

/// The greatest number of paths that one pattern stands for before it is kept as a pattern (ours).
const MATCHES: usize = 256;
/// The greatest number of directories that `**` looks into (ours).
const DIRECTORIES: usize = 512;

/// The pattern with a star in place of each name that holds a group of bash (`!(a|b)`), for who weighs it without carrying it out.
pub(crate) fn without_groups(pattern: &str) -> String {
    let (mut all, mut name) = (String::new(), String::new());
    let (mut depth, mut has_group, mut before) = (0_usize, false, ' ');
    let finish = |name: &mut String, has_group: &mut bool, all: &mut String| {
        match (*has_group, name.starts_with('.')) {
            (true, true) => all.push_str(".*"),
            (true, false) => all.push('*'),
            (false, _) => all.push_str(name),
        }
        name.clear();
        *has_group = false;
    };
    for letter in pattern.chars() {
        match letter {
            '(' if before != '\\' && (depth > 0 || matches!(before, '!' | '@' | '+' | '*' | '?')) => {
                depth += 1;
                has_group = true;
            }
            ')' if before != '\\' && depth > 0 => depth -= 1,
            '/' if depth == 0 => {
                finish(&mut name, &mut has_group, &mut all);
                all.push('/');
                before = letter;
                continue;
            }
            _ => {}
        }
        name.push(letter);
        before = letter;
    }
    finish(&mut name, &mut has_group, &mut all);
    all
}

/// What a pattern of paths stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Matches {
    /// Exactly these, in order, written as the pattern is.
    These(Vec<String>),
    /// Too many, or a directory that cannot be listed.
    Unknown,
}

/// A path on the way: as it is written, and where it is.
#[derive(Debug, Clone)]
struct Way {
    text: String,
    path: AbsolutePath,
}

impl Machine<'_> {
    /// The existing paths that match a pattern (escaped as patterns are).
    pub(crate) fn glob(&self, pattern: &str) -> Matches {
        let start = if pattern.starts_with('/') {
            Way { text: "/".to_owned(), path: AbsolutePath::root() }
        } else {
            let Some(cwd) = self.cwd() else { return Matches::Unknown };
            Way { text: String::new(), path: cwd.clone() }
        };
        let only_directories = pattern.ends_with('/');
        let segments: Vec<&str> = split(pattern);
        let mut ways = vec![start];
        let mut budget = DIRECTORIES;
        for (index, segment) in segments.iter().enumerate() {
            let last = index + 1 == segments.len();
            let mut next = Vec::new();
            for way in &ways {
                let found = self.segment(way, segment, last && !only_directories, &mut budget);
                let Some(found) = found else { return Matches::Unknown };
                next.extend(found);
                if next.len() > MATCHES {
                    return Matches::Unknown;
                }
            }
            ways = next;
        }
        let mut texts: Vec<String> = ways
            .into_iter()
            .map(|way| if only_directories { format!("{}/", way.text) } else { way.text })
            .collect();
        texts.sort();
        texts.dedup();
        Matches::These(texts)
    }

    fn segment(&self, way: &Way, segment: &str, last: bool, budget: &mut usize) -> Option<Vec<Way>> {
        if !is_pattern(segment) {
            let name = unescape(segment);
            let next = step(way, &name);
            let next = Way { path: self.follow(&way.path, &name), ..next };
            return match self.entry(&next.path) {
                Entry::Missing => Some(Vec::new()),
                Entry::Unknown if last => None,
                Entry::File(_) | Entry::Special if !last => Some(Vec::new()),
                Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    Some(vec![next])
                }
            };
        }
        if segment == "**" && self.shell.options.globstar {
            let mut found = vec![way.clone()];
            if last {
                found.clear();
            }
            self.descend(way, last, &mut found, budget)?;
            return Some(found);
        }
        let names = self.names(&way.path, budget)?;
        let letters = if self.shell.options.nocaseglob { Letters::AnyCase } else { Letters::Exact };
        let compiled = Pattern::new(segment);
        let mut found = Vec::new();
        for name in names {
            if name.starts_with('.') && !segment.starts_with('.') && !self.shell.options.dotglob {
                continue;
            }
            if compiled.matches(&name, letters)? {
                let path = self.follow(&way.path, &name);
                let is_directory = matches!(self.entry(&path), Entry::Directory | Entry::Unknown);
                if last || is_directory {
                    found.push(Way { path, ..step(way, &name) });
                }
            }
        }
        Some(found)
    }

    fn descend(&self, way: &Way, last: bool, found: &mut Vec<Way>, budget: &mut usize) -> Option<()> {
        let mut waiting = vec![way.clone()];
        while let Some(directory) = waiting.pop() {
            for name in self.names(&directory.path, budget)? {
                if name.starts_with('.') && !self.shell.options.dotglob {
                    continue;
                }
                let path = directory.path.join(&name);
                let next = Way { path, ..step(&directory, &name) };
                let is_directory = self.entry(&next.path) == Entry::Directory;
                if is_directory {
                    waiting.push(next.clone());
                }
                if last || is_directory {
                    found.push(next);
                }
                if found.len() > MATCHES {
                    return None;
                }
            }
        }
        Some(())
    }

    fn names(&self, directory: &AbsolutePath, budget: &mut usize) -> Option<Vec<String>> {
        *budget = budget.checked_sub(1)?;
        match (self.entry(directory), self.children(directory)) {
            (Entry::Missing | Entry::File(_) | Entry::Special, _) => Some(Vec::new()),
            (_, Listing::Names(names)) => Some(names),
            (_, Listing::Unknown) => None,
        }
    }

    /// The place of a name in a directory, through a symbolic link.
    fn follow(&self, directory: &AbsolutePath, name: &str) -> AbsolutePath {
        let resolved = resolve(&|path| self.entry(path), directory, name, Last::Follow);
        if self.entry(&resolved) == Entry::Missing { directory.join(name) } else { resolved }
    }
}

fn step(way: &Way, name: &str) -> Way {
    let text = if way.text.is_empty() {
        name.to_owned()
    } else if way.text.ends_with('/') {
        format!("{}{name}", way.text)
    } else {
        format!("{}/{name}", way.text)
    };
    Way { text, path: way.path.join(name) }
}

/// The parts of a pattern between its slashes.
fn split(pattern: &str) -> Vec<&str> {
    pattern.split('/').filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod group_tests {
    use super::without_groups;

    #[test]
    fn groups_of_bash_become_stars() {
        for (pattern, plain) in [
            ("/home/dev/!(x)", "/home/dev/*"),
            ("~/@(f*|D*|.ssh)/a", "~/*/a"),
            ("+(a/b)/c", "*/c"),
            ("/h/.!(x)", "/h/.*"),
            ("/h/*(?)", "/h/*"),
            ("/h/a*.txt", "/h/a*.txt"),
            (r"/h/!\(x)", r"/h/!\(x)"),
            ("/h/(x)", "/h/(x)"),
        ] {
            assert_eq!(without_groups(pattern), plain, "{pattern}");
        }
    }
}
