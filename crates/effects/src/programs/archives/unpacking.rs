//! What unpacking an archive makes.

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::guard::OF_ARCHIVE;
use crate::interpreter::{AimedTarget, Brought, Draft, Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing};

use super::tar::inside;

/// The greatest number of members whose effects are told one by one (ours).
const TOLD: usize = 64;

/// The greatest number of members that are looked up elsewhere than in the workspace (ours).
const LOOKED_UP: usize = 512;

/// What becomes of the names in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// So many parts at the beginning are left out.
    Without(usize),
    /// Only the last part counts.
    Last,
}

impl Names {
    /// What a member is called where it is unpacked; `None` for one that is left out.
    fn of(self, member: &str) -> Option<String> {
        let end = if member.ends_with('/') { "/" } else { "" };
        let parts: Vec<&str> = member.split('/').filter(|part| !part.is_empty()).collect();
        let kept = match self {
            Self::Without(count) => parts.get(count..)?,
            Self::Last if end.is_empty() => parts.get(parts.len().checked_sub(1)?..)?,
            Self::Last => return None,
        };
        (!kept.is_empty()).then(|| format!("{}{end}", kept.join("/")))
    }
}

/// Adds what an archive makes below a directory: its members, where its list can be read.
pub(crate) fn unpack_from(
    machine: &mut Machine<'_>,
    archive: Option<&Value>,
    directory: &Value,
    names: Names,
) {
    let listed = archive.and_then(|archive| machine.members(archive));
    match (listed, machine.one_path_through(directory)) {
        (Some(listed), Some(place)) => {
            let members: Vec<String> = listed.iter().filter_map(|member| names.of(member)).collect();
            unpack_members(machine, &place, &members);
        }
        _ => unpack(machine, directory),
    }
}

/// Adds what an archive makes below a directory of the members that are named, each alone or with what is below it, or by a pattern.
pub(super) fn unpack_selected(
    machine: &mut Machine<'_>,
    archive: Option<&Value>,
    directory: &Value,
    names: Names,
    selected: &[Value],
) {
    let listed = archive.and_then(|archive| machine.members(archive));
    if let (Some(listed), Some(place)) = (listed, machine.one_path_through(directory)) {
        let chosen = listed.iter().filter(|member| selected.iter().any(|one| selects(one, member)));
        let members: Vec<String> = chosen.filter_map(|member| names.of(member)).collect();
        unpack_members(machine, &place, &members);
        return;
    }
    if names != Names::Without(0) || selected.iter().any(|one| literal(one).is_none()) {
        unpack(machine, directory);
        return;
    }
    for member in selected {
        let place = inside(directory, member);
        unpack_member(machine, &place);
        // It may be a directory with anything in it.
        if machine.is_directory(&place) == Some(true) {
            unpack(machine, &place);
        }
    }
}

/// The name that a word is, where it is no pattern.
fn literal(word: &Value) -> Option<&str> {
    word.as_exact().filter(|text| !text.contains(['*', '?', '[']))
}

/// Whether a word may take a member: by its name, by that of a directory above it, or by a pattern, of which only the beginning is held
/// against it, since programs differ in what a sign takes.
fn selects(word: &Value, member: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").trim_end_matches('/').to_owned();
    let member = plain(member);
    match (literal(word), word.as_exact()) {
        (Some(name), _) => {
            let name = plain(name);
            name.is_empty()
                || name == "."
                || member
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        (None, Some(pattern)) => {
            let pattern = plain(pattern);
            let start = pattern.split(['*', '?', '[']).next().unwrap_or_default();
            member.starts_with(start)
        }
        (None, None) => true,
    }
}

/// Adds the directories that go, with all that is in them, before the members of the same names are unpacked: `tar --recursive-unlink`
/// (tried with tar 1.34: with a member `./` the working directory itself is emptied). Of a list that cannot be read any may be among them.
pub(super) fn unlink_below(
    machine: &mut Machine<'_>,
    archive: Option<&Value>,
    directory: &Value,
    names: Names,
) {
    let listed = archive.and_then(|archive| machine.members(archive));
    let (Some(listed), Some(place)) = (listed, machine.one_path_through(directory)) else {
        machine.possibly(|machine| machine.delete(directory, Depth::Recursive));
        return;
    };
    let mut gone: Vec<AbsolutePath> = Vec::new();
    for member in listed {
        let is_place = matches!(member.as_str(), "" | "/") && names == Names::Without(0);
        let Some(name) = names.of(&member).or_else(|| is_place.then(String::new)) else { continue };
        let path = if is_place { place.clone() } else { place.join(&name) };
        if machine.entry(&path) == Entry::Directory && !gone.iter().any(|gone| path.is_within(gone)) {
            machine.delete(&Value::exact(path.as_str()), Depth::Recursive);
            gone.push(path);
        }
    }
}

fn unpack_members(machine: &mut Machine<'_>, place: &AbsolutePath, members: &[String]) {
    machine.bring(place, Brought::Members(members));
    let told = members.len() <= TOLD;
    if told {
        for member in members {
            let path = Value::exact(place.join(member).as_str());
            if member.ends_with('/') {
                machine.make_directory(&path);
            } else {
                machine.write(&path);
            }
        }
    } else {
        replace_members(machine, place, members);
        let mut tops: Vec<&str> = members.iter().filter_map(|member| member.split('/').next()).collect();
        tops.dedup();
        for top in tops {
            let path = place.join(top);
            let inner: Vec<String> = members
                .iter()
                .filter_map(|member| member.strip_prefix(top)?.strip_prefix('/'))
                .map(str::to_owned)
                .collect();
            let inspection = machine.bring(&path, Brought::Members(&inner));
            let target = match machine.entry(&path) {
                // Some of what stands there is replaced.
                Entry::Directory => Target::Glob(format!("{path}/**")),
                Entry::Missing | Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    Target::Path(path)
                }
            };
            let draft = Draft::new(EffectKind::FileCreate, target).note(OF_ARCHIVE).unpacked(inspection);
            let draft = draft.nature(Nature::ArchiveUnread);
            machine.add(if inner.is_empty() { draft } else { draft.recursive() });
        }
    }
    over_root(machine, place);
    machine.remember_doubt_below(place);
}

