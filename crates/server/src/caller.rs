//! Asking a server that answers on this machine: one request, one answer, within bounds.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::{CommandError, ErrorKind};
use checkrein_engine::servers::AnsweringServer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::devices::Role;

/// How long a server may take to take up the request, and to answer (ours).
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer, in bytes (ours).
const LONGEST: u64 = 1024 * 1024;
/// The longest key, in bytes.
const LONGEST_KEY: u64 = 128;

/// A link that pairs a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewCode {
    /// The link: it works once, within five minutes.
    pub pair: String,
    /// The SHA-256 fingerprint of the certificate, as browsers show it.
    pub fingerprint: String,
}

/// Has a server make a link that pairs a device, once.
///
/// # Errors
///
/// The key cannot be read, the server does not answer, or other machines do not reach it.
pub fn new_code(
    environment: &HostEnvironment,
    server: &AnsweringServer,
    role: Role,
) -> Result<NewCode, CommandError> {
    let body = format!("{{\"role\":\"{}\"}}", role.word());
    let answer = posted(environment, server, "/v1/pairings", &body)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    let told: Json = serde_json::from_str(body).unwrap_or_default();
    let text = |name: &str| told.get(name).and_then(Json::as_str).map(str::to_owned);
    match (text("pair"), text("fingerprint")) {
        (Some(pair), Some(fingerprint)) if pair.starts_with("https://") => Ok(NewCode { pair, fingerprint }),
        (Some(_) | None, _) => Err(CommandError::user(
            format!("the server at `{}` answers no other machines", server.url),
            "start it with `checkrein serve --lan`",
        )),
    }
}

/// Has a server make a link that logs one browser in, once. Returns the whole link, or its path where the server answers at a socket.
///
/// # Errors
///
/// The key cannot be read, or the server does not answer with a link.
pub fn new_link(environment: &HostEnvironment, server: &AnsweringServer) -> Result<String, CommandError> {
    let answer = posted(environment, server, "/v1/links", "")?;
    let link = link_in(&answer).ok_or_else(|| no_link(server, &first_line(&answer)))?;
    Ok(if server.url.starts_with("http") { format!("{}{link}", server.url) } else { link })
}

fn no_link(server: &AnsweringServer, error: &dyn std::fmt::Display) -> CommandError {
    CommandError {
        kind: ErrorKind::System,
        message: format!("the server at `{}` gave no link: {error}", server.url),
        hint: Some("start it again with `checkrein serve`".to_owned()),
        in_short: None,
    }
}

/// What a server answers to a request with the key of the approver.
fn posted(
    environment: &HostEnvironment,
    server: &AnsweringServer,
    to: &str,
    body: &str,
) -> Result<String, CommandError> {
    let path = environment.state.root().join("server/checkrein.token");
    let key = checkrein_files::read_text(&path, LONGEST_KEY)
        .map_err(|error| CommandError::file("read", path.display(), &error))?;
    let request = format!(
        "POST {to} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        key.trim(),
        body.len()
    );
    exchanged(&server.url, request.as_bytes()).map_err(|error| no_link(server, &error))
}

fn exchanged(url: &str, request: &[u8]) -> io::Result<String> {
    if let Some(path) = url.strip_prefix("unix:") {
        let stream = UnixStream::connect(Path::new(path))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        return asked(stream, request);
    }
    let address = url.strip_prefix("http://").unwrap_or(url);
    let address = address.parse().map_err(io::Error::other)?;
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    asked(stream, request)
}

fn asked(mut stream: impl Read + Write, request: &[u8]) -> io::Result<String> {
    stream.write_all(request)?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    Ok(answer)
}

fn first_line(answer: &str) -> String {
    answer.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// The path of the link in an answer that is one.
fn link_in(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200 ").then_some(())?;
    let body: Json = serde_json::from_str(body).ok()?;
    let link = body.get("open")?.as_str()?;
    link.starts_with(crate::access::OPEN).then(|| link.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_link_of_the_server_is_taken() {
        let answer = |status: &str, body: &str| link_in(&format!("HTTP/1.1 {status}\r\nA: b\r\n\r\n{body}"));
        assert_eq!(answer("200 OK", "{\"open\":\"/open/ab\"}").as_deref(), Some("/open/ab"));
        for (status, body) in [
            ("200 OK", "{\"open\":\"https://evil.example/open/ab\"}"),
            ("200 OK", "{}"),
            ("200 OK", "no"),
            ("401 Unauthorized", "{\"open\":\"/open/ab\"}"),
        ] {
            assert_eq!(answer(status, body), None, "{status} {body}");
        }
        assert_eq!(link_in(""), None);
    }
}
