use checkrein_protocol::{Cascade, HaltScope, MessagePlace, Share};
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn record(seq: u64, at: u64, body: RecordBody) -> Record {
    let hash = crate::first_prev;
    Record { seq, prev: hash(), at: Timestamp(at), body, hash: hash() }
}

fn failure() -> RecordBody {
    RecordBody::Failure {
        stage: "review".to_owned(),
        kind: "panic".to_owned(),
        detail: "d".repeat(900),
        verdict: VerdictKind::Escalate,
    }
}

fn said(score: f64) -> RecordBody {
    let score = Share::new(score);
    let cascade = Cascade { score, level: CascadeLevel::of(score), patterns: vec!["CP-001".to_owned()] };
    RecordBody::Message { mark: 1, cascade: Some(cascade), claim: None, place: MessagePlace::End }
}

#[test]
fn events_are_lines_of_the_day_that_only_the_user_reads() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a/events");
    let log = EventLog::new(place.clone(), EventDetail::Notable, EventWords::Told);
    let day = 24 * 60 * 60 * 1000;
    log.write("s", &[record(1, 5, RecordBody::Prompt { text: "a secret wish".to_owned() })]).unwrap();
    assert!(!place.exists(), "nothing to tell");
    log.write("s", &[record(2, 5, failure()), record(3, 6, said(0.95))]).unwrap();
    log.write("t", &[record(1, 2 * day, said(0.75)), record(2, 2 * day, said(0.1))]).unwrap();
    let path = place.join("1970-01-01.jsonl");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
    let lines: Vec<Json> =
        fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["event"], &lines[0]["level"], &lines[0]["alert"]),
        (&json!("check.failed"), &json!("warning"), &Json::Null)
    );
    assert_eq!(lines[0]["detail"].as_str().unwrap().len(), 500);
    // A cascade that is critical is an alert, with its patterns and what was done about it (seed 004).
    assert_eq!(
        (&lines[1]["event"], &lines[1]["alert"], &lines[1]["patterns"], &lines[1]["action_taken"]),
        (
            &json!("cascade.detected"),
            &json!(true),
            &json!(["CP-001"]),
            &json!("not approved by itself, alert")
        )
    );
    let later = fs::read_to_string(place.join("1970-01-03.jsonl")).unwrap();
    assert!(later.lines().count() == 1 && !later.contains("alert"), "{later}");
}

/// No event of any record says a word of it where the records are sealed.
#[test]
fn beside_sealed_records_events_hold_no_words() {
    let folder = tempfile::tempdir().unwrap();
    let all = [
        failure(),
        RecordBody::Halted {
            scope: HaltScope::Session,
            reason: "a marmalade".to_owned(),
            by: "person".to_owned(),
        },
        RecordBody::Issue(Box::new(
            serde_json::from_value(json!({
                "kind": "stuck_loop", "severity": "high", "confidence": 0.5, "impact": 0.0, "signal": 1.0,
                "summary": "the same call (`ls marmalade`) failed", "advice": "marmalade", "actions": [1],
            }))
            .unwrap(),
        )),
        checkrein_testkit::records::outcome("1", true),
        RecordBody::Event { name: "SessionEnd".to_owned(), fields: json!({ "reason": "marmalade" }) },
    ];
    let written = |words| {
        let place = folder.path().join(format!("{words:?}"));
        let log = EventLog::new(place.clone(), EventDetail::All, words);
        let records: Vec<Record> = (1..).zip(all.clone()).map(|(seq, body)| record(seq, 5, body)).collect();
        log.write("s", &records).unwrap();
        fs::read_to_string(place.join("1970-01-01.jsonl")).unwrap()
    };
    let (told, withheld) = (written(EventWords::Told), written(EventWords::Withheld));
    assert_eq!(told.lines().count(), withheld.lines().count());
    assert_eq!(told.matches("marmalade").count(), 3, "{told}");
    assert!(told.contains("exit status 1"));
    for line in withheld.lines() {
        let event: Json = serde_json::from_str(line).unwrap();
        for (name, value) in event.as_object().unwrap() {
            let text = value.as_str().unwrap_or_default();
            assert!(!text.contains(' ') && !text.contains("marmalade"), "{name}: {text}");
        }
    }
}

#[test]
fn old_days_go_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["1970-01-01.jsonl", "1970-01-02.jsonl", "notes.jsonl", "1970-01-01.txt"] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let oldest = Timestamp(24 * 60 * 60 * 1000 + 5);
    assert_eq!(old_events(folder.path(), oldest).unwrap(), [folder.path().join("1970-01-01.jsonl")]);
    assert!(old_events(&folder.path().join("none"), oldest).unwrap().is_empty());
}
