//! Words that programs take from variables of the environment, as if they stood in the call.

use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Call, Machine, Value};

/// Where the words come to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In front of all others.
    Front,
    /// Behind the subcommand, whose name the variable may bear at its end (`TF_CLI_ARGS_apply`).
    BehindSubcommand,
}

/// Sources: developer.hashicorp.com/terraform, "Environment Variables", `TF_CLI_ARGS`; docs.pytest.org, `PYTEST_ADDOPTS`; parallel(1), `$PARALLEL`;
/// zip(1), `ZIPOPT`; unzip(1), `UNZIP`; xz(1), `XZ_DEFAULTS` and `XZ_OPT`; less(1), `LESS`; maven.apache.org, `MAVEN_ARGS`.
/// Those of make, tar and git stand with these.
const TABLE: &[(&[&str], &[&str], Place)] = &[
    (&["terraform", "tofu", "opentofu"], &["TF_CLI_ARGS"], Place::BehindSubcommand),
    (&["pytest", "py.test"], &["PYTEST_ADDOPTS"], Place::Front),
    (&["parallel", "sem"], &["PARALLEL"], Place::Front),
    (&["zip"], &["ZIPOPT"], Place::Front),
    (&["unzip"], &["UNZIP"], Place::Front),
    (&["xz", "unxz", "lzma", "unlzma"], &["XZ_DEFAULTS", "XZ_OPT"], Place::Front),
    (&["less"], &["LESS"], Place::Front),
    (&["mvn"], &["MAVEN_ARGS"], Place::Front),
];

/// Adds to a call the words that its program takes from variables.
pub(crate) fn words_of_variables(machine: &Machine<'_>, call: &mut Call) {
    let program = call.program.as_str();
    for (_, names, place) in TABLE.iter().filter(|(programs, ..)| programs.contains(&program)) {
        let at = match place {
            Place::Front => 0,
            Place::BehindSubcommand => {
                let is_verb = |word: &Value| !word.known_start().starts_with('-');
                call.words.iter().position(is_verb).map_or(0, |at| at + 1)
            }
        };
        let verb = at.checked_sub(1).and_then(|at| call.words.get(at)).and_then(Value::as_exact);
        let longer = verb.filter(|_| *place == Place::BehindSubcommand);
        let names = names.iter().flat_map(|name| {
            longer.map(|verb| format!("{name}_{verb}")).into_iter().chain([(*name).to_owned()])
        });
        let texts = names.filter_map(|name| machine.variable(&name)?.as_exact().map(quoted_words));
        let given: Vec<Value> = texts.flatten().map(Value::Exact).collect();
        call.words.splice(at..at, given);
    }
}
