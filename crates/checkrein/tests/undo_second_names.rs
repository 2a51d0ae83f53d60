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
                if ![".git", ".local", ".config"].map(Some).contains(&entry.file_name().to_str()) {
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
        ("truncate -s4 h.md; mv h.md z.md", None),
        ("rm h.md", None),
        ("chmod 640 h.md; rm h.md", Some("--force")),
        ("cp README.md h.md", None),
        ("seq 9 | tee h.md > /dev/null", None),
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

/// Takes back with what the words of the answer advise, and says both.
fn undo_as_advised(environment: &TestEnvironment) -> (Output, Output) {
    let first = environment.checkrein(&["undo", "--yes"]);
    let words = said(&first);
    let advice = words.split('`').find(|one| one.starts_with("checkrein undo ") && one.contains("--force"));
    let advice: Vec<&str> = advice.unwrap_or_else(|| panic!("{words}")).split(' ').skip(1).collect();
    let second = environment.checkrein(&[&advice[..], &["--yes"]].concat());
    (first, second)
}

/// What is left is left with status 1, and the advice that says how it comes back is followed after that first undo.
#[test]
fn what_stays_under_other_names_is_a_failure_and_comes_back_by_force_afterwards() {
    for destroyer in [
        "echo > h.md && rm h.md",
        "dd if=/dev/zero of=h.md bs=1 count=9 conv=notrunc status=none; rm h.md",
        "cat README.md > h.md; rm h.md",
        "python3 -c 'exec(open(\"deed.py\").read())'",
    ] {
        for link in [LINKS[0], LINKS[2]] {
            let environment = with_files();
            environment.write("deed.py", "import os\nopen('h.md', 'w').write('x')\nos.remove('h.md')\n");
            run(&environment, link);
            let before = picture(&environment);
            perform_call(&environment, "call", destroyer, End::NotTold);
            let (first, second) = undo_as_advised(&environment);
            assert_eq!(first.status.code(), Some(1), "{link} | {destroyer}: {}", said(&first));
            assert!(said(&first).contains("h.md: its other names stay as they are"), "{}", said(&first));
            assert!(second.status.success(), "{link} | {destroyer}: {}", said(&second));
            assert_eq!(picture(&environment), before, "{link} | {destroyer}: {}", said(&second));
        }
    }
}

/// Going back to a snapshot makes files of their own, which an undo by force makes one file with the others.
#[test]
fn what_a_restore_left_under_other_names_comes_back_by_force() {
    let environment = with_files();
    run(&environment, LINKS[0]);
    let before = picture(&environment);
    perform_call(&environment, "call", "echo x > h.md; rm h.md", End::NotTold);
    drop(environment.checkrein(&["snapshot", "restore", "1", "--yes"]));
    assert_ne!(picture(&environment), before);
    let output = environment.checkrein(&["undo", "call", "--force", "--yes"]);
    assert_eq!(picture(&environment), before, "{}", said(&output));
    assert!(output.status.success(), "{}", said(&output));
}

/// What the action wrote to, and somebody since under another name, is two files by now; both have what they should.
#[test]
fn what_somebody_wrote_between_two_calls_splits_a_file_and_leaves_no_name_behind() {
    for calls in [
        &["echo new > a", "rm a b"][..],
        &["echo new > a", "rm a", "rm b"],
        &["echo new > a", "rm b"],
        &["sed -i s/one/two/ a", "rm b"],
    ] {
        let environment = TestEnvironment::new();
        run(&environment, "mkdir ../out; echo one > a; ln a b; ln a ../out/x");
        for (number, call) in calls.iter().enumerate() {
            perform_call(&environment, &format!("call {number}"), call, End::Told);
        }
        thread::sleep(std::time::Duration::from_millis(40));
        run(&environment, "echo mine >> ../out/x");
        let answers: Vec<Output> = calls.iter().map(|_| environment.checkrein(&["undo", "--yes"])).collect();
        let told: Vec<String> = answers.iter().map(said).collect();
        let read = |name: &str| fs::read_to_string(environment.project().join(name)).unwrap();
        let wrote_through = calls[0].contains('>');
        assert!(read("../out/x").ends_with("mine\n"), "{calls:?}: {told:?}");
        let is_done = answers.iter().all(|answer| answer.status.success());
        assert_ne!(is_done, wrote_through, "the text of `x` is lost where it was written to: {told:?}");
        if told.iter().any(|told| told.contains("keep     a  changed since")) {
            let output = environment.checkrein(&["undo", "call 0", "--force", "--yes"]);
            assert!(output.status.success(), "{calls:?}: {}", said(&output));
        }
        assert_eq!([read("a"), read("b")], ["one\n", "one\n"], "{calls:?}: {told:?}");
    }
}

/// A file that somebody closes must not be open again by itself.
#[test]
fn what_somebody_closed_since_stays_closed() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (destroyer, closer, end) in [
        ("rm h.md", "chmod 600 ~/papers/thesis.txt", End::NotTold),
        ("rm h.md", "chmod 600 ~/papers/thesis.txt", End::Told),
        (": > h.md; rm h.md", "chmod 600 ~/papers/thesis.txt", End::NotTold),
        (": > h.md", "chmod 600 ~/papers/thesis.txt", End::NotTold),
        ("python3 -c 'open(\"h.md\", \"w\")'", "chmod 600 h.md", End::NotTold),
    ] {
        let environment = with_files();
        run(&environment, LINKS[0]);
        perform_call(&environment, "call", destroyer, end);
        thread::sleep(std::time::Duration::from_millis(40));
        run(&environment, closer);
        let output = environment.checkrein(&["undo", "--yes"]);
        let thesis = environment.home().join("papers/thesis.txt");
        assert_eq!(mode(&thesis), 0o600, "{destroyer}, {end:?}: {}", said(&output));
        assert_eq!(output.status.success(), end == End::Told, "{destroyer}, {end:?}: {}", said(&output));
        if end == End::NotTold {
            let output = environment.checkrein(&["undo", "call", "--force", "--yes"]);
            assert!(output.status.success(), "{destroyer}: {}", said(&output));
            assert_eq!(mode(&thesis), 0o644, "{destroyer}: {}", said(&output));
        }
    }
    // A directory too.
    for end in [End::Told, End::NotTold] {
        let environment = with_files();
        environment.write("letters/one.txt", TEXT);
        perform_call(&environment, "call", "rm -rf letters/*", end);
        thread::sleep(std::time::Duration::from_millis(40));
        run(&environment, "chmod 700 letters");
        let output = environment.checkrein(&["undo", "--yes"]);
        let letters = environment.project().join("letters");
        assert_eq!(fs::read_to_string(letters.join("one.txt")).unwrap(), TEXT, "{}", said(&output));
        assert_eq!(mode(&letters), 0o700, "{end:?}: {}", said(&output));
    }
}

