//! Names as lists show them: as short as can be typed, and as long as it takes to tell each from the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;

use checkrein_engine::environment::HostEnvironment;
use checkrein_ledger::lines;
use checkrein_protocol::RecordBody;

use super::name_choice::{LEFT_OUT, is_named};
use super::story::{ACTION, SESSION};

/// The longest name of a call that a list shows whole, and how much it shows of both ends of a longer one, in characters (ours): a third of
/// a line at most.
const LONGEST: usize = 24;
const HEAD: usize = 11;
const TAIL: usize = 12;

/// Names of one kind, of which none begins like another one when it is shortened.
#[derive(Debug, Default)]
pub(super) struct ShortNames {
    all: BTreeSet<String>,
    least: usize,
}

impl ShortNames {
    /// Those of all sessions on record. Where their folder cannot be read each is as short as it may be.
    pub(super) fn of_sessions(environment: &HostEnvironment) -> Self {
        let folders = environment.state.folders().unwrap_or_default();
        Self { all: folders.iter().map(|folder| folder.as_str().to_owned()).collect(), least: SESSION }
    }

    /// Those of calls; more may come.
    pub(super) fn of_calls() -> Self {
        Self { all: BTreeSet::new(), least: ACTION }
    }

    /// Takes up further names.
    pub(super) fn take<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.all.extend(names.map(str::to_owned));
    }

    /// The beginning of a name by which it is told from all others.
    pub(super) fn of(&self, name: &str) -> String {
        let before = self.all.range::<str, _>((Bound::Unbounded, Bound::Excluded(name))).next_back();
        let after = self.all.range::<str, _>((Bound::Excluded(name), Bound::Unbounded)).next();
        let common = |other: &String| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        let shared = before.into_iter().chain(after).map(common).max().unwrap_or_default();
        name.chars().take(self.least.max(shared + 1)).collect()
    }

    /// The same of a call, which a client may give any name: of a long one that only its end tells from others the middle is left out, as
    /// long as that means no other.
    pub(super) fn of_call(&self, name: &str) -> String {
        let short = self.of(name);
        let ends = (short.chars().count() > LONGEST).then(|| {
            let head: String = name.chars().take(HEAD).collect();
            let count = name.chars().count();
            let tail: String = name.chars().skip(count.saturating_sub(TAIL)).collect();
            format!("{head}{LEFT_OUT}{tail}")
        });
        let is_alone = |ends: &String| self.all.iter().filter(|other| is_named(other, ends)).count() <= 1;
        ends.filter(is_alone).unwrap_or(short)
    }

    /// The same of a record, `SESSION:NUMBER`.
    pub(super) fn of_record(&self, id: &str) -> String {
        match id.rsplit_once(':') {
            Some((session, number)) => format!("{}:{number}", self.of(session)),
            None => id.to_owned(),
        }
    }
}

/// How much of the ledgers is looked through for names of calls, in bytes (ours): it takes some hundredths of a second.
const READ: u64 = 8 * 1024 * 1024;

/// The calls on record, each behind the folder of its session; of the sessions written last, as far as that takes no longer than a list may.
pub(super) fn known_calls(environment: &HostEnvironment) -> Vec<(String, String)> {
    let mut ledgers = Vec::new();
    for folder in environment.state.folders().unwrap_or_default() {
        let ledger = environment.state.ledger(&folder);
        let facts = fs::metadata(ledger.path());
        ledgers
            .extend(facts.ok().and_then(|facts| Some((facts.modified().ok()?, facts.len(), folder, ledger))));
    }
    ledgers.sort_by_key(|(written, ..)| Reverse(*written));
    let mut left = READ;
    let mut known = Vec::new();
    for (_, length, folder, ledger) in ledgers {
        let Some(rest) = left.checked_sub(length) else { break };
        left = rest;
        // What cannot be read names nothing.
        let lines = lines(&ledger).into_iter().flatten().flatten();
        known.extend(lines.filter_map(|line| match line.record?.body {
            RecordBody::Review(review) => {
                Some((folder.as_str().to_owned(), review.action_id.as_str().to_owned()))
            }
            _ => None,
        }));
    }
    known
}

/// Which ids calls of several sessions have: such a one names none of them.
#[derive(Debug, Default)]
pub(super) struct SharedNames {
    /// The session that had each id first.
    first: BTreeMap<String, String>,
    shared: BTreeSet<String>,
}

impl SharedNames {
    /// Takes up ids, each behind its session.
    pub(super) fn take<'a>(&mut self, named: impl Iterator<Item = (&'a str, &'a str)>) {
        for (session, id) in named {
            let first = self.first.entry(id.to_owned()).or_insert_with(|| session.to_owned());
            if first != session {
                self.shared.insert(id.to_owned());
            }
        }
    }

    /// Returns whether calls of several sessions have an id.
    pub(super) fn is_shared(&self, id: &str) -> bool {
        self.shared.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_as_long_as_it_takes_to_tell_it_from_the_others() {
        let names = [
            "4f3c9a00-1",
            "4f3c9a00-2",
            "4f3c9a00-2b",
            "8c1d7e5fab",
            "s",
            "read_file-17321",
            "日本語の名前で長い",
        ];
        let mut short = ShortNames { all: BTreeSet::new(), least: SESSION };
        short.take(names.into_iter());
        for name in names {
            let shown = short.of(name);
            let meant: Vec<&&str> = names.iter().filter(|other| other.starts_with(&shown)).collect();
            let is_beginning_of_others = names.iter().any(|other| *other != name && other.starts_with(name));
            assert!(meant == [&name] || is_beginning_of_others, "{name}: {shown} may mean {meant:?}");
        }
        assert_eq!(short.of("8c1d7e5fab"), "8c1d7e5f", "no longer than it has to be");
        assert_eq!(short.of("4f3c9a00-1"), "4f3c9a00-1");
        assert_eq!(short.of_record("8c1d7e5fab:12"), "8c1d7e5f:12");
    }

    #[test]
    fn a_long_name_of_a_call_is_told_by_its_ends_as_long_as_it_means_no_other() {
        let long = |end: &str| format!("run_shell_command-{}-{end}", "1764528000000".repeat(4));
        let mut short = ShortNames { all: BTreeSet::new(), least: ACTION };
        let names = [long("1"), long("2"), "toolu_01ab".to_owned()];
        short.take(names.iter().map(String::as_str));
        for name in &names {
            let shown = short.of_call(name);
            assert!(shown.chars().count() <= LONGEST, "{shown}");
            let meant: Vec<&String> = names.iter().filter(|other| is_named(other, &shown)).collect();
            assert_eq!(meant, [name], "{shown}");
        }
        // Ends that two have in common say nothing, so the name is told as far as it takes.
        let twins = ["a", "b"].map(|middle| format!("{}{middle}{}", "x".repeat(30), "y".repeat(30)));
        short.take(twins.iter().map(String::as_str));
        assert!(twins.iter().all(|name| name.starts_with(&short.of_call(name))));
        assert!(!is_named("ab", "a…b") && !is_named("abc", "…c") && !is_named("abc", "a…"));
    }
}
