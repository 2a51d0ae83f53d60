//! One test for each command, with the text that a user reads as a snapshot. `INSTA_UPDATE=always cargo test` writes them anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// A text with everything that changes from run to run taken out.
fn stable(environment: &TestEnvironment, text: &str) -> String {
    let home = environment.home().display().to_string();
    let hook = fs::canonicalize(env!("CARGO_BIN_EXE_checkrein-hook")).unwrap().display().to_string();
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_checkrein")).unwrap().display().to_string();
    // The name of the hook begins with that of the program.
    let text =
        text.replace(&home, "~").replace(&hook, "/opt/checkrein-hook").replace(&program, "/opt/checkrein");
    let mut lines: Vec<String> = Vec::new();
    let text = without_hashes(&text);
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for at in 0..words.len() {
            let is_date =
                words[at].len() == 10 && words[at].as_bytes()[4] == b'-' && words[at].as_bytes()[7] == b'-';
            if is_date {
                "DATE".clone_into(&mut words[at]);
                if let Some(time) = words.get_mut(at + 1) {
                    "TIME".clone_into(time);
                }
            }
            let is_clock = words[at].len() == 8 && words[at].matches(':').count() == 2;
            if is_clock {
                "CLOCK".clone_into(&mut words[at]);
            }
            let is_elapsed = words.get(at + 1).is_some_and(|next| next.starts_with("µs"));
            if is_elapsed {
                "N".clone_into(&mut words[at]);
            }
        }
        lines.push(words.join(" ").trim_end().to_owned());
    }
    lines.join("\n")
}

/// Names of downloads carry a hash of the action, which holds the path of this run.
fn without_hashes(text: &str) -> String {
    let mut parts = text.split("/tmp/download-");
    let mut stable = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        stable.push_str("/tmp/download-HASH");
        stable.push_str(part.get(8..).unwrap_or_default());
    }
    stable
}

#[test]
fn init_shows_the_change_writes_it_once_and_uninstall_takes_it_back() {
    let environment = TestEnvironment::new();
    let settings = environment.project().join(".claude/settings.local.json");
    let before = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n  }\n}\n";
    environment.write(".claude/settings.local.json", before);
    let dry = environment.succeed(&["init", "--dry-run"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), before, "a dry run writes nothing");
    insta::assert_snapshot!("init_dry_run", stable(&environment, &dry));
    let every_line = environment.succeed(&["init", "--dry-run", "--verbose"]);
    insta::assert_snapshot!("init_dry_run_verbose", stable(&environment, &every_line));
    let for_programs: Json =
        serde_json::from_str(&environment.succeed(&["init", "--dry-run", "--json"])).unwrap();
    assert!(every_line.contains(for_programs["change"].as_str().unwrap()), "{for_programs}");
    environment.succeed(&["init", "--yes"]);
    let after = fs::read_to_string(&settings).unwrap();
    assert!(after.starts_with("{\n  \"model\": \"opus\",\n"), "{after}");
    assert!(after.contains("\"say done\""));
    let again = environment.succeed(&["init", "--yes"]);
    assert!(again.contains("nothing changed"), "{again}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), after, "idempotent");
    environment.succeed(&["uninstall", "--yes"]);
    let value = |text: &str| serde_json::from_str::<Json>(text).unwrap();
    assert_eq!(value(&fs::read_to_string(&settings).unwrap()), value(before));
}

/// The longest text that is read before a yes, in lines of 80 columns, for each client: what is written where, and how much.
const READ_BEFORE_A_YES: usize = 12;

#[test]
fn what_init_would_do_for_any_client_is_read_in_half_a_minute() {
    for client in checkrein_clients::CLIENTS {
        let environment = TestEnvironment::new();
        let scopes: &[&str] = if client.places.settings.len() > 1 { &["--user", "--team"] } else { &[] };
        for scope in scopes.iter().map(|scope| vec![*scope]).chain([Vec::new()]) {
            let words = [&["init", "--dry-run", "--client", client.client.name()][..], &scope].concat();
            let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
            let output = command.args(&words).env("COLUMNS", "80").output().unwrap();
            if !output.status.success() {
                // A scope that it has not, or a program that only this machine has.
                assert!(!scope.is_empty(), "{words:?}: {output:?}");
                continue;
            }
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.lines().count() <= READ_BEFORE_A_YES, "{words:?}: {said}");
            assert!(!said.contains("case $?$o in"), "{words:?} shows the line of the hook: {said}");
            assert!(said.contains("dry run: nothing was written"), "{words:?}: {said}");
        }
    }
}

