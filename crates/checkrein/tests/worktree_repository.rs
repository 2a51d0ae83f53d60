//! What an agent in a worktree does to the repository that all work trees share is told and can be taken back; and a merge is whole or not at
//! all, whoever is killed meanwhile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use support::TestEnvironment;

struct Project {
    environment: TestEnvironment,
}

impl Project {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write("src/lib.rs", "pub fn one() {}\n");
        environment.git(&["add", "-A"]);
        environment.commit("second");
        Self { environment }
    }

    fn run(&self, name: &str, script: &str) -> Output {
        self.environment.checkrein(&["run", "--worktree", name, "--", "bash", "-c", script])
    }

    fn diff(&self, name: &str) -> Json {
        serde_json::from_str(&self.environment.succeed(&["--json", "worktree", "diff", name])).unwrap()
    }

    /// What was changed in the repository, in words.
    fn changes(&self, name: &str) -> Vec<String> {
        let changes = self.diff(name)["repository"]["changes"].clone();
        changes.as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap().to_owned()).collect()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", words(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn try_git(&self, arguments: &[&str]) -> Output {
        self.environment.command("git").args(arguments).output().unwrap()
    }

    /// Where a worktree is.
    fn place(&self, name: &str) -> String {
        let listed = self.environment.succeed(&["--json", "worktree", "list"]);
        let mut worktrees = listed.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        worktrees.find(|one| one["name"] == name).unwrap()["path"].as_str().unwrap().to_owned()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.environment.project().join(path)
    }
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Every file below a folder with its content, but for version control.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in fs::read_dir(place).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            } else {
                found.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_a_run_throws_away_in_the_repository_is_told_and_comes_back() {
    let project = Project::new();
    let environment = &project.environment;
    environment.git(&["checkout", "-q", "-b", "feat"]);
    environment.write("feature.txt", "work of weeks\n");
    environment.git(&["add", "-A"]);
    environment.commit("feature");
    let feature = project.git(&["rev-parse", "HEAD"]);
    environment.git(&["checkout", "-q", "main"]);
    environment.write("README.md", "# stashed\n");
    let author = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"];
    environment.git(&[&author[..], &["stash", "-q"]].concat());
    let stash = project.git(&["rev-parse", "stash@{0}"]);
    let main = project.git(&["rev-parse", "main"]);

    let output = project.run(
        "w",
        "git branch -q -D feat; git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now; git tag agent; \
         git update-ref refs/heads/main HEAD~1",
    );
    let said = words(&output);
    assert!(output.status.success(), "{said}");
    assert!(!project.try_git(&["cat-file", "-e", &feature]).status.success(), "git has really lost it");
    let told = project.changes("w");
    for what in [
        "branch `feat` is gone",
        "the stash is gone",
        "tag `agent` is new",
        "branch `main` moved from",
        "reflog",
    ] {
        assert!(told.iter().any(|change| change.contains(what)), "{what}: {told:?}");
        assert!(said.contains(what), "{what} was not said at the end: {said}");
    }
    assert!(
        !told.iter().any(|change| change.contains("checkrein/w")),
        "its own branch is expected: {told:?}"
    );
    let undo = project.diff("w")["repository"]["undo"][0].as_str().unwrap().to_owned();
    let mut arguments: Vec<&str> = undo.split(' ').skip(1).collect();
    arguments.extend(["--yes", "--force"]);
    environment.succeed(&arguments);
    assert_eq!(project.git(&["rev-parse", "feat", "main"]), format!("{feature}\n{main}"));
    assert_eq!(project.git(&["show", "feat:feature.txt"]), "work of weeks");
    assert_eq!(project.git(&["rev-parse", "stash@{0}"]), stash);
    assert!(project.git(&["stash", "show", "-p"]).contains("+# stashed"));
}

#[test]
fn what_git_goes_on_with_and_where_objects_come_from_is_told() {
    let project = Project::new();
    let environment = &project.environment;
    let own = environment.project();
    let adding =
        ["-c", "protocol.file.allow=always", "submodule", "add", "-q", own.to_str().unwrap(), "inner"];
    environment.git(&adding);
    environment.commit("inner");
    let output = project.run(
        "w",
        "common=$(git rev-parse --git-common-dir); mkdir -p $common/rebase-merge; echo 'exec touch owned' > $common/rebase-merge/git-rebase-todo; \
         echo 1 > $common/MERGE_HEAD; rm $common/index; : > $common/index.lock; echo /elsewhere > $common/objects/info/alternates; \
         echo 1 > $common/shallow; rm $common/shallow; printf '#!/bin/sh\\n' > $common/modules/inner/hooks/post-checkout; \
         git config -f $common/modules/inner/config core.pager evil; rm $common/objects/info/alternates; echo '# x' > $common/objects/info/alternates",
    );
    let said = words(&output);
    let told = project.changes("w");
    for what in [
        "`rebase-merge/git-rebase-todo` of the repository is new",
        "`MERGE_HEAD` of the repository is new",
        "what was staged in the main work tree is gone",
        "`index.lock` of the repository is new",
        "`objects/info/alternates` of the repository is new",
        "`modules/inner/hooks/post-checkout` of the repository is new",
        "`modules/inner/config`: setting `core.pager` is new or changed: evil",
    ] {
        assert!(told.iter().any(|change| change.contains(what)), "{what}: {told:?}");
        assert!(said.contains(what), "{what} was not said at the end: {said}");
    }
}

#[test]
fn how_git_reads_files_goes_back_too() {
    let project = Project::new();
    let files = ["info/attributes", "info/grafts", "info/sparse-checkout"];
    let written = files.map(|file| format!("echo '# x' > $common/{file}")).join("; ");
    project.run("w", &format!("common=$(git rev-parse --git-common-dir); {written}; echo x > new.txt"));
    let shared = project.diff("w")["repository"].clone();
    let mut said = String::new();
    for undo in shared["undo"].as_array().unwrap() {
        let mut arguments: Vec<&str> = undo.as_str().unwrap().split(' ').skip(1).collect();
        arguments.extend(["--yes", "--force"]);
        let taken = project.environment.checkrein(&arguments);
        assert!(taken.status.success(), "{undo}: {}", words(&taken));
        said.push_str(&words(&taken));
    }
    for file in files {
        assert!(!project.path(&format!(".git/{file}")).exists(), "{file}: {said}");
    }
}

#[test]
fn hooks_and_settings_that_git_would_run_are_told_before_anything_is_merged() {
    let project = Project::new();
    let output = project.run(
        "w",
        "common=$(git rev-parse --git-common-dir); printf '#!/bin/sh\\ntouch pwned\\n' > $common/hooks/pre-commit; chmod +x $common/hooks/pre-commit; \
         git config core.pager evil; git config alias.st '!evil'; echo change > new.txt",
    );
    assert!(output.status.success(), "{}", words(&output));
    let shared = project.diff("w")["repository"].clone();
    for change in shared["changes"].as_array().unwrap() {
        assert_eq!(change["executes"], true, "{change}");
    }
    assert_eq!(shared["changes"].as_array().unwrap().len(), 3, "{shared}");
    let merged = project.environment.checkrein(&["worktree", "merge", "w", "--yes"]);
    let said = words(&merged);
    assert!(
        merged.status.success() && said.contains("hook `pre-commit` is new") && said.contains("alias.st"),
        "{said}"
    );
    for undo in shared["undo"].as_array().unwrap() {
        let mut arguments: Vec<&str> = undo.as_str().unwrap().split(' ').skip(1).collect();
        arguments.extend(["--yes", "--force"]);
        let taken = project.environment.checkrein(&arguments);
        assert!(taken.status.success(), "{undo}: {}", words(&taken));
    }
    assert!(!project.path(".git/hooks/pre-commit").exists());
    assert!(!project.try_git(&["config", "core.pager"]).status.success());
}

#[test]
fn a_run_that_keeps_to_its_worktree_is_told_nothing_about_the_repository() {
    let project = Project::new();
    let output = project.run(
        "w",
        "echo x > x.txt; git add -A; git -c user.name=a -c user.email=a@localhost commit -q -m work; git status -s",
    );
    assert!(
        output.status.success() && !words(&output).contains("outside of the worktree"),
        "{}",
        words(&output)
    );
    // What a user does afterwards is not the run's.
    project.environment.git(&["tag", "mine"]);
    assert_eq!(project.changes("w"), Vec::<String>::new());
}

#[test]
fn what_others_do_meanwhile_is_not_rewound() {
    let project = Project::new();
    let environment = &project.environment;
    environment.git(&["branch", "lost"]);
    let identity = "git -c user.name=a -c user.email=a@localhost";
    let commit = format!("{identity} commit -q --allow-empty");
    assert!(project.run("other", &format!("{commit} -m first")).status.success());
    let other = project.place("other");
    let before = project.git(&["rev-parse", "main"]);

    let root = environment.project();
    let script = format!(
        "cd {other} && {commit} -m more && cd {} && {commit} -m 'by the user' && git branch -q -D lost",
        root.display()
    );
    let output = project.run("w", &script);
    let said = words(&output);
    assert!(output.status.success(), "{said}");
    let told = project.changes("w").join("\n");
    assert!(!told.contains("checkrein/other"), "the branch of another run went on: {told}");
    assert!(told.contains("branch `main` moved from") && told.contains("by the user"), "{told}");
    assert!(told.contains("branch `lost` is gone"), "{told}");
    // A branch that only grew lost nothing: no command throws away what came.
    let diff = project.diff("w");
    let undo = diff["repository"]["undo"].to_string();
    assert!(!said.contains("update-ref") && !undo.contains("refs/heads/main"), "{said} {undo}");

    // Later work of all of them outlives the commands that take the run's changes back.
    project.git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@localhost",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "later",
    ]);
    let (main, theirs) =
        (project.git(&["rev-parse", "main"]), project.git(&["rev-parse", "checkrein/other"]));
    let commands = project.diff("w")["repository"]["undo"].clone();
    let commands: Vec<String> =
        commands.as_array().unwrap().iter().map(|command| command.as_str().unwrap().to_owned()).collect();
    let [restore] = &commands[..] else { panic!("{commands:?}") };
    let mut arguments: Vec<&str> = restore.split(' ').skip(1).collect();
    arguments.extend(["--yes", "--force"]);
    environment.succeed(&arguments);
    assert_eq!(project.git(&["rev-parse", "lost"]), before);
    assert_eq!(project.git(&["rev-parse", "main"]), main);
    assert_eq!(project.git(&["rev-parse", "checkrein/other"]), theirs);
}

