//! `checkrein init`: registering the hooks of clients.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::{
    CLIENTS, ClientAdapter, ClientPath, FIRST, HookCommand, Registration, SettingsError, SettingsScope,
};
use checkrein_protocol::AbsolutePath;
use checkrein_world::{find_workspace, shared_git_directory};

use super::doctor::is_untested;
use super::insertions::Inserting as _;
use super::settings_change::{
    Approval, ChangeDetail, CompanionChange, MARGIN, Manner, Results, SettingsChange, Written, agreed_to,
};
use super::story::at_home;
use super::whole_files::{check_unchanged, companion_changes, in_the_way};
use super::{ExitStatus, OutputForm, Switch, mcp_servers, status_line};
use crate::terminal::{Reply, bold, confirm, hanging, print};
use checkrein_engine::Context;
use checkrein_engine::config_files::replace_file;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::{Inserted, Installations, Installed, looked_up};
use checkrein_policy::ApprovalWait;

/// What `init` writes above its line in `.git/info/exclude`.
pub(super) const EXCLUDED_BY: &str =
    "# by `checkrein init`: no `git clean` or `git stash` takes the hooks away";

/// The word for all clients.
pub const ALL: &str = "all";

/// The clients that a name on the command line means: one, or all that are found on this machine and in the project.
pub fn clients(
    environment: &HostEnvironment,
    name: &str,
) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    let found = match name {
        ALL => found(environment),
        name => checkrein_clients::named(name).into_iter().collect(),
    };
    if found.is_empty() {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.client.name()).collect();
        return Err(CommandError::user(
            "no client is found on this machine",
            format!("name one with `--client`: {}", names.join(", ")),
        ));
    }
    Ok(found)
}

/// The clients that this machine has: by their program, by their folder in the home directory, or by what the project holds for them.
fn found(environment: &HostEnvironment) -> Vec<&'static ClientAdapter> {
    let workspace = find_workspace(&environment.cwd);
    let exists = |path: &AbsolutePath| fs::symlink_metadata(path.as_str()).is_ok();
    let is_in_project = |client: &ClientAdapter| {
        let settings = client.places.settings.iter().map(|(_, place)| *place);
        let guarded = client.places.guarded.iter().map(|(place, _)| *place);
        let is_own = settings.chain(guarded).any(|place| match place {
            ClientPath::Project(path) => {
                // `.github` belongs to everything around a repository; other folders are a client's own.
                let own = path.split('/').next().filter(|top| *top != ".github").unwrap_or(path);
                exists(&workspace.join(own))
            }
            ClientPath::Folder(_) | ClientPath::Machine(_) => false,
        });
        let names_servers = client.servers.iter().any(|file| match file.place {
            ClientPath::Project(path) => exists(&workspace.join(path)),
            ClientPath::Folder(_) | ClientPath::Machine(_) => false,
        });
        is_own || names_servers
    };
    let is_here = |client: &&ClientAdapter| {
        client.programs.iter().any(|name| find_on_path(environment, name))
            || exists(&environment.folder_of(client))
            || is_in_project(client)
    };
    CLIENTS.iter().filter(is_here).collect()
}

/// The clients of which a settings file calls our hooks.
pub(super) fn holding(environment: &HostEnvironment) -> Vec<&'static ClientAdapter> {
    let holds = |client: &&ClientAdapter| {
        let scopes = client.places.settings.iter().map(|(scope, _)| *scope);
        let mut files = scopes.filter_map(|scope| settings_file(environment, client, scope));
        files.any(|file| read(&file).is_ok_and(|text| text.contains("checkrein-hook")))
    };
    CLIENTS.iter().filter(holds).collect()
}

/// What is to be registered.
#[derive(Debug, Clone)]
pub struct Order {
    /// For whom; without one in the file of the project that holds the hooks already, else in that of this user.
    pub scope: Option<SettingsScope>,
    /// How it is shown, and whether to ask.
    pub manner: Manner,
    /// The hook program, where one is named.
    pub program: Option<PathBuf>,
    /// Whether the client shows our status line.
    pub status_line: Switch,
    /// Whether its MCP servers go behind the gateway.
    pub servers: Switch,
}

/// What becomes of one settings file.
#[derive(Debug)]
struct Plan {
    client: &'static ClientAdapter,
    scope: SettingsScope,
    settings: AbsolutePath,
    command: HookCommand,
    before: String,
    after: String,
    beside: Vec<CompanionChange>,
    is_new: bool,
    is_on_path: bool,
    remarks: Vec<String>,
    exclude: Option<(AbsolutePath, String)>,
}

