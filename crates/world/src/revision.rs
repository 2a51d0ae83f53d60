//! Which commit a name means: `HEAD`, a branch, a tag, a number, `main~2`, `@{-1}`, and where two have come apart.
//!
//! As in `git rev-parse` (gitrevisions(7)), for what is asked about before an action. A name that is only the last part of one branch of a
//! remote is that branch, as `git checkout` understands it.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use checkrein_protocol::AbsolutePath;

use crate::budget::Budget;
use crate::objects::{Name, Objects};
use crate::repository::{setting, small_text};

/// How many commits are looked at to find out where two have come apart (ours).
const COMMITS: usize = 1024;
/// How many references a reference may lead through.
const LINKS: usize = 8;
/// The greatest length of a list of references, or of what a reference was, that is read, in bytes (ours).
const LIST: u64 = 1024 * 1024;

/// A name that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// This commit.
    Commit(Name),
    /// There is none.
    None,
    /// It could not be found out.
    Unknown,
}

/// The commit that is checked out in a work tree, in hexadecimal digits; `None` where there is none.
pub fn checked_out(root: &AbsolutePath) -> Option<String> {
    commit_named(root, "HEAD")
}

/// The commit that a name of a revision means in the repository whose work tree, or whose own data, is at a directory, in hexadecimal digits;
/// `None` where there is none, or it cannot be found out.
pub fn commit_named(directory: &AbsolutePath, revision: &str) -> Option<String> {
    let budget = Budget::new();
    match Objects::open(directory, &budget)?.commit(revision) {
        Found::Commit(name) => Some(name),
        Found::None | Found::Unknown => None,
    }
}

/// What an annotated tag says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagFacts {
    /// The name that it was given.
    pub name: String,
    /// When it was made, in seconds since 1970.
    pub seconds: i64,
    /// The first line of its message.
    pub subject: String,
}

/// What an annotated tag says of itself, by the name of its object, in the repository whose work tree, or whose own data, is at a directory;
/// `None` where the object is none, or cannot be read.
pub fn tag_facts(directory: &AbsolutePath, object: &str) -> Option<TagFacts> {
    let budget = Budget::new();
    let ("tag", text) = Objects::open(directory, &budget)?.read(object)? else { return None };
    let text = String::from_utf8(text).ok()?;
    let (head, message) = text.split_once("\n\n")?;
    let told = |key: &str| head.lines().find_map(|line| line.strip_prefix(key));
    let seconds = told("tagger ")?.rsplit(' ').nth(1)?.parse().ok()?;
    let subject = message.lines().next().unwrap_or_default().to_owned();
    Some(TagFacts { name: told("tag ")?.to_owned(), seconds, subject })
}

