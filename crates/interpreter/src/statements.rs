//! Control flow: lists, pipes, functions, subshells.

use std::collections::BTreeMap;
use std::rc::Rc;

use checkrein_shell::{
    Block, Carries, Command, Coprocess, Descriptor, Launch, Part, Pipeline, ProblemKind, Redirect,
    RedirectOperation, Redirected, ShellStatement, Span, Word,
};

use crate::effect::{EffectKind, Severity, Target};
use crate::nature::Nature;

use super::call::Input;
use super::descriptors::Opening;
use super::draft::Draft;
use super::exit::{Exit, Output, Status};
use super::machine::{Absence, Machine};
use super::pattern::Letters;
use super::shell::{Doubts, VariableContent};
use super::sweeps::{Remainder, Screen};
use super::value::Value;
use super::ways::Leaving;

/// How deeply commands may be nested before they are not followed (ours).
pub(super) const DEPTH: usize = 40;
/// How often a function may stand in its own call chain (ours).
const RECURSION: usize = 8;

/// What comes of the end of a shell.
pub(crate) struct EndOfShell {
    /// The status that it ends with instead of its own, when what was left for the end says one.
    status: Option<Status>,
    /// What is printed there.
    output: Output,
}

/// Where control goes after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next command.
    Next,
    /// To the next turn of the loop, that many loops up.
    Continue(u32),
    /// Behind the loop, that many loops up.
    Break(u32),
    /// Behind the call of the function or script.
    Return,
    /// Behind the line of the text that is read, as bash goes on where an expansion fails.
    Discard,
    /// To the end of the shell.
    Exit,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
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

    /// Takes up what the next of several commands did; whether control goes on behind it.
    fn take_up(&mut self, next: Self) -> bool {
        let output = std::mem::replace(&mut self.output, Output::Nothing).followed_by(next.output);
        self.output = if let Output::Text(value) = output {
            Output::Text(super::expand::bounded(value))
        } else {
            output
        };
        self.status = next.status;
        self.flow = next.flow;
        next.flow == Flow::Next
    }

    /// The answer without where control goes.
    pub(crate) fn exit(self) -> Exit {
        Exit { status: self.status, output: self.output }
    }
}

