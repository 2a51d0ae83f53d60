//! Looking afterwards, through the real hook: what was not predicted is recorded, weighs later, and is listed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// A session in a project, call by call.
struct Session<'a> {
    environment: &'a TestEnvironment,
    name: &'a str,
    calls: std::cell::Cell<u32>,
}

impl<'a> Session<'a> {
    fn new(environment: &'a TestEnvironment, name: &'a str) -> Self {
        let session = Self { environment, name, calls: std::cell::Cell::new(0) };
        session.hook("SessionStart", json!({ "source": "startup" }));
        session
    }

    fn hook(&self, event: &str, fields: Json) -> Json {
        // Apart from what happened before by more than a tick of the clock of the file system.
        sleep(Duration::from_millis(30));
        self.environment.answer_to(&self.environment.payload(self.name, event, fields))
    }

    fn begin(&self, command: &str) -> String {
        self.calls.set(self.calls.get() + 1);
        let id = format!("{}-{}", self.name, self.calls.get());
        self.hook(
            "PreToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id }),
        );
        sleep(Duration::from_millis(30));
        id
    }

    fn end(&self, id: &str, command: &str) {
        self.hook(
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id,
                "tool_response": { "stdout": "", "stderr": "" },
            }),
        );
    }

    /// A call during which `deed` happens; what was recorded about it afterwards.
    fn call(&self, command: &str, deed: impl FnOnce()) -> Json {
        let id = self.begin(command);
        deed();
        self.end(&id, command);
        self.verification(&id)
    }

    /// A command that really runs.
    fn run(&self, command: &str) -> Json {
        self.call(command, || {
            let mut shell = self.environment.command("sh");
            assert!(shell.args(["-c", command]).status().unwrap().success(), "{command}");
        })
    }

    fn verification(&self, id: &str) -> Json {
        let records = self.environment.records(self.name);
        let outcome = records
            .iter()
            .rfind(|record| record["body"]["type"] == "outcome" && record["body"]["action_id"] == json!(id));
        outcome.unwrap_or_else(|| panic!("no outcome of {id}"))["body"]["verification"].clone()
    }

    fn risk_of(&self, command: &str) -> f64 {
        let id = self.begin(command);
        self.end(&id, command);
        let records = self.environment.records(self.name);
        let is_review =
            |record: &&Json| record["body"]["type"] == "review" && record["body"]["action_id"] == json!(id);
        let review = records.iter().rfind(is_review).unwrap();
        review["body"]["risk"]["score"].as_f64().unwrap()
    }
}

/// The surprises in what was recorded: kind and path below the project.
fn surprises(environment: &TestEnvironment, verification: &Json) -> Vec<(String, String)> {
    let root = format!("{}/", environment.project().display());
    let all = verification["surprises"].as_array().cloned().unwrap_or_default();
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    all.iter().map(|one| (text(&one["kind"]), text(&one["path"]).replace(&root, ""))).collect()
}

fn list(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, path)| ((*kind).to_owned(), (*path).to_owned())).collect()
}

// Source: seed 001-11
#[test]
fn what_an_unknown_program_does_is_noticed() {
    let environment = TestEnvironment::new();
    environment.write("notes.md", "only here\n");
    let session = Session::new(&environment, "s");
    let project = environment.project();
    let seen = session.call("frobnicate --all", || {
        environment.write("out/made.txt", "");
        environment.write("src/main.rs", "other\n");
        fs::remove_file(project.join("notes.md")).unwrap();
    });
    let expected = list(&[("deleted", "notes.md"), ("created", "out"), ("modified", "src/main.rs")]);
    assert_eq!(surprises(&environment, &seen), expected, "{seen}");
    assert_eq!(seen["looked"], "whole");
    assert_eq!(seen["programs"], json!(["frobnicate"]));
    assert_eq!(seen["surprises"][0]["predicted"], "that what `frobnicate` does is not known");
    assert!(seen["other_causes"].is_null(), "{seen}");
}

