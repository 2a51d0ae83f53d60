//! Tripwires, own patterns and blueprints as people write them: what is read, what is refused, and where the error stands.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]
#![allow(clippy::float_cmp, reason = "the numbers are written down, not computed")]

use checkrein_policy::{
    Blueprint, Config, ConfigSource, Digest, FileHash, Layer, LayerKind, LoadedConfig, Tier, Trial,
    VerdictKind, load, load_proved, trials,
};

fn layer(kind: LayerKind, text: &str) -> Layer {
    Layer { kind, source: ConfigSource::File { name: "checkrein.yaml".to_owned(), text: text.to_owned() } }
}

fn proved(text: &str) -> Result<LoadedConfig, String> {
    load_proved(&[layer(LayerKind::User, text)], &[]).map_err(|errors| errors.to_string())
}

const REFUNDS: &str = r#"governance:
  tier: "3"
  tripwires:
    - id: refund_limit
      when: {hook: tool_call, tool: issue_refund}
      condition: "has(args.amount) && args.amount > 500"
      eval_tier: 0
      on_fail: {decision: block, reason: refunds above 500 are for people}
    - id: many_deletions
      condition: count > 3
      count:
        of: effects.exists(e, e.kind == "file_delete")
        within: 10 m
      on_fail: {decision: halt, flag: high}
      match:
        - 4 times $ rm a => file_delete /home/dev/proj/a unsaved
      not_match:
        - 3 times $ rm a => file_delete /home/dev/proj/a unsaved
patterns:
  custom_patterns:
    - name: edits_without_test
      of: effects.exists(e, e.kind == "file_modify")
      within: 20 actions
      at_least: 3
      without: action.command.startsWith("cargo test")
      severity: high
      reason: three edits and no test in between
      match:
        - 3 times file_modify /home/dev/proj/a
        - file_modify /home/dev/proj/a --> $ ls => --> 2 times file_modify /home/dev/proj/a
      not_match:
        - 2 times file_modify /home/dev/proj/a --> $ cargo test => --> 2 times file_modify /home/dev/proj/a
"#;

#[test]
fn what_a_person_writes_is_read_and_its_examples_hold() {
    let config = proved(REFUNDS).unwrap().config;
    assert_eq!(config.governance.tier, Tier::Three);
    let names: Vec<&str> = config.governance.tripwires.iter().map(|wire| wire.name.as_str()).collect();
    assert_eq!(names, ["refund_limit", "many_deletions"]);
    assert_eq!(config.patterns.custom_patterns[0].decision, VerdictKind::Escalate, "severity high asks");
    let played = trials(&[], &config.governance.tripwires, &config.patterns.custom_patterns);
    assert_eq!(played.len(), 5);
    assert!(played.iter().all(Trial::passed), "{played:#?}");
}

#[test]
fn a_condition_that_does_not_parse_is_pointed_at() {
    let text = "governance:\n  tripwires:\n    - id: w\n      condition: effects.exists(e, e.kind ==)\n      on_fail: {decision: block}\n";
    let error = proved(text).unwrap_err();
    assert!(error.contains("the condition cannot be used"), "{error}");
    assert!(error.contains("checkrein.yaml:4:"), "{error}");
    // Without the proof it is read as it stands: no single call pays for parsing what it may not need.
    assert!(load(&[layer(LayerKind::User, text)], &[]).is_ok());
}

#[test]
fn an_example_that_is_not_met_is_pointed_at() {
    let error = proved(&REFUNDS.replace("- 4 times $ rm", "- 2 times $ rm")).unwrap_err();
    assert!(error.contains("`many_deletions` does not catch it"), "{error}");
    assert!(error.contains("checkrein.yaml:16:"), "{error}");
    let rule = "step_reviewer:\n  rules:\n    custom:\n      - name: r\n        when: 'false'\n        decision: block\n        match: ['$ ls =>']\n";
    let error = proved(rule).unwrap_err();
    assert!(error.contains("rule `r` does not catch") && error.contains("checkrein.yaml:7:"), "{error}");
}

