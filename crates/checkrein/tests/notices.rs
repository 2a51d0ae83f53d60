//! People are told of stops and questions: through every way that is set, from a process of its own, and never silently not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision};

/// How long something may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

fn with_settings(settings: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", settings);
    environment
}

/// A server that answers each connection with `talk`, and hands on what it answers with.
fn server(talk: fn(&mut BufReader<TcpStream>) -> String) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            drop(sender.send(talk(&mut BufReader::new(stream))));
        }
    });
    (port, receiver)
}

/// Takes one request; its body.
fn http(stream: &mut BufReader<TcpStream>) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    String::from_utf8(body).unwrap()
}

/// Takes one mail; all that was said.
fn smtp(stream: &mut BufReader<TcpStream>) -> String {
    let mut all = String::new();
    let mut is_data = false;
    stream.get_mut().write_all(b"220 test\r\n").unwrap();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or_default() == 0 {
            return all;
        }
        all.push_str(&line);
        let answer = match line.trim_end() {
            "." if is_data => {
                is_data = false;
                "250 taken"
            }
            _ if is_data => continue,
            "DATA" => {
                is_data = true;
                "354 go on"
            }
            "QUIT" => {
                stream.get_mut().write_all(b"221 bye\r\n").unwrap();
                return all;
            }
            _ => "250 well",
        };
        stream.get_mut().write_all(format!("{answer}\r\n").as_bytes()).unwrap();
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn events(environment: &TestEnvironment, name: &str) -> Vec<Json> {
    let bodies = environment.records("s").into_iter().map(|record| record["body"].clone());
    bodies.filter(|body| body["name"] == name || body["stage"] == name).collect()
}

// Source: seed 000-62, 000-99, 001-30, 004-20
#[test]
fn a_stop_reaches_people_in_every_way_that_is_set() {
    let (web_port, web) = server(http);
    let (slack_port, slack) = server(http);
    let (mail_port, mail) = server(smtp);
    let environment = with_settings(&format!(
        "interventions:
  intervention_cooldown_seconds: 0
  strategy:
    escalation_delay_seconds: 0
  emergency_stop:
    notification_channels: [command, webhook, slack, email, pigeon]
notifications:
  command: cat > told.json
  webhook: http://127.0.0.1:{web_port}/hook
  smtp: smtp://127.0.0.1:{mail_port}
  mail_from: checkrein@localhost
  mail_to: dev@localhost
"
    ));
    let secrets =
        environment.configure("notify.secrets", &format!("slack_url=http://127.0.0.1:{slack_port}/secret\n"));
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o600)).unwrap();
    for number in 0..16 {
        let mut call = json!({
            "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": format!("call-{number}"),
        });
        let before = environment.answer_to(&environment.payload("s", "PreToolUse", call.clone()));
        if decision(&before).is_none() {
            call["tool_response"] = json!({ "stdout": "a b", "stderr": "" });
            environment.answer_to(&environment.payload("s", "PostToolUse", call));
        }
    }
    let posted: Json = serde_json::from_str(&web.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!((&posted["event"], &posted["session"]), (&json!("emergency_stop"), &json!("s")));
    assert!(posted["text"].as_str().unwrap().contains("checkrein incident show"), "{posted}");
    let said: Json = serde_json::from_str(&slack.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert!(said["text"].as_str().unwrap().starts_with("*checkrein stopped a session*\n"), "{said}");
    let letter = mail.recv_timeout(PATIENCE).unwrap();
    for part in ["RCPT TO:<dev@localhost>", "Subject: checkrein stopped a session", "the same call"] {
        assert!(letter.contains(part), "{part} is missing in\n{letter}");
    }
    until("nothing is recorded", || !events(&environment, "checkrein.notified").is_empty());
    let told: Json =
        serde_json::from_str(&fs::read_to_string(environment.project().join("told.json")).unwrap()).unwrap();
    assert_eq!(told, posted);
    let channels = &events(&environment, "checkrein.notified")[0]["fields"]["channels"];
    assert_eq!(*channels, json!(["command", "webhook", "slack", "email"]));
    let failed = events(&environment, "notify");
    assert!(failed[0]["detail"].as_str().unwrap().contains("no channel `pigeon`"), "{failed:?}");
    assert_eq!(
        fs::read_dir(environment.state().join("notices")).unwrap().count(),
        0,
        "nothing is left lying"
    );
}

#[test]
fn questions_are_told_of_when_that_is_wanted() {
    let settings = |questions: bool| {
        format!(
            "interventions:\n  emergency_stop:\n    notification_channels: [desktop]\nnotifications:\n  questions: {questions}\n"
        )
    };
    let environment = with_settings(&settings(false));
    let asked = json!({ "tool_name": "Bash", "tool_input": { "command": "make release" } });
    let payload = environment.payload("s", "PermissionRequest", asked);
    environment.answer_to(&payload);
    assert!(!environment.state().join("notices").exists());
    environment.configure("config.yaml", &settings(true));
    environment.answer_to(&payload);
    // There is no desktop here, and that is written down.
    until("nothing is recorded", || !events(&environment, "notify").is_empty());
    let failed = events(&environment, "notify");
    assert!(failed[0]["detail"].as_str().unwrap().contains("notify-send"), "{failed:?}");
}

#[test]
fn a_question_of_the_guard_is_told_of_once() {
    let environment = with_settings(
        "interventions:
  emergency_stop:
    notification_channels: [command]
notifications:
  questions: true
  command: cat >> told.json; echo >> told.json
",
    );
    let told = || {
        let text = fs::read_to_string(environment.project().join("told.json")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap()["text"].to_string())
            .collect::<Vec<_>>()
    };
    let push = "git push --force";
    assert_eq!(decision(&environment.bash("s", push)), Some("ask"));
    until("nobody is told", || !told().is_empty());
    assert!(told()[0].contains(push), "{:?}", told());
    // Then the client asks: the same question, and one of its own.
    for command in [push, "make release"] {
        let asked = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
        environment.answer_to(&environment.payload("s", "PermissionRequest", asked));
    }
    until("nobody is told of the question of the client", || told().len() > 1);
    until("it is not recorded", || events(&environment, "checkrein.notified").len() > 1);
    assert!(told().len() == 2 && told()[1].contains("make release"), "{:?}", told());
}

#[test]
fn a_question_that_the_client_puts_in_the_safer_form_is_told_of_once() {
    let environment = with_settings(
        "interventions:
  emergency_stop:
    notification_channels: [command]
notifications:
  questions: true
  command: cat >> told.json; echo >> told.json
",
    );
    let told = || fs::read_to_string(environment.project().join("told.json")).unwrap_or_default();
    let answer = environment.bash("s", "git push --force origin main");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    let input = answer["hookSpecificOutput"]["updatedInput"].clone();
    assert!(input["command"].as_str().unwrap().contains("--force-with-lease"), "{answer}");
    until("nobody is told", || !events(&environment, "checkrein.notified").is_empty());
    let asked = json!({ "tool_name": "Bash", "tool_input": input });
    environment.answer_to(&environment.payload("s", "PermissionRequest", asked));
    // Another question, behind which one about the first would have come by now.
    let other = json!({ "tool_name": "Bash", "tool_input": { "command": "make release" } });
    environment.answer_to(&environment.payload("s", "PermissionRequest", other));
    until("nobody is told of the other", || told().contains("make release"));
    until("it is not recorded", || events(&environment, "checkrein.notified").len() > 1);
    assert_eq!(told().lines().filter(|line| !line.is_empty()).count(), 2, "{}", told());
}

#[test]
fn secrets_that_others_can_read_are_not_used_and_failures_are_told() {
    let environment = with_settings(
        "interventions:\n  emergency_stop:\n    notification_channels: [slack, webhook, email]\nnotifications:\n  webhook: http://127.0.0.1:9/\n",
    );
    let secrets = environment.configure("notify.secrets", "slack_url=http://127.0.0.1:9/\n");
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o644)).unwrap();
    let output = environment.checkrein(&["notify", "--test"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    for part in
        ["slack: others can read", "webhook: `curl` ended with", "email: `notifications.smtp` is not set"]
    {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
}

#[test]
fn a_project_cannot_say_how_people_are_told() {
    let environment = with_settings("");
    environment.write("checkrein.yaml", "notifications:\n  command: touch stolen\n");
    let shown = environment.succeed(&["config", "show"]);
    let line = shown.lines().find(|line| line.contains("notifications.command")).unwrap();
    assert!(!line.contains("stolen"), "{line}");
}

/// A notice that somebody put down and did not send.
fn put_down(environment: &TestEnvironment, number: u32) {
    let folder = environment.state().join("notices");
    fs::create_dir_all(&folder).unwrap();
    let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let notice = json!({
        "event": "stop", "session": "s", "workspace": environment.project(), "at": u64::try_from(at).unwrap(),
        "title": "checkrein stopped a session", "text": number.to_string(),
    });
    let path = folder.join(format!("{at}-{number}.json"));
    fs::write(&path, notice.to_string()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_notice_whose_sender_is_ended_is_sent_by_the_next_and_by_two_at_once_only_once() {
    // The second way hangs until it may go on.
    let environment = with_settings(
        "interventions:
  emergency_stop:
    notification_channels: [webhook, command]
notifications:
  webhook: http://127.0.0.1:PORT/hook
  command: \"touch hangs; while [ ! -e go ]; do sleep 0.05; done; cat >> told.json; echo >> told.json; touch ended\"
",
    );
    let (port, web) = server(http);
    let config = environment.home().join(".config/checkrein/config.yaml");
    let settings = fs::read_to_string(&config).unwrap().replace("PORT", &port.to_string());
    fs::write(&config, settings).unwrap();
    environment.bash("s", "ls");
    put_down(&environment, 1);
    let send = || {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(["notice", "send"]);
        command
    };
    let mut first = send().spawn().unwrap();
    let hangs = environment.project().join("hangs");
    until("nothing is sent", || hangs.exists());
    // Another one leaves it to the first, as long as that one lives, and then takes it.
    fs::remove_file(&hangs).unwrap();
    let mut second = send().spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(!hangs.exists() && second.try_wait().unwrap().is_none());
    first.kill().unwrap();
    first.wait().unwrap();
    until("the second one does not go on", || hangs.exists());
    fs::write(environment.project().join("go"), "").unwrap();
    assert!(second.wait().unwrap().success());
    // One is of the command that the first one started, and that goes on without it.
    let told = || fs::read_to_string(environment.project().join("told.json")).unwrap_or_default();
    let notices = || told().matches("\"event\"").count();
    until("what the first one started goes on", || notices() >= 2);
    assert!(send().status().unwrap().success());
    assert_eq!(notices(), 2, "{}", told());
    // Who was told already is not told again.
    web.recv_timeout(PATIENCE).unwrap();
    assert!(web.try_recv().is_err());
    let told = events(&environment, "checkrein.notified");
    assert_eq!(told[0]["fields"]["channels"], json!(["webhook", "command"]), "{told:?}");
    assert_eq!(fs::read_dir(environment.state().join("notices")).unwrap().count(), 0);
}

#[test]
fn what_an_ended_sender_or_writer_left_is_removed_by_the_next() {
    let environment = with_settings("");
    let folder = environment.state().join("notices");
    fs::create_dir_all(&folder).unwrap();
    let told = folder.join("7-incident.told");
    let [half_written, being_written] = [".7-a.json.1-0", ".7-b.json.1-1"].map(|name| folder.join(name));
    for path in [&told, &half_written, &being_written] {
        fs::write(path, "{").unwrap();
    }
    let hour_ago = SystemTime::now() - Duration::from_hours(1);
    fs::File::options().write(true).open(&half_written).unwrap().set_modified(hour_ago).unwrap();
    environment.succeed(&["notice", "send"]);
    assert!(!told.exists() && !half_written.exists() && being_written.exists());
}

#[test]
fn a_run_sends_at_its_end_what_waits() {
    let environment = with_settings(
        "interventions:
  emergency_stop:
    notification_channels: [command]
notifications:
  command: cat >> told.json; echo >> told.json
",
    );
    environment.bash("s", "ls");
    put_down(&environment, 1);
    environment.succeed(&["run", "--", "true"]);
    until("it is not sent", || !events(&environment, "checkrein.notified").is_empty());
    let told = fs::read_to_string(environment.project().join("told.json")).unwrap();
    assert_eq!(told.lines().count(), 1, "{told}");
}
