//! What stands somewhere new and comes back elsewhere by the same restore, or stands packed in an archive, so that nothing is lost with it.

use std::path::{Component, Path, PathBuf};

use checkrein_world::{ArchiveMember, MemberContent, archive_members, gunzipped};

use super::elsewhere::substance;
use super::{Prepared, RestoreAction, Step};
use crate::footprint::LOOKED_AT;
use crate::metadata;
use crate::node::{FileTime, Node};

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
        let Some(substance) = substance(step.now.as_ref()) else { return false };
        let back: Vec<&Step> = self
            .steps
            .iter()
            .filter(|other| matches!(other.deed, RestoreAction::Create | RestoreAction::Replace))
            .collect();
        if back
            .iter()
            .any(|other| self::substance(other.then.as_ref()).as_ref() == Some(&substance) && is_done(other))
        {
            return true;
        }
        let Some(bytes) = self.packed(step.now.as_ref()) else { return false };
        if let Some(single) = gunzipped(&bytes, UNPACKED)
            && back.iter().any(|other| self.has_bytes(other.then.as_ref(), &single) && is_done(other))
        {
            return true;
        }
        let Some(members) = archive_members(&bytes, UNPACKED) else { return false };
        let is_back = |member: &ArchiveMember| {
            match &member.content {
            MemberContent::Directory => true,
            MemberContent::File(bytes) => back.iter().any(|other| {
                ends_with(other.path.as_path(), &member.name) && self.has_bytes(other.then.as_ref(), bytes) && is_done(other)
            }),
            MemberContent::Link(target) => back.iter().any(|other| {
                ends_with(other.path.as_path(), &member.name)
                    && matches!(&other.then, Some(Node::Symlink { target: then, .. }) if then == target.as_bytes())
                    && is_done(other)
            }),
            MemberContent::SecondName(of) => members.iter().any(|other| other.name == *of),
        }
        };
        members.iter().any(|one| one.content != MemberContent::Directory) && members.iter().all(is_back)
    }

    /// Whether what a step would replace or remove is what one of these places holds packed, which the action was to read: an archive that
    /// stands as it stood before it, or a file that comes back.
    pub(super) fn is_unpacked_from(&self, step: &Step, sources: &[PathBuf]) -> bool {
        let Some(Node::File { length, content, .. }) = &step.now else { return false };
        if *length > LOOKED_AT {
            return false;
        }
        let Ok(now) = self.draft.content(content) else { return false };
        let holds = |source: &PathBuf, packed: &[u8]| {
            let is_single = source.file_stem() == step.path.as_path().file_name();
            if is_single && gunzipped(packed, UNPACKED).is_some_and(|single| single == now) {
                return true;
            }
            archive_members(packed, UNPACKED).into_iter().flatten().any(|member| {
                let last = Path::new(&member.name).file_name();
                last == step.path.as_path().file_name() && member.content == MemberContent::File(now.clone())
            })
        };
        sources.iter().take(ARCHIVES).any(|source| {
            let known = self.steps.iter().find(|other| other.path.as_path() == source);
            let packed = match known {
                Some(other) if other.deed == RestoreAction::Create => self.packed(other.then.as_ref()),
                Some(_) => None,
                None => self.stands_as_before(source),
            };
            packed.is_some_and(|packed| holds(source, &packed))
        })
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

/// Whether a path ends with the name of a member of an archive.
fn ends_with(path: &Path, member: &str) -> bool {
    let parts = Path::new(member).components().filter(|part| matches!(part, Component::Normal(_)));
    path.ends_with(parts.collect::<PathBuf>())
}
