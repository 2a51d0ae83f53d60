//! What guards a project stays as it is while a command runs inside a scope.
//!
//! A scope is made of directories, and the rules of Landlock only add to each other: whoever may make files in a project may write its
//! settings too. So the files that say what agents may do, and those that git runs by itself, are read before the command. They are
//! compared once nothing of the command is left. A changed one becomes what it was, and that is said. Who names such a place itself
//! (`--write .git/hooks`) wants it changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::installation::{Installations, guarded};
use checkrein_sandbox::Scope;
use checkrein_worktree::guard_files;
use checkrein_world::find_workspace;

/// What git and clients run by themselves in a project, and what says so.
const RUN_BY_OTHERS: [&str; 4] = [".git/hooks", ".git/config", ".git/config.worktree", ".mcp.json"];

/// The longest file that is kept, in bytes, and the most entries of a directory (ours): what is more is no settings.
const LONGEST: u64 = 1 << 20;
const ENTRIES: usize = 256;

/// How deep directories are kept (ours).
const DEPTH: usize = 3;

/// The settings of git that ordinary work changes and that run nothing: sections, and their keys.
const ORDINARY: [(&str, &[&str]); 4] = [
    (
        "branch",
        &["remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base", "gh-merge-base"],
    ),
    (
        "remote",
        &[
            "url",
            "pushurl",
            "fetch",
            "push",
            "prune",
            "prunetags",
            "tagopt",
            "gh-resolved",
            "promisor",
            "partialclonefilter",
        ],
    ),
    ("submodule", &["url", "active", "branch", "ignore", "fetchrecursesubmodules"]),
    ("user", &["name", "email", "signingkey"]),
];

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stood {
    Nothing,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Link(PathBuf),
    Folder {
        mode: u32,
        entries: BTreeMap<OsString, Stood>,
    },
    /// More than is kept, or nothing of this sort.
    Other,
}

/// A place and the directories on the way to it, from the scope on.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    stood: Stood,
    above: Vec<(PathBuf, Stood)>,
}

/// What stood before a command.
#[derive(Debug)]
pub(super) struct Upkeep(Vec<Place>);

impl Upkeep {
    /// Reads what guards the projects that the scope lets the command write to.
    pub(super) fn of(scope: &Scope) -> Self {
        let environment = HostEnvironment::of_process().ok();
        let mut paths: Vec<PathBuf> = Vec::new();
        let mut projects: Vec<PathBuf> = scope.write.iter().filter(|root| root.is_dir()).cloned().collect();
        if let Some(environment) = &environment {
            let workspace = find_workspace(&environment.cwd);
            let installations = Installations::load(environment).unwrap_or_default();
            let all = guarded(environment, &workspace, &installations);
            paths.extend(all.into_iter().map(|one| PathBuf::from(one.path.as_str())));
            projects.extend(fs::canonicalize(workspace.as_str()));
        }
        for project in &projects {
            paths.extend(guard_files().chain(RUN_BY_OTHERS).map(|name| project.join(name)));
        }
        paths.sort();
        paths.dedup();
        paths.retain(|path| scope.may_write(path) && !scope.write.iter().any(|root| root.starts_with(path)));
        let kept = paths.iter().filter_map(|path| Place::of(path, scope));
        Self(kept.filter(|place| place.stood != Stood::Other).collect())
    }

    /// Puts back what is another now; a line for each place.
    pub(super) fn restore(&self) -> Vec<String> {
        let mut said: Vec<String> = self.0.iter().flat_map(Place::open_again).collect();
        for place in &self.0 {
            let now = Stood::of(&place.path, DEPTH);
            let is_moved = place.above.iter().any(|(path, stood)| !stood.still_leads(path));
            if (now == place.stood && !is_moved) || is_ordinary(&place.path, &place.stood, &now) {
                continue;
            }
            let path = place.path.display();
            said.push(match place.put_back() {
                Ok(()) => format!(
                    "put back `{path}`: no command inside a scope changes what guards a project; its version is in `{}`",
                    std::env::temp_dir().display()
                ),
                Err(error) => format!("`{path}` was changed and could NOT be put back: {error}"),
            });
        }
        said
    }
}

