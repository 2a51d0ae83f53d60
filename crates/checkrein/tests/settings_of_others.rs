//! The settings of one client are out of the reach of the sessions of every other: what decides about hooks, plugins and trust is changed by
//! no tool and no command without a user.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use checkrein_clients::{CLIENTS, ClientAdapter, ClientPath, HookOutput};
use checkrein_protocol::AbsolutePath;
use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// What decides about the hooks of each client, in a home (`~/`) or a project (`./`). Sources: for Claude Code, Codex and Gemini CLI their
/// pages on settings, hooks, plugins and trusted folders; for Qwen Code, Copilot CLI, Cline, Droid, OpenCode and Kilo what their programs
/// read, seen with the versions of `docs/agents.md`; for Cursor, Windsurf and Kiro their pages on hooks, permissions and MCP.
const PLACES: &[(&str, &[&str])] = &[
    (
        "claude",
        &[
            "~/.claude/settings.json",
            "./.claude/settings.json",
            "./.claude/settings.local.json",
            "~/.claude.json",
            "~/.claude/plugins/installed_plugins.json",
            "~/.claude/plugins/known_marketplaces.json",
            "~/.claude/hooks/check.sh",
            "./.claude/hooks/check.sh",
        ],
    ),
    (
        "codex",
        &[
            "~/.codex/hooks.json",
            "~/.codex/config.toml",
            "./.codex/hooks.json",
            "./.codex/config.toml",
            "~/.codex/rules/default.rules",
            "./.codex/rules/own.rules",
        ],
    ),
    (
        "gemini",
        &[
            "~/.gemini/settings.json",
            "./.gemini/settings.json",
            "~/.gemini/.env",
            "./.gemini/.env",
            "~/.gemini/trustedFolders.json",
            "~/.gemini/extensions/own/gemini-extension.json",
            "~/.gemini/policies/own.toml",
            "./.gemini/policies/own.toml",
            "./.gemini/hooks/check.sh",
        ],
    ),
    (
        "qwen",
        &[
            "~/.qwen/settings.json",
            "./.qwen/settings.json",
            "~/.qwen/.env",
            "./.qwen/.env",
            "~/.qwen/trustedFolders.json",
            "~/.qwen/extensions/own/qwen-extension.json",
        ],
    ),
    (
        "copilot",
        &[
            "~/.copilot/hooks/checkrein.json",
            "~/.copilot/hooks/other.json",
            "~/.copilot/settings.json",
            "~/.copilot/config.json",
            "./.github/hooks/checkrein.json",
            "./.github/copilot/settings.json",
            "./.github/copilot/settings.local.json",
        ],
    ),
    (
        "cline",
        &[
            "~/.cline/hooks/PreToolUse.sh",
            "./.cline/hooks/PreToolUse.sh",
            "./.clinerules/hooks/PreToolUse",
            "~/Documents/Cline/Hooks/PreToolUse",
            "~/.cline/plugins/own.js",
            "./.cline/plugins/own.js",
        ],
    ),
    (
        "droid",
        &[
            "~/.factory/settings.json",
            "~/.factory/hooks.json",
            "./.factory/settings.json",
            "./.factory/settings.local.json",
            "./.factory/hooks.json",
            "./.factory/hooks/check.sh",
        ],
    ),
    (
        "cursor",
        &[
            "~/.cursor/hooks.json",
            "./.cursor/hooks.json",
            "~/.cursor/cli-config.json",
            "./.cursor/cli.json",
            "~/.cursor/permissions.json",
            "./.cursor/sandbox.json",
            "./.cursor/hooks/check.sh",
        ],
    ),
    ("windsurf", &["~/.codeium/windsurf/hooks.json", "./.windsurf/hooks.json", "./.windsurf/hooks/check.sh"]),
    (
        "kiro",
        &[
            "~/.kiro/hooks/checkrein.json",
            "./.kiro/hooks/checkrein.json",
            "./.kiro/hooks/other.json",
            "./.kiro/agents/own.json",
            "~/.kiro/agents/own.json",
            "~/.kiro/settings/cli.json",
            "./.amazonq/cli-agents/own.json",
        ],
    ),
    (
        "opencode",
        &[
            "~/.config/opencode/plugins/checkrein.js",
            "~/.config/opencode/plugin/other.js",
            "~/.config/opencode/opencode.json",
            "./.opencode/plugins/other.js",
            "./.opencode/plugin/other.ts",
            "./opencode.json",
            "./opencode.jsonc",
            "./.opencode/opencode.json",
            "./.opencode/package.json",
            "./.opencode/node_modules/own/index.js",
            "~/.cache/opencode/packages/own/index.js",
            "~/.cache/opencode/bin/rg",
        ],
    ),
    (
        "kilo",
        &[
            "~/.config/kilo/plugins/checkrein.js",
            "~/.config/kilo/kilo.json",
            "./.kilo/plugin/other.js",
            "./.kilocode/plugin/other.js",
            "./kilo.json",
            "./kilo.jsonc",
            "./.kilo/kilo.json",
            "./.kilocode/kilo.jsonc",
            "~/.kilo/plugin/other.js",
            "~/.cache/kilo/packages/own/index.js",
            "~/.cache/kilo/bin/rg",
        ],
    ),
];

