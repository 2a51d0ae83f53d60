//! No setting without effect: each key of the configuration is given two values, and what it governs must then differ.
//!
//! A trial looks twice with the first value, to know that the look itself is steady, and once with the second. What is looked at is what
//! the key is for and nothing else: a verdict, a field of a record, a file, the output of a command.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

#[path = "../serve_support/mod.rs"]
mod serve_support;
#[path = "../support/mod.rs"]
mod support;

mod governing;
mod intervening;
mod keeping;
mod machine;
mod reviewing;
mod saving;
mod scene;
mod telling;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use scene::Scene;
use serde_json::Value as Json;

/// One key: what both sides are given, the two values as JSON, and where to look.
pub struct Row {
    key: &'static str,
    beside: &'static [Pair],
    first: &'static str,
    second: &'static str,
    /// What the second side is given beside, where one value cannot change alone.
    with_second: &'static [Pair],
    look: fn(&Scene) -> String,
}

/// A key and its value as JSON.
pub type Pair = (&'static str, &'static str);

/// The value of a key that is not set.
pub const UNSET: &str = "";

/// A row with nothing beside the second value.
pub fn row(
    key: &'static str,
    [first, second]: [&'static str; 2],
    beside: &'static [Pair],
    look: fn(&Scene) -> String,
) -> Row {
    Row { key, beside, first, second, with_second: &[], look }
}

/// Keys that a test of their own gives two values, with the file of that test.
const GIVEN_ELSEWHERE: &[(&str, &str)] = &[
    ("interventions.two_strikes.stagnation", "tests/loops.rs"),
    ("interventions.soft_correction.custom_prompts_path", "tests/loops.rs"),
    ("interventions.context_reinforcement.include_examples", "../intervention/tests/controller.rs"),
    ("interventions.emergency_stop.auto_cleanup", "tests/loops.rs"),
    ("patterns.sensitivity", "../patterns/src/settings.rs"),
    ("gates.before_push", "tests/gate_pushes.rs"),
];

/// The keys below this path are flipped one by one in `crates/patterns/tests/thresholds.rs`.
const THRESHOLDS: &str = "patterns.thresholds.";

fn main() {
    let arguments = Arguments::from_args();
    let rows = [
        reviewing::rows(),
        governing::rows(),
        intervening::rows(),
        telling::rows(),
        saving::rows(),
        keeping::rows(),
    ];
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let keys: Vec<&'static str> = rows.iter().map(|row| row.key).collect();
    let mut trials: Vec<Trial> =
        rows.into_iter().map(|row| Trial::test(row.key, move || differs(&row))).collect();
    trials.push(Trial::test("every key has a row", move || all_are_there(&keys)));
    trials.push(Trial::test("what is given elsewhere is there", are_elsewhere));
    libtest_mimic::run(&arguments, trials).exit();
}

fn differs(row: &Row) -> Result<(), Failed> {
    let seen = |value: &'static str, more: &'static [Pair]| {
        let own: &[Pair] = if value.is_empty() { &[] } else { &[(row.key, value)] };
        let scene = Scene::new(&[row.beside, own, more].concat());
        let seen = (row.look)(&scene);
        // A configuration that is refused would differ, too.
        scene.succeed(&["config", "check"]);
        scene.without_places(&seen)
    };
    let first = seen(row.first, &[]);
    let again = seen(row.first, &[]);
    if first != again {
        return Err(format!("the look is not steady:\n{first}\n--\n{again}").into());
    }
    let second = seen(row.second, row.with_second);
    if first == second {
        return Err(format!("{} and {} look the same:\n{first}", row.first, row.second).into());
    }
    Ok(())
}

/// The keys are those that the program shows, so that a new one cannot be forgotten.
fn all_are_there(rows: &[&str]) -> Result<(), Failed> {
    let shown: Json = serde_json::from_str(&Scene::new(&[]).succeed(&["config", "show", "--json"]))?;
    let keys: BTreeSet<&str> =
        shown["settings"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    let known: Vec<&str> = rows.iter().copied().chain(GIVEN_ELSEWHERE.iter().map(|(key, _)| *key)).collect();
    let mut wrong: Vec<String> = Vec::new();
    let missing = keys.iter().filter(|key| !known.contains(*key) && !key.starts_with(THRESHOLDS));
    wrong.extend(missing.map(|key| format!("{key} has no row")));
    wrong.extend(known.iter().filter(|key| !keys.contains(**key)).map(|key| format!("{key} is no key")));
    let twice = known.iter().enumerate().filter(|(at, key)| known[..*at].contains(*key));
    wrong.extend(twice.map(|(_, key)| format!("{key} has two rows")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn are_elsewhere() -> Result<(), Failed> {
    let page = fs::read_to_string(support::repository().join("docs/reference/configuration.md"))?;
    if page.contains("without effect") {
        return Err("the page of settings speaks of one without effect".into());
    }
    for (key, file) in GIVEN_ELSEWHERE {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))?;
        let name = key.rsplit('.').next().unwrap();
        if !text.contains(name) {
            return Err(format!("{file} does not speak of {name}").into());
        }
    }
    Ok(())
}
