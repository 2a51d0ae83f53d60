//! Which names a part of a tree gives a value to.

use std::collections::HashSet;

use checkrein_scripts::tree::{BindingTarget, Expression, Loop, Statement};

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
