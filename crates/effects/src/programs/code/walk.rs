//! Trees followed statement by statement.
//!
//! A branch whose condition is not decided is followed both ways, in doubt; afterwards a variable is what either way
//! made of it. A loop is followed turn by turn while its values are known, else once for all of them.

mod binding;
mod conditions;
mod expressions;
mod functions;
mod modules;
pub(super) mod names;
pub(super) mod scopes;

use crate::interpreter::Value;

use super::evaluator::Evaluator;
use super::maps;
use super::value::ScriptValue;
use super::variables::Variables;
use checkrein_scripts::tree::{BindingTarget, Expression, How, Joint, Loop, Statement, SwitchCase, Try};

use binding::Scope;
use scopes::ScopeSort;

/// The greatest number of turns of a loop that are followed one by one (ours).
const TURNS: usize = 32;

/// Where the code goes on behind a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// At the next statement.
    Next,
    /// Behind this turn of the loop.
    Leave,
    /// Behind the call of the function.
    Return,
    /// Where the failure is handled.
    Throw,
}

impl Evaluator<'_, '_, '_> {
    /// Follows the statements of a whole file.
    pub(super) fn run_module(&mut self, statements: &[Statement]) {
        self.file = self.script();
        self.run_tree(statements);
    }

    /// Follows statements until one of them leads away.
    pub(super) fn run_tree(&mut self, statements: &[Statement]) -> Flow {
        self.hoist(statements);
        for statement in statements {
            if !self.step() {
                return Flow::Next;
            }
            if !self.failing.is_empty() && names::may_fail(statement) {
                self.may_fail_here();
            }
            let flow = self.deeper(|follower| follower.tree_statement(statement)).unwrap_or(Flow::Next);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn tree_statement(&mut self, statement: &Statement) -> Flow {
        match statement {
            Statement::Expression(expression) => {
                self.value(expression);
            }
            Statement::Declare(target, Some(value)) => {
                let given = value;
                let held = self.value(value);
                self.bind(target, held.clone(), Scope::Own);
                if let BindingTarget::Name(name) = target {
                    self.note_second_name(name, How::Plain, given);
                }
                self.note_inner(target, given, &held);
            }
            Statement::Declare(BindingTarget::Name(name), None) if !self.is_python() => {
                self.bind_name(name, ScriptValue::Local, Scope::Own);
            }
            Statement::Reserve(names) => names.iter().for_each(|name| self.reserve(name)),
            Statement::Scope(statements) => {
                return self.in_scope(ScopeSort::Block, |follower| follower.run_tree(statements));
            }
            Statement::Declare(_, None) => {}
            Statement::Define(definition) => self.define_tree(definition),
            Statement::Class(class) => {
                let made = self.make_class(class);
                self.bind_name(&class.name, made, Scope::Own);
            }
            Statement::Import(import) => self.import_tree(import),
            Statement::ShareWithFile(names) => names.iter().for_each(|name| self.share_with_module(name)),
            Statement::ShareAround(names) => names.iter().for_each(|name| self.share_around(name)),
            Statement::If(test, then, otherwise) => return self.either(test, then, otherwise),
            Statement::Loop(each) => return self.turns(each),
            Statement::Try(tried) => return self.tried(tried),
            Statement::With(items, body) => return self.with(items, body),
            Statement::Match(subject, cases) => return self.several(subject, cases),
            Statement::Block(statements) => return self.run_tree(statements),
            Statement::Return(value) => {
                let value = value.as_ref().map_or(ScriptValue::Local, |value| self.value(value));
                self.returned = Some(match self.returned.take() {
                    Some(known) => known.join(&value),
                    None => value,
                });
                return Flow::Return;
            }
            Statement::Throw(values) => {
                // What nobody catches is told with what is in it.
                let thrown: Vec<ScriptValue> = values.iter().map(|value| self.value(value)).collect();
                self.shows(&thrown);
                return Flow::Throw;
            }
            Statement::Leave => return Flow::Leave,
            Statement::Cut => self.not_followed("is nested too deeply"),
        }
        Flow::Next
    }

    /// Runs work that may not happen, and joins what it made of the variables with what they were.
    pub(super) fn perhaps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.variables.clone();
        let answer = self.in_doubt(work);
        self.join_variables(&before);
        answer
    }

    fn join_variables(&mut self, other: &Variables) {
        self.variables.join(other);
    }

    fn certainly_or_not<T>(&mut self, certain: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        if certain { work(self) } else { self.in_doubt(work) }
    }

    fn either(&mut self, test: &Expression, then: &[Statement], otherwise: &[Statement]) -> Flow {
        if is_never(test) {
            return self.run_tree(otherwise);
        }
        let known = self.condition(test);
        let before = self.variables.clone();
        let lets_through = self.suppose(test, true) && known.is_none();
        let first =
            self.certainly_or_not(lets_through || known == Some(true), |follower| follower.run_tree(then));
        let after_first = std::mem::replace(&mut self.variables, before);
        self.suppose(test, false);
        let second = self.certainly_or_not(known == Some(false), |follower| follower.run_tree(otherwise));
        match (known, first, second) {
            (Some(true), flow, _) => {
                self.variables = after_first;
                flow
            }
            (Some(false), _, flow) | (None, Flow::Next, flow @ Flow::Next) => {
                if known.is_none() {
                    self.join_variables(&after_first);
                }
                flow
            }
            // Only one way leads on.
            (None, Flow::Next, _) => {
                self.variables = after_first;
                Flow::Next
            }
            (None, _, Flow::Next) => Flow::Next,
            (None, first, second) => {
                self.join_variables(&after_first);
                if first == second { first } else { Flow::Leave }
            }
        }
    }

    fn turns(&mut self, each: &Loop) -> Flow {
        self.run_tree(&each.start);
        match &each.over {
            Some((target, list)) => {
                let over = list;
                let list = self.value(over);
                self.note_lent(target, over, &list);
                let list = self.as_lines(list);
                self.turns_over(target, &list, each);
            }
            None => self.turns_while(each),
        }
        self.run_tree(&each.otherwise);
        Flow::Next
    }

    /// What a loop over a value goes through: the lines of a file that is open, and of what a program is given.
    fn as_lines(&mut self, list: ScriptValue) -> ScriptValue {
        match &list {
            ScriptValue::File(_) => self.lines(&list),
            ScriptValue::Name(name) if name == "sys.stdin" => self.lines(&list),
            _ => list,
        }
    }

    fn turns_over(&mut self, target: &BindingTarget, list: &ScriptValue, each: &Loop) {
        let keys = if self.is_python() { maps::listed(list, "keys") } else { None };
        match keys.as_ref().unwrap_or(list) {
            ScriptValue::List(items) if (1..=TURNS).contains(&items.len()) => {
                for item in items {
                    self.turn_with(target, item.clone(), each);
                }
            }
            // It may have been filled by what is not followed.
            ScriptValue::List(items) if items.is_empty() => {
                self.perhaps(|follower| follower.turn_with(target, ScriptValue::Text(Value::Unknown), each));
            }
            _ => {
                self.widen(each);
                let item = element(list);
                self.turn_with(target, item, each);
            }
        }
    }

    /// A turn of a loop with one of its values.
    fn turn_with(&mut self, target: &BindingTarget, item: ScriptValue, each: &Loop) {
        if each.fresh.is_empty() {
            let scope = if self.is_python() { Scope::Own } else { Scope::There };
            self.bind(target, item, scope);
            self.run_tree(&each.body);
        } else {
            self.in_scope(ScopeSort::Block, |follower| {
                follower.bind(target, item, Scope::Own);
                follower.run_tree(&each.body);
            });
        }
    }

    /// The body of a loop that counts: each turn has its own of the names that the loop declares.
    fn turn(&mut self, each: &Loop) {
        if each.fresh.is_empty() || each.over.is_some() {
            self.run_tree(&each.body);
            return;
        }
        let before: Vec<(&String, ScriptValue)> =
            each.fresh.iter().map(|name| (name, self.lookup(name))).collect();
        let outer = self.enter(ScopeSort::Block);
        for (name, value) in before {
            self.declare(name, value);
        }
        self.run_tree(&each.body);
        let after: Vec<(&String, ScriptValue)> =
            each.fresh.iter().map(|name| (name, self.lookup(name))).collect();
        self.leave(outer);
        for (name, value) in after {
            self.put(name, value);
        }
    }

    fn turns_while(&mut self, each: &Loop) {
        if each.test.as_ref().is_some_and(is_never) {
            return;
        }
        if each.test.as_ref().is_some_and(|test| names::depends(test, each)) {
            for _ in 0..TURNS {
                match each.test.as_ref().and_then(|test| self.condition(test)) {
                    Some(true) => {
                        self.turn(each);
                        if let Some(step) = &each.step {
                            self.value(step);
                        }
                    }
                    Some(false) => return,
                    None => break,
                }
            }
        }
        self.widen(each);
        let known = each.test.as_ref().map_or(Some(true), |test| self.condition(test));
        // A loop that counts is there to make its turns.
        let counts = each.step.is_some() && known.is_none();
        let turn = |follower: &mut Self| {
            if let Some(test) = &each.test {
                follower.suppose(test, true);
            }
            follower.turn(each);
            if let Some(step) = &each.step {
                follower.value(step);
            }
        };
        if known == Some(true) || counts {
            self.endless += usize::from(!counts);
            turn(self);
            self.endless -= usize::from(!counts);
        } else {
            self.perhaps(turn);
        }
    }

    /// Forgets what a loop changes from turn to turn.
    fn widen(&mut self, each: &Loop) {
        for name in names::assigned(each) {
            if let Some(known) = self.variable_mut(&name) {
                let kept = matches!(
                    known,
                    ScriptValue::Name(_)
                        | ScriptValue::Function(_)
                        | ScriptValue::Class(_)
                        | ScriptValue::Object(_)
                        | ScriptValue::Network(_)
                        | ScriptValue::Foreign
                        | ScriptValue::List(_)
                        | ScriptValue::Map(_)
                );
                if !kept {
                    *known = ScriptValue::Text(Value::Unknown);
                }
            }
        }
    }

    fn tried(&mut self, tried: &Try) -> Flow {
        let before = self.variables.clone();
        self.failing.push(None);
        let mut flow = self.run_tree(&tried.body);
        // A handler sees what the variables held where something failed.
        let failed = self.failing.pop().flatten();
        let failing = failed.clone().unwrap_or(before);
        if flow == Flow::Next {
            flow = self.run_tree(&tried.otherwise);
        }
        let mut falls_through = false;
        // What failed for sure goes on behind a handler, or nowhere.
        let ends_here = flow == Flow::Throw && !tried.handlers.is_empty();
        let mut after = (!ends_here).then(|| self.variables.clone());
        for (target, body) in &tried.handlers {
            self.variables.clone_from(&failing);
            // A body that fails for sure leads here for sure.
            let certain = flow == Flow::Throw && tried.handlers.len() == 1;
            let handle = |follower: &mut Self| {
                if let Some(target) = target {
                    follower.bind(target, ScriptValue::Text(Value::Unknown), Scope::Own);
                }
                follower.certainly_or_not(certain, |follower| follower.run_tree(body))
            };
            // The name of the failure is one of the handler alone in JavaScript.
            let handled =
                if self.is_python() { handle(self) } else { self.in_scope(ScopeSort::Block, handle) };
            falls_through |= handled == Flow::Next;
            if handled != Flow::Next && after.is_some() && tried.last.is_empty() {
                continue;
            }
            match &mut after {
                Some(after) => after.join(&self.variables),
                None => after = Some(self.variables.clone()),
            }
        }
        if let Some(after) = after {
            self.variables = after;
        }
        // What nothing handles leads to the end all the same.
        if let Some(failed) = failed.filter(|_| tried.handlers.is_empty() && !tried.last.is_empty()) {
            self.join_variables(&failed);
        }
        let last = self.run_tree(&tried.last);
        if last != Flow::Next {
            return last;
        }
        if falls_through || (flow == Flow::Throw && !tried.handlers.is_empty()) { Flow::Next } else { flow }
    }

    /// Remembers what the variables hold at a point where something may fail.
    fn may_fail_here(&mut self) {
        let mut all = std::mem::take(&mut self.failing);
        for known in &mut all {
            match known {
                Some(known) => known.join(&self.variables),
                None => *known = Some(self.variables.clone()),
            }
        }
        self.failing = all;
    }

    fn with(&mut self, items: &[(Expression, Option<BindingTarget>)], body: &[Statement]) -> Flow {
        let mut left = Vec::new();
        for (value, target) in items {
            let value = self.value(value);
            let entered = match self.method_of_object(&value, "__enter__") {
                Some(entered) => entered,
                None => value.clone(),
            };
            left.push(value);
            if let Some(target) = target {
                self.bind(target, entered, Scope::Own);
            }
        }
        let flow = self.run_tree(body);
        for value in left.into_iter().rev() {
            self.method_of_object(&value, "__exit__");
        }
        flow
    }

    fn several(&mut self, subject: &Expression, cases: &[SwitchCase]) -> Flow {
        let subject = self.value(subject);
        let before = self.variables.clone();
        let mut after: Option<Variables> = None;
        let mut all_leave = !cases.is_empty();
        let mut always = false;
        for (place, case) in cases.iter().enumerate() {
            self.variables.clone_from(&before);
            let mut known = if case.tests.is_empty() && after.is_none() { Some(true) } else { None };
            for test in &case.tests {
                let test = self.value(test);
                known = conditions::equal(&subject, &test).filter(|_| case.tests.len() == 1);
            }
            for target in &case.targets {
                self.bind(target, ScriptValue::Text(Value::Unknown), Scope::Own);
            }
            let flow = self.certainly_or_not(known == Some(true), |follower| follower.run_tree(&case.body));
            always |= case.tests.is_empty();
            // `break` leaves a case, not a loop.
            all_leave &= matches!(flow, Flow::Return | Flow::Throw);
            if known == Some(true) {
                let mut flow = flow;
                // A case without a `break` leads into the next one.
                for case in cases.iter().skip(place + 1).filter(|_| !self.is_python()).collect::<Vec<_>>() {
                    if flow == Flow::Next {
                        flow = self.run_tree(&case.body);
                    }
                }
                return if flow == Flow::Leave { Flow::Next } else { flow };
            }
            if known == Some(false) {
                continue;
            }
            let made = std::mem::replace(&mut self.variables, before.clone());
            match after.take() {
                Some(known) => {
                    self.variables = known;
                    self.join_variables(&made);
                    after = Some(std::mem::replace(&mut self.variables, before.clone()));
                }
                None => after = Some(made),
            }
        }
        self.variables = before;
        if let Some(after) = after {
            self.join_variables(&after);
        }
        if all_leave && always { Flow::Return } else { Flow::Next }
    }

    pub(super) fn is_python(&self) -> bool {
        self.language == checkrein_scripts::Language::Python
    }

    /// Whether a value is decided; what it takes to know is worked out.
    fn condition(&mut self, test: &Expression) -> Option<bool> {
        let value = self.value(test);
        conditions::decided(&value)
    }
}

/// One of the values that a value runs over.
fn element(list: &ScriptValue) -> ScriptValue {
    match list {
        ScriptValue::Map(entries) => {
            ScriptValue::any(&entries.iter().map(|(key, _)| ScriptValue::text(key)).collect::<Vec<_>>())
        }
        ScriptValue::Text(Value::Unknown) | ScriptValue::Local => ScriptValue::Text(Value::Unknown),
        other => match other.each() {
            ScriptValue::Local => ScriptValue::Text(Value::Unknown),
            each => each,
        },
    }
}

/// Whether a condition is written out so that it never holds: `if False`, `if (0)`. One that is worked out is believed less.
pub(super) fn is_never(test: &Expression) -> bool {
    match test {
        Expression::Truth(truth) => !truth,
        Expression::Number(number) => *number == 0,
        Expression::Text(written) => written.is_empty(),
        Expression::Joint(Joint::And, left, _) => is_never(left),
        Expression::Not(of) => matches!(**of, Expression::Truth(true)),
        _ => false,
    }
}
