//! The abstract interpreter: a shell tree, a world and a catalogue in, effects out.
//!
//! | module | holds |
//! |---|---|
//! | `machine` | the state of one interpretation, and everything a program handler may ask of it |
//! | `again` | text that the shell evaluates a second time |
//! | `taken_from_person` | what programs take from the person, and where it goes |
//! | `targets` | from words to targets |
//! | `assignment` | assignments, and what becomes of a value that is assigned |
//! | `ambient` | variables that shells and clients set by themselves |
//! | `loading_variables` | variables by which a program loads code or settings |
//! | `telling_variables` | variables that are options of a program, or name one |
//! | `told_words` | which commands tell the words that they are given |
//! | `traps` | traps for signals, children, and the ends of functions and files |
//! | `handed_texts` | texts that travel along a pipeline where a filter is not worked out |
//! | `history_lines` | lines of a text that take from the lines before |
//! | `history_expansion` | what `!` and `^` stand for in such a line |
//! | `file_operations` | reading, writing, making and removing files |
//! | `first_line` | scripts and what their first line starts them with |
//! | `heuristics` | commands in text that could not be read |
//! | `index_changes` | what a command changed about which files version control tracks |
//! | `statements` | control flow: lists, pipes, functions |
//! | `branches` | `if` and `case` |
//! | `ways` | following more than one way |
//! | `weight` | what the states that are followed take, and what it costs to copy them |
//! | `whole_files` | files that reach a command whole on its standard input |
//! | `left_open` | programs that stay open for what is typed into them |
//! | `loops` | loops |
//! | `simple` | simple commands |
//! | `lookup` | who is called: a function, a built-in, a program, a file |
//! | `redirects` | redirections |
//! | `run` | running more from within a command: text, files, input |
//! | `expand` | words to values |
//! | `parameter` | parameter expansion |
//! | `pattern` | patterns against text |
//! | `glob` | patterns against the tree |
//! | `pattern_links` | patterns that go through symbolic links |
//! | `arithmetic` | expressions on whole numbers |
//! | `errors` | the standard error where something reads it |
//! | `evaluation` | arithmetic with the variables of a shell |
//! | `user_hooks` | code that a user has arranged to run: hooks |
//! | `assumptions` | what holds of variables on the way that a condition opens |
//! | `condition` | `[[ ]]` and `test` |
//! | `value` | what is known about a text |
//! | `shell` | the state of one shell: directory, variables, functions, options |
//! | `speech` | `sh`, which may be one shell or another |
//! | `separators` | what separates fields where `IFS` is not certain |
//! | `moves` | where things stood that the command moved |
//! | `overlay` | the file tree as the command has changed it so far |
//! | `perhaps` | what may stand at a path of which that is not known |
//! | `overlay_updates` | notes on the tree without an effect |
//! | `inheritance` | the environment that a program is started with |
//! | `resolve` | names of secrets on the way to a path |
//! | `call` | a call of a program, as its handler sees it |
//! | `exit` | what a command answers: status and output |
//! | `draft` | an effect in the making |
//! | `provenance` | natures that follow from which program an effect is of |
//! | `complaints` | secrets that error messages name |
//! | `descriptors` | what the numbers behind redirections lead to |
//! | `devices` | paths that are no ordinary files |
//! | `carried_commands` | commands that options, settings and inputs carry |
//! | `default_settings` | settings of a home directory that name what runs |
//! | `deferred_commands` | commands in variables, aliases, traps and options |
//! | `renamed_programs` | names that are not what they look like |
//! | `secret_marks` | places that hold secrets because actions put them there |
//! | `secrets` | variables that hold secrets, and whose they are |
//! | `printed`, `handing`, `sweeps` | secrets in what a call prints, hands over or comes by |
//! | `log_tampering` | what is recorded about the use of the machine |
//! | `shell_setup` | programs that print text for the shell that asks them |
//! | `unread_secrets` | secrets that a program gets which says nothing about them |
//! | `unread_words` | words that nobody reads, and what they would take away |
//! | `unbounded` | what goes on without end |
//! | `steered_agents` | variables in files that agents load when they start |
//! | `unchecked_files` | settings in files by which a program checks no more whom it talks to |
//! | `scan` | looking over what is not followed |
//! | `brought` | trees that are brought over a directory, and second names of files |
//! | `fetchers` | programs that fetch files from elsewhere |
//! | `origins` | where things came from that the command fetched |
//! | `runners` | programs that run the code of a directory |
//! | `order_files` | files of orders, of which some run a command |
//! | `outputs` | places of the guard that a call writes, by what its words say |
//! | `written_variables` | places that a call writes, by the variables that it is given |
//! | `bounds` | what the kernel keeps a command within |
//! | `programs` | the trait by which it knows programs |
//! | `prediction` | what an interpretation comes to |
//! | `presence` | words that stand there only if a variable holds something |
//! | `presumptions` | what rests on files as they stand now, and the other way |
//! | `builtins` | what the shell itself does |
//! | `filters` | what programs print that only turn text into text |
//! | `environment` | programs that print variables |
//! | `expression` | regular expressions |
//! | `formats`, `strings` | formats of `printf`; escapes and fields |
//! | `known_hosts` | how far a host is |
//! | `process_lists`, `signals` | lists of processes on their way to `kill`, and its words |
//! | `walks`, `git_store` | what a walk through a tree chose, and what git was given, for those who ask again |
//! | `git_settings` | settings of git that name code |
//! | `guarded`, `guard_lookups` | the paths of the guard; its programs where something looked them up |
//! | `remote` | hosts and containers, and which of their files are here |
//!
//! **Invariants.** This crate decides nothing, and touches the machine only through [`World`](checkrein_facts::World). It knows no
//! program but the shell and its filters: who is called is asked of [`Programs`]. What is not followed is an effect of its own.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

