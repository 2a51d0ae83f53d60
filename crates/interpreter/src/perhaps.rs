//! What may stand at a path of which it is not known what stands there: what each way that a command may have gone left of it.

use super::git_store::Commitment;
use super::value::Value;

/// How many places a link is followed to that may lead to one or another (ours).
const LINKS: usize = 4;

/// What may stand at a path, beside nothing and what nobody knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Perhaps {
    /// What a file holds that may be there; `None` where no way left one.
    written: Option<Value>,
    /// Files of revisions that version control may have written there.
    committed: Vec<Commitment>,
    /// Where links lead that may be there.
    pub(super) links: Vec<String>,
    /// Whether it may be as it was before the command.
    pub(super) is_as_before: bool,
}

/// How many texts of one file are followed (ours).
const TEXTS: usize = 3;

/// One way to take what stands at a path, of which more than one is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// It holds this text.
    Holds(String),
    /// It holds what a file of a revision does.
    Committed(Commitment),
    /// It is a symbolic link that leads there.
    Leads(String),
    /// It is as it was before the command.
    AsBefore,
}

/// The ways of a file that holds one of several texts.
pub(super) fn ways_of_text(text: &Value) -> Vec<Way> {
    let texts = text.alternatives().unwrap_or_default();
    texts.iter().take(TEXTS).map(|text| Way::Holds((*text).clone())).collect()
}

impl Perhaps {
    /// How many bytes its texts take.
    pub(super) fn weight(&self) -> usize {
        self.written.as_ref().map_or(0, Value::weight) + self.links.iter().map(String::len).sum::<usize>()
    }

    /// A file with what is known of its text.
    pub(super) fn file(text: Value) -> Self {
        Self { written: Some(text), ..Self::default() }
    }

    /// A file that version control wrote.
    pub(super) fn committed(from: Commitment) -> Self {
        Self { committed: vec![from], ..Self::default() }
    }

    /// A symbolic link.
    pub(super) fn link(text: &str) -> Self {
        Self { links: vec![text.to_owned()], ..Self::default() }
    }

    /// What was there before the command.
    pub(super) fn as_before() -> Self {
        Self { is_as_before: true, ..Self::default() }
    }

    /// What stands there after one way or another.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.written = match (self.written, other.written) {
            (Some(own), Some(other)) => Some(own.join(&other)),
            (own, other) => own.or(other),
        };
        for from in other.committed {
            if self.committed.len() < TEXTS && !self.committed.contains(&from) {
                self.committed.push(from);
            }
        }
        for link in other.links {
            if self.links.len() < LINKS && !self.links.contains(&link) {
                self.links.push(link);
            }
        }
        self.is_as_before |= other.is_as_before;
        self
    }

    /// Whether a way left a file there of which nobody knows what it holds.
    pub(super) fn is_unread(&self) -> bool {
        self.written.as_ref().is_some_and(|text| text.alternatives().is_none())
    }

    /// In which ways what stands at the path may be taken.
    pub(super) fn ways(&self) -> Vec<Way> {
        let mut ways = self.written.as_ref().map(ways_of_text).unwrap_or_default();
        ways.extend(self.committed.iter().cloned().map(Way::Committed));
        ways.extend(self.links.iter().cloned().map(Way::Leads));
        ways.extend(self.is_as_before.then_some(Way::AsBefore));
        ways
    }

    /// The text of the file, if one is there; `held` is what a revision holds of it, `before` what is known of it where no way wrote it.
    pub(super) fn text(&self, held: impl Fn(&Commitment) -> Value, before: impl FnOnce() -> Value) -> Value {
        let text = match (&self.written, before()) {
            (Some(written), Value::Unknown) => written.clone(),
            (Some(written), before) => written.clone().join(&before),
            (None, before) => before,
        };
        let mut held = self.committed.iter().map(held);
        match (text, self.written.is_none() && !self.is_as_before) {
            (_, true) => match held.next() {
                Some(first) => held.fold(first, |text, held| text.join(&held)),
                None => Value::Unknown,
            },
            (text, false) => held.fold(text, |text, held| text.join(&held)),
        }
    }
}
