//! Hooks of others that answer the client's questions in place of the user.
//!
//! Those in the user's own settings are the user's will: `doctor` names them. Those that a project brings are nobody's: where one is there, a
//! question would become whatever it says, so nothing is asked.

mod plugins;

use std::fs;
use std::io::Read as _;

use checkrein_clients::{ClientPath, SettingsScope, head_names_answerers};
use checkrein_facts::names_answering_event;
use checkrein_files::{SMALL, open, read_text};
use checkrein_protocol::AbsolutePath;

use crate::environment::HostEnvironment;

/// How many entries of a folder of documents are looked at, and how deep (ours): many times what real projects have.
const ENTRIES: usize = 4_096;
const DEPTH: usize = 4;

/// How much of a document is read, in bytes (ours): its head is at its beginning.
const HEAD: u64 = 16 * 1024;

/// The file or folder of a project that brings a hook which answers the client's questions, or enables a plugin with one, as the client's
/// rules name it; `None` where there is none.
pub fn brought_by_project(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    cwd: &AbsolutePath,
) -> Option<&'static str> {
    let started_in = environment.started_in();
    let mut folders = vec![workspace, cwd];
    folders.extend(started_in.as_ref());
    folders.dedup();
    let (client, own) = (environment.client, environment.client_folder());
    let home = client.places.of_scope(SettingsScope::User).map(|place| place.at(workspace, &own));
    let settings = client.places.settings.iter().filter(|(scope, _)| match scope {
        SettingsScope::Team | SettingsScope::Local => true,
        SettingsScope::User => false,
    });
    let mut answering = settings.filter(|(_, place)| {
        folders.iter().map(|folder| place.at(folder, &own)).any(|path| {
            // In the home directory the settings of the project are those of the user.
            home.as_ref() != Some(&path) && answers(environment, &path)
        })
    });
    if let Some((_, place)) = answering.next() {
        return Some(place.below());
    }
    if folders.iter().any(|folder| plugins::answer(environment, folder)) {
        return client.places.of_scope(SettingsScope::Team).map(ClientPath::below);
    }
    let holds = |name: &&&str| {
        folders.iter().map(|folder| folder.join(name)).any(|folder| {
            let mut left = ENTRIES;
            !folder.is_within(&own) && holds_answerer(&folder, DEPTH, &mut left)
        })
    };
    client.places.documents.iter().find(holds).copied()
}

/// Whether hooks of others may answer for the user, by whomever they were registered.
pub(crate) fn may_answer(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    cwd: &AbsolutePath,
) -> bool {
    let files = crate::beginning::settings_of_client(environment, workspace, cwd);
    files.iter().any(|path| answers(environment, path))
        || brought_by_project(environment, workspace, cwd).is_some()
}

fn answers(environment: &HostEnvironment, path: &AbsolutePath) -> bool {
    let text = read_text(path.as_str(), SMALL).unwrap_or_default();
    !text.is_empty() && !environment.client.hooks.other_answerers(&text).is_empty()
}

/// Whether a document, or a plugin, below a folder registers such a hook. What is more than can be looked at counts as if it did.
fn holds_answerer(folder: &AbsolutePath, depth: usize, left: &mut usize) -> bool {
    let Ok(entries) = fs::read_dir(folder.as_str()) else { return false };
    for entry in entries.flatten() {
        let Some(rest) = left.checked_sub(1) else { return true };
        *left = rest;
        // The client reads no name that is no text.
        let Some(path) = entry.file_name().to_str().map(|name| folder.join(name)) else { continue };
        if path.as_str().ends_with(".md") {
            if open(path.as_str()).is_ok_and(|file| {
                let mut bytes = Vec::new();
                file.take(HEAD).read_to_end(&mut bytes).is_ok()
                    && head_names_answerers(&String::from_utf8_lossy(&bytes))
            }) {
                return true;
            }
        } else if path.as_str().ends_with(".json") {
            // The hooks or the manifest of a plugin that lies in the folder.
            if read_text(path.as_str(), SMALL).is_ok_and(|text| names_answering_event(&text)) {
                return true;
            }
        } else if let Some(below) = depth.checked_sub(1)
            && holds_answerer(&path, below, left)
        {
            return true;
        }
    }
    false
}
