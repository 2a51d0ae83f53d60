//! What a session came to from its first record on. The ledger is read forward once. What is kept meanwhile is bounded, however long it is.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use checkrein_intervention::RecordSum;
use checkrein_ledger::{LedgerFile, lines};
use checkrein_protocol::{
    ActionId, CallDisposition, OutcomeRecord, RecordBody, ReviewRecord, SurpriseRecordKind,
};

use super::FILES;

/// How long the ledger is read at most (ours): the answer to the call that was stopped waits for the report.
pub(super) const TIME: Duration = Duration::from_secs(3);

/// How many files are told apart (ours); of more it is known only that there are more.
const DISTINCT: usize = 100_000;

/// How many calls are waited for whose end was not read yet (ours). Those of which nothing more is heard fall out first.
const PENDING: usize = 500;

/// How many bytes the paths of these take at most (ours).
const PENDING_BYTES: usize = 8 * 1024 * 1024;

/// After how many lines the clock is looked at (ours).
const ROUND: u64 = 64;

/// How many lines that are not records are named (ours).
const NAMED_LINES: u64 = 3;

/// What the records of a session come to.
#[derive(Debug, Default)]
pub(super) struct WholeSession {
    /// The first files that changed, at most [`FILES`], each once.
    pub(super) files: Vec<String>,
    pub(super) sum: RecordSum,
    distinct: HashSet<u64>,
    pending: VecDeque<Pending>,
    pending_bytes: usize,
}

/// What matters of a review once its call ran.
#[derive(Debug)]
struct Pending {
    id: ActionId,
    paths: Vec<String>,
    further_files: bool,
    is_command: bool,
    is_saved: bool,
    not_saved: Vec<String>,
    is_refused: bool,
}

