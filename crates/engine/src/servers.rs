//! The servers of a state directory that answer now. Each says where in a file that it holds locked as long as it answers.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use checkrein_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use crate::environment::HostEnvironment;
use crate::held_file::{holder, is_left_behind, locked, stored};

/// The greatest number of files that are looked at (ours).
const MOST: usize = 64;

/// A server that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweringServer {
    /// Where: `http://127.0.0.1:PORT`, or `unix:PATH`.
    pub url: String,
    /// The number of its process.
    pub process: i32,
    /// When it began.
    pub since: Timestamp,
}

/// That a server answers; it is taken back when this is dropped, and when the process ends in whatever way.
#[derive(Debug)]
pub struct AnnouncedServer {
    path: PathBuf,
    _lock: File,
}

impl Drop for AnnouncedServer {
    fn drop(&mut self) {
        // What stays is held by nobody, and goes with the next announcement.
        drop(fs::remove_file(&self.path));
    }
}

/// Says that this process answers at `url`.
///
/// # Errors
///
/// The file cannot be written.
pub fn announce(environment: &HostEnvironment, url: &str) -> io::Result<AnnouncedServer> {
    let folder = folder(environment);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    clear_away(environment)?;
    let process = i32::try_from(std::process::id()).unwrap_or_default();
    let server = AnsweringServer { url: url.to_owned(), process, since: environment.now() };
    let path = folder.join(format!("{process}.json"));
    let text = serde_json::to_vec(&server).map_err(io::Error::other)?;
    let lock = locked(&path, &text, |fresh, path| fs::rename(fresh, path))?;
    Ok(AnnouncedServer { path, _lock: lock })
}

/// The servers that answer, the newest first. Not for a process that announced one: looking would give up its lock.
pub fn answering(environment: &HostEnvironment) -> Vec<AnsweringServer> {
    let mut found: Vec<AnsweringServer> = paths(environment)
        .into_iter()
        .filter_map(|path| {
            let server: AnsweringServer = stored(&path)?;
            (holder(&path) == Some(server.process)).then_some(server)
        })
        .collect();
    found.sort_by_key(|server| std::cmp::Reverse(server.since));
    found
}

/// Removes what servers that were killed left behind. One that answers in this process is left alone without a look.
fn clear_away(environment: &HostEnvironment) -> io::Result<()> {
    let own = format!("{}.json", std::process::id());
    let now = environment.now().0;
    for entry in fs::read_dir(folder(environment))?.flatten() {
        if is_left_behind(&entry.path(), now) {
            drop(fs::remove_file(entry.path()));
        }
    }
    for path in paths(environment) {
        let is_own = path.file_name().is_some_and(|name| name.to_str() == Some(&own));
        if !is_own && holder(&path).is_none() {
            drop(fs::remove_file(path));
        }
    }
    Ok(())
}

fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join("server/running")
}

fn paths(environment: &HostEnvironment) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(environment)).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    entries.map(|entry| entry.path()).filter(is_ours).take(MOST).collect()
}
