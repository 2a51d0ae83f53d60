//! Orders in other languages than English: what takes earlier instructions back, and what is to be kept from the user.
//!
//! The phrases are ours: the imperative in the forms in which somebody is told something, with what it is about on the side where the language
//! has it.

use super::Phrase;

/// Phrases of which one is enough: earlier instructions are taken back.
pub(super) const PLAIN: &[Phrase] = &[
    // German; the verb stands at the end where it is no imperative.
    &[GERMAN_LEAVE, GERMAN_EARLIER, GERMAN_ORDERS],
    &[GERMAN_EARLIER, GERMAN_ORDERS, &["ignorieren", "missachten", "vergessen", "verwerfen"]],
    // French, with the adjective on either side.
    &[FRENCH_LEAVE, FRENCH_ORDERS, FRENCH_EARLIER],
    &[FRENCH_LEAVE, FRENCH_EARLIER, FRENCH_ORDERS],
    // Spanish, likewise.
    &[SPANISH_LEAVE, SPANISH_ORDERS, SPANISH_EARLIER],
    &[SPANISH_LEAVE, SPANISH_EARLIER, SPANISH_ORDERS],
    // Russian.
    &[RUSSIAN_LEAVE, RUSSIAN_EARLIER, RUSSIAN_ORDERS],
];

/// Phrases of which two must stand together: something is kept from the user, or a text turns to an agent.
pub(super) const DOUBTFUL: &[Phrase] = &[
    &[
        &["ohne"],
        &["nutzer", "benutzer", "anwender"],
        &["sagen", "informieren", "erwähnen", "fragen", "mitzuteilen"],
    ],
    &[
        &["sag", "sage", "erzähle", "verrate", "teile"],
        &["nutzer", "benutzer", "anwender"],
        &["nichts", "nicht"],
    ],
    &[&["wichtig", "achtung", "anweisung", "nachricht", "hinweis"], &["an", "für"], GERMAN_AGENT],
    &[&["sans"], &["informer", "prévenir", "avertir", "dire"], FRENCH_USER],
    &[&["ne"], &["dis", "dites", "mentionne", "mentionnez", "parle"], FRENCH_USER],
    &[&["important", "attention", "message", "instruction"], &["à", "pour"], FRENCH_AGENT],
    &[&["sin"], &["informar", "avisar", "decir", "decirle", "mencionar"], SPANISH_USER],
    &[&["no"], &["digas", "diga", "menciones", "informes", "avises"], SPANISH_USER],
    &[&["importante", "atención", "mensaje", "instrucción"], &["para"], SPANISH_AGENT],
    &[&["не"], &["говори", "говорите", "сообщай", "сообщайте", "упоминай"], RUSSIAN_USER],
    &[&["важно", "внимание", "сообщение", "инструкция"], &["для"], RUSSIAN_AGENT],
];

const GERMAN_LEAVE: &[&str] = &[
    "ignoriere",
    "ignorier",
    "ignorieren",
    "missachte",
    "vergiss",
    "vergesst",
    "vergessen",
    "verwirf",
    "übergehe",
];
const GERMAN_EARLIER: &[&str] = &[
    "vorherigen",
    "vorherige",
    "bisherigen",
    "bisherige",
    "früheren",
    "frühere",
    "obigen",
    "obige",
    "vorigen",
    "vorangegangenen",
    "vorangehenden",
    "ursprünglichen",
];
const GERMAN_ORDERS: &[&str] =
    &["anweisungen", "anweisung", "instruktionen", "vorgaben", "regeln", "befehle", "aufträge", "aufgaben"];
const GERMAN_AGENT: &[&str] =
    &["ki", "ki-agent", "ki-agenten", "ki-assistent", "ki-assistenten", "assistenten", "agenten", "llm"];

