//! The controller over whole sessions: how it climbs, how it comes down, what holds it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_precision_loss)]

use checkrein_intervention::{
    Controller, CustomStrategy, DecisionContext, Deferral, Intervention, InterventionDecision,
    InterventionKind, LimitedResource, Proposed, Ran, RecoveryConsent, SessionLimit, Task,
};
use checkrein_patterns::{ActionNumber, Fingerprint, Issue, PatternKind, Share};
use checkrein_policy::{Interventions, StrategyType, TwoStrikes};
use checkrein_protocol::{Severity, Timestamp};

const GOALS: [&str; 1] = ["make the parser accept comments"];

const LIMITS: [SessionLimit; 2] = [
    SessionLimit { resource: LimitedResource::FileOperations, limit: 100.0, used: 40.0 },
    SessionLimit { resource: LimitedResource::Dollars, limit: 5.0, used: 1.5 },
];

fn issue(kind: PatternKind, severity: Severity, signal: f64) -> Issue {
    Issue {
        kind,
        severity,
        confidence: Share::new(1.0),
        impact: Share::default(),
        signal,
        summary: "something was seen".to_owned(),
        advice: "do something else".to_owned(),
        actions: vec![ActionNumber(3), ActionNumber(9)],
        growth: None,
        growths: Vec::new(),
    }
}

/// A controller with a clock.
struct Session {
    controller: Controller,
    settings: Interventions,
    seconds: u64,
    custom: Option<CustomStrategy>,
    stagnation: TwoStrikes,
    at_least: Option<InterventionKind>,
    goals: Vec<String>,
    scope: Vec<String>,
    outside: Vec<String>,
    made: Vec<String>,
}

impl Session {
    fn new() -> Self {
        Self {
            controller: Controller::default(),
            settings: Interventions::default(),
            seconds: 1000,
            custom: None,
            stagnation: TwoStrikes::Advise,
            at_least: None,
            goals: GOALS.map(str::to_owned).to_vec(),
            scope: Vec::new(),
            outside: Vec::new(),
            made: Vec::new(),
        }
    }

    fn decide(&self, issue: &Issue) -> InterventionDecision {
        let goals = self.goals.clone();
        self.controller.decide(
            issue,
            DecisionContext {
                now: Timestamp(self.seconds * 1000),
                action: ActionNumber(self.seconds),
                calls: &[Fingerprint(7)],
                task: Task {
                    goals: &goals,
                    workspace: Some("/proj"),
                    scope: &self.scope,
                    outside: &self.outside,
                    made: &self.made,
                },
                settings: &self.settings,
                consent: RecoveryConsent::Required,
                stagnation: self.stagnation,
                custom: self.custom.as_ref(),
                limits: &LIMITS,
                at_least: self.at_least,
            },
        )
    }

    fn after(&mut self, seconds: u64, issue: &Issue) -> Intervention {
        self.seconds += seconds;
        match self.decide(issue) {
            InterventionDecision::Intervene(made) => {
                self.controller.applied(&made, Timestamp(self.seconds * 1000));
                *made
            }
            InterventionDecision::Wait(why) => panic!("waits: {why:?}"),
        }
    }

    fn kind_after(&mut self, seconds: u64, issue: &Issue) -> InterventionKind {
        self.after(seconds, issue).kind
    }
}

// Source: seed 000-71, 000-75, 001-5
#[test]
fn what_does_not_help_climbs_one_rung_at_a_time_and_stops_last() {
    let mut session = Session::new();
    let stuck = |signal| issue(PatternKind::StuckLoop, Severity::High, signal);
    assert_eq!(session.kind_after(0, &stuck(4.0)), InterventionKind::SoftCorrection);
    assert_eq!(session.kind_after(120, &stuck(5.0)), InterventionKind::ContextReinforcement);
    assert_eq!(session.kind_after(120, &stuck(6.0)), InterventionKind::ResourceThrottling);
    assert_eq!(session.kind_after(120, &stuck(7.0)), InterventionKind::CheckpointRollback);
    // High is not grave enough for a stop; critical is.
    assert_eq!(session.kind_after(120, &stuck(8.0)), InterventionKind::CheckpointRollback);
    let critical = issue(PatternKind::StuckLoop, Severity::Critical, 9.0);
    assert_eq!(session.kind_after(120, &critical), InterventionKind::EmergencyStop);
}

