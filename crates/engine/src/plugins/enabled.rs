//! Which plugins run: a sealed file for each, with what tells the files that a user enabled from others.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use checkrein_protocol::{AbsolutePath, PluginManifest, Timestamp};
use serde::{Deserialize, Serialize};

use super::files::{PluginFiles, read_files};
use super::{folder, state_folder};
use crate::config_files::write_private;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::own_text;
use crate::seal::{BLANK, Sealed, is_sealed, sealed};

/// The folder of these files; it is there while there are any.
pub(super) const FOLDER: &str = "enabled";

/// What was enabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pin {
    name: String,
    digest: String,
    /// The program, by its path, where it is none of the plugin.
    program: Option<PathBuf>,
    at: Timestamp,
    seal: String,
}

/// A plugin that may run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedPlugin {
    /// Its files, which are those that were enabled.
    pub files: PluginFiles,
    /// The program, by its path.
    pub program: PathBuf,
    /// When it was enabled.
    pub at: Timestamp,
}

/// Whether a plugin runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnabledPlugin {
    /// Nobody enabled it.
    Not,
    /// It does.
    Pinned(Box<PinnedPlugin>),
    /// It does not: its files are others by now.
    Changed,
    /// It does not, for this reason.
    Unreadable(String),
}

/// The names of the plugins that a user enabled, in order, whether or not they run.
pub fn all_enabled(environment: &HostEnvironment) -> Vec<String> {
    let entries =
        fs::read_dir(state_folder(environment).join(FOLDER).as_str()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| PluginManifest::is_name(name))
        .collect();
    names.sort();
    names
}

/// Whether a plugin runs.
pub fn enabled(environment: &HostEnvironment, name: &str) -> EnabledPlugin {
    let path = file(environment, name);
    let text = match own_text(Path::new(path.as_str())) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return EnabledPlugin::Not,
        Err(error) => return EnabledPlugin::Unreadable(format!("`{path}` cannot be read: {error}")),
    };
    let pin = serde_json::from_str(&text).ok().filter(|pin: &Pin| {
        pin.name == name && is_sealed(environment, Sealed::Plugin, name, &text, &pin.seal)
    });
    let Some(pin) = pin else {
        return EnabledPlugin::Unreadable(format!("`{path}` was not written by `checkrein plugin enable`"));
    };
    match read_files(Path::new(folder(environment).join(name).as_str())) {
        Ok(files) if files.digest == pin.digest && files.manifest.name == name => {
            let program = pin.program.unwrap_or_else(|| own_program(&files));
            EnabledPlugin::Pinned(Box::new(PinnedPlugin { files, program, at: pin.at }))
        }
        Ok(_) => EnabledPlugin::Changed,
        Err(error) => EnabledPlugin::Unreadable(error.message),
    }
}

/// Has a plugin run from now on, as it lies there.
///
/// # Errors
///
/// Its program is not found, or it cannot be written down.
pub fn enable(environment: &HostEnvironment, plugin: &PluginFiles) -> Result<(), CommandError> {
    let name = plugin.manifest.name.as_str();
    let is_own = plugin.manifest.command.first().is_some_and(|program| program.contains('/'));
    let program = if is_own { None } else { Some(program(environment, plugin)?) };
    let pin = Pin {
        name: name.to_owned(),
        digest: plugin.digest.clone(),
        program,
        at: environment.now(),
        seal: BLANK.to_owned(),
    };
    let path = file(environment, name);
    let failed = |error: std::io::Error| CommandError::file("write", &path, &error);
    let text = serde_json::to_string(&pin).map_err(|error| failed(error.into()))?;
    let text = sealed(environment, Sealed::Plugin, name, &text).map_err(failed)?;
    write_private(&path, text.as_bytes())
}

/// Has a plugin run no more; answers whether it was enabled.
///
/// # Errors
///
/// It cannot be written down.
pub fn disable(environment: &HostEnvironment, name: &str) -> Result<bool, CommandError> {
    let path = file(environment, name);
    match fs::remove_file(path.as_str()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(CommandError::file("remove", &path, &error)),
    }
    // Where others are enabled it is not empty, and stays.
    drop(fs::remove_dir(state_folder(environment).join(FOLDER).as_str()));
    Ok(true)
}

