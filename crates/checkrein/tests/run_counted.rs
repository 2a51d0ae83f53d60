//! `checkrein run` over a client whose output says nothing of what it spends: its hooks count, and end it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::terminal::typed;
use support::{TestEnvironment, shell_call};

/// Works as a client does: answers, which it writes to its transcript, and asks its hooks about each call. It obeys what they say and writes
/// plain text. After a hundred answers it is done.
const CLIENT: &str = r#"
hook() { sed "s/NUMBER/$n/" $1.json | HOOK claude; }
n=0
hook SessionStart > /dev/null
while [ $n -lt 100 ]; do
  n=$((n+1))
  echo answer >> answers
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":1000},"content":[{"type":"text","text":"working"}]}}' >> "$HOME/transcript.jsonl"
  hook PreToolUse > before
  case $(cat before) in
    *'"deny"'*) hook PostToolBatch > after ;;
    *) echo ran >> ran; hook PostToolUse > after ;;
  esac
  case $(cat after) in *'"continue":false'*) break ;; *'"decision":"block"'*) break ;; esac
done
echo done
"#;

struct Client(TestEnvironment);

impl Client {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let command = "cat README.md # NUMBER";
        let transcript = environment.home().join("transcript.jsonl");
        let before = shell_call("call-NUMBER", command, json!({ "transcript_path": transcript }));
        let mut after = before.clone();
        after["tool_response"] = json!({ "stdout": "# NUMBER", "stderr": "" });
        let fields = [
            ("SessionStart", json!({ "source": "startup", "transcript_path": transcript })),
            ("PreToolUse", before),
            ("PostToolUse", after),
            ("PostToolBatch", json!({ "transcript_path": transcript })),
        ];
        for (event, fields) in fields {
            let payload = environment.payload("plain", event, fields);
            environment.write(&format!("{event}.json"), &String::from_utf8(payload).unwrap());
        }
        environment.write("agent.sh", &CLIENT.replace("HOOK", env!("CARGO_BIN_EXE_checkrein-hook")));
        Self(environment)
    }

    fn run(&self, options: &[&str]) -> (Json, Output) {
        let output = self
            .0
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args([&["--json", "run"], options, &["--", "bash", "agent.sh"]].concat())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Json = serde_json::from_str(text.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("{text}"));
        (report, output)
    }

    fn lines(&self, file: &str) -> usize {
        fs::read_to_string(self.0.project().join(file)).unwrap_or_default().lines().count()
    }
}

