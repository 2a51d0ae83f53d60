//! Files that say which packages a project uses: manifests, which name them, and lock files, which say what was found.

use serde_json::Value as Json;
use toml::Value as Toml;

use crate::language::SourceLanguage;

/// Where packages of a language come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// Crates of Rust.
    Cargo,
    /// Modules of Go.
    Go,
    /// Packages of JavaScript and TypeScript.
    Npm,
    /// Distributions of Python.
    Python,
}

impl Ecosystem {
    /// That of a language; `None` where its imports are not read.
    pub fn of_language(language: SourceLanguage) -> Option<Self> {
        match language {
            SourceLanguage::Rust => Some(Self::Cargo),
            SourceLanguage::Python => Some(Self::Python),
            SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => Some(Self::Npm),
            SourceLanguage::Go => Some(Self::Go),
            SourceLanguage::Java
            | SourceLanguage::C
            | SourceLanguage::Cpp
            | SourceLanguage::Ruby
            | SourceLanguage::Php
            | SourceLanguage::CSharp
            | SourceLanguage::Shell => None,
        }
    }

    /// The name of the language, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cargo => "Rust",
            Self::Go => "Go",
            Self::Npm => "JavaScript",
            Self::Python => "Python",
        }
    }

    /// A name in the form in which names are compared.
    pub fn normal(self, name: &str) -> String {
        match self {
            Self::Python => {
                let lower = name.trim().to_lowercase();
                let parts = lower.split(['-', '_', '.']).filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("-")
            }
            Self::Cargo => name.trim().replace('_', "-"),
            Self::Go | Self::Npm => name.trim().to_owned(),
        }
    }
}

/// What a file of packages is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageFile {
    /// It names packages.
    Manifest(Ecosystem),
    /// It says what was found.
    Lock(Ecosystem),
}

impl PackageFile {
    /// What a file is by its name; `None` where it is neither.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_requirements = name.starts_with("requirements")
            && std::path::Path::new(name).extension().is_some_and(|end| end == "txt" || end == "in");
        Some(match name {
            "Cargo.toml" => Self::Manifest(Ecosystem::Cargo),
            "package.json" => Self::Manifest(Ecosystem::Npm),
            "go.mod" => Self::Manifest(Ecosystem::Go),
            "pyproject.toml" => Self::Manifest(Ecosystem::Python),
            _ if is_requirements => Self::Manifest(Ecosystem::Python),
            "Cargo.lock" => Self::Lock(Ecosystem::Cargo),
            "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "pnpm-lock.yaml" => {
                Self::Lock(Ecosystem::Npm)
            }
            "go.sum" => Self::Lock(Ecosystem::Go),
            "poetry.lock" | "uv.lock" | "pdm.lock" | "Pipfile.lock" => Self::Lock(Ecosystem::Python),
            _ => return None,
        })
    }

    /// Where its packages come from.
    pub fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Manifest(ecosystem) | Self::Lock(ecosystem) => ecosystem,
        }
    }
}

/// A package that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name, in the form in which names are compared.
    pub name: String,
    /// The name by which code uses it, where the manifest gives it another one.
    pub alias: Option<String>,
    /// Its version, in lock files.
    pub version: Option<String>,
    /// Its licence, where the file says so.
    pub licence: Option<String>,
    /// Whether it lies in the project, or comes from a place of its own.
    pub source: PackageSource,
    /// The line that names it, counted from 1.
    pub line: usize,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageSource {
    /// A registry.
    Registry,
    /// A path, a repository or an address.
    Elsewhere,
}

/// What a file says about packages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackageList {
    /// The names of the project itself.
    pub own: Vec<String>,
    /// The packages, in the order of the file.
    pub packages: Vec<Package>,
}

