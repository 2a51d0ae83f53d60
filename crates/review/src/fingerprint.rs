//! What makes two actions the same, or of one kind.

use checkrein_protocol::{Action, Effect};
use serde::{Deserialize, Serialize};

/// 64-bit marks of an action. Equal marks mean equal for practical purposes, not for security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct ActionFingerprint {
    /// Tool, programs and effect kinds: "a `git push`", "an `rm` that deletes".
    pub kind: u64,
    /// Tool, input and working directory.
    pub exact: u64,
    /// The same, but of a command only what makes it that command: neither comments nor what it prints of its own.
    #[serde(default)]
    pub substance: u64,
    /// The same without options: one program asked for the same thing in several ways; zero for what is no command.
    #[serde(default)]
    pub without_options: u64,
}

impl ActionFingerprint {
    /// The marks of an action with what was predicted for it.
    pub fn of(action: &Action, programs: &[String], effects: &[Effect]) -> Self {
        let mut kinds: Vec<&'static str> = effects.iter().map(|effect| effect.kind.name()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut names: Vec<&str> = programs.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut kind = Fnv::new();
        kind.text(action.tool.as_str());
        names.iter().for_each(|name| kind.text(name));
        kinds.iter().for_each(|name| kind.text(name));
        let mut exact = Fnv::new();
        exact.text(action.tool.as_str());
        exact.text(action.cwd.as_str());
        match action.shell_text() {
            // The description beside a command changes from call to call and means nothing.
            Some(text) => exact.text(text),
            None => exact.text(&action.input.to_string()),
        }
        let mark = |text: &str| {
            let mut mark = Fnv::new();
            mark.text(action.tool.as_str());
            mark.text(action.cwd.as_str());
            mark.text(text);
            mark.0
        };
        let text = action.shell_text().map(checkrein_shell::substance);
        let text = text.as_deref();
        Self {
            kind: kind.0,
            exact: exact.0,
            substance: text.map_or(exact.0, mark),
            without_options: text.map_or(0, |text| mark(&checkrein_shell::without_options(text))),
        }
    }
}

/// FNV-1a: short inputs, no table, no set-up. Collisions only cost a hint, so nothing stronger is needed.
pub(crate) struct Fnv(pub(crate) u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text and a mark of its end.
    pub(crate) fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
