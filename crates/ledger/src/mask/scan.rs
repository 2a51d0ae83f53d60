//! The scanner: one pass over the bytes of a text, from word to word.

use super::form::{is_scheme, is_user_and_password, mailbox};
use super::name::{Name, judge};
use super::personal::personal;
use super::spelling::Spelling;
use super::token::{token, token_kind};
use super::told;
use super::value::{assigned, is_secret, looks_random, stands_for_one};
use super::{MaskKey, MaskingChoice, mask_length};

/// The text with every secret masked that one pass finds; `None` when it finds none.
pub(super) fn scan(text: &str, key: &MaskKey) -> Option<String> {
    masked(text, &found(text, key), key)
}

/// The same for what a text reads, where it is not written so.
pub(super) fn scan_read(text: &str, key: &MaskKey) -> Option<String> {
    let read = Spelling::of(text)?;
    let found: Vec<Found> = found(&read.text, key)
        .into_iter()
        .map(|one| Found { start: read.place(one.start), end: read.place(one.end), ..one })
        .collect();
    masked(text, &found, key)
}

/// A secret, and where it stands.
#[derive(Clone, Copy)]
struct Found {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The secrets of a text, in their order.
fn found(text: &str, key: &MaskKey) -> Vec<Found> {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        key,
        found: Vec::new(),
        copied: 0,
        name_end: 0,
        sequence_end: 0,
        address_floor: 0,
        program: Program::Other,
        beside_key_id: text.contains("AKIA") || text.contains("ASIA") || text.contains("[masked:aws_key_id:"),
    };
    scanner.run();
    scanner.found
}

/// The text with these masked; `None` where there are none.
fn masked(text: &str, found: &[Found], key: &MaskKey) -> Option<String> {
    let mut output = String::new();
    let mut copied = 0;
    for Found { start, end, kind } in found {
        let (Some(before), Some(secret)) = (text.get(copied..*start), text.get(*start..*end)) else {
            continue;
        };
        output.push_str(before);
        output.push_str(&key.mask(kind, secret));
        copied = *end;
    }
    output.push_str(text.get(copied..).unwrap_or_default());
    (copied > 0).then_some(output)
}

/// What one step found.
enum Step {
    /// A secret from `start` to `end`.
    Secret { start: usize, end: usize, kind: &'static str },
    /// Nothing up to here.
    Past(usize),
}

/// The program of the command that is being read, as far as its short flags carry secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Other,
    Curl,
    Sshpass,
    Mysql,
    Redis,
    Container,
    ContainerLogin,
    Openssl,
}

impl Program {
    fn after(self, word: &str) -> Self {
        match word {
            "curl" | "http" | "https" if self == Self::Other => Self::Curl,
            "sshpass" => Self::Sshpass,
            "mysql" | "mysqldump" | "mysqladmin" | "mysqlimport" | "mariadb" => Self::Mysql,
            "redis" => Self::Redis,
            "docker" | "podman" | "nerdctl" | "helm" | "oc" | "az" | "buildah" | "skopeo" => Self::Container,
            "login" if self == Self::Container => Self::ContainerLogin,
            "openssl" => Self::Openssl,
            _ => self,
        }
    }
}

struct Scanner<'text> {
    text: &'text str,
    bytes: &'text [u8],
    key: &'text MaskKey,
    found: Vec<Found>,
    /// The end of the last secret.
    copied: usize,
    /// Up to where names were judged.
    name_end: usize,
    /// Behind the last sequence that stands for something else than its letters.
    sequence_end: usize,
    /// Before this no mail address is looked for: it is the user part of a URL.
    address_floor: usize,
    program: Program,
    /// Whether the text names an AWS key, so that the secret key may stand in it too.
    beside_key_id: bool,
}

/// The length of a sequence at the beginning of `bytes` whose letters are no part of the word behind it: a colour of a terminal (ECMA-48, 5.4), or an
/// escape within quotes (RFC 8259, 7). 1 where it is none.
fn sequence_length(bytes: &[u8]) -> usize {
    match bytes {
        [0x1b, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            if rest.get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte)) {
                parameters + 3
            } else {
                2
            }
        }
        [b'\\', b'u', rest @ ..]
            if rest.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 =>
        {
            // An escaped colour: `\u001b[31m`.
            match rest.strip_prefix(b"001b").or_else(|| rest.strip_prefix(b"001B")) {
                Some([b'[', behind @ ..]) => {
                    let parameters = behind.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
                    7 + parameters + usize::from(behind.get(parameters).is_some_and(u8::is_ascii_alphabetic))
                }
                Some(_) | None => 6,
            }
        }
        [b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'"' | b'\\', ..] => 2,
        _ => 1,
    }
}

