//! The entries of the catalogue, as far as uses are made of them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use toml::{Table, Value};

/// A program of the catalogue.
#[derive(Debug, Clone)]
pub struct CatalogueEntry {
    /// The family: the name of the file that holds it.
    pub family: String,
    /// Its names.
    pub names: Vec<String>,
    /// The commands of all its examples.
    pub examples: Vec<String>,
    /// The ways to call it: the program itself, and each of its subcommands.
    pub calls: Vec<CallForm>,
}

/// A program, or a subcommand of it.
#[derive(Debug, Clone)]
pub struct CallForm {
    /// The words behind the name that choose the subcommand.
    pub subcommand: Vec<String>,
    /// The options that the entry knows, with values where they take one.
    pub options: BTreeSet<String>,
}

/// Values for an option that takes one: a number, a file that is there, one that is not.
const VALUES: [&str; 3] = ["1", "b.txt", "made.out"];

/// The entries of all files of a folder.
///
/// # Errors
/// When a file cannot be read or is not TOML.
pub fn entries(folder: &Path) -> io::Result<Vec<CatalogueEntry>> {
    let mut files: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let table: Table = fs::read_to_string(&file)?
            .parse()
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        let family = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for program in list(table.get("program")).iter().filter_map(Value::as_table) {
            all.push(entry(&family, program));
        }
    }
    Ok(all)
}

fn entry(family: &str, program: &Table) -> CatalogueEntry {
    let mut read = CatalogueEntry {
        family: family.to_owned(),
        names: texts(program, "names").map(str::to_owned).collect(),
        examples: Vec::new(),
        calls: Vec::new(),
    };
    descend(program, &[], &mut read);
    read
}

fn descend(table: &Table, words: &[String], read: &mut CatalogueEntry) {
    for example in texts(table, "examples") {
        if let Some((command, _)) = example.trim_end().rsplit_once("=>") {
            read.examples.push(command.trim().to_owned());
        }
    }
    let mut options = BTreeSet::new();
    for name in texts(table, "values") {
        options.extend(VALUES.iter().map(|value| with_value(name, value)));
    }
    for name in texts(table, "attached") {
        options.insert(name.to_owned());
        options.insert(if name.starts_with("--") { format!("{name}=1") } else { format!("{name}1") });
    }
    options.extend(texts(table, "flags").map(str::to_owned));
    let runs = match table.get("runs") {
        Some(Value::Array(runs)) => runs.iter().filter_map(Value::as_table).collect(),
        Some(Value::Table(run)) => vec![run],
        _ => Vec::new(),
    };
    let clauses = list(table.get("effects")).iter().filter_map(Value::as_table).chain(runs);
    for clause in clauses {
        for key in ["when", "all", "unless", "recursive"] {
            options.extend(texts(clause, key).filter(|text| text.starts_with('-')).map(conditioned));
        }
    }
    read.calls.push(CallForm { subcommand: words.to_vec(), options });
    for sub in list(table.get("subcommands")).iter().filter_map(Value::as_table) {
        if let Some(name) = texts(sub, "names").next() {
            let words: Vec<String> = words.iter().cloned().chain([name.to_owned()]).collect();
            descend(sub, &words, read);
        }
    }
}

/// The option of a condition: with its value, where it asks for one.
fn conditioned(text: &str) -> String {
    match text.split_once('=') {
        Some((name, value)) => with_value(name, &value.replace('*', "x")),
        None => text.to_owned(),
    }
}

fn with_value(name: &str, value: &str) -> String {
    if name.starts_with("--") { format!("{name}={value}") } else { format!("{name} {value}") }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = &'t str> {
    list(table.get(key)).iter().filter_map(Value::as_str)
}
