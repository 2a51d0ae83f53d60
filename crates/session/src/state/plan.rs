//! What the detectors are told of an action before it runs.

use checkrein_patterns::{
    ActionFacts, ActionNumber, Activity, Bearing, Clarity, Edit, Fingerprint, FiredPattern, Pace,
    PatternSettings, Probe, ScopeSide, Touch, Use, VerdictCause, VisitedPlace,
};
use checkrein_protocol::{
    AbsolutePath, Effect, ForeseenIssue, OwnFinding, ReviewRecord, ToolName, VerdictKind, bytes_to_write,
};
use serde_json::Value as Json;

use super::SessionState;
use super::bounds::{self, short_path};
use super::changes::file_operations;

/// A call that was predicted, as far as the detectors are told of it.
#[derive(Debug, Clone, Copy)]
pub struct PlannedCall<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// Its input.
    pub input: &'a Json,
    /// The working directory.
    pub cwd: &'a str,
    /// The sub-agent that wants it; `None` for the agent itself.
    pub actor: Option<&'a str>,
    /// The predicted effects, the first of them where they are many.
    pub effects: &'a [Effect],
    /// How many further effects change files.
    pub further_file_operations: u64,
    /// Programs that it runs.
    pub programs: &'a [String],
    /// How well it serves the goals, 0 to 1; `None` when no goal is known.
    pub goal_alignment: Option<f64>,
    /// Fingerprint of the exact action.
    pub exact: u64,
    /// Fingerprint of what the action comes to; zero where it is not known.
    pub substance: u64,
    /// The same without options; zero where it is not known.
    pub without_options: u64,
}

impl<'a> PlannedCall<'a> {
    /// The call that a record tells of.
    fn of(review: &'a ReviewRecord) -> Self {
        Self {
            tool: &review.tool,
            input: &review.input,
            cwd: &review.cwd,
            actor: review.actor.as_deref(),
            effects: &review.effects,
            further_file_operations: review.further_file_operations,
            programs: &review.programs,
            goal_alignment: review.rationality.as_ref().and_then(|rationality| rationality.goal_alignment),
            exact: review.exact,
            substance: review.substance,
            without_options: review.without_options,
        }
    }
}

impl SessionState {
    /// Files of the workspace that the session made last, oldest first, by their names there.
    pub fn made_lately(&self) -> Vec<String> {
        const MOST: usize = 4;
        let Some(workspace) = &self.workspace else { return Vec::new() };
        let inside = self.created.iter().rev().filter_map(|path| path.relative_to(workspace));
        let mut names: Vec<String> =
            inside.filter(|name| !name.is_empty()).take(MOST).map(str::to_owned).collect();
        names.reverse();
        names
    }

    /// What the detectors are told about an action that was reviewed.
    pub(super) fn plan(&self, review: &ReviewRecord) -> ActionFacts {
        ActionFacts {
            cause: cause(review),
            fired: fired(review),
            ..self.facts(&PlannedCall::of(review), ActionNumber(self.actions))
        }
    }

    /// The issues that would begin or grow with a call as the next one, gravest first. Nothing is taken up.
    pub fn foreseen(&self, call: &PlannedCall<'_>, settings: &PatternSettings) -> Vec<ForeseenIssue> {
        self.behaviour.foreseen(&self.facts(call, ActionNumber(self.actions.saturating_add(1))), settings)
    }

    pub(super) fn facts(&self, call: &PlannedCall<'_>, number: ActionNumber) -> ActionFacts {
        let path = call.effects.iter().find_map(|effect| effect.target.path());
        let operations = file_operations(call.effects).saturating_add(call.further_file_operations);
        let command = call.input.get("command").and_then(|text| text.as_str());
        ActionFacts {
            number,
            actor: call.actor.map(Fingerprint::of).unwrap_or_default(),
            action: Fingerprint::of_fingerprint(if call.substance == 0 {
                call.exact
            } else {
                call.substance
            }),
            exact: Fingerprint::of_fingerprint(call.exact),
            without_options: match call.without_options {
                0 => Fingerprint::default(),
                mark => Fingerprint::of_fingerprint(mark),
            },
            name: name(call),
            bearing: Bearing::of(call.effects, call.programs, command),
            deed: Activity::of(call.tool.as_str(), call.effects, call.programs, command),
            pace: Pace::of(call.programs),
            clarity: Clarity::of(call.effects),
            probe: command.map_or(Probe::Other, Probe::of),
            place: path.map(|path| VisitedPlace::of(path.as_str())),
            edit: path.and_then(|path| edit(path, call)),
            alignment: call.goal_alignment.map(hundredths),
            file_operations: u32::try_from(operations).unwrap_or(u32::MAX),
            processes: u32::try_from(call.programs.len()).unwrap_or(u32::MAX),
            bytes_written: bytes_to_write(call.input),
            touches: self.touches(call),
            cause: None,
            fired: Vec::new(),
        }
    }

