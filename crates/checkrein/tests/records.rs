//! What is written down, in which form, for how long, and who can tell that something was cut off.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use checkrein_engine::clock::Clock;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::retention::{self, Carry};
use checkrein_ledger::{Durability, StateDirectory};
use checkrein_policy::Config;
use checkrein_protocol::{AbsolutePath, RecordBody, SessionId, Timestamp};
use checkrein_session::SessionLedger;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

fn ledger(environment: &TestEnvironment, session: &str) -> String {
    fs::read_to_string(environment.state().join("sessions").join(session).join("ledger.jsonl")).unwrap()
}

fn start(environment: &TestEnvironment, session: &str) {
    environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
}

const PERSON: &str = "mail to Ann at ann@shop.example.com or +49 30 901820, card 4111 1111 1111 1111, account DE89370400440532013000";

// Source: seed 004-1
#[test]
fn the_event_log_is_off_by_a_variable_and_goes_with_its_records() {
    let environment = TestEnvironment::new();
    let folder = environment.state().join("events");
    let call = environment.payload("s", "PreToolUse", support::shell_call("one", "rm -rf ~", json!({})));
    let hook = |variable: &str| {
        let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
        hook.arg("claude").env("CHECKREIN_TELEMETRY", variable);
        hook.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = hook.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &call).unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    };
    hook("0");
    assert!(!folder.exists());
    hook("1");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|one| one.unwrap().path()).collect();
    let text = std::fs::read_to_string(&names[0]).unwrap();
    let told: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let review = told.iter().find(|one| one["event"] == "tool.review").unwrap();
    assert_eq!((&review["verdict"], &review["level"]), (&json!("block"), &json!("warning")), "{text}");
    assert!(!text.contains("rm -rf"), "no command stands in it: {text}");
    // Days beyond the retention go when a session starts.
    std::fs::write(folder.join("2020-01-01.jsonl"), "{}\n").unwrap();
    environment.answer_to(&environment.payload("t", "SessionStart", json!({ "source": "startup" })));
    assert!(!folder.join("2020-01-01.jsonl").exists() && names[0].exists());
}

#[test]
fn what_says_who_somebody_is_is_masked_unless_that_is_switched_off() {
    let environment = TestEnvironment::new();
    let prompt = |session: &str| {
        environment.answer_to(&environment.payload(session, "UserPromptSubmit", json!({ "prompt": PERSON })));
        ledger(&environment, session)
    };
    let masked = prompt("masked");
    for clear in ["ann@shop", "901820", "4111 1111", "DE8937"] {
        assert!(!masked.contains(clear), "{clear} stands in {masked}");
    }
    for kind in ["email", "phone", "card", "iban"] {
        assert!(masked.contains(&format!("[masked:{kind}:")), "{kind} is missing in {masked}");
    }
    environment.configure("config.yaml", "audit:\n  mask:\n    personal_data: false\n    literals: [Ann]\n");
    let clear = prompt("clear");
    assert!(clear.contains("4111 1111 1111 1111") && clear.contains("[masked:literal:"), "{clear}");
}

#[test]
fn a_file_of_heads_elsewhere_shows_that_the_end_was_cut_off() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "audit:\n  anchor: heads.txt\n");
    start(&environment, "s");
    environment.bash("s", "rm -rf ~");
    environment.succeed(&["audit", "verify"]);
    let anchored = fs::read_to_string(environment.home().join("heads.txt")).unwrap();
    assert!(anchored.lines().any(|line| line.starts_with("s ")), "{anchored}");
    // Whoever can write to the state directory can make it agree with itself, but not with what lies elsewhere.
    let folder = environment.state().join("sessions/s");
    let first = ledger(&environment, "s").lines().next().unwrap().to_owned();
    fs::write(folder.join("ledger.jsonl"), format!("{first}\n")).unwrap();
    for cache in ["state", "state.twin"] {
        drop(fs::remove_file(folder.join(cache)));
    }
    fs::remove_file(environment.state().join("heads")).unwrap();
    let output = environment.checkrein(&["audit", "verify"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the file of heads outside"), "{text}");
}

// Source: seed 003-36
#[test]
fn an_agent_brings_along_the_trust_debt_of_its_last_session_in_the_same_project() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "governance: {tier: 4}\n");
    start(&environment, "first");
    for _ in 0..4 {
        environment.bash("first", "rm -rf ~");
    }
    // In another project it begins anew.
    let other = environment.home().join("other");
    fs::create_dir(&other).unwrap();
    let mut payload: Json = serde_json::from_slice(&environment.payload(
        "elsewhere",
        "SessionStart",
        json!({ "source": "startup" }),
    ))
    .unwrap();
    payload["cwd"] = json!(other);
    environment.answer_to(payload.to_string().as_bytes());
    let records = environment.records("elsewhere");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].is_null(), "{started}");
    start(&environment, "second");
    let records = environment.records("second");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].as_f64().unwrap() > 6.0, "{started}");
    // Where the debt decides, it is the reason, with what the user can do.
    let prompt = json!({ "prompt": "Explain how the parser of dates works" });
    environment.answer_to(&environment.payload("second", "UserPromptSubmit", prompt));
    let answer = environment.bash("second", "npm install left-pad").to_string();
    assert!(
        answer.contains("many hints, questions and refusals") && answer.contains("checkrein ticket list"),
        "{answer}"
    );
    assert!(!answer.contains("Side effects"), "{answer}");
    environment.configure("config.yaml", "governance:\n  trust_debt:\n    enabled: false\n");
    environment.succeed(&["trust", "--yes"]);
    start(&environment, "third");
    let records = environment.records("third");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].is_null(), "{started}");
}

