//! Records that a webhook did not take: they stand aside, and go again once it takes records, or when a user asks for it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_protocol::Record;
use checkrein_vault::Sealing;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How large the file may grow, in bytes, before it is kept under another name (ours).
const LARGEST: u64 = 64 * 1024 * 1024;

/// Why a record stands aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AsideFor {
    /// The server was away, or failed, eight times in a row.
    Silence,
    /// The server refused it: it would again.
    Refusal,
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct DeadLetter {
    session: String,
    why: String,
    /// Missing in lines of older versions.
    #[serde(default = "silence")]
    aside_for: AsideFor,
    record: Json,
}

fn silence() -> AsideFor {
    AsideFor::Silence
}

/// Where such records stand.
pub(super) fn path(environment: &HostEnvironment) -> PathBuf {
    Path::new(environment.state_path.as_str()).join("plugins/dead-letters/webhook.jsonl")
}

/// Puts records of a session aside.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn put_aside(
    environment: &HostEnvironment,
    session: &str,
    records: &[(Record, Json)],
    (why, aside_for): (&str, AsideFor),
) -> io::Result<()> {
    let letter = |(_, record): &(Record, Json)| {
        Ok(DeadLetter {
            session: session.to_owned(),
            why: why.to_owned(),
            aside_for,
            record: kept(environment, record)?,
        })
    };
    let letters = records.iter().map(letter).collect::<io::Result<Vec<_>>>()?;
    append(&path(environment), letters.into_iter())
}

/// What a sealed record is bound to.
const PURPOSE: &str = "plugins/dead-letters";

/// A record as it stands aside: sealed as one text where records are.
fn kept(environment: &HostEnvironment, record: &Json) -> io::Result<Json> {
    match environment.state.vault().sealing() {
        Sealing::Off => Ok(record.clone()),
        Sealing::On => {
            let sealed = environment.state.vault().seal_text(&record.to_string(), PURPOSE);
            sealed.map(Json::String).map_err(io::Error::other)
        }
    }
}

/// The record of which this is kept; `None` where its key is not here.
fn opened(environment: &HostEnvironment, kept: &Json) -> Option<Json> {
    match kept {
        Json::String(text) => {
            serde_json::from_str(&environment.state.vault().open_text(text, PURPOSE).ok()?).ok()
        }
        record => Some(record.clone()),
    }
}

fn append(path: &Path, letters: impl Iterator<Item = DeadLetter>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|facts| facts.len() > LARGEST) {
        fs::rename(path, path.with_extension("jsonl.old"))?;
    }
    let mut text = Vec::new();
    for letter in letters {
        serde_json::to_writer(&mut text, &letter)?;
        text.push(b'\n');
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    checkrein_files::open_own(&mut options, path)?.write_all(&text)
}

/// Which of them go again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resent {
    /// Those that were not refused.
    Unanswered,
    /// All: a user asks for it.
    All,
}

/// Sends what stands aside again, session by session. `post` sends the records of one and returns whether they were taken. What is not taken
/// stands aside as before. Returns how many records were taken.
///
/// # Errors
///
/// The file cannot be read or written.
pub(super) fn send_again(
    environment: &HostEnvironment,
    which: Resent,
    mut post: impl FnMut(&str, &[Json]) -> bool,
) -> io::Result<usize> {
    let path = path(environment);
    // Whoever comes meanwhile begins a new file.
    let own = path.with_file_name(format!("webhook-{}.again", std::process::id()));
    match fs::rename(&path, &own) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        renamed => renamed?,
    }
    let text = checkrein_files::read_text(&own, LARGEST.saturating_mul(2))?;
    let mut left: Vec<DeadLetter> = Vec::new();
    let mut again: BTreeMap<String, Vec<DeadLetter>> = BTreeMap::new();
    for letter in text.lines().filter_map(|line| serde_json::from_str::<DeadLetter>(line).ok()) {
        if which == Resent::All || letter.aside_for == AsideFor::Silence {
            again.entry(letter.session.clone()).or_default().push(letter);
        } else {
            left.push(letter);
        }
    }
    let mut taken = 0;
    for (session, letters) in again {
        let (letters, sealed): (Vec<DeadLetter>, Vec<DeadLetter>) =
            letters.into_iter().partition(|letter| opened(environment, &letter.record).is_some());
        left.extend(sealed);
        let records: Vec<Json> =
            letters.iter().filter_map(|letter| opened(environment, &letter.record)).collect();
        if !records.is_empty() && post(&session, &records) {
            taken += records.len();
        } else {
            left.extend(letters);
        }
    }
    if !left.is_empty() {
        append(&path, left.into_iter())?;
    }
    fs::remove_file(&own)?;
    Ok(taken)
}
