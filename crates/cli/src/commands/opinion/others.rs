//! What a proposed setting would have meant for the other calls of the last 30 days: each is judged by itself, with and without it.

use std::collections::{BTreeMap, HashMap};

use checkrein_engine::check;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_policy::ConfigSource;
use checkrein_protocol::{AbsolutePath, Action, RecordBody, ReviewRecord, Timestamp, VerdictKind};

use super::Opinion;
use crate::commands::policy_try::{Judges, judges};
use crate::commands::stopped_calls::recent;
use crate::render::call;
use crate::terminal::{brief, counted, plain};

/// How many different calls are judged again, the newest first (ours): each takes a few milliseconds, for every proposal.
const CALLS: usize = 300;
/// How many of those that would come out otherwise are shown (ours).
const EXAMPLES: usize = 3;
/// How much of a call is shown, in letters (ours).
const SHOWN: usize = 60;

/// The calls that a setting would count for, were it there.
pub(super) struct OtherCalls {
    opinion: Opinion,
    /// The newest different ones, newest first.
    calls: Vec<ReviewRecord>,
}

/// What a setting would have made of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Difference {
    /// How many would come out otherwise.
    pub(super) calls: u64,
    /// The newest of them.
    pub(super) examples: Vec<String>,
}

impl OtherCalls {
    /// The calls of the last 30 days, without `judged` itself, that were stopped where that is called wrong, else those that were let pass.
    pub(super) fn than(
        environment: &HostEnvironment,
        judged: &ReviewRecord,
        opinion: Opinion,
    ) -> Result<Self, CommandError> {
        let mut newest: HashMap<u64, (Timestamp, ReviewRecord)> = HashMap::new();
        for (_, record) in recent(environment)? {
            let RecordBody::Review(review) = record.body else { continue };
            let is_meant =
                review.was_stopped() == (opinion == Opinion::Wrong) && review.exact != judged.exact;
            let is_newer = newest.get(&review.exact).is_none_or(|(at, _)| *at <= record.at);
            if is_meant && is_newer {
                newest.insert(review.exact, (record.at, *review));
            }
        }
        let mut calls: Vec<(Timestamp, ReviewRecord)> = newest.into_values().collect();
        calls.sort_by_key(|(at, review)| std::cmp::Reverse((*at, review.exact)));
        calls.truncate(CALLS);
        Ok(Self { opinion, calls: calls.into_iter().map(|(_, review)| review).collect() })
    }

    /// Judges them with and without a setting. Calls of a project whose own configuration is broken are left out.
    pub(super) fn with(&self, environment: &HostEnvironment, source: &ConfigSource) -> Difference {
        let mut places: BTreeMap<AbsolutePath, Option<Judges>> = BTreeMap::new();
        let mut difference = Difference::default();
        let is_stopped = |kind: VerdictKind| kind >= VerdictKind::Escalate;
        for review in &self.calls {
            let Some(cwd) = AbsolutePath::new(&review.cwd) else { continue };
            let place = places.entry(cwd.clone());
            let Some(judges) = place.or_insert_with(|| judges(environment, &cwd, source).ok()) else {
                continue;
            };
            let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd };
            let was_stopped = self.opinion == Opinion::Wrong;
            let now = is_stopped(check(&judges.now, &action, None).verdict.kind);
            if now == was_stopped && is_stopped(check(&judges.then, &action, None).verdict.kind) != now {
                difference.calls += 1;
                if difference.examples.len() < EXAMPLES {
                    difference.examples.push(call(review));
                }
            }
        }
        difference
    }
}

impl Difference {
    /// What would have come out otherwise, as a clause.
    pub(super) fn in_words(&self, opinion: Opinion) -> String {
        let (were, would) = match opinion {
            Opinion::Wrong => ("was stopped", "pass"),
            Opinion::Missed => ("was let pass", "be asked about"),
        };
        if self.calls == 0 {
            return format!("no other call of the last 30 days that {were} would {would} with it");
        }
        let shown: Vec<String> =
            self.examples.iter().map(|words| format!("`{}`", brief(&plain(words), SHOWN))).collect();
        let more = if self.calls > self.examples.len() as u64 { ", ..." } else { "" };
        let calls = counted(self.calls, "other call");
        format!("{calls} of the last 30 days would {would} too: {}{more}", shown.join(", "))
    }
}
