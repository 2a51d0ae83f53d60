//! The verifier: finds edits, deletions, reordering and truncation.
//!
//! The chain alone shows everything but a cut at the end; for that there are witnesses: the state, the file of heads, and
//! anchors in the ledgers of other sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, BufReader};
use std::path::Path;

use checkrein_protocol::{LedgerDamage, Record, RecordBody, RecordHash};

use crate::anchors;
use crate::authentications::{self, AUTHENTICATIONS_NAME};
use crate::cache::Position;
use crate::error::LedgerError;
use crate::hash_chain::{Checked, Header, check, first_prev};
use crate::locked::TORN_PREFIX;
use crate::pipeline_records::{PIPELINES_NAME, PIPELINES_STORE};
use crate::read::read_line;
use crate::retention::RETENTION_NAME;
use crate::side_chain::gone_with;
use crate::state_directory::{FolderName, StateDirectory};
use crate::testimony::{Testified, Testimony};

/// What was found in a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// How many lines are whole records.
    pub records: u64,
    /// What is wrong; empty when nothing is.
    pub problems: Vec<Broken>,
    /// Damage that was found and written down earlier: lines that a killed process left unfinished, kept beside the ledger.
    pub repairs: Vec<Broken>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The line in the ledger, from 1; `None` when it is about what is no longer there.
    pub line: Option<u64>,
    /// What sort of damage.
    pub kind: BrokenKind,
    /// In words.
    pub detail: String,
}

/// Sorts of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BrokenKind {
    /// A line is not what was written.
    Edited,
    /// Records are missing from the middle or the beginning, or the whole ledger is.
    Deleted,
    /// Records are not in their order.
    Reordered,
    /// The end is missing.
    Truncated,
    /// The last line is unfinished.
    Torn,
    /// A record is there twice.
    Duplicate,
}

/// What was found in a state directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HomeVerification {
    /// Each session, by folder name.
    pub sessions: BTreeMap<String, Verification>,
    /// The record of removed sessions; `None` when there is none.
    pub retention: Option<Verification>,
    /// The record of authentications; `None` when there is none.
    pub authentications: Option<Verification>,
    /// The record of pipelines; `None` when there is none.
    pub pipelines: Option<Verification>,
    /// Ledgers that witnesses know and that are gone without a record of their removal, by folder name.
    pub missing: BTreeMap<String, Broken>,
    /// What is wrong with the file of heads.
    pub problems: Vec<Broken>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

impl HomeVerification {
    /// Whether nothing is wrong anywhere.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
            && self.missing.is_empty()
            && self.sessions.values().all(Verification::is_whole)
            && self.retention.as_ref().is_none_or(Verification::is_whole)
            && self.authentications.as_ref().is_none_or(Verification::is_whole)
            && self.pipelines.as_ref().is_none_or(Verification::is_whole)
    }
}

/// Verifies the chain of one ledger file, without witnesses: a cut between two lines at the end is not found.
pub fn verify(path: &Path) -> Result<Verification, LedgerError> {
    Ok(Chain::read(path)?.verification)
}

/// Verifies one session with all witnesses there are.
pub fn verify_session(home: &StateDirectory, folder: &FolderName) -> Result<Verification, LedgerError> {
    let mut all = verify_all(home)?;
    if let Some(missing) = all.missing.remove(folder.as_str()) {
        return Ok(Verification { problems: vec![missing], ..Verification::default() });
    }
    Ok(all.sessions.remove(folder.as_str()).unwrap_or_default())
}

/// Verifies the record of pipelines with the file of heads.
pub fn verify_pipelines(home: &StateDirectory) -> Result<Verification, LedgerError> {
    let (witnesses, _) = self::witnesses(&home.heads(), "the file of heads")?;
    let retention = Chain::read_if_there(&home.retention())?;
    let gone = retention.as_ref().map_or(0, |chain| chain.pipelines_gone);
    let mut chain = Chain::read_behind(&home.pipelines(), gone)?;
    let mut missing = Vec::new();
    for witness in witnesses.into_iter().filter(|witness| witness.ledger == PIPELINES_NAME) {
        match &mut chain {
            Some(chain) => chain.hear(&witness),
            None => missing = vec![is_gone(&witness)],
        }
    }
    Ok(chain.map_or_else(|| Verification { problems: missing, ..Verification::default() }, Chain::finish))
}

/// Verifies every ledger of a state directory, each against the others.
pub fn verify_all(home: &StateDirectory) -> Result<HomeVerification, LedgerError> {
    verify_against(home, None)
}

