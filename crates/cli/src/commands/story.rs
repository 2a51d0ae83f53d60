//! What happened, as people read it: session by session with project and first words, one line for each call, and below it why.

use std::collections::HashMap;

use checkrein_engine::approvals::ANSWERED;
use checkrein_engine::culprit::{changed_command, culprit};
use checkrein_engine::ending::SUMMARY;
use checkrein_engine::text::{below, short_names};
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{
    AbsolutePath, ActionId, CallDisposition, OutcomeRecord, Record, RecordBody, ReviewRecord, VerdictKind,
};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::answers::{QuestionOutcome, answers};
use super::short_names::{SharedNames, ShortNames, known_calls};
use super::show::{action, title};
use crate::phrases::{self, RecordWords};
use crate::render::{age, clock, duration, surprises_in_one_line};
use crate::terminal::{
    bold, brief, counted, dim, hanging, plain, plain_name, shown_length, verdict_word, width, wrapped,
};
use checkrein_engine::environment::HostEnvironment;

/// How much of a name is shown, in characters (ours): enough to tell those of one day apart, and to be typed.
pub(super) const SESSION: usize = 8;
pub(super) const ACTION: usize = 14;

/// How wide a verdict is shown, and how far in its reason begins.
const MARK: usize = 8;
const WHY: usize = 12;

/// How much of a call and of a prompt is shown, in characters (ours): a line of a wide terminal.
const CALL: usize = 72;

/// How much of a reason is shown, and of what Checkrein itself did, in characters (ours).
const WHOLE: usize = 200;
pub(super) const PROMPT: usize = 90;

/// How far into a ledger its beginning and the first prompt are looked for, in records (ours).
const HEAD: usize = 40;

/// One thing that happened.
pub(super) struct Entry<'a> {
    pub(super) folder: &'a FolderName,
    pub(super) record: &'a Record,
    /// What came of the call, when the record is its review.
    pub(super) outcome: Option<&'a OutcomeRecord>,
}

/// What a session is about.
#[derive(Debug, Default)]
pub(super) struct SessionHead {
    /// The root of its workspace.
    pub(super) workspace: Option<String>,
    /// What the user said first, masked.
    pub(super) prompt: Option<String>,
    /// The client, by its name on the command line.
    pub(super) client: Option<String>,
    /// When it began, in milliseconds since 1970.
    began: Option<u64>,
}

impl SessionHead {
    /// Read from the beginning of its ledger; what cannot be read is left out.
    pub(super) fn of(environment: &HostEnvironment, folder: &FolderName) -> Self {
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        let Ok(lines) = lines(&ledger.path()) else { return Self::default() };
        let mut head = Self::default();
        let mut worked_in = None;
        for record in lines.take(HEAD).filter_map(|line| line.ok()?.record) {
            head.began = head.began.or(Some(record.at.0));
            match record.body {
                RecordBody::SessionStarted { workspace, client, .. } if head.workspace.is_none() => {
                    head.workspace = Some(workspace);
                    head.client = Some(client);
                }
                RecordBody::Prompt { text } if head.prompt.is_none() => head.prompt = Some(text),
                RecordBody::Review(review) if worked_in.is_none() => worked_in = Some(review.cwd),
                _ => {}
            }
        }
        // The hooks may have come while the session was under way: its beginning is not recorded then.
        let first = || AbsolutePath::new(&worked_in?).map(|cwd| find_workspace(&cwd).to_string());
        head.workspace = head.workspace.or_else(first);
        head
    }
}

/// Tells entries; the head of a session comes when the one before was another.
pub(super) struct Story<'a> {
    environment: &'a HostEnvironment,
    /// The session that was told of last, and the root of its workspace.
    last: Option<FolderName>,
    workspace: Option<String>,
    /// Its client, by its name on the command line.
    client: Option<String>,
    /// How sessions and the calls that were told of are called.
    sessions: ShortNames,
    calls: ShortNames,
    /// Which ids calls of several sessions have.
    shared: SharedNames,
}

impl<'a> Story<'a> {
    /// One that begins.
    pub(super) fn new(environment: &'a HostEnvironment) -> Self {
        Self::behind(environment, None, SessionHead::default())
    }

    /// One about a session whose head is told already.
    pub(super) fn of_session(environment: &'a HostEnvironment, folder: &FolderName) -> Self {
        let head = SessionHead::of(environment, folder);
        Self::behind(environment, Some(folder.clone()), head)
    }

