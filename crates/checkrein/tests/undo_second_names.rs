//! Files with several names (hard links): `undo` gives the content back under each of them, and makes them one file again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

const TEXT: &str = "only here\n";

/// A project, and beside it a folder with a file that is `here.txt` in the project as well.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let other = environment.home().join("other/deep");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("letter.txt"), TEXT).unwrap();
    fs::hard_link(other.join("letter.txt"), environment.project().join("here.txt")).unwrap();
    environment.write("own.txt", TEXT);
    environment
}

/// Whether the client tells the hook when a call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Told,
    NotTold,
}

fn perform(environment: &TestEnvironment, command: &str) {
    perform_call(environment, "call", command, End::Told);
}

fn perform_call(environment: &TestEnvironment, id: &str, command: &str, end: End) {
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(environment, command);
    if end == End::Told {
        call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    }
}

/// Does something that no call of an agent does.
fn run(environment: &TestEnvironment, command: &str) {
    let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command}");
}

/// Every file of the home but those of the guard and of git: what it holds, its mode, and all names of it.
fn picture(environment: &TestEnvironment) -> BTreeMap<PathBuf, (Vec<u8>, u32, Vec<PathBuf>)> {
    let home = environment.home();
    let mut files = BTreeMap::new();
    let mut names: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    let mut waiting = vec![home.clone()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            let (path, facts) = (entry.path(), entry.metadata().unwrap());
            if facts.is_dir() {
                if ![".git", ".local"].map(Some).contains(&entry.file_name().to_str()) {
                    waiting.push(path);
                }
                continue;
            }
            let name = path.strip_prefix(&home).unwrap().to_owned();
            names.entry(facts.ino()).or_default().push(name.clone());
            files
                .insert(name, (fs::read(&path).unwrap_or_default(), facts.permissions().mode(), facts.ino()));
        }
    }
    names.values_mut().for_each(|names| names.sort());
    files
        .into_iter()
        .map(|(name, (bytes, mode, number))| (name, (bytes, mode, names[&number].clone())))
        .collect()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Ways to give `h.md` in the project a second name, here and elsewhere.
const LINKS: [&str; 4] = [
    "ln ~/papers/thesis.txt h.md",
    "cp -l ~/away/far/off/letter.txt h.md",
    "ln poem.txt h.md; mkdir deep; ln h.md deep/again.txt",
    "python3 -c 'import os; os.link(os.path.expanduser(\"~/papers/plan.txt\"), \"h.md\")'",
];

/// Ways to lose what `h.md` holds, and mostly the name with it.
const DESTROYERS: [&str; 23] = [
    "echo > h.md; rm h.md",
    ": > h.md && rm -f h.md",
    "shred -u h.md",
    "shred h.md; rm h.md",
    "truncate -s0 h.md; rm h.md",
    "truncate -s0 h.md && mv h.md z.md",
    "mv h.md i.md; > i.md",
    "> h.md; ln -f README.md h.md",
    "> h.md; mv README.md h.md",
    ": > h.md; git clean -fdq",
    ": > h.md; git stash -uq",
    "dd if=/dev/zero of=h.md bs=1 count=3 conv=notrunc status=none; rm h.md",
    "cat README.md > h.md; rm h.md",
    "python3 -c 'import os; open(\"h.md\", \"w\").close(); os.remove(\"h.md\")'",
    "node -e 'const fs = require(\"fs\"); fs.writeFileSync(\"h.md\", \"x\"); fs.unlinkSync(\"h.md\")'",
    "perl -e 'truncate(\"h.md\", 0); unlink(\"h.md\")'",
    "chmod 640 h.md; rm h.md",
    "chmod 000 h.md",
    "chmod 000 h.md; mv h.md k.md",
    "sed -i s/the/a/ h.md",
    "perl -pi -e 's/the/a/' h.md",
    "cp README.md h.md",
    "rm h.md; echo new > h.md",
];

