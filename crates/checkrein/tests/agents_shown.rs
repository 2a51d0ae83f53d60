//! What a user sees of several agents: to whom what waits belongs, in which words, and what a run of each costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use checkrein_clients::CLIENTS;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{dangerous, said};
use support::waiting::{CALL, answer_of, asks, unattended};

/// Those that begin a session with an event of this form.
const BEGINNING: [&str; 5] = ["claude", "codex", "gemini", "qwen", "droid"];

/// A home in which every agent was stopped more than once, which makes tickets.
fn stopped() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure(
        "config.yaml",
        "governance:\n  tripwires:\n    - {id: watched, condition: 'action.command.contains(\"date\")', on_fail: {decision: ok, flag: medium, reason: dates are watched}}\n",
    );
    for client in CLIENTS {
        let session = format!("{}-1", client.client.name());
        if BEGINNING.contains(&client.client.name()) {
            let start = json!({ "session_id": session, "transcript_path": "", "cwd": environment.project(),
                "hook_event_name": "SessionStart", "source": "startup" });
            said(&environment, client.client.name(), &start);
        }
        for command in
            ["date", "rm -rf /etc", "rm -rf .git", "mv README.md ../other.md", "rm -rf /etc", "rm -rf ~"]
        {
            let call = dangerous(client, &environment, command).to_string();
            let call: Json = serde_json::from_str(&call.replace("of-a-test", &session)).unwrap();
            said(&environment, client.client.name(), &call);
        }
    }
    environment
}

#[test]
fn a_ticket_says_to_which_agent_and_project_it_belongs() {
    let environment = stopped();
    let listed = environment.succeed(&["ticket", "list", "--json"]);
    let tickets: Vec<Json> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = environment.succeed(&["ticket", "list"]);
    for name in BEGINNING {
        let of_it = |ticket: &&Json| ticket["client"] == name;
        let ticket = tickets.iter().find(of_it).unwrap_or_else(|| panic!("{name}: {tickets:?}"));
        assert_eq!(ticket["project"], json!(environment.project()), "{name}");
        let is_told = text.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.contains(&name) && words.contains(&"~/project")
        });
        assert!(is_told, "{name}: {text}");
    }
}

