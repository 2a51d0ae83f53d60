//! What is on disk about packages: manifests and lock files of the work tree, and what is installed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use checkrein_gates::{Ecosystem, KnownPackages, OnDisk, PackageFile, PackageList, read_packages};
use checkrein_worktree::{GitRepository, work_tree_paths};

use crate::api::gates::{GateAnswer, NotRun};
use crate::terminal::plain_name;
use checkrein_engine::error::CommandError;

/// The longest file of packages that is read, in bytes (ours): lock files are long.
const LONGEST: u64 = 32 * 1024 * 1024;

/// Folders that hold what Python has installed for one project.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// What the files of a work tree say about packages; what cannot be read is said in the answer.
pub(super) fn known(
    repository: &GitRepository,
    answer: &mut GateAnswer,
) -> Result<KnownPackages, CommandError> {
    let root = repository.work_tree();
    let paths = work_tree_paths(repository)?;
    let files: Vec<(String, PackageFile)> = paths
        .iter()
        .filter(|path| !is_of_others(path))
        .filter_map(|path| Some((path.clone(), PackageFile::of_path(path)?)))
        .collect();
    let mut known = KnownPackages::of_paths(paths);
    for (path, file) in files {
        let Ok(text) = checkrein_files::read_text(root.join(&path), LONGEST) else {
            say(answer, &path, "it cannot be read");
            continue;
        };
        match read_packages(&path, file, &text) {
            Ok(list) => known.add(&path, file, list),
            Err(cause) => say(answer, &path, &cause),
        }
    }
    Ok(known)
}

/// Whether a path lies among what tests and packages of others bring.
fn is_of_others(path: &str) -> bool {
    path.split('/').any(|part| ["node_modules", "vendor", "testdata", "fixtures"].contains(&part))
}

fn say(answer: &mut GateAnswer, path: &str, cause: &str) {
    answer.not_run.push(NotRun { what: format!("`{}`", plain_name(path)), cause: cause.to_owned() });
}

/// The list of a file of packages as it was.
pub(super) fn list_before(path: &str, file: PackageFile, before: Option<&str>) -> Option<PackageList> {
    // What could not be read before named nothing.
    read_packages(path, file, before?).ok()
}

/// What stands below the root of a work tree.
pub(super) struct WorkTreeDisk {
    root: PathBuf,
    /// The names of modules and distributions that Python has installed here.
    python: BTreeSet<String>,
}

impl WorkTreeDisk {
    /// Looks around.
    pub(super) fn of(root: &Path) -> Self {
        let sites = site_packages(root);
        let names = sites.iter().flat_map(|site| names_in(site)).map(|name| {
            let name = name.split(".dist-info").next().unwrap_or(&name);
            // `requests-2.31.0.dist-info` is the distribution, `requests` its module.
            let name = name.split('-').next().unwrap_or(name);
            Ecosystem::Python.normal(name.split(".py").next().unwrap_or(name))
        });
        Self { root: root.to_owned(), python: names.collect() }
    }
}

/// The folders in which Python has installed packages for the work tree.
pub(super) fn site_packages(root: &Path) -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for environment in ENVIRONMENTS {
        let library = root.join(environment).join("lib");
        let versions = names_in(&library).into_iter().filter(|name| name.starts_with("python"));
        sites.extend(versions.map(|version| library.join(version).join("site-packages")));
    }
    sites
}

/// The names in a folder, in order; none where it cannot be read.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

impl OnDisk for WorkTreeDisk {
    fn exists(&self, path: &str) -> bool {
        !path.is_empty() && fs::symlink_metadata(self.root.join(path)).is_ok()
    }

    fn is_installed(&self, ecosystem: Ecosystem, name: &str) -> bool {
        let is_plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "..");
        match ecosystem {
            _ if !is_plain => false,
            Ecosystem::Python => self.python.contains(&ecosystem.normal(name)),
            Ecosystem::Npm => self.exists(&format!("node_modules/{name}/package.json")),
            Ecosystem::Cargo | Ecosystem::Go => self.exists(&format!("vendor/{name}")),
        }
    }
}