/// Somebody who starts an agent by hand sits at a terminal, where its stream must count as it does in a pipe.
#[test]
fn at_a_terminal_a_stream_counts_and_a_screen_does_not() {
    let environment = TestEnvironment::new();
    let answer = json!({ "type": "assistant", "session_id": "s", "message": {
        "id": "mNUMBER", "model": "claude-sonnet-4-5", "content": [],
        "usage": { "input_tokens": 1000, "output_tokens": 1000 },
    }});
    let answer = answer.to_string().replace("NUMBER", "'$n'");
    let script = format!(
        "#!/bin/bash\necho '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}}'\nfor n in $(seq 40); do echo '{answer}'; sleep 0.1; done\n"
    );
    environment.write("claude", &script);
    fs::set_permissions(environment.project().join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let ended = |words: &str| {
        let session = format!("{} run {words}", env!("CARGO_BIN_EXE_checkrein"));
        typed(&environment, &session, "")
    };
    for told in [
        "./claude -p x --output-format stream-json",
        "./claude -p x --output-format=stream-json",
        "bash claude",
    ] {
        let text = ended(&format!("--tokens 9000 -- {told}"));
        // Before the answer that would be too much, or right behind it.
        let is_ended = ["status:121", "status:122"].iter().any(|status| text.contains(status));
        assert!(is_ended && !text.contains("\"m20\""), "{told}: {text}");
    }
    // What a client shows to its user may be the stream of another run.
    let text = ended("--time 2s -- ./claude");
    assert!(text.contains("status:124") && text.contains(" 0 answers"), "{text}");
}

#[test]
fn each_limit_holds_where_only_the_hooks_can_count() {
    // One answer costs 0.018 dollars and 2000 tokens.
    let limits: [(&[&str], &str, i32, usize); 3] = [
        (&["--budget", "0.1"], "circuit_breaker", 122, 5),
        (&["--tokens", "9000"], "circuit_breaker", 122, 4),
        (&["--max-iterations", "4"], "iterations", 123, 4),
    ];
    for (options, name, status, answers) in limits {
        let client = Client::new();
        let (report, output) = client.run(options);
        assert_eq!(
            (report["stopped_by"].as_str(), output.status.code()),
            (Some(name), Some(status)),
            "{report}"
        );
        assert_eq!(client.lines("answers"), answers, "no answer is paid for in vain: {report}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("The report: `checkrein incident show "), "{said}");
        let runs: Json =
            serde_json::from_str(client.0.succeed(&["runs", "--json"]).lines().next().unwrap_or_default())
                .unwrap();
        let text = runs.to_string();
        assert!(text.contains(name), "{text}");
        assert!(runs["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{runs}");
        assert_eq!(report["iterations"], answers, "{report}");
        assert!((report["cost"].as_f64().unwrap() - 0.018 * answers as f64).abs() < 1e-6, "{report}");
        let listed: Json = serde_json::from_str(&client.0.succeed(&["sessions", "--json"])).unwrap();
        assert!(listed["debt"].as_f64().unwrap_or_default() < 0.001, "{listed}");
    }
}

#[test]
fn a_price_that_only_the_hooks_know_to_be_an_estimate_is_told() {
    let client = Client::new();
    let script = std::fs::read_to_string(client.0.project().join("agent.sh")).unwrap();
    client.0.write("agent.sh", &script.replace("claude-sonnet-4-5", "claude-mystery-9"));
    let (report, output) = client.run(&["--budget", "0.1"]);
    assert_eq!(report["estimated"]["model"], "claude-mystery-9", "{report}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no price is listed for `claude-mystery-9`"), "{said}");
}

#[test]
fn one_answer_that_is_more_than_the_budget_ends_the_run_as_over_it() {
    let client = Client::new();
    let (report, output) = client.run(&["--budget", "0.01"]);
    assert_eq!(
        (report["stopped_by"].as_str(), output.status.code()),
        (Some("budget"), Some(120)),
        "{report}"
    );
    assert_eq!(client.lines("answers"), 1, "{report}");
}

/// A client tells of an answer at its beginning, with the tokens that were known then; its transcript has what the answer came to.
#[test]
fn without_hooks_the_transcript_tells_what_an_answer_came_to() {
    let script = r#"
mkdir -p "$HOME/.claude/projects/p"
row() {
  echo '{"type":"assistant","timestamp":"'$(date -u +%FT%T.000Z)'","message":{"id":"m'$n'","model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":'$1'},"content":[{"type":"text","text":"working"}]}}'
}
echo '{"type":"system","subtype":"init","session_id":"bare"}'
for n in $(seq 60); do
  row 1
  row 20000 >> "$HOME/.claude/projects/p/bare.jsonl"
  echo answer >> answers
  sleep 1
done
"#;
    let client = Client::new();
    client.0.write("agent.sh", script);
    let (report, output) = client.run(&["--budget", "1"]);
    assert!(["circuit_breaker", "budget"].contains(&report["stopped_by"].as_str().unwrap_or_default()));
    assert!([120, 122].contains(&output.status.code().unwrap()), "{report}");
    // One costs 0.303 dollars.
    assert!(client.lines("answers") <= 8, "{report}");
    assert!(report["cost"].as_f64().unwrap() > 0.5, "{report}");
}

/// A program of this name that does this, called with these words and options; the status and what was said.
fn program(name: &str, script: &str, words: &[&str], options: &[&str]) -> (Option<i32>, String) {
    let environment = TestEnvironment::new();
    let path = environment.home().join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args([&["run"], options, &["--", path.to_str().unwrap()], words].concat())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn a_client_that_nothing_counts_is_started_told_of_and_ended_where_it_has_a_limit() {
    let rows: [(&str, &[&str], &[&str]); 4] = [
        ("claude", &["-p", "hi"], &["--budget", "1"]),
        ("claude", &["-p", "hi", "--output-format", "json"], &["--max-iterations", "4"]),
        ("codex", &["exec", "hi"], &["--tokens", "1000"]),
        ("gemini", &["-p", "hi", "--output-format", "json"], &["--budget", "1"]),
    ];
    let works_on = "echo working; while :; do sleep 0.1; done";
    std::thread::scope(|scope| {
        for (name, words, options) in rows {
            scope.spawn(move || {
                let (status, said) = program(name, works_on, words, options);
                assert_eq!(status, Some(120), "{name} {options:?}: {said}");
                let first = said.lines().next().unwrap_or_default();
                assert!(first.contains("what it spends cannot be counted"), "{said}");
                assert!(said.contains("The report: `checkrein incident show "), "{said}");
            });
        }
    });
    // It is told of, and keeps its own status, when it is done before that; without a limit nothing is said.
    let (status, said) = program("claude", "exit 7", &["-p", "hi"], &["--budget", "1"]);
    assert!(status == Some(7) && said.contains("cannot be counted"), "{said}");
    for words in [&["-p", "hi", "--output-format", "stream-json"][..], &["-p", "--output-format=stream-json"]]
    {
        let (status, said) = program("claude", "exit 7", words, &["--budget", "1"]);
        assert!(status == Some(7) && !said.contains("cannot be counted"), "{said}");
    }
    let (status, said) = program("claude", "exit 7", &["-p", "hi"], &["--budget", "0"]);
    assert_eq!((status, said.as_str()), (Some(7), ""));
}

