//! The lines that we write ourselves: refusals, questions, and what a user is told.
//!
//! An id of somebody else is written as it came, byte for byte. Ids of ours hold a number that nobody else knows.

use checkrein_protocol::Action;
use serde_json::{Value as Json, json};

use crate::acts::ToldCall;

/// The code of an error for what is refused: the first of those that JSON-RPC leaves to applications.
const REFUSED: i64 = -32_000;

/// The choices of a question of ours.
pub(crate) const YES: &str = "allow";
const NO: &str = "reject";

/// The answer to a request for permission that is refused: the way in which the user rejects it once, else as if the turn had been
/// cancelled. The reason is beside it for agents that read it.
pub(crate) fn rejection(id: &[u8], params: &Json, reason: &str) -> Vec<u8> {
    let options = params.get("options").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let reject = options
        .iter()
        .find(|option| option.get("kind").and_then(Json::as_str) == Some("reject_once"))
        .and_then(|option| option.get("optionId"));
    let outcome = match reject {
        Some(id) => json!({ "outcome": "selected", "optionId": id }),
        None => json!({ "outcome": "cancelled" }),
    };
    response(id, "result", &json!({ "outcome": outcome, "_meta": { "checkrein": { "reason": reason } } }))
}

/// The answer to a request for permission with this choice; `None` when nobody chose, as if the turn had been cancelled.
pub(crate) fn chosen(id: &[u8], option: Option<&Json>) -> Vec<u8> {
    let outcome = match option {
        Some(id) => json!({ "outcome": "selected", "optionId": id }),
        None => json!({ "outcome": "cancelled" }),
    };
    response(id, "result", &json!({ "outcome": outcome }))
}

/// The answer to any other request that is refused.
pub(crate) fn refusal(id: &[u8], reason: &str) -> Vec<u8> {
    response(id, "error", &json!({ "code": REFUSED, "message": reason }))
}

/// The answer to a prompt that is not passed on.
pub(crate) fn unheard(id: &[u8]) -> Vec<u8> {
    response(id, "result", &json!({ "stopReason": "refusal" }))
}

fn response(id: &[u8], kind: &str, value: &Json) -> Vec<u8> {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    line.extend_from_slice(id);
    line.extend_from_slice(format!(",\"{kind}\":{value}}}\n").as_bytes());
    line
}

/// Ends the turn of a session.
pub(crate) fn cancel(session: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }))
}

/// Tells the user something in the conversation.
pub(crate) fn remark(session: &str, text: &str) -> Vec<u8> {
    let text = format!("\n\n{}\n\n", text.trim_end());
    update(
        session,
        &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
    )
}

/// Says how a call ended about which we asked ourselves.
pub(crate) fn asked_ended(session: &str, call: &str, status: &str) -> Vec<u8> {
    update(session, &json!({ "sessionUpdate": "tool_call_update", "toolCallId": call, "status": status }))
}

fn update(session: &str, update: &Json) -> Vec<u8> {
    let params = json!({ "sessionId": session, "update": update });
    line(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
}

/// A question of ours to the user about something that the agent asks of the editor without having asked the user.
pub(crate) fn question(id: &str, session: &str, action: &Action, reason: &str) -> Vec<u8> {
    let path = action.input.get("file_path").and_then(Json::as_str);
    let (kind, title) = match (action.shell_text(), path) {
        (Some(text), _) => ("execute", text.to_owned()),
        (None, Some(path)) if action.tool.as_str() == "Read" => ("read", format!("Read {path}")),
        (None, Some(path)) => ("edit", format!("Write {path}")),
        (None, None) => ("other", action.tool.as_str().to_owned()),
    };
    let locations: Vec<Json> = path.into_iter().map(|path| json!({ "path": path })).collect();
    let call = json!({
        "toolCallId": id,
        "title": title,
        "kind": kind,
        "status": "pending",
        "content": [said(reason)],
        "locations": locations,
    });
    let options = json!([
        { "optionId": YES, "name": "Allow", "kind": "allow_once" },
        { "optionId": NO, "name": "Reject", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": session, "toolCall": call, "options": options });
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }))
}

/// The parameters of a request for permission with our reason beside what the agent shows; `None` where there is no place for it.
pub(crate) fn with_reason(params: &Json, call: &ToldCall, reason: &str) -> Option<Json> {
    let mut params = params.clone();
    let told = params.get_mut("toolCall")?.as_object_mut()?;
    // What the request does not show again would be gone if it showed ours alone.
    let mut content = call.content.clone();
    content.push(said(reason));
    told.insert("content".to_owned(), Json::from(content));
    Some(params)
}

fn said(text: &str) -> Json {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

fn line(message: &Json) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::AbsolutePath;

    fn read(line: &[u8]) -> Json {
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn a_refusal_takes_the_choice_of_the_user_that_forbids_the_least() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "name": id, "kind": kind });
        let all = json!({ "options": [option("a", "allow_once"), option("never", "reject_always"), option("no", "reject_once")] });
        let answer = read(&rejection(b"\"x\"", &all, "because"));
        assert_eq!((&answer["id"], &answer["result"]["outcome"]["optionId"]), (&json!("x"), &json!("no")));
        let lasting = json!({ "options": [option("a", "allow_once"), option("never", "reject_always")] });
        assert_eq!(
            read(&rejection(b"1", &lasting, ""))["result"]["outcome"],
            json!({ "outcome": "cancelled" })
        );
        assert_eq!(read(&rejection(b"null", &json!({}), ""))["id"], Json::Null);
    }

    #[test]
    fn an_id_is_given_back_as_it_came() {
        let line = refusal(b"1.50e3", "a \"b\"\nc");
        assert!(line.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1.50e3,"));
        assert_eq!(read(&line)["error"]["message"], "a \"b\"\nc");
    }

    #[test]
    fn a_reason_stands_behind_what_the_agent_shows() {
        let mut call = ToldCall::default();
        let diff = json!({ "type": "diff", "path": "/w/a", "oldText": null, "newText": "x" });
        call.take_up("1", &json!({ "content": [diff], "title": "Write" }));
        let params = json!({ "sessionId": "s", "toolCall": { "toolCallId": "1" }, "options": [], "_meta": { "x": 1 } });
        let told = with_reason(&params, &call, "because").unwrap();
        assert_eq!(told["toolCall"]["content"], json!([diff, said("because")]));
        assert_eq!((&told["_meta"], &told["options"]), (&params["_meta"], &params["options"]));
        assert_eq!(with_reason(&json!({}), &call, "because"), None);
    }

    #[test]
    fn a_question_shows_what_it_is_about() {
        let place = AbsolutePath::new("/w").unwrap();
        let asked = read(&question("q1", "s", &Action::command("rm x", place), "because"));
        assert_eq!(asked["params"]["toolCall"]["title"], "rm x");
        assert_eq!(asked["params"]["options"][0]["optionId"], YES);
        assert_eq!(read(&unheard(b"3"))["result"]["stopReason"], "refusal");
        assert_eq!(read(&cancel("s"))["params"]["sessionId"], "s");
        assert_eq!(read(&asked_ended("s", "q1", "failed"))["params"]["update"]["status"], "failed");
        assert_eq!(read(&remark("s", "hi"))["params"]["update"]["content"]["text"], "\n\nhi\n\n");
    }
}
