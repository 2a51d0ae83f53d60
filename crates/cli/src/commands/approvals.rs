//! `checkrein approval`: calls that wait for an answer, and answering them.

pub(crate) mod put;

use checkrein_engine::allowances::in_words;
use checkrein_engine::approvals::{
    self, AnsweredApproval, ApprovalAnswer, ApprovalAnswerer, ApprovalEnd, ApprovalRequest, ApprovalSource,
    ApprovalState,
};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::text::plain_lines;
use serde_json::Value as Json;

use super::allow::shown;
use super::name_choice::{NEWEST, NamedKind};
use super::story::at_home;
use super::{ExitStatus, OutputForm, for_people_only, line};
use crate::api::approvals::{ApprovalBy, ApprovalEntry, ApprovalGiven, ApprovalList};
use crate::api::{self, recorded};
use crate::render::time;
use crate::terminal::{cut, hanging, page, plain, print, print_exact, table, wrapped};

/// How much of a call is shown in a list, in letters (ours).
const SHOWN: usize = 100;
/// How wide the words are in front of what is told of a call, in characters.
const LABEL: usize = 9;

/// Lists the questions of the last days, newest last.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = approvals::all(environment)?;
    match output {
        OutputForm::Json => print_exact(&line(&ApprovalList(all.iter().map(entry).collect()))?),
        OutputForm::Text if all.is_empty() => {
            print("no call waits here; answer the client's own questions in the client");
        }
        OutputForm::Text => {
            let row = |one: &ApprovalRequest| {
                vec![
                    one.id.clone(),
                    state(environment, one),
                    plain(&one.client),
                    at_home(environment, &plain(one.workspace.as_str())),
                    plain(one.session.as_str()),
                    cut(&plain(&one.call()), SHOWN),
                ]
            };
            print(&table(
                &["question", "state", "agent", "project", "session", "call"],
                all.iter().map(row).collect(),
            ));
        }
    }
    Ok(ExitStatus::Done)
}

/// Shows the question whose name begins so.
pub fn show(environment: &HostEnvironment, id: &str, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let one = found(environment, id)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&entry(&one))?),
        OutputForm::Text => page(&question(environment, &one)),
    }
    Ok(ExitStatus::Done)
}

/// Prints the question of exactly this name for programs.
pub(crate) fn named(environment: &HostEnvironment, id: &str) -> Result<ExitStatus, CommandError> {
    let one = approvals::one(environment, id).ok_or_else(|| NamedKind::Approval.unknown(id))?;
    print_exact(&api::line(&entry(&one))?);
    Ok(ExitStatus::Done)
}

/// Answers the question whose name begins so.
pub fn answer(
    environment: &HostEnvironment,
    id: &str,
    wanted: &ApprovalAnswer,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let command = match wanted {
        ApprovalAnswer::No { .. } => "approval deny",
        ApprovalAnswer::Once | ApprovalAnswer::Session | ApprovalAnswer::Always => "approval allow",
    };
    for_people_only(environment, command)?;
    if id == NEWEST {
        return Err(NamedKind::Approval.must_be_named());
    }
    let one = found(environment, id)?;
    if output == OutputForm::Text && one.state == ApprovalState::Pending {
        page(&question(environment, &one));
        if let Some(rule) = one.rule(wanted, environment.now()) {
            let told = format!("allowed  {}, while effects and files are the same", plain(&in_words(&rule)));
            print(&hanging(&told, LABEL));
        }
    }
    answer_by(environment, &one, wanted, (ApprovalSource::CommandLine, terminal()), output)
}

/// Answers the question of exactly this name from elsewhere than a terminal.
pub(crate) fn answer_from(
    environment: &HostEnvironment,
    id: &str,
    wanted: &ApprovalAnswer,
    shown: Option<&str>,
    source: ApprovalSource,
) -> Result<ExitStatus, CommandError> {
    let mut one = approvals::one(environment, id).ok_or_else(|| NamedKind::Approval.unknown(id))?;
    // Whoever read a page some time ago answers what stood on it.
    if let Some(shown) = shown {
        shown.clone_into(&mut one.shown);
    }
    answer_by(environment, &one, wanted, (source, None), OutputForm::Json)
}

