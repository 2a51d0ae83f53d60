//! Reviewers that are asked over HTTP, in the forms of Anthropic and OpenAI: what they answer is a verdict or none, and the credential reaches
//! nobody else.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::requests::read_request;

const KEY: &str = "key-of-the-provider-0815";

/// Another credential of the same user.
const SECOND: &str = "second-key-of-the-provider-4711";

/// A provider on this machine. What it does stands in the path of the address; what it was asked is kept.
struct Provider {
    port: u16,
    asked: Arc<Mutex<Vec<(String, Json)>>>,
}

impl Provider {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || answer(stream, port, &kept));
            }
        });
        Self { port, asked }
    }
}

fn answer(stream: TcpStream, port: u16, kept: &Mutex<Vec<(String, Json)>>) {
    let Some((head, body)) = read_request(&stream) else { return };
    kept.lock().unwrap().push((head.clone(), body.clone()));
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let question = body["input"].as_str().or(body["messages"][0]["content"].as_str()).unwrap_or_default();
    let token = question.split("- `token`: the text `").nth(1).and_then(|rest| rest.split('`').next());
    let mut model = body["model"].clone();
    let verdict = json!({ "token": token, "verdict": "APPROVED", "rationale": "it is right", "issues": [] });
    let mut text = format!("```json\n{verdict}\n```");
    let (mut ends, mut choices) = (("end_turn", "stop", "completed"), 1);
    let mut status = "200 OK".to_owned();
    match path.split('/').nth(1).unwrap_or_default() {
        "lies" => model = json!("gemini-2.5-flash"),
        "nonsense" => "LGTM".clone_into(&mut text),
        "cut" => ends = ("max_tokens", "length", "incomplete"),
        "tool" => ends = ("tool_use", "tool_calls", "incomplete"),
        "several" => choices = 2,
        "empty" => "204 No Content".clone_into(&mut status),
        "hangs" => std::thread::sleep(Duration::from_secs(90)),
        "moved" => status = format!("302 Found\r\nLocation: http://127.0.0.1:{port}/approves/v1/messages"),
        "closed" => "401 Unauthorized".clone_into(&mut status),
        "quota" => "429 Too Many Requests".clone_into(&mut status),
        "second" if !head.contains(SECOND) => "429 Too Many Requests".clone_into(&mut status),
        _ => {}
    }
    let said = match &*status {
        "401 Unauthorized" => {
            json!({ "type": "error", "error": { "type": "authentication_error", "message": "invalid x-api-key" } })
        }
        "429 Too Many Requests" => {
            json!({ "error": { "message": "You exceeded your current quota", "code": "insufficient_quota" } })
        }
        moved if moved.starts_with("302") => json!({ "moved": true }),
        _ if path.ends_with("/messages") => {
            json!({ "type": "message", "model": model, "stop_reason": ends.0, "content": [{ "type": "text", "text": text }] })
        }
        _ if path.ends_with("/completions") => {
            let choice = |number: usize| {
                let content = if number == 0 { text.clone() } else { text.replace("APPROVED", "BLOCKED") };
                json!({ "index": number, "finish_reason": ends.1, "message": { "content": content } })
            };
            json!({ "object": "chat.completion", "model": model, "choices": (0..choices).map(choice).collect::<Vec<_>>() })
        }
        _ => {
            json!({ "object": "response", "model": model, "status": ends.2, "output": [{ "content": [{ "type": "output_text", "text": text }] }] })
        }
    };
    let said = if status.starts_with("204") { String::new() } else { said.to_string() };
    let mut stream = stream;
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{said}",
        said.len()
    );
}

struct Place {
    environment: TestEnvironment,
    provider: Provider,
}

impl Place {
    fn new() -> Self {
        let place = Self { environment: TestEnvironment::new(), provider: Provider::new() };
        for (name, value) in [("provider", KEY), ("second", SECOND)] {
            let mut command = place.environment.command(env!("CARGO_BIN_EXE_checkrein"));
            let mut child = command
                .args(["credential", "set", name])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
            assert!(child.wait().unwrap().success());
        }
        place
    }

    /// Runs a pipeline whose reviewer is asked at this path; the step of the review, and the exit status.
    fn review(&self, path: &str, model: &str, more: &str) -> (i32, Json) {
        let port = self.provider.port;
        let task = format!("{path}{}", more.len()).replace('/', "-");
        self.environment.write(
            "p.yaml",
            &format!(
                "name: p\nworktree: none\nreviewers:\n  one:\n    endpoint: http://127.0.0.1:{port}/{path}\n    model: {model}\n{more}steps:\n  - {{name: code, command: 'echo x >> made.py'}}\n  - {{name: review, review: made.py, time: 5s, retries: 0}}\n"
            ),
        );
        let output = self.environment.checkrein(&["--json", "pipeline", "run", "p.yaml", "--task", &task]);
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert!(answer["steps"].is_array(), "{answer}");
        (output.status.code().unwrap(), answer["steps"][1].clone())
    }
}

