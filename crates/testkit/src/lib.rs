//! What the tests of several crates need. Only tests depend on this crate.

pub mod dice;
pub mod notation;
pub mod observe;
pub mod records;
pub mod shells;
pub mod world;

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::thread;

/// Where tests that did not run are written down, one a line; `cargo xtask check` sets it and reads it.
pub const NOT_RUN: &str = "CHECKREIN_TESTS_NOT_RUN";

/// Set where every test has to run, as with `cargo xtask check --complete`: what this machine lacks is a failure then.
pub const COMPLETE: &str = "CHECKREIN_TESTS_COMPLETE";

/// Says that the present test, or this part of it, does not run on this machine, and why. The test has to end right after.
///
/// A test harness knows passed and failed only, and shows nothing of what a passed test prints; so it is written down beside.
///
/// # Panics
/// Where every test has to run, and where it cannot be written down.
#[expect(clippy::panic, clippy::print_stderr, reason = "it speaks for a test")]
pub fn not_run(why: &str) {
    let thread = thread::current();
    let line = format!("{}: {why}", thread.name().unwrap_or("a test"));
    assert!(env::var_os(COMPLETE).is_none(), "did not run: {line}");
    eprintln!("did not run: {line}");
    let Some(list) = env::var_os(NOT_RUN) else { return };
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&list)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        panic!("{}: {error}", list.display());
    }
}

/// The stack of the main thread of a program, in bytes, which is the smallest one that anybody interprets on: the hook gives itself 64 MiB,
/// and threads of tests have 2 MiB.
const STACK: usize = 8 * 1024 * 1024;

/// What the work answers on the smallest stack that anybody does it on.
///
/// # Panics
/// Where the work does, and where no thread can be started.
#[expect(clippy::expect_used, reason = "it speaks for a test")]
pub fn on_the_smallest_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker =
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("a thread starts");
        worker.join().expect("the work is done")
    })
}
