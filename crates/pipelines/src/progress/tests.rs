use std::collections::{BTreeMap, BTreeSet};

use checkrein_policy::LayerKind;
use checkrein_supervise::runs::RunId;

use super::*;
use crate::state::PipelineState;

fn pipeline(steps: &str) -> PipelineFile {
    let text = format!("name: p\ninputs:\n  kind:\n    default: bug\nsteps:\n{steps}");
    PipelineFile::parse("p.yaml", &text, LayerKind::Project).unwrap_or_else(|errors| panic!("{errors}"))
}

fn state(pipeline: &PipelineFile) -> PipelineState {
    PipelineState {
        version: PipelineState::VERSION,
        id: RunId::at(0, 1),
        pipeline: pipeline.name.clone(),
        task: "t".into(),
        file: "p.yaml".into(),
        digest: String::new(),
        is_own: false,
        workspace: "/w".into(),
        directory: "/w".into(),
        worktree: None,
        inputs: BTreeMap::new(),
        created: 0,
        written: 0,
        end: None,
        halt: None,
        steps: pipeline.steps.iter().map(|step| StepState::new(&step.name)).collect(),
    }
}

fn values() -> TemplateValues {
    TemplateValues([("inputs.kind".to_owned(), "bug".to_owned())].into_iter().collect())
}

/// Runs until nothing is left, each step by what `ends` says of it; the names of the steps in the order in which they began.
fn played(
    pipeline: &PipelineFile,
    state: &mut PipelineState,
    mut ends: impl FnMut(&str, usize) -> StepResult,
) -> Vec<String> {
    let mut began = Vec::new();
    loop {
        let starting = state.next(pipeline, &state.clone().with_outcomes(&values()), &BTreeSet::new());
        let Some(place) = starting.first().copied() else { return began };
        let name = pipeline.steps[place].name.clone();
        state.begin(place, 1);
        let result = ends(&name, state.steps[place].attempts.len());
        began.push(name);
        state.finish(pipeline, place, result, 2);
        assert!(began.len() < 100, "it does not end: {began:?}");
    }
}

fn passed() -> StepResult {
    StepResult::plain(StepEnd::Passed, "done")
}

fn failed(problems: &[&str]) -> StepResult {
    StepResult {
        problems: problems.iter().map(|one| (*one).to_owned()).collect(),
        count: u64::try_from(problems.len()).ok(),
        ..StepResult::plain(StepEnd::Failed, "it failed")
    }
}

fn outcomes(state: &PipelineState) -> Vec<(&str, StepOutcome)> {
    state.steps.iter().map(|step| (step.name.as_str(), step.outcome)).collect()
}

const THREE: &str =
    "  - {name: a, command: make}\n  - {name: b, command: test}\n  - {name: c, command: end}\n";

#[test]
fn steps_follow_each_other_and_what_waits_for_a_failure_did_not_run() {
    let pipeline = pipeline(THREE);
    let mut one = state(&pipeline);
    assert_eq!(played(&pipeline, &mut one, |_, _| passed()), ["a", "b", "c"]);
    assert_eq!(one.conclusion(), PipelineEnd::Passed);
    let mut other = state(&pipeline);
    let ends = |name: &str, _| if name == "b" { failed(&["x"]) } else { passed() };
    assert_eq!(played(&pipeline, &mut other, ends), ["a", "b"]);
    assert_eq!(outcomes(&other)[2], ("c", StepOutcome::DidNotRun));
    assert_eq!(other.steps[2].reason, "it waits for `b`");
    assert_eq!(other.conclusion(), PipelineEnd::Failed);
}

#[test]
fn a_step_that_did_not_run_is_no_success() {
    let pipeline = pipeline(THREE);
    let mut state = state(&pipeline);
    played(&pipeline, &mut state, |name, _| match name {
        "c" => StepResult::plain(StepEnd::DidNotRun, "its program is not there"),
        _ => passed(),
    });
    assert_eq!(state.conclusion(), PipelineEnd::Incomplete);
    assert_eq!(state.conclusion().status(), 4);
}

#[test]
fn what_is_not_wanted_is_left_out_and_lets_the_others_on() {
    let pipeline = pipeline(
        "  - {name: a, command: make, when: \"inputs.kind == 'feature'\"}\n  - {name: b, command: test, when: \"steps.a.outcome == 'left_out'\"}\n",
    );
    let mut state = state(&pipeline);
    assert_eq!(played(&pipeline, &mut state, |_, _| passed()), ["b"]);
    assert_eq!(outcomes(&state), [("a", StepOutcome::LeftOut), ("b", StepOutcome::Passed)]);
    assert_eq!(state.conclusion(), PipelineEnd::Passed);
}

