//! What `undo` says of the actions that it leaves as they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_snapshot::{Prepared, Since, Step};

use super::super::restore::{RestoreTerms, elsewhere};
use crate::render::time;
use crate::terminal::{cut, plain, plain_name};

/// How many places are named (ours).
const NAMED: usize = 5;

/// The line that names what is new and stays, since nothing shows that a call made it.
pub(super) fn kept_as_new(new: &BTreeSet<PathBuf>) -> Option<String> {
    let names = names_in_words(new.iter().map(PathBuf::as_path));
    (!new.is_empty()).then(|| format!("kept: {names}: new, and nothing shows that a call made it"))
}

/// The first of some places by name, and how many more there are.
fn names_in_words<'a>(places: impl Iterator<Item = &'a Path>) -> String {
    let all: Vec<&Path> = places.collect();
    let name = |path: &&Path| format!("`{}`", plain_name(&path.to_string_lossy()));
    let names: Vec<String> = all.iter().take(NAMED).map(name).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", names.join(", "))
}

/// The places of steps by name, as they are seen from the workspace.
fn steps_in_words(prepared: &Prepared, workspace: &Path) -> String {
    let shown = |step: &'_ Step| {
        let path = step.path.as_path();
        path.strip_prefix(workspace).unwrap_or(path).to_owned()
    };
    let places: Vec<PathBuf> = prepared.steps().iter().map(shown).collect();
    names_in_words(places.iter().map(PathBuf::as_path))
}

/// The line about an action that lost nothing and made something.
pub(super) fn made_in_words(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    prepared: &Prepared,
) -> String {
    let snapshot = case.snapshot;
    let options = case.needed(environment, prepared).options();
    format!(
        "kept: {}: made by a call that lost nothing of the workspace: {}  {}; `checkrein undo {}{options}` removes {}; if something was moved here, there is no other copy",
        steps_in_words(prepared, case.ground.store.workspace()),
        time(snapshot.snapshot.at),
        cut(&plain(&snapshot.snapshot.reason), 60),
        snapshot.id,
        if prepared.steps().len() == 1 { "it" } else { "them" },
    )
}

/// The line about an action of which nothing is taken back without more permissions.
pub(super) fn in_words(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    prepared: &Prepared,
) -> String {
    let snapshot = case.snapshot;
    let steps = prepared.steps();
    let is_one = steps.len() == 1;
    let (was, is) = if is_one { ("was", "is") } else { ("were", "are") };
    let what = if steps.iter().all(|step| step.since == Since::Later) {
        format!(
            "{was} changed since, when it had ended and left {} as it was",
            if is_one { "it" } else { "each" }
        )
    } else if case.keeps_work(prepared) {
        format!("{was} changed since and kept")
    } else {
        format!("{is} kept")
    };
    let names = steps_in_words(prepared, case.ground.store.workspace());
    let options = case.needed(environment, prepared).options();
    let way = match options.as_str() {
        "" => String::new(),
        options => {
            format!(
                "; `checkrein undo {}{options}` takes {} back",
                snapshot.id,
                if is_one { "it" } else { "them" }
            )
        }
    };
    format!(
        "passed over: snapshot {}  {}  {}{}: {names} {what}{way}",
        snapshot.id,
        time(snapshot.snapshot.at),
        cut(&plain(&snapshot.snapshot.reason), 60),
        elsewhere(environment, case.ground),
    )
}
