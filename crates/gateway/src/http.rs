//! A server at an address: streamable HTTP, spoken by `curl`, so that no TLS is part of this program.
//!
//! Each message of the client is one POST. The answer is JSON, or a stream of events with messages in it. A further stream brings what the
//! server says by itself. Headers stand in a private file for as long as the connection lasts, never on a command line.

mod events;
mod exchange;

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use serde_json::Value as Json;

use crate::lines::{ReadLine, next_line};
use crate::message::{CALL, tree};
use crate::relay::{LONGEST_LINE, Relay, Sent};
use crate::reviewer::Reviewer;
use crate::server_process::ClientSide;
use crate::texts;

use exchange::{Body, Exchange};

/// How many requests may be on their way at a time (ours); further ones wait.
const MOST_REQUESTS: usize = 32;

/// How long requests that are on their way are waited for when the client has left (ours).
const AFTER_CLOSE: Duration = Duration::from_secs(5);

/// How long a stream that ended is left alone before it is opened again (ours).
const PAUSE: Duration = Duration::from_secs(1);

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    text: String,
}

impl ServerAddress {
    /// Returns the address in a text. It must be `https`, or lead to this machine, since headers hold secrets; and it must hold none itself.
    pub fn new(text: &str) -> Result<Self, CommandError> {
        let refuse =
            |why: &str, hint: &str| Err(CommandError::user(format!("`{text}` {why}"), hint.to_owned()));
        let Some((scheme, rest)) = text.split_once("://") else {
            return refuse("is not an address", "give one such as https://mcp.example.com/mcp");
        };
        if text
            .chars()
            .any(|letter| letter.is_control() || letter.is_whitespace() || "\"\\{}[]".contains(letter))
            && !rest.starts_with("[::1]")
        {
            return refuse(
                "holds signs that no address has",
                "write them in percent signs and hexadecimal digits",
            );
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return refuse("holds a name or password", "give it by `--header-env Authorization=VARIABLE`");
        }
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        let is_here = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        match scheme.to_ascii_lowercase().as_str() {
            _ if host.is_empty() => refuse("names no host", "give one such as https://mcp.example.com/mcp"),
            "https" => Ok(Self { text: text.to_owned() }),
            "http" if is_here => Ok(Self { text: text.to_owned() }),
            "http" => refuse("is not encrypted", "use https; http is for servers on this machine only"),
            _ => refuse("is neither https nor http", "give one such as https://mcp.example.com/mcp"),
        }
    }

    /// Returns the name of its host, for a server without another name.
    pub fn host(&self) -> &str {
        let rest = self.text.split_once("://").map_or("", |(_, rest)| rest);
        rest.split(['/', '?', '#', ':']).next().unwrap_or_default()
    }

    /// Returns the address as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A header that every request has.
#[derive(Clone, PartialEq, Eq)]
pub struct FixedHeader {
    name: String,
    value: String,
}

impl FixedHeader {
    /// Returns a header. Fails where its name or its value could stand for more than one.
    pub fn new(name: &str, value: &str) -> Result<Self, CommandError> {
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_name || value.chars().any(char::is_control) {
            // The value may be a secret.
            return Err(CommandError::user(
                format!("the header `{}` cannot be sent", name.escape_debug()),
                "a header is `Name: value` on one line, its name of letters, digits and `-`",
            ));
        }
        Ok(Self { name: name.to_owned(), value: value.trim().to_owned() })
    }
}

impl std::fmt::Debug for FixedHeader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "FixedHeader({}: ..)", self.name)
    }
}

/// A connection to a server.
struct Connection<R> {
    relay: Relay<R>,
    address: ServerAddress,
    fixed: Vec<FixedHeader>,
    /// Headers that the server or the client said: session and version of the protocol.
    said: Mutex<HashMap<&'static str, String>>,
    headers: AbsolutePath,
    to_client: Mutex<Box<dyn io::Write + Send>>,
    remark: Arc<dyn Fn(&str) + Send + Sync>,
    running: AtomicUsize,
    has_stream: AtomicBool,
    is_over: AtomicBool,
}

