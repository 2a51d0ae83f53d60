//! What a user said not to do, as far as it is said in so many words.

use checkrein_effects::RunCommand;
use checkrein_protocol::{Effect, EffectKind, Nature};

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
        does: |_, commands| {
            let commits = |command: &RunCommand| {
                let first = command.words.first().and_then(Option::as_deref);
                command.program == "git" && first == Some("commit")
            };
            commands.iter().any(commits)
        },
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
