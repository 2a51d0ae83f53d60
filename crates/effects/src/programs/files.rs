//! Programs that make, move and remove files: `cp`, `mv`, `ln`, `install`, `rm`, `mkdir`, `touch`, ...

mod dd;
mod rights;
mod transfer;

use crate::effect::{Certainty, Depth, EffectKind, Severity, Target};
use crate::interpreter::{AimedTarget, Arguments, Call, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::{Secrecy, credential, secrecy};
use crate::world::{Entry, Listing};

pub(crate) use dd::dd;
pub(crate) use rights::{Rights, of_bits, of_mode, of_place};
pub(crate) use transfer::arrive_tree;
use transfer::{Destination, Naming, Transfer, backup_suffix, split_operands, transfer};

/// Carries out what `cp -r SOURCE DESTINATION` does.
pub(crate) fn copy_tree(machine: &mut Machine<'_>, source: &Value, destination: &Value) {
    let arguments = Arguments {
        options: vec![("-r".to_owned(), None)],
        operands: vec![source.clone(), destination.clone()],
        ..Arguments::default()
    };
    transfer(machine, &arguments, Transfer::Copy);
}

/// `rm`, `srm`
pub(crate) fn rm(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let recursive = arguments.has(&["-r", "-R", "--recursive"]) || arguments.uncertain;
    let directories = recursive || arguments.has(&["-d", "--dir"]);
    let forced = arguments.has(&["-f", "--force"]);
    let asks = !forced && asks_first(arguments, recursive);
    let all_missing = !arguments.operands.is_empty()
        && arguments
            .operands
            .iter()
            .all(|operand| machine.is_certainly_missing(operand) && !machine.is_dangling(operand));
    let can_all = arguments.operands.iter().all(|operand| machine.can_remove(operand));
    for operand in &arguments.operands {
        // `rm` refuses these, whatever the options; what is meant is worth a word all the same.
        let refused = operand
            .as_exact()
            .is_some_and(|text| matches!(text.trim_end_matches('/').rsplit('/').next(), Some("." | "..")));
        for aim in machine.paths(operand) {
            let entry = aim.target.path().map(|path| machine.entry(path));
            let depth = match entry {
                Some(Entry::Directory) if !directories => continue,
                Some(Entry::Directory | Entry::Unknown | Entry::Missing | Entry::Symlink(_)) | None
                    if recursive =>
                {
                    Depth::Recursive
                }
                Some(_) | None => Depth::Single,
            };
            if asks || refused {
                machine.possibly(|machine| machine.delete_aim(aim, depth));
            } else {
                machine.delete_aim(aim, depth);
            }
        }
    }
    let is_known = |(option, value): &(String, Option<Value>)| {
        let known = ["-f", "--force", "-r", "-R", "--recursive", "-d", "--dir", "-v", "--verbose"];
        value.is_none() && known.contains(&option.as_str())
    };
    let can_all = !arguments.uncertain && arguments.options.iter().all(is_known) && can_all;
    match (forced, all_missing) {
        (true, _) if can_all => Exit::success(),
        (false, true) => Exit::failure(),
        (true, _) | (false, false) => Exit::silent(),
    }
}

/// Whether `rm` asks before it removes: `-I` only before a tree or more than three files.
fn asks_first(arguments: &Arguments, recursive: bool) -> bool {
    let many = || {
        let is_one = |operand: &Value| operand.as_exact().is_some();
        recursive || arguments.operands.len() > 3 || !arguments.operands.iter().all(is_one)
    };
    let when = arguments.value(&["--interactive"]);
    arguments.has(&["-i"])
        || arguments.has(&["-I"]) && many()
        || arguments.has(&["--interactive"])
            && match when.map(Value::as_exact) {
                Some(Some("never" | "no" | "none")) => false,
                Some(Some("once")) => many(),
                Some(Some(_) | None) | None => true,
            }
}

/// `rmdir`
pub(crate) fn rmdir(machine: &mut Machine<'_>, call: &Call) -> Exit {
    for operand in &call.arguments.operands {
        for aim in machine.paths(operand) {
            let holds_something = aim.target.path().is_some_and(|path| {
                matches!(machine.children(path), Listing::Names(names) if !names.is_empty())
                    || matches!(machine.entry(path), Entry::File(_) | Entry::Symlink(_) | Entry::Special)
            });
            if !holds_something {
                machine.delete_aim(aim, Depth::Single);
            }
        }
        if call.arguments.has(&["-p", "--parents"]) {
            let mut rest = operand.as_exact().map(|text| text.trim_end_matches('/').to_owned());
            while let Some((parent, _)) = rest.as_deref().and_then(|text| text.rsplit_once('/')) {
                let parent = parent.to_owned();
                let value = Value::exact(parent.clone());
                machine.possibly(|machine| machine.delete(&value, Depth::Single));
                rest = Some(parent).filter(|text| !text.is_empty());
            }
        }
    }
    Exit::silent()
}

/// `mkdir`
pub(crate) fn mkdir(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let parents = call.arguments.has(&["-p", "--parents"]);
    let is_known = |(option, _): &(String, Option<Value>)| {
        matches!(option.as_str(), "-p" | "--parents" | "-v" | "--verbose")
    };
    let mut sure = !call.arguments.uncertain
        && !call.arguments.operands.is_empty()
        && call.arguments.options.iter().all(is_known);
    let before = machine.effect_count();
    for operand in &call.arguments.operands {
        sure &= machine.can_make(operand, parents);
        let orphan = !parents
            && machine.paths(operand).iter().any(|aim| {
                let parent = aim.target.path().and_then(AbsolutePath::parent);
                parent.is_some_and(|parent| machine.entry(&parent) == Entry::Missing)
            });
        if orphan {
            machine.possibly(|machine| machine.make_directory(operand));
        } else {
            machine.make_directory(operand);
        }
    }
    machine.amend(before, |effect| {
        if effect.kind == EffectKind::FileCreate && effect.nature == Nature::Ordinary {
            effect.nature = Nature::EmptyDirectory;
        }
    });
    if sure { Exit::success() } else { Exit::silent() }
}

/// `touch`: makes what is missing, and gives what exists other times.
pub(crate) fn touch(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let makes = !call.arguments.has(&["-c", "--no-create", "-h", "--no-dereference"]);
    // `-` is what the standard output leads to.
    for operand in call.arguments.operands.iter().filter(|operand| operand.as_exact() != Some("-")) {
        for aim in machine.paths_through(operand) {
            match aim.target.path().map(|path| machine.entry(path)) {
                Some(Entry::Missing) if makes => machine.write_text(operand, &Value::exact("")),
                Some(Entry::Unknown) | None if makes => {
                    machine.add(Draft::at(EffectKind::FileCreate, aim).possible());
                }
                Some(Entry::File(_)) => machine.renew_times(aim),
                Some(
                    Entry::Missing | Entry::Unknown | Entry::Directory | Entry::Symlink(_) | Entry::Special,
                )
                | None => {}
            }
        }
    }
    Exit::silent()
}

/// `truncate`: a size of nothing leaves nothing in a file; of any other it is not known what stays.
pub(crate) fn truncate(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let size = arguments.value(&["-s", "--size"]).and_then(Value::as_exact).unwrap_or_default();
    let is_nothing =
        size.starts_with('0') && size.trim_start_matches('0').bytes().all(|unit| unit.is_ascii_alphabetic());
    let makes = !arguments.has(&["-c", "--no-create"]);
    for operand in &arguments.operands {
        let left = left_of_truncated(machine, operand, size);
        match (makes, is_nothing) {
            (true, true) => machine.write_text(operand, &Value::exact("")),
            (true, false) => machine.write(operand),
            (false, _) => machine.effect(EffectKind::FileModify, operand),
        }
        if let Some((path, text)) = left.filter(|_| !is_nothing) {
            machine.overlay().announce(&path, text);
        }
    }
    Exit::silent()
}

/// How long the texts are of which it is worked out what `truncate` leaves, in bytes (ours).
const TRUNCATED: usize = 256 * 1024;

/// What `truncate` leaves of a file whose text is known: cut, or with bytes of nothing behind it. Source: GNU coreutils manual, "truncate".
fn left_of_truncated(machine: &Machine<'_>, operand: &Value, size: &str) -> Option<(AbsolutePath, String)> {
    let aims = machine.paths_through(operand);
    let [aim] = aims.as_slice() else { return None };
    let path = aim.target.path()?;
    let before = match machine.entry(path) {
        Entry::Missing => String::new(),
        Entry::File(_) => machine.announced_text(path).as_exact()?.to_owned(),
        Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => return None,
    };
    let (sign, size) = match size.strip_prefix(['+', '-', '<', '>', '/', '%']) {
        Some(rest) => (size.chars().next(), rest),
        None => (None, size),
    };
    let digits = size.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let unit: usize = match size.get(digits.len()..)? {
        "" => 1,
        "K" | "k" | "KiB" => 1024,
        "KB" | "kB" => 1000,
        "M" | "m" | "MiB" => 1024 * 1024,
        "MB" => 1_000_000,
        _ => return None,
    };
    let number = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    let length = before.len();
    let length = match sign {
        None => number,
        Some('+') => length.checked_add(number)?,
        Some('-') => length.saturating_sub(number),
        Some('<') => length.min(number),
        Some('>') => length.max(number),
        Some('/') => length.checked_div(number)?.checked_mul(number)?,
        Some(_) => length.checked_next_multiple_of(number)?,
    };
    if length > TRUNCATED {
        return None;
    }
    let kept = before.get(..length.min(before.len()))?;
    Some((path.clone(), format!("{kept}{}", "\0".repeat(length - kept.len()))))
}

/// `chmod`, `chown`, `chgrp`, `setfacl`: the first operand says what, unless a reference does.
pub(crate) fn mode(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    // `chmod -w x`: the mode looks like an option.
    let mode_is_option = call.program == "chmod" && arguments.has(&["-r", "-w", "-x", "-X", "-s", "-t"]);
    let has_mode_first = call.program != "setfacl" && !mode_is_option && !arguments.has(&["--reference"]);
    let first = usize::from(has_mode_first);
    if arguments.has(&["--test"]) {
        return Exit::unknown();
    }
    let recursive = arguments.has(&["-R", "--recursive"]);
    let wanted = arguments.operand(0).filter(|_| call.program == "chmod" && first == 1).map(str::to_owned);
    let user = machine.world().place().user.clone();
    let reference = arguments.value(&["--reference"]).cloned();
    let rights = match &reference {
        Some(reference) if call.program == "chmod" => rights::of_place(machine, reference),
        Some(_) | None => rights::of_call(&call.program, arguments, user.as_deref()),
    };
    for operand in arguments.operands.iter().skip(first) {
        for aim in machine.paths_through(operand) {
            let above_guard = aim.target.path().is_some_and(|path| machine.is_above_guard(path));
            let hands_out = wanted.as_deref().is_some_and(rights::opens_to_others)
                && aim.target.path().is_some_and(|path| is_proof_of_the_user(machine, path));
            let entry = aim.target.path().map(|path| machine.entry(path));
            if let (Some(Entry::File(facts)), Some(mode)) = (&entry, &wanted)
                && has_mode(facts.mode, mode)
                && !arguments.uncertain
            {
                continue;
            }
            let words = if mode_is_option { option_mode(arguments) } else { wanted.clone() };
            if let (Some(path), Some(words), false) = (aim.target.path(), words, recursive)
                && call.program == "chmod"
                && !arguments.uncertain
            {
                let path = path.clone();
                machine.overlay().change_mode(&path, &words);
            }
            let is_socket = is_engine_socket(&aim.target);
            let mut draft = Draft::at(EffectKind::PermissionChange, aim);
            if above_guard {
                // What is not known is not taken for harmless where the guard lives.
                let is_unknown = rights.is_none() && call.program == "chmod";
                let left = rights.or(is_unknown.then_some(Rights::Taken));
                draft = left.map_or(draft.clone(), |left| draft.nature(left.nature()).note(left.note()));
                if is_unknown {
                    draft = draft.possible();
                }
            }
            if recursive && !matches!(entry, Some(Entry::File(_))) {
                draft = draft.recursive();
            }
            if entry == Some(Entry::Missing) {
                draft = draft.possible();
            }
            if wanted.as_deref().is_some_and(only_lets_run) && draft.depth == Depth::Single {
                draft = draft.nature(Nature::LetsRun).note("only lets it be read and run");
            }
            if hands_out && entry != Some(Entry::Directory) {
                draft = draft
                    .severity(Severity::High)
                    .nature(Nature::Ordinary)
                    .note("lets everybody on this machine have a credential");
            }
            if wanted.as_deref().is_some_and(rights::opens_to_others) && is_socket {
                draft = draft
                    .severity(Severity::High)
                    .note("lets everybody command the engine of containers, as root");
            }
            if wanted.as_deref().is_some_and(sets_user) {
                draft = draft.severity(Severity::High).note(SETS_USER);
            }
            machine.add(draft);
        }
    }
    Exit::silent()
}

/// The mode of `chmod -w x`, which looks like an option; `None` where there is more than one.
fn option_mode(arguments: &Arguments) -> Option<String> {
    let mut modes = arguments.options.iter().filter(|(option, _)| option.len() == 2 && option != "-v");
    let (mode, _) = modes.next()?;
    modes.next().is_none().then(|| mode.clone())
}

/// Whether a file proves who the user is, and is none of the project: a key, a token, a password.
fn is_proof_of_the_user(machine: &Machine<'_>, path: &AbsolutePath) -> bool {
    let place = machine.world().place();
    !path.is_within(&place.workspace)
        && credential(path, &place.home).is_some()
        && secrecy(path) == Secrecy::Proof
}

/// Whether a path is that of a socket through which the engine of containers is commanded.
fn is_engine_socket(target: &Target) -> bool {
    let name = target.path().and_then(AbsolutePath::name);
    name.is_some_and(|name| super::containers::ENGINE_SOCKETS.contains(&name))
}

/// Whether a mode gives rights to read and run only: `+x`, `a+rx`.
fn only_lets_run(mode: &str) -> bool {
    mode.split_once('+').is_some_and(|(who, what)| {
        who.chars().all(|letter| "ugoa".contains(letter))
            && !what.is_empty()
            && what.chars().all(|letter| "rxX".contains(letter))
    })
}

/// Why such a mode is grave.
pub(crate) const SETS_USER: &str = "whoever runs it gets the rights of its owner";

/// Whether a mode lets a program run with the rights of its owner: `u+s`, `4755`.
pub(crate) fn sets_user(mode: &str) -> bool {
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        return bits & 0o4000 != 0;
    }
    mode.split(',').any(|clause| {
        clause
            .split_once(['+', '='])
            .is_some_and(|(who, what)| what.contains('s') && (who.is_empty() || who.contains(['u', 'a'])))
    })
}

