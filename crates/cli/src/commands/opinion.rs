//! `checkrein wrong` and `checkrein missed`: what a user says of a verdict, and which setting would have made the difference.

mod exemptions;
mod others;
mod proposals;

use std::collections::BTreeMap;

use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::Durability;
use checkrein_policy::LayerKind;
use checkrein_protocol::{RecordBody, ReviewRecord, RuledOut};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;
use serde_json::json;

use super::name_choice::NEWEST;
use super::stopped_calls::{Found, Newest, found, newer_refusal, recent, refused_by_client};
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, sessions};
use crate::render::call;
use crate::terminal::{Reply, confirm, counted, cut, log, plain, print, print_exact, wrapped};

/// How much of the call is shown, in letters (ours).
const CALL: usize = 100;

/// The name of the records about what a user says of a verdict.
pub(crate) const JUDGED: &str = "checkrein.judged";

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

/// What is wanted of `wrong` and `missed`.
#[derive(Debug, Clone, Copy)]
pub struct OpinionWanted<'a> {
    /// The call: the beginning of its id, `SESSION:NUMBER` or `LAST`.
    pub id: &'a str,
    /// What the user says of it.
    pub opinion: Opinion,
    /// The proposed setting that is to be written, by its number; `None` where none is.
    pub set: Option<usize>,
    /// Whether the question is answered already.
    pub yes: Switch,
}

impl<'a> OpinionWanted<'a> {
    /// An opinion alone: no setting is written.
    pub fn only(id: &'a str, opinion: Opinion) -> Self {
        Self { id, opinion, set: None, yes: Switch::Off }
    }
}

/// The error about a call that we let through and its client refused.
fn let_pass(meant: &Found, client: &str) -> CommandError {
    let words = cut(&plain(&call(&meant.review)), CALL);
    CommandError::user(
        format!("checkrein let `{words}` pass; {client} or its user refused it"),
        format!("allow it in the settings or at the question of {client}"),
    )
}

/// The same where `LAST` means a call that nobody else than the client stopped.
fn last_refused(environment: &HostEnvironment, id: &str) -> Option<CommandError> {
    let last = found(environment, id, Newest::Any).ok().filter(|_| id == NEWEST)?;
    let client = refused_by_client(environment, &last)?;
    Some(let_pass(&last, &client))
}