impl Objects<'_> {
    /// The commit that a name means.
    pub(crate) fn commit(&self, revision: &str) -> Found {
        if let Some((left, right)) = revision.split_once("...") {
            let or_head = |name: &str| self.commit(if name.is_empty() { "HEAD" } else { name });
            return match (or_head(left), or_head(right)) {
                (Found::Commit(left), Found::Commit(right)) => {
                    self.base(&left, &right).map_or(Found::Unknown, Found::Commit)
                }
                (Found::None, _) | (_, Found::None) => Found::None,
                _ => Found::Unknown,
            };
        }
        let end = revision.find(['~', '^']).unwrap_or(revision.len());
        let (start, steps) = revision.split_at(end);
        // `:/text` and `^{/text}` search messages, `:n:path` is no commit: none of it is looked for.
        if start.starts_with(':') || steps.contains("{/") {
            return Found::Unknown;
        }
        let Some(name) = self.named(start) else { return Found::None };
        match self.peeled(&name).map(|commit| self.stepped(commit, steps)) {
            Some(Some(found)) => found,
            Some(None) | None => Found::Unknown,
        }
    }

    /// Follows `~2`, `^`, `^2`, `^{commit}`.
    fn stepped(&self, mut commit: Name, steps: &str) -> Option<Found> {
        let mut rest = steps;
        while let Some(sign) = rest.chars().next() {
            rest = rest.get(1..)?;
            if let Some(inner) = rest.strip_prefix('{') {
                rest = inner.split_once('}')?.1;
                continue;
            }
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number: usize = match rest.get(..digits)? {
                "" => 1,
                digits => digits.parse().ok()?,
            };
            rest = rest.get(digits..)?;
            let (times, parent) = if sign == '~' { (number, 1) } else { (1, number) };
            if parent == 0 {
                continue;
            }
            for _ in 0..times.min(COMMITS) {
                let Some(next) = self.parents(&commit)?.get(parent - 1).cloned() else {
                    return Some(Found::None);
                };
                commit = next;
            }
        }
        Some(Found::Commit(commit))
    }

    /// The object that a name without steps means.
    fn named(&self, name: &str) -> Option<Name> {
        let name = match name {
            "" | "@" => "HEAD",
            "-" => "@{-1}",
            other => other,
        };
        if let Some((before, inner)) = name.strip_suffix('}').and_then(|text| text.split_once("@{")) {
            return self.by_history(before, inner);
        }
        let whole = name.len() == self.bytes * 2 && is_hexadecimal(name);
        if whole {
            return Some(name.to_ascii_lowercase());
        }
        self.reference(name).or_else(|| {
            let described = name.rsplit_once("-g").map(|(_, end)| end).filter(|end| is_hexadecimal(end));
            let digits = described.unwrap_or(name);
            if digits.len() >= 4 && is_hexadecimal(digits) {
                let found = self.beginning(&digits.to_ascii_lowercase());
                if let [only] = found.as_slice() {
                    return Some(only.clone());
                }
            }
            None
        })
    }

    /// `@{-1}`, `@{u}`, `stash@{2}`.
    fn by_history(&self, before: &str, inner: &str) -> Option<Name> {
        // Without a name it is the branch that is checked out.
        let branch =
            self.checked_out().map_or_else(|| "HEAD".to_owned(), |name| format!("refs/heads/{name}"));
        let reference = if before.is_empty() { branch.as_str() } else { before };
        if let Some(number) = inner.strip_prefix('-') {
            let history = lines_of(&self.directory.join("logs/HEAD"))?;
            let moves = history.lines().rev().filter_map(|line| {
                line.split_once("\tcheckout: moving from ").and_then(|(_, ways)| ways.split(' ').next())
            });
            let place: usize = number.parse().ok()?;
            let name = moves.skip(place.checked_sub(1)?).map(str::to_owned).next()?;
            return self.named(&name);
        }
        if matches!(inner, "u" | "upstream" | "push") {
            return self.named(&self.upstream(before)?);
        }
        let number: usize = inner.parse().ok()?;
        let whole = self.whole_name(reference)?;
        let place = if whole == "HEAD" {
            self.directory.join("logs/HEAD")
        } else {
            self.shared.join("logs").join(&whole)
        };
        match lines_of(&place) {
            Some(history) => {
                let line = history.lines().rev().nth(number)?;
                line.split(' ').nth(1).map(str::to_owned)
            }
            None if number == 0 => self.reference(reference),
            None => None,
        }
    }

    /// The branch that a branch follows, as `remotes/origin/main`.
    fn upstream(&self, branch: &str) -> Option<String> {
        let branch = if branch.is_empty() { self.checked_out()? } else { branch.to_owned() };
        let config = small_text(Path::new(self.shared.join("config").as_str()))?;
        let section = format!("branch \"{branch}\"");
        let remote = setting(&config, &section, "remote")?;
        let merge = setting(&config, &section, "merge")?;
        let name = merge.strip_prefix("refs/heads/")?;
        Some(if remote == "." { format!("heads/{name}") } else { format!("remotes/{remote}/{name}") })
    }

    fn checked_out(&self) -> Option<String> {
        let head = small_text(Path::new(self.directory.join("HEAD").as_str()))?;
        head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// What a reference holds.
    fn reference(&self, name: &str) -> Option<Name> {
        let whole = self.whole_name(name)?;
        self.value(&whole)
    }

    /// The whole name of a reference: `refs/heads/main` for `main`.
    fn whole_name(&self, name: &str) -> Option<String> {
        let ways = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let mut names: Vec<String> = ways.iter().map(|way| format!("{way}{name}")).collect();
        names.push(format!("refs/remotes/{name}/HEAD"));
        // Files beside `HEAD` that are no references.
        let is_reference = |whole: &String| {
            whole.starts_with("refs/") || whole.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        if let Some(found) =
            names.into_iter().find(|whole| is_reference(whole) && self.value(whole).is_some())
        {
            return Some(found);
        }
        // Where nothing is committed yet, what the remotes have checked out is not what is checked out here.
        if name == "HEAD" {
            return None;
        }
        let remotes = fs::read_dir(self.shared.join("refs/remotes").as_str()).into_iter().flatten().flatten();
        let mut remotes: Vec<String> =
            remotes.filter_map(|remote| remote.file_name().into_string().ok()).collect();
        remotes.push("origin".to_owned());
        remotes
            .into_iter()
            .map(|remote| format!("refs/remotes/{remote}/{name}"))
            .find(|whole| self.value(whole).is_some())
    }

    pub(crate) fn value(&self, whole: &str) -> Option<Name> {
        let mut whole = whole.to_owned();
        for _ in 0..LINKS {
            self.budget.question().ok()?;
            if whole.split('/').any(|part| matches!(part, "" | "." | "..")) {
                return None;
            }
            let own = if whole.contains('/') { &self.shared } else { &self.directory };
            let text = if let Some(text) = small_text(Path::new(own.join(&whole).as_str())) {
                text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
            } else {
                let packed = lines_of(&self.shared.join("packed-refs"))?;
                let value = |line: &str| {
                    line.split_once(' ').filter(|(_, name)| *name == whole).map(|(value, _)| value.to_owned())
                };
                packed.lines().find_map(value)?
            };
            if let Some(next) = text.strip_prefix("ref: ") {
                next.clone_into(&mut whole);
                continue;
            }
            let value = text.split(' ').next()?;
            return (value.len() == self.bytes * 2 && is_hexadecimal(value)).then(|| value.to_owned());
        }
        None
    }

    /// A commit from which both grew; `None` when it is not found within bounds.
    fn base(&self, left: &str, right: &str) -> Option<Name> {
        let mut seen = [BTreeSet::from([left.to_owned()]), BTreeSet::from([right.to_owned()])];
        let mut waiting = [VecDeque::from([left.to_owned()]), VecDeque::from([right.to_owned()])];
        if left == right {
            return Some(left.to_owned());
        }
        for _ in 0..COMMITS {
            for side in [0, 1] {
                let Some(next) = waiting.get_mut(side)?.pop_front() else { continue };
                for parent in self.parents(&next)? {
                    if seen.get(1 - side)?.contains(&parent) {
                        return Some(parent);
                    }
                    if seen.get_mut(side)?.insert(parent.clone()) {
                        waiting.get_mut(side)?.push_back(parent);
                    }
                }
            }
        }
        None
    }
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// The text of a list, which may be longer than the other small files of a repository.
fn lines_of(path: &checkrein_protocol::AbsolutePath) -> Option<String> {
    let facts = fs::metadata(path.as_str()).ok()?;
    if !facts.is_file() || facts.len() > LIST {
        return None;
    }
    fs::read(path.as_str()).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use checkrein_facts::Committed;
    use checkrein_protocol::AbsolutePath;
    use std::process::Command;

    fn git(directory: &Path, script: &str) -> String {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(directory)
            .env("HOME", directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_COUNT", "2")
            .env("GIT_CONFIG_KEY_0", "user.name")
            .env("GIT_CONFIG_VALUE_0", "d")
            .env("GIT_CONFIG_KEY_1", "user.email")
            .env("GIT_CONFIG_VALUE_1", "d@l")
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A history with branches, a merge, tags, a stash, and a file that changes a little often enough to be told as differences.
    fn history(directory: &Path) {
        git(
            directory,
            "git init -q -b main; mkdir -p .claude sub; seq 3000 > long; echo 1 > .claude/settings.json; git add -A; git commit -qm first
             for i in 1 2 3 4 5 6; do echo $i >> long; echo $i > sub/$i; git add -A; git commit -qm \"c$i\"; done
             git checkout -q -b side HEAD~3; echo side > .claude/settings.json; git commit -qam side; git tag -am note marked
             git checkout -q main; git rm -q .claude/settings.json; git commit -qm gone; git checkout -q -b gone; git checkout -q -; git checkout -q HEAD~1 2>/dev/null
             git checkout -q main; git merge -q -m both side 2>/dev/null || { git add -A; git commit -qm both; }
             echo stashed > long; git stash -q; git clone -q . copy.git --bare; git -C copy.git symbolic-ref HEAD refs/heads/side
             git remote add origin ./copy.git; git fetch -q origin; git remote set-head origin side; git branch -q -u origin/main main; git branch -q solo side; git update-ref refs/remotes/origin/only side; git branch -qD solo",
        );
    }

    fn compare(directory: &Path, revisions: &[&str]) {
        let root = AbsolutePath::new(directory.to_str().unwrap()).unwrap();
        let budget = Budget::new();
        for revision in revisions {
            let name = match revision.split_once("...") {
                Some((left, right)) => format!("$(git merge-base {left} {right})"),
                None if *revision == "-" => "'@{-1}'".to_owned(),
                None => format!("'{revision}'"),
            };
            for path in [".claude/settings.json", "long", "sub", "nothing", "sub/1", "long/x"] {
                let wanted = git(directory, &format!("git rev-parse -q --verify {name}:{path} || true"));
                let objects = Objects::open(&root, &budget).unwrap();
                let found = match objects.commit(revision) {
                    Found::Commit(commit) => objects.at(&commit, path),
                    other => panic!("{revision}: {other:?}"),
                };
                match (&found, wanted.as_str()) {
                    (Committed::Nothing, "") => {}
                    (Committed::Object(_), "") if path == "long/x" => {}
                    (Committed::Object(found), wanted) => assert_eq!(found, wanted, "{revision}:{path}"),
                    other => panic!("{revision}:{path} is {other:?}"),
                }
            }
        }
    }

    const REVISIONS: &[&str] = &[
        "HEAD",
        "@",
        "main",
        "main~2",
        "main^",
        "main^2",
        "main^1~2",
        "side",
        "marked",
        "marked^{commit}",
        "refs/heads/side",
        "gone",
        "@{-1}",
        "-",
        "@{1}",
        "main@{1}",
        "stash",
        "stash@{0}",
        "stash^2",
        "origin/main",
        "origin/HEAD",
        "@{u}",
        "main@{upstream}",
        "main...side",
        "HEAD...gone",
        "side...HEAD",
    ];

    #[test]
    fn revisions_hold_what_git_says() {
        let directory = tempfile::tempdir().unwrap();
        history(directory.path());
        compare(directory.path(), REVISIONS);
        let short = git(directory.path(), "git rev-parse --short=7 side; git rev-parse --short=9 HEAD~3");
        compare(directory.path(), &short.lines().collect::<Vec<_>>());
        // The same from packs, with packed references.
        git(directory.path(), "git gc -q --aggressive; git pack-refs --all; rm -rf copy.git");
        compare(directory.path(), REVISIONS);
        compare(directory.path(), &short.lines().collect::<Vec<_>>());
        git(directory.path(), "git worktree add -q ../$(basename $PWD)-linked side");
        let linked = std::path::PathBuf::from(format!("{}-linked", directory.path().display()));
        compare(&linked, &["HEAD", "main", "gone"]);
        fs::remove_dir_all(linked).unwrap();
        git(directory.path(), "git clone -q --shared . other");
        compare(&directory.path().join("other"), &["HEAD", "origin/side"]);
    }

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        history(directory.path());
        let root = AbsolutePath::new(directory.path().to_str().unwrap()).unwrap();
        let budget = Budget::new();
        let objects = Objects::open(&root, &budget).unwrap();
        for missing in ["nowhere", "HEAD~400", "main^3", "../HEAD", "stash@{9}", "config"] {
            assert_eq!(objects.commit(missing), Found::None, "{missing}");
        }
        // `git checkout only` makes a branch from the one of the remote.
        assert!(matches!(objects.commit("only"), Found::Commit(_)));
        let tree = git(directory.path(), "git rev-parse side^{tree}");
        let (folder, rest) = tree.split_at(2);
        let object = directory.path().join(".git/objects").join(folder).join(rest);
        fs::remove_file(&object).unwrap();
        let Found::Commit(side) = objects.commit("side") else { panic!("side is there") };
        assert_eq!(objects.at(&side, "long"), Committed::Unknown);
        fs::write(&object, "no object").unwrap();
        assert_eq!(objects.at(&side, "long"), Committed::Unknown);
    }
}
