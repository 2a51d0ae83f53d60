//! Orders to an agent in a text that others wrote.
//!
//! One phrase that no honest page has is enough; of those that a page about agents may have, two must stand close to each other. The
//! phrases are ours, after the attacks of AgentDojo and InjecAgent, and what Willison and Rehberger collected; none is taken from a data set.

mod languages;

use std::borrow::Cow;

use checkrein_facts::is_hidden;

/// The longest piece of a text that is shown, in characters (ours).
const SHOWN: usize = 160;

/// Within how many words two doubtful phrases count together (ours).
const NEAR: usize = 60;

/// How many words may stand between two parts of a phrase (ours).
const GAP: usize = 3;

/// From how many letters on text counts that is written in characters which are not shown (ours).
const UNSEEN: usize = 8;

/// The characters of tags: a copy of ASCII that no program shows (Unicode 16, block "Tags").
const TAGS: std::ops::RangeInclusive<char> = '\u{E0020}'..='\u{E007E}';

/// A phrase: parts in their order, each one of several words.
type Phrase = &'static [&'static [&'static str]];

const LEAVE: &[&str] = &["ignore", "disregard", "forget", "override", "bypass", "abandon"];
const EARLIER: &[&str] =
    &["previous", "prior", "earlier", "above", "preceding", "foregoing", "original", "initial", "former"];
const ORDERS: &[&str] = &[
    "instruction",
    "instructions",
    "prompt",
    "prompts",
    "directions",
    "guidelines",
    "rules",
    "orders",
    "commands",
    "tasks",
    "task",
];
const AGENT: &[&str] = &[
    "ai",
    "llm",
    "llms",
    "assistant",
    "assistants",
    "agent",
    "agents",
    "claude",
    "gpt",
    "gpt-4",
    "gpt-5",
    "chatgpt",
    "copilot",
    "codex",
    "gemini",
    "cursor",
];
const MUST: &[&str] = &["must", "should", "shall", "need", "have", "please", "required"];
const USER: &[&str] = &["user", "users", "human", "operator", "developer", "person"];
const ACTS: &[&str] = &[
    "run", "execute", "send", "post", "delete", "email", "upload", "forward", "transfer", "curl", "install",
    "read", "open", "fetch", "invite", "commit", "push", "include",
];

/// Phrases of which one is enough.
const PLAIN: &[Phrase] = &[
    &[LEAVE, EARLIER, ORDERS],
    &[LEAVE, &["your"], &["instructions", "guidelines", "prompt", "rules"]],
    &[&["important"], &["message"], &["from"], &["me"], &["to"], &["you"]],
    &[
        &["before"],
        &["you"],
        &["can", "may"],
        &["solve", "continue", "proceed", "complete", "finish"],
        &["task"],
    ],
    &[&["task"], &["that"], &["i"], &["gave"], &["you"]],
    &[
        &["don't", "not", "never", "without"],
        &["tell", "telling", "mention", "mentioning"],
        &["this"],
        &["to"],
        USER,
    ],
    &[&["without"], &["telling", "informing", "alerting", "notifying"], &["the"], USER],
    &[&["strictly"], &["adhere"], &["following"], ORDERS],
];

/// Phrases of which two must stand together.
const DOUBTFUL: &[Phrase] = &[
    &[&["not", "don't", "never"], &["tell", "mention", "inform", "alert", "notify", "ask", "reveal"], USER],
    &[AGENT, MUST, ACTS],
    &[
        &["important", "urgent", "attention", "note", "notice", "message", "instructions"],
        &["to", "for"],
        AGENT,
    ],
    &[&["you"], &["must", "need", "have", "should"], &["now", "first", "immediately", "also"], ACTS],
    &[&["without"], &["asking"], &["the"], USER],
    &[&["new"], &["system"], &["prompt", "instructions"]],
    &[&["you"], &["are"], &["now"], &["in", "an", "a"]],
    &[&["as"], &["an", "the"], AGENT, &["you"]],
    &[&["end"], &["of"], &["system", "tool", "user"], &["prompt", "output", "result", "message"]],
    &[
        &["please"],
        ACTS,
        &["contents", "content", "credentials", "keys", "token", "tokens", "secrets", ".env"],
    ],
];

/// The piece of a text that gives an agent orders, cut; `None` where nothing in it does.
pub fn planted_orders(text: &str) -> Option<String> {
    if let Some(unseen) = unseen(text) {
        return Some(unseen);
    }
    spellings(text).iter().find_map(|text| in_spelling(text))
}

/// The ways in which a text can be read: as it stands, and with letters in place of those that look like them, where characters of which
/// nothing is shown are nothing, or stand between words.
fn spellings(text: &str) -> Vec<Cow<'_, str>> {
    if text.is_ascii() {
        return vec![Cow::Borrowed(text)];
    }
    let read = |hidden: Option<char>| -> String {
        let letters = text.chars().filter_map(|letter| if is_hidden(letter) { hidden } else { Some(letter) });
        letters.filter(|letter| !is_mark(*letter)).map(plain_letter).collect()
    };
    let mut all = vec![Cow::Borrowed(text)];
    for reading in [read(None), read(Some(' '))] {
        if all.iter().all(|known| *known != reading) {
            all.push(Cow::Owned(reading));
        }
    }
    all
}

