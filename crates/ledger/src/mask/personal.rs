//! Numbers that say who somebody is: payment cards, bank accounts, social security, telephones, addresses of machines. Each has a form that
//! can be checked, so that a build number or a time is none of them.

use super::national::{self, Window};
use super::{cards, phone};

/// A kind of personal data that is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonalKind {
    /// What a mask says in its place: `[masked:NAME:...]`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// By what it is recognised.
    pub recognised: &'static str,
}

/// All kinds of personal data that are masked (`audit.mask.personal_data`).
pub const PERSONAL_KINDS: [PersonalKind; 8] = [
    PersonalKind {
        name: "email",
        what: "mail addresses",
        recognised: "a name, `@`, and a domain with a dot; not the address in `git@host:path`, nor one that stands for anybody (`user@example.com`)",
    },
    PersonalKind {
        name: "card",
        what: "numbers of payment cards",
        recognised: "13 to 19 digits, alone or in groups, also over the end of a line, with the prefix and length of an issuer and a correct check digit (Luhn)",
    },
    PersonalKind {
        name: "iban",
        what: "bank accounts (IBAN)",
        recognised: "a country, the length of its accounts, and correct check digits (remainder of 97), in letters of one case, alone or in groups of four with blanks, `-`, `_` or `.` between them",
    },
    PersonalKind {
        name: "ssn",
        what: "social security numbers of the United States",
        recognised: "`123-45-6789`, except numbers that are never issued; with other signs or none where a word near it names it (`SSN 123 45 6789`)",
    },
    PersonalKind {
        name: "national_id",
        what: "numbers that a state gives to persons: [the table](reference/national-numbers.md) has 34 countries",
        recognised: "form, date and check digit, where a word near it names it (`BSN 111222333`), or where chance hits are rarer than one in a thousand",
    },
    PersonalKind {
        name: "name",
        what: "the names of people that you list in `audit.mask.names`",
        recognised: "the words of the name in any case, by themselves, with blanks or line ends between them",
    },
    PersonalKind {
        name: "phone",
        what: "telephone numbers",
        recognised: "after `+`, a country code and number in groups or of at least ten digits; after `00`, the same in groups; of North America `212-555-0173` and `(212) 555-0173`, also after `1-`",
    },
    PersonalKind {
        name: "ip",
        what: "addresses of machines",
        recognised: "IPv4 and IPv6 addresses of the open network; not those of this machine, of private networks or of documentation, nor those below `11.0.0.0`, which are written like versions (`8.8.8.8`), nor what the call talks to",
    },
];

/// What was found at the beginning of a text: its kind and its length in bytes.
pub(super) struct Personal {
    pub(super) kind: &'static str,
    pub(super) length: usize,
}

/// What of a user stands at the beginning of `rest`, which begins a word; `before` is the text in front of it.
pub(super) fn personal(rest: &[u8], before: &[u8]) -> Option<Personal> {
    let found = |kind, length: Option<usize>| length.map(|length| Personal { kind, length });
    // The host of an address, or a part of a path or a longer version, says what is talked to.
    let is_part = matches!(before.last(), Some(b'/' | b'@' | b'.' | b'-'));
    let long_machine = || if begins_long_machine(before) { long_machine_address(rest) } else { None };
    let national = || found("national_id", national::national(rest, before));
    match rest.first()? {
        b'+' => found("phone", phone::international(rest)),
        b'(' => found("phone", phone::bracketed(rest)),
        b'f' | b'F' if before.ends_with(b"::") => found("ip", mapped_machine_address(rest, before)),
        b'A'..=b'Z' => found("iban", bank_account(rest)).or_else(national),
        b'a'..=b'z' => found("iban", bank_account(rest)),
        b'0'..=b'9' => found("card", cards::payment_card(rest, before))
            .or_else(|| found("ssn", social_security(rest)))
            .or_else(|| found("ssn", named_social_security(rest, before)))
            .or_else(national)
            .or_else(|| found("phone", phone::dialled(rest, before)))
            .or_else(|| found("phone", phone::national(rest, before)))
            .or_else(|| if is_part { None } else { found("ip", machine_address(rest)) })
            .or_else(|| found("ip", long_machine())),
        _ => None,
    }
}

