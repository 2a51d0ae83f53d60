//! Destroys data in a store: drops, truncates, flushes, deletes without a condition.

use checkrein_protocol::{Decision, Effect, EffectKind, NetworkReach, Severity, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_datastore_destruction",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Destroys data in a store: drops, truncates, flushes, deletes without a condition.",
        danger: "Data of others goes, mostly without a way back.",
        example: "psql -c 'DROP TABLE users'",
        instead: "Work on a copy, or ask the user to run it.",
        limits: "A store on this machine is asked about, and only warned of when its name says that it is for tests or development; others are refused. Of single records it only warns.",
    },
    check,
    matches: &[
        "datastore_destroy users unsaved",
        "datastore_destroy prod critical",
        "datastore_destroy s3://bucket severity=high",
    ],
    ignores: &[
        "datastore_destroy test.db regenerable",
        "datastore_change users",
        "datastore_destroy users recoverable",
    ],
};

fn is_local(effect: &Effect) -> bool {
    effect.reach == Some(NetworkReach::Local)
}

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost = |effect: &Effect| {
        effect.kind == EffectKind::DatastoreDestroy
            // Where the store is one file, that file was saved.
            && effect.stake != Stake::Recoverable
            && (effect.stake == Stake::Critical || effect.severity >= Severity::Medium)
    };
    let losses = context.select(lost);
    let grave = context.any(|effect| {
        lost(effect) && (effect.stake == Stake::Critical || effect.severity == Severity::Critical)
    });
    let serious = context.any(|effect| lost(effect) && effect.severity >= Severity::High);
    let decision = match (grave, serious) {
        (true, _) => Decision::Block,
        (false, true) => Decision::Modify,
        (false, false) => Decision::Warn,
    };
    let reason =
        format!("this destroys data in {}, which no snapshot of files brings back", context.named(&losses));
    let all_local = losses.iter().all(|index| context.effects.get(*index).is_some_and(is_local));
    let alternatives: &[&str] = if all_local {
        &["say which data would go and why, and let the user answer", "delete only what this task made"]
    } else {
        &["show what it would remove, and ask the user to run it", "work on a copy"]
    };
    Finding::on(losses, RULE.name, decision, reason, alternatives)
}
