//! Words sorted into options and operands by the grammar of an entry.

use crate::interpreter::{Arguments, Value};
use checkrein_catalogue::{CommandSource, Condition, Conditions, Grammar, Pick, Program, WordSelection};

/// What is known about the options of a program or subcommand, with what it has from its parents.
///
/// Lists, not sets: they are short, made for each call anew, and mostly asked once.
#[derive(Debug, Clone, Default)]
pub(super) struct Options<'a> {
    pub(super) grammar: Grammar,
    values: Vec<&'a str>,
    attached: Vec<&'a str>,
    known: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// The options of an entry inside those of its parent.
    pub(super) fn of(program: &'a Program, parent: Option<&Self>) -> Self {
        let mut options = parent.cloned().unwrap_or_default();
        if let Some(grammar) = program.grammar {
            options.grammar = grammar;
        }
        options.values.retain(|name| !program.flags.contains(name) && !program.attached.contains(name));
        options.attached.retain(|name| !program.flags.contains(name));
        options.values.extend(program.values.iter());
        options.attached.extend(program.attached.iter());
        options.known.extend(program.values.iter());
        options.known.extend(program.attached.iter());
        options.known.extend(program.flags.iter());
        for clause in &program.clauses {
            options.know_conditions(&clause.conditions);
            options.know_list(&clause.recursive);
            options.know_selection(&clause.target);
        }
        for run in &program.runs {
            options.know_conditions(&run.conditions);
            match &run.what {
                CommandSource::Words(selection)
                | CommandSource::Text(selection)
                | CommandSource::Line(selection)
                | CommandSource::File(selection)
                | CommandSource::Source(selection)
                | CommandSource::Code(selection) => options.know_selection(selection),
                CommandSource::Input(_) => {}
            }
            options.know_list(&run.clears);
            options.know_list(&run.purifies);
            run.changes.iter().for_each(|changes| options.know_selection(changes));
        }
        options
    }

    fn know_conditions(&mut self, conditions: &'a Conditions) {
        self.know_list(&conditions.when);
        self.know_list(&conditions.all);
        self.know_list(&conditions.unless);
    }

    fn know_list(&mut self, list: &'a [Condition]) {
        for condition in list {
            match condition {
                Condition::Option(name) | Condition::Value(name, _) => {
                    self.known.push(name);
                }
                Condition::Always
                | Condition::Operands
                | Condition::NoOperands
                | Condition::Operand(_)
                | Condition::Input
                | Condition::NoInput
                | Condition::Shown => {}
            }
        }
    }

    fn know_selection(&mut self, selection: &'a WordSelection) {
        for mut pick in &selection.0 {
            while let Pick::Below(_, inner) = pick {
                pick = inner;
            }
            match pick {
                Pick::Option(names) | Pick::Options(names) | Pick::Setting(names, _) => {
                    self.known.extend(names.iter());
                }
                Pick::None
                | Pick::Operands(_)
                | Pick::Variable(_)
                | Pick::Cwd(_)
                | Pick::Path(_)
                | Pick::Behind(_)
                | Pick::Below(..)
                | Pick::Text(_) => {}
            }
        }
    }

    /// Whether an option was given that is not among these.
    pub(super) fn lack_one_of(&self, arguments: &Arguments) -> bool {
        arguments.options.iter().any(|(name, _)| {
            !self.known.contains(&name.as_str()) && !matches!(name.as_str(), "--help" | "--version")
        })
    }

    /// The full name of an option that may be shortened: itself when known, else the only known one that begins so.
    fn full<'b>(&'b self, given: &'b str) -> &'b str {
        if self.known.contains(&given) || !given.starts_with("--") || given.len() < 3 {
            return given;
        }
        let mut candidates = self.known.iter().filter(|known| known.starts_with(given));
        match candidates.next() {
            // A name may stand in the list several times.
            Some(first) if candidates.all(|other| other == first) => first,
            Some(_) | None => given,
        }
    }
}

/// What a sorter found in front of the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// All words were sorted.
    End,
    /// The word at this index is the first operand; it is not sorted yet.
    Operand(usize),
}

impl Options<'_> {
    /// Whether a word is an option that begins with `+`, of a program that knows such: `cargo +nightly build`.
    fn is_plus_option(&self, word: &Value) -> bool {
        word.as_exact().is_some_and(|text| text.starts_with('+'))
            && self.known.iter().any(|known| known.starts_with('+'))
    }
}

