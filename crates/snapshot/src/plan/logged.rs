//! What git's own logs tell of an action of which nobody was told when it ended.
//!
//! Git writes down each move of `HEAD`, of a branch and of the stash, with its second and what moved it. Where all that is new in the logs of a
//! repository is what the action was to write there, the action moved what the logs are about, and nobody else has since: a commit of a person
//! on top would be the last entry. What only begins as it was to begin counts shortly after the action began, and what is known to the letter
//! counts later too. Each counts as often as the action was to write it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use checkrein_protocol::AbsolutePath;
use checkrein_world::tag_facts;

use super::past::Past;
use super::{RestoreAction, Step};
use crate::draft::SnapshotDraft;
use crate::footprint::{LoggedExtent, LoggedStart};
use crate::node::{Node, SavedPath};

/// How long after its snapshot an action is taken for the one that an entry is of, in seconds (ours): what it moves it moves at once.
const SOON: i64 = 5;

/// How long git takes at most from a log to the file with the message of a commit, in seconds (ours).
const AT_ONCE: i64 = 1;

/// One entry of a log: `old new name <mail> seconds zone`, a tab, the message.
struct Entry<'a> {
    old: &'a str,
    new: &'a str,
    seconds: i64,
    message: &'a str,
}

/// The files of repositories that the action left as they are, by the logs.
pub(super) fn moved(draft: &SnapshotDraft, steps: &[Step], past: &Past) -> BTreeSet<SavedPath> {
    let mut moved = BTreeSet::new();
    for (directory, messages) in past.announced.logged() {
        let repository = Repository { draft, steps, directory: directory.as_path() };
        let logs = repository.logs_of_action(messages, past.saved.seconds);
        let is_moved_by_others = logs.is_none() && repository.has_new_entries();
        if let Some(logs) = logs {
            moved.extend(repository.moved_by(&logs));
        }
        if !is_moved_by_others {
            moved.extend(repository.noted_by_bisection(messages, past.saved.seconds));
        }
        moved.extend(repository.tagged(messages, past.saved.seconds));
    }
    moved
}

/// Whether all that is new in the logs of repositories is what the action was to write there; `None` where nothing is new in them.
pub(super) fn shows(draft: &SnapshotDraft, steps: &[Step], past: &Past) -> Option<bool> {
    let mut shown = None;
    for (directory, messages) in past.announced.logged() {
        let repository = Repository { draft, steps, directory: directory.as_path() };
        if repository.has_new_entries() {
            let is_of_action = repository.logs_of_action(messages, past.saved.seconds).is_some();
            shown = Some(shown.unwrap_or(true) && is_of_action);
        }
    }
    shown
}

struct Repository<'a> {
    draft: &'a SnapshotDraft,
    steps: &'a [Step],
    directory: &'a Path,
}

