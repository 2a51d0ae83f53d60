//! Incidents: what is saved of an emergency stop (seed 000): timeline, impact, root cause, factors, recommendations, ways on.

use checkrein_patterns::{ActionNumber, Issue, PatternKind};
use checkrein_protocol::{Intervention, InterventionKind, Severity, Timestamp};
use serde::{Deserialize, Serialize};

use crate::message::short;
use crate::recovery::{RecoverableFailure, RecoveryPlan, RecoveryPolicy, SessionStanding, plan};

/// The name of an incident: the second in which it happened, and the session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IncidentId(pub String);

/// The saved record of an emergency stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its name.
    pub id: IncidentId,
    /// The session, by the name of its folder; empty for a run in which no session was heard of.
    pub session: String,
    /// When it was stopped.
    pub at: Timestamp,
    /// In one sentence.
    pub summary: String,
    /// By whom: `person`, `emergency_stop`, `tripwire NAME`, `run: SWITCH`, `budget`; empty in reports of older versions.
    #[serde(default)]
    pub by: String,
    /// Who else stopped it while this stop stood, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_stops: Vec<FurtherStop>,
    /// Who closed it, and with which word; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<IncidentClosing>,
    /// The issue for which it was stopped; `None` when it was stopped for something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<Issue>,
    /// What was done about issues before, oldest first.
    pub interventions: Vec<Intervention>,
    /// What happened before, oldest first: the last 50 actions (seed 000).
    pub timeline: Vec<TimelineEntry>,
    /// What was changed and used.
    pub impact: Impact,
    /// In what it happened; `None` in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<StopContext>,
    /// What it came from, as far as the detectors can tell.
    pub root_cause: String,
    /// What else stood at the time.
    pub contributing_factors: Vec<String>,
    /// What to do.
    pub recommendations: Recommendations,
    /// Ways on.
    pub recovery_options: Vec<RecoveryOption>,
    /// What to try, in order, by the policy of the profile; `None` in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_plan: Option<RecoveryPlan>,
}

/// A stop of what was stopped already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherStop {
    /// When.
    pub at: Timestamp,
    /// By whom, in the words of a stop.
    pub by: String,
    /// Why, in one sentence.
    pub reason: String,
}

/// The word of a user with which an incident is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentClosing {
    /// When.
    pub at: Timestamp,
    /// Who, by the name of their login.
    pub by: String,
    /// From where: `command_line`, `console`, `api`.
    pub source: String,
    /// What they say about it, masked.
    pub note: String,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// When.
    pub at: Timestamp,
    /// What, in one line.
    pub what: String,
}

/// In what a session was stopped (seed 000: context, pattern detections, clean-up).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StopContext {
    /// The root of the workspace; `None` when no start was recorded.
    pub workspace: Option<String>,
    /// The client, as it is called; `None` when no start was recorded.
    pub client: Option<String>,
    /// The profile in force.
    pub profile: String,
    /// What the user asked for, newest last.
    pub goals: Vec<String>,
    /// What the detectors found at the time, gravest first.
    pub detections: Vec<Detection>,
    /// What the session made and is still there, the first of it.
    pub left: Vec<String>,
}

/// A pattern that stood when a session was stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Which.
    pub pattern: PatternKind,
    /// How grave it was.
    pub severity: Severity,
    /// How sure, from 0 to 1.
    pub confidence: f64,
    /// What was seen.
    pub summary: String,
}

impl From<&Issue> for Detection {
    fn from(issue: &Issue) -> Self {
        let Issue { kind, severity, confidence, summary, .. } = issue;
        Self { pattern: *kind, severity: *severity, confidence: confidence.value(), summary: summary.clone() }
    }
}

/// What a session changed and used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Impact {
    /// The first files that changed, each once: what calls that ran were seen or predicted to change, never those refused.
    pub files: Vec<String>,
    /// How many actions the session made.
    pub actions: u64,
    /// How many file operations.
    pub file_operations: u64,
    /// How long it went on, in milliseconds.
    pub duration_ms: u64,
    /// How many tokens its models were given and gave, as far as its transcript tells.
    #[serde(default)]
    pub tokens: u64,
    /// What that cost in dollars; `None` where no price is known.
    #[serde(default)]
    pub dollars: Option<f64>,
    /// How many programs it started.
    #[serde(default)]
    pub processes: u64,
    /// How many bytes its tools were to write.
    #[serde(default)]
    pub bytes_written: u64,
    /// What the records of the whole session come to; `None` in reports of older versions, and where there are no records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<RecordSum>,
}

