//! Words by which a text puts work off or admits that something pretends, by how they are put together and not as whole phrases.
//!
//! They count only beside code that does next to nothing: elsewhere they may describe what the code works with.

use crate::remark::plain;

/// Words for a plan that comes true later: behind "until" or "once" they say that the code before is not final.
const SETTLED: [&str; 26] = [
    "arrives",
    "arrived",
    "exists",
    "provides",
    "lands",
    "landed",
    "merged",
    "merges",
    "ships",
    "shipped",
    "final",
    "finalized",
    "finalised",
    "decide",
    "decided",
    "pick",
    "picked",
    "choose",
    "chosen",
    "wired",
    "implemented",
    "integrated",
    "migrated",
    "written",
    "built",
    "signed",
];

/// Words for work: between "not" and "yet" they say that it is not done.
const DONE: [&str; 14] = [
    "wired",
    "hooked",
    "written",
    "built",
    "plugged",
    "implemented",
    "integrated",
    "supported",
    "finished",
    "coded",
    "done",
    "complete",
    "finalized",
    "designed",
];

/// What somebody leaves out or is to put in.
const PARTS: [&str; 15] = [
    "logic",
    "code",
    "implementation",
    "details",
    "steps",
    "body",
    "handling",
    "brevity",
    "algorithm",
    "calculation",
    "validation",
    "call",
    "query",
    "work",
    "parsing",
];

/// Words for a result that somebody made up.
const PRETENDED: [&str; 24] = [
    "demo",
    "sample",
    "stand-in",
    "pretend",
    "pretends",
    "pretending",
    "simulate",
    "simulates",
    "simulated",
    "simulating",
    "fake",
    "faked",
    "faking",
    "dummy",
    "stub",
    "stubbed",
    "placeholder",
    "bogus",
    "canned",
    "mocked",
    "mock",
    "hardcoded",
    "hard-coded",
    "unimplemented",
];

/// Verbs before which a made-up result stands.
const LEADING: [&str; 17] = [
    "just",
    "return",
    "returns",
    "returning",
    "use",
    "uses",
    "using",
    "a",
    "an",
    "some",
    "the",
    "simply",
    "only",
    "with",
    "temporary",
    "todo",
    concat!("fix", "me"),
];

/// Words behind which such a word names a thing of the program: "placeholder of the input".
const NAMING: [&str; 12] =
    ["of", "text", "attribute", "is", "are", "has", "have", "nodes", "names", "objects", "server", "clock"];

