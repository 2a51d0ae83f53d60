//! Retention attacked: several that remove at once, ends at any moment, a full disk, clocks that jump, links, and ledgers that are written
//! meanwhile. What is needed stays, and what went is on record.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{RecordBody, SessionId, Timestamp};
use checkrein_session::SessionLedger;
use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// A moment in 2023.
const LONG_AGO: Timestamp = Timestamp(1_700_000_000_000);

/// Sessions whose last record is old, by number.
fn old_sessions(environment: &TestEnvironment, count: usize) -> Vec<String> {
    let state = StateDirectory::new(environment.state());
    let names: Vec<String> = (0..count).map(|number| format!("old-{number:03}")).collect();
    for name in &names {
        let ledger = SessionLedger::open(&state, &SessionId(name.clone()));
        for text in ["hello", "and again"] {
            ledger.append(LONG_AGO, RecordBody::Prompt { text: text.to_owned() }, Durability::Plain).unwrap();
        }
    }
    names
}

/// The sessions that are on record as removed, one entry for each removal, with how many records they had.
fn removed(environment: &TestEnvironment) -> Vec<(String, u64)> {
    let text = fs::read_to_string(environment.state().join("retention.jsonl")).unwrap_or_default();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let entries =
        records.flat_map(|record| record["body"]["removed"].as_array().cloned().unwrap_or_default());
    entries
        .map(|one| (one["session"].as_str().unwrap().to_owned(), one["records"].as_u64().unwrap()))
        .collect()
}

