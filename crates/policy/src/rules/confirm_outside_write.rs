//! Changes files outside the expected scope that exist nowhere else.

use checkrein_protocol::{Certainty, Decision, Effect, EffectKind, Nature, Severity, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_outside_write",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Changes files outside the expected scope that exist nowhere else, or files that only the output of a program names.",
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
        "file_modify ? unsaved",
        "file_create /home/dev/other/new.txt",
        "file_modify /home/dev/other/notes.txt recoverable",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let changes = |effect: &Effect| effect.kind == EffectKind::FileModify;
    let named = context.select(|effect| {
        changes(effect) && effect.nature == Nature::NamedByOutput && effect.stake == Stake::Unsaved
    });
    let critical = context.any(|effect| changes(effect) && effect.stake == Stake::Critical);
    if !named.is_empty() && !critical {
        return Finding::on(
            named,
            RULE.name,
            Decision::Modify,
            "this overwrites or changes files that the output of a program names; which ones, and where they lie, nobody knows before it runs, \
             so that nothing of them can be saved"
                .to_owned(),
            &["print the list first, and give the files that have to change by name"],
        );
    }
    let outside = context.select(|effect| {
        changes(effect)
            && (effect.stake == Stake::Critical
                || (effect.stake == Stake::Unsaved && context.is_outside(effect)))
    });
    // What only may be changed is told. Part of the system weighs more, and what is laid out anew is so where it was not.
    let grave = context.any(|effect| {
        changes(effect)
            && effect.stake == Stake::Unsaved
            && (effect.certainty == Certainty::Certain
                && !effect.only_adds()
                && effect.nature != Nature::OwnSetting
                || effect.nature == Nature::Reformatted
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
        "which lies outside the workspace; this session did not create it"
    };
    let reason = format!("this overwrites or changes {}, {why}", context.named(&outside));
    Finding::on(outside, RULE.name, decision, reason, &["write below the workspace or a temporary directory"])
}
