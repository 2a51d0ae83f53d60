//! Where Claude Code registers hooks: `settings.json`, edited so that everything else in it stays as it was, byte for byte.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value as Json;

use crate::error::SettingsError;

/// The events that are registered, with whether the client matches them against a name. `WorktreeCreate` is left out on purpose: a
/// hook on it replaces the client's own work.
pub const EVENTS: [(&str, Matching); 27] = [
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

/// The events without which the guard does not guard.
const VITAL: [&str; 2] = ["PreToolUse", "ConfigChange"];

/// How long the client waits for one answer, in seconds; the hook's own deadline is far below (ours).
const TIMEOUT_SECONDS: u32 = 30;

/// Whether the client matches an event against a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Against the name of the tool.
    ByName,
    /// Not at all, or by something that never matters here.
    Never,
}

/// The command line that the client runs for each event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand(String);

impl HookCommand {
    /// The command that runs the program at `path` as a hook of Claude Code. The client gives it to a shell, so the path is quoted
    /// where it must be.
    pub fn new(program: &str) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
        if program.chars().all(plain) {
            Self(format!("{program} claude"))
        } else {
            Self(format!("'{}' claude", program.replace('\'', r"'\''")))
        }
    }

    /// The text of the command line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a settings file says about our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// Nothing of ours is in it.
    Absent,
    /// Some events are registered, some not.
    Partial {
        /// The events that are missing.
        missing: Vec<&'static str>,
        /// The command lines that are registered, without repetition.
        commands: Vec<String>,
    },
    /// All events are registered.
    Complete {
        /// The command lines that are registered, without repetition.
        commands: Vec<String>,
    },
}

/// What a settings file does to a protection that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// The hooks stand.
    Stands,
    /// The client would no longer call the hooks.
    Falls {
        /// Why, in a few words.
        why: String,
    },
    /// The file says nothing about our hooks.
    NotConcerned,
}

/// What the text of a settings file says about our hooks. An empty text is an empty object.
pub fn registration(text: &str) -> Result<Registration, SettingsError> {
    let settings = parse_strict(text)?;
    let mut commands: Vec<String> = Vec::new();
    let mut missing = Vec::new();
    for (event, _) in EVENTS {
        let found = our_commands(&settings, event);
        if found.is_empty() {
            missing.push(event);
        }
        for command in found {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
    }
    Ok(if commands.is_empty() {
        Registration::Absent
    } else if missing.is_empty() {
        Registration::Complete { commands }
    } else {
        Registration::Partial { missing, commands }
    })
}

/// Whether a settings file, as it is now, leaves the hooks in force. `holds_hooks` says that they were registered in this very
/// file when the guard was installed.
pub fn protection(text: Option<&str>, holds_hooks: HoldsHooks) -> Protection {
    let falls = |why: &str| Protection::Falls { why: why.to_owned() };
    let settings = match (text.map(parse_strict), holds_hooks) {
        (Some(Ok(settings)), _) => settings,
        (Some(Err(error)), _) => return falls(&error.to_string()),
        (None, HoldsHooks::Yes) => return falls("the file is gone"),
        (None, HoldsHooks::No) => return Protection::NotConcerned,
    };
    if settings.get("disableAllHooks").and_then(Json::as_bool) == Some(true) {
        return falls("it sets `disableAllHooks`");
    }
    match holds_hooks {
        HoldsHooks::No => Protection::NotConcerned,
        HoldsHooks::Yes if VITAL.iter().any(|event| our_commands(&settings, event).is_empty()) => {
            falls("the hooks of the guard are no longer in it")
        }
        HoldsHooks::Yes => Protection::Stands,
    }
}

/// Whether the hooks were registered in a certain file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldsHooks {
    /// They were.
    Yes,
    /// They were not, or in another file.
    No,
}

