//! What version control knows about a path.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

use checkrein_facts::{Committed, Repository, VersionState};
use checkrein_protocol::AbsolutePath;
use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::budget::Budget;
use crate::ignore::{IgnoreDecision, PathKind, Rules};
use crate::index::{self, Holding, Index, Tracked};
use crate::objects::hexadecimal;
use crate::repository::{object_name_length, repository_at, setting, shared_directory, small_text};

/// The greatest number of files that are looked at for one directory (ours).
const FILES: usize = 2_000;
/// The greatest length of a file whose content is compared with the index, in bytes (ours).
const COMPARED: u64 = 1024 * 1024;

/// Answers about version control, remembered for one action.
#[derive(Debug)]
pub(crate) struct Versions {
    home: AbsolutePath,
    configuration: AbsolutePath,
    roots: RefCell<BTreeMap<AbsolutePath, Option<Repository>>>,
    open: RefCell<BTreeMap<AbsolutePath, Rc<Open>>>,
    states: RefCell<BTreeMap<AbsolutePath, VersionState>>,
}

/// A repository of which the index and the general ignore rules have been read.
#[derive(Debug)]
struct Open {
    root: AbsolutePath,
    index: Staged,
    /// The ignore rules of the repository and of the user, the stronger first.
    general: [Rules; 2],
    /// What counts in directories, by their path from the root.
    local: RefCell<HashMap<String, Rc<Ground>>>,
}

/// What counts directly in a directory.
#[derive(Debug, Default)]
struct Ground {
    /// Whether the directory is ignored, with all that is in it.
    is_ignored: bool,
    /// The ignore rules of it and of those above, the nearest last, each with how much of a path they do not see.
    rules: Rc<Vec<(usize, Rc<Rules>)>>,
}

#[derive(Debug)]
enum Staged {
    /// Nothing was ever added.
    Nothing,
    /// The index, and when it was written: seconds and nanoseconds.
    Index(Index, (i64, i64)),
    /// Too large, damaged, or of a kind that is not known.
    Unknown,
}

impl Versions {
    pub(crate) fn new(home: &AbsolutePath, configuration_home: Option<&str>) -> Self {
        let configuration =
            configuration_home.and_then(AbsolutePath::new).unwrap_or_else(|| home.join(".config"));
        Self {
            home: home.clone(),
            configuration,
            roots: RefCell::default(),
            open: RefCell::default(),
            states: RefCell::default(),
        }
    }

    /// The repository that holds a path: the nearest one upward.
    pub(crate) fn repository(&self, path: &AbsolutePath, budget: &Budget) -> Option<Repository> {
        let mut passed = Vec::new();
        let mut next = Some(path.clone());
        let mut found = None;
        while let Some(directory) = next {
            if let Some(known) = self.roots.borrow().get(&directory) {
                found.clone_from(known);
                break;
            }
            if budget.question().is_err() {
                return None;
            }
            // Inside the data of a repository there is no work tree.
            found = if directory.name() == Some(".git") { None } else { repository_at(&directory) };
            passed.push(directory.clone());
            if found.is_some() {
                break;
            }
            next = directory.parent();
        }
        let mut roots = self.roots.borrow_mut();
        for directory in passed {
            roots.insert(directory, found.clone());
        }
        found
    }

    /// What version control knows about a file, or about the worst file in a directory.
    pub(crate) fn state(&self, path: &AbsolutePath, budget: &Budget) -> VersionState {
        if let Some(known) = self.states.borrow().get(path) {
            return *known;
        }
        let state = self.find_state(path, budget);
        self.states.borrow_mut().insert(path.clone(), state);
        state
    }

    /// Whether the index holds a file at or below a path; also where that cannot be read.
    pub(crate) fn holds_tracked(&self, path: &AbsolutePath, budget: &Budget) -> bool {
        let Some(repository) = self.repository(path, budget) else { return false };
        let Some(relative) = path.relative_to(&repository.root) else { return true };
        match &self.open(&repository, budget).index {
            Staged::Nothing => false,
            Staged::Index(index, _) => index.find(relative).is_some() || index.holds_below(relative),
            Staged::Unknown => true,
        }
    }

