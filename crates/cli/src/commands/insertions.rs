//! What `init` inserted into a settings file, so that `uninstall` gives back the file as it was, byte for byte.

use checkrein_engine::installation::Inserted;
use checkrein_supervise::runs::file::hexadecimal;
use sha2::{Digest as _, Sha256};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Comparing texts with what was inserted.
pub(super) trait Inserting: Sized {
    /// Returns what was inserted into a text; `None` where something of it went.
    fn between(before: &str, after: &str) -> Option<Self>;
    /// Whether a text is the one into which it was inserted, unchanged since.
    fn is_whole_of(&self, text: &str) -> bool;
    /// Returns the text as it was before; `None` where it was changed since.
    fn taken_out_of(&self, text: &str) -> Option<String>;
}

impl Inserting for Inserted {
    fn between(before: &str, after: &str) -> Option<Self> {
        let mut ranges = Vec::new();
        for step in capture_diff_slices(Algorithm::Myers, before.as_bytes(), after.as_bytes()) {
            match step {
                DiffOp::Equal { .. } => {}
                DiffOp::Insert { new_index, new_len, .. } => ranges.push((new_index, new_index + new_len)),
                DiffOp::Delete { .. } | DiffOp::Replace { .. } => return None,
            }
        }
        Some(Self { digest: digest(after), ranges })
    }

    fn is_whole_of(&self, text: &str) -> bool {
        digest(text) == self.digest
    }

    fn taken_out_of(&self, text: &str) -> Option<String> {
        if !self.is_whole_of(text) {
            return None;
        }
        let is_inserted = |at: usize| self.ranges.iter().any(|(start, end)| (*start..*end).contains(&at));
        let kept = text.bytes().enumerate().filter(|(at, _)| !is_inserted(*at)).map(|(_, byte)| byte);
        String::from_utf8(kept.collect()).ok()
    }
}

fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_taken_out_byte_for_byte() {
        for (before, after) in [("", "{}\n"), ("{é}", "{é, \"x\": {é}}\n"), ("{}", "{\r\n\t1\r\n}")] {
            let inserted = Inserted::between(before, after).unwrap();
            assert_eq!(inserted.taken_out_of(after).unwrap(), before);
            assert_eq!(inserted.taken_out_of(&format!("{after} ")), None, "somebody changed it");
        }
        assert!(Inserted::between("ab", "b").is_none());
    }
}
