//! `find` and `fd`: what is found is looked up in the file tree where it can be listed, else it is a pattern.

mod expression;
mod facts;
mod later;
mod walk;

use crate::effect::{Depth, EffectKind, Target};
use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::walks::Choice;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Status, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::{Secrecy, secrecy};
use crate::world::{Entry, Listing};

use super::names_in_text::handed_behind;
use expression::{Action, Expression, Form, Links, Parsed, Truth, parse};
use later::{act_later, destroys_or_reads_secrets, reaches_a_home, takes_away};
use walk::{Found, Search};

/// The greatest number of files that `-exec` or `-delete` is followed for one by one (ours).
const FOLLOWED: usize = 128;
/// The greatest length of the list of files that `find` prints, as far as it is remembered (ours).
const PRINTED: usize = 256;

/// The greatest number of entries that a walk with consequences looks at (ours).
const LOOKED_AT: usize = 4096;

/// `find`
pub(crate) fn find(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut parsed = parse(&call.words);
    if parsed.refused {
        return Exit::failure();
    }
    let Some(file) = parsed.listed.take() else { return search_from(machine, parsed) };
    let list = match file.as_exact() {
        Some("-") => Output::from_input(&call.input),
        Some(_) | None => machine.read(&file),
    };
    match &list {
        Output::Nothing => Exit::success(),
        Output::Text(Value::Exact(names)) => {
            let names = names.split('\0').filter(|name| !name.is_empty());
            parsed.starts = names.map(Value::exact).collect();
            if parsed.starts.is_empty() { Exit::success() } else { search_from(machine, parsed) }
        }
        Output::Text(value @ (Value::AnyOf(_) | Value::Glob(_))) => {
            let cut = |text: &str| text.trim_end_matches('\0').to_owned();
            parsed.starts = match value {
                Value::Glob(text) => vec![Value::Glob(cut(text))],
                other => other
                    .alternatives()
                    .unwrap_or_default()
                    .iter()
                    .map(|text| Value::Exact(cut(text)))
                    .collect(),
            };
            search_from(machine, parsed)
        }
        unread => {
            parsed.starts = vec![Value::Unknown];
            parsed.understood = false;
            machine.with_words_from(unread, |machine| search_from(machine, parsed))
        }
    }
}

/// Searches from the starts that the words name, or a list.
fn search_from(machine: &mut Machine<'_>, mut parsed: Parsed) -> Exit {
    let given = parsed.starts.len();
    // An empty start is no directory: the search there fails.
    parsed.starts.retain(|start| start.as_exact() != Some(""));
    if parsed.starts.is_empty() && given > 0 {
        return Exit::failure();
    }
    let patterns: Vec<Value> = parsed
        .starts
        .iter()
        .flat_map(|start| {
            // Of what is not there it is not known what it would be.
            let sort = machine.is_directory(start).filter(|_| !machine.is_certainly_missing(start));
            patterns(start, &parsed.expression, sort)
        })
        .collect();
    note_key_hunt(machine, &parsed, &patterns);
    let is_of_kernel =
        |start: &Value| start.as_exact().is_some_and(|text| text == "/proc" || text == "/proc/");
    if !parsed.acts() && parsed.starts.iter().any(is_of_kernel) {
        return Exit { status: Status::Unknown, output: ListedProcesses::All.output() };
    }
    for pattern in &patterns {
        if let Value::Glob(text) = pattern {
            machine.walks.insert(text.clone(), parsed.expression.choice());
        }
    }
    if parsed.starts.iter().all(|start| start.as_exact().is_some()) && parsed.understood {
        let starts: Vec<String> =
            parsed.starts.iter().filter_map(Value::as_exact).map(str::to_owned).collect();
        let needed = parsed.acts() || starts.len() == 1;
        if needed && let Some(found) = search(machine, &starts, &parsed) {
            // A search that cannot start finds nothing; only where it hunts for credentials that is worth a word.
            let starts_here =
                starts.iter().any(|start| !machine.is_certainly_missing(&Value::exact(start.as_str())));
            let later =
                if starts_here || secret_among(machine, &patterns).is_some() { patterns } else { Vec::new() };
            return act(machine, &parsed.expression, &found, &later);
        }
    }
    if destroys(&parsed) {
        let found = in_histories(machine, &parsed);
        if !found.is_empty() {
            act(machine, &parsed.expression, &found, &[]);
        }
    }
    let mut patterns = patterns;
    if parsed.acts() && parsed.links == Links::Followed {
        let behind = walk::behind_links(machine, &parsed.starts);
        if !behind.is_all && destroys(&parsed) {
            machine.unread("where the links lead that `find` follows is not known");
        }
        for place in &behind.places {
            let start = Value::exact(place.as_str());
            let names = parsed.expression.possible_names();
            let names = if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
            for name in names {
                let found = pattern(&start, &parsed.expression, name, None);
                if let Value::Glob(text) = &found {
                    machine.walks.insert(text.clone(), parsed.expression.choice());
                }
                patterns.push(found);
            }
        }
    }
    for action in parsed.expression.actions() {
        for found in &patterns {
            act_on_pattern(machine, action, found, &parsed.expression);
        }
    }
    let output = match patterns.as_slice() {
        [only] if !parsed.acts() && *only != Value::Unknown => Output::Text(only.clone()),
        all if !parsed.acts() => {
            secret_among(machine, all).or_else(|| together(all)).map_or(Output::Unknown, Output::Text)
        }
        _ => Output::Unknown,
    };
    Exit { status: Status::Unknown, output }
}

