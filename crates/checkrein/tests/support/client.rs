//! The real Claude Code, driven by a scripted model.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use serde_json::{Value as Json, json};

use super::TestEnvironment;
use super::model::Model;

/// How long one run of the client may take.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// How long nothing moves on the terminal of a client that waits for an answer.
const QUIET: Duration = Duration::from_millis(700);

/// How wide the terminal of the client is.
const COLUMNS: u16 = 120;

/// How many lines are read of what the client left on its terminal; it moves from line to line only by steps.
const ROWS_KEPT: u16 = 2_000;

pub fn client() -> PathBuf {
    let folder = super::clients().join("@anthropic-ai");
    let found =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path().join("claude"));
    found
        .into_iter()
        .find(|path| path.is_file())
        .expect("Claude Code is not installed here: run `cargo xtask clients`")
}

/// The version of the client: some of what it does differs from one to the next.
pub fn version() -> [u32; 3] {
    let output = Command::new(client()).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = text.split_whitespace().next().unwrap();
    let parts: Vec<u32> = number.split('.').map(|part| part.parse().unwrap()).collect();
    parts.try_into().unwrap()
}

/// Runs the client on a script in a project that `checkrein init` has wired; the final result line.
pub fn run(environment: &TestEnvironment, model: &Model, more: &[&str]) -> Json {
    let project = environment.project();
    let trust = json!({ "projects": { project.to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
    fs::write(environment.home().join(".claude.json"), trust.to_string()).unwrap();
    let mut child = environment
        .command(client())
        .args([
            "-p",
            "do it",
            "--output-format",
            "stream-json",
            "--verbose",
            "--allowedTools",
            "Bash",
            "Write",
            "Edit",
            "Agent",
        ])
        .args(more)
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("IS_SANDBOX", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::read_to_string(output).unwrap());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the client did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = reader.join().unwrap();
    let last = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line).ok())
        .rfind(|row| row["type"] == "result");
    last.unwrap_or_else(|| panic!("no result: {text}"))
}

/// The session of a result.
pub fn session_of(result: &Json) -> &str {
    result["session_id"].as_str().unwrap()
}

/// The client on a terminal, with a user who says yes to every question; what they saw. Ends when `done` says so.
pub fn with_a_person(
    environment: &TestEnvironment,
    model: &Model,
    options: &[&str],
    done: impl Fn() -> bool,
) -> String {
    let project = environment.project();
    let seen = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": { "approved": ["dummy"], "rejected": [] },
        "projects": { project.to_str().unwrap(): { "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true } },
    });
    fs::write(environment.home().join(".claude.json"), seen.to_string()).unwrap();
    fs::create_dir_all(environment.home().join(".claude")).unwrap();
    // What stands there stays: the plugins that are installed, a status line.
    let settings = environment.home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap_or_else(|_| "{}".to_owned());
    let mut all: Json = serde_json::from_str(&text).unwrap();
    all["skipDangerousModePermissionPrompt"] = json!(true);
    fs::write(&settings, all.to_string()).unwrap();
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let size = rustix::termios::Winsize { ws_row: 50, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&ours, size).unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    let mut child = environment
        .command("setsid")
        .args(["--ctty", "--wait"])
        .arg(client())
        .args(options)
        .arg("do it")
        .env("TERM", "xterm-256color")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("IS_SANDBOX", "1")
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stdout(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .spawn()
        .unwrap();
    let mut keys = File::from(ours);
    let mut screen = keys.try_clone().unwrap();
    let (sender, shown) = std::sync::mpsc::channel();
    // Ends with the terminal.
    thread::spawn(move || {
        let mut bytes = [0; 8192];
        while let Ok(count) = screen.read(&mut bytes) {
            if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                return;
            }
        }
    });
    let (mut all, mut unanswered) = (String::new(), String::new());
    let started = Instant::now();
    let mut moved = started;
    while !done() && started.elapsed() < PATIENCE {
        if let Ok(text) = shown.recv_timeout(Duration::from_millis(100)) {
            // Newer clients blink while they wait: a sign that comes and goes is no movement.
            if letters(&text).any(char::is_alphanumeric) {
                moved = Instant::now();
            }
            all.push_str(&text);
            unanswered.push_str(&text);
        }
        if moved.elapsed() > QUIET && unanswered.contains("Esc") && unanswered.contains("No") {
            // A dialogue stands there and nothing moves any more: the first choice is yes.
            keys.write_all(b"1").unwrap();
            unanswered.clear();
        }
    }
    // The client started nothing that outlives its terminal.
    child.kill().unwrap();
    child.wait().unwrap();
    drop(keys);
    assert!(started.elapsed() < PATIENCE, "it did not end: {all}");
    all
}

/// What a user at a terminal read, without spaces: the letters as they came, and then the screen as it was left.
///
/// The client writes only what changes: a letter that stood in its place already is missing among those that came.
pub fn read(seen: &str) -> String {
    let mut screen = vt100::Parser::new(ROWS_KEPT, COLUMNS, 0);
    screen.process(seen.as_bytes());
    let left = screen.screen().contents();
    let mut text: String = letters(seen).filter(|letter| !letter.is_whitespace()).collect();
    text.push('\n');
    text.extend(left.chars().filter(|letter| !letter.is_whitespace()));
    text
}

/// What a terminal is given, without the words by which it is steered.
fn letters(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            match rest.next()? {
                '\u{1b}' if rest.peek() == Some(&'[') => {
                    rest.next();
                    while rest.next().is_some_and(|letter| !letter.is_ascii_alphabetic()) {}
                }
                letter => return Some(letter),
            }
        }
    })
}
