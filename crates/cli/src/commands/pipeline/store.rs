//! What is kept of runs of pipelines: `pipelines/active/ID` and `pipelines/done/ID` in the state directory, a lock for each task, and the
//! chain of records that says what became of each.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_engine::error::CommandError;
use checkrein_ledger::{
    PipelineRecord, StateDirectory, pipeline_records, record_pipeline, sealed_pipelines, verify_pipelines,
};
use checkrein_pipelines::PipelineState;
use checkrein_policy::Digest;
use checkrein_protocol::Timestamp;
use checkrein_supervise::runs::file::{create_directory, hexadecimal, read, replace};
use checkrein_supervise::runs::{Insistence, Lock, RunError, RunErrorKind, RunId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const STATE: &str = "state.json";
const BACKUP: &str = "state.json.bak";
const SEAL: &str = "seal.json";
/// The text of the file, as it was when the pipeline began.
pub(super) const FILE: &str = "pipeline.yaml";

/// The runs of pipelines in a state directory.
#[derive(Debug, Clone)]
pub(super) struct PipelineStore {
    root: PathBuf,
    state: StateDirectory,
}

/// A run that was found.
#[derive(Debug)]
pub(super) struct FoundPipeline {
    pub(super) id: RunId,
    pub(super) is_done: bool,
    pub(super) state: Result<PipelineState, CommandError>,
}

/// What was in a folder when it was sealed: names and SHA-256, and the SHA-256 of that list.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PipelineSeal {
    pub(super) files: Vec<(String, String)>,
    pub(super) digest: String,
}

impl PipelineStore {
    pub(super) fn new(state: &StateDirectory) -> Self {
        Self { root: state.root().join("pipelines"), state: state.clone() }
    }

    /// Writes down what became of a run, where each record follows the one before it.
    pub(super) fn record(&self, now: u64, record: &PipelineRecord) -> Result<(), CommandError> {
        Ok(record_pipeline(&self.state, Timestamp(now), record)?)
    }

    /// What was recorded of a run, first first.
    pub(super) fn records_of(&self, id: &RunId) -> Result<Vec<PipelineRecord>, CommandError> {
        let all = pipeline_records(&self.state)?.into_iter().map(|(_, record)| record);
        Ok(all.filter(|record| record.run() == id.as_str()).collect())
    }

    pub(super) fn folder(&self, id: &RunId) -> PathBuf {
        let active = self.root.join("active").join(id.as_str());
        let done = self.root.join("done").join(id.as_str());
        if done.is_dir() && !active.is_dir() { done } else { active }
    }