/// The same, also against a file of heads outside the state directory.
pub fn verify_against(
    home: &StateDirectory,
    outside: Option<&Path>,
) -> Result<HomeVerification, LedgerError> {
    // Witnesses are read before the ledgers they speak of, which may grow meanwhile.
    let (mut witnesses, mut problems) = self::witnesses(&home.heads(), "the file of heads")?;
    if let Some(file) = outside {
        let (more, broken) = self::witnesses(file, "the file of heads outside")?;
        witnesses.extend(more);
        problems.extend(broken);
    }
    witnesses.extend(home.testimony().into_iter().flat_map(testified));
    let mut chains = BTreeMap::new();
    for folder in home.folders()? {
        let name = folder.as_str().to_owned();
        if let Some(Position { seq, hash, .. }) = Position::read(&home.session(&folder))
            && seq > 0
        {
            witnesses.push(Witness { ledger: name.clone(), seq, hash, says: "its state".to_owned() });
        }
        if let Some(chain) = Chain::read_if_there(&home.ledger(&folder))? {
            witnesses.extend(chain.anchors.iter().map(|anchor| Witness {
                ledger: anchor.ledger.clone(),
                seq: anchor.seq,
                hash: anchor.hash.clone(),
                says: format!("an anchor in `{name}`"),
            }));
            chains.insert(name, (folder, chain));
        }
    }
    let mut retention = Chain::read_if_there(&home.retention())?;
    let removed = retention.as_ref().map(|chain| chain.removed.clone()).unwrap_or_default();

    let gone = retention.as_ref().map_or(0, |chain| chain.authentications_gone);
    let mut authentications = Chain::read_behind(&home.authentications(), gone)?;
    let gone = retention.as_ref().map_or(0, |chain| chain.pipelines_gone);
    let mut pipelines = Chain::read_behind(&home.pipelines(), gone)?;

    let mut missing: BTreeMap<String, Witness> = BTreeMap::new();
    for witness in witnesses {
        if removed.get(&witness.ledger).is_some_and(|records| *records >= witness.seq) {
            continue;
        }
        let beside = match witness.ledger.as_str() {
            RETENTION_NAME => Some(&mut retention),
            AUTHENTICATIONS_NAME => Some(&mut authentications),
            PIPELINES_NAME => Some(&mut pipelines),
            _ => None,
        };
        if let Some(chain) = beside {
            match chain {
                Some(chain) => chain.hear(&witness),
                None => drop(missing.insert(witness.ledger.clone(), witness)),
            }
        } else if let Some((folder, chain)) = chains.get_mut(&witness.ledger) {
            if !chain.agrees(&witness) {
                // The anchor may be younger than our reading.
                *chain =
                    Chain { heard: std::mem::take(&mut chain.heard), ..Chain::read(&home.ledger(folder))? };
            }
            chain.hear(&witness);
        } else {
            missing.insert(witness.ledger.clone(), witness);
        }
    }
    let missing = missing.into_iter().map(|(name, witness)| (name, is_gone(&witness))).collect();

    let mut sessions = BTreeMap::new();
    for (name, (folder, mut chain)) in chains {
        chain.look_for_torn_files(&home.session(&folder))?;
        sessions.insert(name, chain.finish());
    }
    let [retention, authentications, pipelines] =
        [retention, authentications, pipelines].map(|chain| chain.map(Chain::finish));
    Ok(HomeVerification { sessions, retention, authentications, pipelines, missing, problems })
}

fn is_gone(witness: &Witness) -> Broken {
    let detail = format!("the ledger is gone; {} knows its record {}", witness.says, witness.seq);
    Broken { line: None, kind: BrokenKind::Deleted, detail }
}

/// Somebody who knows that a ledger had a record.
#[derive(Debug, Clone)]
struct Witness {
    ledger: String,
    seq: u64,
    hash: RecordHash,
    says: String,
}

fn witnesses(file: &Path, name: &str) -> Result<(Vec<Witness>, Vec<Broken>), LedgerError> {
    let (heads, broken) = anchors::read_all(file)?;
    let problems = broken
        .into_iter()
        .map(|line| Broken {
            line: Some(line),
            kind: BrokenKind::Edited,
            detail: format!("a line of {name} is none"),
        })
        .collect();
    let witnesses = heads
        .into_iter()
        .map(|head| Witness { ledger: head.session, seq: head.seq, hash: head.hash, says: name.to_owned() })
        .collect();
    Ok((witnesses, problems))
}

/// What the testimony knows. Of a session that only began there is no record that could be missing.
fn testified(testimony: &Testimony) -> Vec<Witness> {
    let says = format!("`{}`", testimony.folder().display());
    let known = testimony.sessions().into_iter().filter_map(|session| {
        let Testified { records, hash } = testimony.says(&session)?;
        Some(Witness { ledger: session.as_str().to_owned(), seq: records, hash: hash?, says: says.clone() })
    });
    known.collect()
}

