//! Surprises: what really changed, against what was predicted (design 3).
//!
//! A surprise is no proof of guilt. It says that something changed while an action ran that the prediction did not name, or that
//! something certain did not happen. What it costs in trust depends on how wrong the prediction was, and wears off.

use std::collections::BTreeSet;
use std::iter::successors;

use checkrein_policy::covers;
use checkrein_protocol::{
    AbsolutePath, Certainty, Change, ChangeKind, Depth, Effect, EffectKind, Footprint, PathState,
    SurpriseRecordKind, Target,
};

use crate::reasoning::sentence;

/// The greatest doubt of a session, in hundredths of risk (ours): what is opaque stays below critical.
pub const MOST_DOUBT: u32 = 20;

/// The doubt that ordinary surprises lead to at most, in hundredths of risk (ours): what is opaque stays below high.
pub const MILD_DOUBT: u32 = 9;

/// How much doubt a call takes away that changed what was predicted and nothing else, in hundredths of risk (ours).
pub const RELIEF: u32 = 2;

/// What is known after an action ran.
#[derive(Debug, Clone, Copy)]
pub struct Aftermath<'a> {
    /// What was predicted, also for other calls that ran meanwhile.
    pub effects: &'a [Effect],
    /// What changed.
    pub changes: &'a [Change],
    /// What stands where a change was predicted.
    pub standings: &'a [(AbsolutePath, PathState)],
    /// How it ended.
    pub ending: ActionCompletion,
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionCompletion {
    /// It did what it was to do, as far as its status says.
    Succeeded,
    /// It failed: what did not happen is explained by that.
    Failed,
}

/// Prediction and reality side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Where they differ, by path.
    pub surprises: Vec<Surprise>,
    /// How many changes were seen that had been predicted.
    pub expected: usize,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Surprise {
    /// Where.
    pub path: AbsolutePath,
    /// What was seen.
    pub kind: SurpriseKind,
    /// What had been predicted about it, in words.
    pub predicted: String,
}

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SurpriseKind {
    /// A change that was not predicted.
    Unpredicted(ChangeKind),
    /// A certain change that did not happen.
    Missing,
}

impl SurpriseKind {
    /// The name used on the wire, such as `deleted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unpredicted(kind) => kind.name(),
            Self::Missing => "missing",
        }
    }
}

impl From<SurpriseKind> for SurpriseRecordKind {
    fn from(kind: SurpriseKind) -> Self {
        match kind {
            SurpriseKind::Unpredicted(ChangeKind::Created) => Self::Created,
            SurpriseKind::Unpredicted(ChangeKind::Modified) => Self::Modified,
            SurpriseKind::Unpredicted(ChangeKind::Deleted) => Self::Deleted,
            SurpriseKind::Unpredicted(ChangeKind::Rearranged) => Self::Rearranged,
            SurpriseKind::Missing => Self::Missing,
        }
    }
}

/// Compares what was predicted with what changed. The cost is bounded by the product of both.
pub fn compare(aftermath: &Aftermath<'_>) -> Comparison {
    let effects: Vec<&Effect> =
        aftermath.effects.iter().filter(|effect| effect.kind.footprint() != Footprint::None).collect();
    let with_repository = effects.iter().any(|effect| is_version_control(effect));
    let mut comparison = Comparison::default();
    for change in aftermath.changes {
        if effects.iter().any(|effect| explains(effect, change, with_repository)) {
            comparison.expected += 1;
        } else {
            comparison.surprises.push(Surprise {
                path: change.path.clone(),
                kind: SurpriseKind::Unpredicted(change.kind),
                predicted: said_of(&change.path, aftermath.effects),
            });
        }
    }
    if aftermath.ending == ActionCompletion::Succeeded {
        comparison.surprises.extend(missing(aftermath));
    }
    comparison.surprises.sort();
    comparison.surprises.dedup();
    comparison.surprises = outermost(comparison.surprises);
    comparison
}

