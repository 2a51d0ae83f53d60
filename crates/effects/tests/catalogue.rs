//! Every example line of every catalogue file, interpreted in the world that `docs/catalogue.md` describes.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;

use checkrein_effects::predict;
use checkrein_facts::{Entry, FileFacts, GuardedPath, RecordedWorld, VersionState};
use checkrein_protocol::{Action, EffectKind, Severity, Timestamp};
use checkrein_testkit::notation::{expected, notation};
use checkrein_testkit::world::{PROJECT, command, path, project};
use toml::Value as Toml;

/// The tree of `docs/catalogue.md`.
fn world() -> RecordedWorld {
    let mut world = project();
    let files = [
        ("README.md", "hello\n", VersionState::TrackedClean),
        ("notes.txt", "remember\n", VersionState::Untracked),
        ("data.json", "{}\n", VersionState::TrackedClean),
        ("archive.tar.gz", "", VersionState::Untracked),
        ("archive.zip", "", VersionState::Untracked),
        ("script.sh", "rm notes.txt\n", VersionState::TrackedClean),
        ("script.py", "print(1)\n", VersionState::TrackedClean),
        ("src/main.py", "print(2)\n", VersionState::TrackedClean),
        ("src/app.py", "print(3)\n", VersionState::TrackedClean),
        ("build/out.o", "", VersionState::Ignored),
    ];
    for (name, text, version) in files {
        world = world.with_file(&path(name), text, version);
    }
    for name in ["/home/dev/.ssh/id_rsa", "/home/dev/.bashrc", "/etc/hosts", "/etc/passwd"] {
        world = world.with_file(&path(name), "x\n", VersionState::NoRepository);
    }
    for name in ["archive.tar.gz", "archive.zip", "build/out.o"] {
        // Packed and compiled files hold no text.
        let facts = FileFacts { bytes: 4096, mode: 0o644, modified: Timestamp(0) };
        world.entries.insert(path(name), Entry::File(facts));
        world.texts.remove(&path(name));
    }
    world = world.with_directory(&path("/dev"));
    world.entries.insert(path("/dev/sda"), Entry::Special);
    world
}

/// The effects in a form that can be compared: sorted, each once.
fn predicted(text: &str) -> Vec<String> {
    notation(&predict(&command(text), &world()).effects)
}

fn files() -> Vec<(String, Toml)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/catalogue");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            (
                file.file_name().unwrap().to_string_lossy().into_owned(),
                text.parse::<toml::Table>().map(Toml::Table).unwrap(),
            )
        })
        .collect()
}

fn entries<'a>(table: &'a Toml, key: &str) -> &'a [Toml] {
    table.get(key).and_then(Toml::as_array).map_or(&[], Vec::as_slice)
}

fn texts<'a>(table: &'a Toml, key: &str) -> impl Iterator<Item = &'a str> {
    entries(table, key).iter().filter_map(Toml::as_str)
}

/// All examples of an entry and of its subcommands.
fn examples(entry: &Toml) -> Vec<String> {
    let mut all: Vec<String> = texts(entry, "examples").map(str::to_owned).collect();
    for subcommand in entries(entry, "subcommands") {
        all.extend(examples(subcommand));
    }
    all
}

