//! The ways in which a written function is made into a stub.

use std::ops::RangeInclusive;

use checkrein_gates::{FunctionSpan, SourceLanguage};

use super::idioms::{Idioms, idioms};

/// Declares the ways in one table, with their names.
macro_rules! ways {
    ($($(#[$doc:meta])* $way:ident $name:literal,)*) => {
        /// A way to leave a function unwritten.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Way {
            $($(#[$doc])* $way,)*
        }

        impl Way {
            pub(super) const ALL: &[Self] = &[$(Self::$way,)*];

            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$way => $name,)*
                }
            }
        }
    };
}

ways! {
    /// What the language has for it.
    Unwritten "unwritten",
    /// An error in free words.
    Error "error",
    /// A mark and a value.
    Mark "mark",
    /// A comment in free words and a value.
    Words "words",
    /// Words behind a value, on its line.
    WordsBehind "words_behind",
    /// Output that says it, and a value.
    Print "print",
    /// The first half, and a mark for the rest.
    HalfMark "half_mark",
    /// The first half, and free words for the rest.
    HalfWords "half_words",
    /// The first half, and dots for the rest.
    Elided "elided",
    /// Made-up data with words.
    CannedWords "canned_words",
    /// A value before the body, with words.
    SkippedWords "skipped_words",
    /// The body as comments, and a value.
    Commented "commented",
    /// A value, and a pause before it.
    Sleep "sleep",
    /// A line of log, and a value.
    Log "log",
    /// Made-up data.
    Canned "canned",
    /// An empty collection.
    Collection "collection",
    /// A value.
    Value "value",
    /// The argument as it came.
    Argument "argument",
    /// A value before the body.
    Skipped "skipped",
    /// Nothing.
    Nothing "nothing",
}

const MARKS: [&str; 6] = [
    "TODO: implement",
    "TODO",
    concat!("FIX", "ME: not implemented yet"),
    "TODO: add real logic here",
    "XXX implement this",
    "TODO(team): finish",
];
const ERRORS: [&str; 8] = [
    "not implemented",
    "this is not supported yet",
    "coming soon",
    "still to be written",
    "placeholder",
    "implement me",
    "work in progress",
    "left for the next iteration",
];
const WORDS: [&str; 16] = [
    "Placeholder until the real thing is there",
    "For now we just return a default",
    "This is a stub",
    "Simplified version, the full logic comes later",
    "Not done yet",
    "Real implementation goes here",
    "Dummy value so that callers can go on",
    "Skipped for the moment, to be filled in",
    "We will do the actual work in a follow-up",
    "Temporary: always the same answer",
    "Minimal version for the demo",
    "Left out here for brevity",
    "Nobody has written this part yet",
    "Pretend that it worked",
    "Hardcoded until the backend is ready",
    "Would normally compute the result here",
];
const RESTS: [&str; 10] = [
    "The remaining steps come later",
    "The rest is still missing",
    "Other cases are left out for now",
    "Further handling to be added",
    "The actual update is not done yet",
    "Everything below still has to be written",
    "In a real version the result would be validated and stored here",
    "More to come",
    "Remaining logic omitted",
    "Then it would be written back",
];
const ELISIONS: [&str; 5] = [
    "... rest of the function",
    "...",
    "... existing code ...",
    "rest of the code unchanged",
    "(same as before)",
];
const PRINTS: [&str; 6] = [
    "not implemented",
    "TODO",
    "This feature is not available yet",
    "would do the work here",
    "stub called",
    "simulating the operation",
];

fn pick<'t>(all: &[&'t str], number: usize) -> &'t str {
    all.get(number % all.len().max(1)).copied().unwrap_or_default()
}

