//! What a user said not to do, as far as it is said in so many words.

use checkrein_effects::RunCommand;
use checkrein_facts::{PastAction, PastDeed, World};
use checkrein_policy::{Ban, BannedDeed, demands, forbids, lies_at};
use checkrein_protocol::{AbsolutePath, Certainty, Effect, EffectKind, Nature, Stake};

use crate::fingerprint::ActionFingerprint;

/// What is said of an action that does what a user forbade.
fn issue(deed: BannedDeed) -> Option<&'static str> {
    match deed {
        BannedDeed::Push => Some("it pushes, and the user said not to"),
        BannedDeed::Commit => Some("it commits, and the user said not to"),
        BannedDeed::Install => Some("it installs software, and the user said not to"),
        BannedDeed::Publish => Some("it publishes, and the user said not to"),
        // They are held to the clause that forbids them, and told with it.
        BannedDeed::Test | BannedDeed::Delete => None,
    }
}

/// Whether an action does this.
fn does(deed: BannedDeed, effects: &[Effect], commands: &[RunCommand]) -> bool {
    match deed {
        BannedDeed::Push => {
            has(effects, EffectKind::VcsRemoteUpdate) || has(effects, EffectKind::VcsHistoryRewrite)
        }
        BannedDeed::Commit => commands.iter().any(commits),
        BannedDeed::Install => effects
            .iter()
            .any(|effect| effect.kind == EffectKind::PackageInstall && effect.nature != Nature::Removal),
        BannedDeed::Publish => {
            has(effects, EffectKind::Publish) || has(effects, EffectKind::InfrastructureChange)
        }
        BannedDeed::Test => commands.iter().any(runs_tests),
        BannedDeed::Delete => effects.iter().any(is_deletion),
    }
}

fn has(effects: &[Effect], kind: EffectKind) -> bool {
    effects.iter().any(|effect| effect.kind == kind)
}

/// What an action does although the user said not to; the newest goal that speaks of it decides.
pub(crate) fn forbidden(
    effects: &[Effect],
    commands: &[RunCommand],
    goals: &[String],
) -> Option<&'static str> {
    BannedDeed::ALL.into_iter().find_map(|deed| {
        let said = issue(deed)?;
        let is_forbidden = || goals.iter().rev().find_map(|goal| forbids(goal, deed)) == Some(true);
        (does(deed, effects, commands) && is_forbidden()).then_some(said)
    })
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
                Some(Ban::Doing(_)) | None => false,
            };
            let places: &[String] = match &demand.ban {
                Some(Ban::Touching(places) | Ban::Leaving(places)) => places,
                Some(Ban::Doing(_)) | None => &[],
            };
            let is_lifted = later.iter().any(|later| {
                places.iter().any(|place| later.contains(place.trim_end_matches('/')))
                    || changed.iter().any(|path| later.contains(path))
            });
            let (does, is_allowed) = match demand.ban.as_ref()? {
                Ban::Touching(_) | Ban::Leaving(_) => {
                    (!is_lifted && changed.iter().any(|path| breaks(path)), false)
                }
                Ban::Doing(deed) => (
                    does(*deed, effects, commands),
                    later.iter().any(|goal| forbids(goal, *deed) == Some(false)),
                ),
            };
            let broke = |past: &PastAction| {
                let wrote = past.deeds.iter().any(|deed| match deed {
                    PastDeed::Wrote(path) => path.relative_to(workspace).is_some_and(breaks),
                    PastDeed::Replaced(_) | PastDeed::Installed(_) | PastDeed::Pushed => false,
                });
                wrote || places.is_empty() && past.kind == fingerprint.kind
            };
            (does && !is_allowed && !recent().any(broke))
                .then(|| format!("the user said: \"{}\"", shortened(&demand.clause)))
        })
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
