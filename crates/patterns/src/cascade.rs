//! Cascades (seed 004, upstream 3.1): an agent that talks itself into new work. Seventeen patterns in four categories over what it says.
//!
//! The patterns are sequences of phrases, found without regular expressions, so that a message costs one pass for each and nothing is compiled.

use checkrein_policy::{CascadeCategory, CascadePattern, CascadeThresholds};
use checkrein_protocol::{Cascade, CascadeLevel, Severity};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};

/// How much of a message is read, in bytes (upstream 3.1: characters).
const LONGEST: usize = 10_000;

/// How many bytes may lie between the parts of an own pattern (upstream 3.1).
const GAP: usize = 80;

/// Phrases of which one must come, at most so many bytes after the end of the part before; 0 means at once.
type Part<'a> = (usize, &'a [&'a str]);

struct Pattern {
    id: &'static str,
    category: CascadeCategory,
    weight: f64,
    parts: &'static [Part<'static>],
}

const GO_ON: &[&str] = &["continue", "proceed", "start", "begin", "move on"];
const GO_ON_NOW: &[&str] = &["continue", "proceed", "start", "begin"];
const MAY_I: &[&str] = &["should i", "want me to", "shall i"];
const I_HAVE: &[&str] = &["i've ", "i have ", "i "];
const DONE: &[&str] =
    &["finished", "completed", "fixed", "solved", "done", "updated", "resolved", "handled", "addressed"];

const PATTERNS: [Pattern; 14] = {
    use CascadeCategory::{ContinuationOffer, ScopeExpansion, TaskCompletionPivot};
    [
        Pattern {
            id: "CP-001",
            category: ContinuationOffer,
            weight: 0.7,
            parts: &[(0, &["should i "]), (0, GO_ON)],
        },
        Pattern {
            id: "CP-002",
            category: ContinuationOffer,
            weight: 0.7,
            parts: &[(0, &["do you want me to "]), (0, GO_ON_NOW)],
        },
        Pattern {
            id: "CP-003",
            category: ContinuationOffer,
            weight: 0.7,
            parts: &[(0, &["shall i "]), (0, GO_ON)],
        },
        Pattern {
            id: "CP-004",
            category: ContinuationOffer,
            weight: 0.7,
            parts: &[(0, &["would you like me to "]), (0, GO_ON_NOW)],
        },
        Pattern {
            id: "CP-005",
            category: ContinuationOffer,
            weight: 0.6,
            parts: &[(0, &["ready to "]), (0, GO_ON)],
        },
        Pattern {
            id: "CP-020",
            category: TaskCompletionPivot,
            weight: 0.8,
            parts: &[
                (0, I_HAVE),
                (0, DONE),
                (80, &["should i", "shall i", "want me to", "let me", "now", "next"]),
            ],
        },
        Pattern {
            id: "CP-021",
            category: TaskCompletionPivot,
            weight: 0.7,
            parts: &[
                (0, &["that's ", "that is "]),
                (0, &["done", "complete", "fixed", "finished"]),
                (80, &["should", "shall", "want", "would", "let me", "next"]),
            ],
        },
        Pattern {
            id: "CP-022",
            category: TaskCompletionPivot,
            weight: 0.6,
            parts: &[
                (0, &["task", "issue", "bug", "feature"]),
                (30, &["complete", "done", "fixed", "resolved"]),
                (80, &["next", "now", "also", "another"]),
            ],
        },
        Pattern {
            id: "CP-023",
            category: TaskCompletionPivot,
            weight: 0.8,
            parts: &[
                (0, &["i've ", "i have "]),
                (0, &["finished", "completed", "fixed", "solved", "done"]),
                (80, &["now let me", "let me also", "let me now"]),
            ],
        },
        Pattern {
            id: "CP-024",
            category: TaskCompletionPivot,
            weight: 0.7,
            parts: &[
                (0, &["done", "finished", "complete", "all set"]),
                (0, &["!", "."]),
                (LONGEST, &["what's next", "whats next", "what now", "now what"]),
            ],
        },
        Pattern {
            id: "CP-030",
            category: ScopeExpansion,
            weight: 0.6,
            parts: &[
                (0, &["while i'm at it", "while i'm here"]),
                (0, &[", i ", " i "]),
                (0, &["could ", "should ", "can ", "might "]),
                (0, &["also", "additionally"]),
            ],
        },
        Pattern {
            id: "CP-031",
            category: ScopeExpansion,
            weight: 0.6,
            parts: &[(0, &["i also noticed", "i additionally noticed"]), (80, MAY_I)],
        },
        Pattern {
            id: "CP-032",
            category: ScopeExpansion,
            weight: 0.6,
            parts: &[
                (0, &["there are ", "there is "]),
                (0, &["also", "another", "more", "additional"]),
                (80, MAY_I),
            ],
        },
        Pattern {
            id: "CP-033",
            category: ScopeExpansion,
            weight: 0.6,
            parts: &[(0, &["should i "]), (0, &["also", "additionally"])],
        },
    ]
};