/// Registers the hooks of the client that is named, of all, or without a name of each that is found; Claude Code where none is.
pub fn init(
    environment: &HostEnvironment,
    name: Option<&str>,
    order: &Order,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let chosen = match name {
        Some(name) => clients(environment, name)?,
        None => Some(found(environment)).filter(|found| !found.is_empty()).unwrap_or_else(|| vec![FIRST]),
    };
    if let [client] = chosen[..] {
        let plan = Plan::of(environment, client, order)?;
        let written = plan.show_and_write(environment, order.manner, output)?;
        let exit = plan.change().tell(written, output, &plan.next())?;
        return match (order.servers, exit) {
            (Switch::On, ExitStatus::Done) => {
                mcp_servers::behind(environment, &[client], order.scope, order.manner, output)
            }
            (_, exit) => Ok(exit),
        };
    }
    each(environment, &chosen, order, output)
}

/// Said of files in the home directory.
const FOR_ALL_PROJECTS: &str = "files in your home directory (`~`) are for all your projects";

/// Registers the hooks of several clients: asks once, and goes on where one fails.
fn each(
    environment: &HostEnvironment,
    chosen: &[&'static ClientAdapter],
    order: &Order,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut results = Results::new(order.manner, output);
    let mut plans = Vec::new();
    for client in chosen {
        match Plan::of(environment, client, order) {
            Ok(plan) => plans.push(plan),
            Err(_) if order.scope.is_some_and(|scope| client.places.of_scope(scope).is_none()) => {
                results.skipped(client, "it has no settings of that kind")?;
            }
            Err(error) => results.failed(client, &error)?,
        }
    }
    let is_changing = plans.iter().any(|plan| plan.change().is_one());
    let show = || show_all(environment, &plans, order.manner, output);
    let approval = match order.manner.approval {
        Approval::Ask if is_changing => {
            show();
            agreed_to("Write these?")
        }
        Approval::Ask => Some(Approval::Given),
        Approval::DryRun => {
            show();
            Some(Approval::DryRun)
        }
        Approval::Given => {
            // What was written is listed afterwards.
            if order.manner.detail == ChangeDetail::Lines {
                show();
            }
            Some(Approval::Given)
        }
    };
    let mut steps = Vec::new();
    let (mut written_for, mut registered) = (Vec::new(), Vec::new());
    for plan in &plans {
        let written = match approval {
            Some(approval) => plan.write(environment, approval),
            None => Ok(Written::Declined),
        };
        match written {
            Ok(written) => {
                results.told(&plan.change(), &plan.place(environment), written)?;
                if written == Written::Yes {
                    written_for.push(plan.client);
                    steps.extend(plan.client.next_step);
                }
            }
            Err(error) => {
                results.failed(plan.client, &error)?;
                continue;
            }
        }
        registered.push(plan.client);
    }
    // What stays as it is was said the first time.
    let absent = plans.iter().filter(|plan| !plan.is_on_path && plan.change().is_one());
    let serves_all = |plan: &&Plan| plan.scope == SettingsScope::User && plan.change().is_one();
    // Who was asked has read it before the question.
    let is_said = order.manner.approval == Approval::Ask && is_changing;
    if plans.iter().any(|plan| serves_all(&plan)) && approval.is_some() && !is_said {
        steps.insert(0, FOR_ALL_PROJECTS);
    }
    let absent: Vec<&str> = absent.map(|plan| plan.client.title).collect();
    let waiting = format!("not found on PATH, so the hooks wait for it: {}", absent.join(", "));
    if !absent.is_empty() {
        steps.push(&waiting);
    }
    let reviewed = reviewed_from_then_on(&written_for);
    if !written_for.is_empty() {
        steps.push(&reviewed);
    }
    let exit = results.end(&steps);
    // Every hook is written before anything else is asked.
    if order.servers == Switch::Off || approval.is_none() || registered.is_empty() {
        return Ok(exit);
    }
    match mcp_servers::behind(environment, &registered, order.scope, order.manner, output)? {
        ExitStatus::Done => Ok(exit),
        of_servers => Ok(of_servers),
    }
}

/// From when on the calls of several agents are reviewed: of some only once the user has trusted the hooks.
fn reviewed_from_then_on(clients: &[&'static ClientAdapter]) -> String {
    let trusted = |client: &ClientAdapter| {
        let typed = client.trust.as_ref()?.typed;
        Some(format!("of {} only after `{typed}`", client.title))
    };
    let mut waiting: Vec<String> = clients.iter().copied().filter_map(trusted).collect();
    let untried: Vec<&str> =
        clients.iter().filter(|client| is_untested(client)).map(|client| client.title).collect();
    if !untried.is_empty() {
        waiting.push(format!("of {} as their documentation says, untried", untried.join(", ")));
    }
    let waiting = if waiting.is_empty() { String::new() } else { format!(" ({})", waiting.join(", ")) };
    format!(
        "from the next session of each on, every tool call is reviewed{waiting}; `checkrein doctor` proves it"
    )
}

/// Shows what is to become of the files of several clients: a line each, or every line that changes.
fn show_all(environment: &HostEnvironment, plans: &[Plan], manner: Manner, output: OutputForm) {
    let changing: Vec<&Plan> = plans.iter().filter(|plan| plan.change().is_one()).collect();
    if output == OutputForm::Json || changing.is_empty() {
        return;
    }
    if manner.detail == ChangeDetail::Lines {
        for plan in changing {
            plan.change().show(manner, output);
            print("");
        }
        return;
    }
    let width = changing.iter().map(|plan| plan.client.title.len()).max().unwrap_or_default();
    for plan in &changing {
        let title = format!("{:width$}", plan.client.title);
        print(&hanging(&format!("{}  {}", bold(&title), plan.place(environment)), width + 2));
    }
    for plan in &changing {
        plan.remarks
            .iter()
            .filter(|remark| remark.starts_with("git "))
            .for_each(|remark| print(&hanging(remark, MARGIN)));
    }
    let mut hooks: Vec<String> =
        changing.iter().map(|plan| at_home(environment, &plan.command.to_string())).collect();
    hooks.sort();
    hooks.dedup();
    hooks.iter().for_each(|hook| print(&hanging(&format!("hook      {hook}"), MARGIN)));
    let more = match manner.approval {
        Approval::DryRun => "`--verbose`",
        Approval::Ask | Approval::Given => "`--dry-run --verbose`",
    };
    print(&hanging(&format!("change    {more} shows every line"), MARGIN));
    if manner.approval == Approval::Ask && changing.iter().any(|plan| plan.scope == SettingsScope::User) {
        print(FOR_ALL_PROJECTS);
    }
}

impl Plan {
    fn of(
        environment: &HostEnvironment,
        client: &'static ClientAdapter,
        order: &Order,
    ) -> Result<Self, CommandError> {
        let is_registered = |path: &AbsolutePath| -> Result<bool, CommandError> {
            Ok(client.hooks.registration(&read(path)?).is_ok_and(|found| found != Registration::Absent))
        };
        let team = settings_file(environment, client, SettingsScope::Team);
        let chosen = match (order.scope, team) {
            (Some(scope), _) => scope,
            (None, Some(team)) if is_registered(&team)? => SettingsScope::Team,
            (None, _) => client.places.own_scope(),
        };
        let settings = settings_file(environment, client, chosen).ok_or_else(|| no_such_scope(client))?;
        let command = hook_command(environment, client, order.program.clone())?;
        if order.scope == Some(SettingsScope::Team)
            && let Some(program) = command.program()
        {
            return Err(CommandError::user(
                format!(
                    "a settings file that others share must not name `{program}`, which is on this machine only"
                ),
                "install checkrein where it is looked for, such as `~/.local/bin`; or leave `--team` away",
            ));
        }
        let before = read(&settings)?;
        let installations = Installations::load(environment)?;
        let known = installations.0.iter().find(|known| known.settings == settings);
        check_unchanged(client, known, &settings, &before)?;
        let in_file = |error| match error {
            SettingsError::Foreign => in_the_way(client, &settings),
            error => CommandError::settings(&settings, error),
        };
        let registered = client.hooks.register(&before, &command).map_err(in_file)?;
        let (after, about_line) = match order.status_line {
            Switch::Off => (registered, None),
            Switch::On => {
                let (after, remark) = status_line::registered(environment, client, &registered, &command)?;
                (after, Some(remark))
            }
        };
        // What is written must be what the client will read: it drops a broken file without a word, and the guard with it.
        client.hooks.registration(&after)?;
        let beside = companion_changes(client, &settings, &command)?;
        let is_on_path = client.programs.iter().any(|name| find_on_path(environment, name));
        let found = if is_on_path { "found" } else { "not found on PATH; the hooks wait for it" };
        let is_new = fs::symlink_metadata(settings.as_str()).is_err();
        let mut remarks = vec![
            format!("client    {} ({found}), {}", client.title, whose(chosen)),
            format!(
                "settings  {}{}",
                at_home(environment, settings.as_str()),
                if is_new { " (new)" } else { "" }
            ),
            format!("hook      {}", at_home(environment, &command.to_string())),
        ];
        if !client.hooks.events.is_empty() {
            remarks.push(format!(
                "events    {}; before each tool call the hook can refuse it",
                client.hooks.events.len() + beside.len()
            ));
            let names: Vec<&str> = beside.iter().filter_map(|file| file.path.name()).collect();
            if !names.is_empty() {
                remarks.push(format!("beside    {}: the other events, in the same folder", names.join(", ")));
            }
        }
        remarks.extend(about_line);
        let exclude = (chosen == SettingsScope::Local).then(|| exclude_file(environment, client)).flatten();
        if let Some((file, line)) = &exclude {
            let file = at_home(environment, file.as_str());
            remarks.push(format!("git       leaves the settings alone: `{line}` in {file}"));
        }
        Ok(Self {
            client,
            scope: chosen,
            settings,
            command,
            before,
            after,
            beside,
            is_new,
            is_on_path,
            remarks,
            exclude,
        })
    }

    /// The settings file as a user calls it, with those for whom it is where that is not this user everywhere.
    fn place(&self, environment: &HostEnvironment) -> String {
        match self.settings.parent().filter(|_| !self.beside.is_empty()) {
            Some(folder) => {
                format!("{} files in {}", self.beside.len() + 1, place_of(environment, &folder, self.scope))
            }
            None => place_of(environment, &self.settings, self.scope),
        }
    }

    /// What is shown and told of it.
    fn change(&self) -> SettingsChange<'_> {
        SettingsChange {
            client: self.client,
            settings: &self.settings,
            before: &self.before,
            after: &self.after,
            beside: &self.beside,
            remarks: &self.remarks,
        }
    }

    fn show_and_write(
        &self,
        environment: &HostEnvironment,
        manner: Manner,
        output: OutputForm,
    ) -> Result<Written, CommandError> {
        self.change().show(manner, output);
        match manner.approval {
            Approval::Ask if self.change().is_one() => match confirm("Write this?") {
                Reply::Yes => self.write(environment, Approval::Given),
                Reply::No => Ok(Written::Declined),
                Reply::Nobody => Ok(Written::Unasked),
            },
            Approval::Ask | Approval::Given | Approval::DryRun => self.write(environment, manner.approval),
        }
    }

    /// Writes the file, unless that is only tried.
    fn write(&self, environment: &HostEnvironment, approval: Approval) -> Result<Written, CommandError> {
        let is_changing = self.change().is_one();
        if approval == Approval::DryRun {
            return Ok(if is_changing { Written::DryRun } else { Written::Unchanged });
        }
        // The list first: a session that sees the file change must know which command is meant to stand there.
        self.remember(environment)?;
        if self.before != self.after {
            replace_file(&self.settings, self.after.as_bytes())?;
        }
        for companion in &self.beside {
            replace_file(&companion.path, companion.after.as_bytes())?;
        }
        Ok(if is_changing { Written::Yes } else { Written::Unchanged })
    }

    fn remember(&self, environment: &HostEnvironment) -> Result<(), CommandError> {
        let mut installations = Installations::load(environment)?;
        let line = self.client.hooks.reviewing_line(&self.command);
        let mut entry = Installed::new(self.client, self.settings.clone(), line);
        let known = installations.0.iter().find(|known| known.settings == self.settings);
        entry.made = self.is_new || known.is_some_and(|known| known.made);
        entry.folders = known.map(|known| known.folders.clone()).unwrap_or_default();
        entry.folders.extend(missing_folders(&self.settings));
        let inserted = known.and_then(|known| known.inserted.as_ref());
        entry.inserted = if let Some(inserted) = inserted.filter(|inserted| inserted.is_whole_of(&self.after))
        {
            Some(inserted.clone())
        } else {
            let earlier = inserted.and_then(|inserted| inserted.taken_out_of(&self.before));
            let bare = earlier.map_or_else(|| bare(self.client, &self.settings, &self.before), Ok)?;
            Inserted::between(&bare, &self.after)
        };
        if !installations.0.contains(&entry) {
            installations.add(entry);
            installations.save(environment)?;
        }
        self.exclude.as_ref().map_or(Ok(()), |(file, line)| exclude_settings(file, line))
    }

    /// What the user is told at the end.
    fn next(&self) -> String {
        let next = match self.scope {
            SettingsScope::Team => {
                let trusted = self.client.trust.as_ref();
                let trusted = trusted
                    .map(|trust| format!(", once they have trusted the hooks with `{}`", trust.typed))
                    .unwrap_or_default();
                format!(
                    "commit it: from their next session on{trusted}, the tool calls of everyone who works here are reviewed, and refused \
                     where checkrein is not installed; docs/team.md says more"
                )
            }
            SettingsScope::Local | SettingsScope::User => {
                let (whose, title, doctor) = (whose(self.scope), self.client.title, doctor_for(self.client));
                match &self.client.trust {
                    None if is_untested(self.client) => format!(
                        "{whose}: from the next session of {title} on, every tool call is reviewed as its documentation says; nobody \
                         has tried it with {title} itself, and `{doctor}` says what is known"
                    ),
                    None => format!(
                        "{whose}: from the next session of {title} on, every tool call is reviewed; `{doctor}` proves it"
                    ),
                    Some(trust) => format!(
                        "{whose}: every tool call of {title} is reviewed once you have trusted the hooks with `{}`; `{doctor}` \
                         proves it",
                        trust.typed
                    ),
                }
            }
        };
        match self.client.next_step {
            Some(step) => format!("{step}\n{next}"),
            None => next,
        }
    }
}

/// Returns a file or a folder as a user calls it, with those for whom it is where that is not this user everywhere.
pub(super) fn place_of(environment: &HostEnvironment, path: &AbsolutePath, scope: SettingsScope) -> String {
    let place = shown_place(environment, path);
    match scope {
        SettingsScope::Team => format!("{place} (this project, for everyone)"),
        SettingsScope::Local => format!("{place} (this project, for you only)"),
        SettingsScope::User => place,
    }
}

/// Returns a file as a user calls it: from the project on, or from the home directory on.
pub(super) fn shown_place(environment: &HostEnvironment, file: &AbsolutePath) -> String {
    let workspace = find_workspace(&environment.cwd);
    match file.as_str().strip_prefix(workspace.as_str()).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if workspace != environment.home => rest.to_owned(),
        _ => at_home(environment, file.as_str()),
    }
}

