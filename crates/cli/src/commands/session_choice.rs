//! The sessions that a user names on the command line.

use checkrein_clients::is_canary;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::FolderName;

use super::name_choice::NamedKind;
use super::stopped_calls::NEWEST;

/// The folders of the sessions whose name begins so; without a beginning all but what `doctor` tries, which is no work of an agent.
pub fn folders(
    environment: &HostEnvironment,
    beginning: Option<&str>,
) -> Result<Vec<FolderName>, CommandError> {
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
    if beginning == NEWEST {
        let newest = folders(environment, None)?.into_iter().next();
        return newest.ok_or_else(|| NamedKind::Session.unknown(beginning));
    }
    let found = folders(environment, Some(beginning))?;
    let name = NamedKind::Session.only(beginning, found.iter().map(FolderName::as_str))?.to_owned();
    let mut found = found.into_iter().filter(|folder| folder.as_str() == name);
    found.next().ok_or_else(|| NamedKind::Session.unknown(beginning))
}