    fn find_state(&self, path: &AbsolutePath, budget: &Budget) -> VersionState {
        if budget.question().is_err() {
            return VersionState::Unknown;
        }
        let facts = match fs::symlink_metadata(path.as_str()) {
            Ok(facts) => facts,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput => {
                        VersionState::Missing
                    }
                    _ => VersionState::Unknown,
                };
            }
        };
        // A file holds no repository; asking there would cost a call for each of many.
        let above = if facts.is_dir() { None } else { path.parent() };
        let Some(repository) = self.repository(above.as_ref().unwrap_or(path), budget) else {
            return VersionState::NoRepository;
        };
        let open = self.open(&repository, budget);
        if facts.is_dir() { self.directory(path, &open, budget) } else { open.file(path, &facts, budget) }
    }

    /// The worst state of the files below a directory; [`VersionState::Missing`] when there are none.
    fn directory(&self, top: &AbsolutePath, open: &Open, budget: &Budget) -> VersionState {
        let mut worst = VersionState::Missing;
        let mut files = 0_usize;
        let mut waiting = vec![top.clone()];
        if open.is_ignored_whole(top, budget) {
            return VersionState::Ignored;
        }
        while let Some(directory) = waiting.pop() {
            if budget.question().is_err() {
                return VersionState::Unknown;
            }
            let Ok(children) = fs::read_dir(directory.as_str()) else { return VersionState::Unknown };
            for child in children {
                files += 1;
                if files > FILES || budget.question().is_err() {
                    return VersionState::Unknown;
                }
                let Ok(child) = child else { return VersionState::Unknown };
                let Ok(name) = child.file_name().into_string() else { return VersionState::Unknown };
                let Ok(facts) = child.metadata() else { return VersionState::Unknown };
                if name == ".git" {
                    continue;
                }
                let path = directory.join(&name);
                if !facts.is_dir() {
                    worst = worst.max(open.file(&path, &facts, budget));
                } else if fs::symlink_metadata(path.join(".git").as_str()).is_ok() {
                    worst = worst.max(self.state(&path, budget));
                } else if open.is_ignored_whole(&path, budget) {
                    worst = worst.max(VersionState::Ignored);
                } else {
                    waiting.push(path);
                }
                // Nothing in a repository is worse than what it does not know.
                if worst >= VersionState::Untracked {
                    return worst;
                }
            }
        }
        worst
    }

    fn open(&self, repository: &Repository, budget: &Budget) -> Rc<Open> {
        if let Some(known) = self.open.borrow().get(&repository.root) {
            return Rc::clone(known);
        }
        let shared = shared_directory(repository);
        let opened = Rc::new(Open {
            root: repository.root.clone(),
            index: read_index(repository, &shared, budget),
            general: self.general_rules(repository),
            local: RefCell::default(),
        });
        self.open.borrow_mut().insert(repository.root.clone(), Rc::clone(&opened));
        opened
    }

    /// The ignore rules of a repository that stand in no directory of it, the stronger first. Reads no index.
    pub(crate) fn general_rules(&self, repository: &Repository) -> [Rules; 2] {
        let shared = shared_directory(repository);
        [rules(&shared.join("info/exclude")), rules(&self.personal_rules())]
    }

    /// The names of the tracked files directly in a directory of a repository; `None` when the index cannot be read.
    pub(crate) fn tracked_in(
        &self,
        repository: &Repository,
        directory: &str,
        budget: &Budget,
    ) -> Option<Vec<Vec<u8>>> {
        match &self.open(repository, budget).index {
            Staged::Nothing => Some(Vec::new()),
            Staged::Index(index, _) => {
                Some(index.names_in(directory).into_iter().map(<[u8]>::to_vec).collect())
            }
            Staged::Unknown => None,
        }
    }

    /// The files in the index of the repository with its work tree at `root`, each with its object, or with none where it is one side of a
    /// conflict. `None` when the index cannot be read, or a name is not UTF-8.
    pub(crate) fn all_staged(
        &self,
        root: &AbsolutePath,
        budget: &Budget,
    ) -> Option<BTreeMap<String, Option<String>>> {
        let repository = self.repository(root, budget)?;
        match &self.open(&repository, budget).index {
            Staged::Nothing => Some(BTreeMap::new()),
            Staged::Index(index, _) => index.all(),
            Staged::Unknown => None,
        }
    }

    /// What the index of the repository with its work tree at `root` holds at a path.
    pub(crate) fn staged(&self, root: &AbsolutePath, path: &str, budget: &Budget) -> Committed {
        let Some(repository) = self.repository(root, budget) else { return Committed::NoRevision };
        match &self.open(&repository, budget).index {
            Staged::Nothing => Committed::Nothing,
            Staged::Index(index, _) => index
                .find(path)
                .map_or(Committed::Nothing, |tracked| Committed::Object(hexadecimal(&tracked.object))),
            Staged::Unknown => Committed::Unknown,
        }
    }

    /// Where the user keeps ignore rules for all repositories: `core.excludesFile`, else the default of git.
    fn personal_rules(&self) -> AbsolutePath {
        let chosen = [self.home.join(".gitconfig"), self.configuration.join("git/config")]
            .iter()
            .filter_map(|file| small_text(Path::new(file.as_str())))
            .find_map(|config| setting(&config, "core", "excludesfile"));
        match chosen {
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => self.home.join(rest),
                None => self.home.join(&path),
            },
            None => self.configuration.join("git/ignore"),
        }
    }
}

