//! Values of settings, and what each kind of setting accepts.

use std::fmt;

use super::choice::{
    ApprovalWait, Approve, BuiltinRules, ContainedCommands, ContainedNetwork, ExportFormat, LimitPreset,
    LogLevel, Mode, Profile, ReviewMode, Sensitivity, StrategyType, Strength, Sync, TelemetryEvents,
    TwoStrikes,
};
use super::error::{ConfigErrorKind, Fault, closest};
use super::fields::Proof;
use super::yaml::{NodeValue, YamlNode};
use super::{rule_parser, tripwire_parser};
use crate::cascade_pattern::CascadePattern;
use crate::governance::{Fallback, RiskClass, Tier, Tripwire};
use crate::rule::{CustomRule, Exemption};

/// The value of one setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unset,
    Switch(bool),
    Count(u64),
    Number(f64),
    Text(String),
    List(Vec<String>),
    Rules(Vec<CustomRule>),
    Tripwires(Vec<Tripwire>),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => formatter.write_str("not set"),
            Self::Switch(value) => write!(formatter, "{value}"),
            Self::Count(value) => write!(formatter, "{value}"),
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Text(value) => formatter.write_str(value),
            Self::List(values) => write!(formatter, "[{}]", values.join(", ")),
            Self::Rules(rules) => {
                let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
                write!(formatter, "[{}]", names.join(", "))
            }
            Self::Tripwires(tripwires) => {
                let names: Vec<&str> = tripwires.iter().map(|tripwire| tripwire.name.as_str()).collect();
                write!(formatter, "[{}]", names.join(", "))
            }
        }
    }
}

/// What a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number from 0 to 1.
    Fraction,
    /// A number from 0 up.
    Amount,
    /// A whole number from this one up.
    Count(u64),
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A text.
    Text,
    /// A list of texts.
    List,
    /// A list of exemptions from rules.
    Exemptions,
    /// A list of own patterns of cascades.
    Cascades,
    /// A list of some of these words.
    Words(&'static [&'static str]),
    /// A list of rules.
    Rules,
    /// A list of tripwires.
    Tripwires,
    /// A list of own patterns.
    Patterns,
}

impl Kind {
    /// What is expected, for messages and the reference.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Fraction => "a number from 0 to 1".to_owned(),
            Self::Amount => "a number from 0 up".to_owned(),
            Self::Count(0) => "a whole number".to_owned(),
            Self::Count(least) => format!("a whole number from {least} up"),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                words.join(" or ")
            }
            Self::Text => "a text".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::Exemptions => "a list of exemptions, each `RULE KIND TARGET by PROGRAM`".to_owned(),
            Self::Cascades => "a list of phrases, each `NAME CATEGORY WEIGHT PHRASE`".to_owned(),
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("a list of {}", words.join(", "))
            }
            Self::Rules => "a list of rules".to_owned(),
            Self::Tripwires => "a list of tripwires".to_owned(),
            Self::Patterns => "a list of patterns".to_owned(),
        }
    }

    /// The value that a node of a file stands for.
    pub(crate) fn read(self, key: &str, node: &YamlNode, proof: Proof) -> Result<Value, Vec<Fault>> {
        match self {
            Self::Rules => return rule_parser::rules(node, proof).map(Value::Rules),
            Self::Tripwires => return tripwire_parser::tripwires(node, proof).map(Value::Tripwires),
            Self::Patterns => return tripwire_parser::patterns(node, proof).map(Value::Tripwires),
            Self::Switch
            | Self::Fraction
            | Self::Amount
            | Self::Count(_)
            | Self::Choice(_)
            | Self::Text
            | Self::List
            | Self::Exemptions
            | Self::Cascades
            | Self::Words(_) => {}
        }
        let wrong = |node: &YamlNode| {
            let kind = ConfigErrorKind::BadValue {
                key: key.to_owned(),
                found: node.description(),
                expected: self.expected(),
            };
            Fault::new(node.at, kind).with_optional_hint(self.hint(node))
        };
        if matches!(self, Self::List | Self::Exemptions | Self::Cascades | Self::Words(_)) {
            let NodeValue::List(items) = &node.value else {
                return Err(vec![wrong(node)]);
            };
            let mut texts = Vec::with_capacity(items.len());
            let mut faults = Vec::new();
            for item in items {
                match item.scalar().filter(|text| self.takes(text)) {
                    Some(text) => texts.push(text.to_owned()),
                    None => faults.push(wrong(item)),
                }
            }
            return if faults.is_empty() { Ok(Value::List(texts)) } else { Err(faults) };
        }
        let text = match &node.value {
            NodeValue::Plain(_) => node.scalar(),
            NodeValue::Quoted(text) => matches!(self, Self::Text | Self::Choice(_)).then_some(text.as_str()),
            NodeValue::List(_) | NodeValue::Map(_) => None,
        };
        text.and_then(|text| self.read_text(text)).ok_or_else(|| vec![wrong(node)])
    }

    /// The value that a text stands for: the content of a scalar, a variable or a flag.
    pub(crate) fn read_text(self, text: &str) -> Option<Value> {
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        match self {
            Self::Switch => match text {
                "true" | "True" | "TRUE" => Some(Value::Switch(true)),
                "false" | "False" | "FALSE" => Some(Value::Switch(false)),
                _ => None,
            },
            Self::Fraction => number().filter(|number| *number <= 1.0).map(Value::Number),
            Self::Amount => number().map(Value::Number),
            // The seeds write 100_000.
            Self::Count(least) => {
                let count = text.replace('_', "").parse::<u64>().ok()?;
                (count >= least).then_some(Value::Count(count))
            }
            Self::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::List => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Words(_) | Self::Exemptions | Self::Cascades => {
                let items: Vec<&str> =
                    text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
                let are_known = items.iter().all(|item| self.takes(item));
                are_known.then(|| Value::List(items.into_iter().map(str::to_owned).collect()))
            }
            Self::Rules | Self::Tripwires | Self::Patterns => None,
        }
    }

    /// Whether a list may have this entry.
    fn takes(self, text: &str) -> bool {
        match self {
            Self::Words(words) => words.contains(&text),
            Self::Exemptions => Exemption::parse(text).is_some(),
            Self::Cascades => CascadePattern::parse(text).is_some(),
            Self::Switch
            | Self::Fraction
            | Self::Amount
            | Self::Count(_)
            | Self::Choice(_)
            | Self::Text
            | Self::List
            | Self::Rules
            | Self::Tripwires
            | Self::Patterns => true,
        }
    }

    /// What was probably meant.
    fn hint(self, node: &YamlNode) -> Option<String> {
        let text = match &node.value {
            NodeValue::Plain(text) | NodeValue::Quoted(text) => text.as_str(),
            NodeValue::List(_) | NodeValue::Map(_) => return None,
        };
        match self {
            Self::Switch => match text.to_lowercase().as_str() {
                "yes" | "on" | "true" | "1" => Some("write `true`".to_owned()),
                "no" | "off" | "false" | "0" => Some("write `false`".to_owned()),
                _ => None,
            },
            Self::Words(words) if !words.contains(&text) => {
                let word = closest(&text.to_lowercase(), words.iter().copied())?;
                Some(format!("did you mean `{word}`?"))
            }
            Self::Choice(words) => {
                let lower = text.to_lowercase();
                let word = closest(&lower, words.iter().copied())?;
                Some(format!("did you mean `{word}`?"))
            }
            Self::Fraction => {
                let number = text.trim_end_matches('%').trim().parse::<f64>().ok()?;
                if text.ends_with('%') || number > 10.0 {
                    return (0.0..=100.0).contains(&number).then(|| format!("write `{}`", number / 100.0));
                }
                // Of ten, or in percent: which is meant is not known.
                (number > 1.0).then(|| {
                    format!(
                        "the scale ends at 1: write `{}` for {number} of 10, `{}` for {number} %",
                        number / 10.0,
                        number / 100.0
                    )
                })
            }
            Self::Count(_) | Self::Amount => {
                let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                let quoted =
                    matches!(node.value, NodeValue::Quoted(_)) && digits == text && !digits.is_empty();
                quoted.then(|| format!("write {digits} without quotes"))
            }
            Self::Exemptions => {
                Some("such as `confirm_outside_loss file_delete /home/dev/notes/*.md by rm`".to_owned())
            }
            Self::Cascades => {
                Some("such as `next_ticket scope_expansion 0.7 next ticket ... shall i`".to_owned())
            }
            Self::List | Self::Words(_) => (!text.is_empty()).then(|| format!("write `[{text}]`")),
            Self::Text | Self::Rules | Self::Tripwires | Self::Patterns => None,
        }
    }
}