/// Ways to change, replace, take away or hide a file: `FILE` is the file, `FOLDER` where it lies, `NAME` what it is called.
const COMMANDS: &[&str] = &[
    "echo x > FILE",
    "echo x >> FILE",
    "rm FILE",
    "rm -rf FOLDER",
    "unlink FILE",
    "mv FILE FILE.old",
    "mv FOLDER FOLDER.old",
    "mv README.md FILE",
    "jq 'del(.hooks)' FILE > new.json && mv new.json FILE",
    "sed -i 's/hooks/none/' FILE",
    "cp README.md FILE",
    "ln -sf /dev/null FILE",
    "truncate -s 0 FILE",
    "echo x | tee FILE",
    "dd if=/dev/null of=FILE",
    "install -m 644 README.md FILE",
    "chmod 000 FILE",
    "cd FOLDER && echo x > NAME",
    "ln -s FILE link && echo x > link",
    "ln -s FOLDER linked && echo x > linked/NAME",
    "python3 -c \"open('FILE', 'w').write('x')\"",
    "node -e \"require('fs').writeFileSync('FILE', 'x')\"",
    "perl -pi -e 's/a/b/' FILE",
    "rsync --delete -r src/ FOLDER/",
    "git config -f FILE a.b c",
    "mount --bind /dev/null FILE",
];

/// The same by tools for files, of clients and of servers.
fn tools(file: &str, other: &str) -> Vec<Json> {
    let patch = |text: String| json!({ "tool": "apply_patch", "input": { "command": format!("*** Begin Patch\n{text}\n*** End Patch") } });
    vec![
        json!({ "tool": "Write", "input": { "file_path": file, "content": "{}" } }),
        json!({ "tool": "Edit", "input": { "file_path": file, "old_string": "a", "new_string": "b" } }),
        patch(format!("*** Update File: {file}\n@@\n-a\n+b")),
        patch(format!("*** Delete File: {file}")),
        patch(format!("*** Update File: {other}\n*** Move to: {file}\n@@\n-a\n+b")),
        patch(format!("*** Update File: {file}\n*** Move to: {other}\n@@\n-a\n+b")),
        json!({ "tool": "mcp__fs__write_file", "input": { "path": file, "content": "{}" } }),
        json!({ "tool": "mcp__fs__edit_file", "input": { "path": file, "edits": [{ "oldText": "a", "newText": "b" }] } }),
        json!({ "tool": "mcp__fs__move_file", "input": { "source": file, "destination": other } }),
        json!({ "tool": "mcp__fs__move_file", "input": { "source": other, "destination": file } }),
    ]
}

/// A home and a project in which all of these files are, and none is registered as one of ours.
fn with_all_settings() -> (TestEnvironment, Vec<(&'static str, PathBuf)>) {
    let environment = TestEnvironment::new();
    let at = |place: &str| match place.strip_prefix("~/") {
        Some(below) => environment.home().join(below),
        None => environment.project().join(place.trim_start_matches("./")),
    };
    let mut all = Vec::new();
    for (client, places) in PLACES {
        for file in places.iter().map(|place| at(place)) {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "{}\n").unwrap();
            all.push((*client, file));
        }
    }
    (environment, all)
}

#[test]
fn every_client_has_its_settings_in_the_table() {
    for client in CLIENTS {
        let name = client.client.name();
        let (_, places) = PLACES.iter().find(|(known, _)| *known == name).unwrap();
        let folder = client.places.folder;
        for (_, place) in client.places.settings {
            let place = match place {
                ClientPath::Folder(below) => format!("~/{folder}/{below}"),
                ClientPath::Project(below) => format!("./{below}"),
                ClientPath::Machine(_) => continue,
            };
            let is_there = places.iter().any(|known| *known == place)
                || name == "opencode" && place == "./.opencode/plugins/checkrein.js"
                || name == "kilo" && place == "./.kilo/plugins/checkrein.js";
            assert!(is_there, "{name}: {place} is not in the table");
        }
    }
}

