//! Any command gives a review, and the same one twice.
#![no_main]

use checkrein_facts::World as _;
use checkrein_fuzz::{ran_out_of_time, world};
use checkrein_policy::Policy;
use checkrein_protocol::Action;
use checkrein_review::review;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let world = world();
    let action = Action::command(text, world.place().workspace.clone());
    let policy = Policy::default();
    let (first, second) = (review(&action, &world, &policy), review(&action, &world, &policy));
    assert!(first == second || ran_out_of_time(&first) || ran_out_of_time(&second), "{first:?} {second:?}");
});
