//! Examples of rules: effects as text.
//!
//! ```text
//! $ rm -rf build => file_delete /home/dev/proj/build recursive regenerable
//! secret_read /home/dev/.ssh/id_rsa; data_upload https://drop.example external
//! history file_operations=120; file_modify /home/dev/proj/a
//! ```
//!
//! Before `=>` may stand what the agent calls: `$ command`, or the name of a tool. Then effects follow, each a kind, a
//! target (`?` when it is not known) and words: `recursive`, `possible`, a stake (`nothing`, `regenerable`,
//! `recoverable`, `unsaved`, `critical`), a reach (`local`, `known`, `external`), `severity=high`, `by=rm`. Not said:
//! certain, single, nothing at stake, severity by kind and stake. `history` with `actions=`, `file_operations=` and `related_file_operations=` says
//! what happened before.

use checkrein_facts::{History, HostPaths, intent};
use checkrein_protocol::{
    AbsolutePath, Action, Aim, Certainty, Depth, Effect, EffectKind, NetworkReach, Severity, Stake, Target,
};

use super::RuleContext;
use crate::config::Config;

/// An example of a rule: an action with its effects, in a made-up home.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What the agent wants to do.
    pub action: Action,
    /// What that would change.
    pub effects: Vec<Effect>,
    /// `/home/dev` with a workspace `/home/dev/proj` and `/tmp`.
    pub place: HostPaths,
    /// What has happened before.
    pub history: History,
}

/// An example that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the example `{text}` cannot be read: {problem}")]
pub struct ExampleError {
    /// The example.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Example {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, ExampleError> {
        let failed = |problem: String| ExampleError { text: text.to_owned(), problem };
        let place = place().ok_or_else(|| failed("the made-up home is not a path".to_owned()))?;
        let cwd = place.workspace.clone();
        let (call, effects) = match text.split_once("=>") {
            Some((call, effects)) => (Some(call.trim()), effects),
            None => (None, text),
        };
        let action = match call {
            None => Action::command("true", cwd),
            Some(call) => match call.strip_prefix('$') {
                Some(command) => Action::command(command.trim(), cwd),
                None => Action::tool_call(call, serde_json::Value::Object(serde_json::Map::new()), cwd),
            },
        };
        let mut example = Self { action, effects: Vec::new(), place, history: History::default() };
        for part in effects.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            match part.strip_prefix("history ") {
                Some(words) => read_history(&mut example.history, words).map_err(failed)?,
                None => example.effects.push(effect(part).map_err(failed)?),
            }
        }
        Ok(example)
    }

    /// The context in which rules see the example.
    pub fn context<'a>(&'a self, config: &'a Config) -> RuleContext<'a> {
        RuleContext {
            action: &self.action,
            effects: &self.effects,
            place: &self.place,
            history: &self.history,
            config,
            intent: intent(&self.action, &self.effects),
            writes_secret: false,
        }
    }
}

fn place() -> Option<HostPaths> {
    let home = AbsolutePath::new("/home/dev")?;
    Some(HostPaths {
        workspace: home.join("proj"),
        home,
        user: Some("dev".to_owned()),
        temporary: vec![AbsolutePath::new("/tmp")?],
        guarded: Vec::new(),
        expected: Vec::new(),
    })
}

fn read_history(history: &mut History, words: &str) -> Result<(), String> {
    for word in words.split_whitespace() {
        let (name, count) = word.split_once('=').ok_or_else(|| format!("`{word}` is not `name=number`"))?;
        let count = count.parse().map_err(|_| format!("`{count}` is not a number"))?;
        match name {
            "actions" => history.actions = count,
            "file_operations" => history.file_operations = count,
            "related_file_operations" => history.related_file_operations = count,
            _ => {
                return Err(format!(
                    "`{name}` is none of `actions`, `file_operations`, `related_file_operations`"
                ));
            }
        }
    }
    Ok(())
}

fn effect(text: &str) -> Result<Effect, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let kind = EffectKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("`{name}` is not a kind of effect"))?;
    let target = target(
        kind,
        words.next().ok_or_else(|| format!("`{name}` has no target; write `?` if it is not known"))?,
    );
    let mut effect = Effect { cause: "example".to_owned(), ..Effect::new(kind, target) };
    let mut severity = None;
    for word in words {
        match word {
            "recursive" => effect.depth = Depth::Recursive,
            "possible" => effect.certainty = Certainty::Possible,
            "certain" => effect.certainty = Certainty::Certain,
            "nothing" => effect.stake = Stake::Nothing,
            "regenerable" => effect.stake = Stake::Regenerable,
            "recoverable" => effect.stake = Stake::Recoverable,
            "unsaved" => effect.stake = Stake::Unsaved,
            "critical" => effect.stake = Stake::Critical,
            "local" => effect.reach = Some(NetworkReach::Local),
            "known" => effect.reach = Some(NetworkReach::Known),
            "external" => effect.reach = Some(NetworkReach::External),
            "severity=low" => severity = Some(Severity::Low),
            "severity=medium" => severity = Some(Severity::Medium),
            "severity=high" => severity = Some(Severity::High),
            "severity=critical" => severity = Some(Severity::Critical),
            word => match word.strip_prefix("by=") {
                Some(cause) => cause.clone_into(&mut effect.cause),
                None => return Err(format!("`{word}` is not a word of an effect")),
            },
        }
    }
    effect.severity = severity.unwrap_or_else(|| usual_severity(kind, effect.stake));
    effect.reversible = effect.stake < Stake::Unsaved;
    Ok(effect)
}

/// The severity of an effect about which nothing special is known.
fn usual_severity(kind: EffectKind, stake: Stake) -> Severity {
    let by_stake = match stake {
        Stake::Nothing | Stake::Regenerable => Severity::Low,
        Stake::Recoverable => Severity::Medium,
        Stake::Unsaved => Severity::High,
        Stake::Critical => Severity::Critical,
    };
    by_stake.max(kind.usual_severity())
}

fn target(kind: EffectKind, text: &str) -> Target {
    let text = text.to_owned();
    if text == "?" {
        return Target::Unknown;
    }
    if let Some(path) = AbsolutePath::new(&text) {
        return if text.contains(['*', '?', '[']) { Target::Glob(text) } else { Target::Path(path) };
    }
    match kind.aim() {
        Aim::Host => Target::Host(text),
        Aim::Process => Target::Process(text),
        Aim::Reference => Target::Reference(text),
        Aim::Files | Aim::Service => Target::Service(text),
    }
}
