//! Who tells people: something that is handed in.

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use checkrein_files::Forced;
use checkrein_protocol::{AbsolutePath, Timestamp};
use serde::{Deserialize, Serialize};

/// The program that sends, beside this one.
const SENDER: &str = "checkrein";

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// `emergency_stop`, `question`, `approval`, `unanswered`, `unreviewed`, `gate` or `test`.
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
}

/// Puts notices down and starts `checkrein notice send`, which sends them.
#[derive(Debug, Default)]
pub struct NotifyingProcess {
    /// The processes that were started; each is waited for once it has ended, so that none of them stays behind.
    started: Mutex<Vec<Child>>,
}

impl Notifier for NotifyingProcess {
    fn notify(&self, notice: &Notice, folder: &Path, program: Option<&Path>) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let name = format!("{}-{}.json", notice.at.0, checkrein_files::aside());
        let text = serde_json::to_vec(notice).map_err(io::Error::other)?;
        checkrein_files::replace(&folder.join(name), &text, 0o600, Forced::Nothing)?;
        let own = program.ok_or_else(|| io::Error::other("this program is not known"))?;
        // A group of its own: what stops the hook or the client does not stop it.
        let child = Command::new(own.with_file_name(SENDER))
            .args(["notice", "send"])
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        started.push(child);
        Ok(())
    }
}
