//! The variables at some point of the code. Branches keep what they began with: a copy shares all that nobody changes.

use std::collections::HashMap;
use std::rc::Rc;

use super::value::ScriptValue;

/// The variables at some point, by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    all: Rc<HashMap<Rc<str>, Rc<ScriptValue>>>,
}

impl Variables {
    /// No variables.
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn get(&self, name: &str) -> Option<&ScriptValue> {
        self.all.get(name).map(Rc::as_ref)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut ScriptValue> {
        // Nothing is copied for a name that is not there.
        if !self.all.contains_key(name) {
            return None;
        }
        Rc::make_mut(&mut self.all).get_mut(name).map(Rc::make_mut)
    }

    /// Gives a name a value; what it held before.
    pub(super) fn insert(&mut self, name: impl Into<Rc<str>>, value: ScriptValue) -> Option<ScriptValue> {
        let before = Rc::make_mut(&mut self.all).insert(name.into(), Rc::new(value));
        before.map(Rc::unwrap_or_clone)
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<ScriptValue> {
        if !self.all.contains_key(name) {
            return None;
        }
        Rc::make_mut(&mut self.all).remove(name).map(Rc::unwrap_or_clone)
    }

    /// Gives each variable the value that a change makes of what it holds, where it makes one.
    pub(super) fn change_each(&mut self, change: impl Fn(&ScriptValue) -> Option<ScriptValue>) {
        let changed: Vec<(Rc<str>, ScriptValue)> = self
            .all
            .iter()
            .filter_map(|(name, value)| {
                Some((Rc::clone(name), change(value).filter(|new| new != value.as_ref())?))
            })
            .collect();
        for (name, value) in changed {
            self.insert(name, value);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &ScriptValue)> {
        self.all.iter().map(|(name, value)| (name.as_ref(), value.as_ref()))
    }

    /// Joins each variable with what it holds in another way; one that only one way has is kept.
    pub(super) fn join(&mut self, other: &Self) {
        if Rc::ptr_eq(&self.all, &other.all) {
            return;
        }
        for (name, value) in other.all.iter() {
            match self.all.get(name) {
                Some(known) if Rc::ptr_eq(known, value) || known == value => {}
                Some(known) => {
                    let joined = known.as_ref().clone().join(value);
                    Rc::make_mut(&mut self.all).insert(Rc::clone(name), Rc::new(joined));
                }
                None => {
                    Rc::make_mut(&mut self.all).insert(Rc::clone(name), Rc::clone(value));
                }
            }
        }
    }
}

impl FromIterator<(String, ScriptValue)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, ScriptValue)>>(all: I) -> Self {
        let all = all.into_iter().map(|(name, value)| (name.into(), Rc::new(value))).collect();
        Self { all: Rc::new(all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_was() {
        let mut variables = Variables::new();
        variables.insert("a", ScriptValue::text("1"));
        let before = variables.clone();
        variables.insert("a", ScriptValue::text("2"));
        variables.insert("b", ScriptValue::text("3"));
        assert_eq!(before.get("a"), Some(&ScriptValue::text("1")));
        let mut joined = before.clone();
        joined.join(&variables);
        assert_eq!(joined.get("b"), Some(&ScriptValue::text("3")));
        assert_eq!(joined.get("a"), Some(&ScriptValue::text("1").join(&ScriptValue::text("2"))));
    }
}
