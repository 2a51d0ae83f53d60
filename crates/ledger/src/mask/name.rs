//! Names after which a secret stands.

/// How much a name says about what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// `password`, `API_KEY`, `authToken`: whatever follows is secret unless it only stands for a value.
    Secret(&'static str),
    /// `key`, `auth`, `session`: what follows is secret if it looks random.
    KeyLike,
    /// Anything else.
    Plain,
}

/// How many bytes at the end of a name decide.
const DECIDING: usize = 48;

/// Endings of a name that make it secret, with the kind that the mask says.
const SECRET: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("wachtwoord", "password"),
    ("motdepasse", "password"),
    ("contrasena", "password"),
    ("senha", "password"),
    ("secret", "secret"),
    ("token", "token"),
    ("apikey", "api_key"),
    ("authorization", "authorization"),
    ("secretkey", "secret_key"),
    ("accesskey", "secret_key"),
    ("accountkey", "secret_key"),
    ("privatekey", "private_key"),
    ("encryptionkey", "secret_key"),
    ("signingkey", "secret_key"),
    ("masterkey", "secret_key"),
    ("authkey", "secret_key"),
    ("authtok", "token"),
    ("credential", "secret"),
    ("credentials", "secret"),
    ("dbpass", "password"),
    ("userpass", "password"),
    ("rootpass", "password"),
    ("clientsecret", "secret"),
];

/// Last words of a compound name (`DB_PWD`, `smtp-pass`) that make it secret; alone they mean something else.
const SECRET_LAST_WORDS: &[&str] = &["pwd", "pass", "pw"];

/// Last words that make a name key-like.
const KEY_LIKE: &[&str] = &[
    "key",
    "auth",
    "creds",
    "cred",
    "cookie",
    "session",
    "sessionid",
    "sid",
    "jwt",
    "pat",
    "dsn",
    "webhook",
    "salt",
    "seed",
    "signature",
    "sig",
    "pwd",
    "pass",
    "pw",
    "pin",
    "otp",
    "bearer",
    "license",
    "keys",
    "secrets",
    "tokens",
    "passwords",
    "pem",
    "mdp",
];

/// First words that take the meaning away: `public_key`, `primary-key`, `sort_key`.
const HARMLESS: &[&str] =
    &["public", "primary", "foreign", "sort", "partition", "cache", "pub", "next", "page", "cancellation"];

/// What a name says. The name may hold `_`, `-`, `.` and capital letters as marks between its words.
pub(super) fn judge(name: &str) -> Name {
    let tail = name.len().saturating_sub(DECIDING);
    let tail = (tail..=name.len()).find_map(|start| name.get(start..)).unwrap_or(name);
    if tail.len() < 2 {
        return Name::Plain;
    }
    // The words run together in small letters, and where the last one begins.
    let mut joined = [0_u8; DECIDING];
    let mut length = 0;
    let mut last_word = 0;
    let mut first_end = None;
    let mut words = 1;
    let mut previous = b'_';
    for byte in tail.bytes() {
        let mark = matches!(byte, b'_' | b'-' | b'.');
        let hump = byte.is_ascii_uppercase() && (previous.is_ascii_lowercase() || previous.is_ascii_digit());
        if (mark || hump) && length > last_word {
            last_word = length;
            first_end = first_end.or(Some(length));
            words += 1;
        }
        previous = byte;
        if mark {
            continue;
        }
        if let Some(place) = joined.get_mut(length) {
            *place = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    let Some(all) = joined.get(..length).and_then(|bytes| str::from_utf8(bytes).ok()) else {
        return Name::Plain;
    };
    let all = all.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let last = all.get(last_word..).unwrap_or_default();
    if is_about_something_else(all, first_end, words) {
        return Name::Plain;
    }
    if let Some((_, kind)) = SECRET.iter().find(|(ending, _)| all.ends_with(ending)) {
        return Name::Secret(kind);
    }
    if words > 1 && SECRET_LAST_WORDS.contains(&last) {
        return Name::Secret("password");
    }
    if KEY_LIKE.contains(&last) || all.ends_with("key") || all.ends_with("sessionid") {
        Name::KeyLike
    } else {
        Name::Plain
    }
}

/// Whether a name is one of those whose first words take the meaning away: `public_key`, `next_token`, `next_page_token`. A longer one is
/// the secret of something that is called so.
fn is_about_something_else(all: &str, first_end: Option<usize>, words: usize) -> bool {
    if all.ends_with("password") {
        return false;
    }
    let first = first_end.and_then(|end| all.get(..end)).unwrap_or(all);
    let is_harmless =
        HARMLESS.contains(&first) || words == 1 && HARMLESS.iter().any(|word| all.starts_with(word));
    is_harmless && (words <= 2 || all.starts_with("nextpage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_by_their_end() {
        for name in [
            "password",
            "DB_PASSWORT",
            "dbPassword",
            "DB_PASSWORD",
            "PGPASSWORD",
            "mysqlRootPassword",
            "X-Api-Key",
            "apiKey",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "NPM_TOKEN",
            "accessToken",
            "spring.datasource.password",
            "MYSQL_PWD",
            "smtp-pass",
            "Authorization",
            "AccountKey",
            "password2",
            "OPENAI_API_KEY",
            "NEXTAUTH_SECRET",
            "NEXT_AUTH_SECRET",
            "PAGERDUTY_TOKEN",
            "PUBNUB_SECRET_KEY",
            "CACHE_AUTH_TOKEN",
        ] {
            assert!(matches!(judge(name), Name::Secret(_)), "{name}");
        }
        for name in ["key", "SSH_KEY", "sessionId", "auth", "SALT", "cookie"] {
            assert_eq!(judge(name), Name::KeyLike, "{name}");
        }
        for name in ["PWD", "pass"].iter().chain(&[
            "user",
            "max_token_count",
            "author",
            "tokenizer",
            "public_key",
            "publicKey",
            "next_token",
            "nextPageToken",
            "cancellation_token",
            "keyboard",
            "a",
        ]) {
            let found = judge(name);
            assert!(!matches!(found, Name::Secret(_)), "{name}");
        }
    }
}
