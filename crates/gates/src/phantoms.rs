//! The gate of phantoms: imports and packages that nothing shows to exist. Nothing is asked of a network.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::finding::{FindingKind, FindingWeight, GateFinding};
use crate::imports::{Import, imports_of};
use crate::language::SourceLanguage;
use crate::manifest::{Ecosystem, Package, PackageFile, PackageList, PackageSource};
use crate::well_known::packages_of_module;

/// What is known of packages and of the files of the work tree.
#[derive(Debug, Default)]
pub struct KnownPackages {
    files: Vec<(String, PackageFile, PackageList)>,
    /// The names of folders of the work tree.
    folders: HashSet<String>,
    /// The paths of files of the work tree.
    paths: HashSet<String>,
    /// The paths of its folders.
    places: HashSet<String>,
    /// The names of files without what is behind their first dot.
    stems: HashSet<String>,
}

/// What stands in the work tree and in no list of git: installed packages, generated files.
pub trait OnDisk {
    /// Whether something stands at a path from the root of the work tree.
    fn exists(&self, path: &str) -> bool;
    /// Whether a package is installed for the work tree: by its name as code or a manifest writes it.
    fn is_installed(&self, ecosystem: Ecosystem, name: &str) -> bool;
}

/// What the imports of a text come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ImportAnswer {
    /// What nothing shows to exist.
    pub findings: Vec<GateFinding>,
    /// What could not be judged, since no file says which packages there are.
    pub unknown: Vec<String>,
}

impl KnownPackages {
    /// What follows from the paths of all files of a work tree.
    pub fn of_paths(paths: impl IntoIterator<Item = String>) -> Self {
        let mut known = Self::default();
        for path in paths {
            let mut parts: Vec<&str> = path.split('/').collect();
            let name = parts.pop().unwrap_or_default();
            known.stems.insert(name.split('.').next().unwrap_or(name).to_owned());
            known.folders.extend(parts.iter().map(|part| (*part).to_owned()));
            for end in 1..=parts.len() {
                known.places.insert(parts.get(..end).unwrap_or_default().join("/"));
            }
            known.paths.insert(path);
        }
        known
    }

    /// Adds what a file of packages says.
    pub fn add(&mut self, path: &str, file: PackageFile, list: PackageList) {
        self.files.push((path.to_owned(), file, list));
    }

    fn lists(&self, ecosystem: Ecosystem) -> impl Iterator<Item = &(String, PackageFile, PackageList)> {
        self.files.iter().filter(move |(_, file, _)| file.ecosystem() == ecosystem)
    }

    /// Whether any manifest or lock file names a package.
    fn names(&self, ecosystem: Ecosystem, name: &str) -> bool {
        let normal = ecosystem.normal(name);
        let is_own = |list: &PackageList| list.own.iter().any(|own| ecosystem.normal(own) == normal);
        self.names_of_others(ecosystem, name) || self.lists(ecosystem).any(|(_, _, list)| is_own(list))
    }

    /// The same without the project itself.
    fn names_of_others(&self, ecosystem: Ecosystem, name: &str) -> bool {
        let name = ecosystem.normal(name);
        self.lists(ecosystem).any(|(_, _, list)| {
            let alias = |package: &Package| {
                package.alias.as_deref().is_some_and(|alias| ecosystem.normal(alias) == name)
            };
            list.has(&name) || list.packages.iter().any(alias)
        })
    }

    /// The nearest lock file at or above a folder.
    pub fn lock_for(&self, ecosystem: Ecosystem, manifest: &str) -> Option<(&str, &PackageList)> {
        let folder = manifest.rsplit_once('/').map_or("", |(folder, _)| folder);
        let locks = self.lists(ecosystem).filter(|(_, file, _)| matches!(file, PackageFile::Lock(_)));
        let above = locks.filter_map(|(path, _, list)| {
            let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_above = own.is_empty() || folder == own || folder.starts_with(&format!("{own}/"));
            is_above.then_some((own.len(), path.as_str(), list))
        });
        above
            .max_by_key(|(depth, path, _)| (*depth, std::cmp::Reverse(*path)))
            .map(|(_, path, list)| (path, list))
    }
}

