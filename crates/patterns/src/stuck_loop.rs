//! Stuck loops: the same actions with the same results, and nothing but them.
//!
//! What is compared is the action *and* what it showed, so whatever makes progress is no loop: another range read is another action, an
//! output that changed is another result. What waits for something may answer the same for long.

use std::collections::VecDeque;

use checkrein_policy::StuckLoopThresholds;
use checkrein_protocol::{Fingerprint, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{Issue, PatternKind, Share, newest};
use crate::observation::ActionSuccess;
use crate::settings::entries;
use crate::step::{Activity, Answer, Bearing, Fate, Pace, Run, Step};

/// The longest cycle that is recognised, in steps (ours).
pub(crate) const LONGEST_CYCLE: usize = 8;

/// How many steps are remembered: the longest cycle, five times (ours).
pub(crate) const REMEMBERED: usize = LONGEST_CYCLE * 5;

/// How closely the calls of a loop follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// Nothing but calls that were refused lies between them.
    Close,
    /// Calls that have no bearing on them do.
    Apart,
}

/// For how long nothing was done but to wait: calls that only look or pause, each answered as one of the last ones was. What is remembered
/// of a session is shorter than such a wait may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Wait {
    actor: Fingerprint,
    repeats: u32,
}

impl Wait {
    /// Takes up a step, before it is one of these, oldest first.
    pub(crate) fn took(&mut self, step: &Step, before: &VecDeque<Step>) {
        let looks = matches!(step.deed, Activity::Waits | Activity::Looks);
        let mut own = before.iter().rev().filter(|past| past.actor == step.actor).take(LONGEST_CYCLE);
        let goes_on = looks && own.any(|past| step.repeats(past));
        let so_far = if self.actor == step.actor { self.repeats } else { 0 };
        *self = Self { actor: step.actor, repeats: if goes_on { so_far.saturating_add(1) } else { 0 } };
    }

    /// How many rounds of a cycle of this length that makes.
    fn rounds(self, period: usize) -> usize {
        usize::try_from(self.repeats).unwrap_or(usize::MAX) / period + 1
    }
}

/// After how many equal rounds a wait with pauses is no longer only told, and after how many it may be ended (ours): with a pause of a minute
/// that is an hour and a half, and two hours.
const HELD_UP: usize = 100;
const MAY_END: usize = 120;

/// The loop in which the steps end, if they do. Calls between them that were refused, each another one, make a loop nothing else; nor does
/// what has no bearing on them: reading, or making what is empty.
pub(crate) fn detect(
    steps: &[Step],
    wait: Wait,
    newest_name: &str,
    thresholds: &StuckLoopThresholds,
) -> Option<Issue> {
    let left = |counts: &dyn Fn(&Step) -> bool| -> Option<Vec<Step>> {
        let is_other = steps.iter().any(|step| !counts(step));
        is_other.then(|| steps.iter().filter(|step| counts(step)).copied().collect())
    };
    let ran = |step: &Step| step.fate == Fate::Counts;
    let bears = |step: &Step| ran(step) && step.bearing == Bearing::Counts;
    let told = (wait, newest_name);
    ending(steps, Spread::Close, told, thresholds)
        .or_else(|| left(&ran).and_then(|steps| ending(&steps, Spread::Close, told, thresholds)))
        .or_else(|| {
            // A loop ends in what is repeated, not in what lies between.
            steps.last().filter(|last| bears(last))?;
            left(&bears).and_then(|steps| ending(&steps, Spread::Apart, told, thresholds))
        })
}

fn ending(
    steps: &[Step],
    spread: Spread,
    (wait, name): (Wait, &str),
    thresholds: &StuckLoopThresholds,
) -> Option<Issue> {
    (1..=LONGEST_CYCLE).find_map(|period| {
        let rounds = rounds(steps, period);
        let needed = needed(steps, period, rounds, spread, thresholds);
        let in_all = match patience(steps, period) {
            Patience::Paused if rounds > 1 => wait.rounds(period).max(rounds),
            Patience::None | Patience::Bounded | Patience::Endless | Patience::Paused => rounds,
        };
        (in_all >= needed).then(|| issue(steps, (period, rounds, in_all), needed, name))
    })
}

