//! Calls that wait for an answer where nobody is at the client: real hooks, real answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::waiting::{CALL, answer_of, asks, asks_of, unattended};
use support::{TestEnvironment, copy_program, decision, reason, shell_call};

/// How long something may take to come.
const PATIENCE: Duration = Duration::from_mins(1);

fn list(environment: &TestEnvironment) -> Vec<Json> {
    serde_json::from_str(&environment.succeed(&["approval", "list", "--json"])).unwrap()
}

/// The questions that wait, once there are so many.
fn waiting(environment: &TestEnvironment, count: usize) -> Vec<Json> {
    let started = Instant::now();
    loop {
        let mut all = list(environment);
        all.retain(|one| one["state"] == "pending");
        if all.len() == count {
            return all;
        }
        assert!(started.elapsed() < PATIENCE, "{count} questions: {all:?} of {:?}", list(environment));
        thread::sleep(Duration::from_millis(50));
    }
}

fn id(question: &Json) -> String {
    question["id"].as_str().unwrap().to_owned()
}

/// The one question that waits.
fn only(environment: &TestEnvironment) -> String {
    id(&waiting(environment, 1)[0])
}

fn state(environment: &TestEnvironment, id: &str) -> String {
    let all = list(environment);
    all.iter().find(|one| one["id"] == id).unwrap()["state"].as_str().unwrap().to_owned()
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn events(environment: &TestEnvironment, session: &str, name: &str) -> Vec<Json> {
    let bodies = environment.records(session).into_iter().map(|record| record["body"].clone());
    bodies.filter(|body| body["name"] == name).map(|body| body["fields"].clone()).collect()
}

// Source: seed 003-7
#[test]
fn a_yes_lets_the_waiting_call_go_on_and_no_other() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let found = waiting(&environment, 1);
    let one = &found[0];
    for (field, value) in [
        ("session", json!("s")),
        ("client", json!("claude")),
        ("project", json!(environment.project())),
        ("action_id", json!("one")),
        ("verdict", json!("escalate")),
        ("answers", json!(["once", "session", "always", "no"])),
    ] {
        assert_eq!(one[field], value, "{field}");
    }
    assert!(one["action"].as_str().unwrap().contains(CALL), "{one}");
    assert!(!one["reasons"].as_array().unwrap().is_empty() && !one["effects"].as_array().unwrap().is_empty());
    assert!(one["asked_at"].as_str() < one["expires_at"].as_str(), "{one}");
    let said = environment.succeed(&["approval", "allow", &id(one), "--once"]);
    assert!(said.contains("    rm ../diary.md\n") && said.ends_with("the call went on\n"), "{said}");
    let answer = answer_of(hook);
    assert_eq!(decision(&answer), Some("allow"), "{answer}");
    assert!(reason(&answer).contains("the user was asked"), "{answer}");
    assert_eq!(state(&environment, &id(one)), "allowed");
    // On record: what was asked and shown, who said what, from where, when.
    let asked = &events(&environment, "s", "checkrein.approval_asked")[0];
    let answered = &events(&environment, "s", "checkrein.approval_answered")[0];
    assert_eq!((&answered["answer"], &answered["end"]), (&json!("once"), &json!("allowed")));
    assert_eq!((&answered["by"]["name"], &answered["by"]["source"]), (&json!("dev"), &json!("command_line")));
    assert_eq!(asked["shown"], answered["shown"]);
    // The end of the call is that of a call that was allowed.
    let mut call = shell_call("one", CALL, json!({}));
    call["tool_response"] = json!({ "stdout": "", "stderr": "" });
    environment.answer_to(&environment.payload("s", "PostToolUse", call));
    let kinds: Vec<Json> =
        environment.records("s").iter().map(|record| record["body"]["type"].clone()).collect();
    assert!(kinds.contains(&json!("outcome")), "{kinds:?}");
    assert!(!kinds.contains(&json!("unreviewed")) && !kinds.contains(&json!("unanswered")), "{kinds:?}");
    let log = environment.succeed(&["log"]);
    assert!(log.contains("yes by you"), "{log}");
    // Once is once: the same call is another question.
    let hook = asks(&environment, "s", "two", CALL);
    let second = only(&environment);
    assert_ne!(second, id(one));
    environment.succeed(&["approval", "deny", &second]);
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
}

