//! What a pipeline believes: records of what happened, and not what somebody wrote since. What the change says for itself reaches people.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod pipeline_support;
mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pipeline_support::{PATIENCE, Place, outcomes, reason, said, told};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

const STUB: &str = "def a(b):\n    raise NotImplementedError\n";
const GOOD: &str = "def a(b):\n    return b\n";

/// A pipeline that is cut off in `slow`, behind a gate.
fn slow(place: &Place, code: &str) -> String {
    format!(
        "name: p\nsteps:\n  - name: code\n    command: printf '{}' > a.py; echo written\n  - {{name: complete, gate: completeness}}\n  - {{name: slow, command: 'test -e {}/go || sleep 1000'}}\n  - {{name: end, command: echo end}}\n",
        code.replace('\n', "\\n"),
        place.home().display()
    )
}

/// All runs, as they are listed.
fn listed(place: &Place) -> Vec<Json> {
    let listed = place.output(&["--json", "pipeline", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Kills a pipeline once this step runs; the folder of the run.
fn cut_off(place: &Place, mut begun: Child, step: &str) -> PathBuf {
    let started = Instant::now();
    loop {
        let running = listed(place).into_iter().find(|run| {
            let steps = run["steps"].as_array().unwrap();
            steps.iter().any(|one| one["name"] == step && one["outcome"] == "running")
        });
        if let Some(run) = running {
            begun.kill().unwrap();
            begun.wait().unwrap();
            return PathBuf::from(run["lineage"].as_str().unwrap());
        }
        assert!(started.elapsed() < PATIENCE, "`{step}` does not begin");
        sleep(Duration::from_millis(20));
    }
}

fn go(place: &Place) {
    fs::write(place.home().join("go"), "").unwrap();
}

fn attempts(answer: &Json) -> Vec<u64> {
    answer["steps"].as_array().unwrap().iter().map(|step| step["attempts"].as_u64().unwrap()).collect()
}

#[test]
fn what_changed_while_a_run_was_cut_off_is_judged_again() {
    for (more, status, expected) in [
        (None, 0, [1, 1, 2, 1]),
        (Some("def b():\n    return 1 + 1\n"), 0, [1, 2, 2, 1]),
        (Some(STUB), 2, [1, 2, 1, 0]),
    ] {
        let place = Place::new();
        place.file(&slow(&place, GOOD));
        let begun = place.begin(&[]);
        cut_off(&place, begun, "slow");
        if let Some(text) = more {
            let tree = PathBuf::from(listed(&place)[0]["directory"].as_str().unwrap());
            fs::write(tree.join("a.py"), format!("{GOOD}\n\n{text}")).unwrap();
        }
        go(&place);
        let (code, answer) = place.resume(&[]);
        assert_eq!((code, attempts(&answer)), (status, expected.to_vec()), "{answer}");
    }
}

fn edit(path: &Path, edit: impl Fn(&mut Json)) {
    let mut state: Json = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    edit(&mut state);
    fs::write(path, serde_json::to_vec_pretty(&state).unwrap()).unwrap();
}

/// A step as if it had passed.
fn pass(state: &mut Json, place: usize) {
    let step = &mut state["steps"][place];
    step["outcome"] = json!("passed");
    step["attempts"] = json!([{ "began": 1, "ended": 2, "outcome": "passed", "summary": "it passed" }]);
}

#[test]
fn what_no_record_confirms_runs_again() {
    // The state says that steps passed that never ran.
    let place = Place::new();
    let file = slow(&place, STUB)
        .replace("  - {name: complete, gate: completeness}\n", "")
        .replace("  - {name: end", "  - {name: complete, gate: completeness}\n  - {name: end");
    place.file(&file);
    let begun = place.begin(&[]);
    let folder = cut_off(&place, begun, "slow");
    edit(&folder.join("state.json"), |state| {
        pass(state, 1);
        pass(state, 2);
    });
    go(&place);
    let (status, answer) = place.resume(&[]);
    assert_eq!((status, outcomes(&answer)[2].as_str()), (2, "complete failed"), "{answer}");
    // What a step left is not what it was.
    let place = Place::new();
    place.file(&slow(&place, GOOD));
    let begun = place.begin(&[]);
    let folder = cut_off(&place, begun, "slow");
    fs::write(folder.join("artifacts/001-code/1/output.txt"), "something else\n").unwrap();
    go(&place);
    let output = place.output(&["--json", "pipeline", "run", "--resume"]);
    assert!(said(&output).contains("code runs again: what is kept of it"), "{}", said(&output));
    let (status, answer) = told(&output);
    assert_eq!((status, attempts(&answer)), (0, vec![2, 2, 2, 1]), "{answer}");
    // What it was given is not what it was.
    let place = Place::new();
    place.file(&slow(&place, GOOD));
    let begun = place.begin(&[]);
    let folder = cut_off(&place, begun, "slow");
    edit(&folder.join("state.json"), |state| state["is_own"] = json!(true));
    let output = place.output(&["pipeline", "run", "--resume"]);
    assert!(said(&output).contains("is not what it began with"), "{}", said(&output));
}

#[test]
fn a_sealed_run_that_is_gone_or_written_anew_is_named() {
    let place = Place::new();
    place.file("name: p\nsteps:\n  - {name: a, command: echo a}\n");
    let runs: Vec<(String, PathBuf)> = ["one", "two"]
        .map(|task| place.run(&["--task", task]).1)
        .iter()
        .map(|answer| {
            let text = |name: &str| answer[name].as_str().unwrap().to_owned();
            (text("run"), PathBuf::from(text("lineage")))
        })
        .collect();
    let verify = || {
        let output = place.output(&["pipeline", "verify"]);
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(verify(), (true, "2 pipelines: intact\n".to_owned()));
    // Another output, with a seal that fits it.
    let (name, folder) = &runs[0];
    let output = folder.join("artifacts/001-a/1/output.txt");
    let seal = folder.join("seal.json");
    for path in [&output, &seal] {
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    let before = fs::read(&seal).unwrap();
    fs::write(&output, "b\n").unwrap();
    edit(&seal, |seal| {
        let hash = |bytes: &[u8]| data_encoding::HEXLOWER.encode(&Sha256::digest(bytes));
        let mut list = String::new();
        for file in seal["files"].as_array_mut().unwrap() {
            if file[0] == "artifacts/001-a/1/output.txt" {
                file[1] = json!(hash(b"b\n"));
            }
            let line = [file[1].as_str().unwrap(), "  ", file[0].as_str().unwrap(), "\n"];
            list.push_str(&line.concat());
        }
        seal["digest"] = json!(format!("sha256:{}", hash(list.as_bytes())));
    });
    let (is_intact, told) = verify();
    assert!(
        !is_intact && told.contains(&format!("{name}: `seal.json` is not the one that was recorded")),
        "{told}"
    );
    fs::write(&output, "a\n").unwrap();
    fs::write(&seal, before).unwrap();
    assert!(verify().0);
    let aside = place.home().join("aside");
    fs::rename(folder, &aside).unwrap();
    let (is_intact, told) = verify();
    assert!(!is_intact && told.contains(&format!("{name}: it is gone")), "{told}");
    fs::rename(&aside, folder).unwrap();
    // Without its record a run is not known to be what it was.
    let records = place.environment.state().join("pipelines.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let without: String = text.split_inclusive('\n').filter(|line| !line.contains("\"sealed\"")).collect();
    fs::write(&records, without).unwrap();
    let (is_intact, told) = verify();
    assert!(
        !is_intact && told.contains("no record says that it was sealed") && told.contains("(records):"),
        "{told}"
    );
    assert!(!place.output(&["audit", "verify"]).status.success());
}

#[test]
fn whoever_is_killed_at_the_very_beginning_goes_on_with_that_run() {
    let place = Place::new();
    // An older run of another task that is not done.
    place.file("name: older\nsteps:\n  - {name: a, command: 'echo older > older.txt; exit 3'}\n");
    assert_eq!(place.run(&[]).0, 2);
    // Git does not answer, so the worktree is never made.
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    let script =
        format!("#!/bin/sh\n[ -e \"$HOME/wait\" ] && exec sleep 1000\nexec {} \"$@\"\n", real.display());
    place.program("git", &script);
    fs::write(place.home().join("wait"), "").unwrap();
    place.file("name: p\nsteps:\n  - {name: b, command: 'echo b > b.txt'}\n");
    let mut begun = place.begin(&["--task", "new"]);
    let started = Instant::now();
    while !listed(&place).iter().any(|run| run["task"] == "new") {
        assert!(started.elapsed() < PATIENCE && begun.try_wait().unwrap().is_none(), "it is not known");
        sleep(Duration::from_millis(20));
    }
    begun.kill().unwrap();
    begun.wait().unwrap();
    fs::remove_file(place.home().join("wait")).unwrap();
    let output = place.output(&["pipeline", "run", "--resume"]);
    assert!(
        said(&output).contains("several pipelines of this workspace can go on")
            && said(&output).contains("(task `older`)")
            && said(&output).contains("(task `new`)"),
        "{}",
        said(&output)
    );
    let (status, answer) = place.resume(&["--task", "new"]);
    assert_eq!((status, outcomes(&answer)), (0, vec!["b passed".to_owned()]), "{answer}");
    // Now there is one.
    let (_, answer) = place.resume(&[]);
    assert_eq!(answer["task"], "older");
}

const ALLOWED: &str = "def a(b):\n    # checkrein: allow not_implemented: the sandbox has no printer yet\n    raise NotImplementedError\n";

#[test]
fn an_exemption_of_the_change_reaches_the_user_and_the_reviewer() {
    let place = Place::new();
    place.environment.write("a.py", ALLOWED);
    place.file(&format!(
        "name: p\nreviewers:\n  gemini:\n    command: [gemini, -m, \"${{model}}\"]\n    model: gemini-3-pro\nsteps:\n  - name: code\n    command: |\n      printf '{}' > b.py\n  - {{name: complete, gate: completeness}}\n  - {{name: review, review: changes}}\n  - {{name: ask, approve: 'Shall it go on?', time: 60s}}\n",
        ALLOWED.replace('\n', "\\n")
    ));
    let begun = place.begin(&[]);
    let question = place.question();
    let shown = place.output(&["approval", "show", &question]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("excuses itself from gates") && shown.contains("b.py:2 # checkrein: allow"),
        "{shown}"
    );
    assert!(place.output(&["approval", "allow", &question]).status.success());
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
    assert_eq!(
        reason(&answer, 1),
        "the gate completeness passed (1 warning, 1 allowed with a reason, 1 exemption with the change)"
    );
    let asked = place.read("question");
    let (before, data) = asked.split_once("\n<<<data review-").unwrap();
    assert!(before.contains("each of which needs a reason") && !before.contains("no printer"), "{asked}");
    assert!(data.contains("Exemptions:\nb.py:2 # checkrein: allow not_implemented: the sandbox"), "{asked}");
}

#[test]
fn a_step_of_tests_in_which_none_ran_has_not_passed() {
    let place = Place::new();
    let test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1 + 1, 2)\n";
    let step = |more: &str| format!("name: p\nworktree: none\nsteps:\n  - name: tests\n{more}");
    let unittest = step("    command: python3 -m unittest -q\n    runner: auto\n");
    for (task, file, text, status, expected) in [
        ("none", &unittest, None, 2, "there was no test"),
        ("one", &unittest, Some(test), 0, "it passed: 1 test"),
        (
            "printed",
            &step("    command: echo '===== 5 passed in 0.01s ====='\n    runner: pytest\n"),
            Some(test),
            4,
            "no program of the command runs tests",
        ),
        (
            "unseen",
            &step("    command: python3 -c 'import this'\n    runner: auto\n"),
            Some(test),
            2,
            "no test was seen to pass",
        ),
        ("plain", &step("    command: python3 -c 'import this'\n"), Some(test), 0, "it passed"),
    ] {
        if let Some(text) = text {
            place.environment.write("test_a.py", text);
        }
        place.file(file);
        let (code, answer) = place.run(&["--task", task]);
        assert_eq!(code, status, "{task}: {answer}");
        assert!(reason(&answer, 0).contains(expected), "{task}: {answer}");
    }
}

/// What stands between two lines of a page, the first of which begins so.
fn block<'p>(page: &'p str, first: &str) -> &'p str {
    let (_, rest) = page.split_once(first).unwrap_or_else(|| panic!("no page has `{first}`"));
    rest.split_once("\n```").unwrap().0
}

/// The files below a folder by their paths from it, in order.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_lineage_of_an_example_is_what_the_page_shows() {
    let page = fs::read_to_string(support::repository().join("docs/pipelines.md")).unwrap();
    let place = Place::new();
    place.environment.git(&["config", "user.name", "dev"]);
    place.environment.git(&["config", "user.email", "dev@localhost"]);
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    place.environment.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
    place.file(&format!("name: kept\n{}\n", block(&page, "```yaml\nname: kept\n")));
    let begun = place.begin(&[]);
    place.answer("allow");
    place.answer("allow");
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
    let kept = files(Path::new(answer["lineage"].as_str().unwrap()));
    let shown: Vec<&str> = block(&page, "```text\npipelines/done/")
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap_or_default())
        .collect();
    // `before-*/` stands for each folder whose name begins so.
    let stands_for = |one: &str, file: &str| match one.strip_suffix('/') {
        Some(folder) => file.starts_with(folder.trim_end_matches('*')),
        None => one == file,
    };
    let missing: Vec<&String> =
        kept.iter().filter(|file| !shown.iter().any(|one| stands_for(one, file))).collect();
    let gone: Vec<&&str> =
        shown.iter().filter(|one| !kept.iter().any(|file| stands_for(one, file))).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not shown: {missing:#?}\nnot there: {gone:#?}");
}
