//! Programs that pack and unpack: `tar`, `zip`, `unzip`, `gzip` and its kin, `7z`, `cpio`, `ar`, `jar`.
//!
//! Where the list of an archive can be read, unpacking makes what it names; else "something below the destination".
//!
//! | module | holds |
//! |---|---|
//! | `tar` | `tar` and its kin, `jar` |
//! | `unpacking` | what unpacking makes |

mod tar;
mod unpacking;

use crate::effect::{Depth, EffectKind};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::world::Entry;

use super::files::after;
use super::listed::Listed;
pub(crate) use tar::{jar, tar};
use tar::{keep_packed, note_packed, packed, secret_packed_in};
pub(crate) use unpacking::{Names, replace_below, unpack_from};
use unpacking::{leave_what_is_there, unpack, unpack_selected};

/// `zip`
pub(crate) fn zip(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if let Some(command) = arguments.value(&["-TT", "--unzip-command"]) {
        machine.run_text(command, Input::Unknown);
    }
    let Some((archive, sources)) = arguments.operands.split_first() else { return Exit::unknown() };
    let is_named = |text: &str| text == "-" || text.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let archive = match archive.as_exact() {
        Some("-") => None,
        Some(text) if is_named(text) => Some(archive.clone()),
        Some(text) => Some(Value::exact(format!("{text}.zip"))),
        None => Some(archive.clone()),
    };
    let mut read = Output::Unknown;
    for source in sources {
        machine.read(source);
        if archive.is_none() {
            let excluded: Vec<String> = arguments
                .values(&["-x", "--exclude"])
                .filter_map(Value::as_exact)
                .map(str::to_owned)
                .collect();
            read = packed(machine, source, &excluded).unwrap_or(read);
        }
    }
    if let Some(file) = archive {
        let excluded: Vec<String> =
            arguments.values(&["-x", "--exclude"]).filter_map(Value::as_exact).map(str::to_owned).collect();
        note_packed(machine, &file, sources, &excluded);
        machine.write(&file);
        keep_packed(machine, &file, sources, &excluded);
    }
    let listed =
        arguments.has(&["-@", "--names-stdin"]).then(|| Listed::of(machine, call, &Value::exact("-")));
    if let Some(list) = &listed {
        list.each(machine, |machine, name| {
            machine.read(name);
        });
    }
    if arguments.has(&["-m", "--move"]) {
        // What is not packed stays.
        let is_part =
            arguments.has(&["-i", "--include", "-x", "--exclude", "-u", "--update", "-f", "--freshen"]);
        for source in sources {
            if is_part {
                machine.possibly(|machine| machine.delete(source, Depth::Recursive));
            } else {
                machine.delete(source, Depth::Recursive);
            }
        }
        if let Some(list) = &listed {
            list.each(machine, |machine, name| machine.delete(name, Depth::Recursive));
        }
    }
    Exit::with(read)
}

/// `unzip`
pub(crate) fn unzip(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some((archive, members)) = arguments.operands.split_first() else { return Exit::unknown() };
    let read = machine.open_archive(archive);
    if machine.is_certainly_missing(archive)
        && archive
            .as_exact()
            .is_some_and(|text| machine.is_certainly_missing(&Value::exact(format!("{text}.zip"))))
    {
        return Exit::failure();
    }
    if arguments.has(&["-l", "-t", "-v", "-Z", "-z", "-h"]) {
        return Exit::unknown();
    }
    if arguments.has(&["-p", "-c"]) {
        return Exit::with(secret_packed_in(machine, archive, members).unwrap_or(read));
    }
    let directory = arguments.value(&["-d"]).cloned().unwrap_or_else(|| Value::exact("."));
    let named = archive.as_exact().map(|text| Value::exact(format!("{text}.zip")));
    let archive = named.filter(|_| machine.is_certainly_missing(archive)).unwrap_or_else(|| archive.clone());
    machine.remember_unpacked(&directory, &read);
    let parts = if arguments.has(&["-j"]) { Names::Last } else { Names::Without(0) };
    let before = machine.effect_count();
    if members.is_empty() {
        unpack_from(machine, Some(&archive), &directory, parts);
    } else {
        unpack_selected(machine, Some(&archive), &directory, parts, members);
    }
    if arguments.has(&["-n"]) {
        leave_what_is_there(machine, before);
    }
    Exit::unknown()
}

