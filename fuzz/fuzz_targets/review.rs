//! Any command gives a review, and the same one twice.
#![no_main]

use checkrein_effects::{Action, World as _};
use checkrein_fuzz::world;
use checkrein_policy::Policy;
use checkrein_review::review;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let world = world();
    let action = Action::command(text, world.place().workspace.clone());
    let policy = Policy::default();
    let (first, second) = (review(&action, &world, &policy), review(&action, &world, &policy));
    // A busy machine may give up deeply nested text once and not twice.
    let in_time = !format!("{first:?}{second:?}").contains("deadline");
    assert!(!in_time || first == second, "{first:?} {second:?}");
});