impl Repository<'_> {
    /// What is new in each log that differs, by the name of its reference; `None` unless all of it is of the action that was to write these
    /// messages.
    fn logs_of_action(&self, messages: &[LoggedStart], saved: i64) -> Option<BTreeMap<String, String>> {
        let logs = self.directory.join("logs");
        let mut added = BTreeMap::new();
        for step in self.steps {
            let Ok(reference) = step.path.as_path().strip_prefix(&logs) else { continue };
            let Some(now) = self.text(step.now.as_ref()) else { continue };
            let then = match self.text(step.then.as_ref()) {
                Some(then) => then,
                None => self.earlier_log(&now),
            };
            added.insert(reference.to_str()?.to_owned(), now.strip_prefix(then.as_str())?.to_owned());
        }
        let head = added.get("HEAD").map(String::as_str).unwrap_or_default();
        let is_of_action =
            added.iter().all(|(name, text)| is_written_by((name, text), head, messages, saved));
        (is_of_action && !added.is_empty()).then_some(added)
    }

    /// Whether a log differs that stands.
    fn has_new_entries(&self) -> bool {
        let logs = self.directory.join("logs");
        self.steps.iter().any(|step| step.now.is_some() && step.path.as_path().starts_with(&logs))
    }

    /// Where a step lies below the directory of the repository.
    fn below<'a>(&self, step: &'a Step) -> Option<&'a str> {
        step.path.as_path().strip_prefix(self.directory).ok().and_then(Path::to_str)
    }

    /// The tags that stand for an object of their own which the action was to make: that tells when it was made, and how its message begins.
    fn tagged(&self, messages: &[LoggedStart], saved: i64) -> BTreeSet<SavedPath> {
        let is_of_action = |step: &&Step| {
            let Some(tag) = self.below(step).and_then(|below| below.strip_prefix("refs/tags/")) else {
                return false;
            };
            let reference = format!("refs/tags/{tag}");
            let is_known =
                |message: &&LoggedStart| message.text.split('\t').next() == Some(reference.as_str());
            let known: Vec<&LoggedStart> = messages.iter().filter(is_known).collect();
            if known.is_empty() {
                return false;
            }
            let directory = self.directory.to_str().and_then(AbsolutePath::new);
            let object = self.text(step.now.as_ref());
            let facts =
                directory.zip(object).and_then(|(place, object)| tag_facts(&place, object.trim_end()));
            facts.is_some_and(|facts| {
                facts.name == tag
                    && (-1..=SOON).contains(&(facts.seconds - saved))
                    && known.iter().any(|one| one.begins(&reference, &format!("tag: {}", facts.subject)))
            })
        };
        self.steps.iter().filter(is_of_action).map(|step| step.path.clone()).collect()
    }

    /// What git notes of a bisection, where the action was to go on with one and it was written right then.
    fn noted_by_bisection(&self, messages: &[LoggedStart], saved: i64) -> BTreeSet<SavedPath> {
        if !messages.iter().any(|message| message.text.starts_with("BISECT_LOG\t")) {
            return BTreeSet::new();
        }
        let is_noted = |step: &&Step| {
            let is_note = self
                .below(step)
                .is_some_and(|below| below.starts_with("BISECT_") || below.starts_with("refs/bisect/"));
            let modified = step.now.as_ref().map(|node| node.meta().modified.seconds);
            is_note && modified.is_some_and(|modified| (-1..=SOON).contains(&(modified - saved)))
        };
        self.steps.iter().filter(is_noted).map(|step| step.path.clone()).collect()
    }

    /// The log that a new one goes on with, where a branch got another name.
    fn earlier_log(&self, now: &str) -> String {
        let gone = self.steps.iter().filter(|step| step.deed != RestoreAction::Remove);
        let logs = gone.filter(|step| step.path.as_path().starts_with(self.directory.join("logs/refs")));
        let earlier = logs.filter_map(|step| self.text(step.then.as_ref()));
        earlier.filter(|then| now.starts_with(then.as_str())).max_by_key(String::len).unwrap_or_default()
    }

    /// The files that stand as what is new in the logs says.
    fn moved_by(&self, logs: &BTreeMap<String, String>) -> BTreeSet<SavedPath> {
        let last = |name: &str| logs.get(name)?.lines().filter_map(entry).next_back();
        let is_moved = |step: &&Step| {
            let Some(below) = step.path.as_path().strip_prefix(self.directory).ok().and_then(Path::to_str)
            else {
                return false;
            };
            let now = self.text(step.now.as_ref()).unwrap_or_default();
            match below {
                "HEAD" => logs.get("HEAD").is_some_and(|added| stands_at(now.trim_end(), added)),
                "COMMIT_EDITMSG" => {
                    let added = logs.get("HEAD").map(String::as_str).unwrap_or_default();
                    let is_commit = |entry: &Entry<'_>| entry.message.starts_with("commit");
                    let committed = added.lines().filter_map(entry).rfind(is_commit);
                    let modified = step.now.as_ref().map(|node| node.meta().modified.seconds);
                    committed.zip(modified).is_some_and(|(entry, modified)| {
                        let subject = entry.message.split_once(": ").map(|(_, subject)| subject);
                        subject == now.lines().next() && modified <= entry.seconds + AT_ONCE
                    })
                }
                // Git writes there what stood before it moved something.
                "ORIG_HEAD" => {
                    let mut entries = logs.values().flat_map(|added| added.lines().filter_map(entry));
                    entries.any(|entry| entry.old == now.trim_end())
                }
                _ => match below.strip_prefix("logs/") {
                    Some(name) => logs.contains_key(name),
                    None => {
                        last(below).is_some_and(|entry| entry.new == now.trim_end())
                            || self.is_rewritten(step, below, logs)
                    }
                },
            }
        };
        self.steps.iter().filter(is_moved).map(|step| step.path.clone()).collect()
    }

    /// Whether `git filter-branch`, of which the logs tell, set a tag anew or wrote down where a reference stood before. It writes both at once;
    /// the times in the logs are those of what it rewrote.
    fn is_rewritten(&self, step: &Step, below: &str, logs: &BTreeMap<String, String>) -> bool {
        const ORIGINAL: &str = "refs/original/";
        let mut entries = logs.values().flat_map(|added| added.lines().filter_map(entry));
        if !entries.any(|entry| entry.message == "filter-branch: rewrite") {
            return false;
        }
        let at = |name: &str| {
            let place = self.directory.join(name);
            self.steps.iter().find(|step| step.path.as_path() == place)
        };
        let modified = |step: &Step| step.now.as_ref().map(|node| node.meta().modified.seconds);
        if let Some(name) = below.strip_prefix(ORIGINAL) {
            let before = match at(name) {
                Some(step) => self.text(step.then.as_ref()),
                None => std::fs::read_to_string(self.directory.join(name)).ok(),
            };
            return before.is_some() && before == self.text(step.now.as_ref());
        }
        let noted = at(&format!("{ORIGINAL}{below}")).filter(|_| below.starts_with("refs/tags/"));
        noted.is_some_and(|noted| {
            let times = modified(step).zip(modified(noted));
            times.is_some_and(|(set, noted)| (set - noted).abs() <= AT_ONCE)
                && self.text(noted.now.as_ref()) == self.text(step.then.as_ref())
        })
    }

    /// The text of a file; `None` where there is none, or it cannot be read.
    fn text(&self, node: Option<&Node>) -> Option<String> {
        let Some(Node::File { content, .. }) = node else { return None };
        String::from_utf8(self.draft.content(content).ok()?).ok()
    }
}