#[test]
fn a_merge_is_whole_or_not_at_all_whenever_it_is_killed() {
    let project = Project::new();
    let environment = &project.environment;
    for number in 0..120 {
        environment.write(&format!("many/f{number}"), &format!("{number}\n").repeat(200));
    }
    environment.git(&["add", "-A"]);
    environment.commit("many");
    environment.write("own.txt", "not committed\n");
    let before = files(&environment.project());
    let mut killed_at_work = 0;
    for round in 0..10_u64 {
        let name = format!("k{round}");
        let output =
            project.run(&name, "for f in many/*; do echo agent >> $f; done; rm many/f7; echo new > many/new");
        assert!(output.status.success(), "{}", words(&output));
        let mut child = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["worktree", "merge", &name, "--yes"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Somewhere between the first question to git and the end, by what is there and not by the clock.
        let started = Instant::now();
        let begins =
            || environment.state().join("worktrees").exists() && is_merging(&environment.state(), &name);
        while child.try_wait().unwrap().is_none() && !begins() && started.elapsed() < Duration::from_mins(1) {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(round * 4));
        if child.try_wait().unwrap().is_none() {
            kill_all_below(child.id());
            killed_at_work += 1;
        }
        child.wait().unwrap();
        let mut again = environment.checkrein(&["worktree", "merge", &name, "--yes"]);
        // A git that was killed with it keeps the lock for a moment longer.
        while words(&again).contains("is in use by process") && started.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(20));
            again = environment.checkrein(&["worktree", "merge", &name, "--yes"]);
        }
        let is_gone = words(&again).contains("there is no worktree");
        assert!(again.status.success() || is_gone, "round {round}: {}", words(&again));
        let merged = files(&environment.project());
        assert_eq!(merged.len(), before.len(), "round {round}: one is gone and one is new");
        assert!(!project.path("many/f7").exists() && project.path("many/new").exists(), "round {round}");
        let all = merged.iter().filter(|(_, text)| text.ends_with(b"agent\n")).count();
        assert_eq!(all, 119, "round {round}");
        assert_eq!(fs::read_to_string(project.path("own.txt")).unwrap(), "not committed\n");
        assert!(!environment.succeed(&["worktree", "list"]).contains(&name), "round {round}");
        environment.git(&["checkout", "-q", "--", "many"]);
        fs::remove_file(project.path("many/new")).unwrap();
    }
    assert!(killed_at_work > 0, "nothing was ever killed");
}

