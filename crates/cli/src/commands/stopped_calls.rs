//! The recorded call that a user names.

use checkrein_engine::approvals::speaks_against;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{AbsolutePath, Record, RecordBody, ReviewRecord, RuledOut, VerdictKind};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::name_choice::{NEWEST, NamedKind, is_named};
use super::session_choice::{folders, only_folder};

/// How far back earlier calls are looked at, in milliseconds (design: 30 days).
pub(super) const PERIOD: u64 = 30 * 24 * 60 * 60 * 1000;

/// A review and the session that it is from.
pub(super) struct Found {
    pub(super) folder: FolderName,
    /// The number of its record.
    pub(super) seq: u64,
    pub(super) review: Box<ReviewRecord>,
}

/// What the newest call is the newest of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newest {
    /// Of those that were asked about or refused.
    Stopped,
    /// Of those among them that can be allowed.
    Allowable,
    /// Of those that were let pass.
    LetPass,
    /// Of all.
    Any,
}

/// Whether an id is that of a record, as `log` shows it: the beginning of the name of its session, and its number.
pub(super) fn is_record(id: &str) -> bool {
    record_number(id).is_some()
}

/// The beginning of the name of a session and the number of a record in it, from `SESSION:NUMBER`.
pub(super) fn record_number(id: &str) -> Option<(&str, u64)> {
    let (session, number) = id.rsplit_once(':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((session, number.parse().ok().filter(|_| is_number)?))
}

/// The review of the call that a user names: by the beginning of its id, `SESSION:NUMBER` or `LAST`.
pub(super) fn found(environment: &HostEnvironment, id: &str, meant: Newest) -> Result<Found, CommandError> {
    if id == NEWEST {
        return newest(environment, meant);
    }
    if let Some((session, number)) = record_number(id) {
        let folder = only_folder(environment, session)?;
        let mut all = records(environment, &folder)?.into_iter();
        let record = all.find(|record| record.seq == number);
        return match record.map(|record| (record.seq, record.body)) {
            Some((seq, RecordBody::Review(review))) => Ok(Found { folder, seq, review }),
            Some(_) | None => Err(NamedKind::Action.unknown(id)),
        };
    }
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            if let RecordBody::Review(review) = record.body
                && is_named(review.action_id.as_str(), id)
            {
                all.push(Found { folder: folder.clone(), seq: record.seq, review });
            }
        }
    }
    let only = NamedKind::Action.only(id, all.iter().map(|one| one.review.action_id.as_str()))?.to_owned();
    let mut meant = all.into_iter().rev().filter(|one| one.review.action_id.as_str() == only);
    meant.next().ok_or_else(|| NamedKind::Action.unknown(id))
}

/// Whether a call was asked about or refused.
pub(super) fn was_stopped(review: &ReviewRecord) -> bool {
    review.verdict >= VerdictKind::Escalate
}

/// The newest call in this workspace that is meant.
pub(super) fn newest(environment: &HostEnvironment, meant: Newest) -> Result<Found, CommandError> {
    let is_meant = |review: &ReviewRecord| match meant {
        Newest::Stopped => was_stopped(review),
        Newest::Allowable => {
            let reasons = speaks_against(review);
            was_stopped(review) && reasons.iter().all(|reason| reason.rules_out() != RuledOut::All)
        }
        Newest::LetPass => !was_stopped(review),
        Newest::Any => true,
    };
    let workspace = find_workspace(&environment.cwd);
    let mut newest: Option<(u64, Found)> = None;
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            let RecordBody::Review(review) = record.body else { continue };
            let is_here = AbsolutePath::new(&review.cwd).is_some_and(|cwd| cwd.is_within(&workspace));
            let is_newer = newest.as_ref().is_none_or(|(at, _)| record.at.0 >= *at);
            if is_here && is_newer && is_meant(&review) {
                newest = Some((record.at.0, Found { folder: folder.clone(), seq: record.seq, review }));
            }
        }
    }
    newest.map(|(_, found)| found).ok_or_else(|| {
        let none = match meant {
            Newest::Allowable => "no call of this project can be allowed",
            Newest::Stopped => "nothing was asked about or refused in this project",
            Newest::LetPass => "no call of this project was let pass",
            Newest::Any => "no call of this project is recorded",
        };
        CommandError::user(none, "`checkrein log` shows the ids of other calls")
    })
}

/// The records of a session that can be read.
pub(super) fn records(
    environment: &HostEnvironment,
    folder: &FolderName,
) -> Result<Vec<Record>, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    Ok(lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect())
}

/// The records of all sessions of the last 30 days, each with its session.
pub(super) fn recent(
    environment: &HostEnvironment,
) -> Result<impl Iterator<Item = (FolderName, Record)>, CommandError> {
    let since = environment.now().0.saturating_sub(PERIOD);
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        let new = records(environment, &folder)?.into_iter().filter(|record| record.at.0 >= since);
        all.extend(new.map(|record| (folder.clone(), record)));
    }
    Ok(all.into_iter())
}