/// Adds the files elsewhere than the workspace that members of a long archive replace.
fn replace_members(machine: &mut Machine<'_>, place: &AbsolutePath, members: &[String]) {
    if place.is_within(&machine.world().place().workspace) {
        return;
    }
    let files = members.iter().filter(|member| !member.ends_with('/')).take(LOOKED_UP);
    let there: Vec<AbsolutePath> = files
        .map(|member| place.join(member))
        .filter(|path| matches!(machine.entry(path), Entry::File(_)))
        .take(TOLD)
        .collect();
    for path in there {
        machine.write(&Value::exact(path.as_str()));
    }
}

/// Adds that something is created below a directory.
pub(super) fn unpack(machine: &mut Machine<'_>, directory: &Value) {
    for aim in machine.paths_through(directory) {
        let path = aim.target.path().cloned();
        let target = match &path {
            Some(path) => Target::Glob(format!("{}/**", path.as_str().trim_end_matches('/'))),
            None => aim.target.clone(),
        };
        machine.add(
            Draft::at(EffectKind::FileCreate, AimedTarget { target, ..aim })
                .nature(Nature::ArchiveUnread)
                .note(OF_ARCHIVE),
        );
        if let Some(path) = path {
            replace_below(machine, &path);
            over_root(machine, &path);
            machine.remember_doubt_below(&path);
        }
    }
}

/// Adds that what stands below a directory of a user, elsewhere than the work, may be replaced by files of the same names of which nobody
/// knows. Where programs are installed that is what unpacking there is for.
pub(crate) fn replace_below(machine: &mut Machine<'_>, directory: &AbsolutePath) {
    let place = machine.world().place();
    let is_personal = directory.relative_to(&place.home).is_some_and(|below| {
        let top = below.split('/').next().unwrap_or_default();
        !top.is_empty() && !top.starts_with('.') && top != "bin"
    });
    let is_work = directory.is_within(&place.workspace)
        || place.expected.iter().any(|expected| directory.is_within(expected));
    let holds_something = matches!(machine.children(directory), Listing::Names(names) if !names.is_empty());
    if is_personal && !is_work && holds_something {
        let target = Target::Glob(format!("{}/**", directory.as_str().trim_end_matches('/')));
        machine.add(
            Draft::new(EffectKind::FileModify, target)
                .possible()
                .severity(Severity::High)
                .note("what stands there under the names of the archive is replaced"),
        );
    }
}

/// Takes back that files are replaced, for a program that was told to leave those which are there.
pub(super) fn leave_what_is_there(machine: &mut Machine<'_>, before: usize) {
    machine.amend(before, |effect| {
        if effect.kind == EffectKind::FileModify && matches!(effect.target, Target::Glob(_)) {
            effect.severity = Severity::Low;
        }
    });
}

fn over_root(machine: &mut Machine<'_>, place: &AbsolutePath) {
    if *place == AbsolutePath::root() {
        let draft = Draft::new(EffectKind::SystemModification, Target::Path(AbsolutePath::root()));
        machine.add(draft.note("unpacks over the root directory").possible());
    }
}

pub(super) fn unpack_member(machine: &mut Machine<'_>, place: &Value) {
    for aim in machine.paths_through(place) {
        let path = aim.target.path().cloned();
        machine.add(Draft::at(EffectKind::FileCreate, aim).recursive().note("a member of the archive"));
        if let Some(path) = path {
            machine.remember_doubt(&path);
        }
    }
}
