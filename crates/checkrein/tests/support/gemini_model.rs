//! A scripted model on loopback that speaks the Gemini API.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::{Value as Json, json};

use super::model::{http, plain, read_request};

/// Starts a model that makes one call after the other, then says that it is done; its address.
pub fn gemini_model(calls: Vec<(&'static str, Json)>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(calls);
    // The thread ends with the test process.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let calls = Arc::clone(&calls);
            thread::spawn(move || serve(stream, &calls));
        }
    });
    address
}

fn serve(mut stream: TcpStream, calls: &[(&'static str, Json)]) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some((_, path, body)) = read_request(&mut reader) {
        let request: Json = serde_json::from_slice(&body).unwrap_or_default();
        let has_tools = request["tools"].as_array().is_some_and(|all| {
            all.iter().any(|one| one["functionDeclarations"].as_array().is_some_and(|some| !some.is_empty()))
        });
        let parts =
            request["contents"].as_array().into_iter().flatten().filter_map(|one| one["parts"].as_array());
        let done = parts.flatten().filter(|part| part.get("functionResponse").is_some()).count();
        let part = match calls.get(done).filter(|_| has_tools) {
            Some((tool, input)) => {
                json!({ "functionCall": { "name": tool, "args": input }, "thoughtSignature": "c2ln" })
            }
            None => json!({ "text": "done" }),
        };
        let answer = json!({
            "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
            "usageMetadata": { "promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050 },
        });
        let answer = match path.as_str() {
            path if path.contains("countTokens") => plain(&json!({ "totalTokens": 1000 })),
            path if path.contains("streamGenerateContent") => {
                http("text/event-stream", &format!("data: {answer}\r\n\r\n"))
            }
            _ => plain(&answer),
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}
