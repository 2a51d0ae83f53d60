//! What a scripted model answers in the Gemini API.

use serde_json::{Value as Json, json};

use super::chat_model::Call;
use super::model::{http, plain};

/// The answer to a request; `next` is the call that comes after so many results.
pub(super) fn answer<'a>(
    path: &str,
    request: &Json,
    next: impl FnOnce(usize, String) -> Option<&'a Call>,
) -> Vec<u8> {
    let has_tools = request["tools"].as_array().is_some_and(|all| {
        all.iter().any(|one| one["functionDeclarations"].as_array().is_some_and(|some| !some.is_empty()))
    });
    let parts =
        request["contents"].as_array().into_iter().flatten().filter_map(|one| one["parts"].as_array());
    let done = parts.flatten().filter(|part| part.get("functionResponse").is_some()).count();
    let part = match has_tools.then(|| next(done, request["contents"].to_string())).flatten() {
        Some((tool, input)) => {
            json!({ "functionCall": { "name": tool, "args": input }, "thoughtSignature": "c2ln" })
        }
        // After thirty calls the client asks whether the agent goes round in circles, and asks on until it is told in JSON.
        None if request["generationConfig"]["responseMimeType"] == "application/json" => {
            let calm = json!({ "unproductive_state_analysis": "it gets on", "unproductive_state_confidence": 0.0,
                "next_speaker": "user", "reasoning": "it gets on", "model_choice": "flash" });
            json!({ "text": calm.to_string() })
        }
        None => json!({ "text": "done" }),
    };
    let answer = json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050 },
    });
    match path {
        path if path.contains("countTokens") => plain(&json!({ "totalTokens": 1000 })),
        path if path.contains("streamGenerateContent") => {
            http("text/event-stream", &format!("data: {answer}\r\n\r\n"))
        }
        _ => plain(&answer),
    }
}
