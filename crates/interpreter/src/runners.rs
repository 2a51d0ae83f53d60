//! Programs that run the code of the directory in which they are called, or which they are told: builds, tests, tasks, installations.
//!
//! Where that came from elsewhere with the same command, nobody has read what runs. Files that are run by their name are followed where they are read.

mod table;

use super::call::Call;
use super::fetchers::has_series;
use super::machine::Machine;
use super::value::Value;
use crate::path::AbsolutePath;

use table::RUNNERS;

/// A program that runs the code of a directory.
struct Runner {
    programs: &'static [&'static str],
    calls: Calls,
    /// Under which names it looks for what it runs; without any it runs whatever is there.
    files: &'static [&'static str],
    /// Which of its words name directories and files with code, besides those behind options.
    operands: Operands,
}

/// Which calls of a program run code.
enum Calls {
    /// All.
    All,
    /// Those with one of these series of words.
    With(&'static [&'static str]),
    /// Those whose first word is none of these.
    Without(&'static [&'static str]),
    /// Those that run a module (`-m`) that is none of these.
    Modules(&'static [&'static str]),
}

/// Which words of a call, that are no options, name code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// None: they are targets, tasks, arguments.
    Names,
    /// All that name a place.
    Places,
    /// Those that are written as a path. The directory in which it is called counts by them alone.
    Paths,
}

const fn runner(
    programs: &'static [&'static str],
    calls: Calls,
    files: &'static [&'static str],
    operands: Operands,
) -> Runner {
    Runner { programs, calls, files, operands }
}

/// Options behind which a directory or file stands whose code runs.
const PLACES: &[&str] = &[
    "-C",
    "--directory",
    "--dir",
    "--prefix",
    "--cwd",
    "--manifest-path",
    "--path",
    "-f",
    "--file",
    "--makefile",
    "--project-directory",
    "--project-dir",
    "-S",
    "-B",
    "--build",
    "-d",
    "--working-dir",
    "--working-directory",
    "-p",
    "--project",
    "--rootdir",
    "--root",
    "--justfile",
    "--taskfile",
    "--build-file",
    "--settings-file",
    "--rakefile",
    "--gemfile",
    "-e",
    "--editable",
    "-r",
    "--requirement",
    "-chdir",
    "--chdir",
    "--package-path",
    "--config",
    "-c",
];

/// Words with which a call runs nothing of what is there.
const HARMLESS: &[&str] = &["--version", "--help", "-V", "--ignore-scripts", "--no-scripts"];

impl Machine<'_> {
    /// Adds that code from elsewhere runs, for programs that run what is in a directory which this command fetched.
    pub(super) fn run_fetched_directory(&mut self, call: &Call) {
        if !self.has_fetched() {
            return;
        }
        let mut runners = RUNNERS.iter().filter(|runner| runner.fits(call)).peekable();
        let is_harmless =
            || call.words.iter().any(|word| word.as_exact().is_some_and(|word| HARMLESS.contains(&word)));
        if runners.peek().is_none() || self.away.is_some() || is_harmless() {
            return;
        }
        let addresses: Vec<String> = runners.filter_map(|runner| self.address_run_by(runner, call)).collect();
        if let Some(address) = addresses.first() {
            self.runs_from_network(address);
        }
    }

    /// The address from which came what a call runs.
    fn address_run_by(&self, runner: &Runner, call: &Call) -> Option<String> {
        let named = named_by_options(call);
        let operands = call.words.iter().take_while(|word| word.as_exact() != Some("--")).filter(|word| {
            match runner.operands {
                Operands::Names => false,
                Operands::Places => !word.known_start().starts_with('-'),
                Operands::Paths => {
                    let text = word.known_start();
                    text == "."
                        || text == ".."
                        || text.contains('/') && !text.starts_with('-') && !text.contains("://")
                }
            }
        });
        let places = named.iter().chain(operands).filter_map(|value| self.one_path_through(value));
        // A package that is one file comes from where the file came, which its installation says.
        let is_package =
            |place: &AbsolutePath| runner.operands == Operands::Paths && self.is_fetched_file(place);
        let found = places.filter(|place| !is_package(place)).filter_map(|place| {
            self.address_at(&place).or_else(|| self.address_of_code_in(&place, runner.files))
        });
        let here = || {
            let counts = named.is_empty() && runner.operands != Operands::Paths;
            self.cwd().filter(|_| counts).and_then(|cwd| self.address_of_code_in(cwd, runner.files))
        };
        { found }.next().or_else(here)
    }
}

impl Runner {
    fn fits(&self, call: &Call) -> bool {
        self.programs.contains(&call.program.as_str())
            && match self.calls {
                Calls::All => true,
                Calls::With(calls) => has_series(call, calls),
                Calls::Modules(known) => {
                    let mut words = call.words.iter().filter_map(Value::as_exact);
                    let module = words.find(|word| *word == "-m").and_then(|_| words.next());
                    module.is_some_and(|module| !known.contains(&module))
                }
                Calls::Without(words) => {
                    let mut plain = call.words.iter().filter_map(Value::as_exact);
                    let first = plain.find(|word| !word.starts_with(['-', '+']));
                    first.is_none_or(|first| !words.contains(&first))
                }
            }
    }
}

/// What stands behind the options of a call that name places.
fn named_by_options(call: &Call) -> Vec<Value> {
    let mut found = Vec::new();
    let mut words = call.words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        if text == "--" {
            break;
        }
        if PLACES.contains(&text) {
            found.extend(words.peek().map(|word| (*word).clone()));
        } else if let Some((option, value)) = text.split_once('=')
            && PLACES.contains(&option)
        {
            found.push(Value::exact(value));
        } else if let Some(value) = text.strip_prefix("-C").or_else(|| text.strip_prefix("-f"))
            && !value.is_empty()
            && !text.starts_with("--")
        {
            found.push(Value::exact(value));
        }
    }
    found
}
