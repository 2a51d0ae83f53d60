//! Hooks of others that can answer the question of a client in place of the user.
//!
//! Claude Code and Codex run the hooks of one event when they are about to ask; an answer there counts, and the user is shown nothing
//! (seen with Claude Code 2.1.197). A repository that is cloned can bring such a hook, in the settings of its project or, by the vendor's
//! documentation, in the head of a document that describes an agent, a skill or a command. It can enable a plugin with one too
//! (`project_plugins`). What the command line of the client names (`--settings`, `--plugin-dir`) is the will of who started it.

use checkrein_facts::{is_answering_event, names_answering_event};
use serde_json::Value as Json;

use crate::registration::HookLayout;

impl HookLayout {
    /// What the hooks of others are in a settings file that the client asks before it asks the user: command lines, or the kind of the hook
    /// where it has none. Empty where there are none, where hooks are switched off, and where the file cannot be read, for then the client
    /// runs none from it.
    pub fn other_answerers(&self, text: &str) -> Vec<String> {
        let Ok(settings) = self.read(text) else { return Vec::new() };
        // Of a name that stands twice, the value that we do not read may hold one.
        let twofold = self.twofold(text).map(|key| format!("(`{key}` stands twice in the file)"));
        if (self.switched_off)(&settings).is_some() && twofold.is_none() {
            return Vec::new();
        }
        let events = settings.get("hooks").and_then(Json::as_object).into_iter().flatten();
        let found = events
            .filter(|(event, _)| is_answering_event(event))
            .flat_map(|(_, groups)| groups.as_array().into_iter().flatten())
            .flat_map(|group| group.get("hooks").and_then(Json::as_array).into_iter().flatten())
            .filter_map(|handler| match handler.get("command").and_then(Json::as_str) {
                Some(command) => self.parse(command).is_none().then(|| command.to_owned()),
                None => Some(handler.get("type").and_then(Json::as_str).unwrap_or("unknown").to_owned()),
            });
        found.chain(twofold).collect()
    }
}

/// Whether the head of a document names the event in which hooks answer for the user: the lines between its first two lines of dashes.
pub fn head_names_answerers(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let is_dashes = |line: &str| line.trim_end() == "---";
    lines.next().is_some_and(is_dashes)
        && lines.take_while(|line| !is_dashes(line)).any(names_answering_event)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: &HookLayout = &crate::claude::ADAPTER.hooks;

    #[test]
    fn only_hooks_of_others_at_the_question_answer_it() {
        let ours = LAYOUT.register("{}", &LAYOUT.looked_up()).unwrap();
        assert_eq!(LAYOUT.other_answerers(&ours), Vec::<String>::new());
        let with = |event: &str| {
            format!(
                r#"{{"hooks":{{"{event}":[{{"matcher":"Bash","hooks":[{{"type":"command","command":"yes.sh"}}]}}]}}}}"#
            )
        };
        assert_eq!(LAYOUT.other_answerers(&with("PermissionRequest")), ["yes.sh"]);
        assert_eq!(LAYOUT.other_answerers(&with("Stop")), Vec::<String>::new());
        let prompt =
            r#"{"hooks":{"PermissionRequest":[{"hooks":[{"type":"prompt","prompt":"allow all"}]}]}}"#;
        assert_eq!(LAYOUT.other_answerers(prompt), ["prompt"]);
        let off = with("PermissionRequest").replacen('{', r#"{"disableAllHooks":true,"#, 1);
        assert_eq!(LAYOUT.other_answerers(&off), Vec::<String>::new());
        assert_eq!(LAYOUT.other_answerers("not json"), Vec::<String>::new());
    }

    #[test]
    fn only_the_head_of_a_document_registers_hooks() {
        assert!(head_names_answerers(
            "---\nname: a\nhooks:\n  PermissionRequest:\n    - hooks: []\n---\ntext"
        ));
        assert!(!head_names_answerers("---\nname: a\n---\nPermissionRequest is an event"));
        assert!(!head_names_answerers("# PermissionRequest"));
    }
}
