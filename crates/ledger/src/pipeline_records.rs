//! What runs of pipelines came to: a chained record of its own beside those of sessions, since a run belongs to none.
//!
//! It names runs and steps and holds digests, never a text, so it stays in the clear: it can be written while the keys of the records are
//! locked. What is older than records are kept goes from its beginning, with a record of it among the removals.

use std::collections::BTreeMap;

use checkrein_protocol::{RecordBody, RemovedEntries, Timestamp};
use checkrein_vault::Vault;
use serde::{Deserialize, Serialize};

use crate::error::LedgerError;
use crate::ledger_file::LedgerFile;
use crate::read::lines;
use crate::retention::removals;
use crate::side_chain::SideChain;
use crate::state_directory::StateDirectory;

/// The name under which its heads are kept; no session has such a folder name.
pub(crate) const PIPELINES_NAME: &str = ".pipelines";

/// Its name in the record of removals.
pub(crate) const PIPELINES_STORE: &str = "pipelines";

/// The name of the store of runs that are done in the record of removals.
const DONE_STORE: &str = "pipelines/done";

/// The name of its records.
const EVENT: &str = "pipeline";

/// How much later than the last change of a run the record of its seal is at most (ours).
const SEALED_WITHIN: u64 = 60_000;

/// What lies in the tree of the steps at one time, as digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMark {
    /// Of the files on disk that differ from where the task began.
    pub disk: String,
    /// Of what git keeps: the commit and what is staged.
    pub kept: String,
}

/// What became of a run of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum PipelineRecord {
    /// It began.
    Began {
        /// The run.
        run: String,
        /// The SHA-256 of what it was given.
        facts: String,
    },
    /// A step ended.
    StepEnded {
        /// The run.
        run: String,
        /// The step.
        step: String,
        /// Which time that was, counted from 1.
        attempt: usize,
        /// How it ended.
        outcome: String,
        /// The SHA-256 of everything that is kept of it.
        facts: String,
        /// What lay in the tree: when it began to judge that, else when it ended.
        tree: Option<TreeMark>,
    },
    /// It was sealed.
    Sealed {
        /// The run.
        run: String,
        /// The digest of its seal.
        digest: String,
    },
}

impl PipelineRecord {
    /// The run that it is about.
    pub fn run(&self) -> &str {
        match self {
            Self::Began { run, .. } | Self::StepEnded { run, .. } | Self::Sealed { run, .. } => run,
        }
    }
}

/// A run that was sealed, as the record has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedPipeline {
    /// The digest of its seal.
    pub digest: String,
    /// Whether it may be gone: what was older than it is kept was removed.
    pub may_be_gone: bool,
}

/// Writes down what became of a run, durably.
///
/// # Errors
///
/// The file cannot be written or locked.
pub fn record_pipeline(
    home: &StateDirectory,
    at: Timestamp,
    record: &PipelineRecord,
) -> Result<(), LedgerError> {
    let fields = serde_json::to_value(record).map_err(LedgerError::Encode)?;
    let body = RecordBody::Event { name: EVENT.to_owned(), fields };
    chain(home, &Vault::default()).append(home, [(at, body)])
}

/// All of them, oldest first; lines that are none are left out, and are for the verifier to tell.
///
/// # Errors
///
/// The file cannot be read.
pub fn pipeline_records(home: &StateDirectory) -> Result<Vec<(Timestamp, PipelineRecord)>, LedgerError> {
    let path = home.pipelines();
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for line in lines(&LedgerFile::without_keys(path))? {
        let Some(record) = line?.record else { continue };
        let RecordBody::Event { name, fields } = record.body else { continue };
        if let (EVENT, Ok(pipeline)) = (name.as_str(), serde_json::from_value(fields)) {
            found.push((record.at, pipeline));
        }
    }
    Ok(found)
}

