//! Makes uses of an entry: its examples, its options alone and in pairs, operands of each kind.

use std::collections::BTreeSet;

use super::entries::{CallForm, CatalogueEntry};
use crate::shells::Chance;

/// What stands behind the name of a program when nothing is known of it: a file, a directory, links to both, a name that is not there, one
/// outside of the project, a pattern, several files, standard input.
const OPERANDS: &[&str] = &[
    "",
    "a.txt",
    "src",
    "link",
    "dirlink",
    "missing.txt",
    "~/.bashrc",
    "*.txt",
    "a.txt b.txt",
    "a.txt made.txt",
    "a.txt empty",
    "src made",
    "src empty",
    "a.txt link",
    "made.txt",
    "-- a.txt",
    "<a.txt",
    "- <a.txt",
];

/// The same, for programs that unpack.
const PACKED: &[&str] = &[
    "packed.gz",
    "packed.bz2",
    "packed.xz",
    "packed.zst",
    "packed.lzma",
    "packed.lz4",
    "<packed.gz",
    "archive.tar.gz",
    "archive.zip",
    "packed.gz made.txt",
];

/// Operands beside which every option is tried.
const WITH_OPTIONS: &[&str] = &["a.txt", "a.txt b.txt", "src", "a.txt made.txt", "<a.txt"];

/// Uses of one name of an entry, at most so many: the examples and operands first, then options alone, then pairs of them. The same for
/// the same entry.
pub fn uses(entry: &CatalogueEntry, name: &str, most: usize) -> Vec<String> {
    let mut chance = Chance::new(name.bytes().fold(7, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)));
    let is_first = entry.names.first().is_some_and(|first| first == name);
    let mut rows: [Vec<String>; 3] = [Vec::new(), Vec::new(), Vec::new()];
    let ours = |example: &&String| first_word(example) == name;
    rows[0].extend(entry.examples.iter().filter(|example| is_first || ours(example)).cloned());
    for call in &entry.calls {
        let start = [&[name.to_owned()], call.subcommand.as_slice()].concat().join(" ");
        let given = rests(entry, name, call);
        rows[0].extend(OPERANDS.iter().map(|operands| joined(&start, "", operands)));
        rows[0].push(format!("cat a.txt | {start}"));
        if entry.family == "archives" {
            rows[0].extend(PACKED.iter().map(|operands| joined(&start, "", operands)));
        }
        let beside: Vec<&str> =
            given.iter().take(4).map(String::as_str).chain(WITH_OPTIONS.iter().copied()).collect();
        let options: Vec<&String> = call.options.iter().collect();
        for option in &options {
            // What an example has already is not given twice.
            let bare = option.split([' ', '=']).next().unwrap_or(option);
            let beside = beside.iter().filter(|rest| !rest.split_whitespace().any(|word| word == bare));
            rows[1].extend(beside.map(|operands| joined(&start, option, operands)));
        }
        for (place, one) in options.iter().enumerate() {
            for other in options.iter().skip(place + 1) {
                let both = format!("{one} {other}");
                rows[2].extend(beside.iter().take(3).map(|operands| joined(&start, &both, operands)));
            }
        }
    }
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (number, mut row) in rows.into_iter().enumerate() {
        row.retain(|text| seen.insert(text.clone()));
        // A long row is a draw from all of it: two thirds of what is left for options alone, the rest for pairs.
        let left = most.saturating_sub(all.len());
        let share = if number == 1 { left * 2 / 3 } else { left };
        while row.len() > share {
            row.swap_remove(chance.below(row.len()));
        }
        all.extend(row);
    }
    all
}

/// What stands behind the name of a call in the examples of its entry.
fn rests(entry: &CatalogueEntry, name: &str, call: &CallForm) -> Vec<String> {
    let mut found = Vec::new();
    for example in &entry.examples {
        let known = entry.names.iter().chain([&name.to_owned()]).find_map(|name| {
            let start = [std::slice::from_ref(name), call.subcommand.as_slice()].concat().join(" ");
            example.strip_prefix(&start).filter(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        let Some(rest) = known.map(|rest| rest.trim().to_owned()) else { continue };
        if !matches!(rest.as_str(), "--help" | "--version") && !found.contains(&rest) {
            found.push(rest);
        }
    }
    found
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn joined(start: &str, option: &str, operands: &str) -> String {
    [start, option, operands].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
