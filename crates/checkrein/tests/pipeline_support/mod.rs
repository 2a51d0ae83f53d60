//! A place to run pipelines in, with scripted agents and reviewers.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::TestEnvironment;

/// How long something may take to come.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// An agent by a script: it writes a stub, and the code once it is told what was wrong. It tries to answer questions and to go on with
/// pipelines, and writes down what became of that.
const CLAUDE: &str = r#"#!/bin/bash
prompt=$(cat)
echo "$prompt" >> "$HOME/prompts"
echo '{"type":"system","subtype":"init","session_id":"session-1"}'
case "$prompt" in
  "Read this issue"*) mkdir -p task-notes; echo 'add is missing' > task-notes/triage.md ;;
  "Design the change"*) mkdir -p task-notes; cat > task-notes/design.md <<'D'
# Add
## Problem
Two numbers cannot be added yet, which everybody who calls this library wants to do, and all of them write it for themselves,
each with mistakes of their own. We add one function that does it, for whole numbers, and for nothing else.
## Requirements
- REQ-1 add gives the sum of two numbers
## Files changed
| File | Change | Why |
|---|---|---|
| add.py | add | the function |
| test_add.py | add | its test |
## Tests
| Test | Checks |
|---|---|
| test_add | REQ-1: add(1, 2) gives 3 |
D
    ;;
  *"specification.md\` from the design"*) echo 'add(a, b) -> a + b' > task-notes/specification.md ;;
  "Write the tests"*) printf 'from add import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n' > test_add.py ;;
  *"pull-request.md\`: a title"*) printf 'Add add\n\nIt adds.\n' > task-notes/pull-request.md ;;
  *"was wrong"*) printf 'def add(a, b):\n    return a + b\n' > add.py ;;
  *) printf 'def add(a, b):\n    raise NotImplementedError\n' > add.py ;;
esac
if [ -n "$HOOK" ]; then
  session=${SESSION:-$(head -c 8 /dev/urandom | od -An -tx1 | tr -d " ")}
  for file in add.py test_add.py task-notes/x.md other.py; do
    payload='{"session_id":"session-of-'$session'","transcript_path":"/dev/null","cwd":"'$PWD'","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"'$PWD/$file'","content":"x = 1"},"tool_use_id":"toolu_'$RANDOM'"}'
    echo "${prompt:0:14} $file $(echo "$payload" | "$HOOK" claude)" >> "$HOME/hooked"
  done
fi
for words in 'approval allow dead' 'pipeline run --resume' 'pipeline run x.yaml'; do
  "$CHECKREIN" $words >> "$HOME/tried" 2>&1
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"session-1","total_cost_usd":0.01}'
"#;

/// A reviewer by a script, called as `gemini` or `codex`: what it does stands in `$HOME/mode-NAME`.
const REVIEWER: &str = r#"#!/usr/bin/env python3
import json, os, re, sys, time
name = os.path.basename(sys.argv[0])
home = os.environ["HOME"]
prompt = sys.stdin.read()
open(f"{home}/asked", "a").write(f"{name}\n")
open(f"{home}/question", "w").write(prompt)
mode = open(f"{home}/mode-{name}").read() if os.path.exists(f"{home}/mode-{name}") else "approve"
if "- `token`: the text `" not in prompt:
    # It works as an agent: it writes tests against code that others write.
    os.makedirs("task-notes", exist_ok=True)
    open("task-notes/adversarial.md", "w").write("test_adversarial_add.py: text is added like numbers\n")
    open("test_adversarial_add.py", "w").write("from add import add\n\n\ndef test_negative():\n    assert add(-1, 1) == 0\n")
    sys.exit(0)
model = sys.argv[sys.argv.index("-m") + 1]
token = re.search(r"- `token`: the text `([^`]+)`", prompt).group(1)
verdict = {"token": token, "verdict": "APPROVED", "rationale": "it is right", "issues": []}
def say(text, model=model):
    if name == "codex":
        print(f"model: {model}", file=sys.stderr)
        print(text)
    else:
        print(json.dumps({"response": text, "stats": {"models": {model: {"tokens": {"candidates": 5}}}}}))
if mode == "lies": say(json.dumps(verdict), "gemini-2.5-flash")
elif mode == "silent": print(json.dumps({"response": json.dumps(verdict)}))
elif mode == "nonsense": say("LGTM! APPROVED")
elif mode == "echoes": say(prompt)
elif mode == "hangs": time.sleep(1000)
elif mode == "quota":
    print("429: you have exhausted your quota", file=sys.stderr)
    sys.exit(1)
elif mode == "floods":
    while True: sys.stdout.write("x" * 65536)
elif mode == "revises" and "The last review asked for this" not in prompt:
    verdict.update(verdict="REVISE", issues=[{"place": "add.py:1", "problem": "it has no documentation", "severity": "HIGH"}])
    say(json.dumps(verdict))
