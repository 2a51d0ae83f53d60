//! `checkrein uninstall --purge`: all that Checkrein kept is gone, and nothing else: no work of the user, and nothing that it does not know.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::PathBuf;
use std::process::Output;

use checkrein_testkit::not_run;
use serde_json::json;
use support::TestEnvironment;

/// A guarded project with one session, in which something was saved.
fn used() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "one\n");
    environment.succeed(&["init", "--yes"]);
    environment.bash("s", "rm notes.txt");
    let refused = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["credential", "get", "model"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(!refused.status.success() && environment.state().join("authentications.jsonl").exists());
    assert!(
        environment.state().join("sessions/s").exists() && environment.state().join("snapshots").exists()
    );
    environment
}

/// What a purge says when it refuses; it has to.
fn refused(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "it was done: {said}");
    said
}

#[test]
fn a_purge_does_not_say_that_the_records_stay() {
    let environment = used();
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("removed the hooks: ") && !said.contains("the records stay"), "{said}");
    assert!(!environment.state().join("sessions").exists());
    let environment = used();
    let said = environment.succeed(&["uninstall", "--yes"]);
    let (_, rest) = said.split_once("stay in ~/.local/state/checkrein (").expect(&said);
    let (size, rest) = rest.split_once(')').expect(&said);
    assert!(size.starts_with(|digit: char| ('1'..='9').contains(&digit)) && size.ends_with('B'), "{said}");
    assert!(rest.starts_with("; `checkrein uninstall --purge` deletes them"), "{said}");
    let shown = environment.succeed(&["uninstall", "--yes", "--json"]);
    assert!(!shown.contains("stay in"), "{shown}");
}

fn outside(environment: &TestEnvironment) -> PathBuf {
    environment.home().join(".local/share/checkrein")
}

#[test]
fn the_work_of_a_run_that_nobody_merged_is_never_deleted() {
    let environment = used();
    let agent = ["--", "bash", "-c", "echo precious > work.txt; echo more >> README.md"];
    environment.succeed(&[&["run", "--worktree", "task"], &agent[..]].concat());
    let listed = environment.succeed(&["--json", "worktree", "list"]);
    let listed: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let work = PathBuf::from(listed["path"].as_str().unwrap()).join("work.txt");
    assert_eq!(fs::read_to_string(&work).unwrap(), "precious\n");
    for arguments in [["uninstall", "--purge", "--yes"], ["uninstall", "--purge", "--dry-run"]] {
        let said = refused(&environment.checkrein(&arguments));
        for wanted in ["`task`", "checkrein worktree merge task", "checkrein worktree discard task"] {
            assert!(said.contains(wanted), "{said}");
        }
    }
    assert_eq!(fs::read_to_string(&work).unwrap(), "precious\n");
    assert!(environment.state().join("sessions/s").exists());
    let settings = environment.project().join(".claude/settings.local.json");
    assert!(fs::read_to_string(settings).unwrap().contains("checkrein-hook"), "the guard stands as before");

    environment.succeed(&["worktree", "discard", "task", "--yes"]);
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists() && !outside(&environment).exists());
}

#[test]
fn a_worktree_of_which_nothing_is_known_stays_and_is_named() {
    let environment = used();
    let work = outside(&environment).join("worktrees/other-0123/task/work.txt");
    fs::create_dir_all(work.parent().unwrap()).unwrap();
    fs::write(&work, "precious").unwrap();
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("worktrees/other-0123/task: it may be a worktree"), "{said}");
    assert_eq!(fs::read_to_string(&work).unwrap(), "precious");
    assert!(!environment.state().exists() && !outside(&environment).join("testimony").exists());
}

#[test]
fn what_checkrein_does_not_write_stays_and_is_named() {
    let environment = used();
    let own = environment.state().join("diary.txt");
    fs::write(&own, "mine").unwrap();
    let beside = outside(&environment).join("recordings");
    fs::create_dir_all(&beside).unwrap();
    fs::write(beside.join("one.txt"), "mine").unwrap();
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("diary.txt: Checkrein does not write anything of this name"), "{said}");
    assert!(said.contains("what `checkrein undo` restores, of 1 workspace"), "{said}");
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    assert!(beside.join("one.txt").exists());
    assert_eq!(fs::read_dir(environment.state()).unwrap().count(), 1, "all else is gone");
}

