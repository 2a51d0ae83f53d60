//! `checkrein trust`: a user agrees to what a project file loosens.

use checkrein_policy::LoadedConfig;
use checkrein_protocol::AbsolutePath;
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::allow::has_ended;
use super::config::{loosened_file, loosened_in_words};
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::installation::{HeldSession, Trust};
use crate::api::{self, recorded};
use crate::terminal::{Reply, confirm, counted, log, print, print_exact, wrapped};
use checkrein_engine::beginning;
use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration::{self, LoosenedConfiguration};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rules;

/// Shows what the project file loosens and trusts this very text of it.
pub fn trust(
    environment: &HostEnvironment,
    yes: super::Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "trust")?;
    let workspace = find_workspace(&environment.cwd);
    let file = config_files::project_file(&workspace);
    let loaded = config_files::load(environment, &workspace)?;
    let sessions = sessions_that_wait(environment, &workspace)?;
    // What cannot be read is written anew.
    let loosened = confirmed_configuration::loosened(environment);
    let told = |is_trusted: bool| {
        let loosened = loosened.as_ref().ok().and_then(Option::as_ref);
        tell(&file, &loaded, &sessions, loosened, is_trusted)
    };
    if loaded.pending.is_empty() && sessions.is_empty() && matches!(loosened, Ok(None)) {
        match output {
            // Nothing waits, so everything there is counts.
            OutputForm::Json => told(true)?,
            OutputForm::Text if std::fs::symlink_metadata(file.as_str()).is_err() => print(&wrapped(
                &format!("nothing waits for your consent: `{file}` does not exist, and no session waits"),
            )),
            OutputForm::Text => print(&wrapped(&format!(
                "`{file}` loosens nothing that is not trusted already, and no session waits for this"
            ))),
        }
        return Ok(ExitStatus::Done);
    }
    if output == OutputForm::Text {
        show(&file, &loaded, &sessions);
        match &loosened {
            Ok(None) => {}
            Ok(Some(found)) => print(&wrapped(&loosened_in_words(environment, found))),
            Err(error) => print(&error.message),
        }
    }
    if yes == super::Switch::Off {
        let declined = match confirm("Trust the rules as they are now?") {
            Reply::Yes => None,
            Reply::No => Some("not trusted"),
            Reply::Nobody => {
                Some("not trusted: there is no terminal to ask at; `--yes` trusts without asking")
            }
        };
        if let Some(words) = declined {
            if output == OutputForm::Json {
                told(false)?;
            }
            log(words);
            return Ok(ExitStatus::Failed);
        }
    }
    // What is confirmed is part of the rules that are trusted.
    confirmed_configuration::confirm(environment)?;
    rules::trust(environment, &workspace)?;
    match output {
        OutputForm::Json => told(true)?,
        OutputForm::Text => print("trusted; a change of the rules asks again"),
    }
    Ok(ExitStatus::Done)
}

/// Shows what waits for the trust of the user, and changes nothing.
pub fn show_waiting(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let workspace = find_workspace(&environment.cwd);
    let file = config_files::project_file(&workspace);
    let loaded = config_files::load(environment, &workspace)?;
    let sessions = sessions_that_wait(environment, &workspace)?;
    let loosened = confirmed_configuration::loosened(environment)?;
    let is_trusted = loaded.pending.is_empty() && sessions.is_empty() && loosened.is_none();
    if let (OutputForm::Text, Some(found)) = (output, &loosened) {
        print(&wrapped(&loosened_in_words(environment, found)));
    }
    match output {
        OutputForm::Json => tell(&file, &loaded, &sessions, loosened.as_ref(), is_trusted)?,
        OutputForm::Text if is_trusted => print("nothing waits for your consent"),
        OutputForm::Text => show(&file, &loaded, &sessions),
    }
    Ok(ExitStatus::Done)
}

/// Tells programs what waits for trust, and whether all of it has it.
fn tell(
    file: &AbsolutePath,
    loaded: &LoadedConfig,
    sessions: &[HeldTo],
    loosened: Option<&LoosenedConfiguration>,
    is_trusted: bool,
) -> Result<(), CommandError> {
    let waiting = sessions
        .iter()
        .map(|held| HeldSession { session: held.session.clone(), settings: held.settings.clone() });
    print_exact(&api::pretty(&Trust {
        file: file.to_string(),
        pending: recorded(&loaded.pending),
        loosened: loosened.map(loosened_file),
        sessions: waiting.collect(),
        trusted: is_trusted,
    })?);
    Ok(())
}

/// Shows what waits for trust.
fn show(file: &AbsolutePath, loaded: &LoadedConfig, sessions: &[HeldTo]) {
    if !loaded.pending.is_empty() {
        print(&wrapped(&format!("`{file}` asks for more than the layers below it allow:")));
    }
    for loosening in &loaded.pending {
        print(&wrapped(&format!("  {}", super::config::waiting(loosening))));
    }
    let (ended, going_on): (Vec<_>, Vec<_>) = sessions.iter().partition(|session| session.has_ended);
    for HeldTo { session, settings, .. } in going_on {
        print(&wrapped(&format!("session {session} began with other rules; these do not count in it yet:")));
        print(&wrapped(&format!("  {}", settings.join(", "))));
    }
    if !ended.is_empty() {
        let count = counted(u64::try_from(ended.len()).unwrap_or(u64::MAX), "session");
        let have = if ended.len() == 1 { "has" } else { "have" };
        print(&wrapped(&format!(
            "{count} that {have} ended began with other rules, and would follow those again when resumed"
        )));
    }
}

/// A session that is held to stricter rules than those of now.
struct HeldTo {
    session: String,
    settings: Vec<&'static str>,
    has_ended: bool,
}

/// Sessions that were written to within this time may still be going on, in milliseconds (ours).
const RECENT: u64 = 7 * 24 * 60 * 60 * 1000;

/// The sessions of a workspace that are held to stricter rules than those of now, with the settings.
fn sessions_that_wait(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Result<Vec<HeldTo>, CommandError> {
    let now = environment.now().0;
    let mut waiting = Vec::new();
    for summary in checkrein_session::sessions(&environment.state)? {
        if summary.last.is_none_or(|last| now.saturating_sub(last.0) > RECENT) {
            continue;
        }
        let ledger = SessionLedger::of_folder(&environment.state, summary.folder.clone());
        // Of a session whose beginning cannot be read the hook says so itself; trust is the way out.
        let settings = beginning::waiting(environment, workspace, &ledger)
            .unwrap_or_else(|_| vec!["what it began with cannot be read"]);
        if !settings.is_empty() {
            let session = summary.folder.as_str().to_owned();
            let has_ended = has_ended(environment, &session)?;
            waiting.push(HeldTo { session, settings, has_ended });
        }
    }
    Ok(waiting)
}