#[test]
fn a_failure_is_tried_again_as_often_as_the_file_says() {
    let pipeline = pipeline("  - {name: a, command: make, retries: 2}\n");
    for (succeeds_at, began) in [(2, 2), (3, 3), (9, 3)] {
        let mut state = state(&pipeline);
        let ends = |_: &str, attempt| if attempt >= succeeds_at { passed() } else { failed(&["x"]) };
        assert_eq!(played(&pipeline, &mut state, ends).len(), began);
    }
}

const LOOP: &str = "  - {name: plan, command: plan}\n  - {name: code, command: make}\n  - name: tests\n    command: test\n    on_failure: {back_to: code, at_most: 4}\n  - {name: end, command: end}\n";

#[test]
fn a_failure_goes_back_with_what_is_wrong_and_on_when_it_is_mended() {
    let pipeline = pipeline(LOOP);
    let mut state = state(&pipeline);
    let mut told = Vec::new();
    let began = played(&pipeline, &mut state, |name, attempt| match (name, attempt) {
        ("tests", 1) => failed(&["x", "y"]),
        ("tests", 2) => failed(&["y"]),
        _ => passed(),
    });
    assert_eq!(began, ["plan", "code", "tests", "code", "tests", "code", "tests", "end"]);
    assert_eq!(state.conclusion(), PipelineEnd::Passed);
    let (_, code) = pipeline.step("code").unwrap();
    state.steps[2].outcome = StepOutcome::Waiting;
    state.steps[2].feedback = "assert 1 == 2".into();
    told.push(state.feedback_for(&pipeline, code));
    assert_eq!(told, ["`tests` failed:\nassert 1 == 2"]);
}

#[test]
fn a_loop_ends_by_two_strikes_by_standing_still_and_by_its_cap_and_says_what_to_look_at() {
    let pipeline = pipeline(LOOP);
    let run = |ends: &dyn Fn(usize) -> StepResult| {
        let mut state = state(&pipeline);
        played(&pipeline, &mut state, |name, attempt| if name == "tests" { ends(attempt) } else { passed() });
        assert_eq!(state.conclusion(), PipelineEnd::Halted);
        assert_eq!(outcomes(&state)[3], ("end", StepOutcome::DidNotRun));
        state.halt.unwrap()
    };
    let same = run(&|_| failed(&["tests::adds"]));
    assert_eq!(
        (same.verdict, same.rounds, same.look_at),
        (LoopVerdict::SameAgain, 2, vec!["tests::adds".to_owned()])
    );
    let still = run(&|attempt| failed(&[["a", "b", "c", "d", "e"][attempt - 1]]));
    assert_eq!((still.verdict, still.rounds), (LoopVerdict::StandsStill, 4));
    let all = ["a", "b", "c", "d", "e", "f"];
    let capped = run(&|attempt| failed(&all[attempt..]));
    assert_eq!((capped.verdict, capped.rounds), (LoopVerdict::CapReached, 4));
}

#[test]
fn a_no_is_final() {
    let pipeline = pipeline(LOOP);
    let mut state = state(&pipeline);
    let ends = |name: &str, _| match name {
        "tests" => StepResult::plain(StepEnd::Refused, "the user said no"),
        _ => passed(),
    };
    assert_eq!(played(&pipeline, &mut state, ends), ["plan", "code", "tests"]);
    assert_eq!(state.conclusion(), PipelineEnd::Refused);
}

#[test]
fn parallel_steps_stay_within_the_limit_and_agents_work_alone() {
    let pipeline = pipeline(
        "  - {name: a, command: a, needs: []}\n  - {name: b, command: b, needs: []}\n  - {name: c, command: c, needs: []}\n  - {name: d, agent: [claude], prompt: x, needs: []}\n",
    );
    let mut state = state(&pipeline);
    assert_eq!(state.next(&pipeline, &values(), &BTreeSet::new()), [0, 1]);
    state.begin(0, 1);
    state.begin(1, 1);
    assert!(state.next(&pipeline, &values(), &BTreeSet::from([0, 1])).is_empty());
    state.finish(&pipeline, 0, passed(), 2);
    assert_eq!(state.next(&pipeline, &values(), &BTreeSet::from([1])), [2]);
    state.begin(2, 1);
    state.finish(&pipeline, 1, passed(), 2);
    // The agent waits until the command has ended.
    assert!(state.next(&pipeline, &values(), &BTreeSet::from([2])).is_empty());
    state.finish(&pipeline, 2, passed(), 2);
    assert_eq!(state.next(&pipeline, &values(), &BTreeSet::new()), [3]);
    state.begin(3, 1);
    assert!(state.next(&pipeline, &values(), &BTreeSet::from([3])).is_empty());
}

