//! What a scripted model answers in the Responses API.

use serde_json::{Value as Json, json};

use super::chat_model::Call;
use super::model::{http, plain};

/// The answer to a request; `next` is the call that comes after so many results.
pub(super) fn answer<'a>(request: &Json, next: impl FnOnce(usize, String) -> Option<&'a Call>) -> Vec<u8> {
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let items = request["input"].as_array().into_iter().flatten();
    let is_result = |item: &&Json| item["type"].as_str().is_some_and(|sort| sort.ends_with("_call_output"));
    let done = items.filter(is_result).count();
    let item = match has_tools.then(|| next(done, request["input"].to_string())).flatten() {
        Some((tool, input)) => json!({
            "type": "function_call", "id": format!("fc_{done}"), "call_id": format!("call_{done}"),
            "name": tool, "arguments": input.to_string(), "status": "completed",
        }),
        None => json!({
            "type": "message", "id": format!("msg_{done}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "done", "annotations": [] }],
        }),
    };
    let begun = json!({
        "id": format!("resp_{done}"), "object": "response", "created_at": 1, "model": request["model"],
        "status": "in_progress", "output": [],
    });
    let mut whole = begun.clone();
    whole["status"] = json!("completed");
    whole["output"] = json!([item]);
    whole["usage"] = json!({
        "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 50,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 1050,
    });
    if request["stream"] != json!(true) {
        return plain(&whole);
    }
    let events = [
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": whole }),
    ];
    let lines = events.iter().enumerate().map(|(number, event)| {
        let mut event = event.clone();
        event["sequence_number"] = json!(number);
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    });
    http("text/event-stream", &lines.collect::<String>())
}