/// Whether an action was said to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Everything it would change was named.
    Understood,
    /// It was said that something in it could not be followed.
    Opaque,
}

impl Knowledge {
    /// What a prediction says about itself.
    pub fn of(effects: &[Effect]) -> Self {
        let unread = |effect: &Effect| {
            matches!(
                effect.kind,
                EffectKind::Opaque
                    | EffectKind::ProcessSpawn
                    | EffectKind::PackageInstall
                    | EffectKind::RemoteCodeExecution
            )
        };
        if effects.iter().any(unread) { Self::Opaque } else { Self::Understood }
    }
}

/// Whether something else may have made the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherCause {
    /// Nothing that is known of.
    NoneKnown,
    /// Another call ran at the same time, or a process that was started earlier still may.
    Possible,
}

/// How an action changes the doubt about what is opaque in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoubtChange {
    /// In hundredths of risk; below zero it takes doubt away.
    pub points: i32,
    /// The doubt that it leads to at most; a greater one stays as it is.
    pub ceiling: u32,
}

/// What a comparison does to the doubt of the session (all numbers ours). Only the gravest surprise of an action counts, so that a
/// thousand files of one unpacked archive are one surprise. `own` are the paths that the session made itself.
pub fn doubt_change(
    comparison: &Comparison,
    knowledge: Knowledge,
    other: OtherCause,
    own: &[AbsolutePath],
) -> DoubtChange {
    let gravest = comparison
        .surprises
        .iter()
        .map(|surprise| weight(surprise, knowledge, own))
        .max_by_key(|change| (change.ceiling, change.points));
    match gravest {
        // Nobody knows who it was: half the doubt, and never more than ordinary surprises make.
        Some(change) if other == OtherCause::Possible => {
            DoubtChange { points: change.points / 2, ceiling: MILD_DOUBT }
        }
        Some(change) => change,
        None if comparison.expected > 0 => {
            DoubtChange { points: -i32::try_from(RELIEF).unwrap_or(0), ceiling: MOST_DOUBT }
        }
        None => DoubtChange::default(),
    }
}

fn weight(surprise: &Surprise, knowledge: Knowledge, own: &[AbsolutePath]) -> DoubtChange {
    let points = match surprise.kind {
        SurpriseKind::Missing => return DoubtChange { points: 1, ceiling: MILD_DOUBT },
        SurpriseKind::Unpredicted(ChangeKind::Rearranged) => 1,
        SurpriseKind::Unpredicted(ChangeKind::Created) => 2,
        SurpriseKind::Unpredicted(ChangeKind::Modified) => 3,
        SurpriseKind::Unpredicted(ChangeKind::Deleted) => 6,
    };
    let is_grave = match surprise.kind {
        SurpriseKind::Unpredicted(ChangeKind::Deleted) => !own.contains(&surprise.path),
        SurpriseKind::Unpredicted(ChangeKind::Modified) => {
            knowledge == Knowledge::Understood || is_repository_control(&surprise.path)
        }
        SurpriseKind::Unpredicted(ChangeKind::Created) => is_repository_control(&surprise.path),
        SurpriseKind::Unpredicted(ChangeKind::Rearranged) | SurpriseKind::Missing => false,
    };
    DoubtChange {
        // An action that claimed to be understood misled; an opaque one only turned out to do something.
        points: if knowledge == Knowledge::Understood { 2 * points } else { points },
        ceiling: if is_grave { MOST_DOUBT } else { MILD_DOUBT },
    }
}

/// What makes git run something later: its hooks and its configuration.
fn is_repository_control(path: &AbsolutePath) -> bool {
    let mut parts = path.parts().skip_while(|part| *part != ".git").skip(1);
    matches!(parts.next(), Some("hooks" | "config"))
}

/// Whether an effect is one of version control, which adds and removes files as well when it changes them.
fn is_version_control(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::VcsLocalLoss | EffectKind::VcsHistoryRewrite)
        || effect.target.path().is_some_and(|path| path.name() == Some(".git"))
}

