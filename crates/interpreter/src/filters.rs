//! Programs that only turn text into text: what they print is worked out where their input is known and their output is
//! listened to.
//!
//! | module | holds |
//! |---|---|
//! | `choosing` | filters that choose lines of a list whose order is not known |
//! | `elsewhere` | what is printed out of names of files outside the workspace |
//! | `finding` | secrets that a search through a tree prints |
//! | `json` | what `jq` makes of a text by assignments |
//! | `lines` | what filters leave of a list of names |
//! | `lists` | programs that list names below a place |
//! | `columns` | what `awk` prints |
//! | `editing` | what `sed` prints |
//! | `encodings` | texts in another form, and packed |
//! | `layouts` | texts laid out anew, or left as they are |
//! | `letters` | `tr` |
//! | `searching` | `grep` |
//! | `settings` | filters that leave the names of a list of settings, and nothing of the values |
//! | `shapes` | filters of `jq` and `yq` that tell what a file is made of |
//! | `showing` | what programs show of the files that they read |
//! | `sight` | which files below a directory a search looks into |
//! | `texts` | what a known text becomes |

mod choosing;
mod columns;
mod editing;
mod elsewhere;
mod encodings;
mod finding;
mod json;
mod layouts;
mod letters;
mod lines;
mod lists;
mod searching;
mod settings;
mod shapes;
mod showing;
mod sight;
mod texts;

use crate::builtins;
use crate::guarded::stands_for_process;
use crate::machine::Absence;
use crate::path::AbsolutePath;
use crate::printed::ALL_VARIABLES;
use crate::process_lists::{self, ListedProcesses};
use crate::world::{Entry, Listing};
use crate::{Call, Exit, Input, Machine, Output, Status, Value, secrets};

pub use editing::{Editor, edited_in_place};
pub(crate) use elsewhere::{made_of as made_of_names_elsewhere, named as named_elsewhere};
pub use encodings::{decoded_base64, decoded_hexadecimal};
pub use finding::found_secret;
pub(crate) use lines::Lines;
pub(crate) use lists::named;
pub use settings::edit_takes_values_away;
pub(crate) use settings::{hides_values, keeps_lines};
pub(crate) use showing::{Showing, may_show, showing, shows_lines};
use texts::filtered;

/// The kernels on which a shell of these kinds runs, as `uname -s` prints them (config.guess of GNU).
const KERNELS: &[&str] =
    &["Linux", "Darwin", "FreeBSD", "OpenBSD", "NetBSD", "SunOS", "MINGW64_NT-10.0", "CYGWIN_NT-10.0"];

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
    "shuf",
    "fzf",
    "sk",
];

/// The class of what a program printed, from what its handler says, what it read from files, and its input.
pub(crate) fn class(machine: &Machine<'_>, call: &Call, output: Output, read: Output) -> Output {
    let passing = PASSING.contains(&call.program.as_str());
    let coarse = |output: Output| match output {
        Output::Text(_) => Output::Unknown,
        other => other,
    };
    let input = Output::from_input(&call.input);
    let is_search = matches!(call.program.as_str(), "grep" | "egrep" | "fgrep" | "rg");
    // A list of what is looked for is read, and not printed.
    let reads_input = read == Output::Nothing || is_search && searching::Search::new(call).files().is_empty();
    if Lines::of(&input).is_some() && reads_input && (passing || output == input) {
        return lines::kept(&input, call).unwrap_or(Output::Unknown);
    }
    if is_search
        && reads_input
        && read != Output::Nothing
        && let Some(list) = lists::passed(machine, call)
    {
        return list;
    }
    if lists::follows_links(machine, call) && matches!(output, Output::Text(_)) {
        return Output::Unknown;
    }
    // Which files there are, or which of them fit, is said, not what stands in them.
    let names = |output: &Output| matches!(output, Output::Local(place) if !place.starts_with("/proc/"));
    if (names(&output) || output == Output::Unknown && names(&read)) && showing::names_files(call) {
        return Output::Unknown;
    }
    // Names with a text in front of each line, and no others, are a list still.
    if is_search
        && (names(&output) || output == Output::Unknown && names(&read))
        && let Some(list) = lists::named(machine, call)
    {
        return list;
    }
    match output {
        Output::Setup(_) | Output::Unknown => match read {
            Output::Nothing if passing => {
                lists::passed(machine, call).unwrap_or_else(|| coarse(Output::from_input(&call.input)))
            }
            Output::Nothing => Output::Unknown,
            read => coarse(read),
        },
        // What a program read is not what it prints, but for `tee`, and for `cat`, which is worked out before.
        Output::Text(text)
            if passing
                && call.program != "tee"
                && (read == Output::Text(text.clone()) || call.input == Input::Text(text.clone())) =>
        {
            Output::Unknown
        }
        Output::Nothing | Output::Text(_) | Output::Network(_) | Output::Secret(_) | Output::Local(_) => {
            output
        }
    }
}

