//! A scripted model on loopback for the clients that take any such server: it speaks Chat Completions, Responses, Messages
//! and the Gemini API.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value as Json, json};

use super::gemini_model;
use super::model::{self, http, plain, read_request};
use super::responses_model;

/// A call that the model wants: a tool and its input.
pub type Call = (&'static str, Json);

/// A running model that makes one call after the other, then says that it is done.
pub struct ChatModel {
    port: u16,
    heard: Arc<Mutex<String>>,
}

/// What a model says, and what it heard.
struct Script {
    calls: Vec<Call>,
    /// Calls of conversations in which a text stands; the first that does counts.
    marked: Vec<(&'static str, Vec<Call>)>,
    /// What happens before the call of this number is made, once or more often.
    before: Box<dyn Fn(usize) + Send + Sync>,
    heard: Arc<Mutex<String>>,
}

impl ChatModel {
    /// Starts a model with its calls.
    pub fn start(calls: Vec<Call>) -> Self {
        Self::start_with(calls, |_| {})
    }

    /// Starts a model that makes the calls of the first text that stands in its conversation.
    pub fn start_marked(marked: Vec<(&'static str, Vec<Call>)>) -> Self {
        Self::begin(Vec::new(), marked, |_| {})
    }

    /// The same; before it makes a call of its script, something else happens, which may happen more than once.
    pub fn start_with(calls: Vec<Call>, before: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self::begin(calls, Vec::new(), before)
    }

    fn begin(
        calls: Vec<Call>,
        marked: Vec<(&'static str, Vec<Call>)>,
        before: impl Fn(usize) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(String::new()));
        let script = Arc::new(Script { calls, marked, before: Box::new(before), heard: Arc::clone(&heard) });
        // The thread ends with the test process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = Arc::clone(&script);
                thread::spawn(move || serve(stream, &script));
            }
        });
        Self { port, heard }
    }

    /// The base URL for a client that knows the paths below it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The base URL for the others.
    pub fn url(&self) -> String {
        format!("{}/v1", self.address())
    }

    /// All that reached the model in its longest conversation.
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

impl Script {
    /// The call of a number, in a conversation that said `words` so far; `None` when all were made.
    fn next(&self, done: usize, words: String) -> Option<&Call> {
        let marked = self.marked.iter().find(|(mark, _)| words.contains(mark)).map(|(_, calls)| calls);
        {
            let mut heard = self.heard.lock().unwrap();
            if words.len() > heard.len() {
                *heard = words;
            }
        }
        (self.before)(done);
        marked.unwrap_or(&self.calls).get(done)
    }
}

fn serve(stream: TcpStream, script: &Script) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some((method, path, body)) = read_request(&mut reader) {
        let request: Json = serde_json::from_slice(&body).unwrap_or_default();
        let next = |done: usize, words: String| script.next(done, words);
        let answer = if method != "POST" {
            plain(&json!({ "object": "list", "data": [], "models": [] }))
        } else if path.contains("chat/completions") {
            completion(&request, next)
        } else if path.contains("/messages") {
            model::answer(&path, &request, next)
        } else if path.contains("/responses") {
            responses_model::answer(&request, next)
        } else if path.contains("enerateContent") || path.contains("countTokens") {
            gemini_model::answer(&path, &request, next)
        } else {
            plain(&json!({ "object": "list", "data": [], "models": [] }))
        };
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

fn completion<'a>(request: &Json, next: impl FnOnce(usize, String) -> Option<&'a Call>) -> Vec<u8> {
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let results = request["messages"].as_array().into_iter().flatten();
    let done = results.filter(|message| message["role"] == "tool").count();
    let call = has_tools.then(|| next(done, request["messages"].to_string())).flatten();
    let (message, end) = match call {
        Some((tool, input)) => (
            json!({ "role": "assistant", "content": null, "tool_calls": [{
                "index": 0, "id": format!("call_{done}"), "type": "function",
                "function": { "name": tool, "arguments": input.to_string() },
            }]}),
            "tool_calls",
        ),
        None => (json!({ "role": "assistant", "content": "done" }), "stop"),
    };
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050 });
    let base = json!({ "id": format!("chatcmpl-{done}"), "created": 1, "model": request["model"] });
    let with = |object: &str, choices: Json| {
        let mut whole = base.clone();
        whole["object"] = json!(object);
        whole["choices"] = choices;
        whole
    };
    if request["stream"] != json!(true) {
        let mut whole =
            with("chat.completion", json!([{ "index": 0, "message": message, "finish_reason": end }]));
        whole["usage"] = usage;
        return plain(&whole);
    }
    let chunk = "chat.completion.chunk";
    let mut last = with(chunk, json!([]));
    last["usage"] = usage;
    let events = [
        with(chunk, json!([{ "index": 0, "delta": message, "finish_reason": null }])),
        with(chunk, json!([{ "index": 0, "delta": {}, "finish_reason": end }])),
        last,
    ];
    let lines: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    http("text/event-stream", &format!("{}data: [DONE]\n\n", lines.concat()))
}
