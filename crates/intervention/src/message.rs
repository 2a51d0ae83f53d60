//! What the agent reads: what was seen, why it matters, what to do instead, in at most five lines (seed 000).

use checkrein_patterns::{Issue, PatternKind};
use checkrein_policy::Strength;

use checkrein_protocol::InterventionKind;
use checkrein_protocol::{LimitedResource, Throttle};

use crate::constraints::constraints;

/// The most lines that an agent reads at once (seed 000).
pub(crate) const MOST_LINES: usize = 5;

/// What the session is for, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Task<'a> {
    /// The goals, newest last: what the user asked for.
    pub goals: &'a [String],
    /// The directory in which work is expected.
    pub workspace: Option<&'a str>,
    /// Patterns of paths to which the work is limited (`scope.paths`); empty: the whole workspace.
    pub scope: &'a [String],
    /// Places outside that the last actions touched, oldest first.
    pub outside: &'a [String],
    /// Files that the work made so far, oldest first.
    pub made: &'a [String],
}

/// A limit of the session, as the agent is told about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionLimit {
    /// What is limited.
    pub resource: LimitedResource,
    /// How much of it there may be.
    pub limit: f64,
    /// How much of it was used.
    pub used: f64,
}

impl SessionLimit {
    /// The limit times a factor, what it was before, and what was used: `file operations 25 instead of 50 (20 used)`.
    fn in_words(self, factor: f64) -> String {
        let limit = (self.limit * factor).max(1.0);
        let (before, used) = (self.limit, self.used);
        match self.resource {
            LimitedResource::FileOperations => {
                format!("file operations {limit:.0} instead of {before:.0} ({used:.0} used)")
            }
            LimitedResource::Tokens => format!("tokens {limit:.0} instead of {before:.0} ({used:.0} used)"),
            LimitedResource::Dollars => {
                format!("${:.2} instead of ${before:.2} (${used:.2} used)", self.limit * factor)
            }
            LimitedResource::Seconds => {
                format!("time {limit:.0} s instead of {before:.0} s ({used:.0} s gone)")
            }
            LimitedResource::Megabytes => format!("memory {limit:.0} MB instead of {before:.0} MB"),
        }
    }
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
    /// Light: the newest goal. Medium: and what was asked for first, where work belongs, and what the user demands. Strong: and every goal
    /// between, in the order in which they count, and what was made for it so far.
    fn lines(&self, issue: PatternKind) -> Vec<String> {
        let demanded = constraints(self.task.goals, issue);
        let demanded =
            (!demanded.is_empty()).then(|| format!("Important, the user says: {}.", demanded.join("; ")));
        match self.strength {
            Strength::Light => self.task.newest().into_iter().collect(),
            Strength::Medium => {
                let task = self.task.newest().map(|newest| match self.task.first() {
                    Some(first) => format!("{newest} (it began with: {})", brief(first)),
                    None => newest,
                });
                task.into_iter().chain(self.task.place()).chain(demanded).collect()
            }
            Strength::Strong => {
                let others = self.task.goals.iter().rev().skip(1).map(|goal| brief(goal)).collect::<Vec<_>>();
                let others = (!others.is_empty())
                    .then(|| format!("; before that: {}", others.join("; before that: ")));
                let made = self.task.made().map(|made| format!(" ({made})")).unwrap_or_default();
                let task = self.task.newest().map(|newest| newest + &made + &others.unwrap_or_default());
                task.into_iter().chain(self.task.place()).chain(demanded).collect()
            }
        }
    }
}

