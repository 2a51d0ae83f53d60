//! Where clients register hooks: mostly a JSON file, edited so that everything else in it stays as it was, byte for byte.
//!
//! | module | holds |
//! |---|---|
//! | `edits` | insertions into JSON, and removals |
//! | `forms` | the forms of such files |

mod edits;
mod forms;

pub(crate) use edits::{Node, without_comments};
pub(crate) use forms::OURS;
pub use forms::{Authorship, EntryForm, HookForm};

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::command::{Answering, HookCommand, Unanswered};
use crate::error::SettingsError;
use crate::pairs::Pairs;

/// How a client's settings file says which hooks it runs.
#[derive(Debug)]
pub struct HookLayout {
    /// The client, as the hook program is told.
    pub client: &'static str,
    /// The form of the file.
    pub form: HookForm,
    /// How the file is written.
    pub notation: Notation,
    /// How the hook program tells that a call is refused.
    pub answering: Answering,
    /// The events that are registered, with whether the client matches them against a name.
    pub events: &'static [(&'static str, Matching)],
    /// The event before a tool is called.
    pub reviewing: &'static str,
    /// The events, the reviewing one among them, that status 2 refuses and that must not pass unseen.
    pub vital: &'static [&'static str],
    /// The matcher that takes every name.
    pub every_name: &'static str,
    /// In what it counts how long it waits.
    pub unit: Unit,
    /// The key by which the file switches all hooks off, when it does.
    pub switched_off: fn(&Json) -> Option<&'static str>,
    /// The types of hooks that the client knows, where one of another type, or one that is malformed, has it pass over the whole file; empty
    /// where it passes over such a hook alone.
    pub handler_types: &'static [&'static str],
    /// The variables that a settings file of a project sets for the client and its hooks, by name.
    pub variables: fn(&str) -> Vec<(String, String)>,
    /// Whether a variable decides where the guard finds its places, which code its command line runs, or whether the client runs it at all.
    pub leads_guard: fn(&str) -> bool,
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON; the client drops the whole file for anything else.
    Strict,
    /// JSON with comments.
    Comments,
}

impl Notation {
    /// Reads a text as the client does. An empty one is an empty object.
    pub(crate) fn parse(self, text: &str) -> Result<Json, SettingsError> {
        parse_strict(&self.plain(text))
    }

    /// The text as strict JSON.
    fn plain(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Strict => Cow::Borrowed(text),
            Self::Comments => Cow::Owned(edits::without_comments(text)),
        }
    }
}

/// In what a client counts time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds below a thousand, milliseconds from there.
    Mixed,
}

impl Unit {
    fn seconds(self, number: f64) -> f64 {
        match self {
            Self::Milliseconds => number / 1000.0,
            Self::Mixed if number >= 1000.0 => number / 1000.0,
            Self::Seconds | Self::Mixed => number,
        }
    }

    fn number(self, seconds: u32) -> u64 {
        match self {
            Self::Seconds | Self::Mixed => u64::from(seconds),
            Self::Milliseconds => u64::from(seconds) * 1000,
        }
    }
}

/// The names at the top of a settings file below which everything decides about hooks.
const DECIDING: &[&str] = &["hooks", "hooksConfig"];

/// How long the client waits for one answer, in seconds; the hook's own deadline is far below (ours).
const TIMEOUT_SECONDS: u32 = 30;

/// The shortest time that the client may wait, in seconds: after it the client lets the call run, so the hook's own deadline, after which
/// it refuses, must come before.
const SHORTEST_TIMEOUT: f64 = 12.0;

/// How long a call may wait for an answer of a user at most, in seconds (ours).
const LONGEST_WAIT: u32 = 60 * 60;

/// How long the client is told to wait for a command, in seconds.
fn timeout_seconds(command: &HookCommand) -> u32 {
    command.waits().map_or(TIMEOUT_SECONDS, |waits| TIMEOUT_SECONDS.max(waits.saturating_add(AFTER_WAITING)))
}

/// What must be left of the time of the client when the waiting for an answer of a user is over, in seconds: for the rest of the work (ours).
const AFTER_WAITING: u32 = 10;

