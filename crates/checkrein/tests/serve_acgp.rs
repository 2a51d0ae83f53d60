//! The messages of ACGP against what its levels of conformance ask for (`Standard`): all interventions with their flag, the envelope, the
//! versions, the classes of errors, contracts, and that what people decide cannot be decided by a message.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use serde_json::{Value as Json, json};
use serve_support::{Http, Serving};
use support::TestEnvironment;

/// A wire for each intervention: the words of the command say which.
fn wires() -> String {
    let wire = |verdict: &str, flag: &str| {
        format!(
            "    - id: wire_{verdict}\n      condition: action.command == \"echo {verdict}\"\n      \
             on_fail: {{decision: {verdict}, reason: the word is {verdict}{flag}}}\n"
        )
    };
    let all: String =
        [("nudge", ""), ("escalate", ""), ("block", ", flag: high"), ("halt", ", flag: critical")]
            .map(|(verdict, flag)| wire(verdict, flag))
            .concat();
    format!("governance:\n  tripwires:\n{all}")
}

fn message(environment: &TestEnvironment, kind: &str, payload: Json) -> Json {
    let mut payload = payload;
    if payload.get("command").is_some() {
        let command = payload["command"].take();
        payload = json!({
            "trace_id": "t1", "agent_id": "urn:acgp:agent:test", "reasoning": "a step", "confidence": 0.9,
            "action": { "name": "Bash", "parameters": { "command": command, "cwd": environment.project() } },
        });
    }
    json!({
        "protocol": "acgp", "protocol_version": "1.0.0", "message_type": kind, "message_id": "m1",
        "timestamp": "2026-01-01T00:00:00Z", "sender_id": "urn:acgp:agent:test", "receiver_id": "any", "payload": payload,
    })
}

fn sent(server: &Serving, message: &Json) -> Http {
    server.post("/acgp/v1/messages", message)
}

#[test]
fn each_intervention_is_given_with_its_flag_in_an_envelope_of_its_own() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", &wires());
    let server = Serving::start(&environment);
    for (command, intervention, flagged) in [
        ("ls", "ok", false),
        ("echo nudge", "nudge", false),
        ("echo escalate", "escalate", false),
        ("echo block", "block", true),
        ("echo halt", "halt", true),
    ] {
        for kind in ["EVAL", "TRACE"] {
            let mut asked = message(&environment, kind, json!({ "command": command }));
            // Each is judged by itself: what a sender owes makes later verdicts stricter.
            asked["sender_id"] = json!(format!("urn:acgp:agent:{kind}:{command}"));
            let answer = sent(&server, &asked).json();
            let payload = &answer["payload"];
            assert_eq!(
                (&payload["intervention"], &payload["flagged"]),
                (&json!(intervention), &json!(flagged)),
                "{kind} {command}: {answer}"
            );
            assert_eq!(
                (
                    &answer["protocol"],
                    &answer["protocol_version"],
                    &answer["message_type"],
                    &answer["in_reply_to"]
                ),
                (&json!("acgp"), &json!("1.0.0"), &json!("INTERVENTION"), &json!("m1")),
                "{answer}"
            );
            for field in ["ctq_score", "risk_score"] {
                assert!((0.0..=1.0).contains(&payload[field].as_f64().unwrap()), "{field}: {answer}");
            }
            assert!(payload["evaluation_id"].as_str().is_some_and(|id| !id.is_empty()), "{answer}");
            assert!(payload["metadata"]["evaluation_time_ms"].is_u64(), "{answer}");
            assert_eq!(payload["governance_tier"], "2", "{answer}");
        }
    }
    // Of the same question asked again the review comes out of the cache, and says the same.
    let metrics = server.asked("/metrics").body;
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!((value("checkrein_review_cache_lookups_total") - 10.0).abs() < 0.5, "{metrics}");
    assert!(value("checkrein_review_cache_hits_total") >= 4.0, "{metrics}");
}

/// An action of a sender in one of its sessions.
fn evaluated(environment: &TestEnvironment, server: &Serving, of: [&str; 2], command: &str) -> Json {
    let mut message = message(environment, "EVAL", json!({ "command": command }));
    message["sender_id"] = json!(of[0]);
    message["payload"]["context"] = json!({ "session_id": of[1] });
    sent(server, &message).json()["payload"].clone()
}

