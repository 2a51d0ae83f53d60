//! Which demands of the user are said again, and in which order (seed 000, `constraints`).

use checkrein_patterns::PatternKind;
use checkrein_policy::demands;

/// The most constraints that are said at once (ours).
const MOST: usize = 3;

/// The longest one, in characters (ours).
const LONGEST: usize = 100;

/// The constraints that these goals name, those that matter for an issue first, then those that were said last. At most three.
pub(crate) fn constraints(goals: &[String], issue: PatternKind) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for goal in goals.iter().rev() {
        for clause in demands(goal).into_iter().map(|demand| shortened(&demand.clause)) {
            if !found.contains(&clause) {
                found.push(clause);
            }
        }
    }
    found.sort_by_key(|clause| !matters(clause, issue));
    found.truncate(MOST);
    found
}

/// Whether a constraint is about what an issue shows.
fn matters(clause: &str, issue: PatternKind) -> bool {
    let words: &[&str] = match issue {
        PatternKind::ScopeCreep | PatternKind::ConfusedState | PatternKind::OscillatingEdits => {
            &["only", "touch", "change", "edit", "outside", "file", "/", "leave", "stay"]
        }
        PatternKind::ResourceSpiral | PatternKind::RunawayExecution => &["only", "keep", "small", "limit"],
        PatternKind::GoalDrift
        | PatternKind::Cascade
        | PatternKind::RepeatedVerdicts
        | PatternKind::OwnPattern
        | PatternKind::StuckLoop
        | PatternKind::RepetitiveErrors
        | PatternKind::ErrorExplorationLoop
        | PatternKind::Stagnation
        | PatternKind::ExplorationWandering
        | PatternKind::Hallucination => &[],
    };
    let clause = clause.to_lowercase();
    words.iter().any(|word| clause.contains(word))
}

/// The clause, cut where it is long.
fn shortened(clause: &str) -> String {
    let kept: String = clause.chars().take(LONGEST).collect();
    if kept.len() < clause.len() { format!("{kept} ...") } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(goals: &[&str], issue: PatternKind) -> Vec<String> {
        constraints(&goals.iter().map(|goal| (*goal).to_owned()).collect::<Vec<_>>(), issue)
    }

    // Source: seed 000-15
    #[test]
    fn what_reads_as_an_order_is_a_constraint() {
        for (goal, expected) in [
            ("fix the parser, but do not commit", vec!["do not commit"]),
            (
                "Fix it. Don\u{2019}t touch src/lexer.rs and the docs!",
                vec!["Don\u{2019}t touch src/lexer.rs and the docs"],
            ),
            ("make it faster without changing the interface", vec!["without changing the interface"]),
            (
                "- fix the tests\n- only edit src/parser.rs\n- the API must stay as it is",
                vec!["only edit src/parser.rs", "the API must stay as it is"],
            ),
            (
                "refactor and never push, please keep the tests green",
                vec!["never push", "keep the tests green"],
            ),
        ] {
            assert_eq!(found(&[goal], PatternKind::GoalDrift), expected, "{goal}");
        }
    }

    #[test]
    fn a_report_is_none() {
        for goal in [
            "the tests do not pass since yesterday",
            "find out why it never returns",
            "there is no such file, look into it",
            "add a `must` keyword to the grammar",
            "",
        ] {
            assert_eq!(found(&[goal], PatternKind::GoalDrift), Vec::<String>::new(), "{goal}");
        }
    }

    // Source: seed 000-15
    #[test]
    fn those_of_the_issue_come_first_and_three_are_enough() {
        let goals = ["only edit src/a.rs", "do not push", "never commit", "avoid new dependencies"];
        assert_eq!(found(&goals, PatternKind::ScopeCreep)[0], "only edit src/a.rs");
        assert_eq!(
            found(&goals, PatternKind::GoalDrift),
            ["avoid new dependencies", "never commit", "do not push"]
        );
        assert!(found(&[&format!("do not {}", "x".repeat(500))], PatternKind::Cascade)[0].len() < 120);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|[,.;:()\n]| but | without | and never ){0,60}") {
            proptest::prop_assert!(found(&[&text], PatternKind::ScopeCreep).len() <= MOST);
        }
    }
}
