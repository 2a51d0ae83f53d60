//! Settings that a call took the hooks out of are put back, whatever was predicted of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::{TestEnvironment, copy_program, decision, reason, shell_call};

/// A project whose hooks were registered by a user, and a session that begins.
fn begun() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    environment
}

/// What the hook answers when a call is over.
fn ended(environment: &TestEnvironment, command: &str) -> Json {
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    environment.answer_to(&environment.payload("one", "PostToolUse", shell_call("call", command, response)))
}

#[test]
fn what_a_call_did_to_the_settings_is_undone_at_its_end() {
    let environment = begun();
    let local = environment.project().join(".claude/settings.local.json");
    let team = environment.project().join(".claude/settings.json");
    let before = fs::read_to_string(&local).unwrap();
    let changes: [(&str, &dyn Fn()); 5] = [
        ("gone", &|| fs::remove_file(&local).unwrap()),
        ("with its folder", &|| fs::remove_dir_all(local.parent().unwrap()).unwrap()),
        ("empty", &|| fs::write(&local, "{}").unwrap()),
        ("switched off beside", &|| fs::write(&team, "{\"disableAllHooks\": true}").unwrap()),
        ("a link", &|| {
            fs::write(environment.home().join("other.json"), "{}").unwrap();
            fs::remove_file(&local).unwrap();
            symlink(environment.home().join("other.json"), &local).unwrap();
        }),
    ];
    for (what, change) in changes {
        assert_eq!(decision(&environment.bash("one", "ls")), None);
        change();
        let said = ended(&environment, "ls").to_string();
        assert!(said.contains("was put back"), "{what}: {said}");
        assert_eq!(fs::read_to_string(&local).unwrap(), before, "{what}");
        assert!(!team.exists(), "{what}");
        assert!(!fs::symlink_metadata(&local).unwrap().file_type().is_symlink(), "{what}");
    }
    assert_eq!(
        fs::read_to_string(environment.home().join("other.json")).unwrap(),
        "{}",
        "no link is followed"
    );
    let records = environment.records("one");
    assert_eq!(records.iter().filter(|record| record["body"]["kind"] == "put_back").count(), 5);
}

#[test]
fn a_mode_that_a_call_gave_the_settings_is_put_back() {
    let environment = begun();
    let local = environment.project().join(".claude/settings.local.json");
    let before = fs::read_to_string(&local).unwrap();
    let mode = || fs::metadata(&local).unwrap().permissions().mode() & 0o777;
    let set = |mode| fs::set_permissions(&local, fs::Permissions::from_mode(mode)).unwrap();
    set(0o644);
    environment.bash("one", "ls");
    ended(&environment, "ls");
    for (given, is_told) in [(0o777, true), (0o666, true), (0o755, false)] {
        assert_eq!(decision(&environment.bash("one", "chmod -R a+rwX .")), None);
        set(given);
        let said = ended(&environment, "chmod -R a+rwX .").to_string();
        assert_eq!(said.contains("the mode of"), is_told, "{given:o}: {said}");
        assert_eq!(mode(), 0o644, "{given:o}");
    }
    // Stricter is fine, and a person may do as they like.
    environment.bash("one", "ls");
    set(0o600);
    ended(&environment, "ls");
    assert_eq!(mode(), 0o600);
    std::thread::sleep(std::time::Duration::from_millis(50));
    set(0o666);
    environment.bash("one", "ls");
    ended(&environment, "ls");
    assert_eq!(mode(), 0o666);
    assert_eq!(fs::read_to_string(&local).unwrap(), before);
}

#[test]
fn a_folder_that_a_call_shut_is_opened_to_put_its_settings_back() {
    // Root enters whatever is shut, so this needs another user.
    let environment = begun();
    let (home, user) = (environment.home(), (61_400 + std::process::id() % 10_000).to_string());
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), home.join("checkrein-hook"));
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    for (event, more) in [("PreToolUse", json!({})), ("PostToolUse", response)] {
        fs::write(home.join(event), environment.payload("one", event, shell_call("call", "ls", more)))
            .unwrap();
    }
    let owned = environment.command("chown").args(["-R", &format!("{user}:{user}")]).arg(&home).status();
    if !owned.unwrap().success() {
        return not_run("this user cannot give files away");
    }
    let top = home.ancestors().find(|above| above.parent() == Some(Path::new("/tmp"))).unwrap();
    fs::set_permissions(top, Permissions::from_mode(0o755)).unwrap();
    let script = "~/checkrein-hook claude < ~/PreToolUse; chmod \"$0\" .claude; ~/checkrein-hook claude < ~/PostToolUse";
    for mode in ["000", "400", "500"] {
        let output = environment
            .command("setpriv")
            .args(["--reuid", &user, "--regid", &user, "--clear-groups", "sh", "-c", script, mode])
            .current_dir(environment.project())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!said.contains("could not be put back"), "{mode}: {said}");
        let folder = fs::metadata(environment.project().join(".claude")).unwrap();
        assert_eq!(folder.permissions().mode() & 0o500, 0o500, "{mode}: {said}");
    }
    let local = fs::read_to_string(environment.project().join(".claude/settings.local.json")).unwrap();
    assert!(local.contains("checkrein"), "{local}");
}

