//! Literate cases: every page in `tests/language/` describes a small world and then commands with the effects that they have.
//!
//! A page begins with a fenced `world` block, one fact a line:
//!
//! ```text
//! repository /home/dev/proj
//! file src/main.rs
//! file run.sh = rm -rf build\n
//! program .git/hooks/pre-commit = make lint\n
//! directory dist
//! link current -> releases/1
//! variable STAGE=production
//! ```
//!
//! The home directory is `/home/dev`, the working directory `/home/dev/proj`; what is not listed is not there. Then follows, under
//! a heading each, a fenced `sh` block and a fenced `effects` block with lines `kind target [recursive] [possible]`. The order does
//! not matter. `file_read` and `process_spawn` are not compared. Targets are written as `testkit`'s
//! notation does: from the working directory or `~/`, and left out where they are not known.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_effects::predict;
use checkrein_facts::{Entry, RecordedWorld, VersionState};
use checkrein_testkit::notation::{effect_text, notation};
use checkrein_testkit::world::{bare, command as in_project, path};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut pages: Vec<PathBuf> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    let trials = pages.iter().flat_map(|page| trials(page)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// One fenced block with the heading above it.
struct Fence {
    heading: String,
    language: String,
    text: String,
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut heading = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut heading);
        } else if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(Fence {
                heading: heading.clone(),
                language: language.to_owned(),
                text: body.join("\n"),
            });
        }
    }
    found
}

fn trials(page: &Path) -> Vec<Trial> {
    let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
    let text = fs::read_to_string(page).unwrap();
    let mut world = world("");
    let mut command: Option<String> = None;
    let mut trials = Vec::new();
    for (index, fence) in fences(&text).into_iter().enumerate() {
        match fence.language.as_str() {
            "world" => world = self::world(&fence.text),
            "sh" => {
                assert!(
                    command.is_none(),
                    "{name}: the command before `{}` has no effects block",
                    fence.heading
                );
                command = Some(fence.text);
            }
            "effects" => {
                let command = command.take().unwrap_or_else(|| panic!("{name}: effects without a command"));
                let world = world.clone();
                let title = format!("{name}::{}::{index}", fence.heading);
                trials.push(Trial::test(title, move || check(&command, &world, &fence.text)));
            }
            other => panic!("{name}: unknown fence `{other}`"),
        }
    }
    trials
}

fn world(facts: &str) -> RecordedWorld {
    let mut world = bare();
    for line in facts.lines().filter(|line| !line.trim().is_empty()) {
        let (kind, rest) = line.split_once(' ').unwrap();
        world = match kind {
            "repository" => world.with_repository(&path(rest)),
            "directory" => world.with_directory(&path(rest)),
            "file" => {
                let (file, text) = rest.split_once(" = ").unwrap_or((rest, "x\\n"));
                world.with_file(&path(file), &text.replace("\\n", "\n"), VersionState::TrackedClean)
            }
            "program" => {
                let (file, text) = rest.split_once(" = ").unwrap();
                world.with_program(&path(file), &text.replace("\\n", "\n"))
            }
            "link" => {
                let (link, target) = rest.split_once(" -> ").unwrap();
                world = world.with_directory(&path(link).parent().unwrap());
                world.entries.insert(path(link), Entry::Symlink(target.to_owned()));
                world
            }
            "unlisted" => {
                world = world.with_directory(&path(rest));
                world.listings.insert(path(rest), checkrein_facts::Listing::Unknown);
                world
            }
            "variable" => {
                let (name, value) = rest.split_once('=').unwrap();
                world.variables.insert(name.to_owned(), Some(value.to_owned()));
                world
            }
            other => panic!("unknown fact `{other}`"),
        };
    }
    world
}

fn check(command: &str, world: &RecordedWorld, expected: &str) -> Result<(), Failed> {
    let prediction = predict(&in_project(command), world);
    let found = notation(&prediction.effects);
    let mut wanted: Vec<String> =
        expected.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    wanted.sort();
    wanted.dedup();
    if found == wanted {
        return Ok(());
    }
    let notes: Vec<String> = prediction
        .effects
        .iter()
        .map(|effect| format!("{} ({}; {})", effect_text(effect), effect.cause, effect.note))
        .collect();
    Err(format!(
        "of `{command}`\nexpected:\n  {}\nfound:\n  {}\nproblems: {:?}",
        wanted.join("\n  "),
        notes.join("\n  "),
        prediction.problems
    )
    .into())
}
