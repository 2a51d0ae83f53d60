//! What `undo` cannot take back it says, and what is little or held by version control is saved however it is named and however busy the
//! machine is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, reason, shell_call};

/// Whether the client tells when a call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Told,
    Untold,
}

fn run(environment: &TestEnvironment, action: &str, command: &str, ending: Ending) -> Option<String> {
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call(action, command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status();
    status.unwrap();
    if ending == Ending::Told {
        call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    }
    decision(&answer).map(str::to_owned)
}

fn said(environment: &TestEnvironment, arguments: &[&str]) -> String {
    let output = environment.checkrein(arguments);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn files(environment: &TestEnvironment, below: &str) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(environment.project().join(below)).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn names_that_are_no_text_come_back() {
    for command in [
        r"> $'\377'",
        r"> $'d/\377'",
        r"mv README.md $'\xff'",
        r"cp README.md $'d/\xff'",
        r"printf '\xff\xfe' | xargs rm -f",
        r"printf '\377\376' | xargs rm -f",
        r"printf '%b' 'd/\0377' | xargs rm -f",
        r"echo -e '\xff' | xargs rm -f",
        r"printf 'd/\xff' | xargs rm -f",
        // Bytes that are a text mean the name that they spell.
        r"printf 'caf\303\251' | xargs rm -f",
        r"rm -f $(printf 'caf\xc3\xa9')",
        r"rm -f $'\xff\xfe'",
    ] {
        let environment = TestEnvironment::new();
        fs::create_dir(environment.project().join("d")).unwrap();
        for name in [&b"\xff"[..], b"\xff\xfe", b"d/\xff", "caf\u{e9}".as_bytes()] {
            fs::write(environment.project().join(OsStr::from_bytes(name)), [b"only here: ", name].concat())
                .unwrap();
        }
        let before = (files(&environment, "."), files(&environment, "d"));
        run(&environment, "call", command, Ending::Told);
        assert_ne!(
            (files(&environment, "."), files(&environment, "d")),
            before,
            "{command}: changed nothing"
        );
        let text = said(&environment, &["undo", "--yes"]);
        assert_eq!((files(&environment, "."), files(&environment, "d")), before, "{command}: {text}");
    }
}

/// A project with a folder of more files than are saved before one call, where a note was just deleted.
fn after_a_small_loss() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("note.txt", "only here\n");
    environment.write("checkrein.yaml", "snapshots:\n  max_files: 20\n");
    for number in 0..60 {
        environment.write(&format!("many/{number}"), "only here\n");
    }
    environment.succeed(&["trust", "--yes"]);
    run(&environment, "first", "rm note.txt", Ending::Told);
    environment
}

#[test]
fn what_was_too_much_to_be_saved_is_named_before_anything_older() {
    let environment = after_a_small_loss();
    let answer = run(&environment, "second", "rm -rf many", Ending::Told);
    assert_eq!(answer.as_deref(), Some("ask"));
    let text = said(&environment, &["undo", "--dry-run"]);
    assert!(text.contains("cannot be taken back") && text.contains("rm -rf many"), "{text}");
    assert!(text.contains("note.txt"), "{text}");
}

#[test]
fn what_another_snapshot_holds_is_named_and_nothing_older_is_touched() {
    let environment = after_a_small_loss();
    let before = files(&environment, "many");
    let call = shell_call("asked", "rm -rf many", json!({}));
    let question = environment.answer_to(&environment.payload("s", "PreToolUse", call));
    assert!(reason(&question).contains("holds all of it as it is"), "{question}");
    assert!(!reason(&question).contains("only copy of more"), "{question}");
    run(&environment, "second", "rm -rf many", Ending::Told);
    for arguments in [&["undo", "--yes"][..], &["undo", "--dry-run"]] {
        let text = said(&environment, arguments);
        assert!(text.contains("cannot be taken back") && text.contains("rm -rf many"), "{text}");
        assert!(!environment.project().join("note.txt").exists(), "{text}");
    }
    let text = said(&environment, &["undo", "--yes"]);
    let command = text.split('`').find(|part| part.starts_with("checkrein snapshot restore")).unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--yes"]).collect();
    environment.succeed(&words);
    assert!(files(&environment, "many") == before, "{command}");
    // What came back is nothing that cannot be taken back.
    let text = said(&environment, &["undo", "--yes"]);
    assert!(!text.contains("cannot be taken back"), "{text}");
    assert!(environment.project().join("note.txt").exists(), "{text}");
}

#[test]
fn what_is_too_much_to_be_saved_and_changed_stops_an_older_one() {
    let environment = TestEnvironment::new();
    environment.write("note.txt", "only here\n");
    environment.write("checkrein.yaml", "snapshots:\n  max_megabytes: 1\n  largest_file_megabytes: 1\n");
    environment.write("large.bin", &"only here\n".repeat(400_000));
    environment.succeed(&["trust", "--yes"]);
    run(&environment, "first", "rm note.txt", Ending::Told);
    let answer = run(&environment, "second", "truncate -s 0 large.bin", Ending::Told);
    assert_eq!(answer.as_deref(), Some("ask"));
    let text = said(&environment, &["undo", "--yes"]);
    assert!(
        text.contains("truncate -s 0 large.bin") && text.contains("no snapshot")
            || text.contains("takes back what is older"),
        "{text}"
    );
    assert!(!environment.project().join("note.txt").exists(), "{text}");
    let older = text.split('`').find(|part| part.starts_with("checkrein undo ")).unwrap();
    let words: Vec<&str> = older.split(' ').skip(1).chain(["--yes"]).collect();
    environment.succeed(&words);
    assert!(environment.project().join("note.txt").exists(), "{text}");
}

#[test]
fn much_that_version_control_holds_comes_back() {
    for command in
        ["git rm -rqf many", "rm -rf many", "sed -i s/one/two/ many/*", "chmod -x many && rm -r many"]
    {
        let environment = TestEnvironment::new();
        for number in 0..1_100 {
            environment.write(&format!("many/{number}"), "one\n");
        }
        environment.git(&["add", "-A"]);
        environment.commit("many");
        let before = files(&environment, "many");
        run(&environment, "call", command, Ending::Told);
        assert_ne!(files(&environment, "many"), before, "{command}");
        let text = said(&environment, &["undo", "--yes"]);
        assert!(files(&environment, "many") == before, "{command}: {text}");
    }
}

#[test]
fn what_was_not_saved_is_said() {
    let environment = TestEnvironment::new();
    environment.write(".gitignore", "build/\n");
    environment.write("notes", "only here\n");
    for number in 0..1_100 {
        environment.write(&format!("build/{number}.o"), "made again\n");
    }
    environment.git(&["add", ".gitignore"]);
    environment.commit("rules");
    run(&environment, "first", "rm notes", Ending::Told);
    run(&environment, "second", "rm -rf build", Ending::Told);
    let text = said(&environment, &["undo", "--yes"]);
    assert!(text.contains("cannot be taken back") && text.contains("rm -rf build"), "{text}");
    assert!(environment.project().join("notes").exists(), "{text}");
    let again = said(&environment, &["undo", "--yes"]);
    assert!(again.contains("cannot be taken back") && again.contains("rm -rf build"), "{again}");
}

#[test]
fn what_is_made_again_and_gone_is_said() {
    let environment = TestEnvironment::new();
    environment.write(".gitignore", "__pycache__/\n");
    for number in 0..1_100 {
        environment.write(&format!("src/__pycache__/{number}.pyc"), "made again");
    }
    environment.write("notes/plan", "only here\n");
    let text =
        "use File::Path 'remove_tree'; remove_tree(glob('*'.'/__*'), map { $_ } grep { /^no/ } glob('*'));\n";
    environment.write("tool.pl", text);
    run(&environment, "call", "perl tool.pl", Ending::Told);
    assert!(!environment.project().join("src/__pycache__").exists());
    let text = said(&environment, &["undo", "--yes"]);
    assert!(environment.project().join("notes/plan").exists(), "{text}");
    assert!(text.contains("does not come back") && text.contains("src/__pycache__"), "{text}");
}

#[test]
fn what_a_person_may_have_let_run_is_said_and_comes_back_by_force() {
    let environment = TestEnvironment::new();
    let profile = environment.home().join(".profile");
    fs::write(&profile, "export A=1\n").unwrap();
    let answer = run(&environment, "call", "echo 'export A=2' > ~/.profile", Ending::Untold);
    assert_eq!(answer.as_deref(), Some("ask"));
    fs::write(&profile, "export A=3\n").unwrap();
    let text = said(&environment, &["undo", "--yes"]);
    assert!(text.contains("--force"), "{text}");
    assert_eq!(fs::read_to_string(&profile).unwrap(), "export A=3\n");
    said(&environment, &["undo", "call", "--yes", "--force"]);
    assert_eq!(fs::read_to_string(&profile).unwrap(), "export A=1\n");
}

#[test]
fn an_index_that_git_wrote_anew_is_no_obstacle() {
    let environment = TestEnvironment::new();
    environment.write("README.md", "# changed\n");
    run(&environment, "call", "git checkout -q -- README.md", Ending::Untold);
    environment.git(&["status", "--short"]);
    let undone = environment.checkrein(&["undo", "--yes"]);
    let text = String::from_utf8_lossy(&undone.stdout);
    assert!(undone.status.success(), "{text}");
    assert_eq!(fs::read_to_string(environment.project().join("README.md")).unwrap(), "# changed\n", "{text}");
}
