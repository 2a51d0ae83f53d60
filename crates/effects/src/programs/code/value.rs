//! What is known about a value in code.

use super::made::put_together;
use super::maps;
use crate::interpreter::Value;
use crate::interpreter::printed::ALL_VARIABLES;

/// What is known about a value in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptValue {
    /// A text.
    Text(Value),
    /// A whole number.
    Number(i64),
    /// True or false.
    Truth(bool),
    /// Several values in order.
    List(Vec<ScriptValue>),
    /// Values by name: a dictionary, an object, options.
    Map(Vec<(String, ScriptValue)>),
    /// Something of the language or of its modules, by its full name: `os.path`, `File`, `system`.
    Name(String),
    /// An object that stands for a path.
    Path(Value),
    /// An open file.
    File(Value),
    /// A function of the code itself, by its place in the list of functions.
    Function(usize),
    /// A class of the code itself, by its place in the list of classes.
    Class(usize),
    /// An object of such a class, or a module of the code itself, by its place in the list of objects.
    Object(usize),
    /// What came over the network: the URL.
    Network(String),
    /// A secret of the environment, or something that was made of it: the place that it is from, and what is known of the text.
    Secret(String, Value),
    /// A connection of which the other end may be known.
    Socket(Value),
    /// A database that is the file at the path.
    Database(Value),
    /// A program that runs beside the code, by its place in the list of these.
    Process(usize),
    /// A method of a value, not yet called.
    Method(Box<ScriptValue>, String),
    /// A value made by known code, of which nothing matters.
    Local,
    /// What came from code that is not known.
    Foreign,
}

impl ScriptValue {
    /// A secret of a place, of whose text nothing is known.
    pub(super) fn secret(place: impl Into<String>) -> Self {
        Self::Secret(place.into(), Value::Unknown)
    }

