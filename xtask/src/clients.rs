//! `clients`: the real clients for the end-to-end tests, in an ignored folder.

use std::fs;
use std::process::Command;

use crate::{Outcome, root, run};

/// The package of Claude Code, in the version whose behaviour is written down and tested.
const CLAUDE: &str = "@anthropic-ai/claude-code@2.1.197";

/// Installs the clients into `.clients`. Does nothing when they are there.
pub(crate) fn clients() -> Outcome {
    let folder = root().join(".clients");
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == CLAUDE) {
        return Ok(());
    }
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    println!("installing {CLAUDE} into {}", folder.display());
    let mut npm = Command::new("npm");
    npm.current_dir(&folder).args([
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        ".",
        CLAUDE,
    ]);
    run(&mut npm)?;
    fs::write(&stamp, CLAUDE).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}
