//! How sessions are written down: what is masked, where heads are witnessed, what the diagnostic log says, and what an
//! agent brings along from its last session.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_ledger::{
    EventDetail, EventLog, EventWords, LedgerError,
    mask::{MaskKey, Masking, MaskingChoice},
};

use checkrein_policy::{Audit, Config, LogLevel, Snapshots, TelemetryEvents};
use checkrein_protocol::{AbsolutePath, SessionId};
use checkrein_session::{SessionLedger, SessionSummary};
use checkrein_vault::Sealing;

use crate::environment::HostEnvironment;

/// The greatest length of the diagnostic log, in bytes (ours); the one before it is kept beside it.
const LONGEST_LOG: u64 = 1024 * 1024;

/// The ledger of a session as the configuration wants it written.
pub(crate) fn ledger(environment: &HostEnvironment, session: &SessionId, config: &Config) -> SessionLedger {
    let state = environment.state.clone().with_sealing(sealing(&config.audit));
    SessionLedger::open(&state, session)
        .with_masking(masking(&config.audit))
        .with_witness(anchor(environment, &config.audit))
        .with_events(events(environment, config))
}

/// The variable that turns everything off that is told beside the records.
const TELEMETRY: &str = "CHECKREIN_TELEMETRY";

/// Whether anything is told beside the records: neither the configuration nor the environment says no.
pub fn tells(environment: &HostEnvironment, config: &Config) -> bool {
    let is_off =
        environment.variables.get(TELEMETRY).is_some_and(|value| matches!(value.as_str(), "0" | "false"));
    config.telemetry.enabled && !is_off
}

/// Where events are written, and which; `None` where none is.
fn events(environment: &HostEnvironment, config: &Config) -> Option<EventLog> {
    let detail = match config.telemetry.events {
        TelemetryEvents::Off => return None,
        TelemetryEvents::Notable => EventDetail::Notable,
        TelemetryEvents::All => EventDetail::All,
    };
    let words = match sealing(&config.audit) {
        Sealing::On => EventWords::Withheld,
        Sealing::Off => EventWords::Told,
    };
    tells(environment, config).then(|| EventLog::new(events_folder(environment, config), detail, words))
}

/// The folder of the event log.
pub(crate) fn events_folder(environment: &HostEnvironment, config: &Config) -> PathBuf {
    match config.telemetry.folder.as_deref() {
        None => environment.state.root().join("events"),
        Some(named) => {
            let named = named.strip_prefix("~/").unwrap_or(named);
            PathBuf::from(environment.home.join(named).as_str())
        }
    }
}

/// Whether what is written is sealed.
pub(crate) fn sealing(audit: &Audit) -> Sealing {
    if audit.encrypt { Sealing::On } else { Sealing::Off }
}

/// Whether snapshots are sealed.
pub(crate) fn snapshot_sealing(snapshots: &Snapshots) -> Sealing {
    if snapshots.encrypt { Sealing::On } else { Sealing::Off }
}

/// What is masked before anything is written.
pub(crate) fn masking(audit: &Audit) -> Masking {
    let choice = |is_masked: bool| if is_masked { MaskingChoice::Masked } else { MaskingChoice::Clear };
    Masking {
        secrets: choice(audit.mask.secrets),
        personal_data: choice(audit.mask.personal_data),
        clear: audit.mask.clear.clone(),
        names: audit.mask.names.clone(),
        literals: audit.mask.literals.clone(),
    }
}

/// The key of this state directory, for what the configuration wants masked.
pub(crate) fn mask_key(environment: &HostEnvironment, config: &Config) -> Result<MaskKey, LedgerError> {
    Ok(environment.state.mask_key()?.with_masking(masking(&config.audit)))
}

/// The file outside the state directory to which heads are appended; a path that is not absolute is one of the home directory.
pub fn anchor(environment: &HostEnvironment, audit: &Audit) -> Option<PathBuf> {
    let named = audit.anchor.as_deref()?;
    let named = named.strip_prefix("~/").unwrap_or(named);
    Some(PathBuf::from(environment.home.join(named).as_str()))
}

/// The trust debt that an agent brings along: what is left of that of its newest session in the same workspace, 0 where there is none. Trust
/// belongs to the agent, not to one of its sessions (ACGP); an agent is known by its client. What it did in one project says nothing to a
/// user who works in another, so debt counts where it arose (ours).
pub(crate) fn inherited_debt(
    environment: &HostEnvironment,
    all: &[SessionSummary],
    client: &str,
    workspace: &AbsolutePath,
    config: &Config,
) -> f64 {
    let policy = &config.governance.trust_debt;
    if !config.governance.enabled || !policy.enabled {
        return 0.0;
    }
    let own = |session: &&SessionSummary| {
        session.client.as_deref() == Some(client)
            && session.workspace.as_ref() == Some(workspace)
            && session.trust.at.0 > 0
    };
    let newest = all.iter().filter(own).max_by_key(|session| session.trust.at);
    newest.map_or(0.0, |session| policy.left(&session.trust, environment.now()))
}

/// What stands in place of what a message quotes, where records are encrypted.
const WITHHELD: &str = "[withheld]";

/// The message without what it quotes: text of users, commands and paths stand in back-ticks.
fn without_quotes(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 0 { part } else { WITHHELD }).collect()
}

/// Writes a line into the diagnostic log, when the configuration asks for lines of this level. What cannot be written is lost: the log is
/// for people who look for a cause, the ledger is the record.
pub fn diagnose(environment: &HostEnvironment, config: &Config, level: LogLevel, text: &str) {
    if level < config.audit.log_level {
        return;
    }
    let path = Path::new(environment.state_path.as_str()).join("diagnostics.log");
    if fs::metadata(&path).is_ok_and(|facts| facts.len() > LONGEST_LOG) {
        drop(fs::rename(&path, path.with_extension("log.old")));
    }
    let text = match sealing(&config.audit) {
        Sealing::On => Cow::Owned(without_quotes(text)),
        Sealing::Off => Cow::Borrowed(text),
    };
    let line = format!("{} {} {}\n", environment.now().0, level.word(), text.replace('\n', " "));
    // A pipe that somebody put there would keep the call waiting.
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let written =
        checkrein_files::open_with(&mut options, &path).and_then(|mut file| file.write_all(line.as_bytes()));
    drop(written);
}

#[cfg(test)]
mod tests {
    use super::without_quotes;

    #[test]
    fn a_message_without_its_quotes_still_says_what_happened() {
        assert_eq!(without_quotes("cannot read `/home/ann/x`: denied"), "cannot read [withheld]: denied");
        assert_eq!(without_quotes("nothing quoted"), "nothing quoted");
        assert_eq!(without_quotes("cut short: `rm -rf"), "cut short: [withheld]");
    }
}
