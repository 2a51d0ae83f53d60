//! Touches the guard itself: its state, its configuration, its binaries, the hooks that call it.

use checkrein_effects::{EffectKind, Target};

use crate::decision::Decision;
use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "protect_guard",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Touches the guard itself: its state, its configuration, its binaries, the hooks that call it.",
        danger: "An agent that can loosen its own reins has none.",
        example: "rm -rf ~/.local/state/checkrein",
        instead: "Ask the person to change it.",
        limits: "Looking at the guard's files and asking it questions is free.",
    },
    check,
    matches: &["guard_tampering /home/dev/.local/state/checkrein", "guard_tampering ? severity=low"],
    ignores: &["file_modify /home/dev/proj/checkrein.rs unsaved", "file_read /home/dev/proj/checkrein.yaml"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let touched = context.select(|effect| effect.kind == EffectKind::GuardTampering);
    // Some of it is a deed and no place.
    let is_named = touched
        .iter()
        .any(|number| context.effects.get(*number).is_some_and(|effect| effect.target != Target::Unknown));
    let names = if is_named { format!(": {}", context.names(&touched)) } else { String::new() };
    let reason = format!(
        "this touches the guard itself{names}{}; only a person may change it",
        context.note(&touched)
    );
    let alternatives =
        ["leave the guard alone and go on with the task; say what is in the way if something is"];
    Finding::on(touched, RULE.name, Decision::Block, reason, &alternatives)
}
