//! A connection of which the test plays both ends: the agent is a process that hands its two streams over.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::TestEnvironment;

/// How long anything may take that has to come.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// An editor and an agent with the proxy between them.
pub struct Connection {
    pub proxy: Child,
    /// Where the editor writes; `None` when it has closed it.
    pub editor: Option<ChildStdin>,
    /// Where the agent writes; `None` when it has closed it.
    pub agent: Option<File>,
    pub to_editor: Receiver<Vec<u8>>,
    pub to_agent: Receiver<Vec<u8>>,
}

impl Connection {
    /// Opens one.
    pub fn open(environment: &TestEnvironment) -> Self {
        Self::through(environment, &[])
    }

    /// Opens another one in the same environment.
    pub fn open_anew(environment: &TestEnvironment) -> Self {
        for name in ["from-agent", "to-agent"] {
            drop(std::fs::remove_file(environment.home().join(name)));
        }
        Self::open(environment)
    }

    /// The same with options of the proxy.
    pub fn through(environment: &TestEnvironment, options: &[&str]) -> Self {
        let (from, to) = (environment.home().join("from-agent"), environment.home().join("to-agent"));
        let made = Command::new("mkfifo").args([&from, &to]).status().unwrap();
        assert!(made.success());
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        // The agent ends with the one who writes for it.
        let agent = "exec 5<&0 3<\"$1\" 4>\"$2\"; cat <&5 >&4 & exec cat <&3";
        command.arg("acp").args(options).args(["--", "sh", "-c", agent, "agent"]).args([&from, &to]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut proxy = command.spawn().unwrap();
        let editor = proxy.stdin.take();
        let to_editor = lines(proxy.stdout.take().unwrap());
        let agent = File::options().write(true).open(from).unwrap();
        let to_agent = lines(File::open(to).unwrap());
        Self { proxy, editor, agent: Some(agent), to_editor, to_agent }
    }

    /// The editor writes these bytes.
    pub fn editor_writes(&mut self, bytes: &[u8]) {
        self.editor.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The agent writes these bytes.
    pub fn agent_writes(&mut self, bytes: &[u8]) {
        self.agent.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub fn editor_says(&mut self, message: &Json) {
        self.editor_writes(format!("{message}\n").as_bytes());
    }

    pub fn agent_says(&mut self, message: &Json) {
        self.agent_writes(format!("{message}\n").as_bytes());
    }

    /// The next line that reaches the editor.
    pub fn editor_hears(&self) -> Json {
        heard(&self.to_editor, "the editor")
    }

    /// The next line that reaches the agent.
    pub fn agent_hears(&self) -> Json {
        heard(&self.to_agent, "the agent")
    }

    /// The next line that reaches the editor is this one, byte for byte.
    pub fn reaches_editor(&mut self, message: &Json) {
        self.agent_says(message);
        assert_eq!(self.editor_hears(), *message);
    }

    /// The next line that reaches the agent is this one.
    pub fn reaches_agent(&mut self, message: &Json) {
        self.editor_says(message);
        assert_eq!(self.agent_hears(), *message);
    }

    /// Begins a session in a directory, and a turn in it; the id of its prompt.
    pub fn begin(&mut self, session: &str, cwd: &std::path::Path) -> Json {
        let id = format!("new {session}");
        self.reaches_agent(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/new", "params": { "cwd": cwd, "mcpServers": [] } }),
        );
        self.reaches_editor(&json!({ "jsonrpc": "2.0", "id": id, "result": { "sessionId": session } }));
        let id = json!(format!("prompt {session}"));
        self.reaches_agent(&prompt(&id, session, "clean up"));
        id
    }

    /// Ends it as an editor does; the exit status and what was said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.editor.take());
        drop(self.agent.take());
        self.ended()
    }

    /// Waits for the end.
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let started = Instant::now();
        while self.proxy.try_wait().unwrap().is_none() {
            if started.elapsed() > PATIENCE {
                self.proxy.kill().unwrap();
                panic!("the proxy did not end");
            }
            thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.proxy.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.proxy.wait().unwrap().code(), said)
    }
}

fn heard(lines: &Receiver<Vec<u8>>, who: &str) -> Json {
    let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{who} heard nothing: {error}"));
    serde_json::from_slice(&line)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)))
}

/// The lines of a stream as they come, with their ends.
fn lines(from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        loop {
            let mut line = Vec::new();
            match from.read_until(b'\n', &mut line) {
                Ok(1..) if sender.send(line).is_ok() => {}
                _ => return,
            }
        }
    });
    receiver
}

pub fn prompt(id: &Json, session: &str, text: &str) -> Json {
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
}

/// The choices that agents offer.
pub fn options() -> Json {
    json!([
        { "optionId": "always", "name": "Always allow", "kind": "allow_always" },
        { "optionId": "once", "name": "Allow", "kind": "allow_once" },
        { "optionId": "no", "name": "Reject", "kind": "reject_once" },
    ])
}

/// A request of the agent for permission to run a command.
pub fn asks(id: &Json, session: &str, call: &str, command: &str) -> Json {
    let call = json!({ "toolCallId": call, "title": command, "kind": "execute", "status": "pending",
        "rawInput": { "command": command }, "content": [], "locations": [] });
    let params = json!({ "sessionId": session, "options": options(), "toolCall": call });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
}

/// The answer of the editor to a request for permission.
pub fn chooses(id: &Json, option: &str) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": { "outcome": "selected", "optionId": option } } })
}

/// What the agent tells of a call.
pub fn tells(session: &str, update: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": update } })
}

/// Any request of the agent to the editor.
pub fn requests(id: &Json, method: &str, params: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The text of what the editor is told by the proxy.
pub fn told(message: &Json) -> &str {
    message["params"]["update"]["content"]["text"].as_str().unwrap_or_default()
}
