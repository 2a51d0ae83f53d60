//! Which trees something makes again by itself. Each directory is looked at once, however deep what is asked about lies in it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use checkrein_facts::regenerated_when_ignored;

/// What was found out so far, by path: the top of the tree around it that is made again, if it lies in one.
#[derive(Debug, Default)]
pub(super) struct Generated(RefCell<HashMap<OsString, Option<PathBuf>>>);

impl Generated {
    /// The first directory or file on the way from a directory down to a path whose name is that of something that is made again.
    pub(super) fn outermost(&self, directory: &Path, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(directory).ok()?;
        let mut known = self.0.borrow_mut();
        let mut below = Vec::new();
        let mut found = None;
        let is_below = |place: &&Path| place.as_os_str().len() > directory.as_os_str().len();
        for place in path.ancestors().take_while(is_below) {
            if let Some(top) = known.get(place.as_os_str()) {
                found.clone_from(top);
                break;
            }
            below.push(place);
        }
        for place in below.into_iter().rev() {
            found = found.or_else(|| is_generated(place).then(|| place.to_owned()));
            known.insert(place.as_os_str().to_owned(), found.clone());
        }
        found
    }
}

fn is_generated(place: &Path) -> bool {
    let is_beside = |name: &str| place.with_file_name(name).exists();
    let name = place.file_name().and_then(std::ffi::OsStr::to_str);
    name.is_some_and(|name| regenerated_when_ignored(name, &is_beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_tree_counts_however_it_is_asked_for() {
        let generated = Generated::default();
        let workspace = Path::new("/project/node_modules/own");
        let ask = |below: &str| generated.outermost(workspace, &workspace.join(below));
        let top = |below: &str| Some(workspace.join(below));
        assert_eq!(ask("src/node_modules/a/node_modules/b"), top("src/node_modules"));
        assert_eq!(ask("src/node_modules/a"), top("src/node_modules"));
        assert_eq!(ask("src/node_modules"), top("src/node_modules"));
        assert_eq!(ask("src/a/b"), None);
        assert_eq!(ask("src"), None);
        assert_eq!(ask("src/a/__pycache__/x.pyc"), top("src/a/__pycache__"));
        assert_eq!(generated.outermost(workspace, Path::new("/elsewhere/node_modules")), None);
    }
}
