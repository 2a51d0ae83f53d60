//! Finding repositories and the branch that is checked out.

use std::fs;
use std::path::Path;

use checkrein_facts::Repository;
use checkrein_protocol::AbsolutePath;

/// The greatest length of the small files of a repository that are read, in bytes (ours).
const SMALL: u64 = 64 * 1024;

/// The root of the workspace of a session: the root of the repository around its working directory, else that directory.
pub fn find_workspace(cwd: &AbsolutePath) -> AbsolutePath {
    let mut next = Some(cwd.clone());
    while let Some(directory) = next {
        if let Some(repository) = repository_at(&directory) {
            return repository.root;
        }
        next = directory.parent();
    }
    cwd.clone()
}

/// The repository whose work tree has its root at a directory; `None` when there is none.
pub(crate) fn repository_at(root: &AbsolutePath) -> Option<Repository> {
    let marker = root.join(".git");
    let kind = fs::metadata(marker.as_str()).ok()?;
    let directory = if kind.is_dir() {
        marker
    } else {
        let text = small_text(Path::new(marker.as_str()))?;
        root.join(text.trim_end().strip_prefix("gitdir:")?.trim())
    };
    let head = small_text(Path::new(directory.join("HEAD").as_str()))?;
    let branch = head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned);
    Some(Repository { root: root.clone(), directory, branch })
}

/// The directory that holds what all work trees of the repository at `root` share; `None` when no repository has its root there.
pub fn shared_git_directory(root: &AbsolutePath) -> Option<AbsolutePath> {
    repository_at(root).as_ref().map(shared_directory)
}

/// The directory that holds what linked work trees share.
pub(crate) fn shared_directory(repository: &Repository) -> AbsolutePath {
    let pointer = repository.directory.join("commondir");
    match small_text(Path::new(pointer.as_str())) {
        Some(text) => repository.directory.join(text.trim_end()),
        None => repository.directory.clone(),
    }
}

/// How long object names of a repository are, in bytes.
pub(crate) fn object_name_length(shared: &AbsolutePath) -> usize {
    let config = small_text(Path::new(shared.join("config").as_str())).unwrap_or_default();
    match setting(&config, "extensions", "objectformat").as_deref() {
        Some("sha256") => 32,
        Some(_) | None => 20,
    }
}

/// The last value of a setting in a git configuration, by section and name in lower case. Included files are not read.
pub(crate) fn setting(config: &str, section: &str, name: &str) -> Option<String> {
    let mut inside = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            inside =
                header.split(']').next().is_some_and(|header| header.trim().eq_ignore_ascii_case(section));
        } else if inside
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}

/// The text of a small regular file; `None` for anything else.
pub(crate) fn small_text(path: &Path) -> Option<String> {
    checkrein_files::read_text(path, SMALL).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_by_section() {
        let config = "[core]\n\tbare = false\n\texcludesFile = \"~/.ignore\"\n[extensions]\n\tobjectformat = sha256\n[core \"x\"]\n\tbare = true\n";
        assert_eq!(setting(config, "core", "bare").as_deref(), Some("false"));
        assert_eq!(setting(config, "core", "excludesfile").as_deref(), Some("~/.ignore"));
        assert_eq!(setting(config, "extensions", "objectformat").as_deref(), Some("sha256"));
        assert_eq!(setting(config, "user", "name"), None);
    }
}
