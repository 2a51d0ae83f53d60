//! Following more than one way: what may or may not run, what leaves, and what holds after either.

use super::call::Input;
use super::exit::{Exit, Output, Status};
use super::machine::{Absence, Machine};
use super::overlay::Overlay;
use super::shell::{Shell, Whereabouts};
use super::statements::{Done, Flow};

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
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        Self { shell: machine.shell.clone(), tree: machine.tree.clone(), input: machine.input.clone() }
    }

    /// The state with the directory in which the shell was before a `cd` that may fail.
    pub(super) fn back_in(mut self, place: Option<Whereabouts>) -> Self {
        if let Some(place) = place {
            self.shell.cwd = place;
            self.shell.logical = None;
        }
        self
    }

    /// Goes on with this state; answers the one that was left.
    pub(super) fn put_back(self, machine: &mut Machine<'_>) -> (Shell, Overlay) {
        machine.input = self.input;
        (std::mem::replace(&mut machine.shell, self.shell), std::mem::replace(&mut machine.tree, self.tree))
    }
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
    pub(super) fn go_back(&mut self, place: Option<Whereabouts>) {
        if let Some(place) = place {
            self.shell.cwd = place;
            self.shell.logical = None;
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

    /// Follows the way that is taken as things stand now; where they may be otherwise by then, the other one as well, which leaves
    /// nothing but possible effects, unless the way that is taken goes elsewhere.
    pub(super) fn presumed(
        &mut self,
        absent: Option<Absence>,
        taken: impl FnOnce(&mut Self) -> Done,
        other: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let Some(absence) = absent else { return taken(self) };
        let otherwise = Fallen::of(self);
        self.suppose(absence, other);
        let done = taken(self);
        if done.flow == Flow::Next {
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
    pub(super) fn leave(&mut self, flow: Flow, shell: Shell, tree: Overlay, leaving: Leaving) {
        match flow {
            Flow::Exit => self.shell.may_have_exited = true,
            Flow::Return => self.shell.may_have_returned = true,
            Flow::Next | Flow::Continue(_) | Flow::Break(_) => {}
        }
        if leaving == Leaving::Unexpected {
            // What is left for the end of the shell runs there too.
            if flow == Flow::Exit && shell.at_exit.is_some() && self.left.len() < 64 {
                self.left.push(Left { flow, shell, tree });
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
