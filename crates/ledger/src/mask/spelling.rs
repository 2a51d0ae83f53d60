//! Other spellings of a text: what stands for a letter, a digit or a blank is read as such, and what cannot be seen not at all. So a number in
//! fullwidth digits, or an address of which `%40` stands for the `@`, is found where it stands.

/// A text as it reads, with where each of its bytes stands in the original.
pub(super) struct Spelling {
    /// What the text reads.
    pub(super) text: String,
    /// The place in the original of each byte, and of the end.
    places: Vec<usize>,
}

impl Spelling {
    /// Returns what a text reads; `None` where it is written as it reads.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_plain = text.is_ascii() && !(0..bytes.len()).any(|at| escaped(bytes, at).is_some());
        if is_plain {
            return None;
        }
        let mut read =
            Self { text: String::with_capacity(text.len()), places: Vec::with_capacity(text.len() + 1) };
        let mut changed = false;
        let mut at = 0;
        while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let (meant, length) = match escaped(bytes, at) {
                Some((meant, length)) => (Some(meant), length),
                None => (meaning(letter), letter.len_utf8()),
            };
            changed |= meant != Some(letter);
            if let Some(meant) = meant {
                read.text.push(meant);
                read.places.resize(read.text.len(), at);
            }
            at += length;
        }
        read.places.push(text.len());
        changed.then_some(read)
    }

    /// The place in the original of a place in what it reads.
    pub(super) fn place(&self, at: usize) -> usize {
        self.places.get(at).or(self.places.last()).copied().unwrap_or_default()
    }
}

/// The letter that a percent sign and two digits stand for (RFC 3986, 2.1), however often the sign itself is written so, and the length of
/// that; `None` for what stands for no letter of ASCII.
fn escaped(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    const SIGN: &[u8] = b"25";
    if bytes.get(at) != Some(&b'%') {
        return None;
    }
    let mut digits = at + 1;
    while bytes.get(digits..digits + 2) == Some(SIGN) && value(bytes, digits + 2).is_some() {
        digits += 2;
    }
    let letter = value(bytes, digits)?;
    let is_letter = (0x20..0x7f).contains(&letter) || matches!(letter, b'\t' | b'\n' | b'\r');
    is_letter.then(|| (char::from(letter), digits + 2 - at))
}

/// The value of two hexadecimal digits.
fn value(bytes: &[u8], at: usize) -> Option<u8> {
    let digits = bytes.get(at..at + 2)?;
    let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
    u8::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hexadecimal)?, 16).ok()
}

/// Where the digits of other scripts begin (Unicode, general category Nd), each ten in a row.
const ZEROS: &[u32] = &[
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
];

/// What a letter reads as; `None` where it cannot be seen.
fn meaning(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return Some(letter);
    }
    let number = u32::from(letter);
    let digit = ZEROS.iter().find_map(|zero| number.checked_sub(*zero).filter(|digit| *digit < 10));
    if let Some(digit) = digit {
        return char::from_digit(digit, 10);
    }
    match letter {
        // Fullwidth forms.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(number - 0xfee0),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => Some('-'),
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}' => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_is_meant_and_its_places_lead_back() {
        for (text, read) in [
            ("mail=a%40b.de", "mail=a@b.de"),
            ("a%2540b", "a@b"),
            ("4539\u{a0}1488\u{2011}0343", "4539 1488-0343"),
            ("gh\u{200b}p_x", "ghp_x"),
            ("\u{ff14}\u{0665}\u{1d7d9}", "451"),
        ] {
            let spelling = Spelling::of(text).unwrap();
            assert_eq!(spelling.text, read);
            assert_eq!(spelling.place(read.len()), text.len());
            for at in (0..=read.len()).filter(|at| read.is_char_boundary(*at)) {
                assert!(text.is_char_boundary(spelling.place(at)), "{text} {at}");
            }
        }
        for text in ["plain", "100% of it", "%d %s %02d", "%E9%80", "Größe"] {
            assert!(Spelling::of(text).is_none(), "{text}");
        }
    }
}