/// Whether permission bits are already what `chmod` is asked for; `false` when that is not clear.
fn has_mode(bits: u32, wanted: &str) -> bool {
    if let Ok(mode) = u32::from_str_radix(wanted, 8) {
        return bits & 0o7777 == mode;
    }
    matches!(wanted, "+x" | "a+x") && bits & 0o111 == 0o111
}

/// `cp`
pub(crate) fn cp(machine: &mut Machine<'_>, call: &Call) -> Exit {
    transfer(machine, &call.arguments, Transfer::Copy)
}

/// `mv`
pub(crate) fn mv(machine: &mut Machine<'_>, call: &Call) -> Exit {
    transfer(machine, &call.arguments, Transfer::Move)
}

/// `install`
pub(crate) fn install(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-d", "--directory"]) {
        let mode = arguments.value(&["-m", "--mode"]).cloned();
        for operand in &arguments.operands {
            let stands = machine.is_directory(operand) == Some(true);
            machine.make_directory(operand);
            // One that is there already gets the mode, too (install(1), `-d`).
            if let (Some(mode), true) = (&mode, stands) {
                let words = [Value::exact("chmod"), mode.clone(), Value::exact("--"), operand.clone()];
                machine.run_words(&words, Input::Inherited);
            }
        }
        return Exit::silent();
    }
    let exit = transfer(machine, arguments, Transfer::Install);
    let mode = arguments.value(&["-m", "--mode"]).and_then(Value::as_exact);
    if let Some(place) = arguments.operands.last().filter(|_| mode.is_some_and(sets_user)) {
        for aim in machine.paths_through(place) {
            let draft = Draft::at(EffectKind::PermissionChange, aim);
            machine.add(draft.severity(Severity::High).note("whoever runs it gets the rights of its owner"));
        }
    }
    exit
}

