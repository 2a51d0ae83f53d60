//! What the interface shows and how keys change it: without a terminal, a clock or a file.

use checkrein_ledger::FolderName;
use checkrein_protocol::{HaltScope, VerdictKind};

use super::input::Press;
use crate::commands::Switch;
use crate::terminal::Reply;

/// A session as it stands in the list. All texts are fit to be shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionRow {
    pub(super) folder: FolderName,
    /// The last part of the path of its workspace.
    pub(super) project: String,
    /// The whole path.
    pub(super) place: String,
    /// What the user said first.
    pub(super) prompt: String,
    pub(super) agent: String,
    /// In a word, as the plain output says it.
    pub(super) condition: &'static str,
    pub(super) halt: Option<HaltScope>,
    /// When the last record was written, in milliseconds since 1970.
    pub(super) last: u64,
    pub(super) calls: u64,
    pub(super) nudges: u64,
    pub(super) questions: u64,
    pub(super) blocks: u64,
    /// Empty where they are not known.
    pub(super) tokens: String,
    pub(super) cost: String,
    /// The issues that stand, and what is done about them.
    pub(super) issues: String,
}

impl SessionRow {
    fn fits(&self, filter: &str) -> bool {
        let wanted = filter.to_lowercase();
        let texts = [&self.place, &self.prompt, &self.agent, &self.issues];
        let names = [self.condition, self.folder.as_str()];
        texts.into_iter().map(String::as_str).chain(names).any(|text| text.to_lowercase().contains(&wanted))
    }
}

/// A line of the log of the selected session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallRow {
    /// The number of its record.
    pub(super) seq: u64,
    pub(super) clock: String,
    pub(super) verdict: Option<VerdictKind>,
    /// What was answered to the question about it.
    pub(super) answer: Option<&'static str>,
    pub(super) what: String,
    /// How it ended.
    pub(super) result: String,
}

/// What fills the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    /// Sessions and calls, with the list of sessions in hand.
    Sessions,
    /// The same with the calls in hand.
    Calls,
    /// One call in words.
    Details(Page),
    /// The keys.
    Help(Page),
}

/// A text that may be longer than the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) text: String,
    /// The first line that is shown.
    pub(super) top: usize,
}

/// Something in front of the screen that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialog {
    pub(super) title: String,
    pub(super) page: Page,
    pub(super) kind: DialogKind,
}

/// What a dialog is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DialogKind {
    /// Whether an action is to be begun.
    Confirm(Act),
    /// A command that is at work asks this.
    Question(String),
    /// A command is at work.
    Busy,
    /// A command has ended.
    Result,
}

/// What can be done to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Halt(FolderName),
    /// With the name of the session that was selected, and which halt it is under.
    Resume(FolderName, HaltScope),
    Undo(FolderName),
}

/// What the state wants of the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// The sessions are to be read again.
    Read,
    /// The calls of the selected session are to be read.
    ReadCalls,
    /// The record with this number of the selected session is to be told.
    Tell(u64),
    Begin(Act),
    /// The answer to the question of a command.
    Answer(Reply),
    Suspend,
    Quit,
}

/// Everything that is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WatchState {
    pub(super) view: View,
    pub(super) dialog: Option<Dialog>,
    /// Whether ended and silent sessions are shown.
    pub(super) all: Switch,
    pub(super) filter: String,
    /// Whether the filter is being typed.
    pub(super) typing: Switch,
    /// What is said at the foot, until the next key.
    pub(super) message: String,
    /// The time, in milliseconds since 1970.
    pub(super) now: u64,
    sessions: Vec<SessionRow>,
    selected: Option<FolderName>,
    calls: Vec<CallRow>,
    /// The number of the record of the selected call; the newest while there is none.
    call: Option<u64>,
}

/// What the keys do.
const HELP: &str = "\
up, down, j, k     move
enter              the calls of the session, then what is known of one
esc                back
/                  filter by project, prompt, agent, state
a                  all sessions, or only those that are running
h                  halt the session: its next call is refused
r                  resume the session
u                  undo the last destructive action of the session
q                  quit

h/a/s              hints, questions (asked), stopped calls
working            a call was made or ended last
at rest            the agent has finished its turn
waiting            a question waits for you
halted             every call is refused
ended              the client has ended the session";

/// How many lines a page key moves (ours).
const LEAP: isize = 10;

impl WatchState {
    /// Returns the state before anything is read.
    pub(super) fn new(all: Switch) -> Self {
        Self {
            view: View::Sessions,
            dialog: None,
            all,
            filter: String::new(),
            typing: Switch::Off,
            message: String::new(),
            now: 0,
            sessions: Vec::new(),
            selected: None,
            calls: Vec::new(),
            call: None,
        }
    }

