//! Which of the things that were done before a text is about: by the words that both hold, rare ones before common ones.

use std::collections::{BTreeMap, BTreeSet};

/// How much a word of a title counts beside one of the text below it (ours).
const TITLE: u32 = 4;
/// How fast more of the same word stop to count, and how much the length of a text matters (the usual values of BM25).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// The shortest word that tells texts apart, in characters (ours).
const SHORTEST: usize = 3;
/// How many words two goals share at least, before one is taken for the other (ours).
const SHARED: usize = 3;
/// Which part of the words of each of two goals the other holds, before one is taken for the other (ours).
const ALIKE: f64 = 0.6;

/// How many telling words of one the other may lack (ours): tasks that are put into one long frame differ by a sentence.
const LACKING: usize = 4;

/// Words that stand in any task, so that they say nothing about which one it is (ours); without their endings, in order.
const COMMON: &[&str] = &[
    "about",
    "add",
    "after",
    "again",
    "all",
    "also",
    "and",
    "any",
    "are",
    "because",
    "been",
    "before",
    "but",
    "can",
    "change",
    "check",
    "code",
    "could",
    "create",
    "doe",
    "done",
    "each",
    "error",
    "every",
    "file",
    "find",
    "fix",
    "for",
    "from",
    "function",
    "get",
    "give",
    "has",
    "have",
    "here",
    "how",
    "implement",
    "into",
    "its",
    "just",
    "know",
    "let",
    "like",
    "look",
    "make",
    "may",
    "more",
    "must",
    "need",
    "new",
    "not",
    "now",
    "off",
    "one",
    "only",
    "other",
    "our",
    "out",
    "over",
    "please",
    "project",
    "put",
    "read",
    "run",
    "same",
    "see",
    "set",
    "should",
    "show",
    "sure",
    "take",
    "task",
    "test",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thi",
    "thing",
    "try",
    "update",
    "use",
    "using",
    "want",
    "was",
    "way",
    "well",
    "what",
    "when",
    "where",
    "which",
    "why",
    "will",
    "with",
    "work",
    "would",
    "write",
    "you",
    "your",
];

/// Something that can be found: what it is about, and what else is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findable {
    /// How much each of its words counts.
    all: BTreeMap<String, u32>,
    length: u32,
}

impl Findable {
    /// Something about `title`, of which `text` is said too.
    pub fn new(title: &str, text: &str) -> Self {
        let mut all = counted(title);
        all.values_mut().for_each(|count| *count *= TITLE);
        for (word, count) in counted(text) {
            *all.entry(word).or_default() += count;
        }
        let length = all.values().sum();
        Self { all, length }
    }
}

/// The places of those that hold at least half of the words that are asked for, with how well they fit (greater is better, above 0), best first.
/// Of two that fit alike the later one comes first.
pub fn search(asked: &str, among: &[Findable]) -> Vec<(usize, f64)> {
    // Who asks means each word, also a common one; where nothing else is asked for those count.
    let every: BTreeSet<String> = words(asked).collect();
    let telling: BTreeSet<String> = every.iter().filter(|word| !is_common(word)).cloned().collect();
    let asked = if telling.is_empty() { every } else { telling };
    let total = among.len() as f64;
    let mean = among.iter().map(|one| f64::from(one.length)).sum::<f64>() / total.max(1.0);
    let rarity = |word: &String| {
        let holding = among.iter().filter(|one| one.all.contains_key(word)).count() as f64;
        ((total - holding + 0.5) / (holding + 0.5)).ln_1p()
    };
    let weights: Vec<(&String, f64)> = asked.iter().map(|word| (word, rarity(word))).collect();
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (place, one) in among.iter().enumerate() {
        let held = asked.iter().filter(|word| one.all.contains_key(*word)).count();
        if held == 0 || held * 2 < asked.len() {
            continue;
        }
        let long = 1.0 - LENGTH + LENGTH * f64::from(one.length) / mean.max(1.0);
        let of = |(word, weight): &(&String, f64)| {
            let times = f64::from(one.all.get(*word).copied().unwrap_or_default());
            weight * times * (SATURATION + 1.0) / (times + SATURATION * long)
        };
        found.push((place, weights.iter().map(of).sum()));
    }
    found.sort_by(|(one, fits), (other, better)| better.total_cmp(fits).then(other.cmp(one)));
    found
}

/// What is wanted, by the words that tell it from other things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal(BTreeSet<String>);

impl Goal {
    /// The goal that a text says.
    pub fn of(text: &str) -> Self {
        Self(words(text).filter(|word| !is_common(word)).collect())
    }

    /// Whether it says enough for another one to be told apart from it.
    pub fn is_distinctive(&self) -> bool {
        self.0.len() >= SHARED
    }

