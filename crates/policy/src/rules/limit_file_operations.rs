//! Changes files after the session has used up its number of file operations.

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};
use checkrein_protocol::Decision;

pub(super) static RULE: Rule = Rule {
    name: "limit_file_operations",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Changes files after the session has used up its number of file operations.",
        danger: "A session that changes files without end is mostly one that has lost its way.",
        example: "touch a, after 10,000 file operations",
        instead: "Stop and say what was done and what is left; the user may raise `limits.file_operations`.",
        limits: "Reading is never stopped; the number counts operations, not how much they change. Those of agents that an agent starts count \
                 for all of them.",
    },
    check,
    matches: &[
        "history file_operations=10000; file_modify /home/dev/proj/a",
        "history file_operations=20000; file_delete /home/dev/proj/a recoverable",
        "history file_operations=4000 related_file_operations=6000; file_modify /home/dev/proj/a",
    ],
    ignores: &[
        "history file_operations=9999; file_modify /home/dev/proj/a",
        "history file_operations=20000; file_read /home/dev/proj/a",
        "file_create /home/dev/proj/a",
        "history file_operations=4000 related_file_operations=5999; file_modify /home/dev/proj/a",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let limit = context.config.file_operation_limit()?;
    let (own, related) = (context.history.file_operations, context.history.related_file_operations);
    let made = own.saturating_add(related);
    if made < limit {
        return None;
    }
    let changes = context.select(|effect| effect.kind.file_change().is_some());
    let together = if related == 0 { "" } else { ", together with the agents of the same family," };
    let reason = format!("this session{together} has made {made} file operations; its limit is {limit}");
    Finding::on(
        changes,
        RULE.name,
        Decision::Block,
        reason,
        &["stop here and report what was done and what is left"],
    )
}
