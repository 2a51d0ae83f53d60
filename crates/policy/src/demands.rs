//! What a user demands of the work beside its goal, in their own words: `do not commit`, `only touch src/parser.rs` (seed 000, `constraints`).
//!
//! Only what reads as an order is taken: what stands at the beginning of a clause. A report (`the tests do not pass`), a question, what is
//! quoted, and words of comfort (`don't worry about tests/`) are none. What the work must keep off is told apart where it is said in so many words.

mod words;

pub use words::{BannedDeed, forbids};

use words::FORBIDDING;

/// Something that a user demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// The clause, as the user wrote it.
    pub clause: String,
    /// What it forbids, where that is known.
    pub ban: Option<Ban>,
}

/// What a demand forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ban {
    /// To change these places.
    Touching(Vec<String>),
    /// To change anything but these places.
    Leaving(Vec<String>),
    /// To do this.
    Doing(BannedDeed),
}

/// How a clause begins that demands something.
const BEGINNINGS: [&str; 51] = [
    "do not ",
    "don't ",
    "dont ",
    "never ",
    "only ",
    "always ",
    "avoid ",
    "without ",
    "make sure ",
    "keep ",
    "leave ",
    "stay ",
    "must ",
    "no changes ",
    "no edits ",
    "no new ",
    "no commits",
    "no pushes",
    "no pushing",
    "no deletions",
    "hands off ",
    "nur ",
    "ohne ",
    "lass ",
    "keine ",
    "nie ",
    "niemals ",
    "ne ",
    "n'",
    "jamais ",
    "sans ",
    "uniquement ",
    "seulement ",
    "laisse ",
    "laissez ",
    "no toques ",
    "no modifiques ",
    "no cambies ",
    "no edites ",
    "no borres ",
    "no elimines ",
    "no hagas ",
    "no ejecutes ",
    "no corras ",
    "no subas ",
    "no instales ",
    "no despliegues ",
    "nunca ",
    "sin ",
    "solo ",
    "s\u{f3}lo ",
];

/// How a clause begins that demands nothing, though it begins like one that does.
const COMFORT: [&str; 41] = [
    "don't worry",
    "don't panic",
    "don't hesitate",
    "don't be ",
    "don't bother",
    "don't mind",
    "don't have to",
    "don't need to",
    "don't feel ",
    "don't you",
    "don't know",
    "don't think",
    "don't understand",
    "don't see",
    "don't care",
    "don't get ",
    "don't want to be ",
    "don't give up",
    "never mind",
    "only a ",
    "only one ",
    "keep going",
    "keep it up",
    "keep at it",
    "no new ideas",
    "keine sorge",
    "don't forget",
    "never forget",
    "without further ado",
    "ne t'inqui\u{e8}te",
    "ne t'en fais",
    "ne vous inqui\u{e9}tez",
    "n'h\u{e9}site",
    "n'oublie",
    "n'aie pas",
    "no te preocupes",
    "no olvides",
    "no dudes",
    "sin problema",
    "sans souci",
    "keine eile",
];

/// Words before an order that belong to no clause of their own.
const POLITE: [&str; 18] = [
    "but ",
    "and ",
    "please ",
    "just ",
    "also ",
    "you ",
    "bitte ",
    "und ",
    "aber ",
    "mais ",
    "et ",
    "surtout ",
    "pero ",
    "y ",
    "s'il te pla\u{ee}t ",
    "s'il vous pla\u{ee}t ",
    "por favor ",
    "auch ",
];

/// Words for changing something.
const CHANGING: [&str; 51] = [
    "touch",
    "touching",
    "change",
    "changing",
    "changes",
    "edit",
    "editing",
    "edits",
    "modify",
    "modifying",
    "alter",
    "rewrite",
    "rename",
    "anfassen",
    "\u{e4}ndern",
    "ver\u{e4}ndern",
    "bearbeiten",
    "anr\u{fc}hren",
    "fass",
    "fasse",
    "\u{e4}ndere",
    "ver\u{e4}ndere",
    "bearbeite",
    "\u{e4}nderungen",
    "touche",
    "touchez",
    "toucher",
    "modifie",
    "modifiez",
    "modifier",
    "changez",
    "changer",
    "\u{e9}dite",
    "\u{e9}ditez",
    "\u{e9}diter",
    "changements",
    "modifications",
    "toques",
    "toque",
    "toca",
    "tocar",
    "modifiques",
    "modifica",
    "modificar",
    "cambies",
    "cambia",
    "cambiar",
    "cambios",
    "edites",
    "edita",
    "editar",
];