#[test]
fn what_was_predicted_is_no_surprise() {
    let environment = TestEnvironment::new();
    environment.write("a.txt", "one\n");
    environment.write("old/deep/file", "");
    let session = Session::new(&environment, "s");
    for command in [
        "touch new.txt",
        "mkdir -p x/y/z && echo hi > x/y/z/file",
        "sed -i s/one/two/ a.txt",
        "mv a.txt b.txt",
        "cp b.txt src/c.txt",
        "rm -r old",
        "rm src/*.txt",
        "cd src && echo 'fn f() {}' >> main.rs",
        "git add -A",
        "git -c user.name=d -c user.email=d@localhost commit -qm second",
        "git checkout -q -b other && git mv b.txt c.txt",
        "git -c user.name=d -c user.email=d@localhost commit -qm third && git checkout -q main",
        "python3 - <<'EOF'\nopen('from_python.txt', 'w').write('x')\nEOF",
        "ls -la; git status --short; cat README.md",
    ] {
        let seen = session.run(command);
        assert_eq!(surprises(&environment, &seen), [], "{command}: {seen}");
        assert_eq!(seen["looked"], "whole", "{command}");
    }
    assert_eq!(
        environment.succeed(&["surprises"]).trim(),
        "no surprises: every change that was looked for had been predicted, or nothing was recorded yet"
    );
}

#[test]
fn a_program_that_is_said_to_look_only_and_writes_is_noticed_most() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    let seen = session.call("grep -r x .", || environment.write("README.md", "gone\n"));
    assert_eq!(surprises(&environment, &seen), list(&[("modified", "README.md")]));
    assert_eq!(seen["surprises"][0]["predicted"], "no change");
    assert_eq!(seen["doubt"], json!({ "points": 6, "ceiling": 20 }));
}

#[test]
fn surprises_make_what_is_opaque_weigh_more_and_good_predictions_less() {
    let environment = TestEnvironment::new();
    environment.write("notes.md", "");
    let session = Session::new(&environment, "s");
    let before = session.risk_of("frobnicate");
    let root = environment.project();
    session.call("frobnicate", || fs::remove_file(root.join("README.md")).unwrap());
    let doubted = session.risk_of("frobnicate");
    assert!((doubted - before - 0.06).abs() < 1e-9, "{before} then {doubted}");
    assert!(session.risk_of("ls") < 0.2, "what is understood weighs as before");
    let other = Session::new(&environment, "other");
    assert!((other.risk_of("frobnicate") - before).abs() < 1e-9, "another session is not concerned");
    session.run("touch well-predicted");
    let relieved = session.risk_of("frobnicate");
    assert!((doubted - relieved - 0.02).abs() < 1e-9, "{doubted} then {relieved}");
}

#[test]
fn what_is_certain_and_does_not_happen_is_told() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    let seen = session.call("rm README.md && touch made.txt", || {});
    assert_eq!(surprises(&environment, &seen), list(&[("missing", "README.md"), ("missing", "made.txt")]));
    let id = session.begin("touch never.txt");
    session.hook(
        "PostToolUseFailure",
        json!({ "tool_name": "Bash", "tool_input": { "command": "touch never.txt" }, "tool_use_id": id, "error": "exit 1" }),
    );
    assert_eq!(surprises(&environment, &session.verification(&id)), [], "a failure explains it");
}

#[test]
fn trees_that_a_build_makes_again_are_not_looked_into() {
    let environment = TestEnvironment::new();
    environment.write(".gitignore", "/target\n");
    let session = Session::new(&environment, "s");
    let seen = session.call("frobnicate", || {
        environment.write("target/debug/app", "");
        environment.write("node_modules/left/index.js", "");
        environment.write("src/__pycache__/a.pyc", "");
        environment.git(&["add", "README.md"]);
    });
    assert_eq!(surprises(&environment, &seen), [], "{seen}");
    let left_out = seen["left_out"].to_string();
    assert!(left_out.contains("/target") && left_out.contains("/node_modules"), "{left_out}");
}

#[test]
fn a_hook_of_git_that_appears_is_a_surprise_of_its_own() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    let seen = session.call("git add -A", || environment.write(".git/hooks/pre-commit", "#!/bin/sh\n"));
    assert_eq!(surprises(&environment, &seen), list(&[("created", ".git/hooks/pre-commit")]));
}

#[test]
fn another_call_at_the_same_time_explains_or_makes_doubtful() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    let beside = session.begin("touch beside.txt");
    let seen = session.call("frobnicate", || {
        environment.write("beside.txt", "");
        environment.write("nobody-said.txt", "");
    });
    assert_eq!(surprises(&environment, &seen), list(&[("created", "nobody-said.txt")]), "{seen}");
    assert_eq!(seen["other_causes"], json!(["`Bash touch beside.txt` ran in this session"]));
    assert_eq!(seen["doubt"], json!({ "points": 1, "ceiling": 9 }));
    session.end(&beside, "touch beside.txt");
    let alone = session.call("frobnicate", || environment.write("alone.txt", ""));
    assert!(alone["other_causes"].is_null(), "what has ended is no cause: {alone}");

    let other = Session::new(&environment, "other");
    other.begin("frobnicate --slowly");
    let seen = session.call("frobnicate", || environment.write("who.txt", ""));
    assert_eq!(seen["other_causes"], json!(["`Bash frobnicate --slowly` ran in another session"]));
}

