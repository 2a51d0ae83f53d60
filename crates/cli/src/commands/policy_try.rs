//! `checkrein policy try FILE`: what a change of the configuration would have said to the calls of the last days.
//!
//! Each recorded call is judged by itself, twice: by the configuration of now, and by the same with the file as part of the user's own.
//! Both look at the files as they are now, so that only the change makes a difference. What was masked or cut in the records is judged as
//! it is written there.

mod selection;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::{Context, check};
use checkrein_policy::{ConfigSource, Layer, LayerKind, Policy};
use checkrein_protocol::{AbsolutePath, Action, ReviewRecord, Timestamp, VerdictKind};
use checkrein_world::find_workspace;

use super::{ExitStatus, OutputForm};
use crate::api::sessions::NamedCount;
use crate::api::{self, installation};
use crate::moments::TimeStart;
use crate::phrases;
use crate::render::call;
use crate::terminal::{brief, counted, in_its_colour, log, plain, print, print_exact, table, wrapped};
use selection::{Selection, Unread};

/// How many calls are judged at most, the newest first (ours): each takes a few milliseconds.
const CALLS: usize = 5000;
/// How many examples of each change are shown (ours).
const EXAMPLES: usize = 3;
/// How much of a call is shown, in letters (ours).
const SHOWN: usize = 100;

/// How many directories are kept ready to be judged in (ours): each holds a configuration and what was looked at there.
const PLACES: usize = 64;

/// Judges the recorded calls since a time, with and without a file. A project whose own configuration cannot
/// be used is left out, and said.
pub fn policy_try(
    environment: &HostEnvironment,
    file: &str,
    since: &TimeStart,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let text = checkrein_files::read_text(file, checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", file, &error))?;
    let source = ConfigSource::File { name: file.to_owned(), text };
    is_usable(environment, &source)?;
    let (selection, mut unread) =
        Selection::of(environment, Timestamp(since.start(environment.now())?), CALLS)?;
    let found = Found { recorded: selection.offered(), ..Found::default() };
    let mut trial = Trial { environment, source, places: HashMap::new(), found };
    unread.extend(selection.each(environment, |at, review, cwd| trial.judge(at, review, cwd))?);
    let found = trial.found;
    if let (0, Some((_, skipped))) = (found.calls, found.skipped.first_key_value()) {
        return Err(CommandError::user(
            format!("no call could be judged: {}", skipped.reason),
            "`checkrein config check` in that project says more",
        ));
    }
    match output {
        OutputForm::Json => print_exact(&api::line(&found.described())?),
        OutputForm::Text => found.show(file),
    }
    for Unread { place, reason } in unread {
        log(&format!("checkrein: left out, since it cannot be read: {}: {}", plain(&place), plain(&reason)));
    }
    Ok(ExitStatus::Done)
}

/// An error that says what is wrong with the file, before anything is judged.
fn is_usable(environment: &HostEnvironment, source: &ConfigSource) -> Result<(), CommandError> {
    let here = find_workspace(&environment.cwd);
    if config_files::load(environment, &here).is_ok() {
        return config_files::load_with(environment, &here, source.clone()).map(drop);
    }
    // What is wrong here is not the file's fault, so it is looked at alone.
    let layer = Layer { kind: LayerKind::User, source: source.clone() };
    let alone = checkrein_policy::load(&[layer], &[]);
    alone.map(drop).map_err(|errors| config_files::invalid(&errors))
}

/// What is judged with what.
struct Trial<'a> {
    environment: &'a HostEnvironment,
    source: ConfigSource,
    /// Who judges in a directory; why nobody can where its configuration is broken.
    places: HashMap<AbsolutePath, Result<Judges, String>>,
    found: Found,
}

/// Who judges: the configuration of now, and that with the file.
pub(super) struct Judges {
    pub(super) now: Context,
    pub(super) then: Context,
}

/// What came of it.
#[derive(Default)]
struct Found {
    /// How many calls are recorded of that time, equal ones each for itself.
    recorded: usize,
    /// How many different ones were judged.
    calls: usize,
    /// How many calls get each verdict, as it is now and with the file.
    verdicts: BTreeMap<VerdictKind, (usize, usize)>,
    changes: BTreeMap<(VerdictKind, VerdictKind), Change>,
    /// What was left out, by workspace.
    skipped: BTreeMap<AbsolutePath, Skipped>,
}

/// Calls that get another verdict, and the newest of them.
#[derive(Default)]
struct Change {
    calls: usize,
    /// When, the call, and why: newest first.
    examples: Vec<(Timestamp, String, String)>,
}

/// Calls that were not judged.
struct Skipped {
    calls: usize,
    reason: String,
}

impl Trial<'_> {
    fn judge(&mut self, at: Timestamp, review: &ReviewRecord, cwd: &AbsolutePath) {
        if !self.places.contains_key(cwd) {
            if self.places.len() >= PLACES {
                self.places.clear();
            }
            let judges = judges(self.environment, cwd, &self.source);
            self.places.insert(cwd.clone(), judges.map_err(|error| error.in_short().to_owned()));
        }
        let judges = match self.places.get(cwd) {
            Some(Ok(judges)) => judges,
            Some(Err(reason)) => return self.found.skip(cwd, reason),
            None => return,
        };
        self.found.calls += 1;
        let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd: cwd.clone() };
        let (ours, theirs) = (check(&judges.now, &action, None), check(&judges.then, &action, None));
        self.found.verdicts.entry(ours.verdict.kind).or_default().0 += 1;
        self.found.verdicts.entry(theirs.verdict.kind).or_default().1 += 1;
        if ours.verdict.kind == theirs.verdict.kind {
            return;
        }
        let change = self.found.changes.entry((ours.verdict.kind, theirs.verdict.kind)).or_default();
        change.calls += 1;
        let place = change.examples.partition_point(|(known, ..)| *known > at);
        if place < EXAMPLES {
            let words = brief(&plain(&call(review)), SHOWN);
            change.examples.insert(place, (at, words, theirs.reasoning.primary));
            change.examples.truncate(EXAMPLES);
        }
    }
}

