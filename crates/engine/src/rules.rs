//! The texts that the rules of a workspace rest on.

use checkrein_catalogue::UserCatalogue;
use checkrein_policy::{Config, ConfigSource, FileHash, Layer, LayerKind, Policy, settings_of, strictest};
use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::config_files;
use crate::confirmed_configuration;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::intervention_texts::InterventionTexts;
use crate::parsed_configurations::ConfigOrigin;
use crate::session_texts::SessionTexts;

/// Everything that was read to know the rules of a workspace, so that it can be kept, and told from what is there later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RuleTexts {
    /// Configuration, rules and blueprints, in the order in which they were read.
    layers: Vec<LayerText>,
    /// What a pipeline sets for its step: it goes with the step, not with the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    step: Vec<LayerText>,
    /// The commands that the user has described: file and text.
    catalogue: Vec<(AbsolutePath, String)>,
    /// What the user last agreed to of their own, where what is there now lets pass more: the stricter of the two holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agreed: Option<OwnTexts>,
}

/// What the user says for all projects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct OwnTexts {
    /// The configuration, and the rules and blueprints that it names; empty where there is none.
    layers: Vec<LayerText>,
    /// The commands that they have described: file and text.
    catalogue: Vec<(AbsolutePath, String)>,
}

impl OwnTexts {
    /// Reads what is there now.
    pub(crate) fn read(environment: &HostEnvironment) -> Result<Self, CommandError> {
        let text = config_files::read(&config_files::user_file(environment))?;
        let layers = text.map_or_else(|| Ok(Vec::new()), |text| config_files::user_layers(environment, text));
        let layers =
            layers?.into_iter().filter_map(|layer| LayerText::of(layer.kind, layer.source)).collect();
        Ok(Self { layers, catalogue: config_files::catalogue_texts(environment)? })
    }

    /// What they say by themselves, with what is built in; `None` when they cannot be used.
    pub(crate) fn config(&self) -> Option<Config> {
        let layers: Vec<Layer> = self.layers.iter().map(LayerText::layer).collect();
        checkrein_policy::load(&layers, &[]).ok().map(|loaded| loaded.config)
    }

    /// Whether the described commands are the same.
    pub(crate) fn has_catalogue_of(&self, other: &Self) -> bool {
        self.catalogue == other.catalogue
    }

