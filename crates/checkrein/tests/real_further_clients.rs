//! Real clients under `checkrein run`, driven by a scripted model on loopback: what they tell is counted, and what was stopped goes on. `cargo
//! xtask clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::process::Stdio;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::chat_model::{Call, ChatModel};
use support::driven::{command, shell};
use support::pool::{Job, wait};

/// Runs a client on a script under `checkrein run`; the report. `None` where it is not installed.
fn report(environment: &TestEnvironment, client: &str, calls: Vec<Call>, options: &[&str]) -> Option<Json> {
    let model = ChatModel::start(calls);
    let Some(plain) = command(environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return None;
    };
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["--json", "run", "--time", "80s"]).args(options).arg("--");
    let words = command.arg(plain.get_program()).args(plain.get_args()).args(telling(client));
    let output = words.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().last().unwrap_or_default();
    Some(serde_json::from_str(last).unwrap_or_else(|_| panic!("{client}: {text}")))
}

/// What has a client tell what it does, beside what it is given anyway.
fn telling(client: &str) -> &'static [&'static str] {
    if client == "copilot" { &["--output-format", "json"] } else { &[] }
}

/// A rule by which a harmless command is blocked.
const FORBIDS: &str = "step_reviewer:\n  rules:\n    custom:\n      - name: forbidden_word\n        \
    when: action.command.contains(\"forbidden\")\n        decision: block\n        reason: the word is forbidden\n";

/// Tokens of input at which a run with a limit of 9,000 was stopped in time, of the 13,000 that it would have used: Codex writes down what an
/// answer took when the next call has begun.
const IN_TIME: std::ops::Range<u64> = 2000..11_000;

/// Under `checkrein run` answers and tokens are counted without any hook, and the session is known.
fn is_counted(client: &str) {
    let environment = TestEnvironment::new();
    let Some(report) = report(&environment, client, vec![shell(client, "echo hi > hi.txt")], &[]) else {
        return;
    };
    assert_eq!((&report["status"], &report["iterations"]), (&json!(0), &json!(2)), "{client}: {report}");
    assert!(report["session"].is_string(), "{client}: {report}");
    let two_answers = json!({ "input": 2000, "output": 100, "cache_write": 0, "cache_read": 0 });
    assert_eq!(report["tokens"], two_answers, "{client}: {report}");
    assert!(report["cost"].as_f64().is_some_and(|cost| cost > 0.0), "{client}: {report}");
    assert_eq!(report["watched"]["unguarded"], 1, "{client}: {report}");
}

/// With hooks nobody counts a call twice, what the hooks refuse is none that ran, and a limit of tokens ends the run.
fn is_counted_with_hooks(client: &str) {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", FORBIDS);
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    let calls =
        || ["echo a > a.txt", "echo forbidden > f.txt", "echo b > b.txt"].map(|text| shell(client, text));
    let Some(report) = report(&environment, client, calls().to_vec(), &["--profile", "unattended"]) else {
        return;
    };
    assert_eq!(report["status"], 0, "{client}: {report}");
    assert_eq!(report["tokens"]["input"], 4000, "{client}: {report}");
    let (watched, project) = (&report["watched"], environment.project());
    assert_eq!((&watched["unguarded"], &watched["refusable"]), (&json!(0), &json!(0)), "{client}: {report}");
    assert!(watched["guarded"].as_u64().is_some_and(|count| count >= 2), "{client}: {report}");
    assert!(project.join("a.txt").exists() && project.join("b.txt").exists(), "{client}: {report}");
    assert!(!project.join("f.txt").exists(), "{client}: {report}");
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    // Copilot CLI writes down what it spent within seconds, not at once.
    let call = if client == "copilot" { "sleep 3" } else { "ls" };
    let calls = (0..12).map(|_| shell(client, call)).collect();
    let limited = self::report(&environment, client, calls, &["--tokens", "9000"]).unwrap();
    let status = limited["status"].as_u64().unwrap_or_default();
    assert!((121..=122).contains(&status), "{client}: {limited}");
    let tokens = limited["tokens"]["input"].as_u64().unwrap_or_default();
    assert!(IN_TIME.contains(&tokens), "{client}: it was not stopped in time: {limited}");
}

