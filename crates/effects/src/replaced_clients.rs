//! Programs that come where a shell looks for a client of ours, or for the guard, under its name: whoever starts the client next starts
//! them, and they ask nobody.

use checkrein_catalogue::UserCatalogue;

use crate::catalogue;
use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::path::AbsolutePath;
use crate::world::World;

/// Names of directories in which programs lie, wherever they are outside a project.
const OF_PROGRAMS: [&str; 3] = ["bin", "sbin", "shims"];

/// The programs of the guard.
const OF_GUARD: [&str; 2] = ["checkrein", "checkrein-hook"];

/// Adds that another program takes the place of a client, where one does.
pub(crate) fn mark(effects: &mut Vec<Effect>, world: &dyn World) {
    let found = effects.iter().find_map(|effect| {
        let path = effect.target.path().filter(|_| writes(effect.kind))?;
        let is_meant = path.name().is_some_and(is_client) && is_looked_through(&path.parent()?, world);
        is_meant.then(|| Effect {
            certainty: effect.certainty,
            severity: Severity::High,
            cause: effect.cause.clone(),
            note: "puts another program where a client of agents, or its guard, is started from".to_owned(),
            ..Effect::new(EffectKind::SystemModification, Target::Service("another agent".to_owned()))
        })
    });
    effects.extend(found);
}

/// Whether an effect may put a program at its target.
fn writes(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::FileCreate
            | EffectKind::FileModify
            | EffectKind::Persistence
            | EffectKind::SystemModification
    )
}

/// Whether a name is that of an agent in the catalogue, or of the guard.
fn is_client(name: &str) -> bool {
    let is_agent = || {
        catalogue::find(name, &UserCatalogue::default())
            .is_some_and(|program| program.semantics.as_deref() == Some("agent"))
    };
    OF_GUARD.contains(&name) || is_agent()
}

/// Whether a shell looks for programs in a directory: by its `PATH`, or by its name where it belongs to no project and does not pass.
fn is_looked_through(directory: &AbsolutePath, world: &dyn World) -> bool {
    let place = world.place();
    let is_of_project = directory.is_within(&place.workspace) && !place.home.is_within(&place.workspace);
    let passes = place.temporary.iter().any(|temporary| directory.is_within(temporary));
    let is_listed = || {
        let path = world.variable("PATH").unwrap_or_default();
        path.split(':').any(|listed| listed.trim_end_matches('/') == directory.as_str())
    };
    is_listed()
        || !is_of_project && !passes && directory.name().is_some_and(|name| OF_PROGRAMS.contains(&name))
}
