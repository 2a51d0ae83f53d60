//! What comments and messages say about the code around them.

/// What a comment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remark {
    /// That code is still to be written.
    Unwritten,
    /// That code was left out.
    Elided,
    /// That the result is a stand-in.
    StandIn,
    /// That work is left somewhere.
    Mark,
    /// Something else.
    Plain,
}

/// Says that what should stand here is not written.
const UNWRITTEN: [&str; 27] = [
    "todo: implement",
    "todo implement",
    "todo: add implementation",
    "todo: write",
    "todo: fill in",
    "implement me",
    "implement this",
    "implement later",
    "implement here",
    "implementation goes here",
    "implementation here",
    "implementation pending",
    "implementation to follow",
    "add implementation",
    "add your implementation",
    "needs implementation",
    "not implemented",
    "not yet implemented",
    "to be implemented",
    "will be implemented",
    "your code here",
    "code goes here",
    "logic goes here",
    "add your logic",
    "add logic here",
    "left as an exercise",
    "fill in the implementation",
];

/// The same in other languages, as it stands in messages and comments.
const UNWRITTEN_ELSEWHERE: [&str; 16] = [
    "noch nicht implementiert",
    "nicht implementiert",
    "zu implementieren",
    "pas encore implémenté",
    "à implémenter",
    "no implementado",
    "por implementar",
    "não implementado",
    "non implementato",
    "da implementare",
    "niet geïmplementeerd",
    "не реализован",
    "尚未实现",
    "未实现",
    "未実装",
    "구현되지 않",
];

/// Says that code was left out of the text.
const ELIDED: [&str; 22] = [
    "rest of the code",
    "rest of code",
    "rest of the function",
    "rest of the implementation",
    "rest of implementation",
    "rest of the file",
    "rest of the class",
    "rest of the method",
    "remaining code",
    "remaining implementation",
    "remaining methods",
    "existing code",
    "existing implementation",
    "existing logic",
    "omitted for brevity",
    "code omitted",
    "implementation omitted",
    "truncated for brevity",
    "keep the rest",
    "unchanged code",
    "code unchanged",
    "same as before",
];

/// Says that something pretends.
const STAND_IN: [&str; 30] = [
    "in a real implementation",
    "in a real application",
    "in a real app",
    "in a real system",
    "in a real scenario",
    "in a production implementation",
    "in a production system",
    "real implementation would",
    "real implementation will",
    "actual implementation would",
    "actual implementation will",
    "actual implementation goes",
    "production code would",
    "in production, this would",
    "in production this would",
    "in production, you would",
    "in reality, this would",
    "for now, just return",
    "for now just return",
    "for now, return",
    "for now we return",
    "just return a dummy",
    "placeholder implementation",
    "placeholder for the actual",
    "dummy implementation",
    "mock implementation",
    "fake implementation",
    "stub implementation",
    "hardcoded for now",
    "hard-coded for now",
];

/// Words that count only where there is no code beside them that could be meant otherwise.
const HINTS: [&str; 23] = [
    "pretend",
    "we pretend",
    "demo data",
    "for the moment",
    "todo",
    concat!("fix", "me"),
    "tbd",
    "stub",
    "stubbed",
    "placeholder",
    "dummy",
    "fake",
    "mock",
    "mocked",
    "hardcoded",
    "hard-coded",
    "unimplemented",
    "for now",
    "simulate",
    "simulated",
    "fake result",
    "mock data",
    "for the demo",
];

/// Words that say the same where a comment begins with them: elsewhere they describe what others do.
const FIRST_HINTS: [&str; 8] = [
    "implement",
    "implementing",
    "temporary",
    "temporarily",
    "later",
    "to do",
    "we implement",
    "will be implemented",
];

/// Words that say it where a comment ends with them.
const LAST_HINTS: [&str; 6] =
    ["later", "implement", "in the next step", "for testing purposes", "for testing", "in a later step"];

/// Marks of unfinished work, as whole words in capitals.
const MARKS: [&str; 5] = ["TODO", concat!("FIX", "ME"), "HACK", "XXX", "WIP"];

/// What a comment says, wherever it stands.
pub(crate) fn remark_of(comment: &str) -> Remark {
    let text = plain(comment);
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| holds_phrase(&text, phrase));
    let is_said_elsewhere = || UNWRITTEN_ELSEWHERE.iter().any(|phrase| text.contains(phrase));
    if holds(&UNWRITTEN) && !is_about_something_else(&text) || is_said_elsewhere() {
        Remark::Unwritten
    } else if is_elision(&text) {
        Remark::Elided
    } else if holds(&STAND_IN) {
        Remark::StandIn
    } else if has_mark(comment) {
        Remark::Mark
    } else {
        Remark::Plain
    }
}