/// Names of directories that are meant when they are named alone.
const DIRECTORIES: [&str; 10] =
    ["tests", "test", "docs", "migrations", "fixtures", "vendor", "generated", "scripts", "examples", "src"];

/// The demands in a text, in their order.
pub fn demands(text: &str) -> Vec<Demand> {
    clauses(&without_quotes(text)).into_iter().filter_map(demand).collect()
}

/// The text without what stands in double quotes with a blank in it: somebody else says it.
fn without_quotes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut quote: Option<String> = None;
    for letter in text.chars() {
        let is_mark = matches!(letter, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}');
        match (&mut quote, is_mark) {
            (None, true) => quote = Some(String::new()),
            (None, false) => kept.push(letter),
            (Some(said), true) => {
                if !said.contains(' ') {
                    kept.push_str(said);
                }
                quote = None;
            }
            (Some(said), false) => said.push(letter),
        }
    }
    // A mark that nothing closes is no quote.
    kept + &quote.unwrap_or_default()
}

/// The clauses of a text: parts of sentences that begin behind a mark, or behind `but`, `without` and `please`. Questions have none.
fn clauses(text: &str) -> Vec<&str> {
    const INSIDE: [(&str, usize); 14] = [
        (" but ", 4),
        (" without ", 0),
        (" please ", 1),
        (" and do not ", 4),
        (" and don't ", 4),
        (" and never ", 4),
        (" aber ", 5),
        (" ohne ", 0),
        (" mais ", 5),
        (" sans ", 0),
        (" et ne ", 3),
        (" pero ", 5),
        (" sin ", 0),
        (" y no ", 2),
    ];
    let mut all = Vec::new();
    let sentences = text.split_inclusive(['\n', ';', '!', '?']).flat_map(|line| line.split(". "));
    for sentence in sentences.filter(|sentence| !sentence.ends_with('?')) {
        for part in sentence.split([',', ':', '(', ')', ';', '!', '\n']) {
            let mut rest = part;
            // The earliest of the words at which a new clause begins inside a part.
            while let Some((at, skipped)) =
                INSIDE.iter().filter_map(|(word, skipped)| rest.find(word).map(|at| (at, *skipped))).min()
            {
                let (before, behind) = rest.split_at(at);
                all.push(before);
                rest = behind.get(skipped.max(1)..).unwrap_or_default();
            }
            all.push(rest);
        }
    }
    all
}

/// The demand of a clause, when it has one.
fn demand(clause: &str) -> Option<Demand> {
    let mut clause = clause.trim().trim_end_matches('.').trim_start_matches(['-', '*', ' ']);
    let lower = |text: &str| text.to_lowercase().replace('\u{2019}', "'");
    while let Some(word) = POLITE.iter().find(|word| lower(clause).starts_with(**word)) {
        clause = clause.get(word.len()..)?.trim_start();
    }
    let text = lower(clause);
    let plain = text.replace("do not ", "don't ").replace("dont ", "don't ");
    let words: Vec<String> = text.replace(" n'", " ne ").split_whitespace().map(bare).collect();
    let words = match words.split_first() {
        // `n'installe rien`
        Some((first, rest)) if first.starts_with("n'") => {
            let parts = ["ne".to_owned(), first.trim_start_matches("n'").to_owned()];
            parts.into_iter().chain(rest.iter().cloned()).collect()
        }
        Some(_) | None => words,
    };
    let is_comfort = COMFORT.iter().any(|word| plain.starts_with(word));
    let is_repealed = ["no longer", "not any more", "nicht mehr"].iter().any(|word| text.contains(word));
    // `tests/ nicht anfassen`: the verb stands at the end. `pushe nicht`: it stands at the beginning.
    let names_a_deed = |word: &String| {
        CHANGING.contains(&word.as_str())
            || BannedDeed::ALL.iter().any(|deed| deed.words().contains(&word.as_str()))
    };
    let is_german = words.iter().any(|word| word == "nicht")
        && (words.last().is_some_and(|last| names_a_deed(last) || ["an", "aus"].contains(&last.as_str()))
            || words.first().is_some_and(names_a_deed));
    let is_order =
        BEGINNINGS.iter().any(|word| text.starts_with(word)) || text.contains(" must ") || is_german;
    if !is_order || is_comfort || is_repealed {
        return None;
    }
    let ban = ban(&words, clause);
    Some(Demand { clause: clause.to_owned(), ban })
}

