//! Requests that nobody foresaw: the server always answers, says neither of itself nor of a session anything without a key, and never fails
//! over what it is sent. `CHECKREIN_FUZZ_REQUESTS=20000` makes more of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::{TestEnvironment, shell_call};

/// Places that are answered without a key: whether the server lives, and what the pages of signed links look like.
const OPEN: [&str; 9] = [
    "/healthz",
    "/answer/style.css",
    "/assets/icon-192.png",
    "/assets/icon-512.png",
    "/assets/icon.svg",
    "/assets/live.js",
    "/assets/manifest.webmanifest",
    "/assets/style.css",
    "/service.js",
];

#[derive(Debug, Clone)]
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// All addresses of the API and of the pages, with places for names.
fn addresses(server: &Serving) -> Vec<String> {
    let described = server.asked("/v1/openapi.json").json();
    let mut all: Vec<String> = described["paths"].as_object().unwrap().keys().cloned().collect();
    for page in [
        "/",
        "/approvals",
        "/calls",
        "/review",
        "/stats",
        "/sessions/{session}",
        "/sessions/{session}/calls/{action}",
        "/sessions/{session}/rollback",
        "/sessions/{session}/snapshots",
        "/sessions/{session}/snapshots/{snapshot}",
        "/answer/{approval}",
        "/open/{key}",
        "/assets/style.css",
    ] {
        all.push(page.to_owned());
    }
    // A stream has no end.
    all.retain(|address| address != "/v1/events");
    all
}

/// Names that are there, and names that are not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("kestrel".to_owned()),
        2 => Just("first".to_owned()),
        2 => "[0-9]{1,20}",
        2 => "[a-zA-Z0-9._~%-]{1,30}",
        1 => Just("..%2f..%2fetc%2fpasswd".to_owned()),
        1 => Just("%00".to_owned()),
        1 => Just("%ff%fe".to_owned()),
        1 => "[a-f0-9]{10}",
    ]
}

fn path(addresses: Vec<String>) -> impl Strategy<Value = String> {
    let known =
        (prop::sample::select(addresses), prop::collection::vec(name(), 3)).prop_map(|(address, names)| {
            let mut names = names.into_iter().cycle();
            let parts = address
                .split('/')
                .map(|part| if part.starts_with('{') { names.next().unwrap() } else { part.to_owned() });
            parts.collect::<Vec<_>>().join("/")
        });
    let made_up = "/[a-zA-Z0-9/._~%?=&;:@-]{0,60}";
    let query = prop_oneof![
        3 => Just(String::new()),
        2 => prop::sample::select(vec!["limit", "before", "type", "verdict", "search", "days", "session", "workspace", "lines", "after"])
            .prop_flat_map(|name| "[a-zA-Z0-9%/.-]{0,20}".prop_map(move |value| format!("?{name}={value}"))),
        1 => "\\?[a-z=&%0-9+]{0,40}",
    ];
    (prop_oneof![6 => known, 1 => made_up], query).prop_map(|(path, query)| path + &query)
}

