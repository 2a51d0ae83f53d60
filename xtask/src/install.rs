//! `install`: from a clone to a guarded project with one command.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, build, root, run};

/// Builds, installs into `~/.local/bin` (or `--to DIR`), wires the project in the current directory (or `--project DIR`; `--user` for
/// all projects), proves it, and shows a recorded session being reviewed.
pub(crate) fn install(arguments: &[String]) -> Outcome {
    let value =
        |name: &str| arguments.iter().position(|text| text == name).and_then(|at| arguments.get(at + 1));
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or("`HOME` is not set")?;
    let folder = value("--to").map_or_else(|| home.join(".local/bin"), PathBuf::from);
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let project = value("--project").map_or(here, PathBuf::from);

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
    if arguments.iter().any(|text| text == "--user") {
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
