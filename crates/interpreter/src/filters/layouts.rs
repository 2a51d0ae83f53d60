//! Filters that lay a known text out anew, or leave it as it is where nothing in it asks for a change.

use super::lines_of;

/// What `fold` prints. Only for letters of which each takes one place, and not at spaces.
///
/// Source: coreutils 9, "fold invocation".
pub(super) fn folded(options: &[&str], text: &str) -> Option<String> {
    let width: usize = match options {
        [] => 80,
        ["-w" | "-bw", width] => width.parse().ok()?,
        [one] => one
            .strip_prefix("-w")
            .or_else(|| one.strip_prefix("--width="))
            .or_else(|| one.strip_prefix('-'))?
            .parse()
            .ok()?,
        _ => return None,
    };
    if width == 0 || !text.chars().all(|c| c == '\n' || c.is_ascii_graphic() || c == ' ') {
        return None;
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        let letters: Vec<char> = content.chars().collect();
        let pieces: Vec<String> = letters.chunks(width).map(|piece| piece.iter().collect()).collect();
        out.push_str(&pieces.join("\n"));
        out.push_str(end);
    }
    Some(out)
}

/// What `nl` prints, and `cat -n`: a number of six places before each line, and a tab.
///
/// Source: coreutils 9, "nl invocation".
pub(super) fn numbered(options: &[&str], text: &str) -> Option<String> {
    let counts_empty = match options {
        [] => false,
        ["-ba" | "--body-numbering=a"] | ["-b", "a"] => true,
        _ => return None,
    };
    let is_unclear = |line: &str| line.starts_with("\\:") || line.is_empty() && !counts_empty;
    if text.lines().any(is_unclear) {
        return None;
    }
    let lines: Vec<String> =
        text.lines().enumerate().map(|(index, line)| format!("{:6}\t{line}", index + 1)).collect();
    Some(lines_of(&lines))
}

/// What `dd` passes on of its input, by its operands; `None` where it reads or writes a file.
///
/// Source: coreutils 9, "dd invocation".
pub(super) fn copied(operands: &[&str], text: &str) -> Option<String> {
    let (mut block, mut skipped, mut taken) = (512_usize, 0_usize, None);
    let mut upper = None;
    for operand in operands {
        let (name, value) = operand.split_once('=')?;
        let number = || -> Option<usize> {
            let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = match value.get(digits.len()..)? {
                "" | "c" => 1,
                "b" => 512,
                "k" | "K" => 1024,
                "M" => 1024 * 1024,
                _ => return None,
            };
            digits.parse::<usize>().ok()?.checked_mul(unit)
        };
        match name {
            "bs" | "ibs" => block = number()?,
            "skip" | "iseek" => skipped = number()?,
            "count" => taken = Some(number()?),
            "obs" | "status" => {}
            "conv" => match value {
                "ucase" => upper = Some(true),
                "lcase" => upper = Some(false),
                "notrunc" | "fsync" | "fdatasync" => {}
                _ => return None,
            },
            _ => return None,
        }
    }
    let from = skipped.checked_mul(block)?.min(text.len());
    let length = match taken {
        Some(taken) => taken.checked_mul(block)?,
        None => text.len(),
    };
    let to = from.saturating_add(length).min(text.len());
    let part = text.get(from..to)?;
    Some(match upper {
        Some(true) => part.to_ascii_uppercase(),
        Some(false) => part.to_ascii_lowercase(),
        None => part.to_owned(),
    })
}

/// The bytes that `head -c` and `tail -c` print.
pub(super) fn bytes_of(program: &str, count: &str, text: &str) -> Option<String> {
    let number = |digits: &str| digits.parse::<usize>().ok();
    let part = match program {
        "head" => match count.strip_prefix('-') {
            Some(left_out) => text.get(..text.len().saturating_sub(number(left_out)?))?,
            None => text.get(..number(count)?.min(text.len()))?,
        },
        _ => match count.strip_prefix('+') {
            Some(first) => text.get(number(first)?.saturating_sub(1).min(text.len())..)?,
            None => {
                text.get(text.len().saturating_sub(number(count.strip_prefix('-').unwrap_or(count))?)..)?
            }
        },
    };
    Some(part.to_owned())
}

