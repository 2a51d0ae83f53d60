//! Keys of the records.

use serde_json::json;

use crate::scene::Scene;
use crate::support::shell_call;
use crate::{Row, UNSET, row};

/// Half a day from now, when nobody works on in the session.
const TOMORROW: u64 = 12 * 60 * 60;

/// Forty days from now.
const LATER: u64 = 40 * 24 * 60 * 60;

/// What says who somebody is, what opens a door, and a word that is nobody's business.
const PROMPT: &str =
    "mail ann@shop.example.com, use ghp_0123456789abcdefghijABCDEFGHIJ456789, for project Nightingale";

pub fn rows() -> Vec<Row> {
    vec![
        row("audit.enabled", ["true", "false"], &[], |scene| is_there_after(scene, TOMORROW)),
        row("audit.retention_days", ["30", "90"], &[], |scene| is_there_after(scene, LATER)),
        row("audit.encrypt", ["true", "false"], &[], |scene| {
            scene.verdict("ls marmalade");
            scene.read(".local/state/checkrein/sessions/s/ledger.jsonl").contains("marmalade").to_string()
        }),
        row("audit.anchor", [UNSET, r#""heads.txt""#], &[], |scene| {
            scene.verdict("rm -rf /etc");
            scene.at("heads.txt").exists().to_string()
        }),
        row("audit.mask.secrets", ["true", "false"], &[], prompted),
        row("audit.mask.personal_data", ["true", "false"], &[], prompted),
        row("audit.mask.clear", ["[]", r#"["email"]"#], &[], prompted),
        row("audit.mask.names", ["[]", r#"["project nightingale"]"#], &[], prompted),
        row("audit.mask.literals", ["[]", r#"["Nightingale"]"#], &[], prompted),
        row("output.mask_secrets", ["true", "false"], &[], |scene| {
            scene.write("project/.env", "API_KEY=a1b2c3d4e5f6a7b8c9d0\n");
            scene.verdict("cat .env")
        }),
        row("audit.sync", [r#""never""#, r#""always""#], &[], |scene| {
            let machine = scene.machine();
            for id in ["one", "two", "three"] {
                machine.hook(&scene.environment.payload("s", "PreToolUse", shell_call(id, "ls", json!({}))));
            }
            machine.forced().to_string()
        }),
        row("audit.log_level", [r#""info""#, r#""error""#], &[], |scene| {
            scene.verdict("rm -rf /etc");
            scene
                .read(".local/state/checkrein/diagnostics.log")
                .lines()
                .any(|line| line.contains("info"))
                .to_string()
        }),
        row("audit.export.syslog", [UNSET, r#""tcp:127.0.0.1:1""#], &[], |scene| {
            taken_away(scene, "checkrein.syslog")
        }),
        row("audit.export.webhook", [UNSET, r#""http://127.0.0.1:1/""#], &[], |scene| {
            taken_away(scene, "checkrein.webhook")
        }),
        row("audit.export_format", [r#""jsonl""#, r#""csv""#], &[], |scene| {
            scene.verdict("ls");
            scene.succeed(&["audit", "export"]).starts_with('{').to_string()
        }),
    ]
}

/// Whether an exporter tried to take the records of a session away; nobody takes them here.
fn taken_away(scene: &Scene, name: &str) -> String {
    scene.verdict("ls");
    scene.succeed(&["plugin", "run"]);
    scene.at(&format!(".local/state/checkrein/plugins/status/{name}.json")).exists().to_string()
}

/// Whether the records of a session are still there when another one begins so many seconds later.
fn is_there_after(scene: &Scene, seconds: u64) -> String {
    scene.verdict("ls");
    let start = scene.environment.payload("t", "SessionStart", json!({ "source": "startup" }));
    scene.machine().ahead(seconds).hook(&start);
    scene.names(".local/state/checkrein/sessions").join(" ")
}

/// Which parts of a prompt stand in the records as they were said.
fn prompted(scene: &Scene) -> String {
    scene.event("UserPromptSubmit", json!({ "prompt": PROMPT }));
    let recorded = scene.fields_of("prompt", "/text");
    let words = ["ann@shop", "ghp_0123", "Nightingale"];
    words.map(|word| recorded.contains(word).to_string()).join(" ")
}
