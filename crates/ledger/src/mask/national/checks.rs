//! Dates and check digits of national numbers, over the digits and letters alone.

/// A digit of a number, 0 for anything else.
pub(super) fn digit(text: &[u8], at: usize) -> u64 {
    text.get(at).filter(|byte| byte.is_ascii_digit()).map_or(0, |byte| u64::from(byte - b'0'))
}

/// The number that so many digits from a place on make.
pub(super) fn number(text: &[u8], from: usize, count: usize) -> u64 {
    (from..from + count).fold(0, |sum, at| sum * 10 + digit(text, at))
}

/// The sum of the first digits, each times its weight.
pub(super) fn weighted(text: &[u8], weights: &[u64]) -> u64 {
    weights.iter().enumerate().map(|(at, weight)| weight * digit(text, at)).sum()
}

/// Whether a month has such a day; of February the 29th counts.
pub(super) fn is_day(month: u64, day: u64) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The check digit of ISO/IEC 7812.
pub(super) fn luhn(text: &[u8]) -> bool {
    let doubled = |at: usize| {
        let twice = digit(text, at) * 2;
        if twice > 9 { twice - 9 } else { twice }
    };
    let last = text.len().saturating_sub(1);
    let sum: u64 =
        (0..text.len()).map(|at| if (last - at) % 2 == 1 { doubled(at) } else { digit(text, at) }).sum();
    sum.is_multiple_of(10)
}

