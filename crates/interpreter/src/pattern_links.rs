//! Patterns of paths whose names are those of symbolic links: where what they stand for really lies.
//!
//! `*/*` goes through a link in the directory as through a directory, so what it names beyond the link is elsewhere, and is weighed there.

use checkrein_glob::{Glob, Style};

use crate::effect::Target;
use crate::path::AbsolutePath;
use crate::world::{Entry, Last, Right, resolve};

use super::machine::Machine;

/// The greatest number of directories that are looked into for links of one pattern (ours).
const DIRECTORIES: usize = 512;
/// The greatest number of names that are asked about for one pattern (ours).
const NAMES: usize = 8_192;
/// The greatest number of places behind links that one pattern is taken to reach (ours).
const PLACES: usize = 64;

/// What the names of a pattern are, beside what its signs say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternReach {
    /// Whether a star stands for names that begin with a dot too, as in lists that programs make.
    pub hidden: bool,
    /// Whether a walk (`**`) enters directories through links.
    pub through_links: bool,
}

/// A search for links on the ways of one pattern.
struct Search {
    last: Last,
    directories: usize,
    names: usize,
    /// Patterns whose first directories are no links, still to be looked into: a directory and what is below it.
    waiting: Vec<(AbsolutePath, Vec<String>)>,
    found: Vec<Target>,
    is_cut: bool,
}

impl Machine<'_> {
    /// A target, and for a pattern the places to which it leads through symbolic links.
    pub(crate) fn with_places_behind_links(&self, target: Target, last: Last) -> Vec<Target> {
        let Target::Glob(pattern) = &target else { return vec![target] };
        let parts: Vec<String> =
            pattern.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut search = Search {
            last,
            directories: DIRECTORIES,
            names: NAMES,
            waiting: vec![(AbsolutePath::root(), parts)],
            found: Vec::new(),
            is_cut: false,
        };
        while let Some((directory, rest)) = search.waiting.pop() {
            self.look_for_links(&directory, &rest, &mut search);
        }
        let mut all = vec![target];
        for place in search.found {
            if !all.contains(&place) {
                all.push(place);
            }
        }
        if search.is_cut {
            all.push(Target::Unknown);
        }
        all
    }

    fn look_for_links(&self, directory: &AbsolutePath, rest: &[String], search: &mut Search) {
        let Some((part, behind)) = rest.split_first() else { return };
        let is_last = behind.is_empty();
        if !part.contains(['*', '?', '[']) {
            self.step_into(&directory.join(part), behind, search);
            return;
        }
        let is_walk = part == "**";
        let enters = self.reach.through_links;
        // What a walk chooses by its name alone lies where the walk goes, and that goes through no link.
        let is_plain_walk = is_walk && !enters && behind.len() <= 1 && search.last == Last::Keep;
        if is_last && search.last == Last::Keep && !(is_walk && enters) || is_plain_walk {
            return;
        }
        // The last names alone are mostly meant themselves, and not what they lead to.
        let is_told = !(is_last || is_walk && behind.len() <= 1);
        if search.directories == 0 {
            search.is_cut |= is_told;
            return;
        }
        search.directories -= 1;
        let Some(branches) = self.tree.branches(self.world, directory) else {
            // Where the user cannot look either, the shell finds nothing.
            search.is_cut |= is_told && self.world.allows(directory, Right::Read);
            return;
        };
        if is_walk {
            self.look_for_links(directory, behind, search);
        }
        let glob = Glob::new(part, Style::Shell);
        let takes_hidden = self.reach.hidden || self.shell.options.dotglob;
        let links = branches.links.into_iter().map(|name| (name, true));
        for (name, is_link) in links.chain(branches.directories.into_iter().map(|name| (name, false))) {
            let shown = if takes_hidden && part.starts_with(['*', '?']) {
                name.trim_start_matches('.')
            } else {
                name.as_str()
            };
            if !is_walk && !glob.matches(shown) {
                continue;
            }
            if search.names == 0 {
                search.is_cut |= is_told;
                return;
            }
            search.names -= 1;
            let next = directory.join(&name);
            match (is_walk, is_link) {
                (false, true) if !behind.is_empty() || search.last == Last::Follow => {
                    self.beyond(&next, behind, search);
                }
                (false, false) if !behind.is_empty() => search.waiting.push((next, behind.to_vec())),
                (true, false) => search.waiting.push((next, rest.to_vec())),
                (true, true) if enters => self.beyond(&next, rest, search),
                (true | false, _) => {}
            }
        }
    }

    fn step_into(&self, path: &AbsolutePath, behind: &[String], search: &mut Search) {
        if behind.is_empty() && search.last == Last::Keep {
            return;
        }
        match self.entry(path) {
            Entry::Symlink(_) => self.beyond(path, behind, search),
            Entry::Directory if !behind.is_empty() => search.waiting.push((path.clone(), behind.to_vec())),
            Entry::Directory | Entry::Missing | Entry::File(_) | Entry::Special | Entry::Unknown => {}
        }
    }

    /// Notes where a link leads, with what the pattern names below it.
    fn beyond(&self, link: &AbsolutePath, behind: &[String], search: &mut Search) {
        let real = resolve(&|path| self.entry(path), &AbsolutePath::root(), link.as_str(), Last::Follow);
        let goes_on = match self.entry(&real) {
            Entry::Directory | Entry::Unknown => true,
            Entry::File(_) | Entry::Special => behind.is_empty(),
            Entry::Missing | Entry::Symlink(_) => false,
        };
        if !goes_on {
            return;
        }
        let target = if behind.is_empty() {
            Target::Path(real.clone())
        } else {
            Target::Glob(format!("{}/{}", real.as_str().trim_end_matches('/'), behind.join("/")))
        };
        if search.found.contains(&target) {
            return;
        }
        if search.found.len() >= PLACES {
            search.is_cut = true;
            return;
        }
        search.found.push(target);
        if !behind.is_empty() {
            search.waiting.push((real, behind.to_vec()));
        }
    }
}
