//! How Claude Code registers hooks in its settings.

use checkrein_facts::leads_guard;
use serde_json::Value as Json;

use crate::command::Answering;
use crate::registration::{HookForm, HookLayout, Matching, Notation, Unit, variables_in_env};

/// Its settings.
pub(super) const HOOKS: HookLayout = HookLayout {
    client: "claude",
    form: HookForm::Groups,
    notation: Notation::Strict,
    answering: Answering::Object,
    events: EVENTS,
    reviewing: "PreToolUse",
    vital: &["PreToolUse", "ConfigChange"],
    every_name: "*",
    unit: Unit::Seconds,
    switched_off,
    handler_types: &["command", "prompt", "agent", "http", "mcp_tool"],
    variables: variables_in_env,
    leads_guard,
};

/// The events that are registered, with whether the client matches them against a name. `WorktreeCreate` is left out on purpose: a
/// hook on it replaces the client's own work.
pub(super) const EVENTS: &[(&str, Matching)] = &[
    ("PreToolUse", Matching::ByName),
    ("PostToolUse", Matching::ByName),
    ("PostToolUseFailure", Matching::ByName),
    ("PermissionRequest", Matching::ByName),
    ("PermissionDenied", Matching::ByName),
    ("PostToolBatch", Matching::Never),
    ("UserPromptSubmit", Matching::Never),
    ("UserPromptExpansion", Matching::Never),
    ("SessionStart", Matching::Never),
    ("SessionEnd", Matching::Never),
    ("Setup", Matching::Never),
    ("Stop", Matching::Never),
    ("StopFailure", Matching::Never),
    ("SubagentStart", Matching::Never),
    ("SubagentStop", Matching::Never),
    ("TeammateIdle", Matching::Never),
    ("TaskCreated", Matching::Never),
    ("TaskCompleted", Matching::Never),
    ("PreCompact", Matching::Never),
    ("PostCompact", Matching::Never),
    ("Notification", Matching::Never),
    ("InstructionsLoaded", Matching::Never),
    ("ConfigChange", Matching::Never),
    ("CwdChanged", Matching::Never),
    ("MessageDisplay", Matching::Never),
    ("Elicitation", Matching::Never),
    ("ElicitationResult", Matching::Never),
];

fn switched_off(settings: &Json) -> Option<&'static str> {
    const KEY: &str = "disableAllHooks";
    (settings.get(KEY).and_then(Json::as_bool) == Some(true)).then_some(KEY)
}
