//! Whose a name is: the scopes of functions and blocks, one around the other, as they stand in the text of the code. A function keeps the
//! scope in which it was defined, also when something else calls it.
//!
//! The variables of all scopes are one table, so that branches are joined as a whole: a name that belongs to an inner scope has the
//! number of the scope in its key.

use std::collections::{HashMap, HashSet};

use crate::programs::code::evaluator::Evaluator;
use crate::programs::code::value::ScriptValue;
use checkrein_scripts::Language;

/// What a scope belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::programs::code) enum ScopeSort {
    /// A file of code.
    Module,
    /// A call of a function.
    Function,
    /// A call of a function that sees no names around it, as those of Ruby and PHP.
    Closed,
    /// A class, whose names its methods do not see.
    Class,
    /// A block, or a turn of a loop.
    Block,
    /// A comprehension, which has its targets to itself.
    Comprehension,
}

/// Whose a name is that a scope declares as that of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// That of the file.
    Module,
    /// That of a function around.
    Around,
}

/// A scope.
#[derive(Debug, Clone)]
pub(in crate::programs::code) struct Scope {
    sort: ScopeSort,
    /// Its number in keys, which no other one has; none in those of the first file.
    number: usize,
    /// The place of the scope around it; none around a file.
    around: Option<usize>,
    own: HashSet<String>,
    elsewhere: HashMap<String, Owner>,
    /// Whether a function was defined in it, which may be called when it is left.
    is_kept: bool,
    /// What names of the file held before they were made local to it, as `local` of Perl does.
    held: Vec<(String, Option<ScriptValue>)>,
}

/// The scopes of the code.
#[derive(Debug, Clone)]
pub(in crate::programs::code) struct Scopes {
    all: Vec<Scope>,
    /// The place of the present one.
    present: usize,
    made: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        let module = Scope::new(ScopeSort::Module, 0, None);
        Self { all: vec![module], present: 0, made: 0 }
    }
}

impl Scope {
    fn new(sort: ScopeSort, number: usize, around: Option<usize>) -> Self {
        Self {
            sort,
            number,
            around,
            own: HashSet::new(),
            elsewhere: HashMap::new(),
            is_kept: false,
            held: Vec::new(),
        }
    }

    fn key(&self, name: &str) -> String {
        if self.number == 0 { name.to_owned() } else { format!("{name}\u{0}{}", self.number) }
    }
}

impl Scopes {
    /// The present scope, kept from now on for a function that is defined in it.
    pub(in crate::programs::code) fn keep(&mut self) -> usize {
        self.keep_from(self.present)
    }

    fn keep_from(&mut self, place: usize) -> usize {
        let mut at = Some(place);
        while let Some(scope) = at.and_then(|at| self.all.get_mut(at)) {
            if scope.is_kept {
                break;
            }
            scope.is_kept = true;
            at = scope.around;
        }
        place
    }

    /// As [`Scopes::keep`], for a method: it sees the names around its class.
    pub(in crate::programs::code) fn keep_for_method(&mut self) -> usize {
        let around = self.all.get(self.present).filter(|scope| scope.sort == ScopeSort::Class);
        self.keep_from(around.and_then(|scope| scope.around).unwrap_or(self.present))
    }

    /// The nearest scope of a sort, from the present one outward.
    fn nearest(&self, fits: impl Fn(ScopeSort) -> bool) -> Option<usize> {
        let mut at = Some(self.present);
        while let Some(place) = at {
            let scope = self.all.get(place)?;
            if fits(scope.sort) {
                return Some(place);
            }
            at = scope.around;
        }
        None
    }

    /// The scope of the present file.
    fn module(&self) -> usize {
        self.nearest(|sort| sort == ScopeSort::Module).unwrap_or(0)
    }

    /// The scope that takes what a function declares.
    fn function(&self) -> usize {
        self.nearest(|sort| {
            matches!(sort, ScopeSort::Module | ScopeSort::Function | ScopeSort::Closed | ScopeSort::Class)
        })
        .unwrap_or(0)
    }

    /// The scope to which a name belongs; `None` where no scope has it.
    fn owner(&self, name: &str, language: Language) -> Option<usize> {
        self.owner_from(self.present, name, language)
    }