// Source: seed 000-78
#[test]
fn what_helps_comes_down() {
    let mut session = Session::new();
    let errors = |signal| issue(PatternKind::RepetitiveErrors, Severity::High, signal);
    session.kind_after(0, &errors(10.0));
    assert_eq!(session.kind_after(120, &errors(10.0)), InterventionKind::ContextReinforcement);
    assert_eq!(
        session.kind_after(120, &errors(3.0)),
        InterventionKind::SoftCorrection,
        "the signal fell by 70 %"
    );
}

#[test]
fn an_issue_that_ended_in_time_was_helped() {
    let mut session = Session::new();
    let errors = issue(PatternKind::RepetitiveErrors, Severity::High, 5.0);
    session.kind_after(0, &errors);
    session.kind_after(120, &errors);
    session.controller.ended(PatternKind::RepetitiveErrors, ActionNumber(session.seconds + 2));
    assert_eq!(session.kind_after(60, &errors), InterventionKind::SoftCorrection);
}

// Source: seed 000-81, 000-83, 000-103
#[test]
fn cooldown_and_delay_hold_it_seed_000() {
    let mut session = Session::new();
    let errors = issue(PatternKind::RepetitiveErrors, Severity::High, 5.0);
    session.kind_after(0, &errors);
    session.seconds += 29;
    assert_eq!(session.decide(&errors), InterventionDecision::Wait(Deferral::Cooldown));
    session.seconds += 1;
    assert_eq!(session.decide(&errors), InterventionDecision::Wait(Deferral::Delay));
    session.seconds += 90;
    assert!(matches!(session.decide(&errors), InterventionDecision::Intervene(_)));
    session.settings.enabled = false;
    assert_eq!(session.decide(&errors), InterventionDecision::Wait(Deferral::Disabled));
}

// Source: seed 000-5, 000-70, 000-76
#[test]
fn limits_that_are_reached_escalate_upstream_5() {
    let mut session = Session::new();
    let low = |kind| issue(kind, Severity::Medium, 1.0);
    let kinds = [PatternKind::GoalDrift, PatternKind::Stagnation, PatternKind::Hallucination];
    for round in 0..10 {
        let kind = kinds[round % 3];
        // Long enough apart that each counts as the first of its pattern.
        assert!(session.kind_after(400, &low(kind)) <= InterventionKind::ContextReinforcement);
    }
    let eleventh = session.after(400, &low(PatternKind::ScopeCreep));
    assert_eq!(eleventh.kind, InterventionKind::ContextReinforcement);
    assert!(eleventh.reason.contains("number of interventions"), "{}", eleventh.reason);
}

#[test]
fn what_is_not_grave_never_climbs_far() {
    for (severity, most) in [
        (Severity::Low, InterventionKind::ContextReinforcement),
        (Severity::Medium, InterventionKind::ResourceThrottling),
        (Severity::High, InterventionKind::CheckpointRollback),
    ] {
        let mut session = Session::new();
        for round in 0_u32..20 {
            let found = issue(PatternKind::Stagnation, severity, f64::from(round + 3));
            assert!(session.kind_after(120, &found) <= most);
        }
    }
}

#[test]
fn a_stop_is_never_the_first_thing() {
    let mut session = Session::new();
    let critical = issue(PatternKind::ResourceSpiral, Severity::Critical, 5.0);
    assert_eq!(session.kind_after(0, &critical), InterventionKind::ResourceThrottling);
}

