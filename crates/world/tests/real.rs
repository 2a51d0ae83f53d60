//! The real world, asked about real directories and repositories made by the real git.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use checkrein_facts::{Committed, Entry, FileText, History, Listing, VersionState, World};
use checkrein_protocol::{AbsolutePath, Timestamp};
use checkrein_world::{RealWorld, WorldInputs, find_workspace};
use tempfile::TempDir;

/// A directory that is thrown away, with a home and a repository in it.
struct Ground {
    directory: TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(ground.path("home").as_str()).unwrap();
        fs::create_dir_all(ground.path("proj").as_str()).unwrap();
        ground
    }

    fn path(&self, name: &str) -> AbsolutePath {
        let top = fs::canonicalize(self.directory.path()).unwrap();
        AbsolutePath::new(top.to_str().unwrap()).unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap().as_str()).unwrap();
        fs::write(path.as_str(), text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        self.git_in("proj", words);
    }

    fn git_in(&self, directory: &str, words: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always"])
            .args(words)
            .current_dir(self.path(directory).as_str())
            .env("HOME", self.path("home").as_str())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn world(&self) -> RealWorld {
        RealWorld::new(WorldInputs {
            home: self.path("home"),
            user: None,
            workspace: self.path("proj"),
            temporary: Vec::new(),
            guarded: Vec::new(),
            expected: Vec::new(),
            variables: BTreeMap::from([
                ("GREETING".to_owned(), "hello".to_owned()),
                ("EMPTY".to_owned(), String::new()),
            ])
            .into(),
            history: History::default(),
            now: Timestamp(7),
            confiner: || None,
            masker: || None,
            tool_output: checkrein_protocol::ToolOutput::Shown,
        })
    }

    fn state(&self, name: &str) -> VersionState {
        self.world().version(&self.path(name))
    }
}

/// A repository with one file of each sort.
fn usual() -> Ground {
    let ground = Ground::new();
    ground.git(&["init", "-q", "-b", "trunk"]);
    ground.write("proj/.gitignore", "*.log\n/target/\n!kept.log\n");
    ground.write("proj/src/clean.rs", "clean");
    ground.write("proj/src2/changed.rs", "before");
    ground.write("proj/kept.log", "kept");
    ground.write("proj/target/inside", "generated");
    ground.write("proj/trace.log", "log");
    ground.git(&["add", "."]);
    ground.git(&["commit", "-q", "-m", "one"]);
    ground.write("proj/src2/changed.rs", "after!");
    ground.write("proj/new.txt", "new");
    ground
}

#[test]
fn files_have_their_states() {
    let ground = usual();
    for (name, state) in [
        ("proj/src/clean.rs", VersionState::TrackedClean),
        ("proj/kept.log", VersionState::TrackedClean),
        ("proj/src2/changed.rs", VersionState::TrackedModified),
        ("proj/trace.log", VersionState::Ignored),
        ("proj/target/inside", VersionState::Ignored),
        ("proj/new.txt", VersionState::Untracked),
        ("proj/none.txt", VersionState::Missing),
        ("home", VersionState::NoRepository),
    ] {
        assert_eq!(ground.state(name), state, "{name}");
    }
}

#[test]
fn directories_have_the_state_of_their_worst_file() {
    let ground = usual();
    fs::create_dir(ground.path("proj/empty").as_str()).unwrap();
    for (name, state) in [
        ("proj/src", VersionState::TrackedClean),
        ("proj/src2", VersionState::TrackedModified),
        ("proj/target", VersionState::Ignored),
        ("proj/empty", VersionState::Missing),
        ("proj", VersionState::Untracked),
    ] {
        assert_eq!(ground.state(name), state, "{name}");
    }
}

#[test]
fn the_same_content_under_another_time_is_clean() {
    let ground = usual();
    ground.write("proj/src/clean.rs", "clean");
    assert_eq!(ground.state("proj/src/clean.rs"), VersionState::TrackedClean);
    ground.write("proj/src/clean.rs", "CLEAN");
    assert_eq!(
        ground.state("proj/src/clean.rs"),
        VersionState::TrackedModified,
        "same length, other content"
    );
}

