//! Records that are encrypted: what a stolen state directory tells, what its owner reads, and what becomes of the guard without the key.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, decision, reason, shell_call};

/// Words of a prompt and of commands, which no record of anything else holds.
const WORDS: [&str; 3] = ["marmalade", "rhubarb", "gooseberry"];

/// Words of what files hold, of the name of one, and of a question, which the snapshots and the other stores are told.
const FURTHER: [&str; 4] = ["quince", "medlar", "damson", "elderberry"];

/// Words that the configuration lists for masking.
const LISTED: [&str; 2] = ["cloudberry", "lingonberry"];

fn encrypting() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "audit:\n  encrypt: true\nsnapshots:\n  encrypt: true\n");
    environment
}

/// What is saved of a workspace as a whole and before calls, of its repository too, and a question.
fn lose(environment: &TestEnvironment, session: &str) {
    environment.write("medlar.txt", "quince\n");
    environment.write("kept.txt", "elderberry\n");
    std::fs::hard_link(environment.project().join("kept.txt"), environment.project().join("second")).unwrap();
    environment.git(&["add", "."]);
    environment.commit("damson");
    let say = |event: &str, fields| environment.answer_to(&environment.payload(session, event, fields));
    say("SessionStart", json!({ "source": "startup" }));
    environment.write("medlar.txt", "quince, changed\n");
    for (id, command) in [
        ("lost", "rm -f medlar.txt kept.txt"),
        ("gone", "git reflog expire --expire=now --all && git gc -q --prune=now"),
        ("asked", "npm publish damson"),
    ] {
        say("PreToolUse", shell_call(id, command, json!({})));
        if id == "lost" {
            std::fs::remove_file(environment.project().join("medlar.txt")).unwrap();
            std::fs::remove_file(environment.project().join("kept.txt")).unwrap();
        }
        say("PostToolUse", shell_call(id, command, json!({ "tool_response": { "stdout": "x" } })));
    }
}

fn lose_keys(environment: &TestEnvironment) {
    for entry in fs::read_dir(keys(environment)).unwrap().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".key") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// A prompt, a call that runs, one that is refused, and a stop with a report.
fn work(environment: &TestEnvironment, session: &str) {
    let say = |event: &str, fields| environment.answer_to(&environment.payload(session, event, fields));
    say("SessionStart", json!({ "source": "startup" }));
    say("UserPromptSubmit", json!({ "prompt": "Move the marmalade parser behind the date picker" }));
    say("PreToolUse", shell_call("one", "ls rhubarb", json!({})));
    say("PostToolUse", shell_call("one", "ls rhubarb", json!({ "tool_response": { "stdout": "x" } })));
    environment.bash(session, "rm -rf ~ gooseberry");
    environment.succeed(&["halt", session, "--reason", "enough"]);
}

/// The files below a folder that hold one of the words.
fn telling(folder: &Path) -> Vec<PathBuf> {
    let mut waiting = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
                continue;
            }
            let bytes = fs::read(entry.path()).unwrap_or_default();
            let holds = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
            if WORDS.iter().chain(&FURTHER).any(|word| holds(word)) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn keys(environment: &TestEnvironment) -> PathBuf {
    environment.home().join(".config/checkrein/keys")
}

// Source: seed 001-72
#[test]
fn a_stolen_state_directory_tells_no_word_and_its_owner_reads_all() {
    let plain = TestEnvironment::new();
    work(&plain, "s");
    lose(&plain, "t");
    assert!(!telling(&plain.state()).is_empty(), "the words stand there without encryption");

    let environment = encrypting();
    work(&environment, "s");
    lose(&environment, "t");
    // A loop that the detectors name in their own words.
    for _ in 0..5 {
        environment.bash("u", "rm -rf ~ gooseberry");
    }
    let events = fs::read_dir(environment.state().join("events")).unwrap().flatten();
    let events: String = events.map(|day| fs::read_to_string(day.path()).unwrap()).collect();
    assert!(events.contains("issue.detected") && events.contains("stuck_loop"), "{events}");
    assert_eq!(telling(&environment.state()), Vec::<PathBuf>::new());
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    let export = environment.succeed(&["audit", "export"]);
    for word in WORDS {
        assert!(log.contains(word) && export.contains(word), "{word}: {log}");
    }
    environment.succeed(&["incident", "list"]);
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn records_of_before_and_after_are_read_together_also_after_a_rotation() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls marmalade");
    environment.configure("config.yaml", "audit:\n  encrypt: true\n");
    environment.bash("s", "ls rhubarb");
    environment.succeed(&["audit", "key", "rotate"]);
    environment.bash("s", "ls gooseberry");
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    assert!(WORDS.iter().all(|word| log.contains(word)), "{log}");
    environment.succeed(&["audit", "verify"]);
    let listed = environment.succeed(&["audit", "key", "list", "--json"]);
    assert_eq!(listed.matches("\"in_use\": true").count(), 1, "{listed}");
    assert_eq!(listed.matches("\"place\": \"file\"").count(), 2, "{listed}");
}

