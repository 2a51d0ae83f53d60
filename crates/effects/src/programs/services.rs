//! Services of the machine: systemd, init scripts, launchd.

use super::containers::skip_options;
use super::wrappers::kept;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Inheritance, Input, Machine, Value};

/// Services that guard the machine, let people in, or keep its record.
const GUARDING: &[&str] = &[
    "auditd",
    "firewalld",
    "ufw",
    "iptables",
    "nftables",
    "fail2ban",
    "apparmor",
    "selinux",
    "rsyslog",
    "syslog",
    "syslog-ng",
    "systemd-journald",
    "sshd",
    "ssh",
    "falcon-sensor",
    "clamav-daemon",
    "clamd",
    "osqueryd",
    "wazuh-agent",
    "ossec",
    "crowdstrike",
    "mdatp",
    "cbdaemon",
    "cbagentd",
    "auditbeat",
    "filebeat",
    "aide",
    "networking",
    "NetworkManager",
    "systemd-networkd",
    "systemd-resolved",
    "dbus",
    "cron",
    "crond",
    "systemd-logind",
    "falco",
    "sysmon",
    "checkrein",
    "unattended-upgrades",
    "apt-daily.timer",
    "chronyd",
    "systemd-timesyncd",
    "polkit",
    "tripwire",
    "rkhunter",
    "sentinelone",
    "sophos-spl",
    "esets",
    "ds_agent",
];
/// Units whose start stops the machine.
const STOPPING: &[&str] = &[
    "poweroff.target",
    "reboot.target",
    "halt.target",
    "rescue.target",
    "emergency.target",
    "kexec.target",
    "ctrl-alt-del.target",
    "runlevel0.target",
    "runlevel6.target",
];

/// `systemctl`.
pub(crate) fn systemctl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some((verb, units)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    let Some(verb) = verb.as_exact() else {
        machine.opaque("the verb is not known");
        return Exit::unknown();
    };
    if call.arguments.has(&["--help", "--dry-run"]) || call.arguments.has(&["--when=cancel"]) {
        return Exit::unknown();
    }
    match verb {
        "start"
        | "restart"
        | "reload"
        | "try-restart"
        | "reload-or-restart"
        | "try-reload-or-restart"
        | "condrestart"
        | "force-reload"
        | "thaw"
        | "clean" => {
            for unit in units {
                if unit.as_exact().is_some_and(|unit| STOPPING.contains(&unit)) {
                    machine.add(stops_machine());
                } else {
                    machine.add(
                        Draft::new(EffectKind::InfrastructureChange, service(unit))
                            .note("a service of this machine"),
                    );
                }
            }
        }
        "stop" | "kill" | "freeze" => {
            for unit in units {
                stop(machine, unit);
            }
        }
        "enable" | "reenable" | "preset" | "link" | "add-wants" | "add-requires" | "preset-all" | "edit"
        | "revert" => {
            for unit in units {
                machine.add(
                    Draft::new(EffectKind::Persistence, service(unit))
                        .severity(Severity::Medium)
                        .note("starts with the machine"),
                );
                if call.arguments.has(&["--now"]) {
                    machine.add(
                        Draft::new(EffectKind::InfrastructureChange, service(unit))
                            .note("a service of this machine"),
                    );
                }
            }
        }
        "disable" | "mask" => {
            for unit in units {
                let severity = if is_guarding(unit) { Severity::Critical } else { Severity::Medium };
                machine.add(
                    Draft::new(EffectKind::SystemModification, service(unit))
                        .severity(severity)
                        .note("keeps a service from starting"),
                );
            }
        }
        "unmask" | "set-property" | "set-environment" | "unset-environment" | "import-environment"
        | "bind" | "mount-image" | "service-log-level" | "service-log-target" | "log-level"
        | "log-target" | "service-watchdogs" | "reset-failed" => {
            if matches!(verb, "unmask" | "set-property" | "bind" | "mount-image") {
                for unit in units.iter().take(1) {
                    if verb == "set-property" && holds_session(unit) {
                        let draft = Draft::new(EffectKind::SystemModification, service(unit));
                        machine.add(
                            draft.severity(Severity::High).note("limits the session in which this runs"),
                        );
                        continue;
                    }
                    let named = unit.as_exact().is_some_and(crate::guard::is_held_up);
                    let kind =
                        if named { EffectKind::SystemModification } else { EffectKind::InfrastructureChange };
                    machine.add(Draft::new(kind, service(unit)).note("a service of this machine"));
                }
            }
        }
        "reboot" | "poweroff" | "halt" | "kexec" | "soft-reboot" | "switch-root" | "emergency" | "rescue"
        | "exit" => machine.add(stops_machine()),
        "isolate" | "default" | "set-default" => {
            let target = units.first().map_or(Target::Service("default.target".to_owned()), service);
            machine.add(
                Draft::new(EffectKind::SystemModification, target)
                    .severity(Severity::Critical)
                    .note("changes what runs on the machine"),
            );
        }
        // Looking, reading unit files again, sleeping.
        _ => {}
    }
    Exit::unknown()
}

