//! The gate of design documents: what can be told without understanding them. Sections, paths, tables, size.

use std::collections::BTreeSet;

use crate::design::{Design, DesignChange, DesignFile, DesignSection};
use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// The fewest words of a document (upstream), and the most (ours).
const WORDS: std::ops::RangeInclusive<usize> = 50..=10_000;

/// How many names like a missing one are told (upstream).
const SIMILAR: usize = 3;

/// The sections that a document needs where nobody says which (ours): each by the words that its heading may have.
const SECTIONS: [&[&str]; 3] = [
    &[
        "context",
        "problem",
        "background",
        "overview",
        "goal",
        "goals",
        "motivation",
        "summary",
        "requirements",
    ],
    &["files", "file", "changes", "design", "implementation", "approach", "solution"],
    &["test", "tests", "testing", "verification", "validation"],
];

/// Examines a document. `paths` are those of all files of the work tree; `sections` are texts that headings must have, in place of the usual.
pub fn examine_design(text: &str, paths: &BTreeSet<String>, sections: &[String]) -> Vec<GateFinding> {
    let design = Design::read(text);
    let mut findings: Vec<GateFinding> = size(text).into_iter().collect();
    findings.extend(missing_sections(text, &design, sections));
    if design.files.is_empty() {
        let words = "no table with a column `File`, and no list below a heading about files";
        let kind = FindingKind::MissingSection;
        findings.push(GateFinding::at(1, kind, FindingWeight::Error, words));
    }
    findings.extend(design.files.iter().filter_map(|file| listed(file, &design.files, paths)));
    findings.extend(named(text, &design, paths));
    findings.extend(tables(&design));
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings
}

fn size(text: &str) -> Option<GateFinding> {
    let words = text.split_whitespace().count();
    let kind = FindingKind::DocumentSize;
    let (weight, words) = match () {
        () if words < *WORDS.start() => {
            (FindingWeight::Error, format!("{words} words, at least {}", WORDS.start()))
        }
        () if words > *WORDS.end() => {
            (FindingWeight::Warning, format!("{words} words, at most {}", WORDS.end()))
        }
        () => return None,
    };
    Some(GateFinding::at(1, kind, weight, &words))
}

fn missing_sections(text: &str, design: &Design, wanted: &[String]) -> Vec<GateFinding> {
    let lines: Vec<&str> = text.lines().collect();
    let has_text = |section: &DesignSection| {
        let below = lines.get(section.line..section.last_line).unwrap_or_default();
        below.iter().any(|line| !line.trim().is_empty() && !line.starts_with('#'))
    };
    let mut findings = Vec::new();
    let mut require = |name: &str, fits: &dyn Fn(&str) -> bool| {
        let found: Vec<&DesignSection> =
            design.sections.iter().filter(|section| fits(&section.title.to_lowercase())).collect();
        let (line, words) = match found.first() {
            None => (1, format!("no heading has {name}")),
            Some(first) if !found.iter().any(|section| has_text(section)) => {
                (first.line, format!("`{}` is empty", first.title))
            }
            Some(_) => return,
        };
        findings.push(GateFinding::at(line, FindingKind::MissingSection, FindingWeight::Error, &words));
    };
    if wanted.is_empty() {
        for words in SECTIONS {
            let name = words.iter().take(3).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
            require(&name, &|title| {
                title.split(|sign: char| !sign.is_alphanumeric()).any(|word| words.contains(&word))
            });
        }
    }
    for one in wanted {
        let lower = one.to_lowercase();
        require(&format!("`{one}`"), &|title| title.contains(&lower));
    }
    findings
}

/// Whether what a design lists fits the work tree.
fn listed(file: &DesignFile, all: &[DesignFile], paths: &BTreeSet<String>) -> Option<GateFinding> {
    let path = file.path.trim_end_matches('/');
    if path.contains('*') {
        return None;
    }
    let is_folder = |folder: &str| {
        let below = format!("{folder}/");
        folder.is_empty()
            || paths.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
            || all.iter().any(|other| other.path.strip_suffix("/**") == Some(folder))
    };
    let is_there = paths.contains(path) || is_folder(path);
    let parent = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let words = match file.change {
        DesignChange::Changed | DesignChange::Removed if !is_there => {
            format!("`{path}` is not there{}", similar(path, paths))
        }
        DesignChange::Added if path.starts_with('/') || path.split('/').any(|part| part == "..") => {
            format!("`{path}` leads out of the work tree")
        }
        DesignChange::Added if paths.contains(path) => {
            format!("`{path}` is to be added and is there already")
        }
        DesignChange::Added if !is_folder(parent) => {
            let all = "is not there, and no line adds it";
            format!("the folder `{parent}` of `{path}` {all}")
        }
        DesignChange::Unsaid if !is_there && !is_folder(parent) => {
            format!("`{path}` is not there, nor is its folder{}", similar(path, paths))
        }
        DesignChange::Added | DesignChange::Changed | DesignChange::Removed | DesignChange::Unsaid => {
            return None;
        }
    };
    Some(GateFinding::at(file.line, FindingKind::MissingPath, FindingWeight::Error, &words))
}

/// Paths that have the name of a missing one, or one that begins like it.
fn similar(path: &str, paths: &BTreeSet<String>) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let wanted = name(path);
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let same: Vec<&String> = paths.iter().filter(|other| name(other) == wanted).take(SIMILAR).collect();
    let near = paths.iter().filter(|other| {
        let (one, other) = (stem(&wanted), stem(&name(other)));
        one.len() > 2
            && other.len() > 2
            && one != other
            && (one.starts_with(&other) || other.starts_with(&one))
    });
    let mut found = same;
    found.extend(near);
    let found: Vec<String> = found.into_iter().take(SIMILAR).map(|path| format!("`{path}`")).collect();
    if found.is_empty() { String::new() } else { format!("; there is {}", found.join(", ")) }
}