fn holding(folder: &Path, words: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&path, words));
            continue;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        if words.iter().any(|word| bytes.windows(word.len()).any(|part| part == word.as_bytes())) {
            found.push(path);
        }
    }
    found
}

#[test]
fn copies_of_the_configuration_tell_no_name_that_it_lists() {
    let listing = format!("  mask:\n    names: [{}]\n    literals: [{}]\n", LISTED[0], LISTED[1]);
    let places = |environment: &TestEnvironment| {
        let outside = environment.home().join(".local/share/checkrein");
        [environment.state(), outside].map(|place| holding(&place, &LISTED)).concat()
    };
    let plain = TestEnvironment::new();
    plain.configure("config.yaml", &format!("audit:\n{listing}"));
    plain.answer_to(&plain.payload("s", "SessionStart", json!({ "source": "startup" })));
    plain.bash("s", "ls");
    assert_eq!(places(&plain), Vec::<PathBuf>::new(), "the copies are encrypted in any case");
    assert!(plain.state().join("sessions/s/rules.json").exists());

    let environment = TestEnvironment::new();
    environment.configure("config.yaml", &format!("audit:\n  encrypt: true\n{listing}"));
    let start = |session: &str| {
        let begins = environment.payload(session, "SessionStart", json!({ "source": "startup" }));
        environment.answer_to(&begins);
    };
    start("s");
    assert_eq!(places(&environment), Vec::<PathBuf>::new());
    // The copies do what they are for: what became looser does not count before the user says so.
    environment.configure("config.yaml", &format!("mode: observe\naudit:\n  encrypt: true\n{listing}"));
    let call = "rm -rf ~";
    assert_eq!(decision(&environment.bash("s", call)), Some("deny"), "a running session");
    assert_eq!(decision(&environment.bash("t", call)), Some("deny"), "a new one");
    assert_eq!(places(&environment), Vec::<PathBuf>::new());
    environment.succeed(&["trust", "--yes"]);
    let let_pass = environment.bash("u", call);
    assert_eq!(decision(&let_pass), None, "{let_pass}");
    assert_eq!(places(&environment), Vec::<PathBuf>::new());
}

/// A key as a user keeps it in the settings of a client.
const KEY: &str = "Zk3rT9wQx7Lm2Vb8Nc4P";

#[test]
fn the_settings_of_a_client_are_kept_encrypted_and_no_longer_than_the_session_goes_on() {
    for configuration in ["", "audit:\n  encrypt: true\n"] {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", configuration);
        let settings =
            json!({ "env": { "ANTHROPIC_AUTH_TOKEN": KEY }, "apiKeyHelper": format!("echo {KEY}") });
        let folder = environment.home().join(".claude");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        environment.write(".claude/settings.json", &settings.to_string());
        let start = |session: &str| {
            let begins = environment.payload(session, "SessionStart", json!({ "source": "startup" }));
            environment.answer_to(&begins);
        };
        start("s");
        environment.bash("s", "ls");
        let outside = environment.home().join(".local/share/checkrein");
        let places = || {
            let mut found =
                [environment.state(), outside.clone()].map(|place| holding(&place, &[KEY])).concat();
            // Snapshots hold the files of the project, by a switch of their own.
            found.retain(|path| !path.starts_with(environment.state().join("snapshots")));
            found
        };
        assert_eq!(places(), Vec::<PathBuf>::new());
        let kept = environment.state().join("sessions/s/settings.json");
        let witnesses = || holding(&outside, &["settings.json\":"]);
        assert!(kept.exists() && !witnesses().is_empty(), "they are kept");
        // Two days of silence.
        let ledger = fs::File::options().append(true).open(kept.with_file_name("ledger.jsonl")).unwrap();
        let before = std::time::SystemTime::now() - std::time::Duration::from_hours(48);
        ledger.set_modified(before).unwrap();
        fs::remove_file(environment.state().join("retention.looked")).unwrap();
        start("t");
        assert!(!kept.exists() && kept.with_file_name("rules.json").exists());
        let left = witnesses();
        assert!(left.iter().all(|path| !path.to_string_lossy().contains("/s/")), "{left:?}");
        // A session that goes on has them kept anew.
        environment.bash("s", "ls");
        assert!(kept.exists());
        assert_eq!(places(), Vec::<PathBuf>::new());
    }
}

