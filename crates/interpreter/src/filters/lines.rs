//! Lists of names on their way through filters: what is proved of their lines, and which filters keep that.

use crate::{Call, Output};

/// What stands in the lines of a list of names of files that lie in the workspace, as far as that is proved.
///
/// The output says it behind the place: `/src/` are names, `/src/:` lines that begin with a name and a colon. The place of what is made of
/// names elsewhere is their pattern: `/home/dev/*//?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// A name, and nothing else.
    Names,
    /// A name, a colon, and any text.
    Prefixed,
    /// Numbers and letters, and a name as the last field.
    Fields,
    /// Any text, made of the names that fit a pattern, which lie outside the workspace: these names may be among it, and any other.
    Loose,
}

impl Lines {
    const fn mark(self) -> &'static str {
        match self {
            Self::Names => "/",
            Self::Prefixed => "/:",
            Self::Fields => "/ ",
            Self::Loose => "//?",
        }
    }

    pub(super) fn of_place(self, place: &str) -> Output {
        Output::Local(format!("{}{}", place.trim_end_matches('/'), self.mark()))
    }

    /// What the lines of an output hold that is a list of names; `None` for the content of files.
    pub(crate) fn of(output: &Output) -> Option<Self> {
        let Output::Local(place) = output else { return None };
        [Self::Prefixed, Self::Fields, Self::Loose, Self::Names]
            .into_iter()
            .find(|lines| place.ends_with(lines.mark()))
    }

    /// An output that was made of the names outside the workspace that fit a pattern.
    pub(super) fn of_names_elsewhere(pattern: &str) -> Output {
        Output::Local(format!("{pattern}{}", Self::Loose.mark()))
    }

    /// The pattern of the names outside the workspace that an output was made of.
    pub(crate) fn elsewhere(output: &Output) -> Option<&str> {
        let Output::Local(place) = output else { return None };
        place.strip_suffix(Self::Loose.mark())
    }
}

/// What a filter makes of a list: `None` where its lines need not be names of the list any more.
pub(super) fn kept(list: &Output, call: &Call) -> Option<Output> {
    let Output::Local(place) = list else { return None };
    let lines = Lines::of(list)?;
    if lines == Lines::Loose {
        return Some(list.clone());
    }
    let place = place.strip_suffix(lines.mark())?;
    Some(chosen(lines, call)?.of_place(place))
}

