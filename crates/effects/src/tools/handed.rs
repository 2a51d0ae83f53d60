//! Secrets that stand in what a tool is given: whoever serves the tool has them then.
//!
//! Sources: RFC 7468 (private keys); the published forms of tokens of AWS, GitHub, GitLab, Slack, Stripe, Google, npm, OpenAI, Anthropic.

use std::rc::Rc;

use serde_json::Value as Json;

use super::call::{DEPTH, texts_within};
use crate::interpreter::filters::decoded_base64;

/// How tokens begin, and how many letters follow at least.
const TOKENS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 36),
    ("gho_", 36),
    ("ghs_", 36),
    ("ghu_", 36),
    ("ghr_", 36),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xoxs-", 20),
    ("sk_live_", 20),
    ("rk_live_", 20),
    ("sk-ant-", 30),
    ("sk-proj-", 30),
    ("AIza", 35),
    ("npm_", 36),
    ("dop_v1_", 40),
    ("whsec_", 24),
];
/// A beginning that words have too: behind it stand at least as many letters, and several digits among them.
const SHORT: (&str, usize) = ("sk-", 16);
/// How the names of secrets end, and how long a value is that is one, with letters and digits in it (ours).
const NAMES: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"];
const VALUE: usize = 16;
/// How many digits a value has that nobody took from the air (ours).
const DIGITS: usize = 4;

/// How long a password is at least that is taken for one (ours).
const PASSWORD: usize = 6;
/// What is said of a value that only its name makes a secret.
const ASSIGNED: &str = "the value of a secret";

/// How many texts of an input are looked at (ours).
const TEXTS: usize = 16 * 1024;

/// What secret stands in the texts of an input, when one does.
pub(super) fn secret(input: &Json) -> Option<&'static str> {
    let mut left = TEXTS;
    search(input, DEPTH, &mut left).or_else(|| cut(input))
}

/// How many texts of an input are put together by twos, and how much of each is looked at, in letters (ours).
const PIECES: usize = 48;
const PIECE: usize = 128;

/// A token that is cut in two, where an input holds both parts: the one text ends with its beginning, another begins with the rest.
pub(super) fn cut(input: &Json) -> Option<&'static str> {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let texts: Vec<&str> = texts_within(input, &|_| true);
    let tails = texts.iter().filter_map(|text| {
        let start = text.rfind(|c: char| !is_of_token(c)).map_or(0, |at| at + 1);
        let word = text.get(start..).filter(|word| word.len() <= PIECE)?;
        let begun = TOKENS.iter().find_map(|(start, _)| word.strip_prefix(start))?;
        // A name that begins like a token goes on in small letters.
        let is_random =
            begun.len() < 3 || begun.bytes().any(|byte| !matches!(byte, b'a'..=b'z' | b'_' | b'-'));
        is_random.then_some(word)
    });
    let tails: Vec<&str> = tails.take(PIECES).collect();
    if tails.is_empty() {
        return None;
    }
    let heads = texts.iter().filter_map(|text| {
        let end = text.find(|c: char| !is_of_token(c)).unwrap_or(text.len());
        text.get(..end).filter(|word| {
            !word.is_empty() && word.len() <= PIECE && word.bytes().any(|byte| byte.is_ascii_digit())
        })
    });
    let heads: Vec<&str> = heads.take(PIECES).collect();
    let is_token = |word: String| in_text(&word) == Some("a token");
    let is_cut =
        tails.iter().any(|tail| heads.iter().any(|head| tail != head && is_token(format!("{tail}{head}"))));
    is_cut.then_some("a token in two parts")
}

