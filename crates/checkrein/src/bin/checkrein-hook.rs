//! The small program that a client starts for every event: `checkrein-hook CLIENT`.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use checkrein_hook::answer_hook_of;
use checkrein_hook::remarks::log;

/// The allocator of musl maps and unmaps single pages all the time, which costs a process of one millisecond a tenth of its life.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // Only a user has a terminal; whoever else starts it like this gets an answer.
        Some("--help" | "-h") if std::io::stdin().is_terminal() => {
            log(
                "checkrein-hook CLIENT: a client starts this for every event and writes one JSON object to it; `checkrein init` sets that up",
            );
        }
        // Who installs it asks whether it runs here. It is no client's name, and no command line of ours says it.
        Some("--version") => {
            let said = writeln!(std::io::stdout(), "checkrein-hook {}", env!("CARGO_PKG_VERSION"));
            return if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        name => answer_hook_of(name, waits()),
    }
    ExitCode::SUCCESS
}

/// How long an answer of a user may be waited for, as `checkrein init` registered it.
fn waits() -> Option<u32> {
    let mut words = std::env::args().skip(2);
    words.find(|word| word == "--wait").and_then(|_| words.next()?.parse().ok())
}
