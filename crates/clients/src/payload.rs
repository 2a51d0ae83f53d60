//! The fields of a hook payload, for the clients that write flat objects.

use checkrein_protocol::{
    AbsolutePath, Action, ActionId, ActorId, Client, HookEvent, HookEventKind, HookResponse, PermissionMode,
    SessionId, ToolName,
};

use serde_json::{Map, Value as Json, json};

use crate::error::DecodeError;
use crate::weight;

/// The fields of one payload.
#[derive(Debug)]
pub(crate) struct Payload(Map<String, Json>);

impl Payload {
    /// Reads one payload, as far as there is room for it. Bytes that are not UTF-8 are replaced, as the clients themselves would.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let text = String::from_utf8_lossy(payload);
        let text = text.trim_start_matches('\u{feff}');
        weight::read(text).map(Self)
    }

    /// The event in the form that most clients share; what is happening is told by `moment`, from the name of the event, the rest of the
    /// payload and the working directory.
    pub(crate) fn event(
        self,
        client: Client,
        moment: impl FnOnce(&str, Self, &AbsolutePath) -> Result<HookEventKind, DecodeError>,
    ) -> Result<HookEvent, DecodeError> {
        let name = self.required("hook_event_name")?.to_owned();
        let session = SessionId(self.required("session_id")?.to_owned());
        let cwd = self.directory("cwd")?;
        let actor = self.text("agent_id").map(|id| ActorId(id.to_owned()));
        let is_end = matches!(name.as_str(), "SubagentStop" | "subagentStop");
        let own = self.text("agent_transcript_path").filter(|_| is_end);
        let transcript = own.or_else(|| self.text("transcript_path")).and_then(AbsolutePath::new);
        // What is no text is no mode that is known.
        let permission_mode = (self.value("permission_mode").filter(|mode| !mode.is_null()))
            .map(|mode| mode.as_str().map_or(PermissionMode::Other, PermissionMode::of_name));
        let moment = moment(&name, self, &cwd)?;
        Ok(HookEvent { client, session, cwd, actor, name, transcript, permission_mode, moment })
    }

    /// A text that must be there.
    pub(crate) fn required(&self, field: &'static str) -> Result<&str, DecodeError> {
        self.text(field).filter(|text| !text.is_empty()).ok_or(DecodeError::MissingField { field })
    }

    /// An absolute path that must be there.
    pub(crate) fn directory(&self, field: &'static str) -> Result<AbsolutePath, DecodeError> {
        AbsolutePath::new(self.required(field)?).ok_or(DecodeError::MissingField { field })
    }

    /// A text, where there is one.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Json::as_str)
    }

    /// The same as a text of one's own; empty where there is none.
    pub(crate) fn own_text(&self, field: &str) -> String {
        self.text(field).unwrap_or_default().to_owned()
    }

    /// A text with something put before it, where it does not begin so.
    pub(crate) fn own_name(&self, field: &str, before: &str) -> Option<String> {
        self.text(field).filter(|text| !text.starts_with(before)).map(|text| format!("{before}{text}"))
    }

    /// Any value, where there is one.
    pub(crate) fn value(&self, field: &str) -> Option<&Json> {
        self.0.get(field)
    }

    /// Gives a field another name, where it has none of that name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if !self.0.contains_key(to)
            && let Some(value) = self.0.remove(from)
        {
            self.0.insert(to.to_owned(), value);
        }
    }

    /// Gives a field a value, where it has none.
    pub(crate) fn fill(&mut self, field: &str, value: impl Into<Json>) {
        self.0.entry(field).or_insert_with(|| value.into());
    }

    /// Any value, taken out.
    pub(crate) fn take(&mut self, field: &str) -> Option<Json> {
        self.0.remove(field)
    }

    /// The client's name of the call.
    pub(crate) fn call(&self) -> Option<ActionId> {
        self.text("tool_use_id").map(|id| ActionId(id.to_owned()))
    }

    /// The call as `tool_name` and `tool_input` have it.
    pub(crate) fn action(&mut self, cwd: &AbsolutePath) -> Result<Action, DecodeError> {
        let tool = ToolName(self.required("tool_name")?.to_owned());
        let input = told_object(self.take("tool_input").unwrap_or(Json::Null));
        Ok(Action { tool, input, cwd: cwd.clone() })
    }

    /// Whether the event tells of a call that has not run yet.
    pub(crate) fn carries_a_call(&self) -> bool {
        let has = |field: &&str| self.0.contains_key(*field);
        ["tool_name", "tool_input"].iter().any(has) && !["tool_response", "error"].iter().any(has)
    }

    /// An event of which nothing is known but its name: what is left of the payload.
    pub(crate) fn other(mut self) -> HookEventKind {
        for common in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
            self.0.remove(common);
        }
        HookEventKind::Other { fields: Json::Object(self.0) }
    }
}

