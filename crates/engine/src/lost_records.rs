//! Records that went while a session was going on, found by what is kept of them outside the state directory.
//!
//! A call that nobody can read runs with the rights of the user, and can remove the state of the guard like any other folder. So the
//! beginning of each session is kept a second time, beside the head of its ledger (`checkrein_ledger::Testimony`): its rules, its settings,
//! the list of hooks. The next event of the session compares. Where records are missing it says so to the agent and to people, writes it
//! down, puts back what there is a copy of, and looks at what else changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use checkrein_clients::is_canary;
use checkrein_intervention::IncidentId;
use checkrein_ledger::{Durability, FolderName, Testified, last};
use checkrein_protocol::{
    AbsolutePath, Beginning, HookEvent, HookEventKind, LedgerDamage, Outcome, RecordBody, Timestamp,
    VerificationRecord,
};
use checkrein_session::SessionLedger;

use serde::{Deserialize, Serialize};

use crate::config_files;
use crate::context::{Context, Unrecorded};
use crate::environment::HostEnvironment;
use crate::incident::{self, Report};
use crate::installation::{self, Installations};
use crate::notification::{self, Notice};
use crate::verification;

/// The greatest length of what is kept of one session outside, in bytes (ours).
const LIMIT: u64 = 8 * 1024 * 1024;

/// What is kept of the folder of a session, by name.
const FILES: [&str; 3] = ["rules.json", "interventions.json", "settings.json"];

/// How many changes are named to the agent (ours).
const NAMED: usize = 8;

/// By whom the incident is.
const BY: &str = "records_lost";

/// What is kept of the beginning of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    client: String,
    cwd: String,
    beginning: Beginning,
    /// Files of the folder of the session, by name.
    files: BTreeMap<String, String>,
    /// The list of hooks.
    installed: Option<String>,
}

/// Keeps what a session began with outside, where this event is its first. To be called when it stands in the ledger and not before: what
/// is kept bears witness of a record, and another hook of the session that finds the witness alone takes the record for lost.
pub(crate) fn keep(context: &Context, ledger: &SessionLedger, event: &HookEvent) {
    let Some(beginning) = context.begun.as_deref() else { return };
    let Some(place) = place(context, ledger) else { return };
    let read = |path: AbsolutePath| checkrein_files::read_text(path.as_str(), LIMIT).ok();
    let files = FILES.iter().filter_map(|name| Some(((*name).to_owned(), read(own(ledger, name))?)));
    let kept = Kept {
        client: event.client.name().to_owned(),
        cwd: event.cwd.to_string(),
        beginning: beginning.clone(),
        files: files.collect(),
        installed: read(installation::list_path(context.environment())),
    };
    write(context.environment(), &place, &kept);
}

/// Keeps the text of one file of the folder of the session anew, where the session is known outside.
pub(crate) fn renew(context: &Context, ledger: &SessionLedger, name: &str, text: &str) {
    let Some(place) = place(context, ledger) else { return };
    let Some(mut kept) = read(&place) else { return };
    if kept.files.insert(name.to_owned(), text.to_owned()).as_deref() != Some(text) {
        write(context.environment(), &place, &kept);
    }
}

/// Forgets one file of the folder of a session, which is not put back any more.
pub(crate) fn forget(environment: &HostEnvironment, session: &FolderName, name: &str) {
    let Some(testimony) = environment.state.testimony() else { return };
    let Some(place) = place_in(&testimony.of_session(session)) else { return };
    let Some(mut kept) = read(&place) else { return };
    if kept.files.remove(name).is_some() {
        write(environment, &place, &kept);
    }
}

/// Whether this event is one at which the records are compared although nothing hints at a loss: a call has ended that could do anything.
pub(crate) fn is_looked_for(event: &HookEvent) -> bool {
    matches!(&event.moment, HookEventKind::AfterAction(outcome) if may_do_anything(outcome))
}

fn may_do_anything(outcome: &Outcome) -> bool {
    outcome.action.shell_text().is_some() || outcome.action.tool.as_str().starts_with("mcp__")
}

