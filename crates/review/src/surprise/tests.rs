//! Examples and laws of the comparison.

use checkrein_protocol::Nature;
use proptest::prelude::*;

use super::*;

fn path(text: &str) -> AbsolutePath {
    AbsolutePath::new(text).unwrap()
}

fn effect(kind: EffectKind, target: Target, depth: Depth, certainty: Certainty) -> Effect {
    Effect { certainty, depth, cause: "tool".to_owned(), ..Effect::new(kind, target) }
}

fn certain(kind: EffectKind, at: &str) -> Effect {
    effect(kind, Target::Path(path(at)), Depth::Single, Certainty::Certain)
}

fn wide(kind: EffectKind, pattern: &str) -> Effect {
    effect(kind, Target::Glob(pattern.to_owned()), Depth::Single, Certainty::Possible)
}

fn seen(kind: ChangeKind, at: &str) -> Change {
    Change { path: path(at), kind }
}

fn surprises(effects: &[Effect], changes: &[Change]) -> Vec<(String, &'static str)> {
    let aftermath = Aftermath { effects, changes, standings: &[], ending: ActionCompletion::Succeeded };
    let found = compare(&aftermath).surprises;
    found.into_iter().map(|surprise| (surprise.path.to_string(), surprise.kind.name())).collect()
}

#[test]
fn what_was_said_is_no_surprise() {
    use ChangeKind::{Created, Deleted, Modified, Rearranged};
    use EffectKind::{FileCreate, FileDelete, FileModify};
    let whole = |kind, at: &str| effect(kind, Target::Path(path(at)), Depth::Recursive, Certainty::Certain);
    let calm: Vec<(Vec<Effect>, Change)> = vec![
        (vec![certain(FileCreate, "/p/a")], seen(Created, "/p/a")),
        (vec![certain(FileModify, "/p/a")], seen(Created, "/p/a")),
        (vec![certain(FileCreate, "/p/d/e/f")], seen(Created, "/p/d")),
        (vec![certain(FileDelete, "/p/a")], seen(Deleted, "/p/a")),
        (vec![certain(FileDelete, "/p/a")], seen(Rearranged, "/p")),
        (vec![whole(FileDelete, "/p/d")], seen(Deleted, "/p/d/x")),
        (vec![whole(FileModify, "/p/src")], seen(Modified, "/p/src/m/a.rs")),
        (vec![wide(FileModify, "/p/**")], seen(Modified, "/p/src/a.rs")),
        (vec![wide(FileDelete, "/p/*.log")], seen(Deleted, "/p/x.log")),
        (vec![wide(FileCreate, "/p/out-*")], seen(Rearranged, "/p")),
        (
            vec![effect(FileModify, Target::Unknown, Depth::Single, Certainty::Possible)],
            seen(Modified, "/p/a"),
        ),
        // A version control that takes another commit adds, changes and removes.
        (vec![wide(FileModify, "/p/**"), certain(FileModify, "/p/.git")], seen(Deleted, "/p/src/old.rs")),
        (vec![certain(FileModify, "/p/.git")], seen(Modified, "/p/.git")),
        // The number of a process is known to its shell alone.
        (vec![certain(FileCreate, "/p/out.$$")], seen(Created, "/p/out.4711")),
        (vec![certain(FileCreate, "/p/$$-$$1.log")], seen(Created, "/p/4711-47111.log")),
        (vec![certain(FileCreate, "/p/d.$$/a")], seen(Created, "/p/d.4711")),
        (vec![whole(FileDelete, "/p/d.$$")], seen(Deleted, "/p/d.4711/x")),
        (vec![certain(FileCreate, "/p/out.$$")], seen(Created, "/p/out.$$")),
    ];
    for (effects, change) in calm {
        assert_eq!(surprises(&effects, std::slice::from_ref(&change)), [], "{change:?} by {effects:?}");
    }
}

