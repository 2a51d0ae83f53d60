//! Plugins, as their users write, try, enable and see them; and what none of them can do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_sandbox::{Kernel, Network, Scope};
use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, repository, shell_call};

/// How long what happens behind a call may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whether this machine holds the bounds of a plugin; without them none runs.
fn holds_bounds() -> bool {
    let scope = Scope { network: Network::Loopback, ..Scope::default() };
    let holds = Kernel::probe().gaps(&scope).is_empty() && PathBuf::from("/usr/bin/python3").exists();
    if !holds {
        not_run("no sandbox without gaps, or no Python");
    }
    holds
}

fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A plugin in Python in the home directory; where it lies.
fn python(environment: &TestEnvironment, name: &str, manifest: &Json, body: &str) -> PathBuf {
    let folder = environment.home().join("work").join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut all = json!({ "name": name, "command": ["python3", "plugin.py"] });
    all.as_object_mut().unwrap().extend(manifest.as_object().unwrap().clone());
    fs::write(folder.join("plugin.json"), all.to_string()).unwrap();
    fs::write(folder.join("plugin.py"), format!("import json, sys\n{body}")).unwrap();
    folder
}

/// One that introduces itself, and answers each request by an expression of Python.
fn answering(environment: &TestEnvironment, name: &str, manifest: &Json, answer: &str) -> PathBuf {
    let greeting = json!({ "protocol": 1, "name": name, "kinds": manifest["kinds"] });
    let body = format!(
        "print(json.dumps({greeting}), flush=True)\n\
         for line in sys.stdin:\n    request = json.loads(line)\n    \
         print(json.dumps({{'id': request['id'], **({answer})}}), flush=True)\n"
    );
    python(environment, name, manifest, &body)
}

fn enable(environment: &TestEnvironment, folder: &std::path::Path) {
    environment.succeed(&["plugin", "enable", folder.to_str().unwrap(), "--yes"]);
}

fn entry(environment: &TestEnvironment, name: &str) -> Json {
    let lines = environment.succeed(&["plugin", "list", "--json"]);
    let entries = lines.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    entries.into_iter().find(|entry| entry["plugin"] == name).unwrap()
}

