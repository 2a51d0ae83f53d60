//! Hallucination (upstream 1.2): references to things that do not exist, as if they were there: files, programs, packages, modules, names; and
//! tests that are said to pass although they were not run.

use std::collections::VecDeque;

use checkrein_policy::HallucinationThresholds;
use checkrein_protocol::{Claim, ErrorCategory, Fingerprint, Missing, Severity, TestCounts};
use serde::{Deserialize, Serialize};

use crate::errors::telling_line;
use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;
use crate::step::{ActionFacts, Activity, Probe};

/// How many are remembered (ours).
const WINDOW: usize = 8;

/// The last references to things that were not there, each once, and claims of what was not seen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Phantoms {
    seen: VecDeque<Phantom>,
    tests: Tested,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Phantom {
    number: ActionNumber,
    mark: Fingerprint,
    sort: Sort,
}

/// What sort of thing was assumed (upstream 1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Sort {
    /// Something that is not there.
    Missing(Missing),
    /// Something that was said and not seen.
    Claim,
    /// Something that was said although the opposite was seen: one is enough.
    Contradiction,
}

/// What is known about tests in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Tested {
    /// They were not run.
    #[default]
    Never,
    /// They were, and nothing says that any failed.
    Run,
    /// Some failed when they were run last.
    Failing,
}

impl Phantoms {
    /// Takes up something that was not there, if it was assumed to be: looking whether something is there (`ls`, `test -f`) assumes nothing.
    pub(crate) fn failed(&mut self, plan: &ActionFacts, missing: Missing, error: Option<&str>) {
        let assumed = match missing {
            Missing::Path => plan.deed == Activity::Looks,
            Missing::Command | Missing::Package | Missing::Module | Missing::Symbol => true,
        };
        if assumed {
            let mark = mark(plan, missing, error);
            self.add(Phantom { number: plan.number, mark, sort: Sort::Missing(missing) });
        }
    }

    /// Takes up that something was changed: names that do not fit are what edits put right, and who gets somewhere has one mistake forgiven.
    pub(crate) fn changed(&mut self) {
        self.seen.retain(|phantom| phantom.sort != Sort::Missing(Missing::Symbol));
        self.seen.pop_front();
    }

    /// Takes up an action that may have run tests, with what its output says of them and, when it failed, what sort of error it was.
    pub(crate) fn ran(&mut self, probe: Probe, counts: Option<TestCounts>, error: Option<ErrorCategory>) {
        self.tests = match (probe, counts) {
            (_, Some(counts)) if counts.failed > 0 => Tested::Failing,
            (Probe::Tests, None) if error == Some(ErrorCategory::TestFailure) => Tested::Failing,
            (Probe::Tests, _) | (Probe::Other, Some(_)) => Tested::Run,
            (Probe::Other, None) => self.tests,
        };
    }

    /// Takes up a claim; what was seen is none of these.
    pub(crate) fn claimed(&mut self, number: ActionNumber, claim: Claim) {
        let sort = match (claim, self.tests) {
            (Claim::TestsPass | Claim::AllTestsPass, Tested::Run) => return,
            (Claim::AllTestsPass, Tested::Failing) => Sort::Contradiction,
            (Claim::TestsPass, Tested::Never | Tested::Failing) | (Claim::AllTestsPass, Tested::Never) => {
                Sort::Claim
            }
        };
        let mark = Fingerprint::of_parts(["claim", &number.0.to_string()]);
        self.add(Phantom { number, mark, sort });
    }

    fn add(&mut self, phantom: Phantom) {
        if self.seen.iter().any(|known| known.mark == phantom.mark) {
            return;
        }
        while self.seen.len() >= WINDOW {
            self.seen.pop_front();
        }
        self.seen.push_back(phantom);
    }

    pub(crate) fn clear(&mut self) {
        self.seen.clear();
    }

