//! Telephone numbers. Builds, tables and dumps are full of numbers in groups, so a number counts only in a form that people give to telephone
//! numbers: with a country code that is assigned, or in the plan of North America.

use super::personal::ends_number;

/// The most digits of a number with its country code (E.164).
const MOST: usize = 15;

/// The fewest digits of a number with its country code (ours).
const FEWEST: usize = 8;

/// From how many digits on a number behind a plus may stand in one piece, or in two (ours).
const FEWEST_IN_A_PIECE: usize = 10;

/// A number in groups, as it stands in a text.
struct Grouped {
    digits: Vec<u8>,
    /// How many digits each group has.
    groups: Vec<usize>,
    /// What stands in front of each group but the first.
    separators: Vec<Vec<u8>>,
    length: usize,
}

impl Grouped {
    /// Reads all groups of digits from `start` on that at most two separators part.
    fn read(rest: &[u8], start: usize) -> Self {
        let mut found =
            Self { digits: Vec::new(), groups: Vec::new(), separators: Vec::new(), length: start };
        let mut between: Vec<u8> = Vec::new();
        for (at, byte) in rest.iter().enumerate().skip(start) {
            match byte {
                b'0'..=b'9' => {
                    if found.groups.is_empty() {
                        found.groups.push(0);
                    } else if !between.is_empty() {
                        found.separators.push(std::mem::take(&mut between));
                        found.groups.push(0);
                    }
                    if let Some(group) = found.groups.last_mut() {
                        *group += 1;
                    }
                    found.digits.push(byte - b'0');
                    found.length = at + 1;
                }
                b' ' | b'-' | b'.' | b'/' | b'(' | b')' if !found.groups.is_empty() && between.len() < 2 => {
                    between.push(*byte);
                }
                _ => break,
            }
            // More than any number has: it is something else, however it goes on.
            if found.digits.len() > MOST + 2 {
                break;
            }
        }
        found
    }

    /// Whether it has the form of a date (`2026-11-22`) or of an address of a machine.
    fn is_date_or_machine(&self) -> bool {
        let only = |separator: u8, count: usize| {
            self.separators.len() >= count
                && self.separators.iter().take(count).all(|between| *between == [separator])
        };
        let is_date =
            (only(b'-', 2) || only(b'/', 2) || only(b'.', 2)) && self.groups.starts_with(&[4, 2, 2]);
        is_date || self.separators.len() == 3 && only(b'.', 3) && self.groups.iter().all(|group| *group <= 3)
    }
}

/// How many digits the country code at the beginning has (ITU-T E.164, list of assigned codes); `None` where there is none.
fn country_code(digits: &[u8]) -> Option<usize> {
    let number = |count: usize| {
        digits.get(..count).map(|all| all.iter().fold(0, |sum, digit| sum * 10 + u32::from(*digit)))
    };
    if matches!(number(1)?, 1 | 7) {
        return Some(1);
    }
    if matches!(
        number(2)?,
        20 | 27 | 30..=34 | 36 | 39..=41 | 43..=49 | 51..=58 | 60..=66 | 81 | 82 | 84 | 86 | 90..=95 | 98
    ) {
        return Some(2);
    }
    let is_assigned = matches!(
        number(3)?,
        211..=213 | 216 | 218 | 220..=258 | 260..=269 | 290 | 291 | 297..=299 | 350..=359 | 370..=378
            | 380..=383 | 385..=387 | 389 | 420 | 421 | 423 | 500..=509 | 590..=599 | 670 | 672..=683
            | 685..=692 | 800 | 808 | 850 | 852 | 853 | 855 | 856 | 870 | 878 | 880..=883 | 886 | 888
            | 960..=968 | 970..=977 | 979 | 992..=996 | 998
    );
    is_assigned.then_some(3)
}

/// Whether digits behind a country code can be a number there.
fn is_number_of(country: &[u8], national: &[u8]) -> bool {
    let total = country.len() + national.len();
    let is_long_enough = (FEWEST..=MOST).contains(&total);
    is_long_enough && (country != [1] || is_north_american(national))
}

