//! The course of one call as a story: what the agent wanted, what was seen, what was decided and why, and what came of it.

use checkrein_engine::approvals::speaks_against;
use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::rollback::restored;
use checkrein_engine::text::{WARNING_NOT_SAID, plain_lines};
use checkrein_protocol::{
    AbsolutePath, CallDisposition, Certainty, Effect, EffectKind, Enforcement, OutcomeRecord, Record,
    RecordBody, ReviewRecord, RuledOut, VerdictKind, VerificationRecord,
};
use checkrein_review::sentence;
use checkrein_snapshot::SnapshotId;
use checkrein_world::find_workspace;

use crate::commands::allow::{in_words_of, is_grave_loss};
use crate::commands::answers::QuestionOutcome;
use crate::commands::call_shown::{CallExtent, call_shown};
use crate::commands::snapshots::size;
use crate::commands::story::at_home;
use crate::commands::undo::only_pushes;
use crate::phrases;
use crate::render::{duration, files_and_folders, looked_in_words, surprise_in_words, time};
use crate::terminal::{bold, counted, dim, hanging, in_its_colour, plain, wrapped};

/// How wide the word in front of a line is.
const LABEL: usize = 10;

/// How many effects are named (ours); the numbers have all that are on record.
const NAMED: usize = 5;

/// A line of the story: the word in front of it, and the text.
type Line = (&'static str, String);

/// One call, from what the agent wanted to what came of it.
pub(super) struct CallCourse<'a> {
    record: &'a Record,
    review: &'a ReviewRecord,
    /// What commands take for it.
    called: &'a str,
    outcome: Option<&'a OutcomeRecord>,
    answer: Option<QuestionOutcome>,
    /// What the client is called.
    client: &'a str,
}

/// Whether a call ran, as far as the records tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    /// There is an outcome.
    Ran,
    /// It was refused, by us or by the user.
    Refused,
    /// It was let through, and the client or its user refused it, as far as is known.
    NotRun,
    /// There is no outcome: it still runs, waits for an answer, or nobody said how it ended.
    NotKnown,
}

