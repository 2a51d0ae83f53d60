//! Variables of languages that are read as tokens, changed elsewhere than under their own name: entries of lists and maps, references of Perl
//! and PHP, values of Ruby and tables of Lua that have a second name, what a loop runs over. Sources: perlref, perlsyn "Foreach Loops", perlsub;
//! the manual of PHP, "References Explained"; Ruby 3.4, `String`, `Array`; Lua 5.4, 2.1.
//!
//! Which variable is meant is followed where one statement says it. Where none does, the value is a stray one: any variable may hold it.

use super::evaluator::Evaluator;
use super::value::ScriptValue;
use crate::interpreter::Value;
use crate::path::AbsolutePath;
use checkrein_scripts::token::{Language, Token};

/// The greatest number of stray values that are kept (ours).
const STRAYS: usize = 8;
/// The greatest number of entries that a list or map is followed with (ours).
const ENTRIES: usize = 256;

impl Evaluator<'_, '_, '_> {
    /// `list[0] = value`, `$map{name} = value`, `$reference->{name} = value`, `table.name = value`; `*name = \&function`.
    pub(super) fn assign_entry(&mut self, at: usize, sign: usize, value: &ScriptValue) {
        let Some(name) = self.tokens.word(at).map(str::to_owned) else {
            match (self.language, self.tokens.word(at + 1).map(str::to_owned)) {
                // What a name of Perl stands for as a whole.
                (Language::Perl, Some(name)) if self.tokens.is(at, "*") && at + 2 == sign => {
                    self.put(&name, value.clone());
                }
                _ => self.note_stray(value),
            }
            return;
        };
        let is_reference = self.language == Language::Perl && self.tokens.is(at + 1, "->");
        let open = at + 1 + usize::from(is_reference);
        let close = self.tokens.partner(open);
        let is_member = self.tokens.is(at + 1, ".") && self.language == Language::Lua && at + 3 == sign;
        if is_member {
            let key = self.tokens.word(at + 2).map(str::to_owned);
            return self.put_entry(&name, key, value);
        }
        if close <= open || close + 1 != sign {
            return self.note_stray(value);
        }
        let is_map = self.tokens.is(open, "{");
        let is_new = close == open + 1;
        let key = match self.tokens.list.get(open + 1) {
            Some(Token::Word(word)) if is_map && close == open + 2 && !word.starts_with('$') => {
                Some(word.clone())
            }
            _ if is_new => None,
            _ => self.expression(open + 1, close).0.exact(),
        };
        if self.language != Language::Perl {
            return self.put_entry(&name, key, value);
        }
        // `$_[0]` is what the function was given itself.
        let is_given = name == "$_" && !is_map;
        // `substr($x, 0) = value`: what is given a value is what a function names.
        let Some(plain) = name.strip_prefix(['$', '@', '%']) else { return self.note_stray(value) };
        let own = format!("{}{plain}", if is_map { '%' } else { '@' });
        // `@map{"a", "b"} = (1, 2)`
        if name.starts_with('@') && !is_reference {
            return self.put_entry(&own, None, &ScriptValue::any(&value.items()));
        }
        if !is_reference && (self.variable(&own).is_some() || self.other_names(&name).is_empty()) {
            self.put_entry(&own, key, value);
        } else {
            self.change_other_names(&name, value);
            if self.variable(&name).is_some() {
                self.put_entry(&name, key, value);
            }
        }
        if is_given {
            self.note_stray(value);
        }
    }

    /// Gives a list or map an entry under every name that it has; without a key it is a further one.
    pub(super) fn put_entry(&mut self, name: &str, key: Option<String>, value: &ScriptValue) {
        let doubtful = self.doubt > 0;
        let changed = match self.variable(name).cloned() {
            Some(ScriptValue::List(mut items)) => {
                let place = key.and_then(|key| key.parse::<usize>().ok());
                let place =
                    place.map(|place| place.saturating_sub(usize::from(self.language == Language::Lua)));
                match place.and_then(|place| items.get_mut(place)) {
                    Some(item) if doubtful => *item = item.clone().join(value),
                    Some(item) => *item = value.clone(),
                    None => items.push(value.clone()),
                }
                ScriptValue::List(items)
            }
            Some(ScriptValue::Map(entries)) => Self::with_entry(entries, key, value, doubtful),
            None | Some(ScriptValue::Local) if name.starts_with('@') => {
                ScriptValue::List(vec![value.clone()])
            }
            None | Some(ScriptValue::Local) if name.starts_with('%') => {
                Self::with_entry(Vec::new(), key, value, doubtful)
            }
            // The methods of an object of Ruby decide what that means.
            _ => return self.note_stray(value),
        };
        // Of more than are followed any may be anywhere.
        let bounded = match changed {
            ScriptValue::List(items) if items.len() > ENTRIES => {
                ScriptValue::List(vec![ScriptValue::any(&items)])
            }
            ScriptValue::Map(entries) if entries.len() > ENTRIES => {
                let values: Vec<ScriptValue> = entries.into_iter().map(|(_, value)| value).collect();
                ScriptValue::Map(vec![(String::new(), ScriptValue::any(&values))])
            }
            other => other,
        };
        self.put_under_all_names(name, bounded);
    }

    fn with_entry(
        mut entries: Vec<(String, ScriptValue)>,
        key: Option<String>,
        value: &ScriptValue,
        doubtful: bool,
    ) -> ScriptValue {
        let key = key.unwrap_or_default();
        match entries.iter_mut().find(|(known, _)| *known == key && !key.is_empty()) {
            Some((_, known)) if doubtful => *known = known.clone().join(value),
            Some((_, known)) => *known = value.clone(),
            None => entries.push((key, value.clone())),
        }
        ScriptValue::Map(entries)
    }

    /// Notes that a name stands for what another one stands for, where it is given just that: `$r = \$x`, `$r = &$x`, `b = a`.
    pub(super) fn note_reference(&mut self, name: &str, at: usize, to: usize) {
        let place = match self.language {
            Language::Perl if self.tokens.is(at, "\\") => at + 1,
            Language::Php if self.tokens.is(at, "&") => at + 1,
            Language::Perl | Language::Ruby | Language::Lua | Language::Php => at,
            Language::Python | Language::JavaScript | Language::R => return,
        };
        let Some(other) = self.tokens.word(place).map(str::to_owned) else { return };
        if self.end_of_value(place, to) != place + 1 || other == name {
            return;
        }
        let is_shared = match (self.language, self.variable(&other)) {
            // A copy of a reference is one too.
            (Language::Perl | Language::Php, _) => place > at || !self.other_names(&other).is_empty(),
            (Language::Ruby, Some(ScriptValue::Text(_) | ScriptValue::List(_) | ScriptValue::Map(_)))
            | (Language::Lua, Some(ScriptValue::List(_) | ScriptValue::Map(_))) => true,
            _ => false,
        };
        if is_shared {
            self.make_one(name, &other);
        }
    }

    /// What stands for the same as a name may have become a value: through a reference, which is not told from a new value for the name alone.
    pub(super) fn change_other_names(&mut self, name: &str, value: &ScriptValue) {
        for key in self.other_names(name) {
            let changed = match self.variables.get(&key).cloned() {
                Some(known) => changed(known, value),
                None => value.clone(),
            };
            self.variables.insert(key, changed);
        }
    }

    /// Follows the body of a loop over lists that stand by their names: what its variable has become, an entry of them may be.
    pub(super) fn change_looped(
        &mut self,
        lists: &[String],
        before: &ScriptValue,
        after: Option<&ScriptValue>,
    ) {
        let Some(after) = after.filter(|after| *after != before) else { return };
        for list in lists {
            if let Some(known) = self.variable(list).cloned() {
                self.put_under_all_names(list, changed(known, after));
            }
        }
    }

    /// The names between two places that may be those of lists.
    pub(super) fn lists_named(&self, from: usize, to: usize) -> Vec<String> {
        let words = (from..to).filter_map(|place| self.tokens.word(place));
        let lists = words.filter(|word| match self.language {
            Language::Perl => word.starts_with(['@', '$']),
            Language::Php => word.starts_with('$'),
            Language::Ruby => matches!(self.variable(word), Some(ScriptValue::List(_))),
            Language::Python | Language::JavaScript | Language::Lua | Language::R => false,
        });
        lists.map(str::to_owned).collect()
    }

    /// Follows that some variable holds a value from now on of which is not seen which one it is: where the value names a place outside that in
    /// which the code works, each may hold it.
    pub(super) fn note_stray(&mut self, value: &ScriptValue) {
        let outside: Vec<ScriptValue> =
            value.items().into_iter().filter(|item| self.is_outside(&item.value())).collect();
        for item in outside {
            if !self.strays.contains(&item) {
                if self.strays.len() == STRAYS {
                    self.not_followed(
                        "stores more places than are followed where it is not seen what holds them",
                    );
                    return;
                }
                self.strays.push(item.clone());
            }
            self.change_everything(&item);
        }
    }

    /// Each variable, entry and member that can hold a place may hold this one now.
    fn change_everything(&mut self, value: &ScriptValue) {
        let with = |known: &ScriptValue| may_hold_a_place(known).then(|| changed(known.clone(), value));
        self.variables.change_each(with);
        self.objects.iter_mut().for_each(|object| object.fields.change_each(with));
    }

    /// Whether a value names, as far as it is known, a place outside that in which the code works.
    pub(super) fn is_outside(&self, value: &Value) -> bool {
        if !value.known_start().starts_with(['/', '~', '.']) {
            return false;
        }
        let place = self.machine.world().place();
        let is_inside = |path: &AbsolutePath| {
            path != &place.workspace && path.is_within(&place.workspace) || place.is_temporary(path)
        };
        match self.machine.one_path_through(value) {
            Some(path) => !is_inside(&path),
            None => AbsolutePath::new(&value.known_start()).is_none_or(|start| !is_inside(&start)),
        }
    }
}

/// Whether a value is one in whose stead a place may stand.
fn may_hold_a_place(value: &ScriptValue) -> bool {
    matches!(
        value,
        ScriptValue::Text(_)
            | ScriptValue::Path(_)
            | ScriptValue::List(_)
            | ScriptValue::Map(_)
            | ScriptValue::Number(_)
    )
}

/// What something may have become of which an entry, or it as a whole, may be a value now.
pub(super) fn changed(known: ScriptValue, value: &ScriptValue) -> ScriptValue {
    let any = ScriptValue::any(&value.items());
    match known {
        ScriptValue::List(items) if items.is_empty() => ScriptValue::List(value.items()),
        ScriptValue::List(items) => {
            ScriptValue::List(items.into_iter().map(|item| changed(item, &any)).collect())
        }
        ScriptValue::Map(entries) => {
            ScriptValue::Map(entries.into_iter().map(|(key, known)| (key, changed(known, &any))).collect())
        }
        known => known.join(value),
    }
}
