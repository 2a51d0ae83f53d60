//! What calls made that lost nothing, and what they wrote down in a repository: taken back after everything that lost work.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

fn tell(environment: &TestEnvironment, event: &str, cwd: &Path, fields: Json) -> Json {
    let mut payload: Json = serde_json::from_slice(&environment.payload("s", event, fields)).unwrap();
    payload["cwd"] = json!(cwd);
    environment.answer_to(payload.to_string().as_bytes())
}

fn begin(environment: &TestEnvironment, cwd: &Path, id: &str, command: &str) {
    let answer = tell(environment, "PreToolUse", cwd, shell_call(id, command, json!({})));
    // Where git would show something else than what is there, a person has said yes.
    let may_ask = command.starts_with("git replace");
    let stops = |decision: Option<&str>| decision == Some("deny") || decision == Some("ask") && !may_ask;
    assert!(!stops(decision(&answer)), "{command}: {answer}");
    run(environment, cwd, command);
}

fn run(environment: &TestEnvironment, cwd: &Path, command: &str) {
    let mut child = environment.command("bash");
    let output = child.args(["-c", command]).current_dir(cwd).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", said(&output));
}

fn perform(environment: &TestEnvironment, cwd: &Path, id: &str, command: &str) {
    begin(environment, cwd, id, command);
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    tell(environment, "PostToolUse", cwd, shell_call(id, command, told));
}

