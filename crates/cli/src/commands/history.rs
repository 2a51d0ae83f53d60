//! `checkrein history WORDS`: what was done before about something, how it ended, and what was learned from it.
//!
//! Looked through are the ledgers, the reports on stops, and the runs of pipelines; each is read once, and what is kept of it is counts of
//! words.

use checkrein_clients::is_canary;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_intervention::Incident;
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{AbsolutePath, RecordBody, Timestamp};
use checkrein_session::recall::{Findable, search};
use checkrein_session::{SessionLedger, SessionSummary};
use checkrein_world::find_workspace;

use super::session_reading::read_each;
use super::story::{SESSION, SessionHead, at_home};
use super::{ExitStatus, OutputForm, Switch, incidents, pipeline};
use crate::api;
use crate::api::sessions::{PastWorkEntry, PastWorkKind};
use crate::moments::TimeStart;
use crate::render::age;
use crate::terminal::{bold, brief, dim, hanging, page, plain, print, print_exact, shown_length};

/// How much of the commands of one session is looked through, in bytes (ours).
const TEXT: usize = 256 << 10;
/// How much of one command, in characters (ours).
const COMMAND: usize = 400;
/// How much of a goal and of an end is shown, in characters (ours).
const SHOWN: usize = 160;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct HistoryQuery {
    /// The words.
    pub words: String,
    /// How far back.
    pub since: TimeStart,
    /// Only in this project.
    pub here: Switch,
    /// How many are shown at most.
    pub most: usize,
}

/// Something that was done before.
#[derive(Debug, Clone)]
pub(super) struct PastWork {
    pub(super) kind: PastWorkKind,
    /// Its name.
    pub(super) name: String,
    /// When something was done last.
    pub(super) at: Timestamp,
    /// The root of its workspace.
    pub(super) project: Option<String>,
    /// What was wanted.
    pub(super) wanted: String,
    /// How it ended, in a clause.
    pub(super) end: String,
    /// What it came from, where it went wrong.
    pub(super) cause: Option<String>,
    /// The command that tells more.
    pub(super) more: String,
}

/// The same, and by what it is found.
struct Found {
    work: PastWork,
    /// The session that it is about, where it is about one.
    session: Option<String>,
    by: Findable,
}

/// Shows what fits best, best first.
///
/// # Errors
/// What cannot be read of the state directory, and words that hold none.
pub fn history(
    environment: &HostEnvironment,
    wanted: &HistoryQuery,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    if !wanted.words.chars().any(char::is_alphanumeric) {
        return Err(CommandError::user(
            "there is no word to look for",
            "name what it was about, such as `checkrein history flaky login test`",
        ));
    }
    let all = everything(environment, wanted, output)?;
    let texts: Vec<Findable> = all.iter().map(|found| found.by.clone()).collect();
    let mut best: Vec<&Found> = Vec::new();
    let mut fits = Vec::new();
    for (place, fit) in search(&wanted.words, &texts) {
        let Some(found) = all.get(place) else { continue };
        // A session and the report on its stop are one thing: the better of the two stands for both.
        let is_there = |other: &&Found| other.session.is_some() && other.session == found.session;
        if best.len() < wanted.most && !best.iter().any(is_there) {
            best.push(found);
            fits.push(fit);
        }
    }
    match output {
        OutputForm::Json => {
            for (found, fit) in best.iter().zip(fits) {
                print_exact(&api::line(&found.work.clone().entry(fit))?);
            }
        }
        OutputForm::Text if best.is_empty() => {
            print("nothing was recorded about that; try fewer words, or a longer `--since`");
        }
        OutputForm::Text => {
            let told: Vec<String> = best.iter().map(|found| in_words(environment, &found.work)).collect();
            page(&told.join("\n\n"));
        }
    }
    Ok(ExitStatus::Done)
}

impl PastWork {
    fn entry(self, fit: f64) -> PastWorkEntry {
        let Self { kind, name, at, project, wanted, end, cause, more } = self;
        PastWorkEntry { kind, name, at: at.into(), project, wanted, end, cause, more, fit }
    }
}