fn search(value: &Json, depth: usize, left: &mut usize) -> Option<&'static str> {
    if depth == 0 || *left == 0 {
        return None;
    }
    match value {
        Json::String(text) => {
            *left -= 1;
            in_text(text)
        }
        Json::Array(items) => items.iter().find_map(|item| search(item, depth - 1, left)),
        Json::Object(fields) => fields.values().find_map(|item| search(item, depth - 1, left)),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// What secret stands in a text that is sent to somebody, as it is or in percent escapes (RFC 3986, 2.1): a key, a token by its form, or an address with a
/// password in it that is part of another text.
pub(crate) fn token_in(text: &str) -> Option<&'static str> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    // The name of a key in a signed address is no secret (docs.aws.amazon.com, "Authenticating Requests: Using Query Parameters").
    let is_signed = decoded.contains("X-Amz-Signature=") || decoded.contains("X-Goog-Signature=");
    let by_form = |text: &str| in_text(text).filter(|what| *what != ASSIGNED && !is_signed);
    by_form(text).or_else(|| by_form(&decoded)).or_else(|| nested_password(&decoded))
}

/// Whether a word begins as a token does and goes on: where it stands in an address, a part of one is too much. `eyJ` begins the base64 of JSON
/// (RFC 7519).
pub(crate) fn begins_like_token(word: &str) -> bool {
    let starts = TOKENS.iter().map(|(start, _)| *start).chain([SHORT.0, "eyJ"]);
    { starts }.any(|start| word.len() > start.len() + 4 && word.starts_with(start))
}

/// An address with a name and a password that stands inside another text, as `postgres://app:Secret1@db` in a query, or is one of a store: what a page is
/// asked for with is shown at its door.
fn nested_password(text: &str) -> Option<&'static str> {
    let is_of_page = ["http", "ftp", "ws", "ssh", "git"].iter().any(|scheme| text.starts_with(scheme));
    let inner = text.match_indices("://").skip(usize::from(is_of_page));
    let mut inner = inner.filter_map(|(at, mark)| text.get(at + mark.len()..));
    let has_password = |rest: &str| {
        let authority = rest.split(['/', '?', '&', ' ', '"', '\'']).next().unwrap_or_default();
        let password =
            authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':')).map(|(_, word)| word);
        password.is_some_and(|word| {
            word.len() >= PASSWORD
                && word.bytes().any(|byte| byte.is_ascii_digit())
                && !word.starts_with(['$', '{', '<'])
        })
    };
    inner.any(has_password).then_some("an address with a password")
}

fn in_text(text: &str) -> Option<&'static str> {
    let begins_key = text
        .split("-----BEGIN ")
        .skip(1)
        .any(|rest| rest.split("-----").next().is_some_and(|label| label.ends_with("PRIVATE KEY")));
    if begins_key {
        return Some("a private key");
    }
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_token = |word: &str| {
        word.strip_prefix(SHORT.0).is_some_and(|rest| rest.len() >= SHORT.1 && is_mixed(rest))
            || TOKENS.iter().any(|(start, least)| {
                word.strip_prefix(start).is_some_and(|rest| {
                    // What stands for a token in an explanation is one letter many times.
                    rest.len() >= *least && rest.bytes().any(|byte| byte != rest.as_bytes()[0])
                })
            })
    };
    if text.split(|c| !is_of_token(c)).any(is_token) {
        return Some("a token");
    }
    let assigned = |word: &str| {
        let Some((name, value)) = word.split_once('=') else { return false };
        let name = name.rsplit(|c: char| !is_of_token(c)).next().unwrap_or_default().to_ascii_uppercase();
        NAMES.iter().any(|ending| name.ends_with(ending)) && value.len() >= VALUE && is_mixed(value)
    };
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '&' | ';' | ','));
    words.into_iter().any(assigned).then_some(ASSIGNED)
}

/// How long a value of a list of settings is at least that is looked for in what a tool is given (ours).
const SHORTEST: usize = 8;

/// Whether a text of an input holds the value of a setting that is secret by its name, as it is or in base64.
pub(super) fn known(input: &Json, lists: &[Rc<str>]) -> bool {
    let values: Vec<&str> = lists.iter().flat_map(|list| list.lines()).filter_map(secret_value).collect();
    if values.is_empty() {
        return false;
    }
    let mut texts = texts_within(input, &|_| true);
    texts.truncate(TEXTS);
    let holds = |text: &str| values.iter().any(|value| text.contains(value));
    texts.into_iter().any(|text| holds(text) || in_base64(text).any(|text| holds(&text)))
}

