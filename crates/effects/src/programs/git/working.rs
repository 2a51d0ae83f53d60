//! Subcommands that record, rearrange or export work; they lose nothing unless they are told to.

use std::collections::BTreeMap;

use crate::effect::{Certainty, EffectKind, Severity, Target};
use crate::interpreter::{Commitment, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::text::patches;
use crate::world::{Committed, Entry, TreeDifference, TreeDifferences, VersionState};

use super::Git;
use super::compared::{Files, both};
use super::guard_files::{Arrival, paths_in_text};
use super::options::Words;
use super::{listing, removing, sparse};

/// The greatest size of a list that is handed on as text (ours).
const LISTED: usize = 256;

/// Runs one of these subcommands; `None` for others.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    Some(match name {
        "add" | "stage" => {
            if words.any(&["-n", "--dry-run"]) {
                return Some(Exit::unknown());
            }
            let replaces = git.replaces_staged(words.operands());
            if !words.any(&["-u", "--update"]) {
                git.track(words.operands());
            }
            git.note_added(words);
            git.note_staged();
            git.stage_anew(replaces)
        }
        "commit" => commit(git, words),
        "am" if words.has("--show-current-patch") => Exit::unknown(),
        "merge" | "cherry-pick" | "revert" | "am" | "rebase" | "continue" | "abort" => {
            let goes_on = words.any(&["--abort", "--quit", "--continue", "--skip"]);
            let before = git.machine.effect_count();
            let exit = rearrange(git, name, words);
            if !goes_on && (git.is_interrupted() || refuses(git, name, words)) {
                git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            }
            exit
        }
        "rm" => removing::run(git, words),
        "mv" => rename(git, words),
        "apply" => super::applied::run(git, words),
        "init" => init(git, words),
        "worktree" => worktree(git, words),
        "log" | "show" | "diff" | "grep" | "ls-files" | "range-log" => listing::run(git, name, words),
        "difftool" | "mergetool" => tool(git, name, words),
        "bisect" => bisect(git, words),
        "format-patch" => format_patch(git, words),
        "archive" => archive(git, words),
        "bundle" => bundle(git, words),
        "sparse-checkout" => sparse::run(git, words),
        "interpret-trailers" => {
            if words.any(&["--in-place"]) {
                git.write_all(words.operands());
            }
            Exit::unknown()
        }
        "merge-file" => {
            if !words.any(&["-p", "--stdout"]) {
                git.write_all(words.operands().get(..1).unwrap_or_default());
            }
            Exit::silent()
        }
        "merge-index" => {
            if let Some(program) = words.operands().first().cloned() {
                git.machine
                    .possibly(|machine| machine.run_words(&[program, Value::Unknown], Input::Inherited));
            }
            git.change_tree("");
            git.touch("")
        }
        "merge-one-file" | "merge-recursive" | "merge-ours" | "merge-octopus" | "merge-resolve"
        | "merge-subtree" | "squash" | "fixup" => {
            git.change_tree("");
            git.touch("")
        }
        "bugreport" | "diagnose" => {
            let directory = match words.arguments.value(&["-o", "--output-directory"]) {
                Some(value) => git.located(value),
                None => git.cwd.clone(),
            };
            let target = directory
                .map_or(Target::Unknown, |directory| Target::Glob(format!("{directory}/git-{name}-*")));
            git.machine.add(Draft::new(EffectKind::FileCreate, target));
            Exit::silent()
        }
        "fast-export" => {
            let marks: Vec<Value> = words.arguments.values(&["--export-marks"]).cloned().collect();
            git.write_all(&marks);
            Exit::unknown()
        }
        "for-each-repo" => {
            let mut program = vec![Value::exact("git")];
            program.extend(words.operands().iter().cloned());
            git.machine.possibly(|machine| machine.run_words(&program, Input::Inherited))
        }
        "hook" => {
            let hook = words.operand(1).filter(|_| words.operand(0) == Some("run"));
            match (git.repository_directory(), hook) {
                (Some(directory), Some(hook)) => {
                    let script = Value::exact(directory.join("hooks").join(hook).as_str());
                    git.machine.run_file(&script, &[])
                }
                (Some(_) | None, _) => Exit::silent(),
            }
        }
        "flow" | "feature" | "bug" | "refactor" | "chore" | "release" | "sync" | "back" | "ignore"
        | "setup" | "touch" | "graft" | "merge-into" | "merge-repo" | "rebase-patch" | "rscp" | "scp" => {
            return git_extra(git, name);
        }
        _ => return None,
    })
}