#[test]
fn a_no_comes_with_a_word_to_the_agent() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let said = environment.succeed(&["approval", "deny", &question, "--message", "keep my diary"]);
    assert!(said.ends_with("the call was refused\n"), "{said}");
    let answer = answer_of(hook);
    assert_eq!(decision(&answer), Some("deny"));
    let told = reason(&answer);
    assert!(told.contains("the user was asked and said no"), "{told}");
    assert!(told.contains("The user says: keep my diary"), "{told}");
    assert!(environment.home().join("diary.md").exists());
    let listed = list(&environment);
    assert_eq!((&listed[0]["state"], &listed[0]["message"]), (&json!("denied"), &json!("keep my diary")));
}

#[test]
fn a_no_holds_for_the_same_call_of_the_session_until_the_user_lifts_it() {
    let environment = unattended("");
    let say_no = |session: &str, id: &str| {
        let hook = asks(&environment, session, id, CALL);
        environment.succeed(&["approval", "deny", &only(&environment), "--message", "keep my diary"]);
        assert_eq!(decision(&answer_of(hook)), Some("deny"));
    };
    say_no("s", "one");
    // The same call again: nobody is asked, and the agent hears the same word.
    let told = answer_of(asks(&environment, "s", "two", CALL));
    assert_eq!(decision(&told), Some("deny"));
    let told = reason(&told);
    assert!(told.contains("said no") && told.contains("The user says: keep my diary"), "{told}");
    assert_eq!(list(&environment).len(), 1);
    assert_eq!(events(&environment, "s", "checkrein.approval_asked").len(), 1);
    let records = environment.records("s");
    let answered = records.iter().rev().find_map(|one| one["body"]["answered"].as_str()).unwrap().to_owned();
    assert!(answered.starts_with("refused: the user said no less than 1 minute ago. "), "{answered}");
    // Another call, and the same in another session, are other questions.
    say_no("other", "three");
    let hook = asks(&environment, "s", "four", "rm -f ../diary.md");
    environment.succeed(&["approval", "deny", &only(&environment)]);
    answer_of(hook);
    // What the user says to the agent may have lifted it, and what they allow has.
    let prompt =
        environment.payload("s", "UserPromptSubmit", json!({ "prompt": "delete the diary after all" }));
    environment.answer_to(&prompt);
    let hook = asks(&environment, "s", "five", CALL);
    environment.succeed(&["approval", "allow", &only(&environment)]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    environment.succeed(&["allow", "three", "--yes"]);
    let lifted = environment.answer_to(&environment.payload(
        "other",
        "PreToolUse",
        shell_call("six", CALL, json!({})),
    ));
    assert_ne!(decision(&lifted), Some("deny"), "{lifted}");
}

#[test]
fn what_killed_processes_were_writing_is_cleared_away() {
    let environment = unattended("");
    let folder = environment.state().join("approvals");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
    let (old, new) = (folder.join("abcd.new-1"), folder.join("abcd.new-2"));
    for path in [&old, &new] {
        fs::write(path, "{").unwrap();
    }
    let touched = Command::new("touch").args(["-d", "2 hours ago"]).arg(&old).status().unwrap();
    assert!(touched.success());
    let hook = asks(&environment, "s", "one", CALL);
    environment.succeed(&["approval", "deny", &only(&environment)]);
    answer_of(hook);
    assert!(!old.exists() && new.exists());
}

#[test]
fn a_safer_form_that_is_allowed_runs_without_another_question() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", "git push --force origin main");
    environment.succeed(&["approval", "allow", &only(&environment)]);
    let answer = answer_of(hook);
    assert_eq!(decision(&answer), Some("allow"), "{answer}");
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    assert_eq!(input["command"], "git push --force-with-lease origin main");
}

