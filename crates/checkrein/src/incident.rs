//! What is kept of an emergency stop: a folder with a report for people (`report.md`) and one for programs (`report.json`).

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_effects::Timestamp;
use checkrein_intervention::{
    Impact, Incident, IncidentFacts, IncidentId, Intervention, RecoveryPolicy, TimelineEntry,
};
use checkrein_ledger::{Durability, SessionLedger, SessionState, last};
use checkrein_patterns::Issue;
use checkrein_policy::EmergencyStop;
use checkrein_protocol::{Record, RecordBody};
use serde_json::json;

use crate::commands::log::{call, rollback_stage, time};
use crate::surroundings::Surroundings;

/// How many records the timeline holds (seed 000).
const TIMELINE: usize = 50;

/// How many files are named (ours).
const FILES: usize = 100;

/// The folder of all incidents.
pub(crate) fn folder(surroundings: &Surroundings) -> PathBuf {
    surroundings.state.root().join("incidents")
}

/// Saves the report on a stop; answers its name. What it holds comes from the ledger, where everything is masked.
pub(crate) fn save(
    surroundings: &Surroundings,
    ledger: &SessionLedger,
    state: &SessionState,
    issue: &Issue,
    policy: RecoveryPolicy,
    at: Timestamp,
) -> io::Result<IncidentId> {
    let records = last(&ledger.path(), TIMELINE).map_err(io::Error::other)?;
    let session = ledger.folder().as_str().to_owned();
    let moment: String = time(at.0).chars().filter(char::is_ascii_digit).collect();
    let id = IncidentId(format!("{moment}-{}", session.chars().take(8).collect::<String>()));
    let incident = Incident::report(IncidentFacts {
        id: id.clone(),
        session,
        at,
        issue: issue.clone(),
        interventions: records.iter().filter_map(intervention).cloned().collect(),
        timeline: records.iter().filter_map(entry).collect(),
        impact: impact(state, &records, at),
        standing: state.behaviour().standing().iter().map(|standing| standing.kind).collect(),
        policy,
    });
    let place = folder(surroundings).join(&id.0);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
    write(&place.join("report.json"), &serde_json::to_vec_pretty(&incident).map_err(io::Error::other)?)?;
    write(&place.join("report.md"), incident.markdown(|moment| time(moment.0)).as_bytes())?;
    Ok(id)
}

/// Removes reports that are older or more than is kept; what goes is written into the ledger first.
pub(crate) fn clear_away(
    surroundings: &Surroundings,
    ledger: &SessionLedger,
    settings: &EmergencyStop,
    now: Timestamp,
) -> io::Result<()> {
    let root = folder(surroundings);
    // The names begin with the time, so the oldest come first.
    let mut names: Vec<String> =
        fs::read_dir(&root)?.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let keep = usize::try_from(settings.preserve_incidents).unwrap_or(usize::MAX);
    let oldest =
        now.0.saturating_sub(settings.preserve_incident_data_days.saturating_mul(24 * 60 * 60 * 1000));
    let oldest: String = time(oldest).chars().filter(char::is_ascii_digit).collect();
    let surplus = names.len().saturating_sub(keep);
    let going: Vec<String> = names
        .into_iter()
        .enumerate()
        .filter(|(index, name)| *index < surplus || name.as_str() < oldest.as_str())
        .map(|(_, name)| name)
        .collect();
    if going.is_empty() {
        return Ok(());
    }
    let body = RecordBody::Event {
        name: "checkrein.incidents_removed".to_owned(),
        fields: json!({
            "incidents": going,
            "reason": format!(
                "older than {} days, or more than {}",
                settings.preserve_incident_data_days, settings.preserve_incidents
            ),
        }),
    };
    ledger.append(now, body, Durability::Durable).map_err(io::Error::other)?;
    going.iter().try_for_each(|name| fs::remove_dir_all(root.join(name)))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn intervention(record: &Record) -> Option<&Intervention> {
    match &record.body {
        RecordBody::Intervention(made) => Some(made),
        _ => None,
    }
}

/// A record in one line of the timeline; `None` for what says nothing about the course of things.
fn entry(record: &Record) -> Option<TimelineEntry> {
    let what = match &record.body {
        RecordBody::Review(review) => format!("{}: {}", review.verdict, shown(&call(review))),
        RecordBody::Outcome(outcome) if outcome.failed => {
            format!("failed: {}", shown(outcome.error.as_deref().unwrap_or_default()))
        }
        RecordBody::Prompt { text } => format!("prompt: {}", shown(text)),
        RecordBody::Issue(issue) => format!("issue {}: {}", issue.kind.name(), issue.summary),
        RecordBody::Intervention(made) => format!("intervention {}: {}", made.kind.name(), made.reason),
        RecordBody::Rollback(rollback) => {
            format!("rollback {}: {}", rollback_stage(rollback.stage), shown(&rollback.text))
        }
        RecordBody::Failure { stage, detail, .. } => format!("did not run: {stage}: {}", shown(detail)),
        _ => return None,
    };
    Some(TimelineEntry { at: record.at, what })
}

fn shown(text: &str) -> String {
    crate::terminal::cut(&crate::terminal::plain(&text.replace('\n', " ")), 120)
}

fn impact(state: &SessionState, records: &[Record], at: Timestamp) -> Impact {
    let mut files: Vec<String> = Vec::new();
    for record in records {
        let RecordBody::Review(review) = &record.body else { continue };
        for path in review
            .effects
            .iter()
            .filter(|effect| effect.kind.is_mutating())
            .filter_map(|effect| effect.target.path())
        {
            let path = path.to_string();
            if files.len() < FILES && !files.contains(&path) {
                files.push(path);
            }
        }
    }
    Impact {
        files,
        actions: state.actions(),
        file_operations: state.file_operations(),
        duration_ms: state.started().map_or(0, |started| at.0.saturating_sub(started.0)),
    }
}