/// Tools around git that rearrange work and lose nothing; those that send anything are left to the catalogue.
fn git_extra(git: &mut Git<'_, '_>, name: &str) -> Option<Exit> {
    if matches!(name, "rscp" | "scp" | "release" | "sync" | "merge-repo") {
        return None;
    }
    git.change_tree("");
    Some(git.touch(""))
}

fn commit(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("--dry-run") {
        return Exit::unknown();
    }
    let replaces = words.any(&["-a", "--all", "-i", "--include", "-o", "--only"])
        || !words.operands().is_empty()
        || words.has("--pathspec-from-file");
    let replaces = replaces && git.replaces_staged(words.operands());
    if words.has("--amend") {
        git.keep_for_a_while("the replaced commit stays in the reflog");
    } else {
        git.stage_anew(replaces);
    }
    git.note_commit();
    let skipped: &[&str] =
        if words.any(&["-n", "--no-verify"]) { &["pre-commit", "commit-msg"] } else { &[] };
    for hook in ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]
        .iter()
        .filter(|hook| !skipped.contains(hook))
    {
        git.run_hook(hook);
    }
    Exit::silent()
}

/// Whether git refuses as things stand, or has nothing to do (git-cherry-pick(1), git-merge(1)).
fn refuses(git: &Git<'_, '_>, name: &str, words: &Words) -> bool {
    match name {
        "cherry-pick" | "revert" if !words.any(&["-n", "--no-commit"]) => {
            git.staged_since("HEAD").is_some_and(|staged| !staged.is_empty())
        }
        "merge" => {
            let Some(other) = words.operand(0).filter(|_| words.operands().len() == 1) else { return false };
            let parted = format!("HEAD...{other}");
            let is_empty = |files: Files| files.is_some_and(|files| files.is_empty());
            // What is behind has nothing to bring; what went its own way is not moved on to.
            is_empty(git.differing(&parted, other))
                || words.has("--ff-only")
                    && git.differing(&parted, "HEAD").is_some_and(|ours| !ours.is_empty())
        }
        _ => false,
    }
}

fn rearrange(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    let directory = git.repository_directory().filter(|_| words.any(&["--abort", "--quit"]));
    if let Some(directory) = directory {
        let marks: &[&str] = match name {
            "merge" => &["MERGE_HEAD"],
            "cherry-pick" => &["CHERRY_PICK_HEAD", "sequencer"],
            "revert" => &["REVERT_HEAD", "sequencer"],
            "am" => &["rebase-apply"],
            _ => &["rebase-merge", "rebase-apply"],
        };
        if marks.iter().all(|mark| git.machine.entry(&directory.join(mark)) == Entry::Missing) {
            return Exit::failure();
        }
    }
    for command in words.arguments.values(&["-x", "--exec"]).cloned().collect::<Vec<_>>() {
        git.machine.possibly(|machine| machine.run_text(&command, Input::Inherited));
    }
    if name == "rebase" {
        git.follow_rebase_list(words);
    }
    let files = if words.any(&["--quit"]) {
        Some(BTreeMap::new())
    } else if words.any(&["--abort", "--continue", "--skip"]) {
        git.resuming()
    } else {
        rearranged(git, name, words)
    };
    git.change_files(files, "tracked files change; git refuses where uncommitted changes would be lost");
    if !words.any(&["--abort", "--quit", "--continue", "--skip"]) {
        rearrange_guard(git, name, words);
    }
    git.note_commit();
    git.keep_for_a_while("what the branch was before stays in the reflog")
}

