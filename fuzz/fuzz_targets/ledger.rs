//! Any bytes in place of a ledger are verified without a panic.
#![no_main]

use std::fs;

use checkrein_ledger::{StateDirectory, verify_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("sessions/fuzzed");
    fs::create_dir_all(&session).unwrap();
    fs::write(session.join("ledger.jsonl"), bytes).unwrap();
    drop(std::hint::black_box(verify_all(&StateDirectory::new(folder.path()))));
});
