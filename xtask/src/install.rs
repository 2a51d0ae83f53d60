//! `install`: from a clone to a guarded project with one command.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, build, root, run};

/// What `install --help` says.
const HELP: &str = "\
Builds checkrein, installs it and guards the project in the current directory.

Usage: install [--user] [--project DIR] [--to DIR]

  --user         guard every project of yours
  --project DIR  guard the project in DIR
  --to DIR       put the programs into DIR (default: ~/.local/bin)

For the whole team run `checkrein init --team` afterwards.";

/// What the arguments ask for.
#[derive(Debug, Default, PartialEq, Eq)]
enum Wish {
    #[default]
    Install,
    Help,
}

/// The arguments, understood.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choices {
    wish: Wish,
    user: bool,
    project: Option<PathBuf>,
    folder: Option<PathBuf>,
}

/// Reads the arguments; an error names the one that is not known or lacks its value.
fn choices(arguments: &[String]) -> Result<Choices, String> {
    let mut choices = Choices::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut directory = || {
            let value = rest.next().filter(|value| !value.starts_with('-'));
            value.map(PathBuf::from).ok_or(format!("`{argument}` needs a directory"))
        };
        match argument.as_str() {
            "-h" | "--help" => choices.wish = Wish::Help,
            "--user" => choices.user = true,
            "--project" => choices.project = Some(directory()?),
            "--to" => choices.folder = Some(directory()?),
            other => return Err(format!("`{other}` is not known\n\n{HELP}")),
        }
    }
    Ok(choices)
}

/// Builds, installs into `~/.local/bin` (or `--to DIR`), wires the project in the current directory (or `--project DIR`; `--user` for
/// all projects), proves it, and shows a recorded session being reviewed.
pub(crate) fn install(arguments: &[String]) -> Outcome {
    let choices = choices(arguments)?;
    if choices.wish == Wish::Help {
        println!("{HELP}");
        return Ok(());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or("`HOME` is not set")?;
    let folder = choices.folder.unwrap_or_else(|| home.join(".local/bin"));
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let project = choices.project.unwrap_or(here);

    println!("building (a few minutes the first time)");
    let programs = build::release()?;
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for program in [&programs.full, &programs.hook] {
        let name = program.file_name().unwrap_or_default();
        let (fresh, place) = (folder.join(".checkrein-new"), folder.join(name));
        // A running hook must never see half a program: copy beside, then rename.
        fs::copy(program, &fresh)
            .and_then(|_| fs::rename(&fresh, &place))
            .map_err(|error| format!("cannot install {}: {error}", place.display()))?;
        println!("installed {}", place.display());
    }
    match &programs.target {
        Some(target) => println!("both are static ({target})"),
        None => println!("both are built for the host, not static"),
    }

    let checkrein = folder.join("checkrein");
    let mut init = Command::new(&checkrein);
    init.current_dir(&project).args(["init", "--yes"]);
    if choices.user {
        init.arg("--user");
    }
    run(&mut init)?;
    println!("\na recorded session, reviewed:");
    run(Command::new(&checkrein)
        .current_dir(&project)
        .arg("replay")
        .arg(root().join("examples/session.jsonl")))?;
    println!("\nthe protection, proved:");
    run(Command::new(&checkrein).current_dir(&project).arg("doctor"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|entry| entry == folder) {
        println!(
            "\nnote: {} is not on PATH; add it to use `checkrein log` and the other commands",
            folder.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Choices, String> {
        choices(&arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_is_built_for_arguments_that_ask_for_something_else() {
        for asking in [&["--help"][..], &["--user", "-h"]] {
            assert_eq!(read(asking).map(|choices| choices.wish), Ok(Wish::Help));
        }
        for wrong in [&["--team"][..], &["--to"], &["--project", "--user"], &["somewhere"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        let both = read(&["--project", "/a", "--to", "/b"]).map(|choices| (choices.project, choices.folder));
        assert_eq!(both, Ok((Some("/a".into()), Some("/b".into()))));
    }
}