/// A ledger as the verifier reads it.
#[derive(Debug, Default)]
struct Chain {
    verification: Verification,
    /// The hash of each record.
    hashes: HashMap<u64, RecordHash>,
    last: u64,
    anchors: Vec<Anchored>,
    /// Removed sessions, with how many records they had.
    removed: HashMap<String, u64>,
    /// How many authentications went.
    authentications_gone: u64,
    /// How many records of pipelines went.
    pipelines_gone: u64,
    /// Names of files in which torn lines were kept.
    kept: HashSet<String>,
    /// What witnesses contradict, so that it is said once.
    heard: BTreeMap<u64, Broken>,
}

#[derive(Debug)]
struct Anchored {
    ledger: String,
    seq: u64,
    hash: RecordHash,
}

/// A line as far as its order goes.
enum Place {
    /// A whole record.
    Record(Header),
    /// Something else stands here.
    Damaged,
}

impl Chain {
    fn read_if_there(path: &Path) -> Result<Option<Self>, LedgerError> {
        Self::read_behind(path, 0)
    }

    /// One of which so many records at the beginning may have gone.
    fn read_behind(path: &Path, gone: u64) -> Result<Option<Self>, LedgerError> {
        if path.exists() { Self::read_all(path, gone).map(Some) } else { Ok(None) }
    }

    fn read(path: &Path) -> Result<Self, LedgerError> {
        Self::read_all(path, 0)
    }

    fn read_all(path: &Path, gone: u64) -> Result<Self, LedgerError> {
        let file = checkrein_files::open(path).map_err(LedgerError::read(path))?;
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        let mut chain = Self::default();
        let mut places = Vec::new();
        let mut bytes = Vec::new();
        loop {
            read_line(&mut reader, &mut bytes).map_err(LedgerError::read(path))?;
            let number = places.len() as u64 + 1;
            match bytes.split_last() {
                None => break,
                Some((b'\n', line)) => places.push(chain.take_line(number, line)),
                Some(_) => {
                    chain.broken(
                        number,
                        BrokenKind::Torn,
                        format!("{} bytes without an end of line", bytes.len()),
                    );
                    break;
                }
            }
        }
        chain.judge_order(&places, gone);
        Ok(chain)
    }

    fn take_line(&mut self, number: u64, line: &[u8]) -> Place {
        match check(line) {
            Checked::Whole(header) => {
                self.verification.records += 1;
                if let Ok(record) = serde_json::from_slice::<Record>(line) {
                    self.take_body(number, record.body);
                }
                Place::Record(header)
            }
            Checked::Altered(header) => {
                let detail = format!("the hash of record {} does not fit its text", header.seq);
                self.broken(number, BrokenKind::Edited, detail);
                Place::Damaged
            }
            Checked::Foreign => {
                self.broken(number, BrokenKind::Edited, "this is not a record".to_owned());
                Place::Damaged
            }
        }
    }

    fn take_body(&mut self, number: u64, body: RecordBody) {
        self.authentications_gone += gone_with(&body, authentications::STORE);
        self.pipelines_gone += gone_with(&body, PIPELINES_STORE);
        match body {
            RecordBody::Anchor { session, seq, hash } => {
                self.anchors.push(Anchored { ledger: session, seq, hash });
            }
            RecordBody::Repaired { damage, kept, reason, .. } => {
                self.kept.extend(kept);
                let kind = match damage {
                    LedgerDamage::TornTail => {
                        let repair = Broken { line: Some(number), kind: BrokenKind::Torn, detail: reason };
                        self.verification.repairs.push(repair);
                        return;
                    }
                    LedgerDamage::PutBack => {
                        let repair = Broken { line: Some(number), kind: BrokenKind::Deleted, detail: reason };
                        self.verification.repairs.push(repair);
                        return;
                    }
                    LedgerDamage::Shortened => BrokenKind::Truncated,
                    LedgerDamage::Lost => BrokenKind::Deleted,
                    LedgerDamage::Changed | LedgerDamage::Unreadable => BrokenKind::Edited,
                };
                self.broken(number, kind, format!("found before this record was written: {reason}"));
            }
            RecordBody::Retention { removed, .. } => {
                for session in removed {
                    let records = self.removed.entry(session.session).or_default();
                    *records = session.records.max(*records);
                }
            }
            RecordBody::SessionStarted { .. }
            | RecordBody::Prompt { .. }
            | RecordBody::Issue(_)
            | RecordBody::IssueEnded { .. }
            | RecordBody::Intervention(_)
            | RecordBody::Rollback(_)
            | RecordBody::Usage(_)
            | RecordBody::Marked { .. }
            | RecordBody::Message { .. }
            | RecordBody::Condensed
            | RecordBody::Review(_)
            | RecordBody::Outcome(_)
            | RecordBody::Unanswered(_)
            | RecordBody::Unreviewed(_)
            | RecordBody::Told { .. }
            | RecordBody::Event { .. }
            | RecordBody::Halted { .. }
            | RecordBody::ReviewClosed { .. }
            | RecordBody::Resumed { .. }
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Failure { .. }
            | RecordBody::Unknown => {}
        }
    }

