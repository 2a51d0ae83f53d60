//! `checkrein agent`: the agents across their sessions, how much trust each has used up, and how closely it is overseen.

use std::collections::BTreeMap;

use checkrein_clients::is_canary;
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::tiers::{self, AgentName, GivenTier};
use checkrein_policy::{Config, Tier};
use checkrein_session::SessionSummary;

use super::name_choice::NamedKind;
use super::story::at_home;
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::sessions::AgentEntry;
use crate::api::{self, recorded};
use crate::phrases;
use crate::render::age;
use crate::terminal::{dim, plain, plain_name, print, print_exact, table};

/// The word that takes a tier back.
const CONFIGURED: &str = "configured";

/// An agent with its sessions.
struct Agent {
    name: AgentName,
    sessions: u64,
    newest: SessionSummary,
}

/// Lists the agents, the one that worked last at the end.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = agents(environment)?;
    match output {
        OutputForm::Json => {
            for agent in &all {
                print_exact(&api::line(&entry(environment, agent)?)?);
            }
        }
        OutputForm::Text if all.is_empty() => print("no session of an agent is recorded yet"),
        OutputForm::Text => {
            let now = environment.now();
            let mut rows = Vec::new();
            for agent in &all {
                let told = entry(environment, agent)?;
                let tier = match &told.given {
                    Some(_) => format!("{}, given by a user", told.tier),
                    None => told.tier.clone(),
                };
                rows.push(vec![
                    told.agent,
                    agent.name.client.clone(),
                    plain_name(&at_home(environment, agent.name.workspace.as_str())),
                    told.sessions.to_string(),
                    agent.newest.last.map_or_else(String::new, |last| dim(&age(last.0, now.0))),
                    format!("{:.2}", told.trust_debt),
                    serde_json::from_value(told.posture).map_or("", phrases::posture).to_owned(),
                    tier,
                ]);
            }
            let head = ["agent", "client", "project", "sessions", "last", "trust debt", "posture", "tier"];
            print(&table(&head, rows));
        }
    }
    Ok(ExitStatus::Done)
}

/// Gives an agent a tier, or takes one back.
pub fn tier(
    environment: &HostEnvironment,
    agent: &str,
    tier: &str,
    note: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "agent tier")?;
    let wanted = match tier {
        CONFIGURED => None,
        text => Some(Tier::from_name(text).ok_or_else(|| {
            CommandError::user(
                format!("`{text}` is not a tier"),
                "use a number from 0 to 5, such as `3` or `GT-3`, or `configured`",
            )
        })?),
    };
    let all = agents(environment)?;
    let ids: Vec<String> = all.iter().map(|agent| agent.name.id()).collect();
    let id = NamedKind::Agent.only(agent, ids.iter().map(String::as_str))?;
    let found = all.iter().find(|one| one.name.id() == id);
    let found = found.ok_or_else(|| NamedKind::Agent.unknown(agent))?;
    let configured = configuration(environment, found).governance.tier;
    match wanted {
        Some(tier) if tier < configured => {
            return Err(CommandError::user(
                format!(
                    "the configuration has agents overseen in tier {}, which is stricter than {}",
                    configured.word(),
                    tier.word()
                ),
                "set `governance.tier` in the configuration; a tier for one agent is a stricter one",
            ));
        }
        Some(tier) => tiers::give(
            environment,
            GivenTier {
                agent: found.name.clone(),
                tier,
                at: environment.now(),
                by: environment.user.clone(),
                note: note.to_owned(),
            },
        )?,
        None => drop(tiers::take_back(environment, &found.name)?),
    }
    let told = entry(environment, found)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&told)?),
        OutputForm::Text => print(&format!(
            "{} in {}: tier {}, from the next call on",
            found.name.client,
            plain(found.name.workspace.as_str()),
            told.tier
        )),
    }
    Ok(ExitStatus::Done)
}

/// All agents that have a session with a client and a project.
fn agents(environment: &HostEnvironment) -> Result<Vec<Agent>, CommandError> {
    let mut all: BTreeMap<AgentName, Agent> = BTreeMap::new();
    for session in checkrein_session::sessions(&environment.state)? {
        let (Some(client), Some(workspace)) = (&session.client, &session.workspace) else { continue };
        if is_canary(session.folder.as_str()) {
            continue;
        }
        let name = AgentName { client: client.clone(), workspace: workspace.clone() };
        match all.get_mut(&name) {
            Some(agent) => {
                agent.sessions += 1;
                // The debt is that of the session in which it changed last, as the next session brings it along.
                if (session.trust.at, session.last) > (agent.newest.trust.at, agent.newest.last) {
                    agent.newest = session;
                }
            }
            None => drop(all.insert(name.clone(), Agent { name, sessions: 1, newest: session })),
        }
    }
    let mut all: Vec<Agent> = all.into_values().collect();
    all.sort_by(|one, other| (one.newest.last, &one.name).cmp(&(other.newest.last, &other.name)));
    Ok(all)
}

/// What holds where an agent works. Where that is broken, the built-in settings tell.
fn configuration(environment: &HostEnvironment, agent: &Agent) -> Config {
    config_files::load(environment, &agent.name.workspace)
        .map_or_else(|_| Config::default(), |one| one.config)
}

fn entry(environment: &HostEnvironment, agent: &Agent) -> Result<AgentEntry, CommandError> {
    let config = configuration(environment, agent);
    let policy = &config.governance.trust_debt;
    let debt = policy.left(&agent.newest.trust, environment.now());
    let given = tiers::given(environment, &agent.name)?;
    let tier = tiers::holding(config.governance.tier, given.as_ref().map(|given| given.tier));
    Ok(AgentEntry {
        agent: agent.name.id(),
        client: agent.name.client.clone(),
        project: agent.name.workspace.as_str().to_owned(),
        sessions: agent.sessions,
        last: agent.newest.last.map(Into::into),
        trust_debt: debt,
        posture: recorded(&policy.posture(debt)),
        tier: tier.word().to_owned(),
        configured: config.governance.tier.word().to_owned(),
        given: given.map(|given| api::sessions::TierOfUser {
            tier: given.tier.word().to_owned(),
            at: given.at.into(),
            by: given.by,
            note: given.note,
        }),
    })
}
