//! Programs that list the names of what lies below a place: where that is in the workspace, so is all that they name, even where it is
//! not known which.

use crate::path::AbsolutePath;
use crate::world::{Entry, Matches, PathPattern};
use crate::{Call, Input, Letters, Machine, Output, Pattern, Value};

use super::finding;
use super::lines::{Lines, chosen};
use super::searching::Search;

/// The greatest number of entries among which links are looked for (ours).
const WALKED: usize = 1024;

/// How far a program that lists names looks.
#[derive(Debug, Default)]
struct Reach {
    hidden: bool,
    follows: bool,
    /// Whether hidden files, but no hidden directories, are listed as well.
    typed: bool,
}

/// The options of a program that lists names, as far as they are known here; with any other it is not known what it prints.
struct Lister {
    programs: &'static [&'static str],
    /// Letters without a value that change nothing about which names are printed, and how.
    plain: &'static str,
    valued: &'static str,
    hidden: &'static str,
    follows: &'static str,
    long: &'static [&'static str],
    long_valued: &'static [&'static str],
}

/// Sources: the manuals of ripgrep 14, fd 10, ag 2.2, ack 3, GNU du 9, tree 2.1, GNU ls 9.
const LISTERS: &[Lister] = &[
    Lister {
        programs: &["rg"],
        plain: "lincwFxSsoHU0PvaI",
        valued: "tTgemjMd",
        hidden: ".u",
        follows: "L",
        long: &[
            "files",
            "files-with-matches",
            "files-without-match",
            "ignore-case",
            "smart-case",
            "fixed-strings",
            "word-regexp",
            "line-regexp",
            "count",
            "count-matches",
            "line-number",
            "only-matching",
            "null",
            "no-ignore",
            "no-ignore-vcs",
            "no-messages",
            "with-filename",
            "no-heading",
            "multiline",
            "pcre2",
            "no-filename",
        ],
        long_valued: &[
            "glob",
            "iglob",
            "type",
            "type-not",
            "regexp",
            "max-count",
            "max-depth",
            "threads",
            "sort",
            "sortr",
            "color",
        ],
    },
    Lister {
        programs: &["fd", "fdfind"],
        plain: "0pigsFaI1",
        valued: "teEdSjco",
        hidden: "Hu",
        follows: "L",
        long: &[
            "no-ignore",
            "no-ignore-vcs",
            "glob",
            "print0",
            "full-path",
            "absolute-path",
            "ignore-case",
            "case-sensitive",
            "fixed-strings",
            "regex",
        ],
        long_valued: &[
            "type",
            "extension",
            "exclude",
            "max-depth",
            "min-depth",
            "exact-depth",
            "size",
            "threads",
            "color",
            "owner",
            "changed-within",
            "changed-before",
        ],
    },
    Lister {
        programs: &["ag"],
        plain: "liwQsSgL0",
        valued: "Gm",
        hidden: "uUat",
        follows: "f",
        long: &["files-with-matches", "ignore-case", "literal", "nocolor", "null"],
        long_valued: &["ignore", "depth"],
    },
    Lister {
        programs: &["ack"],
        plain: "liwQfgL",
        valued: "m",
        hidden: "",
        follows: "",
        long: &["files-with-matches", "ignore-case", "literal", "nocolor", "python", "js", "rust"],
        long_valued: &["type"],
    },
    Lister {
        programs: &["du"],
        plain: "ahkmscbxS0",
        valued: "dtBX",
        hidden: "",
        follows: "LD",
        long: &["all", "apparent-size", "human-readable", "bytes", "summarize", "null"],
        long_valued: &["max-depth", "threshold", "exclude", "block-size"],
    },
    Lister {
        programs: &["tree"],
        plain: "fidn",
        valued: "LPI",
        hidden: "a",
        follows: "l",
        long: &["noreport", "gitignore", "dirsfirst", "prune"],
        long_valued: &[],
    },
    Lister {
        programs: &["ls"],
        plain: "1ltrSshcuXUdR",
        valued: "I",
        hidden: "aA",
        follows: "LH",
        long: &["reverse", "recursive"],
        long_valued: &["sort", "ignore", "time"],
    },
];
/// Programs that list hidden names too without being told.
const SHOW_HIDDEN: &[&str] = &["du", "ack"];
/// Programs whose first operand is what they search for.
const SEARCHERS: &[&str] = &["fd", "fdfind", "rg", "ag", "ack"];
/// Subcommands of git that list names of files of the work tree with these options; none for those that always do.
const OF_GIT: &[(&str, &[&str])] = &[
    ("ls-files", &[]),
    ("ls-tree", &["--name-only"]),
    ("diff", &["--name-only", "--name-status"]),
    ("diff-tree", &["--name-only", "--name-status"]),
    ("diff-index", &["--name-only", "--name-status"]),
    ("show", &["--name-only", "--name-status"]),
    ("log", &["--name-only", "--name-status"]),
    ("status", &["-s", "--short", "--porcelain"]),
    ("grep", &[]),
];
/// Options with which git prints something else beside the names of files of the work tree that it keeps.
const OTHERWISE: &[&str] = &[
    "--no-index",
    "--others",
    "--ignored",
    "--untracked",
    "--no-exclude-standard",
    "-o",
    "-i",
    "-p",
    "-u",
    "--patch",
    "--stat",
    "--line-prefix",
    "--src-prefix",
    "--relative",
];
/// Programs that print a value of the moment, which is the name of no file that is there.
const VALUES: &[&str] = &["date", "gdate", "uuidgen"];

