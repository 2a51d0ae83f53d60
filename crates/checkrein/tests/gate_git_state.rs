//! Gates beside a git that was told to show something else than what is there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Output;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use support::TestEnvironment;
use support::gate_answers::{found, said};

const WRITTEN: &str = "def add(a, b):\n    return a + b\n";
const STUB: &str = "def add(a, b):\n    raise NotImplementedError\n";

/// A repository with a function that is written.
fn branched() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("calc.py", WRITTEN);
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.git(&["branch", "-f", "base"]);
    environment
}

#[test]
fn what_git_was_told_about_files_does_not_hide_their_changes() {
    let gate = |environment: &TestEnvironment| environment.checkrein(&["--json", "gate", "completeness"]);
    // A file as long as before, with the time that git remembers, where only times and lengths count.
    let environment = branched();
    environment.git(&["config", "core.trustctime", "false"]);
    environment.git(&["config", "core.checkStat", "minimal"]);
    let path = environment.project().join("calc.py");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let padded = |text: &str| format!("{text:#<100}\n");
    let (written, stub) = (padded(WRITTEN), padded(STUB));
    environment.write("calc.py", &written);
    environment.git(&["add", "--all"]);
    environment.commit("padded");
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    environment.git(&["update-index", "--refresh"]);
    environment.write("calc.py", &stub);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(found(&gate(&environment)), ["calc.py:2 error not_implemented"]);

    // Attributes of the clone alone, under which the stub is the same text for git.
    let environment = branched();
    environment.write(".git/info/attributes", "*.py ident\n");
    environment.write("calc.py", "def f():\n    return 1  # $Id$\n");
    environment.git(&["add", "--all"]);
    environment.commit("marked");
    let hidden = "def f():\n    return 1  # $Id: \r    raise NotImplementedError $\n";
    environment.write("calc.py", hidden);
    let output = environment.checkrein(&["--json", "gate", "scope", "--allow", "other.py"]);
    assert_eq!(found(&output), ["calc.py:1 error out_of_scope"], "{}", said(&output));
    // Other ends of lines are no change.
    let environment = branched();
    environment.write(".git/info/attributes", "*.py -text\n");
    assert_eq!(gate(&environment).status.code(), Some(0));

    // A file that is gone, and that git was told not to look at.
    let environment = branched();
    environment.git(&["update-index", "--skip-worktree", "calc.py"]);
    fs::remove_file(environment.project().join("calc.py")).unwrap();
    let scope = || environment.checkrein(&["--json", "gate", "scope", "--allow", "other.py"]);
    assert_eq!(found(&scope()), ["calc.py:1 error out_of_scope"]);
    environment.git(&["config", "core.sparseCheckout", "true"]);
    assert_eq!(scope().status.code(), Some(0), "a sparse work tree lacks it on purpose");
}

#[test]
fn a_new_file_that_only_this_clone_hides_is_named() {
    let environment = branched();
    environment.write(".git/info/exclude", "# mine\nhidden.py\n");
    environment.write("hidden.py", STUB);
    environment.write("plain.txt", "text\n");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let named: Vec<_> =
        answer["not_examined"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(named, ["hidden.py", "plain.txt"], "{answer}");
    assert!(said(&output).contains("`.git/info/exclude`"), "{answer}");
    // What the project's own rules hide is in no change and is not named.
    environment.write(".git/info/exclude", "# mine\n");
    environment.write(".gitignore", "hidden.py\n");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert!(!said(&output).contains("hidden.py"), "{}", said(&output));
}

#[test]
fn a_branch_of_a_remote_that_was_set_by_hand_is_not_believed() {
    let environment = branched();
    let remote = environment.project().parent().unwrap().join("remote.git");
    environment.git(&["clone", "--quiet", "--bare", ".", remote.to_str().unwrap()]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.git(&["fetch", "--quiet", "origin"]);
    let head = fs::read_to_string(environment.project().join(".git/HEAD")).unwrap();
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap();
    let name = format!("origin/{branch}");
    environment.write("calc.py", STUB);
    environment.git(&["add", "--all"]);
    environment.commit("stub");
    let gate = || environment.checkrein(&["--json", "gate", "completeness", "--since", &name]);
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);
    // A branch of one's own under the same name is not the remote's.
    environment.git(&["branch", &name]);
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);
    environment.git(&["branch", "-D", &name]);
    let unpushed = || environment.checkrein(&["--json", "gate", "completeness", "--unpushed"]);
    assert_eq!(found(&unpushed()), ["calc.py:2 error not_implemented"]);
    environment.git(&["update-ref", &format!("refs/remotes/{name}"), "HEAD"]);
    let output = gate();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was set by hand"), "{output:?}");
    assert_eq!(found(&unpushed()), ["calc.py:2 error not_implemented"], "it keeps nothing back");
    // What the remote says counts again.
    environment.git(&["fetch", "--quiet", "origin"]);
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);
    environment.git(&["push", "--quiet", "origin", "HEAD"]);
    assert_eq!(gate().status.code(), Some(0), "{:?}", gate());
}

