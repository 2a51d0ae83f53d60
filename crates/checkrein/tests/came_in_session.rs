//! Settings and modules that came in the session do not count as those that were there before, by whatever way they came.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use support::{TestEnvironment, decision};

const EXEC: &str =
    "users:\n- name: me\n  user:\n    exec:\n      command: sh\n      args: [-c, \"rm -rf ~/Documents\"]\n";
const USE: &str = "KUBECONFIG=deploy/c kubectl get pods";

/// Clocks of file systems tick every few milliseconds.
fn wait() {
    sleep(Duration::from_millis(40));
}

/// A project with settings that were committed, and a session that begins there.
fn begun() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("deploy/old", EXEC);
    environment.write("deploy/plain", "users: []\n");
    environment.git(&["add", "-A"]);
    environment.commit("settings");
    let home = environment.home().join(".kube");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("own"), EXEC).unwrap();
    wait();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    wait();
    environment
}

fn asked(environment: &TestEnvironment, command: &str) -> bool {
    let answer = environment.bash("s", command);
    match decision(&answer) {
        Some("ask" | "deny") => true,
        None | Some("allow") => false,
        Some(other) => panic!("{other}: {answer}"),
    }
}

fn run(directory: &Path, command: &str) {
    let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let done = Command::new("sh")
        .args(["-c", command])
        .envs(names.map(|name| (name, "dev@localhost")))
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "{command}: {done:?}");
}

#[test]
fn what_was_committed_in_the_session_is_of_the_session() {
    for way in [
        "cp EXEC deploy/c && git add -A && git commit -qm c",
        "mkdir z && cp EXEC z/c && mv deploy gone && mv z deploy && git add -A && git commit -qm c",
        "mkdir z && cp EXEC z/c && tar -C z -cf - . | tar -C deploy -xf - && git add -A && git commit -qm c",
        "git update-index --add --cacheinfo 100644,$(git hash-object -w EXEC),deploy/c && git commit -qm c && git checkout -- deploy/c",
        "cp EXEC deploy/c && touch -d '2001-01-01' deploy/c && git add -A && git commit -qm c",
        "git checkout -qb other && cp EXEC deploy/c && git add -A && git commit -qm c && git checkout -q - && git merge -q other",
        "ln EXEC deploy/c && git add -A && git commit -qm c",
    ] {
        let environment = begun();
        let source = environment.home().join("exec");
        fs::write(&source, EXEC).unwrap();
        let command = way.replace("EXEC", source.to_str().unwrap());
        run(&environment.project(), &command);
        assert!(asked(&environment, USE), "{way}");
    }
}

#[test]
fn what_came_into_the_home_directory_is_of_the_session() {
    for way in [
        "mv z HOME/kk",
        "cp -r z HOME/kk",
        "cp -rp z HOME/kk",
        "mkdir HOME/kk && tar -cf - -C z . | tar -xf - -C HOME/kk",
        "install -D z/c HOME/kk/c",
        "git init -q z2 && cp z/c z2/c && git -C z2 add -A && git -C z2 commit -qm c && git clone -q z2 HOME/kk",
    ] {
        let environment = begun();
        environment.write("z/c", EXEC);
        let home = environment.home().to_str().unwrap().to_owned();
        run(&environment.project(), &way.replace("HOME", &home));
        assert!(asked(&environment, "KUBECONFIG=~/kk/c kubectl get pods"), "{way}");
    }
    // A directory that lay there before keeps the times of its files when it is moved.
    let environment = TestEnvironment::new();
    environment.write("z/c", EXEC);
    wait();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    wait();
    fs::rename(environment.project().join("z"), environment.home().join("kk")).unwrap();
    assert!(asked(&environment, "KUBECONFIG=~/kk/c kubectl get pods"));
}

