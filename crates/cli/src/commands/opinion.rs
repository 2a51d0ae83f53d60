//! `checkrein wrong` and `checkrein missed`: what a user says of a verdict, and which setting would have made the difference.

mod proposals;

use std::collections::BTreeMap;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::Durability;
use checkrein_protocol::{RecordBody, ReviewRecord, RuledOut};
use checkrein_session::SessionLedger;
use serde_json::json;

use super::stopped_calls::{Found, Newest, found, recent, was_stopped};
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::{self, sessions};
use crate::terminal::{plain, print, wrapped};

/// The name of the records about what a user says of a verdict.
pub(super) const JUDGED: &str = "checkrein.judged";

/// What a user says of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opinion {
    /// It stopped what was all right.
    Wrong,
    /// It let pass what should have been stopped.
    Missed,
}

impl Opinion {
    const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Missed => "missed",
        }
    }
}

/// Writes down what a user says of a verdict, and tells how often that was said of the rules behind it.
pub fn judge(
    environment: &HostEnvironment,
    id: &str,
    opinion: Opinion,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, opinion.name())?;
    let newest = match opinion {
        Opinion::Wrong => Newest::Stopped,
        Opinion::Missed => Newest::LetPass,
    };
    let Found { folder, seq: _, review } = found(environment, id, newest)?;
    match (opinion, was_stopped(&review)) {
        (Opinion::Wrong, true) | (Opinion::Missed, false) => {}
        (Opinion::Wrong, false) => {
            return Err(CommandError::user(
                "that call was not stopped, so nothing was wrong with stopping it",
                "`checkrein missed ID` says that one should have been",
            ));
        }
        (Opinion::Missed, true) => {
            return Err(CommandError::user(
                "that call was stopped, so nothing was missed",
                "`checkrein wrong ID` says that it should have run",
            ));
        }
    }
    let names: Vec<&str> = review.rules.iter().filter_map(|rule| rule.split(':').next()).collect();
    let fields = json!({ "action": review.action_id, "opinion": opinion.name(), "rules": names });
    let body = RecordBody::Event { name: JUDGED.to_owned(), fields };
    SessionLedger::of_folder(&environment.state, folder).append(
        environment.now(),
        body,
        Durability::Durable,
    )?;
    let rates = rates(environment)?;
    let of_it: Vec<sessions::RuleRate> =
        rates.into_iter().filter(|rate| names.contains(&rate.rule.as_str())).collect();
    let proposals = proposals::proposals(environment, &review, opinion)?;
    match output {
        OutputForm::Json => print(&api::line(&sessions::OpinionMarked {
            action: review.action_id.as_str().to_owned(),
            opinion: opinion.name().to_owned(),
            rules: of_it,
            proposals: proposals.into_iter().map(sessions::ProposedSetting::from).collect(),
        })?),
        OutputForm::Text => {
            print("noted");
            for rate in &of_it {
                print(&format!(
                    "  {}: {} of {} stops in the last 30 days were wrong",
                    rate.rule, rate.wrong, rate.stopped
                ));
            }
            // The narrowest comes first: one call, then places and rules, which let other calls pass too.
            if opinion == Opinion::Wrong {
                print(&wrapped(&very_call(&review)));
            }
            for proposal in &proposals {
                print(&wrapped(&plain(&proposal.in_words())));
            }
            if !proposals.is_empty() {
                print(&wrapped(&proposals::how_to_try()));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// How this very call may pass from now on.
fn very_call(review: &ReviewRecord) -> String {
    let id = plain(review.action_id.as_str());
    match review.unliftable.iter().max_by_key(|reason| reason.rules_out()) {
        None => format!("`checkrein allow {id} --always` lets this very call pass from now on"),
        Some(reason) if reason.rules_out() == RuledOut::Lasting => {
            format!("`checkrein allow {id} --once` lets this very call pass once: {}", reason.why())
        }
        Some(reason) => format!("nothing lets this very call pass: {}; {}", reason.why(), reason.instead()),
    }
}

/// How often each rule stopped a call in the last 30 days, and how often a user said that it was wrong.
fn rates(environment: &HostEnvironment) -> Result<Vec<sessions::RuleRate>, CommandError> {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    // A user may say something of a call again: the last word counts, once.
    let mut opinions = BTreeMap::new();
    for (folder, record) in recent(environment)? {
        match record.body {
            RecordBody::Review(review) if was_stopped(&review) => {
                for rule in review.rules.iter().filter_map(|rule| rule.split(':').next()) {
                    counts.entry(rule.to_owned()).or_default().0 += 1;
                }
            }
            RecordBody::Event { name, fields } if name == JUDGED => {
                opinions.insert((folder, fields["action"].to_string()), fields);
            }
            _ => {}
        }
    }
    for fields in opinions.values().filter(|fields| fields["opinion"] == Opinion::Wrong.name()) {
        for rule in fields["rules"].as_array().into_iter().flatten().filter_map(|rule| rule.as_str()) {
            counts.entry(rule.to_owned()).or_default().1 += 1;
        }
    }
    Ok(counts
        .into_iter()
        .map(|(rule, (stopped, wrong))| sessions::RuleRate { rule, stopped, wrong })
        .collect())
}

impl From<proposals::Proposal> for sessions::ProposedSetting {
    fn from(proposal: proposals::Proposal) -> Self {
        Self {
            says: proposal.says,
            file: proposal.file.to_string(),
            lines: proposal.lines,
            tried: proposal.makes_difference.is_some(),
        }
    }
}