/// Whether a call only passes on what it reads, in one form or another, and only to its output.
pub(crate) fn only_passes(call: &Call) -> bool {
    let writes =
        matches!(call.program.as_str(), "tee" | "sponge" | "dd" | "openssl" | "gpg" | "age" | "tar" | "perl");
    PASSING.contains(&call.program.as_str()) && !writes
}

/// Whether a call turns all of what it reads into another form, out of which it can be had again.
pub(crate) fn reshapes(call: &Call) -> bool {
    matches!(
        call.program.as_str(),
        "base64"
            | "base32"
            | "rev"
            | "tr"
            | "xxd"
            | "od"
            | "hexdump"
            | "gzip"
            | "bzip2"
            | "xz"
            | "zstd"
            | "fold"
            | "nl"
    )
}

/// Whether a call prints words that it is given, or what it makes of them.
pub(crate) fn shows_words(call: &Call) -> bool {
    let in_place = || {
        call.words
            .iter()
            .any(|word| word.known_start().starts_with("-i") || word.known_start().starts_with("--in-place"))
    };
    match call.program.as_str() {
        "expr" | "date" | "seq" | "basename" | "dirname" | "yes" | "figlet" | "banner" | "toilet"
        | "cowsay" | "jq" | "yq" => true,
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => !in_place(),
        _ => false,
    }
}