/// Whether a comment beside a body that does nothing, or only gives a fixed value, says that this is not final.
pub(crate) fn promises(comment: &str) -> bool {
    let text = plain(comment);
    let core = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    let begins = FIRST_HINTS.iter().any(|hint| core.starts_with(hint) && holds_phrase(core, hint));
    let ends = LAST_HINTS.iter().any(|hint| core.ends_with(hint) && holds_phrase(core, hint));
    remark_of(comment) != Remark::Plain
        || begins && !is_description(core)
        || ends
        || HINTS.iter().any(|hint| holds_phrase(&text, hint) && !is_about_such_things(core, hint))
}

/// Whether a sentence that begins with a hint is about things that are called so: "temporary files have no owner".
pub(crate) fn is_description(core: &str) -> bool {
    const VERBS: [&str; 14] = [
        "have", "has", "are", "is", "need", "needs", "find", "finds", "can", "cannot", "never", "do", "does",
        "call",
    ];
    core.split(' ').skip(1).take(3).any(|word| VERBS.contains(&word))
}

/// Whether a sentence that begins with a hint says something of many things that are called so: "dummy nodes of the list are never empty".
fn is_about_such_things(core: &str, hint: &str) -> bool {
    const VERBS: [&str; 6] = ["have", "has", "are", "may", "must", "never"];
    const TURNS: [&str; 8] = ["until", "while", "so", "because", "that", "which", "when", "for"];
    let Some(rest) = core.strip_prefix(hint) else { return false };
    rest.split_whitespace().take_while(|word| !TURNS.contains(word)).any(|word| VERBS.contains(&word))
}

/// Whether a comment says no more than that code is to be written here. One that goes on is about something that would be better.
pub(crate) fn stands_alone(comment: &str) -> bool {
    const WORDS: [&str; 41] = [
        "todo",
        concat!("fix", "me"),
        "xxx",
        "hack",
        "implement",
        "implemented",
        "implementation",
        "implementing",
        "unimplemented",
        "not",
        "yet",
        "here",
        "this",
        "later",
        "me",
        "it",
        "now",
        "soon",
        "for",
        "function",
        "method",
        "class",
        "logic",
        "code",
        "your",
        "goes",
        "add",
        "to",
        "be",
        "will",
        "needs",
        "pending",
        "write",
        "fill",
        "in",
        "the",
        "is",
        "are",
        "follow",
        "stub",
        "actual",
    ];
    let text = plain(comment);
    let mut words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| WORDS.contains(&word))
}

/// Whether a comment says that doing nothing is what was wanted.
pub(crate) fn is_meant(comment: &str) -> bool {
    const PHRASES: [&str; 21] = [
        "deprecated",
        "not used for",
        "doesn't do anything",
        "does not do anything",
        "ignored",
        "ignore",
        "no-op",
        "noop",
        "no op",
        "nothing to do",
        "do nothing",
        "does nothing",
        "nothing needed",
        "not needed",
        "not required",
        "intentionally",
        "deliberately",
        "on purpose",
        "by design",
        "left empty",
        "left blank",
    ];
    let text = plain(comment);
    PHRASES.iter().any(|phrase| holds_phrase(&text, phrase))
}

/// Whether the message of an error says that something is not written.
pub(crate) fn says_unwritten(message: &str) -> bool {
    const WHOLE: [&str; 7] = ["unfinished", "todo", "stub", "nyi", "tbd", "unimplemented", "placeholder"];
    const WITHIN: [&str; 27] = [
        "not been built",
        "is planned",
        "planned for",
        "under construction",
        "in the next release",
        "in the next sprint",
        "in a future",
        "not written yet",
        "not yet written",
        "work in progress",
        "yet to be implemented",
        "needs to be implemented",
        "not done yet",
        "not yet done",
        "not implemented",
        "not yet implemented",
        "not been implemented",
        "isn't implemented",
        "unimplemented",
        "implement me",
        "not supported yet",
        "to be implemented",
        "implementation pending",
        "coming soon",
        "not_implemented",
        "notimplemented",
        "does not implement",
    ];
    let trimmed = message.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    WHOLE.contains(&trimmed.as_str())
        || trimmed.ends_with(" not written") && !trimmed.contains("file")
        || trimmed.starts_with("todo:")
        || message.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "TODO")
        // `rotate_keys: TBD`
        || trimmed.rsplit_once(':').is_some_and(|(_, last)| WHOLE.contains(&last.trim()))
        || WITHIN.iter().chain(&UNWRITTEN_ELSEWHERE).any(|phrase| trimmed.contains(phrase))
}

