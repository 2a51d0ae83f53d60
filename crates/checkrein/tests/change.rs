//! Change records: from the question about production to the closed change, with the real hook and the real command line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::{fs, thread};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

/// A change of production by the configuration below.
const CALL: &str = "kubectl --context eks-live apply -f k8s/";
/// The same kind of change elsewhere.
const HARMLESS: &str = "kubectl --context dev apply -f k8s/";

fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "production:\n  kube_contexts: [\"eks-live\"]\n");
    environment.write("k8s/web.yaml", "kind: Deployment\n");
    environment
}

fn ask(environment: &TestEnvironment, session: &str, id: &str, command: &str) -> Json {
    environment.answer_to(&environment.payload(session, "PreToolUse", shell_call(id, command, json!({}))))
}

fn verdict(environment: &TestEnvironment, id: &str, command: &str) -> Option<String> {
    decision(&ask(environment, "s", id, command)).map(str::to_owned)
}

fn end(environment: &TestEnvironment, id: &str, command: &str) -> Json {
    let response = json!({ "tool_response": { "stdout": "done", "stderr": "" } });
    environment.answer_to(&environment.payload("s", "PostToolUse", shell_call(id, command, response)))
}

fn open_with(environment: &TestEnvironment, more: &[&str]) -> Output {
    let first = ["--json", "change", "open", "--issue", "OPS-12"];
    environment.checkrein(&[&first, more].concat())
}

/// Opens a change of a command; its name. The verification succeeds once the project has a file `works`.
fn opened(environment: &TestEnvironment, command: &str) -> String {
    let rollback = ["--rollback", "touch rolled-back", "--verify", "test -e works", "--", command];
    let output = open_with(environment, &rollback);
    assert!(output.status.success(), "{output:?}");
    let change: Json = serde_json::from_slice(&output.stdout).unwrap();
    change["change"].as_str().unwrap().to_owned()
}

fn approve(environment: &TestEnvironment, id: &str) {
    environment.succeed(&["change", "approve", id, "--yes"]);
}

fn state(environment: &TestEnvironment, id: &str) -> String {
    let shown = environment.succeed(&["--json", "change", "show", id]);
    let shown: Json = serde_json::from_str(&shown).unwrap();
    shown["state"].as_str().unwrap().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

// Source: seed 004-63, 004-73
#[test]
fn a_change_goes_its_way_from_the_question_to_the_end() {
    let environment = environment();
    assert_eq!(verdict(&environment, "c0", HARMLESS), None);
    let asked = ask(&environment, "s", "c1", CALL);
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("on production (kube context `eks-live`)"), "{asked}");
    assert!(reason(&asked).contains("`checkrein change open` makes one"), "{asked}");

    let id = opened(&environment, CALL);
    assert_eq!(state(&environment, &id), "waiting for approval");
    let asked = ask(&environment, "s", "c2", CALL);
    assert_eq!(decision(&asked), Some("ask"), "before it is approved");
    assert!(reason(&asked).contains(&format!("checkrein change approve {id}")), "{asked}");

    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c3", CALL), None, "it passes");
    assert_eq!(state(&environment, &id), "running");
    let passed = environment.records("s").into_iter().rfind(|record| record["body"]["type"] == "review");
    let passed = passed.unwrap_or_else(|| panic!("{:?}", environment.records("s").last()));
    assert!(passed.to_string().contains(&id), "the record names the change: {passed}");
    assert_eq!(verdict(&environment, "c4", CALL).as_deref(), Some("ask"), "once");

    let told = end(&environment, "c3", CALL);
    assert!(told.to_string().contains(&format!("checkrein change verify {id}")), "{told}");
    assert_eq!(state(&environment, &id), "not verified");
    let at_rest = environment.answer_to(&environment.payload("s", "Stop", json!({})));
    assert!(at_rest.to_string().contains(&format!("change {id} is not verified")), "{at_rest}");

    let failed = environment.checkrein(&["change", "verify", &id, "--yes"]);
    assert_eq!(failed.status.code(), Some(2), "{}", said(&failed));
    assert!(said(&failed).contains("    touch rolled-back"), "the rollback is shown: {}", said(&failed));
    assert!(!environment.project().join("rolled-back").exists(), "and does not run by itself");
    assert_eq!(state(&environment, &id), "verification failed");

    let back = environment.checkrein(&["change", "verify", &id, "--rollback", "--yes"]);
    assert_eq!(back.status.code(), Some(2), "{}", said(&back));
    assert!(environment.project().join("rolled-back").exists());
    assert_eq!(state(&environment, &id), "rolled back");
    environment.succeed(&["change", "close", &id]);
    assert_eq!(state(&environment, &id), "closed");
    let again = environment.checkrein(&["change", "close", &id]);
    let words = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && words.contains(&format!("change {id} is closed already")), "{words}");
    let at_rest = environment.answer_to(&environment.payload("s", "Stop", json!({})));
    assert!(!at_rest.to_string().contains("not verified"), "{at_rest}");
}

