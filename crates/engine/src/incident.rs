//! What is kept of an emergency stop: a folder with a report for people (`report.md`) and one for programs (`report.json`).

mod whole_session;

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use checkrein_files::Forced;
use checkrein_intervention::{
    Detection, FurtherStop, Impact, Incident, IncidentClosing, IncidentFacts, IncidentId, RecoveryPolicy,
    StopContext, TimelineEntry,
};
use checkrein_ledger::{Durability, FolderName, last, mask::mask_text};

use checkrein_patterns::Issue;
use checkrein_policy::{Config, EmergencyStop};
use checkrein_protocol::{ActionId, CallDisposition, Intervention, Record, RecordBody, Timestamp};
use checkrein_session::recall::Goal;
use checkrein_session::{Cost, SessionLedger, SessionState};

use serde_json::json;

use crate::answering::pattern_settings;
use crate::environment::HostEnvironment;
use crate::lessons::{self, Lesson};
use crate::retention::{self, Expired};
use crate::text::{call, rollback_stage, time};
use whole_session::WholeSession;

/// How many actions the timeline holds (seed 000).
const TIMELINE: usize = 50;

/// Among how many of the last records they are looked for first (ours): an action has a few; and at most, where clients tell of more.
const RECORDS: usize = 8 * TIMELINE;
const MOST_RECORDS: usize = 64 * RECORDS;

/// The name of the record that an incident was closed.
pub const CLOSED: &str = "checkrein.incident_closed";

/// How many files are named (ours).
const FILES: usize = 100;

/// The folder of all incidents.
pub fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join("incidents")
}

/// What a report is made of.
pub(crate) struct Report<'a> {
    /// The session; `None` when the client never named one.
    pub(crate) ledger: Option<&'a SessionLedger>,
    pub(crate) state: &'a SessionState,
    pub(crate) issue: Option<&'a Issue>,
    pub(crate) by: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) config: &'a Config,
    pub(crate) at: Timestamp,
}

/// Saves the report on a stop, with the whole state of the session beside it (`state.json`); answers its name. What it holds comes from the
/// ledger, where everything is masked.
pub(crate) fn save(environment: &HostEnvironment, report: &Report<'_>) -> io::Result<IncidentId> {
    let records = match report.ledger.map(SessionLedger::path) {
        Some(path) if path.exists() => newest_actions(|most| last(&path, most).map_err(io::Error::other))?,
        Some(_) | None => Vec::new(),
    };
    let whole = report.ledger.map(|ledger| WholeSession::read(&ledger.path(), whole_session::TIME));
    let session = report.ledger.map(|ledger| ledger.folder().as_str().to_owned()).unwrap_or_default();
    let moment: String = time(report.at.0).chars().filter(char::is_ascii_digit).collect();
    let begins: String = match report.ledger {
        Some(_) => session.chars().take(8).collect(),
        None => "run".to_owned(),
    };
    let (id, place) = claim(&folder(environment), &format!("{moment}-{begins}"))?;
    let key = environment.state.mask_key().map_err(io::Error::other)?;
    let incident = Incident::report(IncidentFacts {
        id: id.clone(),
        session,
        at: report.at,
        by: report.by.to_owned(),
        reason: mask_text(report.reason, &key).into_owned(),
        issue: report.issue.cloned(),
        interventions: records.iter().filter_map(intervention).cloned().collect(),
        timeline: records.iter().filter_map(entry).collect(),
        impact: impact(report.state, whole, report.at),
        context: context(report),
        trigger: trigger(report, &records),
        standing: report.state.behaviour().standing().iter().map(|standing| standing.kind).collect(),
        policy: RecoveryPolicy::of(report.config.profile),
    });
    let state = serde_json::to_vec(report.state).map_err(io::Error::other)?;
    let state = sealed(environment, &state)?;
    checkrein_files::replace(&place.join("state.json"), &state, 0o600, Forced::Content)?;
    write_report(environment, &place, &incident)?;
    if let Err(error) = learn(environment, &incident) {
        environment.diagnostics.add(format!("a later session with this goal will not hear of it: {error}"));
    }
    Ok(id)
}