    /// The hash that tells these texts from all others.
    pub(crate) fn hash(&self) -> FileHash {
        FileHash::of(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LayerText {
    kind: LayerKind,
    form: Form,
    name: String,
    text: String,
}

/// How a file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Form {
    Settings,
    Rules,
    Blueprint,
}

impl SessionTexts for RuleTexts {}

impl RuleTexts {
    /// Reads what holds in a workspace.
    pub(crate) fn read(
        environment: &HostEnvironment,
        workspace: &AbsolutePath,
    ) -> Result<Self, CommandError> {
        Self::read_up_to(environment, workspace, LayerKind::Project)
    }

    fn read_up_to(
        environment: &HostEnvironment,
        workspace: &AbsolutePath,
        last: LayerKind,
    ) -> Result<Self, CommandError> {
        let layers = config_files::files(environment, workspace, last)?;
        let layers = layers.into_iter().filter_map(|layer| LayerText::of(layer.kind, layer.source)).collect();
        let step =
            if last >= LayerKind::Project { config_files::step_layers(environment) } else { Vec::new() };
        let step = step.into_iter().filter_map(|layer| LayerText::of(layer.kind, layer.source)).collect();
        let catalogue = config_files::catalogue_texts(environment)?;
        let mut texts = Self { layers, step, catalogue, agreed: None };
        if last >= LayerKind::User {
            texts.agreed = confirmed_configuration::agreed(environment, &texts.own())?;
        }
        Ok(texts)
    }

    /// The same with what another reading says of the step.
    pub(crate) fn in_step_of(self, other: &Self) -> Self {
        Self { step: other.step.clone(), ..self }
    }

    /// What the user says for all projects.
    fn own(&self) -> OwnTexts {
        let layers = self.layers.iter().filter(|layer| layer.kind == LayerKind::User).cloned().collect();
        OwnTexts { layers, catalogue: self.catalogue.clone() }
    }

    /// The configuration that they make, with what the environment variables say.
    pub(crate) fn config(
        &self,
        environment: &HostEnvironment,
        trusted: &[FileHash],
    ) -> Result<Config, CommandError> {
        let variables = config_files::environment_layer(environment);
        let made = |variables| self.config_with(Some(variables), environment, trusted);
        match &environment.parsed {
            // What a run above sets is not among the texts.
            Some(parsed) if environment.run_limits.is_none() => {
                let origin = ConfigOrigin {
                    texts: self.clone(),
                    variables: variables.clone(),
                    trusted: trusted.to_vec(),
                    standpoint: (*environment.standpoint).clone(),
                };
                parsed.config(origin, || made(variables))
            }
            Some(_) | None => made(variables),
        }
    }

    /// The settings that wait for the user to confirm what became looser in their own configuration, by name.
    pub(crate) fn waiting(&self, environment: &HostEnvironment, trusted: &[FileHash]) -> Vec<&'static str> {
        let Some(agreed) = &self.agreed else { return Vec::new() };
        let now = Self { agreed: None, ..self.clone() };
        let (Ok(now), Ok(held)) = (now.config(environment, trusted), self.config(environment, trusted))
        else {
            return Vec::new();
        };
        let described = (agreed.catalogue != self.catalogue).then_some("described commands");
        different(&now, &held).into_iter().chain(described).collect()
    }

    fn config_with(
        &self,
        variables: Option<Layer>,
        environment: &HostEnvironment,
        trusted: &[FileHash],
    ) -> Result<Config, CommandError> {
        let made_of = |layers: Vec<Layer>| {
            checkrein_policy::load_at(&layers, trusted, &environment.standpoint)
                .map(|loaded| loaded.config)
                .map_err(|errors| config_files::invalid(&errors))
        };
        let now = self.layers.iter().chain(&self.step).map(LayerText::layer);
        let mut config = made_of(now.chain(variables.clone()).collect())?;
        if let Some(agreed) = &self.agreed {
            let others = self.layers.iter().filter(|layer| layer.kind != LayerKind::User);
            let then = others.chain(&self.step).chain(&agreed.layers).map(LayerText::layer);
            config = strictest(&config, &made_of(then.chain(variables).collect())?);
        }
        if let Some(limits) = &environment.run_limits {
            // Zero is no limit.
            config.limits.dollars = Some(limits.dollars.unwrap_or_default());
            config.limits.tokens = Some(limits.tokens.unwrap_or_default());
        }
        Ok(config)
    }

    /// The commands that the user has described.
    pub(crate) fn catalogue(&self) -> Result<UserCatalogue, CommandError> {
        config_files::parse_catalogue(&self.catalogue)
    }

    /// The commands that the user described when they last agreed, where others are described now.
    pub(crate) fn agreed_catalogue(&self) -> Result<Option<UserCatalogue>, CommandError> {
        let agreed = self.agreed.as_ref().filter(|agreed| agreed.catalogue != self.catalogue);
        agreed.map(|agreed| config_files::parse_catalogue(&agreed.catalogue)).transpose()
    }

    /// Whether a section of the configuration may be limited to paths.
    pub(crate) fn may_speak_of_paths(&self) -> bool {
        let speaks = |layer: &LayerText| layer.text.contains("safety") && layer.text.contains("paths");
        self.layers.iter().chain(&self.step).any(|layer| layer.form == Form::Settings && speaks(layer))
    }

    /// Whether the described commands are the same.
    pub(crate) fn has_catalogue_of(&self, other: &Self) -> bool {
        self.catalogue == other.catalogue
    }

    /// The configuration files of projects among them, and the rules that those name.
    pub(crate) fn project_files(&self) -> impl Iterator<Item = AbsolutePath> + '_ {
        let files = self.layers.iter().filter(|layer| layer.kind == LayerKind::Project);
        files
            .filter(|layer| matches!(layer.form, Form::Settings | Form::Rules))
            .filter_map(|layer| AbsolutePath::new(&layer.name))
    }
}

