//! Expressions of a tree: what a value is, and the calls on the way.

use crate::interpreter::Value;
use crate::interpreter::guarded::PARENT;
use crate::programs::code::evaluator::{Evaluator, Given, REST};
use crate::programs::code::expressions::formatted;
use crate::programs::code::made::{concatenated, repeated};
use crate::programs::code::value::ScriptValue;
use checkrein_scripts::Language;
use checkrein_scripts::tree::{
    Argument, BindingTarget, ComprehensionClause, Expression, How, Joint, Operator,
};

use super::binding::Scope;
use super::scopes::ScopeSort;
use super::{TURNS, conditions, element};

impl Evaluator<'_, '_, '_> {
    /// The value of an expression, after its effects.
    pub(in crate::programs::code) fn value(&mut self, expression: &Expression) -> ScriptValue {
        match self.deeper(|follower| follower.value_here(expression)).unwrap_or(ScriptValue::Foreign) {
            // An attribute of what came over the network, as `response.text`.
            ScriptValue::Method(of, _) if matches!(*of, ScriptValue::Network(_)) => *of,
            value => {
                let value = self.within_bounds(value);
                self.note_value(&value);
                value
            }
        }
    }

    fn value_here(&mut self, expression: &Expression) -> ScriptValue {
        match expression {
            Expression::Text(text) => ScriptValue::text(text),
            Expression::Number(number) => ScriptValue::Number(*number),
            Expression::Truth(truth) => ScriptValue::Truth(*truth),
            Expression::Nothing => ScriptValue::Local,
            Expression::Template(parts) => {
                let parts: Vec<ScriptValue> = parts.iter().map(|part| self.value(part)).collect();
                concatenated(&parts)
            }
            Expression::Tagged(tag, template) => self.tagged(tag, template),
            Expression::Name(name) => self.tree_name(name),
            Expression::Member(of, name) => {
                let of = self.callee(of);
                self.tree_member(&of, name)
            }
            Expression::Index(of, index) => {
                let of = self.value(of);
                let index = self.value(index);
                self.indexed(&of, &index)
            }
            Expression::Slice(of, from, to) => {
                let of = self.value(of);
                let from = from.as_ref().map(|from| self.value(from));
                let to = to.as_ref().map(|to| self.value(to));
                sliced(of, from.as_ref(), to.as_ref())
            }
            Expression::Call(callee, arguments) => self.call_tree(callee, arguments),
            Expression::New(callee, arguments) => {
                let callee = self.callee(callee);
                let given = self.given_tree(arguments);
                self.make(&callee, &given)
            }
            Expression::List(items) => {
                let mut all = Vec::new();
                for item in items {
                    self.spread_into(item, &mut all);
                }
                ScriptValue::List(all)
            }
            Expression::Map(entries) => self.map_of(entries),
            Expression::Function(definition) => ScriptValue::Function(self.define_function(definition, None)),
            Expression::Class(class) => self.make_class(class),
            Expression::Sum(parts) => {
                let mut parts = parts.iter();
                let first = parts.next().map_or(ScriptValue::Local, |part| self.value(part));
                parts.fold(first, |sum, part| {
                    let part = self.value(part);
                    self.note_neighbour(&sum, &part);
                    added(&sum, &part)
                })
            }
            Expression::Binary(operator, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                self.note_neighbour(&left, &right);
                worked_out(*operator, &left, &right)
            }
            Expression::Joint(joint, left, right) => self.joint(*joint, left, right),
            Expression::Not(inner) => {
                let value = self.value(inner);
                conditions::decided(&value).map_or(ScriptValue::Local, |known| ScriptValue::Truth(!known))
            }
            Expression::Negative(inner) => match self.value(inner) {
                ScriptValue::Number(number) => ScriptValue::Number(number.saturating_neg()),
                // The group of a process: `-child.pid`.
                number @ ScriptValue::Method(_, _) => number,
                ScriptValue::Text(Value::Exact(text)) if text == PARENT => ScriptValue::text(PARENT),
                _ => ScriptValue::Local,
            },
            Expression::Choice(test, then, otherwise) => self.choice(test, then, otherwise),
            Expression::Assign(target, how, value) => self.assigned(target, *how, value),
            Expression::Comprehension(made, clauses) => {
                let mut all = Vec::new();
                self.in_scope(ScopeSort::Comprehension, |follower| {
                    follower.comprehended_tree(made, clauses, &mut all);
                });
                ScriptValue::List(all)
            }
            Expression::Spread(inner) => self.value(inner),
            Expression::Several(values) => {
                values.iter().fold(ScriptValue::Local, |_, value| self.value(value))
            }
            Expression::Within(values) => {
                for value in values {
                    self.value(value);
                }
                ScriptValue::Local
            }
            Expression::Yield(inner) => {
                let mut all = Vec::new();
                self.spread_into(inner, &mut all);
                if self.yielded.len() < TURNS {
                    self.yielded.extend(all);
                }
                ScriptValue::Text(Value::Unknown)
            }
            Expression::Delete(place) => {
                self.taken_away(place);
                ScriptValue::Local
            }
            Expression::Cut => {
                self.not_followed("is nested too deeply");
                ScriptValue::Foreign
            }
        }
    }

    /// As [`Evaluator::value`], for what is called or asked for a member: a method stays one.
    fn callee(&mut self, expression: &Expression) -> ScriptValue {
        let value = self.deeper(|follower| follower.value_here(expression)).unwrap_or(ScriptValue::Foreign);
        self.within_bounds(value)
    }

    fn tree_name(&mut self, name: &str) -> ScriptValue {
        if let Some(known) = self.variable(name) {
            return known.clone();
        }
        let file = || self.file.clone().map_or(ScriptValue::Text(Value::Unknown), ScriptValue::text);
        match (self.language, name) {
            (Language::Python, "__file__") | (Language::JavaScript, "__filename") => file(),
            (Language::JavaScript, "__dirname") => match &self.file {
                Some(file) => {
                    ScriptValue::text(file.rsplit_once('/').map_or(".", |(directory, _)| directory))
                }
                None => ScriptValue::text("."),
            },
            (Language::Python, "__name__") => ScriptValue::text("__main__"),
            (_, "super") => match self.inside.last() {
                Some((_, receiver)) => ScriptValue::Method(Box::new(receiver.clone()), "super".to_owned()),
                None => ScriptValue::Local,
            },
            (Language::JavaScript, "this") => ScriptValue::Local,
            _ => self.lookup(name),
        }
    }

    fn tree_member(&mut self, of: &ScriptValue, name: &str) -> ScriptValue {
        match (of, name) {
            (ScriptValue::List(items), "length") if items.iter().all(|item| item.exact().is_some()) => {
                ScriptValue::Number(i64::try_from(items.len()).unwrap_or(i64::MAX))
            }
            _ => self.member(of, name),
        }
    }

    fn map_of(&mut self, entries: &[(Option<Expression>, Expression)]) -> ScriptValue {
        let (mut all, mut copied) = (Vec::new(), None);
        for (key, value) in entries {
            let key = key.as_ref().map(|key| self.value(key));
            let held = self.value(value);
            self.note_nested(value, &held);
            match (key, held) {
                (Some(key), value) => all.push((key.exact().unwrap_or_default(), value)),
                (None, ScriptValue::Map(inner)) => all.extend(inner),
                // A copy of a module does what the module does.
                (None, ScriptValue::Name(module))
                    if matches!(module.as_str(), "child_process" | "fs" | "vm" | "worker_threads") =>
                {
                    copied = Some(ScriptValue::Name(module));
                }
                // Of what is not known, or stands elsewhere, it may hold anything beside.
                (None, _) => all.push((String::new(), ScriptValue::Local)),
            }
        }
        copied.unwrap_or(ScriptValue::Map(all))
    }

    fn spread_into(&mut self, item: &Expression, all: &mut Vec<ScriptValue>) {
        match item {
            Expression::Spread(inner) => match self.value(inner) {
                ScriptValue::List(items) => all.extend(items),
                other => all.push(element(&other)),
            },
            item => {
                let value = self.value(item);
                self.note_nested(item, &value);
                all.push(value);
            }
        }
    }

    /// Functions that change the list or map which they are given first: `random.shuffle(list)`, `operator.setitem(list, 0, value)`,
    /// `list.append(list, value)`.
    fn changed_by_function(&mut self, callee: &Expression, arguments: &[Argument]) -> Option<ScriptValue> {
        let (Expression::Member(module, function), Some(first)) = (callee, arguments.first()) else {
            return None;
        };
        let Expression::Name(module) = &**module else { return None };
        let is_kind = |name: &str| matches!(name, "list" | "dict" | "deque");
        let method = match (module.as_str(), function.as_str()) {
            ("random", "shuffle") | ("heapq", "heapify") => "sort",
            ("heapq", "heappush") => "heappush",
            ("operator", "setitem") => "__setitem__",
            (kind, method) if is_kind(kind) => method,
            (_, _) => return None,
        };
        let of = self.value(&first.value);
        if !matches!(of, ScriptValue::List(_) | ScriptValue::Map(_)) {
            return None;
        }
        let given = self.given_tree(arguments.get(1..).unwrap_or_default());
        self.changed_by_method(&first.value, &of, method, &given)
            .or_else(|| self.grows(&first.value, &of, method, &given.positional))
            .or_else(|| self.map_method(&first.value, &of, method, &given))
    }

    /// Methods that give entries or names a value: `list.__setitem__(0, value)`, `globals().update(name=value)`.
    fn changed_by_method(
        &mut self,
        of: &Expression,
        receiver: &ScriptValue,
        method: &str,
        given: &Given,
    ) -> Option<ScriptValue> {
        match (receiver, method) {
            (ScriptValue::List(_) | ScriptValue::Map(_) | ScriptValue::Name(_), "__setitem__")
                if self.is_python() =>
            {
                self.bind_index(of, given.at(0).exact(), given.at(1));
            }
            (ScriptValue::List(_) | ScriptValue::Map(_), "__delitem__") if self.is_python() => {
                let key = given.at(0).exact()?;
                self.take_entry(of, receiver, &key);
            }
            (ScriptValue::Name(all), "update" | "setdefault")
                if matches!(all.as_str(), "globals" | "locals" | "__main__.__dict__") =>
            {
                let mut names = given.named.clone();
                match given.positional.first() {
                    Some(ScriptValue::Map(entries)) => names.extend(entries.iter().cloned()),
                    Some(key) if method == "setdefault" => {
                        names.extend(key.exact().map(|key| (key, given.at(1))));
                    }
                    Some(other) => self.note_stray(&other.each()),
                    None => {}
                }
                for (name, value) in names {
                    self.put_in_module(&name, value);
                }
            }
            _ => return None,
        }
        Some(ScriptValue::Local)
    }

    fn joint(&mut self, joint: Joint, left: &Expression, right: &Expression) -> ScriptValue {
        if joint == Joint::And && super::is_never(left) {
            return self.value(left);
        }
        let first = match self.value(left) {
            // A member that an object does not have.
            ScriptValue::Method(of, _) if matches!(*of, ScriptValue::Map(_)) => ScriptValue::Local,
            first => first,
        };
        let known = conditions::decided(&first);
        let certain = known == Some(joint == Joint::And);
        let before = self.variables.clone();
        self.suppose(left, joint == Joint::And);
        let second =
            if certain { self.value(right) } else { self.in_doubt(|follower| follower.value(right)) };
        self.join_variables(&before);
        match known {
            Some(known) if known == (joint == Joint::And) => second,
            Some(_) => first,
            None if joint == Joint::And => match second {
                // Whether both hold is not known when one is not.
                ScriptValue::Truth(_) => ScriptValue::Local,
                second => second,
            },
            None if matches!(first, ScriptValue::Local) => match second {
                ScriptValue::Truth(_) => ScriptValue::Local,
                second => second,
            },
            None => first.join(&second),
        }
    }

    fn choice(&mut self, test: &Expression, then: &Expression, otherwise: &Expression) -> ScriptValue {
        let value = self.value(test);
        let known = conditions::decided(&value);
        let before = self.variables.clone();
        self.suppose(test, true);
        let first = if known == Some(true) {
            self.value(then)
        } else {
            self.in_doubt(|follower| follower.value(then))
        };
        self.join_variables(&before);
        let after = std::mem::replace(&mut self.variables, before);
        self.suppose(test, false);
        let second = if known == Some(false) {
            self.value(otherwise)
        } else {
            self.in_doubt(|follower| follower.value(otherwise))
        };
        self.join_variables(&after);
        match known {
            Some(true) => first,
            Some(false) => second,
            None => first.join(&second),
        }
    }

    fn assigned(&mut self, target: &BindingTarget, how: How, value: &Expression) -> ScriptValue {
        let given = value;
        let value = match how {
            How::Plain => self.value(value),
            How::Add => {
                let before = self.present(target);
                let value = self.value(value);
                added(&before, &value)
            }
            How::Perhaps => {
                let before = self.present(target);
                let value = self.perhaps(|follower| follower.value(value));
                before.join(&value)
            }
            How::Other => {
                self.value(value);
                ScriptValue::Local
            }
        };
        match target {
            // A list grows where it is: `list += more`.
            BindingTarget::Name(name)
                if how == How::Add && self.is_python() && matches!(value, ScriptValue::List(_)) =>
            {
                self.put_under_all_names(name, value.clone());
            }
            target => self.bind(target, value.clone(), Scope::There),
        }
        if let BindingTarget::Name(name) = target {
            self.note_second_name(name, how, given);
        }
        if how == How::Plain {
            self.note_inner(target, given, &value);
        }
        value
    }

    /// What a target holds now.
    fn present(&mut self, target: &BindingTarget) -> ScriptValue {
        match target {
            BindingTarget::Name(name) => self.tree_name(name),
            BindingTarget::Member(of, name) => {
                let of = self.value(of);
                self.tree_member(&of, name)
            }
            BindingTarget::Index(of, index) => {
                let of = self.value(of);
                let index = self.value(index);
                self.indexed(&of, &index)
            }
            BindingTarget::List(_)
            | BindingTarget::Map(_)
            | BindingTarget::Rest(_)
            | BindingTarget::Default(_, _)
            | BindingTarget::Nowhere => ScriptValue::Text(Value::Unknown),
        }
    }

    fn comprehended_tree(
        &mut self,
        made: &Expression,
        clauses: &[ComprehensionClause],
        all: &mut Vec<ScriptValue>,
    ) {
        let Some((clause, rest)) = clauses.split_first() else {
            let value = self.value(made);
            if all.len() < 2 * TURNS {
                all.push(value);
            }
            return;
        };
        let list = self.value(&clause.list);
        let list = self.as_lines(list);
        let items = match &list {
            ScriptValue::List(items) if (1..=TURNS).contains(&items.len()) => items.clone(),
            other => vec![element(other)],
        };
        for item in items {
            self.bind(&clause.target, item, Scope::Own);
            let mut known = Some(true);
            for test in &clause.tests {
                let value = self.value(test);
                let decided = conditions::decided(&value);
                let decided =
                    if self.suppose(test, true) && decided.is_none() { Some(true) } else { decided };
                known = match (known, decided) {
                    (Some(true), one) => one,
                    (other, Some(true)) => other,
                    (_, Some(false)) | (Some(false), _) => Some(false),
                    (None, None) => None,
                };
            }
            match known {
                Some(true) => self.comprehended_tree(made, rest, all),
                None => self.in_doubt(|follower| follower.comprehended_tree(made, rest, all)),
                Some(false) => {}
            }
        }
    }

    /// A template behind a name: `` $`rm -rf x` `` of several packages runs a command.
    fn tagged(&mut self, tag: &Expression, template: &Expression) -> ScriptValue {
        let tag = self.value(tag);
        let text = self.value(template);
        match &tag {
            ScriptValue::Name(name) if name == "$" || name.ends_with(".$") || name.starts_with("$.") => {
                self.run_shell(&text)
            }
            ScriptValue::Name(name) if name == "String.raw" => text,
            ScriptValue::Name(name) if self.deed(name).is_none() => {
                self.not_known(name);
                ScriptValue::Foreign
            }
            ScriptValue::Function(place) => self.call_function(*place, &[ScriptValue::Local, text]),
            _ => ScriptValue::Local,
        }
    }

    fn call_tree(&mut self, callee: &Expression, arguments: &[Argument]) -> ScriptValue {
        if self.is_python()
            && let Some(answer) = self.changed_by_function(callee, arguments)
        {
            return answer;
        }
        match callee {
            Expression::Name(name)
                if name == "setattr" && self.is_python() && self.variable(name).is_none() =>
            {
                let given = self.given_tree(arguments);
                match (arguments.first(), given.at(1).exact()) {
                    (Some(of), Some(member)) => self.bind_member(&of.value, &member, given.at(2)),
                    (_, _) => self.note_stray(&given.at(2)),
                }
                ScriptValue::Local
            }
            Expression::Member(of, method) => {
                let receiver = self.callee(of);
                let given = self.given_tree(arguments);
                // A method of what came over the network is one of the answer, not of its attribute.
                let receiver = match receiver {
                    ScriptValue::Method(inner, _) if matches!(*inner, ScriptValue::Network(_)) => *inner,
                    receiver => receiver,
                };
                if let Some(answer) = self.changed_by_method(of, &receiver, method, &given) {
                    return answer;
                }
                if let Some(answer) = self.grows(of, &receiver, method, &given.positional) {
                    return answer;
                }
                if let Some(answer) = self.map_method(of, &receiver, method, &given) {
                    return answer;
                }
                let answer = self.call_method(&receiver, method, &given);
                if self.is_unfollowed(&receiver, Some(method)) {
                    self.may_change_given(Some((of, method)), arguments, &given);
                }
                // `Object.assign(map, more)` changes the map.
                if let (Expression::Name(object), "assign", Some(first)) =
                    (&**of, method.as_str(), arguments.first())
                    && object == "Object"
                    && let (Some(map @ ScriptValue::Map(_)), ScriptValue::Map(more)) =
                        (given.positional.first(), &answer)
                {
                    self.merge_into(&first.value, map, more);
                }
                answer
            }
            Expression::Name(name) if name == "super" => {
                let above = self.tree_name("super");
                if self.is_python() {
                    return above;
                }
                let given = self.given_tree(arguments);
                self.own_method(&above, "constructor", &given)
            }
            Expression::Index(of, index) => {
                let of = self.value(of);
                let index = self.value(index);
                let given = self.given_tree(arguments);
                match &of {
                    // Any of the functions may be meant.
                    ScriptValue::Map(entries) if index.exact().is_none() => {
                        for (_, entry) in entries {
                            self.perhaps(|follower| follower.call_thing(entry, &given));
                        }
                        ScriptValue::Text(Value::Unknown)
                    }
                    _ => {
                        let callee = self.indexed(&of, &index);
                        self.call_thing(&callee, &given)
                    }
                }
            }
            other => {
                let callee = self.callee(other);
                let given = self.given_tree(arguments);
                if matches!(callee, ScriptValue::Function(_)) {
                    self.passed = arguments.iter().map(|argument| self.key_given(&argument.value)).collect();
                }
                let answer = self.call_thing(&callee, &given);
                if self.is_unfollowed(&callee, None) {
                    self.may_change_given(None, arguments, &given);
                }
                answer
            }
        }
    }

    /// The key of the list or map that a call is given by its name.
    fn key_given(&self, value: &Expression) -> Option<String> {
        let Expression::Name(name) = value else { return None };
        matches!(self.variable(name), Some(ScriptValue::List(_) | ScriptValue::Map(_)))
            .then(|| self.key_of(name))
    }

    fn call_method(&mut self, receiver: &ScriptValue, method: &str, given: &Given) -> ScriptValue {
        match (method, given.positional.first()) {
            // What is promised is given to the next as a whole.
            ("then" | "finally", Some(function @ (ScriptValue::Function(_) | ScriptValue::Name(_))))
                if !matches!(receiver, ScriptValue::Object(_) | ScriptValue::Map(_)) =>
            {
                let value = match receiver {
                    ScriptValue::Method(of, _) if matches!(**of, ScriptValue::Network(_)) => {
                        of.as_ref().clone()
                    }
                    other => other.clone(),
                };
                let given = Given { positional: vec![value], named: Vec::new() };
                let function = function.clone();
                let answer = self.call_thing(&function, &given);
                if let ScriptValue::Function(place) = function {
                    self.may_wait(place, &given);
                }
                return answer;
            }
            ("catch", Some(function @ ScriptValue::Function(_)))
                if !matches!(receiver, ScriptValue::Object(_) | ScriptValue::Map(_)) =>
            {
                let function = function.clone();
                self.perhaps(|follower| follower.call_thing(&function, &Given::default()));
                if let ScriptValue::Function(place) = function {
                    self.may_wait(place, &Given::default());
                }
                return receiver.clone();
            }
            ("map" | "flatMap", Some(ScriptValue::Function(place))) => {
                let place = *place;
                if let ScriptValue::List(items) = receiver
                    && items.len() <= TURNS
                {
                    let made: Vec<ScriptValue> = items
                        .iter()
                        .map(|item| self.call_function(place, std::slice::from_ref(item)))
                        .collect();
                    return ScriptValue::List(made);
                }
            }
            _ => {}
        }
        let callee = self.tree_member(receiver, method);
        // A function that stands in an object is called for it.
        if let (ScriptValue::Map(_), ScriptValue::Function(place), false) =
            (receiver, &callee, self.is_python())
        {
            return self.call_function_with(*place, given, Some(receiver.clone()));
        }
        self.call_thing(&callee, given)
    }

    /// What stands between the brackets of a call.
    pub(super) fn given_tree(&mut self, arguments: &[Argument]) -> Given {
        let mut given = Given::default();
        for argument in arguments {
            match (&argument.name, &argument.value) {
                (Some(name), value) => {
                    let value = self.value(value);
                    given.named.push((name.clone(), value));
                }
                (None, Expression::Map(entries))
                    if self.is_python() && matches!(entries.as_slice(), [(None, _)]) =>
                {
                    // `**options`
                    for (_, spread) in entries {
                        match self.value(spread) {
                            ScriptValue::Map(entries) => given.named.extend(entries),
                            _ => given.named.push((REST.to_owned(), ScriptValue::Text(Value::Unknown))),
                        }
                    }
                }
                (None, value) => self.spread_into(value, &mut given.positional),
            }
        }
        given
    }
}

