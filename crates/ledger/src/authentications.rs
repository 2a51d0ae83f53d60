//! Who showed what to get in: a chained record of its own beside those of sessions, since a login belongs to none (seed 001).
//!
//! It names credentials and never holds one, so it stays in the clear: it can be written while the keys of the records are locked.
//! What is older than records are kept goes from its beginning, with a record of it among the removals.

use checkrein_protocol::{RecordBody, Timestamp};
use checkrein_vault::Vault;
use serde::{Deserialize, Serialize};

use crate::error::LedgerError;
use crate::ledger_file::LedgerFile;
use crate::mask::mask_body;
use crate::read::lines;
use crate::side_chain::SideChain;
use crate::state_directory::StateDirectory;

/// The name under which its heads are kept; no session has such a folder name.
pub(crate) const AUTHENTICATIONS_NAME: &str = ".authentications";

/// Their name in the record of removals.
pub(crate) const STORE: &str = "authentications";

/// The name of its records.
const EVENT: &str = "authentication";

/// What was done with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticationAct {
    /// A credential was given to an agent, or shown to a provider.
    CredentialUsed,
    /// A credential was kept.
    CredentialKept,
    /// A credential was shown to a person.
    CredentialShown,
    /// A credential was deleted.
    CredentialDeleted,
    /// Somebody logged in to the server, or was refused there.
    Login,
    /// A login was ended.
    Logout,
    /// A question was answered by a signed link.
    LinkUsed,
    /// A key of the records was taken out of the keyring.
    KeyUnlocked,
}

impl AuthenticationAct {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::CredentialUsed => "credential_used",
            Self::CredentialKept => "credential_kept",
            Self::CredentialShown => "credential_shown",
            Self::CredentialDeleted => "credential_deleted",
            Self::Login => "login",
            Self::Logout => "logout",
            Self::LinkUsed => "link_used",
            Self::KeyUnlocked => "key_unlocked",
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticationResult {
    /// It was taken.
    Taken,
    /// It was refused.
    Refused,
}

impl AuthenticationResult {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Refused => "refused",
        }
    }
}

/// One authentication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// What was done.
    pub act: AuthenticationAct,
    /// With what, by name: a credential, a key, a kind of login.
    pub subject: String,
    /// By whom: `person`, `agent`, `reviewer NAME`.
    pub by: String,
    /// From where: a terminal, an address, a run.
    pub from: String,
    /// What came of it.
    pub result: AuthenticationResult,
    /// What else is known, such as why it was refused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// An authentication as it stands in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAuthentication {
    /// The number of the record.
    pub record: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub authentication: Authentication,
}

/// Writes one down, durably.
///
/// # Errors
///
/// The file cannot be written or locked.
pub fn record_authentication(
    home: &StateDirectory,
    at: Timestamp,
    authentication: Authentication,
) -> Result<(), LedgerError> {
    record_authentications(home, vec![(at, authentication)])
}

/// Writes several down, with one wait for the disk.
///
/// # Errors
///
/// The file cannot be written or locked.
pub fn record_authentications(
    home: &StateDirectory,
    all: Vec<(Timestamp, Authentication)>,
) -> Result<(), LedgerError> {
    if all.is_empty() {
        return Ok(());
    }
    let key = home.mask_key()?;
    let mut bodies = Vec::new();
    for (at, authentication) in all {
        let fields = serde_json::to_value(authentication).map_err(LedgerError::Encode)?;
        let mut body = RecordBody::Event { name: EVENT.to_owned(), fields };
        mask_body(&mut body, &key);
        bodies.push((at, body));
    }
    chain(home, &Vault::default()).append(home, bodies)
}

/// The chain that they stand in.
pub(crate) fn chain<'a>(home: &StateDirectory, vault: &'a Vault) -> SideChain<'a> {
    SideChain { path: home.authentications(), name: AUTHENTICATIONS_NAME, vault }
}