const FRENCH_LEAVE: &[&str] = &[
    "ignore",
    "ignorez",
    "ignorer",
    "oublie",
    "oubliez",
    "oublier",
    "néglige",
    "négligez",
    "annule",
    "annulez",
];
const FRENCH_ORDERS: &[&str] = &["instructions", "consignes", "directives", "ordres"];
const FRENCH_EARLIER: &[&str] =
    &["précédentes", "précédents", "antérieures", "ci-dessus", "initiales", "préalables"];
const FRENCH_USER: &[&str] = &["utilisateur", "l'utilisateur", "utilisatrice", "l'utilisatrice"];
const FRENCH_AGENT: &[&str] = &["l'agent", "agent", "l'assistant", "assistant", "l'ia", "ia"];

const SPANISH_LEAVE: &[&str] = &[
    "ignora", "ignore", "ignoren", "ignorad", "ignorar", "olvida", "olvide", "olvidar", "descarta",
    "descarte",
];
const SPANISH_ORDERS: &[&str] = &["instrucciones", "indicaciones", "órdenes", "directrices"];
const SPANISH_EARLIER: &[&str] = &["anteriores", "previas", "precedentes", "iniciales", "originales"];
const SPANISH_USER: &[&str] = &["usuario", "usuaria"];
const SPANISH_AGENT: &[&str] = &["agente", "asistente", "ia"];

const RUSSIAN_LEAVE: &[&str] = &[
    "игнорируй",
    "игнорируйте",
    "игнорировать",
    "проигнорируй",
    "проигнорируйте",
    "забудь",
    "забудьте",
    "отбрось",
];
const RUSSIAN_EARLIER: &[&str] =
    &["предыдущие", "прежние", "прошлые", "вышеуказанные", "вышеприведённые", "исходные", "предшествующие"];
const RUSSIAN_ORDERS: &[&str] = &["инструкции", "указания", "команды", "правила", "распоряжения"];
const RUSSIAN_USER: &[&str] = &["пользователю", "пользователь", "пользователя"];
const RUSSIAN_AGENT: &[&str] = &["агента", "ассистента", "ии"];

/// A phrase of a language that writes no blanks between words: parts in their order, each one of several texts.
type UnspacedPhrase = &'static [&'static [&'static str]];

/// Such phrases in Chinese, and in Japanese, where the verb stands last.
const UNSPACED: &[UnspacedPhrase] = &[
    &[
        &["忽略", "无视", "無視", "忘记", "忘記", "忽視", "忽视", "不要理会"],
        &["之前", "以前", "先前", "上面", "以上", "前面", "此前", "原有", "原来"],
        &["指令", "指示", "提示词", "提示詞", "系统提示", "命令"],
    ],
    &[
        &["以前の", "これまでの", "前の", "上記の", "今までの", "先ほどの", "従来の", "元の"],
        &["指示", "命令", "指令", "プロンプト"],
        &["無視し", "無視する", "無視せ", "忘れて", "忘れろ", "破棄し"],
    ],
];
/// How many letters may stand between two parts of one (ours).
const BETWEEN: usize = 8;

/// Where a text in a language without blanks takes earlier instructions back; `None` where none does.
pub(super) fn unspaced(text: &str) -> Option<usize> {
    if text.is_ascii() {
        return None;
    }
    UNSPACED.iter().find_map(|phrase| {
        let first = phrase.first()?;
        let mut starts = first.iter().flat_map(|part| text.match_indices(part));
        starts
            .find(|(at, part)| follows(phrase.get(1..).unwrap_or_default(), text, at + part.len()))
            .map(|(at, _)| at)
    })
}

/// Whether the parts of a phrase follow from a place on.
fn follows(parts: &[&[&str]], text: &str, at: usize) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    let Some(behind) = text.get(at..) else { return false };
    let steps = behind.char_indices().map(|(step, _)| step).take(BETWEEN + 1);
    { steps }.any(|step| {
        let here = behind.get(step..).unwrap_or_default();
        let found = part.iter().find(|one| here.starts_with(**one));
        found.is_some_and(|one| follows(rest, text, at + step + one.len()))
    })
}
