//! `checkrein push-hook`: gates before a push, as the hook `pre-push` of git. It looks at exactly the commits that are pushed.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_files::Forced;
use checkrein_gates::Gate;
use checkrein_worktree::{ChangeBase, GitRepository, PushedRef, hooks_folder, newest_at_remote, read_pushed};

use super::gate::{GateInput, GateRequest, judge_commits, report_text};
use super::worktree::{repository, workspace};
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::pushes::{PushAnswer, PushedAnswer};
use crate::terminal::{plain, plain_name, print, print_exact};

/// The name of the hook.
const HOOK: &str = "pre-push";
/// What a hook of ours says in its second line.
const MARK: &str = "# Gates before a push. `checkrein push-hook remove` takes this file away.";
/// The most that git says about one push that is read, in bytes (ours): some thousand names.
const LONGEST: u64 = 1024 * 1024;

/// What git tells the hook.
#[derive(Debug)]
pub struct PushRequest {
    /// The gates.
    pub gates: Vec<Gate>,
    /// The name of the remote, or its address where it has none.
    pub remote: String,
}

/// Writes the hook of the repository around this directory.
pub fn install(
    environment: &HostEnvironment,
    gates: &[Gate],
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "push-hook install")?;
    let (_, repository) = here(environment)?;
    let path = place(&repository)?;
    if let Some(text) = standing(&path)?
        && !is_ours(&text)
    {
        return Err(CommandError::user(
            format!("`{}` is there already, and not ours", plain(&path.to_string_lossy())),
            format!("add this line to it: {}", line(environment, gates)?),
        ));
    }
    let text = format!("#!/bin/sh\n{MARK}\nexec {}\n", line(environment, gates)?);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| CommandError::file("create", folder.display(), &error))?;
    }
    checkrein_files::replace(&path, text.as_bytes(), 0o755, Forced::Content)
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
        .map_err(|error| CommandError::file("write", path.display(), &error))?;
    told(output, &path, "installed", "gates look at what is pushed from now on")
}

/// Takes the hook away, where it is ours.
pub fn remove(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "push-hook remove")?;
    let (_, repository) = here(environment)?;
    let path = place(&repository)?;
    match standing(&path)? {
        Some(text) if is_ours(&text) => {
            fs::remove_file(&path).map_err(|error| CommandError::file("remove", path.display(), &error))?;
            told(output, &path, "removed", "nothing looks at what is pushed")
        }
        Some(_) => Err(CommandError::user(
            format!("`{}` is not ours", plain(&path.to_string_lossy())),
            "take the line with `push-hook run` out of it yourself",
        )),
        None => told(output, &path, "absent", "there was no hook"),
    }
}

/// Looks at what git is about to push.
pub fn run(
    environment: &HostEnvironment,
    wanted: &PushRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let (workspace, repository) = here(environment)?;
    let mut text = String::new();
    std::io::stdin()
        .take(LONGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| CommandError::file("read", "standard input", &error))?;
    let hint = "this is a hook of git: `git push` starts it and says on standard input what it pushes";
    if text.len() as u64 > LONGEST {
        return Err(CommandError::user("more names are pushed than are looked at", hint));
    }
    let Some(pushed) = text.lines().map(read_pushed).collect::<Option<Vec<PushedRef>>>() else {
        return Err(CommandError::user("standard input does not say what is pushed", hint));
    };
    let mut answer = PushAnswer { remote: wanted.remote.clone(), passed: true, pushed: Vec::new() };
    for one in &pushed {
        let looked = look(environment, (&workspace, &repository), wanted, one)?;
        answer.passed &= looked.passed;
        if output == OutputForm::Text {
            print(&in_words(&looked));
        }
        answer.pushed.push(looked);
    }
    if output == OutputForm::Json {
        print_exact(&crate::api::pretty(&answer)?);
    }
    Ok(if answer.passed { ExitStatus::Done } else { ExitStatus::Blocked })
}