/// Keeps why it was stopped, for whoever is given the same goal in this workspace.
fn learn(environment: &HostEnvironment, incident: &Incident) -> io::Result<()> {
    let Some(context) = &incident.context else { return Ok(()) };
    let Some(workspace) = &context.workspace else { return Ok(()) };
    // The newest that says what is wanted: "go on" is about one before it.
    let goal = context.goals.iter().rev().find(|goal| Goal::of(goal).is_distinctive());
    let Some(goal) = goal else { return Ok(()) };
    let seen = incident.issue.as_ref().map(|issue| format!("the session was stopped: {}", issue.summary));
    let end = seen.unwrap_or_else(|| incident.summary.clone());
    let lesson = Lesson {
        at: incident.at,
        goal: goal.clone(),
        end,
        cause: incident.root_cause.clone(),
        more: format!("checkrein incident show {}", incident.id.0),
        session: incident.session.clone(),
    };
    lessons::keep(environment, workspace, lesson)
}

/// The newest report on a stop of a session; `None` where there is none that can be read.
pub(crate) fn newest(environment: &HostEnvironment, session: &FolderName) -> Option<Incident> {
    let begins: String = session.as_str().chars().take(8).collect();
    let root = folder(environment);
    let entries = fs::read_dir(&root).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // The name holds the time, and the beginning of the session behind it.
    let mut names: Vec<String> = names
        .filter(|name| name.split_once('-').is_some_and(|(_, rest)| rest.starts_with(&begins)))
        .collect();
    names.sort();
    names
        .iter()
        .rev()
        .find_map(|name| read(environment, &root.join(name)).filter(|one| one.session == session.as_str()))
}

fn read(environment: &HostEnvironment, place: &Path) -> Option<Incident> {
    serde_json::from_slice(&report(environment, place).ok()?).ok()
}

/// Adds a stop to the report on the one that stands.
pub(crate) fn add(
    environment: &HostEnvironment,
    incident: &mut Incident,
    stop: FurtherStop,
) -> io::Result<()> {
    let key = environment.state.mask_key().map_err(io::Error::other)?;
    let reason = mask_text(&stop.reason, &key).into_owned();
    incident.further_stops.push(FurtherStop { reason, ..stop });
    // What somebody said of it was about less.
    incident.closed = None;
    write_report(environment, &folder(environment).join(&incident.id.0), incident)
}

/// Closes an incident with the word of a user; answers it as it is then. The records of its session tell of it, where there are any.
///
/// # Errors
///
/// The record or the report cannot be written.
pub fn close(
    environment: &HostEnvironment,
    incident: Incident,
    closing: IncidentClosing,
) -> io::Result<Incident> {
    let key = environment.state.mask_key().map_err(io::Error::other)?;
    let closing = IncidentClosing { note: mask_text(&closing.note, &key).into_owned(), ..closing };
    if let Some(folder) = FolderName::on_disk(incident.session.as_ref()) {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        // A session that retention removed is not begun again for it.
        if ledger.path().exists() {
            let fields = json!({
                "incident": incident.id.0,
                "note": closing.note,
                "by": { "name": closing.by, "source": closing.source },
            });
            let body = RecordBody::Event { name: CLOSED.to_owned(), fields };
            ledger.append(closing.at, body, Durability::Durable).map_err(io::Error::other)?;
        }
    }
    let closed = Incident { closed: Some(closing), ..incident };
    write_report(environment, &folder(environment).join(&closed.id.0), &closed)?;
    Ok(closed)
}

/// The report for programs in the folder of an incident, opened where it is sealed.
///
/// # Errors
///
/// It cannot be read, or its key is not here.
pub fn report(environment: &HostEnvironment, place: &Path) -> io::Result<Vec<u8>> {
    let bytes = checkrein_files::read(place.join("report.json"), 16 * checkrein_files::SMALL)?;
    environment.state.vault().open(bytes, FILE).map_err(io::Error::other)
}

/// What a sealed file of a report is bound to.
const FILE: &[u8] = b"incident";

fn sealed(environment: &HostEnvironment, bytes: &[u8]) -> io::Result<Vec<u8>> {
    environment.state.vault().seal(bytes, FILE).map_err(io::Error::other)
}

/// Adds to the report for people.
pub(crate) fn add_to_report(environment: &HostEnvironment, place: &Path, text: &str) -> io::Result<()> {
    let path = place.join("report.md");
    let before = checkrein_files::read(&path, 16 * checkrein_files::SMALL)?;
    let mut whole = environment.state.vault().open(before, FILE).map_err(io::Error::other)?;
    whole.extend_from_slice(text.as_bytes());
    checkrein_files::replace(&path, &sealed(environment, &whole)?, 0o600, Forced::Content)
}

fn write_report(environment: &HostEnvironment, place: &Path, incident: &Incident) -> io::Result<()> {
    let write = |name: &str, bytes: &[u8]| {
        let bytes = sealed(environment, bytes)?;
        checkrein_files::replace(&place.join(name), &bytes, 0o600, Forced::Content)
    };
    write("report.json", &serde_json::to_vec_pretty(incident).map_err(io::Error::other)?)?;
    write("report.md", incident.markdown(|moment| time(moment.0)).as_bytes())
}

