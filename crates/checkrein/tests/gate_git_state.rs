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
use std::os::unix::fs::MetadataExt as _;

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
