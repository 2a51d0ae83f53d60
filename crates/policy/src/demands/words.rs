//! The words with which users forbid, and the deeds that they forbid, in English, German, French and Spanish (ours).
//!
//! One table and one reader: what a goal says of a deed, and what a clause of it demands, rest on the same words.

/// Words that forbid.
pub(super) const FORBIDDING: [&str; 20] = [
    "not",
    "don't",
    "dont",
    "never",
    "without",
    "avoid",
    "no",
    "nicht",
    "nie",
    "niemals",
    "ohne",
    "kein",
    "keine",
    "keinen",
    "ne",
    "jamais",
    "sans",
    "nunca",
    "jam\u{e1}s",
    "sin",
];

/// Words behind which nothing is forbidden, though a word that forbids stands before them: `don't forget to push`.
const REMINDING: [&str; 14] = [
    "forget",
    "hesitate",
    "fail",
    "miss",
    "vergiss",
    "vergessen",
    "z\u{f6}gere",
    "oublie",
    "oubliez",
    "h\u{e9}site",
    "h\u{e9}sitez",
    "olvides",
    "olvide",
    "dudes",
];

/// German forms behind which the word that forbids may stand: `pushe nicht`.
const BEFORE_NOT: [&str; 6] =
    ["pushe", "committe", "installiere", "ver\u{f6}ffentliche", "deploye", "l\u{f6}sche"];

/// Something that users forbid in words, and that is told by what a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BannedDeed {
    /// To push.
    Push,
    /// To commit.
    Commit,
    /// To install software.
    Install,
    /// To publish, to release, to deploy.
    Publish,
    /// To run tests.
    Test,
    /// To remove files.
    Delete,
}

impl BannedDeed {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Push, Self::Commit, Self::Install, Self::Publish, Self::Test, Self::Delete];

    /// The words that name it.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Push => &[
                "push", "pushing", "pushes", "pushen", "pushe", "pousse", "poussez", "pousser", "subas",
                "pushear",
            ],
            Self::Commit => &[
                "commit",
                "committing",
                "commits",
                "committen",
                "committe",
                "commite",
                "commitez",
                "commiter",
                "commitees",
            ],
            Self::Install => &[
                "install",
                "installing",
                "installieren",
                "installiere",
                "installe",
                "installez",
                "installer",
                "instales",
                "instalar",
            ],
            Self::Publish => &[
                "publish",
                "publishing",
                "release",
                "releasing",
                "deploy",
                "deploying",
                "ver\u{f6}ffentlichen",
                "ver\u{f6}ffentliche",
                "deployen",
                "deploye",
                "publie",
                "publiez",
                "publier",
                "d\u{e9}ploie",
                "d\u{e9}ployez",
                "d\u{e9}ployer",
                "publicar",
                "despliegues",
                "desplegar",
            ],
            Self::Test => &[
                "run",
                "running",
                "rerun",
                "execute",
                "ausf\u{fc}hren",
                "f\u{fc}hre",
                "starte",
                "lance",
                "lancez",
                "lancer",
                "ex\u{e9}cute",
                "ex\u{e9}cutez",
                "ex\u{e9}cuter",
                "ejecutes",
                "ejecuta",
                "ejecutar",
                "corras",
            ],
            Self::Delete => &[
                "delete",
                "deleting",
                "remove",
                "removing",
                "l\u{f6}schen",
                "l\u{f6}sche",
                "supprime",
                "supprimez",
                "supprimer",
                "borres",
                "borrar",
                "elimines",
                "eliminar",
            ],
        }
    }

    /// The words of which one must be near, where the deed is not told without.
    pub(super) fn objects(self) -> &'static [&'static str] {
        match self {
            Self::Test => &["tests", "test", "suite", "pruebas"],
            Self::Delete => &[
                "file", "files", "anything", "data", "dateien", "datei", "fichier", "fichiers", "archivos",
                "ficheros", "nada",
            ],
            Self::Push | Self::Commit | Self::Install | Self::Publish => &[],
        }
    }
}