impl PackageList {
    /// Whether a package is named.
    pub fn has(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

/// Reads a file of packages; an error says in words why it cannot be read.
pub fn read_packages(path: &str, file: PackageFile, text: &str) -> Result<PackageList, String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let toml = || text.parse::<toml::Table>().map(Toml::Table).map_err(|_| "it is not TOML".to_owned());
    let json = || serde_json::from_str::<Json>(text).map_err(|_| "it is not JSON".to_owned());
    let mut list = match (file, name) {
        (PackageFile::Manifest(Ecosystem::Cargo), _) => cargo_manifest(&toml()?),
        (PackageFile::Manifest(Ecosystem::Npm), _) => npm_manifest(&json()?),
        (PackageFile::Manifest(Ecosystem::Go), _) => go_manifest(text),
        (PackageFile::Manifest(Ecosystem::Python), "pyproject.toml") => python_project(&toml()?),
        (PackageFile::Manifest(Ecosystem::Python), _) => requirements(text),
        (PackageFile::Lock(Ecosystem::Npm), "yarn.lock") => yarn_lock(text),
        (PackageFile::Lock(Ecosystem::Npm), "pnpm-lock.yaml") => pnpm_lock(text),
        (PackageFile::Lock(Ecosystem::Npm), _) => npm_lock(&json()?),
        (PackageFile::Lock(Ecosystem::Go), _) => go_sums(text),
        (PackageFile::Lock(Ecosystem::Python), "Pipfile.lock") => pipfile_lock(&json()?),
        (PackageFile::Lock(ecosystem), _) => toml_lock(ecosystem, &toml()?),
    };
    let places = Places::of(text);
    for package in list.packages.iter_mut().filter(|package| package.line == 0) {
        package.line = places.line(package.alias.as_deref().unwrap_or(&package.name));
    }
    Ok(list)
}

/// Where names stand in a text.
struct Places<'t>(Vec<&'t str>);

impl<'t> Places<'t> {
    fn of(text: &'t str) -> Self {
        Self(text.lines().collect())
    }

    /// The first line that begins with a name, in quotes or not; else the first that holds it, else 1.
    fn line(&self, name: &str) -> usize {
        let begins = |line: &&str| {
            let start = line.trim_start().trim_start_matches(['"', '\'']);
            let same = start.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            let is_inside = |sign: char| sign.is_alphanumeric() || sign == '-' || sign == '_';
            same && !start.get(name.len()..).is_some_and(|rest| rest.starts_with(is_inside))
        };
        let at =
            self.0.iter().position(begins).or_else(|| self.0.iter().position(|line| line.contains(name)));
        at.map_or(1, |at| at + 1)
    }
}

fn package(ecosystem: Ecosystem, name: &str, source: PackageSource) -> Package {
    let name = ecosystem.normal(name);
    Package { name, alias: None, version: None, licence: None, source, line: 0 }
}

fn cargo_manifest(root: &Toml) -> PackageList {
    let text = |path: &[&str]| {
        let found = path.iter().try_fold(root, |place, name| place.get(name));
        found.and_then(Toml::as_str).map(|name| Ecosystem::Cargo.normal(name))
    };
    let own = [text(&["package", "name"]), text(&["lib", "name"])].into_iter().flatten().collect();
    let mut packages = Vec::new();
    let mut places = vec![root];
    places.extend(root.get("workspace"));
    places.extend(root.get("target").and_then(Toml::as_table).into_iter().flat_map(|table| table.values()));
    for place in places {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = place.get(section).and_then(Toml::as_table) else { continue };
            for (key, value) in table {
                let has = |name: &str| value.get(name).is_some();
                // What the workspace says is said there.
                let source = if has("path") || has("git") || has("workspace") {
                    PackageSource::Elsewhere
                } else {
                    PackageSource::Registry
                };
                let real = value.get("package").and_then(Toml::as_str);
                let mut found = package(Ecosystem::Cargo, real.unwrap_or(key), source);
                found.alias = real.map(|_| key.clone());
                packages.push(found);
            }
        }
    }
    PackageList { own, packages }
}

fn npm_manifest(root: &Json) -> PackageList {
    let own = root.get("name").and_then(Json::as_str).map(str::to_owned).into_iter().collect();
    let sections = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let entries = sections.iter().filter_map(|section| root.get(section)?.as_object()).flatten();
    let packages = entries.map(|(name, version)| {
        let version = version.as_str().unwrap_or_default();
        let is_elsewhere = ["file:", "link:", "workspace:", "git", "http:", "https:", "github:", "portal:"]
            .iter()
            .any(|begin| version.starts_with(begin));
        let source = if is_elsewhere { PackageSource::Elsewhere } else { PackageSource::Registry };
        // `npm:real@1` gives a package another name.
        let real = version.strip_prefix("npm:").map(without_version);
        let mut found = package(Ecosystem::Npm, real.unwrap_or(name), source);
        found.alias = real.map(|_| name.clone());
        found
    });
    PackageList { own, packages: packages.collect() }
}

