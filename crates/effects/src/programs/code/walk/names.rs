//! Which names a part of a tree gives a value to.

use std::collections::HashSet;

use checkrein_scripts::tree::{BindingTarget, Definition, Expression, Loop, Statement};

/// The names that a loop changes in its turns.
pub(super) fn assigned(each: &Loop) -> HashSet<String> {
    let mut names = HashSet::new();
    statements(&each.body, &mut names);
    if let Some(test) = &each.test {
        expression(test, &mut names);
    }
    if let Some(step) = &each.step {
        expression(step, &mut names);
    }
    names
}

/// The names that stand in a function, whoever they belong to.
pub(in crate::programs::code) fn mentioned(definition: &Definition) -> HashSet<String> {
    let mut names = HashSet::new();
    definition.body.iter().for_each(|one| mentions(one, &mut names));
    names
}

fn mentions(one: &Statement, names: &mut HashSet<String>) {
    let mut all = |several: &[Statement]| several.iter().for_each(|one| mentions(one, names));
    match one {
        Statement::Block(inner) | Statement::Scope(inner) => all(inner),
        Statement::If(test, then, otherwise) => {
            all(then);
            all(otherwise);
            mentioned_in(test, names);
        }
        Statement::Loop(each) => {
            all(&each.start);
            all(&each.body);
            all(&each.otherwise);
            let lists = each.over.iter().map(|(_, list)| list);
            lists.chain(&each.test).chain(&each.step).for_each(|value| mentioned_in(value, names));
        }
        Statement::Try(tried) => {
            all(&tried.body);
            tried.handlers.iter().for_each(|(_, body)| all(body));
            all(&tried.otherwise);
            all(&tried.last);
        }
        Statement::With(items, body) => {
            all(body);
            items.iter().for_each(|(value, _)| mentioned_in(value, names));
        }
        Statement::Match(subject, cases) => {
            cases.iter().for_each(|case| all(&case.body));
            mentioned_in(subject, names);
        }
        Statement::Define(definition) => names.extend(mentioned(definition)),
        Statement::Expression(value)
        | Statement::Declare(_, Some(value))
        | Statement::Return(Some(value)) => {
            mentioned_in(value, names);
        }
        Statement::Throw(values) => values.iter().for_each(|value| mentioned_in(value, names)),
        Statement::Declare(_, None)
        | Statement::Return(None)
        | Statement::Class(_)
        | Statement::Import(_)
        | Statement::ShareWithFile(_)
        | Statement::ShareAround(_)
        | Statement::Reserve(_)
        | Statement::Leave
        | Statement::Cut => {}
    }
}

fn mentioned_in(value: &Expression, names: &mut HashSet<String>) {
    let mut all = |several: &[Expression]| several.iter().for_each(|value| mentioned_in(value, names));
    match value {
        Expression::Name(name) => {
            names.insert(name.clone());
        }
        Expression::Template(several)
        | Expression::List(several)
        | Expression::Sum(several)
        | Expression::Several(several)
        | Expression::Within(several) => all(several),
        Expression::Tagged(first, second)
        | Expression::Index(first, second)
        | Expression::Binary(_, first, second)
        | Expression::Joint(_, first, second) => {
            mentioned_in(first, names);
            mentioned_in(second, names);
        }
        Expression::Member(inner, _)
        | Expression::Not(inner)
        | Expression::Negative(inner)
        | Expression::Spread(inner)
        | Expression::Yield(inner)
        | Expression::Delete(inner)
        | Expression::Assign(_, _, inner)
        | Expression::Comprehension(inner, _) => mentioned_in(inner, names),
        Expression::Slice(of, from, to) => {
            mentioned_in(of, names);
            from.iter().chain(to).for_each(|bound| mentioned_in(bound, names));
        }
        Expression::Call(callee, arguments) | Expression::New(callee, arguments) => {
            mentioned_in(callee, names);
            arguments.iter().for_each(|argument| mentioned_in(&argument.value, names));
        }
        Expression::Map(entries) => entries.iter().for_each(|(key, value)| {
            key.iter().for_each(|key| mentioned_in(key, names));
            mentioned_in(value, names);
        }),
        Expression::Choice(test, then, otherwise) => {
            mentioned_in(test, names);
            mentioned_in(then, names);
            mentioned_in(otherwise, names);
        }
        Expression::Function(definition) => names.extend(mentioned(definition)),
        Expression::Text(_)
        | Expression::Number(_)
        | Expression::Truth(_)
        | Expression::Nothing
        | Expression::Class(_)
        | Expression::Cut => {}
    }
}

/// Whether a statement may fail where it begins, before it changes anything.
pub(super) fn may_fail(one: &Statement) -> bool {
    match one {
        Statement::Expression(value) | Statement::Declare(BindingTarget::Name(_), Some(value)) => {
            fails(value)
        }
        Statement::Return(value) => value.as_ref().is_some_and(fails),
        Statement::Declare(_, value) => value.is_some(),
        Statement::If(test, _, _) => fails(test),
        Statement::Loop(each) => {
            each.over.as_ref().map(|(_, list)| list).or(each.test.as_ref()).is_some_and(fails)
        }
        Statement::Match(subject, _) => fails(subject),
        Statement::With(_, _)
        | Statement::Class(_)
        | Statement::Import(_)
        | Statement::Throw(_)
        | Statement::Cut => true,
        Statement::Define(_)
        | Statement::ShareWithFile(_)
        | Statement::ShareAround(_)
        | Statement::Reserve(_)
        | Statement::Try(_)
        | Statement::Block(_)
        | Statement::Scope(_)
        | Statement::Leave => false,
    }
}

