//! Recovery: which way out of a failure (upstream 1.4). A plan only; each step is done by whoever can.

use checkrein_patterns::{Issue, PatternKind};
use checkrein_policy::Profile;
use checkrein_protocol::RecoveryConsent;
use serde::{Deserialize, Serialize};

/// Five ways out (upstream 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryStrategy {
    /// A list of actions for the sort of failure.
    Automatic,
    /// A plan of three steps, said to the agent.
    Guided,
    /// Back to a snapshot.
    Checkpoint,
    /// A user is asked; no answer means stop (upstream 5, row 13).
    Collaborative,
    /// What is broken is repaired.
    SelfHealing,
}

/// The sorts of failure (upstream 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A file that is not there.
    FileNotFound,
    /// Not allowed.
    PermissionDenied,
    /// A text that cannot be parsed.
    SyntaxError,
    /// A module that cannot be loaded.
    ImportError,
    /// The network.
    ConnectionTimeout,
    /// Too many requests.
    RateLimitExceeded,
    /// The same again and again.
    StuckInLoop,
    /// The task was lost from sight.
    LostContext,
    /// Too much of something was used.
    ResourceExhaustion,
    /// Something else.
    Other,
}

/// A failure to recover from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverableFailure {
    /// Its sort.
    pub kind: FailureKind,
    /// How many attempts were made.
    pub attempts: u32,
}

impl RecoverableFailure {
    /// The failure that an issue is, after so many attempts to help (the sorts are upstream's, which pattern is of which sort is ours).
    pub fn of(issue: &Issue, attempts: u32) -> Self {
        let kind = match issue.kind {
            PatternKind::StuckLoop
            | PatternKind::Stagnation
            | PatternKind::OscillatingEdits
            | PatternKind::RepetitiveErrors
            | PatternKind::ErrorExplorationLoop => FailureKind::StuckInLoop,
            PatternKind::ScopeCreep
            | PatternKind::GoalDrift
            | PatternKind::ExplorationWandering
            | PatternKind::Cascade
            | PatternKind::RepeatedVerdicts
            | PatternKind::OwnPattern
            | PatternKind::ConfusedState => FailureKind::LostContext,
            PatternKind::ResourceSpiral | PatternKind::RunawayExecution => FailureKind::ResourceExhaustion,
            PatternKind::Hallucination => FailureKind::FileNotFound,
        };
        Self { kind, attempts }
    }
}

/// How much is risked on the way out (upstream 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPolicy {
    /// Repair first, five attempts, nobody is asked.
    #[default]
    Development,
    /// Snapshot first, two attempts, a user agrees.
    Production,
    /// Three attempts, nobody is asked.
    Testing,
}

/// What to try next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryAttempt {
    /// The way.
    pub strategy: RecoveryStrategy,
    /// The steps, in order.
    pub steps: Vec<String>,
}

/// The ways out of a failure, best first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryPlan {
    /// What to try, in order; empty when all attempts are used up: then the answer is to stop.
    pub attempts: Vec<RecoveryAttempt>,
    /// How many attempts are left.
    pub left: u32,
    /// Whether a user must agree first.
    pub consent: RecoveryConsent,
}

/// The plan for a failure under a policy.
pub fn plan(failure: RecoverableFailure, policy: RecoveryPolicy) -> RecoveryPlan {
    let left = policy.max_attempts().saturating_sub(failure.attempts);
    let ways = policy.strategies().iter().filter(|strategy| left > 0 && strategy.applies_to(failure.kind));
    let attempts =
        ways.map(|strategy| RecoveryAttempt { strategy: *strategy, steps: steps(*strategy, failure.kind) });
    RecoveryPlan { attempts: attempts.collect(), left, consent: policy.consent() }
}

impl RecoveryPolicy {
    /// The policy of a profile (ours): where a user is near, development; where nobody is, testing; where everything counts, production.
    pub fn of(profile: Profile) -> Self {
        match profile {
            Profile::Interactive => Self::Development,
            Profile::Unattended => Self::Testing,
            Profile::Strict => Self::Production,
        }
    }