fn answer_by(
    environment: &HostEnvironment,
    one: &ApprovalRequest,
    wanted: &ApprovalAnswer,
    (source, place): (ApprovalSource, Option<String>),
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let name = match source {
        // Who that is, nobody knows.
        ApprovalSource::Link => "the holder of a link".to_owned(),
        ApprovalSource::CommandLine | ApprovalSource::Console | ApprovalSource::Api => {
            // A shell of a task that is timed may have no name for its user, but the kernel knows whose it is.
            environment.user.clone().unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
        }
    };
    let by = ApprovalAnswerer { name, source, place };
    let AnsweredApproval { approval, allowance } =
        approvals::answer(environment, (&one.id, &one.shown), wanted, by)?;
    let went_on = approval.state == ApprovalState::Allowed;
    match output {
        OutputForm::Json => {
            print_exact(&api::line(&ApprovalGiven { approval: entry(&approval), went_on, allowance })?);
        }
        OutputForm::Text => print(match (went_on, allowance) {
            (true, None) => "the call went on".to_owned(),
            (true, Some(name)) => {
                format!("the call went on; `checkrein allow --forget {name}` takes back what is allowed beyond it")
            }
            (false, _) => "the call was refused".to_owned(),
        }
        .as_str()),
    }
    Ok(ExitStatus::Done)
}

/// The question whose name begins so; `LAST` is the newest.
fn found(environment: &HostEnvironment, id: &str) -> Result<ApprovalRequest, CommandError> {
    let all = approvals::all(environment)?;
    let name = NamedKind::Approval.newest_or_only(id, all.iter().map(|one| one.id.as_str()))?.to_owned();
    all.into_iter().find(|one| one.id == name).ok_or_else(|| NamedKind::Approval.unknown(id))
}

/// The terminal of this process, where it has one.
fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}

/// How it stands with a question, in words.
fn state(environment: &HostEnvironment, one: &ApprovalRequest) -> String {
    let by = || {
        let by = one.settled.as_ref().and_then(|settled| settled.by.as_ref());
        by.map(|by| format!(" by {}", plain(&by.name))).unwrap_or_default()
    };
    match one.state {
        ApprovalState::Pending => {
            let left = one.expires_at.0.saturating_sub(environment.now().0).div_ceil(1000);
            format!("expires in {left} s")
        }
        ApprovalState::Allowed => format!("allowed{}", by()),
        ApprovalState::Denied => match one.settled.as_ref().map(|settled| settled.end) {
            Some(ApprovalEnd::Stopped) => "refused: something changed".to_owned(),
            Some(ApprovalEnd::Allowed | ApprovalEnd::Denied | ApprovalEnd::Expired) | None => {
                format!("refused{}", by())
            }
        },
        ApprovalState::Expired => "expired".to_owned(),
        ApprovalState::Gone => "gone".to_owned(),
    }
}

