//! `checkrein run`: what an agent is heard doing is judged where no hook does it, its failures have classes, and what may pass is tried again.
//!
//! The agents here are scripts that talk as Claude Code and Codex do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::{AT_ONCE, TestEnvironment, processes_in, shell_call};

const OPENED: &str = r#"{"type":"system","subtype":"init","session_id":"heard-1"}"#;
const BUSY: &str = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 {\"type\":\"overloaded_error\"}","session_id":"heard-1"}"#;

/// One call of Claude and its answer, as two lines.
fn call(id: &str, command: &str) -> String {
    let used = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
    let answered = json!({ "type": "tool_result", "tool_use_id": id, "content": "same", "is_error": false });
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let row = |kind: &str, part: Json| json!({ "type": kind, "message": { "role": kind, "id": id, "model": "claude-sonnet-4-5", "usage": usage, "content": [part] } });
    format!("{}\n{}", row("assistant", used), row("user", answered))
}

struct Scene {
    environment: TestEnvironment,
}

impl Scene {
    /// With an agent that says these lines, one after the other, and then runs `then`.
    fn new(lines: &[String], then: &str) -> Self {
        let scene = Self { environment: TestEnvironment::new() };
        scene.says(lines, then);
        scene
    }

    fn says(&self, lines: &[String], then: &str) {
        self.environment.write("lines", &(lines.join("\n") + "\n"));
        self.environment.write(
            "agent.sh",
            &format!(
                "while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep 0.02; done < lines\n{then}\n"
            ),
        );
    }

    fn output(&self, options: &[&str]) -> Output {
        self.environment.checkrein(&[&["--json", "run"], options, &["--", "bash", "agent.sh"]].concat())
    }

    fn report(&self, options: &[&str]) -> Json {
        let output = self.output(options);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Json = serde_json::from_str(text.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(report["status"], output.status.code().unwrap(), "{report}");
        report
    }

    /// A program with this name before all others, which is that script.
    fn program(&self, name: &str, script: &str) -> String {
        let folder = self.environment.home().join("bin");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), format!("#!/bin/bash\n{script}\n")).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
    }
}

fn looping() -> Vec<String> {
    let calls = (0..40).map(|number| call(&format!("t{number}"), "ls"));
    std::iter::once(OPENED.to_owned()).chain(calls).collect()
}

// Source: seed 001-7, 001-36
#[test]
fn a_loop_that_no_hook_sees_ends_the_run() {
    let scene = Scene::new(&looping(), "sleep 60");
    scene.environment.configure("config.yaml", AT_ONCE);
    let report = scene.report(&[]);
    assert_eq!(
        (report["stopped_by"].as_str(), report["status"].as_u64()),
        (Some("watched"), Some(116)),
        "{report}"
    );
    assert!(report["reason"].as_str().unwrap().starts_with("stuck loop"), "{report}");
    assert_eq!(report["watched"]["patterns"], json!(["stuck_loop"]));
    assert_eq!(processes_in(&scene.environment.project()), Vec::<String>::new());
}

#[test]
fn under_observation_a_loop_is_told_and_ends_nothing() {
    let scene = Scene::new(&looping(), "exit 4");
    scene.environment.configure("config.yaml", &format!("mode: observe\n{AT_ONCE}"));
    let report = scene.report(&[]);
    assert_eq!((report["stopped_by"].as_str(), report["status"].as_u64()), (None, Some(4)));
    assert_eq!(report["watched"]["patterns"], json!(["stuck_loop"]));
}

// Source: seed 001-36
#[test]
fn calls_that_the_hooks_reviewed_are_theirs() {
    let scene = Scene::new(&[], "");
    let environment = &scene.environment;
    let mut script = format!("echo '{OPENED}'\n");
    for number in 0..6 {
        let id = format!("t{number}");
        let payload = environment.payload("heard-1", "PreToolUse", shell_call(&id, "rm -rf ~", json!({})));
        environment.write(&id, &String::from_utf8(payload).unwrap());
        environment.write(&format!("{id}.lines"), &call(&id, "rm -rf ~"));
        let hook = env!("CARGO_BIN_EXE_checkrein-hook");
        script.extend([hook, " claude < ", &id, " > /dev/null; cat ", &id, ".lines; echo\n"]);
    }
    environment.write("agent.sh", &script);
    let report = scene.report(&["--profile", "unattended", "--memory", "4G"]);
    assert_eq!(report["watched"]["unguarded"], 0, "{report}");
    assert_eq!(report["watched"]["guarded"], 6, "{report}");
}

