//! The paths of the guard, and what is said of changes near them.

/// What stands for the number of the process that started the shell.
pub const PARENT: &str = "$PPID";

/// What is said of a tree that is brought over a directory, and of which it is known that nothing in it is the guard's.
pub(crate) const HOLDS_NO_GUARD: &str = "holds nothing of the guard";
/// What is said of a link by which something is changed that the change does not name.
pub(crate) const SECOND_NAME: &str = "gives it a second name, by which it can be changed unseen";
