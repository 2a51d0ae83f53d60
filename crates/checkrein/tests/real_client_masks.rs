//! Secrets and the real Claude Code: what its model reads of a list of settings, whichever way it is shown.
//!
//! The client is installed by `cargo xtask clients`. Without it these tests fail.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::json;
use support::TestEnvironment;
use support::client::{run, session_of};
use support::model::{Model, Turn, bash};

/// Values that no request to the model may hold.
const VALUES: [&str; 3] =
    ["a1b2c3d4e5f6a7b8c9d0e1f2", "correct-horse-battery", "ghp_0123456789abcdefghijABCDEFGHIJ456789"];

fn guarded() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(
        ".env",
        &format!(
            "# of the shop\nPORT=3000\nAPI_KEY={}\nDB_PASSWORD=\"{}\"\nexport GITHUB_TOKEN={}\n",
            VALUES[0], VALUES[1], VALUES[2]
        ),
    );
    environment.write("app.log", &format!("12:00 sent key {} for {}\n", VALUES[0], VALUES[2]));
    environment.succeed(&["init", "--yes"]);
    environment
}

fn at(environment: &TestEnvironment, name: &str) -> String {
    environment.project().join(name).to_str().unwrap().to_owned()
}

#[test]
fn no_value_reaches_the_model_whichever_way_settings_are_shown() {
    let environment = guarded();
    let calls = vec![
        bash("cat .env"),
        bash("grep -n API_KEY .env"),
        bash("ls -la && head -5 ./.env; echo done"),
        bash("sort .env | uniq"),
        Turn::Calls(vec![("Read", json!({ "file_path": at(&environment, ".env") }))]),
        Turn::Calls(vec![(
            "Read",
            json!({ "file_path": at(&environment, ".env"), "offset": 3, "limit": 2 }),
        )]),
        bash("ln -s .env plain.txt"),
        Turn::Calls(vec![("Read", json!({ "file_path": at(&environment, "plain.txt") }))]),
        Turn::Calls(vec![(
            "Edit",
            json!({ "file_path": at(&environment, ".env"), "old_string": "PORT=3000", "new_string": "PORT=3001" }),
        )]),
        bash("cat .env nowhere"),
        bash("base64 .env"),
        bash("cut -c1-30 .env"),
        bash("cat .env | rev"),
        bash("sh -c 'cat .env'"),
        Turn::Says("finished"),
    ];
    let count = calls.len();
    let model = Model::start(calls, vec![]);
    run(&environment, &model, &["--permission-mode", "bypassPermissions"]);
    let heard = model.heard();
    assert!(model.asked() >= count, "{heard}");
    for value in VALUES {
        assert!(!heard.contains(value), "{value}: {heard}");
    }
    assert!(heard.contains("PORT=3001") && heard.contains("API_KEY=[masked:"), "{heard}");
    assert!(heard.contains("nowhere: No such file"), "a failure is still one: {heard}");
}

#[test]
fn what_a_log_says_of_settings_is_masked_and_on_record() {
    let environment = guarded();
    let model = Model::start(vec![bash("tail -n 5 app.log"), Turn::Says("finished")], vec![]);
    let result = run(&environment, &model, &["--permission-mode", "bypassPermissions"]);
    let heard = model.heard();
    for value in [VALUES[0], VALUES[2]] {
        assert!(!heard.contains(value), "{value}: {heard}");
    }
    assert!(heard.contains("checkrein masked values in this output"), "{heard}");
    let records = environment.records(session_of(&result));
    let outcome = records.iter().find(|record| record["body"]["type"] == "outcome").unwrap();
    assert!(outcome["body"]["masked"].as_array().is_some_and(|kinds| kinds.len() >= 2), "{outcome}");
    assert!(fs::read_to_string(environment.project().join(".env")).unwrap().contains(VALUES[0]));
}

#[test]
fn where_masking_is_switched_off_a_user_is_asked_as_before() {
    let environment = guarded();
    environment.configure("config.yaml", "output:\n  mask_secrets: false\n");
    let calls = vec![
        bash("cat .env"),
        Turn::Calls(vec![("Read", json!({ "file_path": at(&environment, ".env") }))]),
        Turn::Says("finished"),
    ];
    let model = Model::start(calls, vec![]);
    run(&environment, &model, &["--permission-mode", "bypassPermissions"]);
    let heard = model.heard();
    assert!(!heard.contains("[masked:") && !heard.contains("PORT=3001"), "{heard}");
}
