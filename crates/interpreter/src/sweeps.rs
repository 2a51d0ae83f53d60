//! Secrets that are swept along: a search or a count over the files of the workspace comes by them, and shows nothing of what they hold.
//!
//! Such a read is noted ([`Machine::swept`]), and settled when all is known ([`Machine::settle_sweeps`]). A secret that is named is meant,
//! and what was put into a file and is read from there is shown all the same.

use checkrein_shell::{Command, Descriptor, Part, PipelineStage, Simple};

use crate::effect::{Effect, EffectKind, Target};
use crate::filters::{self, Showing};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::world::Entry;

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
    /// What later stages of the pipeline, or the command that takes a substitution in, leave of what is read at the present point.
    pub(super) left: Remainder,
    /// What is left of what the substitutions of the running command give.
    pub(super) handed: Remainder,
    /// Whether something was put into a file.
    keeps: bool,
    /// Whether a file was shown that this action has written after that.
    shows_kept: bool,
}

/// What is left of something that is read when it comes out at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remainder {
    /// Whatever stands in it, or a part.
    Anything,
    /// Of a list of settings, nothing of the values.
    Names,
    /// All of it, in a variable: it is shown where that is.
    Held,
    /// Numbers, or whether there is any.
    Nothing,
}

/// What a stage of a pipeline is behind.
#[derive(Debug, Clone)]
pub(super) struct Screen {
    /// Whether later stages let nothing through that one would not want to be shown by chance: 0 or 1.
    pub(super) count: usize,
    /// What later stages leave also of what is meant.
    pub(super) left: Remainder,
    /// The stage itself, where later ones leave nothing of what it prints.
    pub(super) hidden: Option<Call>,
}

impl Sweep {
    pub(super) const NONE: Self = Self {
        showing: Showing::Everything,
        screens: 0,
        left: Remainder::Anything,
        handed: Remainder::Anything,
        keeps: false,
        shows_kept: false,
    };
}