/// The first things that are found in the history of a repository right below a start: of a tree that is too large to be listed they must
/// not be lost among the rest.
fn in_histories(machine: &Machine<'_>, parsed: &Parsed) -> Vec<Found> {
    let mut found = Vec::new();
    for start in parsed.starts.iter().filter_map(Value::as_exact) {
        let mut search = Search::new(machine, parsed, IN_HISTORY);
        search.right_below(start, ".git");
        found.extend(search.into_found().into_iter().take(SHOWN_OF_HISTORY));
    }
    found
}

/// The text that names what fits any of several patterns, one in each line; `None` where that cannot be written so.
fn together(patterns: &[Value]) -> Option<Value> {
    let texts: Option<Vec<&str>> = patterns
        .iter()
        .map(|pattern| match pattern {
            Value::Glob(text) => Some(text.as_str()).filter(|text| !text.contains(char::is_whitespace)),
            Value::Exact(text) => Some(text.as_str())
                .filter(|text| !text.contains(['*', '?', '[']) && !text.contains(char::is_whitespace)),
            Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
        })
        .collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| Value::of_pattern(texts.join("\n")))
}

/// Whether what is found is taken away, by the search itself or by a program that it runs.
fn destroys(parsed: &Parsed) -> bool {
    parsed.expression.actions().into_iter().any(|action| match action {
        Action::Delete => true,
        Action::Print { .. } | Action::PrintOther | Action::Write(_) => false,
        Action::Execute { words, .. } | Action::ExecuteAll { words, .. } => takes_away(words),
    })
}

/// How many entries of a history are looked at (ours).
const IN_HISTORY: usize = 256;
/// How many of those that are found stand for all of them (ours).
const SHOWN_OF_HISTORY: usize = 8;

/// Places where others than this task keep their things.
const WIDE: &[&str] = &["/", "//", "/home", "/home/", "/Users", "/Users/", "/root", "/root/"];

/// Adds that where credentials lie is found out for a whole machine.
fn note_key_hunt(machine: &mut Machine<'_>, parsed: &Parsed, patterns: &[Value]) {
    let is_wide = parsed.starts.iter().any(|start| start.as_exact().is_some_and(|text| WIDE.contains(&text)));
    // Where a history lies gives away less than where a key does.
    let proves = |pattern: &str| {
        let name = pattern.rsplit('/').next().unwrap_or_default();
        secrecy(&AbsolutePath::root().join(name)) == Secrecy::Proof
    };
    if is_wide
        && let Some(Value::Glob(pattern)) = secret_among(machine, patterns)
        && proves(&pattern)
    {
        // Where they lie, not what is in them.
        let target = Target::Service(format!("the places of {pattern}"));
        let draft = Draft::new(EffectKind::SecretRead, target).possible();
        machine.add(draft.note("looks for credentials on the whole machine"));
    }
}