/// Judges the imports of a text in its changed lines; all of them where it is new. `None` where it cannot be read.
pub fn examine_imports(
    path: &str,
    language: SourceLanguage,
    text: &str,
    changed: Option<&[RangeInclusive<usize>]>,
    known: &KnownPackages,
    disk: &dyn OnDisk,
) -> Option<ImportAnswer> {
    let ecosystem = Ecosystem::of_language(language)?;
    let imports = imports_of(language, text)?;
    let has_lists = known.lists(ecosystem).next().is_some();
    let lines: Vec<&str> = text.lines().collect();
    let mut answer = ImportAnswer::default();
    for import in imports {
        let is_changed = changed.is_none_or(|ranges| ranges.iter().any(|range| range.contains(&import.line)));
        if !is_changed {
            continue;
        }
        let Err(missing) = judge(path, ecosystem, &import, known, disk) else { continue };
        match missing {
            Missing::Package(name) if !has_lists => answer.unknown.push(name),
            Missing::Package(name) => {
                let like = ecosystem.lookalike(&ecosystem.normal(&name));
                let like = like.map(|like| format!(" (did you mean `{like}`?)")).unwrap_or_default();
                let words = format!("`{name}` is in no manifest, lock file or file of the work tree{like}");
                answer.findings.push(phantom(&import, &words));
            }
            Missing::Module(name) => {
                let code = lines.get(import.line - 1).copied().unwrap_or_default().trim();
                answer.findings.push(phantom(&import, &format!("{code}: there is no `{name}`")));
            }
        }
    }
    answer.unknown.sort();
    answer.unknown.dedup();
    Some(answer)
}

fn phantom(import: &Import, words: &str) -> GateFinding {
    GateFinding::at(import.line, FindingKind::PhantomImport, FindingWeight::Error, words)
}

/// What is not there.
enum Missing {
    /// A package of others.
    Package(String),
    /// A module of the work tree.
    Module(String),
}

fn judge(
    path: &str,
    ecosystem: Ecosystem,
    import: &Import,
    known: &KnownPackages,
    disk: &dyn OnDisk,
) -> Result<(), Missing> {
    match ecosystem {
        Ecosystem::Python => python(path, &import.path, known, disk),
        Ecosystem::Npm => npm(path, &import.path, known, disk),
        Ecosystem::Cargo => {
            let name = import.path.as_str();
            let is_there = ecosystem.is_standard(name)
                || known.names(ecosystem, name)
                // A module of the crate, as older editions name them, or an item that a macro makes.
                || known.stems.contains(name)
                || known.folders.contains(name)
                || name.starts_with(char::is_uppercase);
            if is_there { Ok(()) } else { Err(Missing::Package(name.to_owned())) }
        }
        Ecosystem::Go => go(&import.path, known, disk),
    }
}