/// What `plugin test` says, one answer a line, and whether nothing failed.
fn tried(environment: &TestEnvironment, folder: &std::path::Path) -> (Vec<Json>, bool) {
    let output = environment.checkrein(&["plugin", "test", folder.to_str().unwrap(), "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), output.status.success())
}

/// A call that ran and failed, or did not.
fn call(environment: &TestEnvironment, session: &str, id: &str, command: &str, failed: bool) -> Json {
    let before = environment.payload(session, "PreToolUse", shell_call(id, command, json!({})));
    let answer = environment.answer_to(&before);
    let (event, more) = if failed {
        ("PostToolUseFailure", json!({ "error": "it failed" }))
    } else {
        ("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "" } }))
    };
    environment.answer_to(&environment.payload(session, event, shell_call(id, command, more)));
    answer
}

fn said(environment: &TestEnvironment, session: &str, says: &str) -> Option<Json> {
    let records = environment.records(session).into_iter();
    let mut bodies = records.map(|record| record["body"].clone());
    bodies.find(|body| body["name"] == "checkrein.plugin" && body["fields"]["says"] == says)
}

fn failure(environment: &TestEnvironment, session: &str) -> Option<Json> {
    let records = environment.records(session).into_iter();
    let mut bodies = records.map(|record| record["body"].clone());
    bodies.find(|body| body["type"] == "failure" && body["stage"] == "plugin")
}

const KINDS: [&str; 5] = ["patterns", "interventions", "risk", "exporter", "approvals"];

/// Tries what `plugin init` wrote: nothing fails, its own tests pass, and only what needs a network is not run.
fn works(environment: &TestEnvironment, folder: &std::path::Path, kinds: &[&str]) {
    let (trials, passed) = tried(environment, folder);
    assert!(passed, "{trials:#?}");
    for kind in kinds {
        let own = format!("tests/{kind}.jsonl:1");
        assert!(
            trials.iter().any(|trial| trial["place"] == own && trial["result"] == "passed"),
            "{trials:#?}"
        );
        let recorded = format!("a recorded session, {kind}");
        let of_kind: Vec<&Json> = trials.iter().filter(|trial| trial["test"] == recorded).collect();
        let needs_network = ["exporter", "approvals"].contains(kind);
        let wanted = if needs_network { "not_run" } else { "passed" };
        assert!(!of_kind.is_empty() && of_kind.iter().all(|trial| trial["result"] == wanted), "{of_kind:#?}");
    }
}

#[test]
fn what_init_writes_in_python_works_as_it_is() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    environment.succeed(&["plugin", "init", "first"]);
    works(&environment, &environment.project().join("first"), &["patterns"]);
    let mut arguments = vec!["plugin", "init", "all-of-them"];
    KINDS.iter().for_each(|kind| arguments.extend(["--kind", kind]));
    environment.succeed(&arguments);
    works(&environment, &environment.project().join("all-of-them"), &KINDS);
    // What is there is not written over.
    let again = environment.checkrein(&["plugin", "init", "first"]);
    assert_eq!(again.status.code(), Some(1));
    let named = environment.checkrein(&["plugin", "init", "../first"]);
    assert!(String::from_utf8_lossy(&named.stderr).contains("is not a name"));
}

#[test]
fn what_init_writes_in_rust_works_once_it_is_built() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let mut arguments = vec!["plugin", "init", "built", "--language", "rust"];
    KINDS.iter().for_each(|kind| arguments.extend(["--kind", kind]));
    environment.succeed(&arguments);
    let folder = environment.project().join("built");
    let early = environment.checkrein(&["plugin", "test", "./built"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("build it first"), "{early:?}");
    let built = Command::new(env!("CARGO"))
        .args(["install", "--offline", "--quiet", "--debug", "--path", ".", "--root", "."])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(&folder)
        .output()
        .unwrap();
    if !built.status.success() && String::from_utf8_lossy(&built.stderr).contains("--offline") {
        return not_run("the packages of the template are not here");
    }
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    works(&environment, &folder, &KINDS);
}

#[test]
fn the_plugin_of_the_documentation_is_one_and_its_test_passes() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let page = fs::read_to_string(repository().join("docs/plugins.md")).unwrap();
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let folder = environment.home().join("work/many-deletions");
    fs::create_dir_all(folder.join("tests")).unwrap();
    let (manifest, code, test) = (block("json"), block("python"), block("jsonl"));
    assert!(code.lines().count() <= 20, "{}", code.lines().count());
    fs::write(folder.join("plugin.json"), manifest).unwrap();
    fs::write(folder.join("plugin.py"), code).unwrap();
    fs::write(folder.join("tests/first.jsonl"), &test).unwrap();
    let (trials, passed) = tried(&environment, &folder);
    assert!(passed && trials.iter().all(|trial| trial["result"] == "passed"), "{trials:#?}");
    assert_eq!(trials.len(), 2 + test.lines().count());
}

#[test]
fn what_is_wrong_with_a_plugin_is_said_with_its_line_and_nothing_of_it_gets_out() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let secret = environment.home().join("secret.txt");
    fs::write(&secret, "hunter2").unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let hello = "print(json.dumps({'protocol': 1, 'name': 'x', 'kinds': ['risk']}), flush=True)\n";
    let after =
        |body: &str| format!("{hello}for line in sys.stdin:\n    request = json.loads(line)\n    {body}\n");
    let secret = secret.display().to_string();
    let own = environment.home().join("work/x").display().to_string();
    for (body, wanted) in [
        ("print('hello')".to_owned(), "line 1 of its output: the first line must be"),
        (
            "print(json.dumps({'protocol': 2, 'name': 'x', 'kinds': ['risk']}))".to_owned(),
            "version 2 of the protocol",
        ),
        ("print(json.dumps({'protocol': 1, 'name': 'y', 'kinds': ['risk']}))".to_owned(), "another name"),
        ("raise ValueError('no luck')".to_owned(), "no luck"),
        ("import time\ntime.sleep(60)".to_owned(), "its time was over"),
        (after("print('{', flush=True)"), "line 2 of its output: not JSON"),
        (after("print(json.dumps([1]), flush=True)"), "line 2 of its output: not an object"),
        (after("print(json.dumps({'id': 9, 'factors': []}), flush=True)"), "has `id` 9, not 1"),
        (
            after("print(json.dumps({'id': 1, 'factors': [{'amount': -0.5, 'reason': 'r'}]}), flush=True)"),
            "only raises",
        ),
        (
            after("print(json.dumps({'id': 1, 'factors': [], 'verdict': 'ok'}), flush=True)"),
            "unknown field `verdict`",
        ),
        (after("print('x' * 2000000, flush=True)"), "longer than 1024 KB"),
        (after("sys.exit(3)"), "ended before an answer came"),
        (after("while True: pass"), "its time was over"),
        (after("x = bytearray(400 << 20); print(len(x)); sys.stdin.read()"), "memory"),
        (after(&format!("open('{secret}')")), "PermissionError"),
        (after(&format!("open('{own}/new.txt', 'w')")), "PermissionError"),
        (after("open('plugin.py', 'a')"), "PermissionError"),
        (after(&format!("__import__('socket').create_connection(('127.0.0.1', {port}))")), "Error"),
        (after(&format!("__import__('os').system('cat {secret} >&2'); sys.exit(1)")), "ermission denied"),
    ] {
        // The others end long before, also where much else runs.
        let seconds = if wanted == "its time was over" { 1 } else { 30 };
        let folder = python(&environment, "x", &json!({ "kinds": ["risk"], "seconds": seconds }), &body);
        let (trials, passed) = tried(&environment, &folder);
        let fault = trials[0]["fault"].as_str().unwrap_or_default();
        assert!(!passed && trials[0]["result"] == "failed", "{body}: {trials:#?}");
        assert!(fault.contains(wanted), "{body}\nsays: {fault}");
        assert!(!fault.contains("hunter2"), "{fault}");
    }
    assert!(!PathBuf::from(own).join("new.txt").exists());
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "it reached the network");
}