/// The program of a plugin, by its path: one of its own files, or one that is on `PATH` now.
///
/// # Errors
///
/// There is none of this name.
pub fn program(environment: &HostEnvironment, plugin: &PluginFiles) -> Result<PathBuf, CommandError> {
    let program = plugin.manifest.command.first().map(String::as_str).unwrap_or_default();
    if program.contains('/') { Ok(own_program(plugin)) } else { on_path(environment, program) }
}

fn file(environment: &HostEnvironment, name: &str) -> AbsolutePath {
    state_folder(environment).join(FOLDER).join(&format!("{name}.json"))
}

fn own_program(files: &PluginFiles) -> PathBuf {
    let program = files.manifest.command.first().map(String::as_str).unwrap_or_default();
    Path::new(files.folder.as_str()).join(program.trim_start_matches("./"))
}

/// The program that a name means for the user who enables it. The name is not looked up again: who starts the process must not choose it.
fn on_path(environment: &HostEnvironment, name: &str) -> Result<PathBuf, CommandError> {
    let folders = environment.variables.get("PATH").map(String::as_str).unwrap_or_default();
    let candidates = folders.split(':').filter(|folder| folder.starts_with('/'));
    candidates.map(|folder| Path::new(folder).join(name)).find(|path| path.is_file()).ok_or_else(|| {
        CommandError::user(
            format!("the program `{name}` of the plugin is not on `PATH`"),
            "install it, or put the program into the folder of the plugin",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use super::*;

    // Source: seed 000-105
    #[test]
    fn only_the_files_that_were_enabled_run_and_only_by_the_word_of_the_command() {
        let home = tempfile::tempdir().unwrap();
        let place = AbsolutePath::new(fs::canonicalize(home.path()).unwrap().to_str().unwrap()).unwrap();
        let variables = [("HOME".to_owned(), place.to_string()), ("PATH".to_owned(), "/bin".to_owned())];
        let environment = HostEnvironment::of(Arc::new(BTreeMap::from(variables)), place.clone()).unwrap();
        let own = folder(&environment).join("x");
        fs::create_dir_all(own.as_str()).unwrap();
        let manifest = r#"{"name":"x","command":["sh","main.sh"],"kinds":["risk"]}"#;
        fs::write(own.join("plugin.json").as_str(), manifest).unwrap();
        fs::write(own.join("main.sh").as_str(), "true\n").unwrap();
        assert_eq!(enabled(&environment, "x"), EnabledPlugin::Not);
        enable(&environment, &read_files(Path::new(own.as_str())).unwrap()).unwrap();
        let EnabledPlugin::Pinned(pinned) = enabled(&environment, "x") else { panic!("it does not run") };
        assert_eq!(pinned.program, Path::new("/bin/sh"));
        assert_eq!(all_enabled(&environment), ["x"]);

        let file = file(&environment, "x");
        let text = fs::read_to_string(file.as_str()).unwrap();
        fs::write(file.as_str(), text.replace("/bin/sh", "/bin/ed")).unwrap();
        assert!(matches!(enabled(&environment, "x"), EnabledPlugin::Unreadable(_)), "another program");
        fs::write(file.as_str(), &text).unwrap();
        fs::set_permissions(file.as_str(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(enabled(&environment, "x"), EnabledPlugin::Unreadable(_)), "a file of others");
        fs::set_permissions(file.as_str(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(enabled(&environment, "x"), EnabledPlugin::Pinned(_)));

        fs::write(own.join("main.sh").as_str(), "false\n").unwrap();
        assert_eq!(enabled(&environment, "x"), EnabledPlugin::Changed);
        assert!(super::super::trouble(&environment, "x").unwrap().contains("changed"));
        assert!(disable(&environment, "x").unwrap() && !disable(&environment, "x").unwrap());
        assert_eq!(enabled(&environment, "x"), EnabledPlugin::Not);
    }
}
