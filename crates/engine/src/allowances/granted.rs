//! The files of allowances: one each, in the state directory, which the agent cannot write.
//!
//! **Invariants.** Only regular files within bounds are read, and no link is followed. The use of an allowance for once is that its file is
//! renamed, so that of all that try one has it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use checkrein_protocol::{AbsolutePath, CodeRecord, Effect, Timestamp};
use serde::{Deserialize, Serialize};

use super::{ASKED_AGAIN, WAITS};
use crate::config_files::write_private;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::seal::{BLANK, Sealed, is_sealed, sealed};

/// The greatest number of files in the folder of allowances (ours).
pub const MOST: usize = 1000;
/// The greatest length of the file of an allowance, in bytes (ours): one effect or file of code takes some hundred.
const LARGEST: u64 = 512 * 1024;
/// The same where it is encrypted, as hexadecimal digits.
const LARGEST_KEPT: u64 = 2 * LARGEST + 4096;
/// The greatest number of allowances for one text of a call that are looked at (ours).
const FOR_ONE_TEXT: usize = 64;
/// For how long what is used up is listed, in milliseconds (ours).
const LISTED: u64 = 7 * 24 * 60 * 60 * 1000;
/// How far in the future an allowance may be of, in milliseconds (ours): clocks are set.
const AHEAD: u64 = 5 * 60 * 1000;

const GIVEN: &str = ".json";
const USED: &str = ".used";

/// For how long something is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowedFor {
    /// For one call, within an hour.
    Once,
    /// For the rest of a session, by the name of its folder.
    Session(String),
    /// Until it is forgotten.
    Always,
}

/// Something that a user allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The digest of the call, without where it runs.
    pub digest: String,
    /// Where it runs; with `is_below` there and anywhere below.
    pub directory: AbsolutePath,
    /// Whether it holds below that directory too.
    pub is_below: bool,
    /// For how long.
    pub span: AllowedFor,
    /// When it was given.
    pub at: Timestamp,
    /// The call in words, masked.
    pub words: String,
    /// What it would have done when it was allowed, masked; a call that would do anything else is another one.
    pub effects: Vec<Effect>,
    /// The files of code that it ran when it was allowed.
    pub code: Vec<CodeRecord>,
}

/// What stands in the file of an allowance. Only what is sealed for this file counts: somebody else may have written there, or moved it.
#[derive(Debug, Serialize, Deserialize)]
struct AllowanceFile {
    #[serde(flatten)]
    allowance: Allowance,
    seal: String,
}

/// A file of the folder of allowances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The name under which it can be taken back.
    pub name: String,
    /// How it stands with it.
    pub state: GrantedState,
    /// What it says; `None` where it is damaged.
    pub allowance: Option<Allowance>,
}

/// How it stands with an allowance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantedState {
    /// It waits for its one call.
    Waiting,
    /// It holds for a session, by the name of its folder.
    ForSession(String),
    /// It holds until it is forgotten.
    Lasting,
    /// Its call came, at this time.
    Used(Timestamp),
    /// Its call did not come in time.
    Expired,
    /// It cannot be read, for this reason, and allows nothing.
    Damaged(String),
}

/// All allowances, oldest first, and those that are damaged.
pub fn all(environment: &HostEnvironment) -> Result<Vec<Granted>, CommandError> {
    let now = environment.now();
    let mut found: Vec<Granted> =
        names(environment)?.into_iter().map(|name| granted(environment, &name, now)).collect();
    found.sort_by_key(|one| (one.allowance.as_ref().map(|allowance| allowance.at), one.name.clone()));
    Ok(found)
}

