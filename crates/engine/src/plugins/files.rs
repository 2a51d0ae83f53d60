//! The files of a plugin: its manifest, and what tells them from others.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_files::Forced;
use checkrein_protocol::{AbsolutePath, PluginManifest};
use sha2::{Digest as _, Sha256};

use crate::error::CommandError;
use crate::seal::hexadecimal;

/// The greatest number of files of a plugin (ours).
const MOST_FILES: usize = 2_000;
/// The greatest length of all of them together, in bytes (ours).
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How deep folders may lie in each other (ours).
const DEPTH: usize = 16;
/// Folders that belong to who writes the plugin and not to the plugin: nothing in them is pinned, copied or run.
const LEFT_OUT: [&str; 2] = [".git", "target"];

/// A plugin as it lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFiles {
    /// The folder, by its real path.
    pub folder: AbsolutePath,
    /// What its manifest says.
    pub manifest: PluginManifest,
    /// Its files, from the folder on, in order.
    pub files: Vec<PathBuf>,
    /// The SHA-256 of all names, modes and contents, in hexadecimal digits.
    pub digest: String,
}

/// Reads the plugin in a folder.
///
/// # Errors
///
/// It is none, or not all of it can be read: then nothing of it may run.
pub fn read_files(folder: &Path) -> Result<PluginFiles, CommandError> {
    let failed = |error: std::io::Error| CommandError::file("read", folder.display(), &error);
    let real = fs::canonicalize(folder).map_err(failed)?;
    let manifest = manifest(&real)?;
    let mut found = Vec::new();
    collect(&real, &PathBuf::new(), 0, &mut found)?;
    found.sort();
    let mut digest = Sha256::new();
    let mut left = MOST_BYTES;
    for name in &found {
        let path = real.join(name);
        let facts = fs::symlink_metadata(&path).map_err(failed)?;
        let bytes = checkrein_files::read(&path, left).map_err(|error| {
            CommandError::user(
                format!("`{}` cannot be read: {error}", path.display()),
                format!("a plugin has at most {} MB", MOST_BYTES >> 20),
            )
        })?;
        left = left.saturating_sub(bytes.len() as u64);
        let is_program = facts.permissions().mode() & 0o111 != 0;
        digest.update((name.as_os_str().len() as u64).to_le_bytes());
        digest.update(name.as_os_str().as_encoded_bytes());
        digest.update([u8::from(is_program)]);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    let plain = real.to_str().and_then(AbsolutePath::new);
    let Some(folder) = plain else {
        return Err(CommandError::user(
            format!("`{}` has no plain name", real.display()),
            "move the plugin elsewhere",
        ));
    };
    Ok(PluginFiles { folder, manifest, files: found, digest: hexadecimal(&digest.finalize()) })
}

/// Copies the files of a plugin into another folder, in the place of what stands there.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn copy_files(plugin: &PluginFiles, to: &AbsolutePath) -> Result<(), CommandError> {
    let target = Path::new(to.as_str());
    match fs::remove_dir_all(target) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(CommandError::file("replace", to, &error)),
    }
    for name in &plugin.files {
        let (from, place) = (Path::new(plugin.folder.as_str()).join(name), target.join(name));
        let failed = |error: std::io::Error| CommandError::file("copy", place.display(), &error);
        let bytes = checkrein_files::read(&from, MOST_BYTES).map_err(failed)?;
        let is_program = fs::metadata(&from).map_err(failed)?.permissions().mode() & 0o111 != 0;
        if let Some(folder) = place.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        let mode = if is_program { 0o700 } else { 0o600 };
        checkrein_files::replace(&place, &bytes, mode, Forced::Content).map_err(failed)?;
    }
    Ok(())
}

fn manifest(folder: &Path) -> Result<PluginManifest, CommandError> {
    let path = folder.join(PluginManifest::FILE);
    let text = checkrein_files::read_text(&path, checkrein_files::SMALL).map_err(|error| {
        let mut failure = CommandError::file("read", path.display(), &error);
        if error.kind() == ErrorKind::NotFound {
            failure.hint = Some("`checkrein plugin init NAME` writes a plugin to begin with".to_owned());
        }
        failure
    })?;
    let manifest: PluginManifest = serde_json::from_str(&text).map_err(|error| {
        CommandError::user(
            format!("`{}:{}:{}`: {error}", path.display(), error.line(), error.column()),
            "docs/plugins.md lists the keys of a manifest",
        )
    })?;
    match fault(&manifest, folder) {
        None => Ok(manifest),
        Some((message, hint)) => Err(CommandError::user(format!("`{}`: {message}", path.display()), hint)),
    }
}

/// What is wrong with a manifest that can be read, and what to do about it.
fn fault(manifest: &PluginManifest, folder: &Path) -> Option<(String, &'static str)> {
    if !PluginManifest::is_name(&manifest.name) {
        return Some((
            format!("`{}` is not a name for a plugin", manifest.name),
            "take small letters, digits and hyphens, such as `todo-watch`",
        ));
    }
    if manifest.kinds.is_empty() {
        return Some(("`kinds` is empty".to_owned(), "name at least one kind, such as `patterns`"));
    }
    let Some(program) = manifest.command.first().filter(|program| !program.is_empty()) else {
        return Some(("`command` is empty".to_owned(), "name the program and its arguments"));
    };
    if program.contains('/') {
        let path = Path::new(program);
        let is_inside = path.is_relative()
            && path
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
        let is_left_out = path.components().any(|part| LEFT_OUT.iter().any(|name| part.as_os_str() == *name));
        if !is_inside || is_left_out {
            return Some((
                format!("the program `{program}` is not among the files of the plugin"),
                "a program with a slash in its name lies in the folder of the plugin, and not in `target`",
            ));
        }
        if !folder.join(path).is_file() {
            return Some((
                format!("the program `{program}` is not there"),
                "build it first, in its folder; one in Rust by `cargo install --path . --root .`",
            ));
        }
    }
    if !(1..=PluginManifest::MOST_MEMORY_MB).contains(&manifest.memory_mb) {
        return Some((format!("`memory_mb` is {}", manifest.memory_mb), "take a number from 1 to 4096"));
    }
    if !(1..=PluginManifest::MOST_SECONDS).contains(&manifest.seconds) {
        return Some((format!("`seconds` is {}", manifest.seconds), "take a number from 1 to 60"));
    }
    match checkrein_sandbox::Network::of_words(&manifest.network) {
        Ok(_) => None,
        Err(error) => Some((
            format!("`network`: {error}"),
            "take `loopback`, `open`, or hosts such as `example.com:443`",
        )),
    }
}

