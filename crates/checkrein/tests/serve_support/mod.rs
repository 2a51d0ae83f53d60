//! A server that runs, and requests to it by plain sockets.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::TestEnvironment;

/// A server; ended when dropped.
pub struct Serving {
    child: Child,
    pub url: String,
    pub open: String,
    pub token: String,
}

/// An answer.
#[derive(Debug)]
pub struct Http {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Serving {
    pub fn start(environment: &TestEnvironment) -> Self {
        Self::start_at(environment, "127.0.0.1:0")
    }

    pub fn start_at(environment: &TestEnvironment, address: &str) -> Self {
        Self::start_with(environment, address, &[])
    }

    /// The same with these variables.
    pub fn start_with(environment: &TestEnvironment, address: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(["serve", "--listen", address, "--json"]).envs(variables.iter().copied());
        Self::of(&mut command)
    }

    /// From a command that becomes the server.
    pub fn of(command: &mut std::process::Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Json = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        Self { child, url: text("url"), open: text("open"), token: text("token") }
    }

    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// A request without a key.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Http {
        Http::over(&mut TcpStream::connect(self.address()).unwrap(), "GET", path, headers, "")
    }

    /// A request with the key.
    pub fn asked(&self, path: &str) -> Http {
        self.request("GET", path, "")
    }

    /// The same with a body.
    pub fn post(&self, path: &str, body: &Json) -> Http {
        self.request("POST", path, &body.to_string())
    }

    /// A form of a browser.
    pub fn form(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Http {
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let headers: Vec<_> = headers.iter().copied().chain([kind]).collect();
        Http::over(&mut TcpStream::connect(self.address()).unwrap(), "POST", path, &headers, body)
    }

    /// A request with these headers.
    pub fn sent(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Http {
        Http::over(&mut TcpStream::connect(self.address()).unwrap(), method, path, headers, body)
    }

    fn request(&self, method: &str, path: &str, body: &str) -> Http {
        let key = format!("Bearer {}", self.token);
        let headers = [("Authorization", key.as_str()), ("Content-Type", "application/json")];
        Http::over(&mut TcpStream::connect(self.address()).unwrap(), method, path, &headers, body)
    }

    /// Asks until the answer is as wanted, for ten seconds.
    pub fn until(&self, path: &str, wanted: impl Fn(&Http) -> bool) -> Http {
        let begin = Instant::now();
        loop {
            let answer = self.asked(path);
            if wanted(&answer) {
                return answer;
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "{path}: {} {}", answer.status, answer.body);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The stream of events from now on.
    pub fn events(&self) -> BufReader<TcpStream> {
        self.streamed("")
    }

    /// The stream of events behind this one.
    pub fn events_after(&self, id: i64) -> BufReader<TcpStream> {
        self.streamed(&format!("Last-Event-ID: {id}\r\n"))
    }

    fn streamed(&self, more: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let request = format!(
            "GET /v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
            self.address(),
            self.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// The processor time that the process has used so far, whatever else the machine does.
    pub fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // Ticks of a hundredth of a second, of the program itself and of the kernel for it.
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// The most memory that the process has held so far, in bytes.
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Kills the process without a word.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The same while others still talk to it; it is waited for later.
    pub fn kill_now(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// Asks the process to end; its status.
    pub fn terminate(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Http {
    pub fn over_socket(path: &Path, method: &str, to: &str, headers: &[(&str, &str)], body: &str) -> Self {
        Self::over(&mut UnixStream::connect(path).unwrap(), method, to, headers, body)
    }

    fn over(
        stream: &mut (impl Read + Write),
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Self {
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str("Host: localhost\r\n");
        }
        text.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, headers: headers.to_owned(), body: body.to_owned() }
    }

    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{}: {error}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.headers.lines().find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }
}
