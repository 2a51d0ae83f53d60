//! What the server sends to a collector of OpenTelemetry (OTLP over HTTP, as JSON), where an address is configured: sessions as traces, what is
//! counted as metrics, events as logs. A thread of its own reads the index on from its start; the index is its queue, so that a collector that
//! is away costs no memory. What is lost is counted.
//!
//! | module | holds |
//! |---|---|
//! | `spans` | records as spans, by the conventions for generative models |
//! | `logs` | events as records of a log |
//! | `series` | what is counted as metrics |
//! | `sending` | one request, and again within bounds |

mod logs;
mod sending;
mod series;
mod spans;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::session_ledger;
use checkrein_policy::{Config, TelemetryEvents};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::index::Index;
use crate::index::query::{TakenRecord, taken_after};
use crate::metrics::{self, names};
use sending::{Collector, Sent};
use spans::Spans;

/// How often it is looked for new records (ours).
const ROUND: Duration = Duration::from_millis(500);
/// How often metrics are sent without a wish (OpenTelemetry's default).
const INTERVAL: Duration = Duration::from_mins(1);
/// How many records go into one request (OpenTelemetry's default for spans).
const BATCH: u64 = 512;

/// A sort of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    pub(crate) const ALL: [Self; 3] = [Self::Traces, Self::Metrics, Self::Logs];

    /// The word in an address and in metrics.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
        }
    }

    fn place(self) -> usize {
        match self {
            Self::Traces => 0,
            Self::Metrics => 1,
            Self::Logs => 2,
        }
    }
}

/// How much was sent, and how much was lost.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    sent: [AtomicU64; 3],
    lost: [AtomicU64; 3],
}

impl Counts {
    fn add(&self, signal: Signal, all: u64, lost: u64) {
        if let Some(count) = self.sent.get(signal.place()) {
            count.fetch_add(all.saturating_sub(lost), Ordering::Relaxed);
        }
        if let Some(count) = self.lost.get(signal.place()) {
            count.fetch_add(lost, Ordering::Relaxed);
        }
    }

    /// The same as samples of metrics.
    pub(crate) fn samples(&self) -> Vec<(&'static str, String, f64)> {
        let of = |name, counts: &[AtomicU64; 3]| {
            let count =
                |signal: Signal| counts.get(signal.place()).map_or(0, |one| one.load(Ordering::Relaxed));
            Signal::ALL
                .map(|signal| (name, names::labels(&[("signal", signal.word())]), count(signal) as f64))
        };
        of(names::TELEMETRY_SENT, &self.sent)
            .into_iter()
            .chain(of(names::TELEMETRY_LOST, &self.lost))
            .collect()
    }
}

/// The thread that sends; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Telling {
    pub(crate) counts: Arc<Counts>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Where a collector is, by the configuration or the variables of OpenTelemetry; `None` where none is, or nothing is to be told.
fn collector(environment: &HostEnvironment, config: &Config) -> Option<Collector> {
    let variable =
        |name: &str| environment.variables.get(name).map(String::as_str).filter(|text| !text.is_empty());
    if !session_ledger::tells(environment, config) || variable("OTEL_SDK_DISABLED") == Some("true") {
        return None;
    }
    let named = config.telemetry.otlp_endpoint.as_deref().or(variable("OTEL_EXPORTER_OTLP_ENDPOINT"))?;
    Collector::new(environment, named, variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default())
}

impl Telling {
    /// Begins to send what comes from now on; `None` where nobody wants it.
    pub(crate) fn begin(
        environment: &HostEnvironment,
        config: &Config,
        index: &Index,
        newest: watch::Receiver<i64>,
    ) -> std::io::Result<Option<Self>> {
        let Some(collector) = collector(environment, config) else { return Ok(None) };
        let (counts, is_over) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
        let milliseconds =
            environment.variables.get("OTEL_METRIC_EXPORT_INTERVAL").and_then(|text| text.parse().ok());
        let taken = *newest.borrow();
        let began = environment.now().0;
        let mut teller = Teller {
            environment: environment.clone(),
            index: index.clone(),
            collector,
            counts: Arc::clone(&counts),
            is_over: Arc::clone(&is_over),
            spans: Spans::default(),
            taken,
            newest,
            detail: config.telemetry.events,
            began,
            since: began,
            told: began,
            interval: milliseconds.map_or(INTERVAL, Duration::from_millis),
        };
        let thread = std::thread::Builder::new().name("otlp".to_owned()).spawn(move || teller.tell())?;
        Ok(Some(Self { counts, is_over, thread: Some(thread) }))
    }
}

struct Teller {
    environment: HostEnvironment,
    index: Index,
    collector: Collector,
    counts: Arc<Counts>,
    is_over: Arc<AtomicBool>,
    spans: Spans,
    /// The number of the last record that was taken up.
    taken: i64,
    newest: watch::Receiver<i64>,
    detail: TelemetryEvents,
    began: u64,
    /// Since when records are sent, and the time behind the newest one that was, in milliseconds since 1970.
    since: u64,
    told: u64,
    interval: Duration,
}

