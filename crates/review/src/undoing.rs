//! What makes no sense after what went before: taking back what was just done, or doing it once more.

use checkrein_effects::{AnnouncedContent, RunCommand};
use checkrein_facts::{FileText, History, PastAction, PastDeed, World};
use checkrein_protocol::{
    AbsolutePath, Certainty, Depth, Effect, EffectKind, Fingerprint, FormerText, Nature,
};

use crate::rationality::Situation;

/// Of how many files an action keeps in mind what they held (ours).
const FORMER_TEXTS: usize = 8;

const TAKEN_BACK: &str = "it takes back what was just written, and nothing has used it";

/// What an action takes back of what the one before it did, in words; `None` where it takes nothing back. Only actions since the last
/// prompt of the user count, and only when nothing in between did more than read something else. What was used meanwhile has served its
/// purpose, and what the user asked for anew is not a contradiction.
pub(crate) fn undone(situation: &Situation<'_>) -> Option<&'static str> {
    let Situation { effects, commands, world, .. } = *situation;
    let history = world.history();
    let in_turn = usize::try_from(history.in_turn).unwrap_or(usize::MAX);
    let ran = || history.recent.iter().rev().take(in_turn).filter(|past| past.failed.is_some());
    let last = ran().find(|past| !past.only_looked).filter(|past| past.failed == Some(false))?;
    let looked: Vec<&PastAction> = ran().take_while(|past| past.only_looked).collect();
    let is_used = |path: &AbsolutePath| {
        let read = |effect: &Effect| {
            effect.kind == EffectKind::FileRead
                && effect.target.path().is_some_and(|read| covers(read, effect.depth, path))
        };
        looked.iter().any(|past| past.paths.contains(path)) || effects.iter().any(read)
    };
    last.deeds.iter().find_map(|deed| match deed {
        PastDeed::Wrote(path) if is_used(path) => None,
        PastDeed::Wrote(path) => {
            effects.iter().find_map(|effect| takes_back(effect, path)).or_else(|| empties(situation, path))
        }
        PastDeed::Replaced(former) => {
            let is_back = !is_used(&former.path) && puts_back(situation, former);
            is_back.then_some(TAKEN_BACK)
        }
        PastDeed::Installed(name) => {
            let is_removed = |effect: &Effect| {
                effect.kind == EffectKind::PackageInstall
                    && effect.nature == Nature::Removal
                    && effect.target.text() == Some(name)
            };
            effects.iter().any(is_removed).then_some("it removes what was just installed")
        }
        PastDeed::Pushed => {
            commands.iter().any(goes_back).then_some("it goes back behind what was just pushed")
        }
    })
}

/// What an effect takes back of what was written there.
fn takes_back(effect: &Effect, written: &AbsolutePath) -> Option<&'static str> {
    let reaches = effect.target.path().is_some_and(|path| covers(path, effect.depth, written));
    if !reaches || effect.certainty != Certainty::Certain {
        return None;
    }
    let is_gone = effect.kind == EffectKind::FileDelete
        && !matches!(
            effect.nature,
            Nature::Moved | Nature::MadeBySameCommand | Nature::ClonedBySameCommand | Nature::NotThere
        );
    if is_gone {
        return Some("it removes what was just made or changed, and nothing has used it");
    }
    let is_put_back = effect.kind == EffectKind::VcsLocalLoss;
    is_put_back.then_some(TAKEN_BACK)
}

/// Says it where a file that holds something is certainly left without anything in it.
fn empties(situation: &Situation<'_>, written: &AbsolutePath) -> Option<&'static str> {
    let is_blank = |text: &str| text.trim().is_empty();
    let holds_something = || match situation.world.text(written) {
        FileText::Whole(text) => !is_blank(&text),
        FileText::Beginning(_) => true,
        FileText::Unknown => false,
    };
    let is_emptied = left_there(situation, written).is_some_and(is_blank) && holds_something();
    is_emptied.then_some("it empties what was just made or changed, and nothing has used it")
}

/// Whether a file certainly holds afterwards what it held before the last change, and does not now.
fn puts_back(situation: &Situation<'_>, former: &FormerText) -> bool {
    let Some(left) = left_there(situation, &former.path) else { return false };
    Fingerprint::of(left) == former.text
        && matches!(situation.world.text(&former.path), FileText::Whole(now) if now != left)
}

/// What an action certainly leaves in a file that it overwrites; `None` where it is not known, or does not overwrite it.
fn left_there<'a>(situation: &'a Situation<'_>, path: &AbsolutePath) -> Option<&'a str> {
    let overwrites = |effect: &Effect| overwritten(effect) == Some(path);
    if !situation.effects.iter().any(overwrites) {
        return None;
    }
    let mut left = situation.announced.iter().filter(|(place, _)| place == path);
    // More than one is what it may be, one way or the other.
    let (Some((_, AnnouncedContent::Text(text))), None) = (left.next(), left.next()) else { return None };
    Some(text)
}

/// The file that an effect certainly overwrites.
fn overwritten(effect: &Effect) -> Option<&AbsolutePath> {
    let is_certain = effect.certainty == Certainty::Certain && effect.depth == Depth::Single;
    let is_change = effect.kind == EffectKind::FileModify && is_certain;
    effect.target.path().filter(|_| is_change && !effect.nature.is_kept_by_version_control())
}

/// What files that these effects certainly overwrite hold now, the first few: what the next action may put back.
pub(crate) fn former_texts(effects: &[Effect], world: &dyn World) -> Vec<FormerText> {
    let mut former: Vec<FormerText> = Vec::new();
    for path in effects.iter().filter_map(overwritten) {
        if former.len() >= FORMER_TEXTS {
            break;
        }
        if former.iter().any(|known| known.path == *path) {
            continue;
        }
        // What is too long to be read is too long to be compared.
        if let FileText::Whole(text) = world.text(path) {
            former.push(FormerText { path: path.clone(), text: Fingerprint::of(&text) });
        }
    }
    former
}

fn covers(path: &AbsolutePath, depth: Depth, other: &AbsolutePath) -> bool {
    match depth {
        Depth::Single => path == other,
        Depth::Recursive => other.is_within(path),
    }
}

/// Whether a program moves a branch back to an older commit, or puts another commit in the place of the last.
fn goes_back(command: &RunCommand) -> bool {
    let mut words = command.words.iter().flatten().map(String::as_str);
    let is_older = |word: &str| !word.starts_with('-') && word.contains(['~', '^']);
    command.program == "git"
        && match words.find(|word| matches!(*word, "reset" | "commit")) {
            Some("reset") => words.any(is_older),
            Some(_) => words.any(|word| word == "--amend"),
            None => false,
        }
}

/// Whether the same action ran and succeeded in this turn, at most three actions ago (ours), and nothing has happened since but looks.
pub(crate) fn is_repeated(exact: u64, history: &History) -> bool {
    const BACK: usize = 3;
    let in_turn = usize::try_from(history.in_turn).unwrap_or(usize::MAX);
    let mut recent = history.recent.iter().rev().take(in_turn.min(BACK));
    let since = recent.find(|past| past.exact == exact || !past.only_looked);
    since.is_some_and(|past| past.exact == exact && past.failed == Some(false))
}
