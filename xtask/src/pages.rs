//! The pages for people name and link to files of this repository: each of them has to be there, and each crate has to stand in the map of the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{Outcome, root};

/// The folders of which a page names what lies in them by its whole path.
const FOLDERS: [&str; 3] = ["crates/", "examples/", "fuzz/"];

/// Names a violation for each file, folder or link of the pages that is not there, and for each of `crates` that the map of the code leaves out.
pub(crate) fn check(files: &[String], crates: &[&str], violations: &mut Vec<String>) -> Outcome {
    let places = places(files);
    for page in generated_pages()? {
        let text = fs::read_to_string(root().join(&page)).map_err(|error| format!("{page}: {error}"))?;
        dead_links(&page, &text, violations);
    }
    for page in pages()? {
        let text = fs::read_to_string(root().join(&page)).map_err(|error| format!("{page}: {error}"))?;
        for (line, named) in names(&text) {
            if !is_there(named, &places) {
                violations.push(format!("{page}:{line} names `{named}`, which is not there"));
            }
        }
        dead_links(&page, &text, violations);
        if page == "ARCHITECTURE.md" {
            let missing = crates.iter().filter(|name| !text.contains(&format!("\n| `{name}` | ")));
            violations.extend(missing.map(|name| format!("{page}: the code map leaves out `{name}`")));
        }
    }
    Ok(())
}

/// Names a violation for each link of a page whose file or heading is not there.
fn dead_links(page: &str, text: &str, violations: &mut Vec<String>) {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    for (line, link) in links(text) {
        let (path, heading) =
            link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
        let (file, folder) = match path.strip_prefix(HOME) {
            Some(path) => (path, Path::new("")),
            None => (path, folder),
        };
        let target = if file.is_empty() { root().join(page) } else { root().join(folder).join(file) };
        let Some(heading) = heading.filter(|_| target.extension().is_some_and(|end| end == "md")) else {
            if !target.exists() {
                violations.push(format!("{page}:{line} links to `{link}`, which is not there"));
            }
            continue;
        };
        let there = fs::read_to_string(&target).unwrap_or_default();
        if !headings(&there).any(|one| one == heading) {
            violations.push(format!("{page}:{line} links to `{link}`, a heading that is not there"));
        }
    }
}

/// The headings of a page in the form that links have: lower case, blanks as dashes, no other signs.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = prose(text).filter(|(_, line)| line.starts_with('#'));
    titles.map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
    })
}

/// What is wrong with the table of modules at the head of a source file: it names each module that the file has, and no other.
pub(crate) fn faults_of_module_table(text: &str) -> Vec<String> {
    let mut rows = text.lines().take_while(|line| line.starts_with("//!")).skip_while(|line| !is_head(line));
    if rows.next().is_none() {
        return Vec::new();
    }
    let cells = rows.take_while(|line| line.starts_with("//! |")).filter_map(|line| line.split('|').nth(1));
    let named: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let modules: BTreeSet<&str> = text.lines().filter_map(declared_module).collect();
    let gone = named.difference(&modules).map(|name| format!("names a module `{name}`, which is not there"));
    let left_out = modules.difference(&named).filter(|name| !name.contains("test"));
    gone.chain(left_out.map(|name| format!("leaves out the module `{name}`"))).collect()
}

fn is_head(line: &str) -> bool {
    line.starts_with("//! | module |")
}

/// The module that a line declares in a file of its own.
fn declared_module(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| rest.trim_start_matches("(crate)").trim_start());
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// The pages at the root and in `docs`. What generated ones name is right by its making, and the changelog tells of files that are gone.
fn pages() -> Result<Vec<String>, String> {
    pages_in(&["", "docs/"])
}

fn generated_pages() -> Result<Vec<String>, String> {
    pages_in(&["docs/reference/"])
}

