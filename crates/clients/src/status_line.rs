//! The status line of a client: one command in its settings, of which it shows what that prints.

use serde_json::{Value as Json, json};

use crate::command::{PLACES, quoted};
use crate::error::SettingsError;
use crate::registration::{Node, parse_strict};

/// The name of the full program, which prints the line.
const PROGRAM: &str = "checkrein";

/// The word behind it.
const COMMAND: &str = "statusline";

/// What settings say about a status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusLine {
    /// Nothing.
    Absent,
    /// It is ours.
    Ours {
        /// The path of the program; `None` when it is looked for.
        program: Option<String>,
    },
    /// It is another one.
    Other {
        /// Its command, as far as it is one.
        command: String,
    },
}

/// How the settings of a client say which status line it shows.
#[derive(Debug)]
pub struct StatusLineLayout {
    /// The key of the settings that holds it.
    pub key: &'static str,
}

impl StatusLineLayout {
    /// The command line that runs the program at this path.
    pub fn command(&self, program: &str) -> String {
        format!("{} {COMMAND}", quoted(program))
    }

    /// The command line that looks for the program where that of the hooks does.
    pub fn looked_up(&self) -> String {
        format!(
            r#"for d in {};do [ -x "$d/{PROGRAM}" ]&&break;done;"$d/{PROGRAM}" {COMMAND}"#,
            PLACES.join(" ")
        )
    }

    /// What these settings say.
    pub fn found(&self, text: &str) -> Result<StatusLine, SettingsError> {
        let settings = parse_strict(text)?;
        let Some(line) = settings.get(self.key).filter(|line| !line.is_null()) else {
            return Ok(StatusLine::Absent);
        };
        let command = line.get("command").and_then(Json::as_str).unwrap_or_default().to_owned();
        if command == self.looked_up() {
            return Ok(StatusLine::Ours { program: None });
        }
        let program = command.strip_suffix(&format!(" {COMMAND}")).and_then(crate::command::unquoted);
        Ok(match program.filter(|program| program.rsplit('/').next() == Some(PROGRAM)) {
            Some(program) => StatusLine::Ours { program: Some(program) },
            None => StatusLine::Other { command },
        })
    }

    /// The settings with our status line. One of somebody else stays.
    pub fn register(&self, text: &str, command: &str) -> Result<String, SettingsError> {
        if let StatusLine::Other { .. } = self.found(text)? {
            return Ok(text.to_owned());
        }
        let cleaned = self.unregister(text)?;
        let source = if cleaned.trim().is_empty() { "{}\n" } else { cleaned.as_str() };
        let root = Node::parse(source)?;
        if !root.is_object() {
            return Err(SettingsError::WrongType { key: "(root)".to_owned(), expected: "an object" });
        }
        Ok(root.with_property(source, self.key, &json!({ "type": "command", "command": command })))
    }

    /// The settings without our status line. One of somebody else stays.
    pub fn unregister(&self, text: &str) -> Result<String, SettingsError> {
        let StatusLine::Ours { .. } = self.found(text)? else { return Ok(text.to_owned()) };
        Node::parse(text)?.without_property(text, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: StatusLineLayout = StatusLineLayout { key: "statusLine" };

    #[test]
    fn what_is_registered_is_told_and_taken_back() {
        for before in ["", "{}\n", "{\n  \"model\": \"opus\"\n}\n"] {
            for (command, program) in [
                (LAYOUT.command("/opt/my tools/checkrein"), Some("/opt/my tools/checkrein".to_owned())),
                (LAYOUT.looked_up(), None),
            ] {
                let after = LAYOUT.register(before, &command).unwrap();
                assert_eq!(LAYOUT.found(&after).unwrap(), StatusLine::Ours { program }, "{after}");
                assert_eq!(LAYOUT.register(&after, &command).unwrap(), after, "twice changes nothing");
                let value = |text: &str| parse_strict(text).unwrap();
                assert_eq!(value(&LAYOUT.unregister(&after).unwrap()), value(before));
            }
        }
    }

    #[test]
    fn the_line_of_somebody_else_stays() {
        for other in
            ["{\"statusLine\": {\"type\": \"command\", \"command\": \"~/line.sh\"}}", "{\"statusLine\": 3}"]
        {
            assert!(matches!(LAYOUT.found(other).unwrap(), StatusLine::Other { .. }));
            assert_eq!(LAYOUT.register(other, &LAYOUT.looked_up()).unwrap(), other);
            assert_eq!(LAYOUT.unregister(other).unwrap(), other);
        }
        assert!(LAYOUT.found("{ not json").is_err());
    }
}