#[test]
fn a_call_that_would_have_been_blocked_ends_a_run_while_it_goes_on() {
    let announced = |command: &str| call("t1", command).lines().next().unwrap().to_owned();
    let lines = [OPENED.to_owned(), announced("rm -rf ~")];
    let scene = Scene::new(&lines, "sleep 60");
    let report = scene.report(&["--profile", "unattended", "--memory", "4G", "--time", "30s"]);
    assert_eq!(report["stopped_by"], "unguarded", "{report}");
    assert_eq!(report["watched"]["refusable"], 1, "{report}");
    // What may run goes on.
    let scene = Scene::new(&[OPENED.to_owned(), announced("ls")], "sleep 4; exit 3");
    let report = scene.report(&["--profile", "unattended", "--memory", "4G"]);
    assert_eq!(report["stopped_by"], Json::Null, "{report}");
}

#[test]
fn words_of_a_refusal_hide_no_call_where_no_hook_could_have_refused_it() {
    for (tool, words) in [
        ("mcp__sh__run", "checkrein stopped this call: x"),
        ("mcp__sh__run", "The user doesn't want to proceed with this tool use. The tool use was rejected"),
        ("Bash", "checkrein stopped this call: x"),
    ] {
        let told = call("t1", "rm -rf ~").replace("\"Bash\"", &format!("\"{tool}\""));
        let told = told
            .replace("\"same\"", &json!(words).to_string())
            .replace("\"is_error\":false", "\"is_error\":true");
        let scene = Scene::new(&[OPENED.to_owned(), told], "sleep 1; exit 3");
        let report = scene.report(&["--profile", "unattended", "--memory", "4G"]);
        assert_eq!(report["stopped_by"], "unguarded", "{tool}: {words}: {report}");
    }
}

// Source: seed 001-37
#[test]
fn a_call_that_would_have_been_blocked_is_said_and_ends_a_run_that_nobody_watches() {
    let lines = [OPENED.to_owned(), call("t1", "ls"), call("t2", "rm -rf ~")];
    let scene = Scene::new(&lines, "sleep 1; exit 3");
    let output = scene.environment.checkrein(&["run", "--", "bash", "agent.sh"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "with the user near it goes on: {said}");
    assert!(said.contains("no hook reviewed `Bash rm -rf ~`, which would have been stopped"), "{said}");
    assert!(said.contains("1 call ran that would have been stopped"), "{said}");

    let report = scene.report(&["--profile", "unattended", "--memory", "4G"]);
    assert_eq!(
        (report["stopped_by"].as_str(), report["status"].as_u64()),
        (Some("unguarded"), Some(115)),
        "{report}"
    );
}

// Source: seed 001-37
#[test]
fn what_codex_does_is_judged_before_and_after() {
    let item = |kind: &str, more: &str| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"i1","type":"command_execution","command":"bash -lc 'rm -rf ~'"{more}}}}}"#
        )
    };
    let declined = [
        r#"{"type":"thread.started","thread_id":"c1"}"#.to_owned(),
        item("started", ""),
        item("completed", r#","status":"declined""#),
        r#"{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":1}}"#.to_owned(),
    ];
    let unattended = ["--profile", "unattended", "--memory", "4G"];
    let scene = Scene::new(&declined, "exit 0");
    assert_eq!(scene.report(&unattended)["status"], 0, "what Codex itself refused did not run");
    let mut ran = declined;
    ran[2] = item("completed", r#","aggregated_output":"","exit_code":0,"status":"completed""#);
    scene.says(&ran, "sleep 60");
    assert_eq!(scene.report(&unattended)["stopped_by"], "unguarded");
}

#[test]
fn the_strict_profile_wants_hooks_that_work_and_gives_a_plain_environment() {
    let scene = Scene::new(&[OPENED.to_owned(), call("t1", "ls")], "");
    let script = format!("echo \"secret:$SECRET profile:$CHECKREIN_PROFILE\"\nbash {}", "agent.sh");
    let path = scene.program("claude", &(script + "\nsleep 60"));
    let run = |options: &[&str], agent: &[&str]| {
        let mut command = scene.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let words = [&["run", "--profile", "strict", "--memory", "4G"], options, &["--"], agent].concat();
        let output =
            command.args(words).env("PATH", &path).env("SECRET", "s").stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, String::from_utf8(output.stdout).unwrap())
    };
    let (status, said, _) = run(&[], &["bash", "agent.sh"]);
    assert!(status == Some(125) && said.contains("`bash` has no hooks of ours"), "{said}");
    let (status, said, _) = run(&[], &["claude"]);
    assert!(status == Some(125) && said.contains("no hook is registered here"), "{said}");
    scene.environment.succeed(&["init", "--yes"]);
    let (status, said, _) = run(&[], &["claude", "--setting-sources=user"]);
    assert!(status == Some(125) && said.contains("the hooks may not run"), "{said}");
    let (status, said, output) = run(&["--net", "none"], &["claude"]);
    assert!(output.starts_with("secret: profile:strict\n"), "{output}");
    assert_eq!(status, Some(115), "a call that no hook reviewed ends it: {said}");
}