#[test]
fn the_next_call_puts_back_what_a_call_without_an_end_did() {
    let environment = begun();
    let local = environment.project().join(".claude/settings.local.json");
    let before = fs::read_to_string(&local).unwrap();
    environment.bash("one", "ls");
    fs::remove_file(&local).unwrap();
    let said = environment.bash("one", "ls src").to_string();
    assert!(said.contains("was put back"), "{said}");
    assert_eq!(fs::read_to_string(&local).unwrap(), before);
}

#[test]
fn a_configuration_that_a_call_made_looser_is_put_back_whatever_it_says_of_itself() {
    let environment = begun();
    let changes =
        [None, Some("mode: observe\n"), Some("profile: [\n"), Some("step_reviewer: {enabled: false}\n")];
    for before in [None, Some("profile: strict\n")] {
        let file = environment.configure("config.yaml", before.unwrap_or_default());
        if before.is_none() {
            fs::remove_file(&file).unwrap();
        }
        let session = format!("with-{}", before.is_some());
        for change in changes.into_iter().filter(|change| *change != before) {
            environment.bash(&session, "ls");
            match change {
                Some(text) => fs::write(&file, text).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
            let end = environment.payload(&session, "PostToolUse", shell_call("call", "ls", response));
            let said = environment.answer_to(&end).to_string();
            assert!(said.contains("was put back"), "{change:?}: {said}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{change:?}");
        }
        environment.bash(&session, "ls");
        fs::write(&file, "step_reviewer: {risk: {high_threshold: 0.7}}\n").unwrap();
        let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
        let end = environment.payload(&session, "PostToolUse", shell_call("call", "ls", response));
        let said = environment.answer_to(&end).to_string();
        assert_eq!(said.contains("was put back"), before.is_some(), "only what is stricter stays: {said}");
        drop(fs::remove_file(&file));
    }
}

#[test]
fn what_a_person_changes_between_calls_stays() {
    let environment = begun();
    let local = environment.project().join(".claude/settings.local.json");
    environment.bash("one", "ls");
    ended(&environment, "ls");
    // The clock of the file system ticks coarsely.
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::remove_file(&local).unwrap();
    let prompt = environment.payload("one", "UserPromptSubmit", json!({ "prompt": "go on" }));
    assert!(environment.answer_to(&prompt).to_string().contains("the file is gone"));
    environment.bash("one", "ls");
    assert!(!local.exists(), "the user took it away");
}

#[test]
fn a_configuration_that_something_left_behind_made_looser_is_told_and_waits() {
    let environment = begun();
    environment.bash("one", "ls");
    ended(&environment, "ls");
    // The clock of the file system ticks coarsely.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let file = environment.configure("config.yaml", "mode: observe\n");
    let said = environment.bash("one", "ls src").to_string();
    assert!(said.contains("lets pass more (mode) since") && said.contains("checkrein trust"), "{said}");
    assert_eq!(environment.bash("one", "ls"), json!({}), "it is told once");
    assert_eq!(decision(&environment.bash("one", "rm -rf ~")), Some("deny"), "and does not count here");
    let start = |session: &str| {
        environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })))
    };
    let answer = start("two");
    let said = answer.to_string();
    assert!(said.contains("lets pass more (mode) since"), "{said}");
    assert!(answer["systemMessage"].as_str().unwrap().contains("`checkrein trust` shows what"), "{answer}");
    assert_eq!(start("three"), json!({}), "it is told once");
    assert_eq!(decision(&environment.bash("two", "rm -rf ~")), Some("deny"), "it waits for the user");
    assert_eq!(decision(&environment.bash("begun-by-a-call", "rm -rf ~")), Some("deny"));
    for command in
        [&["config", "show", "mode"][..], &["config", "show"], &["config", "check"], &["trust", "show"]]
    {
        let said = environment.succeed(command);
        for wanted in [
            "`~/.config/checkrein/config.yaml` lets pass more (mode) since",
            "until you confirm it, the stricter values hold",
            "you changed it: `checkrein trust` in a terminal confirms it",
            "you did not: put the file back",
        ] {
            assert!(said.contains(wanted), "{command:?}: {said}");
        }
    }
    assert!(environment.succeed(&["config", "show", "mode"]).contains("enforce"));
    assert!(!environment.succeed(&["config", "show", "limits.preset"]).contains("lets pass more"));
    let doctor = || {
        let output = environment.checkrein(&["doctor"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(doctor().contains("lets pass more (mode) since"), "{}", doctor());
    let told: Json = serde_json::from_str(&environment.succeed(&["--json", "trust", "show"])).unwrap();
    let loosened = &told["loosened"];
    assert_eq!((&loosened["settings"], &told["trusted"]), (&json!(["mode"]), &json!(false)), "{told}");
    assert!(loosened["reason"].as_str().unwrap().contains("lets pass more (mode) since"), "{told}");
    assert!(environment.succeed(&["trust", "--yes"]).contains("lets pass more"));
    assert!(!doctor().contains("lets pass more"));
    // What became of the calls of the session before is all that is said.
    let quiet = |answer: Json| {
        let said = answer["systemMessage"].as_str().unwrap_or_default().to_owned();
        assert!(
            said.is_empty() || said.contains("the session before") && !said.contains("lets pass more"),
            "{answer}"
        );
    };
    quiet(start("four"));
    assert_eq!(decision(&environment.bash("four", "rm -rf ~")), None, "the user agreed to it");
    fs::write(&file, "step_reviewer: {risk: {high_threshold: 0.7}}\n").unwrap();
    // What is stricter needs no word.
    quiet(start("five"));
    assert!(!doctor().contains("lets pass more"));
}

#[test]
fn a_looser_configuration_in_another_folder_waits_too() {
    let environment = begun();
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    let other = environment.home().join("other");
    fs::create_dir_all(other.join("checkrein")).unwrap();
    fs::write(other.join("checkrein/config.yaml"), "mode: observe\n").unwrap();
    let call = environment.payload("two", "PreToolUse", shell_call("call", "rm -rf ~", json!({})));
    let answer = environment.answer_with(&call, &[("XDG_CONFIG_HOME", other.to_str().unwrap())]);
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
}

#[test]
fn commands_that_something_left_behind_described_wait_too() {
    let environment = begun();
    let start = |session: &str| {
        environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })))
    };
    start("one");
    let before = environment.bash("one", "frobnicate ~/Documents");
    environment.configure(
        "catalogue/frobnicate.toml",
        "[[program]]\nnames = [\"frobnicate\"]\nsummary = \"looks\"\neffects = []\nexamples = [\"frobnicate x =>\"]\n",
    );
    let said = start("two").to_string();
    assert!(said.contains("checkrein/catalogue` lets pass more (described commands)"), "{said}");
    assert_eq!(environment.bash("two", "frobnicate ~/Documents"), before);
    environment.succeed(&["trust", "--yes"]);
    start("three");
    assert_eq!(environment.bash("three", "frobnicate ~/Documents"), json!({}));
}

