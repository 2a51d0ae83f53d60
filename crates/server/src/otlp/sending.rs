//! One request to a collector, and again within bounds. `curl` sends it, as it sends notices, so that no TLS is part of the program; address
//! and headers stand in a file that only this user reads, since others see the words of a command line.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use checkrein_engine::environment::HostEnvironment;
use checkrein_files::Forced;
use percent_encoding::percent_decode_str;
use serde_json::Value as Json;

use super::Signal;

/// How often it is tried again, and after how long each time (ours).
const AGAIN: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How long one request may take, in seconds (OpenTelemetry's default).
const SECONDS: &str = "10";
/// The longest answer that is read, in bytes (ours).
const LONGEST: u64 = 64 * 1024;
/// How long it is waited between two looks at whether the server ends (ours).
const LOOK: Duration = Duration::from_millis(100);

/// Where a collector is.
#[derive(Debug)]
pub(super) struct Collector {
    /// Without the part that names the signal.
    address: String,
    headers: Vec<(String, String)>,
    /// The settings of `curl`.
    file: PathBuf,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    /// The collector took it without so many.
    Without(u64),
    Nothing,
}

/// What became of one try.
enum Tried {
    Done(Sent),
    /// It may go better later.
    Again,
}

impl Collector {
    /// The collector at this address, with headers as OpenTelemetry writes them (`name=value,name=value`); `None` for what is no address.
    pub(super) fn new(environment: &HostEnvironment, address: &str, headers: &str) -> Option<Self> {
        let address = address.trim().trim_end_matches('/');
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        let plain = |text: &str| !text.chars().any(char::is_control);
        let headers = headers.split(',').filter_map(|pair| pair.split_once('='));
        let headers = headers.map(|(name, value)| (decoded(name.trim()), decoded(value.trim())));
        (is_address && plain(address)).then(|| Self {
            address: address.to_owned(),
            headers: headers.filter(|(name, value)| plain(name) && plain(value)).collect(),
            file: environment.state.root().join(format!("server/otlp-{}.curl", std::process::id())),
        })
    }

    /// Sends it, again after a failure that may pass. Where the server ends, it is tried once.
    pub(super) fn send(&self, signal: Signal, body: &Json, is_over: &AtomicBool) -> Sent {
        let body = body.to_string();
        let mut pauses = AGAIN.iter();
        loop {
            match self.tried(signal, &body) {
                Tried::Done(sent) => return sent,
                Tried::Again => {}
            }
            let Some(pause) = pauses.next() else { return Sent::Nothing };
            let mut waited = Duration::ZERO;
            while waited < *pause {
                if is_over.load(Ordering::Relaxed) {
                    return Sent::Nothing;
                }
                std::thread::sleep(LOOK);
                waited += LOOK;
            }
        }
    }

    fn tried(&self, signal: Signal, body: &str) -> Tried {
        let mut settings = vec![setting("url", &format!("{}/v1/{}", self.address, signal.word()))];
        settings.push(setting("header", "Content-Type: application/json"));
        // Without it `curl` asks first whether a long body is wanted.
        settings.push(setting("header", "Expect:"));
        settings
            .extend(self.headers.iter().map(|(name, value)| setting("header", &format!("{name}: {value}"))));
        if checkrein_files::replace(&self.file, settings.join("\n").as_bytes(), 0o600, Forced::Nothing)
            .is_err()
        {
            return Tried::Again;
        }
        let told = self.asked(body);
        drop(std::fs::remove_file(&self.file));
        let Some((status, answer)) = told else { return Tried::Again };
        match status {
            200..=299 => Tried::Done(rejected(&answer)),
            // Those of which the specification says that they may pass.
            0 | 429 | 502 | 503 | 504 => Tried::Again,
            _ => Tried::Done(Sent::Nothing),
        }
    }

    /// The status of the answer and its text; `None` where `curl` did not get one.
    fn asked(&self, body: &str) -> Option<(u16, String)> {
        let mut child = Command::new("curl")
            .args(["--disable", "--silent", "--max-time", SECONDS, "--proto", "=http,https"])
            .args(["--write-out", "\n%{http_code}", "--data-binary", "@-", "--config"])
            .arg(&self.file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        if let Some(mut pipe) = child.stdin.take() {
            // Who does not read it answers nothing.
            drop(pipe.write_all(body.as_bytes()));
        }
        let mut text = Vec::new();
        if let Some(output) = child.stdout.take() {
            drop(output.take(LONGEST).read_to_end(&mut text));
        }
        drop(child.wait());
        let text = String::from_utf8_lossy(&text);
        let (answer, status) = text.rsplit_once('\n')?;
        Some((status.trim().parse().ok()?, answer.to_owned()))
    }
}

/// How much the collector did not take, as its answer says.
fn rejected(answer: &str) -> Sent {
    let answer: Json = serde_json::from_str(answer).unwrap_or_default();
    let names = ["rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"];
    let count = names.iter().find_map(|name| {
        let value = answer.get("partialSuccess")?.get(*name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    });
    match count {
        None | Some(0) => Sent::All,
        Some(count) => Sent::Without(count),
    }
}

/// A line of the settings of `curl`.
fn setting(name: &str, value: &str) -> String {
    format!("{name} = \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text with the bytes behind `%`.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_the_specification_writes_them() {
        assert_eq!(decoded("Basic%20abc%3D"), "Basic abc=");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz"), "%zz");
    }

    #[test]
    fn what_a_collector_did_not_take_is_lost() {
        assert_eq!(rejected("{}"), Sent::All);
        assert_eq!(rejected(""), Sent::All);
        assert_eq!(rejected("{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}"), Sent::Without(3));
        assert_eq!(rejected("{\"partialSuccess\":{\"rejectedLogRecords\":2}}"), Sent::Without(2));
    }
}
