//! One line of a ledger: how a record becomes text with a hash, and how the text is checked.

use checkrein_protocol::{Record, RecordBody, RecordHash, Timestamp};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use checkrein_vault::{Sealing, Vault, VaultError};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::LedgerError;

/// What stands between the hashed text and the digits of the hash.
const HASH_FIELD: &str = ",\"hash\":\"";

/// What closes a line after the digits, without the line feed.
const CLOSING: &str = "\"}";

/// What stands between the head of a line and its body.
const BODY_FIELD: &str = ",\"body\":";

/// What the body of a sealed record begins with; what was sealed follows as base64.
pub(crate) const SEALED_BODY: &str = "{\"type\":\"sealed\",\"box\":\"";

/// The number of hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// The length of the end of a line that holds its hash: field name, digits, closing.
pub(crate) const SEAL_LENGTH: usize = HASH_FIELD.len() + DIGITS + CLOSING.len();

/// SHA-256 of a text that is not itself recorded, such as the output of a tool: 64 hexadecimal digits.
pub fn content_hash(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// The `prev` of the first record: 64 zeros.
pub fn first_prev() -> RecordHash {
    RecordHash("0".repeat(DIGITS))
}

/// Makes the record with its hash, and its line with the line feed.
pub(crate) fn seal(
    seq: u64,
    prev: RecordHash,
    at: Timestamp,
    body: RecordBody,
    vault: &Vault,
) -> Result<(Record, String), LedgerError> {
    let json = serde_json::to_string(&body).map_err(LedgerError::Encode)?;
    let mut line = format!("{{\"seq\":{seq},\"prev\":\"{}\",\"at\":{}", prev.as_str(), at.0);
    let json = match vault.sealing() {
        Sealing::On if !is_testimony(&body) => {
            // Bound to its place, so that it is not read in another one.
            let sealed = vault.seal(json.as_bytes(), line.as_bytes())?;
            format!("{SEALED_BODY}{}\"}}", STANDARD.encode(sealed))
        }
        Sealing::On | Sealing::Off => json,
    };
    line.push_str(BODY_FIELD);
    line.push_str(&json);
    let hash = hash_of(&prev, &line);
    line.push_str(HASH_FIELD);
    line.push_str(hash.as_str());
    line.push_str(CLOSING);
    line.push('\n');
    Ok((Record { seq, prev, at, body, hash }, line))
}

/// What every record has, whatever its type; read without understanding the body.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Header {
    pub(crate) seq: u64,
    pub(crate) prev: RecordHash,
    pub(crate) at: Timestamp,
    pub(crate) hash: RecordHash,
}

/// Whether a line is the record that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checked {
    /// The hash fits the text.
    Whole(Header),
    /// It is a record, but its hash does not fit its text.
    Altered(Header),
    /// It is no record.
    Foreign,
}

/// Checks a line (without its line feed) against its own hash.
pub(crate) fn check(line: &[u8]) -> Checked {
    let Ok(text) = str::from_utf8(line) else { return Checked::Foreign };
    let Ok(header) = serde_json::from_str::<Header>(text) else { return Checked::Foreign };
    match sealed_parts(text) {
        Some((content, digits))
            if digits == header.hash.as_str() && hash_of(&header.prev, content) == header.hash =>
        {
            Checked::Whole(header)
        }
        Some(_) | None => Checked::Altered(header),
    }
}

/// The record in a line (without its line feed). One that was written whole, with a word that this version does not know, is of an unknown type:
/// a later version wrote it, and nothing is damaged. The same holds for one that is sealed with a key that is not here. `None` when the line is
/// no record.
pub(crate) fn record(line: &[u8], vault: &Vault) -> Option<Record> {
    match opened(line, vault) {
        None => read_record(line),
        Some(Ok(clear)) => read_record(clear.as_bytes()).or_else(|| unknown(line)),
        Some(Err(_)) => unknown(line),
    }
}

