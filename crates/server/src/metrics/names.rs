//! Every metric by name, kind and labels. `docs/operations.md` lists them; a test compares the two.

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only grows.
    Counter,
    /// It is what it is now.
    Gauge,
    /// Counters by bounds.
    Histogram,
}

impl Kind {
    /// The name in the text form.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) labels: &'static [&'static str],
    pub(crate) help: &'static str,
}

/// The three series of a histogram.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Histogram {
    pub(crate) bucket: &'static str,
    pub(crate) sum: &'static str,
    pub(crate) count: &'static str,
}

macro_rules! histogram {
    ($name:literal) => {
        Histogram {
            bucket: concat!($name, "_bucket"),
            sum: concat!($name, "_sum"),
            count: concat!($name, "_count"),
        }
    };
}

pub(crate) const DURATION: Histogram = histogram!("checkrein_review_duration_seconds");
pub(crate) const RISK: Histogram = histogram!("checkrein_review_risk");
/// Bounds in seconds: the budget of a review is a few milliseconds (ours).
pub(crate) const DURATION_BOUNDS: [f64; 9] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0];
/// The bands of risk (seed 002), and steps below them.
pub(crate) const RISK_BOUNDS: [f64; 6] = [0.1, 0.3, 0.6, 0.8, 0.95, 1.0];

macro_rules! families {
    ($($constant:ident $kind:ident $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(pub(crate) const $constant: &str = $name;)*

        /// All metrics, in the order of the text.
        pub(crate) const FAMILIES: &[Family] = &[
            $(Family { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help },)*
            Family {
                name: "checkrein_review_duration_seconds",
                kind: Kind::Histogram,
                labels: &["decision"],
                help: "How long reviews took.",
            },
            Family {
                name: "checkrein_review_risk",
                kind: Kind::Histogram,
                labels: &["decision"],
                help: "Risk scores of reviews, from 0 to 1.",
            },
        ];
    };
}

families! {
    INFO Gauge "checkrein_build_info" ["version"] "1, with the version as a label.";
    REVIEWS Counter "checkrein_reviews_total" ["decision", "verdict"] "Reviews of calls by decision and verdict.";
    REVIEWS_BY_RISK Counter "checkrein_reviews_by_risk_total" ["level"] "Reviews of calls by the band of their risk.";
    AVERAGE Gauge "checkrein_review_duration_average_seconds" [] "Mean time of all reviews.";
    STOPPED Counter "checkrein_calls_stopped_total" [] "Calls that were asked about, refused or halted.";
    FLAGS Counter "checkrein_flags_total" [] "Calls flagged for a user to look at.";
    TICKETS_CLOSED Counter "checkrein_tickets_closed_total" [] "Flagged calls that a user has looked at.";
    OUTCOMES Counter "checkrein_outcomes_total" ["result"] "Calls that ran, by their end.";
    UNREVIEWED Counter "checkrein_unreviewed_calls_total" ["kind"] "Calls that ran without a review, or without the answer they needed.";
    SURPRISES Counter "checkrein_surprises_total" [] "Changes that were not predicted, or predicted and not seen.";
    MASKED Counter "checkrein_secrets_masked_total" [] "Secrets masked in outputs before the model read them.";
    ISSUES Counter "checkrein_issues_total" ["issue", "severity"] "Behaviour patterns that were detected.";
    ISSUES_ENDED Counter "checkrein_issues_ended_total" ["issue"] "Behaviour patterns that have ended.";
    INTERVENTIONS Counter "checkrein_interventions_total" ["type", "issue"] "Interventions by type and issue.";
    INTERVENTION_OUTCOMES Counter "checkrein_intervention_outcomes_total" ["type", "issue", "outcome"] "Interventions whose result is known: the issue ended (effective), or the next intervention came first (ineffective).";
    EFFECTIVENESS Gauge "checkrein_intervention_effectiveness" ["type"] "Share of interventions with a known result that were effective.";
    ESCALATIONS Counter "checkrein_escalations_total" ["issue"] "Interventions on a higher rung than the one before about the same issue.";
    HALTS Counter "checkrein_halts_total" ["by"] "Halts of sessions, by a user or by the guard.";
    RECOVERIES Counter "checkrein_recoveries_total" ["kind"] "Rollbacks, restores and resumes that were done.";
    MARKS Counter "checkrein_marks_total" ["issue", "judgement"] "What users said of detected issues.";
    OPINIONS Counter "checkrein_opinions_total" ["opinion"] "Calls that users called wrongly stopped, or missed.";
    FALSE_POSITIVES Gauge "checkrein_false_positive_ratio" [] "Share of stopped calls that users called wrongly stopped.";
    SNAPSHOTS Counter "checkrein_snapshots_total" [] "Snapshots taken before calls.";
    SNAPSHOT_BYTES Counter "checkrein_snapshot_bytes_total" [] "Bytes held by snapshots taken before calls.";
    SNAPSHOT_SECONDS Counter "checkrein_snapshot_seconds_total" [] "Time that taking snapshots before calls took.";
    APPROVALS_ASKED Counter "checkrein_approvals_asked_total" [] "Calls that waited for an answer from outside the client.";
    APPROVALS Counter "checkrein_approvals_answered_total" ["end", "door"] "Such calls by their end, and by the door that the answer came through.";
    APPROVALS_FORGED Counter "checkrein_approvals_forged_total" [] "Answers that nobody gave who may.";
    CASCADES Counter "checkrein_cascades_total" ["level"] "Messages of an agent that ask to be waved through, by level.";
    ALERTS Counter "checkrein_alerts_total" ["event"] "Events of level critical.";
    CACHE_LOOKUPS Counter "checkrein_review_cache_lookups_total" [] "Reviews that the server was asked for since its start.";
    CACHE_HITS Counter "checkrein_review_cache_hits_total" [] "Of these, those that it answered from its cache.";
    CACHE_RATIO Gauge "checkrein_review_cache_hit_ratio" [] "Share of reviews that the server was asked for and answered from its cache.";
    TOKENS Counter "checkrein_tokens_total" ["model", "kind"] "Tokens by model and kind.";
    DOLLARS Counter "checkrein_dollars_total" ["model"] "US dollars by model, where its price is known.";
    FAILURES Counter "checkrein_failures_total" ["stage"] "What did not run, by where it failed.";
    SESSIONS Counter "checkrein_sessions_started_total" ["client"] "Starts of sessions by client.";
    KNOWN Gauge "checkrein_sessions" [] "Sessions with records.";
    ACTIVE Gauge "checkrein_sessions_active" [] "Sessions with a record in the last five minutes.";
    HALTED Gauge "checkrein_sessions_halted" [] "Sessions under a halt.";
    INDEX_UP Gauge "checkrein_index_up" [] "1 while the index follows the ledgers, 0 while it cannot.";
    TELEMETRY_SENT Counter "checkrein_telemetry_sent_total" ["signal"] "Spans, metrics and log records that a collector took.";
    TELEMETRY_LOST Counter "checkrein_telemetry_lost_total" ["signal"] "Spans, metrics and log records that no collector took.";
    RECORDS Gauge "checkrein_index_records" [] "Records in the index.";
}

/// Labels as they stand behind a name; empty for none.
pub(crate) fn labels(all: &[(&str, &str)]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> =
        all.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}
