//! The calls that hooks reviewed, by the ledger of their session, read on as it grows.
//!
//! Some clients name a call to their hooks as they do in their output. Calls of the others, which name none to their hooks or have another
//! name for each call there, are recognised by what they do: each review stands for one call of the same content.

use std::collections::{HashSet, VecDeque};
use std::os::unix::fs::FileExt as _;

use checkrein_ledger::LedgerFile;

use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_protocol::{Action, ReviewRecord};
use serde_json::Value as Json;

/// Calls that are remembered at most, the newest (ours).
const KNOWN: usize = 4096;

/// How much of a ledger is read at once, and how far back when a session is first heard of (ours).
const PIECE: u64 = 256 << 10;

/// The longest line that is read (ours).
const LONGEST: usize = 16 << 20;

/// How much of the content of a call is compared, in characters (ours): records hold the beginning of what is long.
const COMPARED: usize = 400;

/// How a record names its call.
const MARK: &[u8] = b"\"action_id\":\"";

/// How the engine names a call for which its client has no name.
const UNNAMED: &str = "action-";

/// The calls of a session that are in its ledger.
#[derive(Debug, Default)]
pub(super) struct ReviewedCalls {
    session: Option<String>,
    path: Option<LedgerFile>,
    /// With what contents are masked, as they are in records; `None` compares them as they are.
    key: Option<MaskKey>,
    offset: u64,
    rest: Vec<u8>,
    ids: HashSet<String>,
    order: VecDeque<String>,
    /// Whether a name of the output was one of the ledger: then others are of calls that nobody reviewed.
    has_same_names: bool,
    /// What reviewed calls do, in each form in which the client may tell of it, with their names, oldest first.
    contents: VecDeque<(String, Vec<String>)>,
}

impl ReviewedCalls {
    /// Those of a session whose ledger is at a path.
    pub(super) fn of(session: String, path: LedgerFile, key: Option<MaskKey>) -> Self {
        let length = std::fs::metadata(&path).map_or(0, |facts| facts.len());
        let offset = length.saturating_sub(PIECE);
        Self { session: Some(session), path: Some(path), key, offset, ..Self::default() }
    }

    /// The session; `None` while none is known.
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Whether no review was seen so far: then no hooks are at work.
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether hooks reviewed a call of this name, or, where the client does not use the same names in its output, one that does this. A
    /// review stands for one call.
    pub(super) fn hold(&mut self, id: &str, readings: &[Action]) -> bool {
        if self.ids.contains(id) {
            self.has_same_names = true;
            self.contents.retain(|(name, _)| name != id);
            return true;
        }
        let own: Vec<String> =
            readings.iter().map(|action| self.content(action.tool.as_str(), &action.input)).collect();
        let is_meant = |name: &str| !self.has_same_names || name.starts_with(UNNAMED);
        let does_it = |known: &[String]| known.iter().any(|one| own.contains(one));
        let place = self.contents.iter().position(|(name, known)| is_meant(name) && does_it(known));
        place.is_some_and(|place| self.contents.remove(place).is_some())
    }

    /// What a call does, in the words by which two records of it are compared.
    fn content(&self, tool: &str, input: &Json) -> String {
        let text = ["command", "file_path"].iter().find_map(|field| input[*field].as_str());
        let text = text.unwrap_or_default();
        let masked = self.key.as_ref().map_or(text.into(), |key| mask_text(text, key));
        format!("{tool} {}", masked.chars().take(COMPARED).collect::<String>())
    }

    /// Reads what was written since.
    pub(super) fn read_on(&mut self) {
        let Some(file) = self.path.as_ref().and_then(|path| checkrein_files::open(path).ok()) else { return };
        let mut piece = vec![0; usize::try_from(PIECE).unwrap_or_default()];
        while let Ok(count @ 1..) = file.read_at(&mut piece, self.offset) {
            self.offset += count as u64;
            self.rest.extend_from_slice(piece.get(..count).unwrap_or_default());
            self.take_lines();
        }
    }