/// The words of effects, as this crate looks for them.
mod effect {
    pub(crate) use checkrein_protocol::{
        Aim, Certainty, Depth, Effect, EffectKind, FileChange, NetworkReach, Severity, Target,
    };
}
mod nature {
    pub(crate) use checkrein_protocol::Nature;
}
mod world {
    pub(crate) use checkrein_facts::*;
    pub(crate) use checkrein_protocol::Timestamp;
}
mod places {
    pub(crate) use checkrein_facts::places::*;
}
mod path {
    pub(crate) use checkrein_protocol::AbsolutePath;
}

mod again;
mod ambient;
mod arithmetic;
mod assignment;
mod assumptions;
mod bounds;
mod branches;
mod brought;
pub mod builtins;
mod call;
mod carried_commands;
mod complaints;
mod condition;
pub mod default_settings;
mod deferred_commands;
mod descriptors;
mod devices;
mod draft;
mod environment;
mod errors;
mod evaluation;
mod exit;
mod expand;
pub mod expression;
mod fetchers;
mod file_operations;
pub mod filters;
mod first_line;
mod formats;
pub mod git_settings;
pub mod git_store;
mod glob;
mod guard_lookups;
pub mod guarded;
mod handed_texts;
mod handing;
mod heuristics;
mod history_expansion;
mod history_lines;
mod index_changes;
mod inheritance;
pub mod known_hosts;
mod left_open;
mod loading_variables;
mod log_tampering;
mod lookup;
mod loops;
pub mod machine;
mod moves;
mod order_files;
mod origins;
mod outputs;
mod overlay;
mod overlay_updates;
mod parameter;
mod pattern;
mod pattern_links;
mod perhaps;
mod prediction;
mod presence;
mod presumptions;
pub mod printed;
pub mod process_lists;
mod programs;
mod provenance;
mod redirects;
pub mod remote;
mod renamed_programs;
mod resolve;
mod run;
mod runners;
mod scan;
mod secret_marks;
pub mod secrets;
mod separators;
mod shell;
mod shell_setup;
pub mod signals;
mod simple;
mod speech;
mod statements;
pub mod steered_agents;
pub mod strings;
mod sweeps;
mod taken_from_person;
mod targets;
mod telling_variables;
mod told_words;
mod traps;
mod unbounded;
pub mod unchecked_files;
mod unread_secrets;
mod unread_words;
mod user_hooks;
mod value;
pub mod walks;
mod ways;
mod weight;
mod whole_files;
mod written_variables;

pub use brought::Brought;
pub use call::{Arguments, Call, Input};
pub use checkrein_facts::{Last, resolve};
pub use draft::{AimedTarget, Draft, Inspection, Upload};
pub use exit::{Exit, Output, Status};
pub use fetchers::has_series;
pub use git_store::{Commitment, FetchSource, Untracked};
pub use heuristics::refused_at;
pub use index_changes::{Happened, IndexChange, IndexChanges};
pub use inheritance::Inheritance;
pub use lookup::Lookup;
pub use machine::Machine;
pub use machine::RunCommand;
pub use pattern::{Letters, OTHER_THAN_ASCII, Pattern};
pub use pattern_links::PatternReach;
pub use prediction::{AnnouncedContent, LeftOpen, LoggedMessage, Prediction};
pub use programs::Programs;
pub use resolve::secret_behind_links;
pub(crate) use shell::Options;
pub use shell::{ShellDirectory, Speech, Treatment, Variable, VariableContent};
pub use speech::{ShellProgram, ShellUser};
pub use statements::{Done, Flow};
pub use unread_secrets::is_used_as_it_is;
pub use value::Value;