/// Says, in the state directory, that a file with these facts holds what git calls `id`.
fn remember(environment: &TestEnvironment, name: &str, id: &str) {
    let path = environment.project().join(name);
    let facts = fs::metadata(path).unwrap();
    let work_tree = fs::canonicalize(environment.project()).unwrap();
    let digest = hex::encode(Sha256::digest(work_tree.as_os_str().as_bytes()));
    let entry = format!(
        "checkrein contents 1\0{id} {} {} {} {} {} {} {} {name}",
        facts.dev(),
        facts.ino(),
        facts.len(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ctime(),
        facts.ctime_nsec()
    );
    let folder = environment.state().join("contents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(digest), entry).unwrap();
}

#[test]
fn a_file_is_read_again_unless_it_is_the_one_that_was_read() {
    let environment = branched();
    let gate = || environment.checkrein(&["--json", "gate", "completeness"]);
    let committed = environment.command("git").args(["rev-parse", "HEAD:calc.py"]).output().unwrap();
    let committed = said(&committed).trim().to_owned();
    // Git does not look, so that nothing but the list and the bytes tell.
    environment.git(&["update-index", "--assume-unchanged", "calc.py"]);
    environment.write("calc.py", STUB);
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);
    remember(&environment, "calc.py", &committed);
    assert_eq!(found(&gate()), Vec::<String>::new(), "the list spares reading it");

    // The same length, and the time of modification put back.
    let path = environment.project().join("calc.py");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    environment.write("calc.py", STUB);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);

    // What is cut off says nothing.
    remember(&environment, "calc.py", &committed);
    let list = fs::read_dir(environment.state().join("contents")).unwrap().flatten().next().unwrap().path();
    let bytes = fs::read(&list).unwrap();
    fs::write(&list, &bytes[..bytes.len() - 12]).unwrap();
    assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"]);
}