/// What the lines hold that a filter chooses from a list, or the names that it takes out of its lines.
pub(super) fn chosen(lines: Lines, call: &Call) -> Option<Lines> {
    let words: Vec<&str> = call.words.iter().map(|word| word.as_exact().unwrap_or("?")).collect();
    let letters = |known: &str| {
        words.iter().filter(|word| word.starts_with('-') && word.len() > 1).all(|word| {
            word.strip_prefix('-').is_some_and(|flags| flags.chars().all(|flag| known.contains(flag)))
        })
    };
    match call.program.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" => {
            let mut rest = words.iter();
            while let Some(word) = rest.next() {
                match *word {
                    "-e" | "-f" | "--regexp" | "--file" => {
                        rest.next();
                    }
                    "--" => break,
                    word if word.starts_with("--regexp=") || word.starts_with("--file=") => {}
                    "--ignore-case" | "--invert-match" | "--extended-regexp" | "--fixed-strings"
                    | "--line-regexp" | "--word-regexp" => {}
                    word if !word.starts_with('-') => {}
                    word => {
                        let flags = word.strip_prefix('-')?;
                        let flags = match flags.strip_suffix(['e', 'f']) {
                            Some(flags) => {
                                rest.next();
                                flags
                            }
                            None => flags,
                        };
                        if !flags.chars().all(|flag| "ivEFPGwxaqzsm0123456789".contains(flag)) {
                            return None;
                        }
                    }
                }
            }
            Some(lines)
        }
        // Characters that are counted cut a name.
        "head" | "tail" => {
            (!words.iter().any(|word| word.starts_with("-c") || word.starts_with("--b"))).then_some(lines)
        }
        "cat" => letters("u").then_some(lines),
        "uniq" if letters("c") && !letters("") => (lines == Lines::Names).then_some(Lines::Fields),
        // It may be given what it prints, instead of reading it.
        "shuf" => words
            .iter()
            .all(|word| {
                *word == "--repeat"
                    || !word.starts_with("--") && (!word.starts_with('-') || letters("nrz0123456789"))
            })
            .then_some(lines),
        "uniq" | "sort" | "tee" | "tac" | "pv" | "sponge" | "fzf" | "sk" => Some(lines),
        "column" => letters("t").then_some(lines),
        "paste" => words
            .iter()
            .all(|word| matches!(*word, "-" | "-s" | "-sd" | "-sd " | "-d" | " " | "-d "))
            .then_some(lines),
        "nl" => (words.is_empty() && lines == Lines::Names).then_some(Lines::Fields),
        "perl" => chosen_by_perl(lines, &words),
        "tr" => matches!(
            words.as_slice(),
            ["\\n", "\\0" | "\\000" | " "] | ["\\0" | "\\000" | " " | "-s", "\\n"] | ["-d", "\\r"]
        )
        .then_some(lines),
        "cut" => match (lines, words.as_slice()) {
            (
                Lines::Prefixed,
                ["-d:", "-f1"]
                | ["-d", ":", "-f1"]
                | ["-d:", "-f", "1"]
                | ["-d", ":", "-f", "1"]
                | ["-f1", "-d:"]
                | ["-f1", "-d", ":"],
            ) => Some(Lines::Names),
            (Lines::Fields, [.., last]) => {
                let is_rest =
                    |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-') && !text.is_empty();
                let field = last.trim_start_matches("-f").trim_start_matches("-c");
                let by_blank = words
                    .iter()
                    .all(|word| matches!(*word, "-d" | " " | "-d " | "-f" | "-c" | "-b") || word == last);
                (is_rest(field) && by_blank).then_some(Lines::Names)
            }
            _ => None,
        },
        "awk" | "gawk" | "mawk" | "nawk" => chosen_by_awk(lines, &words),
        "sed" | "gsed" => chosen_by_sed(lines, &words),
        _ => None,
    }
}

fn chosen_by_awk(lines: Lines, words: &[&str]) -> Option<Lines> {
    let (colon, script) = match words {
        [script] => (false, *script),
        ["-F:", script] | ["-F", ":", script] => (true, *script),
        _ => return None,
    };
    let script = script.trim();
    let (condition, action) = match script.split_once('{') {
        Some((condition, action)) => {
            (condition.trim(), action.strip_suffix('}')?.trim().trim_end_matches(';'))
        }
        None => (script, "print"),
    };
    if !only_asks(condition) {
        return None;
    }
    let field = action.strip_prefix("print")?.trim();
    let is_field = field == "$NF"
        || field
            .strip_prefix('$')
            .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    match (lines, field) {
        (lines, "" | "$0") => Some(lines),
        // A word of its own in front makes a path below it.
        (Lines::Names, _)
            if field.strip_suffix("$0").is_some_and(|start| is_directory_text(start.trim())) =>
        {
            Some(lines)
        }
        (Lines::Names, "$1") if !colon => Some(lines),
        (Lines::Prefixed, "$1") if colon => Some(Lines::Names),
        (Lines::Fields, _) if is_field && !colon => Some(Lines::Names),
        _ => None,
    }
}

/// Whether a condition of `awk` changes nothing of the line that it is about.
fn only_asks(condition: &str) -> bool {
    let is_expression = condition.len() > 1
        && condition
            .trim_start_matches('!')
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .is_some_and(|text| !text.contains('/'));
    if is_expression {
        return true;
    }
    let compared =
        ["==", "!=", "<=", ">="].iter().fold(condition.to_owned(), |text, sign| text.replace(sign, "<"));
    !compared.contains('=')
        && !["getline", "sub", "system", "print", "|", "@", "BEGIN", "END"].iter().any(|word| {
            // Two of these signs between conditions mean "or".
            compared.replace("||", "&&").contains(word)
        })
}