#[test]
fn what_goes_on_in_the_background_may_be_the_cause_of_everything_later() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    session.run("sleep 0.1 &");
    let seen = session.call("frobnicate", || environment.write("who.txt", ""));
    assert_eq!(seen["other_causes"], json!(["`Bash sleep 0.1 &` ran in this session"]), "{seen}");

    let fields = json!({ "command": "touch later.txt", "run_in_background": true });
    let fresh = Session::new(&environment, "fresh");
    fresh.hook("PreToolUse", json!({ "tool_name": "Bash", "tool_input": fields, "tool_use_id": "b" }));
    fresh.hook(
        "PostToolUse",
        json!({ "tool_name": "Bash", "tool_input": fields, "tool_use_id": "b",
            "tool_response": { "stdout": "", "stderr": "", "backgroundTaskId": "x1" } }),
    );
    let told = fresh.verification("b");
    assert_eq!(surprises(&environment, &told), [], "it has not happened yet: {told}");
    assert_eq!(
        (&told["looked"], &told["gaps"]),
        (&json!("partly"), &json!(["the call goes on in the background"]))
    );
}

#[test]
fn a_bound_that_was_hit_is_in_the_record() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    for file in 0..20_100 {
        fs::write(environment.project().join(format!("src/f{file}")), "").unwrap();
    }
    let seen = session.call("frobnicate", || environment.write("made.txt", ""));
    assert_eq!(seen["looked"], "partly", "{seen}");
    assert!(!seen["gaps"].as_array().unwrap().is_empty());
}