#[test]
fn what_was_not_said_is_one() {
    use ChangeKind::{Created, Deleted, Modified};
    use EffectKind::{FileCreate, FileModify, FileRead, NetworkRequest, Opaque};
    let wrong: Vec<(Vec<Effect>, Change)> = vec![
        (vec![], seen(Created, "/p/a")),
        (vec![certain(FileRead, "/p/a")], seen(Modified, "/p/a")),
        (vec![certain(Opaque, "/p/a")], seen(Modified, "/p/a")),
        (vec![certain(NetworkRequest, "/p/a")], seen(Created, "/p/a")),
        (vec![certain(FileModify, "/p/b")], seen(Modified, "/p/a")),
        (vec![certain(FileModify, "/p/a")], seen(Deleted, "/p/a")),
        (vec![certain(FileCreate, "/p/d")], seen(Created, "/p/d/x")),
        (vec![wide(FileModify, "/p/src/**")], seen(Deleted, "/p/src/a.rs")),
        (vec![wide(FileModify, "/p/*.md")], seen(Modified, "/p/a.rs")),
        // References may change; what makes git run things may not.
        (vec![certain(FileModify, "/p/.git")], seen(Created, "/p/.git/hooks/pre-commit")),
    ];
    for (effects, change) in wrong {
        let found = surprises(&effects, std::slice::from_ref(&change));
        assert_eq!(found, [(change.path.to_string(), change.kind.name())], "by {effects:?}");
    }
}

#[test]
fn a_tree_is_one_surprise() {
    use ChangeKind::{Created, Deleted, Rearranged};
    let changes = [
        seen(Rearranged, "/p"),
        seen(Created, "/p/new"),
        seen(Created, "/p/new/deep"),
        seen(Created, "/p/new/deep/file"),
        seen(Deleted, "/p/old"),
        seen(Deleted, "/p/old/file"),
    ];
    assert_eq!(
        surprises(&[], &changes),
        [("/p/new".to_owned(), "created"), ("/p/old".to_owned(), "deleted")]
    );
    // Where the directory was expected, what is in it speaks for itself.
    let made = certain(EffectKind::FileCreate, "/p/new");
    assert_eq!(surprises(&[made], &changes[1..4]), [("/p/new/deep".to_owned(), "created")]);
}