#[test]
fn no_way_of_changing_the_settings_of_any_client_passes() {
    let (environment, files) = with_all_settings();
    let other = environment.project().join("README.md");
    let mut questions = Vec::new();
    for (_, file) in &files {
        let folder = file.parent().unwrap().to_str().unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let path = file.to_str().unwrap();
        // What lies in the project itself has no folder of its own that could go.
        let is_bare = file.parent().unwrap() == environment.project();
        for command in COMMANDS.iter().filter(|command| !is_bare || !command.contains("FOLDER")) {
            let text = command.replace("FILE", path).replace("FOLDER", folder).replace("NAME", name);
            questions.push(json!({ "command": text }));
        }
        questions.extend(tools(path, other.to_str().unwrap()));
    }
    assert!(questions.len() > 2500, "{}", questions.len());
    let mut batch = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["check", "--batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = questions.iter().map(Json::to_string).collect::<Vec<_>>().join("\n");
    text.push('\n');
    let mut input = batch.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = batch.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let answers: Vec<Json> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), questions.len());
    let passed: Vec<String> = questions
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| !["escalate", "block", "halt"].iter().any(|word| answer["verdict"] == *word))
        .map(|(question, answer)| format!("{}: {question}", answer["verdict"]))
        .collect();
    assert!(passed.is_empty(), "{} pass:\n{}", passed.len(), passed.join("\n"));
}

/// A call that writes a file, in the form of each client.
fn writing(client: &ClientAdapter, cwd: &AbsolutePath, file: &str) -> Json {
    let mut payload: Json = serde_json::from_slice(&client.canary.payload(cwd)).unwrap();
    let (tool, input) = match client.client.name() {
        "claude" | "cursor" => ("Write", json!({ "file_path": file, "content": "x" })),
        "codex" => (
            "apply_patch",
            json!({ "command": format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch") }),
        ),
        "gemini" | "qwen" => ("write_file", json!({ "file_path": file, "content": "x" })),
        "copilot" => ("create", json!({ "path": file, "file_text": "x" })),
        "cline" => ("editor", json!({ "path": file, "new_text": "x" })),
        "droid" => ("Create", json!({ "file_path": file, "content": "x" })),
        "windsurf" => (
            "pre_write_code",
            json!({ "file_path": file, "edits": [{ "old_string": "", "new_string": "x" }] }),
        ),
        "kiro" => ("fs_write", json!({ "command": "create", "path": file, "file_text": "x" })),
        "opencode" | "kilo" => ("write", json!({ "filePath": file, "content": "x" })),
        other => panic!("{other} writes in a form that is not known"),
    };
    match client.client.name() {
        "copilot" => {
            payload["toolName"] = json!(tool);
            payload["toolArgs"] = input;
        }
        "cline" => {
            payload["tool_call"]["name"] = json!(tool);
            payload["tool_call"]["input"] = input;
        }
        "windsurf" => {
            payload["agent_action_name"] = json!(tool);
            payload["tool_info"] = input;
        }
        _ => {
            payload["tool_name"] = json!(tool);
            payload["tool_input"] = input;
        }
    }
    payload
}

/// A call of a command, in the form of each client.
fn running(client: &ClientAdapter, cwd: &AbsolutePath, command: &str) -> Json {
    let payload = String::from_utf8(client.canary.payload(cwd)).unwrap();
    serde_json::from_str(&payload.replace("\"rm -rf ~\"", &json!(command).to_string())).unwrap()
}

fn said(environment: &TestEnvironment, client: &str, payload: &Json) -> HookOutput {
    let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
    let mut child =
        hook.arg(client).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()));
    let output = child.wait_with_output().unwrap();
    let refusal = (output.status.code() != Some(0)).then(|| String::from_utf8(output.stderr).unwrap());
    HookOutput { object: output.stdout, refusal }
}

#[test]
fn no_client_changes_the_hooks_of_another_one() {
    let environment = TestEnvironment::new();
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    let of_one = |own: &ClientAdapter| {
        let name = own.client.name();
        // What the payload of a canary names as its session is not recorded, so nothing weighs from one pair to the next.
        let is_stopped = |payload: &Json| {
            let output = said(&environment, name, payload);
            let is_asked = String::from_utf8_lossy(&output.object).contains(r#""permissionDecision":"ask""#);
            is_asked || own.canary.is_denied(&output)
        };
        assert!(!is_stopped(&writing(own, &cwd, &format!("{cwd}/src/new.rs"))), "{name} cannot write at all");
        for other in CLIENTS {
            for (_, place) in other.places.settings {
                let folder = AbsolutePath::new(environment.home().to_str().unwrap()).unwrap();
                let file = place.at(&cwd, &folder.join(other.places.folder));
                for payload in
                    [writing(own, &cwd, file.as_str()), running(own, &cwd, &format!("echo x > {file}"))]
                {
                    assert!(is_stopped(&payload), "{name} changes {file}: {payload}");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for own in CLIENTS {
            scope.spawn(|| of_one(own));
        }
    });
}
