//! What `cp`, `mv` and `install` share: where files go, and what is lost on the way.

use crate::effect::{Certainty, Depth, EffectKind, Target};
use crate::guard::OF_TREE;
use crate::interpreter::Inspection;
use crate::interpreter::{AimedTarget, Arguments, Brought, Draft, Exit, Machine, Output, Status, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::rights::{self, Rights};

/// The greatest number of files of a tree whose effects are told one by one (ours).
const TOLD: usize = 64;

/// Which of the programs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    Copy,
    Move,
    Install,
}

/// How a name inside a destination directory is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the last part of the source.
    Basename,
    /// By the whole source: `cp --parents`.
    Whole,
}

/// Where files go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// To exactly this path.
    At(Value),
    /// Into this directory.
    Inside(Value),
}

impl Destination {
    /// What a source is called at the destination.
    pub(super) fn of(&self, source: &Value, naming: Naming) -> Vec<Value> {
        match self {
            Self::At(value) => vec![value.clone()],
            Self::Inside(directory) => {
                let slash = if directory.known_end().ends_with('/') { "" } else { "/" };
                let inside = directory.followed_by(&Value::exact(slash));
                let name = match naming {
                    Naming::Basename => basename(source),
                    Naming::Whole => source.clone(),
                };
                vec![inside.followed_by(&name)]
            }
        }
    }
}

/// The last part of a path.
fn basename(value: &Value) -> Value {
    let last = |text: &str| {
        let bare = text.trim_end_matches('/');
        bare.rsplit('/').next().unwrap_or(bare).to_owned()
    };
    match value {
        Value::Exact(text) => Value::Exact(last(text)),
        Value::AnyOf(texts) => Value::one_of(texts.iter().map(|text| last(text)).collect()),
        Value::Glob(pattern) => Value::Glob(last(pattern)),
        Value::Between { prefix, suffix } => {
            let suffix_name = suffix.rsplit('/').next().unwrap_or_default().to_owned();
            if suffix.contains('/') {
                return if suffix_name.is_empty() { Value::Unknown } else { Value::Exact(suffix_name) };
            }
            // What is unknown between the ends may hold a slash, so the beginning says nothing about the name.
            let _ = prefix;
            if suffix_name.is_empty() {
                Value::Unknown
            } else {
                Value::Between { prefix: String::new(), suffix: suffix_name }
            }
        }
        Value::Unknown => Value::Unknown,
    }
}

/// Sources and destination of `cp`, `mv`, `ln`, `install`; `None` when there are too few operands.
pub(super) fn split_operands(
    machine: &Machine<'_>,
    arguments: &Arguments,
    as_file: bool,
) -> Option<(Vec<Value>, Destination)> {
    if let Some(directory) = arguments.value(&["-t", "--target-directory"]) {
        return Some((arguments.operands.clone(), Destination::Inside(directory.clone())));
    }
    let (last, sources) = arguments.operands.split_last()?;
    if sources.is_empty() {
        // A single word of which nothing is known may be several.
        return (*last == Value::Unknown).then(|| (Vec::new(), Destination::At(Value::Unknown)));
    }
    let inside = !as_file
        && (sources.len() > 1
            || machine.is_directory(last) == Some(true)
            || (last.known_end().ends_with('/') && machine.is_directory(last) != Some(false))
            || matches!(sources, [Value::Glob(_)]));
    let destination = if inside { Destination::Inside(last.clone()) } else { Destination::At(last.clone()) };
    Some((sources.to_vec(), destination))
}

