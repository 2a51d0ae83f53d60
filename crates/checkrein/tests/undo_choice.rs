//! Which action is taken back, what of it, and what is said: only what ran, only what it did, where a user stands.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// What the hook is told.
fn tell(environment: &TestEnvironment, session: &str, event: &str, cwd: &Path, fields: Json) -> Json {
    let mut payload: Json = serde_json::from_slice(&environment.payload(session, event, fields)).unwrap();
    payload["cwd"] = json!(cwd);
    environment.answer_to(payload.to_string().as_bytes())
}

fn before(environment: &TestEnvironment, session: &str, cwd: &Path, id: &str, command: &str) -> Json {
    tell(environment, session, "PreToolUse", cwd, shell_call(id, command, json!({})))
}

fn run(environment: &TestEnvironment, cwd: &Path, command: &str) {
    let mut child = environment.command("bash");
    child.args(["-c", command]).current_dir(cwd).stdin(Stdio::null()).output().unwrap();
}

fn after(environment: &TestEnvironment, session: &str, cwd: &Path, id: &str, command: &str) {
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    tell(environment, session, "PostToolUse", cwd, shell_call(id, command, told));
}

fn perform(environment: &TestEnvironment, session: &str, cwd: &Path, id: &str, command: &str) {
    let answer = before(environment, session, cwd, id, command);
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(environment, cwd, command);
    after(environment, session, cwd, id, command);
}

