//! Which of the recorded calls are judged: the newest different ones. Records are read twice, so that none has to be kept: first for their
//! times alone, then one after the other for what is judged.

use std::collections::{BTreeSet, HashMap};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{AbsolutePath, RecordBody, ReviewRecord, Timestamp};
use checkrein_session::SessionLedger;

use crate::commands::session_choice::folders;

/// The newest calls, by their fingerprints.
pub(super) struct Selection {
    most: usize,
    offered: usize,
    newest: HashMap<u64, Timestamp>,
    by_time: BTreeSet<(Timestamp, u64)>,
}

/// Records that cannot be read.
pub(super) struct Unread {
    pub(super) place: String,
    pub(super) reason: String,
}

impl Selection {
    /// The newest different calls since a moment, `most` at most; and what could not be read.
    pub(super) fn of(
        environment: &HostEnvironment,
        since: Timestamp,
        most: usize,
    ) -> Result<(Self, Vec<Unread>), CommandError> {
        let mut selection = Self { most, offered: 0, newest: HashMap::new(), by_time: BTreeSet::new() };
        let mut unread = Vec::new();
        for folder in folders(environment, None)? {
            let read = reviews(environment, &folder, |at, review| {
                if at >= since && AbsolutePath::new(&review.cwd).is_some() {
                    selection.offer(at, review.exact);
                }
            });
            unread.extend(read.err());
        }
        Ok((selection, unread))
    }

    /// How many calls were chosen from, equal ones each for itself.
    pub(super) fn offered(&self) -> usize {
        self.offered
    }

    /// Takes a call up where it is among the newest.
    fn offer(&mut self, at: Timestamp, exact: u64) {
        self.offered += 1;
        match self.newest.get(&exact) {
            Some(known) if *known >= at => return,
            Some(known) => {
                self.by_time.remove(&(*known, exact));
            }
            None => {}
        }
        self.newest.insert(exact, at);
        self.by_time.insert((at, exact));
        if self.by_time.len() > self.most
            && let Some((_, oldest)) = self.by_time.pop_first()
        {
            self.newest.remove(&oldest);
        }
    }

    /// Hands each chosen call over, once, in the order of sessions; returns what cannot be read by now and could be read before.
    pub(super) fn each(
        mut self,
        environment: &HostEnvironment,
        mut judge: impl FnMut(Timestamp, &ReviewRecord, &AbsolutePath),
    ) -> Result<Vec<Unread>, CommandError> {
        for folder in folders(environment, None)? {
            // What could not be read was said the first time.
            drop(reviews(environment, &folder, |at, review| {
                let is_chosen = self.newest.get(&review.exact) == Some(&at);
                if let (true, Some(cwd)) = (is_chosen, AbsolutePath::new(&review.cwd)) {
                    self.newest.remove(&review.exact);
                    judge(at, review, &cwd);
                }
            }));
        }
        let missing = self.newest.len();
        Ok(if missing == 0 {
            Vec::new()
        } else {
            let reason = "their records went meanwhile".to_owned();
            vec![Unread { place: format!("{missing} calls"), reason }]
        })
    }
}

/// Goes through the reviews of a session. An error tells how many lines cannot be read, after the others were handed over.
fn reviews(
    environment: &HostEnvironment,
    folder: &FolderName,
    mut take: impl FnMut(Timestamp, &ReviewRecord),
) -> Result<(), Unread> {
    let place = || format!("session {}", folder.as_str());
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let lines = match lines(&ledger.path()) {
        Ok(lines) => lines,
        // A session that only began has none.
        Err(_) if !ledger.path().exists() => return Ok(()),
        Err(error) => return Err(Unread { place: place(), reason: error.to_string() }),
    };
    let mut broken = 0_u64;
    for line in lines {
        match line.map(|line| line.record) {
            Ok(Some(record)) => {
                if let RecordBody::Review(review) = &record.body {
                    take(record.at, review);
                }
            }
            Ok(None) | Err(_) => broken += 1,
        }
    }
    if broken == 0 {
        return Ok(());
    }
    let reason = checkrein_engine::text::counted(broken, "line") + "; `checkrein audit verify` says more";
    Err(Unread { place: place(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_calls_there_are_the_newest_different_ones_are_kept() {
        let mut selection =
            Selection { most: 3, offered: 0, newest: HashMap::new(), by_time: BTreeSet::new() };
        // Every call twice, the newer first and the older first, and a long past.
        for (at, exact) in [(10, 1), (5, 1), (7, 2), (12, 2), (11, 3), (9, 4), (3, 5), (2, 6)] {
            selection.offer(Timestamp(at), exact);
        }
        for past in 100..10_000 {
            selection.offer(Timestamp(past % 9), past);
        }
        let kept: Vec<(u64, u64)> = selection.by_time.iter().map(|(at, exact)| (at.0, *exact)).collect();
        assert_eq!(kept, [(10, 1), (11, 3), (12, 2)]);
        assert_eq!(selection.newest.len(), 3);
        assert_eq!(selection.offered(), 8 + 9_900);
    }
}
