//! `checkrein session list` and `checkrein session show`: the sessions that are recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use checkrein_clients::is_canary;
use checkrein_gateway::gateway_server;
use checkrein_policy::{Posture, TrustPolicy, VerdictKind};
use checkrein_session::{Cost, SessionLedger, SessionSummary};
use checkrein_world::find_workspace;

use super::session_choice::only_folder;
use super::short_names::ShortNames;
use super::story::{PROMPT, SessionHead, at_home};
use super::{ExitStatus, OutputForm, incidents, log, tell_fallen};
use crate::api::{self, recorded};
use crate::phrases;
use crate::render::{age, duration};
use crate::terminal::{bold, brief, counted, dim, page, plain, print, print_exact, verdict, wrapped};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::lineage;
use checkrein_engine::usage::cost_in_words;

/// How far a session is moved to the right that others started, in steps (ours).
const DEEPEST: usize = 8;

/// Lists all sessions of agents, newest last; those that an agent started stand below its own.
pub fn sessions(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let mut all = checkrein_session::sessions(&environment.state)?;
    all.retain(|session| !is_canary(session.folder.as_str()));
    all.reverse();
    tell_fallen(environment, output);
    let policy = trust_policy(environment);
    let now = environment.now();
    match output {
        OutputForm::Json => {
            for session in &all {
                print_exact(&api::line(&entry(environment, session, &policy))?);
            }
        }
        OutputForm::Text if all.is_empty() => {
            print(&wrapped(
                "no session is recorded yet: `checkrein init` registers the hooks, and the next session of an agent begins one",
            ));
        }
        OutputForm::Text => {
            let names = ShortNames::of_sessions(environment);
            let told = as_trees(environment, &all).into_iter().map(|(depth, session)| {
                let posture = policy.posture(policy.left(&session.trust, now));
                let lines = in_words(environment, &names, session, posture);
                let indent = "  ".repeat(depth.min(DEEPEST));
                lines.join("\n").lines().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
            });
            page(&told.collect::<Vec<_>>().join("\n"));
        }
    }
    Ok(ExitStatus::Done)
}

/// Shows the session whose name begins so: its lines in the list, and what was not plainly fine in it.
pub fn show(
    environment: &HostEnvironment,
    beginning: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let folder = only_folder(environment, beginning)?;
    let state = SessionLedger::of_folder(&environment.state, folder.clone()).state()?;
    let session = checkrein_session::summary(&environment.state, folder, &state);
    let policy = trust_policy(environment);
    if output == OutputForm::Json {
        print_exact(&api::pretty(&entry(environment, &session, &policy))?);
        return Ok(ExitStatus::Done);
    }
    let names = ShortNames::of_sessions(environment);
    let posture = policy.posture(policy.left(&session.trust, environment.now()));
    let mut lines = in_words(environment, &names, &session, posture);
    lines.extend(session.halt.iter().map(|halt| wrapped(&format!("  halted: {}", plain(&halt.reason)))));
    let name = session.folder.as_str();
    let incidents = incidents::of_sessions(environment, &BTreeSet::from([name]), 0)?;
    if incidents > 0 {
        lines.push(format!("  {}: `checkrein incident list`", counted(incidents, "incident")));
    }
    let shown = plain(&names.of(name));
    let remarkable = log::remarkable(environment, &session.folder)?;
    if remarkable.is_empty() {
        lines.push("\nevery call was plainly fine".to_owned());
    } else {
        lines.push(format!("\nwhat was not plainly fine:\n{remarkable}"));
    }
    lines.push(dim(&wrapped(&format!("\n`checkrein log --session {shown} -n 1000` shows every call"))));
    page(&lines.join("\n"));
    Ok(ExitStatus::Done)
}

/// What trust costs and how fast it wears off is up to the configuration here; where that is broken, the built-in numbers tell.
fn trust_policy(environment: &HostEnvironment) -> TrustPolicy {
    config_files::load(environment, &find_workspace(&environment.cwd))
        .map_or_else(|_| TrustPolicy::default(), |loaded| loaded.config.governance.trust_debt)
}

/// A session for programs.
fn entry(
    environment: &HostEnvironment,
    session: &SessionSummary,
    policy: &TrustPolicy,
) -> api::sessions::SessionEntry {
    let debt = policy.left(&session.trust, environment.now());
    api::sessions::SessionEntry {
        session: session.folder.as_str().to_owned(),
        started: session.started.map(Into::into),
        last: session.last.map(Into::into),
        worked: session.worked.map(Into::into),
        records: session.records,
        actions: session.actions,
        verdicts: recorded(&session.verdicts),
        client: session.client.clone(),
        parent: lineage::parent_of(&environment.state, &session.folder).map(|parent| parent.session),
        children: lineage::children_of(&environment.state, &session.folder),
        spent: spent(session),
        trust_debt: debt,
        posture: recorded(&policy.posture(debt)),
        halted: session.halt.as_ref().map(|halt| halt.reason.clone()),
        unreadable: session.unreadable.clone(),
    }
}

