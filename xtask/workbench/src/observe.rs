//! Holds what is predicted of the programs of the catalogue against what they do in a sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use checkrein_effects::predict;
use checkrein_facts::History;
use checkrein_protocol::{AbsolutePath, Action, Timestamp, ToolOutput};
use checkrein_testkit::observe::compare::UsePrediction;
use checkrein_testkit::observe::sandbox;
use checkrein_testkit::observe::{
    CatalogueEntry, DisagreementKind, Observer, ProgramTally, UsePlace, entries, page,
};
use checkrein_world::{RealWorld, WorldInputs};
use xtask::{Outcome, root};

/// Uses of one program, when nothing else is said.
const USES: usize = 160;

/// Uses that are told of each sort of difference of a program, when nothing else is said.
const TOLD: usize = 4;

/// `cargo xtask observe [--program NAME] [--family NAME] [--limit N] [--told N] [--loose] [--text COMMAND] [--write]`: runs uses of the programs of the catalogue that are
/// installed here in a sandbox, and compares what they did with what is predicted. Fails when something happened of which nothing was
/// predicted, or something certain did not happen. `--write` writes the page.
pub(crate) fn observe(arguments: &[String]) -> Outcome {
    let value = |name: &str| -> Result<Option<&str>, String> {
        let Some(place) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        let text = arguments.get(place + 1).ok_or_else(|| format!("`{name}` needs a value"))?;
        Ok(Some(text))
    };
    let number = |name: &str, usual: usize| -> Result<usize, String> {
        value(name)?.map_or(Ok(usual), |text| text.parse().map_err(|_| format!("`{text}` is not a number")))
    };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let (most, told) = (number("--limit", USES)?, number("--told", TOLD)?);
    let (program, family) = (value("--program")?, value("--family")?);
    if let Some(why) = sandbox::lacking() {
        return Err(format!("no use can run here: {why}"));
    }
    if sandbox::Tracing::here() == sandbox::Tracing::None {
        println!("strace is not installed: reads, connections and started programs are not seen");
    }
    let entries =
        entries(&root().join("crates/effects/catalogue")).map_err(|error| format!("catalogue: {error}"))?;
    let folder =
        tempfile::tempdir_in("/var/tmp").map_err(|error| format!("cannot make a folder: {error}"))?;
    let observer =
        Observer::new(folder.path(), &predicted).map_err(|error| format!("cannot make a folder: {error}"))?;
    if let Some(text) = value("--text")? {
        let mut tally = ProgramTally::default();
        observer.batch(&[text.to_owned()], false, &mut tally).map_err(|error| error.to_string())?;
        println!("{tally:#?}");
        return Ok(());
    }
    let mut names = BTreeSet::new();
    let mut programs: Vec<(&CatalogueEntry, String)> = Vec::new();
    for entry in &entries {
        for name in &entry.names {
            let is_wanted = program.is_none_or(|program| program.split(',').any(|one| one == name))
                && family.is_none_or(|family| family == entry.family);
            if is_wanted
                && sandbox::has(name)
                && page::not_tried(entry, name).is_none()
                && names.insert(name.clone())
            {
                programs.push((entry, name.clone()));
            }
        }
    }
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let tallies = observer
        .row(&programs, most, threads, &|tally| tell(tally, told, has("--loose")))
        .map_err(|error| format!("cannot run the uses: {error}"))?;
    let uses: usize = tallies.iter().map(|tally| tally.uses).sum();
    println!("{} programs, {uses} uses in {} s", tallies.len(), begun.elapsed().as_secs());
    let mut faults = 0;
    for kind in DisagreementKind::ALL {
        let count: usize = tallies.iter().map(|tally| tally.count(kind)).sum();
        faults += if kind.is_fault() { count } else { 0 };
        println!("{}: {count}", kind.name());
    }
    if has("--write") {
        let path = root().join("docs/reference/observed.md");
        let text = page::page(&tallies, &entries, &sandbox::has);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    if faults == 0 { Ok(()) } else { Err(format!("{faults} uses differ from their prediction")) }
}

/// Tells how a program came out.
fn tell(tally: &ProgramTally, most: usize, with_loose: bool) {
    println!(
        "{}: {} uses, {} ok, {} unread, {} left out, {} without an end, {} agree",
        tally.name, tally.uses, tally.succeeded, tally.unread, tally.left_out, tally.endless, tally.agreeing
    );
    for kind in DisagreementKind::ALL {
        if !with_loose && !kind.is_fault() {
            continue;
        }
        let of_kind = tally
            .differing
            .iter()
            .filter_map(|(text, found)| found.iter().find(|one| one.kind == kind).map(|one| (text, one)));
        for (text, one) in of_kind.take(most) {
            println!("    {}: {text}: {}", kind.name(), one.what);
        }
    }
}

/// What is predicted of a use, with the facts of its place.
fn predicted(action: &Action, place: &UsePlace) -> UsePrediction {
    let variables: BTreeMap<String, String> =
        sandbox::environment(place).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let temporary = AbsolutePath::root().join(&place.temporary().to_string_lossy());
    let world = RealWorld::new(WorldInputs {
        home: place.home.clone(),
        user: Some("dev".to_owned()),
        workspace: place.project.clone(),
        temporary: vec![AbsolutePath::root().join("tmp"), temporary],
        guarded: Vec::new(),
        expected: Vec::new(),
        variables: Arc::new(variables),
        history: History::default(),
        now: Timestamp(1_700_000_100_000),
        confiner: || None,
        masker: || None,
        tool_output: ToolOutput::Shown,
    });
    let prediction = predict(action, &world);
    UsePrediction { effects: prediction.effects, programs: prediction.programs }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use super::*;

    /// Programs that change files wherever there is a shell.
    const PINNED: &[&str] = &[
        "cp", "mv", "rm", "touch", "ln", "chmod", "truncate", "tee", "sed", "tar", "gzip", "sort", "find",
        "dd", "install", "mkdir", "rmdir",
    ];

    /// Uses of each: a draw from its examples and operands of each kind.
    const PINNED_USES: usize = 12;

    #[test]
    fn usual_programs_do_what_is_predicted() {
        if let Some(why) = sandbox::lacking() {
            checkrein_testkit::not_run(&why);
            return;
        }
        let entries = entries(&root().join("crates/effects/catalogue")).unwrap();
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let observer = Observer::new(folder.path(), &predicted).unwrap();
        let mut programs = Vec::new();
        for name in PINNED {
            let entry = entries.iter().find(|entry| entry.names.iter().any(|known| known == name)).unwrap();
            if sandbox::has(name) {
                programs.push((entry, (*name).to_owned()));
            } else {
                checkrein_testkit::not_run(&format!("{name} is not installed"));
            }
        }
        let tallies = observer.row(&programs, PINNED_USES, 2, &|_| {}).unwrap();
        let wrong: Vec<String> = tallies
            .iter()
            .flat_map(|tally| &tally.differing)
            .flat_map(|(text, found)| found.iter().map(move |one| (text, one)))
            .filter(|(_, one)| one.kind.is_fault())
            .map(|(text, one)| format!("{}: {text}: {}", one.kind.name(), one.what))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(tallies.iter().all(|tally| tally.uses > 5), "{tallies:#?}");
    }
}
