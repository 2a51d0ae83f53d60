//! `checkrein init` and `checkrein uninstall`: registering the hooks of a client, and taking them back.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::claude::{HookCommand, Registration, register, registration, unregister};
use checkrein_effects::AbsolutePath;
use checkrein_world::{find_workspace, shared_git_directory};
use serde_json::json;
use similar::TextDiff;

use super::{Exit, Output, for_people_only, line};
use crate::terminal::{bold, confirm, dim, log, print};
use checkrein_engine::config_files::replace_file;
use checkrein_engine::environment::Surroundings;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::{Installations, Installed, looked_up};

/// Which settings file of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `.claude/settings.json` of the project: for everyone who works in it, on every machine.
    Team,
    /// `.claude/settings.local.json`: for this person in this project.
    Local,
    /// `settings.json` of the person: for every project.
    User,
}

/// What `init` writes above its line in `.git/info/exclude`.
const EXCLUDED_BY: &str = "# by `checkrein init`: no `git clean` or `git stash` takes the hooks away";

/// The line that keeps git away from the local settings.
const EXCLUDED: &str = "/.claude/settings.local.json";

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

/// Registers the hooks. Without a scope: in the file of the project that holds them already, else in the local one.
pub fn init(
    surroundings: &Surroundings,
    scope: Option<Scope>,
    approval: Approval,
    program: Option<PathBuf>,
    output: Output,
) -> Result<Exit, CommandError> {
    let team = settings_file(surroundings, Scope::Team);
    let is_registered = |path| -> Result<bool, CommandError> {
        Ok(registration(&read(path)?).is_ok_and(|found| found != Registration::Absent))
    };
    let chosen = match scope {
        Some(scope) => scope,
        None if is_registered(&team)? => Scope::Team,
        None => Scope::Local,
    };
    let settings = settings_file(surroundings, chosen);
    let command = hook_command(surroundings, program)?;
    if scope == Some(Scope::Team)
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
    let after = register(&before, &command)?;
    let found = if find_on_path(surroundings, "claude") {
        "found"
    } else {
        "not found on PATH; the hooks wait for it"
    };
    let mut remarks = vec![
        format!("client    Claude Code ({found})"),
        format!("settings  {settings}"),
        format!("hook      {command}"),
    ];
    let exclude = (chosen == Scope::Local).then(|| exclude_file(surroundings)).flatten();
    if let Some(file) = &exclude {
        remarks.push(format!("git       leaves the settings alone: a line in {file}"));
    }
    // The list first: a session that sees the file change must know which command is meant to stand there.
    let remember = || -> Result<(), CommandError> {
        let mut installations = Installations::load(surroundings)?;
        let entry = Installed::claude(settings.clone(), command.text("PreToolUse"));
        if !installations.0.contains(&entry) {
            installations.add(entry);
            installations.save(surroundings)?;
        }
        exclude.as_ref().map_or(Ok(()), exclude_settings)
    };
    let written = apply(&settings, &before, &after, approval, output, &remarks, &remember)?;
    if written == Written::Unchanged && approval != Approval::DryRun {
        remember()?;
    }
    let next = match chosen {
        Scope::Team => {
            "commit it: from their next session on, the tool calls of everyone who works here are reviewed, and refused \
             where checkrein is not installed; docs/team.md says more"
        }
        Scope::Local | Scope::User => {
            "from the next session of Claude Code on, every tool call is reviewed; `checkrein doctor` proves it"
        }
    };
    finish(written, &settings, output, next)
}

/// Takes the hooks back. Without a scope: from both files of the project.
pub fn uninstall(
    surroundings: &Surroundings,
    scope: Option<Scope>,
    approval: Approval,
    output: Output,
) -> Result<Exit, CommandError> {
    for_people_only(surroundings, "uninstall")?;
    let both = vec![Scope::Local, Scope::Team];
    let scopes = scope.map_or_else(
        || {
            let holds = |scope: &Scope| {
                read(&settings_file(surroundings, *scope)).is_ok_and(|text| text.contains("checkrein"))
            };
            let found: Vec<Scope> = both.iter().copied().filter(holds).collect();
            if found.is_empty() { both.clone() } else { found }
        },
        |scope| vec![scope],
    );
    let mut exit = Exit::Done;
    for scope in scopes {
        let settings = settings_file(surroundings, scope);
        let before = read(&settings)?;
        let after = unregister(&before)?;
        // The list first: a running session must not take the change of the file for tampering.
        let forget = || -> Result<(), CommandError> {
            let mut installations = Installations::load(surroundings)?;
            installations.0.retain(|known| known.settings != settings);
            installations.save(surroundings)
        };
        let remarks = [format!("settings  {settings}")];
        let written = apply(&settings, &before, &after, approval, output, &remarks, &forget)?;
        if written == Written::Unchanged && approval != Approval::DryRun {
            forget()?;
        }
        if written == Written::Yes && scope == Scope::Local {
            include_settings(surroundings)?;
        }
        let done = finish(written, &settings, output, "the hooks are gone; the records stay where they are")?;
        if done != Exit::Done {
            exit = done;
        }
    }
    Ok(exit)
}

/// The file that keeps git away from local settings, when that is to be written; `None` outside a repository and where it says so already.
fn exclude_file(surroundings: &Surroundings) -> Option<AbsolutePath> {
    let folder = shared_git_directory(&find_workspace(&surroundings.cwd))?;
    let file = folder.join("info/exclude");
    let text = read(&file).ok()?;
    (!text.lines().any(|line| line.trim() == EXCLUDED)).then_some(file)
}

fn exclude_settings(file: &AbsolutePath) -> Result<(), CommandError> {
    let mut text = read(file)?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in [EXCLUDED_BY, EXCLUDED] {
        text.push_str(line);
        text.push('\n');
    }
    replace_file(file, text.as_bytes())
}

/// Takes back what [`exclude_settings`] wrote.
fn include_settings(surroundings: &Surroundings) -> Result<(), CommandError> {
    let Some(folder) = shared_git_directory(&find_workspace(&surroundings.cwd)) else { return Ok(()) };
    let file = folder.join("info/exclude");
    let text = read(&file)?;
    let without = text.replace(&format!("{EXCLUDED_BY}\n{EXCLUDED}\n"), "");
    if without == text { Ok(()) } else { replace_file(&file, without.as_bytes()) }
}

/// The settings file of a scope.
pub fn settings_file(surroundings: &Surroundings, scope: Scope) -> AbsolutePath {
    let workspace = find_workspace(&surroundings.cwd);
    let user = surroundings.variables.get("CLAUDE_CONFIG_DIR").and_then(|text| AbsolutePath::new(text));
    match scope {
        Scope::Team => workspace.join(".claude/settings.json"),
        Scope::Local => workspace.join(".claude/settings.local.json"),
        Scope::User => user.unwrap_or_else(|| surroundings.home.join(".claude")).join("settings.json"),
    }
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
    first: &dyn Fn() -> Result<(), CommandError>,
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
    first()?;
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

/// The command that the client will run: one that looks for the program where that finds this one, else one with its path.
fn hook_command(surroundings: &Surroundings, given: Option<PathBuf>) -> Result<HookCommand, CommandError> {
    let program = hook_program(surroundings, given)?;
    let first = looked_up(surroundings).find(is_executable);
    let finds = first.and_then(|path| fs::canonicalize(path.as_str()).ok());
    Ok(if finds.as_deref() == Some(Path::new(&program)) {
        HookCommand::looked_up()
    } else {
        HookCommand::new(&program)
    })
}

fn is_executable(path: &AbsolutePath) -> bool {
    fs::metadata(path.as_str()).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
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
