//! Layers, tightening and error texts.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeMap;

use checkrein_policy::{
    BuiltinRules, Config, ConfigSource, Decision, FileHash, Layer, LayerKind, LoadedConfig, Mode, Policy,
    Profile, ReviewMode, load, reference, schema,
};
use proptest::prelude::*;

fn file(kind: LayerKind, text: &str) -> Layer {
    let name = match kind {
        LayerKind::Project => "checkrein.yaml",
        LayerKind::Managed | LayerKind::User | LayerKind::Environment | LayerKind::Flags => "config.yaml",
    };
    Layer { kind, source: ConfigSource::File { name: name.to_owned(), text: text.to_owned() } }
}

fn user(text: &str) -> LoadedConfig {
    load(&[file(LayerKind::User, text)], &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn project(text: &str) -> LoadedConfig {
    load(&[file(LayerKind::Project, text)], &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(text: &str) -> String {
    load(&[file(LayerKind::Project, text)], &[]).unwrap_err().to_string()
}

#[test]
fn the_configuration_of_the_seed_is_accepted_as_written() {
    let loaded = user(
        "step_reviewer:\n  # General settings\n  enabled: true\n  mode: blocking # blocking | async\n  risk:\n    low_threshold: 0.3\n    medium_threshold: 0.6\n    high_threshold: 0.8\n    critical_threshold: 0.95\n  rationality:\n    high_threshold: 0.8\n    medium_threshold: 0.5\n    low_threshold: 0.3\n  rules:\n    builtin: all # all | essential | none\n    custom_rules_path: ./config/custom_rules.exs\n  cache:\n    enabled: true\n    ttl_minutes: 5\n    max_size: 1000\n  performance:\n    max_review_time_ms: 100\n    async_threshold: 0.3\n",
    );
    let mut expected = Config::default();
    expected.step_reviewer.rules.custom_rules_path = Some("./config/custom_rules.exs".to_owned());
    assert_eq!(loaded.config, expected);
}

#[test]
fn overrides_of_the_seed_are_accepted_as_written() {
    let loaded = user(
        "step_reviewer:\n  risk:\n    high_threshold: 0.9\nsafety:\n  step_reviewer:\n    risk:\n      high_threshold: 0.7 # More permissive for this pipeline\n    rules:\n      disabled:\n        - prevent_recursive_deletion\n        - limit_file_operations\n",
    );
    assert!((loaded.config.step_reviewer.risk.high_threshold - 0.7).abs() < 1e-9);
    assert_eq!(
        loaded.config.step_reviewer.rules.disabled,
        ["prevent_recursive_deletion", "limit_file_operations"]
    );
}

// Source: seed 001-46
#[test]
fn the_other_seeds_are_accepted_too() {
    let loaded = user(
        "interventions:\n  enabled: true\n  max_interventions_per_execution: 10\n  intervention_cooldown_seconds: 30\n  soft_correction:\n    enabled: true\n    max_attempts: 3\n    custom_prompts_path: ./config/intervention_prompts.yaml\n  context_reinforcement:\n    enabled: true\n    reinforcement_strength: medium\n    include_examples: true\n  resource_throttling:\n    enabled: true\n    reduction_factors:\n      moderate: 0.85\n      aggressive: 0.5\n      severe: 0.25\n    metrics_window_seconds: 60\n  checkpoint_rollback:\n    enabled: true\n    max_rollback_depth: 3\n    checkpoint_retention_minutes: 30\n    safe_checkpoint_criteria:\n      min_success_rate: 0.8\n      no_errors_duration_seconds: 60\n  emergency_stop:\n    enabled: true\n    auto_cleanup: false\n    notification_channels:\n      - email\n      - slack\n    preserve_incident_data_days: 30\n  strategy:\n    type: progressive\n    effectiveness_threshold: 0.6\n    escalation_delay_seconds: 120\n",
    );
    assert_eq!(loaded.config.interventions.emergency_stop.notification_channels, ["email", "slack"]);
    let loaded = user(
        "reviewer: {enabled: true, risk_threshold: 0.5, review_mode: async}\npatterns: {enabled_patterns: [all], custom_patterns: [], sensitivity: high}\ninterventions: {soft_correction: false, hard_stop: true, auto_rollback: true, max_retries: 3}\nresources: {max_file_operations: 100, max_memory_mb: 512, max_execution_time_seconds: 300, max_token_usage: 100_000}\naudit: {log_level: info, retain_days: 7, export_format: csv}\n",
    );
    let config = loaded.config;
    assert_eq!(config.step_reviewer.mode, ReviewMode::Async);
    assert_eq!(config.token_limit(), Some(100_000));
    assert_eq!(config.file_operation_limit(), Some(100));
    assert_eq!(config.audit.retention_days, 7);
    assert!(!config.interventions.soft_correction.enabled && config.interventions.auto_rollback);
    let risk = config.step_reviewer.risk;
    assert!(risk.low_threshold <= risk.medium_threshold && risk.medium_threshold <= risk.high_threshold);
    assert!((risk.high_threshold - 0.5).abs() < 1e-9);
}

#[test]
fn nothing_is_an_empty_configuration() {
    for text in
        ["", "\n\n", "# nothing yet\n", "---\n", "{}\n", "step_reviewer:\n", "step_reviewer:\n  risk: ~\n"]
    {
        assert_eq!(user(text).config, Config::default(), "{text:?}");
    }
}

#[test]
fn later_layers_win_and_are_remembered() {
    let variables = BTreeMap::from([
        ("CHECKREIN_MODE".to_owned(), "enforce".to_owned()),
        ("SAFETY_RISK_THRESHOLD".to_owned(), "0.7".to_owned()),
        ("HOME".to_owned(), "/home/dev".to_owned()),
    ]);
    let layers = [
        Layer {
            kind: LayerKind::Flags,
            source: ConfigSource::Flags(vec![("profile".to_owned(), "strict".to_owned())]),
        },
        Layer { kind: LayerKind::Environment, source: ConfigSource::Variables(variables.into()) },
        file(LayerKind::User, "mode: observe\nprofile: unattended\naudit:\n  retention_days: 90\n"),
        file(LayerKind::Managed, "audit:\n  retention_days: 10\n  sync: always\n"),
    ];
    let loaded = load(&layers, &[]).unwrap();
    assert_eq!(loaded.config.mode, Mode::Enforce);
    assert_eq!(loaded.config.profile, Profile::Strict);
    assert_eq!(loaded.config.audit.retention_days, 90);
    assert!((loaded.config.step_reviewer.risk.high_threshold - 0.7).abs() < 1e-9);
    let from = |key: &str| loaded.provenance.get(key).map(|from| (from.layer, from.file.as_str(), from.line));
    assert_eq!(from("audit.retention_days"), Some((LayerKind::User, "config.yaml", 4)));
    assert_eq!(from("audit.sync"), Some((LayerKind::Managed, "config.yaml", 3)));
    assert_eq!(from("mode"), Some((LayerKind::Environment, "environment", 1)));
    assert_eq!(from("profile"), Some((LayerKind::Flags, "flags", 1)));
    assert_eq!(from("scope.paths"), None);
}

#[test]
fn a_project_tightens_and_what_it_loosens_waits() {
    let text = "mode: observe\nprofile: strict\nstep_reviewer:\n  risk:\n    high_threshold: 0.7\n    critical_threshold: 0.99\n  rules:\n    builtin: none\n    disabled: [protect_guard]\nlimits:\n  file_operations: 500\n  memory_mb: 20000\nscope:\n  paths: [src/**]\naudit:\n  anchor: /tmp/x\n";
    let loaded = project(text);
    let config = &loaded.config;
    assert_eq!(config.mode, Mode::Enforce);
    assert_eq!(config.profile, Profile::Strict);
    assert_eq!(config.step_reviewer.rules.builtin, BuiltinRules::All);
    assert_eq!(config.step_reviewer.rules.disabled, Vec::<String>::new());
    assert_eq!(config.file_operation_limit(), Some(500));
    assert_eq!(config.memory_limit_mb(), Some(20_000), "a limit where there was none is stricter");
    assert_eq!(config.scope.paths, ["src/**"]);
    assert_eq!(config.audit.anchor, None);
    let pending: Vec<String> = loaded
        .pending
        .iter()
        .map(|loosening| {
            format!(
                "{}:{} {}: {} -> {}",
                loosening.file, loosening.line, loosening.key, loosening.from, loosening.to
            )
        })
        .collect();
    insta::assert_snapshot!(pending.join("\n"), @r"
        checkrein.yaml:1 mode: enforce -> observe
        checkrein.yaml:6 step_reviewer.risk.critical_threshold: 0.95 -> 0.99
        checkrein.yaml:8 step_reviewer.rules.builtin: all -> none
        checkrein.yaml:9 step_reviewer.rules.disabled: [] -> [protect_guard]
        checkrein.yaml:16 audit.anchor: not set -> /tmp/x
        ");
    let trusted = load(&[file(LayerKind::Project, text)], &[FileHash::of(text)]).unwrap();
    assert_eq!(trusted.pending, []);
    assert_eq!(trusted.config.mode, Mode::Observe);
    assert_eq!(trusted.config.step_reviewer.rules.disabled, ["protect_guard"]);
    let changed = format!("{text}\n");
    let other = load(&[file(LayerKind::Project, &changed)], &[FileHash::of(text)]).unwrap();
    assert_eq!(other.pending.len(), loaded.pending.len(), "trust is for exact texts");
}

// Source: seed 004-5
#[test]
fn zero_is_no_limit_and_only_a_person_says_so() {
    let text = "limits: {dollars: 0, tokens: 0, memory_mb: 0, execution_seconds: 0, file_operations: 0}\n";
    let unattended = "profile: unattended\n";
    let limits = |config: &Config| {
        let counts = [
            config.token_limit(),
            config.memory_limit_mb(),
            config.execution_limit_seconds(),
            config.file_operation_limit(),
        ];
        (counts, config.dollar_limit())
    };
    let mine = load(&[file(LayerKind::User, &format!("{unattended}{text}"))], &[]).unwrap();
    assert_eq!(limits(&mine.config), ([None; 4], None));
    let theirs = load(&[file(LayerKind::User, unattended), file(LayerKind::Project, text)], &[]).unwrap();
    assert_eq!(
        limits(&theirs.config),
        ([Some(3_000_000), Some(4_096), Some(3_600), Some(2_000)], Some(20.0))
    );
    assert_eq!(theirs.pending.len(), 5);
}

// Source: seed 001-50, 004-10
#[test]
fn the_numbers_of_the_seeds_can_be_had() {
    let text = "profile: unattended\nlimits: {preset: seed, dollars: 7}\n";
    let config = load(&[file(LayerKind::User, text)], &[]).unwrap().config;
    assert_eq!((config.token_limit(), config.memory_limit_mb()), (Some(100_000), Some(512)));
    assert_eq!((config.execution_limit_seconds(), config.file_operation_limit()), (Some(300), Some(100)));
    assert_eq!((config.answer_limit(), config.dollar_limit()), (Some(20), Some(7.0)));
    let loosened =
        load(&[file(LayerKind::User, text), file(LayerKind::Project, "limits: {preset: standard}\n")], &[]);
    assert_eq!(loosened.unwrap().config.memory_limit_mb(), Some(512));
}

#[test]
fn rules_of_a_project_add_and_never_replace() {
    let mine = "step_reviewer:\n  rules:\n    custom:\n      - {name: mine, when: 'true', decision: block}\n";
    let theirs = "step_reviewer:\n  rules:\n    custom:\n      - {name: mine, when: 'false', decision: allow}\n      - {name: theirs, when: 'true', decision: warn}\n";
    let loaded = load(&[file(LayerKind::User, mine), file(LayerKind::Project, theirs)], &[]).unwrap();
    let rules: Vec<(&str, Decision)> = loaded
        .config
        .step_reviewer
        .rules
        .custom
        .iter()
        .map(|rule| (rule.name.as_str(), rule.decision))
        .collect();
    assert_eq!(rules, [("mine", Decision::Block), ("theirs", Decision::Warn)]);
    assert_eq!(loaded.pending.len(), 1);
    assert_eq!(Policy::new(loaded.config).custom_rules().len(), 2);
}

#[test]
fn rule_files_are_lists_of_rules() {
    let text = "- name: no_friday\n  when: \"action.command.contains('deploy')\"\n  decision: modify\n  kinds: [infrastructure_change]\n  match: ['$ deploy => infrastructure_change web']\n";
    let layer = Layer {
        kind: LayerKind::User,
        source: ConfigSource::Rules { name: "rules.yaml".to_owned(), text: text.to_owned() },
    };
    let loaded = load(&[layer], &[]).unwrap();
    let rule = loaded.config.step_reviewer.rules.custom.first().unwrap();
    assert_eq!(rule.problems(&loaded.config), []);
    let empty = Layer {
        kind: LayerKind::User,
        source: ConfigSource::Rules { name: "rules.yaml".to_owned(), text: String::new() },
    };
    assert_eq!(load(&[empty], &[]).unwrap().config, Config::default());
}

#[test]
fn versions_follow_the_content() {
    let version = |text: &str| Policy::new(user(text).config).version();
    assert_eq!(version(""), version("mode: enforce"));
    assert_ne!(version(""), version("mode: observe"));
    let rule = |when: &str| {
        format!("step_reviewer: {{rules: {{custom: [{{name: a, when: '{when}', decision: block}}]}}}}")
    };
    assert_ne!(version(&rule("true")), version(&rule("false")));
}

#[test]
fn unknown_keys_are_pointed_at() {
    insta::assert_snapshot!(errors("step_reviewer:\n  rissk:\n    high_threshold: 0.7\n"), @r"
        error: unknown key `step_reviewer.rissk`, expected `enabled`, `mode`, `risk`, `rationality`, `rules`, `cache`, `performance`
         --> checkrein.yaml:2:3
          |
        2 |   rissk:
          |   ^^^^^
          = hint: did you mean `risk`?
        ");
    insta::assert_snapshot!(errors("high_threshold: 0.7\n"), @r"
        error: unknown key `high_threshold`, expected `mode`, `profile`, `goals`, `scope`, `owned`, `production`, `step_reviewer`, `governance`, `limits`, `patterns`, `interventions`, `notifications`, `approvals`, `snapshots`, `containment`, `audit`, `engine`, `server`, `telemetry`, `output`, `gates`, `reviewer`, `resources`, `safety`
         --> checkrein.yaml:1:1
          |
        1 | high_threshold: 0.7
          | ^^^^^^^^^^^^^^
          = hint: there is a key `step_reviewer.risk.high_threshold`
        ");
    insta::assert_snapshot!(errors("safety:\n  step_reviewer:\n    risk: {hihg_threshold: 0.7}\n"), @r"
        error: unknown key `safety.step_reviewer.risk.hihg_threshold`, expected `low_threshold`, `medium_threshold`, `high_threshold`, `critical_threshold`
         --> checkrein.yaml:3:12
          |
        3 |     risk: {hihg_threshold: 0.7}
          |            ^^^^^^^^^^^^^^
          = hint: did you mean `high_threshold`?
        ");
}

#[test]
fn a_number_above_one_is_read_in_both_ways() {
    let hint = |text: &str| errors(&format!("step_reviewer:\n  risk:\n    high_threshold: {text}\n"));
    assert!(
        hint("7").contains("the scale ends at 1: write `0.7` for 7 of 10, `0.07` for 7 %"),
        "{}",
        hint("7")
    );
    for (text, meant) in
        [("7%", "hint: write `0.07`"), ("70", "hint: write `0.7`"), ("100%", "hint: write `1`")]
    {
        assert!(hint(text).contains(meant), "{}", hint(text));
    }
    assert!(!hint("700").contains("hint"), "{}", hint("700"));
}

#[test]
fn bad_values_are_pointed_at() {
    insta::assert_snapshot!(errors("mode: enfroce\nprofile: 3\nstep_reviewer:\n  enabled: yes\n  risk:\n    high_threshold: 80%\n  cache:\n    ttl_minutes: \"5\"\n  rules:\n    disabled: protect_guard\n"), @r#"
        error: `mode` is `enfroce`, expected `observe` or `enforce`
         --> checkrein.yaml:1:7
          |
        1 | mode: enfroce
          |       ^^^^^^^
          = hint: did you mean `enforce`?

        error: `profile` is `3`, expected `interactive` or `unattended` or `strict`
         --> checkrein.yaml:2:10
          |
        2 | profile: 3
          |          ^

        error: `step_reviewer.enabled` is `yes`, expected `true` or `false`
         --> checkrein.yaml:4:12
          |
        4 |   enabled: yes
          |            ^^^
          = hint: write `true`

        error: `step_reviewer.risk.high_threshold` is `80%`, expected a number from 0 to 1
         --> checkrein.yaml:6:21
          |
        6 |     high_threshold: 80%
          |                     ^^^
          = hint: write `0.8`

        error: `step_reviewer.cache.ttl_minutes` is the text `5`, expected a whole number
         --> checkrein.yaml:8:18
          |
        8 |     ttl_minutes: "5"
          |                  ^^^
          = hint: write 5 without quotes

        error: `step_reviewer.rules.disabled` is `protect_guard`, expected a list of texts
          --> checkrein.yaml:10:15
           |
        10 |     disabled: protect_guard
           |               ^^^^^^^^^^^^^
           = hint: write `[protect_guard]`
        "#);
    insta::assert_snapshot!(errors("step_reviewer: [1]\n"), @r"
        error: `step_reviewer` is a list, expected a map with `enabled`, `mode`, `risk`, `rationality`, `rules`, `cache`, `performance`, or `true` or `false`
         --> checkrein.yaml:1:16
          |
        1 | step_reviewer: [1]
          |                ^
        ");
}

#[test]
fn contradictions_are_pointed_at() {
    insta::assert_snapshot!(errors("step_reviewer:\n  risk:\n    medium_threshold: 0.9\n    high_threshold: 0.7\n"), @r"
        error: `step_reviewer.risk.high_threshold` (0.7) must not be below `step_reviewer.risk.medium_threshold` (0.9)
         --> checkrein.yaml:4:5
          |
        4 |     high_threshold: 0.7
          |     ^^^^^^^^^^^^^^
          = hint: set both
        ");
}

#[test]
fn bad_yaml_is_pointed_at() {
    insta::assert_snapshot!(errors("mode: enforce\n\tprofile: strict\n"), @r"
        error: this is not YAML: while scanning a plain scalar, found a tab
         --> checkrein.yaml:1:7
          |
        1 | mode: enforce
          |       ^
          = hint: quote texts that hold `: `, `#` or begin with a special character, and indent with spaces
        ");
    insta::assert_snapshot!(errors("goals: [a, b\nmode: enforce\n"), @r"
        error: this is not YAML: illegal placement of ':' indicator
         --> checkrein.yaml:2:5
          |
        2 | mode: enforce
          |     ^
          = hint: quote texts that hold `: `, `#` or begin with a special character, and indent with spaces
        ");
    insta::assert_snapshot!(errors("goals: &a [x]\naudit: *a\n"), @r"
        error: an anchor is not accepted in configuration
         --> checkrein.yaml:1:8
          |
        1 | goals: &a [x]
          |        ^^^^
          = hint: write the value out: one plain document, without anchors, aliases and tags
        ");
    insta::assert_snapshot!(errors("mode: enforce\nmode: observe\n"), @r"
        error: `mode` is set a second time, after line 1
         --> checkrein.yaml:2:1
          |
        2 | mode: observe
          | ^^^^
        ");
    insta::assert_snapshot!(errors("limits: {file_operations: 3}\nresources: {max_file_operations: 4}\n"), @r"
        error: `limits.file_operations` is set a second time, after line 1
         --> checkrein.yaml:2:13
          |
        2 | resources: {max_file_operations: 4}
          |             ^^^^^^^^^^^^^^^^^^^
          = hint: keep one of the two names
        ");
}

#[test]
fn bad_rules_are_pointed_at() {
    insta::assert_snapshot!(errors("step_reviewer:\n  rules:\n    disabled: [prevent_recursive_deletoin]\n    custom:\n      - name: warn_external_network\n        when: 'true'\n        decision: deny\n        kinds: [file_delet]\n      - {name: a b, whenn: x, decision: warn}\n"), @r"
        error: the name `warn_external_network` belongs to a built-in rule
         --> checkrein.yaml:5:15
          |
        5 |       - name: warn_external_network
          |               ^^^^^^^^^^^^^^^^^^^^^
          = hint: give the rule a name of its own

        error: `decision` is `deny`, expected `allow` or `warn` or `modify` or `block`
         --> checkrein.yaml:7:19
          |
        7 |         decision: deny
          |                   ^^^^
          = hint: did you mean `block`?

        error: `kinds` is `file_delet`, expected a kind of effect, such as `file_delete`
         --> checkrein.yaml:8:17
          |
        8 |         kinds: [file_delet]
          |                 ^^^^^^^^^^
          = hint: did you mean `file_delete`?

        error: `name` is `a b`, expected a name of letters, digits, `_` and `-`
         --> checkrein.yaml:9:16
          |
        9 |       - {name: a b, whenn: x, decision: warn}
          |                ^^^

        error: unknown key `whenn`, expected `name`, `description`, `when`, `decision`, `reason`, `alternatives`, `kinds`, `tools`, `match`, `not_match`
         --> checkrein.yaml:9:21
          |
        9 |       - {name: a b, whenn: x, decision: warn}
          |                     ^^^^^
          = hint: did you mean `when`?

        error: a rule has no `when`, expected an expression
         --> checkrein.yaml:9:9
          |
        9 |       - {name: a b, whenn: x, decision: warn}
          |         ^
        ");
    insta::assert_snapshot!(errors("step_reviewer:\n  rules:\n    disabled: [prevent_recursive_deletoin]\n"), @r"
        error: there is no rule `prevent_recursive_deletoin`
         --> checkrein.yaml:3:16
          |
        3 |     disabled: [prevent_recursive_deletoin]
          |                ^^^^^^^^^^^^^^^^^^^^^^^^^^
          = hint: did you mean `prevent_recursive_deletion`?
        ");
}

#[test]
fn variables_and_flags_are_pointed_at() {
    let variables = BTreeMap::from([("SAFETY_REVIEW_MODE".to_owned(), "blokcing".to_owned())]);
    let layers = [
        Layer { kind: LayerKind::Environment, source: ConfigSource::Variables(variables.into()) },
        Layer {
            kind: LayerKind::Flags,
            source: ConfigSource::Flags(vec![
                ("mode".to_owned(), "observe".to_owned()),
                ("step_reviewer.risk.high_treshold".to_owned(), "1".to_owned()),
            ]),
        },
    ];
    insta::assert_snapshot!(load(&layers, &[]).unwrap_err().to_string(), @r"
        error: `step_reviewer.mode` is `blokcing`, expected `async` or `blocking`
         --> environment:1:20
          |
        1 | SAFETY_REVIEW_MODE=blokcing
          |                    ^^^^^^^^
          = hint: did you mean `blocking`?

        error: unknown key `step_reviewer.risk.high_treshold`, expected the path of a setting, such as `step_reviewer.risk.high_threshold`
         --> flags:1:1
          |
        1 | step_reviewer.risk.high_treshold=1
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = hint: did you mean `step_reviewer.risk.high_threshold`?
        ");
}

#[test]
fn the_schema_and_the_reference_know_every_key() {
    let schema = schema();
    let text = reference();
    for key in [
        "mode",
        "step_reviewer",
        "audit",
        "safety",
        "resources",
        "interventions",
        "patterns",
        "limits",
        "reviewer",
    ] {
        assert!(schema.pointer(&format!("/properties/{key}")).is_some(), "{key}");
    }
    let high = "/properties/step_reviewer/anyOf/0/properties/risk/properties/high_threshold";
    assert_eq!(schema.pointer(&format!("{high}/default")).and_then(serde_json::Value::as_f64), Some(0.8));
    assert_eq!(schema.pointer("/$schema").unwrap(), "https://json-schema.org/draft/2020-12/schema");
    assert!(text.contains("| `step_reviewer.risk.high_threshold` | a number from 0 to 1 | `0.8` |"));
    assert!(text.contains("| `limits.file_operations` |"));
}

/// Lines of a project file that are valid on their own, loose and strict ones.
fn any_setting() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "mode: observe",
        "mode: enforce",
        "profile: interactive",
        "profile: strict",
        "scope: {paths: [/etc/**]}",
        "scope: {paths: [src/**]}",
        "reviewer: {risk_threshold: 0.9}",
        "reviewer: {risk_threshold: 0.4}",
        "step_reviewer: {enabled: false}",
        "step_reviewer: {mode: async, risk: {high_threshold: 0.94}}",
        "step_reviewer: {risk: {medium_threshold: 0.1, low_threshold: 0.0}}",
        "step_reviewer: {rules: {builtin: none, disabled: [protect_guard]}}",
        "step_reviewer: {rules: {custom: [{name: x, when: 'true', decision: allow}]}}",
        "limits: {file_operations: 1000000, dollars: 1}",
        "resources: {max_memory_mb: 1000000}",
        "interventions: {enabled: false, max_retries: 9}",
        "patterns: {enabled_patterns: [goal_drift], sensitivity: low}",
        "audit: {enabled: false, retention_days: 1, mask: {secrets: false}, sync: never}",
        "safety: {audit: {retention_days: 99}}",
    ])
}

proptest! {
    #[test]
    fn a_project_never_loosens(
        base in proptest::collection::btree_map(any_setting().prop_map(section), any_setting(), 0..4),
        more in proptest::collection::vec(any_setting(), 1..5),
    ) {
        let text = |lines: Vec<&str>| {
            let mut sections = std::collections::BTreeSet::new();
            lines.into_iter().filter(|line| sections.insert(section(line))).collect::<Vec<_>>().join("\n")
        };
        let base = text(base.into_values().collect());
        let more = text(more);
        let Ok(before) = load(&[file(LayerKind::User, &base)], &[]) else { return Ok(()) };
        let Ok(after) = load(&[file(LayerKind::User, &base), file(LayerKind::Project, &more)], &[]) else { return Ok(()) };
        let (before, after) = (before.config, after.config);
        prop_assert!(after.mode >= before.mode && after.profile >= before.profile);
        prop_assert!(after.step_reviewer.enabled >= before.step_reviewer.enabled);
        prop_assert!(after.step_reviewer.mode >= before.step_reviewer.mode);
        prop_assert!(after.step_reviewer.risk.high_threshold <= before.step_reviewer.risk.high_threshold);
        prop_assert!(after.step_reviewer.risk.medium_threshold <= before.step_reviewer.risk.medium_threshold);
        prop_assert!(after.step_reviewer.risk.critical_threshold <= before.step_reviewer.risk.critical_threshold);
        prop_assert!(after.step_reviewer.rules.builtin >= before.step_reviewer.rules.builtin);
        prop_assert_eq!(&after.step_reviewer.rules.disabled, &before.step_reviewer.rules.disabled);
        prop_assert!(after.file_operation_limit() <= before.file_operation_limit());
        let most = |config: &Config| config.memory_limit_mb().unwrap_or(u64::MAX);
        prop_assert!(most(&after) <= most(&before));
        prop_assert!(after.audit.enabled >= before.audit.enabled && after.audit.retention_days >= before.audit.retention_days);
        prop_assert!(after.audit.mask.secrets >= before.audit.mask.secrets && after.audit.sync >= before.audit.sync);
        prop_assert!(after.interventions.enabled >= before.interventions.enabled);
        prop_assert!(after.patterns.sensitivity >= before.patterns.sensitivity);
        prop_assert!(!after.scope.paths.iter().any(|path| path == "/etc/**") || before.scope.paths.iter().any(|path| path == "/etc/**"));
        let risk = after.step_reviewer.risk;
        prop_assert!(risk.low_threshold <= risk.medium_threshold && risk.medium_threshold <= risk.high_threshold && risk.high_threshold <= risk.critical_threshold);
    }

    #[test]
    fn every_error_has_a_place_and_no_text_panics(text in "(\\PC|\n|  |: |- |\\{|\\[|mode|step_reviewer|risk){0,60}") {
        if let Err(errors) = load(&[file(LayerKind::Project, &text)], &[]) {
            prop_assert!(!errors.errors.is_empty());
            for error in errors.errors {
                prop_assert!(error.line >= 1 && error.column >= 1 && error.width >= 1);
                let place = format!("checkrein.yaml:{}:{}", error.line, error.column);
                let shown = error.to_string().contains(&place);
                prop_assert!(shown);
            }
        }
    }
}

fn section(line: &str) -> &str {
    line.split(':').next().unwrap_or_default()
}

#[test]
fn what_a_section_may_hold_is_said_where_it_holds_something_else() {
    for (text, key, steps) in [
        (
            "safety:\n  pipelines:\n    r:\n      safety:\n        mode: observe\n",
            "safety.pipelines.r.safety",
            true,
        ),
        ("safety:\n  pipelines:\n    r:\n      nosuch: 1\n", "safety.pipelines.r.nosuch", true),
        (
            "safety:\n  pipelines:\n    r:\n      steps:\n        s:\n          nosuch: 1\n",
            "safety.pipelines.r.steps.s.nosuch",
            false,
        ),
        ("safety:\n  paths:\n    infra:\n      safety: {}\n", "safety.paths.infra.safety", false),
    ] {
        let said = errors(text);
        let expected =
            said.split(&format!("unknown key `{key}`, expected ")).nth(1).unwrap_or_else(|| panic!("{said}"));
        let expected = expected.lines().next().unwrap();
        assert!(expected.contains("`mode`") && expected.contains("`profile`"), "{said}");
        assert!(!expected.contains("`safety`"), "it is not allowed there: {said}");
        assert_eq!(expected.contains("`steps`"), steps, "{said}");
    }
}

#[test]
fn a_wrong_key_in_a_section_is_one_error_with_its_whole_path() {
    for (text, beginning) in [
        (
            "safety:\n  pipelines:\n    r:\n      safety:\n        nosuch: 1\n        mode: 7\n",
            "unknown key `safety.pipelines.r.safety`",
        ),
        (
            "safety:\n  pipelines:\n    r:\n      limits:\n        nosuch: 1\n",
            "unknown key `safety.pipelines.r.limits.nosuch`",
        ),
        ("safety:\n  pipelines:\n    r: strict\n", "`safety.pipelines.r` is `strict`"),
        (
            "safety:\n  paths:\n    infra:\n      profile: nosuch\n",
            "`safety.paths.infra.profile` is `nosuch`",
        ),
        (
            "safety:\n  pipelines:\n    r:\n      steps:\n        s:\n          limits: []\n",
            "`safety.pipelines.r.steps.s.limits` is a list",
        ),
    ] {
        let said = errors(text);
        assert!(said.starts_with(&format!("error: {beginning}")), "{said}");
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
    }
}

#[test]
fn sections_are_listed_with_their_places_whether_they_hold_or_not() {
    let loaded = user(
        "mode: enforce\nsafety:\n  pipelines:\n    r:\n      mode: observe\n      steps:\n        s:\n          profile: strict\n  paths:\n    infra/**:\n      profile: strict\n",
    );
    let rows = loaded.sections.iter().flat_map(|section| {
        let path = section.limit.path();
        section.settings.iter().map(move |(key, value, place)| format!("{path}.{key}={value} {}", place.line))
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            "safety.pipelines.r.mode=observe 5",
            "safety.pipelines.r.steps.s.profile=strict 8",
            "safety.paths.infra/**.profile=strict 11"
        ]
    );
}