impl Open {
    fn file(&self, path: &AbsolutePath, facts: &fs::Metadata, budget: &Budget) -> VersionState {
        let Some(relative) = path.relative_to(&self.root) else { return VersionState::Unknown };
        if path.parts().any(|part| part == ".git") {
            return VersionState::Untracked;
        }
        match &self.index {
            Staged::Unknown => return VersionState::Unknown,
            Staged::Nothing => {}
            Staged::Index(index, written) => {
                if let Some(tracked) = index.find(relative) {
                    return compare(path, facts, &tracked, *written, budget);
                }
            }
        }
        if self.is_ignored(relative, PathKind::File, budget) {
            VersionState::Ignored
        } else {
            VersionState::Untracked
        }
    }

    /// Whether a directory is ignored and nothing in it was added nevertheless.
    fn is_ignored_whole(&self, directory: &AbsolutePath, budget: &Budget) -> bool {
        let Some(relative) = directory.relative_to(&self.root) else { return false };
        let holds = match &self.index {
            Staged::Nothing => false,
            Staged::Index(index, _) => index.holds_below(relative),
            Staged::Unknown => true,
        };
        !relative.is_empty() && !holds && self.is_ignored(relative, PathKind::Directory, budget)
    }

    /// Whether rules ignore a path, or a directory above it, which nothing below can undo.
    fn is_ignored(&self, relative: &str, node: PathKind, budget: &Budget) -> bool {
        let ground = self.ground(parent(relative), budget);
        ground.is_ignored || self.answer(&ground, relative, node) == Some(IgnoreDecision::Ignore)
    }

    /// The strongest rule about one path: of the directory nearest to it, then upward, then the general ones.
    fn answer(&self, ground: &Ground, relative: &str, node: PathKind) -> Option<IgnoreDecision> {
        let local =
            ground.rules.iter().rev().find_map(|(skip, rules)| rules.answer(relative.get(*skip..)?, node));
        local.or_else(|| self.general.iter().find_map(|rules| rules.answer(relative, node)))
    }

