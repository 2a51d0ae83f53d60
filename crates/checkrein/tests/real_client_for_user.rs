//! What a user at a terminal sees in the real Claude Code: one line under a call where something was changed, saved or held, the summary at
//! the end of the turn, and the status line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::cell::Cell;
use std::time::{Duration, Instant};

use support::TestEnvironment;
use support::client::{read, with_a_person};
use support::model::{Model, Turn, bash};

/// How long the client may take to show the end of a turn.
const END: Duration = Duration::from_secs(5);

/// Plays a script before a person, to the end of its turn: what they saw without spaces, and the model.
fn played(environment: &TestEnvironment, script: Vec<Turn>) -> (String, Model) {
    let turns = script.len();
    let model = Model::start(script, vec![]);
    let heard_all = Cell::new(None);
    let done = || {
        if model.asked() >= turns && heard_all.get().is_none() {
            heard_all.set(Some(Instant::now()));
        }
        heard_all.get().is_some_and(|at: Instant| at.elapsed() > END)
    };
    let seen = read(&with_a_person(environment, &model, &["--dangerously-skip-permissions"], done));
    (seen, model)
}

#[test]
fn a_user_sees_what_was_done_and_the_model_reads_nothing_of_it() {
    let environment = TestEnvironment::new();
    environment.write("notes/draft.md", "the only copy\n");
    environment.succeed(&["init", "--yes", "--statusline"]);
    let script = vec![
        bash("ls"),
        bash("rm -rf notes"),
        bash("git push --force origin fix"),
        bash("rm -rf ~/project"),
        Turn::Says("finished"),
    ];
    let (seen, model) = played(&environment, script);
    for line in [
        "PreToolUse:Bashsays:checkrein:saved2filesandfoldersbefore`rm-rfnotes`;`checkreinundo`",
        "PreToolUse:Bashsays:checkrein:runs`gitpush--force-with-leaseoriginfix`instead:`--force`became`--force-with-lease`",
        "PreToolUse:Bashsays:checkrein:stopped`rm-rf~/project`:",
        "Stopsays:checkrein:4calls:1ok,1rewritten,1saved,1stopped;`checkreinlog`",
        "checkreinnocallreviewedyet",
    ] {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    assert!(!seen.contains("before`ls`"), "{seen}");
    let heard = model.heard();
    assert!(!heard.contains("checkrein: saved") && !heard.contains("`checkrein log`"), "{heard}");
    assert!(heard.contains("checkrein stopped this call"), "{heard}");
}

#[test]
fn a_user_sees_that_their_configuration_became_looser_and_it_does_not_count() {
    let environment = TestEnvironment::new();
    environment.write("notes/draft.md", "the only copy\n");
    environment.succeed(&["init", "--yes"]);
    let session = || {
        let script = vec![bash("rm -rf ~/project"), Turn::Says("finished")];
        played(&environment, script).0
    };
    let waits = "checkrein:yourconfigurationletspassmorethanyouconfirmed;`checkreintrust`showswhat";
    assert!(!session().contains(waits));
    environment.configure("config.yaml", "mode: observe\n");
    let seen = session();
    assert!(seen.contains(waits), "{seen}");
    assert!(
        environment.project().join("notes/draft.md").exists(),
        "the looser configuration counted: {seen}"
    );
}