/// How a program of the gzip kind treats its files.
struct Packer {
    suffix: String,
    /// Whether the source stays unless told otherwise.
    keeps: bool,
    unpacks: bool,
    family: PackerFamily,
}

/// Programs that read their words alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackerFamily {
    /// What has the suffix is packed already, and `-S` names another suffix (gzip(1), xz(1)).
    Gzip,
    /// What is packed is packed once more, and there is another way to name a folder (zstd(1)).
    Zstd,
    /// The second word is the output; without it, what is no terminal takes it (lz4(1)).
    Lz4,
}

fn packer(call: &Call) -> Packer {
    use PackerFamily::{Gzip, Lz4, Zstd};
    let (suffix, keeps, family) = match call.program.as_str() {
        "bzip2" | "pbzip2" | "lbzip2" | "bunzip2" => (".bz2", false, Gzip),
        "xz" | "pixz" | "unxz" => (".xz", false, Gzip),
        "lzma" | "unlzma" => (".lzma", false, Gzip),
        "lzip" | "plzip" => (".lz", false, Gzip),
        "zstd" | "pzstd" | "zstdmt" | "unzstd" => (".zst", true, Zstd),
        "lz4" | "unlz4" => (".lz4", true, Lz4),
        "lzop" => (".lzo", true, Gzip),
        "brotli" => (".br", true, Gzip),
        "compress" | "uncompress" => (".Z", false, Gzip),
        _ => (".gz", false, Gzip),
    };
    let given = call.arguments.value(&["-S", "--suffix"]).and_then(Value::as_exact);
    let given = given.filter(|_| family == Gzip).map(str::to_owned);
    Packer {
        suffix: given.unwrap_or_else(|| suffix.to_owned()),
        keeps,
        unpacks: call.program.starts_with("un") || matches!(call.program.as_str(), "gunzip" | "bunzip2"),
        family,
    }
}

