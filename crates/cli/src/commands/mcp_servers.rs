//! The MCP servers of a client: put behind `checkrein mcp` by `init --mcp`, and back by `uninstall`.

use std::fs;
use std::io::ErrorKind;

use checkrein_clients::{ClientAdapter, NamedServer, ServerFile, ServerWay, SettingsError, SettingsScope};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;

use super::init::{is_executable, whose};
use super::settings_change::{Manner, SettingsChange, Written};
use super::story::at_home;
use super::uninstall::UninstallReach;
use super::{ExitStatus, OutputForm};
use crate::terminal::{log, plain, print};

/// The largest file that is read, in bytes (ours): Claude Code keeps the history of all projects beside its servers.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The servers that one file names.
#[derive(Debug)]
pub(super) struct ServerList {
    /// The file.
    pub(super) path: AbsolutePath,
    /// The servers in it, or why it cannot be read.
    pub(super) servers: Result<Vec<NamedServer>, SettingsError>,
}

/// A file of which the servers are called directly again.
pub(super) struct ServersBack {
    pub(super) path: AbsolutePath,
    pub(super) before: String,
    pub(super) after: String,
}

/// The files of a client that name servers, as far as they are there.
pub(super) fn lists(environment: &HostEnvironment, client: &ClientAdapter) -> Vec<ServerList> {
    let there = files(environment, client, None).into_iter();
    let read = there.filter_map(|(path, file)| {
        // What cannot be read at all is told by whoever changes it.
        let text = text(&path).ok().flatten()?;
        Some(ServerList { servers: file.form.servers(&text), path })
    });
    read.collect()
}

/// Returns whether servers of a client are behind the gateway in a file within reach.
pub(super) fn are_behind(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    reach: UninstallReach,
) -> bool {
    let mut within = files(environment, client, None).into_iter();
    within.any(|(path, file)| {
        reach.holds_servers_of(file.scope)
            && text(&path).ok().flatten().is_some_and(|text| {
                let servers = file.form.servers(&text).unwrap_or_default();
                servers.iter().any(|server| server.way == ServerWay::Gateway)
            })
    })
}

/// Returns the files within reach with the servers of a client where they were, as far as that changes them, and whether one of them could
/// not be read as a whole. Some files will have another text before: `pending` tells it.
pub(super) fn direct(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    reach: UninstallReach,
    pending: &dyn Fn(&AbsolutePath) -> Option<String>,
) -> Result<(Vec<ServersBack>, ExitStatus), CommandError> {
    let (mut found, mut exit) = (Vec::new(), ExitStatus::Done);
    for (path, file) in files(environment, client, None) {
        if !reach.holds_servers_of(file.scope) {
            continue;
        }
        let before = match pending(&path) {
            Some(text) => Some(text),
            None => text(&path)?,
        };
        let Some(before) = before.filter(|text| text.contains("checkrein")) else { continue };
        match file.form.direct(&before) {
            Ok(after) if after == before => {}
            Ok(after) => found.push(ServersBack { path, before, after }),
            Err(error) => {
                tell_unreadable(&path, &error);
                exit = ExitStatus::Failed;
            }
        }
    }
    Ok((found, exit))
}

/// Says that a file is left as it is. The others are not made to wait for it.
fn tell_unreadable(path: &AbsolutePath, error: &SettingsError) {
    log(&format!("error: `{path}`: {error}\nhint: {}", error.hint()));
}

