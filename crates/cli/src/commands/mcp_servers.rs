//! The MCP servers of a client: put behind `checkrein mcp` by `init --mcp`, and back by `uninstall`.

use std::fs;
use std::io::ErrorKind;

use checkrein_clients::{ClientAdapter, NamedServer, ServerFile, ServerWay, SettingsError, SettingsScope};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;

use super::init::is_executable;
use super::settings_change::{Manner, SettingsChange, Written};
use super::story::at_home;
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

/// Which way servers are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Behind,
    Direct,
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

/// Puts the servers of a client behind the gateway.
pub(crate) fn behind(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    put(environment, client, scope, manner, output, Direction::Behind)
}

/// Puts the servers of a client back to where they were.
pub(crate) fn direct(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    put(environment, client, scope, manner, output, Direction::Direct)
}

fn put(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
    direction: Direction,
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
        if direction == Direction::Direct && !before.contains("checkrein") {
            continue;
        }
        let after = match direction {
            Direction::Behind => form.behind(&before, program),
            Direction::Direct => form.direct(&before),
        };
        let after = match after {
            Ok(after) => after,
            Err(error) => {
                // The other files are not made to wait for this one.
                log(&format!("error: `{path}`: {error}\nhint: {}", error.hint()));
                exit = ExitStatus::Failed;
                continue;
            }
        };
        let remarks = vec![format!("servers   {}", at_home(environment, path.as_str()))];
        if direction == Direction::Behind {
            let servers = form.servers(&before)?;
            is_something |= !servers.is_empty();
            servers.iter().filter_map(left).for_each(|line| log(&line));
        }
        let change =
            SettingsChange { client, settings: &path, before: &before, after: &after, remarks: &remarks };
        let written = change.apply(manner, output, &|| Ok(()))?;
        if written == Written::Unchanged {
            continue;
        }
        is_something = true;
        let next = match direction {
            Direction::Behind => {
                "from the next session on the calls of these servers go through `checkrein mcp`"
            }
            Direction::Direct => "the servers are called directly again",
        };
        let done = change.tell(written, output, next)?;
        if done != ExitStatus::Done {
            exit = done;
        }
    }
    if direction == Direction::Behind && !is_something && output == OutputForm::Text {
        print(&format!("{} names no MCP server in the files that it reads", client.title));
    }
    Ok(exit)
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