/// `gzip`, `bzip2`, `xz`, `zstd` and their kin
pub(crate) fn compress(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let packer = packer(call);
    let unpacks = packer.unpacks || arguments.has(&["-d", "--decompress", "--uncompress"]);
    let looks = arguments.has(&["-l", "--list", "-t", "--test"]);
    let prints = arguments.has(&["-c", "--stdout", "--to-stdout"]);
    if looks || prints || arguments.operands.is_empty() {
        let mut read = Output::from_input(&call.input);
        for operand in &arguments.operands {
            read = machine.read(operand);
        }
        return Exit::with(read.made_over());
    }
    let recursive = arguments.has(&["-r", "--recursive"]);
    let keeps = (packer.keeps || arguments.has(&["-k", "--keep"])) && !arguments.has(&["--rm"]);
    let output = arguments.value(&["-o", "--output"]).cloned();
    let mut sources: &[Value] = &arguments.operands;
    let mut target = output;
    let several = recursive || arguments.has(&["-m", "--multiple"]);
    if let (PackerFamily::Lz4, false, [source, second]) = (packer.family, several, sources) {
        target = Some(second.clone());
        sources = std::slice::from_ref(source);
    }
    let forced = arguments.has(&["-f", "--force"]);
    let folder = arguments.value(&["--output-dir-flat", "--output-dir-mirror"]);
    for source in sources {
        let content = machine.read(source);
        let packed_already = !unpacks
            && packer.family == PackerFamily::Gzip
            && source.as_exact().is_some_and(|text| text.ends_with(&packer.suffix));
        if machine.is_certainly_missing(source) || packed_already && !forced {
            continue;
        }
        if machine.is_directory(source) == Some(true) {
            // It is opened before the source is looked at.
            if let (PackerFamily::Lz4, Some(target)) = (packer.family, &target) {
                machine.possibly(|machine| machine.write(target));
            }
            if recursive {
                for aim in machine.paths_through(source) {
                    machine.add(Draft::at(EffectKind::FileCreate, aim.clone()).recursive());
                    if !keeps {
                        machine.add(
                            Draft::at(EffectKind::FileDelete, aim)
                                .recursive()
                                .note("replaced by packed files"),
                        );
                    }
                }
            }
            continue;
        }
        let made = target.clone().unwrap_or_else(|| renamed(source, &packer.suffix, unpacks));
        if let Some(folder) = folder {
            for aim in machine.paths_through(folder) {
                machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
            }
            continue;
        }
        let is_link = machine.paths(source).iter().any(|aim| {
            aim.target.path().is_some_and(|path| matches!(machine.entry(path), Entry::Symlink(_)))
        });
        let is_strange = unpacks && source.as_exact().is_some_and(|text| !has_suffix(text, &packer.suffix));
        let prints = packer.family == PackerFamily::Lz4 && target.is_none() && !several;
        if is_link && !forced || is_strange && target.is_none() || prints {
            machine.possibly(|machine| {
                machine.write(&made);
                if !keeps {
                    machine.delete(source, Depth::Single);
                }
            });
            continue;
        }
        machine.write(&made);
        if matches!((unpacks, &content), (true, Output::Network(_)) | (_, Output::Secret(_))) {
            let aims = machine.paths_through(&made);
            machine.remember_source(&aims, &content);
        }
        if !keeps {
            let before = machine.effect_count();
            machine.delete(source, Depth::Single);
            machine.amend(before, |effect| {
                effect.reversible = true;
                effect.nature = Nature::Ordinary;
                "its content is in the new file".clone_into(&mut effect.note);
            });
        }
    }
    Exit::silent()
}

/// Whether the name of a file says that it is packed, for one of the programs that unpack.
fn has_suffix(name: &str, own: &str) -> bool {
    let known = [
        ".gz", ".z", ".Z", "-gz", "-z", "_z", ".tgz", ".taz", ".bz2", ".bz", ".tbz2", ".tbz", ".xz", ".lzma",
        ".txz", ".tlz", ".zst", ".tzst", ".lz4", ".tlz4", ".lz", ".lzo", ".br",
    ];
    name.ends_with(own) || known.iter().any(|suffix| name.ends_with(suffix))
}

/// The name of the file that a packer makes of another.
fn renamed(source: &Value, suffix: &str, unpacks: bool) -> Value {
    if !unpacks {
        return source.followed_by(&Value::exact(suffix));
    }
    let bare = |text: &str| {
        for (packed, plain) in [(".tgz", ".tar"), (".tbz2", ".tar"), (".txz", ".tar"), (".tzst", ".tar")] {
            if let Some(stem) = text.strip_suffix(packed) {
                return format!("{stem}{plain}");
            }
        }
        let own = text.strip_suffix(suffix);
        own.or_else(|| text.rsplit_once('.').map(|(stem, _)| stem)).unwrap_or(text).to_owned()
    };
    match source {
        Value::Exact(text) => Value::Exact(bare(text)),
        Value::AnyOf(texts) => Value::one_of(texts.iter().map(|text| bare(text)).collect()),
        Value::Glob(pattern) => Value::Glob(bare(pattern)),
        Value::Between { .. } | Value::Unknown => Value::Unknown,
    }
}