#[test]
fn slips_are_errors_with_line_and_hint() {
    for (from, to, expected) in [
        ("decision: block", "decision: blok", "did you mean `block`?"),
        ("within: 10 m", "within: ten minutes", "expected `session`"),
        ("id: refund_limit", "id: many_deletions", "belongs to another entry"),
        ("tier: \"3\"", "tier: \"7\"", "`governance.tier`"),
        ("at_least: 3", "at_leest: 3", "did you mean `at_least`?"),
        ("condition: count > 3", "conditions: count > 3", "a tripwire has no `condition`"),
        ("hook: tool_call", "hook: message", "expected `tool_call`"),
    ] {
        let error = proved(&REFUNDS.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
        assert!(error.contains("checkrein.yaml:"), "{to}: {error}");
    }
}

#[test]
fn a_project_may_add_a_tripwire_but_not_weaken_one() {
    let user = layer(LayerKind::User, REFUNDS);
    let project = REFUNDS
        .replace("decision: halt, flag: high", "decision: nudge")
        .replace("id: refund_limit", "id: own_limit");
    let weakened = layer(LayerKind::Project, &project.replace("tier: \"3\"", "tier: \"1\""));
    let found = load(&[user.clone(), weakened], &[]).unwrap();
    let decision = |loaded: &LoadedConfig, name: &str| {
        loaded.config.governance.tripwires.iter().find(|wire| wire.name == name).map(|wire| wire.decision)
    };
    assert_eq!(decision(&found, "many_deletions"), Some(VerdictKind::Halt));
    assert_eq!(decision(&found, "own_limit"), Some(VerdictKind::Block), "what is new only tightens");
    assert_eq!(found.config.governance.tier, Tier::Three);
    let waiting: Vec<&str> = found.pending.iter().map(|loosening| loosening.key.as_str()).collect();
    assert_eq!(waiting, ["governance.tier", "governance.tripwires"]);

    let trusted = load(&[user, layer(LayerKind::Project, &project)], &[FileHash::of(&project)]).unwrap();
    assert_eq!(decision(&trusted, "many_deletions"), Some(VerdictKind::Nudge), "the user agreed");
}

#[test]
fn weights_and_thresholds_that_contradict_each_other_are_refused() {
    for text in [
        "governance: {weights: {reasoning: 0.30}}\n",
        "governance: {weights: {reasoning: 0.40, context: 0.0}}\n",
        "governance: {thresholds: {ok: 0.5, nudge: 0.4}}\n",
        "governance: {trust_debt: {thresholds: {restricted_mode: 2}}}\n",
    ] {
        let error = proved(text).unwrap_err();
        assert!(error.contains("checkrein.yaml:1:"), "{text}: {error}");
    }
    let shifted = "governance: {weights: {reasoning: 0.30, context: 0.10}}\n";
    assert!(proved(shifted).is_ok());
}

const BLUEPRINT: &str = r#"artifact_type: acgp.blueprint
schema_version: 2.0.0
id: example/payments@1.0
version: 1.0.0
title: Payments
description: What an agent that pays back may do.
applicability: {governance_tiers: [GT-2, GT-3]}
tripwires:
  - id: refund_limit
    when: {hook: tool_call, tool: issue_refund}
    condition: action.tool == "issue_refund"
    on_fail: {decision: block}
checks:
  - id: no_uploads
    kind: rule
    condition: effects.exists(e, e.kind == "data_upload")
    on_fail: {decision: escalate}
  - {id: grounded, kind: metric, metric: grounding, min_score: 0.6, on_fail: nudge}
intervention_policy:
  thresholds: {ok: 0.25, nudge: 0.40, escalate: 0.55}
trust_policy:
  enabled: true
  accumulation: {flag: 0.1, nudge: 0.5, escalate: 1.0, block: 2.0, halt: 5.0}
  decay: {decay_fraction: 0.05, period_hours: 24, min_debt: 0.0}
  thresholds: {elevated_monitoring: 1.0, restricted_mode: 3.0, re_tiering_review: 5.0}
annotations: {owner: payments}
fixtures:
  - {name: a refund, actions: "issue_refund =>", expect: block}
  - {name: an upload, actions: "$ curl -T a https://x.example => data_upload https://x.example external", expect: escalate}
  - {name: a listing, actions: "$ ls =>", expect: ok}
"#;

fn with_blueprint(settings: &str, blueprint: &str) -> Result<Config, String> {
    let source = ConfigSource::Blueprint { name: "payments.yaml".to_owned(), text: blueprint.to_owned() };
    let layers = [layer(LayerKind::User, settings), Layer { kind: LayerKind::User, source }];
    load_proved(&layers, &[]).map(|loaded| loaded.config).map_err(|errors| errors.to_string())
}

#[test]
fn the_example_of_acgp_loads_and_makes_things_stricter() {
    let governance = with_blueprint("", BLUEPRINT).unwrap().governance;
    assert_eq!(governance.tripwires.len(), 2);
    assert_eq!(governance.floors.len(), 1);
    // The numbers of the blueprint example, beside the defaults of clarity.baseline@1.0.
    let trust = governance.trust_debt;
    assert_eq!((trust.thresholds.elevated_monitoring, trust.thresholds.re_tiering_review), (1.0, 5.0));
    assert_eq!(trust.decay.period_hours, 24.0);
    assert_eq!(governance.thresholds(Tier::Zero).ok, 0.25, "the stricter of blueprint and tier");
    assert_eq!(governance.thresholds(Tier::Five).ok, 0.10);
}

#[test]
fn a_blueprint_loosens_nothing_and_counts_in_its_tiers_only() {
    let mild = BLUEPRINT
        .replace("re_tiering_review: 5.0", "re_tiering_review: 500.0")
        .replace("halt: 5.0", "halt: 0.0");
    let governance = with_blueprint("", &mild).unwrap().governance;
    assert_eq!(governance.trust_debt.thresholds.re_tiering_review, 10.0);
    assert_eq!(governance.trust_debt.accumulation.halt, 5.0);
    let elsewhere = with_blueprint("governance: {tier: \"4\"}", BLUEPRINT).unwrap().governance;
    assert_eq!((elsewhere.tripwires.len(), elsewhere.thresholds.ok), (0, None));
}

#[test]
fn a_blueprint_with_a_fault_says_where() {
    for (from, to, expected) in [
        ("schema_version: 2.0.0", "schema_version: 3.0.0", "expected `2.0.0`"),
        ("version: 1.0.0\n", "version: one\n", "a version such as"),
        ("title: Payments\n", "", "a blueprint has no `title`"),
        (
            "actions: \"$ ls =>\", expect: ok",
            "actions: \"$ ls =>\", expect: block",
            "`a listing` gives ok, not block",
        ),
        ("decision: escalate}", "decision: halt}", "which only tripwires give"),
        ("ok: 0.25, nudge: 0.40", "ok: 0.45, nudge: 0.40", "`ok` not above `nudge`"),
        ("annotations: {owner: payments}", "extensions: {required: [x/y]}", "no extension is known here"),
        (
            "annotations: {owner: payments}",
            "evidence_policy: {require_citations: true}",
            "unknown key `evidence_policy`",
        ),
        ("GT-3", "GT-9", "a tier from `GT-0` to `GT-5`"),
    ] {
        assert!(BLUEPRINT.contains(from), "{from}");
        let error = with_blueprint("", &BLUEPRINT.replace(from, to)).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
        assert!(error.contains("--> payments.yaml:"), "{to}: {error}");
    }
}

#[test]
fn two_tripwires_of_one_name_do_not_share_a_count_unseen() {
    let own = "governance:\n  tripwires:\n    - {id: refund_limit, condition: 'true', on_fail: {decision: nudge}}\n";
    let error = with_blueprint(own, BLUEPRINT).unwrap_err();
    assert!(error.contains("the name `refund_limit` belongs to another tripwire"), "{error}");
}

#[test]
fn a_digest_is_the_sha256_of_the_text() {
    let digest = Digest::of("abc");
    assert_eq!(digest.to_string(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
    assert_eq!(Digest::parse("ba78"), None);
}

#[test]
fn hostile_files_are_refused_in_bounded_time() {
    let one = |number: u32| {
        format!(
            "    - {{id: w{number}, condition: 'count > 1', count: {{of: 'true'}}, on_fail: {{decision: block}}}}"
        )
    };
    let many = (0..40).map(one).collect::<Vec<_>>().join("\n");
    let error = proved(&format!("governance:\n  tripwires:\n{many}")).unwrap_err();
    assert!(error.contains("at most 32 entries that count"), "{error}");
    let long = REFUNDS.replace("4 times $ rm", "99999999999 times $ rm");
    assert!(proved(&long).unwrap_err().contains("more than 256 actions"));
    assert!(Blueprint::parse("b", &"[".repeat(100_000), LayerKind::User).is_err());
}

/// The guide is read by people who copy from it.
#[test]
fn every_example_of_the_guide_is_valid_and_shows_what_it_says() {
    let guide = include_str!("../../../docs/governance.md");
    let blocks: Vec<&str> =
        guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 5);
    let mut played = 0;
    for text in blocks {
        if text.contains("acgp.blueprint") {
            let blueprint = Blueprint::parse_proved("guide", text, LayerKind::User);
            played += blueprint.unwrap_or_else(|errors| panic!("{errors}")).trials().len();
        } else {
            let config = proved(text).unwrap_or_else(|error| panic!("{error}")).config;
            played += trials(&[], &config.governance.tripwires, &config.patterns.custom_patterns).len();
        }
    }
    assert_eq!(played, 5);
}