/// `service NAME VERB`.
pub(crate) fn service_script(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let [name, verb, ..] = call.arguments.operands.as_slice() else { return Exit::unknown() };
    match verb.as_exact().unwrap_or_default() {
        "stop" | "force-stop" => stop(machine, name),
        "start" | "restart" | "reload" | "force-reload" | "condrestart" | "try-restart" | "zap" => {
            machine.add(
                Draft::new(EffectKind::InfrastructureChange, service(name)).note("a service of this machine"),
            );
        }
        _ => {}
    }
    Exit::unknown()
}

fn stop(machine: &mut Machine<'_>, unit: &Value) {
    if is_guarding(unit) {
        machine.add(
            Draft::new(EffectKind::SystemModification, service(unit))
                .severity(Severity::Critical)
                .note("stops a service that guards the machine or lets people in"),
        );
    } else {
        let target = unit.as_exact().map_or(Target::Unknown, |text| Target::Process(text.to_owned()));
        let (severity, note) = if holds_session(unit) {
            (Severity::High, "stops the session in which this runs, and the client with it")
        } else {
            (Severity::Medium, "stops a service of this machine")
        };
        machine.add(Draft::new(EffectKind::ProcessKill, target).severity(severity).note(note));
    }
}

fn stops_machine() -> Draft {
    Draft::new(EffectKind::SystemModification, Target::Service("machine".to_owned()))
        .severity(Severity::Critical)
        .note("stops the machine")
}

fn is_guarding(unit: &Value) -> bool {
    unit.as_exact().is_some_and(|unit| {
        GUARDING.contains(&unit.trim_end_matches(".service").trim_end_matches(".socket"))
            || GUARDING.contains(&unit)
    })
}

fn service(value: &Value) -> Target {
    value.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()))
}

