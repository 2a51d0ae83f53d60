//! A command at work behind the interface: in a thread of its own, with what it says and asks as messages.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::HaltScope;
use checkrein_session::SessionLedger;

use super::state::Act;
use crate::commands::halt::{self, Which};
use crate::commands::restore::Permissions;
use crate::commands::undo::{UndoChoice, undo};
use crate::commands::{ExitStatus, OutputForm, for_people_only};
use crate::terminal::{Reply, in_dialogue};

/// What a command at work tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Telling {
    /// What it said, and what it asks.
    Asks(String, String),
    /// What it said until it ended.
    Ended(String),
}

/// A command at work. Dropped, its question is answered with no, and its end is waited for: what is half restored helps nobody.
pub(super) struct Acting {
    told: Receiver<Telling>,
    answers: Option<Sender<Reply>>,
    thread: Option<JoinHandle<()>>,
}

impl Acting {
    /// Begins to do something.
    pub(super) fn begin(environment: &HostEnvironment, act: Act) -> Self {
        let (tell, told) = channel();
        let (answers, answer) = channel();
        let environment = environment.clone();
        let thread = thread::spawn(move || {
            let asks = tell.clone();
            let ask = move |said: &str, question: &str| {
                let is_heard = asks.send(Telling::Asks(said.to_owned(), question.to_owned())).is_ok();
                if is_heard { answer.recv().unwrap_or(Reply::No) } else { Reply::No }
            };
            let (result, mut said) = in_dialogue(ask, || carry_out(&environment, &act));
            if let Err(error) = result {
                said.push_str(&in_words(&error));
            }
            // Nobody is left to hear it only when the interface has ended.
            drop(tell.send(Telling::Ended(said)));
        });
        Self { told, answers: Some(answers), thread: Some(thread) }
    }

    /// What was told since this was last asked, if anything.
    pub(super) fn news(&self) -> Option<Telling> {
        match self.told.try_recv() {
            Ok(telling) => Some(telling),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Telling::Ended(
                "error: the command ended unexpectedly; report this as a defect".to_owned(),
            )),
        }
    }

    /// Answers the question.
    pub(super) fn answer(&self, reply: Reply) {
        if let Some(answers) = &self.answers {
            // A command that has ended needs no answer.
            let _ = answers.send(reply);
        }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        self.answers.take();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Does it by the code of the commands.
fn carry_out(environment: &HostEnvironment, act: &Act) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "watch")?;
    match act {
        Act::Halt(folder) => {
            halt::halt(environment, Some(folder.as_str()), halt::NO_REASON, OutputForm::Text)
        }
        Act::Resume(folder, HaltScope::Session) => {
            halt::resume(environment, Which::Named(folder.as_str()), OutputForm::Text)
        }
        Act::Resume(_, HaltScope::All) => halt::resume(environment, Which::All, OutputForm::Text),
        Act::Undo(folder) => {
            let state = SessionLedger::of_folder(&environment.state, folder.clone()).state()?;
            let workspace = state.workspace().cloned().ok_or_else(|| {
                CommandError::user(
                    "where this session works is not recorded",
                    "run `checkrein undo` in its project",
                )
            })?;
            // As if the user stood there.
            let there = HostEnvironment { cwd: workspace, ..environment.clone() };
            undo(&there, UndoChoice::NewestOf(folder), Permissions::default(), OutputForm::Text)
        }
    }
}

/// An error in words.
pub(super) fn in_words(error: &CommandError) -> String {
    let hint = error.hint.as_deref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("error: {}{hint}", error.message)
}