/// Looks whether records of the session are missing. What the agent is told; `None` when there is nothing to say.
pub(crate) fn notice(context: &mut Context, ledger: &SessionLedger, event: &HookEvent) -> Option<String> {
    if is_canary(event.session.as_str()) {
        return None;
    }
    // The testimony is read before the ledger, which may grow meanwhile.
    let testimony = context.environment().state.testimony()?;
    let known = testimony.says(ledger.folder());
    let head_at = time_of(&testimony.of_session(ledger.folder()));
    let left = last(&ledger.path(), 1).ok().and_then(|records| Some(records.last()?.seq)).unwrap_or(0);
    let outcome = match &event.moment {
        HookEventKind::AfterAction(outcome) => Some(outcome),
        _ => None,
    };
    if known.is_none() && outcome.is_some_and(|outcome| is_registered_since(context, outcome)) {
        return Some(REGISTERED_MEANWHILE.to_owned());
    }
    let written = match known {
        Some(Testified { records, .. }) if left < records.max(1) => records,
        // The state was there before the call, or its review would have made it.
        None if outcome.is_some() && !context.environment().state.sessions().exists() => 0,
        Some(_) | None => return None,
    };
    let restored = put_back(context, ledger, event);
    let now = context.environment().now();
    let mut text = format!("checkrein: records of this session are gone: {}", count(written, left));
    if let Some(outcome) = outcome {
        let since = verification::since(head_at.unwrap_or(now), outcome.duration_ms, now);
        let seen = verification::unreviewed(context, ledger, outcome, since);
        text += "\nThey went while this call ran or before it, so what it did cannot be told for sure.";
        text += &seen.as_ref().map(changes).unwrap_or_default();
        context.unrecorded = Some(Unrecorded { since, seen });
    }
    text += if restored {
        "\nThe rules and settings with which the session began hold on. What was saved before may be gone too."
    } else {
        "\nWhat the session began with is gone too; what holds now counts as its beginning."
    };
    Some(tell(context, ledger, &text, LedgerDamage::Lost))
}

/// What the agent is told at the end of a call before which nobody asked the guard.
const REGISTERED_MEANWHILE: &str = "checkrein was registered while this call ran: nobody reviewed it, and nothing was saved before it. Later \
                                    calls of this session are reviewed.";

/// Whether the hooks were registered for the first time while a call ran: there are no records at all, and the list of hooks is younger than
/// the call.
fn is_registered_since(context: &Context, outcome: &Outcome) -> bool {
    let environment = context.environment();
    if environment.state.sessions().exists() {
        return false;
    }
    let list = fs::metadata(installation::list_path(environment).as_str()).and_then(|list| list.modified());
    let Some(written) = list.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()) else {
        return false;
    };
    // Without a duration nothing tells when the call began.
    let took = outcome.duration_ms.unwrap_or_default();
    let began = environment.now().0.saturating_sub(took);
    took > 0 && written.as_millis() > u128::from(began)
}

/// Says that a snapshot is gone which was taken for a call.
pub(crate) fn snapshot_gone(context: &Context, ledger: &SessionLedger, id: u64) -> String {
    let text = format!(
        "checkrein: snapshot {id}, taken for this call, is gone: what the call changed cannot be taken back.\n\
         Earlier ones may be gone too; `checkrein snapshot list` lists those that are left."
    );
    tell(context, ledger, &text, LedgerDamage::Lost)
}

fn count(written: u64, left: u64) -> String {
    match written {
        0 => "its ledger is not there".to_owned(),
        _ => format!("at least {written} were written, {left} are there"),
    }
}

/// What changed, in words.
fn changes(seen: &VerificationRecord) -> String {
    let all = seen.surprises.len() as u64 + seen.more_surprises;
    if all == 0 {
        return String::new();
    }
    let named: Vec<String> =
        seen.surprises.iter().take(NAMED).map(|surprise| format!("`{}`", surprise.path)).collect();
    let more = all.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" Changed meanwhile: {}{more}", named.join(", "))
}

