//! Keys of governance and of limits.

use serde_json::json;

use crate::scene::Scene;
use crate::support::shell_call;
use crate::{Pair, Row, UNSET, row};

/// Nothing wears off while the test runs.
const KEPT: &[Pair] = &[("governance.trust_debt.decay.period_hours", "0")];

/// All is gone after a few milliseconds.
const GONE: &[Pair] = &[
    ("governance.trust_debt.decay.period_hours", "0.0000001"),
    ("governance.trust_debt.decay.decay_fraction", "1"),
];

pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        // A file outside the project: trace quality .73.
        row(
            "governance.enabled",
            ["true", "false"],
            &[
                ("governance.trust_debt.thresholds.elevated_monitoring", "0"),
                ("governance.thresholds.ok", "0.1"),
            ],
            outside,
        ),
        row("governance.tier", [r#""2""#, r#""5""#], &[], outside),
        row(
            "governance.thresholds.ok",
            [UNSET, "0.1"],
            // So that first warnings are said as well.
            &[("governance.trust_debt.thresholds.elevated_monitoring", "0")],
            |scene| scene.verdict("rm README.md"),
        ),
        row("governance.thresholds.nudge", [UNSET, "0.2"], &[("governance.thresholds.ok", "0.1")], outside),
        row(
            "governance.thresholds.escalate",
            [UNSET, "0.25"],
            &[("governance.thresholds.ok", "0.1"), ("governance.thresholds.nudge", "0.2")],
            outside,
        ),
        row("governance.tripwires", ["[]", WATCHED], &[], |scene| scene.verdict("date")),
        row("governance.blueprints", ["[]", r#"["quiet.yaml"]"#], &[], |scene| {
            scene.environment.configure("quiet.yaml", crate::support::BLUEPRINT);
            scene.verdict("date")
        }),
        row("governance.trust_debt.enabled", ["true", "false"], KEPT, debt_of_refusals),
        row("governance.trust_debt.accumulation.flag", ["0.1", "1"], FLAGGED_LOW, debt_of_flag),
        row("governance.trust_debt.accumulation.nudge", ["0.5", "1"], NUDGED, debt_of_flag),
        row("governance.trust_debt.accumulation.escalate", ["1", "2"], KEPT, |scene| {
            scene.verdict("git push --force");
            debt(scene)
        }),
        row("governance.trust_debt.accumulation.block", ["2", "3"], KEPT, debt_of_refusals),
        row("governance.trust_debt.accumulation.halt", ["5", "6"], HALTING, debt_of_flag),
        row("governance.trust_debt.flag_factors.low", ["1", "2"], FLAGGED_LOW, debt_of_flag),
        row("governance.trust_debt.flag_factors.medium", ["1", "2"], FLAGGED_MEDIUM, debt_of_flag),
        row("governance.trust_debt.flag_factors.high", ["1", "2"], FLAGGED_HIGH, debt_of_flag),
        row("governance.trust_debt.flag_factors.critical", ["1", "2"], FLAGGED_CRITICAL, debt_of_flag),
        row(
            "governance.trust_debt.decay.decay_fraction",
            ["0", "1"],
            &[("governance.trust_debt.decay.period_hours", "0.0000001")],
            debt_later,
        ),
        row(
            "governance.trust_debt.decay.period_hours",
            ["0", "0.0000001"],
            &[("governance.trust_debt.decay.decay_fraction", "1")],
            debt_later,
        ),
        row("governance.trust_debt.decay.min_debt", ["0", "1"], GONE, debt_later),
        row(
            "governance.trust_debt.thresholds.elevated_monitoring",
            ["3", "2"],
            &[("governance.trust_debt.decay.period_hours", "0"), ("governance.thresholds.ok", "0.1")],
            posture,
        ),
        row(
            "governance.trust_debt.thresholds.restricted_mode",
            ["6", "2"],
            &[
                ("governance.trust_debt.decay.period_hours", "0"),
                ("governance.trust_debt.thresholds.elevated_monitoring", "1"),
            ],
            posture,
        ),
        row(
            "governance.trust_debt.thresholds.re_tiering_review",
            ["10", "2"],
            &[
                ("governance.trust_debt.decay.period_hours", "0"),
                ("governance.trust_debt.thresholds.elevated_monitoring", "1"),
                ("governance.trust_debt.thresholds.restricted_mode", "1.5"),
            ],
            posture,
        ),
        row("limits.preset", [r#""standard""#, r#""seed""#], &[("profile", r#""unattended""#)], |scene| {
            for letter in ["a", "b"] {
                let names: Vec<String> = (0..60).map(|number| format!("{letter}{number}")).collect();
                scene.call(&format!("touch {}", names.join(" ")), "");
            }
            scene.verdict("touch one")
        }),
        row("limits.file_operations", ["0", "2"], &[], |scene| {
            scene.call("touch one two three", "");
            scene.verdict("touch four")
        }),
        row("limits.memory_mb", ["0", "1"], &[], |scene| scene.verdict("ls")),
        row("limits.execution_seconds", ["0", "1"], &[], |scene| {
            scene.event("SessionStart", json!({ "source": "startup" }));
            std::thread::sleep(std::time::Duration::from_millis(2_100));
            scene.verdict("ls")
        }),
        row("limits.tokens", ["0", "2000"], &[], spending),
        row("limits.dollars", ["0", "0.01"], &[], spending),
    ];
    // One weight cannot change alone: the five make 1.
    for (key, other) in [
        ("governance.weights.reasoning", "governance.weights.grounding"),
        ("governance.weights.grounding", "governance.weights.ethical"),
        ("governance.weights.ethical", "governance.weights.tool_safety"),
        ("governance.weights.tool_safety", "governance.weights.context"),
        ("governance.weights.context", "governance.weights.reasoning"),
    ] {
        rows.push(weight(key, other));
    }
    rows
}

