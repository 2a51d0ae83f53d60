//! Packages for Debian, made by its own tool, and for Fedora.

use std::path::{Path, PathBuf};
use std::process::Command;

use rpm::{BuildConfig, CompressionType, Dependency, FileOptions, PackageBuilder};
use xtask::run;

use crate::contents::{Contents, Entry, EntryKind};
use crate::targets::{System, Target};
use crate::{Made, Release, is_here, put, trial};

/// Under what it may be used, as Fedora writes it.
const LICENSE: &str = "MIT OR Apache-2.0";
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
    let package = fedora(release, target, contents)?;
    let proof = trial::fedora(target, &package);
    made.push(Made::File(package, proof));
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
    let architecture = target.triple.split('-').next().unwrap_or_default();
    let name = format!("checkrein-{}-1.{architecture}.rpm", release.version);
    let path = release.folder.join(&name);
    let told = |error: rpm::Error| format!("{name}: {error}");
    let time = u32::try_from(release.time).map_err(|error| error.to_string())?;
    // The format that every Fedora and RHEL in use reads; the time of the commit and no host, so that the same commit makes the same bytes.
    let manner = BuildConfig::v4().compression(CompressionType::Gzip).source_date(time);
    let mut package = PackageBuilder::new("checkrein", &release.version, LICENSE, architecture, SUMMARY);
    package
        .using_config(manner)
        .release("1")
        .url(env!("CARGO_PKG_REPOSITORY"))
        .description(DESCRIPTION)
        .build_host("localhost")
        .recommends(Dependency::any("git"));
    for entry in &contents.entries {
        let place = place(entry);
        let mode = u16::try_from(entry.kind.mode()).map_err(|error| error.to_string())?;
        let mut options = FileOptions::new(format!("/{place}")).permissions(mode);
        if entry.kind == EntryKind::Document || entry.kind == EntryKind::Manual {
            options = options.doc();
        }
        package.with_file_contents(entry.bytes.clone(), options).map_err(told)?;
    }
    package.with_dir_entry(FileOptions::dir("/usr/share/doc/checkrein")).map_err(told)?;
    package.build().and_then(|package| package.write_file(&path)).map_err(told)?;
    Ok(path)
}

/// Lays the files out as Debian wants them; returns their length together, in bytes.
fn lay_out(contents: &Contents, top: &Path) -> Result<usize, String> {
    let mut length = 0;
    for entry in &contents.entries {
        put(&top.join(place(entry)), &entry.bytes, entry.kind.mode())?;
        length += entry.bytes.len();
    }
    Ok(length)
}

/// Where both systems want a file, from the root on.
fn place(entry: &Entry) -> String {
    let last = entry.name.rsplit('/').next().unwrap_or_default();
    match entry.kind {
        EntryKind::Program => format!("usr/bin/{last}"),
        EntryKind::Manual => format!("usr/share/man/man1/{last}"),
        EntryKind::BashCompletions => "usr/share/bash-completion/completions/checkrein".to_owned(),
        EntryKind::ZshCompletions => format!("usr/share/zsh/vendor-completions/{last}"),
        EntryKind::FishCompletions => format!("usr/share/fish/vendor_completions.d/{last}"),
        EntryKind::Document => format!("usr/share/doc/checkrein/{last}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::targets::TARGETS;

    fn entry(name: &str, bytes: &str, kind: EntryKind) -> Entry {
        Entry { name: name.to_owned(), bytes: bytes.into(), kind }
    }

    /// What a program of Fedora's own says of the package; `None` where there is none.
    fn asked(program: &str, arguments: &[&str], package: &Path) -> Option<String> {
        let output = Command::new(program).args(arguments).arg(package).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        Some(said)
    }

    #[test]
    fn the_package_for_fedora_says_what_it_is_and_holds_what_it_must() {
        let folder = tempfile::tempdir().unwrap();
        let release =
            Release { version: "1.2.3".to_owned(), time: 1_700_000_000, folder: folder.path().to_owned() };
        let entries = vec![
            entry("checkrein", "a program", EntryKind::Program),
            entry("man/checkrein.1", "a page", EntryKind::Manual),
            entry("LICENSE-MIT", "a licence", EntryKind::Document),
        ];
        let contents = Contents { entries };
        for target in TARGETS.into_iter().filter(|target| target.system != System::MacOs) {
            let path = fedora(&release, target, &contents).unwrap();
            let first = fs::read(&path).unwrap();
            assert_eq!(
                first,
                fs::read(fedora(&release, target, &contents).unwrap()).unwrap(),
                "the same bytes"
            );
            let read = rpm::Package::open(&path).unwrap();
            read.verify_digests().unwrap();
            let architecture = target.triple.split('-').next().unwrap();
            let about = &read.metadata;
            assert_eq!(
                (about.get_name().unwrap(), about.get_version().unwrap(), about.get_arch().unwrap()),
                ("checkrein", "1.2.3", architecture)
            );
            let said = asked(
                "rpm",
                &[
                    "-qp",
                    "--qf",
                    "%{NEVRA} %{LICENSE} [%{RECOMMENDNAME}]\\n[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME}\\n]",
                ],
                &path,
            );
            let Some(said) = said else {
                checkrein_testkit::not_run("`rpm` is not here");
                continue;
            };
            for line in [
                format!("checkrein-1.2.3-1.{architecture} MIT OR Apache-2.0 git").as_str(),
                "/usr/bin/checkrein -rwxr-xr-x root",
                "/usr/share/man/man1/checkrein.1 -rw-r--r-- root",
                "/usr/share/doc/checkrein/LICENSE-MIT -rw-r--r-- root",
                "/usr/share/doc/checkrein drwxr-xr-x root",
            ] {
                assert!(said.lines().any(|found| found == line), "`{line}` is missing in:\n{said}");
            }
            let checked = asked("rpmkeys", &["--checksig", "--nosignature"], &path).unwrap();
            assert!(checked.contains("OK"), "{checked}");
        }
    }
}