#[test]
fn files_of_the_user_below_sessions_and_snapshots_stay_and_are_named() {
    let environment = used();
    let state = environment.state();
    let store = fs::read_dir(state.join("snapshots")).unwrap().next().unwrap().unwrap().path();
    let own = [
        state.join("sessions/diary.txt"),
        state.join("sessions/s/notes.txt"),
        state.join("sessions/therapy/week-1.txt"),
        state.join("snapshots/holidays/beach.jpg"),
        store.join("thesis.tex"),
        store.join("packs/thesis.bak"),
        outside(&environment).join("testimony/mine.txt"),
    ];
    for file in &own {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "mine").unwrap();
    }
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    for file in &own {
        assert_eq!(fs::read_to_string(file).unwrap(), "mine", "{file:?}\n{said}");
    }
    for named in
        ["diary.txt", "s/notes.txt", "sessions/therapy", "snapshots/holidays", "thesis.tex", "thesis.bak"]
    {
        let line = format!("{named}: Checkrein does not write anything of this name");
        assert!(said.contains(&line), "{named}\n{said}");
    }
    let said_of_rest = said.lines().find(|line| line.contains("sessions (1 session)")).unwrap_or_default();
    assert!(said_of_rest.ends_with(", except what stays in it"), "{said}");
    for gone in [state.join("sessions/s/ledger.jsonl"), store.join("packs/1"), state.join("mask.key")] {
        assert!(!gone.exists(), "{gone:?} is ours");
    }
}

#[test]
fn doctor_leaves_nothing_outside_and_a_purge_takes_what_an_earlier_one_left() {
    let environment = used();
    let testimony = outside(&environment).join("testimony");
    let count = || fs::read_dir(&testimony).unwrap().count();
    assert_eq!(count(), 1, "that of the one state directory");
    environment.checkrein(&["doctor"]);
    assert_eq!(count(), 1, "the canaries left something outside");

    fs::create_dir_all(testimony.join("0123456789abcdef/checkrein-canary-7")).unwrap();
    fs::write(testimony.join("0123456789abcdef/checkrein-canary-7/head"), "x").unwrap();
    fs::create_dir_all(testimony.join("fedcba9876543210/a-session-of-another-state")).unwrap();
    fs::create_dir_all(environment.state().join("canary-4711/sessions")).unwrap();
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists());
    let left: Vec<_> = fs::read_dir(&testimony).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["fedcba9876543210"], "what another state directory testifies is not ours to delete");
}

#[test]
fn the_name_alone_does_not_make_a_folder_ours() {
    let environment = TestEnvironment::new();
    let folder = environment.home().join("backup/checkrein");
    fs::create_dir_all(folder.join("sessions/therapy")).unwrap();
    fs::write(folder.join("sessions/therapy/notes.txt"), "mine").unwrap();
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.env("CHECKREIN_HOME", &folder).args(["uninstall", "--purge", "--yes"]);
    let said = refused(&command.output().unwrap());
    assert!(said.contains("it holds none of heads, installed.json, mask.key"), "{said}");
    assert!(folder.join("sessions/therapy/notes.txt").exists());
}

#[test]
fn links_lead_a_purge_nowhere() {
    let environment = used();
    let elsewhere = environment.home().join("elsewhere");
    fs::rename(environment.state().join("snapshots"), &elsewhere).unwrap();
    symlink(&elsewhere, environment.state().join("snapshots")).unwrap();
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("snapshots: it is a link to another place"), "{said}");
    assert!(fs::read_dir(&elsewhere).unwrap().count() > 0);

    let environment = used();
    let elsewhere = environment.home().join("disk/checkrein");
    fs::create_dir(elsewhere.parent().unwrap()).unwrap();
    fs::rename(environment.state(), &elsewhere).unwrap();
    symlink(&elsewhere, environment.state()).unwrap();
    let said = refused(&environment.checkrein(&["uninstall", "--purge", "--yes"]));
    assert!(said.contains("it is a link to another place"), "{said}");
    assert!(elsewhere.join("sessions/s").exists());
}

#[test]
fn what_belongs_to_another_user_stays() {
    let environment = used();
    let theirs = environment.state().join("sessions/theirs");
    fs::create_dir(&theirs).unwrap();
    if fs::metadata(&theirs).unwrap().uid() != 0 || chown(&theirs, Some(65_534), None).is_err() {
        return not_run("only root gives a folder to somebody else");
    }
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("sessions/theirs: it belongs to another user"), "{said}");
    assert!(theirs.exists());
}

#[test]
fn what_was_kept_is_deleted_and_nothing_else() {
    let environment = used();
    let shown = environment.succeed(&["uninstall", "--purge", "--dry-run"]);
    assert!(shown.contains("nothing was deleted") && environment.state().exists(), "{shown}");
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists());
    assert!(environment.project().join("notes.txt").exists());
    assert!(!outside(&environment).exists());
}

