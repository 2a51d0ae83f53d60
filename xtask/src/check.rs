//! `check`: everything that must hold before a change goes in; the same here and in continuous integration.

use std::process::{Command, Stdio};

use crate::{Outcome, cargo, docs, run, tidy};

/// Runs all of it, in the order in which mistakes are cheapest to find.
pub(crate) fn check() -> Outcome {
    lead_a_session();
    step("format", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("tidy", tidy::tidy)?;
    step("lints", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    step("tests", || run(&mut cargo(&["test", "--workspace", "--all-targets"])))?;
    step("documentation tests", || run(&mut cargo(&["test", "--workspace", "--doc"])))?;
    step("documents", || {
        run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    step("generated pages", docs::are_fresh)?;
    dependencies()
}

/// Commands for people ask who started them. Where the first process of a machine started us without a terminal, as services of continuous
/// integration do, that cannot be told from a process that left its line; below a session of our own it can. With a terminal nothing changes.
fn lead_a_session() {
    if std::fs::File::open("/dev/tty").is_err() {
        let _ = rustix::process::setsid();
    }
}

fn step(name: &str, work: impl FnOnce() -> Outcome) -> Outcome {
    println!("== {name}");
    work().map_err(|cause| format!("{name}: {cause}"))
}

/// Licences are checked from the manifests by `tidy`; advisories need `cargo-deny` and its database.
fn dependencies() -> Outcome {
    let found = Command::new("cargo")
        .args(["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return step("dependencies", || run(&mut cargo(&["deny", "check"])));
    }
    println!("== dependencies: advisories were NOT checked, cargo-deny is not installed");
    Ok(())
}
