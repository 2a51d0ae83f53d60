//! Rationality: does the action make sense now (seed 002, design 5).
//!
//! A component without input is left out of the mean; it never counts as good or bad.
//!
//! | what | component | value | source |
//! |---|---|---|---|
//! | it builds on what went before | progression | 1 | seed 002 |
//! | it explores | progression | .7 | seed 002 |
//! | it repeats what was done, and nothing has changed since | progression | .3 | seed 002 |
//! | it removes what the last actions looked at or worked on | progression | .3 | ours |
//! | it takes back what was just done: removes or empties what was made, puts back what was written, uninstalls, goes back behind what was pushed | progression | 0 | seed 002 (contradicts) |
//! | a cheaper way is known: it looks through the whole home or machine | efficiency | .5 | seed 002 |
//! | it names what a goal names, in part or not at all | goal alignment | 1 to .4 | 1 seed 002, .4 ours: words that do not meet prove little |
//! | it does what the user said not to do | goal alignment | 0 | seed 002 (does not contribute) |
//! | it is not well formed | completeness | .5 | ours |
//! | a part of it cannot be understood | completeness | .7 | ours |
//!
//! The score is the mean, and at most .4 more than the weakest component (ours): what contradicts itself has low rationality however well
//! it is written, and nothing milder alone falls a level for it.

use std::collections::BTreeSet;

use checkrein_effects::{AnnouncedContent, RunCommand};
use checkrein_facts::World;
use checkrein_policy::Config;
use checkrein_protocol::{AbsolutePath, Action, Depth, Effect, EffectKind, Stake};

use crate::fingerprint::ActionFingerprint;
use crate::forbidden::forbidden;
use crate::undoing;
use crate::verdict::{Rationality, RationalityLevel, Score};

/// By how much the whole may be more than its weakest component.
const ABOVE_THE_WEAKEST: f64 = 0.4;

/// The steps between 0 and 1 that the whole is rounded to (ours).
const STEPS: f64 = 1e9;

/// What the components look at.
pub(crate) struct Situation<'a> {
    pub(crate) action: &'a Action,
    pub(crate) effects: &'a [Effect],
    pub(crate) problems: &'a [String],
    pub(crate) commands: &'a [RunCommand],
    /// What it leaves in files, as far as that is known.
    pub(crate) announced: &'a [(AbsolutePath, AnnouncedContent)],
    pub(crate) fingerprint: ActionFingerprint,
    pub(crate) world: &'a dyn World,
}

/// Computes the rationality of an action.
pub(crate) fn assess(situation: &Situation<'_>, config: &Config) -> Rationality {
    let mut issues = Vec::new();
    let goal_alignment = goal_alignment(situation, &mut issues);
    let logical_progression = logical_progression(situation, &mut issues);
    let efficiency = efficiency(situation, &mut issues);
    let completeness = completeness(situation, &mut issues);
    let parts = [goal_alignment, logical_progression, Some(efficiency), Some(completeness)];
    let known: Vec<f64> = parts.iter().flatten().map(|score| score.value()).collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let weakest = known.iter().copied().fold(1.0, f64::min);
    // A third of 2.4 is .8, also where binary fractions make it a little less.
    let score = Score::new((mean.min(weakest + ABOVE_THE_WEAKEST) * STEPS).round() / STEPS);
    let thresholds = &config.step_reviewer.rationality;
    let level = if score.value() >= thresholds.high_threshold {
        RationalityLevel::High
    } else if score.value() >= thresholds.medium_threshold {
        RationalityLevel::Medium
    } else {
        RationalityLevel::Low
    };
    Rationality { score, level, goal_alignment, logical_progression, efficiency, completeness, issues }
}

/// How much of what the action names is also named by a goal. Words that do not meet prove little, so nothing falls below .4 for it,
/// and a quarter of the words is enough for 1 (ours); 0 where a goal forbids it. `None` without a goal that says at least three words.
fn goal_alignment(situation: &Situation<'_>, issues: &mut Vec<String>) -> Option<Score> {
    let history = situation.world.history();
    if let Some(issue) = forbidden(situation.effects, situation.commands, &history.goals) {
        issues.push(issue.to_owned());
        return Some(Score::new(0.0));
    }
    let goal: BTreeSet<String> = history.goals.iter().flat_map(|text| words(text)).collect();
    if goal.len() < 3 {
        return None;
    }
    let mut named: BTreeSet<String> = words(&input_text(situation.action)).collect();
    for path in situation.effects.iter().filter_map(|effect| effect.target.path()) {
        let inside = path.relative_to(&situation.world.place().workspace).unwrap_or(path.as_str());
        named.extend(words(inside));
    }
    if named.is_empty() {
        return None;
    }
    let shared = named.intersection(&goal).count() as f64 / named.len() as f64;
    let score = 0.4 + 0.6 * f64::min(1.0, shared / 0.25);
    if shared == 0.0 {
        issues.push("it names nothing that the task mentions".to_owned());
    }
    Some(Score::new(score))
}

