//! `checkrein init` and `checkrein uninstall`: registering the hooks of a client, and taking them back.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use checkrein_clients::claude::{HookCommand, Registration, register, registration, unregister};
use checkrein_effects::AbsolutePath;
use checkrein_world::find_workspace;
use serde_json::json;
use similar::TextDiff;

use super::{Exit, Output, for_people_only, line};
use crate::error::CommandError;
use crate::installation::{Installations, Installed};
use crate::settings::replace_file;
use crate::surroundings::Surroundings;
use crate::terminal::{bold, confirm, dim, log, print};

/// Which settings file of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `.claude/settings.json` of the project: for everyone who works in it on this machine.
    Project,
    /// `.claude/settings.local.json`: for this person in this project.
    Local,
    /// `settings.json` of the person: for every project.
    User,
}

/// What to do with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Ask before writing.
    Ask,
    /// Write without asking.
    Given,
    /// Show only.
    DryRun,
}

/// Registers the hooks.
pub fn init(
    surroundings: &Surroundings,
    scope: Scope,
    approval: Approval,
    program: Option<PathBuf>,
    output: Output,
) -> Result<Exit, CommandError> {
    let settings = settings_file(surroundings, scope);
    let program = hook_program(surroundings, program)?;
    let command = HookCommand::new(&program);
    let before = read(&settings)?;
    let after = register(&before, &command)?;
    let found = if find_on_path(surroundings, "claude") {
        "found"
    } else {
        "not found on PATH; the hooks wait for it"
    };
    let remarks = [
        format!("client    Claude Code ({found})"),
        format!("settings  {settings}"),
        format!("hook      {}", command.as_str()),
    ];
    let written = apply(&settings, &before, &after, approval, output, &remarks)?;
    if written == Written::Yes || before == after {
        let mut installations = Installations::load(surroundings)?;
        let entry = Installed {
            client: "claude".to_owned(),
            settings: settings.clone(),
            command: command.as_str().to_owned(),
        };
        if approval != Approval::DryRun && !installations.0.contains(&entry) {
            installations.add(entry);
            installations.save(surroundings)?;
        }
    }
    finish(
        written,
        &settings,
        output,
        "from the next session of Claude Code on, every tool call is reviewed; `checkrein doctor` proves it",
    )
}

/// Takes the hooks back.
pub fn uninstall(
    surroundings: &Surroundings,
    scope: Scope,
    approval: Approval,
    output: Output,
) -> Result<Exit, CommandError> {
    for_people_only(surroundings, "uninstall")?;
    let settings = settings_file(surroundings, scope);
    let before = read(&settings)?;
    let after = unregister(&before)?;
    let written = apply(&settings, &before, &after, approval, output, &[format!("settings  {settings}")])?;
    if written == Written::Yes || (before == after && approval != Approval::DryRun) {
        let mut installations = Installations::load(surroundings)?;
        installations.0.retain(|known| known.settings != settings);
        installations.save(surroundings)?;
    }
    finish(written, &settings, output, "the hooks are gone; the records stay where they are")
}

/// The settings file of a scope.
pub fn settings_file(surroundings: &Surroundings, scope: Scope) -> AbsolutePath {
    let workspace = find_workspace(&surroundings.cwd);
    let user = surroundings.variables.get("CLAUDE_CONFIG_DIR").and_then(|text| AbsolutePath::new(text));
    match scope {
        Scope::Project => workspace.join(".claude/settings.json"),
        Scope::Local => workspace.join(".claude/settings.local.json"),
        Scope::User => user.unwrap_or_else(|| surroundings.home.join(".claude")).join("settings.json"),
    }
}

/// The text of a settings file; empty when it is not there.
pub fn read(path: &AbsolutePath) -> Result<String, CommandError> {
    match fs::read_to_string(path.as_str()) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CommandError::file("read", path, &error)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    Unchanged,
    DryRun,
    Declined,
}

fn apply(
    settings: &AbsolutePath,
    before: &str,
    after: &str,
    approval: Approval,
    output: Output,
    remarks: &[String],
) -> Result<Written, CommandError> {
    if before == after {
        return Ok(Written::Unchanged);
    }
    if output == Output::Text {
        remarks.iter().for_each(|remark| print(remark));
        print(&difference(settings, before, after));
    }
    match approval {
        Approval::DryRun => return Ok(Written::DryRun),
        Approval::Ask if !confirm("Write this?") => return Ok(Written::Declined),
        Approval::Ask | Approval::Given => {}
    }
    // What was written must be what the client will read: it drops a broken file without a word, and the guard with it.
    registration(after)?;
    replace_file(settings, after.as_bytes())?;
    Ok(Written::Yes)
}

fn finish(
    written: Written,
    settings: &AbsolutePath,
    output: Output,
    next: &str,
) -> Result<Exit, CommandError> {
    let (word, exit) = match written {
        Written::Yes => ("written", Exit::Done),
        Written::Unchanged => ("unchanged", Exit::Done),
        Written::DryRun => ("dry_run", Exit::Done),
        Written::Declined => ("declined", Exit::Failed),
    };
    match (output, written) {
        (Output::Json, _) => print(&line(&json!({ "settings": settings, "result": word }))?),
        (Output::Text, Written::Yes) => print(&format!("{} {settings}\n{next}", bold("written"))),
        (Output::Text, Written::Unchanged) => {
            print(&format!("{settings} is already as it should be; nothing changed"));
        }
        (Output::Text, Written::DryRun) => print(&dim("dry run: nothing was written")),
        (Output::Text, Written::Declined) => log("nothing was written; `--yes` writes without asking"),
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

/// The program that the client will start: the one given, the small hook beside this program, or this program's own hook command.
fn hook_program(surroundings: &Surroundings, given: Option<PathBuf>) -> Result<String, CommandError> {
    let beside = surroundings
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

fn find_on_path(surroundings: &Surroundings, name: &str) -> bool {
    let path = surroundings.variables.get("PATH").map(String::as_str).unwrap_or_default();
    path.split(':')
        .filter(|folder| !folder.is_empty())
        .any(|folder| PathBuf::from(folder).join(name).is_file())
}

/// Whether a settings file holds the hooks, for `doctor`.
pub fn registered(settings: &AbsolutePath) -> Result<Registration, CommandError> {
    Ok(registration(&read(settings)?)?)
}
