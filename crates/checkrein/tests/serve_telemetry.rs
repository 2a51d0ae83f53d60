//! What the server sends to a collector of OpenTelemetry: a sink of our own takes it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::{TestEnvironment, shell_call};

/// A request that came: its path, its headers, its body.
type Request = (String, String, Json);

/// A collector that answers as it is told.
struct Sink {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Sink {
    /// `answer` is given the path and how many requests to it came before.
    fn start(answer: fn(&str, usize) -> (u16, &'static str)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let taken = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    head.push_str(&line);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let mut taken = taken.lock().unwrap();
                let before = taken.iter().filter(|one| one.0 == path).count();
                let (status, text) = answer(&path, before);
                taken.push((path, head, serde_json::from_slice(&body).unwrap_or_default()));
                let answer = format!(
                    "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                    text.len()
                );
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { url, requests }
    }

    fn of(&self, path: &str) -> Vec<Request> {
        self.requests.lock().unwrap().iter().filter(|one| one.0 == path).cloned().collect()
    }

    /// All values of a list in what came to this path.
    fn all(&self, path: &str, pointer: &str) -> Vec<Json> {
        let requests = self.of(path);
        requests
            .iter()
            .flat_map(|one| one.2.pointer(pointer).and_then(Json::as_array).cloned().unwrap_or_default())
            .collect()
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !is_so(self) {
            assert!(begin.elapsed() < Duration::from_secs(30), "{what}: {:?}", self.requests.lock().unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

const SPANS: &str = "/resourceSpans/0/scopeSpans/0/spans";
const LOGS: &str = "/resourceLogs/0/scopeLogs/0/logRecords";
const METRICS: &str = "/resourceMetrics/0/scopeMetrics/0/metrics";

/// The attributes of a span, a log record or a point by name.
fn attribute(one: &Json, name: &str) -> Json {
    let all = one["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name).unwrap_or_else(|| panic!("{name}: {one}"));
    found["value"].as_object().unwrap().values().next().unwrap().clone()
}

fn session(environment: &TestEnvironment) {
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    let call = |id: &str, command: &str| shell_call(id, command, json!({}));
    environment.answer_to(&environment.payload("s", "PreToolUse", call("one", "ls")));
    let mut ended = call("one", "ls");
    ended["tool_response"] = json!({ "stdout": "a", "stderr": "" });
    environment.answer_to(&environment.payload("s", "PostToolUse", ended));
    environment.answer_to(&environment.payload("s", "PreToolUse", call("two", "rm -rf ~")));
    environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "exit" })));
}

// Source: seed 004-2, 004-87
#[test]
fn sessions_are_traces_events_are_logs_and_counters_are_metrics() {
    // A collector that is away for a moment at first.
    let sink =
        Sink::start(|path, before| if path == "/v1/traces" && before == 0 { (503, "") } else { (200, "{}") });
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", &format!("telemetry: {{otlp_endpoint: '{}/'}}\n", sink.url));
    let variables = [("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")];
    let mut server = Serving::start_with(&environment, "127.0.0.1:0", &variables);
    session(&environment);
    sink.until("the end of the session", |sink| {
        let is_told = sink.all("/v1/traces", SPANS).iter().any(|span| span["name"] == "invoke_agent claude");
        is_told && sink.of("/v1/traces").len() >= 2
    });
    let again = sink.of("/v1/traces");
    assert_eq!(again[0].2, again[1].2, "what was refused for the moment is sent again");
    assert!(again[0].1.contains("x-key: a b\r\n"), "{}", again[0].1);
    let spans = sink.all("/v1/traces", SPANS);
    let named = |name: &str, id: &str| {
        let is_it = |one: &&Json| {
            one["name"] == name && (id.is_empty() || attribute(one, "gen_ai.tool.call.id") == id)
        };
        spans.iter().find(is_it).unwrap_or_else(|| panic!("{name} {id}: {spans:?}")).clone()
    };
    let (agent, ran, refused) = (
        named("invoke_agent claude", ""),
        named("execute_tool Bash", "one"),
        named("execute_tool Bash", "two"),
    );
    for (span, length) in [(&agent, 32), (&ran, 32), (&refused, 32)] {
        assert_eq!((&span["traceId"], span["traceId"].as_str().unwrap().len()), (&agent["traceId"], length));
        let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(
            time("startTimeUnixNano") <= time("endTimeUnixNano")
                && time("startTimeUnixNano") > 1_500_000_000_000_000_000,
            "{span}"
        );
        assert_eq!(attribute(span, "gen_ai.conversation.id"), "s");
    }
    assert_eq!((&ran["parentSpanId"], &agent["parentSpanId"]), (&agent["spanId"], &Json::Null));
    assert_eq!(agent["spanId"].as_str().unwrap().len(), 16);
    assert_eq!(
        (attribute(&ran, "checkrein.ran"), attribute(&refused, "checkrein.ran")),
        (json!(true), json!(false))
    );
    assert_eq!(attribute(&refused, "checkrein.verdict"), "block");
    assert_eq!(attribute(&ran, "gen_ai.operation.name"), "execute_tool");
    sink.until("logs", |sink| {
        sink.all("/v1/logs", LOGS).iter().any(|one| one["body"]["stringValue"] == "session.end")
    });
    let logs = sink.all("/v1/logs", LOGS);
    let review = logs.iter().find(|one| one["eventName"] == "checkrein.tool.review").unwrap();
    assert_eq!((&review["severityText"], &review["traceId"]), (&json!("WARN"), &agent["traceId"]));
    assert_eq!(attribute(review, "verdict"), "block");
    server.until("/metrics", |answer| {
        answer.body.contains("checkrein_telemetry_lost_total{signal=\"traces\"} 0\n")
    });
    // At the end the last numbers are sent.
    assert_eq!(server.terminate(), Some(0));
    let metrics = sink.all("/v1/metrics", METRICS);
    let of = |name: &str| {
        metrics.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    let reviews = of("checkrein_reviews_total");
    assert_eq!(
        (&reviews["sum"]["isMonotonic"], &reviews["sum"]["aggregationTemporality"]),
        (&json!(true), &json!(2))
    );
    let points = reviews["sum"]["dataPoints"].as_array().unwrap();
    let blocked = points.iter().find(|one| attribute(one, "verdict") == "block").unwrap();
    assert_eq!(blocked["asDouble"], 1.0);
    let times = of("checkrein_review_duration_seconds");
    let point = &times["histogram"]["dataPoints"][0];
    assert_eq!(
        point["bucketCounts"].as_array().unwrap().len(),
        point["explicitBounds"].as_array().unwrap().len() + 1
    );
    assert_eq!(of("checkrein_index_up")["gauge"]["dataPoints"][0]["asDouble"], 1.0);
    // Nothing that a call holds is in any of it, and no settings of `curl` stay.
    let all = format!("{:?}", sink.requests.lock().unwrap());
    assert!(!all.contains("rm -rf"), "no command is sent");
    let left = std::fs::read_dir(environment.state().join("server")).unwrap();
    assert!(left.flatten().all(|one| !one.file_name().to_string_lossy().contains("otlp")));
}

#[test]
fn what_no_collector_takes_is_counted_and_nothing_waits_for_it() {
    let sink = Sink::start(|path, _| match path {
        "/v1/traces" => (400, ""),
        "/v1/logs" => (200, "{\"partialSuccess\":{\"rejectedLogRecords\":\"1\"}}"),
        _ => (200, ""),
    });
    let environment = TestEnvironment::new();
    // The variable of OpenTelemetry serves where nothing is configured.
    let server =
        Serving::start_with(&environment, "127.0.0.1:0", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &sink.url)]);
    session(&environment);
    let lost = |answer: &serve_support::Http, signal: &str| {
        let line = format!("checkrein_telemetry_lost_total{{signal=\"{signal}\"}} ");
        answer.body.lines().find_map(|one| one.strip_prefix(&line)?.parse::<u64>().ok()).unwrap_or_default()
    };
    let told = server.until("/metrics", |answer| lost(answer, "traces") >= 3 && lost(answer, "logs") >= 1);
    assert_eq!(lost(&told, "metrics"), 0);
    // A span that a collector refuses for good is not sent again.
    let traces = sink.of("/v1/traces");
    assert!(traces.windows(2).all(|pair| pair[0].2 != pair[1].2), "{traces:?}");
}

#[test]
fn what_came_before_the_server_is_not_sent_also_where_the_index_is_new() {
    let sink = Sink::start(|_, _| (200, ""));
    let environment = TestEnvironment::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url.as_str())];
    // Everything is in no index yet.
    session(&environment);
    std::thread::sleep(Duration::from_millis(20));
    let mut server = Serving::start_with(&environment, "127.0.0.1:0", &variables);
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2);
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(sink.all("/v1/traces", SPANS), Vec::<Json>::new());
    let call = shell_call("three", "ls -l", json!({}));
    environment.answer_to(&environment.payload("later", "PreToolUse", call.clone()));
    let mut ended = call;
    ended["tool_response"] = json!({ "stdout": "a", "stderr": "" });
    environment.answer_to(&environment.payload("later", "PostToolUse", ended));
    sink.until("the later call", |sink| !sink.all("/v1/traces", SPANS).is_empty());
    let sent = sink.all("/v1/traces", SPANS).len();
    assert_eq!(server.terminate(), Some(0));
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        drop(std::fs::remove_file(environment.state().join(name)));
    }
    let server = Serving::start_with(&environment, "127.0.0.1:0", &variables);
    server.until("/v1/sessions", |answer| {
        answer.json()["sessions"].as_array().is_some_and(|all| all.len() == 2)
    });
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(sink.all("/v1/traces", SPANS).len(), sent, "what was sent is not sent again");
}

// Source: seed 004-1
#[test]
fn one_variable_turns_it_off() {
    let sink = Sink::start(|_, _| (200, ""));
    let environment = TestEnvironment::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url.as_str()), ("CHECKREIN_TELEMETRY", "0")];
    let mut server = Serving::start_with(&environment, "127.0.0.1:0", &variables);
    session(&environment);
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2);
    assert!(!server.asked("/metrics").body.contains("checkrein_telemetry_sent_total{"));
    assert_eq!(server.terminate(), Some(0));
    assert!(sink.requests.lock().unwrap().is_empty());
}
