//! `/metrics`: what is counted, in the text form of Prometheus.
//!
//! | module | holds |
//! |---|---|
//! | `names` | every metric by name, kind and labels |
//! | `seeds` | what the seeds name, and what carries it here; for the tests |

pub(crate) mod names;
#[cfg(test)]
mod seeds;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checkrein_ledger::{StateDirectory, halted};
use rusqlite::Connection;

use names::{FAMILIES, Family, Kind, labels};

/// One number of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// The name of its series.
    pub(crate) name: String,
    /// Its labels, as they stand behind the name.
    pub(crate) labels: String,
    pub(crate) value: f64,
}

/// All metrics as text.
pub(crate) fn text(
    connection: &Connection,
    state: &StateDirectory,
    now: u64,
    is_up: bool,
    further: Vec<(&'static str, String, f64)>,
) -> rusqlite::Result<String> {
    let mut text = String::new();
    for (family, samples) in samples(connection, state, now, is_up, further)? {
        let _ = writeln!(text, "# HELP {} {}", family.name, family.help);
        let _ = writeln!(text, "# TYPE {} {}", family.name, family.kind.name());
        for Sample { name, labels, value } in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    Ok(text)
}

/// All metrics, in the order of the text; `further` are those that are counted elsewhere.
pub(crate) fn samples(
    connection: &Connection,
    state: &StateDirectory,
    now: u64,
    is_up: bool,
    further: Vec<(&'static str, String, f64)>,
) -> rusqlite::Result<Vec<(&'static Family, Vec<Sample>)>> {
    let mut sums: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    let mut statement = connection.prepare("SELECT name, labels, value FROM sums ORDER BY name, labels")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        sums.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
    }
    for (name, labels, value) in gauges(connection, state, &sums, now)?.into_iter().chain(further) {
        sums.entry(name.to_owned()).or_default().push((labels, value));
    }
    sums.insert(names::INDEX_UP.to_owned(), vec![(String::new(), f64::from(u8::from(is_up)))]);
    let mut all = Vec::new();
    for family in FAMILIES {
        let series: &[&str] = match family.kind {
            Kind::Counter | Kind::Gauge => &[""],
            Kind::Histogram => &["_bucket", "_sum", "_count"],
        };
        let mut samples = Vec::new();
        for ending in series {
            let name = format!("{}{ending}", family.name);
            let mut known = sums.remove(&name).unwrap_or_default();
            if known.is_empty() && family.labels.is_empty() {
                known.push((String::new(), 0.0));
            }
            samples.extend(known.into_iter().map(|(labels, value)| Sample {
                name: name.clone(),
                labels,
                value,
            }));
        }
        all.push((family, samples));
    }
    Ok(all)
}

/// What is asked of the present.
fn gauges(
    connection: &Connection,
    state: &StateDirectory,
    sums: &BTreeMap<String, Vec<(String, f64)>>,
    now: u64,
) -> rusqlite::Result<Vec<(&'static str, String, f64)>> {
    let number = |text: &str| connection.query_row(text, [], |row| row.get::<_, f64>(0));
    let mut found = vec![
        (names::INFO, labels(&[("version", env!("CARGO_PKG_VERSION"))]), 1.0),
        // To count millions of rows would take seconds.
        (names::RECORDS, String::new(), number("SELECT coalesce(sum(records), 0) FROM sessions")?),
        (names::KNOWN, String::new(), number("SELECT count(*) FROM sessions")?),
        (
            names::ACTIVE,
            String::new(),
            connection.query_row(
                "SELECT count(*) FROM sessions WHERE last > ?1",
                [crate::answer::signed(now.saturating_sub(super::index::query::ACTIVE))],
                |row| row.get::<_, f64>(0),
            )?,
        ),
        (names::HALTED, String::new(), halted(state).map_or(0, |all| all.len()) as f64),
    ];
    // Of each intervention whose result is known: how often the issue ended before the next one.
    let mut outcomes: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (labels, value) in sums.get(names::INTERVENTION_OUTCOMES).into_iter().flatten() {
        let kind = labels.split("type=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let known = outcomes.entry(kind).or_default();
        known.1 += value;
        if labels.contains("outcome=\"effective\"") {
            known.0 += value;
        }
    }
    for (kind, (effective, all)) in outcomes {
        found.push((names::EFFECTIVENESS, labels(&[("type", kind)]), effective / all));
    }
    let total = |name: &str| sums.get(name).into_iter().flatten().map(|(_, value)| value).sum::<f64>();
    let wrong: f64 = number("SELECT count(*) FROM opinions WHERE opinion = 'wrong'")?;
    let stopped = total(names::STOPPED);
    found.push((names::FALSE_POSITIVES, String::new(), if stopped > 0.0 { wrong / stopped } else { 0.0 }));
    let (seconds, reviews) = (total(names::DURATION.sum), total(names::DURATION.count));
    found.push((names::AVERAGE, String::new(), if reviews > 0.0 { seconds / reviews } else { 0.0 }));
    Ok(found)
}

#[cfg(test)]
mod tests;