/// Whether a text forbids a deed; `None` when it does not speak of it. Of several places the last decides.
pub fn forbids(text: &str, deed: BannedDeed) -> Option<bool> {
    /// A word that forbids stands at most so many words before the deed (ours): `do not yet push`, `without also committing`.
    const REACH: usize = 3;
    /// And at most so many behind it, where the language has it there.
    const BEHIND: usize = 2;
    let spoken = spoken_words(text);
    let objects = deed.objects();
    let is_named = |at: usize| {
        let near = at.saturating_sub(REACH + 1)..spoken.len().min(at + REACH + 2);
        let is_object = |word: &SpokenWord| objects.contains(&word.bare.as_str());
        spoken.get(at).is_some_and(|word| deed.words().contains(&word.bare.as_str()))
            && (objects.is_empty() || spoken.get(near).unwrap_or_default().iter().any(is_object))
    };
    let at = (0..spoken.len()).rev().find(|at| is_named(*at))?;
    // What stands before the end of a sentence speaks of something else.
    let before = |reach: usize| {
        let words = spoken.get(at.saturating_sub(reach)..at).unwrap_or_default();
        words.iter().rev().take_while(|word| !word.ends)
    };
    if before(REACH + 1).any(|word| REMINDING.contains(&word.bare.as_str())) {
        return Some(false);
    }
    let is_last = spoken.get(at).is_none_or(|word| word.ends || word.pauses);
    let behind: Vec<&str> = if is_last {
        Vec::new()
    } else {
        let words = spoken.get(at + 1..).unwrap_or_default().iter();
        words.take(BEHIND).map(|word| word.bare.as_str()).collect()
    };
    // `ne pousse que sur main` allows that.
    let is_only = behind.contains(&"que") && before(1).any(|word| word.bare == "ne");
    let follows = spoken.get(at).is_some_and(|word| BEFORE_NOT.contains(&word.bare.as_str()))
        && behind.contains(&"nicht");
    Some(!is_only && (follows || before(REACH).any(|word| FORBIDDING.contains(&word.bare.as_str()))))
}

/// A word of a text, as far as it matters what it stands beside.
struct SpokenWord {
    /// In small letters, without the marks around it.
    bare: String,
    /// Whether a sentence ends with it.
    ends: bool,
    /// Whether a clause does.
    pauses: bool,
}

fn spoken_words(text: &str) -> Vec<SpokenWord> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let mut all: Vec<SpokenWord> = Vec::new();
    for word in text.split_whitespace() {
        // `n'installe pas`
        let word = match word.strip_prefix("n'") {
            Some(rest) => {
                all.push(SpokenWord { bare: "ne".to_owned(), ends: false, pauses: false });
                rest
            }
            None => word,
        };
        let parts: Vec<&str> =
            word.split([',', ';', '(', ')', '"', '`']).filter(|part| !part.is_empty()).collect();
        let pauses = word.ends_with([',', ';', ')']);
        for (index, part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            all.push(SpokenWord {
                bare: part.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned(),
                ends: part.ends_with(['.', '!', '?', ':']),
                pauses: !is_last || pauses,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_forbids_in_words() {
        for (goal, expected) in [
            ("fix the parser, but do not push", Some(true)),
            ("Fix it. Don\u{2019}t push yet!", Some(true)),
            ("commit without pushing.", Some(true)),
            ("never ever push to main", Some(true)),
            ("do not touch the tests. Push when you are done", Some(false)),
            ("push it, please", Some(false)),
            ("do not push yet; once it is green, push", Some(false)),
            ("make the tests pass", None),
            ("press the pushbutton", None),
            // A reminder is no order to leave it.
            ("fix it and don't forget to push", Some(false)),
            ("don't hesitate to push", Some(false)),
            ("Vergiss nicht zu pushen", Some(false)),
            ("n'oublie pas de pousser", Some(false)),
            ("no olvides hacer push", Some(false)),
            // Other languages.
            ("Behebe den Fehler und pushe nicht", Some(true)),
            ("Bitte nicht pushen", Some(true)),
            ("Pushe, nicht mergen", Some(false)),
            ("ne pousse pas", Some(true)),
            ("ne pousse que sur main", Some(false)),
            ("corrige le bug sans pousser", Some(true)),
            ("arregla el fallo y no hagas push", Some(true)),
            ("avoid pushing", Some(true)),
        ] {
            assert_eq!(forbids(goal, BannedDeed::Push), expected, "{goal}");
        }
        for (goal, deed, expected) in [
            ("n'installe rien", BannedDeed::Install, Some(true)),
            ("Do not run the tests.", BannedDeed::Test, Some(true)),
            ("now run the tests", BannedDeed::Test, Some(false)),
            ("do not run the migration", BannedDeed::Test, None),
            ("you may delete files now", BannedDeed::Delete, Some(false)),
        ] {
            assert_eq!(forbids(goal, deed), expected, "{goal}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|[,.;:()\n\"]| push | not | n'| test | run ){0,60}") {
            for deed in BannedDeed::ALL {
                forbids(&text, deed);
            }
        }
    }
}
