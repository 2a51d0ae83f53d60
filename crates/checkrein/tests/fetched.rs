//! What git brings of the guard out of another repository on this machine, in one command or in two.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use support::{TestEnvironment, decision};

/// A project with settings of a client, and beside it two repositories: one holds settings without hooks, one holds none.
fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("README.md", "a project\n");
    environment.succeed(&["init", "--yes"]);
    for (name, file, text) in [
        ("evil", ".claude/settings.json", "{ \"disableAllHooks\": true }\n"),
        ("good", "src/lib.rs", "pub fn answer() {}\n"),
    ] {
        let folder = environment.home().join(name);
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let script =
            "git init -q -b main && git add -A && git -c user.name=a -c user.email=a@b commit -qm all";
        assert!(
            environment.command("sh").args(["-c", script]).current_dir(&folder).status().unwrap().success()
        );
    }
    environment
}

const WAYS: [&str; 7] = [
    "git fetch -q ~/REPO && git checkout -q FETCH_HEAD -- .",
    "git fetch -q ~/REPO && git checkout -q FETCH_HEAD",
    "git fetch -q ~/REPO main:theirs && git checkout -q theirs",
    "git fetch -q ~/REPO '+refs/heads/*:refs/heads/of/*' && git switch -q of/main",
    "git remote add there ~/REPO; git fetch -q there && git switch -q --detach there/main",
    "git fetch -q ~/REPO; git merge -q --allow-unrelated-histories FETCH_HEAD",
    "git pull -q ~/REPO main --allow-unrelated-histories",
];

#[test]
fn settings_without_hooks_are_asked_about_and_other_files_are_not() {
    let environment = environment();
    for way in WAYS {
        let asked = environment.bash("s", &way.replace("REPO", "evil"));
        assert!(matches!(decision(&asked), Some("ask" | "deny")), "{way}: {asked}");
        let passed = environment.bash("s", &way.replace("REPO", "good"));
        assert_eq!(decision(&passed), None, "{way}: {passed}");
    }
}

/// What a bundle holds is not read, so it may be anything.
#[test]
fn what_comes_out_of_a_bundle_is_asked_about() {
    let environment = environment();
    let script = "git -C ~/good bundle create -q ../good.bundle main";
    assert!(environment.command("sh").args(["-c", script]).status().unwrap().success());
    for way in
        ["git checkout -q FETCH_HEAD", "git checkout -q FETCH_HEAD -- .", "git reset -q --hard FETCH_HEAD"]
    {
        let asked = environment.bash("s", &format!("git fetch -q ~/good.bundle main && {way}"));
        assert!(matches!(decision(&asked), Some("ask" | "deny")), "{way}: {asked}");
    }
    let passed =
        environment.bash("s", "git fetch -q https://git.example/a/b main && git checkout -q FETCH_HEAD");
    assert_eq!(decision(&passed), None, "what a remote has is work: {passed}");
}

#[test]
fn what_was_fetched_before_is_known() {
    let environment = environment();
    for (repository, stopped) in [("evil", true), ("good", false)] {
        let path = environment.home().join(repository);
        environment.git(&["fetch", "-q", path.to_str().unwrap()]);
        for command in
            ["git checkout -q FETCH_HEAD -- .", "git merge -q --allow-unrelated-histories FETCH_HEAD"]
        {
            let answer = environment.bash("s", command);
            assert_eq!(matches!(decision(&answer), Some("ask" | "deny")), stopped, "{command}: {answer}");
        }
    }
}

/// A branch of a clone in which the settings of the client are no more.
#[test]
fn a_branch_of_a_clone_that_takes_settings_away_is_asked_about() {
    let environment = TestEnvironment::new();
    environment.write("README.md", "a project\n");
    environment.succeed(&["init", "--yes", "--local"]);
    environment.git(&["add", "-A", "-f"]);
    environment.commit("all");
    let script = "git clone -q \"$0\" clone && cd clone && git config user.name a && git config user.email a@b \
        && git checkout -q -b without && git rm -qr .claude && git commit -qm without \
        && git checkout -q -b more HEAD~1 && echo > more && git add more && git commit -qm more";
    let made = environment
        .command("sh")
        .args(["-c", script])
        .arg(environment.project())
        .current_dir(environment.home())
        .status()
        .unwrap();
    assert!(made.success());
    for way in [
        "git pull -q ~/clone BRANCH",
        "git pull -q --rebase ~/clone BRANCH",
        "git fetch -q ~/clone BRANCH && git merge -q FETCH_HEAD",
        "git fetch -q ~/clone BRANCH && git reset -q --hard FETCH_HEAD",
        "git remote add there ~/clone; git pull -q there BRANCH",
    ] {
        let asked = environment.bash("s", &way.replace("BRANCH", "without"));
        assert!(matches!(decision(&asked), Some("ask" | "deny")), "{way}: {asked}");
        let passed = environment.bash("s", &way.replace("BRANCH", "more"));
        assert_eq!(decision(&passed), None, "{way}: {passed}");
    }
}

/// A work tree of a commit that holds what the guard reads, copied over the home directory by the same command.
#[test]
fn a_work_tree_that_is_copied_over_the_home_directory_is_looked_through() {
    let environment = environment();
    environment.git(&["checkout", "-q", "-b", "evil"]);
    environment.write(".config/checkrein/config.yaml", "mode: observe\n");
    environment.git(&["add", "-A", "-f", ".config"]);
    environment.commit("evil");
    environment.git(&["checkout", "-q", "main"]);
    for command in [
        "git worktree add -q ../w evil; cp -a ../w/. ~",
        "git worktree add ../w evil && cp -rT ../w ~",
        "git worktree add -q ../w evil; rsync -a ../w/ ~/",
    ] {
        let asked = environment.bash("s", command);
        assert!(matches!(decision(&asked), Some("ask" | "deny")), "{command}: {asked}");
    }
    let passed = environment.bash("s", "git worktree add -q ../w main; cp -a ../w/. ../copy");
    assert_eq!(decision(&passed), None, "{passed}");
}