// Source: seed 000-90
#[test]
fn rungs_that_are_switched_off_are_stepped_over_downwards() {
    let mut session = Session::new();
    session.settings.hard_stop = false;
    session.settings.checkpoint_rollback.enabled = false;
    let critical = issue(PatternKind::StuckLoop, Severity::Critical, 5.0);
    for _ in 0..6 {
        assert!(session.kind_after(120, &critical) <= InterventionKind::ResourceThrottling);
    }
}

// Source: seed 000-22, 001-34
#[test]
fn throttling_refuses_the_repeated_call_until_others_ran_or_something_changed_and_a_person_lifts_it() {
    let throttled = || {
        let mut session = Session::new();
        let made = session.after(0, &issue(PatternKind::StuckLoop, Severity::Critical, 5.0));
        assert_eq!(made.throttle.as_ref().unwrap().refused, [Fingerprint(7)]);
        session
    };
    let mut session = throttled();
    (0..9).for_each(|_| session.controller.ran(Ran::Otherwise));
    assert!(session.controller.throttle().is_some_and(|throttle| !throttle.refused.is_empty()));
    session.controller.ran(Ran::Otherwise);
    assert_eq!(session.controller.throttle(), None);

    let mut session = throttled();
    session.controller.ran(Ran::Changed);
    assert!(session.controller.throttle().is_some_and(|throttle| throttle.refused.is_empty()));

    let mut session = throttled();
    session.controller.prompted();
    assert_eq!(session.controller.throttle(), None);
}

#[test]
fn a_standstill_climbs_with_its_repetitions_whatever_the_clock_says() {
    let mut session = Session::new();
    session.seconds = 0;
    let mut made = Vec::new();
    // One call a second, each the same: the clock alone would hold back everything after the first hint.
    for round in 3..40_u64 {
        session.seconds += 1;
        let severity = match round {
            3 | 4 => Severity::Medium,
            5 | 6 => Severity::High,
            _ => Severity::Critical,
        };
        let onset = ActionNumber(session.seconds.saturating_sub(15).max(1));
        let stuck = Issue {
            actions: vec![onset, ActionNumber(session.seconds)],
            ..issue(PatternKind::StuckLoop, severity, round as f64)
        };
        if let InterventionDecision::Intervene(intervention) = session.decide(&stuck) {
            session.controller.applied(&intervention, Timestamp(session.seconds * 1000));
            made.push((round, intervention.kind));
            if intervention.kind == InterventionKind::EmergencyStop {
                break;
            }
        }
    }
    let rounds: Vec<u64> = made.iter().map(|(round, _)| *round).collect();
    assert_eq!(rounds, [3, 7, 11, 15, 19]);
    assert_eq!(made.iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), InterventionKind::LADDER);
}

#[test]
fn a_loop_that_comes_back_is_taken_up_one_rung_higher() {
    let mut session = Session::new();
    let stuck = |now: u64| Issue {
        actions: vec![ActionNumber(now - 2), ActionNumber(now)],
        ..issue(PatternKind::StuckLoop, Severity::Critical, 5.0)
    };
    assert_eq!(session.kind_after(0, &stuck(1000)), InterventionKind::ResourceThrottling);
    session.controller.ended(PatternKind::StuckLoop, ActionNumber(session.seconds + 2));
    assert_eq!(session.kind_after(400, &stuck(1400)), InterventionKind::CheckpointRollback);
}

// Source: seed 000-23, 000-28
#[test]
fn each_limit_shrinks_by_the_growth_of_its_own_resource() {
    let mut session = Session::new();
    let spiral = Issue {
        growth: Some(2.2),
        growths: vec![(LimitedResource::FileOperations, 1.3), (LimitedResource::Seconds, 2.2)],
        ..issue(PatternKind::ResourceSpiral, Severity::High, 2.2)
    };
    let made = loop {
        let made = session.after(120, &spiral);
        if made.throttle.is_some() {
            break made;
        }
    };
    let throttle = made.throttle.unwrap();
    let factors = [(LimitedResource::FileOperations, 0.85), (LimitedResource::Seconds, 0.5)];
    assert_eq!(throttle.each, factors);
    assert!(made.text.contains("file operations 85 instead of 100 (40 used)."), "{}", made.text);
    assert!(!made.text.contains('$'), "money did not grow: {}", made.text);
}