fn words_of(text: &str) -> Vec<String> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '-' || letter == '\''))
        .map(|word| word.trim_matches(['-', '\'']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Whether a comment puts the work off: "logic goes here", "not wired up yet", "until the service lands", "steps omitted".
pub(crate) fn puts_off(comment: &str) -> bool {
    let text = plain(comment);
    let words = words_of(&text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let behind = |first: &[&str], wanted: &[&str], within: usize| {
        words.iter().enumerate().any(|(at, word)| {
            first.contains(word) && words.iter().skip(at + 1).take(within).any(|next| wanted.contains(next))
        })
    };
    let pair = |one: &[&str], other: &[&str]| {
        words
            .windows(2)
            .any(|pair| matches!(pair, [first, second] if one.contains(first) && other.contains(second)))
    };
    let is_short = words.len() <= 10;
    let not_yet = words.iter().enumerate().any(|(at, word)| {
        let rest = words.iter().skip(at + 1).take(5);
        (matches!(*word, "not" | "isn't" | "aren't" | "never")) && {
            let rest: Vec<&&str> = rest.collect();
            rest.iter().any(|next| **next == "yet") && rest.iter().any(|next| DONE.contains(next))
        }
    });
    let starts = |verbs: &[&str]| words.first().is_some_and(|word| verbs.contains(word));
    is_short && pair(&["go", "goes", "comes", "come", "belongs", "belong"], &["here"])
        || pair(&["fill", "fills"], &["in", "this", "me"])
        || pair(&["to", "will"], &["come"]) && is_short
        || behind(&["will", "to"], &["added", "written", "filled", "wired", "implemented", "done"], 2)
        || behind(&["until", "once"], &SETTLED, 7)
        || not_yet
        || words.last() == Some(&"pending")
        || starts(&["add", "insert", "put", "write", "place"]) && words.last() == Some(&"here")
        || behind(&PARTS, &["omitted", "elided", "skipped", "removed", "stripped"], 2)
        || behind(&["omitted", "elided", "skipped", "shortened", "simplified"], &["brevity"], 3)
        || behind(&["skip", "skips", "skipping", "bypass"], &["real", "actual"], 2)
        || behind(&["work"], &["progress"], 2)
        || behind(&["coming"], &["soon"], 1)
}

/// Whether a comment beside a small expression admits that the result is made up: it begins with such a word, or puts the real one off.
pub(crate) fn admits_pretence(comment: &str) -> bool {
    let text = plain(comment);
    let words = words_of(&text);
    let mut rest = words.iter().map(String::as_str).skip_while(|word| LEADING.contains(word));
    let first = rest.next().unwrap_or_default();
    let next = rest.next().unwrap_or_default();
    let is_named = PRETENDED.contains(&first) && !NAMING.contains(&next);
    let for_now = text.starts_with("for now") || text.ends_with("for now") || text.contains("for now,");
    let swapped =
        text.starts_with("replace with") || text.starts_with("swap for") || text.starts_with("use the real");
    let made_up = swapped
        || text.contains("made up")
        || text.contains("made-up")
        || text.contains("not the real")
        || text.starts_with("hard coded");
    is_named || for_now || made_up
}

/// How much a comment says against a body that computes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// It gives a reason, or a longer description.
    Explains,
    /// It says something, in a few words.
    Speaks,
    /// It says that something is not there.
    Lacks,
    /// It speaks of a later time, of something made up, or tells what is to be called.
    PutsOff,
}

/// What a comment says against a body that gives back what it was given, or a made-up value.
pub(crate) fn weighed(comment: &str) -> Weight {
    const LATER: [&str; 36] = [
        "while",
        "during",
        "follow-up",
        "followup",
        "pr",
        "ticket",
        "prototype",
        "wait",
        "v2",
        "beta",
        "mvp",
        "poc",
        "defined",
        "development",
        "team",
        "yet",
        "later",
        "until",
        "soon",
        "moment",
        "next",
        "future",
        "planned",
        "eventually",
        "temporary",
        "temporarily",
        "someday",
        "sprint",
        "milestone",
        "phase",
        "release",
        "currently",
        "todo",
        concat!("fix", "me"),
        "will",
        "would",
    ];
    const LACKING: [&str; 16] = [
        "missing",
        "not",
        "no",
        "isn't",
        "doesn't",
        "don't",
        "lacks",
        "disabled",
        "skip",
        "skipped",
        "bypass",
        "bypassed",
        "needs",
        "should",
        "unavailable",
        "exists",
    ];
    const MADE_UP: [&str; 18] = [
        "fake",
        "mock",
        "static",
        "sample",
        "naive",
        "dummy",
        "example",
        "canned",
        "demo",
        "placeholder",
        "stub",
        "simplistic",
        "simplified",
        "hardcoded",
        "hard-coded",
        "coded",
        "pretend",
        "guess",
    ];
    const ORDERS: [&str; 19] = [
        "call",
        "use",
        "apply",
        "ask",
        "query",
        "fetch",
        "implement",
        "replace",
        "integrate",
        "connect",
        "send",
        "compute",
        "calculate",
        "look",
        "run",
        "hook",
        "wire",
        "parse",
        "load",
    ];
    // Whoever gives a reason, or says that nothing else is needed, is done.
    const REASONS: [&str; 33] = [
        "supposed",
        "overrides",
        "override",
        "subclass",
        "subclasses",
        "see",
        "type",
        "http",
        "https",
        "because",
        "since",
        "already",
        "caller",
        "callers",
        "needed",
        "necessary",
        "required",
        "default",
        "posix",
        "platform",
        "linux",
        "windows",
        "unix",
        "macos",
        "identity",
        "unchanged",
        "same",
        "nothing",
        "always",
        "never",
        "so",
        "as",
        "means",
    ];
    let words = words_of(&plain(comment));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_order = words.len() > 1 && words.first().is_some_and(|word| ORDERS.contains(&word.as_str()));
    let is_short = words.len() <= 14 && !crate::remark::is_description(&words.join(" "));
    if has(&REASONS) || !is_short {
        return Weight::Explains;
    }
    if has(&LATER) || has(&MADE_UP) || is_order {
        return Weight::PutsOff;
    }
    if has(&LACKING) { Weight::Lacks } else { Weight::Speaks }
}

/// Whether a comment with a mark of unfinished work says that the right thing is still to come: "TODO: real tax tables".
pub(crate) fn wants_the_real(comment: &str) -> bool {
    const REAL: [&str; 10] = [
        "real",
        "really",
        "actual",
        "actually",
        "proper",
        "properly",
        "correct",
        "production",
        "implement",
        "replace",
    ];
    words_of(&plain(comment)).iter().any(|word| REAL.contains(&word.as_str()))
}

/// Whether a text that is printed admits that nothing was done: "render: stub", "OK (simulated)", "Simulating login".
pub(crate) fn tells_of_pretence(message: &str) -> bool {
    const TOLD: [&str; 15] = [
        "stub",
        "stubbed",
        "fake",
        "faked",
        "faking",
        "dummy",
        "placeholder",
        "simulated",
        "simulating",
        "pretending",
        "unimplemented",
        "tbd",
        "hardcoded",
        "stubs",
        "todo",
    ];
    let text = message.to_lowercase();
    let words = words_of(&text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `[MOCK] notify ann`: in brackets or capitals it is a mark.
    let is_tagged = ["[mock", "(mock", "mock:", "todo:"]
        .iter()
        .any(|tag| text.trim_start_matches(['f', '"', '\'', '`', '$']).starts_with(tag));
    is_tagged
        || words.first() == Some(&"would")
        || ["under construction", "next release", "next version", "next sprint", "future release"]
            .iter()
            .any(|phrase| text.contains(phrase))
        || ["pretend", "prototype"].iter().any(|word| words.contains(word))
        || text.contains("not been built")
        || words.iter().any(|word| TOLD.contains(word))
        || text.contains("work in progress")
        || text.contains("coming soon")
        || puts_off(message)
        || crate::remark::says_unwritten(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_put_work_off_are_told_from_others() {
        for comment in [
            "// your scoring logic goes here",
            "# ... signing steps go here ...",
            "// Add tokenization logic here",
            "/* logic omitted for brevity */",
            "# fill in once the schema is final",
            "// the mailer is not wired up yet",
            "// compression will be added later",
            "// ML model integration pending",
            "// zero until the ledger service lands",
        ] {
            assert!(puts_off(comment), "{comment}");
        }
        for comment in [
            "// nothing goes here but the header of the page that everybody sees when they come in",
            "# none until the connection is ready",
            "// not ready yet",
            "// the old value, which is removed by the next run",
            "// skip the header",
        ] {
            assert!(!puts_off(comment), "{comment}");
        }
    }

    #[test]
    fn pretence_is_admitted_at_the_beginning() {
        for comment in [
            "// dummy rate",
            "// just return a fake id",
            "# pretend we hit the network",
            "// For now, as it came",
        ] {
            assert!(admits_pretence(comment), "{comment}");
        }
        for comment in
            ["// placeholder of the input", "// the rate of the stub resolver", "// mock server of the tests"]
        {
            assert!(!admits_pretence(comment), "{comment}");
        }
        assert!(tells_of_pretence("\"render: stub\"") && tells_of_pretence("'Simulating login for '"));
        assert!(
            !tells_of_pretence("\"simulation started\"") && !tells_of_pretence("\"it would remove 3 files\"")
        );
    }
}
