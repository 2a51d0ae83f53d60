//! What is asked of the index.

use std::os::unix::fs::FileExt as _;

use checkrein_ledger::{FolderName, StateDirectory, is_halted};
use checkrein_protocol::Record;
use rusqlite::{Connection, Row, params};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::answer::signed;

/// For how long after its last record a session counts as active, in milliseconds (ours).
pub(crate) const ACTIVE: u64 = 5 * 60 * 1000;
/// The most rows of a page (ours).
pub(crate) const LONGEST_PAGE: u64 = 500;
/// How many records a search looks through for one page (ours): no index knows what stands inside a line, and a page has to come at once.
pub(super) const SEARCHED: u64 = 50_000;

/// A session in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SessionRow {
    /// The name of the session.
    pub(crate) session: String,
    /// The client, when known.
    pub(crate) client: Option<String>,
    /// Where it works, when known.
    pub(crate) workspace: Option<String>,
    /// What the user said first, cut.
    pub(crate) task: Option<String>,
    /// `halted`, `ended`, `active` or `idle`.
    pub(crate) state: String,
    /// Why it is halted.
    pub(crate) halted: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub(crate) started: Option<i64>,
    /// When its last record was written, in milliseconds since 1970.
    pub(crate) last: i64,
    /// How many records it has.
    pub(crate) records: i64,
    /// How many calls were reviewed.
    pub(crate) calls: i64,
    /// How many of them were asked about or refused.
    pub(crate) stopped: i64,
    /// Issues that are open.
    pub(crate) open_issues: i64,
    /// The last intervention.
    pub(crate) rung: Option<String>,
    /// Tokens that count against limits.
    pub(crate) tokens: i64,
    /// What they cost in US dollars.
    pub(crate) dollars: f64,
    /// Whether some of the tokens have no known price.
    pub(crate) at_least: bool,
    /// The last call.
    pub(crate) last_call: Option<String>,
    /// The verdict on it.
    pub(crate) last_verdict: Option<String>,
}

/// A record in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RecordRow {
    /// Its number in the index: what comes later has a greater one.
    pub(crate) id: i64,
    /// The session.
    pub(crate) session: String,
    /// Its number in the ledger of the session, from 1.
    pub(crate) seq: i64,
    /// When it was written, in milliseconds since 1970.
    pub(crate) at: i64,
    /// Its type, as in the ledger: `review`, `outcome`, `issue`, ...
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The call that it is about.
    pub(crate) action: Option<String>,
    /// The verdict of a review.
    pub(crate) verdict: Option<String>,
    /// The risk of a review, from 0 to 1.
    pub(crate) risk: Option<f64>,
    /// What it says, in one line.
    pub(crate) summary: String,
}

/// Which records are asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) session: Option<String>,
    /// Those with a smaller number in the index.
    pub(crate) before: Option<i64>,
    /// Those with a greater number, oldest first.
    pub(crate) after: Option<i64>,
    pub(crate) kind: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) action: Option<String>,
    /// Words in the line of the record.
    pub(crate) search: Option<String>,
    pub(crate) limit: u64,
}

impl Wanted {
    /// The most rows of the page.
    fn rows(&self) -> u64 {
        self.limit.clamp(1, LONGEST_PAGE)
    }
}

/// A page of records.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) rows: Vec<RecordRow>,
    /// Before which record the next page begins: a number in the session where one is asked for, else in the index. `None` where there is
    /// nothing further back. A search that has looked through as much as it may has one, however few rows it found.
    pub(crate) next: Option<i64>,
}

/// Sessions, the one with the newest record first.
pub(crate) fn sessions(
    connection: &Connection,
    state: &StateDirectory,
    now: u64,
    limit: u64,
) -> rusqlite::Result<Vec<SessionRow>> {
    let mut statement = connection.prepare(&format!("{SESSION} ORDER BY last DESC, folder LIMIT ?1"))?;
    let rows = statement.query_map([signed(limit.min(LONGEST_PAGE))], |row| session_row(row, state, now))?;
    rows.collect()
}

/// The session of a name; `None` when there is none.
pub(crate) fn session(
    connection: &Connection,
    state: &StateDirectory,
    now: u64,
    name: &str,
) -> rusqlite::Result<Option<SessionRow>> {
    let mut statement =
        connection.prepare(&format!("{SESSION} WHERE folder = ?1 OR session = ?1 LIMIT 1"))?;
    let mut rows = statement.query_map([name], |row| session_row(row, state, now))?;
    rows.next().transpose()
}

