//! What the targets share.

use checkrein_effects::predict;
use checkrein_facts::{RecordedWorld, World as _};
use checkrein_testkit::world::project;
use checkrein_protocol::Action;

/// Predicts the effects of code that a program is given on its standard input, twice; both must be the same.
///
/// # Panics
///
/// When the two differ.
pub fn predict_code(program: &str, code: &str) {
    let world = world();
    let here = "<<'END_OF_THE_CODE'";
    let text = format!("{program} - {here}\n{code}\nEND_OF_THE_CODE");
    let action = Action::command(text, world.place().workspace.clone());
    let (first, second) = (predict(&action, &world), predict(&action, &world));
    assert!(first == second || ran_out_of_time(&first) || ran_out_of_time(&second), "{first:?} {second:?}");
}

/// Whether deeply nested text was given up because the machine was too busy to read it in time.
pub fn ran_out_of_time(answer: &impl std::fmt::Debug) -> bool {
    format!("{answer:?}").contains("before the deadline")
}

/// A small world: a home, an empty repository as workspace, a directory for temporary files.
pub fn world() -> RecordedWorld {
    project()
}