/// Whether the client matches an event against a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Against the name of the tool.
    ByName,
    /// Not at all, or by something that never matters here.
    Never,
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
        /// The commands that are registered, without repetition.
        commands: Vec<HookCommand>,
    },
    /// All events are registered.
    Complete {
        /// The commands that are registered, without repetition.
        commands: Vec<HookCommand>,
        /// What happens to a call when the hook gives no answer.
        unanswered: Unanswered,
    },
}

impl Registration {
    /// The commands that are registered, without repetition.
    pub fn commands(&self) -> &[HookCommand] {
        match self {
            Self::Absent => &[],
            Self::Partial { commands, .. } | Self::Complete { commands, .. } => commands,
        }
    }
}

/// Whether our hooks in a settings file are asked about a tool before it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCoverage {
    /// They are, or it cannot be told.
    Asked,
    /// Each of them has a matcher with plain names, and none of these is the tool.
    LeftOut,
    /// None of ours is in it.
    None,
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

impl HookLayout {
    /// The command that runs the program at `path`. For a file that only one user reads.
    pub fn command(&self, path: &str) -> HookCommand {
        HookCommand::new(self.client, self.answering, path)
    }

    /// The command that looks for the program: it holds nothing of one user's machine.
    pub fn looked_up(&self) -> HookCommand {
        HookCommand::looked_up(self.client, self.answering)
    }

