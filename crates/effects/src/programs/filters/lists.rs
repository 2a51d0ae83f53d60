//! Programs that list the names of what lies below a place: where that is in the workspace, so is all that they name, even where it is
//! not known which.

use crate::interpreter::{Call, Input, Machine, Output, Value};

/// Programs that list what lies below the places that their words name, or below the working directory, with the options that take a
/// value of their own.
const LISTERS: &[(&str, &[&str])] = &[
    ("du", &["-d", "--max-depth", "-t", "--threshold", "-B", "--block-size", "--exclude", "-X"]),
    ("tree", &["-L", "-P", "-I", "-o", "--filelimit", "--charset"]),
    (
        "fd",
        &[
            "-t",
            "--type",
            "-e",
            "--extension",
            "-d",
            "--max-depth",
            "-E",
            "--exclude",
            "-S",
            "--size",
            "-j",
            "--threads",
            "-c",
            "--color",
            "-o",
            "--owner",
            "--changed-within",
            "--changed-before",
        ],
    ),
    ("fdfind", &["-t", "-e", "-d", "-E", "-S", "-j", "-c", "-o"]),
    ("rg", &["-g", "--glob", "--iglob", "-t", "--type", "-T", "-e", "-m", "-d", "--max-depth", "-j"]),
    ("ag", &["-G", "-m", "--ignore", "--depth"]),
    ("ack", &["-m"]),
];
/// Programs whose first operand is what they search for.
const SEARCHERS: &[&str] = &["fd", "fdfind", "rg", "ag", "ack"];
/// Subcommands of git that list names of files of the work tree with these options; none for those that always do.
const OF_GIT: &[(&str, &[&str])] = &[
    ("ls-files", &[]),
    ("ls-tree", &["--name-only"]),
    ("diff", &["--name-only", "--name-status"]),
    ("diff-tree", &["--name-only", "--name-status", "-r"]),
    ("diff-index", &["--name-only", "--name-status"]),
    ("show", &["--name-only", "--name-status"]),
    ("log", &["--name-only", "--name-status"]),
    ("status", &["-s", "--short", "--porcelain"]),
    ("grep", &["-l", "--files-with-matches", "-n", "--name-only"]),
];
/// Programs that print a value of the moment, which is the name of no file that is there.
const VALUES: &[&str] = &["date", "gdate", "uuidgen"];
/// Filters that leave the names in a list what they are, or take them out of its lines.
const TEXT_FILTERS: &[&str] = &[
    "cat", "tac", "grep", "egrep", "fgrep", "rg", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "tr", "cut",
    "sort", "uniq", "head", "tail", "tee", "nl", "column",
];

/// What a call prints, as far as that says which files are named by it: names of files of the workspace, or a value that names none. `None`
/// where they may lie anywhere.
pub(crate) fn named(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    if !machine.is_listened_to() {
        return None;
    }
    // What has blanks in it is a text, not a name.
    let is_one_word = |word: &Value| word.as_exact().is_some_and(|text| !text.contains(char::is_whitespace));
    if VALUES.contains(&call.program.as_str()) && call.words.iter().all(is_one_word) {
        return Some(Output::Text(Value::Unknown));
    }
    if call.program == "git" {
        let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
        let lists = OF_GIT.iter().any(|(subcommand, options)| {
            words.contains(subcommand)
                && (options.is_empty() || words.iter().any(|word| options.contains(word)))
        });
        let here = !words.iter().any(|word| matches!(*word, "-C" | "--git-dir" | "--work-tree"));
        return (lists && here).then(|| inside(machine, ".")).flatten();
    }
    let (_, valued) = LISTERS.iter().find(|(program, _)| *program == call.program)?;
    let mut operands = Vec::new();
    let mut named = false;
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some("--files" | "-e" | "--regexp") => {
                named = true;
                if call.program != "rg" || word.as_exact() != Some("--files") {
                    words.next();
                }
            }
            Some(option) if valued.contains(&option) => {
                words.next();
            }
            Some(option) if option.starts_with('-') && option.len() > 1 => {}
            _ => operands.push(word),
        }
    }
    let is_pattern_first =
        SEARCHERS.contains(&call.program.as_str()) && (!named || call.program.starts_with("fd"));
    let places = operands.get(usize::from(is_pattern_first)..).unwrap_or_default();
    if places.is_empty() {
        return inside(machine, ".");
    }
    let all_inside: Option<Vec<Output>> =
        places.iter().map(|place| inside(machine, place.as_exact()?)).collect();
    all_inside?.into_iter().next()
}

/// The output of who lists a place inside the workspace or among temporary files: names of files that lie there.
fn inside(machine: &Machine<'_>, place: &str) -> Option<Output> {
    let aims = machine.paths_through(&Value::exact(place));
    let [aim] = aims.as_slice() else { return None };
    let path = aim.target.path()?;
    let world = machine.world().place();
    (path.is_within(&world.workspace) || world.is_temporary(path))
        .then(|| Output::Local(path.as_str().to_owned()))
}

/// What a filter of text makes of a list of names that lie below the working directory: others of them, in an order and number that is
/// not known.
pub(super) fn passed(call: &Call) -> Option<Output> {
    if !TEXT_FILTERS.contains(&call.program.as_str()) {
        return None;
    }
    let below = |text: &str| {
        !text.starts_with(['/', '~', '-']) && !text.split('/').any(|part| part == "..") && !text.is_empty()
    };
    let Input::Text(value) = &call.input else { return None };
    let is_below = match value {
        Value::Exact(text) => text.lines().all(below) && !text.is_empty(),
        Value::AnyOf(texts) => texts.iter().flat_map(|text| text.lines()).all(below),
        Value::Glob(pattern) => below(pattern),
        Value::Between { .. } | Value::Unknown => false,
    };
    is_below.then(|| Output::Local(".".to_owned()))
}
