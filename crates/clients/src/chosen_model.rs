//! The model that a client is told to use, where its stream does not say it, or says it only with the first answer.

use std::ffi::OsString;

use serde_json::Value as Json;

use crate::adapter::ClientPath;
use crate::registration::without_comments;

/// Where a client is told which model to use. A word on its command line wins, then a variable, then the first of the files.
#[derive(Debug)]
pub struct ModelPlaces {
    /// The options of its command line.
    pub options: &'static [&'static str],
    /// The variables of its environment.
    pub variables: &'static [&'static str],
    /// Its settings files, each with the path of the key.
    pub files: &'static [(ClientPath, &'static [&'static str])],
    /// How its settings are written.
    pub form: ModelForm,
}

/// How the settings of a client name the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelForm {
    /// JSON, with comments or without.
    Json,
    /// `config.toml` of Codex, with profiles in it and in files beside it.
    Profiles,
}

/// What there is on a machine that can name a model.
pub trait ModelFacts {
    /// Returns the value of a variable; `None` where it is not set.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the text of a file; `None` where it is not there or cannot be read.
    fn text(&self, place: ClientPath) -> Option<String>;
    /// Returns the text of a file in the client's folder, by its name.
    fn beside(&self, name: &str) -> Option<String>;
    /// Returns the folders by which settings call the project.
    fn project(&self) -> Vec<String>;
}

/// For a program that is not known: most take these.
const USUAL: ModelPlaces =
    ModelPlaces { options: &["-m", "--model"], variables: &[], files: &[], form: ModelForm::Json };

/// Returns the model that a command line starts its client with, as far as words, variables and settings tell; `None` where none of them does.
pub fn chosen_model(words: &[OsString], facts: &dyn ModelFacts) -> Option<String> {
    let places = crate::resume::client_of(words).map_or(&USUAL, |client| &client.models);
    let words: Vec<&str> = words.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
    let named =
        |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(model) = named(values(&words, places.options).pop()) {
        return Some(model);
    }
    if places.form == ModelForm::Profiles {
        return named(overridden(&words, "model")).or_else(|| of_profiles(&words, facts));
    }
    let of_variables = || places.variables.iter().find_map(|name| named(facts.variable(name)));
    let of_files = || places.files.iter().find_map(|(place, key)| named(in_json(&facts.text(*place)?, key)));
    of_variables().or_else(of_files)
}

/// The values of an option, in the order of the words: beside it, behind a sign of equality, or attached to a letter.
fn values(words: &[&str], options: &[&str]) -> Vec<String> {
    let words: Vec<&str> = words.iter().copied().take_while(|word| *word != "--").collect();
    let mut found = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        if options.contains(&word) {
            found.extend(rest.next().map(str::to_owned));
            continue;
        }
        let attached = options.iter().find_map(|option| {
            let value = word.strip_prefix(option)?;
            let is_letter = option.len() == 2;
            value.strip_prefix('=').or_else(|| Some(value).filter(|_| is_letter))
        });
        found.extend(attached.map(str::to_owned));
    }
    found
}

/// The value of a setting that the command line of Codex sets, without quotes.
fn overridden(words: &[&str], key: &str) -> Option<String> {
    let settings = values(words, &["-c", "--config"]);
    let values = settings.iter().filter_map(|setting| setting.split_once('='));
    let own = values.filter(|(name, _)| name.trim() == key).map(|(_, value)| value).next_back()?;
    Some(own.trim().trim_matches(['"', '\'']).to_owned())
}

/// What the settings of Codex say: the profile that is chosen, then those of a project that its user trusts, then those of the user
/// (Codex, "Configuration").
fn of_profiles(words: &[&str], facts: &dyn ModelFacts) -> Option<String> {
    let table = |text: Option<String>| text.and_then(|text| text.parse::<toml::Table>().ok());
    let text = |table: &toml::Table, key: &str| table.get(key)?.as_str().map(str::to_owned);
    let own = table(facts.text(ClientPath::Folder("config.toml"))).unwrap_or_default();
    let profile = values(words, &["-p", "--profile"]).pop().or_else(|| overridden(words, "profile"));
    let chosen = profile.or_else(|| text(&own, "profile")).and_then(|name| {
        let is_name = !name.contains(['/', '\\']);
        let beside = is_name.then(|| table(facts.beside(&format!("{name}.config.toml")))).flatten();
        let within = || own.get("profiles")?.get(&name)?.as_table().cloned();
        beside.as_ref().and_then(|table| text(table, "model")).or_else(|| text(&within()?, "model"))
    });
    let is_trusted = |folder: &String| {
        let level = own.get("projects").and_then(|all| all.get(folder)?.get("trust_level")?.as_str());
        level == Some("trusted")
    };
    let of_project = || {
        facts.project().iter().any(is_trusted).then_some(())?;
        text(&table(facts.text(ClientPath::Project(".codex/config.toml")))?, "model")
    };
    chosen.or_else(of_project).or_else(|| text(&own, "model"))
}

