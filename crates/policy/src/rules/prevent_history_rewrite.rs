//! Rewrites history that others may have.

use checkrein_protocol::{Decision, Effect, EffectKind, Nature, Severity, Target};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_history_rewrite",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Rewrites history that others may have.",
        danger: "Commits of others disappear from the branch without a trace in it.",
        example: "git push --force",
        instead: "`git push --force-with-lease`, or a new branch.",
        limits: "Whether others have the commits is not known; a branch that is one's own is asked about too.",
    },
    check,
    matches: &["vcs_history_rewrite origin/main", "vcs_history_rewrite main severity=critical"],
    ignores: &["vcs_remote_update origin/feature", "vcs_history_rewrite feature severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let rewrites = context
        .select(|effect| effect.kind == EffectKind::VcsHistoryRewrite && effect.severity >= Severity::Medium);
    let grave = context
        .any(|effect| effect.kind == EffectKind::VcsHistoryRewrite && effect.severity == Severity::Critical);
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let (names, note) = (context.names(&rewrites), context.note(&rewrites));
    let is_tag =
        |effect: &Effect| matches!(&effect.target, Target::Reference(name) if name.starts_with("refs/tags/"));
    let mut meant = rewrites.iter().filter_map(|place| context.effects.get(*place));
    let (reason, alternatives) = if meant.all(is_tag) {
        let reason =
            format!("this changes what the tag {names} is elsewhere{note}, and others may rely on it");
        (
            reason,
            [
                "git tag NAME and git push origin NAME, with a name that nobody has yet",
                "leave the tag as it is",
            ],
        )
    } else if !is_local(context, &rewrites) {
        // Where it is said already what the remote loses, it is said once.
        let end =
            if note.contains("commits of others") { "" } else { ", and commits of others can be lost by it" };
        if rewrites.iter().filter_map(|place| context.effects.get(*place)).all(is_removal) {
            let reason = format!("this takes {names} away{note}{end}");
            let everything =
                rewrites.iter().filter_map(|place| context.effects.get(*place)).any(is_everything);
            let instead = if everything {
                ["git push --all, which deletes nothing", "git push --delete of each branch of your own"]
            } else {
                [
                    "leave it there, and say that it can be deleted",
                    "git push --delete of a branch of your own",
                ]
            };
            (reason, instead)
        } else {
            let reason = format!("this rewrites the history of {names}{note}{end}");
            (reason, ["git push --force-with-lease, after a fetch", "push to a new branch"])
        }
    } else {
        let reason = format!("this rewrites the history of {names}{note}, and others may have these commits");
        (
            reason,
            [
                // A branch that is made first is rewritten with all the others.
                "git bundle create FILE --all first, which keeps the commits in a file",
                "git revert, which rewrites nothing",
            ],
        )
    };
    Finding::on(rewrites, RULE.name, decision, reason, &alternatives)
}

/// Whether a reference is taken away, so that no other way of pushing would do the same.
fn is_removal(effect: &Effect) -> bool {
    effect.nature == Nature::Removal
}

/// Whether more is meant than one name can say.
fn is_everything(effect: &Effect) -> bool {
    matches!(&effect.target, Target::Reference(name) if name.contains(' '))
}

/// Whether what is rewritten stays here: it is more than one name can say, which no push is given, and nothing goes to another repository.
fn is_local(context: &RuleContext<'_>, rewrites: &[usize]) -> bool {
    let goes_out = |effect: &Effect| {
        effect.nature.is_of_remote()
            || matches!(
                effect.kind,
                EffectKind::NetworkRequest | EffectKind::VcsRemoteUpdate | EffectKind::DataUpload
            )
    };
    rewrites.iter().filter_map(|place| context.effects.get(*place)).all(is_everything)
        && !context.any(goes_out)
}
