//! Plugins that a project enables, and whether one of them answers in place of the user.

use std::fs;

use checkrein_clients::{
    PluginChoice, PluginSettings, SettingsScope, hook_files, installed_plugin, plugin_of_marketplace,
    registered_marketplace,
};
use checkrein_facts::names_answering_event;
use checkrein_files::{SMALL, read_text};
use checkrein_protocol::AbsolutePath;

use super::{DEPTH, ENTRIES, holds_answerer};
use crate::environment::HostEnvironment;

/// The folder with the manifest of a plugin, or with the list of a marketplace.
const MANIFESTS: &str = ".claude-plugin";

/// What of a plugin may register hooks, besides what its manifest names.
const PARTS: [&str; 5] = ["hooks", MANIFESTS, "agents", "skills", "commands"];

/// Whether a plugin that the settings of this folder enable, and those of the user do not, answers in place of the user. What the project enables
/// and the user too is the user's will.
pub(super) fn answer(environment: &HostEnvironment, folder: &AbsolutePath) -> bool {
    let (client, own) = (environment.client, environment.client_folder());
    let Some(plugins) = client.places.plugins.map(|name| own.join(name)) else { return false };
    let of_scope = |scope: SettingsScope| {
        let place = client.places.of_scope(scope)?;
        Some(PluginSettings::of(&text(&place.at(folder, &own))))
    };
    let of_user = of_scope(SettingsScope::User).unwrap_or_default();
    let of_team = of_scope(SettingsScope::Team).unwrap_or_default();
    let of_project = of_scope(SettingsScope::Local).unwrap_or_default().over(of_team);
    let is_of_project = |id: &str| of_user.enabled.get(id) != Some(&PluginChoice::Enabled);
    let enabled = of_project.enabled.iter().filter(|(_, choice)| **choice == PluginChoice::Enabled);
    enabled
        .filter(|(id, _)| is_of_project(id))
        .any(|(id, _)| answers(folder, &plugins, id, of_project.marketplaces.get_key_value(market_of(id))))
}

fn market_of(id: &str) -> &str {
    id.rsplit_once('@').map_or("", |(_, market)| market)
}

/// Whether a plugin answers, wherever the client may have it: in its marketplace, where it was installed, in the cache.
fn answers(
    folder: &AbsolutePath,
    plugins: &AbsolutePath,
    id: &str,
    named: Option<(&String, &String)>,
) -> bool {
    let Some((name, market)) = id.rsplit_once('@') else { return false };
    let known = text(&plugins.join("known_marketplaces.json"));
    let roots = named.map(|(_, path)| path.clone()).into_iter().chain(registered_marketplace(&known, market));
    let mut places: Vec<AbsolutePath> = installed_plugin(&text(&plugins.join("installed_plugins.json")), id)
        .iter()
        .map(|path| folder.join(path))
        .collect();
    let cache = plugins.join("cache").join(market).join(name);
    let versions = fs::read_dir(cache.as_str()).into_iter().flatten().flatten();
    places.extend(versions.filter_map(|entry| Some(cache.join(entry.file_name().to_str()?))));
    for root in roots {
        let root = folder.join(&root);
        // The path of a marketplace may be that of its list.
        let (root, list) = match root.parent().filter(|_| root.as_str().ends_with(".json")) {
            Some(above) => {
                (above.parent().filter(|_| above.as_str().ends_with(MANIFESTS)).unwrap_or(above), root)
            }
            None => (root.clone(), root.join(MANIFESTS).join("marketplace.json")),
        };
        let Some((below, entry)) = plugin_of_marketplace(&text(&list), name) else { continue };
        let below = below.map(|below| root.join(&below));
        let files = hook_files(&entry);
        let is_named = |file: &String| below.as_ref().is_some_and(|below| names(&below.join(file)));
        if names_answering_event(&entry) || files.iter().any(is_named) {
            return true;
        }
        places.extend(below);
    }
    places.iter().any(holds)
}

/// Whether the folder of a plugin registers a hook that answers.
fn holds(plugin: &AbsolutePath) -> bool {
    let mut left = ENTRIES;
    let manifest = text(&plugin.join(MANIFESTS).join("plugin.json"));
    PARTS.iter().any(|part| holds_answerer(&plugin.join(part), DEPTH, &mut left))
        || hook_files(&manifest).iter().any(|file| names(&plugin.join(file)))
}

fn names(file: &AbsolutePath) -> bool {
    names_answering_event(&text(file))
}

fn text(file: &AbsolutePath) -> String {
    read_text(file.as_str(), SMALL).unwrap_or_default()
}
