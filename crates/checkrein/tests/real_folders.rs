//! Where real clients run what follows a `cd` of an earlier call: the next call is judged in the folder where it runs, whichever client runs it.
//!
//! `cargo xtask clients` installs the clients; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    clippy::print_stdout,
    reason = "a test that cannot go on should panic, and where clients run is told"
)]

mod support;

use std::fs;

use checkrein_testkit::not_run;
use support::TestEnvironment;
use support::chat_model::ChatModel;
use support::driven::{command, shell, until_it_ends};

/// A client goes to a folder of the project and to one outside it, each in a call of its own, and says in the next one where it is.
fn is_judged_where_it_runs(client: &str) {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    environment.write("docs/guide.md", "guide\n");
    let home = environment.home();
    fs::create_dir_all(home.join("photos")).unwrap();
    let told = |name: &str| home.join(name);
    let says = |name: &str| format!("pwd -P > '{}'", told(name).display());
    let calls =
        ["cd docs".to_owned(), says("inside"), format!("cd '{}'", told("photos").display()), says("outside")];
    let model = ChatModel::start(calls.iter().map(|call| shell(client, call)).collect());
    let Some(mut plain) = command(&environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return;
    };
    until_it_ends(client, &mut plain, &model);
    let text = environment.succeed(&["session", "list", "--json"]);
    let session: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let records = environment.records(session["session"].as_str().unwrap());
    for name in ["inside", "outside"] {
        let runs = fs::read_to_string(told(name)).unwrap();
        let review = records
            .iter()
            .map(|record| &record["body"])
            .find(|body| body["type"] == "review" && body["input"].to_string().contains(&format!("/{name}")));
        let judged = review.unwrap_or_else(|| panic!("{client}: no review of `{name}`"));
        println!("{client} {name}: runs in {}, judged in {}", runs.trim(), judged["cwd"]);
        assert_eq!(judged["cwd"].as_str(), Some(runs.trim()), "{client}, {name}");
    }
}

#[test]
fn claude_is_judged_where_it_runs() {
    is_judged_where_it_runs("claude");
}

#[test]
fn codex_is_judged_where_it_runs() {
    is_judged_where_it_runs("codex");
}

#[test]
fn gemini_is_judged_where_it_runs() {
    is_judged_where_it_runs("gemini");
}

#[test]
fn qwen_is_judged_where_it_runs() {
    is_judged_where_it_runs("qwen");
}

#[test]
fn copilot_is_judged_where_it_runs() {
    is_judged_where_it_runs("copilot");
}

#[test]
fn cline_is_judged_where_it_runs() {
    is_judged_where_it_runs("cline");
}

#[test]
fn droid_is_judged_where_it_runs() {
    is_judged_where_it_runs("droid");
}

#[test]
fn opencode_is_judged_where_it_runs() {
    is_judged_where_it_runs("opencode");
}

#[test]
fn kilo_is_judged_where_it_runs() {
    is_judged_where_it_runs("kilo");
}
