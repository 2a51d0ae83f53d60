//! Any bytes give an event or an error, whichever client sends them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    for client in checkrein_clients::CLIENTS {
        drop(std::hint::black_box((client.decode)(payload)));
    }
});
