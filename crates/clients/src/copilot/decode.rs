//! Copilot CLI's hook payloads to events, in both styles.

use checkrein_protocol::{Action, HookEvent, SuccessReporting};
use serde_json::Value as Json;

use super::COPILOT;
use crate::error::DecodeError;
use crate::payload::Payload;
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical, of_server};

const READING: Reading = Reading {
    client: COPILOT,
    meaning,
    // No tool of its own has one of these in its name.
    named: |action| canonical(typed(of_server(of_server(action, "/"), "-")), Folders::These(&[])),
    answered,
    success: SuccessReporting::Told,
};

/// Fields by their names in the style of camel case, and as most clients call them.
const NAMES: [(&str, &str); 13] = [
    ("sessionId", "session_id"),
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("toolInput", "tool_input"),
    ("toolResult", "tool_response"),
    ("tool_result", "tool_response"),
    ("agentId", "agent_id"),
    ("parentAgentId", "parent_agent_id"),
    ("transcriptPath", "transcript_path"),
    ("stopReason", "stop_reason"),
    ("response", "last_assistant_message"),
    ("hookName", "hook_event_name"),
    ("errorMessage", "error"),
];

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    read(Payload::parse(payload)?)
}

/// Reads a payload that came to a hook of Claude Code and is of this client.
pub(crate) fn decode_of_claude(payload: Payload) -> Result<HookEvent, DecodeError> {
    read(payload)
}

/// Whether a payload that came to a hook of Claude Code is one of this client: that one calls neither of these fields so, and its tools that
/// write name their file otherwise.
pub(crate) fn is_of_copilot(payload: &Payload) -> bool {
    let has = |field: &str| payload.value(field).is_some();
    let input = |field: &str| payload.value("tool_input").is_some_and(|input| input.get(field).is_some());
    has("sessionId")
        || has("tool_result")
        || (!has("tool_use_id")
            && !has("transcript_path")
            && has("timestamp")
            && (has("tool_name")
                || has("initial_prompt")
                || has("stop_reason")
                || has("prompt")
                || input("path")))
}

fn read(mut payload: Payload) -> Result<HookEvent, DecodeError> {
    for (theirs, shared) in NAMES {
        payload.rename(theirs, shared);
    }
    // The name of the event is missing in one of the styles.
    let name = event_name(&payload);
    payload.fill("hook_event_name", name);
    // A subagent has a session of its own; what it does belongs to that of its parent.
    if let Some(parent) = payload.text("parent_agent_id").map(str::to_owned) {
        payload.take("session_id");
        payload.fill("session_id", parent);
    }
    READING.event(payload)
}

/// The tools that type into a shell that is open, and name keys in braces.
const TYPING: [&str; 2] = ["write_bash", "write_powershell"];

/// What is typed, with what its keys send. A key that is not known stays as it is written.
fn typed(mut action: Action) -> Action {
    if !TYPING.contains(&action.tool.as_str()) {
        return action;
    }
    for field in ["input", "command"] {
        if let Some(text) = action.input.get(field).and_then(Json::as_str) {
            action.input[field] = Json::from(keys_pressed(text));
        }
    }
    action
}

fn keys_pressed(text: &str) -> String {
    let mut typed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        // `${HOME}` is no key.
        let is_variable = typed.ends_with('$');
        let braced = rest.strip_prefix('{').filter(|_| !is_variable).and_then(|inner| inner.split_once('}'));
        let key = braced.and_then(|(name, behind)| Some((pressed(name)?, behind)));
        let (next, behind) = key.unwrap_or((letter, &rest[letter.len_utf8()..]));
        typed.push(next);
        rest = behind;
    }
    typed
}

/// What a key sends; for those that move in the line, or bring back another, what begins their sequences.
fn pressed(key: &str) -> Option<char> {
    Some(match key.to_ascii_lowercase().as_str() {
        "enter" | "return" => '\n',
        "tab" => '\t',
        "space" => ' ',
        "backspace" => '\u{8}',
        // Behind the newest line there is none: the bell rings.
        "down" | "pagedown" => '\u{7}',
        "up" | "left" | "right" | "home" | "end" | "delete" | "insert" | "pageup" | "escape" | "esc" => {
            '\u{1b}'
        }
        _ => return None,
    })
}

/// The name that the event of a payload without one has.
fn event_name(payload: &Payload) -> &'static str {
    let has = |field: &str| payload.value(field).is_some();
    if has("tool_name") {
        return match (has("tool_response"), has("error")) {
            (true, _) => "postToolUse",
            (false, true) => "postToolUseFailure",
            (false, false) => "preToolUse",
        };
    }
    if has("source") || has("initialPrompt") {
        "sessionStart"
    } else if has("transformedPrompt") {
        "userPromptTransformed"
    } else if has("prompt") {
        "userPromptSubmitted"
    } else if has("trigger") {
        "preCompact"
    } else if has("reason") {
        "sessionEnd"
    } else if has("agentName") {
        if has("stop_reason") { "subagentStop" } else { "subagentStart" }
    } else if has("stop_reason") {
        "agentStop"
    } else {
        "notKnown"
    }
}

fn meaning(name: &str) -> &str {
    match name {
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "postToolUseFailure" => "PostToolUseFailure",
        "permissionRequest" => "PermissionRequest",
        "userPromptSubmitted" => "UserPromptSubmit",
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "agentStop" => "Stop",
        "subagentStart" => "SubagentStart",
        "subagentStop" => "SubagentStop",
        "preCompact" => "PreCompact",
        other => other,
    }
}

/// A command that failed is a success for this client: its exit code stands behind the output.
fn answered(action: &Action, response: &Json) -> Answered {
    let text = ["textResultForLlm", "text_result_for_llm"].iter().find_map(|key| response.get(*key));
    let output = text_of(text.unwrap_or(response));
    let end = output.lines().next_back().unwrap_or_default();
    let code = end.split_once(" completed with exit code ").and_then(|(_, code)| code.strip_suffix('>'));
    let failed = code.filter(|code| action.shell_field().is_some() && *code != "0");
    let error = failed.map(|code| format!("Exit code {code}"));
    let is_running = end.starts_with("<command started in background");
    // The end names the shell by a number that is never the same: equal calls with equal results would look different.
    let output = match code.filter(|_| action.shell_field().is_some()) {
        Some(_) => output.strip_suffix(end).unwrap_or(&output).trim_end_matches('\n').to_owned(),
        None => output,
    };
    Answered { error, is_running, ..Answered::output(output) }
}

#[cfg(test)]
mod tests {
    use super::keys_pressed;

    #[test]
    fn keys_are_what_they_send() {
        for (text, typed) in [
            ("rm -rf ~{enter}", "rm -rf ~\n"),
            ("{Enter}rm -rf ~x{backspace}{ENTER}", "\nrm -rf ~x\u{8}\n"),
            ("if (x) {\n", "if (x) {\n"),
            ("echo ${HOME}{tab}", "echo ${HOME}\t"),
            ("{unknown}{enter}", "{unknown}\n"),
            ("rm -rf ~/x{backspace}\u{7f}\r", "rm -rf ~/x\u{8}\u{7f}\r"),
            ("{up}{enter}ls{enter}", "\u{1b}\nls\n"),
            ("{down}{down}{enter}", "\u{7}\u{7}\n"),
        ] {
            assert_eq!(keys_pressed(text), typed, "{text}");
        }
    }
}
