//! A server that is killed while somebody answers through it: no answer is lost, none is given twice. `CHECKREIN_KILLS=200 cargo test -p
//! checkrein --test serve_kills -- --nocapture` kills it as often.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and tells its figures"
)]

mod serve_support;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, decision};

/// How often the server is killed.
fn kills() -> u64 {
    std::env::var("CHECKREIN_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// Sends an answer, and says what the server said to it before it was killed: nothing, where it said nothing.
fn sent(server: &Serving, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(server.address()).ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        server.token
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    // Cut off in the middle it is what came.
    drop(stream.read_to_string(&mut answer));
    answer.split(' ').nth(1)?.parse().ok()
}

fn answers(environment: &TestEnvironment, session: &str) -> Vec<Json> {
    let path = environment.state().join(format!("sessions/{session}/ledger.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    records
        .map(|record| record["body"].clone())
        .filter(|body| body["type"] == "event" && body["name"] == "checkrein.approval_answered")
        .map(|body| body["fields"].clone())
        .collect()
}

#[test]
fn a_killed_server_loses_no_answer_and_gives_none_twice() {
    let environment = unattended("");
    let mut server = Serving::start(&environment);
    let (mut said, mut lost, mut by_hand) = (0, 0, 0);
    for round in 0..kills() {
        let session = format!("killed-{round}");
        let hook = asks(&environment, &session, "one", CALL);
        let begin = std::time::Instant::now();
        let listed = loop {
            let told = server.asked("/v1/approvals");
            if told.body.contains("\"pending\"") {
                break told.json();
            }
            assert!(
                begin.elapsed() < Duration::from_secs(15),
                "{}\n{:#?}",
                answer_of(hook),
                environment.records(&session)
            );
        };
        let all = listed["items"].as_array().unwrap();
        let waiting: Vec<&Json> = all.iter().filter(|one| one["state"] == "pending").collect();
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        let id = waiting[0]["id"].as_str().unwrap().to_owned();
        // A different moment each time, from before the request is read to after the call went on.
        let moment = Duration::from_micros(round * 77_919 % 250_000);
        let answer = std::thread::scope(|scope| {
            let path = format!("/v1/approvals/{id}/allow");
            let answering = scope.spawn({
                let server = &server;
                move || sent(server, &path)
            });
            std::thread::sleep(moment);
            server.kill_now();
            answering.join().unwrap()
        });
        server.kill();
        server = Serving::start(&environment);
        // Who got no answer asks how it stands, and answers again where nothing became of it.
        let shown = |server: &Serving| {
            let told = server.asked("/v1/approvals").json();
            let one = told["items"].as_array().unwrap().iter().find(|one| one["id"] == *id).unwrap().clone();
            one["state"].as_str().unwrap().to_owned()
        };
        match answer {
            Some(200) => said += 1,
            Some(other) => panic!("status {other}"),
            None => lost += 1,
        }
        let mut state = shown(&server);
        if answer == Some(200) {
            assert_eq!(state, "allowed", "it was said to have gone on");
        }
        while state == "pending" {
            let again = server.post(&format!("/v1/approvals/{id}/allow"), &json!({}));
            // What the killed server left of an answer is taken away within a moment, or was just taken up.
            assert!([200, 422].contains(&again.status), "{}", again.body);
            by_hand += u64::from(again.status == 200);
            std::thread::sleep(Duration::from_millis(100));
            state = shown(&server);
        }
        let told = answer_of(hook);
        assert_eq!(decision(&told), Some("allow"), "{told}");
        assert_eq!(shown(&server), "allowed");
        let answers = answers(&environment, &session);
        assert_eq!(answers.len(), 1, "an answer counts once: {answers:?}");
        assert_eq!(answers[0]["end"], "allowed", "{answers:?}");
        let late = server.post(&format!("/v1/approvals/{id}/allow"), &json!({}));
        assert_eq!(late.status, 422, "it was given again: {}", late.body);
    }
    println!(
        "{} kills: {said} answers were told of before, {lost} were cut off, {by_hand} of these were given again",
        kills()
    );
}
