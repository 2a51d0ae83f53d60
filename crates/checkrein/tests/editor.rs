//! The extension for VS Code in `packaging/vscode`, run by Node on the records of the real programs, with a stand-in for the editor.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use checkrein_testkit::not_run;
use serde_json::Value as Json;
use support::TestEnvironment;

fn extension() -> PathBuf {
    support::repository().join("packaging/vscode")
}

fn manifest() -> Json {
    serde_json::from_str(&fs::read_to_string(extension().join("package.json")).unwrap()).unwrap()
}

/// What became of the extension in this project; `None` where there is no Node.
fn driven(environment: &TestEnvironment) -> Option<Json> {
    driven_with(environment, env!("CARGO_BIN_EXE_checkrein"))
}

fn driven_with(environment: &TestEnvironment, program: &str) -> Option<Json> {
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        not_run("Node is not here");
        return None;
    }
    let stand_in = environment.home().join("modules/vscode");
    fs::create_dir_all(&stand_in).unwrap();
    let tests = support::repository().join("crates/checkrein/tests/editor");
    fs::copy(tests.join("vscode.js"), stand_in.join("index.js")).unwrap();
    let output = environment
        .command("node")
        .arg(tests.join("drive.js"))
        .arg(extension().join("extension.js"))
        .env("NODE_PATH", environment.home().join("modules"))
        .env("PROGRAM", program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn texts<'a>(list: &'a Json, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|one| one[name].as_str().unwrap_or_default()).collect()
}

#[test]
fn the_calls_of_a_folder_are_listed_and_what_changes_something_is_typed_into_a_terminal() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "the only copy\n");
    environment.bash("s", "ls");
    environment.bash("s", "rm -f notes.txt");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    environment.bash("s", "rm -rf ~");
    let Some(seen) = driven(&environment) else { return };
    assert_eq!(texts(&seen["calls"], "label"), ["rm -rf ~", "rm -f notes.txt", "ls"]);
    assert_eq!(texts(&seen["calls"], "contextValue"), ["call.stopped", "call", "call"]);
    let descriptions = texts(&seen["calls"], "description");
    assert!(
        descriptions[0].starts_with("stopped, ") && descriptions[1].contains("saved, "),
        "{descriptions:?}"
    );
    assert!(seen["calls"][0]["tooltip"].as_str().unwrap().contains("the home directory"), "{seen}");
    assert!(texts(&seen["saved"], "label").iter().any(|label| label.contains("rm -f notes.txt")), "{seen}");
    let documents: Vec<&str> =
        seen["documents"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(documents[0].contains("rm -rf ~") && documents[0].contains("stopped it"), "{documents:?}");
    assert!(
        seen["line"]["text"].as_str().unwrap().contains("stopped") && seen["line"]["shown"] == true,
        "{seen}"
    );

    let program = env!("CARGO_BIN_EXE_checkrein");
    let terminals: Vec<&str> =
        seen["terminals"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let number = terminals[1].rsplit(' ').next().unwrap();
    assert!(number.parse::<u32>().is_ok(), "{terminals:?}");
    let restore = format!("{program} snapshot restore {number}");
    assert_eq!(terminals, [format!("{program} undo"), restore, format!("{program} allow s:3")]);
    // A name that is none reaches neither a shell nor the program, and an address no command.
    assert!(seen["refused"].as_str().unwrap().starts_with("not a name"), "{seen}");
    assert_eq!(documents.len(), 6);
    assert!(
        documents[2..].iter().all(|answer| answer.starts_with("not a text of checkrein")),
        "{documents:?}"
    );
    assert!(!environment.project().join("made-by-a-name").exists());
    let halts = fs::read_dir(environment.state().join("halts")).map_or(0, Iterator::count);
    assert_eq!(halts, 0);
}

#[test]
fn where_nothing_is_recorded_nothing_is_shown_and_what_is_missing_is_said() {
    let environment = TestEnvironment::new();
    let Some(seen) = driven(&environment) else { return };
    assert_eq!((&seen["calls"], &seen["line"]["shown"]), (&Json::Array(Vec::new()), &Json::Bool(false)));
    let Some(seen) = driven_with(&environment, "/nowhere/checkrein") else { return };
    assert_eq!(seen["line"]["shown"], false);
    let said = texts(&seen["calls"], "label");
    assert!(said.len() == 1 && said[0].contains("/nowhere/checkrein"), "{said:?}");
}

#[test]
fn the_manifest_names_what_there_is() {
    let manifest = manifest();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let environment = TestEnvironment::new();
    let Some(seen) = driven(&environment) else { return };
    let named: BTreeSet<&str> = texts(&manifest["contributes"]["commands"], "command").into_iter().collect();
    let made: BTreeSet<&str> =
        seen["commands"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(named, made);
    let program = &manifest["contributes"]["configuration"]["properties"]["checkrein.path"];
    assert_eq!(program["scope"], "machine", "a folder must not say which program is run");
    for name in ["icon.svg", "extension.js", "README.md"] {
        assert!(extension().join(name).is_file(), "{name}");
    }
}
