//! The hook answers, soon and within bounded memory, whatever stands where it looks for files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::sys::resource::{UsageWho, getrusage};
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

/// The greatest memory that one hook may take, in bytes, whatever is written.
const MOST: i64 = 64 * 1024 * 1024;

/// What can stand where a file is expected.
#[derive(Debug, Clone, Copy)]
enum Bad {
    Pipe,
    Endless,
    Huge,
    Directory,
}

const BAD: [Bad; 4] = [Bad::Pipe, Bad::Endless, Bad::Huge, Bad::Directory];

impl Bad {
    fn put(self, path: &Path) {
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            drop(fs::remove_file(path));
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Pipe => mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap(),
            Self::Endless => symlink("/dev/zero", path).unwrap(),
            Self::Huge => fs::File::create(path).unwrap().set_len(1 << 30).unwrap(),
            Self::Directory => fs::create_dir(path).unwrap(),
        }
    }
}

/// The greatest memory of the processes that have ended so far, in bytes.
fn peak() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() * 1024
}

/// Every file that the hook reads, by the folder it is in.
fn places(environment: &TestEnvironment) -> Vec<PathBuf> {
    let project = [
        "checkrein.yaml",
        ".gitignore",
        ".git/index",
        ".git/HEAD",
        ".git/config",
        ".git/commondir",
        ".git/info/exclude",
        ".claude/settings.json",
        "transcript.jsonl",
        "step.py",
    ];
    let configuration =
        ["config.yaml", "mask.key", "catalogue/own.toml", "templates/soft_correction.txt", "prices.csv"];
    let state = [
        "diagnostics.log",
        "mask.key",
        "installed.json",
        "trusted.json",
        "heads",
        "halts/ALL",
        "halts/s",
        "sessions/s/state",
        "sessions/s/state.twin",
        "sessions/s/ledger.jsonl",
        "sessions/s/picture",
    ];
    let under =
        |folder: PathBuf, names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    [
        under(environment.project(), &project),
        under(environment.home().join(".config/checkrein"), &configuration),
        under(environment.state(), &state),
    ]
    .concat()
}

#[test]
fn a_bad_file_anywhere_is_answered_soon_and_within_bounded_memory() {
    let count = places(&TestEnvironment::new()).len();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| scope.spawn(move || (worker..count).step_by(2).for_each(one_place)))
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

fn one_place(number: usize) {
    for bad in BAD {
        let environment = TestEnvironment::new();
        let path = &places(&environment)[number];
        let transcript = json!({ "transcript_path": environment.project().join("transcript.jsonl") });
        environment.bash("s", "ls");
        bad.put(path);
        let call = |id: &str, command: &str| {
            environment.answer_to(&environment.payload(
                "s",
                "PreToolUse",
                shell_call(id, command, transcript.clone()),
            ))
        };
        let destroying = call("one", "rm -rf ~");
        assert!(decision(&destroying).is_some(), "{bad:?} at {}: {destroying}", path.display());
        let fields = shell_call("two", "python3 step.py", transcript.clone());
        let answers = [
            destroying,
            call("two", "python3 step.py"),
            environment.answer_to(&environment.payload("s", "PostToolUse", fields)),
            environment.answer_to(&environment.payload(
                "s",
                "UserPromptSubmit",
                json!({ "prompt": "go on" }),
            )),
        ];
        for answer in answers {
            assert!(
                !reason(&answer).contains("did not end in time"),
                "{bad:?} at {}: {answer}",
                path.display()
            );
            assert!(!answer.to_string().contains("panic"), "{bad:?} at {}: {answer}", path.display());
        }
        assert!(peak() < MOST, "{bad:?} at {}: {} MiB", path.display(), peak() >> 20);
    }
}

#[test]
fn where_no_file_may_grow_the_hook_answers() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "the only copy\n");
    let hook = environment.hook().get_program().to_owned();
    for command in ["rm -rf ~", "rm notes.txt", "echo x > made.txt"] {
        let payload = environment.payload("s", "PreToolUse", shell_call("one", command, json!({})));
        let mut child = environment
            .command("sh")
            .args(["-c", "ulimit -f 0; exec \"$0\" claude"])
            .arg(&hook)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&payload).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{command}: {}", output.status);
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert!(matches!(decision(&answer), Some("ask" | "deny")), "{command}: {answer}");
    }
}