#[test]
fn what_is_allowed_for_longer_is_an_allowance() {
    for (option, session, passes) in
        [("--session", "s", true), ("--session", "other", false), ("--always", "other", true)]
    {
        let environment = unattended("");
        let hook = asks(&environment, "s", "one", CALL);
        let question = only(&environment);
        let shown = environment.succeed(&["approval", "show", &question]);
        assert!(shown.contains(&format!("{option:<10}also lets the same call pass")), "{shown}");
        let said = environment.succeed(&["approval", "allow", &question, option]);
        assert!(said.contains("checkrein allow --forget"), "{said}");
        assert_eq!(decision(&answer_of(hook)), Some("allow"));
        assert_eq!(decision(&environment.bash(session, CALL)).is_none(), passes, "{option} in {session}");
        assert_eq!(decision(&environment.bash("s", "rm -f ../diary.md")), Some("deny"), "another call");
    }
}

// Source: seed 003-7
#[test]
fn without_an_answer_the_answer_is_no_and_a_late_one_is_refused() {
    let environment = unattended("approvals: {wait_seconds: 2}\n");
    let started = Instant::now();
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let answer = answer_of(hook);
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(15), "{took:?}");
    assert_eq!(decision(&answer), Some("deny"));
    assert!(reason(&answer).contains("did not answer within 2 seconds"), "{}", reason(&answer));
    assert_eq!(state(&environment, &question), "expired");
    for arguments in [&["approval", "allow", &question][..], &["approval", "deny", &question]] {
        let said = refused(&environment.checkrein(arguments));
        assert!(said.contains("is no longer waiting") && said.contains("too late"), "{said}");
    }
    assert_eq!(decision(&environment.bash("s", CALL)), Some("deny"), "nothing was allowed");
}

#[test]
fn questions_that_nobody_hears_wait_no_more() {
    let environment = unattended("approvals: {wait_seconds: 1}\n");
    let reason_of = |id: &str| {
        let answer = answer_of(asks(&environment, "s", id, CALL));
        assert_eq!(decision(&answer), Some("deny"));
        reason(&answer).to_owned()
    };
    for id in ["one", "two"] {
        assert!(reason_of(id).contains("did not answer within"), "{id}");
    }
    let third = reason_of("three");
    assert!(third.contains("nobody can be asked") && !third.contains("did not answer"), "{third}");
    assert_eq!(list(&environment).len(), 2);
    // Another session is asked about anew, and so is this one once the user has spoken.
    let answer = answer_of(asks(&environment, "other", "one", CALL));
    assert!(reason(&answer).contains("did not answer within"), "{}", reason(&answer));
    environment.answer_to(&environment.payload("s", "UserPromptSubmit", json!({ "prompt": "go on" })));
    assert!(reason_of("four").contains("did not answer within"));
}

#[test]
fn questions_that_a_channel_tells_of_wait_each() {
    let environment = unattended(
        "approvals: {wait_seconds: 1}\ninterventions: {emergency_stop: {notification_channels: [command]}}\nnotifications: {command: cat > told.json}\n",
    );
    for id in ["one", "two", "three"] {
        let answer = answer_of(asks(&environment, "s", id, CALL));
        assert!(reason(&answer).contains("did not answer within"), "{id}: {}", reason(&answer));
    }
}

