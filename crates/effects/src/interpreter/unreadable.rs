//! Text that could not be read: what would run if another shell makes sense of it.

use super::machine::Machine;
use super::value::Value;

/// The greatest number of places in one text from which a command is tried (ours).
const PLACES: usize = 12;
/// What commands and bodies stand between.
const BOUNDS: [char; 9] = ['\n', ';', '|', '&', '{', '}', '(', ')', '`'];

impl Machine<'_> {
    /// Follows, as possible, the commands that a text seems to hold: from every word on that is the name of a program.
    pub(crate) fn run_what_may_be_meant(&mut self, text: &str) {
        if self.guessing {
            return;
        }
        self.guessing = true;
        let mut left = PLACES;
        for piece in text.split(BOUNDS) {
            let mut rest = piece.trim().trim_start_matches(['"', '\'']);
            while left > 0
                && let Some(word) = rest.split_whitespace().next()
            {
                let name = word.rsplit('/').next().unwrap_or(word);
                if crate::catalogue::find(name, self.catalogue).is_some() {
                    left -= 1;
                    let command = Value::exact(rest);
                    self.possibly(|machine| machine.in_subshell(|machine| machine.run_here(&command)));
                }
                rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            }
        }
        self.guessing = false;
    }
}
