//! The sessions that a user names on the command line.

use checkrein_clients::is_canary;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::FolderName;

use super::name_choice::{NEWEST, NamedKind};

/// The folders of the sessions whose name begins so, newest first; `LAST` is the newest one. Without a beginning all but what `doctor` tries, which is no work of an agent.
pub fn folders(
    environment: &HostEnvironment,
    beginning: Option<&str>,
) -> Result<Vec<FolderName>, CommandError> {
    if beginning == Some(NEWEST) {
        let newest = folders(environment, None)?.into_iter().next();
        return newest.map(|folder| vec![folder]).ok_or_else(|| NamedKind::Session.none());
    }
    let all = checkrein_session::sessions(&environment.state)?;
    let folders: Vec<FolderName> = all
        .into_iter()
        .filter(|session| {
            let name = session.folder.as_str();
            beginning.map_or(!is_canary(name), |text| name.starts_with(text))
        })
        .map(|session| session.folder)
        .collect();
    match beginning {
        Some(text) if folders.is_empty() || text.is_empty() => Err(NamedKind::Session.unknown(text)),
        _ => Ok(folders),
    }
}

/// The folder of the one session whose name begins so, or of the newest one (`LAST`).
pub fn only_folder(environment: &HostEnvironment, beginning: &str) -> Result<FolderName, CommandError> {
    let found = folders(environment, Some(beginning))?;
    let name = NamedKind::Session.newest_or_only(beginning, found.iter().map(FolderName::as_str))?.to_owned();
    let mut found = found.into_iter().filter(|folder| folder.as_str() == name);
    found.next().ok_or_else(|| NamedKind::Session.unknown(beginning))
}