const SESSION: &str =
    "SELECT folder, client, workspace, task, started, last, records, calls, stopped, open_issues, rung,
    tokens, micro_dollars, unpriced, last_call, last_verdict, ended FROM sessions";

fn session_row(row: &Row<'_>, state: &StateDirectory, now: u64) -> rusqlite::Result<SessionRow> {
    let folder: String = row.get(0)?;
    let last: i64 = row.get(5)?;
    let halted = FolderName::on_disk(folder.as_ref())
        .and_then(|folder| is_halted(state, &folder))
        .map(|halt| halt.reason);
    let is_active = last >= signed(now.saturating_sub(ACTIVE));
    let has_ended = row.get::<_, i64>(16)? != 0;
    let word = match (&halted, has_ended, is_active) {
        (Some(_), _, _) => "halted",
        (None, true, _) => "ended",
        (None, false, true) => "active",
        (None, false, false) => "idle",
    };
    Ok(SessionRow {
        session: folder,
        client: row.get(1)?,
        workspace: row.get(2)?,
        task: row.get(3)?,
        state: word.to_owned(),
        halted,
        started: row.get(4)?,
        last,
        records: row.get(6)?,
        calls: row.get(7)?,
        stopped: row.get(8)?,
        open_issues: row.get(9)?,
        rung: row.get(10)?,
        tokens: row.get(11)?,
        dollars: row.get::<_, i64>(12)? as f64 / 1e6,
        at_least: row.get::<_, i64>(13)? != 0,
        last_call: row.get(14)?,
        last_verdict: row.get(15)?,
    })
}

/// The text that asks for records, and what is filled in. A search is not in it: it looks through as many records as `reach` says.
pub(super) fn page(wanted: &Wanted, reach: u64) -> (String, Vec<Box<dyn rusqlite::ToSql>>) {
    // An index that was made again has the sessions one behind the other: only times say what is newer.
    let (by, earlier) = match (wanted.session.is_some(), wanted.after.is_some()) {
        (_, true) => ("id ASC", "id < ?"),
        (true, false) => ("seq DESC", "seq < ?"),
        (false, false) => ("at DESC, id DESC", "(at, id) < (SELECT at, id FROM records WHERE id = ?)"),
    };
    // Only what is asked for stands in the text, so that an index serves it.
    let mut conditions = vec!["1".to_owned()];
    let mut values: Vec<Box<dyn rusqlite::ToSql>> = Vec::new();
    let mut add = |condition: &str, value: Box<dyn rusqlite::ToSql>| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(session) = &wanted.session {
        // What comes behind a record is read in the order of the index, from there on; the mark keeps another index from being taken.
        let mark = if wanted.after.is_some() { "+" } else { "" };
        let condition = format!("{mark}ledger = (SELECT number FROM ledgers WHERE folder = ?)");
        add(&condition, Box::new(session.clone()));
    }
    if let Some(before) = wanted.before {
        add(earlier, Box::new(before));
    }
    if let Some(after) = wanted.after {
        add("id > ?", Box::new(after));
    }
    if let Some(kind) = &wanted.kind {
        // Only reviews have a verdict, and few of them another than `ok`: the index by verdict finds those at once.
        let is_rare = !matches!(kind.as_str(), "review" | "outcome");
        let condition = match (wanted.verdict.is_some(), wanted.session.is_some() && is_rare) {
            (true, _) => "+type = ?",
            // In these words the index of what is rare in a session is found.
            (false, true) => "type = ? AND type NOT IN ('review', 'outcome')",
            (false, false) => "type = ?",
        };
        add(condition, Box::new(kind.clone()));
    }
    if let Some(verdict) = &wanted.verdict {
        let condition = if verdict == "ok" { "verdict = ?" } else { "verdict = ? AND verdict <> 'ok'" };
        add(condition, Box::new(verdict.clone()));
    }
    if let Some(action) = &wanted.action {
        add("action = ?", Box::new(action.clone()));
    }
    let text = format!(
        "SELECT id, (SELECT folder FROM ledgers WHERE number = ledger), seq, at, type, action, verdict, risk, summary
         FROM records WHERE {} ORDER BY {by} LIMIT {}",
        conditions.join(" AND "),
        if wanted.search.is_some() { reach } else { wanted.rows() },
    );
    (text, values)
}

/// Records, newest first; those after one oldest first.
pub(crate) fn records(connection: &Connection, wanted: &Wanted) -> rusqlite::Result<Found> {
    records_within(connection, wanted, SEARCHED)
}