/// Paths in code signs that are neither there nor listed.
fn named(text: &str, design: &Design, paths: &BTreeSet<String>) -> Vec<GateFinding> {
    let mut findings = Vec::new();
    let mut told: BTreeSet<&str> = design.files.iter().map(|file| file.path.as_str()).collect();
    let is_done = |line: usize| {
        let title = |section: &&DesignSection| section.title.to_lowercase().contains("definition of done");
        let mut about = design.sections.iter().filter(title);
        about.any(|section| (section.line..=section.last_line).contains(&line))
    };
    let lines: BTreeSet<usize> = design.prose.iter().copied().collect();
    for (number, line) in (1..).zip(text.lines()).filter(|(number, _)| lines.contains(number)) {
        for span in line.split('`').skip(1).step_by(2) {
            let path = span.trim_start_matches("./");
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_path = path.contains('/')
                && name.contains('.')
                && !name.starts_with('.')
                && path.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_./".contains(sign))
                && !path.starts_with('/');
            if !is_path || paths.contains(path) || told.contains(path) {
                continue;
            }
            told.insert(path);
            let weight = if is_done(number) { FindingWeight::Error } else { FindingWeight::Warning };
            let words = format!("`{path}` is not there and not listed{}", similar(path, paths));
            findings.push(GateFinding::at(number, FindingKind::MissingPath, weight, &words));
        }
    }
    findings
}

fn tables(design: &Design) -> Vec<GateFinding> {
    let broken = |line: usize, words: &str| {
        GateFinding::at(line, FindingKind::BrokenTable, FindingWeight::Error, words)
    };
    let mut findings = Vec::new();
    for table in &design.tables {
        if !table.is_ruled {
            findings.push(broken(table.line, "no line of dashes follows the head of the table"));
            continue;
        }
        let width = table.head.len();
        for (line, cells) in table.rows.iter().filter(|(_, cells)| cells.len() != width) {
            findings.push(broken(*line, &format!("{} cells in a table of {width}", cells.len())));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# 12 - Load settings\n\n## Context\n\nSettings are read from the environment alone, and users ask for a file that holds them, so that they can be kept beside the \
        code and looked at in review. A file that cannot be read is an error.\n\n## Files\n\n| File | Change |\n|---|---|\n| `src/load.rs` | Add |\n| `src/main.rs` | Modify |\n\n\
        ## Tests\n\nEach form of the file is read by a test in `tests/load.rs`, and one that is broken is refused with the number of its line.\n";

    fn paths() -> BTreeSet<String> {
        ["src/main.rs", "src/settings.rs", "tests/load.rs"].map(str::to_owned).into()
    }

    fn found(text: &str, sections: &[&str]) -> Vec<String> {
        let sections: Vec<String> = sections.iter().map(|name| (*name).to_owned()).collect();
        let findings = examine_design(text, &paths(), &sections);
        findings
            .iter()
            .map(|one| format!("{} {} {}: {}", one.line, one.weight.name(), one.kind, one.text))
            .collect()
    }

    #[test]
    fn a_good_document_passes() {
        assert_eq!(found(GOOD, &[]), Vec::<String>::new());
        assert_eq!(found(GOOD, &["load settings", "Context"]), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_is_told() {
        assert_eq!(found(GOOD, &["Rollback"]), ["1 error missing_section: no heading has `Rollback`"]);
        let empty = GOOD.replace("Each form of the file is read by a test in `tests/load.rs`, and one that is broken is refused with the number of its line.\n", "");
        assert_eq!(found(&empty, &[]), ["14 error missing_section: `Tests` is empty"]);
        let short = found("# A\n", &[]);
        assert_eq!(short.len(), 5, "{short:?}");
        assert!(short.iter().any(|one| one.contains("document_size: 2 words, at least 50")), "{short:?}");
    }

    // Source: seed 004-41
    #[test]
    fn paths_must_fit_the_work_tree() {
        let change = |from: &str, to: &str| found(&GOOD.replace(from, to), &[]);
        assert_eq!(
            change("`src/main.rs`", "`src/setting.rs`"),
            ["12 error missing_path: `src/setting.rs` is not there; there is `src/settings.rs`"]
        );
        assert_eq!(
            change("`src/load.rs`", "`lib/load.rs`"),
            ["11 error missing_path: the folder `lib` of `lib/load.rs` is not there, and no line adds it"]
        );
        assert_eq!(
            change("`src/load.rs`", "`src/settings.rs`"),
            ["11 error missing_path: `src/settings.rs` is to be added and is there already"]
        );
        assert_eq!(
            change("`src/load.rs`", "`../load.rs`"),
            ["11 error missing_path: `../load.rs` leads out of the work tree"]
        );
        assert_eq!(
            change("`tests/load.rs`", "`tests/lod.rs`"),
            ["16 warning missing_path: `tests/lod.rs` is not there and not listed"]
        );
        let done = format!("{GOOD}\n## Definition of Done\n\n- `docs/load.md` says how\n");
        assert_eq!(found(&done, &[]), ["20 error missing_path: `docs/load.md` is not there and not listed"]);
    }

    #[test]
    fn tables_must_be_well_formed() {
        let change = |from: &str, to: &str| found(&GOOD.replace(from, to), &[]);
        assert_eq!(
            change("| `src/main.rs` | Modify |", "| `src/main.rs` | Modify | more |"),
            ["12 error broken_table: 3 cells in a table of 2"]
        );
        assert_eq!(
            change("|---|---|\n", "")[0],
            "9 error broken_table: no line of dashes follows the head of the table"
        );
    }
}
