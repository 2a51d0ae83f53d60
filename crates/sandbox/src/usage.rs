//! What processes use, as a value.

use crate::scope::Bytes;

/// What a tree of processes uses at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Processes that are alive.
    pub processes: usize,
    /// Threads of all of them.
    pub threads: usize,
    /// What is left of processes for which nobody has waited: each keeps a number that no other can have.
    pub remains: usize,
    /// Resident memory of all of them; what several share counts several times.
    pub memory: u64,
}

impl Usage {
    /// The same with so many bytes more.
    #[must_use]
    pub fn with(self, bytes: u64) -> Self {
        Self { memory: self.memory.saturating_add(bytes), ..self }
    }

    /// The memory in bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.memory)
    }
}
