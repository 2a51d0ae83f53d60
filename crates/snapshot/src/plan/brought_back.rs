//! What stands somewhere new and comes back elsewhere by the same restore, or stands packed in an archive, so that nothing is lost with it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use checkrein_world::{ArchiveMember, MemberContent, archive_members, gunzipped};

use super::{Prepared, RestoreAction, Step, elsewhere};
use crate::footprint::LOOKED_AT;
use crate::id::ObjectId;
use crate::metadata;
use crate::node::{Content, FileTime, Node};

/// How many bytes are unpacked at most (ours).
const UNPACKED: usize = 16 * 1024 * 1024;

/// How many archives are looked into at most (ours).
const ARCHIVES: usize = 16;

impl Prepared {
    /// Whether all that a step would remove comes back by other steps: the same content, or what a file or an archive holds packed. Only steps
    /// count that are done.
    pub fn is_brought_back(&self, step: &Step, is_done: impl Fn(&Step) -> bool) -> bool {
        if step.deed != RestoreAction::Remove {
            return false;
        }
        let Some(substance) = elsewhere::substance(step.now.as_ref()) else { return false };
        let goes_back = self.goes_back.get_or_init(|| {
            let back = self.steps.iter().filter(|other| other.deed != RestoreAction::Remove);
            back.filter_map(|other| elsewhere::substance(other.then.as_ref())).collect()
        });
        let is_packed = || self.packed(step.now.as_ref()).filter(|bytes| may_be_archive(bytes));
        let packed = if goes_back.contains(&substance) { None } else { is_packed() };
        if packed.is_none() && !goes_back.contains(&substance) {
            return false;
        }
        let back: Vec<&Step> = self
            .steps
            .iter()
            .filter(|other| matches!(other.deed, RestoreAction::Create | RestoreAction::Replace))
            .collect();
        if back.iter().any(|other| {
            elsewhere::substance(other.then.as_ref()).as_ref() == Some(&substance) && is_done(other)
        }) {
            return true;
        }
        let Some(bytes) = packed else { return false };
        if let Some(single) = gunzipped(&bytes, UNPACKED)
            && back.iter().any(|other| self.has_bytes(other.then.as_ref(), &single) && is_done(other))
        {
            return true;
        }
        let Some(members) = archive_members(&bytes, UNPACKED) else { return false };
        let is_done_at = |name: &str, fits: &dyn Fn(&Step) -> bool| {
            let mut named = back.iter().filter(|other| ends_with(other.path.as_path(), name));
            named.any(|other| fits(other) && is_done(other))
        };
        let leads_to = |other: &Step, target: &str| {
            let then = other.then.as_ref();
            matches!(then, Some(Node::Symlink { target: then, .. }) if then == target.as_bytes())
        };
        let is_back = |member: &ArchiveMember| match &member.content {
            MemberContent::Directory => true,
            MemberContent::File(bytes) => {
                is_done_at(&member.name, &|other| self.has_bytes(other.then.as_ref(), bytes))
            }
            MemberContent::Link(target) => is_done_at(&member.name, &|other| leads_to(other, target)),
            MemberContent::SecondName(of) => members.iter().any(|other| other.name == *of),
        };
        members.iter().any(|one| one.content != MemberContent::Directory) && members.iter().all(is_back)
    }

    /// Whether what a step would replace or remove is what one of these places holds packed, which the action was to read: an archive that
    /// stands as it stood before it, or a file that comes back.
    pub(super) fn is_unpacked_from(&self, step: &Step, sources: &[PathBuf]) -> bool {
        let Some(Node::File { content: Content::Whole(id), .. }) = &step.now else { return false };
        let Some(name) = step.path.as_path().file_name() else { return false };
        let held = self.unpacked.get_or_init(|| self.unpacked_from(sources));
        held.contains(&(name.to_owned(), *id))
    }

    /// What these places hold packed: the last part of each name, and what tells the content.
    fn unpacked_from(&self, sources: &[PathBuf]) -> HashSet<(OsString, ObjectId)> {
        let mut held = HashSet::new();
        let packed = sources.iter().filter_map(|source| {
            let known = self.steps.iter().find(|other| other.path.as_path() == source);
            let packed = match known {
                Some(other) if other.deed == RestoreAction::Create => self.packed(other.then.as_ref()),
                Some(_) => None,
                None => self.stands_as_before(source),
            };
            Some((source, packed.filter(|packed| may_be_archive(packed))?))
        });
        for (source, packed) in packed.take(ARCHIVES) {
            if let (Some(single), Some(name)) = (gunzipped(&packed, UNPACKED), source.file_stem()) {
                held.insert((name.to_owned(), ObjectId::of(&single)));
            }
            for member in archive_members(&packed, UNPACKED).into_iter().flatten() {
                if let (MemberContent::File(bytes), Some(last)) =
                    (&member.content, Path::new(&member.name).file_name())
                {
                    held.insert((last.to_owned(), ObjectId::of(bytes)));
                }
            }
        }
        held
    }

    /// What a file holds that did not change since the snapshot.
    fn stands_as_before(&self, path: &Path) -> Option<Vec<u8>> {
        let found = crate::lookup::stat(path).ok()?;
        let changed: FileTime = metadata::changed(&found);
        let is_small = metadata::length(&found) <= LOOKED_AT;
        (is_small && changed < self.past.saved).then(|| checkrein_files::read(path, LOOKED_AT).ok())?
    }

    /// The bytes of a file that may be packed, where these are not too many.
    fn packed(&self, node: Option<&Node>) -> Option<Vec<u8>> {
        let Some(Node::File { length, content, .. }) = node else { return None };
        (*length <= LOOKED_AT).then(|| self.draft.content(content).ok())?
    }

    /// Whether a file holds just these bytes.
    fn has_bytes(&self, node: Option<&Node>, bytes: &[u8]) -> bool {
        let Some(Node::File { length, content, .. }) = node else { return false };
        u64::try_from(bytes.len()) == Ok(*length)
            && self.draft.content(content).is_ok_and(|content| content == bytes)
    }
}

/// Whether a file begins as archives do, or as what gzip packed.
fn may_be_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"PK") || bytes.get(257..262) == Some(b"ustar")
}

/// Whether a path ends with the name of a member of an archive.
fn ends_with(path: &Path, member: &str) -> bool {
    let parts = Path::new(member).components().filter(|part| matches!(part, Component::Normal(_)));
    path.ends_with(parts.collect::<PathBuf>())
}