/// A file with one function made into a stub, and the lines of that function; `None` where the way does not fit it.
pub(super) fn made_into(
    way: Way,
    number: usize,
    language: SourceLanguage,
    text: &str,
    span: &FunctionSpan,
) -> Option<(String, RangeInclusive<usize>)> {
    let words = idioms(language);
    let body = Body::of(language, text, span)?;
    let value = value(language, &words, span);
    let give = |value: &str| {
        if value.is_empty() { String::new() } else { words.give.replace("VALUE", value) }
    };
    let comment = |said: &str| format!("{} {said}", words.comment);
    let plain = match &value {
        Result::Known(value) => Some(give(value)),
        Result::Nothing => Some(String::new()),
        Result::Unknown => None,
    };
    let lines: Vec<String> = match way {
        Way::Unwritten => vec![pick(words.unwritten, number).to_owned()],
        Way::Error => vec![words.error.replace("TEXT", pick(&ERRORS, number))],
        Way::Mark => vec![comment(pick(&MARKS, number)), plain?],
        Way::Words => vec![comment(pick(&WORDS, number)), plain?],
        Way::WordsBehind => {
            let plain = plain.filter(|plain| !plain.is_empty())?;
            vec![format!("{plain}  {}", comment(pick(&WORDS, number)))]
        }
        Way::Print => vec![words.print.replace("TEXT", pick(&PRINTS, number)), plain?],
        Way::HalfMark | Way::HalfWords | Way::Elided => {
            let said = match way {
                Way::HalfMark => pick(&MARKS, number),
                Way::HalfWords => pick(&RESTS, number),
                _ => pick(&ELISIONS, number),
            };
            vec![body.first_half(text, span)?, comment(said), plain?]
        }
        Way::CannedWords => vec![comment(pick(&WORDS, number)), give(some(words.canned)?)],
        Way::SkippedWords => {
            let plain = plain.filter(|plain| !plain.is_empty() && words.give != "VALUE")?;
            vec![comment(pick(&WORDS, number)), plain, body.inside(text).to_owned()]
        }
        Way::Commented => {
            let commented: Vec<String> = body
                .inside(text)
                .lines()
                .map(|line| {
                    let line = line.strip_prefix(&body.indent).unwrap_or(line);
                    format!("{} {line}", words.comment)
                })
                .collect();
            vec![commented.join("\n"), plain?]
        }
        Way::Sleep => vec![words.sleep.to_owned(), plain?],
        Way::Log => vec![words.log.replace("TEXT", &format!("{} called", span.name)), plain?],
        Way::Canned => vec![give(some(words.canned)?)],
        Way::Collection => {
            let fits = language != SourceLanguage::Rust || result_text(span)?.starts_with("Vec<");
            vec![give(some(words.collection).filter(|_| fits)?)]
        }
        Way::Value => vec![plain.filter(|plain| !plain.is_empty())?],
        Way::Argument => vec![give(&argument(language, span)?)],
        Way::Skipped => {
            let plain = plain.filter(|plain| !plain.is_empty() && words.give != "VALUE")?;
            vec![plain, body.inside(text).to_owned()]
        }
        Way::Nothing => {
            if !matches!(value, Result::Nothing) && language != SourceLanguage::Python {
                return None;
            }
            vec![if language == SourceLanguage::Python { "pass".to_owned() } else { String::new() }]
        }
    };
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    // A comment alone is no body where the language wants a statement.
    let is_bare = lines.iter().all(|line| line.trim_start().starts_with(words.comment));
    let lines = match language {
        SourceLanguage::Python if is_bare => [lines, vec!["pass".to_owned()]].concat(),
        SourceLanguage::Shell if is_bare => [lines, vec![":".to_owned()]].concat(),
        _ => lines,
    };
    let made = body.with(text, &lines);
    let added = made.lines().count();
    let before = text.lines().count();
    let last = (span.lines.end() + added).checked_sub(before)?;
    (made != text && last >= *span.lines.start()).then(|| (made, *span.lines.start()..=last))
}

/// Where a body begins and ends, and how it is indented.
struct Body {
    /// What is replaced.
    start: usize,
    end: usize,
    indent: String,
    has_braces: bool,
    /// The indentation of the sign that closes it.
    outer: String,
}

