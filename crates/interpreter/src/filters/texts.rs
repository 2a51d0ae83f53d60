//! What filters make of a text that is known.

use super::{columns, editing, encodings, json, layouts, letters, lines_of};

/// What a filter makes of a text; `None` when that is not known here.
pub(super) fn filtered(program: &str, options: &[String], text: &str) -> Option<String> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let lines = || text.lines();
    let written = |lines: Vec<String>| lines_of(&lines);
    match (program, options.as_slice()) {
        ("tr", options) => letters::translated(options, text),
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
        ("sort", ["-rn" | "-nr"]) => {
            let mut all: Vec<(i64, &str)> =
                lines().map(|line| Some((whole_number(line)?, line))).collect::<Option<_>>()?;
            all.sort_unstable();
            all.reverse();
            Some(written(all.into_iter().map(|(_, line)| line.to_owned()).collect()))
        }
        ("sort", ["-n"]) => {
            let mut all: Vec<(i64, &str)> =
                lines().map(|line| Some((whole_number(line)?, line))).collect::<Option<_>>()?;
            all.sort_unstable();
            Some(written(all.into_iter().map(|(_, line)| line.to_owned()).collect()))
        }
        ("paste", options) => match options.iter().filter(|option| **option == "-").count() {
            0 if options.is_empty() => Some(text.to_owned()),
            0 => joined(options, text),
            1 => joined(&options.iter().copied().filter(|option| *option != "-").collect::<Vec<_>>(), text),
            columns => layouts::in_columns(options, columns, text),
        },
        ("jq", options) => json::filtered(options, text),
        ("uniq", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.dedup();
            Some(written(all))
        }
        ("head" | "tail", ["-c" | "--bytes", count]) => layouts::bytes_of(program, count, text),
        ("head" | "tail", [one]) if one.starts_with("-c") => layouts::bytes_of(program, one.get(2..)?, text),
        ("head" | "tail", [one]) if one.starts_with("--bytes=") => {
            layouts::bytes_of(program, one.get(8..)?, text)
        }
        ("head" | "tail", [one]) if one.starts_with("--lines=") => {
            filtered(program, &["-n".to_owned(), one.get(8..)?.to_owned()], text)
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
        ("rev", []) => {
            let turned = written(lines().map(|line| line.chars().rev().collect()).collect());
            // Only what was a line stays one (rev of util-linux 2.38).
            Some(if text.ends_with('\n') { turned } else { turned.trim_end_matches('\n').to_owned() })
        }
        ("tac", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.reverse();
            Some(written(all))
        }
        ("wc", ["-l"]) => Some(format!("{}\n", text.matches('\n').count())),
        ("wc", ["-c"]) => Some(format!("{}\n", text.len())),
        ("wc", ["-w"]) => Some(format!("{}\n", text.split_whitespace().count())),
        ("base64" | "base32" | "xxd" | "openssl", options) => encodings::turned(program, options, text),
        ("fold", options) => layouts::folded(options, text),
        ("nl", options) => layouts::numbered(options, text),
        ("dd", options) => layouts::copied(options, text),
        (
            "expand" | "unexpand" | "iconv" | "pv" | "column" | "strings" | "shuf" | "m4" | "dos2unix",
            options,
        ) => layouts::left_as_it_is(program, options, text),
        ("sed" | "gsed", options) => editing::edited(options, text),
        ("awk" | "gawk" | "mawk" | "nawk", options) => columns::printed(options, text),
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
    // A sign of its own stands for another one; an empty list puts nothing between (coreutils 9, "paste invocation").
    let between = if delimiters == "\\0" { "" } else { delimiters };
    let is_known = is_serial && between.chars().count() <= 1 && between != "\\";
    is_known.then(|| text.lines().collect::<Vec<_>>().join(between) + "\n")
}

fn line_count(options: &[&str]) -> Option<usize> {
    match options {
        [] => Some(10),
        ["-n", count] => count.parse().ok(),
        [one] => one.strip_prefix("-n").or_else(|| one.strip_prefix('-'))?.parse().ok(),
        _ => None,
    }
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
        assert_eq!(run("rev", &[], "abc").as_deref(), Some("cba"));
        assert_eq!(run("head", &["-c", "2"], "abc\n").as_deref(), Some("ab"));
        assert_eq!(run("head", &["-c-2"], "abc\n").as_deref(), Some("ab"));
        assert_eq!(run("tail", &["-c", "+2"], "abc\n").as_deref(), Some("bc\n"));
        assert_eq!(run("paste", &["-d", "", "-", "-"], "a\nb\nc\n").as_deref(), Some("ab\nc\n"));
    }
}
