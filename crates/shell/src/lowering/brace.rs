//! Brace expansion: `a{b,c}d`, `{1..10..2}`, nested, bounded.

use crate::tree::{Braces, Offered, ParameterExpansion, Part, Word};

/// Most words that one word may become. Ours.
const WORD_LIMIT: usize = 1000;

/// What brace expansion makes of a word.
pub(super) enum Expansion {
    /// The words, in order; a word that came out empty is gone, as in the shell.
    Words(Vec<Word>),
    /// There were too many: one word that stands for all of them.
    Widened(Word),
}

/// Whether it is worth the trouble of looking closer.
pub(super) fn may_expand(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Literal(text) => text.contains('{'),
        Part::Quoted(_)
        | Part::Bytes(_)
        | Part::DoubleQuoted(_)
        | Part::Parameter(_)
        | Part::CommandSubstitution(_)
        | Part::ProcessSubstitution(_, _)
        | Part::Arithmetic(_)
        | Part::Braces(_) => false,
    })
}

/// Expands the braces of a word. `names` are the parts that are `$name` right before a `{`: what a brace makes may
/// lengthen the name, as in `$x{a,b}`, which means `$xa $xb`. At most `budget` characters and parts are made; what was made is taken from it.
pub(super) fn expand(word: &Word, names: &[usize], budget: &mut usize) -> Expansion {
    let items = items_of(word, names);
    match expand_items(&items, budget) {
        Some(words) => Expansion::Words(
            words.into_iter().filter(|items| !items.is_empty()).map(|items| word_of(&items, word)).collect(),
        ),
        None => Expansion::Widened(widen(&items, word)),
    }
}

/// A character that may belong to a brace, or a part that never does.
#[derive(Clone, Copy)]
enum Item<'word> {
    Character(char),
    Part(&'word Part),
    /// `$name`, which takes up the letters that come to stand behind it.
    Name(&'word ParameterExpansion),
}

impl Item<'_> {
    fn is(self, wanted: char) -> bool {
        matches!(self, Self::Character(found) if found == wanted)
    }
}

fn items_of<'word>(word: &'word Word, names: &[usize]) -> Vec<Item<'word>> {
    let mut items = Vec::new();
    for (index, part) in word.parts.iter().enumerate() {
        match part {
            Part::Literal(text) => items.extend(text.chars().map(Item::Character)),
            Part::Parameter(parameter) if names.contains(&index) => {
                items.push(Item::Name(parameter));
            }
            Part::Quoted(_)
            | Part::Bytes(_)
            | Part::DoubleQuoted(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(_, _)
            | Part::Arithmetic(_)
            | Part::Braces(_) => items.push(Item::Part(part)),
        }
    }
    items
}

fn word_of(items: &[Item<'_>], original: &Word) -> Word {
    let mut parts: Vec<Part> = Vec::new();
    let mut name_is_open = false;
    for item in items {
        let lengthens = matches!(item, Item::Character(character)
            if name_is_open && (*character == '_' || character.is_ascii_alphanumeric()));
        name_is_open = lengthens || matches!(item, Item::Name(_));
        match item {
            Item::Character(character) => match parts.last_mut() {
                Some(Part::Parameter(parameter)) if lengthens => parameter.name.push(*character),
                Some(Part::Literal(text)) => text.push(*character),
                _ => parts.push(Part::Literal(character.to_string())),
            },
            Item::Part(part) => parts.push((*part).clone()),
            Item::Name(parameter) => parts.push(Part::Parameter(Box::new((*parameter).clone()))),
        }
    }
    Word { parts, span: original.span }
}

/// A brace that expands: where it opens and closes, and what it offers.
struct Brace {
    open: usize,
    close: usize,
    choice: Choice,
}

enum Choice {
    /// Positions of the commas.
    List(Vec<usize>),
    Sequence(Sequence),
}

/// Every way to choose one alternative of each brace. `None` when there are too many.
fn expand_items<'word>(items: &[Item<'word>], budget: &mut usize) -> Option<Vec<Vec<Item<'word>>>> {
    let mut words: Vec<Vec<Item<'word>>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(brace) = next_brace(items, at) {
        append(&mut words, items.get(at..brace.open)?, budget)?;
        let alternatives = match brace.choice {
            Choice::List(commas) => {
                let mut alternatives = Vec::new();
                let mut from = brace.open + 1;
                for to in commas.into_iter().chain([brace.close]) {
                    alternatives.extend(expand_items(items.get(from..to)?, budget)?);
                    from = to + 1;
                    if alternatives.len() > WORD_LIMIT {
                        return None;
                    }
                }
                alternatives
            }
            Choice::Sequence(sequence) => sequence.words(budget)?,
        };
        if words.len().saturating_mul(alternatives.len()) > WORD_LIMIT {
            return None;
        }
        let mut product = Vec::with_capacity(words.len() * alternatives.len());
        for word in &words {
            for alternative in &alternatives {
                *budget = budget.checked_sub(word.len() + alternative.len() + 1)?;
                let mut joined = word.clone();
                joined.extend_from_slice(alternative);
                product.push(joined);
            }
        }
        words = product;
        at = brace.close + 1;
    }
    append(&mut words, items.get(at..)?, budget)?;
    Some(words)
}