    /// An exact text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(Value::exact(text))
    }

    /// The value as a text.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Text(value) | Self::Path(value) | Self::File(value) | Self::Secret(_, value) => {
                value.clone()
            }
            Self::Number(number) => Value::exact(number.to_string()),
            Self::List(_)
            | Self::Truth(_)
            | Self::Map(_)
            | Self::Name(_)
            | Self::Function(_)
            | Self::Class(_)
            | Self::Object(_)
            | Self::Network(_)
            | Self::Socket(_)
            | Self::Database(_)
            | Self::Process(_)
            | Self::Method(_, _)
            | Self::Local
            | Self::Foreign => Value::Unknown,
        }
    }

    /// The exact text, when it is known.
    pub(super) fn exact(&self) -> Option<String> {
        match self {
            Self::Text(value) | Self::Path(value) => value.as_exact().map(str::to_owned),
            Self::Number(number) => Some(number.to_string()),
            Self::Truth(truth) => Some(truth.to_string()),
            Self::List(_)
            | Self::Map(_)
            | Self::Name(_)
            | Self::File(_)
            | Self::Function(_)
            | Self::Class(_)
            | Self::Object(_)
            | Self::Network(_)
            | Self::Secret(_, _)
            | Self::Socket(_)
            | Self::Database(_)
            | Self::Process(_)
            | Self::Method(_, _)
            | Self::Local
            | Self::Foreign => None,
        }
    }

    /// The values of a list, or the value itself alone.
    pub(super) fn items(&self) -> Vec<Self> {
        match self {
            Self::List(items) => items.iter().flat_map(Self::items).collect(),
            other => vec![other.clone()],
        }
    }

    /// A text followed by another.
    pub(super) fn followed_by(&self, next: &Self) -> Self {
        match (self, next) {
            (Self::Network(url), _) | (_, Self::Network(url)) => return Self::Network(url.clone()),
            (Self::Secret(place, _), _) | (_, Self::Secret(place, _)) => {
                return Self::Secret(place.clone(), put_together(&self.value(), &next.value()));
            }
            (Self::List(first), Self::List(second)) => {
                return Self::List(first.iter().chain(second).cloned().collect());
            }
            _ => {}
        }
        Self::Text(put_together(&self.value(), &next.value()))
    }

    /// A path followed by another below it; an absolute one replaces it.
    pub(super) fn below(&self, next: &Self) -> Value {
        let (base, part) = (self.value(), next.value());
        if part.known_start().starts_with('/') || base.as_exact() == Some("") {
            return part;
        }
        if base.known_end().ends_with('/') {
            put_together(&base, &part)
        } else {
            put_together(&put_together(&base, &Value::exact("/")), &part)
        }
    }

    /// What any of several values may be.
    pub(super) fn any(items: &[Self]) -> Self {
        let mut all = items.iter();
        let Some(first) = all.next() else { return Self::Local };
        all.fold(first.clone(), Self::join)
    }

    /// What covers both values.
    pub(super) fn join(self, other: &Self) -> Self {
        match (&self, other) {
            (first, second) if first == second => self,
            (Self::Text(first), Self::Text(second)) => Self::Text(first.join(second)),
            (Self::Path(first), Self::Path(second)) => Self::Path(first.join(second)),
            (Self::Number(_), Self::Text(second)) => Self::Text(self.value().join(second)),
            (Self::Text(first), Self::Number(_)) => Self::Text(first.join(&other.value())),
            (Self::Number(_), Self::Number(_)) => Self::Text(self.value().join(&other.value())),
            // Nothing yet, or something: what there is counts.
            (Self::Local, known) => known.clone(),
            (_, Self::Local) => self,
            (Self::List(first), Self::List(second)) if first.len() != second.len() => {
                let longer = if first.len() > second.len() { first } else { second };
                let shorter = if first.len() > second.len() { second } else { first };
                if longer.starts_with(shorter) {
                    return Self::List(longer.clone());
                }
                Self::List(vec![Self::any(first).join(&Self::any(second))])
            }
            (Self::List(first), Self::List(second)) if first.len() == second.len() => Self::List(
                first.iter().zip(second).map(|(first, second)| first.clone().join(second)).collect(),
            ),
            (Self::Map(first), Self::Map(second)) => Self::Map(maps::joined(first, second)),
            (Self::Network(url), _) | (_, Self::Network(url)) => Self::Network(url.clone()),
            (Self::Secret(place, first), other) | (other, Self::Secret(place, first)) => {
                Self::Secret(place.clone(), first.join(&other.value()))
            }
            (Self::Foreign, _) | (_, Self::Foreign) => Self::Foreign,
            _ => Self::Text(Value::Unknown),
        }
    }

    /// What one of the values that this holds may be, one after the other.
    pub(super) fn each(&self) -> Self {
        match self {
            Self::List(items) => Self::any(items),
            Self::Text(Value::Glob(pattern)) => Self::Text(Value::Glob(pattern.clone())),
            Self::Path(value) => Self::Path(value.clone()),
            Self::Network(url) => Self::Network(url.clone()),
            // A name and its value.
            Self::Secret(place, _) if place == ALL_VARIABLES => {
                Self::List(vec![Self::Text(Value::Unknown), self.clone()])
            }
            Self::Secret(place, _) => Self::secret(place.as_str()),
            Self::Text(value @ (Value::Between { .. } | Value::AnyOf(_))) => Self::Text(value.clone()),
            Self::Foreign => Self::Foreign,
            // What runs over processes gives processes.
            Self::Name(name) if name == "psutil.Process" => self.clone(),
            Self::Text(Value::Exact(_) | Value::Unknown)
            | Self::Number(_)
            | Self::Truth(_)
            | Self::Map(_)
            | Self::Name(_)
            | Self::File(_)
            | Self::Function(_)
            | Self::Class(_)
            | Self::Object(_)
            | Self::Socket(_)
            | Self::Database(_)
            | Self::Process(_)
            | Self::Method(_, _)
            | Self::Local => Self::Local,
        }
    }

    /// The value of a name in a map.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }
}
