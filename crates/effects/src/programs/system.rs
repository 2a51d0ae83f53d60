//! Parameters of the kernel, the network, the packet filter, attributes of files, users of macOS.

use super::containers::skip_options;
use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Value};
use crate::nature::Nature;
use crate::places::{is_guarding_parameter, system_place};

fn modification(target: impl Into<String>) -> Draft {
    Draft::new(EffectKind::SystemModification, Target::Service(target.into()))
}

/// `sysctl`.
pub(crate) fn sysctl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-p", "--load", "--system", "-f"]) {
        let file = arguments.operand(0).unwrap_or("/etc/sysctl.conf").to_owned();
        machine.add(modification(file).severity(Severity::Medium).note("sets parameters of the kernel"));
        return Exit::unknown();
    }
    for operand in &arguments.operands {
        let start = operand.known_start();
        if let Some((name, _)) = start.split_once('=') {
            let severity = if is_guarding_parameter(name) { Severity::High } else { Severity::Medium };
            machine.add(modification(name.trim()).severity(severity).note("sets a parameter of the kernel"));
        }
    }
    Exit::unknown()
}

/// `ip OBJECT VERB`.
pub(crate) fn ip(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = skip_options(&call.words, &["-n", "-netns", "-f", "-family", "-rcvbuf", "-b", "-batch"]);
    if call.words.iter().any(|word| matches!(word.as_exact(), Some("-b" | "-batch" | "-force"))) {
        machine.add(modification("ip batch").severity(Severity::Medium).note("changes the network"));
    }
    let object = words.first().and_then(Value::as_exact).unwrap_or_default().to_owned();
    words = words.get(1..).unwrap_or_default();
    let verb = words.first().and_then(Value::as_exact).unwrap_or("show");
    if object.starts_with("netns") && verb == "exec" {
        return machine.run_words(words.get(2..).unwrap_or_default(), call.input.clone());
    }
    let changing = [
        "add", "del", "delete", "set", "change", "replace", "flush", "append", "prepend", "attach", "save",
        "restore", "a", "d", "f",
    ];
    let changing = changing.contains(&verb)
        || ["addr", "repl", "chan"].iter().any(|start| verb.starts_with(start) && verb != "address");
    if changing && !object.is_empty() {
        let severity =
            if matches!(verb, "flush" | "del" | "delete") { Severity::High } else { Severity::Medium };
        machine.add(modification(format!("ip {object}")).severity(severity).note("changes the network"));
    }
    Exit::unknown()
}

/// `iptables`.
pub(crate) fn iptables(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut worst: Option<(Severity, &str)> = None;
    let mut words = call.words.iter().filter_map(Value::as_exact).peekable();
    while let Some(word) = words.next() {
        let found = match word {
            "-F" | "--flush" | "-X" | "--delete-chain" => {
                Some((Severity::Critical, "takes the rules of the firewall away"))
            }
            "-D" | "--delete" if words.clone().any(|word| matches!(word, "DROP" | "REJECT")) => {
                Some((Severity::High, "takes a barrier of the firewall away"))
            }
            "-D" | "--delete" | "-Z" | "--zero" => {
                Some((Severity::Medium, "takes a rule of the firewall away"))
            }
            "-P" | "--policy" => {
                let opens = words.clone().any(|word| word == "ACCEPT");
                Some(if opens {
                    (Severity::Critical, "lets everything through the firewall")
                } else {
                    (Severity::High, "changes the firewall")
                })
            }
            "-A" | "--append" | "-I" | "--insert" | "-R" | "--replace" | "-N" | "--new-chain" | "-E"
            | "--rename-chain" => Some((Severity::Medium, "changes the firewall")),
            _ => None,
        };
        worst = worst.max(found);
    }
    if let Some((severity, note)) = worst {
        machine.add(modification("firewall").severity(severity).note(note));
    }
    Exit::unknown()
}

/// `chattr`: `+i`, `-a`, `=` are modes, `-R` and `-f` options.
pub(crate) fn chattr(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut depth = Depth::Single;
    let mut unlocks = false;
    let mut locks = false;
    for word in &call.words {
        match word.as_exact() {
            Some("-R") => depth = Depth::Recursive,
            Some(text) if text.starts_with(['-', '+', '=']) => {
                unlocks |= text.starts_with('-') && text.contains(['i', 'a']);
                locks |= !text.starts_with('-') && text.contains(['i', 'a']);
            }
            Some(_) | None => {
                for aim in machine.paths(word) {
                    let of_machine = aim.target.path().and_then(system_place).is_some();
                    let above_guard = aim.target.path().is_some_and(|path| machine.is_above_guard(path));
                    let draft = Draft::at(EffectKind::PermissionChange, aim).depth(depth);
                    machine.add(if locks && above_guard {
                        draft.nature(Nature::TakesRights).note("takes rights from its owner")
                    } else if unlocks && of_machine {
                        draft.severity(Severity::High).note("unlocks what was protected against changes")
                    } else {
                        draft.note("changes attributes")
                    });
                }
            }
        }
    }
    Exit::unknown()
}

/// `xattr`, `setfattr`, `attr`: options that set or remove make a change of the files.
pub(crate) fn attributes(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let changes = match call.program.as_str() {
        "xattr" => arguments.has(&["-w", "-d", "-c"]),
        "setfattr" => true,
        _ => arguments.has(&["-s", "-r"]),
    };
    if !changes {
        return Exit::unknown();
    }
    let recursive = call.words.iter().filter_map(Value::as_exact).any(|word| {
        word.starts_with('-') && !word.starts_with("--") && word.contains('r') && call.program == "xattr"
    });
    let trusts = call.program == "xattr"
        && arguments.has(&["-d"])
        && call.words.iter().any(|word| word.as_exact() == Some("com.apple.quarantine"));
    // `xattr -w NAME VALUE FILE` takes two values.
    let skip = usize::from(call.program == "xattr" && arguments.has(&["-w"]));
    for operand in arguments.operands.iter().skip(skip) {
        for aim in machine.paths(operand) {
            let depth = if recursive { Depth::Recursive } else { Depth::Single };
            let draft = Draft::at(EffectKind::PermissionChange, aim).depth(depth);
            machine.add(if trusts {
                draft.severity(Severity::High).note("lets a downloaded program run unchecked")
            } else {
                draft.note("changes attributes")
            });
        }
    }
    Exit::unknown()
}

/// `dscl`, `dseditgroup`: users and groups of macOS.
pub(crate) fn dscl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let change = call.words.iter().filter_map(Value::as_exact).find_map(|word| {
        let bare = word.trim_start_matches('-');
        match bare {
            "create" | "createpl" | "append" | "merge" | "change" | "changei" | "edit" | "passwd"
            | "createprop" => Some(Severity::High),
            "delete" | "deletepl" | "deleteprop" => Some(Severity::Critical),
            _ => None,
        }
    });
    if let Some(severity) = change {
        machine.add(modification("users").severity(severity).note("changes users of the machine"));
    } else if call.program == "dsenableroot" {
        machine.add(modification("users").severity(Severity::Critical).note("lets the administrator log in"));
    }
    Exit::unknown()
}