#[test]
fn what_was_there_before_stays_as_it_was() {
    let environment = begun();
    assert!(!asked(&environment, "KUBECONFIG=deploy/old kubectl get pods"));
    assert!(!asked(&environment, "KUBECONFIG=~/.kube/own kubectl get pods"));
    // Other files come and go beside it.
    environment.write("deploy/new", "users: []\n");
    fs::write(environment.home().join(".kube/cache"), "x").unwrap();
    assert!(!asked(&environment, "KUBECONFIG=deploy/old kubectl get ns"));
    assert!(!asked(&environment, "KUBECONFIG=~/.kube/own kubectl get ns"));
    // What git brings back as it was committed when the session began.
    run(&environment.project(), "rm deploy/old && git checkout -q -- deploy/old");
    assert!(!asked(&environment, "KUBECONFIG=deploy/old kubectl get nodes"));
    run(
        &environment.project(),
        "git add -A && git commit -qm more && git rm -q deploy/plain && git reset -q --hard",
    );
    assert!(!asked(&environment, "KUBECONFIG=deploy/old kubectl get all"));
}

#[test]
fn settings_that_programs_read_by_themselves_are_looked_at_when_they_came_in_the_session() {
    for (file, text, command) in [
        (".kube/config", EXEC, "kubectl get pods"),
        (".aws/config", "[default]\ncredential_process = sh -c \"rm -rf ~/Documents\"\n", "aws s3 ls"),
        (".npmrc", "script-shell=./evil\n", "npm test"),
    ] {
        let environment = begun();
        environment.write("package.json", r#"{"scripts": {"test": "true"}}"#);
        assert!(!asked(&environment, command), "{command}");
        let path = environment.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        assert!(asked(&environment, &format!("{command} ")), "{command}");
    }
    // What they are for, and what was there before.
    let environment = begun();
    fs::write(environment.home().join(".kube/config"), EXEC.replace("sh\n", "aws\n")).unwrap();
    assert!(!asked(&environment, "kubectl get pods"));
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.home().join(".kube")).unwrap();
    fs::write(environment.home().join(".kube/config"), EXEC).unwrap();
    wait();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    assert!(!asked(&environment, "kubectl get pods"));
}

#[test]
fn a_module_that_came_in_the_session_is_no_package_of_the_project() {
    let load = "NODE_OPTIONS='-r evil' npm test";
    let environment = begun();
    environment.write("package.json", r#"{"scripts": {"test": "true"}}"#);
    environment.write("x/index.js", "require('fs').rmSync('/tmp/x')\n");
    fs::create_dir_all(environment.project().join("node_modules")).unwrap();
    run(&environment.project(), "cp -r x node_modules/evil");
    assert!(asked(&environment, load));
    // One that was there before, and one that the project named before.
    let environment = TestEnvironment::new();
    environment.write("package.json", r#"{"scripts": {"test": "true"}, "devDependencies": {"tsx": "^4"}}"#);
    environment.write("node_modules/evil/index.js", "1\n");
    environment.git(&["add", "-A"]);
    environment.commit("modules");
    wait();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    wait();
    assert!(!asked(&environment, load));
    environment.write("node_modules/tsx/index.js", "1\n");
    assert!(!asked(&environment, "NODE_OPTIONS='--import tsx' npm test"));
}

#[test]
fn a_remote_that_came_in_the_session_is_like_an_address_that_is_named() {
    for way in [
        "git remote add other https://git.elsewhere.example/x",
        "git config remote.team.pushurl git@git.elsewhere.example:x && git config remote.other.url x",
        "printf '[remote \"other\"]\\n\\turl = ssh://git.elsewhere.example/x\\n' >> .git/config",
    ] {
        let environment = TestEnvironment::new();
        environment.git(&["remote", "add", "team", "https://git.acme.dev/app.git"]);
        environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
        let remote = if way.contains("pushurl") { "team" } else { "other" };
        assert!(!asked(&environment, "git push team HEAD"), "{way}");
        run(&environment.project(), way);
        assert!(asked(&environment, &format!("git push {remote} HEAD")), "{way}");
    }
    let environment = TestEnvironment::new();
    environment.git(&["remote", "add", "team", "https://git.acme.dev/app.git"]);
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    // The same host, and one where the user may have what belongs to them.
    for address in ["git@git.acme.dev:docs.git", "https://github.com/acme/app.git"] {
        environment.git(&["remote", "set-url", "team", address]);
        assert!(!asked(&environment, "git push team HEAD"), "{address}");
    }
}
