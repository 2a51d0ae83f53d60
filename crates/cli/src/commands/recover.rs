//! `checkrein session recover SESSION`: which ways lead out of what went wrong in a session, by policy, as commands.

use checkrein_intervention::{
    InterventionKind, RecoverableFailure, RecoveryPlan, RecoveryPolicy, RecoveryStrategy, SessionStanding,
    plan,
};
use checkrein_ledger::{is_halted, lines};
use checkrein_patterns::Issue;
use checkrein_protocol::RecordBody;
use checkrein_session::SessionLedger;

use super::halt;
use super::session_choice::only_folder;
use super::short_names::ShortNames;
use super::{ExitStatus, OutputForm};
use crate::api::sessions::{Recovery, SessionGivenUp};
use crate::api::{self, recorded};
use crate::phrases;
use crate::terminal::{bold, dim, hanging, plain, print, print_exact, wrapped};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Shows the plan for the newest issue of a session. Without a policy it is the one of the profile.
pub fn recover(
    environment: &HostEnvironment,
    session: &str,
    policy: Option<RecoveryPolicy>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let folder = only_folder(environment, session)?;
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let halt = is_halted(&environment.state, &folder);
    if halt.is_some() && output == OutputForm::Text {
        let short = ShortNames::of_sessions(environment).of(folder.as_str());
        print(&wrapped(&format!("this session is halted; `checkrein resume {short}` lets it go on")));
    }
    let Some((issue, attempts)) = newest_issue(&ledger, halt.is_some())? else {
        match output {
            OutputForm::Json => print_exact(&api::pretty(&Recovery {
                session: folder.as_str().to_owned(),
                issue: serde_json::Value::Null,
                policy: recorded(&policy),
                plan: serde_json::Value::Null,
                lines: Vec::new(),
            })?),
            OutputForm::Text => print("nothing went wrong in this session as far as the detectors saw"),
        }
        return Ok(ExitStatus::Done);
    };
    let workspace = ledger.state()?.workspace().cloned();
    let workspace = workspace.unwrap_or_else(|| checkrein_world::find_workspace(&environment.cwd));
    let policy = match policy {
        Some(policy) => policy,
        None => RecoveryPolicy::of(config_files::load(environment, &workspace)?.config.profile),
    };
    let standing = if halt.is_some() { SessionStanding::Halted } else { SessionStanding::GoingOn };
    let plan = plan(RecoverableFailure::of(&issue, attempts), policy);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&Recovery {
            session: folder.as_str().to_owned(),
            issue: recorded(&issue),
            policy: recorded(&policy),
            plan: recorded(&plan),
            lines: plan.lines(folder.as_str(), standing, &issue),
        })?),
        OutputForm::Text => {
            let noticed = bold(phrases::pattern(issue.kind));
            print(&wrapped(&format!("{noticed}: {}", plain(&issue.summary))));
            // As long as `log` shows it: a command that is broken in the middle cannot be copied.
            let short = ShortNames::of_sessions(environment).of(folder.as_str());
            for text in plan.lines(&short, standing, &issue) {
                print(&hanging(&format!("- {}", in_words(&plain(&text), &plan)), 2));
            }
            print(&dim(&format!("policy: {}; `--policy` chooses another", policy.name())));
        }
    }
    Ok(ExitStatus::Done)
}

/// Gives a session up: it is halted, and what it made and what stands nowhere else is listed. Nothing is removed: whose it is says the user.
pub fn abort(
    environment: &HostEnvironment,
    session: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let folder = only_folder(environment, session)?;
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let state = ledger.state()?;
    halt::give_up(environment, &folder)?;
    let is_there = |path: &String| std::fs::symlink_metadata(path).is_ok();
    let made = state.history().created.into_iter().map(|path| path.to_string());
    let left: Vec<String> = made.filter(is_there).collect();
    let (session, short) = (folder.as_str(), ShortNames::of_sessions(environment).of(folder.as_str()));
    let next = vec![
        format!("checkrein session rollback {short} --before 1"),
        format!("checkrein log --session {short}"),
    ];
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&SessionGivenUp { session: session.to_owned(), left, next })?);
        }
        OutputForm::Text => {
            print(&format!("given up: {session}; its calls are refused"));
            match left.as_slice() {
                [] => print("it made nothing that is still there, as far as is on record"),
                left => {
                    print("it made these, which are still there:");
                    left.iter().for_each(|path| print(&format!("  {}", plain(path))));
                }
            }
            print("to take back what it did, or to look at it:");
            next.iter().for_each(|command| print(&format!("  {command}")));
        }
    }
    Ok(ExitStatus::Done)
}

/// A line of the plan with what a user does in place of the name of a strategy.
fn in_words(line: &str, plan: &RecoveryPlan) -> String {
    let Some((name, rest)) = line.strip_prefix("**").and_then(|rest| rest.split_once("**")) else {
        return line.to_owned();
    };
    let known = plan.attempts.iter().map(|attempt| attempt.strategy).find(|strategy| strategy.name() == name);
    let words = match known {
        Some(RecoveryStrategy::Automatic) => "let the agent try again",
        Some(RecoveryStrategy::Guided) => "tell the agent",
        Some(RecoveryStrategy::Checkpoint) => "restore",
        Some(RecoveryStrategy::Collaborative) => "decide together",
        Some(RecoveryStrategy::SelfHealing) => "let the agent repair it",
        None => name,
    };
    format!("{words}{rest}")
}

/// The newest issue, and how often going back was tried for its pattern.
fn newest_issue(ledger: &SessionLedger, is_halted: bool) -> Result<Option<(Issue, u32)>, CommandError> {
    let mut issues: Vec<Issue> = Vec::new();
    let (mut tried, mut stopped) = (Vec::new(), None);
    for record in lines(&ledger.path())?.holding("\"type\":\"i").filter_map(|line| line.ok()?.record) {
        match record.body {
            RecordBody::Issue(issue) => {
                // Of each kind the newest; the newest of all stands last.
                issues.retain(|known| known.kind != issue.kind);
                issues.push(*issue);
            }
            RecordBody::Intervention(made) if made.kind == InterventionKind::EmergencyStop => {
                stopped = Some(made.pattern);
            }
            RecordBody::Intervention(made) if made.rollback.is_some() => tried.push(made.pattern),
            _ => {}
        }
    }
    // What the session was halted for, as its incident says.
    let about = issues.iter().rposition(|issue| Some(issue.kind) == stopped);
    let about = about.filter(|_| is_halted).or_else(|| issues.len().checked_sub(1));
    Ok(about.map(|place| issues.swap_remove(place)).map(|issue| {
        let count = tried.iter().filter(|pattern| **pattern == issue.kind).count();
        (issue, u32::try_from(count).unwrap_or(u32::MAX))
    }))
}