/// `ln`
pub(crate) fn ln(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let symbolic = arguments.has(&["-s", "--symbolic"]);
    let backup = backup_suffix(arguments);
    let forced = arguments.has(&["-f", "--force"]);
    let asks = !forced && arguments.has(&["-i", "--interactive"]);
    let replaces = forced || asks || backup.is_some();
    let (sources, destination) = match arguments.operands.as_slice() {
        [only] if arguments.value(&["-t", "--target-directory"]).is_none() => {
            (vec![only.clone()], Destination::Inside(Value::exact(".")))
        }
        _ => {
            let as_file = arguments.has(&["-T", "--no-target-directory", "-n", "--no-dereference"]);
            let Some(split) = split_operands(machine, arguments, as_file) else { return Exit::silent() };
            split
        }
    };
    for source in &sources {
        if !symbolic && machine.is_certainly_missing(source) {
            continue;
        }
        for place in destination.of(source, Naming::Basename) {
            let taken = machine.paths(&place).iter().any(|aim| {
                let entry = aim.target.path().map(|path| machine.entry(path));
                matches!(entry, Some(Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special))
            });
            if taken && !replaces {
                continue;
            }
            if let (true, Some(suffix)) = (taken && machine.is_directory(&place) != Some(true), &backup) {
                machine.write(&place.followed_by(suffix));
            }
            let before = machine.effect_count();
            // What a list names is there.
            let is_listed = |aim: &AimedTarget| {
                aim.nature == Nature::NamedByOutput
                    || matches!((&place, &aim.target), (Value::Glob(_) | Value::Unknown, Target::Glob(_)))
            };
            let listed: Vec<AimedTarget> = machine.paths(&place).into_iter().filter(is_listed).collect();
            if symbolic && replaces && !listed.is_empty() {
                for aim in listed {
                    machine.add(Draft::at(EffectKind::FileModify, aim));
                }
            } else if symbolic {
                machine.make_link(&place, source);
            } else {
                machine.second_name(source);
                let links: Vec<_> = machine
                    .paths(&place)
                    .into_iter()
                    .filter(|aim| {
                        aim.target.path().is_some_and(|path| matches!(machine.entry(path), Entry::Symlink(_)))
                    })
                    .collect();
                if links.is_empty() {
                    let content = machine.peek(source);
                    machine.write_from(&place, &content);
                }
                machine.remember_second_name(&place, source);
                let from = machine.one_path_through(source);
                for aim in links {
                    let path = aim.target.path().cloned();
                    machine.add(Draft::at(EffectKind::FileModify, aim).note("replaces the symbolic link"));
                    if let (Some(from), Some(path)) = (&from, path) {
                        machine.remember_copy(from, &path);
                    }
                }
            }
            if taken && asks {
                machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            }
        }
    }
    Exit::silent()
}