/// A word without the marks around it.
fn bare(word: &str) -> String {
    word.trim_matches(|letter: char| matches!(letter, '`' | '\'' | ',' | ';' | ':' | '!' | '(' | ')'))
        .trim_end_matches('.')
        .to_owned()
}

/// What the words of a clause forbid.
fn ban(words: &[String], clause: &str) -> Option<Ban> {
    let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    let changes = has(&CHANGING);
    let named: Vec<String> = clause.split_whitespace().map(bare).filter(|word| is_place(word)).collect();
    let starts = |all: &[&str]| words.first().is_some_and(|first| all.contains(&first.as_str()));
    let forbids = has(&FORBIDDING) || starts(&["hands"]);
    if has(&["outside", "au\u{df}erhalb", "hors", "fuera"]) && forbids && changes {
        return (!named.is_empty()).then_some(Ban::Leaving(named));
    }
    let is_only = starts(&["only", "nur", "solo", "s\u{f3}lo", "uniquement", "seulement"])
        || starts(&["ne"]) && has(&["que"]);
    if is_only && changes || starts(&["stay"]) && has(&["in", "inside", "within"]) {
        return (!named.is_empty()).then_some(Ban::Leaving(named));
    }
    let is_left_alone = starts(&["leave", "keep", "lass", "laisse", "laissez", "deja"])
        && has(&[
            "alone",
            "untouched",
            "unchanged",
            "as",
            "ruhe",
            "unver\u{e4}ndert",
            "tranquille",
            "intact",
        ]);
    if (forbids && changes || is_left_alone || starts(&["hands"])) && !named.is_empty() {
        return Some(Ban::Touching(named));
    }
    // What comes under a condition is not forbidden as such.
    let is_bound = has(&["unless", "until", "yet", "before", "except", "if", "when"]);
    if !forbids || is_bound {
        return None;
    }
    let told = |deed: BannedDeed| has(deed.words()) && (deed.objects().is_empty() || has(deed.objects()));
    if has(BannedDeed::Delete.words()) && !named.is_empty() {
        return Some(Ban::Touching(named));
    }
    // To change what belongs to a release is no release.
    let is_meant = |deed: &BannedDeed| told(*deed) && !(*deed == BannedDeed::Publish && changes);
    let first = [BannedDeed::Delete, BannedDeed::Test].into_iter().chain(BannedDeed::ALL);
    first.into_iter().find(is_meant).map(Ban::Doing)
}

