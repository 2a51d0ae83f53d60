//! Texts in another form, out of which they can be had again: base64, base32, hexadecimal digits, and packed.

use super::lines_of;
use crate::{Call, Value};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text that base64 stands for; `None` where it is no base64 or no text.
pub fn decoded_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut bits: u32 = 0;
    let mut count = 0;
    for c in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if c == b'=' {
            break;
        }
        let value = BASE64.iter().position(|known| *known == c)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn encoded_base64(bytes: &[u8], wrapped: bool) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let letter = BASE64.get(index).copied().map_or('=', char::from);
            out.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    if !wrapped {
        return out;
    }
    let letters: Vec<char> = out.chars().collect();
    lines_of(&letters.chunks(76).map(|line| line.iter().collect()).collect::<Vec<String>>())
}

/// The text that hexadecimal digits stand for; `None` where they are none, or no text.
pub fn decoded_hexadecimal(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The text that base32 stands for; `None` where it is no base32 or no text (RFC 4648, section 6).
fn decoded_base32(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for c in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if c == b'=' {
            break;
        }
        let value = BASE32.iter().position(|known| *known == c)?;
        bits = bits << 5 | u32::try_from(value).ok()?;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn encoded_base32(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let bits =
            (0..5).fold(0_u64, |bits, place| bits << 8 | u64::from(chunk.get(place).copied().unwrap_or(0)));
        // 8 bits need 2 letters, 16 need 4, 24 need 5, 32 need 7.
        let letters = (chunk.len() * 8).div_ceil(5);
        for place in 0..8 {
            let index = usize::try_from(bits >> (35 - 5 * place) & 31).unwrap_or(0);
            let letter = BASE32.get(index).copied().map_or('=', char::from);
            out.push(if place < letters { letter } else { '=' });
        }
    }
    out
}

fn in_lines(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    lines_of(&letters.chunks(width).map(|line| line.iter().collect()).collect::<Vec<String>>())
}

fn hexadecimal(text: &str) -> String {
    let digits =
        |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0'));
    text.bytes().flat_map(digits).collect()
}

/// What a program makes of a text that turns it into another form, or back.
///
/// Source: coreutils 9, "base64 invocation" and "base32 invocation"; xxd(1) of Vim 9; openssl-enc(1) 3.0.
pub(super) fn turned(program: &str, options: &[&str], text: &str) -> Option<String> {
    match (program, options) {
        ("base64", ["-d" | "-D" | "--decode" | "-di" | "-id"] | ["-d" | "--decode", "-i"] | ["-i", "-d"]) => {
            decoded_base64(text)
        }
        ("base64", [] | ["-w0" | "--wrap=0"] | ["-w", "0"]) => {
            Some(encoded_base64(text.as_bytes(), options.is_empty()))
        }
        ("base32", ["-d" | "-D" | "--decode" | "-di" | "-id"]) => decoded_base32(text),
        ("base32", []) => Some(in_lines(&encoded_base32(text.as_bytes()), 76)),
        ("base32", ["-w0" | "--wrap=0"] | ["-w", "0"]) => Some(encoded_base32(text.as_bytes())),
        ("xxd", options) => {
            let is_plain = |option: &str| matches!(option, "-p" | "-ps" | "-plain" | "-postscript");
            let turns_back = |option: &str| matches!(option, "-r" | "-revert");
            match options {
                ["-rp" | "-pr"] => decoded_hexadecimal(text),
                [first, second]
                    if is_plain(first) && turns_back(second) || turns_back(first) && is_plain(second) =>
                {
                    decoded_hexadecimal(text)
                }
                [option] if is_plain(option) => Some(in_lines(&hexadecimal(text), 60)),
                _ => None,
            }
        }
        ("openssl", options) => {
            let (_, flags): (Vec<&str>, Vec<&str>) =
                options.iter().partition(|option| matches!(**option, "base64" | "enc"));
            let names_form =
                options.contains(&"base64") || flags.iter().any(|flag| matches!(*flag, "-base64" | "-a"));
            let known = |flag: &&str| matches!(*flag, "-d" | "-e" | "-A" | "-base64" | "-a");
            if !names_form || !flags.iter().all(known) {
                return None;
            }
            if flags.contains(&"-d") {
                decoded_base64(text)
            } else if flags.contains(&"-A") {
                Some(encoded_base64(text.as_bytes(), false))
            } else {
                Some(in_lines(&encoded_base64(text.as_bytes(), false), 64))
            }
        }
        _ => None,
    }
}

/// Programs that pack a text, and the form in which they do; what takes it out of that form again.
/// Source: the manuals of gzip 1.12, pigz 2.6, bzip2 1.0, xz 5.4, zstd 1.5 and lz4 1.9.
const PACKERS: &[(&str, &[&str], &[&str])] = &[
    ("gzip", &["gzip", "pigz"], &["gunzip", "unpigz", "zcat", "gzcat"]),
    ("bzip2", &["bzip2", "pbzip2", "lbzip2"], &["bunzip2", "bzcat"]),
    ("xz", &["xz"], &["unxz", "xzcat"]),
    ("lzma", &["lzma"], &["unlzma", "lzcat"]),
    ("zstd", &["zstd"], &["unzstd", "zstdcat"]),
    ("lz4", &["lz4"], &["unlz4", "lz4cat"]),
];

/// Whether a program packs or unpacks what it reads.
pub(super) fn packs(program: &str) -> bool {
    PACKERS.iter().any(|(_, pack, unpack)| pack.contains(&program) || unpack.contains(&program))
}

/// Whether a call unpacks what it reads.
pub(super) fn unpacks(call: &Call) -> bool {
    let program = call.program.as_str();
    PACKERS.iter().any(|(_, _, unpack)| unpack.contains(&program))
        || packs(program)
            && call.words.iter().filter_map(Value::as_exact).any(|word| {
                matches!(word, "--decompress" | "--uncompress")
                    || word.starts_with('-') && !word.starts_with("--") && word.contains('d')
            })
}

/// The sign before and behind the form of a text that is packed: what is packed is bytes, and no text that anything else could work on.
const PACKED: char = char::REPLACEMENT_CHARACTER;

/// What a program prints that packs a known text, or unpacks one that was packed before. `from_file` says that the text was read from
/// an operand, which is printed only where that is asked for.
pub(super) fn packed_or_unpacked(
    program: &str,
    options: &[&str],
    source: Source,
    text: &str,
) -> Option<String> {
    let (form, packers, _) =
        PACKERS.iter().find(|(_, pack, unpack)| pack.contains(&program) || unpack.contains(&program))?;
    let (mut unpacks, mut prints) = (!packers.contains(&program), program.ends_with("cat"));
    for option in options {
        match *option {
            "--decompress" | "--uncompress" => unpacks = true,
            "--stdout" | "--to-stdout" => prints = true,
            "--best" | "--fast" | "--force" | "--quiet" | "--keep" | "--no-name" => {}
            flags if flags.starts_with("--") => return None,
            flags => {
                for flag in flags.chars().skip(1) {
                    match flag {
                        'd' => unpacks = true,
                        'c' => prints = true,
                        'f' | 'q' | 'k' | 'n' | '0'..='9' => {}
                        _ => return None,
                    }
                }
            }
        }
    }
    if source == Source::Operand && !prints {
        return None;
    }
    let mark = format!("{PACKED}{form}{PACKED}");
    if unpacks { text.strip_prefix(&mark).map(str::to_owned) } else { Some(format!("{mark}{text}")) }
}

/// Where a filter has its text from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Operand,
    Input,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_comes_back() {
        assert_eq!(decoded_base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(encoded_base64(b"rm -rf /", false), "cm0gLXJmIC8=");
        assert_eq!(decoded_hexadecimal("6869").as_deref(), Some("hi"));
        for text in ["", "a", "ab", "abc", "abcd", "abcde", "abcdef\n"] {
            let back = decoded_base32(&encoded_base32(text.as_bytes()));
            assert_eq!(back.as_deref(), Some(text));
        }
        assert_eq!(encoded_base32(b"echo hi"), "MVRWQ3ZANBUQ====");
        let turn = |options: &[&str], text: &str| turned("openssl", options, text);
        assert_eq!(turn(&["enc", "-base64", "-d"], "aGk=\n").as_deref(), Some("hi"));
        assert_eq!(turn(&["base64", "-d"], "aGk=\n").as_deref(), Some("hi"));
        assert_eq!(turn(&["enc", "-aes-256-cbc", "-d", "-a"], "aGk=\n"), None);
    }

    #[test]
    fn what_is_packed_is_unpacked_by_its_own_program_alone() {
        let of = |program: &str, options: &[&str], text: &str| {
            packed_or_unpacked(program, options, Source::Input, text)
        };
        let packed = of("gzip", &["-9"], "hi\n").unwrap_or_default();
        assert_eq!(of("gunzip", &[], &packed).as_deref(), Some("hi\n"));
        assert_eq!(of("gzip", &["-dc"], &packed).as_deref(), Some("hi\n"));
        assert_eq!(of("xz", &["-dc"], &packed), None);
        assert_eq!(of("gunzip", &[], "hi\n"), None);
        assert_eq!(packed_or_unpacked("gzip", &[], Source::Operand, "hi\n"), None);
    }
}