/// What the records of a session come to, read from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordSum {
    /// From how many records it is made.
    pub records: u64,
    /// Why it is not made from all records, each one clause; empty when it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// How many files changed.
    pub files: u64,
    /// Whether there may be more files than that: some were recorded by their number only, or were too many to be told apart.
    #[serde(default)]
    pub more_files: bool,
    /// How many calls ran.
    pub ran: u64,
    /// How many of them were commands.
    pub commands: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many calls were refused and did not run.
    pub refused: u64,
    /// How many changes differed from what was predicted.
    pub surprises: u64,
    /// Before how many of the calls that ran a snapshot was taken, by which they can be taken back.
    pub saved: u64,
    /// What calls that ran may have destroyed without a copy, the first of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_saved: Vec<String>,
    /// How much more of that there was.
    #[serde(default)]
    pub more_not_saved: u64,
}

impl RecordSum {
    /// In sentences, each for a line of its own.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!(
                "Calls that ran: {} ({} of them commands). Failed: {}.",
                self.ran, self.commands, self.failed
            ),
            format!("Refused calls: {}. Surprises: {}.", self.refused, self.surprises),
            format!("Changed files: {}{}.", if self.more_files { "at least " } else { "" }, self.files),
            format!("Calls that `checkrein undo` can take back: {}.", self.saved),
        ];
        lines.extend(self.not_saved.iter().map(|what| format!("Not saved: {what}.")));
        if self.more_not_saved > 0 {
            lines.push(format!("Not saved either: {} more.", self.more_not_saved));
        }
        lines.push(format!("Counted from {} records of the session.", self.records));
        lines.extend(self.gaps.iter().map(|gap| format!("**Not everything was counted**: {gap}.")));
        lines
    }
}

/// What to do now, from now on, and in the configuration (seed 000).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recommendations {
    /// Now.
    pub immediate: Vec<String>,
    /// From now on.
    pub preventive: Vec<String>,
    /// In the configuration.
    pub configuration: Vec<String>,
}

/// A way on (seed 000: resume_with_limits, rollback_and_retry, manual_intervention, abort).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryOption {
    /// Its name.
    pub option: String,
    /// What it does.
    pub description: String,
    /// A command that does it.
    pub command: String,
}

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct IncidentFacts {
    /// The name of the incident.
    pub id: IncidentId,
    /// The session, by the name of its folder.
    pub session: String,
    /// When it was stopped.
    pub at: Timestamp,
    /// By whom it was stopped.
    pub by: String,
    /// Why, in one sentence.
    pub reason: String,
    /// The issue for which it was stopped; `None` when it was stopped for something else.
    pub issue: Option<Issue>,
    /// What was done about issues before, oldest first.
    pub interventions: Vec<Intervention>,
    /// What happened before, oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// What was changed and used.
    pub impact: Impact,
    /// In what it happened.
    pub context: StopContext,
    /// What went wrong first since the trouble began, in a clause; `None` where nothing did.
    pub trigger: Option<String>,
    /// Other patterns that stood at the time.
    pub standing: Vec<PatternKind>,
    /// How much is risked on the way out.
    pub policy: RecoveryPolicy,
}

