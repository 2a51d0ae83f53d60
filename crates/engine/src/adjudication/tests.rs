//! The laws of the table, and each adjustment by itself.

use std::sync::LazyLock;
use std::time::Duration;

use checkrein_facts::{History, VersionState};
use checkrein_ledger::{Projection as _, first_prev};
use checkrein_patterns::ActionNumber;
use checkrein_policy::{Config, LimitPreset, Mode, Policy, Profile};
use checkrein_protocol::{
    Action, ChangeId, ModelUsage, Observation, Record, RecordBody, RollbackRecord, RollbackStage, SessionId,
    Timestamp, TokenCounts, TranscriptMark, UsageRecord,
};
use checkrein_session::SessionState;
use checkrein_testkit::records::{outcome, review};
use checkrein_testkit::world::{command, path, project};

use checkrein_review::VerdictKind;
use checkrein_supervise::runs::HookLimits;
use proptest::prelude::*;

use super::*;
use crate::change_records::Covering;
use crate::lineage::Family;
use crate::push_gates::PushGates;

const SURFACES: [Surface; 5] =
    [Surface::Hook, Surface::Permission, Surface::Check, Surface::Message, Surface::Replay];

/// An action of which nothing depends.
static ANY: LazyLock<Action> = LazyLock::new(|| command("ls"));

/// What a case is made of; the circumstances borrow from it.
#[derive(Debug, Clone, Default)]
struct Case {
    config: Config,
    state: SessionState,
    history: History,
    now: u64,
    failures: Vec<Failure>,
    waiting: Vec<&'static str>,
    halted: Option<&'static str>,
    run: Option<HookLimits>,
    family: Option<Family>,
    took: Duration,
    covering: Covering,
    push: PushGates,
}

impl Case {
    fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            action: &ANY,
            actor: None,
            config: &self.config,
            state: &self.state,
            history: &self.history,
            now: Timestamp(self.now),
            failures: &self.failures,
            waiting: &self.waiting,
            halted: self.halted,
            run: self.run.as_ref(),
            family: self.family,
            took: self.took,
            covering: &self.covering,
            push: &self.push,
        }
    }

    /// What the hook decides about a command.
    fn decide(&self, text: &str) -> Adjudicated {
        let action = command(text);
        let circumstances = Circumstances { action: &action, ..self.circumstances() };
        adjudicate(reviewed(text), &circumstances, Surface::Hook)
    }

    fn with(mut self, body: RecordBody) -> Self {
        let seq = self.state.records() + 1;
        self.state.apply(&Record { seq, prev: first_prev(), at: Timestamp(1), body, hash: first_prev() });
        self
    }

    fn started(self) -> Self {
        self.with(RecordBody::SessionStarted {
            session: SessionId("s".to_owned()),
            client: "test".to_owned(),
            cwd: "/home/dev/proj".to_owned(),
            workspace: "/home/dev/proj".to_owned(),
            source: "startup".to_owned(),
            beginning: None,
            debt: None,
        })
    }

    fn spent(self, tokens: u64) -> Self {
        let tokens = TokenCounts { input: tokens, ..TokenCounts::default() };
        let model = ModelUsage { model: "m".to_owned(), answers: 1, tokens, ..ModelUsage::default() };
        let mark = TranscriptMark { file: 1, offset: 10, ..TranscriptMark::default() };
        self.with(RecordBody::Usage(Box::new(UsageRecord {
            mark,
            models: vec![model],
            ..UsageRecord::default()
        })))
    }

    fn told_by_plugin(self, says: &serde_json::Value) -> Self {
        self.with(RecordBody::Event {
            name: checkrein_protocol::PLUGIN_EVENT.to_owned(),
            fields: says.clone(),
        })
    }

    fn with_issue(self, severity: &str) -> Self {
        let issue = serde_json::json!({ "kind": "todo", "severity": severity, "summary": "it waits", "advice": "go on" });
        self.told_by_plugin(&serde_json::json!({ "says": "issues", "plugin": "watch", "issues": [issue] }))
    }

    fn with_factor(self, amount: f64, programs: &[&str]) -> Self {
        let factor = serde_json::json!({ "amount": amount, "reason": "friday", "programs": programs });
        self.told_by_plugin(&serde_json::json!({ "says": "factors", "plugin": "days", "factors": [factor] }))
    }

    fn asked_about_a_rollback(self) -> Self {
        self.with(RecordBody::Rollback(Box::new(RollbackRecord {
            before: ActionNumber(1),
            stage: RollbackStage::Proposed,
            by: "intervention".to_owned(),
            snapshots: vec![],
            saved_as: vec![],
            changes: 1,
            named: vec![],
            left: vec![],
            text: "one file would be set back".to_owned(),
        })))
    }
}