    /// As [`Scopes::owner`], seen from another scope.
    fn owner_from(&self, place: usize, name: &str, language: Language) -> Option<usize> {
        let mut at = place;
        loop {
            let scope = self.all.get(at)?;
            match scope.elsewhere.get(name) {
                Some(Owner::Module) => {
                    let mut place = at;
                    while let Some(around) = self.all.get(place).and_then(|scope| scope.around) {
                        place = around;
                    }
                    return Some(place);
                }
                None if scope.own.contains(name) => return Some(at),
                Some(Owner::Around) | None => {}
            }
            if scope.sort == ScopeSort::Closed {
                return is_global(name, language).then_some(0);
            }
            at = scope.around?;
        }
    }

    fn key(&self, place: usize, name: &str) -> String {
        self.all.get(place).map_or_else(|| name.to_owned(), |scope| scope.key(name))
    }
}

/// What a key begins with under which the number of a list or map stands that has several names.
const ONE: char = '\u{1}';

fn one_key(key: &str) -> String {
    format!("{ONE}{key}")
}

/// Whether a name means the same everywhere: `$name` and constants of Ruby, what PHP has for itself.
fn is_global(name: &str, language: Language) -> bool {
    match language {
        Language::Ruby => name.starts_with(|c: char| c == '$' || c == '@' || c.is_ascii_uppercase()),
        Language::Php => !name.starts_with('$') || name.starts_with("$_") || name == "$GLOBALS",
        Language::Python | Language::JavaScript | Language::Perl | Language::Lua | Language::R => false,
    }
}

