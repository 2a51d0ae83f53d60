//! A look at a real directory afterwards: what came, what changed, what went, and what was not looked at.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_protocol::{AbsolutePath, ChangeKind, PathState, Timestamp};
use checkrein_world::changes::{
    Before, ChangeScan, Memory, Novelty, Picture, ScanBounds, ScanRequest, look, real_path, standing,
};

/// A workspace in a temporary directory.
struct Workspace {
    folder: tempfile::TempDir,
    root: AbsolutePath,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = real_path(&AbsolutePath::new(folder.path().to_str().unwrap()).unwrap());
        let workspace = Self { folder, root };
        workspace.write("src/main.rs", "fn main() {}\n");
        workspace.write("src/deep/part.rs", "");
        workspace.write("notes.md", "only here\n");
        workspace
    }

    fn with_git(self) -> Self {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=d", "-c", "user.email=d@localhost", "commit", "-qm", "first"]);
        self
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(self.folder.path()).env("HOME", self.folder.path().join("nobody"));
        assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "git {arguments:?}");
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(&self, since: Timestamp, before: Option<&Picture>) -> ChangeScan {
        self.look_within(ScanBounds { time: Duration::from_mins(1), ..ScanBounds::default() }, since, before)
    }

    fn look_within(&self, bounds: ScanBounds, since: Timestamp, before: Option<&Picture>) -> ChangeScan {
        let home = self.root.join("nobody");
        let near = self.root.join("src");
        let spared = [self.root.join("own")];
        let ground = ScanRequest {
            root: &self.root,
            near: &near,
            spared: &spared,
            home: &home,
            configuration: None,
            now: now(),
            bounds,
        };
        look(&ground, since, &Before::picture(before), &|name| {
            name.contains("secret").then(|| "[masked]".to_owned())
        })
    }

    /// The picture before, then what changed by `deed`.
    fn after(&self, deed: impl FnOnce()) -> ChangeScan {
        sleep(Duration::from_millis(30));
        let before = self.look(later(), None).picture;
        let since = settled();
        deed();
        self.look(since, Some(&before))
    }

    /// What changed by `deed`, nothing known before.
    fn after_unseen(&self, deed: impl FnOnce()) -> ChangeScan {
        let since = settled();
        deed();
        self.look(since, None)
    }
}

fn now() -> Timestamp {
    Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap())
}

/// A moment at which nothing has changed yet.
fn later() -> Timestamp {
    Timestamp(now().0 + 3_600_000)
}

/// This moment, apart from everything before and after by more than a tick of the clock of the file system.
fn settled() -> Timestamp {
    sleep(Duration::from_millis(30));
    let now = now();
    sleep(Duration::from_millis(30));
    now
}

fn found(workspace: &Workspace, look: &ChangeScan) -> Vec<(ChangeKind, String)> {
    let relative = |path: &AbsolutePath| path.relative_to(&workspace.root).unwrap().to_owned();
    let mut found: Vec<_> = look.changes.iter().map(|change| (change.kind, relative(&change.path))).collect();
    found.sort();
    found
}

fn list(kinds: &[(ChangeKind, &str)]) -> Vec<(ChangeKind, String)> {
    kinds.iter().map(|(kind, path)| (*kind, (*path).to_owned())).collect()
}

use ChangeKind::{Created, Deleted, Modified, Rearranged};

