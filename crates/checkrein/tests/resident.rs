//! Hooks that a process which stays answers for: the same answers and the same records, and none that anybody else could give.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

#[path = "support/literate.rs"]
#[allow(dead_code, reason = "what must follow is compared, not looked up")]
mod literate;
mod serve_support;
mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::resident::{ResidentKey, Speaker};
use checkrein_protocol::{AbsolutePath, ActionId, HookEventKind};
use literate::{build_world, pages, read_page};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::{TestEnvironment, decision, shell_call};

/// What a hook has besides its deadline: far more than it needs, far less than a client waits.
const BOUND: Duration = Duration::from_secs(10);

/// What the user sets for it.
const RESIDENT: &str = "engine:\n  resident: true\n";

/// Every how many of the commands of the literate cases is asked about; `CHECKREIN_RESIDENT_EVERY=1` takes all.
const EVERY: usize = 61;

/// A process that stays, as the user starts it.
struct Resident(Child);

impl Resident {
    /// In a home where the user has asked for it.
    fn start(environment: &TestEnvironment) -> Self {
        let mut child = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .arg("engine")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("answering hooks at "), "{line}");
        Self(child)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.send(Signal::KILL);
        self.0.wait().unwrap();
    }
}

fn socket(environment: &TestEnvironment) -> PathBuf {
    environment.state().join("engine/socket")
}

fn shell_payload(environment: &TestEnvironment, session: &str, id: &str, command: &str) -> Vec<u8> {
    environment.payload(session, "PreToolUse", shell_call(id, command, json!({})))
}

/// Whether a hook could write into files itself: where not, what is on record was written by the process that stays.
#[derive(Clone, Copy)]
enum Writing {
    Possible,
    Impossible,
}

