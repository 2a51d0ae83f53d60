//! What plugins said about the session, as far as it counts for the calls that come.

use std::collections::VecDeque;

use checkrein_patterns::FiredPattern;
use checkrein_protocol::{
    ActionNumber, InterventionKind, PatternKind, PluginFactor, PluginIssue, PluginSaying, ReviewRecord,
    Severity, Share, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::bounds::{self, cut};

/// The most that is kept of each sort (ours).
const MOST: usize = 16;
/// Programs that are kept of a factor (ours).
const PROGRAMS: usize = 16;

/// What plugins said, the newest of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PluginFindings {
    issues: VecDeque<HeldPluginIssue>,
    factors: VecDeque<HeldPluginFactor>,
    advice: VecDeque<PluginAdvice>,
}

/// An issue of a plugin that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldPluginIssue {
    /// The plugin.
    pub plugin: String,
    /// What it calls it.
    pub kind: String,
    /// How grave it is.
    pub severity: Severity,
    /// What was seen.
    pub summary: String,
    /// What to do instead.
    pub advice: String,
    /// When it came.
    since: Timestamp,
    /// Whether a call was reviewed since.
    is_told: bool,
    /// The last action that it rests on.
    #[serde(default)]
    latest: Option<ActionNumber>,
}

impl HeldPluginIssue {
    /// Whether no call was reviewed yet since it came: the next one tells of it.
    pub fn is_new(&self) -> bool {
        !self.is_told
    }

    /// What it is called among the patterns of the session: `PLUGIN/KIND`.
    pub fn pattern_name(&self) -> String {
        format!("{}/{}", self.plugin, self.kind)
    }
}

/// A factor of a plugin that counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldPluginFactor {
    /// The plugin.
    pub plugin: String,
    /// What it adds to the risk, from 0 to 1.
    pub amount: f64,
    /// Why.
    pub reason: String,
    /// The programs that it is about; all calls when empty.
    pub programs: Vec<String>,
}

impl HeldPluginFactor {
    /// Whether it is about a call that runs these programs.
    pub fn concerns(&self, programs: &[String]) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|program| programs.contains(program))
    }
}

/// How a plugin wants a pattern to be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginAdvice {
    /// The plugin.
    pub plugin: String,
    /// The pattern.
    pub pattern: PatternKind,
    /// What the agent reads besides.
    pub words: Option<String>,
    /// The mildest rung.
    pub rung: Option<InterventionKind>,
}

impl PluginFindings {
    /// The issues that stand.
    pub fn issues(&self) -> impl Iterator<Item = &HeldPluginIssue> {
        self.issues.iter()
    }

    /// The factors that count.
    pub fn factors(&self) -> impl Iterator<Item = &HeldPluginFactor> {
        self.factors.iter()
    }

    /// How plugins want a pattern to be answered.
    pub fn advice(&self, pattern: PatternKind) -> impl Iterator<Item = &PluginAdvice> {
        self.advice.iter().filter(move |advice| advice.pattern == pattern)
    }

    /// Whether anything that this plugin said counts.
    pub fn holds(&self, plugin: &str) -> bool {
        self.issues.iter().any(|one| one.plugin == plugin)
            || self.factors.iter().any(|one| one.plugin == plugin)
            || self.advice.iter().any(|one| one.plugin == plugin)
    }

    /// Takes up that a call was reviewed: what stood when that began was told.
    pub(super) fn reviewed(&mut self, review: &ReviewRecord, at: Timestamp) {
        let began = at.0.saturating_sub(review.elapsed_us / 1000);
        self.issues.iter_mut().filter(|issue| issue.since.0 < began).for_each(|issue| issue.is_told = true);
    }

    /// Takes up what a plugin said, and returns what of it is evidence of its own: issues that are new or graver, or rest on later actions. What is
    /// none of ours is passed over.
    pub(super) fn take(&mut self, fields: &Json, at: Timestamp) -> Vec<FiredPattern> {
        let Ok(said) = serde_json::from_value(fields.clone()) else { return Vec::new() };
        match said {
            PluginSaying::Issues { plugin, issues } => return self.take_issues(&plugin, issues, at),
            PluginSaying::Factors { plugin, factors } => {
                self.factors.retain(|one| one.plugin != plugin);
                for PluginFactor { amount, reason, programs } in factors.into_iter().take(MOST) {
                    let factor = HeldPluginFactor {
                        plugin: plugin.clone(),
                        // What was read out of JSON is any number.
                        amount: Share::new(amount.value()).value(),
                        reason: short(&reason),
                        programs: programs.iter().take(PROGRAMS).map(|name| short(name)).collect(),
                    };
                    bounds::push_bounded(&mut self.factors, factor, MOST);
                }
            }
            PluginSaying::Intervention { plugin, pattern, words, rung } => {
                self.advice.retain(|one| one.plugin != plugin || one.pattern != pattern);
                if words.is_some() || rung.is_some() {
                    let words = words.as_deref().map(short);
                    bounds::push_bounded(
                        &mut self.advice,
                        PluginAdvice { plugin, pattern, words, rung },
                        MOST,
                    );
                }
            }
            PluginSaying::Disabled { plugin } => {
                self.issues.retain(|one| one.plugin != plugin);
                self.factors.retain(|one| one.plugin != plugin);
                self.advice.retain(|one| one.plugin != plugin);
            }
        }
        Vec::new()
    }

