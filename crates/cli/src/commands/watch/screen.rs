//! The terminal while an interface fills it: taken, given back whatever happens, and the signals that matter meanwhile.

use std::io::{self, Stdout, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, thread};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_sandbox::Signals;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport, prelude::CrosstermBackend};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGTSTP};

use super::input::{Press, press};

/// Whether the terminal can show an interface: one that is called `dumb` moves no cursor.
pub(super) fn is_usable(environment: &HostEnvironment) -> bool {
    environment.variables.get("TERM").is_none_or(|name| name != "dumb")
}

/// A terminal that was taken; dropped, it is as it was.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    signals: Signals,
    /// Whether we are to stop for a while.
    stop: Arc<AtomicBool>,
    /// Whether we went on after a stop.
    continued: Arc<AtomicBool>,
}

/// What came from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    Key(Press),
    /// The window has another size, or what is on it is not known any more.
    Redraw,
    /// A signal asks for the end, or the terminal is gone.
    End,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn open() -> Result<Self, CommandError> {
        let failed = |error: io::Error| CommandError::file("use", "the terminal", &error);
        let signals = Signals::remembered()?;
        let (stop, continued) = (Arc::default(), Arc::default());
        signal_hook::flag::register(SIGTSTP, Arc::clone(&stop)).map_err(failed)?;
        signal_hook::flag::register(SIGCONT, Arc::clone(&continued)).map_err(failed)?;
        // The message of a panic belongs on the terminal as it was. A command at work has a thread of its own, and its panic is told in
        // the interface.
        let (before, own) = (panic::take_hook(), thread::current().id());
        panic::set_hook(Box::new(move |panic| {
            if thread::current().id() == own {
                give_back();
                before(panic);
            }
        }));
        let terminal = take().and_then(|()| blank()).inspect_err(|_| give_back()).map_err(failed)?;
        Ok(Self { terminal, signals, stop, continued })
    }

    /// Draws what has changed since the last time.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), CommandError> {
        let drawn = self.terminal.draw(draw).map(drop);
        drawn.map_err(|error| CommandError::file("write to", "the terminal", &error))
    }

    /// Waits for what comes, for `milliseconds` at most, and returns all of it.
    pub(super) fn wait(&mut self, milliseconds: u32) -> Result<Vec<Arrival>, CommandError> {
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(milliseconds.min(999)) * 1_000_000 };
        let input = stdin();
        let mut waiting = [PollFd::new(&input, PollFlags::IN)];
        // A signal ends the wait too.
        let _ = poll(&mut waiting, Some(&time));
        let [waited] = &waiting;
        let is_gone = waited.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        if is_gone || self.signals.asked().is_some() {
            return Ok(vec![Arrival::End]);
        }
        if self.stop.swap(false, Ordering::Relaxed) {
            self.suspend()?;
        }
        let mut arrivals = Vec::new();
        if self.continued.swap(false, Ordering::Relaxed) {
            // A shell may have set the terminal up for itself.
            self.take_again()?;
            arrivals.push(Arrival::Redraw);
        }
        let failed = |error: io::Error| CommandError::file("read from", "the terminal", &error);
        while event::poll(std::time::Duration::ZERO).map_err(failed)? {
            let event = event::read().map_err(failed)?;
            if let Event::Resize(..) = event {
                self.terminal = blank().map_err(failed)?;
            }
            arrivals.push(press(&event).map_or(Arrival::Redraw, Arrival::Key));
        }
        Ok(arrivals)
    }

    /// Gives the terminal back, stops this process as Ctrl-Z does, and takes it again when it goes on.
    pub(super) fn suspend(&mut self) -> Result<(), CommandError> {
        give_back();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)
            .map_err(|error| CommandError::file("leave", "the terminal", &error))?;
        self.continued.store(false, Ordering::Relaxed);
        self.take_again()
    }

    fn take_again(&mut self) -> Result<(), CommandError> {
        let taken = disable_raw_mode().and_then(|()| take()).and_then(|()| blank());
        self.terminal = taken.map_err(|error| CommandError::file("use", "the terminal", &error))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        // What panics from here on panics as before.
        if !thread::panicking() {
            drop(panic::take_hook());
        }
    }
}

/// Keys come one by one and are not printed, and what stood on the terminal is kept aside.
fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen)
}

/// A terminal of which nothing is drawn yet, of the size that it has now. A terminal that followed its size by itself would ask where the
/// cursor is, and fail where nobody answers in time.
fn blank() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    let (width, height) = size()?;
    execute!(stdout(), Clear(ClearType::All))?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(CrosstermBackend::new(stdout()), TerminalOptions { viewport })
}

/// The terminal as it was. That it fails means that there is no terminal any more.
fn give_back() {
    drop(execute!(stdout(), LeaveAlternateScreen, Show));
    drop(disable_raw_mode());
}
