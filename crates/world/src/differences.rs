//! Where two revisions of a repository differ, or the index and a revision.

use std::collections::{BTreeMap, BTreeSet};

use checkrein_facts::{TreeDifference, TreeDifferences};

use crate::objects::{Name, Objects, hexadecimal};
use crate::revision::Found;

/// The greatest number of files of a revision that is compared with the index (ours).
const FILES: usize = 20_000;
/// The greatest number of symbolic links that are read of a comparison (ours).
const LINKS: usize = 64;
/// How deep directories are entered (ours).
const DEPTH: usize = 64;

/// What a directory of a revision holds: by name, the mode and the object.
type Folder = BTreeMap<String, (Vec<u8>, Name)>;

/// The mode of a symbolic link in a directory.
const LINK: &[u8] = b"120000";

/// The mode of a directory in a directory.
const DIRECTORY: &[u8] = b"40000";

impl Objects<'_> {
    /// Where two revisions differ, by their names.
    pub(crate) fn differences(&self, from: &str, to: &str) -> TreeDifferences {
        let (from, to) = match (self.tree_named(from), self.tree_named(to)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(answer), _) | (_, Err(answer)) => return answer,
        };
        let mut found = Vec::new();
        match self.compare(from.as_deref(), to.as_deref(), "", DEPTH, &mut found) {
            Some(()) => sorted(found),
            None => TreeDifferences::Unknown,
        }
    }

    /// Where the index, given as the objects of its files, differs from a revision. `None` stands for one side of a conflict.
    pub(crate) fn differences_from_index(
        &self,
        index: &BTreeMap<String, Option<Name>>,
        to: &str,
    ) -> TreeDifferences {
        let tree = match self.tree_named(to) {
            Ok(tree) => tree,
            Err(answer) => return answer,
        };
        let mut files = BTreeMap::new();
        if let Some(tree) = tree
            && self.files(&tree, "", DEPTH, &mut files).is_none()
        {
            return TreeDifferences::Unknown;
        }
        let mut found = Vec::new();
        for (path, ours) in index {
            match files.get(path) {
                None => found.push((path.clone(), TreeDifference::Removed)),
                Some(theirs) if ours.as_ref() != Some(theirs) => {
                    found.push((path.clone(), TreeDifference::Changed));
                }
                Some(_) => {}
            }
        }
        let added = files.into_keys().filter(|path| !index.contains_key(path));
        found.extend(added.map(|path| (path, TreeDifference::Added)));
        sorted(found)
    }

    /// The root of what a revision holds, `None` for nothing at all.
    fn tree_named(&self, revision: &str) -> Result<Option<Name>, TreeDifferences> {
        if revision == TreeDifferences::EMPTY {
            return Ok(None);
        }
        match self.commit(revision) {
            Found::Commit(commit) => match self.tree_of(&commit) {
                Some(tree) if tree == TreeDifferences::EMPTY => Ok(None),
                Some(tree) => Ok(Some(tree)),
                None => Err(TreeDifferences::Unknown),
            },
            Found::None => Err(TreeDifferences::NoRevision),
            Found::Unknown => Err(TreeDifferences::Unknown),
        }
    }

    fn compare(
        &self,
        from: Option<&str>,
        to: Option<&str>,
        above: &str,
        left: usize,
        found: &mut Vec<(String, TreeDifference)>,
    ) -> Option<()> {
        let left = left.checked_sub(1)?;
        let (from, to) = (self.folder(from)?, self.folder(to)?);
        let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        for name in names {
            let (before, after) = (from.get(name), to.get(name));
            if before == after {
                continue;
            }
            let path = format!("{above}{name}");
            let tree = |side: Option<&(Vec<u8>, Name)>| {
                side.filter(|(mode, _)| mode == DIRECTORY).map(|(_, tree)| tree.clone())
            };
            let file = |side: Option<&(Vec<u8>, Name)>| side.is_some_and(|(mode, _)| mode != DIRECTORY);
            let (old, new) = (tree(before), tree(after));
            if old.is_some() || new.is_some() {
                self.compare(old.as_deref(), new.as_deref(), &format!("{path}/"), left, found)?;
            }
            self.note_link(&path, after);
            match (file(before), file(after)) {
                (true, true) => found.push((path, TreeDifference::Changed)),
                (true, false) => found.push((path, TreeDifference::Removed)),
                (false, true) => found.push((path, TreeDifference::Added)),
                (false, false) => {}
            }
            if found.len() > TreeDifferences::LIMIT {
                return None;
            }
        }
        Some(())
    }

    /// Keeps that a path is a symbolic link in the revision that comes.
    fn note_link(&self, path: &str, comes: Option<&(Vec<u8>, Name)>) {
        if let Some((mode, object)) = comes
            && mode == LINK
        {
            let mut links = self.links.borrow_mut();
            if links.len() < LINKS {
                links.push((path.to_owned(), object.clone()));
            }
        }
    }

    /// Where the symbolic links lead that the comparison found to come with the second revision.
    pub(crate) fn links(&self) -> Vec<(String, String)> {
        let links = self.links.borrow();
        let text = |object: &Name| match self.read(object)? {
            ("blob", text) => String::from_utf8(text).ok(),
            _ => None,
        };
        links.iter().filter_map(|(path, object)| Some((path.clone(), text(object)?))).collect()
    }

    /// All files at and below a directory of a revision.
    fn files(&self, tree: &str, above: &str, left: usize, all: &mut BTreeMap<String, Name>) -> Option<()> {
        let left = left.checked_sub(1)?;
        for (name, (mode, object)) in self.folder(Some(tree))? {
            let path = format!("{above}{name}");
            if mode == DIRECTORY {
                self.files(&object, &format!("{path}/"), left, all)?;
            } else {
                self.note_link(&path, Some(&(mode, object.clone())));
                all.insert(path, object);
            }
            if all.len() > FILES {
                return None;
            }
        }
        Some(())
    }

    /// What a directory of a revision holds; one that is not there holds nothing. `None` when it cannot be read, or holds a name that is
    /// not UTF-8.
    fn folder(&self, tree: Option<&str>) -> Option<Folder> {
        let mut all = Folder::new();
        let Some(tree) = tree else { return Some(all) };
        let ("tree", data) = self.read(tree)? else { return None };
        let mut rest = data.as_slice();
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (mode, name) = (rest.get(..space)?, rest.get(space + 1..end)?);
            let object = rest.get(end + 1..end + 1 + self.bytes)?;
            let name = std::str::from_utf8(name).ok()?;
            all.insert(name.to_owned(), (mode.to_vec(), hexadecimal(object)));
            rest = rest.get(end + 1 + self.bytes..)?;
        }
        Some(all)
    }
}

