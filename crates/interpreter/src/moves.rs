//! Where things stood that the same command moved: what is done to them at their new place is lost at the first one.

use checkrein_glob::{Glob, Style};

use crate::effect::{Certainty, Depth, EffectKind, FileChange, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::draft::{AimedTarget, Draft};
use super::machine::Machine;

/// The greatest number of moves that are kept of one command (ours).
const MOVES: usize = 512;
/// The greatest number of pairs that are tried of words of which it is not known which one became which (ours).
const PAIRS: usize = 64;

/// The places that a command moved, each with where it stood before the command.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Moves(Vec<Move>);

/// Something that was moved.
#[derive(Debug, Clone, PartialEq)]
struct Move {
    /// Where it stood before the command.
    first: Target,
    /// Where it stands now.
    now: Target,
    /// Whether it was moved in each way that the command may take.
    certainty: Certainty,
}

/// How much of something that was moved is meant.
enum Part {
    /// All of it.
    Whole(Certainty),
    /// What lies below it under this name or pattern.
    Below(String),
}

impl Moves {
    /// Takes up that what stands at one place stands at another now. `is_of_world` says whether it stood there before the command.
    fn relocate(&mut self, from: &Target, to: &Target, certainty: Certainty, is_of_world: bool) {
        let mut added = Vec::new();
        for known in &mut self.0 {
            let certainty = certainty.min(known.certainty);
            if let Some(rest) = below(&known.now, from) {
                let moved = Move { first: known.first.clone(), now: within(to, &rest), certainty };
                // What may not have been moved on may be where it was.
                if certainty == Certainty::Certain {
                    *known = moved;
                } else {
                    added.push(moved);
                }
            } else if let Some(rest) = below(from, &known.now) {
                added.push(Move { first: within(&known.first, &rest), now: to.clone(), certainty });
            }
        }
        if is_of_world {
            added.push(Move { first: from.clone(), now: to.clone(), certainty });
        }
        for one in added {
            if !self.is_full() && !self.0.contains(&one) {
                self.0.push(one);
            }
        }
    }

    /// The moves after one of two ways.
    pub(crate) fn join(mut self, other: &Self) -> Self {
        for one in &mut self.0 {
            if !other.0.contains(one) {
                one.certainty = Certainty::Possible;
            }
        }
        self.allow_for(other);
        self
    }

    /// Adds what another way moved, which is not expected.
    pub(crate) fn allow_for(&mut self, other: &Self) {
        for one in &other.0 {
            let is_known = |known: &Move| known.first == one.first && known.now == one.now;
            if !self.0.iter().any(is_known) {
                self.0.push(Move { certainty: Certainty::Possible, ..one.clone() });
            }
        }
    }

    /// Whether no more moves are kept.
    fn is_full(&self) -> bool {
        self.0.len() >= MOVES
    }

    /// Whether what stood at a path or above it before the command was moved away.
    pub(crate) fn has_moved(&self, path: &AbsolutePath) -> bool {
        self.0.iter().any(|one| match &one.first {
            Target::Path(first) => path.is_within(first),
            Target::Glob(first) => Glob::new(first, Style::Setting).or_below().matches(path.as_str()),
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => false,
        })
    }

    /// What stood elsewhere before the command of that which a target means now.
    fn first_places(&self, target: &Target, depth: Depth) -> Vec<(Target, Certainty)> {
        let meant = self.0.iter().filter_map(|one| {
            Some(match part(target, depth, &one.now)? {
                Part::Whole(certainty) => (one.first.clone(), certainty.min(one.certainty)),
                Part::Below(rest) => (within(&one.first, &rest), one.certainty),
            })
        });
        meant.collect()
    }
}

impl Machine<'_> {
    /// Remembers that what these words mean stands at another place now, where it is not lost as long as nothing is done to it there.
    pub fn remember_moved(&mut self, from: &[AimedTarget], to: &[AimedTarget]) {
        if self.away.is_some() {
            return;
        }
        let was_full = self.tree.moves().is_full();
        let doubt = if self.is_unsure() { Certainty::Possible } else { Certainty::Certain };
        for one in from {
            let is_of_world = match &one.target {
                Target::Path(path) => !self.tree.is_new(path) && self.world.entry(path) != Entry::Missing,
                Target::Glob(_) => true,
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => continue,
            };
            for place in pairs(one, from, to) {
                if let (true, Target::Glob(pattern)) = (is_of_world, &place.target) {
                    self.fill_around(&pattern.clone());
                }
                let certainty = if to.len() == 1 { doubt } else { Certainty::Possible };
                let certainty = certainty.min(one.certainty).min(place.certainty);
                self.tree.moves_mut().relocate(&one.target, &place.target, certainty, is_of_world);
            }
        }
        if !was_full && self.tree.moves().is_full() {
            self.unread("more is moved than is followed, so what becomes of it is not known");
        }
    }

    /// As [`Machine::remember_moved`], and runs `leave`, which takes away what was moved from where it stood: nothing is lost by that.
    pub fn move_away<T>(
        &mut self,
        from: &[AimedTarget],
        to: &[AimedTarget],
        leave: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.remember_moved(from, to);
        let moves = std::mem::take(self.tree.moves_mut());
        let answer = leave(self);
        *self.tree.moves_mut() = moves;
        answer
    }

    /// Remembers that something stands in the directory of a name that is not known, which patterns may mean from now on.
    fn fill_around(&mut self, pattern: &str) {
        let directory = pattern.rsplit_once('/').and_then(|(directory, _)| AbsolutePath::new(directory));
        if let Some(directory) = directory.filter(|directory| !directory.as_str().contains(['*', '?', '['])) {
            self.tree.fill(&directory);
        }
    }

    /// What an effect takes away that the same command moved there: it is lost from where it stood before.
    pub(super) fn lost_after_move(&self, draft: &Draft) -> Vec<Draft> {
        let kind = match (draft.kind.file_change(), draft.kind) {
            (Some(FileChange::Delete), _) | (None, EffectKind::VcsLocalLoss) => EffectKind::FileDelete,
            (Some(FileChange::Modify), kind) if !self.call.appending => kind,
            (Some(FileChange::Modify | FileChange::Create | FileChange::Permissions) | None, _) => {
                return Vec::new();
            }
        };
        let places = self.tree.moves().first_places(&draft.target, draft.depth);
        let lost = places.into_iter().map(|(first, certainty)| Draft {
            kind,
            certainty: certainty.min(draft.certainty),
            depth: if matches!(first, Target::Glob(_)) { Depth::Recursive } else { draft.depth },
            // What was special about the new name says nothing of the first.
            nature: match draft.nature {
                Nature::MadeBySameCommand | Nature::ClonedBySameCommand | Nature::NotThere => {
                    Nature::Ordinary
                }
                nature => nature,
            },
            note: "stood there until the same command moved it".to_owned(),
            target: first,
            ..draft.clone()
        });
        lost.collect()
    }
}