/// A value with another added: numbers are counted together, texts and lists put together.
fn added(left: &ScriptValue, right: &ScriptValue) -> ScriptValue {
    match (left, right) {
        (ScriptValue::Number(left), ScriptValue::Number(right)) => {
            left.checked_add(*right).map_or(ScriptValue::Local, ScriptValue::Number)
        }
        (ScriptValue::List(_), ScriptValue::List(_)) => left.followed_by(right),
        (ScriptValue::List(items), other) | (other, ScriptValue::List(items)) => {
            ScriptValue::List(items.iter().cloned().chain(std::iter::once(other.each())).collect())
        }
        (ScriptValue::Local, ScriptValue::Local | ScriptValue::Number(_))
        | (ScriptValue::Number(_), ScriptValue::Local) => ScriptValue::Local,
        _ => left.followed_by(right),
    }
}

fn worked_out(operator: Operator, left: &ScriptValue, right: &ScriptValue) -> ScriptValue {
    match operator {
        Operator::Divide => match (left, right) {
            (ScriptValue::Path(_), _) | (_, ScriptValue::Path(_)) => ScriptValue::Path(left.below(right)),
            _ => ScriptValue::Local,
        },
        Operator::Remainder => match (left, right) {
            (ScriptValue::Text(_), _) => formatted(left, right),
            (ScriptValue::Number(left), ScriptValue::Number(right)) => {
                left.checked_rem_euclid(*right).map_or(ScriptValue::Local, ScriptValue::Number)
            }
            _ => ScriptValue::Local,
        },
        Operator::Subtract => match (left, right) {
            (ScriptValue::Number(left), ScriptValue::Number(right)) => {
                left.checked_sub(*right).map_or(ScriptValue::Local, ScriptValue::Number)
            }
            // A set without some of its items.
            (ScriptValue::List(_), _) => left.clone(),
            _ => ScriptValue::Local,
        },
        Operator::Multiply => match (left, right) {
            (ScriptValue::Number(left), ScriptValue::Number(right)) => {
                left.checked_mul(*right).map_or(ScriptValue::Local, ScriptValue::Number)
            }
            (ScriptValue::Text(Value::Exact(text)), ScriptValue::Number(count))
            | (ScriptValue::Number(count), ScriptValue::Text(Value::Exact(text))) => {
                // A text less than once is empty.
                ScriptValue::Text(repeated(text, usize::try_from(*count).unwrap_or(0)))
            }
            (list @ ScriptValue::List(_), _) | (_, list @ ScriptValue::List(_)) => list.clone(),
            _ => ScriptValue::Local,
        },
        Operator::Equal => match (left, right) {
            (ScriptValue::Name(left), ScriptValue::Name(right))
                if left == "require.main" && right == "module" =>
            {
                ScriptValue::Truth(true)
            }
            _ => conditions::equal(left, right).map_or(ScriptValue::Local, ScriptValue::Truth),
        },
        Operator::Unequal => {
            conditions::equal(left, right).map_or(ScriptValue::Local, |same| ScriptValue::Truth(!same))
        }
        Operator::Less => ordered(left, right, |left, right| left < right),
        Operator::LessOrEqual => ordered(left, right, |left, right| left <= right),
        Operator::Greater => ordered(left, right, |left, right| left > right),
        Operator::GreaterOrEqual => ordered(left, right, |left, right| left >= right),
        Operator::Other => match (left, right) {
            // Flags of an open file put together: `os.O_WRONLY | os.O_TRUNC`.
            (ScriptValue::Name(left), ScriptValue::Name(right))
                if left.contains(".O_") && right.contains(".O_") =>
            {
                ScriptValue::Name(format!("{left}|{right}"))
            }
            // Maps put together, of which the right one counts (Python 3.13, "Mapping Types"): `os.environ | {"A": "b"}`.
            (ScriptValue::Map(one), ScriptValue::Map(other)) => {
                let is_new = |(key, _): &&(String, ScriptValue)| other.iter().all(|(name, _)| name != key);
                let kept: Vec<_> = one.iter().filter(is_new).cloned().collect();
                ScriptValue::Map(kept.into_iter().chain(other.iter().cloned()).collect())
            }
            // What else it holds has no name.
            (whole, ScriptValue::Map(entries)) if Evaluator::is_environment(whole) => {
                let rest = (String::new(), ScriptValue::Text(Value::Unknown));
                ScriptValue::Map(std::iter::once(rest).chain(entries.iter().cloned()).collect())
            }
            _ => ScriptValue::Local,
        },
        Operator::In => ScriptValue::Local,
    }
}