// Source: seed 001-75, 001-77
#[test]
fn what_a_plugin_sees_counts_from_the_next_call_on_and_no_longer_than_it_is_enabled() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns", "risk"] });
    let answer = "{'issues': [{'kind': 'too_late', 'severity': 'critical', 'summary': 'it is friday', 'advice': 'wait for monday'}] \
                  if any(a['failed'] for a in request['actions']) else []} if request['kind'] == 'patterns' else {'factors': []}";
    let folder = answering(&environment, "fridays", &manifest, answer);
    enable(&environment, &folder);
    assert_eq!(call(&environment, "s", "one", "touch src/one.rs", true), json!({}));
    let body = until("the issue", || said(&environment, "s", "issues"));
    assert_eq!(body["fields"]["issues"][0]["kind"], "too_late");
    let asked = environment.bash("s", "touch src/two.rs");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("plugin fridays sees too_late: it is friday"), "{asked}");
    // What only looks is not asked about; another session knows nothing of it.
    assert_ne!(decision(&environment.bash("s", "ls")), Some("ask"));
    assert_eq!(environment.bash("other", "touch src/two.rs"), json!({}));
    let entry = entry(&environment, "fridays");
    assert_eq!((&entry["state"], &entry["failures"]), (&json!("enabled"), &json!(0)), "{entry}");
    environment.succeed(&["plugin", "disable", "fridays"]);
    assert_ne!(decision(&environment.bash("s", "touch src/two.rs")), Some("ask"));
}

