//! What filters make of a text that is known.

use super::{editing, json, lines_of};
use crate::strings;

/// What a filter makes of a text; `None` when that is not known here.
pub(super) fn filtered(program: &str, options: &[String], text: &str) -> Option<String> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let lines = || text.lines();
    let written = |lines: Vec<String>| lines_of(&lines);
    match (program, options.as_slice()) {
        ("tr", ["-d", set]) => {
            let set = characters(set)?;
            Some(text.chars().filter(|c| !set.contains(c)).collect())
        }
        ("tr", [from, to]) if !from.starts_with('-') => {
            let (from, to) = (characters(from)?, characters(to)?);
            let last = to.last().copied()?;
            let change = |c: char| match from.iter().position(|known| *known == c) {
                Some(place) => to.get(place).copied().unwrap_or(last),
                None => c,
            };
            Some(text.chars().map(change).collect())
        }
        ("cut", options) => cut(options, text),
        ("sort", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.sort();
            Some(written(all))
        }
        ("sort", ["-u"]) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.sort();
            all.dedup();
            Some(written(all))
        }
        ("sort", ["-r"]) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.sort();
            all.reverse();
            Some(written(all))
        }
        ("sort", ["-n"]) => {
            let mut all: Vec<(i64, &str)> =
                lines().map(|line| Some((whole_number(line)?, line))).collect::<Option<_>>()?;
            all.sort_unstable();
            Some(written(all.into_iter().map(|(_, line)| line.to_owned()).collect()))
        }
        ("paste", options) => joined(options, text),
        ("jq", options) => json::filtered(options, text),
        ("uniq", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.dedup();
            Some(written(all))
        }
        ("head", ["-n", without]) if without.starts_with('-') => {
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            let left = all.len().saturating_sub(without.get(1..)?.parse().ok()?);
            Some(all.get(..left)?.concat())
        }
        ("head", options) => {
            let count = line_count(options)?;
            Some(text.split_inclusive('\n').take(count).collect())
        }
        ("tail", ["-n", from]) if from.starts_with('+') => {
            let skip = from.get(1..)?.parse::<usize>().ok()?.saturating_sub(1);
            Some(text.split_inclusive('\n').skip(skip).collect())
        }
        ("tail", options) => {
            let count = line_count(options)?;
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            Some(all.get(all.len().saturating_sub(count)..)?.concat())
        }
        ("rev", []) => Some(written(lines().map(|line| line.chars().rev().collect()).collect())),
        ("tac", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.reverse();
            Some(written(all))
        }
        ("wc", ["-l"]) => Some(format!("{}\n", text.matches('\n').count())),
        ("wc", ["-c"]) => Some(format!("{}\n", text.len())),
        ("wc", ["-w"]) => Some(format!("{}\n", text.split_whitespace().count())),
        ("base64", ["-d" | "-D" | "--decode" | "-di"]) => decoded_base64(text),
        ("base64", [] | ["-w0"] | ["-w", "0"]) => Some(encoded_base64(text.as_bytes(), options.is_empty())),
        ("xxd", ["-r", "-p"] | ["-p", "-r"] | ["-rp" | "-pr"]) => decoded_hexadecimal(text),
        ("sed" | "gsed", options) => editing::edited(options, text),
        ("awk" | "gawk" | "mawk", options) => editing::fields(options, text),
        _ => None,
    }
}

/// The number that a line is, which `sort -n` sorts it by; `None` where something else stands in it as well.
fn whole_number(line: &str) -> Option<i64> {
    let digits = line.strip_prefix('-').unwrap_or(line);
    let is_short = (1..=15).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_short { line.parse().ok() } else { None }
}

/// What `paste -s` makes of the lines of one text.
fn joined(options: &[&str], text: &str) -> Option<String> {
    let mut delimiters = "\t";
    let mut is_serial = false;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "-s" => is_serial = true,
            "-sd" => {
                is_serial = true;
                delimiters = rest.next()?;
            }
            "-d" => delimiters = rest.next()?,
            other => {
                let attached = other.strip_prefix("-sd").inspect(|_| is_serial = true);
                delimiters = attached.or_else(|| other.strip_prefix("-d"))?;
            }
        }
    }
    let mut signs = delimiters.chars();
    let (Some(sign), None) = (signs.next(), signs.next()) else { return None };
    // A sign of its own stands for another one.
    let is_known = is_serial && sign != '\\';
    is_known.then(|| text.lines().collect::<Vec<_>>().join(&sign.to_string()) + "\n")
}

