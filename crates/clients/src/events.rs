//! Every event that a client is documented or was seen to tell hooks of: which of them are registered, and why the others are not.
//!
//! A test holds this table against what `init` registers. An event that a client gets in a new version belongs in here first.

use crate::adapter::ClientAdapter;

/// An event of a client.
#[derive(Debug, Clone, Copy)]
pub struct ClientEvent {
    /// Its name, as the client writes it.
    pub name: &'static str,
    /// What becomes of it.
    pub treatment: EventTreatment,
}

/// What becomes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTreatment {
    /// Our hook is called for it.
    Registered,
    /// It cannot matter, for this reason.
    Left(&'static str),
}

const UNSEEN: EventTreatment =
    EventTreatment::Left("its documentation names it without more, and no version that was run has fired it");
const MODEL: EventTreatment = EventTreatment::Left(
    "it is about a request to the model; what the model calls is reviewed before it runs",
);
const JUDGED: EventTreatment = EventTreatment::Left(
    "each call was judged before that, and an answer here would take the place of the one of the user",
);
const TELLS: EventTreatment = EventTreatment::Left(
    "it only informs: nothing runs because of it, and the client ignores what a hook says to it",
);
const PRE: EventTreatment = EventTreatment::Left("`preToolUse` tells of each of these calls already");
const POST: EventTreatment = EventTreatment::Left("`postToolUse` tells of each of these calls already");
const TAB: EventTreatment = EventTreatment::Left(
    "it is about the completions of the editor while the user types, not about an agent",
);
const FILES: EventTreatment =
    EventTreatment::Left("it tells of what the user saves too, and comes when the file is written already");

const fn registered(name: &'static str) -> ClientEvent {
    ClientEvent { name, treatment: EventTreatment::Registered }
}

const fn left(name: &'static str, treatment: EventTreatment) -> ClientEvent {
    ClientEvent { name, treatment }
}

/// Those of Claude Code.
pub(crate) const CLAUDE: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("Setup"),
    registered("InstructionsLoaded"),
    registered("UserPromptSubmit"),
    registered("UserPromptExpansion"),
    registered("PreToolUse"),
    registered("PermissionRequest"),
    registered("PermissionDenied"),
    registered("PostToolUse"),
    registered("PostToolUseFailure"),
    registered("PostToolBatch"),
    registered("Notification"),
    registered("MessageDisplay"),
    registered("SubagentStart"),
    registered("SubagentStop"),
    registered("Stop"),
    registered("StopFailure"),
    registered("TaskCreated"),
    registered("TaskCompleted"),
    registered("TeammateIdle"),
    registered("PreCompact"),
    registered("PostCompact"),
    registered("SessionEnd"),
    registered("ConfigChange"),
    registered("CwdChanged"),
    registered("Elicitation"),
    registered("ElicitationResult"),
    left(
        "DirectoryAdded",
        EventTreatment::Left(
            "what is done in the directory is reviewed call by call, and older versions do not know the event",
        ),
    ),
    left(
        "FileChanged",
        EventTreatment::Left("it tells of files that a hook asked to watch, and ours asks for none"),
    ),
    left("WorktreeCreate", EventTreatment::Left("a hook on it replaces the work of the client")),
    left(
        "WorktreeRemove",
        EventTreatment::Left("its answer is not read, and the client itself removes the worktree"),
    ),
];

/// Those of Codex.
pub(crate) const CODEX: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("SessionEnd"),
    registered("SubagentStart"),
    registered("SubagentStop"),
    registered("UserPromptSubmit"),
    registered("PreToolUse"),
    registered("PermissionRequest"),
    registered("PostToolUse"),
    registered("PreCompact"),
    registered("PostCompact"),
    registered("Stop"),
    left("Interrupt", UNSEEN),
    left("StopFailure", UNSEEN),
];

/// Those of Gemini CLI.
pub(crate) const GEMINI: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("SessionEnd"),
    registered("BeforeAgent"),
    registered("AfterAgent"),
    registered("BeforeTool"),
    registered("AfterTool"),
    registered("PreCompress"),
    registered("Notification"),
    left("BeforeModel", MODEL),
    left("AfterModel", MODEL),
    left("BeforeToolSelection", MODEL),
];

