//! Commits and directories of a git repository, loose and in packs, read only and within bounds.

use std::cell::RefCell;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use checkrein_facts::{Committed, Repository};
use checkrein_protocol::AbsolutePath;

use crate::budget::Budget;
use crate::inflate;
use crate::repository::{object_name_length, repository_at, shared_directory, small_text};

/// The greatest length of an object that is read, in bytes (ours): a directory of about 20,000 files.
const OBJECT: usize = 1024 * 1024;
/// How many objects one may be told as a difference of (git itself: 50).
const DIFFERENCES: usize = 64;
/// The greatest number of packs that are looked into (ours).
const PACKS: usize = 64;
/// How often a replacement is replaced again, as git has it.
const REPLACED: usize = 5;
/// How many parts of a path are entered (ours).
const PARTS: usize = 32;

/// The name of an object, in hexadecimal digits.
pub(crate) type Name = String;

/// The objects of a repository.
pub(crate) struct Objects<'b> {
    /// The directory of the work tree's own data: `HEAD`, the index.
    pub(crate) directory: AbsolutePath,
    /// The directory that linked work trees share: references, objects.
    pub(crate) shared: AbsolutePath,
    stores: Vec<AbsolutePath>,
    pub(crate) bytes: usize,
    /// Whether some objects stand for others.
    has_replacements: bool,
    pub(crate) budget: &'b Budget,
    /// The symbolic links that a comparison found to come.
    pub(crate) links: RefCell<Vec<(String, Name)>>,
}

impl<'b> Objects<'b> {
    /// The objects of the repository whose work tree, or whose own data, is at a directory.
    pub(crate) fn open(directory: &AbsolutePath, budget: &'b Budget) -> Option<Self> {
        budget.question().ok()?;
        let repository = repository_at(directory).or_else(|| {
            let is_bare = fs::symlink_metadata(directory.join("objects").as_str()).is_ok()
                && fs::symlink_metadata(directory.join("HEAD").as_str()).is_ok();
            let linked = fs::symlink_metadata(directory.join("commondir").as_str()).is_ok();
            (is_bare || linked).then(|| Repository {
                root: directory.clone(),
                directory: directory.clone(),
                branch: None,
            })
        })?;
        let shared = shared_directory(&repository);
        let own = shared.join("objects");
        let others = small_text(Path::new(own.join("info/alternates").as_str())).unwrap_or_default();
        let mut stores = vec![own.clone()];
        stores.extend(others.lines().filter(|line| !line.is_empty()).take(8).map(|line| own.join(line)));
        let bytes = object_name_length(&shared);
        let is_packed = || {
            // A long list is looked into when an object is asked for.
            let list = shared.join("packed-refs");
            small_text(Path::new(list.as_str())).map_or_else(
                || fs::symlink_metadata(list.as_str()).is_ok(),
                |text| text.contains(" refs/replace/"),
            )
        };
        let has_replacements =
            fs::symlink_metadata(shared.join("refs/replace").as_str()).is_ok() || is_packed();
        let links = RefCell::default();
        Some(Self { directory: repository.directory, shared, stores, bytes, has_replacements, budget, links })
    }

    /// What a commit holds at a path below its root.
    pub(crate) fn at(&self, commit: &str, path: &str) -> Committed {
        self.find(commit, path).unwrap_or(Committed::Unknown)
    }

    fn find(&self, commit: &str, path: &str) -> Option<Committed> {
        let mut name = self.tree_of(commit)?;
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        for _ in 0..PARTS {
            let Some(part) = parts.next() else { return Some(Committed::Object(name)) };
            match self.entry(&name, part)? {
                Held::Nothing => return Some(Committed::Nothing),
                Held::Tree(found) if parts.peek().is_some() => name = found,
                // A file or a link where a directory would have to be stands in its place.
                Held::Tree(found) | Held::Other(found) => return Some(Committed::Object(found)),
            }
        }
        None
    }

    pub(crate) fn tree_of(&self, commit: &str) -> Option<Name> {
        match self.read(commit)? {
            ("commit", text) => header(&text, "tree"),
            ("tree", _) => Some(commit.to_owned()),
            _ => None,
        }
    }