fn append<'word>(words: &mut [Vec<Item<'word>>], items: &[Item<'word>], budget: &mut usize) -> Option<()> {
    *budget = budget.checked_sub(words.len().checked_mul(items.len())?)?;
    for word in words {
        word.extend_from_slice(items);
    }
    Some(())
}

/// The first brace at or behind `from` that expands.
fn next_brace(items: &[Item<'_>], from: usize) -> Option<Brace> {
    (from..items.len())
        .filter(|&open| items.get(open).is_some_and(|item| item.is('{')))
        .find_map(|open| brace_at(items, open))
}

fn brace_at(items: &[Item<'_>], open: usize) -> Option<Brace> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (index, item) in items.iter().enumerate().skip(open) {
        match item {
            Item::Character('{') => depth += 1,
            Item::Character('}') => {
                depth -= 1;
                if depth == 0 {
                    let choice = if commas.is_empty() {
                        Choice::Sequence(Sequence::read(items.get(open + 1..index)?)?)
                    } else {
                        Choice::List(commas)
                    };
                    return Some(Brace { open, close: index, choice });
                }
            }
            Item::Character(',') if depth == 1 => commas.push(index),
            Item::Character(_) | Item::Part(_) | Item::Name(_) => {}
        }
    }
    None
}

/// `first..last` or `first..last..step`
struct Sequence {
    first: i64,
    last: i64,
    step: i64,
    form: Form,
}

enum Form {
    Letters,
    /// Numbers, filled with zeros up to this width.
    Numbers(usize),
}

impl Sequence {
    fn read(items: &[Item<'_>]) -> Option<Self> {
        let text: String = items
            .iter()
            .map(|item| match item {
                Item::Character(character) => Some(*character),
                Item::Part(_) | Item::Name(_) => None,
            })
            .collect::<Option<_>>()?;
        let mut pieces = text.split("..");
        let (first, last) = (pieces.next()?, pieces.next()?);
        let step: i64 = pieces.next().map_or(Some(1), |step| step.parse().ok())?;
        if pieces.next().is_some() {
            return None;
        }
        let (first, last, form) = match letter(first).zip(letter(last)) {
            Some((first, last)) => (first, last, Form::Letters),
            None => (first.parse().ok()?, last.parse().ok()?, Form::Numbers(width(first, last))),
        };
        Some(Self { first, last, step: step.checked_abs()?.max(1), form })
    }

    fn words<'word>(&self, budget: &mut usize) -> Option<Vec<Vec<Item<'word>>>> {
        let distance = self.last.checked_sub(self.first)?.checked_abs()?;
        let count = usize::try_from(distance / self.step).ok()?.checked_add(1)?;
        if count > WORD_LIMIT {
            return None;
        }
        let step = if self.last < self.first { -self.step } else { self.step };
        let mut words = Vec::with_capacity(count);
        let mut value = self.first;
        for _ in 0..count {
            let text = match self.form {
                Form::Letters => u8::try_from(value).ok().map(char::from)?.to_string(),
                Form::Numbers(width) => format!("{value:0width$}"),
            };
            *budget = budget.checked_sub(text.len())?;
            words.push(text.chars().map(Item::Character).collect());
            value = value.saturating_add(step);
        }
        Some(words)
    }
}

/// Numbers are filled up to the longer of the two when one of them begins with a zero.
fn width(first: &str, last: &str) -> usize {
    let padded = [first, last].into_iter().any(|number| {
        let digits = number.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    });
    if padded { first.len().max(last.len()) } else { 0 }
}

fn letter(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    }
}

/// The word with [`Part::Braces`] in the place of every brace.
fn widen(items: &[Item<'_>], original: &Word) -> Word {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(brace) = next_brace(items, at) {
        parts.extend(word_of(items.get(at..brace.open).unwrap_or_default(), original).parts);
        let inside = items.get(brace.open..brace.close).unwrap_or_default();
        let is_of_names = |item: &Item<'_>| matches!(item, Item::Character(character) if !matches!(character, '/' | '.' | '~'));
        let offered = match brace.choice {
            Choice::Sequence(_) => Offered::Names,
            Choice::List(_) if inside.iter().all(is_of_names) => Offered::Names,
            Choice::List(_) => Offered::Anything,
        };
        let hidden: Vec<Item<'_>> = inside
            .iter()
            .filter(|item| match item {
                Item::Character(_) | Item::Part(Part::Quoted(_)) => false,
                Item::Part(_) | Item::Name(_) => true,
            })
            .copied()
            .collect();
        parts.push(Part::Braces(Braces { offered, hidden: word_of(&hidden, original).parts }));
        at = brace.close + 1;
    }
    parts.extend(word_of(items.get(at..).unwrap_or_default(), original).parts);
    Word { parts, span: original.span }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Span;

    fn word(parts: Vec<Part>) -> Word {
        Word { parts, span: Span::default() }
    }

    fn expanded(text: &str) -> String {
        let word = word(vec![Part::Literal(text.to_owned())]);
        let words = match expand(&word, &[], &mut 100_000) {
            Expansion::Words(words) => words,
            Expansion::Widened(word) => vec![word],
        };
        let text = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Braces(Braces { offered: Offered::Names, hidden }) if hidden.is_empty() => "*".to_owned(),
            Part::Braces(Braces { offered: Offered::Anything, hidden }) if hidden.is_empty() => {
                "**".to_owned()
            }
            other => panic!("{other:?}"),
        };
        let texts: Vec<_> =
            words.iter().map(|word| word.parts.iter().map(text).collect::<String>()).collect();
        texts.join(" ")
    }

    /// What `bash` 5.2 prints for `echo WORD`.
    #[test]
    fn braces_expand_as_in_the_shell() {
        for (text, words) in [
            ("a{b,c}d", "abd acd"),
            ("{1..5}", "1 2 3 4 5"),
            ("{01..10..3}", "01 04 07 10"),
            ("{001..3}", "001 002 003"),
            ("{-01..2}", "-01 000 001 002"),
            ("{-3..3..2}", "-3 -1 1 3"),
            ("{5..1..-2}", "5 3 1"),
            ("{1..2..0}", "1 2"),
            ("{a..e}", "a b c d e"),
            ("{z..a..5}", "z u p k f a"),
            ("x{1..2}{a,b}y", "x1ay x1by x2ay x2by"),
            ("/{etc,usr/{bin,lib}}", "/etc /usr/bin /usr/lib"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{a{b,c}}", "{ab} {ac}"),
            ("{a,b}}", "a} b}"),
            ("{{a,b}", "{a {b"),
            ("a{,b}", "a ab"),
            ("{,a}", "a"),
            ("{}", "{}"),
            ("{a}", "{a}"),
            ("{1..a}", "{1..a}"),
            ("{a..5}", "{a..5}"),
            ("{1..2..3..4}", "{1..2..3..4}"),
        ] {
            assert_eq!(expanded(text), words, "{text}");
        }
    }

    #[test]
    fn one_word_stands_for_too_many() {
        assert_eq!(expanded("log{1..1000}").split(' ').count(), 1000);
        assert_eq!(expanded("log{1..1001}.txt"), "log*.txt");
        assert_eq!(expanded("{1..9223372036854775807}"), "*");
        assert_eq!(expanded("{0..9}{0..9}{0..9}{0..9}"), "****");
        assert_eq!(expanded("{a,/}{0..9}{0..9}{0..9}"), "*****");
        assert_eq!(
            expanded("{-9223372036854775808..0..-9223372036854775808}"),
            "{-9223372036854775808..0..-9223372036854775808}"
        );
    }

    #[test]
    fn such_a_word_hides_no_substitution() {
        let word = word(vec![
            Part::Literal("{{1..5000},".to_owned()),
            Part::CommandSubstitution(Vec::new()),
            Part::Literal("}".to_owned()),
        ]);
        let Expansion::Widened(word) = expand(&word, &[], &mut 100_000) else {
            panic!("5001 words are too many");
        };
        let hidden = vec![Part::CommandSubstitution(Vec::new())];
        assert_eq!(word.parts, [Part::Braces(Braces { offered: Offered::Anything, hidden })]);
    }

    #[test]
    fn quoted_braces_and_commas_do_not_count() {
        let word = word(vec![
            Part::Literal("{a".to_owned()),
            Part::Quoted(",".to_owned()),
            Part::Literal("b}".to_owned()),
        ]);
        let Expansion::Words(words) = expand(&word, &[], &mut 100) else {
            panic!("one word is not too many");
        };
        assert_eq!(words, [word]);
    }
}