/// What a call prints, as far as that says which files are named by it: names of files of the workspace, or a value that names none. `None`
/// where they may lie anywhere.
pub(crate) fn named(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    if !machine.tells_names() {
        return None;
    }
    // What has blanks in it is a text, not a name.
    let is_one_word = |word: &Value| word.as_exact().is_some_and(|text| !text.contains(char::is_whitespace));
    if VALUES.contains(&call.program.as_str())
        && machine.is_listened_to()
        && call.words.iter().all(is_one_word)
    {
        return Some(Output::Text(Value::Unknown));
    }
    match call.program.as_str() {
        "git" => named_by_git(machine, call),
        "grep" | "egrep" | "fgrep" => {
            let search = Search::new(call);
            let lines = lines_of_search(&search)?;
            if search.files().iter().any(|file| matches!(file, Value::Glob(_))) && !search.is_recursive() {
                let reach = Reach::default();
                let all: Option<Vec<Output>> =
                    search.files().iter().map(|file| inside(machine, file, &reach, lines)).collect();
                return all?.into_iter().next();
            }
            let Some(Output::Local(place)) = finding::names_in_workspace(machine, &search) else {
                return None;
            };
            if search.follows() {
                let reach = Reach { follows: true, ..Reach::default() };
                inside(machine, &Value::exact(&place), &reach, lines)?;
            }
            Some(lines.of_place(&place))
        }
        _ => listed(machine, call).or_else(|| beside_names(machine, call)),
    }
}

impl Machine<'_> {
    /// The pattern of all names that may stand in the lines of an output which is a list of names of the workspace, hidden ones too.
    pub fn names_listed(&self, output: &Output) -> Option<Value> {
        let Output::Local(place) = output else { return None };
        (Lines::of(output) == Some(Lines::Names)).then_some(())?;
        Some(Value::Glob(format!("{}/**", place.trim_end_matches('/'))))
    }
}

/// The list of who prints the names that it is given, each with something about the file.
fn beside_names(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    let mut words = call.words.iter();
    let mut format = None;
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word.as_exact().filter(|text| text.starts_with('-') && text.len() > 1) {
            Some("-c" | "--printf") if call.program == "stat" => format = words.next()?.as_exact(),
            Some(text) if call.program == "stat" => format = Some(text.strip_prefix("--format=")?),
            // A list of names is a file of its own.
            Some(text) if text.starts_with("--files") || text == "-f" => return None,
            Some(_) => {}
            None => operands.push(word),
        }
    }
    let lines = match call.program.as_str() {
        "wc" | "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum" | "b2sum"
        | "cksum" => Lines::Fields,
        "file" => Lines::Prefixed,
        "stat" => match format? {
            "%n" | "%n\\n" => Lines::Names,
            format => {
                let before = format.trim_end_matches("\\n").strip_suffix("%n")?;
                // Numbers and rights in front of the name.
                let is_plain = |c: char| " %:,-".contains(c) || "aAbBdDfFghiosStTuUwWxXyYzZ".contains(c);
                (before.ends_with(' ') && before.chars().all(is_plain)).then_some(Lines::Fields)?
            }
        },
        _ => return None,
    };
    let reach = Reach::default();
    let all: Option<Vec<Output>> =
        operands.into_iter().map(|operand| inside(machine, operand, &reach, lines)).collect();
    all?.into_iter().next()
}