impl LoggedStart {
    /// Whether a message in the log of a reference is the one that is known, as far as it is.
    fn begins(&self, name: &str, message: &str) -> bool {
        let known = match self.text.split_once('\t') {
            Some((reference, known)) if reference == name => known,
            Some(_) => return false,
            None => self.text.as_str(),
        };
        match self.extent {
            LoggedExtent::Whole => message == known,
            LoggedExtent::Start | LoggedExtent::Several => message.starts_with(known),
        }
    }
}

/// Whether each entry that is new in the log of a reference is one that an action was to write which began at `saved`, in seconds since 1970.
/// A branch has entries of the log of `head` as well.
fn is_written_by((name, text): (&str, &str), head: &str, messages: &[LoggedStart], saved: i64) -> bool {
    let mut left: Vec<&LoggedStart> = messages.iter().collect();
    text.lines().all(|line| {
        if name != "HEAD" && head.lines().any(|known| known == line) {
            return true;
        }
        let Some(entry) = entry(line) else { return false };
        let is_soon = (-1..=SOON).contains(&(entry.seconds - saved));
        let is_it = |known: &&LoggedStart| {
            known.begins(name, entry.message) && (is_soon || known.extent == LoggedExtent::Whole)
        };
        let Some(place) = left.iter().position(is_it) else { return false };
        if left.get(place).is_some_and(|known| known.extent != LoggedExtent::Several) {
            left.remove(place);
        }
        true
    })
}

