//! `checkrein policy try FILE`: what a change of the configuration would have said to the calls of the last days.
//!
//! Each recorded call is judged by itself, twice: by the configuration of now, and by the same with the file as part of the user's own.
//! Both look at the files as they are now, so that only the change makes a difference. What was masked or cut in the records is judged as
//! it is written there.

use std::collections::{BTreeMap, HashMap, HashSet};

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::{Context, check};
use checkrein_ledger::lines;
use checkrein_policy::{ConfigSource, Policy};
use checkrein_protocol::{AbsolutePath, Action, RecordBody, ReviewRecord, VerdictKind};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::session_choice::folders;
use super::{ExitStatus, OutputForm};
use crate::api::{self, installation};
use crate::render::call;
use crate::terminal::{cut, plain, print, verdict};

/// How many calls are judged at most, the newest first (ours): each takes a few milliseconds.
const CALLS: usize = 5000;
/// How many examples of each change are shown (ours).
const EXAMPLES: usize = 3;
/// How much of a call is shown, in letters (ours).
const SHOWN: usize = 100;

/// Judges the recorded calls of this long ago and less, in milliseconds, with and without a file.
pub fn policy_try(
    environment: &HostEnvironment,
    file: &str,
    since: u64,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let text = checkrein_files::read_text(file, checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", file, &error))?;
    let source = ConfigSource::File { name: file.to_owned(), text };
    // What is wrong with the file is said before anything is judged.
    config_files::load_with(environment, &find_workspace(&environment.cwd), source.clone())?;
    let calls = recorded(environment, environment.now().0.saturating_sub(since))?;
    let mut places: HashMap<AbsolutePath, (Context, Context)> = HashMap::new();
    let mut changes: BTreeMap<(VerdictKind, VerdictKind), Vec<(String, String)>> = BTreeMap::new();
    for (review, cwd) in &calls {
        if !places.contains_key(cwd) {
            places.insert(cwd.clone(), contexts(environment, cwd, &source)?);
        }
        let Some((now, then)) = places.get(cwd) else { continue };
        let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd: cwd.clone() };
        let (ours, theirs) = (check(now, &action, None), check(then, &action, None));
        if ours.verdict.kind != theirs.verdict.kind {
            let words = cut(&plain(&call(review)), SHOWN);
            changes
                .entry((ours.verdict.kind, theirs.verdict.kind))
                .or_default()
                .push((words, theirs.reasoning.primary));
        }
    }
    match output {
        OutputForm::Json => print(&api::line(&installation::PolicyTried {
            calls: calls.len(),
            changes: changes
                .iter()
                .map(|((from, to), found)| installation::VerdictChange {
                    from: from.name().to_owned(),
                    to: to.name().to_owned(),
                    calls: found.len(),
                    examples: found.iter().take(EXAMPLES).map(|(words, _)| words.clone()).collect(),
                })
                .collect(),
        })?),
        OutputForm::Text => {
            let differing: usize = changes.values().map(Vec::len).sum();
            print(&format!("{} calls judged, {differing} differently", calls.len()));
            for ((from, to), found) in &changes {
                print(&format!("  {} -> {}  {}", verdict(*from), verdict(*to), found.len()));
                for (words, reason) in found.iter().take(EXAMPLES) {
                    print(&format!("    `{words}`"));
                    if !reason.is_empty() {
                        print(&format!("      {}", plain(reason)));
                    }
                }
                if found.len() > EXAMPLES {
                    print(&format!("    and {} more", found.len() - EXAMPLES));
                }
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// The different calls since a moment, newest first, with where they ran.
fn recorded(
    environment: &HostEnvironment,
    since: u64,
) -> Result<Vec<(Box<ReviewRecord>, AbsolutePath)>, CommandError> {
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        for record in
            lines(&ledger.path())?.filter_map(|line| line.ok()?.record).filter(|record| record.at.0 >= since)
        {
            let RecordBody::Review(review) = record.body else { continue };
            if let Some(cwd) = AbsolutePath::new(&review.cwd) {
                all.push((record.at.0, review, cwd));
            }
        }
    }
    all.sort_by_key(|(at, _, _)| std::cmp::Reverse(*at));
    let mut seen = HashSet::new();
    all.retain(|(_, review, _)| seen.insert(review.exact));
    all.truncate(CALLS);
    Ok(all.into_iter().map(|(_, review, cwd)| (review, cwd)).collect())
}

/// Who judges in a directory: as it is, and with the file.
fn contexts(
    environment: &HostEnvironment,
    cwd: &AbsolutePath,
    source: &ConfigSource,
) -> Result<(Context, Context), CommandError> {
    let config = config_files::load_with(environment, &find_workspace(cwd), source.clone())?.config;
    let policy = Policy::new(config).with_catalogue(config_files::catalogue(environment)?);
    let open = || Context::open(environment.clone(), cwd);
    Ok((open(), open().with_policy(policy)))
}
