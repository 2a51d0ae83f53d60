//! Programs that only turn text into text: what they print is worked out where their input is known and their output is
//! listened to.
//!
//! | module | holds |
//! |---|---|
//! | `searching` | `grep`, and what `sed` and `awk` print |

mod searching;

use crate::effect::EffectKind;
use crate::interpreter::{Call, Done, Draft, Exit, Input, Machine, Output, Status, Value, secrets};
use crate::programs::processes::listing;
use crate::programs::strings;
use crate::world::{Entry, Listing};

/// Programs that pass on what they read: its origin holds for what they print.
const PASSING: &[&str] = &[
    "cat",
    "tac",
    "rev",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "sed",
    "gsed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "tr",
    "cut",
    "sort",
    "uniq",
    "head",
    "tail",
    "tee",
    "base64",
    "base32",
    "gzip",
    "gunzip",
    "zcat",
    "xz",
    "unxz",
    "xzcat",
    "bzip2",
    "bunzip2",
    "bzcat",
    "zstd",
    "zstdcat",
    "lz4",
    "openssl",
    "xxd",
    "od",
    "hexdump",
    "jq",
    "yq",
    "nl",
    "fold",
    "fmt",
    "column",
    "paste",
    "iconv",
    "strings",
    "perl",
    "dos2unix",
    "pv",
    "sponge",
    "envsubst",
    "expand",
    "unexpand",
    "gpg",
    "age",
    "dd",
    "tar",
    "funzip",
    "html2text",
    "envsubst",
    "more",
    "less",
    "bat",
];

/// The class of what a program printed, from what its handler says, what it read from files, and its input.
pub(crate) fn class(call: &Call, output: Output, read: Output) -> Output {
    let passing = PASSING.contains(&call.program.as_str());
    let coarse = |output: Output| match output {
        Output::Text(_) => Output::Unknown,
        other => other,
    };
    match output {
        Output::Unknown => match read {
            Output::Nothing if passing => coarse(Output::from_input(&call.input)),
            Output::Nothing => Output::Unknown,
            read => coarse(read),
        },
        // What a program read is not what it prints, but for `cat`, which is worked out before.
        Output::Text(text)
            if passing && (read == Output::Text(text.clone()) || call.input == Input::Text(text.clone())) =>
        {
            Output::Unknown
        }
        Output::Nothing | Output::Text(_) | Output::Network(_) | Output::Secret(_) | Output::Local(_) => {
            output
        }
    }
}

/// Programs with the options by which they turn what cannot be read into what it says.
const DECODERS: &[(&str, &[&str])] = &[
    ("base64", &["-d", "-D", "--decode", "-di"]),
    ("base32", &["-d", "-D", "--decode"]),
    ("basenc", &["-d", "--decode"]),
    ("xxd", &["-r", "-rp", "-pr"]),
    ("uudecode", &[]),
    ("openssl", &["-d", "-decrypt"]),
    ("gpg", &["-d", "--decrypt"]),
    ("age", &["-d", "--decrypt"]),
];

/// Whether a call decodes text that nobody has read in the form it gets.
pub(crate) fn decodes(call: &Call) -> bool {
    DECODERS.iter().any(|(program, options)| {
        *program == call.program
            && (options.is_empty()
                || call.words.iter().filter_map(Value::as_exact).any(|word| options.contains(&word)))
    })
}

/// What a program prints and whether it succeeds, when that can be worked out.
pub(crate) fn fold(machine: &mut Machine<'_>, call: &Call) -> Option<Exit> {
    let words = &call.words;
    if let Some(output) = listing::filtered(call).filter(|_| PASSING.contains(&call.program.as_str())) {
        let status = if call.program.ends_with("grep") { Status::Open } else { Status::Unknown };
        return Some(Exit { status, output });
    }
    match call.program.as_str() {
        "ps" | "pgrep" | "pidof" | "lsof" | "fuser" => {
            let output = listing::listed(call)?;
            let status = if call.program == "ps" { Status::Unknown } else { Status::Open };
            Some(Exit { status, output })
        }
        "cat" if machine.is_listened_to() || machine.is_kept() => {
            let output = concatenated(machine, call)?;
            Some(Exit::with(output))
        }
        "basename" => basename(words),
        "dirname" => dirname(words),
        "seq" => seq(words),
        "whoami" | "logname" if words.is_empty() => Some(line(machine.world().place().user.clone()?)),
        "id" if exact_words(words)?.as_slice() == ["-un"] => {
            Some(line(machine.world().place().user.clone()?))
        }
        "realpath" | "readlink" => real_path(machine, call),
        "env" | "printenv" if words.is_empty() => Some(Exit::with(Output::Secret("$*".to_owned()))),
        "printenv" => match exact_words(words)?.as_slice() {
            [name] if secrets::is_secret_name(name) => Some(Exit::with(Output::Secret(format!("${name}")))),
            [name] => {
                machine.variable(name).map(|value| Exit::printing(value.followed_by(&Value::exact("\n"))))
            }
            _ => None,
        },
        "git" => repository_root(machine, words),
        "ls" => listed(machine, words),
        "tr" | "cut" | "sort" | "uniq" | "head" | "tail" | "rev" | "tac" | "sed" | "gsed" | "awk"
        | "gawk" | "mawk" | "base64" | "wc" | "xxd"
            if machine.is_listened_to() || matches!(call.input, Input::Text(_)) =>
        {
            let known = input_text(machine, call)?;
            let text = filtered(call.program.as_str(), &known.options, &known.text)?;
            Some(Exit::printing(Value::Exact(text)))
        }
        "grep" | "egrep" | "fgrep" => searching::grep(machine, call),
        _ => None,
    }
}

