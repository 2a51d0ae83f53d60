//! Touches the guard itself: its state, its configuration, its binaries, the hooks that call it.

use checkrein_protocol::{Decision, EffectKind, Severity, Target};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "protect_guard",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Touches the guard itself: its state, its configuration, its binaries, the hooks that call it.",
        danger: "An agent that can change its own guard is not guarded.",
        example: "rm -rf ~/.local/state/checkrein",
        instead: "Ask the user to change it.",
        limits: "Looking at the guard's files and asking it questions is free; what only may reach it, such as an archive that cannot be read, is asked about.",
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
    let names = if is_named { format!(": {}", context.named(&touched)) } else { context.note(&touched) };
    // What only may reach it, or git would put back another version of, a user may say yes to.
    let grave =
        context.any(|effect| effect.kind == EffectKind::GuardTampering && effect.severity != Severity::High);
    if grave {
        let reason = format!("this touches the guard itself{names}; only the user may change it");
        let alternatives =
            ["leave the guard alone and go on with the task; say what is in the way if something is"];
        return Finding::on(touched, RULE.name, Decision::Block, reason, &alternatives);
    }
    let reason = format!("this may change the guard itself{names}; the user says whether it may");
    let alternatives = [
        "unpack or copy into a directory of its own, look at what came, and take from there what is needed",
        "leave the files of the guard out, by naming the others",
    ];
    Finding::on(touched, RULE.name, Decision::Modify, reason, &alternatives)
}