impl Incident {
    /// The report on these facts.
    pub fn report(facts: IncidentFacts) -> Self {
        let IncidentFacts {
            id,
            session,
            at,
            by,
            reason,
            issue,
            interventions,
            timeline,
            impact,
            context,
            trigger,
            standing,
            policy,
        } = facts;
        let kind = issue.as_ref().map(|issue| issue.kind);
        let what = if session.is_empty() { "run" } else { "session" };
        let about = interventions.iter().filter(|made| Some(made.pattern) == kind && made.rollback.is_some());
        let attempts = u32::try_from(about.count()).unwrap_or(u32::MAX);
        let others = standing.iter().filter(|standing| Some(**standing) != kind);
        let mut factors: Vec<String> = others.map(|kind| format!("{} stood too", kind.words())).collect();
        // The stop itself is nothing that was tried before it.
        let tried = interventions.iter().filter(|made| made.kind != InterventionKind::EmergencyStop);
        let tried = in_words(tried.map(|made| made.kind));
        if !tried.is_empty() {
            factors.push(format!("tried before without success: {}", tried.join(", ")));
        }
        let onset = issue.as_ref().and_then(Issue::onset);
        let from = onset.map_or_else(String::new, |action| format!(", from action {} on", action.0));
        let mut immediate = vec!["look at the last actions in the timeline".to_owned()];
        let (mut preventive, mut configuration) = (Vec::new(), Vec::new());
        if let Some(issue) = &issue {
            immediate.insert(0, issue.advice.clone());
            preventive.push(prevention(issue.kind).to_owned());
            configuration.push(format!(
                "if this was honest work, take `{}` out of `patterns.enabled_patterns`, or set `patterns.sensitivity: low`",
                issue.kind.name()
            ));
        }
        Self {
            summary: match &issue {
                Some(issue) => {
                    format!("the {what} was stopped because of {}: {}", issue.kind.words(), issue.summary)
                }
                None => format!("the {what} was stopped ({by}): {reason}"),
            },
            root_cause: {
                let seen = issue.as_ref().map_or(reason, |issue| format!("{}{from}", issue.summary));
                trigger.map_or_else(|| seen.clone(), |trigger| format!("{seen}; first, {trigger}"))
            },
            contributing_factors: factors,
            recommendations: Recommendations { immediate, preventive, configuration },
            recovery_options: options(&session, onset, Stopped::by(&by), context.left.len()),
            recovery_plan: issue.as_ref().map(|issue| plan(RecoverableFailure::of(issue, attempts), policy)),
            by,
            further_stops: Vec::new(),
            closed: None,
            id,
            session,
            at,
            issue,
            interventions,
            timeline,
            impact,
            context: Some(context),
        }
    }

    /// The report for a user, as Markdown. `time` puts a moment into words.
    pub fn markdown(&self, time: impl Fn(Timestamp) -> String) -> String {
        let mut text = String::new();
        let mut section = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                for part in ["## ", title, "\n\n", &lines.join("\n"), "\n\n"] {
                    text.push_str(part);
                }
            }
        };
        let item = |text: &String| format!("- {text}");
        section("What happened", vec![format!("{}.", self.summary)]);
        let further = self.further_stops.iter();
        let further = further.map(|stop| format!("- {} {}: {}", time(stop.at), stop.by, stop.reason));
        section("Also stopped by", further.collect());
        let closed = self.closed.iter();
        let closed =
            closed.map(|end| format!("- {} {} ({}): {}", time(end.at), end.by, end.source, end.note));
        section("Closed by", closed.collect());
        section("Root cause", vec![self.root_cause.clone()]);
        section("Contributing factors", self.contributing_factors.iter().map(item).collect());
        let impact = &self.impact;
        let mut lines = vec![format!(
            "{}, {}, {} s.",
            counted(impact.actions, "action"),
            counted(impact.file_operations, "file operation"),
            impact.duration_ms / 1000
        )];
        let cost = impact.dollars.map(|dollars| format!(", ${dollars:.2}")).unwrap_or_default();
        lines.push(format!(
            "{} tokens{cost}, {} programs started, {} bytes written by tools.",
            impact.tokens, impact.processes, impact.bytes_written
        ));
        lines.extend(impact.sum.iter().flat_map(RecordSum::lines));
        // Lines of their own also where the text is shown as a page.
        let mut lines: Vec<String> = lines.into_iter().map(|line| format!("- {line}")).collect();
        lines.extend(impact.files.iter().map(|file| format!("- changed: `{file}`")));
        let named = impact.files.len() as u64;
        let further = impact.sum.as_ref().map_or(0, |sum| sum.files.saturating_sub(named));
        if further > 0 {
            lines.push(format!("- and {further} more files"));
        }
        section("Impact", lines);
        if let Some(context) = &self.context {
            let of = |name: &str, text: Option<&String>| text.map(|text| format!("- {name}: `{text}`"));
            let known = of("workspace", context.workspace.as_ref()).into_iter();
            let known = known.chain(of("client", context.client.as_ref()));
            let goals = context.goals.iter().rev().map(|goal| format!("- goal: {}", short(goal)));
            section("Context", known.chain(of("profile", Some(&context.profile))).chain(goals).collect());
            let detections = context.detections.iter().map(|one| {
                let (name, severity) = (one.pattern.words(), severity(one.severity));
                format!("- {name}, severity {severity}, confidence {:.2}: {}", one.confidence, one.summary)
            });
            section("Detections", detections.collect());
            let left = context.left.iter().map(|path| format!("- `{path}`"));
            section("Left to clean up", left.collect());
        }
        let advice = &self.recommendations;
        let all = advice.immediate.iter().chain(&advice.preventive).chain(&advice.configuration);
        section("Recommendations", all.map(item).collect());
        let options = self.recovery_options.iter();
        section(
            "Ways on",
            options
                .map(|way| {
                    let name = way.option.replace('_', " ");
                    format!("- **{name}**: {}: `{}`", way.description, way.command)
                })
                .collect(),
        );
        let plan = self.recovery_plan.iter().zip(&self.issue);
        let lines = plan.flat_map(|(plan, issue)| plan.lines(&self.session, SessionStanding::Halted, issue));
        section("Recovery plan", lines.map(|text| item(&text)).collect());
        section(
            "Timeline",
            self.timeline.iter().map(|entry| format!("- {} {}", time(entry.at), entry.what)).collect(),
        );
        format!(
            "# Incident {}\n\n{}, {}, severity {}.\n\n{}",
            self.id.0,
            if self.session.is_empty() {
                "A run without a session".to_owned()
            } else {
                format!("Session `{}`", self.session)
            },
            time(self.at),
            severity(self.issue.as_ref().map_or(Severity::Critical, |issue| issue.severity)),
            text.trim_end()
        ) + "\n"
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What was done about issues, in words, each once: `a hint (3 times), tighter limits`.
fn in_words(kinds: impl Iterator<Item = InterventionKind>) -> Vec<String> {
    let mut all: Vec<(InterventionKind, usize)> = Vec::new();
    for kind in kinds {
        match all.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => all.push((kind, 1)),
        }
    }
    let words = |kind| match kind {
        InterventionKind::SoftCorrection => "a hint",
        InterventionKind::ContextReinforcement => "the task said again",
        InterventionKind::ResourceThrottling => "tighter limits",
        InterventionKind::CheckpointRollback => "going back",
        InterventionKind::EmergencyStop => "a stop",
    };
    let times = |count| if count == 1 { String::new() } else { format!(" ({count} times)") };
    all.into_iter().map(|(kind, count)| format!("{}{}", words(kind), times(count))).collect()
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

