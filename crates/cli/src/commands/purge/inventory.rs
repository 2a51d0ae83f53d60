//! What of a folder is ours to delete: known entries by name, and only where nothing of somebody else can be in them.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::is_canary;
use checkrein_ledger::FolderName;
use rustix::fs::{Mode, OFlags};

/// What Checkrein writes into its state directory, by name. The last two prove whose folder it is, so they go last: who is killed meanwhile
/// leaves a folder that the same command finishes.
const STATE: [&str; 44] = [
    "agents",
    "allowed",
    "approvals",
    "authentications.jsonl",
    CANARIES,
    "changes",
    "configuration.json",
    "contents",
    "coverage",
    "diagnostics.log",
    "engine",
    "events",
    "fallen-told.json",
    "halts",
    "incidents",
    "index.db",
    "index.db-shm",
    "index.db-wal",
    "lessons",
    "mcp",
    "installed.json",
    "installed.lock",
    "notices",
    "pipelines",
    "pipelines.jsonl",
    "plugins",
    "providers",
    "removed",
    "retention.going",
    "retention.jsonl",
    "retention.lock",
    "retention.looked",
    "routes",
    "runs",
    "sealed-with",
    "server",
    "sessions",
    "snapshots",
    "team-policy.json",
    "tiers",
    "trusted.json",
    "worktrees",
    "heads",
    "mask.key",
];

/// The entries of which one at least proves that a folder is a state directory: other programs have a `sessions` too.
const MARKS: [&str; 3] = ["heads", "installed.json", "mask.key"];

/// Whether the copy of a confirmed configuration is there, which the first event of a session writes: its name is one of many programs, what
/// stands in it is not.
fn holds_confirmed(root: &Path) -> bool {
    let path = root.join("configuration.json");
    let text =
        is_file(&path).then(|| checkrein_files::read_text(&path, checkrein_files::SMALL).ok()).flatten();
    text.is_some_and(|text| {
        text.contains("checkrein-sealed:") || text.starts_with("{\"own\":") && text.contains("\"told\":")
    })
}

/// What the state directory of the canaries of `checkrein doctor` begins with.
const CANARIES: &str = "canary-";

/// What a session has in its folder.
const SESSION: [&str; 15] = [
    "children.jsonl",
    "interventions.json",
    "ledger.jsonl",
    "ledger.torn-*",
    "parent.json",
    "picture",
    "plugins.json",
    "plugins.lock",
    "room",
    "rules.json",
    "settings.json",
    "settings.replaced",
    "state",
    "state.twin",
    "stop.lock",
];

/// What the store of the snapshots of one workspace has in its folder.
const STORE: [&str; 14] = [
    "announced",
    "footprints",
    "index",
    "index.*",
    "lock",
    "names",
    "objects",
    "over",
    PACKS,
    "pins",
    "restore",
    "restored",
    "seen",
    "workspace",
];

/// The folder of a store in which every file is called by a number.
const PACKS: &str = "packs";

/// What is kept of a session outside.
const TESTIMONY: [&str; 2] = ["head", "kept"];

/// What the name of a session begins with while retention removes it.
const REMOVED: &str = ".removed-";

/// Why something stays that we do not know.
const UNKNOWN: &str = "Checkrein does not write anything of this name";

/// What of one folder goes, and what stays.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// What goes, in this order.
    pub(super) ours: Vec<Ours>,
    /// What stays, and why.
    pub(super) left: Vec<Left>,
}

/// An entry that goes, but for what in it is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ours {
    pub(super) path: PathBuf,
    /// What stays of it, with the folders that lead there.
    pub(super) spared: Vec<PathBuf>,
}

/// Something that is not deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) path: PathBuf,
    pub(super) why: String,
}

/// Why a folder is not a state directory of ours.
#[derive(Debug)]
pub(super) struct NotOurs(pub(super) String);

/// The places where other file systems are mounted, as the kernel lists them.
#[derive(Debug, Default)]
pub(super) struct Mounts(Vec<PathBuf>);