impl Place {
    fn of(path: &Path, scope: &Scope) -> Option<Self> {
        let root = scope.write.iter().find(|root| path.starts_with(root))?;
        // The root of the scope is among them: the command may shut it.
        let way = path.ancestors().skip(1).take_while(|above| above.starts_with(root));
        let mut above: Vec<(PathBuf, Stood)> =
            way.map(|above| (above.to_owned(), Stood::of(above, 0))).collect();
        above.reverse();
        Some(Self { path: path.to_owned(), stood: Stood::of(path, DEPTH), above })
    }

    /// Gives directories on the way back the rights that they had: without them nothing below can be looked at or put back. A line for
    /// each.
    fn open_again(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (path, stood) in &self.above {
            let Stood::Folder { mode, .. } = stood else { continue };
            let Ok(facts) = fs::symlink_metadata(path) else { continue };
            let now = facts.permissions().mode() & 0o7777;
            if !facts.is_dir() || now & *mode & 0o700 == *mode & 0o700 {
                continue;
            }
            let opened = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            let path = path.display();
            said.push(match opened {
                Ok(()) => format!("gave `{path}` its rights back: what guards a project lies in it"),
                Err(error) => {
                    format!("`{path}` was shut, and could NOT be opened again: {error}; what guards a project lies in it")
                }
            });
        }
        said
    }

    fn put_back(&self) -> io::Result<()> {
        for (path, stood) in &self.above {
            if stood.still_leads(path) {
                continue;
            }
            match stood {
                Stood::Folder { .. } => {
                    put_aside(path)?;
                    fs::create_dir(path)?;
                }
                Stood::Link(target) => {
                    put_aside(path)?;
                    symlink(target, path)?;
                }
                Stood::Nothing | Stood::File { .. } | Stood::Other => {}
            }
        }
        self.stood.put_at(&self.path)
    }
}

impl Stood {
    fn of(path: &Path, depth: usize) -> Self {
        let facts = match fs::symlink_metadata(path) {
            Ok(facts) => facts,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Self::Nothing;
            }
            Err(_) => return Self::Other,
        };
        let mode = facts.permissions().mode() & 0o7777;
        if facts.is_symlink() {
            return fs::read_link(path).map_or(Self::Other, Self::Link);
        }
        if facts.is_file() {
            return checkrein_files::read(path, LONGEST)
                .map_or(Self::Other, |bytes| Self::File { bytes, mode });
        }
        if !facts.is_dir() {
            return Self::Other;
        }
        let mut entries = BTreeMap::new();
        if depth > 0 {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                entries.insert(entry.file_name(), Self::of(&entry.path(), depth - 1));
                if entries.len() > ENTRIES {
                    return Self::Other;
                }
            }
        }
        Self::Folder { mode, entries }
    }

    /// Whether what stands on the way to a place is what it was; a directory that came or went is looked at with the place itself.
    fn still_leads(&self, path: &Path) -> bool {
        match (self, Self::of(path, 0)) {
            (Self::Folder { .. }, Self::Folder { .. }) | (Self::Nothing | Self::Other, _) => true,
            (stood, now) => *stood == now,
        }
    }

    /// Makes a place what it was. What stands there and is another is put aside.
    fn put_at(&self, path: &Path) -> io::Result<()> {
        let now = Self::of(path, DEPTH);
        if now == *self {
            return Ok(());
        }
        match (self, now) {
            (Self::Folder { mode, entries }, Self::Folder { entries: others, .. }) => {
                fs::set_permissions(path, fs::Permissions::from_mode(*mode | 0o700))?;
                for name in others.keys().filter(|name| !entries.contains_key(*name)) {
                    put_aside(&path.join(name))?;
                }
                entries.iter().try_for_each(|(name, stood)| stood.put_at(&path.join(name)))?;
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
            (Self::Folder { mode, entries }, _) => {
                put_aside(path)?;
                fs::create_dir(path)?;
                entries.iter().try_for_each(|(name, stood)| stood.put_at(&path.join(name)))?;
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
            (Self::File { bytes, mode }, _) => {
                put_aside(path)?;
                fs::OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(path)
                    .and_then(|mut file| file.write_all(bytes))?;
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
            (Self::Link(target), _) => {
                put_aside(path)?;
                symlink(target, path)
            }
            (Self::Nothing, _) => put_aside(path),
            // What could not be read before is left as it is.
            (Self::Other, _) => Ok(()),
        }
    }
}

/// Takes away what stands at a path, if anything does: into the directory for temporary files, where a user finds it.
fn put_aside(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = std::env::temp_dir().join(format!("checkrein-replaced-{}-{name}", checkrein_files::aside()));
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let facts = fs::symlink_metadata(path)?;
            if facts.is_dir() {
                // Beside it, where nothing reads it.
                return fs::rename(path, path.with_file_name(format!("{name}.checkrein-replaced")));
            }
            if facts.is_file() {
                fs::copy(path, &aside)?;
            }
            fs::remove_file(path)
        }
        done => done,
    }
}

