//! Terminals and open programs into which a session types.

use checkrein_protocol::{TerminalDeed, TerminalUse};
use serde::{Deserialize, Serialize};

/// How many terminals are remembered of a session, those that were used last (ours).
pub const TERMINALS: usize = 6;
/// How many bytes are kept of what was typed into one, and of the command that opened it (ours).
pub const TERMINAL_BYTES: usize = 4096;

/// A terminal, or a program that stays open and reads what is typed, as far as a session used it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TypedTerminal {
    /// What the client calls it; empty where no call named it.
    pub name: String,
    /// The command that opened it; empty where that is not known.
    pub opened: String,
    /// What was typed, newest last, with the control characters that keys send.
    pub typed: String,
    /// Whether that is all.
    pub memory: TerminalMemory,
}

/// Whether all is remembered that was typed into a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalMemory {
    /// All.
    #[default]
    Whole,
    /// What was typed first is not.
    Newest,
}

impl TypedTerminal {
    /// Takes up what an action did with it.
    pub fn take(&mut self, used: &TerminalUse) {
        match used.deed {
            TerminalDeed::Opened => {
                *self = Self { name: std::mem::take(&mut self.name), ..Self::default() };
                if used.text.len() <= TERMINAL_BYTES {
                    self.opened.clone_from(&used.text);
                }
            }
            TerminalDeed::Typed => {
                self.typed.push_str(&used.text);
                if let Some(excess) =
                    self.typed.len().checked_sub(TERMINAL_BYTES).filter(|excess| *excess > 0)
                {
                    self.memory = TerminalMemory::Newest;
                    self.typed = newest_lines(&self.typed, excess).to_owned();
                }
            }
        }
    }
}

/// A text without at least that many bytes at its beginning, from the beginning of a line on; nothing where no line begins behind them.
fn newest_lines(text: &str, excess: usize) -> &str {
    let is_end = |letter: char| matches!(letter, '\n' | '\r');
    let begins = text.char_indices().find(|(place, letter)| *place >= excess && is_end(*letter));
    begins.and_then(|(place, letter)| text.get(place + letter.len_utf8()..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{TERMINAL_BYTES, TerminalMemory, TypedTerminal};
    use checkrein_protocol::{TerminalDeed, TerminalUse};

    fn used(deed: TerminalDeed, text: &str) -> TerminalUse {
        TerminalUse { terminal: "s1".to_owned(), deed, text: text.to_owned() }
    }

    #[test]
    fn what_is_typed_is_joined_and_bounded_and_ends_with_another_program() {
        let mut terminal = TypedTerminal { name: "s1".to_owned(), ..TypedTerminal::default() };
        terminal.take(&used(TerminalDeed::Opened, "bash"));
        terminal.take(&used(TerminalDeed::Typed, "rm -rf "));
        terminal.take(&used(TerminalDeed::Typed, "x\r"));
        assert_eq!((terminal.opened.as_str(), terminal.typed.as_str()), ("bash", "rm -rf x\r"));
        assert_eq!(terminal.memory, TerminalMemory::Whole);
        for _ in 0..TERMINAL_BYTES {
            terminal.take(&used(TerminalDeed::Typed, "ls\n"));
        }
        assert!(terminal.typed.len() <= TERMINAL_BYTES && terminal.typed.starts_with("ls\n"));
        assert_eq!(terminal.memory, TerminalMemory::Newest);
        terminal.take(&used(TerminalDeed::Opened, "python3"));
        let opened =
            TypedTerminal { name: "s1".to_owned(), opened: "python3".to_owned(), ..TypedTerminal::default() };
        assert_eq!(terminal, opened);
    }
}
