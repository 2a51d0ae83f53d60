//! The model that Codex uses, which its stream does not say.

/// The name of the model that a call of Codex uses, by the words behind its name and its settings (`config.toml`); `None` where neither says
/// one. A word on the command line wins, then the profile that is chosen, then the settings (Codex, "Configuration").
pub fn codex_model(words: &[&str], settings: &str) -> Option<String> {
    let told = |names: &[&str]| {
        let beside = words.iter().zip(words.iter().skip(1)).find(|(name, _)| names.contains(name));
        let attached = || {
            words.iter().find_map(|word| {
                word.split_once('=').filter(|(name, _)| names.contains(name)).map(|(_, value)| value)
            })
        };
        beside.map(|(_, value)| *value).or_else(attached)
    };
    let overridden = |key: &str| {
        let beside =
            words.iter().zip(words.iter().skip(1)).filter(|(name, _)| matches!(**name, "-c" | "--config"));
        let values = beside.filter_map(|(_, setting)| setting.split_once('='));
        values.filter(|(name, _)| name.trim() == key).map(|(_, value)| unquoted(value)).next_back()
    };
    let named = told(&["-m", "--model"]).map(str::to_owned).or_else(|| overridden("model"));
    if named.is_some() {
        return named;
    }
    let settings = settings.parse::<toml::Table>().ok()?;
    let text = |table: &toml::Table, key: &str| table.get(key)?.as_str().map(str::to_owned);
    let profile = told(&["-p", "--profile"]).map(str::to_owned);
    let profile = profile.or_else(|| overridden("profile")).or_else(|| text(&settings, "profile"));
    let chosen = profile.and_then(|name| settings.get("profiles")?.get(name)?.as_table());
    chosen.and_then(|table| text(table, "model")).or_else(|| text(&settings, "model"))
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::codex_model;

    #[test]
    fn the_nearest_word_for_the_model_counts() {
        let settings = "model = \"gpt-5.5\"\n[profiles.small]\nmodel = \"gpt-5.4-mini\"\n";
        for (words, model) in [
            (&["exec", "--json", "do it"][..], Some("gpt-5.5")),
            (&["exec", "-m", "gpt-5.4", "do it"], Some("gpt-5.4")),
            (&["exec", "--model=gpt-5.4", "do it"], Some("gpt-5.4")),
            (&["-c", "model=\"gpt-5.4\"", "exec", "do it"], Some("gpt-5.4")),
            (&["exec", "-p", "small", "do it"], Some("gpt-5.4-mini")),
            (&["-c", "profile=small", "exec", "do it"], Some("gpt-5.4-mini")),
            (&["exec", "-p", "other", "do it"], Some("gpt-5.5")),
        ] {
            assert_eq!(codex_model(words, settings).as_deref(), model, "{words:?}");
        }
        assert_eq!(codex_model(&["exec", "do it"], ""), None);
        assert_eq!(codex_model(&["exec", "do it"], "model = "), None);
    }
}
