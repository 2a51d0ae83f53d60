//! Every program of the catalogue that runs another one: a deletion that it is given is seen.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;

use checkrein_effects::predict;
use checkrein_facts::VersionState;
use checkrein_protocol::{EffectKind, Target};
use checkrein_testkit::world::{command, path, project};
use toml::{Table, Value};

/// What a wrapper is given to run.
const DELETION: &str = "rm -rf build";

/// The family of the programs that are made to run others.
const WRAPPERS: &str = "wrappers.toml";

/// Wrappers whose command finds other files than those that are here.
const OTHERS: [&str; 1] = ["chroot"];

/// Whether the deletion is seen.
fn is_seen(text: &str) -> bool {
    let world = project().with_file(&path("build/out.o"), "", VersionState::Ignored);
    predict(&command(text), &world).effects.iter().any(|effect| match effect.kind {
        EffectKind::FileDelete => effect.target == Target::Path(path("build")),
        _ => false,
    })
}

fn list<'t>(table: &'t Table, key: &str) -> &'t [Value] {
    table.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts<'t>(table: &'t Table, key: &str) -> Vec<&'t str> {
    list(table, key).iter().filter_map(Value::as_str).collect()
}

fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key).and_then(Value::as_str)
}

/// The entries of all files, and their subcommands, each with the words that call it.
fn entries() -> Vec<(String, Vec<String>, Table)> {
    fn descend(file: &str, starts: &[String], table: &Table, all: &mut Vec<(String, Vec<String>, Table)>) {
        let names = texts(table, "names");
        let starts: Vec<String> = names
            .iter()
            .flat_map(|name| {
                starts.iter().map(move |start| format!("{start} {name}").trim_start().to_owned())
            })
            .collect();
        for sub in list(table, "subcommands").iter().filter_map(Value::as_table) {
            descend(file, &starts, sub, all);
        }
        all.push((file.to_owned(), starts, table.clone()));
    }
    let mut all = Vec::new();
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/catalogue")).unwrap() {
        let file = file.unwrap();
        let table: Table = fs::read_to_string(file.path()).unwrap().parse().unwrap();
        for program in list(&table, "program").iter().filter_map(Value::as_table) {
            descend(&file.file_name().to_string_lossy(), &[String::new()], program, &mut all);
        }
    }
    all.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    all
}

/// The calls in which a run of an entry is given the deletion, of which one has to do; none where its words cannot be made up.
fn calls(starts: &[String], run: &Table, values: &[&str]) -> Vec<String> {
    let selection = text(run, "words").or(text(run, "text")).unwrap_or_default();
    let options = selection.split('|').filter_map(|pick| {
        let pick = pick.trim();
        pick.strip_prefix("option:").or_else(|| pick.strip_prefix("options:"))
    });
    let options: Vec<&str> = options.flat_map(|names| names.split(',')).collect();
    let options: Vec<Option<&str>> =
        if options.is_empty() { vec![None] } else { options.into_iter().map(Some).collect() };
    let with = |start: &String| {
        options.iter().filter_map(|option| call(start, run, values, *option)).collect::<Vec<_>>()
    };
    starts.iter().flat_map(with).flatten().collect()
}

/// One of them, by an option or by operands.
fn call(start: &str, run: &Table, values: &[&str], option: Option<&str>) -> Option<Vec<String>> {
    if text(run, "as") == Some("remote") {
        return None;
    }
    let (selection, is_text) = match (text(run, "words"), text(run, "text")) {
        (Some(words), _) => (words, false),
        (None, Some(text)) => (text, true),
        (None, None) => return None,
    };
    let quoted = format!("'{DELETION}'");
    let given = if is_text { quoted.as_str() } else { DELETION };
    let pick = selection.split('|').next()?.trim();
    let mut before = Vec::new();
    let conditions = texts(run, "all").into_iter().chain(texts(run, "when").into_iter().take(1));
    for condition in conditions.filter(|condition| !matches!(*condition, "operands" | "!input" | "always")) {
        if !condition.starts_with('-') {
            return None;
        }
        let condition = condition.replace('*', "x");
        before.push(match condition.split_once('=') {
            Some((name, value)) if !name.starts_with("--") => format!("{name} {value}"),
            _ if values.contains(&condition.as_str()) => format!("{condition} x"),
            _ => condition,
        });
    }
    let behind = if let Some(option) = option {
        before.retain(|known| known.split(['=', ' ']).next() != Some(option));
        // Behind the option stands a text, or the first word, and the others behind it.
        let whole = [start.to_owned(), before.join(" "), option.to_owned()].join(" ");
        return Some(vec![
            format!("{whole} {quoted}"),
            format!("{whole} {DELETION}"),
            format!("{whole} {}", DELETION.replacen("rm ", "rm -- ", 1)),
        ]);
    } else if let Some(range) = pick.strip_prefix("operands") {
        let range = range.trim_start_matches(':');
        let from: usize =
            range.split("..").next().filter(|from| !from.is_empty()).unwrap_or("0").parse().ok()?;
        [vec!["a"; from], vec![given]].concat().join(" ")
    } else {
        return None;
    };
    let words = [vec![start.to_owned()], before].concat().join(" ");
    Some(vec![format!("{words} {behind}"), format!("{words} {}", behind.replacen("rm ", "-- rm ", 1))])
}

#[test]
fn a_deletion_behind_a_wrapper_is_seen() {
    let (mut missed, mut count) = (Vec::new(), 0);
    for (file, starts, entry) in entries() {
        let runs: Vec<&Table> = match entry.get("runs") {
            Some(Value::Array(runs)) => runs.iter().filter_map(Value::as_table).collect(),
            Some(Value::Table(run)) => vec![run],
            _ => Vec::new(),
        };
        for made in runs
            .iter()
            .map(|run| calls(&starts, run, &texts(&entry, "values")))
            .filter(|made| !made.is_empty())
        {
            count += 1;
            if !made.iter().any(|made| is_seen(made)) {
                missed.push(format!("{file}: {}", made.join(" | ")));
            }
        }
        let by_code = file == WRAPPERS && runs.is_empty();
        for start in starts.iter().filter(|start| by_code && !OTHERS.contains(&start.as_str())) {
            let forms = ["", "a ", "-- ", "1 ", "a b ", "-c ", "--exec "];
            let given = forms.iter().flat_map(|form| {
                [format!("{start} {form}{DELETION}"), format!("{start} {form}'{DELETION}'")]
            });
            count += 1;
            if !given.into_iter().any(|made| is_seen(&made)) {
                missed.push(format!("{file}: {start}: no form of it"));
            }
        }
    }
    assert!(count > 80, "{count}");
    assert!(missed.is_empty(), "{} of {count} are missed:\n{}", missed.len(), missed.join("\n"));
}