/// `name@1` without its version; a name may begin with a `@` of its own.
fn without_version(text: &str) -> &str {
    let from = usize::from(text.starts_with('@'));
    let end = text.get(from..).and_then(|rest| rest.find('@')).map_or(text.len(), |at| at + from);
    text.get(..end).unwrap_or(text)
}

fn npm_lock(root: &Json) -> PackageList {
    let mut packages = Vec::new();
    let text = |value: &Json, name: &str| value.get(name).and_then(Json::as_str).map(str::to_owned);
    for (key, value) in root.get("packages").and_then(Json::as_object).into_iter().flatten() {
        let Some((_, folder)) = key.rsplit_once("node_modules/") else { continue };
        let is_link = value.get("link").and_then(Json::as_bool).unwrap_or_default();
        let source = if is_link { PackageSource::Elsewhere } else { PackageSource::Registry };
        let name = text(value, "name");
        let mut found = package(Ecosystem::Npm, name.as_deref().unwrap_or(folder), source);
        (found.version, found.licence) = (text(value, "version"), text(value, "license"));
        packages.push(found);
    }
    if packages.is_empty() {
        let mut waiting: Vec<&Json> = root.get("dependencies").into_iter().collect();
        while let Some(table) = waiting.pop() {
            for (name, value) in table.as_object().into_iter().flatten() {
                let mut found = package(Ecosystem::Npm, name, PackageSource::Registry);
                found.version = text(value, "version");
                packages.push(found);
                waiting.extend(value.get("dependencies"));
            }
        }
    }
    PackageList { own: Vec::new(), packages }
}

fn yarn_lock(text: &str) -> PackageList {
    let keys = text.lines().filter(|line| !line.starts_with([' ', '#']) && line.trim_end().ends_with(':'));
    let names = keys.flat_map(|line| line.trim_end().trim_end_matches(':').split(','));
    let packages = names.map(|name| name.trim().trim_matches('"')).filter(|name| name.contains('@'));
    let packages =
        packages.map(|name| package(Ecosystem::Npm, without_version(name), PackageSource::Registry));
    PackageList { own: Vec::new(), packages: packages.collect() }
}

fn pnpm_lock(text: &str) -> PackageList {
    let mut is_packages = false;
    let mut packages = Vec::new();
    for line in text.lines() {
        if !line.starts_with(' ') && !line.trim().is_empty() {
            is_packages = line.starts_with("packages:") || line.starts_with("snapshots:");
        }
        let is_key = line.starts_with("  ") && !line.starts_with("   ") && line.trim_end().ends_with(':');
        if !is_packages || !is_key {
            continue;
        }
        let key = line.trim().trim_end_matches(':').trim_matches(['\'', '"']).trim_start_matches('/');
        packages.push(package(Ecosystem::Npm, without_version(key), PackageSource::Registry));
    }
    PackageList { own: Vec::new(), packages }
}

fn go_manifest(text: &str) -> PackageList {
    let mut list = PackageList::default();
    let mut is_block = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(own) = line.strip_prefix("module ") {
            list.own.push(own.trim().trim_matches('"').to_owned());
        }
        let required = match line {
            "require (" => {
                is_block = true;
                continue;
            }
            ")" => {
                is_block = false;
                continue;
            }
            line if is_block => line,
            line => line.strip_prefix("require ").unwrap_or_default(),
        };
        if let Some(name) = required.split_whitespace().next() {
            list.packages
                .push(Package { line: number, ..package(Ecosystem::Go, name, PackageSource::Registry) });
        }
    }
    list
}

fn go_sums(text: &str) -> PackageList {
    let sums = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        let mut found = package(Ecosystem::Go, name, PackageSource::Registry);
        found.version = version.strip_suffix("/go.mod").or(Some(version)).map(str::to_owned);
        Some(found)
    });
    PackageList { own: Vec::new(), packages: sums.collect() }
}