#[test]
fn odd_names_and_links_do_no_harm() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    symlink("..", project.join("src/up")).unwrap();
    symlink("loop", project.join("loop")).unwrap();
    let session = Session::new(&environment, "s");
    let seen = session.call("frobnicate", || {
        fs::write(project.join(OsStr::from_bytes(b"odd-\xff\n\x1b[31mname")), "").unwrap();
    });
    assert_eq!(surprises(&environment, &seen), list(&[("created", "odd-\u{fffd}\n\u{1b}[31mname")]));
    let text = environment.succeed(&["surprises"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn secrets_in_names_stay_out_of_the_records() {
    let environment = TestEnvironment::new();
    let secret = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let session = Session::new(&environment, "s");
    let seen = session.call("frobnicate", || environment.write(&secret, ""));
    assert_eq!(seen["surprises"].as_array().map(Vec::len), Some(1), "{seen}");
    let predicted = session.run(&format!("touch {secret}.txt"));
    assert_eq!(
        surprises(&environment, &predicted),
        [],
        "masked names are compared as they are written: {predicted}"
    );
    session.call("frobnicate", || fs::remove_file(environment.project().join(&secret)).unwrap());
    for entry in fs::read_dir(environment.state().join("sessions/s")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
}

#[test]
fn a_damaged_picture_costs_nothing_but_the_names() {
    let environment = TestEnvironment::new();
    // A snapshot would know the names as well.
    environment.configure("config.yaml", "snapshots:\n  enabled: false\n");
    environment.write("notes.md", "");
    let session = Session::new(&environment, "s");
    let picture = environment.state().join("sessions/s/picture");
    for garbage in
        [b"".as_slice(), b"reinpic1", &[0xff; 4096], b"reinpic1\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff"]
    {
        fs::write(&picture, garbage).unwrap();
        let seen = session.call("frobnicate", || environment.write("src/main.rs", "x"));
        assert_eq!(surprises(&environment, &seen), list(&[("modified", "src/main.rs")]), "{seen}");
    }
    fs::remove_file(&picture).unwrap();
    let root = environment.project();
    let seen = session.call("frobnicate", || fs::remove_file(root.join("README.md")).unwrap());
    assert_eq!(surprises(&environment, &seen), list(&[("deleted", "README.md")]), "git knows it: {seen}");
    assert_eq!(seen["gaps"], json!(["what is gone may have gone before this call"]));
}

#[test]
fn what_was_made_since_the_last_look_and_is_gone_is_known_from_the_snapshot_right_before() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    session.run("ls");
    environment.write("notes/plan.md", "made by somebody else");
    environment.write("src/new.rs", "made by somebody else");
    let root = environment.project();
    let seen = session.call("frobnicate", || {
        fs::remove_dir_all(root.join("notes")).unwrap();
        fs::remove_file(root.join("src/new.rs")).unwrap();
    });
    assert_eq!(
        surprises(&environment, &seen),
        list(&[("deleted", "notes"), ("deleted", "src/new.rs")]),
        "{seen}"
    );
}

#[test]
fn a_tool_of_the_client_is_taken_at_its_word() {
    let environment = TestEnvironment::new();
    let session = Session::new(&environment, "s");
    let write = |id: &str, said: &str| {
        let input = json!({ "file_path": environment.project().join("a.txt"), "content": "x" });
        session.hook("PreToolUse", json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": id }));
        sleep(Duration::from_millis(30));
        environment.write("a.txt", "x");
        let response =
            json!({ "type": "create", "filePath": environment.project().join(said), "content": "x" });
        session.hook(
            "PostToolUse",
            json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": id, "tool_response": response }),
        );
        session.verification(id)
    };
    let told = write("w1", "a.txt");
    assert_eq!((surprises(&environment, &told), &told["looked"]), (vec![], &json!("reported")), "{told}");
    let told = write("w2", "elsewhere.txt");
    assert_eq!(surprises(&environment, &told), list(&[("created", "elsewhere.txt")]));
    let read = json!({ "file_path": environment.project().join("a.txt") });
    session.hook("PreToolUse", json!({ "tool_name": "Read", "tool_input": read, "tool_use_id": "r" }));
    session.hook(
        "PostToolUse",
        json!({ "tool_name": "Read", "tool_input": read, "tool_use_id": "r", "tool_response": {} }),
    );
    assert!(session.verification("r").is_null(), "reading is not looked after");
}

#[test]
fn a_home_directory_is_not_looked_at() {
    let environment = TestEnvironment::new();
    let command = "frobnicate";
    let payload = |event: &str, more: Json| {
        let mut payload = json!({
            "session_id": "h", "transcript_path": "", "cwd": environment.home(), "hook_event_name": event,
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "call",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload.to_string().into_bytes()
    };
    environment.answer_to(&payload("PreToolUse", json!({})));
    environment.answer_to(&payload("PostToolUse", json!({ "tool_response": {} })));
    let records = environment.records("h");
    let verification = &records.last().unwrap()["body"]["verification"];
    assert_eq!(verification["looked"], "not_at_all");
}

#[test]
fn surprises_are_listed_by_program_and_shown_with_their_call() {
    let environment = TestEnvironment::new();
    environment.write("notes.md", "");
    let session = Session::new(&environment, "s");
    let root = environment.project();
    session.call("frobnicate --all src", || environment.write("src/gen.rs", ""));
    session.call("wc -l README.md", || environment.write("README.md", "changed\n"));
    session.call("frobnicate", || fs::remove_file(root.join("notes.md")).unwrap());
    session.run("touch quiet.txt");
    let home = environment.home().display().to_string();
    let stable = |text: String| {
        let text = text.replace(&home, "~");
        let lines = text.lines().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let is_date =
                |word: &str| word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-';
            let words: Vec<&str> = words
                .iter()
                .enumerate()
                .map(|(at, word)| match at.checked_sub(1).and_then(|before| words.get(before)) {
                    _ if is_date(word) => "DATE",
                    Some(before) if is_date(before) => "TIME",
                    _ => word,
                })
                .collect();
            words.join(" ").trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("surprises", stable(environment.succeed(&["surprises"])));
    insta::assert_snapshot!("surprises_show", stable(environment.succeed(&["show", "s:8"])));
    let log = environment.succeed(&["log"]);
    assert!(log.contains("surprise: "), "{log}");
    let json = environment.succeed(&["surprises", "--json", "--limit", "2", "--session", "s"]);
    let calls: Vec<Json> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1]["programs"], json!(["frobnicate"]));
    assert_eq!(calls[1]["surprises"][0]["kind"], "deleted");
    let missing = environment.checkrein(&["surprises", "--session", "nobody"]);
    assert_eq!(missing.status.code(), Some(1));
}