/// Without hooks a limit of tokens ends the run while the client works, also of one that tells its tokens at its end only.
fn is_limited_without_hooks(client: &str) {
    let environment = TestEnvironment::new();
    let calls = (0..12).map(|_| shell(client, "sleep 1")).collect();
    let Some(report) = report(&environment, client, calls, &["--tokens", "9000"]) else { return };
    if client == "copilot" {
        // It names its session at its end only, so nobody finds what it spends.
        assert_eq!(report["status"], 120, "{client}: {report}");
        return;
    }
    let status = report["status"].as_u64().unwrap_or_default();
    assert!((121..=122).contains(&status), "{client}: {report}");
    let tokens = report["tokens"]["input"].as_u64().unwrap_or_default();
    assert!(IN_TIME.contains(&tokens), "{client}: it was not stopped in time: {report}");
}

/// Without hooks a call that would have been blocked ends an unattended run, whatever the client calls its tools.
fn is_judged_without_hooks(client: &str) {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", FORBIDS);
    let calls = ["echo forbidden", "sleep 5; echo late > late.txt"].map(|text| shell(client, text)).to_vec();
    let Some(report) = report(&environment, client, calls, &["--profile", "unattended"]) else { return };
    assert_eq!(
        (&report["status"], &report["stopped_by"]),
        (&json!(115), &json!("unguarded")),
        "{client}: {report}"
    );
    assert!(!environment.project().join("late.txt").exists(), "{client}: {report}");
}

/// All tests here; those that take the longest begin.
fn jobs() -> Vec<Job> {
    let of = |name: &str, job: fn(&str), clients: &[&'static str]| -> Vec<Job> {
        clients.iter().map(|client| (format!("{client}::{name}"), job, *client)).collect()
    };
    let with_droid = [SUPERVISED, &["droid"]].concat();
    [
        of("is_counted_with_hooks", is_counted_with_hooks, SUPERVISED),
        of("goes_on_with_its_session", goes_on, SUPERVISED),
        of("is_limited_without_hooks", is_limited_without_hooks, SUPERVISED),
        of("is_judged_without_hooks", is_judged_without_hooks, &with_droid),
        of("is_counted", is_counted, &with_droid),
    ]
    .concat()
}

macro_rules! supervised {
    ($($name:ident),*) => {
        const SUPERVISED: &[&str] = &[$(stringify!($name)),*];
        $(mod $name {
            use super::{jobs, wait};

            #[test]
            fn is_counted() {
                wait(concat!(stringify!($name), "::is_counted"), jobs);
            }

            #[test]
            fn is_counted_with_hooks() {
                wait(concat!(stringify!($name), "::is_counted_with_hooks"), jobs);
            }

            #[test]
            fn is_limited_without_hooks() {
                wait(concat!(stringify!($name), "::is_limited_without_hooks"), jobs);
            }

            #[test]
            fn is_judged_without_hooks() {
                wait(concat!(stringify!($name), "::is_judged_without_hooks"), jobs);
            }

            #[test]
            fn goes_on_with_its_session() {
                wait(concat!(stringify!($name), "::goes_on_with_its_session"), jobs);
            }
        })*
    };
}

supervised!(copilot, opencode, qwen, gemini, codex, claude);

mod droid {
    use super::{jobs, wait};

    #[test]
    fn is_counted() {
        wait("droid::is_counted", jobs);
    }

    #[test]
    fn is_judged_without_hooks() {
        wait("droid::is_judged_without_hooks", jobs);
    }
}

/// Stopped under `checkrein run`, a client goes on with its own session: what it did before is not done again.
fn goes_on(client: &str) {
    let environment = TestEnvironment::new();
    // Its hooks tell of a session that its output names at the end only.
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    let steps = ["one", "two", "three", "four", "five", "six"];
    let calls = steps
        .iter()
        .map(|step| shell(client, Box::leak(format!("echo {step} >> steps.txt; sleep 1").into_boxed_str())));
    let model = ChatModel::start(calls.collect());
    let Some(plain) = command(&environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return;
    };
    let run = |options: &[&str], words: bool| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["run", "--time", "100s"]).args(options);
        if words {
            command.arg("--").arg(plain.get_program()).args(plain.get_args()).args(telling(client));
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = run(&["--max-iterations", "2"], true);
    assert_eq!(status, Some(123), "{client}: {said}");
    let (status, said) = run(&["--resume", "--max-iterations", "50"], false);
    assert_eq!(status, Some(0), "{client}: {said}");
    assert!(said.contains("with session"), "{client}: {said}");
    let done = std::fs::read_to_string(environment.project().join("steps.txt")).unwrap();
    assert_eq!(done.matches("one").count(), 1, "{client}: {done}: {said}: {}", model.heard());
    assert!(done.ends_with("six\n"), "{client}: {done}");
}
