//! The gate of licences over changed files of packages.

use std::path::{Path, PathBuf};

use checkrein_gates::{
    Ecosystem, Gate, Package, PackageFile, examine_licences, licence_of_metadata, read_packages,
};
use checkrein_worktree::{ChangedText, GitRepository, TextNow};
use serde_json::Value as Json;

use super::packages::{list_before, names_in, site_packages};
use super::places::PlacedTexts;
use super::{before_of, take};
use crate::api::gates::{GateAnswer, NotRun};
use crate::terminal::plain_name;
use checkrein_engine::environment::HostEnvironment;

/// The longest description of a package that is read, in bytes (ours).
const LONGEST: u64 = 4 * 1024 * 1024;

/// Looks at all changed files of packages. Where a lock file changed it tells more than its manifest does.
pub(super) fn examine(
    environment: &HostEnvironment,
    repository: &GitRepository,
    changed: PlacedTexts<'_>,
    allowed: &[String],
    answer: &mut GateAnswer,
) {
    let shelves = Shelves::of(environment, repository.work_tree());
    let files: Vec<(&ChangedText, PackageFile)> =
        changed.whole().filter_map(|file| Some((file, PackageFile::of_path(&file.path)?))).collect();
    for (file, kind) in files.iter().filter(|(file, _)| changed.is_own(file)) {
        let is_told_by_lock = matches!(kind, PackageFile::Manifest(_))
            && files.iter().any(|(other, lock)| {
                matches!(lock, PackageFile::Lock(_))
                    && lock.ecosystem() == kind.ecosystem()
                    && is_at_or_above(&other.path, &file.path)
            });
        if is_told_by_lock || file.now == TextNow::Gone {
            continue;
        }
        answer.files += 1;
        let text = match &file.now {
            TextNow::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes)),
            // A lock file may be longer than code is.
            TextNow::NotRead(_) | TextNow::Gone => {
                let path = repository.work_tree().join(&file.path);
                checkrein_files::read_text(path, 8 * LONGEST)
                    .map(Into::into)
                    .map_err(|_| "it cannot be read".to_owned())
            }
        };
        let read = text.and_then(|text| Ok((read_packages(&file.path, *kind, &text)?, text)));
        let (now, text) = match read {
            Ok(read) => read,
            Err(cause) => {
                answer.not_run.push(NotRun { what: format!("`{}`", plain_name(&file.path)), cause });
                continue;
            }
        };
        let held = before_of(file);
        let before = list_before(&file.path, *kind, held.as_deref());
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let told = |package: &Package| shelves.licence(kind.ecosystem(), folder, package);
        let findings = examine_licences(&now, before.as_ref(), allowed, told);
        take(answer, Gate::Licences, (&file.path, &text, held.as_deref()), findings);
    }
}

/// Whether a file lies in the folder of another, or in one above.
fn is_at_or_above(path: &str, other: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.is_empty() || other.starts_with(&format!("{folder}/"))
}

/// Where descriptions of packages lie on this machine.
struct Shelves {
    root: PathBuf,
    /// The folders of registries of Cargo.
    cargo: Vec<PathBuf>,
    /// The folders in which Python has installed packages, with what is in them.
    python: Vec<(PathBuf, Vec<String>)>,
}

impl Shelves {
    fn of(environment: &HostEnvironment, root: &Path) -> Self {
        let home = environment.variables.get("CARGO_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| Path::new(environment.home.as_str()).join(".cargo"));
        let registries = home.join("registry/src");
        let cargo = names_in(&registries).into_iter().map(|name| registries.join(name)).collect();
        let python = site_packages(root).into_iter().map(|site| (site.clone(), names_in(&site))).collect();
        Self { root: root.to_owned(), cargo, python }
    }

    fn licence(&self, ecosystem: Ecosystem, folder: &str, package: &Package) -> Option<String> {
        let name = package.name.as_str();
        if name.split('/').any(|part| part.is_empty() || part == "..") {
            return None;
        }
        match ecosystem {
            Ecosystem::Npm => self.npm(folder, name),
            Ecosystem::Cargo => self.cargo(name, package.version.as_deref()),
            Ecosystem::Python => self.python(name),
            // A module of Go says its licence in prose alone.
            Ecosystem::Go => None,
        }
    }

    fn npm(&self, folder: &str, name: &str) -> Option<String> {
        let homes = [self.root.join(folder), self.root.clone()];
        let read = |home: &PathBuf| {
            let path = home.join("node_modules").join(name).join("package.json");
            let json: Json = serde_json::from_str(&checkrein_files::read_text(path, LONGEST).ok()?).ok()?;
            let licence = json.get("license")?;
            let text = licence.as_str().or_else(|| licence.get("type")?.as_str())?;
            Some(text.to_owned())
        };
        homes.iter().find_map(read)
    }

    fn cargo(&self, name: &str, version: Option<&str>) -> Option<String> {
        let mut folders = vec![self.root.join("vendor").join(name)];
        for registry in &self.cargo {
            match version {
                Some(version) => folders.push(registry.join(format!("{name}-{version}"))),
                // The manifest tells no version: any of them tells.
                None => folders.extend(
                    names_in(registry)
                        .into_iter()
                        .filter(|entry| {
                            let rest = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
                            rest.is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
                        })
                        .map(|entry| registry.join(entry)),
                ),
            }
        }
        // Names are compared with dashes; folders have them as they are.
        if name.contains('-') {
            let version = version.map(|version| format!("-{version}")).unwrap_or_default();
            let written = name.replace('-', "_");
            folders.push(self.root.join("vendor").join(&written));
            folders.extend(self.cargo.iter().map(|registry| registry.join(format!("{written}{version}"))));
        }
        let read = |folder: &PathBuf| {
            let text = checkrein_files::read_text(folder.join("Cargo.toml"), LONGEST).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("license = "))?;
            Some(line.trim().trim_matches('"').to_owned())
        };
        folders.iter().find_map(read)
    }

    fn python(&self, name: &str) -> Option<String> {
        let read = |(site, names): &(PathBuf, Vec<String>)| {
            let is_it = |entry: &&String| {
                let stem = entry.strip_suffix(".dist-info").and_then(|stem| stem.rsplit_once('-'));
                stem.is_some_and(|(stem, _)| Ecosystem::Python.normal(stem) == name)
            };
            let folder = site.join(names.iter().find(is_it)?);
            licence_of_metadata(&checkrein_files::read_text(folder.join("METADATA"), LONGEST).ok()?)
        };
        self.python.iter().find_map(read)
    }
}
