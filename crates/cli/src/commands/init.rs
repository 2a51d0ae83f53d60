//! `checkrein init` and `checkrein uninstall`: registering the hooks of a client, and taking them back.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::{
    CLIENTS, ClientAdapter, ClientPath, FIRST, HookCommand, Registration, SettingsScope,
};
use checkrein_protocol::AbsolutePath;
use checkrein_world::{find_workspace, shared_git_directory};
use serde_json::Value as Json;
use similar::TextDiff;

use super::{ExitStatus, OutputForm, Switch, for_people_only, status_line};
use crate::api;
use crate::api::installation::{self, RegistrationResult};
use crate::terminal::{Reply, bold, confirm, counted, dim, log, print, wrapped};
use checkrein_engine::Context;
use checkrein_engine::config_files::replace_file;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::{Installations, Installed, looked_up};
use checkrein_policy::ApprovalWait;

/// What `init` writes above its line in `.git/info/exclude`.
const EXCLUDED_BY: &str = "# by `checkrein init`: no `git clean` or `git stash` takes the hooks away";

/// What to do with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Say in a few lines what is written, and ask before writing.
    Ask,
    /// Show every line that changes, and ask before writing.
    AskInFull,
    /// Write without asking.
    Given,
    /// Show only.
    DryRun,
}

/// The word for all clients.
pub const ALL: &str = "all";