#[test]
fn being_cut_off_anywhere_changes_nothing_about_the_end() {
    let pipeline = pipeline(LOOP);
    let ends = |name: &str, rounds: u32| match (name, rounds) {
        ("tests", 0) => failed(&["x", "y"]),
        ("tests", 1) => failed(&["y"]),
        _ => passed(),
    };
    for cut in 0..8 {
        let mut state = state(&pipeline);
        let mut count = 0;
        loop {
            let all = state.clone().with_outcomes(&values());
            let Some(place) = state.next(&pipeline, &all, &BTreeSet::new()).first().copied() else { break };
            state.begin(place, 1);
            count += 1;
            if count == cut {
                state.resume();
                continue;
            }
            let result = ends(&pipeline.steps[place].name, state.steps[place].rounds.rounds);
            state.finish(&pipeline, place, result, 2);
        }
        assert_eq!(state.conclusion(), PipelineEnd::Passed, "cut at {cut}");
        assert_eq!(state.steps[2].rounds.rounds, 2, "cut at {cut}");
    }
}

// Source: seed 004-33
#[test]
fn going_on_from_a_step_leaves_what_stands_before_it() {
    let pipeline = pipeline(LOOP);
    let mut state = state(&pipeline);
    played(&pipeline, &mut state, |name, _| if name == "end" { failed(&["x"]) } else { passed() });
    let mut again = state.clone();
    again.resume();
    assert_eq!(played(&pipeline, &mut again, |_, _| passed()), ["end"]);
    state.resume_from(&pipeline, 1);
    assert_eq!(played(&pipeline, &mut state, |_, _| passed()), ["code", "tests", "end"]);
}

#[test]
fn a_verdict_is_not_asked_for_again_until_it_is_another() {
    let text = "name: p\nreviewers:\n  gemini:\n    command: [gemini]\n    model: gemini-3-pro\nsteps:\n  - {name: a, command: make}\n  - {name: b, review: changes, retries: 2, on_failure: {back_to: a}}\n";
    let pipeline =
        PipelineFile::parse("p.yaml", text, LayerKind::Project).unwrap_or_else(|errors| panic!("{errors}"));
    let play = |first: StepResult| {
        let mut known = state(&pipeline);
        played(&pipeline, &mut known, |name, attempt| match (name, attempt) {
            ("b", 1) => first.clone(),
            _ => passed(),
        })
    };
    // REVISE goes back to who wrote it; nobody who answered is tried again.
    assert_eq!(play(failed(&["no documentation"])), ["a", "b", "a", "b"]);
    assert_eq!(play(StepResult::plain(StepEnd::DidNotRun, "its quota is used up")), ["a", "b", "b"]);
}

#[test]
fn whoever_has_a_turn_again_on_the_way_is_told_too() {
    let text = "name: p\nsteps:\n  - {name: write, agent: [claude], prompt: x}\n  - {name: adversary, agent: [codex], prompt: x}\n  - {name: red, command: pytest, runner: pytest, phase: red, on_failure: {back_to: write}}\n  - {name: code, agent: [claude], prompt: x}\n";
    let pipeline =
        PipelineFile::parse("p.yaml", text, LayerKind::Project).unwrap_or_else(|errors| panic!("{errors}"));
    let mut state = state(&pipeline);
    for place in 0..2 {
        state.begin(place, 1);
        state.finish(&pipeline, place, passed(), 2);
    }
    state.begin(2, 3);
    let result = StepResult { feedback: "they pass before the work".to_owned(), ..failed(&["x"]) };
    assert_eq!(state.finish(&pipeline, 2, result, 4), StepConsequence::SentBack("write".to_owned()));
    let told = |place: usize| state.feedback_for(&pipeline, &pipeline.steps[place]);
    assert!(told(0).contains("they pass before the work"), "{}", told(0));
    assert_eq!(told(1), told(0));
    assert_eq!(told(3), "");
}
