//! Each threshold has an effect: a session in which something is seen at the threshold as it is, and not, or the other way round, at another.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use checkrein_patterns::{
    ActionFacts, ActionNumber, ActionSuccess, Activity, Audience, Bearing, Claim, Clarity, DetectorState,
    Edit, Fingerprint, OutcomeFacts, Pace, PatternKind, PatternSettings, Probe, ScopeSide, Share, Touch, Use,
    VisitedPlace, observation,
};
use checkrein_policy::PatternThresholds;

/// A session that is played by hand.
#[derive(Default)]
struct Session {
    behaviour: DetectorState,
    number: u64,
}

impl Session {
    fn plan(&mut self, action: &str, deed: Activity) -> ActionFacts {
        self.number += 1;
        ActionFacts {
            number: ActionNumber(self.number),
            actor: Fingerprint::default(),
            action: Fingerprint::of(action),
            exact: Fingerprint::of(action),
            without_options: Fingerprint::default(),
            name: String::new(),
            bearing: Bearing::Counts,
            deed,
            pace: Pace::Prompt,
            clarity: Clarity::Understood,
            place: None,
            edit: None,
            alignment: None,
            file_operations: 0,
            processes: 1,
            probe: Probe::Other,
            bytes_written: 0,
            touches: Vec::new(),
            cause: None,
            fired: Vec::new(),
        }
    }

    fn ends(&mut self, plan: &ActionFacts, output: &str, success: ActionSuccess) {
        let observation = observation(output, success);
        let ending = OutcomeFacts {
            success,
            observation: &observation,
            output_bytes: 0,
            duration_ms: None,
            pause_ms: 0,
            error: None,
        };
        self.behaviour.finished(plan, &ending);
    }

    fn runs(&mut self, action: &str, deed: Activity, output: &str, success: ActionSuccess) {
        let plan = self.plan(action, deed);
        self.ends(&plan, output, success);
    }

    fn sees(&self, kind: PatternKind, thresholds: PatternThresholds) -> bool {
        let settings =
            PatternSettings { thresholds, audience: Audience::Nobody, ..PatternSettings::default() };
        self.behaviour.issues(&settings).iter().any(|issue| issue.kind == kind)
    }
}

/// Plays a session; it must be seen with the thresholds as they are, and no more after a change of one of them.
fn seen_until(kind: PatternKind, play: impl Fn(&mut Session), changes: &[fn(&mut PatternThresholds)]) {
    let mut session = Session::default();
    play(&mut session);
    assert!(session.sees(kind, PatternThresholds::default()), "{kind:?} is not seen at all");
    for (index, change) in changes.iter().enumerate() {
        let mut thresholds = PatternThresholds::default();
        change(&mut thresholds);
        assert!(!session.sees(kind, thresholds), "{kind:?}: change {index} has no effect");
    }
}

fn repeat(count: usize, play: impl Fn(&mut Session)) -> impl Fn(&mut Session) {
    move |session| (0..count).for_each(|_| play(session))
}

// Source: seed 001-20
#[test]
fn stuck_loops() {
    let kind = PatternKind::StuckLoop;
    let runs = |session: &mut Session| session.runs("ls", Activity::Looks, "a", ActionSuccess::Succeeded);
    seen_until(kind, repeat(4, runs), &[|t| t.stuck_loop.rounds = 5]);
    let fails = |session: &mut Session| session.runs("make", Activity::Runs, "boom", ActionSuccess::Failed);
    seen_until(kind, repeat(3, fails), &[|t| t.stuck_loop.failing_rounds = 4]);
    let pair = |session: &mut Session| {
        session.runs("a", Activity::Looks, "1", ActionSuccess::Succeeded);
        session.runs("b", Activity::Looks, "2", ActionSuccess::Succeeded);
    };
    seen_until(kind, repeat(3, pair), &[|t| t.stuck_loop.pair_rounds = 4]);
    let waits =
        |session: &mut Session| session.runs("sleep", Activity::Waits, "pending", ActionSuccess::Succeeded);
    seen_until(kind, repeat(20, waits), &[|t| t.stuck_loop.waiting_factor = 6]);
    let says = |session: &mut Session| session.behaviour.said(Fingerprint(7), Share::default());
    seen_until(kind, repeat(4, says), &[|t| t.stuck_loop.messages = 5]);
    let condenses = |session: &mut Session| session.behaviour.condensed();
    seen_until(kind, repeat(10, condenses), &[|t| t.stuck_loop.condensations = 11]);
}

