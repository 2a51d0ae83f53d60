//! `checkrein show ID`: everything that is known about one action.

use std::collections::HashMap;

use checkrein_ledger::lines;
use checkrein_protocol::{
    ActionId, Enforcement, GovernanceRecord, OutcomeRecord, Record, RecordBody, ReviewRecord, RollbackRecord,
    VerdictKind, VerificationRecord,
};
use checkrein_review::sentence;
use checkrein_session::SessionLedger;

use super::answers::{QuestionOutcome, answers};
use super::name_choice::NamedKind;
use super::session_choice::{folders, only_folder};
use super::stopped_calls::{self, Found, NEWEST, Newest};
use super::{ExitStatus, OutputForm, pretty};
use crate::api;
use crate::render::{call, rollback_stage, severity_name, time};
use crate::render::{looked_in_words, surprise_in_words};
use crate::terminal::{bold, dim, plain, print, verdict, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::text::WARNING_NOT_SAID;

/// Shows the reviews and outcomes of the action whose name begins with `id`, or of the record with that number in a session
/// (`SESSION:NUMBER`).
pub fn show(environment: &HostEnvironment, id: &str, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let newest;
    let id = if id == NEWEST {
        let Found { folder, seq, .. } = stopped_calls::newest(environment, Newest::Any)?;
        newest = format!("{}:{seq}", folder.as_str());
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
    let mut found: Vec<Record> = Vec::new();
    let mut all_answers = HashMap::new();
    let folders = match session {
        Some(session) => vec![only_folder(environment, session)?],
        None => folders(environment, None)?,
    };
    for folder in folders {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        let records: Vec<Record> = lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect();
        if records.iter().any(|record| is_meant(record, session, wanted)) {
            all_answers.extend(answers(&records));
            found.extend(records.into_iter().filter(|record| is_meant(record, session, wanted)));
        }
    }
    if session.is_none() {
        let only = NamedKind::Action.only(wanted, found.iter().filter_map(action))?.to_owned();
        found.retain(|record| action(record) == Some(&only));
    } else if found.is_empty() {
        return Err(NamedKind::Action.unknown(id));
    }
    match output {
        OutputForm::Json => print(&api::pretty(&api::sessions::ActionRecords {
            records: found.iter().map(api::recorded).collect(),
        })?),
        OutputForm::Text => {
            for record in &found {
                print(&wrapped(&explain(record, &found, &all_answers)));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Returns what is known of one action of a session from some of its records, the newest of which they are.
pub(super) fn explained<'a>(records: impl IntoIterator<Item = &'a Record> + Clone, id: &ActionId) -> String {
    let all_answers = answers(records.clone());
    let found: Vec<Record> =
        records.into_iter().filter(|record| action(record) == Some(id.as_str())).cloned().collect();
    found.iter().map(|record| explain(record, &found, &all_answers)).collect::<Vec<_>>().join("\n")
}

/// Returns one record in words.
pub(super) fn explained_record(record: &Record) -> String {
    explain(record, &[], &HashMap::new())
}

fn is_meant(record: &Record, session: Option<&str>, wanted: &str) -> bool {
    match session {
        Some(_) => record.seq.to_string() == wanted,
        None => action(record).is_some_and(|id| id.starts_with(wanted)),
    }
}

/// The id of the action of a review or an outcome.
pub(super) fn action(record: &Record) -> Option<&str> {
    match &record.body {
        RecordBody::Review(review) => Some(review.action_id.as_str()),
        RecordBody::Outcome(outcome) => Some(outcome.action_id.as_str()),
        RecordBody::Unreviewed(unreviewed) => Some(unreviewed.action_id.as_str()),
        _ => None,
    }
}

fn explain(record: &Record, found: &[Record], answers: &HashMap<ActionId, QuestionOutcome>) -> String {
    let head = dim(&format!("{}  record {}", time(record.at.0), record.seq));
    match &record.body {
        RecordBody::Review(review) => {
            let answer = answers.get(&review.action_id).copied();
            format!("{head}\n{}", review_text(review, answer, became(review, answer, found)))
        }
        RecordBody::Outcome(outcome) => format!("{head}\n{}", outcome_text(outcome)),
        RecordBody::Intervention(made) => format!(
            "{head}\n{}  {} about {}, {}\n{}",
            bold("intervention"),
            made.kind.name(),
            made.pattern.name(),
            plain(&made.reason),
            indented(&made.text)
        ),
        RecordBody::Rollback(rollback) => format!("{head}\n{}", rollback_text(rollback)),
        RecordBody::Unreviewed(unreviewed) => format!(
            "{head}\n{}  {}\n{}",
            bold(&format!("ran {}", unreviewed.lack.in_words())),
            plain(&unreviewed.call),
            indented(&unreviewed.reason)
        ),
        other => format!("{head}\n{}", pretty(other).unwrap_or_default()),
    }
}

/// Whether a call ran, as far as the records tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    /// There is an outcome.
    Ran,
    /// It was refused, by us or by the user.
    Refused,
    /// There is no outcome: it still runs, waits for an answer, or nobody said how it ended.
    NotKnown,
}

fn became(review: &ReviewRecord, answer: Option<QuestionOutcome>, found: &[Record]) -> Became {
    let has_outcome = found.iter().any(|record| {
        matches!(&record.body, RecordBody::Outcome(outcome) if outcome.action_id == review.action_id)
    });
    let is_refused = review.mode == Enforcement::Enforce
        && match review.verdict {
            VerdictKind::Block | VerdictKind::Halt => true,
            VerdictKind::Escalate => {
                matches!(
                    answer,
                    Some(
                        QuestionOutcome::No
                            | QuestionOutcome::NoByUser
                            | QuestionOutcome::Refused
                            | QuestionOutcome::Told
                    )
                )
            }
            VerdictKind::Ok | VerdictKind::Nudge => false,
        };
    match (
        has_outcome
            || matches!(
                answer,
                Some(QuestionOutcome::Yes | QuestionOutcome::YesByUser | QuestionOutcome::Nobody)
            ),
        is_refused,
    ) {
        (true, _) => Became::Ran,
        (false, true) => Became::Refused,
        (false, false) => Became::NotKnown,
    }
}

fn review_text(review: &ReviewRecord, answer: Option<QuestionOutcome>, became: Became) -> String {
    let flagged = if review.flagged { ", flagged" } else { "" };
    let mut lines = vec![
        format!("{}{flagged}  {}", verdict(review.verdict), plain(&call(review))),
        format!(
            "  decision {}, mode {}, {} µs, in {}",
            review.decision,
            review.mode,
            review.elapsed_us,
            plain(&review.cwd)
        ),
        format!(
            "  action {}{}",
            review.action_id.as_str(),
            review.actor.as_ref().map(|id| format!(", sub-agent {id}")).unwrap_or_default()
        ),
    ];
    if !review.reason.is_empty() {
        lines.push(format!("{}  {}", bold("why"), plain(&review.reason)));
    }
    if let Some(answered) = &review.answered {
        lines.push(format!("{}  {}", bold("answered"), plain(answered)));
    } else if let Some(answer) = answer {
        lines.push(format!("{}  {}", bold("answered"), answer.sentence()));
    }
    if review.digest.is_some() {
        let id = review.action_id.as_str();
        lines
            .push(format!("{}  `checkrein allow {id}` lets exactly this call pass once", bold("all right?")));
    }
    lines.push(format!("{}  {:.2} {}", bold("risk"), review.risk.score, review.risk.level));
    lines.extend(review.risk.factors.iter().map(|factor| format!("  {}", plain(factor))));
    match &review.rationality {
        Some(rationality) => {
            lines.push(format!("{}  {:.2} {}", bold("rationality"), rationality.score, rationality.level));
        }
        None => lines.push(format!("{}  did not run", bold("rationality"))),
    }
    lines.extend(review.governance.as_deref().map(governance_text));
    lines.push(bold("effects"));
    for effect in &review.effects {
        let note = if effect.note.is_empty() { String::new() } else { format!("; {}", effect.note) };
        let cause = if effect.cause.is_empty() { String::new() } else { format!(", by {}", effect.cause) };
        lines.push(plain(&format!(
            "  {} {}, severity {}, stake {}{cause}{note}",
            effect.kind.name(),
            sentence(effect),
            serde_name(&effect.severity),
            serde_name(&effect.stake),
        )));
    }
    let parts = [
        ("rule", &review.rules),
        ("also", &review.further_reasons),
        ("softened by", &review.mitigations),
        ("instead", &review.alternatives),
    ];
    for (name, texts) in parts {
        lines.extend(texts.iter().map(|text| format!("{}  {}", bold(name), plain(text))));
    }
    for problem in &review.problems {
        match problem.strip_prefix(WARNING_NOT_SAID) {
            Some("") => {}
            Some(warning) => {
                lines.push(format!("{}  {}", bold("not said, the first time"), plain(warning)));
            }
            None => lines.push(format!("{}  {}", bold("did not run"), plain(problem))),
        }
    }
    if let (Some(confidence), Some(intent)) = (review.confidence, review.intent) {
        lines.push(format!("{}  {confidence:.2}  {}", bold("confidence"), serde_name(&intent)));
    }
    if let Some(rewrite) = &review.rewrite {
        let name = match became {
            Became::Ran => "ran instead",
            Became::Refused => "safer form, not run",
            Became::NotKnown => "safer form",
        };
        lines.push(format!("{}  {}", bold(name), plain(rewrite.as_str().unwrap_or_default())));
    }
    lines.join("\n")
}

fn rollback_text(rollback: &RollbackRecord) -> String {
    let stage = rollback_stage(rollback.stage);
    let mut lines = vec![
        format!("{}  {stage}, before action {}, by {}", bold("rollback"), rollback.before.0, rollback.by),
        indented(&rollback.text),
    ];
    lines.extend(rollback.named.iter().map(|change| format!("  {}", plain(change))));
    let more = rollback.changes.saturating_sub(rollback.named.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines.extend(rollback.left.iter().map(|left| format!("{}  {}", bold("not as it was"), plain(left))));
    let back = rollback.saved_as.iter().rev();
    lines.extend(back.map(|id| format!("{}  `checkrein snapshot restore {id}`", bold("to take it back"))));
    lines.join("\n")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {}", plain(line))).collect::<Vec<_>>().join("\n")
}

fn governance_text(governance: &GovernanceRecord) -> String {
    let tier = governance.tier.as_ref().map_or_else(|| "off".to_owned(), |tier| format!("tier {tier}"));
    let mut parts = vec![format!("CTQ {:.2}, {tier}, posture {}", governance.ctq, governance.posture)];
    parts.extend(governance.debt.map(|debt| format!("trust debt {debt:.2}")));
    parts.extend(governance.flag.map(|severity| format!("flag {}", severity_name(severity))));
    if governance.asks_for_review {
        parts.push("asks the user to look at the tier".to_owned());
    }
    parts.extend(governance.fired.iter().map(|fired| format!("fired {}", plain(fired))));
    format!("{}  {}", bold("governance"), parts.join(", "))
}

fn serde_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn outcome_text(outcome: &OutcomeRecord) -> String {
    let how = if outcome.failed { "failed" } else { "done" };
    let took = outcome.duration_ms.map(|ms| format!(" in {ms} ms")).unwrap_or_default();
    let error = outcome.error.as_ref().map(|text| format!("\n  {}", plain(text))).unwrap_or_default();
    let verification = outcome.verification.as_deref().map(verification_text).unwrap_or_default();
    format!(
        "{}  {} {how}{took}, {} bytes of output{error}{verification}",
        bold("outcome"),
        outcome.tool.as_str(),
        outcome.output_bytes
    )
}

/// What was seen afterwards, each line with a line feed in front.
fn verification_text(verification: &VerificationRecord) -> String {
    let mut lines = vec![format!("{}  {}", bold("afterwards"), looked_in_words(verification))];
    lines.extend(verification.gaps.iter().map(|gap| format!("  {gap}")));
    if !verification.left_out.is_empty() {
        lines.push(format!("  not looked into: {}", verification.left_out.join(", ")));
    }
    for surprise in &verification.surprises {
        lines.push(format!("{}  {}", bold("surprise"), surprise_in_words(surprise)));
    }
    if verification.more_surprises > 0 {
        lines.push(format!("  and {} more", verification.more_surprises));
    }
    let causes = verification.other_causes.iter();
    lines.extend(causes.map(|cause| format!("{}  {cause}", bold("possible other cause"))));
    format!("\n{}", plain(&lines.join("\n")))
}