fn explains(effect: &Effect, change: &Change, with_repository: bool) -> bool {
    // What makes git run something is worth a word, unless it was said that just this would change.
    let is_said = effect.target.path().is_some() && !effect.is_by_chance();
    if is_repository_control(&change.path)
        && change.kind != ChangeKind::Rearranged
        && !is_said
        && effect.target != Target::Unknown
    {
        return false;
    }
    match change.kind {
        ChangeKind::Created => covers_path(effect, &change.path) || lies_below(effect, &change.path),
        ChangeKind::Modified => {
            covers_path(effect, &change.path)
                || (is_version_control(effect) && change.path.name() == Some(".git"))
        }
        ChangeKind::Rearranged => {
            covers_path(effect, &change.path)
                || lies_below(effect, &change.path)
                || starts_below(effect, &change.path)
        }
        ChangeKind::Deleted if effect.kind.footprint() == Footprint::Removes => {
            covers_path(effect, &change.path)
        }
        ChangeKind::Deleted => with_repository && is_wide(effect) && covers_path(effect, &change.path),
    }
}

/// Whether an effect reaches a path.
fn covers_path(effect: &Effect, path: &AbsolutePath) -> bool {
    match &effect.target {
        Target::Path(target) => match effect.depth {
            Depth::Single => path == target || stands_for(target, path),
            Depth::Recursive => {
                path.is_within(target)
                    || has_process_number(target)
                        && successors(Some(path.clone()), AbsolutePath::parent)
                            .any(|above| stands_for(target, &above))
            }
        },
        Target::Glob(pattern) => AbsolutePath::new(pattern).is_some_and(|pattern| covers(&pattern, path)),
        // It was said that something changes, and not what.
        Target::Unknown => true,
        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
    }
}

/// Whether the target lies below a path: the directories on the way to it come into being with it.
fn lies_below(effect: &Effect, path: &AbsolutePath) -> bool {
    checkrein_policy::location(&effect.target).is_some_and(|target| {
        target.is_within(path)
            || has_process_number(&target)
                && successors(Some(target), AbsolutePath::parent).any(|above| stands_for(&above, path))
    })
}

/// The number of the shell's process, which only that shell knows: a predicted path says `$$` in its place.
const PROCESS_NUMBER: &str = "$$";

fn has_process_number(path: &AbsolutePath) -> bool {
    path.as_str().contains(PROCESS_NUMBER)
}

/// Whether a path is what a predicted one with the number of a process became.
fn stands_for(predicted: &AbsolutePath, path: &AbsolutePath) -> bool {
    has_process_number(predicted) && is_with_number(predicted.as_str(), path.as_str())
}

fn is_with_number(predicted: &str, path: &str) -> bool {
    let Some((before, after)) = predicted.split_once(PROCESS_NUMBER) else { return predicted == path };
    let Some(rest) = path.strip_prefix(before) else { return false };
    // Digits of the name may follow those of the number.
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (1..=digits).any(|count| is_with_number(after, rest.get(count..).unwrap_or_default()))
}

/// Whether a pattern may mean something below a path.
fn starts_below(effect: &Effect, path: &AbsolutePath) -> bool {
    matches!(effect.target, Target::Glob(_))
        && checkrein_policy::location(&effect.target)
            .is_some_and(|start| start.is_within(path) || path.is_within(&start))
}

fn is_wide(effect: &Effect) -> bool {
    effect.depth == Depth::Recursive || matches!(effect.target, Target::Glob(_) | Target::Unknown)
}

/// What had been predicted about a path, in words.
fn said_of(path: &AbsolutePath, effects: &[Effect]) -> String {
    let about = |effect: &&Effect| effect.kind.footprint() != Footprint::None && covers_path(effect, path);
    if let Some(effect) = effects.iter().find(about) {
        return format!("that it {}", sentence(effect));
    }
    let mut unread: Vec<&str> = effects
        .iter()
        .filter(|effect| Knowledge::of(std::slice::from_ref(effect)) == Knowledge::Opaque)
        .map(|effect| effect.cause.as_str())
        // A statement of the shell that cannot be followed has no program.
        .filter(|cause| !cause.is_empty())
        .collect();
    unread.dedup();
    if !unread.is_empty() {
        return format!("that what `{}` does is not known", unread.join("`, `"));
    }
    match effects.iter().find(|effect| effect.kind.footprint() != Footprint::None) {
        Some(effect) => format!("only that it {}", sentence(effect)),
        None => "no change".to_owned(),
    }
}