/// Whether a character is a mark over or under the letter before it (Unicode, block "Combining Diacritical Marks").
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// Letters of other scripts, and the ones that they look like (Unicode TR 39, "confusables.txt").
const ALIKE: &[(&str, &str)] = &[
    ("аеорсухіјѕһԁԛԝ", "aeopcyxijshdqw"),
    ("АВЕКМНОРСТУХІЈЅ", "ABEKMHOPCTYXIJS"),
    ("αενικορτυχ", "aevikoptux"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("ℎıℓ", "hil"),
];

/// The letter of ASCII that a character shows: full-width ones, those of mathematics and in circles, and those of other scripts that look so.
fn plain_letter(letter: char) -> char {
    let code = u32::from(letter);
    let shifted = |first: u32, to: char| char::from_u32(code - first + u32::from(to)).unwrap_or(letter);
    let of_alphabet = |place: u32| {
        let (first, place) = if place < 26 { ('A', place) } else { ('a', place - 26) };
        char::from_u32(u32::from(first) + place).unwrap_or(letter)
    };
    match code {
        0..0x80 => letter,
        0x3000 => ' ',
        0xFF01..=0xFF5E => shifted(0xFF01, '!'),
        0x1D400..=0x1D6A3 => of_alphabet((code - 0x1D400) % 52),
        0x24B6..=0x24E9 => of_alphabet(code - 0x24B6),
        0x1F130..=0x1F149 => shifted(0x1F130, 'A'),
        _ => {
            let alike = ALIKE.iter().find_map(|(from, to)| {
                let place = from.chars().position(|known| known == letter)?;
                to.chars().nth(place)
            });
            alike.unwrap_or(letter)
        }
    }
}

/// The piece of one spelling of a text that gives orders.
fn in_spelling(text: &str) -> Option<String> {
    if let Some(at) = languages::unspaced(text) {
        return Some(shown(text, at));
    }
    let mut doubtful: Option<(usize, usize)> = None;
    let words: Vec<Word> = words(text).collect();
    for (place, word) in words.iter().enumerate() {
        let rest = words.get(place..).unwrap_or_default();
        let first = word.lower.as_str();
        let stands = |phrase: &&Phrase| {
            phrase.first().is_some_and(|part| part.contains(&first)) && stands_in(phrase, rest)
        };
        if PLAIN.iter().chain(languages::PLAIN).any(|phrase| stands(&phrase)) {
            return Some(shown(text, word.start));
        }
        let doubtful_here = DOUBTFUL.iter().chain(languages::DOUBTFUL).position(|phrase| stands(&phrase));
        if let Some(which) = doubtful_here {
            match doubtful {
                Some((before, at)) if before != which && place - at <= NEAR => {
                    return Some(shown(text, words.get(at).map_or(0, |word| word.start)));
                }
                Some(_) | None => doubtful = Some((which, place)),
            }
        }
    }
    None
}

/// A word of a text, in lower case, and where it stands.
struct Word {
    lower: String,
    start: usize,
}

/// The words of a text: letters, digits and what stands within names.
fn words(text: &str) -> impl Iterator<Item = Word> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '.' | '’');
    text.split(move |c: char| !is_part(c)).filter_map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let word = word.trim_matches(['.', '\'', '-']);
        (!word.is_empty()).then(|| Word { lower: word.to_lowercase().replace('’', "'"), start })
    })
}

/// Whether a phrase stands at the beginning of these words, with a few others in between.
fn stands_in(phrase: &[&[&str]], words: &[Word]) -> bool {
    let mut at = 0;
    for part in phrase {
        let window = words.get(at..).unwrap_or_default().iter().take(GAP + 1);
        match window.enumerate().find(|(_, word)| part.contains(&word.lower.as_str())) {
            Some((step, _)) => at += step + 1,
            None => return false,
        }
    }
    true
}

/// Text in characters that nobody sees.
fn unseen(text: &str) -> Option<String> {
    if !text.contains(|c| TAGS.contains(&c)) {
        return None;
    }
    let seen = |c: char| char::from_u32(u32::from(c) - 0xE0000);
    let hidden: String = text.chars().filter(|c| TAGS.contains(c)).filter_map(seen).take(SHOWN).collect();
    // Flags of regions are written in a few of them (Unicode TR 51, "Emoji tag sequences").
    (hidden.len() >= UNSEEN && hidden.contains(' '))
        .then(|| format!("(in characters that are not shown) {hidden}"))
}

/// A piece of a text in one line, from a place on.
fn shown(text: &str, start: usize) -> String {
    let piece: String = text.get(start..).unwrap_or_default().chars().take(SHOWN).collect();
    piece.split_whitespace().collect::<Vec<_>>().join(" ")
}
