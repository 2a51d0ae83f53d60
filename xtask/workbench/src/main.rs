//! The chores that need the crates of the project. `cargo xtask` starts them: it needs none of those crates itself, so that
//! installing does not build them once more.
//!
//! | command | does |
//! |---|---|
//! | `bench` | measures the promises of SPECIFICATION.md in one run |
//! | `docs` | writes the generated reference pages anew; `docs --fresh` fails when one is stale |
//! | `observe` | holds what is predicted of the programs that are installed against what they do in a sandbox |
//! | `pictures` | draws what the programs print for the documentation; `pictures --fresh` fails when one is stale |
//! | `recall` | measures how often the hint of earlier work speaks where nothing fits |
//! | `stubs` | measures the gate of completeness on code that others ship, as it is and made into stubs |
//! | `shells` | holds what is read of made-up programs of the shell against what bash and dash do with them |

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the user who runs it")]

mod bench;
mod bench_snapshots;
mod docs;
mod measure;
mod observe;
mod pictures;
mod recall;
mod scenes;
mod shells;
mod sources;
mod stubs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    xtask::ended(match arguments.first().map(String::as_str) {
        Some("bench") => bench::bench(rest),
        Some("docs") => docs::docs(rest),
        Some("observe") => observe::observe(rest),
        Some("pictures") => pictures::pictures(rest),
        Some("shells") => shells::shells(rest),
        Some("recall") => recall::recall(rest),
        Some("stubs") => stubs::stubs(rest),
        _ => Err(
            "name a chore: bench, docs, observe, pictures, recall, shells, stubs; `cargo xtask` starts them"
                .to_owned(),
        ),
    })
}