fn python(path: &str, module: &str, known: &KnownPackages, disk: &dyn OnDisk) -> Result<(), Missing> {
    let dots = module.bytes().take_while(|byte| *byte == b'.').count();
    if dots > 0 {
        let below = module.get(dots..).unwrap_or_default().trim().replace('.', "/");
        let mut folder: Vec<&str> = path.split('/').collect();
        folder.truncate(folder.len().saturating_sub(dots));
        folder.push(&below);
        let place = folder.join("/");
        let place = place.trim_start_matches('/');
        return if below.is_empty() || is_python_module(place, known, disk) {
            Ok(())
        } else {
            Err(Missing::Module(module.to_owned()))
        };
    }
    let mut parts = module.split('.');
    let root = parts.next().unwrap_or_default().trim();
    // What begins with a line below is a part of an interpreter or of something that is built.
    if Ecosystem::Python.is_standard(root) || root.starts_with('_') {
        return Ok(());
    }
    let is_named = |name: &str| {
        known.names_of_others(Ecosystem::Python, name) || disk.is_installed(Ecosystem::Python, name)
    };
    if is_named(root) || packages_of_module(root).any(is_named) {
        return Ok(());
    }
    // A distribution may bring modules below a name that many share: `google.cloud.storage`.
    let second = module.split('.').take(2).collect::<Vec<_>>().join("-");
    let begins = |(_, _, list): &(String, PackageFile, PackageList)| {
        let begin = format!("{}-", Ecosystem::Python.normal(&second));
        list.packages.iter().any(|package| format!("{}-", package.name).starts_with(&begin))
    };
    if second != root && known.lists(Ecosystem::Python).any(begins) {
        return Ok(());
    }
    let is_own =
        known.folders.contains(root) || known.stems.contains(root) || known.names(Ecosystem::Python, root);
    if !is_own {
        return Err(Missing::Package(root.to_owned()));
    }
    // A module of a package of the work tree must stand there, where the package says that it is one.
    let Some(second) = parts.next() else { return Ok(()) };
    let homes: Vec<&String> = known
        .places
        .iter()
        .filter(|place| place.as_str() == root || place.ends_with(&format!("/{root}")))
        .filter(|place| known.paths.contains(&format!("{place}/__init__.py")))
        .collect();
    let is_made = second.starts_with('_') || second.contains("_pb2");
    let is_there = homes.iter().any(|home| is_python_module(&format!("{home}/{second}"), known, disk));
    if homes.is_empty() || is_made || is_there { Ok(()) } else { Err(Missing::Module(module.to_owned())) }
}