/// All of them, oldest first; lines that are none are left out, and are for the verifier to tell.
///
/// # Errors
///
/// The file cannot be read.
pub fn authentications(home: &StateDirectory) -> Result<Vec<RecordedAuthentication>, LedgerError> {
    let path = home.authentications();
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for line in lines(&LedgerFile::without_keys(path))? {
        let Some(record) = line?.record else { continue };
        let RecordBody::Event { name, fields } = record.body else { continue };
        if let (EVENT, Ok(authentication)) = (name.as_str(), serde_json::from_value(fields)) {
            found.push(RecordedAuthentication { record: record.seq, at: record.at, authentication });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side_chain::{old_beginnings, remove_beginnings};
    use crate::verify::verify_all;

    fn one(subject: &str, result: AuthenticationResult) -> Authentication {
        Authentication {
            act: AuthenticationAct::CredentialUsed,
            subject: subject.to_owned(),
            by: "agent".to_owned(),
            from: "run 1".to_owned(),
            result,
            detail: String::new(),
        }
    }

    // Source: seed 001-71
    #[test]
    fn each_authentication_is_one_record_of_a_chain_that_shows_what_was_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().to_owned());
        record_authentication(&home, Timestamp(1), one("first", AuthenticationResult::Taken)).unwrap();
        let two = ["second", "third"].map(|name| (Timestamp(2), one(name, AuthenticationResult::Refused)));
        record_authentications(&home, two.to_vec()).unwrap();
        let all = authentications(&home).unwrap();
        let subjects: Vec<&str> = all.iter().map(|one| one.authentication.subject.as_str()).collect();
        assert_eq!(subjects, ["first", "second", "third"]);
        assert_eq!(all.iter().map(|one| one.record).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(verify_all(&home).unwrap().is_whole());

        let path = home.authentications();
        let text = std::fs::read_to_string(&path).unwrap();
        let without = |number: usize| -> String {
            let kept = text.split_inclusive('\n').enumerate().filter(|(line, _)| *line != number);
            kept.map(|(_, line)| line).collect()
        };
        for number in 0..3 {
            std::fs::write(&path, without(number)).unwrap();
            assert!(!verify_all(&home).unwrap().is_whole(), "record {number} was taken out");
        }
        std::fs::write(&path, text.replace("refused", "taken")).unwrap();
        assert!(!verify_all(&home).unwrap().is_whole(), "a refusal became a login");
        std::fs::remove_file(&path).unwrap();
        assert!(!verify_all(&home).unwrap().is_whole(), "all of it is gone");
    }

    #[test]
    fn what_is_old_goes_with_a_record_of_it_and_the_chain_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().to_owned());
        let write = |at| {
            record_authentication(&home, Timestamp(at), one("key", AuthenticationResult::Taken)).unwrap();
        };
        let numbers = || authentications(&home).unwrap().iter().map(|one| one.record).collect::<Vec<_>>();
        let removed = |oldest| {
            let told = old_beginnings(&home, Timestamp(oldest)).unwrap();
            let went = remove_beginnings(&home, Timestamp(99), Timestamp(oldest), "old").unwrap();
            assert_eq!(told, went, "what is told before is what goes");
            assert!(verify_all(&home).unwrap().is_whole());
            went.first().map(|went| (went.entries, went.oldest.0, went.newest.0))
        };
        assert_eq!(removed(9), None, "there is none");
        (1..=4).for_each(write);
        let path = home.authentications();
        let before = std::fs::read(&path).unwrap();
        assert_eq!((removed(3), numbers()), (Some((2, 1, 2)), vec![3, 4]));
        assert_eq!(removed(3), None);
        // Whoever wrote it down and was ended then, and goes on.
        std::fs::write(&path, before).unwrap();
        assert!(verify_all(&home).unwrap().is_whole());
        assert_eq!((removed(3), numbers()), (Some((0, 1, 2)), vec![3, 4]));
        assert_eq!((removed(9), numbers()), (Some((1, 3, 3)), vec![4]), "the newest stays");
        write(5);
        assert_eq!(numbers(), [4, 5]);
        assert!(verify_all(&home).unwrap().is_whole());
        // More than was written down.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.split_inclusive('\n').skip(1).collect::<String>()).unwrap();
        assert!(!verify_all(&home).unwrap().is_whole());
    }

    #[test]
    fn a_secret_that_came_into_a_name_is_masked() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path().to_owned());
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        record_authentication(&home, Timestamp(1), one(&secret, AuthenticationResult::Taken)).unwrap();
        let text = std::fs::read_to_string(home.authentications()).unwrap();
        assert!(text.contains("[masked:") && !text.contains(&secret), "{text}");
    }
}
