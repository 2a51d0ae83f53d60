//! The programs that a command may call.

use std::borrow::Cow;

use checkrein_catalogue::{Program, UserCatalogue, WrittenVariable};

use super::call::Call;
use super::exit::Exit;
use super::machine::Machine;

/// What is known of programs: the interpreter follows the shell and asks here who is called, and what that does.
///
/// The programs know the interpreter, since many of them run others; the interpreter knows them by this trait alone.
pub trait Programs: Sync {
    /// The entry of a program: of the user, else built in; `None` where nothing is written about it.
    fn entry<'a>(&self, name: &str, user: &'a UserCatalogue) -> Option<Cow<'a, Program>>;

    /// Calls a program by its entry: adds what it does to the machine, and returns its status and output.
    fn run(&self, machine: &mut Machine<'_>, program: &Program, call: Call) -> Exit;

    /// Follows the code that a program without an entry loads, by the names that such files have by custom.
    fn follow_by_custom(&self, machine: &mut Machine<'_>, call: &Call);

    /// Whether everything that a program does to files is read from its words.
    fn is_read_through(&self, name: &str) -> bool;

    /// The variables of the environment that name what a program writes.
    fn variables(&self, name: &str, user: &UserCatalogue) -> Vec<WrittenVariable>;
}
