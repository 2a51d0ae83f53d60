//! Loops: followed turn by turn within bounds, then as running any number of times.

use std::collections::BTreeMap;
use std::rc::Rc;

use checkrein_shell::{Block, CStyleFor, Command, For, While};

use super::assumptions::Answer;
use super::call::Input;
use super::descriptors::Opening;
use super::exit::{Output, Status};
use super::machine::{Absence, Machine};
use super::overlay::Overlay;
use super::shell::{Doubts, Options, ShellDirectory, Variable, VariableContent};
use super::statements::{Done, Flow};
use super::value::Value;
use super::ways::Leaving;

/// How many turns of a loop are followed one by one (ours).
const TURNS: usize = 64;
/// How many words or lines of a list are followed one by one (ours).
const LISTED: usize = 256;
/// How many lines of a list are read that are left when a loop over them is cut short (ours).
const LINES: usize = 4096;
/// How often turns of a loop are followed until nothing new comes of them (ours).
const SETTLING: usize = 6;
/// The part of the steps that are left which one loop may use before it is cut short (ours).
const SHARE: usize = 3;

impl Machine<'_> {
    pub(super) fn run_for(&mut self, each: &For) -> Done {
        if let Some(texts) = self.separators_in_doubt_among(each.words.as_deref().unwrap_or_default()) {
            return self.run_with_each_separator(&texts, &|machine| machine.run_for(each));
        }
        let outputs = self.call.substituted.len();
        let unseen = self.unseen;
        self.call.unmatched.clear();
        let words = if let Some(words) = &each.words {
            self.expand_words(words)
        } else {
            self.unseen += usize::from(self.is_presumed("@"));
            self.shell.positional.clone().unwrap_or_else(|| vec![Value::Unknown])
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
        let is_presumed = self.unseen > unseen;
        let held = is_presumed.then(|| self.shell.variables.clone());
        self.note_presumed(&each.variable, unseen);
        let outer = self.begin_loop();
        let mut all = Done::quiet();
        if is_presumed && words.is_empty() {
            // What nothing fits now is named by its pattern alone.
            let unmatched = std::mem::take(&mut self.call.unmatched);
            for value in unmatched {
                self.suppose(Absence::Path, |machine| {
                    machine.run_perhaps(&each.variable, &value, &each.body)
                });
            }
        }
        for (index, word) in words.iter().enumerate() {
            if !self.step() {
                all = self.scan(&each.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            let rest = words.get(index..).unwrap_or_default();
            let is_cut = index >= LISTED || self.budget.steps >= self.budget.limit;
            let value = if is_cut { any_of(rest) } else { word.clone() };
            let is_known = matches!(value, Value::Exact(_) | Value::Glob(_)) && !is_cut;
            let before = Standing::of(self);
            let turn = |machine: &mut Self| {
                machine.assign_in_turn(&each.variable, value.clone());
                if let Some(origin) =
                    origin.as_ref().filter(|_| !matches!(word, Value::Exact(_) | Value::Glob(_)))
                {
                    machine.set_origin(&each.variable, origin.clone());
                }
                machine.run_turn(&each.body)
            };
            let done = if is_known { turn(self) } else { self.perhaps(turn) };
            if !goes_on(&mut all, done) {
                break;
            }
            let is_one = !is_cut && matches!(word, Value::Exact(_) | Value::AnyOf(_));
            if !is_one && !self.run_until_settled(&before, &each.variable, &mut all, turn) || is_cut {
                break;
            }
        }
        if let Some(held) = held {
            // How often it ran is no surer than the list.
            self.presume_changed(&held);
        }
        self.end_of_loop(outer, all)
    }

    /// Runs the body of a loop any number of times with a variable of which not much is known.
    pub(super) fn run_perhaps(&mut self, variable: &str, value: &Value, body: &Block) -> Done {
        let before = Standing::of(self);
        let turn = |machine: &mut Self| {
            machine.assign(variable, value.clone());
            machine.run_turn(body)
        };
        let mut all = self.perhaps(turn);
        if all.flow == Flow::Next {
            self.run_until_settled(&before, variable, &mut all, turn);
        }
        all
    }

    /// Runs more turns of a loop of which there are any number, until nothing changes any more that is known. Answers whether the loop goes on.
    fn run_until_settled(
        &mut self,
        before: &Standing,
        but: &str,
        all: &mut Done,
        turn: impl Fn(&mut Self) -> Done,
    ) -> bool {
        let mut changes = self.changed(before, but) || before.positional != self.shell.positional;
        for _ in 0..SETTLING {
            if !changes {
                return true;
            }
            let before = Standing::of(self);
            let done = self.perhaps(&turn);
            if !goes_on(all, done) {
                return false;
            }
            changes = self.forget_changed(&before, but);
        }
        true
    }

    fn changed(&self, before: &Standing, but: &str) -> bool {
        let variables = &self.shell.variables;
        variables.iter().any(|(name, variable)| name != but && before.variables.get(name) != Some(variable))
    }

    /// What a turn changed may have any value in a later turn; answers whether there is any such thing.
    fn forget_changed(&mut self, before: &Standing, but: &str) -> bool {
        let changed: Vec<String> = self
            .shell
            .variables
            .iter()
            .filter(|(name, variable)| *name != but && before.variables.get(*name) != Some(*variable))
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
        let shifts = before.positional != self.shell.positional;
        if shifts {
            self.shell.positional = None;
        }
        shifts || !changed.is_empty()
    }

    /// What is left to read of a list of lines is any of these lines from here on, in a loop that reads them.
    fn read_any_line(&mut self, start: &Standing) {
        if start.input != self.input {
            self.input = any_line(&self.input);
        }
        for (number, opening) in &mut self.shell.descriptors {
            let before = start.descriptors.get(number).map(|opening| &opening.input);
            if before.is_some_and(|before| *before != opening.input) {
                opening.input = opening.input.as_ref().map(any_line);
            }
        }
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
        let (held, presumed_files) = (self.shell.variables.clone(), self.presumed_files);
        let done = self.run_turns(repeated);
        if self.presumed_files > presumed_files
            || self.presumed_files > 0 && matches!(self.input, Input::Text(_))
        {
            self.presume_changed(&held);
        }
        done
    }

    fn run_turns(&mut self, repeated: &While) -> Done {
        let outer = self.begin_loop();
        let mut all = Done::quiet();
        let start = Standing::of(self);
        let mut is_flood = false;
        // Lines of a list end it, so that there may be more of them.
        let mut turns = TURNS;
        for turn in 0..=LISTED {
            if !self.step() {
                self.scan(&repeated.condition);
                all = self.scan(&repeated.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            if turn == TURNS && start.is_read_by(self) {
                turns = LISTED;
            }
            let is_cut = turn == turns || self.budget.steps >= self.budget.limit;
            if is_cut {
                self.read_any_line(&start);
            }
            let before = Standing::of(self);
            let asked = self.run_condition(&repeated.condition);
            all.output = std::mem::replace(&mut all.output, Output::Nothing).followed_by(asked.output);
            if asked.flow != Flow::Next {
                all.flow = asked.flow;
                break;
            }
            let status = if repeated.until { asked.status.negated() } else { asked.status };
            let answer = if repeated.until { Answer::NotMet } else { Answer::Met };
            let decided = status == Status::Success && !is_cut;
            if status == Status::Failure {
                if let Some(absence) = self.absent.take() {
                    self.suppose(absence, |machine| {
                        machine.assume_condition(&repeated.condition, answer, &[]);
                        machine.run_block(&repeated.body)
                    });
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
            is_flood |= decided && before.has_values_of(self);
            if !decided || before.is_of(self) {
                break;
            }
        }
        if is_flood {
            self.note_flood(&repeated.body);
        }
        self.end_of_loop(outer, all)
    }

    /// Runs the body of a loop an unknown number of times. `between` is what runs between two turns.
    fn run_often(&mut self, body: &Block, between: impl Fn(&mut Self)) -> Done {
        self.either(
            Leaving::Doubts,
            |machine| {
                let mut before = Standing::of(machine);
                let first = machine.run_turn(body);
                if !matches!(first.flow, Flow::Next | Flow::Continue(0 | 1)) {
                    return first;
                }
                between(machine);
                for _ in 0..SETTLING {
                    if !machine.forget_changed(&before, "") {
                        break;
                    }
                    before = Standing::of(machine);
                    between(machine);
                    let next = machine.run_turn(body);
                    if !matches!(next.flow, Flow::Next | Flow::Continue(0 | 1)) {
                        return next;
                    }
                    between(machine);
                }
                Done { flow: Flow::Next, ..first }
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
        let start = Standing::of(self);
        let mut is_flood = false;
        for turn in 0..=LISTED {
            if !self.step() {
                all = self.scan(&counted.body);
                break;
            }
            self.shell.doubts.turn = outer.doubts.turn;
            let is_cut = turn == LISTED || self.budget.steps >= self.budget.limit;
            if is_cut {
                self.read_any_line(&start);
            }
            let go = match &counted.condition {
                Some(condition) => self.arithmetic(condition).map(|value| value != 0),
                None => Some(true),
            };
            if go == Some(false) {
                break;
            }
            let decided = go == Some(true) && !is_cut;
            let before = Standing::of(self);
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
            is_flood |= decided && before.has_values_of(self);
            if !decided || before.is_of(self) {
                break;
            }
        }
        if is_flood {
            self.note_flood(&counted.body);
        }
        self.end_of_loop(outer, all)
    }
}

/// What a turn of a loop may change for the next one.
struct Standing {
    variables: BTreeMap<String, Variable>,
    positional: Option<Vec<Value>>,
    input: Input,
    descriptors: BTreeMap<u32, Opening>,
    cwd: ShellDirectory,
    functions: BTreeMap<String, Rc<Command>>,
    aliases: BTreeMap<String, String>,
    options: Options,
    tree: Overlay,
}

impl Standing {
    fn of(machine: &mut Machine<'_>) -> Self {
        machine.pay_for_copy();
        let shell = &machine.shell;
        Self {
            variables: shell.variables.clone(),
            positional: shell.positional.clone(),
            input: machine.input.clone(),
            descriptors: shell.descriptors.clone(),
            cwd: shell.cwd.clone(),
            functions: shell.functions.clone(),
            aliases: shell.aliases.clone(),
            options: shell.options,
            tree: machine.tree.clone(),
        }
    }

    /// Whether what words are made of is the same.
    fn has_values_of(&self, machine: &Machine<'_>) -> bool {
        let shell = &machine.shell;
        self.variables == shell.variables
            && self.positional == shell.positional
            && self.cwd == shell.cwd
            && self.input == machine.input
    }

    /// Whether something has been read since then of what is known.
    fn is_read_by(&self, machine: &Machine<'_>) -> bool {
        self.input != machine.input
            || self.descriptors.iter().any(|(number, opening)| {
                machine.shell.descriptors.get(number).is_some_and(|now| now.input != opening.input)
            })
    }

    /// Whether all of it is the same, so that another turn would do what the last one did.
    fn is_of(&self, machine: &Machine<'_>) -> bool {
        let shell = &machine.shell;
        self.has_values_of(machine)
            && self.descriptors == shell.descriptors
            && self.functions == shell.functions
            && self.aliases == shell.aliases
            && self.options == shell.options
            && self.tree == machine.tree
    }
}

/// One of the words that are left, whichever it is.
pub(super) fn any_of(words: &[Value]) -> Value {
    let exact: Option<Vec<String>> = words.iter().map(|word| word.as_exact().map(str::to_owned)).collect();
    match exact {
        Some(texts) => Value::one_of(texts),
        None => words.iter().cloned().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown),
    }
}

/// Any of the lines of what is read, when these are known and not too many.
fn any_line(input: &Input) -> Input {
    match input {
        Input::Text(Value::Exact(text)) if text.lines().count() <= LINES => {
            match Value::one_of(text.lines().map(str::to_owned).collect()) {
                any @ Value::AnyOf(_) => Input::Text(any),
                // They are all the same.
                _ => input.clone(),
            }
        }
        Input::Text(Value::Exact(_)) => Input::Text(Value::Unknown),
        Input::Text(_)
        | Input::Inherited
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => input.clone(),
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
        Flow::Next | Flow::Continue(_) | Flow::Break(_) | Flow::Return | Flow::Discard | Flow::Exit => flow,
    }
}

/// Adds what one turn of a loop did to what the loop did before; answers whether there may be another turn.
fn goes_on(all: &mut Done, turn: Done) -> bool {
    all.output = std::mem::replace(&mut all.output, Output::Nothing).followed_by(turn.output);
    all.status = turn.status;
    match turn.flow {
        Flow::Next | Flow::Continue(0 | 1) => true,
        Flow::Break(0 | 1) => false,
        Flow::Continue(_) | Flow::Break(_) | Flow::Return | Flow::Discard | Flow::Exit => {
            all.flow = turn.flow;
            false
        }
    }
}
