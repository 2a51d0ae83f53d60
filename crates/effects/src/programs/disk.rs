//! Programs that overwrite disks and files where they stand: `mkfs`, `wipefs`, `shred`, ...

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::{Brought, Call, Draft, Exit, Machine, Value};
use crate::places::watcher;

/// `mount`, `bindfs` and their kin: what is shown at a second place is remembered.
pub(crate) fn mount(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let everything = arguments.has(&["-a", "--all"]);
    if arguments.operands.is_empty() && !everything {
        return Exit::unknown();
    }
    let place = arguments.operands.last().cloned();
    let by_option = arguments
        .values(&["-o", "--options"])
        .filter_map(Value::as_exact)
        .any(|options| options.split(',').any(|option| matches!(option, "bind" | "rbind")));
    let target = place.clone().unwrap_or_else(|| Value::exact("file systems"));
    let before = machine.effect_count();
    machine.effect(EffectKind::SystemModification, &target);
    machine.amend(before, |effect| effect.severity = Severity::Medium);
    let shows_directory = call.program == "bindfs"
        || by_option
        || arguments.has(&["--bind", "-B", "--rbind", "-R", "--move", "-M"]);
    let again = arguments
        .values(&["-o", "--options"])
        .filter_map(Value::as_exact)
        .any(|options| options.split(',').any(|option| option == "remount"));
    // What may not be written or run any more keeps the guard from its work as well as what hides it.
    let restricts = arguments.has(&["-r", "--read-only"])
        || arguments
            .values(&["-o", "--options"])
            .filter_map(Value::as_exact)
            .any(|options| options.split(',').any(|option| matches!(option, "ro" | "noexec")));
    if let Some(path) =
        place.as_ref().filter(|_| !again || restricts).and_then(|place| machine.one_path_through(place))
    {
        // What was there is hidden, and something else shows in its place.
        machine.bring(&path, Brought::Link);
        if watcher(&path).is_some() || machine.world().guarded().iter().any(|guarded| guarded.path == path) {
            let hidden = Draft::new(EffectKind::FileModify, Target::Path(path));
            machine.add(hidden.note("hidden by what is mounted there"));
        }
    }
    if let (true, [source, place]) = (shows_directory, arguments.operands.as_slice()) {
        machine.remember_mount(source, place);
    }
    Exit::unknown()
}

/// `mkfs.*`, `mkswap`, `wipefs -a`, `blkdiscard`: every operand that is a device or a file is overwritten.
pub(crate) fn format(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-n", "--no-act", "--dry-run", "-V"]) {
        return Exit::unknown();
    }
    if call.program == "wipefs" && !arguments.has(&["-a", "--all", "-o", "--offset"]) {
        return Exit::unknown();
    }
    for operand in &arguments.operands {
        if operand.as_exact().is_some_and(|text| !text.contains(['/', '.'])) {
            continue;
        }
        overwrite(machine, operand);
    }
    Exit::silent()
}

/// `shred`
pub(crate) fn shred(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let removes = call.arguments.has(&["-u", "--remove", "--deallocate"]);
    for operand in &call.arguments.operands {
        overwrite(machine, operand);
        if removes {
            machine.delete(operand, Depth::Single);
        }
    }
    Exit::silent()
}

fn overwrite(machine: &mut Machine<'_>, operand: &Value) {
    let before = machine.effect_count();
    machine.effect(EffectKind::FileModify, operand);
    machine.amend(before, |effect| {
        effect.reversible = false;
        let text = effect.target.text().unwrap_or_default();
        if text.starts_with("/dev/") && !text.starts_with("/dev/shm/") {
            effect.kind = EffectKind::SystemModification;
            effect.severity = Severity::Critical;
            "overwrites the device".clone_into(&mut effect.note);
        }
    });
}
