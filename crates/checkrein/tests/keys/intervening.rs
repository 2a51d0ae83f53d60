//! Keys of patterns and interventions.

use serde_json::{Value as Json, json};

use crate::scene::Scene;
use crate::support::{decision, shell_call};
use crate::{Pair, Row, row};

/// No pauses between interventions.
pub const AT_ONCE: &[Pair] = &[COOLED, HURRIED];

const COOLED: Pair = ("interventions.intervention_cooldown_seconds", "0");
const HURRIED: Pair = ("interventions.strategy.escalation_delay_seconds", "0");
const BY_PATTERN: Pair = ("interventions.strategy.type", r#""pattern_specific""#);
const AT_ONCE_BY_PATTERN: &[Pair] = &[COOLED, HURRIED, BY_PATTERN];

/// A snapshot after an error counts, and no older one is looked at.
const ONE_DEEP: Pair = ("interventions.checkpoint_rollback.max_rollback_depth", "1");

/// In seconds.
const HOUR: u64 = 3600;

pub fn rows() -> Vec<Row> {
    vec![
        // Source: seed 001-43
        row("patterns.enabled_patterns", [r#"["all"]"#, r#"["scope_creep"]"#], &[], issues),
        row("patterns.custom_patterns", ["[]", OWN_PATTERN], &[], |scene| {
            (0..3).map(|_| scene.verdict("date")).collect::<Vec<_>>().join(" ")
        }),
        row(
            "patterns.cascade_patterns",
            ["[]", r#"["next scope_expansion 0.7 the next ticket ... i will take it"]"#],
            &[],
            |scene| {
                scene.event("SessionStart", json!({ "source": "startup" }));
                scene.event(
                    "Stop",
                    json!({ "last_assistant_message": "The next ticket is short, I will take it." }),
                );
                scene.fields_of("message", "/cascade/level")
            },
        ),
        row("patterns.least_confidence", ["0", "1"], &[], issues),
        row("interventions.enabled", ["true", "false"], AT_ONCE, |scene| ladder(scene, 5)),
        row("interventions.max_interventions_per_execution", ["10", "1"], AT_ONCE, |scene| ladder(scene, 6)),
        row("interventions.intervention_cooldown_seconds", ["0", "3600"], &[HURRIED], |scene| {
            ladder(scene, 6)
        }),
        // Source: seed 000-103
        row("interventions.strategy.escalation_delay_seconds", ["0", "3600"], &[COOLED], |scene| {
            ladder(scene, 6)
        }),
        // Source: seed 001-47
        row("interventions.hard_stop", ["true", "false"], AT_ONCE, |scene| ladder(scene, 14)),
        // Source: seed 000-97
        row("interventions.emergency_stop.enabled", ["true", "false"], AT_ONCE, |scene| ladder(scene, 14)),
        // Source: seed 001-48
        row("interventions.auto_rollback", ["false", "true"], AT_ONCE, |scene| {
            go_wrong(scene);
            scene.fields_of("rollback", "/stage")
        }),
        // Source: seed 001-49
        row("interventions.max_retries", ["3", "0"], AT_ONCE, |scene| ladder(scene, 6)),
        // Source: seed 000-84
        row("interventions.soft_correction.enabled", ["true", "false"], AT_ONCE, |scene| ladder(scene, 4)),
        // Source: seed 000-85
        row("interventions.soft_correction.max_attempts", ["3", "0"], AT_ONCE, |scene| ladder(scene, 4)),
        // Source: seed 000-87
        row("interventions.context_reinforcement.enabled", ["true", "false"], AT_ONCE, |scene| {
            ladder(scene, 5)
        }),
        // Source: seed 000-88
        row(
            "interventions.context_reinforcement.reinforcement_strength",
            [r#""light""#, r#""strong""#],
            AT_ONCE,
            |scene| {
                scene.event("SessionStart", json!({ "source": "startup" }));
                scene.event("UserPromptSubmit", json!({ "prompt": "make the parser accept comments" }));
                scene.event("UserPromptSubmit", json!({ "prompt": "and begin with the tests" }));
                repeat(scene, 5);
                scene.fields_of("intervention", "/text")
            },
        ),
        row("interventions.resource_throttling.enabled", ["true", "false"], AT_ONCE, |scene| {
            ladder(scene, 6)
        }),
        // Source: seed 000-91
        row(
            "interventions.resource_throttling.reduction_factors.moderate",
            ["0.85", "0.6"],
            // By a rule of one's own the first loop, which is not grave yet, is slowed down.
            &[COOLED, HURRIED, ("interventions.strategy.type", r#""custom""#)],
            |scene| {
                scene.environment.configure("strategy.rules", "stuck_loop low 0 -> resource_throttling\n");
                repeat(scene, 4);
                scene.fields_of("intervention", "/throttle/factor")
            },
        ),
        // Source: seed 000-91
        row(
            "interventions.resource_throttling.reduction_factors.aggressive",
            ["0.5", "0.4"],
            AT_ONCE_BY_PATTERN,
            |scene| growing(scene, 2.5),
        ),
        // Source: seed 000-91
        row(
            "interventions.resource_throttling.reduction_factors.severe",
            ["0.25", "0.2"],
            AT_ONCE_BY_PATTERN,
            |scene| growing(scene, 4.0),
        ),
        // Source: seed 000-93
        row("interventions.checkpoint_rollback.enabled", ["true", "false"], AT_ONCE, |scene| {
            ladder(scene, 7)
        }),
        row(
            "interventions.checkpoint_rollback.max_rollback_depth",
            ["3", "1"],
            &[(
                "interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds",
                "3600",
            )],
            way_back,
        ),
        // Source: seed 000-96
        row(
            "interventions.checkpoint_rollback.safe_checkpoint_criteria.min_success_rate",
            ["0.8", "0"],
            &[
                ONE_DEEP,
                (
                    "interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds",
                    "0",
                ),
            ],
            way_back,
        ),
        // Source: seed 000-96
        row(
            "interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds",
            ["3600", "0"],
            &[ONE_DEEP, ("interventions.checkpoint_rollback.safe_checkpoint_criteria.min_success_rate", "0")],
            way_back,
        ),
        // An hour goes by between the first snapshot and the trouble.
        row(
            "interventions.checkpoint_rollback.checkpoint_retention_minutes",
            ["30", "600"],
            &[(
                "interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds",
                "600",
            )],
            |scene| way_back_after(scene, HOUR),
        ),
        // The growth goes on after a pause of an hour.
        row("interventions.resource_throttling.metrics_window_seconds", ["60", "36000"], &[], |scene| {
            grown(scene, 4.0, HOUR);
            scene.fields_of("issue", "/kind")
        }),
        row("interventions.strategy.type", [r#""progressive""#, r#""pattern_specific""#], AT_ONCE, |scene| {
            ladder(scene, 6)
        }),
        // Source: seed 000-102
        row("interventions.strategy.effectiveness_threshold", ["0.6", "0"], AT_ONCE, |scene| {
            ladder(scene, 6)
        }),
    ]
}

const OWN_PATTERN: &str = r#"[{"name": "dates", "of": "action.command == \"date\"", "at_least": 2, "within": "20 actions", "severity": "high", "reason": "many dates"}]"#;

/// The same call again and again, with the same result.
pub fn repeat(scene: &Scene, times: usize) {
    for _ in 0..times {
        scene.call("ls", "a b");
    }
}

fn issues(scene: &Scene) -> String {
    repeat(scene, 5);
    scene.fields_of("issue", "/kind")
}

/// What is done about a loop.
fn ladder(scene: &Scene, calls: usize) -> String {
    repeat(scene, calls);
    format!("{} {}", scene.fields_of("intervention", "/kind"), scene.bodies("halted").len())
}

/// Work that goes well and then spoils a file again and again.
fn go_wrong(scene: &Scene) {
    scene.event("SessionStart", json!({ "source": "startup" }));
    scene.run("echo good > good.txt");
    for _ in 0..7 {
        scene.run("echo broken > src/main.rs; echo left > junk.txt");
    }
}

/// By what limits are multiplied when each five actions take so many times as long as those before.
fn growing(scene: &Scene, ratio: f64) -> String {
    grown(scene, ratio, 0);
    scene.fields_of("intervention", "/throttle/factor")
}

/// Three times five actions, of which each five take so many times as long as those before and come so many seconds later.
fn grown(scene: &Scene, ratio: f64, pause: u64) {
    let mut number = 0;
    for stretch in 0..3 {
        let answer = |name: &str, fields: Json| {
            let payload = scene.environment.payload("s", name, fields);
            #[expect(clippy::cast_sign_loss, reason = "counted from 0")]
            let ahead = pause * stretch as u64;
            if ahead == 0 {
                scene.environment.answer_to(&payload)
            } else {
                scene.machine().ahead(ahead).hook(&payload)
            }
        };
        for _ in 0..5 {
            number += 1;
            let fields = |more| shell_call(&format!("grown-{number}"), &format!("cat src/{number}.rs"), more);
            let before = answer("PreToolUse", fields(json!({})));
            assert_eq!(decision(&before), None, "{before}");
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
            let took = (100_000.0 * f64::powi(ratio, stretch)) as u64;
            answer(
                "PostToolUse",
                fields(json!({
                    "duration_ms": took,
                    "tool_response": { "stdout": format!("text {number}"), "stderr": "" },
                })),
            );
        }
    }
}

/// Whether there is a way back where the newest snapshot of the workspace was taken just after an error, and an older one before it.
fn way_back(scene: &Scene) -> String {
    way_back_after(scene, 0)
}

/// The same where so many seconds go by after the first snapshot.
fn way_back_after(scene: &Scene, seconds: u64) -> String {
    scene.event("SessionStart", json!({ "source": "startup" }));
    let machine = scene.machine().ahead(seconds);
    let later = |id: &str, name: &str, command: &str, more: Json| {
        machine.hook(&scene.environment.payload("s", name, shell_call(id, command, more)))
    };
    scene.write("project/fresh.txt", "fresh\n");
    later("first", "PreToolUse", "cat missing.txt", json!({}));
    later("first", "PostToolUseFailure", "cat missing.txt", json!({ "error": "no such file" }));
    std::thread::sleep(std::time::Duration::from_millis(30));
    scene.write("project/tool.txt", "bspaghsg");
    // Nobody can tell what this does, so that the workspace is saved before it.
    let unread = "sh -c \"$(tr b-z a-y < tool.txt)\"";
    later("second", "PreToolUse", unread, json!({}));
    later("second", "PostToolUse", unread, json!({ "tool_response": { "stdout": "", "stderr": "" } }));
    scene.write("project/junk.txt", "junk\n");
    let way = scene.said(&["rollback", "--session", "s", "--before", "2", "--dry-run"]);
    format!("{}", way.contains("no safe snapshot"))
}