// Source: seed 001-54
#[test]
fn the_diagnostic_log_says_as_much_as_it_is_asked_for() {
    let lines = |level: &str| {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", &format!("audit:\n  log_level: {level}\n"));
        environment.bash("s", "ls");
        environment.bash("s", "rm -rf ~");
        let said = fs::read_to_string(environment.state().join("diagnostics.log")).unwrap_or_default();
        // A machine that is busy has warnings to add about time.
        said.lines().filter(|line| !line.contains(" warn ")).count()
    };
    assert_eq!(lines("error"), 0);
    assert_eq!(lines("info"), 1, "the refusal");
    assert!(lines("debug") >= 3, "every call as well");
}

// Source: seed 001-56
#[test]
fn exports_have_the_form_that_is_configured() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    assert!(environment.succeed(&["audit", "export"]).starts_with('{'));
    environment.configure("config.yaml", "audit:\n  export_format: csv\n");
    assert!(!environment.succeed(&["audit", "export"]).starts_with('{'));
    for form in ["jsonl", "json"] {
        assert!(environment.succeed(&["audit", "export", "--form", form]).starts_with('{'), "{form}");
    }
    // Who asks for JSON gets it, or an error.
    assert!(environment.succeed(&["--json", "audit", "export"]).starts_with('{'));
    assert!(!environment.checkrein(&["--json", "audit", "export", "--form", "csv"]).status.success());
    // One set of names: the setting takes those of the option, and its older one.
    for (form, beginning) in [("cef", "CEF:"), ("ocsf", "{"), ("jsonl", "{"), ("json", "{")] {
        environment.configure("config.yaml", &format!("audit:\n  export_format: {form}\n"));
        environment.bash("s", "rm -rf ~");
        let said = environment.succeed(&["audit", "export"]);
        assert!(said.starts_with(beginning), "{form}: {said}");
    }
}

// Source: seed 001-55
#[test]
fn records_stay_as_long_as_they_are_to_be_kept() {
    let environment = TestEnvironment::new();
    let state = StateDirectory::new(environment.state());
    let days_ago = |days: u64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        Timestamp(u64::try_from(now).unwrap() - days * 24 * 60 * 60 * 1000)
    };
    for (session, days) in [("last-week", 7), ("last-year", 400)] {
        let said = RecordBody::Prompt { text: "hello".to_owned() };
        let ledger = SessionLedger::open(&state, &SessionId(session.to_owned()));
        ledger.append(days_ago(days), said, Durability::Plain).unwrap();
    }
    let exists = |session: &str| environment.state().join("sessions").join(session).exists();
    start(&environment, "a");
    assert!(exists("last-week") && !exists("last-year"), "90 days are kept");
    environment.configure("config.yaml", "audit:\n  enabled: false\n");
    environment.succeed(&["trust", "--yes"]);
    start(&environment, "b");
    assert!(!exists("last-week") && exists("a"), "nothing is kept but what may still be going on");
    environment.succeed(&["audit", "verify"]);
}

/// A clock that stands still.
#[derive(Debug)]
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Writes a file of the state directory that was changed last so many days ago.
fn old_file(environment: &TestEnvironment, path: &str, days: u64) -> std::path::PathBuf {
    let path = environment.state().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "marmalade").unwrap();
    let time = SystemTime::now() - std::time::Duration::from_secs(days * 24 * 60 * 60);
    fs::File::open(&path).unwrap().set_modified(time).unwrap();
    path
}