#[test]
fn a_killed_hook_takes_its_question_with_it() {
    let environment = unattended("");
    let mut hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    hook.kill().unwrap();
    hook.wait().unwrap();
    assert_eq!(state(&environment, &question), "gone");
    let said = refused(&environment.checkrein(&["approval", "allow", &question, "--always"]));
    assert!(said.contains("is no longer waiting") && said.contains("nothing was allowed"), "{said}");
    // Stopped in the middle: who answers is told that nobody took it, and nothing stays that a later call could take.
    let mut hook = asks(&environment, "s", "two", CALL);
    let question = only(&environment);
    let signal = |name: &str| {
        Command::new("kill").args([name, &hook.id().to_string()]).status().unwrap();
    };
    signal("-STOP");
    let said = refused(&environment.checkrein(&["approval", "allow", &question]));
    assert!(said.contains("did not take the answer"), "{said}");
    let files = fs::read_dir(environment.state().join("approvals")).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains(".answer") || name.contains(".new")), "{names:?}");
    signal("-CONT");
    hook.kill().unwrap();
    hook.wait().unwrap();
    assert_eq!(decision(&environment.bash("s", CALL)), Some("deny"));
}

// Source: seed 003-9
#[test]
fn of_many_answers_one_counts() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let won = thread::scope(|scope| {
        let answers: Vec<_> = (0..6)
            .map(|number| {
                let (environment, question) = (&environment, &question);
                let command = if number % 2 == 0 { "allow" } else { "deny" };
                scope.spawn(move || {
                    let output = environment.checkrein(&["approval", command, question]);
                    output.status.success().then_some(command)
                })
            })
            .collect();
        answers.into_iter().filter_map(|answer| answer.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(won.len(), 1, "{won:?}");
    let heard = answer_of(hook);
    assert_eq!(decision(&heard), Some(if won == ["allow"] { "allow" } else { "deny" }));
    assert_eq!(events(&environment, "s", "checkrein.approval_answered").len(), 1);
}

#[test]
fn calls_at_the_same_time_have_answers_of_their_own() {
    let environment = unattended("");
    fs::write(environment.home().join("other.md"), "other\n").unwrap();
    let one = asks(&environment, "s", "one", CALL);
    let other = asks(&environment, "s", "other", "rm ../other.md");
    let found = waiting(&environment, 2);
    let of = |action: &str| id(found.iter().find(|one| one["action_id"] == action).unwrap());
    environment.succeed(&["approval", "allow", &of("other")]);
    environment.succeed(&["approval", "deny", &of("one")]);
    assert_eq!(decision(&answer_of(one)), Some("deny"));
    assert_eq!(decision(&answer_of(other)), Some("allow"));
}

#[test]
fn an_agent_answers_nothing() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let program = env!("CARGO_BIN_EXE_checkrein");
    let agent = environment.home().join("claude");
    copy_program("/bin/bash", &agent);
    let script = format!("{program} approval allow {question}; true");
    // From within a session, with and without the variables that say so.
    let within = environment.command(&agent).args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&within.stderr).into_owned();
    assert!(said.contains("is for humans only"), "{said}");
    let marked = environment.command("sh").args(["-c", &script]).env("CLAUDECODE", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&marked.stderr).contains("is for humans only"));
    // A file that somebody writes is no answer, nor is one with a lock of a process below an agent.
    let folder = environment.state().join("approvals");
    let asked = fs::read(folder.join(format!("{question}.json"))).unwrap();
    let forged = json!({
        "id": question,
        "shown": format!("sha256:{}", digest(&asked)),
        "answer": "once",
        "by": { "name": "dev", "source": "command_line", "place": null },
        "at": 1,
    });
    let path = folder.join(format!("{question}.answer"));
    let place = |text: &str| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let until_gone = || {
        let started = Instant::now();
        while path.exists() {
            assert!(started.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(20));
        }
    };
    place(&forged.to_string());
    until_gone();
    let moved = environment.home().join("forged");
    let make = || {
        fs::write(&moved, forged.to_string()).unwrap();
        fs::set_permissions(&moved, fs::Permissions::from_mode(0o600)).unwrap();
    };
    make();
    let locker = "import fcntl, os, sys, time