/// Carries out `cp`, `mv` or `install`.
pub(super) fn transfer(machine: &mut Machine<'_>, arguments: &Arguments, transfer: Transfer) -> Exit {
    let as_file = arguments.has(&["-T", "--no-target-directory"]);
    let Some((sources, destination)) = split_operands(machine, arguments, as_file) else {
        let Some(pattern) = arguments.operands.iter().find(|operand| matches!(operand, Value::Glob(_)))
        else {
            return Exit::failure();
        };
        // A pattern may stand for the destination too.
        machine.possibly(|machine| machine.effect(EffectKind::FileModify, pattern));
        return Exit::silent();
    };
    let recursive = match transfer {
        Transfer::Copy => {
            arguments.has(&["-r", "-R", "-a", "--recursive", "--archive"]) || arguments.uncertain
        }
        Transfer::Move => true,
        Transfer::Install => false,
    };
    let plan = Plan {
        transfer,
        recursive,
        keeps: arguments.has(&["-n", "--no-clobber"]) || arguments.has(&["--update=none"]),
        hesitates: arguments.has(&["-i", "--interactive", "-u", "--update"])
            && !arguments.has(&["-f", "--force"])
            // What is there keeps what it holds.
            || arguments.has(&["--attributes-only"]),
        backup: backup_suffix(arguments),
        strips: transfer == Transfer::Install && arguments.has(&["-s", "--strip"]),
        follows: arguments.has(&["-L", "--dereference", "-H"]),
        links: transfer == Transfer::Copy && arguments.has(&["-s", "--symbolic-link"]),
        second_names: transfer == Transfer::Copy && arguments.has(&["-l", "--link"]),
        replaces: match transfer {
            Transfer::Move | Transfer::Install => true,
            Transfer::Copy => {
                arguments.has(&["--remove-destination"])
                    || backup_suffix(arguments).is_some()
                    || arguments.has(&["-l", "--link"]) && arguments.has(&["-f", "--force"])
            }
        },
        copies_links: arguments.has(&["-P", "--no-dereference", "-d"]),
        modes: transfer == Transfer::Copy && rights::brings_modes(arguments),
    };
    let naming = if arguments.has(&["--parents"]) { Naming::Whole } else { Naming::Basename };
    if sources.is_empty() {
        machine.effect(EffectKind::FileModify, &Value::Unknown);
    }
    if let Destination::Inside(directory) = &destination
        && is_file(machine, directory)
    {
        if sources.iter().any(|source| matches!(source, Value::Glob(_))) {
            // A pattern may stand for nothing, and what it is for one of the others.
            machine.possibly(|machine| machine.write(directory));
            return Exit::silent();
        }
        return Exit::failure();
    }
    // `cp x new/` asks for a directory that is not there; only a tree may make it.
    let lost = match &destination {
        Destination::Inside(directory) => machine.is_certainly_missing(directory),
        Destination::At(place) => {
            place.known_end().ends_with('/')
                && machine.is_certainly_missing(place)
                && sources.iter().all(|source| machine.is_directory(source) == Some(false))
        }
    };
    for source in &sources {
        for place in destination.of(source, naming) {
            if lost {
                machine.possibly(|machine| plan.one(machine, source, &place));
            } else {
                plan.one(machine, source, &place);
            }
        }
    }
    let fails = lost
        || sources.iter().any(|source| machine.is_certainly_missing(source) && transfer != Transfer::Move);
    Exit { status: if fails { Status::Failure } else { Status::Unknown }, output: Output::Nothing }
}

/// A tree that arrives at a place, from a directory here or, without one, from nobody knows where: what is there may be overwritten.
pub(crate) fn arrive_tree(machine: &mut Machine<'_>, from: Option<&AbsolutePath>, to: &AbsolutePath) {
    let plan = Plan {
        transfer: Transfer::Copy,
        recursive: true,
        keeps: false,
        hesitates: false,
        backup: None,
        strips: false,
        follows: false,
        links: false,
        second_names: false,
        replaces: false,
        copies_links: false,
        modes: false,
    };
    plan.merge(machine, from, to);
    if let Some(from) = from {
        machine.carry_marks(from, to);
    }
}

/// Whether a word is known to name something that is there and no directory.
fn is_file(machine: &Machine<'_>, value: &Value) -> bool {
    machine.is_directory(value) == Some(false) && !machine.is_certainly_missing(value) && machine.is_settled()
}

/// What is put behind the name of a file that would be overwritten, where it is kept: a suffix alone asks for that too.
pub(super) fn backup_suffix(arguments: &Arguments) -> Option<Value> {
    if !arguments.has(&["-b", "--backup", "-S", "--suffix"]) {
        return None;
    }
    match arguments.value(&["--backup"]).and_then(Value::as_exact) {
        Some("none" | "off") => return None,
        Some("numbered" | "t") => return Some(Value::exact(".~1~")),
        Some(_) | None => {}
    }
    Some(arguments.value(&["-S", "--suffix"]).cloned().unwrap_or_else(|| Value::exact("~")))
}

/// What a transfer does to each source.
#[derive(Debug, Clone)]
struct Plan {
    transfer: Transfer,
    recursive: bool,
    keeps: bool,
    hesitates: bool,
    /// The suffix of the copy that is kept of what is overwritten.
    backup: Option<Value>,
    /// Whether `strip` is run on what was put there, which is removed when that fails.
    strips: bool,
    /// Whether the content of symbolic links is copied.
    follows: bool,
    links: bool,
    /// Whether files get a second name instead of being copied.
    second_names: bool,
    /// Whether what is there goes first, so that a symbolic link is lost itself (cp(1), install(1); tried with coreutils 9).
    replaces: bool,
    /// Whether a symbolic link is copied as one.
    copies_links: bool,
    /// Whether directories that are there get the modes of those that are copied.
    modes: bool,
}

