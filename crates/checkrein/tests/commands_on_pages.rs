//! Every command of ours in a block of the pages is run as a reader would type it, in a project that has what the pages talk about; and the
//! loop that a page shows is the one in `examples`, and ends when it should.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use checkrein_testkit::not_run;
use serde_json::json;
use support::{TestEnvironment, copy_program, repository, shell_call};

/// Commands that are not run here, by their beginning, and the tests that run them.
const NOT_RUN: [(&str, &str); 15] = [
    ("checkrein acp ", "goes on until the editor leaves: `acp.rs`"),
    ("checkrein engine", "goes on: `resident.rs`"),
    ("checkrein serve", "goes on: `serve.rs`"),
    ("checkrein open", "needs a running server: `serve.rs`"),
    ("checkrein log -f", "goes on: `telling.rs`"),
    ("checkrein audit export --form cef --follow", "goes on: `commands.rs`"),
    ("checkrein audit key keyring", "needs a keyring: the tests of the vault"),
    ("checkrein audit key unlock", "needs a keyring: the tests of the vault"),
    ("checkrein mcp --http", "needs a server: `mcp.rs`"),
    ("checkrein update", "fetches a release: `update.rs`"),
    ("checkrein policy pin https", "fetches a policy: `team_policy.rs`"),
    ("checkrein pipeline run", "runs agents: `pipelines.rs`"),
    ("checkrein task", "runs agents: `pipelines.rs`"),
    ("checkrein run --write src --net", "looks up the address of a host: `run_judged.rs`"),
    ("checkrein run --profile strict", "needs a kept key and a registered agent: `run.rs`"),
];

/// Commands that name what is made up on the page, or what nobody set up, and what they say of it.
const MADE_UP: [(&str, &str); 22] = [
    ("checkrein agent tier 1f2e3d4c5b6a", "no agent begins with `1f2e3d4c5b6a`"),
    ("checkrein approval show 9f31", "no question begins with `9f31`"),
    ("checkrein approval allow 9f31", "no question begins with `9f31`"),
    ("checkrein approval deny 9f31", "no question begins with `9f31`"),
    ("checkrein change rollback 4f3c9a", "no change begins with `4f3c9a`"),
    ("checkrein change show 4f3c9a", "no change begins with `4f3c9a`"),
    ("checkrein change approve 4f3c9a", "no change begins with `4f3c9a`"),
    ("checkrein change verify 4f3c9a", "no change begins with `4f3c9a`"),
    ("checkrein change close 4f3c9a", "no change begins with `4f3c9a`"),
    ("checkrein credential delete anthropic", "there was no such credential"),
    ("checkrein credential set anthropic", "the credential is empty"),
    ("checkrein gate lld --design docs/design/42-parser.md --reviewers", "cannot read"),
    ("checkrein mcp accept github", "github"),
    ("checkrein mcp forget github", "github"),
    ("checkrein notice test", "no channel is set"),
    ("checkrein plugin test ./many-deletions", "many-deletions"),
    ("checkrein plugin enable ./many-deletions", "many-deletions"),
    ("checkrein plugin disable many-deletions", "is not enabled"),
    ("checkrein policy update", "no team policy is pinned"),
    ("checkrein resume 4f3c", "no session begins with `4f3c`"),
    ("checkrein session recover 4f3c", "no session begins with `4f3c`"),
    ("checkrein session rollback 4f3c", "4f3c"),
];

/// A command on a page.
struct Command {
    page: String,
    line: usize,
    text: String,
}

/// The commands of ours in the blocks of the pages, in order; lines that go on are joined.
fn commands() -> Vec<Command> {
    let root = repository();
    let mut pages: Vec<String> = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| format!("docs/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|name| name.ends_with(".md") && name != "docs/scripts.md")
        .chain(["README.md".to_owned()])
        .collect();
    pages.sort();
    let mut all = Vec::new();
    for page in pages {
        let text = fs::read_to_string(root.join(&page)).unwrap();
        let (mut is_shell, mut open) = (false, String::new());
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                is_shell = line == "```sh";
                continue;
            }
            if !is_shell {
                continue;
            }
            open.push_str(line.strip_suffix('\\').unwrap_or(line));
            if line.ends_with('\\') || line.ends_with('|') {
                continue;
            }
            let text = std::mem::take(&mut open);
            if text.starts_with("checkrein ")
                || text.contains("| checkrein ")
                || text.contains("|    checkrein ")
            {
                all.push(Command { page: page.clone(), line: at + 1, text });
            }
        }
    }
    assert!(all.len() > 80, "only {} commands were found", all.len());
    all
}

