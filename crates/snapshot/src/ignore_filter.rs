//! What version control ignores in a tree.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use checkrein_protocol::AbsolutePath;
use checkrein_world::ignore::{IgnoreDecision, PathKind, Rules, general_rules, rules_in};

/// The rules of a tree.
#[derive(Debug)]
pub struct Ignoring {
    root: Vec<u8>,
    /// Of the repository and of the user, the stronger first.
    general: [Rules; 2],
    fingerprint: u64,
    ignored: Ignored,
}

/// What is saved of what version control ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Nothing.
    LeftOut,
    /// Small files that no build, install or program makes again: settings of this machine, notes.
    SmallKept,
}

/// The rules of one directory and of those above it.
#[derive(Debug, Clone)]
pub(crate) struct Layer(Arc<Rung>);

#[derive(Debug)]
struct Rung {
    rules: Rules,
    /// The length of the path of the directory, with the slash behind it.
    skip: usize,
    above: Option<Layer>,
    /// Of these rules and those above.
    fingerprint: u64,
}

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// Anything else.
    File,
}

impl Ignoring {
    /// The rules of the repository with this root, of the user with this home directory and, when set, this
    /// `$XDG_CONFIG_HOME`. Where there is no repository, rules that stand in directories count all the same.
    pub fn of(root: &AbsolutePath, home: &AbsolutePath, configuration: Option<&str>) -> Self {
        let general = general_rules(root, home, configuration);
        let mut hasher = DefaultHasher::new();
        format!("{general:?}").hash(&mut hasher);
        Self {
            root: root.as_str().as_bytes().to_vec(),
            general,
            fingerprint: hasher.finish(),
            ignored: Ignored::LeftOut,
        }
    }

    /// The same rules, with this saved of what they ignore.
    #[must_use]
    pub fn with_ignored(self, ignored: Ignored) -> Self {
        Self { ignored, ..self }
    }

    /// What is saved of what the rules ignore.
    pub(crate) fn ignored(&self) -> Ignored {
        self.ignored
    }

    /// Whether the rules ignore a path; whether they ignore a directory above it does not count.
    pub fn ignores(&self, path: &Path, sort: EntryKind) -> bool {
        let path = path.as_os_str().as_bytes();
        self.is_ignored(path, sort, self.outermost(path).as_ref())
    }

    /// The rules above a place from which is started: those of the directories between the root and it.
    pub(crate) fn outermost(&self, path: &[u8]) -> Option<Layer> {
        let below = path.strip_prefix(self.root.as_slice())?;
        let mut layer = None;
        for (place, _) in below.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let (above, _) = path.split_at(self.root.len() + place);
            layer = Some(self.enter(above, layer.as_ref()));
        }
        layer
    }

    /// The rules in a directory that has some of its own.
    pub(crate) fn enter(&self, directory: &[u8], above: Option<&Layer>) -> Layer {
        let file = Path::new(OsStr::from_bytes(directory)).join(".gitignore");
        let rules = rules_in(&file);
        let text = checkrein_files::read(&file, checkrein_files::SMALL).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.fingerprint(above).to_le_bytes()).update(&text);
        let fingerprint =
            hasher.finalize().as_bytes().first_chunk::<8>().map_or(0, |first| u64::from_le_bytes(*first));
        let skip = self.relative(directory).map_or(0, |relative| relative.len());
        let skip = if skip == 0 { 0 } else { skip + 1 };
        Layer(Arc::new(Rung { rules, skip, above: above.cloned(), fingerprint }))
    }

    /// What tells these rules from others.
    pub(crate) fn fingerprint(&self, layer: Option<&Layer>) -> u64 {
        layer.map_or(self.fingerprint, |Layer(rung)| rung.fingerprint)
    }

    /// Whether a path is ignored of which no directory above is.
    pub(crate) fn is_ignored(&self, path: &[u8], sort: EntryKind, layer: Option<&Layer>) -> bool {
        let Some(relative) = self.relative(path) else { return false };
        if relative.is_empty() {
            return false;
        }
        let node = match sort {
            EntryKind::Directory => PathKind::Directory,
            EntryKind::File => PathKind::File,
        };
        let mut next = layer;
        while let Some(Layer(rung)) = next {
            let answer = relative.get(rung.skip..).and_then(|below| rung.rules.answer(below, node));
            if let Some(answer) = answer {
                return answer == IgnoreDecision::Ignore;
            }
            next = rung.above.as_ref();
        }
        self.general.iter().find_map(|rules| rules.answer(&relative, node)) == Some(IgnoreDecision::Ignore)
    }

    /// A path from the root; what is not UTF-8 in it is matched by nothing but stars.
    fn relative<'a>(&self, path: &'a [u8]) -> Option<Cow<'a, str>> {
        let below = path.strip_prefix(self.root.as_slice())?;
        Some(String::from_utf8_lossy(below.strip_prefix(b"/").unwrap_or(below)))
    }
}
