//! Passwords that a sentence tells, and those that a command hands to a program.

use super::name::{Name, judge};
use super::value::{is_path, stands_for_one};

/// Words that name a password in a sentence. Others are told by the sign behind them (`name`).
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "wachtwoord",
    "senha",
    "lozinka",
    "heslo",
    "adgangskode",
    "salasana",
    "parola",
];

/// The same where one word alone does not name it, or it is not written in letters of ASCII.
const PHRASES: &[&str] = &[
    "mot de passe",
    "palabra clave",
    "contraseña",
    "contrasena",
    "lösenord",
    "hasło",
    "şifre",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];

/// What stands between the name and the password.
const LINKS: &[&str] =
    &["is", "was", "ist", "lautet", "war", "est", "es", "era", "é", "è", "jest", "är", "это", "是", "は"];

/// The greatest length of a password in a sentence, in bytes (ours).
const LONGEST: usize = 128;

/// Where the password stands that a sentence tells from this word on; `None` where it tells none: `the password is wrong`.
pub(super) fn told(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = text.get(start..)?;
    let name = named(rest)?;
    let mut at = start + name.length;
    let mut is_linked = false;
    at += blanks(text, at);
    if let Some(link) = LINKS.iter().find(|link| begins_with(text.get(at..).unwrap_or_default(), link)) {
        at += link.len();
        is_linked = true;
        at += blanks(text, at);
    }
    // Behind a single name the sign is for `name` to read.
    if let Some(sign) = text.get(at..)?.chars().next().filter(|sign| matches!(sign, ':' | '=' | '\u{ff1a}'))
        && (is_linked || name.is_phrase)
    {
        at += sign.len_utf8();
        is_linked = true;
        at += blanks(text, at);
    }
    if !is_linked {
        return None;
    }
    value(text, at)
}

struct Named {
    length: usize,
    is_phrase: bool,
}

/// The name of a password at the beginning of a text.
fn named(rest: &str) -> Option<Named> {
    let of = |names: &[&str], is_phrase| {
        let name = names.iter().find(|name| begins_with(rest, name))?;
        Some(Named { length: name.len(), is_phrase })
    };
    of(NAMES, false).or_else(|| of(PHRASES, true))
}

/// Whether a word in small letters begins a text, in any case, and ends there.
fn begins_with(text: &str, word: &str) -> bool {
    // Nearly every word ends here: the first bytes of a letter in both of its cases are the same.
    let begins = text.as_bytes().first().zip(word.as_bytes().first());
    if !begins.is_some_and(|(one, other)| one.eq_ignore_ascii_case(other)) {
        return false;
    }
    let mut letters = text.chars();
    for wanted in word.chars() {
        let is_same = letters.next().is_some_and(|letter| letter.to_lowercase().eq(std::iter::once(wanted)));
        if !is_same {
            return false;
        }
    }
    // In scripts without blanks no word ends before the next one.
    let is_spaced = word.chars().next_back().is_none_or(|last| u32::from(last) < 0x3000);
    // What is as long in small letters only holds for letters of one length.
    text.is_char_boundary(word.len())
        && !(is_spaced && letters.next().is_some_and(|letter| letter.is_alphanumeric() || letter == '_'))
}

fn blanks(text: &str, at: usize) -> usize {
    text.as_bytes().get(at..).unwrap_or_default().iter().take(8).take_while(|byte| **byte == b' ').count()
}