/// Sorts words into options and operands, starting at `from`. With `until_operand`, stops in front of the first operand.
pub(super) fn sort(
    words: &[Value],
    from: usize,
    options: &Options<'_>,
    until: Until,
    into: &mut Arguments,
) -> Stop {
    let mut index = from;
    let mut only_operands = options.grammar == Grammar::Raw;
    while let Some(word) = words.get(index) {
        if !only_operands && options.is_plus_option(word) {
            into.options.push((word.known_start(), None));
            index += 1;
            continue;
        }
        let option = if only_operands { None } else { option_text(word) };
        let Some(text) = option else {
            if until == Until::Operand {
                return Stop::Operand(index);
            }
            if !only_operands && may_be_option(word) {
                into.uncertain = true;
            }
            if options.grammar == Grammar::Posix {
                only_operands = true;
            }
            into.operands.push(word.clone());
            index += 1;
            continue;
        };
        index += 1;
        if text == "--" {
            only_operands = true;
            continue;
        }
        let taken = match options.grammar {
            Grammar::Dash => dash_option(&text, word, words.get(index), options, into),
            Grammar::Gnu | Grammar::Posix | Grammar::Raw => {
                gnu_option(&text, word, words.get(index), options, into)
            }
        };
        if taken == Taken::NextWord {
            index += 1;
        }
    }
    Stop::End
}

/// How far words are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// To the end.
    End,
    /// To the first operand.
    Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    NextWord,
}

/// The text of a word that is an option for sure, as far as it is known.
fn option_text(word: &Value) -> Option<String> {
    let text = match word {
        Value::Exact(text) => text.clone(),
        Value::Between { prefix, .. } => prefix.clone(),
        // Alternatives that are all options are told by the first: rare, and the effects are joined elsewhere.
        Value::AnyOf(texts) if texts.iter().all(|text| text.starts_with('-') && text.len() > 1) => {
            texts.first()?.clone()
        }
        Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => return None,
    };
    (text.starts_with('-') && text.len() > 1).then_some(text)
}

fn may_be_option(word: &Value) -> bool {
    match word {
        Value::Exact(_) => false,
        Value::AnyOf(texts) => texts.iter().any(|text| text.starts_with('-')),
        Value::Between { prefix, .. } => prefix.is_empty(),
        Value::Glob(pattern) => pattern.starts_with('-'),
        Value::Unknown => true,
    }
}

/// What follows the first `cut` bytes of a word.
fn rest_of(word: &Value, cut: usize) -> Value {
    let tail = |text: &str| text.get(cut..).unwrap_or_default().to_owned();
    match word {
        Value::Exact(text) => Value::Exact(tail(text)),
        Value::AnyOf(texts) => Value::one_of(texts.iter().map(|text| tail(text)).collect()),
        Value::Glob(pattern) => Value::Glob(tail(pattern)),
        Value::Between { prefix, suffix } => {
            let (prefix, suffix) = (tail(prefix), suffix.clone());
            if prefix.is_empty() && suffix.is_empty() {
                Value::Unknown
            } else {
                Value::Between { prefix, suffix }
            }
        }
        Value::Unknown => Value::Unknown,
    }
}

/// `--name=value` as its name and its value; the value is of the word, of which not all may be known.
fn name_and_value<'text>(text: &'text str, word: &Value) -> (&'text str, Option<Value>) {
    match text.split_once('=') {
        Some((name, _)) => (name, Some(rest_of(word, name.len() + 1))),
        None => (text, None),
    }
}

fn gnu_option(
    text: &str,
    word: &Value,
    next: Option<&Value>,
    options: &Options<'_>,
    into: &mut Arguments,
) -> Taken {
    let (name, attached) = name_and_value(text, word);
    let full = options.full(name).to_owned();
    // An entry need not name every option that stands alone: what looks like the beginning of one with a value takes no option for it.
    let is_option = next.and_then(Value::as_exact).is_some_and(|next| next.starts_with("--"));
    if full != name && is_option && attached.is_none() && options.values.contains(&full.as_str()) {
        into.options.push((name.to_owned(), None));
        return Taken::Nothing;
    }
    if text.starts_with("--") || (options.known.contains(&full.as_str()) && name.len() > 2) {
        return long_option(full, attached, next, options, into);
    }
    bundle(text, word, next, options, into)
}

fn dash_option(
    text: &str,
    word: &Value,
    next: Option<&Value>,
    options: &Options<'_>,
    into: &mut Arguments,
) -> Taken {
    let (name, attached) = name_and_value(text, word);
    // Tools of this family take both dashes for one: `-force` and `--force`.
    let other = name.strip_prefix("--").map(|bare| format!("-{bare}")).or_else(|| Some(format!("-{name}")));
    let name = match other {
        Some(other) if !options.known.contains(&name) && options.known.contains(&other.as_str()) => other,
        _ => name.to_owned(),
    };
    long_option(name, attached, next, options, into)
}