#[test]
fn a_change_that_keeps_the_time_is_seen() {
    let ground = usual();
    let path = ground.path("proj/src/clean.rs");
    let before = fs::metadata(path.as_str()).unwrap().modified().unwrap();
    // Wait for another second of the time of status change, which nobody can set back.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    fs::write(path.as_str(), "CLEAN").unwrap();
    fs::File::options().write(true).open(path.as_str()).unwrap().set_modified(before).unwrap();
    assert_eq!(ground.state("proj/src/clean.rs"), VersionState::TrackedModified);
}

#[test]
fn announced_and_conflicting_files_are_not_saved() {
    let ground = usual();
    ground.git(&["add", "-N", "new.txt"]);
    assert_eq!(ground.state("proj/new.txt"), VersionState::TrackedModified);
    ground.git(&["add", "new.txt"]);
    assert_eq!(ground.state("proj/new.txt"), VersionState::TrackedClean, "staged content is kept");
    ground.git(&["commit", "-q", "-a", "-m", "two"]);
    ground.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    ground.write("proj/new.txt", "theirs");
    ground.git(&["add", "new.txt"]);
    ground.git(&["commit", "-q", "-m", "three"]);
    let merge = Command::new("git")
        .args(["merge", "-q", "trunk"])
        .current_dir(ground.path("proj").as_str())
        .output()
        .unwrap();
    assert!(!merge.status.success(), "the merge must conflict");
    assert_eq!(ground.state("proj/new.txt"), VersionState::TrackedModified);
}

#[test]
fn all_versions_of_the_index_are_read() {
    for version in ["2", "3", "4"] {
        let ground = usual();
        ground.write("proj/src/announced", "x");
        ground.git(&["add", "-N", "src/announced"]);
        ground.git(&["update-index", "--index-version", version]);
        assert_eq!(ground.state("proj/src/clean.rs"), VersionState::TrackedClean, "version {version}");
        assert_eq!(ground.state("proj/src2/changed.rs"), VersionState::TrackedModified, "version {version}");
        assert_eq!(ground.state("proj/src/announced"), VersionState::TrackedModified, "version {version}");
    }
}

#[test]
fn what_the_index_does_not_tell_is_not_guessed() {
    let ground = usual();
    ground.git(&["update-index", "--split-index"]);
    assert_eq!(ground.state("proj/src/clean.rs"), VersionState::Unknown);
    fs::write(ground.path("proj/.git/index").as_str(), "DIRC damaged").unwrap();
    assert_eq!(ground.state("proj/src/clean.rs"), VersionState::Unknown);
    fs::remove_file(ground.path("proj/.git/index").as_str()).unwrap();
    assert_eq!(ground.state("proj/src/clean.rs"), VersionState::Untracked);
}

#[test]
fn repositories_with_long_object_names_are_read() {
    let ground = Ground::new();
    ground.git(&["init", "-q", "--object-format=sha256"]);
    ground.write("proj/a", "a");
    ground.git(&["add", "a"]);
    assert_eq!(ground.state("proj/a"), VersionState::TrackedClean);
}