/// A field of the settings that can be read and written as a [`Value`].
pub(crate) trait Field {
    fn read(&self) -> Value;
    /// Takes a value of the field's own kind; others are refused before, by [`Kind`], and leave the field alone.
    fn write(&mut self, value: Value);
}

macro_rules! field {
    ($type:ty, $variant:ident) => {
        impl Field for $type {
            fn read(&self) -> Value {
                Value::$variant(self.clone())
            }
            fn write(&mut self, value: Value) {
                if let Value::$variant(value) = value {
                    *self = value;
                }
            }
        }
    };
}

macro_rules! optional_field {
    ($type:ty, $variant:ident) => {
        impl Field for Option<$type> {
            fn read(&self) -> Value {
                self.clone().map_or(Value::Unset, Value::$variant)
            }
            fn write(&mut self, value: Value) {
                if let Value::$variant(value) = value {
                    *self = Some(value);
                }
            }
        }
    };
}

macro_rules! optional_choice_field {
    ($($type:ty),+) => {
        $(impl Field for Option<$type> {
            fn read(&self) -> Value {
                self.map_or(Value::Unset, |choice| Value::Text(choice.word().to_owned()))
            }
            fn write(&mut self, value: Value) {
                if let Value::Text(word) = value && let Some(choice) = <$type>::from_word(&word) {
                    *self = Some(choice);
                }
            }
        })+
    };
}

macro_rules! choice_field {
    ($($type:ty),+) => {
        $(impl Field for $type {
            fn read(&self) -> Value {
                Value::Text(self.word().to_owned())
            }
            fn write(&mut self, value: Value) {
                if let Value::Text(word) = value && let Some(choice) = Self::from_word(&word) {
                    *self = choice;
                }
            }
        })+
    };
}

field!(bool, Switch);
field!(u64, Count);
field!(f64, Number);
field!(Vec<String>, List);
field!(Vec<CustomRule>, Rules);
field!(Vec<Tripwire>, Tripwires);
optional_field!(u64, Count);
optional_field!(f64, Number);
optional_field!(String, Text);
optional_choice_field!(ContainedCommands, ContainedNetwork, TwoStrikes);
choice_field!(
    Mode,
    Profile,
    ReviewMode,
    BuiltinRules,
    ApprovalWait,
    Approve,
    LimitPreset,
    Sync,
    LogLevel,
    TelemetryEvents,
    ExportFormat,
    Sensitivity,
    Strength,
    StrategyType,
    Tier,
    RiskClass,
    Fallback
);