/// Returns for which projects settings of a scope are.
pub(super) fn whose(scope: SettingsScope) -> &'static str {
    match scope {
        SettingsScope::Team => "for this project, for everyone",
        SettingsScope::Local => "for this project, for you only",
        SettingsScope::User => "for all your projects",
    }
}

/// The folders of a file that are not there yet.
fn missing_folders(file: &AbsolutePath) -> Vec<AbsolutePath> {
    let mut missing = Vec::new();
    let mut next = file.parent();
    while let Some(folder) = next.filter(|folder| fs::symlink_metadata(folder.as_str()).is_err()) {
        next = folder.parent();
        missing.push(folder);
    }
    missing
}

/// Settings without anything of ours.
pub(super) fn bare(
    client: &ClientAdapter,
    path: &AbsolutePath,
    settings: &str,
) -> Result<String, CommandError> {
    let in_file = |error| CommandError::settings(path, error);
    status_line::unregistered(client, &client.hooks.unregister(settings).map_err(in_file)?)
}

/// The command that proves the protection of a client.
fn doctor_for(client: &ClientAdapter) -> String {
    of_client("checkrein doctor", client)
}

/// The command that registers the hooks of a client.
pub(super) fn init_for(client: &ClientAdapter) -> String {
    of_client("checkrein init", client)
}

