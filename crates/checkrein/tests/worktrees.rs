//! `checkrein run --worktree` and `checkrein worktree`: an agent works in a place of its own, and what it did comes back by one command
//! or goes by one; whatever it did to that place, to the repository and to the names of its files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::{TestEnvironment, copy_program};

struct Project {
    environment: TestEnvironment,
}

impl Project {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write(".gitignore", "*.log\n.env\n");
        environment.write("poem.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        environment.git(&["add", "-A"]);
        environment.commit("second");
        Self { environment }
    }

    /// The same files in a folder that is no repository.
    fn without_repository() -> Self {
        let project = Self::new();
        fs::remove_dir_all(project.path(".git")).unwrap();
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.environment.project().join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs a script as an agent in the worktree `name`.
    fn run(&self, name: &str, options: &[&str], script: &str) -> Output {
        let agent = ["--", "bash", "-c", script];
        self.environment.checkrein(&[&["run", "--worktree", name], options, &agent].concat())
    }

    /// The same, and it ends well.
    fn ran(&self, name: &str, options: &[&str], script: &str) -> String {
        let output = self.run(name, options, script);
        assert!(output.status.success(), "{}", words(&output));
        words(&output)
    }

    /// Where the worktree `name` is.
    fn worktree(&self, name: &str) -> PathBuf {
        self.list()
            .into_iter()
            .find(|one| one["name"] == name)
            .map(|one| one["path"].as_str().unwrap().into())
            .unwrap()
    }

    fn list(&self) -> Vec<Json> {
        let text = self.environment.succeed(&["--json", "worktree", "list"]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn merged(&self, options: &[&str]) -> Json {
        let text =
            self.environment.succeed(&[&["--json", "worktree", "merge", "task", "--yes"], options].concat());
        serde_json::from_str(&text).unwrap()
    }

    /// What refuses; it has to.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.environment.checkrein(arguments);
        assert!(!output.status.success(), "{arguments:?} was done");
        words(&output)
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = self
            .environment
            .command("git")
            .args(arguments)
            .current_dir(self.environment.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", words(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Every file of the project with its content, but for version control.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut waiting = vec![self.environment.project()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                if kind.is_symlink() {
                    found.push((
                        path.clone(),
                        fs::read_link(path).unwrap().into_os_string().into_encoded_bytes(),
                    ));
                } else if kind.is_dir() {
                    waiting.push(path);
                } else {
                    found.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Commits, does not commit, adds, removes, links, with names that need care.
const WORK: &str = r#"
sed -i s/two/TWO/ poem.txt
git rm -q README.md
mkdir -p deep/er; echo made > "deep/er/with space"; printf made > "$(printf 'line\nbreak')"
git add -A; git -c user.name=agent -c user.email=agent@localhost commit -qm work
echo more >> src/main.rs; echo ignored > trace.log; ln -s /etc/passwd link; chmod +x poem.txt
"#;

// Source: seed 004-28
#[test]
fn what_a_run_did_comes_back_by_one_command_and_is_taken_back_by_another() {
    let project = Project::new();
    let before = project.files();
    let said = project.ran("task", &[], WORK);
    assert!(said.contains("on branch `checkrein/task`"), "{said}");
    assert_eq!(project.files(), before, "the work tree is as it was");
    assert_eq!(project.git(&["status", "--porcelain"]), "");

    let text = project.environment.succeed(&["worktree", "diff", "task", "--stat"]);
    insta::assert_snapshot!("diff_stat", text);
    let diff: Json =
        serde_json::from_str(&project.environment.succeed(&["--json", "worktree", "diff", "task"])).unwrap();
    assert!(diff["patch"].as_str().unwrap().contains("+TWO\n"));

    let merged = project.merged(&[]);
    assert_eq!(merged["merged"].as_array().unwrap().len(), 6);
    assert_eq!(project.read("poem.txt"), "one\nTWO\nthree\nfour\nfive\nsix\nseven\n");
    assert_eq!(project.read("deep/er/with space"), "made\n");
    assert_eq!(project.read("line\nbreak"), "made");
    assert_eq!(fs::read_link(project.path("link")).unwrap(), Path::new("/etc/passwd"));
    assert!(!project.path("README.md").exists() && !project.path("trace.log").exists());
    assert_eq!(project.git(&["branch", "--list", "checkrein/*"]), "");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.list().len(), 0);

    project.environment.succeed(&["undo", "--yes"]);
    assert_eq!(project.files(), before, "the merge is taken back");
}

#[test]
fn a_name_is_no_path_and_nothing_is_made_for_one() {
    let project = Project::new();
    for name in ["", "..", "../x", "/tmp/x", "a/b", "-x", ".x", "a b", "a\nb", "x.lock"] {
        let output = project.run(name, &[], "touch ran");
        assert_eq!(
            output.status.code(),
            Some(if name == "-x" { 1 } else { 125 }),
            "{name:?}: {}",
            words(&output)
        );
    }
    assert_eq!(project.list().len(), 0);
    assert_eq!(project.git(&["branch", "--list", "checkrein/*"]), "");
    assert!(!project.path("ran").exists());
    assert_eq!(project.environment.succeed(&["--json", "runs"]), "", "no run is kept that never was");
}

#[test]
fn what_is_ours_is_gone_on_with_and_what_is_not_is_refused() {
    let project = Project::new();
    project.ran("task", &[], "echo 1 >> poem.txt");
    let said = project.ran("task", &[], "echo 2 >> poem.txt");
    assert!(said.contains("going on in the worktree"), "{said}");
    let place = project.worktree("task");
    assert!(fs::read_to_string(place.join("poem.txt")).unwrap().ends_with("1\n2\n"));

    fs::create_dir(place.with_file_name("folder")).unwrap();
    assert!(words(&project.run("folder", &[], "touch ran")).contains("was not made by a run"));
    project.git(&["branch", "checkrein/branch"]);
    assert!(
        words(&project.run("branch", &[], "touch ran"))
            .contains("there is a branch `checkrein/branch` already")
    );
    assert!(
        project
            .refused(&["worktree", "discard", "folder", "--yes"])
            .contains("there is no worktree `folder`")
    );
    assert!(place.with_file_name("folder").is_dir());
}

#[test]
fn files_of_no_commit_go_along_when_they_are_chosen_and_secrets_when_they_are_named() {
    let project = Project::new();
    for (path, text) in
        [("data/a.csv", "a"), ("data/deep/b.csv", "b"), ("notes", "n"), (".env", "KEY=1"), ("tls.key", "k")]
    {
        project.environment.write(path, text);
    }
    project.environment.write("poem.txt", "changed\n");
    project.environment.write("checkrein.yaml", "mode: enforce\n");
    let list = "git ls-files --others --cached | sort; cat poem.txt | head -1; ls -A .env tls.key 2>/dev/null || true";
    let shown = |name: &str, options: &[&str]| {
        let output = project.run(name, options, list);
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = shown("plain", &[]);
    assert!(
        plain.contains("checkrein.yaml") && plain.contains("\none\n"),
        "the policy always goes along: {plain}"
    );
    assert!(!plain.contains("notes") && !plain.contains("data"), "{plain}");
    let some = shown("some", &["--carry", "data/**/*.csv", "--carry", ".env"]);
    assert!(
        some.contains("data/a.csv") && some.contains("data/deep/b.csv") && some.contains(".env"),
        "{some}"
    );
    assert!(!some.contains("notes") && some.contains("\none\n"), "{some}");
    let changes = shown("changes", &["--carry-changes"]);
    assert!(changes.contains("notes") && changes.contains("\nchanged\n"), "{changes}");
    assert!(!changes.contains("tls.key") && !changes.contains(".env"), "secrets stay: {changes}");
    assert_eq!(project.environment.succeed(&["worktree", "diff", "changes"]), "nothing is changed\n");
}

#[test]
fn both_sides_stay_as_they_were_when_both_changed_the_same() {
    let project = Project::new();
    project.ran("task", &["--carry-changes"], "sed -i s/two/TWO/ poem.txt; echo new > new.txt");
    // Changed elsewhere in a commit: fits.
    project.environment.write("poem.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    project.git(&["-c", "user.name=dev", "-c", "user.email=d@l", "commit", "-qam", "mine"]);
    project.environment.write("src/main.rs", "not committed, but elsewhere\n");
    // The same line: does not.
    project.environment.write("poem.txt", "one\n2\nthree\nfour\nfive\nsix\nSEVEN\n");
    let before = project.files();
    let conflict = project.refused(&["worktree", "merge", "task", "--yes"]);
    assert!(conflict.contains("both the run and the work tree changed `poem.txt`"), "{conflict}");
    // Another line, but in no commit.
    project.environment.write("poem.txt", "one\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n");
    let overlap = project.refused(&["worktree", "merge", "task", "--yes"]);
    assert!(overlap.contains("not committed: `poem.txt`"), "{overlap}");
    project.environment.write("poem.txt", "one\n2\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(project.files(), before);
    // A file in the way that version control does not know.
    project.git(&["checkout", "-q", "poem.txt"]);
    project.environment.write(".gitignore", "*.log\n.env\nnew.txt\n");
    project.environment.write("new.txt", "mine\n");
    let way = project.refused(&["worktree", "merge", "task", "--yes"]);
    assert!(way.contains("do not fit the work tree"), "{way}");
    assert_eq!(project.read("new.txt"), "mine\n");
    fs::remove_file(project.path("new.txt")).unwrap();
    project.merged(&[]);
    assert_eq!(project.read("poem.txt"), "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(project.read("src/main.rs"), "not committed, but elsewhere\n");
}

#[test]
fn what_guards_agents_is_not_changed_by_a_merge_unless_a_person_wants_it() {
    let project = Project::new();
    project.environment.write("checkrein.yaml", "mode: enforce\n");
    let script =
        "echo mode: observe > checkrein.yaml; mkdir -p .claude; echo {} > .claude/settings.json; echo x > x";
    project.ran("task", &[], script);
    let merged = project.merged(&["--keep"]);
    assert_eq!(merged["left_behind"], serde_json::json!(["checkrein.yaml", ".claude/settings.json"]));
    assert_eq!(merged["merged"], serde_json::json!(["x"]));
    assert_eq!(project.read("checkrein.yaml"), "mode: enforce\n");
    assert!(!project.path(".claude").exists());
    project.merged(&["--with-guard-files", "--keep"]);
    // The record of a merge is no agent at work.
    let watched = project.environment.succeed(&["watch", "--once"]);
    assert!(watched.contains("no session is running"), "{watched}");
}

// Source: seed 004-27
#[test]
fn what_is_discarded_is_saved_first() {
    let project = Project::new();
    project.ran("task", &[], WORK);
    let text = project.environment.succeed(&["--json", "worktree", "discard", "task", "--yes"]);
    let removed = serde_json::from_str::<Json>(&text).unwrap()["removed"].clone();
    assert_eq!(removed["branch"], "deleted");
    assert_eq!(project.git(&["branch", "--list", "checkrein/*"]), "");
    let snapshot = removed["snapshot"].to_string();
    let copy = project.environment.home().join("copy");
    project.environment.succeed(&["snapshot", "export", &snapshot, copy.to_str().unwrap()]);
    let found = project
        .environment
        .command("find")
        .args([copy.to_str().unwrap(), "-name", "*.log"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains("trace.log"), "also what is ignored");
    project.git(&[
        "fetch",
        "-q",
        removed["commits"].as_str().unwrap(),
        "refs/heads/checkrein/task:refs/heads/again",
    ]);
    assert_eq!(project.git(&["log", "-1", "--format=%s", "again"]), "work\n");
}

#[test]
fn a_branch_that_somebody_else_uses_stays() {
    let project = Project::new();
    project.ran("task", &[], "git -c user.name=a -c user.email=a@l commit -q --allow-empty -m work");
    let elsewhere = project.environment.home().join("elsewhere");
    project.git(&["worktree", "add", "-q", "--force", elsewhere.to_str().unwrap(), "checkrein/task"]);
    let text = project.environment.succeed(&["--json", "worktree", "discard", "task", "--yes"]);
    let removed = serde_json::from_str::<Json>(&text).unwrap()["removed"].clone();
    assert_eq!(removed["branch"], "kept: `checkrein/task` is checked out elsewhere");
    assert!(elsewhere.join("poem.txt").exists());
}

#[test]
fn nobody_is_led_out_of_a_worktree_by_what_stands_in_its_place() {
    type Swap = fn(&Path, &Path);
    let swaps: [(&str, Swap); 4] = [
        ("is a link now", |place, precious| symlink(precious, place).unwrap()),
        ("is not the folder that was made", |place, _| fs::create_dir(place).unwrap()),
        ("is not the folder that was made", |place, _| fs::write(place, "").unwrap()),
        ("the way to", |place, precious| {
            let above = place.parent().unwrap();
            fs::rename(place.with_extension("aside"), precious.join("task")).unwrap();
            fs::remove_dir(above).unwrap();
            symlink(precious, above).unwrap();
        }),
    ];
    for (why, swap) in swaps {
        let project = Project::new();
        project.ran("task", &[], WORK);
        let place = project.worktree("task");
        let precious = project.environment.home().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "kept").unwrap();
        fs::rename(&place, place.with_extension("aside")).unwrap();
        swap(&place, &precious);
        for command in ["diff", "merge", "discard"] {
            let options: &[&str] = if command == "diff" { &[] } else { &["--yes"] };
            let said = project.refused(&[&["worktree", command, "task"], options].concat());
            assert!(said.contains(why), "{command}: {said}");
        }
        assert!(words(&project.run("task", &[], "touch ran")).contains(why));
        assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "kept");
        assert!(!precious.join("ran").exists());
    }
}

/// Everything in a repository that can make git run a program, each leaving a mark.
const TRAPS: &str = r#"
mark() { printf '#!/bin/sh\necho %s >> %s\ncat\n' "$1" "$MARKS" > "$HOME/trap-$1"; chmod +x "$HOME/trap-$1"; echo "$HOME/trap-$1"; }
main=$(cd "$(git rev-parse --git-common-dir)" && pwd)
git config core.fsmonitor "$(mark fsmonitor)"
git config core.pager "$(mark pager)"
git config diff.external "$(mark external)"
git config diff.evil.textconv "$(mark textconv)"
git config diff.evil.command "$(mark command)"
git config filter.evil.clean "$(mark clean)"
git config filter.evil.smudge "$(mark smudge)"
git config filter.evil.process "$(mark process)"
git config filter.evil.required true
git config merge.evil.driver "$(mark driver)"
git config core.hooksPath "$HOME/hooks"
mkdir -p "$HOME/hooks"
for hook in post-checkout pre-commit post-merge reference-transaction post-index-change; do cp "$(mark hook)" "$HOME/hooks/$hook"; done
echo '* filter=evil diff=evil merge=evil' > .gitattributes
mkdir inner; git init -q inner; git -C inner config core.fsmonitor "$(mark inner)"
echo changed > poem.txt; echo new > new.txt
: > "$MARKS"
rm .git; mkdir fake; git init -q --bare fake/.git; printf 'gitdir: %s/fake/.git\n' "$PWD" > .git
git --git-dir=fake/.git config core.fsmonitor "$(mark fake)"
: > "$MARKS"
"#;

#[test]
fn nothing_that_an_agent_wrote_into_the_repository_is_run() {
    let project = Project::new();
    let marks = project.environment.home().join("marks");
    let script = format!("export MARKS='{}'; {TRAPS}", marks.display());
    project.ran("task", &[], &script);
    let unmarked = || assert_eq!(fs::read_to_string(&marks).unwrap(), "", "a program of the agent ran");
    project.environment.succeed(&["worktree", "diff", "task"]);
    unmarked();
    project.environment.succeed(&["worktree", "list"]);
    let merged = project.merged(&[]);
    unmarked();
    assert!(merged["merged"].as_array().unwrap().iter().any(|path| path == "poem.txt"), "{merged}");
    assert_eq!(project.read("poem.txt"), "changed\n");
    let said = project.ran("other", &[], "true");
    assert!(said.contains("is not run for worktrees: diff.evil, filter.evil, merge.evil"), "{said}");
    project.environment.succeed(&["worktree", "discard", "other", "--yes"]);
    unmarked();
}

#[test]
fn a_folder_that_is_no_repository_is_copied_and_merged() {
    let project = Project::without_repository();
    symlink("/etc/passwd", project.path("link")).unwrap();
    for path in ["tls.key", "named.key", "kept.log", "other.log"] {
        project.environment.write(path, "x\n");
    }
    let before = project.files();
    let listed = project.run("look", &["--carry", "*.log", "--carry", "named.key"], "ls");
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed, "README.md\nkept.log\nlink\nnamed.key\nother.log\npoem.txt\nsrc\n");
    project.environment.succeed(&["worktree", "discard", "look", "--yes"]);
    let script = "sed -i s/two/TWO/ poem.txt; rm README.md; mkdir -p new/deep; echo n > 'new/deep/a b'; rm link; ln -s other link; echo l > x.log";
    project.ran("task", &[], script);
    assert_eq!(project.files(), before);
    let diff = project.environment.succeed(&["worktree", "diff", "task"]);
    assert!(diff.contains("-two\n+TWO\n"), "{diff}");
    assert!(!diff.contains("x.log"), "{diff}");
    project.environment.write("poem.txt", "mine\n");
    let conflict = project.refused(&["worktree", "merge", "task", "--yes"]);
    assert!(conflict.contains("both the run and the folder changed `poem.txt`"), "{conflict}");
    assert!(project.path("README.md").exists() && !project.path("new").exists());
    project.environment.write("poem.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    project.merged(&[]);
    assert_eq!(project.read("poem.txt"), "one\nTWO\nthree\nfour\nfive\nsix\nseven\n");
    assert_eq!(project.read("new/deep/a b"), "n\n");
    assert_eq!(fs::read_link(project.path("link")).unwrap(), Path::new("other"));
    assert!(!project.path("README.md").exists());
    assert_eq!(project.list().len(), 0);
    project.environment.succeed(&["undo", "--yes"]);
    assert_eq!(project.files(), before);
}

#[test]
fn a_group_that_cannot_be_set_is_no_reason_not_to_copy() {
    const USER: u32 = 61_301;
    const NOT_THEIRS: u32 = 61_302;
    let project = Project::without_repository();
    let folder = project.environment.home();
    let owned =
        project.environment.command("chown").args(["-R", &format!("{USER}:{USER}")]).arg(&folder).status();
    // Only who is privileged can make a file of a group that somebody else is not in, and become somebody else.
    if !owned.unwrap().success() {
        return not_run("this user cannot give files away");
    }
    std::os::unix::fs::chown(project.path("poem.txt"), None, Some(NOT_THEIRS)).unwrap();
    let top = folder.ancestors().find(|above| above.parent() == Some(Path::new("/tmp"))).unwrap();
    fs::set_permissions(top, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Where the programs were built others may have no way in.
    let program = folder.join("checkrein");
    if fs::hard_link(env!("CARGO_BIN_EXE_checkrein"), &program).is_err() {
        copy_program(env!("CARGO_BIN_EXE_checkrein"), &program);
    }
    let output = project
        .environment
        .command("setpriv")
        .args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"])
        .arg(&program)
        .args(["run", "--worktree", "task", "--", "sh", "-c", "stat -c %g poem.txt; cat poem.txt"])
        .output()
        .unwrap();
    let text = words(&output);
    assert!(output.status.success(), "{text}");
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.contains("seven") && seen.contains(&USER.to_string()), "{seen}");
    assert!(text.contains("poem.txt") && text.contains("owner not put back"), "it is said: {text}");
}

/// Merges a changed file of another group, as root who may set it, and as a user who may not; the group afterwards and the answer.
fn merged_as(project: &Project, user: Option<u32>, group: u32) -> Option<(u32, Json)> {
    let folder = project.environment.home();
    let program = folder.join("checkrein");
    if fs::hard_link(env!("CARGO_BIN_EXE_checkrein"), &program).is_err() {
        copy_program(env!("CARGO_BIN_EXE_checkrein"), &program);
    }
    let poem = project.path("poem.txt");
    if let Some(user) = user {
        let owned = project
            .environment
            .command("chown")
            .args(["-R", &format!("{user}:{user}")])
            .arg(&folder)
            .status();
        owned.unwrap().success().then_some(())?;
        let top = folder.ancestors().find(|above| above.parent() == Some(Path::new("/tmp"))).unwrap();
        fs::set_permissions(top, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    std::os::unix::fs::chown(&poem, None, Some(group)).ok()?;
    fs::set_permissions(&poem, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = match user {
            None => project.environment.command(program.to_str().unwrap()),
            Some(user) => {
                let mut command = project.environment.command("setpriv");
                let user = user.to_string();
                command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(&program);
                command
            }
        };
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        output.stdout
    };
    run(&["run", "--worktree", "task", "--", "sh", "-c", "echo more >> poem.txt"]);
    let told = run(&["--json", "worktree", "merge", "task", "--yes"]);
    let facts = fs::metadata(&poem).unwrap();
    assert!(fs::read_to_string(&poem).unwrap().contains("more"));
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&facts) & 0o777, 0o640);
    Some((std::os::unix::fs::MetadataExt::gid(&facts), serde_json::from_slice(&told).unwrap()))
}

#[test]
fn a_merge_keeps_the_group_of_a_file_or_says_that_it_is_lost() {
    const USER: u32 = 61_303;
    const NOT_THEIRS: u32 = 61_304;
    for project in [Project::new, Project::without_repository] {
        let Some((group, told)) = merged_as(&project(), None, NOT_THEIRS) else {
            return not_run("this user cannot give files away");
        };
        assert_eq!((group, &told["lost_groups"]), (NOT_THEIRS, &json!([])), "{told}");
        let (group, told) = merged_as(&project(), Some(USER), NOT_THEIRS).unwrap();
        assert_eq!(
            (group, &told["lost_groups"]),
            (USER, &json!([{ "path": "poem.txt", "group": NOT_THEIRS }])),
            "{told}"
        );
    }
}

#[test]
fn the_guard_sees_the_worktree_as_the_workspace() {
    let project = Project::new();
    // What lies below the temporary directory is in nobody's way, so this home lies elsewhere.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let home = fs::canonicalize(folder.path()).unwrap();
    let copied =
        project.environment.command("cp").arg("-a").args([&project.environment.project(), &home]).status();
    assert!(copied.unwrap().success());
    let check = |command: &str| {
        let script = format!("{} --json check '{command}' || true", env!("CARGO_BIN_EXE_checkrein"));
        let output = project
            .environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["run", "--worktree", "task", "--", "bash", "-c", &script])
            .env("HOME", &home)
            .current_dir(home.join("project"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<Json>(&text).unwrap_or_else(|_| panic!("{text}{}", words(&output)))
    };
    let inside = check("echo x > poem.txt");
    let outside = check(&format!("echo x > {}", home.join("project/poem.txt").display()));
    let has = |review: &Json| review["risk"]["factors"].to_string().contains("out_of_scope");
    assert!(!has(&inside), "{inside}");
    assert!(has(&outside), "{outside}");
}

#[test]
fn people_read_what_there_is_and_what_was_done() {
    let project = Project::new();
    project.ran("task", &[], WORK);
    let run = project.list()[0]["run"].as_str().unwrap().to_owned();
    let stable = |text: &str| {
        let home = project.environment.home().display().to_string();
        let text = text.replace(&run, "the-name-of-this-run").replace(&home, "HOME");
        let line = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "N").trim_end().to_owned();
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    let all = |arguments: &[&str]| {
        let output = project.environment.checkrein(arguments);
        stable(&(String::from_utf8_lossy(&output.stdout).into_owned() + &words(&output)))
    };
    insta::assert_snapshot!("list", all(&["worktree", "list"]));
    insta::assert_snapshot!("runs", all(&["runs"]));
    insta::assert_snapshot!("merge_unasked", all(&["worktree", "merge", "task"]));
    insta::assert_snapshot!("discard", all(&["worktree", "discard", "task", "--yes"]));
    insta::assert_snapshot!("missing", all(&["worktree", "diff", "task"]));
}

#[test]
fn agents_neither_merge_nor_discard() {
    let project = Project::new();
    project.ran("task", &[], "echo x > x");
    for command in ["merge", "discard"] {
        let output = project
            .environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["worktree", command, "task", "--yes"])
            .env("CLAUDECODE", "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(words(&output).contains("is for humans only"));
    }
    assert_eq!(project.list().len(), 1);
    assert!(!project.path("x").exists());
}

#[test]
fn worktrees_are_neither_among_our_files_nor_in_the_work_tree() {
    let project = Project::new();
    let at = |place: PathBuf| {
        let output = project
            .environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["run", "--worktree", "task", "--", "true"])
            .env("CHECKREIN_WORKTREES", place)
            .output()
            .unwrap();
        (output.status.code(), words(&output))
    };
    assert!(at(project.environment.state().join("trees")).1.contains("among the files of checkrein itself"));
    assert!(at(project.path("trees")).1.contains("lies in it"));
    let elsewhere = project.environment.home().join("else where");
    assert_eq!(at(elsewhere.clone()).0, Some(0));
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 1);
}
