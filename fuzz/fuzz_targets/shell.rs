//! Any text gives a tree.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    std::hint::black_box(checkrein_shell::parse(text));
});