#[test]
fn a_verified_change_is_due_no_more() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    environment.write("works", "");
    let verified = environment.checkrein(&["change", "verify", &id]);
    assert!(verified.status.success(), "{}", said(&verified));
    assert_eq!(state(&environment, &id), "verified");
    let ended = environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "exit" })));
    assert_eq!(ended, json!({}));
    assert!(!environment.records("s").last().unwrap().to_string().contains("unverified_changes"));
}

#[test]
fn a_verification_says_its_outcome_and_a_change_without_one_is_not_closed_in_silence() {
    let environment = environment();
    let id = opened(&environment, CALL);
    let unsaid = |id: &str, state: &str| {
        let closed = environment.checkrein(&["change", "close", id]);
        let words = String::from_utf8_lossy(&closed.stderr).into_owned();
        assert!(!closed.status.success(), "{words}");
        assert!(words.contains(&format!("change {id} is {state}, so its outcome must be said")), "{words}");
    };
    approve(&environment, &id);
    unsaid(&id, "approved");
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    unsaid(&id, "not verified");
    let failed = environment.checkrein(&["change", "verify", &id, "--yes"]);
    assert_eq!(failed.status.code(), Some(2));
    unsaid(&id, "verification failed");
    environment.write("works", "");
    let verified = environment.checkrein(&["change", "verify", &id]);
    assert!(
        said(&verified).contains(&format!("change {id}: verified, the verification")),
        "{}",
        said(&verified)
    );
    environment.succeed(&["change", "close", &id]);
    assert_eq!(state(&environment, &id), "closed");
    // With words it is closed as it is.
    let other = opened(&environment, CALL);
    approve(&environment, &other);
    environment.succeed(&["change", "close", &other, "--outcome", "the release was put off"]);
    assert_eq!(state(&environment, &other), "closed");
}

// Source: seed 004-66
#[test]
fn a_session_that_ends_with_an_unverified_change_is_told_of() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    let start = |session: &str| {
        environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })))
    };
    start("s");
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "exit" })));
    let last = environment.records("s").last().unwrap().to_string();
    assert!(last.contains("unverified_changes") && last.contains(&id), "{last}");
    let next = start("next").to_string();
    assert!(next.contains(&format!("change {id} of the session before is not verified")), "{next}");
    environment.write("works", "");
    environment.succeed(&["change", "verify", &id]);
    let after = start("third").to_string();
    assert!(!after.contains("is not verified"), "{after}");
}

// Source: seed 004-66
#[test]
fn a_failed_verification_raises_doubt() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    let risk = |call: &str| {
        ask(&environment, "s", call, "./tool");
        let review =
            environment.records("s").into_iter().rfind(|record| record.to_string().contains("./tool"));
        review.unwrap().to_string().contains("surprises +0.12")
    };
    environment.write("tool", "\u{7f}ELF");
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    assert!(!risk("c2"));
    environment.checkrein(&["change", "verify", &id]);
    assert!(risk("c3"), "{:?}", environment.records("s").last());
}