impl Machine<'_> {
    /// The nature of what is read at the present point when nothing is shown of it that one would not want to be shown.
    pub(super) fn swept(&mut self) -> Option<Nature> {
        let nature = match self.flow.sweep.showing {
            Showing::Nothing | Showing::Names | Showing::ChosenLines => Nature::SweptAlong,
            Showing::Everything if self.is_thrown_away() => Nature::SweptAlong,
            Showing::Everything
                if self.flow.sweep.screens > 0 || self.flow.sweep.left != Remainder::Anything =>
            {
                Nature::SweptAlong
            }
            Showing::Everything if self.is_kept() && !self.is_listened_to() => Nature::SweptIntoFile,
            Showing::Kept | Showing::KeptByName => Nature::SweptIntoFile,
            Showing::Everything => return None,
        };
        self.flow.sweep.keeps |= nature == Nature::SweptIntoFile;
        Some(nature)
    }

    /// Whether something of what is worth keeping in a secret is shown when it is read at the present point.
    pub(super) fn shows_content(&self, path: &AbsolutePath) -> bool {
        if self.is_thrown_away() {
            return false;
        }
        let own = match self.flow.sweep.showing {
            Showing::Nothing => Remainder::Nothing,
            Showing::Names => Remainder::Names,
            // Who reads the copy is told by its name.
            Showing::KeptByName if self.is_at_work() => Remainder::Nothing,
            Showing::Everything | Showing::ChosenLines | Showing::Kept | Showing::KeptByName => {
                Remainder::Anything
            }
        };
        match own.max(self.flow.sweep.left) {
            Remainder::Nothing => false,
            Remainder::Names => {
                let is_missing =
                    self.entry(path) == Entry::Missing && path.name().is_some_and(places::environment_file);
                !is_missing && !self.is_known_list(path)
            }
            // What proves who the user is has no place in a variable of the agent's.
            Remainder::Held => !path.is_within(&self.world.place().workspace),
            Remainder::Anything => true,
        }
    }

    /// Whether a file is a list of settings, and its text is known.
    fn is_known_list(&self, path: &AbsolutePath) -> bool {
        self.text(path).as_exact().is_some_and(|text| places::is_list_of_settings(path, text))
    }

    /// Whether what is read here goes to `/dev/null`, by a program that does nothing else with it.
    fn is_thrown_away(&self) -> bool {
        !self.is_shown() && self.table.is_read_through(&self.call.cause)
    }

    /// Whether the working directory is known to lie in the workspace.
    fn is_at_work(&self) -> bool {
        self.cwd().is_some_and(|cwd| cwd.is_within(&self.world.place().workspace))
    }

    /// Notes that a file is shown.
    pub(super) fn note_shown(&mut self, target: &Target) {
        if !self.flow.sweep.keeps || self.flow.sweep.shows_kept {
            return;
        }
        if target.path().is_some_and(|path| self.flow.cleaned.contains_key(path) && !self.holds_secret(path))
        {
            return;
        }
        let written = self
            .findings
            .effects
            .iter()
            .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify));
        let fits = |effect: &Effect| match (target, effect.target.path()) {
            (Target::Path(shown), Some(path)) => path.is_within(shown),
            (Target::Glob(_), Some(_)) | (_, None) => true,
            _ => false,
        };
        let shown = written.into_iter().any(fits);
        self.flow.sweep.shows_kept = shown;
    }

    /// Takes back what was noted of secrets that are meant and shown, or that come out in another way.
    pub fn settle_sweeps(&mut self, text: &str) {
        let place = self.world.place();
        let workspace = place.workspace.clone();
        // Where the home directory is swept, the keys of the user are.
        let is_project = !place.home.is_within(&workspace);
        let shows_kept = self.flow.sweep.shows_kept;
        let shown = std::mem::take(&mut self.flow.shown_secrets);
        let lists: Vec<AbsolutePath> =
            self.flow.cleaned.values().filter(|list| self.is_copied_without_values(list)).cloned().collect();
        let is_hidden = |path: &AbsolutePath| shown.get(path) == Some(&false);
        for effect in &mut self.findings.effects {
            let is_kept = effect.nature == Nature::SweptIntoFile;
            if effect.nature != Nature::SweptAlong && !is_kept {
                continue;
            }
            let by_chance = match &effect.target {
                Target::Path(path) => {
                    is_by_chance(path, &workspace, text) || is_hidden(path) || is_kept && lists.contains(path)
                }
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

    /// What a command, and what is behind it, leaves of its input.
    pub(super) fn left_of_input(&self, simple: &Simple) -> Remainder {
        self.own_call(simple)
            .map_or(Remainder::Anything, |call| self.flow.sweep.left.behind(&call).max(Remainder::by(&call)))
    }

    /// The call of a program whose name is written out, and that nothing in the shell stands for.
    fn own_call(&self, simple: &Simple) -> Option<Call> {
        written_call(simple).filter(|call| {
            !self.shell.functions.contains_key(&call.written)
                && !self.shell.aliases.contains_key(&call.written)
        })
    }

    /// What the stages behind each one let through of what it reads.
    pub(super) fn screens(&self, stages: &[PipelineStage]) -> Vec<Screen> {
        let mut screened = false;
        let mut left = Remainder::Anything;
        let mut all: Vec<Screen> = stages
            .iter()
            .rev()
            .map(|stage| {
                let Command::Simple(simple) = &stage.command else {
                    screened = false;
                    left = Remainder::Anything;
                    return Screen { count: 0, left, hidden: None };
                };
                let is_plain = is_plain(simple);
                let call = self.own_call(simple).filter(|_| is_plain);
                let masks = call.as_ref().is_some_and(|call| self.is_masker(call));
                let here = Screen {
                    count: usize::from(screened && is_plain),
                    left: call.as_ref().map_or(Remainder::Anything, |call| left.behind(call)),
                    hidden: call.clone().filter(|_| left == Remainder::Nothing),
                };
                screened = is_plain && (screened || is_screen(simple));
                left = if masks {
                    here.left.max(Remainder::Names)
                } else {
                    call.as_ref().map_or(Remainder::Anything, |call| here.left.max(Remainder::by(call)))
                };
                here
            })
            .collect();
        all.reverse();
        all
    }
}

impl Remainder {
    /// What a call alone leaves of what it reads.
    fn by(call: &Call) -> Self {
        match filters::showing(call) {
            Showing::Nothing => Self::Nothing,
            Showing::Names => Self::Names,
            Showing::Everything | Showing::ChosenLines | Showing::Kept | Showing::KeptByName => {
                Self::Anything
            }
        }
    }

    /// What is left of what a call passes on, when this is left by the stages behind it. Names are told in whole lines only.
    fn behind(self, call: &Call) -> Self {
        match self {
            Self::Nothing | Self::Held if filters::only_passes(call) => self,
            Self::Names if filters::keeps_lines(call) => Self::Names,
            Self::Nothing | Self::Held | Self::Names | Self::Anything => Self::Anything,
        }
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
    let Some(call) = written_call(simple) else { return false };
    match filters::showing(&call) {
        Showing::Nothing | Showing::Names | Showing::ChosenLines => true,
        Showing::Kept | Showing::KeptByName | Showing::Everything => false,
    }
}

/// The call of a program whose name is written out, with the words of which the text is.
fn written_call(simple: &Simple) -> Option<Call> {
    let mut words = simple.words.iter().map(|word| written(word).map_or(Value::Unknown, Value::Exact));
    let Some(Value::Exact(name)) = words.next() else { return None };
    Some(Call {
        program: name.rsplit('/').next().unwrap_or(&name).to_owned(),
        written: name,
        words: words.collect(),
        input: Input::Unknown,
        arguments: Arguments::default(),
    })
}

/// The text of a word in which nothing is expanded.
pub(super) fn written(word: &checkrein_shell::Word) -> Option<String> {
    fn add(parts: &[Part], text: &mut String) -> Option<()> {
        for part in parts {
            match part {
                Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
                Part::DoubleQuoted(parts) => add(parts, text)?,
                Part::Bytes(_)
                | Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(..)
                | Part::Arithmetic(_)
                | Part::Braces(_) => return None,
            }
        }
        Some(())
    }
    let mut text = String::new();
    add(&word.parts, &mut text)?;
    Some(text)
}