/// All that can be found, oldest first.
fn everything(
    environment: &HostEnvironment,
    wanted: &HistoryQuery,
    output: OutputForm,
) -> Result<Vec<Found>, CommandError> {
    let since = wanted.since.start(environment.now())?;
    let here = (wanted.here == Switch::On).then(|| find_workspace(&environment.cwd));
    let is_wanted = |project: Option<&str>, at: Timestamp| {
        at.0 >= since
            && here
                .as_ref()
                .is_none_or(|here| project.and_then(AbsolutePath::new).is_some_and(|own| own.is_within(here)))
    };
    let mut all: Vec<Found> = incidents::read(environment)?.iter().map(of_incident).collect();
    all.extend(pipeline::past_work(environment)?.into_iter().map(|(work, text)| {
        let by = Findable::new(&work.wanted, &text);
        Found { work, session: None, by }
    }));
    all.retain(|found| is_wanted(found.work.project.as_deref(), found.work.at));
    let mut sessions = checkrein_session::sessions(&environment.state)?;
    sessions.retain(|session| {
        !is_canary(session.folder.as_str()) && session.last.is_some_and(|last| last.0 >= since)
    });
    read_each(environment, &sessions, output, |session| {
        let found = of_session(environment, session)?;
        all.extend(
            found.filter(|found| is_wanted(found.work.project.as_deref(), session.last.unwrap_or_default())),
        );
        Ok(())
    });
    all.sort_by_key(|found| found.work.at);
    Ok(all)
}

/// A session by what its user said, what it ran, and what was found wrong with it.
fn of_session(
    environment: &HostEnvironment,
    session: &SessionSummary,
) -> Result<Option<Found>, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, session.folder.clone());
    let (mut goals, mut text) = (Vec::new(), String::new());
    for record in lines(&ledger.path())?.filter_map(|line| line.ok()?.record) {
        let more = match record.body {
            RecordBody::Prompt { text } => {
                goals.push(text);
                continue;
            }
            RecordBody::Review(review) => review.input["command"].as_str().map(|text| cut_to(text, COMMAND)),
            RecordBody::Issue(issue) => Some(issue.summary),
            _ => None,
        };
        if let Some(more) = more.filter(|_| text.len() < TEXT) {
            text.push_str(&more);
            text.push('\n');
        }
    }
    let Some(first) = goals.first() else { return Ok(None) };
    let head = SessionHead::of(environment, &session.folder);
    let end = match &session.halt {
        Some(halt) => format!("it is halted: {}", halt.reason),
        None => session.calls.summary().unwrap_or_else(|| "nothing was called".to_owned()),
    };
    let name = session.folder.as_str().to_owned();
    let work = PastWork {
        kind: PastWorkKind::Session,
        name: name.clone(),
        at: session.worked.or(session.last).unwrap_or_default(),
        project: head.workspace,
        wanted: first.clone(),
        end,
        cause: None,
        more: format!("checkrein log --session {}", short(&session.folder)),
    };
    Ok(Some(Found { work, session: Some(name), by: Findable::new(&goals.join("\n"), &text) }))
}

fn short(folder: &FolderName) -> String {
    folder.as_str().chars().take(SESSION).collect()
}

fn of_incident(incident: &Incident) -> Found {
    let context = incident.context.clone().unwrap_or_default();
    let timeline = incident.timeline.iter().map(|entry| entry.what.as_str());
    let text = [incident.summary.as_str(), incident.root_cause.as_str()].into_iter().chain(timeline);
    let text: Vec<&str> = text.collect();
    let goals = context.goals.join("\n");
    let seen = incident.issue.as_ref().map_or(&incident.summary, |issue| &issue.summary);
    let work = PastWork {
        kind: PastWorkKind::Incident,
        name: incident.id.0.clone(),
        at: incident.at,
        project: context.workspace,
        wanted: context.goals.last().cloned().unwrap_or_default(),
        end: format!("it was stopped: {seen}"),
        cause: Some(incident.root_cause.clone()).filter(|cause| !cause.is_empty()),
        more: format!("checkrein incident show {}", incident.id.0),
    };
    let session = Some(incident.session.clone()).filter(|session| !session.is_empty());
    Found { by: Findable::new(&goals, &text.join("\n")), work, session }
}

/// A piece of work in a few lines: what and where, what was wanted, how it ended, what was learned, what tells more.
fn in_words(environment: &HostEnvironment, work: &PastWork) -> String {
    // A session is called as in `log`; of other names the end tells them apart.
    let length = if work.kind == PastWorkKind::Session { SESSION } else { 24 };
    let mut first =
        format!("{}  {}", bold(work.kind.word()), plain(&work.name.chars().take(length).collect::<String>()));
    if let Some(project) = &work.project {
        first = format!("{first}  {}", plain(&at_home(environment, project)));
    }
    let when = age(work.at.0, environment.now().0);
    let mut lines = vec![format!("{first}  {}", dim(&when))];
    let mut say = |what: &str, text: &str| {
        let text = brief(&plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")), SHOWN);
        if !text.is_empty() {
            let begin = format!("  {what}: ");
            lines.push(hanging(&format!("{begin}{text}"), shown_length(&begin)));
        }
    };
    say("wanted", &work.wanted);
    say("end", &work.end);
    // A cause that repeats the end says nothing.
    if let Some(cause) = work.cause.as_deref().filter(|cause| !work.end.ends_with(cause)) {
        say("cause", cause);
    }
    lines.push(dim(&format!("  {}", work.more)));
    lines.join("\n")
}

fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