#[test]
fn what_is_certain_and_does_not_happen_is_missing_unless_the_call_failed() {
    let effects = [
        certain(EffectKind::FileCreate, "/p/a"),
        certain(EffectKind::FileDelete, "/p/b"),
        certain(EffectKind::FileModify, "/p/c"),
        effect(EffectKind::FileCreate, Target::Path(path("/p/d")), Depth::Single, Certainty::Possible),
        certain(EffectKind::FileCreate, "/p/e"),
        certain(EffectKind::FileDelete, "/p/e"),
        certain(EffectKind::FileModify, "/p/f"),
        Effect { nature: Nature::OfRemote, ..certain(EffectKind::FileModify, "/o.git") },
        Effect { nature: Nature::OfRemote, ..certain(EffectKind::FileDelete, "/p/g") },
    ];
    let standings = [
        (path("/o.git"), PathState::Unchanged),
        (path("/p/g"), PathState::Unchanged),
        (path("/p/a"), PathState::Missing),
        (path("/p/b"), PathState::Unchanged),
        (path("/p/c"), PathState::Unchanged),
        (path("/p/d"), PathState::Missing),
        (path("/p/e"), PathState::Missing),
        (path("/p/f"), PathState::Unknown),
    ];
    let found = |ending| {
        let aftermath = Aftermath { effects: &effects, changes: &[], standings: &standings, ending };
        let found = compare(&aftermath).surprises;
        found.into_iter().map(|surprise| surprise.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(ActionCompletion::Succeeded), ["/p/a", "/p/b", "/p/c", "/p/g"]);
    assert_eq!(found(ActionCompletion::Failed), [""; 0]);
}

#[test]
fn it_says_what_had_been_said() {
    let said = |effects: &[Effect]| {
        let changes = [seen(ChangeKind::Deleted, "/p/a")];
        let aftermath =
            Aftermath { effects, changes: &changes, standings: &[], ending: ActionCompletion::Succeeded };
        compare(&aftermath).surprises.remove(0).predicted
    };
    assert_eq!(said(&[]), "no change");
    assert_eq!(said(&[certain(EffectKind::FileCreate, "/p/b")]), "only that it creates /p/b");
    assert_eq!(said(&[certain(EffectKind::FileModify, "/p/a")]), "that it overwrites or changes /p/a");
    let opaque = effect(EffectKind::Opaque, Target::Unknown, Depth::Single, Certainty::Certain);
    assert_eq!(said(&[opaque]), "that what `tool` does is not known");
}

#[test]
fn doubt_follows_from_how_wrong_it_was() {
    use ChangeKind::{Created, Deleted, Modified};
    use Knowledge::{Opaque, Understood};
    use OtherCause::{NoneKnown, Possible};
    let change = |kind, at: &str, knowledge, other| {
        let surprise = Surprise { path: path(at), kind, predicted: String::new() };
        let comparison = Comparison { surprises: vec![surprise], expected: 3 };
        let change = doubt_change(&comparison, knowledge, other, &[path("/p/own")]);
        (change.points, change.ceiling)
    };
    let unpredicted = SurpriseKind::Unpredicted;
    assert_eq!(change(unpredicted(Created), "/p/a", Opaque, NoneKnown), (2, MILD_DOUBT));
    assert_eq!(change(unpredicted(Created), "/p/a", Understood, NoneKnown), (4, MILD_DOUBT));
    assert_eq!(change(unpredicted(Modified), "/p/a", Understood, NoneKnown), (6, MOST_DOUBT));
    assert_eq!(change(unpredicted(Deleted), "/p/a", Opaque, NoneKnown), (6, MOST_DOUBT));
    assert_eq!(change(unpredicted(Deleted), "/p/own", Opaque, NoneKnown), (6, MILD_DOUBT));
    assert_eq!(change(unpredicted(Deleted), "/p/a", Understood, Possible), (6, MILD_DOUBT));
    assert_eq!(change(unpredicted(Created), "/p/.git/hooks/x", Opaque, NoneKnown), (2, MOST_DOUBT));
    assert_eq!(change(SurpriseKind::Missing, "/p/a", Understood, NoneKnown), (1, MILD_DOUBT));
    let calm = |expected| {
        let comparison = Comparison { surprises: vec![], expected };
        doubt_change(&comparison, Understood, NoneKnown, &[]).points
    };
    assert_eq!((calm(0), calm(2)), (0, -2), "only what came true takes doubt away");
}

fn any_path() -> impl Strategy<Value = AbsolutePath> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", ".git", "hooks", "x.log"]), 1..4)
        .prop_map(|parts| path(&format!("/p/{}", parts.join("/"))))
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let target = prop_oneof![
        3 => any_path().prop_map(Target::Path),
        1 => prop::sample::select(vec!["/p/**", "/p/*.log", "/p/a/*"]).prop_map(|text| Target::Glob(text.to_owned())),
        1 => Just(Target::Service("db".to_owned())),
    ];
    let depth = prop::sample::select(vec![Depth::Single, Depth::Recursive]);
    let certainty = prop::sample::select(vec![Certainty::Certain, Certainty::Possible]);
    let kind = prop::sample::select(EffectKind::ALL.to_vec());
    (kind, target, depth, certainty)
        .prop_map(|(kind, target, depth, certainty)| effect(kind, target, depth, certainty))
}