impl Plan {
    fn one(&self, machine: &mut Machine<'_>, source: &Value, place: &Value) {
        let through = self.follows
            || self.transfer == Transfer::Install
            || self.transfer == Transfer::Copy && !self.recursive && !self.copies_links;
        let from = if through { machine.paths_through(source) } else { machine.paths(source) };
        let known = match from.as_slice() {
            [AimedTarget { target: Target::Path(path), .. }] => Some(path.clone()),
            _ => None,
        };
        if let ([AimedTarget { target: Target::Path(to), .. }], Some(from)) =
            (machine.paths(place).as_slice(), &known)
            && to == from
        {
            // The same file: nothing is moved or copied.
            return;
        }
        let entry = known.as_ref().map(|path| machine.entry(path));
        if self.transfer != Transfer::Move {
            if entry == Some(Entry::Directory) && !self.recursive {
                return;
            }
            let content = machine.read(source);
            let is_own = |machine: &Machine<'_>, aims: &[AimedTarget]| {
                aims.iter().any(|aim| aim.target.path().is_some_and(|path| machine.is_own_descriptor(path)))
            };
            let by_descriptor = is_own(machine, &from) || is_own(machine, &machine.paths(place));
            if by_descriptor && !self.links && !self.second_names {
                // What comes in or goes out there is known as far as it is for any other reader.
                self.perhaps(machine, |machine| machine.write_from(place, &content));
                return;
            }
        }
        if self.second_names {
            machine.second_name(source);
        }
        if entry == Some(Entry::Missing) && machine.is_settled() {
            // It would fail. A word about it all the same: it may come to be by then.
            machine.possibly(|machine| self.put(machine, source, None, place, &Entry::Unknown));
            self.carry(machine, &from, place);
            return;
        }
        if entry == Some(Entry::Missing) {
            // It may come to be by then; what is known now is that it would fail.
            machine.possibly(|machine| self.put(machine, source, None, place, &Entry::Unknown));
        } else {
            self.put(machine, source, known.as_ref(), place, &entry.unwrap_or(Entry::Unknown));
        }
        self.carry(machine, &from, place);
        if self.transfer == Transfer::Move {
            self.leave(machine, &from, place);
        }
    }

    /// What was fetched stays that at its new place.
    fn carry(&self, machine: &mut Machine<'_>, from: &[AimedTarget], place: &Value) {
        if !self.links {
            let to = machine.paths(place);
            machine.carry_origin(from, &to);
        }
    }

    /// The effects at the destination.
    fn put(
        &self,
        machine: &mut Machine<'_>,
        source: &Value,
        known: Option<&AbsolutePath>,
        place: &Value,
        entry: &Entry,
    ) {
        let from = known.cloned();
        let is_tree = match entry {
            Entry::Directory => true,
            Entry::File(_) | Entry::Special | Entry::Missing | Entry::Symlink(_) => false,
            Entry::Unknown => self.recursive && self.transfer == Transfer::Copy,
        };
        // Some replace a symbolic link, the others write through it; what copies a link replaces what it would be copied to.
        let copies_link = matches!(entry, Entry::Symlink(_)) && self.transfer == Transfer::Copy;
        let replaces = self.replaces || copies_link;
        let aims = if replaces { machine.paths(place) } else { machine.paths_through(place) };
        for aim in aims {
            let Some(path) = aim.target.path().cloned() else {
                // What a list names is there; what a name that is made up means may be new.
                let is_listed = aim.nature == Nature::NamedByOutput
                    || matches!(place, Value::Glob(_))
                    || *place == Value::Unknown && matches!(aim.target, Target::Glob(_));
                let kind = if is_listed { EffectKind::FileModify } else { EffectKind::FileCreate };
                let mut draft = Draft::at(kind, aim);
                if is_tree {
                    draft = draft.recursive();
                }
                machine.add(draft);
                continue;
            };
            let there = machine.entry(&path);
            if from.as_ref() == Some(&path) {
                continue;
            }
            if self.transfer == Transfer::Copy && there == Entry::Missing && machine.is_dangling(place) {
                // `cp` refuses to write through a link that leads nowhere.
                continue;
            }
            if self.keeps && matches!(there, Entry::File(_) | Entry::Symlink(_) | Entry::Special) {
                continue;
            }
            if let (Some(suffix), Entry::File(_) | Entry::Symlink(_)) = (&self.backup, &there) {
                machine.write(&Value::exact(path.as_str()).followed_by(suffix));
            }
            let brought = if is_tree {
                machine.bring(&path, from.as_ref().map_or(Brought::Unknown, Brought::Tree))
            } else if matches!(entry, Entry::Symlink(_)) {
                machine.bring(&path, Brought::Link)
            } else {
                Inspection::Open
            };
            if let (true, Entry::Directory) = (is_tree, &there) {
                self.merge(machine, from.as_ref(), &path);
                continue;
            }
            if is_tree {
                let kind = match there {
                    Entry::Missing => EffectKind::FileCreate,
                    Entry::File(_)
                    | Entry::Directory
                    | Entry::Symlink(_)
                    | Entry::Special
                    | Entry::Unknown => EffectKind::FileModify,
                };
                machine.add(Draft::at(kind, aim).recursive().brought(brought));
            } else if replaces && matches!(there, Entry::Symlink(_)) {
                machine.add(Draft::at(EffectKind::FileModify, aim).note("replaces the symbolic link"));
            } else if self.links {
                machine.make_link(place, source);
                continue;
            } else if aim.certainty == Certainty::Possible || self.hesitates && there != Entry::Missing {
                machine.possibly(|machine| machine.write(&Value::exact(path.as_str())));
            } else {
                machine.write(&Value::exact(path.as_str()));
            }
            if self.strips && matches!(there, Entry::File(_)) {
                let place = Value::exact(path.as_str());
                machine.possibly(|machine| machine.delete(&place, Depth::Single));
            }
            if self.second_names {
                machine.remember_second_name(&Value::exact(path.as_str()), source);
            }
            if let Some(from) = &from
                && !path.as_str().starts_with("/dev/")
            {
                machine.remember_copy(from, &path);
            }
        }
    }

    /// A tree that is put over an existing one.
    fn merge(&self, machine: &mut Machine<'_>, from: Option<&AbsolutePath>, to: &AbsolutePath) {
        if let Some(from) = from.filter(|_| self.modes && machine.is_above_guard(to))
            && rights::of_place(machine, &Value::exact(from.as_str())) != Some(Rights::Left)
        {
            let draft = Draft::new(EffectKind::PermissionChange, Target::Path(to.clone()));
            machine.add(draft.nature(Rights::Taken.nature()).note(Rights::Taken.note()));
        }
        let tree = from.and_then(|from| machine.walk(from, TOLD).map(|tree| (from, tree)));
        let Some((from, tree)) = tree else {
            let target = Target::Path(to.clone());
            let inspection = machine.bring(to, from.map_or(Brought::Unknown, Brought::Tree));
            let draft = Draft::new(EffectKind::FileCreate, target.clone()).recursive().note(OF_TREE);
            machine.add(draft.brought(inspection).nature(Nature::BroughtUnread));
            if !self.keeps {
                machine.add(Draft::new(EffectKind::FileModify, target).recursive().possible());
            }
            return;
        };
        for (path, entry) in tree {
            let Some(rest) = path.relative_to(from) else { continue };
            let place = Value::exact(to.join(rest).as_str());
            match entry {
                Entry::Directory => machine.make_directory(&place),
                Entry::Missing => {}
                Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    let there = machine.entry(&to.join(rest));
                    if !(self.keeps && there != Entry::Missing) {
                        machine.write(&place);
                    }
                }
            }
        }
    }

    /// What `mv` leaves behind: nothing.
    fn leave(&self, machine: &mut Machine<'_>, from: &[AimedTarget], place: &Value) {
        let thrown_away = place.as_exact() == Some("/dev/null");
        let note = match place.as_exact() {
            Some(text) => format!("moved to `{text}`"),
            None => "moved".to_owned(),
        };
        let take = |machine: &mut Machine<'_>| {
            for aim in from {
                let entry = aim.target.path().map(|path| machine.entry(path));
                let depth = match entry {
                    Some(Entry::Directory | Entry::Unknown) => Depth::Recursive,
                    Some(Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Missing) | None => {
                        Depth::Single
                    }
                };
                machine.delete_aim(aim.clone(), depth);
            }
        };
        if thrown_away {
            return self.perhaps(machine, take);
        }
        let to = machine.paths(place);
        if let ([one], [other]) = (from, to.as_slice())
            && let (Some(one), Some(other)) = (one.target.path(), other.target.path())
        {
            machine.carry_mode(one, other);
        }
        let before = machine.effect_count();
        self.perhaps(machine, |machine| machine.move_away(from, &to, take));
        machine.amend(before, |effect| {
            effect.reversible = true;
            effect.nature = Nature::Moved;
            effect.note.clone_from(&note);
        });
    }

    /// Does what is not sure to be done where something that is there stays.
    fn perhaps(&self, machine: &mut Machine<'_>, work: impl FnOnce(&mut Machine<'_>)) {
        if self.keeps || self.hesitates {
            machine.possibly(work);
        } else {
            work(machine);
        }
    }
}
