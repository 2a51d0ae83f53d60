//! What a user reads in their client about a call: one line where something was changed, saved or held, and nothing where all was well.

use std::collections::BTreeSet;

use checkrein_policy::Mode;
use checkrein_protocol::{
    AbsolutePath, Action, Certainty, Depth, Effect, EffectKind, FileChange, HookResponse, Outcome,
    ReviewRecord, SnapshotRecord,
};
use checkrein_review::{Review, Safety, VerdictKind};

use crate::checkpoint;
use crate::context::Context;
use crate::text::{columns, counted, cut, one_line, short_names};

/// The most columns of the line (ours): clients put their own words before it, and terminals are rarely narrower.
pub(crate) const WIDTH: usize = 120;

/// The most columns of a line about a safer form (ours): one that loses its reason says nothing.
const WITH_REASON: usize = 170;

/// The fewest columns that a call has in it, however much there is to say about it (ours).
const CALL: usize = 24;

/// How much of a call is looked through for secrets before it is cut, in characters (ours).
const MASKED: usize = 4_000;

/// The line about a call that was answered so; `None` where a user need not know. A question says its reason itself.
pub(crate) fn line(
    context: &Context,
    review: &Review,
    action: &Action,
    answer: &HookResponse,
    saved: Option<&SnapshotRecord>,
) -> Option<String> {
    // There is room for the end of a name only where it does not begin at the root of the disk.
    let masked = |text: &str| named_from_here(context, &checkpoint::masked(context, text));
    let call = || masked(&in_words(action));
    match answer {
        HookResponse::Replaced { besides, .. } => line(context, review, action, besides, saved),
        HookResponse::Ask { .. } => None,
        HookResponse::Rewrite { .. } => {
            let rewrite = review.rewrite.as_ref()?;
            let why = masked(&rewrite.note);
            Some(match rewrite.safety {
                Safety::Changed => {
                    let now = in_words(&Action::command(rewrite.command.as_str(), action.cwd.clone()));
                    replaced("runs", &masked(&now), &call(), &why)
                }
                Safety::Contained => about("ran in a sandbox: ", &call(), &format!(": {why}")),
                Safety::Masked => about("masked the secrets that ", &call(), " prints"),
            })
        }
        HookResponse::NoOpinion if context.policy().config().mode != Mode::Enforce => None,
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            let is_told = review.verdict.kind == VerdictKind::Nudge || deletes_work(review);
            let saved = saved.filter(|saved| saved.entries > 0 && is_told)?;
            Some(about(&format!("saved {} before ", things(review, saved)), &call(), "; `checkrein undo`"))
        }
        HookResponse::Deny { .. } | HookResponse::Halt { .. } => Some(stopped(context, review, action)),
    }
}

/// The line about a call that was refused, whatever form it would have run in.
pub(crate) fn stopped(context: &Context, review: &Review, action: &Action) -> String {
    let masked = |text: &str| named_from_here(context, &checkpoint::masked(context, text));
    let held = if review.verdict.kind == VerdictKind::Halt { "halted at " } else { "stopped " };
    about(held, &masked(&in_words(action)), &format!(": {}", masked(&review.reasoning.primary)))
}

/// The line about a call that ran in a safer form, after the user had agreed to that; `None` where it ran as it was. `asked` is its review.
pub(crate) fn agreed(context: &Context, asked: &ReviewRecord, outcome: &Outcome) -> Option<String> {
    let rewrite = asked.rewrite.as_ref()?.as_str()?;
    let ran = checkpoint::masked(context, outcome.action.shell_text()?.trim());
    let meant = crate::text::call(asked);
    let meant = meant.strip_prefix(asked.tool.as_str()).unwrap_or(&meant).trim();
    // A client that passes the new input over has run what was asked for.
    if ran == meant && ran != rewrite.trim() {
        return None;
    }
    let shown = |text: &str| named_from_here(context, text);
    Some(replaced("ran", &shown(rewrite.trim()), &shown(meant), "as you agreed"))
}

/// The line about a call in whose output so many values were masked before the model read it.
pub(crate) fn masked_output(context: &Context, outcome: &Outcome, values: usize) -> String {
    let call = named_from_here(context, &checkpoint::masked(context, &in_words(&outcome.action)));
    about(&format!("masked {} in the output of ", counted(values as u64, "value")), &call, "")
}

/// A text with the names of files as the user knows them: from the workspace or the home directory on.
fn named_from_here(context: &Context, text: &str) -> String {
    short_names(text, context.workspace().as_str(), context.environment().home.as_str())
}

/// Whether a file or folder goes for certain that is nowhere else: whoever reads along wants to know that it is saved, however small it is.
fn deletes_work(review: &Review) -> bool {
    let is_work = |effect: &Effect| {
        effect.kind == EffectKind::FileDelete && effect.saved && effect.certainty == Certainty::Certain
    };
    review.side_effects.effects.iter().any(is_work)
}

