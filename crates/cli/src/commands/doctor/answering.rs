//! Hooks of others that can answer a question of ours before the user does.

use checkrein_clients::{ClientAdapter, SettingsScope};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::other_answerers::brought_by_project;
use checkrein_world::find_workspace;

use super::{Finding, finding};
use crate::commands::init::{read, settings_file};
use crate::terminal::{Health, plain};

/// What of a client's settings, and of what the project brings, answers in place of the user.
pub(super) fn findings(environment: &HostEnvironment, client: &ClientAdapter) -> Vec<Finding> {
    let mut found = Vec::new();
    let own = settings_file(environment, client, SettingsScope::User);
    if let Some(path) = own
        && let Some(hook) = client.hooks.other_answerers(&read(&path).unwrap_or_default()).first()
    {
        let detail = format!(
            "{path}: the hook `{}` is run before you are asked; what it allows, you are not asked",
            plain(hook)
        );
        found.push(finding(
            "questions",
            Health::Doubtful,
            detail,
            Some("take it out of `PermissionRequest` unless that is meant"),
        ));
    }
    let workspace = find_workspace(&environment.cwd);
    if let Some(place) = brought_by_project(environment, &workspace, &environment.cwd) {
        let detail = format!(
            "{}: a hook there answers in place of the user, so what Checkrein would ask it refuses",
            workspace.join(place)
        );
        let hint = "take it out of `PermissionRequest`, disable the plugin that has it (`enabledPlugins`), or move it to your own settings if it is yours";
        found.push(finding("questions", Health::Doubtful, detail, Some(hint)));
    }
    found
}
