//! Calls: what is called, and the functions that are handed to a call.

use crate::interpreter::Value;

use super::call_effects::UNKNOWN_MODULE;
use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::printing::calls_with_output as is_called_with_output;
use super::python_parameters;
use super::statements::known_items;
use super::value::ScriptValue;
use checkrein_scripts::Language;

impl Evaluator<'_, '_, '_> {
    /// What a function does, by its full name.
    pub(super) fn deed(&self, name: &str) -> Option<LibraryCall> {
        let find = match self.language {
            Language::Python => super::python::deed,
            Language::JavaScript => super::javascript::deed,
            Language::Perl => super::perl::deed,
            Language::Ruby => super::ruby::deed,
            Language::Php => super::php::deed,
            Language::Lua => super::lua::deed,
            Language::R => super::lua::deed_of_r,
        };
        find(name).or_else(|| self.stars.iter().find_map(|module| find(&format!("{module}.{name}"))))
    }

    /// What Python's `map` gives of the items of a list, where its function makes a value and does nothing else.
    fn mapped_values(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let [ScriptValue::Name(function), ScriptValue::List(items)] = given.positional.as_slice() else {
            return None;
        };
        let makes_value = matches!(
            self.deed(function)?,
            LibraryCall::PathOf | LibraryCall::Same | LibraryCall::Expand | LibraryCall::Parent
        );
        if !makes_value || name != "map" || self.language != Language::Python {
            return None;
        }
        let function = ScriptValue::Name(function.clone());
        let call = |item: &ScriptValue| {
            self.call_thing(&function, &Given { positional: vec![item.clone()], named: Vec::new() })
        };
        Some(ScriptValue::List(items.iter().map(call).collect()))
    }

    /// Calls what a value is.
    pub(super) fn call_thing(&mut self, thing: &ScriptValue, given: &Given) -> ScriptValue {
        let result = match thing {
            ScriptValue::Name(name) if self.language == Language::Ruby && is_send(name) => {
                let of = name.rsplit_once('.').map_or("Kernel", |(of, _)| of);
                let Some(member) = given.at(0).exact() else {
                    self.runs_unknown_code("calls a function whose name is put together while it runs");
                    return ScriptValue::Local;
                };
                let rest = given.positional.get(1..).unwrap_or_default().to_vec();
                let rest = Given { positional: rest, named: given.named.clone() };
                self.call_thing(&ScriptValue::Name(format!("{of}.{member}")), &rest)
            }
            ScriptValue::Name(name) if name.starts_with(UNKNOWN_MODULE) => {
                self.runs_unknown_code(
                    "calls a function of a module whose name is put together while it runs",
                );
                ScriptValue::Foreign
            }
            ScriptValue::Name(name) => {
                if let Some(answer) = self.call_of_function(name, given) {
                    return answer;
                }
                self.note_looked_up(name, given);
                self.note_complaint(name, given);
                if let Some(settings) = self.settings_loaded(name, given) {
                    return settings;
                }
                if let Some(made) = self.mapped_values(name, given) {
                    return made;
                }
                if let Some(deed) = self.deed(name) {
                    if self.language == Language::Python {
                        self.perform(deed, name, &python_parameters::placed(name, given))
                    } else {
                        self.perform(deed, name, given)
                    }
                } else {
                    self.not_known(name);
                    for thing in &given.positional {
                        self.machine.note_guard_looked_up(&thing.value());
                    }
                    self.may_run_given(given);
                    ScriptValue::Foreign
                }
            }
            ScriptValue::Function(place) => self.call_function_with(*place, given, None),
            ScriptValue::Class(place) => self.make_object(*place, given),
            ScriptValue::Object(_) => {
                if let Some(answer) = self.call_bound(thing, given) {
                    return answer;
                }
                self.own_method(thing, "__call__", given)
            }
            ScriptValue::Method(of, name) => self.method(of, name, given),
            ScriptValue::Network(url) => ScriptValue::Network(url.clone()),
            ScriptValue::Secret(place, _) => ScriptValue::secret(place.as_str()),
            ScriptValue::Foreign => ScriptValue::Foreign,
            ScriptValue::Text(_) if self.language == Language::Php => self.call_by_name(thing, given),
            // `&$name("text")`
            ScriptValue::Text(Value::Exact(_)) if self.language == Language::Perl => {
                self.call_by_name(thing, given)
            }
            ScriptValue::Text(_)
            | ScriptValue::Number(_)
            | ScriptValue::Truth(_)
            | ScriptValue::List(_)
            | ScriptValue::Map(_)
            | ScriptValue::Path(_)
            | ScriptValue::File(_)
            | ScriptValue::Socket(_)
            | ScriptValue::Database(_)
            | ScriptValue::Process(_)
            | ScriptValue::Local => ScriptValue::Text(Value::Unknown),
        };
        self.call_back(thing, &result, given);
        result
    }

    /// Follows functions that were given to a call.
    pub(super) fn call_back(&mut self, thing: &ScriptValue, result: &ScriptValue, given: &Given) {
        if matches!(thing, ScriptValue::Function(_) | ScriptValue::Class(_) | ScriptValue::Object(_))
            || matches!(thing, ScriptValue::Method(of, _) if matches!(**of, ScriptValue::Object(_) | ScriptValue::Class(_)))
        {
            return;
        }
        if self.hands_over(thing, given)
            || matches!(thing, ScriptValue::Name(name) if is_called_with_output(name) || name == "functools.partial")
        {
            return;
        }
        self.call_back_names(thing, given);
        let functions: Vec<usize> = given
            .positional
            .iter()
            .chain(given.named.iter().map(|(_, value)| value))
            .flat_map(ScriptValue::items)
            .filter_map(|thing| match thing {
                ScriptValue::Function(place) => Some(place),
                _ => None,
            })
            .collect();
        if functions.is_empty() {
            return;
        }
        let receiver = match thing {
            ScriptValue::Method(of, _) => of.as_ref().clone(),
            _ => ScriptValue::Local,
        };
        // `Thread(target=work, args=(path,))`, `submit(work, path)`
        if let Some(values) = handed_over(given) {
            for place in functions {
                self.call_function(place, &values);
            }
            return;
        }
        let (value, sure) = match (&receiver, result) {
            (ScriptValue::Network(url), _) | (_, ScriptValue::Network(url)) => {
                (ScriptValue::Network(url.clone()), true)
            }
            (ScriptValue::List(_) | ScriptValue::Text(Value::Glob(_)) | ScriptValue::Path(_), _) => {
                (receiver.each(), true)
            }
            (_, ScriptValue::List(_)) => (result.clone(), true),
            _ => {
                // `map(os.remove, files)`: the list is given beside the function.
                let beside = given
                    .positional
                    .iter()
                    .find(|thing| matches!(thing, ScriptValue::List(_) | ScriptValue::Text(Value::Glob(_))));
                (
                    beside.map_or(ScriptValue::Text(Value::Unknown), ScriptValue::each),
                    beside.is_some() || is_prompt(thing),
                )
            }
        };
        if let (Some(items), [place]) = (known_items(&receiver), functions.as_slice()) {
            for item in items {
                self.call_function(*place, std::slice::from_ref(item));
            }
            return;
        }
        for place in functions {
            let values =
                if matches!(result, ScriptValue::List(_)) && !matches!(receiver, ScriptValue::List(_)) {
                    vec![ScriptValue::Text(Value::Unknown), value.clone()]
                } else {
                    vec![value.clone(); 2]
                };
            if sure {
                self.call_function(place, &values);
            } else {
                self.in_doubt(|follower| follower.call_function(place, &values));
            }
        }
    }

    /// Functions of the language given to a method that calls them: `files.forEach(fs.unlinkSync)`.
    fn call_back_names(&mut self, thing: &ScriptValue, given: &Given) {
        let receiver = match thing {
            // `names.each(&method(:system))` of Ruby
            ScriptValue::Method(of, _) if self.language.has_tree() || self.language == Language::Ruby => {
                of.as_ref()
            }
            ScriptValue::Name(_) if self.language.has_tree() => &ScriptValue::Local,
            _ => return,
        };
        let all = given.positional.iter().chain(given.named.iter().map(|(_, value)| value));
        // `partial(open, "file", "w")`
        let is_mode = |thing: &ScriptValue| {
            thing.exact().is_some_and(|mode| mode.len() < 4 && mode.starts_with(['w', 'a', 'x']))
        };
        let writes = given.positional.get(2).is_some_and(is_mode);
        let names: Vec<(String, LibraryCall)> = all
            .filter_map(|thing| match thing {
                ScriptValue::Name(name) => self.deed(name).map(|deed| (name.clone(), deed)),
                _ => None,
            })
            .filter(|(_, deed)| deed.reaches_out() || *deed == LibraryCall::Open && writes)
            .collect();
        if names.is_empty() {
            return;
        }
        let beside = given
            .positional
            .iter()
            .find(|thing| matches!(thing, ScriptValue::List(_) | ScriptValue::Text(Value::Glob(_))));
        let handed = match given.named("args") {
            Some(ScriptValue::List(values)) => Some(values.clone()),
            _ => None,
        };
        let mapped = matches!(given.positional.first(), Some(ScriptValue::Name(_)))
            && matches!(thing, ScriptValue::Name(name) if self.deed(name) == Some(LibraryCall::Nothing));
        let values = match (handed, receiver, beside) {
            (Some(values), _, _) => values,
            (None, ScriptValue::List(_) | ScriptValue::Text(Value::Glob(_)) | ScriptValue::Path(_), _) => {
                vec![receiver.each()]
            }
            // Done where the list stands right behind.
            (None, _, Some(_)) if mapped => return,
            (None, _, Some(list)) => vec![list.each()],
            (None, _, None) => {
                // Behind the function and the time stands what it is given.
                let timed = matches!(thing, ScriptValue::Name(name) if matches!(name.as_str(), "setTimeout" | "setInterval"));
                let rest = given.positional.iter().skip(if timed { 2 } else { 0 });
                rest.filter(|thing| !matches!(thing, ScriptValue::Name(_))).cloned().collect()
            }
        };
        for (name, deed) in names {
            let given = Given { positional: values.clone(), named: Vec::new() };
            self.in_doubt(|follower| follower.perform(deed, &name, &given));
        }
    }
}

/// What stands behind a function that is handed over with what it is to be called with.
fn handed_over(given: &Given) -> Option<Vec<ScriptValue>> {
    if let (Some(ScriptValue::List(values)), Some(ScriptValue::Function(_))) =
        (given.named("args"), given.named("target"))
    {
        return Some(values.clone());
    }
    match given.positional.as_slice() {
        [ScriptValue::Function(_), rest @ ..]
            if !rest.is_empty()
                && rest.iter().all(|thing| matches!(thing, ScriptValue::Text(_) | ScriptValue::Path(_)))
                && rest.iter().any(|thing| thing.value() != Value::Unknown) =>
        {
            Some(rest.to_vec())
        }
        _ => None,
    }
}

/// Whether what is called calls the function that it is given, and that soon.
fn is_prompt(thing: &ScriptValue) -> bool {
    matches!(
        thing,
        ScriptValue::Name(name)
            if matches!(
                name.as_str(),
                "Promise" | "setTimeout" | "setImmediate" | "process.nextTick" | "queueMicrotask"
            )
    )
}

/// Whether a name is that of the function which calls another by its name.
fn is_send(name: &str) -> bool {
    matches!(name.rsplit('.').next(), Some("send" | "public_send" | "__send__"))
}