impl Found {
    fn skip(&mut self, cwd: &AbsolutePath, reason: &str) {
        let skipped = self.skipped.entry(find_workspace(cwd));
        skipped.or_insert_with(|| Skipped { calls: 0, reason: reason.to_owned() }).calls += 1;
    }

    fn show(&self, file: &str) {
        print(&wrapped(&format!(
            "{} of {} judged twice: as it is now, and with `{}`. Equal calls are judged and counted once.",
            counted(self.calls as u64, "different call"),
            counted(self.recorded as u64, "recorded call"),
            plain(file)
        )));
        let row = |(kind, (now, then)): (&VerdictKind, &(usize, usize))| {
            vec![
                in_its_colour(phrases::verdict_ahead(*kind), *kind),
                now.to_string(),
                then.to_string(),
                difference(*now, *then),
            ]
        };
        let mut rows: Vec<Vec<String>> = self.verdicts.iter().map(row).collect();
        rows.push(vec![
            "all different calls".to_owned(),
            self.calls.to_string(),
            self.calls.to_string(),
            String::new(),
        ]);
        print(&table(&["what happens", "now", "then", "change"], rows));
        let stops = |kind: VerdictKind| kind >= VerdictKind::Escalate;
        self.show_changes("would run without a question that cannot now", |from, to| {
            stops(from) && !stops(to)
        });
        self.show_changes("would not run unasked any more", |from, to| !stops(from) && stops(to));
        self.show_changes("would be treated otherwise", |from, to| stops(from) == stops(to));
        for (workspace, skipped) in &self.skipped {
            let calls = counted(u64::try_from(skipped.calls).unwrap_or(u64::MAX), "call");
            print(&wrapped(&format!("left out {calls} of {workspace}: {}", plain(&skipped.reason))));
        }
    }

    /// The changes of one sort, with the newest calls of each.
    fn show_changes(&self, what: &str, is_it: impl Fn(VerdictKind, VerdictKind) -> bool) {
        let all: Vec<_> = self.changes.iter().filter(|((from, to), _)| is_it(*from, *to)).collect();
        let count: usize = all.iter().map(|(_, change)| change.calls).sum();
        if count == 0 {
            return;
        }
        print(&format!("\n{} {what}:", counted(count as u64, "call")));
        for ((from, to), change) in all {
            let (from, to) = (phrases::verdict_ahead(*from), phrases::verdict_ahead(*to));
            print(&wrapped(&format!("  {}: {from} -> {to}", change.calls)));
            for (_, words, reason) in &change.examples {
                print(&wrapped(&format!("    `{words}`")));
                if !reason.is_empty() {
                    print(&wrapped(&format!("      {}", plain(reason))));
                }
            }
            if change.calls > EXAMPLES {
                print(&format!("    and {} more", change.calls - EXAMPLES));
            }
        }
    }

    fn described(&self) -> installation::PolicyTried {
        let count = |kind: &VerdictKind, count: usize| NamedCount {
            name: kind.name().to_owned(),
            count: count as u64,
        };
        let changes = self.changes.iter().map(|((from, to), change)| installation::VerdictChange {
            from: from.name().to_owned(),
            to: to.name().to_owned(),
            calls: change.calls,
            examples: change.examples.iter().map(|(_, words, _)| words.clone()).collect(),
        });
        let skipped = self.skipped.iter().map(|(workspace, skipped)| installation::SkippedProject {
            workspace: workspace.to_string(),
            calls: skipped.calls,
            reason: skipped.reason.clone(),
        });
        installation::PolicyTried {
            calls: self.calls,
            recorded: self.recorded,
            now: self.verdicts.iter().map(|(kind, (now, _))| count(kind, *now)).collect(),
            then: self.verdicts.iter().map(|(kind, (_, then))| count(kind, *then)).collect(),
            changes: changes.collect(),
            skipped: skipped.collect(),
        }
    }
}

/// By how much a count changes.
fn difference(now: usize, then: usize) -> String {
    match then.cmp(&now) {
        Ordering::Less => format!("-{}", now - then),
        Ordering::Equal => String::new(),
        Ordering::Greater => format!("+{}", then - now),
    }
}

/// Who judges in a directory. An error where its configuration cannot be used.
pub(super) fn judges(
    environment: &HostEnvironment,
    cwd: &AbsolutePath,
    source: &ConfigSource,
) -> Result<Judges, CommandError> {
    let workspace = find_workspace(cwd);
    config_files::load(environment, &workspace)?;
    let config = config_files::load_with(environment, &workspace, source.clone())?.config;
    let policy = Policy::new(config).with_catalogue(config_files::catalogue(environment)?);
    let open = || Context::open(environment.clone(), cwd);
    Ok(Judges { now: open(), then: open().with_policy(policy) })
}
