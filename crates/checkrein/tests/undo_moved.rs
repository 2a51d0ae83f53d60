//! What a command moves and then removes is lost from where it stood: it is saved from there, and asked about where that is too much.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// Ways to lose the directory `m`, or the file `big`, by a detour.
const DETOURS: [&str; 17] = [
    "mv m n; rm -rf n",
    "mv m n; rm -rf n/*",
    "mkdir t; mv m t/; rm -rf t",
    "mv m ../m2; find ../m2 -delete",
    "T=$(mktemp -d); mv m $T; rm -rf $T",
    "mv m m2; mv m2 m3; rm -r m3",
    "mv m n; mv n m; rm -rf m",
    "mv m n; cd n; git clean -fdx",
    "mv m ../z; cd ../z && git init && git clean -fdxq",
    "git init ../q; mv m ../q; rm -rf ../q",
    "git worktree add ../z -b z; mv m ../z/; git worktree remove -f ../z",
    "python3 -c \"import shutil; d='q'; shutil.move('m',d); shutil.rmtree(d)\"",
    "mv big big.old; rm big.old",
    "mv big big.old; rm -f big.*",
    "mv big big.old; echo other > big.old",
    "mv big big.old; mv README.md big.old",
    "python3 -c \"import os; f=open('big','a'); f.write('x'); f.close(); os.remove('big')\"",
];

fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for index in 0..20 {
        environment.write(&format!("m/f{index}"), &format!("only here {index}\n").repeat(6_000));
    }
    environment.write("big", &"only here as well\n".repeat(80_000));
    environment
}

#[test]
fn what_is_moved_and_removed_is_asked_about_where_it_cannot_be_saved() {
    for command in DETOURS {
        let environment = environment();
        environment.configure("config.yaml", "snapshots:\n  max_megabytes: 1\n");
        let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
        let answer = environment.answer_to(&payload);
        assert_eq!(decision(&answer), Some("ask"), "{command}: {answer}");
    }
}

#[test]
fn what_is_moved_and_removed_comes_back() {
    for command in DETOURS {
        let environment = environment();
        let before = (fs::read(environment.project().join("m/f7")).unwrap(), read(&environment, "big"));
        let payload = |event: &str, more| environment.payload("s", event, shell_call("call", command, more));
        let answer = environment.answer_to(&payload("PreToolUse", json!({})));
        assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
        let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status();
        status.unwrap();
        let outcome = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        environment.answer_to(&payload("PostToolUse", outcome));
        let output = environment.checkrein(&["undo", "--yes"]);
        assert_eq!((read(&environment, "m/f7"), read(&environment, "big")), before, "{command}: {output:?}");
    }
}

#[test]
fn what_is_only_moved_is_not_asked_about() {
    for command in ["mv m n", "mv m n; mv n m", "mv big b; echo more >> b", "mv big b; cat b; rm -f other"] {
        let environment = environment();
        environment.configure("config.yaml", "snapshots:\n  max_megabytes: 1\n");
        let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
        let answer = environment.answer_to(&payload);
        assert_eq!(decision(&answer), None, "{command}: {answer}");
    }
}

fn read(environment: &TestEnvironment, name: &str) -> Vec<u8> {
    fs::read(environment.project().join(name)).unwrap_or_default()
}
