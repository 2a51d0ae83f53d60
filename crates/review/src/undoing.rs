//! What makes no sense after what went before: taking back what was just done, or doing it once more.

use checkrein_effects::RunCommand;
use checkrein_facts::{History, PastAction, PastDeed};
use checkrein_protocol::{AbsolutePath, Certainty, Depth, Effect, EffectKind, Nature};

/// What an action takes back of what the one before it did, in words; `None` where it takes nothing back. Only actions since the last
/// prompt of the user count, and only when nothing in between did more than read something else. What was used meanwhile has served its
/// purpose, and what the user asked for anew is not a contradiction.
pub(crate) fn undone(effects: &[Effect], commands: &[RunCommand], history: &History) -> Option<&'static str> {
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
        PastDeed::Wrote(path) => effects.iter().find_map(|effect| takes_back(effect, path)),
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
    is_put_back.then_some("it takes back what was just written, and nothing has used it")
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
