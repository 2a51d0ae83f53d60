//! The settings of the client, put back when a call took the hooks out of them, and the configuration of the user and the policy of the
//! project, put back when a call made them looser or took them away. What is pinned of a team's policy is put back when a call changed it.
//!
//! What a call is going to do to them is predicted, and a prediction can miss. So the folder of a session keeps its settings files as they
//! were when the hooks were last known to be registered. Every event compares what `stat` says, to see whether one of them changed. Where
//! it is and the client would call no hooks any more, and a call ran at that moment, the file becomes what was kept, and agent and people
//! are told. What a user changes while no call runs stays: they are told of that alone (`beginning::lost`). Everything else that changes in
//! the settings, by whomever, is kept from then on.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use checkrein_clients::{Protection, is_canary};
use checkrein_ledger::last;
use checkrein_policy::{Config, Mode, strictest};
use checkrein_protocol::{
    AbsolutePath, CallDisposition, EffectKind, HookEvent, HookEventKind, HookResponse, Record, RecordBody,
    ReviewRecord, Timestamp,
};
use checkrein_session::SessionLedger;
use checkrein_vault::Sealing;

use checkrein_review::VerdictKind;
use checkrein_world::changes::real_path;
use serde::{Deserialize, Serialize};

use crate::beginning::settings_of_client;
use crate::checkpoint;
use crate::config_files;
use crate::confirmed_configuration::{self, LoosenedConfiguration};
use crate::confirmed_team_policy;
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::lost_records;
use crate::notification::{self, Notice};
use crate::pinned_policy;
use crate::places::real_place;
use crate::sealed_texts;
use crate::verification::{RUNNING_FOR, TICK, lingers};

/// How many of the newest records are looked at for calls that ran when settings changed (ours).
const RECORDS: usize = 64;

/// The greatest length of what is kept for a session, in bytes (ours): a few settings files.
const LIMIT: u64 = 4 * 1024 * 1024;

/// What is known of a file without reading it: device, number, length, times of change of content and of status.
type Stamp = (u64, u64, u64, i64, i64, i64, i64);

/// One settings file as it was when the hooks stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    path: AbsolutePath,
    /// Where it really was: nothing is put back through a link that came later.
    real: AbsolutePath,
    /// Its permission bits.
    mode: Option<u32>,
    /// Its text; `None` where there was no file.
    text: Option<String>,
    /// The file for which that holds.
    stamp: Option<Stamp>,
}

impl Kept {
    fn now(path: &AbsolutePath) -> Self {
        let mode = fs::metadata(path.as_str()).ok().map(|facts| facts.mode() & 0o777);
        Self { path: path.clone(), real: real_place(path), mode, text: text(path), stamp: stamp(path) }
    }

    /// The rights that are there now and were not.
    fn gained(&self, now: &Self) -> u32 {
        self.mode.zip(now.mode).filter(|_| self.real == now.real).map_or(0, |(was, is)| is & !was)
    }
}

/// The rights to write that are not those of the owner.
const WRITE_BY_OTHERS: u32 = 0o022;

/// A file that no longer lets the client call the hooks.
struct Fallen<'a> {
    kept: &'a Kept,
    why: String,
}

/// What is said of settings that changed: nothing where none did.
#[derive(Debug, Default)]
pub(crate) struct SettingsNotice {
    /// To the agent.
    pub(crate) agent: Option<String>,
    /// To the user, who may have made the change themselves.
    pub(crate) user: Option<String>,
}

