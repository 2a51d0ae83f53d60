//! Functions that a program calls: those of the language and its own.

use crate::interpreter::Value;

use super::{ACTS, Act, CALLS, Follower, TIMES};
use crate::programs::text::awk::texts::{formatted, mapped};
use crate::programs::text::awk::tree::{Expression, Function};

impl Follower<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Expression]) -> Value {
        if let Some(function) = self.functions.iter().find(|function| function.name == name) {
            return self.call_own(function, arguments);
        }
        let values: Vec<Value> = match name {
            // Their last word is given a value.
            "sub" | "gsub" | "split" => Vec::new(),
            _ => arguments.iter().map(|argument| self.value(argument)).collect(),
        };
        let first = values.first().cloned().unwrap_or(Value::Unknown);
        let exact = |at: usize| values.get(at).and_then(Value::as_exact);
        match name {
            "system" => {
                self.act(Act::Run(first, None));
                Value::Unknown
            }
            "sprintf" => formatted(&values),
            "tolower" => mapped(&first, str::to_lowercase),
            "toupper" => mapped(&first, str::to_uppercase),
            "substr" => {
                let start = exact(1).and_then(|text| text.parse::<usize>().ok());
                let length = exact(2).map(|text| text.parse::<usize>().ok());
                match (start, length, values.len()) {
                    (Some(start), None, 2) => {
                        mapped(&first, |text| text.chars().skip(start.saturating_sub(1)).collect())
                    }
                    (Some(start), Some(Some(length)), _) if start > 0 => {
                        mapped(&first, |text| text.chars().skip(start - 1).take(length).collect())
                    }
                    _ => Value::Unknown,
                }
            }
            "length" => match first {
                Value::Exact(text) if !arguments.is_empty() => Value::exact(text.chars().count().to_string()),
                _ => Value::Unknown,
            },
            "sub" | "gsub" => {
                self.replace(name == "gsub", arguments);
                Value::Unknown
            }
            "split" => {
                self.split(arguments);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn call_own(&mut self, function: &Function, arguments: &[Expression]) -> Value {
        let mut values: Vec<Value> = arguments.iter().map(|argument| self.value(argument)).collect();
        if self.calls.len() >= CALLS {
            self.act(Act::Unread);
            return Value::Unknown;
        }
        if self.calls.iter().filter(|(name, _)| *name == function.name).count() >= TIMES {
            values = vec![Value::Unknown; function.parameters.len()];
        }
        let call = (function.name.clone(), values.clone());
        if self.calls.contains(&call) {
            return Value::Unknown;
        }
        let outer: Vec<(String, Option<Value>)> = function
            .parameters
            .iter()
            .map(|parameter| (parameter.clone(), self.variables.get(parameter).cloned()))
            .collect();
        for (place, parameter) in function.parameters.iter().enumerate() {
            let value = values.get(place).cloned().unwrap_or_else(|| Value::exact(""));
            self.variables.insert(parameter.clone(), value);
        }
        // An array is handed over itself, under another name.
        let handed: Vec<(&String, &String)> = arguments
            .iter()
            .zip(&function.parameters)
            .filter_map(|(argument, parameter)| match argument {
                Expression::Name(name) => Some((name, parameter)),
                _ => None,
            })
            .collect();
        let arrays = self.arrays.clone();
        for parameter in &function.parameters {
            self.arrays.remove(parameter);
        }
        for (name, parameter) in &handed {
            if let Some(array) = arrays.get(*name) {
                self.arrays.insert((*parameter).clone(), array.clone());
            }
        }
        let returned = self.returned.take();
        self.calls.push(call);
        self.statement(&function.body);
        self.calls.pop();
        let inner: Vec<_> =
            handed.iter().map(|(name, parameter)| (*name, self.arrays.remove(*parameter))).collect();
        for parameter in &function.parameters {
            match arrays.get(parameter) {
                Some(array) => self.arrays.insert(parameter.clone(), array.clone()),
                None => self.arrays.remove(parameter),
            };
        }
        for (name, array) in inner {
            if let Some(array) = array {
                self.arrays.insert(name.clone(), array);
            }
        }
        let value = std::mem::replace(&mut self.returned, returned);
        for (name, value) in outer {
            match value {
                Some(value) => self.variables.insert(name, value),
                None => self.variables.remove(&name),
            };
        }
        value.unwrap_or_else(|| Value::exact(""))
    }

    /// `sub(pattern, text, target)`
    fn replace(&mut self, everywhere: bool, arguments: &[Expression]) {
        let pattern = match arguments.first() {
            Some(Expression::Pattern(text)) => Some(text.clone()),
            Some(other) => self.value(other).as_exact().map(str::to_owned),
            None => None,
        };
        let text = arguments.get(1).map_or(Value::Unknown, |text| self.value(text));
        let whole = Expression::Field(Box::new(Expression::Text("0".to_owned())));
        let target = arguments.get(2).unwrap_or(&whole);
        let before = self.value(target);
        let is_plain = |pattern: &String| {
            !pattern.is_empty() && !pattern.contains(['\\', '.', '*', '+', '?', '[', '(', '|', '^', '$', '{'])
        };
        let after = match (pattern.filter(is_plain), text.as_exact()) {
            (Some(pattern), Some(text)) if !text.contains(['&', '\\']) => mapped(&before, |before| {
                if everywhere { before.replace(&pattern, text) } else { before.replacen(&pattern, text, 1) }
            }),
            _ => Value::Unknown,
        };
        self.assign(target, after);
    }

    /// `split(text, array, separator)`
    fn split(&mut self, arguments: &[Expression]) {
        let text = arguments.first().map_or(Value::Unknown, |text| self.value(text));
        let separator = match arguments.get(2) {
            Some(Expression::Pattern(text)) => Value::exact(text.as_str()),
            Some(other) => self.value(other),
            None => self.variables.get("FS").cloned().unwrap_or(Value::Unknown),
        };
        let Some(Expression::Name(array)) = arguments.get(1) else { return };
        let parts: Option<Vec<String>> = match (text.as_exact(), separator.as_exact()) {
            (Some(text), Some(" ")) => Some(text.split_whitespace().map(str::to_owned).collect()),
            (Some(text), Some("")) => Some(text.chars().map(String::from).collect()),
            (Some(text), Some(one)) if one.chars().count() == 1 => {
                Some(text.split(one).map(str::to_owned).collect())
            }
            _ => None,
        };
        if self.doubt == 0 {
            self.arrays.remove(array);
        }
        match parts {
            Some(parts) => {
                for (place, part) in parts.into_iter().enumerate().take(ACTS) {
                    self.set_item(array, Some((place + 1).to_string()), Value::Exact(part));
                }
            }
            None => self.set_item(array, None, Value::Unknown),
        }
    }
}