#[test]
fn a_plugin_that_fails_is_told_of_and_lets_nothing_through() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"], "seconds": 1 });
    let folder = answering(&environment, "broken", &manifest, "{'issues': 'none'}");
    enable(&environment, &folder);
    let before = environment.bash("plain", "rm -rf ~");
    call(&environment, "s", "one", "ls", false);
    let body = until("the failure", || failure(&environment, "s"));
    assert_eq!(body["kind"], "wrong_answer");
    assert!(body["detail"].as_str().unwrap().contains("line 2 of its output"), "{body}");
    // Once in a session, however often it fails.
    call(&environment, "s", "two", "ls", false);
    environment.succeed(&["plugin", "run"]);
    let failures =
        environment.records("s").iter().filter(|record| record["body"]["stage"] == "plugin").count();
    assert_eq!(failures, 1);
    assert_eq!(environment.bash("s", "rm -rf ~"), before);
    let started =
        environment.answer_to(&environment.payload("t", "SessionStart", json!({ "source": "startup" })));
    assert!(started["systemMessage"].as_str().unwrap_or_default().contains("plugin `broken`"), "{started}");
    let doctor = environment.checkrein(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("`broken`"), "{doctor:?}");
    let entry = entry(&environment, "broken");
    assert!(entry["failures"].as_u64() >= Some(1) && entry["last_failure"].is_string(), "{entry}");
}

#[test]
fn a_plugin_runs_no_more_once_a_file_of_it_changes() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"] });
    let answer = "{'issues': [{'kind': 'seen', 'severity': 'low', 'summary': 's', 'advice': 'a'}]}";
    enable(&environment, &answering(&environment, "watch", &manifest, answer));
    let installed = environment.home().join(".config/checkrein/plugins/watch");
    fs::write(installed.join("more.py"), "").unwrap();
    call(&environment, "s", "one", "ls", false);
    let body = until("the failure", || failure(&environment, "s"));
    assert_eq!(body["kind"], "changed");
    assert_eq!(said(&environment, "s", "issues"), None);
    assert_eq!(entry(&environment, "watch")["state"], "changed");
    // A user looks at it and says so.
    environment.succeed(&["plugin", "enable", "watch", "--yes"]);
    call(&environment, "s", "two", "ls", false);
    until("the issue", || said(&environment, "s", "issues"));
}

// Source: seed 000-105
#[test]
fn nobody_but_a_person_says_which_plugins_run() {
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"] });
    let folder = answering(&environment, "watch", &manifest, "{'issues': []}");
    let folder = folder.display();
    for command in [
        format!("checkrein plugin enable {folder} --yes"),
        "checkrein plugin disable watch".to_owned(),
        format!("cp -r {folder} ~/.config/checkrein/plugins/"),
        "echo 'print()' >> ~/.config/checkrein/plugins/watch/plugin.py".to_owned(),
        "mkdir -p ~/.local/state/checkrein/plugins/enabled".to_owned(),
        "rm -r ~/.local/state/checkrein/plugins".to_owned(),
        "echo '{}' > ~/.local/state/checkrein/plugins/status/watch.json".to_owned(),
    ] {
        assert_eq!(decision(&environment.bash("s", &command)), Some("deny"), "{command}");
    }
    // Also where no hook hears it.
    for arguments in [&["enable", &folder.to_string(), "--yes"][..], &["disable", "watch"]] {
        let output = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .arg("plugin")
            .args(arguments)
            .env("CLAUDECODE", "1")
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains("is for humans only"), "{output:?}");
    }
    // What a repository brings is no plugin.
    environment.write("plugins/watch/plugin.json", "{}");
    environment.write(".config/checkrein/plugins/watch/plugin.json", "{}");
    call(&environment, "s", "one", "ls", false);
    assert_eq!(environment.succeed(&["plugin", "list", "--json"]), "");
}