/// The settings that differ, by name.
pub(crate) fn different(one: &Config, other: &Config) -> Vec<&'static str> {
    let pairs = settings_of(one).into_iter().zip(settings_of(other));
    pairs.filter(|(one, other)| one.value != other.value).map(|(one, _)| one.path).collect()
}

/// The configuration of a workspace until the user confirms what became looser in their own; `None` where nothing waits for that.
pub(crate) fn until_confirmed(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Result<Option<Config>, CommandError> {
    let texts = RuleTexts::read(environment, workspace)?;
    let trusted = config_files::trusted(environment)?;
    texts.agreed.is_some().then(|| texts.config(environment, &trusted)).transpose()
}

/// What still holds where something of the configuration is wrong: all but the environment, or what the user says for all projects, or
/// what is installed on the machine. A file that came with a project must not lift the user's own rules by a mistake in it.
pub(crate) fn standing(environment: &HostEnvironment, workspace: &AbsolutePath) -> Policy {
    let trusted = config_files::trusted(environment).unwrap_or_default();
    let variables = || Some(config_files::environment_layer(environment));
    let ways = [
        (LayerKind::Project, None),
        (LayerKind::User, variables()),
        (LayerKind::User, None),
        (LayerKind::Managed, variables()),
        (LayerKind::Managed, None),
    ];
    for (last, variables) in ways {
        let Ok(texts) = RuleTexts::read_up_to(environment, workspace, last) else { continue };
        if let Ok(config) = texts.config_with(variables, environment, &trusted) {
            return Policy::new(config).with_catalogue(texts.catalogue().unwrap_or_default());
        }
    }
    Policy::default()
}

/// Trusts the rules that hold in a workspace now: the text of its project file, all of them together for sessions that began with
/// others, and the texts about interventions.
pub fn trust(environment: &HostEnvironment, workspace: &AbsolutePath) -> Result<(), CommandError> {
    let file = config_files::read(&config_files::project_file(workspace))?.map(|text| FileHash::of(&text));
    let texts = RuleTexts::read(environment, workspace)?;
    let mut hashes = config_files::trusted(environment)?;
    let config = texts.config(environment, &hashes)?;
    let interventions = InterventionTexts::read(environment, &config).hash();
    for hash in file.into_iter().chain([texts.hash(), interventions]) {
        if !hashes.contains(&hash) {
            hashes.push(hash);
        }
    }
    write_trusted(environment, &hashes.iter().collect::<Vec<_>>())
}

/// Takes trust back from the rules that hold in a workspace now; whether there was any. What a restore brings back was replaced by
/// something that a user wanted.
pub fn distrust(environment: &HostEnvironment, workspace: &AbsolutePath) -> Result<bool, CommandError> {
    let file = config_files::read(&config_files::project_file(workspace))?.map(|text| FileHash::of(&text));
    let together = RuleTexts::read(environment, workspace)?.hash();
    let known = config_files::trusted(environment)?;
    let kept: Vec<&FileHash> =
        known.iter().filter(|hash| **hash != together && file.as_ref() != Some(*hash)).collect();
    if kept.len() == known.len() {
        return Ok(false);
    }
    write_trusted(environment, &kept)?;
    Ok(true)
}

fn write_trusted(environment: &HostEnvironment, hashes: &[&FileHash]) -> Result<(), CommandError> {
    let text = serde_json::to_string(hashes)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    config_files::write_private(&config_files::trust_list(environment), text.as_bytes())
}

impl LayerText {
    fn of(kind: LayerKind, source: ConfigSource) -> Option<Self> {
        let (form, name, text) = match source {
            ConfigSource::File { name, text } => (Form::Settings, name, text),
            ConfigSource::Rules { name, text } => (Form::Rules, name, text),
            ConfigSource::Blueprint { name, text } => (Form::Blueprint, name, text),
            ConfigSource::Variables(_) | ConfigSource::Flags(_) => return None,
        };
        Some(Self { kind, form, name, text })
    }

    fn layer(&self) -> Layer {
        let (name, text) = (self.name.clone(), self.text.clone());
        let source = match self.form {
            Form::Settings => ConfigSource::File { name, text },
            Form::Rules => ConfigSource::Rules { name, text },
            Form::Blueprint => ConfigSource::Blueprint { name, text },
        };
        Layer { kind: self.kind, source }
    }
}
