//! Tokens that their prefix gives away.

use super::prefixes::{Alphabet, Look, beginning_with};

/// How many bytes after a prefix decide whether it begins a token.
const DECIDING: usize = 128;

/// A token at the beginning of `bytes`.
pub(super) struct Token {
    /// How long it is, with its prefix.
    pub(super) length: usize,
    /// What it is.
    pub(super) kind: &'static str,
}

/// The token at the beginning of `bytes`, if they begin with one.
pub(super) fn token(bytes: &[u8]) -> Option<Token> {
    let first = *bytes.first()?;
    let known = beginning_with(first).iter().find_map(|prefix| {
        let rest = bytes.strip_prefix(prefix.text.as_bytes())?;
        let measure = |most: usize| {
            let run = rest.iter().take(most).take_while(|byte| prefix.alphabet.holds(**byte)).count();
            trimmed(rest, run)
        };
        // The beginning decides, so that what is no token costs little however long it is.
        let head = rest.get(..measure(DECIDING))?;
        if head.len() < prefix.least || is_filler(head) {
            return None;
        }
        let digit = head.iter().any(u8::is_ascii_digit);
        let looks = match prefix.look {
            Look::Any => true,
            Look::Random => digit || head.iter().any(u8::is_ascii_uppercase),
            Look::Digit => digit,
        };
        if !looks {
            return None;
        }
        let run = measure(usize::MAX);
        let length = prefix.text.len() + run;
        if prefix.kind == "jwt" {
            return web_token(bytes, length).map(|length| Token { length, kind: prefix.kind });
        }
        Some(Token { length, kind: prefix.kind })
    });
    known.or_else(|| shaped(bytes))
}

/// The kind of a value that is nothing but a token; `None` where it is none.
pub(super) fn token_kind(value: &str) -> Option<&'static str> {
    token(value.as_bytes()).filter(|token| token.length == value.len()).map(|token| token.kind)
}

/// A token that its shape gives away, without a prefix.
fn shaped(bytes: &[u8]) -> Option<Token> {
    let run = |from: usize, most: usize, alphabet: Alphabet| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take(most).take_while(|byte| alphabet.holds(**byte)).count()
    };
    let whole = |length: usize, kind: &'static str| {
        let is_end = !bytes.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        is_end.then_some(Token { length, kind })
    };
    let digits = bytes.iter().take(17).take_while(|byte| byte.is_ascii_digit()).count();
    // The number of a bot, and its key.
    if (6..=16).contains(&digits) && bytes.get(digits..digits + 2) == Some(b":A") {
        let key = run(digits + 1, 36, Alphabet::Word);
        return if key == 35 { whole(digits + 1 + key, "telegram_token") } else { None };
    }
    // The number of an application, and its secret.
    if (15..=16).contains(&digits) && bytes.get(digits) == Some(&b'|') {
        let secret = run(digits + 1, 41, Alphabet::Word);
        return if (27..=40).contains(&secret) { whole(digits + 1 + secret, "facebook_token") } else { None };
    }
    // `xxx8Q~` and what follows.
    if bytes.get(4..6) == Some(b"Q~")
        && bytes.get(3).is_some_and(u8::is_ascii_digit)
        && run(0, 3, Alphabet::Word) == 3
    {
        let secret = bytes.iter().skip(6).take(35);
        let secret = secret.take_while(|byte| Alphabet::Dotted.holds(**byte) || **byte == b'~').count();
        return if (31..=34).contains(&secret) { whole(6 + secret, "azure_secret") } else { None };
    }
    if bytes.get(14..23) == Some(b".atlasv1.") && run(0, 14, Alphabet::Plain) == 14 {
        let key = run(23, usize::MAX, Alphabet::Word);
        return if key >= 50 { whole(23 + key, "terraform_token") } else { None };
    }
    let is_licence = bytes.get(6) == Some(&b'_')
        && bytes.get(36..40) == Some(b"_mmk")
        && run(0, 6, Alphabet::Plain) == 6
        && run(7, 29, Alphabet::Plain) == 29;
    if is_licence { whole(40, "maxmind_key") } else { None }
}

/// The length of a JSON web token of which the header ends at `header`: a second part, and a signature if there is one.
fn web_token(bytes: &[u8], header: usize) -> Option<usize> {
    let part = |start: usize| -> Option<usize> {
        let rest = bytes.get(start..)?.strip_prefix(b".")?;
        let run = rest.iter().take_while(|byte| Alphabet::Word.holds(**byte)).count();
        (run >= 2).then_some(start + 1 + run)
    };
    let payload = part(header)?;
    if payload - header < 5 {
        return None;
    }
    Some(part(payload).unwrap_or(payload))
}

/// A length without the full stops and the like that end a sentence rather than a token.
fn trimmed(rest: &[u8], mut length: usize) -> usize {
    while length > 0 && rest.get(length - 1).is_some_and(|byte| matches!(byte, b'.' | b':' | b'-')) {
        length -= 1;
    }
    length
}

/// Whether a text is one character over and over: `xxxx`, `....`.
pub(super) fn is_filler(bytes: &[u8]) -> bool {
    let Some(first) = bytes.first() else { return true };
    bytes.iter().all(|byte| byte == first)
}

#[cfg(test)]
mod tests {
    use super::super::prefixes::PREFIXES;
    use super::*;

    #[test]
    fn tokens_without_a_prefix_are_known_by_their_shape() {
        let letters = "Hk3jd8Qw3rTyUiOpAsDfGhJkLzXcVbNmQ2x";
        for (text, kind) in [
            (format!("7381920456:A{}", &letters[..34]), "telegram_token"),
            (format!("123456789012345|{}", &letters[..27]), "facebook_token"),
            (format!("aB38Q~{}", &letters[..34]), "azure_secret"),
            (format!("aB3dEf6hIj9kLm.atlasv1.{letters}{letters}"), "terraform_token"),
            (format!("aB3dEf_{}_mmk", &letters[..29]), "maxmind_key"),
        ] {
            let found = token(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.kind, found.length), (kind, text.len()), "{text}");
        }
        for text in ["12:30:15", "1763812345:ABORT", "7381920456:A", "sha256:ab", "123456|Ab", "0Q~"] {
            assert!(token(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn every_prefix_is_reached() {
        for prefix in PREFIXES.iter().filter(|prefix| prefix.kind != "jwt") {
            let text = format!("{}{}", prefix.text, "A7B2C3D4E5F6A7B2".repeat(8));
            let found = token(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.kind, found.length), (prefix.kind, text.len()), "{text}");
        }
    }

    #[test]
    fn ordinary_words_are_no_tokens() {
        for text in [
            "sk-learn-contrib-extensions-package",
            "npm_config_registry_and_more_settings_here",
            "hf_hub_download_with_a_long_name",
            "AKIAxxxx",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "pypi-simple-index-mirror-of-packages-server",
            "eyJhbGciOiJIUzI1NiJ9",
            "key-value-store-implementation-with-long-name",
        ] {
            assert!(token(text.as_bytes()).is_none(), "{text}");
        }
    }
}