/// Whether a text says that those who derive from a class are to write the body.
pub(crate) fn is_for_heirs(text: &str) -> bool {
    const PHRASES: [&str; 14] = [
        "subclass",
        "subclasses",
        "sub-class",
        "derived class",
        "derived classes",
        "child class",
        "child classes",
        "base class",
        "abstract",
        "must implement",
        "must be implemented",
        "should be implemented by",
        "override",
        "overridden",
    ];
    let text = plain(text);
    PHRASES.iter().any(|phrase| holds_phrase(&text, phrase))
}

/// The words of a comment in small letters, without the signs that make it one, spaces made single.
pub(crate) fn plain(comment: &str) -> String {
    let words = comment.lines().flat_map(|line| {
        let line = line.trim();
        let line = line.trim_start_matches(['/', '#', '*', '!', '<', '-']);
        line.trim_end_matches(['*', '/']).split_whitespace().collect::<Vec<_>>()
    });
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a phrase stands in a text as whole words.
fn holds_phrase(text: &str, phrase: &str) -> bool {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + phrase.len()..).and_then(|text| text.chars().next());
        !is_part(before) && !is_part(after)
    })
}

/// A comment that explains, such as "not implemented by older browsers", is not about the code here.
fn is_about_something_else(text: &str) -> bool {
    const OTHERS: [&str; 8] = [
        "not implemented by",
        "not implemented in",
        "not implemented on",
        "not implemented for",
        "not implemented error",
        "if not implemented",
        "when not implemented",
        "is not implemented,",
    ];
    OTHERS.iter().any(|phrase| text.contains(phrase))
}

/// "... rest of the code", "existing code ...": with dots, or as the whole comment.
fn is_elision(text: &str) -> bool {
    let has_dots =
        text.starts_with("...") || text.ends_with("...") || text.starts_with('…') || text.ends_with('…');
    let core = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    let left: Vec<&str> = core.split(' ').collect();
    // Between dots a few words stand for what was there: "... rest of the drawing code ...".
    let is_between = (text.starts_with("...") || text.starts_with('…'))
        && (text.ends_with("...") || text.ends_with('…'))
        && left.len() <= 8
        && left
            .iter()
            .any(|word| ["rest", "remaining", "existing", "omitted", "unchanged", "here"].contains(word));
    if is_between {
        return true;
    }
    // "remaining states omitted for brevity"
    let is_brief = left.len() <= 8
        && ["for brevity", "for the sake of brevity"].iter().any(|end| core.ends_with(end))
        && left.iter().any(|word| ["omitted", "elided", "skipped", "removed", "left", "cut"].contains(word));
    if is_brief {
        return true;
    }
    let phrase = ELIDED.iter().find(|phrase| holds_phrase(text, phrase));
    match phrase {
        Some(_) if has_dots => true,
        // A few words more are part of it ("remaining methods stay the same"); a sentence is about something.
        Some(phrase) => core.starts_with(phrase) && core.split(' ').count() <= phrase.split(' ').count() + 4,
        None => false,
    }
}

fn has_mark(comment: &str) -> bool {
    comment.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| MARKS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_apart() {
        let cases = [
            ("// TODO: implement this", Remark::Unwritten),
            ("# your code here", Remark::Unwritten),
            ("/* ... rest of the code ... */", Remark::Elided),
            ("// ... existing code ...", Remark::Elided),
            ("# In a real implementation this would call the API", Remark::StandIn),
            ("// TODO(ann): faster", Remark::Mark),
            ("// Not implemented by older browsers.", Remark::Plain),
            (
                "// The existing code paths are kept because of clients that still send version 1.",
                Remark::Plain,
            ),
            ("// todos are listed first", Remark::Plain),
            ("# replaces the placeholder by the value", Remark::Plain),
        ];
        for (comment, wanted) in cases {
            assert_eq!(remark_of(comment), wanted, "{comment}");
        }
    }

    #[test]
    fn messages_about_what_is_unwritten() {
        for message in ["\"not implemented\"", "'TODO'", "\"Not supported yet.\"", "\"TODO: parse\""] {
            assert!(says_unwritten(message), "{message}");
        }
        for message in ["\"todo not found\"", "\"the list is empty\"", "\"stubborn\""] {
            assert!(!says_unwritten(message), "{message}");
        }
    }
}
