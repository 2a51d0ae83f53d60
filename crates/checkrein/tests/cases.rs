//! Runs the literate cases: Markdown pages whose prose says why, whose `sh` blocks are actions, and whose `expect` blocks say what must
//! follow.
//!
//! A `world` block sets the scene for the rest of its page, one fact a line: `tracked PATH`, `modified PATH`, `untracked PATH`, `ignored PATH`,
//! `file PATH` (in no repository), `many PATH` (a directory with more files than are followed one by one), `guarded PATH`, `directory PATH`, `archive PATH :: NAMES`, `committed REVISION PATH :: OBJECT` (`index` for what is staged),
//! `second PATH PATH` (two names of one file), `variable NAME=VALUE`; paths are relative to the project, or begin with `~/` or `/`. Text in the file follows `::`.
//! An `expect` block begins with a verdict; further lines are effects that must be predicted (`kind target [recursive]`), `no KIND` for kinds that must not be,
//! `rule NAME`, and `runs COMMAND` for a rewrite. An action that begins with `{` is a tool call `{"tool": ..., "input": ...}`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_effects::{
    AbsolutePath, Action, Committed, Depth, GuardedPath, Listing, Place, RecordedWorld, VersionState,
};
use checkrein_policy::Policy;
use checkrein_review::{Review, review};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut pages = Vec::new();
    find_pages(Path::new("tests/cases"), &mut pages);
    pages.sort();
    let trials = pages.iter().flat_map(|page| trials_of(page)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn find_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_pages(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// One action with what must follow.
struct Case {
    line: usize,
    world: String,
    action: String,
    expected: String,
}

fn trials_of(page: &Path) -> Vec<Trial> {
    let text = fs::read_to_string(page).unwrap();
    let name = page.strip_prefix("tests/cases").unwrap().display().to_string();
    let cases = read_page(&text);
    assert!(!cases.is_empty(), "{name} holds no case");
    cases
        .into_iter()
        .map(|case| {
            Trial::test(format!("{name}:{}: {}", case.line, first_line(&case.action)), move || run(&case))
        })
        .collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn read_page(text: &str) -> Vec<Case> {
    let (mut cases, mut world, mut action): (Vec<Case>, String, Option<(usize, String)>) =
        (Vec::new(), String::new(), None);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        match kind {
            "world" => world = block,
            "sh" | "json" => action = Some((number + 1, block)),
            "expect" => {
                let (line, action) =
                    action.take().unwrap_or_else(|| panic!("line {number}: `expect` without an action"));
                cases.push(Case { line, world: world.clone(), action, expected: block });
            }
            other => panic!("line {number}: a block of kind `{other}`"),
        }
    }
    cases
}

fn run(case: &Case) -> Result<(), Failed> {
    let world = build_world(&case.world);
    let cwd = world.place.workspace.clone();
    let action = if case.action.starts_with('{') {
        let call: serde_json::Value =
            serde_json::from_str(&case.action).map_err(|error| error.to_string())?;
        Action::tool_call(call["tool"].as_str().unwrap_or_default(), call["input"].clone(), cwd)
    } else {
        Action::command(case.action.as_str(), cwd)
    };
    let review = review(&action, &world, &Policy::default());
    let mut lines = case.expected.lines();
    let verdict = lines.next().ok_or("an empty `expect` block")?;
    let mut misses = Vec::new();
    if review.verdict.kind.name() != verdict {
        misses.push(format!("the verdict is {}", review.verdict.kind.name()));
    }
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let met = match words.as_slice() {
            ["no", kind] => review.side_effects.effects.iter().all(|effect| effect.kind.name() != *kind),
            ["rule", name] => review.rules.iter().any(|finding| finding.rule == *name),
            ["runs", ..] => review
                .rewrite
                .as_ref()
                .is_some_and(|rewrite| Some(rewrite.command.as_str()) == line.strip_prefix("runs ")),
            [kind, target, flags @ ..] => has_effect(&review, &world, kind, target, flags),
            _ => false,
        };
        if !met {
            misses.push(format!("not so: {line}"));
        }
    }
    if misses.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n{}", misses.join("\n"), describe(&review)).into())
    }
}

fn has_effect(review: &Review, world: &RecordedWorld, kind: &str, target: &str, flags: &[&str]) -> bool {
    let wanted = if target.starts_with("./") || target.starts_with("~/") {
        place(world, target).to_string()
    } else {
        target.to_owned()
    };
    review.side_effects.effects.iter().any(|effect| {
        effect.kind.name() == kind
            && (target == "?" || effect.target.text() == Some(wanted.as_str()))
            && (!flags.contains(&"recursive") || effect.depth == Depth::Recursive)
    })
}