    /// Takes the sessions that were read. The selected one stays selected while it is there.
    pub(super) fn take_sessions(&mut self, sessions: Vec<SessionRow>, now: u64) {
        // Where the selected one has gone, what now stands in its line is selected.
        let place = self.place();
        self.sessions = sessions;
        self.now = now;
        self.select(self.place().or(place).unwrap_or_default());
    }

    /// Takes the newest lines of the selected session, oldest first.
    pub(super) fn take_calls(&mut self, calls: Vec<CallRow>) {
        let is_there = |seq: &u64| calls.iter().any(|call| call.seq == *seq);
        self.call = self.call.filter(is_there);
        self.calls = calls;
    }

    /// The sessions that fit the filter.
    pub(super) fn shown(&self) -> Vec<&SessionRow> {
        self.sessions.iter().filter(|row| row.fits(&self.filter)).collect()
    }

    /// The selected session.
    pub(super) fn selected(&self) -> Option<&SessionRow> {
        self.shown().into_iter().find(|row| Some(&row.folder) == self.selected.as_ref())
    }

    /// The line of the selected session in the list.
    pub(super) fn place(&self) -> Option<usize> {
        self.shown().iter().position(|row| Some(&row.folder) == self.selected.as_ref())
    }

    /// The lines of the selected session, oldest first.
    pub(super) fn calls(&self) -> &[CallRow] {
        &self.calls
    }

    /// The place of the selected call: the last one unless another was chosen.
    pub(super) fn call_place(&self) -> Option<usize> {
        let chosen = self.calls.iter().position(|call| Some(call.seq) == self.call);
        chosen.or_else(|| self.calls.len().checked_sub(1))
    }

    /// Shows a text about the selected call.
    pub(super) fn show_details(&mut self, text: String) {
        let top = match &self.view {
            View::Details(page) => page.top,
            View::Sessions | View::Calls | View::Help(_) => 0,
        };
        self.view = View::Details(Page { text, top });
    }

    /// The number of the record of which the details are shown.
    pub(super) fn detailed(&self) -> Option<u64> {
        let place = self.call_place().filter(|_| matches!(self.view, View::Details(_)))?;
        self.calls.get(place).map(|call| call.seq)
    }

    /// Opens a dialog.
    pub(super) fn ask(&mut self, title: &str, text: String, kind: DialogKind) {
        self.message.clear();
        self.dialog = Some(Dialog { title: title.to_owned(), page: Page { text, top: 0 }, kind });
    }

    /// Does what a key means; what that wants of the world.
    pub(super) fn press(&mut self, press: Press) -> Option<Request> {
        self.message.clear();
        match press {
            Press::Interrupt => return Some(Request::Quit),
            Press::Suspend => return Some(Request::Suspend),
            _ => {}
        }
        if self.dialog.is_some() {
            return self.press_in_dialog(press);
        }
        if self.typing == Switch::On {
            return Some(self.press_in_filter(press));
        }
        match press {
            Press::Character('q' | 'Q') => return Some(Request::Quit),
            Press::Character('?') => {
                self.view = match self.view {
                    View::Help(_) => View::Sessions,
                    View::Sessions | View::Calls | View::Details(_) => {
                        View::Help(Page { text: HELP.to_owned(), top: 0 })
                    }
                };
                return None;
            }
            _ => {}
        }
        match &mut self.view {
            View::Help(page) => {
                if !page.scroll(press) {
                    self.view = View::Sessions;
                }
                None
            }
            View::Details(page) => match press {
                Press::Back => {
                    self.view = View::Calls;
                    None
                }
                _ => page.scroll(press).then_some(()).map_or_else(|| self.act(press), |()| None),
            },
            View::Calls => match press {
                Press::Back | Press::Tab => {
                    self.view = View::Sessions;
                    self.call = None;
                    None
                }
                Press::Enter => {
                    let seq =
                        self.call_place().and_then(|place| self.calls.get(place)).map(|call| call.seq)?;
                    self.call = Some(seq);
                    Some(Request::Tell(seq))
                }
                _ => match movement(press) {
                    Some(by) => {
                        let last = self.calls.len().saturating_sub(1);
                        let place = self.call_place().unwrap_or(0).saturating_add_signed(by).min(last);
                        // At the end the newest is followed.
                        self.call = self.calls.get(place).filter(|_| place < last).map(|call| call.seq);
                        None
                    }
                    None => self.act(press),
                },
            },
            View::Sessions => match press {
                Press::Enter | Press::Tab if self.selected().is_some() => {
                    self.view = View::Calls;
                    None
                }
                Press::Back if !self.filter.is_empty() => {
                    self.filter.clear();
                    self.select(self.place().unwrap_or_default());
                    Some(Request::ReadCalls)
                }
                _ => match movement(press) {
                    Some(by) => {
                        self.select(self.place().unwrap_or_default().saturating_add_signed(by));
                        Some(Request::ReadCalls)
                    }
                    None => self.act(press),
                },
            },
        }
    }