#[test]
fn what_stops_and_pipelines_left_is_deleted_too() {
    let environment = used();
    environment.answer_to(&environment.payload("t", "SessionStart", json!({ "source": "startup" })));
    let goal = json!({ "prompt": "fix the flaky login test in cypress" });
    environment.answer_to(&environment.payload("t", "UserPromptSubmit", goal));
    environment.succeed(&["halt", "t", "--reason", "wrong branch"]);
    environment.write("p.yaml", "name: p\nworktree: none\nsteps:\n  - {name: one, command: 'true'}\n");
    let run = environment.checkrein(&["pipeline", "run", "p.yaml"]);
    for left in ["lessons", "incidents", "pipelines/done"] {
        assert!(environment.state().join(left).is_dir(), "{left}: {run:?}");
    }
    let said = environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists(), "{said}");
}

/// What a day leaves in the state directory is all known to a purge: nothing of ours is called somebody else's.
#[test]
fn nothing_that_we_wrote_is_called_unknown() {
    let environment = used();
    environment.write("src/lib.rs", "one\n");
    for command in
        ["git add -A", "git commit -qm two", "echo x > src/lib.rs", "git reset --hard", "ls > list; rm list"]
    {
        environment.bash("s", command);
    }
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    for gate in ["contents", "coverage"] {
        fs::create_dir_all(environment.state().join(gate)).unwrap();
        fs::write(environment.state().join(gate).join("0a1b"), "x").unwrap();
    }
    fs::create_dir_all(environment.state().join("engine")).unwrap();
    let listed = environment.succeed(&["agent", "list", "--json"]);
    let agent: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    environment.succeed(&["agent", "tier", agent["agent"].as_str().unwrap(), "3"]);
    assert!(environment.state().join("tiers").exists());
    let shown = environment.succeed(&["uninstall", "--purge", "--dry-run"]);
    assert!(!shown.contains("does not write anything of this name"), "{shown}");
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists(), "{shown}");
}

#[test]
fn records_stay_while_another_project_needs_them() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.succeed(&["init", "--user", "--yes"]);
    let output = environment.checkrein(&["uninstall", "--purge", "--local", "--yes"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("still registered in"), "{said}");
    assert!(environment.state().exists());
    let settings = environment.project().join(".claude/settings.local.json");
    let kept = fs::read_to_string(settings).unwrap();
    assert!(kept.contains("checkrein-hook"), "the hooks here went before anybody looked elsewhere");
}

#[test]
fn records_stay_while_hooks_of_all_projects_need_them() {
    let environment = used();
    environment.succeed(&["init", "--client", "codex", "--yes"]);
    let said = refused(&environment.checkrein(&["uninstall", "--purge", "--yes"]));
    assert!(said.contains(".codex/hooks.json") && said.contains("`checkrein uninstall --user`"), "{said}");
    let own = environment.project().join(".claude/settings.local.json");
    assert!(fs::read_to_string(own).unwrap().contains("checkrein-hook"), "nothing is half done");
    environment.succeed(&["uninstall", "--user", "--yes"]);
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists());
}

#[test]
fn settings_of_a_team_keep_nobody_from_deleting_their_own_records() {
    let environment = used();
    let clone = environment.home().join("clone");
    fs::create_dir_all(clone.join(".claude")).unwrap();
    let own = environment.project().join(".claude/settings.local.json");
    let git = |arguments: &[&str]| {
        let mut git = environment.command("git");
        assert!(git.current_dir(&clone).args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    fs::copy(&own, clone.join(".claude/settings.json")).unwrap();
    // A session found the hooks there.
    let list = environment.state().join("installed.json");
    let mut known: serde_json::Value = serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
    let mut of_team = known[0].clone();
    of_team["settings"] = serde_json::json!(clone.join(".claude/settings.json"));
    known.as_array_mut().unwrap().push(of_team);
    fs::write(&list, known.to_string()).unwrap();
    let said = refused(&environment.checkrein(&["uninstall", "--purge", "--yes"]));
    assert!(said.contains("still registered in"), "{said}");
    git(&["add", "-A"]);
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists() && clone.join(".claude/settings.json").exists());
}

#[test]
fn a_folder_that_somebody_named_is_left_alone() {
    let environment = TestEnvironment::new();
    let folder = environment.home().join("everything");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("diary.txt"), "mine").unwrap();
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output =
        command.env("CHECKREIN_HOME", &folder).args(["uninstall", "--purge", "--yes"]).output().unwrap();
    assert!(!output.status.success() && folder.join("diary.txt").exists(), "{output:?}");
}
