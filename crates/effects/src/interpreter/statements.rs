//! Control flow: lists, pipes, branches, loops, functions, subshells.

use std::collections::BTreeMap;
use std::rc::Rc;

use checkrein_shell::{
    AndOr, Arm, ArmEnd, Block, Case, Command, Connective, Coprocess, If, Launch, Pipeline, ProblemKind,
    Statement,
};

use crate::effect::{EffectKind, Severity, Target};

use super::call::Input;
use super::descriptors::{Opening, Sink};
use super::draft::Draft;
use super::exit::{Exit, Output, Status};
use super::machine::{Absence, Machine};
use super::overlay::Overlay;
use super::pattern::{Letters, Pattern};
use super::shell::{Content, Doubts, Shell};
use super::value::Value;

/// How deeply commands may be nested before they are not followed (ours).
const DEPTH: usize = 40;
/// How often a function may stand in its own call chain (ours).
const RECURSION: usize = 8;

/// Where control goes after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next command.
    Next,
    /// To the next turn of the loop, that many loops up.
    Continue(u32),
    /// Behind the loop, that many loops up.
    Break(u32),
    /// Behind the call of the function or script.
    Return,
    /// To the end of the shell.
    Exit,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    /// Where control goes.
    pub(crate) flow: Flow,
    /// What is known of the exit status.
    pub(crate) status: Status,
    /// What it wrote.
    pub(crate) output: Output,
}

impl Done {
    /// Went on, with this answer.
    pub(crate) fn next(exit: Exit) -> Self {
        Self { flow: Flow::Next, status: exit.status, output: exit.output }
    }

    /// Succeeded without a word.
    pub(crate) fn quiet() -> Self {
        Self::next(Exit::success())
    }

    /// Went elsewhere.
    pub(crate) fn leaving(flow: Flow, status: Status) -> Self {
        Self { flow, status, output: Output::Nothing }
    }

    /// The answer without where control goes.
    pub(crate) fn exit(self) -> Exit {
        Exit { status: self.status, output: self.output }
    }

    /// The exit status as a number, when known.
    pub(crate) fn code(&self) -> Option<i64> {
        match self.status {
            Status::Success => Some(0),
            Status::Failure => Some(1),
            Status::Unknown | Status::Open => None,
        }
    }
}

/// A state left behind by a way that went elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(super) flow: Flow,
    shell: Shell,
    tree: Overlay,
}

/// Whether what follows is in doubt when one of two ways leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Either way is as likely.
    Doubts,
    /// The way that leaves is not expected (`make || exit 1`).
    Unexpected,
}