    /// Takes the lock of a task of a workspace, which the kernel holds for as long as this process lives.
    pub(super) fn lock(&self, workspace: &Path, task: &str) -> Result<Lock, CommandError> {
        let place = hexadecimal(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
        let path = self.root.join("locks").join(format!("{}-{task}", place.get(..16).unwrap_or_default()));
        let taken = Lock::take(&path, &format!("the task `{task}`"), Insistence::Respect);
        let taken = taken.map_err(|error| {
            let hint = if error.kind == RunErrorKind::Busy {
                "a pipeline works on it: wait for it, or give another name with `--task`".to_owned()
            } else {
                error.hint.clone()
            };
            CommandError { hint: Some(hint), ..CommandError::from(error) }
        })?;
        Ok(taken.lock)
    }

    /// Makes the folder of a run that is new.
    pub(super) fn claim(&self, now: u64) -> Result<(RunId, PathBuf), CommandError> {
        let active = self.root.join("active");
        create_directory(&active)?;
        for more in 0..0x1_0000_u32 {
            let id = RunId::at(now / 1_000, std::process::id().wrapping_add(more));
            if self.root.join("done").join(id.as_str()).exists() {
                continue;
            }
            let folder = active.join(id.as_str());
            match fs::DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok((id, folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(CommandError::file("create", folder.display(), &error)),
            }
        }
        Err(CommandError::user("too many pipelines begin in this second", "try again"))
    }

    /// Writes what is known of a run; what was known before stays as the backup.
    pub(super) fn save(&self, state: &PipelineState) -> Result<(), CommandError> {
        let folder = self.root.join("active").join(state.id.as_str());
        let path = folder.join(STATE);
        if let Some(before) = read(&path)?
            && decode(&before, &state.id).is_ok()
        {
            replace(&folder.join(BACKUP), &before)?;
        }
        let text = serde_json::to_vec_pretty(state).map_err(io::Error::from)?;
        Ok(replace(&path, &text)?)
    }

    /// What is known of a run.
    pub(super) fn load(&self, id: &RunId) -> Result<PipelineState, CommandError> {
        let folder = self.folder(id);
        let of = |name: &str| {
            let bytes = read(&folder.join(name)).map_err(|error| error.message)?;
            decode(&bytes.ok_or_else(|| "it is missing".to_owned())?, id)
        };
        of(STATE).or_else(|why| of(BACKUP).map_err(|_| why)).map_err(|why| {
            CommandError::from(RunError::new(
                RunErrorKind::Damaged,
                format!("the state of pipeline {id} cannot be read: {why}"),
                "what its steps did is still where they worked; begin a new one with `--anew`",
            ))
        })
    }

    /// Every run, oldest first.
    pub(super) fn all(&self) -> Result<Vec<FoundPipeline>, CommandError> {
        let mut found = Vec::new();
        for (name, is_done) in [("active", false), ("done", true)] {
            let folder = self.root.join(name);
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(CommandError::file("read", folder.display(), &error)),
            };
            for entry in entries.flatten() {
                let id = entry.file_name().to_str().and_then(|name| name.parse::<RunId>().ok());
                // A name that was taken a moment ago, or by somebody who was killed right then: nothing was done yet.
                let is_begun = [STATE, BACKUP].iter().any(|name| entry.path().join(name).exists());
                if let Some(id) = id.filter(|_| is_begun) {
                    found.push(FoundPipeline { state: self.load(&id), id, is_done });
                }
            }
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// Puts a run among those that are done, from where it is not changed any more; the digest that seals it. Whoever is killed meanwhile
    /// leaves what the next call finishes.
    pub(super) fn seal(&self, id: &RunId, now: u64) -> Result<String, CommandError> {
        let (from, to) =
            (self.root.join("active").join(id.as_str()), self.root.join("done").join(id.as_str()));
        let fail = |what: &str, path: &Path| {
            let path = path.display().to_string();
            let what = what.to_owned();
            move |error: io::Error| CommandError::file(&what, path, &error)
        };
        create_directory(&self.root.join("done"))?;
        drop(fs::remove_file(from.join(BACKUP)));
        let seal = PipelineSeal::of(&from)?;
        let text = serde_json::to_vec_pretty(&seal).map_err(io::Error::from)?;
        replace(&from.join(SEAL), &text)?;
        self.record(now, &PipelineRecord::Sealed { run: id.to_string(), digest: seal.digest.clone() })?;
        for name in files(&from)? {
            let path = from.join(name);
            fs::set_permissions(&path, Permissions::from_mode(0o400)).map_err(fail("seal", &path))?;
        }
        fs::rename(&from, &to).map_err(fail("seal", &from))?;
        Ok(seal.digest)
    }

    /// What is wrong with the records themselves.
    pub(super) fn wrong_records(&self) -> Result<Vec<String>, CommandError> {
        let problems = verify_pipelines(&self.state)?.problems;
        let told = problems.into_iter().map(|problem| match problem.line {
            Some(line) => format!("line {line}: {}", problem.detail),
            None => problem.detail,
        });
        Ok(told.collect())
    }

    /// Every run that is done or was sealed, with its seal and what differs from what was sealed.
    pub(super) fn verified(&self) -> Result<Vec<(String, String, Vec<String>)>, CommandError> {
        let sealed = sealed_pipelines(&self.state)?;
        let mut names: BTreeSet<String> = sealed.keys().cloned().collect();
        names.extend(self.all()?.into_iter().filter(|found| found.is_done).map(|found| found.id.to_string()));
        let mut all = Vec::new();
        for name in names {
            let recorded = sealed.get(&name);
            let Ok(id) = name.parse::<RunId>() else { continue };
            if !self.root.join("done").join(&name).is_dir() {
                // Whoever was killed between the seal and the last step goes on with it.
                let is_kept = self.root.join("active").join(&name).is_dir();
                if let Some(recorded) = recorded.filter(|recorded| !recorded.may_be_gone && !is_kept) {
                    all.push((name, recorded.digest.clone(), vec!["it is gone".to_owned()]));
                }
                continue;
            }
            let (seal, mut wrong) = self.differences(&id)?;
            match recorded {
                None => wrong.push("no record says that it was sealed".to_owned()),
                Some(recorded) if recorded.digest != seal => {
                    wrong.push(format!("`{SEAL}` is not the one that was recorded"));
                }
                Some(_) => {}
            }
            all.push((name, seal, wrong));
        }
        Ok(all)
    }

    /// What differs in a run that is done from what was sealed; nothing where it is as it was.
    pub(super) fn differences(&self, id: &RunId) -> Result<(String, Vec<String>), CommandError> {
        let folder = self.root.join("done").join(id.as_str());
        let missing = |why: &str| Ok((String::new(), vec![format!("`{SEAL}` {why}")]));
        let Some(text) = read(&folder.join(SEAL))? else { return missing("is missing") };
        let Ok(then) = serde_json::from_slice::<PipelineSeal>(&text) else {
            return missing("cannot be read");
        };
        let now = PipelineSeal::of(&folder)?;
        let mut wrong = Vec::new();
        if then.digest != digest_of(&then.files) {
            wrong.push(format!("`{SEAL}` is not what it was"));
        }
        for (name, hash) in &then.files {
            match now.files.iter().find(|(other, _)| other == name) {
                Some((_, other)) if other == hash => {}
                Some(_) => wrong.push(format!("`{name}` is not what it was")),
                None => wrong.push(format!("`{name}` is gone")),
            }
        }
        let is_new = |name: &String| !then.files.iter().any(|(other, _)| other == name);
        wrong.extend(
            now.files.iter().filter(|(name, _)| is_new(name)).map(|(name, _)| format!("`{name}` is new")),
        );
        Ok((then.digest, wrong))
    }
}

impl PipelineSeal {
    fn of(folder: &Path) -> Result<Self, CommandError> {
        let mut list = files_with_digests(folder)?;
        list.retain(|(name, _)| name != SEAL);
        Ok(Self { digest: digest_of(&list), files: list })
    }
}

fn digest_of(files: &[(String, String)]) -> String {
    let text = files.iter().fold(String::new(), |all, (name, hash)| format!("{all}{hash}  {name}\n"));
    Digest::of(&text).to_string()
}

fn decode(bytes: &[u8], id: &RunId) -> Result<PipelineState, String> {
    let state: PipelineState = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if state.version != PipelineState::VERSION {
        return Err(format!("it is of version {}", state.version));
    }
    if state.id != *id {
        return Err(format!("it is about pipeline {}", state.id));
    }
    Ok(state)
}

/// The files below a folder, by their paths from it, sorted, each with the SHA-256 of what it holds.
pub(super) fn files_with_digests(folder: &Path) -> Result<Vec<(String, String)>, CommandError> {
    files(folder)?.into_iter().map(|name| Ok((name.clone(), hash(&folder.join(&name))?))).collect()
}

/// The files below a folder, by their paths from it, sorted.
fn files(folder: &Path) -> Result<Vec<String>, CommandError> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let path = folder.join(&below);
        let entries =
            fs::read_dir(&path).map_err(|error| CommandError::file("read", path.display(), &error))?;
        for entry in entries.flatten() {
            let name = below.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(name);
            } else {
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn hash(path: &Path) -> Result<String, CommandError> {
    let fail = |error: io::Error| CommandError::file("read", path.display(), &error);
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default())
        .open(path)
        .map_err(fail)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        let count = file.read(&mut buffer).map_err(fail)?;
        if count == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}
