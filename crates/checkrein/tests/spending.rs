//! What a session spends, read from the client's transcript as it grows, and what its limits do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

struct Session {
    environment: TestEnvironment,
    calls: u32,
}

impl Session {
    fn new(configuration: &str) -> Self {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", configuration);
        Self { environment, calls: 0 }
    }

    fn transcript(&self) -> PathBuf {
        self.environment.home().join("transcript.jsonl")
    }

    /// The model answers, as its client writes it down.
    fn answers(&self, model: &str, id: &str, output: u64) {
        let row = json!({ "type": "assistant", "message": {
            "id": id, "model": model, "content": [{ "type": "text", "text": "working" }],
            "usage": { "input_tokens": 1000, "output_tokens": output, "cache_read_input_tokens": 50_000 },
        }});
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.transcript()).unwrap();
        writeln!(file, "{row}").unwrap();
    }

    fn event(&self, name: &str, mut fields: Json) -> Json {
        fields["transcript_path"] = json!(self.transcript());
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    fn call(&mut self) -> Json {
        self.calls += 1;
        let command = format!("cat README.md # {}", self.calls);
        let mut fields = shell_call(&format!("call-{}", self.calls), &command, json!({}));
        let before = self.event("PreToolUse", fields.clone());
        if decision(&before).is_none() {
            fields["tool_response"] = json!({ "stdout": format!("# {}", self.calls), "stderr": "" });
            self.event("PostToolUse", fields);
        }
        before
    }

    fn spent(&self) -> Json {
        let listed: Json = serde_json::from_str(&self.environment.succeed(&["sessions", "--json"])).unwrap();
        listed["spent"].clone()
    }
}

const SONNET: &str = "claude-sonnet-4-5-20250929";

