//! Subcommands about branches, tags, and the objects that only they keep alive.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Draft, Exit, Untracked, Value};
use crate::nature::Nature;
use crate::world::{Entry, FileText, Listing};

use super::Git;
use super::options::Words;

/// Runs one of these subcommands; `None` for others.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    Some(match name {
        "branch" => branch(git, words),
        "tag" => tag(git, words),
        "reflog" => reflog(git, words),
        "gc" => gc(git, words),
        "prune" => prune(git, words),
        "update-ref" => update_ref(git, words),
        "filter-branch" | "filter-repo" => super::filters::filter(git, name, words),
        "replace" if words.any(&["-d", "--delete", "-f", "--force", "--edit", "-e"]) => {
            if words.any(&["-f", "--force"])
                && !words.any(&["--graft", "--convert-graft-file", "--edit", "-e"])
            {
                git.replace_objects(words.operands().get(1));
            } else {
                git.move_any();
            }
            if !words.any(&["-d", "--delete"]) {
                git.hide_by_replacement();
            }
            git.forget("what was replaced with what")
        }
        "notes" if !matches!(words.operand(0), None | Some("list" | "show" | "get-ref")) => {
            git.forget("what was noted")
        }
        "symbolic-ref" => symbolic_ref(git, words),
        "repack" => repack(git, words),
        "replay" => git.keep_for_a_while("what the branches were before stays in the reflog"),
        "fast-import" => {
            git.keep_brought();
            let marks: Vec<Value> = words.arguments.values(&["--export-marks"]).cloned().collect();
            git.write_all(&marks);
            if words.has("--force") {
                git.lose_reference(&Value::exact("all branches"), "branches are set to what comes in");
            }
            git.keep_for_a_while("what the branches were before stays in the reflog")
        }
        "create-branch" | "rename-branch" | "rename-tag" => git.forget("the old name"),
        "delete-branch" | "delete-merged-branches" | "delete-squashed-branches" => {
            for operand in words.operands() {
                git.lose_reference(operand, "commits that only this branch holds are lost");
            }
            git.remote_update(&["branches"], "deletes branches, also of the remote");
            git.touch("")
        }
        "delete-tag" => {
            for operand in words.operands() {
                git.lose_reference(operand, "deletes the tag");
            }
            git.remote_update(&["tags"], "deletes the tag of the remote too");
            Exit::silent()
        }
        "obliterate" => {
            git.rewrite_all("rewrites every commit");
            git.touch("")
        }
        "maintenance" if matches!(words.operand(0), Some("start" | "register")) => {
            let home = git.machine.world().place().home.join(".gitconfig");
            let draft = Draft::new(EffectKind::Persistence, Target::Path(home))
                .note("git maintenance runs by itself from now on");
            git.machine.add(draft);
            Exit::silent()
        }
        "replace" | "notes" | "pack-refs" | "maintenance" | "multi-pack-index" | "commit-graph"
        | "rerere" | "mktag" | "mktree" | "commit-tree" | "write-tree" | "hash-object" | "unpack-objects"
        | "index-pack" | "pack-objects" | "prune-packed" | "pack-redundant" | "update-index"
        | "update-server-info" | "bulk-checkin" | "refs" | "archive-file" | "fork-point" => {
            if matches!(name, "unpack-objects" | "index-pack" | "hash-object" | "mktree" | "commit-tree") {
                git.keep_brought();
            }
            references_only(git, name, words)
        }
        _ => return None,
    })
}