    /// The name in a report, such as `production`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
            Self::Testing => "testing",
        }
    }

    /// Its ways, in order (upstream 1.4).
    pub fn strategies(self) -> &'static [RecoveryStrategy] {
        use RecoveryStrategy::{Automatic, Checkpoint, Collaborative, Guided, SelfHealing};
        match self {
            Self::Development => &[SelfHealing, Automatic, Guided],
            Self::Production => &[Checkpoint, Collaborative],
            Self::Testing => &[Automatic, Checkpoint, Guided],
        }
    }

    /// How many attempts it makes (upstream 1.4).
    pub fn max_attempts(self) -> u32 {
        match self {
            Self::Development => 5,
            Self::Production => 2,
            Self::Testing => 3,
        }
    }

    /// Whether a user must agree (upstream 1.4).
    pub fn consent(self) -> RecoveryConsent {
        match self {
            Self::Production => RecoveryConsent::Required,
            Self::Development | Self::Testing => RecoveryConsent::NotNeeded,
        }
    }
}

/// Whether a session for which there is a plan can be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStanding {
    /// It goes on.
    GoingOn,
    /// It is halted already.
    Halted,
}

impl RecoveryPlan {
    /// The plan for a user, line by line, with commands that do what can be done; `session` is the name of its folder.
    pub fn lines(&self, session: &str, standing: SessionStanding, issue: &Issue) -> Vec<String> {
        if self.attempts.is_empty() {
            return vec![format!(
                "no attempt is left: stop here, or begin anew: `checkrein resume {session}`"
            )];
        }
        let mut lines: Vec<String> = self
            .attempts
            .iter()
            .map(|attempt| {
                let command = attempt.strategy.command(session, issue);
                let command = command.map(|command| format!(": `{command}`")).unwrap_or_default();
                format!("**{}**: {}{command}", attempt.strategy.name(), attempt.steps.join("; "))
            })
            .collect();
        // Whoever decides needs more than the advice to the agent: how to look, how to go back, how to stop.
        let look = format!("checkrein log --session {session}");
        let back =
            issue.onset().map(|action| format!("checkrein session rollback {session} --before {}", action.0));
        let stop = match standing {
            SessionStanding::GoingOn => Some(format!("checkrein halt {session}")),
            SessionStanding::Halted => None,
        };
        let told = [("look", Some(look)), ("go back", back), ("stop", stop)];
        let is_new = |command: &String| !lines.iter().any(|line| line.contains(&format!("`{command}`")));
        let told: Vec<String> = told
            .into_iter()
            .filter_map(|(what, command)| {
                command.filter(is_new).map(|command| format!("{what}: `{command}`"))
            })
            .collect();
        lines.extend(told);
        let left = match self.left {
            1 => "1 attempt is left".to_owned(),
            left => format!("{left} attempts are left"),
        };
        lines.push(match self.consent {
            RecoveryConsent::Required => {
                format!("{left}; the user agrees first, and silence means stop")
            }
            RecoveryConsent::NotNeeded => left,
        });
        lines
    }
}

