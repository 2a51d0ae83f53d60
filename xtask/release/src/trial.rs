//! What was made, installed as a user would into a home that holds nothing else, and asked to guard a project there.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::targets::Target;
use crate::{is_here, output};

/// How a file of the release was tried.
#[derive(Debug, Clone)]
pub(crate) enum Trial {
    /// It was installed, and what it installs guards a project.
    Guards,
    /// It was installed or started, and failed.
    Failed(String),
    /// It was not tried, and why.
    NotTried(String),
}

impl fmt::Display for Trial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guards => formatter.write_str("installed, guards a project"),
            Self::Failed(cause) => write!(formatter, "FAILED: {cause}"),
            Self::NotTried(cause) => write!(formatter, "not tried: {cause}"),
        }
    }
}

impl From<Result<(), String>> for Trial {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Guards)
    }
}

/// The archive: unpacked into a folder, as people do by hand.
pub(crate) fn archive(target: Target, archive: &Path) -> Trial {
    here_alone(target, |home| {
        let programs = home.join("programs");
        fs::create_dir(&programs).map_err(|error| error.to_string())?;
        output(
            Command::new("tar")
                .args(["xzf"])
                .arg(archive)
                .args(["--strip-components=1", "-C"])
                .arg(&programs),
        )?;
        guards(home, &programs.join("checkrein"))
    })
}

/// The package for Debian: unpacked, since installing would change this machine.
pub(crate) fn debian(target: Target, package: &Path) -> Trial {
    here_alone(target, |home| {
        let system = home.join("system");
        output(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&system))?;
        guards(home, &system.join("usr/bin/checkrein"))
    })
}

/// The package for Fedora: installed below a folder, without its data base.
pub(crate) fn fedora(target: Target, package: &Path) -> Trial {
    // `rpm2cpio` comes with `rpm`, and has no option that only asks for it.
    if !is_here("rpm") || !is_here("cpio") {
        return Trial::NotTried("`rpm` and `cpio`, which unpack it, are not here".to_owned());
    }
    here_alone(target, |home| {
        let unpack = "rpm2cpio \"$1\" | (cd \"$2\" && cpio --quiet --no-absolute-filenames -idm)";
        output(Command::new("sh").args(["-c", unpack, "sh"]).arg(package).arg(home))?;
        guards(home, &home.join("usr/bin/checkrein"))
    })
}

/// The packages for npm: installed without a registry, then `npx checkrein init` in a project.
pub(crate) fn npm(platforms: &[PathBuf], launcher: &Path) -> Trial {
    in_a_home(|home| {
        let place = home.join("tools");
        fs::create_dir(&place).map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.env("HOME", home).args([
            "install",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--silent",
            "--prefix",
        ]);
        npm.arg(&place).args(platforms.iter().take(1)).arg(launcher);
        output(&mut npm)?;
        guards(home, &place.join("node_modules/.bin/checkrein"))?;
        let installed = home.join(".local/bin/checkrein-hook");
        if installed.is_file() { Ok(()) } else { Err(format!("{} is missing", installed.display())) }
    })
}

/// The installer for shells: pointed at the folder of the release, once as it is, and once with a changed archive, which it must refuse.
pub(crate) fn installer(installer: &Path, folder: &Path) -> Trial {
    in_a_home(|home| {
        let install = |from: &Path| {
            let mut sh = Command::new("sh");
            sh.env("HOME", home).env_remove("XDG_BIN_HOME").arg(installer).arg("--from").arg(from);
            output(&mut sh)
        };
        let changed = home.join("changed");
        output(Command::new("cp").arg("-r").arg(folder).arg(&changed))?;
        for entry in fs::read_dir(&changed).map_err(|error| error.to_string())?.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "gz") {
                fs::write(entry.path(), "not what was summed").map_err(|error| error.to_string())?;
            }
        }
        if install(&changed).is_ok() || home.join(".local/bin/checkrein").exists() {
            return Err("it installs an archive whose sum is wrong".to_owned());
        }
        install(folder)?;
        guards(home, &home.join(".local/bin/checkrein"))
    })
}

/// What only runs on the machine that it is made for.
fn here_alone(target: Target, attempt: impl FnOnce(&Path) -> Result<(), String>) -> Trial {
    if target.is_of_this_machine() {
        in_a_home(attempt)
    } else {
        Trial::NotTried("made for another machine".to_owned())
    }
}

