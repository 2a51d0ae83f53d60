//! A database that is named in any way is saved and comes back with the logs beside it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::io::Read as _;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

#[test]
fn a_database_comes_back_with_its_log_however_it_is_named() {
    for command in
        ["rm app.db", "> app.db", "cp other.db app.db", "mv other.db app.db", "mv app.db old.db; rm old.db"]
    {
        let environment = TestEnvironment::new();
        let python = |code: &str| {
            let program = format!("import sqlite3, os\nc = sqlite3.connect('app.db')\n{code}\n");
            let output = environment.command("python3").args(["-c", &program]).stdin(Stdio::null()).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        environment.write("other.db", "another database");
        // One that ends without closing leaves the log, and in it the last row.
        python(
            "c.execute('PRAGMA journal_mode=WAL'); c.execute('CREATE TABLE t(x)')\nc.execute('INSERT INTO t VALUES (1)'); c.commit(); c.close()",
        );
        python("c.execute('INSERT INTO t VALUES (2)'); c.commit(); os._exit(0)");
        let payload = |event: &str, more| environment.payload("s", event, shell_call("call", command, more));
        let answer = environment.answer_to(&payload("PreToolUse", json!({})));
        assert_eq!(decision(&answer), None, "{command}: {answer}");
        environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
        let outcome = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        environment.answer_to(&payload("PostToolUse", outcome));
        // The log goes with the database that its program finds now.
        environment.command("rm").args(["-f", "app.db-wal", "app.db-shm"]).status().unwrap();
        let output = environment.checkrein(&["undo", "--yes", "--force"]);
        let rows = python("print(c.execute('SELECT count(*) FROM t').fetchone()[0])");
        assert_eq!(rows, "2\n", "{command}: {output:?}");
    }
}

#[test]
fn who_has_a_database_open_is_looked_for_whatever_stands_there() {
    let environment = TestEnvironment::new();
    let mut python = environment.command("python3");
    let code = "import sqlite3, sys\nc = sqlite3.connect('app.db'); c.execute('CREATE TABLE t(x)'); c.commit()\nprint('x', flush=True); sys.stdin.read()";
    let mut holder = python.args(["-c", code]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    holder.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let command = "cp /dev/null app.db";
    let payload = |event: &str, more| environment.payload("s", event, shell_call("call", command, more));
    environment.answer_to(&payload("PreToolUse", json!({})));
    environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    let outcome = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    environment.answer_to(&payload("PostToolUse", outcome));
    let held = environment.checkrein(&["undo", "--yes"]);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let free = environment.checkrein(&["undo", "--yes"]);
    assert!(!held.status.success(), "{held:?}");
    assert!(free.status.success(), "{free:?}");
}