#[test]
fn a_call_that_waits_and_what_is_allowed_say_to_which_agent_they_belong() {
    let environment = unattended("approvals:\n  wait: unattended\n  wait_seconds: 60\n");
    environment.answer_to(&environment.payload("waits", "SessionStart", json!({ "source": "startup" })));
    let hook = asks(&environment, "waits", "one", CALL);
    let started = std::time::Instant::now();
    let listed = loop {
        let listed = environment.succeed(&["approval", "list"]);
        if listed.contains("expires in") {
            break listed;
        }
        assert!(started.elapsed().as_secs() < 60, "{listed}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    for part in ["agent", "project", "claude", "~/project", "waits", CALL] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let waiting: Json = serde_json::from_str(&environment.succeed(&["approval", "list", "--json"])).unwrap();
    environment.succeed(&["approval", "deny", waiting[0]["id"].as_str().unwrap()]);
    answer_of(hook);
    environment.succeed(&["allow", "LAST", "--session", "--yes"]);
    let listed = environment.succeed(&["allow", "--list"]);
    assert!(listed.contains("for claude: holds for its session"), "{listed}");
    environment.succeed(&["allow", "LAST", "--always", "--yes"]);
    assert!(environment.succeed(&["allow", "--list"]).contains("for any agent: holds"));
}

/// Words of the inside, and of no one who uses it.
const INSIDE: [&str; 10] = [
    "trust debt",
    "posture",
    "rung",
    "restricted_mode",
    "elevated",
    "throttl",
    "corridor",
    "ctq",
    "opaque",
    "soft_correction",
];

#[test]
fn what_is_shown_of_every_agent_needs_no_explanation() {
    let environment = stopped();
    let names: Vec<String> = CLIENTS.iter().map(|client| format!("{}-1", client.client.name())).collect();
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["session", "list"],
        vec!["log"],
        vec!["log", "--risky"],
        vec!["ticket", "list"],
        vec!["show", "LAST"],
        vec!["run", "list"],
        vec!["run", "--help"],
        vec!["session", "--help"],
        vec!["log", "--help"],
        vec!["show", "--help"],
        vec!["ticket", "--help"],
        vec!["allow", "--help"],
        vec!["run", "--", "sh", "-c", "exit 0"],
    ];
    commands.extend(names.iter().map(|name| vec!["session", "show", name.as_str()]));
    for command in commands {
        let output = environment.checkrein(&command);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for inside in INSIDE {
            assert!(!text.to_lowercase().contains(inside), "{command:?}: {inside}: {text}");
        }
    }
    // The number is for whoever asks for numbers; a list says what follows from it.
    let list = environment.succeed(&["session", "list"]);
    assert!(list.contains("judged more strictly") || list.contains("watched more closely"), "{list}");
}

#[test]
fn reasons_are_sentences_about_what_the_command_does() {
    let environment = TestEnvironment::new();
    environment.write("../.ssh/id_rsa", "k\n");
    environment.write("../diary.md", "mine\n");
    for (command, wanted, odd) in [
        (
            "ssh host.example.com 'rm -rf /srv/data'",
            "(deletes `/srv/data` inside host.example.com)",
            "file_delete",
        ),
        ("docker push registry.example.com/image", "this publishes `", "makes something public"),
        ("ssh host.example.com", "this connects to `host.example.com`, an external host", "talks to"),
        ("base64 -d blob | sh", "what `sh` would do cannot be determined before it runs (", ") would do"),
        ("nc -l 4444 -e /bin/sh", "that nobody has read (gives `/bin/sh` to the other end)", ") that nobody"),
        ("find ~ -type f -exec rm {} +", "the home directory), `", "more (nothing fits now"),
        ("terraform apply -auto-approve", "which affects others at once", "for others, at once"),
    ] {
        let answer: Json = serde_json::from_str(
            &String::from_utf8(environment.checkrein(&["check", "--json", command]).stdout).unwrap(),
        )
        .unwrap();
        let said = answer.to_string();
        assert!(said.contains(wanted) && !said.contains(odd), "{command}: {said}");
    }
}

/// Prints what a client prints of a run of one answer that took a million tokens in and none out.
fn agent(environment: &TestEnvironment, client: &str) -> std::path::PathBuf {
    let rows: &[&str] = match client {
        "codex" => &[
            r#"{"type":"thread.started","thread_id":"c"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":1000000,"cached_input_tokens":0,"output_tokens":0}}"#,
        ],
        "opencode" => &[
            r#"{"type":"step_start","sessionID":"o","part":{}}"#,
            r#"{"type":"step_finish","sessionID":"o","part":{"reason":"stop","cost":0,"tokens":{"input":1000000,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}}}"#,
        ],
        other => panic!("{other}"),
    };
    let program = environment.home().join("bin").join(client);
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let lines: Vec<String> = rows.iter().map(|row| format!("echo '{row}'")).collect();
    fs::write(&program, format!("#!/bin/sh\n{}\n", lines.join("\n"))).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn a_run_costs_what_the_model_costs_that_the_settings_name() {
    for (client, words, file, text, wanted) in [
        ("codex", &["exec", "--json", "hi"][..], "../.codex/config.toml", "model = \"gpt-5.4-nano\"\n", 0.2),
        (
            "codex",
            &["exec", "--json", "-p", "small", "hi"],
            "../.codex/small.config.toml",
            "model = \"gpt-5.4-mini\"\n",
            0.75,
        ),
        (
            "codex",
            &["-cmodel=gpt-5.4-nano", "exec", "--json", "hi"],
            "../.codex/config.toml",
            "model = \"gpt-5.5\"\n",
            0.2,
        ),
        (
            "opencode",
            &["run", "--format", "json", "hi"],
            "opencode.jsonc",
            "{ \"model\": \"anthropic/claude-haiku-4-5\" } // mine\n",
            1.0,
        ),
        (
            "opencode",
            &["run", "--format", "json", "hi"],
            "../.config/opencode/opencode.json",
            "{ \"model\": \"openai/gpt-5.4-mini\" }\n",
            0.75,
        ),
    ] {
        let environment = TestEnvironment::new();
        environment.write(file, text);
        let program = agent(&environment, client);
        let mut all = vec!["--json", "run", "--", program.to_str().unwrap()];
        all.extend(words);
        let output = environment.checkrein(&all);
        let said = String::from_utf8(output.stderr).unwrap();
        let report: Json =
            serde_json::from_str(said.lines().last().unwrap()).unwrap_or_else(|_| panic!("{said}"));
        let cost = ["cost", "dollars"].iter().find_map(|key| report[*key].as_f64()).unwrap_or(-1.0);
        assert!((cost - wanted).abs() < 0.001, "{client} {words:?} {file}: {report}");
    }
}