/// Writes an allowance down; its name.
pub fn give(environment: &HostEnvironment, allowance: &Allowance) -> Result<String, CommandError> {
    forget_used(environment);
    if names(environment)?.len() >= MOST {
        return Err(CommandError::user(
            format!("{MOST} calls are allowed already, and no more are kept"),
            "`checkrein allow --list` shows them, `checkrein allow --forget NAME` takes one back",
        ));
    }
    let name = format!("{}-{}", digits(&allowance.digest), allowance.at.0);
    let defect = |error: serde_json::Error| CommandError::user(error.to_string(), "report this as a defect");
    let file = AllowanceFile { allowance: allowance.clone(), seal: BLANK.to_owned() };
    let text = serde_json::to_string_pretty(&file).map_err(defect)?;
    let key = |error: std::io::Error| CommandError::file("seal a file in", folder(environment), &error);
    let text = sealed(environment, Sealed::Allowance, &name, &text).map_err(key)?;
    if text.len() as u64 > LARGEST {
        return Err(CommandError::user(
            "the call is too long to be allowed",
            "run it yourself, or have the agent put it into a script",
        ));
    }
    let vault = environment.state.vault();
    let text = vault.seal_text(&text, &purpose(&name)).map_err(std::io::Error::other).map_err(key)?;
    write_private(&folder(environment).join(&format!("{name}{GIVEN}")), text.as_bytes())?;
    Ok(name)
}

/// Forgets an allowance, also one that is damaged; whether there was one of this name.
pub fn forget(environment: &HostEnvironment, name: &str) -> Result<bool, CommandError> {
    // Only what is listed has a name: a path is none.
    if !names(environment)?.iter().any(|file| of_file(file) == name) {
        return Ok(false);
    }
    let mut is_gone = false;
    for file in names(environment)?.iter().filter(|file| of_file(file) == name) {
        let path = folder(environment).join(file);
        let is_folder = fs::symlink_metadata(path.as_str()).is_ok_and(|facts| facts.is_dir());
        let removed = if is_folder { fs::remove_dir(path.as_str()) } else { fs::remove_file(path.as_str()) };
        match removed {
            Ok(()) => is_gone = true,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(CommandError::file("remove", &path, &error)),
        }
    }
    Ok(is_gone)
}

/// The allowances for a text of a call that wait or hold, with the names of their files. What cannot be read allows nothing.
pub(super) fn standing(
    environment: &HostEnvironment,
    digest: &str,
    now: Timestamp,
) -> Vec<(String, Allowance)> {
    of_text(environment, digest, GIVEN)
        .filter(|(_, allowance)| match &allowance.span {
            AllowedFor::Once => now.0.saturating_sub(allowance.at.0) <= WAITS,
            AllowedFor::Session(_) | AllowedFor::Always => true,
        })
        .filter(|(_, allowance)| allowance.at.0 <= now.0.saturating_add(AHEAD))
        .collect()
}

/// Those for once that were used up so short a time ago that the client may still ask about the call.
pub(super) fn just_used(environment: &HostEnvironment, digest: &str, now: Timestamp) -> Vec<Allowance> {
    let is_new = |file: &str| used_at(file).is_some_and(|then| now.0.saturating_sub(then.0) <= ASKED_AGAIN);
    of_text(environment, digest, USED)
        .filter(|(file, _)| is_new(file))
        .map(|(_, allowance)| allowance)
        .collect()
}

/// Uses an allowance up: of all that try, one succeeds.
pub(super) fn is_used_now(environment: &HostEnvironment, file: &str, now: Timestamp) -> bool {
    let folder = folder(environment);
    let to = format!("{}-{}{USED}", of_file(file), now.0);
    fs::rename(folder.join(file).as_str(), folder.join(&to).as_str()).is_ok()
}

fn of_text<'a>(
    environment: &'a HostEnvironment,
    digest: &'a str,
    ending: &'a str,
) -> impl Iterator<Item = (String, Allowance)> + 'a {
    let start = format!("{}-", digits(digest));
    let files = names(environment).unwrap_or_default();
    let used: Vec<String> =
        files.iter().filter(|file| file.ends_with(USED)).map(|file| of_file(file).to_owned()).collect();
    // What was used up is not there a second time, whoever put it back.
    let is_back = move |file: &String| ending == GIVEN && used.iter().any(|name| name == of_file(file));
    let meant = files.into_iter().filter(move |file| file.starts_with(&start) && file.ends_with(ending));
    let meant = meant.filter(move |file| !is_back(file));
    meant
        .take(FOR_ONE_TEXT)
        .filter_map(|file| {
            let allowance = read(environment, &file).ok()?;
            Some((file, allowance))
        })
        .filter(move |(_, allowance)| allowance.digest == digest)
}

