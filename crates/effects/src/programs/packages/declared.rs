//! Which packages a project names: in its manifests and in its lock files.
//!
//! | file | where a name stands | source |
//! |---|---|---|
//! | `package.json` | a key of its groups of dependencies | docs.npmjs.com, package.json |
//! | `package-lock.json`, `npm-shrinkwrap.json` | a key of `packages`, behind `node_modules/`; its tools are keys of `bin` | docs.npmjs.com, package-lock.json |
//! | `pnpm-lock.yaml`, `yarn.lock`, `bun.lock` | the beginning of a line, before `@` and the version | the files that pnpm 9, yarn 1 and 4, bun 1.2 write |
//! | `uv.lock`, `poetry.lock`, `pdm.lock` | `name = "NAME"` | the files that these write |
//! | `pyproject.toml` | the beginning of a text in quotes, or a key | PEP 508, PEP 621, python-poetry.org |
//! | `requirements*.txt` | the beginning of a line | PEP 508 |

use serde_json::Value as Json;

use super::{manifest, nearest};
use crate::interpreter::Machine;

/// The groups of dependencies of `package.json`.
const GROUPS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/// Lock files in which a line begins with the name of a package.
const BY_LINE: [&str; 3] = ["pnpm-lock.yaml", "yarn.lock", "bun.lock"];
/// Lock files in JSON.
const BY_KEY: [&str; 2] = ["package-lock.json", "npm-shrinkwrap.json"];
/// Lock files of Python.
const BY_NAME: [&str; 3] = ["uv.lock", "poetry.lock", "pdm.lock"];
/// Lists of requirements.
const REQUIREMENTS: [&str; 3] = ["requirements.txt", "requirements-dev.txt", "dev-requirements.txt"];

/// Whether a manifest or a lock file of the project, the nearest of each sort, names a package.
pub(super) fn is_declared(machine: &Machine<'_>, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let text = |file: &str| {
        let (_, text) = nearest(machine, file)?;
        text.as_exact().map(str::to_owned)
    };
    let wanted: Json = nearest(machine, "package.json").map_or(Json::Null, |(_, text)| manifest(&text));
    GROUPS.iter().any(|group| wanted.get(group).and_then(|group| group.get(name)).is_some())
        || BY_KEY.iter().filter_map(|file| text(file)).any(|text| is_locked(&text, name))
        || BY_LINE.iter().filter_map(|file| text(file)).any(|text| begins_a_line(&text, name))
        || BY_NAME.iter().filter_map(|file| text(file)).any(|text| is_named(&text, name))
        || text("pyproject.toml").is_some_and(|text| is_required(&text, name))
        || REQUIREMENTS
            .iter()
            .filter_map(|file| text(file))
            .any(|text| text.lines().any(|line| requires(line.trim(), name)))
}

/// Whether a lock of npm holds a package, or one with a tool of that name.
fn is_locked(text: &str, name: &str) -> bool {
    let Ok(lock) = serde_json::from_str::<Json>(text) else { return false };
    let packages = lock.get("packages").and_then(Json::as_object);
    packages.into_iter().flatten().any(|(place, package)| {
        let held = place.rsplit("node_modules/").next().filter(|_| place.contains("node_modules/"));
        held == Some(name) || package.get("bin").and_then(|bin| bin.get(name)).is_some()
    })
}

/// Whether a line begins with the name and a version: `/name@1.0:`, `"name@^1":`, `"name": ["name@1.0"`.
fn begins_a_line(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '/']);
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('@') || rest.starts_with("\": [\""))
    })
}

/// Whether a lock of Python names a package.
fn is_named(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let value = line.trim().strip_prefix("name = ").map(|value| value.trim_matches(['"', '\'']));
        value.is_some_and(|value| is_same(value, name))
    })
}

/// Whether a manifest of Python requires a package: a text in quotes, or a key with a version.
fn is_required(text: &str, name: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let quoted = line.split(['"', '\'']).skip(1).step_by(2).any(|one| requires(one, name));
        // `name = "x"` is the name of the project itself.
        let is_key = line.split_once('=').is_some_and(|(key, _)| is_same(key.trim(), name));
        quoted && !line.starts_with("name") || is_key
    })
}

/// Whether a requirement is one of this package (PEP 508): its name, then a version, extras, a marker or nothing.
fn requires(requirement: &str, name: &str) -> bool {
    let end = requirement.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
    let (own, rest) = requirement.split_at(end.unwrap_or(requirement.len()));
    !own.is_empty()
        && is_same(own, name)
        && (rest.is_empty()
            || rest.trim_start().starts_with(['=', '<', '>', '~', '!', '[', ';', '@', '#', ',']))
}

/// Whether two names of packages of Python are one (PEP 503).
fn is_same(one: &str, other: &str) -> bool {
    let folded = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
    folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::{begins_a_line, is_locked, is_named, is_required, requires};

    #[test]
    fn names_are_found_where_each_file_has_them() {
        let lock =
            r#"{"packages":{"":{},"node_modules/typescript":{"bin":{"tsc":"x"}},"a/node_modules/@b/c":{}}}"#;
        for name in ["typescript", "tsc", "@b/c"] {
            assert!(is_locked(lock, name), "{name}");
        }
        assert!(!is_locked(lock, "c") && !is_locked(lock, "") && !is_locked("nonsense", "c"));
        for text in
            ["  /vite@5.0.0:", "  vite@5.0.0:", "'vite@5':", "vite@^5, vite@^5.1:", "\"vite\": [\"vite@5\""]
        {
            assert!(begins_a_line(text, "vite") && !begins_a_line(text, "vit"), "{text}");
        }
        assert!(!begins_a_line("vite-node@1:", "vite"));
        assert!(is_named("name = \"black\"", "black") && !is_named("name = \"blacken\"", "black"));
    }

    #[test]
    fn a_requirement_is_of_its_name_alone() {
        for text in ["ruff", "ruff>=0.4", "ruff[x]", "ruff ; python_version>'3'", "Ruff == 1"] {
            assert!(requires(text, "ruff"), "{text}");
        }
        for text in ["ruff-lsp", "", "my ruff", "# ruff"] {
            assert!(!requires(text, "ruff"), "{text}");
        }
        assert!(is_required("dev = [\"ruff\", \"mypy>=1\"]", "mypy"));
        assert!(is_required("ruff = \"^0.4\"", "ruff"));
        assert!(!is_required("name = \"ruff\"", "ruff"));
    }
}