#[test]
fn a_transcript_that_cannot_be_read_ends_a_run_with_a_budget() {
    let client = Client::new();
    let script = fs::read_to_string(client.0.project().join("agent.sh")).unwrap();
    client.0.write(
        "agent.sh",
        &script
            .replace("$HOME/transcript.jsonl", "$HOME/elsewhere.jsonl")
            .replace("hook PreTool", "sleep 0.1; hook PreTool"),
    );
    let (report, output) = client.run(&["--budget", "1"]);
    assert_eq!(
        (report["stopped_by"].as_str(), output.status.code()),
        (Some("uncounted"), Some(120)),
        "{report}"
    );
    assert!(report["reason"].as_str().unwrap().contains("transcript"), "{report}");
}

#[test]
fn answers_whose_calls_are_all_refused_are_counted_too() {
    let client = Client::new();
    for file in ["PreToolUse.json", "PostToolUse.json"] {
        let text = fs::read_to_string(client.0.project().join(file)).unwrap();
        client.0.write(file, &text.replace("cat README.md # NUMBER", "rm -rf / # NUMBER"));
    }
    let (report, output) = client.run(&["--budget", "0.05"]);
    assert_eq!(
        (report["stopped_by"].as_str(), output.status.code()),
        (Some("circuit_breaker"), Some(122)),
        "{report}"
    );
    assert_eq!((client.lines("answers"), client.lines("ran")), (2, 0), "{report}");
}

#[test]
fn a_tripwire_ends_the_run_by_its_own_name() {
    let client = Client::new();
    client.0.configure(
        "config.yaml",
        "governance:\n  tripwires:\n    - id: no_reading\n      condition: 'action.command == \"cat README.md # 1\"'\n      on_fail: {decision: halt, reason: it is not to be read, flag: high}\n",
    );
    let (report, output) = client.run(&["--time", "100s"]);
    assert_eq!(
        (report["stopped_by"].as_str(), output.status.code()),
        (Some("tripwire"), Some(116)),
        "{report}"
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("The report: `checkrein incident show "), "{said}");
    assert_eq!(client.lines("ran"), 0, "{report}");
}

#[test]
fn a_session_that_the_detectors_give_up_ends_the_run_as_theirs_and_names_the_report() {
    let client = Client::new();
    // The same call again and again, with the same result.
    for file in ["PreToolUse.json", "PostToolUse.json"] {
        let text = fs::read_to_string(client.0.project().join(file)).unwrap();
        client.0.write(file, &text.replace("README.md # NUMBER", "README.md").replace("# NUMBER", "# a"));
    }
    let (report, output) = client.run(&["--time", "100s"]);
    assert_eq!(
        (report["stopped_by"].as_str(), output.status.code()),
        (Some("watched"), Some(116)),
        "{report}"
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("The report: `checkrein incident show "), "{said}");
}