/// The records from the last actions on that a report holds; `read` returns so many of the newest records.
fn newest_actions(read: impl Fn(usize) -> io::Result<Vec<Record>>) -> io::Result<Vec<Record>> {
    let mut asked = RECORDS;
    loop {
        let records = read(asked)?;
        let actions = records.iter().filter(|record| matches!(record.body, RecordBody::Review(_))).count();
        if actions > TIMELINE || records.len() < asked || asked >= MOST_RECORDS {
            return Ok(last_actions(records, TIMELINE));
        }
        asked = asked.saturating_mul(4);
    }
}

/// The records from the last so many actions on.
fn last_actions(mut records: Vec<Record>, most: usize) -> Vec<Record> {
    let reviews = |record: &&Record| matches!(record.body, RecordBody::Review(_));
    let surplus = records.iter().filter(reviews).count().saturating_sub(most);
    if surplus > 0 {
        // What stands before the first action that is kept belongs to those before it.
        let mut seen = 0;
        let first = records.iter().position(|record| {
            seen += usize::from(reviews(&record));
            seen > surplus
        });
        records.drain(..first.unwrap_or_default());
    }
    records
}

/// In what the session was stopped.
fn context(report: &Report<'_>) -> StopContext {
    let state = report.state;
    let left = state.history().created.into_iter().filter(|path| fs::symlink_metadata(path.as_str()).is_ok());
    StopContext {
        workspace: state.workspace().map(ToString::to_string),
        client: state.client().map(str::to_owned),
        profile: report.config.profile.word().to_owned(),
        goals: state.goals(),
        detections: state
            .behaviour()
            .issues(&pattern_settings(report.config))
            .iter()
            .map(Detection::from)
            .collect(),
        left: left.take(FILES).map(|path| path.to_string()).collect(),
    }
}

/// What failed first, or was refused first, since the trouble began.
fn trigger(report: &Report<'_>, records: &[Record]) -> Option<String> {
    let onset = report.issue?.onset()?;
    // The newest review is of the last action.
    let back = usize::try_from(report.state.actions().saturating_sub(onset.0)).ok()?;
    let reviews =
        records.iter().enumerate().rev().filter(|(_, record)| matches!(record.body, RecordBody::Review(_)));
    let (start, _) = reviews.take(back + 1).last()?;
    let since = records.get(start..).unwrap_or_default();
    let review_of = |id: &ActionId| {
        since.iter().find_map(|record| match &record.body {
            RecordBody::Review(review) if review.action_id == *id => Some(review),
            _ => None,
        })
    };
    since.iter().find_map(|record| match &record.body {
        RecordBody::Outcome(outcome) if outcome.failed => {
            let review = review_of(&outcome.action_id)?;
            let error = outcome.error.as_deref().map(checkrein_patterns::telling_line).unwrap_or_default();
            let error = if error.is_empty() { String::new() } else { format!(": {}", shown(&error)) };
            Some(format!("`{}` failed{error}", shown(&call(review))))
        }
        RecordBody::Review(review) if review.disposition() == CallDisposition::Refused => {
            Some(format!("`{}` was refused: {}", shown(&call(review)), shown(&review.reason)))
        }
        _ => None,
    })
}