fn is_merging(state: &Path, name: &str) -> bool {
    let projects = fs::read_dir(state.join("worktrees")).into_iter().flatten().flatten();
    projects.into_iter().any(|project| project.path().join(name).join("merging.json").exists())
}

/// Kills a process and those that it started, the git among them.
fn kill_all_below(pid: u32) {
    let below = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let numbers: Vec<String> = below.split_whitespace().map(str::to_owned).chain([pid.to_string()]).collect();
    drop(Command::new("kill").arg("-9").args(numbers).stderr(Stdio::null()).status());
}

#[test]
fn a_merge_whose_worktree_cannot_go_is_a_merge() {
    let project = Project::new();
    assert!(project.run("w", "echo c > c.txt").status.success());
    // Somebody wants the worktree to stay.
    let place = project.git(&["worktree", "list", "--porcelain"]);
    let place = place.lines().filter_map(|line| line.strip_prefix("worktree ")).next_back().unwrap();
    project.git(&["worktree", "lock", place]);
    let merged = project.environment.checkrein(&["worktree", "merge", "w", "--yes"]);
    let said = words(&merged);
    assert!(merged.status.success() && said.contains("merged; the worktree `w` stays"), "{said}");
    assert_eq!(fs::read_to_string(project.path("c.txt")).unwrap(), "c\n");
}

