//! What an agent was heard doing, on its way to who judges it: never waited for by the agent, never more than fits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use checkrein_clients::transcript::{TranscriptEntry, row};
use serde_json::Value as Json;

/// One thing that an agent was heard doing, in the words of its client.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// A session began.
    Opened(String),
    /// A tool is called.
    Call {
        /// The client's name for the call.
        id: String,
        /// The tool.
        tool: String,
        /// What it is given.
        input: Json,
    },
    /// A call came back.
    Answer {
        /// The client's name for the call.
        id: String,
        /// The beginning of its output.
        output: String,
        /// Whether it failed.
        failed: bool,
    },
    /// The client refused a call by itself.
    Refused {
        /// The client's name for the call.
        id: String,
    },
    /// The agent said something.
    Said(String),
    /// The conversation was shortened.
    Condensed,
}

/// How much waits at most (ours): who is heard doing more than that at once is not judged in time anyway.
const ENTRIES: usize = 4096;
const BYTES: usize = 32 << 20;

/// How much of an output is kept.
const OUTPUT: usize = 32 << 10;

/// What waits.
#[derive(Debug)]
enum Said {
    Known(StreamEvent),
    /// A row of Claude as it came: reading it is left to who listens.
    Row(Vec<u8>),
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<(Said, usize)>,
    bytes: usize,
    lost: u64,
    closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Queue>,
    more: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that is spoken into. Nobody hears anything more when it is gone.
#[derive(Debug)]
pub struct EventSender(Arc<Shared>);

/// The end that is heard.
#[derive(Debug)]
pub struct Backlog {
    shared: Arc<Shared>,
    /// What one row said besides what was given out.
    rest: RefCell<VecDeque<StreamEvent>>,
}

/// Both ends of a backlog.
pub fn backlog() -> (EventSender, Backlog) {
    let shared = Arc::new(Shared::default());
    (EventSender(Arc::clone(&shared)), Backlog { shared, rest: RefCell::default() })
}

impl EventSender {
    /// Says one thing; what does not fit is lost, and counted. `bytes` is about how much memory it takes.
    pub(crate) fn say(&self, heard: StreamEvent, bytes: usize) {
        self.put(bytes, || Said::Known(cut(heard)));
    }

    /// Says what a row of Claude says.
    pub(crate) fn say_row(&self, row: &[u8]) {
        self.put(row.len(), || Said::Row(row.to_vec()));
    }

    fn put(&self, bytes: usize, said: impl FnOnce() -> Said) {
        let mut waiting = self.0.lock();
        if waiting.entries.len() >= ENTRIES || waiting.bytes.saturating_add(bytes) > BYTES {
            waiting.lost += 1;
        } else {
            waiting.bytes += bytes;
            waiting.entries.push_back((said(), bytes));
            self.0.more.notify_one();
        }
    }
}

/// The beginning of a long output is enough.
fn cut(heard: StreamEvent) -> StreamEvent {
    match heard {
        StreamEvent::Answer { id, output, failed } if output.len() > OUTPUT => {
            let end = (0..=OUTPUT).rev().find(|end| output.is_char_boundary(*end)).unwrap_or(0);
            StreamEvent::Answer { id, output: output.get(..end).unwrap_or_default().to_owned(), failed }
        }
        other => other,
    }
}

/// What a row of Claude says of calls.
pub(crate) fn of_row(value: &Json) -> impl Iterator<Item = StreamEvent> + use<> {
    row(value).entries.into_iter().filter_map(|entry| match entry {
        TranscriptEntry::Call { id: Some(id), tool, input } => Some(StreamEvent::Call { id, tool, input }),
        TranscriptEntry::Answer { id, output, failed } => {
            Some(cut(StreamEvent::Answer { id, output, failed }))
        }
        TranscriptEntry::Agent(text) => Some(StreamEvent::Said(text)),
        TranscriptEntry::Call { id: None, .. }
        | TranscriptEntry::Opened { .. }
        | TranscriptEntry::Person(_)
        | TranscriptEntry::Usage { .. }
        | TranscriptEntry::Model(_)
        | TranscriptEntry::Condensed => None,
    })
}

impl Drop for EventSender {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.more.notify_all();
    }
}