impl Mounts {
    /// Those of now. A system without such a list is asked by the device of each folder alone.
    pub(super) fn of_now() -> Self {
        let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
        Self(table.split(|byte| *byte == b'\n').filter_map(mount_point).collect())
    }

    fn is_one(&self, path: &Path) -> bool {
        self.0.iter().any(|mount| mount == path)
    }
}

/// The fifth field of a line, with `\040` and the like as the bytes that they stand for.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|text| std::str::from_utf8(text).ok());
        if let Some(byte) = digits.and_then(|text| u8::from_str_radix(text, 8).ok()) {
            bytes.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

impl Inventory {
    /// What of a state directory goes; nothing where there is none. An error where the folder is not proved to be ours.
    pub(super) fn of_state(root: &Path, mounts: &Mounts) -> Result<Self, NotOurs> {
        let Ok(facts) = fs::symlink_metadata(root) else { return Ok(Self::default()) };
        if let Some(why) = not_a_folder_of_ours(root, &facts, mounts) {
            return Err(NotOurs(why));
        }
        let is_marked = MARKS.iter().any(|name| is_file(&root.join(name))) || holds_confirmed(root);
        let entries = entries(root).map_err(|error| NotOurs(format!("it cannot be read: {error}")))?;
        if !is_marked {
            if entries.is_empty() {
                return Ok(Self::default());
            }
            return Err(NotOurs(format!(
                "it holds none of {}, which Checkrein writes first",
                MARKS.join(", ")
            )));
        }
        let mut inventory = Self::default();
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match known(&name) {
                Some(known) => inventory.take(path, Layout::of(known), mounts),
                None => inventory.left.push(Left { path, why: UNKNOWN.to_owned() }),
            }
        }
        let order = |ours: &Ours| {
            let name = ours.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            known(&name).and_then(|known| STATE.iter().position(|one| *one == known))
        };
        inventory.ours.sort_by_key(order);
        Ok(inventory)
    }

    /// What is kept outside of one state directory: the folders of its sessions.
    pub(super) fn of_testimony(folder: &Path, mounts: &Mounts) -> Self {
        let mut inventory = Self::default();
        if fs::symlink_metadata(folder).is_ok() {
            inventory.take(folder.to_owned(), Some(Layout::Testimony), mounts);
        }
        inventory
    }

    /// What the canaries of `checkrein doctor` left outside of their state directories: folders in which nothing else is. `beside` is the one
    /// that holds the folders of all state directories.
    pub(super) fn of_canaries(beside: &Path, own: &Path, mounts: &Mounts) -> Self {
        let mut inventory = Self::default();
        for folder in entries(beside).unwrap_or_default() {
            let sessions = entries(&folder).unwrap_or_default();
            let is_canary = |path: &PathBuf| is_canary(&name_of(path));
            if folder != own && !sessions.is_empty() && sessions.iter().all(is_canary) {
                inventory.take(folder, Some(Layout::Testimony), mounts);
            }
        }
        inventory
    }

    /// An entry of ours, unless something in it may belong to others.
    fn take(&mut self, path: PathBuf, layout: Option<Layout>, mounts: &Mounts) {
        if fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_symlink()) {
            return self.left.push(Left { path, why: "it is a link to another place".to_owned() });
        }
        match obstacle(&path, mounts) {
            None => {
                let spared = layout.map_or_else(Vec::new, |layout| layout.unknown_in(&path));
                let left = |path: &PathBuf| Left { path: path.clone(), why: UNKNOWN.to_owned() };
                self.left.extend(spared.iter().map(left));
                self.ours.push(Ours { path, spared });
            }
            Some(Left { path: place, why }) if place == path => self.left.push(Left { path, why }),
            Some(Left { path: place, why }) => {
                self.left.push(Left { path, why: format!("{}: {why}", place.display()) });
            }
        }
    }
}

/// A folder of ours in which each entry has a name that is known, so that what a user put there shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Sessions,
    Snapshots,
    Testimony,
}

impl Layout {
    /// What stands where every state directory has it under this name; `None` where no such thing is told.
    fn of(entry: &str) -> Option<Self> {
        match entry {
            "sessions" => Some(Self::Sessions),
            "snapshots" => Some(Self::Snapshots),
            _ => None,
        }
    }

