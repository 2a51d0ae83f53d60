//! What actions put into terminals and into programs that read what is typed.

use serde::{Deserialize, Serialize};

/// What an action does with a terminal, or with a program that stays open and reads what is typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalUse {
    /// What the client calls it (`shellId`, `pid`); empty where the call names none.
    pub terminal: String,
    /// What is done with it.
    pub deed: TerminalDeed,
    /// The command that opens it, or what is typed, with the control characters that keys send.
    pub text: String,
}

/// What is done with a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalDeed {
    /// A program is started in it that stays open for what is typed.
    Opened,
    /// Something is typed into it.
    Typed,
}
