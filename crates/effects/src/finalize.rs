//! The last touch on a prediction. What the system itself may refuse is only possible. What the command takes away again does not stay.
//! Names that are made up when the command runs are patterns.
//!
//! Neither changes what is at stake: a deletion that the system would refuse is judged like any other.

use crate::effect::{Certainty, Effect, EffectKind, Target};
use crate::path::AbsolutePath;
use crate::places::system_place;
use crate::world::{Entry, World};

/// How many `X` in a row stand for letters that are made up later (`mktemp` wants at least three).
const MADE_UP: &str = "XXX";

/// What stands for the number of the shell.
const OWN_NUMBER: &str = "$$";

/// Settles certainty and names of effects whose stakes are set.
pub(crate) fn settle(effects: &mut [Effect], world: &dyn World) {
    let privileged = effects.iter().any(|effect| effect.kind == EffectKind::PrivilegeEscalation);
    let person = !privileged && world.place().user.as_deref().is_some_and(|user| user != "root");
    let passing = passing(effects, world);
    for effect in effects {
        let leaves_nothing = effect.kind.is_mutating()
            && effect.target.path().is_some_and(|path| passing.iter().any(|gone| path.is_within(gone)));
        if leaves_nothing || person && may_be_refused(effect, world) {
            effect.certainty = Certainty::Possible;
        }
        if let Some(pattern) = made_up_name(&effect.target, world).or_else(|| numbered_name(effect, world)) {
            effect.target = Target::Glob(pattern);
        }
    }
}

/// The paths that the command itself makes and takes away again: when all goes well, nothing of them stays.
fn passing(effects: &[Effect], world: &dyn World) -> Vec<AbsolutePath> {
    let certainly = |kind: EffectKind| {
        effects.iter().enumerate().filter_map(move |(at, effect)| {
            let found = effect.kind == kind && effect.certainty == Certainty::Certain;
            effect.target.path().filter(|_| found).map(|path| (at, path))
        })
    };
    certainly(EffectKind::FileCreate)
        .filter(|(made, path)| {
            certainly(EffectKind::FileDelete).any(|(gone, other)| gone > *made && other == *path)
                && matches!(world.entry(path), Entry::Missing)
        })
        .map(|(_, path)| path.clone())
        .collect()
}

/// Whether an ordinary user usually may not do this to that file.
fn may_be_refused(effect: &Effect, world: &dyn World) -> bool {
    let concerns_files = effect.kind.file_change().is_some()
        || matches!(effect.kind, EffectKind::SystemModification | EffectKind::Persistence);
    if !concerns_files {
        return false;
    }
    let Target::Path(path) = &effect.target else { return false };
    is_of_the_machine(path, world) || (effect.kind == EffectKind::FileModify && is_read_only(path, world))
}

fn is_of_the_machine(path: &AbsolutePath, world: &dyn World) -> bool {
    let place = world.place();
    let own = [&place.home, &place.workspace].into_iter().chain(&place.temporary);
    if own.into_iter().any(|own| path.is_within(own)) {
        return false;
    }
    system_place(path).is_some() || path.parts().count() == 1
}

fn is_read_only(path: &AbsolutePath, world: &dyn World) -> bool {
    const WRITABLE_BY_ANYBODY: u32 = 0o222;
    match world.entry(path) {
        Entry::File(facts) => facts.mode & WRITABLE_BY_ANYBODY == 0,
        _ => false,
    }
}

/// `/tmp/tmp.XXXXXXXXXX` as `/tmp/tmp.??????????`, when there is no file that is really called so.
fn made_up_name(target: &Target, world: &dyn World) -> Option<String> {
    let Target::Path(path) = target else { return None };
    if !path.as_str().contains(MADE_UP) || !matches!(world.entry(path), Entry::Missing) {
        return None;
    }
    let mut pattern = String::with_capacity(path.as_str().len());
    let mut rest = path.as_str();
    while let Some(at) = rest.find(MADE_UP) {
        let (before, from) = rest.split_at(at);
        // The second name of a command is told from the first by a number in its last places.
        let after = from.trim_start_matches('X').trim_start_matches(|letter: char| letter.is_ascii_digit());
        pattern.push_str(before);
        pattern.extend(std::iter::repeat_n('?', from.len() - after.len()));
        rest = after;
    }
    pattern.push_str(rest);
    Some(pattern)
}