#[test]
fn uninstall_removes_the_settings_file_that_init_made_and_no_other() {
    let environment = TestEnvironment::new();
    let settings = environment.project().join(".claude/settings.local.json");
    environment.succeed(&["init", "--yes"]);
    environment.succeed(&["init", "--yes"]);
    environment.succeed(&["uninstall", "--yes"]);
    assert!(!settings.exists() && !environment.project().join(".claude").exists());

    environment.succeed(&["init", "--yes"]);
    environment.write(".claude/own.txt", "mine");
    environment.succeed(&["uninstall", "--yes"]);
    assert!(!settings.exists() && environment.project().join(".claude/own.txt").exists());

    environment.write(".claude/settings.local.json", "{}\n");
    environment.succeed(&["init", "--yes"]);
    environment.succeed(&["uninstall", "--yes"]);
    assert!(settings.exists(), "the user made it");
}

#[test]
fn a_selection_without_records_is_told_from_an_empty_log() {
    let environment = TestEnvironment::new();
    assert!(environment.succeed(&["log", "-n", "0"]).contains("nothing is recorded yet"));
    environment.bash("s", "ls");
    for selection in [&["log", "-n", "0"] as &[&str], &["log", "--verdict", "halt"]] {
        let said = environment.succeed(selection);
        assert!(said.contains("no record fits") && !said.contains("init"), "{said}");
    }
}

