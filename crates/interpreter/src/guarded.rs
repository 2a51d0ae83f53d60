//! The paths of the guard, and what is said of changes near them.

/// What stands for the number of the process that started the shell.
pub const PARENT: &str = "$PPID";

/// What stands for the number of the shell itself, and of the last job that it started.
const OWN_NUMBERS: [&str; 2] = ["$$", "$!"];

/// Whether a text holds what stands for the number of a process: which digits are there in its place is not known.
pub(crate) fn stands_for_process(text: &str) -> bool {
    text.contains('$') && OWN_NUMBERS.iter().chain(&[PARENT]).any(|number| text.contains(number))
}

/// What is said of a tree that is brought over a directory, and of which it is known that nothing in it is the guard's.
pub(crate) const HOLDS_NO_GUARD: &str = "holds nothing of the guard";
/// What is said of a link by which something is changed that the change does not name.
pub(crate) const SECOND_NAME: &str = "gives it a second name, by which it can be changed unseen";