fn line_count(options: &[&str]) -> Option<usize> {
    match options {
        [] => Some(10),
        ["-n", count] => count.parse().ok(),
        [one] => one.strip_prefix("-n").or_else(|| one.strip_prefix('-'))?.parse().ok(),
        _ => None,
    }
}

fn characters(set: &str) -> Option<Vec<char>> {
    let set = strings::unescaped(set);
    let set = set.as_exact()?;
    let classes = [("[:upper:]", 'A'..='Z'), ("[:lower:]", 'a'..='z'), ("[:digit:]", '0'..='9')];
    if let Some((_, range)) = classes.iter().find(|(name, _)| *name == set) {
        return Some(range.clone().collect());
    }
    if set == "[:space:]" {
        return Some(vec![' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    }
    if set.contains("[:") {
        return None;
    }
    let chars: Vec<char> = set.chars().collect();
    let mut all = Vec::new();
    let mut place = 0;
    while let Some(c) = chars.get(place) {
        match (chars.get(place + 1), chars.get(place + 2)) {
            (Some('-'), Some(end)) if c <= end => {
                all.extend(*c..=*end);
                place += 3;
            }
            _ => {
                all.push(*c);
                place += 1;
            }
        }
        if all.len() > 4096 {
            return None;
        }
    }
    Some(all)
}

fn cut(options: &[&str], text: &str) -> Option<String> {
    let mut delimiter = '\t';
    let mut fields = None;
    let mut characters = None;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let (name, attached) = option.split_at_checked(2)?;
        let value = if attached.is_empty() { rest.next()? } else { attached };
        match name {
            "-d" => delimiter = value.chars().next()?,
            "-f" => fields = Some(value.to_owned()),
            "-c" | "-b" => characters = Some(value.to_owned()),
            _ => return None,
        }
    }
    let chosen = |list: &str, length: usize| -> Option<Vec<usize>> {
        let mut all = Vec::new();
        for part in list.split(',') {
            let (first, last) = if let Some((first, last)) = part.split_once('-') {
                (
                    if first.is_empty() { 1 } else { first.parse().ok()? },
                    if last.is_empty() { length } else { last.parse::<usize>().ok()?.min(length) },
                )
            } else {
                let one = part.parse().ok()?;
                (one, one)
            };
            all.extend(
                (first..=last).filter(|place: &usize| *place >= 1 && *place <= length).map(|place| place - 1),
            );
        }
        Some(all)
    };
    let mut out = String::new();
    for line in text.lines() {
        if let Some(list) = &fields {
            let parts: Vec<&str> = line.split(delimiter).collect();
            if parts.len() == 1 {
                out.push_str(line);
            } else {
                let picked: Vec<&str> = chosen(list, parts.len())?
                    .into_iter()
                    .filter_map(|place| parts.get(place).copied())
                    .collect();
                out.push_str(&picked.join(&delimiter.to_string()));
            }
        } else {
            let chars: Vec<char> = line.chars().collect();
            out.extend(
                chosen(characters.as_deref()?, chars.len())?.into_iter().filter_map(|place| chars.get(place)),
            );
        }
        out.push('\n');
    }
    Some(out)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_text_is_filtered() {
        let run = |program: &str, options: &[&str], text: &str| {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            filtered(program, &options, text)
        };
        assert_eq!(run("tr", &["a-z", "A-Z"], "abc\n").as_deref(), Some("ABC\n"));
        assert_eq!(run("cut", &["-d:", "-f2-"], "a:b:c\n").as_deref(), Some("b:c\n"));
        assert_eq!(run("cut", &["-c", "1-2"], "abc\n").as_deref(), Some("ab\n"));
        assert_eq!(run("sed", &["s/^a/x/;s/c$/y/"], "abc\n").as_deref(), Some("xby\n"));
        assert_eq!(run("sed", &["s/\\(.*\\)b/&-\\1/"], "abc\n").as_deref(), Some("ab-ac\n"));
        assert_eq!(run("sed", &["-n", "/b/p;$p"], "a\nb\nc\n").as_deref(), Some("b\nc\n"));
        assert_eq!(run("awk", &["-F:", "/b/{print $2, $1}"], "a:b\nc:d\n").as_deref(), Some("b a\n"));
        assert_eq!(run("tail", &["-n", "1"], "a\nb\n").as_deref(), Some("b\n"));
        assert_eq!(decoded_base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(encoded_base64(b"rm -rf /", false), "cm0gLXJmIC8=");
        assert_eq!(decoded_hexadecimal("6869").as_deref(), Some("hi"));
    }
}
