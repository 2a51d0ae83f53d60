//! What a user wrote about interventions: what is said, and what is done about which issue.
//!
//! It lies in the configuration directory, and a session is held to the texts that stood there when it began. Of two such texts neither is
//! the stricter one, so a new text waits for `checkrein trust` or for the next session.

use std::fs;

use checkrein_intervention::{CustomStrategy, InterventionKind, Template};
use checkrein_patterns::PatternKind;
use checkrein_policy::{Config, NamedText, named_texts};
use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::config_files::read;
use crate::environment::HostEnvironment;
use crate::error::{CommandError, ErrorKind as Kind};
use crate::session_texts::SessionTexts;

/// The files about interventions, those that can be read, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct InterventionTexts {
    files: Vec<(AbsolutePath, Result<String, Unreadable>)>,
}

/// That a file is there and cannot be read, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Unreadable {
    message: String,
}

impl SessionTexts for InterventionTexts {}

impl InterventionTexts {
    /// Reads what there is now.
    pub(crate) fn read(environment: &HostEnvironment, config: &Config) -> Self {
        let folder = folder(environment);
        let names = template_names(&folder);
        let mut paths: Vec<AbsolutePath> = names.iter().map(|name| folder.join(name)).collect();
        paths.extend(prompts_file(environment, config));
        paths.push(strategy_file(environment));
        let files = paths.into_iter().filter_map(|path| {
            let text = read(&path).map_err(|error| Unreadable { message: error.message }).transpose()?;
            Some((path, text))
        });
        Self { files: files.collect() }
    }

    /// Which of the texts are others in `now`, in words that a user knows.
    pub(crate) fn different(&self, environment: &HostEnvironment, now: &Self) -> Vec<&'static str> {
        let strategy = strategy_file(environment);
        let words = |texts: &Self| -> Vec<_> {
            texts.files.iter().filter(|(path, _)| *path != strategy).cloned().collect()
        };
        let mut different = Vec::new();
        if words(self) != words(now) {
            different.push("templates");
        }
        if self.text(&strategy).ok() != now.text(&strategy).ok() {
            different.push("strategy.rules");
        }
        different
    }

    fn text(&self, path: &AbsolutePath) -> Result<Option<&str>, CommandError> {
        let found = self.files.iter().find(|(known, _)| known == path);
        match found.map(|(_, text)| text) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(unreadable)) => Err(wrong(unreadable.message.clone(), BUILT_IN)),
        }
    }

    /// The text that the user wrote for an intervention: `templates/KIND.PATTERN.txt` of the configuration, else `templates/KIND.txt`;
    /// `None` when there is neither.
    pub(crate) fn template(
        &self,
        environment: &HostEnvironment,
        config: &Config,
        kind: InterventionKind,
        pattern: PatternKind,
    ) -> Result<Option<Template>, CommandError> {
        let folder = folder(environment);
        for name in [format!("{}.{}.txt", kind.name(), pattern.name()), format!("{}.txt", kind.name())] {
            let path = folder.join(&name);
            if let Some(text) = self.text(&path)? {
                return parse_template(&path, text).map(Some);
            }
        }
        if kind != InterventionKind::SoftCorrection {
            return Ok(None);
        }
        let prompts = self.prompts(environment, config)?;
        let of = |name: Option<PatternKind>| prompts.iter().find(|(of, _)| *of == name);
        Ok(of(Some(pattern)).or_else(|| of(None)).map(|(_, template)| template.clone()))
    }

    /// The hints of the file that `custom_prompts_path` names, by pattern; `None` stands for `any`. None where no file is named.
    fn prompts(
        &self,
        environment: &HostEnvironment,
        config: &Config,
    ) -> Result<Vec<(Option<PatternKind>, Template)>, CommandError> {
        let Some(path) = prompts_file(environment, config) else { return Ok(Vec::new()) };
        let wrong = |message: String| wrong(message, BUILT_IN);
        let text = self.text(&path)?.ok_or_else(|| {
            wrong(format!(
                "`interventions.soft_correction.custom_prompts_path` names `{path}`, which is not there"
            ))
        })?;
        let texts = named_texts(text)
            .map_err(|error| wrong(format!("`{path}` line {}: {}", error.line, error.what)))?;
        let prompt = |NamedText { name, text, line }: NamedText| {
            let pattern = match PatternKind::of_name(&name) {
                None if name != "any" => {
                    return Err(wrong(format!(
                        "`{path}` line {line}: no pattern is called `{name}`; `any` stands for all"
                    )));
                }
                pattern => pattern,
            };
            let template = Template::parse(&text)
                .map_err(|error| wrong(format!("`{path}` line {line}: the text of `{name}`, {error}")))?;
            Ok((pattern, template))
        };
        texts.into_iter().map(prompt).collect()
    }

    /// The rules of the user for picking an intervention: `strategy.rules` of the configuration; `None` when there is no such file.
    pub(crate) fn strategy(
        &self,
        environment: &HostEnvironment,
    ) -> Result<Option<CustomStrategy>, CommandError> {
        let path = strategy_file(environment);
        let Some(text) = self.text(&path)? else { return Ok(None) };
        CustomStrategy::parse(text).map(Some).map_err(|error| {
            wrong(format!("`{path}` {error}"), "until it is mended the ladder is climbed step by step")
        })
    }
}

/// Reads every template, the named hints and the strategy, and complains of the first that is wrong or has a name that nothing asks for.
pub fn check(environment: &HostEnvironment, config: &Config) -> Result<(), CommandError> {
    let texts = InterventionTexts::read(environment, config);
    texts.prompts(environment, config)?;
    let folder = folder(environment);
    for name in &template_names(&folder) {
        let mut parts = name.trim_end_matches(".txt").split('.');
        let is_kind = |part: &str| InterventionKind::LADDER.iter().any(|kind| kind.name() == part);
        let is_known = parts.next().is_some_and(is_kind)
            && parts.next().is_none_or(|part| PatternKind::of_name(part).is_some())
            && parts.next().is_none();
        let path = folder.join(name);
        if !is_known {
            return Err(CommandError::user(
                format!("`{path}` is not the name of an intervention text"),
                "a name is KIND.txt or KIND.PATTERN.txt, such as soft_correction.stuck_loop.txt",
            ));
        }
        parse_template(&path, texts.text(&path)?.unwrap_or_default())?;
    }
    texts.strategy(environment).map(drop)
}

/// What is done meanwhile about a text that is wrong.
const BUILT_IN: &str = "the built-in text is used until it is mended";

fn wrong(message: String, hint: &str) -> CommandError {
    CommandError { kind: Kind::Configuration, message, hint: Some(hint.to_owned()), in_short: None }
}

fn parse_template(path: &AbsolutePath, text: &str) -> Result<Template, CommandError> {
    Template::parse(text).map_err(|error| wrong(format!("`{path}` {error}"), BUILT_IN))
}

fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("templates")
}

fn strategy_file(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("strategy.rules")
}

/// The file that `custom_prompts_path` names.
fn prompts_file(environment: &HostEnvironment, config: &Config) -> Option<AbsolutePath> {
    let named = config.interventions.soft_correction.custom_prompts_path.as_ref()?;
    Some(environment.configuration.join(named))
}

/// The names of the templates in a folder, in order.
fn template_names(folder: &AbsolutePath) -> Vec<String> {
    let entries = fs::read_dir(folder.as_str()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".txt"));
    names.sort();
    names
}