fn is_python_module(place: &str, known: &KnownPackages, disk: &dyn OnDisk) -> bool {
    let files = [".py", ".pyi", ".pyx", ".pyd", ".so", ".c"];
    known.places.contains(place)
        || files.iter().any(|end| known.paths.contains(&format!("{place}{end}")))
        || disk.exists(place)
        || disk.exists(&format!("{place}.py"))
        // Modules that are built or generated have no file yet.
        || place.contains("_pb2")
        // It makes its modules while it runs.
        || place.contains("six/moves")
        || place.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

fn npm(path: &str, name: &str, known: &KnownPackages, disk: &dyn OnDisk) -> Result<(), Missing> {
    let name = name.split(['?', '!']).next().unwrap_or(name);
    if name.starts_with('.') {
        let mut place: Vec<&str> = path.split('/').collect();
        place.pop();
        for part in name.split('/') {
            match part {
                "." | "" => {}
                // What lies outside of the work tree is not judged.
                ".." => {
                    if place.pop().is_none() {
                        return Ok(());
                    }
                }
                part => place.push(part),
            }
        }
        let place = place.join("/");
        return if is_script(&place, known, disk) { Ok(()) } else { Err(Missing::Module(name.to_owned())) };
    }
    let is_alias = name.starts_with(['/', '~', '#', '$']) || name.starts_with("@/") || name.contains(':');
    if is_alias || name.is_empty() {
        return Ok(());
    }
    let mut parts = name.split('/');
    let first = parts.next().unwrap_or_default();
    let package = match parts.next() {
        Some(second) if first.starts_with('@') => format!("{first}/{second}"),
        _ => first.to_owned(),
    };
    let types = format!("@types/{}", package.trim_start_matches('@').replace('/', "__"));
    let is_there = Ecosystem::Npm.is_standard(first)
        || Ecosystem::Npm.is_standard(name)
        || known.names(Ecosystem::Npm, &package)
        || known.names(Ecosystem::Npm, &types)
        || disk.is_installed(Ecosystem::Npm, &package)
        // What a configuration of the compiler calls by the name of a folder.
        || (known.folders.contains(first) && !first.starts_with('@'));
    if is_there { Ok(()) } else { Err(Missing::Package(package)) }
}

fn is_script(place: &str, known: &KnownPackages, disk: &dyn OnDisk) -> bool {
    const ENDS: [&str; 13] = [
        "", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue", ".svelte",
    ];
    let stem =
        [".js", ".mjs", ".cjs", ".jsx"].iter().find_map(|end| place.strip_suffix(end)).unwrap_or(place);
    let is_file = |place: &str| {
        ENDS.iter().any(|end| {
            let path = format!("{place}{end}");
            known.paths.contains(&path) || disk.exists(&path)
        })
    };
    place.is_empty()
        || is_file(place)
        || is_file(stem)
        || is_file(&format!("{place}/index"))
        || known.places.contains(place)
}

fn go(path: &str, known: &KnownPackages, disk: &dyn OnDisk) -> Result<(), Missing> {
    let root = path.split('/').next().unwrap_or_default();
    if !root.contains('.') {
        let is_own = known.lists(Ecosystem::Go).any(|(_, _, list)| {
            list.own.iter().any(|own| path == own || path.starts_with(&format!("{own}/")))
        });
        let is_there = Ecosystem::Go.is_standard(root) || is_own;
        return if is_there { Ok(()) } else { Err(Missing::Package(path.to_owned())) };
    }
    for (file, _, list) in known.lists(Ecosystem::Go) {
        for own in &list.own {
            if path == own {
                return Ok(());
            }
            if let Some(below) = path.strip_prefix(&format!("{own}/")) {
                let home = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                let place = format!("{home}{below}");
                let is_there = known.places.contains(&place) || disk.exists(&place);
                return if is_there { Ok(()) } else { Err(Missing::Module(path.to_owned())) };
            }
        }
        let is_below = |name: &String| path == name || path.starts_with(&format!("{name}/"));
        if list.packages.iter().any(|package| is_below(&package.name)) {
            return Ok(());
        }
    }
    Err(Missing::Package(path.to_owned()))
}

/// Judges the packages of a manifest that were not in it before.
pub fn examine_manifest(
    path: &str,
    ecosystem: Ecosystem,
    now: &PackageList,
    before: Option<&PackageList>,
    known: &KnownPackages,
    disk: &dyn OnDisk,
) -> Vec<GateFinding> {
    let lock = known.lock_for(ecosystem, path);
    let is_new = |package: &&Package| before.is_none_or(|before| !before.has(&package.name));
    let mut findings = Vec::new();
    for package in now.packages.iter().filter(is_new) {
        if package.source == PackageSource::Elsewhere || now.own.contains(&package.name) {
            continue;
        }
        let name = &package.name;
        let is_locked = lock.is_some_and(|(_, list)| list.has(name));
        let is_shown = is_locked || disk.is_installed(ecosystem, name);
        if let Some(like) = ecosystem.lookalike(name) {
            let weight = if is_shown { FindingWeight::Warning } else { FindingWeight::Error };
            let words = format!("`{name}` is named like `{like}`, which many know");
            findings.push(GateFinding::at(package.line, FindingKind::LookalikePackage, weight, &words));
        }
        let (weight, words) = match lock {
            _ if is_shown => continue,
            Some((file, _)) => (FindingWeight::Error, format!("`{name}` is not in `{file}`")),
            None => (FindingWeight::Warning, format!("`{name}` is in no lock file, and not installed here")),
        };
        findings.push(GateFinding::at(package.line, FindingKind::PhantomPackage, weight, &words));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::read_packages;

    struct Nothing;

    impl OnDisk for Nothing {
        fn exists(&self, _: &str) -> bool {
            false
        }
        fn is_installed(&self, _: Ecosystem, _: &str) -> bool {
            false
        }
    }

    fn known(files: &[(&str, &str)]) -> KnownPackages {
        let mut known = KnownPackages::of_paths(files.iter().map(|(path, _)| (*path).to_owned()));
        for (path, text) in files {
            if let Some(file) = PackageFile::of_path(path) {
                known.add(path, file, read_packages(path, file, text).unwrap());
            }
        }
        known
    }

    fn missing(path: &str, text: &str, known: &KnownPackages) -> (Vec<usize>, Vec<String>) {
        let language = SourceLanguage::of_file(path, text).unwrap();
        let answer = examine_imports(path, language, text, None, known, &Nothing).unwrap();
        (answer.findings.iter().map(|finding| finding.line).collect(), answer.unknown)
    }

    #[test]
    fn python_needs_a_library_a_package_or_a_file() {
        let project = known(&[
            (
                "pyproject.toml",
                "[project]\nname = \"me\"\ndependencies = [\"PyYAML\", \"google-cloud-storage\"]\n",
            ),
            ("src/me/__init__.py", ""),
            ("src/me/load.py", ""),
            ("tests/helpers.py", ""),
        ]);
        let text = "import os.path\nimport yaml\nfrom google.cloud import storage\nimport me.load\nimport me.lod\nfrom .load import a\n\
                    from .lod import b\nimport helpers\nimport reqests\nfrom . import c\n";
        assert_eq!(missing("src/me/new.py", text, &project), (vec![5, 7, 9], vec![]));
        let nothing = known(&[("a.py", "")]);
        assert_eq!(missing("a.py", "import os\nimport yaml\n", &nothing), (vec![], vec!["yaml".to_owned()]));
    }

    #[test]
    fn javascript_needs_a_library_a_package_or_a_file() {
        let project = known(&[
            (
                "package.json",
                r#"{"name": "me", "dependencies": {"react": "1", "@a/b": "1"}, "devDependencies": {"@types/k": "1"}}"#,
            ),
            ("src/load.ts", ""),
            ("src/view/index.tsx", ""),
        ]);
        let text = "import 'fs';\nimport 'node:fs/promises';\nimport 'react/jsx-runtime';\nimport '@a/b/c';\nimport '@a/c';\nimport './load.js';\n\
                    import './view';\nimport './lod';\nimport '@/x';\nimport 'k';\nimport 'loadsh';\nimport '../../x';\nimport 'me';\n";
        assert_eq!(missing("src/main.ts", text, &project), (vec![5, 8, 11], vec![]));
    }

    #[test]
    fn rust_and_go_need_a_dependency() {
        let project = known(&[
            ("Cargo.toml", "[package]\nname = \"my-self\"\n[dependencies]\nserde_json = \"1\"\n"),
            ("src/load.rs", ""),
        ]);
        let text = "use std::fs;\nuse my_self::a;\nuse serde_json::Value;\nuse serde_jsom::Value;\nuse load::a;\nuse crate::b;\n";
        assert_eq!(missing("src/main.rs", text, &project), (vec![4], vec![]));
        let project =
            known(&[("go.mod", "module m.test/me\nrequire o.test/x v1.0.0\n"), ("load/load.go", "")]);
        let text = "package a\nimport (\n\"net/http\"\n\"m.test/me/load\"\n\"m.test/me/lod\"\n\"o.test/x/y\"\n\"o.test/z\"\n\"fnt\"\n)\n";
        assert_eq!(missing("main.go", text, &project), (vec![5, 7, 8], vec![]));
    }

    #[test]
    fn new_packages_must_be_found_somewhere() {
        let text = "[dependencies]\nserde = \"1\"\nserd = \"1\"\nown = { path = \"own\" }\nghost = \"1\"\n";
        let lock = "[[package]]\nname = \"serde\"\nsource = \"r\"\n";
        let project = known(&[("Cargo.toml", text), ("Cargo.lock", lock)]);
        let list = read_packages("Cargo.toml", PackageFile::Manifest(Ecosystem::Cargo), text).unwrap();
        let judged = |before: Option<&PackageList>, known: &KnownPackages| {
            let findings = examine_manifest("Cargo.toml", Ecosystem::Cargo, &list, before, known, &Nothing);
            let words = findings.iter().map(|one| format!("{}:{} {}", one.line, one.kind, one.weight.name()));
            let mut words: Vec<String> = words.collect();
            words.sort();
            words
        };
        let all = ["3:lookalike_package error", "3:phantom_package error", "5:phantom_package error"];
        assert_eq!(judged(None, &project), all);
        assert!(judged(Some(&list), &project).is_empty(), "they were there before");
        let unlocked = known(&[("Cargo.toml", text)]);
        assert_eq!(
            judged(None, &unlocked).iter().filter(|one| one.contains("phantom_package warning")).count(),
            3
        );
    }
}
