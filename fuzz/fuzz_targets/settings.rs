//! Registering and taking back leaves the meaning of a settings file as it was.
#![no_main]

use checkrein_clients::claude::{HookCommand, register, unregister};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(registered) = register(text, &HookCommand::new("/opt/checkrein-hook")) {
        assert!(unregister(&registered).is_ok());
    }
});