/// Those of Qwen Code.
pub(crate) const QWEN: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("SessionEnd"),
    registered("UserPromptSubmit"),
    registered("PreToolUse"),
    registered("PostToolUse"),
    registered("PostToolUseFailure"),
    registered("PostToolBatch"),
    registered("Stop"),
    registered("SubagentStart"),
    registered("SubagentStop"),
    registered("PreCompact"),
    left("PermissionRequest", JUDGED),
    left("InstructionsLoaded", TELLS),
    left("MessageDisplay", TELLS),
    left("Notification", TELLS),
    left("StopFailure", UNSEEN),
    left("TodoCreated", UNSEEN),
    left("TodoCompleted", UNSEEN),
    left("SessionDelete", UNSEEN),
];

/// Those of Copilot CLI.
pub(crate) const COPILOT: &[ClientEvent] = &[
    registered("sessionStart"),
    registered("sessionEnd"),
    registered("userPromptSubmitted"),
    registered("preToolUse"),
    registered("postToolUse"),
    registered("postToolUseFailure"),
    registered("agentStop"),
    registered("subagentStart"),
    registered("subagentStop"),
    registered("preCompact"),
    left(
        "userPromptTransformed",
        EventTreatment::Left("it is the prompt that `userPromptSubmitted` told of"),
    ),
    left("permissionRequest", JUDGED),
    left("errorOccurred", TELLS),
    left("notification", TELLS),
];

/// Those of Cline.
pub(crate) const CLINE: &[ClientEvent] = &[
    registered("PreToolUse"),
    registered("PostToolUse"),
    registered("TaskStart"),
    registered("TaskResume"),
    registered("TaskComplete"),
    registered("SessionShutdown"),
    registered("PreCompact"),
    left("UserPromptSubmit", EventTreatment::Left("it was seen to fire for no prompt")),
    left("TaskCancel", EventTreatment::Left("the user ended the task; `SessionShutdown` tells of it")),
    left("TaskError", TELLS),
    left("Notification", TELLS),
];

/// Those of Droid.
pub(crate) const DROID: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("SessionEnd"),
    registered("UserPromptSubmit"),
    registered("PreToolUse"),
    registered("PostToolUse"),
    registered("Stop"),
    registered("SubagentStop"),
    registered("PreCompact"),
    left("Notification", TELLS),
];

/// Those of Cursor.
pub(crate) const CURSOR: &[ClientEvent] = &[
    registered("preToolUse"),
    registered("postToolUse"),
    registered("postToolUseFailure"),
    registered("beforeSubmitPrompt"),
    registered("sessionStart"),
    registered("sessionEnd"),
    registered("subagentStart"),
    registered("subagentStop"),
    registered("stop"),
    registered("preCompact"),
    left("beforeShellExecution", PRE),
    left("beforeMCPExecution", PRE),
    left("beforeReadFile", PRE),
    left("afterShellExecution", POST),
    left("afterMCPExecution", POST),
    left("afterFileEdit", POST),
    left("beforeTabFileRead", TAB),
    left("afterTabFileEdit", TAB),
    left("afterAgentResponse", TELLS),
    left("afterAgentThought", TELLS),
    left("workspaceOpen", EventTreatment::Left("no agent works yet")),
];

/// Those of Windsurf.
pub(crate) const WINDSURF: &[ClientEvent] = &[
    registered("pre_run_command"),
    registered("pre_write_code"),
    registered("pre_read_code"),
    registered("pre_mcp_tool_use"),
    registered("pre_user_prompt"),
    registered("post_run_command"),
    registered("post_write_code"),
    registered("post_read_code"),
    registered("post_mcp_tool_use"),
    registered("post_cascade_response"),
    left(
        "post_cascade_response_with_transcript",
        EventTreatment::Left("it is the end of the turn that `post_cascade_response` told of"),
    ),
    left(
        "post_setup_worktree",
        EventTreatment::Left("what is done in the worktree is reviewed call by call"),
    ),
];

