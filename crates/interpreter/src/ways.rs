//! Following more than one way: what may or may not run, what leaves, and what holds after either.

use crate::world::Entry;

use super::call::Input;
use super::exit::{Exit, Output, Status};
use super::machine::{Absence, Machine};
use super::overlay::Overlay;
use super::shell::{Departure, Shell, ShellDirectory, Speech};
use super::statements::{Done, Flow};
use super::value::Value;

/// A state left behind by a way that went elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(super) flow: Flow,
    shell: Shell,
    tree: Overlay,
}

/// The state in which a command was run that may have failed.
pub(super) struct Fallen {
    shell: Shell,
    tree: Overlay,
    input: Input,
}

impl Fallen {
    pub(super) fn of(machine: &mut Machine<'_>) -> Self {
        machine.pay_for_copy();
        Self { shell: machine.shell.clone(), tree: machine.tree.clone(), input: machine.input.clone() }
    }

    /// The state with the directory in which the shell was before a `cd` that may fail.
    pub(super) fn back_in(mut self, departure: Option<Departure>) -> Self {
        if let Some(departure) = departure {
            self.shell.return_to(departure);
        }
        self
    }

    /// Goes on with this state; answers the one that was left.
    pub(super) fn put_back(self, machine: &mut Machine<'_>) -> (Shell, Overlay) {
        machine.input = self.input;
        (std::mem::replace(&mut machine.shell, self.shell), std::mem::replace(&mut machine.tree, self.tree))
    }
}

/// What a way left behind that is not expected to be taken.
pub(super) struct Supposed {
    shell: Shell,
    tree: Overlay,
    keeps: Kept,
    /// What it would print, where that is to be counted with.
    told: Option<Output>,
}

/// What is printed as far as it is known, or what another way would print in its place.
pub(super) fn told_beside(told: Option<Output>, known: Output) -> Output {
    let Some(told) = told else { return known };
    let as_text = |output: Output| match output {
        Output::Nothing => Output::Text(Value::exact("")),
        other => other,
    };
    match as_text(known).join(as_text(told)) {
        Output::Text(text) if text.as_exact() == Some("") => Output::Nothing,
        joined => joined,
    }
}

/// Which values of such a way hold behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// All: nothing says that the way is not taken.
    All,
    /// Those that the command itself says. What would be read out of something that is not there now is not made up.
    Known,
}

/// Whether what follows is in doubt when one of two ways leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Either way is as likely.
    Doubts,
    /// The way that leaves is not expected (`make || exit 1`).
    Unexpected,
}

/// How many ways that went elsewhere are kept apart (ours).
const WAYS: usize = 64;

