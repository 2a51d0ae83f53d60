//! Names of revisions that the command moves: what a later step of it understands by them.

use crate::interpreter::{Untracked, Value};
use crate::world::Committed;

use super::Git;
use super::guard_files::Arrival;
use super::options::Words;

/// A revision of which nothing is known: no name can hold the sign.
pub(super) const UNREAD: &str = "?";

/// The name of every revision, where it is not known which one moves.
const ANY: &str = "*";

/// The name of what is checked out.
const HEAD: &str = "HEAD";

/// The name of what the index holds: no reference can hold the sign.
const INDEX: &str = "?index";

/// The name of the branch that is checked out: no reference can hold the sign.
const BRANCH: &str = "?branch";

/// What a command wrote into the file of a reference.
enum Written {
    /// Nothing.
    Not,
    /// The name of this object or reference.
    As(String),
    /// Something that is not known.
    Unread,
}

impl Git<'_, '_> {
    /// The name of the branch that is checked out by now; `None` where that is not known, or there is none.
    pub(super) fn present_branch(&self) -> Option<String> {
        if let Some(branch) = self.machine.moved_revision(BRANCH) {
            return branch.map(str::to_owned);
        }
        if !matches!(self.written_reference("HEAD"), Written::Not) {
            return None;
        }
        self.cwd.as_ref().and_then(|cwd| self.machine.world().repository(cwd)).and_then(|found| found.branch)
    }

    /// Remembers that a subcommand checked another branch out, renamed it, or left all branches.
    pub(super) fn note_branch(&mut self, name: &str, words: &Words) {
        let made =
            |options: &[&str]| words.arguments.value(options).and_then(Value::as_exact).map(str::to_owned);
        let is_commit = || words.operands().first().is_none_or(|to| !self.is_no_commit(to));
        let branch = match name {
            "switch" => made(&["-c", "-C", "--create", "--force-create", "--orphan"]),
            "checkout" if words.any(&["-b", "-B", "--orphan"]) => made(&["-b", "-B", "--orphan"]),
            "checkout" if words.has("--detach") || !words.has("--") && is_commit() => None,
            "branch" if words.any(&["-m", "-M", "--move"]) => None,
            "rebase" | "bisect" | "symbolic-ref" | "stash" if !words.operands().is_empty() => None,
            _ => return,
        };
        // What `stash branch` makes is one too; other words of it leave the branch alone.
        let stays = name == "stash" && words.operand(0) != Some("branch");
        if !stays {
            self.machine.overlay().move_revision(BRANCH, branch);
        }
    }

    /// From now on a name means what a revision means now; `None` for one that is not known.
    pub(super) fn move_revision(&mut self, name: &str, to: Option<&Value>) {
        let meaning = to.and_then(Value::as_exact).and_then(|text| self.meaning(text));
        let name = if name.starts_with("refs/replace/") { ANY } else { plain(name) };
        self.machine.overlay().move_revision(name, meaning);
    }

    /// What the command itself wrote into the files in which git keeps a reference.
    fn written_reference(&self, name: &str) -> Written {
        let Some(directory) = self.repository_directory() else { return Written::Not };
        let is_changed = |place: &str| self.machine.has_changed_within(&directory.join(place));
        if is_changed("packed-refs") || is_changed("refs/replace") {
            return Written::Unread;
        }
        let ways = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let Some(way) = ways.iter().find(|way| is_changed(&format!("{way}{name}"))) else {
            return Written::Not;
        };
        let text = self.machine.text(&directory.join(&format!("{way}{name}")));
        match text.as_exact().map(str::trim) {
            Some(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
                Written::As(text.to_owned())
            }
            Some(text) => text
                .strip_prefix("ref: ")
                .map_or(Written::Unread, |other| Written::As(plain(other.trim()).to_owned())),
            None => Written::Unread,
        }
    }

    /// The same of `HEAD` and the branch that is checked out.
    pub(super) fn move_head(&mut self, to: Option<&Value>) {
        let Some(to) = to.filter(|to| !self.is_no_commit(to)) else { return };
        let branch = self.cwd.as_ref().and_then(|cwd| self.machine.world().repository(cwd)?.branch);
        self.move_revision("HEAD", Some(to));
        if let Some(branch) = branch {
            self.move_revision(&branch, Some(to));
        }
    }

    /// `HEAD` is another branch or commit from now on.
    pub(super) fn switch_head(&mut self, to: Option<&Value>) {
        let Some(to) = to.filter(|to| !self.is_no_commit(to)) else { return };
        self.move_revision("HEAD", Some(to));
    }