/// How often the last `period` steps were made in a row, at the end. A remainder counts as its part of a round, rounded down.
fn rounds(steps: &[Step], period: usize) -> usize {
    let newer = steps.iter().rev();
    let older = steps.iter().rev().skip(period);
    let same = newer.zip(older).take_while(|(newer, older)| newer.repeats(older)).count();
    if same == 0 { 1 } else { (same + period) / period }
}

/// Returns how many rounds make a loop: four of one action, three when it fails each time, three of two actions in turn (design 7). Longer
/// cycles need four, one more where only equal calls are known, and five times as many where the action waits (ours), as far as so many are
/// remembered. One prompt of the
/// user changes nothing. Each further prompt adds one round, since whoever asks again and again is answered again and again (ours). Where
/// calls succeed and differ in how they are written, or others lie between, twice as many make a loop: a sweep over values that are read
/// from the environment looks like that too (ours). Where they fail, one more does.
fn needed(
    steps: &[Step],
    period: usize,
    rounds: usize,
    spread: Spread,
    thresholds: &StuckLoopThresholds,
) -> usize {
    let last = || steps.iter().rev().take(period);
    let base = match period {
        1 if last().all(|step| step.success == ActionSuccess::Failed) => entries(thresholds.failing_rounds),
        2 => entries(thresholds.pair_rounds),
        _ => entries(thresholds.rounds),
    };
    let first = steps.iter().rev().nth(period * rounds - 1);
    let turns = match (first, steps.last()) {
        (Some(first), Some(last)) => last.turn.saturating_sub(first.turn),
        _ => 0,
    };
    let spoken = usize::try_from(turns.saturating_sub(1)).unwrap_or(usize::MAX);
    let base = base.saturating_add(usize::from(last().all(Step::says_little)));
    let succeeds = last().any(|step| step.success == ActionSuccess::Succeeded);
    let base = match (spread, succeeds && (spread == Spread::Apart || varies(steps, period, rounds))) {
        (_, true) => base.saturating_mul(2),
        (Spread::Apart, false) => base.saturating_add(1),
        (Spread::Close, false) => base,
    };
    // Who tries options may be at the right one soon.
    let base = base.saturating_add(usize::from(rotates(steps, period, rounds)));
    let base = match patience(steps, period) {
        Patience::None => base,
        Patience::Endless | Patience::Paused => base.saturating_mul(entries(thresholds.waiting_factor)),
        Patience::Bounded => base.saturating_mul(entries(thresholds.waiting_factor)).min(most(period)),
    };
    base.saturating_add(spoken)
}

/// After how many rounds a loop must be seen so that it can still become critical: of a long cycle only a few are remembered.
fn most(period: usize) -> usize {
    const UNTIL_CRITICAL: usize = 4;
    REMEMBERED / period - UNTIL_CRITICAL.div_ceil(period.div_ceil(2))
}

/// Whether calls of a loop differ in their options.
fn rotates(steps: &[Step], period: usize, rounds: usize) -> bool {
    let newer = steps.iter().rev().take(period * rounds);
    newer
        .zip(steps.iter().rev().skip(period).take(period * (rounds - 1)))
        .any(|(one, other)| one.differs_in_options(other))
}

/// Whether the calls of a loop are written in different ways.
fn varies(steps: &[Step], period: usize, rounds: usize) -> bool {
    let newer = steps.iter().rev().take(period * rounds);
    newer
        .zip(steps.iter().rev().skip(period).take(period * (rounds - 1)))
        .any(|(one, other)| one.exact != other.exact)
}

/// How long a loop may wait for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// It does not wait.
    None,
    /// It asks for something, and is not answered: longer than a try, but not for ever.
    Bounded,
    /// The same, with pauses, and does nothing but look: it waits, and for long.
    Paused,
    /// It is answered, if only that it is not done yet.
    Endless,
}

fn patience(steps: &[Step], period: usize) -> Patience {
    let last = || steps.iter().rev().take(period);
    let waits = |step: &Step| match step.deed {
        Activity::Waits => true,
        Activity::Retries => step.success == ActionSuccess::Succeeded,
        Activity::Looks | Activity::Changes | Activity::Runs => false,
    };
    let failed = |step: &Step| step.success == ActionSuccess::Failed && step.answer == Answer::Plain;
    let only_looks = |step: &Step| matches!(step.deed, Activity::Waits | Activity::Looks);
    if !last().any(waits) {
        Patience::None
    } else if last().any(failed) {
        let pauses = last().any(|step| step.pace == Pace::Paused);
        if pauses && last().all(only_looks) { Patience::Paused } else { Patience::Bounded }
    } else {
        Patience::Endless
    }
}