/// The text of the settings file with our hooks registered for every event. Registering twice changes nothing; an older
/// command line of ours is replaced.
pub fn register(text: &str, command: &HookCommand) -> Result<String, SettingsError> {
    parse_strict(text)?;
    if registration(text)? == (Registration::Complete { commands: vec![command.0.clone()] }) {
        return Ok(text.to_owned());
    }
    let cleaned = unregister(text)?;
    let source = if cleaned.trim().is_empty() { "{}\n" } else { cleaned.as_str() };
    let root = parse_tree(source)?;
    let settings = root
        .object_value_or_create()
        .ok_or_else(|| SettingsError::WrongType { key: "(root)".to_owned(), expected: "an object" })?;
    let hooks = settings
        .object_value_or_create("hooks")
        .ok_or_else(|| SettingsError::WrongType { key: "hooks".to_owned(), expected: "an object" })?;
    for (event, matching) in EVENTS {
        let groups = hooks.array_value_or_create(event).ok_or_else(|| SettingsError::WrongType {
            key: format!("hooks.{event}"),
            expected: "an array",
        })?;
        groups.append(group(command, matching));
        groups.ensure_multiline();
    }
    Ok(root.to_string())
}

/// The text of the settings file without our hooks. What becomes empty by that goes too; a file without our hooks is left as it is.
pub fn unregister(text: &str) -> Result<String, SettingsError> {
    if registration(text)? == Registration::Absent {
        return Ok(text.to_owned());
    }
    let root = parse_tree(text)?;
    let Some(hooks) = root.object_value().and_then(|settings| settings.object_value("hooks")) else {
        return Ok(text.to_owned());
    };
    for property in hooks.properties() {
        let Some(groups) = property.array_value() else { continue };
        remove_ours(&groups);
        if groups.elements().is_empty() {
            property.remove();
        }
    }
    if hooks.properties().is_empty() {
        root.object_value()
            .and_then(|settings| settings.get("hooks"))
            .into_iter()
            .for_each(jsonc_parser::cst::CstObjectProp::remove);
    }
    Ok(root.to_string())
}

fn remove_ours(groups: &CstArray) {
    for element in groups.elements() {
        let Some(handlers) = element.as_object().and_then(|group| group.array_value("hooks")) else {
            continue;
        };
        for handler in handlers.elements().into_iter().filter(is_our_node) {
            handler.remove();
        }
        if handlers.elements().is_empty() {
            element.remove();
        }
    }
}

fn is_our_node(node: &CstNode) -> bool {
    let command = |object: CstObject| object.get("command")?.value()?.as_string_lit()?.decoded_value().ok();
    node.as_object().and_then(command).is_some_and(|text| is_our_command(&text))
}

/// Whether a command line runs our hook: its program is `checkrein-hook`, or `checkrein` followed by `hook`.
fn is_our_command(command: &str) -> bool {
    let unquoted = command.replace(['\'', '"'], "");
    let program = unquoted.strip_suffix(" claude").unwrap_or(&unquoted);
    let name = program.rsplit('/').next().unwrap_or(program);
    name == "checkrein-hook" || name == "checkrein hook"
}

fn our_commands(settings: &Json, event: &str) -> Vec<String> {
    let groups = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Json::as_array);
    groups
        .into_iter()
        .flatten()
        .filter(|group| matches_everything(group))
        .filter_map(|group| group.get("hooks").and_then(Json::as_array))
        .flatten()
        .filter(|handler| handler.get("type").and_then(Json::as_str) == Some("command"))
        .filter_map(|handler| handler.get("command").and_then(Json::as_str))
        .filter(|command| is_our_command(command))
        .map(str::to_owned)
        .collect()
}

fn matches_everything(group: &Json) -> bool {
    match group.get("matcher") {
        None => true,
        Some(matcher) => matches!(matcher.as_str(), Some("" | "*")),
    }
}

fn group(command: &HookCommand, matching: Matching) -> CstInputValue {
    let handler = CstInputValue::Object(vec![
        ("type".to_owned(), CstInputValue::String("command".to_owned())),
        ("command".to_owned(), CstInputValue::String(command.0.clone())),
        ("timeout".to_owned(), CstInputValue::Number(TIMEOUT_SECONDS.to_string())),
    ]);
    let mut fields = Vec::new();
    if matching == Matching::ByName {
        fields.push(("matcher".to_owned(), CstInputValue::String("*".to_owned())));
    }
    fields.push(("hooks".to_owned(), CstInputValue::Array(vec![handler])));
    CstInputValue::Object(fields)
}

