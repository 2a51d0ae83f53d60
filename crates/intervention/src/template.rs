//! Texts that a user writes for interventions, with places that are filled in.

use checkrein_patterns::Issue;

use crate::message::{MOST_LINES, Task, short};
use checkrein_protocol::Intervention;

/// The names of the places, as `{summary}`.
pub const PLACES: [&str; 8] =
    ["summary", "advice", "pattern", "severity", "goal", "first_goal", "workspace", "until"];

/// The longest template, in bytes (ours): what an agent reads should be short.
const LONGEST: usize = 4_000;

/// A text with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(&'static str),
}

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// In one clause.
    pub what: String,
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Reads a template: text, places in braces, `{{` for a brace, at most five lines.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let text = text.trim_end();
        let at = |offset: usize, what: String| {
            let before = text.get(..offset).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            TemplateError { line, column, what }
        };
        if text.len() > LONGEST {
            return Err(at(0, format!("longer than {LONGEST} bytes")));
        }
        if let Some((end, _)) = text.match_indices('\n').nth(MOST_LINES - 1) {
            return Err(at(end + 1, format!("more than {MOST_LINES} lines")));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let offset = text.len() - rest.len() + start;
            let (before, after) = rest.split_at(start);
            let after = after.get(1..).unwrap_or_default();
            if let Some(after) = after.strip_prefix('{') {
                pieces.push(Piece::Text(format!("{before}{{")));
                rest = after;
                continue;
            }
            let Some((name, after)) = after.split_once('}') else {
                return Err(at(offset, "`{` without `}`; `{{` stands for a brace".to_owned()));
            };
            let place = PLACES.iter().find(|place| **place == name).ok_or_else(|| {
                at(offset, format!("no place is called `{name}`; there are {}", PLACES.join(", ")))
            })?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Place(place));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The text for an intervention. What is not known is `unknown`; what is filled in stays on its line.
    pub fn fill(&self, made: &Intervention, issue: &Issue, task: Task<'_>) -> String {
        let goal = |goal: Option<&String>| goal.map(|goal| short(goal));
        let value = |place: &str| match place {
            "summary" => Some(issue.summary.clone()),
            "advice" => Some(issue.advice.clone()),
            "pattern" => Some(issue.kind.name().replace('_', " ")),
            "severity" => Some(format!("{:?}", issue.severity).to_lowercase()),
            "goal" => goal(task.goals.last()),
            "first_goal" => goal(task.goals.first()),
            "workspace" => task.workspace.map(str::to_owned),
            _ => made.throttle.as_ref().map(|throttle| format!("{} other calls have run", throttle.left)),
        };
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(place) => {
                value(place).map_or_else(|| "unknown".to_owned(), |text| text.replace('\n', " "))
            }
        };
        self.0.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_found_by_line_and_column() {
        for (text, line, column) in
            [("one\nätwo {nope}", 2, 6), ("{summary", 1, 1), ("1\n2\n3\n4\n5\n6", 6, 1)]
        {
            let wrong = Template::parse(text).unwrap_err();
            assert_eq!((wrong.line, wrong.column), (line, column), "{text}: {wrong}");
        }
        assert!(Template::parse("{nope}").unwrap_err().what.contains("there are summary, advice"));
        assert!(Template::parse(&"x".repeat(5_000)).is_err());
    }

    #[test]
    fn a_brace_is_written_twice() {
        let pieces = Template::parse("a {{b} {advice}").unwrap();
        assert_eq!(
            pieces.0,
            [
                Piece::Text("a {".to_owned()),
                Piece::Text("b} ".to_owned()),
                Piece::Place("advice"),
                Piece::Text(String::new())
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_template_or_an_error(text in "(\\PC|[{}\n]){0,80}") {
            if let Err(error) = Template::parse(&text) {
                proptest::prop_assert!(error.line >= 1 && error.column >= 1);
            }
        }
    }
}
