//! The behaviour of whole sessions: what is found, what is left alone, and how large the state grows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

use checkrein_patterns::{
    ActionFacts, ActionNumber, ActionSuccess, Activity, Bearing, Clarity, DetectorState, Edit, Fingerprint,
    IssueChange, OutcomeFacts, Pace, PatternKind, PatternSettings, Probe, Share, VisitedPlace, observation,
};

/// A session that is played by hand.
#[derive(Default)]
struct Session {
    behaviour: DetectorState,
    number: u64,
    found: Vec<(u64, PatternKind)>,
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
            place: Some(VisitedPlace::of(&format!("/proj/src/{}", self.number % 5))),
            edit: None,
            alignment: None,
            file_operations: u32::from(deed == Activity::Changes),
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
            output_bytes: output.len() as u64,
            duration_ms: Some(10),
            pause_ms: 0,
            error: None,
        };
        self.behaviour.finished(plan, &ending);
        let issues = self.behaviour.issues(&PatternSettings::default());
        for news in self.behaviour.news(&issues) {
            match news {
                IssueChange::Began(issue) | IssueChange::Grew(issue) => {
                    assert!(!issue.actions.is_empty(), "{issue:?} names no actions");
                    self.behaviour.noted(issue.kind, issue.severity);
                    self.found.push((self.number, issue.kind));
                }
                IssueChange::Ended(kind) => self.behaviour.ended(kind),
            }
        }
    }

    fn runs(&mut self, action: &str, output: &str) {
        let plan = self.plan(action, Activity::Runs);
        self.ends(&plan, output, ActionSuccess::Succeeded);
    }

    fn fails(&mut self, action: &str, output: &str) {
        let plan = self.plan(action, Activity::Runs);
        self.ends(&plan, output, ActionSuccess::Failed);
    }

    fn edits(&mut self, before: &str, after: &str) {
        let mut plan = self.plan(&format!("edit {before} {after}"), Activity::Changes);
        plan.edit = Some(Edit {
            path: Fingerprint(1),
            before: Fingerprint::of(before),
            after: Fingerprint::of(after),
        });
        self.ends(&plan, "done", ActionSuccess::Succeeded);
    }

    fn kinds(&self) -> Vec<PatternKind> {
        self.found.iter().map(|(_, kind)| *kind).collect()
    }
}

#[test]
fn a_day_of_honest_work_is_left_alone() {
    let mut session = Session::default();
    for feature in 0..20 {
        session.runs("git status", &format!("clean {feature}"));
        session.runs(&format!("cat src/{feature}.rs"), &format!("text {feature}"));
        session.fails("cargo test", &format!("error: test {feature} failed\n{feature} passed, 2 failed"));
        session.edits(&format!("old {feature}"), &format!("new {feature}"));
        session.fails("cargo test", &format!("error: test {feature} failed\n{feature} passed, 1 failed"));
        session.edits(&format!("new {feature}"), &format!("newer {feature}"));
        session.runs("cargo test", &format!("{feature} passed, 0 failed in 0.0{feature}s"));
        session.runs("git commit", &format!("[main {feature:07x}]"));
    }
    assert_eq!(session.found, []);
}

// Source: seed 001-4, 001-21
#[test]
fn a_loop_is_found_and_its_end_too() {
    let mut session = Session::default();
    (0..5).for_each(|_| session.runs("ls", "a b"));
    assert_eq!(session.found, [(4, PatternKind::StuckLoop)]);
    assert_eq!(session.behaviour.standing().len(), 1);
    session.runs("cat a", "text");
    assert_eq!(session.behaviour.standing(), []);
}

#[test]
fn the_same_failure_after_every_edit_is_found_gently() {
    let mut session = Session::default();
    for attempt in 0..4 {
        session.fails("cargo run", "error: the thing is broken");
        session.edits(&format!("try {attempt}"), &format!("try {}", attempt + 1));
    }
    assert!(session.kinds().contains(&PatternKind::RepetitiveErrors), "{:?}", session.found);
    assert!(!session.kinds().contains(&PatternKind::StuckLoop), "{:?}", session.found);
}

#[test]
fn a_person_who_steps_in_settles_what_stands_and_nothing_else() {
    let mut session = Session::default();
    (0..2).for_each(|_| session.runs("ls", "a b"));
    session.behaviour.prompted();
    (0..2).for_each(|_| session.runs("ls", "a b"));
    assert_eq!(session.kinds(), [PatternKind::StuckLoop], "`go on` does not hide a loop");
    session.behaviour.prompted();
    (0..3).for_each(|_| session.runs("ls", "a b"));
    assert_eq!(session.kinds().len(), 1, "after the user stepped in, counting begins anew");
}

#[test]
fn the_loops_of_sub_agents_are_their_own() {
    let mut session = Session::default();
    for round in 0..6 {
        let actor = Fingerprint(1 + u32::from(round % 2 == 0));
        let mut plan = session.plan("ls", Activity::Runs);
        plan.actor = actor;
        session.ends(&plan, "a b", ActionSuccess::Succeeded);
    }
    assert_eq!(session.found, [], "two agents looked three times each");
}