/// The files that a merge, a rebase and their like write.
fn rearranged(git: &Git<'_, '_>, name: &str, words: &Words) -> Files {
    match name {
        "merge"
            if words
                .arguments
                .value(&["-s", "--strategy"])
                .is_some_and(|way| way.as_exact() == Some("ours")) =>
        {
            Some(BTreeMap::new())
        }
        "merge" if words.operands().is_empty() => git.joining("@{u}"),
        "merge" => {
            let mut all = Some(BTreeMap::new());
            for word in words.operands() {
                all = both(all, git.joining(word.as_exact()?));
            }
            all
        }
        "rebase" => git.rebasing(words),
        "cherry-pick" | "revert" => git.replaying(name, words.operands()),
        "am" => {
            let texts = git.patches(words.operands());
            let whole: Option<Vec<&str>> = texts.iter().map(Value::as_exact).collect();
            let root = git.root()?;
            let whole = whole.filter(|whole| !whole.is_empty())?;
            let paths = texts.iter().flat_map(paths_in_text);
            let how = |path: String| {
                let stands = git.machine.entry(&root.join(&path)) != Entry::Missing;
                (path, if stands { TreeDifference::Changed } else { TreeDifference::Added })
            };
            let mut all: BTreeMap<String, TreeDifference> = paths.map(how).collect();
            for patch in whole.into_iter().flat_map(patches::read) {
                let old = patch.old.map(|name| patches::stripped(&name, Some(1)));
                let new = patch.new.map(|name| patches::stripped(&name, Some(1)));
                if let Some(old) = old.filter(|_| new.is_none() || patch.is_renamed) {
                    all.insert(old, TreeDifference::Removed);
                }
                if let Some(new) = new.filter(|_| patch.is_renamed) {
                    all.insert(new, TreeDifference::Added);
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// What a merge, a rebase and their like do to files of the guard.
fn rearrange_guard(git: &mut Git<'_, '_>, name: &str, words: &Words) {
    match name {
        "merge" | "rebase" => {
            let upstream = Value::exact("@{u}");
            let onto = words.arguments.value(&["--onto"]).or_else(|| words.operands().first()).cloned();
            // Which commits go along to another base is not followed.
            let arrival = if words.has("--onto") { Arrival::Becomes } else { Arrival::Joined };
            git.arrive_as(arrival, Some(&onto.unwrap_or(upstream)));
            if let Some(branch) = words.operands().get(1).filter(|_| name == "rebase") {
                git.arrive_as(Arrival::Becomes, Some(branch));
            }
        }
        "cherry-pick" | "revert" => git.replay_guard(name, words.operands()),
        "am" if git.is_given_own_patch(words.operands()) => {}
        "am" => git.patch_guard(words.operands()),
        _ => {}
    }
}

fn rename(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) || words.operands().len() < 2 {
        return Exit::unknown();
    }
    let mut program = vec![Value::exact("mv")];
    if words.any(&["-f", "--force"]) {
        program.push(Value::exact("-f"));
    }
    program.push(Value::exact("--"));
    let located: Vec<Value> = words.operands().iter().map(|operand| git.absolute(operand)).collect();
    program.extend(located);
    if git.refuses_renaming(words) {
        return Exit::failure();
    }
    let before = git.machine.effect_count();
    git.machine.run_words(&program, Input::Inherited);
    git.possibly_change_submodules(words.operands());
    git.note_staged();
    let exit = git.touch("");
    // git moves only what it tracks.
    let sources = words.operands().get(..words.operands().len().saturating_sub(1)).unwrap_or_default();
    let is_untracked = |word: &Value| {
        git.located(word).is_some_and(|path| {
            matches!(git.machine.world().version(&path), VersionState::Untracked | VersionState::Ignored)
        })
    };
    if sources.iter().any(is_untracked) {
        git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
    }
    exit
}

impl Git<'_, '_> {
    /// Whether git refuses to rename one file: something is there already, or no directory for it (git-mv(1)).
    fn refuses_renaming(&self, words: &Words) -> bool {
        let [from, to] = words.operands() else { return false };
        let (Some(from), Some(to)) = (self.located(from), self.located(to)) else { return false };
        let parent = to.parent().map_or(Entry::Unknown, |parent| self.machine.entry(&parent));
        let is_taken = matches!(self.machine.entry(&to), Entry::File(_) | Entry::Symlink(_));
        self.machine.is_settled()
            && (parent == Entry::Missing
                || is_taken
                    && !words.any(&["-f", "--force"])
                    && matches!(self.machine.entry(&from), Entry::File(_) | Entry::Symlink(_)))
    }
}

fn init(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let place = match words.operands().first() {
        Some(operand) => git.located(operand),
        None => git.cwd.clone(),
    };
    let directory = match (&git.directory, place) {
        (Some(given), _) if words.operands().is_empty() => Some(given.clone()),
        (_, Some(place)) if words.has("--bare") => Some(place),
        (_, Some(place)) => Some(place.join(".git")),
        (_, None) => None,
    };
    match directory {
        Some(directory) => {
            let word = Value::exact(directory.as_str());
            match git.machine.entry(&directory) {
                Entry::Missing | Entry::Unknown => git.machine.make_directory(&word),
                // Of a repository that is there git sets what describes the file system; everything else stays.
                Entry::Directory if !words.has("--separate-git-dir") => git.machine.add(
                    Draft::new(EffectKind::FileModify, Target::Path(directory.join("config")))
                        .nature(Nature::SettingThatRunsNothing)
                        .note("a repository that is there keeps all that is in it"),
                ),
                Entry::Directory | Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                    git.machine.add(
                        Draft::new(EffectKind::FileModify, Target::Path(directory)).severity(Severity::Low),
                    );
                }
            }
        }
        None => git.machine.add(Draft::new(EffectKind::FileCreate, Target::Unknown)),
    }
    if words.arguments.value(&["--template"]).is_some_and(|template| template.as_exact() != Some("")) {
        git.machine.add(
            Draft::new(EffectKind::Persistence, git.inside()).possible().note("hooks come from the template"),
        );
    }
    Exit::silent()
}

fn worktree(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let place = words.operands().get(1).map(|operand| git.absolute(operand));
    match (words.operand(0), place) {
        (Some("list") | None, _) => Exit::unknown(),
        (Some("add"), Some(place)) => {
            let revision =
                words.operand(2).or_else(|| words.operand(1)?.rsplit('/').next()).unwrap_or("HEAD");
            let repository = git.root();
            if let Some(path) = git.machine.one_path_through(&place) {
                let world = git.machine.world();
                let named = repository.as_ref().is_some_and(|repository| {
                    world.committed(repository, revision, "") != Committed::NoRevision
                });
                git.arrive_below(&path, repository.as_ref(), if named { revision } else { "HEAD" });
            }
            git.machine.make_directory(&place);
            if let Some(path) = git.machine.one_path_through(&place) {
                git.machine.add(
                    Draft::new(EffectKind::FileCreate, Target::Path(path.clone()))
                        .recursive()
                        .possible()
                        .severity(Severity::Low)
                        .note("the files of the commit are written there"),
                );
                let revision = words.operand(2).or_else(|| words.operand(1)?.rsplit('/').next());
                let files = [revision.unwrap_or("HEAD"), "HEAD"]
                    .into_iter()
                    .find_map(|revision| Some((revision, git.differing(TreeDifferences::EMPTY, revision)?)));
                match (files.filter(|(_, files)| files.len() <= LISTED), repository) {
                    (Some((revision, files)), Some(repository)) => {
                        for file in files.into_keys() {
                            let from = Commitment {
                                repository: repository.clone(),
                                revision: revision.to_owned(),
                                file: file.clone(),
                            };
                            let file = path.join(&file);
                            if let Some(folder) = file.parent().filter(|folder| *folder != path) {
                                git.machine.remember_directory(&folder);
                            }
                            git.machine.remember_checkout(&file, from);
                        }
                    }
                    (Some(_) | None, _) => git.machine.remember_doubt_below(&path),
                }
            }
            if let Some(name) = words.arguments.value(&["-B"]).cloned() {
                git.move_branch(&name);
            }
            git.touch("")
        }
        (Some("remove"), Some(place)) if git.machine.is_certainly_missing(&place) => Exit::failure(),
        (Some("remove"), Some(place)) => {
            let is_forced = words.any(&["-f", "--force"]);
            let has_work = git
                .machine
                .one_path_through(&place)
                .is_some_and(|path| git.machine.world().version(&path) > VersionState::Ignored);
            for aim in git.machine.paths(&place) {
                let draft = if words.any(&["-f", "--force"]) {
                    Draft::new(EffectKind::VcsLocalLoss, aim.target)
                        .recursive()
                        .note("uncommitted changes in it are lost")
                } else {
                    Draft::new(EffectKind::FileDelete, aim.target)
                        .recursive()
                        .severity(Severity::Low)
                        .note("git refuses when something in it is in no commit")
                };
                let draft = if is_forced || !has_work { draft } else { draft.possible() };
                git.machine.add(draft);
            }
            git.forget("what was staged in that work tree, and where it was")
        }
        (Some("prune"), _) if words.any(&["-n", "--dry-run"]) => Exit::unknown(),
        (Some("move"), Some(place)) => {
            let mut program = vec![Value::exact("mv"), Value::exact("--"), place];
            program.extend(words.operands().get(2).map(|operand| git.absolute(operand)));
            git.machine.run_words(&program, Input::Inherited);
            git.forget("where that work tree was")
        }
        (Some("prune" | "move" | "repair"), _) => {
            let before = git.machine.effect_count();
            let exit = git.forget("work trees that are not there any more");
            git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            exit
        }
        (Some(_), _) => git.touch(""),
    }
}

fn tool(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    for command in words.arguments.values(&["-x", "--extcmd"]).cloned().collect::<Vec<_>>() {
        git.run_with_files(&command, &[]);
    }
    if name == "mergetool" {
        git.change_tree("files with conflicts change");
    }
    Exit::silent()
}

fn bisect(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    match words.operand(0) {
        Some("log" | "view" | "visualize" | "help" | "terms") | None => Exit::unknown(),
        Some("run") => {
            let command = words.operands_from(1).to_vec();
            git.machine.possibly(|machine| machine.run_words(&command, Input::Inherited));
            git.change_tree("other commits are checked out");
            git.touch("")
        }
        Some(_) => {
            git.change_tree("another commit is checked out");
            for revision in words.operands_from(1).to_vec() {
                git.arrive_as(Arrival::Becomes, Some(&revision));
            }
            git.touch("")
        }
    }
}

fn format_patch(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("--stdout") {
        return git.own_patch("format-patch", words);
    }
    let directory = match words.arguments.value(&["-o", "--output-directory"]) {
        Some(value) => git.located(value),
        None => git.cwd.clone(),
    };
    let target = directory.map_or(Target::Unknown, |directory| Target::Glob(format!("{directory}/*.patch")));
    git.machine.add(Draft::new(EffectKind::FileCreate, target));
    Exit::silent()
}

fn archive(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if let Some(command) = words.arguments.value(&["--exec"]).cloned() {
        git.machine.run_text(&command, Input::Inherited);
    }
    if let Some(remote) = words.arguments.value(&["--remote"]).cloned() {
        git.ask_remote(Some(&remote));
    }
    let remote = words.arguments.value(&["--remote"]);
    let fetched = remote.and_then(|remote| git.strange_address(Some(remote)));
    match (words.arguments.value(&["-o", "--output"]).cloned(), fetched) {
        (Some(output), fetched) => {
            let path = git.absolute(&output);
            match fetched {
                Some(address) => git.machine.write_from(&path, &Output::Network(address)),
                None => git.machine.write(&path),
            }
            Exit::silent()
        }
        (None, Some(address)) => Exit::with(Output::Network(address)),
        (None, None) => Exit::unknown(),
    }
}

fn bundle(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    match words.operand(0) {
        // It goes to the output.
        Some("create") if words.operand(1) == Some("-") => Exit::unknown(),
        Some("create") => {
            git.write_all(words.operands().get(1..2).unwrap_or_default());
            Exit::silent()
        }
        Some("unbundle") => {
            git.keep_brought();
            git.touch("")
        }
        _ => Exit::unknown(),
    }
}

impl Git<'_, '_> {
    /// Runs a hook that is about to fire. One that the same command has made is code like any other; one that was there before is
    /// the user's own, and only what it changes counts.
    pub(super) fn run_hook(&mut self, name: &str) {
        const EXECUTABLE: u32 = 0o111;
        let Some(path) = self.hooks_directory().map(|directory| directory.join(name)) else { return };
        let known = self.machine.world().entry(&path);
        if !matches!(self.machine.entry(&path), Entry::File(_) | Entry::Symlink(_)) {
            return;
        }
        let place = self.root().map_or(Value::Unknown, |root| Value::exact(root.as_str()));
        let script = Value::exact(path.as_str());
        let run = |machine: &mut Machine<'_>| {
            machine.inside(&place, |machine| machine.run_file(&script, &[]));
        };
        match known {
            Entry::Missing => run(self.machine),
            Entry::File(facts) if facts.mode & EXECUTABLE == 0 => {}
            Entry::File(_) | Entry::Symlink(_) => self.machine.as_arranged(run),
            Entry::Directory | Entry::Special | Entry::Unknown => {}
        }
    }

    /// Runs a hook, which may also be left out.
    pub(super) fn run_hook_at(&mut self, path: &AbsolutePath) {
        let place = self.root().map_or(Value::Unknown, |root| Value::exact(root.as_str()));
        let script = Value::exact(path.as_str());
        self.machine.possibly(|machine| {
            machine.inside(&place, |machine| machine.run_words(&[script], Input::Inherited))
        });
    }

    /// Where the hooks of the repository are; `None` when not known.
    pub(super) fn hooks_directory(&self) -> Option<AbsolutePath> {
        match self.settings.exact("core.hookspath") {
            Some(given) => Some(self.root()?.join(&given)),
            None => Some(self.repository_directory()?.join("hooks")),
        }
    }

    pub(super) fn write_all(&mut self, words: &[Value]) {
        for word in words {
            let path = self.absolute(word);
            self.machine.write(&path);
        }
    }
}
