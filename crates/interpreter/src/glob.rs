//! Patterns of paths, carried out against the tree.

use crate::path::AbsolutePath;
use crate::world::{Branches, Entry, GuardedPath, Last, Listing, resolve};

use super::machine::Machine;
use super::pattern::{Letters, Pattern, escape, is_pattern, unescape};

/// The greatest number of paths that one pattern stands for before it is kept as a pattern (ours).
const MATCHES: usize = 256;
/// The greatest number of directories on the way to these (ours).
const ON_THE_WAY: usize = 1024;
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

/// What a pattern that is too much to be carried out reaches through symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedOut {
    /// Patterns that begin with the links, in the place of what matches them.
    pub(crate) patterns: Vec<String>,
    /// Whether there may be more.
    pub(crate) more: bool,
}

/// The greatest number of directories that are looked through for links (ours).
const LOOKED_THROUGH: usize = 1024;
/// The greatest number of links that are followed for one pattern (ours).
const LINKS: usize = 32;

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
                if next.len() > if last { MATCHES } else { ON_THE_WAY } {
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

    /// The patterns by which a pattern leads through symbolic links to what it does not name: out of the workspace and the directory where it
    /// stands, or to the guard.
    pub(crate) fn led_out(&self, pattern: &str) -> LedOut {
        let mut led = LedOut { patterns: Vec::new(), more: false };
        let start = if pattern.starts_with('/') {
            Way { text: "/".to_owned(), path: AbsolutePath::root() }
        } else {
            let Some(cwd) = self.cwd() else { return led };
            Way { text: String::new(), path: cwd.clone() }
        };
        let guarded = self.world.guarded();
        let segments: Vec<&str> = split(pattern);
        let end = if pattern.ends_with('/') { "/" } else { "" };
        let (mut ways, mut base, mut looked) = (vec![start], None, 0_usize);
        for (index, segment) in segments.iter().enumerate() {
            let behind: String = segments.iter().skip(index + 1).flat_map(|part| ["/", part]).collect();
            let is_last = index + 1 == segments.len();
            let mut next = Vec::new();
            let compiled = is_pattern(segment).then(|| Pattern::new(segment));
            if compiled.is_some() && base.is_none() {
                base = ways.first().map(|way| way.path.clone());
            }
            for way in &ways {
                let names = if compiled.is_some() {
                    looked += 1;
                    let found = if looked > LOOKED_THROUGH {
                        None
                    } else {
                        self.tree.branches(self.world, &way.path)
                    };
                    // The last names alone are mostly meant themselves, and not what they lead to.
                    led.more |= found.is_none() && (!is_last || !end.is_empty());
                    found.unwrap_or_default()
                } else {
                    let name = unescape(segment);
                    match (base.is_some(), self.entry(&way.path.join(&name))) {
                        (true, Entry::Symlink(_)) => Branches { links: vec![name], ..Branches::default() },
                        (true, Entry::Directory) if !is_last => {
                            Branches { directories: vec![name], ..Branches::default() }
                        }
                        (true, _) => Branches::default(),
                        (false, _) => {
                            next.push(Way { path: self.follow(&way.path, &name), ..step(way, &name) });
                            continue;
                        }
                    }
                };
                let fits = |name: &&String| {
                    let hides =
                        name.starts_with('.') && !segment.starts_with('.') && !self.shell.options.dotglob;
                    compiled.as_ref().is_none_or(|compiled| {
                        !hides && compiled.matches(name, Letters::AnyCase).unwrap_or(true)
                    })
                };
                for link in names.links.iter().filter(fits) {
                    let to = self.follow(&way.path, link);
                    if !base.as_ref().is_some_and(|base| self.leads_out(&to, base, &guarded)) {
                        continue;
                    }
                    if led.patterns.len() >= LINKS {
                        led.more = true;
                        break;
                    }
                    let text = step(way, &escape(link)).text;
                    led.patterns.push(format!("{text}{behind}{end}"));
                }
                if !is_last {
                    let inner = names.directories.iter().filter(fits);
                    next.extend(inner.map(|name| step(way, name)));
                }
            }
            ways = next;
        }
        led
    }

    /// Whether a place is neither in the workspace nor below a directory, or is one of the guard.
    fn leads_out(&self, to: &AbsolutePath, base: &AbsolutePath, guarded: &[GuardedPath]) -> bool {
        let is_near = to.is_within(base) || to.is_within(&self.world.place().workspace);
        !is_near || guarded.iter().any(|guarded| to.is_within(&guarded.path) || guarded.path.is_within(to))
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
