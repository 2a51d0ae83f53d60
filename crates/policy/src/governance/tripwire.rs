//! Tripwires and own patterns: conditions over an action and what was counted before it, and what follows.
//!
//! They are looked at before everything else, the strictest wins, and nothing else halts (ACGP). One that cannot be evaluated
//! counts as fired, though it never halts: a fault in a condition is no reason to end a session.

use std::sync::OnceLock;

use checkrein_protocol::{Amount, Severity, TallyIncrement, TallyKey, TallyWindow, Timestamp, VerdictKind};

use crate::rule::{Condition, RuleContext, RuleFailure, tools};

/// How many tripwires and own patterns may count (ours): the state of a session holds a tally for each.
pub const COUNTING_LIMIT: usize = 32;

/// What a tripwire came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripwireOrigin {
    /// `governance.tripwires`.
    Tripwire,
    /// `patterns.custom_patterns`.
    Pattern,
}

/// A condition and what follows when it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Tripwire {
    /// Its name.
    pub name: String,
    /// What it came from.
    pub origin: TripwireOrigin,
    /// What it is for.
    pub description: String,
    /// It is only looked at for these tools; empty: for all. `mcp__SERVER` means all tools of an MCP server, `*` any rest of a name.
    pub tools: Vec<String>,
    /// The condition.
    pub condition: String,
    /// What it counts; `None` when it looks at one action alone.
    pub count: Option<Count>,
    /// The least verdict when it holds.
    pub decision: VerdictKind,
    /// One sentence: what was seen and why it matters.
    pub reason: String,
    /// What to do instead, best first.
    pub alternatives: Vec<String>,
    /// How grave it is: advice to authors, which never changes the verdict (ACGP).
    pub severity: Severity,
    /// The severity of the flag that it raises; `None` when it raises none.
    pub flag: Option<Severity>,
    /// Examples that it must catch: actions in the text form of [`crate::Example`], with `-->` between them.
    pub matches: Vec<String>,
    /// Examples on which it must stay silent.
    pub ignores: Vec<String>,
}

/// What is counted over a session. What is refused does not happen, so it is not counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// Which actions count.
    pub of: String,
    /// How much each adds; `None`: one.
    pub add: Option<String>,
    /// How far back.
    pub window: TallyWindow,
    /// An action that takes everything back that was counted before it, and does not count itself.
    pub reset: Option<String>,
}

/// A tripwire that fired.
#[derive(Debug, Clone, PartialEq)]
pub struct TripwireFinding {
    /// Its name.
    pub name: String,
    /// What it came from.
    pub origin: TripwireOrigin,
    /// The least verdict.
    pub verdict: VerdictKind,
    /// What was seen and why it matters.
    pub reason: String,
    /// What to do instead.
    pub alternatives: Vec<String>,
    /// How grave its author calls it.
    pub severity: Severity,
    /// The severity of the flag that it raises.
    pub flag: Option<Severity>,
    /// Why it could not be evaluated, when it could not.
    pub failure: Option<String>,
}

/// What all tripwires say about an action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TripwireReport {
    /// Those that fired, strictest first; of equal ones in the order of the configuration.
    pub findings: Vec<TripwireFinding>,
    /// What the action adds to what is counted, if it runs.
    pub counted: Vec<TallyIncrement>,
}

/// A tripwire whose conditions are parsed when they are needed first.
#[derive(Debug)]
pub struct CompiledTripwire {
    tripwire: Tripwire,
    condition: Lazy,
    of: Lazy,
    add: Lazy,
    reset: Lazy,
}

type Lazy = OnceLock<Result<Condition, RuleFailure>>;