/// What `paste` makes of one input in several columns: `paste - -`.
pub(super) fn in_columns(options: &[&str], columns: usize, text: &str) -> Option<String> {
    let mut delimiter = "\t";
    let mut rest = options.iter().filter(|option| **option != "-");
    while let Some(option) = rest.next() {
        delimiter = match *option {
            "-d" => rest.next()?,
            option => option.strip_prefix("-d")?,
        };
    }
    if matches!(delimiter, "\\0") {
        delimiter = "";
    }
    if delimiter.chars().count() > 1 {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_full = lines.len().is_multiple_of(columns) || delimiter.is_empty();
    let joined: Vec<String> = lines.chunks(columns).map(|row| row.join(delimiter)).collect();
    is_full.then(|| lines_of(&joined))
}

/// Names that m4 knows from the beginning (GNU m4 1.4.19, "Macro index").
const MACROS: &[&str] = &[
    "builtin",
    "changecom",
    "changequote",
    "changeword",
    "debugfile",
    "debugmode",
    "decr",
    "define",
    "defn",
    "divert",
    "divnum",
    "dnl",
    "dumpdef",
    "errprint",
    "esyscmd",
    "eval",
    "format",
    "ifdef",
    "ifelse",
    "include",
    "incr",
    "index",
    "indir",
    "len",
    "m4exit",
    "m4wrap",
    "maketemp",
    "mkstemp",
    "patsubst",
    "popdef",
    "pushdef",
    "regexp",
    "shift",
    "sinclude",
    "substr",
    "syscmd",
    "sysval",
    "traceoff",
    "traceon",
    "translit",
    "undefine",
    "undivert",
    "unix",
    "__file__",
    "__gnu__",
    "__line__",
    "__program__",
    "__unix__",
];

/// The text, where a program leaves it as it is: no tab to expand, no sign to convert, no macro to replace.
///
/// Sources: coreutils 9, "expand invocation", "shuf invocation"; iconv(1) of glibc 2.36; column(1) of util-linux 2.38; pv(1) 1.6; strings(1) of
/// binutils 2.40; GNU m4 1.4.19; sponge(1) of moreutils.
pub(super) fn left_as_it_is(program: &str, options: &[&str], text: &str) -> Option<String> {
    let stays = match program {
        "expand" => !text.contains(['\t', '\u{8}']),
        "unexpand" => !text.contains('\t') && !text.contains("  "),
        // All of these sets have ASCII in them as it is.
        "iconv" => {
            let has_ascii = |name: &str| {
                let name = name.to_ascii_lowercase();
                let name = name.split("//").next().unwrap_or_default();
                ["utf-8", "utf8", "ascii", "us-ascii", "latin1"].contains(&name)
                    || ["iso-8859", "iso8859", "windows-125", "cp125"]
                        .iter()
                        .any(|start| name.starts_with(start))
            };
            let is_set = |option: &str| !option.starts_with('-');
            let attached = |option: &str| {
                let name = ["--to-code=", "--from-code=", "-t", "-f"]
                    .iter()
                    .find_map(|prefix| option.strip_prefix(prefix));
                name.is_some_and(|name| name.is_empty() || has_ascii(name)) || matches!(option, "-c" | "-s")
            };
            text.is_ascii()
                && options
                    .iter()
                    .all(|option| if is_set(option) { has_ascii(option) } else { attached(option) })
        }
        "pv" => options.iter().all(|option| !matches!(*option, "-S" | "--stop-at-size" | "-o" | "--output")),
        // A sign that stands nowhere divides nothing.
        "column" => match options {
            ["-t", "-s", sign] | ["-ts", sign] | ["-s", sign, "-t"] => !text.contains(|c| sign.contains(c)),
            _ => false,
        },
        "strings" => {
            options.is_empty()
                && text.ends_with('\n')
                && text
                    .lines()
                    .all(|line| line.len() >= 4 && line.chars().all(|c| matches!(c, ' '..='~' | '\t')))
        }
        "shuf" => options.is_empty() && text.lines().count() <= 1 && text.ends_with('\n'),
        "dos2unix" => options.is_empty() && !text.contains('\r'),
        "m4" => {
            let is_macro = |word: &str| MACROS.contains(&word);
            options.is_empty()
                && !text.contains(['`', '#'])
                && !text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(is_macro)
        }
        _ => false,
    };
    stays.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_laid_out() {
        assert_eq!(folded(&["-w", "2"], "abcde\nf\n").as_deref(), Some("ab\ncd\ne\nf\n"));
        assert_eq!(folded(&["-w2", "-s"], "abcde\n"), None);
        assert_eq!(numbered(&["-ba"], "a\n\n").as_deref(), Some("     1\ta\n     2\t\n"));
        assert_eq!(copied(&["bs=1", "skip=3", "status=none"], "xxxabc\n").as_deref(), Some("abc\n"));
        assert_eq!(copied(&["bs=2", "count=2"], "abcdef").as_deref(), Some("abcd"));
        assert_eq!(copied(&["of=x"], "a"), None);
        assert_eq!(in_columns(&["-d", " ", "-", "-"], 2, "a\nb\nc\nd\n").as_deref(), Some("a b\nc d\n"));
    }

    #[test]
    fn what_asks_for_a_change_is_not_left() {
        let stays = |program: &str, options: &[&str], text: &str| {
            left_as_it_is(program, options, text).as_deref() == Some(text)
        };
        assert!(stays("expand", &[], "a b\n"));
        assert!(!stays("expand", &[], "a\tb\n"));
        assert!(stays("iconv", &["-f", "utf-8", "-t", "latin1//TRANSLIT"], "a\n"));
        assert!(!stays("iconv", &["-t", "utf-16"], "a\n"));
        assert!(stays("m4", &[], "echo hi\n"));
        assert!(!stays("m4", &[], "syscmd(echo hi)\n"));
        assert!(!stays("m4", &["-DX=1"], "X\n"));
    }
}