// Source: seed 001-64
#[test]
fn every_store_keeps_what_is_old_only_as_long_as_records_and_says_what_went() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    let stores = [
        ("runs/done/20250101-000000-0000/state.json", "runs/done"),
        ("pipelines/done/20250101-000000-0000/state.json", "pipelines/done"),
        ("approvals/0123456789abcdef.json", "approvals"),
        ("notices/1.json", "notices"),
        ("agents/17.json", "agents"),
        ("routes/abcdef", "routes"),
        ("providers/anthropic.json", "providers"),
        ("diagnostics.log.old", "diagnostics.log.old"),
        ("events/2025-01-01.jsonl", "events"),
        ("incidents/20250101000000-s/report.json", "incidents"),
        ("lessons/00ff/0001735689600000-00ff.json", "lessons"),
    ];
    let old: Vec<_> = stores.iter().map(|(path, _)| old_file(&environment, path, 40)).collect();
    let kept = [
        old_file(&environment, "runs/done/20260101-000000-0000/state.json", 20),
        old_file(&environment, "runs/active/20250101-000000-0001/state.json", 400),
        old_file(&environment, "allowed/one.json", 400),
        old_file(&environment, "halts/one", 400),
    ];
    // What is done is read-only.
    let folder = old[0].parent().unwrap();
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    let dry: Json =
        serde_json::from_str(&environment.succeed(&["audit", "prune", "--dry-run", "--json"])).unwrap();
    let mut would: Vec<&str> =
        dry["stores"].as_array().unwrap().iter().map(|one| one["store"].as_str().unwrap()).collect();
    would.sort_unstable();
    let mut all = stores.map(|(_, store)| store);
    all.sort_unstable();
    assert_eq!(would, all);
    assert!(old.iter().all(|path| path.exists()), "a dry run deletes nothing");
    start(&environment, "t");
    assert_eq!(old.iter().filter(|path| path.exists()).count(), 0, "{old:?}");
    assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
    let removals = fs::read_to_string(environment.state().join("retention.jsonl")).unwrap();
    for store in all {
        assert!(removals.contains(&format!("\"store\":\"{store}\",\"entries\":1")), "{store}: {removals}");
    }
    assert!(!removals.contains("marmalade"));
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn a_session_that_was_pruned_is_known_as_pruned_and_not_as_lost() {
    let environment = TestEnvironment::new();
    let state = StateDirectory::new(environment.state());
    let said = RecordBody::Prompt { text: "hello".to_owned() };
    let ledger = SessionLedger::open(&state, &SessionId("old".to_owned()));
    let hash = ledger.append(Timestamp(1_700_000_000_000), said, Durability::Durable).unwrap().records[0]
        .hash
        .clone();
    let pruned = environment.succeed(&["audit", "prune"]);
    assert!(pruned.starts_with("deleted 1 session and 0 snapshots"), "{pruned}");
    let known = environment.succeed(&["audit", "verify", "old"]);
    assert!(known.contains("pruned") && known.contains(hash.as_str()), "{known}");
    assert_eq!(environment.checkrein(&["audit", "verify", "never"]).status.code(), Some(1));
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn changes_of_which_nothing_is_done_any_more_go_when_they_are_old() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "production:\n  kube_contexts: [\"eks-live\"]\n");
    environment.write("k8s/web.yaml", "kind: Deployment\n");
    let open = |command: &str| {
        let more = ["--issue", "OPS-12", "--rollback", "true", "--verify", "true", "--", command];
        let text = environment.succeed(&[&["--json", "change", "open"], &more[..]].concat());
        let change: Json = serde_json::from_str(&text).unwrap();
        change["change"].as_str().unwrap().to_owned()
    };
    let closed = open("kubectl --context eks-live apply -f k8s/");
    let waiting = open("kubectl --context eks-live delete -f k8s/");
    environment.succeed(&["change", "close", &closed, "--outcome", "done"]);
    let there = |id: &str| {
        let names = fs::read_dir(environment.state().join("changes")).unwrap().flatten();
        names.filter(|one| one.file_name().to_str().unwrap().starts_with(id)).count()
    };
    assert_eq!((there(&closed), there(&waiting)), (2, 1));
    let variables = [("HOME".to_owned(), environment.home().to_str().unwrap().to_owned())];
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    let host = HostEnvironment::of(Arc::new(variables.into_iter().collect()), cwd).unwrap();
    let prune_after = |days: u64| {
        let now = Timestamp(host.now().0 + days * 24 * 60 * 60 * 1000);
        let then = host.clone().with_clock(Arc::new(Still(now)));
        retention::all(&then, &Config::default(), Carry::Out).unwrap()
    };
    prune_after(29);
    assert_eq!((there(&closed), there(&waiting)), (2, 1), "they are kept as long as records");
    let gone = prune_after(31);
    assert_eq!((there(&closed), there(&waiting)), (0, 0), "what never ran goes too");
    assert!(gone.stores.iter().any(|one| one.store == "changes" && one.entries == 2), "{gone:?}");
}

#[test]
fn file_operations_that_are_not_written_down_count_too() {
    for count in [1_u64, 64, 65, 150] {
        let environment = TestEnvironment::new();
        let names: Vec<String> = (0..count).map(|number| format!("file{number}")).collect();
        environment.bash("s", &format!("touch {}", names.join(" ")));
        let text = environment.succeed(&["sessions", "--json"]);
        let session: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(session["spent"]["file_operations"], json!(count), "{text}");
    }
}