/// What the lines hold that `grep` prints.
fn lines_of_search(search: &Search) -> Option<Lines> {
    if search.names {
        return Some(Lines::Names);
    }
    let several =
        search.files().len() > 1 || search.files().iter().any(|file| matches!(file, Value::Glob(_)));
    // Where one file is searched, no name is printed; what a context prints is no name with a colon.
    (!search.is_strange() && !search.is_bare() && (search.is_recursive() || several))
        .then_some(Lines::Prefixed)
}

fn named_by_git(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    let words: Vec<&str> = call.words.iter().map(|word| word.as_exact().unwrap_or("?")).collect();
    let words = words.strip_prefix(&["--no-pager"]).unwrap_or(&words);
    let (subcommand, rest) = words.split_first()?;
    let (_, options) = OF_GIT.iter().find(|(name, _)| name == subcommand)?;
    if !options.is_empty() && !rest.iter().any(|word| options.contains(word)) {
        return None;
    }
    let written = |names: &[&str]| rest.iter().any(|word| names.contains(word));
    let is_other = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        OTHERWISE.contains(&name)
            && !(*subcommand == "grep" && matches!(*word, "-i" | "-p" | "-o"))
            && !(*subcommand == "status" && matches!(name, "-u" | "--ignored"))
    };
    let leads_out = |word: &&str| word.starts_with('/') || word.split('/').any(|part| part == "..");
    // Two dots between revisions are no part of a path.
    let pattern_words = usize::from(*subcommand == "grep");
    let operands = rest.iter().filter(|word| !word.starts_with('-')).skip(pattern_words);
    if rest.iter().any(is_other) || operands.into_iter().any(leads_out) {
        return None;
    }
    let is_format = |word: &&&str| word.starts_with("--format") || word.starts_with("--pretty");
    let is_empty =
        |word: &&str| matches!(*word, "--format=" | "--pretty=" | "--pretty=format:" | "--pretty=tformat:");
    let mut formats = rest.iter().filter(is_format).peekable();
    let lines = match *subcommand {
        "log" | "show" => {
            formats.peek()?;
            if !formats.all(is_empty) {
                return None;
            }
            if written(&["--name-status"]) { Lines::Fields } else { Lines::Names }
        }
        "grep" => {
            let of_grep = Call {
                words: call
                    .words
                    .iter()
                    .skip_while(|word| word.as_exact() != Some("grep"))
                    .skip(1)
                    .cloned()
                    .collect(),
                ..call.clone()
            };
            let search = Search::new(&of_grep);
            if finding::finds_control_file(machine, &search) {
                return None;
            }
            if search.names || written(&["--name-only"]) {
                Lines::Names
            } else if search.is_bare() || search.is_strange() {
                return None;
            } else {
                Lines::Prefixed
            }
        }
        _ if formats.peek().is_some() => return None,
        "status" => Lines::Fields,
        "ls-files" if written(&["-s", "--stage", "-t", "-v", "-u", "--unmerged"]) => Lines::Fields,
        _ if written(&["--name-status"]) => Lines::Fields,
        _ => Lines::Names,
    };
    let aims = machine.paths_through(&Value::exact("."));
    let [aim] = aims.as_slice() else { return None };
    let here = aim.target.path()?;
    let world = machine.world().place();
    (here.is_within(&world.workspace) || world.is_temporary(here)).then(|| lines.of_place(here.as_str()))
}

/// Whether a call lists what lies below the directories that it is given, with their names in front.
pub(super) fn looks_below(call: &Call) -> bool {
    LISTERS.iter().any(|lister| lister.programs.contains(&call.program.as_str())) && call.program != "ls"
}