/// Keeps the settings of a session that begins, or puts back those that a call changed since, and returns what is said then.
pub(crate) fn watch(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    kept: Option<Vec<Kept>>,
) -> SettingsNotice {
    if is_canary(event.session.as_str()) {
        return SettingsNotice::default();
    }
    let Some(kept) = kept else {
        if let HookEventKind::BeforeAction { .. } | HookEventKind::SessionStarted { .. } = &event.moment {
            let mut files = settings_of_client(context.environment(), context.workspace(), &event.cwd);
            files.push(configuration(context));
            files.extend(pinned(context));
            files.extend(policies(context));
            // What stands in no hands of ours at the beginning is nothing to go back to.
            let all: Vec<Kept> = files.iter().map(Kept::now).collect();
            let stands = |kept: &Kept| why_fallen(context, kept, kept).is_none();
            store(context, ledger, &all.into_iter().filter(stands).collect::<Vec<_>>());
        }
        return SettingsNotice::default();
    };
    let changed: Vec<&Kept> = kept.iter().filter(|kept| stamp(&kept.path) != kept.stamp).collect();
    if changed.is_empty() {
        return SettingsNotice::default();
    }
    let mut next = kept.clone();
    let mut fallen = Vec::new();
    let mut opened = Vec::new();
    for one in changed {
        let now = Kept::now(&one.path);
        match why_fallen(context, one, &now) {
            Some(why) => fallen.push(Fallen { kept: one, why }),
            None if one.gained(&now) != 0 => opened.push(one),
            None => renew(&mut next, &one.path),
        }
    }
    let is_quiet = fallen.is_empty() && opened.is_empty();
    let records = if is_quiet { Vec::new() } else { last(&ledger.path(), RECORDS).unwrap_or_default() };
    // A call that loosened the configuration has not thereby had the last word on this.
    let was_enforced = |fallen: &Fallen<'_>| {
        let own = configuration(context);
        let own = match &fallen.kept.path {
            path if *path == own => config_of(fallen.kept),
            path if pinned(context).contains(path) => {
                confirmed_configuration::config_of(&own, text(&own).as_deref())
            }
            _ => None,
        };
        own.is_some_and(|config| config.mode == Mode::Enforce)
    };
    let is_enforced = context.policy().config().mode == Mode::Enforce || fallen.iter().any(was_enforced);
    let mut said = Vec::new();
    let mut ways = BTreeSet::new();
    let mut loosened = None;
    let mut unpinned = None;
    let is_by_a_call = |kept: &Kept| {
        let ran_unrecorded = context.unrecorded.as_ref().is_some_and(|call| {
            changed_at(&kept.path).is_none_or(|changed| changed.0 >= call.since.0.saturating_sub(TICK))
        });
        ran_unrecorded || is_by_a_call(&records, kept, context.environment().now())
    };
    for kept in opened {
        let gained = kept.gained(&Kept::now(&kept.path));
        if is_enforced && is_by_a_call(kept) {
            match kept.mode.map(|mode| close(&kept.path, mode)) {
                // Who may read or run it more is no danger; who may write to it is one.
                None | Some(Ok(())) if gained & WRITE_BY_OTHERS == 0 => {}
                None | Some(Ok(())) => said
                    .push(format!("the mode of `{}` was put back: a call let others write to it", kept.path)),
                Some(Err(error)) => said.push(format!(
                    "a call gave more rights to `{}`, and its mode could not be put back: {}",
                    kept.path, error.message
                )),
            }
        }
        renew(&mut next, &kept.path);
    }
    for Fallen { kept, why } in fallen {
        if !is_enforced || !is_by_a_call(kept) {
            if is_policy(&kept.path) {
                renew(&mut next, &kept.path);
            } else if pinned(context).contains(&kept.path) {
                renew(&mut next, &kept.path);
                if is_enforced {
                    unpinned = confirmed_team_policy::changed(context.environment()).ok().flatten();
                }
            } else if kept.path == configuration(context) {
                // What a user says of it holds for the sessions to come. It may have been a process that a call left behind.
                renew(&mut next, &kept.path);
                if is_enforced {
                    loosened = confirmed_configuration::loosened(context.environment()).ok().flatten();
                }
            }
            continue;
        }
        ways.insert(way_to_change(context, &kept.path));
        let changed = if stamp(&kept.path).is_none() { "was deleted" } else { "changed" };
        match put_back(context, ledger, kept) {
            Ok(()) => {
                renew(&mut next, &kept.path);
                said.push(format!("`{}` was put back: it {changed} while a call ran, and {why}", kept.path));
            }
            Err(error) => said.push(format!(
                "`{}` {changed} while a call ran, and {why}; it could not be put back: {}",
                kept.path, error.message
            )),
        }
    }
    if next != kept {
        store(context, ledger, &next);
    }
    let outside = loosened.map(|found| tell_outside(context, ledger, &found));
    let unpinned = unpinned.map(|found| {
        confirmed_team_policy::tell(context, ledger, &found) + " This session keeps the rules it began with."
    });
    let inside = (!said.is_empty()).then(|| tell(context, ledger, &said, &ways));
    let (inside, user) = inside.unzip();
    let agent = [outside, unpinned, inside].into_iter().flatten();
    SettingsNotice { agent: agent.reduce(|one, other| format!("{one}\n{other}")), user }
}

