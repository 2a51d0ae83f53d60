//! The behaviour of whole sessions: what is found, what is left alone, and how large the state grows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

use checkrein_patterns::{
    ActionFacts, ActionNumber, ActionSuccess, Activity, Bearing, Clarity, DetectorState, Edit, Fingerprint,
    IssueChange, OutcomeFacts, PatternKind, PatternSettings, Probe, Share, VisitedPlace, observation,
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
            clarity: Clarity::Understood,
            place: Some(VisitedPlace::of(&format!("/proj/src/{}", self.number % 5))),
            edit: None,
            alignment: None,
            file_operations: u32::from(deed == Activity::Changes),
            processes: 1,
            probe: Probe::Other,
            bytes_written: 0,
            touches: Vec::new(),
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
