//! One request and its answer, by a process of `curl`.

use std::io::{self, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::ServerAddress;
use super::events::Events;
use crate::lines::{ReadLine, next_line};
use crate::relay::LONGEST_LINE;

/// The program.
const PROGRAM: &str = "curl";

/// How long a connection may take to be made, in seconds (ours).
const CONNECT_SECONDS: &str = "20";

/// The longest line of a head, in bytes, and how many lines it may have (ours).
const HEAD_LINE: usize = 16 * 1024;
const HEAD_LINES: usize = 200;

/// What the body of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Json,
    Events,
    Other,
}

/// The head of an answer.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The status.
    pub(super) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header, by its name in small letters.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What its body is.
    pub(super) fn body(&self) -> Body {
        let kind = self.header("content-type").unwrap_or_default().to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/json" => Body::Json,
            "text/event-stream" => Body::Events,
            _ => Body::Other,
        }
    }
}

/// A request that is on its way.
#[derive(Debug)]
pub(super) struct Exchange {
    child: Child,
    output: BufReader<ChildStdout>,
    events: Events,
}

impl Exchange {
    /// Starts a request, with the headers in a file and `more` of them that are no secret.
    pub(super) fn start(
        address: &ServerAddress,
        headers: &str,
        method: &str,
        more: &[String],
        body: Option<&[u8]>,
    ) -> io::Result<Self> {
        let mut command = Command::new(PROGRAM);
        // First of all: settings of the user do not count.
        command.args(["-q", "--silent", "--show-error", "--no-buffer", "--include", "--http1.1"]);
        command.args(["--suppress-connect-headers", "--globoff", "--proto", "=http,https"]);
        command.args(["--connect-timeout", CONNECT_SECONDS, "--request", method]);
        command.arg("--header").arg(format!("@{headers}"));
        for header in more {
            command.arg("--header").arg(header);
        }
        if method == "DELETE" {
            // Whoever leaves does not wait for long.
            command.args(["--max-time", "5"]);
        }
        if body.is_some() {
            command.args(["--data-binary", "@-"]);
        }
        command.arg("--").arg(address.as_str());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(target_os = "linux")]
        checkrein_sandbox::end_with_parent(&mut command);
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take()
            && let Some(body) = body
        {
            // It reads all before it sends any.
            input.write_all(body)?;
        }
        let output = child.stdout.take().ok_or_else(|| io::Error::other("curl has no output"))?;
        Ok(Self { child, output: BufReader::with_capacity(64 * 1024, output), events: Events::default() })
    }

    /// Reads the head of the answer; why there is none, in words.
    pub(super) fn head(&mut self) -> Result<Head, String> {
        let mut line = Vec::new();
        let mut head = Head::default();
        for _ in 0..HEAD_LINES {
            match next_line(&mut self.output, HEAD_LINE, &mut line) {
                Ok(ReadLine::Whole) => {}
                Ok(ReadLine::End) => return Err(self.complaint()),
                Ok(ReadLine::TooLong { .. }) => return Err("its head is too long".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            if let Some(rest) = text.strip_prefix("HTTP/").filter(|_| head.status == 0) {
                head.status =
                    rest.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
            } else if text.is_empty() && (100..200).contains(&head.status) {
                // One that says only that the next one follows.
                head = Head::default();
            } else if text.is_empty() {
                return Ok(head);
            } else if let Some((name, value)) = text.split_once(':') {
                head.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        Err("its head is too long".to_owned())
    }

    /// Reads the body as a whole, one byte more than may be handed on at most.
    pub(super) fn whole(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        let most = LONGEST_LINE as u64 + 2;
        self.output.by_ref().take(most).read_to_end(&mut body).map_err(|error| error.to_string())?;
        Ok(body)
    }

    /// Reads the body as a stream of events, and hands over the data of each.
    pub(super) fn events(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let mut line = Vec::new();
        loop {
            match next_line(&mut self.output, LONGEST_LINE, &mut line) {
                Ok(ReadLine::Whole) => {}
                Ok(ReadLine::End) => return Ok(()),
                Ok(ReadLine::TooLong { .. }) => return Err("an event of it is too long".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if let Some(data) = self.events.line(text.strip_suffix(b"\r").unwrap_or(text)) {
                if !data.is_empty() {
                    take(&data);
                }
            } else if self.events.waiting() > LONGEST_LINE {
                return Err("an event of it is too long".to_owned());
            }
        }
    }

    /// The id of the last event that had one.
    pub(super) fn last_event(&self) -> Option<String> {
        self.events.last()
    }

    /// What the program says of its failure.
    fn complaint(&mut self) -> String {
        let mut said = String::new();
        if let Some(errors) = self.child.stderr.take() {
            // What cannot be read says nothing.
            drop(errors.take(1024).read_to_string(&mut said));
        }
        let said = said.trim().trim_start_matches("curl: ");
        if said.is_empty() { "it closed the connection".to_owned() } else { said.to_owned() }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // It may have ended; killed it ends at once.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
