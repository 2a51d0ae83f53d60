//! What a user reads in the client itself: one line about a call where something was changed, saved or held, questions without the advice
//! to the agent, and a summary at the end of a turn. Where all was well, nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::io::Write as _;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

fn line(answer: &Json) -> Option<&str> {
    answer["systemMessage"].as_str()
}

#[test]
fn one_line_says_what_was_done_about_a_call() {
    let environment = TestEnvironment::new();
    for name in ["a", "b", "c"] {
        environment.write(&format!("notes/{name}.md"), "the only copy\n");
    }
    environment.write("todo.txt", "the only copy\n");
    for (command, expected) in [
        ("ls", None),
        ("git status && cargo build", None),
        (
            "rm -rf notes",
            Some("checkrein: saved 4 files and folders before `rm -rf notes`; `checkrein undo`"),
        ),
        // However little it is: the only copy of it would be gone.
        ("rm todo.txt", Some("checkrein: saved 1 file before `rm todo.txt`; `checkrein undo`")),
        // What git has, and what can be made again, needs no line.
        ("rm README.md", None),
        (
            "git push -f origin fix",
            Some(
                "checkrein: runs `git push --force-with-lease origin fix` instead: `--force` became `--force-with-lease`, which \
                 refuses to overwrite commits that were never fetched",
            ),
        ),
        ("rm -rf ~", Some("checkrein: stopped `rm -rf ~`: ")),
    ] {
        let answer = environment.bash("s", command);
        match (line(&answer), expected) {
            (None, None) => {}
            (Some(line), Some(expected)) => {
                assert!(line.starts_with(expected), "{line}");
                let most = if line.contains(" instead: ") { 170 } else { 120 };
                assert!(line.chars().count() <= most && !line.contains('\n'), "{line}");
            }
            (line, _) => panic!("{command}: {line:?}"),
        }
    }
}

#[test]
fn what_git_keeps_is_named_and_nothing_is_saved_of_what_is_not_there() {
    let environment = TestEnvironment::new();
    environment.git(&["branch", "topic"]);
    for (command, expected) in [
        ("git branch -D nosuch", None),
        ("git stash drop", None),
        (
            "git branch -D topic",
            Some("checkrein: saved `topic` with its commits before `git branch -D topic`; `checkrein undo`"),
        ),
    ] {
        assert_eq!(line(&environment.bash("s", command)), expected, "{command}");
    }
}

#[test]
fn only_what_the_call_changes_is_counted() {
    let environment = TestEnvironment::new();
    for name in ["a.py", "b.py", "c.py", "d.py"] {
        environment.write(name, "first\n");
    }
    environment.git(&["add", "-A"]);
    environment.commit("four files");
    environment.write("a.py", "second\n");
    environment.write("b.py", "second\n");
    for (command, expected) in [
        // What git itself keeps of them is saved too.
        ("git checkout -- .", "checkrein: saved 2 files before `git checkout -- .`; `checkrein undo`"),
        // Nobody knows what it changes.
        (
            "sudo apt-get install -y jq",
            "checkrein: saved the project before `sudo apt-get install -y jq`; `checkrein undo`",
        ),
    ] {
        assert_eq!(line(&environment.bash("s", command)), Some(expected), "{command}");
    }
}