impl Machine<'_> {
    /// Runs the statements of a text that is read line by line: what ends a line leaves the next one alone.
    pub(crate) fn run_lines(&mut self, block: &Block, text: &str) -> Done {
        let ends_line = |pair: &[ShellStatement]| match pair {
            [one, next] => {
                text.get(one.span.end..next.span.start).is_none_or(|between| between.contains('\n'))
            }
            _ => true,
        };
        let mut all = Done::quiet();
        let mut start = 0;
        let outer = self.shell.doubts.line;
        let options = self.shell.options;
        for end in 1..=block.len() {
            if !block.get(end - 1..=end).is_none_or(ends_line) {
                continue;
            }
            let done = self.run_line(block.get(start..end).unwrap_or_default(), text, options);
            let is_given_up = self.shell.doubts.line && !outer || done.flow == Flow::Discard;
            let mut done = self.go_on_behind(done, |flow| flow == Flow::Discard);
            self.shell.doubts.line = outer;
            if is_given_up {
                // zsh ends there.
                self.perhaps_ends();
            }
            if done.flow == Flow::Discard {
                done = Done { flow: Flow::Next, ..done };
            }
            if !all.take_up(done) {
                break;
            }
            start = end;
        }
        all
    }

    /// Runs statements in order until one goes elsewhere.
    pub(crate) fn run_block(&mut self, block: &[ShellStatement]) -> Done {
        let mut all = Done::quiet();
        for (index, statement) in block.iter().enumerate() {
            if self.budget.scanning > 0 || !self.step() {
                let rest = self.scan(block.get(index..).unwrap_or_default());
                all.status = rest.status;
                all.output = Output::Unknown;
                break;
            }
            let done = self.run_statement(statement);
            if !all.take_up(done) {
                break;
            }
        }
        all
    }

    fn run_statement(&mut self, statement: &ShellStatement) -> Done {
        // Of several commands any may have read a part of what all of them are given.
        let whole = std::mem::take(&mut self.position.whole);
        let done = self.launch_statement(statement);
        self.position.whole = whole;
        done
    }

    fn launch_statement(&mut self, statement: &ShellStatement) -> Done {
        match statement.launch {
            Launch::Foreground => {
                let done = self.run_command(&statement.command);
                self.remember_status(done.status);
                // Where nobody asked whether the directory could be entered, it may still be the one before, unless the shell ends then.
                if self.shell.options.errexit
                    && self.position.conditions == 0
                    && self.position.outer_conditions == 0
                    && matches!(statement.command, Command::Simple(_))
                {
                    self.came_from = None;
                }
                self.perhaps_go_back();
                if done.flow == Flow::Next && self.position.conditions == 0 {
                    self.after_failure(statement, done)
                } else {
                    done
                }
            }
            Launch::Background => {
                let input = std::mem::replace(&mut self.input, Input::Text(Value::exact("")));
                let signals = self.occasions.signals;
                self.in_subshell(|machine| machine.run_command(&statement.command));
                // It comes at any time from here on.
                self.occasions.is_signalled_later |= self.occasions.signals > signals;
                self.input = input;
                self.shell.has_job = true;
                self.shell.last_status = Status::Success;
                let name = first_word(&statement.command).unwrap_or_default();
                self.add(
                    Draft::new(EffectKind::ProcessSpawn, Target::Process(name))
                        .nature(Nature::Background)
                        .note("runs in the background"),
                );
                Done::quiet()
            }
        }
    }

    /// What the shell does when a command that nobody asks about fails: `trap ... ERR`, and the end with `set -e`.
    fn after_failure(&mut self, statement: &ShellStatement, done: Done) -> Done {
        let negated = matches!(&statement.command, Command::Pipeline(pipeline) if pipeline.negated);
        if done.status == Status::Success
            && !negated
            && matches!(self.absent, Some(Absence::Changed | Absence::Variable))
            && let (Some(text), Some(absence)) = (self.shell.at_error.clone(), self.absent.clone())
        {
            self.suppose(absence.clone(), |machine| machine.run_here(&text));
            self.absent = Some(absence);
        }
        if done.status == Status::Success || negated {
            return done;
        }
        let mut done = done;
        if let Some(text) = self.shell.at_error.take() {
            // Functions, subshells and other shells than bash do not run it.
            let ran = self.either(Leaving::Doubts, |machine| machine.run_here(&text), |_| Done::quiet());
            self.shell.at_error.get_or_insert(text);
            done.output = done.output.followed_by(ran.output);
            if ran.flow != Flow::Next {
                return Done { flow: ran.flow, ..done };
            }
        }
        if self.shell.options.perhaps_errexit && matches!(done.status, Status::Failure | Status::Open) {
            self.perhaps_ends();
        }
        if self.shell.options.inherited_errexit && matches!(done.status, Status::Failure | Status::Open) {
            let (shell, tree) = (self.shell.clone(), self.tree.clone());
            self.leave(Flow::Exit, shell, tree, Leaving::Unexpected);
        }
        if !self.shell.options.errexit {
            return done;
        }
        // A list that is left half-way is no failure, unless it was its last command that failed, or all of a subshell or function.
        let plain = matches!(
            statement.command,
            Command::Simple(_)
                | Command::Pipeline(_)
                | Command::Subshell(_)
                | Command::Test(_)
                | Command::Arithmetic(_)
        );
        match done.status {
            // What is not there now may be there by then.
            Status::Failure
                if plain
                    && !matches!(self.absent, Some(Absence::Path | Absence::Changed | Absence::Variable))
                    && self.position.outer_conditions == 0 =>
            {
                Done { flow: Flow::Exit, ..done }
            }
            Status::Failure | Status::Open => {
                self.perhaps_ends();
                done
            }
            // It is expected to succeed; where it does not, the trap runs with what the variables hold now.
            Status::Unknown if plain && self.position.outer_conditions == 0 => {
                self.keep_for_end();
                done
            }
            Status::Success | Status::Unknown => done,
        }
    }

    /// Remembers how a command ended, for who asks by `$?`: what rests on what may be otherwise by then is not settled.
    pub(super) fn remember_status(&mut self, status: Status) {
        self.shell.last_status = if self.absent.is_some() { Status::Open } else { status };
    }

    /// What is too deep to be followed is looked over, and weighs as what nobody can read.
    fn too_deep(&mut self, command: &Command) -> Done {
        self.unread("commands are nested too deeply to be followed");
        self.scan_command(command)
    }

    /// Runs one command of any form.
    pub(crate) fn run_command(&mut self, command: &Command) -> Done {
        if self.budget.scanning > 0 && !matches!(command, Command::Opaque(_)) || !self.step() {
            return self.scan_command(command);
        }
        if self.budget.depth >= DEPTH {
            return self.too_deep(command);
        }
        self.absent = None;
        self.came_from = None;
        self.budget.depth += 1;
        let failed = std::mem::replace(&mut self.call.failed, false);
        let ends_shell = std::mem::replace(&mut self.call.ends_shell, false);
        let unseen = self.unseen;
        let mut done = self.run_form(command);
        self.run_traps_of_signals();
        if self.flow.shows_commands {
            let told = self.tell_trace();
            done.output = done.output.followed_by(told);
        }
        if self.call.failed && done.flow == Flow::Next {
            done = self.failed_expansion(self.unseen > unseen);
        }
        self.call.failed = failed;
        self.call.ends_shell = ends_shell;
        self.budget.depth -= 1;
        done
    }

    /// Runs a command by its form, whatever was run before.
    pub(super) fn run_form(&mut self, command: &Command) -> Done {
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
            Command::Case(case) => self.run_case_of(case),
            Command::Select(each) => {
                let words = match &each.words {
                    Some(words) => self.expand_words(words),
                    None => self.shell.positional.clone().unwrap_or_else(|| vec![Value::Unknown]),
                };
                if each.words.as_ref().is_some_and(Vec::is_empty) {
                    // Among nothing there is nothing to choose.
                    return Done::quiet();
                }
                self.note_choices(&words);
                let input = self.input.clone();
                self.note_typed(&input);
                // An answer that is none of the numbers chooses nothing, and the body runs all the same.
                let chosen = super::loops::any_of(&words).join(&Value::exact(""));
                let done = self.run_perhaps(&each.variable, &chosen, &each.body);
                // It fails when there is nothing more to be read. The choices are shown on the standard error.
                let output = done.output.followed_by(self.tell_on(2));
                Done { status: Status::Open, output, ..done }
            }
            Command::Function(function) => {
                let body = Rc::new((*function.body).clone());
                if self.shell.fixed_functions.contains(&function.name) {
                    // bash keeps the first one, other shells take the new one.
                    return self.either(
                        Leaving::Doubts,
                        |machine| {
                            machine.shell.define(&function.name, body);
                            Done::quiet()
                        },
                        |_| Done::next(Exit::failure()),
                    );
                }
                self.shell.define(&function.name, body);
                if self.shell.options.allexport {
                    self.shell.exported_functions.insert(function.name.clone());
                }
                Done::quiet()
            }
            Command::Test(test) => {
                let before = self.unseen;
                let answer = self.condition(&test.condition);
                if self.unseen > before {
                    self.shell.presumed.insert("BASH_REMATCH".to_owned());
                }
                self.rests_on_unseen(before);
                let output = if answer.is_none() { self.tell_on(2) } else { Output::Nothing };
                Done::next(Exit { output, ..Exit::answer(answer) })
            }
            Command::Arithmetic(arithmetic) => {
                let before = self.unseen;
                let held = (!self.shell.presumed.is_empty()).then(|| self.shell.variables.clone());
                let answer = self.arithmetic(arithmetic).map(|value| value != 0);
                if let Some(held) = held.filter(|_| self.unseen > before) {
                    self.presume_changed(&held);
                }
                self.rests_on_unseen(before);
                let output = if answer.is_none() { self.tell_on(2) } else { Output::Nothing };
                Done::next(Exit { output, ..Exit::answer(answer) })
            }
            Command::Coprocess(coprocess) => self.run_coprocess(coprocess),
            Command::Time(inner) => {
                let mut done = self.run_command(inner);
                let told = self.tell_on(2);
                done.output = done.output.followed_by(told);
                done
            }
            Command::Redirected(redirected) => self.run_redirected(redirected),
            Command::Opaque(opaque) => {
                self.findings.problems.push(format!("not understood: `{}`", shortened(&opaque.text)));
                let draft = Draft::new(EffectKind::Opaque, Target::Unknown)
                    .nature(Nature::Unreadable)
                    .note(format!("could not be read: `{}`", shortened(&opaque.text)));
                if matches!(
                    opaque.reason,
                    ProblemKind::Syntax | ProblemKind::Unsupported | ProblemKind::ParserFailed
                ) {
                    self.run_what_may_be_meant(&opaque.text);
                }
                // It would run, here or in another shell that can read it, and nobody has read it.
                let refused = opaque.reason == ProblemKind::Syntax
                    && super::heuristics::reached(&opaque.text) == Some(0);
                self.add(draft.severity(if refused { Severity::Medium } else { Severity::High }));
                Done::next(Exit::unknown())
            }
        }
    }

    /// Whether the shell tells capital letters from small ones where it compares.
    pub(super) fn letters(&self) -> Letters {
        if self.shell.options.nocasematch { Letters::AnyCase } else { Letters::Exact }
    }

    /// Notes that an answer rests on variables that are not set here, but may be there, when there are new ones.
    pub(crate) fn rests_on_unseen(&mut self, before: usize) {
        if self.unseen > before && self.absent.is_none() {
            self.absent = Some(Absence::Variable);
        }
    }

    /// Starts a command beside the shell, joined to it by two descriptors. What will be written to it is not known yet.
    fn run_coprocess(&mut self, coprocess: &Coprocess) -> Done {
        self.note_reader();
        let input = std::mem::replace(&mut self.input, Input::Unknown);
        let done =
            self.captured(|machine| machine.in_subshell(|machine| machine.run_command(&coprocess.command)));
        self.input = input;
        let mut ends = BTreeMap::new();
        for (index, opening) in
            [Opening::to_read(done.output.into_input()), Opening::closed()].into_iter().enumerate()
        {
            let number = self.next_descriptor();
            self.keep_open(number, opening);
            ends.insert(i64::try_from(index).unwrap_or_default(), Value::Exact(number.to_string()));
        }
        self.assign_content(&coprocess.name, VariableContent::List(ends));
        Done::quiet()
    }

    /// Runs statements in a subshell: nothing that they do to the shell itself stays.
    pub(crate) fn run_subshell(&mut self, block: &Block) -> Done {
        if self.budget.depth >= DEPTH {
            self.unread("commands are nested too deeply to be followed");
            return self.scan(block);
        }
        self.budget.depth += 1;
        let done = self.in_subshell(|machine| machine.run_block(block));
        self.budget.depth -= 1;
        done
    }

    /// Runs `work` so that nothing that it does to the shell itself stays.
    pub(crate) fn in_subshell(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = self.shell.clone();
        let left = std::mem::take(&mut self.left);
        self.note_child();
        self.shell.at_exit = None;
        // Signals do there what they do to every process.
        self.shell.on_signals.clear();
        self.shell.traps.forget_signals();
        self.shell.left_loops |= self.shell.loops > 0;
        self.shell.loops = 0;
        self.shell.may_have_exited = false;
        self.shell.may_have_returned = false;
        self.position.subshells += 1;
        let mut done = work(self);
        self.position.subshells -= 1;
        if self.shell.may_have_exited || self.shell.may_have_returned {
            done.status = Status::Open;
        }
        let end = self.end_of_shell();
        done.status = end.status.unwrap_or(done.status);
        done.output = std::mem::replace(&mut done.output, Output::Nothing).followed_by(end.output);
        self.left = left;
        let inner = std::mem::replace(&mut self.shell, outer);
        self.go_on_reading(&inner);
        done.flow = Flow::Next;
        done
    }

    /// Runs what `trap ... EXIT` has left for the end.
    pub(crate) fn end_of_shell(&mut self) -> EndOfShell {
        self.collect_all();
        self.shell.doubts = Doubts::default();
        self.shell.may_have_exited = false;
        let (mut instead, mut output) = (None, Output::Nothing);
        for text in self.traps_at_end() {
            // What it prints comes only where a signal does.
            self.perhaps(|machine| machine.run_here(&text));
        }
        if let Some(text) = self.shell.at_exit.take() {
            self.position.exiting += 1;
            // What is overlooked around the shell counts here, in bash.
            let conditions = std::mem::take(&mut self.position.conditions);
            self.position.outer_conditions += conditions;
            let done = if self.shell.exit_trap_in_doubt {
                self.perhaps(|machine| machine.run_here(&text))
            } else {
                self.run_here(&text)
            };
            self.position.outer_conditions -= conditions;
            self.position.conditions = conditions;
            self.position.exiting -= 1;
            instead = (done.flow == Flow::Exit).then_some(done.status);
            output = done.output;
        }
        let status = if self.shell.may_have_exited { Some(Status::Open) } else { instead };
        EndOfShell { status, output }
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> Done {
        let mut done = Done::quiet();
        if let [only] = pipeline.stages.as_slice() {
            // What is turned round is no failure; what is inside it may be one.
            self.position.outer_conditions += usize::from(pipeline.negated);
            done = self.run_command(&only.command);
            self.position.outer_conditions -= usize::from(pipeline.negated);
        } else {
            self.position.outer_conditions += usize::from(pipeline.negated);
            let outer = self.input.clone();
            let whole = self.position.whole.clone();
            let handed = self.position.handed.clone();
            let last = pipeline.stages.len().saturating_sub(1);
            let mut failed = Status::Success;
            let mut open = None;
            let screens = self.screens(&pipeline.stages);
            let before = self.position.before_pipeline.clone().unwrap_or_else(|| self.tree.clone());
            let around = self.position.before_pipeline.take();
            for (index, stage) in pipeline.stages.iter().enumerate() {
                let beyond = Screen { count: 0, left: Remainder::Anything, hidden: None };
                let screen = screens.get(index).cloned().unwrap_or(beyond);
                self.flow.sweep.screens += screen.count;
                // What the last stage prints is left to what is around the pipeline, the others hand it on.
                let around =
                    if index < last { screen.left.max(self.flow.sweep.left) } else { self.flow.sweep.left };
                let left = std::mem::replace(&mut self.flow.sweep.left, around);
                let hidden = std::mem::replace(&mut self.flow.hidden, screen.hidden);
                if index > 0 {
                    self.position.before_pipeline = Some(before.clone());
                }
                let last_stays = index == last && self.shell.options.lastpipe;
                let last_perhaps_stays = index == last && self.shell.options.perhaps_lastpipe;
                self.position.whole.written = None;
                self.position.handed.begin_stage();
                let joined;
                let command = match stage.carries {
                    Carries::OutputAndErrors if index < last => {
                        joined = with_errors_joined(&stage.command);
                        &joined
                    }
                    Carries::OutputAndErrors | Carries::Output => &stage.command,
                };
                done = if last_stays {
                    self.run_command(command)
                } else if last_perhaps_stays {
                    let before = self.shell.clone();
                    let done = self.run_command(command);
                    self.join_shell(&before);
                    match done.flow {
                        Flow::Next => done,
                        flow => Done { output: done.output, ..self.perhaps_leave(flow, done.status) },
                    }
                } else if index < last {
                    self.captured(|machine| machine.in_subshell(|machine| machine.run_command(command)))
                } else {
                    self.in_subshell(|machine| machine.run_command(command))
                };
                self.flow.sweep.screens -= screen.count;
                self.flow.sweep.left = left;
                self.flow.hidden = hidden;
                if index < last {
                    open = self.absent.take().or(open);
                    failed = failed.and_then(done.status);
                    self.input = std::mem::replace(&mut done.output, Output::Nothing).into_input();
                    self.position.whole.given = self.position.whole.written.take();
                    self.position.handed.for_next_stage();
                }
            }
            self.position.before_pipeline = around;
            self.input = outer;
            self.position.whole = whole;
            self.position.handed = handed;
            self.position.outer_conditions -= usize::from(pipeline.negated);
            if self.shell.options.pipefail {
                done.status = failed.and_then(done.status);
                self.absent = self.absent.take().or(open);
            }
        }
        // `! exit 1` ends the shell with 1.
        if pipeline.negated && done.flow == Flow::Next {
            done.status = done.status.negated();
            if let Some(before) = self.came_from.take() {
                // Now it is success that leaves the shell where it was.
                let after = self.shell.departure();
                self.shell.return_to(before);
                self.came_from = Some(after);
            }
        }
        done
    }

    pub(super) fn run_condition(&mut self, block: &Block) -> Done {
        self.position.conditions += 1;
        let done = self.run_block(block);
        self.position.conditions -= 1;
        done
    }

    /// Calls a function of the shell.
    pub(crate) fn call_function(&mut self, name: &str, body: &Rc<Command>, arguments: &[Value]) -> Done {
        if self.budget.scanning > 0 {
            if self.budget.scanned_functions.iter().any(|known| known == name) {
                return Done::next(Exit::unknown());
            }
            self.budget.scanned_functions.push(name.to_owned());
            self.budget.waiting_functions.push(Rc::clone(body));
            return Done::next(Exit { status: Status::Open, ..Exit::unknown() });
        }
        let nested = self.position.calls.iter().filter(|call| *call == name).count();
        if nested >= RECURSION || self.budget.depth >= DEPTH {
            self.note_endless_calls(name, body);
            // What was followed already need not be looked over.
            return if nested == 0 { self.scan_command(body) } else { Done::next(Exit::unknown()) };
        }
        self.position.calls.push(name.to_owned());
        let positional = self.shell.positional.replace(arguments.to_vec());
        let standing = self.presume_arguments(self.standing_of_words());
        let doubts = self.shell.doubts;
        let (loops, left_loops) = (self.shell.loops, self.shell.left_loops);
        self.shell.loops = 0;
        self.shell.left_loops = false;
        self.shell.returns += 1;
        let may_have_returned = std::mem::take(&mut self.shell.may_have_returned);
        self.shell.locals.push(BTreeMap::new());
        self.shell.local_options.push(None);
        let left = std::mem::replace(&mut self.flow.sweep.left, Remainder::Anything);
        // The trap of the caller is not that of a function, unless it is told to be.
        let is_traced = self.has_traps_of_caller(name);
        let return_trap = if is_traced { None } else { self.shell.traps.at_return.take() };
        let done = self.run_command(body);
        let mut done = self.run_return_trap(done);
        if self.shell.traps.at_return.is_none() && !is_traced {
            self.shell.traps.at_return = return_trap;
        }
        self.flow.sweep.left = left;
        done = self.go_on_behind(done, |flow| flow == Flow::Return);
        if std::mem::replace(&mut self.shell.may_have_returned, may_have_returned) && done.flow != Flow::Exit
        {
            done.status = Status::Open;
        }
        self.shell.loops = loops;
        self.shell.left_loops = left_loops;
        self.shell.returns = self.shell.returns.saturating_sub(1);
        if let Some(before) = self.shell.local_options.pop().flatten() {
            self.shell.options.take_back_set(&before);
        }
        if let Some(locals) = self.shell.locals.pop() {
            for (name, before) in locals {
                match before {
                    Some(variable) => self.shell.variables.insert(name, variable),
                    None => self.shell.variables.remove(&name),
                };
            }
        }
        self.shell.positional = positional;
        self.presume_arguments(standing);
        self.shell.doubts = Doubts { function: doubts.function, ..self.shell.doubts };
        self.position.calls.pop();
        if done.flow == Flow::Return {
            done.flow = Flow::Next;
        }
        done
    }

    /// Ends the run of a script or `source`: what returned joins.
    pub(crate) fn end_of_script(&mut self, mut done: Done, doubts: Doubts) -> Done {
        done = self.go_on_behind(done, |flow| flow == Flow::Return);
        self.shell.doubts.function = doubts.function;
        if done.flow == Flow::Return {
            done.flow = Flow::Next;
        }
        done
    }
}

/// A command in front of `|&`: its standard error is joined to the pipe behind all of its own redirections.
fn with_errors_joined(command: &Command) -> Command {
    let word = Word { parts: vec![Part::Literal("1".to_owned())], span: Span { start: 0, end: 0 } };
    let join =
        Redirect { descriptor: Some(Descriptor::Number(2)), operation: RedirectOperation::Duplicate(word) };
    let mut command = command.clone();
    match &mut command {
        Command::Simple(simple) => simple.redirects.push(join),
        Command::Redirected(redirected) => redirected.redirects.push(join),
        _ => {
            command = Command::Redirected(Redirected { command: Box::new(command), redirects: vec![join] });
        }
    }
    command
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