/// The places to one of which something was moved: where there are many of both, that of its own name, or some of them.
fn pairs<'a>(one: &AimedTarget, from: &[AimedTarget], to: &'a [AimedTarget]) -> Vec<&'a AimedTarget> {
    if from.len().saturating_mul(to.len()) <= PAIRS {
        return to.iter().collect();
    }
    let name = |aim: &AimedTarget| aim.target.path().and_then(|path| path.name().map(str::to_owned));
    let own = name(one);
    let named: Vec<&AimedTarget> = to.iter().filter(|place| own.is_some() && name(place) == own).collect();
    if named.is_empty() { to.iter().take((PAIRS / from.len().max(1)).max(1)).collect() } else { named }
}

/// The name of a target below another, empty where both are the same; `None` where it does not lie there, or that is not known.
fn below(target: &Target, other: &Target) -> Option<String> {
    match (target, other) {
        (Target::Path(path), Target::Path(other)) if path == other => Some(String::new()),
        (Target::Path(path), Target::Path(other)) => path.relative_to(other).map(str::to_owned),
        (Target::Glob(pattern), Target::Path(directory)) => {
            AbsolutePath::new(pattern)?.relative_to(directory).map(str::to_owned)
        }
        (Target::Glob(pattern), Target::Glob(other)) if pattern == other => Some(String::new()),
        (Target::Glob(pattern), Target::Glob(other)) => {
            let rest = pattern.strip_prefix(other.as_str())?;
            rest.strip_prefix('/').map(str::to_owned)
        }
        (_, _) => None,
    }
}

/// What lies below a target under this name or pattern.
fn within(target: &Target, rest: &str) -> Target {
    let is_pattern = |text: &str| text.contains(['*', '?', '[']);
    match target {
        target if rest.is_empty() => target.clone(),
        Target::Path(path) if is_pattern(rest) => {
            Target::Glob(format!("{}/{rest}", path.as_str().trim_end_matches('/')))
        }
        Target::Path(path) => Target::Path(path.join(rest)),
        Target::Glob(pattern) => Target::Glob(format!("{pattern}/{rest}")),
        other => other.clone(),
    }
}

/// How much of what stands somewhere a target means; `None` where it means nothing of it.
fn part(target: &Target, depth: Depth, now: &Target) -> Option<Part> {
    if let Some(rest) = below(target, now) {
        let whole = rest.is_empty() || rest == "**";
        return Some(if whole { Part::Whole(Certainty::Certain) } else { Part::Below(rest) });
    }
    match (target, now) {
        (Target::Path(_), Target::Path(_) | Target::Glob(_)) if depth == Depth::Recursive => {
            below(now, target).map(|_| Part::Whole(Certainty::Certain))
        }
        // A name that is one of those that a pattern means.
        (Target::Path(path), Target::Glob(now)) => Glob::new(now, Style::Setting)
            .or_below()
            .matches(path.as_str())
            .then_some(Part::Whole(Certainty::Possible)),
        // The same pattern stands for the same name: it is that of one variable.
        (Target::Glob(pattern), Target::Path(_) | Target::Glob(_)) => Glob::new(pattern, Style::Setting)
            .or_below()
            .matches(now.text().unwrap_or_default())
            .then_some(Part::Whole(Certainty::Certain)),
        (_, _) => None,
    }
}
