//! `checkrein show ID`: what the agent wanted, what was seen, what was decided and why, and what came of it.
//!
//! | module | holds |
//! |---|---|
//! | `course` | the course of one call as a story |
//! | `numbers` | the numbers and rules behind it |

mod course;
mod numbers;

use std::collections::HashMap;

use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{ActionId, Record, RecordBody, RollbackRecord};
use checkrein_session::SessionLedger;

use super::answers::{QuestionOutcome, answers};
use super::call_shown::CallExtent;
use super::name_choice::{NEWEST, NamedKind, is_named};
use super::session_choice::{folders, only_folder};
use super::stopped_calls::{self, Found, Newest};
use super::story::{SESSION, SessionHead};
use super::{ExitStatus, OutputForm, pretty};
use crate::api;
use crate::phrases::{self, RecordWords};
use crate::render::time;
use crate::terminal::{bold, dim, hanging, plain, print, print_exact, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::lineage;
use course::CallCourse;

/// How much `show` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowExtent {
    /// What happened, in words.
    Story,
    /// The same, with the whole call, the numbers and the rules.
    Verbose,
}

/// Shows the reviews and outcomes of the action whose name begins with `id`, or of the record with that number in a session
/// (`SESSION:NUMBER`).
pub fn show(
    environment: &HostEnvironment,
    id: &str,
    extent: ShowExtent,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let newest;
    let mut known_as = None;
    let id = if id == NEWEST {
        let Found { folder, seq, name, .. } = stopped_calls::newest(environment, Newest::Any)?;
        newest = format!("{}:{seq}", folder.as_str());
        known_as = Some(name);
        newest.as_str()
    } else {
        id
    };
    let (session, wanted) = match id.rsplit_once(':') {
        Some((session, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (Some(session), number)
        }
        _ => (None, id),
    };
    let mut of_sessions: Vec<(FolderName, Record)> = Vec::new();
    let mut all_answers = HashMap::new();
    let folders = match session {
        Some(session) => vec![only_folder(environment, session)?],
        None => folders(environment, None)?,
    };
    for folder in folders {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        let records: Vec<Record> = lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect();
        if !records.iter().any(|record| is_meant(record, session, wanted)) {
            continue;
        }
        all_answers.extend(answers(&records));
        let meant: Vec<Record> = if session.is_some() {
            with_end(records, wanted)
        } else {
            records.into_iter().filter(|record| is_meant(record, session, wanted)).collect()
        };
        of_sessions.extend(meant.into_iter().map(|record| (ledger.folder().clone(), record)));
    }
    if session.is_none() && of_sessions.is_empty() && only_folder(environment, wanted).is_ok() {
        return super::sessions::show(environment, wanted, output);
    }
    if session.is_none() {
        let names = of_sessions.iter().filter_map(|(_, record)| action(record));
        let only = NamedKind::Action.only(wanted, names)?.to_owned();
        of_sessions.retain(|(_, record)| action(record) == Some(&only));
        let reviewed = of_sessions.iter().map(|(folder, record)| match &record.body {
            RecordBody::Review(review) => (folder, record.seq, Some(&**review)),
            _ => (folder, record.seq, None),
        });
        stopped_calls::in_one_session(environment, wanted, reviewed)?;
    } else if of_sessions.is_empty() {
        return Err(NamedKind::Action.unknown(id));
    }
    of_sessions.sort_by_key(|(_, record)| record.at);
    let of_session = of_sessions.first().map(|(folder, _)| folder.clone());
    let has_two_doors = of_sessions.iter().any(|(folder, _)| Some(folder) != of_session.as_ref());
    let found: Vec<Record> = of_sessions.into_iter().map(|(_, record)| record).collect();
    let parent = of_session.as_ref().and_then(|session| lineage::parent_of(&environment.state, session));
    match output {
        OutputForm::Json => print_exact(&api::pretty(&api::sessions::ActionRecords {
            session: of_session.map(|session| session.as_str().to_owned()),
            parent: parent.map(|parent| parent.session),
            records: found.iter().map(api::recorded).collect(),
        })?),
        OutputForm::Text => {
            // A record was named for a reason: its action may have the id of another one.
            let called = session.map(|_| known_as.as_deref().unwrap_or(id));
            let client = of_session.as_ref().and_then(|folder| SessionHead::of(environment, folder).client);
            let manner = Manner { extent, called, client: title(client.as_deref()) };
            print(&told(environment, found.iter(), &all_answers, &manner));
            if has_two_doors {
                print(&format!(
                    "\n{}",
                    wrapped(
                        "One call, seen at two doors: by the hook of the client, and by the gateway before its server."
                    )
                ));
            }
            if let (Some(own), Some(parent)) = (of_session, parent) {
                let text = format!(
                    "Another agent started the one of this call (session {}): session {}.",
                    short(own.as_str()),
                    short(&parent.session)
                );
                print(&format!("\n{}", wrapped(&text)));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// The name of a session as lists show it.
fn short(session: &str) -> String {
    plain(&session.chars().take(SESSION).collect::<String>())
}

/// The record with this number; behind a review what came of its call, until it is made again.
fn with_end(records: Vec<Record>, number: &str) -> Vec<Record> {
    let mut records = records.into_iter().skip_while(|record| record.seq.to_string() != number);
    let Some(meant) = records.next() else { return Vec::new() };
    let is_review = |record: &Record| matches!(record.body, RecordBody::Review(_));
    let mut found = Vec::new();
    if let Some(id) = action(&meant).filter(|_| is_review(&meant)) {
        let of_call = records.filter(|record| action(record) == Some(id));
        found.extend(of_call.take_while(|record| !is_review(record)));
    }
    found.insert(0, meant);
    found
}

/// Returns what is known of one action of a session from some of its records, the newest of which they are.
pub(super) fn explained<'a>(
    environment: &HostEnvironment,
    records: impl IntoIterator<Item = &'a Record> + Clone,
    id: &ActionId,
) -> String {
    let all_answers = answers(records.clone());
    let client = records.clone().into_iter().find_map(|record| match &record.body {
        RecordBody::SessionStarted { client, .. } => Some(client.as_str()),
        _ => None,
    });
    let manner = Manner { extent: ShowExtent::Verbose, called: None, client: title(client) };
    let found = records.into_iter().filter(|record| action(record) == Some(id.as_str()));
    told(environment, found, &all_answers, &manner)
}

/// Returns one record in words.
pub(super) fn explained_record(record: &Record) -> String {
    other_record(record)
}

fn is_meant(record: &Record, session: Option<&str>, wanted: &str) -> bool {
    match session {
        Some(_) => record.seq.to_string() == wanted,
        None => action(record).is_some_and(|id| is_named(id, wanted)),
    }
}

/// The id of the action of a review, an outcome, or what else is about one call.
pub(super) fn action(record: &Record) -> Option<&str> {
    match &record.body {
        RecordBody::Review(review) => Some(review.action_id.as_str()),
        RecordBody::Outcome(outcome) => Some(outcome.action_id.as_str()),
        RecordBody::Unreviewed(unreviewed) => Some(unreviewed.action_id.as_str()),
        RecordBody::Unanswered(unanswered) => Some(unanswered.action_id.as_str()),
        _ => None,
    }
}

/// How records are told.
struct Manner<'a> {
    extent: ShowExtent,
    /// What commands take for the call, where it was named by its record.
    called: Option<&'a str>,
    /// What the client is called.
    client: &'a str,
}

/// What people call a client, by its name on the command line.
pub(in crate::commands) fn title(client: Option<&str>) -> &str {
    let known = client.and_then(checkrein_clients::named).map(|adapter| adapter.title);
    known.or(client).unwrap_or("the client")
}

/// Records as a story: those of one call together, and every other for itself.
fn told<'a>(
    environment: &HostEnvironment,
    found: impl Iterator<Item = &'a Record>,
    answers: &HashMap<ActionId, QuestionOutcome>,
    manner: &Manner<'_>,
) -> String {
    let Manner { extent, called, client } = *manner;
    let found: Vec<&Record> = found.collect();
    let last_review = found.iter().rposition(|record| matches!(record.body, RecordBody::Review(_)));
    let mut parts = Vec::new();
    for (place, record) in found.iter().enumerate() {
        match &record.body {
            RecordBody::Review(review) => {
                // What came of the call stands with its last review; an earlier one was of an attempt.
                let is_last = last_review == Some(place);
                let after = if is_last { &found[place + 1..] } else { &[] };
                let called = called.unwrap_or(review.action_id.as_str());
                let answer = answers.get(&review.action_id).copied();
                let course = CallCourse::of(record, (review, called), after, (answer, client));
                let shown = match extent {
                    ShowExtent::Story => CallExtent::Beginning,
                    ShowExtent::Verbose => CallExtent::Whole,
                };
                parts.push(course.told(environment, shown));
                if extent == ShowExtent::Verbose {
                    parts.push(numbers::in_words(review));
                }
            }
            // It stands with the call.
            RecordBody::Outcome(_) if last_review.is_some_and(|review| review < place) => {}
            _ => parts.push(other_record(record)),
        }
    }
    parts.join("\n\n")
}

/// A record that is no review.
fn other_record(record: &Record) -> String {
    let head = dim(&format!("{}  record {}", time(record.at.0), record.seq));
    if let RecordBody::Outcome(outcome) = &record.body {
        let lines = course::outcome_lines(outcome, CallExtent::Beginning);
        return format!("{head}\n{}", course::in_lines(&lines));
    }
    let RecordWords { what, why, .. } = phrases::record(&record.body);
    let mut lines = vec![head, wrapped(&bold(&plain(&what)))];
    if !why.is_empty() {
        lines.push(wrapped(&indented(&why)));
    }
    match &record.body {
        RecordBody::Intervention(made) => {
            lines.push(hanging(&format!("  why this: {}", plain(&made.reason)), 4));
        }
        RecordBody::Rollback(rollback) => lines.extend(rollback_lines(rollback)),
        RecordBody::Event { fields, .. } if fields.as_object().is_some_and(|fields| !fields.is_empty()) => {
            lines.push(wrapped(&indented(&pretty(fields).unwrap_or_default())));
        }
        _ => {}
    }
    lines.join("\n")
}

fn rollback_lines(rollback: &RollbackRecord) -> Vec<String> {
    let mut lines: Vec<String> =
        rollback.named.iter().map(|change| wrapped(&format!("  {}", plain(change)))).collect();
    let more = rollback.changes.saturating_sub(rollback.named.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    let left = rollback.left.iter();
    lines.extend(left.map(|left| hanging(&format!("  not as it was: {}", plain(left)), 4)));
    let back = rollback.saved_as.iter().rev();
    lines.extend(back.map(|id| format!("  to take it back: `checkrein snapshot restore {id}`")));
    lines
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {}", plain(line))).collect::<Vec<_>>().join("\n")
}
