//! The built-in rules, one file each.
//!
//! They look at effects, never at text, and say what was seen, why it matters and what to do instead. Each carries
//! examples that it must catch and examples on which it must stay silent.

mod confirm_hidden_change;
mod confirm_opaque;
mod confirm_outside_loss;
mod confirm_outside_write;
mod confirm_package_install;
mod confirm_permission_change;
mod confirm_persistence;
mod confirm_privilege;
mod confirm_process_kill;
mod confirm_publish;
mod confirm_remote_change;
mod confirm_secret_read;
mod confirm_upload;
mod limit_file_operations;
mod prevent_critical_deletion;
mod prevent_datastore_destruction;
mod prevent_history_rewrite;
mod prevent_infrastructure_destruction;
mod prevent_recursive_deletion;
mod prevent_remote_code_execution;
mod prevent_secret_exfiltration;
mod prevent_system_modification;
mod prevent_unnamed_change;
mod prevent_version_control_loss;
mod protect_guard;
mod warn_external_network;

use crate::rule::Rule;

/// All built-in rules, in the order in which they are listed.
pub static ALL: &[&Rule] = &[
    &prevent_recursive_deletion::RULE,
    &prevent_critical_deletion::RULE,
    &limit_file_operations::RULE,
    &warn_external_network::RULE,
    &protect_guard::RULE,
    &prevent_secret_exfiltration::RULE,
    &confirm_secret_read::RULE,
    &prevent_remote_code_execution::RULE,
    &prevent_history_rewrite::RULE,
    &prevent_version_control_loss::RULE,
    &prevent_system_modification::RULE,
    &prevent_infrastructure_destruction::RULE,
    &prevent_datastore_destruction::RULE,
    &confirm_persistence::RULE,
    &confirm_privilege::RULE,
    &confirm_publish::RULE,
    &confirm_upload::RULE,
    &confirm_process_kill::RULE,
    &confirm_opaque::RULE,
    &confirm_hidden_change::RULE,
    &confirm_permission_change::RULE,
    &confirm_outside_loss::RULE,
    &confirm_outside_write::RULE,
    &confirm_package_install::RULE,
    &confirm_remote_change::RULE,
    &prevent_unnamed_change::RULE,
];

/// The built-in rule with this name; `None` when there is none.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.name == name)
}
