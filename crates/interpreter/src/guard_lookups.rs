//! Programs of the guard that something looked up: where they are, and what may mean them from then on.

use super::builtins;
use super::exit::Output;
use super::machine::{Draft, Machine};
use super::overlay_updates::guard_program;
use super::value::Value;
use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::path::AbsolutePath;

impl Machine<'_> {
    /// Where the program of a name is, as a function of a language says that looks programs up.
    pub fn whereabouts(&mut self, name: &Value) -> Value {
        let absent = self.absent.clone();
        let exit = builtins::whereabouts(self, std::slice::from_ref(name));
        self.absent = absent;
        let found = match exit.output {
            Output::Text(Value::Exact(lines)) if !lines.is_empty() => Value::exact(lines.trim_end()),
            Output::Text(Value::AnyOf(texts)) => {
                let paths = texts.iter().map(|text| text.trim_end()).filter(|text| text.starts_with('/'));
                Value::one_of(paths.map(str::to_owned).collect())
            }
            _ => Value::Unknown,
        };
        self.note_guard_looked_up(name);
        self.note_guard_found(&found);
        found
    }

    /// Remembers that the guard was looked up where a text is the name of one of its programs.
    pub fn note_guard_looked_up(&mut self, name: &Value) {
        let names = name.alternatives().unwrap_or_default();
        self.flow.guard_looked_up |= self.away.is_none() && names.iter().any(|name| is_guard(name));
    }

    /// Remembers that the guard was looked up where an output says where one of its programs is. Where that goes in the code that
    /// started what printed it is not followed through each way that code takes a text apart.
    pub fn note_guard_found(&mut self, output: &Value) {
        let names_guard = |word: &str| word.starts_with('/') && word.rsplit('/').next().is_some_and(is_guard);
        let texts = output.alternatives().unwrap_or_default();
        self.flow.guard_looked_up |=
            self.away.is_none() && texts.iter().flat_map(|text| text.split_whitespace()).any(names_guard);
    }

    /// Where the programs of the guard of a name are that the client starts.
    pub(super) fn guard_programs(&self, name: &str) -> Vec<AbsolutePath> {
        if !is_guard(name) {
            return Vec::new();
        }
        let is_it = |path: &AbsolutePath| guard_program(path) == Some(name);
        let guarded = self.world.guarded();
        guarded.iter().map(|guarded| &guarded.path).filter(|path| is_it(path)).cloned().collect()
    }

    /// Where the program of the guard of that name is; `None` of other names.
    pub(super) fn guard_at(&mut self, name: &str) -> Option<Value> {
        let found = is_guard(name).then(|| self.whereabouts(&Value::exact(name)));
        found.filter(|found| *found != Value::Unknown)
    }

    /// Adds that a package from a place on this machine may bring another program of the guard, where what describes the package names one.
    pub(super) fn note_packages_named_as_guard(&mut self, before: usize) {
        let places: Vec<String> = self
            .effects_since(before)
            .filter(|effect| effect.kind == EffectKind::PackageInstall)
            .filter_map(|effect| match &effect.target {
                Target::Service(text) => Some(text.trim_end_matches("/...").to_owned()),
                Target::Path(path) => Some(path.as_str().to_owned()),
                Target::Glob(_)
                | Target::Host(_)
                | Target::Process(_)
                | Target::Reference(_)
                | Target::Unknown => None,
            })
            .filter(|text| !text.contains("://"))
            .collect();
        for place in places {
            let Some(folder) = self.one_path_through(&Value::exact(place)) else { continue };
            let manifests: Vec<AbsolutePath> = MANIFESTS.iter().map(|name| folder.join(name)).collect();
            let named = manifests.into_iter().find(|path| {
                let text = self.announced_text(path);
                text.as_exact().is_some_and(|text| text.lines().any(names_program_of_guard))
            });
            if let Some(path) = named {
                let draft = Draft::new(EffectKind::GuardTampering, Target::Path(path))
                    .possible()
                    .severity(Severity::High)
                    .note("installs a package that is called as the guard is");
                self.add(draft);
            }
        }
    }

    /// Adds that a change of files that nobody can name may be one of the guard that was looked up.
    pub(super) fn note_change_of_guard(&mut self, effect: &Effect) {
        let is_unnamed = effect.target == Target::Unknown;
        if is_unnamed && effect.kind.file_change().is_some() {
            self.may_change_guard_looked_up();
        }
    }

    /// Adds that the program of the guard may be changed, where something looked it up.
    pub fn may_change_guard_looked_up(&mut self) {
        if !self.flow.guard_looked_up {
            return;
        }
        let guarded = self.world.guarded();
        let programs =
            guarded.iter().map(|guarded| &guarded.path).filter(|path| guard_program(path).is_some());
        for path in programs {
            let draft = Draft::new(EffectKind::GuardTampering, Target::Path(path.clone()))
                .possible()
                .severity(Severity::High)
                .note("the guard was looked up, and what is changed here is not known");
            self.add(draft);
        }
    }
}

/// The files that say which programs a package brings.
const MANIFESTS: [&str; 6] =
    ["Cargo.toml", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "go.mod"];

/// Whether a line of such a file gives a program, or the package itself, the name of one of the guard: `name = "..."`, `"bin": {"...": "x.js"}`.
fn names_program_of_guard(line: &str) -> bool {
    const AROUND: [char; 6] = [' ', '"', '\'', ',', '{', '['];
    let Some((key, value)) = line.split_once(['=', ':']) else { return false };
    let key = key.trim_matches(AROUND);
    let value = value.trim_start_matches(AROUND).split(AROUND).next().unwrap_or_default();
    is_guard(key) || matches!(key, "name" | "bin" | "module") && is_guard(value)
}

/// Whether a word is the name of a program of the guard.
fn is_guard(name: &str) -> bool {
    !name.contains('/') && guard_program(&AbsolutePath::root().join(name)).is_some()
}