fn fails(value: &Expression) -> bool {
    match value {
        Expression::Text(_)
        | Expression::Number(_)
        | Expression::Truth(_)
        | Expression::Nothing
        | Expression::Name(_)
        | Expression::Function(_) => false,
        Expression::Template(several)
        | Expression::List(several)
        | Expression::Sum(several)
        | Expression::Several(several) => several.iter().any(fails),
        Expression::Not(inner) | Expression::Negative(inner) => fails(inner),
        Expression::Joint(_, left, right) => fails(left) || fails(right),
        Expression::Map(entries) => {
            entries.iter().any(|(key, value)| key.as_ref().is_none_or(fails) || fails(value))
        }
        Expression::Choice(test, then, otherwise) => fails(test) || fails(then) || fails(otherwise),
        Expression::Assign(target, _, value) => !matches!(**target, BindingTarget::Name(_)) || fails(value),
        Expression::Tagged(_, _)
        | Expression::Member(_, _)
        | Expression::Index(_, _)
        | Expression::Slice(_, _, _)
        | Expression::Call(_, _)
        | Expression::New(_, _)
        | Expression::Class(_)
        | Expression::Binary(_, _, _)
        | Expression::Comprehension(_, _)
        | Expression::Spread(_)
        | Expression::Within(_)
        | Expression::Yield(_)
        | Expression::Delete(_)
        | Expression::Cut => true,
    }
}

/// Whether a test asks for something that its loop changes.
pub(super) fn depends(test: &Expression, each: &Loop) -> bool {
    let names = assigned(each);
    let mut asked = HashSet::new();
    asked_for(test, &mut asked);
    asked.iter().any(|name| names.contains(name))
}

fn asked_for(test: &Expression, names: &mut HashSet<String>) {
    match test {
        Expression::Name(name) => {
            names.insert(name.clone());
        }
        Expression::Binary(_, left, right) | Expression::Joint(_, left, right) => {
            asked_for(left, names);
            asked_for(right, names);
        }
        Expression::Not(inner) | Expression::Negative(inner) | Expression::Member(inner, _) => {
            asked_for(inner, names);
        }
        Expression::Within(values) | Expression::Several(values) | Expression::Sum(values) => {
            values.iter().for_each(|value| asked_for(value, names));
        }
        _ => {}
    }
}

fn statements(all: &[Statement], names: &mut HashSet<String>) {
    for one in all {
        statement(one, names);
    }
}

fn statement(one: &Statement, names: &mut HashSet<String>) {
    match one {
        Statement::Expression(value) => expression(value, names),
        Statement::Declare(to, value) => {
            target(to, names);
            if let Some(value) = value {
                expression(value, names);
            }
        }
        Statement::If(test, then, otherwise) => {
            expression(test, names);
            statements(then, names);
            statements(otherwise, names);
        }
        Statement::Loop(each) => {
            statements(&each.start, names);
            if let Some((to, _)) = &each.over {
                target(to, names);
            }
            statements(&each.body, names);
            if let Some(step) = &each.step {
                expression(step, names);
            }
            statements(&each.otherwise, names);
        }
        Statement::Try(tried) => {
            statements(&tried.body, names);
            for (_, body) in &tried.handlers {
                statements(body, names);
            }
            statements(&tried.otherwise, names);
            statements(&tried.last, names);
        }
        Statement::With(items, body) => {
            for (_, to) in items {
                if let Some(to) = to {
                    target(to, names);
                }
            }
            statements(body, names);
        }
        Statement::Match(_, cases) => cases.iter().for_each(|case| statements(&case.body, names)),
        Statement::Block(inner) | Statement::Scope(inner) => statements(inner, names),
        Statement::Define(_)
        | Statement::Class(_)
        | Statement::Import(_)
        | Statement::ShareWithFile(_)
        | Statement::ShareAround(_)
        | Statement::Reserve(_)
        | Statement::Return(_)
        | Statement::Throw(_)
        | Statement::Leave
        | Statement::Cut => {}
    }
}

fn target(to: &BindingTarget, names: &mut HashSet<String>) {
    match to {
        BindingTarget::Name(name) => {
            names.insert(name.clone());
        }
        BindingTarget::List(all) => all.iter().for_each(|one| target(one, names)),
        BindingTarget::Map(all) => all.iter().for_each(|(_, one)| target(one, names)),
        BindingTarget::Rest(inner) | BindingTarget::Default(inner, _) => target(inner, names),
        BindingTarget::Member(_, _) | BindingTarget::Index(_, _) | BindingTarget::Nowhere => {}
    }
}

fn expression(value: &Expression, names: &mut HashSet<String>) {
    match value {
        Expression::Assign(to, _, value) => {
            target(to, names);
            expression(value, names);
        }
        Expression::Several(values) | Expression::Within(values) => {
            values.iter().for_each(|value| expression(value, names));
        }
        Expression::Binary(_, left, right) | Expression::Joint(_, left, right) => {
            expression(left, names);
            expression(right, names);
        }
        Expression::Not(inner) => expression(inner, names),
        _ => {}
    }
}
