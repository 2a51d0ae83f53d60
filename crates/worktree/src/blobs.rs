//! What files held in commits or hold in the index, read in batches: a process for each file takes longer than all that is judged about it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use checkrein_supervise::runs::RunError;

use crate::git::{Call, GitRepository};

/// How many texts one process is asked for (ours): all of them lie in memory twice for a moment.
const BATCH: usize = 1000;

/// Returns what files held in a commit, or hold in the index where the commit is empty, in their order; `None` where there is none.
///
/// # Errors
///
/// When `git` fails.
pub(crate) fn blobs<'n>(
    repository: &GitRepository,
    commit: &str,
    names: impl Iterator<Item = &'n OsStr>,
) -> Result<Vec<Option<Vec<u8>>>, RunError> {
    let objects: Vec<OsString> = names
        .map(|name| {
            let mut object = OsString::from(format!("{commit}:"));
            object.push(name);
            object
        })
        .collect();
    let mut found = Vec::with_capacity(objects.len());
    for batch in objects.chunks(BATCH) {
        let (mut input, mut is_listed) = (Vec::new(), Vec::with_capacity(batch.len()));
        for object in batch {
            // A list of lines cannot name it.
            let fits = !object.as_bytes().contains(&b'\n');
            if fits {
                input.extend_from_slice(object.as_bytes());
                input.push(b'\n');
            }
            is_listed.push(fits);
        }
        let call = Call { input: &input, ..Call::default() };
        let output =
            if input.is_empty() { Vec::new() } else { repository.bytes(&["cat-file", "--batch"], &call)? };
        let mut rest = output.as_slice();
        for (object, is_listed) in batch.iter().zip(is_listed) {
            found.push(if is_listed { next(&mut rest) } else { alone(repository, object)? });
        }
    }
    Ok(found)
}

/// Takes the next answer: `ID blob LENGTH`, a line end, the text, and a line end. Of what is missing there is one line that says so.
fn next(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, behind) = (rest.get(..end)?, rest.get(end + 1..)?);
    *rest = behind;
    let mut fields = head.split(|byte| *byte == b' ');
    let (id, kind, length) = (fields.next()?, fields.next()?, fields.next()?);
    let is_id = id.len() >= 40 && id.iter().all(u8::is_ascii_hexdigit) && fields.next().is_none();
    let length: usize = std::str::from_utf8(length).ok().filter(|_| is_id)?.parse().ok()?;
    let text = behind.get(..length)?;
    *rest = behind.get(length + 1..).unwrap_or_default();
    (kind == b"blob").then(|| text.to_vec())
}

fn alone(repository: &GitRepository, object: &OsStr) -> Result<Option<Vec<u8>>, RunError> {
    let arguments = [OsStr::new("cat-file"), OsStr::new("blob"), object];
    let output = repository.output_with(arguments.into_iter(), &Call::default())?;
    Ok(output.status.success().then_some(output.stdout))
}

/// A file of the index.
pub(crate) struct IndexEntry {
    /// Its name.
    pub(crate) name: OsString,
    /// Its mode, as git writes it.
    pub(crate) mode: Vec<u8>,
    /// The identity of its content.
    pub(crate) id: String,
    /// Whether somebody said that it may be missing on disk (`--skip-worktree`).
    pub(crate) is_skipped: bool,
    /// Whether somebody said that git need not look at it (`--assume-unchanged`).
    pub(crate) is_assumed: bool,
}

/// Returns all files of the index, also those that are not merged: these with each of their sides.
///
/// # Errors
///
/// When `git` fails.
pub(crate) fn index_entries(repository: &GitRepository) -> Result<Vec<IndexEntry>, RunError> {
    let listed = repository.bytes(&["ls-files", "--stage", "-v", "-z"], &Call::default())?;
    // `TAG MODE ID STAGE`, a tab, the name.
    let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let (facts, name) = (entry.get(..tab)?, entry.get(tab + 1..)?);
        let mut facts = facts.split(|byte| *byte == b' ');
        let (tag, mode, id) = (facts.next()?.first()?, facts.next()?, facts.next()?);
        Some(IndexEntry {
            name: OsString::from_vec(name.to_vec()),
            mode: mode.to_vec(),
            id: String::from_utf8_lossy(id).into_owned(),
            is_skipped: tag.eq_ignore_ascii_case(&b'S'),
            is_assumed: tag.is_ascii_lowercase(),
        })
    });
    Ok(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn answers_are_taken_one_after_the_other() {
        let id = "a".repeat(40);
        let text =
            format!("{id} blob 3\nx\ny\n:gone missing\n{id} tree 2\n..\n{id} blob 0\n\nabc blob 1 missing\n");
        let mut rest = text.as_bytes();
        assert_eq!(next(&mut rest), Some(b"x\ny".to_vec()));
        assert_eq!(next(&mut rest), None, "it is missing");
        assert_eq!(next(&mut rest), None, "it is a folder");
        assert_eq!(next(&mut rest), Some(Vec::new()));
        assert_eq!(next(&mut rest), None, "a name that looks like an answer");
        assert_eq!(next(&mut rest), None, "nothing is left");
    }
}
