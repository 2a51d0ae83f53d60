//! Calls of real clients whose input can be read in more than one way: what the client obeys is what was reviewed, or it does not run.
//! `cargo xtask clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::chat_model::{Call, ChatModel};
use support::driven::{command, until_it_ends};

/// What became of the calls of a client.
struct Done {
    environment: TestEnvironment,
    /// What the model heard.
    heard: String,
    /// The reviews, oldest first.
    reviews: Vec<Json>,
}

impl Done {
    fn ran(&self, file: &str) -> bool {
        self.environment.project().join(file).exists()
    }

    fn reviewed(&self, number: usize) -> (&str, String) {
        let input = &self.reviews[number]["input"];
        (input["command"].as_str().unwrap_or_default(), self.reviews[number]["cwd"].to_string())
    }
}

/// Has a client make calls in a project with a folder `sub`; `None` where it is not installed.
fn made(client: &str, calls: impl Fn(&TestEnvironment) -> Vec<Call>) -> Option<Done> {
    let environment = TestEnvironment::new();
    fs::create_dir(environment.project().join("sub")).unwrap();
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    let model = ChatModel::start(calls(&environment));
    let Some(mut plain) = command(&environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return None;
    };
    until_it_ends(client, &mut plain, &model);
    let listed = environment.succeed(&["session", "list", "--json"]);
    let sessions: Vec<Json> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = sessions.iter().flat_map(|one| environment.records(one["session"].as_str().unwrap()));
    let bodies = records.map(|record| record["body"].clone());
    let reviews = bodies.filter(|body| body["type"] == "review").collect();
    Some(Done { heard: model.heard(), environment, reviews })
}

#[test]
fn cline_is_held_to_the_arguments_of_a_program() {
    let touch = |file: &str| json!({ "command": "touch", "args": [file] });
    let Some(done) = made("cline", |_| {
        vec![
            ("run_commands", json!({ "commands": [touch("one.txt")] })),
            ("run_commands", touch("two.txt")),
            ("run_commands", json!({ "commands": touch("three.txt") })),
            ("run_commands", json!({ "commands": ["cat > four.txt <<'END'", "four", "END"] })),
        ]
    }) else {
        return;
    };
    for (number, file) in ["one.txt", "two.txt", "three.txt"].into_iter().enumerate() {
        assert_eq!(done.reviewed(number).0, format!("touch {file}"), "{:?}", done.reviews);
    }
    for file in ["one.txt", "two.txt", "three.txt", "four.txt"] {
        assert!(done.ran(file), "{file}: {}", done.heard);
    }
    let story = done.environment.succeed(&["log"]);
    assert!(!story.contains("surprise"), "{story}");
}

#[test]
fn cline_refuses_a_call_of_which_it_obeys_another_field() {
    let Some(done) =
        made("cline", |_| vec![("run_commands", json!({ "commands": ["touch ran.txt"], "command": "ls" }))])
    else {
        return;
    };
    assert!(!done.ran("ran.txt") && done.reviews.is_empty(), "{}", done.heard);
}

#[test]
fn gemini_is_judged_where_a_command_runs() {
    let Some(done) = made("gemini", |_| {
        vec![(
            "run_shell_command",
            json!({ "command": "touch there.txt", "description": "d", "dir_path": "sub" }),
        )]
    }) else {
        return;
    };
    assert!(done.ran("sub/there.txt"), "{}", done.heard);
    assert!(done.reviewed(0).1.ends_with("/sub\""), "{:?}", done.reviews);
    let story = done.environment.succeed(&["log"]);
    assert!(!story.contains("surprise"), "{story}");
}

/// A call that names another directory than the one in which the client runs it, or another file, is refused with the reason.
fn contradicts(client: &str, call: impl Fn(&TestEnvironment) -> Call) {
    let Some(done) = made(client, |environment| vec![call(environment)]) else { return };
    for file in ["ran.txt", "sub/ran.txt"] {
        assert!(!done.ran(file), "{client}: {}", done.heard);
    }
    assert!(done.heard.contains("says different things"), "{client}: {}", done.heard);
}

#[test]
fn qwen_refuses_a_second_directory() {
    contradicts("qwen", |environment| {
        let input = json!({ "command": "touch ran.txt", "description": "d", "is_background": false,
            "directory": environment.project().join("sub"), "workdir": environment.project() });
        ("run_shell_command", input)
    });
}

#[test]
fn droid_refuses_a_directory_that_it_does_not_read() {
    contradicts("droid", |environment| {
        let input = json!({ "command": "touch ran.txt", "summary": "d", "workdir": environment.project().join("sub") });
        ("Execute", input)
    });
}

#[test]
fn copilot_refuses_a_second_command() {
    contradicts("copilot", |_| {
        ("bash", json!({ "command": "touch ran.txt", "description": "d", "commands": ["ls"] }))
    });
}

#[test]
fn opencode_refuses_a_second_text_for_a_file() {
    contradicts("opencode", |environment| {
        let path = environment.project().join("ran.txt");
        ("write", json!({ "filePath": path, "content": "one", "text": "another" }))
    });
}
