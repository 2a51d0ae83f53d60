//! The MCP servers of a client: put behind `checkrein mcp` by `init --mcp`, and back by `uninstall`.

use std::fs;
use std::io::ErrorKind;

use checkrein_clients::{ClientAdapter, NamedServer, ServerFile, ServerWay, SettingsError, SettingsScope};
use checkrein_engine::config_files::replace_file;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;

use super::init::{is_executable, place_of, shown_place};
use super::settings_change::{
    Approval, ChangeDetail, MARGIN, Manner, Results, SettingsChange, Written, agreed_to,
};
use super::uninstall::UninstallReach;
use super::{ExitStatus, OutputForm};
use crate::terminal::{bold, hanging, log, plain, print, wrapped};

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
                if GATEWAY_WORDS.iter().any(|words| before.contains(words)) {
                    log(BY_HAND);
                }
                exit = ExitStatus::Failed;
            }
        }
    }
    Ok((found, exit))
}

/// What a text holds that puts servers behind the gateway: the word in quotes of JSON or TOML, or in one command line.
const GATEWAY_WORDS: &[&str] = &["\"mcp\"", "'mcp'", "checkrein mcp"];

/// How a server comes from behind the gateway by hand.
const BY_HAND: &str = "by hand: where `command` is checkrein, the server's own command stands behind `--` in `args`: \
     put its first word into `command`, leave the rest in `args`, and take `mcp` and what stands before it out";

/// Says that a file is left as it is. The others are not made to wait for it.
fn tell_unreadable(path: &AbsolutePath, error: &SettingsError) {
    log(&format!("error: `{path}`: {error}\nhint: {}", error.hint()));
}

/// A file of which servers go behind the gateway.
struct ServersBehind {
    client: &'static ClientAdapter,
    path: AbsolutePath,
    scope: SettingsScope,
    before: String,
    after: String,
    /// The names of these servers.
    names: Vec<String>,
}

/// What becomes of the servers of several clients.
struct GatewayPlan {
    changes: Vec<ServersBehind>,
    /// What is said of servers that stay as they are, each once.
    staying: Vec<String>,
    /// Whether some file names a server.
    names_servers: bool,
    exit: ExitStatus,
}