fn read_record(line: &[u8]) -> Option<Record> {
    serde_json::from_slice(line).ok().or_else(|| record_of_later_version(line))
}

/// The record of a line of which only the head is known.
fn unknown(line: &[u8]) -> Option<Record> {
    let Header { seq, prev, at, hash } = serde_json::from_slice(line).ok()?;
    Some(Record { seq, prev, at, body: RecordBody::Unknown, hash })
}

/// The line of a sealed record with its body in the clear, or why that is not to be had; `None` where nothing is sealed.
pub(crate) fn opened(line: &[u8], vault: &Vault) -> Option<Result<String, VaultError>> {
    let text = str::from_utf8(line).ok()?;
    // Numbers and a hash stand before it, so the first one is that of the record.
    let (head, rest) = text.split_once(BODY_FIELD)?;
    let (sealed, end) = rest.strip_prefix(SEALED_BODY)?.split_once("\"}")?;
    let open = || {
        let sealed = STANDARD.decode(sealed).map_err(|_| VaultError::Altered)?;
        String::from_utf8(vault.open(sealed, head.as_bytes())?).map_err(|_| VaultError::Altered)
    };
    Some(open().map(|body| format!("{head}{BODY_FIELD}{body}{end}")))
}

/// Whether a body bears witness of ledgers and of nothing else: a verifier without the key needs it.
fn is_testimony(body: &RecordBody) -> bool {
    matches!(body, RecordBody::Anchor { .. } | RecordBody::Repaired { .. } | RecordBody::Retention { .. })
}

fn record_of_later_version(line: &[u8]) -> Option<Record> {
    #[derive(Deserialize)]
    struct Sealed {
        body: Typed,
    }
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "type")]
        _kind: String,
    }
    let Checked::Whole(Header { seq, prev, at, hash }) = check(line) else { return None };
    let Sealed { body: Typed { .. } } = serde_json::from_slice(line).ok()?;
    Some(Record { seq, prev, at, body: RecordBody::Unknown, hash })
}

/// The hash that the end of a line claims: the last [`SEAL_LENGTH`] bytes before the line feed.
pub(crate) fn claimed_hash(end: &[u8]) -> Option<RecordHash> {
    let text = str::from_utf8(end).ok()?;
    let (_, digits) = sealed_parts(text)?;
    Some(RecordHash(digits.to_owned()))
}

/// Splits a line into the hashed text (without its closing brace) and the digits of its hash.
fn sealed_parts(text: &str) -> Option<(&str, &str)> {
    let (content, end) = text.split_at_checked(text.len().checked_sub(SEAL_LENGTH)?)?;
    let digits = end.strip_prefix(HASH_FIELD)?.strip_suffix(CLOSING)?;
    Some((content, digits))
}

/// The hash of a record: over the text of `prev`, the text up to the hash field, and the closing brace that makes
/// that text an object of its own.
fn hash_of(prev: &RecordHash, content: &str) -> RecordHash {
    let mut hasher = Sha256::new();
    hasher.update(prev.as_str());
    hasher.update(content);
    hasher.update("}");
    RecordHash(hexadecimal(&hasher.finalize()))
}

