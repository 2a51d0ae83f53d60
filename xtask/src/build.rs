//! Building the programs: static where the target can be had, else for the host, said plainly.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{cargo, root, run};

/// What was built.
pub struct Programs {
    /// The small hook.
    pub hook: PathBuf,
    /// The full program.
    pub full: PathBuf,
    /// An empty program built like the hook, to compare with.
    pub empty: PathBuf,
    /// The target that they were built for; `None` is the host.
    pub target: Option<String>,
}

/// A profile of cargo: how much the compiler takes pains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile(String);

impl Profile {
    /// The one that releases are built with.
    pub fn release() -> Self {
        Self("release".to_owned())
    }

    /// The one of this name; cargo says so when there is none.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// As cargo calls it.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The folder below that of the target in which cargo puts the programs: those of `dev` and `test` have another name.
    pub fn folder(&self) -> &str {
        match self.0.as_str() {
            "dev" | "test" => "debug",
            "bench" => "release",
            name => name,
        }
    }
}

/// Builds everything in release mode, in one go, so that what the programs share is built once.
pub fn release() -> Result<Programs, String> {
    with(&Profile::release())
}

/// The same with another profile.
pub fn with(profile: &Profile) -> Result<Programs, String> {
    let target = static_target();
    let mut programs = cargo(&["build", "--profile", profile.name()]);
    programs.args(["--package", "checkrein", "--package", "empty", "--bins"]);
    if let Some(target) = &target {
        programs.args(["--target", target]);
    }
    run(&mut programs)?;
    let directory = match &target {
        Some(target) => target_directory().join(target),
        None => target_directory(),
    }
    .join(profile.folder());
    let built = |name: &str| directory.join(name);
    Ok(Programs { hook: built("checkrein-hook"), full: built("checkrein"), empty: built("empty"), target })
}

/// The folder in which cargo puts what it builds.
pub fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |text| root().join(text))
}

/// The static target of this machine, added when it is missing; `None` when it cannot be had.
pub fn static_target() -> Option<String> {
    if !cfg!(target_os = "linux") {
        eprintln!("note: no static target on this system; the programs are built for the host");
        return None;
    }
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let added = Command::new("rustup")
        .args(["target", "add", &target])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let known = added.is_ok_and(|status| status.success()) || has_library(&target);
    if known {
        return Some(target);
    }
    eprintln!(
        "note: the target {target} cannot be added here, so the programs are built for the host: they work the same, and start slower"
    );
    None
}

/// Whether the compiler has a standard library for the target, however it came there.
fn has_library(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    output.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
