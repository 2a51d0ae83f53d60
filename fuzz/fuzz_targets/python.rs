//! Any Python code gives a prediction, and the same one twice.
#![no_main]

use checkrein_fuzz::predict_code;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|code: &str| predict_code("python3", code));