/// How often one text may be written within another (ours): more than any client was seen to do.
const WRAPPED: usize = 4;

/// An object that some clients write as a text that holds it, or a text that holds such a text; any other value as it is.
pub(crate) fn told_object(mut value: Json) -> Json {
    let mut text = value.as_str().map(str::to_owned);
    for _ in 0..WRAPPED {
        let Some(inside) = &text else { break };
        if let Ok(fields) = weight::read(inside) {
            value = Json::Object(fields);
            break;
        }
        text = serde_json::from_str(inside).ok();
    }
    value
}

/// The fields that tools cannot do without, by the tool. What stands there in another form cannot be judged.
const NEEDED: [(&str, &str); 8] = [
    ("Bash", "command"),
    ("Write", "file_path"),
    ("Write", "content"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
    ("Read", "file_path"),
    ("apply_patch", "command"),
];

/// Whether the input of a call, under our names of the tools, has the form that its review relies on.
pub(crate) fn readable(action: &Action) -> Result<(), DecodeError> {
    let unusable = |field| Err(DecodeError::Input { tool: action.tool.as_str().to_owned(), field });
    if !action.input.is_object() {
        return unusable("tool_input");
    }
    for (tool, field) in NEEDED {
        if tool == action.tool.as_str() && !action.input.get(field).is_some_and(Json::is_string) {
            return unusable(field);
        }
    }
    match action.shell_field() {
        Some(field) if action.shell_text().is_none() => unusable(field),
        Some(_) | None => Ok(()),
    }
}

/// The answer to a question that the client is about to put to the user, in the form that Claude Code and Codex share: a refusal, or
/// nothing, since the user is being asked already.
pub(crate) fn permission(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => permission(besides),
        HookResponse::Deny { reason } | HookResponse::Halt { reason } => json!({ "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": { "behavior": "deny", "message": reason },
        }}),
        HookResponse::NoOpinion
        | HookResponse::Allow { .. }
        | HookResponse::Context { .. }
        | HookResponse::Rewrite { .. }
        | HookResponse::Ask { .. } => json!({}),
    }
}

/// What the model reads in place of an output, with what is said beside it, for clients that take one text in its place.
pub(crate) fn in_place(output: &Json, besides: &HookResponse) -> String {
    let shown = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    if besides.text().is_empty() { shown } else { format!("{}\n\n{}", shown.trim_end(), besides.text()) }
}

/// A text that the model reads beside an event, in the form that they share.
pub(crate) fn context(name: &str, text: &str) -> Json {
    json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
}

/// An output with a line for the user beside it, in the form that all clients share. A client shows one line only.
pub(crate) fn beside(mut output: Json, for_user: Option<&str>) -> Json {
    if let (Json::Object(fields), Some(text)) = (&mut output, for_user) {
        fields.insert("systemMessage".to_owned(), Json::from(text));
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_however_often_it_is_written_as_a_text() {
        let object = json!({ "command": "rm -rf x" });
        let once = Json::from(object.to_string());
        let twice = Json::from(once.to_string());
        for value in [object.clone(), once, twice] {
            assert_eq!(told_object(value.clone()), object, "{value}");
        }
        for other in [json!("*** Begin Patch"), json!("\"a text\""), json!(7), json!([1]), Json::Null] {
            assert_eq!(told_object(other.clone()), other);
        }
    }
}
