//! A stop that stands already, and whose turn it is to stop a session.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_intervention::Incident;
use checkrein_ledger::last;
use checkrein_protocol::{HaltScope, Record, RecordBody, Timestamp};
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;

use super::{BUDGET, Stopping};
use crate::environment::HostEnvironment;
use crate::incident;
use crate::notification;
use crate::notifier::waits;

/// How long another stop of the same session is waited for (ours): it reads the end of the ledger and writes three files.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long after a stop a call may still be let through that was under way, in milliseconds (ours).
const MOMENT: u64 = 10_000;

/// Among how many of the last records the stop is looked for (ours): a stopped session writes few.
const RECORDS: usize = 400;

/// The turn to stop a session; it ends with this value, and with the process.
pub(super) struct Turn {
    _file: Option<File>,
}

impl Turn {
    /// Waits until nobody else is stopping the session. Whose turn does not come stops it all the same.
    pub(super) fn wait(environment: &HostEnvironment, ledger: &SessionLedger) -> Self {
        match lock(ledger) {
            Ok(file) => Self { _file: Some(file) },
            Err(error) => {
                environment.diagnostics.add(format!("not waited for another stop: {error}"));
                Self { _file: None }
            }
        }
    }
}

fn lock(ledger: &SessionLedger) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(ledger.directory())?;
    let mut options = File::options();
    options.write(true).create(true).mode(0o600);
    let file = checkrein_files::open_own(&mut options, ledger.directory().join("stop.lock"))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() >= PATIENCE => {
                return Err(io::Error::other("it takes too long"));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// A stop that holds a session up.
pub(super) struct StandingStop {
    /// Its report.
    pub(super) incident: Incident,
    /// Whether a halt is on record for it.
    pub(super) is_halted: bool,
    /// Whether people were told of it, or are being told.
    pub(super) is_told: bool,
}

impl StandingStop {
    /// The stop of a session that stands; `None` where there is none, or the session went on since.
    pub(super) fn find(stopping: &Stopping<'_>, ledger: &SessionLedger, now: Timestamp) -> Option<Self> {
        let environment = stopping.environment;
        let incident = incident::newest(environment, ledger.folder())?;
        if stopping.since.is_some_and(|since| since > incident.at) {
            return None;
        }
        // Who has used up its limits goes on, call after refused call: what stops it then is something else.
        let goes_on_refused = incident.by == BUDGET && environment.run_limits.is_none();
        let is_one_moment = now.0.saturating_sub(incident.at.0) <= MOMENT;
        if goes_on_refused && stopping.by != BUDGET && !is_one_moment {
            return None;
        }
        // Looked for before the records are read: who sends a notice writes that down first, and takes it away then.
        let is_on_its_way = waits(&notification::folder(environment), &incident.id.0);
        let path = ledger.path();
        let records = if path.exists() { last(&path, RECORDS).ok()? } else { Vec::new() };
        let since = since(&records, incident.at);
        if since.iter().any(|record| goes_on(record, incident.at)) {
            return None;
        }
        let is_halt = |record: &Record| {
            matches!(record.body, RecordBody::Halted { scope: HaltScope::Session | HaltScope::All, .. })
        };
        let is_told = is_on_its_way || since.iter().any(|record| tells(record, &incident.id.0));
        Some(Self { is_halted: since.iter().any(is_halt), is_told, incident })
    }
}

/// The records from that of a stop on. It may be missing, where it could not be written.
fn since(records: &[Record], stopped: Timestamp) -> &[Record] {
    let is_stop = |record: &Record| match &record.body {
        RecordBody::Halted { .. } => true,
        RecordBody::Event { name, .. } => name == "checkrein.stopped",
        _ => false,
    };
    let stop = records.iter().position(|record| record.at >= stopped && is_stop(record));
    let start = stop.or_else(|| records.iter().position(|record| record.at > stopped));
    start.and_then(|start| records.get(start..)).unwrap_or_default()
}

/// Whether a record shows that a session goes on after a stop.
fn goes_on(record: &Record, stopped: Timestamp) -> bool {
    match &record.body {
        RecordBody::Resumed { .. } | RecordBody::SessionStarted { .. } => true,
        RecordBody::Review(review) => {
            review.verdict < VerdictKind::Block && record.at.0 > stopped.0.saturating_add(MOMENT)
        }
        _ => false,
    }
}

/// Whether a record says that people were told of a report, or could not be.
fn tells(record: &Record, incident: &str) -> bool {
    match &record.body {
        RecordBody::Event { name, fields } => name == "checkrein.notified" && fields["incident"] == incident,
        RecordBody::Failure { stage, kind, .. } => stage == "notify" && kind == "not_sent",
        _ => false,
    }
}