impl Body {
    fn of(language: SourceLanguage, text: &str, span: &FunctionSpan) -> Option<Self> {
        let whole = text.get(span.body.clone())?;
        let first = span.statements.first()?;
        let line = text.get(..first.start)?.rsplit_once('\n').map_or("", |(_, line)| line);
        let indent: String = line.chars().take_while(|sign| sign.is_whitespace()).collect();
        // A body on the line of its header is too short to be of use.
        if line.trim() != "" {
            return None;
        }
        let has_braces = whole.starts_with('{') && whole.ends_with('}');
        let is_block = matches!(language, SourceLanguage::Python | SourceLanguage::Ruby);
        if !has_braces && !is_block {
            return None;
        }
        let header = text.lines().nth(span.lines.end() - 1).unwrap_or_default();
        let outer = header.chars().take_while(|sign| sign.is_whitespace()).collect();
        let (start, end) =
            if has_braces { (span.body.start + 1, span.body.end - 1) } else { (first.start, span.body.end) };
        Some(Self { start, end, indent, has_braces, outer })
    }

    fn inside<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default().trim()
    }

    /// The first half of the statements as they stand; at least one is kept and one goes.
    fn first_half(&self, text: &str, span: &FunctionSpan) -> Option<String> {
        let half = span.statements.len() / 2;
        let last = span.statements.get(half.checked_sub(1)?)?;
        let first = span.statements.first()?;
        // What stands behind it on its line belongs to it, such as a semicolon.
        let rest = text.get(last.end..self.end)?;
        let line = rest.split('\n').next().unwrap_or_default();
        Some(format!("{}{}", text.get(first.start..last.end)?, line.trim_end()))
    }

    fn with(&self, text: &str, lines: &[String]) -> String {
        let before = text.get(..self.start).unwrap_or_default();
        let after = text.get(self.end..).unwrap_or_default();
        let joined = lines
            .iter()
            .map(|line| {
                line.replace("\n# ", &format!("\n{}# ", self.indent))
                    .replace("\n// ", &format!("\n{}// ", self.indent))
            })
            .collect::<Vec<_>>()
            .join(&format!("\n{}", self.indent));
        if self.has_braces {
            format!("{before}\n{}{joined}\n{}{after}", self.indent, self.outer)
        } else {
            format!("{before}{joined}{after}")
        }
    }
}

/// What a function gives.
enum Result {
    /// Nothing.
    Nothing,
    /// This fits.
    Known(String),
    /// Nobody knows what fits.
    Unknown,
}

fn some(text: &'static str) -> Option<&'static str> {
    (!text.is_empty()).then_some(text)
}

/// The text of the result of a function in languages that name it.
fn result_text(span: &FunctionSpan) -> Option<String> {
    let (_, behind) = parameters(span)?;
    let behind = behind.split(" where").next().unwrap_or_default();
    let text = behind.trim().trim_start_matches("->").trim_start_matches(':').trim();
    Some(text.trim_end_matches('{').trim().to_owned())
}

/// The parameters of a function, and what stands behind them.
fn parameters(span: &FunctionSpan) -> Option<(String, String)> {
    let (_, behind) = span.header.rsplit_once(&format!("{}(", span.name)).or_else(|| {
        let (_, behind) = span.header.split_once(&span.name)?;
        behind.split_once('(')
    })?;
    let mut depth = 1_usize;
    for (place, sign) in behind.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((behind.get(..place)?.to_owned(), behind.get(place + 1..)?.to_owned()));
        }
    }
    None
}

