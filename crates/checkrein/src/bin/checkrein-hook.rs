//! The small program that a client starts for every event: `checkrein-hook CLIENT`.

use std::process::ExitCode;

use checkrein::edge::answer_hook;
use checkrein::terminal::log;
use checkrein_protocol::Client;

/// The allocator of musl maps and unmaps single pages all the time, which costs a process of one millisecond a tenth of its life.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // A client that this version does not know is answered in the form that most of them obey.
        Some("claude") | None => answer_hook(Client::Claude),
        Some(other) => {
            log(&format!("checkrein-hook: no client is called `{other}`; it is answered like `claude`"));
            answer_hook(Client::Claude);
        }
    }
    ExitCode::SUCCESS
}