/// `name[extra]>=1; marker` as a package; `None` where it is none.
fn requirement(text: &str) -> Option<Package> {
    let text = text.trim();
    let end = text.find(|sign: char| !(sign.is_ascii_alphanumeric() || "-_.".contains(sign)));
    let name = text.get(..end.unwrap_or(text.len()))?;
    if name.is_empty() || !name.starts_with(|sign: char| sign.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = text.get(name.len()..).unwrap_or_default();
    let is_elsewhere = rest.contains(" @ ") || rest.trim_start().starts_with('@');
    let source = if is_elsewhere { PackageSource::Elsewhere } else { PackageSource::Registry };
    Some(package(Ecosystem::Python, name, source))
}

fn requirements(text: &str) -> PackageList {
    let packages = (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let is_option =
            line.starts_with(['-', '#', '.', '/']) || line.contains("://") && !line.contains(" @ ");
        if is_option {
            return None;
        }
        Some(Package { line: number, ..requirement(line)? })
    });
    PackageList { own: Vec::new(), packages: packages.collect() }
}

fn python_project(root: &Toml) -> PackageList {
    let at = |path: &[&str]| path.iter().try_fold(root, |place, name| place.get(name));
    let own = [at(&["project", "name"]), at(&["tool", "poetry", "name"])];
    let own = own.into_iter().flatten().filter_map(Toml::as_str).map(|name| Ecosystem::Python.normal(name));
    let mut packages: Vec<Package> = Vec::new();
    let mut texts: Vec<&Toml> = at(&["project", "dependencies"]).into_iter().collect();
    let groups = [at(&["project", "optional-dependencies"]), at(&["dependency-groups"])];
    texts.extend(groups.into_iter().flatten().filter_map(Toml::as_table).flat_map(|table| table.values()));
    texts.extend(at(&["tool", "uv", "dev-dependencies"]));
    let entries = texts.into_iter().filter_map(Toml::as_array).flatten().filter_map(Toml::as_str);
    packages.extend(entries.filter_map(requirement));
    let mut tables: Vec<&Toml> =
        [at(&["tool", "poetry", "dependencies"]), at(&["tool", "poetry", "dev-dependencies"])]
            .into_iter()
            .flatten()
            .collect();
    let groups = at(&["tool", "poetry", "group"]).and_then(Toml::as_table);
    tables.extend(groups.into_iter().flatten().filter_map(|(_, group)| group.get("dependencies")));
    for (name, value) in tables.into_iter().filter_map(Toml::as_table).flatten() {
        if name == "python" {
            continue;
        }
        let is_elsewhere = ["path", "git", "url"].iter().any(|key| value.get(key).is_some());
        let source = if is_elsewhere { PackageSource::Elsewhere } else { PackageSource::Registry };
        packages.push(package(Ecosystem::Python, name, source));
    }
    PackageList { own: own.collect(), packages }
}

fn pipfile_lock(root: &Json) -> PackageList {
    let sections = ["default", "develop"];
    let entries = sections.iter().filter_map(|section| root.get(section)?.as_object()).flatten();
    let packages = entries.map(|(name, value)| {
        let mut found = package(Ecosystem::Python, name, PackageSource::Registry);
        found.version = value
            .get("version")
            .and_then(Json::as_str)
            .map(|version| version.trim_start_matches('=').to_owned());
        found
    });
    PackageList { own: Vec::new(), packages: packages.collect() }
}

