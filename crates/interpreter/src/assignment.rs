//! Assignments, and what becomes of a value that is assigned to a variable.

use std::collections::BTreeMap;

use checkrein_shell::{AssignedValue, Assignment, Simple};

use super::exit::Output;
use super::machine::Machine;
use super::parameter::mapped;
use super::parameter::text::change_case;
use super::shell::{Treatment, Variable, VariableContent};
use super::sweeps::Remainder;
use super::value::Value;
use super::ways::Leaving;

/// Variables of which bash evaluates every value that they are given as an expression, unless they were unset (source: `declare -pi` of
/// bash 5.2).
const INTEGERS: &[&str] = &["BASHPID", "HISTCMD", "OPTIND", "RANDOM", "SRANDOM"];

/// The index of an element that a subscript means, counted from the end when it is below zero; `None` in front of the beginning.
pub(super) fn place_in(items: &BTreeMap<i64, Value>, number: i64) -> Option<i64> {
    if number >= 0 {
        return Some(number);
    }
    let end = items.keys().next_back()?.checked_add(1)?;
    end.checked_add(number).filter(|place| *place >= 0)
}

/// Whether a text can be the name of a variable.
pub(crate) fn is_variable_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Machine<'_> {
    /// Assigns the arrays among the operands of `declare` and its like.
    pub(super) fn declare_arrays(&mut self, simple: &Simple, words: &[Value]) {
        let program = words.first().and_then(Value::as_exact).unwrap_or_default();
        let flags: String = words
            .iter()
            .filter_map(Value::as_exact)
            .filter(|text| text.starts_with('-'))
            .collect::<Vec<_>>()
            .concat();
        let local = program == "local" || matches!(program, "declare" | "typeset") && !flags.contains('g');
        for assignment in &simple.declared_arrays {
            if local {
                let before = self.shell.variables.get(&assignment.name).cloned();
                if let Some(frame) = self.shell.locals.last_mut() {
                    frame.entry(assignment.name.clone()).or_insert(before);
                }
            }
            if flags.contains('A') && !assignment.append {
                self.assign_content(&assignment.name, VariableContent::Map(BTreeMap::new()));
            }
            if flags.contains('i') {
                self.treat(&assignment.name, Treatment::Integer);
            }
            self.assign_from(assignment);
        }
    }

    /// Carries out an assignment as written.
    pub(super) fn assign_from(&mut self, assignment: &Assignment) {
        let is_plain = matches!(assignment.value, AssignedValue::Scalar(_)) && assignment.index.is_none();
        let left = if is_plain && !self.flow.shows_commands { Remainder::Held } else { Remainder::Anything };
        let handed = std::mem::replace(&mut self.flow.sweep.handed, left);
        let outputs = self.call.substituted.len();
        let unseen = self.unseen;
        self.assign_value(assignment);
        self.note_presumed(&assignment.name, unseen);
        self.flow.sweep.handed = handed;
        if is_plain {
            self.hold_secrets(outputs);
        }
    }

    /// Remembers that the shell holds something of the secrets that substitutions of the running command gave, from the one at `outputs` on.
    pub(super) fn hold_secrets(&mut self, outputs: usize) {
        let given = self.call.substituted.get(outputs..).unwrap_or_default();
        let places = given.iter().filter_map(|output| match output {
            // What the environment holds is told by itself.
            Output::Secret(place) if place.starts_with('/') => Some(place.clone()),
            Output::Secret(_)
            | Output::Nothing
            | Output::Text(_)
            | Output::Network(_)
            | Output::Local(_)
            | Output::Setup(_)
            | Output::Unknown => None,
        });
        self.flow.settings_held.extend(places);
    }

    fn assign_value(&mut self, assignment: &Assignment) {
        let outputs = self.call.substituted.len();
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                let mut value = self.expand_assigned(word);
                if let Some(index) = &assignment.index {
                    let key = self.expand_text(index);
                    if key.known_start().starts_with('-') {
                        // In front of the first element there is none.
                        self.perhaps_gives_up_line(Leaving::Unexpected);
                    }
                    if let (true, Some(key), Some(text)) = (
                        matches!(assignment.name.as_str(), "BASH_CMDS" | "BASH_ALIASES"),
                        key.as_exact(),
                        value.as_exact(),
                    ) {
                        let (key, text) = (key.to_owned(), text.to_owned());
                        self.stands_for(&key, &text);
                    }
                    self.assign_element(&assignment.name, &key, value, assignment.append);
                    return;
                }
                if assignment.append {
                    value = self.appended(&assignment.name, &value);
                }
                if self.call.failed {
                    // What could not be expanded leaves what was there.
                    let before = self.variable(&assignment.name).unwrap_or_else(|| Value::exact(""));
                    value = value.join(&before);
                }
                self.assign(&assignment.name, value);
            }
            AssignedValue::Array(elements) => self.assign_array(assignment, elements),
        }
        let origin = self.call.substituted.get(outputs..).and_then(|new| new.first()).cloned();
        if origin.is_some()
            && let Some(variable) = self.shell.variables.get_mut(&assignment.name)
        {
            variable.origin = origin;
        }
    }

    fn assign_array(
        &mut self,
        assignment: &Assignment,
        elements: &[(Option<checkrein_shell::Word>, checkrein_shell::Word)],
    ) {
        let known = self.shell.variables.get(&assignment.name).map(|variable| variable.content.clone());
        if let Some(VariableContent::Map(mut items)) = known {
            if !assignment.append {
                items.clear();
            }
            if elements.iter().all(|(index, _)| index.is_none()) {
                // Keys and values in turn.
                let mut words = elements.iter().map(|(_, word)| self.expand_assigned(word));
                while let Some(key) = words.next() {
                    let value = words.next().unwrap_or_else(|| Value::exact(""));
                    let Some(key) = key.as_exact() else {
                        self.assign_content(&assignment.name, VariableContent::Unknown);
                        return;
                    };
                    items.insert(key.to_owned(), value);
                }
                self.assign_content(&assignment.name, VariableContent::Map(items));
                return;
            }
            for (index, word) in elements {
                let value = self.expand_assigned(word);
                let key = index.as_ref().map(|index| self.expand_text(index));
                if let Some(key) = key.as_ref().and_then(Value::as_exact) {
                    items.insert(key.to_owned(), value);
                } else {
                    self.assign_content(&assignment.name, VariableContent::Unknown);
                    return;
                }
            }
            self.assign_content(&assignment.name, VariableContent::Map(items));
            return;
        }
        let mut items = match known {
            Some(VariableContent::List(items)) if assignment.append => items,
            Some(VariableContent::Scalar(value)) if assignment.append => BTreeMap::from([(0, value)]),
            _ => BTreeMap::new(),
        };
        let mut next = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (index, word) in elements {
            if let Some(index) = index {
                let text = self.expand_text(index);
                let Some(number) =
                    text.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text))
                else {
                    self.expand_text(word);
                    self.assign_content(&assignment.name, VariableContent::Unknown);
                    return;
                };
                let Some(number) = place_in(&items, number) else {
                    self.expand_text(word);
                    self.assign_content(&assignment.name, VariableContent::Unknown);
                    return;
                };
                next = number;
                let value = self.expand_assigned(word);
                items.insert(next, value);
                next = next.saturating_add(1);
                continue;
            }
            for value in self.expand_word(word) {
                items.insert(next, value);
                next = next.saturating_add(1);
            }
        }
        if items.len() > 4096 {
            self.assign_content(&assignment.name, VariableContent::Unknown);
        } else {
            self.assign_content(&assignment.name, VariableContent::List(items));
        }
    }

    pub(super) fn assign_element(&mut self, name: &str, key: &Value, value: Value, append: bool) {
        let content = self.shell.variables.get(name).map(|variable| variable.content.clone());
        let content = match content {
            Some(VariableContent::Map(mut items)) => match key.as_exact() {
                Some(key) => {
                    let value = match items.get(key) {
                        Some(known) if append => self.longer(name, known, &value),
                        Some(_) | None => value,
                    };
                    items.insert(key.to_owned(), value);
                    VariableContent::Map(items)
                }
                None => VariableContent::Unknown,
            },
            Some(VariableContent::Unknown) => VariableContent::Unknown,
            other => {
                let mut items = match other {
                    Some(VariableContent::List(items)) => items,
                    Some(VariableContent::Scalar(value)) => BTreeMap::from([(0, value)]),
                    _ => BTreeMap::new(),
                };
                let number = key.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text));
                match number.and_then(|number| place_in(&items, number)) {
                    Some(number) if items.len() < 4096 => {
                        let value = match items.get(&number) {
                            Some(known) if append => self.longer(name, known, &value),
                            Some(_) | None => value,
                        };
                        items.insert(number, value);
                        VariableContent::List(items)
                    }
                    Some(_) | None => VariableContent::Unknown,
                }
            }
        };
        self.assign_content(name, content);
    }

    /// What `name+=value` makes of a variable: the sum of an integer, the longer text of another.
    pub(crate) fn appended(&mut self, name: &str, value: &Value) -> Value {
        let known = self.variable(name).unwrap_or_else(|| Value::exact(""));
        self.longer(name, &known, value)
    }

    /// What `+=` makes of the text that a variable or one of its elements has.
    fn longer(&self, name: &str, known: &Value, value: &Value) -> Value {
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
    pub fn assign(&mut self, name: &str, value: Value) {
        self.assign_content(name, VariableContent::Scalar(value));
    }

    /// Assigns a variable, keeping whether it is exported.
    pub(crate) fn assign_content(&mut self, name: &str, content: VariableContent) {
        let name = &self.shell.referred(name).to_owned();
        if self.points(name, &content) {
            return;
        }
        self.shell.perhaps_unset.remove(name);
        let content = self.kept_content(content);
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
            None => self.shell.exported_once_set.contains(name) || self.world.variable(name).is_some(),
        } || self.shell.options.allexport;
        let content = match (content, before.map(|variable| &variable.content)) {
            (VariableContent::Scalar(value), Some(VariableContent::List(items))) => {
                let mut items = items.clone();
                items.insert(0, value);
                VariableContent::List(items)
            }
            (content, _) => content,
        };
        let content = match content {
            VariableContent::Scalar(value) => VariableContent::Scalar(self.treated(treatment, value)),
            VariableContent::List(items) if treatment != Treatment::None => VariableContent::List(
                items.into_iter().map(|(index, value)| (index, self.treated(treatment, value))).collect(),
            ),
            VariableContent::Map(items) if treatment != Treatment::None => VariableContent::Map(
                items.into_iter().map(|(key, value)| (key, self.treated(treatment, value))).collect(),
            ),
            other => other,
        };
        if let VariableContent::Scalar(value) = &content {
            let value = value.clone();
            if name == "BASH_ARGV0" {
                self.shell.name = value.clone();
            }
            self.note_history_variable(name, &value);
        }
        let content = match content {
            // What may be assigned where nothing is followed can be anything.
            VariableContent::Scalar(_) if self.budget.scanning > 0 => VariableContent::Scalar(Value::Unknown),
            other => other,
        };
        let content = match content {
            VariableContent::Scalar(value) if self.position.unsure > 0 => {
                let known = self.variable(name).unwrap_or_else(|| Value::exact(""));
                VariableContent::Scalar(known.join(&value))
            }
            other => other,
        };
        self.shell.variables.insert(
            name.to_owned(),
            Variable { content, exported, readonly: false, origin: None, treatment },
        );
    }

    /// Leaves open what a reference stands for: the next assignment says it, unless its value says it already.
    pub(crate) fn leave_open(&mut self, name: &str) {
        let content = self.shell.variables.get(name).map(|variable| variable.content.clone());
        match content {
            None | Some(VariableContent::Unset) => {}
            Some(VariableContent::Scalar(Value::Exact(target)))
                if is_variable_name(&target) && target != name =>
            {
                self.shell.references.insert(name.to_owned(), target);
            }
            // It has the value of another variable, whichever that is by then.
            Some(
                VariableContent::Scalar(_)
                | VariableContent::List(_)
                | VariableContent::Map(_)
                | VariableContent::Unknown,
            ) => self.assign_content(name, VariableContent::Unknown),
        }
    }

    /// Whether an assignment says which variable a reference stands for, which was declared without one.
    fn points(&mut self, name: &str, content: &VariableContent) -> bool {
        let is_open = self.shell.variables.get(name).is_some_and(|variable| {
            variable.treatment == Treatment::Reference && variable.content == VariableContent::Unset
        });
        let VariableContent::Scalar(Value::Exact(target)) = content else { return false };
        let is_followed = is_open && self.budget.scanning == 0 && is_variable_name(target) && target != name;
        if is_followed {
            self.shell.references.insert(name.to_owned(), target.clone());
        }
        is_followed
    }

    /// Gives the variable of a `for` loop its value, which a reference takes as the name of what it stands for.
    pub(crate) fn assign_in_turn(&mut self, name: &str, value: Value) {
        if self.shell.references.remove(name).is_some() {
            self.treat(name, Treatment::Reference);
            if let Some(variable) = self.shell.variables.get_mut(name) {
                variable.content = VariableContent::Unset;
            }
        }
        self.assign(name, value);
        self.note_shell_variable(name);
    }

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