    /// How much two goals are the same, from 0 to 1; `None` where one is not the other: they share too few words that tell, or too small a
    /// part of them.
    pub fn likeness(&self, other: &Self) -> Option<f64> {
        let shared = self.0.intersection(&other.0).count();
        let longer = self.0.len().max(other.0.len());
        if shared < SHARED || longer > shared + LACKING {
            return None;
        }
        let part = shared as f64 / longer as f64;
        (part >= ALIKE).then_some(part)
    }
}

fn counted(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    words(text).for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

/// The words of a text in small letters, without the endings of plurals and past; names in code also by their parts.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|character: char| !character.is_alphanumeric())
        .flat_map(parts)
        .filter(|word| word.chars().count() >= SHORTEST || word.chars().any(char::is_numeric))
        .map(|word| stem(&word))
}

/// `parseHttpHeader` is one word and three.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = None;
    for character in word.chars() {
        let begins = character.is_uppercase() && before.is_some_and(char::is_lowercase);
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    if parts.len() > 1 {
        parts.push(word.to_lowercase());
    }
    parts
}

fn stem(word: &str) -> String {
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().count() >= SHORTEST
            && !(ending == "s" && rest.ends_with('s'))
        {
            return format!("{rest}{instead}");
        }
    }
    word.to_owned()
}

fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Vec<Findable> {
        [
            ("fix the flaky login test", "npm test cypress login timeout"),
            ("add pagination to the orders API", "cargo test orders"),
            ("upgrade OpenSSL in the base image", "docker build apt-get"),
            ("rename parseHttpHeader", "grep sed"),
        ]
        .map(|(title, text)| Findable::new(title, text))
        .to_vec()
    }

    fn best(asked: &str) -> Option<usize> {
        search(asked, &library()).first().map(|(place, _)| *place)
    }

    #[test]
    fn what_holds_the_rare_words_comes_first() {
        assert_eq!(best("login tests that time out"), Some(0));
        assert_eq!(best("orders pagination"), Some(1));
        assert_eq!(best("openssl"), Some(2), "names in code count as they are");
        assert_eq!(best("http header parsing"), Some(3), "names in code count by their parts");
        assert_eq!(best("kubernetes"), None);
        assert_eq!(best(""), None);
    }

    #[test]
    fn less_than_half_of_the_words_is_not_found() {
        assert_eq!(best("login kubernetes terraform"), None);
        assert_eq!(best("login kubernetes"), Some(0));
    }

    #[test]
    fn a_title_counts_more_than_what_stands_below_it() {
        let among = [Findable::new("other", "login login"), Findable::new("login", "other other other")];
        assert_eq!(search("login", &among).first().map(|(place, _)| *place), Some(1));
    }

    fn likeness(one: &str, other: &str) -> Option<f64> {
        Goal::of(one).likeness(&Goal::of(other))
    }

    #[test]
    fn common_words_are_found() {
        assert!(COMMON.is_sorted());
        assert!(COMMON.iter().all(|word| stem(word) == *word || stem(&stem(word)) == *word), "an ending");
        assert!(!Goal::of("please run all of the tests again, and fix the errors").is_distinctive());
    }

    #[test]
    fn a_goal_said_in_other_words_is_the_same() {
        let goal = "Fix the flaky login test in cypress";
        assert!(likeness(goal, "please fix the login tests, cypress is flaky").is_some());
        assert!(likeness(goal, goal).is_some_and(|part| part > 0.99));
    }

    #[test]
    fn another_goal_about_the_same_things_is_not() {
        let goal = "Fix the flaky login test in cypress";
        for other in [
            "add a logout button beside the login form",
            "fix the test",
            "go on",
            "",
            "write cypress tests for the orders page and for the checkout, and put them into continuous integration",
        ] {
            assert_eq!(likeness(goal, other), None, "{other}");
        }
    }

    #[test]
    fn tasks_in_one_long_frame_are_told_apart() {
        let frame = "You are the maintainer of a web shop in Django with PostgreSQL and Celery. Keep views thin, put logic into services, \
                     annotate types, never touch migrations of released versions, and end with a summary for the changelog.";
        let with = |task: &str| format!("{frame}\nTask: {task}");
        let one = with("send an email when an order is shipped");
        assert_eq!(likeness(&one, &with("let customers filter the catalogue by price and colour")), None);
        assert!(likeness(&one, &with("an email should be sent when orders are shipped")).is_some());
    }

    #[test]
    fn likeness_is_the_same_both_ways() {
        let (one, other) = ("migrate users table to uuid keys", "uuid keys for the users table: migrate");
        assert_eq!(likeness(one, other), likeness(other, one));
        assert!(likeness(one, other).is_some());
    }
}
