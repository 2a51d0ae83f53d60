//! The built-in rules on their own examples, and the laws that hold for all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use checkrein_policy::{
    BuiltinRules, Config, CustomRule, Decision, Example, LimitPreset, Policy, SessionLimits, check_rules,
    rules,
};
use checkrein_protocol::{Action, Effect, EffectKind, Nature};
use proptest::prelude::*;

fn findings(text: &str, policy: &Policy) -> Vec<(String, Decision)> {
    let example = Example::parse(text).unwrap();
    let report = check_rules(&example.context(policy.config()), policy);
    assert_eq!(report.errors, []);
    report.findings.into_iter().map(|finding| (finding.rule.0, finding.decision)).collect()
}

fn decision(text: &str) -> Decision {
    let policy = Policy::new(Config::default());
    let example = Example::parse(text).unwrap();
    check_rules(&example.context(policy.config()), &policy).decision()
}

// Source: seed 002-52, 002-53
#[test]
fn every_rule_catches_its_examples_and_is_silent_on_the_others() {
    let config = Config::default();
    for rule in rules::ALL {
        assert!(rule.matches.len() + rule.ignores.len() >= 2, "{} has too few examples", rule.name);
        for text in rule.matches {
            let example = Example::parse(text).unwrap();
            let finding = (rule.check)(&example.context(&config));
            let finding = finding.unwrap_or_else(|| panic!("{} misses `{text}`", rule.name));
            assert_eq!(finding.rule.as_str(), rule.name);
            assert!(finding.decision > Decision::Allow, "{} allows `{text}`", rule.name);
            assert!(finding.effects.iter().all(|index| *index < example.effects.len()));
            assert!(!finding.reason.ends_with('.') && finding.reason.len() > 20, "{}", finding.reason);
        }
        for text in rule.ignores {
            let example = Example::parse(text).unwrap();
            let finding = (rule.check)(&example.context(&config));
            assert!(finding.is_none(), "{} catches `{text}`: {finding:?}", rule.name);
        }
    }
}

#[test]
fn rules_are_documented_and_named_once() {
    let mut names = std::collections::BTreeSet::new();
    for rule in rules::ALL {
        assert!(names.insert(rule.name), "{} stands twice", rule.name);
        for text in
            [rule.docs.detects, rule.docs.danger, rule.docs.example, rule.docs.instead, rule.docs.limits]
        {
            assert!(text.len() > 8, "{}: {text}", rule.name);
        }
    }
    for seed in ["prevent_recursive_deletion", "limit_file_operations", "warn_external_network"] {
        assert!(rules::find(seed).is_some(), "{seed}");
    }
}

#[test]
fn decisions_follow_the_stake() {
    let table = [
        ("file_delete / recursive critical", Decision::Block),
        ("file_delete /home/dev/proj/notes recursive unsaved", Decision::Modify),
        ("file_delete /home/dev/proj/target recursive regenerable", Decision::Allow),
        ("system_modification /dev/sda severity=critical", Decision::Block),
        ("system_modification nginx", Decision::Modify),
        ("secret_read /home/dev/.ssh/id_rsa", Decision::Modify),
        ("secret_read /home/dev/.ssh/id_rsa; network_request https://x.example external", Decision::Block),
        ("network_request https://x.example external", Decision::Warn),
        ("network_request tunnel external severity=high", Decision::Modify),
        ("privilege_escalation root; package_install jq", Decision::Warn),
        ("privilege_escalation root; file_modify /etc/hosts recoverable", Decision::Modify),
        ("file_modify /etc/passwd critical", Decision::Block),
        ("file_modify /home/dev/other/a unsaved severity=medium", Decision::Modify),
        ("opaque ./tool", Decision::Allow),
        ("guard_tampering ?", Decision::Block),
        ("vcs_history_rewrite origin/main", Decision::Modify),
        ("", Decision::Allow),
    ];
    for (text, expected) in table {
        assert_eq!(decision(text), expected, "{text}");
    }
}