#[test]
fn what_a_sender_does_counts_against_its_trust_in_all_its_sessions() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", &wires());
    let server = Serving::start(&environment);
    let debt = |answer: &Json| answer["trust_debt"].as_f64().unwrap_or_else(|| panic!("{answer}"));
    let first = evaluated(&environment, &server, ["urn:a", "one"], "echo block");
    assert!(debt(&first) < 0.001 && first["posture"] == "normal", "{first}");
    let second = evaluated(&environment, &server, ["urn:a", "one"], "echo block");
    assert!(debt(&second) >= 2.0, "a block costs 2: {second}");
    // The next session of the sender, at another start of the server, brings it along; another sender has none of it.
    drop(server);
    let server = Serving::start(&environment);
    let third = evaluated(&environment, &server, ["urn:a", "two"], "ls");
    assert!(debt(&third) > 3.9 && third["posture"] == "elevated_monitoring", "{third}");
    let other = evaluated(&environment, &server, ["urn:b", "two"], "ls");
    assert!(debt(&other) < 0.001 && other["intervention"] == "ok", "{other}");
    // A person sees it among the agents, and has it overseen more closely.
    let agents = server.asked("/v1/agents").json();
    let agent = |client: &str| {
        let all = agents["items"].as_array().unwrap().iter();
        all.clone().find(|one| one["client"] == client).unwrap_or_else(|| panic!("{agents}")).clone()
    };
    let known = agent("acgp:urn:a");
    assert_eq!(known["sessions"], 2, "{known}");
    assert!(known["trust_debt"].as_f64().unwrap() > 3.9, "{known}");
    let path = format!("/v1/agents/{}/tier", known["agent"].as_str().unwrap());
    assert_eq!(server.post(&path, &json!({ "tier": "4", "note": "it was refused twice" })).status, 200);
    let tier =
        |sender: &str| evaluated(&environment, &server, [sender, "three"], "ls")["governance_tier"].clone();
    assert_eq!((tier("urn:a"), tier("urn:b")), (json!("4"), json!("2")));
    let mut hello = message(&environment, "SESSION_INIT", json!({}));
    hello["sender_id"] = json!("urn:a");
    hello["payload"]["context"] = json!({ "session_id": "four", "cwd": environment.project() });
    let told = sent(&server, &hello).json();
    assert_eq!(told["payload"]["governance_tier"], "4", "{told}");
    assert!(debt(&told["payload"]) > 3.9, "{told}");
    // What it asked is on the page like the calls of any agent, and a person halts its session.
    let shown = server.until("/v1/calls", |answer| answer.json()["records"].as_array().unwrap().len() >= 6);
    assert!(shown.body.contains("echo block"), "{}", shown.body);
    let sessions = server.asked("/v1/sessions").json();
    let all = sessions["sessions"].as_array().unwrap();
    assert_eq!(all.len(), 5, "to say hello is no call: {sessions}");
    for own in all.iter().filter(|one| one["client"] == "acgp:urn:b") {
        environment.succeed(&["halt", own["session"].as_str().unwrap(), "--reason", "enough"]);
    }
    let halted = evaluated(&environment, &server, ["urn:b", "two"], "ls");
    assert_eq!(halted["intervention"], "halt", "{halted}");
}

#[test]
fn who_begins_learns_what_is_understood_and_no_message_changes_what_people_decide() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    for kind in ["SESSION_INIT", "SYNC"] {
        let told = sent(
            &server,
            &message(&environment, kind, json!({ "session_id": "x1", "governance_tier": "0" })),
        )
        .json();
        assert_eq!(told["message_type"], kind, "{told}");
        let payload = &told["payload"];
        // The tier that it asks for is not the one that it gets.
        assert_eq!(
            (&payload["governance_tier"], &payload["session_id"]),
            (&json!("2"), &json!("x1")),
            "{told}"
        );
        assert_eq!(payload["capabilities"]["supports_governance_contracts"], true, "{told}");
        assert_eq!(payload["capabilities"]["max_eval_tier"], 5, "{told}");
    }
    let selected = sent(&server, &message(&environment, "VERSION_NEGOTIATION", json!({}))).json();
    assert_eq!(selected["payload"]["protocol_version"], "1.0.0", "{selected}");
    let refused = sent(&server, &message(&environment, "BUNDLE_UPDATE", json!({ "bundle": {} })));
    assert_eq!(
        (refused.status, &refused.json()["error"]["kind"]),
        (403, &json!("acgp_1001")),
        "{}",
        refused.body
    );
    // What is not valid is of class 3, and no message is answered with a failure of the server.
    let valid = message(&environment, "EVAL", json!({ "command": "ls" }));
    let mut cases: Vec<Json> =
        ["protocol", "protocol_version", "message_type", "message_id", "sender_id", "payload"]
            .into_iter()
            .map(|field| {
                let mut broken = valid.clone();
                broken.as_object_mut().unwrap().remove(field);
                broken
            })
            .collect();
    for (field, value) in [
        ("protocol", json!("other")),
        ("protocol_version", json!("2.0.0")),
        ("message_type", json!("INTERVENTION")),
        ("message_type", json!("HITL_RESULT")),
        ("payload", json!({ "action": 7 })),
        ("payload", json!({ "action": { "parameters": {} } })),
        ("message_id", json!(["m1"])),
    ] {
        let mut broken = valid.clone();
        broken[field] = value;
        cases.push(broken);
    }
    for broken in cases {
        let answer = sent(&server, &broken);
        assert_eq!(
            (answer.status, &answer.json()["error"]["kind"]),
            (400, &json!("acgp_3001")),
            "{broken}: {}",
            answer.body
        );
    }
}
