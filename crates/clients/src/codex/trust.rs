//! Whether Codex runs our hooks: it passes over each one that a user has not trusted, without a word.

use checkrein_protocol::AbsolutePath;
use serde_json::Value as Json;

/// Returns why Codex passes over the review hook in `settings`, whose text this is, by what `config.toml` says. `None` when the hook runs,
/// as far as can be known: only Codex knows whether the trusted text is the present one.
pub(super) fn doubt(settings: &AbsolutePath, text: &str, config: &str) -> Option<String> {
    let own: Json = serde_json::from_str(text).ok()?;
    let Ok(config) = config.parse::<toml::Table>() else {
        return Some("`config.toml` cannot be read".to_owned());
    };
    let switch = config.get("features").and_then(|features| features.get("hooks"));
    if switch.and_then(toml::Value::as_bool) == Some(false) {
        return Some("`features.hooks` is false".to_owned());
    }
    let groups = own.get("hooks")?.get("PreToolUse")?.as_array()?;
    let (group, index) = groups.iter().enumerate().find_map(|(number, group)| {
        let is_ours = |handler: &Json| {
            handler.get("command").and_then(Json::as_str).is_some_and(crate::command::runs_hook)
        };
        Some((number, group.get("hooks")?.as_array()?.iter().position(is_ours)?))
    })?;
    let key = format!("{settings}:pre_tool_use:{group}:{index}");
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(|state| state.get(&key));
    if state.and_then(|state| state.get("enabled")).and_then(toml::Value::as_bool) == Some(false) {
        return Some("it is switched off in `config.toml`".to_owned());
    }
    match state.and_then(|state| state.get("trusted_hash")) {
        Some(_) => None,
        None => Some("nobody has trusted it yet".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_hook_runs() {
        let layout = &super::super::ADAPTER.hooks;
        let other = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
        let text = layout.register(other, &layout.command("/opt/checkrein-hook")).unwrap();
        let path = AbsolutePath::new("/home/dev/.codex/hooks.json").unwrap();
        let state = |body: &str| format!("[hooks.state.\"{path}:pre_tool_use:1:0\"]\n{body}\n");
        let doubt = |config: &str| doubt(&path, &text, config);
        assert_eq!(doubt(&state("trusted_hash = \"sha256:ab\"")), None);
        assert!(doubt("").unwrap().contains("trusted"));
        assert!(doubt(&state("trusted_hash = \"sha256:ab\"").replace(":1:0", ":0:0")).is_some());
        assert!(doubt(&state("trusted_hash = \"sha256:ab\"\nenabled = false")).unwrap().contains("off"));
        assert!(doubt(&format!("[features]\nhooks = false\n{}", state("trusted_hash = \"x\""))).is_some());
        assert!(doubt("[").is_some());
    }
}
