//! `checkrein plugin`: programs of the user that see what happened and say what should be stricter.

mod answer;
mod dead_letters;
mod fault;
mod process;
mod run;
mod seen;
mod sinks;
mod template;
mod trial;

use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::plugins::{self, EnabledPlugin, PluginFiles, PluginStatus, read_files};
use checkrein_ledger::Durability;
use checkrein_protocol::{
    PLUGIN_EVENT, PluginKind, PluginManifest, PluginQuestion, PluginSaying, RecordBody,
};
use checkrein_session::SessionLedger;
use serde_json::json;

pub use template::PluginLanguage;

use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api;
use crate::api::plugins::{PluginEntry, PluginState, PluginWritten};
use crate::terminal::{Reply, confirm, counted, log, plain, print, print_exact};

/// Writes a plugin to begin with into a new folder here.
///
/// # Errors
///
/// The name is none, or the folder is there already.
pub fn init(
    environment: &HostEnvironment,
    name: &str,
    language: PluginLanguage,
    kinds: &[PluginKind],
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    if !PluginManifest::is_name(name) {
        return Err(CommandError::user(
            format!("`{}` is not a name for a plugin", plain(name)),
            "take small letters, digits and hyphens, such as `todo-watch`",
        ));
    }
    let kinds = if kinds.is_empty() { &[PluginKind::Patterns] } else { kinds };
    let folder = environment.cwd.join(name);
    let files = template::write(&folder, name, language, kinds)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&PluginWritten {
            plugin: name.to_owned(),
            folder: folder.to_string(),
            files,
        })?),
        OutputForm::Text => {
            print(&format!("{name}/ has {}", files.join(", ")));
            for line in language.next_steps(name) {
                print(&format!("  {line}"));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Tries the plugin in a folder, or one that is installed.
///
/// # Errors
///
/// It is none.
pub fn test(
    environment: &HostEnvironment,
    plugin: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    trial::try_plugin(environment, &meant(environment, plugin), output)
}

/// Lists the plugins that are installed, and how they did.
///
/// # Errors
///
/// The output cannot be written.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let mut names = plugins::installed(environment);
    names.extend(plugins::all_enabled(environment));
    names.sort();
    names.dedup();
    if names.is_empty() && output == OutputForm::Text {
        print("no plugin is installed; `checkrein plugin init NAME` writes one to begin with");
    }
    for name in names {
        let entry = entry(environment, &name);
        match output {
            OutputForm::Json => print_exact(&api::line(&entry)?),
            OutputForm::Text => show(&entry),
        }
    }
    Ok(ExitStatus::Done)
}

fn entry(environment: &HostEnvironment, name: &str) -> PluginEntry {
    let folder = plugins::folder(environment).join(name);
    let files = read_files(Path::new(folder.as_str()));
    let PluginStatus { runs, failures, took_ms, last, fault, .. } = plugins::status(environment, name);
    let state = match plugins::enabled(environment, name) {
        EnabledPlugin::Not => PluginState::Disabled,
        EnabledPlugin::Pinned(_) => PluginState::Enabled,
        EnabledPlugin::Changed => PluginState::Changed,
        EnabledPlugin::Unreadable(_) => PluginState::Unreadable,
    };
    let manifest = files.as_ref().ok().map(|files| &files.manifest);
    PluginEntry {
        plugin: name.to_owned(),
        state,
        trouble: plugins::trouble(environment, name)
            .or_else(|| files.as_ref().err().map(|error| error.message.clone())),
        summary: manifest.map(|manifest| manifest.summary.clone()).unwrap_or_default(),
        kinds: manifest.map(|manifest| words(&manifest.kinds)).unwrap_or_default(),
        network: manifest.map(|manifest| manifest.network.clone()).unwrap_or_default(),
        folder: folder.to_string(),
        runs,
        failures,
        mean_ms: took_ms.checked_div(runs),
        last: last.map(Into::into),
        last_failure: fault,
    }
}

fn words(kinds: &[PluginKind]) -> Vec<String> {
    kinds.iter().map(|kind| kind.name().to_owned()).collect()
}

fn show(entry: &PluginEntry) {
    let network = if entry.network.is_empty() { "no network".to_owned() } else { entry.network.join(", ") };
    print(&plain(&format!(
        "{}: {}, {} ({network})",
        entry.plugin,
        entry.state.in_words(),
        entry.kinds.join(", ")
    )));
    if !entry.summary.is_empty() {
        print(&plain(&format!("  {}", entry.summary)));
    }
    let mean = entry.mean_ms.map(|mean| format!(", {mean} ms each")).unwrap_or_default();
    let failed = if entry.failures == 0 { String::new() } else { format!(", {} failed", entry.failures) };
    print(&format!("  {}{mean}{failed}", counted(entry.runs, "run")));
    if let Some(trouble) = &entry.trouble {
        print(&plain(&format!("  {trouble}")));
    }
}

/// Has a plugin run from now on: one that is installed, or one in a folder, which is installed by it.
///
/// # Errors
///
/// An agent asks, or it is no plugin.
pub fn enable(
    environment: &HostEnvironment,
    plugin: &str,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "plugin enable")?;
    let files = read_files(&meant(environment, plugin))?;
    let manifest = &files.manifest;
    let place = plugins::folder(environment).join(&manifest.name);
    // What is pinned must also be found again.
    program(environment, &files)?;
    if output == OutputForm::Text {
        print(&plain(&format!("{}: {}", manifest.name, manifest.summary)));
        print(&plain(&format!("  runs {}", manifest.command.join(" "))));
        manifest.kinds.iter().for_each(|kind| print(&format!("  {}", may(*kind))));
        let network = match manifest.network.as_slice() {
            [] => "talks to nobody".to_owned(),
            hosts => format!("talks to {}", hosts.join(", ")),
        };
        print(&plain(&format!(
            "  {network}; reads its own {} and nothing of yours; writes nothing",
            counted(files.files.len() as u64, "file")
        )));
        let is_another = place.as_str() != files.folder.as_str();
        if is_another && Path::new(place.as_str()).exists() {
            print(&plain(&format!("  takes the place of `{place}`")));
        }
    }
    if yes == Switch::Off {
        match confirm("Have it run after each call?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let installed = if place.as_str() == files.folder.as_str() {
        files
    } else {
        plugins::copy_files(&files, &place)?;
        let installed = read_files(Path::new(place.as_str()))?;
        if installed.digest != files.digest {
            return Err(CommandError::user(
                format!("`{}` changed while it was copied, so it is not enabled", files.folder),
                "try again once nothing writes there",
            ));
        }
        installed
    };
    plugins::enable(environment, &installed)?;
    answer(environment, &installed.manifest.name, output)
}

/// What a plugin of this kind may do, for who is asked about it.
fn may(kind: PluginKind) -> &'static str {
    match kind {
        PluginKind::Patterns => {
            "sees the last actions, and tells the agent of issues; a critical one asks you about changes"
        }
        PluginKind::Interventions => "sees issues, and makes what is done about them stronger",
        PluginKind::Risk => "sees the last actions, and raises the risk of calls",
        PluginKind::Exporter => "sees all records, with secrets masked",
        PluginKind::Approvals => {
            "sees notices, with the links by which questions are answered; name it as `plugin:NAME` among `notification_channels`"
        }
    }
}