/// The first pattern that reaches credentials.
fn secret_among(machine: &Machine<'_>, patterns: &[Value]) -> Option<Value> {
    patterns.iter().find(|pattern| machine.names_secret(pattern)).cloned()
}

/// What is found from each start, or `None` when the tree cannot be listed within bounds.
fn search(machine: &Machine<'_>, starts: &[String], parsed: &Parsed) -> Option<Vec<Found>> {
    let acts = parsed.acts();
    // Looking at the tree costs time; a list that is only printed is worth less of it.
    let mut search = Search::new(machine, parsed, if acts { LOOKED_AT } else { 512 });
    for start in starts {
        search.from(start)?;
    }
    let found = search.into_found();
    let limit = if acts { FOLLOWED } else { PRINTED };
    (found.len() <= limit).then_some(found)
}

fn act(machine: &mut Machine<'_>, expression: &Expression, found: &[Found], patterns: &[Value]) -> Exit {
    let mut printed = String::new();
    let mut doubted = false;
    let mut sure = true;
    for (index, action) in expression.actions().into_iter().enumerate() {
        let mut chosen: Vec<&Found> = found.iter().filter(|found| found.action == index).collect();
        if destroys_or_reads_secrets(machine, action, patterns) {
            let of_home = patterns.iter().any(|pattern| reaches_a_home(machine, pattern));
            let of_home = of_home && !expression.wants_empty();
            if chosen.is_empty() || of_home {
                act_later(machine, action, expression, patterns);
                sure = false;
            }
            if chosen.is_empty() {
                continue;
            }
        }
        match action {
            Action::Print { end, form } => {
                for found in chosen {
                    doubted |= found.truth == Truth::Maybe;
                    match (form, found.text.as_str()) {
                        (Form::Whole, text) => printed.push_str(text),
                        (Form::BelowStart, ".") => {}
                        // Below any other start the name alone does not say where it lies.
                        (Form::BelowStart, text) => match text.strip_prefix("./") {
                            Some(below) => printed.push_str(below),
                            None => sure = false,
                        },
                    }
                    printed.push(*end);
                }
            }
            Action::PrintOther => sure &= chosen.is_empty(),
            Action::Write(file) => machine.write(file),
            Action::Delete => {
                // Deletion goes from the leaves to the root.
                chosen.reverse();
                for found in chosen {
                    delete(machine, found);
                }
            }
            Action::Execute { words, asks, inside } => {
                for found in chosen {
                    let work = |machine: &mut Machine<'_>| execute(machine, words, found, *inside);
                    if *asks || found.truth == Truth::Maybe {
                        machine.possibly(work);
                    } else {
                        work(machine);
                    }
                    sure = false;
                }
            }
            Action::ExecuteAll { words, inside } => {
                sure = false;
                run_together(machine, words, &chosen, *inside);
            }
        }
    }
    let output = match secret_among(machine, patterns) {
        Some(pattern) if found.is_empty() => Output::Text(pattern),
        _ if found.is_empty() && !expression.wants_empty() && sure => patterns
            .iter()
            .find(|pattern| reaches_a_home(machine, pattern))
            .map_or_else(|| Output::Text(Value::exact("")), |pattern| Output::Text(pattern.clone())),
        // Which of these is printed is not known.
        _ if sure && doubted => {
            Output::Text(Value::one_of(found.iter().map(|one| one.text.clone()).collect()))
        }
        _ if sure => {
            if found.len() > 1 {
                machine.unordered = Some(printed.clone());
            }
            Output::Text(Value::Exact(printed))
        }
        _ => Output::Unknown,
    };
    Exit { status: Status::Unknown, output }
}

fn delete(machine: &mut Machine<'_>, found: &Found) {
    // `find` leaves the working directory where it is.
    if matches!(found.text.as_str(), "." | "./") {
        return;
    }
    let is_link = matches!(machine.entry(&found.path), Entry::Symlink(_));
    if found.is_directory && !is_link {
        let holds_something =
            matches!(machine.children(&found.path), Listing::Names(names) if !names.is_empty());
        if holds_something {
            return;
        }
    }
    let value = Value::exact(found.path.as_str());
    if found.truth == Truth::Maybe {
        machine.possibly(|machine| machine.delete(&value, Depth::Single));
    } else {
        machine.delete(&value, Depth::Single);
    }
}