/// builds 1, explores .7, repeats .3, contradicts 0 (seed 002).
fn logical_progression(situation: &Situation<'_>, issues: &mut Vec<String>) -> Option<Score> {
    let history = situation.world.history();
    let recent = &history.recent;
    let previous = recent.last()?;
    if let Some(issue) = undoing::undone(situation) {
        issues.push(issue.to_owned());
        return Some(Score::new(0.0));
    }
    let paths: Vec<&AbsolutePath> =
        situation.effects.iter().filter_map(|effect| effect.target.path()).collect();
    let removes = situation.effects.iter().any(|effect| {
        effect.kind == EffectKind::FileDelete
            && effect.stake >= Stake::Recoverable
            && effect
                .target
                .path()
                .is_some_and(|path| recent.iter().rev().take(3).any(|past| past.paths.contains(path)))
    });
    if removes {
        issues.push("it removes what the last actions worked on".to_owned());
        return Some(Score::new(0.3));
    }
    if previous.exact == situation.fingerprint.exact && !previous.waited {
        issues.push("it repeats the action before it".to_owned());
        return Some(Score::new(0.3));
    }
    if undoing::is_repeated(situation.fingerprint.exact, history) {
        issues.push("it repeats what was done a moment ago, and nothing has changed since".to_owned());
        return Some(Score::new(0.3));
    }
    let builds =
        recent.iter().any(|past| past.paths.iter().any(|path| paths.iter().any(|own| own.is_within(path))));
    Some(Score::new(if builds { 1.0 } else { 0.7 }))
}

/// .5 when a cheaper way is known: walking the whole machine or home where the workspace was meant.
fn efficiency(situation: &Situation<'_>, issues: &mut Vec<String>) -> Score {
    let home = &situation.world.place().home;
    let walks_everything = situation.effects.iter().any(|effect| {
        effect.kind == EffectKind::FileRead
            && effect.depth == Depth::Recursive
            && effect.target.path().is_some_and(|path| home.is_within(path))
    });
    let looks_everywhere = situation.commands.iter().any(|command| walks_all(command, home));
    if walks_everything || looks_everywhere {
        issues.push(
            "it searches the whole home directory or machine, and the workspace would be enough".to_owned(),
        );
        return Score::new(0.5);
    }
    Score::new(1.0)
}

/// Whether a program looks through the whole home or machine for names.
fn walks_all(command: &RunCommand, home: &AbsolutePath) -> bool {
    let is_wide = |word: &&str| AbsolutePath::new(word).is_some_and(|path| home.is_within(&path));
    let words = || command.words.iter().flatten().map(String::as_str);
    match command.program.as_str() {
        "find" => {
            // The places come first; a search that goes two levels deep is a look around.
            let mut places = words().take_while(|word| !word.starts_with(['-', '(', '!']));
            let shallow = words().skip_while(|word| *word != "-maxdepth").nth(1);
            places.any(|word| is_wide(&word))
                && !shallow.is_some_and(|depth| matches!(depth, "0" | "1" | "2"))
        }
        "fd" | "fdfind" => words().filter(|word| !word.starts_with('-')).skip(1).any(|word| is_wide(&word)),
        "ls" => {
            let recursive = |word: &str| {
                word == "--recursive"
                    || word
                        .strip_prefix('-')
                        .is_some_and(|flags| !flags.starts_with('-') && flags.contains('R'))
            };
            words().any(recursive) && words().any(|word| is_wide(&word))
        }
        _ => false,
    }
}

/// Whether the action is whole and understood.
fn completeness(situation: &Situation<'_>, issues: &mut Vec<String>) -> Score {
    if !situation.problems.is_empty() {
        issues.extend(situation.problems.first().map(|problem| format!("it is malformed: {problem}")));
        return Score::new(0.5);
    }
    if situation.effects.iter().any(|effect| effect.kind == EffectKind::Opaque) {
        issues.push("a part of it cannot be read beforehand".to_owned());
        return Score::new(0.7);
    }
    Score::new(1.0)
}

fn input_text(action: &Action) -> String {
    match (action.shell_text(), action.input.as_object()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(fields)) => fields
            .values()
            .filter_map(serde_json::Value::as_str)
            .map(|text| cut(text, 2000))
            .collect::<Vec<_>>()
            .join(" "),
        (None, None) => String::new(),
    }
}

fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The content words of a text: letters and digits, split at case changes, lower case, at least three characters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut lower = false;
    for character in text.chars().chain([' ']) {
        let breaks = !character.is_alphanumeric() || (character.is_uppercase() && lower);
        if breaks {
            if word.chars().count() >= 3 && !STOP_WORDS.contains(&word.as_str()) {
                found.push(std::mem::take(&mut word));
            }
            word.clear();
        }
        if character.is_alphanumeric() {
            lower = character.is_lowercase();
            word.extend(character.to_lowercase());
        }
    }
    found.into_iter()
}

/// Words that say nothing about a goal.
const STOP_WORDS: [&str; 28] = [
    "the", "and", "for", "with", "that", "this", "from", "into", "not", "are", "was", "have", "has", "you",
    "your", "can", "please", "should", "would", "will", "all", "but", "use", "its", "then", "there", "when",
    "what",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_identifiers_and_drop_noise() {
        let found: Vec<String> = words("Fix the loginHandler in src/auth_service.rs!").collect();
        assert_eq!(found, ["fix", "login", "handler", "src", "auth", "service"]);
    }

    #[test]
    fn cutting_respects_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
    }

    #[test]
    fn which_searches_go_through_everything() {
        let home = AbsolutePath::new("/home/dev").unwrap();
        for (text, wide) in [
            ("find / -name x", true),
            ("find /home/dev -type f -name x", true),
            ("find / -maxdepth 1 -name x", false),
            ("find . -name x", false),
            ("find /usr/lib -name x", false),
            ("find src -newer /", false),
            ("fd x /", true),
            ("fd / src", false),
            ("ls -laR /", true),
            ("ls -la /", false),
        ] {
            let mut words = text.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            let command = RunCommand { program, words: words.map(Some).collect() };
            assert_eq!(walks_all(&command, &home), wide, "{text}");
        }
    }
}