/// Puts the servers of clients behind the gateway: shows all of them, and asks once.
pub(crate) fn behind(
    environment: &HostEnvironment,
    clients: &[&'static ClientAdapter],
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let plan = GatewayPlan::of(environment, clients, scope)?;
    plan.staying.iter().for_each(|line| log(line));
    if !plan.names_servers && plan.exit == ExitStatus::Done && output == OutputForm::Text {
        let nothing = match clients {
            [client] => format!("{} names no MCP server in the files that it reads", client.title),
            _ => "none of these agents names an MCP server in the files that it reads".to_owned(),
        };
        print(&wrapped(&nothing));
    }
    if plan.changes.is_empty() {
        return Ok(plan.exit);
    }
    let shared = plan.shared(environment)?;
    let show = || plan.show(environment, shared.as_deref(), manner, output);
    let approval = match manner.approval {
        Approval::Ask => {
            show();
            agreed_to("Put these servers behind `checkrein mcp`?")
        }
        Approval::DryRun => {
            show();
            Some(Approval::DryRun)
        }
        Approval::Given => {
            // What was written is listed afterwards.
            match manner.detail {
                ChangeDetail::Lines => show(),
                ChangeDetail::Summary if output == OutputForm::Text => {
                    shared.iter().for_each(|line| print(&hanging(line, MARGIN)));
                }
                ChangeDetail::Summary => {}
            }
            Some(Approval::Given)
        }
    };
    let mut results = Results::new(manner, output);
    let mut is_written = false;
    for change in &plan.changes {
        let written = match approval {
            None => Ok(Written::Declined),
            Some(Approval::DryRun) => Ok(Written::DryRun),
            Some(Approval::Ask | Approval::Given) => {
                replace_file(&change.path, change.after.as_bytes()).map(|()| Written::Yes)
            }
        };
        match written {
            Ok(written) => {
                is_written |= written == Written::Yes;
                results.told(&change.change(), &change.place(environment), written)?;
            }
            Err(error) => results.failed(change.client, &error)?,
        }
    }
    results.also(plan.exit);
    let next = is_written
        .then_some("from the next session on, the calls of these servers go through `checkrein mcp`");
    Ok(results.end(next.as_slice()))
}

impl GatewayPlan {
    fn of(
        environment: &HostEnvironment,
        clients: &[&'static ClientAdapter],
        scope: Option<SettingsScope>,
    ) -> Result<Self, CommandError> {
        let mut plan =
            Self { changes: Vec::new(), staying: Vec::new(), names_servers: false, exit: ExitStatus::Done };
        for client in clients {
            for (path, file) in files(environment, client, scope) {
                let text = match text(&path) {
                    Ok(Some(text)) => text,
                    Ok(None) => continue,
                    Err(error) => {
                        log(&format!("error: {}: {error}", client.title));
                        plan.exit = ExitStatus::Failed;
                        continue;
                    }
                };
                let program = program(environment, file.scope)?;
                if let Err(error) = plan.add(client, path.clone(), text, file, &program) {
                    tell_unreadable(&path, &error);
                    plan.exit = ExitStatus::Failed;
                }
            }
        }
        Ok(plan)
    }

    /// Adds a file. One that another client reads too is changed once, for both.
    fn add(
        &mut self,
        client: &'static ClientAdapter,
        path: AbsolutePath,
        text: String,
        file: ServerFile,
        program: &str,
    ) -> Result<(), SettingsError> {
        let known = self.changes.iter_mut().find(|change| change.path == path);
        let before = known.as_ref().map_or(text, |change| change.after.clone());
        let (servers, after) = (file.form.servers(&before)?, file.form.behind(&before, program)?);
        self.names_servers |= !servers.is_empty();
        for line in servers.iter().filter_map(left) {
            if !self.staying.contains(&line) {
                self.staying.push(line);
            }
        }
        if after == before {
            return Ok(());
        }
        let of_way = |way: &ServerWay| -> Vec<String> {
            let those = servers.iter().filter(|server| server.way == *way);
            those.map(|server| plain(&server.name)).collect()
        };
        // Where none is direct, those behind the gateway get the path of this program.
        let direct = of_way(&ServerWay::Direct);
        let names = if direct.is_empty() { of_way(&ServerWay::Gateway) } else { direct };
        match known {
            Some(change) => {
                change.after = after;
                change.names.extend(names);
            }
            None => {
                self.changes.push(ServersBehind { client, path, scope: file.scope, before, after, names });
            }
        }
        Ok(())
    }

    /// What a user should know before files change that others may share; `None` where none is such a file.
    fn shared(&self, environment: &HostEnvironment) -> Result<Option<String>, CommandError> {
        let shared = self.changes.iter().filter(|change| match change.scope {
            SettingsScope::Team => true,
            SettingsScope::User | SettingsScope::Local => false,
        });
        let files: Vec<String> =
            shared.map(|change| format!("`{}`", plain(&shown_place(environment, &change.path)))).collect();
        let (are, they) = match &files[..] {
            [] => return Ok(None),
            [_] => ("is", "it"),
            _ => ("are", "them"),
        };
        Ok(Some(format!(
            "shared    if {} {are} committed, the servers start for nobody who has no `{}`; `--user` leaves {they} unchanged",
            files.join(", "),
            plain(&program(environment, SettingsScope::Team)?)
        )))
    }

    /// Shows what is to become of the files: a line each, or every line that changes.
    fn show(&self, environment: &HostEnvironment, shared: Option<&str>, manner: Manner, output: OutputForm) {
        if output == OutputForm::Json {
            return;
        }
        print("MCP servers that go behind `checkrein mcp`:");
        let width = self.changes.iter().map(|change| change.client.title.len()).max().unwrap_or_default();
        for change in &self.changes {
            let title = format!("{:width$}", change.client.title);
            print(&hanging(&format!("{}  {}", bold(&title), change.place(environment)), width + 2));
            if manner.detail == ChangeDetail::Lines {
                change.change().show(manner, output);
            }
        }
        shared.iter().for_each(|line| print(&hanging(line, MARGIN)));
        let more = match (manner.detail, manner.approval) {
            (ChangeDetail::Lines, _) => return,
            (ChangeDetail::Summary, Approval::DryRun) => "`--verbose`",
            (ChangeDetail::Summary, Approval::Ask | Approval::Given) => "`--dry-run --verbose`",
        };
        print(&hanging(&format!("change    {more} shows every line"), MARGIN));
    }
}

impl ServersBehind {
    /// The file as a user calls it, and the servers.
    fn place(&self, environment: &HostEnvironment) -> String {
        format!("{}: {}", place_of(environment, &self.path, self.scope), self.names.join(", "))
    }

    fn change(&self) -> SettingsChange<'_> {
        SettingsChange {
            client: self.client,
            settings: &self.path,
            before: &self.before,
            after: &self.after,
            beside: &[],
            remarks: &[],
        }
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
