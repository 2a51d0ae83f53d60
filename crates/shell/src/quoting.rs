//! Text as a word of the shell.

/// A text as one word: as it is when no character means anything to a shell, else in single quotes.
pub fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./=:@%+,".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Part, parse};

    #[test]
    fn a_quoted_text_is_one_word_again() {
        for text in ["", "plain-1.0", "two words", "it's", "$(rm -rf ~)", "a\nb", "`x`", "~", "*", "''", "\\"]
        {
            let parsed = parse(&format!("echo {}", quoted(text)));
            let Some(Command::Simple(simple)) =
                parsed.script.first().map(|statement| &statement.command).cloned()
            else {
                panic!("{text:?} is not one command")
            };
            let words: Vec<String> = simple
                .words
                .iter()
                .map(|word| {
                    let piece = |part: &Part| match part {
                        Part::Literal(piece) | Part::Quoted(piece) => piece.clone(),
                        other => panic!("{text:?} has {other:?}"),
                    };
                    word.parts.iter().map(piece).collect()
                })
                .collect();
            assert_eq!(words, ["echo", text]);
        }
    }
}
