//! `cargo xtask release`: every file that a release consists of, each tried in a home of its own before it counts as made.
//!
//! | module | makes |
//! |---|---|
//! | [`folder`] | the folder for all of them, and takes away those of an earlier release |
//! | [`targets`] | the programs |
//! | [`contents`] | the pages, completions and licences that every package holds beside the programs |
//! | [`archive`] | `checkrein-VERSION-TARGET.tar.gz` |
//! | [`system_packages`] | the packages for Debian and for Fedora |
//! | [`npm`] | the packages for npm, so that `npx checkrein init` works |
//! | [`formula`] | the formula for Homebrew |
//! | [`bill`] | the bill of materials (CycloneDX) |
//! | [`sums`] | `SHA256SUMS` |
//! | [`vsix`] | the extension for VS Code |
//! | [`trial`] | nothing: it installs what the others made, and proves that it guards |

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the user who runs it")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod archive;
mod bill;
mod contents;
mod folder;
mod formula;
mod npm;
mod sums;
mod system_packages;
mod targets;
mod trial;
mod vsix;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use contents::Contents;
use targets::TARGETS;
use trial::Trial;
use xtask::build::Profile;
use xtask::{Outcome, root};

const USAGE: &str = "usage: cargo xtask release [--dry-run [--profile NAME]] [--to DIR] [--programs DIR]

  --dry-run       make and try everything, whatever this checkout is; without it, HEAD must be clean and carry the tag of the version
  --profile NAME  build with this profile of cargo, such as `dev`: quick to build, and not to be published (default: release)
  --to DIR        put the files into DIR (default: target/release-files), which is new, empty, or that of an earlier release
  --programs DIR  take the programs for this machine from DIR, built already, and those for another target from DIR/TARGET where that is";

/// What the release is made of and for.
struct Release {
    version: String,
    /// When the newest commit was made, in seconds since 1970: what is packed carries it, so that the same commit makes the same bytes.
    time: u64,
    folder: PathBuf,
}

