//! Lists and maps that are changed in place: by methods, by assigning and taking away entries, and under every name that they have.
//!
//! Names of one list or map have the same number in the table of variables, so that branches keep what is one. An entry whose key is
//! not known has an empty one.

use super::evaluator::{Evaluator, Given};
use super::references::changed;
use super::value::ScriptValue;
use crate::interpreter::Value;
use checkrein_scripts::tree::{BindingTarget, Expression, How};

/// The greatest number of values that a list or map is followed with (ours).
const ITEMS: usize = 256;

/// What of a list or map has another name too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedPart {
    /// All of it: it stands inside another one.
    Whole,
    /// The lists and maps inside it.
    Inner,
}

/// An entry of a map; `None` when it has none of the key.
pub(super) fn entry_of(entries: &[(String, ScriptValue)], key: &str) -> Option<ScriptValue> {
    let known = entries.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    let mut others = entries.iter().filter(|(key, _)| key.is_empty()).map(|(_, value)| value);
    match (known, others.next()) {
        (known, None) => known,
        (Some(known), Some(_)) => Some(entries.iter().fold(known, |known, (_, value)| known.join(value))),
        (None, Some(_)) => Some(ScriptValue::Text(Value::Unknown)),
    }
}

/// The entries of a map, each key once.
fn each_once(entries: &[(String, ScriptValue)]) -> Vec<(String, ScriptValue)> {
    let mut all: Vec<(String, ScriptValue)> = Vec::new();
    for (key, value) in entries {
        match all.iter_mut().find(|(known, _)| known == key && !key.is_empty()) {
            Some((_, known)) => *known = value.clone(),
            None => all.push((key.clone(), value.clone())),
        }
    }
    all
}

fn key_text(key: &str) -> ScriptValue {
    if key.is_empty() { ScriptValue::Text(Value::Unknown) } else { ScriptValue::text(key) }
}

/// What a map gives as a list: its keys, its values, or both.
pub(super) fn listed(map: &ScriptValue, what: &str) -> Option<ScriptValue> {
    let ScriptValue::Map(entries) = map else { return None };
    let entries = each_once(entries);
    Some(ScriptValue::List(match what {
        "keys" => entries.iter().map(|(key, _)| key_text(key)).collect(),
        "values" => entries.into_iter().map(|(_, value)| value).collect(),
        "items" | "entries" => {
            entries.into_iter().map(|(key, value)| ScriptValue::List(vec![key_text(&key), value])).collect()
        }
        _ => return None,
    }))
}

/// What covers two maps: an entry that only one has may be there.
pub(super) fn joined(
    first: &[(String, ScriptValue)],
    second: &[(String, ScriptValue)],
) -> Vec<(String, ScriptValue)> {
    let mut all = each_once(first);
    for (key, value) in each_once(second) {
        match all.iter_mut().find(|(known, _)| *known == key && !key.is_empty()) {
            Some((_, known)) => *known = known.clone().join(&value),
            None => all.push((key, value)),
        }
    }
    all
}

/// Values of which any may stand in the place of any other: of a list that is sorted, turned round or shuffled.
pub(super) fn in_any_order(items: &[ScriptValue]) -> Vec<ScriptValue> {
    let parts: Vec<ScriptValue> = items.to_vec();
    let any = ScriptValue::any(&parts);
    vec![any; parts.len()]
}

/// What a list or map may have become of which a value was put into one inside it.
fn changed_inside(known: ScriptValue, value: &ScriptValue) -> ScriptValue {
    let inner = |item: ScriptValue| if holds_values(&item) { changed(item, value) } else { item };
    match known {
        ScriptValue::List(items) => ScriptValue::List(items.into_iter().map(inner).collect()),
        ScriptValue::Map(entries) => {
            ScriptValue::Map(entries.into_iter().map(|(key, known)| (key, inner(known))).collect())
        }
        other => other,
    }
}

/// Whether a value is a list or map, which may be changed in place.
fn holds_values(value: &ScriptValue) -> bool {
    matches!(value, ScriptValue::List(_) | ScriptValue::Map(_))
}

/// The name that an expression begins with: `outer` of `outer["a"].b`, `outer.get("a")`.
fn base_name(expression: &Expression) -> Option<&str> {
    match expression {
        Expression::Name(name) => Some(name),
        Expression::Member(of, _) | Expression::Index(of, _) => base_name(of),
        Expression::Call(callee, _) => match &**callee {
            Expression::Member(of, _) => base_name(of),
            _ => None,
        },
        _ => None,
    }
}