/// `run-$$.pid`, which is made in the workspace, as `run-*.pid`: which number the shell has is not known. Elsewhere such names are those of
/// files that go again, and are told from each other by standing for themselves.
fn numbered_name(effect: &Effect, world: &dyn World) -> Option<String> {
    let path = effect.target.path().filter(|_| effect.kind == EffectKind::FileCreate)?;
    let is_made_up = path.as_str().contains(OWN_NUMBER)
        && effect.certainty == Certainty::Certain
        && path.is_within(&world.place().workspace)
        && matches!(world.entry(path), Entry::Missing);
    is_made_up.then(|| path.as_str().replace(OWN_NUMBER, "*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::predict::predict;
    use crate::world::HostPaths;
    use checkrein_facts::RecordedWorld;

    fn world(user: &str) -> RecordedWorld {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let workspace = home.join("proj");
        let place = HostPaths {
            home,
            user: Some(user.to_owned()),
            workspace: workspace.clone(),
            temporary: vec![AbsolutePath::new("/tmp").unwrap()],
            guarded: vec![],
            expected: vec![],
        };
        RecordedWorld::complete(place)
            .with_directory(&workspace)
            .with_directory(&AbsolutePath::new("/opt").unwrap())
    }

    fn certainties(text: &str, user: &str) -> Vec<(String, Certainty)> {
        let world = world(user);
        let action = Action::command(text, world.place().workspace.clone());
        predict(&action, &world)
            .effects
            .iter()
            .filter_map(|effect| Some((effect.target.text()?.to_owned(), effect.certainty)))
            .collect()
    }

    #[test]
    fn what_belongs_to_the_machine_may_be_refused_to_a_person() {
        let possible =
            |user| certainties("mkdir /opt/tool", user).iter().all(|found| found.1 == Certainty::Possible);
        assert!(possible("dev"));
        assert!(!possible("root"));
        assert!(certainties("echo x > notes", "dev").iter().all(|found| found.1 == Certainty::Certain));
    }

    #[test]
    fn privilege_makes_it_certain_again() {
        let found = certainties("sudo mkdir /opt/tool", "dev");
        assert!(
            found.iter().any(|found| found.0 == "/opt/tool" && found.1 == Certainty::Certain),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_taken_away_again_does_not_stay() {
        let found = certainties("echo x > draft && sort draft > notes && rm draft", "dev");
        let of = |name: &str| {
            found.iter().filter(|found| found.0.ends_with(name)).map(|found| found.1).collect::<Vec<_>>()
        };
        assert!(of("/draft").contains(&Certainty::Possible), "{found:?}");
        assert_eq!(of("/notes"), [Certainty::Certain], "{found:?}");
    }

    #[test]
    fn names_with_the_number_of_the_shell_are_patterns() {
        let found = certainties("touch \"run-$$.pid\"; echo x > /tmp/x.$$", "dev");
        assert!(found.iter().any(|found| found.0 == "/home/dev/proj/run-*.pid"), "{found:?}");
        assert!(found.iter().any(|found| found.0 == "/tmp/x.$$"), "{found:?}");
        // What goes again needs no pattern.
        let found = certainties("echo x > x.$$; rm x.$$", "dev");
        assert!(found.iter().all(|found| found.0 == "/home/dev/proj/x.$$"), "{found:?}");
    }

    #[test]
    fn made_up_names_are_patterns() {
        let found = certainties("t=$(mktemp) && echo x > \"$t\"", "dev");
        assert!(found.iter().any(|found| found.0 == "/tmp/tmp.??????????"), "{found:?}");
        assert!(found.iter().all(|found| !found.0.contains('X')), "{found:?}");
    }
}