    fn take_issues(&mut self, plugin: &str, issues: Vec<PluginIssue>, at: Timestamp) -> Vec<FiredPattern> {
        let mut evidence = Vec::new();
        let (before, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.issues).into_iter().partition(|one| one.plugin == plugin);
        self.issues = others;
        for PluginIssue { kind, severity, summary, advice, actions } in issues.into_iter().take(MOST) {
            // One that goes on was told; one that is graver by now is told again.
            let known = before.iter().find(|one| one.kind == kind && one.severity >= severity);
            let issue = HeldPluginIssue {
                plugin: plugin.to_owned(),
                kind: short(&kind),
                severity,
                summary: short(&summary),
                advice: short(&advice),
                since: known.map_or(at, |known| known.since),
                is_told: known.is_some_and(|known| known.is_told),
                latest: actions.iter().max().copied(),
            };
            if known.is_none_or(|known| known.latest < issue.latest) {
                evidence.push(FiredPattern {
                    name: issue.pattern_name(),
                    severity,
                    summary: issue.summary.clone(),
                    advice: issue.advice.clone(),
                });
            }
            bounds::push_bounded(&mut self.issues, issue, MOST);
        }
        evidence
    }
}

fn short(text: &str) -> String {
    cut(text, bounds::TEXT_BYTES).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn issues(plugin: &str, severity: &str, kinds: &[&str]) -> Json {
        let one = |kind: &&str| json!({ "kind": kind, "severity": severity, "summary": "s", "advice": "a" });
        json!({ "says": "issues", "plugin": plugin, "issues": kinds.iter().map(one).collect::<Vec<_>>() })
    }

    #[test]
    fn the_issues_of_a_plugin_replace_its_earlier_ones_and_no_others() {
        let mut findings = PluginFindings::default();
        findings.take(&issues("one", "low", &["a", "b"]), Timestamp(1));
        findings.take(&issues("two", "low", &["c"]), Timestamp(2));
        findings.take(&issues("one", "low", &["b"]), Timestamp(3));
        let kinds: Vec<&str> = findings.issues().map(|issue| issue.kind.as_str()).collect();
        assert_eq!(kinds, ["c", "b"]);
        findings.take(&json!({ "says": "disabled", "plugin": "two" }), Timestamp(4));
        assert!(findings.holds("one") && !findings.holds("two"));
        findings.take(&json!({ "says": "allow", "plugin": "one" }), Timestamp(5));
        assert!(findings.holds("one"));
    }

    #[test]
    fn an_issue_is_evidence_when_it_is_new_or_rests_on_a_later_action() {
        let mut findings = PluginFindings::default();
        let said = |actions: &[u64], severity: &str| {
            let one = json!({ "kind": "a", "severity": severity, "summary": "s", "advice": "", "actions": actions });
            json!({ "says": "issues", "plugin": "p", "issues": [one] })
        };
        let mut evidence = |fields: Json| findings.take(&fields, Timestamp(1)).len();
        assert_eq!(evidence(said(&[1, 2], "low")), 1);
        assert_eq!(evidence(said(&[1, 2], "low")), 0, "it goes on, and nothing came to it");
        assert_eq!(evidence(said(&[2, 5], "low")), 1);
        assert_eq!(evidence(said(&[2, 5], "high")), 1, "it is graver");
        assert_eq!(evidence(json!({ "says": "issues", "plugin": "p", "issues": [] })), 0);
    }

    #[test]
    fn no_number_of_sayings_makes_it_large() {
        let mut findings = PluginFindings::default();
        for number in 0..200 {
            let plugin = format!("p{number}");
            findings.take(&issues(&plugin, "high", &["a"; 40]), Timestamp(number));
            let factor = json!({ "amount": 7, "reason": "r".repeat(9000), "programs": vec!["x"; 99] });
            findings.take(
                &json!({ "says": "factors", "plugin": plugin, "factors": vec![factor; 40] }),
                Timestamp(number),
            );
        }
        assert_eq!((findings.issues.len(), findings.factors.len()), (MOST, MOST));
        assert!(findings.factors().all(|factor| factor.amount <= 1.0 && factor.reason.len() <= 512));
    }
}
