//! What a user said not to do, as far as it is said in so many words.

use checkrein_effects::RunCommand;
use checkrein_facts::{PastAction, PastDeed, World};
use checkrein_policy::{Ban, demands, lies_at};
use checkrein_protocol::{AbsolutePath, Certainty, Effect, EffectKind, Nature, Stake};

use crate::fingerprint::ActionFingerprint;

/// What a user forbids, as it is said: the words, and whether an effect or a program does it.
struct Forbidden {
    words: &'static [&'static str],
    does: fn(&[Effect], &[RunCommand]) -> bool,
    issue: &'static str,
}

/// Deeds that need no object to be told by (ours).
static FORBIDDEN: [Forbidden; 4] = [
    Forbidden {
        words: &["push", "pushing"],
        does: |effects, _| {
            has(effects, EffectKind::VcsRemoteUpdate) || has(effects, EffectKind::VcsHistoryRewrite)
        },
        issue: "it pushes, and the user said not to",
    },
    Forbidden {
        words: &["commit", "committing"],
        does: |_, commands| commands.iter().any(commits),
        issue: "it commits, and the user said not to",
    },
    Forbidden {
        words: &["install", "installing"],
        does: |effects, _| {
            let installs = |effect: &Effect| {
                effect.kind == EffectKind::PackageInstall && effect.nature != Nature::Removal
            };
            effects.iter().any(installs)
        },
        issue: "it installs software, and the user said not to",
    },
    Forbidden {
        words: &["publish", "publishing", "release", "releasing", "deploy", "deploying"],
        does: |effects, _| {
            has(effects, EffectKind::Publish) || has(effects, EffectKind::InfrastructureChange)
        },
        issue: "it publishes, and the user said not to",
    },
];

fn has(effects: &[Effect], kind: EffectKind) -> bool {
    effects.iter().any(|effect| effect.kind == kind)
}

/// What an action does although the user said not to; the newest goal that speaks of it decides.
pub(crate) fn forbidden(
    effects: &[Effect],
    commands: &[RunCommand],
    goals: &[String],
) -> Option<&'static str> {
    FORBIDDEN
        .iter()
        .find(|one| {
            (one.does)(effects, commands)
                && goals.iter().rev().find_map(|goal| is_forbidden(goal, one.words)) == Some(true)
        })
        .map(|one| one.issue)
}

/// Whether a text forbids the deed of these words; `None` when it does not speak of it. Of several places the last decides.
fn is_forbidden(goal: &str, deed: &[&str]) -> Option<bool> {
    /// A word that forbids stands at most so many words before the deed (ours): `do not yet push`, `without also committing`.
    const REACH: usize = 3;
    const FORBIDDING: [&str; 6] = ["not", "don't", "dont", "never", "without", "no"];
    let words: Vec<String> = goal
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '"' | '`'))
        .map(|word| word.replace('\u{2019}', "'").to_lowercase())
        .collect();
    let word = |text: &str| text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned();
    let at = words.iter().rposition(|text| deed.contains(&word(text).as_str()))?;
    let before = words.get(at.saturating_sub(REACH)..at).unwrap_or_default();
    // What stands before the end of a sentence speaks of something else.
    let before = before.iter().rev().take_while(|text| !text.ends_with(['.', '!', '?', ':']));
    Some(before.map(|text| word(text)).any(|text| FORBIDDING.contains(&text.as_str())))
}