#[test]
fn ignore_rules_come_from_all_their_places() {
    let ground = usual();
    ground.write("home/.config/git/ignore", "*.swp\n");
    ground.write("proj/.git/info/exclude", "private/\n");
    ground.write("proj/deep/.gitignore", "!special.log\n/only\n");
    for (name, state) in [
        ("proj/x.swp", VersionState::Ignored),
        ("proj/private/notes", VersionState::Ignored),
        ("proj/deep/special.log", VersionState::Untracked),
        ("proj/deep/other.log", VersionState::Ignored),
        ("proj/deep/only", VersionState::Ignored),
        ("proj/deep/down/only", VersionState::Untracked),
    ] {
        ground.write(name, "x");
        assert_eq!(ground.state(name), state, "{name}");
        let output = Command::new("git")
            .args(["check-ignore", "-q", ground.path(name).as_str()])
            .current_dir(ground.path("proj").as_str())
            .env("HOME", ground.path("home").as_str())
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap();
        assert_eq!(output.status.success(), state == VersionState::Ignored, "git about {name}");
    }
    ground.write("home/.gitconfig", "[core]\n\texcludesFile = ~/mine\n");
    ground.write("home/mine", "*.own\n");
    ground.write("proj/x.own", "x");
    assert_eq!(ground.state("proj/x.own"), VersionState::Ignored);
}

#[test]
fn repositories_are_found_upward() {
    let ground = usual();
    ground.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    ground.write("proj/deep/down/x", "x");
    let world = ground.world();
    let found = world.repository(&ground.path("proj/deep/down/x")).unwrap();
    assert_eq!((found.root, found.branch.as_deref()), (ground.path("proj"), Some("trunk")));
    let linked = world.repository(&ground.path("linked/src")).unwrap();
    assert_eq!((linked.root, linked.branch.as_deref()), (ground.path("linked"), Some("side")));
    assert_eq!(world.version(&ground.path("linked/src/clean.rs")), VersionState::TrackedClean);
    assert_eq!(world.repository(&ground.path("home")), None);
    assert_eq!(find_workspace(&ground.path("proj/deep/down")), ground.path("proj"));
    assert_eq!(find_workspace(&ground.path("home")), ground.path("home"));
}

#[test]
fn a_repository_inside_another_answers_for_itself() {
    let ground = usual();
    fs::create_dir(ground.path("proj/inner").as_str()).unwrap();
    ground.git_in("proj/inner", &["init", "-q"]);
    ground.write("proj/inner/a", "a");
    ground.git_in("proj/inner", &["add", "a"]);
    assert_eq!(ground.state("proj/inner/a"), VersionState::TrackedClean);
    assert_eq!(ground.state("proj/inner"), VersionState::TrackedClean);
}

#[test]
fn entries_are_told_apart() {
    let ground = Ground::new();
    ground.write("proj/file", "four");
    symlink("nowhere", ground.path("proj/link").as_str()).unwrap();
    symlink("loop", ground.path("proj/loop").as_str()).unwrap();
    Command::new("mkfifo").arg(ground.path("proj/pipe").as_str()).status().unwrap();
    let world = ground.world();
    let entry = |name: &str| world.entry(&ground.path(name));
    assert!(
        matches!(entry("proj/file"), Entry::File(facts) if facts.bytes == 4 && facts.modified > Timestamp(0))
    );
    assert_eq!(entry("proj"), Entry::Directory);
    assert_eq!(entry("proj/link"), Entry::Symlink("nowhere".to_owned()));
    assert_eq!(entry("proj/loop"), Entry::Symlink("loop".to_owned()));
    assert_eq!(entry("proj/pipe"), Entry::Special);
    assert_eq!(entry("proj/none"), Entry::Missing);
    assert_eq!(entry("proj/file/below"), Entry::Missing);
    assert_eq!(world.variable("GREETING").as_deref(), Some("hello"));
    assert_eq!(world.variable("HOME"), None);
    assert_eq!(world.variable_names(), ["GREETING"], "what is set to nothing holds nothing");
}

#[test]
fn listings_are_whole_or_unknown() {
    let ground = Ground::new();
    ground.write("proj/b", "");
    ground.write("proj/.a", "");
    let world = ground.world();
    assert_eq!(world.children(&ground.path("proj")), Listing::Names(vec![".a".to_owned(), "b".to_owned()]));
    assert_eq!(world.children(&ground.path("proj/b")), Listing::Unknown);
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    fs::write(fs::canonicalize(ground.directory.path()).unwrap().join("proj").join(odd), "x").unwrap();
    assert_eq!(world.children(&ground.path("proj")), Listing::Unknown);
    for number in 0..=Listing::LIMIT {
        ground.write(&format!("home/many/{number}"), "");
    }
    assert_eq!(world.children(&ground.path("home/many")), Listing::Unknown);
}

