//! What stands in a record of a review, and what is left out.

use checkrein_policy::Policy;
use checkrein_protocol::ToolName;
use checkrein_testkit::world::{PROJECT, command, path, project};
use serde_json::json;

use super::*;

fn recorded_review(action: &Action) -> (Review, ReviewRecord) {
    let world =
        project().with_file(&path("notes.md"), "only here\n", checkrein_facts::VersionState::Untracked);
    let review = checkrein_review::review(action, &world, &Policy::default());
    let record = review_record(&review, action, ActionId("one".to_owned()), None, Mode::Enforce, 7);
    (review, record)
}

// Source: seed 002-6, 002-7, 002-16
#[test]
fn a_refusal_is_written_with_its_reasons() {
    let (review, record) = recorded_review(&command("rm -rf ~"));
    assert_eq!((record.verdict, record.decision), (VerdictKind::Block, review.decision));
    assert_eq!(record.reason, review.reasoning.primary);
    assert_eq!(record.effects, review.side_effects.effects);
    assert!(record.intent.is_some() && record.confidence.is_some() && !record.rules.is_empty());
    assert_eq!((record.cwd.as_str(), record.elapsed_us), (PROJECT, 7));
}

#[test]
fn a_call_about_which_nothing_is_said_leaves_what_comes_later_needs_and_no_reasons() {
    let (review, record) = recorded_review(&command("touch new.md"));
    assert_eq!(record.verdict, VerdictKind::Ok);
    assert_eq!(record.effects, review.side_effects.effects, "what happened is held against them");
    assert_eq!(record.exact, review.fingerprint.exact, "repetitions are told by it");
    assert!(record.intent.is_none() && record.further_reasons.is_empty() && record.governance.is_none());
}

#[test]
fn what_is_too_much_is_cut_and_counted() {
    let names: Vec<String> = (0..RECORDED_EFFECTS + 9).map(|number| format!("new-{number}")).collect();
    let (review, record) = recorded_review(&command(&format!("touch {}", names.join(" "))));
    let further = review.side_effects.effects.len() - RECORDED_EFFECTS;
    assert_eq!(record.effects.len(), RECORDED_EFFECTS);
    assert_eq!(record.further_file_operations, 9);
    assert!(
        record.problems.contains(&format!("{further} further effects are not written down")),
        "{:?}",
        record.problems
    );

    let values: Vec<usize> = (0..RECORDED_VALUES * 2).collect();
    let action = Action::tool_call("mcp__table__write", json!({ "rows": values, "last": 1 }), path("."));
    let (_, record) = recorded_review(&action);
    assert_eq!(record.tool, ToolName("mcp__table__write".to_owned()));
    let rows = record.input["rows"].as_array().cloned().unwrap_or_default();
    assert!(rows.len() < RECORDED_VALUES, "{}", rows.len());
    assert!(record.input.to_string().contains("more values]"), "{}", record.input);
}