    /// One that goes on behind what was told already.
    pub(super) fn going_on(environment: &'a HostEnvironment, told: &[Entry<'_>]) -> Self {
        let last = told.last().map(|entry| entry.folder.clone());
        let head = last.as_ref().map(|folder| SessionHead::of(environment, folder)).unwrap_or_default();
        let mut story = Self::behind(environment, last, head);
        story.take_names(told);
        story
    }

    /// One that goes on behind a session with this head.
    fn behind(environment: &'a HostEnvironment, last: Option<FolderName>, head: SessionHead) -> Self {
        let sessions = ShortNames::of_sessions(environment);
        // What a list shows must be told from what it leaves out, too: `show` looks through all.
        let known = known_calls(environment);
        let (mut calls, mut shared) = (ShortNames::of_calls(), SharedNames::default());
        calls.take(known.iter().map(|(_, id)| id.as_str()));
        shared.take(known.iter().map(|(folder, id)| (folder.as_str(), id.as_str())));
        Self { environment, last, workspace: head.workspace, client: head.client, sessions, calls, shared }
    }

    /// The entries, which are in the order of time, session by session: the one that something happened in last comes last.
    pub(super) fn told(&mut self, entries: &[Entry<'_>]) -> String {
        self.take_names(entries);
        let mut order: Vec<&FolderName> = Vec::new();
        for entry in entries {
            order.retain(|folder| *folder != entry.folder);
            order.push(entry.folder);
        }
        let mut lines = Vec::new();
        for folder in order {
            let mut first_prompt = None;
            if self.last.as_ref() != Some(folder) {
                if self.last.is_some() {
                    lines.push(String::new());
                }
                let head = SessionHead::of(self.environment, folder);
                lines.extend(self.head(folder, &head));
                first_prompt = head.prompt;
                self.last = Some(folder.clone());
                self.workspace = head.workspace;
                self.client = head.client;
            }
            // The head quotes it already.
            let of_session = || {
                let quoted = first_prompt.as_deref();
                let is_quoted = move |record: &Record| matches!(&record.body, RecordBody::Prompt { text } if quoted == Some(text));
                entries.iter().filter(move |entry| entry.folder == folder && !is_quoted(entry.record))
            };
            let answers = answers_of(self.environment, folder, of_session());
            let client = title(self.client.as_deref());
            let told = of_session().flat_map(|entry| {
                told(entry, &answers, (&self.id(entry), client), |text| self.shortened(text))
            });
            lines.extend(told);
        }
        lines.join("\n")
    }

    fn take_names(&mut self, entries: &[Entry<'_>]) {
        let named =
            || entries.iter().filter_map(|entry| Some((entry.folder.as_str(), action(entry.record)?)));
        self.calls.take(named().map(|(_, id)| id));
        self.shared.take(named());
    }

    fn head(&self, folder: &FolderName, head: &SessionHead) -> Vec<String> {
        let name = self.sessions.of(folder.as_str());
        let place = head.workspace.as_deref().map(|path| format!("  {}", plain_name(&self.shortened(path))));
        let began = head.began.map(|at| format!("  began {}", age(at, self.environment.now().0)));
        let client = head.client.as_deref().map(|client| format!("  {}", plain_name(client)));
        let first = format!(
            "{}{}{}{}",
            bold(&plain_name(&name)),
            client.unwrap_or_default(),
            place.unwrap_or_default(),
            dim(&began.unwrap_or_default())
        );
        let prompt = head.prompt.as_deref().map(|text| format!("  \"{}\"", brief(&plain(text), PROMPT)));
        [first].into_iter().chain(prompt.map(|text| dim(&text))).map(|line| wrapped(&line)).collect()
    }

    /// What `show`, `undo` and `session rollback --before` take for a record: the beginning of the name of its action, or both ends of a long one, else session and number.
    fn id(&self, entry: &Entry<'_>) -> String {
        let id = match action(entry.record).filter(|id| !self.shared.is_shared(id)) {
            Some(id) => self.calls.of_call(id),
            None => format!("{}:{}", self.sessions.of(entry.folder.as_str()), entry.record.seq),
        };
        plain_name(&id)
    }

    /// A text with the names of files from the root of the workspace or of the home directory on.
    fn shortened(&self, text: &str) -> String {
        shortened(self.environment, self.workspace.as_deref(), text)
    }
}

/// A text with the names of files from the root of a workspace or of the home directory on.
pub(super) fn shortened(environment: &HostEnvironment, workspace: Option<&str>, text: &str) -> String {
    match workspace {
        Some(root) => short_names(text, root, environment.home.as_str()),
        None => at_home(environment, text),
    }
}

/// A text with `~` for the home directory, also in the names of files below it.
pub(super) fn at_home(environment: &HostEnvironment, text: &str) -> String {
    below(text, environment.home.as_str(), "~/")
}

/// What was answered to the questions among the entries. The answer to one stands behind it, perhaps in a record that is not told.
fn answers_of<'e, 'a: 'e>(
    environment: &HostEnvironment,
    folder: &FolderName,
    mut entries: impl Iterator<Item = &'e Entry<'a>>,
) -> HashMap<ActionId, QuestionOutcome> {
    // Whether one without an end ran, the records behind it tell as well.
    let asks = |entry: &Entry<'_>| matches!(&entry.record.body, RecordBody::Review(review) if review.verdict == VerdictKind::Escalate || entry.outcome.is_none());
    let Some(first) = entries.find(|entry| asks(entry)) else { return HashMap::new() };
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    // What waited was answered before its review was written down.
    let is_answer =
        |record: &Record| matches!(&record.body, RecordBody::Event { name, .. } if name == ANSWERED);
    let records: Vec<Record> = match lines(&ledger.path()) {
        Ok(lines) => lines
            .filter_map(|line| line.ok()?.record)
            .filter(|record| record.seq >= first.record.seq || is_answer(record))
            .collect(),
        Err(_) => Vec::new(),
    };
    answers(&records)
}

