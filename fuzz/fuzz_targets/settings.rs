//! What was registered in a settings file can be taken back, whichever client's it is.
#![no_main]

use checkrein_clients::CLIENTS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for client in CLIENTS {
        let hooks = &client.hooks;
        if let Ok(registered) = hooks.register(text, &hooks.command("/opt/checkrein-hook")) {
            assert!(hooks.unregister(&registered).is_ok());
        }
    }
});