os.rename(sys.argv[1], sys.argv[1] + '2')
file = open(sys.argv[1] + '2', 'r+')
fcntl.lockf(file, fcntl.LOCK_EX)
os.rename(sys.argv[1] + '2', sys.argv[2])
time.sleep(1.5)
";
    let script = format!(
        "python3 -c \"{locker}\" {} {}; true",
        environment.home().join("forged").display(),
        path.display()
    );
    assert!(environment.command(&agent).args(["-c", &script]).status().unwrap().success());
    until_gone();
    // Nor is a file that another program of the user holds: a browser, a database.
    make();
    assert!(environment.command("bash").args(["-c", &script]).status().unwrap().success());
    until_gone();
    let found = events(&environment, "s", "checkrein.approval_forged");
    let why: Vec<&str> = found.iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), 3, "{why:?}");
    assert!(why[0].contains("nobody stands behind it"), "{why:?}");
    assert!(why[1].contains("started by an agent (`claude`)"), "{why:?}");
    assert!(why[2].contains("another program than"), "{why:?}");
    // What writes there is refused as a change to the guard, and the question still waits for the user.
    assert_eq!(decision(&environment.bash("s", &format!("echo x > {}", path.display()))), Some("deny"));
    assert_eq!(state(&environment, &question), "pending");
    environment.succeed(&["approval", "allow", &question]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
}

#[test]
fn a_program_that_becomes_ours_answers_nothing() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let folder = environment.state().join("approvals");
    let path = folder.join(format!("{question}.answer"));
    let asked = fs::read(folder.join(format!("{question}.json"))).unwrap();
    let forged = json!({
        "id": question,
        "shown": format!("sha256:{}", digest(&asked)),
        "answer": "once",
        "by": { "name": "dev", "source": "command_line", "place": null },
        "at": 1,
    });
    let moved = environment.home().join("forged");
    // The lock is taken by another program, which hands it to `checkrein watch` together with the open file.
    let becomes = "import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(file, fcntl.LOCK_EX)
os.set_inheritable(file, INHERITED)
os.rename(sys.argv[1], sys.argv[2])
os.execv(sys.argv[3], [sys.argv[3], 'watch', '--json'])
";
    for inherited in ["True", "False"] {
        fs::write(&moved, forged.to_string()).unwrap();
        fs::set_permissions(&moved, fs::Permissions::from_mode(0o600)).unwrap();
        let mut process = environment
            .command("python3")
            .args(["-c", &becomes.replace("INHERITED", inherited)])
            .args([&moved, &path])
            .arg(env!("CARGO_BIN_EXE_checkrein"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while (path.exists() || moved.exists()) && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(!path.exists() && !moved.exists(), "nobody looked at it");
    }
    let found = events(&environment, "s", "checkrein.approval_forged");
    let why: Vec<&str> = found.iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why[0].contains("was another program when it took it"), "{why:?}");
    assert!(why[1].contains("nobody stands behind it"), "{why:?}");
    assert_eq!(state(&environment, &question), "pending");
    environment.succeed(&["approval", "allow", &question]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
}

/// The SHA-256 of a text, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    let mut child = Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

#[test]
fn what_was_shown_is_what_counts() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let path = environment.state().join("approvals").join(format!("{question}.json"));
    // Written in place, so that the lock stays: another call would be shown.
    let text = fs::read_to_string(&path).unwrap().replace("rm ../diary.md", "ls");
    fs::write(&path, text).unwrap();
    let said = refused(&environment.checkrein(&["approval", "allow", &question]));
    assert!(said.contains(&question) && !said.contains("went on"), "{said}");
    assert!(list(&environment).is_empty(), "what was altered is shown to nobody");
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
}

