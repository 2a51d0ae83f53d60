//! The files of change records: one for the record, one for each step, in the state directory, which the agent cannot write.
//!
//! **Invariants.** Each file is written once and sealed for its name: what somebody else puts there counts for nothing. Only regular files
//! within bounds are read, and no link is followed. Of all that try to use an approval one makes the file that says so.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use checkrein_policy::Digest;
use checkrein_protocol::{AbsolutePath, ChangeId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::record::{ChangeRecord, ChangeState, ChangeStep, OpenedChange};
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::retention::Expired;
use crate::seal::{BLANK, Sealed, is_sealed, sealed};

/// The greatest number of files in the folder (ours).
const MOST: usize = 4000;
/// The greatest length of one file, in bytes (ours).
const LARGEST: u64 = 512 * 1024;
/// How many digits of the digest of its command begin the name of a change (ours).
const DIGITS: usize = 6;

const ENDING: &str = ".json";

/// What stands in a file.
#[derive(Debug, Serialize, Deserialize)]
struct SealedFile<T> {
    #[serde(flatten)]
    says: T,
    seal: String,
}

/// All changes, oldest first; those of which the record is damaged are left out, as they let nothing pass.
///
/// # Errors
///
/// The folder cannot be read.
pub fn all(environment: &HostEnvironment) -> Result<Vec<OpenedChange>, CommandError> {
    let files = names(environment)?;
    let mut found: Vec<OpenedChange> =
        files.iter().filter_map(|file| opened(environment, file, &files)).collect();
    found.sort_by_key(|change| (change.record.at, change.record.id.clone()));
    Ok(found)
}

/// The changes of which nothing will be done any more, and nothing was since: closed ones, and those of which the command never ran.
///
/// # Errors
///
/// The folder cannot be read.
pub(crate) fn expired(environment: &HostEnvironment, oldest: Timestamp) -> io::Result<Vec<Expired>> {
    let all = all(environment).map_err(|error| io::Error::other(error.message))?;
    let files = names(environment).map_err(|error| io::Error::other(error.message))?;
    let now = environment.now();
    let is_over = |change: &OpenedChange| match change.state(now) {
        ChangeState::Closed | ChangeState::Waiting | ChangeState::Expired => true,
        ChangeState::Approved(_)
        | ChangeState::Running
        | ChangeState::Unverified
        | ChangeState::Verified
        | ChangeState::Failed
        | ChangeState::RolledBack => false,
    };
    let touched = |change: &OpenedChange| {
        change.steps.iter().map(ChangeStep::at).fold(change.record.at, Timestamp::max)
    };
    let going = all.iter().filter(|change| is_over(change) && touched(change) < oldest);
    Ok(going
        .map(|change| {
            let id = change.record.id.as_str();
            let own = files.iter().filter(|file| id_of(file.strip_suffix(ENDING).unwrap_or(file)) == id);
            let paths = own.map(|file| PathBuf::from(folder(environment).join(file).as_str())).collect();
            Expired { name: id.to_owned(), at: touched(change), paths }
        })
        .collect())
}

/// The change of exactly this name.
pub fn one(environment: &HostEnvironment, id: &ChangeId) -> Option<OpenedChange> {
    let files = names(environment).ok()?;
    opened(environment, &format!("{}{ENDING}", id.as_str()), &files)
}

/// The changes whose command has this digest.
pub(super) fn of_command(environment: &HostEnvironment, digest: &str) -> Vec<OpenedChange> {
    let files = names(environment).unwrap_or_default();
    let start = format!("{}-", digits(digest));
    let meant = files.iter().filter(|file| file.starts_with(&start));
    meant.filter_map(|file| opened(environment, file, &files)).collect()
}

/// A name for a change of this command that none has.
pub(super) fn fresh_id(environment: &HostEnvironment, digest: &str) -> Result<ChangeId, CommandError> {
    let files = names(environment)?;
    if files.len() >= MOST {
        return Err(CommandError::user(
            format!("there are {MOST} files in `{}`, and no more are kept", folder(environment)),
            "`checkrein change list` shows the changes; remove the files of old ones",
        ));
    }
    let taken = |id: &str| files.iter().any(|file| id_of(file) == id);
    let seed = environment.now().0 ^ u64::from(std::process::id()).rotate_left(20);
    let number = |step: u64| Digest::of(&format!("{digest} {seed} {step}")).to_string();
    let id = (0..64_u64).map(|step| {
        let random = number(step);
        let random = random.strip_prefix("sha256:").unwrap_or(&random);
        format!("{}-{}", digits(digest), random.get(..4).unwrap_or("0000"))
    });
    id.into_iter().find(|id| !taken(id)).map(ChangeId).ok_or_else(|| {
        CommandError::user("no name is free for another change of this command", "close and remove old ones")
    })
}

/// Writes a change down.
pub(super) fn write(environment: &HostEnvironment, record: &ChangeRecord) -> Result<(), CommandError> {
    write_once(environment, record.id.as_str(), record)
}

/// Writes down that something was done about a change.
///
/// # Errors
///
/// It is written down already, or cannot be.
pub fn add(environment: &HostEnvironment, id: &ChangeId, step: &ChangeStep) -> Result<(), CommandError> {
    write_once(environment, &step_name(id, step), step)
}

/// Takes back that a call was let pass: it did not run.
pub(super) fn unpass(environment: &HostEnvironment, id: &ChangeId) {
    let path = folder(environment).join(&format!("{}.passed{ENDING}", id.as_str()));
    if let Err(error) = fs::remove_file(path.as_str()) {
        environment.diagnostics.add(format!("`{path}` is not removed: {error}"));
    }
}

/// What happens once has a name without its time, so that a second one finds it there.
fn step_name(id: &ChangeId, step: &ChangeStep) -> String {
    let (id, word) = (id.as_str(), step.word());
    match step {
        ChangeStep::Passed { .. } | ChangeStep::Ran { .. } | ChangeStep::Closed { .. } => {
            format!("{id}.{word}")
        }
        ChangeStep::Approved { at, .. }
        | ChangeStep::Verified { at, .. }
        | ChangeStep::RolledBack { at, .. } => format!("{id}.{word}-{}", at.0),
    }
}

fn opened(environment: &HostEnvironment, file: &str, files: &[String]) -> Option<OpenedChange> {
    let name = file.strip_suffix(ENDING)?;
    if name.contains('.') {
        return None;
    }
    let (record, text): (ChangeRecord, String) = read(environment, name)?;
    if record.id.as_str() != name {
        return None;
    }
    let start = format!("{name}.");
    let own = files.iter().filter(|file| file.starts_with(&start));
    let steps = own.filter_map(|file| {
        let name = file.strip_suffix(ENDING)?;
        match read::<ChangeStep>(environment, name) {
            Some((step, _)) => Some((name.to_owned(), step)),
            // Whoever damages it must not make the approval good for another call.
            None if name.ends_with(".passed") => Some((name.to_owned(), damaged_pass())),
            None => None,
        }
    });
    let mut steps: Vec<(String, ChangeStep)> = steps.collect();
    steps.sort_by_key(|(name, step)| (step.at(), order(step), name.clone()));
    let steps = steps.into_iter().map(|(_, step)| step).collect();
    Some(OpenedChange { digest: Digest::of(&text).to_string(), record, steps })
}

/// In which order steps of the same moment come.
fn order(step: &ChangeStep) -> u8 {
    match step {
        ChangeStep::Approved { .. } => 0,
        ChangeStep::Passed { .. } => 1,
        ChangeStep::Ran { .. } => 2,
        ChangeStep::Verified { .. } => 3,
        ChangeStep::RolledBack { .. } => 4,
        ChangeStep::Closed { .. } => 5,
    }
}

fn damaged_pass() -> ChangeStep {
    use checkrein_protocol::{ActionId, Timestamp};
    // Behind every approval.
    ChangeStep::Passed { at: Timestamp(u64::MAX), session: String::new(), action: ActionId(String::new()) }
}

fn read<T: DeserializeOwned>(environment: &HostEnvironment, name: &str) -> Option<(T, String)> {
    let path = folder(environment).join(&format!("{name}{ENDING}"));
    let facts = fs::symlink_metadata(path.as_str()).ok()?;
    if !facts.is_file() || facts.nlink() > 1 {
        return None;
    }
    let text = checkrein_files::read_text(path.as_str(), LARGEST).ok()?;
    let SealedFile { says, seal } = serde_json::from_str(&text).ok()?;
    is_sealed(environment, Sealed::Change, name, &text, &seal).then_some((says, text))
}

fn write_once<T: Serialize>(environment: &HostEnvironment, name: &str, says: &T) -> Result<(), CommandError> {
    let folder = folder(environment);
    let fail = |error: &std::io::Error| CommandError::file("write a file in", &folder, error);
    let defect = |error: serde_json::Error| CommandError::user(error.to_string(), "report this as a defect");
    let text = serde_json::to_string_pretty(&SealedFile { says, seal: BLANK.to_owned() }).map_err(defect)?;
    let text = sealed(environment, Sealed::Change, name, &text).map_err(|error| fail(&error))?;
    if text.len() as u64 > LARGEST {
        return Err(CommandError::user(
            "the change is too long to be kept",
            "put the command into a script, and name that",
        ));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder.as_str()).map_err(|error| fail(&error))?;
    let path = folder.join(&format!("{name}{ENDING}"));
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path.as_str());
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CommandError::user(
            format!("`{path}` is there already: this was done before"),
            "`checkrein change list` shows how it stands",
        ),
        _ => fail(&error),
    })
}

/// The names of the files, sorted. A folder that is a link or no folder holds none.
fn names(environment: &HostEnvironment) -> Result<Vec<String>, CommandError> {
    let folder = folder(environment);
    let fail = |error: &std::io::Error| CommandError::file("read", &folder, error);
    match fs::symlink_metadata(folder.as_str()) {
        Ok(facts) if facts.is_dir() => {}
        Ok(_) => {
            return Err(CommandError::user(
                format!("`{folder}` is not a directory, so that no change counts"),
                "look at what stands there, and remove it",
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(&error)),
    }
    let entries = fs::read_dir(folder.as_str()).map_err(|error| fail(&error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ENDING)).take(MOST).collect();
    names.sort();
    Ok(names)
}

fn id_of(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

fn digits(digest: &str) -> &str {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
    digits.get(..DIGITS).unwrap_or(digits)
}

fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("changes")
}
