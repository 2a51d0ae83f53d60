//! Calls that a model makes within another call: several at once, or through a tool that calls tools.
//!
//! Whether a client tells its hooks of each of them is not known, so each is judged with the call that it stands in.

use checkrein_protocol::{ToolName, folded};
use serde_json::Value as Json;

use super::call::text_of;
use crate::action::Action;

/// Fields that hold several calls (`batch` of OpenCode, `multi_tool_use.parallel` of models by OpenAI, and their like).
const LISTS: &[&str] = &["toolcalls", "calls", "tooluses", "invocations", "tools"];
/// Tools that make the call that they are given, alone.
const CALLERS: &[&str] =
    &["usemcptool", "calltool", "callmcptool", "mcpcall", "invoketool", "executetool", "runtool"];
/// Fields that name the tool.
const TOOLS: &[&str] = &["tool", "tool_name", "toolName", "recipient_name", "name", "function"];
/// Fields that hold what it is given.
const INPUTS: &[&str] = &["parameters", "params", "input", "args", "arguments", "tool_input"];

/// The calls that stand in a call.
pub(crate) fn inner_calls(action: &Action) -> Vec<Action> {
    let Some(fields) = action.input.as_object() else { return Vec::new() };
    let lists = fields.iter().filter(|(name, _)| LISTS.contains(&folded(name).as_str()));
    let listed = lists.flat_map(|(_, value)| match value {
        Json::Array(items) => items.iter().collect(),
        other => vec![other],
    });
    let name = folded(action.tool.as_str().rsplit("__").next().unwrap_or_default());
    let alone = CALLERS.contains(&name.as_str()).then_some(&action.input);
    listed.chain(alone).filter_map(|given| call(given, action)).collect()
}

/// One call, where it names a tool and what the tool is given.
fn call(given: &Json, around: &Action) -> Option<Action> {
    let name = text_of(given, TOOLS)?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let name = match text_of(given, &["server_name", "server"]) {
        Some(server) => format!("mcp__{server}__{name}"),
        None => name.to_owned(),
    };
    let input = INPUTS.iter().find_map(|field| given.get(field)).filter(|input| !input.is_null())?;
    // Arguments are a text that holds an object, for some.
    let input = match input.as_str().map(serde_json::from_str::<Json>) {
        Some(Ok(object @ Json::Object(_))) => object,
        Some(_) | None => input.clone(),
    };
    Some(Action { tool: ToolName(name), input, cwd: around.cwd.clone() })
}