// Source: seed 004-62
#[test]
fn what_may_pass_is_tried_again_with_the_same_session_and_one_purse() {
    let scene = Scene::new(&[], "");
    let answer = r#"{"type":"assistant","message":{"id":"mN","model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":10},"content":[{"type":"text","text":"hm"}]}}"#;
    let script = format!(
        "echo \"$CHECKREIN_ATTEMPT $*\" >> tries\necho '{OPENED}'\necho '{answer}'\n[ $(wc -l < tries) = 2 ] && exit 0\necho '{BUSY}'\nexit 1"
    );
    let path = scene.program("claude", &script);
    let run = |options: &[&str]| {
        let mut command = scene.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let words = [&["--json", "run"], options, &["--", "claude", "-p", "do it"]].concat();
        let output = command.args(words).env("PATH", &path).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_str::<Json>(text.lines().last().unwrap()).unwrap_or_else(|_| panic!("{text}"))
    };
    let report = run(&["--retries", "2"]);
    assert_eq!((report["status"].as_u64(), report["attempts"].as_u64()), (Some(0), Some(2)), "{report}");
    assert_eq!(report["tokens"]["input"], 2000, "both attempts are paid for");
    let tries = fs::read_to_string(scene.environment.project().join("tries")).unwrap();
    assert_eq!(tries, "1 -p do it\n2 --resume heard-1 -p do it\n");

    fs::remove_file(scene.environment.project().join("tries")).unwrap();
    let report = run(&["--retries", "2", "--max-iterations", "1"]);
    assert_eq!(report["attempts"], 1, "what is used up is not there for another attempt: {report}");
    assert_eq!(report["failure"], json!({ "class": "transient", "cause": "capacity" }));
}