fn in_a_home(attempt: impl FnOnce(&Path) -> Result<(), String>) -> Trial {
    tempfile::tempdir().map_err(|error| error.to_string()).and_then(|home| attempt(home.path())).into()
}

/// Whether a new user's first commands do what the page to read first says.
fn guards(home: &Path, checkrein: &Path) -> Result<(), String> {
    let project = home.join("project");
    fs::create_dir_all(project.join(".git")).map_err(|error| error.to_string())?;
    output(Command::new("git").args(["init", "--quiet"]).arg(&project))?;
    let started = |arguments: &[&str]| {
        let mut command = Command::new(checkrein);
        command.current_dir(&project).env("HOME", home).args(arguments);
        for name in
            ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"]
        {
            command.env_remove(name);
        }
        command
    };
    let version = output(&mut started(&["--version"]))?;
    if !version.contains(env!("CARGO_PKG_VERSION")) {
        return Err(format!("it says that it is {}", version.trim()));
    }
    output(&mut started(&["init", "--yes"]))?;
    output(&mut started(&["doctor"]))?;
    let refused = started(&["check", "rm -rf ~"]).output().map_err(|error| error.to_string())?;
    match refused.status.code() {
        Some(2) => Ok(()),
        status => Err(format!("`check 'rm -rf ~'` ended with {status:?}")),
    }
}

#[cfg(test)]
mod tests {
    use checkrein_testkit::not_run;

    use super::*;
    use crate::contents::{Contents, Entry, EntryKind};
    use crate::targets::TARGETS;
    use crate::{Release, archive, is_here, npm, sums};

    /// Answers like the program as far as a trial asks; `refuses` is what it ends `check` with.
    fn contents(refuses: u8) -> Contents {
        let script = format!(
            "#!/bin/sh\ncase $1 in --version) echo \"${{0##*/}} {}\" ;; check) exit {refuses} ;; esac\n",
            env!("CARGO_PKG_VERSION")
        );
        let program = |name: &str| Entry {
            name: name.to_owned(),
            bytes: script.clone().into_bytes(),
            kind: EntryKind::Program,
        };
        Contents { entries: vec![program("checkrein"), program("checkrein-hook")] }
    }

    fn release(folder: &Path) -> Release {
        let folder = folder.join("files");
        fs::create_dir(&folder).expect("a folder");
        Release { version: env!("CARGO_PKG_VERSION").to_owned(), time: 1_700_000_000, folder }
    }

    #[test]
    fn the_installer_puts_in_place_what_has_the_right_sum_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let release = release(folder.path());
        for target in TARGETS {
            archive::archive(&release, target, &contents(2)).expect("an archive");
        }
        let again = tempfile::tempdir().expect("a folder");
        let second = super::tests::release(again.path());
        let [first_bytes, second_bytes] = [&release, &second].map(|one| {
            let path = archive::archive(one, TARGETS[0], &contents(2)).expect("an archive");
            fs::read(path).expect("its bytes")
        });
        assert!(first_bytes == second_bytes, "the same contents make the same archive");
        sums::sums(&release.folder).expect("the sums");
        let installer = xtask::root().join("packaging/install.sh");
        let trial = super::installer(&installer, &release.folder);
        assert!(matches!(trial, Trial::Guards), "{trial}");
    }

    #[test]
    fn a_program_that_lets_a_home_go_fails_its_trial() {
        let folder = tempfile::tempdir().expect("a folder");
        let release = release(folder.path());
        let path = archive::archive(&release, TARGETS[0], &contents(0)).expect("an archive");
        let trial = super::archive(TARGETS[0], &path);
        assert!(matches!(&trial, Trial::Failed(cause) if cause.contains("rm -rf ~")), "{trial}");
    }

    #[test]
    fn the_packages_for_npm_install_without_a_registry_and_leave_the_programs_in_the_home() {
        if !is_here("npm") {
            return not_run("npm is not here");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let release = release(folder.path());
        let platform = npm::platform(&release, TARGETS[0], &contents(2)).expect("a package");
        let launcher = npm::launcher(&release).expect("a package");
        let trial = super::npm(&[platform], &launcher);
        assert!(matches!(trial, Trial::Guards), "{trial}");
    }
}