impl Task<'_> {
    fn newest(&self) -> Option<String> {
        self.goals.last().map(|goal| format!("The task is: {}", short(goal)))
    }

    /// What was asked for first, where that is something else than the newest goal.
    fn first(&self) -> Option<&String> {
        self.goals.first().filter(|_| self.goals.len() > 1)
    }

    /// What was made so far.
    fn made(&self) -> Option<String> {
        (!self.made.is_empty()).then(|| format!("made so far: {}", self.made.join(", ")))
    }

    /// Where work belongs.
    fn place(&self) -> Option<String> {
        let scope = self.scope.join(", ");
        self.workspace.map(|place| match scope.as_str() {
            "" => format!("Work belongs in {place} and in what the task names."),
            scope => format!("Work belongs in {scope} of {place} and in what the task names."),
        })
    }

    /// What a hint says beside what was seen: for what is about the task, the task, and where the work left it.
    fn hint(&self, issue: PatternKind) -> Vec<String> {
        match issue {
            PatternKind::ScopeCreep | PatternKind::ConfusedState => {
                let outside =
                    (!self.outside.is_empty()).then(|| format!("Outside are: {}.", self.outside.join(", ")));
                let place = self.place();
                let where_it_belongs = outside.into_iter().chain(place).collect::<Vec<_>>().join(" ");
                let lines = [self.newest().unwrap_or_default(), where_it_belongs];
                lines.into_iter().filter(|line| !line.is_empty()).collect()
            }
            PatternKind::GoalDrift | PatternKind::RunawayExecution => {
                let made = match self.made() {
                    Some(made) => format!("For it was {made}. What of it is still to be done?"),
                    None => "Nothing was made for it yet. What of it comes first?".to_owned(),
                };
                self.newest().into_iter().flat_map(|newest| [newest, made.clone()]).collect()
            }
            PatternKind::StuckLoop
            | PatternKind::RepetitiveErrors
            | PatternKind::ErrorExplorationLoop
            | PatternKind::Stagnation
            | PatternKind::OscillatingEdits
            | PatternKind::ResourceSpiral
            | PatternKind::ExplorationWandering
            | PatternKind::Hallucination
            | PatternKind::RepeatedVerdicts
            | PatternKind::OwnPattern
            | PatternKind::Cascade => Vec::new(),
        }
    }
}

/// The text of an intervention. What a rollback did is said by whoever did it, in two more lines at most.
pub(crate) fn text(
    kind: InterventionKind,
    issue: &Issue,
    reminder: Reminder<'_>,
    throttle: Option<&Throttle>,
    limits: &[SessionLimit],
) -> String {
    let seen = format!("checkrein noticed {}: {}.", issue.kind.name().replace('_', " "), issue.summary);
    let end = if issue.advice.ends_with('?') { "" } else { "." };
    let instead = format!("Instead: {}{end}", issue.advice);
    let mut lines = vec![seen];
    match kind {
        InterventionKind::SoftCorrection => {
            lines.extend(reminder.task.hint(issue.kind));
            lines.push(instead);
        }
        InterventionKind::ContextReinforcement => {
            lines.extend(reminder.lines(issue.kind));
            lines.push(match reminder.example {
                Example::Given => format!("{instead} For example: {}.", example(issue.kind)),
                Example::LeftOut => instead,
            });
        }
        InterventionKind::ResourceThrottling => {
            lines.extend(
                throttle.map(|throttle| announcement(throttle, limits)).filter(|line| !line.is_empty()),
            );
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
        PatternKind::RepeatedVerdicts => "name what is in the way, and do the rest of the task first",
        PatternKind::OwnPattern => "read what the pattern asks for, and do that before the next call",
        PatternKind::Cascade => "end with a list of what was done, without a question",
    }
}

/// What tighter limits come to: which calls are refused, and how much there still may be of what is limited.
fn announcement(throttle: &Throttle, limits: &[SessionLimit]) -> String {
    let (left, lasting) = (throttle.left, Throttle::LASTING);
    let tighter = limits.iter().filter(|limit| throttle.factor_of(limit.resource) < 1.0);
    let numbers: Vec<String> =
        tighter.map(|limit| limit.in_words(throttle.factor_of(limit.resource))).collect();
    let limits = (!numbers.is_empty())
        .then(|| format!("Limits for the next {lasting} calls: {}.", numbers.join(", ")));
    let refused = (!throttle.refused.is_empty())
        .then(|| format!("The same calls are refused until something is changed or {left} others have run."));
    refused.into_iter().chain(limits).collect::<Vec<_>>().join(" ")
}

/// The first line of a goal, at most 300 characters (ours).
pub(crate) fn short(goal: &str) -> String {
    first_line(goal, 300)
}

/// The same in at most 120 characters (ours), for a goal that is named beside another.
fn brief(goal: &str) -> String {
    first_line(goal, 120)
}

fn first_line(goal: &str, most: usize) -> String {
    let line = goal.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(most).collect();
    if cut.len() < goal.trim().len() { format!("{cut} ...") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_told_with_its_number() {
        let told = |resource, limit, used| SessionLimit { resource, limit, used }.in_words(0.5);
        assert_eq!(
            told(LimitedResource::FileOperations, 100.0, 40.0),
            "file operations 50 instead of 100 (40 used)"
        );
        assert_eq!(told(LimitedResource::Seconds, 300.0, 120.0), "time 150 s instead of 300 s (120 s gone)");
        assert_eq!(told(LimitedResource::Megabytes, 512.0, 0.0), "memory 256 MB instead of 512 MB");
    }
}