#[test]
fn the_reason_names_what_was_seen() {
    let policy = Policy::new(Config::default());
    let example = Example::parse(
        "file_delete /home/dev/a recursive unsaved; file_delete /home/dev/b recursive unsaved",
    )
    .unwrap();
    let report = check_rules(&example.context(policy.config()), &policy);
    let finding = report.findings.first().unwrap();
    insta::assert_snapshot!(finding.reason, @"this deletes `/home/dev/a`, `/home/dev/b` with everything in it, and not all of that exists elsewhere or belongs to this task");
    assert_eq!(finding.effects, [0, 1]);
    assert!(!finding.alternatives.is_empty());
}

#[test]
fn only_named_files_are_changed_where_files_are_named() {
    let mut config = Config::default();
    config.scope.only = vec!["src/parser.py".to_owned(), "notes/**".to_owned()];
    let policy = Policy::new(config);
    let is_refused = |text: &str| {
        findings(text, &policy).contains(&("prevent_unnamed_change".to_owned(), Decision::Block))
    };
    for refused in [
        "file_modify /home/dev/proj/src/other.py",
        "file_create /home/dev/proj/src/parser.py.orig",
        "file_modify /home/dev/proj recursive",
        "file_modify /home/dev/proj/src recursive",
        "file_modify /home/dev/proj/src/parser.py; file_delete /home/dev/proj/README.md recoverable",
        "file_create /home/dev/proj/public/index.html",
        "file_create /home/dev/proj/src",
    ] {
        assert!(is_refused(refused), "{refused}");
    }
    for passed in [
        "file_modify /home/dev/proj/src/parser.py",
        "file_create /home/dev/proj/notes/a/b.md",
        "file_read /home/dev/proj/src/other.py",
        "file_create /home/dev/proj/src/__pycache__/parser.pyc",
        "file_modify /home/dev/proj/.git recoverable",
        "file_create /tmp/x",
        "process_spawn pytest",
    ] {
        assert!(!is_refused(passed), "{passed}");
    }
    // A directory is made for a file that is named, and for no other.
    for (directory, count) in [("src", 0), ("lib", 1)] {
        let mut example = Example::parse(&format!("file_create /home/dev/proj/{directory}")).unwrap();
        example.effects[0].nature = Nature::EmptyDirectory;
        let report = check_rules(&example.context(policy.config()), &policy);
        assert_eq!(report.findings.len(), count, "{directory}");
    }
}

// Source: seed 002-76, 002-82
#[test]
fn sets_and_disabled_rules_apply() {
    let mut config = Config::default();
    let text = "network_request https://x.example external; file_delete /home/dev/x recursive unsaved";
    assert_eq!(findings(text, &Policy::new(config.clone())).len(), 2);
    config.step_reviewer.rules.builtin = BuiltinRules::Essential;
    assert_eq!(
        findings(text, &Policy::new(config.clone())),
        [("prevent_recursive_deletion".to_owned(), Decision::Modify)]
    );
    config.step_reviewer.rules.disabled = vec!["prevent_recursive_deletion".to_owned()];
    assert_eq!(findings(text, &Policy::new(config.clone())), []);
    config.step_reviewer.rules.disabled.clear();
    config.step_reviewer.rules.builtin = BuiltinRules::None;
    assert_eq!(findings(text, &Policy::new(config)), []);
}

// Source: seed 001-50, 002-52
#[test]
fn the_limit_of_file_operations_follows_profile_and_configuration() {
    let mut config = Config::default();
    let refused = [("limit_file_operations".to_owned(), Decision::Block)];
    let text = "history file_operations=2000; file_create /home/dev/proj/a";
    assert_eq!(findings(text, &Policy::new(config.clone())), []);
    config.profile = checkrein_policy::Profile::Unattended;
    assert_eq!(findings(text, &Policy::new(config.clone())), refused);
    config.limits.file_operations = Some(2001);
    assert_eq!(findings(text, &Policy::new(config.clone())), []);
    config.limits.file_operations = Some(0);
    assert_eq!(findings(text, &Policy::new(config.clone())), [], "zero is no limit");
    config.limits = SessionLimits { preset: LimitPreset::Seed, ..SessionLimits::default() };
    let text = "history file_operations=100; file_create /home/dev/proj/a";
    assert_eq!(findings(text, &Policy::new(config)), refused, "the number of the seed");
}