/// The lower-case hexadecimal digits of some bytes.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGIT: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(DIGIT.get(usize::from(half)).copied().unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(text: &str) -> (Record, String) {
        let body = RecordBody::Prompt { text: text.to_owned() };
        seal(1, first_prev(), Timestamp(7), body, &Vault::default()).unwrap()
    }

    #[test]
    fn a_line_is_one_line_and_checks_out() {
        let (record, line) = sealed("a\n\"hash\":\"b\"}\u{2028}");
        assert_eq!(line.matches('\n').count(), 1);
        let text = line.trim_end();
        let Checked::Whole(header) = check(text.as_bytes()) else { panic!("{text}") };
        assert_eq!((header.seq, &header.hash), (1, &record.hash));
        assert_eq!(serde_json::from_str::<Record>(text).unwrap(), record);
        let end = text.as_bytes().get(text.len() - SEAL_LENGTH..).unwrap();
        assert_eq!(claimed_hash(end), Some(record.hash));
    }

    /// A review as it has been written since reviews are: each word in its place, and the line comes back as it was.
    const REVIEW: &str = r#"{"type":"review","action_id":"a1","tool":"Bash","input":{"command":"rm a"},"cwd":"/w","verdict":"escalate","decision":"modify","flagged":true,"risk":{"score":0.7,"level":"medium","factors":["file_delete"]},"rationality":{"score":0.4,"level":"low"},"effects":[],"rules":["r: modify"],"reason":"why","alternatives":[],"problems":[],"kind":"0000000000000001","exact":"0000000000000002","elapsed_us":900,"mode":"observe","governance":{"ctq":0.5,"tier":"2","posture":"re_tiering_review"}}"#;
    const OUTCOME: &str = r#"{"type":"outcome","action_id":"a1","tool":"Bash","failed":false,"duration_ms":null,"output_bytes":0,"output_hash":"","verification":{"looked":"partly","surprises":[{"kind":"missing","path":"/w/a","predicted":"goes"}]}}"#;
    const FAILURE: &str =
        r#"{"type":"failure","stage":"review","kind":"panic","detail":"index","verdict":"block"}"#;

    fn line_of(body: &str) -> String {
        let prev = first_prev();
        let mut line = format!("{{\"seq\":1,\"prev\":\"{}\",\"at\":7,\"body\":{body}", prev.as_str());
        let hash = hash_of(&prev, &line);
        line.push_str(HASH_FIELD);
        line.push_str(hash.as_str());
        line.push_str(CLOSING);
        line
    }

    #[test]
    fn what_was_written_before_words_had_types_comes_back_byte_for_byte() {
        for body in [REVIEW, OUTCOME, FAILURE] {
            let line = line_of(body);
            let read = record(line.as_bytes(), &Vault::default()).unwrap();
            assert_ne!(read.body, RecordBody::Unknown, "{body}");
            let (_, again) = seal(read.seq, read.prev, read.at, read.body, &Vault::default()).unwrap();
            assert_eq!(again.trim_end(), line);
        }
    }

    #[test]
    fn a_word_of_a_later_version_makes_a_record_of_an_unknown_type_and_no_damage() {
        for (body, word, later) in [
            (REVIEW, "\"escalate\"", "\"defer\""),
            (REVIEW, "\"observe\"", "\"shadow\""),
            (REVIEW, "\"medium\"", "\"grave\""),
            (OUTCOME, "\"missing\"", "\"renamed\""),
            (FAILURE, "\"block\"", "\"defer\""),
        ] {
            let line = line_of(&body.replace(word, later));
            assert_eq!(
                record(line.as_bytes(), &Vault::default()).map(|record| record.body),
                Some(RecordBody::Unknown),
                "{later}"
            );
            // The same line without the hash of who wrote it is none.
            let edited = line.replace("\"seq\":1", "\"seq\":2");
            assert_eq!(record(edited.as_bytes(), &Vault::default()), None, "{later}");
        }
    }

    #[test]
    fn the_hash_can_be_computed_by_anyone() {
        let (record, line) = sealed("hello");
        let without = line.trim_end().replace(&format!(",\"hash\":\"{}\"", record.hash.as_str()), "");
        let by_hand = Sha256::digest(format!("{}{without}", "0".repeat(64)));
        assert_eq!(record.hash.as_str(), hexadecimal(&by_hand));
    }

    #[test]
    fn any_other_text_does_not_check_out() {
        let (_, line) = sealed("hello");
        let bytes = line.trim_end().as_bytes();
        for position in 0..bytes.len() {
            let mut edited = bytes.to_vec();
            edited[position] ^= 1;
            assert!(!matches!(check(&edited), Checked::Whole(_)), "byte {position}");
        }
    }
}