/// Puts the servers of a client behind the gateway.
pub(crate) fn behind(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let (of_user, of_team) =
        (program(environment, SettingsScope::User)?, program(environment, SettingsScope::Team)?);
    let (mut exit, mut is_something) = (ExitStatus::Done, false);
    for (path, file) in files(environment, client, scope) {
        let form = file.form;
        let program = match file.scope {
            SettingsScope::User | SettingsScope::Local => &of_user,
            SettingsScope::Team => &of_team,
        };
        let Some(before) = text(&path)? else { continue };
        let after = match form.behind(&before, program) {
            Ok(after) => after,
            Err(error) => {
                tell_unreadable(&path, &error);
                exit = ExitStatus::Failed;
                continue;
            }
        };
        let mut remarks = vec![
            format!("client    {}, {}", client.title, whose(file.scope)),
            format!("servers   {}", at_home(environment, path.as_str())),
        ];
        remarks.extend(shared(file.scope, program));
        let servers = form.servers(&before)?;
        is_something |= !servers.is_empty();
        servers.iter().filter_map(left).for_each(|line| log(&line));
        let change =
            SettingsChange { client, settings: &path, before: &before, after: &after, remarks: &remarks };
        let written = change.apply(manner, output, &|| Ok(()))?;
        if written == Written::Unchanged {
            continue;
        }
        is_something = true;
        let next = "from the next session on the calls of these servers go through `checkrein mcp`";
        let done = change.tell(written, output, next)?;
        if done != ExitStatus::Done {
            exit = done;
        }
    }
    if !is_something && output == OutputForm::Text {
        print(&format!("{} names no MCP server in the files that it reads", client.title));
    }
    Ok(exit)
}

/// What a user should know before a file changes that others may share.
fn shared(scope: SettingsScope, program: &str) -> Option<String> {
    match scope {
        SettingsScope::User | SettingsScope::Local => None,
        SettingsScope::Team => Some(format!(
            "shared    if this file is committed, the servers start for nobody who has no `{}`; `--user` leaves it as it is",
            plain(program)
        )),
    }
}

/// What is said of a server that stays as it is.
fn left(server: &NamedServer) -> Option<String> {
    let why = match &server.way {
        ServerWay::Gateway | ServerWay::Direct => return None,
        ServerWay::Remote => {
            "the client reaches it by its address and signs in by itself; `checkrein mcp --http URL` stands before one \
             that needs no signing in"
        }
        ServerWay::Unclear(why) => why,
    };
    Some(format!("the MCP server `{}` stays as it is: {why}", plain(&server.name)))
}

/// The files of a client, of a scope where one is named, each once.
fn files(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    scope: Option<SettingsScope>,
) -> Vec<(AbsolutePath, ServerFile)> {
    let (workspace, folder) = (find_workspace(&environment.cwd), environment.folder_of(client));
    let mut found: Vec<(AbsolutePath, ServerFile)> = Vec::new();
    for file in client.servers.iter().filter(|file| scope.is_none_or(|scope| scope == file.scope)) {
        let path = file.place.at(&workspace, &folder);
        if !found.iter().any(|(known, _)| *known == path) {
            found.push((path, *file));
        }
    }
    found
}

fn text(path: &AbsolutePath) -> Result<Option<String>, CommandError> {
    match checkrein_files::read_text(path.as_str(), LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::file("read", path, &error)),
    }
}

/// This program as the client is to start it. In a file that others share it has its name alone, where that is found; in one of this user
/// its path, since an editor that the desktop starts has no `~/.local/bin` among its folders.
fn program(environment: &HostEnvironment, scope: SettingsScope) -> Result<String, CommandError> {
    let own = environment.program.as_ref().and_then(|path| fs::canonicalize(path).ok());
    let own = own.as_ref().and_then(|path| path.to_str()).ok_or_else(|| {
        CommandError::user("this program does not know where it lies", "install it where it has a plain path")
    })?;
    match scope {
        SettingsScope::User | SettingsScope::Local => return Ok(own.to_owned()),
        SettingsScope::Team => {}
    }
    let path = environment.variables.get("PATH").map(String::as_str).unwrap_or_default();
    let folders = path.split(':').filter_map(AbsolutePath::new);
    let first = folders.map(|folder| folder.join("checkrein")).find(is_executable);
    let finds = first.and_then(|path| fs::canonicalize(path.as_str()).ok());
    Ok(if finds.as_deref().and_then(|path| path.to_str()) == Some(own) {
        "checkrein".to_owned()
    } else {
        own.to_owned()
    })
}
