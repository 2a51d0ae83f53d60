//! Files that go along although they are in no commit.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::tree::MOST_NEW;
use checkrein_glob::{Glob, Style};
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// What went along.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carried {
    /// Files and links that were copied, or taken away where they are gone in the work tree.
    pub files: Vec<PathBuf>,
    /// Files that look like secrets and were not named, so they stayed.
    pub secrets: Vec<PathBuf>,
    /// Copied files whose owner, mode, attributes or time are not as they were, and why.
    pub undressed: Vec<(PathBuf, String)>,
}

/// Whether a path is meant by a pattern: `*` and `?` stop at `/`, `**` does not; what means a directory means everything in it.
pub(crate) fn is_meant(pattern: &[u8], path: &[u8]) -> bool {
    let pattern = pattern.strip_prefix(b"./").unwrap_or(pattern);
    let pattern = pattern.strip_suffix(b"/").unwrap_or(pattern);
    let text = String::from_utf8_lossy;
    Glob::new(&text(pattern), Style::Carried).or_below().matches(&text(path))
}

/// Whether a file usually holds secrets, by its name (ours).
pub(crate) fn is_secret(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_ascii_lowercase();
    let is = |names: &[&[u8]]| names.iter().any(|known| name == *known);
    let ends = |endings: &[&[u8]]| endings.iter().any(|ending| name.ends_with(ending));
    let is_example = ends(&[b".example", b".sample", b".template", b".dist"]);
    let is_environment =
        name == b".env" || name.starts_with(b".env.") || name == b".envrc" || name.ends_with(b".env");
    is_environment && !is_example
        || is(&[
            b".netrc",
            b".npmrc",
            b".pypirc",
            b".pgpass",
            b".htpasswd",
            b"credentials",
            b"credentials.json",
        ])
        || is(&[
            b"secrets.json",
            b"secrets.yaml",
            b"secrets.yml",
            b"secrets.toml",
            b".git-credentials",
            b"service-account.json",
        ])
        || ends(&[b".pem", b".key", b".p12", b".pfx", b".jks", b".keystore", b".kdbx", b".tfvars"])
        || [&b"id_rsa"[..], b"id_dsa", b"id_ecdsa", b"id_ed25519"].iter().any(|key| name.starts_with(key))
}

/// Which of these paths go along: those that a pattern means, and of secrets only those that a pattern names without a star.
pub(crate) fn chosen(paths: &[Vec<u8>], patterns: &[String]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let is_exact = |pattern: &str| !pattern.contains(['*', '?']);
    let meant = |path: &[u8]| patterns.iter().any(|pattern| is_meant(pattern.as_bytes(), path));
    let named = |path: &[u8]| {
        let trimmed = |pattern: &'_ str| pattern.strip_prefix("./").unwrap_or(pattern).as_bytes().to_vec();
        patterns.iter().any(|pattern| is_exact(pattern) && trimmed(pattern) == path)
    };
    let (secrets, chosen): (Vec<_>, Vec<_>) =
        paths.iter().filter(|path| meant(path)).cloned().partition(|path| is_secret(path) && !named(path));
    (chosen, secrets)
}

/// Copies files and links from one folder to another, each below the same directories; links as links. What is gone at its origin is
/// taken away.
pub(crate) fn carry(from: &Path, to: &Path, paths: &[Vec<u8>]) -> Result<Vec<PathBuf>, RunError> {
    let mut length = 0;
    let place = |path: &[u8]| PathBuf::from(OsStr::from_bytes(path));
    for path in paths {
        length += fs::symlink_metadata(from.join(place(path))).map_or(0, |facts| facts.len());
    }
    if paths.len() > MOST_NEW.0 || length > MOST_NEW.1 {
        return Err(RunError::new(
            RunErrorKind::Asked,
            format!("{} files with {} MB are too much to be carried over", paths.len(), length >> 20),
            "choose less with `--carry`",
        ));
    }
    let mut carried = Vec::new();
    for path in paths {
        let path = place(path);
        if copy_one(from, to, &path)? {
            carried.push(path);
        }
    }
    Ok(carried)
}

