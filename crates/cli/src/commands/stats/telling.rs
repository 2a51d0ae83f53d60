//! Sums in words, with a bar of text beside each number, in lines that fit 80 columns.

use std::fmt::Write as _;

use checkrein_protocol::{AbsolutePath, InterventionKind};

use crate::api::sessions::{NamedCount, Spending, Stats};
use crate::commands::answers::QuestionOutcome;
use crate::phrases;
use crate::terminal::{bold, counted, plain, width, wrapped};

/// The longest bar, in characters (ours).
const BAR: u64 = 18;
/// The longest name, in characters (ours): as long as those of our rules.
const NAME: usize = 30;
/// What stands between a name and its bar, in characters: a number, and mostly some dollars.
const BEFORE_BAR: usize = 22;
/// How many days, projects, models and rules are shown (ours); `--json` has all.
const SHOWN: usize = 14;

/// The whole text.
pub(super) fn in_words(
    stats: &Stats,
    period: &str,
    here: Option<&AbsolutePath>,
    home: &AbsolutePath,
) -> String {
    let place = here.map_or_else(|| "all projects".to_owned(), |place| at_home(place.as_str(), home));
    if stats.calls == 0 && stats.days.is_empty() {
        return wrapped(&format!("nothing is recorded: {period}, {place}"));
    }
    let mut text = wrapped(&format!(
        "{period}, {place}: {} in {}",
        counted(stats.calls, "call"),
        counted(stats.sessions, "session")
    ));
    counts(&mut text, "what became of them", &stats.became, |name| name);
    counts(&mut text, "risk", &stats.risk, |name| name);
    counts(&mut text, "answers to questions", &stats.questions, QuestionOutcome::word_of);
    if !stats.interventions.is_empty() {
        title(&mut text, "about what went wrong over several calls");
        for one in &stats.interventions {
            let all = one.helped + one.repeated + one.open;
            let _ = write!(
                text,
                "\n  {}  {all}: {} helped, {} did not, {} open",
                kind_in_words(&one.kind),
                one.helped,
                one.repeated,
                one.open
            );
        }
        let all: u64 = stats.interventions.iter().map(|one| one.helped + one.repeated + one.open).sum();
        let share = stats.escalations * 100 / all.max(1);
        let _ = write!(text, "\n  escalated to a stronger one: {} of {all} ({share} %)", stats.escalations);
    }
    title(&mut text, "afterwards");
    let _ = write!(
        text,
        "\n  saved before {}, taken back {}",
        counted(stats.saved, "call"),
        counted(stats.undone, "time")
    );
    if stats.incidents > 0 {
        let _ = write!(text, "\n  {}: `checkrein incident list`", counted(stats.incidents, "incident"));
    }
    let _ = write!(text, "\n  you said: {} stopped without need, {} missed", stats.wrong, stats.missed);
    let mut rules: Vec<_> = stats.rules.iter().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse((rule.wrong, rule.stopped)));
    if !rules.is_empty() {
        title(&mut text, "stops by rule");
        let most = rules.iter().map(|rule| rule.stopped).max().unwrap_or_default();
        for rule in rules.iter().take(SHOWN) {
            let wrong = if rule.wrong == 0 { String::new() } else { format!("  {} wrong", rule.wrong) };
            row(&mut text, &plain(&rule.rule), &rule.stopped.to_string(), rule.stopped, most, &wrong);
        }
        more(&mut text, rules.len());
    }
    let days: Vec<&Spending> = stats.days.iter().rev().take(SHOWN).collect();
    spendings(&mut text, "by day", &days, stats.days.len(), str::to_owned);
    let mut projects: Vec<&Spending> = stats.projects.iter().collect();
    projects.sort_by_key(|one| std::cmp::Reverse((one.tokens, one.calls)));
    spendings(&mut text, "by project", &projects, projects.len(), |name| at_home(name, home));
    let mut models: Vec<&Spending> = stats.models.iter().collect();
    models.sort_by_key(|one| std::cmp::Reverse(one.tokens));
    spendings(&mut text, "by model", &models, models.len(), str::to_owned);
    text
}

/// An intervention in words, from its name on the wire.
fn kind_in_words(name: &str) -> &str {
    let kind = InterventionKind::LADDER.into_iter().find(|kind| kind.name() == name);
    match kind {
        Some(kind) => phrases::intervention_noun(kind),
        None => name,
    }
}

fn title(text: &mut String, title: &str) {
    let _ = write!(text, "\n\n{}", bold(title));
}

fn counts(text: &mut String, name: &str, counts: &[NamedCount], word: impl Fn(&str) -> &str) {
    let counts: Vec<&NamedCount> = counts.iter().filter(|one| one.count > 0).collect();
    let Some(most) = counts.iter().map(|one| one.count).max() else { return };
    title(text, name);
    for one in counts {
        row(text, word(&one.name), &one.count.to_string(), one.count, most, "");
    }
}

fn spendings(
    text: &mut String,
    name: &str,
    all: &[&Spending],
    number: usize,
    shown: impl Fn(&str) -> String,
) {
    let Some(most) = all.iter().map(|one| one.tokens.unwrap_or_default()).max() else { return };
    title(text, name);
    for one in all.iter().take(SHOWN) {
        let dollars = match (one.tokens, one.at_least) {
            (None, _) => "  tokens unknown".to_owned(),
            (_, true) => format!("  ${:.2} or more", one.dollars),
            (_, false) => format!("  ${:.2}", one.dollars),
        };
        row(text, &plain(&shown(&one.name)), &tokens(one), one.tokens.unwrap_or_default(), most, &dollars);
    }
    more(text, number);
}

fn tokens(one: &Spending) -> String {
    match one.tokens {
        None => counted(one.calls, "call"),
        Some(few @ 0..10_000) => format!("{few} tok"),
        Some(some @ 10_000..10_000_000) => format!("{}k tok", some / 1000),
        Some(many) => format!("{}M tok", many / 1_000_000),
    }
}

/// One line: name, number, bar, and what stands behind. A long name has a line of its own, so that no word is broken.
fn row(text: &mut String, name: &str, number: &str, value: u64, most: u64, behind: &str) {
    // A bar on a line of its own would say nothing.
    let room = u64::try_from(width().saturating_sub(2 + NAME + BEFORE_BAR)).unwrap_or(BAR).min(BAR);
    let length = if most == 0 { 0 } else { (value.saturating_mul(room)).div_ceil(most) };
    let bar = "█".repeat(usize::try_from(length).unwrap_or_default());
    if name.chars().count() > NAME {
        let _ = write!(text, "\n  {name}\n  {:NAME$}", "");
    } else {
        let _ = write!(text, "\n  {name:NAME$}");
    }
    let line = format!(" {number:>9}{behind}  {bar}");
    text.push_str(line.trim_end());
}

fn more(text: &mut String, number: usize) {
    if number > SHOWN {
        let _ = write!(text, "\n  and {} more; `--json` has all", number - SHOWN);
    }
}

fn at_home(path: &str, home: &AbsolutePath) -> String {
    path.strip_prefix(home.as_str())
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        .map_or_else(|| path.to_owned(), |rest| format!("~{rest}"))
}
