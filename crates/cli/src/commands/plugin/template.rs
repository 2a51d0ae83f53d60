//! `checkrein plugin init`: a plugin that works, in Python or Rust, with a test.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use checkrein_engine::error::CommandError;
use checkrein_protocol::{AbsolutePath, PluginKind};
use serde_json::json;

/// In what a plugin is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginLanguage {
    /// Python 3, without packages.
    Python,
    /// Rust, with `serde_json`.
    Rust,
}

impl PluginLanguage {
    /// What a user does next, one step a line.
    pub(super) fn next_steps(self, name: &str) -> Vec<String> {
        let mut steps = vec![format!("cd {name}")];
        match self {
            Self::Python => {}
            Self::Rust => {
                steps.push("cargo install --path . --root .   # puts the program into bin/".to_owned());
            }
        }
        steps.push("checkrein plugin test .".to_owned());
        steps.push("checkrein plugin enable .".to_owned());
        steps
    }
}

/// The parts of a template: what answers one kind of question, and its test.
struct Part {
    kind: PluginKind,
    python: &'static str,
    rust: &'static str,
    test: &'static str,
    network: &'static [&'static str],
}

/// One row for each kind.
const PARTS: [Part; 5] = [
    Part {
        kind: PluginKind::Patterns,
        python: include_str!("template/patterns.py"),
        rust: include_str!("template/patterns.rs.txt"),
        test: include_str!("template/patterns.jsonl"),
        network: &[],
    },
    Part {
        kind: PluginKind::Interventions,
        python: include_str!("template/interventions.py"),
        rust: include_str!("template/interventions.rs.txt"),
        test: include_str!("template/interventions.jsonl"),
        network: &[],
    },
    Part {
        kind: PluginKind::Risk,
        python: include_str!("template/risk.py"),
        rust: include_str!("template/risk.rs.txt"),
        test: include_str!("template/risk.jsonl"),
        network: &[],
    },
    Part {
        kind: PluginKind::Exporter,
        python: include_str!("template/exporter.py"),
        rust: include_str!("template/exporter.rs.txt"),
        test: include_str!("template/exporter.jsonl"),
        network: &["loopback"],
    },
    Part {
        kind: PluginKind::Approvals,
        python: include_str!("template/approvals.py"),
        rust: include_str!("template/approvals.rs.txt"),
        test: include_str!("template/approvals.jsonl"),
        network: &["loopback"],
    },
];

const PYTHON: &str = include_str!("template/main.py");
const RUST: &str = include_str!("template/main.rs.txt");
const CARGO: &str = include_str!("template/Cargo.toml.txt");

/// Writes the files of a plugin into a folder that is not there yet; their names.
pub(super) fn write(
    folder: &AbsolutePath,
    name: &str,
    language: PluginLanguage,
    kinds: &[PluginKind],
) -> Result<Vec<String>, CommandError> {
    let root = Path::new(folder.as_str());
    DirBuilder::new().mode(0o755).create(root).map_err(|error| {
        let mut failure = CommandError::file("make", folder, &error);
        failure.hint.get_or_insert_with(|| "take another name, or another directory".to_owned());
        failure
    })?;
    let mut written = Vec::new();
    for (file, text) in files(name, language, kinds) {
        let path = root.join(&file);
        let failed = |error: std::io::Error| CommandError::file("write", path.display(), &error);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let mut open = options.write(true).create_new(true).mode(0o644).open(&path).map_err(failed)?;
        open.write_all(text.as_bytes()).map_err(failed)?;
        written.push(file);
    }
    Ok(written)
}

/// The files, each with its text.
fn files(name: &str, language: PluginLanguage, kinds: &[PluginKind]) -> Vec<(String, String)> {
    let parts: Vec<&Part> = PARTS.iter().filter(|part| kinds.contains(&part.kind)).collect();
    let names: Vec<&str> = parts.iter().map(|part| part.kind.name()).collect();
    let mut network: Vec<&str> = parts.iter().flat_map(|part| part.network).copied().collect();
    network.dedup();
    let command = match language {
        PluginLanguage::Python => vec!["python3".to_owned(), "plugin.py".to_owned()],
        PluginLanguage::Rust => vec![format!("./bin/{name}")],
    };
    let manifest = json!({
        "name": name,
        "summary": format!("{} for Checkrein", names.join(", ")),
        "command": command,
        "kinds": names,
        "network": network,
    });
    let mut files = vec![("plugin.json".to_owned(), format!("{manifest:#}\n"))];
    let between = match language {
        PluginLanguage::Python => "\n\n\n",
        PluginLanguage::Rust => "\n\n",
    };
    let fill = |text: &str, functions: &[&str], rows: &[String]| {
        text.replace("{NAME}", name)
            .replace(
                "{KINDS}",
                &names.iter().map(|kind| format!("\"{kind}\"")).collect::<Vec<_>>().join(", "),
            )
            .replace(
                "{FUNCTIONS}",
                functions.iter().map(|text| text.trim()).collect::<Vec<_>>().join(between).as_str(),
            )
            .replace("{ROWS}", &rows.join(""))
    };
    match language {
        PluginLanguage::Python => {
            let functions: Vec<&str> = parts.iter().map(|part| part.python).collect();
            let rows: Vec<String> = names.iter().map(|kind| format!("    \"{kind}\": {kind},\n")).collect();
            files.push(("plugin.py".to_owned(), fill(PYTHON, &functions, &rows)));
        }
        PluginLanguage::Rust => {
            let functions: Vec<&str> = parts.iter().map(|part| part.rust).collect();
            let rows: Vec<String> =
                names.iter().map(|kind| format!("        Some(\"{kind}\") => {kind}(request),\n")).collect();
            files.push(("Cargo.toml".to_owned(), CARGO.replace("{NAME}", name)));
            files.push(("src/main.rs".to_owned(), fill(RUST, &functions, &rows)));
        }
    }
    files
        .extend(parts.iter().map(|part| (format!("tests/{}.jsonl", part.kind.name()), part.test.to_owned())));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_part_for_every_kind_and_nothing_is_left_to_fill_in() {
        let kinds: Vec<PluginKind> = PARTS.iter().map(|part| part.kind).collect();
        assert_eq!(kinds, PluginKind::ALL);
        for language in [PluginLanguage::Python, PluginLanguage::Rust] {
            for (file, text) in files("x", language, &PluginKind::ALL) {
                for place in ["{NAME}", "{KINDS}", "{FUNCTIONS}", "{ROWS}"] {
                    assert!(!text.contains(place), "{file}: {place}");
                }
            }
        }
    }
}