fn listed(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    let program = call.program.as_str();
    let lister = LISTERS.iter().find(|lister| lister.programs.contains(&program))?;
    let mut reach = Reach { hidden: SHOW_HIDDEN.contains(&program), ..Reach::default() };
    let mut operands = Vec::new();
    let mut letters = String::new();
    let mut longs: Vec<&str> = Vec::new();
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact().filter(|text| text.starts_with('-') && text.len() > 1) else {
            operands.push(word.clone());
            continue;
        };
        if text == "--" {
            operands.extend(words.by_ref().cloned());
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            longs.push(name);
            match name {
                "hidden" | "unrestricted" => reach.hidden = true,
                "follow" | "dereference" => reach.follows = true,
                _ if lister.long.contains(&name) => {}
                _ if lister.long_valued.contains(&name) => {
                    let value = match value {
                        Some(value) => value,
                        None => words.next()?.as_exact()?,
                    };
                    reach.note_choice(machine, name, value);
                }
                _ => return None,
            }
        } else {
            for (at, letter) in text.char_indices().skip(1) {
                letters.push(letter);
                if lister.valued.contains(letter) {
                    let attached = text.get(at + 1..).filter(|rest| !rest.is_empty());
                    let value = match attached {
                        Some(value) => value,
                        None if letter == 'e' && program == "rg" => {
                            words.next()?;
                            ""
                        }
                        None => words.next()?.as_exact()?,
                    };
                    if program == "rg" {
                        match letter {
                            'g' => reach.note_choice(machine, "glob", value),
                            't' => reach.note_choice(machine, "type", value),
                            _ => {}
                        }
                    }
                    break;
                }
                reach.hidden |= lister.hidden.contains(letter);
                reach.follows |= lister.follows.contains(letter);
                if !format!("{}{}{}", lister.plain, lister.hidden, lister.follows).contains(letter) {
                    return None;
                }
            }
        }
    }
    let long = |names: &[&str]| longs.iter().any(|name| names.contains(name));
    let lines = match program {
        "rg" | "ag" | "ack" => {
            let names = letters.contains('l')
                || long(&["files", "files-with-matches", "files-without-match"])
                || program != "rg" && letters.contains(['f', 'g', 'L']);
            if names {
                Lines::Names
            } else if program == "rg" && !letters.contains('I') && !long(&["no-filename"]) {
                Lines::Prefixed
            } else {
                return None;
            }
        }
        "du" => Lines::Fields,
        "tree" if !(letters.contains('f') && letters.contains('i')) => return None,
        "ls" if letters.contains(['l', 's']) => Lines::Fields,
        _ => Lines::Names,
    };
    let has_pattern = long(&["files", "regexp"])
        || program == "rg" && letters.contains('e')
        || program == "ack" && letters.contains('f');
    let places =
        operands.get(usize::from(SEARCHERS.contains(&program) && !has_pattern)..).unwrap_or_default();
    let here = [Value::exact(".")];
    let places = if places.is_empty() { &here[..] } else { places };
    // Of one file that is named the lines are printed without its name.
    if lines == Lines::Prefixed && places.len() == 1 && machine.is_directory(places.first()?) != Some(true) {
        return None;
    }
    let all: Option<Vec<Output>> = places.iter().map(|place| inside(machine, place, &reach, lines)).collect();
    let first = all?.into_iter().next();
    match places {
        // What `ls` prints of a directory are names in it.
        [Value::Glob(pattern)]
            if lines == Lines::Names
                && (program != "ls" || letters.contains('d') || !has_directory(machine, pattern)) =>
        {
            Some(Output::Text(Value::Glob(pattern.clone())))
        }
        _ => first,
    }
}

/// Whether a pattern fits a directory, or it is not known that it does not.
fn has_directory(machine: &Machine<'_>, pattern: &str) -> bool {
    let Some(cwd) = machine.cwd().filter(|_| machine.is_settled()) else { return true };
    let whole = cwd.join(pattern);
    let found = PathPattern::new(whole.as_str()).map(|pattern| pattern.expand(machine.world()));
    let is_file = |path: &AbsolutePath| matches!(machine.entry(path), Entry::File(_));
    !matches!(found, Some(Matches::Paths(paths)) if paths.iter().all(is_file))
}

impl Reach {
    /// Notes what `rg` is told to choose: what its patterns and types fit is searched even where it is hidden.
    fn note_choice(&mut self, machine: &Machine<'_>, option: &str, value: &str) {
        match option {
            "glob" | "iglob" if !value.starts_with('!') => {
                let (first, last) = (value.split('/').next().unwrap_or_default(), value.rsplit('/').next());
                let is_anchored = value.contains('/')
                    && !first.is_empty()
                    && !first.starts_with('.')
                    && !first.contains(['*', '?', '[', '{']);
                let pattern = Pattern::new(last.unwrap_or_default());
                let fits = |part: &str| pattern.matches(part, Letters::Exact) != Some(false);
                let controls = finding::control_files(machine).unwrap_or_default();
                let is_named = hides(value)
                    || last.is_some_and(|last| {
                        last.contains('{') && last.contains(['.', '*']) && last.contains("{.")
                    })
                    || controls
                        .iter()
                        .any(|control| control.parts().any(|part| part.starts_with('.') && fits(part)));
                self.hidden |= !is_anchored && is_named || hides(value);
            }
            "type" => self.typed = true,
            _ => {}
        }
    }
}