/// Ten digits, of which neither the area nor the exchange begins with 0 or 1.
fn is_north_american(digits: &[u8]) -> bool {
    let begins = |at: usize| digits.get(at).is_some_and(|digit| *digit >= 2);
    digits.len() == 10 && begins(0) && begins(3)
}

/// `+49 30 1234567`, `+49 (0)30 1234567`: 8 to 15 digits behind the plus (E.164), in groups or at least ten.
pub(super) fn international(rest: &[u8]) -> Option<usize> {
    if !rest.get(1).is_some_and(|first| matches!(first, b'1'..=b'9')) {
        return None;
    }
    let found = Grouped::read(rest, 1);
    let code = country_code(&found.digits)?;
    let (country, national) = found.digits.split_at_checked(code)?;
    let is_in_groups = found.groups.len() > 2 || found.digits.len() >= FEWEST_IN_A_PIECE;
    // The groups of North America are always the same.
    let is_well_grouped =
        country != [1] || matches!(found.groups.as_slice(), [1, ..] | [11] | [4, 3, 4] | [4, 7]);
    let fits =
        is_in_groups && is_well_grouped && is_number_of(country, national) && !found.is_date_or_machine();
    (fits && ends_number(rest, found.length)).then_some(found.length)
}

/// `0049 30 1234567`: as it is dialled in most countries. Numbers that are filled up with zeros, dumps and tables begin alike, so the country
/// code has to stand by itself, and groups have to follow that no dump has.
pub(super) fn dialled(rest: &[u8], before: &[u8]) -> Option<usize> {
    if !rest.starts_with(b"00") || is_part(before) {
        return None;
    }
    let found = Grouped::read(rest, 0);
    let digits = found.digits.get(2..)?;
    let code = country_code(digits)?;
    let (country, national) = digits.split_at_checked(code)?;
    // `0049 30`, or `00 49 30`.
    let leading = match found.groups.as_slice() {
        [first, ..] if *first == 2 + code => 1,
        [2, second, ..] if *second == code => 2,
        _ => return None,
    };
    let groups = found.groups.get(leading..)?;
    let trunk = found.separators.get(leading - 1)?;
    // A zero that is left out when one calls from abroad stands in brackets.
    let is_in_brackets = trunk.ends_with(b"(") && groups.first() == Some(&1);
    let begins_well = national.first().is_some_and(|digit| *digit != 0 || is_in_brackets);
    let is_dump =
        found.groups.iter().all(|group| *group == 4) || found.groups.iter().all(|group| *group == 2);
    let is_column = found.separators.iter().all(|between| *between == [b' ']) && follows_number(before);
    let fits = groups.len() >= 2
        && groups.iter().all(|group| *group <= 8)
        && (leading == 1 || groups.iter().any(|group| *group > 2))
        && begins_well
        && is_number_of(country, national)
        && !is_dump
        && !is_column;
    (fits && ends_number(rest, found.length)).then_some(found.length)
}

/// `212-555-0173`, `1-212-555-0173`, `1 (212) 555-0173`: as it is written in North America. Only blanks between the parts are what columns of
/// numbers have too.
pub(super) fn national(rest: &[u8], before: &[u8]) -> Option<usize> {
    if is_part(before) {
        return None;
    }
    let behind_one = || {
        let number = rest.strip_prefix(b"1")?;
        let number = number.strip_prefix(b"-").or_else(|| number.strip_prefix(b" "))?;
        // Dots behind a 1 are what versions have too.
        let found = bracketed(number).or_else(|| separated(number, b"-"))?;
        Some(found + 2)
    };
    separated(rest, b"-.").or_else(behind_one)
}

/// `555-867-5309` with one of these separators.
fn separated(rest: &[u8], separators: &[u8]) -> Option<usize> {
    let text = rest.get(..12)?;
    let separator = text.get(3).filter(|byte| separators.contains(byte))?;
    let digits = text.iter().enumerate().all(|(at, byte)| at == 3 || at == 7 || byte.is_ascii_digit());
    let first = |at: usize| matches!(text.get(at), Some(b'2'..=b'9'));
    (text.get(7) == Some(separator) && digits && first(0) && first(4) && ends_number(rest, 12)).then_some(12)
}