    /// The version that the file says it is written in, as it is written there; `None` where files of the client say none.
    fn version(&self) -> Option<&'static str> {
        match self.form {
            HookForm::Triggers => Some("\"v1\""),
            HookForm::Entries(form) => form.version,
            HookForm::Groups | HookForm::Whole(_) => None,
        }
    }

    /// How long an answer of a user may be waited for within the time that is registered, in seconds; `None` where the client is not told how
    /// long it is to wait.
    pub fn patience(&self) -> Option<u32> {
        let is_told = match self.form {
            HookForm::Groups | HookForm::Triggers => true,
            HookForm::Entries(form) => form.timeout.is_some(),
            HookForm::Whole(_) => false,
        };
        is_told.then_some(TIMEOUT_SECONDS - AFTER_WAITING)
    }

    /// The command with which a call may wait `wanted` seconds for an answer of a user, as far as the client can be told to wait for it: at
    /// most an hour (ours). Nothing is said where that fits into the time that is always registered.
    pub fn waiting(&self, command: HookCommand, wanted: u64) -> HookCommand {
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX).min(LONGEST_WAIT);
        let longer = self.patience().filter(|always| wanted > *always).map(|_| wanted);
        command.waiting(longer)
    }

    /// The command line of the review of calls.
    pub fn reviewing_line(&self, command: &HookCommand) -> String {
        command.text(self.form_of(self.reviewing))
    }

    /// The command that a command line of the review of calls is, with what it does when the hook gives no answer.
    pub fn parse(&self, text: &str) -> Option<(HookCommand, Unanswered)> {
        HookCommand::parse(text, self.client, self.answering)
    }

    /// What the command line of an event does when the hook gives no answer.
    fn form_of(&self, event: &str) -> Unanswered {
        if self.vital.contains(&event) { Unanswered::Refused } else { Unanswered::Passes }
    }

    /// What the text of a settings file says about our hooks. An empty text is an empty object.
    pub fn registration(&self, text: &str) -> Result<Registration, SettingsError> {
        let settings = self.read_once(text)?;
        let mut commands: Vec<HookCommand> = Vec::new();
        let mut missing = Vec::new();
        let mut unanswered = Unanswered::Refused;
        for (event, _) in self.events {
            let found = self.our_commands(&settings, event);
            if found.is_empty() {
                missing.push(*event);
            } else if self.vital.contains(event)
                && !found.iter().any(|(_, form)| *form == Unanswered::Refused)
            {
                unanswered = Unanswered::Passes;
            }
            for (command, _) in found {
                if !commands.contains(&command) {
                    commands.push(command);
                }
            }
        }
        Ok(if commands.is_empty() {
            Registration::Absent
        } else if missing.is_empty() {
            Registration::Complete { commands, unanswered }
        } else {
            Registration::Partial { missing, commands }
        })
    }

    /// Why the client passes over a whole settings file without a word, with all hooks and permissions in it; `None` where it does not.
    pub fn dropped(&self, settings: &Json) -> Option<String> {
        if self.handler_types.is_empty() {
            return None;
        }
        let hooks = settings.get("hooks")?.as_object()?;
        // An event that the client does not know is passed over alone.
        let mut known = hooks.iter().filter(|(event, _)| self.events.iter().any(|(name, _)| name == event));
        known.find_map(|(event, groups)| self.malformed(event, groups))
    }

    /// What is malformed in the hooks of an event.
    fn malformed(&self, event: &str, groups: &Json) -> Option<String> {
        let Some(groups) = groups.as_array() else { return Some(format!("`hooks.{event}` is not a list")) };
        let mut handlers = Vec::new();
        for group in groups {
            match group.get("hooks").and_then(Json::as_array) {
                Some(list) => handlers.extend(list),
                None => return Some(format!("an entry of `hooks.{event}` has no list `hooks`")),
            }
        }
        handlers.into_iter().find_map(|handler| match handler.get("type").and_then(Json::as_str) {
            None => Some(format!("a hook of `{event}` has no type")),
            Some(kind) if !self.handler_types.contains(&kind) => {
                Some(format!("a hook of `{event}` has the unknown type `{kind}`"))
            }
            Some("command") if !handler.get("command").is_some_and(Json::is_string) => {
                Some(format!("a hook of `{event}` has no command"))
            }
            Some(_) => None,
        })
    }

    /// The command line of ours that a settings file has for the review of calls; `None` when the client would call none from it.
    pub fn reviewing_command(&self, text: &str) -> Option<String> {
        let settings = self.read_once(text).ok()?;
        if (self.switched_off)(&settings).is_some() || self.dropped(&settings).is_some() {
            return None;
        }
        let ours = self.our_commands(&settings, self.reviewing);
        ours.into_iter().max_by_key(|(_, form)| *form).map(|(command, form)| command.text(form))
    }

    /// Whether our hooks in a settings file are asked about a tool before it is called.
    pub fn coverage(&self, text: &str, tool: &str) -> ToolCoverage {
        let settings = self.read(text).unwrap_or_default();
        let groups =
            settings.get("hooks").and_then(|hooks| hooks.get(self.reviewing)).and_then(Json::as_array);
        let mut ours = groups.into_iter().flatten().filter(|group| self.is_ours(group)).peekable();
        if ours.peek().is_none() {
            return ToolCoverage::None;
        }
        let leaves_out = |group: &Json| {
            let matcher = group.get("matcher").and_then(Json::as_str);
            !self.matches_everything(group) && matcher.is_some_and(|matcher| leaves_out(matcher, tool))
        };
        if ours.all(leaves_out) { ToolCoverage::LeftOut } else { ToolCoverage::Asked }
    }

    /// Whether a group of hooks runs ours.
    fn is_ours(&self, group: &Json) -> bool {
        let handlers = group.get("hooks").and_then(Json::as_array).into_iter().flatten();
        handlers
            .filter_map(|handler| handler.get("command").and_then(Json::as_str))
            .any(|command| self.parse(command).is_some())
    }

    /// Whether a settings file, as it is now, leaves the hooks in force. `registered` are the command lines that reviewed calls from this very
    /// file before; none when there were none.
    pub fn protection(&self, text: Option<&str>, registered: &[&str]) -> Protection {
        let falls = |why: &str| Protection::Falls { why: why.to_owned() };
        let held = !registered.is_empty();
        let settings = match (text.map(|text| self.read_once(text)), held) {
            (Some(Ok(settings)), _) => settings,
            (Some(Err(error)), _) => return falls(&error.to_string()),
            (None, true) => return falls("the file is gone"),
            (None, false) => return Protection::NotConcerned,
        };
        if let Some(key) = (self.switched_off)(&settings) {
            return falls(&format!("it sets `{key}`"));
        }
        if let Some((name, _)) =
            text.into_iter().flat_map(self.variables).find(|(name, _)| (self.leads_guard)(name))
        {
            return falls(&format!("it sets `{name}` for the hooks"));
        }
        if !held {
            return Protection::NotConcerned;
        }
        if let Some(why) = self.dropped(&settings) {
            return falls(&format!("the client passes over the whole file: {why}"));
        }
        // No matter what a command line looks like now, it must be one that was there, and not one that says less when there is no answer.
        let known = |(command, form): &(HookCommand, Unanswered)| {
            registered
                .iter()
                .filter_map(|text| self.parse(text))
                .any(|(known, least)| known == *command && *form >= least)
        };
        if self.vital.iter().any(|event| !self.our_commands(&settings, event).iter().any(known)) {
            return falls("the hooks of the guard are no longer in it as they were");
        }
        Protection::Stands
    }

    /// The text of the settings file with our hooks registered for every event. Registering twice changes nothing; an older
    /// command line of ours is replaced.
    pub fn register(&self, text: &str, command: &HookCommand) -> Result<String, SettingsError> {
        self.read_once(text)?;
        let wanted =
            Registration::Complete { commands: vec![command.clone()], unanswered: Unanswered::Refused };
        if self.registration(text)? == wanted {
            return Ok(text.to_owned());
        }
        forms::registered(self, &self.unregister(text)?, command)
    }

    /// The text of the settings file without our hooks. What becomes empty by that goes too; a file without our hooks is left as it is.
    pub fn unregister(&self, text: &str) -> Result<String, SettingsError> {
        self.read_once(text)?;
        if !text.contains("checkrein") {
            return Ok(text.to_owned());
        }
        forms::unregistered(self, text)
    }

    /// Returns whose a file is that would be ours as a whole; a file of settings that others share is foreign.
    pub fn authorship(&self, text: &str) -> Authorship {
        forms::authorship(self, text)
    }

    /// Returns whose a file is that would call the hook for further events.
    pub fn companion_authorship(&self, text: &str) -> Authorship {
        forms::companion_authorship(text)
    }

    /// The text of a file that calls the hook for further events and has no say in what happens.
    pub fn companion(&self, command: &HookCommand) -> String {
        forms::companion(&command.text(Unanswered::Passes))
    }

    /// The same, where it can be read in one way only: clients differ in which of two values of one name they take.
    fn read_once(&self, text: &str) -> Result<Json, SettingsError> {
        let settings = self.read(text)?;
        match self.twofold(text) {
            Some(key) => Err(SettingsError::Twofold { key }),
            None => Ok(settings),
        }
    }

    /// A name that stands twice in a settings file where that decides about hooks.
    pub(crate) fn twofold(&self, text: &str) -> Option<String> {
        match self.form {
            HookForm::Whole(_) => None,
            HookForm::Groups | HookForm::Entries(_) | HookForm::Triggers => {
                let text = self.notation.plain(text);
                Pairs::of(&text)?.twofold(DECIDING).map(str::to_owned)
            }
        }
    }

    /// What a settings file says, with its hooks by event in groups, whatever the form of the file. Of two values of one name the last one.
    pub(crate) fn read(&self, text: &str) -> Result<Json, SettingsError> {
        forms::read(self, text)
    }

    /// The commands of ours that the client runs for each call of an event, and waits for.
    fn our_commands(&self, settings: &Json, event: &str) -> Vec<(HookCommand, Unanswered)> {
        let groups = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Json::as_array);
        groups
            .into_iter()
            .flatten()
            .filter(|group| self.matches_everything(group))
            .filter_map(|group| group.get("hooks").and_then(Json::as_array))
            .flatten()
            .filter(|handler| self.is_waited_for(handler))
            .filter_map(|handler| {
                let found = self.parse(handler.get("command").and_then(Json::as_str)?)?;
                self.outlasts(handler, &found.0).then_some(found)
            })
            .filter(|(_, form)| *form <= self.form_of(event))
            .collect()
    }

    /// Whether the client runs a handler every time and waits long enough for its answer: fields that this version does not know may say
    /// otherwise, as `async` and `if` do.
    fn is_waited_for(&self, handler: &Json) -> bool {
        const KNOWN: [&str; 5] = ["type", "command", "timeout", "statusMessage", "name"];
        let Some(fields) = handler.as_object() else { return false };
        fields.keys().all(|name| KNOWN.contains(&name.as_str()))
            && fields.get("type").and_then(Json::as_str) == Some("command")
            && fields.get("timeout").is_none_or(|timeout| {
                timeout.as_f64().is_some_and(|seconds| self.unit.seconds(seconds) >= SHORTEST_TIMEOUT)
            })
    }

    /// Whether the client waits longer than the hook may: after its time it lets the call run.
    fn outlasts(&self, handler: &Json, command: &HookCommand) -> bool {
        let Some(waits) = command.waits() else { return true };
        let timeout = handler.get("timeout").and_then(Json::as_f64).map(|time| self.unit.seconds(time));
        timeout.is_some_and(|seconds| seconds >= f64::from(waits) + f64::from(AFTER_WAITING))
    }

    fn matches_everything(&self, group: &Json) -> bool {
        match group.get("matcher") {
            None => true,
            Some(matcher) => matcher.as_str().is_some_and(|text| ["", "*", self.every_name].contains(&text)),
        }
    }
}