/// Has a plugin run no more. What it said about sessions counts no more either.
///
/// # Errors
///
/// An agent asks, or it is not enabled.
pub fn disable(
    environment: &HostEnvironment,
    name: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "plugin disable")?;
    if !PluginManifest::is_name(name) || !plugins::disable(environment, name)? {
        return Err(CommandError::user(
            format!("the plugin `{}` is not enabled", plain(name)),
            "`checkrein plugin list` lists those that are",
        ));
    }
    for folder in environment.state.folders()? {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        // A session that cannot be read holds nothing of it either.
        if ledger.state().is_ok_and(|state| state.plugins().holds(name)) {
            let fields = json!(PluginSaying::Disabled { plugin: name.to_owned() });
            let body = RecordBody::Event { name: PLUGIN_EVENT.to_owned(), fields };
            ledger.append(environment.now(), body, Durability::Durable)?;
        }
    }
    answer(environment, name, output)
}

fn answer(environment: &HostEnvironment, name: &str, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let entry = entry(environment, name);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&entry)?),
        OutputForm::Text => print(&format!("{name} is {}", entry.state.in_words())),
    }
    Ok(ExitStatus::Done)
}

/// Has the enabled plugins look at what is new.
///
/// # Errors
///
/// There is no such session, or nothing can be written down.
pub fn run(
    environment: &HostEnvironment,
    session: Option<&str>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    run::run(environment, session)?;
    if output == OutputForm::Json {
        for name in plugins::all_enabled(environment) {
            print_exact(&api::line(&entry(environment, &name))?);
        }
    }
    Ok(ExitStatus::Done)
}

/// Tells a person by a plugin of approvals; why that failed.
pub(super) fn tell_by(
    environment: &HostEnvironment,
    name: &str,
    notice: serde_json::Value,
) -> Result<(), String> {
    let pinned = match plugins::enabled(environment, name) {
        EnabledPlugin::Pinned(pinned) => pinned,
        EnabledPlugin::Not => return Err(format!("the plugin `{name}` is not enabled")),
        EnabledPlugin::Changed | EnabledPlugin::Unreadable(_) => {
            return Err(plugins::trouble(environment, name).unwrap_or_default());
        }
    };
    if !pinned.files.manifest.kinds.contains(&PluginKind::Approvals) {
        return Err(format!("the plugin `{name}` is not of the kind `approvals`"));
    }
    let started = std::time::Instant::now();
    let asked = run::ask_all(environment, name, &pinned, vec![PluginQuestion::Approvals { notice }]);
    let kept = match &asked {
        Ok(_) => {
            let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            plugins::succeeded(environment, name, took)
        }
        Err(fault) => plugins::failed(environment, name, &fault.to_string()),
    };
    if let Err(error) = kept {
        log(&error.message);
    }
    asked.map(drop).map_err(|fault| fault.to_string())
}

/// The folder that a user means: one that is named, or that of an installed plugin.
fn meant(environment: &HostEnvironment, plugin: &str) -> PathBuf {
    let named = Path::new(environment.cwd.as_str()).join(plugin);
    let installed = plugins::folder(environment).join(plugin);
    // A plain name is never turned into a folder that a repository brought while one of that name is installed.
    let is_installed = PluginManifest::is_name(plugin) && Path::new(installed.as_str()).is_dir();
    if is_installed { PathBuf::from(installed.as_str()) } else { named }
}

/// The program of a plugin, by its path.
fn program(environment: &HostEnvironment, plugin: &PluginFiles) -> Result<PathBuf, CommandError> {
    plugins::program(environment, plugin)
}
