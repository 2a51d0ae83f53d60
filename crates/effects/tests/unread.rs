//! Words that nobody reads are followed within the bounds of the whole reading, which goes on behind them.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Severity};
use checkrein_testkit::world::bare;

#[test]
fn what_is_too_much_to_look_at_is_said_and_hides_nothing_behind_it() {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let world = bare().with_directory(&workspace);
    // Ten calls of what makes ten calls, five times over: more steps than any command is followed for.
    let bodies = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "x=1")];
    let functions: String =
        bodies.map(|(name, body)| format!("{name}() {{ {}; }}; ", [body; 10].join("; "))).concat();
    let long = format!("{functions}a");
    for (between, is_said) in [("x=1", false), (long.as_str(), true)] {
        let command = format!("some-runner sh -c '{between}'; y=rm; $y -rf ~");
        let effects = predict(&Action::command(&command, workspace.clone()), &world).effects;
        let takes_home = effects
            .iter()
            .any(|effect| effect.kind == EffectKind::FileDelete && effect.target.path() == Some(&home));
        let says = effects
            .iter()
            .any(|effect| effect.kind == EffectKind::Opaque && effect.severity == Severity::High);
        // What is behind a text that used everything up is looked over, where a name in a variable is not followed.
        assert!(takes_home || is_said, "{effects:?}");
        assert_eq!(says, is_said, "{effects:?}");
    }
}
