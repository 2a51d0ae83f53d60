//! A scripted model on loopback that speaks Chat Completions, for the clients that take any such server.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value as Json, json};

use super::model::{http, plain, read_request};

/// A running model that makes one call after the other, then says that it is done.
pub struct ChatModel {
    port: u16,
    heard: Arc<Mutex<String>>,
}

impl ChatModel {
    /// Starts a model with its calls: a tool and its input.
    pub fn start(calls: Vec<(&'static str, Json)>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&heard);
        let calls = Arc::new(calls);
        // The thread ends with the test process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (calls, log) = (Arc::clone(&calls), Arc::clone(&log));
                thread::spawn(move || serve(stream, &calls, &log));
            }
        });
        Self { port, heard }
    }

    /// The base URL for the client.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// All that reached the model in its longest conversation.
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, calls: &[(&'static str, Json)], log: &Mutex<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some((method, path, body)) = read_request(&mut reader) {
        let request: Json = serde_json::from_slice(&body).unwrap_or_default();
        let answer = if method == "POST" && path.contains("chat/completions") {
            completion(&request, calls, log)
        } else {
            plain(&json!({ "object": "list", "data": [], "models": [] }))
        };
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

fn completion(request: &Json, calls: &[(&'static str, Json)], log: &Mutex<String>) -> Vec<u8> {
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let results = request["messages"].as_array().into_iter().flatten();
    let done = results.filter(|message| message["role"] == "tool").count();
    if has_tools {
        let text = request["messages"].to_string();
        let mut heard = log.lock().unwrap();
        if text.len() > heard.len() {
            *heard = text;
        }
    }
    let call = calls.get(done).filter(|_| has_tools);
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