#[test]
fn a_folder_that_became_a_link_and_a_worktree_that_was_moved_are_said() {
    let project = Project::new();
    assert!(project.run("w", "rm -r src; ln -s /usr/lib src").status.success());
    let said = words(&project.environment.checkrein(&["worktree", "diff", "w"]));
    assert!(
        said.contains("src -> /usr/lib") && said.contains("`src` was a folder and is a link now"),
        "{said}"
    );
    let listed: Json = serde_json::from_str(
        project.environment.succeed(&["--json", "worktree", "list"]).lines().next().unwrap(),
    )
    .unwrap();
    let place = listed["path"].as_str().unwrap();
    let moved = project.environment.home().join("elsewhere");
    fs::rename(place, &moved).unwrap();
    let discarded = project.environment.checkrein(&["worktree", "discard", "w", "--yes"]);
    assert!(
        !discarded.status.success() && words(&discarded).contains(moved.to_str().unwrap()),
        "{}",
        words(&discarded)
    );
    assert!(moved.join("README.md").exists());
    assert!(project.git(&["branch", "--list", "checkrein/w"]).contains("checkrein/w"), "nothing was touched");
    let listed = project.environment.succeed(&["worktree", "list"]);
    assert!(listed.contains("was moved to"), "{listed}");
    fs::rename(&moved, place).unwrap();
    project.environment.succeed(&["worktree", "discard", "w", "--yes"]);
}

#[test]
fn a_file_that_cannot_be_read_keeps_nothing_else_back() {
    let project = Project::new();
    let done = project.run("w", "echo d > d.txt; echo n > new.txt; chmod 000 src/main.rs new.txt");
    assert!(done.status.success());
    let said = words(&project.environment.checkrein(&["worktree", "diff", "w"]));
    assert!(said.contains("d.txt"), "{said}");
    let listed = project.environment.succeed(&["--json", "worktree", "list"]);
    let listed: Json = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let file = Path::new(listed["path"].as_str().unwrap()).join("src/main.rs");
    // Those who may read everything are not kept from it.
    if fs::File::open(&file).is_err() {
        for name in ["src/main.rs", "new.txt"] {
            assert!(said.contains(&format!("`{name}` cannot be read")), "{said}");
        }
    }
    assert!(!said.contains("removed  src"), "{said}");
}

#[test]
fn a_directory_that_cannot_be_read_is_said_and_nothing_in_it_counts_as_gone() {
    let project = Project::new();
    assert!(project.run("w", "echo d > d.txt; chmod 000 src").status.success());
    let said = words(&project.environment.checkrein(&["worktree", "diff", "w"]));
    let listed = project.environment.succeed(&["--json", "worktree", "list"]);
    let listed: Json = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let src = Path::new(listed["path"].as_str().unwrap()).join("src");
    // Those who may read everything are not kept from it.
    if fs::read_dir(&src).is_err() {
        assert!(said.contains("`src` cannot be read"), "{said}");
        let merged = project.environment.checkrein(&["worktree", "merge", "w", "--yes"]);
        assert!(merged.status.success(), "{}", words(&merged));
        let listed = project.environment.succeed(&["worktree", "list"]);
        assert!(listed.contains("merged, and could not be removed"), "{listed}");
    }
    assert!(!said.contains("removed  src"), "{said}");
    fs::set_permissions(src, fs::Permissions::from_mode(0o755)).unwrap();
}