    pub(crate) fn detect(&self, now: ActionNumber, thresholds: HallucinationThresholds) -> Option<Issue> {
        self.seen.back().filter(|phantom| now.0.saturating_sub(phantom.number.0) <= 1)?;
        let recent =
            || self.seen.iter().filter(|phantom| now.0.saturating_sub(phantom.number.0) < thresholds.horizon);
        let contradicted = recent().any(|phantom| phantom.sort == Sort::Contradiction);
        let count = recent().count();
        if !contradicted && count < entries(thresholds.occurrences) {
            return None;
        }
        Some(Issue {
            kind: PatternKind::Hallucination,
            severity: match count {
                0..=3 => Severity::Low,
                4 | 5 => Severity::Medium,
                _ => Severity::High,
            },
            // min(10 x count / history, 1) (upstream 1.2).
            confidence: Share::new(if contradicted {
                1.0
            } else {
                10.0 * count as f64 / now.0.max(1) as f64
            }),
            impact: Share::default(),
            signal: count as f64,
            summary: summary(recent().copied()),
            advice: match self.seen.back().map(|phantom| phantom.sort) {
                Some(Sort::Contradiction) => "run the tests again, and say which of them fail".to_owned(),
                Some(Sort::Missing(_) | Sort::Claim) | None => {
                    "list, search or run before relying on something: what was assumed is not so".to_owned()
                }
            },
            actions: newest(recent().map(|phantom| phantom.number)),
            growth: None,
            growths: Vec::new(),
        })
    }
}

/// What makes a missing thing the same as another one, in whatever words it was asked for: a file is the only path that an action is about,
/// and everything else what the error calls it.
fn mark(plan: &ActionFacts, missing: Missing, error: Option<&str>) -> Fingerprint {
    match (missing, plan.touches.as_slice()) {
        (Missing::Path, [touch]) => touch.path,
        (Missing::Path | Missing::Command | Missing::Package | Missing::Module | Missing::Symbol, _) => {
            error.and_then(named).map_or(plan.action, |name| Fingerprint::of_parts(["missing", &name]))
        }
    }
}

/// What the telling line of an error says is not there: what stands in quotes, or before the words that say so.
fn named(error: &str) -> Option<String> {
    const ENDS: [&str; 3] = [": no such file", ": command not found", ": not found"];
    let line = telling_line(error).to_lowercase();
    let quoted = ['\'', '`', '"'].into_iter().filter_map(|quote| line.split(quote).nth(1));
    let before = ENDS.into_iter().filter_map(|end| line.split_once(end)?.0.rsplit(": ").next());
    let name = quoted.chain(before).map(str::trim).find(|name| !name.is_empty() && !name.contains(' '))?;
    Some(name.trim_start_matches("./").to_owned())
}