#[test]
fn what_became_of_a_question_is_not_carried_to_another() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let first = only(&environment);
    environment.succeed(&["approval", "allow", &first]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    assert_eq!(state(&environment, &first), "allowed");
    let mut hook = asks(&environment, "t", "two", CALL);
    let second = only(&environment);
    let folder = environment.state().join("approvals");
    for ending in ["answer", "taken", "done"] {
        let from = folder.join(format!("{first}.{ending}"));
        if from.exists() {
            fs::copy(from, folder.join(format!("{second}.{ending}"))).unwrap();
        }
    }
    assert_eq!(state(&environment, &second), "pending");
    hook.kill().unwrap();
    hook.wait().unwrap();
    assert_eq!(state(&environment, &second), "gone");
}

#[test]
fn a_call_that_changed_while_it_waited_does_not_go_on() {
    let environment = unattended("");
    fs::write(environment.home().join("other.md"), "other\n").unwrap();
    environment.write("clean.sh", "rm ../diary.md\n");
    let hook = asks(&environment, "s", "one", "bash clean.sh");
    let question = only(&environment);
    environment.write("clean.sh", "rm ../diary.md ../other.md\n");
    let said = refused(&environment.checkrein(&["approval", "allow", &question]));
    assert!(said.contains("something changed"), "{said}");
    let answer = answer_of(hook);
    assert_eq!(decision(&answer), Some("deny"));
    assert!(reason(&answer).contains("something changed while the user was asked"), "{}", reason(&answer));
}

#[test]
fn a_halt_ends_the_waiting() {
    let environment = unattended("");
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    environment.succeed(&["halt", "s"]);
    let started = Instant::now();
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(state(&environment, &question), "denied");
}

#[test]
fn the_setting_says_which_questions_wait() {
    // By default those of nobody's profiles alone: a client that decides by itself is answered at once.
    let unasked = |id: &str| shell_call(id, CALL, json!({ "permission_mode": "dontAsk" }));
    let with = |settings: &str| {
        let environment = unattended("");
        environment.configure("config.yaml", settings);
        environment
    };
    let environment = with("profile: interactive\n");
    let started = Instant::now();
    let answer = answer_of(asks_of(&environment, "s", unasked("one"), &["claude"]));
    assert_eq!(decision(&answer), Some("deny"));
    assert!(list(&environment).is_empty() && started.elapsed() < Duration::from_secs(10));
    let environment = with("profile: interactive\napprovals: {wait: lost}\n");
    let hook = asks_of(&environment, "s", unasked("two"), &["claude"]);
    environment.succeed(&["approval", "allow", &only(&environment)]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    assert_eq!(decision(&answer_of(asks(&environment, "t", "three", CALL))), Some("ask"), "the client asks");
    let environment = with("profile: interactive\napprovals: {wait: always}\n");
    let hook = asks(&environment, "u", "four", CALL);
    environment.succeed(&["approval", "allow", &only(&environment)]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    let environment = with("profile: strict\napprovals: {wait: never}\n");
    assert_eq!(decision(&answer_of(asks(&environment, "v", "five", CALL))), Some("deny"));
    assert!(list(&environment).is_empty());
    let environment = with("profile: strict\n");
    let hook = asks(&environment, "w", "six", CALL);
    environment.succeed(&["approval", "deny", &only(&environment)]);
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
    // What only looks at a call never waits.
    let environment = with("profile: unattended\napprovals: {wait: always}\n");
    let started = Instant::now();
    let mut check = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    check.args(["check", CALL]).env_remove("CHECKREIN_APPROVALS_WAIT").output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(list(&environment).iter().all(|one| one["state"] != "pending"));
}

#[test]
fn secrets_are_masked_in_what_is_kept_and_only_the_user_reads_it() {
    let environment = unattended("");
    let key = "AKIAIOSFODNN7ABCDEFG";
    let hook = asks(&environment, "s", "one", &format!("{CALL} # {key}"));
    let question = only(&environment);
    let folder = environment.state().join("approvals");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(&path).unwrap().contains(key), "{}", path.display());
    }
    environment.succeed(&["approval", "deny", &question]);
    answer_of(hook);
}

