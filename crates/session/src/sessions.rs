//! All sessions at a glance, from their state files.

use checkrein_facts::TrustDebt;
use checkrein_protocol::{AbsolutePath, ChangeId, Timestamp};

use checkrein_ledger::{FolderName, Halt, LedgerError, StateDirectory, is_halted};

use crate::SessionLedger;
use crate::spent::UsageTotals;
use crate::state::{CallCounts, SessionState, VerdictCounts};

/// What a list of sessions says about one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The name of its folder.
    pub folder: FolderName,
    /// Its id as the client spells it, when a start was recorded.
    pub session: Option<String>,
    /// When it began, when a start was recorded.
    pub started: Option<Timestamp>,
    /// When its last record was written.
    pub last: Option<Timestamp>,
    /// When its agent or client did something last.
    pub worked: Option<Timestamp>,
    /// How many records it has.
    pub records: u64,
    /// How many actions were reviewed.
    pub actions: u64,
    /// How often each verdict was given.
    pub verdicts: VerdictCounts,
    /// What became of its calls.
    pub calls: CallCounts,
    /// The client, when a start was recorded.
    pub client: Option<String>,
    /// Where it works, when that was recorded.
    pub workspace: Option<AbsolutePath>,
    /// How many file operations it made.
    pub file_operations: u64,
    /// What it has spent.
    pub spent: UsageTotals,
    /// How often something did not run.
    pub failures: u64,
    /// How often its ledger was found damaged.
    pub repairs: u64,
    /// How much trust its agent has used up, at the moment it changed last.
    pub trust: TrustDebt,
    /// The changes that it made and nobody verified.
    pub unverified: Vec<ChangeId>,
    /// The halt it is under.
    pub halt: Option<Halt>,
    /// Why nothing of this is known: its records cannot be read.
    pub unreadable: Option<String>,
}

/// The sessions of a state directory, the one with the newest record first. A session of which the state is missing is
/// read from its ledger.
pub fn sessions(home: &StateDirectory) -> Result<Vec<SessionSummary>, LedgerError> {
    let mut summaries = Vec::new();
    for folder in home.folders()? {
        let ledger = SessionLedger::of_folder(home, folder);
        if !ledger.path().exists() {
            continue;
        }
        // One that cannot be read must not hide the others, nor keep anybody from halting them.
        let (state, unreadable) = match ledger.state() {
            Ok(state) => (state, None),
            Err(error) => (SessionState::default(), Some(error.to_string())),
        };
        summaries.push(SessionSummary { unreadable, ..summary(home, ledger.folder().clone(), &state) });
    }
    summaries.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.folder.cmp(&other.folder)));
    Ok(summaries)
}

/// Returns what a list of sessions says about the one with this folder and state.
pub fn summary(home: &StateDirectory, folder: FolderName, state: &SessionState) -> SessionSummary {
    SessionSummary {
        session: state.session().map(str::to_owned),
        started: state.started(),
        last: state.last(),
        worked: state.worked(),
        records: state.records(),
        actions: state.actions(),
        verdicts: state.verdicts(),
        calls: state.calls(),
        client: state.client().map(str::to_owned),
        workspace: state.workspace().cloned(),
        file_operations: state.file_operations(),
        spent: state.spent().clone(),
        failures: state.failures(),
        repairs: state.repairs(),
        trust: state.trust(),
        unverified: state.changes().map(|due| due.change.clone()).collect(),
        halt: is_halted(home, &folder),
        folder,
        unreadable: None,
    }
}
