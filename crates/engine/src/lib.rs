//! What happens around a tool call, whoever asks: a hook, a command, later a server.
//!
//! | module | holds |
//! |---|---|
//! | `engine` | what every surface calls: before a call, after it, at any other event |
//! | `corridor` | the way of a call, each step once |
//! | `unhooked` | the same where no hook waits: `check`, the permission event, replay |
//! | `disclosure` | secrets in what a tool answered, masked before the model reads it |
//! | `by_plugins` | what plugins said, as far as it makes a verdict stricter |
//! | `earlier`, `earlier_world` | calls that an agent makes without waiting: what they found |
//! | `adjudication`, `adjustments`, `docket` | what makes a verdict stricter, and in which order |
//! | `allowances` | what a user allowed beforehand |
//! | `answer_links` | signed links with which a question is answered without a login |
//! | `approvals` | questions that wait for an answer from outside the client |
//! | `seal` | what tells files that were written for a person from those that somebody else put there |
//! | `servers` | the servers of this state directory that answer now |
//! | `held_file` | files that say something as long as a process holds them |
//! | `context` | what is known around a call |
//! | `culprit` | which of several commands a verdict is about |
//! | `environment` | what is found around: home, state, configuration, variables |
//! | `asking` | who asks: a user or an agent, told by the processes above |
//! | `config_files` | the layers of configuration, read and merged |
//! | `confirmed_configuration` | the configuration as the user last confirmed it |
//! | `places` | where home, configuration and state of the user really are |
//! | `rules` | the texts that the rules of a workspace rest on |
//! | `run_by_client` | code of a folder that a client runs when it is started there |
//! | `sealed_texts` | copies of texts of the user, sealed where records are |
//! | `session_texts` | texts that a session is held to, kept as one |
//! | `beginning` | what a session began with, and being held to it |
//! | `beside` | processes that are started beside a call |
//! | `parsed_configurations` | configurations that a process which stays has read already |
//! | `resident` | a process that stays and answers hooks: who it must be, and what it takes over |
//! | `inheritance` | a halted conversation that goes on under another name |
//! | `kept_settings` | the settings of the client, put back when a call took the hooks out of them |
//! | `guarded_start` | whether an agent that a call starts would ask the guard |
//! | `installation` | where hooks were registered, and what of that is out of the agent's reach |
//! | `checkpoint` | saving what an action would destroy, right before it runs |
//! | `change_records` | what is written down before production is changed, and what became of it |
//! | `lineage` | which session started which, and what a family spends |
//! | `late_hints` | hints that a client drops before the call, told with its result |
//! | `lessons` | what earlier work failed at, for whoever is given the same goal |
//! | `limits` | the time and the memory of a session that only hooks look after |
//! | `usage` | what a session spends, read from the client's transcript, and its budget |
//! | `answering` | what a review becomes: an answer |
//! | `ending` | what became of the calls of a session that is over |
//! | `for_user` | what a user reads of a call in the client: one line |
//! | `questions` | whether a question reaches a user |
//! | `other_answerers` | hooks of others that answer in place of the user |
//! | `batch` | a review as the answer of `check --batch` |
//! | `records`, `session_ledger` | what is written down, and how |
//! | `retention` | what is older than it is kept, in all stores |
//! | `foresight` | what the detectors would say once a call has run |
//! | `verification` | after a call: what really changed, against what was predicted |
//! | `monitor` | after each outcome: what the detectors find, what is done about it |
//! | `intervention_texts` | what the user wrote about interventions |
//! | `interventions` | doing it: halting, going back, reporting |
//! | `lost_records` | records that went while a session was going on: told, and put back as far as there is a copy |
//! | `unreviewed` | calls that ran although no review had let them: told |
//! | `untaken_answers` | answers that a client cannot take, which are refusals |
//! | `turn_end` | what the agent said last, weighed |
//! | `turn_gates`, `push_gates`, `gate_process` | gates at the end of a turn and before a push, by something that is handed in: a process of its own |
//! | `rollback` | the way back to what stood before a session went wrong |
//! | `spending` | warnings at half and at four fifths of a budget |
//! | `plugins` | the plugins of the user: which of them run, and that they are started after a call |
//! | `sparing` | the places of the guard, which no restore touches |
//! | `set_back` | the conversation set back below a run |
//! | `stop`, `incident`, `cleanup` | a stop, what is kept of it, what it leaves behind |
//! | `notification`, `notifier` | telling people, by something that is handed in: a process of its own |
//! | `replay` | a recorded session, played: reviewed and watched, recorded nowhere |
//! | `fail_closed` | the one table from failure to verdict |
//! | `flow` | orders in what a call showed of the outside |
//! | `error` | what can fail, as a user reads it |
//! | `pinned_policy` | the policy of a team: checked once, compared at every call |
//! | `confirmed_team_policy` | what was pinned last, kept a second time, so that a loss or a forgery shows |
//! | `processes` | what `/proc` tells of a process |
//! | `clock`, `diagnostics` | the time, handed in; what did not work, handed out |
//! | `text` | records and calls in words |
//! | `tiers` | the tiers that people gave to single agents |
//! | `senders` | what agent frameworks ask about by message, and the trust of who sends it |

#![deny(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, clippy::disallowed_types)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod adjudication;
mod adjustments;
pub mod allowances;
pub mod answer_links;
pub mod answering;
pub mod approvals;
pub mod asking;
pub mod batch;
pub mod beginning;
pub mod beside;
mod by_plugins;
pub mod change_records;
pub mod checkpoint;
mod cleanup;
pub mod clock;
pub mod config_files;
pub mod confirmed_configuration;
pub mod confirmed_team_policy;
pub mod context;
mod corridor;
pub mod culprit;
pub mod diagnostics;
mod disclosure;
mod docket;
mod earlier;
mod earlier_world;
pub mod ending;
mod engine;
pub mod environment;
pub mod error;
pub mod fail_closed;
mod flow;
mod for_user;
mod foresight;
pub mod gate_process;
mod guarded_start;
mod held_file;
pub mod incident;
mod inheritance;
pub mod installation;
mod intervention_texts;
mod interventions;
mod kept_settings;
mod late_hints;
pub mod lessons;
mod limits;
pub mod lineage;
mod lost_records;
pub mod monitor;
pub mod notification;
mod notifier;
pub mod other_answerers;
mod parsed_configurations;
pub mod pinned_policy;
mod places;
pub mod plugins;
mod processes;
mod push_gates;
pub mod questions;
mod records;
pub mod replay;
pub mod resident;
pub mod retention;
pub mod rollback;
pub mod rules;
pub mod run_by_client;
mod seal;
mod sealed_texts;
pub mod senders;
pub mod servers;
pub mod session_ledger;
mod session_texts;
mod set_back;
pub mod sparing;
pub mod spending;
pub mod stop;
pub mod text;
pub mod tiers;
mod turn_end;
mod turn_gates;
mod unhooked;
mod unreviewed;
mod untaken_answers;
pub mod usage;
mod verification;

pub use context::Context;
pub use disclosure::reader_key;
pub use earlier::{EarlyStart, KeptWorkspace};
pub use engine::{Engine, Response, ToolCall, halted, record_failure};
pub use intervention_texts::check as check_intervention_texts;
pub use parsed_configurations::ParsedConfigurations;
pub use unhooked::{check, check_before_running};
