//! Text as it is meant for people, without what steers a terminal (ECMA-48).

use std::borrow::Cow;

/// The text without escape sequences; those that are cut off at its end go too.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{9d}']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{9b}' => control(&mut rest),
            '\u{9d}' => words(&mut rest),
            '\u{1b}' => match rest.next() {
                Some('[') => control(&mut rest),
                // Commands of the operating system, and strings of other kinds.
                Some(']' | 'P' | 'X' | '^' | '_') => words(&mut rest),
                // Which alphabet is meant: one letter more.
                Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
                    rest.next();
                }
                Some(_) | None => {}
            },
            letter => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

/// Parameters, and the letter that ends them. What cannot stand in there ends it too, and stays.
fn control(rest: &mut std::iter::Peekable<impl Iterator<Item = char>>) {
    while let Some(letter) = rest.next_if(|letter| (' '..='~').contains(letter)) {
        if ('@'..='~').contains(&letter) {
            return;
        }
    }
}

/// Words up to their end: BEL, or ESC and a backslash.
fn words(rest: &mut std::iter::Peekable<impl Iterator<Item = char>>) {
    while let Some(letter) = rest.next() {
        match letter {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_steers_a_terminal_goes_and_all_else_stays() {
        for (text, plain) in [
            ("plain [1m text", "plain [1m text"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\!", "link!"),
            ("a\u{1b}(Bb", "ab"),
            ("a\u{9b}2Kb", "ab"),
            ("\u{1b}[31\nnext", "\nnext"),
            ("cut \u{1b}[", "cut "),
            ("cut \u{1b}", "cut "),
        ] {
            assert_eq!(without(text), plain, "{text:?}");
        }
    }
}