/// All that a user reads before they answer.
fn question(environment: &HostEnvironment, one: &ApprovalRequest) -> String {
    let review = &one.review;
    let told = |text: &str| hanging(text, LABEL);
    let head =
        format!("{} in `{}` waits for an answer:", one_line(review.tool.as_str()), one_line(&review.cwd));
    let mut lines = vec![wrapped(&head)];
    lines.extend(shown::whole_call(review).iter().map(|line| format!("    {line}")));
    lines.push(told(&format!("why      {}", one_line(&review.reason))));
    lines.extend(review.further_reasons.iter().map(|reason| told(&format!("         {}", one_line(reason)))));
    if let Some(rewrite) = review.rewrite.as_ref().and_then(Json::as_str) {
        lines.push("instead  this safer form runs after a yes:".to_owned());
        lines.extend(plain_lines(rewrite).iter().map(|line| format!("    {line}")));
    }
    lines.extend(shown::stopping_rules(review).map(|rule| told(&format!("rule     {}", one_line(rule)))));
    lines.extend(shown::effects(review).into_iter().map(|effect| told(&format!("effect   {effect}"))));
    lines.push(told(&format!("session  {} ({})", one_line(one.session.as_str()), one_line(&one.client))));
    lines.push(told(&format!("asked    {}, since {}", time(one.asked_at.0), one_line(&one.why))));
    if let Some(message) = one.put.as_ref().and_then(|put| put.message.as_ref()) {
        lines.push(told(&format!("says     {}", one_line(message))));
    }
    lines.push(told(&format!("state    {}", state(environment, one))));
    for answer in [ApprovalAnswer::Session, ApprovalAnswer::Always] {
        if one.is_for_once() {
            break;
        }
        let option = format!("--{}", answer.word());
        if let Some(reason) = one.bars(&answer) {
            lines.push(told(&format!("note     {}: for this call only", reason.why())));
            break;
        }
        if let Some(rule) = one.rule(&answer, environment.now()) {
            lines.push(told(&format!(
                "{option:<10}also lets the same call pass {}",
                one_line(&in_words(&rule))
            )));
        }
    }
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    shown::one_line(text)
}

/// A question for programs.
fn entry(one: &ApprovalRequest) -> ApprovalEntry {
    let review = &one.review;
    let settled = one.settled.as_ref();
    let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let bar = one.bars(&ApprovalAnswer::Always);
    let answers: &[&str] = match (one.state, bar) {
        (ApprovalState::Pending, None) if !one.is_for_once() => &["once", "session", "always", "no"],
        (ApprovalState::Pending, _) => &["once", "no"],
        (
            ApprovalState::Allowed | ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Gone,
            _,
        ) => &[],
    };
    let once_only = approvals::speaks_against(review);
    ApprovalEntry {
        id: one.id.clone(),
        session: one.session.as_str().to_owned(),
        client: one.client.clone(),
        project: one.workspace.to_string(),
        directory: review.cwd.clone(),
        action_id: review.action_id.as_str().to_owned(),
        action: one.call(),
        tool: review.tool.as_str().to_owned(),
        input: review.input.clone(),
        rewrite: review.rewrite.as_ref().and_then(Json::as_str).map(str::to_owned),
        verdict: review.verdict.name().to_owned(),
        risk: word(&recorded(&review.risk.level)),
        reasons: std::iter::once(&review.reason).chain(&review.further_reasons).cloned().collect(),
        effects: shown::effects(review),
        why: one.why.clone(),
        asked_by: one.put.as_ref().map(|put| put.asker.clone()),
        action_hash: one.put.as_ref().map(|put| put.action_hash.clone()),
        asked_with: one.put.as_ref().and_then(|put| put.message.clone()),
        asked_at: one.asked_at.into(),
        expires_at: one.expires_at.into(),
        shown: one.shown.clone(),
        state: one.state.word().to_owned(),
        answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
        once_only: once_only.iter().map(|reason| reason.name().to_owned()).collect(),
        answer: settled.and_then(|settled| settled.answer.as_ref()).map(|answer| answer.word().to_owned()),
        message: settled.and_then(|settled| match &settled.answer {
            Some(ApprovalAnswer::No { message }) => message.clone(),
            Some(ApprovalAnswer::Once | ApprovalAnswer::Session | ApprovalAnswer::Always) | None => None,
        }),
        answered_by: settled.and_then(|settled| settled.by.as_ref()).map(|by| ApprovalBy {
            name: by.name.clone(),
            source: word(&recorded(&by.source)),
            place: by.place.clone(),
        }),
        ended_at: settled.map(|settled| settled.at.into()),
    }
}
