//! The way back of a session takes back one action after another, as `undo` does: what was taken back is no step, what stood before the
//! first of them stands, and nothing of a person goes. The real programs do the harm.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost
git config --global init.defaultBranch main
git init -q . 2> /dev/null; git init -q --bare ../remote.git; git remote add origin ../remote.git
printf '.env\nbuild/\n' > .gitignore; mkdir -p src notes build; echo '# one' > README.md; echo 'print(1)' > src/calc.py
git add -A; git commit -qm one; echo '# two' > README.md; git commit -qam two; git push -q -u origin HEAD 2> /dev/null
echo KEY=1 > .env; echo note > notes/n.txt; echo out > build/out; echo draft > draft.txt
chmod 755 . src notes build; chmod 644 README.md src/calc.py notes/n.txt build/out draft.txt .env .gitignore
";

fn bash(environment: &TestEnvironment, command: &str) {
    let mut bash = environment.command("bash");
    bash.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap();
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    bash(&environment, SETUP);
    assert!(picture(&environment).contains_key("notes/n.txt"));
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    environment
}

/// Within one tick of the clock of the file system nobody can tell what came first.
fn tick() {
    std::thread::sleep(Duration::from_millis(60));
}

/// An action of the agent, and what stands after it.
fn perform(environment: &TestEnvironment, id: &str, command: &str) -> Picture {
    let tell = |event: &str, more: Json| {
        environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
    };
    let answer = tell("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    bash(environment, command);
    tell("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    tick();
    picture(environment)
}

type Picture = BTreeMap<String, (u32, Vec<u8>)>;

/// All files of the work tree with their modes, and what git says.
fn picture(environment: &TestEnvironment) -> Picture {
    let mut found = Picture::new();
    let project = environment.project();
    let mut waiting: Vec<PathBuf> = vec![project.clone()];
    while let Some(path) = waiting.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let content = if facts.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            waiting.extend(entries.filter(|path| !path.ends_with(".git")));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        let name = path.strip_prefix(&project).unwrap().to_string_lossy().into_owned();
        found.insert(name, (facts.permissions().mode() & 0o7777, content));
    }
    for asked in [
        "for-each-ref refs/heads refs/stash",
        "rev-parse HEAD",
        "--no-optional-locks status --porcelain",
        "stash list",
    ] {
        let output = environment.command("git").args(asked.split(' ')).output().unwrap();
        found.insert(format!("git {asked}"), (0, output.stdout));
    }
    found
}

fn run(environment: &TestEnvironment, arguments: &[&str]) -> (bool, String) {
    let output = environment.checkrein(arguments);
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

fn roll_back(environment: &TestEnvironment, before: &str) -> (bool, String) {
    run(environment, &["session", "rollback", "s", "--before", before, "--yes"])
}

#[test]
fn a_rollback_speaks_the_words_of_git_and_says_how_it_is_taken_back() {
    let environment = project();
    let before = picture(&environment);
    perform(&environment, "toolu_1", "git reset -q --hard HEAD~1");
    perform(&environment, "toolu_2", "rm notes/n.txt");
    let after = picture(&environment);
    let records = environment.records("s");
    let number = |id: &str| {
        let is_meant = |one: &&Json| one["body"]["type"] == "review" && one["body"]["action_id"] == id;
        format!("s:{}", records.iter().find(is_meant).unwrap()["seq"])
    };
    // What `log` shows of a record is taken wherever an action is.
    let (_, said) = run(&environment, &["undo", &number("toolu_2"), "--dry-run"]);
    assert!(said.contains("notes/n.txt"), "{said}");
    let (is_done, said) = roll_back(&environment, &number("toolu_1"));
    assert!(is_done && picture(&environment) == before, "{said}");
    assert!(said.contains("main back to ") && !said.contains(".git/"), "{said}");
    let back = said.split("to take it back: ").nth(1).unwrap();
    let words = back.split('`').filter(|words| words.contains("snapshot restore"));
    let commands: Vec<String> =
        words.map(|words| words.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect();
    assert!(!commands.is_empty(), "{said}");
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').chain(["--remove-new", "--yes"]).collect();
        tick();
        run(&environment, &arguments);
    }
    assert_eq!(picture(&environment).keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let (is_done, said) = roll_back(&environment, "nosuch:3");
    assert!(!is_done && said.contains("no action begins with `nosuch:3`"), "{said}");
}

fn undo(environment: &TestEnvironment, id: &str) -> String {
    tick();
    run(environment, &["undo", id, "--yes"]).1
}

#[track_caller]
fn assert_same(found: &Picture, wanted: &Picture, said: &str) {
    let names = found.keys().chain(wanted.keys());
    let other: Vec<&String> = names.filter(|name| found.get(*name) != wanted.get(*name)).collect();
    assert!(other.is_empty(), "{other:?}\n{said}");
}

#[test]
fn what_was_taken_back_is_no_step() {
    for harm in [
        &["rm -rf notes", "rm -rf src", "chmod -R 777 ."][..],
        &["rm -rf notes", "git clean -fdx", "chmod -R 777 ."],
    ] {
        for undone in 1..=harm.len() {
            let environment = project();
            let before = picture(&environment);
            for (number, command) in harm.iter().enumerate() {
                perform(&environment, &format!("call{number}"), command);
            }
            for number in (0..harm.len()).rev().take(undone) {
                undo(&environment, &format!("call{number}"));
            }
            let (is_done, said) = roll_back(&environment, "1");
            assert_same(&picture(&environment), &before, &said);
            // Where all was taken back before, nothing is done, and the status says so.
            assert_eq!(is_done, undone < harm.len(), "{harm:?} {undone}: {said}");
        }
    }
}

#[test]
fn several_actions_are_taken_back_on_top_of_each_other() {
    let environment = project();
    let before = picture(&environment);
    perform(&environment, "first", "git commit -q --amend -m b");
    perform(&environment, "second", "chmod -R 777 .");
    let (is_done, said) = roll_back(&environment, "1");
    assert_same(&picture(&environment), &before, &said);
    assert!(is_done && said.contains("is set back"), "{said}");
    let (is_done, said) = roll_back(&environment, "1");
    assert!(!is_done && said.contains("nothing to do"), "{said}");
}

#[test]
fn what_earlier_actions_did_stays() {
    let environment = project();
    let first = perform(&environment, "first", "echo a >> README.md && git commit -qam a");
    for (id, command) in [
        ("second", "git push -q"),
        ("third", "rm -rf notes"),
        ("fourth", "git stash -q -u"),
        ("fifth", "git reset -q --hard HEAD~1"),
    ] {
        perform(&environment, id, command);
    }
    let (_, said) = roll_back(&environment, "2");
    assert_same(&picture(&environment), &first, &said);
}

#[test]
fn what_a_person_did_since_stays() {
    let environment = project();
    perform(&environment, "first", "rm -rf notes");
    perform(&environment, "second", "chmod -R 777 .");
    environment.write("mine.txt", "of the user\n");
    environment.write("README.md", "of the user\n");
    let (_, said) = roll_back(&environment, "1");
    let after = picture(&environment);
    assert_eq!(after["mine.txt"].1, b"of the user\n", "{said}");
    assert_eq!(after["README.md"].1, b"of the user\n", "{said}");
    assert!(after.contains_key("notes/n.txt") && said.contains("stays README.md"), "{said}");
}

#[test]
fn a_stash_of_a_person_outlives_every_undo_that_is_offered() {
    for (own, kept) in [
        ("echo mine > README.md; git stash push -q -m mine", "mine"),
        ("git checkout -q -b own; git branch -q keep", "keep"),
    ] {
        let environment = project();
        bash(&environment, "echo work > README.md");
        perform(&environment, "first", "git stash -q");
        bash(&environment, own);
        tick();
        for more in [&[][..], &["--force"], &["--force", "--remove-new"]] {
            let (_, said) = run(&environment, &[&["undo", "first", "--yes"][..], more].concat());
            let stands = picture(&environment);
            let names = [&stands["git stash list"], &stands["git for-each-ref refs/heads refs/stash"]];
            let names: String = names.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).concat();
            assert!(names.contains(kept), "{own} {more:?}: {names}\n{said}");
        }
    }
}

/// Going back is the same as taking back one after another, whatever of it was taken back before.
#[test]
fn a_rollback_equals_undoing_everything() {
    const HARM: [&str; 9] = [
        "rm -rf notes",
        "rm -f src/calc.py draft.txt",
        "git clean -fdxq",
        "chmod -R 777 .",
        "echo broken > README.md",
        "sed -i s/1/2/ src/calc.py",
        "git reset -q --hard HEAD~1",
        "mv draft.txt moved.txt",
        "git stash -q -u",
    ];
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..6 {
        let calls: Vec<&str> = (0..2 + random(3)).map(|_| HARM[random(HARM.len())]).collect();
        let before_undone = random(calls.len() + 1);
        let made = || {
            let environment = project();
            for (number, command) in calls.iter().enumerate() {
                perform(&environment, &format!("call{number}"), command);
            }
            for number in (0..calls.len()).rev().take(before_undone) {
                undo(&environment, &format!("call{number}"));
            }
            environment
        };
        let (one, other) = (made(), made());
        let mut said: String = (0..calls.len() - before_undone)
            .rev()
            .map(|number| undo(&one, &format!("call{number}")))
            .collect();
        said += &roll_back(&other, "1").1;
        // Of commits the time is part of the name.
        let without_commits = |environment: &TestEnvironment| {
            let mut picture = picture(environment);
            picture.retain(|name, _| !name.starts_with("git rev-parse") && !name.starts_with("git for-each"));
            picture
        };
        assert_same(
            &without_commits(&other),
            &without_commits(&one),
            &format!("{calls:?} {before_undone}\n{said}"),
        );
    }
}

/// A call of the tool that writes whole files, and what it does.
fn write(environment: &TestEnvironment, id: &str, path: &str, text: &str) {
    let file = environment.project().join(path);
    let tell = |event: &str, more: Json| {
        let mut fields = json!({
            "tool_name": "Write",
            "tool_use_id": id,
            "tool_input": { "file_path": file.to_str().unwrap(), "content": text },
        });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        environment.answer_to(&environment.payload("s", event, fields))
    };
    tell("PreToolUse", json!({}));
    environment.write(path, text);
    tell("PostToolUse", json!({ "tool_response": { "type": "create" } }));
    tick();
}

#[test]
fn files_that_the_session_made_go_and_others_stay() {
    let environment = project();
    let before = picture(&environment);
    perform(&environment, "first", "echo x >> README.md");
    write(&environment, "second", "made/deep/new.txt", "new\n");
    write(&environment, "third", "edited.txt", "new\n");
    perform(&environment, "fourth", "echo y > byshell.txt && rm -rf notes");
    environment.write("mine.txt", "of a person\n");
    environment.write("edited.txt", "new, and more of a person\n");
    let (is_done, said) = roll_back(&environment, "first");
    assert!(!is_done && said.contains("edited.txt") && said.contains("--remove-new"), "{said}");
    assert!(!said.contains("mine.txt"), "{said}");
    let mut now = picture(&environment);
    assert!(now.remove("edited.txt").is_some() && now.remove("mine.txt").is_some(), "{said}");
    now.retain(|name, _| !name.contains(" status "));
    let mut then = before.clone();
    then.retain(|name, _| !name.contains(" status "));
    assert_same(&now, &then, &said);
    // What went was saved.
    let kept = said.split("saved as snapshots ").nth(1);
    let saved = kept.and_then(|rest| rest.split([' ', '.', ',']).next());
    environment.succeed(&["snapshot", "restore", saved.unwrap(), "--yes"]);
    assert!(picture(&environment).contains_key("made/deep/new.txt"), "{said}");
    let remove = ["session", "rollback", "s", "--before", "first", "--yes", "--remove-new"];
    let (is_done, said) = run(&environment, &remove);
    assert!(is_done && !environment.project().join("edited.txt").exists(), "{said}");
    assert!(environment.project().join("mine.txt").exists(), "{said}");
}

/// What is shown beforehand is what is done: nothing that goes back is said to stay, no place is told by its path in the data of git, and no
/// option is named that the command does not have.
#[test]
fn what_is_shown_of_a_rollback_is_what_it_does() {
    let environment = project();
    perform(&environment, "toolu_1", "rm notes/n.txt; git commit -qam three --allow-empty");
    perform(&environment, "toolu_2", "git push -q origin HEAD");
    let (_, shown) = run(&environment, &["session", "rollback", "s", "--before", "1", "--dry-run"]);
    assert!(shown.contains("create notes/n.txt") && shown.contains("main back to "), "{shown}");
    assert!(shown.contains("what was pushed there belongs to others"), "{shown}");
    let lines = shown.lines().filter(|line| line.starts_with("  "));
    let stays: Vec<&str> = lines.filter(|line| line.contains("stays")).collect();
    assert!(stays.is_empty() && !shown.contains(".git/") && !shown.contains("`--force`"), "{shown}");
    let (is_done, said) = roll_back(&environment, "1");
    assert!(is_done && !said.contains("not as it was"), "{said}");
    assert!(picture(&environment).contains_key("notes/n.txt"), "{said}");
    // What somebody changed since stays, and the way to have it all the same is a command that there is.
    let environment = project();
    perform(&environment, "toolu_1", "echo agent > README.md");
    tick();
    environment.write("README.md", "mine\n");
    let (_, shown) = run(&environment, &["session", "rollback", "s", "--before", "1", "--dry-run"]);
    assert!(shown.contains("stays README.md") && !shown.contains("keep "), "{shown}");
    let way = shown.split('`').find(|part| part.starts_with("checkrein undo ")).map(str::to_owned);
    if let Some(way) = way {
        let words: Vec<&str> = way.split_whitespace().skip(1).chain(["--yes"]).collect();
        let (is_done, said) = run(&environment, &words);
        assert!(is_done, "{way}: {said}");
    }
}