/// `(212) 555-0173`, as it is written in North America.
pub(super) fn bracketed(rest: &[u8]) -> Option<usize> {
    let area = rest.get(1..4)?;
    // `(212) 555` and `(212)-555`.
    let gap = usize::from(matches!(rest.get(5), Some(b' ' | b'-')));
    let number = rest.get(5 + gap..13 + gap)?;
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let fits = rest.first() == Some(&b'(')
        && digits(area)
        && matches!(area.first(), Some(b'2'..=b'9'))
        && rest.get(4) == Some(&b')')
        && digits(number.get(..3)?)
        && matches!(number.first(), Some(b'2'..=b'9'))
        && matches!(number.get(3), Some(b'-' | b'.' | b' '))
        && digits(number.get(4..)?);
    (fits && ends_number(rest, 13 + gap)).then_some(13 + gap)
}

/// Whether what stands before makes it a part of something longer: a path, a version, an identifier, a time.
fn is_part(before: &[u8]) -> bool {
    match before {
        [.., b'/' | b'@' | b'.' | b'-' | b'#' | b'+' | b'_'] => true,
        [.., digit, b':' | b','] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Whether the word before is a number, as in a column of a table.
fn follows_number(before: &[u8]) -> bool {
    let before = before.strip_suffix(b" ").unwrap_or_default();
    before.trim_ascii_end().last().is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phone(text: &str) -> Option<usize> {
        let rest = text.as_bytes();
        match rest.first()? {
            b'+' => international(rest),
            b'(' => bracketed(rest),
            _ => dialled(rest, b"").or_else(|| national(rest, b"")),
        }
    }

    #[test]
    fn numbers_are_found_as_people_write_them() {
        for text in [
            "0049 30 901820",
            "0049-30-901820",
            "0049/30/901820",
            "0049 (0)30 901820",
            "0049 (0) 30 901820",
            "0049 (30) 901820",
            "00 49 30 901820",
            "0049.30.901820",
            "0033 6 12 34 56 78",
            "0033.6.12.34.56.78",
            "0044 20 7946 0958",
            "00 44 20 7946 0958",
            "0041 44 668 18 00",
            "00420 222 333 444",
            "00358 9 1234 567",
            "00353-1-234-5678",
            "0061 2 9876 5432",
            "0081-3-1234-5678",
            "0086 10 1234 5678",
            "007 495 123-45-67",
            "001 212 555 0173",
            "001-212-555-0173",
            "00 1 212 555 0173",
            "+49 30 901820",
            "+49 (0)30 901820",
            "+49-30-901820",
            "+49/30/901820",
            "+49 30/901820",
            "+49.30.901820",
            "+33 6 12 34 56 78",
            "+44 (0)20 7946 0958",
            "+1 (212) 555-0173",
            "+1-212-555-0173",
            "+1.212.555.0173",
            "+1 212 555 0173",
            "+14155552671",
            "+358 9 1234567",
            "1-212-555-0173",
            "1 (212) 555-0173",
            "1-(212) 555-0173",
            "1 (212)-555-0173",
            "1 212-555-0173",
            "1-800-555-0199",
            "212-555-0173",
            "212.555.0173",
            "(212) 555-0173",
        ] {
            assert_eq!(phone(text), Some(text.len()), "{text}");
            for behind in [",", ".", " is mine", "\n", ")", "\""] {
                let longer = format!("{text}{behind}");
                assert_eq!(phone(&longer), Some(text.len()), "{longer}");
            }
        }
    }

    #[test]
    fn other_numbers_in_groups_are_left_alone() {
        for text in [
            // Zeros in front of numbers, as counters, octal offsets, hexadecimal dumps and tables have them.
            "0049301234567",
            "004930901820",
            "0000123456",
            "0001 0002 0003 0004",
            "0049 3012 3456",
            "0049 3012 3456 7890",
            "00 49 30 12 34 56 78",
            "0044120 064563 005015",
            "0044120 141 142 143 012",
            "0020000 061 062 063",
            "0041 0042 0043 0044",
            "0049 20261122",
            "0010.0020.0030.0040",
            "00:12:34",
            "00-15-5D-01-02-03",
            "0012-3456-7890",
            "001-123-456-7890",
            "001.234.567",
            "007 bonds",
            "0.0.49 30",
            // Versions, dates, machines, ranges.
            "+2026-11-22 10:11:12",
            "+2026/11/22 10 11",
            "+192.168.100.200 host",
            "+123 4567 8901",
            "+1 000 000 000",
            "+0100",
            "+12,7 +13,9",
            "+100 200 300",
            "1-123-456-7890",
            "1.212.555.0173",
            "1 212 555 0173",
            "1-2-3",
            "1 (100) 555-0173",
            "212-155-0173",
            "212-555-01734",
            "2026-11-22",
        ] {
            assert_eq!(phone(text), None, "{text}");
        }
        for before in ["ORD-", "v", "a/", "#", "1.", "10:", "3,"] {
            for text in ["212-555-0173", "0049 30 901820", "1-212-555-0173"] {
                let found = dialled(text.as_bytes(), before.as_bytes());
                let found = found.or_else(|| national(text.as_bytes(), before.as_bytes()));
                // Behind a letter nothing begins at all.
                assert!(found.is_none() || before == "v", "{before}{text}");
            }
        }
        assert_eq!(dialled(b"0049 30 901820 5", b"  12 "), None, "a row of a table");
        assert!(dialled(b"0049 30 901820", b"call ").is_some());
    }

    /// Numbers as programs print them, made up: none of them is a telephone number.
    #[test]
    fn outputs_of_programs_hold_no_telephone_numbers() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..4000 {
            let (a, b, c, d) = (random(10_000), random(10_000), random(100), random(60));
            let lines = [
                format!("-rw-r--r-- 1 {a} {b} {} Nov {c:02} 10:{d:02} f{a}", a * b),
                format!("{a:>7} {c:>3}.{d} {b:>6} pts/0 S+ 10:{d:02} 0:{c:02} make -j{d}"),
                format!(
                    "2026-{:02}-{:02}T10:{d:02}:{c:02}.{a:06}Z build {b}.{c}.{d}",
                    c % 12 + 1,
                    d % 28 + 1
                ),
                format!("{a:07o} {b:06o} {a:06o} {c:06o}"),
                format!("{a:08x}: {b:04x} {a:04x} {c:04x} {d:04x}"),
                format!("{a:08x}  {:02x} {:02x} {c:02x} {d:02x} 00 49 30 12  |....|", a % 256, b % 256),
                format!("{a:04} {b:04} {c:04} {d:04}"),
                format!("{a:05} {b:05} {c:05}"),
                format!("   Compiling crate-{a} v{c}.{d}.{b} ({a}/{b})"),
                format!("added {a} packages, and audited {b} packages in {c}s, {d}.{c:02} MB"),
                format!("order 00{a:04}{b:04}{c:02} shipped, build #{a}-{b}-{c}"),
                format!("tcp 0 0 0.0.0.0:{a} {c}.{d}.{c}.{d}:{b} LISTEN {a}/node"),
                format!("@@ -{a},{c} +{b},{d} @@"),
                format!("+{a}.{c}.{d}"),
                format!("+0{c:02}00 {a} {b}"),
                format!("{a:012} {b:012}"),
                format!("{:08x}-{:04x}-{b:04x}-{a:04x}-{:012x}", a * 7, c * 90, a * b * 11),
                format!("test result: ok. {a} passed; {c} failed; finished in {d}.{c:02}s"),
                format!("{a}-{c:02}-{d:02} {b}/{a} {c}% [{d}:{c:02}<{c}:{d:02}, {a}.{d}it/s]"),
            ];
            for line in lines {
                let bytes = line.as_bytes();
                for at in 0..bytes.len() {
                    let (before, rest) = bytes.split_at(at);
                    let begins =
                        !before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
                    let found = match rest.first() {
                        Some(b'+') => international(rest),
                        Some(b'(') => bracketed(rest),
                        Some(b'0'..=b'9') => dialled(rest, before).or_else(|| national(rest, before)),
                        _ => None,
                    };
                    assert!(!begins || found.is_none(), "{line} at {at}");
                }
            }
        }
    }
}
