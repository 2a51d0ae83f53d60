//! `checkrein config`: what is set, where it was set, and whether it is right.

use checkrein_policy::{LoadedConfig, Loosening, Provenance, settings_of};
use checkrein_world::find_workspace;

use super::story::at_home;
use super::team_policy::overridden;
use super::{ExitStatus, OutputForm, pretty};
use crate::api::installation::{LoosenedFile, SettingEntry, Settings, ValidConfiguration};
use crate::api::{self, recorded};
use crate::terminal::{brief, dim, plain, print, print_exact, table, wrapped};
use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration::{self, LoosenedConfiguration};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Prints the effective configuration with the place of every setting, or the part of it in which a name stands.
pub fn show(
    environment: &HostEnvironment,
    filter: Option<&str>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let loaded = config_files::load(environment, &find_workspace(&environment.cwd))?;
    let loosened = confirmed_configuration::loosened(environment)?;
    let mut overridden = overridden::overridden(environment, &loaded)?;
    let is_wanted = |path: &str| filter.is_none_or(|filter| is_meant(path, filter));
    let is_there = settings_of(&loaded.config).iter().any(|setting| is_wanted(setting.path))
        || limited(&loaded).any(|(path, _, _)| is_wanted(&path));
    if let Some(filter) = filter.filter(|_| !is_there) {
        return Err(CommandError::user(
            format!("no setting has `{}` in its name", plain(filter)),
            "`checkrein config show` lists all of them",
        ));
    }
    // Of what waits another value holds than the one that stands in the file.
    let waits =
        |path: &str| loosened.iter().flat_map(|found| &found.settings).any(|waiting| *waiting == path);
    match output {
        OutputForm::Json => {
            let settings = settings_of(&loaded.config)
                .into_iter()
                .filter(|setting| is_wanted(setting.path))
                .map(|setting| SettingEntry {
                    key: setting.path.to_owned(),
                    value: setting.value,
                    from: recorded(&loaded.provenance.get(setting.path).filter(|_| !waits(setting.path))),
                })
                .chain(limited(&loaded).filter(|(key, _, _)| is_wanted(key)).map(|(key, value, place)| {
                    SettingEntry { key, value: value.to_owned(), from: recorded(place) }
                }))
                .collect();
            let loosened = loosened.as_ref().map(loosened_file);
            overridden.retain(|one| is_wanted(&one.key));
            let pending = recorded(&loaded.pending);
            print_exact(&api::pretty(&Settings { settings, pending, loosened, overridden })?);
        }
        OutputForm::Text => {
            let rows = settings_of(&loaded.config)
                .into_iter()
                .filter(|setting| is_wanted(setting.path))
                .map(|setting| {
                    let from = origin(loaded.provenance.get(setting.path));
                    let from =
                        if waits(setting.path) { format!("confirmed before ({from} waits)") } else { from };
                    vec![setting.path.to_owned(), setting.value, from]
                })
                .chain(
                    limited(&loaded)
                        .filter(|(path, _, _)| is_wanted(path))
                        .map(|(path, value, place)| vec![path, value.to_owned(), origin(Some(place))]),
                )
                .collect();
            print(&table(&["key", "value", "from"], rows));
            let pending = loaded.pending.iter().filter(|loosening| is_wanted(&loosening.key));
            pending.for_each(|loosening| print(&dim(&wrapped(&waiting(loosening)))));
            let overridden = overridden.iter().filter(|one| is_wanted(&one.key));
            overridden.for_each(|one| print(&wrapped(&overridden::in_words(environment, one))));
            let is_about = |found: &&LoosenedConfiguration| {
                filter.is_none() || found.settings.iter().any(|key| is_wanted(key))
            };
            let told = loosened.iter().filter(is_about);
            told.for_each(|found| print(&wrapped(&loosened_in_words(environment, found))));
        }
    }
    Ok(ExitStatus::Done)
}