/// Puts back what is kept of the beginning, and takes the session up again. Whether there was anything.
fn put_back(context: &mut Context, ledger: &SessionLedger, event: &HookEvent) -> bool {
    let Some(kept) = place(context, ledger).and_then(|place| read(&place)) else { return false };
    let mut missing: Vec<(AbsolutePath, &String)> =
        kept.files.iter().map(|(name, text)| (own(ledger, name), text)).collect();
    let list = installation::list_path(context.environment());
    missing.extend(kept.installed.iter().map(|text| (list.clone(), text)));
    missing.retain(|(path, _)| fs::symlink_metadata(path.as_str()).is_err());
    for (path, text) in missing {
        if let Err(error) = config_files::write_private(&path, text.as_bytes()) {
            context.environment().diagnostics.add(format!("not put back: {}", error.message));
        }
    }
    if let Ok(installations) = Installations::load(context.environment()) {
        *context.installations_mut() = installations;
    }
    let is_begun = ledger.state().is_ok_and(|state| state.beginning().is_some());
    if !is_begun {
        let workspace = kept.beginning.workspace.to_string();
        context.record(
            ledger,
            RecordBody::SessionStarted {
                session: event.session.clone(),
                client: kept.client,
                cwd: kept.cwd,
                workspace,
                source: "records lost".to_owned(),
                beginning: Some(Box::new(kept.beginning)),
                debt: None,
            },
        );
    }
    true
}

/// Records the loss, reports it, tells people; returns what the agent is told.
fn tell(context: &Context, ledger: &SessionLedger, text: &str, damage: LedgerDamage) -> String {
    let (environment, config) = (context.environment(), context.policy().config());
    let reason = text.trim_start_matches("checkrein: ").replace('\n', " ");
    let body = RecordBody::Repaired { damage, lost_bytes: 0, kept: None, reason: reason.clone() };
    let mut said = text.to_owned();
    match ledger.append(environment.now(), body, Durability::Durable) {
        Ok(appended) => {
            let report = Report {
                ledger: Some(ledger),
                state: &appended.state,
                issue: None,
                by: BY,
                reason: &reason,
                config,
                at: environment.now(),
            };
            match incident::save(environment, &report) {
                Ok(IncidentId(id)) => {
                    said = format!("{said}\nThe report for the user: `checkrein incident show {id}`");
                }
                Err(error) => environment.diagnostics.add(format!("no report could be saved: {error}")),
            }
        }
        Err(error) => environment.diagnostics.add(format!("not recorded: {error}")),
    }
    let notice = Notice {
        event: "protection_lost".to_owned(),
        session: ledger.folder().as_str().to_owned(),
        workspace: context.workspace().clone(),
        at: environment.now(),
        title: "checkrein: records are gone".to_owned(),
        text: said.clone(),
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(environment, config, &notice) {
        environment.diagnostics.add(format!("{reason}; nobody was told: {error}"));
    }
    format!("{said}\nStop here and tell the user what was run.")
}

fn place(context: &Context, ledger: &SessionLedger) -> Option<AbsolutePath> {
    place_in(&context.environment().state.testimony()?.of_session(ledger.folder()))
}

fn place_in(folder: &std::path::Path) -> Option<AbsolutePath> {
    Some(AbsolutePath::new(folder.to_str()?)?.join("kept"))
}

/// A file of the folder of the session.
fn own(ledger: &SessionLedger, name: &str) -> AbsolutePath {
    AbsolutePath::root().join(&ledger.directory().join(name).to_string_lossy())
}

/// What is kept; `None` when nothing is, or it is damaged.
fn read(place: &AbsolutePath) -> Option<Kept> {
    let text = checkrein_files::read_text(place.as_str(), LIMIT).ok()?;
    serde_json::from_str(&text).ok()
}

fn write(environment: &HostEnvironment, place: &AbsolutePath, kept: &Kept) {
    let text = serde_json::to_string(kept).map_err(|error| error.to_string());
    let written = text
        .and_then(|text| config_files::write_private(place, text.as_bytes()).map_err(|error| error.message));
    if let Err(error) = written {
        environment.diagnostics.add(format!("the beginning was not kept outside: {error}"));
    }
}

/// When the head of a session was written last.
fn time_of(folder: &std::path::Path) -> Option<Timestamp> {
    let facts = fs::metadata(folder.join("head")).or_else(|_| fs::metadata(folder)).ok()?;
    let milliseconds = facts.mtime().checked_mul(1_000)?.checked_add(facts.mtime_nsec() / 1_000_000)?;
    u64::try_from(milliseconds).ok().map(Timestamp)
}