/// What was certain and did not happen.
fn missing(aftermath: &Aftermath<'_>) -> Vec<Surprise> {
    let certain = aftermath.effects.iter().filter(|effect| effect.certainty == Certainty::Certain);
    let missed = certain.filter_map(|effect| {
        // The data of a repository change when there is something to write down.
        let is_repository = |path: &&AbsolutePath| {
            let is_data = effect.kind == EffectKind::FileModify && effect.nature.is_kept_by_version_control();
            path.name() == Some(".git") || is_data
        };
        // Of a name that only the shell knows nobody can say that it is not there.
        let path = effect.target.path().filter(|path| !is_repository(path) && !has_process_number(path))?;
        let standing =
            aftermath.standings.iter().find(|(known, _)| known == path).map(|(_, known)| *known)?;
        let is_missed = match (effect.kind, standing) {
            (EffectKind::FileCreate | EffectKind::FileModify, PathState::Missing) => {
                !is_removed(path, aftermath.effects)
            }
            (EffectKind::FileModify, PathState::Unchanged) => effect.depth == Depth::Single,
            (EffectKind::FileDelete, PathState::Unchanged) => true,
            _ => false,
        };
        is_missed.then(|| Surprise {
            path: path.clone(),
            kind: SurpriseKind::Missing,
            predicted: format!("that it {}", sentence(effect)),
        })
    });
    missed.collect()
}

fn is_removed(path: &AbsolutePath, effects: &[Effect]) -> bool {
    effects.iter().any(|effect| effect.kind.footprint() == Footprint::Removes && covers_path(effect, path))
}

/// One surprise for a whole tree that came or went, and none for the directory around it.
fn outermost(surprises: Vec<Surprise>) -> Vec<Surprise> {
    let paths_of = |wanted: ChangeKind| -> BTreeSet<AbsolutePath> {
        let of_kind = surprises.iter().filter(|one| one.kind == SurpriseKind::Unpredicted(wanted));
        of_kind.map(|one| one.path.clone()).collect()
    };
    let (created, deleted) = (paths_of(ChangeKind::Created), paths_of(ChangeKind::Deleted));
    let holders: BTreeSet<AbsolutePath> = surprises
        .iter()
        .filter(|one| one.kind != SurpriseKind::Unpredicted(ChangeKind::Rearranged))
        .filter_map(|one| one.path.parent())
        .collect();
    let below = |trees: &BTreeSet<AbsolutePath>, path: &AbsolutePath| {
        let mut next = path.parent();
        std::iter::from_fn(|| {
            let above = next.take()?;
            next = above.parent();
            Some(above)
        })
        .any(|above| trees.contains(&above))
    };
    let is_kept = |surprise: &Surprise| match surprise.kind {
        SurpriseKind::Unpredicted(ChangeKind::Created | ChangeKind::Modified) => {
            !below(&created, &surprise.path)
        }
        SurpriseKind::Unpredicted(ChangeKind::Deleted) => !below(&deleted, &surprise.path),
        SurpriseKind::Unpredicted(ChangeKind::Rearranged) => {
            !holders.contains(&surprise.path)
                && !created.contains(&surprise.path)
                && !below(&created, &surprise.path)
        }
        SurpriseKind::Missing => true,
    };
    let kept: Vec<bool> = surprises.iter().map(is_kept).collect();
    surprises.into_iter().zip(kept).filter_map(|(surprise, kept)| kept.then_some(surprise)).collect()
}

#[cfg(test)]
mod tests;
