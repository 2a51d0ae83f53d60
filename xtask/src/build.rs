//! Building the programs: the hook static where the target can be had, else for the host, said plainly.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{cargo, root, run};

/// What was built.
pub(crate) struct Programs {
    /// The small hook.
    pub(crate) hook: PathBuf,
    /// The full program.
    pub(crate) full: PathBuf,
    /// An empty program built like the hook, to compare with.
    pub(crate) empty: PathBuf,
    /// The target that the hook was built for; `None` is the host.
    pub(crate) target: Option<String>,
}

/// Builds everything in release mode.
pub(crate) fn release() -> Result<Programs, String> {
    let target = static_target();
    let mut hook = cargo(&["build", "--release", "--package", "checkrein", "--bin", "checkrein-hook"]);
    let mut empty = cargo(&["build", "--release", "--package", "empty"]);
    for command in [&mut hook, &mut empty] {
        if let Some(target) = &target {
            command.args(["--target", target]);
        }
        run(command)?;
    }
    run(&mut cargo(&["build", "--release", "--package", "checkrein", "--bin", "checkrein"]))?;
    let directory = target_directory();
    let small = match &target {
        Some(target) => directory.join(target).join("release"),
        None => directory.join("release"),
    };
    Ok(Programs {
        hook: small.join("checkrein-hook"),
        empty: small.join("empty"),
        full: directory.join("release/checkrein"),
        target,
    })
}

/// The folder in which cargo puts what it builds.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |text| root().join(text))
}

/// The static target of this machine, added when it is missing; `None` when it cannot be had.
pub(crate) fn static_target() -> Option<String> {
    if !cfg!(target_os = "linux") {
        eprintln!("note: no static target on this system; the hook is built for the host");
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
        "note: the target {target} cannot be added here, so the hook is built for the host: it works the same, and starts slower"
    );
    None
}

/// Whether the compiler has a standard library for the target, however it came there.
fn has_library(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    output.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
