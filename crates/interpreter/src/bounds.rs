//! Bounds that the kernel keeps a command within: what `checkrein exec` promises, and what that makes of the unknown.

use crate::nature::Nature;

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::path::AbsolutePath;
use crate::world::{Entry, Last, resolve};

use super::call::Call;
use super::draft::Draft;
use super::machine::Machine;
use super::value::Value;

/// What the kernel keeps a command within.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Where it may write.
    pub(crate) write: Vec<AbsolutePath>,
    /// Whom it may talk to, in the words of `checkrein exec --net`.
    pub(crate) network: Vec<Value>,
}

impl Machine<'_> {
    /// What `checkrein exec` keeps a command within; `None` when it is not that, or when it is not sure that this is held.
    pub fn bounds_of(&self, call: &Call, given: &[Value]) -> Option<Bounds> {
        let subcommand = given.iter().position(|word| word.as_exact() == Some("exec"))?;
        self.confiner(&call.written)?;
        let mut bounds = Bounds::default();
        let mut words = given.iter().skip(subcommand + 1);
        while let Some(word) = words.next() {
            let (option, value) = match word.as_exact()?.split_once('=') {
                Some((option, value)) => (option, Some(Value::exact(value))),
                None => (word.as_exact()?, None),
            };
            // The bounds of a whole agent leave its hooks what they write, so they are none to rely on.
            if option == "--around-agent" {
                return None;
            }
            if !matches!(option, "--write" | "--net") {
                continue;
            }
            let value = value.or_else(|| words.next().cloned())?;
            if option == "--net" {
                bounds.network.push(value);
                continue;
            }
            for aim in self.paths_through(&value) {
                let root = aim.target.path()?.clone();
                // Elsewhere it could change what matters: that is no bound to rely on.
                if !self.is_expected(&root) || self.holds_keys_or_guard(&root) {
                    return None;
                }
                bounds.write.push(root);
            }
        }
        Some(bounds)
    }

    /// Notes the places that the words of `checkrein exec` open to a program. Where keys lie or the guard lives, one of which it is not known
    /// what it does may write there.
    pub fn note_opened(&mut self, given: &[Value], before: usize) {
        let is_opaque = self.effects_since(before).any(|effect| effect.kind == EffectKind::Opaque);
        let mut opened = Vec::new();
        let mut words = given.iter();
        while let Some(word) = words.next() {
            let value = match word.as_exact() {
                Some("--write") => words.next().cloned(),
                Some(text) => text.strip_prefix("--write=").map(Value::exact),
                None => None,
            };
            let roots = value.map(|value| self.paths_through(&value)).unwrap_or_default();
            opened.extend(roots.iter().filter_map(|aim| aim.target.path().cloned()));
        }
        for root in opened.iter().filter(|_| is_opaque) {
            if self.holds_keys_or_guard(root) {
                self.add(
                    Draft::new(EffectKind::GuardTampering, Target::Path(root.clone()))
                        .possible()
                        .severity(Severity::High)
                        .irreversible()
                        .note("opens a place of keys or of the guard to a program of which it is not known what it does"),
                );
            }
        }
        self.call.opened = opened;
    }

    /// Adds what something can do at most that cannot be understood, but is kept within bounds.
    pub(super) fn add_bounded(&mut self, opaque: &Draft) {
        let note = format!("{}; the kernel keeps it within bounds", opaque.note);
        self.tree.disturb();
        let started = Target::Process(self.call.cause.clone());
        self.add(Draft::new(EffectKind::ProcessSpawn, started).note(note.clone()));
        let bounds = self.call.bounds.clone().unwrap_or_default();
        for end in &bounds.network {
            match end.as_exact() {
                Some("open") | None => {
                    let anybody = Draft::new(EffectKind::NetworkRequest, Target::Unknown);
                    self.add(anybody.reach(NetworkReach::External).possible().note(note.clone()));
                }
                Some("none" | "loopback") => {}
                Some(_) => self.possibly(|machine| machine.effect(EffectKind::NetworkRequest, end)),
            }
        }
        for root in bounds.write {
            if self.is_temporary(&root) {
                continue;
            }
            let target = match self.entry(&root) {
                Entry::Directory => Target::Glob(format!("{}/**", root.as_str().trim_end_matches('/'))),
                Entry::Missing | Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    Target::Path(root)
                }
            };
            let draft = Draft::new(EffectKind::FileModify, target).possible().nature(Nature::WithinBounds);
            self.add(draft.note(note.clone()));
        }
    }

    /// The program of the guard that runs a command within bounds, when `written` surely names it: another one of that name may do
    /// anything.
    fn confiner(&self, written: &str) -> Option<AbsolutePath> {
        let confiner = self.world.confiner()?;
        self.surely_names(written, &confiner).then_some(confiner)
    }

    /// Whether a call masks the secrets in what is piped through it: `checkrein mask`, and surely ours.
    pub(super) fn is_masker(&self, call: &Call) -> bool {
        let is_named = call.program == "checkrein"
            && matches!(call.words.as_slice(), [only] if only.as_exact() == Some("mask"));
        let is_function = self.shell.functions.contains_key(&call.written);
        is_named
            && !is_function
            && self.world.masker().is_some_and(|masker| self.surely_names(&call.written, &masker))
    }

    /// Whether the name of a program as it is written surely leads to this one.
    fn surely_names(&self, written: &str, program: &AbsolutePath) -> bool {
        let follow = |path: &str| {
            let known = path.starts_with('/');
            known.then(|| resolve(&|path| self.world.entry(path), &AbsolutePath::root(), path, Last::Follow))
        };
        let named = if written.contains('/') {
            follow(written)
        } else {
            // Where the shell looks; what is not an absolute path is wherever one is.
            let path = self.variable("PATH");
            let Some(path) = path.as_ref().and_then(Value::as_exact) else { return false };
            let mut places = path.split(':').map(|place| follow(&format!("{place}/{written}")));
            places
                .find(|place| place.as_ref().is_none_or(|place| self.world.entry(place) != Entry::Missing))
                .flatten()
        };
        named.is_some() && named == follow(program.as_str())
    }

    /// Whether a directory is one of keys, or lies above the guard outside the workspace: within such bounds the unknown is still unknown.
    fn holds_keys_or_guard(&self, root: &AbsolutePath) -> bool {
        let place = self.world.place();
        let guarded = self.world.guarded();
        let of_guard = |path: &AbsolutePath| {
            path.is_within(root) && !path.is_within(&place.workspace) || root.is_within(path)
        };
        crate::places::credential_directory(root).is_some()
            || guarded.iter().any(|guarded| of_guard(&guarded.path))
    }

    /// Whether changes are expected at a path: in the workspace, among temporary files, in caches; never at one that holds
    /// the home directory.
    fn is_expected(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        let is_there = path.is_within(&place.workspace)
            || self.is_temporary(path)
            || place.expected.iter().any(|directory| path.is_within(directory));
        is_there && !place.home.is_within(path)
    }
}