/// The texts with a newline behind each.
fn lines_of(texts: &[String]) -> String {
    texts.iter().flat_map(|text| [text.as_str(), "\n"]).collect()
}

fn line(text: impl Into<String>) -> Exit {
    Exit::printing(Value::Exact(format!("{}\n", text.into())))
}

fn exact_words(words: &[Value]) -> Option<Vec<&str>> {
    words.iter().map(Value::as_exact).collect()
}

/// The text of files or of the input, for `cat` without options that change it.
fn concatenated(machine: &mut Machine<'_>, call: &Call) -> Option<Output> {
    let mut all = Output::Nothing;
    let mut any = false;
    for word in &call.words {
        let text = word.as_exact();
        if text == Some("-") {
            any = true;
            all = all.followed_by(Output::from_input(&call.input));
            continue;
        }
        if text == Some("-u") || text == Some("--") {
            continue;
        }
        if text.is_some_and(|text| text.starts_with('-')) {
            return None;
        }
        any = true;
        all = all.followed_by(machine.peek(word));
    }
    Some(if any { all } else { Output::from_input(&call.input) })
}

fn basename(words: &[Value]) -> Option<Exit> {
    let texts = exact_words(words);
    let base = |text: &str| {
        let trimmed = text.trim_end_matches('/');
        if trimmed.is_empty() {
            "/".to_owned()
        } else {
            trimmed.rsplit('/').next().unwrap_or(trimmed).to_owned()
        }
    };
    match texts.as_deref() {
        Some(["-a" | "--multiple", names @ ..]) => {
            Some(line(names.iter().map(|name| base(name)).collect::<Vec<_>>().join("\n")))
        }
        Some(["-s", suffix, name] | [name, suffix]) if !name.starts_with('-') => {
            let name = base(name);
            Some(line(name.strip_suffix(suffix).filter(|stem| !stem.is_empty()).unwrap_or(&name)))
        }
        Some([name]) => Some(line(base(name))),
        _ => None,
    }
}

fn dirname(words: &[Value]) -> Option<Exit> {
    let texts = exact_words(words);
    if texts.is_none() {
        // The directory of a path of which the beginning is known is known where a slash follows.
        let [Value::Between { prefix, suffix }] = words else { return None };
        let suffix_directory = suffix.rsplit_once('/').map(|(directory, _)| directory.to_owned());
        return suffix_directory.map(|suffix| {
            Exit::printing(Value::Between { prefix: prefix.clone(), suffix: format!("{suffix}\n") })
        });
    }
    let lines: Vec<String> = texts?
        .iter()
        .map(|text| {
            let trimmed = text.trim_end_matches('/');
            match trimmed.rsplit_once('/') {
                Some(("", _)) => "/".to_owned(),
                Some((directory, _)) => directory.trim_end_matches('/').to_owned(),
                None if trimmed.is_empty() && text.starts_with('/') => "/".to_owned(),
                None => ".".to_owned(),
            }
        })
        .collect();
    Some(line(lines.join("\n")))
}

fn seq(words: &[Value]) -> Option<Exit> {
    let mut separator = "\n";
    let mut wide = false;
    let mut numbers = Vec::new();
    let texts = exact_words(words)?;
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        match *text {
            "-s" => separator = rest.next()?,
            "-w" => wide = true,
            number => numbers.push(number.parse::<i64>().ok()?),
        }
    }
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    let mut values = Vec::new();
    let mut number = first;
    while (step > 0 && number <= last || step < 0 && number >= last) && values.len() <= 4096 {
        values.push(number);
        number = number.checked_add(step)?;
    }
    if step == 0 || values.len() > 4096 {
        return None;
    }
    let width = if wide { first.to_string().len().max(last.to_string().len()) } else { 0 };
    let texts: Vec<String> = values.iter().map(|number| format!("{number:0width$}")).collect();
    Some(line(texts.join(separator)))
}