fn long_option(
    name: String,
    attached: Option<Value>,
    next: Option<&Value>,
    options: &Options<'_>,
    into: &mut Arguments,
) -> Taken {
    if attached.is_none() && options.values.contains(&name.as_str()) {
        into.options.push((name, next.cloned()));
        return Taken::NextWord;
    }
    into.options.push((name, attached));
    Taken::Nothing
}

fn bundle(
    text: &str,
    word: &Value,
    next: Option<&Value>,
    options: &Options<'_>,
    into: &mut Arguments,
) -> Taken {
    // A count with its unit, as `head -60c` of old: nothing of it waits for another word.
    let count = text.trim_start_matches('-').trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_count = text.len() > count.len() + 1 && !count.is_empty();
    for (place, letter) in text.char_indices().skip(1) {
        let name = format!("-{letter}");
        let rest = rest_of(word, place + letter.len_utf8());
        let empty = rest == Value::exact("");
        if options.values.contains(&name.as_str()) && !(is_count && empty) {
            let (value, taken) =
                if empty { (next.cloned(), Taken::NextWord) } else { (Some(rest), Taken::Nothing) };
            into.options.push((name, value));
            return taken;
        }
        if options.attached.contains(&name.as_str()) {
            into.options.push((name, (!empty).then_some(rest)));
            return Taken::Nothing;
        }
        // `-o=value` of tools that are lax about their shorts.
        if letter == '=' {
            if let Some((_, value)) = into.options.last_mut() {
                *value = Some(rest);
            }
            return Taken::Nothing;
        }
        into.options.push((name, None));
    }
    if !matches!(word, Value::Exact(_)) {
        into.uncertain = true;
    }
    Taken::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_catalogue::{Author, SourceFile};

    fn sorted(entry: &str, words: &[&str]) -> String {
        let text =
            format!("[[program]]\nnames=[\"x\"]\nsummary=\"s\"\nexamples=[\"x =>\"]\neffects=[]\n{entry}");
        let program =
            SourceFile::parse(&text, "t").unwrap().compile(&text, "t", Author::Person).unwrap().remove(0);
        let words: Vec<Value> = words.iter().map(|word| Value::exact(*word)).collect();
        let mut arguments = Arguments::default();
        sort(&words, 0, &Options::of(&program, None), Until::End, &mut arguments);
        let options: Vec<String> = arguments
            .options
            .iter()
            .map(|(name, value)| match value {
                Some(value) => format!("{name}={}", value.as_exact().unwrap()),
                None => name.clone(),
            })
            .collect();
        let operands: Vec<&str> = arguments.operands.iter().map(|value| value.as_exact().unwrap()).collect();
        format!("{} | {}", options.join(" "), operands.join(" "))
    }

    #[test]
    fn gnu_words() {
        let entry = "values=[\"-o\",\"--output\"]\nattached=[\"-i\",\"--color\"]\nflags=[\"--recursive\",\"--remove\",\"-name\"]";
        assert_eq!(sorted(entry, &["-rf", "a", "-v", "b"]), "-r -f -v | a b");
        assert_eq!(sorted(entry, &["-rofile", "a"]), "-r -o=file | a");
        assert_eq!(sorted(entry, &["-ro", "file", "a"]), "-r -o=file | a");
        assert_eq!(sorted(entry, &["--output", "f", "--output=g"]), "--output=f --output=g | ");
        assert_eq!(sorted(entry, &["-i.bak", "x", "-i", "y", "--color"]), "-i=.bak -i --color | x y");
        assert_eq!(sorted(entry, &["--rec", "--re", "--out=f"]), "--recursive --re --output=f | ");
        assert_eq!(sorted(entry, &["-v", "--", "-r", "--"]), "-v | -r --");
        assert_eq!(sorted(entry, &["-", "-name", "x"]), "-name | - x");
    }

    #[test]
    fn other_grammars() {
        assert_eq!(
            sorted("options=\"posix\"\nvalues=[\"-u\"]", &["-u", "me", "cmd", "-rf"]),
            "-u=me | cmd -rf"
        );
        assert_eq!(sorted("options=\"raw\"", &["-rf", "--x"]), " | -rf --x");
        assert_eq!(
            sorted(
                "options=\"dash\"\nvalues=[\"-target\"]\nflags=[\"-force\"]",
                &["-target", "a", "--force", "-target=b"]
            ),
            "-target=a -force -target=b | "
        );
    }

    #[test]
    fn unknown_words_are_operands_and_make_uncertain() {
        let words =
            [Value::Unknown, Value::Between { prefix: "--output=".to_owned(), suffix: String::new() }];
        let mut arguments = Arguments::default();
        sort(&words, 0, &Options::default(), Until::End, &mut arguments);
        assert!(arguments.uncertain);
        assert_eq!(arguments.operands, [Value::Unknown]);
        assert_eq!(arguments.options, [("--output".to_owned(), Some(Value::Unknown))]);
    }
}