fn undo(environment: &TestEnvironment, cwd: &Path, more: &[&str]) -> Output {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args(["undo", "--yes"]).args(more).current_dir(cwd).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn read(environment: &TestEnvironment, name: &str) -> String {
    fs::read_to_string(environment.project().join(name)).unwrap_or_else(|_| "-".to_owned())
}

/// A call that was interrupted has no outcome. What it deleted comes back; what it may not have written is a user's.
#[test]
fn of_a_call_without_an_end_only_what_is_nobodys_work_is_put_back() {
    let environment = TestEnvironment::new();
    environment.write("a", "one\n");
    environment.write("b", "gone\n");
    let command = "echo two > a; rm -f b";
    before(&environment, "s", &environment.project(), "call", command);
    run(&environment, &environment.project(), command);
    environment.write("a", "work of the user\n");
    let output = undo(&environment, &environment.project(), &[]);
    assert_eq!(
        (read(&environment, "a").as_str(), read(&environment, "b").as_str()),
        ("work of the user\n", "gone\n")
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("nobody was told when the action ended"), "{}", said(&output));
    assert!(said(&output).contains("`checkrein undo 1 --force`"), "{}", said(&output));
    assert!(undo(&environment, &environment.project(), &["1", "--force"]).status.success());
    assert_eq!(read(&environment, "a"), "one\n");
}

/// The same where the client told of the end of all calls of an answer before: a user who goes on may have interrupted this one.
#[test]
fn a_call_that_was_interrupted_is_taken_back_whatever_was_told_before() {
    for next in ["UserPromptSubmit", "Stop"] {
        let environment = TestEnvironment::new();
        let project = environment.project();
        environment.write("b", "gone\n");
        perform(&environment, "s", &project, "first", "ls");
        tell(&environment, "s", "PostToolBatch", &project, json!({}));
        before(&environment, "s", &project, "call", "rm -rf b");
        run(&environment, &project, "rm -rf b");
        tell(&environment, "s", next, &project, json!({ "prompt": "stop that" }));
        let output = undo(&environment, &project, &[]);
        assert_eq!(read(&environment, "b"), "gone\n", "{next}: {}", said(&output));
    }
}

/// What began later in the session bounds the end of the call, whatever stands there.
#[test]
fn what_changes_after_the_next_call_began_is_changed_since() {
    let environment = TestEnvironment::new();
    environment.write("a", "one\n");
    before(&environment, "s", &environment.project(), "call", "mv a b");
    run(&environment, &environment.project(), "mv a b");
    tell(&environment, "s", "UserPromptSubmit", &environment.project(), json!({ "prompt": "go on" }));
    std::thread::sleep(std::time::Duration::from_millis(30));
    // The same content, but of somebody's hand.
    environment.write("b", "one\n");
    undo(&environment, &environment.project(), &[]);
    assert_eq!((read(&environment, "a").as_str(), read(&environment, "b").as_str()), ("one\n", "one\n"));
}

/// Moved and emptied files are no user's work.
#[test]
fn what_loses_nothing_needs_no_end() {
    for command in ["mv a b", "> a", "chmod 600 a", "rm -rf a", "git checkout -q -- README.md"] {
        let environment = TestEnvironment::new();
        environment.write("a", "one\n");
        environment.write("README.md", "changed\n");
        before(&environment, "s", &environment.project(), "call", command);
        run(&environment, &environment.project(), command);
        let output = undo(&environment, &environment.project(), &[]);
        assert_eq!(
            [read(&environment, "a"), read(&environment, "b"), read(&environment, "README.md")],
            ["one\n", "-", "changed\n"],
            "{command}: {}",
            said(&output)
        );
    }
}

#[test]
fn a_call_that_a_person_refused_is_never_taken_back() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "notes\n");
    environment.write("old.txt", "old\n");
    perform(&environment, "s", &environment.project(), "first", "rm old.txt");
    let answer = before(
        &environment,
        "s",
        &environment.project(),
        "second",
        "git push --force origin main; rm notes.txt",
    );
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    tell(&environment, "s", "UserPromptSubmit", &environment.project(), json!({ "prompt": "no" }));
    // Within one tick of the clock of the file system nobody can tell what came first.
    std::thread::sleep(std::time::Duration::from_millis(60));
    environment.write("notes.txt", "notes\nand a line of the user\n");
    let output = undo(&environment, &environment.project(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(read(&environment, "old.txt"), "old\n");
    assert_eq!(read(&environment, "notes.txt"), "notes\nand a line of the user\n");
    assert!(!said(&output).contains("push"), "{}", said(&output));
}

/// Not a millisecond lies between the end of the call and what a user does.
#[test]
fn what_is_written_right_after_a_call_is_kept() {
    for round in 0..5 {
        let environment = TestEnvironment::new();
        environment.write("a", "one\n");
        environment.write("b", "gone\n");
        perform(&environment, "s", &environment.project(), "call", "echo two > a; rm b");
        let text = if round % 2 == 0 { "six\n" } else { "work of the user\n" };
        environment.write("a", text);
        let output = undo(&environment, &environment.project(), &[]);
        assert_eq!(read(&environment, "a"), text, "{}", said(&output));
        assert_eq!(read(&environment, "b"), "gone\n");
        assert!(said(&output).contains("changed since"), "{}", said(&output));
    }
}

/// A look of git changes times in its index and nothing else.
#[test]
fn a_look_between_action_and_undo_changes_nothing() {
    let environment = TestEnvironment::new();
    environment.write("README.md", "staged\n");
    environment.git(&["add", "README.md"]);
    environment.write("b", "gone\n");
    perform(&environment, "s", &environment.project(), "call", "git restore --staged README.md; rm b");
    std::thread::sleep(std::time::Duration::from_millis(30));
    // Another time of a file makes git write the index anew.
    let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options()
        .write(true)
        .open(environment.project().join("src/main.rs"))
        .unwrap()
        .set_modified(at)
        .unwrap();
    let index = || fs::read(environment.project().join(".git/index")).unwrap();
    let earlier = index();
    run(&environment, &environment.project(), "git status --short");
    assert!(index() != earlier, "it is written anew");
    let output = undo(&environment, &environment.project(), &[]);
    assert!(!said(&output).contains("index"), "{}", said(&output));
    assert_eq!(read(&environment, "b"), "gone\n", "{}", said(&output));
    let staged = environment.command("git").args(["diff", "--cached", "--name-only"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&staged.stdout), "README.md\n");
}

#[test]
fn the_newest_action_here_or_below_is_meant() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    fs::remove_dir_all(project.join(".git")).unwrap();
    let below = project.join("sub");
    environment.write("old", "o\n");
    environment.write("sub/k", "k\n");
    perform(&environment, "s", &project, "first", "rm old");
    perform(&environment, "s", &below, "second", "rm k");
    let output = undo(&environment, &project, &[]);
    assert_eq!((read(&environment, "sub/k").as_str(), read(&environment, "old").as_str()), ("k\n", "-"));
    assert!(said(&output).contains("in `sub`"), "{}", said(&output));
    // From further down, without version control to say where the project begins.
    let deeper = project.join("src");
    assert!(undo(&environment, &deeper, &[]).status.success());
    assert_eq!(read(&environment, "old"), "o\n");
}

