//! A review by another model: its answer is a verdict or none, and it can only stop a step.

use std::io;

use checkrein_ledger::mask::mask_text;
use checkrein_pipelines::{
    DesignReview, ModelReviewer, ReviewQuestion, ReviewStep, ReviewVerdict, ReviewedThing, StepEnd,
    StepResult, VerdictWord, eligible_reviewers,
};
use checkrein_supervise::runs::file::replace;

use super::act::{StepReport, StepWork};
use super::asking::{LONGEST_REVIEWED, ReviewDesk, ReviewEnd};
use super::changes::changes;

/// What is reviewed where the changes excuse themselves from a gate.
const WITH_EXEMPTIONS: &str = "the exemptions from gates that the changes of the task bring, each of which needs a reason that holds, and then the changes as a diff";

/// Asks the reviewers of a step, one after the other, until one gives a verdict.
pub(super) fn review(work: &StepWork, step: &ReviewStep) -> io::Result<Option<StepReport>> {
    let exemptions = work.exemptions();
    let (what, data) = match &step.of {
        ReviewedThing::Changes if !exemptions.is_empty() => {
            (WITH_EXEMPTIONS, changes(work).map(|diff| with_exemptions(&exemptions, diff)))
        }
        ReviewedThing::Changes => ("the changes of the task, as a diff", changes(work)),
        ReviewedThing::File(path) => ("a file", file(work, path)),
    };
    let question = mask_text(&step.question.filled(&work.values), &work.key).into_owned();
    asked(work, &step.by, (&question, what, data))
}

/// Puts the exemptions before the changes: they are words of whoever made these, so they are data too.
fn with_exemptions(exemptions: &[String], diff: Vec<u8>) -> Vec<u8> {
    if diff.is_empty() {
        return diff;
    }
    [format!("Exemptions:\n{}\n\nChanges:\n", exemptions.join("\n")).into_bytes(), diff].concat()
}

/// Asks the reviewers of a design, whose form was looked at.
pub(super) fn review_design(work: &StepWork, review: &DesignReview) -> io::Result<Option<StepReport>> {
    let data = file(work, &review.design);
    asked(work, &review.by, (checkrein_gates::LLD_QUESTION, "a low-level design", data))
}

fn file(work: &StepWork, path: &str) -> Result<Vec<u8>, String> {
    super::own_file(&work.directory, path).map_err(|why| format!("`{path}` {why}"))
}

fn asked(
    work: &StepWork,
    by: &[String],
    (question, what, data): (&str, &str, Result<Vec<u8>, String>),
) -> io::Result<Option<StepReport>> {
    let data = match data {
        Ok(data) if data.is_empty() => {
            return Ok(Some(StepReport::plain(
                StepEnd::DidNotRun,
                "there is nothing to review: nothing changed",
            )));
        }
        Ok(data) if data.len() > LONGEST_REVIEWED => {
            let why =
                format!("there is more to review than {} KiB: review smaller steps", LONGEST_REVIEWED >> 10);
            return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
        }
        Ok(data) => mask_text(&String::from_utf8_lossy(&data), &work.key).into_owned(),
        Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
    };
    let named: Vec<&ModelReviewer> = by.iter().filter_map(|name| work.pipeline.reviewer(name)).collect();
    let eligible = eligible_reviewers(&named, &work.pipeline.authors_by(&work.values));
    if eligible.is_empty() {
        let why = "nobody may review: all reviewers are of a family whose models worked in this run";
        return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
    }
    let desk = ReviewDesk {
        environment: &work.environment,
        program: &work.program()?,
        hold: &work.hold,
        folder: &work.folder,
        stop: &work.stop,
    };
    let subject = ReviewQuestion { question, what, data: &data, before: &work.said_before };
    let round = desk.ask_each(&eligible, &subject, work.step.time.0)?;
    let report = match round.end {
        ReviewEnd::Stopped => return Ok(None),
        ReviewEnd::NoVerdict(why) => StepReport::plain(StepEnd::DidNotRun, why),
        ReviewEnd::Verdict(verdict, reviewer) => {
            let text = serde_json::to_vec_pretty(&verdict)?;
            replace(&work.folder.join("verdict.json"), &text).map_err(io::Error::other)?;
            StepReport {
                result: of_verdict(&verdict, &reviewer),
                text: told(&verdict),
                ..StepReport::plain(StepEnd::Passed, "")
            }
        }
    };
    Ok(Some(StepReport { reviews: round.reviews, ..report }))
}

fn of_verdict(verdict: &ReviewVerdict, reviewer: &str) -> StepResult {
    let end = match verdict.verdict {
        VerdictWord::Approved => StepEnd::Passed,
        VerdictWord::Revise => StepEnd::Failed,
        VerdictWord::Blocked => StepEnd::Refused,
    };
    let problems = verdict.problems();
    StepResult {
        count: u64::try_from(problems.len()).ok().filter(|count| *count > 0),
        problems,
        feedback: told(verdict),
        ..StepResult::plain(end, format!("{reviewer} says {}: {}", verdict.verdict.name(), verdict.rationale))
    }
}

/// A verdict for whoever mends what it names.
fn told(verdict: &ReviewVerdict) -> String {
    let issues =
        verdict.issues.iter().map(|one| format!("- {} {}: {}", one.severity, one.place, one.problem));
    std::iter::once(format!("{}: {}", verdict.verdict.name(), verdict.rationale))
        .chain(issues)
        .collect::<Vec<_>>()
        .join("\n")
}