/// The client reads strict JSON and drops the whole file for anything else, so nothing else is accepted here.
fn parse_strict(text: &str) -> Result<Json, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    let value: Json = serde_json::from_str(text).map_err(|error| SettingsError::NotJson {
        line: error.line(),
        column: error.column(),
        cause: error.to_string(),
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(SettingsError::WrongType { key: "(root)".to_owned(), expected: "an object" })
    }
}

fn parse_tree(text: &str) -> Result<CstRootNode, SettingsError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| SettingsError::NotJson {
        line: error.line_display(),
        column: error.column_display(),
        cause: error.kind().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = "{\n    \"model\":  \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n    }\n}\n";

    fn command() -> HookCommand {
        HookCommand::new("/opt/bin/checkrein-hook")
    }

    #[test]
    fn registering_keeps_everything_else_byte_for_byte() {
        let registered = register(SETTINGS, &command()).unwrap();
        assert!(registered.starts_with(
            "{\n    \"model\":  \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n"
        ));
        assert!(registered.contains(r#"{"type": "command", "command": "say done"}"#));
        assert_eq!(
            registration(&registered).unwrap(),
            Registration::Complete { commands: vec![command().as_str().to_owned()] }
        );
        assert_eq!(
            register(&registered, &command()).unwrap(),
            registered,
            "registering twice changes nothing"
        );
    }

    #[test]
    fn unregistering_gives_back_the_same_settings() {
        for before in [SETTINGS, "{}\n", "{ \"model\": \"opus\" }", "{\n  \"a\": [1,2]\n}\n"] {
            let after = unregister(&register(before, &command()).unwrap()).unwrap();
            let value = |text: &str| serde_json::from_str::<Json>(text).unwrap();
            assert_eq!(value(&after), value(before), "{before}");
        }
        assert_eq!(unregister(SETTINGS).unwrap(), SETTINGS, "nothing of ours, nothing changed");
    }

    #[test]
    fn an_empty_file_gets_a_whole_object() {
        let registered = register("", &command()).unwrap();
        assert!(matches!(registration(&registered).unwrap(), Registration::Complete { .. }));
    }

    #[test]
    fn a_moved_binary_replaces_its_old_command() {
        let old = register("{}", &HookCommand::new("/old path/checkrein-hook")).unwrap();
        assert!(old.contains("'/old path/checkrein-hook' claude"));
        let new = register(&old, &command()).unwrap();
        assert_eq!(
            registration(&new).unwrap(),
            Registration::Complete { commands: vec!["/opt/bin/checkrein-hook claude".to_owned()] }
        );
    }

    #[test]
    fn a_broken_file_is_refused_with_its_place() {
        let error = register("{\n  \"a\": 1,\n}", &command()).unwrap_err();
        assert!(matches!(error, SettingsError::NotJson { line: 3, .. }), "{error}");
        let error = register(r#"{"hooks": []}"#, &command()).unwrap_err();
        assert_eq!(error.to_string(), "`hooks` in the settings file is not an object");
    }

    #[test]
    fn a_change_that_silences_the_hooks_is_seen() {
        let registered = register(SETTINGS, &command()).unwrap();
        assert_eq!(protection(Some(&registered), HoldsHooks::Yes), Protection::Stands);
        for fallen in ["{}", "", "{ not json", r#"{"disableAllHooks": true}"#] {
            assert!(
                matches!(protection(Some(fallen), HoldsHooks::Yes), Protection::Falls { .. }),
                "{fallen}"
            );
        }
        assert!(matches!(protection(None, HoldsHooks::Yes), Protection::Falls { .. }));
        assert_eq!(protection(Some("{}"), HoldsHooks::No), Protection::NotConcerned);
        assert!(matches!(
            protection(Some(r#"{"disableAllHooks": true}"#), HoldsHooks::No),
            Protection::Falls { .. }
        ));
        let narrowed = registered.replace(r#""matcher": "*""#, r#""matcher": "Read""#);
        assert!(matches!(protection(Some(&narrowed), HoldsHooks::Yes), Protection::Falls { .. }));
    }
}
