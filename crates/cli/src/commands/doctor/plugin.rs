//! The hooks that a plugin of Claude Code registers, where no settings file does.

use checkrein_clients::{ClientAdapter, FIRST, SettingsScope};
use checkrein_engine::environment::HostEnvironment;
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;
use serde_json::Value as Json;

use crate::commands::init::settings_file;

/// The name of our plugin, before that of the marketplace it came from.
const PLUGIN: &str = "checkrein@";
/// Where the client writes down what is installed, below its folder (observed with 2.1.197).
const INSTALLED: &str = "plugins/installed_plugins.json";

/// The file with the hooks of our plugin, and its text, where the client uses it in this project.
pub(super) fn hooks(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
) -> Option<(AbsolutePath, String)> {
    if client.client != FIRST.client {
        return None;
    }
    let workspace = find_workspace(&environment.cwd);
    let installed = json(&environment.folder_of(client).join(INSTALLED))?;
    let plugins = installed.get("plugins")?.as_object()?;
    let ours = plugins.iter().filter(|(name, _)| name.starts_with(PLUGIN));
    let used = ours.filter(|(name, _)| is_enabled(environment, client, name));
    let is_here = |entry: &&Json| match entry.get("projectPath").and_then(Json::as_str) {
        None => true,
        Some(path) => AbsolutePath::new(path).is_some_and(|path| workspace.is_within(&path)),
    };
    let places = used.flat_map(|(_, entries)| entries.as_array().into_iter().flatten());
    places.filter(is_here).find_map(|entry| {
        let path = AbsolutePath::new(entry.get("installPath")?.as_str()?)?.join("hooks/hooks.json");
        let text = checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()?;
        Some((path, text))
    })
}

/// Whether a plugin is switched on: what is nearer to the project decides.
fn is_enabled(environment: &HostEnvironment, client: &'static ClientAdapter, name: &str) -> bool {
    let said = |scope: SettingsScope| {
        let settings = json(&settings_file(environment, client, scope)?)?;
        settings.get("enabledPlugins")?.get(name)?.as_bool()
    };
    let nearest = [SettingsScope::Local, SettingsScope::Team, SettingsScope::User];
    nearest.into_iter().find_map(said).unwrap_or(false)
}

fn json(path: &AbsolutePath) -> Option<Json> {
    let text = checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()?;
    serde_json::from_str(&text).ok()
}
