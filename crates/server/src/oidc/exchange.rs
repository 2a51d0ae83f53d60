//! Asking an issuer. `curl` does, as everywhere, so that no TLS of a client is part of the program; what it is to send stands on its standard
//! input, since others see the words of a command line.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use data_encoding::BASE64;
use serde_json::Value as Json;

use crate::percent::encoded;

/// How long one request may take, in seconds (ours).
const SECONDS: &str = "10";
/// The longest answer that is read, in bytes (ours).
const LONGEST: u64 = 1024 * 1024;

/// How an issuer is asked.
pub(super) struct Exchange {
    /// What the issuer gave this program to prove itself with, where it gave something.
    pub(super) secret: Option<String>,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Exchange")
    }
}

/// Reads what an issuer publishes.
pub(super) fn get(address: &str) -> Result<Json, String> {
    asked(&[setting("url", address)])
}

impl Exchange {
    /// Sends a form; `client_id` stands in it.
    pub(super) fn post(&self, address: &str, fields: &[(&str, &str)]) -> Result<Json, String> {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let mut settings = vec![
            setting("url", address),
            setting("header", "Content-Type: application/x-www-form-urlencoded"),
            setting("data-raw", &body.join("&")),
        ];
        if let Some(secret) = &self.secret {
            let client = fields.iter().find(|(name, _)| *name == "client_id").map_or("", |(_, value)| value);
            let pair = BASE64.encode(format!("{}:{}", encoded(client), encoded(secret)).as_bytes());
            settings.push(setting("header", &format!("Authorization: Basic {pair}")));
        }
        asked(&settings)
    }
}

/// Whether what is sent to an address is read by who it names alone: TLS, or this machine.
pub(super) fn is_safe(address: &str) -> bool {
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    let here = ["http://127.0.0.1", "http://[::1]", "http://localhost"];
    let is_here = here.iter().any(|place| {
        address.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    let has_user = address.split('/').nth(2).is_none_or(|host| host.is_empty() || host.contains('@'));
    is_plain && !has_user && (address.starts_with("https://") || is_here)
}

fn asked(settings: &[String]) -> Result<Json, String> {
    let failed = |why: &dyn std::fmt::Display| format!("the issuer cannot be asked: {why}");
    let mut child = Command::new("curl")
        .args(["--disable", "--silent", "--max-time", SECONDS, "--proto", "=http,https", "--max-redirs", "0"])
        .args(["--header", "Accept: application/json", "--write-out", "\n%{http_code}", "--config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error))?;
    if let Some(mut pipe) = child.stdin.take() {
        // Who does not read it answers nothing.
        drop(pipe.write_all(settings.join("\n").as_bytes()));
    }
    let mut bytes = Vec::new();
    if let Some(output) = child.stdout.take() {
        drop(output.take(LONGEST).read_to_end(&mut bytes));
    }
    drop(child.wait());
    let text = String::from_utf8_lossy(&bytes);
    let (answer, status) = text.rsplit_once('\n').ok_or_else(|| failed(&"there is no answer"))?;
    if status.trim() != "200" {
        return Err(failed(&format!("it answered with status {}", status.trim())));
    }
    serde_json::from_str(answer).map_err(|_| failed(&"its answer is not JSON"))
}

/// A line of the settings of `curl`.
fn setting(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], "");
    format!("{name} = \"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_do_not_read_is_asked() {
        for safe in [
            "https://id.example.com",
            "https://id.example.com:8443/a?b",
            "http://127.0.0.1:9/x",
            "http://[::1]",
        ] {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_one in [
            "http://id.example.com",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example/",
            "https://",
            "https://user@id.example.com",
            "http://127.0.0.1@evil.example",
            "ftp://id.example.com",
            "https://id.example.com\nurl = \"file:///etc/passwd\"",
            "https://id.example.com/\"",
        ] {
            assert!(!is_safe(unsafe_one), "{unsafe_one}");
        }
    }
}