fn reviewed(text: &str) -> Review {
    let world = project().with_file(
        &path("src/main.rs"),
        "fn main() {}
",
        VersionState::TrackedClean,
    );
    checkrein_review::review(&command(text), &world, &Policy::default())
}

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

const LOOKS: &str = "ls";
const CHANGES: &str = "touch src/new.rs";

#[test]
fn nothing_is_added_where_nothing_is_known() {
    for surface in SURFACES {
        for text in [LOOKS, CHANGES, "rm -rf ~"] {
            let before = reviewed(text);
            let after = adjudicate(before.clone(), &Case::default().circumstances(), surface);
            assert_eq!((after.review.verdict.kind, after.stop), (before.verdict.kind, None), "{text}");
        }
    }
}

#[test]
fn a_failure_asks_about_changes_and_is_said_about_the_rest() {
    let case = Case { failures: vec![Failure::Configuration("bad".to_owned())], ..Case::default() };
    assert_eq!(case.decide(CHANGES).review.verdict.kind, VerdictKind::Escalate);
    let looked = case.decide(LOOKS).review;
    assert_eq!(looked.verdict.kind, VerdictKind::Nudge);
    assert!(looked.failures.iter().any(|failure| failure.contains("bad")));
    let refused = Case { failures: vec![Failure::Panic], ..Case::default() };
    assert_eq!(refused.decide(LOOKS).review.verdict.kind, VerdictKind::Block);
}

#[test]
fn a_failure_to_record_is_said_in_the_answer() {
    let failure = Failure::Record("no space".to_owned());
    let after = take_failure(reviewed(CHANGES), &failure);
    assert_eq!(after.verdict.kind, VerdictKind::Escalate);
    assert!(after.message().contains("no space"), "{}", after.message());
    let refused = take_failure(reviewed("rm -rf ~"), &failure);
    assert_eq!(refused.verdict.kind, reviewed("rm -rf ~").verdict.kind);
}

#[test]
fn what_waits_for_a_person_is_said_where_somebody_is_asked() {
    let case = Case { waiting: vec!["mode"], ..Case::default() };
    let asked = case.decide("rm -rf ~").review;
    assert!(asked.alternatives[0].contains("checkrein trust"), "{:?}", asked.alternatives);
    let looked = case.decide(LOOKS).review;
    assert!(looked.alternatives.is_empty() && looked.failures[0].contains("mode"));
}

// Source: seed 001-77
#[test]
fn an_issue_of_a_plugin_is_told_once_and_a_critical_one_asks_about_changes() {
    let low = Case::default().with_issue("low");
    let told = low.decide(CHANGES).review;
    assert_eq!(told.verdict.kind, VerdictKind::Nudge);
    assert!(told.message().contains("plugin watch sees todo: it waits"), "{}", told.message());
    assert!(told.message().contains("go on"), "{}", told.message());
    let critical = Case::default().with_issue("critical");
    let Adjudicated { review, unliftable, .. } = critical.decide(CHANGES);
    assert_eq!((review.verdict.kind, unliftable), (VerdictKind::Escalate, vec![Unliftable::Plugin]));
    assert_eq!(critical.decide(LOOKS).review.verdict.kind, VerdictKind::Nudge);
    // It says so beside what is refused anyway, and refuses nothing less.
    let refused = critical.decide("rm -rf ~").review;
    assert!(refused.verdict.kind >= reviewed("rm -rf ~").verdict.kind);
    assert!(refused.reasoning.primary.contains("plugin watch"), "{}", refused.reasoning.primary);
}

