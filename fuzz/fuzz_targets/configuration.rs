//! Any text gives a configuration or errors with places.
#![no_main]

use checkrein_policy::{Layer, LayerKind, ConfigSource, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = ConfigSource::File { name: "checkrein.yaml".to_owned(), text: text.to_owned() };
    drop(std::hint::black_box(load(&[Layer { kind: LayerKind::Project, source }], &[])));
});