/// A folder for a report that nobody has: several stops may fall into one second.
fn claim(root: &Path, name: &str) -> io::Result<(IncidentId, PathBuf)> {
    let directory = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    for number in 1..1000 {
        let id = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        match directory(&root.join(&id)) {
            Ok(()) => return Ok((IncidentId(id.clone()), root.join(id))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many reports in one second"))
}

/// Removes reports that are older or more than is kept; what goes is written into the ledger first.
pub(crate) fn clear_away(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    settings: &EmergencyStop,
    now: Timestamp,
) -> io::Result<()> {
    let root = folder(environment);
    let going = beyond(&root, settings, now)?;
    if going.is_empty() {
        return Ok(());
    }
    let body = RecordBody::Event {
        name: "checkrein.incidents_removed".to_owned(),
        fields: json!({
            "incidents": going,
            "reason": format!(
                "older than {} days, or more than {}",
                settings.preserve_incident_data_days, settings.preserve_incidents
            ),
        }),
    };
    ledger.append(now, body, Durability::Durable).map_err(io::Error::other)?;
    going.iter().try_for_each(|name| fs::remove_dir_all(root.join(name)))
}

/// The same reports, for who removes them and writes that down by itself.
pub(crate) fn expired(
    environment: &HostEnvironment,
    settings: &EmergencyStop,
    now: Timestamp,
) -> io::Result<Vec<Expired>> {
    let root = folder(environment);
    let going = beyond(&root, settings, now)?;
    Ok(going.iter().filter_map(|name| retention::expired(root.join(name))).collect())
}

/// The names of reports that are older or more than is kept.
fn beyond(root: &Path, settings: &EmergencyStop, now: Timestamp) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    // The names begin with the time, so the oldest come first.
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let keep = usize::try_from(settings.preserve_incidents).unwrap_or(usize::MAX);
    let oldest =
        now.0.saturating_sub(settings.preserve_incident_data_days.saturating_mul(24 * 60 * 60 * 1000));
    let oldest: String = time(oldest).chars().filter(char::is_ascii_digit).collect();
    let surplus = names.len().saturating_sub(keep);
    let is_beyond = |(index, name): &(usize, String)| *index < surplus || name.as_str() < oldest.as_str();
    Ok(names.into_iter().enumerate().filter(is_beyond).map(|(_, name)| name).collect())
}

fn intervention(record: &Record) -> Option<&Intervention> {
    match &record.body {
        RecordBody::Intervention(made) => Some(made),
        _ => None,
    }
}

/// A record in one line of the timeline; `None` for what says nothing about the course of things.
fn entry(record: &Record) -> Option<TimelineEntry> {
    let what = match &record.body {
        RecordBody::Review(review) => format!("{}: {}", review.verdict.word(), shown(&call(review))),
        RecordBody::Outcome(outcome) if outcome.failed => {
            format!("failed: {}", shown(outcome.error.as_deref().unwrap_or_default()))
        }
        RecordBody::Prompt { text } => format!("prompt: {}", shown(text)),
        RecordBody::Issue(issue) => format!("noticed {}: {}", issue.kind.words(), issue.summary),
        RecordBody::Intervention(made) => format!("{}: {}", made.kind.deed(), made.reason),
        RecordBody::Rollback(rollback) => {
            format!("rollback {}: {}", rollback_stage(rollback.stage), shown(&rollback.text))
        }
        RecordBody::Failure { stage, detail, .. } => format!("did not run: {stage}: {}", shown(detail)),
        _ => return None,
    };
    Some(TimelineEntry { at: record.at, what })
}

fn shown(text: &str) -> String {
    crate::text::cut(&crate::text::plain(&text.replace('\n', " ")), 120)
}

fn impact(state: &SessionState, whole: Option<WholeSession>, at: Timestamp) -> Impact {
    let (files, sum) = whole.map_or_else(Default::default, |whole| (whole.files, Some(whole.sum)));
    Impact {
        files,
        actions: state.actions(),
        file_operations: state.file_operations(),
        duration_ms: state.started().map_or(0, |started| at.0.saturating_sub(started.0)),
        tokens: state.spent().tokens().counted(),
        dollars: match state.spent().cost() {
            Some(Cost::Known(cost) | Cost::About(cost)) => Some(cost.dollars()),
            Some(Cost::AtLeast(_)) | None => None,
        },
        processes: state.spent().processes,
        bytes_written: state.spent().bytes_written,
        sum,
    }
}

#[cfg(test)]
mod tests {
    use checkrein_testkit::records::review;

    use super::*;

    fn record(seq: u64, body: RecordBody) -> Record {
        let hash = serde_json::from_value(json!("0".repeat(64))).unwrap();
        let prev = serde_json::from_value(json!("0".repeat(64))).unwrap();
        Record { seq, prev, at: Timestamp(seq), body, hash }
    }

    // Source: seed 000-53
    #[test]
    fn a_report_holds_fifty_actions_however_much_the_client_tells_between_them_seed_000() {
        let event = || RecordBody::Event { name: "MessageDisplay".to_owned(), fields: json!({}) };
        let of_action = |number: u64| {
            let call = review(&format!("call-{number}"), "ok", 1, Vec::new());
            std::iter::once(call).chain((0..20).map(|_| event())).collect::<Vec<_>>()
        };
        let all: Vec<Record> =
            (1..=60).flat_map(of_action).zip(1..).map(|(body, seq)| record(seq, body)).collect();
        let newest = |most: usize| Ok(all[all.len().saturating_sub(most)..].to_vec());
        let kept = newest_actions(newest).unwrap();
        let actions = kept.iter().filter(|record| matches!(record.body, RecordBody::Review(_))).count();
        assert_eq!(actions, TIMELINE);
    }
}