impl Machine<'_> {
    /// Runs statements in order until one goes elsewhere.
    pub(crate) fn run_block(&mut self, block: &Block) -> Done {
        let mut all = Done::quiet();
        for statement in block {
            if !self.step() {
                break;
            }
            let done = self.run_statement(statement);
            all.output = std::mem::replace(&mut all.output, Output::Nothing).followed_by(done.output);
            if let Output::Text(value) = all.output {
                all.output = Output::Text(super::expand::bounded(value));
            }
            all.status = done.status;
            if done.flow != Flow::Next {
                all.flow = done.flow;
                break;
            }
        }
        all
    }

    fn run_statement(&mut self, statement: &Statement) -> Done {
        match statement.launch {
            Launch::Foreground => {
                let done = self.run_command(&statement.command);
                self.shell.last_status = done.code();
                let plain = matches!(
                    statement.command,
                    Command::Simple(_)
                        | Command::Pipeline(_)
                        | Command::Subshell(_)
                        | Command::Test(_)
                        | Command::Arithmetic(_)
                );
                let negated = matches!(&statement.command, Command::Pipeline(pipeline) if pipeline.negated);
                let fails = done.status == Status::Failure && done.flow == Flow::Next;
                if fails && plain && !negated && self.conditions == 0 {
                    if let Some(text) = self.shell.at_error.take() {
                        self.run_here(&text);
                        self.shell.at_error = Some(text);
                    }
                    if self.shell.options.errexit && self.absent == Some(Absence::Path) {
                        // What is not there now may be there by then.
                        self.shell.doubts.shell = true;
                    } else if self.shell.options.errexit {
                        return Done { flow: Flow::Exit, ..done };
                    }
                }
                done
            }
            Launch::Background => {
                let shell = self.shell.clone();
                let input = std::mem::replace(&mut self.input, Input::Text(Value::exact("")));
                self.run_command(&statement.command);
                self.input = input;
                self.shell = shell;
                self.shell.last_status = Some(0);
                let name = first_word(&statement.command).unwrap_or_default();
                self.add(
                    Draft::new(EffectKind::ProcessSpawn, Target::Process(name))
                        .note("runs in the background"),
                );
                Done::quiet()
            }
        }
    }

    /// Runs one command of any form.
    pub(crate) fn run_command(&mut self, command: &Command) -> Done {
        if !self.step() {
            return Done::next(Exit::unknown());
        }
        if self.depth >= DEPTH {
            self.opaque("commands are nested too deeply to be followed");
            return Done::next(Exit::unknown());
        }
        self.absent = None;
        self.depth += 1;
        let done = self.run_form(command);
        self.depth -= 1;
        done
    }

    fn run_form(&mut self, command: &Command) -> Done {
        match command {
            Command::Simple(simple) => self.run_simple(simple),
            Command::Pipeline(pipeline) => self.run_pipeline(pipeline),
            Command::AndOr(list) => self.run_and_or(list),
            Command::Subshell(block) => self.run_subshell(block),
            Command::Group(block) => self.run_block(block),
            Command::If(choice) => self.run_if(choice, 0),
            Command::For(each) => self.run_for(each),
            Command::CStyleFor(counted) => self.run_counted(counted),
            Command::While(repeated) => self.run_while(repeated),
            Command::Case(case) => {
                let subject = self.expand_text(&case.subject);
                self.run_case(case, 0, &subject)
            }
            Command::Select(each) => {
                let words = match &each.words {
                    Some(words) => self.expand_words(words),
                    None => self.shell.positional.clone().unwrap_or_else(|| vec![Value::Unknown]),
                };
                let chosen =
                    words.into_iter().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown);
                self.run_perhaps(&each.variable, chosen, None, &each.body)
            }
            Command::Function(function) => {
                self.shell.functions.insert(function.name.clone(), Rc::new((*function.body).clone()));
                Done::quiet()
            }
            Command::Test(test) => {
                let answer = self.condition(&test.condition);
                Done::next(Exit::answer(answer))
            }
            Command::Arithmetic(arithmetic) => {
                let answer = self.arithmetic(arithmetic).map(|value| value != 0);
                Done::next(Exit::answer(answer))
            }
            Command::Coprocess(coprocess) => self.run_coprocess(coprocess),
            Command::Time(inner) => self.run_command(inner),
            Command::Redirected(redirected) => {
                self.with_redirects(&redirected.redirects, |machine| machine.run_command(&redirected.command))
            }
            Command::Opaque(opaque) => {
                self.problems.push(format!("not understood: `{}`", shortened(&opaque.text)));
                let draft = Draft::new(EffectKind::Opaque, Target::Unknown)
                    .note(format!("could not be read: `{}`", shortened(&opaque.text)));
                if matches!(opaque.reason, ProblemKind::Syntax | ProblemKind::Unsupported) {
                    self.run_what_may_be_meant(&opaque.text);
                }
                self.add(match opaque.reason {
                    // The shell does not run it either, unless it is another one.
                    ProblemKind::Syntax | ProblemKind::Unsupported => draft,
                    // It would run, and nobody has read it.
                    ProblemKind::TooLong
                    | ProblemKind::TooDeep
                    | ProblemKind::Deadline
                    | ProblemKind::ParserFailed => draft.severity(Severity::High),
                });
                Done::next(Exit::unknown())
            }
        }
    }

    /// Starts a command beside the shell, joined to it by two descriptors. What will be written to it is not known yet.
    fn run_coprocess(&mut self, coprocess: &Coprocess) -> Done {
        let shell = self.shell.clone();
        let input = std::mem::replace(&mut self.input, Input::Unknown);
        self.listening += 1;
        let done = self.run_command(&coprocess.command);
        self.listening -= 1;
        self.input = input;
        self.shell = shell;
        let mut ends = BTreeMap::new();
        for (index, opening) in
            [Opening::to_read(done.output.into_input()), Opening { input: None, sink: Sink::Elsewhere }]
                .into_iter()
                .enumerate()
        {
            let number = self.next_descriptor();
            self.keep_open(number, opening);
            ends.insert(i64::try_from(index).unwrap_or_default(), Value::Exact(number.to_string()));
        }
        self.assign_content(&coprocess.name, Content::List(ends));
        Done::quiet()
    }

    /// Runs statements in a subshell: nothing that they do to the shell itself stays.
    pub(crate) fn run_subshell(&mut self, block: &Block) -> Done {
        if self.depth >= DEPTH {
            self.opaque("commands are nested too deeply to be followed");
            return Done::next(Exit::unknown());
        }
        self.depth += 1;
        let done = self.in_subshell(|machine| machine.run_block(block));
        self.depth -= 1;
        done
    }

    /// Runs `work` so that nothing that it does to the shell itself stays.
    pub(crate) fn in_subshell(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = self.shell.clone();
        let left = std::mem::take(&mut self.left);
        self.shell.at_exit = None;
        let mut done = work(self);
        self.end_of_shell();
        self.collect(|_| true);
        self.left = left;
        self.shell = outer;
        done.flow = Flow::Next;
        done
    }

    /// Runs what `trap ... EXIT` has left for the end.
    pub(crate) fn end_of_shell(&mut self) {
        self.shell.doubts = Doubts::default();
        for text in std::mem::take(&mut self.shell.on_signals) {
            self.possibly(|machine| machine.run_here(&text));
        }
        if let Some(text) = self.shell.at_exit.take() {
            self.run_here(&text);
        }
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> Done {
        let mut done = Done::quiet();
        if let [only] = pipeline.stages.as_slice() {
            if pipeline.negated {
                self.conditions += 1;
            }
            done = self.run_command(&only.command);
            if pipeline.negated {
                self.conditions -= 1;
            }
        } else {
            let outer = self.input.clone();
            let last = pipeline.stages.len().saturating_sub(1);
            let mut failed = false;
            for (index, stage) in pipeline.stages.iter().enumerate() {
                self.listening += usize::from(index < last);
                done = self.in_subshell(|machine| machine.run_command(&stage.command));
                self.listening -= usize::from(index < last);
                if index < last {
                    failed |= done.status == Status::Failure;
                    self.input = std::mem::replace(&mut done.output, Output::Nothing).into_input();
                }
            }
            self.input = outer;
            if failed && self.shell.options.pipefail {
                done.status = Status::Failure;
            }
        }
        if pipeline.negated {
            done.status = done.status.negated();
        }
        done
    }

    fn run_and_or(&mut self, list: &AndOr) -> Done {
        let rest = list.rest.len();
        self.conditions += usize::from(rest > 0);
        let mut done = self.run_command(&list.first);
        self.conditions -= usize::from(rest > 0);
        for (index, (connective, command)) in list.rest.iter().enumerate() {
            if done.flow != Flow::Next {
                return done;
            }
            self.shell.last_status = done.code();
            let ends = index + 1 == rest;
            let before = std::mem::replace(&mut done.output, Output::Nothing);
            let run = |machine: &mut Self| {
                machine.conditions += usize::from(!ends);
                let done = machine.run_command(command);
                machine.conditions -= usize::from(!ends);
                done
            };
            let absent = self.absent.take();
            done = match (connective, done.status) {
                (Connective::And, Status::Failure) => {
                    if let Some(absence) = absent {
                        self.suppose(absence.clone(), run);
                        // What follows in the list rests on it too.
                        self.absent = Some(absence);
                    }
                    done
                }
                (Connective::Or, Status::Success) => done,
                (Connective::And, Status::Success) | (Connective::Or, Status::Failure) => run(self),
                (Connective::And, Status::Unknown) => {
                    let mut done = run(self);
                    if done.status == Status::Success {
                        done.status = Status::Unknown;
                    }
                    done
                }
                (Connective::And, Status::Open) => {
                    self.either(Leaving::Doubts, run, |_| Done::next(Exit::failure()))
                }
                (Connective::Or, Status::Unknown) => {
                    self.either(Leaving::Unexpected, run, |_| Done::next(Exit::silent()))
                }
                (Connective::Or, Status::Open) => self.either(Leaving::Doubts, run, |_| Done::quiet()),
            };
            done.output = before.followed_by(std::mem::replace(&mut done.output, Output::Nothing));
        }
        done
    }

    /// Follows both of two ways and goes on with what holds after either.
    pub(crate) fn either(
        &mut self,
        leaving: Leaving,
        first: impl FnOnce(&mut Self) -> Done,
        second: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let (shell, tree, input) = (self.shell.clone(), self.tree.clone(), self.input.clone());
        self.doubt += 1;
        let one = first(self);
        let shell_one = std::mem::replace(&mut self.shell, shell);
        let tree_one = std::mem::replace(&mut self.tree, tree);
        let input_one = std::mem::replace(&mut self.input, input);
        let two = second(self);
        self.doubt -= 1;
        let output = one.output.join(two.output);
        if self.input != input_one {
            self.input = Input::Unknown;
        }
        match (one.flow, two.flow) {
            (Flow::Next, Flow::Next) => {
                self.join_with(&shell_one, &tree_one);
                Done { flow: Flow::Next, status: one.status.join(two.status), output }
            }
            (Flow::Next, gone) => {
                let shell_two = std::mem::replace(&mut self.shell, shell_one);
                let tree_two = std::mem::replace(&mut self.tree, tree_one);
                self.leave(gone, shell_two, tree_two, leaving);
                Done { flow: Flow::Next, status: one.status, output }
            }
            (gone, Flow::Next) => {
                self.leave(gone, shell_one, tree_one, leaving);
                Done { flow: Flow::Next, status: two.status, output }
            }
            (left, right) => {
                let flow = if rank(left) <= rank(right) { left } else { right };
                self.join_with(&shell_one, &tree_one);
                Done { flow, status: one.status.join(two.status), output }
            }
        }
    }

    /// Follows what would run if something were there that is not: its effects are possible, and nothing else of it stays.
    pub(crate) fn suppose(&mut self, absence: Absence, work: impl FnOnce(&mut Self) -> Done) {
        let (shell, tree, input) = (self.shell.clone(), self.tree.clone(), self.input.clone());
        let left = std::mem::take(&mut self.left);
        if let Absence::Directory(directory) = absence {
            self.shell.cwd = directory;
            self.shell.logical = None;
        }
        self.doubt += 1;
        self.supposing += 1;
        work(self);
        self.supposing -= 1;
        self.doubt -= 1;
        self.left = left;
        self.shell = shell;
        self.tree = tree;
        self.input = input;
        self.absent = None;
    }

    fn join_with(&mut self, shell: &Shell, tree: &Overlay) {
        let environment = |name: &str| self.environment(name);
        self.shell = self.shell.clone().join(shell, &environment);
        self.tree = std::mem::take(&mut self.tree).join(tree);
    }

    /// Remembers the state of a way that went elsewhere.
    fn leave(&mut self, flow: Flow, shell: Shell, tree: Overlay, leaving: Leaving) {
        if leaving == Leaving::Unexpected {
            return;
        }
        self.shell.doubts = self.shell.doubts.or(shell.doubts);
        match flow {
            Flow::Next => {}
            Flow::Continue(_) => self.shell.doubts.turn = true,
            Flow::Break(_) => {
                self.shell.doubts.turn = true;
                self.shell.doubts.turns = true;
            }
            Flow::Return => self.shell.doubts.function = true,
            Flow::Exit => self.shell.doubts.shell = true,
        }
        if self.left.len() < 64 {
            self.left.push(Left { flow, shell, tree });
        }
    }

    /// Joins the states of ways that ended here into the present one.
    pub(super) fn collect(&mut self, ends_here: impl Fn(Flow) -> bool) {
        let (here, further): (Vec<Left>, Vec<Left>) =
            std::mem::take(&mut self.left).into_iter().partition(|left| ends_here(left.flow));
        self.left = further;
        for left in here {
            let doubts = self.shell.doubts;
            self.join_with(&left.shell, &left.tree);
            self.shell.doubts = doubts;
        }
    }

    pub(super) fn run_condition(&mut self, block: &Block) -> Done {
        self.conditions += 1;
        let done = self.run_block(block);
        self.conditions -= 1;
        done
    }

    fn run_if(&mut self, choice: &If, index: usize) -> Done {
        let Some((condition, body)) = choice.branches.get(index) else {
            return choice.otherwise.as_ref().map_or_else(Done::quiet, |block| self.run_block(block));
        };
        let asked = self.run_condition(condition);
        if asked.flow != Flow::Next {
            return asked;
        }
        let mut done = match asked.status {
            Status::Success => self.run_block(body),
            Status::Failure => {
                if let Some(absence) = self.absent.take() {
                    self.suppose(absence, |machine| machine.run_block(body));
                }
                self.run_if(choice, index + 1)
            }
            Status::Unknown | Status::Open => self.either(
                Leaving::Doubts,
                |machine| machine.run_block(body),
                |machine| machine.run_if(choice, index + 1),
            ),
        };
        done.output = asked.output.followed_by(done.output);
        done
    }

    fn run_case(&mut self, case: &Case, index: usize, subject: &Value) -> Done {
        let Some(arm) = case.arms.get(index) else { return Done::quiet() };
        let mut fits = Some(false);
        for pattern in &arm.patterns {
            let answer = match self.expand_pattern(pattern) {
                Some(text) => matches_value(&text, subject),
                None => None,
            };
            match answer {
                Some(true) => {
                    fits = Some(true);
                    break;
                }
                Some(false) => {}
                None => fits = None,
            }
        }
        match fits {
            Some(true) => self.run_arm(case, index, arm, subject),
            Some(false) => self.run_case(case, index + 1, subject),
            None => self.either(
                Leaving::Doubts,
                |machine| machine.run_arm(case, index, arm, subject),
                |machine| machine.run_case(case, index + 1, subject),
            ),
        }
    }

    fn run_arm(&mut self, case: &Case, index: usize, arm: &Arm, subject: &Value) -> Done {
        let done = self.run_block(&arm.body);
        if done.flow != Flow::Next {
            return done;
        }
        let more = match arm.end {
            ArmEnd::Break => return done,
            ArmEnd::FallThrough => match case.arms.get(index + 1) {
                Some(next) => self.run_arm(case, index + 1, next, subject),
                None => return done,
            },
            ArmEnd::TryNext => self.run_case(case, index + 1, subject),
        };
        Done { output: done.output.followed_by(more.output), ..more }
    }

    /// Calls a function of the shell.
    pub(crate) fn call_function(&mut self, name: &str, body: &Command, arguments: &[Value]) -> Done {
        let nested = self.calls.iter().filter(|call| *call == name).count();
        if nested >= RECURSION || self.depth >= DEPTH {
            self.note_endless_calls(name, body);
            return Done::next(Exit::unknown());
        }
        self.calls.push(name.to_owned());
        let positional = self.shell.positional.replace(arguments.to_vec());
        let doubts = self.shell.doubts;
        self.shell.locals.push(BTreeMap::new());
        let mut done = self.run_command(body);
        self.collect(|flow| flow == Flow::Return);
        if let Some(locals) = self.shell.locals.pop() {
            for (name, before) in locals {
                match before {
                    Some(variable) => self.shell.variables.insert(name, variable),
                    None => self.shell.variables.remove(&name),
                };
            }
        }
        self.shell.positional = positional;
        self.shell.doubts = Doubts { function: doubts.function, ..self.shell.doubts };
        self.calls.pop();
        if done.flow == Flow::Return {
            done.flow = Flow::Next;
        }
        done
    }

    /// Ends the run of a script or `source`: what returned joins.
    pub(crate) fn end_of_script(&mut self, mut done: Done, doubts: Doubts) -> Done {
        self.collect(|flow| flow == Flow::Return);
        self.shell.doubts.function = doubts.function;
        if done.flow == Flow::Return {
            done.flow = Flow::Next;
        }
        done
    }
}