#[test]
fn a_repository_inside_counts_and_an_older_session_too() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("older", "o\n");
    perform(&environment, "first", &project, "a", "rm older");
    let inner = project.join("inner");
    fs::create_dir(&inner).unwrap();
    let status = environment.command("git").args(["init", "-q", "inner"]).status().unwrap();
    assert!(status.success());
    environment.write("inner/k", "k\n");
    perform(&environment, "second", &inner, "b", "rm k");
    assert!(undo(&environment, &project, &[]).status.success());
    assert_eq!((read(&environment, "inner/k").as_str(), read(&environment, "older").as_str()), ("k\n", "-"));
    // What was done in another session before is the last that is left, and it is told whose it is.
    let shown = environment.checkrein(&["undo", "--dry-run"]);
    assert!(said(&shown).contains("this call is of session `first`"), "{}", said(&shown));
    let output = undo(&environment, &project, &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(read(&environment, "older"), "o\n");
    let output = undo(&environment, &project, &[]);
    assert!(said(&output).contains("nothing that was saved in this project is left"), "{}", said(&output));
    // So it is where the last session lost nothing.
    environment.write("more", "m\n");
    perform(&environment, "third", &project, "c", "rm more");
    perform(&environment, "fourth", &project, "d", ": > made");
    let output = undo(&environment, &project, &[]);
    assert!(said(&output).contains("session `fourth` did something here since"), "{}", said(&output));
    assert_eq!(read(&environment, "more"), "m\n");
}

/// Two agents work at the same time: what was destroyed last comes back first, whichever of them acted last.
#[test]
fn the_last_loss_of_all_sessions_comes_back_first() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    for name in ["early", "late", "own"] {
        environment.write(name, "text\n");
    }
    let tick = || std::thread::sleep(std::time::Duration::from_millis(30));
    tell(&environment, "two", "SessionStart", &project, json!({ "source": "startup" }));
    for (session, id, command) in
        [("one", "a", "rm early"), ("two", "b", "rm late"), ("one", "c", ": > made")]
    {
        perform(&environment, session, &project, id, command);
        tick();
    }
    let there = |name| read(&environment, name) == "text\n";
    let output = undo(&environment, &project, &[]);
    assert!(there("late") && !there("early"), "{}", said(&output));
    assert!(said(&output).contains("this call is of session `two` (Claude Code)"), "{}", said(&output));
    // One session can be named.
    perform(&environment, "two", &project, "d", "rm own");
    let output = undo(&environment, &project, &["--session", "one"]);
    assert!(there("early") && !there("own"), "{}", said(&output));
    let output = undo(&environment, &project, &["--session", "none"]);
    assert!(said(&output).contains("no session begins with `none`"), "{}", said(&output));
    // Without a name it is the other one's again.
    let output = undo(&environment, &project, &[]);
    assert!(there("own"), "{}", said(&output));
}

/// What another session wrote since is neither overwritten nor passed over in silence.
#[test]
fn what_another_session_wrote_since_is_kept_and_told() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("notes", "first\n");
    perform(&environment, "one", &project, "a", "rm notes");
    std::thread::sleep(std::time::Duration::from_millis(30));
    perform(&environment, "two", &project, "b", "echo second > notes");
    let output = undo(&environment, &project, &[]);
    assert_eq!(read(&environment, "notes"), "second\n", "{}", said(&output));
    assert!(!output.status.success() && said(&output).contains("notes"), "{}", said(&output));
}