/// A text in a settings file, by the path of its key.
fn in_json(text: &str, key: &[&str]) -> Option<String> {
    let settings: Json = serde_json::from_str(&without_comments(text)).ok()?;
    let value = key.iter().try_fold(&settings, |value, name| value.get(name))?;
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables and files by their names; those of the client's folder begin with `~/`.
    struct Told(&'static [(&'static str, &'static str)]);

    impl Told {
        fn named(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        }
    }

    impl ModelFacts for Told {
        fn variable(&self, name: &str) -> Option<String> {
            self.named(name)
        }

        fn text(&self, place: ClientPath) -> Option<String> {
            match place {
                ClientPath::Folder(below) => self.named(&format!("~/{below}")),
                ClientPath::Project(below) | ClientPath::Machine(below) => self.named(below),
            }
        }

        fn beside(&self, name: &str) -> Option<String> {
            self.named(&format!("~/{name}"))
        }

        fn project(&self) -> Vec<String> {
            vec!["/work/app".to_owned()]
        }
    }

    fn model(words: &str, told: &'static [(&'static str, &'static str)]) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        chosen_model(&words, &Told(told)).unwrap_or_else(|| "-".to_owned())
    }

    const CODEX: &[(&str, &str)] = &[
        (
            "~/config.toml",
            "model = \"gpt-5.5\"\n[profiles.small]\nmodel = \"gpt-5.4-mini\"\n[profiles.bare]\napproval_policy = \"never\"\n",
        ),
        ("~/deep.config.toml", "model = \"gpt-5.5-pro\"\n"),
        (".codex/config.toml", "model = \"gpt-5.4-nano\"\n"),
    ];

    #[test]
    fn the_nearest_word_for_the_model_of_codex_counts() {
        for (words, wanted) in [
            ("codex exec --json task", "gpt-5.5"),
            ("/opt/bin/codex exec -m gpt-5.4 task", "gpt-5.4"),
            ("codex exec -mgpt-5.4 task", "gpt-5.4"),
            ("codex exec --model=gpt-5.4 task", "gpt-5.4"),
            ("codex -c model=\"gpt-5.4\" exec task", "gpt-5.4"),
            ("codex -cmodel='gpt-5.4' exec task", "gpt-5.4"),
            ("codex --config=model=gpt-5.4 exec task", "gpt-5.4"),
            ("codex -c model=a -c model=gpt-5.4 exec task", "gpt-5.4"),
            ("codex exec -p small task", "gpt-5.4-mini"),
            ("codex exec --profile=small task", "gpt-5.4-mini"),
            ("codex -c profile=small exec task", "gpt-5.4-mini"),
            ("codex -p deep exec task", "gpt-5.5-pro"),
            ("codex exec -p bare task", "gpt-5.5"),
            ("codex exec -p other task", "gpt-5.5"),
            ("codex exec -p ../deep task", "gpt-5.5"),
            ("codex exec -- -m other", "gpt-5.5"),
        ] {
            assert_eq!(model(words, CODEX), wanted, "{words}");
        }
        assert_eq!(model("codex exec task", &[]), "-");
        assert_eq!(model("codex exec task", &[("~/config.toml", "model = ")]), "-");
        let small = &[("~/config.toml", "profile = \"small\"\n[profiles.small]\nmodel = \"m\"\n")];
        assert_eq!(model("codex exec task", small), "m");
        let trusting = &[
            ("~/config.toml", "model = \"gpt-5.5\"\n[projects.\"/work/app\"]\ntrust_level = \"trusted\"\n"),
            (".codex/config.toml", "model = \"gpt-5.4-nano\"\n"),
        ];
        assert_eq!(model("codex exec task", trusting), "gpt-5.4-nano");
    }

    #[test]
    fn each_client_is_told_in_its_own_places() {
        const NAMED: &str = "{ \"model\": { \"name\": \"own\" } } // mine";
        const FLAT: &str = "{\n  // mine\n  \"model\": \"own\"\n}";
        for (words, told, wanted) in [
            ("gemini -p task", &[("~/settings.json", NAMED)][..], "own"),
            ("gemini -p task", &[("~/settings.json", "{ \"model\": \"own\" }")], "own"),
            ("gemini -p task", &[("~/settings.json", "{}"), (".gemini/settings.json", NAMED)], "own"),
            ("gemini -p task", &[("~/settings.json", NAMED), ("GEMINI_MODEL", "set")], "set"),
            ("gemini -m said -p task", &[("GEMINI_MODEL", "set")], "said"),
            ("gemini -p task", &[("~/settings.json", "{ broken")], "-"),
            ("qwen -p task", &[("~/settings.json", NAMED)], "own"),
            ("qwen -p task", &[("~/settings.json", NAMED), ("OPENAI_MODEL", "set")], "set"),
            ("qwen --model said -p task", &[("OPENAI_MODEL", "set")], "said"),
            ("copilot -p task", &[("~/settings.json", FLAT)], "own"),
            ("copilot -p task", &[("~/config.json", FLAT), ("COPILOT_MODEL", "set")], "set"),
            ("copilot --model=said -p task", &[("COPILOT_MODEL", "set")], "said"),
            ("opencode run task", &[("~/opencode.json", FLAT)], "own"),
            ("opencode run task", &[("~/opencode.json", "{}"), ("opencode.jsonc", FLAT)], "own"),
            ("opencode run -m anthropic/said task", &[("~/opencode.json", FLAT)], "anthropic/said"),
            ("kilo run task", &[("kilo.json", FLAT)], "own"),
            ("droid exec task", &[("~/settings.json", FLAT)], "own"),
            ("claude -p task", &[("~/settings.json", FLAT), ("ANTHROPIC_MODEL", " ")], "own"),
            ("./agent.sh --model said", &[], "said"),
            ("./agent.sh", &[("GEMINI_MODEL", "set")], "-"),
        ] {
            assert_eq!(model(words, told), wanted, "{words}: {told:?}");
        }
    }
}