    /// What one folder of this kind has in it: files and folders of these names.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Sessions => &SESSION,
            Self::Snapshots => &STORE,
            Self::Testimony => &TESTIMONY,
        }
    }

    /// Whether a folder can be one of this kind by its name.
    fn is_named(self, name: &str) -> bool {
        match self {
            Self::Sessions => {
                FolderName::on_disk(OsStr::new(name.strip_prefix(REMOVED).unwrap_or(name))).is_some()
            }
            Self::Testimony => FolderName::on_disk(OsStr::new(name)).is_some(),
            Self::Snapshots => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit()),
        }
    }

    /// What Checkrein did not write, in a folder that holds folders of this kind. A folder in which nothing is known counts as a whole.
    fn unknown_in(self, folder: &Path) -> Vec<PathBuf> {
        let mut unknown = Vec::new();
        for path in entries(folder).unwrap_or_default() {
            let inside = entries(&path).unwrap_or_default();
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
            let (known, others): (Vec<PathBuf>, Vec<PathBuf>) =
                inside.into_iter().partition(|path| is_of(self.names(), &name_of(path)));
            if !is_folder || !self.is_named(&name_of(&path)) || known.is_empty() && !others.is_empty() {
                unknown.push(path);
                continue;
            }
            unknown.extend(others);
            let packs = known.iter().filter(|path| self == Self::Snapshots && name_of(path) == PACKS);
            let is_number = |path: &PathBuf| name_of(path).bytes().all(|byte| byte.is_ascii_digit());
            let of_packs = packs.flat_map(|packs| entries(packs).unwrap_or_default());
            unknown.extend(of_packs.filter(|path| !is_number(path)));
        }
        unknown
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The entry of [`STATE`] that a name is, or was written aside for.
fn known(name: &str) -> Option<&'static str> {
    STATE.into_iter().find(|known| is_of(&[known], name)).or_else(|| {
        // A `doctor` that was killed leaves the state directory of its canaries.
        let process = name.strip_prefix(CANARIES)?;
        (!process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())).then_some(CANARIES)
    })
}

