//! Logins that were ended: by whom a browser is left to somebody else, or was opened for one look. A cookie counts by its signature alone, so
//! what ended before its time is kept until that.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use checkrein_files::Forced;
use serde::{Deserialize, Serialize};

use crate::token::TokenDigest;

/// How many are kept (ours): beyond that those go that would end first.
const MOST: usize = 4096;
/// The longest file, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// A login that was ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct EndedLogin {
    /// The digest of its cookie.
    login: String,
    /// When the cookie would have ended by itself, in milliseconds since 1970.
    until: u64,
}

/// The logins that were ended, in a file, so that they are ended for the next server too.
#[derive(Debug)]
pub(super) struct EndedLogins {
    path: PathBuf,
    all: Mutex<HashMap<String, u64>>,
}

impl EndedLogins {
    /// Those that a file tells of. One that cannot be read tells of none.
    pub(super) fn in_file(path: PathBuf) -> Self {
        let text = checkrein_files::read_text(&path, LONGEST).unwrap_or_default();
        let read: Vec<EndedLogin> = serde_json::from_str(&text).unwrap_or_default();
        let all = read.into_iter().map(|one| (one.login, one.until)).collect();
        Self { path, all: Mutex::new(all) }
    }

    /// Whether the login with this cookie was ended.
    pub(super) fn holds(&self, login: TokenDigest) -> bool {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        !all.is_empty() && all.contains_key(&login.signature("ended"))
    }

    /// Ends a login that would end by itself at `until`. It is ended for this server whether it can be written down or not.
    pub(super) fn end(&self, login: TokenDigest, until: u64, now: u64) -> io::Result<()> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, until| now < *until);
        all.insert(login.signature("ended"), until);
        let mut kept: Vec<EndedLogin> =
            all.iter().map(|(login, until)| EndedLogin { login: login.clone(), until: *until }).collect();
        kept.sort_by_key(|one| std::cmp::Reverse(one.until));
        kept.truncate(MOST);
        let text = serde_json::to_vec(&kept).map_err(io::Error::other)?;
        checkrein_files::replace(&self.path, &text, 0o600, Forced::Content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ended_stays_ended_for_the_next_server_until_it_would_end_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ended");
        let one = TokenDigest::of("one");
        let ended = EndedLogins::in_file(path.clone());
        assert!(!ended.holds(one));
        ended.end(one, 100, 1).unwrap();
        assert!(ended.holds(one) && !ended.holds(TokenDigest::of("two")));
        let next = EndedLogins::in_file(path.clone());
        assert!(next.holds(one));
        next.end(TokenDigest::of("two"), 500, 100).unwrap();
        assert!(!EndedLogins::in_file(path).holds(one), "its cookie has ended by itself");
    }
}