#[test]
fn limits_shrink_by_the_severity_where_nothing_grows() {
    for (severity, factor) in [(Severity::Medium, 0.85), (Severity::High, 0.5), (Severity::Critical, 0.25)] {
        let mut session = Session::new();
        let errors = issue(PatternKind::RepetitiveErrors, severity, 5.0);
        let made = loop {
            let made = session.after(120, &errors);
            if made.throttle.is_some() {
                break made;
            }
        };
        let throttle = made.throttle.unwrap();
        assert!((throttle.factor - factor).abs() < 1e-9, "{throttle:?}");
        assert_eq!(throttle.refused, [Fingerprint(7)], "what fails again and again is refused too");
        let number = format!("file operations {} instead of 100", (factor * 100.0).round());
        assert!(made.text.contains(&number), "{}", made.text);
    }
}

#[test]
fn the_second_strike_halts_or_advises_seed_004() {
    let stagnation = |severity| issue(PatternKind::Stagnation, severity, 8.0);
    let mut session = Session::new();
    session.stagnation = TwoStrikes::Halt;
    assert_ne!(
        session.kind_after(0, &stagnation(Severity::Critical)),
        InterventionKind::EmergencyStop,
        "the first strike only tells"
    );
    assert_eq!(session.kind_after(1, &stagnation(Severity::Critical)), InterventionKind::EmergencyStop);

    let mut session = Session::new();
    for _ in 0..12 {
        let kind = session.kind_after(120, &stagnation(Severity::Critical));
        assert_ne!(kind, InterventionKind::EmergencyStop);
    }
}

// Source: seed 000-34
#[test]
fn a_rollback_names_the_action_before_which_the_trouble_began() {
    let mut session = Session::new();
    for _ in 0..3 {
        session.kind_after(120, &issue(PatternKind::StuckLoop, Severity::High, 5.0));
    }
    let made = session.after(120, &issue(PatternKind::StuckLoop, Severity::High, 5.0));
    assert_eq!(
        (made.kind, made.rollback.unwrap().before),
        (InterventionKind::CheckpointRollback, ActionNumber(3))
    );
}

// Source: seed 000-40, 000-41, 000-76
#[test]
fn after_a_rollback_limits_are_those_of_that_time_and_history_is_kept_seed_000() {
    let mut session = Session::new();
    let made = session.after(0, &issue(PatternKind::StuckLoop, Severity::Critical, 5.0));
    let began = made.throttle.unwrap().since;
    let proposed = Proposed { before: ActionNumber(3), after: began, changes: String::new() };
    session.controller.proposed(proposed.clone());
    assert_eq!(session.controller.awaits(), Some(&proposed));
    session.controller.rolled_back(ActionNumber(began.0 + 1));
    assert!(session.controller.throttle().is_some(), "it held already then");
    session.controller.rolled_back(began);
    assert_eq!(session.controller.throttle(), None);
    assert_eq!((session.controller.awaits(), session.controller.total()), (None, 1));
}

// Source: seed 000-11
#[test]
fn texts_say_what_was_seen_and_what_to_do_in_at_most_five_lines() {
    let mut session = Session::new();
    for severity in [Severity::High, Severity::High, Severity::High, Severity::High, Severity::Critical] {
        let made = session.after(120, &issue(PatternKind::StuckLoop, severity, 5.0));
        // What a rollback did is told in two more lines.
        let most = if made.rollback.is_some() { 3 } else { 5 };
        assert!(made.text.lines().count() <= most, "{}", made.text);
        assert!(made.text.contains("something was seen"), "{}", made.text);
        let reminds = made.kind == InterventionKind::ContextReinforcement;
        assert_eq!(made.text.contains(GOALS[0]), reminds, "{}", made.text);
    }
}