/// Whether a name is one of these, or that of a file which is written aside for one. A name that ends with `*` stands for all that begin so.
fn is_of(names: &[&str], name: &str) -> bool {
    let is_aside = |text: &str| {
        text.split_once('-').is_some_and(|(process, number)| {
            [process, number].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    names.iter().any(|known| {
        if let Some(beginning) = known.strip_suffix('*') {
            return name.strip_prefix('.').unwrap_or(name).starts_with(beginning);
        }
        let aside = name.strip_prefix('.').unwrap_or(name).strip_prefix(known);
        name == *known || aside.and_then(|rest| rest.strip_prefix('.')).is_some_and(is_aside)
    })
}

/// The first thing in an entry for which it stays; `None` where all of it is ours.
fn obstacle(path: &Path, mounts: &Mounts) -> Option<Left> {
    let mut waiting = vec![path.to_owned()];
    let device = path.parent().and_then(|folder| fs::metadata(folder).ok()).map(|facts| facts.dev());
    while let Some(path) = waiting.pop() {
        let left = |why: String| Some(Left { path: path.clone(), why });
        let facts = match fs::symlink_metadata(&path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return left(error.to_string()),
        };
        if facts.is_dir() {
            if device.is_some_and(|device| device != facts.dev()) || mounts.is_one(&path) {
                return left("another file system is mounted there".to_owned());
            }
            match entries(&path) {
                Ok(found) => waiting.extend(found),
                Err(error) => return left(format!("it cannot be read: {error}")),
            }
        } else if mounts.is_one(&path) {
            return left("another file system is mounted there".to_owned());
        }
        // A file of several names is somebody's file that a snapshot knows by a second one: taking that away takes nothing from its owner.
        let is_second_name = facts.is_file() && facts.nlink() > 1;
        if !is_second_name && facts.uid() != own_user() {
            return left("it belongs to another user".to_owned());
        }
    }
    None
}

fn not_a_folder_of_ours(path: &Path, facts: &Metadata, mounts: &Mounts) -> Option<String> {
    let why = if facts.is_symlink() {
        "it is a link to another place"
    } else if !facts.is_dir() {
        "it is not a folder"
    } else if mounts.is_one(path) {
        "another file system is mounted there"
    } else if facts.uid() != own_user() {
        "it belongs to another user"
    } else {
        return None;
    };
    Some(why.to_owned())
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

/// What stands in a folder, by name.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    found.sort();
    Ok(found)
}

/// Deletes one entry, but for what is spared in it. What runs left is read-only, so folders are opened up first; no link is followed, and no
/// file changes.
pub(super) fn delete(ours: &Ours) -> io::Result<()> {
    if ours.spared.is_empty() {
        return delete_whole(&ours.path);
    }
    let mut waiting = vec![ours.path.clone()];
    while let Some(folder) = waiting.pop() {
        for path in entries(&folder)? {
            if ours.spared.contains(&path) {
            } else if ours.spared.iter().any(|spared| spared.starts_with(&path)) {
                waiting.push(path);
            } else {
                delete_whole(&path)?;
            }
        }
    }
    Ok(())
}

fn delete_whole(path: &Path) -> io::Result<()> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        facts => facts?,
    };
    if !facts.is_dir() {
        return fs::remove_file(path);
    }
    let mut waiting = vec![path.to_owned()];
    while let Some(folder) = waiting.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&folder, flags, Mode::empty())?;
        rustix::fs::fchmod(&opened, Mode::RWXU)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ours_are_known_also_while_they_are_written() {
        assert_eq!(known("sessions"), Some("sessions"));
        assert_eq!(known(".trusted.json.4711-0"), Some("trusted.json"));
        assert_eq!(known("mask.key.4711-12"), Some("mask.key"));
        for other in ["sessions.old", "mask.key.bak", "notes", ".trusted.json", "heads.1-", "sessions-1"] {
            assert_eq!(known(other), None, "{other}");
        }
    }

    #[test]
    fn mount_points_are_read_as_the_kernel_writes_them() {
        let line = br"36 35 98:0 / /mnt/a\040b\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_point(line), Some(PathBuf::from(r"/mnt/a b\c")));
        assert_eq!(mount_point(b""), None);
        assert!(Mounts::of_now().is_one(Path::new("/")) || cfg!(not(target_os = "linux")));
    }

    #[test]
    fn a_mount_point_inside_keeps_the_entry_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkrein");
        fs::create_dir_all(root.join("snapshots/one/objects")).unwrap();
        fs::create_dir_all(root.join("sessions/one")).unwrap();
        fs::write(root.join("mask.key"), "key").unwrap();
        let mounts = Mounts(vec![root.join("snapshots/one/objects")]);
        let inventory = Inventory::of_state(&root, &mounts).unwrap();
        let ours: Vec<PathBuf> = inventory.ours.into_iter().map(|ours| ours.path).collect();
        assert_eq!(ours, [root.join("sessions"), root.join("mask.key")]);
        assert_eq!(inventory.left.len(), 1);
        assert_eq!(inventory.left[0].path, root.join("snapshots"));
        assert!(inventory.left[0].why.contains("another file system"), "{:?}", inventory.left);
        assert!(Inventory::of_state(&root, &Mounts(vec![root.clone()])).is_err());
    }

    #[test]
    fn a_copy_of_the_configuration_proves_a_folder_by_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkrein");
        fs::create_dir_all(root.join("sessions/one")).unwrap();
        for (text, is_ours) in [
            ("own:checkrein-sealed:c5637201", true),
            ("checkrein-sealed:c5637201", true),
            ("{\"own\":{},\"told\":null}", true),
            ("{\"theme\":\"dark\"}", false),
        ] {
            fs::write(root.join("configuration.json"), text).unwrap();
            assert_eq!(Inventory::of_state(&root, &Mounts(Vec::new())).is_ok(), is_ours, "{text}");
        }
    }
}