fn program(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a client prints at the end of its work.
const RESULT: &str = r#"printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"x","num_turns":1,"total_cost_usd":0.01}'"#;

/// A project with a remote, a call that was asked about, and the files that the pages name.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let remote = environment.home().join("remote.git");
    environment.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    environment.write("src/parser/lib.rs", "pub fn parse() {}\n");
    environment.write("Cargo.lock", "version = 4\n");
    environment.write(
        "docs/design/42-parser.md",
        "# Parser\n\n## Requirements\n\n- REQ-1: it parses `src/parser/lib.rs`\n",
    );
    environment.write("commands.jsonl", "{\"command\": \"ls\"}\n");
    environment.write("change.yaml", "step_reviewer:\n  rules:\n    disabled: [confirm_secret_read]\n");
    environment.write("policy.yaml", "limits:\n  file_operations: 500\n");
    environment.write("fix.yaml", &pipeline());
    environment.write("notes.txt", "one\n");
    fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    fs::create_dir_all(environment.home().join(".local/share/bash-completion/completions")).unwrap();
    fs::create_dir(environment.home().join("work")).unwrap();
    let programs = environment.home().join(".local/bin");
    fs::create_dir_all(&programs).unwrap();
    copy_program(env!("CARGO_BIN_EXE_checkrein"), programs.join("checkrein"));
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), programs.join("checkrein-hook"));
    assert!(typed(&environment, "checkrein init --yes").status.success());
    let deletion = |more| shell_call("deletion", "rm notes.txt", more);
    environment.answer_to(&environment.payload("s", "PreToolUse", deletion(json!({}))));
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let ended = deletion(json!({ "tool_response": { "stdout": "" } }));
    environment.answer_to(&environment.payload("s", "PostToolUse", ended));
    environment.bash("s", "rm ../diary.md");
    for name in ["claude", "gemini"] {
        program(&environment.home().join("stubs"), name, RESULT);
    }
    program(&environment.home().join("stubs"), "pytest", "echo '1 passed in 0.01s'");
    environment
}

/// The pipeline that the page about pipelines begins with.
fn pipeline() -> String {
    let page = fs::read_to_string(repository().join("docs/pipelines.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    blocks.into_iter().find(|block| block.contains("steps:")).unwrap().to_owned()
}

fn typed(environment: &TestEnvironment, text: &str) -> Output {
    let places = [
        environment.home().join(".local/bin"),
        Path::new(env!("CARGO_BIN_EXE_checkrein")).parent().unwrap().to_owned(),
        environment.home().join("stubs"),
    ];
    let mut path = places.map(|place| place.display().to_string()).join(":");
    path.push(':');
    path.push_str(&std::env::var("PATH").unwrap_or_default());
    let mut shell = environment.command("sh");
    shell.args(["-c", text]).env("PATH", path).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn every_command_on_a_page_does_what_it_is_shown_for() {
    let mut faults = Vec::new();
    let mut run = 0;
    let mut now: Option<(String, TestEnvironment)> = None;
    for Command { page, line, text } in commands() {
        if NOT_RUN.iter().any(|(beginning, _)| text.starts_with(beginning)) {
            continue;
        }
        // The commands of a page build upon each other.
        let environment = match now.take() {
            Some((of_page, environment)) if of_page == page => environment,
            _ => project(),
        };
        let output = typed(&environment, &text);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let made_up = MADE_UP.iter().find(|(beginning, _)| text.starts_with(beginning));
        let is_done = match made_up {
            Some((_, words)) => said.contains(words),
            // What asks first has nobody to ask here; a gate may find something.
            None => {
                output.status.success()
                    || said.contains("no terminal to ask at")
                    || text.contains("checkrein gate ") && output.status.code() == Some(2)
            }
        };
        if !is_done || said.contains("Usage:") {
            faults.push(format!("{page}:{line}: {text}\n{}: {said}", output.status));
        }
        run += 1;
        now = Some((page, environment));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(run > 60, "only {run} commands were run");
    let all = commands();
    for (beginning, why) in NOT_RUN.iter().chain(&MADE_UP) {
        assert!(
            all.iter().any(|command| command.text.starts_with(beginning)),
            "no page has `{beginning}` ({why})"
        );
    }
}

/// What is printed on the page is the script in `examples`, to the letter.
#[test]
fn the_loop_on_the_page_is_the_one_in_examples() {
    let page = fs::read_to_string(repository().join("docs/scripts.md")).unwrap();
    let script = fs::read_to_string(repository().join("examples/until-green.sh")).unwrap();
    assert!(page.contains(&format!("```sh\n{script}```")), "docs/scripts.md shows another script");
}

/// A project whose test passes once `fixed` is there, and an agent that does this at each call.
fn tried_until_green(agent: &str) -> (Output, usize) {
    let environment = TestEnvironment::new();
    let stubs = environment.home().join("stubs");
    let calls = environment.home().join("calls");
    program(&stubs, "claude", &format!("echo \"$2\" >> {}\n{agent}\n{RESULT}", calls.display()));
    program(
        &stubs,
        "pytest",
        "if [ -e fixed ]; then echo '1 passed in 0.01s'; else echo 'FAILED tests/test_a.py::test_a'; echo '1 failed in 0.01s'; exit 1; fi",
    );
    let script = repository().join("examples/until-green.sh");
    let output =
        typed(&environment, &format!("sh {} 'mend the \"failing\" tests' pytest -q", script.display()));
    let calls = fs::read_to_string(calls).unwrap_or_default();
    (output, calls.lines().count())
}

#[test]
fn the_loop_ends_when_the_tests_pass_and_when_nothing_changes() {
    if std::process::Command::new("jq").arg("--version").output().is_err() {
        return not_run("no jq");
    }
    let (output, calls) = tried_until_green("touch fixed");
    assert!(output.status.success() && calls == 1, "{calls} calls: {output:?}");
    let (output, calls) = tried_until_green("true");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{calls} calls: {said}");
    assert!(said.contains("stopped: ") && (1..=3).contains(&calls), "{calls} calls: {said}");
}