// Source: seed 001-80
#[test]
fn an_exporter_takes_each_record_once_also_after_its_collector_was_away() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let port = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    environment.succeed(&["plugin", "init", "sender", "--kind", "exporter"]);
    let code = environment.project().join("sender/plugin.py");
    let text = fs::read_to_string(&code).unwrap();
    assert!(text.contains("5170"));
    fs::write(&code, text.replace("5170", &port.to_string())).unwrap();
    enable(&environment, &environment.project().join("sender"));
    // Nobody listens.
    call(&environment, "s", "one", "export TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz12; ls", false);
    let body = until("the failure", || failure(&environment, "s"));
    assert_eq!(body["kind"], "own_error");
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            BufReader::new(stream).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        }
    });
    // It is not tried again at once, but it is.
    until("the records", || {
        environment.succeed(&["plugin", "run", "--session", "s"]);
        (entry(&environment, "sender")["runs"].as_u64() > Some(0)).then_some(())
    });
    let mut taken: Vec<u64> = Vec::new();
    let mut all = String::new();
    let mut take_up = || {
        let end = recorded(&environment, "s").last().copied();
        while taken.last().copied() < end {
            let line = lines.recv_timeout(PATIENCE).unwrap();
            taken.push(serde_json::from_str::<Json>(&line).unwrap()["seq"].as_u64().unwrap());
            all.push_str(&line);
        }
    };
    call(&environment, "s", "two", "ls", false);
    take_up();
    // What came while it did not run, because its files changed, is not lost.
    fs::write(environment.home().join(".config/checkrein/plugins/sender/more.py"), "").unwrap();
    call(&environment, "s", "three", "ls", false);
    environment.succeed(&["plugin", "enable", "sender", "--yes"]);
    call(&environment, "s", "four", "ls", false);
    take_up();
    let mut once = taken.clone();
    once.dedup();
    assert!(once == taken && taken.is_sorted(), "{taken:?}");
    assert!(!all.contains("ghp_0123456789"), "a secret got out");
}

#[test]
fn a_plugin_of_approvals_is_a_channel_of_notices() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    environment.configure(
        "config.yaml",
        "interventions:\n  emergency_stop:\n    notification_channels: [\"plugin:bell\"]\n",
    );
    let unknown = environment.checkrein(&["notice", "test"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("`bell` is not enabled"), "{unknown:?}");
    let manifest = json!({ "kinds": ["approvals"] });
    let answer =
        "{'told': 'you can' not in request['notice']['text'] and request['notice']['event'] == 'test'}";
    enable(&environment, &answering(&environment, "bell", &manifest, answer));
    assert!(environment.succeed(&["notice", "test"]).contains("plugin:bell: sent"));
    // It answers nothing but that.
    let answer = "{'told': True, 'allow': True}";
    enable(&environment, &answering(&environment, "bell", &manifest, answer));
    let refused = environment.checkrein(&["notice", "test"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("unknown field `allow`"), "{refused:?}");
}

// Source: seed 000-104, 001-76, 001-78
#[test]
fn a_plugin_makes_an_intervention_stronger_and_adds_its_words() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", support::AT_ONCE);
    let manifest = json!({ "kinds": ["interventions"] });
    let answer = "{'words': 'Breathe.', 'rung': 'resource_throttling'} if request['issue']['kind'] == 'stuck_loop' else {}";
    enable(&environment, &answering(&environment, "calm", &manifest, answer));
    for number in 0..3 {
        call(&environment, "s", &format!("c{number}"), "make check", true);
    }
    until("the advice", || said(&environment, "s", "intervention"));
    for number in 3..6 {
        call(&environment, "s", &format!("c{number}"), "make check", true);
    }
    let records = environment.records("s");
    let made: Vec<&Json> =
        records.iter().map(|record| &record["body"]).filter(|body| body["type"] == "intervention").collect();
    assert_eq!(made[0]["kind"], "soft_correction", "{made:#?}");
    assert_eq!(made[1]["kind"], "resource_throttling", "{made:#?}");
    assert!(made[1]["text"].as_str().unwrap().contains("plugin calm: Breathe."), "{made:#?}");
}