/// `7z`, `7za`, `7zr`, `rar`, `unrar`
pub(crate) fn seven_zip(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut operands = Vec::new();
    let mut directory = Value::exact(".");
    let mut removes = false;
    for word in &call.words {
        let start = word.known_start();
        if start == "-sdel" || start == "-df" {
            removes = true;
        } else if start.starts_with("-o") && call.program.starts_with('7') {
            directory = after(word, "-o").unwrap_or(Value::Unknown);
        } else if !start.starts_with('-') {
            operands.push(word.clone());
        }
    }
    let mut operands = operands.into_iter();
    let verb = operands.next();
    let archive = operands.next();
    let rest: Vec<Value> = operands.collect();
    let (Some(verb), Some(archive)) = (verb.as_ref().and_then(Value::as_exact), archive) else {
        return Exit::unknown();
    };
    let mut read = Output::Unknown;
    match verb {
        "x" | "e" => {
            let content = machine.open_archive(&archive);
            let names = if verb == "e" { Names::Last } else { Names::Without(0) };
            // unrar takes the destination as the last word, with a slash behind.
            let directory = match rest.last() {
                Some(last) if last.known_end().ends_with('/') => last.clone(),
                Some(_) | None => directory,
            };
            machine.remember_unpacked(&directory, &content);
            unpack_from(machine, Some(&archive).filter(|_| rest.is_empty()), &directory, names);
        }
        "a" | "u" | "m" => {
            let prints = call.words.iter().any(|word| word.as_exact() == Some("-so"));
            if !prints {
                machine.write(&archive);
            }
            for list in rest.iter().filter_map(|word| after(word, "@")) {
                let list = Listed::of(machine, call, &list);
                list.each(machine, |machine, name| {
                    machine.read(name);
                    if removes || verb == "m" {
                        machine.delete(name, Depth::Recursive);
                    }
                });
            }
            for source in rest.iter().filter(|word| !word.known_start().starts_with('@')) {
                machine.read(source);
                match (prints, packed(machine, source, &[])) {
                    (true, Some(secret)) => read = secret,
                    (false, Some(secret)) => machine.keep_secret(&archive, &secret),
                    (_, None) => {}
                }
                if removes || verb == "m" {
                    machine.delete(source, Depth::Recursive);
                }
            }
        }
        "d" | "rn" => machine.effect(EffectKind::FileModify, &archive),
        _ => {
            machine.open_archive(&archive);
        }
    }
    Exit::with(read)
}

/// `cpio`
pub(crate) fn cpio(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let directory = arguments.value(&["-D", "--directory"]).cloned().unwrap_or_else(|| Value::exact("."));
    if arguments.has(&["-t", "--list"]) {
        return Exit::unknown();
    }
    if arguments.has(&["-i", "--extract"]) {
        machine.remember_unpacked(&directory, &Output::from_input(&call.input));
        unpack(machine, &directory);
    } else if arguments.has(&["-p", "--pass-through"]) {
        if let Some(destination) = arguments.operands.first() {
            if arguments.has(&["-l", "--link"]) {
                link_listed(machine, &call.input);
            }
            unpack(machine, destination);
        }
    } else if let Some(file) = arguments.value(&["-F", "-O", "--file"]) {
        machine.write(file);
    } else if arguments.has(&["-o", "--create"]) {
        return Exit::with(listed_secret(machine, &call.input).unwrap_or(Output::Unknown));
    }
    Exit::unknown()
}

/// `cmake -E tar xf FILE`: any archive, by the signs of `tar` (cmake(1), "Run a Command-Line Tool").
pub(crate) fn unpacked(machine: &mut Machine<'_>, call: &Call) {
    let arguments = &call.arguments;
    if call.program != "cmake" || arguments.value(&["-E"]).and_then(Value::as_exact) != Some("tar") {
        return;
    }
    let Some((signs, rest)) = arguments.operands.split_first() else { return };
    // Its file stands behind the signs whether `f` is among them or not.
    let signs = signs.known_start().replace(['f', '-'], "");
    let mut words = vec![Value::exact("bsdtar"), Value::exact(format!("-{signs}f"))];
    words.extend(rest.iter().cloned());
    if let Some(directory) = arguments.value(&["-C"]) {
        words.extend([Value::exact("-C"), directory.clone()]);
    }
    machine.run_words(&words, call.input.clone());
}

