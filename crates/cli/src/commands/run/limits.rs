//! What limits a run, and what holds it: what was asked for, else what the configuration and its profile say.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use checkrein_clients::{ClientAdapter, ClientPath, ModelFacts, Transcript, chosen_model};
use checkrein_policy::{Config, Profile};
use checkrein_protocol::AbsolutePath;
use checkrein_sandbox::{Bytes, Hold};
use checkrein_supervise::{RunProgress, Stop, Switches, TerminalOutput};
use checkrein_world::find_workspace;

use super::super::doctor;
use super::{KillGuarantee, RunOptions, strict};
use crate::terminal::log;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What is asked for, else what the configuration and its profile say. Zero is the word for no limit (seed 004).
pub(super) fn switches(wanted: &RunOptions, config: &Config) -> Switches {
    let silence = match config.profile {
        Profile::Interactive => None,
        Profile::Unattended | Profile::Strict => Some(Switches::SILENCE),
    };
    let execution = config.execution_limit_seconds().map(Duration::from_secs);
    let memory = config.memory_limit_mb().map(Bytes::of_megabytes);
    Switches {
        budget: wanted.budget.or(config.dollar_limit()).filter(|dollars| *dollars > 0.0),
        tokens: wanted.tokens.or(config.token_limit()).filter(|tokens| *tokens > 0),
        iterations: wanted.iterations.or(config.answer_limit()).filter(|answers| *answers > 0),
        time: wanted.time.or(execution).filter(|time| !time.is_zero()),
        idle: wanted.idle.or(silence).filter(|time| !time.is_zero()),
        memory: wanted.memory.or(memory).filter(|memory| memory.0 > 0),
        tasks: Some(wanted.processes.unwrap_or(Switches::TASKS)).filter(|count| *count > 0),
    }
}

/// Why nothing will tell what an agent spends, although there is a limit to it; `None` when something will, and of programs that are not known.
pub(super) fn untold(
    switches: &Switches,
    agent: &[OsString],
    environment: &HostEnvironment,
) -> Option<String> {
    if !counts(switches) {
        return None;
    }
    let client = client(agent)?;
    let tells = tells(client, agent);
    let counted_by_hooks = client.transcript != Transcript::Absent
        && strict::silenced(client, agent).is_none()
        && doctor::has_hooks(environment, client);
    if tells || counted_by_hooks {
        return None;
    }
    let title = client.title;
    let output = client.telling.first().map(|telling| format!("its output does not tell it (`{telling}`)"));
    Some(match (output, client.transcript) {
        (Some(output), Transcript::Tells | Transcript::Keeps) => {
            format!("{output}, and no hooks count it (`checkrein init`)")
        }
        (Some(output), Transcript::Absent) => output,
        (None, Transcript::Tells | Transcript::Keeps) => "no hooks count it (`checkrein init`)".to_owned(),
        (None, Transcript::Absent) => format!("{title} does not tell it"),
    })
}

/// The client that a command line starts; `None` for every other program, such as a script that starts one.
fn client(agent: &[OsString]) -> Option<&'static ClientAdapter> {
    let program = Path::new(agent.first()?).file_name()?.to_string_lossy();
    checkrein_clients::of_program(&program)
}

/// Whether the command line of a client asks for output that tells what it spends.
fn tells(client: &ClientAdapter, agent: &[OsString]) -> bool {
    agent.iter().any(|word| {
        let word = word.to_string_lossy();
        client.telling.iter().any(|telling| word.rsplit('=').next() == Some(telling))
    })
}

/// What the agent writes to a terminal: only of a client is it known that it draws a screen.
pub(super) fn terminal_output(agent: &[OsString]) -> TerminalOutput {
    match client(agent) {
        Some(client) if !tells(client, agent) => TerminalOutput::Screen,
        Some(_) | None => TerminalOutput::Stream,
    }
}

/// Whether there is a limit that needs to know what the agent spends.
pub(super) fn counts(switches: &Switches) -> bool {
    let Switches { budget, tokens, iterations, .. } = switches;
    budget.is_some() || tokens.is_some() || iterations.is_some()
}