fn undo(environment: &TestEnvironment, more: &[&str]) -> Output {
    environment.checkrein(&[&["undo", "--yes"], more].concat())
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every name in the project beside the data of git.
fn names(environment: &TestEnvironment) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![environment.project()];
    while let Some(path) = waiting.pop() {
        if fs::symlink_metadata(&path).unwrap().is_dir() && !path.ends_with(".git") {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push(path);
    }
    found.sort();
    found
}

/// What git says of the project.
fn repository(environment: &TestEnvironment) -> String {
    let said = |arguments: &[&str]| said(&environment.command("git").args(arguments).output().unwrap());
    [
        said(&["status", "--porcelain"]),
        said(&["for-each-ref"]),
        said(&["symbolic-ref", "HEAD"]),
        said(&["diff", "--cached"]),
        said(&["reflog"]),
    ]
    .concat()
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.git(&["config", "user.name", "dev"]);
    environment.git(&["config", "user.email", "dev@localhost"]);
    environment.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    environment.write("README.md", "changed\n");
    environment.write("notes.txt", "only here\n");
    environment
}

#[test]
fn what_a_call_wrote_down_in_a_repository_is_taken_back() {
    for command in [
        "git add -A",
        "git add README.md && git commit -qm staged",
        "git commit -qam all",
        "git commit -q --allow-empty -m nothing",
        "git checkout -q -b topic",
        "git tag v9",
        "git branch other",
        "git replace HEAD HEAD~1",
    ] {
        for ends in [true, false] {
            let environment = project();
            let (earlier, files) = (repository(&environment), names(&environment));
            if ends {
                perform(&environment, &environment.project(), "call", command);
            } else {
                begin(&environment, &environment.project(), "call", command);
            }
            assert_ne!(repository(&environment), earlier, "{command}: changed nothing");
            let output = undo(&environment, &[]);
            let text = said(&output);
            if ends {
                assert_eq!(repository(&environment), earlier, "{command}: {text}");
                assert!(output.status.success(), "{command}: {text}");
            }
            assert_eq!(names(&environment), files, "{command}: {text}");
        }
    }
}

#[test]
fn what_was_lost_comes_back_before_what_was_committed_or_made() {
    let environment = project();
    let project = environment.project();
    perform(&environment, &project, "first", "rm notes.txt");
    for number in 0..60 {
        perform(&environment, &project, &format!("made-{number}"), &format!("touch made-{number}"));
    }
    let committed = repository(&environment);
    perform(&environment, &project, "last", "git add -A && git commit -qm all");
    let output = undo(&environment, &[]);
    assert!(project.join("notes.txt").exists(), "{}", said(&output));
    let output = undo(&environment, &[]);
    assert!(output.status.success(), "{}", said(&output));
    fs::remove_file(project.join("notes.txt")).unwrap();
    assert_eq!(repository(&environment), committed, "{}", said(&output));
}

#[test]
fn what_a_call_only_made_is_named_and_goes_when_that_is_permitted() {
    for command in [
        "touch new",
        "mkdir -p a/b/c",
        "echo text > new.txt",
        "cp README.md copy.md",
        "ln -s README.md link",
        "install -D README.md out/share/README.md",
        "tar czf all.tgz README.md notes.txt",
        "python3 -c \"open('out.txt','w').write('x')\"",
    ] {
        for ends in [true, false] {
            let environment = project();
            let earlier = names(&environment);
            if ends {
                perform(&environment, &environment.project(), "call", command);
            } else {
                begin(&environment, &environment.project(), "call", command);
            }
            let made = names(&environment);
            assert_ne!(made, earlier, "{command}");
            let output = undo(&environment, &[]);
            assert_eq!((output.status.code(), names(&environment)), (Some(1), made), "{}", said(&output));
            if ends {
                assert!(said(&output).contains("made by a call that lost nothing"), "{}", said(&output));
                assert!(said(&output).contains("`checkrein undo --remove-new`"), "{}", said(&output));
            }
            if ends || !command.contains("tgz") && !command.contains("python3") {
                let output = undo(&environment, &["--remove-new"]);
                assert_eq!(names(&environment), earlier, "{command}: {}", said(&output));
            }
        }
    }
}

#[test]
fn what_somebody_did_to_what_a_call_made_stays() {
    let environment = project();
    perform(&environment, &environment.project(), "call", "mkdir -p out/sub; echo made > out/made.txt");
    std::thread::sleep(std::time::Duration::from_millis(60));
    environment.write("out/mine.txt", "of the user\n");
    let output = undo(&environment, &["--remove-new"]);
    assert!(environment.project().join("out/mine.txt").exists(), "{}", said(&output));
    assert!(!environment.project().join("out/made.txt").exists(), "{}", said(&output));
    // What was changed since is not removed by an undo that is not told to.
    perform(&environment, &environment.project(), "again", "echo made > again.txt");
    std::thread::sleep(std::time::Duration::from_millis(60));
    environment.write("again.txt", "of the user\n");
    let output = undo(&environment, &[]);
    assert!(environment.project().join("again.txt").exists(), "{}", said(&output));
}

#[test]
fn a_file_that_a_tool_of_the_client_made_goes_too() {
    let environment = project();
    let path = environment.project().join("written.txt");
    let call = |more: Json| {
        let mut call = json!({
            "tool_name": "Write", "tool_use_id": "w", "tool_input": { "file_path": path, "content": "text\n" },
        });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    tell(&environment, "PreToolUse", &environment.project(), call(json!({})));
    fs::write(&path, "text\n").unwrap();
    let answer = json!({ "tool_response": { "type": "create", "filePath": path, "content": "text\n" } });
    tell(&environment, "PostToolUse", &environment.project(), call(answer));
    let output = undo(&environment, &[]);
    assert!(path.exists() && said(&output).contains("`written.txt`"), "{}", said(&output));
    undo(&environment, &["--remove-new"]);
    assert!(!path.exists());
}

/// What stands in the last line is typed where the user stands.
#[test]
fn the_way_back_is_a_command_that_works_where_the_user_stands() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    fs::remove_dir_all(project.join(".git")).unwrap();
    environment.write("old", "o\n");
    environment.write("sub/k", "k\n");
    perform(&environment, &project, "first", "rm old");
    perform(&environment, &project.join("sub"), "second", "rm k");
    let output = undo(&environment, &[]);
    assert!(project.join("sub/k").exists(), "{}", said(&output));
    let text = said(&output);
    let command = text.split('`').find(|part| part.contains("snapshot restore")).unwrap();
    let mut child = environment.command("bash");
    let program = env!("CARGO_BIN_EXE_checkrein");
    let command = format!("{} --yes", command.replace("checkrein ", &format!("{program} ")));
    let output = child.args(["-c", &command]).current_dir(&project).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", said(&output));
    assert!(!project.join("sub/k").exists());
}

/// Git writes the same entries in several forms.
#[test]
fn an_index_in_another_form_is_no_change() {
    for form in ["--index-version 4", "--split-index"] {
        let environment = project();
        environment.git(&["add", "README.md"]);
        let earlier = repository(&environment);
        perform(&environment, &environment.project(), "call", "git restore --staged README.md");
        assert_ne!(repository(&environment), earlier);
        std::thread::sleep(std::time::Duration::from_millis(60));
        run(&environment, &environment.project(), &format!("git update-index {form}"));
        let output = undo(&environment, &[]);
        assert_eq!(repository(&environment), earlier, "{form}: {}", said(&output));
    }
}

/// What a call writes is known from its words: where just that stands there, it is nobody's work, also where nobody tells how the call ended.
#[test]
fn what_a_call_was_to_write_is_put_back_without_its_end() {
    for command in [
        "echo two > notes.txt",
        "printf 'a\\nb\\n' >> notes.txt",
        "sed -i 's/only/nowhere/' notes.txt",
        "cat > notes.txt <<'EOF'\nanother\nEOF",
        "ln -sf README.md notes.txt",
    ] {
        let environment = project();
        let path = environment.project().join("notes.txt");
        begin(&environment, &environment.project(), "call", command);
        assert_ne!(fs::read_to_string(&path).unwrap(), "only here\n", "{command}");
        let output = undo(&environment, &[]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "only here\n", "{command}: {}", said(&output));
        assert!(!path.is_symlink(), "{command}");
        // Anything else may be of the user.
        let environment = project();
        let path = environment.project().join("notes.txt");
        begin(&environment, &environment.project(), "call", command);
        fs::remove_file(&path).unwrap();
        environment.write("notes.txt", "of the user\n");
        let output = undo(&environment, &[]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "of the user\n", "{command}: {}", said(&output));
    }
}

#[test]
fn what_a_tool_of_the_client_was_to_write_is_put_back_without_its_end() {
    for (tool, input, after) in [
        ("Write", json!({ "content": "written\n" }), "written\n"),
        ("Edit", json!({ "old_string": "only", "new_string": "not only" }), "not only here\n"),
        ("Edit", json!({ "old_string": "e", "new_string": "E", "replace_all": true }), "only hErE\n"),
    ] {
        for text in [after, "of the user\n"] {
            let environment = project();
            let path = environment.project().join("notes.txt");
            let mut input = input.clone();
            input["file_path"] = json!(path);
            let call = json!({ "tool_name": tool, "tool_use_id": "e", "tool_input": input });
            tell(&environment, "PreToolUse", &environment.project(), call);
            fs::write(&path, text).unwrap();
            let output = undo(&environment, &[]);
            let expected = if text == after { "only here\n" } else { text };
            assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{tool}: {}", said(&output));
        }
    }
}

/// Somebody may have closed what the call wrote.
#[test]
fn what_was_closed_stays_closed_although_it_holds_what_the_call_wrote() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = project();
    let path = environment.project().join("notes.txt");
    begin(&environment, &environment.project(), "call", "echo two > notes.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let output = undo(&environment, &[]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", said(&output));
}