impl<'text> Scanner<'text> {
    fn run(&mut self) {
        let mut position = 0;
        while let Some(byte) = self.bytes.get(position).copied() {
            let step = match byte {
                b'[' => self.at_bracket(position),
                b'-' => self.at_dash(position),
                b':' => self.at_colon(position),
                b'@' => self.at_sign(position),
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.at_word(position),
                b'/' | b'+' if self.beside_key_id => {
                    self.secret_key(position).unwrap_or(Step::Past(position + 1))
                }
                b'+' | b'(' => self.person(position).unwrap_or(Step::Past(position + 1)),
                b'\n' | b';' | b'|' | b'&' => {
                    self.program = Program::Other;
                    Step::Past(position + 1)
                }
                b'<' => self.handed_behind(position).unwrap_or(Step::Past(position + 1)),
                0xc3..=0xf0 => self.foreign(position).unwrap_or(Step::Past(position + 1)),
                b'\\' | 0x1b => {
                    self.sequence_end = position + sequence_length(self.rest(position));
                    Step::Past(self.sequence_end)
                }
                _ => Step::Past(position + 1),
            };
            position = match step {
                Step::Secret { start, end, kind } if self.key.masks(kind) => self.mask(start, end, kind),
                Step::Secret { end, .. } => end,
                Step::Past(next) => next.max(position + 1),
            };
        }
    }

    /// Takes a range for a secret and returns where to go on.
    fn mask(&mut self, start: usize, end: usize, kind: &'static str) -> usize {
        if start < self.copied || self.text.get(start..end).is_none() {
            return end;
        }
        self.found.push(Found { start, end, kind });
        self.copied = end;
        self.name_end = self.name_end.max(end);
        end
    }

    /// The byte before a position, as it stands in the output: after a mask it is the closing bracket.
    fn before(&self, position: usize) -> Option<u8> {
        if position == self.copied && position > 0 {
            return Some(b']');
        }
        if position == self.sequence_end {
            return None;
        }
        self.bytes.get(position.checked_sub(1)?).copied()
    }

