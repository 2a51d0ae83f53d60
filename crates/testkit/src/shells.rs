//! Programs of the shell, made by chance, and the real shells as judges of what is read of them.
//!
//! | module | holds |
//! |---|---|
//! | `chance` | numbers that look like chance and are the same for the same seed |
//! | `part` | a program as a tree, of which parts can be left out |
//! | `grammar` | makes programs: `flow` their statements, `simple` their commands, `words` what these are given, `values` where those come from |
//! | `scene` | the files that stand where a program runs |
//! | `run` | runs many programs with real shells, within limits |
//! | `judge` | compares what was reached with what was foreseen, and makes what differs smaller |
//! | `kept` | a fault as a page of cases |
//!
//! A program is harmless by construction: all that it does is to write and remove files in the folder in which it runs. It runs as a user
//! without rights, where that can be chosen, and within limits of memory, time, processes and sizes of files.

pub mod chance;
pub mod grammar;
pub mod judge;
pub mod kept;
pub mod part;
pub mod run;
pub mod scene;

pub use chance::Chance;
pub use grammar::{Doubt, MadeProgram, program};
pub use judge::{Judge, ProgramCount, ProgramFinding, Report, ShellFault, ShellTrial};
pub use run::RealShell;