/// Stands before a server at an address until the client ends.
pub fn serve_address<R: Reviewer + 'static>(
    environment: &HostEnvironment,
    address: ServerAddress,
    fixed: Vec<FixedHeader>,
    relay: Relay<R>,
    client: ClientSide,
) -> Result<u8, CommandError> {
    let headers = environment.state_path.join(&format!("mcp/headers-{}", std::process::id()));
    let connection = Arc::new(Connection {
        relay,
        address,
        fixed,
        said: Mutex::default(),
        headers,
        to_client: Mutex::new(client.output),
        remark: client.remark,
        running: AtomicUsize::new(0),
        has_stream: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
    });
    connection.write_headers()?;
    let mut input = BufReader::with_capacity(64 * 1024, client.input);
    let served = connection.read_client(&mut input);
    let last = Instant::now() + AFTER_CLOSE;
    while connection.running.load(Ordering::Acquire) > 0 && Instant::now() < last {
        thread::sleep(Duration::from_millis(10));
    }
    connection.is_over.store(true, Ordering::Release);
    if locked(&connection.said).contains_key(SESSION) {
        // A server that does not know it says so, and nobody has to hear it.
        drop(connection.exchange("DELETE", &[], None).map(|mut exchange| exchange.head()));
    }
    drop(std::fs::remove_file(connection.headers.as_str()));
    connection.relay.end();
    served.map(|()| 0)
}

