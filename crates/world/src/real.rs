//! The world of this machine, as the interpreter asks for it.

use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use checkrein_facts::{
    Branches, Committed, Entry, FileFacts, FileText, GuardedPath, GuardedStart, History, HostPaths, Listing,
    Repository, Right, RunByClient, TreeDifferences, VersionState, World, guarded_places,
};
use checkrein_protocol::{AbsolutePath, Timestamp, ToolOutput, Typing};

use rustix::fs::Access;

use crate::budget::Budget;
use crate::members::members;
use crate::objects::Objects;
use crate::revision::Found;
use crate::version::Versions;

/// Everything about the environment of an action that is not asked of the file system.
#[derive(Debug, Clone)]
pub struct WorldInputs {
    /// The home directory of the user.
    pub home: AbsolutePath,
    /// Their login name, when known.
    pub user: Option<String>,
    /// The root of the workspace, see [`crate::find_workspace`].
    pub workspace: AbsolutePath,
    /// Directories for temporary files.
    pub temporary: Vec<AbsolutePath>,
    /// Paths of the guard itself.
    pub guarded: Vec<GuardedPath>,
    /// Further directories in which mutations are expected.
    pub expected: Vec<AbsolutePath>,
    /// The environment that the shell of the agent would see.
    pub variables: Arc<BTreeMap<String, String>>,
    /// What has happened in the session so far.
    pub history: History,
    /// The time of the action.
    pub now: Timestamp,
    /// Finds the program that runs a command within bounds. Asked only when that matters: the kernel has to be asked in turn.
    pub confiner: fn() -> Option<AbsolutePath>,
    /// Finds the program that masks secrets in what is piped through it.
    pub masker: fn() -> Option<AbsolutePath>,
    /// What the model reads of what a tool of the client answers.
    pub tool_output: ToolOutput,
}

/// A text that was asked for, and what was read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRead {
    /// The file.
    pub path: AbsolutePath,
    /// As what it was asked for.
    pub role: TextRole,
    /// What was read.
    pub text: FileText,
}

/// As what a text was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// As something that is run.
    Code,
    /// As something else: settings, a list of tasks, data. A program may run what stands in it, too.
    Text,
}

/// A comparison: the repository, and the names of both revisions.
type Comparison = (AbsolutePath, String, String);

/// The machine, read within bounds. One value serves one action: the first answer to a question stays the answer.
#[derive(Debug)]
pub struct RealWorld {
    place: HostPaths,
    history: History,
    now: Timestamp,
    variables: Arc<BTreeMap<String, String>>,
    budget: Budget,
    versions: Versions,
    entries: RefCell<BTreeMap<AbsolutePath, Entry>>,
    /// Device and number of the files that have more than one name, of those that were looked at.
    named_twice: RefCell<BTreeMap<AbsolutePath, (u64, u64)>>,
    /// The file of code that was read last: it is asked for by who starts it, and by who reads it.
    last_code: RefCell<Option<(AbsolutePath, FileText)>>,
    /// The texts that were asked for.
    texts: RefCell<BTreeMap<AbsolutePath, Vec<(TextRole, FileText)>>>,
    /// The symbolic links that comparisons of two revisions found to come with the second.
    links_brought: RefCell<BTreeMap<Comparison, Vec<(String, String)>>>,
    guarded: OnceCell<Rc<[GuardedPath]>>,
    confiner: LazyCell<Option<AbsolutePath>>,
    masker: LazyCell<Option<AbsolutePath>>,
    tool_output: ToolOutput,
    typing: Typing,
    run_by_client: Vec<RunByClient>,
    owned_remotes: Vec<String>,
    starts: Option<StartLookup>,
}

/// Finds out whether an agent of this name asks the guard when it is started in a directory.
type FindStart = dyn Fn(&str, &AbsolutePath) -> GuardedStart;

/// The same, kept.
struct StartLookup(Box<FindStart>);

impl std::fmt::Debug for StartLookup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StartLookup")
    }
}

impl RealWorld {
    /// A world around an action. Nothing is read yet.
    pub fn new(inputs: WorldInputs) -> Self {
        let WorldInputs {
            home,
            user,
            workspace,
            temporary,
            guarded,
            expected,
            variables,
            history,
            now,
            confiner,
            masker,
            tool_output,
        } = inputs;
        let versions = Versions::new(&home, variables.get("XDG_CONFIG_HOME").map(String::as_str));
        Self {
            place: HostPaths { home, user, workspace, temporary, guarded, expected },
            history,
            now,
            variables,
            budget: Budget::new(),
            versions,
            entries: RefCell::new(BTreeMap::new()),
            named_twice: RefCell::new(BTreeMap::new()),
            last_code: RefCell::new(None),
            texts: RefCell::new(BTreeMap::new()),
            links_brought: RefCell::default(),
            guarded: OnceCell::new(),
            confiner: LazyCell::new(confiner),
            masker: LazyCell::new(masker),
            tool_output,
            typing: Typing::Reviewed,
            run_by_client: Vec::new(),
            owned_remotes: Vec::new(),
            starts: None,
        }
    }