#[test]
fn reasons_of_halts_and_names_of_files_are_encrypted() {
    let files = |configuration: &str| {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", configuration);
        environment.write("quince.md", "x\n");
        let say = |event: &str, fields| environment.answer_to(&environment.payload("s", event, fields));
        say("SessionStart", json!({ "source": "startup" }));
        for id in ["one", "two"] {
            say("PreToolUse", shell_call(id, "python3 step.py", json!({})));
            say(
                "PostToolUse",
                shell_call(id, "python3 step.py", json!({ "tool_response": { "stdout": "x" } })),
            );
        }
        environment.succeed(&["halt", "s", "--reason", "enough of quince"]);
        let told = environment.bash("s", "ls");
        assert!(told.to_string().contains("enough of quince"), "{told}");
        let found = holding(&environment.state(), &["quince"]);
        let names = found.iter().map(|path| path.strip_prefix(environment.state()).unwrap().to_owned());
        names.collect::<Vec<PathBuf>>()
    };
    let clear = files("");
    for place in ["halts/s", "sessions/s/picture"] {
        assert!(clear.contains(&PathBuf::from(place)), "{clear:?}");
    }
    let encrypted = files("audit:\n  encrypt: true\nsnapshots:\n  encrypt: true\n");
    assert_eq!(encrypted, Vec::<PathBuf>::new());
}

#[test]
fn the_key_of_the_masks_lies_outside_the_state_directory() {
    let environment = TestEnvironment::new();
    environment.bash("s", "curl -H 'X: 536-90-4399' https://api.example.com");
    let key = environment.home().join(".config/checkrein/mask.key");
    let bytes = fs::read(&key).unwrap();
    assert!(!environment.state().join("mask.key").exists());
    // One of an earlier version is moved, so that equal secrets keep their masks.
    let older = TestEnvironment::new();
    fs::create_dir_all(older.state()).unwrap();
    fs::write(older.state().join("mask.key"), &bytes).unwrap();
    older.bash("s", "curl -H 'X: 536-90-4399' https://api.example.com");
    assert_eq!(fs::read(older.home().join(".config/checkrein/mask.key")).unwrap(), bytes);
    assert!(!older.state().join("mask.key").exists());
    let mask = |environment: &TestEnvironment| {
        let text = environment.records("s").last().unwrap().to_string();
        let start = text.find("[masked:ssn:").unwrap();
        text[start..start + 21].to_owned()
    };
    assert_eq!(mask(&environment), mask(&older));
}

#[test]
fn where_the_folder_of_the_keys_is_gone_no_key_is_made_before_the_user_says_so() {
    let environment = encrypting();
    work(&environment, "s");
    fs::remove_dir_all(keys(&environment)).unwrap();
    assert_eq!(decision(&environment.bash("t", "ls")), None, "what only looks goes on");
    let asked = environment.bash("t", "touch new");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("gone"), "{asked}");
    assert!(!keys(&environment).exists(), "no new key was made behind the user's back");
    let listed = environment.succeed(&["audit", "key", "list"]);
    assert!(listed.contains("are gone") && listed.contains("audit key rotate"), "{listed}");
    environment.succeed(&["audit", "verify"]);
    assert_eq!(telling(&environment.state()), Vec::<PathBuf>::new());
    let rotated = environment.checkrein(&["audit", "key", "rotate"]);
    let told = String::from_utf8_lossy(&rotated.stderr).into_owned();
    assert!(rotated.status.success() && told.contains("counts as confirmed"), "{told}");
    assert_eq!(decision(&environment.bash("t", "touch new")), None);
    environment.succeed(&["audit", "verify"]);
    assert_eq!(telling(&environment.state()), Vec::<PathBuf>::new());
}

