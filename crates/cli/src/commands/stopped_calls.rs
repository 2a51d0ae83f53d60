//! The recorded call that a user names.

use std::collections::BTreeMap;

use checkrein_clients::GATEWAY;
use checkrein_engine::approvals::speaks_against;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{AbsolutePath, Record, RecordBody, ReviewRecord, RuledOut};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::answers::{QuestionOutcome, answers};
use super::name_choice::{NEWEST, NamedKind, is_named};
use super::session_choice::{folders, only_folder};
use super::short_names::{SharedNames, ShortNames};
use super::show::title;
use super::story::SessionHead;
use crate::render::call;
use crate::terminal::{cut, plain, plain_name};

/// How far back earlier calls are looked at, in milliseconds (design: 30 days).
pub(super) const PERIOD: u64 = 30 * 24 * 60 * 60 * 1000;

/// A review and the session that it is from.
pub(super) struct Found {
    pub(super) folder: FolderName,
    /// The number of its record.
    pub(super) seq: u64,
    pub(super) review: Box<ReviewRecord>,
    /// What commands take for just this call: the id that the user gave, or the own one where no other session has it.
    pub(super) name: String,
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
            Some((seq, RecordBody::Review(review))) => {
                let name = format!("{}:{seq}", folder.as_str());
                Ok(Found { folder, seq, review, name })
            }
            Some(_) | None => Err(NamedKind::Action.unknown(id)),
        };
    }
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            if let RecordBody::Review(review) = record.body
                && is_named(review.action_id.as_str(), id)
            {
                let name = review.action_id.as_str().to_owned();
                all.push(Found { folder: folder.clone(), seq: record.seq, review, name });
            }
        }
    }
    let only = NamedKind::Action.only(id, all.iter().map(|one| one.review.action_id.as_str()))?.to_owned();
    all.retain(|one| one.review.action_id.as_str() == only);
    in_one_session(environment, id, all.iter().map(|one| (&one.folder, one.seq, Some(&*one.review))))?;
    // Of two doors the stricter one counts; of several reviews of one call in a session the newest.
    let strictest = all.into_iter().reduce(|one, other| {
        let is_milder = other.review.verdict_at_door() < one.review.verdict_at_door();
        if one.folder != other.folder && is_milder { one } else { other }
    });
    strictest.ok_or_else(|| NamedKind::Action.unknown(id))
}

/// Whether two sessions are those of a client and of a gateway, which have one id for one call.
pub(super) fn is_at_two_doors<'a>(
    environment: &HostEnvironment,
    sessions: impl IntoIterator<Item = &'a FolderName>,
) -> bool {
    let (gateways, clients): (Vec<&FolderName>, Vec<&FolderName>) =
        sessions.into_iter().partition(|folder| is_of_gateway(environment, folder));
    gateways.len() == 1 && clients.len() == 1
}

/// Whether a session is that of a gateway before an MCP server.
fn is_of_gateway(environment: &HostEnvironment, folder: &FolderName) -> bool {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let Ok(lines) = lines(&ledger.path()) else { return false };
    let began =
        lines.take(BEGINNING).filter_map(|line| line.ok()?.record).find_map(|record| match record.body {
            RecordBody::SessionStarted { client, .. } => Some(client),
            _ => None,
        });
    began.as_deref() == Some(GATEWAY.client.name())
}

/// How far into a ledger its beginning is looked for, in records (ours).
const BEGINNING: usize = 16;

/// How many calls an error shows of those that have one id (ours).
const SHOWN: usize = 5;

/// How much of each is shown, in letters (ours).
const CALL: usize = 60;

/// An error where records of one id, each with its session and number, are of several sessions: clients that count their calls give the same
/// id to many. It names each with an id that only it has.
pub(super) fn in_one_session<'a>(
    environment: &HostEnvironment,
    id: &str,
    found: impl IntoIterator<Item = (&'a FolderName, u64, Option<&'a ReviewRecord>)>,
) -> Result<(), CommandError> {
    let sessions = ShortNames::of_sessions(environment);
    let mut named: BTreeMap<&FolderName, String> = BTreeMap::new();
    for (folder, seq, review) in found {
        let words = review.map(|review| format!(" (`{}`)", cut(&plain(&call(review)), CALL)));
        let name =
            format!("`{}:{seq}`{}", plain_name(&sessions.of(folder.as_str())), words.unwrap_or_default());
        // The newest of a session stands for it, unless only an older one says what was called.
        if review.is_some() || !named.contains_key(folder) {
            named.insert(folder, name);
        }
    }
    // One call that the client's hook and the gateway before its server both saw is one call.
    if named.len() < 2 || is_at_two_doors(environment, named.keys().copied()) {
        return Ok(());
    }
    let more = match named.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let shown: Vec<String> = named.values().take(SHOWN).cloned().collect();
    Err(CommandError::user(
        format!("calls of {} sessions have the id `{}`: {}{more}", named.len(), plain(id), shown.join(", ")),
        "name one of them as SESSION:NUMBER",
    ))
}

/// What the client is called that refused a call which we let through, itself or by its user; `None` for every other call.
pub(super) fn refused_by_client(environment: &HostEnvironment, found: &Found) -> Option<String> {
    let own = answers(&records(environment, &found.folder).ok()?);
    let is_refused = own.get(&found.review.action_id) == Some(&QuestionOutcome::NotRun);
    let client = SessionHead::of(environment, &found.folder).client;
    is_refused.then(|| title(client.as_deref()).to_owned())
}

/// A remark for who says `LAST` and may mean a newer call, which the client refused and not we; `None` where there is none.
pub(super) fn newer_refusal(environment: &HostEnvironment, id: &str, meant: &Found) -> Option<String> {
    if id != NEWEST {
        return None;
    }
    let last = newest(environment, Newest::Any).ok()?;
    if last.folder == meant.folder && last.seq == meant.seq {
        return None;
    }
    let client = refused_by_client(environment, &last)?;
    let words = |found: &Found| cut(&plain(&call(&found.review)), CALL);
    Some(format!(
        "the newest call (`{}`) was refused by {client} or its user, not by checkrein; this is about `{}`",
        words(&last),
        words(meant)
    ))
}

/// The newest call in this workspace that is meant.
pub(super) fn newest(environment: &HostEnvironment, meant: Newest) -> Result<Found, CommandError> {
    let is_meant = |review: &ReviewRecord| match meant {
        Newest::Stopped => review.was_stopped(),
        Newest::Allowable => {
            let reasons = speaks_against(review);
            review.was_stopped() && reasons.iter().all(|reason| reason.rules_out() != RuledOut::All)
        }
        Newest::LetPass => !review.was_stopped(),
        Newest::Any => true,
    };
    let workspace = find_workspace(&environment.cwd);
    let mut newest: Option<(u64, Found)> = None;
    let mut shared = SharedNames::default();
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            let RecordBody::Review(review) = record.body else { continue };
            shared.take(std::iter::once((folder.as_str(), review.action_id.as_str())));
            let is_here = AbsolutePath::new(&review.cwd).is_some_and(|cwd| cwd.is_within(&workspace));
            let is_newer = newest.as_ref().is_none_or(|(at, _)| record.at.0 >= *at);
            if is_here && is_newer && is_meant(&review) {
                let name = review.action_id.as_str().to_owned();
                newest = Some((record.at.0, Found { folder: folder.clone(), seq: record.seq, review, name }));
            }
        }
    }
    if let Some((_, found)) = &mut newest
        && shared.is_shared(&found.name)
    {
        found.name = format!("{}:{}", found.folder.as_str(), found.seq);
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