    /// The same world where what is typed into an open program is reviewed so.
    #[must_use]
    pub fn with_typing(self, typing: Typing) -> Self {
        Self { typing, ..self }
    }

    /// Returns the same world where the client runs the code that these files name.
    #[must_use]
    pub fn with_run_by_client(self, run_by_client: Vec<RunByClient>) -> Self {
        Self { run_by_client, ..self }
    }

    /// The same world where this finds out whether an agent asks the guard, by its name and the directory in which it is started. Asked only
    /// when a call starts one.
    #[must_use]
    pub fn with_guarded_starts(self, find: impl Fn(&str, &AbsolutePath) -> GuardedStart + 'static) -> Self {
        Self { starts: Some(StartLookup(Box::new(find))), ..self }
    }

    /// The same world where the user calls these repositories elsewhere their own.
    #[must_use]
    pub fn with_owned_remotes(mut self, remotes: Vec<String>) -> Self {
        self.owned_remotes = remotes;
        self
    }

    /// The texts that were asked for so far, by their paths; one that was read twice with the same result stands there once.
    pub fn texts_read(&self) -> Vec<TextRead> {
        let texts = self.texts.borrow();
        let of_path = |(path, read): (&AbsolutePath, &Vec<(TextRole, FileText)>)| -> Vec<TextRead> {
            let one = |(role, text): &(TextRole, FileText)| TextRead {
                path: path.clone(),
                role: *role,
                text: text.clone(),
            };
            read.iter().map(one).collect()
        };
        texts.iter().flat_map(of_path).collect()
    }

    fn note_text(&self, path: &AbsolutePath, role: TextRole, text: &FileText) {
        let mut texts = self.texts.borrow_mut();
        let read = texts.entry(path.clone()).or_default();
        if !read.iter().any(|(known, before)| *known == role && before == text) {
            read.push((role, text.clone()));
        }
    }

    fn look(&self, path: &AbsolutePath) -> Entry {
        // Read from a text with bytes that are not UTF-8: which file it names cannot be said.
        if self.budget.question().is_err() || path.as_str().contains(char::REPLACEMENT_CHARACTER) {
            return Entry::Unknown;
        }
        let facts = match fs::symlink_metadata(path.as_str()) {
            Ok(facts) => facts,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput => {
                        Entry::Missing
                    }
                    _ => Entry::Unknown,
                };
            }
        };
        let kind = facts.file_type();
        if kind.is_dir() {
            Entry::Directory
        } else if kind.is_symlink() {
            let target =
                fs::read_link(path.as_str()).ok().and_then(|target| target.to_str().map(str::to_owned));
            target.map_or(Entry::Unknown, Entry::Symlink)
        } else if kind.is_file() {
            if facts.nlink() > 1 {
                self.named_twice.borrow_mut().insert(path.clone(), (facts.dev(), facts.ino()));
            }
            let modified = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified = modified.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0);
            Entry::File(FileFacts {
                bytes: facts.len(),
                mode: facts.mode() & 0o7777,
                modified: Timestamp(modified),
            })
        } else {
            Entry::Special
        }
    }

    fn list(&self, directory: &AbsolutePath) -> Option<Vec<String>> {
        self.budget.question().ok()?;
        let mut names = Vec::new();
        for child in fs::read_dir(directory.as_str()).ok()? {
            if names.len() >= Listing::LIMIT {
                return None;
            }
            names.push(child.ok()?.file_name().into_string().ok()?);
        }
        names.sort();
        Some(names)
    }

    fn read(&self, path: &AbsolutePath) -> Option<String> {
        self.budget.question().ok()?;
        let facts = regular(path)?;
        let limit = u64::try_from(FileText::LIMIT).ok()?;
        if facts.len() > limit {
            return None;
        }
        self.budget.bytes(facts.len()).ok()?;
        // A program of the machine has zeros.
        let bytes = checkrein_files::read(path.as_str(), limit).ok().filter(|bytes| !bytes.contains(&0))?;
        Some(readable(bytes))
    }

    /// What is read of a file that is run as code. What is not read because too much was read before goes on behind nothing.
    fn read_code(&self, path: &AbsolutePath) -> FileText {
        if self.budget.question().is_err() {
            return FileText::Beginning(String::new());
        }
        let read = || {
            let facts = regular(path)?;
            let mut file = checkrein_files::open(path.as_str()).ok()?;
            let mut bytes = Vec::new();
            (&mut file).take(FIRST).read_to_end(&mut bytes).ok()?;
            // A shell looks for a zero in the first line, too: with one it is a program of the machine.
            if bytes.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(&0)) {
                return None;
            }
            let limit = u64::try_from(FileText::CODE_LIMIT).ok()?;
            let most = if facts.len() > limit { FileText::LIMIT as u64 } else { facts.len() };
            if self.budget.bytes(most).is_err() {
                return Some(FileText::Beginning(String::new()));
            }
            file.take(most.saturating_sub(FIRST)).read_to_end(&mut bytes).ok()?;
            let text = readable(bytes);
            Some(if facts.len() > limit { FileText::Beginning(text) } else { FileText::Whole(text) })
        };
        read().unwrap_or(FileText::Unknown)
    }
}

