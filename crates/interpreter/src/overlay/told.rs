//! Texts of files that are known to the letter.

/// What is known to the letter of what a command writes into a file, one text after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Told {
    /// What it holds by now; `None` where ways part.
    pub(super) now: Option<String>,
    /// What it may hold where the command ends early, or goes another way.
    pub(super) perhaps: Vec<String>,
}

impl Told {
    pub(super) fn join(mut self, other: Option<&Self>) -> Self {
        if self.now != other.and_then(|other| other.now.clone()) {
            self.now = None;
        }
        let more = other.map(|other| other.perhaps.as_slice()).unwrap_or_default();
        self.perhaps
            .extend(more.iter().filter(|text| !self.perhaps.contains(text)).cloned().collect::<Vec<_>>());
        self
    }

    /// How many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        self.now.as_ref().map_or(0, String::len) + self.perhaps.iter().map(String::len).sum::<usize>()
    }
}
