//! The index under many records and busy sessions: what it costs to start, to show the newest page, and to follow. It runs small by itself;
//! `cargo xtask console figures` makes the figures of `docs/operations.md` with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and tells its figures"
)]

mod serve_support;
mod support;

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{ActionId, RecordBody, ReviewRecord, SessionId, Timestamp, VerdictKind};
use checkrein_session::SessionLedger;
use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::{TestEnvironment, shell_call};

/// A number of the environment, or this one.
fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The middle of some runs, in milliseconds.
fn median(runs: usize, run: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let started = Instant::now();
            run();
            milliseconds(started.elapsed())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A real review as a hook writes it, to be written again under other names.
fn sample(environment: &TestEnvironment) -> ReviewRecord {
    let call = shell_call("sample", "cargo test --workspace --quiet", json!({}));
    environment.answer_to(&environment.payload("sample", "PreToolUse", call));
    let records = environment.records("sample").into_iter();
    let body = records.map(|one| one["body"].clone()).find(|body| body["type"] == "review").unwrap();
    let RecordBody::Review(mut review) = serde_json::from_value(body).unwrap() else {
        panic!("not a review")
    };
    // What a session begins with stands in its first record alone.
    review.beginning = None;
    // Millions of them are to fit on a disk.
    review.effects.truncate(1);
    *review
}

/// What an agent at work leaves: nine calls, then a prompt; and now and then a refusal.
fn bodies(sample: &ReviewRecord, numbers: std::ops::Range<usize>) -> Vec<RecordBody> {
    numbers
        .map(|number| {
            if number % 10 == 0 {
                return RecordBody::Prompt { text: format!("go on with part {number} of the plan") };
            }
            let mut review = sample.clone();
            // Names of calls come in no order.
            let name = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            review.action_id = ActionId(format!("toolu_{name:016x}"));
            review.input = json!({ "command": format!("cargo test --test case_{}", number % 977) });
            if number % 10_007 == 1 {
                review.verdict = VerdictKind::Block;
            }
            RecordBody::Review(Box::new(review))
        })
        .collect()
}

fn fill(state: &StateDirectory, sample: &ReviewRecord, sessions: usize, records: usize) {
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for session in (writer..sessions).step_by(WRITERS) {
                    fill_session(state, sample, session, (sessions, records));
                }
            });
        }
    });
}

fn fill_session(
    state: &StateDirectory,
    sample: &ReviewRecord,
    session: usize,
    (sessions, records): (usize, usize),
) {
    let ledger = SessionLedger::open(state, &SessionId(format!("s{session}")));
    let (mut at, end) = (records * session / sessions, records * (session + 1) / sessions);
    while at < end {
        let piece = (end - at).min(5_000);
        // As long ago as it would be at ten a second.
        let written = Timestamp(now().saturating_sub(100 * (records - at) as u64));
        ledger.append_all(written, bodies(sample, at..at + piece), Durability::Plain).unwrap();
        at += piece;
    }
}

/// How many threads write.
const WRITERS: usize = 4;
/// From how many records on the index is made while they are written.
const SLOW: usize = 1_000_000;