    /// What counts directly in a directory. Each directory is looked at once, so that deep trees cost no more than wide ones.
    fn ground(&self, directory: &str, budget: &Budget) -> Rc<Ground> {
        let mut missing = Vec::new();
        let mut next = directory;
        let mut above = loop {
            if let Some(known) = self.local.borrow().get(next) {
                break Some(Rc::clone(known));
            }
            missing.push(next);
            if next.is_empty() {
                break None;
            }
            next = parent(next);
        };
        for directory in missing.into_iter().rev() {
            let is_ignored = above.as_ref().is_some_and(|above| {
                above.is_ignored
                    || self.answer(above, directory, PathKind::Directory) == Some(IgnoreDecision::Ignore)
            });
            let mut inherited = above.map(|above| Rc::clone(&above.rules)).unwrap_or_default();
            if !is_ignored && budget.question().is_ok() {
                let own = rules(&self.root.join(directory).join(".gitignore"));
                if !own.is_empty() {
                    let skip = if directory.is_empty() { 0 } else { directory.len() + 1 };
                    Rc::make_mut(&mut inherited).push((skip, Rc::new(own)));
                }
            }
            let ground = Rc::new(Ground { is_ignored, rules: inherited });
            self.local.borrow_mut().insert(directory.to_owned(), Rc::clone(&ground));
            above = Some(ground);
        }
        above.unwrap_or_default()
    }
}

/// The path of the directory that holds a path; of what lies in the root it is empty.
fn parent(relative: &str) -> &str {
    relative.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(crate) fn rules(file: &AbsolutePath) -> Rules {
    small_text(Path::new(file.as_str())).map(|text| Rules::parse(&text)).unwrap_or_default()
}

fn read_index(repository: &Repository, shared: &AbsolutePath, budget: &Budget) -> Staged {
    let file = repository.directory.join("index");
    let facts = match fs::metadata(file.as_str()) {
        Ok(facts) => facts,
        Err(error) if error.kind() == ErrorKind::NotFound => return Staged::Nothing,
        Err(_) => return Staged::Unknown,
    };
    if !facts.is_file() || facts.len() > index::LIMIT || budget.question().is_err() {
        return Staged::Unknown;
    }
    let Ok(data) = checkrein_files::read(file.as_str(), index::LIMIT) else { return Staged::Unknown };
    match Index::parse(data, object_name_length(shared)) {
        Some(index) => Staged::Index(index, (facts.mtime(), facts.mtime_nsec())),
        None => Staged::Unknown,
    }
}

/// Whether a file is as it was when it was added: by its times and length as git does, and where these cannot tell, by
/// its content.
fn compare(
    path: &AbsolutePath,
    facts: &fs::Metadata,
    tracked: &Tracked,
    written: (i64, i64),
    budget: &Budget,
) -> VersionState {
    if tracked.holding == Holding::Nothing {
        return VersionState::TrackedModified;
    }
    // Git empties the length of an entry that it could not trust; any other difference is a change.
    if u64::from(tracked.bytes) != facts.len() & u64::from(u32::MAX) && tracked.bytes != 0 {
        return VersionState::TrackedModified;
    }
    let modified = (i64::from(tracked.modified.0), i64::from(tracked.modified.1));
    let same_time = facts.mtime() == modified.0
        && (modified.1 == 0 || facts.mtime_nsec() == modified.1)
        && (tracked.changed == 0 || facts.ctime() == i64::from(tracked.changed));
    let written_later = modified < written;
    if same_time && written_later && u64::from(tracked.bytes) == facts.len() & u64::from(u32::MAX) {
        return VersionState::TrackedClean;
    }
    match object_of(path, facts, tracked.object.len(), budget) {
        Some(object) if object == tracked.object => VersionState::TrackedClean,
        Some(_) => VersionState::TrackedModified,
        None => VersionState::Unknown,
    }
}

/// The name of the object that the content of a file or symbolic link would have.
fn object_of(path: &AbsolutePath, facts: &fs::Metadata, length: usize, budget: &Budget) -> Option<Vec<u8>> {
    let content = if facts.is_symlink() {
        fs::read_link(path.as_str()).ok()?.as_os_str().as_bytes().to_vec()
    } else if facts.is_file() && facts.len() <= COMPARED {
        budget.bytes(facts.len()).ok()?;
        checkrein_files::read(path.as_str(), COMPARED).ok()?
    } else {
        return None;
    };
    let header = format!("blob {}\0", content.len());
    Some(match length {
        32 => Sha256::new().chain_update(&header).chain_update(&content).finalize().to_vec(),
        _ => Sha1::new().chain_update(&header).chain_update(&content).finalize().to_vec(),
    })
}
