//! The layers of configuration, read and merged.
//!
//! built-in < managed (`/etc/checkrein/config.yaml`, then the team's, `pinned_policy.rs`) < user (`~/.config/checkrein/config.yaml`) < project (`checkrein.yaml`) and
//! environment, which may tighten only.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use checkrein_catalogue::UserCatalogue;
use checkrein_files::Forced;
use checkrein_policy::{
    BASES_LIMIT, Base, Blueprint, ConfigErrors, ConfigSource, Digest, FileHash, Layer, LayerKind,
    LoadedConfig,
};
use checkrein_protocol::AbsolutePath;
use checkrein_world::changes::real_path;

use crate::environment::{HostEnvironment, MANAGED};
use crate::error::{CommandError, ErrorKind as Kind};
use crate::pinned_policy;
use crate::rules;
use crate::text::counted;

/// The configuration of the user for all projects.
pub fn user_file(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("config.yaml")
}

/// The folder in which the user describes commands.
pub fn catalogue_folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("catalogue")
}

/// The configuration file of a project.
pub fn project_file(workspace: &AbsolutePath) -> AbsolutePath {
    workspace.join("checkrein.yaml")
}

/// The effective configuration in a workspace. An error lists everything that is wrong, with line and column.
pub fn load(environment: &HostEnvironment, workspace: &AbsolutePath) -> Result<LoadedConfig, CommandError> {
    let layers = layers(environment, workspace)?;
    let mut loaded = checkrein_policy::load_at(&layers, &trusted(environment)?, &environment.standpoint)
        .map_err(|errors| invalid(&errors))?;
    if let Some(config) = rules::until_confirmed(environment, workspace)? {
        loaded.config = config;
    }
    Ok(loaded)
}

/// The configuration that would hold in a workspace if this were part of the user's own.
pub fn load_with(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    more: ConfigSource,
) -> Result<LoadedConfig, CommandError> {
    let mut layers = layers(environment, workspace)?;
    let place = layers.iter().position(|layer| layer.kind > LayerKind::User).unwrap_or(layers.len());
    layers.insert(place, Layer { kind: LayerKind::User, source: more });
    checkrein_policy::load_at(&layers, &trusted(environment)?, &environment.standpoint)
        .map_err(|errors| invalid(&errors))
}

/// The configuration that would hold in a workspace if one of its files had another text, or were there.
pub fn load_replacing(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    kind: LayerKind,
    file: &AbsolutePath,
    text: &str,
) -> Result<LoadedConfig, CommandError> {
    let mut layers = layers(environment, workspace)?;
    let source = ConfigSource::File { name: file.to_string(), text: text.to_owned() };
    let is_it =
        |layer: &Layer| matches!(&layer.source, ConfigSource::File { name, .. } if name == file.as_str());
    if let Some(layer) = layers.iter_mut().find(|layer| is_it(layer)) {
        layer.source = source;
    } else {
        // Behind the files of its kind, before the variables of the environment, which count as a project does.
        let is_later =
            |layer: &Layer| layer.kind > kind || matches!(layer.source, ConfigSource::Variables(_));
        let place = layers.iter().position(is_later).unwrap_or(layers.len());
        layers.insert(place, Layer { kind, source });
    }
    checkrein_policy::load_at(&layers, &trusted(environment)?, &environment.standpoint)
        .map_err(|errors| invalid(&errors))
}

/// The text of a configuration file; `None` when it is not there.
pub fn text_of(file: &AbsolutePath) -> Result<Option<String>, CommandError> {
    read(file)
}

/// What the environment sets. The settings of a client in a cloned repository can set variables for its hooks, so what comes from the
/// environment may tighten like a project file, and loosen as little.
pub(crate) fn environment_layer(environment: &HostEnvironment) -> Layer {
    Layer { kind: LayerKind::Project, source: ConfigSource::Variables(environment.variables.clone()) }
}