// Source: seed 001-20
#[test]
fn errors_and_tests_and_edits() {
    let play = |session: &mut Session| {
        for name in ["a", "b", "c"] {
            let missing = format!("cat: /proj/{name}: No such file");
            session.runs(&format!("cat {name}"), Activity::Looks, &missing, ActionSuccess::Failed);
        }
    };
    seen_until(
        PatternKind::RepetitiveErrors,
        play,
        &[
            |t| t.repetitive_errors.threshold = 4,
            |t| t.repetitive_errors.window = 2,
            |t| t.repetitive_errors.horizon = 2,
        ],
    );
    let failing = |session: &mut Session| {
        session.runs("t", Activity::Runs, "0 passed, 3 failed", ActionSuccess::Failed);
    };
    seen_until(PatternKind::Stagnation, repeat(2, failing), &[|t| t.stagnation.none_passing = 3]);
    let partly = |session: &mut Session| {
        session.runs("t", Activity::Runs, "1 passed, 3 failed", ActionSuccess::Failed);
    };
    seen_until(PatternKind::Stagnation, repeat(3, partly), &[|t| t.stagnation.some_passing = 4]);
    let back_and_forth = |session: &mut Session| {
        for (before, after) in [("x", "y"), ("y", "x"), ("x", "y")] {
            let mut intended = session.plan(before, Activity::Changes);
            intended.edit = Some(Edit {
                path: Fingerprint(1),
                before: Fingerprint::of(before),
                after: Fingerprint::of(after),
            });
            session.ends(&intended, "done", ActionSuccess::Succeeded);
        }
    };
    seen_until(PatternKind::OscillatingEdits, back_and_forth, &[|t| t.oscillating_edits.edits = 4]);
}

#[test]
fn places_and_goals() {
    let touches = |session: &mut Session| {
        for (path, side) in
            [(1, ScopeSide::Inside), (2, ScopeSide::Inside), (3, ScopeSide::Outside), (4, ScopeSide::Outside)]
        {
            let mut plan = session.plan("cat", Activity::Looks);
            plan.touches = vec![Touch { path: Fingerprint(path), side, use_of: Use::Read }];
            session.ends(&plan, &path.to_string(), ActionSuccess::Succeeded);
        }
    };
    seen_until(
        PatternKind::ScopeCreep,
        touches,
        &[|t| t.scope_creep.ratio = 0.5, |t| t.scope_creep.places = 3],
    );
    let drifts = |session: &mut Session| {
        for action in 0..13_u8 {
            let mut plan = session.plan("do", Activity::Runs);
            plan.alignment = Some(80 - action * 6);
            session.ends(&plan, &action.to_string(), ActionSuccess::Succeeded);
        }
    };
    seen_until(
        PatternKind::GoalDrift,
        drifts,
        &[
            |t| t.goal_drift.alignment = 0.4,
            |t| t.goal_drift.fall = 0.9,
            |t| t.goal_drift.window = 11,
            |t| t.goal_drift.actions = 14,
        ],
    );
}

#[test]
fn resources_and_looks() {
    let grows = |session: &mut Session| {
        for point in 0..3_u32 {
            for _ in 0..5 {
                let mut plan = session.plan("write", Activity::Changes);
                plan.file_operations = 20 * 2_u32.pow(point);
                session.ends(&plan, &session.number.to_string(), ActionSuccess::Succeeded);
            }
        }
    };
    seen_until(
        PatternKind::ResourceSpiral,
        grows,
        &[|t| t.resource_spiral.growth = 2.0, |t| t.resource_spiral.points = 4],
    );
    let wanders = |session: &mut Session| {
        for index in 0..20_usize {
            let place = if index % 3 == 2 { index % 2 } else { index };
            let mut plan = session.plan("cat", Activity::Looks);
            plan.place =
                Some(VisitedPlace::of(&format!("/{}d{place}/file{index}", "deep/".repeat(place % 8))));
            session.ends(&plan, &index.to_string(), ActionSuccess::Succeeded);
        }
    };
    seen_until(
        PatternKind::ExplorationWandering,
        wanders,
        &[
            |t| t.exploration_wandering.score = 0.99,
            |t| t.exploration_wandering.looks = 21,
            |t| t.exploration_wandering.directories = 200,
            |t| t.exploration_wandering.returns = 1.0,
        ],
    );
}

#[test]
fn what_is_said() {
    let assumes = |session: &mut Session| {
        session.runs("a", Activity::Runs, "bash: frobnicate: command not found", ActionSuccess::Failed);
        session.runs("b", Activity::Runs, "No module named 'b'", ActionSuccess::Failed);
    };
    seen_until(
        PatternKind::Hallucination,
        assumes,
        &[|t| t.hallucination.occurrences = 3, |t| t.hallucination.horizon = 1],
    );
    let mut session = Session::default();
    session.runs("t", Activity::Runs, "0 passed, 3 failed", ActionSuccess::Failed);
    session.behaviour.claimed(Claim::AllTestsPass);
    assert!(session.sees(PatternKind::Hallucination, PatternThresholds::default()));
    let offers = |session: &mut Session| session.behaviour.said(Fingerprint(1), Share::new(0.8));
    seen_until(PatternKind::Cascade, offers, &[|t| t.cascade.score = 0.9]);
}