/// Whether a person who looks for trouble wants to see a record: anything that was not plainly fine.
pub(super) fn is_risky(record: &Record, outcome: Option<&OutcomeRecord>) -> bool {
    let is_surprising = |outcome: &OutcomeRecord| {
        outcome.verification.as_deref().is_some_and(|seen| !seen.surprises.is_empty())
    };
    match &record.body {
        RecordBody::Review(review) => review.verdict != VerdictKind::Ok || outcome.is_some_and(is_surprising),
        RecordBody::Outcome(outcome) => is_surprising(outcome),
        RecordBody::Unanswered(_)
        | RecordBody::Unreviewed(_)
        | RecordBody::Issue(_)
        | RecordBody::Intervention(_)
        | RecordBody::Rollback(_)
        | RecordBody::Halted { .. }
        | RecordBody::ConfigChanged { .. }
        | RecordBody::Failure { .. }
        | RecordBody::Repaired { .. } => true,
        _ => false,
    }
}

/// The line of an entry, and the one that says why where there is something to say.
fn told(
    entry: &Entry<'_>,
    answers: &HashMap<ActionId, QuestionOutcome>,
    (id, client): (&str, &str),
    shortened: impl Fn(&str) -> String,
) -> Vec<String> {
    let StoryLine { verdict: given, answer, what, mut result, why } = StoryLine::of(entry, answers);
    if answer == Some(QuestionOutcome::NotRun.word()) {
        result.push(format!("refused by {client} or its user"));
    }
    let (what, why) = (shortened(&what), shortened(&why));
    let mut mark = given.map_or_else(|| dim("-"), verdict_word);
    if let Some(answer) = answer {
        mark = format!("{mark}: {answer}");
    }
    let result = if result.is_empty() { String::new() } else { format!("  {}", dim(&result.join(", "))) };
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(shown_length(text)));
    let before = format!(
        "  {}  {id}{}  {mark}{}  ",
        dim(&clock(entry.record.at.0)),
        pad(id, ACTION),
        pad(&mark, MARK)
    );
    // A call is cut to a line; what Checkrein itself says, such as the summary of a session, is short and stays whole.
    let most = if given.is_some() { CALL } else { WHOLE };
    let line = format!("{before}{}{result}", brief(&plain(&what), most));
    // Where a line is long enough what goes on stands below the call, else below the time.
    let column = shown_length(&before);
    let margin = if width() >= column + CALL { column } else { WHY };
    let mut lines = vec![hanging(&line, margin)];
    if !why.is_empty() {
        lines.push(hanging(&format!("{}{}", " ".repeat(WHY), brief(&plain(&why), WHOLE)), WHY));
    }
    lines
}

/// An entry in parts.
pub(super) struct StoryLine {
    /// The verdict on a call, or what something else amounts to.
    pub(super) verdict: Option<VerdictKind>,
    /// What was answered to the question about it, in one word.
    pub(super) answer: Option<&'static str>,
    /// What happened.
    pub(super) what: String,
    /// How it ended, as far as that is known.
    pub(super) result: Vec<String>,
    /// Why; empty where there is nothing to say.
    why: String,
}