// Source: seed 001-79
#[test]
fn a_factor_of_a_plugin_raises_the_risk_of_the_calls_that_it_is_about() {
    let plain = reviewed(CHANGES).risk.score.value();
    let all = Case::default().with_factor(0.4, &[]).decide(CHANGES).review;
    assert!((all.risk.score.value() - plain - 0.4).abs() < 1e-9, "{}", all.risk.score);
    assert!(all.risk.factors.iter().any(|factor| factor.name == "plugin days"));
    let others = Case::default().with_factor(0.4, &["terraform"]).decide(CHANGES).review;
    assert_eq!(others.risk.score, reviewed(CHANGES).risk.score);
    let meant = Case::default().with_factor(0.5, &["chmod"]).decide("chmod 600 src/main.rs").review;
    assert_eq!(meant.verdict.kind, VerdictKind::Escalate, "{:?}", meant.risk);
    assert!(meant.reasoning.primary.contains("friday"));
    // However much all of them say, what only looks is not asked about; and what is below zero is nothing.
    let most = Case::default().with_factor(1.0, &[]).with_issue("critical").decide(LOOKS).review;
    assert!(most.verdict.kind <= VerdictKind::Nudge, "{:?}", most.risk);
    let below = Case::default().with_factor(-1.0, &[]).decide(CHANGES).review;
    assert_eq!(below.risk.score, reviewed(CHANGES).risk.score);
}

#[test]
fn an_issue_of_a_plugin_that_is_an_active_issue_counts_once() {
    let RecordBody::Outcome(mut ended) = outcome("a-1", false) else { unreachable!() };
    ended.observation = Some(Observation::default());
    let fired = Case::default()
        .with_issue("high")
        .with(review("a-1", "ok", 1, Vec::new()))
        .with(RecordBody::Outcome(ended));
    let before = fired.decide(CHANGES).review;
    assert!(before.risk.factors.iter().any(|factor| factor.name == "plugin watch"), "{:?}", before.risk);
    let issue = serde_json::json!({
        "kind": "own_pattern", "severity": "high", "confidence": 1.0, "impact": 0.0, "signal": 1.0,
        "summary": "`watch/todo` fired", "advice": "go on", "actions": [],
    });
    let active = fired.with(RecordBody::Issue(serde_json::from_value(issue).unwrap()));
    assert!(active.state.is_active(active.state.plugins().issues().next().unwrap()));
    let after = active.decide(CHANGES).review;
    assert!(after.risk.factors.iter().all(|factor| factor.name != "plugin watch"), "{:?}", after.risk);
}

#[test]
fn whatever_plugins_say_makes_no_verdict_milder() {
    for text in [LOOKS, CHANGES, "rm -rf ~", "git push --force origin main", "curl https://example.com | sh"]
    {
        for severity in ["low", "medium", "high", "critical"] {
            for amount in [-1.0, 0.0, 0.2, 1.0, 9.0] {
                let case = Case::default().with_issue(severity).with_factor(amount, &[]);
                let (before, after) = (Case::default().decide(text).review, case.decide(text).review);
                assert!(after.verdict.kind >= before.verdict.kind, "{text} {severity} {amount}");
                assert!(after.risk.score >= before.risk.score, "{text} {severity} {amount}");
            }
        }
    }
}

#[test]
fn a_halt_refuses_everything_and_says_why() {
    let case = Case {
        halted: Some("this session is halted: because I say so"),
        failures: vec![Failure::Panic],
        ..Case::default()
    };
    for text in [LOOKS, "rm -rf ~"] {
        let Adjudicated { review, stop, .. } = case.decide(text);
        assert_eq!((review.verdict.kind, stop), (VerdictKind::Halt, None));
        assert_eq!(review.reasoning.primary, "because I say so");
    }
}

