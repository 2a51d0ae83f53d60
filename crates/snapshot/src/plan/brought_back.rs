//! What stands somewhere and comes back elsewhere by the same restore, or stands packed in an archive, or is nothing but a packed copy of what
//! stands, so that nothing is lost with it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use checkrein_world::{
    ArchiveMember, MemberContent, archive_members, gunzipped, is_packed_from, may_be_packed,
};

use super::{ActionSources, Prepared, RestoreAction, Step, elsewhere};
use crate::footprint::LOOKED_AT;
use crate::id::ObjectId;
use crate::metadata;
use crate::node::{Content, FileTime, Node};

/// How many bytes are unpacked at most (ours).
const UNPACKED: usize = 16 * 1024 * 1024;

/// How many archives are looked into at most (ours).
const ARCHIVES: usize = 16;

/// How many files are looked at at most for the one of which something is a packed copy (ours).
const ORIGINALS: usize = 64;

/// What places hold packed.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// Members of archives and what gzip packed: the last part of each name, and what tells the content.
    members: HashSet<(OsString, ObjectId)>,
    /// What other compressors packed, as it is: what it holds can only be compared.
    singles: Vec<Vec<u8>>,
}

impl Prepared {
    /// Whether all that a step would remove comes back by other steps: the same content, or what a file or an archive holds packed. Only steps
    /// count that are done. What is packed may be of what the action was to read as well, where that stands as it did, or of what it was to write.
    pub fn is_brought_back(&self, step: &Step, is_done: impl Fn(&Step) -> bool) -> bool {
        match step.deed {
            RestoreAction::Remove | RestoreAction::Replace => {}
            RestoreAction::Create | RestoreAction::Adjust => return false,
        }
        let Some(substance) = elsewhere::substance(step.now.as_ref()) else { return false };
        let goes_back = self.goes_back.get_or_init(|| {
            let back = self.steps.iter().filter(|other| other.deed != RestoreAction::Remove);
            back.filter_map(|other| elsewhere::substance(other.then.as_ref())).collect()
        });
        let is_packed =
            || self.packed(step.now.as_ref()).filter(|bytes| may_be_archive(bytes) || may_be_packed(bytes));
        let is_same = step.deed == RestoreAction::Remove && goes_back.contains(&substance);
        let packed = if is_same { None } else { is_packed() };
        if packed.is_none() && !is_same {
            return false;
        }
        let back: Vec<&Step> = self
            .steps
            .iter()
            .filter(|other| matches!(other.deed, RestoreAction::Create | RestoreAction::Replace))
            .filter(|other| other.path != step.path)
            .filter(|other| step.deed == RestoreAction::Remove || !self.is_made_of_others(other))
            .collect();
        if is_same
            && back.iter().any(|other| {
                elsewhere::substance(other.then.as_ref()).as_ref() == Some(&substance) && is_done(other)
            })
        {
            return true;
        }
        let Some(bytes) = packed else { return false };
        self.is_packed_copy(&bytes, &back, &is_done) || self.is_archive_of_known(&bytes, &back, &is_done)
    }

    /// Whether what stands there looks as if it were made of other files, so that it depends on these whether it goes back: packed, or a
    /// difference. Of two that are made of each other, neither is looked through.
    pub fn is_made_of_others(&self, step: &Step) -> bool {
        self.packed(step.now.as_ref()).is_some_and(|bytes| {
            may_be_archive(&bytes) || may_be_packed(&bytes) || bytes.starts_with(b"diff --git ")
        })
    }

    /// Whether bytes are what a compressor made of one file that comes back, or that stands as it did where the action was to read it.
    fn is_packed_copy(&self, bytes: &[u8], back: &[&Step], is_done: &impl Fn(&Step) -> bool) -> bool {
        if !may_be_packed(bytes) {
            return false;
        }
        let single = gunzipped(bytes, UNPACKED);
        let is_original = |plain: &[u8]| match &single {
            Some(single) => single == plain,
            None => is_packed_from(bytes, plain),
        };
        let came_back = back.iter().take(ORIGINALS).any(|other| {
            self.packed(other.then.as_ref()).is_some_and(|plain| is_original(&plain)) && is_done(other)
        });
        let stands = || {
            let standing = self.source_places().iter().filter(|source| self.is_unchanged(source));
            standing
                .take(ORIGINALS)
                .filter_map(|source| self.stands_as_before(source))
                .any(|plain| is_original(&plain))
        };
        came_back || stands()
    }