fn execute(machine: &mut Machine<'_>, words: &[Value], found: &Found, inside: bool) -> Exit {
    if !inside {
        let words = substituted(words, &Value::exact(found.text.clone()));
        return machine.run_words(&words, Input::Inherited);
    }
    let words = substituted(words, &Value::Exact(format!("./{}", found.path.name().unwrap_or("."))));
    let directory = found.path.parent().unwrap_or_else(AbsolutePath::root);
    machine.inside(&Value::exact(directory.as_str()), |machine| machine.run_words(&words, Input::Inherited))
}

fn run_together(machine: &mut Machine<'_>, words: &[Value], chosen: &[&Found], inside: bool) {
    let sure: Vec<&&Found> = chosen.iter().filter(|found| found.truth == Truth::Yes).collect();
    let unsure: Vec<&&Found> = chosen.iter().filter(|found| found.truth == Truth::Maybe).collect();
    for (group, certain) in [(sure, true), (unsure, false)] {
        if group.is_empty() {
            continue;
        }
        if inside {
            let work = |machine: &mut Machine<'_>| run_in_each(machine, words, &group);
            if certain {
                work(machine);
            } else {
                machine.possibly(work);
            }
            continue;
        }
        let texts = group.iter().map(|found| Value::exact(found.text.clone()));
        let mut all: Vec<Value> = Vec::new();
        let mut texts = Some(texts);
        for word in words {
            match (word.as_exact(), texts.take()) {
                (Some("{}"), Some(texts)) => all.extend(texts),
                (_, kept) => {
                    all.push(word.clone());
                    texts = kept;
                }
            }
        }
        if certain {
            machine.run_words(&all, Input::Inherited);
        } else {
            machine.possibly(|machine| machine.run_words(&all, Input::Inherited));
        }
    }
}

/// Runs a command in each directory in which something was found, with the names of that.
fn run_in_each(machine: &mut Machine<'_>, words: &[Value], group: &[&&Found]) {
    let parent = |found: &Found| found.path.parent().unwrap_or_else(AbsolutePath::root);
    let mut directories: Vec<AbsolutePath> = group.iter().map(|found| parent(found)).collect();
    directories.sort();
    directories.dedup();
    for directory in directories {
        let mut all: Vec<Value> = Vec::new();
        for word in words {
            if word.as_exact() == Some("{}") {
                let here = group.iter().filter(|found| parent(found) == directory);
                all.extend(here.map(|found| Value::Exact(format!("./{}", found.path.name().unwrap_or(".")))));
            } else {
                all.push(word.clone());
            }
        }
        machine
            .inside(&Value::exact(directory.as_str()), |machine| machine.run_words(&all, Input::Inherited));
    }
}

/// Words with `{}` replaced wherever it stands.
fn substituted(words: &[Value], found: &Value) -> Vec<Value> {
    words
        .iter()
        .map(|word| {
            if let Value::Between { prefix, suffix } = word
                && (prefix.contains("{}") || suffix.contains("{}"))
            {
                let ends = [Value::exact(prefix.clone()), Value::exact(suffix.clone())];
                if let [start, end] = substituted(&ends, found).as_slice() {
                    return start.followed_by(&Value::Unknown).followed_by(end);
                }
            }
            let Some(text) = word.as_exact().filter(|text| text.contains("{}")) else { return word.clone() };
            let mut parts = text.split("{}");
            let first = Value::exact(parts.next().unwrap_or_default());
            parts.fold(first, |so_far, part| {
                let so_far =
                    if so_far == Value::exact("") { found.clone() } else { so_far.followed_by(found) };
                if part.is_empty() { so_far } else { so_far.followed_by(&Value::exact(part)) }
            })
        })
        .collect()
}

