#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::*;
use crate::index::Index;

/// The text of a fresh index with a few sums.
fn sample() -> String {
    let folder = tempfile::tempdir().unwrap();
    let state = StateDirectory::new(folder.path());
    let connection = Index::of(state.root()).writer().unwrap();
    let add = |name: &str, pairs: &[(&str, &str)], value: f64| {
        connection
            .execute("INSERT INTO sums VALUES(?1, ?2, ?3)", rusqlite::params![name, labels(pairs), value])
            .unwrap();
    };
    add(names::REVIEWS, &[("decision", "allow"), ("verdict", "ok")], 3.0);
    add(names::TOKENS, &[("model", "odd \"name\"\\\n"), ("kind", "input")], 1.5);
    add(
        names::INTERVENTION_OUTCOMES,
        &[("type", "soft_correction"), ("issue", "x"), ("outcome", "effective")],
        3.0,
    );
    add(
        names::INTERVENTION_OUTCOMES,
        &[("type", "soft_correction"), ("issue", "x"), ("outcome", "ineffective")],
        1.0,
    );
    for (bound, value) in [("0.1", 1.0), ("+Inf", 2.0)] {
        add(names::RISK.bucket, &[("decision", "allow"), ("le", bound)], value);
    }
    add(names::RISK.sum, &[("decision", "allow")], 0.5);
    add(names::RISK.count, &[("decision", "allow")], 2.0);
    text(&connection, &state, 0, true, crate::otlp::Counts::default().samples()).unwrap()
}

/// Reads the text form as Prometheus does: comments before samples of their family, names, quoted labels, numbers.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut kinds = BTreeMap::new();
    let mut current = String::new();
    let mut seen = BTreeSet::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            current = rest.split(' ').next().unwrap().to_owned();
            assert!(!kinds.contains_key(&current), "{current} twice");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, current);
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            kinds.insert(name.to_owned(), kind.to_owned());
            continue;
        }
        let end = line.find(['{', ' ']).unwrap();
        let name = &line[..end];
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        let of_family = match kinds[&current].as_str() {
            "histogram" => {
                ["_bucket", "_sum", "_count"].iter().any(|ending| name == format!("{current}{ending}"))
            }
            _ => name == current,
        };
        assert!(of_family, "{line} below {current}");
        let mut rest = &line[end..];
        if let Some(inner) = rest.strip_prefix('{') {
            let mut pairs = inner;
            loop {
                let (label, value) = pairs.split_once("=\"").unwrap();
                assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
                let mut is_escaped = false;
                let close = value
                    .char_indices()
                    .find(|(_, one)| {
                        let closes = *one == '"' && !is_escaped;
                        is_escaped = *one == '\\' && !is_escaped;
                        closes
                    })
                    .unwrap()
                    .0;
                pairs = &value[close + 1..];
                match pairs.strip_prefix(',') {
                    Some(next) => pairs = next,
                    None => break,
                }
            }
            rest = pairs.strip_prefix('}').unwrap();
        }
        assert!(rest[1..].parse::<f64>().is_ok(), "{line}");
        assert!(seen.insert(line[..line.len() - rest.len()].to_owned()), "{line} twice");
    }
    kinds
}

#[test]
fn the_text_is_what_prometheus_reads() {
    let text = sample();
    let kinds = parse(&text);
    assert_eq!(kinds.len(), FAMILIES.len());
    assert!(text.contains("checkrein_intervention_effectiveness{type=\"soft_correction\"} 0.75\n"), "{text}");
    assert!(text.contains("checkrein_review_risk_bucket{decision=\"allow\",le=\"+Inf\"} 2\n"), "{text}");
}

// Source: seed 000-106
#[test]
fn what_is_documented_is_emitted_and_the_reverse() {
    let page = include_str!("../../../../docs/operations.md");
    let documented: BTreeMap<String, String> = page
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
            name.starts_with("checkrein_").then(|| (name.to_owned(), cells[2].to_owned()))
        })
        .collect();
    assert_eq!(documented, parse(&sample()));
    for family in FAMILIES {
        for label in family.labels {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", family.name))).unwrap();
            assert!(row.contains(&format!("`{label}`")), "{row}");
        }
    }
    // Alert rules, dashboard and expressions name no other metric.
    let files = [
        include_str!("../../../../docs/operations/alerts.yml"),
        include_str!("../../../../docs/operations/grafana.json"),
        page,
    ];
    for name in
        files.iter().flat_map(|text| text.split(|one: char| !(one.is_ascii_alphanumeric() || one == '_')))
    {
        let base =
            ["_bucket", "_sum", "_count"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        if name.starts_with("checkrein_") {
            assert!(documented.contains_key(name) || documented.contains_key(base), "{name}");
        }
    }
    serde_json::from_str::<serde_json::Value>(files[1]).unwrap();
}