/// Values for the fields of bodies.
fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,40}".prop_map(Json::from),
        prop::sample::select(vec![
            "kestrel", "first", "/", "/nowhere", "once", "always", "rm -rf /", "ls", "1"
        ])
        .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec(("[a-z_]{1,10}", inner), 0..4)
                .prop_map(|all| Json::Object(all.into_iter().collect())),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let names = vec![
        "for",
        "message",
        "id",
        "command",
        "tool",
        "input",
        "cwd",
        "reason",
        "before",
        "preview",
        "workspace",
        "session",
        "paths",
        "note",
        "answer",
        "until",
        "role",
        "signature",
        "protocol",
        "protocol_version",
        "message_type",
        "message_id",
        "sender_id",
        "payload",
        "x",
    ];
    let fields = prop::collection::vec((prop::sample::select(names), value()), 0..6);
    let object = fields.prop_map(|all| {
        Json::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    });
    let message = (prop::sample::select(vec!["EVAL", "TRACE", "HITL", "SYNC", "VERSION_NEGOTIATION"]), value()).prop_map(|(kind, payload)| {
        // A question that would be put has no action, so that none is.
        let payload = if kind == "HITL" { json!({ "hitl_id": payload, "wait_seconds": 0 }) } else { json!({ "action": { "name": "Bash", "parameters": payload } }) };
        json!({ "protocol": "acgp", "protocol_version": "1.0.0", "message_type": kind, "message_id": "m", "sender_id": "s", "payload": payload })
    });
    prop_oneof![
        2 => Just(Vec::new()),
        4 => object.prop_map(|object| object.to_string().into_bytes()),
        2 => message.prop_map(|message| message.to_string().into_bytes()),
        1 => "[a-z=&%+0-9A-F]{0,80}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn headers() -> impl Strategy<Value = Vec<(String, String)>> {
    let one = prop_oneof![
        3 => prop::sample::select(vec![
            ("Content-Type", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Type", "x"),
            ("Accept", "text/html"), ("Origin", "http://localhost"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"),
            ("Cookie", "checkrein=0"), ("Cookie", ";;=;"), ("Last-Event-ID", "-1"), ("Expect", "100-continue"),
        ]).prop_map(|(name, value)| (name.to_owned(), value.to_owned())),
        1 => ("[A-Za-z][A-Za-z-]{0,15}", "[ -~]{0,40}").prop_filter("what says how long the request is, is ours", |(name, _)| {
            !["content-length", "transfer-encoding", "host", "connection", "upgrade", "authorization", "expect", "te", "trailer"]
                .contains(&name.to_ascii_lowercase().as_str())
        }),
    ];
    prop::collection::vec(one, 0..4)
}

fn request(addresses: Vec<String>) -> impl Strategy<Value = Request> {
    let method = prop_oneof![
        5 => Just("GET".to_owned()),
        5 => Just("POST".to_owned()),
        1 => prop::sample::select(vec!["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "QUERY"]).prop_map(str::to_owned),
    ];
    (method, path(addresses), headers(), body()).prop_map(|(method, path, headers, body)| Request {
        method,
        path,
        headers,
        body,
    })
}

/// The status of the answer, and its text.
fn sent(server: &Serving, request: &Request, key: Option<&str>) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n",
        request.method,
        request.path,
        request.body.len()
    );
    if let Some(key) = key {
        head.extend(["Authorization: Bearer ", key, "\r\n"]);
    }
    head.extend(request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    head.push_str("\r\n");
    // A server that refuses at once need not read the rest.
    drop(stream.write_all(&[head.as_bytes(), request.body.as_slice()].concat()));
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Interim answers come before the one that counts.
    let last = text.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&text).to_owned();
    let status = last
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no answer to {request:?}: {text:?}"));
    (status, last)
}

#[test]
fn nothing_that_is_sent_makes_it_fail_or_talk_without_a_key() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "kept\n");
    let server = Serving::start(&environment);
    for (id, command) in [("first", "rm notes.txt"), ("second", "rm -rf ~")] {
        environment.answer_to(&environment.payload(
            "kestrel",
            "PreToolUse",
            shell_call(id, command, json!({})),
        ));
    }
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2);
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let cases =
        std::env::var("CHECKREIN_FUZZ_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let all = request(addresses(&server));
    let held = runner.run(&all, |request| {
        // Without a key, and with one that is none.
        for key in [None, Some("0")] {
            let (status, text) = sent(&server, &request, key);
            let place = request.path.split('?').next().unwrap();
            let is_open = OPEN.contains(&place) && matches!(request.method.as_str(), "GET" | "HEAD");
            prop_assert!(status >= 400 || is_open, "{status} without a key: {text}");
            prop_assert!(status < 500, "{status}: {text}");
            prop_assert!(
                is_open
                    || (!text.contains("notes.txt") && !text.contains("kestrel"))
                    || request.path.contains("kestrel"),
                "{text}"
            );
        }
        for key in [server.token.as_str(), &viewer] {
            let (status, text) = sent(&server, &request, Some(key));
            prop_assert!(status < 500, "{status}: {text}");
        }
        Ok(())
    });
    if let Err(error) = held {
        panic!("{error}");
    }
    let alive = server.get("/healthz", &[]);
    assert_eq!((alive.status, &alive.json()["index"]), (200, &json!("ok")));
    assert_eq!(std::fs::read_to_string(environment.project().join("notes.txt")).unwrap(), "kept\n");
}

