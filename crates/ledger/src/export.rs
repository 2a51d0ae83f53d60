//! Export: JSON Lines as they stand in the ledger, and CSV for tables.

use std::io::{self, Write};

use checkrein_protocol::{ModelUsage, Record, RecordBody};

use crate::error::LedgerError;
use crate::ledger_file::LedgerFile;
use crate::read::lines;
use crate::state_directory::FolderName;

/// The columns of CSV.
const COLUMNS: &str = "session,line,seq,at,type,action_id,tool,verdict,decision,flagged,risk,risk_level,rationality,rules,\
effects,failed,duration_ms,detail,hash";

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The place it goes to.
    #[error("cannot write the export")]
    Sink(#[from] io::Error),
}

/// Writes the records of a ledger as they stand, so that the export can be verified like the ledger; sealed ones in the clear, which cannot. Returns how many lines.
pub fn export_json_lines(path: &LedgerFile, sink: &mut dyn Write) -> Result<u64, ExportError> {
    let mut count = 0;
    for line in lines(path)? {
        let line = line?;
        writeln!(sink, "{}", line.text)?;
        count += 1;
    }
    Ok(count)
}

/// Writes the line of column names that comes before the rows of [`export_csv`].
pub fn export_csv_header(sink: &mut dyn Write) -> io::Result<()> {
    write!(sink, "{COLUMNS}\r\n")
}

/// Writes one row for each record of a ledger, after RFC 4180. Returns how many rows. Cells that a table program would take
/// for a formula get a `'` in front.
pub fn export_csv(folder: &FolderName, path: &LedgerFile, sink: &mut dyn Write) -> Result<u64, ExportError> {
    let mut count = 0;
    for line in lines(path)? {
        let line = line?;
        let mut cells = vec![folder.as_str().to_owned(), line.number.to_string()];
        if let Some(record) = &line.record {
            cells.extend(row(record));
        } else {
            cells.resize(4, String::new());
            cells.push("not_a_record".to_owned());
            cells.resize(17, String::new());
            cells.extend([line.text, String::new()]);
        }
        let text = cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",");
        write!(sink, "{text}\r\n")?;
        count += 1;
    }
    Ok(count)
}

/// The cells of a record from `seq` on.
fn row(record: &Record) -> Vec<String> {
    let mut cells = vec![record.seq.to_string(), record.at.0.to_string()];
    // The name of the type, then the 12 cells that only reviews and outcomes fill, then the detail.
    let simple = |kind: &str, detail: String| {
        let mut cells = vec![kind.to_owned()];
        cells.resize(13, String::new());
        cells.push(detail);
        cells
    };
    cells.extend(match &record.body {
        RecordBody::Review(review) => vec![
            "review".to_owned(),
            review.action_id.as_str().to_owned(),
            review.tool.as_str().to_owned(),
            review.verdict.name().to_owned(),
            review.decision.name().to_owned(),
            review.flagged.to_string(),
            review.risk.score.to_string(),
            review.risk.level.name().to_owned(),
            review.rationality.as_ref().map(|rationality| rationality.score.to_string()).unwrap_or_default(),
            review.rules.join(" "),
            review.effects.iter().map(|effect| effect.kind.name()).collect::<Vec<_>>().join(" "),
            String::new(),
            String::new(),
            review.reason.clone(),
        ],
        RecordBody::Outcome(outcome) => {
            let mut cells = vec![
                "outcome".to_owned(),
                outcome.action_id.as_str().to_owned(),
                outcome.tool.as_str().to_owned(),
            ];
            cells.resize(11, String::new());
            cells.push(outcome.failed.to_string());
            cells.push(outcome.duration_ms.map(|duration| duration.to_string()).unwrap_or_default());
            cells.push(outcome.error.clone().unwrap_or_default());
            cells
        }
        RecordBody::SessionStarted { session, client, cwd, .. } => {
            simple("session_started", format!("{} {client} {cwd}", session.as_str()))
        }
        RecordBody::Prompt { text } => simple("prompt", text.clone()),
        RecordBody::Event { name, fields } => simple("event", format!("{name} {fields}")),
        RecordBody::Issue(issue) => simple("issue", format!("{}: {}", issue.kind.name(), issue.summary)),
        RecordBody::IssueEnded { kind } => simple("issue_ended", kind.name().to_owned()),
        RecordBody::Intervention(made) => simple(
            "intervention",
            format!("{} about {}: {}", made.kind.name(), made.pattern.name(), made.text),
        ),
        RecordBody::Rollback(rollback) => {
            simple("rollback", format!("before action {}: {}", rollback.before.0, rollback.text))
        }
        RecordBody::Usage(usage) => {
            let one = |one: &ModelUsage| {
                let cost = one.cost.map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
                format!("{} {} tokens {cost}", one.model, one.tokens.all())
            };
            simple("usage", usage.models.iter().map(one).collect::<Vec<_>>().join("; "))
        }
        RecordBody::Marked { record, kind, judgement, note } => {
            simple("marked", format!("{} {} {judgement:?} {note}", record, kind.name()))
        }
        RecordBody::Message { .. } => simple("message", String::new()),
        RecordBody::Unanswered(unanswered) => {
            simple("unanswered", format!("{}: {}", unanswered.call, unanswered.reason))
        }
        RecordBody::Unreviewed(unreviewed) => {
            simple("unreviewed", format!("{}: {}", unreviewed.call, unreviewed.reason))
        }
        RecordBody::Told { action_id, text } => simple("told", format!("{}: {text}", action_id.as_str())),
        RecordBody::Condensed => simple("condensed", String::new()),
        RecordBody::Halted { reason, by, .. } => simple("halted", format!("{by}: {reason}")),
        RecordBody::ReviewClosed { ticket, note, by } => {
            simple("review_closed", format!("{by} about record {ticket}: {note}"))
        }
        RecordBody::Resumed { by, .. } => simple("resumed", by.clone()),
        RecordBody::ConfigChanged { file, decision } => {
            simple("config_changed", format!("{file}: {decision}"))
        }
        RecordBody::Failure { stage, kind, detail, verdict } => {
            simple("failure", format!("{stage}: {kind}: {detail} ({verdict})"))
        }
        RecordBody::Retention { removed, stores, reason } => {
            let sessions = (!removed.is_empty()).then(|| format!("{} sessions", removed.len()));
            let stores = stores.iter().map(|one| format!("{} of {}", one.entries, one.store));
            let what: Vec<String> = sessions.into_iter().chain(stores).collect();
            simple("retention", format!("{}: {reason}", what.join(", ")))
        }
        RecordBody::Anchor { session, seq, hash } => {
            simple("anchor", format!("{session} {seq} {}", hash.as_str()))
        }
        RecordBody::Repaired { reason, lost_bytes, .. } => {
            simple("repaired", format!("{reason} ({lost_bytes} bytes)"))
        }
        RecordBody::Unknown => simple("unknown", String::new()),
    });
    cells.push(record.hash.as_str().to_owned());
    cells
}

/// A cell as RFC 4180 wants it.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !formula && !cell.contains([',', '"', '\n', '\r']) {
        return cell.to_owned();
    }
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}