elif mode == "revises-code" and "as a diff" in prompt and "The last review asked for this" not in prompt:
    verdict.update(verdict="REVISE", issues=[{"place": "durations.py:1", "problem": "it has no documentation", "severity": "HIGH"}])
    say(json.dumps(verdict))
elif mode == "blocks":
    verdict.update(verdict="BLOCKED")
    say(json.dumps(verdict))
else: say("```json\n" + json.dumps(verdict) + "\n```")
"#;

pub struct Place {
    pub environment: TestEnvironment,
}

impl Place {
    pub fn new() -> Self {
        let environment = TestEnvironment::new();
        let place = Self { environment };
        for (name, text) in [("claude", CLAUDE), ("gemini", REVIEWER), ("codex", REVIEWER)] {
            place.program(name, text);
        }
        place
    }

    pub fn program(&self, name: &str, text: &str) {
        let path = self.home().join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    pub fn home(&self) -> PathBuf {
        self.environment.home()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.home().join(name)).unwrap_or_default()
    }

    pub fn mode(&self, reviewer: &str, mode: &str) {
        fs::write(self.home().join(format!("mode-{reviewer}")), mode).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.home().join("bin").display()))
            .env("CHECKREIN", env!("CARGO_BIN_EXE_checkrein"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Writes a pipeline file.
    pub fn file(&self, steps: &str) {
        self.environment.write("p.yaml", steps);
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn run(&self, more: &[&str]) -> (i32, Json) {
        told(&self.output(&[&["--json", "pipeline", "run", "p.yaml"], more].concat()))
    }

    pub fn resume(&self, more: &[&str]) -> (i32, Json) {
        told(&self.output(&[&["--json", "pipeline", "run", "--resume"], more].concat()))
    }

    pub fn begin(&self, more: &[&str]) -> Child {
        self.command(&[&["--json", "pipeline", "run", "p.yaml"], more].concat()).spawn().unwrap()
    }

    /// The question that waits, once there is one.
    pub fn question(&self) -> String {
        let started = Instant::now();
        loop {
            let output = self.output(&["--json", "approval", "list"]);
            let all: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let waits = all.as_array().into_iter().flatten().find(|one| one["state"] == "pending");
            if let Some(one) = waits {
                return one["id"].as_str().unwrap().to_owned();
            }
            assert!(started.elapsed() < PATIENCE, "no question came");
            sleep(Duration::from_millis(30));
        }
    }
}

pub fn told(output: &Output) -> (i32, Json) {
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_ne!(answer, Json::Null, "{}", said(output));
    (output.status.code().unwrap_or(-1), answer)
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Each step with its outcome.
pub fn outcomes(answer: &Json) -> Vec<String> {
    let steps = answer["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| format!("{} {}", step["name"].as_str().unwrap(), step["outcome"].as_str().unwrap()))
        .collect()
}

pub fn reason(answer: &Json, step: usize) -> String {
    answer["steps"][step]["reason"].as_str().unwrap().to_owned()
}

/// The pipeline of a task, as it is shipped, with an issue about a function that is missing.
impl Place {
    pub fn with_issue() -> Self {
        let place = Self::new();
        place.program("pytest", "#!/bin/sh\nif grep -q return add.py 2>/dev/null; then echo '1 passed in 0.01s'; exit 0; fi\necho 'FAILED test_add.py::test_add - no add'; echo '1 failed in 0.01s'; exit 1\n");
        place.environment.git(&["config", "user.name", "dev"]);
        place.environment.git(&["config", "user.email", "dev@localhost"]);
        place.environment.write("issue-12.md", "# Adding\n\nadd is missing\n");
        place
    }

    /// The task of the issue, not begun yet.
    pub fn task(&self, more: &[&str]) -> Command {
        self.command(&[&["--json", "task", "issue-12.md", "--input", "tests=pytest -q"], more].concat())
    }

    /// Runs the task of the issue, and gives this answer to the question at its end.
    pub fn task_answered(&self, answer: &str, more: &[&str]) -> (i32, Json) {
        let begun = self.task(more).spawn().unwrap();
        self.answer(answer);
        told(&begun.wait_with_output().unwrap())
    }

    /// Gives this answer to the question that waits.
    pub fn answer(&self, answer: &str) {
        let question = self.question();
        let output = self.output(&["approval", answer, &question]);
        assert!(output.status.success(), "{}", said(&output));
    }

    pub fn git_says(&self, arguments: &[&str]) -> String {
        let output = self
            .environment
            .command("git")
            .args(arguments)
            .current_dir(self.environment.project())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// A step of an answer.
pub fn step<'a>(answer: &'a Json, name: &str) -> &'a Json {
    answer["steps"].as_array().unwrap().iter().find(|step| step["name"] == name).unwrap()
}