/// The password that a sentence goes on with: quoted, or a word that is none of a language.
fn value(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = beginning(text.get(at..)?, 2 * LONGEST);
    let first = rest.chars().next()?;
    let closing = match first {
        '"' | '\'' | '`' => Some(first),
        '\u{201c}' => Some('\u{201d}'),
        '\u{201e}' => Some('\u{201c}'),
        '\u{ab}' => Some('\u{bb}'),
        _ => None,
    };
    if let Some(closing) = closing {
        let start = at + first.len_utf8();
        let inside = rest.get(first.len_utf8()..)?;
        let length = inside.find([closing, '\n']).filter(|length| (1..=LONGEST).contains(length))?;
        let content = inside.get(..length)?;
        // What is called a password is the name of a setting.
        let is_name = content.contains(['_', '.']) && judge(content) != Name::Plain;
        let is_password =
            !stands_for_one("", content) && !content.starts_with('$') && !is_word(content) && !is_name;
        return is_password.then_some((start, start + length));
    }
    let length =
        rest.find(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>'));
    let word =
        rest.get(..length.unwrap_or(rest.len()))?.trim_end_matches(['.', ',', ';', ':', '?', ')', ']']);
    let is_password = (4..=LONGEST).contains(&word.len())
        && !stands_for_one("", word)
        && !word.starts_with(['$', '%', '{', '[', '('])
        && !is_path(word)
        && is_made_up(word);
    is_password.then_some((at, at + word.len()))
}

/// Words that say something of a password instead of telling it: `the password is "incorrect"`.
fn is_word(content: &str) -> bool {
    const SAID: &[&str] = &[
        "incorrect",
        "invalid",
        "wrong",
        "empty",
        "blank",
        "missing",
        "required",
        "correct",
        "valid",
        "set",
        "expired",
        "weak",
        "too short",
        "falsch",
        "leer",
    ];
    SAID.iter().any(|word| content.eq_ignore_ascii_case(word))
}

/// Whether a word is none of a language: letters with digits or signs, or digits alone.
fn is_made_up(word: &str) -> bool {
    /// Names of forms, which hold digits too.
    const FORMS: &[&str] =
        &["sha", "md5", "base64", "base32", "utf-", "utf8", "argon2", "pbkdf2", "hs256", "rs256", "rot13"];
    if FORMS.iter().any(|form| word.get(..form.len()).is_some_and(|head| head.eq_ignore_ascii_case(form))) {
        return false;
    }
    let letters = word.chars().any(char::is_alphabetic);
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_number = !letters && digits == word.len() && digits >= 6;
    let has_sign = word
        .chars()
        .any(|letter| matches!(letter, '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '+' | '=' | '~'));
    is_number || letters && (digits > 0 || has_sign)
}

/// Where the password stands that `echo` or `printf`, of which the word ends at `word_end`, hands to a program that asks for one.
pub(super) fn handed(text: &str, word_end: usize) -> Option<(usize, usize)> {
    let line = beginning(text.get(word_end..)?, REACH);
    let line = line.get(..line.find(['\n', ';']).unwrap_or(line.len()))?;
    let pipe = unquoted_pipe(line)?;
    let (shown, reader) = (line.get(..pipe)?, line.get(pipe + 1..)?);
    let reader = reader.get(..reader.find('|').unwrap_or(reader.len()))?;
    if !asks(reader) {
        return None;
    }
    let mut start = 0;
    loop {
        start += shown.get(start..)?.len() - shown.get(start..)?.trim_start().len();
        let word = shown.get(start..)?;
        let length = word.find(' ').unwrap_or(word.len());
        let word = word.get(..length)?;
        let is_option = matches!(word, "-n" | "-e" | "-ne" | "-en" | "-E" | "--" | "-r");
        let is_form = word.trim_matches(['"', '\'']).starts_with('%');
        if !is_option && !is_form {
            break;
        }
        start += length;
    }
    let content = shown.get(start..)?.trim_end();
    let bare = content.trim_start_matches(['"', '\'']);
    let start = start + content.len() - bare.len();
    let bare = bare.trim_end_matches(['"', '\'']);
    let bare = bare.strip_suffix("\\n").unwrap_or(bare);
    // `chpasswd` reads names too.
    let skipped = if reader.contains("chpasswd") { bare.find(':').map_or(0, |colon| colon + 1) } else { 0 };
    let secret = bare.get(skipped..)?;
    let is_filled_in = secret.starts_with(['$', '`', '{']) || secret.is_empty();
    (!is_filled_in && !stands_for_one("", secret))
        .then_some((word_end + start + skipped, word_end + start + bare.len()))
}

/// How far a command reaches, in bytes (ours).
const REACH: usize = 256;

/// The beginning of a text, of so many bytes at most.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// The pipe behind the first command of a line.
fn unquoted_pipe(line: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in line.bytes().enumerate() {
        match (quote, byte) {
            (None, b'|') => return (line.as_bytes().get(at + 1) != Some(&b'|')).then_some(at),
            (None, b'&') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Whether a command reads a password from its input.
pub(super) fn asks(command: &str) -> bool {
    let mut words = command.split_whitespace().peekable();
    let program = words.by_ref().find(|word| !word.contains('='));
    let is_short_option = |word: &str, letter: char| {
        word.starts_with('-') && !word.starts_with("--") && word.len() <= 8 && word.contains(letter)
    };
    let asks_by_itself =
        matches!(program, Some("chpasswd" | "cryptsetup" | "smbpasswd" | "kinit" | "htpasswd"));
    let asks = |word: &str| {
        matches!(
            word,
            "chpasswd"
                | "--password-stdin"
                | "--with-token"
                | "--token-stdin"
                | "--passphrase-fd"
                | "--stdin-password"
        ) || program == Some("sudo") && (is_short_option(word, 'S') || word == "--stdin")
            || program == Some("passwd") && word == "--stdin"
    };
    asks_by_itself || command.split_whitespace().any(asks)
}

/// Where the password stands that a here-string at `start` hands to the command before it: `sudo -S true <<< word`.
pub(super) fn handed_behind(text: &str, start: usize) -> Option<(usize, usize)> {
    let behind = text.get(start..)?.strip_prefix("<<<")?;
    if behind.starts_with('<') || text.get(..start)?.ends_with('<') {
        return None;
    }
    let from = (start.saturating_sub(REACH)..=start).find(|at| text.is_char_boundary(*at))?;
    let before = text.get(from..start)?;
    let command = before.rsplit(['\n', ';', '|', '&']).next()?;
    if !asks(command) {
        return None;
    }
    let at = start + 3 + blanks(text, start + 3);
    let rest = beginning(text.get(at..)?, REACH);
    let (at, end) = match rest.chars().next()? {
        quote @ ('"' | '\'') => (at + 1, rest.get(1..)?.find([quote, '\n'])?),
        _ => (
            at,
            rest.find(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '|' | '&'))
                .unwrap_or(rest.len()),
        ),
    };
    let secret = text.get(at..at + end)?;
    (!secret.starts_with(['$', '`', '{']) && !stands_for_one("", secret)).then_some((at, at + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, found: impl Fn(&str, usize) -> Option<(usize, usize)>) -> Option<&str> {
        (0..text.len())
            .filter(|at| text.is_char_boundary(*at))
            .filter(|at| !text[..*at].ends_with(char::is_alphabetic))
            .find_map(|at| found(text, at))
            .map(|(start, end)| &text[start..end])
    }

    #[test]
    fn a_sentence_tells_its_password() {
        for (text, secret) in [
            ("the password is Sommer2024!", "Sommer2024!"),
            ("The password is: hunter2.", "hunter2"),
            ("das Passwort ist Kn0blauch88z, bitte", "Kn0blauch88z"),
            ("mot de passe : tr0ub4dor", "tr0ub4dor"),
            ("Mot de passe est \"soleil\"", "soleil"),
            ("la contraseña es gatoNegro7", "gatoNegro7"),
            ("the password was 'swordfish'", "swordfish"),
            ("пароль: Zima2024", "Zima2024"),
            ("密码是Abc12345", "Abc12345"),
            ("Das Kennwort lautet „Regenbogen“", "Regenbogen"),
            ("its passcode is 482913", "482913"),
        ] {
            assert_eq!(shown(text, told), Some(secret), "{text}");
        }
        for text in [
            "the password is wrong",
            "the password is required.",
            "the password is 8 characters long",
            "password is case-sensitive",
            "the password is SHA256-hashed",
            "the password is $PASSWORD",
            "the password is stored in ~/.pgpass",
            "the password is in /run/secrets/db1",
            "the password is \"incorrect\"",
            "the password is `smtp_password` of the settings",
            "the password is not set",
            "Das Passwort ist falsch",
            "the passwords is Sommer2024",
            "mot de passe oublié ?",
            "password is <your-password1>",
            "the password is 2024-01-02",
        ] {
            assert_eq!(shown(text, told), None, "{text}");
        }
    }

    #[test]
    fn a_command_hands_its_password_on() {
        let echoed = |text: &str, at: usize| {
            let rest = &text[at..];
            let word = ["echo", "printf"].iter().find(|word| rest.starts_with(**word))?;
            handed(text, at + word.len())
        };
        for (text, secret) in [
            ("echo Geheim7x | sudo -S apt update", "Geheim7x"),
            ("echo 'two words' | sudo -kS true", "two words"),
            ("printf '%s' \"hunter22\" | docker login -u x --password-stdin", "hunter22"),
            ("printf 'hunter22\\n' | sudo --stdin true", "hunter22"),
            ("echo -n swordfish | gh auth login --with-token", "swordfish"),
            ("echo 'ann:swordfish' | chpasswd", "swordfish"),
            ("echo 'ann:swordfish' | sudo chpasswd", "swordfish"),
        ] {
            assert_eq!(shown(text, echoed), Some(secret), "{text}");
        }
        for text in [
            "echo done | tee log",
            "echo $PW | sudo -S true",
            "echo deb http://x | sudo tee /etc/apt/sources.list",
            "echo x && sudo -S true",
            "echo a; sudo -S true",
            "echo \"a | sudo -S\"",
            "cat pw | docker login --password-stdin",
            "echo y | sudo apt install -y S",
        ] {
            assert_eq!(shown(text, echoed), None, "{text}");
        }
        assert_eq!(shown("sudo -S true <<< hunter22; ls", handed_behind), Some("hunter22"));
        assert_eq!(shown("sudo -S true <<< \"$PW\"", handed_behind), None);
        assert_eq!(shown("cat <<< hunter22", handed_behind), None);
    }
}
