//! Subcommands that record, rearrange or export work; they lose nothing unless they are told to.

use std::collections::BTreeMap;

use crate::effect::{Certainty, Depth, EffectKind, Severity, Target};
use crate::interpreter::{Commitment, Draft, Exit, Input, Machine, Status, Untracked, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, TreeDifference, TreeDifferences, VersionState};
use checkrein_glob::{Glob, Style};

use super::Git;
use super::compared::{Files, both};
use super::guard_files::{Arrival, paths_in_text};
use super::options::Words;
use super::pathspec::is_pattern;
use super::tree::{self, Found};

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
            git.note_staged();
            git.stage_anew(replaces)
        }
        "commit" => commit(git, words),
        "am" if words.has("--show-current-patch") => Exit::unknown(),
        "merge" | "cherry-pick" | "revert" | "am" | "rebase" | "continue" | "abort" => {
            let goes_on = words.any(&["--abort", "--quit", "--continue", "--skip"]);
            let before = git.machine.effect_count();
            let exit = rearrange(git, name, words);
            if !goes_on && git.is_interrupted() {
                git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            }
            exit
        }
        "rm" => remove(git, words),
        "mv" => rename(git, words),
        "apply" => super::applied::run(git, words),
        "init" => init(git, words),
        "worktree" => worktree(git, words),
        "log" | "show" | "diff" | "grep" | "ls-files" | "range-log" => look(git, name, words),
        "difftool" | "mergetool" => tool(git, name, words),
        "bisect" => bisect(git, words),
        "format-patch" => format_patch(git, words),
        "archive" => archive(git, words),
        "bundle" => bundle(git, words),
        "sparse-checkout" => {
            if words.operand(0) == Some("list") {
                return Some(Exit::unknown());
            }
            let files = git.thinning(words);
            git.change_files(
                files,
                "files outside the chosen directories leave the work tree; they stay in git",
            );
            if !matches!(words.operand(0), Some("disable" | "add")) {
                git.thin_out(words);
            }
            git.touch("")
        }
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

fn rearrange(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    let directory = git.repository_directory().filter(|_| words.any(&["--abort", "--quit"]));
    if let Some(directory) = directory {
        let marks: &[&str] = match name {
            "merge" => &["MERGE_HEAD"],
            "cherry-pick" => &["CHERRY_PICK_HEAD", "sequencer"],
            "revert" => &["REVERT_HEAD", "sequencer"],
            _ => &["rebase-merge", "rebase-apply"],
        };
        if marks.iter().all(|mark| git.machine.entry(&directory.join(mark)) == Entry::Missing) {
            return Exit::failure();
        }
    }
    for command in words.arguments.values(&["-x", "--exec"]).cloned().collect::<Vec<_>>() {
        git.machine.possibly(|machine| machine.run_text(&command, Input::Inherited));
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
            let paths =
                whole.filter(|whole| !whole.is_empty()).map(|_| texts.iter().flat_map(paths_in_text))?;
            let how = |path: String| {
                let stands = git.machine.entry(&root.join(&path)) != Entry::Missing;
                (path, if stands { TreeDifference::Changed } else { TreeDifference::Added })
            };
            Some(paths.map(how).collect())
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
        "am" => git.patch_guard(words.operands()),
        _ => {}
    }
}

fn remove(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    if words.has("--cached") {
        git.untrack(words.operands(), Untracked::All);
        return git.forget("what is staged there; the files stay in the work tree");
    }
    if words.has("--pathspec-from-file") {
        git.arrive_unread(&[]);
        git.possibly_lose_changes("which files it takes could not be found out");
        git.change_tree("tracked files that are named in a file go");
    }
    let depth = if words.has("-r") { Depth::Recursive } else { Depth::Single };
    let (patterns, plain): (Vec<Value>, Vec<Value>) = words.operands().iter().cloned().partition(is_pattern);
    if !patterns.is_empty() {
        remove_matching(git, words.operands());
    }
    for operand in &plain {
        let path = git.absolute(operand);
        let place = git.located(operand);
        // Of a submodule everything goes, tracked or not.
        let is_submodule = place.as_ref().is_some_and(|place| {
            git.root().as_ref() != Some(place) && git.machine.entry(&place.join(".git")) != Entry::Missing
        });
        match place {
            Some(place) if !is_submodule && git.machine.entry(&place) == Entry::Directory => {
                if depth == Depth::Recursive {
                    remove_tracked(git, operand, &place, words.any(&["-f", "--force"]));
                }
            }
            Some(_) | None => git.machine.delete(&path, if is_submodule { Depth::Recursive } else { depth }),
        }
    }
    git.possibly_change_submodules(words.operands());
    git.note_staged();
    git.touch("")
}

