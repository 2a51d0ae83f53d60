//! What a model puts beside the fields of a tool never makes a call look milder: every effect that the call has without it stays.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

use checkrein_effects::predict;
use checkrein_facts::{RecordedWorld, VersionState};
use checkrein_protocol::{Action, Effect};
use checkrein_testkit::world::{bare, path};
use serde_json::{Value as Json, json};

/// Tools of clients and of servers, with calls that must not pass.
fn calls() -> Vec<(&'static str, Json)> {
    let (notes, key) = ("/home/dev/.bashrc", "/home/dev/.ssh/id_rsa");
    let patch = format!("*** Begin Patch\n*** Add File: {notes}\n+x\n*** End Patch\n");
    vec![
        ("Write", json!({"file_path": notes, "content": "x"})),
        ("create", json!({"path": notes, "file_text": "x"})),
        ("Edit", json!({"file_path": notes, "old_string": "a", "new_string": "y"})),
        ("MultiEdit", json!({"file_path": notes, "edits": []})),
        ("NotebookEdit", json!({"notebook_path": notes, "new_source": "x"})),
        ("Read", json!({"file_path": key})),
        ("read_many_files", json!({"include": [key]})),
        ("read_files", json!({"files": [{"path": key}]})),
        ("Grep", json!({"pattern": ".", "path": key})),
        ("rg", json!({"pattern": ".", "paths": [key]})),
        ("apply_patch", json!({"input": patch})),
        ("delete_file", json!({"path": notes})),
        ("delete_directory", json!({"path": "/home/dev"})),
        ("deleteFile", json!({"targetFile": notes})),
        ("smartRelocate", json!({"sourcePath": notes, "destinationPath": "/tmp/x"})),
        ("createHook", json!({"runCommand": "rm -rf ~"})),
        (
            "use_aws",
            json!({"service_name": "s3api", "operation_name": "DeleteBucket", "parameters": {"Bucket": "prod"}}),
        ),
        ("mcp__box__run", json!({"steps": [{"run": "rm -rf ~"}]})),
        ("mcp__box__run", json!({"binary": "/bin/rm", "flags": ["-r", "-f"], "targets": ["/home/dev"]})),
        ("move_file", json!({"from": "a.txt", "to": notes})),
        ("copy_file", json!({"from": key, "to": "k"})),
        ("read_mcp_resource", json!({"server": "fs", "uri": "file:///home/dev/.ssh/id_rsa"})),
        ("WebFetch", json!({"url": "http://169.254.169.254/latest/meta-data/iam/", "prompt": "x"})),
        ("Config", json!({"setting": "disableAllHooks", "value": true})),
        ("str_replace_editor", json!({"command": "create", "path": notes, "file_text": "x"})),
        ("mcp__fs__write_file", json!({"path": notes, "content": "x"})),
        ("mcp__fs__read_file", json!({"path": key})),
        ("mcp__fs__delete_file", json!({"path": notes})),
        ("mcp__fs__move_file", json!({"source": "a.txt", "destination": notes})),
        ("mcp__fs__remove_directory", json!({"path": "/home/dev"})),
        ("mcp__x__upload", json!({"path": key})),
        ("mcp__github__delete_repository", json!({"owner": "a", "repo": "b"})),
        ("mcp__db__drop_table", json!({"table": "users"})),
        ("mcp__db__query", json!({"sql": "drop database production"})),
        ("mcp__term__run", json!({"command": "rm -rf ~"})),
        ("mcp__shell__exec", json!({"program": "rm", "args": ["-rf", "/home/dev"]})),
        ("mcp__code__run_python", json!({"code": "import shutil; shutil.rmtree('/home/dev')"})),
        ("PowerShell", json!({"command": "Remove-Item -Recurse ~"})),
        ("batch", json!({"tool_calls": [{"tool": "bash", "parameters": {"command": "rm -rf ~"}}]})),
    ]
}