#[test]
fn texts_are_whole_or_unknown() {
    let ground = Ground::new();
    ground.write("proj/text", "grüezi");
    ground.write("proj/large", &"x".repeat(FileText::LIMIT + 1));
    fs::write(ground.path("proj/binary").as_str(), b"\x7fELF\0\xff").unwrap();
    Command::new("mkfifo").arg(ground.path("proj/pipe").as_str()).status().unwrap();
    let world = ground.world();
    assert_eq!(world.text(&ground.path("proj/text")), FileText::Whole("grüezi".to_owned()));
    for name in ["proj/large", "proj/binary", "proj/pipe", "proj", "proj/none"] {
        assert_eq!(world.text(&ground.path(name)), FileText::Unknown, "{name}");
    }
    assert_eq!(world.text(&AbsolutePath::new("/proc/self/status").unwrap()), FileText::Unknown);
}

#[test]
fn code_is_read_further_than_text() {
    let ground = Ground::new();
    let large = "x".repeat(FileText::LIMIT + 1);
    ground.write("proj/large", &large);
    ground.write("proj/packed", "exit\n\0");
    ground.write("proj/binary", "\u{7f}ELF\0\n");
    ground.write("proj/endless", &"true\n".repeat(FileText::CODE_LIMIT / 4));
    let world = ground.world();
    assert_eq!(world.code(&ground.path("proj/large")), FileText::Whole(large));
    assert_eq!(world.code(&ground.path("proj/packed")), FileText::Whole("exit\n\0".to_owned()));
    assert_eq!(world.code(&ground.path("proj/binary")), FileText::Unknown);
    let FileText::Beginning(text) = world.code(&ground.path("proj/endless")) else { panic!() };
    assert_eq!(text.len(), FileText::LIMIT);
    for name in ["proj/packed", "proj/endless"] {
        assert_eq!(world.text(&ground.path(name)), FileText::Unknown, "{name}");
    }
}

#[test]
fn a_huge_directory_is_not_walked_to_the_end() {
    let ground = usual();
    ground.git(&["add", "."]);
    for number in 0..3_000 {
        ground.write(&format!("proj/many/{}/{number}", number % 50), "x");
    }
    ground.git(&["add", "."]);
    assert_eq!(ground.state("proj/many"), VersionState::Unknown);
    assert_eq!(ground.state("proj/many/1"), VersionState::TrackedClean);
}

#[test]
fn questions_come_to_an_end() {
    let ground = Ground::new();
    let world = ground.world();
    let unknown = (0..20_000)
        .filter(|number| world.entry(&ground.path(&format!("x{number}"))) == Entry::Unknown)
        .count();
    assert!(unknown > 0, "a budget must end");
    assert_eq!(world.version(&ground.path("proj")), VersionState::Unknown);
}

#[test]
fn what_git_reads_in_the_place_of_a_commit_is_read() {
    let ground = usual();
    ground.git(&["checkout", "-q", "-b", "other"]);
    ground.write("proj/brought.txt", "brought");
    ground.git(&["add", "brought.txt"]);
    ground.git(&["commit", "-q", "-m", "two"]);
    ground.git(&["checkout", "-q", "trunk"]);
    let held = || ground.world().committed(&ground.path("proj"), "HEAD", "brought.txt");
    assert_eq!(held(), Committed::Nothing);
    ground.git(&["replace", "trunk", "other"]);
    assert!(matches!(held(), Committed::Object(_)), "{:?}", held());
    ground.git(&["pack-refs", "--all", "--prune"]);
    assert!(matches!(held(), Committed::Object(_)), "{:?}", held());
    ground.git(&["replace", "-d", "trunk"]);
    assert_eq!(held(), Committed::Nothing);
}
