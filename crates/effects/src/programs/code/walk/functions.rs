//! Functions and classes of the code itself: defined, called, made into objects.

use std::rc::Rc;
use std::sync::Arc;

use crate::interpreter::Value;
use crate::programs::code::evaluator::{Body, Evaluator, Function, Given, Object, OwnClass, REST};
use crate::programs::code::library_calls::LibraryCall;
use crate::programs::code::value::ScriptValue;
use crate::programs::code::variables::Variables;
use checkrein_scripts::tree::{
    BindingTarget, CallStyle, Class, Definition, FunctionParameter, Statement, Takes,
};

use super::binding::Scope;
use super::scopes::ScopeSort;

/// The greatest number of classes, of objects and of functions (ours).
const MADE: usize = 2_000;
/// How many classes above a class are looked at (ours).
const BASES: usize = 8;

impl Evaluator<'_, '_, '_> {
    /// Notes down functions and, where the language does so, gives them their names before anything runs.
    pub(super) fn hoist(&mut self, statements: &[Statement]) {
        if self.is_python() {
            return;
        }
        for statement in statements {
            if let Statement::Define(definition) = statement {
                self.define_tree(definition);
            }
        }
    }

    /// A function under its name.
    pub(super) fn define_tree(&mut self, definition: &Arc<Definition>) {
        let place = self.define_function(definition, None);
        self.bind_name(&definition.name, ScriptValue::Function(place), Scope::Own);
        // What a block of JavaScript defines is known in the whole function around it.
        if !self.is_python() && self.variable(&definition.name).is_some() {
            self.declare_widely(&definition.name, ScriptValue::Function(place));
        }
        self.decorate(definition, place);
    }

    /// Gives a function to its decorators, from the last one up.
    fn decorate(&mut self, definition: &Definition, place: usize) {
        let mut decorated = ScriptValue::Function(place);
        for decorator in definition.decorators.iter().rev() {
            let around = self.value(decorator);
            let is_called = match &around {
                ScriptValue::Function(_) | ScriptValue::Class(_) => true,
                ScriptValue::Name(name) => {
                    name == "atexit.register" || self.deed(name).is_some_and(LibraryCall::reaches_out)
                }
                _ => false,
            };
            if is_called {
                let given = Given { positional: vec![decorated.clone()], named: Vec::new() };
                decorated = self.perhaps(|follower| follower.call_thing(&around, &given));
            }
        }
    }

    /// Notes down a function; answers its place in the list.
    pub(super) fn define_function(&mut self, definition: &Arc<Definition>, class: Option<usize>) -> usize {
        let is_python = self.is_python();
        let defaults: Vec<Option<ScriptValue>> = definition
            .parameters
            .iter()
            .map(|parameter| parameter.default.as_ref().filter(|_| is_python).map(|value| self.value(value)))
            .collect();
        let defaults = Rc::new(defaults);
        let scope = if class.is_some() { self.scopes.keep_for_method() } else { self.scopes.keep() };
        // One more in another scope is another function, until there are too many to tell them apart.
        let is_crowded = self.functions.len() >= MADE;
        let known =
            self.functions.iter_mut().enumerate().find_map(|(place, function)| match &mut function.body {
                Body::Tree { definition: known, of, around, defaults: before }
                    if Arc::ptr_eq(known, definition) && *of == class && (*around == scope || is_crowded) =>
                {
                    *around = scope;
                    before.clone_from(&defaults);
                    Some(place)
                }
                Body::Tree { .. } | Body::Tokens { .. } => None,
            });
        if let Some(place) = known {
            return place;
        }
        if is_crowded {
            self.not_followed("defines more functions than are followed");
            return self.functions.len();
        }
        let body = Body::Tree { definition: Arc::clone(definition), of: class, around: scope, defaults };
        self.functions.push(Function { name: definition.name.clone(), body, called: false, active: 0 });
        self.functions.len() - 1
    }

    /// Follows a function that nothing calls, as far as that can be done without what it would be given.
    pub(in crate::programs::code) fn call_unasked(&mut self, place: usize) {
        let class = self.functions.get(place).and_then(|function| match &function.body {
            Body::Tree { of, .. } => *of,
            Body::Tokens { .. } => None,
        });
        let receiver = class.and_then(|class| self.sample(class));
        self.call_function_with(place, &Given::default(), receiver);
    }

    /// Follows the body of a function.
    pub(in crate::programs::code) fn call_definition(
        &mut self,
        definition: &Definition,
        class: Option<usize>,
        around: usize,
        defaults: &[Option<ScriptValue>],
        given: &Given,
        receiver: Option<ScriptValue>,
    ) -> ScriptValue {
        let passed = std::mem::take(&mut self.passed);
        let outer = self.enter_within(ScopeSort::Function, around);
        let returned = self.returned.take();
        let yielded = std::mem::take(&mut self.yielded);
        if let Some(class) = class {
            self.inside.push((class, receiver.clone().unwrap_or(ScriptValue::Local)));
        }
        self.bind_parameters(definition, defaults, given, receiver);
        // A list or map is the same inside as outside.
        for (parameter, passed) in definition.parameters.iter().zip(passed) {
            if let (BindingTarget::Name(name), Some(other), Takes::One) =
                (&parameter.target, passed, parameter.takes)
                && self.variable(name) == self.variables.get(&other)
            {
                let key = self.key_of(name);
                self.make_keys_one(&key, &other);
            }
        }
        self.run_tree(&definition.body);
        if class.is_some() {
            self.inside.pop();
        }
        let answer = self.returned.take();
        let made = std::mem::replace(&mut self.yielded, yielded);
        self.returned = returned;
        self.leave(outer);
        if made.is_empty() { answer.unwrap_or(ScriptValue::Local) } else { ScriptValue::List(made) }
    }

    fn bind_parameters(
        &mut self,
        definition: &Definition,
        defaults: &[Option<ScriptValue>],
        given: &Given,
        receiver: Option<ScriptValue>,
    ) {
        let mut positional = given.positional.clone();
        if let Some(receiver) = receiver {
            if self.is_python() {
                if definition.sort != CallStyle::Static {
                    positional.insert(0, receiver);
                }
            } else {
                self.bind_name("this", receiver, Scope::Own);
            }
        }
        let mut positional = positional.into_iter();
        let by_rest = given.named.iter().any(|(name, _)| name == REST);
        let mut used: Vec<&str> = Vec::new();
        for (place, parameter) in definition.parameters.iter().enumerate() {
            let FunctionParameter { target, default, takes } = parameter;
            let name = match target {
                BindingTarget::Name(name) => name.as_str(),
                _ => "",
            };
            let by_name =
                given.named.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            let value = match takes {
                Takes::One => positional.next().or(by_name),
                Takes::Named => by_name,
                Takes::Rest => Some(ScriptValue::List(positional.by_ref().collect())),
                Takes::RestNamed => {
                    let left = given.named.iter().filter(|(key, _)| !used.contains(&key.as_str()));
                    Some(ScriptValue::Map(left.cloned().collect()))
                }
            };
            used.push(name);
            let value = match (value, default) {
                (Some(value), _) => value,
                // Whether it is given is not known where some names are not.
                (None, Some(default)) => {
                    let default = match defaults.get(place) {
                        Some(Some(known)) => known.clone(),
                        Some(None) | None => self.value(default),
                    };
                    if by_rest { default.join(&ScriptValue::Text(Value::Unknown)) } else { default }
                }
                (None, None) => ScriptValue::Text(Value::Unknown),
            };
            self.bind(target, value, Scope::Own);
        }
    }

    /// A class under no name yet.
    pub(super) fn make_class(&mut self, class: &Class) -> ScriptValue {
        let bases = class.bases.iter().map(|base| self.value(base)).collect();
        for decorator in &class.decorators {
            self.value(decorator);
        }
        if self.classes.len() >= MADE {
            self.not_followed("defines more classes than are followed");
            return ScriptValue::Foreign;
        }
        let place = self.classes.len();
        self.classes.push(OwnClass { bases, ..OwnClass::default() });
        let outer = self.enter(ScopeSort::Class);
        for statement in &class.body {
            match statement {
                Statement::Define(definition) => {
                    let function = self.define_function(definition, Some(place));
                    self.decorate(definition, function);
                    if let Some(class) = self.classes.get_mut(place) {
                        class.methods.push((definition.name.clone(), function));
                    }
                }
                Statement::Declare(BindingTarget::Name(name), value) => {
                    let value = value.as_ref().map(|value| self.value(value));
                    self.declare(name, value.clone().unwrap_or(ScriptValue::Local));
                    if let Some(class) = self.classes.get_mut(place) {
                        class.fields.push((name.clone(), value));
                    }
                }
                other => {
                    self.run_tree(std::slice::from_ref(other));
                }
            }
        }
        self.leave(outer);
        ScriptValue::Class(place)
    }

    /// `new callee(...)`
    pub(super) fn make(&mut self, callee: &ScriptValue, given: &Given) -> ScriptValue {
        let ScriptValue::Function(place) = callee else { return self.call_thing(callee, given) };
        let Some(object) = self.new_object(None, Variables::new()) else { return ScriptValue::Local };
        let made = self.call_function_with(*place, given, Some(object.clone()));
        if matches!(made, ScriptValue::Local) { object } else { made }
    }

    /// An object of a class.
    pub(in crate::programs::code) fn make_object(&mut self, class: usize, given: &Given) -> ScriptValue {
        let fields = self.fields_of(class, 0);
        let Some(object) = self.new_object(Some(class), Variables::new()) else { return ScriptValue::Local };
        let ScriptValue::Object(place) = object else { return ScriptValue::Local };
        if let Some(class) = self.classes.get_mut(class) {
            class.sample = Some(place);
        }
        for (name, value) in &fields {
            if let Some(value) = value {
                self.set_field(place, name, value.clone());
            }
        }
        let constructor = if self.is_python() { "__init__" } else { "constructor" };
        if let Some(function) = self.find_method(class, constructor, 0) {
            self.call_function_with(function, given, Some(object.clone()));
            return object;
        }
        // Values for the fields in their order, as in a data class.
        for ((name, _), value) in fields.iter().zip(&given.positional) {
            self.set_field(place, name, value.clone());
        }
        for (name, value) in &given.named {
            self.set_field(place, name, value.clone());
        }
        object
    }

    fn set_field(&mut self, place: usize, name: &str, value: ScriptValue) {
        if let Some(object) = self.objects.get_mut(place) {
            object.fields.insert(name.to_owned(), value);
        }
    }

    pub(in crate::programs::code) fn new_object(
        &mut self,
        class: Option<usize>,
        fields: Variables,
    ) -> Option<ScriptValue> {
        if self.objects.len() >= MADE {
            return None;
        }
        self.objects.push(Object { class, fields });
        Some(ScriptValue::Object(self.objects.len() - 1))
    }

    /// An object of a class to follow its methods with.
    fn sample(&mut self, class: usize) -> Option<ScriptValue> {
        if let Some(place) = self.classes.get(class).and_then(|class| class.sample) {
            return Some(ScriptValue::Object(place));
        }
        let fields = self.fields_of(class, 0);
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let object = self.new_object(Some(class), fields)?;
        if let (ScriptValue::Object(place), Some(class)) = (&object, self.classes.get_mut(class)) {
            class.sample = Some(*place);
        }
        Some(object)
    }

    fn fields_of(&self, class: usize, depth: usize) -> Vec<(String, Option<ScriptValue>)> {
        let Some(own) = self.classes.get(class).filter(|_| depth < BASES) else { return Vec::new() };
        let mut all = Vec::new();
        for base in &own.bases {
            if let ScriptValue::Class(base) = base {
                all.extend(self.fields_of(*base, depth + 1));
            }
        }
        all.extend(own.fields.iter().cloned());
        all
    }

    fn find_method(&self, class: usize, name: &str, depth: usize) -> Option<usize> {
        let own = self.classes.get(class).filter(|_| depth < BASES)?;
        let found = own.methods.iter().rev().find(|(method, _)| method == name).map(|(_, place)| *place);
        found.or_else(|| self.find_above(class, name, depth))
    }

    fn find_above(&self, class: usize, name: &str, depth: usize) -> Option<usize> {
        let bases = self.classes.get(class).map(|own| own.bases.as_slice()).unwrap_or_default();
        bases.iter().find_map(|base| match base {
            ScriptValue::Class(base) => self.find_method(*base, name, depth + 1),
            _ => None,
        })
    }

    /// The first class above that is not of the code itself.
    fn foreign_base(&self, class: usize, depth: usize) -> Option<String> {
        let own = self.classes.get(class).filter(|_| depth < BASES)?;
        own.bases.iter().find_map(|base| match base {
            ScriptValue::Class(base) => self.foreign_base(*base, depth + 1),
            ScriptValue::Name(name) => Some(name.clone()),
            _ => None,
        })
    }

    fn sort_of(&self, function: usize) -> CallStyle {
        match self.functions.get(function).map(|function| &function.body) {
            Some(Body::Tree { definition, .. }) => definition.sort,
            Some(Body::Tokens { .. }) | None => CallStyle::Plain,
        }
    }

    /// A member of an object of the code itself.
    pub(in crate::programs::code) fn member_of_object(&mut self, place: usize, name: &str) -> ScriptValue {
        let Some(object) = self.objects.get(place) else { return ScriptValue::Text(Value::Unknown) };
        if let Some(value) = object.fields.get(name) {
            return value.clone();
        }
        let whole = ScriptValue::Object(place);
        let Some(class) = object.class else {
            // A part of a module that something else may have put there.
            return ScriptValue::Text(Value::Unknown);
        };
        match self.find_method(class, name, 0) {
            Some(function) if self.sort_of(function) == CallStyle::Property => {
                self.call_function_with(function, &Given::default(), Some(whole))
            }
            _ => ScriptValue::Method(Box::new(whole), name.to_owned()),
        }
    }

    /// A member of a class of the code itself.
    pub(in crate::programs::code) fn member_of_class(&mut self, place: usize, name: &str) -> ScriptValue {
        let field = self.fields_of(place, 0).into_iter().rev().find(|(field, _)| field == name);
        match field {
            Some((_, Some(value))) => value,
            Some((_, None)) | None => {
                ScriptValue::Method(Box::new(ScriptValue::Class(place)), name.to_owned())
            }
        }
    }

    /// Calls a method of an object or class of the code itself.
    pub(in crate::programs::code) fn own_method(
        &mut self,
        of: &ScriptValue,
        name: &str,
        given: &Given,
    ) -> ScriptValue {
        let (class, function) = match of {
            ScriptValue::Class(class) => (Some(*class), self.find_method(*class, name, 0)),
            ScriptValue::Object(place) => {
                let class = self.objects.get(*place).and_then(|object| object.class);
                (class, class.and_then(|class| self.find_method(class, name, 0)))
            }
            // `super`
            _ => match self.inside.last() {
                Some((class, _)) => (Some(*class), self.find_above(*class, name, 0)),
                None => (None, None),
            },
        };
        let receiver = match of {
            ScriptValue::Method(receiver, _) => receiver.as_ref().clone(),
            other => other.clone(),
        };
        if let Some(function) = function {
            let receiver = match (&receiver, self.sort_of(function)) {
                (_, CallStyle::Static) => None,
                (_, CallStyle::OfClass) => class.map(ScriptValue::Class),
                // `Base.method(self, ...)`
                (ScriptValue::Class(_), _) if self.is_python() => None,
                (_, CallStyle::Plain | CallStyle::Property) => Some(receiver),
            };
            return self.call_function_with(function, given, receiver);
        }
        let Some(class) = class else { return ScriptValue::Text(Value::Unknown) };
        if name == "start"
            && let Some(run) = self.find_method(class, "run", 0)
        {
            return self.call_function_with(run, given, Some(receiver));
        }
        match self.foreign_base(class, 0) {
            Some(base) if self.deed(&base).is_none() && self.deed(&format!("{base}.{name}")).is_none() => {
                self.not_known(&format!("{base}.{name}"));
                ScriptValue::Foreign
            }
            Some(_) | None => ScriptValue::Text(Value::Unknown),
        }
    }

    /// Calls a method when a value is an object of the code itself that has it.
    pub(super) fn method_of_object(&mut self, of: &ScriptValue, name: &str) -> Option<ScriptValue> {
        let ScriptValue::Object(place) = of else { return None };
        let class = self.objects.get(*place)?.class?;
        let function = self.find_method(class, name, 0)?;
        Some(self.call_function_with(function, &Given::default(), Some(of.clone())))
    }
}