fn of_client(command: &str, client: &ClientAdapter) -> String {
    if client.client == FIRST.client {
        command.to_owned()
    } else {
        format!("{command} --client {}", client.client.name())
    }
}

pub(super) fn no_such_scope(client: &ClientAdapter) -> CommandError {
    let scopes = client.places.settings.iter().map(|(scope, _)| match scope {
        SettingsScope::Team => "`--team`",
        SettingsScope::Local => "`--local`",
        SettingsScope::User => "`--user`",
    });
    let scopes: Vec<&str> = scopes.collect();
    CommandError::user(
        format!("{} has no settings of that kind", client.title),
        format!("it has those of {}", scopes.join(" and ")),
    )
}

/// The line that keeps git away from the local settings of a client.
pub(super) fn excluded(client: &ClientAdapter) -> Option<String> {
    match client.places.of_scope(SettingsScope::Local)? {
        ClientPath::Project(path) => Some(format!("/{path}")),
        ClientPath::Folder(_) | ClientPath::Machine(_) => None,
    }
}

/// The file that keeps git away from local settings and the line that does, when that is to be written; `None` outside a repository and where
/// it says so already.
fn exclude_file(environment: &HostEnvironment, client: &ClientAdapter) -> Option<(AbsolutePath, String)> {
    let excluded = excluded(client)?;
    let folder = shared_git_directory(&find_workspace(&environment.cwd))?;
    let file = folder.join("info/exclude");
    let text = read(&file).ok()?;
    (!text.lines().any(|line| line.trim() == excluded)).then_some((file, excluded))
}