/// Whether a call says of what it reads only how much it is, or whether there is any.
pub(crate) fn hides_all(call: &Call) -> bool {
    match showing(call) {
        Showing::Nothing => true,
        Showing::Everything | Showing::ChosenLines | Showing::Names | Showing::Kept | Showing::KeptByName => {
            false
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

/// Whether a call takes what it reads out of another form: decoded, or unpacked.
pub(crate) fn undoes(call: &Call) -> bool {
    decodes(call) || encodings::unpacks(call)
}

/// What a program prints and whether it succeeds, when that can be worked out.
pub(crate) fn fold(machine: &mut Machine<'_>, call: &Call) -> Option<Exit> {
    if let Some(output) = process_lists::filtered(call).filter(|_| PASSING.contains(&call.program.as_str())) {
        let status = if call.program.ends_with("grep") { Status::Open } else { Status::Unknown };
        return Some(Exit { status, output });
    }
    let Some(list) = choosing::list(machine, call) else { return folded(machine, call) };
    if let Some(chosen) = list.chosen(machine, call) {
        return Some(Exit::printing(chosen));
    }
    let exit = folded(machine, call)?;
    list.passed_on(machine, call, &exit.output);
    Some(exit)
}

fn folded(machine: &mut Machine<'_>, call: &Call) -> Option<Exit> {
    // What becomes of bytes that are no text, and of numbers that are not known, is not worked out; only `cat` hands them on as they are.
    let is_unclear = |text: &str| text.contains(char::REPLACEMENT_CHARACTER) || stands_for_process(text);
    if matches!(&call.input, Input::Text(text) if text.as_exact().is_some_and(is_unclear))
        && call.program != "cat"
        && !encodings::packs(&call.program)
    {
        return None;
    }
    let words = &call.words;
    match call.program.as_str() {
        "ps" | "pgrep" | "pidof" | "lsof" | "fuser" | "pstree" | "top" | "ss" | "netstat" => {
            let output = process_lists::listed(machine, call)?;
            let status = if call.program == "ps" { Status::Unknown } else { Status::Open };
            Some(Exit { status, output })
        }
        "cat" if machine.is_listened_to() || machine.is_kept() => {
            let output = concatenated(machine, call)?;
            Some(Exit::with(output))
        }
        "basename" | "dirname" if !words.is_empty() => {
            let exit = if call.program == "basename" { basename(words) } else { dirname(words) }?;
            let is_option = |word: &Value| word.known_start().starts_with('-');
            // Which options there are is not looked at.
            let status = if words.iter().any(is_option) { Status::Unknown } else { exit.status };
            Some(Exit { status, ..exit })
        }
        "seq" => seq(words),
        "date" | "gdate" => {
            let format = words.iter().rev().find_map(|word| word.as_exact()?.strip_prefix('+'))?;
            let text = super::formats::time_text(format);
            // A part of a time is a name or a number: what matters is a command that stands in front of it.
            let start = text.known_start();
            let begins_command = start.split_whitespace().any(|word| machine.knows(word));
            (text.as_exact().is_some() || begins_command)
                .then(|| Exit::printing(text.followed_by(&Value::exact("\n"))))
        }
        "whoami" | "logname" if words.is_empty() => Some(line(machine.world().place().user.clone()?)),
        "id" if exact_words(words)?.as_slice() == ["-un"] => {
            Some(line(machine.world().place().user.clone()?))
        }
        "uname" if matches!(exact_words(words)?.as_slice(), [] | ["-s" | "--kernel-name"]) => {
            let kernels = KERNELS.iter().map(|name| format!("{name}\n"));
            Some(Exit::printing(Value::one_of(kernels.collect())))
        }
        "realpath" | "readlink" => real_path(machine, call),
        "which" | "gwhich" => Some(builtins::whereabouts(machine, words)),
        // `whereis name` prints the name, and behind it each place; of the guard there is the program alone.
        "whereis" => {
            let name = words.last()?.as_exact()?.to_owned();
            let found = machine.guard_at(&name)?;
            Some(Exit::printing(
                Value::exact(format!("{name}: ")).followed_by(&found).followed_by(&Value::exact("\n")),
            ))
        }
        "env" | "printenv"
            if words.iter().all(|word| matches!(word.as_exact(), Some("-0" | "--null" | "-"))) =>
        {
            Some(Exit::with(Output::Secret(ALL_VARIABLES.to_owned())))
        }
        "printenv" => {
            let names = exact_words(words)?;
            if let Some(name) = names.iter().find(|name| secrets::is_secret_name(name)) {
                return Some(Exit::with(Output::Secret(format!("${name}"))));
            }
            let [name] = names.as_slice() else { return None };
            let value = machine.variable(name).filter(|_| machine.is_seen_by_programs(name))?;
            Some(Exit::printing(value.followed_by(&Value::exact("\n"))))
        }
        "git" => repository_root(machine, words),
        "npm" | "pnpm" => package_place(machine, words),
        "ls" => listed(machine, words),
        "shuf" if words.first().and_then(Value::as_exact) == Some("-e") => {
            match exact_words(words)?.as_slice() {
                ["-e", only] => Some(line(*only)),
                _ => None,
            }
        }
        "envsubst" if words.is_empty() => with_variables(machine, call.input.as_exact()?),
        "awk" | "gawk" | "mawk" | "nawk" if columns::needs_no_input(&exact_words(words)?) => {
            Some(Exit::printing(Value::Exact(columns::printed(&exact_words(words)?, "")?)))
        }
        "jq" if words.iter().any(|word| json::takes_no_input(word.known_start().as_str())) => {
            Some(Exit::printing(Value::Exact(json::filtered(&exact_words(words)?, "null")?)))
        }
        program
            if (FILTERS.contains(&program) || encodings::packs(program))
                && (machine.is_listened_to()
                    || machine.is_kept()
                    || matches!(call.input, Input::Text(_))) =>
        {
            let known = input_text(machine, call)?;
            let text = if encodings::packs(program) {
                let options: Vec<&str> = known.options.iter().map(String::as_str).collect();
                encodings::packed_or_unpacked(program, &options, known.source, &known.text)?
            } else {
                filtered(program, &known.options, &known.text)?
            };
            // What may write a file besides is left to its handler.
            Some(Exit::printing(Value::Exact(text)))
        }
        "grep" | "egrep" | "fgrep" => searching::grep(machine, call),
        _ => None,
    }
}

/// Filters that are worked out where their text is known.
const FILTERS: &[&str] = &[
    "tr", "cut", "sort", "uniq", "head", "tail", "rev", "tac", "paste", "jq", "sed", "gsed", "awk", "gawk",
    "mawk", "nawk", "base64", "base32", "openssl", "wc", "xxd", "fold", "nl", "dd", "expand", "unexpand",
    "iconv", "pv", "column", "strings", "shuf", "m4", "dos2unix",
];

/// What `envsubst` prints: the text with the variables put in that programs see (gettext 0.21, "envsubst Invocation").
fn with_variables(machine: &Machine<'_>, text: &str) -> Option<Exit> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, left) = match behind.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => behind.split_at(behind.find(|c| !is_part(c)).unwrap_or(behind.len())),
        };
        if name.is_empty() || !name.chars().all(is_part) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if secrets::is_secret_name(name) {
            return None;
        }
        let value = machine.variable(name).filter(|_| machine.is_seen_by_programs(name))?;
        out.push_str(value.as_exact()?);
        rest = left;
    }
    out.push_str(rest);
    Some(Exit::printing(Value::Exact(out)))
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
    if step == 0 {
        return None;
    }
    if values.len() > 4096 {
        // Which of them matters is not known; only where processes are meant it says something.
        return Some(Exit::with(ListedProcesses::Counted.output()));
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
        // What has to be there, and whether it is, depends on the options.
        [aim] => Some(Exit { status: Status::Unknown, ..line(aim.target.path()?.as_str()) }),
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

/// What `npm root` and `npm prefix` print: the nearest directory upward with a package in it, or the working directory.
/// Source: docs.npmjs.com, "npm-prefix", "folders".
fn package_place(machine: &mut Machine<'_>, words: &[Value]) -> Option<Exit> {
    let words = exact_words(words)?;
    let here = machine.cwd()?.clone();
    let holds_package = |directory: &AbsolutePath| {
        ["package.json", "node_modules"]
            .iter()
            .any(|name| machine.entry(&directory.join(name)) != Entry::Missing)
    };
    let upward = std::iter::successors(Some(here.clone()), AbsolutePath::parent);
    let directory = upward.take(DIRECTORIES_UPWARD).find(holds_package).unwrap_or(here);
    match words.as_slice() {
        ["root"] => Some(line(directory.join("node_modules").as_str())),
        ["prefix"] => Some(line(directory.as_str())),
        _ => None,
    }
}

/// How far upward a package is looked for (ours).
const DIRECTORIES_UPWARD: usize = 32;

/// The names that `ls` prints into a pipe, for calls that only name places.
fn listed(machine: &mut Machine<'_>, words: &[Value]) -> Option<Exit> {
    let mut hidden = false;
    let mut dots: &[&str] = &[];
    let mut itself = false;
    let mut by_other_facts = false;
    let mut operands = Vec::new();
    for text in exact_words(words)? {
        match text.strip_prefix('-') {
            Some(flags) if !flags.is_empty() && !flags.starts_with('-') => {
                if !flags.chars().all(|flag| "1aAdrtcuSUX".contains(flag)) {
                    return None;
                }
                by_other_facts |= flags.contains(['r', 't', 'c', 'u', 'S', 'U', 'X']);
                hidden |= flags.contains(['a', 'A']);
                // The later of the two counts.
                if let Some(last) = flags.rfind(['a', 'A']) {
                    dots = if flags.get(last..).is_some_and(|rest| rest.starts_with('a')) {
                        &[".", ".."]
                    } else {
                        &[]
                    };
                }
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
                    let shown = names.into_iter().filter(|name| hidden || !name.starts_with('.'));
                    Some(dots.iter().map(|name| (*name).to_owned()).chain(shown).collect())
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
    if operands.iter().any(|operand| machine.is_certainly_missing(&Value::exact(operand.as_str()))) {
        machine.absent = Some(Absence::Path);
        return Some(Exit { status: Status::Failure, output: Output::Text(Value::Exact(text)) });
    }
    if by_other_facts && names.len() > 1 {
        machine.unordered = Some(text.clone());
    }
    // Whether they may be listed is not asked.
    Some(Exit::with(Output::Text(Value::Exact(text))))
}

/// A known text with the options that say what is done with it.
struct Known {
    options: Vec<String>,
    source: encodings::Source,
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
        "paste" => &["-d", "-sd"],
        "sort" => &["-k", "-t", "-o"],
        "sed" | "gsed" => &["-e", "-f"],
        "awk" | "gawk" | "mawk" | "nawk" => &["-F", "-v", "-f"],
        "base64" | "base32" => &["-w"],
        "fold" => &["-w", "-bw"],
        "nl" => &["-b"],
        "column" => &["-s", "-ts"],
        "iconv" => &["-t", "-f", "--to-code", "--from-code"],
        "pv" => &["-L", "-s", "-i", "-N"],
        _ => &[],
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.starts_with('-') && word.len() > 1 {
            options.push((*word).to_owned());
            if valued.contains(word) || is_bytes_of(&call.program, word) {
                options.push((*rest.next()?).to_owned());
            }
        } else {
            operands.push(*word);
        }
    }
    // The first operands of these say what to do.
    let leading = match call.program.as_str() {
        // Their operands are no files, or say to read the input.
        "tr" | "dd" | "openssl" => operands.len(),
        "paste" if operands.iter().all(|operand| *operand == "-") => operands.len(),
        "sed" | "gsed" => usize::from(!options.iter().any(|option| option == "-e")),
        "awk" | "gawk" | "mawk" | "nawk" | "jq" => 1,
        _ => 0,
    };
    let files = operands.split_off(leading.min(operands.len()));
    options.extend(operands.iter().map(|operand| (*operand).to_owned()));
    let edits = call.program.ends_with("sed")
        && options.iter().any(|option| option == "-f" || option.starts_with("-i"));
    let stores = call.program == "sort" && options.iter().any(|option| option.starts_with("-o"));
    if edits || stores || files.len() > 1 && files.contains(&"-") {
        return None;
    }
    let source = if matches!(files.as_slice(), [] | ["-"]) {
        encodings::Source::Input
    } else {
        encodings::Source::Operand
    };
    let text = if source == encodings::Source::Input {
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
                | Output::Setup(_)
                | Output::Unknown => return None,
            }
        }
        all
    };
    Some(Known { options, source, text })
}

/// Whether an option of `head` and `tail` stands before a number of bytes or lines.
fn is_bytes_of(program: &str, option: &str) -> bool {
    matches!((program, option), ("head" | "tail", "--bytes" | "--lines"))
}
