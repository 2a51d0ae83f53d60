//! Any command gives a review, and the same one twice.
#![no_main]

use checkrein_effects::{AbsolutePath, Action, Place, RecordedWorld};
use checkrein_policy::Policy;
use checkrein_review::review;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
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
    let action = Action::command(text, workspace);
    let policy = Policy::default();
    assert_eq!(review(&action, &world, &policy), review(&action, &world, &policy));
});
