//! `cargo xtask`: chores of the project.
//!
//! | command | does |
//! |---|---|
//! | `check` | everything that must hold before a change goes in: format, lints, tests, documents, dependencies, tidiness |
//! | `tidy` | of these the conventions that no compiler knows |
//! | `install` | builds both programs, installs them, wires the current project, shows a recorded session |
//! | `clients` | installs the real clients for the end-to-end tests into an ignored folder; with `--latest` tries the newest ones beside them |
//! | `console` | draws the pages of the console for the documentation, and measures the server |
//! | `bench` | measures the promises of SPECIFICATION.md in one run |
//! | `docs` | writes the generated reference pages anew |
//! | `pictures` | draws what the programs print, for the documentation |
//! | `shells` | holds what is read of made-up programs of the shell against what bash and dash do with them |
//! | `recall` | measures how often the hint of earlier work speaks where nothing fits |
//! | `stubs` | measures the gate of completeness on code that others ship, as it is and made into stubs |
//! | `observe` | holds what is predicted of the programs that are installed against what they do in a sandbox |
//! | `order` | finds out which functions of the hook belong together, for its linker (needs valgrind) |

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::ended(xtask::chore(&arguments))
}