    /// The parents of a commit.
    pub(crate) fn parents(&self, commit: &str) -> Option<Vec<Name>> {
        let ("commit", text) = self.read(commit)? else { return None };
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = text.lines().take_while(|line| !line.is_empty());
        Some(lines.filter_map(|line| line.strip_prefix("parent ").map(str::to_owned)).collect())
    }

    /// What an annotated tag names; anything else is itself.
    pub(crate) fn peeled(&self, name: &str) -> Option<Name> {
        let mut name = name.to_owned();
        for _ in 0..8 {
            match self.read(&name)? {
                ("tag", text) => name = header(&text, "object")?,
                _ => return Some(name),
            }
        }
        None
    }

    /// What a directory holds under a name; `None` when it cannot be read.
    fn entry(&self, tree: &str, part: &str) -> Option<Held> {
        let ("tree", data) = self.read(tree)? else { return None };
        let mut rest = data.as_slice();
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (mode, name) = (rest.get(..space)?, rest.get(space + 1..end)?);
            let object = rest.get(end + 1..end + 1 + self.bytes)?;
            if name == part.as_bytes() {
                let object = hexadecimal(object);
                return Some(if mode == b"40000" { Held::Tree(object) } else { Held::Other(object) });
            }
            rest = rest.get(end + 1 + self.bytes..)?;
        }
        Some(Held::Nothing)
    }

    /// The kind and content of an object.
    pub(crate) fn read(&self, name: &str) -> Option<(&'static str, Vec<u8>)> {
        match self.replacement(name) {
            Some(other) => self.read_within(&other, DIFFERENCES),
            None => self.read_within(name, DIFFERENCES),
        }
    }

    /// The object that git reads in the place of another one (git-replace(1)).
    fn replacement(&self, name: &str) -> Option<Name> {
        let mut found: Option<Name> = None;
        for _ in 0..REPLACED {
            if !self.has_replacements {
                break;
            }
            let Some(next) = self.value(&format!("refs/replace/{}", found.as_deref().unwrap_or(name))) else {
                break;
            };
            found = Some(next);
        }
        found
    }

    fn read_within(&self, name: &str, left: usize) -> Option<(&'static str, Vec<u8>)> {
        if name.len() != self.bytes * 2 {
            return None;
        }
        self.stores
            .iter()
            .find_map(|store| self.loose(store, name).or_else(|| self.packed(store, name, left)))
    }

    fn loose(&self, store: &AbsolutePath, name: &str) -> Option<(&'static str, Vec<u8>)> {
        self.budget.question().ok()?;
        let (folder, rest) = name.split_at_checked(2)?;
        let file = File::open(store.join(folder).join(rest).as_str()).ok()?;
        let limit = u64::try_from(OBJECT).ok()?;
        let facts = file.metadata().ok().filter(|facts| facts.is_file() && facts.len() <= limit)?;
        self.budget.bytes(facts.len()).ok()?;
        let mut packed = Vec::new();
        file.take(limit).read_to_end(&mut packed).ok()?;
        let whole = inflate::zlib(&packed, OBJECT)?;
        let end = whole.iter().position(|byte| *byte == 0)?;
        let header = std::str::from_utf8(whole.get(..end)?).ok()?;
        let kind = kind_of(header.split(' ').next()?)?;
        Some((kind, whole.get(end + 1..)?.to_vec()))
    }

    fn packed(&self, store: &AbsolutePath, name: &str, left: usize) -> Option<(&'static str, Vec<u8>)> {
        let packs = fs::read_dir(store.join("pack").as_str()).ok()?;
        let lists = packs.filter_map(|pack| pack.ok()?.file_name().into_string().ok());
        let wanted = bytes_of(name)?;
        for list in lists.filter(|name| name.ends_with(".idx")).take(PACKS) {
            self.budget.question().ok()?;
            let place = store.join("pack").join(&list);
            let Ok(index) = File::open(place.as_str()) else { continue };
            if let Some(offset) = offset_in(&index, &wanted, self.bytes) {
                let pack = File::open(place.as_str().replace(".idx", ".pack")).ok()?;
                return self.unpacked(&pack, offset, left);
            }
        }
        None
    }

    /// The object at a place in a pack.
    fn unpacked(&self, pack: &File, offset: u64, left: usize) -> Option<(&'static str, Vec<u8>)> {
        let left = left.checked_sub(1)?;
        self.budget.question().ok()?;
        let mut start = [0_u8; 64];
        let read = pack.read_at(&mut start, offset).ok()?;
        let start = start.get(..read)?;
        let first = *start.first()?;
        let mut size = usize::from(first & 0x0f);
        let (mut at, mut shift, mut more) = (1, 4, first & 0x80 != 0);
        while more {
            let byte = *start.get(at)?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            (at, shift, more) = (at + 1, shift + 7, byte & 0x80 != 0);
        }
        let base = match (first >> 4) & 7 {
            6 => {
                let mut byte = *start.get(at)?;
                let mut back = u64::from(byte & 0x7f);
                at += 1;
                while byte & 0x80 != 0 {
                    byte = *start.get(at)?;
                    back = (back.checked_add(1)?.checked_mul(128)?) | u64::from(byte & 0x7f);
                    at += 1;
                }
                Some(self.unpacked(pack, offset.checked_sub(back)?, left)?)
            }
            7 => {
                let name = hexadecimal(start.get(at..at + self.bytes)?);
                at += self.bytes;
                Some(self.read_within(&name, left)?)
            }
            _ => None,
        };
        if size > OBJECT {
            return None;
        }
        // What cannot be packed any smaller grows a little.
        let mut packed = vec![0_u8; size + size / 1000 + 256];
        self.budget.bytes(u64::try_from(packed.len()).ok()?).ok()?;
        let read = pack.read_at(&mut packed, offset + u64::try_from(at).ok()?).ok()?;
        let data = inflate::zlib(packed.get(..read)?, size)?;
        match (base, (first >> 4) & 7) {
            (Some((kind, base)), _) => Some((kind, patched(&base, &data)?)),
            (None, 1) => Some(("commit", data)),
            (None, 2) => Some(("tree", data)),
            (None, 3) => Some(("blob", data)),
            (None, 4) => Some(("tag", data)),
            (None, _) => None,
        }
    }

    /// The whole names of the objects that begin so, at most two.
    pub(crate) fn beginning(&self, start: &str) -> Vec<Name> {
        let mut found = Vec::new();
        for store in &self.stores {
            let Some((folder, rest)) = start.split_at_checked(2) else { continue };
            for entry in fs::read_dir(store.join(folder).as_str()).into_iter().flatten().flatten() {
                if let Ok(name) = entry.file_name().into_string()
                    && name.starts_with(rest)
                    && name.len() + 2 == self.bytes * 2
                {
                    found.push(format!("{folder}{name}"));
                }
            }
            let packs = fs::read_dir(store.join("pack").as_str()).into_iter().flatten().flatten();
            for pack in packs.take(PACKS * 4) {
                let Ok(name) = pack.file_name().into_string() else { continue };
                if !name.ends_with(".idx") || self.budget.question().is_err() {
                    continue;
                }
                if let Ok(index) = File::open(store.join("pack").join(&name).as_str()) {
                    found.extend(names_in(&index, start, self.bytes).unwrap_or_default());
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(2);
        found
    }
}

/// What a directory holds under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Held {
    /// Nothing.
    Nothing,
    /// A directory.
    Tree(Name),
    /// A file, a link, another repository.
    Other(Name),
}

fn kind_of(name: &str) -> Option<&'static str> {
    ["commit", "tree", "blob", "tag"].into_iter().find(|kind| *kind == name)
}