impl Git<'_, '_> {
    /// Whether a name is known to mean no branch, tag or commit of the repository: it could be nothing but the name of a reference, and
    /// there is none of that name.
    pub(super) fn lacks_reference(&self, name: &str) -> bool {
        let plain = name.len() < 200
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.'))
            && !name.contains("..");
        let may_be_commit = name.chars().all(|c| c.is_ascii_hexdigit());
        let is_special = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        // `v1.2-14-gdeadbee` is how `git describe` says a commit.
        let may_be_described = name
            .rsplit_once("-g")
            .is_some_and(|(_, rest)| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_hexdigit()));
        let machine = &*self.machine;
        let Some(directory) = self.repository_directory() else { return false };
        if !plain
            || may_be_commit
            || is_special
            || may_be_described
            || !machine.is_settled()
            || machine.has_changed_within(&directory)
        {
            return false;
        }
        let is_missing = |path: &str| machine.entry(&directory.join(path)) == Entry::Missing;
        // A work tree beside the repository, or references in a form that is not read here.
        if machine.entry(&directory.join("refs/heads")) != Entry::Directory
            || !is_missing("commondir")
            || !is_missing("reftable")
        {
            return false;
        }
        let in_pack = match machine.world().text(&directory.join("packed-refs")) {
            FileText::Whole(text) => text.lines().any(|line| line.ends_with(&format!("/{name}"))),
            FileText::Beginning(_) | FileText::Unknown => !is_missing("packed-refs"),
        };
        let remotes = match machine.children(&directory.join("refs/remotes")) {
            Listing::Names(names) => names,
            Listing::Unknown if is_missing("refs/remotes") => Vec::new(),
            Listing::Unknown => return false,
        };
        let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        !in_pack
            && places.iter().all(|place| is_missing(&format!("{place}{name}")))
            && remotes.iter().all(|remote| is_missing(&format!("refs/remotes/{remote}/{name}")))
    }
}

fn references_only(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    let looks = match name {
        "notes" => matches!(words.operand(0), None | Some("list" | "show")),
        "replace" => words.operands().is_empty(),
        "hash-object" => !words.has("-w"),
        "refs" => matches!(words.operand(0), Some("list" | "verify" | "exists")),
        "rerere" => matches!(words.operand(0), Some("status" | "diff" | "remaining")),
        _ => false,
    };
    if looks {
        return Exit::unknown();
    }
    match name {
        "replace" if words.any(&["-l", "--list"]) => return Exit::unknown(),
        "replace" => {
            if words.any(&["--graft", "--convert-graft-file"]) {
                git.move_any();
            } else {
                git.replace_objects(words.operands().get(1));
            }
            git.hide_by_replacement();
        }
        "update-index" if words.any(&["--force-remove", "--remove", "--index-info", "--stdin"]) => {
            git.may_untrack_any();
            git.note_updated(words);
        }
        "update-index" if !only_refreshes(words) => {
            git.untrack(&[], Untracked::Staged);
            git.note_updated(words);
        }
        _ => {}
    }
    match (name, words.operand(0)) {
        ("update-index", _) if !only_refreshes(words) => git.forget("what was staged there"),
        ("maintenance", Some("run")) => git.keep_for_a_while(CLEARS_AWAY),
        ("rerere", Some("clear" | "forget" | "gc")) => git.forget("how conflicts were resolved"),
        _ => git.touch(""),
    }
}

/// Whether `git update-index` changes nothing but what it remembers of the work tree, or of itself (git-update-index(1)).
fn only_refreshes(words: &Words) -> bool {
    const KEEPS: [&str; 13] = [
        "--refresh",
        "--really-refresh",
        "-q",
        "--assume-unchanged",
        "--no-assume-unchanged",
        "--skip-worktree",
        "--no-skip-worktree",
        "--show-index-version",
        "--untracked-cache",
        "--no-untracked-cache",
        "--test-untracked-cache",
        "--split-index",
        "--fsmonitor",
    ];
    !words.arguments.options.is_empty()
        && words.arguments.options.iter().all(|(name, _)| KEEPS.contains(&name.as_str()))
}

/// What is cleared away of old objects, as a note says it.
const CLEARS_AWAY: &str = "objects that nothing reaches may go";

fn symbolic_ref(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-d", "--delete"]) || words.operands().len() > 1 {
        if let Some(name) = words.operand(0) {
            git.move_revision(name, words.operands().get(1));
        }
        return git.forget("what it pointed to");
    }
    // `git symbolic-ref --short HEAD` prints the branch, as scripts like to ask.
    let branch =
        git.cwd.as_ref().and_then(|cwd| git.machine.world().repository(cwd)).and_then(|found| found.branch);
    match branch {
        Some(branch) if words.has("--short") => Exit::printing(Value::exact(format!("{branch}\n"))),
        _ => Exit::unknown(),
    }
}

/// `-d` takes away packs of which the objects are in another one; with `-a` also objects that nothing reaches.
fn repack(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("-d") && words.any(&["-a", "-A"]) {
        git.keep_for_a_while(CLEARS_AWAY)
    } else {
        git.touch("")
    }
}