/// Whether `HEAD` stands where the last of these entries says that left it for another place.
fn stands_at(head: &str, added: &str) -> bool {
    let entries: Vec<Entry<'_>> = added.lines().filter_map(entry).collect();
    let is_move = |entry: &&Entry<'_>| {
        let ways = [
            "checkout: ",
            "rebase: checkout ",
            "rebase (start): ",
            "rebase (finish): ",
            "rebase (abort): ",
            "Branch: renamed ",
        ];
        ways.iter().any(|start| entry.message.starts_with(start))
    };
    let Some(moved) = entries.iter().rev().find(is_move) else { return false };
    let place = moved.message.rsplit(' ').next().unwrap_or_default();
    match head.strip_prefix("ref: ") {
        Some(branch) => branch == place || branch.strip_prefix("refs/heads/") == Some(place),
        None => entries.last().is_some_and(|last| last.new == head),
    }
}

fn entry(line: &str) -> Option<Entry<'_>> {
    let (before, message) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = before.split(' ');
    let (old, new) = (words.next()?, words.next()?);
    let seconds = before.rsplit(' ').nth(1)?.parse().ok()?;
    Some(Entry { old, new, seconds, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDED: &str = "1 2 A B <a@b> 1700000000 +0000\tcheckout: moving from main to topic/deep\n\
                         2 3 A B <a@b> 1700000001 +0000\tcommit: one\n";

    #[test]
    fn an_entry_is_read_whatever_the_name() {
        let entry =
            entry(ADDED.lines().last().unwrap_or_default()).map(|one| (one.new, one.seconds, one.message));
        assert_eq!(entry, Some(("3", 1_700_000_001, "commit: one")));
        assert!(super::entry("half").is_none());
    }

    #[test]
    fn each_entry_counts_as_often_as_it_was_to_be_written() {
        let known = |text: &str, extent| LoggedStart { text: text.to_owned(), extent };
        let at = |seconds: i64, message: &str| format!("1 2 A <a@b> {seconds} +0000\t{message}\n");
        let whole = [known("commit: one", LoggedExtent::Whole)];
        let start = [known("checkout: moving from ", LoggedExtent::Start)];
        let several = [known("rebase", LoggedExtent::Several)];
        for (text, messages, is_known) in [
            (at(1_000, "commit: one"), &whole[..], true),
            (at(9_000, "commit: one"), &whole, true),
            (at(1_000, "commit: one") + &at(1_000, "commit: one"), &whole, false),
            (at(1_000, "commit: one, two"), &whole, false),
            (at(1_000, "checkout: moving from a to b"), &start, true),
            (
                at(1_000, "checkout: moving from a to b") + &at(1_001, "checkout: moving from b to a"),
                &start,
                false,
            ),
            (at(1_006, "checkout: moving from a to b"), &start, false),
            (at(990, "checkout: moving from a to b"), &start, false),
            (at(1_000, "rebase (start): a") + &at(1_001, "rebase (finish): b"), &several, true),
            (at(1_000, "rebase (start): a") + &at(1_001, "commit: one"), &several, false),
        ] {
            assert_eq!(is_written_by(("HEAD", &text), "", messages, 1_000), is_known, "{text}");
        }
    }

    #[test]
    fn an_entry_counts_in_its_own_log() {
        let made = "1 2 A <a@b> 1000 +0000\tbranch: Created from HEAD\n";
        let of = |name: &str| LoggedStart {
            text: format!("refs/heads/{name}\tbranch: Created from "),
            extent: LoggedExtent::Start,
        };
        assert!(is_written_by(("refs/heads/topic", made), "", &[of("topic")], 1_000));
        assert!(!is_written_by(("refs/heads/person", made), "", &[of("topic")], 1_000));
        assert!(is_written_by(("refs/heads/main", ADDED), ADDED, &[], 0));
        assert!(!is_written_by(("HEAD", ADDED), ADDED, &[], 0));
    }

    #[test]
    fn the_last_move_tells_where_head_is() {
        for (head, is_there) in [
            ("ref: refs/heads/topic/deep", true),
            ("ref: refs/heads/main", false),
            ("ref: refs/heads/deep", false),
            ("3", true),
            ("2", false),
        ] {
            assert_eq!(stands_at(head, ADDED), is_there, "{head}");
        }
        assert!(!stands_at("ref: refs/heads/main", "1 2 A <a@b> 5 +0000\tcommit: one to main\n"));
    }
}
