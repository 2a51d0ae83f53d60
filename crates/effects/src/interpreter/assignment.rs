//! What becomes of a value that is assigned to a variable.

use super::machine::Machine;
use super::parameter::mapped;
use super::parameter::text::change_case;
use super::shell::{Content, Treatment, Variable};
use super::value::Value;

/// Variables of which bash evaluates every value that they are given as an expression, unless they were unset (source: `declare -pi` of
/// bash 5.2).
const INTEGERS: &[&str] = &["BASHPID", "HISTCMD", "OPTIND", "RANDOM", "SRANDOM"];

impl Machine<'_> {
    /// What `name+=value` makes of a variable: the sum of an integer, the longer text of another.
    pub(crate) fn appended(&mut self, name: &str, value: &Value) -> Value {
        let known = self.variable(name).unwrap_or_else(|| Value::exact(""));
        let is_integer = (self.shell.variables.get(self.shell.referred(name)))
            .is_some_and(|variable| variable.treatment == Treatment::Integer);
        match (known.as_exact(), value.as_exact()) {
            (Some(known), Some(value)) if is_integer => {
                let known = if known.is_empty() { "0" } else { known };
                Value::Exact(format!("({known})+({value})"))
            }
            _ if is_integer => Value::Unknown,
            _ => super::expand::bounded(known.followed_by(value)),
        }
    }

    /// Assigns a plain variable.
    pub(crate) fn assign(&mut self, name: &str, value: Value) {
        self.assign_content(name, Content::Scalar(value));
    }

    /// Assigns a variable, keeping whether it is exported.
    pub(crate) fn assign_content(&mut self, name: &str, content: Content) {
        let name = &self.shell.referred(name).to_owned();
        let before = self.shell.variables.get(name);
        if before.is_some_and(|variable| variable.readonly) {
            return;
        }
        let treatment = match before {
            Some(variable) => variable.treatment,
            None if INTEGERS.contains(&name.as_str()) => Treatment::Integer,
            None => Treatment::None,
        };
        let exported = match before {
            Some(variable) => variable.exported,
            None => self.world.variable(name).is_some(),
        } || self.shell.options.allexport;
        let content = match (content, before.map(|variable| &variable.content)) {
            (Content::Scalar(value), Some(Content::List(items))) => {
                let mut items = items.clone();
                items.insert(0, value);
                Content::List(items)
            }
            (content, _) => content,
        };
        let content = match content {
            Content::Scalar(value) => Content::Scalar(self.treated(treatment, value)),
            Content::List(items) if treatment != Treatment::None => Content::List(
                items.into_iter().map(|(index, value)| (index, self.treated(treatment, value))).collect(),
            ),
            Content::Map(items) if treatment != Treatment::None => Content::Map(
                items.into_iter().map(|(key, value)| (key, self.treated(treatment, value))).collect(),
            ),
            other => other,
        };
        if let Content::Scalar(value) = &content {
            let value = value.clone();
            if name == "BASH_ARGV0" {
                self.shell.name = value.clone();
            }
            self.note_history_variable(name, &value);
        }
        let content = match content {
            // What may be assigned where nothing is followed can be anything.
            Content::Scalar(_) if self.scanning > 0 => Content::Scalar(Value::Unknown),
            other => other,
        };
        let content = match content {
            Content::Scalar(value) if self.unsure > 0 => {
                let known = self.variable(name).unwrap_or_else(|| Value::exact(""));
                Content::Scalar(known.join(&value))
            }
            other => other,
        };
        self.shell.variables.insert(
            name.to_owned(),
            Variable { content, exported, readonly: false, origin: None, treatment },
        );
    }

    /// What a variable makes of a text that is assigned to it.
    fn treated(&mut self, treatment: Treatment, value: Value) -> Value {
        match treatment {
            Treatment::None => value,
            Treatment::Upper => mapped(&value, &|text| change_case(text, true, true)),
            Treatment::Lower => mapped(&value, &|text| change_case(text, false, true)),
            Treatment::Capital => mapped(&value, &|text| change_case(&text.to_lowercase(), true, false)),
            Treatment::Reference => {
                for target in value.alternatives().unwrap_or_default().to_vec() {
                    self.evaluate_subscript(&target);
                }
                Value::Unknown
            }
            Treatment::Integer => {
                let number = value.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text));
                number.map_or(Value::Unknown, |number| Value::Exact(number.to_string()))
            }
        }
    }
}
