//! What a condition says: whether it is decided, and what a name must be for it to hold.

use crate::interpreter::Value;
use crate::programs::code::evaluator::Evaluator;
use crate::programs::code::value::ScriptValue;
use checkrein_scripts::tree::{Argument, Expression, Joint, Operator};

/// Whether two values are the same, when that is known.
pub(super) fn equal(left: &ScriptValue, right: &ScriptValue) -> Option<bool> {
    match (left, right) {
        (ScriptValue::Number(left), ScriptValue::Number(right)) => Some(left == right),
        (ScriptValue::Truth(left), ScriptValue::Truth(right)) => Some(left == right),
        (ScriptValue::Text(Value::Exact(left)), ScriptValue::Text(Value::Exact(right))) => {
            Some(left == right)
        }
        _ => None,
    }
}

/// Whether a value counts as true, when that is known. A text is true by having letters, whatever they say.
pub(super) fn decided(thing: &ScriptValue) -> Option<bool> {
    match thing {
        ScriptValue::Truth(truth) => Some(*truth),
        ScriptValue::Number(number) => Some(*number != 0),
        ScriptValue::Text(Value::Exact(text)) => Some(!text.is_empty()),
        _ => None,
    }
}

impl Evaluator<'_, '_, '_> {
    /// Takes it that a condition holds, or does not: narrows what names are that it asks about. Whether the condition
    /// says nothing but that: then what it lets through is all that there is, as with a pattern.
    pub(super) fn suppose(&mut self, test: &Expression, holds: bool) -> bool {
        match test {
            Expression::Not(inner) => self.suppose(inner, !holds),
            Expression::Joint(Joint::And, left, right) if holds => {
                let first = self.suppose(left, true);
                self.suppose(right, true) && first
            }
            Expression::Joint(Joint::Or, left, right) if !holds => {
                let first = self.suppose(left, false);
                self.suppose(right, false) && first
            }
            Expression::Call(callee, given) if holds => self.suppose_call(callee, given),
            Expression::Binary(Operator::Equal, left, right) if holds => self.suppose_equal(left, right),
            Expression::Binary(Operator::Unequal, left, right) if !holds => self.suppose_equal(left, right),
            Expression::Binary(Operator::In, left, right) if holds => match (left.as_ref(), right.as_ref()) {
                (Expression::Name(name), Expression::List(items)) => {
                    let texts: Option<Vec<String>> = items.iter().map(exact).collect();
                    texts.is_some_and(|texts| self.narrow(name, |_| Some(Value::one_of(texts))))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// `name.endswith(".log")`, `fnmatch.fnmatch(name, "*.log")`
    fn suppose_call(&mut self, callee: &Expression, given: &[Argument]) -> bool {
        match (callee, given) {
            (Expression::Member(of, method), [only]) => {
                let (Some(name), Some(text)) = (subject(of), exact(&only.value)) else { return false };
                match method.as_str() {
                    "endswith" | "endsWith" => self.narrow(name, |value| ending(value, &text)),
                    "startswith" | "startsWith" if matches!(**of, Expression::Name(_)) => {
                        self.narrow(name, |value| beginning(value, &text))
                    }
                    "match" if self.is_python() => self.narrow(name, |value| fitting(value, &text)),
                    _ => false,
                }
            }
            (Expression::Member(_, method), [first, second]) if method.starts_with("fnmatch") => {
                match (subject(&first.value), exact(&second.value)) {
                    (Some(name), Some(pattern)) => self.narrow(name, |value| fitting(value, &pattern)),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// `name == "x"`, `path.suffix == ".log"`, `os.path.splitext(name)[1] == ".log"`
    fn suppose_equal(&mut self, left: &Expression, right: &Expression) -> bool {
        let (asked, text) = match (exact(left), exact(right)) {
            (None, Some(text)) => (left, text),
            (Some(text), None) => (right, text),
            _ => return false,
        };
        match asked {
            Expression::Name(name) => self.narrow(name, |_| Some(Value::exact(text))),
            Expression::Member(of, member) => match (subject(of), member.as_str()) {
                (Some(name), "suffix") => self.narrow(name, |value| ending(value, &text)),
                (Some(name), "name") => self.narrow(name, |value| fitting(value, &text)),
                _ => false,
            },
            Expression::Index(of, index) if matches!(**index, Expression::Number(1)) || is_last(index) => {
                argument_of(of, "splitext")
                    .is_some_and(|name| self.narrow(name, |value| ending(value, &text)))
            }
            Expression::Call(_, _) => match (argument_of(asked, "extname"), argument_of(asked, "basename")) {
                (Some(name), _) => self.narrow(name, |value| ending(value, &text)),
                (None, Some(name)) => self.narrow(name, |value| fitting(value, &text)),
                (None, None) => false,
            },
            _ => false,
        }
    }

    /// Puts a closer value in the place of one that is not known exactly; whether there is one.
    fn narrow(&mut self, name: &str, closer: impl FnOnce(&Value) -> Option<Value>) -> bool {
        let Some(known) = self.variable(name) else { return false };
        let (narrowed, is_pattern) = match known {
            ScriptValue::Text(value) if value.alternatives().is_none() => {
                (closer(value).map(ScriptValue::Text), *value != Value::Unknown)
            }
            ScriptValue::Path(value) if value.alternatives().is_none() => {
                (closer(value).map(ScriptValue::Path), *value != Value::Unknown)
            }
            _ => return false,
        };
        let Some(narrowed) = narrowed else { return false };
        self.put(name, narrowed);
        is_pattern
    }
}

/// `-1`
fn is_last(index: &Expression) -> bool {
    matches!(index, Expression::Negative(number) if matches!(**number, Expression::Number(1)))
}

/// The name that is asked about, as it is or as a text made from it.
fn subject(of: &Expression) -> Option<&str> {
    match of {
        Expression::Name(name) => Some(name),
        Expression::Member(of, member) if member == "name" => subject(of),
        Expression::Call(callee, given) => match (callee.as_ref(), given.as_slice()) {
            (Expression::Member(of, method), []) if matches!(method.as_str(), "lower" | "toLowerCase") => {
                subject(of)
            }
            (Expression::Name(function), [only]) if matches!(function.as_str(), "str" | "String") => {
                subject(&only.value)
            }
            (Expression::Member(_, function), [only]) if function == "basename" => subject(&only.value),
            _ => None,
        },
        _ => None,
    }
}

/// The name that is given to a function alone.
fn argument_of<'e>(call: &'e Expression, function: &str) -> Option<&'e str> {
    let Expression::Call(callee, given) = call else { return None };
    let fits = match callee.as_ref() {
        Expression::Member(_, name) | Expression::Name(name) => name == function,
        _ => false,
    };
    match given.as_slice() {
        [only] if fits => subject(&only.value),
        _ => None,
    }
}

fn exact(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn ending(value: &Value, end: &str) -> Option<Value> {
    if end.contains(['*', '?', '[']) || value.known_end().ends_with(end) {
        return None;
    }
    match value {
        Value::Glob(pattern) if pattern.ends_with('*') => {
            // `**` stands for directories too.
            let name = if pattern.ends_with("**") { "/*" } else { "" };
            Some(Value::Glob(format!("{pattern}{name}{end}")))
        }
        Value::Between { prefix, suffix } if end.ends_with(suffix.as_str()) => {
            Some(Value::Between { prefix: prefix.clone(), suffix: end.to_owned() })
        }
        Value::Unknown => Some(Value::Between { prefix: String::new(), suffix: end.to_owned() }),
        Value::Exact(_) | Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } => None,
    }
}

fn beginning(value: &Value, start: &str) -> Option<Value> {
    if start.contains(['*', '?', '[']) {
        return None;
    }
    match value {
        // A name in a directory that is not said: only the name is asked about.
        Value::Glob(pattern) if pattern.starts_with('*') && !pattern.starts_with("**") => {
            Some(Value::Glob(format!("{start}{pattern}")))
        }
        Value::Unknown => Some(Value::Between { prefix: start.to_owned(), suffix: String::new() }),
        Value::Exact(_) | Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } => None,
    }
}

/// The value when its last part fits a pattern.
fn fitting(value: &Value, pattern: &str) -> Option<Value> {
    if pattern.contains('/') {
        return None;
    }
    match value {
        Value::Glob(known) => match known.rsplit_once('/') {
            Some((directory, "*" | "**")) => Some(Value::Glob(format!("{directory}/{pattern}"))),
            None if known == "*" => Some(Value::Glob(pattern.to_owned())),
            Some(_) | None => None,
        },
        Value::Between { prefix, suffix } if prefix.ends_with('/') && suffix.is_empty() => {
            if pattern.contains(['*', '?', '[']) {
                Some(Value::Glob(format!("{prefix}**/{pattern}")))
            } else {
                Some(Value::Between { prefix: prefix.clone(), suffix: format!("/{pattern}") })
            }
        }
        Value::Exact(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
    }
}