// Source: seed 003-6
#[test]
fn people_are_told_of_a_question_with_the_command_that_answers_it() {
    let environment = unattended(
        "interventions: {emergency_stop: {notification_channels: [command]}}\nnotifications: {command: cat > told.json}\n",
    );
    let hook = asks(&environment, "s", "one", CALL);
    let question = only(&environment);
    let told = environment.project().join("told.json");
    let started = Instant::now();
    let notice = loop {
        let text = fs::read_to_string(&told).unwrap_or_default();
        if let Ok(notice) = serde_json::from_str::<Json>(&text) {
            break notice;
        }
        assert!(started.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(notice["event"], "approval");
    let text = notice["text"].as_str().unwrap();
    assert!(
        text.contains("rm ../diary.md") && text.contains(&format!("checkrein approval allow {question}"))
    );
    assert!(text.contains(&format!("checkrein approval deny {question}")), "{text}");
    environment.succeed(&["approval", "deny", &question]);
    answer_of(hook);
}

#[test]
fn a_longer_wait_is_registered_with_the_client_and_told_to_the_hook() {
    let environment = unattended("approvals: {wait_seconds: 90}\n");
    // Where 30 seconds are registered nobody waits for longer than 20.
    let hook = asks(&environment, "s", "one", CALL);
    let seconds = |question: &Json| {
        let shown = environment.succeed(&["approval", "show", &id(question)]);
        let state = shown.lines().find(|line| line.starts_with("state")).unwrap().to_owned();
        state.split(' ').find_map(|word| word.parse::<u64>().ok()).unwrap()
    };
    let question = waiting(&environment, 1).remove(0);
    assert!(seconds(&question) <= 20, "{question}");
    environment.succeed(&["approval", "deny", &id(&question)]);
    answer_of(hook);
    environment.succeed(&["init", "--yes"]);
    // The test environment says that nobody waits, which may only be stricter.
    let plain = fs::read_to_string(environment.project().join(".claude/settings.local.json")).unwrap();
    assert!(!plain.contains("--wait"), "{plain}");
    let mut init = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    init.args(["init", "--yes"]).env_remove("CHECKREIN_APPROVALS_WAIT");
    assert!(init.output().unwrap().status.success());
    let settings = fs::read_to_string(environment.project().join(".claude/settings.local.json")).unwrap();
    assert!(settings.contains("checkrein-hook claude --wait 90)"), "{settings}");
    assert!(settings.contains("\"timeout\": 100") && !settings.contains("\"timeout\": 30"), "{settings}");
    let call = shell_call("two", CALL, json!({}));
    let hook = asks_of(&environment, "t", call, &["claude", "--wait", "90"]);
    let question = waiting(&environment, 1).remove(0);
    assert!((60..=90).contains(&seconds(&question)), "{question}");
    environment.succeed(&["approval", "allow", &id(&question)]);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    // A time that was lowered by hand is none of ours any more: the client would let the call run.
    let lowered = settings.replace("\"timeout\": 100", "\"timeout\": 40");
    fs::write(environment.project().join(".claude/settings.local.json"), lowered).unwrap();
    let said = environment.checkrein(&["doctor"]);
    assert!(!said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
}

#[test]
fn each_client_waits_as_long_as_its_registration_lets_it() {
    for (client, waits) in [
        ("claude", true),
        ("codex", true),
        ("gemini", true),
        ("qwen", true),
        ("copilot", true),
        ("droid", true),
        ("cursor", true),
        ("kiro", true),
        ("windsurf", false),
        ("cline", false),
        ("opencode", false),
        ("kilo", false),
    ] {
        let found = checkrein_clients::named(client).unwrap().hooks.patience();
        assert_eq!(found, waits.then_some(20), "{client}");
    }
}