    /// The places outside the work that the last actions touched, oldest first, at most three: those that were touched last.
    pub fn places_outside(&self) -> Vec<String> {
        const MOST: usize = 3;
        let Some(workspace) = &self.workspace else { return Vec::new() };
        let mut places: Vec<String> = Vec::new();
        let ran = self.recent.iter().rev().filter(|action| action.past.failed.is_some());
        for path in ran.flat_map(|action| &action.past.paths) {
            let name = path.to_string();
            let is_outside = self.side(path, workspace.as_str()) != ScopeSide::Inside;
            if is_outside && !places.contains(&name) && places.len() < MOST {
                places.push(name);
            }
        }
        places.reverse();
        places
    }

    /// Where a path lies. What the session made or the user named is inside.
    fn side(&self, path: &AbsolutePath, workspace: &str) -> ScopeSide {
        let named = || self.goals.iter().any(|goal| goal.text.contains(path.as_str()));
        match ScopeSide::of(path.as_str(), workspace) {
            ScopeSide::Inside => ScopeSide::Inside,
            side if !self.created.contains(path) && !named() => side,
            ScopeSide::Outside | ScopeSide::Critical => ScopeSide::Inside,
        }
    }

    /// The places that an action touches.
    fn touches(&self, call: &PlannedCall<'_>) -> Vec<Touch> {
        let workspace = self.workspace.as_ref().map_or(call.cwd, AbsolutePath::as_str);
        let touch = |effect: &Effect| {
            let path = short_path(effect)?;
            let side = self.side(path, workspace);
            let use_of = if effect.kind.is_mutating() { Use::Changed } else { Use::Read };
            Some(Touch { path: Fingerprint::of(path.as_str()), side, use_of })
        };
        call.effects.iter().filter_map(touch).take(bounds::PATHS).collect()
    }
}

/// Why a call did not pass plainly: the first rule that fired, else its gravest effect. What a pattern of the user said is theirs.
fn cause(review: &ReviewRecord) -> Option<VerdictCause> {
    let is_own = review.governance.as_ref().is_some_and(|governance| !governance.fired.is_empty());
    if review.verdict == VerdictKind::Ok || is_own {
        return None;
    }
    let gravest = || {
        let effect = review.effects.iter().max_by_key(|effect| effect.severity)?;
        Some(effect.kind.name().to_owned())
    };
    let reason = review.rules.first().cloned().or_else(gravest)?;
    Some(VerdictCause {
        verdict: review.verdict,
        reason: bounds::cut(&reason, bounds::NAME_CHARACTERS).to_owned(),
    })
}

/// The patterns and tripwires of the user that fired with a call.
fn fired(review: &ReviewRecord) -> Vec<FiredPattern> {
    let all = review.governance.iter().flat_map(|governance| &governance.own);
    let short = |text: &str| bounds::cut(text, bounds::TEXT_BYTES).to_owned();
    let pattern = |own: &OwnFinding| FiredPattern {
        name: short(&own.name),
        severity: own.severity,
        summary: short(&own.summary),
        advice: short(&own.advice),
    };
    all.take(FIRED).map(pattern).collect()
}

/// How many of those are kept of one call (ours).
const FIRED: usize = 4;

/// What an action is called: the first line of its command, cut.
fn name(call: &PlannedCall<'_>) -> String {
    let command = call.input.get("command").and_then(|text| text.as_str()).unwrap_or_default();
    let lines: Vec<&str> = command.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.first().copied().unwrap_or_default();
    let kept = bounds::cut(first, bounds::NAME_CHARACTERS);
    if kept.len() < first.len() || lines.len() > 1 { format!("{kept} ...") } else { kept.to_owned() }
}

/// The edit that a tool of a client makes, by the fields that such tools have.
fn edit(path: &AbsolutePath, call: &PlannedCall<'_>) -> Option<Edit> {
    let text = |name: &str| call.input.get(name).and_then(serde_json::Value::as_str);
    let (before, after) = match (text("old_string"), text("new_string"), text("content")) {
        (Some(before), Some(after), _) => (Fingerprint::of(before), Fingerprint::of(after)),
        (_, _, Some(content)) => (Fingerprint::default(), Fingerprint::of(content)),
        _ => return None,
    };
    Some(Edit { path: Fingerprint::of(path.as_str()), before, after })
}

/// A share in hundredths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 100")]
fn hundredths(share: f64) -> u8 {
    (share * 100.0).round().clamp(0.0, 100.0) as u8
}