/// The same, with every condition parsed, and every example and fixture played.
pub fn load_proved(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Result<LoadedConfig, CommandError> {
    let layers = layers(environment, workspace)?;
    checkrein_policy::load_proved(&layers, &trusted(environment)?).map_err(|errors| invalid(&errors))
}

/// What is wrong with a configuration or a blueprint, as a user reads it.
pub fn invalid(errors: &ConfigErrors) -> CommandError {
    CommandError {
        kind: Kind::Configuration,
        message: format!("the configuration has {}\n{errors}", counted(errors.errors.len() as u64, "error")),
        hint: Some("`checkrein config schema` describes every key".to_owned()),
        in_short: errors.in_short(),
    }
}

/// Everything that takes part, blueprints included.
pub fn layers(environment: &HostEnvironment, workspace: &AbsolutePath) -> Result<Vec<Layer>, CommandError> {
    let mut layers = files(environment, workspace, LayerKind::Project)?;
    layers.extend(step_layers(environment));
    layers.push(environment_layer(environment));
    Ok(layers)
}

/// The projects around a workspace, outermost first: a repository inside another one keeps to its rules as well. The home directory and
/// what lies above it are nobody's project.
fn projects_around(environment: &HostEnvironment, workspace: &AbsolutePath) -> Vec<AbsolutePath> {
    let temporary = environment.temporary();
    let is_project = |folder: &AbsolutePath| {
        !environment.home.is_within(folder) && folder.parent().is_some() && !temporary.contains(folder)
    };
    let mut around: Vec<AbsolutePath> =
        std::iter::successors(workspace.parent(), AbsolutePath::parent).take_while(is_project).collect();
    around.reverse();
    around
}

/// The files that take part, blueprints included, up to those of one kind.
pub(crate) fn files(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    last: LayerKind,
) -> Result<Vec<Layer>, CommandError> {
    let managed = AbsolutePath::root().join(MANAGED).join("config.yaml");
    let mut files = vec![(LayerKind::Managed, managed), (LayerKind::User, user_file(environment))];
    let projects = projects_around(environment, workspace).into_iter().chain([workspace.clone()]);
    files.extend(projects.map(|project| (LayerKind::Project, project_file(&project))));
    let mut layers = Vec::new();
    let mut named = Vec::new();
    for (kind, path) in files.into_iter().filter(|(kind, _)| *kind <= last) {
        let Some(text) = read(&path)? else { continue };
        let source = ConfigSource::File { name: path.to_string(), text };
        named.extend(named_files(&source, &path, kind)?.into_iter().map(|source| Layer { kind, source }));
        layers.push(Layer { kind, source });
    }
    // Layers of one kind count as they are given, and kinds in their order.
    layers.extend(pinned_policy::layer(environment)?);
    layers.extend(named);
    Ok(layers)
}

/// What the file of a pipeline sets for the step above. A file of the user's own is given on the command line, and counts as that.
pub(crate) fn step_layers(environment: &HostEnvironment) -> Vec<Layer> {
    let Some(settings) = environment.step_settings.as_deref() else { return Vec::new() };
    let kind = if settings.only_tighten { LayerKind::Project } else { LayerKind::Flags };
    let source = |text: &String| ConfigSource::File { name: settings.file.clone(), text: text.clone() };
    settings.texts.iter().map(|text| Layer { kind, source: source(text) }).collect()
}

/// The user's own layers if their file had this text: the file, and the rules and blueprints that it names.
pub(crate) fn user_layers(environment: &HostEnvironment, text: String) -> Result<Vec<Layer>, CommandError> {
    let path = user_file(environment);
    let source = ConfigSource::File { name: path.to_string(), text };
    let named = named_files(&source, &path, LayerKind::User)?;
    let sources = std::iter::once(source).chain(named);
    Ok(sources.map(|source| Layer { kind: LayerKind::User, source }).collect())
}

/// The commands that the user has described in `catalogue/*.toml` of the configuration directory, files in the order of their names.
pub fn catalogue(environment: &HostEnvironment) -> Result<UserCatalogue, CommandError> {
    parse_catalogue(&catalogue_texts(environment)?)
}

/// The texts of these files, with their names.
pub(crate) fn catalogue_texts(
    environment: &HostEnvironment,
) -> Result<Vec<(AbsolutePath, String)>, CommandError> {
    let folder = catalogue_folder(environment);
    let entries = match fs::read_dir(folder.as_str()) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(CommandError::file("read", &folder, &error)),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let mut texts = Vec::new();
    for name in names {
        let path = folder.join(&name);
        texts.extend(read(&path)?.map(|text| (path, text)));
    }
    Ok(texts)
}

/// The commands that these files describe.
pub(crate) fn parse_catalogue(texts: &[(AbsolutePath, String)]) -> Result<UserCatalogue, CommandError> {
    let mut catalogue = UserCatalogue::default();
    for (path, text) in texts {
        let described = UserCatalogue::parse(text, path.as_str()).map_err(|error| CommandError {
            kind: Kind::Configuration,
            message: error.to_string(),
            hint: Some("docs/catalogue.md describes the format".to_owned()),
            in_short: None,
        })?;
        catalogue.merge(described);
    }
    Ok(catalogue)
}

/// The files that a configuration file names: custom rules and blueprints. Their paths are
/// relative to that file.
fn named_files(
    source: &ConfigSource,
    path: &AbsolutePath,
    kind: LayerKind,
) -> Result<Vec<ConfigSource>, CommandError> {
    let ConfigSource::File { text, .. } = source else { return Ok(Vec::new()) };
    // Most files name none, and need not be understood twice.
    if !text.contains("custom_rules_path") && !text.contains("blueprints") {
        return Ok(Vec::new());
    }
    let layer = Layer { kind: LayerKind::User, source: source.clone() };
    // What is wrong with the file is said when all layers are put together.
    let Ok(loaded) = checkrein_policy::load(&[layer], &[]) else { return Ok(Vec::new()) };
    let Some(folder) = path.parent() else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    // Rules only tighten, so that a project may bring its own; a file elsewhere is not its own.
    if let Some(named) = loaded.config.step_reviewer.rules.custom_rules_path {
        let file = folder.join(&named);
        // A link out of it is a file elsewhere, too.
        if kind == LayerKind::Project && !real_path(&file).is_within(&real_path(&folder)) {
            return Err(CommandError::user(
                format!("`{path}` names the rules `{named}`, which lie outside the project"),
                "put them into the project, or into your own configuration",
            ));
        }
        let text = read(&file)?.ok_or_else(|| {
            CommandError::user(
                format!("`{path}` names the rules `{file}`, which is not there"),
                "mend `custom_rules_path`",
            )
        })?;
        files.push(ConfigSource::Rules { name: file.to_string(), text });
    }
    for entry in &loaded.config.governance.blueprints {
        files.extend(blueprint_files(entry, &folder, path.as_str(), kind)?);
    }
    Ok(files)
}

/// The path that an entry of `governance.blueprints` names, and the digest behind it.
pub(crate) fn blueprint_entry(entry: &str) -> (&str, Option<&str>) {
    entry.rsplit_once(" sha256:").map_or((entry, None), |(path, digest)| (path.trim_end(), Some(digest)))
}

/// A blueprint and everything that it stands on, what it stands on first.
pub fn blueprint_files(
    entry: &str,
    folder: &AbsolutePath,
    named_in: &str,
    kind: LayerKind,
) -> Result<Vec<ConfigSource>, CommandError> {
    let (name, digest) = blueprint_entry(entry);
    let wrong = |message: String, hint: &str| CommandError {
        kind: Kind::Configuration,
        message,
        hint: Some(hint.to_owned()),
        in_short: None,
    };
    let pin = match digest.map(|text| (text, Digest::parse(text))) {
        Some((text, None)) => {
            return Err(wrong(
                format!("{named_in}: `{text}` is not a SHA-256 digest"),
                "write 64 hexadecimal digits, as `sha256sum` prints them",
            ));
        }
        Some((_, pin)) => pin,
        None => None,
    };
    let first = folder.join(name);
    if kind == LayerKind::Project && !first.is_within(folder) {
        return Err(wrong(
            format!("{named_in}: the blueprint `{name}` lies outside the project"),
            "a project names blueprints of its own",
        ));
    }
    let mut files: Vec<ConfigSource> = Vec::new();
    let mut seen: Vec<AbsolutePath> = Vec::new();
    let mut next = Some((first, pin, named_in.to_owned()));
    while let Some((file, pin, place)) = next.take() {
        if seen.contains(&file) {
            return Err(wrong(
                format!("{place}: `{file}` stands on itself"),
                "take one of the two `base` away",
            ));
        }
        if seen.len() > BASES_LIMIT {
            return Err(wrong(
                format!("{place}: more than {BASES_LIMIT} blueprints stand on each other"),
                "put some of them together",
            ));
        }
        let text = read(&file)?
            .ok_or_else(|| wrong(format!("{place}: the blueprint `{file}` is not there"), "mend its path"))?;
        let found = Digest::of(&text);
        if let Some(pin) = pin.filter(|pin| *pin != found) {
            return Err(wrong(
                format!("{place}: `{file}` is not what was agreed on: {found}, not {pin}"),
                "read what changed, then pin the new digest",
            ));
        }
        let blueprint = Blueprint::parse(file.as_str(), &text, kind).map_err(|errors| invalid(&errors))?;
        if let Some(Base { reference, digest, line, column }) = blueprint.base {
            let place = format!("{file}:{line}:{column}");
            // The file that a project names is out of the agent's reach; what that one stands on is only so by its digest.
            if kind == LayerKind::Project && digest.is_none() {
                return Err(wrong(
                    format!("{place}: the base `{reference}` has no digest"),
                    "in a project, write the `digest` of a base beside its `ref`",
                ));
            }
            let below = file.parent().unwrap_or_else(AbsolutePath::root).join(&reference);
            next = Some((below, digest, place));
        }
        files.push(ConfigSource::Blueprint { name: file.to_string(), text });
        seen.push(file);
    }
    files.reverse();
    Ok(files)
}

/// What a user has trusted.
pub(crate) fn trusted(environment: &HostEnvironment) -> Result<Vec<FileHash>, CommandError> {
    let path = trust_list(environment);
    let Some(text) = read(&path)? else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| {
        CommandError::user(
            format!("`{path}` is damaged: {error}"),
            "remove it and run `checkrein trust` again",
        )
    })
}

