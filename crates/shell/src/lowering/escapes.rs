//! `$'...'`

/// A piece of `$'...'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// So many bytes that are no text.
    Bytes(usize),
}

/// Decodes the text behind `$'` and answers it together with how many bytes it takes, the closing quote included.
pub(super) fn decode(text: &str) -> (Vec<Piece>, usize) {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let mut ended = false;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\'' => return (finish(&out), at),
            b'\\' => {
                let before = out.len();
                at += escape(text.get(at..).unwrap_or_default(), &mut out);
                // The shell's strings end at a null byte.
                if ended {
                    out.truncate(before);
                } else if out.get(before..) == Some(&[0]) {
                    out.truncate(before);
                    ended = true;
                }
            }
            _ if ended => {}
            _ => out.push(byte),
        }
    }
    (finish(&out), at)
}

/// The pieces; an empty text is one.
fn finish(bytes: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            pieces.push(Piece::Text(chunk.valid().to_owned()));
        }
        match (pieces.last_mut(), chunk.invalid().len()) {
            (_, 0) => {}
            (Some(Piece::Bytes(count)), more) => *count += more,
            (_, count) => pieces.push(Piece::Bytes(count)),
        }
    }
    if pieces.is_empty() {
        pieces.push(Piece::Text(String::new()));
    }
    pieces
}

/// Decodes what follows a backslash, and answers how many bytes it takes.
fn escape(text: &str, out: &mut Vec<u8>) -> usize {
    let Some(letter) = text.chars().next() else {
        out.push(b'\\');
        return 0;
    };
    let rest = text.get(letter.len_utf8()..).unwrap_or_default();
    let simple = match letter {
        'a' => Some(7),
        'b' => Some(8),
        'e' | 'E' => Some(27),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        '\\' | '\'' | '"' | '?' => u8::try_from(letter).ok(),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return 1;
    }
    match letter {
        '0'..='7' => {
            let (value, taken) = number(text, 8, 3);
            out.push(u8::try_from(value & 0xff).unwrap_or_default());
            taken
        }
        'x' if rest.starts_with('{') => {
            let digits = rest.get(1..).unwrap_or_default();
            let (value, taken) = number(digits, 16, digits.len());
            if taken == 0 || !digits.get(taken..).is_some_and(|more| more.starts_with('}')) {
                return keep(letter, out);
            }
            out.push(u8::try_from(value & 0xff).unwrap_or_default());
            taken + 3
        }
        'x' => match number(rest, 16, 2) {
            (_, 0) => keep(letter, out),
            (value, taken) => {
                out.push(u8::try_from(value & 0xff).unwrap_or_default());
                1 + taken
            }
        },
        'u' | 'U' => match number(rest, 16, if letter == 'u' { 4 } else { 8 }) {
            (_, 0) => keep(letter, out),
            (value, taken) => {
                let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                1 + taken
            }
        },
        'c' => match rest.chars().next().filter(char::is_ascii) {
            Some(control) => {
                let byte = u8::try_from(control).unwrap_or_default();
                out.push(if byte == b'?' { 0x7f } else { byte.to_ascii_uppercase() & 0x1f });
                2
            }
            None => keep(letter, out),
        },
        _ => keep(letter, out),
    }
}

/// An unknown escape stands for itself, backslash included.
fn keep(letter: char, out: &mut Vec<u8>) -> usize {
    out.push(b'\\');
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    letter.len_utf8()
}

/// A number of at most `longest` digits, and how many there were.
fn number(text: &str, radix: u32, longest: usize) -> (u32, usize) {
    let mut value: u32 = 0;
    let mut taken = 0;
    for digit in text.chars().take(longest).map_while(|letter| letter.to_digit(radix)) {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        taken += 1;
    }
    (value, taken)
}

#[cfg(test)]
mod tests {
    use super::{Piece, decode};

    #[test]
    fn escapes_become_the_characters_they_name() {
        for (text, decoded) in [
            (r"\x72\x6d' rest", "rm"),
            (r"\162\155'", "rm"),
            (r"a\tb\n'", "a\tb\n"),
            (r"\u00e9\U0001F600'", "é😀"),
            (r"\xc3\xa9'", "é"),
            (r"it\'s'", "it's"),
            (r"\q\x'", r"\q\x"),
            (r"\ca'", "\u{1}"),
            (r"rm\0ignored'", "rm"),
            ("unclosed", "unclosed"),
            ("\\", "\\"),
        ] {
            assert_eq!(decode(text).0, [Piece::Text(decoded.to_owned())], "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_none() {
        let text = |text: &str| Piece::Text(text.to_owned());
        for (quoted, pieces) in [
            (r"\xff\xfe'", vec![Piece::Bytes(2)]),
            (r"d\xff'", vec![text("d"), Piece::Bytes(1)]),
            (r"\377a\xc3'", vec![Piece::Bytes(1), text("a"), Piece::Bytes(1)]),
            (r"'", vec![text("")]),
        ] {
            assert_eq!(decode(quoted).0, pieces, "{quoted}");
        }
    }

    #[test]
    fn the_closing_quote_is_counted() {
        assert_eq!(decode(r"a\'b' rest").1, 5);
    }
}
