//! A scripted model on loopback that speaks the Messages API, so that a real client can be driven without a network.
//!
//! A script is a list of turns; turn k is played when the conversation holds the results of all calls before it. A conversation whose
//! first message holds a mark plays the script of that mark instead: that is how a sub-agent gets its own.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value as Json, json};

use super::chat_model::Call;

/// One turn of the model.
#[derive(Clone)]
pub enum Turn {
    /// Calls of tools, all in one message.
    Calls(Vec<(&'static str, Json)>),
    /// The end of the turn.
    Says(&'static str),
}

/// A turn with one shell call.
pub fn bash(command: &str) -> Turn {
    Turn::Calls(vec![("Bash", json!({ "command": command, "description": "scripted" }))])
}

/// A running model.
pub struct Model {
    port: u16,
    requests: Arc<Mutex<Vec<Json>>>,
}

impl Model {
    /// Starts a model that plays `main`, and for conversations with a mark the script of that mark.
    pub fn start(main: Vec<Turn>, marked: Vec<(&'static str, Vec<Turn>)>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let scripts = Arc::new((main, marked));
        // The thread ends with the test process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (scripts, log) = (Arc::clone(&scripts), Arc::clone(&log));
                thread::spawn(move || serve(stream, &scripts, &log));
            }
        });
        Self { port, requests }
    }

    /// The base URL for the client.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything that reached the model in the longest conversation, as one text.
    pub fn heard(&self) -> String {
        let requests = self.requests.lock().unwrap();
        let longest =
            requests.iter().max_by_key(|request| request["messages"].as_array().map_or(0, Vec::len));
        longest.map(|request| request["messages"].to_string()).unwrap_or_default()
    }

    /// How many times the model was asked for a turn.
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

type Scripts = (Vec<Turn>, Vec<(&'static str, Vec<Turn>)>);

fn serve(stream: TcpStream, scripts: &Scripts, log: &Mutex<Vec<Json>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some((method, path, body)) = read_request(&mut reader) {
        let request: Json = serde_json::from_slice(&body).unwrap_or_default();
        let answer = if method != "POST" {
            plain(&json!({}))
        } else if path.contains("count_tokens") {
            plain(&json!({ "input_tokens": 1000 }))
        } else if path.contains("/messages") {
            let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
            if has_tools {
                log.lock().unwrap().push(request.clone());
            }
            message(&request, if has_tools { next_turn(&request, scripts) } else { Turn::Says("title") })
        } else {
            plain(&json!({}))
        };
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

pub(super) fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut parts = line.split_whitespace();
    let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, path, body))
}

fn next_turn(request: &Json, (main, marked): &Scripts) -> Turn {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let first = messages.first().map(Json::to_string).unwrap_or_default();
    let script = marked.iter().find(|(mark, _)| first.contains(mark)).map_or(main, |(_, script)| script);
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let mut results = blocks.filter(|block| block["type"] == "tool_result").count();
    for turn in script {
        match turn {
            _ if results == 0 => return turn.clone(),
            Turn::Calls(calls) => results = results.saturating_sub(calls.len()),
            Turn::Says(_) => {}
        }
    }
    Turn::Says("done")
}

/// The answer to a request of the Messages API; `next` is the call that comes after so many results.
pub(super) fn answer<'a>(
    path: &str,
    request: &Json,
    next: impl FnOnce(usize, String) -> Option<&'a Call>,
) -> Vec<u8> {
    if path.contains("count_tokens") {
        return plain(&json!({ "input_tokens": 1000 }));
    }
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    let done = blocks.filter(|block| block["type"] == "tool_result").count();
    let call = has_tools.then(|| next(done, request["messages"].to_string())).flatten();
    message(request, call.map_or(Turn::Says("done"), |call| Turn::Calls(vec![call.clone()])))
}

fn message(request: &Json, turn: Turn) -> Vec<u8> {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let name =
        |prefix: &str| format!("{prefix}_{:020}", COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let (blocks, stop): (Vec<Json>, &str) = match turn {
        Turn::Says(text) => (vec![json!({ "type": "text", "text": text })], "end_turn"),
        Turn::Calls(calls) => {
            let call = |(tool, input): (&str, Json)| json!({ "type": "tool_use", "id": name("toolu"), "name": tool, "input": input });
            (calls.into_iter().map(call).collect(), "tool_use")
        }
    };
    let head = json!({
        "id": format!("msg_{:020}", COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)), "type": "message", "role": "assistant",
        "model": request["model"], "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1000, "output_tokens": 1 },
    });
    if request["stream"] != json!(true) {
        let mut whole = head;
        whole["content"] = json!(blocks);
        whole["stop_reason"] = json!(stop);
        return plain(&whole);
    }
    let mut events = vec![json!({ "type": "message_start", "message": head })];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] }))
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 50 } }));
    events.push(json!({ "type": "message_stop" }));
    let mut body = String::new();
    for event in &events {
        write!(body, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).unwrap();
    }
    http("text/event-stream", &body)
}

pub(super) fn plain(value: &Json) -> Vec<u8> {
    http("application/json", &value.to_string())
}

pub(super) fn http(kind: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}
