//! All runs: active ones, and those that are done and stay as they are.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::{RunError, RunErrorKind};
use super::file::{create_directory, hexadecimal, read, replace};
use super::state::{RunId, RunSpending, RunState};

const STATE: &str = "state.json";
const BACKUP: &str = "state.json.bak";
const SEAL: &str = "seal.json";
/// One line for each time that something was spent, since the state was written.
const SPENT: &str = "spent.jsonl";

/// The runs in a state directory: `runs/active/ID` and `runs/done/ID`.
#[derive(Debug, Clone)]
pub struct Runs {
    root: PathBuf,
}

/// Which of the two folders a run lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// It can go on.
    Active,
    /// It stays as it is.
    Done,
}

/// What was wrong with a state that could be read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStateDamage {
    /// Nothing.
    None,
    /// It could not be read, for this reason; this is the one before it.
    Backup(String),
}

/// A state as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedRun {
    /// What is known of the run.
    pub state: RunState,
    /// Whether that is the last word.
    pub damage: RunStateDamage,
}

/// A run that was found.
#[derive(Debug)]
pub struct Found {
    /// Its name.
    pub id: RunId,
    /// Where it lies.
    pub whereabouts: Whereabouts,
    /// What is known of it, or why nothing is.
    pub loaded: Result<LoadedRun, RunError>,
}

/// Whether what is done is still what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Archived {
    /// It is.
    Whole,
    /// It is not; what differs.
    Changed(Vec<String>),
}

/// What an attempt has spent so far.
#[derive(Debug, Serialize, Deserialize)]
struct SpentLine {
    /// Which attempt, from 1.
    attempt: usize,
    spent: RunSpending,
    counted: RunSpending,
    session: Option<String>,
}

impl SpentLine {
    fn of(state: &RunState) -> Option<Self> {
        let attempt = state.attempts.last()?;
        let session = attempt.session.clone();
        Some(Self { attempt: state.attempts.len(), spent: attempt.spent, counted: state.counted, session })
    }

    /// Takes up what was spent after the state was written. What is torn was not written yet.
    fn take_up(folder: &Path, state: &mut RunState) -> Result<(), RunError> {
        let Some(text) = read(&folder.join(SPENT))? else { return Ok(()) };
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find_map(|line| serde_json::from_str::<Self>(line).ok());
        let number = state.attempts.len();
        if let (Some(line), Some(attempt)) = (last, state.attempts.last_mut())
            && line.attempt == number
            && line.spent.milliseconds > attempt.spent.milliseconds
        {
            attempt.spent = line.spent;
            attempt.session = line.session.or_else(|| attempt.session.take());
            state.counted = line.counted;
        }
        Ok(())
    }
}

/// What was in a folder when it was archived: names and SHA-256.
#[derive(Debug, Serialize, Deserialize)]
struct Seal {
    files: Vec<(String, String)>,
}

impl Runs {
    /// The runs in a state directory; nothing is created yet.
    pub fn new(state_directory: &Path) -> Self {
        Self { root: state_directory.join("runs") }
    }

    /// The folder of a run.
    pub fn folder(&self, id: &RunId, whereabouts: Whereabouts) -> PathBuf {
        let name = match whereabouts {
            Whereabouts::Active => "active",
            Whereabouts::Done => "done",
        };
        self.root.join(name).join(id.as_str())
    }

