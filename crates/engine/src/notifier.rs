//! Who tells people: something that is handed in.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use checkrein_files::Forced;
use checkrein_protocol::{AbsolutePath, Timestamp};
use serde::{Deserialize, Serialize};

use crate::beside::ProcessesBeside;

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// `emergency_stop`, `question`, `approval`, `unanswered`, `unreviewed`, `gate`, `spending` or `test`.
    pub event: String,
    /// The session, by the name of its folder.
    pub session: String,
    /// The workspace; its configuration says how people are told.
    pub workspace: AbsolutePath,
    /// When.
    pub at: Timestamp,
    /// In a few words.
    pub title: String,
    /// What happened, and what to do; masked.
    pub text: String,
    /// The report that it is about, by its name: a stop is told of once, whoever decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident: Option<String>,
    /// The question that it is about, where a link may answer it. The link is made when the notice is sent: whoever reads one can answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<NoticeQuestion>,
}

/// What a link to a question is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeQuestion {
    /// The question.
    pub id: String,
    /// The digest of what is shown of it.
    pub shown: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// What brings a notice on its way. It must not keep anybody waiting.
pub trait Notifier: fmt::Debug + Send + Sync {
    /// Brings it on its way. Notices may be put down in `folder`; `program` is this one, when known.
    fn notify(&self, notice: &Notice, folder: &Path, program: Option<&Path>) -> io::Result<()>;

    /// Leaves it in `folder` to who sends what waits: a run whose end also ends whoever would send it from below.
    fn leave(&self, notice: &Notice, folder: &Path) -> io::Result<()> {
        self.notify(notice, folder, None)
    }

    /// Brings on its way what waits in `folder`: who was to send it was ended meanwhile.
    fn send_waiting(&self, folder: &Path, program: Option<&Path>) -> io::Result<()> {
        let _ = (folder, program);
        Ok(())
    }
}

/// The notices that wait in a folder, oldest first.
pub fn waiting(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    paths
}

/// Whether a notice about a report waits in a folder, or is being sent.
pub(crate) fn waits(folder: &Path, incident: &str) -> bool {
    let end = format!("-{incident}.json");
    waiting(folder).iter().any(|path| path.to_string_lossy().ends_with(&end))
}

/// Leaves notices where they wait, for the process that outlives this one: it sends them.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeavingNotices;

impl Notifier for LeavingNotices {
    fn notify(&self, notice: &Notice, folder: &Path, _: Option<&Path>) -> io::Result<()> {
        put_down(notice, folder)
    }
}

fn put_down(notice: &Notice, folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let end = notice.incident.clone().unwrap_or_else(checkrein_files::aside);
    let text = serde_json::to_vec(notice).map_err(io::Error::other)?;
    let path = folder.join(format!("{}-{end}.json", notice.at.0));
    checkrein_files::replace(&path, &text, 0o600, Forced::Nothing)
}

/// Puts notices down and starts `checkrein notice send`, which sends them.
#[derive(Debug, Default)]
pub struct NotifyingProcess {
    beside: ProcessesBeside,
}

impl Notifier for NotifyingProcess {
    fn notify(&self, notice: &Notice, folder: &Path, program: Option<&Path>) -> io::Result<()> {
        put_down(notice, folder)?;
        self.start(program)
    }

    fn leave(&self, notice: &Notice, folder: &Path) -> io::Result<()> {
        put_down(notice, folder)
    }

    fn send_waiting(&self, folder: &Path, program: Option<&Path>) -> io::Result<()> {
        if waiting(folder).is_empty() {
            return Ok(());
        }
        self.start(program)
    }
}

impl NotifyingProcess {
    /// The same whose processes are started so.
    pub(crate) fn new(beside: ProcessesBeside) -> Self {
        Self { beside }
    }

    /// Starts the process that sends what waits.
    fn start(&self, program: Option<&Path>) -> io::Result<()> {
        self.beside.start(program, &["notice", "send"])
    }
}
