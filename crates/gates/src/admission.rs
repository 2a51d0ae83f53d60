//! What a text admits about the code beside it, by the frames of its sentences: a later time, something made up, something left out, others who
//! are to do it, tests that are to pass.
//!
//! Nobody can list the sentences by which people put work off, but they are made of few parts. Each part counts once; how much must be admitted
//! depends on how little the code does, which the caller knows.

mod parts;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::remark::plain;
pub(crate) use parts::Beside;
use parts::{ELSEWHERE, Frame, PARTS};

/// Which parts begin with a word.
static INDEX: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut index: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (place, (_, part)) in PARTS.iter().enumerate() {
        for token in part.split(' ').filter(|token| *token != "^") {
            let (token, is_optional) = token.strip_suffix('?').map_or((token, false), |token| (token, true));
            for word in token.split('|') {
                index.entry(word).or_default().push(place);
            }
            if !is_optional {
                break;
            }
        }
    }
    index
});

/// What a text admits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Admission {
    found: Vec<Frame>,
    /// How many words it has.
    words: usize,
}

impl Admission {
    fn total(&self, beside: Beside) -> i32 {
        self.found.iter().map(|frame| frame.weight(beside)).sum()
    }

    /// Whether a part admits something that counts beside code that does this much.
    fn admits(&self, beside: Beside) -> bool {
        self.found.iter().any(|frame| frame.admits() && frame.weight(beside) > 0)
    }

    /// Whether a comment in the code says that this is not what it will be. `shown` is what the code itself shows.
    pub(crate) fn is_of_unfinished(&self, beside: Beside, shown: i32) -> bool {
        match beside {
            // One part of a sentence is enough where there is nothing that it could describe, and not much said about anything else.
            Beside::Nothing => {
                let wanted = if self.words <= 14 { 1 } else { 2 };
                self.admits(beside) && self.total(beside) >= wanted
            }
            // Whoever explains needs more words than whoever admits.
            Beside::Small | Beside::Little => {
                let speaks_of_time = shown > 0 && self.words <= 14 && self.found.contains(&Frame::Time);
                let shown = shown + i32::from(speaks_of_time);
                self.words <= 24 && (self.admits(beside) || speaks_of_time) && self.total(beside) + shown >= 2
            }
        }
    }

    /// Whether it says why the code is right as it is.
    pub(crate) fn explains(&self) -> bool {
        self.found.contains(&Frame::Reason)
    }

    /// The same of what is printed.
    pub(crate) fn is_told(&self) -> bool {
        self.admits(Beside::Nothing) && self.total(Beside::Nothing) >= 2
    }

    /// The same of a text that describes what a caller gets.
    pub(crate) fn is_described(&self, shown: i32) -> bool {
        self.words <= 24 && self.admits(Beside::Little) && self.total(Beside::Nothing) + shown >= 3
    }
}

/// What a comment, a description or a message admits.
pub(crate) fn admission(text: &str) -> Admission {
    admission_of("", text)
}

/// The same beside something that has a name: what it is called after is a thing of the program.
pub(crate) fn admission_of(name: &str, text: &str) -> Admission {
    let name = name.to_lowercase();
    let text = plain(text).replace('’', "'").replace("\\'", "'");
    let words: Vec<&str> = text
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '-' || letter == '\''))
        .map(|word| word.trim_matches(['-', '\'']))
        .filter(|word| !word.is_empty())
        .collect();
    let mut said = Admission { found: Vec::new(), words: words.len() };
    let mut taken: Vec<bool> =
        words.iter().map(|word| word.len() > 3 && name.contains(word.trim_end_matches('s'))).collect();
    let begins = words.iter().enumerate().filter_map(|(at, word)| Some((at, INDEX.get(word)?)));
    let mut tried: Vec<(usize, usize)> =
        begins.flat_map(|(at, places)| places.iter().map(move |place| (*place, at))).collect();
    // In the order of the table: a word counts for the longest part that it belongs to.
    tried.sort_unstable();
    for (place, start) in tried {
        let Some((frame, part)) = PARTS.get(place) else { continue };
        let pattern: Vec<&str> = part.split(' ').collect();
        let Some(end) = matched(&pattern, &words, start) else { continue };
        let Some(span) = taken.get_mut(start..end) else { continue };
        if span.iter().any(|word| *word) {
            continue;
        }
        span.fill(true);
        said.found.push(*frame);
    }
    if ELSEWHERE.iter().any(|phrase| text.contains(phrase)) {
        said.found.extend([Frame::Place, Frame::Making]);
    }
    said
}

/// Where a pattern ends that begins at a word; `None` where it does not fit.
fn matched(pattern: &[&str], words: &[&str], at: usize) -> Option<usize> {
    let Some((first, rest)) = pattern.split_first() else { return Some(at) };
    match *first {
        "^" => (at == 0).then(|| matched(rest, words, at)).flatten(),
        "$" => (at == words.len()).then(|| matched(rest, words, at)).flatten(),
        "~" => (0..=3).find_map(|skipped| {
            (at + skipped <= words.len()).then(|| matched(rest, words, at + skipped)).flatten()
        }),
        part => {
            let word = words.get(at)?;
            let (part, is_optional) = part.strip_suffix('?').map_or((part, false), |part| (part, true));
            if part == "_" || part.split('|').any(|one| one == *word) {
                return matched(rest, words, at + 1);
            }
            is_optional.then(|| matched(rest, words, at)).flatten()
        }
    }
}

/// Whether the message of an error that a function raises whatever it is given, or of what it prints instead of working, says that the work is
/// still to be done: it speaks of another time, of who is to do it, or of what is not done.
pub(crate) fn message_admits(message: &str) -> bool {
    let said = admission(message);
    let speaks = |frame: &Frame| match frame {
        Frame::Making | Frame::Time | Frame::Mark | Frame::Others | Frame::Audience => true,
        Frame::Pretence
        | Frame::Place
        | Frame::Loose
        | Frame::Omission
        | Frame::Absence
        | Frame::Real
        | Frame::Author
        | Frame::Reason => false,
    };
    said.words >= 2 && said.words <= 24 && said.found.iter().any(speaks) && said.total(Beside::Nothing) >= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_nobody_listed_are_told_from_others() {
        for comment in [
            "// the parser comes with phase two",
            "# Redis stands in for the real queue",
            "/* a list for the time being; the right thing is a tree */",
            "# whoever owns billing should write this in the next sprint",
            "// enough for the unit tests",
            "// kommt noch",
        ] {
            assert!(
                admission(comment).is_of_unfinished(Beside::Little, 0),
                "{comment} {:?}",
                admission(comment)
            );
        }
        for comment in [
            "// the buffer is shared with the reader",
            "# closing twice is harmless",
            "// default: subclasses override it",
            "/* keeps the order of the keys */",
            "// not needed on this platform",
            "# the caller holds the lock",
        ] {
            assert!(
                !admission(comment).is_of_unfinished(Beside::Nothing, 0),
                "{comment} {:?}",
                admission(comment)
            );
        }
    }
}
