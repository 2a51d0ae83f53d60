use checkrein_protocol::{HaltScope, SessionId, Timestamp};

use super::*;
use crate::event_log::EVENTS;

fn record(body: RecordBody) -> Record {
    let hash = crate::first_prev;
    Record { seq: 7, prev: hash(), at: Timestamp(1_795_962_011_190), body, hash: hash() }
}

fn halted(reason: &str) -> Record {
    record(RecordBody::Halted {
        scope: HaltScope::Session,
        reason: reason.to_owned(),
        by: "person".to_owned(),
    })
}

fn review(verdict: &str) -> Record {
    record(checkrein_testkit::records::review("toolu_1", verdict, 1, Vec::new()))
}

/// The parts of a line after the rules of the format, read by another way than they are written.
fn parts(line: &str) -> (Vec<String>, Vec<(String, String)>) {
    let mut head = vec![String::new()];
    let mut letters = line.chars();
    while head.len() < 8 {
        match letters.next().unwrap() {
            '\\' => head.last_mut().unwrap().push(letters.next().unwrap()),
            '|' => head.push(String::new()),
            letter => head.last_mut().unwrap().push(letter),
        }
    }
    head.pop();
    let rest: String = letters.collect();
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut text = String::new();
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(match letters.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                other => other,
            }),
            '=' => {
                // The last word before the sign is the key, and what stood before it the value of the one before.
                let (before, key) = text.rsplit_once(' ').unwrap_or(("", &text));
                if let Some(last) = fields.last_mut() {
                    before.clone_into(&mut last.1);
                }
                fields.push((key.to_owned(), String::new()));
                text.clear();
            }
            letter => text.push(letter),
        }
    }
    if let Some(last) = fields.last_mut() {
        last.1 = text;
    }
    (head, fields)
}

#[test]
fn what_a_user_wrote_cannot_leave_its_place_in_a_line() {
    for text in ["plain", "a=b c=d", r"back\slash|bar=", "two\nlines\r\nand act=ok", "x|CEF:0|y", r"\", "="] {
        let line = event_line(EventForm::Cef, "1|2\\3", "s=1", &halted(text)).unwrap();
        assert!(!line.contains('\n') && !line.contains('\r'), "{line}");
        let (head, fields) = parts(&line);
        let wanted =
            ["CEF:0", "Checkrein", "checkrein", "1|2\\3", "session.halt", "Agent session halted", "9"];
        assert_eq!(head, wanted, "{line}");
        let value = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!(
            (value("msg"), value("cs1"), value("cs1Label")),
            (Some(text), Some("s=1"), Some("session")),
            "{line}"
        );
        assert_eq!((value("rt"), value("externalId")), (Some("1795962011190"), Some("7")), "{line}");
        assert_eq!(value("act"), None, "{line}");
        let as_json: Json =
            serde_json::from_str(&event_line(EventForm::Ocsf, "1", "s", &halted(text)).unwrap()).unwrap();
        assert_eq!(as_json["finding_info"]["desc"], text);
    }
}

/// What the schema requires of the class, and what its profile says of the answer to a call.
#[test]
fn events_are_findings_of_the_schema() {
    for (verdict, severity, action, disposition, alert) in [
        ("nudge", 1, 1, 1, false),
        ("escalate", 3, 0, 0, false),
        ("block", 3, 2, 2, false),
        ("halt", 5, 2, 2, true),
    ] {
        let line = event_line(EventForm::Ocsf, "0.1.0", "s", &review(verdict)).unwrap();
        let event: Json = serde_json::from_str(&line).unwrap();
        for (name, value) in [
            ("category_uid", json!(2)),
            ("class_uid", json!(2004)),
            ("activity_id", json!(1)),
            ("type_uid", json!(200_401)),
            ("time", json!(1_795_962_011_190_u64)),
            ("severity_id", json!(severity)),
            ("action_id", json!(action)),
            ("disposition_id", json!(disposition)),
            ("is_alert", json!(alert)),
        ] {
            assert_eq!(event[name], value, "{name} of {verdict}");
        }
        assert_eq!(event["metadata"]["version"], "1.3.0");
        assert_eq!(event["metadata"]["product"]["version"], "0.1.0");
        assert_eq!(
            (&event["finding_info"]["uid"], &event["finding_info"]["title"]),
            (&json!("s:7"), &json!("Tool call reviewed"))
        );
        assert_eq!(event["unmapped"]["verdict"], verdict);
        let (_, fields) = parts(&event_line(EventForm::Cef, "0.1.0", "s", &review(verdict)).unwrap());
        assert!(fields.contains(&("act".to_owned(), verdict.to_owned())), "{fields:?}");
        assert!(fields.contains(&("checkreinRiskLevel".to_owned(), "low".to_owned())), "{fields:?}");
    }
}

#[test]
fn what_is_not_worth_a_look_is_left_out_and_every_event_has_words() {
    let routine = [
        review("ok"),
        record(RecordBody::Prompt { text: "a wish".to_owned() }),
        record(RecordBody::Condensed),
    ];
    for form in [EventForm::Cef, EventForm::Ocsf] {
        assert!(routine.iter().all(|record| event_line(form, "1", "s", record).is_none()));
    }
    for name in EVENTS {
        assert_ne!(title(name), "Event", "{name}");
    }
    let started = record(RecordBody::SessionStarted {
        session: SessionId("s".to_owned()),
        client: "claude_code".to_owned(),
        cwd: "/p".to_owned(),
        workspace: "/p".to_owned(),
        source: "startup".to_owned(),
        beginning: None,
        debt: None,
    });
    assert!(event_line(EventForm::Cef, "1", "s", &started).unwrap().contains(" checkreinWorkspace=/p"));
}