/// What a message says, with these patterns beside our own, each as [`CascadePattern`] reads it. A permission prompt of a client says nothing.
pub fn cascade(message: &str, own: &[String]) -> Cascade {
    let end = (0..=message.len().min(LONGEST)).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
    let text = message.get(..end).unwrap_or_default().trim().to_lowercase().replace('\u{2019}', "'");
    if text.is_empty() || is_permission_prompt(&text) {
        return Cascade::default();
    }
    let phrases = PATTERNS
        .iter()
        .filter(|pattern| found(&text, pattern.parts))
        .map(|pattern| (pattern.id.to_owned(), pattern.category, pattern.weight));
    let numbered =
        numbered(&text).into_iter().map(|(id, category, weight)| (id.to_owned(), category, weight));
    let own = own
        .iter()
        .filter_map(|line| CascadePattern::parse(line))
        .filter(|pattern| is_said(&text, pattern))
        .map(|pattern| (pattern.name, pattern.category, pattern.weight));
    let hits: Vec<(String, CascadeCategory, f64)> = phrases.chain(numbered).chain(own).collect();
    let greatest = |category: CascadeCategory| {
        hits.iter().filter(|(_, of, _)| *of == category).map(|(_, _, weight)| *weight).fold(0.0, f64::max)
    };
    let score = greatest(CascadeCategory::ContinuationOffer)
        + greatest(CascadeCategory::NumberedChoice)
        + greatest(CascadeCategory::TaskCompletionPivot)
        + greatest(CascadeCategory::ScopeExpansion);
    let score = Share::new(score);
    let patterns = hits.into_iter().map(|(id, _, _)| id).collect();
    Cascade { score, level: CascadeLevel::of(score), patterns }
}

/// Whether the phrases of an own pattern are said, one after the other.
fn is_said(text: &str, pattern: &CascadePattern) -> bool {
    let phrases: Vec<[&str; 1]> = pattern.phrases.iter().map(|phrase| [phrase.as_str()]).collect();
    let parts: Vec<Part<'_>> = phrases.iter().map(|phrase| (GAP, phrase.as_slice())).collect();
    found(text, &parts)
}

/// The issue that a message is when nobody is there to answer it: from high on (seed 004).
pub(crate) fn issue(score: Share, now: ActionNumber, thresholds: CascadeThresholds) -> Option<Issue> {
    // Sums of tenths fall a little short of the edges that they mean.
    if score.value() + 1e-9 < thresholds.score || score == Share::default() {
        return None;
    }
    let severity = match CascadeLevel::of(score) {
        CascadeLevel::None | CascadeLevel::Low | CascadeLevel::Medium => Severity::Low,
        CascadeLevel::High => Severity::Medium,
        CascadeLevel::Critical => Severity::High,
    };
    Some(Issue {
        kind: PatternKind::Cascade,
        severity,
        confidence: score,
        impact: Share::default(),
        signal: score.value(),
        summary: "the last message offers to begin new work that nobody asked for".to_owned(),
        advice: "end here with what was done; new work begins when the user asks for it".to_owned(),
        actions: vec![now],
        growth: None,
        growths: Vec::new(),
    })
}

fn is_permission_prompt(text: &str) -> bool {
    const TOOLS: [&str; 9] =
        ["bash", "file write", "read", "write", "edit", "listdirectory", "grep", "websearch", "file read"];
    let asked = text.strip_prefix("allow ").is_some_and(|rest| {
        let first = rest.split_whitespace().nth(1) == Some("tool");
        first || TOOLS.iter().any(|tool| rest.starts_with(tool))
    });
    // Only a short text is the prompt itself: at the end of a long one the marker would hide everything before it (ours).
    asked || (text.ends_with("(y/n)") && text.len() <= 200)
}