#[test]
fn before_a_call_no_plugin_runs() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"] });
    enable(&environment, &answering(&environment, "watch", &manifest, "{'issues': []}"));
    environment.bash("s", "ls");
    environment.bash("s", "touch src/a.rs");
    thread::sleep(Duration::from_secs(2));
    assert_eq!(entry(&environment, "watch")["runs"], 0);
    assert!(!environment.state().join("sessions/s/plugins.lock").exists());
}

/// A collector that answers each request with a status, and hands on what was posted.
fn web_server(status: &'static str) -> (u16, mpsc::Receiver<Json>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, posted) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            drop(sender.send(serde_json::from_slice(&body).unwrap()));
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    (port, posted)
}

fn exporting(environment: &TestEnvironment, key: &str, value: &str) {
    environment.configure("config.yaml", &format!("audit:\n  export:\n    {key}: \"{value}\"\n"));
    // Once sessions have run, where records go is for a user to confirm.
    environment.succeed(&["trust", "--yes"]);
}

/// The numbers of the records of a session up to its last outcome.
fn recorded(environment: &TestEnvironment, session: &str) -> Vec<u64> {
    let records = environment.records(session);
    let end = records.iter().rposition(|record| record["body"]["type"] == "outcome").unwrap();
    records[..=end].iter().map(|record| record["seq"].as_u64().unwrap()).collect()
}

// Source: seed 001-80
#[test]
fn records_go_to_syslog_over_tcp_each_once() {
    let environment = TestEnvironment::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    exporting(&environment, "syslog", &format!("tcp:{}", listener.local_addr().unwrap()));
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            loop {
                // A count of octets, a space, and so many octets (RFC 6587).
                let mut count = Vec::new();
                if stream.read_until(b' ', &mut count).unwrap() == 0 {
                    break;
                }
                let count: usize = String::from_utf8(count).unwrap().trim().parse().unwrap();
                let mut message = vec![0; count];
                stream.read_exact(&mut message).unwrap();
                drop(sender.send(String::from_utf8(message).unwrap()));
            }
        }
    });
    call(&environment, "s", "one", "ls", false);
    call(&environment, "s", "two", "echo ghp_0123456789abcdefghijklmnopqrstuvwxyz12", false);
    let wanted = recorded(&environment, "s");
    let mut taken = Vec::new();
    while taken.last() < wanted.last() {
        let message = messages.recv_timeout(PATIENCE).unwrap();
        assert!(message.starts_with("<1") && message.contains(" checkrein "), "{message}");
        assert!(!message.contains("ghp_0123456789"), "{message}");
        let (_, record) = message.split_once("] ").unwrap();
        taken.push(serde_json::from_str::<Json>(record).unwrap()["seq"].as_u64().unwrap());
    }
    assert_eq!(taken, wanted);
}

#[test]
fn records_go_to_a_local_syslog_as_datagrams() {
    let environment = TestEnvironment::new();
    let place = environment.home().join("log");
    let socket = UnixDatagram::bind(&place).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    exporting(&environment, "syslog", &format!("unix:{}", place.display()));
    call(&environment, "s", "one", "ls", false);
    let wanted = recorded(&environment, "s");
    for number in wanted {
        let mut message = vec![0; 64 * 1024];
        let length = socket.recv(&mut message).unwrap();
        let message = String::from_utf8_lossy(&message[..length]).into_owned();
        assert!(message.contains(&format!("session=\"s\" seq=\"{number}\"]")), "{message}");
    }
}