fn any_change() -> impl Strategy<Value = Change> {
    let kinds = vec![ChangeKind::Created, ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Rearranged];
    (any_path(), prop::sample::select(kinds)).prop_map(|(path, kind)| Change { path, kind })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A longer prediction never makes more changes surprising, and each surprise is a change that was seen.
    #[test]
    fn predicting_more_surprises_less(
        effects in prop::collection::vec(any_effect(), 0..5),
        more in any_effect(),
        changes in prop::collection::vec(any_change(), 0..8),
    ) {
        let look = |effects: &[Effect]| {
            compare(&Aftermath { effects, changes: &changes, standings: &[], ending: ActionCompletion::Succeeded })
        };
        let before = look(&effects);
        for surprise in &before.surprises {
            let is_seen = changes.iter().any(|change| {
                change.path == surprise.path && SurpriseKind::Unpredicted(change.kind) == surprise.kind
            });
            prop_assert!(is_seen, "{:?} was not seen", surprise);
        }
        let mut longer = effects.clone();
        longer.push(more);
        prop_assert!(look(&longer).expected >= before.expected);
    }

    /// Without a prediction every change shows, by itself or by the tree that holds it.
    #[test]
    fn nothing_predicted_hides_nothing(changes in prop::collection::vec(any_change(), 1..8)) {
        let aftermath =
            Aftermath { effects: &[], changes: &changes, standings: &[], ending: ActionCompletion::Succeeded };
        let found = compare(&aftermath);
        prop_assert_eq!(found.expected, 0);
        for change in &changes {
            let shows = found.surprises.iter().any(|surprise| {
                change.path.is_within(&surprise.path) || surprise.path.is_within(&change.path)
            });
            prop_assert!(shows, "{:?} is hidden", change);
        }
    }

    /// Doubt never leaves its bounds, whatever comes.
    #[test]
    fn doubt_is_bounded(changes in prop::collection::vec(any_change(), 0..8), effects in prop::collection::vec(any_effect(), 0..3)) {
        let aftermath =
            Aftermath { effects: &effects, changes: &changes, standings: &[], ending: ActionCompletion::Succeeded };
        let found = compare(&aftermath);
        for other in [OtherCause::NoneKnown, OtherCause::Possible] {
            let change = doubt_change(&found, Knowledge::of(&effects), other, &[]);
            prop_assert!(change.ceiling <= MOST_DOUBT);
            prop_assert!((-2..=12).contains(&change.points));
            prop_assert!(change.points <= 0 || !found.surprises.is_empty());
        }
    }
}

#[test]
fn what_makes_git_run_something_is_a_surprise_where_only_anything_was_said_to_come() {
    use ChangeKind::{Created, Modified};
    let mut by_chance = certain(EffectKind::Persistence, "/p/.git/config");
    by_chance.certainty = Certainty::Possible;
    by_chance.nature = checkrein_protocol::Nature::ByChance;
    let unpacked = [wide(EffectKind::FileCreate, "/p/**"), by_chance];
    let changes = [
        seen(Modified, "/p/.git/config"),
        seen(Created, "/p/.git/hooks/post-checkout"),
        seen(Modified, "/p/src/a.rs"),
    ];
    let found: Vec<String> = surprises(&unpacked, &changes).into_iter().map(|(path, _)| path).collect();
    assert_eq!(found, ["/p/.git/config", "/p/.git/hooks/post-checkout"]);
    let named = [certain(EffectKind::FileModify, "/p/.git/config")];
    assert_eq!(surprises(&named, &[seen(Modified, "/p/.git/config")]), []);
}

#[test]
fn what_is_no_number_of_a_process_is_a_surprise_all_the_same() {
    use ChangeKind::Created;
    let predicted = [certain(EffectKind::FileCreate, "/p/out.$$")];
    for other in ["/p/out.", "/p/out.x", "/p/out.12x", "/p/other.12", "/p/out.1/2"] {
        assert_eq!(surprises(&predicted, &[seen(Created, other)]).len(), 1, "{other}");
    }
    let standings = [(path("/p/out.$$"), PathState::Missing)];
    let aftermath = Aftermath {
        effects: &predicted,
        changes: &[],
        standings: &standings,
        ending: ActionCompletion::Succeeded,
    };
    assert_eq!(compare(&aftermath).surprises, [], "nobody looks at a name that only the shell knows");
}