#[test]
fn rules_of_ones_own_choose_the_rung_and_the_ceiling_of_a_severity_stays_seed_000() {
    let rules = "repetitive_errors low 1 -> wait\nrepetitive_errors low 0 -> emergency_stop\n";
    let mut session = Session::new();
    session.custom = Some(CustomStrategy::parse(rules).unwrap());
    let issue = issue(PatternKind::RepetitiveErrors, Severity::Medium, 3.0);
    // Without `type: custom` nobody asks the rules.
    assert!(
        matches!(session.decide(&issue), InterventionDecision::Intervene(made) if made.kind == InterventionKind::SoftCorrection)
    );
    session.settings.strategy.kind = StrategyType::Custom;
    let made = session.after(0, &issue);
    assert_eq!(
        (made.kind, made.reason.as_str()),
        (InterventionKind::ResourceThrottling, "by a rule of your own")
    );
    session.seconds += 121;
    assert_eq!(session.decide(&issue), InterventionDecision::Wait(Deferral::OwnRule));
}

// Source: seed 000-18, 000-89
#[test]
fn a_reminder_holds_an_example_unless_it_is_left_out_seed_000() {
    for (wanted, expected) in [(true, true), (false, false)] {
        let mut session = Session::new();
        session.settings.context_reinforcement.include_examples = wanted;
        let errors = issue(PatternKind::RepetitiveErrors, Severity::High, 5.0);
        session.after(0, &errors);
        let made = session.after(120, &errors);
        assert_eq!(made.kind, InterventionKind::ContextReinforcement);
        assert_eq!(made.text.contains("For example:"), expected, "{}", made.text);
        assert!(made.text.lines().count() <= 5);
    }
}

/// The text of the first intervention of this kind about an issue.
fn text_of(mut session: Session, found: &Issue, kind: InterventionKind) -> String {
    (0..5).map(|_| session.after(120, found)).find(|made| made.kind == kind).unwrap().text
}

// Source: seed 000-31, 000-32
#[test]
fn a_notice_of_tighter_limits_names_them_seed_000() {
    let errors = issue(PatternKind::RepetitiveErrors, Severity::High, 5.0);
    let text = text_of(Session::new(), &errors, InterventionKind::ResourceThrottling);
    let expected = "Limits for the next 10 calls: file operations 50 instead of 100 (40 used), $2.50 instead of $5.00 ($1.50 used).";
    assert!(text.contains(expected), "{text}");
    let advice = text.lines().last().unwrap();
    assert!(advice.to_lowercase().contains("do something else"), "how to do with less: {text}");
}

