//! Holding processes up: looking into them, and taking from them what they need to go on.

use super::ending::{OF_SHELLS, listed_in, listed_kill, numbered_kill};
use super::patterns::{Comparison, is_shell_of_hook};
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::{Call, Draft, Exit, Machine, Value};
use crate::nature::Nature;

/// Adds that a process is held up by a program that looks into it, when it is the client or the guard: neither answers then.
pub(crate) fn attach(machine: &mut Machine<'_>, target: &Value) {
    let named = match target.as_exact() {
        Some(text) => text.trim_start_matches("--pid=").to_owned(),
        None => match listed_in(machine) {
            Some(ListedProcesses::Named(name) | ListedProcesses::Chosen(name)) => name,
            Some(list @ (ListedProcesses::All | ListedProcesses::Counted)) => {
                machine.add(listed_kill(&list).nature(Nature::HoldsUp));
                return;
            }
            None => return,
        },
    };
    if KEEPERS.iter().any(|keeper| named.contains(keeper)) {
        let target = Target::Process(named.clone());
        let note = "the memory of a process that keeps keys and passwords";
        machine.add(Draft::new(EffectKind::SecretRead, target).note(note));
    }
    hold_up(machine, &named);
}

/// Processes that have keys or passwords in their memory. Sources: ssh-agent(1), gpg-agent(1), sshd(8), the key rings of GNOME and KDE, and
/// the password stores in `security.toml`.
const KEEPERS: &[&str] = &[
    "ssh-agent",
    "gpg-agent",
    "sshd",
    "keyring",
    "kwalletd",
    "keepass",
    "bitwarden",
    "1password",
    "vault",
    "polkitd",
    "lsass",
    "securityd",
    "agetty",
    "login",
    "firefox",
    "chrome",
    "chromium",
];

/// Adds that processes of a name are held up, when they are the client, the guard, or the shell that asks the guard.
fn hold_up(machine: &mut Machine<'_>, named: &str) {
    let draft =
        Draft::new(EffectKind::ProcessKill, Target::Process(named.to_owned())).nature(Nature::HoldsUp);
    if crate::guard::is_held_up(named) {
        machine.add(draft.note("holds it up, so that it does not answer"));
    } else if is_shell_of_hook(named, Comparison::WholeNames) {
        machine.add(draft.severity(Severity::High).note(OF_SHELLS));
    }
}

/// `renice`, `cpulimit`, `choom`, `taskset -p`, `chrt -p`, `ionice -p`: what a process may use. Those that a user has are the client and
/// the guard, too.
pub(crate) fn throttle(machine: &mut Machine<'_>, targets: &[Value], users: &[Value]) {
    for target in targets {
        attach(machine, target);
    }
    for user in users {
        machine.add(
            Draft::new(EffectKind::ProcessKill, Target::Process(user_of(user)))
                .nature(Nature::HoldsUp)
                .severity(Severity::High)
                .note("slows down every process of a user"),
        );
    }
}

pub(super) fn user_of(user: &Value) -> String {
    user.as_exact().map_or_else(|| "a user".to_owned(), |user| format!("user {user}"))
}

/// `renice`: what stands behind `-p`, `-g` or `-u` is of that kind, up to the next of these (renice(1)).
pub(crate) fn renice(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let (mut processes, mut users) = (Vec::new(), Vec::new());
    let mut are_users = false;
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some("-n" | "--priority" | "--relative") => {
                words.next();
            }
            Some("-u" | "--user") => are_users = true,
            Some("-p" | "--pid" | "-g" | "--pgrp") => are_users = false,
            Some(text) if text.starts_with('-') => {}
            Some(_) | None if are_users => users.push(word.clone()),
            Some(_) | None => processes.push(word.clone()),
        }
    }
    // A name that is not known may be none, as a variable is that is not set.
    if are_users && users.is_empty() {
        users.push(Value::Unknown);
    }
    throttle(machine, &processes, &users);
    Exit::silent()
}

/// `cpulimit`, `choom`: of a process that runs, by its number or name, or of a command.
pub(crate) fn limited(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let targets: Vec<Value> =
        arguments.values(&["-p", "--pid", "-e", "--exe", "-P", "--path"]).cloned().collect();
    let shows = call.program == "choom" && !arguments.has(&["-n", "--adjust"]);
    if targets.is_empty() {
        return machine.run_words(&arguments.operands, call.input.clone());
    }
    if !shows {
        throttle(machine, &targets, &[]);
    }
    Exit::unknown()
}

/// `prlimit`: limits of a process that runs, or of a command.
pub(crate) fn prlimit(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let targets: Vec<Value> = arguments.values(&["-p", "--pid"]).cloned().collect();
    if targets.is_empty() {
        return machine.run_words(&arguments.operands, call.input.clone());
    }
    // Without a limit it shows them; that of dumps keeps nothing from going on.
    let limits = |word: &Value| {
        let start = word.known_start();
        let name = start.split('=').next().unwrap_or_default();
        LIMITS.contains(&name)
            || name.len() > 2
                && !name.starts_with("--")
                && LIMITS.contains(&name.get(..2).unwrap_or_default())
    };
    if call.words.iter().any(limits) {
        for target in &targets {
            let before = machine.effect_count();
            attach(machine, target);
            if machine.effect_count() == before {
                match target.as_exact() {
                    Some(number) => machine.add(numbered_kill(number)),
                    None => machine.effect(EffectKind::ProcessKill, target),
                }
                machine.amend(before, |effect| {
                    "takes from a running process what it needs to go on".clone_into(&mut effect.note);
                });
            }
        }
    }
    Exit::unknown()
}

/// The limits without which a process does not go on (prlimit(1)).
const LIMITS: [&str; 17] = [
    "--nofile",
    "--nproc",
    "--as",
    "--cpu",
    "--fsize",
    "--memlock",
    "--rss",
    "--stack",
    "--data",
    "--rttime",
    "-n",
    "-u",
    "-v",
    "-t",
    "-f",
    "-l",
    "-s",
];

/// `snice`: processes by number, name or user, slowed down (snice(1)).
pub(crate) fn snice(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter();
    let (mut named, mut users) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        let start = word.known_start();
        match start.as_str() {
            "-u" => users.extend(words.next().cloned()),
            "-c" | "-p" | "-t" => named.extend(words.next().cloned()),
            _ if start.starts_with(['-', '+']) => {}
            _ => named.push(word.clone()),
        }
    }
    throttle(machine, &named, &users);
    Exit::silent()
}

/// Programs that take hold of each process that they are given by its number: `reptyr`.
pub(crate) fn attached(machine: &mut Machine<'_>, call: &Call) -> Exit {
    for target in &call.arguments.operands {
        attach(machine, target);
    }
    Exit::unknown()
}