/// `tee`
pub(crate) fn tee(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let appends = call.arguments.has(&["-a", "--append"]);
    let content = match &call.input {
        Input::Text(_) if appends => Output::Unknown,
        input => Output::from_input(input),
    };
    for operand in &call.arguments.operands {
        let longer = match (&call.input, machine.paths_through(operand).as_slice()) {
            (Input::Text(added), [aim]) if appends => aim.target.path().cloned().and_then(|path| {
                let longer = machine.announced_text(&path).followed_by(added);
                longer.as_exact().map(|text| (path, text.to_owned()))
            }),
            _ => None,
        };
        machine.write_from(operand, &content);
        if let Some((path, text)) = longer {
            machine.overlay().announce(&path, text);
        }
    }
    Exit::with(Output::from_input(&call.input))
}

/// `split`, `csplit`: pieces named after a prefix, `x` by default.
pub(crate) fn split(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let prefix = if call.program == "csplit" {
        arguments.value(&["-f", "--prefix"]).cloned().unwrap_or_else(|| Value::exact("xx"))
    } else {
        arguments.operands.get(1).cloned().unwrap_or_else(|| Value::exact("x"))
    };
    let text = match arguments.operands.first() {
        Some(source) if source.as_exact() != Some("-") => machine.read(source),
        Some(_) | None => Output::from_input(&call.input),
    };
    if let Some(filter) = arguments.value(&["--filter"]).cloned() {
        return machine.possibly(|machine| machine.run_text(&filter, Input::Unknown));
    }
    create_pattern(machine, &prefix, suffix(call));
    machine.remember_names(&prefix);
    note_pieces(machine, call, &prefix, &text);
    Exit::silent()
}

