//! Tiers that people gave to single agents: re-tiering, as ACGP has it. An agent is a client in a project, as for its trust debt.
//!
//! A tier that is given only tightens: where the configuration names a stricter one, that one holds. So nothing is gained by taking the file
//! away that a change of the configuration would not gain, and a file that nobody sealed makes the guard say so.

use checkrein_policy::{Config, Digest, Policy, Tier};
use checkrein_protocol::{AbsolutePath, Timestamp};
use serde::{Deserialize, Serialize};

use crate::config_files::write_private;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::own_text;
use crate::seal::{BLANK, Sealed, is_sealed, sealed};

/// The folder in the state directory.
const FOLDER: &str = "tiers";

/// An agent, as it is known across sessions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentName {
    /// Its client.
    pub client: String,
    /// The project.
    pub workspace: AbsolutePath,
}

impl AgentName {
    /// Its name in twelve digits, for commands and addresses.
    pub fn id(&self) -> String {
        let digest = Digest::of(&format!("{}\0{}", self.client, self.workspace)).to_string();
        digest.trim_start_matches("sha256:").chars().take(12).collect()
    }
}

/// A tier that a person gave an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenTier {
    /// Whom.
    pub agent: AgentName,
    /// Which.
    pub tier: Tier,
    /// When.
    pub at: Timestamp,
    /// Who, by the name of their login.
    pub by: Option<String>,
    /// What they said about it.
    pub note: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct TierFile {
    #[serde(flatten)]
    given: GivenTier,
    seal: String,
}

fn file(environment: &HostEnvironment, agent: &AgentName) -> AbsolutePath {
    environment.state_path.join(FOLDER).join(&format!("{}.json", agent.id()))
}

/// The tier that was given to an agent; `None` where none was.
///
/// # Errors
///
/// The file is there and is not one that a command of ours wrote.
pub fn given(environment: &HostEnvironment, agent: &AgentName) -> Result<Option<GivenTier>, CommandError> {
    let path = file(environment, agent);
    let damaged = |why: &str| {
        CommandError::user(
            format!("the tier of the agent in `{path}` is damaged: {why}"),
            "give it again with `checkrein agent tier`",
        )
    };
    let text = match own_text(std::path::Path::new(path.as_str())) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(damaged(&error.to_string())),
    };
    let read: TierFile = serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
    if read.given.agent != *agent || !is_sealed(environment, Sealed::Tier, &agent.id(), &text, &read.seal) {
        return Err(damaged("it is not sealed for this agent"));
    }
    Ok(Some(read.given))
}

/// Writes down a tier for an agent.
///
/// # Errors
///
/// It cannot be sealed or written.
pub fn give(environment: &HostEnvironment, given: GivenTier) -> Result<(), CommandError> {
    let path = file(environment, &given.agent);
    let id = given.agent.id();
    let text = serde_json::to_string_pretty(&TierFile { given, seal: BLANK.to_owned() })
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    let text = sealed(environment, Sealed::Tier, &id, &text)
        .map_err(|error| CommandError::file("seal", &path, &error))?;
    write_private(&path, text.as_bytes())
}

/// Takes the tier of an agent back; whether there was one.
///
/// # Errors
///
/// The file cannot be removed.
pub fn take_back(environment: &HostEnvironment, agent: &AgentName) -> Result<bool, CommandError> {
    let path = file(environment, agent);
    match std::fs::remove_file(path.as_str()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(CommandError::file("remove", &path, &error)),
    }
}

/// The tier that holds where a configuration names one and a person gave one: the stricter.
pub fn holding(configured: Tier, given: Option<Tier>) -> Tier {
    given.map_or(configured, |given| given.max(configured))
}

/// A policy with a tier that was given, where that is stricter than its own.
pub(crate) fn tightened(policy: Policy, given: Option<Tier>) -> Policy {
    let configured = policy.config().governance.tier;
    let tier = holding(configured, given);
    if tier == configured {
        return policy;
    }
    let mut config: Config = policy.config().clone();
    config.governance.tier = tier;
    Policy::new(config).with_catalogue(policy.catalogue().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_that_is_given_only_tightens() {
        for configured in Tier::ALL {
            assert_eq!(holding(configured, None), configured);
            for given in Tier::ALL {
                assert_eq!(holding(configured, Some(given)), configured.max(given));
            }
        }
    }

    #[test]
    fn an_agent_is_a_client_in_a_project() {
        let agent = |client: &str, workspace: &str| AgentName {
            client: client.to_owned(),
            workspace: AbsolutePath::new(workspace).unwrap(),
        };
        let one = agent("claude", "/home/dev/a");
        assert_eq!(one.id(), agent("claude", "/home/dev/a").id());
        assert_ne!(one.id(), agent("claude", "/home/dev/b").id());
        assert_ne!(one.id(), agent("codex", "/home/dev/a").id());
        assert_eq!(one.id().len(), 12);
    }
}