fn issue(
    steps: &[Step],
    (period, rounds, in_all): (usize, usize, usize),
    needed: usize,
    name: &str,
) -> Issue {
    let beyond = in_all - needed;
    let loop_steps = || steps.iter().rev().take(period * rounds);
    let refused = loop_steps().filter(|step| step.run == Run::Refused).count();
    Issue {
        kind: PatternKind::StuckLoop,
        // Of a long cycle only a few rounds are remembered; each of them is as many calls as several of a short one.
        severity: match (patience(steps, period), beyond * period.div_ceil(2)) {
            // Whoever waits for something slow is told, never held up (ours).
            (Patience::Endless, _) => Severity::Low,
            (Patience::Paused, _) if in_all < HELD_UP => Severity::Low,
            (Patience::Paused, _) if in_all < MAY_END => Severity::Medium,
            (Patience::None | Patience::Bounded, 0 | 1) => Severity::Medium,
            (Patience::None | Patience::Bounded, 2 | 3) => Severity::High,
            (Patience::None | Patience::Bounded | Patience::Paused, _) => Severity::Critical,
        },
        confidence: Share::new(0.5 + 0.1 * beyond as f64),
        impact: Share::new(0.1 * beyond as f64),
        signal: in_all as f64,
        summary: summary(steps, (period, rounds, in_all), refused, name),
        advice: match refused {
            _ if patience(steps, period) == Patience::Paused => {
                "look why it does not come up: its log, its state, its settings; wait longer between two looks, or tell the user what is missing"
            }
            0 => "change something before trying again: read the last result, other inputs, another way; or say what is missing",
            _ => "do not send the same call again, it does not run: mend what its last result names, take another way, or say what is missing",
        }
        .to_owned(),
        actions: newest(loop_steps().rev().map(|step| step.number)),
        growth: None,
        growths: Vec::new(),
    }
}