fn branch(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("--show-current") {
        return git
            .present_branch()
            .map_or_else(Exit::unknown, |branch| Exit::printing(Value::exact(branch)));
    }
    let force = words.any(&["-f", "--force"]);
    if words.has("-D") || words.any(&["-d", "--delete"]) && force {
        if words.any(&["-r", "--remotes"]) {
            return git.forget("where they were; the remote keeps its branches");
        }
        for operand in words.operands() {
            git.lose_reference(operand, "commits that only this branch holds are lost");
        }
        return Exit::silent();
    }
    if words.any(&["-d", "--delete"]) {
        return git.forget("the name; git deletes only branches that are merged");
    }
    let looks = words.any(&[
        "--list",
        "-l",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "-a",
        "--all",
        "-r",
        "--remotes",
    ]) || words.operands().is_empty()
        && !words.any(&["-u", "--set-upstream-to", "--unset-upstream", "--edit-description"]);
    if looks && !words.arguments.uncertain {
        return Exit::unknown();
    }
    if words.arguments.uncertain {
        let draft = Draft::new(EffectKind::VcsLocalLoss, Target::Unknown)
            .possible()
            .note("the word that is not known may be `-D`");
        git.machine.add(draft);
    }
    let moves = words.any(&["-m", "--move", "-M"]);
    let copies = words.any(&["-c", "--copy", "-C"]);
    if force || words.any(&["-M", "-C"]) {
        // Of two names the second is the one that is replaced; the branch that is made begins at the second.
        let replaced = if moves || copies { words.operands().last() } else { words.operands().first() };
        if let Some(replaced) = replaced.cloned() {
            git.move_branch(&replaced);
        }
    }
    let head = Value::exact("HEAD");
    if let [first, rest @ ..] = words.operands()
        && !words.any(&["-u", "--set-upstream-to", "--unset-upstream", "--edit-description"])
    {
        let (name, start) = match (moves || copies, rest.first()) {
            (true, Some(new)) => (new, first),
            (true, None) => (first, &head),
            (false, start) => (first, start.unwrap_or(&head)),
        };
        if let Some(name) = name.as_exact() {
            git.move_revision(name, Some(start));
        }
    }
    if moves {
        git.forget("the old name")
    } else if words.any(&["-u", "--set-upstream-to", "--unset-upstream", "--edit-description"]) {
        git.forget("what was set for the branch")
    } else {
        git.touch("")
    }
}

fn tag(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-d", "--delete"]) {
        // The commit of a tag is mostly on a branch too; what goes is the name.
        let before = git.machine.effect_count();
        for operand in words.operands() {
            git.lose_reference(operand, "deletes the tag");
        }
        git.machine.amend(before, |effect| effect.severity = Severity::Medium);
        return Exit::silent();
    }
    let looks = words.operands().is_empty()
        || words.any(&[
            "-l",
            "--list",
            "-v",
            "--verify",
            "-n",
            "--contains",
            "--no-contains",
            "--merged",
            "--no-merged",
            "--points-at",
        ]);
    if looks && !words.any(&["-f", "--force"]) {
        return Exit::unknown();
    }
    if words.any(&["-f", "--force"])
        && let Some(name) = words.operands().first().cloned()
        && !git.is_no_reference(&name)
    {
        let before = git.machine.effect_count();
        git.lose_reference(&name, "the tag moves, and nothing says where it was");
        git.machine.amend(before, |effect| effect.severity = Severity::Medium);
    }
    if let Some(name) = words.operand(0) {
        let head = Value::exact("HEAD");
        git.move_revision(name, Some(words.operands().get(1).unwrap_or(&head)));
    }
    git.touch("")
}

fn reflog(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if !matches!(words.operand(0), Some("expire" | "delete" | "drop")) || words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    let note = "commits that were left behind can no longer be found";
    let draft = Draft::new(EffectKind::VcsLocalLoss, Target::Reference("reflog".to_owned()))
        .irreversible()
        .note(note);
    git.machine.add(draft);
    git.name_repository();
    Exit::silent()
}

fn gc(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let by_option =
        words.arguments.value(&["--prune"]).map(|value| value.as_exact().unwrap_or("now").to_owned());
    let period = by_option.or_else(|| git.settings.exact("gc.pruneexpire"));
    let at_once = period.is_some_and(|period| matches!(period.as_str(), "now" | "all"));
    if at_once && !words.has("--no-prune") {
        lose_unreachable(git);
    }
    if words.has("--no-prune") { git.touch("") } else { git.keep_for_a_while(CLEARS_AWAY) }
}

