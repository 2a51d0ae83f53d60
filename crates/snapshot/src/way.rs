//! Ways through directories that go on from where they led to last.
//!
//! To look a path up from its top takes as many steps as it is deep, and a tree of thousands of levels has as many paths. What lies beside
//! each other is a step or two apart, so one directory is held open, and the next look-up goes up from there and down again. Which directory
//! each name led to is remembered: where going up leads elsewhere, somebody moved something, and the path is looked up anew.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::lookup::{self, is_link, open_strictly};
use crate::system::{self, PLACE, Stat};

/// How many levels one call goes up at most: with two dots and a bar for each it stays below `PATH_MAX`.
const AT_ONCE: usize = 1_000;

/// How many ways there are (ours): a restore goes back and forth between where things are written aside, where they belong, and another name.
const WAYS: usize = 4;

/// How long the names are at most that lie between a way and a place to which it is led on, in bytes (ours).
const NEAR: usize = 128;

/// How much of two paths is compared at once, in bytes (ours).
const BLOCK: usize = 256;

/// Device and number of a directory.
type Identity = (u64, u64);

/// Where the last look-ups led to, the latest first. A few directories are held open.
#[derive(Debug, Default)]
pub(crate) struct Ways(Box<[Way; WAYS]>);

impl Ways {
    /// Opens a directory for looking up names in it. [`Errno::LOOP`] where a part of its path is a link.
    pub(crate) fn open(&mut self, path: &Path) -> Result<Arc<OwnedFd>, Errno> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.first() != Some(&b'/') {
            return open_strictly(path).map(Arc::new);
        }
        let all = self.0.iter().enumerate();
        let nearest = all.map(|(place, way)| (way.distance(bytes), place)).min();
        // Who goes far may want to go back.
        let nearest = nearest.filter(|(distance, _)| *distance <= NEAR).map_or(WAYS - 1, |(_, place)| place);
        if let Some(up_to) = self.0.get_mut(..=nearest) {
            up_to.rotate_right(1);
        }
        let [way, ..] = &mut *self.0;
        way.open(path)
    }

    /// What stands at a path; the last part is not followed.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Stat, Errno> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return lookup::stat(path) };
        match self.open(parent) {
            Ok(directory) => system::stat_at(&directory, name.as_bytes()),
            // What lies behind a link is looked at all the same.
            Err(Errno::LOOP) => lookup::stat(path),
            Err(error) => Err(error),
        }
    }

    /// Gives up what leads through a directory that goes.
    pub(crate) fn leave(&mut self, path: &Path) {
        let gone = path.as_os_str().as_bytes();
        let leads_through = |way: &&mut Way| {
            way.path.strip_prefix(gone).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        };
        self.0.iter_mut().filter(leads_through).for_each(|way| *way = Way::default());
    }
}

/// Where one look-up led to.
#[derive(Debug, Default)]
struct Way {
    /// The path to there.
    path: Vec<u8>,
    /// Where each name in it ends, and to which directory it led.
    names: Vec<(usize, Identity)>,
    here: Option<Arc<OwnedFd>>,
    /// How many names were looked up.
    #[cfg(test)]
    looked_up: usize,
}

impl Way {
    fn open(&mut self, path: &Path) -> Result<Arc<OwnedFd>, Errno> {
        let bytes = path.as_os_str().as_bytes();
        let mut at = self.back_to(bytes)?;
        while let Some((name, end)) = name_from(bytes, self.path.len()) {
            if name == b".." {
                return open_strictly(path).map(Arc::new);
            }
            let below = match rustix::fs::openat(&at, name, PLACE | OFlags::NOFOLLOW, Mode::empty()) {
                // A link that is no directory as it is not followed.
                Err(Errno::NOTDIR) if is_link(&at, name) => return Err(Errno::LOOP),
                other => Arc::new(other?),
            };
            #[cfg(test)]
            {
                self.looked_up += 1;
            }
            self.names.push((end, identity(&below)?));
            self.path.extend_from_slice(bytes.get(self.path.len()..end).unwrap_or_default());
            self.here = Some(Arc::clone(&below));
            at = below;
        }
        Ok(at)
    }

    /// How long the names are that lie between it and a path, or the top where that is nearer.
    fn distance(&self, path: &[u8]) -> usize {
        let shared = self.shared(path);
        let up = self.names.len() - shared;
        match shared.checked_sub(1).and_then(|last| self.names.get(last)) {
            Some((end, _)) if up <= shared && self.here.is_some() => {
                self.path.len() - end + path.len().saturating_sub(*end)
            }
            Some(_) | None => path.len(),
        }
    }

    /// The deepest directory of a path that is on the way already, or the top.
    fn back_to(&mut self, path: &[u8]) -> Result<Arc<OwnedFd>, Errno> {
        let shared = self.shared(path);
        let up = self.names.len() - shared;
        if let Some(here) = self.here.clone().filter(|_| up <= shared)
            && let Some(above) = self.up(here, up)
        {
            self.names.truncate(shared);
            self.path.truncate(self.names.last().map_or(0, |(end, _)| *end));
            self.here = Some(Arc::clone(&above));
            return Ok(above);
        }
        self.path.clear();
        self.names.clear();
        self.here = None;
        rustix::fs::openat(rustix::fs::CWD, "/", PLACE, Mode::empty()).map(Arc::new)
    }

    /// The directory so many levels above one; `None` where another one stands there by now, or it cannot be reached.
    fn up(&self, from: Arc<OwnedFd>, levels: usize) -> Option<Arc<OwnedFd>> {
        let (_, expected) = *self.names.get((self.names.len() - levels).checked_sub(1)?)?;
        let mut at = from;
        let mut left = levels;
        while left > 0 {
            let now = left.min(AT_ONCE);
            let dots = vec![".."; now].join("/");
            at = Arc::new(rustix::fs::openat(&at, dots, PLACE, Mode::empty()).ok()?);
            left -= now;
        }
        (levels == 0 || identity(&at) == Ok(expected)).then_some(at)
    }