/// Whether nothing that belongs to the same word stands behind.
pub(super) fn ends(rest: &[u8], length: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match (rest.get(length), rest.get(length + 1)) {
        (None, _) => true,
        (Some(b'-' | b'.'), Some(next)) => !is_word(next),
        (Some(byte), _) => !is_word(byte),
    }
}

/// The same for a number of a person, which an underscore or the ending of a file may follow: `4539148803436467.csv`.
pub(super) fn ends_number(rest: &[u8], length: usize) -> bool {
    match (rest.get(length), rest.get(length + 1)) {
        (Some(b'.'), Some(next)) => !next.is_ascii_digit() && *next != b'_',
        (Some(b'_'), Some(next)) => !next.is_ascii_digit(),
        _ => ends(rest, length),
    }
}

/// The kind of personal data that a text is from its beginning to its end, as the value of a key of this name; `None` where it is none.
pub(super) fn kind_of_value(name: &str, text: &str) -> Option<&'static str> {
    let before = [name.as_bytes(), b" "].concat();
    personal(text.as_bytes(), &before).filter(|found| found.length == text.len()).map(|found| found.kind)
}

/// How long the accounts of a country are (ISO 13616, registry of SWIFT); 0 where it has none.
fn account_length(country: [u8; 2]) -> usize {
    match &country {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"FO" | b"GL" | b"NL" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"XK" => 20,
        b"CH" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"BH" | b"CR" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" | b"VA" => 22,
        b"AE" | b"GI" | b"IL" | b"IQ" | b"OM" | b"SO" | b"TL" => 23,
        b"AD" | b"CZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK" | b"TN" | b"VG" => 24,
        b"LY" | b"PT" | b"ST" => 25,
        b"IS" | b"TR" => 26,
        b"BI" | b"DJ" | b"FR" | b"GR" | b"IT" | b"MC" | b"MR" | b"SM" => 27,
        b"AL" | b"AZ" | b"BY" | b"CY" | b"DO" | b"GT" | b"HN" | b"HU" | b"LB" | b"NI" | b"PL" | b"SV" => 28,
        b"BR" | b"EG" | b"PS" | b"QA" | b"UA" => 29,
        b"JO" | b"KW" | b"MU" | b"YE" => 30,
        b"MT" | b"SC" => 31,
        b"LC" => 32,
        b"RU" => 33,
        _ => 0,
    }
}

/// Bank accounts (ISO 13616): a country, two check digits, and as many letters and digits as the country has, in letters of one case, alone
/// or in groups of four.
fn bank_account(rest: &[u8]) -> Option<usize> {
    let (country, check) = (rest.first_chunk::<2>()?.to_ascii_uppercase(), rest.get(2..4)?);
    let wanted = account_length([*country.first()?, *country.get(1)?]);
    // Nearly every word ends here.
    if wanted == 0 || !check.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let is_small = rest.first()?.is_ascii_lowercase();
    let belongs = |byte: u8| {
        byte.is_ascii_digit() || if is_small { byte.is_ascii_lowercase() } else { byte.is_ascii_uppercase() }
    };
    let mut account = Vec::new();
    let mut length = 0;
    for (at, byte) in rest.iter().enumerate() {
        if account.len() < wanted && belongs(*byte) {
            account.push(byte.to_ascii_uppercase());
            length = at + 1;
        } else if !matches!(byte, b' ' | b'-' | b'_' | b'.')
            || account.len() == wanted
            || account.len() % 4 != 0
            || length != at
            || !rest.get(at + 1).is_some_and(|next| belongs(*next))
        {
            break;
        }
    }
    let turned = account.get(4..)?.iter().chain(account.get(..4)?);
    let rest_of_97 = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (account.len() == wanted && rest_of_97 == 1 && ends_number(rest, length)).then_some(length)
}