/// What a look into a backlog finds.
#[derive(Debug, Clone, PartialEq)]
pub enum Waiting {
    /// The oldest that waits.
    Heard(StreamEvent),
    /// Nothing came in that time.
    Nothing,
    /// Nothing will come.
    Closed,
}

impl Backlog {
    /// The oldest thing that waits, or what comes within a time.
    pub fn next(&self, patience: Duration) -> Waiting {
        loop {
            if let Some(heard) = self.rest.borrow_mut().pop_front() {
                return Waiting::Heard(heard);
            }
            let waiting = self.shared.lock();
            let is_empty = |waiting: &mut Queue| waiting.entries.is_empty() && !waiting.closed;
            let waited = self.shared.more.wait_timeout_while(waiting, patience, is_empty);
            let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let Some((said, bytes)) = waiting.entries.pop_front() else {
                return if waiting.closed { Waiting::Closed } else { Waiting::Nothing };
            };
            waiting.bytes -= bytes;
            drop(waiting);
            match said {
                Said::Known(heard) => return Waiting::Heard(heard),
                Said::Row(bytes) => {
                    if let Ok(value) = serde_json::from_slice::<Json>(&bytes) {
                        self.rest.borrow_mut().extend(of_row(&value));
                    }
                }
            }
        }
    }

    /// How many things were lost.
    pub fn lost(&self) -> u64 {
        self.shared.lock().lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_what_fits_comes_in_order() {
        let (speaker, backlog) = backlog();
        (0..ENTRIES + 10).for_each(|n| speaker.say(StreamEvent::Said(n.to_string()), 10));
        assert_eq!(backlog.lost(), 10);
        assert_eq!(backlog.next(Duration::ZERO), Waiting::Heard(StreamEvent::Said("0".to_owned())));
        drop(speaker);
        let rest = std::iter::from_fn(|| match backlog.next(Duration::ZERO) {
            Waiting::Heard(heard) => Some(heard),
            Waiting::Nothing | Waiting::Closed => None,
        });
        assert_eq!(rest.count(), ENTRIES - 1);
        assert_eq!(backlog.next(Duration::ZERO), Waiting::Closed);
    }

    #[test]
    fn an_output_is_cut_at_a_character_and_memory_is_bounded() {
        let (speaker, backlog) = backlog();
        let output = "ä".repeat(OUTPUT);
        for _ in 0..2 * BYTES / output.len() {
            let heard = StreamEvent::Answer { id: "t".to_owned(), output: output.clone(), failed: false };
            speaker.say(heard, output.len());
        }
        assert_eq!(backlog.lost(), (BYTES / output.len()) as u64);
        let Waiting::Heard(StreamEvent::Answer { output, .. }) = backlog.next(Duration::ZERO) else {
            panic!("nothing was heard")
        };
        assert_eq!(output.len(), OUTPUT);
    }

    #[test]
    fn a_row_says_all_its_parts_in_order() {
        let (speaker, backlog) = backlog();
        speaker.say_row(
            br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"y"}]}}"#,
        );
        speaker.say_row(b"{ broken");
        speaker.say(StreamEvent::Condensed, 1);
        drop(speaker);
        let mut all = Vec::new();
        while let Waiting::Heard(heard) = backlog.next(Duration::ZERO) {
            all.push(heard);
        }
        let answer = |id: &str, output: &str| StreamEvent::Answer {
            id: id.into(),
            output: output.into(),
            failed: false,
        };
        assert_eq!(all, [answer("a", "x"), answer("b", "y"), StreamEvent::Condensed]);
    }
}