fn value(language: SourceLanguage, words: &Idioms, span: &FunctionSpan) -> Result {
    use SourceLanguage as L;
    let known = |text: &str| Result::Known(text.to_owned());
    match language {
        L::Python | L::JavaScript | L::Php | L::Ruby | L::Shell => known(words.value),
        L::TypeScript | L::Tsx => match result_text(span).as_deref() {
            Some("void" | "") => Result::Nothing,
            Some("number") => known("0"),
            Some("string") => known("\"\""),
            Some("boolean") => known("false"),
            Some(other) if other.ends_with("[]") => known("[]"),
            Some(other) if other.starts_with("Promise<") => known("Promise.resolve(undefined as any)"),
            Some(_) | None => known("null as any"),
        },
        L::Rust => match result_text(span).as_deref() {
            None => Result::Unknown,
            Some("") => Result::Nothing,
            Some("bool") => known("false"),
            Some("String") => known("String::new()"),
            Some("&str" | "&'static str") => known("\"\""),
            Some("usize" | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "isize") => {
                known("0")
            }
            Some(other) if other.starts_with("Option<") => known("None"),
            Some(other) if other.starts_with("Vec<") => known("Vec::new()"),
            Some(other) if other.starts_with("Result<()") || other.starts_with("io::Result<()") => {
                known("Ok(())")
            }
            Some(other) if other.contains("Result<") => known("Ok(Default::default())"),
            Some(_) => known("Default::default()"),
        },
        L::Go => match result_text(span).as_deref() {
            Some("") => Result::Nothing,
            Some("error") => known("nil"),
            Some("bool") => known("false"),
            Some("string") => known("\"\""),
            Some("int" | "int64" | "uint64" | "float64") => known("0"),
            Some(other) if other.starts_with(['*', '[']) || other.starts_with("map[") => known("nil"),
            Some(other)
                if other.starts_with('(')
                    && other.ends_with(", error)")
                    && other.matches(',').count() == 1 =>
            {
                match other.trim_start_matches('(').split(',').next() {
                    Some("bool") => known("false, nil"),
                    Some("string") => known("\"\", nil"),
                    Some("int" | "int64") => known("0, nil"),
                    Some(one) if one.starts_with(['*', '[']) => known("nil, nil"),
                    _ => Result::Unknown,
                }
            }
            Some(_) | None => Result::Unknown,
        },
        L::Java | L::CSharp | L::C | L::Cpp => before_name(span, words),
    }
}

/// The result of languages that write it before the name.
fn before_name(span: &FunctionSpan, words: &Idioms) -> Result {
    let Some((before, _)) = span.header.split_once(&format!("{}(", span.name)) else {
        return Result::Unknown;
    };
    let line = before.lines().last().unwrap_or(before).trim();
    if line.ends_with('*') {
        return Result::Known(if words.value == "default" { "null" } else { "NULL" }.to_owned());
    }
    let known = |text: &str| Result::Known(text.to_owned());
    match line.split_whitespace().last() {
        Some("void") => Result::Nothing,
        Some("boolean" | "bool") => known("false"),
        Some("int" | "long" | "short" | "size_t" | "char" | "byte" | "float" | "double" | "unsigned") => {
            known("0")
        }
        Some("String" | "Object" | "string") => known("null"),
        Some(other) if other.starts_with("List<") || other.starts_with("Map<") => known("null"),
        // A constructor gives nothing, and says so by having no type.
        Some(_) | None => Result::Unknown,
    }
}

/// The name of the first argument that is no receiver.
fn argument(language: SourceLanguage, span: &FunctionSpan) -> Option<String> {
    use SourceLanguage as L;
    let (all, _) = parameters(span)?;
    let mut each = all.split(',').map(str::trim).filter(|one| !one.is_empty());
    let first = each.find(|one| {
        let word = one.trim_start_matches(['&', '*', '\'']).split([':', ' ', '=']).next().unwrap_or_default();
        !["self", "cls", "mut"].contains(&word) && !one.contains("self")
    })?;
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|sign| sign.is_alphanumeric() || sign == '_' || sign == '$')
    };
    let word = match language {
        L::Java | L::CSharp | L::C | L::Cpp => {
            first.split([' ', '*', '&']).next_back().unwrap_or_default().trim_end_matches("[]")
        }
        L::Php => first.split(' ').find(|word| word.starts_with('$'))?,
        L::Shell => return None,
        _ => first.split([':', ' ', '=', '?']).next().unwrap_or_default(),
    };
    // The type of the argument is that of the result only where none is named, or both are the same.
    let fits = match language {
        L::Python | L::JavaScript | L::Php | L::Ruby => true,
        _ => result_text(span).is_some_and(|result| {
            !result.is_empty() && first.split(':').nth(1).is_some_and(|own| own.trim() == result)
        }),
    };
    (is_word(word) && fits).then(|| word.to_owned())
}