    fn rest(&self, position: usize) -> &'text [u8] {
        self.bytes.get(position..).unwrap_or_default()
    }

    fn run_length(&self, position: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
        self.rest(position).iter().take(most).take_while(|byte| holds(**byte)).count()
    }

    /// A mask is left as it is.
    fn at_bracket(&self, position: usize) -> Step {
        Step::Past(position + mask_length(self.rest(position)).unwrap_or(1))
    }

    /// A private key, or a short flag that carries a secret.
    fn at_dash(&self, position: usize) -> Step {
        if self.rest(position).starts_with(b"-----BEGIN ") {
            return self.private_key(position).unwrap_or(Step::Past(position + 1));
        }
        self.short_flag(position).unwrap_or(Step::Past(position + 1))
    }

    fn private_key(&self, start: usize) -> Option<Step> {
        const LABEL: usize = 48;
        const LEAST: usize = 24;
        let label = self.run_length(start + 11, LABEL, |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
        });
        let rest = self.rest(start + 11 + label);
        if !rest.starts_with(b"-----")
            || !self.rest(start).get(..11 + label)?.windows(11).any(|part| part == b"PRIVATE KEY")
        {
            return None;
        }
        let body = start + 11 + label + 5;
        let is_body = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || byte.is_ascii_whitespace()
                || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b':' | b',')
        };
        let mut end = body + self.run_length(body, usize::MAX, is_body);
        let letters = self.run_letters(body, end);
        if letters < LEAST {
            return None;
        }
        if self.rest(end).starts_with(b"-----END ") {
            let label = self.run_length(end + 9, LABEL, |byte| {
                byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
            });
            end += 9 + label;
            end += self.run_length(end, 5, |byte| byte == b'-');
        } else {
            while end > body && self.bytes.get(end - 1).is_some_and(u8::is_ascii_whitespace) {
                end -= 1;
            }
        }
        Some(Step::Secret { start, end, kind: "private_key" })
    }

    /// How many letters and digits of a key stand between two positions; what `\n` stands for is not counted.
    fn run_letters(&self, start: usize, end: usize) -> usize {
        self.bytes
            .get(start..end)
            .unwrap_or_default()
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .count()
    }

    fn short_flag(&self, position: usize) -> Option<Step> {
        let outside = self
            .before(position)
            .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
        if !outside || self.program == Program::Other {
            return None;
        }
        let letter = *self.bytes.get(position + 1)?;
        let attached = self.bytes.get(position + 2).is_some_and(|byte| !byte.is_ascii_whitespace());
        let kind = "password";
        match (self.program, letter) {
            (Program::Curl, b'u' | b'U') => self.user_and_password(position + 2),
            (Program::Sshpass | Program::ContainerLogin, b'p') | (Program::Redis, b'a') => {
                let (start, end) = self.word_at(position + 2)?;
                self.unless_stand_in(start, end, kind)
            }
            (Program::Mysql, b'p') if attached => {
                let (start, end) = self.word_at(position + 2)?;
                self.unless_stand_in(start, end, kind)
            }
            _ => None,
        }
    }

    /// The password of a `user:password` argument.
    fn user_and_password(&self, position: usize) -> Option<Step> {
        let (start, end) = self.word_at(position)?;
        let colon = start + self.bytes.get(start..end)?.iter().position(|byte| *byte == b':')?;
        self.unless_stand_in(colon + 1, end, "password")
    }

    /// The word that begins at or after blanks at a position, without quotes.
    fn word_at(&self, position: usize) -> Option<(usize, usize)> {
        let begin = position + self.run_length(position, 16, |byte| matches!(byte, b' ' | b'\t' | b'='));
        let (start, length) = match self.bytes.get(begin)? {
            mark @ (b'"' | b'\'') => {
                (begin + 1, self.run_length(begin + 1, 1024, |byte| byte != *mark && byte != b'\n'))
            }
            _ => (
                begin,
                self.run_length(begin, 1024, |byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b';' | b'|' | b'&' | b'`')
                }),
            ),
        };
        (length > 0).then_some((start, start + length))
    }

    fn unless_stand_in(&self, start: usize, end: usize, kind: &'static str) -> Option<Step> {
        let content = self.text.get(start..end)?;
        let filled_in = content.starts_with(['$', '`', '-', '{', '%']);
        (!filled_in && !stands_for_one("", content)).then_some(Step::Secret { start, end, kind })
    }

    /// The user part of a URL.
    fn at_colon(&mut self, position: usize) -> Step {
        const LONGEST: usize = 512;
        let past = Step::Past(position + 1);
        if !self.rest(position).starts_with(b"://") {
            return past;
        }
        let start = position + 3;
        let outside =
            |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`');
        let mut length = self
            .run_length(start, LONGEST, |byte| !outside(byte) && !matches!(byte, b'/' | b'?' | b'#' | b'\\'));
        let authority = self.rest(start).get(..length).unwrap_or_default();
        if !authority.contains(&b'@') {
            // A password may hold a slash that should have been escaped; a port may not.
            let port =
                authority.iter().rposition(|byte| *byte == b':').and_then(|colon| authority.get(colon + 1..));
            if port.is_none_or(|port| port.is_empty() || port.iter().all(u8::is_ascii_digit)) {
                return past;
            }
            length = self.run_length(start, LONGEST, |byte| !outside(byte));
        }
        let authority = self.rest(start).get(..length).unwrap_or_default();
        let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { return past };
        self.address_floor = start + sign + 1;
        let user = authority.get(..sign).unwrap_or_default();
        // What is masked already, by an earlier pass, holds no secret.
        if user.starts_with(b"[masked:") {
            return past;
        }
        let found = match user.iter().position(|byte| *byte == b':') {
            Some(colon) => self.unless_stand_in(start + colon + 1, start + sign, "url_password"),
            None => self
                .text
                .get(start..start + sign)
                .filter(|user| user.len() >= 20 && looks_random(user))
                .and_then(|_| self.unless_stand_in(start, start + sign, "url_token")),
        };
        found.unwrap_or(past)
    }

    /// A mail address.
    fn at_sign(&self, position: usize) -> Step {
        self.address(position).unwrap_or(Step::Past(position + 1))
    }

    fn address(&self, position: usize) -> Option<Step> {
        const LOCAL: usize = 64;
        const DOMAIN: usize = 255;
        if position < self.address_floor || !self.key.masks("email") {
            return None;
        }
        let is_local =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '%' | '+' | '-');
        let before = self.text.get(self.copied..position)?;
        let local = before.chars().rev().take(LOCAL + 1).take_while(|letter| is_local(*letter));
        let (letters, length) =
            local.fold((0, 0), |(count, length), letter| (count + 1, length + letter.len_utf8()));
        let local = self.text.get(position - length..position)?;
        let local = local.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        let start = position - local.len();
        if letters > LOCAL || local.is_empty() || local == "git" {
            return None;
        }
        let behind = self.text.get(position + 1..)?;
        let run = behind
            .char_indices()
            .take(DOMAIN)
            .find(|(_, letter)| !letter.is_alphanumeric() && !matches!(letter, '.' | '-'))
            .map_or(behind.len().min(4 * DOMAIN), |(at, _)| at);
        let behind = (0..=run).rev().find_map(|end| behind.get(..end))?;
        let domain = mailbox(behind)?;
        // Where a call goes must stay readable; who somebody is there need not.
        let end = if self.key.spares(domain) || self.key.spares(behind) {
            position
        } else {
            position + 1 + domain.len()
        };
        Some(Step::Secret { start, end, kind: "email" })
    }

    fn at_word(&mut self, position: usize) -> Step {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let bounded = self.before(position).is_none_or(|byte| !is_word(byte));
        let word_end = position + self.run_length(position, usize::MAX, is_word);
        if !bounded {
            return Step::Past(word_end);
        }
        if let Some(token) = token(self.rest(position)) {
            return Step::Secret { start: position, end: position + token.length, kind: token.kind };
        }
        if self.beside_key_id
            && let Some(step) = self.secret_key(position)
        {
            return step;
        }
        if let Some(step) = self.person(position) {
            return step;
        }
        if let Some(step) = self.within(position, word_end) {
            return step;
        }
        if position < self.name_end || !self.key.reads_names() {
            return Step::Past(word_end);
        }
        self.named(position, word_end).unwrap_or(Step::Past(word_end))
    }

    /// What stands in a word behind an underscore, or where its letters end and digits begin: `backup_ghp_...`, `x_4539...`.
    fn within(&self, start: usize, word_end: usize) -> Option<Step> {
        let word = self.bytes.get(start..word_end)?;
        if word.iter().all(u8::is_ascii_alphabetic) {
            return None;
        }
        // A hash has digits in many places.
        let blocks = word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit());
        let numbers = blocks.filter(|block| block.first().is_some_and(u8::is_ascii_digit));
        let has_one_number = numbers.take(2).count() == 1;
        (start + 1..word_end).find_map(|at| {
            let (before, first) = (*self.bytes.get(at - 1)?, *self.bytes.get(at)?);
            let is_behind_line = before == b'_' && first != b'_';
            if is_behind_line && let Some(token) = token(self.rest(at)) {
                return Some(Step::Secret { start: at, end: at + token.length, kind: token.kind });
            }
            let is_behind_letter = has_one_number && before.is_ascii_alphabetic() && first.is_ascii_digit();
            if is_behind_line || is_behind_letter { self.person_behind(at) } else { None }
        })
    }

    /// The password that a here-string hands to the program before it.
    fn handed_behind(&self, position: usize) -> Option<Step> {
        let (start, end) =
            self.key.reads_names().then(|| told::handed_behind(self.text, position)).flatten()?;
        Some(Step::Secret { start, end, kind: "password" })
    }

    /// The password that a sentence tells in letters that are none of ASCII.
    fn foreign(&self, position: usize) -> Option<Step> {
        let (start, end) = self.key.reads_names().then(|| told::told(self.text, position)).flatten()?;
        Some(Step::Secret { start, end, kind: "password" })
    }

    /// A number that says who somebody is, behind a letter or an underscore. An address of a machine is none there, but a version.
    fn person_behind(&self, position: usize) -> Option<Step> {
        if self.key.masking.personal_data == MaskingChoice::Clear {
            return None;
        }
        let found = personal(self.rest(position), self.bytes.get(..position).unwrap_or_default())?;
        let is_whole = self.bytes.get(position - 1) == Some(&b'_') || matches!(found.kind, "card" | "ssn");
        (is_whole && found.kind != "ip").then_some(Step::Secret {
            start: position,
            end: position + found.length,
            kind: found.kind,
        })
    }

    /// A number that says who somebody is.
    fn person(&self, position: usize) -> Option<Step> {
        if self.key.masking.personal_data == MaskingChoice::Clear {
            return None;
        }
        let before = self.before(position);
        if before == Some(b'_') {
            return self.person_behind(position);
        }
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let found = personal(self.rest(position), self.bytes.get(..position).unwrap_or_default())?;
        let text = self.text.get(position..position + found.length)?;
        // What a call talks to must stay readable: whoever looks at the record judges by it.
        if found.kind == "ip" && (self.key.spares(text) || self.is_version(position)) {
            return Some(Step::Past(position + found.length));
        }
        Some(Step::Secret { start: position, end: position + found.length, kind: found.kind })
    }

    /// Whether what stands before says that a version comes: `version 12.4.1.0`, `name==12.4.1.0`.
    fn is_version(&self, position: usize) -> bool {
        const WORDS: [&str; 3] = ["version", "release", "build"];
        let before = self.bytes.get(..position).unwrap_or_default().trim_ascii_end();
        before.ends_with(b"==")
            || before.len() < position
                && WORDS.iter().any(|word| {
                    let start = before.len().saturating_sub(word.len());
                    before.get(start..).is_some_and(|last| last.eq_ignore_ascii_case(word.as_bytes()))
                })
    }

    /// What follows a name.
    fn named(&mut self, start: usize, word_end: usize) -> Option<Step> {
        let end = start
            + self.run_length(start, usize::MAX, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
            });
        self.name_end = end;
        let name = self.text.get(start..end)?.trim_end_matches(['-', '.']);
        let end = start + name.len();
        let word = self.text.get(start..word_end)?;
        self.program = self.program.after(word);
        if matches!(word, "echo" | "printf") {
            let (from, to) = told::handed(self.text, word_end)?;
            return Some(Step::Secret { start: from, end: to, kind: "password" });
        }
        if let Some((from, to)) = told::told(self.text, start) {
            return Some(Step::Secret { start: from, end: to, kind: "password" });
        }
        if word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic") {
            return self.header_value(word, word_end);
        }
        if self.program == Program::Curl && matches!(name, "user" | "proxy-user") {
            return self.user_and_password(end);
        }
        if self.program == Program::Openssl && name == "pass" && self.bytes.get(end) == Some(&b':') {
            let (from, to) = self.word_at(end + 1)?;
            return self.unless_stand_in(from, to, "password");
        }
        let judged = judge(name);
        let kind = match judged {
            Name::Secret(kind) => kind,
            Name::KeyLike => "key",
            Name::Plain => return None,
        };
        let value = assigned(self.text, start, end, judged)?;
        if kind == "authorization" {
            let content = self.text.get(value.start..value.end)?;
            if let Some(after) = self.after_scheme(value.start) {
                let (from, to) = self.word_at(after)?;
                return self.unless_stand_in(from, to, kind);
            }
            if is_scheme(content) {
                let (from, to) = self.word_at(value.end)?;
                return self.unless_stand_in(from, to, kind);
            }
        }
        // A token has one name, whatever the setting is called.
        let kind = self.text.get(value.start..value.end).and_then(token_kind).unwrap_or(kind);
        is_secret(self.text, name, judged, value).then_some(Step::Secret {
            start: value.start,
            end: value.end,
            kind,
        })
    }

    /// The position after the scheme of an authorization, when one stands there with a blank behind it.
    fn after_scheme(&self, position: usize) -> Option<usize> {
        let length = self.run_length(position, 16, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let scheme = self.text.get(position..position + length)?;
        (is_scheme(scheme) && self.bytes.get(position + length) == Some(&b' '))
            .then_some(position + length + 1)
    }

    /// The value after `Bearer` or `Basic`.
    fn header_value(&self, scheme: &str, word_end: usize) -> Option<Step> {
        let blanks = self.run_length(word_end, 8, |byte| byte == b' ');
        if blanks == 0 {
            return None;
        }
        let start = word_end + blanks;
        let length = self.run_length(start, usize::MAX, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-')
        });
        let content = self.text.get(start..start + length)?;
        let fits = if scheme.eq_ignore_ascii_case("basic") {
            is_user_and_password(content)
        } else {
            length >= 8 && (content.bytes().any(|byte| byte.is_ascii_digit()) || length >= 24)
        };
        if !fits {
            return None;
        }
        self.unless_stand_in(start, start + length, "authorization")
    }

    /// A secret key of AWS: 40 characters that look random.
    fn secret_key(&self, position: usize) -> Option<Step> {
        const LENGTH: usize = 40;
        let holds = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
        if self.before(position).is_some_and(|byte| holds(byte) || byte == b'_' || byte == b'-') {
            return None;
        }
        if self.run_length(position, LENGTH + 1, holds) != LENGTH {
            return None;
        }
        let key = self.text.get(position..position + LENGTH)?;
        let random = key.bytes().any(|byte| byte.is_ascii_lowercase())
            && key.bytes().any(|byte| byte.is_ascii_uppercase())
            && looks_random(key);
        random.then_some(Step::Secret { start: position, end: position + LENGTH, kind: "aws_secret_key" })
    }
}
