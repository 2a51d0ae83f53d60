//! What of the policy of a team does not hold, since the user set it otherwise.

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::pinned_policy;
use checkrein_policy::{ConfigSource, Layer, LayerKind, LoadedConfig, load, settings_of};

use crate::api::installation::OverriddenSetting;
use crate::commands::story::at_home;
use crate::terminal::plain;

/// The settings that the pinned policy has and that hold with another value, by the user's own file or what comes after it; none where no
/// policy is pinned.
pub(in crate::commands) fn overridden(
    environment: &HostEnvironment,
    loaded: &LoadedConfig,
) -> Result<Vec<OverriddenSetting>, CommandError> {
    let Some(text) = pinned_policy::text(environment)? else { return Ok(Vec::new()) };
    let name = pinned_policy::policy_file(environment).to_string();
    let source = ConfigSource::File { name, text };
    let team = load(&[Layer { kind: LayerKind::Managed, source }], &[])
        .map_err(|errors| config_files::invalid(&errors))?;
    let wanted = settings_of(&team.config).into_iter();
    let held = settings_of(&loaded.config).into_iter();
    let found = wanted.zip(held).filter_map(|(team_setting, setting)| {
        team.provenance.get(team_setting.path)?;
        let place = loaded.provenance.get(setting.path).filter(|place| place.layer != LayerKind::Managed)?;
        (team_setting.value != setting.value).then(|| OverriddenSetting {
            key: setting.path.to_owned(),
            team: team_setting.value,
            value: setting.value,
            file: place.file.clone(),
            line: place.line,
        })
    });
    Ok(found.collect())
}

/// One of them in a line.
pub(in crate::commands) fn in_words(environment: &HostEnvironment, one: &OverriddenSetting) -> String {
    let file = at_home(environment, &plain(&one.file));
    format!(
        "the policy of the team says {} = {}; {file}:{} overrides it with {}",
        one.key, one.team, one.line, one.value
    )
}