    /// Makes the folder of a run that is new. `None` when there is one of this name.
    pub fn claim(&self, id: &RunId) -> Result<Option<PathBuf>, RunError> {
        let folder = self.folder(id, Whereabouts::Active);
        create_directory(&self.root.join("active"))?;
        if self.folder(id, Whereabouts::Done).exists() {
            return Ok(None);
        }
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(RunError::file("create", &folder)(error)),
        }
    }

    /// Takes back a name of which nothing was ever written.
    pub fn give_up(&self, id: &RunId) {
        let folder = self.folder(id, Whereabouts::Active);
        if !folder.join(STATE).exists() {
            drop(fs::remove_file(folder.join("lock")));
            drop(fs::remove_dir(&folder));
        }
    }

    /// Writes what is known of an active run; what was known before stays as the backup.
    pub fn save(&self, state: &RunState) -> Result<(), RunError> {
        let folder = self.folder(&state.id, Whereabouts::Active);
        if !folder.is_dir() {
            return Err(sealed(&state.id));
        }
        let path = folder.join(STATE);
        // Only what can be read is worth keeping.
        if let Ok(Some(before)) = read(&path)
            && decode(&before, &state.id).is_ok()
        {
            replace(&folder.join(BACKUP), &before)?;
        }
        let text = serde_json::to_vec_pretty(state).map_err(|error| {
            RunError::new(RunErrorKind::Damaged, error.to_string(), "report this as a defect")
        })?;
        replace(&path, &text)
    }

    /// Writes down what the last attempt of a run has spent so far, as one line: much cheaper than [`Self::save`], so that hardly anything is
    /// forgotten when we are killed.
    pub fn spend(&self, state: &RunState) -> Result<(), RunError> {
        let path = self.folder(&state.id, Whereabouts::Active).join(SPENT);
        let Some(line) = SpentLine::of(state) else { return Ok(()) };
        let written = serde_json::to_string(&line).map_err(io::Error::other).and_then(|line| {
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
            file.write_all(format!("{line}\n").as_bytes())
        });
        written.map_err(RunError::file("write", &path))
    }

    /// What is known of a run.
    pub fn load(&self, id: &RunId) -> Result<(LoadedRun, Whereabouts), RunError> {
        let whereabouts = if self.folder(id, Whereabouts::Active).is_dir() {
            Whereabouts::Active
        } else if self.folder(id, Whereabouts::Done).is_dir() {
            Whereabouts::Done
        } else {
            return Err(RunError::asked(
                format!("there is no run `{id}`"),
                "`checkrein run list` lists them",
            ));
        };
        Ok((load(&self.folder(id, whereabouts), id)?, whereabouts))
    }

    /// Every run, oldest first.
    pub fn all(&self) -> Result<Vec<Found>, RunError> {
        let mut found = Vec::new();
        for whereabouts in [Whereabouts::Active, Whereabouts::Done] {
            let folder = match whereabouts {
                Whereabouts::Active => self.root.join("active"),
                Whereabouts::Done => self.root.join("done"),
            };
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(RunError::file("read", &folder)(error)),
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Some(id) = name.to_str().and_then(|name| name.parse::<RunId>().ok()) else { continue };
                // A name that was taken a moment ago, or by somebody who was killed right then.
                if !entry.path().join(STATE).exists() && !entry.path().join(BACKUP).exists() {
                    continue;
                }
                let loaded = load(&entry.path(), &id);
                found.push(Found { id, whereabouts, loaded });
            }
        }
        found.sort_by(|one, two| one.id.cmp(&two.id));
        Ok(found)
    }

    /// Puts a run among those that are done, from where it is not changed any more. Its last state is written before.
    pub fn archive(&self, id: &RunId) -> Result<(), RunError> {
        let (from, to) = (self.folder(id, Whereabouts::Active), self.folder(id, Whereabouts::Done));
        if !from.is_dir() {
            return Err(sealed(id));
        }
        create_directory(&self.root.join("done"))?;
        drop(fs::remove_file(from.join(BACKUP)));
        let names: Vec<String> =
            names(&from)?.into_iter().filter(|name| name != "lock" && name != SEAL).collect();
        let mut files = Vec::new();
        for name in names {
            let hash = hash(&from.join(&name))?;
            files.push((name, hash));
        }
        let seal = serde_json::to_vec_pretty(&Seal { files }).map_err(|error| {
            RunError::new(RunErrorKind::Damaged, error.to_string(), "report this as a defect")
        })?;
        replace(&from.join(SEAL), &seal)?;
        fs::rename(&from, &to).map_err(RunError::file("archive", &from))?;
        for name in self::names(&to)?.into_iter().filter(|name| name != "lock") {
            let path = to.join(name);
            fs::set_permissions(&path, Permissions::from_mode(0o400))
                .map_err(RunError::file("seal", &path))?;
        }
        drop(fs::remove_file(to.join("lock")));
        fs::set_permissions(&to, Permissions::from_mode(0o500)).map_err(RunError::file("seal", &to))
    }

    /// Whether a run that is done is still what it was.
    pub fn verify(&self, id: &RunId) -> Result<Archived, RunError> {
        let folder = self.folder(id, Whereabouts::Done);
        let Some(text) = read(&folder.join(SEAL))? else {
            return Ok(Archived::Changed(vec![format!("`{SEAL}` is missing")]));
        };
        let Ok(seal) = serde_json::from_slice::<Seal>(&text) else {
            return Ok(Archived::Changed(vec![format!("`{SEAL}` cannot be read")]));
        };
        let mut wrong = Vec::new();
        for (name, before) in &seal.files {
            match hash(&folder.join(name)) {
                Ok(now) if now == *before => {}
                Ok(_) => wrong.push(format!("`{name}` is not what it was")),
                Err(_) => wrong.push(format!("`{name}` cannot be read")),
            }
        }
        let known = |name: &String| name == SEAL || seal.files.iter().any(|(known, _)| known == name);
        wrong.extend(
            names(&folder)?.into_iter().filter(|name| !known(name)).map(|name| format!("`{name}` is new")),
        );
        Ok(if wrong.is_empty() { Archived::Whole } else { Archived::Changed(wrong) })
    }
}

