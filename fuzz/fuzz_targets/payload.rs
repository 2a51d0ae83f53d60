//! Any bytes give an event or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    drop(std::hint::black_box(checkrein_clients::claude::decode(payload)));
});
