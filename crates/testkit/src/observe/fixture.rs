//! The files that stand where a use runs: a home directory with a project, as `docs/catalogue.md` describes it, and what uses need besides.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use checkrein_protocol::AbsolutePath;

use crate::world::{HOME, PROJECT};

/// The home directory of a use, in its place.
const HOME_FOLDER: &str = "home";

/// The project, in the home directory.
const PROJECT_FOLDER: &str = "proj";

/// Where a use runs.
#[derive(Debug, Clone)]
pub struct UsePlace {
    /// The folder of the use: its home directory, and beside it what was told of it.
    pub folder: PathBuf,
    /// The home directory.
    pub home: AbsolutePath,
    /// The project, which is where it starts.
    pub project: AbsolutePath,
}

impl UsePlace {
    /// The place in a folder.
    pub fn new(folder: &Path) -> Self {
        let home = AbsolutePath::root().join(&folder.to_string_lossy()).join(HOME_FOLDER);
        Self { folder: folder.to_owned(), project: home.join(PROJECT_FOLDER), home }
    }

    /// A command that names the places of the catalogue, naming these.
    pub fn moved_here(&self, text: &str) -> String {
        text.replace(PROJECT, self.project.as_str()).replace(HOME, self.home.as_str())
    }

    /// Where temporary files are.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }
}

/// Files, and what they hold; in the home directory.
const FILES: &[(&str, &str, u32)] = &[
    (".bashrc", "x=1\n", 0o644),
    (".ssh/id_rsa", "a private key\n", 0o600),
    (".netrc", "machine example.org login dev password hush\n", 0o600),
    ("other.txt", "outside\n", 0o644),
    ("proj/README.md", "hello\n", 0o644),
    ("proj/data.json", "{}\n", 0o644),
    ("proj/script.sh", "rm notes.txt\n", 0o755),
    ("proj/script.py", "print(1)\n", 0o644),
    ("proj/src/main.py", "print(2)\n", 0o644),
    ("proj/src/app.py", "print(3)\n", 0o644),
    ("proj/.gitignore", "build/\n", 0o644),
];

/// The same, made after the commit.
const UNTRACKED: &[(&str, &str, u32)] = &[
    ("proj/notes.txt", "remember\n", 0o644),
    ("proj/build/out.o", "\u{1}\u{2}", 0o644),
    ("proj/a.txt", "one\ntwo\nthree\n", 0o644),
    ("proj/b.txt", "two\nfour\n", 0o600),
    ("proj/src/c.txt", "in src\n", 0o644),
];

/// Links, and what they lead to.
const LINKS: &[(&str, &str)] =
    &[("proj/link", "a.txt"), ("proj/dirlink", "src"), ("proj/dangling", "nowhere")];

/// What makes the rest with real programs, as far as they are here.
const MADE: &str = "git init -q -b main && git add -A && git -c user.name=dev -c user.email=dev@example.org commit -qm first && rm -rf .git/hooks/*.sample
git config user.name dev; git config user.email dev@example.org
mkdir -p empty; echo pack >p1; echo pack >p2
tar czf archive.tar.gz p1 p2; zip -q archive.zip p1 p2; rm -f p1 p2
for pack in gzip,gz bzip2,bz2 xz,xz zstd,zst lzma,lzma lz4,lz4; do cp .gitignore packed; ${pack%,*} -q packed; done; rm -f packed
for archive in archive.tar.gz archive.zip; do test -e $archive || : >$archive; done";

/// What stands at one place of the fixture.
#[derive(Debug, Clone)]
enum Piece {
    Folder,
    Text(Vec<u8>),
    Link(PathBuf),
}

/// The fixture, kept in memory, so that a place is made in a moment.
#[derive(Debug, Clone)]
pub struct HomeFixture {
    /// Everything below the home directory, folders before what is in them.
    pieces: Vec<(PathBuf, Piece, u32)>,
    /// When all of it was changed last.
    changed: SystemTime,
}

impl HomeFixture {
    /// Makes the fixture once, in an empty folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let home = folder.join(HOME_FOLDER);
        for folder in ["proj/src", "proj/build", ".ssh"] {
            fs::create_dir_all(home.join(folder))?;
        }
        let write = |files: &[(&str, &str, u32)]| -> io::Result<()> {
            for (name, text, mode) in files {
                fs::write(home.join(name), text)?;
                fs::set_permissions(home.join(name), Permissions::from_mode(*mode))?;
            }
            Ok(())
        };
        write(FILES)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", MADE]).current_dir(home.join(PROJECT_FOLDER)).env("HOME", &home);
        shell
            .env_remove("GIT_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        write(UNTRACKED)?;
        for (name, target) in LINKS {
            symlink(target, home.join(name))?;
        }
        let mut pieces = Vec::new();
        gather(&home, Path::new(""), &mut pieces)?;
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        Ok(Self { pieces, changed })
    }

    /// Makes it in a folder, for a user.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self, folder: &Path, user: u32) -> io::Result<UsePlace> {
        let place = UsePlace::new(folder);
        fs::create_dir_all(place.temporary())?;
        let home = folder.join(HOME_FOLDER);
        for folder in [folder, &place.temporary()] {
            lchown(folder, Some(user), Some(user))?;
        }
        for (name, piece, mode) in &self.pieces {
            let path = home.join(name);
            match piece {
                Piece::Folder => fs::create_dir(&path)?,
                Piece::Text(bytes) => fs::write(&path, bytes)?,
                Piece::Link(target) => symlink(target, &path)?,
            }
            lchown(&path, Some(user), Some(user))?;
            if !matches!(piece, Piece::Link(_)) {
                fs::set_permissions(&path, Permissions::from_mode(*mode))?;
            }
            if matches!(piece, Piece::Text(_)) {
                File::open(&path)?.set_times(FileTimes::new().set_modified(self.changed))?;
            }
        }
        Ok(place)
    }
}

fn gather(root: &Path, name: &Path, pieces: &mut Vec<(PathBuf, Piece, u32)>) -> io::Result<()> {
    let path = root.join(name);
    let facts = fs::symlink_metadata(&path)?;
    let mode = facts.permissions().mode() & 0o7777;
    if facts.is_symlink() {
        pieces.push((name.to_owned(), Piece::Link(fs::read_link(&path)?), mode));
    } else if facts.is_dir() {
        pieces.push((name.to_owned(), Piece::Folder, mode));
        for entry in fs::read_dir(&path)? {
            gather(root, &name.join(entry?.file_name()), pieces)?;
        }
    } else {
        pieces.push((name.to_owned(), Piece::Text(fs::read(&path)?), mode));
    }
    Ok(())
}