/// A weight that grows by .05 while another one shrinks by as much.
fn weight(key: &'static str, other: &'static str) -> Row {
    let of = |key: &str| match key.rsplit('.').next() {
        Some("reasoning") => ("0.25", "0.3", "0.2"),
        Some("context") => ("0.15", "0.2", "0.1"),
        _ => ("0.2", "0.25", "0.15"),
    };
    let with_second: &'static [Pair] = Box::leak(Box::new([(other, of(other).2)]));
    let look = |scene: &Scene| scene.check(ALL_DIFFERENT)["governance"]["ctq"].to_string();
    Row { key, beside: &[], first: of(key).0, second: of(key).1, with_second, look }
}

const WATCHED: &str = r#"[{"id": "watched", "condition": "action.command == \"date\"", "on_fail": {"decision": "block", "reason": "dates"}}]"#;
const HALTING: &[Pair] = &[
    ("governance.trust_debt.decay.period_hours", "0"),
    (
        "governance.tripwires",
        r#"[{"id": "watched", "condition": "action.command == \"date\"", "on_fail": {"decision": "halt", "reason": "dates"}}]"#,
    ),
];
const NUDGED: &[Pair] = &[
    ("governance.trust_debt.decay.period_hours", "0"),
    (
        "governance.tripwires",
        r#"[{"id": "watched", "condition": "action.command == \"date\"", "on_fail": {"decision": "nudge", "reason": "dates"}}]"#,
    ),
];
/// A tripwire that flags each `date` with a severity, and debt that does not fade.
macro_rules! flagged {
    ($severity:literal) => {
        &[
            ("governance.trust_debt.decay.period_hours", "0"),
            (
                "governance.tripwires",
                concat!(
                    r#"[{"id": "watched", "condition": "action.command == \"date\"", "on_fail": {"decision": "ok", "flag": ""#,
                    $severity,
                    r#"", "reason": "dates"}}]"#
                ),
            ),
        ]
    };
}

const FLAGGED_LOW: &[Pair] = flagged!("low");
const FLAGGED_MEDIUM: &[Pair] = flagged!("medium");
const FLAGGED_HIGH: &[Pair] = flagged!("high");
const FLAGGED_CRITICAL: &[Pair] = flagged!("critical");

/// A command of which each of the five metrics has another score.
const ALL_DIFFERENT: &str = "touch ~/x; curl https://x.example/a; ./tool";

/// What becomes of a file outside the project.
fn outside(scene: &Scene) -> String {
    scene.verdict("touch ~/x")
}

/// The debt and what it leads to.
fn debt(scene: &Scene) -> String {
    let session = scene.session();
    format!("{} {}", session["trust_debt"], session["posture"])
}

fn debt_of_refusals(scene: &Scene) -> String {
    scene.verdict("rm -rf /etc");
    debt(scene)
}

fn debt_of_flag(scene: &Scene) -> String {
    scene.verdict("date");
    debt(scene)
}

fn debt_later(scene: &Scene) -> String {
    scene.verdict("rm -rf /etc");
    std::thread::sleep(std::time::Duration::from_millis(30));
    debt(scene)
}

/// What a debt leads to: its name, what becomes of another call, and whether a user is asked to look.
fn posture(scene: &Scene) -> String {
    scene.verdict("rm -rf /etc");
    let posture = scene.session()["posture"].to_string();
    let tickets = scene.succeed(&["reviews", "--open", "--json"]).lines().count();
    format!("{posture} {} {tickets}", outside(scene))
}

/// What becomes of calls while the model answers with 1200 tokens a time.
fn spending(scene: &Scene) -> String {
    let transcript = scene.at("transcript.jsonl");
    let mut verdicts = Vec::new();
    let mut rows = String::new();
    for number in 0..4 {
        let row = json!({ "type": "assistant", "message": {
            "id": format!("answer-{number}"), "model": "claude-sonnet-4-5-20250929",
            "content": [{ "type": "text", "text": "working" }],
            "usage": { "input_tokens": 1000, "output_tokens": 200, "cache_read_input_tokens": 0 },
        }});
        rows.push_str(&row.to_string());
        rows.push('\n');
        scene.write("transcript.jsonl", &rows);
        let command = format!("cat README.md # {number}");
        let fields = |more| shell_call(&format!("call-{number}"), &command, more);
        let before = scene.event("PreToolUse", fields(json!({ "transcript_path": transcript })));
        verdicts.push(crate::support::decision(&before).unwrap_or("nothing").to_owned());
        let more = json!({ "transcript_path": transcript, "tool_response": { "stdout": "#", "stderr": "" } });
        scene.event("PostToolUse", fields(more));
    }
    verdicts.join(" ")
}
