//! `git apply`: what a patch does to the files of the work tree, all of it or nothing.

use crate::effect::{Depth, EffectKind, Target};
use crate::interpreter::{Exit, Value};
use crate::path::AbsolutePath;
use crate::programs::emptied::remove_emptied;
use crate::programs::text::patches::{self, FilePatch, Fit};
use crate::world::Entry;
use checkrein_glob::{Glob, Style};

use super::Git;
use super::options::Words;

/// Runs `git apply`.
pub(super) fn run(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let looks = words.any(&["--check", "--stat", "--numstat", "--summary"]) && !words.has("--apply");
    if looks {
        return Exit::unknown();
    }
    if !words.has("--cached") {
        let is_own = git.is_given_own_patch(words.operands());
        let texts = git.patches(words.operands());
        let unread = texts.iter().any(|text| text.as_exact().is_none());
        if unread && !is_own {
            git.arrive_unread(&[]);
        }
        let mut all: Vec<FilePatch> =
            texts.iter().filter_map(Value::as_exact).flat_map(patches::read).collect();
        if words.any(&["-R", "--reverse"]) {
            all = all.into_iter().map(FilePatch::reversed).rev().collect();
        }
        if all.is_empty() || unread {
            git.change_tree("the patch changes files");
        }
        if !git.patch_files(words, &all) {
            return Exit::failure();
        }
    }
    if words.any(&["--cached", "--index", "-3", "--3way"]) {
        git.note_staged();
        git.forget("what was staged of the files of the patch")
    } else {
        Exit::silent()
    }
}

/// What becomes of one file.
struct Step {
    old: Option<AbsolutePath>,
    new: Option<AbsolutePath>,
    is_renamed: bool,
    /// `None` where what the file holds is not known.
    fit: Option<Fit>,
}

impl Git<'_, '_> {
    /// Adds what the patches do; answers `false` where git is known to refuse them all.
    fn patch_files(&mut self, words: &Words, all: &[FilePatch]) -> bool {
        let Some(root) = self.root() else {
            self.change_tree("the patch changes files");
            return true;
        };
        let steps: Vec<Step> = all.iter().filter_map(|patch| self.step(words, &root, patch)).collect();
        let fails = |step: &Step| matches!(step.fit, Some(Fit::Fails | Fit::Loose));
        let keeps_going = words.any(&["--reject", "-3", "--3way"]);
        if !keeps_going && steps.iter().any(fails) {
            return false;
        }
        for step in steps {
            let word = |path: &AbsolutePath| Value::exact(path.as_str());
            if fails(&step) {
                if let Some(path) = step.new.as_ref().or(step.old.as_ref()) {
                    if words.has("--reject") {
                        self.machine.write(&Value::exact(format!("{path}.rej")));
                    }
                    self.machine.possibly(|machine| machine.write(&word(path)));
                }
                continue;
            }
            let text = match step.fit {
                Some(Fit::Exact(text) | Fit::Shifted(text)) => Value::exact(text),
                Some(Fit::Loose | Fit::Fails) | None => Value::Unknown,
            };
            match (&step.old, &step.new) {
                (old, Some(new)) => {
                    self.machine.write_text(&word(new), &text);
                    if let Some(old) = old.as_ref().filter(|old| step.is_renamed && *old != new) {
                        self.machine.delete(&word(old), Depth::Single);
                        remove_emptied(self.machine, old, &root);
                    }
                }
                (Some(old), None) => {
                    self.machine.delete(&word(old), Depth::Single);
                    remove_emptied(self.machine, old, &root);
                }
                (None, None) => {}
            }
        }
        true
    }

    /// What a patch does to one file; `None` where options leave it out.
    fn step(&self, words: &Words, root: &AbsolutePath, patch: &FilePatch) -> Option<Step> {
        let strip = words.arguments.value(&["-p"]).and_then(Value::as_exact);
        let strip = strip.and_then(|text| text.parse().ok()).unwrap_or(1);
        let below = words.arguments.value(&["--directory"]).and_then(Value::as_exact).unwrap_or_default();
        let located = |name: &Option<String>| {
            let name = patches::stripped(name.as_deref()?, Some(strip));
            let below = below.trim_matches('/');
            Some(if below.is_empty() { name } else { format!("{below}/{name}") })
        };
        let (old, new) = (located(&patch.old), located(&patch.new));
        let name = new.as_ref().or(old.as_ref())?;
        if !is_chosen(words, name) {
            return None;
        }
        let (old, new) = (old.map(|name| root.join(&name)), new.map(|name| root.join(&name)));
        // What is changed is the file under its old name.
        let fit = match &old {
            Some(file) if self.may_be_another(file) => None,
            Some(file) => match self.machine.entry(file) {
                Entry::Missing if patch.begins_with_nothing() => Some(patch.fit("")),
                Entry::Missing if self.machine.nothing_is_at(file) => Some(Fit::Fails),
                Entry::File(_) => self.machine.text(file).as_exact().map(|text| match patch.fit(text) {
                    // A file that goes holds nothing else than the patch says.
                    Fit::Exact(left) | Fit::Shifted(left) if new.is_none() && !left.is_empty() => Fit::Fails,
                    fit => fit,
                }),
                Entry::Missing | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    None
                }
            },
            // git makes no file where one is.
            None => match new.as_ref().map(|path| self.machine.entry(path)) {
                Some(Entry::File(_)) => Some(Fit::Fails),
                Some(_) => Some(patch.fit("")),
                None => None,
            },
        };
        Some(Step { old, new, is_renamed: patch.is_renamed, fit })
    }
}

impl Git<'_, '_> {
    /// Whether git has changed a file earlier in the command, so that what it holds is not known.
    fn may_be_another(&self, file: &AbsolutePath) -> bool {
        !self.machine.has_touched(file)
            && self.machine.effects_since(0).any(|effect| {
                let changes = effect.kind.file_change().is_some() || effect.kind == EffectKind::VcsLocalLoss;
                changes
                    && match &effect.target {
                        Target::Path(path) => {
                            file == path || effect.depth == Depth::Recursive && file.is_within(path)
                        }
                        Target::Glob(_) | Target::Unknown => true,
                        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => {
                            false
                        }
                    }
            })
    }
}

/// Whether `--include` and `--exclude` leave a file in: the first pattern that fits decides.
fn is_chosen(words: &Words, name: &str) -> bool {
    let fits = |option: &str| {
        let patterns: Vec<Value> = words.arguments.values(&[option]).cloned().collect();
        patterns.iter().any(|pattern| {
            pattern.as_exact().is_none_or(|pattern| Glob::new(pattern, Style::Pathspec).matches(name))
        })
    };
    let includes = words.arguments.values(&["--include"]).next().is_some();
    if includes { fits("--include") } else { !fits("--exclude") || name.is_empty() }
}