    fn press_in_dialog(&mut self, press: Press) -> Option<Request> {
        let dialog = self.dialog.as_mut()?;
        if dialog.page.scroll(press) {
            return None;
        }
        let is_yes = matches!(press, Press::Character('y' | 'Y'));
        let is_no = matches!(press, Press::Character('n' | 'N' | 'q') | Press::Back);
        match dialog.kind.clone() {
            DialogKind::Confirm(act) if is_yes => {
                self.dialog = None;
                Some(Request::Begin(act))
            }
            DialogKind::Confirm(_) if is_no => {
                self.dialog = None;
                "nothing was done".clone_into(&mut self.message);
                None
            }
            DialogKind::Question(_) if is_yes => Some(Request::Answer(Reply::Yes)),
            DialogKind::Question(_) if is_no => Some(Request::Answer(Reply::No)),
            DialogKind::Result if is_no || press == Press::Enter => {
                self.dialog = None;
                Some(Request::Read)
            }
            DialogKind::Confirm(_) | DialogKind::Question(_) | DialogKind::Busy | DialogKind::Result => None,
        }
    }

    fn press_in_filter(&mut self, press: Press) -> Request {
        match press {
            Press::Character(letter) => self.filter.push(letter),
            Press::Erase => drop(self.filter.pop()),
            Press::Enter => self.typing = Switch::Off,
            Press::Back => {
                self.typing = Switch::Off;
                self.filter.clear();
            }
            _ => {}
        }
        self.select(self.place().unwrap_or_default());
        Request::ReadCalls
    }

    /// The keys that mean the same wherever a session is selected.
    fn act(&mut self, press: Press) -> Option<Request> {
        match press {
            Press::Character('/') => {
                self.view = View::Sessions;
                self.typing = Switch::On;
                return None;
            }
            Press::Character('a') => {
                self.all = if self.all == Switch::On { Switch::Off } else { Switch::On };
                return Some(Request::Read);
            }
            Press::Character('h' | 'r' | 'u') => {}
            _ => return None,
        }
        let Some(row) = self.selected() else {
            "no session is selected".clone_into(&mut self.message);
            return None;
        };
        let (folder, halt) = (row.folder.clone(), row.halt);
        let name = format!("session {} in {}", folder.as_str(), row.place);
        match (press, halt) {
            (Press::Character('u'), _) => return Some(Request::Begin(Act::Undo(folder))),
            (Press::Character('h'), Some(HaltScope::Session)) => {
                "the session is halted already; `r` resumes it".clone_into(&mut self.message);
            }
            (Press::Character('h'), Some(HaltScope::All) | None) => self.ask(
                "Halt",
                format!("Halt {name}?\n\nEvery further call is refused until you resume the session."),
                DialogKind::Confirm(Act::Halt(folder)),
            ),
            (_, None) => "the session is not halted".clone_into(&mut self.message),
            (_, Some(scope @ HaltScope::Session)) => self.ask(
                "Resume",
                format!("Let {name} go on?"),
                DialogKind::Confirm(Act::Resume(folder, scope)),
            ),
            (_, Some(scope @ HaltScope::All)) => self.ask(
                "Resume",
                "All sessions are halted. Let all of them go on?".to_owned(),
                DialogKind::Confirm(Act::Resume(folder, scope)),
            ),
        }
        None
    }

    /// Selects the session in this line of the list, or in the last one; the calls of another session begin with the newest.
    fn select(&mut self, place: usize) {
        let shown = self.shown();
        let row = shown.get(place).or(shown.last());
        let folder = row.map(|row| row.folder.clone());
        if folder != self.selected {
            self.selected = folder;
            self.calls.clear();
            self.call = None;
            if !matches!(self.view, View::Help(_)) {
                self.view = View::Sessions;
            }
        }
    }
}

impl Page {
    /// Scrolls where the key means that; whether it does. How far down there is text is known when it is drawn.
    fn scroll(&mut self, press: Press) -> bool {
        let Some(by) = movement(press) else { return false };
        self.top = self.top.saturating_add_signed(by).min(self.text.len());
        true
    }
}

/// By how many lines a key moves.
fn movement(press: Press) -> Option<isize> {
    match press {
        Press::Up | Press::Character('k') => Some(-1),
        Press::Down | Press::Character('j') => Some(1),
        Press::PageUp => Some(-LEAP),
        Press::PageDown | Press::Character(' ') => Some(LEAP),
        Press::First | Press::Character('g') => Some(isize::MIN / 2),
        Press::Last | Press::Character('G') => Some(isize::MAX / 2),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests;