const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: Reviewer + 'static> Connection<R> {
    /// Writes down the headers of every request.
    fn write_headers(&self) -> Result<(), CommandError> {
        let mut text = String::from(
            "Content-Type: application/json\nAccept: application/json, text/event-stream\nExpect:\nUser-Agent: checkrein\n",
        );
        let fixed = self.fixed.iter().map(|header| format!("{}: {}\n", header.name, header.value));
        let said = locked(&self.said);
        fixed
            .chain(said.iter().map(|(name, value)| format!("{name}: {value}\n")))
            .for_each(|line| text.push_str(&line));
        write_private(&self.headers, text.as_bytes())
    }

    /// Notes a header that goes with every request from now on.
    fn note(&self, name: &'static str, value: &str) -> Result<(), CommandError> {
        let is_plain =
            !value.is_empty() && value.len() < 1024 && value.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || locked(&self.said).insert(name, value.to_owned()).as_deref() == Some(value) {
            return Ok(());
        }
        self.write_headers()
    }

    fn exchange(&self, method: &str, more: &[String], body: Option<&[u8]>) -> io::Result<Exchange> {
        Exchange::start(&self.address, self.headers.as_str(), method, more, body)
    }

    fn read_client(
        self: &Arc<Self>,
        input: &mut BufReader<Box<dyn Read + Send>>,
    ) -> Result<(), CommandError> {
        let mut line = Vec::new();
        loop {
            let sent = match next_line(input, LONGEST_LINE, &mut line)? {
                ReadLine::Whole => self.relay.from_client(&line),
                ReadLine::TooLong { head, tail, length } => {
                    self.relay.too_long_from_client(&head, &tail, length)
                }
                ReadLine::End => return Ok(()),
            };
            if self.send(sent).is_err() {
                // The client reads no more.
                return Ok(());
            }
        }
    }

    fn send(self: &Arc<Self>, sent: Vec<Sent<'_>>) -> io::Result<()> {
        for one in sent {
            match one {
                Sent::ToServer(line) => self.post(line.into_owned())?,
                Sent::ToClient(line) => {
                    let mut client = locked(&self.to_client);
                    client.write_all(&line)?;
                    client.flush()?;
                }
                Sent::Remark(text) => (self.remark)(&text),
            }
        }
        Ok(())
    }

    /// Sends a message. One that is answered does not hold up the next.
    fn post(self: &Arc<Self>, line: Vec<u8>) -> io::Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let message = tree(&line).unwrap_or_default();
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        if !is_request && !message.is_array() {
            self.deliver(&line, &message);
            if message.get("method").and_then(Json::as_str) == Some("notifications/initialized") {
                self.listen()?;
            }
            return Ok(());
        }
        while self.running.load(Ordering::Acquire) >= MOST_REQUESTS {
            thread::sleep(Duration::from_millis(5));
        }
        self.running.fetch_add(1, Ordering::AcqRel);
        let connection = Arc::clone(self);
        let started = thread::Builder::new().spawn(move || {
            connection.deliver(&line, &message);
            connection.running.fetch_sub(1, Ordering::AcqRel);
        });
        started.map(drop)
    }

    /// Sends a message and hands on what comes back for it.
    fn deliver(self: &Arc<Self>, line: &[u8], message: &Json) {
        let id = message.get("id").filter(|_| message.get("method").is_some());
        let mut is_answered = false;
        let failure = match self.delivered(line, message, &mut is_answered) {
            Ok(()) if is_answered => return,
            Ok(()) => "it sent no answer".to_owned(),
            Err(why) => why,
        };
        match id {
            // By the way of every answer, so that nothing waits for it any more.
            Some(id) => {
                let answer = texts::failure(id, &texts::unreachable(self.address.host(), &failure));
                self.hand_on(answer.to_string().as_bytes());
            }
            None if failure != "it sent no answer" => {
                (self.remark)(&texts::unreachable(self.address.host(), &failure));
            }
            None => {}
        }
    }

    fn delivered(
        self: &Arc<Self>,
        line: &[u8],
        message: &Json,
        is_answered: &mut bool,
    ) -> Result<(), String> {
        let mut more = Vec::new();
        let plain = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let method = message.get("method").and_then(Json::as_str);
        more.extend(method.filter(plain).map(|method| format!("Mcp-Method: {method}")));
        let name = message.pointer("/params/name").and_then(Json::as_str).filter(|_| method == Some(CALL));
        more.extend(name.filter(plain).map(|name| format!("Mcp-Name: {name}")));
        let mut exchange = self.exchange("POST", &more, Some(line)).map_err(|error| error.to_string())?;
        let head = exchange.head()?;
        if let Some(session) = head.header("mcp-session-id") {
            self.note(SESSION, session).map_err(|error| error.message)?;
        }
        let asked = message.get("id");
        let mut take = |text: &[u8]| {
            let answer = tree(text).unwrap_or_default();
            let is_it = |one: &Json| one.get("method").is_none() && one.get("id") == asked;
            *is_answered |= answer.as_array().map_or_else(|| is_it(&answer), |all| all.iter().any(is_it));
            if method == Some("initialize")
                && let Some(version) = answer.pointer("/result/protocolVersion").and_then(Json::as_str)
                && let Err(error) = self.note(VERSION, version)
            {
                (self.remark)(&error.message);
            }
            self.hand_on(text);
        };
        match (head.status, head.body()) {
            (200, Body::Events) => exchange.events(&mut take),
            (200, Body::Json) => exchange.whole().map(|text| take(&text)),
            (202 | 204, _) => {
                *is_answered = asked.is_none() || method.is_none();
                Ok(())
            }
            (200, Body::Other) => Err("it answered with neither JSON nor a stream of events".to_owned()),
            (status, _) => Err(texts::status(status)),
        }
    }

    /// Hands on one message of the server.
    fn hand_on(self: &Arc<Self>, text: &[u8]) {
        // Line breaks between values would make several messages of it, and none can stand within a text.
        let mut line: Vec<u8> = text.trim_ascii().to_vec();
        line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        let sent = if line.len() > LONGEST_LINE {
            let tail = line.len().saturating_sub(4096);
            self.relay.too_long_from_server(
                line.get(..4096).unwrap_or_default(),
                line.get(tail..).unwrap_or_default(),
                line.len() as u64,
            )
        } else {
            self.relay.from_server(&line)
        };
        // A client that reads no more has left, or will.
        drop(self.send(sent));
    }

    /// Listens to what the server says by itself, where it has a stream for that.
    fn listen(self: &Arc<Self>) -> io::Result<()> {
        if self.has_stream.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let connection = Arc::clone(self);
        let stream = thread::Builder::new().spawn(move || {
            let mut last: Option<String> = None;
            while !connection.is_over.load(Ordering::Acquire) {
                let more: Vec<String> = last.iter().map(|id| format!("Last-Event-ID: {id}")).collect();
                let Ok(mut exchange) = connection.exchange("GET", &more, None) else { return };
                match exchange.head() {
                    Ok(head) if head.status == 200 && head.body() == Body::Events => {}
                    // It has none.
                    Ok(_) | Err(_) => return,
                }
                // What ended is opened again.
                drop(exchange.events(&mut |text| connection.hand_on(text)));
                last = exchange.last_event().or(last);
                thread::sleep(PAUSE);
            }
        });
        stream.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_of_this_machine() {
        for good in [
            "https://a.example/mcp",
            "http://localhost:8080/x",
            "http://127.0.0.1/",
            "http://[::1]:9/m",
            "HTTPS://A",
        ] {
            assert!(ServerAddress::new(good).is_ok(), "{good}");
        }
        for bad in [
            "http://a.example/mcp",
            "http://localhost.a.example",
            "http://127.0.0.1.a.example",
            "https://user:secret@a.example",
            "file:///etc/passwd",
            "https://",
            "a.example",
            "https://a.example/{a,b}",
            "https://a.example/\n",
            "http://127.0.0.1@a.example/",
        ] {
            assert!(ServerAddress::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_header_is_one_header_and_never_shown() {
        assert!(FixedHeader::new("X-A", "b\nc: d").is_err());
        assert!(FixedHeader::new("X A", "b").is_err());
        let header = FixedHeader::new("Authorization", "Bearer x").unwrap();
        assert!(!format!("{header:?}").contains("Bearer"));
    }
}