    /// Whether the records are in their order, and each names the one before it. So many at the beginning may have gone.
    fn judge_order(&mut self, places: &[Place], gone: u64) {
        let numbers: BTreeSet<u64> = places
            .iter()
            .filter_map(|place| match place {
                Place::Record(header) => Some(header.seq),
                Place::Damaged => None,
            })
            .collect();
        let mut expected = numbers.first().map_or(1, |first| (*first).clamp(1, gone.saturating_add(1)));
        // Lines since the last whole record, of which the numbers are not known.
        let mut damaged = 0_u64;
        for (number, place) in (1_u64..).zip(places) {
            let header = match place {
                Place::Record(header) => header,
                Place::Damaged => {
                    damaged += 1;
                    continue;
                }
            };
            let seq = header.seq;
            if self.hashes.contains_key(&seq) {
                self.broken(number, BrokenKind::Duplicate, format!("record {seq} is there already"));
                continue;
            }
            if seq < expected {
                self.broken(number, BrokenKind::Reordered, format!("record {seq} comes late"));
            } else if seq > expected.saturating_add(damaged) {
                let range = expected.saturating_add(damaged)..seq;
                let (kind, what) = if numbers.range(range.clone()).next().is_some() {
                    (BrokenKind::Reordered, "come later or not at all")
                } else {
                    (BrokenKind::Deleted, "are missing")
                };
                self.broken(number, kind, format!("records {} to {} {what}", range.start, seq - 1));
            }
            self.hashes.insert(seq, header.hash.clone());
            self.last = self.last.max(seq);
            expected = expected.max(seq.saturating_add(1));
            damaged = 0;
        }
        // Damaged lines at the end stand for records too; witnesses shall not call them cut off.
        self.last = self.last.saturating_add(damaged);
        self.judge_links(places);
    }

    /// Whether each record names the hash of the record with the number before it, wherever that stands.
    fn judge_links(&mut self, places: &[Place]) {
        let first = first_prev();
        for (number, place) in (1_u64..).zip(places) {
            let Place::Record(header) = place else { continue };
            let before =
                if header.seq == 1 { Some(&first) } else { self.hashes.get(&header.seq.saturating_sub(1)) };
            if before.is_some_and(|hash| *hash != header.prev) {
                let detail = format!("record {} does not follow the record before it", header.seq);
                self.broken(number, BrokenKind::Edited, detail);
            }
        }
    }

    fn agrees(&self, witness: &Witness) -> bool {
        match self.hashes.get(&witness.seq) {
            Some(hash) => *hash == witness.hash,
            // Inside the ledger a missing record is known already.
            None => witness.seq <= self.last,
        }
    }

    /// Hears a witness and notes a contradiction.
    fn hear(&mut self, witness: &Witness) {
        if self.agrees(witness) {
            return;
        }
        let says = &witness.says;
        let (kind, detail) = if witness.seq > self.last {
            (
                BrokenKind::Truncated,
                format!("the ledger ends with record {}; {says} knows record {}", self.last, witness.seq),
            )
        } else {
            (BrokenKind::Edited, format!("record {} was another one; {says} knows its hash", witness.seq))
        };
        self.heard.entry(witness.seq).or_insert(Broken { line: None, kind, detail });
    }

    /// A torn line that was moved aside must be named by a record.
    fn look_for_torn_files(&mut self, directory: &Path) -> Result<(), LedgerError> {
        let entries = std::fs::read_dir(directory).map_err(LedgerError::read(directory))?;
        let names: Result<Vec<_>, io::Error> =
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
        let mut names: Vec<String> = names
            .map_err(LedgerError::read(directory))?
            .iter()
            .filter_map(|name| name.to_str())
            .filter(|name| name.starts_with(TORN_PREFIX) && !self.kept.contains(*name))
            .map(str::to_owned)
            .collect();
        names.sort();
        for name in names {
            let detail = format!("`{name}` keeps an unfinished line that no record names");
            self.verification.problems.push(Broken { line: None, kind: BrokenKind::Torn, detail });
        }
        Ok(())
    }

    fn finish(mut self) -> Verification {
        self.verification.problems.extend(self.heard.into_values());
        // Line by line, what is no longer there last.
        self.verification.problems.sort_by_key(|problem| problem.line.unwrap_or(u64::MAX));
        self.verification
    }

    fn broken(&mut self, line: u64, kind: BrokenKind, detail: String) {
        self.verification.problems.push(Broken { line: Some(line), kind, detail });
    }
}