#[test]
fn every_example_comes_out_as_written() {
    let mut wrong = Vec::new();
    let mut count = 0;
    // One file only, while working on it: `CATALOGUE=coreutils cargo test -p checkrein-effects --test catalogue`.
    let only = std::env::var("CATALOGUE").ok();
    for (file, table) in files() {
        if only.as_ref().is_some_and(|only| !file.starts_with(only.as_str())) {
            continue;
        }
        for entry in entries(&table, "program") {
            for example in examples(entry) {
                let (command, effects) =
                    example.trim_end().rsplit_once("=>").expect("the arrow is checked by the build");
                count += 1;
                let (found, wanted) = (predicted(command.trim()), expected(effects));
                if found != wanted {
                    wrong.push(format!(
                        "{file}: {}\n    wanted: {}\n    found:  {}",
                        command.trim(),
                        wanted.join("; "),
                        found.join("; ")
                    ));
                }
            }
        }
    }
    assert!(count > 0, "no example was found");
    assert!(wrong.is_empty(), "{} of {count} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_program_is_described_once() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut twice = Vec::new();
    for (file, table) in files() {
        for entry in entries(&table, "program") {
            for name in texts(entry, "names") {
                if let Some(other) = seen.insert(name.to_owned(), file.clone()) {
                    twice.push(format!("`{name}` in {other} and {file}"));
                }
            }
        }
    }
    assert!(twice.is_empty(), "described twice:\n{}", twice.join("\n"));
}

/// The files and directories of the guard in the world of [`guarded`].
const GUARDED: [&str; 2] = ["/home/dev/.claude/settings.json", "/home/dev/.local/state/checkrein"];

fn guarded() -> RecordedWorld {
    let mut world = world()
        .with_file(&path(GUARDED[0]), "{}", VersionState::NoRepository)
        .with_directory(&path(GUARDED[1]));
    world.place.guarded =
        GUARDED.iter().map(|place| GuardedPath { path: path(place), role: "the guard".to_owned() }).collect();
    world
}

/// One call for each option that an entry, or one of its subcommands, has as the place of a file that it makes, changes or deletes.
fn output_options(entry: &Toml, words: &str, found: &mut Vec<String>) {
    for clause in entries(entry, "effects") {
        let text = |key: &str| clause.get(key).and_then(Toml::as_str).unwrap_or_default();
        if !matches!(text("kind"), "file_create" | "file_modify" | "file_delete") {
            continue;
        }
        let options = text("target")
            .split('|')
            .filter_map(|pick| pick.strip_prefix("option:").or_else(|| pick.strip_prefix("options:")));
        for option in options.flat_map(|names| names.split(',')) {
            let mut call = words.to_owned();
            let conditions = texts(clause, "all").chain(texts(clause, "when").take(1));
            for condition in conditions {
                match condition.split_once('=') {
                    Some((name, _)) if name == option || name == "operands" => {}
                    Some((name, value)) => call.extend([" ", name, " ", &value.replace('*', "x")]),
                    None if condition.starts_with('-') && condition != option => {
                        call.push(' ');
                        call.push_str(condition);
                    }
                    None => {}
                }
            }
            let operands = texts(clause, "when")
                .chain(texts(clause, "all"))
                .find_map(|condition| condition.strip_prefix("operands=").map(|form| form.replace('*', "x")));
            let value = if texts(entry, "attached").any(|name| name == option) { "=@" } else { " @" };
            call.extend([" ", option, value, " ", operands.as_deref().unwrap_or("notes.txt")]);
            found.push(call);
        }
    }
    for subcommand in entries(entry, "subcommands") {
        if let Some(name) = texts(subcommand, "names").next() {
            output_options(subcommand, &format!("{words} {name}"), found);
        }
    }
}

#[test]
fn what_an_option_names_as_its_output_is_never_the_guard() {
    let world = guarded();
    let mut calls = Vec::new();
    for (_, table) in files() {
        for entry in entries(&table, "program") {
            let name = texts(entry, "names").next().unwrap_or_default();
            output_options(entry, name, &mut calls);
        }
    }
    // Whatever the program, and whether or not the entry knows the option.
    for program in ["frobnicate", "ls", "cargo build", "npm test", "pytest", "docker run"] {
        for option in ["--output", "--outDir", "--log-file", "--report", "--save-to", "--trace-output"] {
            calls.push(format!("{program} {option} @"));
            calls.push(format!("{program} {option}=@"));
        }
    }
    assert!(calls.len() > 150, "only {} options of the catalogue write", calls.len());
    let mut missed = Vec::new();
    for call in &calls {
        for place in GUARDED {
            let command = call.replace('@', place);
            let effects = predict(&Action::command(&command, path(PROJECT)), &world).effects;
            let stopped = effects.iter().any(|effect| {
                effect.kind == EffectKind::GuardTampering && effect.severity == Severity::Critical
            });
            if !stopped {
                missed.push(command);
            }
        }
    }
    assert!(missed.is_empty(), "{} of {} pass:\n{}", missed.len(), calls.len(), missed.join("\n"));
}