// Source: seed 001-63
#[test]
fn the_state_stays_small_whatever_happens() {
    let mut session = Session::default();
    let mut largest = 0;
    for round in 0..20_000_u64 {
        match round % 7 {
            0 => session.fails(&format!("a {}", round % 11), &format!("No such file {round}")),
            1 => session.edits(&format!("x {}", round % 3), &format!("y {}", round % 5)),
            2 => session.fails("cargo test", &format!("{} passed, 3 failed", round % 2)),
            3 => session.behaviour.said(Fingerprint(round as u32 % 2), Share::default()),
            _ => session.runs(&format!("b {}", round % 4), &format!("{}", round % 9)),
        }
        largest = largest.max(postcard::to_stdvec(&session.behaviour).unwrap().len());
    }
    assert!(largest < 4 * 1024, "{largest} bytes");
}

impl Session {
    /// What would begin or grow with an action that is called next.
    fn foresees(&self, action: &str, deed: Activity) -> Vec<PatternKind> {
        let mut ahead = Self { behaviour: self.behaviour.clone(), number: self.number, found: Vec::new() };
        let plan = ahead.plan(action, deed);
        let issues = self.behaviour.foreseen(&plan, &PatternSettings::default());
        issues.iter().map(|issue| issue.kind).collect()
    }

    fn foresees_edit(&self, before: &str, after: &str) -> Vec<PatternKind> {
        let mut ahead = Self { behaviour: self.behaviour.clone(), number: self.number, found: Vec::new() };
        let mut plan = ahead.plan(&format!("edit {before} {after}"), Activity::Changes);
        plan.edit = Some(Edit {
            path: Fingerprint(1),
            before: Fingerprint::of(before),
            after: Fingerprint::of(after),
        });
        let issues = self.behaviour.foreseen(&plan, &PatternSettings::default());
        issues.iter().map(|issue| issue.kind).collect()
    }
}

// Source: seed 001-34
#[test]
fn an_action_is_handed_to_the_detectors_before_it_runs_and_leaves_no_trace_there() {
    let mut session = Session::default();
    (0..3).for_each(|_| session.runs("ls", "a b"));
    let before = session.behaviour.clone();
    assert_eq!(session.foresees("ls", Activity::Runs), [PatternKind::StuckLoop]);
    assert_eq!(session.foresees("cat a", Activity::Runs), []);
    assert_eq!(session.behaviour, before);
    session.runs("ls", "a b");
    assert_eq!(session.found, [(4, PatternKind::StuckLoop)], "it came as it was foreseen");
    assert_eq!(session.foresees("ls", Activity::Runs), [], "what stands already is not foreseen again");

    // Errors come back as they came.
    let mut session = Session::default();
    (0..2).for_each(|_| session.fails("cargo run", "error: no such file"));
    let foreseen = session.foresees("cargo run", Activity::Runs);
    assert!(foreseen.contains(&PatternKind::RepetitiveErrors), "{foreseen:?}");
    // So do tests.
    let mut session = Session::default();
    session.fails("cargo test", "0 passed, 3 failed");
    assert!(session.foresees("cargo test", Activity::Runs).contains(&PatternKind::Stagnation));
    // What an edit writes is known beforehand.
    let mut session = Session::default();
    for (before, after) in [("a", "b"), ("b", "a"), ("a", "b")] {
        session.edits(before, after);
    }
    session.found.clear();
    let foreseen = session.foresees_edit("b", "a");
    session.edits("b", "a");
    assert_eq!(foreseen, session.kinds(), "an edit that goes back once more");
}

#[test]
fn nothing_is_held_against_an_action_that_may_come_out_otherwise() {
    let mut session = Session::default();
    (0..2).for_each(|_| session.fails("cargo test", "0 passed, 3 failed"));
    session.edits("old", "new");
    assert_eq!(session.foresees("cargo test", Activity::Runs), [], "something was changed in between");
    let mut session = Session::default();
    (0..3).for_each(|_| session.runs("ls", "a b"));
    assert_eq!(session.foresees("ls", Activity::Waits), [], "it waits for something else");
    session.behaviour.prompted();
    assert_eq!(session.foresees("ls", Activity::Runs), [], "the user spoke in between");
}

/// What is foreseen of an action that then ends as it did before, is found.
#[test]
fn what_is_foreseen_comes_true_where_nothing_changes() {
    let mut state = 7_u64;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut foreseen_in_all = 0;
    for _ in 0..400 {
        let mut session = Session::default();
        for _ in 0..12 {
            let which = next(3);
            let action = format!("call {which}");
            let foreseen = session.foresees(&action, Activity::Runs);
            let standing: Vec<PatternKind> = session.kinds();
            match which {
                0 => session.fails(&action, "error: the thing is broken"),
                1 => session.fails(&action, "1 passed, 2 failed"),
                _ => session.runs(&action, "the same text"),
            }
            foreseen_in_all += foreseen.len();
            let found: Vec<PatternKind> = session.kinds().split_off(standing.len());
            for kind in foreseen {
                assert!(found.contains(&kind), "{kind:?} was foreseen, and {found:?} came");
            }
        }
    }
    assert!(foreseen_in_all > 100, "only {foreseen_in_all} were foreseen");
}