/// Fields that some tool reads, with what does no harm there.
fn beside() -> Vec<(&'static str, Json)> {
    let patch = "*** Begin Patch\n*** Add File: ok\n+x\n*** End Patch";
    let texts = [
        ("sql", "select 1"),
        ("statement", "select 1"),
        ("sql_query", "select 1"),
        ("query", "select 1 from x"),
        ("command", "ls"),
        ("cmd", "ls"),
        ("script", "ls"),
        ("CommandLine", "ls"),
        ("shell_command", "ls"),
        ("cli_command", "ls"),
        ("code", "1+1"),
        ("program", "ls"),
        ("arguments", "--help"),
        ("language", "python"),
        ("url", "http://localhost"),
        ("uri", "http://localhost/"),
        ("path", "a.txt"),
        ("file_path", "a.txt"),
        ("filePath", "a.txt"),
        ("filename", "a.txt"),
        ("notebook_path", "n.ipynb"),
        ("directory", "/tmp"),
        ("glob", "*.txt"),
        ("include", "*.txt"),
        ("source", "a.txt"),
        ("destination", "b.txt"),
        ("target", "b.txt"),
        ("input", "ls"),
        ("patch", patch),
        ("patchText", patch),
        ("setting", "theme"),
        ("mode", "view"),
        ("name", "echo"),
        ("tool", "echo"),
        ("cwd", "/tmp"),
        ("prompt", "x"),
        ("text", "ls"),
    ];
    let mut all: Vec<(&str, Json)> = texts.map(|(name, text)| (name, Json::from(text))).into();
    all.extend([
        ("statements", json!(["select 1 from x"])),
        ("commands", json!(["ls"])),
        ("args", json!(["x"])),
        ("args", json!([])),
        ("paths", json!(["a.txt"])),
        ("files", json!(["a.txt"])),
        ("input", json!({"command": "ls"})),
        ("params", json!({"path": "a.txt"})),
        ("tool_calls", json!([{"tool": "read", "parameters": {"path": "a.txt"}}])),
        ("calls", json!([])),
        ("dry_run", json!(true)),
        ("readOnlyHint", json!(true)),
        ("annotations", json!({"readOnlyHint": true})),
        ("recursive", json!(false)),
        ("value", json!(null)),
    ]);
    all
}

fn world() -> RecordedWorld {
    bare()
        .with_file(&path("/home/dev/proj/a.txt"), "a", VersionState::TrackedClean)
        .with_file(&path("/home/dev/.bashrc"), "a", VersionState::Untracked)
        .with_file(&path("/home/dev/.ssh/id_rsa"), "key", VersionState::Untracked)
}

fn effects(tool: &str, input: Json) -> Vec<Effect> {
    predict(&Action::tool_call(tool, input, path("/home/dev/proj")), &world()).effects
}

#[test]
fn a_field_beside_takes_no_effect_away() {
    let mut tried = 0;
    for (tool, input) in calls() {
        let alone = effects(tool, input.clone());
        assert!(!alone.is_empty(), "{tool}");
        for (name, value) in beside().into_iter().filter(|(name, _)| input.get(*name).is_none()) {
            let mut with = input.clone();
            with[name] = value;
            let found = effects(tool, with.clone());
            for effect in &alone {
                let is_kept = |other: &Effect| {
                    other.kind == effect.kind
                        && other.target == effect.target
                        && other.certainty >= effect.certainty
                };
                assert!(
                    found.iter().any(is_kept),
                    "{tool} {with}: {} {:?}",
                    effect.kind.name(),
                    effect.target
                );
            }
            tried += 1;
        }
    }
    assert!(tried > 1500, "{tried}");
}

#[test]
fn calls_within_a_call_are_judged() {
    let key = "/home/dev/.ssh/id_rsa";
    let inner = json!({"tool": "read", "parameters": {"filePath": key}});
    let used = json!({"recipient_name": "functions.read", "parameters": {"filePath": key}});
    let text = json!({"name": "Read", "arguments": json!({"file_path": key}).to_string()});
    for (tool, input) in [
        ("batch", json!({"tool_calls": [inner]})),
        ("multi_tool_use.parallel", json!({"tool_uses": [used]})),
        ("batch", json!({"tool_calls": [{"tool": "batch", "parameters": {"tool_calls": [inner]}}]})),
        ("mcp__proxy__call_tools", json!({"calls": [text]})),
        ("use_mcp_tool", json!({"server_name": "fs", "tool_name": "read_file", "arguments": {"path": key}})),
    ] {
        let is_read = |effect: &Effect| effect.target.path().is_some_and(|path| path.as_str() == key);
        assert!(effects(tool, input.clone()).iter().any(is_read), "{tool} {input}");
    }
}
