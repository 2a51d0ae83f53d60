//! What our own processes are called.

/// The names of the processes that supervise an agent, and of those that confine a command: who runs below one is told by them, whatever
/// the program file is called.
pub const SUPERVISING: &str = "checkrein-run";
/// See [`SUPERVISING`].
pub const CONFINING: &str = "checkrein-exec";