/// What the names of the pieces end in: digits or letters behind the prefix, so that no piece is called as the prefix (split(1), csplit(1)).
fn suffix(call: &Call) -> &'static str {
    let arguments = &call.arguments;
    match call.program.as_str() {
        // A format of one's own.
        "csplit" if arguments.has(&["-b", "--suffix-format"]) => "*",
        "csplit" => "[0-9]*",
        _ if arguments.has(&["-d", "--numeric-suffixes", "-x", "--hex-suffixes"]) => "[0-9a-f]*",
        _ => "[a-z]*",
    }
}

/// The greatest number of lines that `split` puts into one file unless it is told otherwise (split(1)).
const LINES: usize = 1000;

/// Remembers the first pieces by their names, with all of the text where it fits into one.
fn note_pieces(machine: &mut Machine<'_>, call: &Call, prefix: &Value, text: &Output) {
    let arguments = &call.arguments;
    let is_csplit = call.program == "csplit";
    let numbers = is_csplit || arguments.has(&["-d", "--numeric-suffixes", "-x", "--hex-suffixes"]);
    let width = arguments.value(&["-a", "--suffix-length", "-n", "--digits"]).filter(|_| !is_csplit);
    let width = width.and_then(|value| value.as_exact()?.parse::<usize>().ok()).unwrap_or(2).min(8);
    let whole = match text {
        Output::Text(Value::Exact(text))
            if !is_csplit
                && text.lines().count() <= LINES
                && !arguments.has(&[
                    "-b",
                    "-l",
                    "-C",
                    "-n",
                    "--bytes",
                    "--lines",
                    "--line-bytes",
                    "--number",
                ]) =>
        {
            Value::exact(text.as_str())
        }
        _ => Value::Unknown,
    };
    let letters = if numbers { ["0", "1"] } else { ["a", "b"] };
    for (place, last) in letters.into_iter().enumerate() {
        if place > 0 && whole != Value::Unknown {
            return;
        }
        let first = letters.first().copied().unwrap_or_default().repeat(width.saturating_sub(1));
        let name = prefix.followed_by(&Value::Exact(format!("{first}{last}")));
        for aim in machine.paths_through(&name) {
            machine.hold(&aim, whole.clone());
        }
    }
}