/// Puts the store on another file system, where files get no name in it; `None` where there is none.
fn store_elsewhere(environment: &TestEnvironment) -> Option<tempfile::TempDir> {
    let device = |path: &Path| fs::metadata(path).ok().map(|facts| facts.dev());
    let other = Path::new("/dev/shm");
    if device(other).is_none() || device(other) == device(&environment.home()) {
        checkrein_testkit::not_run("there is no other file system at /dev/shm");
        return None;
    }
    let state = tempfile::tempdir_in(other).unwrap();
    fs::create_dir_all(environment.home().join(".local")).unwrap();
    std::os::unix::fs::symlink(state.path(), environment.home().join(".local/state")).unwrap();
    Some(state)
}

/// Without a name in the store, other names are looked for; those that are not found are counted, and that is a failure.
#[test]
fn other_names_that_are_not_found_are_told() {
    let environment = with_files();
    let Some(_state) = store_elsewhere(&environment) else { return };
    let far = tempfile::tempdir_in("/tmp").unwrap();
    let near = environment.home().join("papers/thesis.txt");
    fs::hard_link(&near, environment.project().join("h.md")).unwrap();
    let poem = environment.project().join("poem.txt");
    fs::hard_link(&poem, far.path().join("poem.txt")).unwrap();
    let before = picture(&environment);
    perform_call(&environment, "first", "echo x > h.md; rm h.md", End::Told);
    let output = environment.checkrein(&["undo", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(picture(&environment), before, "{}", said(&output));
    perform_call(&environment, "second", "echo x > poem.txt; rm poem.txt", End::Told);
    let output = environment.checkrein(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(&poem).unwrap(), "the poem, and the end of it\n");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("poem.txt: it had one more name, which was not found"),
        "{}",
        said(&output)
    );
    // Still so.
    let output = environment.checkrein(&["undo", "second", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

/// Ways to make another file of one of two names, or of both, with what it held or with something else.
const REPLACED: [&str; 32] = [
    "cp -a h1 h1.new && mv h1.new h1",
    "cp -a h1 h1.new && echo more >> h1.new && mv h1.new h1",
    "cp -p h1 t; mv -f t h1; cp -p h2 t; mv -f t h2",
    "cat h1 > t; rm h1; mv t h1",
    "awk 1 h1 > t && mv t h1",
    "sed -i s/one/1/ h1",
    "sed -i s/one/1/ h1 h2",
    "sed -i.bak s/one/1/ h1",
    "sed -i s/one/1/ h1 && sed -i s/two/2/ h2",
    "perl -pi -e s/one/1/ h1",
    "ln -f s h1",
    "ln -f s h1; ln -f s h2",
    "ln -sf s h1",
    "rm h1; ln s h1",
    "cp --remove-destination s h1",
    "cp --remove-destination s h1; cp --remove-destination s h2",
    "install s h1",
    "mv s h1",
    "python3 -c \"import os; open('t', 'w').write('q'); os.replace('t', 'h1')\"",
    "rm h1",
    "rm h1 h2",
    "unlink h1",
    "shred -u h1",
    "rm h1; echo new > h1",
    "echo new > h1",
    "echo new >> h1; rm h2",
    "mv h1 h3",
    "mv h1 h3; mv h2 h4",
    "mv h1 h1~ && cp h1~ h1 && echo edited >> h1",
    "mv h1 h1~ && echo edited > h1",
    "truncate -s0 h1; sed -i s/two/2/ h2",
    "cp h2 t && mv -f t h2 && echo z >> h1",
];

#[test]
fn a_name_that_became_another_file_is_a_link_again() {
    for command in REPLACED {
        for end in [End::Told, End::NotTold] {
            let environment = TestEnvironment::new();
            environment.write("h1", "one\ntwo\n");
            fs::hard_link(environment.project().join("h1"), environment.project().join("h2")).unwrap();
            environment.write("s", "other\n");
            let before = picture(&environment);
            perform_call(&environment, "call", command, end);
            assert!(picture(&environment) != before, "{command}: changed nothing");
            let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
            assert!(picture(&environment) == before, "{command}, {end:?}: {}", said(&output));
        }
    }
}

/// Whoever made another file of a name since keeps it.
#[test]
fn a_name_that_became_another_file_later_stays_one() {
    let environment = TestEnvironment::new();
    environment.write("h1", "one\ntwo\n");
    fs::hard_link(environment.project().join("h1"), environment.project().join("h2")).unwrap();
    perform(&environment, "sed -i s/one/1/ h1 && rm h1 && ln h2 h1");
    run(&environment, "cp -p h1 t && mv -f t h1");
    let before = picture(&environment);
    environment.checkrein(&["undo", "--yes"]);
    assert!(picture(&environment) == before);
}