    /// How many names from the top a path has in common with the way.
    fn shared(&self, path: &[u8]) -> usize {
        let same = same_start(&self.path, path);
        let count = self.names.partition_point(|(end, _)| *end <= same);
        let is_whole = |end: usize| matches!(path.get(end), None | Some(b'/'));
        match count.checked_sub(1).and_then(|last| self.names.get(last)) {
            Some((end, _)) if !is_whole(*end) => count - 1,
            _ => count,
        }
    }
}

fn identity(directory: &OwnedFd) -> Result<Identity, Errno> {
    system::stat_of(directory).map(|found| (found.st_dev, found.st_ino))
}

/// The next name in a path behind a place, and where it ends.
fn name_from(path: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let rest = path.get(from..)?;
    let start = from + rest.iter().position(|byte| *byte != b'/')?;
    let rest = path.get(start..)?;
    let end = start + rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    Some((path.get(start..end)?, end))
}

/// How many bytes two paths have in common from their start.
fn same_start(one: &[u8], other: &[u8]) -> usize {
    let shorter = one.len().min(other.len());
    if one.get(..shorter) == other.get(..shorter) {
        return shorter;
    }
    let blocks =
        one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK)).take_while(|(one, other)| one == other);
    let start = blocks.count() * BLOCK;
    let rest = one.get(start..).unwrap_or_default().iter().zip(other.get(start..).unwrap_or_default());
    start + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().canonicalize().unwrap();
        for place in ["one/two/three", "one/twofold", "other/two"] {
            fs::create_dir_all(real.join(place)).unwrap();
        }
        std::os::unix::fs::symlink("one", real.join("link")).unwrap();
        fs::write(real.join("file"), "text").unwrap();
        (scratch, real)
    }

    #[test]
    fn each_way_leads_where_a_look_from_the_top_does() {
        let (_scratch, real) = tree();
        let places =
            ["one/two/three", "one/two", "one/twofold", "one", "", "other/two", "one/two/three", "link/two"];
        let more = ["none", "file", "file/below", "one/none/two", "one/../other", "one//two", "."];
        let mut ways = Ways::default();
        for first in places.iter().chain(&more) {
            for second in places.iter().chain(&more) {
                for place in [first, second] {
                    let path = real.join(place);
                    let strictly = open_strictly(&path).and_then(|found| identity(&found));
                    let found = ways.open(&path).and_then(|found| identity(&found));
                    assert_eq!(found, strictly, "{first}, then {second}: {place}");
                    let number = |found: Result<Stat, Errno>| found.map(|found| found.st_ino);
                    assert_eq!(number(ways.stat(&path)), number(lookup::stat(&path)), "{first}, {second}");
                }
            }
        }
    }

    /// To look each path up from the top would take the square of the depth.
    #[test]
    fn a_deep_tree_takes_a_few_looks_for_each_level() {
        const DEPTH: usize = 300;
        let (_scratch, real) = tree();
        let levels: Vec<PathBuf> =
            (0..DEPTH).map(|level| real.join(["down/"; DEPTH][..=level].concat())).collect();
        fs::create_dir_all(levels.last().unwrap()).unwrap();
        let mut ways = Ways::default();
        for path in levels.iter().chain(levels.iter().rev()) {
            // Back and forth between where things are written aside, where they belong, and another name.
            for path in [path.as_path(), &real, &real.join("one/two")] {
                ways.open(path).unwrap();
                ways.stat(&path.join("name")).unwrap_err();
            }
        }
        let looked_up: usize = ways.0.iter().map(|way| way.looked_up).sum();
        assert!(looked_up < 10 * DEPTH, "{looked_up}");
    }

    #[test]
    fn what_was_moved_away_is_looked_up_anew() {
        let (_scratch, real) = tree();
        let mut ways = Ways::default();
        ways.open(&real.join("one/two/three")).unwrap();
        fs::rename(real.join("one/two"), real.join("other/three")).unwrap();
        fs::create_dir(real.join("one/two")).unwrap();
        let found = ways.stat(&real.join("one/two")).unwrap().st_ino;
        assert_eq!(found, lookup::stat(&real.join("one/two")).unwrap().st_ino);
        assert_eq!(ways.open(&real.join("one/two/three")).map(drop), Err(Errno::NOENT));
    }

    #[test]
    fn what_went_is_left() {
        let (_scratch, real) = tree();
        let mut ways = Ways::default();
        ways.open(&real.join("one/two/three")).unwrap();
        fs::remove_dir_all(real.join("one/two")).unwrap();
        fs::create_dir_all(real.join("one/two/three")).unwrap();
        ways.leave(&real.join("one/tw"));
        ways.leave(&real.join("one/two"));
        let number = |path: &str| lookup::stat(&real.join(path)).unwrap().st_ino;
        let found = ways.open(&real.join("one/two/three")).unwrap();
        assert_eq!(identity(&found).unwrap().1, number("one/two/three"));
    }

    #[test]
    fn a_common_start_is_found_whatever_its_length() {
        let long = vec![b'a'; 3 * BLOCK];
        for at in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK - 1] {
            let mut other = long.clone();
            other[at] = b'b';
            assert_eq!(same_start(&long, &other), at);
            assert_eq!(same_start(&long, &long[..at]), at);
        }
        assert_eq!(same_start(&long, &long), 3 * BLOCK);
    }
}
