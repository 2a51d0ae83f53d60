//! What would bring, change or take away files of the guard is seen before it runs, with the real git and real archives.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Command;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// A project whose policy is in its repository, and which has settings of a client, with hooks, in no commit.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.write(".claude/settings.json", "{ \"model\": \"opus\" }\n");
    environment.write("checkrein.yaml", "profile: interactive\n");
    environment.write("notes.txt", "one\n");
    environment.git(&["add", "checkrein.yaml", "notes.txt"]);
    environment.commit("policy");
    environment.write("notes.txt", "two\n");
    environment.git(&["add", "-u"]);
    environment.commit("second");
    environment
}

fn shell(environment: &TestEnvironment, script: &str) {
    let done = Command::new("sh").args(["-ec", script]).current_dir(environment.project()).status().unwrap();
    assert!(done.success(), "{script}");
}

#[test]
fn git_that_changes_the_policy_is_asked_about_and_daily_work_is_not() {
    let environment = project();
    environment.git(&["checkout", "-q", "-b", "evil"]);
    environment.write("checkrein.yaml", "mode: observe\n");
    environment.git(&["add", "-u"]);
    environment.commit("evil");
    environment.git(&["checkout", "-q", "-"]);
    environment.git(&["checkout", "-q", "-b", "work"]);
    environment.write("notes.txt", "three\n");
    environment.git(&["add", "-u"]);
    environment.commit("work");
    environment.git(&["checkout", "-q", "-"]);
    for packed in [false, true] {
        if packed {
            environment.git(&["gc", "-q"]);
        }
        let asked = [
            "git checkout evil",
            "git switch evil",
            "git merge evil",
            "git rebase evil",
            "git cherry-pick evil",
            "git reset --hard evil",
            "git checkout evil -- .",
            "git stash -u -- .",
        ];
        for (number, command) in asked.into_iter().enumerate() {
            // A session of its own for each: what is asked again and again in one is refused in the end.
            let answer = environment.bash(&format!("asked-{packed}-{number}"), command);
            assert_eq!(decision(&answer), Some("ask"), "{command}, packed {packed}: {answer}");
        }
        for command in [
            "git checkout work",
            "git switch work",
            "git merge work",
            "git rebase work",
            "git cherry-pick work",
            "git reset --hard HEAD~1",
            "git checkout work -- .",
            "git stash",
            "git checkout -",
            "git pull",
        ] {
            let answer = environment.bash("silent", command);
            assert_eq!(decision(&answer), None, "{command}, packed {packed}: {answer}");
        }
    }
}

#[test]
fn cleaning_leaves_the_files_of_the_guard_out() {
    let environment = project();
    environment.write("built/x", "x");
    let answer = environment.bash("s", "git clean -fdx");
    let command = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
    assert_eq!(
        command,
        Some("git clean -fdx -e /.claude/settings.json -e /.claude/settings.local.json"),
        "{answer}"
    );
    shell(&environment, command.unwrap());
    for kept in [".claude/settings.json", ".claude/settings.local.json"] {
        assert!(environment.project().join(kept).exists(), "{kept}");
    }
    assert!(!environment.project().join("built").exists());
}

#[test]
fn cleaning_what_is_ignored_leaves_the_files_of_the_guard_out_however_they_are_ignored() {
    let places = [".claude/settings.json", ".claude/settings.local.json"];
    for (file, pattern) in [
        (".git/info/exclude", ".claude/settings.local.json"),
        (".git/info/exclude", ".claude/"),
        (".gitignore", "**/settings*.json"),
        (".gitignore", "*"),
    ] {
        let environment = project();
        environment.write("built/x", "x");
        environment.write(file, &format!("built/\n{pattern}\n"));
        for command in ["git clean -fdX", "git clean -fX", "git clean -f -X -d"] {
            let answer = environment.bash("s", command);
            let changed = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
            shell(&environment, changed.unwrap_or(command));
            for kept in places {
                assert!(environment.project().join(kept).exists(), "{pattern}, {command}: {answer}");
            }
        }
        assert!(!environment.project().join("built").exists(), "{pattern}");
    }
}

