//! What earlier work on a workspace failed at, and why, for whoever is given the same goal again.
//!
//! A stop leaves a lesson, as does a pipeline that ended without success: one small file each, a few dozen for a workspace, so that a prompt costs
//! the reading of a folder. What a user deletes there is forgotten.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use checkrein_files::Forced;
use checkrein_ledger::{last, mask::mask_text};
use checkrein_policy::{Config, Digest, Mode};
use checkrein_protocol::{RecordBody, Timestamp};
use checkrein_session::SessionLedger;
use checkrein_session::recall::Goal;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::environment::HostEnvironment;
use crate::retention::Expired;
use crate::text::{cut, plain};

/// The folder of all of them.
const FOLDER: &str = "lessons";
/// With how many digits a moment is written in the name of one, in milliseconds since 1970.
const MOMENT: usize = 16;
/// With how many digits a text is (ours).
const NAME: usize = 32;
/// How many lessons of a workspace are kept (ours).
const KEPT: usize = 48;
/// How long the texts of one are, in characters (ours).
const GOAL: usize = 600;
const TEXT: usize = 300;
/// How large a file of them may be, in bytes (ours): three texts of that length in any script, and room.
const LARGEST: u64 = 16 << 10;
/// Among how many of the last records of a session it is looked for whether it heard of a lesson (ours).
const RECORDS: usize = 400;
/// What a sealed lesson is bound to.
const SEALED_FOR: &[u8] = b"lesson";
/// The record that says so.
const TOLD: &str = "checkrein.earlier_failure";

/// One thing that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// When it ended.
    pub at: Timestamp,
    /// What was wanted.
    pub goal: String,
    /// How it ended, in a clause.
    pub end: String,
    /// What it came from, in a clause; empty where nobody knows.
    pub cause: String,
    /// The command that tells more.
    pub more: String,
    /// The session that failed, by the name of its folder; empty where it was none.
    pub session: String,
}

/// Keeps a lesson of a workspace; its texts are masked and cut. The oldest beyond what is kept go.
///
/// # Errors
/// What the file system says when it cannot be written.
pub fn keep(environment: &HostEnvironment, workspace: &str, lesson: Lesson) -> io::Result<()> {
    if !Goal::of(&lesson.goal).is_distinctive() {
        return Ok(());
    }
    let key = environment.state.mask_key().map_err(io::Error::other)?;
    let short = |text: &str, most: usize| in_one_line(&mask_text(text, &key), most);
    let lesson = Lesson {
        goal: short(&lesson.goal, GOAL),
        end: short(&lesson.end, TEXT),
        cause: short(&lesson.cause, TEXT),
        ..lesson
    };
    let place = place(environment, workspace);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
    let text = serde_json::to_vec(&lesson).map_err(io::Error::other)?;
    let text = environment.state.vault().seal(&text, SEALED_FOR).map_err(io::Error::other)?;
    // The name begins with the time, so that the oldest come first.
    let name = format!("{:0width$}-{}.json", lesson.at.0, hexadecimal(&lesson.more), width = MOMENT);
    checkrein_files::replace(&place.join(name), &text, 0o600, Forced::Nothing)?;
    let names = names(&place)?;
    let surplus = names.len().saturating_sub(KEPT);
    remove(&place, names.iter().take(surplus))
}