impl Teller {
    fn tell(&mut self) {
        let mut counted = Instant::now();
        loop {
            let is_over = self.is_over.load(Ordering::Relaxed);
            self.tell_records();
            if is_over || counted.elapsed() >= self.interval {
                counted = Instant::now();
                self.tell_metrics();
            }
            if is_over {
                return;
            }
            std::thread::sleep(ROUND);
        }
    }

    /// Sends the records that came since, as spans and logs.
    fn tell_records(&mut self) {
        loop {
            let newest = *self.newest.borrow_and_update();
            // An index that was made again counts from 1; what it takes up again was sent, which its times tell.
            if newest < self.taken {
                self.taken = 0;
                self.since = self.told;
            }
            if newest <= self.taken {
                return;
            }
            let Ok(connection) = self.index.reader() else { return };
            let found = taken_after(&connection, &self.environment.state, self.taken, BATCH);
            let Ok(mut records) = found else { return };
            let Some(last) = records.last() else { return };
            self.taken = last.id;
            // An index that is new, or was made again, takes up all that was on record before.
            records.retain(|one| one.record.at.0 >= self.since);
            let told = records.iter().map(|one| one.record.at.0 + 1).max().unwrap_or_default();
            self.told = self.told.max(told);
            let spans: Vec<Json> = records.iter().flat_map(|one| self.spans.of(one)).collect();
            self.send(Signal::Traces, spans.len(), || {
                resource("resourceSpans", "scopeSpans", "spans", &spans)
            });
            let told: Vec<Json> = records.iter().filter_map(|one| logs::of(one, self.detail)).collect();
            self.send(Signal::Logs, told.len(), || {
                resource("resourceLogs", "scopeLogs", "logRecords", &told)
            });
        }
    }

    fn tell_metrics(&self) {
        let now = self.environment.now().0;
        let read = || {
            let connection = self.index.reader()?;
            metrics::samples(&connection, &self.environment.state, now, true, self.counts.samples())
        };
        // An index that cannot be read is told by its own metric, to whoever asks this server.
        let Ok(families) = read() else { return };
        let all = series::of(&families, self.began, now);
        self.send(Signal::Metrics, all.len(), || {
            resource("resourceMetrics", "scopeMetrics", "metrics", &all)
        });
    }

    fn send(&self, signal: Signal, count: usize, body: impl FnOnce() -> Json) {
        if count == 0 {
            return;
        }
        let all = count as u64;
        let lost = match self.collector.send(signal, &body(), &self.is_over) {
            Sent::All => 0,
            Sent::Without(rejected) => rejected.min(all),
            Sent::Nothing => all,
        };
        self.counts.add(signal, all, lost);
    }
}

/// What is sent, in its envelope.
fn resource(outer: &str, inner: &str, name: &str, all: &[Json]) -> Json {
    let version = env!("CARGO_PKG_VERSION");
    json!({ outer: [{
        "resource": { "attributes": attributes(&[
            ("service.name", json!("checkrein")),
            ("service.version", json!(version)),
            ("telemetry.sdk.name", json!("checkrein")),
            ("telemetry.sdk.language", json!("rust")),
        ]) },
        inner: [{ "scope": { "name": "checkrein", "version": version }, name: all }],
    }] })
}

/// Attributes in the form of OTLP; those without a value are left out.
fn attributes(all: &[(&str, Json)]) -> Json {
    all.iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| json!({ "key": name, "value": any_value(value) }))
        .collect()
}

fn any_value(value: &Json) -> Json {
    match value {
        Json::Bool(is) => json!({ "boolValue": is }),
        // 64 bits are texts in JSON (OTLP).
        Json::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
        Json::Number(number) => json!({ "intValue": number.to_string() }),
        Json::String(text) => json!({ "stringValue": text }),
        Json::Array(all) => {
            json!({ "arrayValue": { "values": all.iter().map(any_value).collect::<Vec<_>>() } })
        }
        Json::Null | Json::Object(_) => json!({ "stringValue": value.to_string() }),
    }
}

/// A name of this many bytes that follows from these words, in hexadecimal.
fn identity(words: &[&str], length: usize) -> String {
    let digest = Sha256::digest(words.join("\0"));
    hex::encode(digest.get(..length).unwrap_or_default())
}

/// The trace of a session.
fn trace_of(session: &str) -> String {
    identity(&["trace", session], 16)
}

/// Milliseconds since 1970 as nanoseconds, as OTLP writes them.
fn nanoseconds(milliseconds: u64) -> String {
    format!("{}", u128::from(milliseconds) * 1_000_000)
}

/// When a record was written, in milliseconds since 1970.
fn at(one: &TakenRecord) -> u64 {
    one.record.at.0
}