// Source: seed 001-80
#[test]
fn records_go_to_a_webhook_and_what_it_refuses_stands_aside() {
    let environment = TestEnvironment::new();
    let (port, posted) = web_server("200 OK");
    exporting(&environment, "webhook", &format!("http://127.0.0.1:{port}/records"));
    call(&environment, "s", "one", "ls", false);
    let wanted = recorded(&environment, "s");
    let mut taken: Vec<u64> = Vec::new();
    while taken.last() < wanted.last() {
        let body = posted.recv_timeout(PATIENCE).unwrap();
        assert_eq!(body["session"], "s");
        taken
            .extend(body["records"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()));
    }
    assert_eq!(taken, wanted);

    let (port, posted) = web_server("400 Bad Request");
    exporting(&environment, "webhook", &format!("http://127.0.0.1:{port}/records"));
    call(&environment, "t", "one", "ls", false);
    posted.recv_timeout(PATIENCE).unwrap();
    let aside = environment.state().join("plugins/dead-letters/webhook.jsonl");
    let text = until("what stands aside", || fs::read_to_string(&aside).ok().filter(|text| !text.is_empty()));
    let first: Json = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["session"], &first["why"]), (&json!("t"), &json!("the server answers 400")));
    assert_eq!(until("the failure", || failure(&environment, "t"))["kind"], "put_aside");
    assert!(text.contains("\"ls\""), "{text}");

    // Where records are encrypted, what stands aside is, too.
    let address = format!("http://127.0.0.1:{port}/records");
    let encrypted = TestEnvironment::new();
    encrypted.configure(
        "config.yaml",
        &format!("audit:\n  encrypt: true\n  export:\n    webhook: \"{address}\"\n"),
    );
    call(&encrypted, "t", "one", "ls quince", false);
    posted.recv_timeout(PATIENCE).unwrap();
    let aside = encrypted.state().join("plugins/dead-letters/webhook.jsonl");
    let text = until("what stands aside", || fs::read_to_string(&aside).ok().filter(|text| !text.is_empty()));
    let first: Json = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(first["record"].is_string() && !text.contains("quince"), "{text}");
}

#[test]
fn a_webhook_that_is_away_gets_its_records_later() {
    let environment = TestEnvironment::new();
    exporting(&environment, "webhook", "http://127.0.0.1:1/records");
    call(&environment, "s", "one", "ls", false);
    assert_eq!(until("the failure", || failure(&environment, "s"))["kind"], "own_error");
    let doctor = environment.checkrein(&["doctor"]);
    assert!(
        String::from_utf8_lossy(&doctor.stdout).contains("`audit.export.webhook` took nothing"),
        "{doctor:?}"
    );
    let (port, posted) = web_server("200 OK");
    exporting(&environment, "webhook", &format!("http://127.0.0.1:{port}/records"));
    let body = until("the records", || {
        environment.succeed(&["plugin", "run"]);
        posted.try_recv().ok()
    });
    assert_eq!(body["records"][0]["seq"], 1);
    assert!(!environment.state().join("plugins/dead-letters").exists());
}

#[test]
fn what_a_session_had_on_record_before_a_webhook_was_set_does_not_go_to_it() {
    let environment = TestEnvironment::new();
    call(&environment, "before", "one", "ls", false);
    thread::sleep(Duration::from_millis(20));
    let (port, posted) = web_server("200 OK");
    exporting(&environment, "webhook", &format!("http://127.0.0.1:{port}/records"));
    environment.succeed(&["plugin", "run"]);
    call(&environment, "after", "one", "ls", false);
    let body = until("the records", || {
        environment.succeed(&["plugin", "run"]);
        posted.try_recv().ok()
    });
    assert_eq!((&body["session"], &body["records"][0]["seq"]), (&json!("after"), &json!(1)), "{body}");
    // A session that goes on is taken from where it was then.
    let known = environment.records("before").len();
    call(&environment, "before", "two", "ls", false);
    let body = until("the later records", || {
        environment.succeed(&["plugin", "run"]);
        posted.try_recv().ok().filter(|body| body["session"] == "before")
    });
    assert_eq!(body["records"][0]["seq"], known + 1, "{body}");
}