fn exclude_settings(file: &AbsolutePath, excluded: &str) -> Result<(), CommandError> {
    let mut text = read(file)?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in [EXCLUDED_BY, excluded] {
        text.push_str(line);
        text.push('\n');
    }
    replace_file(file, text.as_bytes())
}

/// The settings file of a scope; `None` where the client has no such scope.
pub fn settings_file(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    scope: SettingsScope,
) -> Option<AbsolutePath> {
    let place = client.places.of_scope(scope)?;
    Some(place.at(&find_workspace(&environment.cwd), &environment.folder_of(client)))
}

/// The text of a settings file; empty when it is not there.
pub fn read(path: &AbsolutePath) -> Result<String, CommandError> {
    match checkrein_files::read_text(path.as_str(), checkrein_files::SMALL) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CommandError::file("read", path, &error)),
    }
}

/// The command that the client will run: one that looks for the program where that finds this one, else one with its path.
fn hook_command(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    given: Option<PathBuf>,
) -> Result<HookCommand, CommandError> {
    let program = hook_program(environment, given)?;
    let first = looked_up(environment).find(is_executable);
    let finds = first.and_then(|path| fs::canonicalize(path.as_str()).ok());
    let command = if finds.as_deref() == Some(Path::new(&program)) {
        client.hooks.looked_up()
    } else {
        client.hooks.command(&program)
    };
    Ok(client.hooks.waiting(command, waits(environment)))
}

