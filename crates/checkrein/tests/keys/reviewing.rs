//! Keys of the step reviewer, and what holds for everything.

use serde_json::{Value as Json, json};

use crate::scene::Scene;
use crate::{Pair, Row, UNSET, row};

/// Both need not wait where the risk is low.
const ASYNC: &[Pair] = &[("step_reviewer.mode", r#""async""#)];

/// An edit of risk .28 of a file that is committed.
const EDIT: &str = "sed -i s/main/other/ src/main.rs";

pub fn rows() -> Vec<Row> {
    vec![
        row("mode", [r#""enforce""#, r#""observe""#], &[], refusal),
        row("profile", [r#""interactive""#, r#""unattended""#], &[], |scene| scene.verdict("./tool")),
        // A goal counts for whether an action makes sense, and is said again when a session loses its way.
        row(
            "goals",
            ["[]", r#"["make the parser accept comments"]"#],
            crate::intervening::AT_ONCE,
            |scene| {
                crate::intervening::repeat(scene, 5);
                let said =
                    scene.fields_of("intervention", "/text").contains("make the parser accept comments");
                format!("{said} {}", rationality(scene))
            },
        ),
        row("scope.paths", ["[]", r#"["docs/**"]"#], &[], |scene| factors(scene, "echo x > src/main.rs")),
        row("scope.only", ["[]", r#"["docs/**"]"#], &[], |scene| scene.verdict("echo x > src/main.rs")),
        row("owned.hosts", ["[]", r#"["api.example.com"]"#], &[], |scene| {
            scene.verdict("curl -d @README.md https://api.example.com/v1")
        }),
        row("owned.registries", ["[]", r#"["packages.example.com"]"#], &[], |scene| {
            scene.verdict("pip install --index-url https://packages.example.com/simple thing")
        }),
        row("owned.buckets", ["[]", r#"["s3://acme-assets"]"#], &[], |scene| {
            scene.verdict("aws s3 cp README.md s3://acme-assets/README.md")
        }),
        row("owned.remotes", ["[]", r#"["github.com/team"]"#], &[], |scene| {
            scene.environment.git(&["remote", "add", "origin", "git@github.com:acme/app.git"]);
            scene.environment.git(&["remote", "add", "team", "git@github.com:team/app.git"]);
            scene.verdict("git push team main");
            scene.fields_of("review", "/effects/0/nature")
        }),
        row("production.always", ["false", "true"], &[], |scene| scene.verdict("kubectl apply -f k8s/")),
        row("production.kube_contexts", ["[]", r#"["eks-*"]"#], &[], |scene| {
            scene.verdict("kubectl --context eks-1 apply -f k8s/")
        }),
        row("production.workspaces", ["[]", r#"["eu"]"#], &[], |scene| {
            scene.verdict("TF_WORKSPACE=eu terraform apply")
        }),
        row("production.databases", ["[]", r#"["db.example.com"]"#], &[], |scene| {
            scene.verdict("psql -h db.example.com shop -c 'UPDATE a SET b = 1 WHERE c = 2'")
        }),
        row("production.hosts", ["[]", r#"["web-1"]"#], &[], |scene| {
            scene.verdict("ssh web-1 sudo systemctl restart shop")
        }),
        row("production.cloud_profiles", ["[]", r#"["shop"]"#], &[], |scene| {
            scene.verdict("aws --profile shop cloudformation deploy --template-file t.yml --stack-name s")
        }),
        row("production.branches", ["[]", r#"["release"]"#], &[], |scene| {
            scene.verdict("git push origin release")
        }),
        // Source: seed 001-40, 002-70
        row("step_reviewer.enabled", ["true", "false"], &[], refusal),
        // Source: seed 001-42, 002-71
        row("step_reviewer.mode", [r#""blocking""#, r#""async""#], &[], is_saved),
        // Source: seed 002-72
        row("step_reviewer.risk.low_threshold", ["0.3", "0.1"], ASYNC, is_saved),
        // Source: seed 001-57, 002-80
        row("step_reviewer.performance.async_threshold", ["0.3", "0.1"], ASYNC, is_saved),
        // `rm` of a file has risk .56, a file outside .6, `./tool` .7, a forced push .85.
        // Source: seed 002-73
        row("step_reviewer.risk.medium_threshold", ["0.6", "0.5"], &[], |scene| risk(scene, "rm README.md")),
        // Source: seed 002-73
        row("step_reviewer.risk.high_threshold", ["0.8", "0.65"], &[], |scene| risk(scene, "./tool")),
        // Source: seed 002-73
        row("step_reviewer.risk.critical_threshold", ["0.95", "0.82"], &[], |scene| {
            risk(scene, "git push --force")
        }),
        row("reviewer.risk_threshold", ["0.8", "0.65"], &[], |scene| risk(scene, "./tool")),
        // Nothing is known of `./tool`, so that its rationality is .85.
        // Source: seed 002-74
        row("step_reviewer.rationality.high_threshold", ["0.8", "0.9"], &[], rationality),
        // Source: seed 002-74
        row(
            "step_reviewer.rationality.medium_threshold",
            ["0.5", "0.9"],
            &[("step_reviewer.rationality.high_threshold", "0.95")],
            rationality,
        ),
        // To read what the goal does not speak of is harmless and has .8.
        // Source: seed 002-75
        row(
            "step_reviewer.rationality.low_threshold",
            ["0.3", "0.85"],
            &[
                ("goals", r#"["make the parser accept comments"]"#),
                ("step_reviewer.rationality.high_threshold", "0.95"),
                ("step_reviewer.rationality.medium_threshold", "0.9"),
            ],
            |scene| scene.verdict("cat README.md"),
        ),
        // Source: seed 002-76
        row("step_reviewer.rules.builtin", [r#""all""#, r#""none""#], &[], rules),
        // Source: seed 002-82
        row("step_reviewer.rules.disabled", ["[]", r#"["prevent_history_rewrite"]"#], &[], rules),
        row(
            "step_reviewer.rules.exempt",
            ["[]", r#"["confirm_outside_loss file_delete /**/letter.md by rm"]"#],
            &[],
            |scene| {
                std::fs::write(scene.environment.home().join("letter.md"), "only copy\n").unwrap();
                scene.verdict("rm ../letter.md")
            },
        ),
        row(
            "step_reviewer.rules.custom",
            [
                "[]",
                r#"[{"name": "no_dates", "when": "action.command == \"date\"", "decision": "block", "reason": "the time is nobody's business"}]"#,
            ],
            &[],
            |scene| scene.verdict("date"),
        ),
        // Source: seed 002-77
        row("step_reviewer.rules.custom_rules_path", [UNSET, r#""own.yaml""#], &[], |scene| {
            scene.environment.configure(
                "own.yaml",
                "- {name: no_dates, when: 'action.command == \"date\"', decision: block, reason: dates are private}\n",
            );
            scene.verdict("date")
        }),
        // Source: seed 002-78
        row("step_reviewer.cache.enabled", ["true", "false"], &[], |scene| cached(scene, &["ls", "ls"])),
        // Source: seed 002-57, 002-78
        row("step_reviewer.cache.ttl_minutes", ["5", "0"], &[], |scene| cached(scene, &["ls", "ls"])),
        // Source: seed 002-57, 002-78
        row("step_reviewer.cache.max_size", ["1000", "1"], &[], |scene| cached(scene, &["ls", "pwd", "ls"])),
        // Source: seed 002-79
        row(
            "step_reviewer.performance.max_review_time_ms",
            ["1000000", "1"],
            &[("governance.contract.fallback_on_timeout", r#""deny""#)],
            |scene| scene.verdict(&long()),
        ),
        row(
            "governance.contract.latency_budget_ms",
            ["1000000", "1"],
            &[("governance.contract.fallback_on_timeout", r#""deny""#)],
            |scene| scene.verdict(&long()),
        ),
        row(
            "governance.contract.fallback_on_timeout",
            [r#""escalate""#, r#""deny""#],
            &[("governance.contract.latency_budget_ms", "1")],
            |scene| scene.verdict(&long()),
        ),
        // A class above the lowest has five seconds and not this one.
        row(
            "governance.contract.risk_level",
            [r#""low_risk""#, r#""critical_risk""#],
            &[
                ("governance.contract.fallback_on_timeout", r#""deny""#),
                ("step_reviewer.performance.max_review_time_ms", "1"),
            ],
            |scene| scene.verdict(&long()),
        ),
    ]
}

/// A command that takes more than a millisecond to review, wherever.
fn long() -> String {
    "ls; ".repeat(1500)
}

fn refusal(scene: &Scene) -> String {
    scene.verdict("rm -rf /etc")
}

fn is_saved(scene: &Scene) -> String {
    scene.verdict(EDIT);
    let kept = scene.bodies("review").iter().map(|body| body["snapshot"].is_object()).collect::<Vec<_>>();
    format!("{kept:?}")
}

fn risk(scene: &Scene, command: &str) -> String {
    scene.check(command)["risk"]["level"].to_string()
}

fn rationality(scene: &Scene) -> String {
    scene.check("./tool")["rationality"]["level"].to_string()
}

fn factors(scene: &Scene, command: &str) -> String {
    scene.check(command)["risk"]["factors"].to_string()
}

fn rules(scene: &Scene) -> String {
    scene.check("git push --force")["rules"].to_string()
}

/// Which of these commands are answered from the cache.
fn cached(scene: &Scene, commands: &[&str]) -> String {
    let lines =
        commands.iter().enumerate().map(|(number, command)| json!({ "id": number, "command": command }));
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    let answers = scene.told(&["check", "--batch", "-"], &lines.join("\n"));
    let answers = answers.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    answers.map(|answer| answer["cached"].to_string()).collect::<Vec<_>>().join(" ")
}