/// Copies one; whether there was something to do.
pub(crate) fn copy_one(from: &Path, to: &Path, path: &Path) -> Result<bool, RunError> {
    let (source, target) = (from.join(path), to.join(path));
    let Ok(facts) = fs::symlink_metadata(&source) else {
        return match fs::remove_file(&target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(RunError::file("remove", &target)(error)),
        };
    };
    make_way(to, path)?;
    if facts.file_type().is_symlink() {
        let points = fs::read_link(&source).map_err(RunError::file("read", &source))?;
        drop(fs::remove_file(&target));
        std::os::unix::fs::symlink(points, &target).map_err(RunError::file("write", &target))?;
        return Ok(true);
    }
    if !facts.is_file() {
        return Ok(false);
    }
    let open = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&source);
    let mut content = open.map_err(RunError::file("read", &source))?;
    let aside = target.with_file_name(format!(".checkrein-{}", std::process::id()));
    drop(fs::remove_file(&aside));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&aside)
        .and_then(|mut file| io::copy(&mut content, &mut file).and_then(|_| file.sync_data()))
        .and_then(|()| {
            fs::set_permissions(&aside, Permissions::from_mode(facts.permissions().mode() & 0o777))
        })
        .and_then(|()| fs::rename(&aside, &target));
    if written.is_err() {
        drop(fs::remove_file(&aside));
    }
    written.map_err(RunError::file("write", &target))?;
    Ok(true)
}

/// Makes the directories above a path below a folder; fails where something else, such as a link, stands in the way.
pub(crate) fn make_way(folder: &Path, path: &Path) -> Result<(), RunError> {
    let mut place = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let std::path::Component::Normal(name) = part else {
            return Err(RunError::not_ours(format!("`{}` leads out of its folder", path.display())));
        };
        place.push(name);
        match fs::symlink_metadata(&place) {
            Ok(facts) if facts.is_dir() => {}
            Ok(_) => {
                return Err(RunError::new(
                    RunErrorKind::Conflict,
                    format!("`{}` is not a folder, and something would go below it", place.display()),
                    "nothing was written through it; move it away and try again",
                ));
            }
            Err(_) => fs::create_dir(&place).map_err(RunError::file("create", &place))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_do_in_a_shell() {
        let yes = [
            ("notes.txt", "notes.txt"),
            ("*.txt", "notes.txt"),
            ("data", "data/deep/a"),
            ("data/", "data/a"),
            ("./data/*.csv", "data/a.csv"),
            ("**/*.csv", "data/deep/a.csv"),
            ("**/*.csv", "a.csv"),
            ("data/**", "data/deep/a"),
            ("a?c", "abc"),
            ("*", "any/thing"),
        ];
        for (pattern, path) in yes {
            assert!(is_meant(pattern.as_bytes(), path.as_bytes()), "{pattern} {path}");
        }
        for (pattern, path) in
            [("*.txt", "notes.md"), ("data/*.csv", "data/deep/a.csv"), ("a?c", "a/c"), ("at", "data")]
        {
            assert!(!is_meant(pattern.as_bytes(), path.as_bytes()), "{pattern} {path}");
        }
        // Bounded, whatever the pattern.
        assert!(!is_meant("*a".repeat(200).as_bytes(), "a".repeat(150).as_bytes()));
    }

    #[test]
    fn secrets_stay_unless_they_are_named() {
        let paths: Vec<Vec<u8>> = [".env", "app/.env.local", ".env.example", "tls/server.key", "notes"]
            .map(|path| path.as_bytes().to_vec())
            .to_vec();
        let (chosen, secrets) = super::chosen(&paths, &["**".to_owned(), ".env".to_owned()]);
        let words = |paths: &[Vec<u8>]| {
            paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&chosen), [".env", ".env.example", "notes"]);
        assert_eq!(words(&secrets), ["app/.env.local", "tls/server.key"]);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to, outside) =
            (folder.path().join("from"), folder.path().join("to"), folder.path().join("outside"));
        for place in [&from.join("deep"), &to, &outside] {
            fs::create_dir_all(place).unwrap();
        }
        fs::write(from.join("deep/a"), "new").unwrap();
        std::os::unix::fs::symlink(&outside, to.join("deep")).unwrap();
        assert!(copy_one(&from, &to, Path::new("deep/a")).is_err());
        assert!(copy_one(&from, &to, Path::new("../a/b")).is_err() || !folder.path().join("a").exists());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
