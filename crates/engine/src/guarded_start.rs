//! Whether an agent that a call starts would ask the guard: by the hooks that are registered for its user and where it starts.

use std::iter::successors;

use checkrein_clients::{ClientAdapter, ClientPath, ProjectSettings, of_program_or_package};
use checkrein_facts::GuardedStart;
use checkrein_protocol::AbsolutePath;
use checkrein_world::changes::real_path;
use checkrein_world::find_workspace;

use crate::environment::HostEnvironment;

/// Where Claude Code writes down which plugins are installed, below its folder, and the beginning of the name of ours (observed with 2.1.197).
const PLUGINS: (&str, &str) = ("plugins/installed_plugins.json", "\"checkrein@");

/// Whether an agent of this name would ask the guard, started in a directory. The caller knows that the guard is used on this machine.
pub(crate) fn guarded_start(
    environment: &HostEnvironment,
    program: &str,
    directory: &AbsolutePath,
) -> GuardedStart {
    let Some(client) = of_program_or_package(program) else { return GuardedStart::Unguarded };
    let own = environment.folder_of(client);
    let folders = folders_of_project(client, &real_path(directory));
    let (mut is_registered, mut is_confirmed, mut is_switched_off) = (false, false, false);
    let places = client.places.settings.iter().map(|(_, place)| place);
    for place in places.chain(client.places.switches).chain(client.places.managed) {
        let of_project = matches!(place, ClientPath::Project(_));
        for folder in if of_project { folders.as_slice() } else { folders.get(..1).unwrap_or_default() } {
            let path = place.at(folder, &own);
            let Some(text) = text(&path) else { continue };
            let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let leads_away =
                || (client.hooks.variables)(&text).iter().any(|(name, _)| (client.hooks.leads_guard)(name));
            is_switched_off |= (client.hooks.switched_off)(&settings).is_some() || of_project && leads_away();
            if client.hooks.reviewing_command(&text).is_some() {
                is_registered = true;
                is_confirmed |= is_trusted(client, folder, &own, &path, &text);
            }
        }
    }
    let by_plugin = || {
        let installed = client.places.plugins.and_then(|_| text(&own.join(PLUGINS.0)));
        installed.is_some_and(|installed| installed.contains(PLUGINS.1))
    };
    if is_switched_off {
        GuardedStart::Unguarded
    } else if is_confirmed {
        GuardedStart::Guarded
    } else if is_registered {
        GuardedStart::Unconfirmed
    } else if by_plugin() {
        // In which projects a plugin is switched on is for the client to say.
        GuardedStart::Unknown
    } else {
        GuardedStart::Unguarded
    }
}

/// The folders from which a client that is started in a directory takes settings of a project, that directory first.
fn folders_of_project(client: &ClientAdapter, directory: &AbsolutePath) -> Vec<AbsolutePath> {
    match client.places.project_settings {
        ProjectSettings::WhereStarted => vec![directory.clone()],
        ProjectSettings::Upward => {
            let root = find_workspace(directory);
            successors(Some(directory.clone()), AbsolutePath::parent)
                .take_while(|folder| folder.is_within(&root))
                .collect()
        }
    }
}

/// Whether the client runs the hooks in a settings file, as far as it wants the consent of a user for that.
fn is_trusted(
    client: &ClientAdapter,
    folder: &AbsolutePath,
    own: &AbsolutePath,
    settings: &AbsolutePath,
    content: &str,
) -> bool {
    client.trust.as_ref().is_none_or(|trust| {
        let agreed = text(&trust.file.at(folder, own)).unwrap_or_default();
        (trust.doubt)(settings, content, &agreed).is_none()
    })
}

/// The text of a settings file; `None` when it cannot be read.
fn text(path: &AbsolutePath) -> Option<String> {
    checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()
}