fn custom(name: &str, when: &str, decision: Decision) -> CustomRule {
    CustomRule {
        name: name.to_owned(),
        description: String::new(),
        when: when.to_owned(),
        decision,
        reason: "because".to_owned(),
        alternatives: Vec::new(),
        kinds: Vec::new(),
        tools: Vec::new(),
        matches: Vec::new(),
        ignores: Vec::new(),
    }
}

fn policy_with(rules: Vec<CustomRule>) -> Policy {
    let mut config = Config::default();
    config.step_reviewer.rules.custom = rules;
    Policy::new(config)
}

#[test]
fn conditions_see_action_effects_history_and_place() {
    let text =
        "$ git push origin main => history file_operations=3; vcs_remote_update origin/main by=git_push";
    let holds = [
        "true",
        "action.tool == 'Bash' && action.command.startsWith('git push')",
        "action.cwd == place.workspace",
        "effects.exists(e, e.kind == 'vcs_remote_update' && e.target.endsWith('/main'))",
        "effects.all(e, e.reversible) && size(effects) == 1",
        "effects.filter(e, e.severity in ['medium', 'high']).size() == 1",
        "history.file_operations > 2 && history.actions == 0",
        "effects[0].cause == 'git_push' && !effects[0].recursive",
    ];
    for when in holds {
        let policy = policy_with(vec![custom("mine", when, Decision::Block)]);
        assert_eq!(findings(text, &policy), [("mine".to_owned(), Decision::Block)], "{when}");
    }
    let policy = policy_with(vec![custom("mine", "effects.exists(e, e.kind == 'publish')", Decision::Block)]);
    assert_eq!(findings(text, &policy), []);
}

#[test]
fn prefilters_keep_conditions_from_being_looked_at() {
    let broken = CustomRule {
        kinds: vec![EffectKind::Publish],
        ..custom("mine", "not an expression", Decision::Block)
    };
    let policy = policy_with(vec![broken]);
    let silent = Example::parse("file_read /home/dev/proj/a").unwrap();
    assert_eq!(check_rules(&silent.context(policy.config()), &policy).errors, []);
    let hit = Example::parse("publish x").unwrap();
    assert_eq!(check_rules(&hit.context(policy.config()), &policy).errors.len(), 1);
    let tool = CustomRule { tools: vec!["Write".to_owned()], ..custom("mine", "true", Decision::Block) };
    let policy = policy_with(vec![tool]);
    assert_eq!(findings("Write => file_create /home/dev/proj/a", &policy).len(), 1);
    assert_eq!(findings("$ touch a => file_create /home/dev/proj/a", &policy), []);
}

#[test]
fn a_rule_is_about_a_server_by_its_tools_or_by_its_condition() {
    let by_tools =
        CustomRule { tools: vec!["mcp__github".to_owned()], ..custom("a", "true", Decision::Block) };
    let by_condition = custom("b", "action.server == \"github\"", Decision::Block);
    let policy = policy_with(vec![by_tools, by_condition]);
    for (call, count) in
        [("mcp__github__get_issue =>", 2), ("mcp__githubber__get =>", 0), ("Write =>", 0), ("$ ls =>", 0)]
    {
        assert_eq!(findings(call, &policy).len(), count, "{call}");
    }
}