/// ISO 7064 MOD 11,10 over all digits, the last of which is the check digit.
pub(super) fn mod_11_10(text: &[u8]) -> bool {
    let last = text.len().saturating_sub(1);
    let product = (0..last).fold(10, |product, at| {
        let sum = (digit(text, at) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (product + digit(text, last)) % 10 == 1
}

/// The check digit of Verhoeff (1969), by the dihedral group of ten elements.
pub(super) fn verhoeff(text: &[u8]) -> bool {
    const PERMUTATION: [u64; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let product = |one: u64, other: u64| match (one < 5, other < 5) {
        (true, true) => (one + other) % 5,
        (true, false) => 5 + (one + other - 5) % 5,
        (false, true) => 5 + (one - 5 + 5 - other) % 5,
        (false, false) => (one - 5 + 5 - (other - 5)) % 5,
    };
    let permuted = |value: u64, times: usize| {
        (0..times).fold(value, |value, _| {
            usize::try_from(value).ok().and_then(|at| PERMUTATION.get(at)).copied().unwrap_or(0)
        })
    };
    let places = text.iter().rev().enumerate();
    let value = |byte: &u8| u64::from(byte.wrapping_sub(b'0') % 10);
    places.fold(0, |sum, (place, byte)| product(sum, permuted(value(byte), place % 8))) == 0
}

pub(super) fn austria(text: &[u8]) -> bool {
    let sum = weighted(text, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
    // Months above 12 are given out where those of a day are used up.
    let month = number(text, 6, 2);
    !text.starts_with(b"0")
        && is_day(if month > 12 { 1 } else { month }, number(text, 4, 2))
        && sum % 11 == digit(text, 3)
}

pub(super) fn belgium(text: &[u8]) -> bool {
    let (first, check) = (number(text, 0, 9), number(text, 9, 2));
    // Who was born from 2000 on has a 2 in front of it, for the check alone.
    let fits = [first, 2_000_000_000 + first].iter().any(|number| 97 - number % 97 == check);
    is_day(number(text, 2, 2), number(text, 4, 2)) && fits
}

pub(super) fn brazil(text: &[u8]) -> bool {
    let check = |length: usize| {
        let weights = (0..length).map(|at| (length as u64 + 1 - at as u64) * digit(text, at));
        let rest = weights.sum::<u64>() * 10 % 11 % 10;
        rest == digit(text, length)
    };
    let differs = text.iter().any(|byte| Some(byte) != text.first());
    differs && check(9) && check(10)
}

pub(super) fn chile(text: &[u8]) -> bool {
    let Some((check, body)) = text.split_last() else { return false };
    let weights = [2, 3, 4, 5, 6, 7];
    let sum: u64 =
        (0..body.len()).rev().zip(weights.iter().cycle()).map(|(at, weight)| digit(body, at) * weight).sum();
    let expected = match 11 - sum % 11 {
        11 => b'0',
        10 => b'K',
        other => b'0' + u8::try_from(other).unwrap_or(0),
    };
    *check == expected
}

pub(super) fn china(text: &[u8]) -> bool {
    const WEIGHTS: [u64; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let rest = usize::try_from(weighted(text, &WEIGHTS) % 11).unwrap_or(0);
    (1900..2100).contains(&number(text, 6, 4))
        && is_day(number(text, 10, 2), number(text, 12, 2))
        && !text.starts_with(b"0")
        && text.get(17) == b"10X98765432".get(rest)
}

pub(super) fn estonia(text: &[u8]) -> bool {
    let first = weighted(text, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
    let second = weighted(text, &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10;
    let check = if first == 10 { second } else { first };
    matches!(text.first(), Some(b'1'..=b'8'))
        && is_day(number(text, 3, 2), number(text, 5, 2))
        && check == digit(text, 10)
}

pub(super) fn finland(text: &[u8]) -> bool {
    const CHECKS: &[u8; 31] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    // The century is a letter where it is no sign between the two numbers.
    let (individual, check) = match text.len() {
        11 if matches!(text.get(6), Some(b'A'..=b'F' | b'U'..=b'Y')) => (7, 10),
        10 => (6, 9),
        _ => return false,
    };
    let rest = (number(text, 0, 6) * 1_000 + number(text, individual, 3)) % 31;
    let rest = usize::try_from(rest).unwrap_or(0);
    is_day(number(text, 2, 2), number(text, 0, 2)) && text.get(check) == CHECKS.get(rest)
}

pub(super) fn france(text: &[u8]) -> bool {
    // Corsica has a letter, which stands for a digit in the check.
    let (department, corsica) = match text.get(5..7) {
        Some(b"2A") => (19, true),
        Some(b"2B") => (18, true),
        _ => (number(text, 5, 2), false),
    };
    let is_written = text.iter().enumerate().all(|(at, byte)| byte.is_ascii_digit() || (at == 6 && corsica));
    let first = (number(text, 0, 5) * 100 + department) * 1_000_000 + number(text, 7, 6);
    is_written
        && matches!(text.first(), Some(b'1' | b'2'))
        && (1..=12).contains(&number(text, 3, 2))
        && department != 0
        && 97 - first % 97 == number(text, 13, 2)
}

pub(super) fn germany(text: &[u8]) -> bool {
    let mut counts = [0_usize; 10];
    for at in 0..10 {
        if let Some(count) = usize::try_from(digit(text, at)).ok().and_then(|value| counts.get_mut(value)) {
            *count += 1;
        }
    }
    let with = |wanted: usize| counts.iter().filter(|count| **count == wanted).count();
    let is_given =
        (with(2), with(3)) == (1, 0) && with(1) == 8 || (with(2), with(3)) == (0, 1) && with(1) == 7;
    !text.starts_with(b"0") && is_given && mod_11_10(text)
}

pub(super) fn ireland(text: &[u8]) -> bool {
    let second = match text.get(8) {
        None | Some(b'W') => 0,
        Some(letter) => u64::from(letter.wrapping_sub(b'A')) + 1,
    };
    let rest = (weighted(text, &[8, 7, 6, 5, 4, 3, 2]) + 9 * second) % 23;
    let rest = usize::try_from(rest).unwrap_or(0);
    text.get(7) == b"WABCDEFGHIJKLMNOPQRSTUV".get(rest)
}

pub(super) fn italy(text: &[u8]) -> bool {
    const ODD: [u64; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let value =
        |byte: u8| u64::from(if byte.is_ascii_digit() { byte - b'0' } else { byte.wrapping_sub(b'A') });
    let sum: u64 = text
        .iter()
        .take(15)
        .enumerate()
        .map(|(at, byte)| match (at % 2, usize::try_from(value(*byte)).unwrap_or(0)) {
            (0, place) => ODD.get(place).copied().unwrap_or(0),
            (_, _) => value(*byte),
        })
        .sum();
    let day = number(text, 9, 2);
    let is_month = text.get(8).is_some_and(|month| b"ABCDEHLMPRST".contains(month));
    let is_day = (1..=31).contains(&day) || (41..=71).contains(&day);
    is_month && is_day && text.get(15).is_some_and(|check| value(*check) == sum % 26)
}

pub(super) fn mexico(text: &[u8]) -> bool {
    const VALUES: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    // Between N and O of this alphabet stands a letter that does not stand in a number.
    let value = |byte: &u8| {
        let place = VALUES.iter().position(|known| known == byte).unwrap_or(0) as u64;
        if *byte > b'N' { place + 1 } else { place }
    };
    let sum: u64 = text.iter().take(17).enumerate().map(|(at, byte)| (18 - at as u64) * value(byte)).sum();
    is_day(number(text, 6, 2), number(text, 8, 2))
        && matches!(text.get(10), Some(b'H' | b'M'))
        && (10 - sum % 10) % 10 == digit(text, 17)
}

pub(super) fn norway(text: &[u8]) -> bool {
    let first = weighted(text, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]);
    let second = weighted(text, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]);
    let day = number(text, 0, 2);
    let day = if day > 40 { day - 40 } else { day };
    is_day(number(text, 2, 2), day) && first.is_multiple_of(11) && second.is_multiple_of(11)
}

pub(super) fn singapore(text: &[u8]) -> bool {
    let sum = weighted(text.get(1..).unwrap_or_default(), &[2, 7, 6, 5, 4, 3, 2]);
    let (more, row): (u64, &[u8; 11]) = match text.first() {
        Some(b'S') => (0, b"JZIHGFEDCBA"),
        Some(b'T') => (4, b"JZIHGFEDCBA"),
        Some(b'F') => (0, b"XWUTRQPNMLK"),
        Some(b'G') => (4, b"XWUTRQPNMLK"),
        _ => return false,
    };
    let rest = usize::try_from((sum + more) % 11).unwrap_or(0);
    text.get(8) == row.get(rest)
}

pub(super) fn spain(text: &[u8]) -> bool {
    let first = match text.first() {
        Some(b'X') => 0,
        Some(b'Y') => 1,
        Some(b'Z') => 2,
        Some(b'0'..=b'9') => digit(text, 0),
        _ => return false,
    };
    let rest = usize::try_from((first * 10_000_000 + number(text, 1, 7)) % 23).unwrap_or(0);
    text.get(8) == b"TRWAGMYFPDXBNJZSQVHLCKE".get(rest)
}

pub(super) fn turkey(text: &[u8]) -> bool {
    let sum = |from: usize| (from..9).step_by(2).map(|at| digit(text, at)).sum::<u64>();
    let (odd, even) = (sum(0), sum(1));
    let tenth = (odd * 7 + 90 - even) % 10;
    let eleventh = (odd + even + tenth) % 10;
    !text.starts_with(b"0") && tenth == digit(text, 9) && eleventh == digit(text, 10)
}

pub(super) fn united_kingdom(text: &[u8]) -> bool {
    const NEVER: [&[u8]; 7] = [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
    let Some(prefix) = text.get(..2) else { return false };
    let given = !prefix.iter().any(|letter| b"DFIQUV".contains(letter)) && prefix.get(1) != Some(&b'O');
    given && !NEVER.contains(&prefix) && matches!(text.get(8), Some(b'A'..=b'D'))
}