/// Adds that files are created whose names begin so.
pub(super) fn create_pattern(machine: &mut Machine<'_>, prefix: &Value, rest: &str) {
    let pattern = match prefix.as_exact() {
        Some(text) => Value::Glob(format!("{text}{rest}")),
        None => prefix.followed_by(&Value::Unknown),
    };
    for aim in machine.paths(&pattern) {
        machine.add(Draft::at(EffectKind::FileCreate, aim));
    }
}

/// The value behind a known beginning of a word: `of=` in `of=/dev/sda`.
pub(super) fn after(word: &Value, beginning: &str) -> Option<Value> {
    match word {
        Value::Exact(text) => text.strip_prefix(beginning).map(Value::exact),
        Value::AnyOf(texts) => {
            let rests: Option<Vec<String>> =
                texts.iter().map(|text| text.strip_prefix(beginning).map(str::to_owned)).collect();
            rests.map(Value::one_of)
        }
        Value::Glob(pattern) => pattern.strip_prefix(beginning).map(|rest| Value::Glob(rest.to_owned())),
        Value::Between { prefix, suffix } => {
            let rest = prefix.strip_prefix(beginning)?.to_owned();
            if rest.is_empty() && suffix.is_empty() {
                return Some(Value::Unknown);
            }
            Some(Value::Between { prefix: rest, suffix: suffix.clone() })
        }
        Value::Unknown => None,
    }
}