// Source: seed 000-8
#[test]
fn a_hint_about_the_scope_names_the_task_the_place_and_what_lies_outside_seed_000() {
    let mut session = Session::new();
    session.scope = vec!["src/**".to_owned()];
    session.outside = vec!["/etc/hosts".to_owned(), "/home/dev/other/a.rs".to_owned()];
    let creep = issue(PatternKind::ScopeCreep, Severity::Medium, 0.5);
    let text = text_of(session, &creep, InterventionKind::SoftCorrection);
    for part in
        [GOALS[0], "Outside are: /etc/hosts, /home/dev/other/a.rs.", "Work belongs in src/** of /proj"]
    {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(text.lines().count() <= 5, "{text}");
}

// Source: seed 000-9
#[test]
fn a_hint_about_drift_names_the_goal_seed_000() {
    let drift = issue(PatternKind::GoalDrift, Severity::Medium, 0.6);
    let begun = text_of(Session::new(), &drift, InterventionKind::SoftCorrection);
    assert!(begun.contains(GOALS[0]) && begun.contains("Nothing was made for it yet"), "{begun}");
    let mut session = Session::new();
    session.made = ["src/parser.rs", "tests/parser.rs"].map(str::to_owned).to_vec();
    let text = text_of(session, &drift, InterventionKind::SoftCorrection);
    for part in [GOALS[0], "made so far: src/parser.rs, tests/parser.rs", "What of it is still to be done?"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(text.lines().count() <= 5, "{text}");
}

// Source: seed 000-14, 000-15, 000-16, 000-17, 000-20
#[test]
fn a_reminder_holds_the_first_request_the_boundaries_and_what_the_user_demands_seed_000() {
    use checkrein_policy::Strength;
    let goals =
        ["rewrite the lexer, but do not commit", "first the tests", "make the parser accept comments"];
    let reminder = |strength| {
        let mut session = Session::new();
        session.goals = goals.map(str::to_owned).to_vec();
        session.made = vec!["src/comments.rs".to_owned()];
        session.settings.context_reinforcement.reinforcement_strength = strength;
        let errors = issue(PatternKind::RepetitiveErrors, Severity::High, 5.0);
        let text = text_of(session, &errors, InterventionKind::ContextReinforcement);
        assert!(text.lines().count() <= 5, "{text}");
        text
    };
    let (light, medium, strong) =
        (reminder(Strength::Light), reminder(Strength::Medium), reminder(Strength::Strong));
    assert!(
        light.contains(goals[2]) && !light.contains("lexer") && !light.contains("the user says"),
        "{light}"
    );
    for part in [
        goals[2],
        "it began with: rewrite the lexer",
        "Work belongs in /proj",
        "the user says: do not commit.",
    ] {
        assert!(medium.contains(part), "{part} is missing in {medium}");
    }
    assert!(!medium.contains(goals[1]), "{medium}");
    let order: Vec<usize> =
        [goals[2], goals[1], goals[0]].iter().map(|goal| strong.find(goal).unwrap()).collect();
    assert!(order.is_sorted(), "the newest counts most: {strong}");
    assert!(strong.contains("the user says: do not commit."), "{strong}");
    assert!(strong.contains("made so far: src/comments.rs") && !medium.contains("so far"), "{strong}");
}

#[test]
fn an_advice_that_asks_ends_with_its_question() {
    let errors = Issue {
        advice: "look. Is it there?".to_owned(),
        ..issue(PatternKind::RepetitiveErrors, Severity::High, 5.0)
    };
    let text = text_of(Session::new(), &errors, InterventionKind::SoftCorrection);
    assert!(text.ends_with("Is it there?"), "{text}");
}

// Source: seed 000-104
#[test]
fn what_a_plugin_wants_makes_an_intervention_stronger_never_milder_and_stops_nothing_at_once() {
    let stuck = issue(PatternKind::StuckLoop, Severity::High, 4.0);
    let with = |wanted| {
        let mut session = Session::new();
        session.at_least = wanted;
        session
    };
    let first = |wanted| with(wanted).kind_after(0, &stuck);
    assert_eq!(first(None), InterventionKind::SoftCorrection);
    assert_eq!(first(Some(InterventionKind::SoftCorrection)), InterventionKind::SoftCorrection);
    assert_eq!(first(Some(InterventionKind::ResourceThrottling)), InterventionKind::ResourceThrottling);
    // Something milder comes before a stop, whoever wants it.
    let critical = issue(PatternKind::StuckLoop, Severity::Critical, 9.0);
    let mut session = with(Some(InterventionKind::EmergencyStop));
    assert_eq!(session.kind_after(0, &critical), InterventionKind::ResourceThrottling);
    assert_eq!(session.kind_after(120, &critical), InterventionKind::EmergencyStop);
    let mut session = Session::new();
    session.kind_after(0, &stuck);
    session.at_least = Some(InterventionKind::SoftCorrection);
    let next = session.kind_after(120, &issue(PatternKind::StuckLoop, Severity::High, 5.0));
    assert_eq!(next, InterventionKind::ContextReinforcement);
}