/// A transcript as Claude Code writes it: a prompt, and calls with their answers.
fn transcript(calls: usize) -> String {
    let mut rows = vec![
        json!({ "type": "user", "uuid": "u0", "parentUuid": null, "message": { "role": "user", "content": "do it" } }),
    ];
    for number in 1..=calls {
        let (used, answered) = (format!("a{number}"), format!("u{number}"));
        let call = json!({ "type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {} });
        let answer = json!({ "type": "tool_result", "tool_use_id": format!("t{number}"), "content": "x" });
        rows.push(json!({ "type": "assistant", "uuid": used, "parentUuid": format!("u{}", number - 1), "message": { "content": [call] } }));
        rows.push(json!({ "type": "user", "uuid": answered, "parentUuid": used, "message": { "content": [answer] } }));
    }
    rows.iter().map(Json::to_string).chain([String::new()]).collect::<Vec<_>>().join("\n")
}

// Source: seed 000-38
#[test]
fn a_conversation_is_set_back_to_before_the_trouble_with_what_was_learned() {
    let scene = Scene::new(&[], "");
    let environment = &scene.environment;
    environment.configure("config.yaml", AT_ONCE);
    environment.write("transcript.jsonl", &transcript(40));
    let place = environment.project().join("transcript.jsonl");
    let hook = env!("CARGO_BIN_EXE_checkrein-hook");
    // Two calls that get on, then one that fails in the same way again and again.
    let mut loops = String::new();
    for number in 1..=24 {
        let id = format!("t{number}");
        let command = if number < 3 { format!("echo {number} > made-{number}") } else { "make".to_owned() };
        let name = |more: &Json| {
            let mut fields = more.clone();
            fields["transcript_path"] = json!(place);
            fields
        };
        let before = shell_call(&id, &command, name(&json!({})));
        environment.write(
            &format!("{id}.pre"),
            &String::from_utf8(environment.payload("heard-1", "PreToolUse", before)).unwrap(),
        );
        let (event, outcome) = if number < 3 {
            ("PostToolUse", json!({ "tool_response": { "stdout": "done" } }))
        } else {
            ("PostToolUseFailure", json!({ "error": "Exit code 2\nmake: no rule to make target" }))
        };
        let after = shell_call(&id, &command, name(&outcome));
        environment.write(
            &format!("{id}.post"),
            &String::from_utf8(environment.payload("heard-1", event, after)).unwrap(),
        );
        let ran = if number < 3 { command.as_str() } else { "true" };
        loops.extend([format!(
            "answer=$({hook} claude < {id}.pre); echo \"$answer\" >> answers\ncase $answer in *deny*) ;; *) {ran}; {hook} claude < {id}.post >> answers ;; esac\n\
             grep -q '\"continue\":false' answers && sleep 60\n"
        )]);
    }
    let answer = r#"{"type":"assistant","message":{"id":"m1","model":"claude-sonnet-4-5","usage":{"input_tokens":10,"output_tokens":10},"content":[{"type":"text","text":"hm"}]}}"#;
    let script = format!(
        "printf '%s\\0' \"$@\" >> tries; echo >> tries\necho '{OPENED}'\necho '{answer}'\n[ $(wc -l < tries) -gt 1 ] && exit 0\n{loops}exit 7"
    );
    let path = scene.program("claude", &script);
    let run = |profile: &str| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let words =
            ["run", "--profile", profile, "--memory", "4G", "--time", "120s", "--", "claude", "-p", "do it"];
        command.args(words).env("PATH", &path).stdin(Stdio::null()).output().unwrap()
    };
    let output = run("unattended");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let tries = fs::read_to_string(environment.project().join("tries")).unwrap_or_default();
    let answers = fs::read_to_string(environment.project().join("answers")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{said}\n{answers}\n{tries}");
    assert!(said.contains("set back to before action 3"), "{said}\n{answers}\n{tries:?}");
    let second = tries.split("do it\0\n").nth(1).unwrap_or_else(|| panic!("{tries:?}"));
    let words: Vec<&str> = second.split('\0').collect();
    assert_eq!(&words[..5], ["--resume", "heard-1", "--resume-session-at", "u2", "-p"], "{words:?}");
    let learned = words[5];
    assert!(
        learned.contains("checkrein set this conversation back") && learned.contains("`make`"),
        "{learned}"
    );
    assert!(learned.lines().count() <= 5, "{learned}");
    let kept = environment.records("heard-1");
    let event = kept.iter().find(|record| record["body"]["name"] == "conversation_set_back");
    assert_eq!(event.expect("it is on record")["body"]["fields"]["before"], 3);

    // With a user near, who is asked about files, nothing is set back by itself.
    for name in ["tries", "answers"] {
        fs::remove_file(environment.project().join(name)).unwrap();
    }
    let output = run("interactive");
    let tries = fs::read_to_string(environment.project().join("tries")).unwrap();
    assert_eq!(tries.matches("--resume-session-at").count(), 0, "{tries:?} {output:?}");
}

#[test]
fn attempts_share_one_worktree_and_going_on_keeps_the_manner() {
    let scene = Scene::new(&[], "");
    let script = format!(
        "echo x >> tries\necho '{OPENED}'\n[ $(wc -l < tries) = 2 ] && sleep 60\necho '{BUSY}'\nexit 1"
    );
    let path = scene.program("claude", &script);
    let run = |options: &[&str]| {
        let mut command = scene.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let words = [&["--json", "run"], options].concat();
        let output = command.args(words).env("PATH", &path).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_str::<Json>(text.lines().last().unwrap()).unwrap_or_else(|_| panic!("{text}"))
    };
    let begun =
        run(&["--retries", "1", "--worktree", "w", "--idle-time", "1s", "--", "claude", "-p", "do it"]);
    assert_eq!(
        (begun["attempts"].as_u64(), begun["stopped_by"].as_str()),
        (Some(2), Some("idle")),
        "{begun}"
    );
    let place = Path::new(begun["directory"].as_str().unwrap());
    assert_eq!(fs::read_to_string(place.join("tries")).unwrap(), "x\nx\n", "one worktree for both");
    fs::remove_file(place.join("tries")).unwrap();

    let gone_on = run(&["--resume"]);
    assert_eq!(gone_on["run"], begun["run"]);
    assert_eq!(
        (gone_on["attempts"].as_u64(), gone_on["stopped_by"].as_str()),
        (Some(2), Some("idle")),
        "neither retries nor the limit of silence were given again: {gone_on}"
    );
}

// Source: seed 001-51, 001-52
#[test]
fn the_limits_of_the_configuration_hold_and_the_command_line_says_otherwise() {
    let scene = Scene::new(&[OPENED.to_owned()], "sleep 60");
    scene.environment.configure("config.yaml", "limits:\n  execution_seconds: 1\n");
    assert_eq!(scene.report(&[])["stopped_by"], "time");
    scene.environment.configure("config.yaml", "profile: unattended\n");
    scene.says(&looping(), "sleep 60");
    assert_eq!(scene.report(&["--max-iterations", "2"])["stopped_by"], "iterations");
    let run = |line: &str| scene.output(&[line, "x"]).status.code();
    scene.environment.configure("config.yaml", "limits: many\n");
    assert_eq!(run("--clean-environment"), Some(125), "nothing runs by half of a configuration");
}

#[test]
fn retries_in_retries_do_not_multiply() {
    let scene = Scene::new(&[BUSY.to_owned()], "echo x >> tries; exit 1");
    let program = env!("CARGO_BIN_EXE_checkrein");
    let output = scene.environment.checkrein(&[
        "run",
        "--retries",
        "1",
        "--",
        program,
        "run",
        "--retries",
        "3",
        "--",
        "bash",
        "agent.sh",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("what is above tries again already"), "{said}");
    assert_eq!(fs::read_to_string(scene.environment.project().join("tries")).unwrap(), "x\nx\n");
}

// Source: seed 004-59
#[test]
fn a_provider_that_keeps_failing_is_left_alone_until_it_may_have_recovered() {
    let scene = Scene::new(&[BUSY.to_owned()], "echo x >> tries; exit 1");
    for _ in 0..5 {
        assert_eq!(scene.report(&[])["failure"]["class"], "transient");
    }
    let refused = scene.output(&[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(92), "{said}");
    assert!(
        said.contains("failed 5 times within minutes") && said.contains("earliest retry at 20"),
        "{said}"
    );
    let tries = || fs::read_to_string(scene.environment.project().join("tries")).unwrap().lines().count();
    assert_eq!(tries(), 5, "nothing was run");
    let report = scene.report(&["--ignore-breaker", "--retries", "3"]);
    assert!(report["earliest_retry"].is_string(), "{report}");
    assert_eq!(tries(), 6, "while it is open nothing is tried again");
    let other = scene.environment.checkrein(&["run", "--", "true"]);
    assert_eq!(other.status.code(), Some(0), "others are not concerned");
}

#[test]
fn a_key_that_is_wrong_is_not_tried_again_and_silence_once() {
    let wrong = BUSY.replace("529", "401").replace("overloaded_error", "authentication_error");
    let scene = Scene::new(&[wrong], "exit 1");
    let report = scene.report(&["--retries", "3"]);
    assert_eq!(
        (report["attempts"].as_u64(), report["failure"]["class"].as_str()),
        (Some(1), Some("permanent"))
    );
    scene.says(&[OPENED.to_owned()], "exec sleep 60");
    let report = scene.report(&["--retries", "3", "--idle-time", "300ms"]);
    assert_eq!(
        (report["attempts"].as_u64(), report["stopped_by"].as_str(), report["status"].as_u64()),
        (Some(2), Some("idle"), Some(117)),
        "{report}"
    );
    assert_eq!(report["failure"]["class"], "idle_timeout");
    assert_eq!(processes_in(&scene.environment.project()), Vec::<String>::new());
}

#[test]
fn a_credential_reaches_the_agent_and_no_word_of_ours() {
    let scene = Scene::new(&[OPENED.to_owned(), call("t1", "rm -rf ~ # hunter2hunter2")], "sleep 60");
    let environment = &scene.environment;
    let with_input = |words: &[&str], input: &str| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let mut child = command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    assert!(with_input(&["credential", "set", "model"], "hunter2hunter2\n").status.success());
    let file = environment.home().join(".config/checkrein/credentials/model");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(environment.succeed(&["credential", "get", "model"]), "hunter2hunter2\n");
    assert!(environment.succeed(&["credential", "list"]).contains("model"));
    let shown = environment.checkrein(&["run", "--credential", "model=KEY", "--", "bash", "-c", "echo $KEY"]);
    assert_eq!(shown.stdout, b"hunter2hunter2\n");
    let output = scene.output(&["--profile", "unattended", "--memory", "4G", "--credential", "model=KEY"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(115) && said.contains("[credential model]"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");

    // A hook of the agent masks it in the records.
    let payload =
        environment.payload("kept", "PreToolUse", shell_call("t9", "echo hunter2hunter2", json!({})));
    environment.write("payload", &String::from_utf8(payload).unwrap());
    let hook = format!("{} claude < payload", env!("CARGO_BIN_EXE_checkrein-hook"));
    environment.succeed(&["run", "--credential", "model=KEY", "--", "bash", "-c", &hook]);
    let ledger = serde_json::to_string(&environment.records("kept")).unwrap();
    assert!(ledger.contains("[masked:credential:") && !ledger.contains("hunter2"), "{ledger}");

    let by_agent = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["credential", "get", "model"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(by_agent.status.code() == Some(1) && by_agent.stdout.is_empty());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let wide = environment.checkrein(&["credential", "get", "model"]);
    assert!(String::from_utf8_lossy(&wide.stderr).contains("others can read"));
    environment.succeed(&["credential", "delete", "model"]);
    assert!(!file.exists());
    assert_eq!(environment.checkrein(&["credential", "delete", "model"]).status.code(), Some(1));
}

// Source: seed 001-69
#[test]
fn where_there_is_a_keyring_it_keeps_credentials() {
    let scene = Scene::new(&[], "");
    let path = scene.program(
        "secret-tool",
        "case $1 in store) cat > \"$HOME/ring\";; lookup) cat \"$HOME/ring\";; clear) rm \"$HOME/ring\";; esac",
    );
    let run = |words: &[&str], input: &[u8]| {
        let mut command = scene.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(words).env("PATH", &path).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        drop(std::io::Write::write_all(&mut child.stdin.take().unwrap(), input));
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert!(run(&["credential", "set", "model"], b"k3y").contains("keyring"));
    assert_eq!(fs::read_to_string(scene.environment.home().join("ring")).unwrap(), "k3y");
    assert!(!scene.environment.home().join(".config/checkrein/credentials/model").exists());
    assert_eq!(run(&["credential", "get", "model"], b""), "k3y\n");
    assert!(run(&["credential", "list"], b"").contains("keyring"));
    assert!(run(&["credential", "delete", "model"], b"").contains("deleted"));
    assert!(!scene.environment.home().join("ring").exists());
}

/// Keeps a credential.
fn keep(environment: &TestEnvironment, name: &str, value: &str) {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let mut child = command.args(["credential", "set", name]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), value.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn authentications(environment: &TestEnvironment) -> Vec<(String, String, String)> {
    let text = environment.succeed(&["audit", "authentications", "--json"]);
    let rows = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let word = |row: &Json, key: &str| row[key].as_str().unwrap().to_owned();
    rows.map(|row| (word(&row, "act"), word(&row, "subject"), word(&row, "result"))).collect()
}

// Source: seed 001-70, 001-71, 004-60, 004-62
#[test]
fn the_next_credential_is_taken_when_the_provider_refuses_and_a_run_halts_when_all_are_used_up() {
    let spent = BUSY.replace("529", "429 You exceeded your current quota");
    let scene = Scene::new(&[], "");
    let environment = &scene.environment;
    keep(environment, "first", "value-of-the-first");
    keep(environment, "second", "value-of-the-second");
    let agent = |works: &str| {
        scene.says(
            &[OPENED.to_owned()],
            &format!("echo $KEY >> tries\n[ \"$KEY\" = {works} ] && exit 0\necho '{spent}'\nexit 1"),
        );
    };
    agent("value-of-the-second");
    let options = ["--credential", "first,second=KEY"];
    let output = scene.output(&options);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Json = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((report["status"].as_u64(), report["attempts"].as_u64()), (Some(0), Some(2)), "{said}");
    assert!(said.contains("going on with the credential `second`") && !said.contains("value-of"), "{said}");
    let tries = || fs::read_to_string(environment.project().join("tries")).unwrap();
    assert_eq!(tries(), "value-of-the-first\nvalue-of-the-second\n");
    let told = authentications(environment);
    let row =
        |act: &str, subject: &str, result: &str| (act.to_owned(), subject.to_owned(), result.to_owned());
    assert_eq!(
        told,
        [
            row("credential_kept", "first", "taken"),
            row("credential_kept", "second", "taken"),
            row("credential_used", "first", "taken"),
            row("credential_used", "first", "refused"),
            row("credential_used", "second", "taken"),
        ]
    );
    assert!(environment.succeed(&["audit", "verify"]).contains("(authentications)"));

    agent("no-value-at-all");
    let report = scene.report(&options);
    assert_eq!(
        (report["status"].as_u64(), report["stopped_by"].as_str(), report["attempts"].as_u64()),
        (Some(92), Some("credentials"), Some(2)),
        "{report}"
    );
    assert!(report["reason"].as_str().unwrap().contains("`first`, `second`"), "{report}");
    let reports = environment.succeed(&["incident", "list", "--json"]);
    assert!(reports.contains("refused every credential") && !reports.contains("value-of"), "{reports}");
    assert_eq!(scene.output(&options).status.code(), Some(92), "nor does the next run go on");
    assert_eq!(tries().lines().count(), 4);
    let pairs = ["--credential", "first,second=KEY", "--credential", "first,second,third=OTHER"];
    let uneven = scene.output(&pairs);
    assert!(String::from_utf8_lossy(&uneven.stderr).contains("as many"), "{uneven:?}");
}

// Source: seed 001-38
#[test]
fn an_error_that_stands_on_the_error_stream_alone_is_one_of_the_provider() {
    let scene = Scene::new(&[], "echo working >&2; echo 'API Error: 401 invalid api key' >&2; exit 1");
    let output = scene.output(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("working\nAPI Error: 401 invalid api key\n"), "{said}");
    let report: Json = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(report["failure"], json!({ "class": "permanent", "cause": "authentication" }));
    scene.says(&[], "echo 'API Error: 401 invalid api key' >&2");
    assert_eq!(scene.report(&[])["failure"], Json::Null, "what ends well did not fail");
}

// Source: seed 002-86, 002-87
#[test]
fn a_run_ends_with_what_its_reviews_came_to_and_which_calls_were_blocked() {
    let read = json!({ "type": "assistant", "message": { "role": "assistant", "id": "r", "model": "claude-sonnet-4-5",
        "usage": { "input_tokens": 1, "output_tokens": 1 },
        "content": [{ "type": "tool_use", "id": "r1", "name": "Read", "input": { "file_path": "README.md" } }] } });
    let answered = json!({ "type": "user", "message": { "role": "user",
        "content": [{ "type": "tool_result", "tool_use_id": "r1", "content": "text", "is_error": false }] } });
    let scene = Scene::new(&[OPENED.to_owned(), read.to_string(), answered.to_string()], "");
    let reviews = scene.report(&[])["reviews"].clone();
    assert_eq!((reviews["total"].as_u64(), reviews["blocked"].as_u64()), (Some(1), Some(0)), "{reviews}");

    scene.says(&[OPENED.to_owned(), call("t1", "ls"), call("t2", "rm -rf ~")], "");
    let reviews = scene.report(&[])["reviews"].clone();
    assert_eq!((reviews["verdicts"]["block"].as_u64(), reviews["blocked"].as_u64()), (Some(1), Some(1)));
    assert_eq!(reviews["blocked_calls"][0]["id"], "t2", "{reviews}");
    assert!(reviews["blocked_calls"][0]["action"].as_str().unwrap().contains("rm -rf ~"), "{reviews}");

    // What its hooks reviewed counts as well.
    let environment = &scene.environment;
    let payload = environment.payload("summed", "PreToolUse", shell_call("h1", "rm -rf /tmp/*", json!({})));
    environment.write("payload", &String::from_utf8(payload).unwrap());
    scene.says(&[], &format!("{} claude < payload > answer", env!("CARGO_BIN_EXE_checkrein-hook")));
    let reviews = scene.report(&[])["reviews"].clone();
    assert_eq!(reviews["blocked"], 1, "{reviews}");
    assert_eq!(reviews["blocked_calls"][0]["id"], "h1", "{reviews}");
    assert!(!reviews["blocked_calls"][0]["reason"].as_str().unwrap().is_empty(), "{reviews}");
}

// Source: seed 001-67, 001-68
#[test]
fn the_kernel_keeps_an_agent_and_what_it_starts_within_its_scope() {
    let scene = Scene::new(&[], "");
    let environment = &scene.environment;
    let outside = environment.home().join("outside.txt");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let payload = environment.payload("scoped", "PreToolUse", shell_call("h1", "rm -rf ~", json!({})));
    environment.write("payload", &String::from_utf8(payload).unwrap());
    environment.write(
        "agent.sh",
        &format!(
            "echo in > inside.txt\necho out > {outside}\nsetsid bash -c 'echo out > {outside}'\n\
             (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected\n{hook} claude < payload\nexit 3\n",
            outside = outside.display(),
            hook = env!("CARGO_BIN_EXE_checkrein-hook"),
        ),
    );
    // The project and the home lie among the temporary files of this test.
    let temporary = environment.home().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let run = |options: &[&str]| {
        drop(fs::remove_file(&outside));
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.arg("run").args(options).args(["--", "bash", "agent.sh"]).env("TMPDIR", &temporary);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, said, told) = run(&["--write", ".", "--net", "none"]);
    if told.contains("does not hold") {
        return checkrein_testkit::not_run("the kernel does not hold a scope");
    }
    assert_eq!(status, Some(3), "{told}");
    assert!(environment.project().join("inside.txt").is_file() && !outside.exists(), "{told}");
    assert!(!said.contains("connected"), "{said}");
    assert!(told.contains("outside.txt") && told.contains("--write"), "what was refused is said: {told}");
    // Its hook reviews and writes its record inside.
    assert!(said.contains("deny"), "{said} {told}");
    assert!(!environment.records("scoped").is_empty());
    let (_, said, _) = run(&[]);
    assert!(outside.exists() && said.contains("connected"), "without a scope nothing is kept");
    let (_, said, _) = run(&["--write", "."]);
    assert!(!outside.exists() && said.contains("connected"), "who names no network keeps it");
    let missing = environment.checkrein(&["run", "--write", "nowhere", "--", "true"]);
    assert_eq!(missing.status.code(), Some(125), "{missing:?}");
}

/// The profile strict keeps the agent within the scope by itself: its directory, and the host of its model.
#[test]
fn a_strict_agent_is_kept_within_a_scope_that_nobody_named() {
    let scene = Scene::new(&[], "");
    let environment = &scene.environment;
    environment.succeed(&["init", "--yes"]);
    let outside = environment.home().join("outside.txt");
    let (model, other) = (listening(), listening());
    let script = format!(
        "echo in > inside.txt\necho out > {outside}\n(exec 3<>/dev/tcp/127.0.0.1/{model}) && echo model\n\
         (exec 3<>/dev/tcp/127.0.0.1/{other}) && echo other\nexit 3\n",
        outside = outside.display(),
        model = model.local_addr().unwrap().port(),
        other = other.local_addr().unwrap().port(),
    );
    let path = scene.program("claude", &script);
    let temporary = environment.home().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let run = |options: &[&str]| {
        drop(fs::remove_file(&outside));
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let address = format!("http://127.0.0.1:{}", model.local_addr().unwrap().port());
        let profile = ["run", "--profile", "strict", "--memory", "4G"];
        let kept = ["--clean-environment", "ANTHROPIC_BASE_URL,TMPDIR"];
        command.args(profile).args(kept).args(options).args(["--", "claude"]);
        command.envs([("PATH", path.as_str()), ("ANTHROPIC_BASE_URL", &address)]).env("TMPDIR", &temporary);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, said, told) = run(&[]);
    if told.contains("does not hold") {
        return checkrein_testkit::not_run("the kernel does not hold a scope");
    }
    assert_eq!(status, Some(3), "{told}");
    assert!(told.contains("the agent runs in a sandbox"), "{told}");
    assert!(environment.project().join("inside.txt").is_file() && !outside.exists(), "{told}");
    assert!(said.contains("model") && !said.contains("other"), "{said} {told}");
    let home = environment.home().display().to_string();
    let (_, said, told) = run(&["--net", "open", "--write", &home]);
    assert!(outside.exists() && said.contains("other"), "what is named is open: {said} {told}");
}

fn listening() -> std::net::TcpListener {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap()
}

/// A command that a hook has run within bounds inside the bounds of its agent: both hold, and what only one of them can hold is said.
#[test]
fn a_scope_inside_another_one_holds_its_own_bounds() {
    let environment = TestEnvironment::new();
    let (inner, beside) = (environment.project().join("inner"), environment.project().join("beside.txt"));
    fs::create_dir(&inner).unwrap();
    let listener = listening();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "echo in > inner/a.txt\necho out > beside.txt\nchmod 755 inner/a.txt && echo chmod\n\
         (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected\nexit 7\n"
    );
    environment.write("script.sh", &script);
    let temporary = environment.home().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let nested = |inner: &[&str]| {
        let mut command = environment.command(program);
        command.args(["exec", "--write", ".", "--net", "loopback", "--", program, "exec"]);
        command.args(inner).args(["--write", "inner", "--", "bash", "script.sh"]).env("TMPDIR", &temporary);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, said, told) = nested(&["--require", "--net", "loopback"]);
    if told.contains("does not hold") {
        return checkrein_testkit::not_run("the kernel does not hold a scope");
    }
    assert_eq!(status, Some(7), "{told}");
    assert!(inner.join("a.txt").is_file() && !beside.exists(), "the inner one is the narrower one: {told}");
    assert!(said.contains("chmod") && !said.contains("connected"), "{said} {told}");
    assert!(told.contains("inside another scope: it alone holds modes"), "{told}");
    assert!(told.contains("so the command has no network"), "{told}");
    // Without `--require` what nobody holds is said, and the command runs with what the outer one leaves.
    let (status, said, told) = nested(&["--net", "loopback"]);
    assert!(
        status == Some(7) && said.contains("connected") && told.contains("which host is talked to"),
        "{told}"
    );
    assert!(!beside.exists(), "{told}");
}