#[test]
fn empty_directories_that_git_cleans_away_come_back() {
    for command in ["git clean -fdxq", "git clean -fdXq", "git clean -fdq"] {
        let environment = TestEnvironment::new();
        environment.write(".gitignore", "build/\n");
        environment.write("kept/in/tracked", "tracked\n");
        environment.git(&["add", "-A"]);
        environment.commit("tracked");
        environment.write("build/made", "made\n");
        for empty in ["build/empty", "kept/empty", "kept/in/a/b", "alone/inner"] {
            fs::create_dir_all(environment.project().join(empty)).unwrap();
        }
        let earlier = names(&environment);
        perform(&environment, &environment.project(), "call", command);
        assert_ne!(names(&environment), earlier, "{command}");
        let output = undo(&environment, &[]);
        assert_eq!(names(&environment), earlier, "{command}: {}", said(&output));
    }
}

/// A database that another process has open is saved with its log, by whatever name it is meant.
#[test]
fn the_log_of_a_database_is_saved_by_a_link_too() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("app.db", "pages");
    environment.write("app.db-wal", "what came last");
    std::os::unix::fs::symlink("app.db", project.join("l.db")).unwrap();
    let call = shell_call("call", "sqlite3 l.db 'DELETE FROM t'", json!({}));
    tell(&environment, "PreToolUse", &project, call);
    let listed = environment.succeed(&["snapshot", "list", "--json"]);
    assert!(listed.lines().next().unwrap_or_default().contains("app.db-wal"), "{listed}");
}

/// A question that was followed by something else and by no end was answered with no, as far as anybody knows.
#[test]
fn a_call_that_nothing_shows_to_have_run_is_not_chosen() {
    let environment = project();
    environment.write("old.txt", "old\n");
    let project = environment.project();
    perform(&environment, &project, "first", "rm old.txt");
    let asked = "git push --force origin main; rm notes.txt";
    let answer = tell(&environment, "PreToolUse", &project, shell_call("asked", asked, json!({})));
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    tell(&environment, "UserPromptSubmit", &project, json!({ "prompt": "no, I do that myself" }));
    fs::remove_file(project.join("notes.txt")).unwrap();
    let output = undo(&environment, &[]);
    assert!(project.join("old.txt").exists() && !project.join("notes.txt").exists(), "{}", said(&output));
    assert!(said(&output).contains("nothing shows that it ran"), "{}", said(&output));
    // Whoever knows better names it.
    let output = undo(&environment, &["asked"]);
    assert!(project.join("notes.txt").exists(), "{}", said(&output));
}