fn place(world: &RecordedWorld, text: &str) -> AbsolutePath {
    match text.strip_prefix("~/") {
        Some(rest) => world.place.home.join(rest),
        None => world.place.workspace.join(text),
    }
}

fn describe(review: &Review) -> String {
    let effects: Vec<String> = review
        .side_effects
        .effects
        .iter()
        .map(|e| {
            format!(
                "  {} {} {:?} {:?} {:?} {}",
                e.kind.name(),
                e.target.text().unwrap_or("?"),
                e.certainty,
                e.stake,
                e.severity,
                e.note
            )
        })
        .collect();
    let rules: Vec<String> =
        review.rules.iter().map(|f| format!("  {} {}: {}", f.rule, f.decision.name(), f.reason)).collect();
    format!(
        "risk {} rationality {}\neffects\n{}\nrules\n{}",
        review.risk.score,
        review.rationality.score,
        effects.join("\n"),
        rules.join("\n")
    )
}

fn build_world(scene: &str) -> RecordedWorld {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let root = AbsolutePath::root();
    let place_of = Place {
        home,
        user: Some("dev".to_owned()),
        workspace: workspace.clone(),
        temporary: vec![root.join("tmp"), root.join("var/tmp")],
        guarded: vec![],
        expected: vec![],
    };
    let mut world =
        RecordedWorld::complete(place_of).with_repository(&workspace).with_directory(&root.join("tmp"));
    for directory in ["etc", "usr/bin", "bin", "var/log", "dev"] {
        world = world.with_directory(&root.join(directory));
    }
    for line in scene.lines().filter(|line| !line.trim().is_empty()) {
        let (fact, text) = line.split_once("::").unwrap_or((line, ""));
        let (kind, rest) = fact.trim().split_once(' ').unwrap_or_else(|| panic!("no fact: `{line}`"));
        // A file without a text in the scene still holds something that could be lost.
        let text =
            if text.trim().is_empty() { "content\n".to_owned() } else { text.trim().replace("\\n", "\n") };
        let state = match kind {
            "tracked" => VersionState::TrackedClean,
            "modified" => VersionState::TrackedModified,
            "untracked" => VersionState::Untracked,
            "ignored" => VersionState::Ignored,
            "file" => VersionState::NoRepository,
            "guarded" => {
                let path = place(&world, rest);
                world.place.guarded.push(GuardedPath { path, role: "a guarded path".to_owned() });
                continue;
            }
            "directory" => {
                let path = place(&world, rest);
                world = world.with_directory(&path);
                continue;
            }
            "many" => {
                let path = place(&world, rest);
                for number in 0..600 {
                    let name = format!("file-{number}.txt");
                    world = world.with_file(&path.join(&name), "content\n", VersionState::NoRepository);
                }
                continue;
            }
            "archive" => {
                let path = place(&world, rest);
                let names = text.split_whitespace().map(str::to_owned).collect();
                world.archives.insert(path.clone(), Listing::Names(names));
                world = world.with_file(&path, "packed", VersionState::Untracked);
                continue;
            }
            "committed" => {
                let (revision, path) = rest.split_once(' ').unwrap_or_else(|| panic!("no path: `{line}`"));
                let revision = if revision == "index" { "" } else { revision };
                let held = match text.trim() {
                    "content" => Committed::Nothing,
                    object => Committed::Object(object.to_owned()),
                };
                let root = world.place.workspace.clone();
                for root in [root.clone(), root.join(".git")] {
                    world.commits.push((root, revision.to_owned(), path.to_owned(), held.clone()));
                }
                continue;
            }
            "second" => {
                let (one, other) = rest.split_once(' ').unwrap_or_else(|| panic!("no path: `{line}`"));
                let pair = (place(&world, one), place(&world, other));
                world.same_files.push(pair);
                continue;
            }
            "variable" => {
                let (name, value) = rest.split_once('=').unwrap_or_else(|| panic!("no value: `{line}`"));
                world.variables.insert(name.to_owned(), Some(value.to_owned()));
                continue;
            }
            other => panic!("no fact is called `{other}`"),
        };
        let path = place(&world, rest.trim());
        world = world.with_file(&path, &text, state);
    }
    world
}