/// The names of the files, sorted. A folder that is a link or no folder holds none.
fn names(environment: &HostEnvironment) -> Result<Vec<String>, CommandError> {
    let folder = folder(environment);
    let fail = |error: &std::io::Error| CommandError::file("read", &folder, error);
    match fs::symlink_metadata(folder.as_str()) {
        Ok(facts) if facts.is_dir() => {}
        Ok(_) => {
            return Err(CommandError::user(
                format!("`{folder}` is not a directory, so that nothing is allowed"),
                "look at what stands there, and remove it",
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(&error)),
    }
    let entries = fs::read_dir(folder.as_str()).map_err(|error| fail(&error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_one = |name: &String| name.ends_with(GIVEN) || name.ends_with(USED);
    let mut names: Vec<String> = names.filter(is_one).take(MOST).collect();
    names.sort();
    Ok(names)
}

fn granted(environment: &HostEnvironment, file: &str, now: Timestamp) -> Granted {
    let name = of_file(file).to_owned();
    let allowance = match read(environment, file) {
        Ok(allowance) => allowance,
        Err(reason) => return Granted { name, state: GrantedState::Damaged(reason), allowance: None },
    };
    let state = match (&allowance.span, file.ends_with(USED)) {
        (_, true) => GrantedState::Used(used_at(file).unwrap_or(allowance.at)),
        _ if allowance.at.0 > now.0.saturating_add(AHEAD) => {
            GrantedState::Damaged("it is of a time that has not come yet".to_owned())
        }
        (AllowedFor::Once, false) if now.0.saturating_sub(allowance.at.0) > WAITS => GrantedState::Expired,
        (AllowedFor::Once, false) => GrantedState::Waiting,
        (AllowedFor::Session(session), false) => GrantedState::ForSession(session.clone()),
        (AllowedFor::Always, false) => GrantedState::Lasting,
    };
    Granted { name, state, allowance: Some(allowance) }
}

/// What an allowance of this name is encrypted for, where records are.
fn purpose(name: &str) -> String {
    format!("allowances/{name}")
}

/// What a file of an allowance says; why it says nothing otherwise.
fn read(environment: &HostEnvironment, file: &str) -> Result<Allowance, String> {
    let path = folder(environment).join(file);
    let facts = fs::symlink_metadata(path.as_str()).map_err(|error| error.to_string())?;
    if !facts.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if facts.nlink() > 1 {
        return Err("it has a second name elsewhere".to_owned());
    }
    let text = checkrein_files::read_text(path.as_str(), LARGEST_KEPT).map_err(|error| error.to_string())?;
    let text = environment.state.vault().open_text(&text, &purpose(of_file(file)));
    let text = text.map_err(|error| error.to_string())?;
    let AllowanceFile { allowance, seal } = serde_json::from_str(&text)
        .map_err(|_| "it is not complete, or an earlier version wrote it".to_owned())?;
    if !is_sealed(environment, Sealed::Allowance, of_file(file), &text, &seal) {
        return Err("it is not sealed as one that a user gave".to_owned());
    }
    Ok(allowance)
}

/// Removes what was used up, or expired, so long ago that nobody asks about it any more.
fn forget_used(environment: &HostEnvironment) {
    let now = environment.now();
    let is_old = |since: u64| now.0.saturating_sub(since) > LISTED;
    for file in names(environment).unwrap_or_default() {
        let one = granted(environment, &file, now);
        let is_done = match (&one.state, &one.allowance) {
            (GrantedState::Used(at), _) => is_old(at.0),
            (GrantedState::Expired, Some(allowance)) => is_old(allowance.at.0),
            _ => false,
        };
        if is_done {
            // What stays is looked at again next time.
            drop(fs::remove_file(folder(environment).join(&file).as_str()));
        }
    }
}

/// The name of an allowance, by its file: of one that was used, without when.
fn of_file(file: &str) -> &str {
    match file.strip_suffix(USED) {
        Some(used) => used.rsplit_once('-').map_or(used, |(name, _)| name),
        None => file.strip_suffix(GIVEN).unwrap_or(file),
    }
}

fn used_at(file: &str) -> Option<Timestamp> {
    let (_, at) = file.strip_suffix(USED)?.rsplit_once('-')?;
    at.parse().ok().map(Timestamp)
}

/// The first digits of a digest, by which the files of its allowances are found.
fn digits(digest: &str) -> &str {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
    digits.get(..8).unwrap_or(digits)
}

fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("allowed")
}