#[test]
fn names_of_files_begin_where_the_user_knows_them() {
    let environment = TestEnvironment::new();
    let nobody = [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")];
    let home = environment.home().to_str().unwrap().to_owned();
    let project = environment.project().to_str().unwrap().to_owned();
    for (tool, input, expected) in [
        (
            "Bash",
            json!({ "command": format!("echo 'alias ls=true' >> {home}/.bashrc") }),
            "this sets up something that runs later by itself: `~/.bashrc` ",
        ),
        (
            "Write",
            json!({ "file_path": format!("{project}/.git/hooks/pre-commit"), "content": "#!/bin/sh\n" }),
            "something that runs later by itself: `.git/hooks/pre-commit",
        ),
    ] {
        let fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": "call" });
        let answer = environment.answer_with(&environment.payload("s", "PreToolUse", fields), &nobody);
        let line = line(&answer).unwrap();
        assert!(line.contains(expected) && !line.contains(&home), "{line}");
    }
}

#[test]
fn what_is_masked_in_an_output_is_told() {
    let environment = TestEnvironment::new();
    let key = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let after = |output: &str| {
        let response = json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
        let fields = shell_call("call", "./whoami.sh", json!({ "tool_response": response }));
        environment.answer_to(&environment.payload("s", "PostToolUse", fields))
    };
    environment.bash("s", "./whoami.sh");
    let answer = after(&format!("token {key}\n"));
    assert_eq!(line(&answer), Some("checkrein: masked 1 value in the output of `./whoami.sh`"), "{answer}");
    let output = environment.checkrein(&["log"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("1 value masked"), "{told}");
    assert_eq!(line(&after("dev\n")), None);
}

#[test]
fn secrets_and_control_characters_stay_out_of_the_line() {
    let environment = TestEnvironment::new();
    let key = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let command = format!("rm -rf ~ # {key} \u{1b}[2J\u{202e}\nls");
    let answer = environment.bash("s", &command);
    let line = line(&answer).unwrap();
    assert!(line.contains("[masked:") && line.contains("rm -rf ~"), "{line}");
    assert!(!line.contains(&key[..20]) && !line.contains(['\u{1b}', '\u{202e}', '\n']), "{line}");
}

#[test]
fn a_user_is_told_why_they_are_asked_and_not_what_the_agent_could_do() {
    let environment = TestEnvironment::new();
    let answer = environment.bash("s", "git push --force origin main");
    assert_eq!((decision(&answer), line(&answer)), (Some("ask"), None), "{answer}");
    let said = reason(&answer);
    assert!(
        said.starts_with("checkrein asks you first: ") && said.contains("rewrites the history"),
        "{said}"
    );
    assert!(
        said.contains("\nLook at this: it ") && said.contains("\nIf you agree, this runs instead: "),
        "{said}"
    );
    let answer = environment.bash("s", "echo 'alias ls=true' >> ~/.bashrc");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    assert!(!reason(&answer).contains("Instead") && !reason(&answer).contains("the user"), "{answer}");
    // Where nobody can be asked the agent reads the refusal, with what it could do.
    let fields = shell_call("call", "npm publish", json!({}));
    let payload = environment.payload("t", "PreToolUse", fields);
    let answer = environment.answer_with(&payload, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]);
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
    assert!(reason(&answer).contains("nobody can be asked here"), "{answer}");
}

#[test]
fn who_agreed_to_a_safer_form_reads_that_it_ran() {
    let environment = TestEnvironment::new();
    environment.git(&["remote", "add", "origin", "https://github.com/acme/app.git"]);
    let asked = "git push --force origin main";
    let before = shell_call("call", asked, json!({}));
    let answer = environment.answer_to(&environment.payload("s", "PreToolUse", before));
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    let question = environment.payload("s", "PermissionRequest", shell_call("call", asked, json!({})));
    environment.answer_to(&question);
    let after = |command: &str| {
        let fields = shell_call("call", command, json!({ "tool_response": { "stdout": "", "stderr": "" } }));
        environment.answer_to(&environment.payload("s", "PostToolUse", fields))
    };
    let answer = after("git push --force-with-lease origin main");
    let expected = "checkrein: ran `git push --force-with-lease origin main` instead of `git push --force origin main`: as you agreed";
    assert_eq!(line(&answer), Some(expected), "{answer}");
    // A client that ran what was asked for is not said to have run anything else.
    assert_eq!(line(&after(asked)), None);
}

#[test]
fn a_remote_on_this_disk_is_a_remote() {
    let environment = TestEnvironment::new();
    let remote = environment.home().join("mirrors/app.git");
    let remote = remote.to_str().unwrap();
    environment.git(&["init", "-q", "--bare", remote]);
    environment.git(&["remote", "add", "disk", remote]);
    environment.git(&["remote", "add", "server", "https://github.com/acme/app.git"]);
    for name in ["disk", "server"] {
        let answer = environment.bash("s", &format!("git push --force {name} feature"));
        assert_eq!(
            decision(&answer),
            None,
            "{name}: a hint and the safer form, as docs/policy.md says: {answer}"
        );
        let now = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        assert_eq!(now, Some(format!("git push --force-with-lease {name} feature").as_str()), "{answer}");
        assert_eq!(decision(&environment.bash("s", &format!("git push --force {name} main"))), Some("ask"));
    }
}

#[test]
fn who_only_observes_reads_nothing() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "mode: observe\n");
    environment.write("notes/a.md", "the only copy\n");
    for command in ["rm -rf notes", "rm -rf ~", "git push -f origin fix"] {
        assert_eq!(environment.bash("s", command), json!({}), "{command}");
    }
    assert_eq!(environment.answer_to(&environment.payload("s", "Stop", json!({}))), json!({}));
}

#[test]
fn each_client_gets_the_line_in_its_own_form() {
    let environment = TestEnvironment::new();
    let answer_of = |client: &str, event: &str, tool: &str, command: &str| -> Json {
        let fields = json!({ "tool_name": tool, "tool_input": { "command": command }, "tool_use_id": "c", "timestamp": "now" });
        let payload = environment.payload(client, event, fields);
        let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
        let pipe = std::process::Stdio::piped;
        let mut child = hook.arg(client).stdin(pipe()).stdout(pipe()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&payload).unwrap();
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    };
    for (client, event, tool) in
        [("codex", "PreToolUse", "Bash"), ("gemini", "BeforeTool", "run_shell_command")]
    {
        let answer = answer_of(client, event, tool, "rm -rf ~");
        assert!(line(&answer).unwrap().starts_with("checkrein: stopped `rm -rf ~`"), "{answer}");
        assert_eq!(answer_of(client, event, tool, "ls"), json!({}), "{client}");
    }
}

#[test]
fn a_turn_in_which_something_happened_ends_with_a_summary() {
    let environment = TestEnvironment::new();
    environment.write("notes/a.md", "the only copy\n");
    let event = |name: &str, fields: Json| environment.answer_to(&environment.payload("s", name, fields));
    event("UserPromptSubmit", json!({ "prompt": "tidy up" }));
    environment.bash("s", "ls");
    assert_eq!(event("Stop", json!({})), json!({}), "nothing but `ok`");
    event("UserPromptSubmit", json!({ "prompt": "go on" }));
    for command in ["ls src", "rm -rf notes", "git push -f origin fix", "rm -rf ~"] {
        environment.bash("s", command);
    }
    let answer = event("Stop", json!({}));
    // Of the call of the turn before nobody told how it ended.
    let expected =
        "checkrein: 4 calls: 1 ok, 1 rewritten, 1 saved, 1 stopped (session: 5 calls, 1 ok); `checkrein log`";
    assert_eq!(line(&answer), Some(expected), "{answer}");
    event("UserPromptSubmit", json!({ "prompt": "thank you" }));
    environment.bash("s", "pwd");
    assert_eq!(event("Stop", json!({})), json!({}));
    // The end of a sub-agent is not the end of the turn.
    environment.bash("s", "rm -rf ~");
    assert_eq!(event("SubagentStop", json!({})), json!({}));
    // The real client shows nothing of this event.
    assert_eq!(event("SessionEnd", json!({ "reason": "other" })), json!({}));
}
