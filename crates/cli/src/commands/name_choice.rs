//! What a user names on the command line by the beginning of its name.

use checkrein_engine::error::CommandError;

use crate::terminal::plain;

/// The word for the newest one.
pub const NEWEST: &str = "LAST";

/// How many names an error shows of those that begin alike (ours): enough to see where they part.
const SHOWN: usize = 5;

/// What stands for the middle of a long name, as lists show it.
pub(super) const LEFT_OUT: char = '…';

/// Whether a name is meant by what was typed: its beginning, or its beginning and its end with `…` between them.
pub(super) fn is_named(name: &str, typed: &str) -> bool {
    let by_both_ends = |(head, tail): (&str, &str)| {
        !head.is_empty()
            && !tail.is_empty()
            && name.len() > head.len() + tail.len()
            && name.starts_with(head)
            && name.ends_with(tail)
    };
    name.starts_with(typed) || typed.split_once(LEFT_OUT).is_some_and(by_both_ends)
}

/// A kind of thing that has names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedKind {
    /// An action, by its id.
    Action,
    /// An agent.
    Agent,
    /// A question that waits for an answer.
    Approval,
    /// A change of production.
    Change,
    /// An emergency stop.
    Incident,
    /// A run of a pipeline.
    Pipeline,
    /// A run of an agent.
    Run,
    /// A session of an agent.
    Session,
}

impl NamedKind {
    /// In one word: one of them, and several.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Action => ("action", "actions"),
            Self::Agent => ("agent", "agents"),
            Self::Approval => ("question", "questions"),
            Self::Change => ("change", "changes"),
            Self::Incident => ("incident", "incidents"),
            Self::Pipeline => ("pipeline", "pipelines"),
            Self::Run => ("run", "runs"),
            Self::Session => ("session", "sessions"),
        }
    }

    /// Where the names stand.
    const fn hint(self) -> &'static str {
        match self {
            Self::Action => "`checkrein log` shows the ids",
            Self::Agent => "`checkrein agent list` lists them",
            Self::Approval => "`checkrein approval list` lists them",
            Self::Change => "`checkrein change list` lists them",
            Self::Incident => "`checkrein incident list` lists them",
            Self::Pipeline => "`checkrein pipeline list` lists them",
            Self::Run => "`checkrein run list` lists them",
            Self::Session => "`checkrein session list` lists them",
        }
    }

    /// The error about a beginning that nothing has; of an empty one, which everything has, too.
    pub fn unknown(self, beginning: &str) -> CommandError {
        let (one, _) = self.words();
        let message = if beginning.is_empty() {
            format!("the name of the {one} is empty")
        } else {
            format!("no {one} begins with `{}`", plain(beginning))
        };
        CommandError::user(message, self.hint())
    }

    /// The same where `LAST` stands for the newest: the last of `all`, which are in the order of time.
    pub fn newest_or_only<'a>(
        self,
        beginning: &str,
        all: impl IntoIterator<Item = &'a str>,
    ) -> Result<&'a str, CommandError> {
        if beginning != NEWEST {
            return self.only(beginning, all);
        }
        all.into_iter().last().ok_or_else(|| self.none())
    }

    /// The error where `LAST` means nothing, since there is none.
    pub fn none(self) -> CommandError {
        CommandError::user(format!("there is no {} yet", self.words().0), self.hint())
    }

    /// The error where `LAST` would let something pass that the user may not have read: what is newest may be another one by now.
    pub fn must_be_named(self) -> CommandError {
        let (one, _) = self.words();
        CommandError::user(
            format!("`{NEWEST}` may mean another {one} by now, so it decides about none"),
            self.hint(),
        )
    }

    /// The one of `all` that is called so, or else the only one whose name begins so. An error names at most five of several.
    pub fn only<'a>(
        self,
        beginning: &str,
        all: impl IntoIterator<Item = &'a str>,
    ) -> Result<&'a str, CommandError> {
        let mut found: Vec<&str> = Vec::new();
        for name in all {
            if name == beginning && !name.is_empty() {
                return Ok(name);
            }
            if !beginning.is_empty() && is_named(name, beginning) && !found.contains(&name) {
                found.push(name);
            }
        }
        match found.as_slice() {
            [] => Err(self.unknown(beginning)),
            [name] => Ok(name),
            many => Err(self.ambiguous(beginning, many)),
        }
    }

    fn ambiguous(self, beginning: &str, found: &[&str]) -> CommandError {
        let names: Vec<String> = found.iter().take(SHOWN).map(|name| format!("`{}`", plain(name))).collect();
        let more = match found.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let (_, several) = self.words();
        CommandError::user(
            format!(
                "{} {several} begin with `{}`: {}{more}",
                found.len(),
                plain(beginning),
                names.join(", ")
            ),
            "give more of the name",
        )
    }
}