/// Whether a word names a place in the project.
fn is_place(word: &str) -> bool {
    let is_name = word.chars().all(|letter| letter.is_alphanumeric() || "/._-*@".contains(letter));
    let ending = word.rsplit_once('.').map_or("", |(stem, ending)| if stem.is_empty() { "" } else { ending });
    let has_ending = (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    let is_path = word.contains('/') && word.len() > 1 && !word.starts_with("//");
    is_name && (is_path || has_ending || DIRECTORIES.contains(&word.to_lowercase().as_str()))
}

/// Whether a path in the workspace lies at a place that a demand names.
pub fn lies_at(path: &str, place: &str) -> bool {
    let place = place.trim_start_matches("./").trim_end_matches(['*', '/']);
    let is_at =
        |path: &str| path == place || path.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
    // A name alone may stand anywhere.
    is_at(path)
        || !place.contains('/')
            && path.match_indices('/').any(|(at, _)| path.get(at + 1..).is_some_and(is_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bans(text: &str) -> Vec<Ban> {
        demands(text).into_iter().filter_map(|demand| demand.ban).collect()
    }

    // Source: seed 000-15
    #[test]
    fn thirty_sentences_that_forbid() {
        let touching = |place: &str| Ban::Touching(vec![place.to_owned()]);
        let mut count = 0;
        for place in ["tests/", "src/lexer.rs", "migrations"] {
            for form in [
                "Do not touch {}.",
                "Fix the bug in a.rs. Don't change {}!",
                "never edit {}",
                "Make it faster without changing {}.",
                "Please don\u{2019}t modify {}, it is generated.",
                "Leave {} alone.",
                "Bitte {} nicht anfassen, nur schauen.",
                "Hands off {}!",
            ] {
                assert_eq!(bans(&form.replace("{}", place)), [touching(place)], "{form} {place}");
                count += 1;
            }
        }
        for (text, ban) in [
            ("No changes outside of src/ please. Fix the test.", Ban::Leaving(vec!["src/".to_owned()])),
            ("only touch src/parser.rs", Ban::Leaving(vec!["src/parser.rs".to_owned()])),
            ("Don't delete any files.", Ban::Doing(BannedDeed::Delete)),
            ("Do not run the tests.", Ban::Doing(BannedDeed::Test)),
            ("Fix it, but don't push.", Ban::Doing(BannedDeed::Push)),
            ("make it work and do not commit", Ban::Doing(BannedDeed::Commit)),
            ("Fix the bug and don't push", Ban::Doing(BannedDeed::Push)),
            ("Nicht pushen!", Ban::Doing(BannedDeed::Push)),
            ("Never publish it.", Ban::Doing(BannedDeed::Publish)),
            ("Pushe nicht!", Ban::Doing(BannedDeed::Push)),
            ("Die Tests nicht ausf\u{fc}hren.", Ban::Doing(BannedDeed::Test)),
            ("Nur src/parser.rs \u{e4}ndern.", Ban::Leaving(vec!["src/parser.rs".to_owned()])),
            ("Fass tests/ nicht an.", touching("tests/")),
            ("Repariere es, aber \u{e4}ndere tests/ nicht.", touching("tests/")),
            ("Corrige le bug mais ne touche pas \u{e0} tests/.", touching("tests/")),
            ("Ne modifie que src/parser.rs.", Ban::Leaving(vec!["src/parser.rs".to_owned()])),
            ("Ne lance pas les tests.", Ban::Doing(BannedDeed::Test)),
            ("N'installe rien.", Ban::Doing(BannedDeed::Install)),
            ("Corrige le bug sans pousser.", Ban::Doing(BannedDeed::Push)),
            ("No toques tests/, por favor.", touching("tests/")),
            ("Arregla el fallo y no hagas push.", Ban::Doing(BannedDeed::Push)),
            ("Solo modifica src/parser.rs.", Ban::Leaving(vec!["src/parser.rs".to_owned()])),
        ] {
            assert_eq!(bans(text), [ban], "{text}");
            count += 1;
        }
        assert!(count >= 30, "{count}");
    }

    #[test]
    fn thirty_sentences_that_forbid_nothing() {
        let mut count = 0;
        for place in ["tests/", "src/lexer.rs", "migrations"] {
            for form in [
                "Don't worry about {}, just fix src/a.py.",
                "Do not hesitate to change {}.",
                "Never mind {}, I will do it.",
                "You don't have to keep {} as it is.",
                "Why does the README say \"do not touch {}\"? Fix that sentence.",
                "The linter says \"never change {}\". Fix it.",
                "The old rule \"do not touch {}\" no longer holds; extend it.",
                "Change {} so that it does not fail.",
                "Should I not touch {}?",
                "Don't forget to change {}.",
                "Vergiss nicht, {} zu \u{e4}ndern.",
                "Ne t'inqui\u{e8}te pas pour {}.",
                "N'oublie pas de modifier {}.",
                "No te preocupes por {}.",
            ] {
                assert_eq!(bans(&form.replace("{}", place)), [], "{form} {place}");
                count += 1;
            }
        }
        for text in ["Don't forget to commit.", "Never forget to push.", "Don't change the release notes."] {
            assert_eq!(bans(text), [], "{text}");
        }
        for text in [
            "If it doesn't work, don't panic. Fix src/a.py",
            "the tests do not pass since yesterday",
            "find out why it never returns",
            "add a `must` keyword to the grammar",
            "es geht nicht",
            "La construction ne passe plus, trouve pourquoi",
            "La prueba no pasa",
            "",
        ] {
            assert_eq!(demands(text), [], "{text}");
            count += 1;
        }
        assert!(count >= 30, "{count}");
    }

    #[test]
    fn places_in_the_workspace() {
        for (path, place, expected) in [
            ("tests/t.py", "tests/", true),
            ("tests/t.py", "tests", true),
            ("crates/a/tests/t.rs", "tests/", true),
            ("src/tests.rs", "tests/", false),
            ("src/a.py", "src/b.py", false),
            ("src/lexer.rs", "lexer.rs", true),
            ("src/a/b.rs", "./src/*", true),
            ("contests/a", "tests", false),
        ] {
            assert_eq!(lies_at(path, place), expected, "{path} {place}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|[,.;:()\n\"]| but | without | and never |do not touch ){0,60}") {
            demands(&text);
        }
    }
}
