//! The record of logins and of what was refused: `server/access.jsonl` in the state directory, one JSON object a line.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use checkrein_ledger::{
    Authentication, AuthenticationAct, AuthenticationResult, StateDirectory, record_authentications,
};
use checkrein_protocol::Timestamp;
use serde::Serialize;

/// How many refusals are written down in a minute (ours); more are counted.
const REFUSALS_A_MINUTE: u64 = 60;
/// The length in bytes at which the file begins anew; the one before stays beside it (ours).
const LONGEST: u64 = 4 * 1024 * 1024;
const MINUTE: u64 = 60_000;

/// What happened at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VisitKind {
    /// A key was taken.
    Login,
    /// A request was refused.
    Refused,
    /// What was shown to get in was refused.
    #[serde(rename = "refused")]
    KeyRefused,
    /// A question was answered by a signed link.
    #[serde(rename = "act")]
    LinkUsed,
    /// A login was ended by who had it.
    Logout,
    /// Something was done by a request.
    Act,
}

/// One line of the file.
#[derive(Debug, Serialize)]
struct Visit<'a> {
    at: Timestamp,
    kind: VisitKind,
    detail: &'a str,
    path: &'a str,
    /// From where, and whose device it was.
    #[serde(skip_serializing_if = "str::is_empty")]
    from: &'a str,
    /// How many refusals before it were not written down.
    #[serde(skip_serializing_if = "is_zero")]
    not_written: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Writes the file. What happened is noted at once, and written by whoever may wait for the disk.
#[derive(Debug)]
pub(crate) struct Visits {
    path: PathBuf,
    recent: Mutex<Recent>,
    /// Where logins go into the ledger of authentications.
    ledger: Option<StateDirectory>,
    /// One writes at a time, so that lines stay in order.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Recent {
    minute: u64,
    refusals: u64,
    not_written: u64,
    /// Lines that are not in the file yet.
    noted: Vec<u8>,
    /// Authentications that are not in the ledger yet.
    authentications: Vec<(Timestamp, Authentication)>,
}

