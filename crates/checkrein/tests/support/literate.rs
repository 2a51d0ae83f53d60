//! The literate cases as data: pages, their blocks, and the world that a `world` block describes (`tests/cases.rs` says how one is written).

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_facts::{
    Committed, Entry, FileText, GuardedPath, GuardedStart, Listing, RecordedWorld, Right, TreeDifference,
    TreeDifferences, VersionState,
};
use checkrein_protocol::{AbsolutePath, Action};
use checkrein_testkit::world::project;

/// All pages below a folder, sorted.
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    find_pages(folder, &mut pages);
    pages.sort();
    pages
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
pub struct Case {
    pub line: usize,
    pub world: String,
    pub action: String,
    pub expected: String,
}

impl Case {
    /// The action, in the workspace of its world.
    pub fn action(&self, world: &RecordedWorld) -> Action {
        let cwd = world.place.workspace.clone();
        if self.action.starts_with('{') {
            let call: serde_json::Value = serde_json::from_str(&self.action).unwrap();
            Action::tool_call(call["tool"].as_str().unwrap_or_default(), call["input"].clone(), cwd)
        } else {
            Action::command(self.action.as_str(), cwd)
        }
    }
}

/// The cases of a page.
pub fn read_page(text: &str) -> Vec<Case> {
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

/// A path of a case: relative to the project, or from `~/` or `/`.
pub fn place(world: &RecordedWorld, text: &str) -> AbsolutePath {
    match text.strip_prefix("~/") {
        Some(rest) => world.place.home.join(rest),
        None if text == "~" => world.place.home.clone(),
        None => world.place.workspace.join(text),
    }
}

/// The world of a case.
pub fn build_world(scene: &str) -> RecordedWorld {
    let root = AbsolutePath::root();
    let mut world = project();
    world.place.temporary.push(root.join("var/tmp"));
    for directory in ["etc", "usr/bin", "bin", "var/log", "dev"] {
        world = world.with_directory(&root.join(directory));
    }
    for line in scene.lines().filter(|line| !line.trim().is_empty()) {
        let (fact, text) = line.split_once("::").unwrap_or((line, ""));
        if fact.trim() == "prompt" {
            world.history.goals.push(text.trim().to_owned());
            continue;
        }
        let (kind, rest) = fact.trim().split_once(' ').unwrap_or_else(|| panic!("no fact: `{line}`"));
        // A file without a text in the scene still holds something that could be lost.
        let text = if text.trim().is_empty() {
            "content\n".to_owned()
        } else {
            text.trim().replace("\\n", "\n").replace("\\0", "\0")
        };
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
            "hooks" => {
                let (program, directory) = rest.split_once(' ').unwrap_or((rest, "/"));
                let directory = place(&world, directory);
                world.guarded_starts.push((program.to_owned(), directory, GuardedStart::Guarded));
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
            "pipe" => {
                world.entries.insert(place(&world, rest), Entry::Special);
                continue;
            }
            "link" => {
                let path = place(&world, rest);
                let leads_to = match text.trim().strip_prefix("~/") {
                    Some(_) => place(&world, text.trim()).as_str().to_owned(),
                    None => text.trim().to_owned(),
                };
                world.entries.insert(path, Entry::Symlink(leads_to));
                continue;
            }
            "made" => {
                let path = place(&world, rest);
                world.history.created.push(path);
                continue;
            }
            "unread" => {
                let path = place(&world, rest);
                world = world.with_file(&path, "content\n", VersionState::TrackedClean);
                world.texts.insert(path, FileText::Unknown);
                continue;
            }
            "long" => {
                // Longer than what is read of a file that is not run.
                let path = place(&world, rest);
                let text = format!("#!/bin/sh\n{}{text}\n", "# a comment\n".repeat(30_000));
                world = world.with_file(&path, &text, VersionState::TrackedClean);
                if let Some(Entry::File(facts)) = world.entries.get_mut(&path) {
                    facts.mode = 0o755;
                }
                continue;
            }
            "beginning" => {
                let path = place(&world, rest);
                world = world.with_file(&path, &text, VersionState::TrackedClean);
                world.texts.insert(path, FileText::Beginning(text));
                continue;
            }
            "closed" => {
                let path = place(&world, rest);
                world = world.with_directory(&path);
                world.denied.push((path, Right::Enter));
                continue;
            }
            "folders" => {
                let path = place(&world, rest);
                for number in 0..300 {
                    for name in ["a.txt", "b.txt"] {
                        let file = path.join(&format!("folder-{number}/{name}"));
                        world = world.with_file(&file, "content\n", VersionState::TrackedClean);
                    }
                }
                continue;
            }
            "leads" => {
                let (from, to) = rest.split_once(' ').unwrap_or_else(|| panic!("no path: `{line}`"));
                let path = place(&world, from);
                let to = place(&world, to).as_str().to_owned();
                world.entries.insert(path, Entry::Symlink(to));
                continue;
            }
            "unlisted" => {
                let path = place(&world, rest);
                world.listings.insert(path, Listing::Unknown);
                continue;
            }
            "archive" => {
                let path = place(&world, rest);
                let names = text.split_whitespace().map(str::to_owned).collect();
                world.archives.insert(path.clone(), Listing::Names(names));
                world = world.with_file(&path, "packed", VersionState::Untracked);
                world.texts.insert(path, FileText::Unknown);
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
                    // What is written as an object of JSON is its own text.
                    if text.trim().starts_with('{') {
                        let whole = FileText::Whole(text.clone());
                        world.committed_texts.push((
                            root.clone(),
                            revision.to_owned(),
                            path.to_owned(),
                            whole,
                        ));
                    }
                    world.commits.push((root, revision.to_owned(), path.to_owned(), held.clone()));
                }
                continue;
            }
            "differs" => {
                let (from, to) = rest.split_once(' ').unwrap_or_else(|| panic!("no two revisions: `{line}`"));
                let from = if from == "index" { "" } else { from };
                let words = || text.split_whitespace().filter(|word| *word != "content");
                // `+name@target` is a symbolic link.
                let links: Vec<(String, String)> = words()
                    .filter_map(|word| word[1..].split_once('@'))
                    .map(|(path, target)| (path.to_owned(), target.to_owned()))
                    .collect();
                let paths = words().map(|word| {
                    let (sign, path) = word.split_at(1);
                    let path = path.split('@').next().unwrap_or(path);
                    let how = match sign {
                        "+" => TreeDifference::Added,
                        "-" => TreeDifference::Removed,
                        "~" => TreeDifference::Changed,
                        _ => panic!("neither `+`, `-` nor `~`: `{line}`"),
                    };
                    (path.to_owned(), how)
                });
                let all = TreeDifferences::At(paths.collect());
                let root = world.place.workspace.clone();
                if !links.is_empty() {
                    world.links_brought.push((root.clone(), from.to_owned(), to.to_owned(), links));
                }
                world.differences.push((root, from.to_owned(), to.to_owned(), all));
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
