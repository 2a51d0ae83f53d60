//! What `undo` says of the actions that it leaves as they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_snapshot::{Listed, Prepared, Since, Step};

use super::super::restore::{RestoreTerms, command_at, elsewhere, held};
use super::Story;
use crate::render::time;
use crate::terminal::{cut, plain, plain_name};

/// How many places are named (ours).
const NAMED: usize = 5;

/// The line that names what is new and stays, since nothing shows that a call made it.
pub(super) fn kept_as_new(new: &BTreeSet<PathBuf>) -> Option<String> {
    let names = names_in_words(new.iter().map(PathBuf::as_path));
    (!new.is_empty()).then(|| {
        format!(
            "kept: {names}: new, and nothing shows that a call made it; what was moved here has no other copy"
        )
    })
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
fn steps_in_words<'a>(steps: impl Iterator<Item = &'a Step>, workspace: &Path) -> String {
    let shown = |step: &'a Step| {
        let path = step.path.as_path();
        path.strip_prefix(workspace).unwrap_or(path)
    };
    names_in_words(steps.map(shown))
}

/// The line about an action that lost nothing and made something. What came after it is not named: that is somebody else's.
pub(super) fn made_in_words(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    prepared: &Prepared,
    story: Story,
) -> String {
    let snapshot = case.snapshot;
    let held = held(environment);
    let made = prepared.steps().iter().filter(|step| !story.ended_before(step));
    let (moved, made): (Vec<&Step>, Vec<&Step>) =
        made.partition(|step| case.is_only_copy(prepared, step, &held));
    let workspace = case.ground.store.workspace();
    let options = case.needed(environment, prepared).options();
    let command =
        |options: &str| command_at(environment, case.ground, &format!("undo {}{options}", snapshot.id));
    let way = match made.len() {
        0 => String::new(),
        1 => format!("; {} removes it", command(&options)),
        _ => format!("; {} removes them", command(&options)),
    };
    let stays = match moved.len() {
        0 => String::new(),
        _ => format!(
            "; {} may have been moved here, have no other copy, and stay",
            steps_in_words(moved.iter().copied(), workspace)
        ),
    };
    // What is in a directory goes with it.
    let mut named = if made.is_empty() { moved.clone() } else { made.clone() };
    let all: BTreeSet<&Path> = named.iter().map(|step| step.path.as_path()).collect();
    named.retain(|step| step.path.as_path().parent().is_none_or(|above| !all.contains(above)));
    format!(
        "kept: {}: made by a call that lost nothing of the workspace: {}  {}{way}{stays}",
        steps_in_words(named.iter().copied(), workspace),
        time(snapshot.snapshot.at),
        cut(&plain(&snapshot.snapshot.reason), 60),
    )
}

/// The line about a push that is passed over.
pub(super) fn pushed_in_words(environment: &HostEnvironment, case: &RestoreTerms<'_>) -> String {
    let snapshot = case.snapshot;
    let id = snapshot.id;
    format!(
        "passed over: snapshot {id}  {}  {}: what was pushed belongs to others, and nothing was lost here; \
         {} takes back what git noted of it",
        time(snapshot.snapshot.at),
        cut(&plain(&snapshot.snapshot.reason), 60),
        command_at(environment, case.ground, &format!("undo {id}")),
    )
}

/// The line about a call that a user was asked about, and that nothing shows to have run before something else came.
pub(super) fn unanswered_in_words(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    prepared: &Prepared,
) -> String {
    let snapshot = case.snapshot;
    let id = snapshot.id;
    let options = case.needed(environment, prepared).options();
    format!(
        "passed over: snapshot {id}  {}  {}: you were asked about it, and nothing shows that it ran; \
         {} takes it back if it did",
        time(snapshot.snapshot.at),
        cut(&plain(&snapshot.snapshot.reason), 60),
        command_at(environment, case.ground, &format!("undo {id}{options}")),
    )
}

/// The line that says what cannot be known of an action that could not be seen through.
pub(super) fn unseen(snapshot: &Listed) -> String {
    format!(
        "not known: what `{}` changed outside the workspace; only what a call is seen to change there is saved",
        cut(&plain(&snapshot.snapshot.reason), 60)
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
    let names = steps_in_words(prepared.steps().iter(), case.ground.store.workspace());
    let needed = case.needed(environment, prepared);
    let options = needed.options();
    let way = match options.as_str() {
        _ if needed == case.permissions => String::new(),
        "" => String::new(),
        options => {
            format!(
                "; {} takes {} back",
                command_at(environment, case.ground, &format!("undo {}{options}", snapshot.id)),
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
