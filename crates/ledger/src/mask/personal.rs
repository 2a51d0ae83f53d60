//! Numbers that say who somebody is: payment cards, bank accounts, social security, telephones, addresses of machines. Each has a form that
//! can be checked, so that a build number or a time is none of them.

/// What was found at the beginning of a text: its kind and its length in bytes.
pub(super) struct Personal {
    pub(super) kind: &'static str,
    pub(super) length: usize,
}

/// What of a user stands at the beginning of `rest`, which begins a word; `before` is the byte in front of it.
pub(super) fn personal(rest: &[u8], before: Option<u8>) -> Option<Personal> {
    let found = |kind, length: Option<usize>| length.map(|length| Personal { kind, length });
    match rest.first()? {
        b'+' => found("phone", international_phone(rest)),
        b'A'..=b'Z' => found("iban", bank_account(rest)),
        b'0'..=b'9' => found("card", payment_card(rest))
            .or_else(|| found("ssn", social_security(rest)))
            .or_else(|| found("phone", national_phone(rest)))
            // The host of an address, or a part of a path or a longer version, says what is talked to.
            .or_else(|| match before {
                Some(b'/' | b'@' | b'.' | b'-') => None,
                Some(_) | None => found("ip", machine_address(rest)),
            }),
        _ => None,
    }
}

/// Whether nothing that belongs to the same word stands behind.
fn ends(rest: &[u8], length: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match (rest.get(length), rest.get(length + 1)) {
        (None, _) => true,
        (Some(b'-' | b'.'), Some(next)) => !is_word(next),
        (Some(byte), _) => !is_word(byte),
    }
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

/// Card numbers by the prefixes and lengths of the issuers (ISO/IEC 7812), with their check digit (Luhn).
fn payment_card(rest: &[u8]) -> Option<usize> {
    let (digits, length) = digits(rest, 19);
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
    (fits && ends(rest, length) && luhn(&digits)).then_some(length)
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

/// Bank accounts (ISO 13616): two letters, two check digits, up to 30 letters and digits, alone or in groups of four.
fn bank_account(rest: &[u8]) -> Option<usize> {
    const SHORTEST: usize = 15;
    const LONGEST: usize = 34;
    let mut account = Vec::new();
    let mut length = 0;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' if account.len() < LONGEST => {
                account.push(*byte);
                length = at + 1;
            }
            b' ' if account.len() % 4 == 0
                && length == at
                && rest
                    .get(at + 1)
                    .is_some_and(|next| next.is_ascii_digit() || next.is_ascii_uppercase()) => {}
            _ => break,
        }
    }
    let (country, behind) = account.split_at_checked(2)?;
    let well_formed = country.iter().all(u8::is_ascii_uppercase)
        && behind.get(..2)?.iter().all(u8::is_ascii_digit)
        && account.len() >= SHORTEST;
    let turned = account.get(4..)?.iter().chain(account.get(..4)?);
    let rest_of_97 = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (well_formed && rest_of_97 == 1 && ends(rest, length)).then_some(length)
}

/// `123-45-6789`, without the numbers that are never given out.
fn social_security(rest: &[u8]) -> Option<usize> {
    let text = rest.get(..11)?;
    let (area, group, serial) = (text.get(..3)?, text.get(4..6)?, text.get(7..11)?);
    let all_digits = [area, group, serial].into_iter().flatten().all(u8::is_ascii_digit);
    let given =
        area != b"000" && area != b"666" && !area.starts_with(b"9") && group != b"00" && serial != b"0000";
    (all_digits && given && text.get(3) == Some(&b'-') && text.get(6) == Some(&b'-') && ends(rest, 11))
        .then_some(11)
}

/// `+49 30 1234567`: 8 to 15 digits behind the plus (E.164), in groups or at least ten.
fn international_phone(rest: &[u8]) -> Option<usize> {
    let mut count = 0_usize;
    let mut groups = 1_usize;
    let mut length = 0;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            b'0'..=b'9' => {
                count += 1;
                length = at + 1;
            }
            b' ' | b'-' | b'.' | b'(' | b')' if count > 0 && at <= length + 1 => {
                groups += usize::from(length == at);
            }
            _ => break,
        }
    }
    let plausible = (8..=15).contains(&count) && (groups > 2 || count >= 10);
    (plausible && rest.get(1).is_some_and(|first| matches!(first, b'1'..=b'9')) && ends(rest, length))
        .then_some(length)
}

/// `555-867-5309`, as it is written in North America.
fn national_phone(rest: &[u8]) -> Option<usize> {
    let text = rest.get(..12)?;
    let separated = matches!(text.get(3), Some(b'-' | b'.')) && text.get(7) == text.get(3);
    let digits = text.iter().enumerate().all(|(at, byte)| at == 3 || at == 7 || byte.is_ascii_digit());
    let first = |at: usize| matches!(text.get(at), Some(b'2'..=b'9'));
    (separated && digits && first(0) && first(4) && ends(rest, 12)).then_some(12)
}

/// An IPv4 address of the open network; those of this machine, of private networks and of documentation are nobody's.
fn machine_address(rest: &[u8]) -> Option<usize> {
    let length = rest.iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let text = std::str::from_utf8(rest.get(..length)?).ok()?.trim_end_matches('.');
    let address: std::net::Ipv4Addr = text.parse().ok()?;
    let [first, second, ..] = address.octets();
    let nobody = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || address.is_unspecified()
        // Shared by carriers, reserved; and what is rather a version than an address.
        || (first == 100 && (64..128).contains(&second))
        || !(11..240).contains(&first);
    (!nobody && ends(rest, text.len())).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::personal;

    fn kind(text: &str) -> Option<(&'static str, usize)> {
        personal(text.as_bytes(), None).map(|found| (found.kind, found.length))
    }

    #[test]
    fn numbers_of_persons_are_found() {
        // Test numbers that issuers and standards publish.
        for (text, expected) in [
            ("4111 1111 1111 1111", ("card", 19)),
            ("5555555555554444", ("card", 16)),
            ("378282246310005 is", ("card", 15)),
            ("GB82 WEST 1234 5698 7654 32", ("iban", 27)),
            ("DE89370400440532013000", ("iban", 22)),
            ("078-05-1120", ("ssn", 11)),
            ("+49 30 901820", ("phone", 13)),
            ("+14155552671", ("phone", 12)),
            ("212-555-0173", ("phone", 12)),
            ("93.184.216.34", ("ip", 13)),
        ] {
            assert_eq!(kind(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_left_alone() {
        for text in [
            "4111 1111 1111 1112",
            "1763812345678",
            "20261122153000",
            "DE88370400440532013000",
            "000-12-3456",
            "127.0.0.1",
            "192.168.1.4",
            "10.0.0.1",
            "1.2.3.4",
            "8.0.33",
            "+12345678",
            "+1,5",
            "2026-11-22",
            "123e4567-e89b-12d3-a456-426614174000",
            "HTTP",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }
}