/// How a user changes a file that was put back, so that it stays so.
fn way_to_change(context: &Context, path: &AbsolutePath) -> &'static str {
    if pinned(context).contains(path) {
        "`checkrein policy` changes what is pinned"
    } else if is_policy(path) || *path == configuration(context) {
        "to change or delete it yourself, do it while no call of the agent runs: then it stays so"
    } else {
        "`checkrein uninstall` removes the hooks"
    }
}

/// The answer with what the agent is told besides; an answer that stops or refuses says enough.
pub(crate) fn with(answer: HookResponse, told: Option<String>) -> HookResponse {
    match (answer, told) {
        (HookResponse::NoOpinion, Some(text)) => HookResponse::Context { text },
        (HookResponse::Context { text: first }, Some(text)) => {
            HookResponse::Context { text: format!("{text}\n{first}") }
        }
        (HookResponse::Replaced { output, besides }, told) => {
            HookResponse::Replaced { output, besides: Box::new(with(*besides, told)) }
        }
        (answer, _) => answer,
    }
}

/// The configuration of the user for all projects.
fn configuration(context: &Context) -> AbsolutePath {
    config_files::user_file(context.environment())
}

/// What is pinned of a team's policy, and its text.
fn pinned(context: &Context) -> [AbsolutePath; 2] {
    let environment = context.environment();
    [pinned_policy::pin_file(environment), pinned_policy::policy_file(environment)]
}

/// The policy of the project, and those of projects around it.
fn policies(context: &Context) -> impl Iterator<Item = AbsolutePath> {
    context.guarded().into_iter().map(|guarded| guarded.path).filter(is_policy)
}

/// Whether a file that is kept is the policy of a project.
fn is_policy(path: &AbsolutePath) -> bool {
    path.parent().is_some_and(|folder| config_files::project_file(&folder) == *path)
}

/// What the user's own file says, with what is built in; `None` when that cannot be used.
fn config_of(file: &Kept) -> Option<Config> {
    confirmed_configuration::config_of(&file.path, file.text.as_deref())
}

/// Why a settings file would keep the client from calling the hooks, or the configuration or a policy lets pass more than it did; `None`
/// when neither is so.
fn why_fallen(context: &Context, was: &Kept, file: &Kept) -> Option<String> {
    if pinned(context).contains(&file.path) {
        let is_said = was.text == file.text
            || confirmed_team_policy::is_confirmed(context.environment(), &file.path, file.text.as_deref());
        return (!is_said).then(|| "`checkrein policy` did not write it".to_owned());
    }
    let is_policy = is_policy(&file.path);
    if is_policy {
        was.text.as_ref()?;
        if file.text.is_none() {
            return Some("nothing of what it asked for held any more".to_owned());
        }
    }
    if is_policy || file.path == configuration(context) {
        let (was, now) = (config_of(was)?, config_of(file));
        let is_looser = now.is_none_or(|now| strictest(&now, &was) != now);
        return is_looser.then(|| "it let pass more than before".to_owned());
    }
    let hooks = &context.environment().client.hooks;
    match hooks.protection(file.text.as_deref(), &context.installations().commands(&file.path)) {
        Protection::Falls { why } => Some(why),
        Protection::Stands | Protection::NotConcerned => {
            let answering = |file: &Kept| hooks.other_answerers(file.text.as_deref().unwrap_or_default());
            let had = answering(was);
            let is_new = answering(file).iter().any(|hook| !had.contains(hook));
            is_new.then(|| "it got a hook that answers in place of the user".to_owned())
        }
    }
}

