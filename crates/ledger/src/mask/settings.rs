//! The values of a list of settings (`NAME=value` in each line) that are worth keeping secret.

use super::name::{Name, judge};
use super::token::is_filler;
use super::value::{is_path, looks_random, stands_for_one};

/// A value that must not be shown, and what its mask says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSetting {
    /// The name that it stands behind; empty where that is not known.
    pub(super) name: String,
    /// The kind in its mask.
    pub(super) kind: &'static str,
    /// How much of what is looked for stays, in bytes.
    pub(super) stays: usize,
    /// The value, without quotes, behind what stays.
    pub(super) value: String,
}

impl SecretSetting {
    /// Whether it is a secret by its name, not only by its looks.
    pub fn is_named(&self) -> bool {
        self.kind != BY_LOOKS
    }

    /// The length of the value, in bytes.
    pub fn length(&self) -> usize {
        self.value.len()
    }

    /// The same where it stands behind its name and a `=` only: short values may be words. One for each way to quote it.
    pub fn behind_its_name(self) -> impl Iterator<Item = Self> {
        let Self { name, kind, value, .. } = self;
        ["=", "=\"", "='"].into_iter().map(move |sign| Self {
            name: name.clone(),
            kind,
            stays: name.len() + sign.len(),
            value: format!("{name}{sign}{value}"),
        })
    }

    /// What stands in place of it, with the mask of its secret part.
    pub(super) fn with_mask(&self, mask: impl Fn(&str) -> String) -> String {
        let (stays, secret) = self.value.split_at_checked(self.stays).unwrap_or(("", &self.value));
        format!("{stays}{}", mask(secret))
    }
}

/// What a mask says of a value that only looks like a secret.
const BY_LOOKS: &str = "setting";

/// The shortest value that is masked wherever it stands, in bytes (ours): shorter ones are parts of everything.
const SHORTEST: usize = 4;

/// From how many bytes on a value of letters and digits is taken for a secret under any name (ours).
const MIXED: usize = 8;

/// The values of a list of settings that are masked for whoever reads it; something may stand before the names, as programs print it that
/// search or compare. What a line says about ports, modes, places and whether something is switched on is no secret, and is what people
/// look for.
pub fn secret_settings(text: &str) -> Vec<SecretSetting> {
    let mut all: Vec<SecretSetting> = text.lines().flat_map(in_line).collect();
    // The longer first: one may be a part of another.
    all.sort_by(|one, other| {
        other.value.len().cmp(&one.value.len()).then_with(|| one.value.cmp(&other.value))
    });
    all.dedup();
    all
}

/// The variable of an environment when its value is a secret by its name and was made by chance: a word would be masked wherever it stands.
pub fn secret_variable(name: &str, value: &str) -> Option<SecretSetting> {
    match judge(name) {
        Name::Secret(kind) if looks_random(value) => {
            Some(SecretSetting { name: String::new(), kind, stays: 0, value: value.to_owned() })
        }
        Name::Secret(_) | Name::KeyLike | Name::Plain => None,
    }
}

fn in_line(line: &str) -> Vec<SecretSetting> {
    let Some((before, rest)) = line.split_once(['=', ':']) else { return Vec::new() };
    let is_remark = line.trim_start().starts_with('#');
    if line.find('=') != Some(before.len()) && !is_remark {
        // `file:12:NAME=value`, as programs print it that search.
        return in_line_behind(line);
    }
    let before = before.trim_end();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let name = before.get(before.trim_end_matches(is_part).len()..).unwrap_or_default();
    let rest = rest.trim();
    let value = unquoted(rest);
    let whole = |kind, value: &str| {
        let fits = value.len() >= SHORTEST && !is_placeholder(value) && !is_switch(value);
        fits.then(|| SecretSetting { name: name.to_owned(), kind, stays: 0, value: value.to_owned() })
            .into_iter()
            .collect()
    };
    match judge(name) {
        Name::Secret(kind) => whole(kind, value),
        // The directory in which one works, under the name that every shell gives it.
        Name::KeyLike | Name::Plain if WORKING.contains(&name) && value.starts_with('/') => Vec::new(),
        // Elsewhere such a name may stand before anything; in a list it says what the value is for.
        Name::KeyLike | Name::Plain if speaks_of_secrets(name) && !is_plainly_no_secret(name, value) => {
            whole("secret", value)
        }
        // A description of the terminal, the system or the client, which has numbers in it.
        Name::KeyLike | Name::Plain if DESCRIBING.contains(&name) => Vec::new(),
        // What is said there of something else, in whatever form.
        Name::KeyLike | Name::Plain if assigns_secret(rest) => whole("secret", value),
        Name::KeyLike if !is_ordinary(value) => whole("key", value),
        Name::Plain if !is_ordinary(value) && is_unusual(value) && !is_path_of_words(value) => {
            whole(BY_LOOKS, value)
        }
        Name::KeyLike | Name::Plain => value
            .split(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '?' | '&' | '='))
            .filter(|word| {
                *word != value && looks_random(word) && !(value.starts_with('/') && is_made_of_words(word))
            })
            .map(|word| SecretSetting {
                name: name.to_owned(),
                kind: BY_LOOKS,
                stays: 0,
                value: word.to_owned(),
            })
            .collect(),
    }
}

