//! Packages for Debian and for Fedora, made by their own tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::run;

use crate::contents::{Contents, EntryKind};
use crate::targets::{System, Target};
use crate::{Made, Release, is_here, put, told, trial};

/// What it is, in one line.
const SUMMARY: &str = "Safety layer for coding agents";
/// What it is, for those who have read the line.
const DESCRIPTION: &str = "Checkrein reviews each tool call of a coding agent before it runs. It saves what a\ncall would destroy, rewrites what has a safer form, and asks you only when neither\nis enough.";

/// Both packages, or why one is missing; none for a system that has neither.
pub(crate) fn all(release: &Release, target: Target, contents: &Contents) -> Result<Vec<Made>, String> {
    let mut made = Vec::new();
    let System::Linux { debian: architecture } = target.system else { return Ok(made) };
    if is_here("dpkg-deb") {
        let package = debian(release, architecture, contents)?;
        let proof = trial::debian(target, &package);
        made.push(Made::File(package, proof));
    } else {
        made.push(Made::Missing(format!("Debian, {}", target.triple), "`dpkg-deb` is not here".to_owned()));
    }
    if is_here("rpmbuild") {
        let package = fedora(release, target, contents)?;
        let proof = trial::fedora(target, &package);
        made.push(Made::File(package, proof));
    } else {
        made.push(Made::Missing(format!("Fedora, {}", target.triple), "`rpmbuild` is not here".to_owned()));
    }
    Ok(made)
}

fn debian(release: &Release, architecture: &str, contents: &Contents) -> Result<PathBuf, String> {
    let tree = tempfile::tempdir().map_err(|error| error.to_string())?;
    let length = lay_out(contents, tree.path())?;
    let control = format!(
        "Package: checkrein\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The Checkrein authors <{page}>\nInstalled-Size: {kilobytes}\nRecommends: git\nSection: utils\nPriority: optional\nHomepage: {page}\nDescription: {SUMMARY}\n {description}\n",
        description = DESCRIPTION.replace('\n', "\n "),
        version = release.version,
        kilobytes = length.div_ceil(1024),
        page = env!("CARGO_PKG_REPOSITORY"),
    );
    put(&tree.path().join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let path = release.folder.join(format!("checkrein_{}_{}.deb", release.version, architecture));
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", release.time.to_string());
    run(build.args(["--root-owner-group", "--build"]).arg(tree.path()).arg(&path))?;
    Ok(path)
}

fn fedora(release: &Release, target: Target, contents: &Contents) -> Result<PathBuf, String> {
    let tree = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (system, work) = (tree.path().join("system"), tree.path().join("work"));
    lay_out(contents, &system)?;
    let architecture = target.triple.split('-').next().unwrap_or_default();
    let specification = format!(
        "Name: checkrein\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\nLicense: MIT OR Apache-2.0\nURL: {page}\nRecommends: git\nAutoReqProv: no\n%define __os_install_post %{{nil}}\n%description\n{DESCRIPTION}\n%install\ncp -a {system}/. %{{buildroot}}/\n%files\n/usr\n",
        version = release.version,
        page = env!("CARGO_PKG_REPOSITORY"),
        system = system.display(),
    );
    let specified = tree.path().join("checkrein.spec");
    put(&specified, specification.as_bytes(), 0o644)?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--target", architecture, "--define"]);
    run(build.arg(format!("_topdir {}", work.display())).arg(&specified))?;
    let name = format!("checkrein-{}-1.{architecture}.rpm", release.version);
    let path = release.folder.join(&name);
    fs::copy(work.join("RPMS").join(architecture).join(&name), &path).map_err(told(&path))?;
    Ok(path)
}

/// Lays the files out as both systems want them; returns their length together, in bytes.
fn lay_out(contents: &Contents, top: &Path) -> Result<usize, String> {
    let mut length = 0;
    for entry in &contents.entries {
        let last = entry.name.rsplit('/').next().unwrap_or_default();
        let place = match entry.kind {
            EntryKind::Program => format!("usr/bin/{last}"),
            EntryKind::Manual => format!("usr/share/man/man1/{last}"),
            EntryKind::BashCompletions => "usr/share/bash-completion/completions/checkrein".to_owned(),
            EntryKind::ZshCompletions => format!("usr/share/zsh/vendor-completions/{last}"),
            EntryKind::FishCompletions => format!("usr/share/fish/vendor_completions.d/{last}"),
            EntryKind::Document => format!("usr/share/doc/checkrein/{last}"),
        };
        put(&top.join(place), &entry.bytes, entry.kind.mode())?;
        length += entry.bytes.len();
    }
    Ok(length)
}