/// What the program says, and the words of each call of git that it makes meanwhile.
fn calls_of_git(environment: &TestEnvironment, arguments: &[&str]) -> (Output, Vec<String>) {
    let real = environment.command("sh").args(["-c", "command -v git"]).output().unwrap();
    let (bin, log) = (environment.home().join("counting"), environment.home().join("calls-of-git"));
    fs::create_dir_all(&bin).unwrap();
    let script =
        format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), said(&real).trim());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    drop(fs::remove_file(&log));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = command.args(arguments).env("PATH", path).output().unwrap();
    (output, fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn git_is_asked_as_often_for_many_files_as_for_few() {
    let environment = TestEnvironment::new();
    let file = |number: usize, text: &str| environment.write(&format!("src/f{number}.py"), text);
    (0..150).for_each(|number| file(number, WRITTEN));
    file(150, STUB);
    environment.git(&["add", "--all"]);
    environment.commit("many");
    // No remote has any of it, nor of what the branch did since.
    let gate = ["--json", "gate", "completeness", "--together", "secrets", "--unpushed"];
    let (output, calls) = calls_of_git(&environment, &gate);
    assert!(said(&output).contains("\"path\": \"src/f150.py\""), "{}", said(&output));
    assert!(calls.len() < 40, "{} calls: {calls:#?}", calls.len());
    (0..150).for_each(|number| file(number, "def add(a, b):\n    return b + a\n"));
    for since in ["HEAD", "base"] {
        environment.git(&["branch", "-f", "base"]);
        let gate = ["--json", "gate", "completeness", "--since", since];
        let (output, calls) = calls_of_git(&environment, &gate);
        assert!(said(&output).contains("\"files\": 150"), "{}", said(&output));
        assert!(calls.len() < 40, "{} calls: {calls:#?}", calls.len());
        environment.git(&["add", "--all"]);
        environment.commit("since");
        environment.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
    }
}

#[test]
fn git_reads_no_file_again_since_its_index_is_out_of_date() {
    let environment = branched();
    let path = environment.project().join("calc.py");
    fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let (output, calls) = calls_of_git(&environment, &["--json", "gate", "completeness"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // What compares trees, or the index with one, looks at no file; without a tree, or with one alone, all are read whose times differ.
    let reads = |call: &&String| {
        let words: Vec<&str> = call.split(' ').collect();
        let trees = words.iter().filter(|word| word.len() == 40).count();
        words[0] == "diff" && !words.contains(&"--cached") && trees < 2
    };
    assert_eq!(calls.iter().filter(reads).collect::<Vec<_>>(), Vec::<&String>::new(), "{calls:#?}");
    assert!(calls.iter().any(|call| call.starts_with("hash-object")), "{calls:#?}");
}

#[test]
fn a_mode_and_a_kind_of_file_are_part_of_a_change() {
    let scope = |environment: &TestEnvironment| {
        found(&environment.checkrein(&["--json", "gate", "scope", "--allow", "other.py"]))
    };
    let environment = branched();
    let path = environment.project().join("calc.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(scope(&environment), ["calc.py:1 error out_of_scope"], "it is a program now");
    environment.git(&["config", "core.fileMode", "false"]);
    assert_eq!(scope(&environment), Vec::<String>::new(), "modes mean nothing here");

    // Links: one that is the same, one that leads elsewhere, one that became a file of the same bytes, and the reverse.
    let environment = branched();
    let project = environment.project();
    for name in ["same", "moved", "filed"] {
        symlink("calc.py", project.join(name)).unwrap();
    }
    environment.write("linked", "calc.py");
    environment.git(&["add", "--all"]);
    environment.commit("links");
    assert_eq!(scope(&environment), Vec::<String>::new());
    for name in ["moved", "filed", "linked"] {
        fs::remove_file(project.join(name)).unwrap();
    }
    symlink("other.py", project.join("moved")).unwrap();
    environment.write("filed", "calc.py");
    symlink("calc.py", project.join("linked")).unwrap();
    let names = ["filed", "linked", "moved"].map(|name| format!("{name}:1 error out_of_scope"));
    assert_eq!(scope(&environment), names);

    // A file that git only intends to add, and one that is to be merged.
    let environment = branched();
    environment.write("new.py", STUB);
    environment.git(&["add", "--intent-to-add", "new.py"]);
    assert_eq!(scope(&environment), ["new.py:1 error out_of_scope"]);
}

#[test]
fn before_the_first_commit_and_without_a_remote_all_that_is_kept_is_judged() {
    // What is staged is otherwise on disk, and there is no commit yet.
    let environment = TestEnvironment::new();
    environment.git(&["checkout", "--quiet", "--orphan", "fresh"]);
    environment.git(&["rm", "--quiet", "-r", "-f", "."]);
    environment.write("calc.py", STUB);
    environment.git(&["add", "--all"]);
    environment.write("calc.py", WRITTEN);
    let unpushed = || environment.checkrein(&["--json", "gate", "completeness", "--unpushed"]);
    assert_eq!(found(&unpushed()), ["calc.py:2 error not_implemented"]);
    // Then it is committed, and otherwise on disk only.
    environment.commit("first");
    assert_eq!(found(&unpushed()), ["calc.py:2 error not_implemented"]);
    environment.git(&["add", "--all"]);
    environment.commit("second");
    assert_eq!(found(&unpushed()), Vec::<String>::new());
}
