//! Compiles `catalogue/*.toml` into one file of encoded entries and a sorted index of names, so that the running
//! program decodes only the entries that a command needs.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use checkrein_catalogue::{Author, Program, SourceFile, SubcommandEntry, WrittenVariable};

/// The families of which the entries and handlers say everything that a program does to files. Every other program runs code that nobody
/// reads here (builds, tests, packages, interpreters), or its entry names only the usual files.
const READ_THROUGH: [&str; 24] = [
    "checkrein",
    "cloud-aws",
    "cloud-azure",
    "cloud-google",
    "cloud-other",
    "coreutils",
    "desktop",
    "duplicates",
    "findutils",
    "git",
    "hosting",
    "kubernetes",
    "network",
    "printing",
    "processes",
    "queues",
    "remote",
    "security",
    "services",
    "shells",
    "text",
    "users",
    "util-linux",
    "wrappers",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=catalogue");
    let mut files: Vec<PathBuf> =
        fs::read_dir("catalogue")?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();

    let mut blob: Vec<u8> = Vec::new();
    let mut index: BTreeMap<String, (u32, u32, bool)> = BTreeMap::new();
    let mut variables: BTreeMap<String, Vec<WrittenVariable>> = BTreeMap::new();
    let mut faults: Vec<String> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let name = file.display().to_string();
        let compiled = SourceFile::parse(&text, &name).and_then(|source| {
            Ok((source.compile(&text, &name, Author::Project)?, source.variables(&text, &name)?))
        });
        let programs = match compiled {
            Ok((programs, more)) => {
                for (program, more) in more {
                    variables.entry(program).or_default().extend(more);
                }
                programs
            }
            Err(fault) => {
                faults.push(fault.to_string());
                continue;
            }
        };
        let family = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_read_through = READ_THROUGH.contains(&family);
        for program in programs {
            let names = program.names.clone();
            let (start, end) = put(program, &mut blob)?;
            for alias in names.iter() {
                index.entry(alias.to_owned()).or_insert((start, end, is_read_through));
            }
        }
    }

    if !faults.is_empty() {
        for fault in faults {
            println!("cargo::error={fault}");
        }
        return Ok(());
    }

    let mut code = String::from("pub(super) static INDEX: &[(&str, u32, u32, bool)] = &[\n");
    for (name, (start, end, is_read_through)) in &index {
        writeln!(code, "    ({name:?}, {start}, {end}, {is_read_through}),")?;
    }
    code.push_str("];\npub(super) static VARIABLES: &[(&str, u32, u32)] = &[\n");
    for (program, rows) in &variables {
        let start = u32::try_from(blob.len())?;
        blob.extend(postcard::to_stdvec(rows)?);
        writeln!(code, "    ({program:?}, {start}, {}),", u32::try_from(blob.len())?)?;
    }
    code.push_str("];\npub(super) static BLOB: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/catalogue.bin\"));\n");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    replace(&out.join("catalogue.bin"), &blob)?;
    replace(&out.join("catalogue_index.rs"), code.as_bytes())?;
    Ok(())
}

/// Writes a file under a new inode: build folders that share theirs through hard links keep each their own catalogue.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let aside = path.with_extension("new");
    fs::write(&aside, content)?;
    fs::rename(aside, path)
}

/// Appends an entry, its subcommands before it, and says where it stands.
fn put(mut program: Program, blob: &mut Vec<u8>) -> Result<(u32, u32), Box<dyn Error>> {
    for subcommand in &mut program.subcommands {
        if let SubcommandEntry::Here(entry) = &subcommand.entry {
            let (start, end) = put(entry.as_ref().clone(), blob)?;
            subcommand.entry = SubcommandEntry::BuiltIn(start, end);
        }
    }
    let start = u32::try_from(blob.len())?;
    blob.extend(postcard::to_stdvec(&program)?);
    Ok((start, u32::try_from(blob.len())?))
}