impl Tripwire {
    /// The tally that it counts in.
    pub fn key(&self) -> TallyKey {
        let sort = match self.origin {
            TripwireOrigin::Tripwire => "tripwire",
            TripwireOrigin::Pattern => "pattern",
        };
        // FNV-1a: stable across machines and versions, since the number is written into records.
        let bytes = sort.bytes().chain([0]).chain(self.name.bytes());
        TallyKey(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

impl CompiledTripwire {
    /// The tripwire, not parsed yet.
    pub fn new(tripwire: Tripwire) -> Self {
        Self {
            tripwire,
            condition: OnceLock::new(),
            of: OnceLock::new(),
            add: OnceLock::new(),
            reset: OnceLock::new(),
        }
    }

    /// The tripwire as it was written.
    pub fn tripwire(&self) -> &Tripwire {
        &self.tripwire
    }

    /// What it says about an action at a time, and what the action adds to what it counts.
    pub fn check(
        &self,
        context: &RuleContext<'_>,
        now: Timestamp,
    ) -> (Option<TripwireFinding>, Option<TallyIncrement>) {
        let tool = context.action.tool.as_str();
        let tools = &self.tripwire.tools;
        if !tools::holds(tools, tool) {
            return (None, None);
        }
        let judged = match &self.tripwire.count {
            None => parsed(&self.condition, &self.tripwire.condition)
                .and_then(|condition| condition.holds(context, None))
                .map(|holds| (holds, None)),
            Some(count) => self.check_count(count, context, now),
        };
        match judged {
            Ok((true, counted)) => (Some(self.finding(None)), counted),
            Ok((false, counted)) => (None, counted),
            Err(failure) => (Some(self.finding(Some(failure))), None),
        }
    }

    fn check_count(
        &self,
        count: &Count,
        context: &RuleContext<'_>,
        now: Timestamp,
    ) -> Result<(bool, Option<TallyIncrement>), RuleFailure> {
        let reset = match &count.reset {
            Some(text) => parsed(&self.reset, text)?.holds(context, None)?,
            None => false,
        };
        // What takes everything back does not begin anew by itself: a test run that writes files is no edit.
        let adds = if reset || !parsed(&self.of, &count.of)?.holds(context, None)? {
            Amount::default()
        } else if let Some(text) = &count.add {
            parsed(&self.add, text)?.amount(context)?
        } else {
            Amount::ONE
        };
        let key = self.tripwire.key();
        let counted = TallyIncrement { key, window: count.window, amount: adds, reset };
        if adds == Amount::default() {
            // What adds nothing does not stop anything either: the others go on working.
            return Ok((false, reset.then_some(counted)));
        }
        let tally = context.history.tallies.iter().find(|tally| tally.key() == key);
        let before = tally.map_or(Amount::default(), |tally| tally.total(now, context.history.actions + 1));
        let condition = parsed(&self.condition, &self.tripwire.condition)?;
        Ok((condition.holds(context, Some(before.plus(adds)))?, Some(counted)))
    }

    fn finding(&self, failure: Option<RuleFailure>) -> TripwireFinding {
        let tripwire = &self.tripwire;
        let (verdict, reason) = match &failure {
            None => (tripwire.decision, tripwire.reason.clone()),
            Some(failure) => (
                tripwire.decision.min(VerdictKind::Block),
                format!("`{}` could not be evaluated, so it counts as fired: {failure}", tripwire.name),
            ),
        };
        TripwireFinding {
            name: tripwire.name.clone(),
            origin: tripwire.origin,
            verdict,
            reason,
            alternatives: tripwire.alternatives.clone(),
            severity: tripwire.severity,
            flag: tripwire.flag,
            failure: failure.map(|failure| failure.to_string()),
        }
    }
}

/// What tripwires say about an action at a time.
pub fn check_tripwires(
    tripwires: &[CompiledTripwire],
    context: &RuleContext<'_>,
    now: Timestamp,
) -> TripwireReport {
    let mut report = TripwireReport::default();
    for tripwire in tripwires {
        let (finding, counted) = tripwire.check(context, now);
        report.findings.extend(finding);
        report.counted.extend(counted);
    }
    report.findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    report
}

fn parsed<'a>(condition: &'a Lazy, text: &str) -> Result<&'a Condition, RuleFailure> {
    condition
        .get_or_init(|| Condition::parse(text).map_err(|bad| RuleFailure::Parse(bad.message)))
        .as_ref()
        .map_err(Clone::clone)
}