/// A project without any link, and files around it.
fn with_files() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for (place, text) in [
        ("papers/thesis.txt", "the thesis\n"),
        ("papers/plan.txt", "the plan\n"),
        ("away/far/off/letter.txt", "the letter\n"),
    ] {
        let path = environment.home().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    environment.write("poem.txt", "the poem, and the end of it\n");
    environment
}

#[test]
fn what_goes_with_its_name_comes_back_under_all_names() {
    thread::scope(|scope| {
        for link in LINKS {
            scope.spawn(move || {
                for destroyer in DESTROYERS {
                    let environment = with_files();
                    run(&environment, link);
                    let before = picture(&environment);
                    perform(&environment, destroyer);
                    assert_ne!(picture(&environment), before, "{destroyer}: changed nothing");
                    let output = environment.checkrein(&["undo", "--yes"]);
                    assert_eq!(picture(&environment), before, "{link} | {destroyer}: {}", said(&output));
                    assert!(output.status.success(), "{link} | {destroyer}: {}", said(&output));
                }
            });
        }
    });
}

/// Where nobody was told when the call ended, what is no more than the beginning of what was there is nobody's work.
#[test]
fn without_an_end_of_the_call_the_other_names_come_back_where_nothing_is_lost() {
    for (destroyer, more) in [
        (": > h.md && rm -f h.md", None),
        ("shred -u h.md", None),
        ("truncate -s4 h.md; mv h.md z.md", Some("--remove-new")),
        ("rm h.md", None),
        ("chmod 640 h.md; rm h.md", None),
        ("cp README.md h.md", None),
        ("seq 9 | tee h.md > /dev/null", Some("--force")),
        ("echo > h.md; rm h.md", Some("--force")),
        ("cat README.md > h.md; rm h.md", Some("--force")),
        ("> h.md; mv README.md h.md", None),
        ("> h.md; ln -f README.md h.md", None),
    ] {
        for link in [LINKS[0], LINKS[2]] {
            let environment = with_files();
            run(&environment, link);
            let before = picture(&environment);
            perform_call(&environment, "call", destroyer, End::NotTold);
            if let Some(more) = more {
                let shown = said(&environment.checkrein(&["undo", "--dry-run"]));
                assert!(shown.contains(more), "{link} | {destroyer}: {shown}");
            }
            let output = environment.checkrein(&[&["undo", "--yes"][..], more.as_slice()].concat());
            assert_eq!(picture(&environment), before, "{link} | {destroyer}: {}", said(&output));
        }
    }
}

#[test]
fn whole_trees_of_second_names_come_back() {
    for destroyer in [
        "for f in d2/*; do : > $f; done; rm -rf d2",
        "shred -u d2/*",
        "find d2 -type f -exec shred -u {} +",
        "truncate -s0 d2/*; mv d2 d3",
        "chmod -R 700 d2; rm -r d2",
    ] {
        let environment = with_files();
        run(&environment, "cp -al ~/papers d2");
        let before = picture(&environment);
        perform(&environment, destroyer);
        let output = environment.checkrein(&["undo", "--yes"]);
        assert_eq!(picture(&environment), before, "{destroyer}: {}", said(&output));
    }
}

/// A link of an earlier call, and a loss in two calls: each is taken back by an undo of its own.
#[test]
fn what_was_lost_in_several_calls_comes_back_in_as_many_steps() {
    for calls in [
        &[": > h.md", "rm h.md"][..],
        &["rm h.md", ": > ~/papers/thesis.txt"],
        &["echo x > h.md", "mv h.md z.md", "rm z.md"],
    ] {
        let environment = with_files();
        perform_call(&environment, "first", LINKS[0], End::Told);
        let before = picture(&environment);
        for (number, call) in calls.iter().enumerate() {
            perform_call(&environment, &format!("call {number}"), call, End::Told);
        }
        let said: Vec<String> =
            calls.iter().map(|_| said(&environment.checkrein(&["undo", "--yes"]))).collect();
        assert_eq!(picture(&environment), before, "{calls:?}: {said:?}");
    }
}

