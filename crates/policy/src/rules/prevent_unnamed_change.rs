//! Changes files that the task does not name.

use checkrein_facts::regenerated_tree;
use checkrein_protocol::{AbsolutePath, Decision, Effect, EffectKind, Nature};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};
use crate::scope::{covers, location};

/// Directories of a project into which its builds and tests write (ours).
const BUILT: [&str; 4] = ["target", "build", "dist", "coverage"];

pub(super) static RULE: Rule = Rule {
    name: "prevent_unnamed_change",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Changes files of the workspace that `scope.only` does not name.",
        danger: "Somebody said beforehand which files the task is about, and reviews those.",
        example: "echo x > src/other.py, where `scope.only` is `[src/parser.py]`",
        instead: "Change only the files that are named, or say which other one is needed, and why.",
        limits: "Silent where `scope.only` is empty, for caches and builds, for the data of git, and for what a program does that cannot be \
                 foreseen: the gate `scope` finds that afterwards.",
    },
    check,
    matches: &[],
    ignores: &["file_modify /home/dev/proj/a", "file_delete /home/dev/proj/src recursive recoverable"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let workspace = &context.place.workspace;
    let named: Vec<AbsolutePath> =
        context.config.scope.only.iter().map(|pattern| workspace.join(pattern)).collect();
    if named.is_empty() {
        return None;
    }
    let changes =
        context.select(|effect| effect.kind.file_change().is_some() && is_unnamed(effect, workspace, &named));
    let reason = format!(
        "this changes {}, and the task may change only the files that were named for it",
        context.names(&changes)
    );
    let shown = context.config.scope.only.iter().take(8).cloned().collect::<Vec<_>>().join("`, `");
    let instead = format!("change only `{shown}`");
    Finding::on(
        changes,
        RULE.name,
        Decision::Block,
        reason,
        &[&instead, "say which other file is needed, and why"],
    )
}

/// Whether an effect changes something of the workspace that no pattern names.
fn is_unnamed(effect: &Effect, workspace: &AbsolutePath, named: &[AbsolutePath]) -> bool {
    let Some(path) = location(&effect.target).filter(|path| path.is_within(workspace)) else { return false };
    let inside: Vec<&str> = path.parts().skip(workspace.parts().count()).collect();
    let is_made_again = inside.iter().any(|part| regenerated_tree(part, &|_| false).is_some());
    let is_built = inside.first().is_some_and(|first| BUILT.contains(first));
    if inside.first() == Some(&".git") || is_made_again || is_built {
        return false;
    }
    // A directory is made for the file that will stand in it.
    let leads_there = effect.kind == EffectKind::FileCreate
        && effect.nature == Nature::EmptyDirectory
        && named.iter().any(|pattern| pattern.is_within(&path));
    !leads_there && !named.iter().any(|pattern| covers(pattern, &path))
}