/// What the hook of a client answers; nothing where it ends with another status than 0.
fn answer_of(environment: &TestEnvironment, client: &str, payload: &[u8], writing: Writing) -> Json {
    let limit = match writing {
        Writing::Possible => "unlimited",
        Writing::Impossible => "0",
    };
    let start = format!("ulimit -f {limit}; exec \"$0\" {client}");
    let mut child = environment
        .command("/bin/sh")
        .args(["-c", &start, env!("CARGO_BIN_EXE_checkrein-hook")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(payload));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    json!({ "status": output.status.code(), "said": said, "answer": serde_json::from_slice::<Json>(&output.stdout).ok() })
}

fn answer_of_a_hook_that_cannot_write(environment: &TestEnvironment, payload: &[u8]) -> Json {
    answer_of(environment, "claude", payload, Writing::Impossible)["answer"].take()
}

/// A record or an answer without what two runs never have in common: times, and what is made of them.
fn without_times(mut value: Json) -> Json {
    fn clear(value: &mut Json) {
        match value {
            Json::Object(fields) => {
                for name in ["at", "hash", "prev", "elapsed_us"] {
                    fields.remove(name);
                }
                // How far a look at the workspace comes depends on how long it takes, and so does what else ran meanwhile.
                if let Some(Json::Object(looked)) = fields.get_mut("verification") {
                    ["looked", "entries", "gaps", "other_causes"]
                        .iter()
                        .for_each(|name| drop(looked.remove(*name)));
                }
                fields.values_mut().for_each(clear);
            }
            Json::Array(entries) => entries.iter_mut().for_each(clear),
            Json::String(text) => *text = without_moments(text),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    clear(&mut value);
    value
}

/// The name of a report is a moment in fourteen digits, with what tells those of one second apart.
fn without_moments(text: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut kept = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(is_digit) {
        let (before, number) = rest.split_at(place);
        let end = number.find(|letter| !is_digit(letter)).unwrap_or(number.len());
        kept.push_str(before);
        kept.push_str(if end == 14 { "REPORT" } else { &number[..end] });
        rest = if end == 14 { number.trim_start_matches(is_name) } else { &number[end..] };
    }
    kept + rest
}

/// Copies what is in a folder to another one, with times and rights.
fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Makes a home what it was.
fn put_back(environment: &TestEnvironment, kept: &Path) {
    for entry in fs::read_dir(environment.home()).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    copy(kept, &environment.home());
}

/// A call as a client tells of it.
struct Told {
    client: &'static str,
    session: String,
    call: Option<ActionId>,
    moment: Moment,
    payload: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    After,
}

/// Recorded payloads of calls of all clients, those before a call first. What became of a call counts only where its beginning is there too:
/// how a session without one is judged depends on how long it has gone on.
fn recorded_payloads(environment: &TestEnvironment) -> Vec<Told> {
    let mut files = Vec::new();
    for folder in fs::read_dir("tests/payloads").unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        files.extend(fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    let all = files.iter().filter_map(|file| recorded(environment, file));
    let (mut calls, ends): (Vec<Told>, Vec<Told>) = all.partition(|told| told.moment == Moment::Before);
    let is_known = |told: &Told, calls: &[Told]| {
        calls.iter().any(|call| (&call.session, &call.call) == (&told.session, &told.call))
    };
    let ends: Vec<Told> = ends.into_iter().filter(|told| is_known(told, &calls)).collect();
    calls.extend(ends);
    calls
}

/// One of them; `None` where it tells of nothing that a process which stays answers.
fn recorded(environment: &TestEnvironment, file: &Path) -> Option<Told> {
    let folder = file.parent()?.file_name()?.to_str()?;
    let client = checkrein_clients::named(folder.split('-').next()?)?;
    let mut payload: Json = serde_json::from_slice(&fs::read(file).unwrap()).ok()?;
    for field in ["cwd", "directory"] {
        if payload[field].is_string() {
            payload[field] = json!(environment.project());
        }
    }
    let payload = payload.to_string().into_bytes();
    let event = (client.decode)(&payload).ok()?;
    let (moment, call) = match event.moment {
        HookEventKind::BeforeAction { call, .. } => (Moment::Before, call),
        HookEventKind::AfterAction(outcome) => (Moment::After, outcome.call),
        _ => return None,
    };
    let session = event.session.as_str().to_owned();
    Some(Told { client: client.client.name(), session, call, moment, payload })
}

/// Commands of the literate cases.
fn commands() -> Vec<String> {
    let every = std::env::var("CHECKREIN_RESIDENT_EVERY").ok().and_then(|text| text.parse().ok());
    let cases = pages(Path::new("tests/cases"))
        .into_iter()
        .flat_map(|page| read_page(&fs::read_to_string(page).unwrap()));
    let commands = cases.filter_map(|case| {
        let action = case.action(&build_world(&case.world));
        // Which processes and temporary files there are changes all the time.
        let is_fleeting = |text: &&str| text.contains("/proc/") || text.contains("/tmp/");
        action.shell_text().filter(|text| !is_fleeting(text)).map(str::to_owned)
    });
    commands.step_by(every.unwrap_or(EVERY)).collect()
}

#[test]
fn answers_and_records_are_those_of_the_hook_alone() {
    let environment = TestEnvironment::new();
    // How long a review takes is no matter here.
    environment.configure(
        "config.yaml",
        &format!("{RESIDENT}step_reviewer:\n  performance:\n    max_review_time_ms: 60000\n"),
    );
    let mut calls = recorded_payloads(&environment);
    let recorded = calls.len();
    for (number, command) in commands().into_iter().enumerate() {
        let session = format!("case-{number}");
        let payload = shell_payload(&environment, &session, "call", &command);
        calls.push(Told { client: "claude", session, call: None, moment: Moment::Before, payload });
    }
    assert!(recorded > 60 && calls.len() > recorded + 50, "{recorded} of {}", calls.len());
    // One that was killed leaves its files, so that they are there both times.
    drop(Resident::start(&environment));
    // The key of fingerprints is made with the first secret that is masked.
    let masked = "git remote set-url origin https://x-access-token:$GITHUB_TOKEN@github.com/a/b";
    environment.bash("masked", masked);
    let kept = tempfile::tempdir().unwrap();
    copy(&environment.home(), kept.path());
    // Twice at the same place, so that all paths and what is made of them are the same.
    let answers = |writing: Writing| -> Vec<(Json, Vec<Json>)> {
        let told = |call: &Told| {
            let answer = answer_of(&environment, call.client, &call.payload, writing);
            let records = environment.records(&call.session).into_iter().map(without_times).collect();
            (without_times(answer), records)
        };
        calls.iter().map(told).collect()
    };
    let alone = answers(Writing::Possible);
    put_back(&environment, kept.path());
    let _resident = Resident::start(&environment);
    let with = answers(Writing::Impossible);
    let mut verdicts = std::collections::BTreeMap::new();
    for ((call, alone), with) in calls.iter().zip(&alone).zip(&with) {
        let call = format!("{} {}", call.client, String::from_utf8_lossy(&call.payload));
        assert_eq!(alone.0, with.0, "{call}");
        assert!(!alone.1.is_empty(), "{call} is not recorded");
        assert_eq!(alone.1.len(), with.1.len(), "{call}");
        for (alone, with) in alone.1.iter().zip(&with.1) {
            assert!(alone == with, "{call}\n{alone}\n{with}");
        }
        *verdicts.entry(decision(&alone.0["answer"]).unwrap_or("silent")).or_insert(0) += 1;
    }
    // Not all of one kind, or the comparison would show little.
    assert!(verdicts.len() >= 3, "{verdicts:?}");
}

#[test]
fn a_session_goes_on_from_one_to_the_other() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", RESIDENT);
    environment.bash("s", "ls");
    {
        let _resident = Resident::start(&environment);
        let payload = shell_payload(&environment, "s", "second", "rm -rf ~");
        assert_eq!(decision(&answer_of_a_hook_that_cannot_write(&environment, &payload)), Some("deny"));
    }
    environment.bash("s", "ls");
    let sequence: Vec<u64> =
        environment.records("s").iter().filter_map(|record| record["seq"].as_u64()).collect();
    assert!(sequence.len() >= 3 && sequence.windows(2).all(|pair| pair[1] == pair[0] + 1), "{sequence:?}");
    assert!(environment.succeed(&["audit", "verify"]).contains("intact"));
}

/// `checkrein hook` is answered like the small program.
#[test]
fn the_large_program_is_answered_as_a_hook_too() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", RESIDENT);
    let _resident = Resident::start(&environment);
    let mut child = environment
        .command("/bin/sh")
        .args(["-c", "ulimit -f 0; exec \"$0\" hook claude", env!("CARGO_BIN_EXE_checkrein")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let payload = shell_payload(&environment, "large", "one", "rm -rf ~");
    child.stdin.take().unwrap().write_all(&payload).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(decision(&serde_json::from_slice(&output.stdout).unwrap()), Some("deny"));
    // It cannot write itself, so what is on record was written by the process that stays.
    assert_eq!(environment.records("large")[0]["body"]["type"], "review");
}

/// A hook decides by itself, within its time, and what it decides is on record once.
fn decides_by_itself(environment: &TestEnvironment, session: &str) {
    let begun = Instant::now();
    let answer = environment.bash(session, "rm -rf ~");
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
    let reviews =
        environment.records(session).iter().filter(|record| record["body"]["type"] == "review").count();
    assert_eq!(reviews, 1, "{:?}", environment.records(session));
}

#[test]
fn who_is_gone_stopped_or_dying_holds_no_call_up() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", RESIDENT);
    let resident = Resident::start(&environment);
    resident.send(Signal::STOP);
    decides_by_itself(&environment, "stopped");
    // It dies while a hook waits for its first word.
    let mut hook = environment.hook().spawn().unwrap();
    hook.stdin.take().unwrap().write_all(&shell_payload(&environment, "dying", "call", "rm -rf ~")).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    drop(resident);
    let output = hook.wait_with_output().unwrap();
    assert_eq!(decision(&serde_json::from_slice(&output.stdout).unwrap()), Some("deny"));
    assert!(fs::symlink_metadata(socket(&environment)).is_ok(), "who is killed leaves its socket");
    decides_by_itself(&environment, "gone");
    // The next one takes its place.
    let _resident = Resident::start(&environment);
    let payload = shell_payload(&environment, "again", "call", "rm -rf ~");
    assert_eq!(decision(&answer_of_a_hook_that_cannot_write(&environment, &payload)), Some("deny"));
    assert_eq!(
        environment.records("again").iter().filter(|record| record["body"]["type"] == "review").count(),
        1
    );
}

/// What listens in the place of the process that stays, and answers everything alike.
fn listening(environment: &TestEnvironment, answer: impl Fn(&mut UnixStream) + Send + 'static) {
    let socket = socket(environment);
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    drop(fs::remove_file(&socket));
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|mut stream| answer(&mut stream)));
}

#[test]
fn another_program_in_its_place_decides_nothing_whatever_it_knows() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", RESIDENT);
    listening(&environment, |stream| drop(stream.write_all(&[b'{'; 4096])));
    decides_by_itself(&environment, "garbage");
    listening(&environment, |_| std::thread::sleep(BOUND));
    decides_by_itself(&environment, "silent");
    // One that has read the key, and says in the right form that all is well.
    let variables = [("HOME".to_owned(), environment.home().display().to_string())].into();
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    let key = ResidentKey::made(&HostEnvironment::of(std::sync::Arc::new(variables), cwd).unwrap()).unwrap();
    listening(&environment, move |stream| {
        let hello = [7_u8; 16];
        drop(stream.write_all(&hello));
        let mut length = [0; 4];
        if stream.read_exact(&mut length).is_err() {
            return;
        }
        let mut asked = vec![0; u32::from_le_bytes(length) as usize];
        stream.read_exact(&mut asked).unwrap();
        let (theirs, request) = (&asked[..16], &asked[48..]);
        let mut answer = vec![1, 3, 0, 0, 0];
        answer.extend_from_slice(b"{}\n");
        let code = key.code(Speaker::Engine, &[&hello, theirs, request, &answer]);
        let length = u32::try_from(code.len() + answer.len()).unwrap();
        drop(stream.write_all(&[&length.to_le_bytes()[..], &code, &answer].concat()));
    });
    decides_by_itself(&environment, "forged");
}

