//! Where clients keep the transcript of a session, where nobody is told its path.

/// A path below the folder of a client: `{session}` stands for the name of the session, `{start}` for the first eight characters of it, and
/// a `*` for any part of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptPlace(pub &'static str);

/// The names that one step of a path may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// This one.
    Named(String),
    /// Those that begin and end so.
    Between(String, String),
}

impl PathStep {
    /// Whether a name is one of these.
    pub fn is(&self, name: &str) -> bool {
        match self {
            Self::Named(own) => own == name,
            Self::Between(before, after) => {
                name.strip_prefix(before.as_str()).is_some_and(|rest| rest.ends_with(after.as_str()))
            }
        }
    }
}

impl TranscriptPlace {
    /// The steps to the transcript of a session; `None` for a session whose name is not a plain one.
    pub fn steps(self, session: &str) -> Option<Vec<PathStep>> {
        let is_plain = session.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_".contains(sign));
        if session.is_empty() || !is_plain {
            return None;
        }
        let start = session.get(..session.len().min(8)).unwrap_or_default();
        let named = self.0.replace("{session}", session).replace("{start}", start);
        let step = |name: &str| match name.split_once('*') {
            Some((before, after)) => PathStep::Between(before.to_owned(), after.to_owned()),
            None => PathStep::Named(name.to_owned()),
        };
        Some(named.split('/').map(step).collect())
    }

    /// The path, where the name of the session alone says it.
    pub fn only(self, session: &str) -> Option<String> {
        let steps = self.steps(session)?;
        let names: Option<Vec<String>> = steps
            .into_iter()
            .map(|step| match step {
                PathStep::Named(name) => Some(name),
                PathStep::Between(..) => None,
            })
            .collect();
        Some(names?.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_to_the_transcript_of_a_session() {
        let place = TranscriptPlace("tmp/*/chats/session-*-{start}.jsonl");
        let steps = place.steps("22b7c9e2-1019-41e7").unwrap();
        assert_eq!(steps[0], PathStep::Named("tmp".to_owned()));
        assert!(steps[1].is("anything") && steps[3].is("session-2026-11-29T13-14-22b7c9e2.jsonl"));
        assert!(!steps[3].is("session-2026-11-29T13-14-22b7c9e3.jsonl") && !steps[3].is("22b7c9e2.jsonl"));
        assert_eq!(place.only("22b7c9e2"), None);
        let place = TranscriptPlace("session-state/{session}/events.jsonl");
        assert_eq!(place.only("a-1").as_deref(), Some("session-state/a-1/events.jsonl"));
        for name in ["", "..", "a/b", "a\0"] {
            assert_eq!(place.only(name), None, "{name:?}");
        }
    }
}
