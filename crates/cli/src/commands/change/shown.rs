//! What is shown of a change.

use checkrein_engine::change_records::{ChangeActor, ChangeState, ChangeStep, OpenedChange};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::text::plain_lines;
use checkrein_protocol::Timestamp;
use checkrein_review::sentence;

use crate::api;
use crate::api::changes::{ChangeEntry, ChangeStepEntry};
use crate::render::{severity_name, time};
use crate::terminal::{hanging, print_exact};

/// How wide the words are in front of what is told, in characters.
const LABEL: usize = 9;

/// Prints a change for programs.
pub(super) fn json(environment: &HostEnvironment, change: &OpenedChange) -> Result<(), CommandError> {
    print_exact(&api::line(&entry(environment, change))?);
    Ok(())
}

/// A change for programs.
pub(super) fn entry(environment: &HostEnvironment, change: &OpenedChange) -> ChangeEntry {
    let record = &change.record;
    let state = change.state(environment.now());
    ChangeEntry {
        change: record.id.as_str().to_owned(),
        state: state.word().to_owned(),
        issue: record.issue.clone(),
        command: record.command.clone(),
        directory: record.directory.to_string(),
        site: record.site.clone(),
        opened_at: record.at.into(),
        opened_by: actor(record.by).to_owned(),
        approved_until: until(state).map(Into::into),
        effects: effects(change),
        code: record.code.iter().map(|code| code.path.to_string()).collect(),
        rollback: record.rollback.clone(),
        verification: record.verification.clone(),
        steps: change
            .steps
            .iter()
            .map(|step| ChangeStepEntry {
                step: step.word().to_owned(),
                at: step.at().into(),
                about: about(step),
                output: output(step),
            })
            .collect(),
    }
}

/// All of a change, as a user reads it before they approve it.
pub(super) fn whole(environment: &HostEnvironment, change: &OpenedChange) -> String {
    let record = &change.record;
    let state = change.state(environment.now());
    let told = |line: &str| hanging(line, LABEL);
    let standing = until(state).map_or_else(String::new, |until| format!(" until {}", time(until.0)));
    let mut lines = vec![
        format!("change   {}: {}{standing}", record.id.as_str(), state.word()),
        told(&format!("issue    {}", one_line(&record.issue))),
        told(&format!("opened   {}, by {}", time(record.at.0), in_words(record.by))),
        told(&format!("where    `{}`, on {}", one_line(record.directory.as_str()), one_line(&record.site))),
        "command".to_owned(),
    ];
    lines.extend(plain_lines(&record.command).iter().map(|line| format!("    {line}")));
    lines.extend(effects(change).iter().map(|effect| told(&format!("effect   {effect}"))));
    let files = record.code.iter();
    lines.extend(
        files.map(|code| told(&format!("file     `{}`, as it is now", one_line(code.path.as_str())))),
    );
    lines.push("verify".to_owned());
    lines.extend(plain_lines(&record.verification).iter().map(|line| format!("    {line}")));
    lines.extend(rollback(change));
    for step in &change.steps {
        lines.push(told(&format!(
            "step     {} {}: {}",
            time(step.at().0),
            step.word(),
            one_line(&about(step))
        )));
        let printed = output(step).unwrap_or_default();
        lines.extend(
            plain_lines(printed.trim_end())
                .iter()
                .filter(|line| !line.is_empty())
                .map(|line| format!("    {line}")),
        );
    }
    lines.join("\n")
}

/// What is said of a verification that failed.
pub(super) fn failed(change: &OpenedChange, ended: &str, output: &str) -> String {
    let mut lines = vec![format!("change {}: the verification {ended}", change.record.id.as_str())];
    lines.extend(plain_lines(&change.record.verification).iter().map(|line| format!("    {line}")));
    if !output.trim().is_empty() {
        lines.push("it printed at the end".to_owned());
        lines.extend(plain_lines(output.trim_end()).iter().map(|line| format!("    {line}")));
    }
    lines.extend(rollback(change));
    lines.push(format!(
        "the user decides about the rollback: `checkrein change verify {} --rollback`",
        change.record.id.as_str()
    ));
    lines.join("\n")
}

/// What takes a change back.
pub(super) fn steps_back(change: &OpenedChange) -> String {
    let head =
        format!("change {}: {}", change.record.id.as_str(), plain_lines(&change.record.command).join(" "));
    std::iter::once(head).chain(rollback(change)).collect::<Vec<_>>().join("\n")
}

fn rollback(change: &OpenedChange) -> impl Iterator<Item = String> {
    let commands = change.record.rollback.iter().flat_map(|command| plain_lines(command));
    let lines: Vec<String> = commands.map(|line| format!("    {line}")).collect();
    std::iter::once("rollback".to_owned()).chain(lines)
}

fn effects(change: &OpenedChange) -> Vec<String> {
    let one = |effect: &checkrein_protocol::Effect| {
        format!("{}, severity {}", one_line(&sentence(effect)), severity_name(effect.severity))
    };
    change.record.effects.iter().map(one).collect()
}

fn about(step: &ChangeStep) -> String {
    match step {
        ChangeStep::Approved { until, by, .. } => format!("by {by}, until {}", time(until.0)),
        ChangeStep::Passed { session, action, .. } if session.is_empty() && action.as_str().is_empty() => {
            "the file that says so is damaged".to_owned()
        }
        ChangeStep::Passed { session, action, .. } => {
            format!("call {} of session {session}", action.as_str())
        }
        ChangeStep::Ran { failed: false, .. } => "the command succeeded".to_owned(),
        ChangeStep::Ran { failed: true, .. } => "the command failed".to_owned(),
        ChangeStep::Verified { by, ended, .. } => format!("by {}, the verification {ended}", in_words(*by)),
        ChangeStep::RolledBack { commands, done, .. } => {
            let ended: Vec<String> =
                commands.iter().map(|one| format!("`{}` {}", one.command, one.ended)).collect();
            let whole = if *done { "complete" } else { "not complete" };
            format!("{whole}: {}", ended.join(", "))
        }
        ChangeStep::Closed { outcome, .. } => outcome.clone(),
    }
}

fn output(step: &ChangeStep) -> Option<String> {
    match step {
        ChangeStep::Verified { output, .. } => Some(output.clone()),
        ChangeStep::RolledBack { commands, .. } => {
            Some(commands.iter().map(|one| one.output.as_str()).collect::<Vec<_>>().join(""))
        }
        ChangeStep::Approved { .. }
        | ChangeStep::Passed { .. }
        | ChangeStep::Ran { .. }
        | ChangeStep::Closed { .. } => None,
    }
}

fn until(state: ChangeState) -> Option<Timestamp> {
    match state {
        ChangeState::Approved(until) => Some(until),
        ChangeState::Waiting
        | ChangeState::Expired
        | ChangeState::Running
        | ChangeState::Unverified
        | ChangeState::Verified
        | ChangeState::Failed
        | ChangeState::RolledBack
        | ChangeState::Closed => None,
    }
}

fn actor(actor: ChangeActor) -> &'static str {
    match actor {
        ChangeActor::Person => "person",
        ChangeActor::Agent => "agent",
    }
}

fn in_words(actor: ChangeActor) -> &'static str {
    match actor {
        ChangeActor::Person => "a user",
        ChangeActor::Agent => "an agent",
    }
}

fn one_line(text: &str) -> String {
    plain_lines(text).join("\\n")
}