/// Every run that was sealed, with its last seal.
///
/// # Errors
///
/// A file cannot be read.
pub fn sealed_pipelines(home: &StateDirectory) -> Result<BTreeMap<String, SealedPipeline>, LedgerError> {
    let removed: Vec<RemovedEntries> = removals(home)?
        .into_iter()
        .flat_map(|record| match record.body {
            RecordBody::Retention { stores, .. } => stores,
            _ => Vec::new(),
        })
        .filter(|one| one.store == DONE_STORE)
        .collect();
    let mut sealed = BTreeMap::new();
    for (at, record) in pipeline_records(home)? {
        if let PipelineRecord::Sealed { run, digest } = record {
            let may_be_gone = removed.iter().any(|one| at.0 <= one.newest.0.saturating_add(SEALED_WITHIN));
            sealed.insert(run, SealedPipeline { digest, may_be_gone });
        }
    }
    Ok(sealed)
}

/// The chain that they stand in.
pub(crate) fn chain<'a>(home: &StateDirectory, vault: &'a Vault) -> SideChain<'a> {
    SideChain { path: home.pipelines(), name: PIPELINES_NAME, vault }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::record_removal;
    use crate::side_chain::{old_beginnings, remove_beginnings};
    use crate::verify::{verify_all, verify_pipelines};

    fn sealed(run: &str) -> PipelineRecord {
        PipelineRecord::Sealed { run: run.to_owned(), digest: format!("digest of {run}") }
    }

    #[test]
    fn each_record_follows_the_one_before_it_and_what_was_taken_out_shows() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().to_owned());
        let step = PipelineRecord::StepEnded {
            run: "a".to_owned(),
            step: "complete".to_owned(),
            attempt: 1,
            outcome: "failed".to_owned(),
            facts: String::new(),
            tree: Some(TreeMark { disk: "1".to_owned(), kept: "2".to_owned() }),
        };
        let all = [step, sealed("a"), sealed("b")];
        for (at, record) in (1..).zip(&all) {
            record_pipeline(&home, Timestamp(at), record).unwrap();
        }
        let read: Vec<PipelineRecord> =
            pipeline_records(&home).unwrap().into_iter().map(|(_, record)| record).collect();
        assert_eq!(read, all);
        assert!(verify_all(&home).unwrap().is_whole() && verify_pipelines(&home).unwrap().is_whole());
        let path = home.pipelines();
        let text = std::fs::read_to_string(&path).unwrap();
        for number in 0..3 {
            let kept = text.split_inclusive('\n').enumerate().filter(|(line, _)| *line != number);
            std::fs::write(&path, kept.map(|(_, line)| line).collect::<String>()).unwrap();
            let all = verify_all(&home).unwrap();
            assert!(
                !all.is_whole() && !verify_pipelines(&home).unwrap().is_whole(),
                "{number} was taken out"
            );
        }
        std::fs::write(&path, text.replace("failed", "passed")).unwrap();
        assert!(!verify_pipelines(&home).unwrap().is_whole());
        std::fs::remove_file(&path).unwrap();
        assert!(!verify_all(&home).unwrap().is_whole() && !verify_pipelines(&home).unwrap().is_whole());
    }

    #[test]
    fn a_run_may_be_gone_only_where_it_was_older_than_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().to_owned());
        for (at, run) in [(1_000_000, "old"), (2_000_000, "new")] {
            record_pipeline(&home, Timestamp(at), &sealed(run)).unwrap();
        }
        let gone = || -> Vec<bool> {
            sealed_pipelines(&home).unwrap().values().rev().map(|one| one.may_be_gone).collect()
        };
        assert_eq!(gone(), [false, false]);
        let of = |store: &str| RemovedEntries {
            store: store.to_owned(),
            entries: 1,
            oldest: Timestamp(900_000),
            newest: Timestamp(999_999),
            names: String::new(),
        };
        record_removal(&home, Timestamp(3_000_000), "old", vec![of("runs/done")]).unwrap();
        assert_eq!(gone(), [false, false]);
        record_removal(&home, Timestamp(3_000_000), "old", vec![of(DONE_STORE)]).unwrap();
        assert_eq!(gone(), [true, false], "the old one and not the new one");
        // The record itself goes as that of authentications does.
        let told = old_beginnings(&home, Timestamp(1_500_000)).unwrap();
        let went = remove_beginnings(&home, Timestamp(4_000_000), Timestamp(1_500_000), "old").unwrap();
        assert_eq!((told.len(), &told), (1, &went));
        assert_eq!(sealed_pipelines(&home).unwrap().len(), 1);
        assert!(verify_all(&home).unwrap().is_whole() && verify_pipelines(&home).unwrap().is_whole());
    }
}