fn renew(all: &mut [Kept], path: &AbsolutePath) {
    if let Some(one) = all.iter_mut().find(|one| one.path == *path) {
        *one = Kept::now(path);
    }
}

/// Whether a call of this session ran when the file changed, and no user had agreed to that call's changing it.
fn is_by_a_call(records: &[Record], kept: &Kept, now: Timestamp) -> bool {
    let changed = changed_at(&kept.path);
    let mut ran = false;
    for (position, record) in records.iter().enumerate() {
        let RecordBody::Review(review) = &record.body else { continue };
        if review.disposition() == CallDisposition::Refused {
            continue;
        }
        let ended = records.iter().skip(position).find_map(|later| match &later.body {
            RecordBody::Outcome(outcome) if outcome.action_id == review.action_id => Some(later.at),
            _ => None,
        });
        let end = match ended {
            Some(ended) if !lingers(review) => ended,
            Some(_) | None => Timestamp(now.0.min(record.at.0.saturating_add(RUNNING_FOR))),
        };
        let ran_then = changed
            .is_none_or(|changed| record.at.0.saturating_sub(TICK) <= changed.0 && changed.0 <= end.0 + TICK);
        if !ran_then {
            continue;
        }
        if is_agreed(review, kept) {
            return false;
        }
        ran = true;
    }
    ran
}

/// Whether a user was asked about just this, and the call ran: their yes holds.
fn is_agreed(review: &ReviewRecord, kept: &Kept) -> bool {
    review.verdict == VerdictKind::Escalate
        && review.effects.iter().any(|effect| {
            effect.kind == EffectKind::GuardTampering
                && effect.target.path().is_some_and(|path| *path == kept.path || *path == kept.real)
        })
}

/// When a file changed last, or where it is gone, the directory that held it; `None` when that cannot be told.
pub(crate) fn changed_at(path: &AbsolutePath) -> Option<Timestamp> {
    let mut place = Some(path.clone());
    while let Some(next) = place {
        if let Ok(facts) = fs::symlink_metadata(next.as_str()) {
            return confirmed_configuration::status_changed(&facts);
        }
        place = next.parent();
    }
    None
}

/// The rights of an owner to read, write and enter.
const EVERY: u32 = 0o700;
/// The right of an owner to enter.
const ENTERING: u32 = 0o100;

/// Gives a file the mode that it had.
fn close(path: &AbsolutePath, mode: u32) -> Result<(), CommandError> {
    fs::set_permissions(path.as_str(), fs::Permissions::from_mode(mode))
        .map_err(|error| CommandError::file("change the rights of", path, &error))
}