/// A call in one line that is long enough for its secrets to be told as such.
fn in_words(action: &Action) -> String {
    let text = action.shell_text().map_or_else(
        || checkpoint::call_in_words(&action.tool, &action.input),
        |text| text.trim().to_owned(),
    );
    cut(&text, MASKED)
}

/// How much was saved, in words.
fn things(review: &Review, saved: &SnapshotRecord) -> String {
    if let Some(kept) = kept_by_git(review) {
        return kept;
    }
    let effects = &review.side_effects.effects;
    let is_new = |effect: &Effect| effect.kind.file_change() == Some(FileChange::Create);
    let changed: Vec<&Effect> =
        effects.iter().filter(|effect| is_change_of_work(effect) && !is_new(effect)).collect();
    // Where nobody knows what changes everything is saved, and where git may change any file: how much that is says nothing about the call.
    if changed.is_empty() {
        return "the project".to_owned();
    }
    let is_deep = effects.iter().any(|effect| effect.depth == Depth::Recursive);
    let named: Option<BTreeSet<&AbsolutePath>> = changed.iter().map(|effect| effect.target.path()).collect();
    if let Some(named) = named.filter(|_| !is_deep) {
        return counted(named.len() as u64, "file");
    }
    let one = if is_deep && saved.entries > 1 { "file and folder" } else { "file" };
    counted(saved.entries, one).replace("file and folders", "files and folders")
}

/// What git keeps that was saved, where nothing else was: how many files that takes says nothing to anybody.
fn kept_by_git(review: &Review) -> Option<String> {
    let effects = &review.side_effects.effects;
    let loses_history =
        |effect: &Effect| matches!(effect.kind, EffectKind::VcsLocalLoss | EffectKind::VcsHistoryRewrite);
    (effects.iter().any(loses_history) && !effects.iter().any(is_change_of_work))
        .then(|| checkpoint::references(effects).unwrap_or_else(|| "the state of the repository".to_owned()))
}

/// Whether it changes a file that is not among those in which git keeps what it knows.
fn is_change_of_work(effect: &Effect) -> bool {
    let is_inside = |path: &AbsolutePath| path.parts().any(|part| part == ".git");
    let path = effect.target.path();
    let is_lost = effect.kind == EffectKind::VcsLocalLoss && path.is_some();
    (effect.kind.file_change().is_some() || is_lost) && !path.is_some_and(is_inside)
}

/// What runs instead of what was asked for, and why: the reason is kept before the call, which the client shows right above.
fn replaced(verb: &str, now: &str, call: &str, why: &str) -> String {
    let whole = format!("checkrein: {verb} `{now}` instead of `{call}`: {why}");
    if !whole.contains('\n') && columns(&whole) <= WIDTH {
        return one_line(&whole, WIDTH);
    }
    let room = WITH_REASON.saturating_sub(columns("checkrein:  `` instead: ") + columns(verb));
    let why = one_line(why, room.saturating_sub(CALL.min(columns(now))));
    let now = one_line(now, room.saturating_sub(columns(&why)));
    one_line(&format!("checkrein: {verb} `{now}` instead: {why}"), WITH_REASON)
}

/// A sentence about a call: what stands behind the call is kept before the call is.
fn about(before: &str, call: &str, behind: &str) -> String {
    let room = WIDTH.saturating_sub(columns("checkrein: ``") + columns(before));
    let behind = one_line(behind, room.saturating_sub(CALL.min(columns(call))));
    let room = room.saturating_sub(columns(&behind));
    one_line(&format!("checkrein: {before}`{}`{behind}", one_line(call, room)), WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_fits_one_line_and_keeps_how_to_take_it_back() {
        let long = "rm -rf src ".repeat(40);
        let said = about("saved 3 files before ", &long, "; `checkrein undo`");
        assert!(said.ends_with("…`; `checkrein undo`") && columns(&said) == WIDTH, "{said}");
        let said = about("stopped ", "rm -rf ~", &format!(": {}", "because ".repeat(40)));
        assert!(
            said.starts_with("checkrein: stopped `rm -rf ~`: because") && columns(&said) <= WIDTH,
            "{said}"
        );
        let wide = about("stopped ", &"削除".repeat(90), ": because");
        assert!(columns(&wide) <= WIDTH && wide.ends_with("`: because"), "{wide}");
        let short = replaced("runs", "new", "old", "safer");
        assert_eq!(short, "checkrein: runs `new` instead of `old`: safer");
        let why = "`--force` became `--force-with-lease`, which refuses to overwrite commits";
        for (now, call) in [("new", long.as_str()), (long.as_str(), "old"), (long.as_str(), long.as_str())] {
            let said = replaced("runs", now, call, why);
            assert!(columns(&said) <= WITH_REASON && said.ends_with(&format!(": {why}")), "{said}");
        }
    }

    #[test]
    fn a_call_cannot_speak_to_the_terminal() {
        let said = about("stopped ", "echo \u{1b}[2Jgone\u{202e}txt\r\nsecond", ": because");
        assert_eq!(said, "checkrein: stopped `echo [2Jgonetxt…`: because");
    }
}
