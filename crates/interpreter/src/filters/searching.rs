//! What `grep` prints, and what it searches.

use crate::expression::{Dialect, Expression, LetterCase};
use crate::path::AbsolutePath;
use crate::world::Entry;
use crate::{Call, Exit, Input, Machine, Output, Status, Value};

use super::lists;

/// The greatest number of files that are searched (ours).
const FILES: usize = 200;

/// A call of `grep`, taken apart.
#[derive(Default)]
pub(super) struct Search {
    pub(super) quiet: bool,
    pub(super) fixed: bool,
    pub(super) extended: bool,
    pub(super) perl: bool,
    any_case: bool,
    pub(super) inverted: bool,
    pub(super) names: bool,
    pub(super) other_names: bool,
    pub(super) count: bool,
    only: bool,
    recursive: bool,
    follows: bool,
    numbered: bool,
    bare: bool,
    whole_word: bool,
    whole_line: bool,
    zero: bool,
    /// Whether marks of colour stand in the lines.
    coloured: bool,
    /// Whether something stands before the lines that is no name and no number of a line.
    offsets: bool,
    most: Option<usize>,
    include: Vec<String>,
    exclude: Vec<String>,
    /// Whether it has options that are not known here.
    strange: bool,
    /// Whether what it looks for is not known for that.
    pub(super) obscure: bool,
    pub(super) patterns: Vec<Value>,
    files: Vec<Value>,
}

impl Search {
    pub(super) fn new(call: &Call) -> Self {
        let mut search =
            Self { fixed: call.program == "fgrep", extended: call.program == "egrep", ..Self::default() };
        let mut operands = Vec::new();
        let mut words = call.words.iter();
        while let Some(word) = words.next() {
            let Some(text) = word.as_exact().filter(|text| text.starts_with('-') && text.len() > 1) else {
                operands.push(word.clone());
                continue;
            };
            if text == "--" {
                operands.extend(words.by_ref().cloned());
            } else if takes_value(&call.program, text) {
                search.strange = true;
                words.next();
            } else if let Some(long) = text.strip_prefix("--") {
                search.long_option(long);
            } else {
                search.short_options(text, &mut words);
            }
        }
        if search.patterns.is_empty() && !operands.is_empty() {
            search.patterns.push(operands.remove(0));
        }
        search.files = operands;
        search
    }

    fn long_option(&mut self, long: &str) {
        match long.split_once('=') {
            Some(("include", pattern)) => self.include.push(pattern.to_owned()),
            Some(("exclude" | "exclude-dir", pattern)) => self.exclude.push(pattern.to_owned()),
            // Marks stand in the lines then, also where this is not a terminal.
            Some(("color" | "colour", when)) => self.coloured |= when != "auto" && when != "never",
            Some(("binary-files", _)) => {}
            Some((name, _)) => {
                self.strange = true;
                self.obscure |= !matches!(name, "context" | "after-context" | "before-context" | "max-count");
            }
            None => match long {
                "quiet" | "silent" => self.quiet = true,
                "files-with-matches" => self.names = true,
                "files-without-match" => self.other_names = true,
                "ignore-case" => self.any_case = true,
                "fixed-strings" => self.fixed = true,
                "extended-regexp" => self.extended = true,
                "recursive" => self.recursive = true,
                "invert-match" => self.inverted = true,
                "count" => self.count = true,
                "only-matching" => self.only = true,
                "line-number" => self.numbered = true,
                "no-filename" => self.bare = true,
                "color" | "no-messages" => {}
                "byte-offset" => {
                    self.strange = true;
                    self.offsets = true;
                }
                "with-filename" | "word-regexp" | "line-regexp" | "initial-tab" | "text" => {
                    self.strange = true;
                }
                _ => {
                    self.strange = true;
                    self.obscure = true;
                }
            },
        }
    }