/// `[[package]]` with `name` and `version`: Cargo, Poetry, uv, PDM.
fn toml_lock(ecosystem: Ecosystem, root: &Toml) -> PackageList {
    let entries = root.get("package").and_then(Toml::as_array).into_iter().flatten();
    let packages = entries.filter_map(|entry| {
        let name = entry.get("name").and_then(Toml::as_str)?;
        let is_own = ecosystem == Ecosystem::Cargo && entry.get("source").is_none();
        let source = if is_own { PackageSource::Elsewhere } else { PackageSource::Registry };
        let mut found = package(ecosystem, name, source);
        found.version = entry.get("version").and_then(Toml::as_str).map(str::to_owned);
        Some(found)
    });
    PackageList { own: Vec::new(), packages: packages.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<String> {
        let file = PackageFile::of_path(path).unwrap();
        let list = read_packages(path, file, text).unwrap();
        let mut names: Vec<String> = list
            .packages
            .iter()
            .map(|package| {
                let version =
                    package.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
                let alias = package.alias.as_deref().map(|alias| format!(" as {alias}")).unwrap_or_default();
                let from = if package.source == PackageSource::Elsewhere { " elsewhere" } else { "" };
                format!("{}{version}{alias}{from}:{}", package.name, package.line)
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn manifests_name_packages() {
        let cargo = "[package]\nname = \"a-b\"\n[dependencies]\nserde = \"1\"\nown = { path = \"own\" }\nlog2 = { package = \"log\", version = \"1\" }\n\
                     [target.'cfg(unix)'.dependencies]\nlibc.workspace = true\n";
        assert_eq!(
            names("x/Cargo.toml", cargo),
            ["libc elsewhere:8", "log as log2:6", "own elsewhere:5", "serde:4"]
        );
        let npm = "{\n \"name\": \"me\",\n \"dependencies\": {\n  \"@a/b\": \"^1\",\n  \"x\": \"file:../x\",\n  \"y\": \"npm:z@2\"\n }\n}";
        assert_eq!(names("package.json", npm), ["@a/b:4", "x elsewhere:5", "z as y:6"]);
        let go =
            "module m.test/a\n\nrequire one.test/b v1.0.0\n\nrequire (\n\ttwo.test/c v2.0.0 // indirect\n)\n";
        assert_eq!(names("go.mod", go), ["one.test/b:3", "two.test/c:6"]);
        let requirements = "# text\nFlask_Login[x]>=1 ; python_version > '3'\n-r other.txt\n./local\nx @ https://host/x.whl\nhttps://host/y.whl\n";
        assert_eq!(names("requirements-dev.txt", requirements), ["flask-login:2", "x elsewhere:5"]);
        let project = "[project]\nname = \"Me\"\ndependencies = [\n  \"Django>=4\",\n]\n[project.optional-dependencies]\ntest = [\"pytest\"]\n\
                       [tool.poetry.dependencies]\npython = \"^3\"\nclick = \"1\"\n";
        assert_eq!(names("pyproject.toml", project), ["click:10", "django:4", "pytest:7"]);
    }

    #[test]
    fn locks_say_what_was_found() {
        let cargo = "[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n[[package]]\nname = \"proc_macro2\"\nversion = \"1.0.0\"\nsource = \"registry\"\n";
        assert_eq!(names("Cargo.lock", cargo), ["me@0.1.0 elsewhere:2", "proc-macro2@1.0.0:1"]);
        let npm = r#"{"packages": {"": {}, "node_modules/a": {"version": "1.0.0", "license": "MIT"}, "node_modules/a/node_modules/@b/c": {"version": "2.0.0"}}}"#;
        assert_eq!(names("package-lock.json", npm), ["@b/c@2.0.0:1", "a@1.0.0:1"]);
        assert_eq!(
            names("yarn.lock", "\"@b/c@^1\", \"@b/c@^2\":\n  version \"2\"\nd@1:\n  version \"1\"\n").len(),
            3
        );
        let pnpm =
            "lockfileVersion: '9.0'\npackages:\n  '@b/c@1.0.0':\n    resolution: {}\n  d@2.0.0:\n    x: 1\n";
        assert_eq!(names("pnpm-lock.yaml", pnpm), ["@b/c:3", "d:5"]);
        assert_eq!(names("go.sum", "one.test/b v1.0.0/go.mod h1:x\n"), ["one.test/b@v1.0.0:1"]);
        assert_eq!(names("Pipfile.lock", r#"{"default": {"Flask": {"version": "==2"}}}"#), ["flask@2:1"]);
    }

    #[test]
    fn what_is_broken_is_said() {
        for (path, text) in [("Cargo.toml", "["), ("package.json", "{"), ("Cargo.lock", "x")] {
            let file = PackageFile::of_path(path).unwrap();
            assert!(read_packages(path, file, text).is_err(), "{path}");
        }
        assert_eq!(PackageFile::of_path("src/main.rs"), None);
    }
}
