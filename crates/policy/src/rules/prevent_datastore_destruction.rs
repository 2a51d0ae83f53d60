//! Destroys data in a store: drops, truncates, flushes, deletes without a condition.

use checkrein_effects::{Effect, EffectKind, Severity, Stake};

use crate::decision::Decision;
use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_datastore_destruction",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Destroys data in a store: drops, truncates, flushes, deletes without a condition.",
        danger: "Data of others goes, mostly without a way back.",
        example: "psql -c 'DROP TABLE users'",
        instead: "Make a dump first, or work on a copy.",
        limits: "Whether a database is a throw-away one is known only from its name and place; of single records it only warns.",
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
    let reason = format!(
        "this destroys data in {}{}, which no snapshot of files brings back",
        context.names(&losses),
        context.note(&losses)
    );
    let alternatives = [
        "make a dump first and say where it is",
        "try it on a copy",
        "run it inside a transaction and show what it would remove",
    ];
    Finding::on(losses, RULE.name, decision, reason, &alternatives)
}