/// Writes down what a user says of a verdict, tells how often that was said of the rules behind it, and which setting would have made the
/// difference.
pub fn judge(
    environment: &HostEnvironment,
    wanted: &OpinionWanted<'_>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let OpinionWanted { id, opinion, .. } = *wanted;
    for_people_only(environment, opinion.name())?;
    if output == OutputForm::Json && wanted.set.is_some() && wanted.yes == Switch::Off {
        return Err(CommandError::user(
            "`--json` cannot ask, so nothing was set",
            "give `--yes` too, or leave `--json` out and answer the question",
        ));
    }
    let newest = match opinion {
        Opinion::Wrong => Newest::Stopped,
        Opinion::Missed => Newest::LetPass,
    };
    let meant =
        found(environment, id, newest).map_err(|error| last_refused(environment, id).unwrap_or(error))?;
    if opinion == Opinion::Wrong {
        newer_refusal(environment, id, &meant).iter().for_each(|remark| log(&wrapped(remark)));
    }
    if opinion == Opinion::Wrong
        && !meant.review.was_stopped()
        && let Some(client) = refused_by_client(environment, &meant)
    {
        return Err(let_pass(&meant, &client));
    }
    let Found { folder, review, name: called, .. } = meant;
    match (opinion, review.was_stopped()) {
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
    let proposals = proposals::proposals(environment, &review, opinion)?;
    let chosen = chosen(wanted, &proposals)?;
    // Who does not want the setting has said nothing yet.
    if let (Some(chosen), OutputForm::Text) = (chosen, output) {
        match asked(chosen, wanted.yes) {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let names: Vec<&str> = review.rules.iter().filter_map(|rule| rule.split(':').next()).collect();
    let before = Said::of(environment)?;
    let fields = json!({ "action": review.action_id, "opinion": opinion.name(), "rules": names });
    let body = RecordBody::Event { name: JUDGED.to_owned(), fields };
    SessionLedger::of_folder(&environment.state, folder).append(
        environment.now(),
        body,
        Durability::Durable,
    )?;
    let after = Said::of(environment)?;
    let is_behind = |rate: &sessions::RuleRate| names.contains(&rate.rule.as_str());
    let of_it: Vec<sessions::RuleRate> = after.rates().into_iter().filter(is_behind).collect();
    if let (Some(chosen), OutputForm::Text) = (chosen, output) {
        write(environment, chosen)?;
        print(&wrapped(&format!("Written to `{}`. It holds from the next call on.", chosen.file)));
        if chosen.file.name() == Some("checkrein.yaml") {
            print("`checkrein trust` confirms it: until then what a project loosens waits.");
        }
        return Ok(ExitStatus::Done);
    }
    match output {
        OutputForm::Json => {
            if let Some(chosen) = chosen {
                write(environment, chosen)?;
            }
            print_exact(&api::line(&sessions::OpinionMarked {
                action: review.action_id.as_str().to_owned(),
                opinion: opinion.name().to_owned(),
                rules: of_it,
                written: chosen.map(|chosen| chosen.file.to_string()),
                proposals: proposals.into_iter().map(sessions::ProposedSetting::from).collect(),
            })?);
        }
        OutputForm::Text => {
            print(&in_words((&review, &called), opinion, (&before, &after), &of_it, &proposals));
        }
    }
    Ok(ExitStatus::Done)
}

/// What was recorded, how the rates change, and what the user can do now.
fn in_words(
    (review, called): (&ReviewRecord, &str),
    opinion: Opinion,
    (before, after): (&Said, &Said),
    of_it: &[sessions::RuleRate],
    proposals: &[proposals::Proposal],
) -> String {
    let id = plain(called);
    let what = match opinion {
        Opinion::Wrong => "stopping this call was a false alarm",
        Opinion::Missed => "this call should have been stopped",
    };
    let mut lines = vec![wrapped(&format!("Recorded: {what}.\n    {}", cut(&plain(&call(review)), CALL)))];
    match opinion {
        Opinion::Wrong => lines.extend(of_it.iter().map(|rate| {
            let earlier = before.of_rule(&rate.rule).1;
            wrapped(&format!(
                "Rule `{}`: {} in {} of the last 30 days{}.",
                plain(&rate.rule),
                counted(rate.wrong, "false alarm"),
                counted(rate.stopped, "stop"),
                change(earlier, rate.wrong)
            ))
        })),
        Opinion::Missed => lines.push(wrapped(&format!(
            "{} of the last 30 days {} missed{}.",
            counted(after.missed, "call"),
            if after.missed == 1 { "was" } else { "were" },
            change(before.missed, after.missed)
        ))),
    }
    lines.push("`checkrein stats` counts it. Nothing else changes by itself.".to_owned());
    if opinion == Opinion::Wrong {
        lines.push(wrapped(&format!("\n{}.", very_call(review, called))));
    }
    if !proposals.is_empty() {
        let end = match opinion {
            Opinion::Wrong => "Settings that let calls like this one pass:",
            Opinion::Missed => "Settings that ask about calls like this one:",
        };
        lines.push(format!("\n{end}"));
    }
    for (place, proposal) in proposals.iter().enumerate() {
        let number = place + 1;
        let command = format!("checkrein {} {id} --set {number}", opinion.name());
        let told = wrapped(&format!("  {number}. {}", plain(&proposal.in_words(opinion, &command))));
        lines.push(told + &plain(&proposal.indented_lines()));
    }
    if proposals.is_empty() {
        lines.push("\nNo single setting would have made the difference.".to_owned());
    } else {
        lines.push(wrapped(&proposals::how_to_try()));
    }
    lines.join("\n")
}

/// How a count changed.
fn change(before: u64, after: u64) -> String {
    if before == after {
        " (as before: you said so already)".to_owned()
    } else {
        format!(" ({before} before)")
    }
}

/// The proposed setting that is to be written; `None` where none is wanted.
fn chosen<'a>(
    wanted: &OpinionWanted<'_>,
    proposals: &'a [proposals::Proposal],
) -> Result<Option<&'a proposals::Proposal>, CommandError> {
    let Some(number) = wanted.set else { return Ok(None) };
    let found = proposals.get(number.wrapping_sub(1)).ok_or_else(|| {
        let there = counted(proposals.len() as u64, "setting");
        let hint = format!("`checkrein {} {}` shows them", wanted.opinion.name(), plain(wanted.id));
        CommandError::user(format!("there is no setting {number}: {there} would make the difference"), hint)
    })?;
    Ok(Some(found))
}

/// Shows a setting, and asks whether it is to be written.
fn asked(chosen: &proposals::Proposal, yes: Switch) -> Reply {
    print(&wrapped(&format!("{}, in `{}`:", plain(&chosen.says), chosen.file)));
    print_exact(&plain(&chosen.lines));
    match yes {
        Switch::On => Reply::Yes,
        Switch::Off => confirm(&format!("Add this to `{}`?", chosen.file)),
    }
}

/// Adds a setting to its file. An error where its lines cannot be added by a program, or the configuration would not be valid.
fn write(environment: &HostEnvironment, chosen: &proposals::Proposal) -> Result<(), CommandError> {
    let before = config_files::text_of(&chosen.file)?;
    let Some(text) = chosen.added_to(before.as_deref().unwrap_or_default()) else {
        return Err(CommandError::user(
            format!(
                "`{}` has this setting already, or is written in a form that takes no further lines",
                chosen.file
            ),
            "add the lines that the command shows yourself; `checkrein config check` looks at the result",
        ));
    };
    let is_own = chosen.file == config_files::user_file(environment);
    let kind = if is_own { LayerKind::User } else { LayerKind::Project };
    let workspace = find_workspace(&environment.cwd);
    config_files::load_replacing(environment, &workspace, kind, &chosen.file, &text)?;
    confirmed_configuration::confirming(environment, || match (is_own, &before) {
        (true, None) => config_files::write_private(&chosen.file, text.as_bytes()),
        _ => config_files::replace_file(&chosen.file, text.as_bytes()),
    })
}

/// How this very call may pass from now on.
fn very_call(review: &ReviewRecord, called: &str) -> String {
    let id = plain(called);
    match review.unliftable.iter().max_by_key(|reason| reason.rules_out()) {
        None => format!("`checkrein allow {id} --always` lets this very call pass from now on"),
        Some(reason) if reason.rules_out() == RuledOut::Lasting => {
            format!("`checkrein allow {id} --once` lets this very call pass once: {}", reason.why())
        }
        Some(reason) => format!(
            "This very call cannot be allowed: {}; {}",
            reason.why(),
            reason.instead().replace("show ID", &format!("show {id}"))
        ),
    }
}

/// What was said of calls in the last 30 days.
struct Said {
    /// How often each rule stopped a call, and how often a user said that it was wrong.
    rules: BTreeMap<String, (u64, u64)>,
    /// How many calls a user said were missed.
    missed: u64,
}

impl Said {
    fn of(environment: &HostEnvironment) -> Result<Self, CommandError> {
        let mut rules: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        // A user may say something of a call again: the last word counts, once.
        let mut opinions = BTreeMap::new();
        for (folder, record) in recent(environment)? {
            match record.body {
                RecordBody::Review(review) if review.was_stopped() => {
                    for rule in review.rules.iter().filter_map(|rule| rule.split(':').next()) {
                        rules.entry(rule.to_owned()).or_default().0 += 1;
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
                rules.entry(rule.to_owned()).or_default().1 += 1;
            }
        }
        let is_missed = |fields: &&serde_json::Value| fields["opinion"] == Opinion::Missed.name();
        Ok(Self { rules, missed: opinions.values().filter(is_missed).count() as u64 })
    }

    fn of_rule(&self, rule: &str) -> (u64, u64) {
        self.rules.get(rule).copied().unwrap_or_default()
    }

    fn rates(&self) -> Vec<sessions::RuleRate> {
        let rate = |(rule, (stopped, wrong)): (&String, &(u64, u64))| sessions::RuleRate {
            rule: rule.clone(),
            stopped: *stopped,
            wrong: *wrong,
        };
        self.rules.iter().map(rate).collect()
    }
}

impl From<proposals::Proposal> for sessions::ProposedSetting {
    fn from(proposal: proposals::Proposal) -> Self {
        Self {
            says: proposal.says,
            file: proposal.file.to_string(),
            lines: proposal.lines,
            tried: proposal.makes_difference.is_some(),
            others: proposal.others.calls,
            examples: proposal.others.examples,
        }
    }
}
