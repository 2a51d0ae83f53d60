//! Where values go: variables, members, the parts of lists and maps.

use crate::interpreter::Value;
use crate::programs::code::evaluator::Evaluator;
use crate::programs::code::maps::in_any_order;
use crate::programs::code::value::ScriptValue;
use checkrein_scripts::tree::{BindingTarget, Expression};

/// The greatest number of values that a list is followed with (ours).
const ITEMS: usize = 256;

/// Whose name is given a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// That of the function, or of the code outside all functions.
    Own,
    /// That which is there already.
    There,
}

impl Evaluator<'_, '_, '_> {
    /// Gives a target a value.
    pub(super) fn bind(&mut self, target: &BindingTarget, value: ScriptValue, scope: Scope) {
        match target {
            // `environ |= {...}` of a name that stands for the environment.
            BindingTarget::Name(name)
                if is_rest_with_entries(&value) && Self::is_environment(&self.lookup(name)) =>
            {
                self.add_to_environment(&value);
            }
            BindingTarget::Name(name) => self.bind_name(name, value, scope),
            BindingTarget::Member(of, name) => self.bind_member(of, name, value),
            BindingTarget::Index(of, index) => {
                let index = self.value(index).exact();
                self.bind_index(of, index, value);
            }
            BindingTarget::List(targets) => self.bind_list(targets, &value, scope),
            BindingTarget::Map(entries) => {
                for (key, target) in entries {
                    let part = match key {
                        Some(key) => self.member(&value, key),
                        None => value.clone(),
                    };
                    // A member that is not there takes its default.
                    let part = match (target, part) {
                        (BindingTarget::Default(_, default), ScriptValue::Method(of, _))
                            if matches!(*of, ScriptValue::Map(_) | ScriptValue::Local) =>
                        {
                            self.value(default)
                        }
                        (_, part) => part,
                    };
                    self.bind(target, part, scope);
                }
            }
            BindingTarget::Rest(inner) => self.bind(inner, value, scope),
            BindingTarget::Default(inner, default) => {
                let value = match value {
                    ScriptValue::Local => self.value(default),
                    // Whether it is there is not known.
                    ScriptValue::Text(Value::Unknown) => {
                        let otherwise = self.in_doubt(|follower| follower.value(default));
                        otherwise.join(&ScriptValue::Text(Value::Unknown))
                    }
                    ScriptValue::Method(of, name) if matches!(*of, ScriptValue::Text(Value::Unknown)) => {
                        self.in_doubt(|follower| follower.value(default));
                        ScriptValue::Method(of, name)
                    }
                    value => value,
                };
                self.bind(inner, value, scope);
            }
            BindingTarget::Nowhere => {}
        }
    }

    fn bind_list(&mut self, targets: &[BindingTarget], value: &ScriptValue, scope: Scope) {
        let pair = pair(value);
        for (place, target) in targets.iter().enumerate() {
            let part = match (target, value) {
                (BindingTarget::Rest(_), ScriptValue::List(items)) => {
                    let behind = targets.len().saturating_sub(place + 1);
                    let to = items.len().saturating_sub(behind).max(place.min(items.len()));
                    ScriptValue::List(items.get(place.min(items.len())..to).unwrap_or_default().to_vec())
                }
                (_, ScriptValue::List(items)) => {
                    items.get(place).cloned().unwrap_or(ScriptValue::Text(Value::Unknown))
                }
                (_, ScriptValue::Network(url)) => ScriptValue::Network(url.clone()),
                (_, ScriptValue::Foreign) => ScriptValue::Foreign,
                _ => match &pair {
                    Some(part) => part.clone(),
                    None => ScriptValue::Text(Value::Unknown),
                },
            };
            self.bind(target, part, scope);
        }
    }

    /// Gives a name a value.
    pub(super) fn bind_name(&mut self, name: &str, value: ScriptValue, scope: Scope) {
        match scope {
            Scope::Own => self.declare(name, value),
            Scope::There if self.is_python() => self.declare_widely(name, value),
            Scope::There => self.put(name, value),
        }
    }

    pub(super) fn bind_member(&mut self, of: &Expression, name: &str, value: ScriptValue) {
        self.change_nested(of, &value);
        match self.value(of) {
            ScriptValue::Object(place) => {
                let doubtful = self.doubt > 0;
                if let Some(object) = self.objects.get_mut(place) {
                    let value = match object.fields.remove(name) {
                        Some(known) if doubtful => known.join(&value),
                        Some(_) | None => value,
                    };
                    object.fields.insert(name.to_owned(), value);
                }
            }
            ScriptValue::Class(place) => {
                if let Some(class) = self.classes.get_mut(place) {
                    class.fields.push((name.to_owned(), Some(value)));
                }
            }
            ScriptValue::Name(all)
                if matches!(
                    all.as_str(),
                    "globalThis" | "global" | "window" | "builtins" | "__builtins__" | "__main__"
                ) =>
            {
                self.put_in_module(name, value);
            }
            environment if Self::is_environment(&environment) => self.set_environment(name, &value),
            ScriptValue::Name(module)
                if module == "os"
                    && matches!(name, "environ" | "environb")
                    && is_rest_with_entries(&value) =>
            {
                self.add_to_environment(&value);
            }
            ScriptValue::Name(module) if module == "process" && name == "env" => {
                self.replace_environment(&value);
            }
            ScriptValue::Name(module) if module == "module" && name == "exports" => {
                self.exports = Some(value);
            }
            ScriptValue::Name(module) if module == "exports" || module == "module.exports" => {
                let known = self.exports.take().unwrap_or(ScriptValue::Map(Vec::new()));
                self.exports = Some(match known {
                    ScriptValue::Map(mut entries) => {
                        entries.push((name.to_owned(), value));
                        ScriptValue::Map(entries)
                    }
                    other => other,
                });
            }
            map @ ScriptValue::Map(_) => {
                self.give_entry(of, &map, name.to_owned(), value.clone());
                // The object is one that has another name outside.
                if matches!(of, Expression::Name(own) if own == "this") {
                    self.change_entries_named(name, &value);
                }
            }
            ScriptValue::List(mut items) if name == "length" && !self.is_python() => {
                let length = value.exact().and_then(|text| text.parse::<usize>().ok());
                if let Some(length) = length.filter(|length| *length < items.len()) {
                    if self.doubt == 0 {
                        items.truncate(length);
                    } else {
                        items = in_any_order(&items);
                    }
                    self.store(of, ScriptValue::List(items));
                }
            }
            // The object is the one whose function this is, which is not seen.
            _ if matches!(of, Expression::Name(own) if own == "this") => {
                self.change_entries_named(name, &value);
            }
            _ => {}
        }
    }

    pub(super) fn bind_index(&mut self, of: &Expression, index: Option<String>, value: ScriptValue) {
        self.change_nested(of, &value);
        match (self.value(of), index) {
            (ScriptValue::Name(all), Some(name))
                if matches!(
                    all.as_str(),
                    "globals" | "locals" | "globalThis" | "global" | "window" | "__main__.__dict__"
                ) =>
            {
                self.put_in_module(&name, value);
            }
            (environment, Some(name)) if Self::is_environment(&environment) => {
                self.set_environment(&name, &value);
            }
            (map @ ScriptValue::Map(_), key) => {
                self.give_entry(of, &map, key.unwrap_or_default(), value);
            }
            (ScriptValue::List(mut items), index) if items.len() < ITEMS => {
                let length = items.len();
                let number = index.filter(|text| text.parse::<i64>().is_ok());
                let is_anywhere = number.is_none();
                let place = number.and_then(|text| match text.strip_prefix('-') {
                    Some(behind) => length.checked_sub(behind.parse().ok()?),
                    None => text.parse::<usize>().ok(),
                });
                // A part of a list, or a place that is not known.
                if is_anywhere {
                    let any = ScriptValue::any(&value.items());
                    items = items.into_iter().map(|item| item.join(&any)).collect();
                }
                match place.and_then(|place| items.get_mut(place)) {
                    Some(item) if self.doubt == 0 => *item = value,
                    Some(item) => *item = item.clone().join(&value),
                    None => items.push(value),
                }
                self.store(of, ScriptValue::List(items));
            }
            // What the function was given.
            (ScriptValue::Name(given), _) if given == "arguments" && !self.is_python() => {
                self.note_stray(&value);
            }
            _ => {}
        }
    }
}

/// Whether a value is a map with entries that have no name, as the environment has.
fn is_rest_with_entries(value: &ScriptValue) -> bool {
    matches!(value, ScriptValue::Map(entries) if entries.iter().any(|(name, _)| name.is_empty()))
}

/// What each part of a value is that is taken apart without being a list.
fn pair(value: &ScriptValue) -> Option<ScriptValue> {
    match value {
        ScriptValue::File(path) => Some(ScriptValue::File(path.clone())),
        _ => None,
    }
}
