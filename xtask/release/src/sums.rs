//! `SHA256SUMS`, in the form that `sha256sum --check` reads.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use xtask::Outcome;

use crate::{folder, told};

/// Writes the sums of all files in a folder that are published.
pub(crate) fn sums(place: &Path) -> Outcome {
    let mut paths: Vec<_> =
        fs::read_dir(place).map_err(told(place))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == folder::MARK {
            continue;
        }
        let _ = writeln!(text, "{}  {name}", sum(path)?);
    }
    let path = place.join("SHA256SUMS");
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