fn real_path(machine: &mut Machine<'_>, call: &Call) -> Option<Exit> {
    let texts = exact_words(&call.words)?;
    let (options, operands): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| text.starts_with('-'));
    let known =
        |option: &&str| matches!(*option, "-f" | "-e" | "-m" | "-n" | "-q" | "-s" | "--canonicalize" | "--");
    if !options.iter().all(known) || call.program == "readlink" && options.is_empty() {
        return None;
    }
    let [operand] = operands.as_slice() else { return None };
    let aims = machine.paths_through(&Value::exact(*operand));
    match aims.as_slice() {
        [aim] => Some(line(aim.target.path()?.as_str())),
        _ => None,
    }
}

fn repository_root(machine: &mut Machine<'_>, words: &[Value]) -> Option<Exit> {
    match exact_words(words)?.as_slice() {
        ["rev-parse", "--show-toplevel"] => {
            let root = machine.world().repository(machine.cwd()?)?.root;
            Some(line(root.as_str()))
        }
        _ => None,
    }
}

/// The names that `ls` prints into a pipe, for calls that only name places.
fn listed(machine: &mut Machine<'_>, words: &[Value]) -> Option<Exit> {
    let mut hidden = false;
    let mut itself = false;
    let mut operands = Vec::new();
    for text in exact_words(words)? {
        match text.strip_prefix('-') {
            Some(flags) if !flags.is_empty() && !flags.starts_with('-') => {
                if !flags.chars().all(|flag| matches!(flag, '1' | 'A' | 'd')) {
                    return None;
                }
                hidden |= flags.contains('A');
                itself |= flags.contains('d');
            }
            Some(_) => return None,
            None => operands.push(text.to_owned()),
        }
    }
    let in_directory = |machine: &Machine<'_>, word: &str| -> Option<Vec<String>> {
        let aims = machine.paths_through(&Value::exact(word));
        let [aim] = aims.as_slice() else { return None };
        let path = aim.target.path()?;
        match machine.entry(path) {
            Entry::Directory => match machine.children(path) {
                Listing::Names(names) if names.len() <= 512 => {
                    Some(names.into_iter().filter(|name| hidden || !name.starts_with('.')).collect())
                }
                Listing::Names(_) | Listing::Unknown => None,
            },
            Entry::File(_) | Entry::Symlink(_) | Entry::Special => Some(vec![word.to_owned()]),
            Entry::Missing => Some(Vec::new()),
            Entry::Unknown => None,
        }
    };
    let exists = |machine: &Machine<'_>, word: &str| -> Option<bool> {
        let aims = machine.paths(&Value::exact(word));
        let [aim] = aims.as_slice() else { return None };
        match machine.entry(aim.target.path()?) {
            Entry::Missing => Some(false),
            Entry::Unknown => None,
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special => Some(true),
        }
    };
    let names = match operands.as_slice() {
        [] => in_directory(machine, ".")?,
        [one] if !itself => in_directory(machine, one)?,
        many if itself => {
            let mut names = Vec::new();
            for word in many {
                if exists(machine, word)? {
                    names.push(word.clone());
                }
            }
            names
        }
        many => {
            let mut names = Vec::new();
            for word in many {
                let found = in_directory(machine, word)?;
                if found != [word.clone()] && !found.is_empty() {
                    return None;
                }
                names.extend(found);
            }
            names
        }
    };
    let text: String = lines_of(&names);
    Some(Exit::printing(Value::Exact(text)))
}

/// A known text with the options that say what is done with it.
struct Known {
    options: Vec<String>,
    text: String,
}