#[test]
fn what_somebody_wrote_later_under_another_name_stays() {
    for (end, options) in [
        (End::Told, &["undo", "--yes"][..]),
        (End::Told, &["undo", "--yes", "--force"]),
        (End::NotTold, &["undo", "--yes"]),
    ] {
        let environment = with_files();
        run(&environment, LINKS[0]);
        perform_call(&environment, "call", ": > h.md; rm h.md", end);
        run(&environment, "echo mine > ~/papers/thesis.txt");
        let output = environment.checkrein(options);
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(text(&environment.home().join("papers/thesis.txt")), "mine\n", "{}", said(&output));
        assert_eq!(text(&environment.project().join("h.md")), "the thesis\n", "{}", said(&output));
        assert!(said(&output).contains("a file of its own"), "{}", said(&output));
    }
}

/// The name that the store gives a file is for nobody else, and is no change of the call.
#[test]
fn the_name_in_the_store_is_private_and_surprises_nobody() {
    let environment = with_files();
    run(&environment, LINKS[2]);
    perform(&environment, "node -e 'require(\"fs\").writeFileSync(\"out.txt\", \"x\")'");
    let surprises: Vec<String> = environment
        .records("s")
        .iter()
        .filter_map(|record| Some(record["body"]["verification"]["surprises"].as_array()?.clone()))
        .flatten()
        .map(|surprise| surprise["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(surprises.iter().all(|path| path.ends_with("out.txt")), "{surprises:?}");
    let stores = environment.state().join("snapshots");
    let store = fs::read_dir(stores).unwrap().flatten().next().unwrap().path();
    let numbers = || -> Vec<u64> {
        let entries = fs::read_dir(store.join("names")).unwrap().flatten();
        entries
            .filter(|entry| entry.file_name() != "times")
            .map(|entry| entry.metadata().unwrap().ino())
            .collect()
    };
    let poem = fs::metadata(environment.project().join("poem.txt")).unwrap().ino();
    assert_eq!(numbers(), [poem]);
    assert_eq!(fs::metadata(store.join("names")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_name_outside_the_workspace_is_the_same_file_again() {
    for command in [
        "echo x > here.txt",
        "rm here.txt",
        "sed -i s/only/nowhere/ here.txt",
        "mv own.txt here.txt",
        "python3 -c 'import os; os.remove(input() if 0 else \"here.txt\")'",
    ] {
        let environment = project();
        let letter = environment.home().join("other/deep/letter.txt");
        let number = fs::metadata(&letter).unwrap().ino();
        perform(&environment, command);
        let said = environment.checkrein(&["undo", "--yes"]);
        let here = environment.project().join("here.txt");
        assert_eq!(fs::read_to_string(&letter).unwrap(), TEXT, "{command}: {said:?}");
        assert_eq!(fs::read_to_string(&here).unwrap(), TEXT, "{command}: {said:?}");
        assert_eq!(fs::metadata(&here).unwrap().ino(), number, "{command}: {said:?}");
    }
}

#[test]
fn what_was_written_by_a_name_that_the_same_call_made_is_taken_back() {
    for command in [
        "ln own.txt second.txt && echo x > second.txt",
        "cp -l own.txt second.txt && echo x > second.txt",
        "ln own.txt second.txt; ln second.txt third.txt; echo x > third.txt",
    ] {
        let environment = project();
        perform(&environment, command);
        let own = environment.project().join("own.txt");
        assert_ne!(fs::read_to_string(&own).unwrap(), TEXT, "{command}: changed nothing");
        let said = environment.checkrein(&["undo", "--yes"]);
        assert_eq!(fs::read_to_string(&own).unwrap(), TEXT, "{command}: {said:?}");
        assert!(!environment.project().join("second.txt").exists(), "{command}: {said:?}");
    }
}