fn collect(root: &Path, below: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let folder = root.join(below);
    let failed = |error: std::io::Error| CommandError::file("read", folder.display(), &error);
    if depth > DEPTH {
        return Err(CommandError::user(
            format!("`{}` lies too deep", folder.display()),
            format!("a plugin has folders in at most {DEPTH} levels"),
        ));
    }
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (name, kind) = (below.join(entry.file_name()), entry.file_type().map_err(failed)?);
        if kind.is_dir() {
            if !LEFT_OUT.iter().any(|left_out| entry.file_name() == *left_out) {
                collect(root, &name, depth + 1, found)?;
            }
        } else if kind.is_file() {
            found.push(name);
        } else {
            // What a link leads to could be turned into something else.
            return Err(CommandError::user(
                format!("`{}` is not a regular file", root.join(&name).display()),
                "a plugin consists of regular files; take links out",
            ));
        }
        if found.len() > MOST_FILES {
            return Err(CommandError::user(
                format!("`{}` has more than {MOST_FILES} files", root.display()),
                "take what it does not need elsewhere",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(manifest: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plugin.json"), manifest).unwrap();
        fs::write(folder.path().join("main.py"), "print()\n").unwrap();
        folder
    }

    const GOOD: &str = r#"{"name":"x","command":["python3","main.py"],"kinds":["risk"]}"#;

    #[test]
    fn whatever_changes_about_its_files_changes_the_digest() {
        let folder = plugin(GOOD);
        let digest = || read_files(folder.path()).unwrap().digest;
        let mut seen = vec![digest()];
        let mut changed = |what: &str| {
            let now = digest();
            assert!(!seen.contains(&now), "{what}");
            seen.push(now);
        };
        fs::write(folder.path().join("main.py"), "print( )\n").unwrap();
        changed("a content");
        fs::write(folder.path().join("more.py"), "").unwrap();
        changed("a file more");
        fs::rename(folder.path().join("more.py"), folder.path().join("most.py")).unwrap();
        changed("a name");
        fs::create_dir(folder.path().join("__pycache__")).unwrap();
        fs::write(folder.path().join("__pycache__/main.pyc"), "").unwrap();
        changed("compiled code, which Python would load");
        fs::set_permissions(folder.path().join("most.py"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("a mode");
        let before = digest();
        fs::create_dir(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("target/out"), "").unwrap();
        assert_eq!(digest(), before, "what a compiler leaves is no part of it");
        std::os::unix::fs::symlink("main.py", folder.path().join("link")).unwrap();
        assert!(read_files(folder.path()).is_err());
    }

    #[test]
    fn a_copy_is_the_same_plugin() {
        let folder = plugin(GOOD);
        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(folder.path().join("lib/a.py"), "1").unwrap();
        let read = read_files(folder.path()).unwrap();
        let to = tempfile::tempdir().unwrap();
        let place = AbsolutePath::new(to.path().join("x").to_str().unwrap()).unwrap();
        copy_files(&read, &place).unwrap();
        assert_eq!(read_files(Path::new(place.as_str())).unwrap().digest, read.digest);
    }

    #[test]
    fn what_is_wrong_with_a_manifest_is_said_with_its_place() {
        for (manifest, said) in [
            ("{", "plugin.json:1:"),
            (r#"{"name":"X","command":["a"],"kinds":["risk"]}"#, "is not a name"),
            (r#"{"name":"x","command":[],"kinds":["risk"]}"#, "`command` is empty"),
            (r#"{"name":"x","command":["a"],"kinds":[]}"#, "`kinds` is empty"),
            (r#"{"name":"x","command":["a"],"kinds":["gates"]}"#, "unknown variant"),
            (r#"{"name":"x","command":["../a"],"kinds":["risk"]}"#, "not among the files"),
            (r#"{"name":"x","command":["/bin/sh"],"kinds":["risk"]}"#, "not among the files"),
            (r#"{"name":"x","command":["./target/a"],"kinds":["risk"]}"#, "not among the files"),
            (r#"{"name":"x","command":["./a"],"kinds":["risk"]}"#, "is not there"),
            (r#"{"name":"x","command":["a"],"kinds":["risk"],"seconds":600}"#, "`seconds` is 600"),
            (r#"{"name":"x","command":["a"],"kinds":["risk"],"memory_mb":0}"#, "`memory_mb` is 0"),
            (r#"{"name":"x","command":["a"],"kinds":["risk"],"network":["x"]}"#, "`network`"),
        ] {
            let error = read_files(plugin(manifest).path()).unwrap_err();
            assert!(error.message.contains(said) && error.hint.is_some(), "{manifest}: {error:?}");
        }
        assert!(read_files(tempfile::tempdir().unwrap().path()).is_err());
    }
}
