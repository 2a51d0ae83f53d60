//! What the seeds name as metrics and events, each with its name here. `docs/operations.md` shows the table; a test walks it.

/// What carries something that a seed names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// A series of `/metrics`, with labels that pick it out.
    Metric(&'static str, &'static [(&'static str, &'static str)]),
    /// An event of the event log, of OTLP and of `/v1/events`.
    Event(&'static str),
    /// A graph of the console, by its title.
    Graph(&'static str),
}

/// Something that a seed names: which seed, by which name, and what carries it.
pub(super) type Named = (&'static str, &'static str, &'static [Carrier]);

use Carrier::{Event, Graph, Metric};

/// All of them, by seed.
pub(super) const NAMED: &[Named] = &[
    (
        "000",
        "`[:pipeline, :safety, :intervention]`, count by type and issue",
        &[
            Metric("checkrein_interventions_total", &[("type", "soft_correction"), ("issue", "stuck_loop")]),
            Event("intervention"),
        ],
    ),
    (
        "000",
        "the same by outcome",
        &[Metric("checkrein_intervention_outcomes_total", &[("outcome", "ineffective")])],
    ),
    (
        "000",
        "`[..., :effectiveness]`, value",
        &[
            Metric("checkrein_intervention_effectiveness", &[("type", "context_reinforcement")]),
            Graph("Intervention effectiveness"),
        ],
    ),
    ("000", "Interventions by Type", &[Graph("Interventions by type")]),
    (
        "000",
        "Escalation Rate",
        &[
            Metric("checkrein_escalations_total", &[("issue", "stuck_loop")]),
            Graph("Escalations of interventions"),
        ],
    ),
    (
        "000",
        "emergency stops",
        &[
            Metric("checkrein_halts_total", &[("by", "guard")]),
            Metric("checkrein_sessions_halted", &[]),
            Event("session.halt"),
        ],
    ),
    (
        "000",
        "recovery",
        &[Metric("checkrein_recoveries_total", &[("kind", "rollback")]), Event("recovery.rollback")],
    ),
    (
        "000",
        "detected issues",
        &[
            Metric("checkrein_issues_total", &[("issue", "stuck_loop"), ("severity", "high")]),
            Metric("checkrein_issues_ended_total", &[("issue", "stuck_loop")]),
            Event("issue.detected"),
            Event("issue.ended"),
        ],
    ),
    ("002", "`total_reviews`", &[Metric("checkrein_reviews_total", &[]), Event("tool.review")]),
    ("002", "`allowed_actions`", &[Metric("checkrein_reviews_total", &[("decision", "allow")])]),
    ("002", "`warned_actions`", &[Metric("checkrein_reviews_total", &[("decision", "warn")])]),
    ("002", "`modified_actions`", &[Metric("checkrein_reviews_total", &[("decision", "modify")])]),
    ("002", "`blocked_actions`", &[Metric("checkrein_reviews_total", &[("decision", "block")])]),
    ("002", "`avg_review_time`", &[Metric("checkrein_review_duration_average_seconds", &[])]),
    (
        "002",
        "`record_review(decision, duration)`",
        &[
            Metric("checkrein_review_duration_seconds_bucket", &[("decision", "allow"), ("le", "+Inf")]),
            Metric("checkrein_review_duration_seconds_sum", &[("decision", "allow")]),
            Metric("checkrein_review_duration_seconds_count", &[("decision", "allow")]),
        ],
    ),
    (
        "002",
        "`hits` of the cache",
        &[
            Metric("checkrein_review_cache_hits_total", &[]),
            Metric("checkrein_review_cache_lookups_total", &[]),
        ],
    ),
    ("002", "`cache_hit_rate`", &[Metric("checkrein_review_cache_hit_ratio", &[])]),
    (
        "002",
        "`false_positive_rate`",
        &[
            Metric("checkrein_false_positive_ratio", &[]),
            Metric("checkrein_opinions_total", &[("opinion", "wrong")]),
        ],
    ),
    (
        "002",
        "risk distribution",
        &[
            Metric("checkrein_reviews_by_risk_total", &[("level", "critical")]),
            Metric("checkrein_review_risk_bucket", &[("decision", "allow"), ("le", "0.3")]),
            Graph("Risk of calls by day"),
        ],
    ),
    (
        "003",
        "interventions OK, NUDGE, ESCALATE, BLOCK, HALT",
        &[
            Metric("checkrein_reviews_total", &[("verdict", "ok")]),
            Metric("checkrein_reviews_total", &[("verdict", "block")]),
            Graph("Verdicts by day"),
        ],
    ),
    ("003", "flags", &[Metric("checkrein_flags_total", &[]), Metric("checkrein_tickets_closed_total", &[])]),
    (
        "003",
        "human in the loop: asked, decided, by whom",
        &[
            Metric("checkrein_approvals_asked_total", &[]),
            Metric("checkrein_approvals_answered_total", &[("end", "allowed"), ("door", "console")]),
            Event("approval.asked"),
            Event("approval.answered"),
        ],
    ),
    (
        "003",
        "human in the loop: answers of nobody who may",
        &[Metric("checkrein_approvals_forged_total", &[]), Event("approval.forged")],
    ),
    (
        "004",
        "telemetry events of sessions",
        &[
            Metric("checkrein_sessions_started_total", &[("client", "claude")]),
            Event("session.start"),
            Event("session.end"),
        ],
    ),
    (
        "004",
        "cascade event log: level, patterns, action taken",
        &[Metric("checkrein_cascades_total", &[("level", "critical")]), Event("cascade.detected")],
    ),
    ("004", "the CRITICAL alert", &[Metric("checkrein_alerts_total", &[("event", "cascade.detected")])]),
];