/// What is older than that, of all workspaces.
pub(crate) fn expired(environment: &HostEnvironment, oldest: Timestamp) -> io::Result<Vec<Expired>> {
    let workspaces = match fs::read_dir(environment.state.root().join(FOLDER)) {
        Ok(workspaces) => workspaces,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for workspace in workspaces {
        let place = workspace?.path();
        for name in names(&place)? {
            let moment = name.get(..MOMENT).and_then(|digits| digits.parse::<u64>().ok());
            let Some(at) = moment.map(Timestamp).filter(|at| *at < oldest) else { continue };
            found.push(Expired { at, paths: vec![place.join(&name)], name });
        }
    }
    Ok(found)
}

/// What a session that is given this goal is told of an earlier one that failed at it; once for each lesson. `None` where nothing fits.
pub(crate) fn told(
    environment: &HostEnvironment,
    config: &Config,
    workspace: &str,
    ledger: &SessionLedger,
    goal: &str,
) -> Option<String> {
    let hints = config.mode == Mode::Enforce
        && config.interventions.enabled
        && config.interventions.soft_correction.enabled;
    if !hints {
        return None;
    }
    let lesson = like(environment, config, workspace, ledger.folder().as_str(), goal)?;
    let is_record = |body: &RecordBody| matches!(body, RecordBody::Event { name, fields } if name == TOLD && fields["more"] == lesson.more.as_str());
    if last(&ledger.path(), RECORDS).is_ok_and(|records| records.iter().any(|record| is_record(&record.body)))
    {
        return None;
    }
    let now = environment.now();
    let fields = json!({ "goal": lesson.goal, "more": lesson.more, "at": lesson.at });
    let body = RecordBody::Event { name: TOLD.to_owned(), fields };
    if let Err(error) = ledger.append(now, body, checkrein_ledger::Durability::Plain) {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
    Some(lesson.in_words(now))
}

impl Lesson {
    fn in_words(&self, now: Timestamp) -> String {
        // A cause that repeats the end says nothing.
        let is_said = self.cause.is_empty() || self.end.ends_with(&self.cause);
        let cause = if is_said { String::new() } else { format!(" Cause: {}.", self.cause) };
        let days = now.0.saturating_sub(self.at.0) / (24 * 60 * 60 * 1000);
        let when = match days {
            0 => "Today".to_owned(),
            1 => "Yesterday".to_owned(),
            days => format!("{days} days ago"),
        };
        format!(
            "checkrein: {when}, work on a goal like this one failed here (\"{}\"): {}.{cause} Begin with what went wrong then; the user can read more \
             with `{}`.",
            in_one_line(&self.goal, 120),
            self.end.trim_end_matches('.'),
            self.more
        )
    }
}

/// The lesson whose goal is most like this one, of another session, and no older than incidents are kept.
fn like(
    environment: &HostEnvironment,
    config: &Config,
    workspace: &str,
    session: &str,
    goal: &str,
) -> Option<Lesson> {
    let place = place(environment, workspace);
    let kept = config.interventions.emergency_stop.preserve_incident_data_days;
    let oldest = environment.now().0.saturating_sub(kept.saturating_mul(24 * 60 * 60 * 1000));
    let goal = Goal::of(goal);
    let mut best: Option<(f64, Lesson)> = None;
    // The newest first, so that of two alike it is the one that is told.
    for name in names(&place).ok()?.iter().rev().take(KEPT) {
        let Ok(bytes) = checkrein_files::read(place.join(name), LARGEST) else { continue };
        let Ok(bytes) = environment.state.vault().open(bytes, SEALED_FOR) else { continue };
        let Ok(lesson) = serde_json::from_slice::<Lesson>(&bytes) else { continue };
        if lesson.at.0 < oldest || lesson.session == session {
            continue;
        }
        let Some(likeness) = goal.likeness(&Goal::of(&lesson.goal)) else { continue };
        if best.as_ref().is_none_or(|(before, _)| likeness > *before) {
            best = Some((likeness, lesson));
        }
    }
    best.map(|(_, lesson)| lesson)
}

fn in_one_line(text: &str, most: usize) -> String {
    cut(&plain(text).split_whitespace().collect::<Vec<_>>().join(" "), most)
}

fn place(environment: &HostEnvironment, workspace: &str) -> PathBuf {
    environment.state.root().join(FOLDER).join(hexadecimal(workspace))
}

/// A name that stands for a text.
fn hexadecimal(text: &str) -> String {
    let digest = Digest::of(text).to_string();
    digest.trim_start_matches("sha256:").chars().take(NAME).collect()
}

/// The files of lessons, oldest first.
fn names(place: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(place)?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| !name.starts_with('.') && name.ends_with(".json")).collect();
    names.sort();
    Ok(names)
}

fn remove<'name>(place: &Path, mut names: impl Iterator<Item = &'name String>) -> io::Result<()> {
    names.try_for_each(|name| match fs::remove_file(place.join(name)) {
        // Somebody else removes one at the same time.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    })
}