// Source: seed 004-63
#[test]
fn nothing_is_opened_without_a_way_back_and_a_verification() {
    let environment = environment();
    let rollback: &[&str] = &["--rollback", "kubectl --context eks-live rollout undo deploy/web"];
    let verify: &[&str] = &["--verify", "kubectl --context eks-live get pods"];
    let call: &[&str] = &["--", CALL];
    for (arguments, word) in [
        ([verify, call].concat(), "needs its rollback"),
        ([rollback, call].concat(), "needs its verification"),
        ([rollback, &["--verify", " "], call].concat(), "needs its verification"),
        ([rollback, verify].concat(), "needs its command"),
        ([rollback, verify, &["--", HARMLESS]].concat(), "is on production"),
        ([rollback, verify, &["--", "ls"]].concat(), "is on production"),
        ([rollback, &["--verify", CALL], call].concat(), "cannot verify"),
        ([rollback, &["--verify", "rm -rf ~"], call].concat(), "cannot verify"),
        (
            [rollback, verify, &["--", "kubectl --context eks-live apply -f k8s/; checkrein trust --yes"]]
                .concat(),
            "cannot let",
        ),
    ] {
        let output = open_with(&environment, &arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(word), "{arguments:?}: {}", said(&output));
    }
    let secret = format!("{CALL} --token ghp_{}", "a1B2".repeat(9));
    let output = open_with(&environment, &[rollback, verify, &["--", &secret]].concat());
    assert!(said(&output).contains("holds a secret"), "{}", said(&output));
    assert_eq!(environment.succeed(&["--json", "change", "list"]), "");
    let output = open_with(&environment, &[rollback, verify, call].concat());
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_verification_changes_nothing_that_stays() {
    let environment = environment();
    environment.write("notes.md", "what is known\n");
    environment.git(&["add", "--all"]);
    environment.commit("notes");
    let rollback: &[&str] = &["--rollback", "kubectl --context eks-live rollout undo deploy/web", "--", CALL];
    let opens = |verify: &str| open_with(&environment, &[&["--verify", verify], rollback].concat());
    for changing in [
        "sed -i s/known/unknown/ notes.md",
        "rm notes.md",
        "psql -h db.example.com -c 'delete from orders where id = 1'",
        "kubectl --context dev apply -f k8s/",
        "git push origin HEAD",
        "curl --fail https://example.com/health && pkill web",
    ] {
        let output = opens(changing);
        assert!(said(&output).contains("cannot verify a change: it "), "{changing}: {}", said(&output));
    }
    for looking in [
        "curl --fail https://example.com/health -o /dev/null",
        "kubectl --context eks-live get pods",
        "psql -h db.example.com -c 'select count(*) from orders'",
        "pytest -q tests/smoke",
        "cargo test --test smoke",
        "curl --fail https://example.com/health > answer.json && grep -q ok answer.json",
        "test -e works",
    ] {
        let output = opens(looking);
        assert!(output.status.success(), "{looking}: {}", said(&output));
    }
}

#[test]
fn agents_open_and_verify_and_only_people_do_the_rest() {
    let environment = environment();
    let as_agent = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_checkrein");
        environment.command(program).args(arguments).env("CLAUDECODE", "1").output().unwrap()
    };
    let output = as_agent(&[
        "--json",
        "change",
        "open",
        "--issue",
        "1",
        "--rollback",
        "touch back",
        "--verify",
        "test -e works",
        "--",
        CALL,
    ]);
    assert!(output.status.success(), "{}", said(&output));
    let change: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(change["opened_by"], "agent");
    let id = change["change"].as_str().unwrap();
    let refused = |arguments: &[&str]| {
        let output = as_agent(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said(&output).contains("for humans only"), "{arguments:?}: {}", said(&output));
    };
    refused(&["change", "approve", id, "--yes"]);
    refused(&["change", "close", id]);
    refused(&["change", "verify", id, "--rollback", "--yes"]);
    refused(&["change", "rollback", id, "--yes"]);
    let early = as_agent(&["change", "verify", id]);
    assert!(said(&early).contains("has nothing to verify"), "{}", said(&early));
    approve(&environment, id);
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    let failed = as_agent(&["change", "verify", id, "--yes"]);
    assert_eq!(failed.status.code(), Some(2), "{}", said(&failed));
    assert!(!environment.project().join("back").exists());
    for (command, verdict) in [
        (format!("checkrein change approve {id} --yes"), Some("deny")),
        (format!("checkrein change close {id} --outcome x"), Some("deny")),
        (format!("checkrein change verify {id} --rollback --yes"), Some("deny")),
        (format!("checkrein change rollback {id} --yes"), Some("deny")),
        (format!("echo x > ~/.local/state/checkrein/changes/{id}.json"), Some("deny")),
        (format!("checkrein change verify {id}"), None),
        (format!("checkrein change open --issue 1 --rollback 'echo x' --verify true -- '{CALL}'"), None),
        ("checkrein change list".to_owned(), None),
    ] {
        let answer = ask(&environment, "other", &command, &command);
        assert_eq!(decision(&answer), verdict, "{command}: {answer}");
    }
}

#[test]
fn what_the_message_advises_passes() {
    let environment = environment();
    environment.configure(
        "config.yaml",
        "profile: unattended\napprovals:\n  wait: never\nproduction:\n  kube_contexts: [\"eks-live\"]\n",
    );
    let asked = ask(&environment, "s", "c1", CALL);
    let advised =
        reason(&asked).split('`').find(|part| part.starts_with("checkrein change open --issue")).unwrap();
    assert!(advised.ends_with(&format!("-- '{CALL}'")), "{advised}");
    assert_eq!(verdict(&environment, "c2", advised), None);
}

