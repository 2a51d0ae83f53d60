//! What the agent reads: what was seen, why it matters, what to do instead, in at most five lines (seed 000).

use checkrein_patterns::{Issue, PatternKind};
use checkrein_policy::Strength;

use checkrein_protocol::InterventionKind;
use checkrein_protocol::Throttle;

/// The most lines that an agent reads at once (seed 000).
pub(crate) const MOST_LINES: usize = 5;

/// What the session is for, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Task<'a> {
    /// The goals, newest last: what the user asked for.
    pub goals: &'a [String],
    /// The directory in which work is expected.
    pub workspace: Option<&'a str>,
}

/// Whether a reminder holds an example (seed 000, `include_examples`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Example {
    Given,
    LeftOut,
}

/// What a reminder says, and how much of it (seed 000, `reinforcement_strength`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reminder<'a> {
    pub(crate) task: Task<'a>,
    pub(crate) strength: Strength,
    pub(crate) example: Example,
}

impl Reminder<'_> {
    /// Light: the newest goal. Medium: and where work belongs. Strong: and what was asked for first.
    fn lines(&self) -> Vec<String> {
        let Task { goals, workspace } = self.task;
        let newest = goals.last().map(|goal| format!("The task is: {}", short(goal)));
        let place = workspace.map(|place| format!("Work belongs in {place} and in what the task names."));
        let first = goals.first().filter(|_| goals.len() > 1);
        let first = first.map(|goal| format!("It all began with: {}", short(goal)));
        match self.strength {
            Strength::Light => newest.into_iter().collect(),
            Strength::Medium => newest.into_iter().chain(place).collect(),
            Strength::Strong => first.into_iter().chain(newest).chain(place).collect(),
        }
    }
}

/// The text of an intervention. What a rollback did is said by whoever did it, in two more lines at most.
pub(crate) fn text(
    kind: InterventionKind,
    issue: &Issue,
    reminder: Reminder<'_>,
    throttle: Option<&Throttle>,
) -> String {
    let seen = format!("checkrein noticed {}: {}.", issue.kind.name().replace('_', " "), issue.summary);
    let instead = format!("Instead: {}.", issue.advice);
    let mut lines = vec![seen];
    match kind {
        InterventionKind::SoftCorrection => lines.push(instead),
        InterventionKind::ContextReinforcement => {
            lines.extend(reminder.lines());
            lines.push(match reminder.example {
                Example::Given => format!("{instead} For example: {}.", example(issue.kind)),
                Example::LeftOut => instead,
            });
        }
        InterventionKind::ResourceThrottling => {
            lines.extend(throttle.map(announcement));
            lines.push(instead);
        }
        InterventionKind::CheckpointRollback => {
            lines.push(
                "Do not go on as before: stop, tell the user what was tried, and ask how to go on."
                    .to_owned(),
            );
            lines.push(instead);
        }
        InterventionKind::EmergencyStop => {
            lines.push("Milder means did not help, so the session is stopped.".to_owned());
            lines.push(
                "Tell the user what was tried; only they can resume with `checkrein resume`.".to_owned(),
            );
        }
    }
    lines.join("\n")
}

/// Something that could be done now, of the sort that a pattern asks for.
fn example(pattern: PatternKind) -> &'static str {
    match pattern {
        PatternKind::RepetitiveErrors | PatternKind::ErrorExplorationLoop => {
            "read the first error from its first line, and look whether the file that it names is there"
        }
        PatternKind::StuckLoop => {
            "read the last output once more in full, and change one input before the next run"
        }
        PatternKind::Stagnation => {
            "run one failing test alone, and print what it compares before changing code"
        }
        PatternKind::OscillatingEdits => "write a test that only one of the two versions passes",
        PatternKind::ScopeCreep => "name the files that the task speaks of, and leave the others as they are",
        PatternKind::GoalDrift => "write down the next step of the task in one sentence, and do only that",
        PatternKind::ResourceSpiral | PatternKind::RunawayExecution => {
            "do the same with one file first, and count what that takes"
        }
        PatternKind::ExplorationWandering => "search the whole tree once for the name that is needed",
        PatternKind::Hallucination | PatternKind::ConfusedState => {
            "list the directory, or ask the package manager, before using a name"
        }
        PatternKind::Cascade => "end with a list of what was done, without a question",
    }
}

fn announcement(throttle: &Throttle) -> String {
    let percent = (throttle.factor * 100.0).round();
    let (left, lasting) = (throttle.left, Throttle::LASTING);
    let limits = (throttle.factor < 1.0)
        .then(|| format!("The limits of this session are at {percent} % for the next {lasting} calls."));
    let refused = (!throttle.refused.is_empty())
        .then(|| format!("The same calls are refused until something is changed or {left} others have run."));
    refused.into_iter().chain(limits).collect::<Vec<_>>().join(" ")
}

/// The first line of a goal, at most 300 characters (ours).
pub(crate) fn short(goal: &str) -> String {
    let line = goal.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(300).collect();
    if cut.len() < goal.trim().len() { format!("{cut} ...") } else { cut }
}