fn rank(flow: Flow) -> u8 {
    match flow {
        Flow::Next => 0,
        Flow::Continue(_) => 1,
        Flow::Break(_) => 2,
        Flow::Return => 3,
        Flow::Exit => 4,
    }
}

/// Whether a value matches a pattern; `None` when that is not known.
pub(super) fn matches_value(pattern: &str, value: &Value) -> Option<bool> {
    if pattern == "*" {
        return Some(true);
    }
    let compiled = Pattern::new(pattern);
    let texts = value.alternatives()?;
    let mut answers = texts.iter().map(|text| compiled.matches(text, Letters::Exact));
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}

/// The name of the program that a command begins with, when it is written out.
fn first_word(command: &Command) -> Option<String> {
    match command {
        Command::Simple(simple) => simple.written_name().map(str::to_owned),
        Command::Pipeline(pipeline) => first_word(&pipeline.stages.first()?.command),
        Command::AndOr(list) => first_word(&list.first),
        Command::Time(inner) => first_word(inner),
        Command::Redirected(redirected) => first_word(&redirected.command),
        Command::Subshell(_)
        | Command::Group(_)
        | Command::If(_)
        | Command::For(_)
        | Command::CStyleFor(_)
        | Command::While(_)
        | Command::Case(_)
        | Command::Select(_)
        | Command::Function(_)
        | Command::Test(_)
        | Command::Arithmetic(_)
        | Command::Coprocess(_)
        | Command::Opaque(_) => None,
    }
}

fn shortened(text: &str) -> String {
    let first: String = text.chars().take(80).collect();
    if first.len() < text.len() { format!("{first}...") } else { first }
}