/// How many letters stand otherwise in a mistyped name; `None` where they are too many for one to be meant by the other (ours: a third).
pub fn is_near(typed: &str, known: &str) -> Option<usize> {
    let edits = edits(typed, known);
    (edits * 3 <= typed.chars().count().max(3)).then_some(edits)
}

/// How many letters have to be put in, taken out, changed, or swapped with the one beside them (optimal string alignment).
fn edits(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(64).collect();
    let other: Vec<char> = other.chars().take(64).collect();
    let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.iter().enumerate() {
        let mut next = vec![index + 1];
        for (place, known) in other.iter().enumerate() {
            let changed = at(&row, place) + usize::from(letter != known);
            let mut least = changed.min(at(&row, place + 1) + 1).min(at(&next, place) + 1);
            let is_swapped = index > 0
                && place > 0
                && one.get(index - 1) == Some(known)
                && other.get(place - 1) == Some(letter);
            if is_swapped {
                least = least.min(at(&before, place - 1) + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_that_differs_in_a_third_of_its_letters_or_one_swap() {
        let cases = [("lgo", "log", Some(1)), ("wach", "watch", Some(1)), ("log", "log", Some(0))];
        for (typed, known, expected) in cases.into_iter().chain([("ls", "log", None), ("abc", "xyz", None)]) {
            assert_eq!(is_near(typed, known), expected, "{typed} {known}");
        }
    }

    fn only(beginning: &str, all: &[&'static str]) -> Result<String, String> {
        let found = NamedKind::Action.only(beginning, all.iter().copied());
        found.map(str::to_owned).map_err(|error| error.message)
    }

    #[test]
    fn a_beginning_stands_for_the_one_name_that_has_it() {
        assert_eq!(only("toolu_0", &["toolu_01", "toolu_1"]), Ok("toolu_01".to_owned()));
        assert_eq!(only("toolu_1", &["toolu_1", "toolu_1"]), Ok("toolu_1".to_owned()), "its two records");
    }

    #[test]
    fn a_whole_name_counts_more_than_those_that_begin_with_it() {
        assert_eq!(only("toolu_1", &["toolu_12", "toolu_1"]), Ok("toolu_1".to_owned()));
    }

    #[test]
    fn the_word_for_the_newest_is_the_last_in_time_and_no_beginning() {
        let newest = |all: &[&'static str]| {
            let found = NamedKind::Incident.newest_or_only("LAST", all.iter().copied());
            found.map(str::to_owned).map_err(|error| error.message)
        };
        assert_eq!(newest(&["20261121-b", "20261122-a"]), Ok("20261122-a".to_owned()));
        assert_eq!(newest(&[]), Err("there is no incident yet".to_owned()));
        assert_eq!(only("LAST", &["a"]), Err("no action begins with `LAST`".to_owned()));
    }

    #[test]
    fn an_empty_beginning_stands_for_nothing() {
        assert_eq!(only("", &["toolu_1"]), Err("the name of the action is empty".to_owned()));
        assert_eq!(only("", &[""]), Err("the name of the action is empty".to_owned()));
    }

    #[test]
    fn some_of_many_names_are_shown() {
        let names = ["a1", "a2", "a3", "a4", "a5", "a6", "a7"];
        assert_eq!(
            only("a", &names),
            Err("7 actions begin with `a`: `a1`, `a2`, `a3`, `a4`, `a5`, and 2 more".to_owned())
        );
        assert_eq!(only("a", &names[..2]), Err("2 actions begin with `a`: `a1`, `a2`".to_owned()));
    }
}
