//! What stands in the way of an undo, and what was written after an undo was cut off, stays; everything else comes back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for (path, text) in [
        ("docs/README.md", "docs\n"),
        ("docs/deep/guide.md", "guide\n"),
        ("tests/one.py", "one\n"),
        ("config/a.yaml", "a\n"),
        ("TODO", "todo\n"),
        (".gitignore", "build/\n"),
    ] {
        environment.write(path, text);
    }
    std::os::unix::fs::symlink("a.yaml", environment.project().join("config/current")).unwrap();
    environment.git(&["add", "-A"]);
    environment.commit("all");
    environment
}

fn run(environment: &TestEnvironment, command: &str) {
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
}

fn undo(environment: &TestEnvironment, more: &[&str]) -> String {
    let output = environment.checkrein(&[&["undo", "--yes"], more].concat());
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Everything in the work tree that nobody put there.
fn litter(environment: &TestEnvironment) -> String {
    let found = environment.command("find").args([".", "-name", ".checkrein-restore-*"]).output().unwrap();
    String::from_utf8(found.stdout).unwrap()
}

/// Below a link nothing stood: what is new there goes, unless somebody else made it.
#[test]
fn a_directory_in_the_place_of_a_link_goes_with_what_was_made_in_it() {
    let command =
        "rm config/current && mkdir config/current && cp config/*.yaml config/current/ && rm -rf docs";
    for meanwhile in ["true", "echo mine > config/current/mine"] {
        let environment = environment();
        run(&environment, command);
        environment.command("bash").args(["-c", meanwhile]).status().unwrap();
        let said = undo(&environment, &[]);
        let current = environment.project().join("config/current");
        if meanwhile == "true" {
            assert_eq!(fs::read_link(&current).ok(), Some("a.yaml".into()), "{said}");
        } else {
            assert_eq!(fs::read_to_string(current.join("mine")).ok().as_deref(), Some("mine\n"), "{said}");
        }
        assert!(environment.project().join("docs/deep/guide.md").exists(), "{said}");
    }
}

#[test]
fn what_stands_in_the_way_stays_and_the_rest_comes_back() {
    // What the agent did, what a user did afterwards, what stands in the way then, and what is back.
    let rows: [(&str, &str, &str, &[&str]); 5] = [
        ("rm -rf docs tests", "echo mine > docs", "docs", &["tests/one.py"]),
        ("rm -rf docs tests", "ln -s config docs", "docs", &["tests/one.py"]),
        ("rm TODO && rm -rf tests", "mkdir TODO; echo mine > TODO/p", "TODO", &["tests/one.py"]),
        ("rm TODO && rm -rf tests", "mkdir -p TODO/build && touch TODO/build/o", "TODO", &["tests/one.py"]),
        ("rm -rf docs/deep tests", "echo mine > docs/deep", "docs/deep", &["tests/one.py"]),
    ];
    for (command, meanwhile, way, back) in rows {
        let environment = environment();
        let kept = |environment: &TestEnvironment| {
            let listed = environment.command("find").args([way, "-printf", "%p %y %s\n"]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap()
        };
        run(&environment, command);
        environment.command("bash").args(["-c", meanwhile]).status().unwrap();
        let before = kept(&environment);
        assert!(!before.is_empty(), "{command}");
        let said = undo(&environment, &[]);
        for path in back {
            assert!(environment.project().join(path).exists(), "{command}: {path} is not back: {said}");
        }
        assert_eq!(kept(&environment), before, "{command}: {said}");
        assert!(said.contains(way), "{command}: {said}");
        assert_eq!(litter(&environment), "", "{command}: {said}");
        // Nothing is left to be finished.
        let listed = environment.checkrein(&["snapshot", "list"]);
        let listed = String::from_utf8_lossy(&listed.stderr).into_owned();
        assert!(!listed.contains("interrupted"), "{command}: {listed}");
    }
}

#[test]
fn what_was_written_after_an_undo_was_cut_off_stays() {
    let environment = environment();
    for number in 0..1500 {
        environment.write(&format!("many/f{number}"), "old\n");
    }
    environment.git(&["add", "-A"]);
    environment.commit("many");
    run(&environment, "rm -rf many docs");
    let mut cut_off = false;
    // How much is there again when it is killed: what a machine does in a time, nobody knows.
    for enough in [1, 100, 400, 10, 800, 50, 1200, 200] {
        let mut undoing = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["undo", "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let there = || fs::read_dir(environment.project().join("many")).map_or(0, Iterator::count);
        while there() < enough && undoing.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(undoing.kill());
        undoing.wait().unwrap();
        let listed = environment.checkrein(&["snapshot", "list"]);
        if String::from_utf8_lossy(&listed.stderr).contains("was interrupted") {
            cut_off = true;
            break;
        }
        if environment.project().join("many/f1499").exists() && environment.project().join("docs").exists() {
            run(&environment, "rm -rf many docs");
        }
    }
    assert!(cut_off, "the undo was never killed in the middle");

    environment.write("docs/deep/guide.md", "written by a user\n");
    environment.write("many/f5", "written by a user\n");
    // Who only looks changes nothing.
    for looking in [&["snapshot", "list"][..], &["undo", "--dry-run"], &["log"]] {
        environment.checkrein(looking);
    }
    let lost = |path: &str| !environment.project().join(path).exists();
    let missing_before = (0..1500).filter(|number| lost(&format!("many/f{number}"))).count();
    let said = undo(&environment, &[]);
    for path in ["docs/deep/guide.md", "many/f5"] {
        let text = fs::read_to_string(environment.project().join(path)).unwrap();
        assert_eq!(text, "written by a user\n", "{path}: {said}");
    }
    let missing = (0..1500).filter(|number| lost(&format!("many/f{number}"))).count();
    assert_eq!(missing, 0, "of {missing_before}: {said}");
    assert!(said.contains("changed since"), "{said}");
    assert_eq!(litter(&environment), "");
}

/// What nobody can look into is not saved: where it was moved to, it is the only copy, empty directories included.
#[test]
fn a_directory_that_was_moved_unread_loses_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let environment = environment();
    let (closed, to) = (environment.project().join("closed"), environment.project().join("to"));
    fs::create_dir_all(closed.join("empty")).unwrap();
    fs::create_dir(&to).unwrap();
    fs::write(closed.join("file"), "text\n").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o300)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        return checkrein_testkit::not_run("the superuser can look into every directory");
    }
    std::thread::sleep(Duration::from_millis(50));
    run(&environment, "mv closed to/moved");
    let said = undo(&environment, &[]);
    fs::set_permissions(to.join("moved"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(to.join("moved/empty").is_dir(), "{said}");
    assert_eq!(fs::read_to_string(to.join("moved/file")).unwrap(), "text\n", "{said}");
    drop(fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)));
}
