//! `checkrein session recover SESSION`: which ways lead out of what went wrong in a session, by policy, as commands.

use checkrein_intervention::{RecoverableFailure, RecoveryPolicy, plan};
use checkrein_ledger::lines;
use checkrein_patterns::Issue;
use checkrein_protocol::RecordBody;
use checkrein_session::SessionLedger;

use super::session_choice::only_folder;
use super::{ExitStatus, OutputForm};
use crate::api::sessions::Recovery;
use crate::api::{self, recorded};
use crate::phrases;
use crate::terminal::{bold, plain, print, print_exact};
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
    let Some((issue, attempts)) = newest_issue(&ledger)? else {
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
    let plan = plan(RecoverableFailure::of(&issue, attempts), policy);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&Recovery {
            session: folder.as_str().to_owned(),
            issue: recorded(&issue),
            policy: recorded(&policy),
            plan: recorded(&plan),
            lines: plan.lines(folder.as_str(), &issue),
        })?),
        OutputForm::Text => {
            print(&format!("{}  {}: {}", bold("issue"), phrases::pattern(issue.kind), plain(&issue.summary)));
            print(&format!("{}  {}", bold("policy"), policy.name()));
            for text in plan.lines(folder.as_str(), &issue) {
                print(&format!("- {}", text.replace("**", "")));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// The newest issue, and how often going back was tried for its pattern.
fn newest_issue(ledger: &SessionLedger) -> Result<Option<(Issue, u32)>, CommandError> {
    let mut newest: Option<Issue> = None;
    let mut tried = Vec::new();
    for record in lines(&ledger.path())?.holding("\"type\":\"i").filter_map(|line| line.ok()?.record) {
        match record.body {
            RecordBody::Issue(issue) => newest = Some(*issue),
            RecordBody::Intervention(made) if made.rollback.is_some() => tried.push(made.pattern),
            _ => {}
        }
    }
    Ok(newest.map(|issue| {
        let count = tried.iter().filter(|pattern| **pattern == issue.kind).count();
        (issue, u32::try_from(count).unwrap_or(u32::MAX))
    }))
}