fn load(folder: &Path, id: &RunId) -> Result<LoadedRun, RunError> {
    let of = |name: &str| {
        read(&folder.join(name)).map_err(|error| error.message).and_then(|bytes| match bytes {
            Some(bytes) => decode(&bytes, id),
            None => Err("it is missing".to_owned()),
        })
    };
    let whole = |mut state: RunState, damage| {
        SpentLine::take_up(folder, &mut state)?;
        Ok(LoadedRun { state, damage })
    };
    match of(STATE) {
        Ok(state) => whole(state, RunStateDamage::None),
        Err(why) => match of(BACKUP) {
            Ok(state) => whole(state, RunStateDamage::Backup(why)),
            Err(_) => Err(RunError::new(
                RunErrorKind::Damaged,
                format!("the state of run {id} cannot be read, and there is no backup: {why}"),
                "what the agent did is still where it worked; only the record is lost",
            )),
        },
    }
}

fn decode(bytes: &[u8], id: &RunId) -> Result<RunState, String> {
    let state: RunState = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if state.version != RunState::VERSION {
        return Err(format!("it is of version {}", state.version));
    }
    if state.id != *id {
        return Err(format!("it is about run {}", state.id));
    }
    Ok(state)
}

fn sealed(id: &RunId) -> RunError {
    RunError::asked(
        format!("run {id} is done, and what is done stays as it is"),
        "begin a new run; `checkrein run list` lists those that can go on",
    )
}

