//! What lies on disk, whatever git was told about it: flags of the index, forged times, attributes that belong to this clone alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use checkrein_supervise::runs::RunError;
use checkrein_supervise::runs::file::hexadecimal;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::git::{Call, GitRepository};

/// How many letters the name of an object has where git makes it with SHA-256.
const SHA_256: usize = 64;

/// A file of a commit.
pub(crate) struct TreeEntry {
    /// The identity of its content.
    pub(crate) id: String,
    is_link: bool,
    is_executable: bool,
}

impl TreeEntry {
    /// An entry of a mode, as git writes it; `None` for what is no file.
    pub(crate) fn of(mode: &[u8], id: &str) -> Option<Self> {
        let (is_link, is_executable) = (mode == b"120000", mode == b"100755");
        let is_file = is_link || mode.starts_with(b"100");
        is_file.then(|| Self { id: id.to_owned(), is_link, is_executable })
    }
}

/// All files of a commit. Other repositories inside are left out.
pub(crate) fn entries_of(
    repository: &GitRepository,
    commit: &str,
) -> Result<BTreeMap<OsString, TreeEntry>, RunError> {
    let listed = repository.bytes(&["ls-tree", "-r", "-z", commit], &Call::default())?;
    let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let (facts, name) = (entry.get(..tab)?, entry.get(tab + 1..)?);
        let mut facts = facts.split(|byte| *byte == b' ');
        let (mode, _kind, id) = (facts.next()?, facts.next()?, facts.next()?);
        let entry = TreeEntry::of(mode, &String::from_utf8_lossy(id))?;
        Some((OsStr::from_bytes(name).to_owned(), entry))
    });
    Ok(entries.collect())
}

/// Those of some files of a commit that are otherwise, or gone, on disk. In a sparse work tree those that are `skipped` may be missing.
pub(crate) fn passed_over<'e>(
    repository: &GitRepository,
    entries: impl Iterator<Item = (&'e OsString, &'e TreeEntry)>,
    skipped: &BTreeSet<&OsStr>,
) -> Result<Vec<OsString>, RunError> {
    let is_on = |key: &str, usual: bool| {
        setting(repository, key).map(|value| value.map_or(usual, |value| value == "true"))
    };
    // A sparse work tree lacks files on purpose. Some file systems have no links, and some no mark of programs.
    let is_sparse = is_on("core.sparseCheckout", false)?;
    let (has_links, has_modes) = (is_on("core.symlinks", true)?, is_on("core.fileMode", true)?);
    let mut found = Vec::new();
    let mut regular: Vec<Present<'_>> = Vec::new();
    for (name, entry) in entries {
        let path = repository.work_tree().join(name);
        match fs::symlink_metadata(&path) {
            Err(_) if is_sparse && skipped.contains(name.as_os_str()) => {}
            Ok(facts) if facts.is_symlink() && entry.is_link => {
                let target = fs::read_link(&path).unwrap_or_default();
                if blob_id(target.as_os_str().as_bytes(), entry.id.len()) != entry.id {
                    found.push(name.clone());
                }
            }
            Ok(facts) if facts.is_file() && entry.is_link && has_links => found.push(name.clone()),
            Ok(facts) if facts.is_file() => {
                let is_executable = facts.mode() & 0o100 != 0;
                if has_modes && is_executable != entry.is_executable {
                    found.push(name.clone());
                } else {
                    regular.push(Present { name, entry, facts });
                }
            }
            Ok(_) | Err(_) => found.push(name.clone()),
        }
    }
    let has_own_attributes = has_own_attributes(repository)?;
    let differing = otherwise(repository, regular, &mut found)?;
    // Other bytes may be the same text for git, by an attribute of the project or a setting. What belongs to this clone alone decides nothing.
    let ids =
        if has_own_attributes { vec![None; differing.len()] } else { text_ids(repository, &differing)? };
    for (Present { name, entry, .. }, id) in differing.into_iter().zip(ids) {
        let is_same = id.is_some_and(|id| id == entry.id);
        if is_same || has_own_attributes && is_same_but_for_line_ends(repository, name, entry)? {
            continue;
        }
        found.push(name.clone());
    }
    Ok(found)
}

/// What git calls a text (git-hash-object(1)), in a repository whose names have so many letters.
fn blob_id(text: &[u8], length: usize) -> String {
    let head = format!("blob {}\0", text.len());
    if length == SHA_256 {
        hexadecimal(&Sha256::new().chain_update(head).chain_update(text).finalize())
    } else {
        hexadecimal(&Sha1::new().chain_update(head).chain_update(text).finalize())
    }
}

/// A regular file that stands in a commit and on disk.
struct Present<'e> {
    name: &'e OsString,
    entry: &'e TreeEntry,
    facts: fs::Metadata,
}

impl Present<'_> {
    /// Whether its name can be given in a list of lines.
    fn is_listable(&self) -> bool {
        !self.name.as_bytes().contains(&b'\n')
    }
}