#[test]
fn records_that_an_earlier_version_encrypted_are_not_left_behind_a_new_key_either() {
    let environment = encrypting();
    work(&environment, "s");
    fs::remove_dir_all(keys(&environment)).unwrap();
    fs::remove_dir_all(environment.state().join("sealed-with")).unwrap();
    assert_eq!(decision(&environment.bash("t", "touch new")), Some("ask"));
    assert!(!keys(&environment).exists());
    // Where nothing is encrypted, the first key is made as ever.
    let first = encrypting();
    assert_eq!(decision(&first.bash("t", "touch new")), None);
    assert!(keys(&first).exists());
}

/// All that the files of a folder of the state directory hold.
fn held(environment: &TestEnvironment, folder: &str) -> String {
    let files = fs::read_dir(environment.state().join(folder)).unwrap().flatten();
    files.map(|file| String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned()).collect()
}

#[test]
fn questions_answers_and_allowed_calls_are_encrypted_and_work_as_ever() {
    let question = |environment: &TestEnvironment| {
        for _ in 0..600 {
            let listed = environment.succeed(&["approval", "list", "--json"]);
            let listed: Vec<serde_json::Value> = serde_json::from_str(&listed).unwrap();
            if let Some(one) = listed.iter().find(|one| one["state"] == "pending") {
                assert!(one["action"].as_str().unwrap().contains(CALL), "{one}");
                return one["id"].as_str().unwrap().to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("nothing waits");
    };
    let plain = unattended("");
    let hook = asks(&plain, "s", "one", CALL);
    let id = question(&plain);
    assert!(held(&plain, "approvals").contains("diary"), "the words stand there without encryption");
    // What was written in the clear is read all the same.
    plain.configure("config.yaml", "profile: unattended\naudit:\n  encrypt: true\n");
    plain.succeed(&["approval", "deny", &id, "--message", "damson"]);
    assert!(reason(&answer_of(hook)).contains("damson"));

    let environment = unattended("audit:\n  encrypt: true\n");
    let hook = asks(&environment, "s", "one", CALL);
    let id = question(&environment);
    assert!(!held(&environment, "approvals").contains("diary"));
    environment.succeed(&["approval", "deny", &id, "--message", "keep my damson"]);
    assert!(reason(&answer_of(hook)).contains("keep my damson"));
    let told = held(&environment, "approvals");
    assert!(!told.contains("diary") && !told.contains("damson"), "{told}");
    assert!(environment.succeed(&["approval", "list", "--json"]).contains("keep my damson"));
    environment.succeed(&["allow", "LAST", "--session", "--yes"]);
    assert!(!held(&environment, "allowed").contains("diary"));
    assert_eq!(decision(&environment.bash("s", CALL)), None, "what is allowed passes");
    lose_keys(&environment);
    let listed = environment.checkrein(&["approval", "list"]);
    let said = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(said.contains("what is encrypted is left out") && said.contains("put the key back"), "{said}");
}

// Source: seed 001-72
#[test]
fn without_the_key_the_chain_is_verified_the_guard_judges_and_says_what_is_missing() {
    let environment = encrypting();
    work(&environment, "s");
    environment.bash("t", "ls rhubarb");
    lose_keys(&environment);
    environment.succeed(&["audit", "verify"]);
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    assert!(WORDS.iter().all(|word| !log.contains(word)), "{log}");
    let read = environment.succeed(&["log"]);
    assert!(read.contains("cannot be read here: its key is missing"), "{read}");
    // The verdict is what it was; what changes something is asked about, with the reason.
    assert_eq!(decision(&environment.bash("t", "rm -rf ~")), Some("deny"));
    let asked = environment.bash("t", "touch new");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("the key") && reason(&asked).contains("is not here"), "{asked}");
    assert_eq!(
        telling(&environment.state()),
        Vec::<PathBuf>::new(),
        "nothing is written in the clear instead"
    );
    // A new key, and all goes on.
    environment.succeed(&["audit", "key", "rotate"]);
    assert_eq!(decision(&environment.bash("t", "touch new")), None);
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn an_altered_record_is_found_without_the_key_and_opened_by_none() {
    let environment = encrypting();
    environment.bash("s", "ls marmalade");
    let path = environment.state().join("sessions/s/ledger.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let at = text.rfind("\"box\":\"").unwrap() + 80;
    let letter = if &text[at..=at] == "A" { "B" } else { "A" };
    fs::write(&path, format!("{}{letter}{}", &text[..at], &text[at + 1..])).unwrap();
    let kept = environment.home().join("kept");
    fs::rename(keys(&environment), &kept).unwrap();
    assert_eq!(environment.checkrein(&["audit", "verify"]).status.code(), Some(1));
    fs::rename(&kept, keys(&environment)).unwrap();
    assert!(!environment.succeed(&["audit", "export"]).contains("marmalade"));
}

#[test]
fn snapshots_are_undone_with_the_key_and_without_it_the_commands_say_what_is_missing() {
    let environment = encrypting();
    lose(&environment, "t");
    let kept = environment.home().join("kept-keys");
    fs::rename(keys(&environment), &kept).unwrap();
    for command in [&["undo", "--yes"][..], &["snapshot", "list"], &["snapshot", "restore", "1", "--yes"]] {
        let done = environment.checkrein(command);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success(), "{command:?}: {told}");
        assert!(told.contains("the key") && told.contains("hint: put the key back"), "{command:?}: {told}");
    }
    for command in [&["log"][..], &["audit", "export"], &["incident", "list"], &["stats"]] {
        let done = environment.checkrein(command);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        if command[0] != "incident" {
            assert!(told.contains("what is encrypted is left out"), "{command:?}: {told}");
        }
    }
    assert!(!environment.project().join("medlar.txt").exists());
    fs::rename(&kept, keys(&environment)).unwrap();
    environment.succeed(&["undo", "--yes"]);
    let text = fs::read_to_string(environment.project().join("medlar.txt")).unwrap();
    assert_eq!(text, "quince, changed\n");
}

#[test]
fn without_its_key_what_cannot_be_saved_is_asked_about_and_a_new_key_goes_on() {
    let environment = encrypting();
    lose(&environment, "t");
    lose_keys(&environment);
    environment.write("precious", "elderberry, the only copy\n");
    let asked = environment.bash("u", "rm precious");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert_eq!(decision(&environment.bash("u", "ls")), None);
    environment.succeed(&["audit", "key", "rotate"]);
    assert_eq!(decision(&environment.bash("u", "rm precious")), None);
    fs::remove_file(environment.project().join("precious")).unwrap();
    environment.succeed(&["undo", "--yes"]);
    assert!(environment.project().join("precious").exists());
    assert_eq!(telling(&environment.state()), Vec::<PathBuf>::new());
}

/// Ends a process hard, so long after its start.
fn killed_after(mut command: std::process::Command, input: &[u8], wait: std::time::Duration) {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdin.take().unwrap().write_all(input));
    std::thread::sleep(wait);
    drop(child.kill());
    child.wait().unwrap();
}