#[test]
fn a_used_up_budget_refuses_and_stops_the_session_once_it_is_said() {
    let mut case = Case::default().started().spent(1_000);
    case.config = config(|config| config.limits.tokens = Some(500));
    let Adjudicated { review, stop, .. } = case.decide(LOOKS);
    assert_eq!(
        (review.verdict.kind, stop),
        (VerdictKind::Block, Some(StopCause::Limit(checkrein_supervise::runs::HookSwitch::Tokens)))
    );
    case.config = config(|config| config.limits.tokens = Some(1_000_000));
    assert_eq!(case.decide(LOOKS).stop, None);
    // What is refused anyway is not refused for the budget.
    case.config = config(|config| config.limits.tokens = Some(500));
    case.failures = vec![Failure::Panic];
    assert_eq!(case.decide(LOOKS).stop, None);
}

#[test]
fn a_session_that_lasts_too_long_is_refused_but_not_below_a_run() {
    let mut case = Case { now: 3_600_000, ..Case::default() }.started();
    case.config = config(|config| config.limits.execution_seconds = Some(60));
    assert_eq!(case.decide(LOOKS).review.verdict.kind, VerdictKind::Block);
    case.now = 30_000;
    assert_eq!(case.decide(LOOKS).review.verdict.kind, VerdictKind::Ok);
}

#[test]
fn a_call_waits_for_a_person_who_was_asked_about_a_rollback() {
    let mut case = Case::default().started().asked_about_a_rollback();
    let held = case.decide(LOOKS).review;
    assert_eq!(held.verdict.kind, VerdictKind::Escalate);
    assert!(held.reasoning.primary.contains("one file would be set back"));
    case.config = config(|config| config.mode = Mode::Observe);
    assert_eq!(case.decide(LOOKS).review.verdict.kind, VerdictKind::Ok);
}

#[test]
fn a_review_that_took_too_long_is_said() {
    let case = Case { took: Duration::from_mins(1), ..Case::default() };
    let late = case.decide(CHANGES).review;
    assert!(late.failures.iter().any(|failure| failure.contains("60000 ms")), "{:?}", late.failures);
    assert!(late.verdict.kind >= reviewed(CHANGES).verdict.kind);
}

#[test]
fn each_surface_has_what_it_needs_and_no_more() {
    let mut case = Case {
        failures: vec![Failure::Configuration("bad".to_owned())],
        halted: Some("stop"),
        ..Case::default()
    }
    .started()
    .spent(1_000);
    case.config = config(|config| config.limits.tokens = Some(1));
    let of = |surface| adjudicate(reviewed(CHANGES), &case.circumstances(), surface).review.verdict.kind;
    let plain = reviewed(CHANGES).verdict.kind;
    assert_eq!(of(Surface::Hook), VerdictKind::Halt);
    assert_eq!(of(Surface::Check), VerdictKind::Escalate);
    assert_eq!((of(Surface::Permission), of(Surface::Replay)), (plain, plain));
}

#[test]
fn production_is_asked_about_unless_a_change_record_covers_it() {
    const DEPLOY: &str = "kubectl --context eks-1 apply -f k8s/";
    let id = || ChangeId("4f3c9a-12ab".to_owned());
    let mut case = Case::default();
    assert!(case.decide(DEPLOY).review.verdict.kind < VerdictKind::Escalate, "nobody named it");
    case.config = config(|config| config.production.kube_contexts = vec!["eks-*".to_owned()]);
    let asked = case.decide(DEPLOY);
    assert_eq!(asked.review.verdict.kind, VerdictKind::Escalate);
    assert_eq!(asked.unliftable, [Unliftable::Production]);
    // Asked about by a rule already: the record is missing all the same.
    let also = case.decide("kubectl --context eks-1 apply -f k8s/ --prune");
    assert_eq!(also.unliftable, [Unliftable::Production]);
    assert!(also.review.reasoning.primary.contains("without an approved change record"));
    assert!(case.decide("kubectl --context eks-1 get pods").review.verdict.kind < VerdictKind::Escalate);
    case.covering = Covering::Not(id(), "its approval has ended".to_owned());
    let asked = case.decide(DEPLOY).review;
    assert_eq!(asked.verdict.kind, VerdictKind::Escalate);
    assert!(asked.reasoning.primary.contains("its approval has ended"), "{:?}", asked.reasoning);
    case.covering = Covering::By(id());
    let passed = case.decide(DEPLOY);
    assert!(passed.review.verdict.kind < VerdictKind::Escalate && passed.unliftable.is_empty());
}