fn prune(environment: &TestEnvironment) -> Command {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args(["audit", "prune"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// What is in the folder of the sessions.
fn there(environment: &TestEnvironment) -> BTreeSet<String> {
    let entries = fs::read_dir(environment.state().join("sessions")).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn two_that_remove_at_once_tell_of_each_session_once() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let names = old_sessions(&environment, 150);
    let all: Vec<_> = (0..4).map(|_| prune(&environment).spawn().unwrap()).collect();
    for one in all {
        let done = one.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let mut told = removed(&environment);
    told.sort();
    let expected: Vec<(String, u64)> = names.into_iter().map(|name| (name, 2)).collect();
    assert_eq!(told, expected);
    assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn one_that_is_ended_at_any_moment_leaves_nothing_untold_and_nothing_behind() {
    // A generator of its own, so that a failure comes again.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..12 {
        let environment = TestEnvironment::new();
        environment.bash("needed", "ls");
        let names = old_sessions(&environment, 40);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = prune(&environment).spawn().unwrap();
        std::thread::sleep(Duration::from_micros((seed >> 33) % 90_000));
        drop(child.kill());
        child.wait().unwrap();
        let told: BTreeSet<String> = removed(&environment).into_iter().map(|(name, _)| name).collect();
        let left = there(&environment);
        for name in &names {
            assert!(left.contains(name) || told.contains(name), "{name} went and nothing tells of it");
        }
        environment.succeed(&["audit", "verify"]);
        environment.succeed(&["audit", "prune"]);
        assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
        let told = removed(&environment);
        let each: BTreeSet<(String, u64)> = told.iter().cloned().collect();
        assert_eq!(
            (told.len(), each.len()),
            (names.len(), names.len()),
            "each once, with its records: {told:?}"
        );
        environment.succeed(&["audit", "verify"]);
    }
}

/// How many entries of other stores are on record as removed.
fn removed_of(environment: &TestEnvironment, store: &str) -> u64 {
    let text = fs::read_to_string(environment.state().join("retention.jsonl")).unwrap_or_default();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let stores = records.flat_map(|record| record["body"]["stores"].as_array().cloned().unwrap_or_default());
    stores.filter(|one| one["store"] == store).map(|one| one["entries"].as_u64().unwrap()).sum()
}

#[test]
fn an_entry_of_another_store_is_whole_or_gone_when_its_removal_is_ended_at_any_moment() {
    const FILES: [&str; 4] = ["state.json", "stream.jsonl", "stderr.log", "deep/summary.json"];
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let done = environment.state().join("runs/done");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_millis(LONG_AGO.0);
    let mut seed = 7_u64;
    let (mut ended_early, mut told_before) = (0, 0);
    for _ in 0..30 {
        let names: Vec<String> = (0..40).map(|number| format!("run-{number:03}")).collect();
        for name in &names {
            for file in FILES {
                let path = done.join(name).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "x").unwrap();
                fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
            }
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = prune(&environment).spawn().unwrap();
        // It is ended somewhere behind the first entry that is gone, or before it began.
        let until = Instant::now() + Duration::from_secs(20);
        let gone = (seed >> 33) % 40;
        let left = || fs::read_dir(&done).map_or(0, Iterator::count);
        while left() + usize::try_from(gone).unwrap() > names.len() && Instant::now() < until {
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        drop(child.kill());
        child.wait().unwrap();
        for name in names.iter().filter(|name| done.join(name).exists()) {
            for file in FILES {
                assert!(done.join(name).join(file).exists(), "{name} lost {file}");
            }
        }
        ended_early += u32::from((1..names.len()).contains(&left()));
        let told = removed_of(&environment, "runs/done") - told_before;
        assert!(told == 40 || left() == names.len() && told == 0, "{told} are told of, {} are left", left());
        environment.succeed(&["audit", "prune"]);
        assert_eq!(left(), 0);
        assert_eq!(removed_of(&environment, "runs/done") - told_before, 40, "each is told of once");
        assert!(!environment.state().join("retention.going").exists());
        assert_eq!(fs::read_dir(environment.state().join("removed")).map_or(0, Iterator::count), 0);
        told_before = removed_of(&environment, "runs/done");
    }
    assert!(ended_early > 0, "none was ended while it removed");
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn what_was_to_go_and_is_not_on_record_is_told_of_though_sessions_were_removed_since() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let run = environment.state().join("runs/done/run-1");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("state.json"), "x").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_millis(LONG_AGO.0);
    fs::File::options().write(true).open(run.join("state.json")).unwrap().set_modified(long_ago).unwrap();
    // As one leaves it that was ended right before it wrote down what goes.
    let told =
        json!([{ "store": "runs/done", "entries": 1, "oldest": LONG_AGO, "newest": LONG_AGO, "names": "x" }]);
    let going = environment.state().join("retention.going");
    fs::write(&going, format!("{told}\n{}\n", json!(run))).unwrap();
    old_sessions(&environment, 3);
    environment.succeed(&["audit", "prune"]);
    assert_eq!(removed(&environment).len(), 3);
    assert_eq!((run.exists(), going.exists()), (false, false));
    assert_eq!(removed_of(&environment, "runs/done"), 1, "it went and nothing tells of it");
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn what_was_written_down_and_left_is_told_once() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let names = old_sessions(&environment, 3);
    let sessions = environment.state().join("sessions");
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    };
    let kept = environment.home().join("kept");
    copy(&sessions, &kept);
    environment.succeed(&["audit", "prune"]);
    assert_eq!(removed(&environment).len(), names.len());
    // As one leaves them that was ended between writing down and removing.
    for name in &names {
        copy(&kept.join(name), &sessions.join(name));
    }
    environment.succeed(&["audit", "prune"]);
    assert_eq!(removed(&environment).len(), names.len());
    assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn the_records_of_a_halted_session_go_by_their_age_and_its_halt_stays() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let names = old_sessions(&environment, 1);
    let halt = environment.state().join("halts").join(&names[0]);
    fs::create_dir_all(halt.parent().unwrap()).unwrap();
    fs::write(&halt, "enough\n").unwrap();
    let foreseen = environment.succeed(&["audit", "prune", "--dry-run"]);
    assert!(foreseen.contains("1 session "), "{foreseen}");
    environment.succeed(&["audit", "prune"]);
    assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
    assert!(halt.exists());
    let refused = environment.bash(&names[0], "ls");
    assert!(refused.to_string().contains("enough"), "{refused}");
    environment.succeed(&["resume", &names[0]]);
    assert_eq!(support::decision(&environment.bash(&names[0], "ls")), None);
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn a_session_that_begins_at_this_moment_stays() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let fresh = environment.state().join("sessions/fresh");
    fs::create_dir_all(&fresh).unwrap();
    fs::write(fresh.join("ledger.jsonl"), "").unwrap();
    fs::write(fresh.join("rules.json"), "{}").unwrap();
    environment.succeed(&["audit", "prune"]);
    assert!(fresh.exists());
}

#[test]
fn where_nobody_can_be_asked_json_deletes_after_a_yes_alone() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    old_sessions(&environment, 2);
    let before = there(&environment);
    let refused = environment.checkrein(&["audit", "prune", "--json"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("nothing was deleted"), "{said}");
    let foreseen = environment.succeed(&["audit", "prune", "--json", "--dry-run"]);
    assert!(foreseen.contains("\"sessions\": 2"), "{foreseen}");
    assert_eq!(there(&environment), before);
    let done = environment.succeed(&["audit", "prune", "--json", "--yes"]);
    assert!(done.contains("\"deleted\": true"), "{done}");
    assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
}

#[test]
fn what_a_cut_off_removal_left_aside_goes_with_the_next() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let aside = environment.state().join("sessions/.removed-earlier");
    fs::create_dir_all(&aside).unwrap();
    fs::write(aside.join("ledger.jsonl"), "words of somebody").unwrap();
    environment.succeed(&["audit", "prune"]);
    assert!(!aside.exists());
    assert_eq!(there(&environment), BTreeSet::from(["needed".to_owned()]));
}

#[test]
fn where_nothing_can_be_written_down_nothing_goes() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let names = old_sessions(&environment, 10);
    let before = there(&environment);
    // No file may become longer than it is.
    let mut limited = environment.command("sh");
    let program = env!("CARGO_BIN_EXE_checkrein");
    limited.args(["-c", &format!("trap '' XFSZ; ulimit -f 0; exec {program} audit prune")]);
    let output = limited.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(there(&environment), before, "nothing went");
    environment.succeed(&["audit", "prune"]);
    assert_eq!(removed(&environment).len(), names.len());
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn a_clock_that_was_ahead_keeps_nothing_for_ever_and_removes_nothing_new() {
    let environment = TestEnvironment::new();
    let start = |session: &str| {
        let begins = environment.payload(session, "SessionStart", json!({ "source": "startup" }));
        environment.answer_to(&begins);
    };
    start("needed");
    // The clock was ahead by years when somebody looked last.
    let ahead = SystemTime::now() + Duration::from_hours(3 * 365 * 24);
    let marker = environment.state().join("retention.looked");
    fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&marker)
        .unwrap()
        .set_modified(ahead)
        .unwrap();
    old_sessions(&environment, 2);
    // One that was written while it was ahead.
    let state = StateDirectory::new(environment.state());
    let future =
        Timestamp(u64::try_from(ahead.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap());
    let ledger = SessionLedger::open(&state, &SessionId("future".to_owned()));
    ledger.append(future, RecordBody::Prompt { text: "x".to_owned() }, Durability::Plain).unwrap();
    start("next");
    let left = there(&environment);
    assert_eq!(left, ["future", "needed", "next"].map(str::to_owned).into(), "{left:?}");
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn a_link_in_the_state_directory_leads_no_removal_outside() {
    let environment = TestEnvironment::new();
    environment.bash("needed", "ls");
    let outside = environment.home().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    for name in ["report.json", "deep/state.json", "ledger.jsonl"] {
        fs::write(outside.join(name), "the only copy").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_millis(LONG_AGO.0);
        fs::File::options().write(true).open(outside.join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    for link in [
        "sessions/linked",
        "sessions/.removed-linked",
        "incidents",
        "runs/done",
        "lessons",
        "events/2020-01-01.jsonl",
        "notices",
        "removed",
    ] {
        let path = environment.state().join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        drop(fs::remove_dir_all(&path));
        std::os::unix::fs::symlink(&outside, &path).unwrap();
    }
    drop(prune(&environment).output().unwrap());
    for name in ["report.json", "deep/state.json", "ledger.jsonl"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "the only copy", "{name}");
    }
}

#[test]
fn a_session_that_goes_on_while_it_would_be_removed_loses_no_record() {
    let environment = TestEnvironment::new();
    let names = old_sessions(&environment, 60);
    let state = StateDirectory::new(environment.state());
    let mut child = prune(&environment).spawn().unwrap();
    let began = Instant::now();
    let now = Timestamp(
        u64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap(),
    );
    // Each is written to while the other goes through them.
    for name in names.iter().rev() {
        let ledger = SessionLedger::open(&state, &SessionId(name.clone()));
        ledger.append(now, RecordBody::Prompt { text: "going on".to_owned() }, Durability::Durable).unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_mins(1));
    for name in &names {
        let ledger = SessionLedger::open(&state, &SessionId(name.clone()));
        let text = fs::read_to_string(ledger.path()).unwrap();
        assert!(text.contains("going on"), "{name}: what was written after the removal began is lost");
    }
    environment.succeed(&["audit", "verify"]);
}
