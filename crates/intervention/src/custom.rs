//! A strategy of one's own: rules in a file, of which the first that fits counts.
//!
//! One rule a line: a pattern or `*`, the least severity, how often something was done about the pattern in the last five minutes at
//! least, `->`, and a rung of the ladder or `wait`. Where no rule fits, the ladder is climbed step by step.

use checkrein_patterns::PatternKind;
use checkrein_protocol::{InterventionKind, Severity};

use crate::template::TemplateError;

/// The most rules of a file (ours).
const MOST_RULES: usize = 1_000;

/// The rules of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomStrategy(Vec<StrategyRule>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StrategyRule {
    /// `None` stands for all.
    pattern: Option<PatternKind>,
    least: Severity,
    tried: u32,
    answer: StrategyAnswer,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrategyAnswer {
    /// This rung.
    Rung(InterventionKind),
    /// Nothing is done now.
    Wait,
}

impl CustomStrategy {
    /// Reads the rules of a file; empty lines and what follows a `#` do not count. An error names line and column.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut rules = Vec::new();
        for (index, row) in text.lines().enumerate() {
            let words = words(row.split('#').next().unwrap_or_default());
            if words.is_empty() {
                continue;
            }
            let wrong = |column: usize, what: String| TemplateError { line: index + 1, column, what };
            if rules.len() == MOST_RULES {
                return Err(wrong(1, format!("there are more than {MOST_RULES} rules")));
            }
            rules.push(rule(&words).map_err(|(column, what)| wrong(column, what))?);
        }
        Ok(Self(rules))
    }

    /// What the first rule says that fits an issue about which something was `tried` so often; `None` when none fits.
    pub fn answer(&self, pattern: PatternKind, severity: Severity, tried: u32) -> Option<StrategyAnswer> {
        let fits = |rule: &&StrategyRule| {
            rule.pattern.is_none_or(|named| named == pattern) && severity >= rule.least && tried >= rule.tried
        };
        self.0.iter().find(fits).map(|rule| rule.answer)
    }
}

/// The words of a row, each with its column, from 1, in characters.
fn words(row: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut rest = row;
    let mut column = 1;
    loop {
        let trimmed = rest.trim_start();
        column += rest.chars().count() - trimmed.chars().count();
        let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        let (word, behind) = trimmed.split_at(end);
        if word.is_empty() {
            return words;
        }
        words.push((column, word));
        column += word.chars().count();
        rest = behind;
    }
}

fn rule(words: &[(usize, &str)]) -> Result<StrategyRule, (usize, String)> {
    let [(first, pattern), (second, severity), (third, tried), (fourth, arrow), (fifth, answer)] = words
    else {
        let column = words.last().map_or(1, |(column, _)| *column);
        return Err((column, "a rule is `PATTERN SEVERITY TRIED -> RUNG`".to_owned()));
    };
    let pattern = match *pattern {
        "*" => None,
        name => Some(
            PatternKind::of_name(name).ok_or_else(|| (*first, format!("no pattern is called `{name}`")))?,
        ),
    };
    let least = match *severity {
        "low" => Severity::Low,
        "medium" => Severity::Medium,
        "high" => Severity::High,
        "critical" => Severity::Critical,
        other => return Err((*second, format!("`{other}` is none of low, medium, high, critical"))),
    };
    let tried = tried.parse().map_err(|_| (*third, format!("`{tried}` is not a number")))?;
    if *arrow != "->" {
        return Err((*fourth, format!("`->` is expected, not `{arrow}`")));
    }
    let rung = || InterventionKind::LADDER.into_iter().find(|kind| kind.name() == *answer);
    let answer = match (*answer, rung()) {
        ("wait", _) => StrategyAnswer::Wait,
        (_, Some(kind)) => StrategyAnswer::Rung(kind),
        (other, None) => {
            let names = InterventionKind::LADDER.map(InterventionKind::name).join(", ");
            return Err((*fifth, format!("`{other}` is none of {names}, wait")));
        }
    };
    Ok(StrategyRule { pattern, least, tried, answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let text = "# what I want\nstuck_loop high 0 -> context_reinforcement\n\n* low 2 -> wait # enough said\n* low 0 -> soft_correction\n";
        let strategy = CustomStrategy::parse(text).unwrap();
        let answer = |pattern, severity, tried| strategy.answer(pattern, severity, tried).unwrap();
        let rung = StrategyAnswer::Rung;
        let (stuck, errors) = (PatternKind::StuckLoop, PatternKind::RepetitiveErrors);
        assert_eq!(answer(stuck, Severity::Critical, 0), rung(InterventionKind::ContextReinforcement));
        assert_eq!(answer(stuck, Severity::Medium, 1), rung(InterventionKind::SoftCorrection));
        assert_eq!(answer(errors, Severity::High, 2), StrategyAnswer::Wait);
        assert_eq!(CustomStrategy::default().answer(stuck, Severity::Critical, 9), None);
    }

    #[test]
    fn mistakes_are_found_by_line_and_column() {
        let wrong = |text: &str| CustomStrategy::parse(text).map(drop).unwrap_err().to_string();
        assert_eq!(wrong("\nloop high 0 -> wait"), "line 2, column 1: no pattern is called `loop`");
        assert_eq!(
            wrong("* grave 0 -> wait"),
            "line 1, column 3: `grave` is none of low, medium, high, critical"
        );
        assert_eq!(wrong("é * 0"), "line 1, column 5: a rule is `PATTERN SEVERITY TRIED -> RUNG`");
        assert_eq!(wrong("* low -1 -> wait"), "line 1, column 7: `-1` is not a number");
        assert_eq!(wrong("* low 0 => wait"), "line 1, column 9: `->` is expected, not `=>`");
        assert!(wrong("* low 0 -> stop").starts_with("line 1, column 12: `stop` is none of soft_correction"));
    }
}