/// How long a call is to wait for an answer of the user, in seconds.
pub(super) fn waits(environment: &HostEnvironment) -> u64 {
    let context = Context::open(environment.clone(), &environment.cwd);
    let approvals = context.policy().config().approvals;
    match approvals.wait {
        ApprovalWait::Never => 0,
        ApprovalWait::Always | ApprovalWait::Lost | ApprovalWait::Unattended => approvals.wait_seconds,
    }
}

pub(super) fn is_executable(path: &AbsolutePath) -> bool {
    fs::metadata(path.as_str()).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// The program that the client will start: the one given, the small hook beside this program, or this program's own hook command.
fn hook_program(environment: &HostEnvironment, given: Option<PathBuf>) -> Result<String, CommandError> {
    let beside = environment
        .program
        .as_ref()
        .and_then(|path| path.parent())
        .map(|folder| folder.join("checkrein-hook"));
    let Some(path) = given.or(beside) else {
        return Err(CommandError::user("this program does not know where it lies", "give `--hook PATH`"));
    };
    let canonical = fs::canonicalize(&path).map_err(|error| {
        let mut failure = CommandError::file("find the hook program", path.display(), &error);
        failure.hint =
            Some("build and install it with `cargo xtask install`, or give `--hook PATH`".to_owned());
        failure
    })?;
    canonical.to_str().map(str::to_owned).ok_or_else(|| {
        CommandError::user(
            format!("`{}` is not plain text", canonical.display()),
            "move it to another folder",
        )
    })
}

pub(super) fn find_on_path(environment: &HostEnvironment, name: &str) -> bool {
    let path = environment.variables.get("PATH").map(String::as_str).unwrap_or_default();
    path.split(':')
        .filter(|folder| !folder.is_empty())
        .any(|folder| PathBuf::from(folder).join(name).is_file())
}