fn sorted(mut found: Vec<(String, TreeDifference)>) -> TreeDifferences {
    if found.len() > TreeDifferences::LIMIT {
        return TreeDifferences::Unknown;
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    TreeDifferences::At(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use checkrein_protocol::AbsolutePath;
    use std::process::Command;

    #[test]
    fn the_same_as_git_says() {
        let directory = tempfile::tempdir().unwrap();
        let git = |script: &str| {
            let output = Command::new("sh")
                .args(["-ec", script])
                .current_dir(directory.path())
                .env("HOME", directory.path())
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        git("git init -q -b main; git config user.name d; git config user.email d@l
             mkdir -p a/b c; echo 1 > a/b/one; echo 2 > a/two; echo 3 > c/three; echo 4 > four; echo 5 > swap; git add -A; git commit -qm 1
             git checkout -q -b side; git rm -qr c; echo x >> a/b/one; chmod +x four; mkdir new; echo n > new/n; rm swap; mkdir swap; echo s > swap/s; git add -A; git commit -qm 2
             git checkout -q main; echo staged > staged; git add staged; git rm -q --cached four");
        let root = AbsolutePath::new(directory.path().to_str().unwrap()).unwrap();
        let budget = Budget::new();
        let objects = Objects::open(&root, &budget).unwrap();
        let said = |found: TreeDifferences| match found {
            TreeDifferences::At(found) => found
                .into_iter()
                .map(|(path, how)| {
                    let letter = match how {
                        TreeDifference::Added => 'A',
                        TreeDifference::Changed => 'M',
                        TreeDifference::Removed => 'D',
                    };
                    format!("{letter}\t{path}")
                })
                .collect::<Vec<String>>()
                .join("\n"),
            other => panic!("{other:?}"),
        };
        let by_path = |text: String| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_by_key(|line| line.get(2..).unwrap_or_default());
            lines.join("\n")
        };
        for (from, to) in
            [("main", "side"), ("side", "main"), ("main", "main"), (TreeDifferences::EMPTY, "side")]
        {
            let wanted = by_path(git(&format!("git diff-tree -r --no-renames --name-status {from} {to}")));
            assert_eq!(said(objects.differences(from, to)), wanted, "{from} {to}");
        }
        let lines = git("git ls-files -s");
        let index = lines.lines().filter_map(|line| {
            let (facts, path) = line.split_once('\t')?;
            Some((path.to_owned(), facts.split(' ').nth(1).map(str::to_owned)))
        });
        let index: BTreeMap<String, Option<Name>> = index.collect();
        let found = said(objects.differences_from_index(&index, "main"));
        assert_eq!(found, "A\tfour\nD\tstaged");
        assert_eq!(objects.differences("nowhere", "main"), TreeDifferences::NoRevision);
    }
}