/// What became of one file of the release.
enum Made {
    /// It is there, and was tried so.
    File(PathBuf, Trial),
    /// It is not there, and why.
    Missing(String, String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::ended(release(&arguments))
}

fn release(arguments: &[String]) -> Outcome {
    let choices = Choices::read(arguments)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    if choices.kind == Kind::Real {
        is_tagged(&version)?;
    }
    let time = output(Command::new("git").current_dir(root()).args(["log", "-1", "--format=%ct"]))?;
    let time = time.trim().parse().map_err(|error| format!("the time of the commit: {error}"))?;
    let release = Release { version, time, folder: choices.folder };
    folder::prepare(&release.folder)?;

    let mut made = Vec::new();
    let mut archives = Vec::new();
    let mut platforms = Vec::new();
    // The first is that of this machine: its program writes the pages for all.
    let mut pages = None;
    for target in TARGETS {
        println!("== {}", target.triple);
        let programs = match target.programs(choices.programs.as_deref(), &choices.profile) {
            Ok(programs) => programs,
            Err(cause) => {
                if choices.kind == Kind::Real {
                    return Err(format!("{}: {cause}; a release has all targets", target.triple));
                }
                made.push(Made::Missing(target.triple.to_owned(), cause));
                continue;
            }
        };
        if pages.is_none() {
            pages = Some(contents::pages(&programs)?);
        }
        let contents = Contents::new(&programs, pages.as_deref().unwrap_or_default())?;
        let archive = archive::archive(&release, target, &contents)?;
        made.push(Made::File(archive.clone(), trial::archive(target, &archive)));
        archives.push((target, archive));
        made.extend(system_packages::all(&release, target, &contents)?);
        platforms.push(npm::platform(&release, target, &contents)?);
    }
    if archives.is_empty() {
        return Err("for no target could a program be built".to_owned());
    }
    let launcher = npm::launcher(&release)?;
    let proof = trial::npm(&platforms, &launcher);
    made.extend(platforms.into_iter().map(|package| Made::File(package, proof.clone())));
    made.push(Made::File(launcher, proof));
    let formula = formula::formula(&release, &archives)?;
    made.push(Made::File(formula, Trial::NotTried("there is no Homebrew here".to_owned())));
    let extension = vsix::extension(&release)?;
    made.push(Made::File(extension, Trial::NotTried("there is no VS Code here".to_owned())));
    let bill = bill::bill(&release)?;
    made.push(Made::File(bill, Trial::NotTried("it is a list".to_owned())));
    let installer = release.folder.join("install.sh");
    fs::copy(root().join("packaging/install.sh"), &installer).map_err(told(&installer))?;
    sums::sums(&release.folder)?;
    // It checks the sums, so it comes last.
    let proof = trial::installer(&installer, &release.folder);
    made.push(Made::File(installer, proof));
    let outcome = tell(&made, choices.kind);
    if choices.profile != Profile::release() {
        println!(
            "\nbuilt with the profile `{}`: the packages are whole, the programs larger and slower than those of a release",
            choices.profile.name()
        );
    }
    outcome
}

/// Says what was made and tried; an error when something that was tried did not guard, and when something is missing that would be published.
fn tell(made: &[Made], kind: Kind) -> Outcome {
    let mut failed = Vec::new();
    println!();
    for one in made {
        match one {
            Made::File(path, trial) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let length = fs::metadata(path).map_or(0, |data| data.len());
                println!("{name:<48} {length:>10} bytes  {trial}");
                if let Trial::Failed(cause) = trial {
                    failed.push(format!("{name}: {cause}"));
                }
            }
            Made::Missing(name, cause) => {
                println!("{name:<48} NOT MADE: {cause}");
                if kind == Kind::Real {
                    failed.push(format!("{name} was not made: {cause}"));
                }
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Whether anything is meant to be published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Real,
    DryRun,
}

/// The arguments, understood.
#[derive(Debug, PartialEq, Eq)]
struct Choices {
    kind: Kind,
    folder: PathBuf,
    programs: Option<PathBuf>,
    profile: Profile,
}

impl Choices {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let folder = xtask::build::target_directory().join("release-files");
        let mut choices = Self { kind: Kind::Real, folder, programs: None, profile: Profile::release() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match (argument.as_str(), &mut rest) {
                ("--dry-run", _) => choices.kind = Kind::DryRun,
                ("--to", rest) => choices.folder = rest.next().map(PathBuf::from).ok_or(USAGE)?,
                ("--programs", rest) => {
                    choices.programs = Some(rest.next().map(PathBuf::from).ok_or(USAGE)?);
                }
                ("--profile", rest) => {
                    choices.profile = Profile::named(rest.next().ok_or(USAGE)?);
                }
                _ => return Err(USAGE.to_owned()),
            }
        }
        if choices.kind == Kind::Real && choices.profile != Profile::release() {
            return Err(format!(
                "what is published is built with the profile `release`; `{}` is for `--dry-run`",
                choices.profile.name()
            ));
        }
        Ok(choices)
    }
}

/// An error unless HEAD carries the tag of the version, and nothing was changed since.
fn is_tagged(version: &str) -> Outcome {
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(root()).args(arguments));
    if !git(&["status", "--porcelain"])?.is_empty() {
        return Err(
            "there are changes that are not committed; `--dry-run` makes the files all the same".into()
        );
    }
    let wanted = format!("v{version}");
    if git(&["tag", "--points-at", "HEAD"])?.lines().any(|tag| tag == wanted) {
        Ok(())
    } else {
        Err(format!("HEAD does not carry the tag {wanted}; `--dry-run` makes the files all the same"))
    }
}

/// What a command prints; an error names it when it fails.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let cause = String::from_utf8_lossy(&output.stderr);
        Err(format!("{command:?} ended with {}: {}", output.status, cause.trim()))
    }
}

/// The error of a file, told with its name.
fn told(path: &Path) -> impl Fn(std::io::Error) -> String + use<> {
    let path = path.to_owned();
    move |error| format!("{}: {error}", path.display())
}

/// Writes a file with its rights, and the folders above it.
fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, bytes));
    written.and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(mode))).map_err(told(path))
}

/// Whether a program can be started here.
fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Choices, String> {
        Choices::read(&arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_is_known_is_taken() {
        assert_eq!(read(&["--dry-run"]).map(|choices| choices.kind), Ok(Kind::DryRun));
        assert_eq!(read(&["--to", "x"]).map(|choices| choices.folder), Ok("x".into()));
        assert_eq!(read(&[]).map(|choices| choices.kind), Ok(Kind::Real));
        let quick = read(&["--profile", "dev", "--dry-run"]).map(|choices| choices.profile);
        assert_eq!(quick, Ok(Profile::named("dev")));
        let published = read(&["--profile", "dev"]).unwrap_err();
        assert!(published.contains("what is published is built with the profile `release`"), "{published}");
        for wrong in [&["--to"][..], &["--profile"], &["--publish"], &["x"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_release_that_lacks_something_is_none_and_a_dry_run_says_so() {
        let missing = || Made::Missing("x86_64-apple-darwin".to_owned(), "it cannot be linked".to_owned());
        assert_eq!(tell(&[missing()], Kind::DryRun), Ok(()));
        let said = tell(&[missing()], Kind::Real).unwrap_err();
        assert!(said.contains("x86_64-apple-darwin was not made"), "{said}");
    }
}
