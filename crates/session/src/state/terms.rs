//! The terms on which a user lets a stopped session go on: what it may still use up, and what of its calls needs their yes (seed 000,
//! `resume_with_limits` and `manual_intervention`).

use std::fmt;

use checkrein_protocol::{Effect, EffectKind};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The event with which they are set, right before the halt is lifted.
pub const TERMS_EVENT: &str = "checkrein.resume_terms";

/// How many kinds of calls may need a yes: more than there are.
const MOST_KINDS: usize = 64;

/// A kind of call that needs the user's yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NeedsYes {
    /// Whatever is given to a shell.
    Command,
    /// Whatever makes, changes or deletes a file.
    FileWrite,
    /// Whatever has an effect of this kind.
    Effect(EffectKind),
}

impl From<NeedsYes> for String {
    fn from(kind: NeedsYes) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for NeedsYes {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or(name)
    }
}

impl NeedsYes {
    /// The kind with this name: `command`, `file_write`, or the name of an effect.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "command" => Some(Self::Command),
            "file_write" => Some(Self::FileWrite),
            name => serde_json::from_value(Json::String(name.to_owned())).ok().map(Self::Effect),
        }
    }

    /// Whether a call is of this kind, by its effects and whether a shell gets it.
    pub fn is_met(self, effects: &[Effect], shell: Option<&str>) -> bool {
        let writes = |kind: EffectKind| {
            matches!(kind, EffectKind::FileCreate | EffectKind::FileModify | EffectKind::FileDelete)
        };
        match self {
            Self::Command => shell.is_some(),
            Self::FileWrite => effects.iter().any(|effect| writes(effect.kind)),
            Self::Effect(kind) => effects.iter().any(|effect| effect.kind == kind),
        }
    }
}

impl fmt::Display for NeedsYes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command => formatter.write_str("command"),
            Self::FileWrite => formatter.write_str("file_write"),
            Self::Effect(kind) => formatter.write_str(kind.name()),
        }
    }
}

/// What was set, each counted from the moment on at which the session went on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResumeTerms {
    /// How many calls there may be.
    pub calls: Option<u64>,
    /// How many changes of files there may be.
    pub file_operations: Option<u64>,
    /// How many tokens there may be.
    pub tokens: Option<u64>,
    /// What needs the user's yes.
    pub ask: Vec<NeedsYes>,
}

impl ResumeTerms {
    /// Whether nothing is set.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// In a few words: `25 changes of files, 50 calls; asks about command`.
    pub fn in_words(&self) -> String {
        let limits =
            [(self.file_operations, "changes of files"), (self.calls, "calls"), (self.tokens, "tokens")];
        let limits: Vec<String> =
            limits.iter().filter_map(|(limit, what)| Some(format!("{} {what}", (*limit)?))).collect();
        let asked: Vec<String> = self.ask.iter().map(ToString::to_string).collect();
        let asked = (!asked.is_empty()).then(|| format!("your yes for {}", asked.join(", ")));
        let limits = (!limits.is_empty()).then(|| format!("at most {}", limits.join(", ")));
        limits.into_iter().chain(asked).collect::<Vec<_>>().join("; ")
    }
}

/// What counts towards the limits, as a session has used it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsedUp {
    /// Calls.
    pub calls: u64,
    /// Changes of files.
    pub file_operations: u64,
    /// Tokens.
    pub tokens: u64,
}

/// The terms that hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StandingTerms {
    terms: ResumeTerms,
    /// What was used up when they were set.
    since: UsedUp,
    /// Whether the session has not gone on since.
    is_fresh: bool,
}

impl StandingTerms {
    /// What was set.
    pub fn terms(&self) -> &ResumeTerms {
        &self.terms
    }

    /// Which limit is used up, in words, once a call has made so many changes of files; `None` where something is left of all.
    pub fn reached(&self, now: UsedUp, operations: u64) -> Option<String> {
        let of = |limit: Option<u64>, used: u64, since: u64, more: u64| {
            let used = used.saturating_sub(since);
            limit.filter(|limit| used.saturating_add(more) > *limit).map(|limit| (limit, used))
        };
        let calls = of(self.terms.calls, now.calls, self.since.calls, 1)
            .map(|(limit, used)| format!("{used} of {limit} calls"));
        let changes = (operations > 0)
            .then(|| {
                of(self.terms.file_operations, now.file_operations, self.since.file_operations, operations)
            })
            .flatten()
            .map(|(limit, used)| format!("{used} of {limit} changes of files (this makes {operations})"));
        let tokens = of(self.terms.tokens, now.tokens, self.since.tokens, 1)
            .map(|(limit, used)| format!("{used} of {limit} tokens"));
        calls.or(changes).or(tokens)
    }

    /// Takes in the fields of a [`TERMS_EVENT`].
    pub(super) fn take(&mut self, fields: &Json, since: UsedUp) {
        let Ok(mut terms) = serde_json::from_value::<ResumeTerms>(fields.clone()) else { return };
        terms.ask.truncate(MOST_KINDS);
        *self = Self { terms, since, is_fresh: true };
    }

    /// A user let the session go on: by the terms that they set right before, else by none.
    pub(super) fn resumed(&mut self) {
        if self.is_fresh {
            self.is_fresh = false;
        } else {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(calls: u64, file_operations: u64, tokens: u64) -> UsedUp {
        UsedUp { calls, file_operations, tokens }
    }

    #[test]
    fn limits_count_from_the_resume_on_and_go_with_the_next_one() {
        let mut standing = StandingTerms::default();
        assert_eq!(standing.reached(used(1000, 1000, 1000), 9), None);
        standing.take(&json!({ "calls": 3, "file_operations": 2, "ask": ["command"] }), used(10, 5, 100));
        standing.resumed();
        assert_eq!(standing.reached(used(12, 5, 900_000), 2), None);
        assert_eq!(standing.reached(used(13, 5, 100), 0).unwrap(), "3 of 3 calls");
        let changes = standing.reached(used(11, 6, 100), 2).unwrap();
        assert_eq!(changes, "1 of 2 changes of files (this makes 2)");
        assert_eq!(standing.reached(used(11, 9, 100), 0), None, "what only looks is not refused for changes");
        standing.resumed();
        assert!(standing.terms().are_none());
    }

    #[test]
    fn what_needs_a_yes_is_named_as_effects_are() {
        for name in ["command", "file_write", "file_delete", "network_request"] {
            assert_eq!(NeedsYes::named(name).unwrap().to_string(), name);
        }
        assert_eq!(NeedsYes::named("everything"), None);
        assert!(NeedsYes::Command.is_met(&[], Some("ls")) && !NeedsYes::Command.is_met(&[], None));
        let terms = ResumeTerms { calls: Some(5), ask: vec![NeedsYes::FileWrite], ..ResumeTerms::default() };
        assert_eq!(terms.in_words(), "at most 5 calls; your yes for file_write");
    }
}