impl<'a> CallCourse<'a> {
    /// Returns the course of a call from its review and the records of it that follow.
    pub(super) fn of(
        record: &'a Record,
        (review, called): (&'a ReviewRecord, &'a str),
        after: &[&'a Record],
        (answer, client): (Option<QuestionOutcome>, &'a str),
    ) -> Self {
        let ran_all_the_same = after
            .iter()
            .any(|record| matches!(record.body, RecordBody::Unreviewed(_) | RecordBody::Unanswered(_)));
        // What ended of a refused call is what its client ran to refuse it.
        let has_ended = ran_all_the_same || review.disposition() != CallDisposition::Refused;
        let outcome = after.iter().find_map(|record| match &record.body {
            RecordBody::Outcome(outcome) => Some(outcome),
            _ => None,
        });
        let outcome = outcome.filter(|_| has_ended);
        Self { record, review, called, outcome, answer, client }
    }

    fn became(&self) -> Became {
        use QuestionOutcome::{No, NoAnswer, NoByUser, Nobody, Refused, Told, Yes, YesByUser};
        if self.outcome.is_some() || matches!(self.answer, Some(Yes | YesByUser | Nobody)) {
            return Became::Ran;
        }
        if self.answer == Some(QuestionOutcome::NotRun) {
            return Became::NotRun;
        }
        let is_refused = match self.review.disposition() {
            CallDisposition::Refused => true,
            CallDisposition::Asked => matches!(self.answer, Some(No | NoAnswer | NoByUser | Refused | Told)),
            CallDisposition::LetRun => false,
        };
        if is_refused { Became::Refused } else { Became::NotKnown }
    }

    /// Returns the story, in lines that fit the terminal.
    pub(super) fn told(&self, environment: &HostEnvironment, extent: CallExtent) -> String {
        let review = self.review;
        let words = call_shown(review, extent);
        let head = format!("{}  call {}", time(self.record.at.0), plain(self.called));
        let who = if review.actor.is_some() { "A sub-agent" } else { "The agent" };
        let end = if words.lines.is_empty() { "." } else { ":" };
        let mut lines =
            vec![dim(&head), wrapped(&format!("{who} wanted to {}{end}", at_home(environment, &words.what)))];
        lines.extend(words.lines.iter().map(|line| format!("    {line}").trim_end().to_owned()));
        lines.push(String::new());
        let mut told = self.seen();
        told.extend(self.decided());
        told.extend(self.came_of_it(environment, extent));
        told.extend(self.ways_on());
        told.iter_mut().for_each(|(_, text)| *text = at_home(environment, text));
        lines.push(in_lines(&told));
        if extent == CallExtent::Beginning {
            lines.push(String::new());
            let more =
                format!("`checkrein show {} --verbose` adds the numbers and the rules.", plain(self.called));
            lines.push(dim(&wrapped(&more)));
        }
        lines.join("\n")
    }

    fn seen(&self) -> Vec<Line> {
        let effects = &self.review.effects;
        if effects.is_empty() {
            return vec![("seen", "no change".to_owned())];
        }
        let mut gravest: Vec<&Effect> = effects.iter().collect();
        gravest.sort_by_key(|effect| weight_for_user(effect));
        let mut lines: Vec<Line> = labelled("seen", gravest.into_iter().take(NAMED).map(effect));
        if effects.len() > NAMED {
            lines.push(("", format!("and {} more", effects.len() - NAMED)));
        }
        lines
    }

    fn decided(&self) -> Vec<Line> {
        let review = self.review;
        let kind = review.verdict;
        let (ran_instead, is_told) = (review.rewrite.is_some(), kind == VerdictKind::Nudge);
        let clause = match (review.mode, kind) {
            (Enforcement::Observe, VerdictKind::Ok) => "let it run".to_owned(),
            (Enforcement::Observe, _) => {
                format!("only watched (`mode: observe`): else it {}", phrases::verdict_ahead(kind))
            }
            // A question that a user reads first, or that waited for them, was one all the same.
            (Enforcement::Enforce, VerdictKind::Escalate)
                if matches!(self.answer, Some(QuestionOutcome::Told | QuestionOutcome::NoByUser)) =>
            {
                phrases::verdict(kind).to_owned()
            }
            (Enforcement::Enforce, _) if review.disposition() == CallDisposition::Refused => {
                phrases::verdict(review.verdict_at_door()).to_owned()
            }
            (Enforcement::Enforce, _) if ran_instead && is_told => "let a safer form run".to_owned(),
            (Enforcement::Enforce, _) => phrases::verdict(kind).to_owned(),
        };
        let mut lines = vec![("decided", in_its_colour(&clause, review.verdict_at_door()))];
        if review.flagged {
            lines.push(("", "it is flagged: a ticket waits for you (`checkrein ticket list`)".to_owned()));
        }
        // What a call that is fine changes stands above already.
        if !review.reason.is_empty() && kind != VerdictKind::Ok {
            lines.push(("why", plain(&review.reason)));
        }
        if let Some(answered) = &review.answered {
            lines.push(("answer", plain(answered)));
        } else if let Some(answer) =
            self.answer.filter(|answer| !matches!(answer, QuestionOutcome::NotRun | QuestionOutcome::Untold))
        {
            lines.push(("answer", answer.sentence().to_owned()));
        }
        if let Some(rewrite) = review.rewrite.as_ref().and_then(|input| input.as_str()) {
            let name = match self.became() {
                Became::Ran => "ran instead",
                Became::Refused | Became::NotRun => "safer form, not run",
                Became::NotKnown => "safer form",
            };
            lines.push(("changed", format!("{name}: `{}`", plain(rewrite))));
        }
        if kind != VerdictKind::Ok {
            lines.extend(labelled("instead", review.alternatives.iter().map(|text| plain(text))));
        }
        for problem in &review.problems {
            match problem.strip_prefix(WARNING_NOT_SAID) {
                Some("") => {}
                Some(warning) => {
                    lines.push((
                        "not said",
                        format!("{} (the first time it is only recorded)", plain(warning)),
                    ));
                }
                None => lines.push(("not reviewed", plain(problem))),
            }
        }
        lines
    }

    fn came_of_it(&self, environment: &HostEnvironment, extent: CallExtent) -> Vec<Line> {
        let mut lines = match self.outcome {
            Some(outcome) => outcome_lines(outcome, extent),
            None => vec![("outcome", self.end())],
        };
        let review = self.review;
        if let Some(saved) = review.snapshot.as_ref().filter(|saved| saved.entries > 0) {
            let what = files_and_folders(saved.entries);
            lines.push(("saved", format!("{what} ({}) first, as snapshot {}", size(saved.bytes), saved.id)));
            lines.extend(saved.not_saved.iter().map(|what| ("not saved", plain(what))));
            if matches!(self.became(), Became::Ran | Became::NotKnown) {
                lines.push(("undo", self.way_back(environment, saved.id)));
            }
        }
        lines.extend(labelled("not saved", review.not_saved.iter().map(|one| plain(&one.what))));
        lines
    }

    /// How a call is taken back of which something was saved, or why it is not.
    fn way_back(&self, environment: &HostEnvironment, snapshot: u64) -> String {
        let id = plain(self.called);
        let undo = format!("`checkrein undo {id}`");
        let Some(cwd) = AbsolutePath::new(&self.review.cwd) else { return undo };
        let store = checkpoint::store(environment, &find_workspace(&cwd));
        // What cannot be read now says nothing about later.
        let Ok(all) = store.snapshots() else { return undo };
        if let Some(Some(saved_as)) = restored(&store, &all).get(&SnapshotId(snapshot)) {
            return format!("it was taken back; `checkrein snapshot restore {saved_as}` does it again");
        }
        if all.iter().all(|one| one.id != SnapshotId(snapshot)) {
            return "not possible any more: the snapshot was removed".to_owned();
        }
        if only_pushes(self.review) {
            return "not possible: the commits are on the remote; push a commit that reverts them".to_owned();
        }
        undo
    }

    /// What is known of the end of a call that has no outcome.
    fn end(&self) -> String {
        let client = self.client;
        match self.became() {
            Became::Ran => "it ran; how it ended is not recorded".to_owned(),
            Became::Refused => "it did not run".to_owned(),
            Became::NotRun => {
                format!(
                    "it did not run as far as we know: {client} or its user refused it, and no end of it was told"
                )
            }
            Became::NotKnown if self.answer == Some(QuestionOutcome::Open) => {
                format!("it waits for your answer, or {client} did not say how it went on")
            }
            Became::NotKnown if self.answer == Some(QuestionOutcome::Untold) => {
                format!(
                    "it is not known whether it ran: {client} told of no end, as when it refuses a call or one fails"
                )
            }
            Became::NotKnown => format!("it still runs, or {client} did not say how it ended"),
        }
    }

    /// What the user can say to a call that was stopped: that it may pass, where that can be said, and that it was a false alarm.
    fn ways_on(&self) -> Vec<Line> {
        let review = self.review;
        if !review.was_stopped() {
            return Vec::new();
        }
        let id = plain(self.called);
        let barred = speaks_against(review).into_iter().find(|reason| reason.rules_out() == RuledOut::All);
        let allow = match barred {
            None => format!("`checkrein allow {id}` lets exactly this call pass once"),
            Some(reason) => {
                let (why, instead) = in_words_of((review, self.called), reason);
                format!("it cannot be allowed: {why}; {instead}")
            }
        };
        let wrong = format!("`checkrein wrong {id}` says that it should have run");
        labelled("all right?", [allow, wrong].into_iter())
    }
}

/// How a call ended, and what was seen afterwards.
pub(super) fn outcome_lines(outcome: &OutcomeRecord, extent: CallExtent) -> Vec<Line> {
    let lasted = outcome.duration_ms.map(|ms| format!(" after {}", duration(ms))).unwrap_or_default();
    let tool = plain(outcome.tool.as_str());
    let code = phrases::exit_code(outcome).map(|code| format!(" with exit code {code}")).unwrap_or_default();
    // Where nothing but the code was said it is told already.
    let error = phrases::error_line(outcome).filter(|line| code.is_empty() || !line.starts_with("Exit code"));
    let end = match (outcome.failed, error) {
        (false, _) => {
            format!("{tool} ended without an error{lasted}; {} of output", size(outcome.output_bytes))
        }
        (true, Some(error)) => format!("{tool} failed{code}{lasted}: {}", plain(&error)),
        (true, None) => format!("{tool} failed{code}{lasted}; {} of output", size(outcome.output_bytes)),
    };
    let mut lines = vec![("outcome", end)];
    let told = outcome.error.as_deref().unwrap_or_default().trim();
    if extent == CallExtent::Whole && told.lines().count() > 1 {
        lines.extend(labelled("error", plain_lines(told).into_iter()));
    }
    if !outcome.masked.is_empty() {
        let count = counted(outcome.masked.len() as u64, "secret");
        lines.push(("masked", format!("{count} in the output, before the model read it")));
    }
    if let Some(planted) = &outcome.planted {
        lines.push(("beware", format!("its output gives the agent orders: {}", plain(planted))));
    }
    lines.extend(outcome.verification.as_deref().map(checked).unwrap_or_default());
    lines
}

/// What was seen after a call.
fn checked(verification: &VerificationRecord) -> Vec<Line> {
    let mut lines = vec![("checked", plain(&looked_in_words(verification)))];
    lines.extend(verification.gaps.iter().map(|gap| ("", plain(gap))));
    if !verification.left_out.is_empty() {
        lines.push(("", plain(&format!("not looked into: {}", verification.left_out.join(", ")))));
    }
    lines.extend(labelled(
        "surprise",
        verification.surprises.iter().map(|surprise| plain(&surprise_in_words(surprise))),
    ));
    if verification.more_surprises > 0 {
        lines.push(("", format!("and {} more", verification.more_surprises)));
    }
    let causes = verification.other_causes.iter();
    lines.extend(causes.map(|cause| ("", format!("another cause may be: {}", plain(cause)))));
    lines
}

/// Where an effect stands among others: what the user would lose for good comes first, then what touches the guard, then the rest as it is
/// done.
fn weight_for_user(effect: &Effect) -> u8 {
    match (effect.kind == EffectKind::GuardTampering, is_grave_loss(effect)) {
        (_, true) => 0,
        (true, false) => 1,
        (false, false) => 2,
    }
}

/// An effect, and whether it is only possible.
fn effect(effect: &Effect) -> String {
    let perhaps = match effect.certainty {
        Certainty::Certain => "",
        Certainty::Possible => "perhaps ",
    };
    let note = if effect.note.is_empty() { String::new() } else { format!(": {}", effect.note) };
    plain(&format!("{perhaps}{}{note}", sentence(effect)))
}

/// Lines that share one word in front.
fn labelled(label: &'static str, texts: impl Iterator<Item = String>) -> Vec<Line> {
    texts.enumerate().map(|(place, text)| (if place == 0 { label } else { "" }, text)).collect()
}

/// Lines with their words in front, as wide as the terminal.
pub(super) fn in_lines(lines: &[Line]) -> String {
    let one = |(label, text): &Line| {
        let pad = " ".repeat((LABEL + 2).saturating_sub(label.len()).max(2));
        let label = if label.is_empty() { String::new() } else { bold(label) };
        // What goes on in a further line stands below its own text, so that no name of a file looks like a line of ours.
        let text = text.replace('\n', &format!("\n{}", " ".repeat(LABEL + 2)));
        hanging(&format!("{label}{pad}{text}"), LABEL + 2)
    };
    lines.iter().map(one).collect::<Vec<_>>().join("\n")
}