// Source: seed 001-72
#[test]
fn killing_at_any_moment_of_switching_on_or_rotating_loses_nothing() {
    // A generator of its own, so that a failure comes again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut moment = |longest: u128| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::time::Duration::from_micros(u64::try_from(u128::from(state >> 33) % longest.max(1)).unwrap())
    };
    for trial in 0..25 {
        let environment = TestEnvironment::new();
        environment.write("precious", "the only copy\n");
        let began = std::time::Instant::now();
        environment.bash("s", "ls marmalade");
        let longest = began.elapsed().as_micros();
        environment.configure("config.yaml", "audit:\n  encrypt: true\nsnapshots:\n  encrypt: true\n");
        let call = environment.payload("s", "PreToolUse", shell_call("on", "rm precious", json!({})));
        killed_after(environment.hook(), &call, moment(longest));
        environment.bash("s", "ls rhubarb");
        let mut rotate = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        rotate.args(["audit", "key", "rotate"]);
        killed_after(rotate, b"", moment(longest));
        assert_eq!(decision(&environment.bash("s", "rm precious")), None, "{trial}: it can be saved");
        fs::remove_file(environment.project().join("precious")).unwrap();
        environment.bash("s", "ls gooseberry");
        let log = environment.succeed(&["log", "--json", "-n", "100"]);
        assert!(WORDS.iter().all(|word| log.contains(word)), "{trial}: {log}");
        environment.succeed(&["audit", "verify"]);
        environment.succeed(&["undo", "--yes"]);
        assert!(environment.project().join("precious").exists(), "{trial}");
        environment.succeed(&["snapshot", "verify"]);
        let clear = telling(&environment.state());
        let only_before = clear.iter().all(|path| path.ends_with("ledger.jsonl"));
        assert!(only_before, "{trial}: what was written before stays as it was: {clear:?}");
    }
}