/// Runs what is done with what a walk found, of which only a pattern is known.
pub(crate) fn with_found<T>(
    machine: &mut Machine<'_>,
    found: &Value,
    work: impl FnOnce(&mut Machine<'_>) -> T,
) -> T {
    let choice = match found {
        Value::Glob(text) => machine.walks.get(text).copied(),
        Value::Exact(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
    };
    match choice {
        Some(Choice::Unseen) => machine.possibly(work),
        Some(Choice::All) => {
            let before = machine.effect_count();
            let done = work(machine);
            machine.amend(before, |effect| {
                let is_walk = matches!(&effect.target, Target::Glob(_));
                if effect.kind == EffectKind::FileDelete && is_walk && effect.nature == Nature::Ordinary {
                    effect.nature = Nature::AllThatIsFound;
                    "all that is found".clone_into(&mut effect.note);
                }
            });
            done
        }
        Some(Choice::ByName) | None => work(machine),
    }
}

fn act_on_pattern(machine: &mut Machine<'_>, action: &Action, found: &Value, expression: &Expression) {
    match action {
        Action::Print { .. } | Action::PrintOther => {}
        Action::Write(file) => machine.write(file),
        Action::Delete => {
            let whole = !expression.is_selective();
            let depth = if whole { Depth::Recursive } else { Depth::Single };
            with_found(machine, found, |machine| machine.delete(found, depth));
        }
        Action::Execute { words, asks, inside } => {
            let found = &seen_from_anywhere(machine, found, *inside);
            let words = handed_behind(machine, words, "{}", found, found)
                .unwrap_or_else(|| substituted(words, found));
            let run = |machine: &mut Machine<'_>| {
                run_for_pattern(machine, &words, found, *inside);
            };
            if *asks {
                machine.possibly(run);
            } else {
                with_found(machine, found, run);
            }
        }
        Action::ExecuteAll { words, inside } => {
            let found = &seen_from_anywhere(machine, found, *inside);
            let words = substituted(words, found);
            with_found(machine, found, |machine| run_for_pattern(machine, &words, found, *inside));
        }
    }
}

/// Every name that a walk below the base of a pattern comes by; `None` where not all can be listed within bounds.
pub(super) fn every_name(machine: &Machine<'_>, pattern: &str) -> Option<Vec<String>> {
    let fixed = pattern.split(['*', '?', '[', '\\']).next().unwrap_or_default();
    let base = match fixed.rfind('/') {
        Some(0) => "/",
        Some(at) => pattern.get(..at)?,
        None => ".",
    };
    let parsed = parse(&[Value::exact(base)]);
    let mut search = Search::new(machine, &parsed, LOOKED_AT);
    search.from(base)?;
    Some(search.into_found().into_iter().map(|found| found.text).collect())
}

/// What was found, said so that it means the same from the directory in which `-execdir` runs a command.
fn seen_from_anywhere(machine: &mut Machine<'_>, found: &Value, inside: bool) -> Value {
    let Some(cwd) = machine.cwd().filter(|_| inside).cloned() else { return found.clone() };
    let whole = |text: &String| {
        let text = text.strip_prefix("./").unwrap_or(text);
        if text.starts_with('/') {
            text.to_owned()
        } else {
            format!("{}/{text}", cwd.as_str().trim_end_matches('/'))
        }
    };
    match found {
        Value::Exact(text) => Value::Exact(whole(text)),
        Value::AnyOf(texts) => Value::one_of(texts.iter().map(whole).collect()),
        Value::Glob(text) => {
            let pattern = whole(text);
            if let Some(choice) = machine.walks.get(text).copied() {
                machine.walks.insert(pattern.clone(), choice);
            }
            Value::Glob(pattern)
        }
        Value::Between { .. } | Value::Unknown => found.clone(),
    }
}

/// Runs a command for what a pattern stands for; with `-execdir` in the directories of what is found. Of these the topmost stands for all:
/// what a command does to all that is in it, it may do to whatever lies deeper. The start itself is found from the directory around it.
fn run_for_pattern(machine: &mut Machine<'_>, words: &[Value], found: &Value, inside: bool) {
    if !inside {
        machine.run_words(words, Input::Inherited);
        return;
    }
    let text = found.known_start();
    let base = text.rfind('/').map(|at| if at == 0 { "/" } else { text.get(..at).unwrap_or("/") });
    let Some(base) = base.and_then(|base| machine.one_path_through(&Value::exact(base))) else {
        machine.inside(&Value::Unknown, |machine| machine.run_words(words, Input::Inherited));
        return;
    };
    let around = base.parent().filter(|_| matches!(found, Value::Glob(text) if text.ends_with("/**")));
    let run = |machine: &mut Machine<'_>, place: &AbsolutePath| {
        machine.inside(&Value::exact(place.as_str()), |machine| machine.run_words(words, Input::Inherited));
    };
    // What names what was found does as much here as with `-exec`; what does not is done in some directory, whichever.
    if words.iter().any(|word| word.known_start().starts_with('/')) {
        run(machine, &base);
    } else {
        machine.possibly(|machine| run(machine, &base));
    }
    if let Some(around) = around {
        machine.possibly(|machine| run(machine, &around));
    }
}