impl StoryLine {
    /// Returns the parts of an entry, as they stand in the records.
    pub(super) fn of(entry: &Entry<'_>, answers: &HashMap<ActionId, QuestionOutcome>) -> Self {
        let RecordWords { mut verdict, what, mut why } = described(entry.record);
        let mut result = Vec::new();
        let mut answer = match &entry.record.body {
            RecordBody::Review(review) => answers.get(&review.action_id).copied(),
            _ => None,
        };
        // A question that reached nobody, and a changed call that the client cannot take, were refusals: they are called so.
        if let RecordBody::Review(review) = &entry.record.body
            && review.disposition() == CallDisposition::Refused
            && matches!(answer, None | Some(QuestionOutcome::Refused))
        {
            (verdict, answer) = (Some(review.verdict_at_door()), None);
        }
        let answer = answer.map(QuestionOutcome::word);
        if let RecordBody::Review(review) = &entry.record.body {
            // What it changes, as foreseen: `show` tells.
            if review.verdict == VerdictKind::Ok {
                why.clear();
            }
            // Where nothing ran, nothing ran instead.
            let outcome = answers.get(&review.action_id);
            if review.verdict_at_door() >= VerdictKind::Block
                || outcome.is_some_and(|one| one.kept_from_running())
            {
                why.clone_from(&review.reason);
            }
        }
        // What ended of a refused call is what its client ran to refuse it, such as a command that prints the reason and fails. Where the call
        // ran all the same, a record of its own says so.
        let is_refused = matches!(&entry.record.body, RecordBody::Review(review) if review.disposition() == CallDisposition::Refused);
        if let Some(outcome) = entry.outcome.filter(|_| !is_refused) {
            result.extend(outcome.failed.then(|| "failed".to_owned()));
            result.extend(outcome.duration_ms.map(duration));
            if !outcome.masked.is_empty() {
                result.push(format!("{} masked", counted(outcome.masked.len() as u64, "value")));
            }
            let surprise = outcome.verification.as_deref().and_then(surprises_in_one_line);
            if why.is_empty() || surprise.is_some() {
                why = surprise.or_else(|| phrases::error_line(outcome)).unwrap_or(why);
            }
        }
        Self { verdict, answer, what, result, why }
    }
}

/// Whether a record says more than the line of its call: what was spent stands in the list of sessions, and a
/// call without a word ran.
pub(super) fn is_told(record: &Record) -> bool {
    match &record.body {
        // Anchors tie the chains of sessions together, and only `audit` has a use for them.
        RecordBody::Usage(_) | RecordBody::Message { .. } | RecordBody::Anchor { .. } => false,
        // What the client tells of its own turns is the frame of the calls, and no call.
        RecordBody::Event { name, fields } => {
            name.starts_with("checkrein.") || name == "PermissionDenied" || fields.get(SUMMARY).is_some()
        }
        RecordBody::Outcome(outcome) => {
            outcome.failed || outcome.verification.as_deref().and_then(surprises_in_one_line).is_some()
        }
        _ => true,
    }
}

/// A record in words, with what its outcome or its rewrite adds.
fn described(record: &Record) -> RecordWords {
    let mut words = phrases::record(&record.body);
    match &record.body {
        RecordBody::Review(review) => {
            words.why = why(review);
            // A line has room for one command: the one that the verdict is about, where the whole does not fit.
            if !fits(&words.what)
                && let Some(command) = culprit(review)
            {
                words.what = format!("{} {command}", review.tool.as_str());
            }
        }
        RecordBody::Outcome(outcome) => {
            if let Some(surprise) = outcome.verification.as_deref().and_then(surprises_in_one_line) {
                words.why = surprise;
            }
        }
        _ => {}
    }
    words
}

/// Why a review said what it said; what runs in place of the call comes first.
fn why(review: &ReviewRecord) -> String {
    let own = review.input.get("command").and_then(|text| text.as_str()).unwrap_or_default();
    let changed = |command: &str| {
        let part = if fits(command) { None } else { changed_command(command, own) };
        brief(part.as_deref().unwrap_or(command), CALL)
    };
    match review.rewrite.as_ref().and_then(|input| input.as_str()) {
        Some(command) if review.reason.is_empty() => format!("`{}` instead", changed(command)),
        Some(command) => format!("`{}` instead: {}", changed(command), review.reason),
        None => review.reason.clone(),
    }
}

/// Whether a call is shown whole in its line.
fn fits(text: &str) -> bool {
    !text.trim_end().contains('\n') && text.chars().count() <= CALL
}
