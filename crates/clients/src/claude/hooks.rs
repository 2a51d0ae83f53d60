//! How Claude Code registers hooks in its settings.

use serde_json::Value as Json;

use crate::registration::{HookLayout, Matching, Unit, variables_in_env};

/// Its settings.
pub(super) const HOOKS: HookLayout = HookLayout {
    client: "claude",
    events: EVENTS,
    reviewing: "PreToolUse",
    vital: &["PreToolUse", "ConfigChange"],
    every_name: "*",
    unit: Unit::Seconds,
    switched_off,
    variables: variables_in_env,
    leads_guard,
};

/// The events that are registered, with whether the client matches them against a name. `WorktreeCreate` is left out on purpose: a
/// hook on it replaces the client's own work.
const EVENTS: &[(&str, Matching)] = &[
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

/// Whether a variable decides where the guard finds its places, which code its command line runs, or whether the client runs it at all:
/// Claude Code 2.1 puts every hook behind `CLAUDE_CODE_SHELL_PREFIX`, and calls none with `CLAUDE_CODE_SIMPLE`.
fn leads_guard(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_CONFIG_DIR",
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "IFS",
        "CLAUDE_CODE_SHELL",
        "CLAUDE_CODE_SHELL_PREFIX",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_SAFE_MODE",
    ];
    NAMES.contains(&name)
        || ["CHECKREIN_", "LD_", "DYLD_", "BASH_FUNC_"].iter().any(|start| name.starts_with(start))
}
