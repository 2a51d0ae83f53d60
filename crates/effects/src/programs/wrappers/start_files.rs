//! Files that a shell runs before anything else.

use crate::interpreter::{Machine, Value};
use crate::world::Entry;

/// How a shell is started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// As the first one of a session (`-l`).
    pub(super) is_login: bool,
    /// For a user (`-i`).
    pub(super) is_interactive: bool,
}

/// Runs the start files of a shell that this command itself has made, or has moved the home directory to. Those of the user are what
/// they are in every shell.
///
/// Their names and order are those of bash(1) "INVOCATION", dash(1) "Invocation", zsh(1) "STARTUP/SHUTDOWN FILES" and ksh(1).
pub(super) fn run(machine: &mut Machine<'_>, program: &str, kind: Kind) {
    let files = files(machine, program, kind);
    run_those_of_this_command(machine, files);
}

/// Runs the files that a login shell runs when it ends, as [`run`] does those of its start.
pub(crate) fn run_at_end(machine: &mut Machine<'_>, program: &str) {
    let place = |variable: &str, name: &str| {
        machine.variable(variable).map(|home| home.followed_by(&Value::exact(format!("/{name}"))))
    };
    let file = match program {
        "zsh" if machine.variable("ZDOTDIR").is_some() => place("ZDOTDIR", ".zlogout"),
        "zsh" => place("HOME", ".zlogout"),
        "bash" | "rbash" | "bash-static" => place("HOME", ".bash_logout"),
        _ => None,
    };
    run_those_of_this_command(machine, file.into_iter().collect());
}

fn run_those_of_this_command(machine: &mut Machine<'_>, files: Vec<Value>) {
    for file in files {
        let is_there = machine.one_path_through(&file).is_some_and(|path| {
            let is_file = matches!(machine.entry(&path), Entry::File(_));
            let home = machine.world().place().home.clone();
            // What the shell has open is read where it stands.
            let is_open = machine.is_own_descriptor(&path);
            is_open
                || is_file
                    && (machine.is_written_here(&path) || !path.is_within(&home) || machine.moves_home())
        });
        if is_there {
            machine.possibly(|machine| {
                machine.run_script(
                    crate::interpreter::ShellProgram::Bash,
                    &file,
                    &[],
                    crate::interpreter::Input::Inherited,
                )
            });
        }
    }
}

/// The files in order; of the profiles of a user the first that is there.
fn files(machine: &Machine<'_>, program: &str, kind: Kind) -> Vec<Value> {
    let within = |variable: &str, name: &str| {
        machine.variable(variable).map(|home| home.followed_by(&Value::exact(format!("/{name}"))))
    };
    let home = |name: &str| within("HOME", name);
    let is_file = |file: &Value| {
        machine.one_path_through(file).is_some_and(|path| matches!(machine.entry(&path), Entry::File(_)))
    };
    let mut files: Vec<Option<Value>> = Vec::new();
    match program {
        "zsh" => {
            let place = if machine.variable("ZDOTDIR").is_some() { "ZDOTDIR" } else { "HOME" };
            files.push(within(place, ".zshenv"));
            if kind.is_login {
                files.extend([within(place, ".zprofile"), within(place, ".zlogin")]);
            }
            if kind.is_interactive {
                files.push(within(place, ".zshrc"));
            }
        }
        "bash" | "rbash" | "bash-static" => {
            if kind.is_login {
                let profiles = [".bash_profile", ".bash_login", ".profile"].map(home);
                files.push(profiles.into_iter().flatten().find(is_file));
            } else if kind.is_interactive {
                files.push(home(".bashrc"));
            }
            if !kind.is_interactive {
                files.push(machine.variable("BASH_ENV"));
            }
        }
        _ => {
            if kind.is_login {
                files.push(home(".profile"));
            }
            if kind.is_interactive {
                files.push(machine.variable("ENV"));
            }
        }
    }
    files.into_iter().flatten().collect()
}