impl RecoveryStrategy {
    /// The name in a report, such as `self_healing`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Guided => "guided",
            Self::Checkpoint => "checkpoint",
            Self::Collaborative => "collaborative",
            Self::SelfHealing => "self_healing",
        }
    }

    /// The command of a user that begins it; `None` for what the agent does itself.
    fn command(self, session: &str, issue: &Issue) -> Option<String> {
        match self {
            Self::Checkpoint => Some(match issue.onset() {
                Some(action) => format!("checkrein session rollback {session} --before {}", action.0),
                None => "checkrein snapshot list".to_owned(),
            }),
            Self::Collaborative => Some(format!("checkrein log --session {session}")),
            Self::Guided | Self::Automatic | Self::SelfHealing => None,
        }
    }

    /// Whether it works on a sort of failure (upstream 1.4).
    pub fn applies_to(self, kind: FailureKind) -> bool {
        use FailureKind as Kind;
        match self {
            Self::Automatic => matches!(
                kind,
                Kind::FileNotFound
                    | Kind::PermissionDenied
                    | Kind::SyntaxError
                    | Kind::ImportError
                    | Kind::ConnectionTimeout
                    | Kind::RateLimitExceeded
            ),
            Self::Guided => matches!(kind, Kind::StuckInLoop | Kind::LostContext | Kind::ResourceExhaustion),
            Self::Checkpoint | Self::Collaborative => true,
            Self::SelfHealing => matches!(kind, Kind::SyntaxError | Kind::ImportError),
        }
    }
}

fn steps(strategy: RecoveryStrategy, kind: FailureKind) -> Vec<String> {
    let list: &[&str] = match (strategy, kind) {
        (RecoveryStrategy::Automatic, FailureKind::FileNotFound) => &[
            "search for files of a similar name",
            "look in the history for a move",
            "suggest what was found",
        ],
        (RecoveryStrategy::Automatic, FailureKind::PermissionDenied) => {
            &["look who owns it", "suggest the rights that are missing", "find something readable instead"]
        }
        (RecoveryStrategy::Automatic, FailureKind::SyntaxError) => {
            &["find the place", "suggest a repair", "check it with a linter"]
        }
        (RecoveryStrategy::Automatic, FailureKind::ConnectionTimeout | FailureKind::RateLimitExceeded) => {
            &["wait, twice as long each time", "check the connection", "use another end point"]
        }
        (RecoveryStrategy::Automatic, _) => &["look at the error", "try another way"],
        (RecoveryStrategy::Guided, FailureKind::StuckInLoop) => {
            &["say what the repeated call was to show", "name another way to learn it", "do that one"]
        }
        (RecoveryStrategy::Guided, _) => &["read the task again", "name the next part of it", "do only that"],
        (RecoveryStrategy::Checkpoint, _) => {
            &["go back to the newest safe snapshot", "add what was learned", "try another way"]
        }
        (RecoveryStrategy::Collaborative, _) => &[
            "ask the user: give guidance, change the approach, leave the step out, or abort; no answer means stop",
        ],
        (RecoveryStrategy::SelfHealing, _) => {
            &["repair the smallest thing that is broken", "run the check that showed it"]
        }
    };
    list.iter().map(|step| (*step).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 001-6
    #[test]
    fn the_policies_of_upstream_1_4() {
        let failure = RecoverableFailure { kind: FailureKind::SyntaxError, attempts: 0 };
        let ways = |policy| {
            plan(failure, policy).attempts.iter().map(|attempt| attempt.strategy).collect::<Vec<_>>()
        };
        assert_eq!(
            ways(RecoveryPolicy::Development),
            [RecoveryStrategy::SelfHealing, RecoveryStrategy::Automatic]
        );
        assert_eq!(
            ways(RecoveryPolicy::Production),
            [RecoveryStrategy::Checkpoint, RecoveryStrategy::Collaborative]
        );
        assert_eq!(
            ways(RecoveryPolicy::Testing),
            [RecoveryStrategy::Automatic, RecoveryStrategy::Checkpoint]
        );
        assert_eq!(plan(failure, RecoveryPolicy::Production).consent, RecoveryConsent::Required);
    }

    #[test]
    fn when_the_attempts_are_used_up_nothing_is_left_upstream_1_4() {
        for (policy, most) in
            [(RecoveryPolicy::Development, 5), (RecoveryPolicy::Production, 2), (RecoveryPolicy::Testing, 3)]
        {
            let used = plan(RecoverableFailure { kind: FailureKind::SyntaxError, attempts: most }, policy);
            assert_eq!((used.left, used.attempts), (0, vec![]));
        }
    }
}