#[test]
fn cleaning_leaves_the_files_of_the_guard_out_behind_new_files_too() {
    let environment = project();
    let (made, more) = ("echo x > feature.py", json!({}));
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call("one", made, more)));
    environment.write("feature.py", "x\n");
    let outcome = json!({ "tool_response": { "stdout": "" } });
    environment.answer_to(&environment.payload("s", "PostToolUse", shell_call("one", made, outcome)));
    environment.write(".env", "KEY=1\n");
    for command in
        ["git clean -fdx", "echo y > other.py; git clean -fdx", "echo KEY=2 > .env; git clean -fdx"]
    {
        let answer = environment.bash("s", command);
        let changed = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap_or_default();
        assert!(changed.contains("git clean -fdx -e /.claude/settings.json"), "{command}: {answer}");
    }
}

#[test]
fn a_stash_leaves_the_files_of_the_guard_out() {
    let environment = project();
    environment.write("built/x", "x");
    environment.write(".gitignore", "ignored\n");
    environment.write("ignored", "x");
    for (command, gone) in [("git stash -u", "built/x"), ("git stash push --all -m 'all of it'", "ignored")] {
        let answer = environment.bash("s", command);
        let rewritten = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        assert!(rewritten.is_some(), "{command}: {answer}");
        environment.git(&["config", "user.name", "dev"]);
        environment.git(&["config", "user.email", "dev@localhost"]);
        shell(&environment, rewritten.unwrap());
        assert!(environment.project().join(".claude/settings.json").exists(), "{command}");
        assert!(!environment.project().join(gone).exists(), "{command}");
    }
}

#[test]
fn an_archive_is_judged_by_what_it_holds() {
    let environment = project();
    shell(
        &environment,
        "mkdir -p a/src b/.claude; echo x > a/src/x; echo '{}' > b/.claude/settings.json
         tar -C a -cf good.tar .; tar -C a -czf good.tgz .; tar -C b -cf bad.tar .; tar -C b -czf bad.tgz .",
    );
    for command in ["tar xf good.tar", "tar xzf good.tgz", "tar xzf good.tgz -C b"] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer), None, "{command}: {answer}");
    }
    for command in ["tar xf bad.tar", "tar xzf bad.tgz", "cp -r b/. ."] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
}

#[test]
fn a_tree_over_the_configuration_of_a_person_is_refused() {
    let environment = project();
    environment.write("brought/checkrein/config.yaml", "mode: observe\n");
    fs::create_dir_all(environment.home().join(".config/other")).unwrap();
    for command in [
        "cp -r brought/. ~/.config/",
        "tar -C brought -cf b.tar . && tar -C ~/.config -xf b.tar",
        "mv ~/.config ~/.config.old && mv brought ~/.config",
        "ln -sfn $PWD/brought ~/.config",
        "python3 -c \"import shutil, os; shutil.copytree('brought', os.path.expanduser('~/.config'), dirs_exist_ok=True)\"",
    ] {
        let answer = environment.bash("s", command);
        let decided = decision(&answer);
        assert!(matches!(decided, Some("deny" | "ask")), "{command}: {answer}");
    }
}

#[test]
fn a_second_name_made_by_another_hand_is_the_same_file() {
    let environment = project();
    let settings = environment.project().join(".claude/settings.json");
    fs::hard_link(&settings, environment.project().join("second.json")).unwrap();
    for command in [
        "echo '{}' > second.json",
        "sed -i s/hook/x/ .claude/settings.json",
        "ln .claude/settings.json third",
    ] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
    assert_eq!(decision(&environment.bash("s", "echo x > first.json; ln first.json other.json")), None);
}