/// `pax` (POSIX): lists, unpacks (`-r`), packs (`-w`) or copies (`-rw`); `-s` changes the names of what it unpacks.
pub(crate) fn pax(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let (unpacks, packs) = (arguments.has(&["-r"]), arguments.has(&["-w"]));
    if unpacks {
        let renamed: Vec<Value> = arguments.values(&["-s"]).filter_map(named_instead).collect();
        for place in renamed {
            unpack(machine, &place);
        }
        let destination = if packs { arguments.operands.last().cloned() } else { None };
        if packs && arguments.has(&["-l"]) {
            link_listed(machine, &call.input);
        }
        let archive = arguments.value(&["-f"]).filter(|_| !packs && !arguments.has(&["-s"]));
        let place = destination.unwrap_or_else(|| Value::exact("."));
        // With `-c` the others are taken, and with `-s` and `-i` they get names of their own.
        let is_other = packs || arguments.has(&["-c", "-s", "-i"]);
        let selected = if is_other { &[] } else { arguments.operands.as_slice() };
        if selected.is_empty() {
            unpack_from(machine, archive, &place, Names::Without(0));
        } else {
            unpack_selected(machine, archive, &place, Names::Without(0), selected);
        }
    } else if packs {
        if let Some(file) = arguments.value(&["-f"]) {
            machine.write(file);
        } else {
            let named = arguments.operands.iter().find_map(|name| packed(machine, name, &[]));
            let listed = || listed_secret(machine, &call.input);
            return Exit::with(named.or_else(listed).unwrap_or(Output::Unknown));
        }
    }
    Exit::unknown()
}

/// The directory that `pax -s /old/new/` puts in front of a name, where it says one.
fn named_instead(expression: &Value) -> Option<Value> {
    let Some(text) = expression.as_exact() else { return Some(Value::Unknown) };
    let mark = text.chars().next()?;
    let new = text.split(mark).nth(2)?;
    let (folder, _) = new.rsplit_once('/')?;
    Some(Value::exact(if folder.is_empty() { "/" } else { folder }))
}

/// Gives the files that a list names a second name.
fn link_listed(machine: &mut Machine<'_>, list: &Input) {
    let Input::Text(names) = list else { return };
    match names {
        Value::Exact(text) => {
            for name in text.split(['\n', '\0']).filter(|name| !name.is_empty()).map(Value::exact) {
                // A directory is made anew.
                if machine.is_directory(&name) != Some(true) {
                    machine.second_name(&name);
                }
            }
        }
        Value::Glob(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => {
            machine.second_name(names);
        }
    }
}

/// The secret among the files that a list names, when they go into an archive that is written to the output.
fn listed_secret(machine: &mut Machine<'_>, list: &Input) -> Option<Output> {
    let Input::Text(names) = list else { return None };
    match names {
        Value::Exact(text) => {
            let names: Vec<Value> =
                text.split(['\n', '\0']).filter(|name| !name.is_empty()).map(Value::exact).collect();
            names.iter().find_map(|name| {
                // A directory is written without what is in it.
                let is_directory = machine.is_directory(name) == Some(true);
                if is_directory { None } else { packed(machine, name, &[]) }
            })
        }
        Value::Glob(pattern) => {
            let root = pattern.split(['*', '?', '[']).next().unwrap_or_default();
            packed(machine, &Value::exact(if root.is_empty() { "." } else { root }), &[])
        }
        Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
    }
}

/// `ar`
pub(crate) fn ar(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter().filter(|word| !word.known_start().starts_with("--"));
    let keys = words.next().map(Value::known_start).unwrap_or_default();
    let Some(archive) = words.next() else { return Exit::unknown() };
    let keys = keys.trim_start_matches('-');
    if keys.contains('x') {
        let members: Vec<&Value> = words.collect();
        if members.is_empty() {
            unpack(machine, &Value::exact("."));
        }
        for member in members {
            machine.write(member);
        }
    } else if keys.contains(['r', 'q', 'd', 'm', 's']) {
        machine.write(archive);
    }
    Exit::unknown()
}