/// The clients that a name on the command line means: one, or all that are found on this machine.
pub fn clients(
    environment: &HostEnvironment,
    name: &str,
) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    let is_here = |client: &&ClientAdapter| {
        client.programs.iter().any(|name| find_on_path(environment, name))
            || fs::metadata(environment.folder_of(client).as_str()).is_ok()
    };
    let found: Vec<&ClientAdapter> = match name {
        ALL => CLIENTS.iter().filter(is_here).collect(),
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

/// Registers the hooks of a client. Without a scope: in the file of the project that holds them already, else in that of this user.
pub fn init(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    approval: Approval,
    (program, status_line): (Option<PathBuf>, Switch),
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let is_registered = |path: &AbsolutePath| -> Result<bool, CommandError> {
        Ok(client.hooks.registration(&read(path)?).is_ok_and(|found| found != Registration::Absent))
    };
    let team = settings_file(environment, client, SettingsScope::Team);
    let chosen = match (scope, team) {
        (Some(scope), _) => scope,
        (None, Some(team)) if is_registered(&team)? => SettingsScope::Team,
        (None, _) => client.places.own_scope(),
    };
    let settings = settings_file(environment, client, chosen).ok_or_else(|| no_such_scope(client))?;
    let command = hook_command(environment, client, program)?;
    if scope == Some(SettingsScope::Team)
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
    let (after, about_line) = match status_line {
        Switch::Off => (client.hooks.register(&before, &command)?, None),
        Switch::On => {
            let after = client.hooks.register(&before, &command)?;
            let (after, remark) = status_line::registered(environment, client, &after, &command)?;
            (after, Some(remark))
        }
    };
    // What is written must be what the client will read: it drops a broken file without a word, and the guard with it.
    client.hooks.registration(&after)?;
    let found = if client.programs.iter().any(|name| find_on_path(environment, name)) {
        "found"
    } else {
        "not found on PATH; the hooks wait for it"
    };
    let mut remarks = vec![
        format!("client    {} ({found})", client.title),
        format!("settings  {settings}"),
        format!("hook      {command}"),
    ];
    remarks.extend(about_line);
    let is_new = std::fs::symlink_metadata(settings.as_str()).is_err();
    let exclude = (chosen == SettingsScope::Local).then(|| exclude_file(environment, client)).flatten();
    if let Some((file, _)) = &exclude {
        remarks.push(format!("git       leaves the settings alone: a line in {file}"));
    }
    // The list first: a session that sees the file change must know which command is meant to stand there.
    let remember = || -> Result<(), CommandError> {
        let mut installations = Installations::load(environment)?;
        let mut entry = Installed::new(client, settings.clone(), client.hooks.reviewing_line(&command));
        entry.made = is_new || installations.0.iter().any(|known| known.settings == settings && known.made);
        if !installations.0.contains(&entry) {
            installations.add(entry);
            installations.save(environment)?;
        }
        exclude.as_ref().map_or(Ok(()), |(file, line)| exclude_settings(file, line))
    };
    let written = apply(&settings, &before, &after, approval, output, &remarks, &remember)?;
    if written == Written::Unchanged && approval != Approval::DryRun {
        remember()?;
    }
    if matches!(written, Written::Yes | Written::Unchanged) && approval != Approval::DryRun {
        for companion in companions(client, &settings) {
            replace_file(&companion, client.hooks.companion(&command).as_bytes())?;
        }
    }
    let next = match chosen {
        SettingsScope::Team => "commit it: from their next session on, the tool calls of everyone who works here are reviewed, and refused \
             where checkrein is not installed; docs/team.md says more"
            .to_owned(),
        SettingsScope::Local | SettingsScope::User => format!(
            "from the next session of {} on, every tool call is reviewed; `{}` proves it",
            client.title,
            doctor_for(client)
        ),
    };
    let next = match client.next_step {
        Some(step) => format!("{step}\n{next}"),
        None => next,
    };
    finish(written, &settings, output, &next)
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

fn no_such_scope(client: &ClientAdapter) -> CommandError {
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

/// Takes the hooks of a client back. Without a scope: from the files that `init` chooses without one.
pub fn uninstall(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    approval: Approval,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "uninstall")?;
    let scopes = scopes_to_clear(environment, client, scope);
    let mut exit = ExitStatus::Done;
    for scope in scopes {
        let settings = settings_file(environment, client, scope).ok_or_else(|| no_such_scope(client))?;
        let before = read(&settings)?;
        let after = status_line::unregistered(client, &client.hooks.unregister(&before)?)?;
        client.hooks.registration(&after)?;
        let was_made =
            Installations::load(environment)?.0.iter().any(|known| known.settings == settings && known.made);
        // The list first: a running session must not take the change of the file for tampering.
        let forget = || -> Result<(), CommandError> {
            let mut installations = Installations::load(environment)?;
            installations.0.retain(|known| known.settings != settings);
            installations.save(environment)
        };
        let remarks = [format!("settings  {settings}")];
        let written = apply(&settings, &before, &after, approval, output, &remarks, &forget)?;
        if written == Written::Unchanged && approval != Approval::DryRun {
            forget()?;
        }
        if written == Written::Yes {
            for companion in companions(client, &settings) {
                if read(&companion)?.contains("checkrein-hook") {
                    remove_made(&companion)?;
                }
            }
        }
        if written == Written::Yes && was_made && is_empty_object(&after) {
            remove_made(&settings)?;
        }
        if written == Written::Yes && scope == SettingsScope::Local {
            include_settings(environment, client)?;
        }
        let done = finish(written, &settings, output, "the hooks are gone; the records stay where they are")?;
        if done != ExitStatus::Done {
            exit = done;
        }
    }
    Ok(exit)
}

/// The settings files out of which [`uninstall`] takes the hooks of a client.
pub(super) fn settings_to_clear(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
) -> Vec<AbsolutePath> {
    let scopes = scopes_to_clear(environment, client, scope).into_iter();
    scopes.filter_map(|scope| settings_file(environment, client, scope)).collect()
}

/// The scope that is wanted; without one those that hold hooks, of the two that `init` chooses from.
fn scopes_to_clear(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
) -> Vec<SettingsScope> {
    if let Some(scope) = scope {
        return vec![scope];
    }
    let both = vec![client.places.own_scope(), SettingsScope::Team];
    let holds = |scope: &SettingsScope| {
        let file = settings_file(environment, client, *scope);
        file.is_some_and(|file| read(&file).is_ok_and(|text| text.contains("checkrein")))
    };
    let found: Vec<SettingsScope> = both.iter().copied().filter(holds).collect();
    if found.is_empty() { both } else { found }
}

/// The files beside a settings file that call the hook for further events.
fn companions(client: &ClientAdapter, settings: &AbsolutePath) -> Vec<AbsolutePath> {
    let Some(folder) = settings.parent() else { return Vec::new() };
    client.places.companions.iter().map(|name| folder.join(name)).collect()
}

/// Whether settings say nothing.
fn is_empty_object(text: &str) -> bool {
    text.is_empty()
        || serde_json::from_str::<Json>(text)
            .is_ok_and(|json| json.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Removes a settings file that was made by `init`, and its folder when nothing else is in there.
fn remove_made(settings: &AbsolutePath) -> Result<(), CommandError> {
    std::fs::remove_file(settings.as_str())
        .map_err(|error| CommandError::file("remove", settings.clone(), &error))?;
    if let Some(folder) = settings.parent() {
        // One with something in it stays.
        drop(std::fs::remove_dir(folder.as_str()));
    }
    Ok(())
}

/// The line that keeps git away from the local settings of a client.
fn excluded(client: &ClientAdapter) -> Option<String> {
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

/// Takes back what [`exclude_settings`] wrote.
fn include_settings(environment: &HostEnvironment, client: &ClientAdapter) -> Result<(), CommandError> {
    let Some(excluded) = excluded(client) else { return Ok(()) };
    let Some(folder) = shared_git_directory(&find_workspace(&environment.cwd)) else { return Ok(()) };
    let file = folder.join("info/exclude");
    let text = read(&file)?;
    let without = text.replace(&format!("{EXCLUDED_BY}\n{excluded}\n"), "");
    if without == text { Ok(()) } else { replace_file(&file, without.as_bytes()) }
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    Unchanged,
    DryRun,
    Declined,
    Unasked,
}

/// Shows what changes in a file, asks where that is wanted, and writes it. `first` comes right before.
pub(super) fn apply(
    settings: &AbsolutePath,
    before: &str,
    after: &str,
    approval: Approval,
    output: OutputForm,
    remarks: &[String],
    first: &dyn Fn() -> Result<(), CommandError>,
) -> Result<Written, CommandError> {
    if before == after {
        return Ok(Written::Unchanged);
    }
    if output == OutputForm::Text {
        remarks.iter().for_each(|remark| print(&wrapped(remark)));
        let difference = difference(settings, before, after);
        match approval {
            Approval::AskInFull | Approval::DryRun => print(&folded(&difference)),
            // Nobody reads eighty lines that are all alike before they agree.
            Approval::Ask | Approval::Given => {
                let lines = |sign: char| {
                    let is_meant = |line: &&str| {
                        line.starts_with(sign) && !line.starts_with(&format!("{sign}{sign}{sign}"))
                    };
                    let count = difference.lines().filter(is_meant).count();
                    counted(u64::try_from(count).unwrap_or(u64::MAX), "line")
                };
                print(&format!(
                    "change    adds {}, removes {}; `--dry-run` shows them",
                    lines('+'),
                    lines('-')
                ));
            }
        }
    }
    match approval {
        Approval::DryRun => return Ok(Written::DryRun),
        Approval::Ask | Approval::AskInFull => match confirm("Write this?") {
            Reply::Yes => {}
            Reply::No => return Ok(Written::Declined),
            Reply::Nobody => return Ok(Written::Unasked),
        },
        Approval::Given => {}
    }
    first()?;
    replace_file(settings, after.as_bytes())?;
    Ok(Written::Yes)
}

/// Tells what became of a file.
pub(super) fn finish(
    written: Written,
    settings: &AbsolutePath,
    output: OutputForm,
    next: &str,
) -> Result<ExitStatus, CommandError> {
    let (result, exit) = match written {
        Written::Yes => (RegistrationResult::Written, ExitStatus::Done),
        Written::Unchanged => (RegistrationResult::Unchanged, ExitStatus::Done),
        Written::DryRun => (RegistrationResult::DryRun, ExitStatus::Done),
        Written::Declined | Written::Unasked => (RegistrationResult::Declined, ExitStatus::Failed),
    };
    match (output, written) {
        (OutputForm::Json, _) => {
            print(&api::line(&installation::RegistrationAnswer { settings: settings.to_string(), result })?);
        }
        (OutputForm::Text, Written::Yes) => {
            print(&wrapped(&format!("{} {settings}\n{next}", bold("written"))));
        }
        (OutputForm::Text, Written::Unchanged) => {
            print(&format!("{settings} is already as it should be; nothing changed"));
        }
        (OutputForm::Text, Written::DryRun) => print(&dim("dry run: nothing was written")),
        (OutputForm::Text, Written::Declined) => log("nothing was written"),
        (OutputForm::Text, Written::Unasked) => {
            log("nothing was written: there is no terminal to ask at; `--yes` writes without asking");
        }
    }
    Ok(exit)
}

fn difference(path: &AbsolutePath, before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(2)
        .header(&format!("{path} (now)"), &format!("{path} (then)"))
        .to_string()
}

/// A difference in which a list that is added or removed with the lines of an earlier one only names that: the hooks of most events are the same.
fn folded(difference: &str) -> String {
    let mut known: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
    let mut shown = String::new();
    let lines: Vec<&str> = difference.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at + 1..).unwrap_or_default();
        let stanza = opened(line).and_then(|(margin, name)| {
            let ends = |line: &&str| line.strip_prefix(margin).is_some_and(|end| matches!(end, "]" | "],"));
            let length = rest.iter().position(ends)?;
            let body = rest.get(..length)?;
            let is_whole = body.iter().all(|one| one.get(..1) == line.get(..1));
            is_whole.then_some((margin, name, body))
        });
        if let Some((margin, name, body)) = stanza {
            let first = *known.entry(body.to_vec()).or_insert(name);
            if first != name {
                shown.extend([margin, name, ": as ", first, "\n"]);
                at += body.len() + 2;
                continue;
            }
        }
        shown.push_str(line);
        shown.push('\n');
        at += 1;
    }
    shown
}

/// The margin, with its sign, and the name of a list that begins on a line of its own: `+  "name": [`, or with `-`.
fn opened(line: &str) -> Option<(&str, &str)> {
    let name = line.strip_prefix(['+', '-'])?.trim_start().strip_suffix(": [")?;
    let margin = line.get(..line.find('"')?)?;
    name.starts_with('"').then_some((margin, name))
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