/// The list of who lists a place inside the workspace or among temporary files; `None` where what watches over the work, or makes git run
/// something, may be on it.
fn inside(machine: &Machine<'_>, place: &Value, reach: &Reach, lines: Lines) -> Option<Output> {
    let world = machine.world().place();
    let (path, is_pattern) = match place {
        // A pattern passes over hidden names.
        Value::Glob(pattern) if below(pattern) && !hides(pattern) => (machine.cwd()?.clone(), true),
        Value::Glob(_) => return None,
        place => {
            let aims = machine.paths_through(place);
            let [aim] = aims.as_slice() else { return None };
            (aim.target.path()?.clone(), false)
        }
    };
    if !path.is_within(&world.workspace) && !world.is_temporary(&path) {
        return None;
    }
    let is_listed = |control: &AbsolutePath| {
        let seen = match control.relative_to(&path) {
            None => false,
            Some(rest) => {
                let is_shown = (reach.hidden && !is_pattern) || !hides(rest);
                is_shown || reach.typed && !rest.contains('/')
            }
        };
        (seen || *control == path) && machine.entry(control) != Entry::Missing
    };
    if finding::control_files(machine)?.iter().any(is_listed) {
        return None;
    }
    let has_link = || {
        machine
            .walk(&path, WALKED)
            .is_none_or(|found| found.iter().any(|(_, entry)| matches!(entry, Entry::Symlink(_))))
    };
    if reach.follows && has_link() {
        return None;
    }
    Some(lines.of_place(path.as_str()))
}

/// Whether a part of a relative path is a hidden name.
fn hides(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != ".")
}

/// Whether a text names something below the working directory.
fn below(text: &str) -> bool {
    !text.starts_with(['/', '~', '-']) && !text.split('/').any(|part| part == "..") && !text.is_empty()
}

/// Returns what a filter of text makes of a list of names below the working directory, of which a pattern or the text is known. The result
/// holds names of the list, in an order and number that are not known.
pub(super) fn passed(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    let Input::Text(value) = &call.input else { return None };
    let texts: Vec<&str> = match value {
        Value::Exact(text) => text.lines().collect(),
        Value::AnyOf(texts) => texts.iter().flat_map(|text| text.lines()).collect(),
        Value::Glob(pattern) => vec![pattern],
        Value::Between { .. } | Value::Unknown => return None,
    };
    // Of these it is seen whom they reach as long as they are known.
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    let is_control = |text: &&str| {
        let pattern = Pattern::new(&last(text));
        let fits = |control: &AbsolutePath| {
            pattern.matches(control.name().unwrap_or_default(), Letters::Exact) != Some(false)
                && machine.entry(control) != Entry::Missing
        };
        finding::control_files(machine).is_none_or(|controls| controls.iter().any(fits))
    };
    if texts.iter().all(|text| text.is_empty()) {
        chosen(Lines::Names, call)?;
        return Some(Output::Text(Value::exact("")));
    }
    let holds = texts.iter().all(|text| below(text)) && !texts.iter().any(is_control);
    if !holds {
        return None;
    }
    Some(chosen(Lines::Names, call)?.of_place("."))
}

/// Whether `find` is told to follow links, and it is not known that there are none, so that what it prints may lie anywhere.
pub(super) fn follows_links(machine: &Machine<'_>, call: &Call) -> bool {
    let follows = |word: &Value| matches!(word.as_exact(), Some("-L" | "-follow"));
    if !matches!(call.program.as_str(), "find" | "gfind") || !call.words.iter().any(follows) {
        return false;
    }
    let is_option = |word: &&Value| matches!(word.as_exact(), Some("-H" | "-L" | "-P"));
    let is_start = |word: &&Value| word.as_exact().is_none_or(|text| !text.starts_with(['-', '(', '!']));
    let starts: Vec<&Value> = call.words.iter().skip_while(is_option).take_while(is_start).collect();
    let here = Value::exact(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    let reach = Reach { follows: true, ..Reach::default() };
    starts.iter().any(|start| inside(machine, start, &reach, Lines::Names).is_none())
}