/// The value of a line at the head of a commit or tag.
fn header(text: &[u8], name: &str) -> Option<Name> {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> Name {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| DIGITS.get(usize::from(half))).collect()
}

fn bytes_of(name: &str) -> Option<Vec<u8>> {
    (0..name.len()).step_by(2).map(|at| u8::from_str_radix(name.get(at..at + 2)?, 16).ok()).collect()
}

fn number_at(file: &File, at: u64) -> Option<u32> {
    let mut bytes = [0_u8; 4];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// Where the table of names begins in the list of a pack (version 2).
const NAMES: u64 = 8 + 256 * 4;

/// The rows of a list whose names begin with a byte, and how many rows there are.
fn rows(index: &File, first: u8) -> Option<(u64, u64, u64)> {
    if number_at(index, 0)? != 0xff74_4f63 || number_at(index, 4)? != 2 {
        return None;
    }
    let ends = |byte: u8| Some(u64::from(number_at(index, 8 + u64::from(byte) * 4)?));
    let start = match first.checked_sub(1) {
        Some(before) => ends(before)?,
        None => 0,
    };
    Some((start, ends(first)?, ends(255)?))
}

fn name_at(index: &File, row: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut name = vec![0_u8; bytes];
    index.read_exact_at(&mut name, NAMES + row * u64::try_from(bytes).ok()?).ok()?;
    Some(name)
}

/// The first row in the range whose name is not before the wanted one.
fn first_row(index: &File, wanted: &[u8], range: (u64, u64), bytes: usize) -> Option<u64> {
    let (mut low, mut high) = range;
    while low < high {
        let middle = low + (high - low) / 2;
        if name_at(index, middle, bytes)?.as_slice() < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Where the pack of a list holds an object.
fn offset_in(index: &File, wanted: &[u8], bytes: usize) -> Option<u64> {
    let (start, end, count) = rows(index, *wanted.first()?)?;
    let row = first_row(index, wanted, (start, end), bytes)?;
    if row >= end || name_at(index, row, bytes)? != wanted {
        return None;
    }
    let offsets = NAMES + count * (u64::try_from(bytes).ok()? + 4);
    let offset = number_at(index, offsets + row * 4)?;
    if offset & 0x8000_0000 == 0 {
        return Some(u64::from(offset));
    }
    let far = offsets + count * 4 + u64::from(offset & 0x7fff_ffff) * 8;
    Some(u64::from(number_at(index, far)?) << 32 | u64::from(number_at(index, far + 4)?))
}

/// The names in the list of a pack that begin so, at most two.
fn names_in(index: &File, start: &str, bytes: usize) -> Option<Vec<Name>> {
    let (first, end, _) = rows(index, u8::from_str_radix(start.get(..2)?, 16).ok()?)?;
    let even = start.get(..start.len() / 2 * 2)?;
    let row = first_row(index, &bytes_of(even)?, (first, end), bytes)?;
    let mut found = Vec::new();
    // With an odd number of digits some rows that begin with the even ones are passed over.
    for row in row..end.min(row + 64) {
        let name = hexadecimal(&name_at(index, row, bytes)?);
        if name.starts_with(start) {
            found.push(name);
        } else if !name.starts_with(even) {
            break;
        }
        if found.len() == 2 {
            break;
        }
    }
    Some(found)
}

/// What a difference makes of its base.
fn patched(base: &[u8], difference: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    let length = |at: &mut usize| {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = *difference.get(*at)?;
            *at += 1;
            value |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let (from, to) = (length(&mut at)?, length(&mut at)?);
    if from != base.len() || to > OBJECT {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some(order) = difference.get(at).copied() {
        at += 1;
        if order & 0x80 == 0 {
            let end = at + usize::from(order);
            made.extend_from_slice(difference.get(at..end).filter(|_| order != 0)?);
            at = end;
            continue;
        }
        let mut part = |bits: std::ops::Range<u32>| {
            let mut value = 0_usize;
            for (place, bit) in bits.enumerate() {
                if order & (1 << bit) != 0 {
                    value |= usize::from(*difference.get(at)?) << (8 * place);
                    at += 1;
                }
            }
            Some(value)
        };
        let (start, size) = (part(0..4)?, part(4..7)?);
        let size = if size == 0 { 0x1_0000 } else { size };
        made.extend_from_slice(base.get(start..start.checked_add(size)?)?);
        if made.len() > to {
            return None;
        }
    }
    (made.len() == to).then_some(made)
}
