//! Numbers of payment cards, however their digits are grouped.

use super::personal::ends_number;

/// The length of the card number that `rest` begins with; `before` is the text in front of it. Prefixes and lengths are those of the issuers
/// (ISO/IEC 7812), with their check digit (Luhn).
pub(super) fn payment_card(rest: &[u8], before: &[u8]) -> Option<usize> {
    let (number, length) = digits(rest, MOST);
    let single = (is_card(&number) && is_whole(rest, length)).then_some(length);
    single.or_else(|| in_groups(rest)).or_else(|| over_a_line(rest, before))
}

/// The most digits of a card number.
const MOST: usize = 19;

/// Whether nothing that belongs to the number follows. A name may: `4539148803436467csv`.
fn is_whole(rest: &[u8], length: usize) -> bool {
    let is_letter = |at: usize| rest.get(at).is_some_and(u8::is_ascii_alphabetic);
    // One letter may be the first digit of a hash that goes on.
    let word = rest.iter().skip(length).take_while(|byte| byte.is_ascii_alphanumeric());
    let is_named = is_letter(length) && word.clone().all(u8::is_ascii_alphabetic) && word.count() > 1;
    let is_behind_dash = rest.get(length) == Some(&b'-') && is_letter(length + 1);
    ends_number(rest, length) || is_named || is_behind_dash
}

/// Digits with at most one blank or dash between two of them: the digits, and the length they take.
fn digits(rest: &[u8], most: usize) -> (Vec<u8>, usize) {
    let mut found = Vec::new();
    let mut length = 0;
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'0'..=b'9' if found.len() < most => {
                found.push(byte - b'0');
                length = at + 1;
            }
            b' ' | b'-' if length == at && rest.get(at + 1).is_some_and(u8::is_ascii_digit) => {}
            _ => break,
        }
        at += 1;
    }
    (found, length)
}

/// Whether digits are the number of a card.
fn is_card(digits: &[u8]) -> bool {
    let number =
        |count: usize| digits.iter().take(count).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let fits = match digits.len() {
        13 | 19 => number(1) == 4,
        14 => matches!(number(2), 36 | 38 | 39) || matches!(number(3), 300..=305),
        15 => matches!(number(2), 34 | 37),
        16 => {
            number(1) == 4
                || matches!(number(2), 51..=55 | 65)
                || matches!(number(4), 2221..=2720 | 3528..=3589 | 6011)
                || matches!(number(3), 644..=649)
        }
        _ => false,
    };
    fits && luhn(digits)
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(*digit);
            match (place % 2, digit * 2) {
                (0, _) => digit,
                (_, doubled) if doubled > 9 => doubled - 9,
                (_, doubled) => doubled,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// How cards are printed: their groups.
const GROUPS: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3]];

/// The length of a number in printed groups with the same sign between them, or with more blanks than one.
fn in_groups(rest: &[u8]) -> Option<usize> {
    let sign = *rest.get(4)?;
    if !matches!(sign, b'.' | b'/' | b'_' | b' ' | b',') {
        return None;
    }
    let between = |at: usize| match sign {
        b' ' => (1..=3)
            .rev()
            .find(|count| rest.get(at..at + count).is_some_and(|run| run.iter().all(|byte| *byte == b' '))),
        sign => (rest.get(at) == Some(&sign)).then_some(1),
    };
    grouped(rest, between)
}

/// The length of a number in printed groups, with what this finds between them.
fn grouped(rest: &[u8], between: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    GROUPS.iter().find_map(|groups| {
        let mut digits = Vec::new();
        let mut at = 0;
        for (place, count) in groups.iter().enumerate() {
            if place > 0 {
                at += between(at)?;
            }
            let group = rest.get(at..at + count).filter(|group| group.iter().all(u8::is_ascii_digit))?;
            digits.extend(group.iter().map(|digit| digit - b'0'));
            at += count;
        }
        (is_card(&digits) && ends_number(rest, at)).then_some(at)
    })
}

/// The length of a number that goes over the end of one line: in groups, or in two parts. In a list of numbers none is looked for.
fn over_a_line(rest: &[u8], before: &[u8]) -> Option<usize> {
    /// The least digits of a part (ours).
    const PART: usize = 6;
    let is_listed = before.trim_ascii_end().last().is_some_and(u8::is_ascii_digit);
    if is_listed || !rest.iter().take(MOST + 4).any(|byte| *byte == b'\n') {
        return None;
    }
    // A line end, with blanks around it and a sign that says that the line goes on.
    let line_end = |at: usize| {
        let blanks = |at: usize| {
            rest.iter().skip(at).take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count()
        };
        let mut end = at + blanks(at);
        end += usize::from(matches!(rest.get(end), Some(b'-' | b'\\')));
        (rest.get(end) == Some(&b'\n')).then(|| end + 1 + blanks(end + 1) - at)
    };
    let blank = |at: usize| matches!(rest.get(at), Some(b' ' | b'-')).then_some(1);
    let in_groups = || grouped(rest, |at| line_end(at).or_else(|| blank(at)));
    let in_parts = || {
        let count =
            |at: usize| rest.iter().skip(at).take(MOST).take_while(|byte| byte.is_ascii_digit()).count();
        let first = count(0);
        let second_at = first + line_end(first)?;
        let second = count(second_at);
        let number: Vec<u8> = [rest.get(..first)?, rest.get(second_at..second_at + second)?]
            .concat()
            .iter()
            .map(|digit| digit - b'0')
            .collect();
        let end = second_at + second;
        (first >= PART && second >= PART && is_card(&number) && ends_number(rest, end)).then_some(end)
    };
    let length = in_groups().or_else(in_parts)?;
    let behind = rest.get(length..).unwrap_or_default().trim_ascii_start();
    let is_once = rest.iter().take(length).filter(|byte| **byte == b'\n').count() == 1;
    (is_once && !behind.first().is_some_and(u8::is_ascii_digit)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str) -> Option<usize> {
        payment_card(text.as_bytes(), b"")
    }

    #[test]
    fn a_card_is_found_however_its_digits_stand() {
        for text in [
            "4539148803436467",
            "4539 1488 0343 6467",
            "4539.1488.0343.6467",
            "4539/1488/0343/6467",
            "4539_1488_0343_6467",
            "4539  1488  0343  6467",
            "4539 1488\n0343 6467",
            "4539 1488 \n   0343 6467",
            "45391488\n03436467",
            "45391488\\\n03436467",
            "3782 822463 10005",
        ] {
            assert_eq!(length(text), Some(text.len()), "{text:?}");
            for behind in [" x", ".csv", "_old.txt", ", y", "\nend"] {
                assert_eq!(length(&format!("{text}{behind}")), Some(text.len()), "{text:?} {behind:?}");
            }
        }
        for (text, wanted) in
            [("4539148803436467.csv", 16), ("4539148803436467_old", 16), ("4539148803436467csv", 16)]
        {
            assert_eq!(length(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn lists_and_longer_numbers_are_no_cards() {
        for text in [
            "4539 1488 0343 6468",
            "4539.1488.0343.6467.1",
            "4539148803436467a",
            "4539148803436467.5",
            "4539148803436467124",
            "4539\n1488\n0343\n6467",
            "45391488\n03436467\n11112222",
            "4539.1488/0343.6467",
            "4539148803436467_5",
        ] {
            assert_eq!(length(text), None, "{text:?}");
        }
        assert_eq!(payment_card(b"45391488\n03436467", b"12345678\n"), None);
    }
}