impl WholeSession {
    /// Reads the ledger at `path` from its beginning, no longer than `time`. Where it does not come to the end, the sum says why.
    pub(super) fn read(path: &LedgerFile, time: Duration) -> Self {
        let until = Instant::now() + time;
        let mut whole = Self::default();
        let mut all = match lines(path) {
            Ok(all) => all,
            // A session that ended before its first record has no ledger.
            Err(_) if !path.exists() => return whole,
            Err(error) => {
                whole.sum.gaps.push(format!("the ledger could not be opened ({error})"));
                return whole;
            }
        };
        let mut broken: u64 = 0;
        let mut number: u64 = 0;
        for line in all.by_ref() {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    whole
                        .sum
                        .gaps
                        .push(format!("the ledger could not be read behind line {number} ({error})"));
                    break;
                }
            };
            number = line.number;
            if let Some(record) = line.record {
                whole.take(record.body);
            } else {
                broken += 1;
                if broken <= NAMED_LINES {
                    whole.sum.gaps.push(format!("line {number} of the ledger is not a record"));
                }
            }
            if number.is_multiple_of(ROUND) && Instant::now() >= until {
                whole.sum.gaps.push(format!("there was no time to read what stands behind line {number}"));
                break;
            }
        }
        if broken > NAMED_LINES {
            whole.sum.gaps.push(format!("{} more lines are not records", broken - NAMED_LINES));
        }
        if all.is_cut() {
            whole.sum.gaps.push("the last line of the ledger is not whole".to_owned());
        }
        let unheard = whole.pending.iter().filter(|pending| pending.is_refused).count();
        whole.sum.refused += u64::try_from(unheard).unwrap_or(u64::MAX);
        whole
    }

    fn take(&mut self, body: RecordBody) {
        self.sum.records += 1;
        match body {
            RecordBody::Review(review) => self.take_review(*review),
            RecordBody::Outcome(outcome) => self.take_outcome(&outcome),
            RecordBody::SessionStarted { .. }
            | RecordBody::Prompt { .. }
            | RecordBody::Unanswered(_)
            | RecordBody::Unreviewed(_)
            | RecordBody::Told { .. }
            | RecordBody::Event { .. }
            | RecordBody::Issue(_)
            | RecordBody::IssueEnded { .. }
            | RecordBody::Intervention(_)
            | RecordBody::Rollback(_)
            | RecordBody::Usage(_)
            | RecordBody::Marked { .. }
            | RecordBody::Message { .. }
            | RecordBody::Condensed
            | RecordBody::Halted { .. }
            | RecordBody::ReviewClosed { .. }
            | RecordBody::Resumed { .. }
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Failure { .. }
            | RecordBody::Retention { .. }
            | RecordBody::Anchor { .. }
            | RecordBody::Repaired { .. }
            | RecordBody::Unknown => {}
        }
    }

    fn take_review(&mut self, review: ReviewRecord) {
        let is_refused = review.disposition() == CallDisposition::Refused;
        let changing = review.effects.iter().filter(|effect| effect.kind.is_mutating());
        let pending = Pending {
            paths: changing.filter_map(|effect| effect.target.path()).map(ToString::to_string).collect(),
            further_files: review.further_file_operations > 0,
            is_command: !review.programs.is_empty(),
            is_saved: review.snapshot.is_some(),
            not_saved: review.not_saved.into_iter().map(|one| one.what).collect(),
            is_refused,
            id: review.action_id,
        };
        self.pending_bytes += pending.bytes();
        self.pending.push_back(pending);
        while self.pending.len() > PENDING || self.pending_bytes > PENDING_BYTES {
            let Some(unheard) = self.pending.pop_front() else { break };
            self.pending_bytes -= unheard.bytes();
            self.sum.refused += u64::from(unheard.is_refused);
        }
    }

    fn take_outcome(&mut self, outcome: &OutcomeRecord) {
        let place = self.pending.iter().rposition(|pending| pending.id == outcome.action_id);
        let pending = place.and_then(|place| self.pending.remove(place));
        if let Some(pending) = &pending {
            self.pending_bytes -= pending.bytes();
        }
        let seen = outcome.verification.as_deref();
        let surprises = seen.map(|seen| seen.surprises.as_slice()).unwrap_or_default();
        // A client may report a refusal as a failure.
        if pending.as_ref().is_some_and(|pending| pending.is_refused)
            && outcome.failed
            && surprises.is_empty()
        {
            self.sum.refused += 1;
            return;
        }
        self.sum.ran += 1;
        self.sum.failed += u64::from(outcome.failed);
        self.sum.surprises += surprises.len() as u64 + seen.map_or(0, |seen| seen.more_surprises);
        self.sum.more_files |= seen.is_some_and(|seen| seen.more_surprises > 0);
        // What was predicted of a call that failed is believed only where something of it was seen.
        let is_credible = !outcome.failed || seen.is_some_and(|seen| seen.expected > 0);
        if let Some(pending) = pending {
            self.sum.commands += u64::from(pending.is_command);
            if is_credible {
                let missing = surprises.iter().filter(|one| one.kind == SurpriseRecordKind::Missing);
                let missing: HashSet<&str> = missing.map(|one| one.path.as_str()).collect();
                self.take_changes(pending, &missing);
            }
        }
        let others = surprises.iter().filter(|one| one.kind != SurpriseRecordKind::Missing);
        others.for_each(|one| self.add(one.path.clone()));
    }

    /// Takes what a call that ran changed, without what was found `missing` afterwards.
    fn take_changes(&mut self, pending: Pending, missing: &HashSet<&str>) {
        self.sum.more_files |= pending.further_files;
        self.sum.saved += u64::from(pending.is_saved);
        pending
            .paths
            .into_iter()
            .filter(|path| !missing.contains(path.as_str()))
            .for_each(|path| self.add(path));
        for what in pending.not_saved {
            if self.sum.not_saved.len() < FILES {
                self.sum.not_saved.push(what);
            } else {
                self.sum.more_not_saved += 1;
            }
        }
    }

    fn add(&mut self, path: String) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let digest = hasher.finish();
        if self.distinct.contains(&digest) {
            return;
        }
        if self.distinct.len() >= DISTINCT {
            self.sum.more_files = true;
            return;
        }
        self.distinct.insert(digest);
        self.sum.files += 1;
        if self.files.len() < FILES {
            self.files.push(path);
        }
    }
}