    /// Takes the lines that are whole; what has no end yet stays.
    fn take_lines(&mut self) {
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            if self.rest.len() > LONGEST {
                self.rest.clear();
            }
            return;
        };
        let rest = self.rest.split_off(end + 1);
        let lines = std::mem::replace(&mut self.rest, rest);
        let Some(ledger) = self.path.clone() else { return };
        lines.split(|byte| *byte == b'\n').for_each(|line| self.take_line(&ledger.clear(line)));
    }

    fn take_line(&mut self, line: &[u8]) {
        let Some(name) = name_in(line) else { return };
        let may_be_meant = !self.has_same_names || name.starts_with(UNNAMED);
        if may_be_meant
            && let Ok(record) = serde_json::from_slice::<Json>(line)
            && record["body"]["type"] == "review"
            && let Ok(review) = serde_json::from_value::<ReviewRecord>(record["body"].clone())
        {
            let inputs = std::iter::once(&review.input).chain(&review.rewrite);
            let tool = review.tool.as_str();
            let contents = inputs.map(|input| self.content(tool, input)).collect();
            self.contents.push_back((name.clone(), contents));
            if self.contents.len() > KNOWN {
                self.contents.pop_front();
            }
        }
        if self.ids.insert(name.clone()) {
            self.order.push_back(name);
        }
        if self.order.len() > KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

/// The name of the call that a record is about.
fn name_in(line: &[u8]) -> Option<String> {
    let place = line.windows(MARK.len()).position(|window| window == MARK)?;
    let rest = line.get(place + MARK.len()..)?;
    let length = rest.iter().position(|byte| *byte == b'"')?;
    Some(String::from_utf8_lossy(rest.get(..length)?).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use checkrein_protocol::AbsolutePath;
    use serde_json::json;

    use super::*;

    fn call(command: &str) -> Vec<Action> {
        let cwd = AbsolutePath::new("/w").unwrap();
        vec![Action::tool_call("Bash", json!({ "command": command }), cwd)]
    }

    #[test]
    fn names_are_found_however_the_ledger_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let mut file = File::create(&path).unwrap();
        let mut known = ReviewedCalls::of("s".to_owned(), LedgerFile::without_keys(path), None);
        let text = r#"{"body":{"type":"review","action_id":"toolu_1","input":{"a":"\"action_id\":\"no\""}}}
{"body":{"type":"outcome","action_id":"toolu_2"}}
{"body":{"type":"outcome","action_id":"toolu_3"}}"#;
        for piece in text.as_bytes().chunks(3) {
            file.write_all(piece).unwrap();
            known.read_on();
        }
        assert!(known.hold("toolu_1", &[]) && known.hold("toolu_2", &[]));
        assert!(!known.hold("no", &[]) && !known.hold("toolu_3", &[]), "it is not written yet");
    }

    fn reviewed(calls: &[(&str, &str)]) -> ReviewedCalls {
        let mut known = ReviewedCalls::default();
        for (id, command) in calls {
            let content = known.content("Bash", &json!({ "command": command }));
            known.contents.push_back(((*id).to_owned(), vec![content]));
            known.ids.insert((*id).to_owned());
        }
        known
    }

    #[test]
    fn a_call_of_another_name_is_known_by_what_it_does_once_for_each_review() {
        let mut known = reviewed(&[("action-1", "ls"), ("call_9", "ls"), ("call_10", "make")]);
        assert!(known.hold("item_1", &call("ls")) && known.hold("item_2", &call("ls")));
        assert!(!known.hold("item_3", &call("ls")), "two reviews stand for two calls");
        assert!(known.hold("item_4", &call("make")));
    }

    #[test]
    fn who_uses_the_same_names_is_held_to_them() {
        let mut known = reviewed(&[("toolu_1", "ls"), ("toolu_2", "make"), ("action-3", "date")]);
        assert!(known.hold("toolu_1", &call("ls")));
        assert!(!known.hold("toolu_9", &call("make")), "nobody reviewed a call of this name");
        assert!(known.hold("toolu_2", &call("make")) && known.hold("other", &call("date")));
    }
}