/// The text that a filter reads: of its operands, else of its input.
fn input_text(machine: &mut Machine<'_>, call: &Call) -> Option<Known> {
    let mut options = Vec::new();
    let mut operands = Vec::new();
    let words = exact_words(&call.words)?;
    let valued: &[&str] = match call.program.as_str() {
        "cut" => &["-d", "-f", "-c", "-b"],
        "head" | "tail" => &["-n", "-c"],
        "sort" => &["-k", "-t", "-o"],
        "sed" | "gsed" => &["-e", "-f"],
        "awk" | "gawk" | "mawk" => &["-F", "-v", "-f"],
        "base64" => &["-w"],
        _ => &[],
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.starts_with('-') && word.len() > 1 {
            options.push((*word).to_owned());
            if valued.contains(word) {
                options.push((*rest.next()?).to_owned());
            }
        } else {
            operands.push(*word);
        }
    }
    // The first operands of these say what to do.
    let leading = match call.program.as_str() {
        "tr" => operands.len(),
        "sed" | "gsed" => usize::from(!options.iter().any(|option| option == "-e")),
        "awk" | "gawk" | "mawk" => 1,
        _ => 0,
    };
    let files = operands.split_off(leading.min(operands.len()));
    options.extend(operands.iter().map(|operand| (*operand).to_owned()));
    let edits = call.program.ends_with("sed")
        && options.iter().any(|option| option == "-f" || option.starts_with("-i"));
    let stores = call.program == "sort" && options.iter().any(|option| option.starts_with("-o"));
    if edits || stores {
        return None;
    }
    let text = if files.is_empty() {
        match &call.input {
            Input::Text(value) => value.as_exact()?.to_owned(),
            Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                return None;
            }
        }
    } else {
        let mut all = String::new();
        for file in files {
            match machine.peek(&Value::exact(file)) {
                Output::Text(value) => all.push_str(value.as_exact()?),
                Output::Nothing
                | Output::Network(_)
                | Output::Secret(_)
                | Output::Local(_)
                | Output::Unknown => return None,
            }
        }
        all
    };
    Some(Known { options, text })
}

fn filtered(program: &str, options: &[String], text: &str) -> Option<String> {
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
        ("uniq", []) => {
            let mut all: Vec<String> = lines().map(str::to_owned).collect();
            all.dedup();
            Some(written(all))
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
        ("sed" | "gsed", options) => searching::edited(options, text),
        ("awk" | "gawk" | "mawk", options) => searching::fields(options, text),
        _ => None,
    }
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

pub(super) fn decoded_base64(text: &str) -> Option<String> {
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

pub(super) fn decoded_hexadecimal(text: &str) -> Option<String> {
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

/// `mktemp`: makes a file or directory and prints its name. The part that is made up stays as it is written in the
/// template, so that later words that use the name are seen to mean the same path.
pub(crate) fn mktemp(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut directory = false;
    let mut dry = false;
    let mut in_temporary = false;
    let mut parent: Option<Value> = None;
    let mut suffix = String::new();
    let mut template: Option<Value> = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some("--directory") => directory = true,
            Some("--dry-run") => dry = true,
            Some("--tmpdir") => in_temporary = true,
            Some(text) if text.starts_with("--tmpdir=") => parent = text.get(9..).map(Value::exact),
            Some(text) if text.starts_with("--suffix=") => {
                text.get(9..).unwrap_or_default().clone_into(&mut suffix);
            }
            Some("--suffix") => {
                rest.next().and_then(Value::as_exact).unwrap_or_default().clone_into(&mut suffix);
            }
            Some(text) if text.starts_with("--") => {}
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                for (place, flag) in text.char_indices().skip(1) {
                    match flag {
                        'd' => directory = true,
                        'u' => dry = true,
                        't' => in_temporary = true,
                        'p' => {
                            let attached =
                                text.get(place + 1..).filter(|rest| !rest.is_empty()).map(Value::exact);
                            parent = attached.or_else(|| rest.next().cloned());
                            break;
                        }
                        _ => {}
                    }
                }
            }
            Some(_) | None => template = Some(word.clone()),
        }
    }
    let temporary = machine
        .variable("TMPDIR")
        .filter(|value| value.as_exact() != Some(""))
        .unwrap_or_else(|| Value::exact("/tmp"));
    let in_temporary = in_temporary || template.is_none() || parent.is_some();
    let mut name = template.unwrap_or_else(|| Value::exact("tmp.XXXXXXXXXX"));
    if let Some(text) = name.as_exact()
        && in_temporary
        && !text.contains("XXX")
    {
        name = Value::Exact(format!("{text}.XXXXXXXX"));
    }
    name = name.followed_by(&Value::Exact(suffix));
    machine.names += 1;
    if machine.names > 1 {
        let number = machine.names.to_string();
        if let Some(text) = name.as_exact() {
            // Names that are made up differ from one another.
            let marks = "X".repeat(number.len());
            if let Some(place) = text.rfind(&marks) {
                let mut changed = text.to_owned();
                changed.replace_range(place..place + marks.len(), &number);
                name = Value::Exact(changed);
            }
        }
    }
    let path = if in_temporary && !name.known_start().starts_with('/') {
        parent.unwrap_or(temporary).followed_by(&Value::exact("/")).followed_by(&name)
    } else {
        name
    };
    if !dry {
        for aim in machine.paths(&path) {
            let target = aim.target.clone();
            machine.add(Draft::at(EffectKind::FileCreate, aim).note("a temporary name"));
            machine.remember_made(&target, directory);
        }
    }
    Done::next(Exit::printing(path.followed_by(&Value::exact("\n"))))
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