impl Pending {
    fn bytes(&self) -> usize {
        self.paths.iter().chain(&self.not_saved).map(|text| text.len() + size_of::<String>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use serde_json::{Value as Json, json};

    use super::*;

    fn line(body: &Json) -> String {
        let hash = "0".repeat(64);
        format!("{}\n", &json!({ "seq": 1, "prev": hash, "at": 5, "body": body, "hash": hash }))
    }

    fn review(id: &str, verdict: &str, paths: &[&str], more: &Json) -> String {
        let effects = paths.iter().map(|path| {
            json!({
                "kind": "file_modify", "target": { "path": path }, "certainty": "certain", "depth": "single",
                "stake": "recoverable", "severity": "low", "reversible": true, "reach": null, "cause": "", "note": "",
            })
        });
        let mut body = json!({
            "type": "review", "action_id": id, "tool": "Bash", "input": {}, "cwd": "/p", "verdict": verdict,
            "decision": "allow", "flagged": false, "risk": { "score": 0.1, "level": "low", "factors": [] },
            "rationality": null, "effects": effects.collect::<Vec<_>>(), "rules": [], "reason": "",
            "alternatives": [], "problems": [], "programs": ["sh"], "kind": "00", "exact": "00",
            "elapsed_us": 1, "mode": "enforce",
        });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        line(&body)
    }

    fn outcome(id: &str, failed: bool, surprises: &[(&str, &str)]) -> String {
        let surprises = surprises
            .iter()
            .map(|(kind, path)| json!({ "kind": kind, "path": path, "predicted": "nothing" }))
            .collect::<Vec<_>>();
        line(&json!({
            "type": "outcome", "action_id": id, "tool": "Bash", "failed": failed, "duration_ms": 1,
            "output_bytes": 0, "output_hash": "",
            "verification": { "looked": "whole", "surprises": surprises },
        }))
    }

    fn read(text: &str, time: Duration) -> WholeSession {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        WholeSession::read(&LedgerFile::without_keys(path.clone()), time)
    }

    // Source: seed 000-57
    #[test]
    fn calls_of_the_whole_session_count_and_those_that_did_not_run_do_not() {
        let mut text = String::new();
        text += &review("a", "ok", &["/p/a", "/p/gone"], &json!({ "further_file_operations": 3 }));
        text += &review("refused", "block", &["/p/refused"], &json!({}));
        text += &outcome("a", false, &[("created", "/p/new"), ("missing", "/p/gone")]);
        text += &review("failed", "ok", &["/p/failed"], &json!({ "not_saved": [{ "what": "never run" }] }));
        text += &outcome("failed", true, &[]);
        text += &review(
            "saved",
            "ok",
            &["/p/a"],
            &json!({
                "snapshot": { "id": 1, "entries": 1, "bytes": 1, "elapsed_us": 1 },
                "not_saved": [{ "what": "`/big` is too large" }],
            }),
        );
        text += &outcome("saved", false, &[]);
        text += &review("reported", "block", &["/p/reported"], &json!({}));
        text += &outcome("reported", true, &[]);
        (0..300).for_each(|round| {
            text += &review(&format!("n{round}"), "ok", &[], &json!({ "programs": [] }));
            text += &outcome(&format!("n{round}"), false, &[]);
        });
        let whole = read(&text, TIME);
        assert_eq!(whole.files, ["/p/a", "/p/new"]);
        let expected = RecordSum {
            records: 609,
            gaps: Vec::new(),
            files: 2,
            more_files: true,
            ran: 303,
            commands: 3,
            failed: 1,
            refused: 2,
            surprises: 2,
            saved: 1,
            not_saved: vec!["`/big` is too large".to_owned()],
            more_not_saved: 0,
        };
        assert_eq!(whole.sum, expected);
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_was_not_read_is_said() {
        let mut text = String::new();
        for round in 0..2 * PENDING {
            text += &review(&format!("r{round}"), "block", &[&format!("/p/{round}")], &json!({}));
        }
        let whole = read(&text, TIME);
        assert_eq!((whole.sum.refused, whole.pending.len()), (2 * PENDING as u64, PENDING));
        assert_eq!(whole.sum.gaps, Vec::<String>::new());

        let late = read(&text, Duration::ZERO);
        assert_eq!(late.sum.records, ROUND);
        assert_eq!(late.sum.gaps, ["there was no time to read what stands behind line 64"]);

        let broken = read(&format!("{{}}\n{text}{{\"seq\":"), TIME);
        assert_eq!(broken.sum.records, 2 * PENDING as u64);
        assert_eq!(
            broken.sum.gaps,
            ["line 1 of the ledger is not a record", "the last line of the ledger is not whole"]
        );
        let nowhere = WholeSession::read(&LedgerFile::without_keys("/nonexistent/ledger.jsonl".into()), TIME);
        assert_eq!((nowhere.sum, nowhere.files), (RecordSum::default(), Vec::new()));
    }
}