/// Whether the parts come one after the other, in one line, beginning with a word.
fn found(text: &str, parts: &[Part<'_>]) -> bool {
    let Some(((_, first), rest)) = parts.split_first() else { return false };
    first.iter().any(|phrase| {
        text.match_indices(phrase).any(|(start, _)| {
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            before.is_none_or(|letter| !letter.is_alphanumeric()) && follow(text, start + phrase.len(), rest)
        })
    })
}

fn follow(text: &str, end: usize, parts: &[Part<'_>]) -> bool {
    let Some(((gap, phrases), rest)) = parts.split_first() else { return true };
    let after = text.get(end..).unwrap_or_default();
    let line = after.split('\n').next().unwrap_or_default();
    phrases.iter().any(|phrase| {
        line.match_indices(phrase)
            .take_while(|(start, _)| start <= gap)
            .any(|(start, _)| follow(text, end + start + phrase.len(), rest))
    })
}

/// The three patterns of lists: CP-010, CP-011, CP-012.
fn numbered(text: &str) -> Vec<(&'static str, CascadeCategory, f64)> {
    let mut hits = Vec::new();
    let item = |line: &str, number: &str| {
        let rest = line.trim_start().strip_prefix(number)?;
        rest.strip_prefix(['.', ')']).map(|rest| rest.trim_start().to_owned())
    };
    let starts = |number: &str, words: &[&str]| {
        text.lines()
            .filter_map(|line| item(line, number))
            .any(|rest| words.iter().any(|word| rest.starts_with(word)))
    };
    if starts("1", &["yes", "continue", "proceed", "go ahead"]) {
        hits.push(("CP-010", CascadeCategory::NumberedChoice, 0.5));
    }
    if starts("2", &["no", "stop", "wait", "hold"]) {
        hits.push(("CP-011", CascadeCategory::NumberedChoice, 0.5));
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let chosen = lines.windows(3).any(|lines| match lines {
        [question, one, two] => {
            let asks = ["which option", "choose", "select"].iter().any(|word| {
                question.rfind(word).is_some_and(|start| question.len() - start - word.len() <= 30)
            });
            asks && item(one, "1").is_some_and(|rest| rest.len() <= 50) && item(two, "2").is_some()
        }
        _ => false,
    });
    if chosen {
        hits.push(("CP-012", CascadeCategory::NumberedChoice, 0.4));
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 004-15
    #[test]
    fn the_seventeen_patterns_of_upstream_3_1() {
        for (message, id) in [
            ("Should I continue with the next issue?", "CP-001"),
            ("Do you want me to start?", "CP-002"),
            ("Shall I move on?", "CP-003"),
            ("Would you like me to proceed?", "CP-004"),
            ("I am ready to begin.", "CP-005"),
            ("1. Yes, do it", "CP-010"),
            ("2) No", "CP-011"),
            ("Please choose:\n1. red\n2. blue", "CP-012"),
            ("I've fixed the parser. Should I look at the lexer?", "CP-020"),
            ("That's done. Would there be more?", "CP-021"),
            ("The issue is fixed, and now another one", "CP-022"),
            ("I have finished the tests. Now let me refactor", "CP-023"),
            ("All set! What's next?", "CP-024"),
            ("While I'm at it, I could also rename it", "CP-030"),
            ("I also noticed a typo. Want me to fix it?", "CP-031"),
            ("There is another bug here, should I fix it?", "CP-032"),
            ("Should I also update the docs?", "CP-033"),
        ] {
            let cascade = cascade(message, &[]);
            assert!(cascade.patterns.iter().any(|found| found == id), "{message}: {cascade:?}");
        }
    }

    // Source: seed 004-16, 004-17
    #[test]
    fn the_levels_of_seed_004() {
        let level = |score| CascadeLevel::of(Share::new(score));
        assert_eq!(
            [0.0, 0.29, 0.3, 0.5, 0.7, 0.9, 1.0].map(level),
            [
                CascadeLevel::None,
                CascadeLevel::None,
                CascadeLevel::Low,
                CascadeLevel::Medium,
                CascadeLevel::High,
                CascadeLevel::Critical,
                CascadeLevel::Critical
            ]
        );
        // The greatest weight of each category, added up and capped.
        assert_eq!(cascade("Should I continue?", &[]).score, Share::new(0.7));
        assert_eq!(cascade("Should I continue?\n1. Yes\n2. No", &[]).score, Share::new(1.0));
    }

    #[test]
    fn ordinary_questions_and_permission_prompts_are_none_upstream_3_1() {
        for message in [
            "if should_i_continue(x) { go() }",
            "Should I use async or sync here?",
            "Should I format this differently?",
            "Allow Bash command: should I continue?",
            "Overwrite the file? (y/n)",
            "The parser reads the file and returns a tree.",
            "",
        ] {
            assert_eq!(cascade(message, &[]).level, CascadeLevel::None, "{message}");
        }
    }

    // Source: seed 004-25
    #[test]
    fn own_patterns_count_beside_ours_in_their_category() {
        let own = ["next-ticket scope_expansion 0.7 the next ticket ... I will take it".to_owned()];
        let message = "The next ticket in the list is short, I will take it.";
        assert_eq!(cascade(message, &[]).level, CascadeLevel::None);
        let found = cascade(message, &own);
        assert_eq!((found.level, found.patterns), (CascadeLevel::High, vec!["next-ticket".to_owned()]));
        for other in [
            "I will take it: the next ticket",
            "anext ticket, I will take it",
            "The next ticket\nI will take it",
            &format!("The next ticket {}I will take it", "is ".repeat(30)),
        ] {
            assert_eq!(cascade(other, &own).level, CascadeLevel::None, "{other}");
        }
        // The greatest weight of a category counts once, and another category adds to it.
        let text = "The next ticket: I will take it. Should I also update the docs?";
        assert_eq!(cascade(text, &own).score, Share::new(0.7));
        let text = "The next ticket: I will take it. Should I continue?";
        assert_eq!(cascade(text, &own).score, Share::new(1.0));
    }

    #[test]
    fn a_marker_at_the_end_of_a_long_text_hides_nothing() {
        let text = format!("{} Should I continue? (y/n)", "words ".repeat(60));
        assert_eq!(cascade(&text, &[]).level, CascadeLevel::High);
    }

    // Source: seed 001-65
    #[test]
    fn long_hostile_texts_are_read_in_bounded_time() {
        let text = "I've done ".repeat(10_000);
        assert_eq!(cascade(&text, &[]).level, CascadeLevel::None);
    }
}