/// How long an agent that nothing counts may run (ours): time for what was not expected to tell to do so all the same.
pub(super) const UNTOLD: Duration = Duration::from_secs(10);

/// Why an agent that has run so long has to stop, when nothing has told what it spends and nothing is expected to.
pub(super) fn stays_untold(untold: Option<&str>, running: Duration, progress: &RunProgress) -> Option<Stop> {
    let is_heard = progress.session.is_some() || progress.iterations > 0;
    let is_told = is_heard && !(progress.tells_no_tokens && progress.untold().is_some());
    (running >= UNTOLD && !is_told).then_some(())?;
    untold.map(|why| Stop::Uncounted(why.to_owned()))
}

/// The model that an agent is told to use, on its command line, by a variable or by its settings, where its stream says none.
pub(super) fn model_of(agent: &[OsString], environment: &HostEnvironment) -> Option<String> {
    let workspace = find_workspace(&environment.cwd);
    let client = client(agent);
    let folder = client.map_or_else(
        || environment.home.clone(),
        |client| client.places.folder(&environment.home, |name| environment.variables.get(name)),
    );
    chosen_model(agent, &OnThisMachine { environment, workspace, folder })
}

/// What this machine says of the model that an agent uses.
struct OnThisMachine<'a> {
    environment: &'a HostEnvironment,
    workspace: AbsolutePath,
    folder: AbsolutePath,
}

impl OnThisMachine<'_> {
    /// Settings that are not there or cannot be read leave the price of the dearest.
    fn read(path: &AbsolutePath) -> Option<String> {
        checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()
    }
}

impl ModelFacts for OnThisMachine<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.environment.variables.get(name).cloned()
    }

    fn text(&self, place: ClientPath) -> Option<String> {
        Self::read(&place.at(&self.workspace, &self.folder))
    }

    fn beside(&self, name: &str) -> Option<String> {
        Self::read(&self.folder.join(name))
    }

    fn project(&self) -> Vec<String> {
        [&self.environment.cwd, &self.workspace].map(|folder| folder.as_str().to_owned()).to_vec()
    }
}

/// What ends the agent when we are all killed: as much as the profile wants of what is to be had. In a namespace with a user before it,
/// or in one without rights that others notice, is nobody who did not ask for it.
pub(super) fn hold(wanted: KillGuarantee, profile: Profile) -> Result<Hold, CommandError> {
    let (ways, must): (&[Hold], bool) = match (wanted, profile) {
        (KillGuarantee::Processes, _) | (KillGuarantee::Profile, Profile::Interactive) => (&[], false),
        (KillGuarantee::Profile, Profile::Unattended) => (&[Hold::Namespace], false),
        (KillGuarantee::Profile, Profile::Strict) => (&[Hold::Namespace, Hold::UserNamespace], false),
        (KillGuarantee::Namespace, _) => (&[Hold::Namespace, Hold::UserNamespace], true),
    };
    let mut refused = None;
    for way in ways {
        match way.probe() {
            Ok(()) => return Ok(*way),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if must => Err(error.into()),
        Some(_) => {
            log(
                "checkrein: this machine does not hold: what the agent started, should all processes of checkrein be killed in one moment",
            );
            Ok(Hold::Processes)
        }
        None => Ok(Hold::Processes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_agent_of_which_nothing_is_heard_is_ended_for_it() {
        let late = Duration::from_mins(1);
        let silent = RunProgress::default();
        let heard = RunProgress { session: Some("s".into()), ..RunProgress::default() };
        assert_eq!(stays_untold(Some("why"), UNTOLD, &silent), Some(Stop::Uncounted("why".into())));
        assert_eq!(stays_untold(Some("why"), UNTOLD / 2, &silent), None);
        assert_eq!(stays_untold(Some("why"), late, &heard), None, "it told all the same");
        assert_eq!(stays_untold(None, late, &silent), None, "something may still tell");
        let never = RunProgress { iterations: 3, tells_no_tokens: true, ..RunProgress::default() };
        assert_eq!(stays_untold(Some("why"), late, &never), Some(Stop::Uncounted("why".into())));
    }
}
