//! What an answer of a plugin comes to: read strictly, within bounds, in plain words.

use checkrein_engine::text::{one_line, plain};
use checkrein_protocol::{
    ApprovalsAnswer, ExporterAnswer, FactorsAnswer, InterventionsAnswer, PatternKind, PatternsAnswer,
    PluginFactor, PluginIssue, PluginKind, PluginQuestion, PluginSaying, Share,
};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// The most issues and factors of one answer (ours).
const MOST: usize = 16;
/// The longest clause, in characters (ours).
const CLAUSE: usize = 300;
/// The longest name of an issue, in characters (ours).
const NAME: usize = 40;
/// The most lines of words for an agent, as for our own messages.
const LINES: usize = 5;

/// What follows from an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// This is written down.
    Said(PluginSaying),
    /// Records up to this number are where they belong.
    Taken(u64),
    /// A person was told.
    Told,
}

/// Reads the answer to a question; why it is none.
pub(super) fn outcome(plugin: &str, question: &PluginQuestion, answer: &Json) -> Result<Outcome, String> {
    let plugin = plugin.to_owned();
    Ok(match question {
        PluginQuestion::Patterns { .. } => {
            let PatternsAnswer { issues } = read(answer)?;
            Outcome::Said(PluginSaying::Issues { plugin, issues: each(issues, issue)? })
        }
        PluginQuestion::Risk { .. } => {
            let FactorsAnswer { factors } = read(answer)?;
            Outcome::Said(PluginSaying::Factors { plugin, factors: each(factors, factor)? })
        }
        PluginQuestion::Interventions { issue, .. } => {
            let InterventionsAnswer { words, rung } = read(answer)?;
            let words = words.map(|words| in_lines(&words)).filter(|words| !words.is_empty());
            Outcome::Said(said_of(plugin, issue.kind, words, rung))
        }
        PluginQuestion::Exporter { records, .. } => {
            let ExporterAnswer { taken } = read(answer)?;
            let number = |record: &Json| record.get("seq").and_then(Json::as_u64);
            match (records.first().and_then(number), records.last().and_then(number)) {
                (Some(first), Some(last)) if taken < first => {
                    return Err(format!("it took none of the records {first} to {last}"));
                }
                (_, Some(last)) if taken > last => {
                    return Err(format!("it says that it took record {taken}, and was given up to {last}"));
                }
                _ => Outcome::Taken(taken),
            }
        }
        PluginQuestion::Approvals { .. } => {
            let ApprovalsAnswer { told } = read(answer)?;
            if !told {
                return Err("it told nobody".to_owned());
            }
            Outcome::Told
        }
    })
}

fn said_of(
    plugin: String,
    pattern: PatternKind,
    words: Option<String>,
    rung: Option<checkrein_protocol::InterventionKind>,
) -> PluginSaying {
    PluginSaying::Intervention { plugin, pattern, words, rung }
}

/// The name of a kind of question in what is written in a test.
pub(super) fn kind_of(request: &Json) -> Option<PluginKind> {
    request.get("kind").and_then(Json::as_str).and_then(PluginKind::of_name)
}

fn read<T: DeserializeOwned>(answer: &Json) -> Result<T, String> {
    serde_json::from_value(answer.clone())
        .map_err(|error| format!("{error} in `{}`", one_line(&answer.to_string(), 160)))
}

fn each<T>(all: Vec<T>, one: impl Fn(T) -> Result<T, String>) -> Result<Vec<T>, String> {
    if all.len() > MOST {
        return Err(format!("{} of them, and at most {MOST} are taken", all.len()));
    }
    all.into_iter().map(one).collect()
}

fn issue(issue: PluginIssue) -> Result<PluginIssue, String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if issue.kind.is_empty() || issue.kind.len() > NAME || !issue.kind.bytes().all(is_letter) {
        return Err(format!(
            "`kind` of an issue is `{}`: small letters, digits and `_`, at most {NAME} of them",
            one_line(&issue.kind, 60)
        ));
    }
    Ok(PluginIssue {
        summary: clause("summary", &issue.summary)?,
        advice: clause("advice", &issue.advice)?,
        actions: issue.actions.into_iter().take(checkrein_protocol::Issue::ACTIONS).collect(),
        ..issue
    })
}

fn factor(factor: PluginFactor) -> Result<PluginFactor, String> {
    let PluginFactor { amount, reason, programs } = factor;
    let amount = amount.value();
    if !(0.0..=1.0).contains(&amount) {
        return Err(format!("`amount` is {amount}: a factor only raises, by 0 to 1"));
    }
    Ok(PluginFactor {
        amount: Share::new(amount),
        reason: clause("reason", &reason)?,
        programs: programs.iter().map(|program| one_line(program, NAME)).take(MOST).collect(),
    })
}

fn clause(key: &str, text: &str) -> Result<String, String> {
    let clause = one_line(text.trim(), CLAUSE);
    if clause.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(clause) }
}

/// Words for an agent: a few plain lines.
fn in_lines(text: &str) -> String {
    let text = plain(text);
    let lines = text.trim().lines().filter(|line| !line.trim().is_empty()).take(LINES);
    lines.map(|line| one_line(line, CLAUSE)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(question: &Json, answer: &Json) -> Result<Outcome, String> {
        outcome("x", &serde_json::from_value(question.clone()).unwrap(), answer)
    }

    #[test]
    fn what_is_not_an_answer_says_why() {
        let patterns = json!({ "kind": "patterns", "session": "s", "actions": [] });
        let risk = json!({ "kind": "risk", "session": "s", "actions": [] });
        let exporter = json!({ "kind": "exporter", "session": "s", "records": [{ "seq": 4 }, { "seq": 5 }] });
        let approvals = json!({ "kind": "approvals", "notice": {} });
        let issue = |kind: &str, severity: &str| json!({ "issues": [{ "kind": kind, "severity": severity, "summary": "s", "advice": "a" }] });
        let factor = |amount: f64| json!({ "factors": [{ "amount": amount, "reason": "r" }] });
        for (question, answer, said) in [
            (&patterns, json!({}), "missing field `issues`"),
            (&patterns, json!({ "issues": [], "allow": true }), "unknown field `allow`"),
            (&patterns, issue("Bad Name", "low"), "small letters"),
            (&patterns, issue("x", "fatal"), "unknown variant"),
            (&patterns, json!({ "issues": vec![issue("x", "low")["issues"][0].clone(); 17] }), "at most 16"),
            (&risk, factor(-0.1), "only raises"),
            (&risk, factor(1.1), "only raises"),
            (&exporter, json!({ "taken": 3 }), "took none"),
            (&exporter, json!({ "taken": 6 }), "given up to 5"),
            (&approvals, json!({ "told": false }), "told nobody"),
            (&approvals, json!({ "told": true, "answer": "allow" }), "unknown field `answer`"),
        ] {
            let fault = of(question, &answer).unwrap_err();
            assert!(fault.contains(said), "{answer}: {fault}");
        }
        assert_eq!(of(&exporter, &json!({ "taken": 4 })), Ok(Outcome::Taken(4)));
        assert_eq!(of(&approvals, &json!({ "told": true })), Ok(Outcome::Told));
        assert!(of(&patterns, &issue("x", "low")).is_ok() && of(&risk, &factor(1.0)).is_ok());
    }

    #[test]
    fn words_are_a_few_plain_lines() {
        let words = in_lines("\u{1b}[2J one\n\n two\u{202e}\n3\n4\n5\n6\n");
        assert_eq!(words.lines().count(), 5);
        assert!(!words.contains('\u{1b}') && !words.contains('\u{202e}'), "{words:?}");
    }
}
