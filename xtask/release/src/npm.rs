//! Packages for npm: one with the programs for each target, and the one that people name, which starts those for their machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value as Json, json};
use xtask::root;

use crate::contents::Contents;
use crate::targets::{TARGETS, Target};
use crate::{Release, output, put, told};

/// The package with the programs of a target.
pub(crate) fn platform(release: &Release, target: Target, contents: &Contents) -> Result<PathBuf, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut manifest = manifest(release, &name(target));
    manifest.insert("os".to_owned(), json!([target.system.npm()]));
    manifest.insert("cpu".to_owned(), json!([target.npm]));
    for entry in contents.programs() {
        put(&folder.path().join("bin").join(&entry.name), &entry.bytes, entry.kind.mode())?;
    }
    pack(release, manifest, folder.path())
}

/// The package that people name.
pub(crate) fn launcher(release: &Release) -> Result<PathBuf, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut manifest = manifest(release, "checkrein");
    let programs = TARGETS.iter().map(|target| (name(*target), Json::from(release.version.as_str())));
    manifest.insert("optionalDependencies".to_owned(), Json::Object(programs.collect()));
    manifest.insert("bin".to_owned(), json!({ "checkrein": "launcher.js" }));
    manifest.insert("engines".to_owned(), json!({ "node": ">=18" }));
    for (from, to) in [("packaging/npm/launcher.js", "launcher.js"), ("README.md", "README.md")] {
        let path = root().join(from);
        put(&folder.path().join(to), &fs::read(&path).map_err(told(&path))?, 0o755)?;
    }
    pack(release, manifest, folder.path())
}

fn name(target: Target) -> String {
    format!("checkrein-{}-{}", target.system.npm(), target.npm)
}

fn manifest(release: &Release, name: &str) -> Map<String, Json> {
    let fields = [
        ("name", json!(name)),
        ("version", json!(release.version)),
        ("description", json!("The safety layer for coding agents")),
        ("license", json!("MIT OR Apache-2.0")),
        (
            "repository",
            json!({ "type": "git", "url": concat!("git+", env!("CARGO_PKG_REPOSITORY"), ".git") }),
        ),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn pack(release: &Release, manifest: Map<String, Json>, folder: &Path) -> Result<PathBuf, String> {
    let text = format!("{:#}\n", Json::Object(manifest));
    put(&folder.join("package.json"), text.as_bytes(), 0o644)?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["pack", "--silent", "--pack-destination"]).arg(absolute(&release.folder)?);
    let printed = output(&mut npm)?;
    let name = printed.lines().last().unwrap_or_default().trim();
    Ok(release.folder.join(name))
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(told(path))
}