fn ordered(left: &ScriptValue, right: &ScriptValue, holds: fn(i64, i64) -> bool) -> ScriptValue {
    match (left, right) {
        (ScriptValue::Number(left), ScriptValue::Number(right)) => ScriptValue::Truth(holds(*left, *right)),
        _ => ScriptValue::Local,
    }
}

fn sliced(of: ScriptValue, from: Option<&ScriptValue>, to: Option<&ScriptValue>) -> ScriptValue {
    let place = |bound: Option<&ScriptValue>, otherwise: usize, length: usize| match bound {
        None => Some(otherwise),
        Some(ScriptValue::Number(number)) if *number < 0 => {
            Some(length.saturating_sub(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX)))
        }
        Some(ScriptValue::Number(number)) => usize::try_from(*number).ok().map(|place| place.min(length)),
        Some(_) => None,
    };
    match of {
        ScriptValue::List(items) => {
            let (from, to) = (place(from, 0, items.len()), place(to, items.len(), items.len()));
            match (from, to) {
                (Some(from), Some(to)) => {
                    ScriptValue::List(items.get(from..to.max(from)).unwrap_or_default().to_vec())
                }
                _ => ScriptValue::List(vec![ScriptValue::any(&items)]),
            }
        }
        ScriptValue::Text(Value::Exact(text)) => {
            let letters: Vec<char> = text.chars().collect();
            let (from, to) = (place(from, 0, letters.len()), place(to, letters.len(), letters.len()));
            match (from, to) {
                (Some(from), Some(to)) => ScriptValue::text(
                    letters.get(from..to.max(from)).unwrap_or_default().iter().collect::<String>(),
                ),
                _ => ScriptValue::Text(Value::Unknown),
            }
        }
        kept @ (ScriptValue::Network(_) | ScriptValue::Secret(_, _)) => kept,
        foreign @ ScriptValue::Foreign => foreign,
        _ => ScriptValue::Text(Value::Unknown),
    }
}