#[test]
fn a_restore_of_a_path_that_a_snapshot_does_not_hold_is_refused() {
    let environment = TestEnvironment::new();
    environment.write("a.txt", "one");
    environment.bash("s", "rm -rf a.txt");
    let listed = environment.succeed(&["snapshots", "--json"]);
    let first: Json = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let id = first["id"].as_u64().unwrap().to_string();
    let output = environment.checkrein(&["rollback", &id, "nosuch", "--yes"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("holds nothing at"), "{said}");
    fs::remove_file(environment.project().join("a.txt")).ok();
    environment.succeed(&["rollback", &id, "a.txt", "--yes"]);
    assert!(environment.project().join("a.txt").exists());
}

#[test]
fn init_without_an_answer_writes_nothing() {
    let environment = TestEnvironment::new();
    let output = environment.checkrein(&["init"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!environment.project().join(".claude/settings.local.json").exists());
}

#[test]
fn init_refuses_a_broken_settings_file_and_says_where() {
    let environment = TestEnvironment::new();
    environment.write(".claude/settings.local.json", "{\n  \"model\": \"opus\",\n}\n");
    let output = environment.checkrein(&["init", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(
        "init_broken_settings",
        stable(&environment, &String::from_utf8_lossy(&output.stderr))
    );
}

#[test]
fn doctor_tells_protected_from_not_protected() {
    let environment = TestEnvironment::new();
    let output = environment.checkrein(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT protected"));
    environment.succeed(&["init", "--yes"]);
    let text = environment.succeed(&["doctor"]);
    assert!(text.contains("`rm -rf ~` is denied") && text.contains("all events registered"), "{text}");
    let all = environment.succeed(&["doctor", "--all"]);
    for open in checkrein_sandbox::NOT_HELD {
        assert!(all.contains(open.brief), "{} is not said:\n{all}", open.brief);
    }
    let told: Json = serde_json::from_str(&environment.succeed(&["--json", "doctor"])).unwrap();
    let containment = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == "containment")
        .unwrap();
    assert_eq!(containment["not_held"].as_array().unwrap().len(), checkrein_sandbox::NOT_HELD.len());
    // Its trials are no work of an agent.
    assert!(environment.succeed(&["log"]).contains("nothing is recorded yet"));
    let settings = environment.project().join(".claude/settings.local.json");
    let registered = fs::read_to_string(&settings).unwrap();
    for (broken, word) in [
        (registered.replacen('{', "{ \"disableAllHooks\": true,", 1), "switched off"),
        (registered.replace("checkrein-hook", "gone/checkrein-hook"), "canary"),
        ("{ broken".to_owned(), "not valid JSON"),
    ] {
        fs::write(&settings, broken).unwrap();
        let output = environment.checkrein(&["doctor"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn a_condition_that_cannot_be_evaluated_is_told_by_doctor() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    fs::write(
        environment.project().join("checkrein.yaml"),
        "step_reviewer:\n  rules:\n    custom:\n      - name: no_lists\n        when: action.comand.contains(\"ls\")\n        decision: block\n        \
         reason: lists are out\n",
    )
    .unwrap();
    assert_eq!(environment.checkrein(&["config", "check"]).status.code(), Some(1));
    let output = environment.checkrein(&["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("comand") && !text.contains("mode enforce"), "{text}");
}

#[test]
fn what_doctor_tries_leaves_nothing_behind_and_proves_the_rule_alone() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.bash("work", "ls");
    let files = || {
        let mut files = Vec::new();
        let mut folders = vec![environment.state()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push((fs::read(&path).unwrap(), path)) }
            }
        }
        files.sort();
        files
    };
    let before = files();
    for _ in 0..2 {
        environment.succeed(&["doctor"]);
    }
    assert!(files() == before, "the state directory is as it was");
    for command in
        [&["log"][..], &["sessions"], &["incidents"], &["reviews", "--open"], &["watch", "--once", "--all"]]
    {
        let told = environment.succeed(command);
        assert!(!told.contains("canary") && !told.contains("rm -rf"), "{command:?}\n{told}");
    }
    // A halt answers every call, and a run its limits: neither proves that the rule holds, nor that it does not.
    for name in ["checkrein-canary", "ALL"] {
        fs::create_dir_all(environment.state().join("halts")).unwrap();
        fs::write(environment.state().join("halts").join(name), "").unwrap();
    }
    assert!(environment.succeed(&["doctor"]).contains("is denied"));
    environment.configure("config.yaml", "mode: observe\n");
    // What a user has not confirmed yet counts neither for a call nor for the trial.
    let told = environment.succeed(&["doctor"]);
    assert!(told.contains("is denied") && told.contains("lets pass more (mode)"), "{told}");
    environment.succeed(&["trust", "--yes"]);
    let told = environment.succeed(&["doctor"]);
    assert!(told.contains("let `rm -rf ~` pass") && !told.contains("is denied"), "{told}");
    assert_eq!(told.lines().last(), Some("NOT enforced: the mode is observe"), "{told}");
    // What a user trusts counts for the trial as it does for a call.
    environment.configure("config.yaml", "");
    environment.write("checkrein.yaml", "mode: observe\n");
    assert!(environment.succeed(&["doctor"]).contains("is denied"));
    environment.succeed(&["trust", "--yes"]);
    assert!(environment.succeed(&["doctor"]).contains("let `rm -rf ~` pass"));
}

#[test]
fn check_explains_and_its_exit_status_tells_the_verdict() {
    let environment = TestEnvironment::new();
    environment.write("notes/plan.md", "only here\n");
    for (name, command, status) in [
        ("ok", "ls -la", 0),
        ("nudge", "git push --force origin feature/login", 0),
        ("block", "rm -rf ~", 2),
        ("saved", "rm -rf notes", 0),
        ("escalate", "git push --force origin main", 3),
    ] {
        let output = environment.checkrein(&["check", command]);
        assert_eq!(output.status.code(), Some(status), "{command}");
        insta::assert_snapshot!(
            format!("check_{name}"),
            stable(&environment, &String::from_utf8_lossy(&output.stdout))
        );
    }
    assert_eq!(environment.checkrein(&["check"]).status.code(), Some(1));
    assert_eq!(
        environment.checkrein(&["check", "--no-such-flag"]).status.code(),
        Some(1),
        "2 would mean block"
    );
}

#[test]
fn a_command_that_no_shell_runs_is_told_with_the_place_of_its_error() {
    let environment = TestEnvironment::new();
    for (command, place) in [("echo 'a", Some((1, 6))), ("ls\necho 'a", None), ("echo a", None)] {
        let said = environment.succeed(&["check", command]);
        let told = "No shell runs this: syntax error at line 1, column 6";
        assert_eq!(said.lines().nth(1) == Some(told), place.is_some(), "{command}: {said}");
        let answer = environment.succeed(&["check", "--json", command]);
        let answer: Json = serde_json::from_str(&answer).unwrap();
        let in_json = place.map(|(line, column)| json!({ "line": line, "column": column }));
        assert_eq!(answer.get("syntax_error"), in_json.as_ref(), "{answer}");
    }
}

// Source: seed 001-13, 002-16, 002-47
#[test]
fn a_batch_is_answered_line_by_line_in_order() {
    let environment = TestEnvironment::new();
    // What is nested deeply costs no other question its answer.
    let functions = (0..1000).map(|n| format!("f{n}() {{ f{}; }}\n", n + 1)).collect::<Vec<_>>().concat();
    let chain_of_functions = format!("{functions}f1000() {{ rm -rf ~; }}\nf0");
    let questions = [
        json!({ "id": "a", "command": "ls" }).to_string(),
        json!({ "id": 2, "command": "rm -rf ~" }).to_string(),
        "not json".to_owned(),
        json!({ "id": "c", "tool": "Read", "input": { "file_path": "/etc/hostname" } }).to_string(),
        json!({ "id": "d" }).to_string(),
        json!({ "id": "e", "command": "rm -rf build", "cwd": "src" }).to_string(),
        json!({ "id": "f", "command": chain_of_functions }).to_string(),
        json!({ "id": "g", "command": "ls" }).to_string(),
    ]
    .join("\n");
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["check", "--batch", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(questions.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a line could not be read");
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Json> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(
        ids,
        [
            &json!("a"),
            &json!(2),
            &Json::Null,
            &json!("c"),
            &json!("d"),
            &json!("e"),
            &json!("f"),
            &json!("g")
        ]
    );
    // On a busy machine so long a text may not be read in time, which is asked about.
    assert_ne!(answers[6]["verdict"], "ok");
    assert_eq!(answers[7]["verdict"], "ok");
    assert_eq!(answers[0]["verdict"], "ok");
    assert_eq!(answers[1]["verdict"], "block");
    assert!(
        answers[2]["error"].as_str().unwrap().starts_with("line 3: column 2: expected"),
        "{}",
        answers[2]
    );
    assert_eq!(answers[5]["effects"][0]["target"], json!(environment.project().join("src/build")));
    for key in [
        "verdict",
        "decision",
        "flagged",
        "risk",
        "rationality",
        "effects",
        "rules",
        "reason",
        "reasons",
        "alternatives",
        "mitigations",
        "intent",
        "confidence",
        "scope",
        "policy",
        "resources",
    ] {
        assert!(answers[1].get(key).is_some(), "{key}");
    }
    assert_eq!((&answers[0]["scope"], &answers[1]["scope"]), (&json!("inside"), &json!("outside")));
    assert_eq!(answers[0]["policy"], answers[1]["policy"], "one policy");
    assert_eq!(
        answers[5]["resources"],
        json!({
            "file_operations": 1, "programs": 1, "connections": 0, "bytes_written": 0, "extent": "at_least",
        })
    );
}

// Source: seed 002-5
#[test]
fn log_show_and_sessions_tell_what_happened() {
    let environment = TestEnvironment::new();
    environment.bash("first-session", "ls -la");
    environment.bash("first-session", "rm -rf ~");
    insta::assert_snapshot!("log", stable(&environment, &environment.succeed(&["log"])));
    insta::assert_snapshot!(
        "log_blocks",
        stable(&environment, &environment.succeed(&["log", "--verdict", "block"]))
    );
    insta::assert_snapshot!("show", stable(&environment, &environment.succeed(&["show", "first-session:2"])));
    insta::assert_snapshot!("sessions", stable(&environment, &environment.succeed(&["sessions"])));
    assert_eq!(environment.succeed(&["log", "--json"]).lines().count(), 2);
    let missing = environment.checkrein(&["show", "nothing-of-that-name"]);
    insta::assert_snapshot!("show_missing", stable(&environment, &String::from_utf8_lossy(&missing.stderr)));
}

#[test]
fn audit_finds_an_edit_and_exports() {
    let environment = TestEnvironment::new();
    for command in ["ls", "rm -rf ~", "pwd"] {
        environment.bash("s", command);
    }
    insta::assert_snapshot!("audit_whole", stable(&environment, &environment.succeed(&["audit", "verify"])));
    assert_eq!(environment.succeed(&["audit", "export"]).lines().count(), 3);
    assert_eq!(environment.succeed(&["audit", "export", "--form", "csv"]).lines().count(), 4);
    let found = |form: &str| environment.succeed(&["audit", "export", "--form", form]);
    let (cef, ocsf) = (found("cef"), found("ocsf"));
    assert!(cef.lines().count() == 1 && cef.contains("|tool.review|Tool call reviewed|6|"), "{cef}");
    assert!(cef.contains(" act=block ") && !cef.contains("rm -rf"), "{cef}");
    let event: Json = serde_json::from_str(&ocsf).unwrap();
    assert_eq!((&event["class_uid"], &event["disposition"]), (&2004.into(), &"Blocked".into()));
    let ledger = environment.state().join("sessions/s/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, text.replacen("\"verdict\":\"block\"", "\"verdict\":\"ok\"   ", 1)).unwrap();
    let output = environment.checkrein(&["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("edited"),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn an_export_of_events_goes_on_with_those_that_come_each_once() {
    let environment = TestEnvironment::new();
    let refused = environment.checkrein(&["audit", "export", "--form", "csv", "--follow"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--form cef"), "{refused:?}");
    environment.bash("s", "rm -rf ~");
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["audit", "export", "--form", "cef", "--follow"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("cs1=s "));
    // A session that begins later, and the one from before.
    environment.bash("t", "rm -rf ~");
    environment.bash("s", "ls");
    environment.bash("s", "rm -rf /");
    let mut after = [next(), next()].map(|line| line.split(" cs1=").nth(1).unwrap()[..2].to_owned());
    after.sort();
    assert_eq!(after, ["s ", "t "]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines.next().is_none(), "each event is told once");
}

#[test]
fn config_shows_where_settings_come_from_and_points_at_mistakes() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", "step_reviewer:\n  risk:\n    high_threshold: 0.7\n");
    let shown = environment.succeed(&["config", "show"]);
    let line = shown.lines().find(|line| line.contains("risk.high_threshold")).unwrap();
    assert!(line.contains("0.7") && line.contains("checkrein.yaml:3"), "{line}");
    environment.write("checkrein.yaml", "safety:\n  pipelines:\n    release:\n      profile: strict\n");
    let shown = environment.succeed(&["config", "show"]);
    let line = shown.lines().find(|line| line.contains("safety.pipelines.release.profile")).unwrap();
    assert!(line.contains("strict") && line.contains("checkrein.yaml:4"), "{line}");
    let json: Json = serde_json::from_str(&environment.succeed(&["config", "show", "--json"])).unwrap();
    let rows = json["settings"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["key"] == "safety.pipelines.release.profile" && row["from"]["line"] == 4)
    );
    environment.write(
        "checkrein.yaml",
        "step_reviewer:\n  risk:\n    high_treshold: 0.7\n    medium_threshold: much\n",
    );
    let output = environment.checkrein(&["config", "check"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(
        "config_mistakes",
        stable(&environment, &String::from_utf8_lossy(&output.stderr))
    );
    let schema: Json = serde_json::from_str(&environment.succeed(&["config", "schema"])).unwrap();
    assert!(schema["properties"]["step_reviewer"].is_object());
}

#[test]
fn replay_plays_the_example_of_this_repository() {
    let environment = TestEnvironment::new();
    let example = support::repository().join("examples/session.jsonl");
    let text = environment.succeed(&["replay", example.to_str().unwrap()]);
    insta::assert_snapshot!("replay", stable(&environment, &text));
    let line = environment.succeed(&["replay", example.to_str().unwrap(), "--json"]);
    let answer: Json = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["steps"], 11);
    for key in ["id", "detections", "interventions", "verdicts", "stopped_at"] {
        assert!(answer.get(key).is_some(), "{key}");
    }
}

#[test]
fn the_settings_are_shown_by_a_part_of_their_keys() {
    let environment = TestEnvironment::new();
    let shown = environment.succeed(&["config", "show", "limits"]);
    assert!(shown.contains("limits.dollars") && !shown.contains("snapshots."), "{shown}");
    let settings: serde_json::Value =
        serde_json::from_str(&environment.succeed(&["config", "show", "limits.dollars", "--json"])).unwrap();
    assert_eq!(settings["settings"].as_array().unwrap().len(), 1, "{settings}");
    let none = environment.checkrein(&["config", "show", "nonsense"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&none.stderr).contains("no setting has `nonsense` in its name"),
        "{none:?}"
    );
}

#[test]
fn a_replay_of_nothing_says_that_nothing_was_played() {
    let environment = TestEnvironment::new();
    environment.write("empty.jsonl", "\n\n");
    let output = environment.checkrein(&["replay", "empty.jsonl"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("nothing was played"), "{said}");
}