fn prune(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    lose_unreachable(git);
    git.name_repository();
    Exit::silent()
}

fn lose_unreachable(git: &mut Git<'_, '_>) {
    let note = "commits that no branch holds are removed for good";
    let draft = Draft::new(EffectKind::VcsLocalLoss, Target::Reference("unreachable commits".to_owned()))
        .irreversible()
        .nature(Nature::ClearedAway)
        .note(note);
    git.machine.add(draft);
}

fn update_ref(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("-d") {
        if let Some(operand) = words.operands().first() {
            git.lose_reference(operand, "commits that only this reference holds are lost");
        }
        return Exit::silent();
    }
    if let Some(operand) = words.operands().first().cloned().filter(|_| words.operands().len() > 1) {
        if let Some(name) = operand.as_exact() {
            git.hide_behind(name);
            git.move_revision(name, words.operands().get(1));
            let branch = git
                .cwd
                .as_ref()
                .and_then(|cwd| git.machine.world().repository(cwd))
                .and_then(|found| found.branch);
            if name.strip_prefix("refs/heads/").is_some_and(|name| branch.as_deref() == Some(name)) {
                git.move_revision("HEAD", words.operands().get(1));
            }
        }
        // The branch that is checked out takes `HEAD` with it.
        let branch = git.cwd.as_ref().and_then(|cwd| git.machine.world().repository(cwd)?.branch);
        let is_checked_out = |name: &str| {
            name == "HEAD" || branch.is_some_and(|branch| name.strip_prefix("refs/heads/") == Some(&branch))
        };
        if operand.as_exact().is_some_and(is_checked_out) {
            git.move_head(words.operands().get(1));
        }
        // `HEAD` and what it points to keep a list of what they were.
        if operand.as_exact() == Some("HEAD") {
            return git.keep_for_a_while("what the branch was before stays in the reflog");
        }
        git.move_branch(&operand);
        return git.touch("");
    }
    if words.has("--stdin") {
        let draft =
            Draft::new(EffectKind::VcsLocalLoss, Target::Unknown).possible().note("may delete references");
        git.machine.add(draft);
        git.move_any();
        return git.forget("what the references were");
    }
    git.touch("")
}

impl Git<'_, '_> {
    /// A branch or another reference is made to point elsewhere, whatever it held; nothing is lost when there is none of that name.
    pub(super) fn move_branch(&mut self, name: &Value) {
        if !self.is_no_reference(name) {
            self.lose_reference(name, "it moves away from commits that only it may hold");
        }
    }

    /// Whether a word names no reference of the repository, as far as that can be told.
    pub(super) fn is_no_reference(&self, name: &Value) -> bool {
        let Some(text) = name.as_exact() else { return false };
        let short = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"]
            .iter()
            .find_map(|start| text.strip_prefix(start))
            .unwrap_or(text);
        self.lacks_reference(short)
    }

    /// Rewrites all commits of this repository. In one that the command made itself, by a clone or from nothing, they are nobody's yet.
    pub(super) fn rewrite_all(&mut self, note: &str) {
        if self.root().is_none_or(|root| !self.machine.is_made_here(&root)) {
            self.rewrite(&Value::exact("all branches"), note);
        }
    }

    /// Rewrites the history of a reference.
    pub(super) fn rewrite(&mut self, reference: &Value, note: &str) {
        let target = reference.as_exact().map_or(Target::Unknown, |text| Target::Reference(text.to_owned()));
        self.machine.add(Draft::new(EffectKind::VcsHistoryRewrite, target).irreversible().note(note));
    }

    /// Takes a reference away from a remote, with commits that nothing else there may name.
    pub(super) fn delete_there(&mut self, reference: &Value, note: &str) {
        let target = reference.as_exact().map_or(Target::Unknown, |text| Target::Reference(text.to_owned()));
        let draft = Draft::new(EffectKind::VcsHistoryRewrite, target).irreversible().nature(Nature::Removal);
        self.machine.add(draft.note(note));
    }

    /// Changes references of a remote repository.
    pub(super) fn remote_update(&mut self, references: &[&str], note: &str) {
        for reference in references {
            let target = Target::Reference((*reference).to_owned());
            self.machine.add(Draft::new(EffectKind::VcsRemoteUpdate, target).note(note));
        }
    }
}