#[test]
fn an_older_action_is_taken_back_past_a_newer_one_only_when_it_is_named() {
    let environment = TestEnvironment::new();
    environment.write("a", "one\n");
    environment.write("b", "gone\n");
    perform(&environment, "s", &environment.project(), "first", "rm b");
    perform(&environment, "s", &environment.project(), "second", "echo two > a");
    environment.write("a", "work of the user\n");
    let output = undo(&environment, &environment.project(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("passed over: snapshot 3"), "{}", said(&output));
    assert!(said(&output).contains("`checkrein undo 3 --force`"), "{}", said(&output));
    assert!(said(&output).contains("`checkrein undo 1 --yes`"), "{}", said(&output));
    assert_eq!(
        (read(&environment, "a").as_str(), read(&environment, "b").as_str()),
        ("work of the user\n", "-")
    );
    let output = undo(&environment, &environment.project(), &["1"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        (read(&environment, "a").as_str(), read(&environment, "b").as_str()),
        ("work of the user\n", "gone\n")
    );
    // Nothing else is left, and that is said with the way to have it all the same.
    let output = undo(&environment, &environment.project(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("`checkrein undo 3 --force`"), "{}", said(&output));
}

/// Each place that is kept may need an option of its own: what is printed takes them all.
#[test]
fn one_command_takes_back_all_that_an_undo_left() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.succeed(&["init", "--yes"]);
    environment.write("a", "one\n");
    let settings = project.join(".claude/settings.local.json");
    let before = fs::read_to_string(&settings).unwrap();
    perform(&environment, "s", &project, "call", "chmod -R 777 .");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    environment.write("a", "two\n");
    fs::write(&settings, before.replacen('{', "{ \"model\": \"opus\",", 1)).unwrap();
    let output = undo(&environment, &project, &[]);
    assert_eq!(mode(&project.join("README.md")), 0o644, "{}", said(&output));
    assert_eq!(mode(settings.parent().unwrap()), 0o755, "{}", said(&output));
    let text = said(&output);
    let command =
        text.split('`').find(|part| part.contains("--with-guard-files") && part.contains("--force"));
    let words: Vec<&str> = command.unwrap_or_else(|| panic!("{text}")).split_whitespace().skip(2).collect();
    let output = undo(&environment, &project, &words);
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    assert_eq!((read(&environment, "a").as_str(), mode(&project.join("a"))), ("one\n", 0o644));
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn what_a_user_made_after_a_call_is_not_offered_for_removal() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    let nothing = "python3 -c 'import sys; exec(sys.stdin.read())'";
    perform(&environment, "s", &project, "call", nothing);
    assert!(environment.succeed(&["snapshot", "list"]).contains("before `python3"));
    std::thread::sleep(std::time::Duration::from_millis(60));
    environment.write("mine.txt", "of the user\n");
    let output = undo(&environment, &project, &[]);
    assert!(
        !said(&output).contains("mine.txt") && !said(&output).contains("remove-new"),
        "{}",
        said(&output)
    );
    // Who names the call is told all that differs.
    let output = undo(&environment, &project, &["call"]);
    assert!(said(&output).contains("mine.txt  was made after the action had ended"), "{}", said(&output));
    assert!(!said(&output).contains("remove-new"), "{}", said(&output));
    assert_eq!(read(&environment, "mine.txt"), "of the user\n");
}

/// To remove what the action made, as it is advised, takes nothing else away.
#[test]
fn what_a_user_made_or_moved_in_after_a_call_stays_when_what_the_call_made_is_removed() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    let older = environment.home().join("older.txt");
    fs::write(&older, "of the user\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    let command = "python3 -c 'import sys; exec(sys.stdin.read())'";
    before(&environment, "s", &project, "call", command);
    run(&environment, &project, "echo made > gen.txt; echo two > README.md");
    after(&environment, "s", &project, "call", command);
    std::thread::sleep(std::time::Duration::from_millis(60));
    environment.write("mine.txt", "of the user\n");
    environment.write("gen.txt", "changed\n");
    fs::rename(&older, project.join("older.txt")).unwrap();
    let told = said(&undo(&environment, &project, &["call"]));
    assert!(
        told.contains("gen.txt  the action made it, and it was changed since; `--remove-new` removes it"),
        "{told}"
    );
    assert!(told.contains("mine.txt  was made after the action had ended"), "{told}");
    assert!(told.contains("older.txt  was not there, but is older than the action"), "{told}");
    let told = said(&undo(&environment, &project, &["1", "--remove-new", "--force"]));
    assert_eq!(
        ["gen.txt", "mine.txt", "older.txt"].map(|name| read(&environment, name)),
        ["-", "of the user\n", "of the user\n"],
        "{told}"
    );
    assert!(told.contains("mine.txt  was made after the action had ended"), "{told}");
}

#[test]
fn an_index_that_git_wrote_anew_holds_up_no_undo() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("notes/notes", "the only copy\n");
    perform(&environment, "s", &project, "first", "git add -A && git reset -q --hard");
    perform(&environment, "s", &project, "second", "git stash -qu");
    let output = undo(&environment, &project, &["--force"]);
    assert_eq!(read(&environment, "notes/notes"), "the only copy\n", "{}", said(&output));
}

#[test]
fn references_are_told_in_the_words_of_git() {
    let environment = TestEnvironment::new();
    environment.git(&["branch", "topic"]);
    environment.write("README.md", "more\n");
    environment.git(&["add", "-A"]);
    environment.commit("second");
    let commit = |name: &str| {
        let output = environment.command("git").args(["rev-parse", "--short=7", name]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (second, first) = (commit("HEAD"), commit("HEAD~1"));
    let project = environment.project();
    perform(&environment, "s", &project, "call", "git reset -q --hard HEAD~1; git branch -D topic");
    let output = undo(&environment, &project, &[]);
    let said = said(&output);
    assert!(said.contains(&format!("branch main back to {second}")), "{said}");
    assert!(said.contains(&format!("branch topic back to {first}")), "{said}");
    assert!(!said.contains(".git/"), "{said}");
    assert_eq!(commit("HEAD"), second);
}

/// A process that has a database open would write over what is put back, or read halves of two.
#[test]
fn a_database_that_somebody_has_open_is_not_put_back() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    let script = "import sqlite3, sys\n\
        connection = sqlite3.connect('app.db')\n\
        connection.execute('PRAGMA journal_mode=WAL')\n\
        connection.execute('CREATE TABLE IF NOT EXISTS t(x)')\n\
        connection.execute('INSERT INTO t VALUES (1), (2), (3)')\n\
        connection.commit()\n\
        print('open', flush=True)\n\
        sys.stdin.readline()\n";
    let mut server = environment
        .command("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "open\n");
    let count = || {
        let program = "import sqlite3; print(sqlite3.connect('app.db').execute('SELECT count(*) FROM t').fetchone()[0])";
        let output = environment.command("python3").args(["-c", program]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    perform(
        &environment,
        "s",
        &project,
        "call",
        "sqlite3 app.db 'DELETE FROM t' || python3 -c \"import sqlite3; c = sqlite3.connect('app.db'); c.execute('DELETE FROM t'); c.commit()\"",
    );
    assert_eq!(count(), "0");
    let output = undo(&environment, &project, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("app.db` is open in process"), "{}", said(&output));
    assert_eq!(count(), "0", "nothing is put back under it");
    drop(server.stdin.take());
    server.wait().unwrap();
    // Closing it merged both files into one, which nobody else did.
    let output = undo(&environment, &project, &["call"]);
    assert_eq!(count(), "3", "{}", said(&output));
}

/// What another wrote into a database after the action is kept, though closing it merged the files as well.
#[test]
fn a_database_that_was_written_to_later_is_kept() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    // One that ends without closing leaves the log.
    let python = |code: &str, end: &str| {
        let program = format!("import sqlite3, os\nc = sqlite3.connect('app.db')\n{code}\nc.commit()\n{end}");
        let status = environment.command("python3").args(["-c", &program]).status().unwrap();
        assert!(status.success(), "{program}");
    };
    python("c.execute('PRAGMA journal_mode=WAL')\nc.execute('CREATE TABLE t(x)')", "os._exit(0)");
    python("c.execute('INSERT INTO t VALUES (1), (2), (3)')", "os._exit(0)");
    let delete = "python3 -c \"import sqlite3, os; c = sqlite3.connect('app.db'); c.execute('DELETE FROM t'); c.commit(); os._exit(0)\"";
    perform(&environment, "s", &project, "call", delete);
    assert!(fs::metadata(project.join("app.db-wal")).unwrap().len() > 0);
    python("c.execute('INSERT INTO t VALUES (9)')", "c.close()");
    let database = fs::read(project.join("app.db")).unwrap();
    let output = undo(&environment, &project, &[]);
    assert!(said(&output).contains("app.db"), "{}", said(&output));
    assert_eq!(fs::read(project.join("app.db")).unwrap(), database, "{}", said(&output));
}

/// Where a user's shell lets a process hold few files open, and in the hook, as many come back as were saved.
#[test]
fn any_number_of_files_comes_back_where_few_may_be_open() {
    let environment = TestEnvironment::new();
    for number in 0..700 {
        environment.write(&format!("many/{number}"), &number.to_string());
    }
    perform(&environment, "s", &environment.project(), "call", "rm -rf many");
    let program = env!("CARGO_BIN_EXE_checkrein");
    let limited = format!("ulimit -n 64; exec {program} undo --yes");
    let output = environment.command("sh").args(["-c", &limited]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    for number in 0..700 {
        assert_eq!(read(&environment, &format!("many/{number}")), number.to_string());
    }
}

/// Names of any bytes, however they are written.
#[test]
fn a_name_that_is_no_text_is_saved_however_it_is_written() {
    let plain = &b"\xff\xfe"[..];
    for (command, name) in [
        (r"rm -f $'\xff\xfe'", plain),
        (r"rm -rf $'d\xff'", b"d\xff/inside"),
        (r#"f=$'\xff\xfe'; rm -f "$f""#, plain),
        (r#"declare f=$'\xff\xfe'; unlink "$f""#, plain),
        (r#"f=$'\xff\xfe'; echo other > a; mv a "$f""#, plain),
        (r#"f=$'\xff\xfe'; echo n > "$f""#, plain),
        (r#"f=$'\xff\xfe'; g=$f; rm -f "$PWD/$g""#, plain),
        (r#"d=$'d\xff'; rm -rf "$d""#, b"d\xff/inside"),
        (r#"x=$'c\xe9.txt'; rm "$x""#, b"c\xe9.txt"),
        (r#"export f=$'\xff\xfe'; sh -c 'rm -f "$f"'"#, plain),
        (r"xargs rm -f <<< $'\xff\xfe'", plain),
        (r#"perl -e 'unlink "\xff\xfe"'"#, plain),
    ] {
        let environment = TestEnvironment::new();
        let path = environment.project().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "only here\n").unwrap();
        perform(&environment, "s", &environment.project(), "call", command);
        assert_ne!(fs::read_to_string(&path).unwrap_or_default(), "only here\n", "{command}");
        let output = undo(&environment, &environment.project(), &[]);
        assert_eq!(
            fs::read_to_string(&path).unwrap_or_default(),
            "only here\n",
            "{command}: {}",
            said(&output)
        );
    }
}

/// What got such a name goes back to the one that it had.
#[test]
fn a_new_name_that_is_no_text_goes_when_the_old_one_comes_back() {
    for command in [
        r"mv README.md $'\xff\xfe'",
        r"mv src $'d\xff'",
        r#"f=$'c\xe9.txt'; mv README.md "$f""#,
        r"git mv README.md $'\xff\xfe'",
    ] {
        let environment = TestEnvironment::new();
        let names = || {
            let all = fs::read_dir(environment.project()).unwrap().map(|entry| entry.unwrap().file_name());
            all.collect::<std::collections::BTreeSet<_>>()
        };
        let stood = names();
        perform(&environment, "s", &environment.project(), "call", command);
        assert_ne!(names(), stood, "{command}");
        let output = undo(&environment, &environment.project(), &[]);
        assert_eq!(names(), stood, "{command}: {}", said(&output));
    }
}

/// What git runs by itself is no data of it: what a call that nobody can read did to it is taken back, and what a user changes stays.
#[test]
fn what_git_runs_by_itself_is_taken_back_with_a_call_that_nobody_can_read() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("a", "one\n");
    let script = "printf '#!/bin/sh\\n' > .git/hooks/pre-push; git config alias.x '!y'; rm .git/hooks/*.sample; echo two > a";
    let config = read(&environment, ".git/config");
    for contained in ["interactive", "unattended"] {
        environment.configure("config.yaml", &format!("profile: {contained}\n"));
        fs::write(project.join(".git/hooks/own.sample"), "own\n").unwrap();
        before(&environment, contained, &project, contained, "./frobnicate");
        run(&environment, &project, script);
        after(&environment, contained, &project, contained, "./frobnicate");
        let output = undo(&environment, &project, &[]);
        let told = said(&output);
        assert!(told.contains(".git/hooks/pre-push") && told.contains(".git/config"), "{contained}: {told}");
        assert_eq!(read(&environment, "a"), "one\n", "{told}");
        assert_eq!(read(&environment, ".git/config"), config, "{told}");
        assert_eq!(read(&environment, ".git/hooks/own.sample"), "own\n", "{told}");
        assert!(!project.join(".git/hooks/pre-push").exists(), "{told}");
    }
    before(&environment, "later", &project, "later", "./frobnicate");
    run(&environment, &project, script);
    after(&environment, "later", &project, "later", "./frobnicate");
    environment.git(&["remote", "add", "mine", "/elsewhere"]);
    assert!(said(&undo(&environment, &project, &[])).contains("changed since"));
    assert!(read(&environment, ".git/config").contains("mine"));
}

/// A name of git is work, although the commit that it stands for has others: of an action without an end those that came since stay.
#[test]
fn branches_and_tags_that_came_after_an_action_without_an_end_stay() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.git(&["branch", "other"]);
    environment.git(&["tag", "moved"]);
    environment.write("a", "two\n");
    environment.git(&["add", "-A"]);
    environment.commit("second");
    before(&environment, "s", &project, "call", "git checkout -f -B other");
    environment.git(&["branch", "person"]);
    environment.git(&["tag", "mine"]);
    environment.git(&["tag", "-f", "moved"]);
    environment.git(&["branch", "-D", "other"]);
    let told = said(&undo(&environment, &project, &[]));
    let names = environment.command("git").args(["for-each-ref"]).output().unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    assert!(names.contains("heads/person") && names.contains("tags/mine"), "{told}{names}");
    assert!(told.contains("keep     of git: branch person") && told.contains("--force"), "{told}");
    // What is gone comes back all the same.
    assert!(names.contains("heads/other"), "{told}{names}");
    let points_at = |name: &str| {
        names.lines().find(|line| line.ends_with(name)).map(|line| line.split(' ').next().unwrap().to_owned())
    };
    assert_eq!(points_at("tags/moved"), points_at("heads/main"), "{told}{names}");
}

/// Git writes its index anew whenever somebody looks and a time differs: the same entries are no change since.
#[test]
fn an_index_with_the_same_entries_is_no_reason_to_keep_anything() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("README.md", "mine\n");
    perform(&environment, "s", &project, "call", "git checkout-index -f -a");
    run(&environment, &project, "touch -d '1 hour ago' README.md; git status");
    let output = undo(&environment, &project, &[]);
    assert!(output.status.success() && !said(&output).contains("changed since"), "{}", said(&output));
    environment.git(&["add", "-A"]);
    // What was staged since is work.
    environment.write("README.md", "again\n");
    perform(&environment, "s", &project, "more", "git checkout-index -f -a");
    environment.write("staged", "s\n");
    environment.git(&["add", "staged"]);
    undo(&environment, &project, &[]);
    let staged = environment.command("git").args(["ls-files"]).output().unwrap();
    assert!(String::from_utf8_lossy(&staged.stdout).contains("staged"));
}

/// A call that left the repository where it stood is nothing to take back, whatever git noted of it: what was lost before it counts.
#[test]
fn what_only_git_noted_is_passed_over() {
    for nothing in ["git reset -q --hard", "git checkout -q -f"] {
        let environment = TestEnvironment::new();
        let project = environment.project();
        environment.write("notes.md", "the only copy\n");
        perform(&environment, "s", &project, "loses", "rm notes.md");
        perform(&environment, "s", &project, "noted", nothing);
        let output = undo(&environment, &project, &[]);
        assert_eq!(read(&environment, "notes.md"), "the only copy\n", "{nothing}: {}", said(&output));
        // Whoever means it by name still gets it.
        assert!(undo(&environment, &project, &["noted"]).status.code().is_some());
    }
    // Nor does a push lose anything, whatever git noted of later calls.
    let environment = TestEnvironment::new();
    let project = environment.project();
    let remote = environment.home().join("remote.git");
    environment.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.git(&["push", "-q", "-u", "origin", "main"]);
    environment.write("notes.md", "the only copy\n");
    perform(&environment, "s", &project, "loses", "rm notes.md");
    perform(
        &environment,
        "s",
        &project,
        "adds",
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m more",
    );
    perform(&environment, "s", &project, "pushes", "git push -q");
    perform(&environment, "s", &project, "noted", "git reset -q --hard");
    let output = undo(&environment, &project, &[]);
    assert_eq!(read(&environment, "notes.md"), "the only copy\n", "{}", said(&output));
    // One that took work away is no such call, nor one that moved a branch.
    {
        let loss = "git reset -q --hard HEAD~1";
        let environment = TestEnvironment::new();
        let project = environment.project();
        environment.write("src/main.rs", "fn main() { one() }\n");
        environment.git(&["add", "-A"]);
        environment.commit("second");
        environment.write("src/main.rs", "fn main() { two() }\n");
        perform(&environment, "s", &project, "loses", loss);
        let output = undo(&environment, &project, &[]);
        assert_eq!(read(&environment, "src/main.rs"), "fn main() { two() }\n", "{loss}: {}", said(&output));
    }
}