/// Whether a value is an absolute path of names that people and programs give.
fn is_path_of_words(value: &str) -> bool {
    let mut parts = value.strip_prefix('/').unwrap_or_default().split('/').filter(|part| !part.is_empty());
    value.matches('/').count() >= 2 && parts.all(|part| !looks_random(part) || is_made_of_words(part))
}

/// Whether a name is made of words with short numbers between them: `claude-code-linux-x64`.
fn is_made_of_words(name: &str) -> bool {
    let parts = || name.split(['-', '_', '.', '@', '+']).filter(|part| !part.is_empty());
    let is_word = |part: &str| part.len() <= 20 && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (mut words, mut letters) = (0_usize, 0_usize);
    for part in parts() {
        if is_word(part) {
            words += 1;
            letters += part.len();
        } else if part.len() > 4 {
            return false;
        }
    }
    // Mostly words: what is cut into groups of letters and digits is none.
    words * 2 >= parts().count() && letters * 2 > name.len()
}

fn in_line_behind(line: &str) -> Vec<SecretSetting> {
    let start = line.find('=').and_then(|sign| line.get(..sign)?.rfind(':'));
    start.and_then(|colon| line.get(colon + 1..)).map(in_line).unwrap_or_default()
}

/// Whether a text gives something of which the name speaks of secrets a value: a second setting, a part of a connection string, a field of
/// JSON, the user part of an address.
fn assigns_secret(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let speaks = words.into_iter().any(|word| {
        let word = word.to_ascii_lowercase();
        TELLING.contains(&word.as_str()) || IN_ADDRESSES.contains(&word.as_str())
    });
    speaks && text.contains(['=', ':']) || text.contains('@') && text.contains(':')
}

/// Whether a value only says that something belongs here.
fn is_placeholder(value: &str) -> bool {
    let between = |open: &str, close: &str| value.starts_with(open) && value.ends_with(close);
    stands_for_one("", value)
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
        || is_filler(value.as_bytes())
        || value.contains("[masked:") && value.ends_with(']')
        || between("${", "}")
        || between("{{", "}}")
        || between("<", ">")
            && value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"<>-_ ".contains(&byte))
}

/// Parts of addresses that carry a secret.
const IN_ADDRESSES: [&str; 4] = ["sig", "signature", "webhooks", "hooks"];

/// Words of a name that say that its value has to do with secrets.
const TELLING: [&str; 34] = [
    "secret",
    "secrets",
    "token",
    "tokens",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passwort",
    "pass",
    "pwd",
    "pw",
    "credential",
    "credentials",
    "creds",
    "key",
    "keys",
    "apikey",
    "auth",
    "private",
    "pin",
    "otp",
    "salt",
    "seed",
    "mnemonic",
    "phrase",
    "recovery",
    "cookie",
    "jwt",
    "login",
    "license",
    "dsn",
    "signing",
    "encryption",
];

/// Words of a name behind which numbers are secrets.
const NUMBERS: [&str; 2] = ["pin", "otp"];

/// Variables in which shells and package managers keep the directory that they work in (POSIX.1-2024, `cd`; npm, `INIT_CWD`).
const WORKING: [&str; 3] = ["PWD", "OLDPWD", "INIT_CWD"];

/// Variables that say what something is, never what opens it.
const DESCRIBING: [&str; 24] = [
    "AI_AGENT",
    "COLORTERM",
    "DESKTOP_SESSION",
    "EDITOR",
    "HOSTNAME",
    "HOSTTYPE",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "LS_COLORS",
    "MACHTYPE",
    "OSTYPE",
    "PAGER",
    "SHELL",
    "TERM",
    "TERM_FEATURES",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TZ",
    "USER",
    "VISUAL",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
];

fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase)
}

fn speaks_of_secrets(name: &str) -> bool {
    words(name).any(|word| TELLING.contains(&word.as_str()))
}

