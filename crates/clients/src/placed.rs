//! Where a session works, where the client does not tell its hooks: then it is where they were started, which no call can choose.

use checkrein_protocol::{AbsolutePath, Action, HookEvent, HookEventKind, is_working_directory};

/// Who says where a session works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceSource {
    /// Each payload.
    Payload,
    /// Nobody: hooks are started there.
    HookDirectory,
}

impl WorkspaceSource {
    /// Returns the event as one of a session that works where its hook was started, where nobody else says where that is. What a call says
    /// of its own directory then counts from there, for its command alone.
    pub fn placed(self, mut event: HookEvent, started_in: &AbsolutePath) -> HookEvent {
        match self {
            Self::Payload => return event,
            Self::HookDirectory => event.cwd = started_in.clone(),
        }
        match &mut event.moment {
            HookEventKind::BeforeAction { action, .. } | HookEventKind::PermissionAsked { action } => {
                place(action, started_in);
            }
            HookEventKind::AfterAction(outcome) => place(&mut outcome.action, started_in),
            HookEventKind::Prompt { .. }
            | HookEventKind::SessionStarted { .. }
            | HookEventKind::SessionEnded
            | HookEventKind::TurnEnding { .. }
            | HookEventKind::SubagentStarted
            | HookEventKind::SubagentEnding { .. }
            | HookEventKind::BatchDone
            | HookEventKind::ConfigurationChanged { .. }
            | HookEventKind::Other { .. } => {}
        }
        event
    }
}

fn place(action: &mut Action, started_in: &AbsolutePath) {
    let fields = action.input.as_object().filter(|_| action.shell_field().is_some());
    let named = fields.and_then(|fields| {
        let mut named = fields.iter().filter(|(name, _)| is_working_directory(name));
        named.find_map(|(_, value)| value.as_str().filter(|folder| !folder.is_empty()).map(str::to_owned))
    });
    action.cwd = named.map_or_else(|| started_in.clone(), |folder| started_in.join(&folder));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_says_where_its_command_runs_and_not_where_the_session_works() {
        let started_in = AbsolutePath::new("/w").unwrap();
        let client = crate::named("windsurf").unwrap();
        for (event, info, place) in [
            ("pre_run_command", json!({ "command_line": "ls", "cwd": "/h" }), "/h"),
            ("pre_run_command", json!({ "command_line": "ls", "cwd": "sub" }), "/w/sub"),
            ("pre_run_command", json!({ "command_line": "ls", "cwd": "/" }), "/"),
            ("pre_run_command", json!({ "command_line": "ls" }), "/w"),
            ("pre_write_code", json!({ "file_path": "/h/a", "edits": [] }), "/w"),
            (
                "pre_mcp_tool_use",
                json!({ "mcp_server_name": "s", "mcp_tool_name": "t",
                "mcp_tool_arguments": { "path": "/h/a", "cwd": "/h" } }),
                "/w",
            ),
        ] {
            let payload =
                json!({ "agent_action_name": event, "trajectory_id": "t", "tool_info": info }).to_string();
            let read = (client.decode)(payload.as_bytes()).unwrap();
            let read = client.workspace.placed(read, &started_in);
            assert_eq!(read.cwd, started_in, "{payload}");
            let HookEventKind::BeforeAction { action, .. } = read.moment else { panic!("{payload}") };
            assert_eq!(action.cwd.as_str(), place, "{payload}");
        }
    }
}
