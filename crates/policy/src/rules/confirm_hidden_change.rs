//! Makes git show something else than what is there, so that nobody who looks at the changes sees them.

use checkrein_protocol::{AbsolutePath, Decision, Effect, EffectKind, Nature};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_hidden_change",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Makes git show other objects than those that are there, other forms of files, or take commits for those of the remote.",
        danger: "Reviewers and tools that ask git what changed do not see the change.",
        example: "git replace HEAD HEAD~1",
        instead: "Leave the change where git shows it, or say what is to stay out of commits and let the user set it.",
        limits: "Personal lists of ignored files and flags of the index are not asked about, nor are sparse checkouts. Taking such a state back is free.",
    },
    check,
    matches: &[
        "file_create /home/dev/proj/.git/info/attributes",
        "file_modify /home/dev/proj/.git/info/grafts",
        "file_modify /home/dev/proj/.git/packed-refs",
        "file_create /home/dev/proj/.git/refs/remotes/origin/main",
        "file_create /home/dev/proj/.git/refs/replace/1234",
    ],
    ignores: &[
        "file_modify /home/dev/proj/.git/info/exclude",
        "file_modify /home/dev/proj/.git",
        "file_delete /home/dev/proj/.git/info/attributes",
        "file_modify /home/dev/proj/info/attributes",
        "file_create /home/dev/proj/.git/refs/remotes/origin/HEAD",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let hiding = context.select(hides);
    let reason = format!("this makes git show something else than what is there: {}", context.named(&hiding));
    let alternatives = [
        "leave the change where git shows it",
        "say which files are to stay out of commits, and let the user set it",
    ];
    Finding::on(hiding, RULE.name, Decision::Modify, reason, &alternatives)
}

/// Whether an effect hides changes from whoever asks git.
fn hides(effect: &Effect) -> bool {
    let is_written = matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    effect.nature == Nature::HidesChanges
        || is_written
            && !effect.nature.is_kept_by_version_control()
            && effect.target.path().is_some_and(is_view_of_git)
}

/// Whether a file, written by something else than git, decides what git shows (gitrepository-layout(5)).
fn is_view_of_git(path: &AbsolutePath) -> bool {
    let parts: Vec<&str> = path.parts().skip_while(|part| !part.ends_with(".git")).skip(1).collect();
    matches!(parts.as_slice(), ["info", "attributes" | "grafts"] | ["packed-refs"] | ["refs", "replace", ..])
        || matches!(parts.as_slice(), ["refs", "remotes", .., name] if *name != "HEAD")
}
