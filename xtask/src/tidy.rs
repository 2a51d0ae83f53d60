//! `tidy`: the conventions of this repository that no compiler knows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::{Outcome, cargo, pages, root};

/// The line of crates: each may use those before it, none behind it.
const LINE: [&str; 31] = [
    "protocol",
    "glob",
    "files",
    "vault",
    "ledger",
    "shell",
    "scripts",
    "catalogue",
    "facts",
    "interpreter",
    "effects",
    "policy",
    "review",
    "patterns",
    "intervention",
    "session",
    "world",
    "snapshot",
    "clients",
    "sandbox",
    "supervise",
    "worktree",
    "engine",
    "gateway",
    "hook",
    "proxies",
    "gates",
    "pipelines",
    "server",
    "cli",
    "checkrein",
];

/// Licences under which a dependency may be used; the same list as in `deny.toml`.
const LICENCES: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "CC0-1.0",
];

/// Words that say that something is not done.
const UNFINISHED: [&str; 4] = ["todo!(", "unimplemented!(", "FIXME", "// XXX"];

/// The names that say nothing about what a file holds.
const EMPTY_NAMES: [&str; 4] = ["utils.rs", "helpers.rs", "common.rs", "manager.rs"];

/// What writes a verdict. Outside the crate that judges, only `Review::escalate` may, which makes it stricter.
const WRITES_A_VERDICT: &str = "verdict.kind = ";

/// No source file is longer than this many lines.
const LONGEST: usize = 800;

/// Checks all conventions and lists every violation.
pub(crate) fn tidy() -> Outcome {
    let mut violations = Vec::new();
    line_of_crates(&mut violations)?;
    sources(&mut violations)?;
    names_of_public_types(&mut violations)?;
    pages::check(&files()?, &LINE, &mut violations)?;
    licences(&mut violations)?;
    if violations.is_empty() {
        Ok(())
    } else {
        Err(format!("{} violations\n  {}", violations.len(), violations.join("\n  ")))
    }
}

/// Nothing points upward.
fn line_of_crates(violations: &mut Vec<String>) -> Outcome {
    for (place, name) in LINE.iter().enumerate() {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let text =
            fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        let dependencies = text.split("[dev-dependencies]").next().unwrap_or_default();
        for later in LINE.iter().skip(place + 1) {
            if dependencies.lines().any(|line| line.starts_with(&format!("checkrein-{later}."))) {
                violations.push(format!("crate `{name}` points upward to `{later}`"));
            }
        }
    }
    Ok(())
}

fn sources(violations: &mut Vec<String>) -> Outcome {
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        walk(&root().join(folder), &mut files)?;
    }
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let shown = file.strip_prefix(root()).unwrap_or(file).display();
        let lines = text.lines().count();
        if lines > LONGEST {
            violations.push(format!("{shown} has {lines} lines: what wants out of it?"));
        }
        if file.file_name().and_then(|name| name.to_str()).is_some_and(|name| EMPTY_NAMES.contains(&name)) {
            violations.push(format!("{shown}: the name says nothing about what it holds"));
        }
        let judges = shown.to_string().starts_with("crates/review/src");
        if !judges && !file.ends_with("tidy.rs") && text.contains(WRITES_A_VERDICT) {
            violations.push(format!("{shown} writes a verdict: `Review::escalate` does"));
        }
        let faults = pages::faults_of_module_table(&text);
        violations.extend(faults.iter().map(|fault| format!("{shown}: the table of modules {fault}")));
        if !file.ends_with("tidy.rs") {
            let found = UNFINISHED.iter().filter(|word| text.contains(**word));
            violations.extend(found.map(|word| format!("{shown} holds `{word}`")));
        }
    }
    Ok(())
}

/// One noun for one thing: no two public types have the same name, so that a search for it finds it.
fn names_of_public_types(violations: &mut Vec<String>) -> Outcome {
    let mut files = Vec::new();
    walk(&root().join("crates"), &mut files)?;
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        if !file.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let shown = file.strip_prefix(root()).unwrap_or(file).display().to_string();
        for name in public_types(&text) {
            places.entry(name.to_owned()).or_default().push(shown.clone());
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    violations.extend(twice.map(|(name, places)| {
        format!("`{name}` is the name of {} public types: {}", places.len(), places.join(", "))
    }));
    Ok(())
}

/// The names of the types that a file makes public: those at its left edge, since modules stand in files of their own.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let declared = line.strip_prefix("pub ")?;
        let named = ["struct ", "enum ", "trait ", "type ", "union "]
            .iter()
            .find_map(|word| declared.strip_prefix(word))?;
        named.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
    })
}

/// The paths of the sources and of what goes with them, from the root.
fn files() -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for folder in ["crates", "examples", "fuzz", "xtask"] {
        walk(&root().join(folder), &mut files)?;
    }
    let from_root = |file: &PathBuf| file.strip_prefix(root()).unwrap_or(file).display().to_string();
    Ok(files.iter().map(from_root).collect())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            walk(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Every dependency has a licence of the list: one of the alternatives of an `OR`, all of an `AND`.
fn licences(violations: &mut Vec<String>) -> Outcome {
    let output = cargo(&["metadata", "--format-version", "1", "--locked"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Json =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut seen = BTreeSet::new();
    for package in metadata.get("packages").and_then(Json::as_array).into_iter().flatten() {
        let field = |name: &str| package.get(name).and_then(Json::as_str).unwrap_or_default();
        let (name, licence) = (field("name"), field("license"));
        if !is_allowed(licence) && seen.insert(name.to_owned()) {
            violations.push(format!("dependency `{name}` has the licence `{licence}`"));
        }
    }
    Ok(())
}

fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let all =
        |alternative: &str| alternative.split(" AND ").all(|licence| LICENCES.contains(&licence.trim()));
    plain.split(" OR ").any(all)
        || plain.split(" AND ").all(|part| part.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_types_are_found_by_name() {
        let text = "pub struct Plain;\npub enum Long<'a> {\n    pub struct_like: u8,\n}\npub(crate) struct Own;\nstruct Hidden;\npub type Short = u8;\n";
        assert_eq!(public_types(text).collect::<Vec<_>>(), ["Plain", "Long", "Short"]);
    }

    #[test]
    fn licences_are_read_as_expressions() {
        assert!(is_allowed("MIT OR Apache-2.0"));
        assert!(is_allowed("GPL-3.0 OR MIT"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_allowed("GPL-3.0"));
        assert!(!is_allowed("MIT AND GPL-3.0"));
        assert!(!is_allowed(""));
    }
}