#[test]
fn a_record_never_lets_pass_more_than_its_command() {
    let environment = environment();
    environment.write("k8s/deploy.sh", &format!("{CALL}\n"));
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    let with = |more: &str| format!("{CALL}{more}");
    let others = [
        with(" --prune"),
        with(" "),
        with(" -f other/"),
        with("; rm -rf src"),
        with(" && kubectl --context eks-live delete ns shop"),
        with(" --context other-live --context eks-live"),
        format!("{CALL}; {CALL}"),
        format!("sudo {CALL}"),
        format!("cd .. && {CALL}"),
        format!("KUBECONFIG=other {CALL}"),
        format!("bash -c '{CALL}'"),
        "kubectl --context eks-live delete ns shop".to_owned(),
        "sh k8s/deploy.sh".to_owned(),
    ];
    for (number, other) in others.iter().enumerate() {
        let decided = verdict(&environment, &format!("c{number}"), other);
        assert!(decided.is_some(), "{other}");
    }
    let background = json!({ "tool_name": "Bash", "tool_use_id": "b", "tool_input": { "command": CALL, "run_in_background": true } });
    let answer = environment.answer_to(&environment.payload("s", "PreToolUse", background));
    assert_eq!(decision(&answer), Some("ask"), "in another manner");
    let mut elsewhere: Json =
        serde_json::from_slice(&environment.payload("s", "PreToolUse", shell_call("e", CALL, json!({}))))
            .unwrap();
    elsewhere["cwd"] = json!(environment.project().join("src"));
    let answer = environment.answer_to(elsewhere.to_string().as_bytes());
    assert_eq!(decision(&answer), Some("ask"), "in another directory");
    assert_eq!(state(&environment, &id), "approved");
    assert_eq!(verdict(&environment, "last", CALL), None);
}

/// Every text that is one letter away: taken out, put in, or written twice.
#[test]
fn no_other_text_uses_an_approval() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    let mut others: Vec<String> = Vec::new();
    for (place, letter) in CALL.char_indices() {
        let (before, behind) = CALL.split_at(place);
        let rest = &behind[letter.len_utf8()..];
        others.push(format!("{before}{rest}"));
        others.extend([" ", ";", "\n", "x"].map(|more| format!("{before}{more}{behind}")));
        others.push(format!("{before}{}{rest}", letter.to_uppercase()));
    }
    others.retain(|other| other != CALL);
    assert!(others.len() > 200);
    thread::scope(|scope| {
        for (session, some) in others.chunks(others.len().div_ceil(4)).enumerate() {
            let environment = &environment;
            scope.spawn(move || {
                for (number, other) in some.iter().enumerate() {
                    ask(environment, &format!("s{session}"), &format!("c{number}"), other);
                }
            });
        }
    });
    assert_eq!(state(&environment, &id), "approved");
    for session in 0..4 {
        let passed = environment.records(&format!("s{session}")).into_iter();
        assert_eq!(passed.filter(|record| !record["body"]["change"].is_null()).count(), 0);
    }
    assert_eq!(verdict(&environment, "last", CALL), None);
    assert_eq!(environment.records("s").last().unwrap()["body"]["change"], json!(id));
}