impl Evaluator<'_, '_, '_> {
    /// Calls a method of a map, where it is one that maps have; it may change the map where it is kept.
    pub(super) fn map_method(
        &mut self,
        of: &Expression,
        map: &ScriptValue,
        method: &str,
        given: &Given,
    ) -> Option<ScriptValue> {
        let ScriptValue::Map(entries) = map else { return None };
        // An entry of an object is called, not a method.
        if !self.is_python() {
            return None;
        }
        let key = given.at(0).exact();
        let otherwise = given.positional.get(1).cloned().unwrap_or(ScriptValue::Local);
        let found = |entries: &[(String, ScriptValue)]| match &key {
            Some(key) => entry_of(entries, key),
            None => {
                Some(ScriptValue::any(&entries.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>()))
            }
        };
        Some(match method {
            "keys" | "values" | "items" => listed(map, method)?,
            "get" => found(entries).unwrap_or(otherwise),
            "copy" => ScriptValue::Map(entries.clone()),
            "pop" => {
                let answer = found(entries).unwrap_or(otherwise);
                if let Some(key) = &key {
                    self.take_entry(of, map, key);
                }
                answer
            }
            "setdefault" => match (found(entries), &key) {
                (Some(known), _) => known,
                (None, Some(key)) => {
                    let key = key.clone();
                    self.give_entry(of, map, key, otherwise.clone());
                    otherwise
                }
                (None, None) => otherwise,
            },
            "update" => {
                let mut more: Vec<(String, ScriptValue)> = match given.positional.first() {
                    Some(ScriptValue::Map(more)) => more.clone(),
                    Some(other) => vec![(String::new(), other.each())],
                    None => Vec::new(),
                };
                more.extend(given.named.iter().cloned());
                self.merge_into(of, map, &more);
                ScriptValue::Local
            }
            "clear" if self.doubt == 0 => {
                self.store(of, ScriptValue::Map(Vec::new()));
                ScriptValue::Local
            }
            _ => return None,
        })
    }

    /// Gives a map further entries where it is kept: `Object.assign(map, more)`, `map.update(more)`.
    pub(super) fn merge_into(&mut self, of: &Expression, map: &ScriptValue, more: &[(String, ScriptValue)]) {
        let ScriptValue::Map(entries) = map else { return };
        let entries = if self.doubt > 0 {
            joined(entries, more)
        } else {
            each_once(&entries.iter().chain(more).cloned().collect::<Vec<_>>())
        };
        if entries.len() <= ITEMS {
            self.store(of, ScriptValue::Map(entries));
        }
    }

    /// Gives a map an entry where it is kept.
    pub(super) fn give_entry(&mut self, of: &Expression, map: &ScriptValue, key: String, value: ScriptValue) {
        self.merge_into(of, map, &[(key, value)]);
    }

    /// Takes an entry of a list or map away where it is kept: `del map["a"]`, `delete map.a`.
    pub(super) fn take_entry(&mut self, of: &Expression, whole: &ScriptValue, key: &str) {
        if self.doubt > 0 {
            return;
        }
        match whole {
            ScriptValue::Map(entries) => {
                let left = entries.iter().filter(|(known, _)| known != key).cloned().collect();
                self.store(of, ScriptValue::Map(left));
            }
            ScriptValue::List(items) => {
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let place = key.parse::<i64>().ok().map(|at| if at < 0 { at + length } else { at });
                let place = place.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < items.len());
                if let Some(place) = place {
                    let mut left = items.clone();
                    left.remove(place);
                    self.store(of, ScriptValue::List(left));
                }
            }
            ScriptValue::Object(place) => {
                if let Some(object) = self.objects.get_mut(*place) {
                    object.fields.remove(key);
                }
            }
            _ => {}
        }
    }

    /// `del place`, `delete place`
    pub(super) fn taken_away(&mut self, place: &Expression) {
        match place {
            Expression::Member(of, name) => {
                let whole = self.value(of);
                self.take_from_environment(&whole, name);
                self.take_entry(of, &whole, name);
            }
            Expression::Index(of, key) => {
                let whole = self.value(of);
                if let Some(key) = self.value(key).exact() {
                    self.take_from_environment(&whole, &key);
                    self.take_entry(of, &whole, &key);
                }
            }
            Expression::List(several) | Expression::Within(several) => {
                several.iter().for_each(|one| self.taken_away(one));
            }
            Expression::Name(_) => {}
            other => {
                self.value(other);
            }
        }
    }

    /// Adds values to a list where it is kept, or takes one, when a method is one that does; what it gives.
    pub(super) fn grows(
        &mut self,
        of: &Expression,
        list: &ScriptValue,
        method: &str,
        given: &[ScriptValue],
    ) -> Option<ScriptValue> {
        let ScriptValue::List(items) = list else { return None };
        let mut items = items.clone();
        given.iter().for_each(|value| self.change_nested(of, value));
        let mut answer = ScriptValue::Local;
        match method {
            "append" | "push" | "add" | "put" | "heappush" => items.extend(given.to_vec()),
            "appendleft" | "unshift" => {
                items.splice(0..0, given.to_vec());
            }
            "insert" => {
                let value = given.get(1)?.clone();
                let place = given.first().and_then(ScriptValue::exact).and_then(|place| place.parse().ok());
                items.insert(place.unwrap_or(items.len()).min(items.len()), value);
            }
            "splice" if !self.is_python() => {
                let place = given.first().and_then(ScriptValue::exact).and_then(|place| place.parse().ok());
                let place = place.unwrap_or(0).min(items.len());
                let taken = given.get(1).map_or(Some(usize::MAX), |taken| taken.exact()?.parse().ok());
                let new = given.get(2..).unwrap_or_default().to_vec();
                if let Some(taken) = taken.filter(|_| self.doubt == 0) {
                    let end = place.saturating_add(taken).min(items.len());
                    answer = ScriptValue::List(items.splice(place..end, new).collect());
                } else {
                    let any = ScriptValue::any(&new);
                    items = items.into_iter().map(|item| item.join(&any)).collect();
                }
            }
            "fill" if !self.is_python() => {
                let value = given.first()?;
                items = items.into_iter().map(|item| item.join(value)).collect();
            }
            // Afterwards any of them may stand anywhere.
            "sort" | "reverse" | "copyWithin" | "remove" | "rotate" => {
                items = in_any_order(&items);
                if !self.is_python() {
                    answer = ScriptValue::List(items.clone());
                }
            }
            "clear" if self.doubt == 0 => items.clear(),
            "pop" | "shift" | "popleft" if !items.is_empty() && (self.doubt > 0 || !given.is_empty()) => {
                answer = ScriptValue::any(&items);
                items = in_any_order(&items);
            }
            "extend" | "update" => match given.first() {
                Some(ScriptValue::List(more)) => items.extend(more.clone()),
                Some(other) => items.push(other.each()),
                None => {}
            },
            "pop" | "shift" | "popleft" if self.doubt == 0 && !items.is_empty() && given.is_empty() => {
                let place = if method == "pop" { items.len() - 1 } else { 0 };
                answer = items.remove(place);
                // What is emptied in a loop may be filled by what is not followed.
                if items.is_empty() {
                    if let Some(name) = base_name(of) {
                        self.emptied.insert(self.key_of(name));
                    }
                    return None;
                }
            }
            _ => return None,
        }
        let was_emptied = !self.emptied.is_empty()
            && base_name(of).is_some_and(|name| self.emptied.contains(&self.key_of(name)));
        if was_emptied || method == "heappush" {
            items = in_any_order(&items);
        }
        if items.len() > ITEMS {
            items = vec![ScriptValue::any(&items)];
        }
        self.store(of, ScriptValue::List(items));
        Some(answer)
    }

    /// Puts a changed list or map back where it came from, under every name that it has.
    pub(super) fn store(&mut self, of: &Expression, value: ScriptValue) {
        match of {
            Expression::Name(name) => self.put_under_all_names(name, value),
            Expression::Member(inner, name) => match self.value(inner) {
                ScriptValue::Object(place) => {
                    if let Some(object) = self.objects.get_mut(place) {
                        object.fields.insert(name.clone(), value);
                    }
                }
                map @ ScriptValue::Map(_) if !matches!(**inner, Expression::Call(_, _)) => {
                    self.give_entry(inner, &map, name.clone(), value);
                }
                _ => {}
            },
            Expression::Index(inner, key) if !matches!(**inner, Expression::Call(_, _)) => {
                let key = self.value(key).exact();
                match (self.value(inner), key) {
                    (map @ ScriptValue::Map(_), Some(key)) => self.give_entry(inner, &map, key, value),
                    (ScriptValue::List(mut items), Some(key)) => {
                        if let Some(item) = key.parse::<usize>().ok().and_then(|place| items.get_mut(place)) {
                            *item = value;
                            self.store(inner, ScriptValue::List(items));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Remembers that a list or map that has a name stands inside another one.
    pub(super) fn note_nested(&mut self, item: &Expression, value: &ScriptValue) {
        if let (Expression::Name(name), ScriptValue::List(_) | ScriptValue::Map(_)) = (item, value) {
            self.nest(name, SharedPart::Whole);
        }
    }

    fn nest(&mut self, name: &str, part: SharedPart) {
        let shared = (self.key_of(name), part);
        if self.nested.contains(&shared) {
            return;
        }
        if self.nested.len() < ITEMS {
            self.nested.push(shared);
        } else {
            self.not_followed("gives more lists several names than are followed");
        }
    }

    /// Remembers that the name of a loop stands for what is inside a list.
    pub(super) fn note_lent(&mut self, target: &BindingTarget, over: &Expression, list: &ScriptValue) {
        let ScriptValue::List(items) = list else { return };
        if items.iter().any(holds_values) {
            self.lend(target, over);
        }
    }

    /// Remembers that names stand for what is inside what an expression gives, so that what is put into them is put into that.
    fn lend(&mut self, target: &BindingTarget, from: &Expression) {
        match target {
            BindingTarget::Name(name) => {
                self.lent.insert(name.clone());
            }
            BindingTarget::List(targets) => targets.iter().for_each(|target| self.lend(target, from)),
            BindingTarget::Map(entries) => entries.iter().for_each(|(_, target)| self.lend(target, from)),
            BindingTarget::Default(inner, _) | BindingTarget::Rest(inner) => self.lend(inner, from),
            BindingTarget::Member(_, _) | BindingTarget::Index(_, _) | BindingTarget::Nowhere => {}
        }
        if let Some(name) = base_name(from).map(str::to_owned) {
            self.nest(&name, SharedPart::Inner);
        }
    }

    /// Notes that a target is given what stands inside something else: `inner = outer["a"]`, `const { a } = outer`.
    pub(super) fn note_inner(&mut self, target: &BindingTarget, given: &Expression, value: &ScriptValue) {
        if let BindingTarget::Name(name) = target {
            self.lent.remove(name);
        }
        let is_inner = match (target, given) {
            (
                BindingTarget::Name(_),
                Expression::Member(_, _) | Expression::Index(_, _) | Expression::Call(_, _),
            ) => holds_values(value),
            (BindingTarget::List(_) | BindingTarget::Map(_), _) => match value {
                ScriptValue::List(items) => items.iter().any(holds_values),
                ScriptValue::Map(entries) => entries.iter().any(|(_, value)| holds_values(value)),
                _ => false,
            },
            (_, _) => false,
        };
        if is_inner && base_name(given).is_some() {
            self.lend(target, given);
        }
    }

    /// What stands inside another list may be what a value was put into that has no name, or that of a loop.
    pub(super) fn change_nested(&mut self, of: &Expression, value: &ScriptValue) {
        let has_own_name = matches!(of, Expression::Name(name) if !self.lent.contains(name));
        if has_own_name || self.nested.is_empty() {
            return;
        }
        for (key, part) in self.nested.clone() {
            if let Some(known) = self.variables.get(&key).cloned() {
                let changed = match part {
                    SharedPart::Whole => changed(known, value),
                    SharedPart::Inner => changed_inside(known, value),
                };
                self.variables.insert(key, changed);
            }
        }
    }

    /// Notes that a name stands for the same list or map as another one, where it is given that one as it is.
    pub(super) fn note_second_name(&mut self, name: &str, how: How, value: &Expression) {
        if let (How::Plain, Expression::Name(other)) = (how, value)
            && other != name
            && matches!(self.variable(name), Some(ScriptValue::List(_) | ScriptValue::Map(_)))
        {
            self.make_one(name, other);
        }
    }
}