    fn short_options<'w>(&mut self, text: &str, words: &mut impl Iterator<Item = &'w Value>) {
        for (place, flag) in text.char_indices().skip(1) {
            match flag {
                'q' => self.quiet = true,
                'F' => self.fixed = true,
                'E' => self.extended = true,
                'i' | 'y' => self.any_case = true,
                'v' => self.inverted = true,
                'l' => self.names = true,
                'L' => self.other_names = true,
                'c' => self.count = true,
                'o' => self.only = true,
                'r' => self.recursive = true,
                'R' => {
                    self.recursive = true;
                    self.follows = true;
                }
                'n' => self.numbered = true,
                'h' => self.bare = true,
                'w' => self.whole_word = true,
                'x' => self.whole_line = true,
                'Z' => self.zero = true,
                's' | 'a' | 'I' | 'G' => {}
                'e' => {
                    let attached = text.get(place + 1..).filter(|rest| !rest.is_empty()).map(Value::exact);
                    self.patterns.extend(attached.or_else(|| words.next().cloned()));
                    return;
                }
                'm' => {
                    let attached = text.get(place + 1..).filter(|rest| !rest.is_empty()).map(Value::exact);
                    let count = attached.or_else(|| words.next().cloned());
                    self.most = count.and_then(|value| value.as_exact().and_then(|text| text.parse().ok()));
                    self.strange |= self.most.is_none();
                    return;
                }
                'A' | 'B' | 'C' | 'f' => {
                    self.strange = true;
                    self.obscure |= flag == 'f';
                    if place + 1 == text.len() {
                        words.next();
                    }
                    return;
                }
                'P' => {
                    self.strange = true;
                    self.perl = true;
                }
                'b' => {
                    self.strange = true;
                    self.offsets = true;
                }
                'H' | 'T' | 'U' | '0'..='9' => self.strange = true,
                _ => {
                    self.strange = true;
                    self.obscure = true;
                }
            }
        }
    }

    /// Whether it has options that are not known here.
    pub(super) fn is_strange(&self) -> bool {
        self.strange
    }

    /// Whether it prints lines as they are, and nothing else.
    pub(super) fn prints_whole_lines(&self) -> bool {
        !(self.only
            || self.obscure
            || self.count
            || self.names
            || self.other_names
            || self.coloured
            || self.offsets)
    }

    /// Whether of a line only what fits is printed, each line for itself.
    pub(super) fn prints_only_what_fits(&self) -> bool {
        self.only && !(self.obscure || self.inverted || self.fixed || self.whole_word || self.whole_line)
    }

    /// Whether directories are searched.
    pub(super) fn is_recursive(&self) -> bool {
        self.recursive
    }

    /// Whether symbolic links are followed.
    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    /// Whether lines are printed without the name of their file.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// What is searched, as written.
    pub(super) fn files(&self) -> &[Value] {
        &self.files
    }

    /// Whether one of the patterns fits a line; `None` when that is not known.
    pub(super) fn fits(&self, line: &str) -> Option<bool> {
        let mut hit = false;
        for expression in self.expressions()? {
            hit |= expression.matches(line)?;
        }
        Some(hit)
    }

    fn expressions(&self) -> Option<Vec<Expression>> {
        let dialect = match (self.fixed, self.extended) {
            (true, _) => Dialect::Fixed,
            (false, true) => Dialect::Extended,
            (false, false) => Dialect::Basic,
        };
        let case = if self.any_case { LetterCase::Ignored } else { LetterCase::Kept };
        let mut all = Vec::new();
        for pattern in &self.patterns {
            let text = pattern.as_exact()?;
            // An empty pattern fits every line.
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                let line = match (self.whole_line, self.whole_word, dialect) {
                    (false, false, _) => line.to_owned(),
                    (_, _, Dialect::Fixed) | (true, true, _) => return None,
                    (true, false, Dialect::Basic | Dialect::Extended) => format!("^{line}$"),
                    (false, true, Dialect::Basic | Dialect::Extended) => format!("\\b{line}\\b"),
                };
                all.push(Expression::new(&line, dialect, case)?);
            }
        }
        Some(all)
    }
}

/// A text that is searched, with the name under which its lines are printed.
struct Source {
    name: String,
    text: String,
}