/// `123-45-6789`, without the numbers that are never given out.
fn social_security(rest: &[u8]) -> Option<usize> {
    let text = rest.get(..11)?;
    let (area, group, serial) = (text.get(..3)?, text.get(4..6)?, text.get(7..11)?);
    let all_digits = [area, group, serial].into_iter().flatten().all(u8::is_ascii_digit);
    let given =
        area != b"000" && area != b"666" && !area.starts_with(b"9") && group != b"00" && serial != b"0000";
    (all_digits && given && text.get(3) == Some(&b'-') && text.get(6) == Some(&b'-') && ends_number(rest, 11))
        .then_some(11)
}

/// The same in digits alone, or with other signs between its groups, where a word near it names it: `SSN 536 90 4399`.
fn named_social_security(rest: &[u8], before: &[u8]) -> Option<usize> {
    const WORDS: &[&str] = &["ssn", "social security", "social security number"];
    let is_sign = |byte: u8| matches!(byte, b' ' | b'.' | b'/' | b'-' | b'_');
    let mut digits = Vec::new();
    let mut length = 0;
    for (at, byte) in rest.iter().take(11).enumerate() {
        if byte.is_ascii_digit() && digits.len() < 9 {
            digits.push(*byte);
            length = at + 1;
        } else if !(is_sign(*byte) && length == at && matches!(digits.len(), 3 | 5)) {
            break;
        }
    }
    let (area, group, serial) = (digits.get(..3)?, digits.get(3..5)?, digits.get(5..9)?);
    let written = [area, b"-", group, b"-", serial].concat();
    (social_security(&written).is_some() && ends_number(rest, length) && Window::of(before).names(WORDS))
        .then_some(length)
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

/// Whether an IPv6 address may begin behind this text. In brackets it stands with a port; those of a URL hold the host that is talked to.
/// A colon in front of it belongs to a label (`addr:`), or to a longer chain of numbers.
fn begins_long_machine(before: &[u8]) -> bool {
    match before {
        [.., b'/' | b'@', b'['] | [.., b'/' | b'@' | b'.' | b'-'] | [b':'] => false,
        [.., label, b':'] => *label != b':' && !label.is_ascii_hexdigit(),
        _ => true,
    }
}

/// Whether nothing that belongs to the same address stands behind. Behind a dot some programs write a port (`2606:4700::1.443`).
fn ends_long_machine(rest: &[u8], length: usize) -> bool {
    let port = |behind: &[u8]| {
        let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (1..=5).contains(&digits) && ends(behind, digits)
    };
    ends(rest, length) || rest.get(length) == Some(&b'.') && rest.get(length + 1..).is_some_and(port)
}

/// An IPv6 address of the open network (`2000::/3`), without those of documentation.
fn long_machine_address(rest: &[u8]) -> Option<usize> {
    /// As many groups and colons as there can be, with an IPv4 address at the end.
    const LONGEST: usize = 45;
    // Four digits and a colon come first, so no time and no hardware address gets further.
    let is_wide = matches!(rest.first(), Some(b'2' | b'3')) && rest.get(4) == Some(&b':');
    if !is_wide {
        return None;
    }
    let (address, length) = written_out(rest, LONGEST)?;
    let [first, second, ..] = address.segments();
    let is_documentation = (first, second) == (0x2001, 0xdb8) || first == 0x3fff;
    (!is_documentation && ends_long_machine(rest, length)).then_some(length)
}

/// The address at the beginning of a text, and its length. A colon or a dot behind it belongs to the sentence.
fn written_out(rest: &[u8], longest: usize) -> Option<(std::net::Ipv6Addr, usize)> {
    let groups =
        rest.iter().take(longest + 1).take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':').count();
    // The last group may be the beginning of an IPv4 address.
    let dotted = rest.iter().take(longest + 1).skip(groups);
    let dotted = groups + dotted.take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    [dotted, groups].into_iter().find_map(|length| {
        let text = std::str::from_utf8(rest.get(..length)?).ok()?;
        let text = text.trim_end_matches('.');
        let text = text.strip_suffix(':').filter(|text| !text.ends_with(':')).unwrap_or(text);
        text.parse().ok().map(|address| (address, text.len()))
    })
}