#[test]
fn everything_that_changes_is_seen_and_nothing_else() {
    let workspace = Workspace::new();
    workspace.write("src/replaced.rs", "old");
    workspace.write("src/chmod.sh", "");
    workspace.write("old/deep/file", "");
    workspace.write("moved", "");
    let seen = workspace.after(|| {
        workspace.write("new/deep/file", "");
        workspace.write("src/main.rs", "fn main() { run() }\n");
        fs::set_permissions(workspace.path("src/chmod.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        workspace.write("src/.replaced", "new");
        fs::rename(workspace.path("src/.replaced"), workspace.path("src/replaced.rs")).unwrap();
        fs::rename(workspace.path("moved"), workspace.path("src/moved")).unwrap();
        fs::remove_dir_all(workspace.path("old")).unwrap();
        workspace.write("passing", "");
        fs::remove_file(workspace.path("passing")).unwrap();
        fs::read(workspace.path("notes.md")).unwrap();
    });
    let expected = list(&[
        (Created, "new"),
        (Created, "new/deep"),
        (Created, "new/deep/file"),
        (Created, "src/moved"),
        (Modified, "src/chmod.sh"),
        (Modified, "src/main.rs"),
        (Modified, "src/replaced.rs"),
        (Deleted, "moved"),
        (Deleted, "old"),
    ]);
    assert_eq!(found(&workspace, &seen), expected);
    assert_eq!(seen.coverage.memory, Memory::Picture);
    assert_eq!(seen.coverage.gaps, [""; 0]);
}

#[test]
fn times_that_a_program_sets_back_hide_nothing() {
    let workspace = Workspace::new();
    let seen = workspace.after(|| {
        workspace.write("notes.md", "other\n");
        let file = fs::File::options().append(true).open(workspace.path("notes.md")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
    });
    assert_eq!(found(&workspace, &seen), list(&[(Modified, "notes.md")]));
}

#[test]
fn what_happened_between_two_looks_is_not_the_fault_of_the_second_call() {
    let workspace = Workspace::new();
    let before = workspace.look(later(), None).picture;
    fs::remove_file(workspace.path("notes.md")).unwrap();
    workspace.write("by-hand", "");
    let since = settled();
    workspace.write("src/made.rs", "");
    let seen = workspace.look(since, Some(&before));
    assert_eq!(found(&workspace, &seen), list(&[(Created, "src/made.rs")]));
    assert_eq!(seen.novelty, Novelty::New);
    sleep(Duration::from_millis(30));
    let settled = workspace.look(later(), Some(&seen.picture)).picture;
    assert_eq!(workspace.look(later(), Some(&settled)).novelty, Novelty::Same);
}

#[test]
fn without_a_picture_git_knows_what_is_gone() {
    let workspace = Workspace::new().with_git();
    let seen = workspace.after_unseen(|| {
        fs::remove_file(workspace.path("src/main.rs")).unwrap();
        workspace.write("src/new.rs", "");
        fs::remove_file(workspace.path("notes.md")).unwrap();
    });
    let expected = list(&[(Created, "src/new.rs"), (Deleted, "notes.md"), (Deleted, "src/main.rs")]);
    assert_eq!(found(&workspace, &seen), expected);
    assert_eq!(seen.coverage.memory, Memory::Partial, "they may have been gone before");
}

#[test]
fn without_a_picture_and_without_git_the_directory_tells() {
    let workspace = Workspace::new();
    let seen = workspace.after_unseen(|| fs::remove_file(workspace.path("src/main.rs")).unwrap());
    assert_eq!(found(&workspace, &seen), list(&[(Rearranged, "src")]));
}

#[test]
fn trees_that_are_made_again_are_left_out() {
    let workspace = Workspace::new().with_git();
    workspace.write(".gitignore", "/target\n*.log\nlocal.env\n");
    workspace.write("src/.gitignore", "gen/\n");
    for name in ["target/a", "node_modules/a/b", "src/gen/a", "src/__pycache__/a", "run.log", "local.env"] {
        workspace.write(name, "");
    }
    let seen = workspace.after(|| {
        for name in ["target/b", "node_modules/a/c", "src/gen/b", "src/__pycache__/b", "run.log", "x.log"] {
            workspace.write(name, "more");
        }
        fs::remove_dir_all(workspace.path("src/gen")).unwrap();
        fs::remove_file(workspace.path("local.env")).unwrap();
        workspace.write("own/state", "");
        workspace.write("src/real.rs", "");
    });
    // What is ignored may still be the only copy: that a file of it goes is told.
    assert_eq!(found(&workspace, &seen), list(&[(Created, "src/real.rs"), (Deleted, "local.env")]));
    let left_out: Vec<&str> =
        seen.coverage.left_out.iter().filter_map(|path| path.relative_to(&workspace.root)).collect();
    assert_eq!(left_out, ["node_modules", "target", "src/__pycache__"]);
}

#[test]
fn the_data_of_a_repository_are_one_path_but_for_hooks_and_configuration() {
    let workspace = Workspace::new().with_git();
    let seen = workspace.after(|| {
        workspace.write("notes.md", "changed\n");
        workspace.git(&["status", "--short"]);
        workspace.git(&["add", "-A"]);
    });
    assert_eq!(found(&workspace, &seen), list(&[(Modified, "notes.md")]));
    let seen = workspace.after(|| {
        workspace.git(&["-c", "user.name=d", "-c", "user.email=d@localhost", "commit", "-qm", "x"]);
    });
    assert_eq!(found(&workspace, &seen), list(&[(Modified, ".git")]));
    let seen = workspace.after(|| {
        workspace.git(&["config", "core.pager", "less"]);
        workspace.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    });
    let expected = list(&[(Created, ".git/hooks/pre-commit"), (Modified, ".git/config")]);
    assert_eq!(found(&workspace, &seen), expected);
}

#[test]
fn links_lead_nowhere() {
    let workspace = Workspace::new();
    symlink("..", workspace.path("src/loop")).unwrap();
    symlink(".", workspace.path("src/self")).unwrap();
    symlink("/", workspace.path("everything")).unwrap();
    let seen = workspace.after(|| symlink("/etc", workspace.path("src/new")).unwrap());
    assert_eq!(found(&workspace, &seen), list(&[(Created, "src/new")]));
    assert!(seen.coverage.entries < 20, "{}", seen.coverage.entries);
}

#[test]
fn names_in_any_bytes_are_told() {
    let workspace = Workspace::new();
    let odd = OsStr::from_bytes(b"odd-\xff-\n-name");
    let other = OsStr::from_bytes(b"\xfe gone");
    fs::write(workspace.folder.path().join(other), "").unwrap();
    fs::write(workspace.folder.path().join(odd), "").unwrap();
    let seen = workspace.after(|| {
        fs::write(workspace.folder.path().join(odd), "changed").unwrap();
        fs::remove_file(workspace.folder.path().join(other)).unwrap();
        fs::create_dir(workspace.folder.path().join(OsStr::from_bytes(b"\x80"))).unwrap();
    });
    let expected =
        list(&[(Created, "\u{fffd}"), (Modified, "odd-\u{fffd}-\n-name"), (Deleted, "\u{fffd} gone")]);
    assert_eq!(found(&workspace, &seen), expected);
    // The next look sees the same names again.
    let again = workspace.look(later(), Some(&seen.picture));
    assert_eq!(again.changes, []);
}

#[test]
fn secrets_in_names_are_not_kept() {
    let workspace = Workspace::new();
    workspace.write("secret-token", "");
    let seen = workspace.after(|| {
        workspace.write("another-secret", "");
        fs::remove_file(workspace.path("secret-token")).unwrap();
    });
    let bytes = seen.picture.to_bytes().unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"secret"));
}

#[test]
fn a_bound_that_is_hit_is_said() {
    let workspace = Workspace::new();
    for directory in 0..20 {
        for file in 0..20 {
            workspace.write(&format!("d{directory}/f{file}"), "");
        }
    }
    let wide = ScanBounds { time: Duration::from_mins(1), ..ScanBounds::default() };
    let since = settled();
    workspace.write("src/main.rs", "changed");
    let few = workspace.look_within(ScanBounds { entries: 60, ..wide }, since, None);
    assert_eq!(few.coverage.gaps, ["there are more names than are looked at"]);
    let hasty = workspace.look_within(ScanBounds { time: Duration::ZERO, ..wide }, since, None);
    assert_eq!(hasty.coverage.gaps, ["the time for looking was over"]);
    for file in 0..20 {
        workspace.write(&format!("src/f{file}"), "");
    }
    let crowded = workspace.look_within(ScanBounds { changes: 10, ..wide }, since, None);
    assert_eq!(
        (crowded.changes.len(), crowded.coverage.gaps.as_slice()),
        (10, &["there are more changes than are listed".to_owned()][..])
    );
    // What was not reached is remembered from the look before.
    let whole = workspace.look(later(), None).picture;
    let part = workspace.look_within(ScanBounds { entries: 60, ..wide }, later(), Some(&whole)).picture;
    assert_eq!(part.directories(), whole.directories());
}

#[test]
fn a_look_at_nothing_says_so() {
    let workspace = Workspace::new();
    let root = workspace.root.clone();
    drop(workspace);
    let ground = ScanRequest {
        root: &root,
        near: &root,
        spared: &[],
        home: &root,
        configuration: None,
        now: now(),
        bounds: ScanBounds::default(),
    };
    let seen = look(&ground, Timestamp(0), &Before::picture(None), &|_| None);
    assert!(!seen.coverage.gaps.is_empty());
    assert_eq!(seen.changes, []);
}

#[test]
fn what_stands_at_a_predicted_place() {
    let workspace = Workspace::new();
    let since = settled();
    workspace.write("new", "");
    let at = |relative: &str| standing(&workspace.root.join(relative), since);
    assert_eq!(at("new"), PathState::Changed);
    assert_eq!(at("notes.md"), PathState::Unchanged);
    assert_eq!(at("gone"), PathState::Missing);
    assert_eq!(at("notes.md/below"), PathState::Missing);
}