/// Has every gate look at one of the names that are pushed.
fn look(
    environment: &HostEnvironment,
    (workspace, repository): (&Path, &GitRepository),
    wanted: &PushRequest,
    pushed: &PushedRef,
) -> Result<PushedAnswer, CommandError> {
    let mut looked = PushedAnswer {
        name: pushed.remote_name.clone(),
        commit: None,
        since: None,
        passed: true,
        cause: None,
        gates: Vec::new(),
    };
    let Some(object) = &pushed.object else {
        looked.cause = Some("it is deleted at the remote, and nothing is pushed".to_owned());
        return Ok(looked);
    };
    let Some(commit) = repository.commit_of(object)? else {
        looked.passed = false;
        looked.cause = Some("it is no commit, and nothing looks at it".to_owned());
        return Ok(looked);
    };
    let since = newest_at_remote(repository, &commit, &wanted.remote, pushed.remote_object.as_deref())?;
    let base = ChangeBase::Commits { since: since.clone(), until: commit.clone() };
    for gate in &wanted.gates {
        let request = GateRequest::plain(*gate, GateInput::all(base.clone()));
        let report = judge_commits(environment, workspace, repository, &request, &base)?;
        looked.passed &= report.passed;
        looked.gates.push(report);
    }
    looked.commit = Some(commit);
    looked.since = since;
    Ok(looked)
}

fn in_words(looked: &PushedAnswer) -> String {
    let name = plain_name(&looked.name);
    if let Some(cause) = &looked.cause {
        return format!("{name}: {cause}\n");
    }
    let mut lines: Vec<String> =
        looked.gates.iter().map(|gate| format!("{name}: {}", report_text(gate))).collect();
    if !looked.passed {
        lines.push(format!("{name} is not pushed: finish what the gates name\n"));
    }
    lines.concat()
}

fn here(environment: &HostEnvironment) -> Result<(PathBuf, GitRepository), CommandError> {
    let workspace = workspace(environment)?;
    match repository(environment, &workspace)? {
        Some(repository) => Ok((workspace, repository)),
        None => Err(CommandError::user(
            format!("`{}` is not a git work tree", plain(&workspace.to_string_lossy())),
            "go into a repository",
        )),
    }
}

/// Where git looks for the hook.
fn place(repository: &GitRepository) -> Result<PathBuf, CommandError> {
    match hooks_folder(repository)? {
        (folder, None) => Ok(folder.join(HOOK)),
        (folder, Some(setting)) => Err(CommandError::user(
            format!(
                "hooks of this repository lie elsewhere: {setting} is `{}`",
                plain(&folder.to_string_lossy())
            ),
            format!("add this line to its `{HOOK}`: checkrein push-hook run -- \"$@\""),
        )),
    }
}

fn standing(path: &Path) -> Result<Option<String>, CommandError> {
    match checkrein_files::read_text(path, LONGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::file("read", path.display(), &error)),
    }
}

fn is_ours(text: &str) -> bool {
    text.lines().nth(1) == Some(MARK)
}

/// The command of the hook. It names this program by its path: what the search path finds first may be another.
fn line(environment: &HostEnvironment, gates: &[Gate]) -> Result<String, CommandError> {
    let program = environment
        .program
        .as_ref()
        .ok_or_else(|| CommandError::user("the path of this program is not known", "start it by its path"))?;
    let quoted = program.to_string_lossy().replace('\'', "'\\''");
    let gates: Vec<String> = gates.iter().map(|gate| format!(" --gate {}", gate.name())).collect();
    let gates = gates.concat();
    Ok(format!("'{quoted}' push-hook run{gates} -- \"$@\""))
}

fn told(output: OutputForm, path: &Path, state: &str, words: &str) -> Result<ExitStatus, CommandError> {
    match output {
        OutputForm::Text => print(&format!("{}: {words}\n", plain(&path.to_string_lossy()))),
        OutputForm::Json => print_exact(&crate::api::pretty(&crate::api::pushes::PushHookAnswer {
            hook: path.to_string_lossy().into_owned(),
            state: state.to_owned(),
        })?),
    }
    Ok(ExitStatus::Done)
}