#[test]
fn each_form_is_asked_and_answers_with_a_verdict() {
    let place = Place::new();
    let with = "    credential: provider\n";
    for (path, model, header) in [
        ("approves/v1/messages", "claude-opus-4-8", format!("x-api-key: {KEY}")),
        ("approves/v1/chat/completions", "gpt-5.2", format!("authorization: Bearer {KEY}")),
        ("approves/v1/responses", "gpt-5.2", format!("authorization: Bearer {KEY}")),
    ] {
        let (status, step) = place.review(path, model, with);
        assert_eq!((status, step["outcome"].as_str()), (0, Some("passed")), "{path}: {step}");
        assert_eq!(step["reviews"][0]["answered"], model);
        let (head, body) = place.provider.asked.lock().unwrap().pop().unwrap();
        assert!(head.lines().any(|line| line.eq_ignore_ascii_case(&header)), "{head}");
        assert_eq!(body["model"], model);
    }
    // Another form at an address that does not tell it.
    let (status, step) = place.review("approves/messages/x", "gpt-5.2", "    form: chat_completions\n");
    assert_eq!(status, 0, "{step}");
    assert!(place.provider.asked.lock().unwrap().pop().unwrap().1["messages"].is_array());
}

#[test]
fn whatever_else_is_answered_is_no_verdict_and_says_why() {
    let place = Place::new();
    for (path, why) in [
        ("lies/v1/messages", "`gemini-2.5-flash` answered"),
        ("nonsense/v1/messages", "verdict"),
        ("closed/v1/messages", "does not accept who we are"),
        ("quota/v1/chat/completions", "its quota is used up"),
        ("moved/v1/messages", "nothing says which model answered"),
        ("hangs/v1/messages", "no answer within"),
        ("cut/v1/messages", "cut off (`max_tokens`)"),
        ("cut/v1/chat/completions", "cut off (`length`)"),
        ("cut/v1/responses", "cut off (`incomplete`)"),
        ("tool/v1/messages", "cut off (`tool_use`)"),
        ("several/v1/chat/completions", "several verdicts"),
        ("empty/v1/responses", "its answer is empty"),
    ] {
        let before = place.provider.asked.lock().unwrap().len();
        let (status, step) = place.review(path, "gpt-5.2", "    credential: provider\n");
        assert_eq!((status, step["outcome"].as_str()), (4, Some("did_not_run")), "{path}: {step}");
        let cause = step["reviews"][0]["cause"].as_str().unwrap();
        assert!(cause.contains(why), "{path}: {cause}");
        let asked = place.provider.asked.lock().unwrap();
        let elsewhere = asked.iter().skip(before).any(|(head, _)| !head.contains(path));
        assert!(!elsewhere, "the credential went elsewhere");
    }
    let (status, step) = place.review("approves/v1/messages", "gpt-5.2", "    credential: nosuch\n");
    assert_eq!(status, 4, "{step}");
    assert!(step["reason"].as_str().unwrap().contains("there is no credential `nosuch`"), "{step}");
}

#[test]
fn the_credential_is_written_nowhere() {
    let place = Place::new();
    let (status, _) = place.review("approves/v1/messages", "gpt-5.2", "    credential: provider\n");
    assert_eq!(status, 0);
    let pipelines = place.environment.state().join("pipelines");
    let mut files = 0;
    for_each_file(&pipelines, &mut |text| {
        files += 1;
        assert!(!text.contains(KEY));
    });
    assert!(files > 5, "{files}");
}

// Source: seed 004-60, 004-62
#[test]
fn a_reviewer_goes_on_with_its_next_credential_and_without_one_nothing_passes() {
    let place = Place::new();
    let with = "    credential: [provider, second]\n";
    let (status, step) = place.review("second/v1/messages", "claude-opus-4-8", with);
    assert_eq!((status, step["outcome"].as_str()), (0, Some("passed")), "{step}");
    let cause = step["reviews"][0]["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("its quota is used up (credential `provider`)"), "{step}");
    assert_eq!(step["reviews"][1]["verdict"], "APPROVED", "{step}");
    let told = place.environment.succeed(&["audit", "authentications", "--json"]);
    let used = |line: &&str| line.contains("credential_used") && line.contains("reviewer one");
    let results: Vec<bool> = told.lines().filter(used).map(|line| line.contains("\"refused\"")).collect();
    assert_eq!(results, [true, false], "{told}");
    assert!(!told.contains(KEY) && !told.contains(SECOND));

    let before = place.provider.asked.lock().unwrap().len();
    let (status, step) = place.review("quota/v1/messages", "claude-opus-4-8", with);
    assert_ne!(status, 0);
    assert_eq!(step["outcome"], "did_not_run", "{step}");
    assert_eq!(place.provider.asked.lock().unwrap().len(), before + 2, "each credential once");
}

fn for_each_file(folder: &Path, look: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            for_each_file(&entry.path(), look);
        } else {
            look(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap()));
        }
    }
}

#[test]
fn a_pipeline_of_a_project_sends_nothing_to_hosts_of_its_own() {
    let environment = TestEnvironment::new();
    let text = "name: p\nreviewers:\n  one:\n    endpoint: https://evil.example/v1/messages\n    model: gpt-5.2\nsteps:\n  - {name: review, review: README.md}\n";
    environment.write("p.yaml", text);
    let said = String::from_utf8(environment.checkrein(&["pipeline", "check", "p.yaml"]).stderr).unwrap();
    assert!(said.contains("`evil.example` is no maker of models") && said.contains("p.yaml:4:"), "{said}");
    let own = environment.configure("pipelines/p.yaml", text);
    let output = environment.checkrein(&["pipeline", "check", own.to_str().unwrap()]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("maker of models"), "{output:?}");
}