/// `systemd-run`: at once, or later.
pub(crate) fn systemd_run(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let later = [
        "--on-active",
        "--on-boot",
        "--on-startup",
        "--on-calendar",
        "--on-unit-active",
        "--on-unit-inactive",
        "--path-property",
        "--socket-property",
    ];
    if call.arguments.has(&later) {
        machine.add(
            Draft::new(EffectKind::Persistence, Target::Service("systemd timer".to_owned()))
                .note("runs later by itself"),
        );
    }
    for property in call.arguments.values(&["-p", "--property"]).filter_map(Value::as_exact) {
        // `ExecStopPost=...`: more commands of the unit, with signs in front that say how they run.
        if let Some((_, text)) = property.split_once('=').filter(|(name, _)| name.starts_with("Exec")) {
            let text = text.trim_start_matches(['-', '@', '+', '!', ':', '|']);
            machine.possibly(|machine| machine.run_text(&Value::exact(text), Input::Inherited));
        }
    }
    // A unit has the environment of its manager, a scope that of who starts it (systemd-run(1), "--scope").
    let inheritance =
        if call.arguments.has(&["--scope"]) { Inheritance::Everything } else { Inheritance::OfTheUser };
    let named = call.arguments.values(&["-E", "--setenv"]).filter_map(Value::as_exact);
    let kept = kept(machine, named);
    let run = |machine: &mut Machine<'_>| {
        machine.with_inheritance(inheritance, |machine| {
            machine.with_variables(kept, |machine| {
                machine.run_words(&call.arguments.operands, call.input.clone())
            })
        })
    };
    // A unit begins in the home of its user, or at the root where it is one of the system (systemd-run(1), "--working-directory", "--same-dir").
    let is_here = call.arguments.has(&["--scope", "-d", "--same-dir"]);
    let directory = match call.arguments.value(&["--working-directory"]) {
        Some(directory) => Some(directory.clone()),
        None if is_here => None,
        None if call.arguments.has(&["--user"]) => Some(Value::exact(machine.world().place().home.as_str())),
        None => Some(Value::exact("/")),
    };
    let has_terminal = call.arguments.has(&["-t", "--pty", "-S", "--shell"]);
    let outer = machine.cwd().cloned();
    let work = |machine: &mut Machine<'_>| match &directory {
        Some(directory) => machine.inside(directory, |machine| {
            // Elsewhere nobody finds out who started it.
            let is_apart = has_terminal || machine.cwd() != outer.as_ref();
            if is_apart { machine.cut_loose(run) } else { run(machine) }
        }),
        None if has_terminal && !call.arguments.has(&["--scope"]) => machine.cut_loose(run),
        None => run(machine),
    };
    work(machine)
}

/// Whether a unit holds the session in which the client and this command run: its limits are theirs.
fn holds_session(unit: &Value) -> bool {
    unit.as_exact().is_some_and(|unit| {
        ["user.slice", "app.slice", "session.slice", "-.slice", "default.target", "graphical-session.target"]
            .contains(&unit)
            || matches!(unit, "*" | "*.slice" | "*.service" | "*.scope")
            || unit.starts_with("user-")
            || unit.starts_with("user@")
            || unit.starts_with("session-")
            // Made for what was started by hand, such as terminals and what runs in them (systemd.scope(5)).
            || unit.ends_with(".scope") && !unit.starts_with("run-")
            || unit.ends_with(".slice")
    })
}

/// `launchctl`.
pub(crate) fn launchctl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words = &call.words;
    let Some((verb, rest)) = words.split_first() else { return Exit::unknown() };
    let operands = skip_options(rest, &["-S", "-D"]);
    match verb.as_exact().unwrap_or_default() {
        "load" | "bootstrap" | "enable" => match operands.last() {
            Some(file) => machine.effect(EffectKind::Persistence, file),
            None => machine.add(Draft::new(EffectKind::Persistence, Target::Service("launchd".to_owned()))),
        },
        "unload" | "bootout" | "disable" | "remove" | "reboot" => {
            let target = operands.last().map_or(Target::Service("launchd".to_owned()), service);
            let draft = Draft::new(EffectKind::SystemModification, target).severity(Severity::High);
            machine.add(draft.note("stops a service of this machine"));
        }
        "submit" => {
            machine.add(
                Draft::new(EffectKind::Persistence, Target::Service("launchd".to_owned()))
                    .note("runs by itself and again"),
            );
            if let Some(at) = rest.iter().position(|word| word.as_exact() == Some("--")) {
                return machine.run_words(rest.get(at + 1..).unwrap_or_default(), call.input.clone());
            }
        }
        "asuser" | "bsexec" => {
            return machine.run_words(operands.get(1..).unwrap_or_default(), call.input.clone());
        }
        "kickstart" | "start" | "setenv" | "unsetenv" | "config" | "limit"
            if operands.len() > usize::from(verb.as_exact() == Some("limit")) =>
        {
            let target = operands.first().map_or(Target::Unknown, service);
            machine
                .add(Draft::new(EffectKind::InfrastructureChange, target).note("a service of this machine"));
        }
        "stop" | "kill" => {
            if let Some(unit) = operands.last() {
                stop(machine, unit);
            }
        }
        _ => {}
    }
    Exit::unknown()
}
