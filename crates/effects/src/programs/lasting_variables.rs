//! Variables that programs give to whatever starts later: terminals, services, sessions of the user.
//!
//! Most of them are the agent's work. One that says where an agent or its guard has its place takes every later agent away from its
//! hooks, or its guard from what it remembers; one that makes programs run code does so for all that start later, as it would here.

use checkrein_facts::Steering;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::steered_agents::steers;
use crate::interpreter::{Call, Draft, Exit, Machine, Value};

use super::agents;

/// How a program is told the names of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// Each word is `NAME=VALUE` or a name.
    Assignments,
    /// The first word is a name, the second the value.
    NameThenValue,
    /// Each word is a name, of which the present value is taken.
    Taken,
}

/// A program, the words that must stand first among its words, and how the names follow. Sources: systemctl(1), "Environment Commands";
/// dbus-update-activation-environment(1); launchctl(1); screen(1), "setenv"; the manuals of mise ("mise set"), conda ("conda env config
/// vars") and Windows ("setx").
const PROGRAMS: [(&str, &[&str], Telling); 12] = [
    ("systemctl", &["set-environment"], Telling::Assignments),
    ("systemctl", &["unset-environment"], Telling::Assignments),
    ("systemctl", &["import-environment"], Telling::Taken),
    ("dbus-update-activation-environment", &[], Telling::Assignments),
    ("launchctl", &["setenv"], Telling::NameThenValue),
    ("launchctl", &["unsetenv"], Telling::NameThenValue),
    ("screen", &["setenv"], Telling::NameThenValue),
    ("screen", &["unsetenv"], Telling::NameThenValue),
    ("mise", &["set"], Telling::Assignments),
    ("mise", &["unset"], Telling::Assignments),
    ("conda", &["env", "config", "vars"], Telling::Assignments),
    ("setx", &[], Telling::NameThenValue),
];

/// Variables by which every program of a kind runs code: ld.so(8), dyld(1), bash(1), python(1).
const CODE: [&str; 9] = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PYTHONPATH",
];

/// Where installed programs lie (hier(7)).
const INSTALLED: [&str; 6] = ["/usr/", "/bin", "/sbin", "/opt/", "/snap/", "/nix/"];

/// Adds what a call of a program gives to later agents.
pub(crate) fn note(machine: &mut Machine<'_>, call: &Call) {
    let name = call.program.split(' ').next().unwrap_or_default();
    let name = if matches!(name, "mamba" | "micromamba") { "conda" } else { name };
    if !PROGRAMS.iter().any(|(program, ..)| *program == name) {
        return;
    }
    let words: Vec<&Value> = call.words.iter().filter(|word| !word.known_start().starts_with('-')).collect();
    for (program, verbs, telling) in PROGRAMS {
        if program != name {
            continue;
        }
        // Values of options before the verb stand among the words.
        let is = |at: usize| {
            verbs
                .iter()
                .zip(words.get(at..).unwrap_or_default())
                .filter(|(verb, word)| word.as_exact() == Some(verb))
                .count()
                == verbs.len()
        };
        let Some(at) = (0..=words.len()).find(|at| is(*at)) else { continue };
        let rest = words.get(at + verbs.len()..).unwrap_or_default();
        match telling {
            Telling::Assignments => rest.iter().for_each(|word| {
                let text = word.known_start();
                match text.split_once('=') {
                    Some((name, _)) => {
                        let value =
                            word.as_exact().and_then(|text| text.split_once('=')).map(|(_, value)| value);
                        given(machine, name, value);
                    }
                    None => given(machine, &text, None),
                }
            }),
            Telling::NameThenValue => {
                if let Some(name) = rest.first().and_then(|word| word.as_exact()) {
                    given(machine, name, rest.get(1).and_then(|word| word.as_exact()));
                }
            }
            Telling::Taken => rest.iter().for_each(|word| {
                let Some(name) = word.as_exact() else { return };
                let present = machine.variable(name);
                given(machine, name, present.as_ref().and_then(Value::as_exact));
            }),
        }
    }
}

/// Adds that whatever starts later has a variable of this name and value; `None` for one that is not known, or taken away.
pub(crate) fn given(machine: &mut Machine<'_>, name: &str, value: Option<&str>) {
    if agents::is_place(name) && (value.is_none() || value != agents::present_place(machine, name).as_deref())
    {
        agents::move_later_agents(machine);
    }
    let Some(value) = value else { return };
    match steers(name, Some(value)) {
        Some(Steering::Unasked | Steering::Unbound | Steering::Connection) => {
            agents::steer_later_agents(machine);
        }
        // Code counts below, for every program, and places above.
        Some(Steering::Place | Steering::Code) | None => {}
    }
    let runs_code = match name {
        "PATH" => !leads_to_installed_programs(machine, value),
        // A file for `sh`; programs call other things so.
        "ENV" => value.contains('/'),
        // A script that every shell in the directory reads (mise 2025.1, "Environments", `_.source`).
        "_.source" => true,
        name => CODE.contains(&name),
    };
    if runs_code {
        machine.add(
            Draft::new(EffectKind::Persistence, Target::Service("services of this user".to_owned()))
                .severity(Severity::High)
                .note("whatever starts from now on runs code of its own"),
        );
    } else {
        let set = vec![(name.to_owned(), Value::exact(value))];
        machine.possibly(|machine| {
            machine.with_variables(set, |machine| {
                machine.mark_telling_variables(&[name]);
                Exit::unknown()
            })
        });
    }
}

/// Whether a search path names directories of installed software alone, or of the user.
fn leads_to_installed_programs(machine: &Machine<'_>, value: &str) -> bool {
    let home = &machine.world().place().home;
    let is_installed = |part: &str| {
        INSTALLED.iter().any(|place| part.starts_with(place))
            || part.strip_prefix(home.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    value.split(':').all(is_installed)
}
