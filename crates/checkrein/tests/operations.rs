//! What `docs/operations` offers to Prometheus and Grafana, and what the server tells them, as the tool of Prometheus reads it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::TestEnvironment;

/// What the tool says to a file or, on standard input, to a text; none where it is not here.
fn promtool(arguments: &[&str], input: &str) -> Option<Result<String, String>> {
    let started = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        checkrein_testkit::not_run("promtool is not here");
        return None;
    };
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    Some(if output.status.success() { Ok(told) } else { Err(told) })
}

fn folder() -> std::path::PathBuf {
    support::repository().join("docs/operations")
}

/// A file of rules that holds each expression as a rule of its own.
fn rules(expressions: &[String]) -> String {
    let mut text = "groups:\n  - name: expressions\n    rules:\n".to_owned();
    for (number, expression) in expressions.iter().enumerate() {
        let _ = writeln!(text, "      - record: one:{number}\n        expr: {}", json!(expression));
    }
    text
}

/// The expressions of the panels of the dashboard.
fn panels() -> Vec<String> {
    let dashboard: Json =
        serde_json::from_str(&fs::read_to_string(folder().join("grafana.json")).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// The expressions of the table on the page.
fn on_the_page() -> Vec<String> {
    let page = fs::read_to_string(support::repository().join("docs/operations.md")).unwrap();
    let table = page.split("| question | expression |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn rules_and_expressions_are_what_prometheus_reads() {
    let alerts = folder().join("alerts.yml");
    let Some(told) = promtool(&["check", "rules", alerts.to_str().unwrap()], "") else { return };
    assert!(told.as_ref().is_ok_and(|told| told.contains("SUCCESS")), "{told:?}");
    let (panels, page) = (panels(), on_the_page());
    assert!(panels.len() > 10 && page.len() > 3, "{panels:?} {page:?}");
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("rules.yml");
    fs::write(&path, rules(&[panels, page].concat())).unwrap();
    let told = promtool(&["check", "rules", path.to_str().unwrap()], "").unwrap();
    assert!(told.is_ok(), "{told:?}");
    // It does look at them.
    fs::write(&path, rules(&["sum by (x) (rate(checkrein_reviews_total[5m])".to_owned()])).unwrap();
    assert!(promtool(&["check", "rules", path.to_str().unwrap()], "").unwrap().is_err());
}

#[test]
fn the_scrape_configuration_and_what_is_scraped_are_what_prometheus_reads() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    environment.bash("s", "rm -rf ~");
    let server = Serving::start(&environment);
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2);
    let text = fs::read_to_string(folder().join("scrape.yml")).unwrap();
    let here = text.replace("/home/YOU/", &format!("{}/", environment.home().display()));
    assert_ne!(text, here);
    let path = environment.home().join("prometheus.yml");
    fs::write(&path, here).unwrap();
    // With the key of the viewer where the page says that it is.
    let Some(told) = promtool(&["check", "config", path.to_str().unwrap()], "") else { return };
    assert!(told.is_ok(), "{told:?}");
    let metrics = server.asked("/metrics").body;
    assert!(metrics.contains("checkrein_review_duration_seconds_bucket"), "{metrics}");
    let told = promtool(&["check", "metrics"], &metrics).unwrap();
    assert_eq!(told, Ok(String::new()));
}
