//! Where values go: variables, members, the parts of lists and maps.

use crate::interpreter::Value;
use crate::programs::code::follower::Follower;
use crate::programs::code::thing::Thing;
use checkrein_scripts::tree::{Expression, Target};

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

impl Follower<'_, '_, '_> {
    /// Gives a target a value.
    pub(super) fn bind(&mut self, target: &Target, value: Thing, scope: Scope) {
        match target {
            Target::Name(name) => self.bind_name(name, value, scope),
            Target::Member(of, name) => self.bind_member(of, name, value),
            Target::Index(of, index) => {
                let index = self.value(index).exact();
                self.bind_index(of, index, value);
            }
            Target::List(targets) => self.bind_list(targets, &value, scope),
            Target::Map(entries) => {
                for (key, target) in entries {
                    let part = match key {
                        Some(key) => self.member(&value, key),
                        None => value.clone(),
                    };
                    // A member that is not there takes its default.
                    let part = match (target, part) {
                        (Target::Default(_, default), Thing::Method(of, _))
                            if matches!(*of, Thing::Map(_) | Thing::Local) =>
                        {
                            self.value(default)
                        }
                        (_, part) => part,
                    };
                    self.bind(target, part, scope);
                }
            }
            Target::Rest(inner) => self.bind(inner, value, scope),
            Target::Default(inner, default) => {
                let value = match value {
                    Thing::Local => self.value(default),
                    value => value,
                };
                self.bind(inner, value, scope);
            }
            Target::Nowhere => {}
        }
    }

    fn bind_list(&mut self, targets: &[Target], value: &Thing, scope: Scope) {
        let pair = pair(value);
        for (place, target) in targets.iter().enumerate() {
            let part = match (target, value) {
                (Target::Rest(_), Thing::List(items)) => {
                    let behind = targets.len().saturating_sub(place + 1);
                    let to = items.len().saturating_sub(behind).max(place.min(items.len()));
                    Thing::List(items.get(place.min(items.len())..to).unwrap_or_default().to_vec())
                }
                (_, Thing::List(items)) => items.get(place).cloned().unwrap_or(Thing::Text(Value::Unknown)),
                (_, Thing::Network(url)) => Thing::Network(url.clone()),
                (_, Thing::Foreign) => Thing::Foreign,
                _ => match &pair {
                    Some(part) => part.clone(),
                    None => Thing::Text(Value::Unknown),
                },
            };
            self.bind(target, part, scope);
        }
    }

    /// Gives a name a value.
    pub(super) fn bind_name(&mut self, name: &str, value: Thing, scope: Scope) {
        let own = scope == Scope::Own || self.is_python();
        if let Some(frame) = self.frames.last_mut()
            && own
            && !frame.shared.contains(name)
        {
            frame.own.insert(name.to_owned());
        }
        self.set(name, value);
    }

    fn bind_member(&mut self, of: &Expression, name: &str, value: Thing) {
        match self.value(of) {
            Thing::Object(place) => {
                let doubtful = self.doubt > 0;
                if let Some(object) = self.objects.get_mut(place) {
                    let value = match object.fields.remove(name) {
                        Some(known) if doubtful => known.join(&value),
                        Some(_) | None => value,
                    };
                    object.fields.insert(name.to_owned(), value);
                }
            }
            Thing::Class(place) => {
                if let Some(class) = self.classes.get_mut(place) {
                    class.fields.push((name.to_owned(), Some(value)));
                }
            }
            Thing::Name(module) if module == "module" && name == "exports" => self.exports = Some(value),
            Thing::Name(module) if module == "exports" || module == "module.exports" => {
                let known = self.exports.take().unwrap_or(Thing::Map(Vec::new()));
                self.exports = Some(match known {
                    Thing::Map(mut entries) => {
                        entries.push((name.to_owned(), value));
                        Thing::Map(entries)
                    }
                    other => other,
                });
            }
            Thing::Map(mut entries) => {
                entries.push((name.to_owned(), value));
                self.store(of, Thing::Map(entries));
            }
            _ => {}
        }
    }

    fn bind_index(&mut self, of: &Expression, index: Option<String>, value: Thing) {
        match (self.value(of), index) {
            (Thing::Map(mut entries), Some(key)) if entries.len() < ITEMS => {
                entries.push((key, value));
                self.store(of, Thing::Map(entries));
            }
            (Thing::List(mut items), index) if items.len() < ITEMS => {
                let place = index.and_then(|text| text.parse::<usize>().ok());
                match place.and_then(|place| items.get_mut(place)) {
                    Some(item) if self.doubt == 0 => *item = value,
                    Some(_) | None => items.push(value),
                }
                self.store(of, Thing::List(items));
            }
            _ => {}
        }
    }

    /// Puts a changed value back where it came from.
    pub(super) fn store(&mut self, of: &Expression, value: Thing) {
        match of {
            Expression::Name(name) => {
                self.variables.insert(name.clone(), value);
            }
            Expression::Member(object, name) if matches!(**object, Expression::Name(_)) => {
                if let Thing::Object(place) = self.value(object)
                    && let Some(object) = self.objects.get_mut(place)
                {
                    object.fields.insert(name.clone(), value);
                }
            }
            _ => {}
        }
    }

    /// Adds values to a list where it is kept, when a method is one that does; whether it was.
    pub(super) fn grows(&mut self, of: &Expression, list: &Thing, method: &str, given: &[Thing]) -> bool {
        let Thing::List(items) = list else { return false };
        let more: Vec<Thing> = match method {
            "append" | "push" | "add" | "appendleft" | "put" | "unshift" => given.to_vec(),
            "insert" => given.get(1).cloned().into_iter().collect(),
            "extend" | "update" => match given.first() {
                Some(Thing::List(items)) => items.clone(),
                Some(other) => vec![other.each()],
                None => Vec::new(),
            },
            _ => return false,
        };
        let mut items = items.clone();
        items.extend(more);
        if items.len() > ITEMS {
            items = vec![Thing::any(&items)];
        }
        self.store(of, Thing::List(items));
        true
    }
}

/// What each part of a value is that is taken apart without being a list.
fn pair(value: &Thing) -> Option<Thing> {
    match value {
        Thing::File(path) => Some(Thing::File(path.clone())),
        _ => None,
    }
}