/// Those of some files whose bytes are others than those of the commit. One that cannot be read is among what was `found`.
fn otherwise<'e>(
    repository: &GitRepository,
    files: Vec<Present<'e>>,
    found: &mut Vec<OsString>,
) -> Result<Vec<Present<'e>>, RunError> {
    let (mut differing, mut unknown) = (Vec::new(), Vec::new());
    {
        let remembered = repository.remembered();
        for file in files {
            let known = remembered.of(file.name, &file.facts).map(|id| id == file.entry.id);
            let can_be_read = || fs::File::open(repository.work_tree().join(file.name)).is_ok();
            match known {
                Some(true) => {}
                None if !can_be_read() => found.push(file.name.clone()),
                None if file.is_listable() => unknown.push(file),
                Some(false) | None => differing.push(file),
            }
        }
    }
    let ids = listed_ids(repository, &unknown, &["hash-object", "--no-filters", "--stdin-paths"])?;
    let mut remembered = repository.remembered();
    for (file, id) in unknown.into_iter().zip(ids) {
        remembered.learn(file.name, &file.facts, &id);
        if id != file.entry.id {
            differing.push(file);
        }
    }
    Ok(differing)
}

/// The identities that files would have in a commit, in their order; `None` for those that cannot be named in a list.
fn text_ids(repository: &GitRepository, files: &[Present<'_>]) -> Result<Vec<Option<String>>, RunError> {
    let listed: Vec<&Present<'_>> = files.iter().filter(|file| file.is_listable()).collect();
    let mut ids = listed_ids(repository, &listed, &["hash-object", "--stdin-paths"])?.into_iter();
    Ok(files.iter().map(|file| file.is_listable().then(|| ids.next()).flatten()).collect())
}

/// What git says of files, in their order.
fn listed_ids<'f>(
    repository: &GitRepository,
    files: &[impl std::borrow::Borrow<Present<'f>>],
    asking: &[&str],
) -> Result<Vec<String>, RunError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = Vec::new();
    for file in files {
        input.extend_from_slice(file.borrow().name.as_bytes());
        input.push(b'\n');
    }
    let call = Call { input: &input, ..Call::default() };
    Ok(repository.text(asking, &call)?.lines().map(str::to_owned).collect())
}

/// Whether the clone has attributes that no commit holds: a list beside its objects, or one that its own configuration names.
fn has_own_attributes(repository: &GitRepository) -> Result<bool, RunError> {
    if fs::read(repository.common().join("info/attributes")).is_ok_and(|text| has_entries(&text)) {
        return Ok(true);
    }
    let asking = ["config", "--local", "--get", "core.attributesFile"];
    Ok(repository.output(&asking, &Call::default())?.status.success())
}

/// The value of a setting, as git reads it; `None` where there is none.
fn setting(repository: &GitRepository, key: &str) -> Result<Option<String>, RunError> {
    let output = repository.output(&["config", "--type=bool", "--get", key], &Call::default())?;
    let value = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success().then_some(value))
}

/// Whether a file holds what a commit has of it, but for the ends of its lines.
fn is_same_but_for_line_ends(
    repository: &GitRepository,
    name: &OsStr,
    entry: &TreeEntry,
) -> Result<bool, RunError> {
    let plain = |bytes: Vec<u8>| bytes.into_iter().filter(|byte| *byte != b'\r').collect::<Vec<_>>();
    let before = plain(repository.bytes(&["cat-file", "blob", &entry.id], &Call::default())?);
    let now = fs::read(repository.work_tree().join(name)).map(plain);
    Ok(now.is_ok_and(|now| now == before))
}

/// New files that no rule of the project and none of the user hides, but one that belongs to this clone alone (`info/exclude`, or the list that
/// its own configuration names). What a folder of them holds is one entry.
///
/// # Errors
///
/// When `git` fails.
pub fn hidden_by_clone(repository: &GitRepository) -> Result<Vec<String>, RunError> {
    let own = repository.common().join("info/exclude");
    let asking = ["config", "--local", "--type=path", "--get", "core.excludesFile"];
    let named = repository.output(&asking, &Call::default())?;
    let named = named.status.success().then(|| {
        repository
            .work_tree()
            .join(OsStr::from_bytes(named.stdout.strip_suffix(b"\n").unwrap_or(&named.stdout)))
    });
    let hides = fs::read(&own).is_ok_and(|text| has_entries(&text));
    if !hides && named.is_none() {
        return Ok(Vec::new());
    }
    let listing = ["ls-files", "--others", "--directory", "-z", "--exclude-per-directory=.gitignore"];
    let listed = repository.bytes(&listing, &Call::default())?;
    let mut input = Vec::new();
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // No sign at its beginning means anything but itself then.
        input.extend_from_slice(b"./");
        input.extend_from_slice(name);
        input.push(0);
    }
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let call = Call { input: &input, ..Call::default() };
    // Four fields for each path: the list, the line, the pattern, the path. It ends with 1 where nothing is hidden.
    let asking = ["--no-literal-pathspecs", "check-ignore", "--verbose", "-z", "--stdin"];
    let output = repository.output(&asking, &call)?;
    let fields: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    let of_clone = |list: &[u8]| {
        let list = repository.work_tree().join(OsStr::from_bytes(list));
        list == own || Some(&list) == named.as_ref()
    };
    let (entries, _) = fields.as_chunks::<4>();
    let hidden = entries.iter().filter(|[list, ..]| of_clone(list));
    let name = |path: &[u8]| String::from_utf8_lossy(path.strip_prefix(b"./").unwrap_or(path)).into_owned();
    Ok(hidden.map(|[.., path]| name(path)).collect())
}

/// Whether a list holds more than comments.
fn has_entries(text: &[u8]) -> bool {
    let is_said = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    String::from_utf8_lossy(text).lines().any(is_said)
}

#[cfg(test)]
mod tests {
    use super::{SHA_256, blob_id};

    #[test]
    fn a_text_is_called_as_git_calls_it() {
        assert_eq!(blob_id(b"", 40), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"", SHA_256), "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
    }
}
