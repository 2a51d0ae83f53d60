//! Plugins that a project enables: where the client has them, as its files say.
//!
//! Seen with Claude Code 2.1.197, in a folder that its user trusts: a marketplace in a directory that the settings of a project name
//! (`extraKnownMarketplaces`) is registered at the first start and its enabled plugins at the next, unasked. Their hooks run from then on, out
//! of that directory. So do those of a folder of `.claude/skills` with a `.claude-plugin/plugin.json`. The files `known_marketplaces.json` and
//! `installed_plugins.json`, and a cache for what came from elsewhere, lie in `~/.claude/plugins`.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// What settings of a project say of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginSettings {
    /// Plugins, as `NAME@MARKETPLACE`, and whether they are enabled.
    pub enabled: BTreeMap<String, PluginChoice>,
    /// Marketplaces in directories, by name: the directory, or the file that lists its plugins.
    pub marketplaces: BTreeMap<String, String>,
}

/// What is said of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginChoice {
    /// It is enabled, whole or in part.
    Enabled,
    /// It is not.
    Disabled,
}

impl PluginSettings {
    /// What this text of a settings file says; nothing where it cannot be read, for then the client takes nothing from it.
    pub fn of(text: &str) -> Self {
        let Ok(settings) = serde_json::from_str::<Json>(text) else { return Self::default() };
        let choice = |value: &Json| match value {
            Json::Bool(false) | Json::Null => PluginChoice::Disabled,
            _ => PluginChoice::Enabled,
        };
        let enabled = members(&settings, "enabledPlugins").map(|(id, value)| (id.clone(), choice(value)));
        let marketplaces = members(&settings, "extraKnownMarketplaces");
        let marketplaces =
            marketplaces.filter_map(|(name, market)| Some((name.clone(), directory(market)?.to_owned())));
        Self { enabled: enabled.collect(), marketplaces: marketplaces.collect() }
    }

    /// What these settings say after others, which they override.
    #[must_use]
    pub fn over(self, mut others: Self) -> Self {
        others.enabled.extend(self.enabled);
        others.marketplaces.extend(self.marketplaces);
        others
    }
}

fn members<'a>(value: &'a Json, name: &str) -> impl Iterator<Item = (&'a String, &'a Json)> {
    value.get(name).and_then(Json::as_object).into_iter().flatten()
}

/// The path of a marketplace that lies on this machine.
fn directory(market: &Json) -> Option<&str> {
    let source = market.get("source")?;
    match source.get("source")?.as_str()? {
        "directory" | "file" => source.get("path")?.as_str(),
        _ => None,
    }
}

/// Where the client has registered a marketplace, by its list of those.
pub fn registered_marketplace(text: &str, name: &str) -> Option<String> {
    let list: Json = serde_json::from_str(text).ok()?;
    let market = list.get(name)?;
    let place = market.get("installLocation").and_then(Json::as_str).or_else(|| directory(market));
    place.map(str::to_owned)
}

/// The folders into which the client has installed a plugin, by its list of those.
pub fn installed_plugin(text: &str, id: &str) -> Vec<String> {
    let list: Json = serde_json::from_str(text).unwrap_or_default();
    let of = |one: &Json| one.get("installPath").and_then(Json::as_str).map(str::to_owned);
    match list.get("plugins").and_then(|plugins| plugins.get(id)) {
        Some(Json::Array(all)) => all.iter().filter_map(of).collect(),
        Some(one) => of(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The entry of a plugin in the list of its marketplace: its folder below that of the marketplace, where it lies there, and the entry itself,
/// which may hold hooks too.
pub fn plugin_of_marketplace(text: &str, name: &str) -> Option<(Option<String>, String)> {
    let list: Json = serde_json::from_str(text).ok()?;
    let plugins = list.get("plugins")?.as_array()?;
    let entry = plugins.iter().find(|entry| entry.get("name").and_then(Json::as_str) == Some(name))?;
    let root = list.get("metadata").and_then(|metadata| metadata.get("pluginRoot")).and_then(Json::as_str);
    let folder = entry.get("source").and_then(Json::as_str).map(|source| match root {
        Some(root) if !source.starts_with("./") => format!("{root}/{source}"),
        Some(_) | None => source.to_owned(),
    });
    Some((folder, entry.to_string()))
}

/// Files of hooks that the manifest of a plugin, or its entry in a marketplace, names besides the usual one.
pub fn hook_files(text: &str) -> Vec<String> {
    let manifest: Json = serde_json::from_str(text).unwrap_or_default();
    let texts = |value: &Json| value.as_str().map(str::to_owned);
    match manifest.get("hooks") {
        Some(Json::Array(all)) => all.iter().filter_map(texts).collect(),
        Some(one) => texts(one).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_say_of_plugins() {
        let said = PluginSettings::of(
            r#"{"enabledPlugins":{"a@m":true,"b@m":false,"c@m":["x"]},"extraKnownMarketplaces":{
                "m":{"source":{"source":"directory","path":"./market"}},"g":{"source":{"source":"github","repo":"a/b"}}}}"#,
        );
        assert_eq!(said.marketplaces, BTreeMap::from([("m".to_owned(), "./market".to_owned())]));
        let local = PluginSettings::of(r#"{"enabledPlugins":{"a@m":false}}"#).over(said);
        let enabled = |id: &str| local.enabled.get(id).copied();
        assert_eq!(enabled("a@m"), Some(PluginChoice::Disabled));
        assert_eq!(enabled("c@m"), Some(PluginChoice::Enabled));
        assert_eq!(PluginSettings::of("not json"), PluginSettings::default());
    }

    #[test]
    fn where_a_plugin_lies() {
        let known = r#"{"m":{"source":{"source":"directory","path":"/a"},"installLocation":"/b"}}"#;
        assert_eq!(registered_marketplace(known, "m").as_deref(), Some("/b"));
        let installed = r#"{"version":2,"plugins":{"a@m":[{"scope":"project","installPath":"/c"}]}}"#;
        assert_eq!(installed_plugin(installed, "a@m"), ["/c"]);
        assert_eq!(installed_plugin(r#"{"plugins":{"a@m":{"installPath":"/d"}}}"#, "a@m"), ["/d"]);
        let list = r#"{"metadata":{"pluginRoot":"./all"},"plugins":[{"name":"a","source":"one"},{"name":"b","source":"./two"},{"name":"c","source":{"source":"npm"}}]}"#;
        let folder = |name: &str| plugin_of_marketplace(list, name).unwrap().0;
        assert_eq!((folder("a").as_deref(), folder("b").as_deref()), (Some("./all/one"), Some("./two")));
        assert_eq!(folder("c"), None);
        assert_eq!(hook_files(r#"{"hooks":["./x.json",{"Stop":[]}]}"#), ["./x.json"]);
    }
}