fn prevention(kind: PatternKind) -> &'static str {
    match kind {
        PatternKind::StuckLoop | PatternKind::Stagnation | PatternKind::OscillatingEdits => {
            "say in the task how success is checked, and what to do when it is not reached"
        }
        PatternKind::RepetitiveErrors | PatternKind::ErrorExplorationLoop | PatternKind::Hallucination => {
            "say in the task where things are, and which tools and packages there are"
        }
        PatternKind::ScopeCreep | PatternKind::GoalDrift | PatternKind::ConfusedState => {
            "set `goals` and `scope.paths`, and give smaller tasks"
        }
        PatternKind::ResourceSpiral | PatternKind::RunawayExecution => "set `limits`, and give smaller tasks",
        PatternKind::ExplorationWandering => "name the files that matter in the task",
        PatternKind::RepeatedVerdicts => "say in the task what may not be done, and what to do instead",
        PatternKind::OwnPattern => "say in the task what your pattern asks for",
        PatternKind::Cascade => "say in the task where it ends",
    }
}

/// What was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    /// A session, which is halted.
    Session,
    /// A run, which has ended; its session is not halted.
    Run,
    /// A session that has used up a limit: each call is refused until the limit is raised, and nothing is halted.
    Limit,
}

impl Stopped {
    /// What is stopped by this (`run: SWITCH` is a switch of the run itself, `budget` a limit of the session).
    fn by(by: &str) -> Self {
        match by {
            "budget" => Self::Limit,
            by if by.starts_with("run: ") => Self::Run,
            _ => Self::Session,
        }
    }
}

