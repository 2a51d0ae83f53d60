//! Secrets that are swept along: a search or a count over the files of the workspace comes by them, and shows nothing of what they hold.
//!
//! What is read in such a way is noted at the read ([`Machine::swept`]), and settled when all is known ([`Machine::settle_sweeps`]): a
//! secret that is named is meant, and what was put into a file and is read from there is shown all the same.

use checkrein_shell::{Command, Descriptor, Part, PipelineStage, Simple};

use crate::effect::{Effect, EffectKind, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::programs::filters::{self, Showing};

use super::call::{Arguments, Call, Input};
use super::machine::Machine;
use super::value::Value;

/// What people are told of a secret that a search or a count over the workspace comes by, without showing what it holds.
const SWEPT: &str = "swept along, and nothing of it is shown";

/// Of secrets that are read, and what is known of how they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// What the running program shows.
    pub(super) showing: Showing,
    /// How many stages of pipelines around the present point let nothing of what they read through.
    pub(super) screens: usize,
    /// Whether something was put into a file.
    keeps: bool,
    /// Whether a file was shown that this action has written after that.
    shows_kept: bool,
}

impl Sweep {
    pub(super) const NONE: Self =
        Self { showing: Showing::Everything, screens: 0, keeps: false, shows_kept: false };
}

impl Machine<'_> {
    /// The nature of what is read at the present point when nothing is shown of it that one would not want to be shown.
    pub(super) fn swept(&mut self) -> Option<Nature> {
        let nature = match self.sweep.showing {
            Showing::Nothing | Showing::ChosenLines => Nature::SweptAlong,
            Showing::Everything if self.sweep.screens > 0 => Nature::SweptAlong,
            Showing::Everything if self.is_kept() && !self.is_listened_to() => Nature::SweptIntoFile,
            Showing::Kept => Nature::SweptIntoFile,
            Showing::Everything => return None,
        };
        self.sweep.keeps |= nature == Nature::SweptIntoFile;
        Some(nature)
    }

    /// Notes that a file is shown.
    pub(super) fn note_shown(&mut self, target: &Target) {
        if !self.sweep.keeps || self.sweep.shows_kept {
            return;
        }
        let written = self
            .effects
            .iter()
            .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify));
        let fits = |effect: &Effect| match (target, effect.target.path()) {
            (Target::Path(shown), Some(path)) => path.is_within(shown),
            (Target::Glob(_), Some(_)) | (_, None) => true,
            _ => false,
        };
        let shown = written.into_iter().any(fits);
        self.sweep.shows_kept = shown;
    }

    /// Takes back what was noted of secrets that are meant and shown, or that come out in another way.
    pub(crate) fn settle_sweeps(&mut self, text: &str) {
        let place = self.world.place();
        let workspace = place.workspace.clone();
        // Where the home directory is swept, the keys of the person are.
        let is_project = !place.home.is_within(&workspace);
        let shows_kept = self.sweep.shows_kept;
        let shown = std::mem::take(&mut self.shown_secrets);
        let is_hidden = |path: &AbsolutePath| path.is_within(&workspace) && shown.get(path) == Some(&false);
        for effect in &mut self.effects {
            let is_kept = effect.nature == Nature::SweptIntoFile;
            if effect.nature != Nature::SweptAlong && !is_kept {
                continue;
            }
            let by_chance = match &effect.target {
                Target::Path(path) => is_by_chance(path, &workspace, text) || is_hidden(path),
                Target::Glob(pattern) => {
                    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
                    let base = fixed.rsplit_once('/').map_or("", |(base, _)| base);
                    AbsolutePath::new(base).is_some_and(|base| base.is_within(&workspace))
                }
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => false,
            };
            if is_project && by_chance && !(is_kept && shows_kept) {
                effect.nature = Nature::SweptAlong;
                SWEPT.clone_into(&mut effect.note);
            } else {
                effect.nature = Nature::Ordinary;
            }
        }
    }

    /// How many of the stages behind each one let nothing of what they read through; 0 or 1.
    pub(super) fn screens(stages: &[PipelineStage]) -> Vec<usize> {
        let mut screened = false;
        let mut all: Vec<usize> = stages
            .iter()
            .rev()
            .map(|stage| {
                let Command::Simple(simple) = &stage.command else {
                    screened = false;
                    return 0;
                };
                let here = usize::from(screened && is_plain(simple));
                screened = is_plain(simple) && (screened || is_screen(simple));
                here
            })
            .collect();
        all.reverse();
        all
    }
}

/// Whether a secret of the workspace is come by, as opposed to asked for: neither its name is written, nor that of a directory for
/// secrets in which it lies.
fn is_by_chance(path: &AbsolutePath, workspace: &AbsolutePath, text: &str) -> bool {
    let Some(below) = path.relative_to(workspace) else { return false };
    let is_named = path.name().is_none_or(|name| text.contains(name));
    let mut directory = workspace.clone();
    let mut in_named_directory = false;
    for part in below.split('/') {
        directory = directory.join(part);
        in_named_directory |= places::credential_directory(&directory).is_some() && text.contains(part);
    }
    !is_named && !in_named_directory
}

/// Whether a stage passes on nothing beside the pipe.
fn is_plain(simple: &Simple) -> bool {
    let to_device = |word: &checkrein_shell::Word| written(word).is_none_or(|text| text.starts_with("/dev/"));
    let is_tee = simple.written_name() == Some("tee");
    simple.redirects.iter().all(|redirect| redirect.descriptor == Some(Descriptor::Number(2)))
        && !(is_tee && simple.words.iter().skip(1).any(to_device))
}

/// Whether a stage lets nothing through of what it reads.
fn is_screen(simple: &Simple) -> bool {
    let mut words = simple.words.iter().map(|word| written(word).map_or(Value::Unknown, Value::Exact));
    let Some(Value::Exact(name)) = words.next() else { return false };
    let call = Call {
        program: name.rsplit('/').next().unwrap_or(&name).to_owned(),
        written: name,
        words: words.collect(),
        input: Input::Unknown,
        arguments: Arguments::default(),
    };
    match filters::showing(&call) {
        Showing::Nothing | Showing::ChosenLines => true,
        Showing::Kept | Showing::Everything => false,
    }
}

/// The text of a word in which nothing is expanded.
fn written(word: &checkrein_shell::Word) -> Option<String> {
    fn add(parts: &[Part], text: &mut String) -> Option<()> {
        for part in parts {
            match part {
                Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
                Part::DoubleQuoted(parts) => add(parts, text)?,
                Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(..)
                | Part::Arithmetic(_) => return None,
            }
        }
        Some(())
    }
    let mut text = String::new();
    add(&word.parts, &mut text)?;
    Some(text)
}