/// The value in a line of a list of settings, where its name says that it is secret.
fn secret_value(line: &str) -> Option<&str> {
    let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
    let (name, value) = line.split_once('=')?;
    let name = name.trim().to_ascii_uppercase();
    let value = value.trim().trim_matches(['"', '\'']);
    (NAMES.iter().any(|ending| name.ends_with(ending)) && value.len() >= SHORTEST).then_some(value)
}

/// What the words of a text are that can be base64.
fn in_base64(text: &str) -> impl Iterator<Item = String> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let words = text.split(move |c: char| !is_sign(c)).flat_map(|word| {
        // A name and its value hang together by the sign that fills up.
        [word, word.trim_start_matches(|c| c != '=').trim_start_matches('=')]
    });
    let words = words.filter(|word| word.len() >= SHORTEST);
    words.filter_map(|word| decoded_base64(&word.replace('-', "+").replace('_', "/")))
}

/// Whether a value is of letters and several digits, as secrets are and words for people are not.
fn is_mixed(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() >= DIGITS
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{known, secret};
    use serde_json::json;
    use std::rc::Rc;

    #[test]
    fn the_secrets_of_a_list_of_settings_are_known_again() {
        let lists =
            [Rc::from("# x\nexport DB_PASSWORD='hunter2hunter2xyz'\nREGION=eu-central-1\nSHORT_KEY=abc\n")];
        for held in [
            json!({ "message": "it is hunter2hunter2xyz" }),
            json!({ "a": [{ "b": "aHVudGVyMmh1bnRlcjJ4eXo=" }] }),
            json!({ "url": "https://example.com/?k=aHVudGVyMmh1bnRlcjJ4eXo" }),
        ] {
            assert!(known(&held, &lists), "{held}");
        }
        for harmless in [json!({ "message": "eu-central-1 abc" }), json!({ "message": "hunter2" })] {
            assert!(!known(&harmless, &lists), "{harmless}");
        }
    }

    #[test]
    fn secrets_are_told_from_words_about_them() {
        let key = format!("-----BEGIN OPENSSH {} KEY-----\nabc", "PRIVATE");
        assert_eq!(secret(&json!({"files": [{"content": key}]})), Some("a private key"));
        assert_eq!(secret(&json!({"text": format!("use AKIA{}", "IOSFODNN7EXAMPLX")})), Some("a token"));
        for held in ["API_KEY=sk-test-1234567890abcdef", "Bearer sk-test-1234567890abcdef"] {
            assert_eq!(secret(&json!({ "body": held })), Some("a token"), "{held}");
        }
        let token = format!("ghp_{}", "0123456789abcdefghijABCDEFGHIJ012345");
        for at in [4, 6, 20, 35] {
            let (one, two) = token.split_at(at);
            for held in [
                json!({ "a": one, "b": two }),
                json!({ "b": two, "a": one }),
                json!({ "x": [format!("use {one}"), { "y": format!("{two}.") }] }),
            ] {
                assert_eq!(secret(&held), Some("a token in two parts"), "{held}");
            }
        }
        let sha = "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432";
        for held in [
            json!({ "name": "npm_config", "sha": sha }),
            json!({ "a": "npm_package_json", "b": sha }),
            json!({ "a": "x", "b": sha }),
        ] {
            assert_eq!(secret(&held), None, "{held}");
        }
        let named = json!({"body": "a=1&client_secret=1f4b7c9d2e6a8035"});
        assert_eq!(secret(&named), Some("the value of a secret"));
        for harmless in [
            "a PRIVATE KEY is secret",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "-----BEGIN CERTIFICATE-----",
            "API_KEY=your-key-goes-in-here",
            "sk-spinner-double-bounce-2",
            "key=value",
        ] {
            assert_eq!(secret(&json!({ "text": harmless })), None, "{harmless}");
        }
    }
}
