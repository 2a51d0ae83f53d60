//! Loops: followed turn by turn within bounds, then as running any number of times.

use std::collections::BTreeMap;

use checkrein_shell::{Block, CStyleFor, For, While};

use super::exit::{Output, Status};
use super::machine::Machine;
use super::shell::{Doubts, Variable, VariableContent};
use super::statements::{Done, Flow};
use super::value::Value;
use super::ways::Leaving;

/// How many turns of a loop are followed one by one (ours).
const TURNS: usize = 64;
/// The part of the steps that are left which one loop may use before it is cut short (ours).
const SHARE: usize = 3;

impl Machine<'_> {
    pub(super) fn run_for(&mut self, each: &For) -> Done {
        let outputs = self.call.substituted.len();
        let words = match &each.words {
            Some(words) => self.expand_words(words),
            None => self.shell.positional.clone().unwrap_or_else(|| vec![Value::Unknown]),
        };
        if self.call.failed {
            self.possibly(|machine| machine.run_block(&each.body));
            return Done::next(super::exit::Exit::failure());
        }
        let variable = self.shell.variables.get(self.shell.referred(&each.variable));
        if variable.is_some_and(|variable| variable.readonly) && !words.is_empty() {
            // It cannot be given a value, which ends the loop, and other shells than bash.
            self.possibly(|machine| machine.run_block(&each.body));
            self.perhaps_ends();
            return Done::next(super::exit::Exit::answer(None));
        }
        let origin = self.call.substituted.get(outputs..).and_then(|new| new.last()).cloned();
        self.call.substituted.truncate(outputs);
        let outer = self.begin_loop();
        let mut all = Done::quiet();
        let mut done_exactly = 0;
        for (index, word) in words.iter().enumerate() {
            if !self.step() {
                all = self.scan(&each.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            let known = matches!(word, Value::Exact(_) | Value::Glob(_));
            let done = if self.budget.steps < self.budget.limit && known && done_exactly < TURNS * 4 {
                done_exactly += 1;
                self.assign(&each.variable, word.clone());
                self.run_turn(&each.body)
            } else if known || self.budget.steps >= self.budget.limit {
                let rest = words.get(index..).unwrap_or_default();
                let value =
                    rest.iter().cloned().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown);
                let origin = origin.as_ref().filter(|_| !known);
                let before = self.shell.variables.clone();
                let done = self.run_perhaps(&each.variable, value.clone(), origin, &each.body);
                let on = goes_on(&mut all, done);
                if on && self.forget_changed(&before, &each.variable) {
                    let done = self.run_perhaps(&each.variable, value, origin, &each.body);
                    goes_on(&mut all, done);
                }
                break;
            } else {
                self.run_perhaps(&each.variable, word.clone(), origin.as_ref(), &each.body)
            };
            if !goes_on(&mut all, done) {
                break;
            }
        }
        self.end_of_loop(outer, all)
    }

    /// Runs the body of a loop any number of times with a variable of which not much is known, but where its value came from.
    pub(super) fn run_perhaps(
        &mut self,
        variable: &str,
        value: Value,
        origin: Option<&Output>,
        body: &Block,
    ) -> Done {
        self.either(
            Leaving::Doubts,
            |machine| {
                machine.assign(variable, value);
                if let Some(origin) = origin {
                    machine.set_origin(variable, origin.clone());
                }
                machine.run_turn(body)
            },
            |_| Done::quiet(),
        )
    }

    /// What a turn changed may have any value in a later turn; answers whether there is any such variable.
    fn forget_changed(&mut self, before: &BTreeMap<String, Variable>, but: &str) -> bool {
        let changed: Vec<String> = self
            .shell
            .variables
            .iter()
            .filter(|(name, variable)| *name != but && before.get(*name) != Some(*variable))
            .map(|(name, _)| name.clone())
            .collect();
        for name in &changed {
            let is_array = self.shell.variables.get(name).is_some_and(|variable| {
                matches!(
                    variable.content,
                    VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unknown
                )
            });
            let content =
                if is_array { VariableContent::Unknown } else { VariableContent::Scalar(Value::Unknown) };
            self.assign_content(name, content);
        }
        !changed.is_empty()
    }

    /// Runs the body of a loop once. What `continue` left there goes on with the next turn.
    fn run_turn(&mut self, body: &Block) -> Done {
        let done = self.run_block(body);
        self.go_on_behind(done, |flow| matches!(flow, Flow::Continue(0 | 1)))
    }

    /// Begins a loop, which gets a part of the steps that are left.
    fn begin_loop(&mut self) -> Around {
        let around = Around { doubts: self.shell.doubts, limit: self.budget.limit };
        self.budget.limit =
            self.budget.steps.saturating_add(self.budget.limit.saturating_sub(self.budget.steps) / SHARE);
        self.shell.loops += 1;
        around
    }

    /// Ends a loop: what left it joins, and its doubts are over.
    fn end_of_loop(&mut self, around: Around, mut done: Done) -> Done {
        let outer = around.doubts;
        self.budget.limit = around.limit;
        self.shell.loops = self.shell.loops.saturating_sub(1);
        done = self.go_on_behind(done, |flow| matches!(flow, Flow::Continue(0 | 1) | Flow::Break(0 | 1)));
        for left in &mut self.left {
            left.flow = one_loop_up(left.flow);
        }
        // What left this loop may have left a turn of the one around it as well, or all of that.
        let breaks = self.left.iter().any(|left| matches!(left.flow, Flow::Break(_)));
        let goes_on = self.left.iter().any(|left| matches!(left.flow, Flow::Continue(_)));
        self.shell.doubts.turn = outer.turn || breaks || goes_on;
        self.shell.doubts.turns = outer.turns || breaks;
        done.flow = match done.flow {
            Flow::Continue(0 | 1) | Flow::Break(0 | 1) | Flow::Next => Flow::Next,
            other => one_loop_up(other),
        };
        done
    }

    pub(super) fn run_while(&mut self, repeated: &While) -> Done {
        let outer = self.begin_loop();
        let mut all = Done::quiet();
        for turn in 0..=TURNS {
            if !self.step() {
                self.scan(&repeated.condition);
                all = self.scan(&repeated.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            let before = (self.shell.variables.clone(), self.shell.cwd.clone(), self.input.clone());
            let positional = self.shell.positional.clone();
            let asked = self.run_condition(&repeated.condition);
            all.output = std::mem::replace(&mut all.output, Output::Nothing).followed_by(asked.output);
            if asked.flow != Flow::Next {
                all.flow = asked.flow;
                break;
            }
            let status = if repeated.until { asked.status.negated() } else { asked.status };
            let decided = status == Status::Success && turn < TURNS && self.budget.steps < self.budget.limit;
            if status == Status::Failure {
                if let Some(absence) = self.absent.take() {
                    self.suppose(absence, |machine| machine.run_block(&repeated.body));
                }
                break;
            }
            let done = if decided {
                self.run_turn(&repeated.body)
            } else {
                self.run_often(&repeated.body, |machine| {
                    machine.run_condition(&repeated.condition);
                })
            };
            if !goes_on(&mut all, done) {
                break;
            }
            let same = before.0 == self.shell.variables
                && before.1 == self.shell.cwd
                && before.2 == self.input
                && positional == self.shell.positional;
            if decided && same {
                self.note_flood(&repeated.body);
            }
            if !decided || same {
                break;
            }
        }
        self.end_of_loop(outer, all)
    }

    /// Runs the body of a loop an unknown number of times. `between` is what runs between two turns.
    fn run_often(&mut self, body: &Block, between: impl Fn(&mut Self)) -> Done {
        self.either(
            Leaving::Doubts,
            |machine| {
                let before = machine.shell.variables.clone();
                let positional = machine.shell.positional.clone();
                let first = machine.run_turn(body);
                if !matches!(first.flow, Flow::Next | Flow::Continue(0 | 1)) {
                    return first;
                }
                between(machine);
                let mut forgets = machine.forget_changed(&before, "");
                if machine.shell.positional != positional {
                    machine.shell.positional = None;
                    forgets = true;
                }
                if !forgets {
                    return Done { flow: Flow::Next, ..first };
                }
                between(machine);
                machine.run_turn(body)
            },
            |_| Done::quiet(),
        )
    }

    pub(super) fn run_counted(&mut self, counted: &CStyleFor) -> Done {
        let outer = self.begin_loop();
        if let Some(start) = &counted.start {
            self.arithmetic(start);
        }
        let mut all = Done::quiet();
        for turn in 0..=TURNS * 4 {
            if !self.step() {
                all = self.scan(&counted.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            let go = match &counted.condition {
                Some(condition) => self.arithmetic(condition).map(|value| value != 0),
                None => Some(true),
            };
            if go == Some(false) {
                break;
            }
            let decided = go == Some(true) && turn < TURNS * 4 && self.budget.steps < self.budget.limit;
            let before = (self.shell.variables.clone(), self.shell.positional.clone());
            let done = if decided {
                self.run_turn(&counted.body)
            } else {
                self.run_often(&counted.body, |machine| {
                    for expression in counted.step.iter().chain(&counted.condition) {
                        machine.arithmetic(expression);
                    }
                })
            };
            if !goes_on(&mut all, done) {
                break;
            }
            if let Some(step) = &counted.step {
                self.arithmetic(step);
            }
            let same = before.0 == self.shell.variables && before.1 == self.shell.positional;
            if decided && same {
                self.note_flood(&counted.body);
            }
            if !decided || same {
                break;
            }
        }
        self.end_of_loop(outer, all)
    }
}

/// What holds around a loop.
#[derive(Debug, Clone, Copy)]
struct Around {
    doubts: Doubts,
    limit: usize,
}

fn one_loop_up(flow: Flow) -> Flow {
    match flow {
        Flow::Continue(levels) if levels > 1 => Flow::Continue(levels - 1),
        Flow::Break(levels) if levels > 1 => Flow::Break(levels - 1),
        Flow::Next | Flow::Continue(_) | Flow::Break(_) | Flow::Return | Flow::Exit => flow,
    }
}

/// Adds what one turn of a loop did to what the loop did before; answers whether there may be another turn.
fn goes_on(all: &mut Done, turn: Done) -> bool {
    all.output = std::mem::replace(&mut all.output, Output::Nothing).followed_by(turn.output);
    all.status = turn.status;
    match turn.flow {
        Flow::Next | Flow::Continue(0 | 1) => true,
        Flow::Break(0 | 1) => false,
        Flow::Continue(_) | Flow::Break(_) | Flow::Return | Flow::Exit => {
            all.flow = turn.flow;
            false
        }
    }
}