/// The sessions, each that another one started behind that one, with how deep it stands.
fn as_trees<'a>(
    environment: &HostEnvironment,
    all: &'a [SessionSummary],
) -> Vec<(usize, &'a SessionSummary)> {
    let mut below: BTreeMap<String, Vec<&SessionSummary>> = BTreeMap::new();
    let mut waiting = Vec::new();
    for session in all {
        let parent = lineage::parent_of(&environment.state, &session.folder).map(|parent| parent.session);
        match parent.filter(|parent| all.iter().any(|other| other.folder.as_str() == parent)) {
            Some(parent) => below.entry(parent).or_default().push(session),
            None => waiting.push((0, session)),
        }
    }
    waiting.reverse();
    let mut told = Vec::new();
    while let Some((depth, session)) = waiting.pop() {
        told.push((depth, session));
        let children = below.remove(session.folder.as_str()).unwrap_or_default();
        waiting.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
    }
    // Where files name each other as parents, none of them is the first.
    told.extend(below.into_values().flatten().map(|session| (0, session)));
    told
}

/// A session in two or three lines: where and when, what the user said first, and what became of its calls.
fn in_words(
    environment: &HostEnvironment,
    names: &ShortNames,
    session: &SessionSummary,
    posture: Posture,
) -> Vec<String> {
    let name = names.of(session.folder.as_str());
    let mut first = bold(&plain(&name));
    if let Some(client) = &session.client {
        let _ = write!(first, "  {}", plain(client));
    }
    if let Some(workspace) = &session.workspace {
        let _ = write!(first, "  {}", plain(&at_home(environment, workspace.as_str())));
    }
    if let Some(last) = session.worked.or(session.last) {
        let _ = write!(first, "  {}", dim(&age(last.0, environment.now().0)));
        let lasted = session.started.map_or(0, |began| last.0.saturating_sub(began.0));
        if lasted >= 1000 {
            let _ = write!(first, "{}", dim(&format!(", lasted {}", duration(lasted))));
        }
    }
    if session.halt.is_some() {
        let _ = write!(first, "  {}", verdict(VerdictKind::Halt));
    }
    let head = SessionHead::of(environment, &session.folder);
    let prompt = head.prompt.map(|text| dim(&wrapped(&format!("  \"{}\"", brief(&plain(&text), PROMPT)))));
    if let Some(why) = &session.unreadable {
        let text = format!("  its records cannot be read: {}", plain(why));
        return vec![wrapped(&first), wrapped(&text)];
    }
    let mut parts = vec![session.calls.summary().unwrap_or_else(|| counted(session.actions, "call"))];
    if session.verdicts.flagged > 0 {
        parts.push(format!("{} flagged", session.verdicts.flagged));
    }
    if session.spent.is_metered() {
        parts.push(format!("{} tokens", tokens_in_words(session)));
        parts.push(format!("cost {}", cost_in_words(session.spent.cost())));
    } else {
        parts.push("spending unknown".to_owned());
    }
    let shown = |name: &str| names.of(name);
    if let Some(parent) = lineage::parent_of(&environment.state, &session.folder) {
        let above = plain(&shown(&parent.session));
        parts.push(match gateway_server(session.folder.as_str()) {
            Some(server) => format!("the gateway of {}, for the calls of {above}", plain(server)),
            None => format!("started by {above}"),
        });
    }
    let children = lineage::children_of(&environment.state, &session.folder);
    // A gateway passes calls on and makes none: it is not an agent that this one started.
    let (gateways, agents): (Vec<&String>, Vec<&String>) =
        children.iter().partition(|name| gateway_server(name).is_some());
    for (verb, those) in [("started", agents), ("MCP calls through", gateways)] {
        if !those.is_empty() {
            let names: Vec<String> = those.iter().map(|name| plain(&shown(name))).collect();
            parts.push(format!("{verb} {}", names.join(" and ")));
        }
    }
    if posture != Posture::Normal {
        parts.push(format!("{} after what was stopped", phrases::posture(posture)));
    }
    [Some(wrapped(&first)), prompt, Some(wrapped(&format!("  {}", parts.join(", "))))]
        .into_iter()
        .flatten()
        .collect()
}

/// What a session has spent, for programs; what is not known is null.
pub(super) fn spent(session: &SessionSummary) -> api::sessions::Spent {
    let spent = &session.spent;
    let tokens = spent.is_metered().then(|| spent.tokens());
    let (dollars, at_least) = match spent.cost() {
        Some(Cost::Known(known) | Cost::About(known)) => (Some(known.dollars()), Some(known.dollars())),
        Some(Cost::AtLeast(known)) => (None, Some(known.dollars())),
        None => (None, None),
    };
    api::sessions::Spent {
        tokens: recorded(&tokens),
        dollars,
        dollars_at_least: at_least,
        dollars_estimated: matches!(spent.cost(), Some(Cost::About(_))),
        models: recorded(&spent.models()),
        processes: spent.processes,
        bytes_written: spent.bytes_written,
        file_operations: session.file_operations,
    }
}

/// The tokens of a session in words.
pub(super) fn tokens_in_words(session: &SessionSummary) -> String {
    if session.spent.is_metered() { session.spent.tokens().all().to_string() } else { "unknown".to_owned() }
}