/// Removes the tracked files that pathspecs take.
fn remove_matching(git: &mut Git<'_, '_>, pathspecs: &[Value]) {
    const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];
    match git.matching(pathspecs, &TRACKED) {
        Some(files) if files.len() <= LISTED => {
            for file in files {
                git.machine.delete(&Value::exact(file.as_str()), Depth::Single);
            }
        }
        Some(_) | None => {
            git.lose_changes(&[]);
            git.change_tree("tracked files that the patterns take go");
        }
    }
    // Of a submodule everything goes, tracked or not, and its entry in the list.
    if let (Some(root), Some(specs)) = (git.root(), git.pathspecs(pathspecs)) {
        let submodules = git.submodules(&root).unwrap_or_default();
        let taken: Vec<String> = submodules.into_iter().filter(|path| specs.take(path)).collect();
        for path in &taken {
            git.machine.delete(&Value::exact(root.join(path).as_str()), Depth::Recursive);
        }
        let named: Vec<Value> = taken.iter().map(|path| Value::exact(root.join(path).as_str())).collect();
        git.possibly_change_submodules(&named);
    }
    git.arrive(&Arrival::Nothing, pathspecs);
    git.take_added_guard(pathspecs);
}

/// Removes what is tracked below a directory, and the directory where nothing else is in it. Of files that are changed nothing goes but by force.
fn remove_tracked(git: &mut Git<'_, '_>, operand: &Value, place: &AbsolutePath, forced: bool) {
    const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];
    const OTHERS: [VersionState; 2] = [VersionState::Untracked, VersionState::Ignored];
    let is_whole = git.root().as_ref() == Some(place);
    let others = tree::files(git.machine, std::slice::from_ref(place), &OTHERS);
    if !is_whole && git.is_natural() && others == Found::All(Vec::new()) {
        let path = Value::exact(place.as_str());
        git.machine.delete(&path, Depth::Recursive);
        return;
    }
    let paths = [operand.clone()];
    if forced {
        git.lose_changes(&paths);
    }
    let note = "what git tracks there goes, and nothing else";
    let known = if git.has_staged() { None } else { git.in_state(&paths, &TRACKED) };
    let tracked = known.filter(|tracked| tracked.len() <= LISTED);
    if let Some(tracked) = tracked {
        let gone = tracked.into_iter().map(|path| (path, TreeDifference::Removed)).collect();
        git.change_files(Some(gone), note);
    } else {
        let below = Target::Glob(format!("{}/**", place.as_str().trim_end_matches('/')));
        git.machine.add(
            Draft::new(EffectKind::FileDelete, below)
                .possible()
                .severity(Severity::Low)
                .nature(Nature::KeptByVersionControl)
                .note(note),
        );
    }
    git.arrive(&Arrival::Nothing, &paths);
    git.take_added_guard(&paths);
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
                            git.machine.remember_checkout(&path.join(&file), from);
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
        (Some("prune" | "move" | "repair"), _) => git.forget("work trees that are not there any more"),
        (Some(_), _) => git.touch(""),
    }
}