/// The same, with a search that looks through so many records for one page.
pub(super) fn records_within(
    connection: &Connection,
    wanted: &Wanted,
    reach: u64,
) -> rusqlite::Result<Found> {
    let (text, values) = page(wanted, reach);
    let needle = wanted.search.as_ref().map(|search| search.to_ascii_lowercase());
    let mut statement = connection.prepare(&text)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)))?;
    let key = if wanted.session.is_some() { 2 } else { 0 };
    let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        looked_at += 1;
        last = Some(row.get(key)?);
        let matches = match &needle {
            None => true,
            Some(needle) => row.get_ref(8)?.as_str()?.to_ascii_lowercase().contains(needle),
        };
        if matches {
            found.push(record_row(row)?);
        }
        if found.len() as u64 == wanted.rows() {
            return Ok(Found { rows: found, next: last });
        }
    }
    Ok(Found { rows: found, next: last.filter(|_| needle.is_some() && looked_at == reach) })
}

fn record_row(row: &Row<'_>) -> rusqlite::Result<RecordRow> {
    Ok(RecordRow {
        id: row.get(0)?,
        session: row.get(1)?,
        seq: row.get(2)?,
        at: row.get(3)?,
        kind: row.get(4)?,
        action: row.get(5)?,
        verdict: row.get(6)?,
        risk: row.get(7)?,
        summary: row.get(8)?,
    })
}

/// All records about one call, whole, as they stand in the ledger of its session.
pub(crate) fn call(
    connection: &Connection,
    state: &StateDirectory,
    session: &str,
    action: &str,
) -> rusqlite::Result<Vec<Json>> {
    let mut statement = connection.prepare(
        "SELECT place, length FROM records
         WHERE ledger = (SELECT number FROM ledgers WHERE folder = ?1) AND action = ?2 ORDER BY seq LIMIT 50",
    )?;
    let places = statement
        .query_map(params![session, action], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    let path = FolderName::on_disk(session.as_ref()).map(|folder| state.ledger(&folder));
    let Some(ledger) = path else { return Ok(Vec::new()) };
    let Ok(file) = checkrein_files::open(&ledger) else { return Ok(Vec::new()) };
    let read = |(place, length): (i64, i64)| {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, u64::try_from(place).ok()?).ok()?;
        serde_json::to_value(ledger.record(&bytes)?).ok()
    };
    Ok(places.into_iter().filter_map(read).collect())
}

/// A record with its number in the index.
#[derive(Debug)]
pub(crate) struct TakenRecord {
    pub(crate) id: i64,
    pub(crate) session: String,
    pub(crate) record: Record,
}

/// The records behind a number, oldest first, whole. One that cannot be read any more is passed over; where none of them can, the list is
/// empty.
pub(crate) fn taken_after(
    connection: &Connection,
    state: &StateDirectory,
    after: i64,
    limit: u64,
) -> rusqlite::Result<Vec<TakenRecord>> {
    let mut statement = connection.prepare(
        "SELECT id, (SELECT folder FROM ledgers WHERE number = ledger), place, length FROM records
             WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let rows = statement.query_map(params![after, signed(limit)], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (id, session, place, length) = row?;
        let read = || {
            let ledger = state.ledger(&FolderName::on_disk(session.as_ref())?);
            let file = checkrein_files::open(&ledger).ok()?;
            let mut bytes = vec![0; usize::try_from(length).ok()?];
            file.read_exact_at(&mut bytes, u64::try_from(place).ok()?).ok()?;
            ledger.record(&bytes)
        };
        if let Some(record) = read() {
            found.push(TakenRecord { id, session, record });
        }
    }
    Ok(found)
}

/// What sessions cost that wrote something since a time (milliseconds since 1970) and cost at least so many dollars, the dearest first.
pub(crate) fn dearest(
    connection: &Connection,
    since: u64,
    least: f64,
    limit: u64,
) -> rusqlite::Result<Vec<(String, f64)>> {
    let mut statement = connection.prepare(
        "SELECT folder, micro_dollars FROM sessions WHERE last >= ?1 AND micro_dollars >= ?2
         ORDER BY micro_dollars DESC, folder LIMIT ?3",
    )?;
    let rows = statement.query_map(params![signed(since), least * 1e6, signed(limit)], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)? as f64 / 1e6))
    })?;
    rows.collect()
}

/// What was counted of each day since `day` (days since 1970): `what`, then `name`, then the value.
pub(crate) fn days(connection: &Connection, day: u64) -> rusqlite::Result<Vec<(u64, String, String, f64)>> {
    let mut statement = connection
        .prepare("SELECT day, what, name, value FROM days WHERE day >= ?1 ORDER BY day, what, name")?;
    let rows = statement.query_map([signed(day)], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    rows.collect()
}