/// Whether a path is the name that was asked for, lies in the section of that name, or has it among its names.
fn is_meant(path: &str, filter: &str) -> bool {
    path.strip_prefix(filter).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        || path.split('.').any(|name| name.contains(filter))
}

/// What holds in one pipeline, step or place only: path, value, place.
fn limited(loaded: &LoadedConfig) -> impl Iterator<Item = (String, &str, &Provenance)> {
    loaded.sections.iter().flat_map(|section| {
        let path = section.limit.path();
        section
            .settings
            .iter()
            .map(move |(key, value, place)| (format!("{path}.{key}"), value.as_str(), place))
    })
}

/// Checks every configuration file that takes part.
pub fn check(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let loaded = config_files::load_proved(environment, &find_workspace(&environment.cwd))?;
    config_files::catalogue(environment)?;
    checkrein_engine::check_intervention_texts(environment, &loaded.config)?;
    checkrein_engine::usage::prices(environment, None)?;
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&ValidConfiguration { valid: true, pending: loaded.pending.len() })?);
        }
        OutputForm::Text => {
            print("the configuration is valid");
            loaded.pending.iter().for_each(|loosening| print(&wrapped(&waiting(loosening))));
            let overridden = overridden::overridden(environment, &loaded)?;
            overridden.iter().for_each(|one| print(&wrapped(&overridden::in_words(environment, one))));
            let loosened = confirmed_configuration::loosened(environment)?;
            loosened.iter().for_each(|found| print(&wrapped(&loosened_in_words(environment, found))));
        }
    }
    Ok(ExitStatus::Done)
}

fn origin(provenance: Option<&Provenance>) -> String {
    provenance.map_or_else(|| "built in".to_owned(), |place| format!("{}:{}", place.file, place.line))
}

/// What a project file asks for and does not get, in words.
pub fn waiting(loosening: &Loosening) -> String {
    let Loosening { key, from, to, file, line } = loosening;
    format!("waits for `checkrein trust`: {key} from {from} to {to} ({file}:{line})")
}

/// What waits in the user's own configuration, and what they can do about it.
pub(super) fn loosened_in_words(environment: &HostEnvironment, found: &LoosenedConfiguration) -> String {
    let values: String = found
        .values
        .iter()
        .map(|(name, before, now)| {
            plain(&format!("  {name}: {} before, {} now", brief(before, VALUE), brief(now, VALUE))) + "\n"
        })
        .collect();
    format!(
        "{}.\n{values}A process that an agent left behind could have written that, so it waits for you:\n  \
         you changed it: `checkrein trust` in a terminal confirms it\n  you did not: put the file back as it was",
        loosened_in_a_line(environment, found)
    )
}

/// How much of a value is shown, in characters (ours).
const VALUE: usize = 60;

/// The same in one line, without what to do.
pub(super) fn loosened_in_a_line(environment: &HostEnvironment, found: &LoosenedConfiguration) -> String {
    let what =
        if found.settings.is_empty() { String::new() } else { format!(" ({})", found.settings.join(", ")) };
    let since =
        found.since.map_or_else(String::new, |since| format!(" since {}", crate::render::time(since.0)));
    let path = at_home(environment, &plain(found.path.as_str()));
    format!(
        "`{path}` lets pass more{what}{since} than you confirmed; until you confirm it, the stricter values hold"
    )
}

/// The same for programs.
pub(super) fn loosened_file(found: &LoosenedConfiguration) -> LoosenedFile {
    LoosenedFile {
        file: found.path.to_string(),
        settings: found.settings.clone(),
        since: found.since.map(Into::into),
        reason: found.in_words(),
    }
}

/// Prints the JSON Schema of `checkrein.yaml`.
pub fn schema() -> Result<ExitStatus, CommandError> {
    print_exact(&pretty(&checkrein_policy::schema())?);
    Ok(ExitStatus::Done)
}
