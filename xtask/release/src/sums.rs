//! `SHA256SUMS`, in the form that `sha256sum --check` reads.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use xtask::Outcome;

use crate::told;

/// Writes the sums of all files in `folder`.
pub(crate) fn sums(folder: &Path) -> Outcome {
    let mut paths: Vec<_> =
        fs::read_dir(folder).map_err(told(folder))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(text, "{}  {name}", sum(path)?);
    }
    let path = folder.join("SHA256SUMS");
    fs::write(&path, text).map_err(told(&path))
}

/// The SHA-256 of a file, in hexadecimal.
pub(crate) fn sum(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(told(path))?;
    Ok(Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
