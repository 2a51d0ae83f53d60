//! What another session changed after an action stays when that action is taken back, whether its end was told or not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// What one session does, what another one does to the same files, and what stands there when the first is undone.
struct Case {
    own: &'static str,
    other: &'static str,
    kept: &'static [(&'static str, &'static str)],
}

/// Nothing stands there.
const GONE: &str = "-";

const CASES: [Case; 8] = [
    Case { own: "echo two > f", other: "echo three > f", kept: &[("f", "three\n")] },
    Case { own: "echo two > f", other: "rm f", kept: &[("f", GONE)] },
    Case { own: "echo two > f; rm g", other: "echo three >> f", kept: &[("g", "g\n")] },
    Case { own: "rm -r d", other: "mkdir d; echo x > d/new", kept: &[("d/new", "x\n"), ("d/one", "1\n")] },
    Case { own: "sed -i s/one/two/ f", other: "mv f h", kept: &[("f", GONE), ("h", "two\n")] },
    Case { own: "echo new > n", other: "echo more >> n", kept: &[("n", "new\nmore\n")] },
    // What the other one was about and left as it was is not its work.
    Case { own: "echo two > f", other: "sed -i s/nothing/something/ f", kept: &[("f", "one\n")] },
    Case { own: "rm f", other: "rm -f f", kept: &[("f", "one\n")] },
];

fn tell(environment: &TestEnvironment, session: &str, event: &str, command: &str, more: Json) -> Json {
    environment.answer_to(&environment.payload(session, event, shell_call(session, command, more)))
}

fn begin(environment: &TestEnvironment, session: &str, command: &str) {
    let answer = tell(environment, session, "PreToolUse", command, json!({}));
    assert!(!matches!(decision(&answer), Some("deny" | "ask")), "{command}: {answer}");
}

fn run(environment: &TestEnvironment, command: &str) {
    environment.command("bash").args(["-c", command]).stdin(Stdio::null()).output().unwrap();
}

fn end(environment: &TestEnvironment, session: &str, command: &str) {
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    tell(environment, session, "PostToolUse", command, told);
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for (path, text) in [("f", "one\n"), ("g", "g\n"), ("d/one", "1\n")] {
        environment.write(path, text);
    }
    environment
}

fn read(environment: &TestEnvironment, name: &str) -> String {
    fs::read_to_string(environment.project().join(name)).unwrap_or_else(|_| GONE.to_owned())
}

fn undo(environment: &TestEnvironment, arguments: &[&str]) -> String {
    let output = environment.checkrein(&[&["undo", "--yes"], arguments].concat());
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// In which order the two run.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// The other one begins when the first has ended.
    After,
    /// The other one runs between what the first writes and its end, so that whoever looks then finds what the other one wrote.
    Within,
    /// The end of the first is never told.
    Untold,
}

#[test]
fn what_another_session_changed_since_stays() {
    for order in [Order::After, Order::Within, Order::Untold] {
        for Case { own, other, kept } in CASES {
            let environment = project();
            begin(&environment, "own", own);
            run(&environment, own);
            if matches!(order, Order::After) {
                end(&environment, "own", own);
                // The clocks tick apart.
                std::thread::sleep(std::time::Duration::from_millis(30));
            }
            begin(&environment, "other", other);
            run(&environment, other);
            end(&environment, "other", other);
            if matches!(order, Order::Within) {
                end(&environment, "own", own);
            }
            let said = undo(&environment, &["own", "--remove-new"]);
            for (name, text) in kept {
                let found = read(&environment, name);
                assert_eq!(found, *text, "{own}, {order:?} {other}: {name}\n{said}");
            }
        }
    }
}

#[test]
fn who_changed_it_is_told_and_force_puts_it_back() {
    for other in ["echo three > f", "rm f"] {
        let environment = project();
        begin(&environment, "own", "echo two > f");
        run(&environment, "echo two > f");
        begin(&environment, "other", other);
        run(&environment, other);
        end(&environment, "other", other);
        end(&environment, "own", "echo two > f");
        let said = undo(&environment, &["own"]);
        assert!(said.contains(&format!("another session changed it since (`{other}`)")), "{said}");
        assert!(said.contains("`--force`"), "{said}");
        let said = undo(&environment, &["own", "--force"]);
        assert_eq!(read(&environment, "f"), "one\n", "{other}: {said}");
    }
}

/// What the other one did is taken back first, and then nothing of it is in the way.
#[test]
fn what_another_session_took_back_is_in_nobodys_way() {
    let environment = project();
    for (session, command) in [("own", "echo two > f"), ("other", "echo three > f")] {
        begin(&environment, session, command);
        run(&environment, command);
        end(&environment, session, command);
    }
    let said = undo(&environment, &["other"]);
    assert_eq!(read(&environment, "f"), "two\n", "{said}");
    let said = undo(&environment, &["own"]);
    assert_eq!(read(&environment, "f"), "one\n", "{said}");
}
