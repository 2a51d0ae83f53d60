//! The gate of scope: changed files against patterns, or against the files that a design names.

use std::path::Path;

use checkrein_gates::{Design, Gate, out_of_scope};
use checkrein_glob::{Glob, Style};
use checkrein_worktree::{ChangedText, TextNow};

use super::{GateRequest, before_of, take};
use crate::api::gates::{GateAnswer, NotRun};
use crate::terminal::plain_name;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The longest design document that is read, in bytes (ours).
const LONGEST: u64 = 1024 * 1024;

/// Looks at all changed files.
pub(super) fn examine(
    environment: &HostEnvironment,
    workspace: &Path,
    wanted: &GateRequest,
    changed: &[ChangedText],
    answer: &mut GateAnswer,
) -> Result<(), CommandError> {
    let mut patterns = wanted.allow.clone();
    let mut list = "the patterns of `--allow`".to_owned();
    if let Some(name) = &wanted.design {
        let (text, own) = design(environment, workspace, name)?;
        let files = Design::read(&text).files;
        if files.is_empty() {
            let cause = format!("`{}` names no files", plain_name(name));
            answer.not_run.push(NotRun { what: "the list of files".to_owned(), cause });
            return Ok(());
        }
        patterns.extend(files.into_iter().map(|file| file.path));
        // The document itself may be written while the work goes on.
        patterns.extend(own);
        list = format!("the files of `{}`", plain_name(name));
    }
    if patterns.is_empty() {
        return Err(CommandError::user(
            "gate scope needs to know what may change",
            "give patterns with `--allow`, or a document that lists files with `--design`",
        ));
    }
    let globs: Vec<Glob> = patterns
        .iter()
        .map(|pattern| Glob::new(pattern.trim_end_matches('/'), Style::Setting).or_below())
        .collect();
    for file in changed {
        answer.files += 1;
        if globs.iter().any(|glob| glob.matches(&file.path)) {
            continue;
        }
        let text = match &file.now {
            TextNow::Bytes(bytes) => String::from_utf8_lossy(bytes),
            TextNow::Gone | TextNow::NotRead(_) => "".into(),
        };
        let before = before_of(file);
        let finding = out_of_scope(&plain_name(&file.path), &list);
        take(answer, Gate::Scope, (&file.path, &text, before.as_deref()), vec![finding]);
    }
    Ok(())
}

/// The text of a design document, and its path from the root of the work tree where it lies in it.
pub(super) fn design(
    environment: &HostEnvironment,
    workspace: &Path,
    name: &str,
) -> Result<(String, Option<String>), CommandError> {
    let path = environment.cwd.join(name);
    let text = checkrein_files::read_text(path.as_str(), LONGEST)
        .map_err(|error| CommandError::file("read", &path, &error))?;
    let real = std::fs::canonicalize(path.as_str()).ok();
    let own = real.and_then(|real| Some(real.strip_prefix(workspace).ok()?.to_string_lossy().into_owned()));
    Ok((text, own))
}