#[test]
fn what_stands_aside_goes_again_once_the_server_takes_records() {
    let environment = TestEnvironment::new();
    let aside = environment.state().join("plugins/dead-letters/webhook.jsonl");
    fs::create_dir_all(aside.parent().unwrap()).unwrap();
    let letter = |session: &str, more: Json| {
        let mut line = json!({ "session": session, "why": "x", "record": { "seq": 4 } });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let lines = letter("away", json!({})) + &letter("refused", json!({ "aside_for": "refusal" }));
    fs::write(&aside, lines).unwrap();
    let (port, posted) = web_server("200 OK");
    exporting(&environment, "webhook", &format!("http://127.0.0.1:{port}/records"));
    call(&environment, "s", "one", "ls", false);
    let mut sessions = BTreeSet::new();
    while !sessions.contains("away") {
        let body = posted.recv_timeout(PATIENCE).unwrap();
        sessions.insert(body["session"].as_str().unwrap().to_owned());
    }
    assert!(!sessions.contains("refused"), "{sessions:?}");
    // Who asks for all has it sent as well.
    until("what was refused", || {
        environment.succeed(&["plugin", "run"]);
        posted.try_recv().ok().filter(|body| body["session"] == "refused")
    });
    until("nothing aside", || (!aside.exists()).then_some(()));
}

#[test]
fn the_records_that_a_receiver_gets_make_a_chain_also_where_a_plugin_failed() {
    let environment = TestEnvironment::new();
    let (port, posted) = web_server("200 OK");
    environment.configure(
        "config.yaml",
        &format!(
            "audit:\n  export:\n    webhook: \"http://127.0.0.1:{port}/\"\n    syslog: \"tcp:127.0.0.1:1\"\n"
        ),
    );
    environment.succeed(&["trust", "--yes"]);
    call(&environment, "s", "one", "ls", false);
    // That syslog takes nothing is a record of the session.
    until("the failure", || failure(&environment, "s"));
    call(&environment, "s", "two", "ls", false);
    let last = environment.records("s").last().unwrap()["seq"].as_u64().unwrap();
    let mut taken: Vec<Json> = Vec::new();
    while taken.last().is_none_or(|record| record["seq"].as_u64().unwrap() < last) {
        let body = posted.recv_timeout(PATIENCE).unwrap();
        taken.extend(body["records"].as_array().unwrap().iter().cloned());
    }
    assert!(taken.windows(2).all(|pair| pair[1]["prev"] == pair[0]["hash"]), "{taken:?}");
    assert!(taken.iter().any(|record| record["body"]["stage"] == "plugin"), "{taken:?}");
}

#[test]
fn a_run_of_plugins_says_once_what_concerns_all_sessions() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"] });
    let folder = answering(&environment, "watch", &manifest, "{'issues': []}");
    enable(&environment, &folder);
    let installed = environment.home().join(".config/checkrein/plugins/watch/plugin.py");
    fs::write(&installed, "print()\n").unwrap();
    for session in ["a", "b", "c"] {
        call(&environment, session, "one", "ls", false);
        until("the failure", || failure(&environment, session));
    }
    let output = environment.checkrein(&["plugin", "run"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.matches("its files changed").count(), 1, "{text}");
    // It decided about no call, so it is not fine either.
    let log = environment.succeed(&["log"]);
    let line = log.lines().find(|line| line.contains("plugin")).unwrap();
    assert!(!line.trim_start().starts_with("ok"), "{log}");
}

#[test]
fn a_purge_takes_what_plugins_left_in_the_state() {
    if !holds_bounds() {
        return;
    }
    let environment = TestEnvironment::new();
    let manifest = json!({ "kinds": ["patterns"] });
    enable(&environment, &answering(&environment, "watch", &manifest, "{'issues': []}"));
    call(&environment, "s", "one", "ls", false);
    until("the run", || (entry(&environment, "watch")["runs"].as_u64() > Some(0)).then_some(()));
    until("its end", || environment.state().join("sessions/s/plugins.json").exists().then_some(()));
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists());
}