/// The names of the files in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, RunError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(RunError::file("read", folder))?.flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn hash(path: &Path) -> Result<String, RunError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let open = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let mut file = open.map_err(RunError::file("read", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        match io::Read::read(&mut file, &mut buffer) {
            Ok(0) => break,
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(RunError::file("read", path)(error)),
        }
    }
    Ok(hexadecimal(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::state::{Profile, RunAttempt, RunLimits, RunSettings, RunSpending, RunStage};

    fn state(id: &RunId) -> RunState {
        RunState {
            version: RunState::VERSION,
            id: id.clone(),
            stage: RunStage::Prepared,
            created: 1,
            written: 1,
            agent: Vec::new(),
            masked: false,
            directory: PathBuf::new(),
            workspace: PathBuf::new(),
            worktree: None,
            profile: Profile("interactive".into()),
            keeps: None,
            manner: RunSettings::default(),
            limits: RunLimits::default(),
            counted: RunSpending::default(),
            attempts: Vec::new(),
        }
    }

    fn begun() -> (tempfile::TempDir, Runs, RunState) {
        let home = tempfile::tempdir().unwrap();
        let runs = Runs::new(home.path());
        let id = RunId::at(0, 7);
        assert!(runs.claim(&id).unwrap().is_some());
        assert!(runs.claim(&id).unwrap().is_none(), "a name is given once");
        let state = state(&id);
        runs.save(&state).unwrap();
        (home, runs, state)
    }

    #[test]
    fn a_damaged_state_falls_back_to_the_one_before_it_and_says_so() {
        let (_home, runs, mut state) = begun();
        state.stage = RunStage::Started;
        runs.save(&state).unwrap();
        let path = runs.folder(&state.id, Whereabouts::Active).join(STATE);
        for damage in ["", "{", "{\"version\": 9}"] {
            fs::write(&path, damage).unwrap();
            let (loaded, _) = runs.load(&state.id).unwrap();
            assert_eq!(loaded.state.stage, RunStage::Prepared);
            assert!(matches!(loaded.damage, RunStateDamage::Backup(_)));
        }
        runs.save(&state).unwrap();
        assert_eq!(runs.load(&state.id).unwrap().0.damage, RunStateDamage::None);
        assert_eq!(load(&path.with_file_name("none"), &state.id).unwrap_err().kind, RunErrorKind::Damaged);
    }

    #[test]
    fn what_was_spent_since_the_state_was_written_is_not_forgotten() {
        let (_home, runs, mut state) = begun();
        let attempt = |at| RunAttempt { at, spent: RunSpending::default(), session: None, end: None };
        state.attempts.push(attempt(1));
        runs.save(&state).unwrap();
        let spent = RunSpending { dollars: Some(0.5), tokens: 900, iterations: 3, milliseconds: 70 };
        (state.attempts[0].spent, state.counted) = (spent, spent);
        state.attempts[0].session = Some("s".into());
        runs.spend(&state).unwrap();
        let path = runs.folder(&state.id, Whereabouts::Active).join(SPENT);
        let torn = fs::read_to_string(&path).unwrap() + "{\"attempt\":1,\"spent\":{\"dollars\":9";
        fs::write(&path, torn).unwrap();
        let loaded = runs.load(&state.id).unwrap().0.state;
        assert_eq!((loaded.spent(), loaded.counted, loaded.session()), (spent, spent, Some("s")));
        // What was spent by an attempt before is known already.
        state.attempts.push(attempt(2));
        runs.save(&state).unwrap();
        assert_eq!(runs.load(&state.id).unwrap().0.state.spent(), spent);
    }

    #[test]
    fn what_is_done_stays_as_it_is() {
        let (_home, runs, state) = begun();
        runs.archive(&state.id).unwrap();
        assert_eq!(runs.verify(&state.id).unwrap(), Archived::Whole);
        assert!(runs.save(&state).is_err());
        assert!(runs.archive(&state.id).is_err());
        assert!(runs.claim(&state.id).unwrap().is_none());
        let folder = runs.folder(&state.id, Whereabouts::Done);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(STATE))), (0o500, 0o400));
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(folder.join(STATE), Permissions::from_mode(0o600)).unwrap();
        fs::write(folder.join(STATE), "{}").unwrap();
        fs::write(folder.join("more"), "").unwrap();
        let Archived::Changed(wrong) = runs.verify(&state.id).unwrap() else { panic!("not seen") };
        assert_eq!(wrong, ["`state.json` is not what it was", "`more` is new"]);
    }
}