/// What was run, how it came out how often, and how often it was refused. Its last call has this name.
fn summary(
    steps: &[Step],
    (period, remembered, rounds): (usize, usize, usize),
    refused: usize,
    name: &str,
) -> String {
    let mut last = steps.iter().rev().take(period);
    if period > 1 {
        let seen = format!("the same {period} calls gave the same results {rounds} times in a row");
        return match refused {
            0 => seen,
            // Which of them ran last is not said: the results are those of the runs.
            refused => format!("{seen}, where {refused} of these calls were refused and did not run"),
        };
    }
    let same = if rotates(steps, period, remembered) {
        "the same call but for its options"
    } else {
        "the same call"
    };
    let call = if name.is_empty() { same.to_owned() } else { format!("{same} (`{name}`)") };
    let is_failing = last.all(|step| step.success == ActionSuccess::Failed);
    let came_out = if is_failing { "failed in the same way" } else { "gave the same result" };
    match (rounds - refused, refused) {
        (_, 0) => format!("{call} {came_out} {rounds} times in a row"),
        (0, refused) => format!("{call} was refused {} in a row", times(refused)),
        (ran, refused) => {
            format!("{call} {came_out} {}, and was refused {} and did not run", times(ran), times(refused))
        }
    }
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::ActionNumber;
    use crate::step::Clarity;

    /// Steps from pairs of an action and its result; a result that begins with `!` is a failure.
    fn steps(pairs: &[(&str, &str)]) -> Vec<Step> {
        let step = |(index, (action, result)): (usize, &(&str, &str))| Step {
            number: ActionNumber(index as u64 + 1),
            actor: Fingerprint::default(),
            action: Fingerprint::of(action),
            exact: Fingerprint::of(action),
            without_options: Fingerprint::of(action.split(" -").next().unwrap_or_default()),
            bearing: if action.starts_with("read") { Bearing::Idle } else { Bearing::Counts },
            result: if result.is_empty() { Fingerprint::default() } else { Fingerprint::of(result) },
            failure: Fingerprint::default(),
            turn: 0,
            success: if result.starts_with('!') { ActionSuccess::Failed } else { ActionSuccess::Succeeded },
            deed: match action {
                action if action.contains("sleep 6") => Activity::Retries,
                action if action.contains("sleep") => Activity::Waits,
                _ => Activity::Runs,
            },
            fate: if result.starts_with('-') { Fate::Refused } else { Fate::Counts },
            pace: if action.starts_with("sleep") { Pace::Paused } else { Pace::Prompt },
            clarity: if action.starts_with("tool") { Clarity::Opaque } else { Clarity::Understood },
            run: Run::Done,
            answer: if result.contains("pending") { Answer::NotYet } else { Answer::Plain },
        };
        pairs.iter().enumerate().map(step).collect()
    }

    fn detected(pairs: &[(&str, &str)]) -> Option<Issue> {
        detect(&steps(pairs), Wait::default(), "t", &StuckLoopThresholds::default())
    }

    fn repeated(round: &[(&'static str, &'static str)], rounds: usize) -> Vec<(&'static str, &'static str)> {
        round.iter().copied().cycle().take(round.len() * rounds).collect()
    }

    #[test]
    fn the_numbers_of_rounds_design_7() {
        for (round, enough) in [
            (vec![("ls", "a b")], 4),
            (vec![("cargo test", "!E0308")], 3),
            (vec![("ls", "a b"), ("cat a", "text")], 3),
            (vec![("a", "1"), ("b", "2"), ("c", "3")], 4),
            (
                vec![
                    ("a", "1"),
                    ("b", "2"),
                    ("c", "3"),
                    ("d", "4"),
                    ("e", "5"),
                    ("f", "6"),
                    ("g", "7"),
                    ("h", "8"),
                ],
                4,
            ),
            (vec![("tool x", "")], 5),
        ] {
            assert_eq!(detected(&repeated(&round, enough - 1)), None, "{round:?}");
            let found = detected(&repeated(&round, enough)).unwrap();
            assert_eq!(found.actions.len(), (round.len() * enough).min(Issue::ACTIONS));
            assert_eq!(found.severity, Severity::Medium);
        }
    }

    #[test]
    fn whatever_makes_progress_is_no_loop() {
        // Outputs change, counts of tests move, other ranges are read, something is edited in between.
        assert_eq!(detected(&[("cat log", "1"), ("cat log", "2"), ("cat log", "3"), ("cat log", "4")]), None);
        assert_eq!(detected(&[("t", "!1 failed"), ("t", "!2 failed"), ("t", "!3 failed")]), None);
        assert_eq!(
            detected(&[("read 1-10", "x"), ("read 11-20", "x"), ("read 21-30", "x"), ("read 31-40", "x")]),
            None
        );
        let edits = [
            ("t", "!E"),
            ("edit 1", ""),
            ("t", "!E"),
            ("edit 2", ""),
            ("t", "!E"),
            ("edit 3", ""),
            ("t", "!E"),
        ];
        assert_eq!(detected(&edits), None);
    }

    #[test]
    fn what_waits_may_answer_the_same_for_long() {
        let poll = [("sleep 30; status", "pending")];
        assert_eq!(detected(&repeated(&poll, 19)), None);
        assert_eq!(detected(&repeated(&poll, 40)).unwrap().severity, Severity::Low);
        assert_eq!(detected(&repeated(&[("sleep 30", ""), ("status", "pending")], 14)), None);
    }

    #[test]
    fn a_poll_that_fails_gets_more_rounds_and_becomes_critical() {
        let failing = [("ask without sleep", "!refused")];
        assert_eq!(detected(&repeated(&failing, 14)), None);
        assert_eq!(detected(&repeated(&failing, 15)).unwrap().severity, Severity::Medium);
        assert_eq!(detected(&repeated(&failing, 19)).unwrap().severity, Severity::Critical);
        let not_yet = [("sleep 30; status", "!pending")];
        assert_eq!(detected(&repeated(&not_yet, 40)).unwrap().severity, Severity::Low);
        let names = ["a sleep", "b", "c", "d", "e", "f", "g", "h"];
        for period in 1..=LONGEST_CYCLE {
            let round: Vec<(&str, &str)> = names.iter().take(period).map(|name| (*name, "!E")).collect();
            let mut steps = repeated(&round, REMEMBERED);
            steps.truncate(REMEMBERED);
            assert_eq!(detected(&steps).unwrap().severity, Severity::Critical, "{period}");
        }
    }

    // Source: seed 000-1
    #[test]
    fn a_wait_with_pauses_is_told_and_may_end_after_a_stated_number_of_rounds() {
        for round in [
            vec![("sleep 30; status", "!refused")],
            vec![("sleep 30", ""), ("ask without sleep", "!refused")],
        ] {
            let severity = |rounds: usize| {
                let all = steps(&repeated(&round, rounds));
                let (mut wait, mut kept) = (Wait::default(), VecDeque::new());
                for step in all {
                    wait.took(&step, &kept);
                    kept.push_back(step);
                    if kept.len() > REMEMBERED {
                        kept.pop_front();
                    }
                }
                let kept: Vec<Step> = kept.into_iter().collect();
                detect(&kept, wait, "t", &StuckLoopThresholds::default()).map(|issue| issue.severity)
            };
            assert_eq!(severity(14), None, "{round:?}");
            assert_eq!(severity(16), Some(Severity::Low), "{round:?}");
            assert_eq!(severity(HELD_UP - 1), Some(Severity::Low), "{round:?}");
            assert_eq!(severity(HELD_UP + 1), Some(Severity::Medium), "{round:?}");
            assert_eq!(severity(MAY_END - 1), Some(Severity::Medium), "{round:?}");
            assert_eq!(severity(MAY_END + 1), Some(Severity::Critical), "{round:?}");
        }
        // A try is no look, whatever pauses.
        let tries = [("sleep 60; make", "!E")];
        assert_eq!(detected(&repeated(&tries, 7)).unwrap().severity, Severity::Critical);
    }

    #[test]
    fn options_that_change_nothing_about_a_failure_are_one_round_more() {
        let rotated = [("t -a", "!E"), ("t -b", "!E"), ("t -c", "!E"), ("t -d", "!E")];
        assert_eq!(detected(&rotated[..3]), None);
        let found = detected(&rotated).unwrap();
        assert_eq!(
            found.summary,
            "the same call but for its options (`t`) failed in the same way 4 times in a row"
        );
        let other = [("t a", "!E"), ("t b", "!E"), ("t c", "!E"), ("t d", "!E"), ("t e", "!E")];
        assert_eq!(detected(&other), None, "operands are other things");
        let fine = [("t -a", "1"), ("t -b", "1"), ("t -c", "1"), ("t -d", "1"), ("t -e", "1")];
        assert_eq!(detected(&fine), None, "what succeeds was asked for something else");
    }

    #[test]
    fn waiting_before_a_try_that_fails_is_no_poll() {
        let failing = [("sleep 6; cargo test", "!E0308")];
        assert_eq!(detected(&repeated(&failing, 2)), None);
        assert!(detected(&repeated(&failing, 3)).is_some());
        let pending = [("sleep 6; ./status", "pending")];
        assert_eq!(detected(&repeated(&pending, 19)), None, "what succeeds may wait for something");
    }

    #[test]
    fn what_was_refused_is_counted_as_refused_and_not_as_failed() {
        let told = |ran: usize, refused: usize, result: &'static str| {
            let mut steps = steps(&repeated(&[("t", result)], ran + refused));
            steps.iter_mut().skip(ran).for_each(|step| step.run = Run::Refused);
            detect(&steps, Wait::default(), "cargo test", &StuckLoopThresholds::default()).unwrap().summary
        };
        assert_eq!(told(3, 0, "!E"), "the same call (`cargo test`) failed in the same way 3 times in a row");
        assert_eq!(
            told(2, 4, "!E"),
            "the same call (`cargo test`) failed in the same way 2 times, and was refused 4 times and did not run"
        );
        assert_eq!(
            told(4, 1, "a"),
            "the same call (`cargo test`) gave the same result 4 times, and was refused once and did not run"
        );
        assert_eq!(told(0, 5, "!refused"), "the same call (`cargo test`) was refused 5 times in a row");
    }

    #[test]
    fn refused_calls_in_between_end_no_loop() {
        let pairs = [
            ("t", "!E"),
            ("rm a", "-refused"),
            ("t", "!E"),
            ("rm b", "-refused"),
            ("t", "!E"),
            ("rm c", "-refused"),
        ];
        assert_eq!(detected(&pairs).unwrap().actions, [1, 3, 5].map(ActionNumber));
        assert_eq!(detected(&pairs[..4]), None);
    }

    #[test]
    fn calls_without_bearing_in_between_end_no_loop() {
        let among = |rounds: usize, result: &'static str| {
            let names = ["read a", "read b", "read c", "read d", "read e", "read f", "read g", "read h"];
            let round = |name: &&'static str| [("t", result), (*name, "text"), (*name, "more")];
            let mut pairs: Vec<_> = names.iter().cycle().take(rounds).flat_map(round).collect();
            pairs.truncate(rounds * 3 - 2);
            detected(&pairs).map(|issue| issue.signal)
        };
        assert_eq!((among(3, "!E"), among(4, "!E")), (None, Some(4.0)));
        assert_eq!(
            (among(7, "fine"), among(8, "fine")),
            (None, Some(8.0)),
            "what succeeds may be looked at in turns"
        );
        let reading = [
            ("read a", "1"),
            ("read b", "2"),
            ("read a", "1"),
            ("read c", "3"),
            ("read a", "1"),
            ("read d", "4"),
        ];
        assert_eq!(detected(&repeated(&reading[..6], 1)), None, "reading alone is no loop of one call");
    }

    #[test]
    fn one_call_written_in_many_ways_is_one_call() {
        let written = |rounds: usize, result: &'static str| {
            let mut steps = steps(&repeated(&[("t", result)], rounds));
            for (index, step) in steps.iter_mut().enumerate() {
                step.exact = Fingerprint(index as u32);
            }
            detect(&steps, Wait::default(), "t", &StuckLoopThresholds::default()).map(|issue| issue.signal)
        };
        assert_eq!((written(2, "!E"), written(3, "!E")), (None, Some(3.0)));
        assert_eq!((written(7, "fine"), written(8, "fine")), (None, Some(8.0)));
    }

    #[test]
    fn a_loop_of_any_length_becomes_critical() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        for period in 1..=LONGEST_CYCLE {
            let round: Vec<(&str, &str)> = names.iter().take(period).map(|name| (*name, "!E")).collect();
            let mut steps = repeated(&round, 40);
            steps.truncate(REMEMBERED);
            assert_eq!(detected(&steps).unwrap().severity, Severity::Critical, "{period}");
        }
    }

    #[test]
    fn a_person_who_asks_again_is_answered_again() {
        let asked = |each: usize, count: usize| {
            let mut steps = steps(&repeated(&[("git status", "clean")], count));
            for (index, step) in steps.iter_mut().enumerate() {
                step.turn = u32::try_from(index / each).unwrap();
            }
            detect(&steps, Wait::default(), "t", &StuckLoopThresholds::default())
        };
        assert_eq!(asked(1, 30), None, "one look for each prompt");
        assert!(asked(2, 4).is_some(), "one prompt in the middle of a loop hides nothing");
    }

    #[test]
    fn the_ladder_of_a_loop_that_goes_on() {
        let severities: Vec<Severity> = (4..=8)
            .filter_map(|rounds| detected(&repeated(&[("ls", "a")], rounds)))
            .map(|issue| issue.severity)
            .collect();
        assert_eq!(
            severities,
            [Severity::Medium, Severity::Medium, Severity::High, Severity::High, Severity::Critical]
        );
    }

    proptest::proptest! {
        /// Work in which every result is new is never called a loop, whatever the actions.
        #[test]
        fn new_results_are_never_a_loop(actions in proptest::collection::vec(0_u32..3, 0..60)) {
            let steps: Vec<Step> = actions.iter().enumerate().map(|(index, action)| Step {
                number: ActionNumber(index as u64),
                actor: Fingerprint::default(),
                action: Fingerprint(*action),
                exact: Fingerprint(*action),
                without_options: Fingerprint(1),
                bearing: if *action == 0 { Bearing::Idle } else { Bearing::Counts },
                result: Fingerprint(index as u32 + 1),
                failure: Fingerprint::default(),
                turn: 0,
                success: ActionSuccess::Failed,
                deed: Activity::Runs,
                pace: Pace::Prompt,
                clarity: Clarity::Opaque,
                fate: Fate::Counts,
                run: Run::Done,
                answer: Answer::Plain,
            }).collect();
            proptest::prop_assert_eq!(detect(&steps, Wait::default(), "t", &StuckLoopThresholds::default()), None);
        }
    }
}