/// What `grep` finds and whether, where the texts are known and someone listens; a question otherwise.
pub(super) fn grep(machine: &mut Machine<'_>, call: &Call) -> Option<Exit> {
    let search = Search::new(call);
    let listened = machine.is_listened_to();
    let asked = machine.is_asked();
    let cheap = search.files.len() <= 1 && !search.recursive;
    if (listened || asked && (cheap || search.quiet))
        && let Some(exit) = known(machine, call, &search)
    {
        return Some(exit);
    }
    if search.quiet {
        return Some(Exit { status: Status::Open, output: Output::Nothing });
    }
    // What it calls its input is the name of no file.
    let reads_input = search.files.is_empty() && !search.recursive && !search.obscure;
    if listened && search.names && reads_input && call.input == Input::Inherited {
        return Some(Exit { status: Status::Open, output: Output::Text(Value::exact("(standard input)\n")) });
    }
    if listened && (search.names || search.other_names) && search.recursive {
        let output = match lists::named(machine, call) {
            Some(output) => output,
            None if search.follows => Output::Unknown,
            None => Output::Text(bound(&search)),
        };
        return Some(Exit { status: Status::Open, output });
    }
    None
}

/// The files among which those are that are named: a pattern for everything below the directories that are searched.
fn bound(search: &Search) -> Value {
    let root = match search.files.as_slice() {
        [] => "",
        [only] => match only.as_exact() {
            Some(text) => text.trim_end_matches('/'),
            None => return Value::Unknown,
        },
        _ => return Value::Unknown,
    };
    let name = match search.include.as_slice() {
        [only] if !only.contains('{') => only.as_str(),
        _ => "*",
    };
    let is_top = search.files.first().and_then(Value::as_exact).is_some_and(|text| text.starts_with('/'));
    Value::Glob(if root.is_empty() && !is_top { format!("**/{name}") } else { format!("{root}/**/{name}") })
}

fn known(machine: &mut Machine<'_>, call: &Call, search: &Search) -> Option<Exit> {
    if search.strange {
        return None;
    }
    let expressions = search.expressions()?;
    let sources = sources(machine, call, search)?;
    let prefixed = !search.bare && (search.recursive || search.files.len() > 1);
    let mut out = String::new();
    let mut any = false;
    for source in &sources {
        let mut hits = 0;
        for (index, line) in source.text.lines().enumerate() {
            let mut hit = false;
            for expression in &expressions {
                hit |= expression.matches(line)?;
            }
            if hit == search.inverted {
                continue;
            }
            if search.most.is_some_and(|most| hits >= most) {
                break;
            }
            hits += 1;
            if search.names || search.other_names || search.count || search.quiet {
                continue;
            }
            let mut prefix = if prefixed { format!("{}:", source.name) } else { String::new() };
            if search.numbered {
                prefix.push_str(&(index + 1).to_string());
                prefix.push(':');
            }
            if search.only {
                let [expression] = expressions.as_slice() else { return None };
                for part in all_matches(expression, line)? {
                    push_line(&mut out, &prefix, &part);
                }
            } else {
                push_line(&mut out, &prefix, line);
            }
        }
        any |= hits > 0;
        let end = if search.zero { '\0' } else { '\n' };
        if search.names && hits > 0 || search.other_names && hits == 0 {
            out.push_str(&source.name);
            out.push(end);
        } else if search.count {
            let prefix = if prefixed { format!("{}:", source.name) } else { String::new() };
            push_line(&mut out, &prefix, &hits.to_string());
        }
    }
    let output = if search.quiet { Output::Nothing } else { Output::Text(Value::Exact(out)) };
    Some(Exit { status: Status::of(Some(any)), output })
}

pub(super) fn push_line(out: &mut String, prefix: &str, line: &str) {
    out.push_str(prefix);
    out.push_str(line);
    out.push('\n');
}

