//! Deletes a directory with all that is in it, where that holds something which exists nowhere else, or lies outside the expected scope.

use checkrein_protocol::{Decision, Depth, Effect, EffectKind, Nature, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_recursive_deletion",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Deletes a directory with all that is in it, where that holds something which exists nowhere else, or lies outside the expected scope.",
        danger: "One wrong path, an empty variable or a stray space takes everything below it, and no later step brings it back.",
        example: "rm -rf ~/projects",
        instead: "Name the files, or move the directory away first and delete it when its loss was not noticed.",
        limits: "Silent for what a build makes again, what a commit holds and temporary directories; what a snapshot could not hold is not told apart.",
    },
    check,
    matches: &[
        "file_delete /home/dev recursive critical",
        "file_delete /home/dev/proj/notes recursive unsaved",
        "file_delete /home/dev/other recursive recoverable",
        "file_delete /home/dev/data/* recursive unsaved possible",
        "file_delete ? recursive unsaved",
    ],
    ignores: &[
        "file_delete /home/dev/proj/node_modules recursive regenerable",
        "file_delete /home/dev/proj/src recursive recoverable",
        "file_delete /tmp/work recursive unsaved",
        "file_delete /home/dev/proj/a.txt unsaved",
        "file_delete /home/dev/.cache/x recursive regenerable",
        "file_delete /home/dev/proj/gone recursive nothing",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let recursive =
        |effect: &Effect| effect.kind == EffectKind::FileDelete && effect.depth == Depth::Recursive;
    let critical = context.select(|effect| recursive(effect) && effect.stake == Stake::Critical);
    if !critical.is_empty() {
        let reason = format!(
            "this deletes {} with everything in it, which cannot be undone",
            context.named(&critical)
        );
        return Finding::on(
            critical,
            RULE.name,
            Decision::Block,
            reason,
            &["delete only the files that have to go, by name"],
        );
    }
    let lost = context.select(|effect| {
        recursive(effect)
            && !effect.is_moved()
            && !context.is_temporary(effect)
            && match effect.stake {
                Stake::Nothing | Stake::Regenerable => false,
                Stake::Recoverable => context.is_outside(effect),
                Stake::Unsaved | Stake::Critical => true,
            }
    });
    let is_there = lost
        .iter()
        .filter_map(|index| context.effects.get(*index))
        .any(|effect| effect.nature != Nature::NotThere);
    let extent = if is_there {
        " with everything in it, and not all of that exists elsewhere or belongs to this task"
    } else {
        ", and what may stand there when it runs is saved nowhere"
    };
    let reason = format!("this deletes {}{extent}", context.named(&lost));
    let alternatives = [
        "list what is in it and delete by name what has to go",
        "move it to a temporary directory first",
        "commit it first",
    ];
    Finding::on(lost, RULE.name, Decision::Modify, reason, &alternatives)
}
