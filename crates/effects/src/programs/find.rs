//! `find` and `fd`: what is found is looked up in the file tree where it can be listed, else it is a pattern.

mod expression;
mod walk;

use crate::effect::{Depth, EffectKind, Target};
use crate::interpreter::walks::Choice;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Status, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Listing;

use expression::{Action, Expression, Parsed, Truth, parse};
use walk::{Found, Search};

/// The greatest number of files that `-exec` or `-delete` is followed for one by one (ours).
const FOLLOWED: usize = 128;
/// The greatest length of the list of files that `find` prints, as far as it is remembered (ours).
const PRINTED: usize = 256;

/// `find`
pub(crate) fn find(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut parsed = parse(&call.words);
    if parsed.refused {
        return Exit::failure();
    }
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
    for action in parsed.expression.actions() {
        for found in &patterns {
            act_on_pattern(machine, action, found, &parsed.expression);
        }
    }
    let output = match patterns.as_slice() {
        [only] if !parsed.acts() && *only != Value::Unknown => Output::Text(only.clone()),
        all if !parsed.acts() => secret_among(machine, all).map_or(Output::Unknown, Output::Text),
        _ => Output::Unknown,
    };
    Exit { status: Status::Unknown, output }
}

/// Places where others than this task keep their things.
const WIDE: &[&str] = &["/", "//", "/home", "/home/", "/Users", "/Users/", "/root", "/root/"];

/// Adds that where credentials lie is found out for a whole machine.
fn note_key_hunt(machine: &mut Machine<'_>, parsed: &Parsed, patterns: &[Value]) {
    let is_wide = parsed.starts.iter().any(|start| start.as_exact().is_some_and(|text| WIDE.contains(&text)));
    if is_wide && let Some(Value::Glob(pattern)) = secret_among(machine, patterns) {
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
    let mut search = Search::new(machine, parsed, if acts { 4096 } else { 512 });
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
        if chosen.is_empty() && destroys_or_reads_secrets(machine, action, patterns) {
            act_later(machine, action, expression, patterns);
            sure = false;
            continue;
        }
        match action {
            Action::Print { end } => {
                for found in chosen {
                    doubted |= found.truth == Truth::Maybe;
                    printed.push_str(&found.text);
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

/// An action for which nothing fits now, but may by then. It was looked at, so nothing is at stake.
fn act_later(machine: &mut Machine<'_>, action: &Action, expression: &Expression, patterns: &[Value]) {
    for pattern in patterns {
        let before = machine.effect_count();
        machine.possibly(|machine| act_on_pattern(machine, action, pattern, expression));
        machine.amend(before, |effect| {
            if effect.kind == EffectKind::FileDelete {
                effect.nature = Nature::NothingFits;
                "nothing fits now".clone_into(&mut effect.note);
            }
        });
    }
}

/// Programs that take away what they are given.
const REMOVERS: &[&str] = &["rm", "unlink", "shred", "srm", "rmdir", "mv", "truncate"];

/// Whether an action is worth a word even when nothing fits at the moment: it removes what is found, or what is found are
/// credentials.
fn destroys_or_reads_secrets(machine: &Machine<'_>, action: &Action, patterns: &[Value]) -> bool {
    match action {
        Action::Print { .. } | Action::PrintOther | Action::Write(_) => false,
        Action::Delete => true,
        Action::Execute { words, .. } | Action::ExecuteAll { words, .. } => {
            let program = words.first().and_then(Value::as_exact).unwrap_or_default();
            let program = program.rsplit('/').next().unwrap_or(program);
            REMOVERS.contains(&program) || secret_among(machine, patterns).is_some()
        }
    }
}

fn delete(machine: &mut Machine<'_>, found: &Found) {
    if found.is_directory {
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
        let texts = group.iter().map(|found| {
            // In the directory of each, `./name`; the full path names the same file.
            Value::exact(if inside { found.path.as_str().to_owned() } else { found.text.clone() })
        });
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
        Action::Execute { words, asks, .. } => {
            let words = substituted(words, found);
            if *asks {
                machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
            } else {
                with_found(machine, found, |machine| machine.run_words(&words, Input::Inherited));
            }
        }
        Action::ExecuteAll { words, .. } => {
            let words = substituted(words, found);
            with_found(machine, found, |machine| machine.run_words(&words, Input::Inherited));
        }
    }
}

/// What an expression can find below a start, as patterns: several when it asks for one of several names.
fn patterns(start: &Value, expression: &Expression, is_directory: Option<bool>) -> Vec<Value> {
    let names = expression.possible_names();
    if names.is_empty() {
        return vec![pattern(start, expression, None, is_directory)];
    }
    names.into_iter().map(|name| pattern(start, expression, Some(name), is_directory)).collect()
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
    if let Some(whole) = expression.required_path() {
        let whole = whole.replace('*', "**");
        let tail = whole.strip_prefix(base).unwrap_or(&whole).trim_start_matches('/').to_owned();
        return Value::Glob(format!("{base}/{tail}"));
    }
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