#[test]
fn settings_that_keep_the_hooks_may_change_in_a_call() {
    let environment = begun();
    let local = environment.project().join(".claude/settings.local.json");
    let other = fs::read_to_string(&local).unwrap().replacen('{', "{ \"model\": \"opus\",", 1);
    environment.bash("one", "ls");
    fs::write(&local, &other).unwrap();
    assert_eq!(ended(&environment, "ls"), json!({}));
    assert_eq!(fs::read_to_string(&local).unwrap(), other);
    // And that is what is kept from then on.
    environment.bash("one", "ls");
    fs::remove_file(&local).unwrap();
    ended(&environment, "ls");
    assert_eq!(fs::read_to_string(&local).unwrap(), other);
}

#[test]
fn what_git_takes_away_unseen_comes_back() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    let folder = environment.project().join(".claude");
    fs::rename(folder.join("settings.local.json"), folder.join("settings.json")).unwrap();
    environment.git(&["add", "-f", ".claude/settings.json"]);
    environment.commit("hooks");
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    environment.bash("one", "./work");
    environment.git(&["checkout", "-q", "HEAD~1"]);
    assert!(!folder.join("settings.json").exists());
    ended(&environment, "./work");
    assert!(folder.join("settings.json").exists());
}

#[test]
fn a_policy_that_a_call_took_away_or_made_looser_is_put_back() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", "profile: strict\n");
    environment.succeed(&["init", "--yes"]);
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    let policy = environment.project().join("checkrein.yaml");
    let before = fs::read_to_string(&policy).unwrap();
    for after in [None, Some(""), Some("profile: [\n")] {
        environment.bash("one", "./work");
        match after {
            Some(text) => fs::write(&policy, text).unwrap(),
            None => fs::remove_file(&policy).unwrap(),
        }
        let answer = ended(&environment, "./work");
        let said = answer.to_string();
        assert!(said.contains("was put back"), "{after:?}: {said}");
        assert_eq!(fs::read_to_string(&policy).unwrap(), before, "{after:?}");
        // It may have been the user while the call ran: they are told at once, and how it stays.
        let told = answer["systemMessage"].as_str().unwrap_or_default();
        let changed =
            if after.is_none() { "was deleted while a call ran" } else { "changed while a call ran" };
        for part in ["checkrein.yaml` was put back", changed, "do it while no call of the agent runs"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let log = environment.succeed(&["log"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["a file that guards the session changed: it was put back", "was deleted while a call ran"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    // The clock of the file system ticks coarsely.
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::remove_file(&policy).unwrap();
    environment.bash("one", "./work");
    ended(&environment, "./work");
    assert!(!policy.exists(), "a person took it away while no call ran");
}

#[test]
fn what_guards_a_session_is_spared_where_the_index_cannot_be_read() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", "profile: strict\n");
    environment.write(".gitignore", ".env\n");
    environment.git(&["add", "-A"]);
    environment.commit("policy");
    environment.write(".env", "API_TOKEN=s3cr3tv4lu3s3cr3t\n");
    environment.succeed(&["init", "--yes"]);
    environment.git(&["update-index", "--split-index"]);
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    let sweeps = [
        "git clean -fdxq",
        "git clean -ffdxq",
        "git clean -fdxq '*'",
        "git stash -aq",
        "git rm -rqf --cached .; git clean -fdq",
    ];
    for sweep in sweeps {
        let answer = environment.bash("one", sweep);
        let runs = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap_or_default();
        let is_spared = runs.contains("checkrein.yaml") && runs.contains(".claude/settings.local.json");
        assert!(is_spared || matches!(decision(&answer), Some("ask" | "deny")), "{sweep}: {answer}");
    }
    for printing in ["git ls-files -o | xargs cat", "git rm -rqf ."] {
        let answer = environment.bash("one", printing);
        assert!(matches!(decision(&answer), Some("ask" | "deny")), "{printing}: {answer}");
    }
    for ordinary in ["git ls-files | xargs cat", "git status", "git add -A", "git ls-files -o"] {
        assert_eq!(decision(&environment.bash("one", ordinary)), None, "{ordinary}");
    }
}

#[test]
fn an_unknown_event_with_a_call_is_refused() {
    let environment = begun();
    for name in ["pretooluse", "PreToolUse ", "Foo"] {
        let payload = environment.payload("one", name, shell_call("call", "ls", json!({})));
        assert_eq!(environment.answer_to(&payload)["decision"], "block", "{name}");
    }
    for name in ["Foo", "PostToolUseAgain"] {
        let payload = environment.payload("one", name, json!({ "text": "x" }));
        assert_eq!(environment.answer_to(&payload), json!({}), "{name}");
    }
}

#[test]
fn a_question_in_an_unknown_permission_mode_is_a_refusal() {
    let environment = begun();
    for mode in [json!("delegate"), json!("unknownMode"), json!(5), json!([])] {
        let fields = shell_call("call", "git push --force origin main", json!({ "permission_mode": mode }));
        let answer = environment.answer_to(&environment.payload("one", "PreToolUse", fields));
        assert_eq!(decision(&answer), Some("deny"), "{mode}: {answer}");
        assert!(reason(&answer).contains("permission mode `default`"), "{mode}: {answer}");
    }
    for mode in [json!("default"), json!(null)] {
        let fields = shell_call("call", "git push --force origin main", json!({ "permission_mode": mode }));
        let answer = environment.answer_to(&environment.payload("two", "PreToolUse", fields));
        assert_eq!(decision(&answer), Some("ask"), "{mode}: {answer}");
    }
}
