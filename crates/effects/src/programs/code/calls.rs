//! Calls: what is called, and the functions that are handed to a call.

use crate::interpreter::Value;

use super::acts::UNKNOWN_MODULE;
use super::deeds::Deed;
use super::follower::{Follower, Given};
use super::statements::known_items;
use super::thing::Thing;
use checkrein_scripts::Language;

impl Follower<'_, '_, '_> {
    /// What a function does, by its full name.
    pub(super) fn deed(&self, name: &str) -> Option<Deed> {
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

    /// Calls what a value is.
    pub(super) fn call_thing(&mut self, thing: &Thing, given: &Given) -> Thing {
        let result = match thing {
            Thing::Name(name) if self.language == Language::Ruby && is_send(name) => {
                let of = name.rsplit_once('.').map_or("Kernel", |(of, _)| of);
                let Some(member) = given.at(0).exact() else {
                    self.runs_unknown_code("calls a function whose name is put together while it runs");
                    return Thing::Local;
                };
                let rest = given.positional.get(1..).unwrap_or_default().to_vec();
                let rest = Given { positional: rest, named: given.named.clone() };
                self.call_thing(&Thing::Name(format!("{of}.{member}")), &rest)
            }
            Thing::Name(name) if name.starts_with(UNKNOWN_MODULE) => {
                self.runs_unknown_code(
                    "calls a function of a module whose name is put together while it runs",
                );
                Thing::Foreign
            }
            Thing::Name(name) => {
                if let Some(deed) = self.deed(name) {
                    self.perform(deed, name, given)
                } else {
                    self.not_known(name);
                    Thing::Foreign
                }
            }
            Thing::Function(place) => self.call_function(*place, &given.positional),
            Thing::Class(place) => self.make_object(*place, given),
            Thing::Object(_) => self.own_method(thing, "__call__", given),
            Thing::Method(of, name) => self.method(of, name, given),
            Thing::Network(url) => Thing::Network(url.clone()),
            Thing::Foreign => Thing::Foreign,
            Thing::Text(_) if self.language == Language::Php => self.call_by_name(thing, given),
            Thing::Text(_)
            | Thing::Number(_)
            | Thing::Truth(_)
            | Thing::List(_)
            | Thing::Map(_)
            | Thing::Path(_)
            | Thing::File(_)
            | Thing::Socket(_)
            | Thing::Database(_)
            | Thing::Local => Thing::Text(Value::Unknown),
        };
        self.call_back(thing, &result, given);
        result
    }

    /// Follows functions that were given to a call.
    pub(super) fn call_back(&mut self, thing: &Thing, result: &Thing, given: &Given) {
        if matches!(thing, Thing::Function(_) | Thing::Class(_) | Thing::Object(_))
            || matches!(thing, Thing::Method(of, _) if matches!(**of, Thing::Object(_) | Thing::Class(_)))
        {
            return;
        }
        self.call_back_names(thing, given);
        let functions: Vec<usize> = given
            .positional
            .iter()
            .chain(given.named.iter().map(|(_, value)| value))
            .flat_map(Thing::items)
            .filter_map(|thing| match thing {
                Thing::Function(place) => Some(place),
                _ => None,
            })
            .collect();
        if functions.is_empty() {
            return;
        }
        let receiver = match thing {
            Thing::Method(of, _) => of.as_ref().clone(),
            _ => Thing::Local,
        };
        // `Thread(target=work, args=(path,))`, `submit(work, path)`
        if let Some(values) = handed_over(given) {
            for place in functions {
                self.call_function(place, &values);
            }
            return;
        }
        let (value, sure) = match (&receiver, result) {
            (Thing::Network(url), _) | (_, Thing::Network(url)) => (Thing::Network(url.clone()), true),
            (Thing::List(_) | Thing::Text(Value::Glob(_)) | Thing::Path(_), _) => (receiver.each(), true),
            (_, Thing::List(_)) => (result.clone(), true),
            _ => {
                // `map(os.remove, files)`: the list is given beside the function.
                let beside = given
                    .positional
                    .iter()
                    .find(|thing| matches!(thing, Thing::List(_) | Thing::Text(Value::Glob(_))));
                (
                    beside.map_or(Thing::Text(Value::Unknown), Thing::each),
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
            let values = if matches!(result, Thing::List(_)) && !matches!(receiver, Thing::List(_)) {
                vec![Thing::Text(Value::Unknown), value.clone()]
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
    fn call_back_names(&mut self, thing: &Thing, given: &Given) {
        let receiver = match thing {
            Thing::Method(of, _) if self.language.has_tree() => of.as_ref(),
            Thing::Name(_) if self.language.has_tree() => &Thing::Local,
            _ => return,
        };
        let all = given.positional.iter().chain(given.named.iter().map(|(_, value)| value));
        let names: Vec<(String, Deed)> = all
            .filter_map(|thing| match thing {
                Thing::Name(name) => self.deed(name).map(|deed| (name.clone(), deed)),
                _ => None,
            })
            .filter(|(_, deed)| deed.reaches_out())
            .collect();
        if names.is_empty() {
            return;
        }
        let beside = given
            .positional
            .iter()
            .find(|thing| matches!(thing, Thing::List(_) | Thing::Text(Value::Glob(_))));
        let handed = match given.named("args") {
            Some(Thing::List(values)) => Some(values.clone()),
            _ => None,
        };
        let mapped = matches!(thing, Thing::Name(name) if self.deed(name) == Some(Deed::Nothing));
        let values = match (handed, receiver, beside) {
            (Some(values), _, _) => values,
            (None, Thing::List(_) | Thing::Text(Value::Glob(_)) | Thing::Path(_), _) => vec![receiver.each()],
            // Done where the list stands right behind.
            (None, _, Some(_)) if mapped => return,
            (None, _, Some(list)) => vec![list.each()],
            (None, _, None) => {
                let rest = given.positional.iter().filter(|thing| !matches!(thing, Thing::Name(_)));
                rest.cloned().collect()
            }
        };
        for (name, deed) in names {
            let given = Given { positional: values.clone(), named: Vec::new() };
            self.in_doubt(|follower| follower.perform(deed, &name, &given));
        }
    }
}

/// What stands behind a function that is handed over with what it is to be called with.
fn handed_over(given: &Given) -> Option<Vec<Thing>> {
    if let (Some(Thing::List(values)), Some(Thing::Function(_))) =
        (given.named("args"), given.named("target"))
    {
        return Some(values.clone());
    }
    match given.positional.as_slice() {
        [Thing::Function(_), rest @ ..]
            if !rest.is_empty()
                && rest.iter().all(|thing| matches!(thing, Thing::Text(_) | Thing::Path(_)))
                && rest.iter().any(|thing| thing.value() != Value::Unknown) =>
        {
            Some(rest.to_vec())
        }
        _ => None,
    }
}

/// Whether what is called calls the function that it is given, and that soon.
fn is_prompt(thing: &Thing) -> bool {
    matches!(
        thing,
        Thing::Name(name)
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