#[test]
fn the_right_program_of_another_home_decides_nothing() {
    let (environment, other) = (TestEnvironment::new(), TestEnvironment::new());
    other.configure("config.yaml", RESIDENT);
    let _resident = Resident::start(&other);
    environment.configure("config.yaml", RESIDENT);
    let socket = socket(&environment);
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    symlink(self::socket(&other), &socket).unwrap();
    decides_by_itself(&environment, "elsewhere");
    // The same with its key: it works for its own home alone.
    fs::create_dir_all(environment.state().join("server")).unwrap();
    let key = environment.state().join("server/seals.key");
    support::copy_program(other.state().join("server/seals.key"), &key);
    assert_eq!(fs::metadata(key).unwrap().mode() & 0o777, 0o600);
    decides_by_itself(&environment, "with_its_key");
}

#[test]
fn only_who_may_set_it_up_does() {
    let environment = TestEnvironment::new();
    let refused = environment.checkrein(&["engine", "--with-starter"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("engine.resident")
    );
    // A project cannot ask for it.
    environment.write("checkrein.yaml", "engine:\n  resident: true\n");
    assert!(!environment.checkrein(&["engine", "--with-starter"]).status.success());
    environment.configure("config.yaml", RESIDENT);
    assert!(environment.checkrein(&["engine", "--with-starter"]).status.success());
    let of_agent = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["engine", "--with-starter"])
        .env("CLAUDECODE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&of_agent.stderr).contains("started by an agent"), "{of_agent:?}");
    for command in [
        "checkrein engine",
        "rm ~/.local/state/checkrein/engine/socket",
        "ln -sf /tmp/s ~/.local/state/checkrein/engine/socket",
    ] {
        assert_eq!(decision(&environment.bash("s", command)), Some("deny"), "{command}");
    }
    let resident = Resident::start(&environment);
    assert_eq!(fs::metadata(environment.state().join("engine")).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::symlink_metadata(socket(&environment)).unwrap().mode() & 0o777, 0o600);
    let second = environment.checkrein(&["engine", "--with-starter"]);
    assert!(String::from_utf8_lossy(&second.stderr).contains("another process answers"), "{second:?}");
    // Asked to end, it leaves nothing behind.
    resident.send(Signal::TERM);
    let begun = Instant::now();
    while fs::symlink_metadata(socket(&environment)).is_ok() {
        assert!(begun.elapsed() < BOUND);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_server_has_one_beside_it_while_it_runs() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", RESIDENT);
    let server = Serving::start(&environment);
    let begun = Instant::now();
    while fs::symlink_metadata(socket(&environment)).is_err() {
        assert!(begun.elapsed() < BOUND);
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    let payload = shell_payload(&environment, "s", "call", "ls");
    assert_eq!(answer_of_a_hook_that_cannot_write(&environment, &payload), json!({}));
    assert!(environment.records("s").iter().any(|record| record["body"]["type"] == "review"));
    drop(server);
    let begun = Instant::now();
    while UnixStream::connect(socket(&environment)).is_ok() {
        assert!(begun.elapsed() < BOUND, "it outlives the server");
        std::thread::sleep(Duration::from_millis(10));
    }
}