/// What an expression can find below a start, as patterns: several when it asks for one of several names.
fn patterns(start: &Value, expression: &Expression, is_directory: Option<bool>) -> Vec<Value> {
    if let Some(paths) = path_patterns(start, expression, is_directory) {
        return paths;
    }
    let names = expression.possible_names();
    if names.is_empty() {
        return vec![pattern(start, expression, None, is_directory)];
    }
    names.into_iter().map(|name| pattern(start, expression, Some(name), is_directory)).collect()
}

/// The greatest number of stars in a pattern of whole paths that is followed to all that they stand for (ours).
const STARS: usize = 3;

/// What a test of the whole path can find below a start: there a star also stands for slashes, so that each is either in one name or reaches
/// over several. `None` without such a test.
fn path_patterns(start: &Value, expression: &Expression, is_directory: Option<bool>) -> Option<Vec<Value>> {
    let whole = expression.required_path()?;
    let base = start.as_exact().filter(|_| is_directory != Some(false))?;
    let base = if base == "/" { "" } else { base.trim_end_matches('/') };
    let everything = || vec![Value::Glob(format!("{base}/**"))];
    let tail = match whole.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')) {
        Some(tail) => tail.to_owned(),
        // The start itself.
        None if whole == base => return Some(vec![start.clone()]),
        None => {
            // A star in front takes the start and more, unless what stands behind it is in the start already.
            let Some(rest) = whole.strip_prefix('*') else { return Some(everything()) };
            let literal = rest.split(['*', '?', '[', '\\']).next().unwrap_or_default();
            let ends_in_start = (0..=base.len()).filter_map(|at| base.get(at..)).any(|end| {
                !end.is_empty()
                    && (end.starts_with(literal)
                        || literal.strip_prefix(end).is_some_and(|rest| rest.starts_with('/')))
            });
            if ends_in_start {
                return Some(everything());
            }
            match rest.strip_prefix('/') {
                Some(rest) => format!("**/{rest}"),
                None => format!("*{rest}"),
            }
        }
    };
    let mut patterns = vec![String::new()];
    let parts: Vec<&str> = tail.split('/').collect();
    let wildcards =
        parts.iter().filter(|part| **part != "**").map(|part| part.matches('*').count()).sum::<usize>();
    if wildcards > STARS || tail.contains(['?', '[', '\\']) {
        let literal = tail.split(['*', '?', '[']).next().unwrap_or_default();
        let directory =
            literal.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        return Some(vec![Value::Glob(format!("{base}/{directory}**"))]);
    }
    for (index, part) in parts.iter().enumerate() {
        let forms = match *part {
            "*" | "**" => vec!["**".to_owned()],
            part => part.split('*').map(str::to_owned).fold(Vec::new(), |forms: Vec<String>, piece| {
                if forms.is_empty() {
                    return vec![piece];
                }
                forms
                    .iter()
                    .flat_map(|form| [format!("{form}*{piece}"), format!("{form}*/**/*{piece}")])
                    .collect()
            }),
        };
        let slash = if index == 0 { "" } else { "/" };
        patterns = patterns
            .iter()
            .flat_map(|before| forms.iter().map(move |form| format!("{before}{slash}{form}")))
            .collect();
    }
    Some(patterns.into_iter().map(|tail| Value::Glob(format!("{base}/{tail}"))).collect())
}