/// Records as sessions leave them, one of each that something is counted of.
fn recorded() -> Vec<checkrein_protocol::RecordBody> {
    use serde_json::json;

    let review = |decision: &str, verdict: &str, level: &str| {
        json!({
            "type": "review", "action_id": "a", "tool": "Bash", "input": { "command": "ls" }, "cwd": "/w",
            "verdict": verdict, "decision": decision, "flagged": verdict == "block",
            "risk": { "score": 0.2, "level": level, "factors": [] }, "effects": [], "rules": [], "reason": "why",
            "alternatives": [], "problems": [], "programs": [], "kind": "1", "exact": "1", "elapsed_us": 50,
            "mode": "enforce",
        })
    };
    let intervention = |kind: &str| {
        json!({
            "type": "intervention", "kind": kind, "pattern": "stuck_loop", "severity": "low", "score": 0.3,
            "signal": 4.0, "action": 4, "reason": "why", "text": "words",
        })
    };
    let event =
        |name: &str, fields: serde_json::Value| json!({ "type": "event", "name": name, "fields": fields });
    let by = json!({ "name": "dev", "source": "console", "place": null });
    let all = [
        json!({ "type": "session_started", "session": "s", "client": "claude", "cwd": "/w", "workspace": "/w", "source": "startup" }),
        review("allow", "ok", "low"),
        review("warn", "nudge", "medium"),
        review("modify", "escalate", "high"),
        review("block", "block", "critical"),
        review("block", "halt", "critical"),
        json!({ "type": "issue", "kind": "stuck_loop", "severity": "high", "confidence": 1.0, "impact": 0.0,
                "signal": 4.0, "summary": "seen", "advice": "stop", "actions": [1] }),
        intervention("soft_correction"),
        intervention("context_reinforcement"),
        json!({ "type": "issue_ended", "kind": "stuck_loop" }),
        json!({ "type": "halted", "scope": "session", "reason": "why", "by": "tripwire x" }),
        json!({ "type": "rollback", "before": 2, "stage": "done", "by": "person", "changes": 0, "text": "words" }),
        json!({ "type": "review_closed", "ticket": 3, "note": "seen", "by": "person" }),
        json!({ "type": "message", "mark": "00000000000000ff",
                "cascade": { "score": 0.95, "level": "critical", "patterns": ["CP-001"] } }),
        event("checkrein.judged", json!({ "action": "a", "opinion": "wrong" })),
        event("checkrein.approval_asked", json!({ "approval": "ab12", "action": "a" })),
        event(
            "checkrein.approval_answered",
            json!({ "approval": "ab12", "action": "a", "end": "allowed", "by": by }),
        ),
        event("checkrein.approval_forged", json!({ "approval": "ab12", "action": "a", "why": "nobody" })),
        event("SessionEnd", json!({ "reason": "exit" })),
    ];
    let all = all.into_iter().map(|body| {
        let text = body.to_string();
        let read: checkrein_protocol::RecordBody =
            serde_json::from_value(body).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_ne!(read, checkrein_protocol::RecordBody::Unknown, "{text}");
        read
    });
    all.collect()
}

/// What the seeds name is there under the name that the page says: as a metric of what sessions left, as an event, as a graph.
// Source: seed 000-107, 000-108, 000-109, 000-110, 002-2, 002-8, 002-59, 002-65, 002-66, 002-68
#[test]
fn each_metric_and_event_that_a_seed_names_has_a_name_here() {
    use seeds::Carrier::{Event, Graph, Metric};

    let folder = tempfile::tempdir().unwrap();
    let state = StateDirectory::new(folder.path());
    let bodies = recorded();
    let ledger =
        checkrein_session::SessionLedger::open(&state, &checkrein_protocol::SessionId("s".to_owned()));
    let at = checkrein_protocol::Timestamp(1000);
    ledger.append_all(at, bodies.clone(), checkrein_ledger::Durability::Plain).unwrap();
    let index = Index::of(state.root());
    crate::index::follower::Follower::new(&index, &state).unwrap().round().unwrap();
    let more = vec![
        (names::CACHE_LOOKUPS, String::new(), 2.0),
        (names::CACHE_HITS, String::new(), 1.0),
        (names::CACHE_RATIO, String::new(), 0.5),
    ];
    let told = text(&index.reader().unwrap(), &state, 0, true, more).unwrap();
    parse(&told);
    let events: BTreeSet<&str> =
        bodies.iter().filter_map(checkrein_ledger::event_of).map(|event| event.name).collect();
    let pages = include_str!("../pages/views.rs");
    let documented = include_str!("../../../../docs/operations.md");
    let mut rows = String::new();
    for (seed, named, carriers) in seeds::NAMED {
        let mut cells = Vec::new();
        for carrier in *carriers {
            match carrier {
                Metric(name, pairs) => {
                    let is_there = told.lines().any(|line| {
                        let of_series =
                            line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} "));
                        let is_picked =
                            pairs.iter().all(|(label, value)| line.contains(&format!("{label}=\"{value}\"")));
                        of_series && is_picked && !line.ends_with(" 0")
                    });
                    // Of nothing halted there is nothing to be counted.
                    assert!(is_there || *name == names::HALTED, "{seed}, {named}: {name} {pairs:?}\n{told}");
                    let picked = labels(pairs).replace('"', "");
                    cells.push(format!("`{name}{picked}`"));
                }
                Event(name) => {
                    assert!(events.contains(name), "{seed}, {named}: {name} of {events:?}");
                    cells.push(format!("event `{name}`"));
                }
                Graph(title) => {
                    assert!(pages.contains(&format!("(\"{title}\", ")), "{seed}, {named}: {title}");
                    cells.push(format!("graph \"{title}\""));
                }
            }
        }
        writeln!(rows, "| {seed} | {named} | {} |", cells.join(", ")).unwrap();
    }
    assert!(documented.contains(&rows), "docs/operations.md does not hold this table:\n{rows}");
}