fn pages_in(folders: &[&str]) -> Result<Vec<String>, String> {
    let mut pages = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let written = names.filter(|name| name.ends_with(".md") && name != "CHANGELOG.md");
        pages.extend(written.map(|name| format!("{folder}{name}")));
    }
    pages.sort();
    Ok(pages)
}

/// Each file and each folder above it, and each end of their paths.
fn places(files: &[String]) -> BTreeSet<&str> {
    let mut places = BTreeSet::new();
    for file in files {
        let mut above = Some(file.as_str());
        while let Some(path) = above {
            let ends = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
            places.extend(ends.chain([path]));
            above = path.rsplit_once('/').map(|(folder, _)| folder);
        }
    }
    places
}

fn is_there(named: &str, places: &BTreeSet<&str>) -> bool {
    places.contains(named.trim_end_matches('/'))
}

/// What stands in back-ticks and names a source file or something in one of the folders, with its line.
fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        quoted.filter(|name| is_name_of_a_file(name)).map(move |name| (number, name))
    })
}

fn is_name_of_a_file(name: &str) -> bool {
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
    let is_source = name.strip_suffix(".rs").is_some_and(|stem| !stem.is_empty());
    is_plain && (is_source || FOLDERS.iter().any(|folder| name.starts_with(folder)))
}

/// Where files outside of `docs` are linked to: pages are read there, and as a site that holds `docs` alone.
const HOME: &str = "https://github.com/checkrein/checkrein/blob/main/";

/// The links to files and headings of this repository, with their line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets
            .filter(|link| !link.is_empty() && (!link.contains("://") || link.starts_with(HOME)))
            .map(move |link| (number, link))
    })
}

/// The lines outside fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((at + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_told_from_other_words() {
        let text = "`risk.rs` and `crates/glob/src/`, not `target/`, `.rs`, `cargo test`\n```sh\n`gone.rs`\n```\n`tests/hook.rs`";
        let named: Vec<_> = names(text).collect();
        assert_eq!(named, [(1, "risk.rs"), (1, "crates/glob/src/"), (5, "tests/hook.rs")]);
    }

    #[test]
    fn a_table_of_modules_names_each_and_no_other() {
        let text = "//! A crate.\n//!\n//! | module | holds |\n//! |---|---|\n//! | `one`, [`two`] | both |\n\nmod one;\npub(crate) mod three;\nmod tests;\n";
        let faults = faults_of_module_table(text);
        assert_eq!(faults, ["names a module `two`, which is not there", "leaves out the module `three`"]);
        assert!(faults_of_module_table("//! A crate without a table.\nmod one;\n").is_empty());
    }

    #[test]
    fn links_leave_out_other_addresses() {
        let text = "[a](docs/a.md#part), [b](https://example.org), [c](#here)";
        assert_eq!(links(text).collect::<Vec<_>>(), [(1, "docs/a.md#part"), (1, "#here")]);
    }

    #[test]
    fn headings_are_named_as_links_name_them() {
        let text = "# What `exec` holds, and why\n```sh\n# no heading\n```\n### checkrein/policy_key/1\n";
        assert_eq!(headings(text).collect::<Vec<_>>(), ["what-exec-holds-and-why", "checkreinpolicy_key1"]);
    }

    #[test]
    fn dead_links_are_named() {
        let mut violations = Vec::new();
        let text = format!(
            "[a](team.md#nowhere) [b](gone.md) [c]({HOME}GONE.md) [d](#what-to-commit) [e]({HOME}README.md#start)"
        );
        dead_links("docs/team.md", &text, &mut violations);
        assert_eq!(violations.len(), 3, "{violations:?}");
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let files = ["crates/glob/src/lib.rs".to_owned()];
        let places = places(&files);
        for named in ["lib.rs", "src/lib.rs", "crates/glob/src/", "glob/src"] {
            assert!(is_there(named, &places), "{named}");
        }
        for named in ["ib.rs", "glob/lib.rs", "crates/glob/tests"] {
            assert!(!is_there(named, &places), "{named}");
        }
    }
}
