//! `install`: from a clone to a guarded project with one command.

use std::fs;
#[cfg(test)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

    println!("building (about six minutes the first time, on two cores)");
    let programs = build::release()?;
    place(&[&programs.hook, &programs.full], &folder)?;
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

/// Puts programs into a folder: all of them, or none. Each is complete and has run before any takes its place.
fn place(programs: &[&Path], folder: &Path) -> Outcome {
    let told = |what: &str, path: &Path| {
        let (what, path) = (what.to_owned(), path.display().to_string());
        move |error: std::io::Error| format!("cannot {what} {path}: {error}")
    };
    fs::create_dir_all(folder).map_err(told("make", folder))?;
    // Beside them: a rename is whole only within one file system.
    let staged = folder.join(format!(".checkrein-new.{}", std::process::id()));
    fs::create_dir(&staged).map_err(told("make", &staged))?;
    let placed = stage(programs, &staged).and_then(|()| {
        let mut replaced = Vec::new();
        let renamed = programs.iter().try_for_each(|program| {
            let name = program.file_name().unwrap_or_default();
            let (fresh, place) = (staged.join(name), folder.join(name));
            let kept = staged.join("before").join(name);
            if place.exists() {
                fs::copy(&place, &kept).map_err(told("keep", &place))?;
            }
            fs::rename(&fresh, &place).map_err(told("install", &place))?;
            replaced.push((place, kept));
            Ok(())
        });
        renamed.inspect_err(|_: &String| {
            for (place, kept) in &replaced {
                let back = if kept.exists() { fs::rename(kept, place) } else { fs::remove_file(place) };
                if let Err(error) = back {
                    println!("note: {} could not be put back: {error}", place.display());
                }
            }
        })
    });
    drop(fs::remove_dir_all(&staged));
    placed?;
    for program in programs {
        println!("installed {}", folder.join(program.file_name().unwrap_or_default()).display());
    }
    Ok(())
}

/// Copies programs into a folder, and has each say its version there.
fn stage(programs: &[&Path], folder: &Path) -> Outcome {
    fs::create_dir(folder.join("before")).map_err(|error| format!("{}: {error}", folder.display()))?;
    for program in programs {
        let fresh = folder.join(program.file_name().unwrap_or_default());
        fs::copy(program, &fresh).map_err(|error| format!("cannot copy {}: {error}", program.display()))?;
        let said = Command::new(&fresh).arg("--version").stdin(Stdio::null()).output();
        if !said.as_ref().is_ok_and(|said| said.status.success()) {
            return Err(format!("{} does not run here: {said:?}", program.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two programs of which the second may be one that does not run.
    fn programs(folder: &Path, second: &str) -> [PathBuf; 2] {
        fs::create_dir_all(folder).expect("a folder");
        [("checkrein-hook", "exit 0"), ("checkrein", second)].map(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a program");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its rights");
            path
        })
    }

    #[test]
    fn both_programs_are_replaced_or_neither() {
        let home = std::env::temp_dir().join(format!("checkrein-install-{}", std::process::id()));
        let (old, bad, good) = (home.join("bin"), home.join("bad"), home.join("good"));
        let text = |name: &str| fs::read_to_string(old.join(name)).expect("a program");
        programs(&old, "exit 0 # old");
        let [hook, full] = programs(&bad, "exit 1");
        fs::write(&hook, "#!/bin/sh\nexit 0 # new\n").expect("a program");
        let said = place(&[&hook, &full], &old);
        assert!(said.as_ref().is_err_and(|said| said.contains("does not run here")), "{said:?}");
        assert!(text("checkrein").contains("old") && !text("checkrein-hook").contains("new"));
        // A folder in the way of the second: the first comes back.
        let [hook, full] = programs(&good, "exit 0 # new");
        fs::write(&hook, "#!/bin/sh\nexit 0 # new\n").expect("a program");
        fs::remove_file(old.join("checkrein")).expect("gone");
        fs::create_dir_all(old.join("checkrein/kept")).expect("a folder");
        assert!(place(&[&hook, &full], &old).is_err());
        assert!(!text("checkrein-hook").contains("new") && old.join("checkrein/kept").is_dir());
        fs::remove_dir_all(old.join("checkrein")).expect("gone");
        assert_eq!(place(&[&hook, &full], &old), Ok(()));
        assert!(text("checkrein").contains("new") && text("checkrein-hook").contains("new"));
        assert_eq!(fs::read_dir(&old).expect("a folder").count(), 2, "nothing is left behind");
        fs::remove_dir_all(&home).expect("gone");
    }

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
