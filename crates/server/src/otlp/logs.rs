//! Events as records of a log: those of the event log.

use checkrein_ledger::{EventLevel, event_of};
use checkrein_policy::TelemetryEvents;
use serde_json::{Value as Json, json};

use super::{at, attributes, nanoseconds, trace_of};
use crate::index::query::TakenRecord;

/// The event of a record, where it tells one that is wanted.
pub(super) fn of(one: &TakenRecord, detail: TelemetryEvents) -> Option<Json> {
    let event = event_of(&one.record.body)?;
    // By the data model of logs: DEBUG, INFO, WARN, FATAL.
    let (number, text) = match event.level {
        EventLevel::Debug => (5, "DEBUG"),
        EventLevel::Info => (9, "INFO"),
        EventLevel::Warning => (13, "WARN"),
        EventLevel::Critical => (21, "FATAL"),
    };
    let is_wanted = match detail {
        TelemetryEvents::Off => false,
        TelemetryEvents::Notable => event.level > EventLevel::Debug,
        TelemetryEvents::All => true,
    };
    if !is_wanted {
        return None;
    }
    let own = [("session.id", json!(one.session)), ("checkrein.record", json!(one.record.seq))];
    let all: Vec<(&str, Json)> = own
        .into_iter()
        .chain(event.fields.iter().map(|(name, value)| (name.as_str(), value.clone())))
        .collect();
    Some(json!({
        "timeUnixNano": nanoseconds(at(one)),
        "observedTimeUnixNano": nanoseconds(at(one)),
        "severityNumber": number,
        "severityText": text,
        "eventName": format!("checkrein.{}", event.name),
        "body": { "stringValue": event.name },
        "attributes": attributes(&all),
        "traceId": trace_of(&one.session),
    }))
}
