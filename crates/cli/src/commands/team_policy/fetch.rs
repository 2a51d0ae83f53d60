//! The text at a place: a path, or an address that nobody can change on the way.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use checkrein_engine::error::CommandError;
use checkrein_engine::text::plain;

/// How long `curl` may take, in seconds (ours).
const LONGEST: &str = "30";

/// Reads a file, or has `curl` fetch an address: over TLS alone, also where the server sends us on, without the settings of the user, and
/// within bounds of time and length.
pub(super) fn fetch(place: &str) -> Result<String, CommandError> {
    if !place.contains("://") {
        return read(Path::new(place));
    }
    let hint = "nothing was changed; an address begins with https://, and `curl` fetches it";
    if !place.starts_with("https://") {
        return Err(CommandError::user(
            format!("{place} is not fetched: it could be changed on the way"),
            hint,
        ));
    }
    let largest = checkrein_files::SMALL;
    // `-q` counts as the first argument only.
    let started = Command::new("curl")
        .args(["-q", "--proto", "=https", "--proto-redir", "=https", "--max-redirs", "5", "--tlsv1.2"])
        .args(["--fail", "--silent", "--show-error", "--location", "--connect-timeout", "15"])
        .args(["--max-time", LONGEST, "--max-filesize", &largest.to_string(), "--", place])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut curl =
        started.map_err(|error| CommandError::user(format!("cannot start `curl`: {error}"), hint))?;
    // A server that does not say how much it sends is bounded here.
    let body = bounded(&mut curl, largest);
    let why = curl.stderr.take().map(|errors| {
        let mut text = String::new();
        drop(errors.take(4096).read_to_string(&mut text));
        plain(text.trim())
    });
    let ended = curl.wait().map_err(|error| CommandError::user(format!("`curl`: {error}"), hint))?;
    let Some(body) =
        body.map_err(|error| CommandError::user(format!("cannot fetch {place}: {error}"), hint))?
    else {
        return Err(CommandError::user(
            format!("{place} is larger than {largest} bytes, so it is not a policy"),
            "nothing was changed",
        ));
    };
    if !ended.success() {
        return Err(CommandError::user(format!("cannot fetch {place}: {}", why.unwrap_or_default()), hint));
    }
    String::from_utf8(body)
        .map_err(|_| CommandError::user(format!("{place} is not text"), "nothing was changed"))
}

/// What a process writes; `None`, and the process is ended, where that is more than `largest` bytes.
fn bounded(child: &mut Child, largest: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(largest + 1).read_to_end(&mut body)?;
    }
    if u64::try_from(body.len()).unwrap_or(u64::MAX) > largest {
        child.kill()?;
        return Ok(None);
    }
    Ok(Some(body))
}

/// The text of a file, within the length of a policy.
pub(super) fn read(path: &Path) -> Result<String, CommandError> {
    checkrein_files::read_text(path, checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", path.display(), &error))
}