/// What an expression can find below a start, as a pattern; under one name when it is given.
fn pattern(
    start: &Value,
    expression: &Expression,
    name: Option<String>,
    is_directory: Option<bool>,
) -> Value {
    let Some(base) = start.as_exact() else {
        return match start {
            Value::Glob(base) => Value::Glob(format!("{}/**", base.trim_end_matches('/'))),
            Value::Between { prefix, .. } if prefix.ends_with('/') => Value::Glob(format!("{prefix}**")),
            Value::AnyOf(_) | Value::Between { .. } | Value::Unknown | Value::Exact(_) => Value::Unknown,
        };
    };
    if is_directory == Some(false) && !expression.is_selective() {
        return start.clone();
    }
    let base = if base == "/" { "" } else { base.trim_end_matches('/') };
    let name = name.unwrap_or_else(|| "**".to_owned());
    let shallow = expression.maximum_depth() == Some(1);
    let name = if shallow && name == "**" { "*".to_owned() } else { name };
    if shallow || name == "**" {
        Value::Glob(format!("{base}/{name}"))
    } else {
        Value::Glob(format!("{base}/**/{name}"))
    }
}

/// `fd`: `-x` and `-X` run a command with what is found.
pub(crate) fn fd(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let cut = call
        .words
        .iter()
        .position(|word| matches!(word.as_exact(), Some("-x" | "-X" | "--exec" | "--exec-batch")));
    let Some(cut) = cut else { return Exit::unknown() };
    let words: Vec<Value> =
        call.words.iter().skip(cut + 1).take_while(|word| word.as_exact() != Some(";")).cloned().collect();
    let operands = fd_operands(call.words.get(..cut).unwrap_or_default());
    let base = operands.paths.first().cloned().unwrap_or_else(|| ".".to_owned());
    let base = base.trim_end_matches('/');
    let name = match (&operands.extension, operands.pattern.as_deref()) {
        (Some(extension), _) => format!("**/*.{extension}"),
        (None, Some("." | "" | ".*") | None) => "**".to_owned(),
        (None, Some(pattern)) if operands.is_glob => format!("**/{pattern}"),
        (None, Some(pattern)) => {
            let word = pattern.trim_start_matches('^').trim_end_matches('$').replace("\\.", ".");
            let literal = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            match (literal, pattern.starts_with('^'), pattern.ends_with('$')) {
                (false, _, _) => "**".to_owned(),
                (true, true, true) => format!("**/{word}"),
                (true, true, false) => format!("**/{word}*"),
                (true, false, true) => format!("**/*{word}"),
                (true, false, false) => format!("**/*{word}*"),
            }
        }
    };
    let found = Value::Glob(format!("{base}/{name}"));
    let holds_place =
        words.iter().filter_map(Value::as_exact).any(|word| word.contains('{') && word.contains('}'));
    let mut all: Vec<Value> = words.iter().map(|word| fd_word(word, &found)).collect();
    if !holds_place {
        all.push(found);
    }
    machine.run_words(&all, Input::Inherited)
}

fn fd_word(word: &Value, found: &Value) -> Value {
    match word.as_exact() {
        Some("{}") => found.clone(),
        Some(text) if ["{/}", "{//}", "{.}", "{/.}"].iter().any(|place| text.contains(place)) => {
            Value::Unknown
        }
        Some(text) if text.contains("{}") => {
            substituted(std::slice::from_ref(word), found).pop().unwrap_or(Value::Unknown)
        }
        Some(_) | None => word.clone(),
    }
}

#[derive(Default)]
struct FdOperands {
    pattern: Option<String>,
    paths: Vec<String>,
    extension: Option<String>,
    is_glob: bool,
}

fn fd_operands(words: &[Value]) -> FdOperands {
    let mut operands = FdOperands::default();
    let mut words = words.iter().filter_map(Value::as_exact);
    while let Some(word) = words.next() {
        match word {
            "-e" | "--extension" => operands.extension = words.next().map(str::to_owned),
            "-g" | "--glob" => operands.is_glob = true,
            "-t" | "--type" | "-d" | "--max-depth" | "-E" | "--exclude" | "-S" | "--size"
            | "--changed-within" | "--changed-before" | "-j" | "--threads" | "-c" | "--color"
            | "--min-depth" | "-o" | "--owner" => {
                words.next();
            }
            option if option.starts_with("-e") && !option.starts_with("--") && option.len() > 2 => {
                operands.extension = option.get(2..).map(str::to_owned);
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            word if operands.pattern.is_none() => operands.pattern = Some(word.to_owned()),
            word => operands.paths.push(word.to_owned()),
        }
    }
    operands
}
