//! Deletes, moves away or throws away what lies outside the expected scope and was not made in this session, also when it is saved first;
//! deletes or moves away what only the output of a program names.

use checkrein_protocol::{Decision, Depth, Effect, EffectKind, Nature, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_outside_loss",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Deletes or moves away a file outside the expected scope that this session did not make, or throws away changes to one that no commit holds, also when they are saved first; deletes or moves away files that only the output of a program names.",
        danger: "It belongs to something else. The loss shows up later, where nobody thinks of this session or of `checkrein undo`.",
        example: "rm ~/Documents/thesis.txt",
        instead: "Copy what you need into the workspace, and leave the original where it is.",
        limits: "Silent for caches, for temporary files and for what this session made. Name further directories under `scope.paths`.",
    },
    check,
    matches: &[
        "file_delete /home/dev/Documents/thesis.txt unsaved",
        "file_delete /home/dev/Documents/thesis.txt recoverable",
        "file_delete /home/dev/.bashrc recoverable",
        "vcs_local_loss /home/dev/other/src recursive recoverable",
    ],
    ignores: &[
        "file_delete /home/dev/proj/a.txt unsaved",
        "file_delete /home/dev/proj/a.txt recoverable",
        "file_delete /tmp/x regenerable",
        "file_delete /home/dev/.cache/x/y regenerable",
        "file_delete /home/dev/gone.txt nothing",
        "file_modify /home/dev/other/notes.txt recoverable",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost = |effect: &Effect| {
        matches!(effect.kind, EffectKind::FileDelete | EffectKind::VcsLocalLoss)
            && matches!(effect.stake, Stake::Recoverable | Stake::Unsaved)
            && context.is_outside(effect)
    };
    let moved = context.select(|effect| lost(effect) && effect.is_moved());
    if !moved.is_empty() {
        let reason = format!(
            "this moves {} away from where it is kept, outside the workspace; this session did not create it",
            context.names(&moved)
        );
        return Finding::on(
            moved,
            RULE.name,
            Decision::Modify,
            reason,
            &["copy it into the workspace and leave the original where it is"],
        );
    }
    let named = context.select(|effect| {
        effect.kind == EffectKind::FileDelete
            && effect.nature == Nature::NamedByOutput
            && effect.stake == Stake::Unsaved
    });
    if !named.is_empty() {
        return Finding::on(
            named,
            RULE.name,
            Decision::Modify,
            "this deletes or moves away files that the output of a program names; which ones, and where they lie, nobody knows before it runs, \
             so that nothing of them can be saved"
                .to_owned(),
            &["print the list first, and give the files that have to go by name"],
        );
    }
    // Deleted directories have a rule of their own.
    let deleted = context.select(|effect| {
        lost(effect) && (effect.depth == Depth::Single || effect.kind == EffectKind::VcsLocalLoss)
    });
    let thrown_away = deleted.iter().filter_map(|index| context.effects.get(*index));
    let verb = if thrown_away.clone().all(|effect| effect.kind == EffectKind::VcsLocalLoss) {
        "throws away what no commit holds of"
    } else {
        "deletes"
    };
    let reason = format!(
        "this {verb} {}, which lies outside the workspace; this session did not create it",
        context.names(&deleted)
    );
    Finding::on(
        deleted,
        RULE.name,
        Decision::Modify,
        reason,
        &["leave it where it is, or ask the user to delete it"],
    )
}