// Source: seed 002-54
#[test]
fn a_rule_that_fails_is_an_error_and_never_a_pass() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let sum = vec!["1"; 1500].join("+") + " > 0";
    let failing = [
        "effects.exists(",
        "1 + 1",
        "nothing.here",
        "effects[7].kind == 'x'",
        "1 / 0 == 1",
        "effects.exists(e, e.colour == 'red')",
        "action.command.matches('a+')",
        "'a'",
        deep.as_str(),
        sum.as_str(),
    ];
    for when in failing {
        let policy = policy_with(vec![custom("mine", when, Decision::Block)]);
        let example = Example::parse("file_read /home/dev/proj/a").unwrap();
        let report = check_rules(&example.context(policy.config()), &policy);
        assert_eq!(report.errors.len(), 1, "{}", when.get(..40).unwrap_or(when));
        assert_eq!(report.decision(), Decision::Modify);
    }
}

#[test]
fn deep_conditions_neither_overflow_nor_hang() {
    let example = Example::parse("file_read /home/dev/proj/a").unwrap();
    for (open, middle, close) in [
        ("(", "true", ")"),
        ("!", "true", ""),
        ("-", "1", ""),
        ("[", "1", "]"),
        ("{1:", "1", "}"),
        ("true?true:", "true", ""),
        ("size(", "1", ")"),
        ("", "a", ".a"),
        ("", "a", "[0]"),
        ("true||", "true", ""),
        ("1+", "1", ""),
        ("effects.exists(e,", "true", ")"),
        ("(", "", ""),
        ("!-", "", ""),
    ] {
        let times = 4000 / (open.len() + close.len());
        let when = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
        let policy = policy_with(vec![custom("mine", &when, Decision::Block)]);
        let report = check_rules(&example.context(policy.config()), &policy);
        assert_eq!(report.errors.len() + report.findings.len(), 1, "{open}{middle}{close}");
    }
}

#[test]
fn costly_conditions_are_refused_and_ordinary_ones_are_not() {
    let many = vec!["file_read /home/dev/proj/a"; 400].join(";");
    let example = Example::parse(&many).unwrap();
    let errors = |when: &str| {
        let policy = policy_with(vec![custom("mine", when, Decision::Block)]);
        check_rules(&example.context(policy.config()), &policy).errors.len()
    };
    assert_eq!(errors("effects.exists(e, e.kind == 'publish')"), 0);
    assert_eq!(errors("effects.filter(e, e.kind == 'publish').map(e, e.target).exists(t, t == 'x')"), 0);
    assert_eq!(errors("effects.exists(a, effects.exists(b, effects.exists(c, a == c && b == c)))"), 1);
    let doubling = format!("[effects]{}.size() > 0", ".map(l, l + l)".repeat(60));
    assert_eq!(errors(&doubling), 1);
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |when: &str| {
        let policy = policy_with(vec![custom("mine", when, Decision::Block)]);
        let example = Example::parse("file_read /home/dev/proj/a").unwrap();
        check_rules(&example.context(policy.config()), &policy).errors.first().unwrap().to_string()
    };
    insta::assert_snapshot!(error("1 + 1"), @"rule `mine` was not evaluated: its condition gave int instead of true or false");
    insta::assert_snapshot!(error("effects.exists("), @"rule `mine` was not evaluated: its condition does not parse: syntax error: mismatched input <EOF> expecting ')' at column 16");
    insta::assert_snapshot!(error("colour == 'red'"), @"rule `mine` was not evaluated: its condition failed: undeclared reference to 'colour'");
}

#[test]
fn conditions_that_can_never_work_are_found_without_examples() {
    let problems = |when: &str| custom("mine", when, Decision::Block).problems(&Config::default()).len();
    for wrong in [
        "action.command.contians('a')",
        "acton.command == 'a'",
        "action.comand == 'a'",
        "foo(action)",
        "action.command",
        "action.command.matches('^rm ')",
        "effects.exists(e, e.kind == knid)",
        "args.amount.contians('a') || size(args) > foo()",
    ] {
        assert_eq!(problems(wrong), 1, "{wrong}");
    }
    for right in [
        "action.command.contains('a')",
        "effects.exists(e, e.kind == 'publish')",
        "args.amount > 5",
        "action.tool == 'transfer' && args.amount > 5",
        "action.command.startsWith('rm ')",
    ] {
        assert_eq!(problems(right), 0, "{right}");
    }
}

