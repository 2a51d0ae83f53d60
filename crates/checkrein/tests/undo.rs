//! What an action destroys comes back, exactly: each command goes through the hook, runs, and is taken back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// Everything that counts of a file: sort, mode, time, content.
type Picture = BTreeMap<PathBuf, (u32, Option<(i64, i64)>, Vec<u8>)>;

/// A project with work in every state: committed, changed, untracked, ignored, linked, stashed, on a branch of its own.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(".gitignore", "*.log\nbuild/\n");
    environment.write("src/lib.rs", "pub fn one() {}\n");
    environment.git(&["add", "-A"]);
    environment.commit("second");
    environment.git(&["checkout", "-q", "-b", "topic"]);
    environment.write("src/topic.rs", "pub fn topic() {}\n");
    environment.git(&["add", "-A"]);
    environment.commit("only on topic");
    environment.git(&["checkout", "-q", "main"]);
    environment.write("src/lib.rs", "pub fn stashed() {}\n");
    environment.git(&["-c", "user.name=dev", "-c", "user.email=dev@localhost", "stash", "-q"]);
    environment.write("src/lib.rs", "pub fn changed() {}\n");
    environment.write("notes/plan.md", "only here\n");
    environment.write("notes/deep/er/more.md", "only here too\n");
    environment.write("debug.log", "ignored, but ours\n");
    environment.write("build/out.bin", "made again\n");
    environment.write(
        "build/rename.py",
        "import os, sys\nplace, end = sys.argv[1:]\nfor name in os.listdir(place):\n    if name.endswith('.md'):\n        os.rename(os.path.join(place, name), os.path.join(place, name[:-3] + end))\n",
    );
    environment.git(&["remote", "add", "origin", "https://example.org/project.git"]);
    environment.git(&["config", "core.checkrein", "here"]);
    let packed = environment.command("tar").args(["-cf", "build/out.tar", "README.md"]).status().unwrap();
    assert!(packed.success());
    let at = |name: &str| environment.project().join(name);
    fs::create_dir(at("notes/empty")).unwrap();
    fs::set_permissions(at("notes/plan.md"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("plan.md", at("notes/link")).unwrap();
    fs::hard_link(at("notes/plan.md"), at("notes/twin.md")).unwrap();
    environment
}

fn picture(environment: &TestEnvironment) -> (Picture, String) {
    let mut found = Picture::new();
    let mut waiting = vec![environment.project()];
    while let Some(path) = waiting.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let (time, content) = if facts.is_dir() {
            waiting.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|child| child.unwrap().path())
                    .filter(|child| !child.ends_with(".git")),
            );
            (None, Vec::new())
        } else if facts.is_symlink() {
            (None, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else {
            (Some((facts.mtime(), facts.mtime_nsec())), fs::read(&path).unwrap())
        };
        found.insert(path, (facts.mode(), time, content));
    }
    let git = |arguments: &[&str]| {
        let output = environment.command("git").args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let work = [
        git(&["status", "--porcelain"]),
        git(&["for-each-ref"]),
        git(&["stash", "list"]),
        git(&["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]),
        git(&["diff", "--cached"]),
        git(&["config", "--local", "--list"]),
    ];
    (found, work.join("--\n"))
}

/// Lets a command through the hook and runs it; what the hook answered before.
fn perform(environment: &TestEnvironment, id: &str, command: &str) -> Json {
    let call = |event: &str, more: Json| {
        environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    let command = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap_or(command);
    environment
        .command("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    answer
}

const DESTRUCTIVE: &[&str] = &[
    "rm -rf notes",
    "rm notes/plan.md",
    "rm -f notes/link debug.log",
    "rm -rf notes src build",
    "rm notes/*.md",
    "rmdir notes/empty",
    "find notes -name '*.md' -delete",
    "mv notes moved",
    "mv notes/plan.md README.md",
    "cp README.md notes/plan.md",
    "echo x > notes/plan.md",
    "> notes/plan.md",
    ": > debug.log",
    "echo more >> notes/deep/er/more.md",
    "printf x | tee notes/deep/er/more.md",
    "sed -i s/only/never/ notes/deep/er/more.md",
    "perl -pi -e 's/only/never/' notes/deep/er/more.md",
    "truncate -s 0 notes/deep/er/more.md",
    "dd if=/dev/zero of=debug.log bs=1 count=4",
    "ln -sf ../README.md notes/link",
    "chmod -R 700 notes",
    "python3 -c \"open('debug.log', 'w').write('x')\"",
    "python3 -c \"import shutil; shutil.rmtree('notes')\"",
    "for f in notes/*.md; do rm \"$f\"; done",
    "cd notes && rm -rf deep plan.md",
    "git reset --hard",
    "git checkout -- .",
    "git restore src/lib.rs",
    "git clean -fdx",
    "git stash drop",
    "git stash clear",
    "git branch -D topic",
    "git reset --hard topic",
    "git checkout -f topic",
    "git switch -q topic",
    "git merge -q topic",
    "git update-ref -d refs/heads/topic",
    "git branch -m main trunk",
    "git remote remove origin",
    "git config --unset core.checkrein",
    "git add notes && git rm -rqf notes src/lib.rs",
    "git mv README.md notes/READ.md",
    "git add src/lib.rs && git rm -q --cached src/lib.rs",
    "git checkout -q topic -- src",
    "git stash -q --all",
    "cd .. && git -C project checkout -q -- .",
    "tar -xf build/out.tar",
    "python3 build/rename.py notes .txt",
    "python3 -c \"import glob, os; [os.remove(name) for name in glob.glob('**/*.log', recursive=True)]\"",
    "cat > notes/make.sh <<'EOF'\nrm -rf build src\nEOF\nchmod +x notes/make.sh && notes/make.sh",
    "mv missing.txt moved.md || mv notes/plan.md moved.md",
    "cp notes/plan.md \"notes/plan.$(date +%s)\" && : > notes/plan.md",
];

/// What needs the index as it is: it says what is staged for the next commit.
#[test]
fn what_was_staged_is_staged_again() {
    for command in ["git reset -q", "git restore --staged src/lib.rs", "git rm -qf --cached src/lib.rs"] {
        let environment = project();
        environment.git(&["add", "src/lib.rs"]);
        environment.write("src/lib.rs", "pub fn newer() {}\n");
        let before = picture(&environment);
        perform(&environment, "call", command);
        assert!(picture(&environment) != before, "{command} does nothing");
        environment.succeed(&["undo", "--yes"]);
        assert!(picture(&environment) == before, "{command} is taken back");
    }
}

/// What an archive holds is not known where it comes through a pipe: the settings of the repository are saved like any file of the workspace.
#[test]
fn settings_that_an_archive_replaced_come_back() {
    let environment = project();
    let settings = environment.project().join(".git/config");
    let before = fs::read(&settings).unwrap();
    environment.write("build/other/.git/config", "[core]\n\tfsmonitor = ./run\n");
    let packed = environment
        .command("tar")
        .args(["-cf", "build/other.tar", "-C", "build/other", ".git"])
        .status()
        .unwrap();
    assert!(packed.success());
    let answer = perform(&environment, "call", "gzip -c build/other.tar | cat | gunzip | tar -xf -");
    assert_ne!(decision(&answer), Some("ask"), "{answer}");
    assert_ne!(fs::read(&settings).unwrap(), before, "nothing was unpacked");
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read(&settings).unwrap(), before);
}

#[test]
fn every_destructive_command_is_taken_back_exactly() {
    let mut exceptions = Vec::new();
    for command in DESTRUCTIVE {
        let environment = project();
        let before = picture(&environment);
        perform(&environment, "call", command);
        let after = picture(&environment);
        if after == before {
            exceptions.push(format!("{command}: destroyed nothing"));
            continue;
        }
        let output = environment.checkrein(&["undo", "--yes"]);
        let restored = picture(&environment);
        if restored != before {
            let differs: Vec<&PathBuf> = before
                .0
                .iter()
                .filter(|(path, one)| restored.0.get(*path) != Some(one))
                .map(|(path, _)| path)
                .chain(restored.0.keys().filter(|path| !before.0.contains_key(*path)))
                .collect();
            exceptions.push(format!(
                "{command}: {differs:?}\n{}\n{}\n{}{}",
                before.1,
                restored.1,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    assert!(
        exceptions.is_empty(),
        "{} of {}:\n{}",
        exceptions.len(),
        DESTRUCTIVE.len(),
        exceptions.join("\n")
    );
}

/// Every directory of a deep tree lies below many others, and each of these may say what is ignored.
#[test]
fn a_deep_tree_is_no_trouble() {
    let environment = TestEnvironment::new();
    let deep = format!("{}leaf.txt", "deep/".repeat(600));
    environment.write(&deep, "down here\n");
    let answer = perform(&environment, "call", "rm -rf deep");
    assert_eq!(decision(&answer), None, "{answer}");
    assert!(!environment.project().join("deep").exists());
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(environment.project().join(deep)).unwrap(), "down here\n");
}

/// Ways to destroy; `A` and `B` stand for names in the tree.
const WAYS: &[&str] = &[
    "rm -rf A",
    "rm -rf A B",
    "mv A B",
    "mv A 'new name'",
    "cp -r A B",
    "find A -type f -delete",
    "for file in A/*; do : > \"$file\"; done",
    "echo x > A",
    "echo x >> A",
    "truncate -s 1 A",
    "chmod -R 711 A",
    "ln -sfn B A",
    "sed -i s/o/0/ A",
    "rmdir A",
    "tar -cf A B",
    "install -m 600 A B",
    "python3 -c 'import shutil; shutil.rmtree(\"A\")'",
    "git add -A && git reset -q --hard",
    "git clean -fdxq",
    "git checkout -q -- .",
    "git stash -qu",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a row of commands does to whatever tree: taking back each, the last one first, brings everything back.
    #[test]
    fn any_row_of_destructions_is_taken_back(
        files in proptest::collection::vec((0..NAMES.len(), 0..NAMES.len(), "[a-o \n]{0,40}", 0..3_u32), 1..12),
        row in proptest::collection::vec((0..WAYS.len(), 0..NAMES.len(), 0..NAMES.len()), 1..5),
    ) {
        let environment = TestEnvironment::new();
        for (directory, name, content, mode) in &files {
            let name = format!("{}/{}/{}", NAMES[*directory], NAMES[(directory + name) % NAMES.len()], NAMES[*name]);
            environment.write(&name, content);
            let mode = [0o644, 0o600, 0o755][*mode as usize];
            fs::set_permissions(environment.project().join(&name), fs::Permissions::from_mode(mode)).unwrap();
        }
        environment.git(&["config", "user.name", "dev"]);
        environment.git(&["config", "user.email", "dev@localhost"]);
        let before = picture(&environment);
        let mut commands = Vec::new();
        for (number, (way, first, second)) in row.iter().enumerate() {
            let quoted = |name: usize| format!("'{}'", NAMES[name]);
            // Both letters are replaced at once: a name may hold the other.
            let command: String = WAYS[*way]
                .split(' ')
                .map(|word| match word {
                    "A" => quoted(*first),
                    "B" => quoted(*second),
                    "A/*;" => format!("{}/*;", quoted(*first)),
                    word => word.replace("\"A\"", &format!("\"{}\"", NAMES[*first])),
                })
                .collect::<Vec<_>>()
                .join(" ");
            if !is_refused(&environment, &command) {
                perform(&environment, &format!("call{number}"), &command);
                commands.push(command);
            }
        }
        let lost = |after: &Picture| -> Vec<PathBuf> {
            before.0.iter().filter(|(path, one)| after.get(*path) != Some(one)).map(|(path, _)| path.clone()).collect()
        };
        let mut after = picture(&environment);
        for _ in &commands {
            // What an earlier command destroyed may lie under what a later one made.
            if !lost(&after.0).is_empty() || after.1 != before.1 {
                environment.checkrein(&["undo", "--yes", "--force"]);
                after = picture(&environment);
            }
        }
        prop_assert!(lost(&after.0).is_empty(), "{commands:?}: {:?}", lost(&after.0));
        // What was only made destroyed nothing, and stays.
        let tracked = |work: &str| work.lines().filter(|line| !line.starts_with("??")).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(tracked(&before.1), tracked(&after.1), "{:?}", commands);
    }
}

/// Names of files and directories.
const NAMES: [&str; 6] = ["notes", "src", "a b", "$dollar", "café", "x.log"];

fn is_refused(environment: &TestEnvironment, command: &str) -> bool {
    environment.checkrein(&["check", command]).status.code() == Some(2)
}

#[test]
fn commits_come_back_even_when_git_has_cleared_them_away() {
    let environment = project();
    let before = picture(&environment).1;
    perform(&environment, "call", "git branch -D topic");
    environment.git(&["reflog", "expire", "--expire=now", "--all"]);
    environment.git(&["gc", "-q", "--prune=now"]);
    environment.succeed(&["undo", "--yes", "--force"]);
    assert_eq!(picture(&environment).1, before);
    environment.git(&["show", "--stat", "topic"]);
    environment.git(&["fsck", "--no-dangling"]);
}

#[test]
fn an_undo_can_be_undone_and_the_one_before_follows() {
    let environment = project();
    let read = || fs::read_to_string(environment.project().join("notes/deep/er/more.md")).unwrap();
    perform(&environment, "first", "echo one > notes/deep/er/more.md");
    perform(&environment, "second", "echo two > notes/deep/er/more.md");
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(read(), "one\n");
    let told: Json = serde_json::from_str(&environment.succeed(&["undo", "--yes", "--json"])).unwrap();
    assert_eq!(read(), "only here too\n");
    environment.succeed(&["rollback", &told["saved_as"].to_string(), "--yes"]);
    assert_eq!(read(), "one\n");
    environment.succeed(&["undo", "first", "--yes"]);
    assert_eq!(read(), "only here too\n");
}

#[test]
fn work_done_since_is_not_overwritten_without_being_told_to() {
    let environment = project();
    let file = environment.project().join("notes/deep/er/more.md");
    perform(&environment, "call", "echo theirs > notes/deep/er/more.md; rm debug.log");
    std::thread::sleep(Duration::from_millis(60));
    fs::write(&file, "mine\n").unwrap();
    let output = environment.checkrein(&["undo", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "something is left");
    assert!(String::from_utf8_lossy(&output.stdout).contains("changed since"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    assert!(environment.project().join("debug.log").exists(), "the rest is put back");
    environment.succeed(&["undo", "call", "--yes", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "only here too\n");
}

#[test]
fn data_in_a_database_of_one_file_is_saved_with_the_file() {
    let environment = project();
    environment.write("app.db", "a database with users");
    environment.write("app.db-wal", "what came last");
    for statement in ["DROP TABLE users", "DELETE FROM users"] {
        let answer = environment.bash("s", &format!("sqlite3 app.db '{statement}'"));
        assert_eq!(decision(&answer), None, "{answer}");
    }
    fs::write(environment.project().join("app.db"), "emptied").unwrap();
    fs::remove_file(environment.project().join("app.db-wal")).unwrap();
    // As long as nobody knows when the statement ended, what stands there may be somebody's, and one file without the other is nothing.
    assert_eq!(environment.checkrein(&["undo", "--yes"]).status.code(), Some(1));
    assert!(!environment.project().join("app.db-wal").exists());
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    let ended = shell_call("call", "sqlite3 app.db 'DELETE FROM users'", told);
    environment.answer_to(&environment.payload("s", "PostToolUse", ended));
    environment.succeed(&["undo", "--yes"]);
    let text = |name: &str| fs::read_to_string(environment.project().join(name)).unwrap();
    assert_eq!(
        (text("app.db").as_str(), text("app.db-wal").as_str()),
        ("a database with users", "what came last")
    );
    // A server keeps its data in no file of ours.
    assert_eq!(decision(&environment.bash("s", "psql -c 'DROP TABLE users'")), Some("ask"));
    assert_eq!(
        decision(&environment.bash("s", "psql -h db.example.com -c 'DROP TABLE users'")),
        Some("deny")
    );
}

#[test]
fn without_a_yes_nothing_is_done() {
    let environment = project();
    perform(&environment, "call", "rm debug.log");
    assert_eq!(environment.checkrein(&["undo"]).status.code(), Some(1));
    environment.succeed(&["undo", "--dry-run"]);
    assert!(!environment.project().join("debug.log").exists());
}

#[test]
fn what_is_too_much_to_be_saved_is_asked_about() {
    let environment = project();
    environment.configure("config.yaml", "snapshots:\n  max_files: 2\n");
    let answer = environment.bash("s", "rm -rf notes");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    assert!(support::reason(&answer).contains("snapshots.max_files"), "{answer}");
    // Temporary files are nothing that a user wants to be asked about.
    let scratch = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        fs::write(scratch.path().join(name), name).unwrap();
    }
    let answer = environment.bash("s", &format!("rm -rf {}", scratch.path().display()));
    assert_eq!(decision(&answer), None, "{answer}");
    // A file alone is within the bounds.
    assert_eq!(decision(&environment.bash("s", "rm notes/plan.md")), None);
}

#[test]
fn a_disabled_store_leaves_every_verdict_as_it_is() {
    let environment = project();
    environment.configure("config.yaml", "snapshots:\n  enabled: false\n");
    assert_eq!(decision(&environment.bash("s", "rm -rf notes")), Some("ask"));
    assert_eq!(environment.checkrein(&["check", "rm -rf notes"]).status.code(), Some(3));
    assert!(!environment.state().join("snapshots").exists());
}

#[test]
fn only_what_can_be_taken_back_is_approved_and_only_when_a_person_wants_that() {
    let environment = project();
    assert_eq!(decision(&environment.bash("before", "rm notes/plan.md")), None);
    environment.configure("config.yaml", "snapshots:\n  approve: recoverable\n");
    environment.succeed(&["trust", "--yes"]);
    for command in ["rm notes/plan.md", "rm -rf notes", "echo x > notes/plan.md", "git checkout -- src"] {
        assert_eq!(decision(&environment.bash("s", command)), Some("allow"), "{command}");
    }
    for command in
        ["ls", "rm -rf build", "cargo test", "curl https://example.com", "frobnicate", "npm install left-pad"]
    {
        assert_ne!(decision(&environment.bash("s", command)), Some("allow"), "{command}");
    }
    assert_eq!(decision(&environment.bash("s", "rm -rf ~")), Some("deny"));
}

#[test]
fn the_ledger_says_what_was_saved_and_what_was_taken_back() {
    let environment = project();
    perform(&environment, "call", "rm -rf notes");
    environment.succeed(&["undo", "--yes"]);
    let records = environment.records("s");
    let review = records.iter().find(|record| record["body"]["type"] == "review").unwrap();
    assert_eq!(review["body"]["snapshot"]["id"], 1);
    let restored = records.iter().find(|record| record["body"]["name"] == "checkrein.restored").unwrap();
    assert_eq!(restored["body"]["fields"]["action"], "call");
    assert!(environment.succeed(&["audit", "verify"]).contains("intact"));
}

#[test]
fn a_session_begins_with_a_snapshot_of_the_workspace() {
    let environment = project();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    // Nothing can be told of this program beforehand.
    environment.write("mystery.sh", "rm -rf notes; echo x > README.md\n");
    fs::remove_dir_all(environment.project().join("notes")).unwrap();
    fs::write(environment.project().join("README.md"), "x\n").unwrap();
    environment.succeed(&["rollback", "1", "--yes"]);
    assert_eq!(fs::read_to_string(environment.project().join("notes/plan.md")).unwrap(), "only here\n");
    assert_eq!(fs::read_to_string(environment.project().join("README.md")).unwrap(), "# project\n");
    assert!(environment.project().join("mystery.sh").exists(), "what is new stays");
    environment.succeed(&["rollback", "1", "--yes", "--remove-new"]);
    assert!(!environment.project().join("mystery.sh").exists());
    assert!(environment.project().join("debug.log").exists(), "what is ignored is none of its business");
}

/// A restore that cannot write leaves everything as it was. The limit stands for a full disk: both end in an error of `write`.
#[test]
fn a_restore_that_runs_out_of_space_leaves_nothing_half_written() {
    let environment = project();
    environment.write("big.txt", &"0123456789abcdef\n".repeat(20_000));
    perform(&environment, "call", "rm -f big.txt notes/plan.md");
    let program = env!("CARGO_BIN_EXE_checkrein");
    let output = environment
        .command("sh")
        .args(["-c", &format!("trap '' XFSZ; ulimit -f 64; exec {program} undo --yes")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!environment.project().join("notes/plan.md").exists(), "nothing is done by halves");
    let left: Vec<String> =
        names(&environment.project()).into_iter().filter(|name| name.contains("checkrein-restore")).collect();
    assert_eq!(left, Vec::<String>::new());
    environment.succeed(&["undo", "--yes"]);
    assert!(environment.project().join("big.txt").exists());
}

fn names(directory: &Path) -> Vec<String> {
    fs::read_dir(directory).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect()
}

/// Killed at any moment, a snapshot or a restore leaves every earlier snapshot whole, and the restore can be finished.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let environment = project();
    for number in 0..300 {
        environment.write(&format!("many/{number}.txt"), &format!("{number}\n").repeat(200));
    }
    environment.succeed(&["snapshot", "create"]);
    let before = picture(&environment).0;
    for round in 0..40_u64 {
        let arguments: &[&str] = if round % 2 == 0 {
            environment.write("many/7.txt", &format!("{round}\n").repeat(50_000));
            &["snapshot", "create"]
        } else {
            fs::remove_dir_all(environment.project().join("many")).unwrap();
            &["rollback", "1", "--yes", "--remove-new"]
        };
        let mut child = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(round * round * 40));
        drop(child.kill());
        child.wait().unwrap();
        assert!(environment.succeed(&["snapshot", "verify"]).contains(" intact"), "round {round}");
        if round % 2 == 1 {
            environment.succeed(&["rollback", "1", "--yes", "--remove-new"]);
            assert_eq!(picture(&environment).0, before, "round {round}");
        }
    }
}
