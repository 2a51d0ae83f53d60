//! What stands in a folder, as a tree of git, in an index of its own: neither the index of the repository nor that of a worktree, which
//! an agent can change, says anything here.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::git::{Call, GitRepository, finished};
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// How much may be new in a worktree that no commit knows (ours).
pub(crate) const MOST_NEW: (usize, u64) = (250_000, 4 << 30);

/// A tree and what is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The tree.
    pub(crate) tree: String,
    /// Other repositories inside, which are left out.
    pub(crate) inner: Vec<PathBuf>,
    /// Directories and files that could not be read: what was in them counts as unchanged, what is new in them as not there.
    pub(crate) unread: BTreeSet<PathBuf>,
}

/// A folder for what is needed for a moment.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub(crate) fn below(parent: &Path) -> Result<Self, RunError> {
        static USED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = USED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = parent.join(format!("scratch-{}-{number}", std::process::id()));
        checkrein_supervise::runs::file::create_directory(&folder)?;
        Ok(Self { folder })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl GitRepository {
    /// The tree of what stands in a folder: what `base` knows and what is new and not ignored. Objects are written to `objects`.
    pub(crate) fn standing(
        &self,
        folder: &Path,
        base: &str,
        objects: &Path,
        scratch: &Path,
    ) -> Result<Standing, RunError> {
        let scratch = Scratch::below(scratch)?;
        let index = scratch.file("index");
        let call = Call { work_tree: Some(folder), index: Some(&index), objects: Some(objects), input: b"" };
        self.bytes(&["read-tree", base], &call)?;
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        let (mut inner, mut unread) = (Vec::new(), BTreeSet::new());
        let known = self.bytes(&["ls-files", "-z", "--stage"], &call)?;
        for row in known.split(|byte| *byte == 0).filter(|row| !row.is_empty()) {
            let Some(tab) = row.iter().position(|byte| *byte == b'\t') else { continue };
            let (facts, path) = row.split_at(tab);
            let path = path.get(1..).unwrap_or_default();
            // Another repository inside: its commit is what it was.
            if facts.starts_with(b"160000") {
                continue;
            }
            match stands(folder, path) {
                Stands::Plainly => add(&mut there, path),
                Stands::Not => add(&mut gone, path),
                Stands::Unread(directory) => drop(unread.insert(directory)),
            }
        }
        // First what is gone, so that a directory can stand where a file was.
        self.bytes(
            &["update-index", "--force-remove", "-z", "--stdin"],
            &Call { input: &gone, ..call.clone() },
        )?;
        let (mut count, mut length) = (0, 0);
        let listed = self.output(&["ls-files", "-z", "--others", "--exclude-standard"], &call)?;
        unread.extend(unopened(&listed.stderr));
        let new = finished(listed, "`git ls-files`")?;
        for path in new.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if path.ends_with(b"/") {
                inner.push(PathBuf::from(OsStr::from_bytes(path)));
                continue;
            }
            let Ok(facts) = fs::symlink_metadata(folder.join(OsStr::from_bytes(path))) else { continue };
            match stands(folder, path) {
                Stands::Plainly => {}
                Stands::Not => continue,
                Stands::Unread(place) => {
                    unread.insert(place);
                    continue;
                }
            }
            count += 1;
            length += facts.len();
            add(&mut there, path);
        }
        if count > MOST_NEW.0 || length > MOST_NEW.1 {
            return Err(RunError::new(
                RunErrorKind::Asked,
                format!(
                    "{count} new files with {} MB that are not ignored are too much to look at",
                    length >> 20
                ),
                "let `.gitignore` name what is made anew, or remove it, and try again",
            ));
        }
        self.bytes(
            &["update-index", "--add", "--remove", "--replace", "-z", "--stdin"],
            &Call { input: &there, ..call.clone() },
        )?;
        let tree = self.text(&["write-tree"], &call)?;
        Ok(Standing { tree, inner, unread })
    }

    /// A tree that is like another but for some paths, which are as in a third.
    pub(crate) fn with_paths_of(
        &self,
        tree: &str,
        other: &str,
        paths: &[&str],
        objects: &Path,
        scratch: &Path,
    ) -> Result<String, RunError> {
        let scratch = Scratch::below(scratch)?;
        let index = scratch.file("index");
        let call = Call { index: Some(&index), objects: Some(objects), ..Call::default() };
        self.bytes(&["read-tree", tree], &call)?;
        for path in paths {
            let mut gone = path.as_bytes().to_vec();
            gone.push(0);
            self.bytes(
                &["update-index", "--force-remove", "-z", "--stdin"],
                &Call { input: &gone, ..call.clone() },
            )?;
            let row = self.bytes(&["ls-tree", "-z", other, "--", path], &call)?;
            self.bytes(&["update-index", "-z", "--index-info"], &Call { input: &row, ..call.clone() })?;
        }
        self.text(&["write-tree"], &call)
    }

    /// The paths in which two trees differ.
    pub(crate) fn differing(
        &self,
        from: &str,
        to: &str,
        objects: &Path,
    ) -> Result<BTreeSet<Vec<u8>>, RunError> {
        let call = Call { objects: Some(objects), ..Call::default() };
        let arguments =
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", from, to];
        let names = self.bytes(&arguments, &call)?;
        Ok(names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
    }
}

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
enum Stands {
    /// A file or a link, with no link on the way to it.
    Plainly,
    /// Nothing of that kind.
    Not,
    /// Nobody knows: this directory cannot be read.
    Unread(PathBuf),
}

fn stands(folder: &Path, path: &[u8]) -> Stands {
    let path = Path::new(OsStr::from_bytes(path));
    let mut place = folder.to_owned();
    let below =
        |place: &Path| place.parent().and_then(|above| above.strip_prefix(folder).ok().map(Path::to_owned));
    let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    for part in path.parent().into_iter().flat_map(Path::components) {
        place.push(part);
        match fs::symlink_metadata(&place) {
            Ok(facts) if facts.is_dir() => {}
            Err(error) if is_refused(&error) => return Stands::Unread(below(&place).unwrap_or_default()),
            Ok(_) | Err(_) => return Stands::Not,
        }
    }
    let place = folder.join(path);
    match fs::symlink_metadata(&place) {
        // Git would end at a file that it may not read.
        Ok(facts)
            if facts.is_file()
                && facts.mode() & 0o444 != 0o444
                && File::open(&place).is_err_and(|error| is_refused(&error)) =>
        {
            Stands::Unread(path.to_owned())
        }
        Ok(facts) if facts.is_file() || facts.file_type().is_symlink() => Stands::Plainly,
        Err(error) if is_refused(&error) => Stands::Unread(below(&place).unwrap_or_default()),
        Ok(_) | Err(_) => Stands::Not,
    }
}

/// The directories that git says it could not open.
fn unopened(said: &[u8]) -> Vec<PathBuf> {
    let said = String::from_utf8_lossy(said);
    let name = |line: &str| {
        let rest = line.strip_prefix("warning: could not open directory '")?;
        Some(PathBuf::from(rest.rsplit_once("': ")?.0.trim_end_matches('/')))
    };
    said.lines().filter_map(name).collect()
}

fn add(list: &mut Vec<u8>, path: &[u8]) {
    list.extend_from_slice(path);
    list.push(0);
}