/// Those of Kiro.
pub(crate) const KIRO: &[ClientEvent] = &[
    registered("SessionStart"),
    registered("UserPromptSubmit"),
    registered("PreToolUse"),
    registered("PostToolUse"),
    registered("Stop"),
    left("PreTaskExec", EventTreatment::Left("the calls of the task are reviewed one by one")),
    left("PostTaskExec", EventTreatment::Left("the calls of the task are reviewed one by one")),
    left("PostFileSave", FILES),
    left("PostFileCreate", FILES),
    left("PostFileDelete", FILES),
    left("Manual", EventTreatment::Left("it is a button for the user")),
];

/// Those of OpenCode and Kilo: what a plugin of theirs can hear.
pub(crate) const PLUGIN: &[ClientEvent] = &[
    registered("tool.execute.before"),
    registered("tool.execute.after"),
    registered("chat.message"),
    registered("session.created"),
    registered("session.idle"),
    left("permission.ask", EventTreatment::Left("it was seen never to be called")),
    left(
        "permission.asked",
        EventTreatment::Left("each call was judged before that, and a plugin cannot answer for the user"),
    ),
    left("permission.replied", TELLS),
    left("session.error", TELLS),
    left("shell.env", EventTreatment::Left("it sets variables for a command that was reviewed")),
    left("session.drained", TELLS),
];

/// The section of the page that says which events are registered.
pub(crate) fn section(clients: &[ClientAdapter]) -> String {
    let mut page = "\n## Which events call the hook\n\n\
        Every event that a client is documented or was seen to tell hooks of, and why some are not registered.\n"
        .to_owned();
    for client in clients {
        let (mut registered, mut left) = (Vec::new(), Vec::<(&str, Vec<String>)>::new());
        for event in client.events {
            let name = format!("`{}`", event.name);
            match event.treatment {
                EventTreatment::Registered => registered.push(name),
                EventTreatment::Left(why) => match left.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, names)) => names.push(name),
                    None => left.push((why, vec![name])),
                },
            }
        }
        page.extend(["\n**", client.title, "**: ", &registered.join(", "), ".\n"]);
        if !left.is_empty() {
            page.push_str("Not registered:\n\n");
            for (why, names) in left {
                page.extend(["- ", &names.join(", "), ": ", why, "\n"]);
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::CLIENTS;
    use crate::registration::HookForm;

    #[test]
    fn what_is_registered_is_what_the_table_says_and_the_rest_has_a_reason() {
        for client in CLIENTS {
            let name = client.client.name();
            let mut seen = BTreeSet::new();
            let mut told = BTreeSet::new();
            for event in client.events {
                assert!(seen.insert(event.name), "{name}: {} stands twice", event.name);
                match event.treatment {
                    EventTreatment::Registered => {
                        told.insert(event.name.to_owned());
                    }
                    EventTreatment::Left(why) => {
                        assert!(why.split(' ').count() > 3, "{name}: {}", event.name);
                    }
                }
            }
            // A plugin hears its events under names of the client, and passes them on under ours.
            let plugin = match client.hooks.form {
                HookForm::Whole(text) => Some(text("line")).filter(|text| !text.starts_with("#!")),
                HookForm::Groups | HookForm::Entries(_) | HookForm::Triggers => None,
            };
            if let Some(text) = plugin {
                for event in client.events {
                    let is_heard = text.contains(&format!("\"{}\"", event.name));
                    assert_eq!(is_heard, told.contains(event.name), "{name}: {}", event.name);
                }
                assert_eq!(told.len(), client.hooks.events.len(), "{name}");
                continue;
            }
            let own = client.hooks.events.iter().map(|(event, _)| (*event).to_owned());
            let beside = client.places.companions.iter().map(|file| file.trim_end_matches(".sh").to_owned());
            assert_eq!(told, own.chain(beside).collect::<BTreeSet<_>>(), "{name}");
        }
    }
}
