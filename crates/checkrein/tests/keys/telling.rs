//! Keys that say how and when people are told.

use crate::scene::Scene;
use crate::serve_support::Serving;
use crate::{Pair, Row, UNSET, row};

const CHANNELS: &str = "interventions.emergency_stop.notification_channels";
const BRIEFLY: &[Pair] = &[("approvals.wait_seconds", "1")];
const BY_COMMAND: &[Pair] = &[(CHANNELS, r#"["command"]"#)];
const BY_MAIL: &[Pair] = &[
    (CHANNELS, r#"["email"]"#),
    ("notifications.smtp", r#""smtps://mail.localhost:465""#),
    ("notifications.mail_from", r#""checkrein@localhost""#),
    ("notifications.mail_to", r#""dev@localhost""#),
];
const WITHOUT_SERVER: &[Pair] = &[BY_MAIL[0], BY_MAIL[2], BY_MAIL[3]];
const WITHOUT_SENDER: &[Pair] = &[BY_MAIL[0], BY_MAIL[1], BY_MAIL[3]];
const WITHOUT_RECEIVER: &[Pair] = &[BY_MAIL[0], BY_MAIL[1], BY_MAIL[2]];

/// The events of a call that passes and of one that is refused, and where they are.
fn told_as_events(scene: &Scene) -> String {
    scene.verdict("ls");
    scene.verdict("rm -rf /etc");
    let read = |folder: &str| {
        let names = if scene.at(folder).exists() { scene.names(folder) } else { Vec::new() };
        let text = names.iter().map(|name| scene.read(&format!("{folder}/{name}"))).collect::<String>();
        text.matches("\"event\":\"tool.review\"").count()
    };
    format!("{} {}", read(".local/state/checkrein/events"), read("my-events"))
}

pub fn rows() -> Vec<Row> {
    vec![
        row(CHANNELS, ["[]", r#"["command"]"#], &[HALTING], |scene| {
            scene.verdict("date");
            scene.at(".local/state/checkrein/notices").exists().to_string()
        }),
        row("gates.at_turn_end", ["[]", r#"["completeness"]"#], &[], |scene| {
            scene.event("SessionStart", serde_json::json!({ "source": "startup" }));
            scene.run("printf 'def load(path):\n    raise NotImplementedError\n' > new.py");
            scene.event("Stop", serde_json::json!({}))["decision"].to_string()
        }),
        row("notifications.questions", ["false", "true"], BY_COMMAND, |scene| {
            assert_eq!(scene.verdict("git push --force"), "ask");
            scene.at(".local/state/checkrein/notices").exists().to_string()
        }),
        row("engine.resident", ["false", "true"], &[], |scene| {
            // Its input is at its end, and so is it.
            scene.environment.checkrein(&["engine", "--with-starter"]).status.to_string()
        }),
        row("server.public_address", [UNSET, r#""https://one.localhost""#], &[], |scene| {
            let server = Serving::start(&scene.environment);
            // The page of a link that is not valid, or a request for another host.
            server
                .get("/answer/0123456789", &[("Host", "one.localhost")])
                .body
                .contains("not valid")
                .to_string()
        }),
        row("telemetry.otlp_endpoint", [UNSET, r#""http://127.0.0.1:9""#], &[], |scene| {
            let server = Serving::start(&scene.environment);
            server.asked("/metrics").body.contains("checkrein_telemetry_sent_total{").to_string()
        }),
        row("telemetry.enabled", ["true", "false"], &[], told_as_events),
        row("telemetry.events", [r#""off""#, r#""all""#], &[], told_as_events),
        row("telemetry.folder", [UNSET, r#""my-events""#], &[], told_as_events),
        row("approvals.wait", [r#""always""#, r#""never""#], BRIEFLY, asked_from_elsewhere),
        row("approvals.wait_seconds", ["1", "0"], &[("approvals.wait", r#""always""#)], asked_from_elsewhere),
        row("notifications.command", [UNSET, r#""cat > told.json""#], BY_COMMAND, |scene| {
            scene.said(&["notify", "--test"]);
            scene.read("project/told.json").contains("checkrein: a test").to_string()
        }),
        row(
            "notifications.webhook",
            [UNSET, r#""http://one.localhost/""#],
            &[(CHANNELS, r#"["webhook"]"#)],
            |scene| curled(scene, "url"),
        ),
        row(
            "notifications.slack",
            [UNSET, r#""http://one.localhost/""#],
            &[(CHANNELS, r#"["slack"]"#)],
            |scene| curled(scene, "url"),
        ),
        row(
            "notifications.smtp",
            [r#""smtps://one.localhost:465""#, r#""smtps://two.localhost:465""#],
            WITHOUT_SERVER,
            |scene| curled(scene, "url"),
        ),
        row("notifications.smtp_user", [UNSET, r#""dev""#], BY_MAIL, |scene| {
            let place = scene.environment.configure("notify.secrets", "smtp_password=s3cr3t\n");
            std::fs::set_permissions(place, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            curled(scene, "user")
        }),
        row(
            "notifications.mail_from",
            [r#""one@localhost""#, r#""two@localhost""#],
            WITHOUT_SENDER,
            |scene| curled(scene, "mail-from"),
        ),
        row(
            "notifications.mail_to",
            [r#""one@localhost""#, r#""two@localhost""#],
            WITHOUT_RECEIVER,
            |scene| curled(scene, "mail-rcpt"),
        ),
        row(
            "interventions.emergency_stop.preserve_incident_data_days",
            ["36500", "30"],
            &[HALTING],
            old_incident,
        ),
        row(
            "interventions.emergency_stop.preserve_incidents",
            ["100", "1"],
            &[HALTING, ("interventions.emergency_stop.preserve_incident_data_days", "36500")],
            old_incident,
        ),
    ]
}

/// Stops the session when somebody asks for the date.
const HALTING: Pair = (
    "governance.tripwires",
    r#"[{"id": "watched", "condition": "action.command == \"date\"", "on_fail": {"decision": "halt", "reason": "dates"}}]"#,
);

/// What `curl` is told of one thing.
fn curled(scene: &Scene, name: &str) -> String {
    scene.program("curl", "cat > ~/curled");
    scene.with_programs(&["notify", "--test"]);
    let told = scene.read("curled");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with(&format!("{name} = "))).collect();
    lines.join("\n")
}

/// Whether the report on an old stop is still there after another one.
fn old_incident(scene: &Scene) -> String {
    let old = ".local/state/checkrein/incidents/20200101000000-old";
    scene.write(&format!("{old}/report.json"), "{}");
    scene.verdict("date");
    scene.at(old).exists().to_string()
}

/// Whether a call waited for an answer from outside the client. The environment of other tests says that none does.
fn asked_from_elsewhere(scene: &Scene) -> String {
    use std::io::Write as _;

    let call = crate::support::shell_call("waiting", "git push --force", serde_json::json!({}));
    let payload = scene.environment.payload("s", "PreToolUse", call);
    let mut hook = scene.environment.hook().env_remove("CHECKREIN_APPROVALS_WAIT").spawn().unwrap();
    hook.stdin.take().unwrap().write_all(&payload).unwrap();
    hook.wait_with_output().unwrap();
    scene.at(".local/state/checkrein/approvals").exists().to_string()
}