/// The four ways on of seed 000, as commands that a user can run.
fn options(session: &str, onset: Option<ActionNumber>, stopped: Stopped, left: usize) -> Vec<RecoveryOption> {
    let made = match left {
        0 => String::new(),
        1 => "; the one thing that it made is named under \"Left to clean up\"".to_owned(),
        left => format!("; the {left} things that it made are named under \"Left to clean up\""),
    };
    let way = |option: &str, description: &str, command: String| RecoveryOption {
        option: option.to_owned(),
        description: description.to_owned(),
        command,
    };
    if session.is_empty() {
        return vec![
            way(
                "resume_with_limits",
                "let it go on, after setting `profile: strict` in your configuration",
                "checkrein run --resume".to_owned(),
            ),
            way(
                "rollback_and_retry",
                "go back to a snapshot, and begin again",
                "checkrein snapshot list".to_owned(),
            ),
            way("manual_intervention", "look at how it ended", "checkrein run list".to_owned()),
        ];
    }
    let (goes_on, abort) = match stopped {
        Stopped::Session => (
            way(
                "resume_with_limits",
                "let it go on with 25 changes of files and 50 calls; `--file-operations`, `--calls` and `--tokens` set others",
                format!("checkrein resume {session} --with-limits"),
            ),
            way(
                "abort",
                &format!("give it up; nothing more runs in it, and what it left is listed{made}"),
                format!("checkrein session recover {session} --abort"),
            ),
        ),
        Stopped::Run => (
            way(
                "resume_with_limits",
                "let the newest run that can go on do so, with the limits that you give (`checkrein run list` names the others)",
                "checkrein run --resume".to_owned(),
            ),
            way("abort", &format!("leave it as it is; it has ended{made}"), "checkrein run list".to_owned()),
        ),
        Stopped::Limit => (
            way(
                "resume_with_limits",
                "raise the limit (`limits`) in your configuration, and its next call runs; a run goes on with `checkrein run --resume --budget DOLLARS`",
                "checkrein config show".to_owned(),
            ),
            way(
                "abort",
                &format!("leave it as it is; its calls are refused{made}"),
                "checkrein session list".to_owned(),
            ),
        ),
    };
    // What is not halted cannot be resumed on terms.
    let (manual, by_hand) = match stopped {
        Stopped::Session => (
            "let it go on, and say yes to each command and each change of a file yourself; `--ask KIND` names others",
            format!("checkrein resume {session} --ask command --ask file_write"),
        ),
        Stopped::Run | Stopped::Limit => {
            ("look at every step before saying how to go on", format!("checkrein log --session {session}"))
        }
    };
    vec![
        goes_on,
        way(
            "rollback_and_retry",
            "see what going back to before the trouble changes, agree to it, and begin again",
            match onset {
                Some(action) => format!("checkrein session rollback {session} --before {}", action.0),
                None => "checkrein snapshot list".to_owned(),
            },
        ),
        way("manual_intervention", manual, by_hand),
        abort,
    ]
}

#[cfg(test)]
mod tests {
    use checkrein_patterns::Share;

    use super::*;

    fn incident() -> Incident {
        Incident::report(facts())
    }

    fn facts() -> IncidentFacts {
        IncidentFacts {
            id: IncidentId("20261121-101112-abc".to_owned()),
            session: "abc".to_owned(),
            at: Timestamp(1000),
            by: "emergency_stop".to_owned(),
            reason: String::new(),
            issue: Some(Issue {
                kind: PatternKind::StuckLoop,
                severity: Severity::Critical,
                confidence: Share::new(0.9),
                impact: Share::new(0.4),
                signal: 8.0,
                summary: "the same call gave the same result 8 times in a row".to_owned(),
                advice: "change something".to_owned(),
                actions: vec![ActionNumber(3)],
                growth: None,
                growths: Vec::new(),
            }),
            interventions: Vec::new(),
            timeline: vec![TimelineEntry { at: Timestamp(1), what: "Bash ls".to_owned() }],
            impact: Impact {
                files: vec!["/proj/a".to_owned()],
                actions: 8,
                file_operations: 1,
                duration_ms: 61_000,
                tokens: 1200,
                dollars: Some(0.5),
                processes: 9,
                bytes_written: 77,
                sum: Some(RecordSum {
                    records: 31,
                    gaps: vec!["line 7 of the ledger is not a record".to_owned()],
                    files: 3,
                    more_files: true,
                    ran: 6,
                    commands: 5,
                    failed: 2,
                    refused: 1,
                    surprises: 4,
                    saved: 2,
                    not_saved: vec!["`/big` is too large".to_owned()],
                    more_not_saved: 8,
                }),
            },
            context: StopContext {
                workspace: Some("/proj".to_owned()),
                client: Some("claude_code".to_owned()),
                profile: "unattended".to_owned(),
                goals: vec!["first".to_owned(), "make it faster".to_owned()],
                detections: vec![Detection {
                    pattern: PatternKind::ScopeCreep,
                    severity: Severity::Medium,
                    confidence: 0.5,
                    summary: "2 of 4 places".to_owned(),
                }],
                left: vec!["/proj/scratch.txt".to_owned()],
            },
            trigger: Some("`make` failed: no rule".to_owned()),
            standing: vec![PatternKind::StuckLoop, PatternKind::ScopeCreep],
            policy: RecoveryPolicy::Production,
        }
    }