impl Machine<'_> {
    /// Follows what may run or not.
    pub(crate) fn perhaps(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
        self.either(Leaving::Doubts, work, |_| Done::quiet())
    }

    /// Goes elsewhere or on, as the shell may do either.
    pub(crate) fn perhaps_leave(&mut self, flow: Flow, status: Status) -> Done {
        self.either(
            Leaving::Doubts,
            |_| Done::leaving(flow, status),
            |_| Done::next(Exit { status: Status::Open, output: Output::Nothing }),
        )
    }

    /// Is in the directory again from which a `cd` went that failed.
    pub(super) fn go_back(&mut self, departure: Option<Departure>) {
        if let Some(departure) = departure {
            self.shell.return_to(departure);
        }
    }

    /// Is in the directory to which a `cd` went that may have failed, or in the one before.
    pub(super) fn perhaps_go_back(&mut self) {
        if let Some(departure) = self.came_from.take() {
            self.shell.perhaps_return_to(&departure);
        }
    }

    /// Goes on with what holds when a command of a list failed or not.
    pub(super) fn join_fallen(&mut self, fallen: &mut Vec<Fallen>) {
        for state in fallen.drain(..) {
            let doubts = self.shell.doubts;
            if self.input != state.input {
                self.input = Input::Unknown;
            }
            self.join_with(&state.shell, &state.tree);
            self.shell.doubts = doubts;
        }
    }

    /// Follows both of two ways and goes on with what holds after either.
    pub(crate) fn either(
        &mut self,
        leaving: Leaving,
        first: impl FnOnce(&mut Self) -> Done,
        second: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        self.pay_for_copy();
        let (shell, tree, input) = (self.shell.clone(), self.tree.clone(), self.input.clone());
        self.position.doubt += 1;
        let one = first(self);
        let shell_one = std::mem::replace(&mut self.shell, shell);
        let tree_one = std::mem::replace(&mut self.tree, tree);
        let input_one = std::mem::replace(&mut self.input, input);
        let two = second(self);
        self.position.doubt -= 1;
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
            (Flow::Discard, gone) if gone != Flow::Discard => {
                // Each goes on elsewhere.
                self.keep_left(Left { flow: Flow::Discard, shell: shell_one, tree: tree_one });
                Done { flow: gone, status: two.status, output }
            }
            (gone, Flow::Discard) if gone != Flow::Discard => {
                let shell = std::mem::replace(&mut self.shell, shell_one);
                let tree = std::mem::replace(&mut self.tree, tree_one);
                self.keep_left(Left { flow: Flow::Discard, shell, tree });
                Done { flow: gone, status: one.status, output }
            }
            (left, right) => {
                let flow = if rank(left) <= rank(right) { left } else { right };
                self.join_with(&shell_one, &tree_one);
                Done { flow, status: one.status.join(two.status), output }
            }
        }
    }

    /// Follows the way that is taken as things stand now. Where they may be otherwise by then, follows the other one as well, which leaves
    /// only possible effects, unless the way that is taken goes elsewhere.
    pub(super) fn presumed(
        &mut self,
        absent: Option<Absence>,
        taken: impl FnOnce(&mut Self) -> Done,
        other: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let Some(absence) = absent else { return taken(self) };
        let otherwise = Fallen::of(self);
        let supposed = self.suppose_apart(absence, other);
        let mut done = taken(self);
        if done.flow == Flow::Next {
            if let Some(mut supposed) = supposed {
                done.output = told_beside(supposed.told.take(), done.output);
                self.allow_for(&otherwise.shell, supposed);
            }
            return done;
        }
        self.perhaps_never_ran(otherwise, done)
    }

    /// What comes of a command that may not have run because a file of it could not be opened.
    pub(super) fn perhaps_never_ran(&mut self, otherwise: Fallen, done: Done) -> Done {
        if done.flow == Flow::Next {
            let doubts = self.shell.doubts;
            let environment = |name: &str| self.environment(name);
            self.shell = self.shell.clone().join(&otherwise.shell, &environment);
            self.shell.doubts = doubts;
            return Done { status: Status::Unknown.and_then(done.status), ..done };
        }
        let (shell, tree) = otherwise.put_back(self);
        self.leave(done.flow, shell, tree, Leaving::Doubts);
        Done { flow: Flow::Next, status: Status::Open, output: done.output }
    }

    /// Follows what would run if something were there that is not, or gone that is there: its effects are possible, and so is what it leaves
    /// in variables, functions, traps and new files. Answers what it would print; `None` where nothing is to be said of that.
    pub(crate) fn suppose(
        &mut self,
        absence: Absence,
        work: impl FnOnce(&mut Self) -> Done,
    ) -> Option<Output> {
        let before = self.shell.clone();
        let mut supposed = self.suppose_apart(absence, work)?;
        let told = supposed.told.take();
        self.allow_for(&before, supposed);
        told
    }

    /// The same, with what it leaves apart from what holds; `None` where nothing runs behind it.
    pub(super) fn suppose_apart(
        &mut self,
        absence: Absence,
        work: impl FnOnce(&mut Self) -> Done,
    ) -> Option<Supposed> {
        self.pay_for_copy();
        let (shell, tree, input) = (self.shell.clone(), self.tree.clone(), self.input.clone());
        let left = std::mem::take(&mut self.left);
        let keeps = match absence {
            Absence::Changed => Kept::All,
            Absence::Path | Absence::Variable | Absence::Directory(_) => Kept::Known,
        };
        if let Absence::Directory(directory) = absence {
            self.shell.cwd = directory;
            self.shell.logical = None;
        }
        self.position.doubt += 1;
        self.position.supposing += 1;
        let done = work(self);
        self.position.supposing -= 1;
        self.position.doubt -= 1;
        self.left = left;
        self.input = input;
        let shell = std::mem::replace(&mut self.shell, shell);
        let tree = std::mem::replace(&mut self.tree, tree);
        self.absent = None;
        match done.flow {
            Flow::Next | Flow::Continue(_) | Flow::Break(_) | Flow::Return | Flow::Discard => {
                let is_known = matches!(&done.output, Output::Text(text) if text.alternatives().is_some());
                let told = (keeps == Kept::All || is_known).then_some(done.output);
                Some(Supposed { shell, tree, keeps, told })
            }
            Flow::Exit => None,
        }
    }

    /// Runs a program, and where it asked for files and links of which the command left one or another, also what it would do with each.
    pub(super) fn in_ways_of_files(&mut self, run: impl Fn(&mut Self) -> Exit) -> Exit {
        let ways = self.tree.ways_of_files();
        if ways == 0 {
            return run(self);
        }
        let before = (self.shell.clone(), self.tree.clone(), self.input.clone());
        let outer = self.asked_open.replace(false);
        let exit = run(self);
        if self.asked_open.get() {
            let (shell, mut after, input) = (self.shell.clone(), self.tree.clone(), self.input.clone());
            for way in 0..ways {
                self.pay_for_copy();
                let (shell, tree, input) = before.clone();
                let begun = tree.in_way(way);
                (self.shell, self.tree, self.input) = (shell, begun.clone(), input);
                self.possibly(&run);
                // What it made of such a file rests on it in turn.
                after.allow_for_way(&begun, &self.tree);
            }
            (self.shell, self.tree, self.input) = (shell, after, input);
        } else {
            self.asked_open.set(outer);
        }
        exit
    }

    /// Adds what a way that is not expected left behind to what holds. What it did not touch stays as sure as it was.
    pub(super) fn allow_for(&mut self, before: &Shell, supposed: Supposed) {
        let Supposed { mut shell, tree, keeps, told: _ } = supposed;
        shell.take_over_new(&self.shell, before);
        if keeps == Kept::Known {
            shell.take_over_unknown(&self.shell);
        }
        let (departure, place) = (shell.departure(), shell.cwd.clone());
        shell.return_to(self.shell.departure());
        shell.logical.clone_from(&self.shell.logical);
        let (doubts, status) = (self.shell.doubts, self.shell.last_status);
        let (last_word, has_job) = (self.shell.last_word.clone(), self.shell.has_job);
        let environment = |name: &str| self.environment(name);
        self.shell = self.shell.clone().join(&shell, &environment);
        self.shell.doubts = doubts;
        self.shell.last_status = status;
        self.shell.last_word = last_word;
        self.shell.has_job = has_job;
        // A directory that is not there holds nothing that could be lost in it.
        let is_there = match &place {
            ShellDirectory::Here(path) => self.entry(path) != Entry::Missing,
            ShellDirectory::OneOf(_) | ShellDirectory::Below(_) | ShellDirectory::Unknown => true,
        };
        if is_there && place != before.cwd && place != self.shell.cwd {
            self.shell.perhaps_return_to(&departure);
        }
        self.tree.allow_for(self.world, &tree);
    }

    /// Goes on behind what ends here: a loop, a turn of it, a function. Where the present way goes further and another one ended here, that
    /// one goes on, and the present one has left.
    pub(super) fn go_on_behind(&mut self, done: Done, ends_here: impl Fn(Flow) -> bool) -> Done {
        if done.flow != Flow::Next && !ends_here(done.flow) {
            let Some(place) = self.left.iter().position(|left| ends_here(left.flow)) else { return done };
            let other = self.left.remove(place);
            let doubts = self.shell.doubts;
            let shell = std::mem::replace(&mut self.shell, other.shell);
            let tree = std::mem::replace(&mut self.tree, other.tree);
            self.leave(done.flow, shell, tree, Leaving::Doubts);
            self.shell.doubts = self.shell.doubts.or(doubts);
            self.collect(ends_here);
            return Done { flow: Flow::Next, status: Status::Open, output: done.output };
        }
        self.collect(ends_here);
        done
    }

    /// Joins what was left for the end of the shell into the present state. Of a way that left no command for the end only the files matter.
    pub(super) fn collect_all(&mut self) {
        for left in std::mem::take(&mut self.left) {
            if left.shell.at_exit.is_none() {
                self.tree = std::mem::take(&mut self.tree).join(&left.tree);
            } else {
                self.join_with(&left.shell, &left.tree);
            }
        }
    }

    fn join_with(&mut self, shell: &Shell, tree: &Overlay) {
        let environment = |name: &str| self.environment(name);
        self.shell = self.shell.clone().join(shell, &environment);
        self.tree = std::mem::take(&mut self.tree).join(tree);
    }

    /// What follows on the line may be left out here, because something in it may be in error.
    pub(crate) fn perhaps_gives_up_line(&mut self, leaving: Leaving) {
        if self.gives_up_only_the_line() {
            let (shell, tree) = (self.shell.clone(), self.tree.clone());
            self.leave(Flow::Discard, shell, tree, leaving);
        } else {
            self.perhaps_ends();
        }
    }

    /// Whether an expansion that fails ends the line of the text that is read, as in bash, and not the shell. Held against bash 5.2, also
    /// as POSIX wants it, and dash 0.5.
    pub(super) fn gives_up_only_the_line(&self) -> bool {
        self.shell.speech != Speech::Posix && !self.shell.options.posix
    }

    /// The shell may end here, for a reason that is not followed as a way of its own.
    pub(crate) fn perhaps_ends(&mut self) {
        if self.shell.at_exit.is_some() || self.position.subshells > 0 {
            // What is left for the end of the shell runs in this state then, and what comes behind it finds the files so.
            let (shell, tree) = (self.shell.clone(), self.tree.clone());
            self.leave(Flow::Exit, shell, tree, Leaving::Doubts);
        } else {
            self.shell.doubts.shell = true;
            self.shell.may_have_exited = true;
        }
    }

    /// The shell may end here although that is not expected: what is left for its end runs in this state then.
    pub(super) fn keep_for_end(&mut self) {
        if self.shell.at_exit.is_some() {
            let (shell, tree) = (self.shell.clone(), self.tree.clone());
            self.keep_left(Left { flow: Flow::Exit, shell, tree });
        }
    }

    /// Remembers the state of a way that went elsewhere.
    pub(super) fn leave(&mut self, flow: Flow, shell: Shell, tree: Overlay, leaving: Leaving) {
        match flow {
            Flow::Exit => self.shell.may_have_exited = true,
            Flow::Return => self.shell.may_have_returned = true,
            Flow::Next | Flow::Continue(_) | Flow::Break(_) | Flow::Discard => {}
        }
        if leaving == Leaving::Unexpected {
            if flow == Flow::Discard {
                self.keep_left(Left { flow, shell, tree });
                return;
            }
            // What is left for the end of the shell runs there too.
            if flow == Flow::Exit && (shell.at_exit.is_some() || self.position.subshells > 0) {
                self.keep_left(Left { flow, shell, tree });
            }
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
            Flow::Discard => self.shell.doubts.line = true,
            Flow::Exit => self.shell.doubts.shell = true,
        }
        self.keep_left(Left { flow, shell, tree });
    }

    /// Keeps the state of a way that went elsewhere; where there are too many, with that of another one that went there.
    fn keep_left(&mut self, left: Left) {
        if self.left.len() < WAYS {
            self.left.push(left);
            return;
        }
        let environment = |name: &str| self.environment(name);
        let Some(place) = self.left.iter().rposition(|other| other.flow == left.flow) else { return };
        let Some(other) = self.left.get(place) else { return };
        let joined = Left {
            flow: left.flow,
            shell: left.shell.join(&other.shell, &environment),
            tree: left.tree.join(&other.tree),
        };
        if let Some(other) = self.left.get_mut(place) {
            *other = joined;
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
}

fn rank(flow: Flow) -> u8 {
    match flow {
        Flow::Next => 0,
        Flow::Continue(_) => 1,
        Flow::Break(_) => 2,
        Flow::Return => 3,
        Flow::Discard => 4,
        Flow::Exit => 5,
    }
}