fn is_switch(value: &str) -> bool {
    const SWITCHES: [&str; 8] = ["true", "false", "none", "null", "enabled", "disabled", "auto", "basic"];
    SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a value is a number or a place, as settings about secrets have them.
fn is_plainly_no_secret(name: &str, value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let has_number = words(name).any(|word| NUMBERS.contains(&word.as_str()));
    is_number && !has_number || is_path(value) || value.contains("://")
}

/// A value without the quotes around it; where a quote stands inside too, or a remark behind, all of it.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inside = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inside) = inside.filter(|inside| !inside.contains(quote)) {
            return inside;
        }
    }
    value
}

/// Whether a value says something that everybody may know: a number, a switch, a place, an address of the network without a password.
fn is_ordinary(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'-'));
    let is_word =
        value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b','));
    let is_address = value.contains("://") || value.split(['.', ':']).count() > 2 && !looks_random(value);
    is_number || is_word || is_address || is_path(value) || value.contains(char::is_whitespace)
}

/// Whether a value looks made by chance, so that it is secret under any name.
fn is_unusual(value: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| value.as_bytes().iter().any(fits);
    looks_random(value) || value.len() >= MIXED && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_words_is_masked_nowhere() {
        assert!(secret_variable("GITHUB_TOKEN", "a1b2c3d4e5f6a7b8c9d0").is_some());
        for (name, value) in [
            ("MY_SECRET", "production1"),
            ("SESSION_TOKEN", "x86_64-linux"),
            ("BUILD", "a1b2c3d4e5f6a7b8c9d0"),
        ] {
            assert_eq!(secret_variable(name, value), None, "{name}");
        }
    }

    #[test]
    fn ordinary_paths_are_no_secrets() {
        for line in [
            "PWD=/home/ann/Projects/app2/src",
            "OLDPWD=/home/Ann/work/V2/api",
            "PATH=/home/ann/.npm/node_modules/claude-code-linux-x64/bin:/usr/bin",
            "NODE=/opt/hostedtoolcache/node/20.11.1/x64/bin/node",
            "VIRTUAL_ENV=/home/Ann/Work2/venv",
        ] {
            assert_eq!(secret_settings(line), [], "{line}");
        }
        for line in [
            "PWD=hunter2hunter2",
            "DB_PWD=/hunter/2Aa",
            "SOMETHING=/wJalrXUtnFEMI9K7MDENG/bPxRfiCY3EXA9",
            "LINK=/x/9f8e7d6c5b4a3f2e1d0c/y",
            "LINK=/x/9f8e-7d6c-5b4a-3f2e-1d0c/y",
        ] {
            assert_ne!(secret_settings(line), [], "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_secret_is_told_apart() {
        let found = secret_settings("MODEL=small-model-4-20260514\nAPI_KEY=a1b2c3d4e5f6a7b8c9d0\n");
        let named: Vec<bool> = found.iter().map(SecretSetting::is_named).collect();
        assert_eq!(named, [false, true]);
    }

    #[test]
    fn what_describes_the_terminal_and_the_client_is_no_secret() {
        let list =
            "TERM=xterm-256color\nAI_AGENT=claude-code_2-1-197_agent\nTERM_PROGRAM_VERSION=3.5.0beta12x\n";
        assert!(
            secret_settings(list).is_empty(),
            "{:?}",
            secret_settings(list).iter().map(|one| &one.name).collect::<Vec<_>>()
        );
        assert_eq!(secret_settings("TERMX=9f8e7d6c5b4a3f2e1d0c\n").len(), 1);
    }

    #[test]
    fn what_is_worth_keeping_is_found_and_the_rest_stays() {
        let list = "# of the shop\nexport API_KEY=sk-live-abcdefghijklmnop1234\nDB_PASSWORD='correct horse'\nPIN_CODE=hunter2\n\
                    STRIPE=9f8e7d6c5b4a3f2e1d0c\nSESSION_SECRET=abcd # for now\nPORT=3000\nNODE_ENV=production\nLOG=/var/log/x1\n\
                    PIN=1234\nSECRET_LIST=one two\nTOKEN_TTL=3600\nUSE_SECRET=true\nAUTH_ENABLED=true\nKEY_FILE=/run/keys/a\n\
                    HOST=db.example.internal\nDEBUG=true\nURL=https://example.com/a1b2c3\nTOKEN=changeme\nEMPTY=\n";
        let found: Vec<(&str, String)> =
            secret_settings(list).into_iter().map(|setting| (setting.kind, setting.value)).collect();
        let expected = [
            ("api_key", "sk-live-abcdefghijklmnop1234"),
            ("setting", "9f8e7d6c5b4a3f2e1d0c"),
            ("secret", "abcd # for now"),
            ("password", "correct horse"),
            ("secret", "hunter2"),
            ("secret", "one two"),
            ("secret", "1234"),
        ];
        let expected: Vec<(&str, String)> =
            expected.into_iter().map(|(kind, value)| (kind, value.to_owned())).collect();
        assert_eq!(found, expected);
    }
}
