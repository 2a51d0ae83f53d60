//! `tar` and its kin, and `jar`, which is asked as `tar` is.

use crate::effect::{Depth, EffectKind};
use crate::guard::UNBOUND;
use crate::interpreter::{Call, Exit, Input, Machine, Output, Upload, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;

use super::super::files::after;
use super::super::listed::Listed;
use super::unpacking::{Names, leave_what_is_there, unlink_below, unpack_from, unpack_selected};

/// `tar`, `bsdtar`, `gtar`
pub(crate) fn tar(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let tar = Tar::read(&call.words);
    let before = machine.effect_count();
    let exit = run_tar(machine, call, &tar);
    if tar.keeps {
        leave_what_is_there(machine, before);
    }
    note_other_names(machine, call, &tar);
    if tar.renames || !tar.commands.is_empty() {
        machine.amend(before, |effect| {
            let unbound = match effect.nature {
                Nature::ArchiveUnread => Some(Nature::BroughtUnread),
                Nature::ArchiveWithoutGuard => Some(Nature::BroughtWithoutGuard),
                _ => None,
            };
            if let Some(nature) = unbound {
                effect.nature = nature;
                effect.note = format!("{}, {UNBOUND}", effect.note);
            }
        });
    }
    exit
}

fn run_tar(machine: &mut Machine<'_>, call: &Call, tar: &Tar) -> Exit {
    for command in &tar.commands {
        machine.run_text(command, Input::Unknown);
    }
    let directory = tar.directory.clone().unwrap_or_else(|| Value::exact("."));
    match tar.mode {
        Some('x') => {
            let mut source = Output::from_input(&call.input);
            if let Some(file) = &tar.file {
                source = machine.open_archive(file);
                if machine.is_certainly_missing(file) {
                    return Exit::failure();
                }
            }
            let given = machine.whole_input(call).map(|path| Value::exact(path.as_str()));
            let file = tar.file.clone().or(given);
            if tar.to_output {
                let found = file.as_ref().and_then(|file| secret_packed_in(machine, file, &tar.members));
                return Exit::with(found.unwrap_or(source));
            }
            machine.remember_unpacked(&directory, &source);
            if tar.directory.as_ref().is_some_and(|directory| machine.is_certainly_missing(directory)) {
                machine.if_it_succeeds(|machine| {
                    unpack_from(
                        machine,
                        file.as_ref().filter(|_| !tar.renames),
                        &directory,
                        Names::Without(tar.stripped),
                    );
                });
                return Exit::failure();
            }
            if tar.members.is_empty() {
                let directory = match &tar.top_level {
                    Some(name) => inside(&directory, name),
                    None => directory,
                };
                let archive = file.as_ref().filter(|_| !tar.renames);
                if tar.unlinks {
                    unlink_below(machine, archive, &directory, Names::Without(tar.stripped));
                }
                unpack_from(machine, archive, &directory, Names::Without(tar.stripped));
            } else {
                for member in tar.members.iter().filter(|_| tar.unlinks) {
                    machine.delete(&inside(&directory, member), Depth::Recursive);
                }
                if tar.renames {
                    unpack_from(machine, None, &directory, Names::Without(0));
                } else {
                    let names = Names::Without(tar.stripped);
                    unpack_selected(machine, file.as_ref(), &directory, names, &tar.members);
                }
            }
            Exit::silent()
        }
        Some('c' | 'r' | 'u' | 'A') => {
            let sources: Vec<Value> = tar.members.iter().map(|member| relative(tar, member)).collect();
            let listed: Vec<Listed> = tar.lists.iter().map(|list| Listed::of(machine, call, list)).collect();
            let archive = tar.file.clone();
            let mut read = Output::Nothing;
            for source in &sources {
                read = read.followed_by(machine.read(source));
                if archive.is_none() {
                    read = packed(machine, source, &tar.excluded).unwrap_or(read);
                }
            }
            for list in &listed {
                list.each(machine, |machine, name| {
                    read = read.clone().followed_by(machine.read(&relative(tar, name)));
                });
            }
            if let Some(file) = &archive {
                note_packed(machine, file, &sources, &tar.excluded);
            }
            match archive.as_ref().and_then(|file| Some((file, host_of(file)?))) {
                Some((_, host)) => machine.host(&Value::exact(host), Upload::Yes),
                None => {
                    if let Some(file) = &archive {
                        machine.write(file);
                        keep_packed(machine, file, &sources, &tar.excluded);
                    }
                }
            }
            if tar.removes {
                for source in &sources {
                    machine.delete(source, Depth::Recursive);
                }
                for list in &listed {
                    list.each(machine, |machine, name| {
                        machine.delete(&relative(tar, name), Depth::Recursive);
                    });
                }
            }
            if archive.is_some() {
                return Exit::silent();
            }
            Exit::with(match read {
                Output::Text(_) | Output::Nothing => Output::Unknown,
                known @ (Output::Network(_)
                | Output::Secret(_)
                | Output::Local(_)
                | Output::Setup(_)
                | Output::Unknown) => known,
            })
        }
        Some('D') => {
            if let Some(file) = &tar.file {
                machine.effect(EffectKind::FileModify, file);
            }
            Exit::silent()
        }
        Some(_) | None => {
            if let Some(file) = &tar.file {
                machine.open_archive(file);
            }
            Exit::unknown()
        }
    }
}

/// Remembers that files get other names than those that went into an archive which this command makes: any name may come out of it.
fn note_other_names(machine: &mut Machine<'_>, call: &Call, tar: &Tar) {
    let file = tar.file.as_ref().filter(|file| file.as_exact() != Some("-"));
    let archive = match file {
        Some(file) => machine.one_path_through(file),
        None => AbsolutePath::new("/dev/stdout"),
    };
    let Some(archive) = archive else { return };
    match tar.mode {
        Some('c' | 'r' | 'u' | 'A') if tar.renames => machine.renamed_archives.push(archive),
        Some('x') => {
            let is_own = match file {
                Some(_) => machine.is_written_here(&archive),
                None => !matches!(call.input, Input::Network(_) | Input::Inherited),
            };
            if machine.renamed_archives.contains(&archive) || tar.renames && is_own {
                machine.remember_names(&tar.directory.clone().unwrap_or_else(|| Value::exact(".")));
            }
        }
        Some(_) | None => {}
    }
}

/// The secret among what goes into an archive that is written to the output. Where nothing says where that ends, nothing is looked for.
/// Remembers what this action packed into an archive.
pub(super) fn note_packed(
    machine: &mut Machine<'_>,
    archive: &Value,
    sources: &[Value],
    excluded: &[String],
) {
    let place = machine.paths_through(archive).into_iter().find_map(|aim| aim.target.path().cloned());
    if let Some(place) = place {
        machine.flow.archives_made.push((place, sources.to_vec(), excluded.to_vec()));
    }
}

/// Remembers that an archive which was written holds a secret: who prints it as it is, or in another form, prints that too.
pub(super) fn keep_packed(
    machine: &mut Machine<'_>,
    archive: &Value,
    sources: &[Value],
    excluded: &[String],
) {
    if let Some(secret) = sources.iter().find_map(|source| machine.packed(source, excluded)) {
        machine.keep_secret(archive, &secret);
    }
}

/// A secret that comes out where members of an archive are printed, which this action packed itself; all of them where none is named.
pub(super) fn secret_packed_in(
    machine: &mut Machine<'_>,
    archive: &Value,
    members: &[Value],
) -> Option<Output> {
    let place = machine.paths_through(archive).into_iter().find_map(|aim| aim.target.path().cloned())?;
    let made: Vec<_> =
        machine.flow.archives_made.iter().filter(|(made, ..)| *made == place).cloned().collect();
    let is_asked_for = |name: &str| {
        members.is_empty()
            || members.iter().any(|member| {
                member.as_exact().is_none_or(|text| {
                    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
                    last == name || text.contains(['*', '?', '[']) || matches!(last, "." | "")
                })
            })
    };
    let kept =
        machine.flow.archives_kept.iter().find(|(kept, secret)| {
            *kept == place && is_asked_for(secret.rsplit('/').next().unwrap_or(secret))
        });
    if let Some((_, secret)) = kept {
        return Some(Output::Secret(secret.clone()));
    }
    made.iter().find_map(|(_, sources, excluded)| {
        sources.iter().find_map(|source| {
            let found = machine.packed(source, excluded)?;
            let Output::Secret(path) = &found else { return None };
            let lies_in_named = members.iter().filter_map(Value::as_exact).any(|text| {
                let directory = text.trim_start_matches("./").trim_end_matches('/');
                !directory.is_empty() && path.contains(&format!("/{directory}/"))
            });
            (is_asked_for(path.rsplit('/').next().unwrap_or(path)) || lies_in_named).then_some(found)
        })
    })
}

pub(super) fn packed(machine: &mut Machine<'_>, source: &Value, excluded: &[String]) -> Option<Output> {
    if machine.is_kept() { None } else { machine.packed(source, excluded) }
}

/// The host of an archive on another machine: `--file=host:/x`. A name with a slash before the colon is a file of this one.
fn host_of(file: &Value) -> Option<String> {
    let (host, _) = file.as_exact()?.split_once(':')?;
    (!host.is_empty() && !host.contains('/')).then(|| host.rsplit('@').next().unwrap_or(host).to_owned())
}

/// The long option that a beginning of it means, of those that say what tar does: `--cr` is `--create`.
fn whole_name(name: &str) -> &str {
    const OPTIONS: &[&str] = &[
        "extract",
        "create",
        "append",
        "update",
        "list",
        "diff",
        "delete",
        "file",
        "directory",
        "concatenate",
        "to-stdout",
        "to-command",
        "remove-files",
        "files-from",
        "recursive-unlink",
    ];
    let mut meant = OPTIONS.iter().filter(|option| option.starts_with(name));
    match (meant.next(), meant.next()) {
        (Some(only), None) if name.len() >= 2 => only,
        _ => name,
    }
}

/// A member of an archive to be made, seen from where `-C` stands.
fn relative(tar: &Tar, member: &Value) -> Value {
    match &tar.directory {
        Some(directory) if !member.known_start().starts_with('/') => inside(directory, member),
        Some(_) | None => member.clone(),
    }
}

pub(super) fn inside(directory: &Value, name: &Value) -> Value {
    if directory.as_exact() == Some(".") {
        return name.clone();
    }
    let slash = if directory.known_end().ends_with('/') { "" } else { "/" };
    directory.followed_by(&Value::exact(slash)).followed_by(name)
}

#[derive(Debug, Default)]
struct Tar {
    mode: Option<char>,
    /// `None` is the standard input or output.
    file: Option<Value>,
    directory: Option<Value>,
    members: Vec<Value>,
    /// Files that name further members.
    lists: Vec<Value>,
    top_level: Option<Value>,
    to_output: bool,
    removes: bool,
    /// Whether directories that are there go first, with all that is in them.
    unlinks: bool,
    /// Whether files that are there stay as they are.
    keeps: bool,
    /// How many parts at the beginning of each name are left out.
    stripped: usize,
    /// Whether members may come to lie elsewhere than their names say.
    renames: bool,
    commands: Vec<Value>,
    /// Patterns of names that are left out.
    excluded: Vec<String>,
}

impl Tar {
    fn read(words: &[Value]) -> Self {
        let mut tar = Self::default();
        let mut words = words.iter();
        let mut first = true;
        let mut only_members = false;
        while let Some(word) = words.next() {
            let text = match word {
                Value::Exact(text) => text.as_str(),
                Value::Between { prefix, .. } => prefix.as_str(),
                Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => "",
            };
            let old_style = first && !text.is_empty() && !text.starts_with('-');
            first = false;
            if only_members || text.is_empty() || (!text.starts_with('-') && !old_style) || text == "-" {
                tar.members.push(word.clone());
                continue;
            }
            if text == "--" {
                only_members = true;
                continue;
            }
            if let Some(long) = text.strip_prefix("--") {
                tar.long(long, word, &mut words);
            } else {
                tar.shorts(text, word, &mut words, old_style);
            }
        }
        tar.file = tar.file.filter(|file| file.as_exact() != Some("-"));
        tar
    }

    fn long(&mut self, long: &str, word: &Value, words: &mut std::slice::Iter<'_, Value>) {
        let name = whole_name(long.split('=').next().unwrap_or(long));
        let mut value = || {
            if long.contains('=') {
                let written = long.split('=').next().unwrap_or(long);
                after(word, &format!("--{written}=")).unwrap_or(Value::Unknown)
            } else {
                words.next().cloned().unwrap_or(Value::Unknown)
            }
        };
        match name {
            "extract" | "get" => self.mode = Some('x'),
            "create" => self.mode = Some('c'),
            "append" => self.mode = Some('r'),
            "update" => self.mode = Some('u'),
            "concatenate" | "catenate" => self.mode = Some('A'),
            "list" => self.mode = Some('t'),
            "diff" | "compare" => self.mode = Some('d'),
            "delete" => self.mode = Some('D'),
            "file" => self.file = Some(value()),
            "directory" | "cd" => self.directory = Some(value()),
            "one-top-level" => {
                self.top_level = Some(if long.contains('=') { value() } else { Value::Unknown });
            }
            "to-stdout" => self.to_output = true,
            "remove-files" => self.removes = true,
            "recursive-unlink" => self.unlinks = true,
            "keep-old-files" | "skip-old-files" => self.keeps = true,
            "strip-components" => match value().as_exact().and_then(|text| text.parse().ok()) {
                Some(count) => self.stripped = count,
                None => self.renames = true,
            },
            "transform" | "xform" => {
                value();
                self.renames = true;
            }
            "absolute-names" | "ignore-zeros" => self.renames = true,
            "to-command" | "use-compress-program" | "info-script" | "new-volume-script" | "rsh-command" => {
                let command = value();
                self.command(command);
            }
            "checkpoint-action" => {
                let action = value();
                if let Some(command) = after(&action, "exec=") {
                    self.commands.push(command);
                }
            }
            "exclude" => self.excluded.extend(value().as_exact().map(str::to_owned)),
            "files-from" => {
                let list = value();
                self.lists.push(list);
            }
            "exclude-from" | "owner" | "group" | "mode" | "mtime" | "newer" | "after-date" | "format"
            | "label" | "blocking-factor" | "starting-file" | "listed-incremental" | "suffix" | "sort"
            | "pax-option"
                if !long.contains('=') =>
            {
                words.next();
            }
            _ => {}
        }
    }

    fn shorts(&mut self, text: &str, word: &Value, words: &mut std::slice::Iter<'_, Value>, old_style: bool) {
        let letters = text.trim_start_matches('-');
        for (place, letter) in letters.char_indices() {
            let takes_value =
                matches!(letter, 'f' | 'C' | 'I' | 'T' | 'X' | 'b' | 'g' | 'K' | 'L' | 'N' | 'V' | 'H' | 'F');
            let mut value = None;
            if takes_value {
                let rest = text.len() - letters.len() + place + letter.len_utf8();
                let attached = text.get(rest..).filter(|rest| !rest.is_empty() && !old_style);
                value = match attached {
                    Some(_) => text.get(..rest).and_then(|beginning| after(word, beginning)),
                    None if matches!(word, Value::Between { .. }) && !old_style && rest == text.len() => {
                        after(word, text)
                    }
                    None => words.next().cloned(),
                };
                let ends = attached.is_some();
                self.short(letter, value);
                if ends {
                    return;
                }
                continue;
            }
            self.short(letter, value);
        }
    }

    fn short(&mut self, letter: char, value: Option<Value>) {
        match letter {
            'x' | 'c' | 't' | 'r' | 'u' | 'A' | 'd' => self.mode = Some(letter),
            'f' => self.file = value,
            'C' => self.directory = value,
            'T' => self.lists.extend(value),
            'P' | 'i' => self.renames = true,
            'O' => self.to_output = true,
            'k' => self.keeps = true,
            'I' | 'F' => {
                if let Some(command) = value {
                    self.command(command);
                }
            }
            _ => {}
        }
    }

    /// A program that tar runs; compressors by name are no news.
    fn command(&mut self, command: Value) {
        let first = command.as_exact().and_then(|text| text.split_whitespace().next()).unwrap_or_default();
        let base = first.rsplit('/').next().unwrap_or(first);
        if !matches!(
            base,
            "gzip"
                | "pigz"
                | "bzip2"
                | "pbzip2"
                | "xz"
                | "pixz"
                | "zstd"
                | "pzstd"
                | "lz4"
                | "lzip"
                | "lzma"
                | "brotli"
        ) {
            self.commands.push(command);
        }
    }
}

/// `jar`
pub(crate) fn jar(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let tar = Tar::read(&call.words);
    match tar.mode {
        Some('x') => unpack_from(machine, tar.file.as_ref(), &Value::exact("."), Names::Without(0)),
        Some('c' | 'u') => {
            if let Some(file) = &tar.file {
                machine.write(file);
            }
        }
        Some(_) | None => {}
    }
    Exit::unknown()
}
