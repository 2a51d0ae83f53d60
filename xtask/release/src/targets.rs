//! What Checkrein is built for, and how.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::build::{self, Profile};
use xtask::{cargo, run};

use crate::is_here;

/// A system and a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// As the compiler calls it.
    pub(crate) triple: &'static str,
    /// What it runs on.
    pub(crate) system: System,
    /// The processor as npm calls it.
    pub(crate) npm: &'static str,
    /// Homebrew's block for the processor.
    pub(crate) homebrew: &'static str,
}

/// The systems that there are releases for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// Any Linux, since the programs are static.
    Linux {
        /// The processor as Debian calls it.
        debian: &'static str,
    },
    /// macOS.
    MacOs,
}

impl System {
    /// As npm calls it.
    pub(crate) fn npm(self) -> &'static str {
        match self {
            Self::Linux { .. } => "linux",
            Self::MacOs => "darwin",
        }
    }

    /// Homebrew's block for it.
    pub(crate) fn homebrew(self) -> &'static str {
        match self {
            Self::Linux { .. } => "linux",
            Self::MacOs => "macos",
        }
    }

    fn is_this_one(self) -> bool {
        match self {
            Self::Linux { .. } => cfg!(target_os = "linux"),
            Self::MacOs => cfg!(target_os = "macos"),
        }
    }
}

/// All targets that Checkrein compiles for, that of a usual machine first: its program writes the pages for all.
pub(crate) const TARGETS: [Target; 4] = if cfg!(target_arch = "aarch64") {
    [AARCH64, X86_64, MAC_ARM, MAC_INTEL]
} else {
    [X86_64, AARCH64, MAC_ARM, MAC_INTEL]
};

const X86_64: Target = Target {
    triple: "x86_64-unknown-linux-musl",
    system: System::Linux { debian: "amd64" },
    npm: "x64",
    homebrew: "intel",
};
const AARCH64: Target = Target {
    triple: "aarch64-unknown-linux-musl",
    system: System::Linux { debian: "arm64" },
    npm: "arm64",
    homebrew: "arm",
};
const MAC_ARM: Target =
    Target { triple: "aarch64-apple-darwin", system: System::MacOs, npm: "arm64", homebrew: "arm" };
const MAC_INTEL: Target =
    Target { triple: "x86_64-apple-darwin", system: System::MacOs, npm: "x64", homebrew: "intel" };

/// How what builds for other targets is installed; the workflow of the release does the same.
const CROSS_TOOLS: &str = "pip install ziglang==0.14.1 cargo-zigbuild==0.24.1";

/// The two programs for one target.
pub(crate) struct Programs {
    /// `checkrein`.
    pub(crate) full: PathBuf,
    /// `checkrein-hook`.
    pub(crate) hook: PathBuf,
}

impl Target {
    /// Builds the programs, or takes them from `built`: those for this machine from the folder itself, those for another target from the folder
    /// below it that is called by the target. An error says why there are none.
    pub(crate) fn programs(self, built: Option<&Path>, profile: &Profile) -> Result<Programs, String> {
        match (self.is_of_this_machine(), built) {
            (true, Some(folder)) => Programs::of(folder),
            (true, None) => {
                let programs = build::with(profile)?;
                match programs.target {
                    Some(target) if target == self.triple => {
                        Ok(Programs { full: programs.full, hook: programs.hook })
                    }
                    _ => Err("the target is not installed, and a release is static".to_owned()),
                }
            }
            (false, Some(folder)) if folder.join(self.triple).is_dir() => {
                Programs::of(&folder.join(self.triple))
            }
            (false, _) => self.cross_built(profile),
        }
    }

    /// Whether what is built for it runs here.
    pub(crate) fn is_of_this_machine(self) -> bool {
        self.system.is_this_one() && self.triple.starts_with(std::env::consts::ARCH)
    }

    /// Built by `cargo-zigbuild`, which brings a linker for every target.
    fn cross_built(self, profile: &Profile) -> Result<Programs, String> {
        if !is_here("cargo-zigbuild") {
            return Err(format!("`cargo-zigbuild` is not here: `{CROSS_TOOLS}` brings it"));
        }
        if !is_installed(self.triple) {
            return Err(format!("the target is not installed: `rustup target add {}`", self.triple));
        }
        run(&mut cargo(&[
            "zigbuild",
            "--profile",
            profile.name(),
            "--package",
            "checkrein",
            "--bins",
            "--target",
            self.triple,
        ]))?;
        Programs::of(&build::target_directory().join(self.triple).join(profile.folder()))
    }
}

/// Whether the compiler has the libraries for a target.
fn is_installed(triple: &str) -> bool {
    let found = Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).output();
    found.is_ok_and(|printed| Path::new(String::from_utf8_lossy(&printed.stdout).trim()).is_dir())
}

impl Programs {
    fn of(folder: &Path) -> Result<Self, String> {
        let programs = Self { full: folder.join("checkrein"), hook: folder.join("checkrein-hook") };
        for program in [&programs.full, &programs.hook] {
            if !program.is_file() {
                return Err(format!("{} is not there", program.display()));
            }
        }
        Ok(programs)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_that_are_built_already_are_taken_for_the_target_that_they_are_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = TARGETS.into_iter().find(|target| !target.is_of_this_machine()).expect("another target");
        let place = folder.path().join(other.triple);
        let profile = Profile::release();
        fs::create_dir(&place).expect("a folder");
        let lacking =
            other.programs(Some(folder.path()), &profile).map(|_| ()).expect_err("nothing is there");
        assert!(lacking.contains("is not there"), "{lacking}");
        for name in ["checkrein", "checkrein-hook"] {
            fs::write(place.join(name), name).expect("a file");
        }
        let programs = other.programs(Some(folder.path()), &profile).expect("both are there");
        assert_eq!((programs.full, programs.hook), (place.join("checkrein"), place.join("checkrein-hook")));
    }

    #[test]
    fn the_workflow_installs_what_the_command_names() {
        let workflow = xtask::root().join(".github/workflows/release.yml");
        let text = fs::read_to_string(workflow).expect("the workflow");
        let versions = CROSS_TOOLS.trim_start_matches("pip install ");
        assert!(text.contains(versions), "{versions} is not in the workflow");
    }
}