/// A demand of the user that an action breaks, as a sentence that quotes it; `None` where it breaks none, or broke it before, so that this was
/// told. The newest goal that speaks of a place decides about it.
pub(crate) fn first_break(
    effects: &[Effect],
    commands: &[RunCommand],
    fingerprint: ActionFingerprint,
    world: &dyn World,
) -> Option<String> {
    let history = world.history();
    let workspace = &world.place().workspace;
    let changed: Vec<&str> = effects.iter().filter_map(|effect| changed_in(effect, workspace)).collect();
    let goals = &history.goals;
    goals.iter().enumerate().rev().find_map(|(index, goal)| {
        let later = goals.get(index + 1..).unwrap_or_default();
        let in_turn = usize::try_from(history.in_turn).unwrap_or(usize::MAX);
        let since = if later.is_empty() { in_turn } else { usize::MAX };
        let recent = || history.recent.iter().rev().take(since).filter(|past| past.failed != Some(true));
        demands(goal).into_iter().find_map(|demand| {
            let breaks = |path: &str| match &demand.ban {
                Some(Ban::Touching(places)) => places.iter().any(|place| lies_at(path, place)),
                Some(Ban::Leaving(places)) => !places.iter().any(|place| lies_at(path, place)),
                Some(Ban::Deleting | Ban::Testing | Ban::Pushing | Ban::Committing) | None => false,
            };
            let places: &[String] = match &demand.ban {
                Some(Ban::Touching(places) | Ban::Leaving(places)) => places,
                Some(Ban::Deleting | Ban::Testing | Ban::Pushing | Ban::Committing) | None => &[],
            };
            let is_lifted = later.iter().any(|later| {
                places.iter().any(|place| later.contains(place.trim_end_matches('/')))
                    || changed.iter().any(|path| later.contains(path))
            });
            let does = match demand.ban.as_ref()? {
                Ban::Touching(_) | Ban::Leaving(_) => !is_lifted && changed.iter().any(|path| breaks(path)),
                Ban::Deleting => effects.iter().any(is_deletion),
                Ban::Testing => commands.iter().any(runs_tests),
                Ban::Pushing => {
                    has(effects, EffectKind::VcsRemoteUpdate) || has(effects, EffectKind::VcsHistoryRewrite)
                }
                Ban::Committing => commands.iter().any(commits),
            };
            let broke = |past: &PastAction| {
                let wrote = past.deeds.iter().any(|deed| match deed {
                    PastDeed::Wrote(path) => path.relative_to(workspace).is_some_and(breaks),
                    PastDeed::Replaced(_) | PastDeed::Installed(_) | PastDeed::Pushed => false,
                });
                wrote || places.is_empty() && past.kind == fingerprint.kind
            };
            let is_allowed = places.is_empty() && speaks_for(later, effects, commands);
            (does && !is_allowed && !recent().any(broke))
                .then(|| format!("the user said: \"{}\"", shortened(&demand.clause)))
        })
    })
}

/// Whether a later goal speaks of pushing or committing without forbidding it.
fn speaks_for(later: &[String], effects: &[Effect], commands: &[RunCommand]) -> bool {
    FORBIDDEN.iter().any(|one| {
        (one.does)(effects, commands) && later.iter().any(|goal| is_forbidden(goal, one.words) == Some(false))
    })
}

/// The path of a change in the workspace, as it is named there.
fn changed_in<'a>(effect: &'a Effect, workspace: &AbsolutePath) -> Option<&'a str> {
    let is_certain = effect.certainty == Certainty::Certain && effect.kind.file_change().is_some();
    let own = effect.nature.is_kept_by_version_control() || effect.stake == Stake::Regenerable;
    effect.target.path().filter(|_| is_certain && !own)?.relative_to(workspace)
}

/// Whether an effect removes a file that somebody may miss.
fn is_deletion(effect: &Effect) -> bool {
    effect.kind == EffectKind::FileDelete
        && effect.certainty == Certainty::Certain
        && effect.stake > Stake::Regenerable
        && !matches!(
            effect.nature,
            Nature::Moved | Nature::MadeBySameCommand | Nature::ClonedBySameCommand | Nature::NotThere
        )
}

/// Whether a program runs tests.
fn runs_tests(command: &RunCommand) -> bool {
    const ALWAYS: [&str; 11] = [
        "pytest",
        "py.test",
        "jest",
        "vitest",
        "mocha",
        "tox",
        "nox",
        "ctest",
        "phpunit",
        "rspec",
        "gotestsum",
    ];
    const BY_WORD: [&str; 14] = [
        "cargo", "go", "npm", "yarn", "pnpm", "bun", "deno", "make", "mvn", "gradle", "dotnet", "mix",
        "swift", "python3",
    ];
    let mut words = command.words.iter().flatten().map(String::as_str);
    let program = command.program.as_str();
    ALWAYS.contains(&program)
        || BY_WORD.contains(&program)
            && words.any(|word| matches!(word, "test" | "tests" | "nextest" | "pytest" | "unittest"))
}

fn commits(command: &RunCommand) -> bool {
    command.program == "git" && command.words.first().and_then(Option::as_deref) == Some("commit")
}

fn shortened(clause: &str) -> String {
    const LONGEST: usize = 120;
    let kept: String = clause.chars().take(LONGEST).collect();
    if kept.len() < clause.len() { format!("{kept} ...") } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_forbids_in_words() {
        for (goal, forbids) in [
            ("fix the parser, but do not push", Some(true)),
            ("Fix it. Don\u{2019}t push yet!", Some(true)),
            ("commit without pushing.", Some(true)),
            ("never ever push to main", Some(true)),
            ("do not touch the tests. Push when you are done", Some(false)),
            ("push it, please", Some(false)),
            ("do not push yet; once it is green, push", Some(false)),
            ("make the tests pass", None),
            ("press the pushbutton", None),
        ] {
            assert_eq!(is_forbidden(goal, &["push", "pushing"]), forbids, "{goal}");
        }
    }
}
