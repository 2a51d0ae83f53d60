//! `check`: everything that must hold before a change goes in; the same here and in continuous integration.

use std::process::{Command, Stdio};

use crate::{Outcome, cargo, root, run, suite, tidy, workbench};

/// Whether a test that this machine cannot run is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those that did not run are named.
    Possible,
    /// All have to run.
    Complete,
}

/// The extent that arguments ask for.
pub(crate) fn extent(arguments: &[String]) -> Result<Extent, String> {
    match arguments {
        [] => Ok(Extent::Possible),
        [option] if option == "--complete" => Ok(Extent::Complete),
        _ => Err("usage: cargo xtask check [--complete]".to_owned()),
    }
}

/// Runs all of it, in the order in which mistakes are cheapest to find.
pub(crate) fn check(extent: Extent) -> Outcome {
    lead_a_session();
    step("format", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("tidy", tidy::tidy)?;
    step("lints", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    macos()?;
    // A workspace of its own, which no other step builds; what both need is built once.
    step("fuzz targets", || {
        run(&mut cargo(&["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target"]))
    })?;
    let not_run = root().join("target/tests-not-run.txt");
    let _ = std::fs::remove_file(&not_run);
    step("tests", || {
        let not_run = not_run.to_string_lossy();
        let told = (checkrein_testkit::NOT_RUN, not_run.as_ref());
        match extent {
            Extent::Possible => suite::suite(&[told]),
            Extent::Complete => suite::suite(&[told, (checkrein_testkit::COMPLETE, "1")]),
        }
    })?;
    let lines = std::fs::read_to_string(&not_run).unwrap_or_default();
    for line in lines.lines() {
        println!("== did NOT run: {line}");
    }
    step("documentation tests", || run(&mut cargo(&["test", "--workspace", "--doc"])))?;
    step("documents", || {
        run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    step("generated pages", || workbench(&[], &["docs", "--fresh"].map(str::to_owned)))?;
    step("pictures", || workbench(&[], &["pictures", "--fresh"].map(str::to_owned)))?;
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
    let began = std::time::Instant::now();
    work().map_err(|cause| format!("{name}: {cause}"))?;
    println!("== {name}: done in {} s", began.elapsed().as_secs());
    Ok(())
}

/// What compiles for macOS, as far as it can be told without one: the programs, not the tests.
fn macos() -> Outcome {
    const TARGET: &str = "aarch64-apple-darwin";
    let printed = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let is_here = printed
        .is_ok_and(|printed| std::path::Path::new(String::from_utf8_lossy(&printed.stdout).trim()).is_dir());
    if !is_here {
        println!("== macOS: NOT linted, the target {TARGET} is not installed");
        return Ok(());
    }
    step("macOS", || {
        let compiler = compiler_for_lints()?;
        run(cargo(&[
            "clippy",
            "--package",
            "checkrein",
            "--package",
            "checkrein-cli",
            "--target",
            TARGET,
            "--",
            "--deny",
            "warnings",
        ])
        .envs([
            ("CC_aarch64_apple_darwin", compiler.as_os_str()),
            ("AR_aarch64_apple_darwin", "ar".as_ref()),
            ("CRATE_CC_NO_DEFAULTS", "1".as_ref()),
        ]))
    })
}

/// What stands for a compiler of C and assembly of another system: the grammars of the gates, SQLite and the cryptography of TLS are written in
/// these. Lints link nothing, so empty objects do. What a compiler is, it is asked for with `-E`.
fn compiler_for_lints() -> Result<std::path::PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    const SCRIPT: &str = r#"#!/bin/sh
case " $* " in *' -E '*) exec cc "$@" ;; esac
for word in "$@"; do
  case $before$word in
    -o*) [ "$before" = -o ] && : > "$word" ;;
    *-Fo*) : > "${word#-Fo}" ;;
  esac
  before=$word
done
exit 0
"#;
    let directory =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), std::path::PathBuf::from);
    let failed = |cause: std::io::Error| format!("the compiler for lints: {cause}");
    std::fs::create_dir_all(&directory).map_err(failed)?;
    let file = directory.join("compiler-for-lints");
    std::fs::write(&file, SCRIPT).map_err(failed)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
    std::fs::canonicalize(&file).map_err(failed)
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
