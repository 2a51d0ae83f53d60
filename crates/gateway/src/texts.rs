//! What the gateway says: to the model, to the user, to whoever reads its log.

use serde_json::{Value as Json, json};

/// The most lines of a text for the model.
const LINES: usize = 5;

/// The answer that refuses a call: a result and not an error, which some clients take for a crash of the server.
pub(crate) fn refusal(id: &Json, text: &str) -> Json {
    let lines: Vec<&str> = text.lines().collect();
    // The last one says who may allow it.
    let text = match lines.split_last() {
        Some((last, first)) if lines.len() > LINES => {
            first.iter().take(LINES - 1).chain([last]).copied().collect::<Vec<_>>().join("\n")
        }
        Some(_) | None => lines.join("\n"),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }], "isError": true } })
}

/// The answer to any other request that is not handed on.
pub(crate) fn failure(id: &Json, text: &str) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": text } })
}

/// The question to a user, through the client.
pub(crate) fn question(number: &str, server: &str, tool: &str, question: &str) -> Json {
    json!({
        "jsonrpc": "2.0",
        "id": number,
        "method": "elicitation/create",
        "params": {
            "message": format!("checkrein asks before `{tool}` of the MCP server `{server}` runs: {question}"),
            "requestedSchema": {
                "type": "object",
                "properties": { "allow": { "type": "boolean", "title": "Allow this call once", "default": false } },
                "required": ["allow"],
            },
        },
    })
}

/// That a question needs no answer any more.
pub(crate) fn question_is_over(number: &str) -> Json {
    let parameters = json!({ "requestId": number, "reason": "the call was cancelled" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters })
}

pub(crate) fn held_tool(server: &str, tool: &str, why: &str) -> String {
    format!(
        "checkrein refused this call: `{tool}` of the MCP server `{server}` waits for the user, because {why}.\n\
         A description that nobody read can turn an agent against its user, so the tool is off until then.\n\
         Go on without it, and say at the end that it is off. The user reads the description with `checkrein mcp list`, and allows it with \
         `checkrein mcp accept {server}`"
    )
}

pub(crate) fn left_out(server: &str, tool: &str, why: &str) -> String {
    format!(
        "`{tool}` of the MCP server `{server}` is left out: {why}; `checkrein mcp list` shows it, `checkrein mcp accept {server}` allows it"
    )
}

pub(crate) fn nameless_tool(server: &str) -> String {
    format!("a tool of the MCP server `{server}` is left out: it has no name")
}

pub(crate) fn declined(tool: &str) -> String {
    format!(
        "checkrein asked the user about this call of `{tool}`, and the answer was no.\n\
         Do not try it again, also not in another form: go on without it, and say at the end that it is left"
    )
}

pub(crate) fn nobody_to_ask(question: &str) -> String {
    let question = question.lines().take(LINES - 2).collect::<Vec<_>>().join("\n");
    format!(
        "checkrein stopped this call: {question}\n\
         It needs the user, and nobody answered the question. Go on without it, and say at the end that it is left.\n\
         The user allows it by `checkrein allow LAST` in a terminal; then the same call passes"
    )
}

pub(crate) fn unreadable_call() -> String {
    "checkrein refused this call: it cannot be read (a name and an object with arguments, nested less than 128 deep, are needed), so nobody \
     knows what it does.\nMake the same call with plainer arguments"
        .to_owned()
}

pub(crate) fn withheld(server: &str, why: &str) -> String {
    format!(
        "checkrein withheld what the MCP server `{server}` answered: {why}.\nAsk it for less, or for a part of it"
    )
}

pub(crate) fn too_long(length: u64, most: usize) -> String {
    format!("a message of {length} bytes is longer than the {most} bytes that are handed on")
}

pub(crate) fn too_many_open() -> String {
    "too many requests wait for an answer, so no further one is handed on".to_owned()
}

pub(crate) fn held_malformed(side: &str) -> String {
    format!(
        "a line of the {side} was not handed on: it is malformed, and readers could take it for different messages"
    )
}

pub(crate) fn misspelled() -> String {
    "an answer of the server was not handed on: its id is written otherwise than in the request, and readers could take it for two things"
        .to_owned()
}

pub(crate) fn never_asked() -> String {
    "an answer of the server was not handed on: the call that it answers waits for the user, and the server never got it"
        .to_owned()
}

pub(crate) fn passed_malformed(side: &str) -> String {
    format!(
        "a line of the {side} is malformed; it was handed on as it is, and further ones will be without a word"
    )
}

/// That a server at an address did not answer, and why.
pub(crate) fn unreachable(host: &str, why: &str) -> String {
    format!("checkrein got no answer of the MCP server at `{host}`: {why}")
}

/// What a status of HTTP means for the user.
pub(crate) fn status(status: u16) -> String {
    match status {
        300..=399 => format!(
            "it sends its callers to another address (HTTP {status}); give that one to `checkrein mcp --http`"
        ),
        401 | 403 => format!(
            "it wants to know who asks (HTTP {status}); give `checkrein mcp` a header, such as `--header-env Authorization=VARIABLE`"
        ),
        404 => {
            format!("it does not know this address or session (HTTP {status}); the client starts it again")
        }
        _ => format!("HTTP {status}"),
    }
}