/// How many directories above a file are looked at for having been moved (ours).
const ABOVE: usize = 8;

/// When the status of a file changed last, in milliseconds.
fn status_changed(facts: &fs::Metadata) -> u64 {
    milliseconds(facts.ctime(), facts.ctime_nsec())
}

fn milliseconds(seconds: i64, nanoseconds: i64) -> u64 {
    u64::try_from(seconds.saturating_mul(1_000).saturating_add(nanoseconds / 1_000_000)).unwrap_or(0)
}

/// How much of a file is read to see whether it is code at all, in bytes (ours).
const FIRST: u64 = 512;

/// What is known of a regular file that has a length: those of the kernel are without, and may never end or block.
fn regular(path: &AbsolutePath) -> Option<fs::Metadata> {
    let mut tops = ["/proc", "/sys", "/dev"].iter().filter_map(|top| AbsolutePath::new(top));
    if tops.any(|top| path.is_within(&top)) {
        return None;
    }
    fs::metadata(path.as_str()).ok().filter(fs::Metadata::is_file)
}

/// Bytes as text: shells and interpreters run a script whatever one comment of it is encoded in.
fn readable(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into())
}

impl World for RealWorld {
    fn place(&self) -> &HostPaths {
        &self.place
    }

    fn history(&self) -> &History {
        &self.history
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn entry(&self, path: &AbsolutePath) -> Entry {
        if let Some(known) = self.entries.borrow().get(path) {
            return known.clone();
        }
        let found = self.look(path);
        self.entries.borrow_mut().insert(path.clone(), found.clone());
        found
    }

    fn children(&self, directory: &AbsolutePath) -> Listing {
        self.list(directory).map_or(Listing::Unknown, Listing::Names)
    }

    fn branches(&self, directory: &AbsolutePath) -> Option<Branches> {
        self.budget.question().ok()?;
        let mut branches = Branches::default();
        for (count, child) in fs::read_dir(directory.as_str()).ok()?.enumerate() {
            let child = child.ok().filter(|_| count < Branches::LIMIT)?;
            let kind = child.file_type().ok()?;
            if kind.is_dir() {
                branches.directories.push(child.file_name().into_string().ok()?);
            } else if kind.is_symlink() {
                branches.links.push(child.file_name().into_string().ok()?);
            }
        }
        branches.directories.sort();
        branches.links.sort();
        Some(branches)
    }

    fn text(&self, path: &AbsolutePath) -> FileText {
        let found = self.read(path).map_or(FileText::Unknown, FileText::Whole);
        self.note_text(path, TextRole::Text, &found);
        found
    }

    fn code(&self, path: &AbsolutePath) -> FileText {
        if let Some((_, known)) = self.last_code.borrow().as_ref().filter(|(known, _)| known == path) {
            return known.clone();
        }
        let found = self.read_code(path);
        self.note_text(path, TextRole::Code, &found);
        self.last_code.replace(Some((path.clone(), found.clone())));
        found
    }

    fn repository(&self, path: &AbsolutePath) -> Option<Repository> {
        self.versions.repository(path, &self.budget)
    }

    fn holds_tracked(&self, path: &AbsolutePath) -> bool {
        self.versions.holds_tracked(path, &self.budget)
    }

    fn version(&self, path: &AbsolutePath) -> VersionState {
        self.versions.state(path, &self.budget)
    }

    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed {
        if revision.is_empty() {
            return self.versions.staged(repository, path, &self.budget);
        }
        let Some(objects) = Objects::open(repository, &self.budget) else { return Committed::NoRevision };
        match objects.commit(revision) {
            Found::Commit(commit) => objects.at(&commit, path),
            Found::None => Committed::NoRevision,
            Found::Unknown => Committed::Unknown,
        }
    }

    fn differences(&self, repository: &AbsolutePath, from: &str, to: &str) -> TreeDifferences {
        let Some(objects) = Objects::open(repository, &self.budget) else {
            return TreeDifferences::NoRevision;
        };
        let found = if from.is_empty() {
            match self.versions.all_staged(repository, &self.budget) {
                Some(index) => objects.differences_from_index(&index, to),
                None => TreeDifferences::Unknown,
            }
        } else {
            objects.differences(from, to)
        };
        let links = objects.links();
        if !links.is_empty() {
            let key = (repository.clone(), from.to_owned(), to.to_owned());
            self.links_brought.borrow_mut().insert(key, links);
        }
        found
    }

    fn links_brought(&self, repository: &AbsolutePath, from: &str, to: &str) -> Vec<(String, String)> {
        let key = (repository.clone(), from.to_owned(), to.to_owned());
        self.links_brought.borrow().get(&key).cloned().unwrap_or_default()
    }

    fn committed_text(&self, repository: &AbsolutePath, revision: &str, path: &str) -> FileText {
        let text = || {
            let objects = Objects::open(repository, &self.budget)?;
            let Found::Commit(commit) = objects.commit(revision) else { return None };
            let Committed::Object(name) = objects.at(&commit, path) else { return None };
            match objects.read(&name)? {
                ("blob", text) if text.len() <= FileText::LIMIT => String::from_utf8(text).ok(),
                _ => None,
            }
        };
        text().map_or(FileText::Unknown, FileText::Whole)
    }

    fn changed_since(&self, path: &AbsolutePath, moment: Timestamp) -> Option<bool> {
        self.budget.question().ok()?;
        // The file itself, and where a link leads.
        let own = fs::symlink_metadata(path.as_str()).ok()?;
        let led_to = if own.is_symlink() { fs::metadata(path.as_str()).ok() } else { None };
        if std::iter::once(&own).chain(&led_to).any(|facts| status_changed(facts) > moment.0) {
            return Some(true);
        }
        // A directory that was moved keeps the times of what is in it: its own status changed, and the names in it did not.
        let is_top = |folder: &AbsolutePath| {
            [&self.place.home, &self.place.workspace].contains(&folder) || folder.parent().is_none()
        };
        let above =
            std::iter::successors(path.parent(), AbsolutePath::parent).take_while(|folder| !is_top(folder));
        let was_moved = |folder: AbsolutePath| {
            fs::symlink_metadata(folder.as_str()).is_ok_and(|facts| {
                let written = milliseconds(facts.mtime(), facts.mtime_nsec());
                status_changed(&facts) > moment.0 && written <= moment.0
            })
        };
        Some(above.take(ABOVE).any(was_moved))
    }

    fn members(&self, archive: &AbsolutePath) -> Listing {
        members(archive, &self.budget)
    }

    fn guarded(&self) -> Rc<[GuardedPath]> {
        Rc::clone(self.guarded.get_or_init(|| guarded_places(&self.place, &|path| self.entry(path))))
    }

    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool {
        let identity = |path: &AbsolutePath| {
            self.entry(path);
            self.named_twice.borrow().get(path).copied()
        };
        identity(path).is_some_and(|own| identity(other) == Some(own))
    }

    fn allows(&self, path: &AbsolutePath, right: Right) -> bool {
        let access = match right {
            Right::Read => Access::READ_OK,
            Right::Write => Access::WRITE_OK,
            Right::Enter => Access::EXEC_OK,
        };
        self.budget.question().is_ok() && rustix::fs::access(path.as_str(), access).is_ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn variable_names(&self) -> Vec<String> {
        let is_set = |(name, value): (&String, &String)| (!value.is_empty()).then(|| name.clone());
        self.variables.iter().filter_map(is_set).collect()
    }

    fn confiner(&self) -> Option<AbsolutePath> {
        self.confiner.clone()
    }

    fn masker(&self) -> Option<AbsolutePath> {
        self.masker.clone()
    }

    fn tool_output(&self) -> ToolOutput {
        self.tool_output
    }

    fn typing(&self) -> Typing {
        self.typing
    }

    fn run_by_client(&self) -> Vec<RunByClient> {
        self.run_by_client.clone()
    }

    fn guarded_start(&self, program: &str, directory: &AbsolutePath) -> GuardedStart {
        self.starts.as_ref().map_or(GuardedStart::Unknown, |starts| (starts.0)(program, directory))
    }

    fn owned_remotes(&self) -> Vec<String> {
        self.owned_remotes.clone()
    }
}