#[test]
fn the_sums_say_what_was_spent_by_day_project_and_model() {
    let mut session = Session::new("");
    session.answers(SONNET, "one", 200);
    session.call();
    session.answers("no-such-model", "two", 300);
    session.call();
    let stats: Json =
        serde_json::from_str(&session.environment.succeed(&["stats", "--here", "--json"])).unwrap();
    let listed = session.spent();
    for field in ["days", "projects"] {
        let all = stats[field].as_array().unwrap();
        assert_eq!(all.len(), 1, "{stats}");
        assert_eq!((&all[0]["calls"], &all[0]["tokens"]), (&json!(2), &json!(2500)), "{stats}");
    }
    assert_eq!(stats["models"].as_array().unwrap().len(), 2, "{stats}");
    let sum: f64 =
        stats["models"].as_array().unwrap().iter().map(|one| one["dollars"].as_f64().unwrap()).sum();
    assert!(
        (sum - stats["days"][0]["dollars"].as_f64().unwrap()).abs() < 1e-9 && sum > 0.0,
        "{stats} {listed}"
    );
    let said = session.environment.succeed(&["stats"]);
    assert!(said.contains("2500 tok") && said.contains(SONNET), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn what_a_client_does_not_tell_is_unknown_and_never_zero() {
    let mut session = Session::new("limits:\n  tokens: 5000\n");
    // A transcript as Droid writes it: messages, and no tokens.
    let row = json!({ "type": "message", "id": "m", "message": { "role": "assistant", "content": [{ "type": "text", "text": "working" }] } });
    fs::write(session.transcript(), format!("{row}\n")).unwrap();
    session.call();
    session.call();
    assert_eq!(session.spent()["tokens"], Json::Null);
    assert_eq!(session.spent()["dollars"], Json::Null);
    let environment = &session.environment;
    assert!(environment.succeed(&["session", "list"]).contains("spending unknown"));
    let log = environment.succeed(&["log", "-n", "100"]);
    assert!(!log.contains("used 0 tokens"), "{log}");
    let stats: Json = serde_json::from_str(&environment.succeed(&["stats", "--here", "--json"])).unwrap();
    assert_eq!(stats["days"][0]["tokens"], Json::Null, "{stats}");
    let said = environment.succeed(&["stats"]);
    assert!(said.contains("tokens unknown"), "{said}");
    // A limit of tokens that nobody can count is no limit that was kept.
    let records = environment.records("s");
    let unchecked =
        records.iter().any(|record| record.to_string().contains("what the session spends is not known"));
    assert!(unchecked, "{records:?}");
}

/// Passes a payload to the hook of Codex, started in this way, with this besides in its environment, and waits for the answer.
fn by_codex(
    environment: &TestEnvironment,
    way: &[&str],
    variable: Option<(&str, &str)>,
    payload: &Json,
) -> Json {
    let (input, output) = (environment.home().join("codex.in"), environment.home().join("codex.out"));
    fs::write(&input, payload.to_string()).unwrap();
    fs::write(&output, "").unwrap();
    let mut command = environment.command(way[0]);
    command.args(&way[1..]).args([env!("CARGO_BIN_EXE_checkrein-hook"), "codex"]);
    command.stdin(fs::File::open(&input).unwrap()).stdout(fs::File::create(&output).unwrap());
    command.envs(variable);
    command.status().unwrap();
    for _ in 0..400 {
        if let Ok(answer) = serde_json::from_slice(&fs::read(&output).unwrap()) {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no answer");
}

#[test]
fn what_agents_spend_that_an_agent_starts_counts_for_it() {
    const LOOSE: &[&str] = &["setsid", "--fork", "timeout", "60"];
    for (way, variable, announced, evidence) in [
        (&["timeout", "60"] as &[&str], None, "", Some("process")),
        (LOOSE, Some(("CLAUDE_CODE_SESSION_ID", "s")), "", Some("environment")),
        (LOOSE, None, "announced", Some("announcement")),
        // Nothing ties it to the other one.
        (LOOSE, None, "", None),
        // The call that was to start it was refused by the user, or by us.
        (LOOSE, None, "refused", None),
        (LOOSE, None, "stopped", None),
    ] {
        let mut session = Session::new("limits:\n  tokens: 5000\n");
        session.answers(SONNET, "one", 1000);
        session.event("SessionStart", json!({ "source": "startup" }));
        assert_eq!(decision(&session.call()), None);
        let environment = &session.environment;
        if !announced.is_empty() {
            let stopped = if announced == "stopped" { "rm -rf ~; " } else { "" };
            let command = format!("{stopped}env -i setsid codex exec 'tidy up' &");
            let call = shell_call("starts", &command, json!({}));
            environment.answer_to(&environment.payload("s", "PreToolUse", call));
        }
        if announced == "refused" {
            environment.answer_to(&environment.payload("s", "PostToolBatch", json!({})));
        }
        let rollout = environment.home().join("rollout.jsonl");
        let usage = json!({ "input_tokens": 2000, "cached_input_tokens": 0, "output_tokens": 1 });
        let told = json!({ "type": "token_count", "info": { "total_token_usage": usage } });
        fs::write(&rollout, format!("{}\n", json!({ "type": "event_msg", "payload": told }))).unwrap();
        let event = |name: &str, mut fields: Json| {
            fields["transcript_path"] = json!(rollout);
            let mut payload: Json =
                serde_json::from_slice(&environment.payload("child", name, fields)).unwrap();
            payload["permission_mode"] = json!("bypassPermissions");
            by_codex(environment, way, variable, &payload)
        };
        event("SessionStart", json!({ "source": "startup" }));
        let mut call = shell_call("first", "cat README.md", json!({}));
        event("PreToolUse", call.clone());
        call["tool_response"] = json!("# project");
        event("PostToolUse", call);
        let records = environment.records("child");
        let begun = records.iter().find(|record| record["body"]["name"] == "checkrein.started_by");
        assert_eq!(begun.map(|record| record["body"]["fields"]["evidence"].as_str().unwrap()), evidence);
        let own = event("PreToolUse", shell_call("second", "cat README.md # 2", json!({})));
        let counts = evidence.is_some();
        assert_eq!(decision(&own).is_some(), counts, "{evidence:?}: {own}");
        let above = session.call();
        assert_eq!(decision(&above).is_some(), counts, "{evidence:?}: {above}");
        if counts {
            assert!(reason(&above).contains("together with one other agent"), "{above}");
            let environment = &session.environment;
            let listed = environment.succeed(&["session", "list", "--json"]);
            let listed: Vec<Json> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let of = |name: &str| listed.iter().find(|one| one["session"] == name).unwrap();
            assert_eq!((&of("child")["parent"], &of("s")["children"]), (&json!("s"), &json!(["child"])));
            let said = environment.succeed(&["session", "list"]);
            assert!(said.contains("started by s") && said.contains("started child"), "{said}");
            // Below the one that started it.
            let place = |start: &str| said.lines().position(|line| line.starts_with(start));
            assert!(place("s  ").zip(place("  child  ")).is_some_and(|(one, other)| one < other), "{said}");
            let call = records.iter().find_map(|record| record["body"]["action_id"].as_str()).unwrap();
            let shown = environment.succeed(&["show", call]);
            assert!(shown.contains("(session child): session s."), "{shown}");
            let shown: Json = serde_json::from_str(&environment.succeed(&["show", call, "--json"])).unwrap();
            assert_eq!((&shown["session"], &shown["parent"]), (&json!("child"), &json!("s")));
            let log = environment.succeed(&["log", "-n", "100"]);
            assert!(
                log.contains("another agent started it") && log.contains("started another agent"),
                "{log}"
            );
        }
    }
}

#[test]
fn tokens_and_money_are_told_by_model() {
    let mut session = Session::new("");
    session.answers(SONNET, "one", 1);
    session.answers(SONNET, "one", 200);
    session.call();
    session.answers(SONNET, "two", 300);
    session.call();
    session.call();
    let spent = session.spent();
    assert_eq!(
        spent["tokens"],
        json!({ "input": 2000, "output": 500, "cache_write": 0, "cache_read": 100_000 })
    );
    // 2000 x 3 + 500 x 15 + 100,000 x .3 millionths.
    assert_eq!(spent["dollars"], 0.0435);
    assert_eq!(spent["models"][0]["answers"], 2);
    assert_eq!(spent["processes"], 3);
    let listed = session.environment.succeed(&["sessions"]);
    assert!(listed.contains("102500") && listed.contains("$0.04"), "{listed}");
    assert!(!session.environment.succeed(&["log"]).contains("spent"), "the log is about calls");
}

#[test]
fn what_is_not_known_is_unknown_and_what_is_not_listed_is_an_estimate_never_zero() {
    let mut session = Session::new("");
    session.call();
    assert_eq!((&session.spent()["tokens"], &session.spent()["dollars"]), (&Json::Null, &Json::Null));
    let listed = session.environment.succeed(&["sessions"]);
    assert!(listed.contains("unknown"), "{listed}");
    session.answers("claude-of-tomorrow", "one", 100);
    session.call();
    let spent = session.spent();
    assert_eq!((&spent["tokens"]["output"], &spent["dollars_estimated"]), (&json!(100), &json!(true)));
    // The dearest of the vendor, 1,000 x 15 + 100 x 75 + 100,000 x 1.5 millionths at least.
    assert!(spent["dollars"].as_f64().unwrap() >= 0.0225, "{spent}");
    let listed = session.environment.succeed(&["sessions"]);
    assert!(listed.contains("about $0."), "{listed}");
    session.environment.configure("prices.csv", "claude-of-tomorrow,1,1,1,0\n");
    session.answers("claude-of-tomorrow", "two", 100);
    session.call();
    let more = session.spent();
    let difference = more["dollars"].as_f64().unwrap() - spent["dollars"].as_f64().unwrap();
    assert!((difference - 0.0011).abs() < 1e-9, "the price of the user: {more}");
}

// Source: seed 001-53
#[test]
fn a_call_that_would_exceed_the_tokens_is_refused_before_it_runs() {
    let mut session = Session::new("limits:\n  tokens: 3500\n");
    session.answers(SONNET, "one", 200);
    assert_eq!(decision(&session.call()), None, "nothing is known yet");
    session.answers(SONNET, "two", 200);
    assert_eq!(decision(&session.call()), None, "1200 used, and 1200 more are within 3500");
    let refused = session.call();
    assert_eq!(decision(&refused), Some("deny"), "2400 used, and 1200 more are not");
    assert!(reason(&refused).contains("about 1200 more would exceed its limit of 3500"), "{refused}");
}

// Source: seed 004-4
#[test]
fn the_seed_gives_unattended_sessions_five_dollars() {
    let mut session = Session::new("profile: unattended\nlimits:\n  preset: seed\n  tokens: 100000000\n");
    session.answers("claude-opus-4-1", "one", 30_000);
    session.call();
    assert_eq!(decision(&session.call()), None, "2.34 and as much again are less than 5");
    session.answers("claude-opus-4-1", "two", 30_000);
    session.call();
    let refused = session.call();
    assert!(reason(&refused).contains("limit of $5.00"), "{refused}");
}

#[test]
fn hostile_transcripts_keep_nobody_waiting() {
    let mut session = Session::new("");
    let made = session.environment.command("mkfifo").arg(session.transcript()).status().unwrap();
    assert!(made.success());
    assert_eq!(decision(&session.call()), None);
    fs::remove_file(session.transcript()).unwrap();
    fs::write(session.transcript(), vec![b'x'; 3 * 1024 * 1024]).unwrap();
    for _ in 0..4 {
        session.call();
    }
    session.environment.succeed(&["audit", "verify"]);
    let mut file = fs::OpenOptions::new().append(true).open(session.transcript()).unwrap();
    writeln!(file).unwrap();
    session.answers(SONNET, "one", 7);
    session.call();
    assert_eq!(session.spent()["tokens"]["output"], 7, "it goes on after a line that is too long");
}