/// How many records the index says that it has.
fn indexed(server: &Serving) -> usize {
    let text = server.asked("/metrics").body;
    let line = text.lines().find(|line| line.starts_with("checkrein_index_records ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn until_indexed(server: &Serving, wanted: usize) {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let has = indexed(server);
        if has >= wanted {
            assert_eq!(has, wanted, "each record once");
            return;
        }
        if has > last {
            (last, since) = (has, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_mins(2), "it stands at {has} of {wanted}");
        std::thread::sleep(Duration::from_millis(if wanted > 100_000 { 2_000 } else { 200 }));
    }
}

#[test]
fn many_records_are_taken_up_once_and_the_next_start_reads_none_of_them_again() {
    let (records, sessions) =
        (number("CHECKREIN_FIGURES_RECORDS", 3_000), number("CHECKREIN_FIGURES_SESSIONS", 64));
    let environment =
        TestEnvironment::within(std::env::var("CHECKREIN_FIGURES_FOLDER").as_deref().unwrap_or("/tmp"));
    let sample = sample(&environment);
    std::fs::remove_dir_all(environment.state()).unwrap();
    let state = StateDirectory::new(environment.state());
    let started = Instant::now();
    // So many are taken up while they are written: that takes long enough.
    let early = (records > SLOW).then(|| Serving::start(&environment));
    fill(&state, &sample, sessions, records);
    println!(
        "{records} records of {sessions} sessions were written in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    let started = if early.is_some() { started } else { Instant::now() };
    let server = early.unwrap_or_else(|| Serving::start(&environment));
    until_indexed(&server, records);
    let took = started.elapsed().as_secs_f64();
    println!("the index was made of them in {took:.1} s: {:.0} a second", records as f64 / took);
    let busy = server.processor_time().as_secs_f64();
    println!("which took {busy:.1} s of one processor: it takes up {:.0} a second", records as f64 / busy);
    println!("and {} MB of memory at most", server.memory() / 1_000_000);
    drop(server);
    let size = std::fs::metadata(environment.state().join("index.db")).unwrap().len();
    println!("it has {} MB, {} bytes a record", size / 1_000_000, size / records as u64);
    // What was read is known: the first answer of the next server is about all of it.
    let started = Instant::now();
    let server = Serving::start(&environment);
    let page = server.asked("/v1/calls?limit=100");
    println!("start over it, to the first page: {:.0} ms", milliseconds(started.elapsed()));
    assert_eq!(page.json()["records"].as_array().unwrap().len(), 100.min(records - records / 10));
    let before = std::fs::metadata(environment.state().join("index.db-wal")).map_or(0, |facts| facts.len());
    for (what, path) in [
        ("the newest calls", "/v1/calls?limit=100"),
        ("the page of the newest calls", "/calls"),
        ("the newest refused calls", "/v1/calls?limit=100&verdict=block"),
        ("sessions", "/"),
        ("the timeline of a session", "/sessions/s1"),
        ("a page of a search that finds nothing", "/v1/calls?search=marmalade"),
        ("what a session was told", "/v1/sessions/s1/timeline?type=prompt"),
        ("its refused calls", "/v1/sessions/s1/timeline?verdict=block"),
        ("the graphs", "/stats"),
        ("metrics", "/metrics"),
    ] {
        assert_eq!(server.asked(path).status, 200, "{path}");
        println!("{what}: {:.1} ms", median(7, || drop(server.asked(path))));
    }
    // From page to page through the longest timeline: as quick at its end as at its beginning.
    let (mut before_record, mut seen, mut times) = (String::new(), 0, Vec::new());
    loop {
        let path = format!("/v1/sessions/s1/timeline?limit=500{before_record}");
        let asked = Instant::now();
        let answer = server.asked(&path);
        times.push(milliseconds(asked.elapsed()));
        let told = answer.json();
        seen += told["records"].as_array().unwrap().len();
        match told["next"].as_i64() {
            Some(next) => before_record = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(seen, records * 2 / sessions - records / sessions, "every record of the session, once");
    let last = times[times.len() - 1];
    times.sort_by(f64::total_cmp);
    println!(
        "its {seen} records in {} pages of 500: {:.1} ms a page (median), {:.1} ms at most, {last:.1} ms the last",
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1],
    );
    println!("all of that with {} MB of memory at most", server.memory() / 1_000_000);
    let after = std::fs::metadata(environment.state().join("index.db-wal")).map_or(0, |facts| facts.len());
    assert_eq!(before, after, "nothing was written, since nothing was new");
    drop(server);
    if std::env::var_os("CHECKREIN_FIGURES_RECORDS").is_some() {
        println!("over that index:");
        followed(&environment, &sample);
    }
}

/// Many sessions at once, as fast as they are told to write, while somebody watches all of them.
#[test]
fn busy_sessions_are_followed_to_their_last_record() {
    let environment =
        TestEnvironment::within(std::env::var("CHECKREIN_FIGURES_FOLDER").as_deref().unwrap_or("/tmp"));
    let sample = sample(&environment);
    followed(&environment, &sample);
}

/// Writes the calls of these numbers as they are due, each by itself as a hook does.
fn write(environment: &TestEnvironment, sample: &ReviewRecord, numbers: std::ops::Range<usize>) {
    let (sessions, rate) = (number("CHECKREIN_FIGURES_BUSY", 64), number("CHECKREIN_FIGURES_RATE", 200));
    let state = StateDirectory::new(environment.state());
    let (started, count, first) = (Instant::now(), numbers.len(), numbers.start);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (state, numbers) = (&state, numbers.clone());
            scope.spawn(move || {
                let ledger = |one| SessionLedger::open(state, &SessionId(format!("busy{one}")));
                let ledgers: Vec<SessionLedger> = (0..sessions).map(ledger).collect();
                // Each session is written by one thread.
                for number in numbers.filter(|number| number % sessions % WRITERS == writer) {
                    let due = Duration::from_secs_f64((number - first) as f64 / rate as f64);
                    std::thread::sleep(due.saturating_sub(started.elapsed()));
                    // A number that is no prompt: all of them are calls.
                    let body = bodies(sample, number * 10 + 1..number * 10 + 2);
                    ledgers[number % sessions].append_all(Timestamp(now()), body, Durability::Plain).unwrap();
                }
            });
        }
    });
    let took = started.elapsed().as_secs_f64();
    println!("{sessions} sessions wrote {count} calls in {took:.1} s, {:.0} a second", count as f64 / took);
}

/// Says that it is over when it goes, also by a panic: whoever waits for that must not wait for ever.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How long real hooks take, one after the other with a pause, until it is over; in milliseconds, the shortest first.
fn hooks_until(environment: &TestEnvironment, is_over: &AtomicBool) -> Vec<f64> {
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let call = shell_call(&format!("beside-{}", now()), "ls -la", json!({}));
        let payload = environment.payload("beside", "PreToolUse", call);
        let started = Instant::now();
        environment.answer_to(&payload);
        times.push(milliseconds(started.elapsed()));
        std::thread::sleep(Duration::from_millis(100));
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The same load without a server and with one: nothing is lost, and hooks beside it are as quick.
fn followed(environment: &TestEnvironment, sample: &ReviewRecord) {
    let (rate, seconds) = (number("CHECKREIN_FIGURES_RATE", 200), number("CHECKREIN_FIGURES_SECONDS", 2));
    let is_over = AtomicBool::new(false);
    let all = rate * seconds;
    // Without a server for a fourth of the time.
    let alone = std::thread::scope(|scope| {
        let hooks = scope.spawn(|| hooks_until(environment, &is_over));
        let over = Over(&is_over);
        write(environment, sample, all..all + all / 4);
        drop(over);
        hooks.join().unwrap()
    });
    let server = Serving::start(environment);
    server.until("/v1/sessions/busy0/timeline?limit=1", |answer| answer.status == 200);
    let (began, busy) = (Instant::now(), server.processor_time());
    let (mut stream, since) = (server.events(), now());
    is_over.store(false, Ordering::Relaxed);
    let (late, hooks) = std::thread::scope(|scope| {
        let written = scope.spawn(|| write(environment, sample, 0..all));
        // Real hooks beside them, with the server and all of that going on.
        let hooks = scope.spawn(|| hooks_until(environment, &is_over));
        let over = Over(&is_over);
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut late = Vec::new();
        while seen.len() < all {
            let mut line = String::new();
            assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended at {}", seen.len());
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let told: Json = serde_json::from_str(data).unwrap();
            // Those of before the server came are told of too where it took them up late.
            let is_counted = told["at"].as_u64().unwrap() >= since;
            if !is_counted || !told["session"].as_str().unwrap().starts_with("busy") {
                continue;
            }
            late.push(now().saturating_sub(told["at"].as_u64().unwrap()));
            let call = format!("{} {}", told["session"], told["action"]);
            assert_eq!(seen.insert(call, 1), None, "twice: {data}");
        }
        drop(over);
        written.join().unwrap();
        (late, hooks.join().unwrap())
    });
    println!(
        "the server used {:.0} % of one processor",
        100.0 * server.processor_time().saturating_sub(busy).as_secs_f64() / began.elapsed().as_secs_f64()
    );
    println!("and {} MB of memory at most", server.memory() / 1_000_000);
    let mut late = late;
    late.sort_unstable();
    println!(
        "each was told of once; after {} ms (median), {} ms (99 of 100), {} ms (the last)",
        late[late.len() / 2],
        late[late.len() * 99 / 100],
        late[late.len() - 1]
    );
    if let (Some(with), Some(without)) = (hooks.get(hooks.len() / 2), alone.get(alone.len() / 2)) {
        println!(
            "a hook beside it: {with:.1} ms (median of {}); under the same load without a server {without:.1} ms (median of {}): ratio {:.2}",
            hooks.len(),
            alone.len(),
            with / without
        );
    }
    server.until("/healthz", |answer| answer.status == 200);
}