#[test]
fn what_names_something_that_is_not_there_is_the_fault_of_who_asks() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    for path in [
        "/v1/snapshots?workspace=/nowhere",
        "/v1/snapshots?workspace=/etc/passwd",
        "/v1/snapshots?workspace=/",
        "/v1/snapshots?session=nobody",
        "/v1/snapshots/1/diff?workspace=/",
        "/v1/snapshots/99999999999999999999/diff?workspace=/tmp",
        "/v1/snapshots/18446744073709551615/diff?workspace=/tmp",
        "/v1/sessions/nobody/timeline?before=9223372036854775807",
        "/v1/sessions/nobody/calls/nothing",
        "/v1/stats?days=18446744073709551615",
        "/v1/spending?days=18446744073709551615",
        "/stats?days=18446744073709551615",
        "/sessions/nobody/snapshots/1",
    ] {
        let answer = server.asked(path);
        assert!(answer.status < 500, "{path}: {} {}", answer.status, answer.body);
    }
    for (path, body) in [
        ("/v1/check", json!({ "command": "ls", "cwd": "/nowhere" })),
        ("/v1/check", json!({ "command": "ls", "cwd": "a\0b" })),
        ("/v1/check", json!({ "command": "ls", "cwd": "/etc/passwd" })),
        ("/v1/check", json!({ "tool": "Read", "input": { "file_path": 7 } })),
        ("/v1/sessions/nobody/halt", json!({})),
        ("/v1/sessions/nobody/resume", json!({})),
        ("/v1/sessions/nobody/rollback", json!({ "before": "1" })),
        ("/v1/snapshots/1/restore", json!({ "workspace": "/nowhere" })),
        ("/v1/snapshots/1/restore", json!({ "workspace": environment.project() })),
        ("/v1/snapshots/1/restore", json!({ "session": "nobody" })),
        ("/v1/calls/nothing/wrong", json!({})),
        ("/v1/calls/nothing/missed", json!({})),
        ("/v1/tickets/nothing/close", json!({})),
        ("/v1/agents/nothing/tier", json!({ "tier": "3" })),
        ("/v1/approvals/nothing/allow", json!({})),
        ("/v1/approvals/0123456789/deny", json!({})),
    ] {
        let answer = server.post(path, &body);
        assert!(answer.status < 500, "{path} {body}: {} {}", answer.status, answer.body);
    }
    for bad in ["/nowhere", "a\0b", "/etc/passwd"] {
        let action = json!({ "name": "Bash", "parameters": { "command": "ls", "cwd": bad } });
        for kind in ["EVAL", "HITL"] {
            let message = json!({
                "protocol": "acgp", "protocol_version": "1.0.0", "message_type": kind, "message_id": "m", "sender_id": "s",
                "payload": { "action": action },
            });
            let answer = server.post("/acgp/v1/messages", &message);
            assert!((400..500).contains(&answer.status), "{kind} {bad}: {} {}", answer.status, answer.body);
        }
    }
}

#[test]
fn nobody_takes_their_time_over_what_they_want() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", server.token);
    std::thread::scope(|scope| {
        for text in [
            "GET /healthz HTTP/1.1\r\nHost: loc".to_owned(),
            String::new(),
            format!("POST /v1/check HTTP/1.1\r\n{head}Content-Length: 20\r\n\r\n{{"),
        ] {
            let address = server.address();
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                let mut bytes = Vec::new();
                assert!(stream.read_to_end(&mut bytes).is_ok(), "{text:?} is waited for");
                assert!(!bytes.starts_with(b"HTTP/1.1 2"), "{text:?}");
            });
        }
    });
}

#[test]
fn what_is_no_request_ends_its_connection_alone() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    let body = format!(
        "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 99999999999\r\n\r\n{{",
        server.token
    );
    for text in [
        "",
        "\0\0\0",
        "GET",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/halt HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &long,
        &body,
    ] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        drop(stream.write_all(text.as_bytes()));
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut bytes = Vec::new();
        drop(stream.read_to_end(&mut bytes));
        let answer = String::from_utf8_lossy(&bytes);
        assert!(
            !answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"),
            "{text:.60}: {answer}"
        );
    }
    assert_eq!(server.get("/healthz", &[]).status, 200);
}
