//! `checkrein config`: what is set, where it was set, and whether it is right.

use checkrein_policy::{LoadedConfig, Loosening, Provenance, settings_of};
use checkrein_world::find_workspace;

use super::{ExitStatus, OutputForm, pretty};
use crate::api::installation::{SettingEntry, Settings, ValidConfiguration};
use crate::api::{self, recorded};
use crate::terminal::{dim, plain, print, table};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Prints the effective configuration with the place of every setting, or the part of it in which a name stands.
pub fn show(
    environment: &HostEnvironment,
    filter: Option<&str>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let loaded = config_files::load(environment, &find_workspace(&environment.cwd))?;
    let is_wanted = |path: &str| filter.is_none_or(|filter| is_meant(path, filter));
    let is_there = settings_of(&loaded.config).iter().any(|setting| is_wanted(setting.path))
        || limited(&loaded).any(|(path, _, _)| is_wanted(&path));
    if let Some(filter) = filter.filter(|_| !is_there) {
        return Err(CommandError::user(
            format!("no setting has `{}` in its name", plain(filter)),
            "`checkrein config show` lists all of them",
        ));
    }
    match output {
        OutputForm::Json => {
            let settings = settings_of(&loaded.config)
                .into_iter()
                .filter(|setting| is_wanted(setting.path))
                .map(|setting| SettingEntry {
                    key: setting.path.to_owned(),
                    value: setting.value,
                    from: recorded(&loaded.provenance.get(setting.path)),
                })
                .chain(limited(&loaded).filter(|(key, _, _)| is_wanted(key)).map(|(key, value, place)| {
                    SettingEntry { key, value: value.to_owned(), from: recorded(place) }
                }))
                .collect();
            print(&api::pretty(&Settings { settings, pending: recorded(&loaded.pending) })?);
        }
        OutputForm::Text => {
            let rows = settings_of(&loaded.config)
                .into_iter()
                .filter(|setting| is_wanted(setting.path))
                .map(|setting| {
                    vec![setting.path.to_owned(), setting.value, origin(loaded.provenance.get(setting.path))]
                })
                .chain(
                    limited(&loaded)
                        .filter(|(path, _, _)| is_wanted(path))
                        .map(|(path, value, place)| vec![path, value.to_owned(), origin(Some(place))]),
                )
                .collect();
            print(&table(&["key", "value", "from"], rows));
            let pending = loaded.pending.iter().filter(|loosening| is_wanted(&loosening.key));
            pending.for_each(|loosening| print(&dim(&waiting(loosening))));
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
            print(&api::pretty(&ValidConfiguration { valid: true, pending: loaded.pending.len() })?);
        }
        OutputForm::Text => {
            print("the configuration is valid");
            loaded.pending.iter().for_each(|loosening| print(&waiting(loosening)));
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

/// Prints the JSON Schema of `checkrein.yaml`.
pub fn schema() -> Result<ExitStatus, CommandError> {
    print(&pretty(&checkrein_policy::schema())?);
    Ok(ExitStatus::Done)
}