/// The file becomes what was kept. What stood there is put aside in the folder of the session, masked, for a user to look at.
fn put_back(context: &Context, ledger: &SessionLedger, kept: &Kept) -> Result<(), CommandError> {
    let now = fs::symlink_metadata(kept.path.as_str()).ok();
    let is_new_link =
        now.is_some_and(|facts| facts.file_type().is_symlink()) && real_folder(&kept.path) == kept.real;
    if !is_new_link && real_place(&kept.path) != kept.real {
        return Err(CommandError::user(
            format!("`{}` leads elsewhere than when the session began", kept.path),
            "the user should look at it, and run `checkrein init`",
        ));
    }
    open_folders(&kept.path);
    if let Some(text) = text(&kept.path) {
        let masked = checkpoint::masked(context, &text);
        let state = &context.environment().state;
        let kept = match state.vault().sealing() {
            Sealing::On => sealed_texts::shut(state, &masked, &purpose(ledger, &kept.path))?,
            Sealing::Off => masked,
        };
        config_files::write_private(&place(ledger, REPLACED), kept.as_bytes())?;
    }
    if is_new_link {
        fs::remove_file(kept.path.as_str())
            .map_err(|error| CommandError::file("remove", &kept.path, &error))?;
    }
    match &kept.text {
        Some(text) => {
            config_files::replace_file(&kept.path, text.as_bytes())?;
            close(&kept.path, kept.mode.unwrap_or(0o644))
        }
        None => match fs::remove_file(kept.path.as_str()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(CommandError::file("remove", &kept.path, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        },
    }
}

/// Gives the folders above a file as much of their owner's rights back as it takes to write the file: without them nothing can be put back,
/// and the client finds no hooks when it starts again.
fn open_folders(file: &AbsolutePath) {
    let Some(holding) = file.parent() else { return };
    let above: Vec<AbsolutePath> =
        std::iter::successors(Some(holding.clone()), AbsolutePath::parent).collect();
    // From the root on, since what is below a shut folder cannot be reached.
    for folder in above.iter().rev() {
        let needed = if *folder == holding { EVERY } else { ENTERING };
        let Ok(facts) = fs::symlink_metadata(folder.as_str()) else { continue };
        let mode = facts.permissions().mode() & 0o7777;
        if facts.is_dir() && mode & needed != needed {
            // Of those of others nothing can be changed.
            drop(fs::set_permissions(folder.as_str(), fs::Permissions::from_mode(mode | needed)));
        }
    }
}

/// Records that the configuration became looser while no call ran and tells people; returns what the agent is told.
fn tell_outside(context: &Context, ledger: &SessionLedger, found: &LoosenedConfiguration) -> String {
    confirmed_configuration::tell(context, ledger, found) + " This session keeps the rules it began with."
}

/// Records what was done and tells people; returns what the agent and the user in the client are told.
fn tell(
    context: &Context,
    ledger: &SessionLedger,
    said: &[String],
    ways: &BTreeSet<&str>,
) -> (String, String) {
    let ways: Vec<&str> = ways.iter().copied().collect();
    let body = RecordBody::Failure {
        stage: "settings".to_owned(),
        kind: "put_back".to_owned(),
        detail: said.iter().map(String::as_str).chain(ways.iter().copied()).collect::<Vec<_>>().join("; "),
        verdict: VerdictKind::Nudge,
    };
    context.record(ledger, body);
    let text = said.join("\n");
    let notice = Notice {
        event: "protection_lost".to_owned(),
        session: ledger.folder().as_str().to_owned(),
        workspace: context.workspace().clone(),
        at: context.environment().now(),
        title: "checkrein: a call changed what guards this session".to_owned(),
        text: text.clone(),
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(context.environment(), context.policy().config(), &notice) {
        context.environment().diagnostics.add(format!("{text}; nobody was told: {error}"));
    }
    let user = said.iter().map(String::as_str).chain(ways).map(|line| format!("checkrein: {line}"));
    let user = user.collect::<Vec<_>>().join("\n");
    let agent = format!(
        "checkrein keeps its settings: {text}\nLeave these files as they are, and say at the end that this happened. The user removes the \
         guard with `checkrein uninstall` in a terminal."
    );
    (agent, user)
}

/// Where a name lies really, whatever it is a link to.
fn real_folder(path: &AbsolutePath) -> AbsolutePath {
    match (path.parent(), path.name()) {
        (Some(parent), Some(name)) => real_path(&parent).join(name),
        _ => path.clone(),
    }
}

fn text(path: &AbsolutePath) -> Option<String> {
    checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()
}

fn stamp(path: &AbsolutePath) -> Option<Stamp> {
    let facts = fs::metadata(path.as_str()).ok()?;
    Some((
        facts.dev(),
        facts.ino(),
        facts.len(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ctime(),
        facts.ctime_nsec(),
    ))
}

fn place(ledger: &SessionLedger, name: &str) -> AbsolutePath {
    AbsolutePath::root().join(&ledger.directory().join(name).to_string_lossy())
}

/// What was kept for the session; `None` when nothing was, or it cannot be read: then it is kept anew. Without the key of the
/// records the settings of the client are held all the same, a configuration is not.
pub(crate) fn stored(environment: &HostEnvironment, ledger: &SessionLedger) -> Option<Vec<Kept>> {
    let text = checkrein_files::read_text(place(ledger, KEPT).as_str(), LIMIT).ok()?;
    let kept: Vec<Kept> = serde_json::from_str(&text).ok()?;
    let opened = kept.into_iter().filter_map(|one| {
        let text = match &one.text {
            Some(text) => {
                Some(sealed_texts::opened(&environment.state, text, &purpose(ledger, &one.path)).ok()?)
            }
            None => None,
        };
        Some(Kept { text, ..one })
    });
    Some(opened.collect())
}

/// The copies of settings files in the folder of a session.
const KEPT: &str = "settings.json";
/// What stood in the place of one that was put back, masked.
const REPLACED: &str = "settings.replaced";

/// What a copy is bound to.
fn purpose(ledger: &SessionLedger, path: &AbsolutePath) -> String {
    format!("{}/{KEPT}/{path}", ledger.folder().as_str())
}

/// The same as it is written: its text sealed. Settings of a client hold keys, a configuration names that are to be masked.
fn shut(context: &Context, ledger: &SessionLedger, one: &Kept) -> Option<Kept> {
    let state = &context.environment().state;
    let is_configuration =
        is_policy(&one.path) || one.path == configuration(context) || pinned(context).contains(&one.path);
    let shut = if is_configuration { sealed_texts::shut } else { sealed_texts::shut_apart };
    let text = one.text.as_ref().map(|text| shut(state, text, &purpose(ledger, &one.path)));
    match text.transpose() {
        Ok(text) => Some(Kept { text, ..one.clone() }),
        Err(error) => {
            let why = format!("`{}` was not kept: {}", one.path, error.message);
            context.environment().diagnostics.add(why);
            None
        }
    }
}

/// Removes the copies of sessions in which nothing happened since: what they are for is over. One that goes on is kept anew.
pub(crate) fn forget(environment: &HostEnvironment, oldest: Timestamp) {
    for folder in environment.state.folders().unwrap_or_default() {
        let is_silent = fs::metadata(environment.state.ledger(&folder).path()).is_ok_and(|facts| {
            facts.mtime().saturating_mul(1_000) < i64::try_from(oldest.0).unwrap_or(i64::MAX)
        });
        let session = environment.state.session(&folder);
        if is_silent && session.join(KEPT).exists() {
            // The witness first: it would put the other one back.
            lost_records::forget(environment, &folder, KEPT);
            [KEPT, REPLACED].iter().for_each(|name| drop(fs::remove_file(session.join(name))));
        }
    }
}

fn store(context: &Context, ledger: &SessionLedger, kept: &[Kept]) {
    let kept: Vec<Kept> = kept.iter().filter_map(|one| shut(context, ledger, one)).collect();
    let written = serde_json::to_string(&kept).map_err(|error| error.to_string()).and_then(|text| {
        config_files::write_private(&place(ledger, KEPT), text.as_bytes()).map_err(|error| error.message)?;
        lost_records::renew(context, ledger, KEPT, &text);
        Ok(())
    });
    if let Err(error) = written {
        context.environment().diagnostics.add(format!("the settings were not kept: {error}"));
    }
}