    #[test]
    fn a_run_without_a_session_is_called_a_run_and_its_ways_on_are_whole_commands() {
        let incident = Incident::report(IncidentFacts {
            id: IncidentId("20261121-101112-run".to_owned()),
            session: String::new(),
            by: "run: time".to_owned(),
            reason: "its 3 s are over".to_owned(),
            issue: None,
            timeline: Vec::new(),
            ..facts()
        });
        let text = incident.markdown(|_| "now".to_owned());
        assert!(text.contains("\n\nA run without a session, now, severity critical."), "{text}");
        assert!(text.contains("the run was stopped (run: time): its 3 s are over"), "{text}");
        assert!(!text.contains("`` ") && !text.contains(" `\n") && !text.contains("--session"), "{text}");
    }

    #[test]
    fn what_was_stopped_goes_on_by_the_command_that_lets_it() {
        let ways = |by: &str| {
            let incident = Incident::report(IncidentFacts { by: by.to_owned(), ..facts() });
            incident.recovery_options.into_iter().map(|way| way.command).collect::<Vec<_>>()
        };
        let (run, session) = (ways("run: time"), ways("person"));
        assert_eq!(
            (run[0].as_str(), session[0].as_str()),
            ("checkrein run --resume", "checkrein resume abc --with-limits")
        );
        assert!(!run.iter().any(|command| command.starts_with("checkrein resume")), "{run:?}");
        // Going back is the same for both; what is not halted has no terms to go on by.
        assert_eq!(run[1], session[1]);
        assert_eq!(run[2], "checkrein log --session abc");
        assert_eq!(session[2], "checkrein resume abc --ask command --ask file_write");
        assert_eq!(session[3], "checkrein session recover abc --abort");
        let limit = ways("budget");
        assert!(!limit.iter().any(|command| command.starts_with("checkrein resume")), "{limit:?}");
    }

    #[test]
    fn a_stop_that_no_detector_asked_for_says_by_whom_and_why() {
        let other = Incident::report(IncidentFacts {
            id: IncidentId("x".to_owned()),
            session: "abc".to_owned(),
            at: Timestamp(1),
            by: "tripwire no_prod".to_owned(),
            reason: "production is not for agents".to_owned(),
            issue: None,
            interventions: Vec::new(),
            timeline: Vec::new(),
            impact: Impact::default(),
            context: StopContext::default(),
            trigger: None,
            standing: Vec::new(),
            policy: RecoveryPolicy::Production,
        });
        assert_eq!(other.summary, "the session was stopped (tripwire no_prod): production is not for agents");
        assert_eq!(
            (other.root_cause.as_str(), other.recovery_options.len()),
            ("production is not for agents", 4)
        );
        assert!(other.markdown(|moment| moment.0.to_string()).contains("severity critical"));
    }

    // Source: seed 000-48, 000-50, 000-51, 000-52, 000-55, 000-58, 000-60, 000-61, 000-66
    #[test]
    fn a_report_has_all_parts_of_seed_000() {
        let text = incident().markdown(|moment| moment.0.to_string());
        for part in [
            "# Incident 20261121-101112-abc",
            "## Root cause",
            "from action 3 on; first, `make` failed: no rule",
            "1200 tokens, $0.50, 9 programs started, 77 bytes written by tools.",
            "- workspace: `/proj`\n- client: `claude_code`\n- profile: `unattended`\n- goal: make it faster\n- goal: first",
            "- work outside the task, severity medium, confidence 0.50: 2 of 4 places",
            "## Left to clean up\n\n- `/proj/scratch.txt`",
            "nothing more runs in it, and what it left is listed; the one thing that it made",
            "work outside the task stood too",
            "8 actions, 1 file operation, 61 s.",
            "- changed: `/proj/a`\n- and 2 more files\n",
            "- Calls that ran: 6 (5 of them commands). Failed: 2.\n- Refused calls: 1. Surprises: 4.\n- Changed files: at least 3.",
            "- Calls that `checkrein undo` can take back: 2.\n- Not saved: `/big` is too large.\n- Not saved either: 8 more.",
            "- Counted from 31 records of the session.\n- **Not everything was counted**: line 7 of the ledger is not a record.",
            "**resume with limits**",
            "`checkrein resume abc --with-limits`",
            "**rollback and retry**",
            "`checkrein session rollback abc --before 3`",
            "## Recovery plan",
            "**checkpoint**: go back to the newest safe snapshot",
            "silence means stop",
            "**manual intervention**",
            "**abort**",
            "- 1 Bash ls",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
