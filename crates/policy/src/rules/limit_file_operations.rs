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
        limits: "Reading is never stopped; the number counts operations, not how much they change.",
    },
    check,
    matches: &[
        "history file_operations=10000; file_modify /home/dev/proj/a",
        "history file_operations=20000; file_delete /home/dev/proj/a recoverable",
    ],
    ignores: &[
        "history file_operations=9999; file_modify /home/dev/proj/a",
        "history file_operations=20000; file_read /home/dev/proj/a",
        "file_create /home/dev/proj/a",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let limit = context.config.file_operation_limit()?;
    if context.history.file_operations < limit {
        return None;
    }
    let changes = context.select(|effect| effect.kind.file_change().is_some());
    let reason = format!(
        "this session has made {} file operations; its limit is {limit}",
        context.history.file_operations
    );
    Finding::on(
        changes,
        RULE.name,
        Decision::Block,
        reason,
        &["stop here and report what was done and what is left"],
    )
}