    /// Whether bytes are an archive of nothing but files that come back, that stand as they did where the action was to read them, or that it was
    /// to write itself.
    fn is_archive_of_known(&self, bytes: &[u8], back: &[&Step], is_done: &impl Fn(&Step) -> bool) -> bool {
        let Some(members) = archive_members(bytes, UNPACKED) else { return false };
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
                    || self.stands_at_source(&member.name, bytes)
                    || self.past.announced.holds_below(&plain_name(&member.name), ObjectId::of(bytes))
            }
            MemberContent::Link(target) => {
                is_done_at(&member.name, &|other| leads_to(other, target))
                    || self.sources_named(&member.name).any(|path| {
                        self.is_unchanged(&path)
                            && std::fs::read_link(&path).is_ok_and(|leads| leads == Path::new(target))
                    })
            }
            MemberContent::SecondName(of) => members.iter().any(|other| other.name == *of),
        };
        members.iter().any(|one| one.content != MemberContent::Directory) && members.iter().all(is_back)
    }

    /// The places that the action was to read, where these are known.
    fn source_places(&self) -> &[PathBuf] {
        match &self.sources {
            Some(ActionSources { places, .. }) => places,
            None => &[],
        }
    }

    /// The paths at or below the sources of the action that end with the name of a member of an archive.
    fn sources_named(&self, member: &str) -> impl Iterator<Item = PathBuf> {
        let name = plain_name(member);
        self.source_places().iter().flat_map(move |source| {
            let around: Vec<PathBuf> = source.ancestors().map(|above| above.join(&name)).collect();
            around.into_iter().filter(move |path| path.starts_with(source))
        })
    }

    /// Whether a file of this name stands at or below a source of the action as it did before it, with these bytes.
    fn stands_at_source(&self, member: &str, bytes: &[u8]) -> bool {
        self.sources_named(member).any(|path| {
            self.is_unchanged(&path) && self.stands_as_before(&path).is_some_and(|stands| stands == bytes)
        })
    }

    /// Whether no step is about a path.
    fn is_unchanged(&self, path: &Path) -> bool {
        self.steps.iter().all(|step| step.path.as_path() != path)
    }

    /// Whether what a step would replace or remove is what one of these places holds packed, which the action was to read: an archive that
    /// stands as it stood before it, or a file that comes back.
    pub(super) fn is_unpacked_from(&self, step: &Step, sources: &[PathBuf]) -> bool {
        let Some(Node::File { content: Content::Whole(id), .. }) = &step.now else { return false };
        let Some(name) = step.path.as_path().file_name() else { return false };
        let held = self.unpacked.get_or_init(|| self.unpacked_from(sources));
        if held.members.contains(&(name.to_owned(), *id)) {
            return true;
        }
        let plain = || self.packed(step.now.as_ref());
        !held.singles.is_empty()
            && plain().is_some_and(|plain| held.singles.iter().any(|packed| is_packed_from(packed, &plain)))
    }

    /// What these places hold packed.
    fn unpacked_from(&self, sources: &[PathBuf]) -> Unpacked {
        let mut held = Unpacked::default();
        let packed = sources.iter().filter_map(|source| {
            let known = self.steps.iter().find(|other| other.path.as_path() == source);
            let packed = match known {
                Some(other) if other.deed == RestoreAction::Create => self.packed(other.then.as_ref()),
                Some(_) => None,
                None => self.stands_as_before(source),
            };
            Some((source, packed.filter(|packed| may_be_archive(packed) || may_be_packed(packed))?))
        });
        for (source, packed) in packed.take(ARCHIVES) {
            if let (Some(single), Some(name)) = (gunzipped(&packed, UNPACKED), source.file_stem()) {
                held.members.insert((name.to_owned(), ObjectId::of(&single)));
            }
            for member in archive_members(&packed, UNPACKED).into_iter().flatten() {
                if let (MemberContent::File(bytes), Some(last)) =
                    (&member.content, Path::new(&member.name).file_name())
                {
                    held.members.insert((last.to_owned(), ObjectId::of(bytes)));
                }
            }
            if may_be_packed(&packed) && !may_be_archive(&packed) {
                held.singles.push(packed);
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
    path.ends_with(plain_name(member))
}

/// The name of a member of an archive without what leads elsewhere.
fn plain_name(member: &str) -> PathBuf {
    Path::new(member).components().filter(|part| matches!(part, Component::Normal(_))).collect()
}