/// Whether only such settings of git changed as ordinary work changes.
fn is_ordinary(path: &Path, before: &Stood, now: &Stood) -> bool {
    let (Stood::File { bytes: before, mode: old }, Stood::File { bytes: now, mode: new }) = (before, now)
    else {
        return false;
    };
    let is_of_git = path.ends_with(".git/config") && old == new;
    is_of_git && weighty(before).zip(weighty(now)).is_some_and(|(before, now)| before == now)
}

/// The settings of git that are not [`ORDINARY`], in their order; `None` for a text that is not simply one header or one setting a line.
fn weighty(text: &[u8]) -> Option<Vec<(String, String)>> {
    let text = str::from_utf8(text).ok()?;
    let mut section = String::new();
    let mut all = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.ends_with('\\') {
            return None;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.strip_suffix(']')?;
            let is_simple = header.matches('"').count() % 2 == 0 && !header.contains([']', '[', '\\']);
            section = is_simple.then(|| header.to_owned())?;
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, kind) =
            (key.trim().to_ascii_lowercase(), section.split([' ', '"']).next().unwrap_or_default());
        let kind = kind.to_ascii_lowercase();
        let is_ordinary = ORDINARY.iter().any(|(name, keys)| *name == kind && keys.contains(&key.as_str()));
        if !is_ordinary {
            all.push((format!("{section}.{key}"), value.trim().to_owned()));
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_run_nothing_are_ordinary() {
        let before = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = a\n";
        let changes = [
            ("", false, true),
            ("[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n", false, true),
            ("[remote \"two\"]\n\turl = b\n\tfetch = +refs/heads/*:refs/remotes/two/*\n", false, true),
            ("[core]\n\thooksPath = x\n", false, false),
            ("[core] hooksPath = x\n", false, false),
            ("[branch \"x\"] hooksPath = x\n", false, false),
            ("[remote \"o\"]\n\tuploadpack = x\n", false, false),
            ("[submodule \"o\"]\n\tupdate = !x\n", false, false),
            ("[alias]\n\tst = !x\n", false, false),
            ("[include]\n\tpath = x\n", false, false),
            ("[user]\n\tname = a \\\n[core]\n", false, false),
            ("", true, false),
        ];
        for (more, is_executable, expected) in changes {
            let file = |text: &str, mode| Stood::File { bytes: text.as_bytes().to_vec(), mode };
            let now = file(&format!("{before}{more}"), if is_executable { 0o755 } else { 0o644 });
            let is = is_ordinary(Path::new("/p/.git/config"), &file(before, 0o644), &now);
            assert_eq!(is, expected, "{more}");
        }
    }
}
