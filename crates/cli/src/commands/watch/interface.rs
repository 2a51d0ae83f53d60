//! The interface of `watch`: reads, draws, waits for a key, does what it means, and begins again.

use std::time::Instant;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

use super::INTERVAL;
use super::acting::{Acting, Telling, in_words};
use super::drawing::{Palette, draw};
use super::reading::SessionReader;
use super::screen::{Arrival, Screen};
use super::state::{Act, DialogKind, Request, WatchState};
use crate::commands::{ExitStatus, Switch};
use crate::terminal::has_colour;

/// How long a key or a signal is waited for at most before it is looked what else happened, in milliseconds (ours): that of the eye.
const TICK: u32 = 200;

/// Shows the sessions until the user has seen enough.
pub(super) fn run(environment: &HostEnvironment, all: Switch) -> Result<ExitStatus, CommandError> {
    let mut interface = Interface {
        environment,
        state: WatchState::new(all),
        reader: SessionReader::new(),
        acting: None,
        read: None,
    };
    let mut screen = Screen::open()?;
    let palette = if has_colour() { Palette::Colours } else { Palette::Plain };
    let mut is_changed = true;
    loop {
        is_changed |= interface.hear();
        if interface.read.is_none_or(|read| read.elapsed() >= INTERVAL) {
            interface.read();
            is_changed = true;
        }
        if std::mem::take(&mut is_changed) {
            screen.draw(|frame| draw(frame, &mut interface.state, palette))?;
        }
        for arrival in screen.wait(TICK)? {
            is_changed = true;
            let request = match arrival {
                Arrival::Key(press) => interface.state.press(press),
                Arrival::Redraw => None,
                Arrival::End => Some(Request::Quit),
            };
            match request {
                Some(Request::Quit) => return Ok(ExitStatus::Done),
                Some(Request::Suspend) => screen.suspend()?,
                Some(request) => interface.fulfil(request),
                None => {}
            }
        }
    }
}

struct Interface<'a> {
    environment: &'a HostEnvironment,
    state: WatchState,
    reader: SessionReader,
    acting: Option<Acting>,
    /// When the sessions were read last.
    read: Option<Instant>,
}

impl Interface<'_> {
    /// Reads what changed. What cannot be read is said, and tried again the next time.
    fn read(&mut self) {
        self.read = Some(Instant::now());
        match self.reader.sessions(self.environment, self.state.all) {
            Ok(rows) => self.state.take_sessions(rows, self.environment.now().0),
            Err(error) => self.state.message = in_words(&error).replace('\n', "; "),
        }
        self.read_calls();
    }

    fn read_calls(&mut self) {
        let Some(folder) = self.state.selected().map(|row| row.folder.clone()) else {
            return self.state.take_calls(Vec::new());
        };
        match self.reader.calls(self.environment, &folder) {
            Ok(calls) => self.state.take_calls(calls),
            Err(error) => self.state.message = in_words(&error).replace('\n', "; "),
        }
        // What is known of a call grows with its outcome.
        if let Some(text) = self.state.detailed().and_then(|seq| self.reader.details(self.environment, seq)) {
            self.state.show_details(text);
        }
    }

    fn fulfil(&mut self, request: Request) {
        match request {
            Request::Read => self.read(),
            Request::ReadCalls => self.read_calls(),
            Request::Tell(seq) => match self.reader.details(self.environment, seq) {
                Some(text) => self.state.show_details(text),
                None => "this record is no longer among the newest".clone_into(&mut self.state.message),
            },
            Request::Begin(act) => {
                let title = title(&act);
                self.state.ask(title, "working...".to_owned(), DialogKind::Busy);
                self.acting = Some(Acting::begin(self.environment, act));
            }
            Request::Answer(reply) => {
                if let Some(acting) = &self.acting {
                    acting.answer(reply);
                }
                if let Some(dialog) = &mut self.state.dialog {
                    dialog.kind = DialogKind::Busy;
                }
            }
            Request::Suspend | Request::Quit => {}
        }
    }

    /// Hears what a command at work tells; whether it told something.
    fn hear(&mut self) -> bool {
        let Some(telling) = self.acting.as_ref().and_then(Acting::news) else { return false };
        let title = self.state.dialog.as_ref().map(|dialog| dialog.title.clone()).unwrap_or_default();
        match telling {
            Telling::Asks(said, question) => {
                self.state.ask(&title, said, DialogKind::Question(question));
            }
            Telling::Ended(said) => {
                self.acting = None;
                self.read();
                self.state.ask(&title, said, DialogKind::Result);
            }
        }
        true
    }
}

fn title(act: &Act) -> &'static str {
    match act {
        Act::Halt(_) => "Halt",
        Act::Resume(..) => "Resume",
        Act::Undo(_) => "Undo",
    }
}
