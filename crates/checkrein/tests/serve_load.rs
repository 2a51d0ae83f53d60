//! Many sessions against one server that is killed in between: nothing is lost. `CHECKREIN_LOAD_SESSIONS=200 cargo test -p checkrein --test
//! serve_load -- --nocapture` makes the figures of SPECIFICATION.md.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and tells its figures"
)]

mod serve_support;
mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use serve_support::Serving;
use support::{TestEnvironment, shell_call};

/// How many calls each session makes.
const CALLS: usize = 5;
/// How many sessions make calls at the same moment.
const AT_ONCE: usize = 4;

fn sessions() -> usize {
    std::env::var("CHECKREIN_LOAD_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// A call of a session; how long its hook took.
fn call(environment: &TestEnvironment, session: &str, number: usize) -> Duration {
    let call = shell_call(&format!("{session}-{number}"), "ls -la", json!({}));
    let payload = environment.payload(session, "PreToolUse", call);
    let begin = Instant::now();
    environment.answer_to(&payload);
    begin.elapsed()
}

/// The middle of these, in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

#[test]
fn many_sessions_and_a_killed_server_lose_nothing() {
    let environment = TestEnvironment::new();
    let count = sessions();
    let mut server = Serving::start(&environment);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let session = next.fetch_add(1, Ordering::Relaxed);
                    if session >= count {
                        return;
                    }
                    for number in 0..CALLS {
                        call(&environment, &format!("s{session}"), number);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // In the middle of it the server is killed, twice, and once more while it reads.
        for part in [3, 2] {
            while done.load(Ordering::Relaxed) < count * CALLS / part {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.kill();
            server = Serving::start(&environment);
        }
        server.kill();
        server = Serving::start(&environment);
    });
    let took = begin.elapsed();
    let all = (count * CALLS) as f64;
    let sum = |text: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with("checkrein_reviews_total{"));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    let ended = Instant::now();
    let metrics = server.until("/metrics", |answer| sum(&answer.body) >= all);
    let behind = ended.elapsed();
    assert!((sum(&metrics.body) - all).abs() < 0.5, "each call counts once: {} of {all}", sum(&metrics.body));
    // Each record is in the index once, in the order of its ledger.
    for session in 0..count {
        let path = format!("/v1/sessions/s{session}/timeline?type=review&limit=500");
        let told = server.asked(&path).json();
        let actions: Vec<String> = told["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["action"].as_str().unwrap().to_owned())
            .collect();
        let wanted: Vec<String> = (0..CALLS).rev().map(|number| format!("s{session}-{number}")).collect();
        assert_eq!(actions, wanted);
    }
    // A client that lost its stream goes on without a gap, over all of them.
    let mut seen = BTreeSet::new();
    let mut stream = server.events_after(0);
    while seen.len() < count * CALLS {
        let mut line = String::new();
        assert!(
            std::io::BufRead::read_line(&mut stream, &mut line).unwrap() > 0,
            "the stream ended at {}",
            seen.len()
        );
        if let Some(data) = line.strip_prefix("data: ") {
            let told: serde_json::Value = serde_json::from_str(data).unwrap();
            if told["type"] == "review" {
                assert!(seen.insert(told["action"].as_str().unwrap().to_owned()), "twice: {line}");
            }
        }
    }
    println!(
        "{count} sessions with {CALLS} calls each in {:.1} s; the index was complete {:.0} ms after the last call",
        took.as_secs_f64(),
        behind.as_secs_f64() * 1000.0
    );
}

#[test]
fn a_hook_is_not_slower_for_a_server() {
    let environment = TestEnvironment::new();
    let rounds = sessions().clamp(12, 60);
    call(&environment, "warm", 0);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    // One after the other, so that whatever else runs on the machine falls on both.
    for round in 0..rounds {
        without.push(call(&environment, "without", round));
        let server = Serving::start(&environment);
        call(&environment, "with", 2 * round);
        with.push(call(&environment, "with", 2 * round + 1));
        drop(server);
    }
    let (with, without) = (median(with), median(without));
    println!("hook without a server {without:.1} ms, with one {with:.1} ms: ratio {:.2}", with / without);
    assert!(with < without * 2.0 + 20.0, "with a server {with} ms, without {without} ms");
}