/// An IPv4 address that is written as an IPv6 one in hexadecimal digits (`::ffff:5db8:d822`), from its `ffff` on; the other way of writing
/// it holds the IPv4 address as it is.
fn mapped_machine_address(rest: &[u8], before: &[u8]) -> Option<usize> {
    // What is in front of the colons is a name in code, or a longer address.
    let is_whole = |before: &[u8]| {
        before
            .last()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b':' | b'/' | b'>'))
    };
    let text = rest.get(..5)?;
    if !text.eq_ignore_ascii_case(b"ffff:") || !is_whole(before.get(..before.len().checked_sub(2)?)?) {
        return None;
    }
    let groups = rest.iter().take(15).take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':').count();
    let text = std::str::from_utf8(rest.get(..groups)?).ok()?;
    let address: std::net::Ipv6Addr = format!("::{text}").parse().ok()?;
    let mapped = address.to_ipv4_mapped()?.to_string();
    (machine_address(mapped.as_bytes()).is_some() && ends_long_machine(rest, groups)).then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::personal;

    fn kind(text: &str) -> Option<(&'static str, usize)> {
        personal(text.as_bytes(), b"").map(|found| (found.kind, found.length))
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
            ("(212) 555-0173", ("phone", 14)),
            ("(212)555-0173, and", ("phone", 13)),
            ("de89370400440532013000", ("iban", 22)),
            ("NO93 8601 1117 947", ("iban", 18)),
            ("93.184.216.34", ("ip", 13)),
            ("2606:4700:4700::1111", ("ip", 20)),
            ("2a00:1450:4001:81b::200e.", ("ip", 24)),
            ("2a00:1450:4001:81b::200e:", ("ip", 24)),
            ("2A00:1450:4001:081B:0000:0000:0000:200E", ("ip", 39)),
            ("2606:4700:4700::1111%eth0", ("ip", 20)),
            ("2606:4700:4700::1111/64", ("ip", 20)),
            ("2606:4700:4700::1111]:443", ("ip", 20)),
            ("2606:4700:4700::1111.443 > ", ("ip", 20)),
        ] {
            assert_eq!(kind(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn versions_and_hosts_of_addresses_are_no_machines_of_a_person() {
        for before in *b"/@.-" {
            assert!(personal(b"93.184.216.34", &[before]).is_none(), "{}", char::from(before));
        }
        for before in ["/", "@", ".", "-", "//[", "user@[", "aa:", "::"] {
            assert!(personal(b"2606:4700:4700::1111", before.as_bytes()).is_none(), "{before}");
        }
        for before in ["[", "from [", "addr:", "inet6 ", "(", "\"", "=", ","] {
            assert!(personal(b"2606:4700:4700::1111", before.as_bytes()).is_some(), "{before}");
        }
        assert!(personal(b"93.184.216.34", b"[").is_some());
    }

    #[test]
    fn addresses_that_stand_for_older_ones_are_found() {
        for before in ["::", " ::", "[::", "=::"] {
            assert!(personal(b"ffff:5db8:d822", before.as_bytes()).is_some(), "{before}");
            // Those of private networks are nobody's.
            assert!(personal(b"ffff:c0a8:0104", before.as_bytes()).is_none(), "{before}");
        }
        for before in ["std::", "a::", "<T>::", "/::", "1::"] {
            assert!(personal(b"ffff:5db8:d822", before.as_bytes()).is_none(), "{before}");
        }
        assert!(personal(b"ffff::new()", b"std::").is_none());
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
            "XX89370400440532013000",
            "De89370400440532013000",
            "DE893704004405320130",
            "2001:db8::1",
            "20:15:30",
            "2026:11:22",
            "2c:54:91:88:c9:e3",
            "(212) of 555",
            "(100) 555-0173",
            "f(2125550173)",
            "+2026-11-22 10:11:12",
            "+192.168.100.200 host",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }
}