fn summary(phantoms: impl Iterator<Item = Phantom>) -> String {
    let (mut used, mut claims, mut contradictions) = (0, 0, 0);
    for phantom in phantoms {
        match phantom.sort {
            Sort::Missing(_) => used += 1,
            Sort::Claim => claims += 1,
            Sort::Contradiction => contradictions += 1,
        }
    }
    if contradictions > 0 {
        return "the tests were said to pass, and they failed when they were run last".to_owned();
    }
    match (used, claims) {
        (used, 0) => format!("{used} different things were used that do not exist"),
        (0, claims) => format!("tests were said to pass {claims} times that were not run or failed"),
        (used, _) => format!(
            "tests were said to pass that were not run or failed, and {used} things were used that do not exist"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{ActionSuccess, observation};
    use crate::scope::{ScopeSide, Touch, Use};
    use crate::step::{Bearing, Clarity, Pace};

    fn plan(number: u64, action: &str, deed: Activity) -> ActionFacts {
        ActionFacts {
            number: ActionNumber(number),
            actor: Fingerprint::default(),
            action: Fingerprint::of(action),
            exact: Fingerprint::of(action),
            without_options: Fingerprint::default(),
            name: action.to_owned(),
            bearing: Bearing::default(),
            deed,
            pace: Pace::Prompt,
            clarity: Clarity::Understood,
            probe: Probe::Other,
            place: None,
            edit: None,
            alignment: None,
            file_operations: 0,
            processes: 0,
            bytes_written: 0,
            touches: Vec::new(),
            cause: None,
            fired: Vec::new(),
        }
    }

    fn played(texts: &[(&str, Activity)]) -> Option<Issue> {
        let mut phantoms = Phantoms::default();
        for (index, (text, deed)) in texts.iter().enumerate() {
            let missing = observation(text, ActionSuccess::Failed).missing.unwrap();
            phantoms.failed(&plan(index as u64 + 1, text, *deed), missing, Some(text));
        }
        phantoms.detect(ActionNumber(texts.len() as u64), HallucinationThresholds::default())
    }

    #[test]
    fn two_different_phantoms_upstream_1_2() {
        let found =
            played(&[("cat: a.rs: No such file", Activity::Looks), ("No module named 'b'", Activity::Runs)])
                .unwrap();
        assert_eq!((found.severity, found.confidence), (Severity::Low, Share::new(1.0)));
    }

    #[test]
    fn the_same_one_twice_or_a_missing_program_are_none() {
        assert_eq!(played(&[("cat: a.rs: No such file", Activity::Looks); 2]), None);
        assert_eq!(
            played(&[("make: x: not found", Activity::Runs), ("make: y: not found", Activity::Runs)]),
            None
        );
    }

    #[test]
    fn a_thing_counts_once_however_it_is_asked_for() {
        for pair in [
            ["cat: ./gone.py: No such file or directory", "head: gone.py: No such file or directory"],
            ["ModuleNotFoundError: No module named 'foo'", "Error: cannot find module 'foo'"],
            ["bash: line 1: frobnicate: command not found", "sh: frobnicate: not found"],
        ] {
            assert_eq!(played(&pair.map(|text| (text, Activity::Looks))), None, "{pair:?}");
        }
        let mut phantoms = Phantoms::default();
        for (number, action) in [(1, "cat gone.py"), (2, "cat ./gone.py"), (3, "Read gone.py")] {
            let touch =
                Touch { path: Fingerprint::of("/p/gone.py"), side: ScopeSide::Inside, use_of: Use::Read };
            let plan = ActionFacts { touches: vec![touch], ..plan(number, action, Activity::Looks) };
            phantoms.failed(&plan, Missing::Path, Some("File does not exist."));
        }
        assert_eq!(phantoms.detect(ActionNumber(3), HallucinationThresholds::default()), None);
    }

    #[test]
    fn commands_packages_and_names_that_do_not_exist_upstream_1_2() {
        let guesses = [
            ("bash: frobnicate: command not found", Activity::Runs),
            ("No matching distribution found for foo-pro", Activity::Changes),
            ("module 'os' has no attribute 'exits'", Activity::Runs),
        ];
        for pair in guesses.windows(2) {
            assert!(played(pair).is_some(), "{pair:?}");
        }
    }

    #[test]
    fn who_edits_gets_somewhere_and_is_forgiven() {
        let mut phantoms = Phantoms::default();
        let settings = HallucinationThresholds::default();
        for number in 1..20 {
            phantoms.failed(&plan(number, &number.to_string(), Activity::Runs), Missing::Symbol, None);
            phantoms.changed();
            assert_eq!(
                phantoms.detect(ActionNumber(number), settings),
                None,
                "errors of names between edits are work"
            );
        }
    }

    #[test]
    fn tests_that_are_said_to_pass_must_have_been_run() {
        let settings = HallucinationThresholds::default();
        let mut phantoms = Phantoms::default();
        phantoms.claimed(ActionNumber(3), Claim::TestsPass);
        phantoms.claimed(ActionNumber(3), Claim::TestsPass);
        assert_eq!(phantoms.detect(ActionNumber(3), settings), None, "one is not enough");
        phantoms.claimed(ActionNumber(4), Claim::TestsPass);
        let found = phantoms.detect(ActionNumber(4), settings).unwrap();
        assert!(found.summary.contains("said to pass 2 times"), "{}", found.summary);

        let mut phantoms = Phantoms::default();
        for (number, counts) in [(1, None), (2, Some(TestCounts { passed: 3, failed: 0 }))] {
            phantoms.ran(Probe::Tests, counts, None);
            phantoms.claimed(ActionNumber(number), Claim::TestsPass);
        }
        assert!(phantoms.seen.is_empty());
        phantoms.ran(Probe::Tests, Some(TestCounts { passed: 3, failed: 1 }), None);
        phantoms.claimed(ActionNumber(5), Claim::TestsPass);
        assert_eq!(phantoms.detect(ActionNumber(5), settings), None, "some others may pass");
        phantoms.claimed(ActionNumber(6), Claim::AllTestsPass);
        let found = phantoms.detect(ActionNumber(6), settings).unwrap();
        assert!(found.summary.contains("failed when they were run last"), "{}", found.summary);
    }

    #[test]
    fn tests_that_fail_without_counts_have_failed_too() {
        let mut phantoms = Phantoms::default();
        phantoms.ran(Probe::Tests, None, Some(ErrorCategory::TestFailure));
        phantoms.claimed(ActionNumber(1), Claim::AllTestsPass);
        assert!(phantoms.detect(ActionNumber(1), HallucinationThresholds::default()).is_some());
        let mut phantoms = Phantoms::default();
        phantoms.ran(Probe::Tests, None, Some(ErrorCategory::NotFound));
        phantoms.claimed(ActionNumber(1), Claim::AllTestsPass);
        assert_eq!(phantoms.detect(ActionNumber(1), HallucinationThresholds::default()), None);
    }
}
