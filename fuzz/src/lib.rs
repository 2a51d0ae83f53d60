//! What the targets for code in other languages share.

use checkrein_effects::{AbsolutePath, Action, Place, RecordedWorld, predict};

/// Predicts the effects of code that a program is given on its standard input, twice; both must be the same.
///
/// # Panics
///
/// When the two differ.
pub fn predict_code(program: &str, code: &str) {
    let root = AbsolutePath::root();
    let workspace = root.join("home/dev/proj");
    let place = Place {
        home: root.join("home/dev"),
        user: None,
        workspace: workspace.clone(),
        temporary: vec![root.join("tmp")],
        guarded: vec![],
        expected: vec![],
    };
    let world = RecordedWorld::complete(place).with_repository(&workspace);
    let action =
        Action::command(format!("{program} - <<'END_OF_THE_CODE'\n{code}\nEND_OF_THE_CODE"), workspace);
    assert_eq!(predict(&action, &world), predict(&action, &world));
}