pub(crate) fn trust_list(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("trusted.json")
}

/// The text of a file; `None` when it is not there.
pub(crate) fn read(path: &AbsolutePath) -> Result<Option<String>, CommandError> {
    match checkrein_files::read_text(path.as_str(), checkrein_files::SMALL) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(CommandError::file("read", path, &error)),
    }
}

/// Writes a file of our own state: readable by this user only, whole or not at all.
pub fn write_private(path: &AbsolutePath, bytes: &[u8]) -> Result<(), CommandError> {
    write(path, bytes, 0o600, 0o700)
}

/// Replaces a file of the user whole or not at all, through a symbolic link and with the mode that it has.
pub fn replace_file(path: &AbsolutePath, bytes: &[u8]) -> Result<(), CommandError> {
    let real = fs::canonicalize(path.as_str()).ok().and_then(|real| AbsolutePath::new(real.to_str()?));
    let real = real.unwrap_or_else(|| path.clone());
    let mode = fs::metadata(real.as_str()).map_or(0o644, |facts| facts.permissions().mode() & 0o777);
    write(&real, bytes, mode, 0o755)
}

fn write(path: &AbsolutePath, bytes: &[u8], mode: u32, folder_mode: u32) -> Result<(), CommandError> {
    let fail = |error: std::io::Error| CommandError::file("write", path, &error);
    let Some(folder) = path.parent() else {
        return Err(CommandError::user(
            format!("`{path}` is not a place for a file"),
            "choose another place",
        ));
    };
    fs::DirBuilder::new().recursive(true).mode(folder_mode).create(folder.as_str()).map_err(fail)?;
    checkrein_files::replace(Path::new(path.as_str()), bytes, mode, Forced::Content).map_err(fail)
}