impl Visits {
    /// The record at `path`.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, recent: Mutex::default(), ledger: None, writing: Mutex::default() }
    }

    /// The same, and what of it is an authentication goes into the ledger of these too.
    pub(crate) fn with_ledger(self, home: StateDirectory) -> Self {
        Self { ledger: Some(home), ..self }
    }

    /// The place of another file of the server.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Notes what happened.
    pub(crate) fn note(&self, at: Timestamp, kind: VisitKind, detail: &str, path: &str, from: &str) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.minute != at.0 / MINUTE {
            recent.minute = at.0 / MINUTE;
            recent.refusals = 0;
        }
        if matches!(kind, VisitKind::Refused | VisitKind::KeyRefused) {
            recent.refusals += 1;
            if recent.refusals > REFUSALS_A_MINUTE {
                recent.not_written += 1;
                return;
            }
        }
        let told = match kind {
            VisitKind::Login => Some((AuthenticationAct::Login, AuthenticationResult::Taken)),
            VisitKind::KeyRefused => Some((AuthenticationAct::Login, AuthenticationResult::Refused)),
            VisitKind::Logout => Some((AuthenticationAct::Logout, AuthenticationResult::Taken)),
            VisitKind::LinkUsed => Some((AuthenticationAct::LinkUsed, AuthenticationResult::Taken)),
            VisitKind::Refused | VisitKind::Act => None,
        };
        if let (Some((act, result)), Some(_)) = (told, &self.ledger) {
            let subject = if act == AuthenticationAct::LinkUsed { path } else { "server" };
            recent.authentications.push((
                at,
                Authentication {
                    act,
                    subject: subject.chars().take(200).collect(),
                    by: "visitor".to_owned(),
                    from: from.to_owned(),
                    result,
                    detail: detail.to_owned(),
                },
            ));
        }
        let shown: String = path.chars().take(200).collect();
        let visit = Visit { at, kind, detail, path: &shown, from, not_written: recent.not_written };
        recent.not_written = 0;
        let Ok(line) = serde_json::to_vec(&visit) else { return };
        recent.noted.extend(line);
        recent.noted.push(b'\n');
    }

    /// Whether something is noted that is not in the file yet.
    pub(crate) fn is_behind(&self) -> bool {
        !self.recent.lock().unwrap_or_else(PoisonError::into_inner).noted.is_empty()
    }

    /// Writes what was noted into the file. A disk that is full keeps nobody out.
    pub(crate) fn write(&self) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (lines, authentications) = {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            (std::mem::take(&mut recent.noted), std::mem::take(&mut recent.authentications))
        };
        if lines.is_empty() {
            return;
        }
        if let Some(home) = &self.ledger {
            // The file beside says it too; a disk that is full keeps nobody out.
            drop(record_authentications(home, authentications));
        }
        if std::fs::symlink_metadata(&self.path).is_ok_and(|facts| facts.len() >= LONGEST) {
            drop(std::fs::rename(&self.path, self.path.with_extension("jsonl.1")));
        }
        let wanted = || OpenOptions::new().append(true).create(true).mode(0o600).clone();
        let file = checkrein_files::open_own(&mut wanted(), &self.path).or_else(|error| {
            // What is no file of ours is put away, and not written through: what happened at the door is written down all the same.
            std::fs::remove_file(&self.path).map_err(|_| error)?;
            checkrein_files::open_own(&mut wanted(), &self.path)
        });
        drop(file.and_then(|mut file| file.write_all(&lines)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_through_a_link_or_a_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("access.jsonl"), folder.path().join("other"));
        std::fs::write(&other, "stays").unwrap();
        let visits = Visits::new(path.clone());
        for link in
            [std::os::unix::fs::symlink::<&PathBuf, &PathBuf>, |from, to| std::fs::hard_link(from, to)]
        {
            drop(std::fs::remove_file(&path));
            link(&other, &path).unwrap();
            visits.note(Timestamp(1), VisitKind::Login, "link", "/open", "127.0.0.1");
            visits.write();
            assert_eq!(std::fs::read_to_string(&other).unwrap(), "stays");
            assert!(std::fs::symlink_metadata(&path).unwrap().is_file());
            assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
        }
    }

    // Source: seed 001-71
    #[test]
    fn logins_and_refused_keys_go_into_the_ledger_of_authentications() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().join("state"));
        let visits = Visits::new(folder.path().join("access.jsonl")).with_ledger(home.clone());
        visits.note(Timestamp(1), VisitKind::Login, "password", "/login", "192.0.2.7");
        visits.note(Timestamp(2), VisitKind::KeyRefused, "wrong key", "/v1/sessions", "192.0.2.9");
        visits.note(Timestamp(3), VisitKind::Refused, "no key", "/v1/sessions", "192.0.2.9");
        visits.note(Timestamp(4), VisitKind::LinkUsed, "answered by a link: done", "/answer/a1", "192.0.2.7");
        visits.write();
        let all = checkrein_ledger::authentications(&home).unwrap();
        let told = |one: &checkrein_ledger::RecordedAuthentication| {
            let Authentication { act, from, result, .. } = &one.authentication;
            (act.name(), from.clone(), result.name())
        };
        let expected = [
            ("login", "192.0.2.7".to_owned(), "taken"),
            ("login", "192.0.2.9".to_owned(), "refused"),
            ("link_used", "192.0.2.7".to_owned(), "taken"),
        ];
        assert_eq!(all.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_flood_of_refusals_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.jsonl");
        let visits = Visits::new(path.clone());
        for round in 0..200 {
            visits.note(Timestamp(round), VisitKind::Refused, "no key", "/v1/sessions", "127.0.0.1");
        }
        visits.note(Timestamp(MINUTE), VisitKind::Login, "link", "/open", "127.0.0.1");
        assert!(visits.is_behind() && !path.exists());
        visits.write();
        assert!(!visits.is_behind());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 61);
        assert!(text.lines().last().unwrap().contains("\"not_written\":140"), "{text}");
    }
}