#[test]
fn custom_examples_are_checked() {
    let rule = CustomRule {
        matches: vec!["publish x".to_owned(), "file_read /a".to_owned()],
        ignores: vec!["file_read /a".to_owned(), "publish y".to_owned(), "nonsense".to_owned()],
        ..custom("mine", "effects.exists(e, e.kind == 'publish')", Decision::Block)
    };
    let problems: Vec<String> = rule.problems(&Config::default()).iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
        rule `mine` does not catch `file_read /a`
        rule `mine` catches `publish y` although it must not
        the example `nonsense` cannot be read: `nonsense` is not a kind of effect
        ");
}

/// Effects as they may come, the strange ones included.
fn any_effect() -> impl Strategy<Value = String> {
    let kinds: Vec<&'static str> = EffectKind::ALL.iter().map(|kind| kind.name()).collect();
    (
        proptest::sample::select(kinds),
        proptest::sample::select(vec![
            "/home/dev/proj/a",
            "/home/dev/other",
            "/etc/x",
            "/tmp/t/*",
            "?",
            "name",
        ]),
        proptest::sample::select(vec!["", "recursive"]),
        proptest::sample::select(vec!["nothing", "regenerable", "recoverable", "unsaved", "critical"]),
        proptest::sample::select(vec!["", "local", "known", "external"]),
        proptest::sample::select(vec!["low", "medium", "high", "critical"]),
    )
        .prop_map(|(kind, target, depth, stake, reach, severity)| {
            format!("{kind} {target} {depth} {stake} {reach} severity={severity}")
        })
}

fn effects_of(texts: &[String]) -> Vec<Effect> {
    Example::parse(&texts.join(";")).unwrap().effects
}

proptest! {
    #[test]
    fn another_effect_never_makes_the_answer_milder(
        texts in proptest::collection::vec(any_effect(), 0..5),
        more in any_effect(),
        at in 0_usize..5,
    ) {
        let policy = Policy::new(Config::default());
        let mut example = Example::parse("").unwrap();
        example.action = Action::command("x", example.place.workspace.clone());
        example.effects = effects_of(&texts);
        let before = check_rules(&example.context(policy.config()), &policy).decision();
        let at = at.min(example.effects.len());
        example.effects.splice(at..at, effects_of(&[more]));
        let after = check_rules(&example.context(policy.config()), &policy).decision();
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn another_rule_never_makes_the_answer_milder(
        texts in proptest::collection::vec(any_effect(), 0..5),
        when in proptest::sample::select(vec!["true", "false", "effects.size() > 1", "broken(", "1"]),
        said in proptest::sample::select(Decision::ALL.to_vec()),
    ) {
        let plain = Policy::new(Config::default());
        let more = policy_with(vec![custom("mine", when, said)]);
        let example = Example::parse(&texts.join(";")).unwrap();
        let before = check_rules(&example.context(plain.config()), &plain).decision();
        let after = check_rules(&example.context(more.config()), &more).decision();
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    // Source: seed 002-55
    #[test]
    fn findings_come_strictest_first(texts in proptest::collection::vec(any_effect(), 0..6)) {
        let policy = Policy::new(Config::default());
        let example = Example::parse(&texts.join(";")).unwrap();
        let report = check_rules(&example.context(policy.config()), &policy);
        prop_assert!(report.findings.is_sorted_by_key(|finding| std::cmp::Reverse(finding.decision)));
    }

    #[test]
    fn no_text_makes_a_condition_panic(text in "\\PC{0,200}") {
        let policy = policy_with(vec![custom("mine", &text, Decision::Block)]);
        let example = Example::parse("file_read /home/dev/proj/a").unwrap();
        let _ = check_rules(&example.context(policy.config()), &policy);
    }
}