    /// Whether a word is known to name no commit: a path, or nothing.
    fn is_no_commit(&self, word: &Value) -> bool {
        let named = word.as_exact().and_then(|text| self.meaning(text));
        named.zip(self.root()).is_some_and(|(revision, root)| {
            self.machine.world().committed(&root, &revision, "") == Committed::NoRevision
        })
    }

    /// From now on no name means for sure what it meant.
    pub(super) fn move_any(&mut self) {
        self.machine.overlay().move_revision(ANY, None);
    }

    /// Git reads something else from now on wherever it is asked for an object (git-replace(1)): any name may mean it.
    pub(super) fn replace_objects(&mut self, by: Option<&Value>) {
        self.move_revision(ANY, by);
    }

    /// Adds what files of the guard become that git writes again as the index has them, where the command has put a revision into it.
    pub(super) fn arrive_from_index(&mut self, paths: &[Value]) {
        if let Some(revision) = self.machine.moved_revision(INDEX) {
            let revision = revision.unwrap_or(UNREAD).to_owned();
            self.arrive(&Arrival::Gets(revision), paths);
        }
    }

    /// Nobody can say what the index holds from now on.
    pub(super) fn lose_track_of_index(&mut self) {
        self.machine.overlay().move_revision(INDEX, None);
    }

    /// What `git fetch REMOTE BRANCH:NAME` moves.
    pub(super) fn move_fetched(&mut self, words: &Words) {
        let remote = words.operand(0).map(str::to_owned);
        // What is fetched out of the repository itself has the names that it has there.
        let is_own = remote.as_deref().is_some_and(|remote| self.is_own_repository(remote));
        let named = |remote: &String, name: &str| {
            Value::exact(if is_own { name.to_owned() } else { format!("{remote}/{name}") })
        };
        if words.operands().len() < 2 {
            let head = remote.as_ref().map(|remote| named(remote, HEAD));
            self.move_revision("FETCH_HEAD", head.as_ref());
        }
        for word in words.operands_from(1).to_vec() {
            let text = word.as_exact().map(|text| text.trim_start_matches('+').to_owned());
            let (from, to) = match &text {
                Some(text) => text
                    .split_once(':')
                    .map_or((Some(text.as_str()), None), |(from, to)| (Some(from), Some(to))),
                None => (None, None),
            };
            let known = remote.as_ref().zip(from).map(|(remote, from)| named(remote, from));
            self.move_revision("FETCH_HEAD", known.as_ref());
            if let Some(to) = to.filter(|to| !to.is_empty()) {
                self.move_revision(to, known.as_ref());
            }
        }
    }

    /// What a revision means, said as it would have been before the command; `None` when that is not known.
    pub(super) fn meaning(&self, revision: &str) -> Option<String> {
        if let Some((left, right)) = revision.split_once("...") {
            return Some(format!("{}...{}", self.meaning(left)?, self.meaning(right)?));
        }
        if revision == UNREAD {
            return None;
        }
        // The index moves with no name.
        if revision.is_empty() {
            return Some(String::new());
        }
        let end = revision.find(['~', '^', '@', ':']).filter(|end| *end > 0).unwrap_or(revision.len());
        let (start, rest) = revision.split_at(end);
        let name = if matches!(start, "" | "@") { "HEAD" } else { plain(start) };
        if let Some(meaning) = self.machine.moved_revision(ANY) {
            return meaning.map(str::to_owned);
        }
        match self.written_reference(name) {
            Written::Not => {}
            Written::As(text) => return Some(format!("{text}{rest}")),
            Written::Unread => return None,
        }
        match self.machine.moved_revision(name) {
            // The newest of a list is what the name means.
            Some(meaning) => {
                meaning.map(|meaning| format!("{meaning}{}", rest.strip_prefix("@{0}").unwrap_or(rest)))
            }
            None => Some(revision.to_owned()),
        }
    }

    /// The index becomes what a revision holds: files of the guard that it does not have are not tracked any more.
    pub(super) fn index_becomes(&mut self, revision: Option<&Value>) {
        let Some(revision) = revision else { return };
        self.move_revision(INDEX, Some(revision));
        let revision = revision.as_exact().unwrap_or(UNREAD).to_owned();
        for path in self.guard_files_without(&revision) {
            self.machine.overlay().untrack(&path, Untracked::All);
        }
    }
}

/// A branch or a tag by its own name.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("refs/").unwrap_or(name);
    ["heads/", "tags/", "remotes/"].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name)
}