fn case() -> impl Strategy<Value = Case> {
    let failures = prop::sample::subsequence(
        vec![
            Failure::Configuration("c".to_owned()),
            Failure::History("h".to_owned()),
            Failure::Record("r".to_owned()),
            Failure::Panic,
        ],
        0..=4,
    );
    let profile = prop::sample::select(vec![Profile::Interactive, Profile::Unattended, Profile::Strict]);
    let halted = prop::option::of(Just("this session is halted: x"));
    let took = prop::sample::select(vec![0_u64, 50, 1_000, 60_000]);
    (failures, profile, halted, took, any::<[bool; 6]>(), 0_u64..10_000_000).prop_map(
        |(failures, profile, halted, took, on, now)| {
            let [observes, spends, asks, seed, debts, waits] = on;
            let mut case = Case {
                config: config(|config| {
                    config.profile = profile;
                    config.mode = if observes { Mode::Observe } else { Mode::Enforce };
                    config.limits.preset = if seed { LimitPreset::Seed } else { config.limits.preset };
                }),
                failures,
                halted,
                now,
                took: Duration::from_millis(took),
                waiting: if waits { vec!["mode"] } else { vec![] },
                ..Case::default()
            }
            .started();
            if spends {
                case = case.spent(5_000_000);
            }
            if asks {
                case = case.asked_about_a_rollback();
            }
            if debts {
                case.history.trust.debt = 5.0;
            }
            case
        },
    )
}

#[test]
fn a_mask_is_not_written_where_the_value_stands() {
    const MASK: &str = "[masked:api_key:0a1b2c3d]";
    let decide = |text: &str| Case::default().decide(text).review.verdict.kind;
    for text in [format!("echo 'KEY={MASK}' > .env"), format!("cat > .env <<'E'\nA=1\nKEY={MASK}\nE")] {
        assert_eq!(decide(&text), VerdictKind::Block, "{text}");
    }
    assert_eq!(decide(&format!("echo 'KEY={MASK}' > notes.md")), VerdictKind::Escalate);
    for text in [format!("grep '{MASK}' .env.example"), "echo A=1 >> .env".to_owned()] {
        assert!(decide(&text) < VerdictKind::Block, "{text}");
    }
}

proptest! {
    /// Whatever is known, in whatever order it is taken into account, no step makes a verdict milder.
    #[test]
    fn no_adjustment_makes_a_verdict_milder(
        case in case(),
        text in prop::sample::select(vec![LOOKS, CHANGES, "rm -rf ~", "git push --force", "sh unknown.sh"]),
        order in Just(Surface::Hook.adjustments().to_vec()).prop_shuffle(),
    ) {
        let circumstances = case.circumstances();
        let mut docket = Docket::open(reviewed(text));
        for (adjust, _) in order {
            let before = docket.review().verdict;
            adjust(&mut docket, &circumstances);
            let after = docket.review().verdict;
            prop_assert!(after.kind >= before.kind && after.flagged >= before.flagged);
        }
        for surface in SURFACES {
            let decided = adjudicate(reviewed(text), &circumstances, surface).review;
            prop_assert!(decided.verdict.kind >= reviewed(text).verdict.kind);
        }
    }
}

#[test]
fn a_push_that_gates_do_not_let_pass_is_refused_and_no_allowance_lifts_it() {
    let mut case = Case { push: PushGates::Passed, ..Case::default() };
    assert!(case.decide("git push").unliftable.is_empty());
    case.push = PushGates::Stopped("a.py:1: the body only says that it is not implemented".to_owned());
    let stopped = case.decide("git push");
    assert_eq!(stopped.review.verdict.kind, VerdictKind::Block);
    assert_eq!(stopped.unliftable, [Unliftable::PushGates]);
    assert!(stopped.review.reasoning.primary.contains("a.py:1"), "{:?}", stopped.review.reasoning);
}