// Source: seed 004-64
#[test]
fn what_goes_beyond_the_blast_radius_does_not_pass() {
    let environment = environment();
    let deploy = "./deploy.sh";
    environment.write("deploy.sh", &format!("#!/bin/sh\n{CALL}\n"));
    fs::set_permissions(environment.project().join("deploy.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let id = opened(&environment, deploy);
    approve(&environment, &id);
    environment
        .write("deploy.sh", &format!("#!/bin/sh\n{CALL}\nkubectl --context eks-live delete ns shop\n"));
    let asked = ask(&environment, "s", "c1", deploy);
    assert!(decision(&asked).is_some(), "{asked}");
    assert!(reason(&asked).contains("changed since"), "{asked}");
    environment.write("deploy.sh", &format!("#!/bin/sh\n{CALL}\n"));
    assert_eq!(verdict(&environment, "c2", deploy), None, "it is what was approved again");
}

#[test]
fn a_context_that_was_switched_since_is_another_change() {
    let environment = environment();
    let settings = |context: &str| {
        fs::create_dir_all(environment.home().join(".kube")).unwrap();
        fs::write(environment.home().join(".kube/config"), format!("current-context: {context}\n")).unwrap();
    };
    let call = "kubectl delete ns shop";
    environment.configure("config.yaml", "production:\n  kube_contexts: [\"eks-live\", \"gke-live\"]\n");
    settings("eks-live");
    let id = opened(&environment, call);
    approve(&environment, &id);
    settings("gke-live");
    assert!(verdict(&environment, "c1", call).is_some(), "another cluster");
    settings("eks-live");
    assert_eq!(verdict(&environment, "c2", call), None);
}

#[test]
fn of_many_that_come_at_once_one_passes() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    let passed = thread::scope(|scope| {
        let calls: Vec<_> = (0..6)
            .map(|number| {
                let environment = &environment;
                scope.spawn(move || decision(&ask(environment, &format!("s{number}"), "c", CALL)).is_none())
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).filter(|passed| *passed).count()
    });
    assert_eq!(passed, 1);
}

#[test]
fn files_that_somebody_else_wrote_let_nothing_pass() {
    let environment = environment();
    let id = opened(&environment, CALL);
    let folder = environment.state().join("changes");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let record = folder.join(format!("{id}.json"));
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    let forged = json!({
        "step": "approved", "at": 1, "until": 99_999_999_999_999_u64, "by": "dev", "record": "sha256:0", "seal": "0".repeat(64),
    });
    fs::write(folder.join(format!("{id}.approved-1.json")), forged.to_string()).unwrap();
    assert_eq!(state(&environment, &id), "waiting for approval");
    assert_eq!(verdict(&environment, "c1", CALL).as_deref(), Some("ask"));
    approve(&environment, &id);
    let text = fs::read_to_string(&record).unwrap();
    let other = CALL.replace("apply -f k8s/", "delete ns shop");
    fs::write(&record, text.replace(CALL, &other)).unwrap();
    assert!(verdict(&environment, "c2", &other).is_some());
    assert!(verdict(&environment, "c3", CALL).is_some(), "what it was is not known any more");
    fs::write(&record, text).unwrap();
    assert_eq!(verdict(&environment, "c4", CALL), None);
    // Taking the mark of its use away, or damaging it, makes no second use.
    let used = folder.join(format!("{id}.passed.json"));
    fs::write(&used, "{}").unwrap();
    assert_eq!(verdict(&environment, "c5", CALL).as_deref(), Some("ask"));
}

#[test]
fn without_a_configuration_a_name_asks_about_nothing_new() {
    let environment = TestEnvironment::new();
    for command in [
        "vercel --prod",
        "helm upgrade web ./chart -n prod",
        "AWS_PROFILE=prod aws cloudformation deploy --template-file t.yml --stack-name s",
        "git push origin production",
        "TF_WORKSPACE=prod terraform apply",
    ] {
        let answer = ask(&environment, "s", command, command);
        assert!(decision(&answer).is_none(), "{command}: {answer}");
    }
    // What is asked about anyway may have a change record too.
    let call = "kubectl --context prod apply -f k8s/";
    let asked = ask(&environment, "s", "c1", call);
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    let checked = environment.checkrein(&["--json", "check", call]);
    assert!(said(&checked).contains("checkrein change open --issue"), "{}", said(&checked));
    let id = opened(&environment, call);
    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c2", call), None);
}

#[test]
fn an_ordinary_allowance_is_no_change_record() {
    let environment = environment();
    assert_eq!(verdict(&environment, "c1", CALL).as_deref(), Some("ask"));
    let output = environment.checkrein(&["allow", "LAST", "--once", "--yes"]);
    assert!(!output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("change record"), "{}", said(&output));
}

#[test]
fn where_nobody_is_asked_it_is_refused() {
    let environment = environment();
    environment.configure(
        "config.yaml",
        "profile: unattended\napprovals:\n  wait: never\nproduction:\n  kube_contexts: [\"eks-live\"]\n",
    );
    assert_eq!(verdict(&environment, "c1", CALL).as_deref(), Some("deny"));
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c2", CALL), None);
}

/// An environment in which the command of a change with these options ran.
fn ran_with(options: &[&str]) -> (TestEnvironment, String) {
    let environment = environment();
    let output = open_with(&environment, &[options, &[CALL]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let change: Json = serde_json::from_slice(&output.stdout).unwrap();
    let id = change["change"].as_str().unwrap().to_owned();
    let early = environment.checkrein(&["change", "rollback", &id, "--yes"]);
    assert!(said(&early).contains("has nothing to take back"), "{}", said(&early));
    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    (environment, id)
}

/// A change whose verification succeeds may still be one that nobody wants.
// Source: seed 004-65
#[test]
fn a_change_that_ran_is_taken_back_by_its_own_command() {
    let (environment, id) =
        ran_with(&["--rollback", "touch rolled-back", "--rollback", "false", "--verify", "true", "--"]);
    let early = environment.checkrein(&["change", "rollback", &id]);
    assert!(
        !early.status.success() && !environment.project().join("rolled-back").exists(),
        "nobody was asked"
    );
    let back = environment.checkrein(&["change", "rollback", &id, "--yes"]);
    assert_eq!(back.status.code(), Some(2), "{}", said(&back));
    assert!(said(&back).contains("the rollback stopped: `false` failed with status 1"), "{}", said(&back));
    assert!(environment.project().join("rolled-back").exists());
    assert_eq!(state(&environment, &id), "verification failed");

    let (environment, id) = ran_with(&["--rollback", "touch rolled-back", "--verify", "true", "--"]);
    environment.succeed(&["change", "verify", &id]);
    environment.succeed(&["change", "rollback", &id, "--yes"]);
    assert!(environment.project().join("rolled-back").exists());
    assert_eq!(state(&environment, &id), "rolled back");
    let again = environment.checkrein(&["change", "rollback", &id, "--yes"]);
    assert!(said(&again).contains("has nothing to take back: it is rolled back"), "{}", said(&again));
}

#[test]
fn a_user_at_a_terminal_is_offered_the_rollback() {
    let environment = environment();
    let id = opened(&environment, CALL);
    approve(&environment, &id);
    assert_eq!(verdict(&environment, "c1", CALL), None);
    end(&environment, "c1", CALL);
    let program = env!("CARGO_BIN_EXE_checkrein");
    let seen = support::terminal::typed(&environment, &format!("{program} change verify {id}"), "y\n");
    assert!(seen.contains("Run the rollback now?") && seen.contains("is rolled back"), "{seen}");
    assert!(environment.project().join("rolled-back").exists(), "{seen}");
}

#[test]
fn a_change_is_opened_from_a_file_as_from_words() {
    let environment = environment();
    let file = json!({ "issue": "OPS-12", "command": CALL, "rollback": ["true"], "verify": "true" });
    environment.write("change.json", &file.to_string());
    environment.succeed(&["change", "open", "--file", "change.json"]);
    environment.write("change.json", r#"{"issue": "OPS-12", "when": "now"}"#);
    let output = environment.checkrein(&["change", "open", "--file", "change.json"]);
    assert!(said(&output).contains("is not a change: unknown field `when`"), "{}", said(&output));
    let words: Vec<&str> = CALL.split(' ').collect();
    let more = [&["--rollback", "true", "--verify", "true", "--"], words.as_slice()].concat();
    let output = open_with(&environment, &more);
    let change: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(change["command"], CALL);
}

/// A command of a pipeline is one like that of an agent: an approved change of exactly it lets it pass, once.
#[cfg(target_os = "linux")]
#[test]
fn a_command_of_a_pipeline_passes_by_its_change() {
    let environment = environment();
    let bin = environment.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("kubectl"), "#!/bin/sh\necho \"$@\" >> \"$HOME/applied\"\n").unwrap();
    fs::set_permissions(bin.join("kubectl"), fs::Permissions::from_mode(0o755)).unwrap();
    environment.write(
        "p.yaml",
        &format!("name: p\nworktree: none\nsteps:\n  - {{name: apply, command: '{CALL}', time: 2s}}\n"),
    );
    let run = || {
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(["--json", "pipeline", "run", "p.yaml", "--anew"])
            .env("PATH", path)
            .output()
            .unwrap();
        serde_json::from_slice::<Json>(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)))
    };
    let asked = run();
    assert_eq!(asked["steps"][0]["reason"], "nobody answered in time", "{asked}");
    let id = opened(&environment, CALL);
    assert_eq!(run()["steps"][0]["outcome"], "did_not_run", "it is not approved");
    approve(&environment, &id);
    let passed = run();
    let reason = passed["steps"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(&format!("`checkrein change verify {id}` is due")), "{passed}");
    assert_eq!(state(&environment, &id), "not verified");
    assert_eq!(run()["steps"][0]["outcome"], "did_not_run", "once");
    assert_eq!(fs::read_to_string(environment.home().join("applied")).unwrap().lines().count(), 1);
}