fn all_matches(expression: &Expression, line: &str) -> Option<Vec<String>> {
    let chars: Vec<char> = line.chars().collect();
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(found) = expression.find(&chars, from).ok()? {
        let (start, end) = found.first().copied().flatten()?;
        if end == start {
            from = end + 1;
            if from > chars.len() {
                break;
            }
            continue;
        }
        parts.push(chars.get(start..end)?.iter().collect());
        from = end;
    }
    Some(parts)
}

fn sources(machine: &mut Machine<'_>, call: &Call, search: &Search) -> Option<Vec<Source>> {
    let text_of = |machine: &Machine<'_>, value: &Value| match machine.peek(value) {
        Output::Text(value) => value.as_exact().map(str::to_owned),
        Output::Nothing
        | Output::Network(_)
        | Output::Secret(_)
        | Output::Local(_)
        | Output::Setup(_)
        | Output::Unknown => None,
    };
    if search.files.is_empty() && !search.recursive {
        return match &call.input {
            Input::Text(value) => {
                Some(vec![Source { name: "(standard input)".to_owned(), text: value.as_exact()?.to_owned() }])
            }
            Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                None
            }
        };
    }
    let here = [Value::exact("")];
    let roots: &[Value] = if search.files.is_empty() { &here } else { &search.files };
    let mut all = Vec::new();
    for root in roots {
        let written = root.as_exact()?;
        let aims = machine.paths_through(&if written.is_empty() { Value::exact(".") } else { root.clone() });
        let [aim] = aims.as_slice() else { return None };
        let path = aim.target.path()?.clone();
        match machine.entry(&path) {
            Entry::Directory if search.recursive => {
                for (file, entry) in machine.walk(&path, FILES)? {
                    if !matches!(entry, Entry::File(_)) || !search.takes(&path, &file) {
                        continue;
                    }
                    let below = file.relative_to(&path)?;
                    let name = if written.is_empty() {
                        below.to_owned()
                    } else {
                        format!("{}/{below}", written.trim_end_matches('/'))
                    };
                    let text = text_of(machine, &Value::exact(file.as_str()))?;
                    all.push(Source { name, text });
                }
            }
            Entry::Missing | Entry::Directory => {}
            Entry::File(_) => all.push(Source { name: written.to_owned(), text: text_of(machine, root)? }),
            Entry::Symlink(_) | Entry::Special | Entry::Unknown => return None,
        }
        if all.len() > FILES {
            return None;
        }
    }
    all.sort_by(|left, right| left.name.cmp(&right.name));
    Some(all)
}

impl Search {
    /// Whether a file found below a root is searched.
    pub(super) fn takes(&self, root: &AbsolutePath, file: &AbsolutePath) -> bool {
        let fits = |pattern: &String, name: &str| {
            crate::Pattern::new(pattern).matches(name, crate::Letters::Exact).unwrap_or(true)
        };
        let name = file.name().unwrap_or_default();
        let included = self.include.is_empty() || self.include.iter().any(|pattern| fits(pattern, name));
        let below = file.relative_to(root).unwrap_or_default();
        let excluded = below.split('/').any(|part| self.exclude.iter().any(|pattern| fits(pattern, part)));
        included && !excluded
    }
}

/// Whether the word behind an option of a search that is not `grep` belongs to it, and says nothing about what a line must hold.
fn takes_value(program: &str, option: &str) -> bool {
    let (letters, longs): (&str, &[&str]) = match program {
        "rg" => (
            "gtTMdjEr",
            &[
                "--glob",
                "--iglob",
                "--type",
                "--type-not",
                "--type-add",
                "--max-columns",
                "--max-depth",
                "--threads",
                "--encoding",
                "--replace",
                "--sort",
                "--sortr",
                "--ignore-file",
                "--engine",
                "--color",
                "--colors",
                "--path-separator",
                "--max-filesize",
            ],
        ),
        "ag" => ("Gp", &["--ignore", "--ignore-dir", "--depth", "--file-search-regex", "--path-to-ignore"]),
        "ack" => ("", &["--type", "--ignore-dir", "--ignore-directory", "--ignore-file", "--output"]),
        _ => return false,
    };
    match option.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => letters.contains(letter),
        Some(_) | None => longs.contains(&option),
    }
}
