//! Whether an action makes sense after what went before it, as the records say: what takes back what was just done has low rationality, what
//! is done once more with nothing changed, or looks through everything, has a medium one, and ordinary work has a high one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// What is done, one after the other: a command, what the user says after `>`, or what a tool of the client does to a file: `Write|PATH|TEXT`,
/// `Edit|PATH|OLD|NEW`.
type Steps = &'static [&'static str];

struct Session {
    environment: TestEnvironment,
    calls: u32,
}

impl Session {
    fn new() -> Self {
        let session = Self { environment: TestEnvironment::new(), calls: 0 };
        session.event("SessionStart", json!({ "source": "startup" }));
        // Too few words to tell what an action has to do with them.
        session.says("go on");
        session
    }

    fn event(&self, name: &str, fields: Json) -> Json {
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    fn says(&self, prompt: &str) {
        self.event("UserPromptSubmit", json!({ "prompt": prompt }));
    }

    /// A tool of the client changes a file.
    fn tool(&self, fields: &[&str], more: Json) -> Json {
        let (name, input) = match fields {
            ["Write", path, text] => ("Write", json!({ "file_path": path, "content": text })),
            ["Edit", path, old, new] => {
                ("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
            }
            other => panic!("{other:?}"),
        };
        let mut input = input;
        input["file_path"] = json!(self.environment.project().join(fields[1]));
        let mut payload = more;
        payload["tool_use_id"] = json!(format!("call-{}", self.calls));
        payload["tool_name"] = json!(name);
        payload["tool_input"] = input;
        payload
    }

    /// A call that runs, where it may, and succeeds; how rational it was found, and the answer.
    fn call(&mut self, command: &str) -> (String, Json) {
        self.calls += 1;
        let fields: Vec<&str> = command.split('|').collect();
        let is_tool = matches!(fields[0], "Write" | "Edit");
        let call = |more: Json| {
            if is_tool {
                self.tool(&fields, more)
            } else {
                shell_call(&format!("call-{}", self.calls), command, more)
            }
        };
        let answer = self.event("PreToolUse", call(json!({})));
        if decision(&answer).is_none() {
            // What writes really writes, so that the next call finds it; what needs a network only claims to have run.
            if is_tool {
                let path = self.environment.project().join(fields[1]);
                let before = fs::read_to_string(&path).unwrap_or_default();
                let after = if fields[0] == "Write" {
                    fields[2].to_owned()
                } else {
                    before.replacen(fields[2], fields[3], 1)
                };
                fs::write(path, after).unwrap();
            } else if command.contains('>')
                || ["mkdir", "cp", "sed"].iter().any(|name| command.starts_with(name))
            {
                let shell = self.environment.command("sh").args(["-c", command]).output().unwrap();
                assert!(shell.status.success(), "{command}: {shell:?}");
            }
            let output =
                json!({ "tool_response": { "stdout": format!("out {}", self.calls), "stderr": "" } });
            self.event("PostToolUse", call(output));
        }
        let records = self.environment.records("s");
        let review = records.iter().rfind(|record| record["body"]["type"] == "review").unwrap();
        (review["body"]["rationality"]["level"].as_str().unwrap().to_owned(), answer)
    }
}

/// How rational the last of these steps is.
fn last(steps: Steps) -> String {
    let mut session = Session::new();
    let mut level = String::new();
    for step in steps {
        match step.strip_prefix('>') {
            Some(prompt) => session.says(prompt),
            None => level = session.call(step).0,
        }
    }
    level
}

fn all_are(wanted: &str, rows: &[Steps]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|row| (row, last(row)))
        .filter(|(_, level)| level != wanted)
        .map(|row| format!("{row:?}"))
        .collect();
    assert!(wrong.is_empty(), "not {wanted}:\n{}", wrong.join("\n"));
}

// Source: seed 002-26
#[test]
fn what_takes_back_what_was_just_done_has_low_rationality() {
    all_are(
        "low",
        &[
            &["echo text > new.txt", "rm new.txt"],
            &["echo more >> src/main.rs", "rm src/main.rs"],
            &["mkdir -p made; echo a > made/a.txt", "ls", "rm -r made"],
            &["echo other > src/main.rs", "git checkout -- src/main.rs"],
            &["echo other > src/main.rs", "git status", "git restore src/main.rs"],
            &["echo other > src/main.rs", "git reset --hard"],
            &["npm install left-pad", "npm uninstall left-pad"],
            &["pip install requests", "pip uninstall -y requests"],
            &["git push origin main", "git reset --hard HEAD~1"],
            &["git push origin main", "git commit --amend -m other"],
        ],
    );
}

#[test]
fn what_empties_or_puts_back_what_was_just_written_has_low_rationality() {
    const EDIT: &str = "Edit|src/main.rs|fn main|pub fn main";
    all_are(
        "low",
        &[
            &["echo other > src/main.rs", "truncate -s 0 src/main.rs"],
            &["echo other > src/main.rs", "truncate --size=0 ./src/main.rs"],
            &["echo text > new.txt", ": > new.txt"],
            &["echo text > new.txt", " > new.txt"],
            &["echo text > new.txt", "cd src && : > ../new.txt"],
            &["echo text > new.txt", "true > new.txt"],
            &["echo text > new.txt", "cp /dev/null new.txt"],
            &["echo text > new.txt", "cat /dev/null > new.txt"],
            &["echo text > new.txt", "printf '' > new.txt"],
            &["echo text > new.txt", "echo > new.txt"],
            &["echo text > new.txt", "tee new.txt < /dev/null"],
            &["echo text > new.txt", "dd if=/dev/null of=new.txt"],
            &["echo text > new.txt", "install /dev/null new.txt"],
            &["echo text > new.txt", "node -e \"require('fs').writeFileSync('new.txt', '')\""],
            &["echo text > new.txt", "Write|new.txt|"],
            &["Write|new.txt|text", ": > new.txt"],
            &[EDIT, "Write|src/main.rs|"],
            &[EDIT, "Write|src/main.rs|\n"],
            &[EDIT, "truncate -s 0 src/main.rs"],
            &[EDIT, "git checkout -- src/main.rs"],
            &[EDIT, "git checkout src/main.rs"],
            &[EDIT, "git restore src/"],
            &[EDIT, "Edit|src/main.rs|pub fn main|fn main"],
            &[EDIT, "Edit|src/main.rs|pub |"],
            &[EDIT, "ls", "Edit|src/main.rs|pub fn main|fn main"],
            &["cp src/main.rs m.bak", EDIT, "cp m.bak src/main.rs"],
            &["cp src/main.rs m.bak", EDIT, "cat m.bak > src/main.rs"],
            &["echo one > a.txt", "echo two > a.txt", "echo one > a.txt"],
            &["echo one > a.txt", "echo two > a.txt", "Write|a.txt|one\n"],
        ],
    );
}

#[test]
fn going_on_with_what_was_just_written_has_a_high_one() {
    const EDIT: &str = "Edit|src/main.rs|fn main|pub fn main";
    all_are(
        "high",
        &[
            &[EDIT, "Edit|src/main.rs|pub fn main|pub async fn main"],
            &[EDIT, "Edit|src/main.rs|main()|start()"],
            &["Write|new.txt|one", "Write|new.txt|two"],
            &["Write|new.txt|one", "echo two > new.txt"],
            &["Write|new.txt|one", "echo two >> new.txt"],
            &["Write|new.txt|one", ": > new.txt; echo two >> new.txt"],
            &["Write|new.txt|one", ": > other.txt"],
            &["Write|new.txt|one", "touch new.txt"],
            // Nothing is in it anyway.
            &["Write|new.txt|", ": > new.txt"],
            &["touch new.txt", "Write|new.txt|"],
            // It was tried or looked at meanwhile, or another thing was done.
            &[EDIT, "cargo test", "Edit|src/main.rs|pub fn main|fn main"],
            &[EDIT, "cat src/main.rs", "Edit|src/main.rs|pub fn main|fn main"],
            &[EDIT, "Write|new.txt|one", "Edit|src/main.rs|pub fn main|fn main"],
            &["echo run > app.log", "cat app.log", ": > app.log"],
            // The user asked for it.
            &[EDIT, ">leave it as it was", "Edit|src/main.rs|pub fn main|fn main"],
            &[EDIT, ">leave it as it was", "git checkout -- src/main.rs"],
            // What is put there may be something else.
            &[EDIT, "[ -e flag ] && : > src/main.rs; ls"],
        ],
    );
}

// Source: seed 002-26, 002-27
#[test]
fn what_is_done_once_more_or_looks_through_everything_has_a_medium_one() {
    all_are(
        "medium",
        &[
            &["npm install left-pad", "npm install left-pad"],
            &["cat README.md", "cat README.md"],
            &["cat README.md", "ls src", "cat README.md"],
            &["find / -name main.rs"],
            &["ls -R /"],
            // Looked at, and then removed: it may be on purpose.
            &["cat README.md", "rm README.md"],
        ],
    );
}

#[test]
fn ordinary_work_has_a_high_one() {
    all_are(
        "high",
        &[
            // It was used, and has served its purpose.
            &["echo 'print(1)' > try.py", "python3 try.py", "find . -name '*.pyc'"],
            &["echo text > new.txt", "cargo test", "rm README.md"],
            &["npm install left-pad", "npm test", "npm uninstall left-pad"],
            // The user asked for it.
            &["npm install left-pad", ">undo it", "npm uninstall left-pad"],
            &["git push origin main", ">go back", "git reset --hard HEAD~1"],
            // Another thing.
            &["npm install left-pad", "npm uninstall right-pad"],
            &["echo text > new.txt", "mv new.txt other.txt"],
            &["git push origin main", "git status"],
            &["git push origin main", "git commit -m next"],
            &["cat README.md", "echo a > a.txt", "cat README.md"],
            &["find . -name main.rs"],
            &["find / -maxdepth 1 -name etc"],
        ],
    );
}

// Source: seed 002-25
#[test]
fn what_the_person_said_not_to_do_has_low_rationality() {
    const HINT: &str = "the user said not to";
    let mut session = Session::new();
    session.says("make the parser accept comments, but do not push");
    assert_eq!(session.call("git push origin main").0, "low");
    let (level, answer) = session.call("git push origin main");
    assert_eq!(level, "low");
    let hint = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(hint.contains(HINT), "the second time it is said: {answer}");
    session.says("fine, push it now");
    assert_ne!(session.call("git push origin main").0, "low");
}

#[test]
fn taking_back_is_hinted_at_and_no_more() {
    let mut session = Session::new();
    session.call("echo text > new.txt");
    let (_, first) = session.call("rm new.txt");
    assert_eq!(first, json!({}), "a first warning goes to the record");
    session.call("echo text > other.txt");
    let (_, second) = session.call("rm other.txt");
    assert_eq!(decision(&second), None, "{second}");
    let hint = second["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(hint.contains("nothing has used it"), "{second}");
}

/// Every cell of the matrix of seed 002 (risk down, rationality across), reached by what an agent may really call.
// Source: seed 002-31
#[test]
fn every_cell_of_the_matrix_is_reached_by_real_text() {
    const NO_PUSH: &str = ">fix the parser in src/main.rs, but do not push and do not publish";
    let cells: [(&str, &str, &str, Steps); 12] = [
        ("low", "high", "allow", &["ls"]),
        ("low", "medium", "allow", &["cat README.md", "cat README.md"]),
        // The first warning of a kind goes to the record; the matrix says warn.
        ("low", "low", "warn", &[NO_PUSH, "git push origin main", "git push origin main"]),
        ("medium", "high", "allow", &["frobnicate --all"]),
        ("medium", "medium", "warn", &["frobnicate --all", "frobnicate --all"]),
        ("medium", "low", "modify", &[NO_PUSH, "frobnicate --all && git push origin main"]),
        ("high", "high", "modify", &["git push --force"]),
        ("high", "medium", "modify", &["git push --force", "git push --force"]),
        ("high", "low", "block", &[NO_PUSH, "npm publish"]),
        ("critical", "high", "block", &["rm -rf ~"]),
        ("critical", "medium", "block", &["rm -rf ~", "rm -rf ~"]),
        ("critical", "low", "block", &[NO_PUSH, "git push origin main; rm -rf ~"]),
    ];
    let mut wrong = Vec::new();
    for (risk, rationality, decision, steps) in cells {
        let mut session = Session::new();
        for step in steps {
            match step.strip_prefix('>') {
                Some(prompt) => session.says(prompt),
                None => drop(session.call(step)),
            }
        }
        let records = session.environment.records("s");
        let review = &records.iter().rfind(|record| record["body"]["type"] == "review").unwrap()["body"];
        let found = (&review["risk"]["level"], &review["rationality"]["level"], &review["decision"]);
        if found != (&json!(risk), &json!(rationality), &json!(decision)) {
            wrong.push(format!("{risk} {rationality} {decision}: {found:?} {steps:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// Source: seed 002-44, 002-45, 002-48, 002-85
#[test]
fn high_risk_without_sense_is_blocked_and_says_both() {
    let mut session = Session::new();
    session.says("fix the parser in src/main.rs, but do not publish");
    session.call("npm publish");
    let records = session.environment.records("s");
    let review = &records.iter().rfind(|record| record["body"]["type"] == "review").unwrap()["body"];
    assert_eq!(review["verdict"], "block", "{review}");
    assert!(review["confidence"].as_f64().is_some_and(|sure| sure > 0.0 && sure <= 1.0), "{review}");
    let further = review["further_reasons"].to_string();
    assert!(further.contains("High risk") && further.contains("Unlikely step"), "{review}");
}

/// A check that runs again and again with a tool that the project declares is honest work: nothing is installed by it.
#[test]
fn a_tool_that_the_project_declares_gets_no_hint_however_it_is_started() {
    for tool in ["npx tsc", "bunx tsc", "npm exec tsc --", "pnpm exec tsc", "yarn tsc"] {
        let session = Session::new();
        session.environment.write("package.json", r#"{"devDependencies": {"typescript": "^5.0.0"}}"#);
        session.says("fix the type errors in src");
        for (number, options) in ["", "--noEmit", "--noEmit -p .", "--noEmit"].iter().enumerate() {
            let call = || shell_call(&format!("call-{number}"), &format!("{tool} {options}"), json!({}));
            let answer = session.event("PreToolUse", call());
            assert_eq!(answer["hookSpecificOutput"], Json::Null, "{tool} {options}: {answer}");
            let mut ended = call();
            ended["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
            session.event("PostToolUse", ended);
        }
    }
}