impl Evaluator<'_, '_, '_> {
    /// What a name holds at the present point.
    pub(in crate::programs::code) fn variable(&self, name: &str) -> Option<&ScriptValue> {
        match self.scopes.owner(name, self.language) {
            Some(place) => self.variables.get(&self.scopes.key(place, name)),
            // What no scope has is a name of the whole code.
            None if self.is_apart() => None,
            None => self.variables.get(name),
        }
    }

    /// As [`Evaluator::variable`], to be changed where it is.
    pub(in crate::programs::code) fn variable_mut(&mut self, name: &str) -> Option<&mut ScriptValue> {
        match self.scopes.owner(name, self.language) {
            Some(place) => self.variables.get_mut(&self.scopes.key(place, name)),
            None if self.is_apart() => None,
            None => self.variables.get_mut(name),
        }
    }

    /// Whether a scope of the code has a name, though it may hold nothing yet.
    pub(in crate::programs::code) fn is_declared(&self, name: &str) -> bool {
        self.scopes.owner(name, self.language).is_some()
    }

    /// Whether the present point sees nothing of the first file: in a closed function, or in another module.
    fn is_apart(&self) -> bool {
        match self.language {
            Language::Python => self.scopes.module() != 0,
            Language::JavaScript | Language::Perl | Language::Lua | Language::R => false,
            Language::Ruby | Language::Php => self.scopes.nearest(|sort| sort == ScopeSort::Closed).is_some(),
        }
    }

    /// Gives a name a value where it is; one that is nowhere becomes what the language makes of it.
    pub(in crate::programs::code) fn put(&mut self, name: &str, value: ScriptValue) {
        self.bound.insert(name.to_owned());
        let place = self.scopes.owner(name, self.language).unwrap_or_else(|| match self.language {
            Language::JavaScript | Language::Perl | Language::Lua => 0,
            Language::Ruby | Language::Php if is_global(name, self.language) => 0,
            Language::Ruby => self.scopes.present,
            Language::Python | Language::Php | Language::R => self.scopes.function(),
        });
        self.put_in_scope(place, name, value);
    }

    /// Gives a name of the present scope a value; whatever has the name around it keeps its own.
    pub(in crate::programs::code) fn declare(&mut self, name: &str, value: ScriptValue) {
        self.bound.insert(name.to_owned());
        let present = self.scopes.present;
        let is_elsewhere =
            self.scopes.all.get(present).is_some_and(|scope| scope.elsewhere.contains_key(name));
        if is_elsewhere {
            return self.put(name, value);
        }
        self.put_in_scope(present, name, value);
    }

    /// As [`Evaluator::declare`], of the function or file around the present block.
    pub(in crate::programs::code) fn declare_widely(&mut self, name: &str, value: ScriptValue) {
        self.bound.insert(name.to_owned());
        let place = self.scopes.function();
        let is_elsewhere = self.scopes.all.get(place).is_some_and(|scope| scope.elsewhere.contains_key(name));
        if is_elsewhere {
            return self.put(name, value);
        }
        self.put_in_scope(place, name, value);
    }

    /// Gives a name of the file a value.
    pub(in crate::programs::code) fn put_in_module(&mut self, name: &str, value: ScriptValue) {
        self.bound.insert(name.to_owned());
        let place = self.scopes.module();
        self.put_in_scope(place, name, value);
    }

    /// The key of a name in the table of variables.
    pub(in crate::programs::code) fn key_of(&self, name: &str) -> String {
        match self.scopes.owner(name, self.language) {
            Some(place) => self.scopes.key(place, name),
            None => name.to_owned(),
        }
    }

    /// Makes two names those of one list or map.
    pub(in crate::programs::code) fn make_one(&mut self, name: &str, other: &str) {
        let (key, other) = (self.key_of(name), self.key_of(other));
        self.make_keys_one(&key, &other);
    }

    /// As [`Evaluator::make_one`], by the keys of the names.
    pub(in crate::programs::code) fn make_keys_one(&mut self, key: &str, other: &str) {
        self.scopes.made += 1;
        let made = i64::try_from(self.scopes.made).unwrap_or(i64::MAX);
        let known = self.variables.get(&one_key(other)).cloned();
        let number = known.unwrap_or(ScriptValue::Number(made));
        self.variables.insert(one_key(other), number.clone());
        self.variables.insert(one_key(key), number);
    }

    /// Gives all names of one list or map what it has become.
    pub(in crate::programs::code) fn put_under_all_names(&mut self, name: &str, value: ScriptValue) {
        let others = self.other_names(name);
        if others.is_empty() {
            return self.put(name, value);
        }
        self.variables.insert(self.key_of(name), value.clone());
        for key in others {
            self.variables.insert(key, value.clone());
        }
    }

    /// As [`Evaluator::put`], of a variable that keeps its other names.
    pub(in crate::programs::code) fn put_keeping_names(&mut self, name: &str, value: ScriptValue) {
        let number = self.variables.get(&one_key(&self.key_of(name))).cloned();
        self.put(name, value);
        if let Some(number) = number {
            self.variables.insert(one_key(&self.key_of(name)), number);
        }
    }

    /// The keys of the other names that stand for the same as a name.
    pub(in crate::programs::code) fn other_names(&self, name: &str) -> Vec<String> {
        let own = one_key(&self.key_of(name));
        let Some(number) = self.variables.get(&own) else { return Vec::new() };
        let others = self
            .variables
            .iter()
            .filter(|(key, held)| key.starts_with(ONE) && *held == number && *key != own);
        others.map(|(key, _)| key.trim_start_matches(ONE).to_owned()).collect()
    }

    /// Whether the present point lies outside all functions.
    pub(in crate::programs::code) fn is_outside_functions(&self) -> bool {
        self.scopes.nearest(|sort| matches!(sort, ScopeSort::Function | ScopeSort::Closed)).is_none()
    }

    fn put_in_scope(&mut self, place: usize, name: &str, value: ScriptValue) {
        let key = self.scopes.key(place, name);
        self.variables.remove(&one_key(&key));
        if let Some(scope) = self.scopes.all.get_mut(place)
            && !scope.own.contains(name)
        {
            scope.own.insert(name.to_owned());
        }
        self.variables.insert(key, value);
    }

    /// Makes a name one of the function or file around, which holds nothing yet.
    pub(in crate::programs::code) fn reserve(&mut self, name: &str) {
        let place = self.scopes.function();
        if let Some(scope) = self.scopes.all.get_mut(place) {
            scope.own.insert(name.to_owned());
        }
    }

    /// Makes a name one of the present scope, which holds nothing yet.
    pub(in crate::programs::code) fn reserve_here(&mut self, name: &str) {
        let key = self.scopes.key(self.scopes.present, name);
        let present = self.scopes.present;
        if let Some(scope) = self.scopes.all.get_mut(present) {
            scope.own.insert(name.to_owned());
        }
        self.variables.remove(&key);
    }

    /// Makes a name that of the file: `global name`.
    pub(in crate::programs::code) fn share_with_module(&mut self, name: &str) {
        self.share(name, Owner::Module);
    }

    /// Makes a name that of a function around: `nonlocal name`.
    pub(in crate::programs::code) fn share_around(&mut self, name: &str) {
        self.share(name, Owner::Around);
    }

    fn share(&mut self, name: &str, owner: Owner) {
        let present = self.scopes.present;
        if let Some(scope) = self.scopes.all.get_mut(present)
            && scope.around.is_some()
        {
            scope.elsewhere.insert(name.to_owned(), owner);
        }
    }

    /// Lets a name of the file hold something else until the present scope is left: `local $name`.
    pub(in crate::programs::code) fn hold(&mut self, name: &str) {
        let before = self.variables.get(name).cloned();
        let present = self.scopes.present;
        if let Some(scope) = self.scopes.all.get_mut(present)
            && scope.around.is_some()
        {
            scope.held.push((name.to_owned(), before));
        }
    }

    /// Enters a scope inside the present one; what is to be left again.
    pub(in crate::programs::code) fn enter(&mut self, sort: ScopeSort) -> usize {
        self.enter_within(sort, self.scopes.present)
    }

    /// Enters a scope inside the one of a function.
    pub(in crate::programs::code) fn enter_within(&mut self, sort: ScopeSort, around: usize) -> usize {
        let outer = self.scopes.present;
        self.scopes.made += 1;
        let around = (sort != ScopeSort::Module).then_some(around);
        self.scopes.all.push(Scope::new(sort, self.scopes.made, around));
        self.scopes.present = self.scopes.all.len() - 1;
        outer
    }

    /// Leaves the present scope for the one that was present before. What no function keeps is forgotten.
    pub(in crate::programs::code) fn leave(&mut self, outer: usize) {
        let place = self.scopes.present;
        self.scopes.present = outer;
        let Some(scope) = self.scopes.all.get_mut(place) else { return };
        let held = std::mem::take(&mut scope.held);
        for (name, before) in held.into_iter().rev() {
            match before {
                Some(before) => self.variables.insert(name, before),
                None => self.variables.remove(&name),
            };
        }
        let Some(scope) = self.scopes.all.get(place).filter(|scope| !scope.is_kept) else { return };
        let keys: Vec<String> = scope.own.iter().map(|name| scope.key(name)).collect();
        for key in keys {
            self.variables.remove(&one_key(&key));
            self.variables.remove(&key);
        }
        if place + 1 == self.scopes.all.len() {
            self.scopes.all.pop();
        }
    }

    /// Runs work in a scope of its own.
    pub(in crate::programs::code) fn in_scope<T>(
        &mut self,
        sort: ScopeSort,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.enter(sort);
        let answer = work(self);
        self.leave(outer);
        answer
    }

    /// What names hold as they are seen from a scope, by the keys of those who have them.
    pub(in crate::programs::code) fn seen_from(
        &self,
        place: usize,
        names: &HashSet<String>,
    ) -> Vec<(String, Option<ScriptValue>)> {
        let mut seen = Vec::new();
        for name in names {
            if let Some(owner) = self.scopes.owner_from(place, name, self.language) {
                let key = self.scopes.key(owner, name);
                let value = self.variables.get(&key).cloned();
                seen.push((key, value));
            }
        }
        seen.sort_by(|(first, _), (second, _)| first.cmp(second));
        seen
    }

    /// The names of the present scope with what they hold.
    pub(in crate::programs::code) fn own_names(&self) -> Vec<(String, ScriptValue)> {
        let Some(scope) = self.scopes.all.get(self.scopes.present) else { return Vec::new() };
        let held = |name: &String| Some((name.clone(), self.variables.get(&scope.key(name))?.clone()));
        scope.own.iter().filter_map(held).collect()
    }
}
