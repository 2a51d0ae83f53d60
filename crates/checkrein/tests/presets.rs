//! `checkrein config preset`: a few settings in place of a hundred keys, and nothing that somebody wrote is touched.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::Value as Json;
use support::TestEnvironment;

fn user_file(environment: &TestEnvironment) -> std::path::PathBuf {
    environment.home().join(".config/checkrein/config.yaml")
}

fn in_force(environment: &TestEnvironment, key: &str) -> String {
    let settings: Json =
        serde_json::from_str(&environment.succeed(&["config", "show", key, "--json"])).unwrap();
    let all = settings["settings"].as_array().unwrap();
    all.iter().find(|one| one["key"] == key).unwrap()["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_preset_is_shown_and_then_written_with_comments() {
    let environment = TestEnvironment::new();
    let shown = environment.succeed(&["config", "preset", "solo", "--dry-run"]);
    assert!(shown.contains("limits.dollars") && shown.contains("nothing was written"), "{shown}");
    assert!(!user_file(&environment).exists());
    assert!(!environment.checkrein(&["config", "preset", "solo"]).status.success(), "nobody was asked");
    environment.succeed(&["config", "preset", "solo", "--yes"]);
    let text = fs::read_to_string(user_file(&environment)).unwrap();
    assert!(text.starts_with("# Checkrein for one person") && text.contains("  dollars: 50\n"), "{text}");
    assert!(text.lines().filter(|line| line.trim_start().starts_with('#')).count() > 4, "{text}");
    assert_eq!(in_force(&environment, "limits.dollars"), "50");
    environment.succeed(&["config", "check"]);
    let again = environment.succeed(&["config", "preset", "solo", "--yes"]);
    assert!(again.contains("says all of it already"), "{again}");
    assert_eq!(fs::read_to_string(user_file(&environment)).unwrap(), text);
}

#[test]
fn every_preset_is_valid_and_says_what_it_sets() {
    for name in ["solo", "team", "ci", "strict"] {
        let environment = TestEnvironment::new();
        let told: Json =
            serde_json::from_str(&environment.succeed(&["config", "preset", name, "--yes", "--json"]))
                .unwrap();
        assert_eq!(told["result"], "written", "{told}");
        assert_eq!(told["pending"], serde_json::json!([]), "a project may ask for it: {told}");
        environment.succeed(&["config", "check"]);
        for change in told["changes"].as_array().unwrap() {
            assert_eq!(in_force(&environment, change["key"].as_str().unwrap()), change["to"], "{name}");
        }
        let is_project = environment.project().join("checkrein.yaml").exists();
        assert_eq!(is_project, name == "team", "{name}");
    }
}

#[test]
fn what_somebody_wrote_stays_and_lines_are_added_to_it() {
    let environment = TestEnvironment::new();
    let before = "# my own\nlimits:\n    tokens: 7   # few\n    dollars: 3\n\nprofile: interactive # mine\n";
    fs::create_dir_all(user_file(&environment).parent().unwrap()).unwrap();
    fs::write(user_file(&environment), before).unwrap();
    let told = environment.succeed(&["config", "preset", "ci", "--yes"]);
    assert!(told.contains("kept as it is: limits.dollars is 3, the preset says 5"), "{told}");
    assert!(told.contains("kept as it is: profile is interactive"), "{told}");
    let after = fs::read_to_string(user_file(&environment)).unwrap();
    for line in before.lines() {
        assert!(after.contains(line), "`{line}` is gone: {after}");
    }
    assert!(after.contains("    execution_seconds: 1800\n"), "{after}");
    assert_eq!(in_force(&environment, "limits.dollars"), "3");
    assert_eq!(in_force(&environment, "containment.commands"), "opaque");
}

#[test]
fn a_file_to_which_nothing_can_be_added_is_left_alone() {
    let environment = TestEnvironment::new();
    let before = "limits: {tokens: 7}\n";
    fs::create_dir_all(user_file(&environment).parent().unwrap()).unwrap();
    fs::write(user_file(&environment), before).unwrap();
    let output = environment.checkrein(&["config", "preset", "solo", "--yes"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("add these settings yourself"), "{said}");
    assert!(said.contains("dollars: 50"), "{said}");
    assert_eq!(fs::read_to_string(user_file(&environment)).unwrap(), before);
}

#[test]
fn an_agent_writes_no_preset() {
    let environment = TestEnvironment::new();
    let answer = environment.bash("s", "checkrein config preset solo --yes");
    assert_eq!(support::decision(&answer), Some("deny"), "{answer}");
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = command.env("CLAUDECODE", "1").args(["config", "preset", "solo", "--yes"]).output().unwrap();
    assert!(!output.status.success() && !user_file(&environment).exists(), "{output:?}");
}

#[test]
fn settings_are_shown_by_name_or_section() {
    let environment = TestEnvironment::new();
    let all = environment.succeed(&["config", "show"]);
    let limits = environment.succeed(&["config", "show", "limits"]);
    assert!(limits.contains("limits.dollars") && !limits.contains("snapshots."), "{limits}");
    assert!(all.lines().count() > limits.lines().count());
    let one = environment.succeed(&["config", "show", "max_files"]);
    assert!(one.contains("snapshots.max_files") && one.lines().count() == 2, "{one}");
    assert!(!environment.checkrein(&["config", "show", "nonsense"]).status.success());
}