/// Whether a text in quotes is the beginning of a path below the directory where it is used.
fn is_directory_text(quoted: &str) -> bool {
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).is_some_and(is_way_down)
}

/// Whether a text put in front of a relative path makes a path that leads down from where it is used.
fn is_way_down(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.ends_with('/')
        && !text.starts_with(['/', '-'])
        && text.chars().all(is_plain)
        && !text.split('/').any(|part| part == "..")
}

/// `perl -ne 'print if /x/'`, `perl -pe 's/a/b/'`
fn chosen_by_perl(lines: Lines, words: &[&str]) -> Option<Lines> {
    let [options @ .., script] = words else { return None };
    let script = script.trim().trim_end_matches(';');
    match options {
        ["-ne" | "-lne" | "-nle"] | ["-n" | "-ln" | "-nl", "-e"] => {
            let condition =
                script.strip_prefix("print if ").or_else(|| script.strip_prefix("print unless "))?;
            let text =
                condition.trim().trim_start_matches('!').strip_prefix('/')?.strip_suffix("/i").or_else(
                    || condition.trim().trim_start_matches('!').strip_prefix('/')?.strip_suffix('/'),
                )?;
            // Code may stand in an expression and in what it names.
            (!text.contains(['/', '$', '@', '{']) || is_end(text)).then_some(lines)
        }
        ["-pe"] | ["-p", "-e"] => chosen_by_sed(lines, &[script]),
        _ => None,
    }
}

/// Whether the only sign of a variable in an expression says where the line ends.
fn is_end(text: &str) -> bool {
    text.strip_suffix('$').is_some_and(|rest| !rest.contains(['/', '$', '@', '{']))
}

fn chosen_by_sed(lines: Lines, words: &[&str]) -> Option<Lines> {
    let (options, script) = match words {
        [options @ .., script]
            if options.iter().all(|option| matches!(*option, "-n" | "-E" | "-r" | "-e" | "-nE" | "-ne")) =>
        {
            (options, *script)
        }
        _ => return None,
    };
    let silent = options.iter().any(|option| option.starts_with("-n"));
    let is_address = |text: &str| {
        let by_number =
            text.chars().all(|c| c.is_ascii_digit() || matches!(c, '$' | ',')) && !text.is_empty();
        let by_text = text.len() > 2
            && text
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'))
                .is_some_and(|text| !text.contains('/') || text.replace("\\/", "").find('/').is_none());
        by_number || by_text
    };
    let address = if silent { script.strip_suffix('p') } else { script.strip_suffix(['d', 'q']) };
    if address.is_some_and(is_address) {
        return Some(lines);
    }
    let mut chars = script.strip_prefix('s')?.chars();
    let delimiter = chars.next().filter(|c| "/|#,:@!".contains(*c))?;
    let rest = chars.as_str().replace(&format!("\\{delimiter}"), "\u{1}");
    let parts: Vec<&str> = rest.split(delimiter).collect();
    let [pattern, with, flags] = parts.as_slice() else { return None };
    let slash = delimiter.to_string();
    let (pattern, with) = (pattern.replace('\u{1}', &slash), with.replace('\u{1}', &slash));
    if silent || !matches!(*flags, "" | "g") {
        return None;
    }
    match (lines, pattern.as_str(), with.as_str()) {
        (Lines::Fields, pattern, "")
            if pattern.strip_prefix('^').is_some_and(|rest| rest == "..." || rest == ".. ") =>
        {
            Some(Lines::Names)
        }
        (Lines::Prefixed, ":.*", "") => Some(Lines::Names),
        (Lines::Names, "^", "./") | (Lines::Names, "^\\./" | "^./", "") => Some(lines),
        (Lines::Names, "^", with) if is_way_down(with) => Some(lines),
        // Letters in the place of others make no way up and no way to the root.
        (Lines::Names, _, with)
            if with.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
                && with.contains(|c: char| c.is_ascii_alphanumeric()) =>
        {
            Some(lines)
        }
        _ => None,
    }
}