/// Whether a matcher is a list of plain names, some with any end, and none of them is this one.
fn leaves_out(matcher: &str, name: &str) -> bool {
    matcher.split('|').all(|wanted| {
        let (stem, any_end) = wanted.strip_suffix(".*").map_or((wanted, false), |stem| (stem, true));
        let is_plain = stem.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign));
        let is_meant = if any_end { name.starts_with(stem) } else { name == stem };
        is_plain && !stem.is_empty() && !is_meant
    })
}

/// The variables in `env` of a settings file, by name; all of them where one stands there twice.
pub(crate) fn variables_in_env(text: &str) -> Vec<(String, String)> {
    let settings = Pairs::of(&Notation::Comments.plain(text));
    settings.map(|settings| settings.texts_below("env")).unwrap_or_default()
}

/// What the parser says, without the place that it names at the end.
fn cause_alone(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Most clients read strict JSON and drop the whole file for anything else, so nothing else is accepted here.
pub(crate) fn parse_strict(text: &str) -> Result<Json, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    if text.starts_with('\u{feff}') {
        let cause = "it begins with a byte order mark, which is not part of JSON".to_owned();
        return Err(SettingsError::NotJson { line: 1, column: 1, cause });
    }
    let value: Json = serde_json::from_str(text).map_err(|error| SettingsError::NotJson {
        line: error.line(),
        column: error.column(),
        cause: cause_alone(&error),
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(SettingsError::WrongType { key: "(root)".to_owned(), expected: "an object" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = "{\n    \"model\":  \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n    }\n}\n";

    const LAYOUT: &HookLayout = &crate::claude::ADAPTER.hooks;

    fn command() -> HookCommand {
        LAYOUT.command("/opt/bin/checkrein-hook")
    }

    #[test]
    fn a_name_that_stands_twice_where_it_decides_about_hooks_leaves_nothing_in_force() {
        let ours = LAYOUT.register("{}", &command()).unwrap();
        let line = LAYOUT.reviewing_command(&ours).unwrap();
        let inside = ours.trim().strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        let other = "\"disableAllHooks\":false,\"disableAllHooks\":true";
        for twice in [
            format!("{{{inside},\"hooks\":{{}}}}"),
            format!("{{\"hooks\":{{}},{inside}}}"),
            format!("{{{inside},\"h\\u006foks\":{{}}}}"),
            format!("{{{inside},{other}}}"),
            ours.replace("\"matcher\": \"*\"", "\"matcher\": \"*\", \"matcher\": \"x\""),
        ] {
            assert!(serde_json::from_str::<Json>(&twice).is_ok() && twice != ours, "{twice}");
            let falls = LAYOUT.protection(Some(&twice), &[&line]);
            assert!(
                matches!(&falls, Protection::Falls { why } if why.contains("twice")),
                "{falls:?}: {twice}"
            );
            assert!(matches!(LAYOUT.registration(&twice), Err(SettingsError::Twofold { .. })), "{twice}");
            assert!(LAYOUT.register(&twice, &command()).is_err() && LAYOUT.unregister(&twice).is_err());
            assert_eq!(LAYOUT.reviewing_command(&twice), None);
            assert_eq!(LAYOUT.other_answerers(&twice).len(), 1);
        }
        // Elsewhere it is the user's own matter.
        let permitted = format!("{{{inside},\"permissions\":{{\"allow\":[],\"allow\":[]}}}}");
        assert_eq!(LAYOUT.protection(Some(&permitted), &[&line]), Protection::Stands);
        let variables = variables_in_env(r#"{"env":{"A":"1","A":"2"},"env":{"B":"3"}}"#);
        assert_eq!(variables.len(), 3, "{variables:?}");
    }

    #[test]
    fn registering_keeps_everything_else_byte_for_byte() {
        let registered = LAYOUT.register(SETTINGS, &command()).unwrap();
        assert!(registered.starts_with(
            "{\n    \"model\":  \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n"
        ));
        assert!(registered.contains(r#"{"type": "command", "command": "say done"}"#));
        assert_eq!(
            LAYOUT.registration(&registered).unwrap(),
            Registration::Complete { commands: vec![command()], unanswered: Unanswered::Refused }
        );
        assert_eq!(
            LAYOUT.register(&registered, &command()).unwrap(),
            registered,
            "registering twice changes nothing"
        );
    }

    #[test]
    fn unregistering_gives_back_the_same_settings() {
        for before in [SETTINGS, "{}\n", "{ \"model\": \"opus\" }", "{\n  \"a\": [1,2]\n}\n"] {
            let after = LAYOUT.unregister(&LAYOUT.register(before, &command()).unwrap()).unwrap();
            assert_eq!(after, before);
        }
        for client in crate::CLIENTS.iter().filter(|row| !matches!(row.hooks.form, HookForm::Whole(_))) {
            let layout = &client.hooks;
            for before in [
                "{\"x\":1}",
                "{\n\t\"x\": 1\n}",
                "{\r\n    \"x\": [\r\n    ]\r\n}\r\n",
                "{\n  \"version\": 1,\n  \"x\": 2\n}",
            ] {
                let command = layout.command("/opt/bin/checkrein-hook");
                let registered = layout.register(before, &command).unwrap();
                assert_eq!(layout.registration(&registered).unwrap().commands(), [command], "{registered}");
                assert_eq!(registered.contains('\t'), before.contains('\t'), "{registered}");
                assert_eq!(registered.matches("\r\n").count() > 4, before.contains("\r\n"), "{registered}");
                assert_eq!(layout.unregister(&registered).unwrap(), before, "{}", client.title);
            }
        }
        assert_eq!(LAYOUT.unregister(SETTINGS).unwrap(), SETTINGS, "nothing of ours, nothing changed");
    }

    #[test]
    fn comments_stay_where_the_client_takes_them() {
        let commented = "{\n  // which model\n  \"model\": \"x\", // ours\n  \"hooks\": {\n    /* none yet */\n    \"Other\": []\n  } // hooks\n}\n";
        for client in crate::CLIENTS.iter().filter(|row| row.hooks.notation == Notation::Comments) {
            let layout = &client.hooks;
            let command = layout.command("/opt/bin/checkrein-hook");
            let registered = layout.register(commented, &command).unwrap();
            for kept in ["// which model", "// ours", "/* none yet */", "} // hooks"] {
                assert!(registered.contains(kept), "{registered}");
            }
            assert_eq!(layout.registration(&registered).unwrap().commands(), std::slice::from_ref(&command));
            let line = layout.reviewing_line(&command);
            assert_eq!(layout.protection(Some(&registered), &[line.as_str()]), Protection::Stands);
            assert_eq!(layout.unregister(&registered).unwrap(), commented);
            assert!(layout.register("{\"a\": 1,}", &command).is_err(), "the client would drop the file");
        }
        assert!(LAYOUT.register(commented, &command()).is_err(), "Claude Code drops a file with comments");
    }

    #[test]
    fn an_empty_file_gets_a_whole_object() {
        let registered = LAYOUT.register("", &command()).unwrap();
        assert!(matches!(LAYOUT.registration(&registered).unwrap(), Registration::Complete { .. }));
    }

    #[test]
    fn a_moved_binary_replaces_its_old_command() {
        let old = LAYOUT.register("{}", &LAYOUT.command("/old path/checkrein-hook")).unwrap();
        assert!(old.contains("'/old path/checkrein-hook' claude"));
        let new = LAYOUT.register(&old, &command()).unwrap();
        assert_eq!(
            LAYOUT.registration(&new).unwrap(),
            Registration::Complete { commands: vec![command()], unanswered: Unanswered::Refused }
        );
    }

    #[test]
    fn a_broken_file_is_refused_with_its_place() {
        let error = LAYOUT.register("{\n  \"a\": 1,\n}", &command()).unwrap_err();
        assert!(matches!(error, SettingsError::NotJson { line: 3, .. }), "{error}");
        let error = LAYOUT.register(r#"{"hooks": []}"#, &command()).unwrap_err();
        assert_eq!(error.to_string(), "`hooks` in the settings file is not an object");
    }

    #[test]
    fn the_form_of_earlier_versions_is_replaced() {
        let old = LAYOUT.register("{}", &command()).unwrap();
        let mut value: Json = serde_json::from_str(&old).unwrap();
        for (event, _) in LAYOUT.events {
            value["hooks"][*event][0]["hooks"][0]["command"] = Json::from("/opt/bin/checkrein-hook claude");
        }
        let old = serde_json::to_string_pretty(&value).unwrap();
        let found = LAYOUT.registration(&old).unwrap();
        let passes = Registration::Complete { commands: vec![command()], unanswered: Unanswered::Passes };
        assert_eq!(found, passes);
        let stands = LAYOUT.protection(Some(&old), &["/opt/bin/checkrein-hook claude"]);
        assert_eq!(stands, Protection::Stands, "it protects as it did");
        let bare = |text: &str| serde_json::from_str::<Json>(&LAYOUT.unregister(text).unwrap()).unwrap();
        for new in [command(), LAYOUT.looked_up()] {
            let text = LAYOUT.register(&old, &new).unwrap();
            let wanted =
                Registration::Complete { commands: vec![new.clone()], unanswered: Unanswered::Refused };
            assert_eq!(LAYOUT.registration(&text).unwrap(), wanted);
            assert_eq!(bare(&text), serde_json::json!({}));
        }
        assert_eq!(bare(&old), serde_json::json!({}));
    }

    #[test]
    fn a_change_that_silences_the_hooks_is_seen() {
        let registered = LAYOUT.register(SETTINGS, &command()).unwrap();
        let before = LAYOUT.reviewing_line(&command());
        let held = [before.as_str()];
        assert_eq!(LAYOUT.protection(Some(&registered), &held), Protection::Stands);
        let off = r#"{"disableAllHooks": true}"#;
        for fallen in ["{}", "", "{ not json", off] {
            assert!(matches!(LAYOUT.protection(Some(fallen), &held), Protection::Falls { .. }), "{fallen}");
        }
        assert!(matches!(LAYOUT.protection(None, &held), Protection::Falls { .. }));
        assert_eq!(LAYOUT.protection(Some("{}"), &[]), Protection::NotConcerned);
        assert!(matches!(LAYOUT.protection(Some(off), &[]), Protection::Falls { .. }));
        for (from, to) in [
            (r#""matcher": "*""#, r#""matcher": "Read""#),
            (r#""timeout": 30"#, r#""timeout": 1"#),
            (r#""timeout": 30"#, r#""timeout": 30, "async": true"#),
            (r#""timeout": 30"#, r#""if": "Read(*)""#),
            ("exit 2;", "exit 0;"),
            (" claude)", " claude||true)"),
            ("/opt/bin/checkrein-hook", "/tmp/checkrein-hook"),
            (r#""model":"#, r#""env": {"XDG_CONFIG_HOME": "/tmp/x"}, "model":"#),
            (r#""model":"#, r#""env": {"CLAUDE_CODE_SHELL_PREFIX": "true"}, "model":"#),
            (r#""model":"#, r#""env": {"CLAUDE_CODE_SIMPLE": "1"}, "model":"#),
            (r#""model":"#, r#""env": {"DYLD_INSERT_LIBRARIES": "x"}, "model":"#),
        ] {
            let changed = registered.replace(from, to);
            assert_ne!(changed, registered, "{from}");
            let found = LAYOUT.protection(Some(&changed), &held);
            assert!(matches!(found, Protection::Falls { .. }), "{from} became {to}");
        }
        let written = Json::from(before.as_str()).to_string();
        let weaker = registered.replace(&written, r#""/opt/bin/checkrein-hook claude""#);
        assert_ne!(weaker, registered);
        assert!(
            matches!(LAYOUT.protection(Some(&weaker), &held), Protection::Falls { .. }),
            "it no longer refuses"
        );
    }
}
