//! Going back: which snapshots hold what stood before the trouble began (seed 000, checkpoint and rollback).

use std::ops::RangeInclusive;

use checkrein_patterns::{ActionNumber, ActionSuccess};
use checkrein_policy::{CheckpointRollback, SafeCheckpointCriteria};
use checkrein_protocol::Timestamp;
use serde::{Deserialize, Serialize};

/// How many outcomes before a snapshot say whether it is safe (ours).
const OUTCOMES: usize = 20;

/// A rollback that a user was asked about and has not decided yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// Before which action.
    pub before: ActionNumber,
    /// The last action when they were asked; what comes later is held.
    pub after: ActionNumber,
    /// What it would change, in one sentence.
    pub changes: String,
}

/// A snapshot that may be gone back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub id: u64,
    /// When it was taken.
    pub at: Timestamp,
    /// What it holds.
    pub holds: Holds,
}

/// What a snapshot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The workspace.
    Workspace,
    /// What one action was to change.
    Places,
}

/// The snapshots that a rollback rests on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RollbackSnapshots {
    /// The newest safe one of the workspace before the trouble; it says what stood where no other does.
    pub workspace: Option<u64>,
    /// Those of single actions since the trouble began, oldest first: the first that holds a place says what stood there.
    pub places: Vec<u64>,
}

/// Which snapshots hold what stood at `onset`, among `candidates` in the order in which they were taken. `outcomes` are those of the
/// session, oldest first, as far as they are known.
pub fn choose(
    candidates: &[Candidate],
    onset: Timestamp,
    depth: u64,
    outcomes: &[(Timestamp, ActionSuccess)],
    settings: &CheckpointRollback,
) -> RollbackSnapshots {
    let oldest = onset.0.saturating_sub(settings.checkpoint_retention_minutes.saturating_mul(60 * 1000));
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let workspace = candidates
        .iter()
        .rev()
        .filter(|one| one.holds == Holds::Workspace && one.at <= onset)
        .take(depth)
        .enumerate()
        // The newest may be as old as it is: nothing newer was saved.
        .filter(|(index, one)| *index == 0 || one.at.0 >= oldest)
        .map(|(_, one)| one)
        .find(|one| is_safe(one.at, outcomes, settings.safe_checkpoint_criteria));
    let since = candidates.iter().filter(|one| one.holds == Holds::Places && one.at >= onset);
    RollbackSnapshots { workspace: workspace.map(|one| one.id), places: since.map(|one| one.id).collect() }
}

/// Whether the session was well when a snapshot was taken: enough of what came before had succeeded, and nothing had failed for a while
/// (seed 000, `safe_checkpoint_criteria`). Before the first outcome it was.
fn is_safe(at: Timestamp, outcomes: &[(Timestamp, ActionSuccess)], criteria: SafeCheckpointCriteria) -> bool {
    let before: Vec<&(Timestamp, ActionSuccess)> =
        outcomes.iter().rev().filter(|(moment, _)| *moment <= at).take(OUTCOMES).collect();
    let quiet: RangeInclusive<u64> =
        at.0.saturating_sub(criteria.no_errors_duration_seconds.saturating_mul(1000))..=at.0;
    let failed = |one: &&&(Timestamp, ActionSuccess)| one.1 == ActionSuccess::Failed;
    if before.iter().filter(failed).any(|(moment, _)| quiet.contains(&moment.0)) {
        return false;
    }
    let failures = before.iter().filter(failed).count();
    before.is_empty() || 1.0 - failures as f64 / before.len() as f64 >= criteria.min_success_rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(checkpoint_retention_minutes: u64) -> CheckpointRollback {
        CheckpointRollback {
            enabled: true,
            max_rollback_depth: 3,
            checkpoint_retention_minutes,
            safe_checkpoint_criteria: SafeCheckpointCriteria {
                min_success_rate: 0.8,
                no_errors_duration_seconds: 60,
            },
        }
    }

    fn workspace(id: u64, seconds: u64) -> Candidate {
        Candidate { id, at: Timestamp(seconds * 1000), holds: Holds::Workspace }
    }

    fn places(id: u64, seconds: u64) -> Candidate {
        Candidate { holds: Holds::Places, ..workspace(id, seconds) }
    }

    fn chosen(candidates: &[Candidate], outcomes: &[(u64, ActionSuccess)]) -> RollbackSnapshots {
        let outcomes: Vec<_> = outcomes.iter().map(|(at, how)| (Timestamp(at * 1000), *how)).collect();
        choose(candidates, Timestamp(1_000_000), 3, &outcomes, &settings(30))
    }

    // Source: seed 000-33
    #[test]
    fn the_newest_of_the_workspace_before_and_those_of_actions_since() {
        let all = [
            workspace(1, 0),
            places(2, 500),
            workspace(3, 900),
            places(4, 1000),
            workspace(5, 1100),
            places(6, 1200),
        ];
        assert_eq!(chosen(&all, &[]), RollbackSnapshots { workspace: Some(3), places: vec![4, 6] });
        assert_eq!(chosen(&[], &[]), RollbackSnapshots::default());
    }

    // Source: seed 000-35
    #[test]
    fn one_after_errors_is_not_safe_seed_000() {
        let all = [workspace(1, 0), workspace(2, 900)];
        let safe = |outcomes: &[(u64, ActionSuccess)]| chosen(&all, outcomes).workspace;
        assert_eq!(safe(&[(850, ActionSuccess::Failed)]), Some(1), "an error less than a minute before");
        assert_eq!(safe(&[(950, ActionSuccess::Failed)]), Some(2), "what failed afterwards says nothing");
        let mut outcomes = vec![(100, ActionSuccess::Succeeded); 8];
        outcomes.extend([(110, ActionSuccess::Failed); 2]);
        assert_eq!(safe(&outcomes), Some(2), "8 of 10 are enough");
        outcomes.push((120, ActionSuccess::Failed));
        assert_eq!(safe(&outcomes), Some(1), "8 of 11 are not");
    }

    // Source: seed 000-94
    #[test]
    fn it_goes_no_deeper_than_it_may_seed_000() {
        let all: Vec<Candidate> = (1..=5).map(|id| workspace(id, id * 100)).collect();
        let failing: Vec<(u64, ActionSuccess)> =
            (3..=5).map(|id| (id * 100 - 1, ActionSuccess::Failed)).collect();
        assert_eq!(chosen(&all, &failing).workspace, None);
        assert_eq!(chosen(&all, failing.get(1..).unwrap_or_default()).workspace, Some(3));
    }

    // Source: seed 000-95
    #[test]
    fn older_snapshots_are_left_alone_but_for_the_newest_seed_000() {
        let (old, newer) = (workspace(1, 0), workspace(2, 3_000));
        let failed = [(Timestamp(2_990 * 1000), ActionSuccess::Failed)];
        let chosen = |candidates: &[Candidate], minutes| {
            choose(candidates, Timestamp(3_600 * 1000), 3, &failed, &settings(minutes)).workspace
        };
        assert_eq!(chosen(&[old, newer], 60), Some(1), "the newer one is not safe");
        assert_eq!(chosen(&[old, newer], 59), None);
        assert_eq!(chosen(&[old], 59), Some(1), "nothing newer was saved");
    }
}
