//! Changes files outside the expected scope that exist nowhere else.

use checkrein_effects::{Certainty, Effect, EffectKind, Place, Severity, Stake};

use crate::decision::Decision;
use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_outside_write",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Changes files outside the expected scope that exist nowhere else.",
        danger: "They belong to something else, and nobody looks for the change there.",
        example: "echo x > ~/other/notes.txt",
        instead: "Write below the workspace or a temporary directory.",
        limits: "New files outside are not asked about; start-up files have a rule of their own.",
    },
    check,
    matches: &[
        "file_modify /home/dev/other/notes.txt unsaved severity=medium",
        "file_modify /etc/passwd critical",
        "file_modify /etc/hosts unsaved",
    ],
    ignores: &[
        "file_modify /home/dev/proj/notes.txt unsaved",
        "file_modify /tmp/x unsaved",
        "file_create /home/dev/other/new.txt",
        "file_modify /home/dev/other/notes.txt recoverable",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let changes = |effect: &Effect| effect.kind == EffectKind::FileModify;
    let critical = context.any(|effect| changes(effect) && effect.stake == Stake::Critical);
    let outside = context.select(|effect| {
        changes(effect)
            && (effect.stake == Stake::Critical
                || (effect.stake == Stake::Unsaved && context.is_outside(effect)))
    });
    // What only may be changed is told. Part of the system weighs more.
    let grave = context.any(|effect| {
        changes(effect)
            && effect.stake == Stake::Unsaved
            && (effect.certainty == Certainty::Certain
                && !effect.only_adds()
                && !is_own_setting(effect, context.place)
                || effect.severity >= Severity::High)
            && context.is_outside(effect)
    });
    let decision = match (critical, grave) {
        (true, _) => Decision::Block,
        (false, true) => Decision::Modify,
        (false, false) => Decision::Warn,
    };
    let why = if critical {
        "which must not be lost"
    } else {
        "which lies outside the workspace; this session did not make it"
    };
    let reason =
        format!("this overwrites or changes {}{}, {why}", context.names(&outside), context.note(&outside));
    Finding::on(outside, RULE.name, decision, reason, &["write below the workspace or a temporary directory"])
}

/// Whether a program changes settings of its own in the home directory: `aws` those in `.aws`, `npm` those in `.npmrc`, `kubectl` those in
/// `.kube`.
fn is_own_setting(effect: &Effect, place: &Place) -> bool {
    let program = effect.cause.split(' ').next().unwrap_or_default();
    let Some(path) = effect.target.path().and_then(|path| path.relative_to(&place.home)) else {
        return false;
    };
    let is_named_after = |part: &str| {
        let name = part.trim_start_matches('.');
        name.len() >= LEAST_NAME && (program.starts_with(name) || name.starts_with(program))
    };
    path.starts_with('.') && program.len() >= LEAST_NAME && path.split('/').any(is_named_after)
}

/// The least length of a name that says to which program settings belong (ours).
const LEAST_NAME: usize = 3;