fn look(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    if name == "grep" {
        git.open_found(words);
    }
    let commits_named =
        words.operands().len() > words.operands_from(words.before_dashes.unwrap_or(usize::MAX)).len();
    let states: Option<&[VersionState]> = match name {
        "diff"
            if words.any(&["--name-only"])
                && !words.any(&["--cached", "--staged", "--no-index"])
                && !commits_named =>
        {
            Some(&[VersionState::TrackedModified])
        }
        "ls-files" if words.any(&["-o", "--others"]) => {
            if words.has("--exclude-standard") {
                if words.any(&["-i", "--ignored"]) {
                    Some(&[VersionState::Ignored])
                } else {
                    Some(&[VersionState::Untracked])
                }
            } else {
                Some(&[VersionState::Untracked, VersionState::Ignored])
            }
        }
        "ls-files" if words.any(&["-m", "--modified"]) => Some(&[VersionState::TrackedModified]),
        "ls-files"
            if !words.any(&["-d", "--deleted", "-s", "--stage", "--format", "-u", "-t", "-v", "--eol"]) =>
        {
            Some(&[VersionState::TrackedClean, VersionState::TrackedModified])
        }
        _ => None,
    };
    let ends = if words.any(&["-z", "--null"]) { Ends::Nul } else { Ends::Line };
    // It tells whether each name is kept: whether it is an error that one is not is the question.
    let asks = name == "ls-files" && words.has("--error-unmatch");
    let Some(states) = states.filter(|_| !asks) else {
        let exit = Exit::unknown();
        return if asks { Exit { status: Status::Open, ..exit } } else { exit };
    };
    match git.listed(name, words.operands(), states, ends) {
        Some(text) => Exit::printing(Value::exact(text)),
        None => git.secrets_among(words.operands(), states).map_or_else(Exit::unknown, Exit::printing),
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
        return Exit::unknown();
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
    match words.arguments.value(&["-o", "--output"]).cloned() {
        Some(output) => {
            let path = git.absolute(&output);
            git.machine.write(&path);
            Exit::silent()
        }
        None => Exit::unknown(),
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

    /// The names that a subcommand tells of what git does not keep, where something takes them in: as they are, or what stands for them.
    pub(super) fn names_not_kept(&self, name: &str, words: &Words) -> Option<Value> {
        if !self.machine.is_listened_to() {
            return None;
        }
        let ignored = [VersionState::Ignored];
        let all = [VersionState::Untracked, VersionState::Ignored];
        match name {
            "status" => {
                let told = words.has("--ignored").then(|| self.secrets_among(words.operands(), &all))??;
                let is_short = words.any(&["-s", "--short", "--porcelain"]);
                let listed = |mark: &str, state: VersionState| {
                    let names = self.listed(name, words.operands(), &[state], Ends::Line)?;
                    let mark = if is_short { mark } else { "\t" };
                    Some(names.lines().flat_map(|name| [mark, name, "\n"]).collect::<String>())
                };
                let lines = listed("?? ", VersionState::Untracked)
                    .zip(listed("!! ", VersionState::Ignored))
                    .map(|(first, second)| Value::Exact(first + &second));
                Some(lines.unwrap_or(told))
            }
            "clean" => {
                let states = if words.has("-X") {
                    &ignored[..]
                } else if words.has("-x") {
                    &all[..]
                } else {
                    &[VersionState::Untracked][..]
                };
                let listed = self.listed(name, words.operands(), states, Ends::Line);
                // A directory is told by its name alone.
                match listed.filter(|text| !text.contains('/')) {
                    Some(text) => {
                        let lines = text.lines().flat_map(|line| ["Would remove ", line, "\n"]);
                        Some(Value::Exact(lines.collect()))
                    }
                    None => self.secrets_among(words.operands(), states),
                }
            }
            "check-ignore" => {
                let is_plain = !words.any(&["-v", "--verbose", "-n", "--non-matching", "--stdin", "-z"]);
                let named: Option<Vec<&str>> = words.operands().iter().map(Value::as_exact).collect();
                let Some(named) = named.filter(|_| is_plain) else {
                    return self.secrets_among(&[], &ignored);
                };
                let is_ignored = |word: &&str| {
                    let path = self.located(&Value::exact(*word));
                    path.is_some_and(|path| self.machine.world().version(&path) == VersionState::Ignored)
                };
                let lines = named.into_iter().filter(is_ignored).flat_map(|word| [word, "\n"]);
                Some(Value::Exact(lines.collect()))
            }
            _ => None,
        }
    }

    /// What stands for a list that is not known, where a file of secrets is among what it may name; `None` where none is. Of secrets that
    /// are tracked the list is not what gives them away.
    fn secrets_among(&self, patterns: &[Value], states: &[VersionState]) -> Option<Value> {
        let states: Vec<VersionState> = (states.iter().copied())
            .filter(|state| matches!(state, VersionState::Untracked | VersionState::Ignored))
            .collect();
        let cwd = self.cwd.as_ref()?;
        let is_chosen = |path: &AbsolutePath| {
            let name = path.relative_to(cwd).unwrap_or_default();
            let fits = |pattern: &Value| pattern.as_exact().is_none_or(|text| matches_pathspec(text, name));
            patterns.is_empty() || patterns.iter().any(fits)
        };
        let world = self.machine.world();
        (!states.is_empty()
            && self
                .machine
                .credentials_within(cwd, &[])
                .iter()
                .any(|path| tree::may_be_in(world, path, &states) && is_chosen(path)))
        .then(|| Value::Glob(format!("{}/**", cwd.as_str().trim_end_matches('/'))))
    }

    /// The files that are in one of the states, as git lists them; `None` when that cannot be told.
    fn listed(&self, name: &str, patterns: &[Value], states: &[VersionState], ends: Ends) -> Option<String> {
        let root = self.root()?;
        let from = if name == "diff" { root } else { self.cwd.clone()? };
        let start = if name == "diff" { from.clone() } else { self.cwd.clone()? };
        let Found::All(files) = tree::files(self.machine, &[start], states) else {
            return None;
        };
        let patterns: Vec<&str> = patterns.iter().map(Value::as_exact).collect::<Option<_>>()?;
        let lines: Vec<&str> = files
            .iter()
            .filter_map(|file| file.relative_to(&from))
            .filter(|file| {
                patterns.is_empty() || patterns.iter().any(|pattern| matches_pathspec(pattern, file))
            })
            .collect();
        // git quotes names with other letters.
        let is_plain = |line: &&str| {
            line.chars().all(|letter| (' '..='~').contains(&letter) && letter != '"' && letter != '\\')
        };
        match ends {
            _ if lines.len() > LISTED => None,
            Ends::Line => lines.iter().all(is_plain).then(|| lines.join("\n")),
            Ends::Nul => Some(lines.iter().flat_map(|line| [*line, "\0"]).collect()),
        }
    }
}

/// What stands behind each name of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// The end of a line; git quotes names then.
    Line,
    /// The character that is in no name.
    Nul,
}

/// Whether a pathspec takes a file: a directory prefix, or a pattern in which `*` crosses slashes.
pub(super) fn matches_pathspec(pattern: &str, file: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if pattern == "." || pattern.is_empty() {
        return true;
    }
    let below = file.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below || Glob::new(pattern, Style::Pathspec).matches(file)
}
