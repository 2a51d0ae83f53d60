//! What built-in rules ask of their context.

use checkrein_protocol::{Decision, Effect, EffectKind, NetworkReach};

use super::{Finding, RuleContext, RuleName};
use crate::scope;

impl RuleContext<'_> {
    /// The effects that satisfy a condition, as indices.
    pub(crate) fn select(&self, condition: impl Fn(&Effect) -> bool) -> Vec<usize> {
        self.effects
            .iter()
            .enumerate()
            .filter(|(_, effect)| condition(effect))
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether any effect satisfies a condition.
    pub(crate) fn any(&self, condition: impl Fn(&Effect) -> bool) -> bool {
        self.effects.iter().any(condition)
    }

    /// Whether an effect is known to lie outside the expected scope. What is no file lies nowhere.
    pub(crate) fn is_outside(&self, effect: &Effect) -> bool {
        scope::location(&effect.target).is_some_and(|path| !scope::in_scope(&path, self.place, self.config))
    }

    /// Whether an effect lies in a directory for temporary files.
    pub(crate) fn is_temporary(&self, effect: &Effect) -> bool {
        scope::location(&effect.target).is_some_and(|path| self.place.is_temporary(&path))
    }

    /// The targets of effects as a user names them, at most three of them.
    pub(crate) fn names(&self, indices: &[usize]) -> String {
        let mut names: Vec<String> = Vec::new();
        for effect in indices.iter().filter_map(|index| self.effects.get(*index)) {
            let name = match effect.target.text() {
                Some(text) => format!("`{}`", shortened(text)),
                None => "something that cannot be determined beforehand".to_owned(),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(3);
        names.truncate(3);
        match more {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    /// The targets of effects with what is special about each, in brackets: once behind all of them where it is the same.
    pub(crate) fn named(&self, indices: &[usize]) -> String {
        let effects = || indices.iter().filter_map(|index| self.effects.get(*index));
        let first = effects().map(|effect| &effect.note).find(|note| !note.is_empty());
        let is_shared = effects().all(|effect| effect.note.is_empty() || Some(&effect.note) == first);
        let one = |index: &usize| format!("{}{}", self.names(&[*index]), self.note(&[*index]));
        let mut each: Vec<String> = Vec::new();
        for index in indices {
            let name = self.names(&[*index]);
            let is_told = each.iter().any(|told| *told == name || told.starts_with(&format!("{name} (")));
            if !is_told {
                each.push(one(index));
            }
        }
        if is_shared || each.len() < 2 {
            return format!("{}{}", self.names(indices), self.note(indices));
        }
        let more = each.len().saturating_sub(3);
        each.truncate(3);
        match more {
            0 => each.join(", "),
            more => format!("{} and {more} more", each.join(", ")),
        }
    }

    /// What is special about the first of the effects, as a clause in brackets; empty when nothing is.
    pub(crate) fn note(&self, indices: &[usize]) -> String {
        let note = indices.iter().filter_map(|index| self.effects.get(*index)).map(|effect| &effect.note);
        note.filter(|note| !note.is_empty()).map(|note| format!(" ({note})")).next().unwrap_or_default()
    }
}

/// A text that fits into a sentence: at most 120 characters, without line breaks.
fn shortened(text: &str) -> String {
    let line: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(120).collect();
    if text.chars().count() > 120 { format!("{line}…") } else { line }
}

/// Whether an effect talks to a host that is neither this machine nor known for documentation, packages or code.
pub(crate) fn is_external(effect: &Effect) -> bool {
    let reaches_out = matches!(effect.kind, EffectKind::NetworkRequest | EffectKind::DataUpload);
    reaches_out
        && match effect.reach {
            Some(NetworkReach::Local | NetworkReach::Known) => false,
            Some(NetworkReach::External) | None => true,
        }
}

impl Finding {
    /// A finding of a built-in rule; `None` when it would rest on nothing.
    pub(crate) fn on(
        effects: Vec<usize>,
        rule: &'static str,
        decision: Decision,
        reason: String,
        alternatives: &[&str],
    ) -> Option<Self> {
        if effects.is_empty() {
            return None;
        }
        Some(Self {
            rule: RuleName(rule.to_owned()),
            decision,
            reason,
            alternatives: alternatives.iter().map(|text| (*text).to_owned()).collect(),
            effects,
        })
    }
}
