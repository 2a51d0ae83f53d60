//! After each outcome: what the detectors find, and what the controller does about it.

use std::cell::LazyCell;

use checkrein_intervention::{
    DecisionContext, Intervention, InterventionDecision, InterventionKind, LimitedResource, RecoveryConsent,
    SessionLimit, Task,
};
use checkrein_patterns::{Issue, IssueChange, PatternKind, PatternSettings};
use checkrein_policy::{Config, Profile, StrategyType};
use checkrein_protocol::{RecordBody, Severity, Timestamp};
use checkrein_session::{Cost, SessionState};

use checkrein_review::VerdictKind;

use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::intervention_texts::InterventionTexts;

/// What is new after something happened.
#[derive(Debug, Default)]
pub struct Noticed {
    /// Issues that are new or graver.
    pub issues: Vec<Issue>,
    /// What is done about the gravest of those that stand.
    pub intervention: Option<Intervention>,
    /// The issue that it is about.
    pub about: Option<Issue>,
    /// All of it as records, in order.
    pub records: Vec<RecordBody>,
}

/// The texts about interventions that hold in a session.
#[derive(Debug, Default)]
pub(crate) struct HeldTexts {
    /// The texts.
    pub(crate) texts: InterventionTexts,
    /// Why others than those that are there now hold, in words.
    pub(crate) because: Option<String>,
}

/// Looks at the state of a session; what it finds counts once its records are taken up. Only for an intervention files are looked for: `texts`.
pub(crate) fn look(
    state: &SessionState,
    settings: &PatternSettings,
    config: &Config,
    environment: &HostEnvironment,
    texts: &dyn Fn() -> HeldTexts,
    now: Timestamp,
) -> Noticed {
    let texts = LazyCell::new(texts);
    let behaviour = state.behaviour();
    let issues = behaviour.issues(settings);
    let mut noticed = Noticed::default();
    for news in behaviour.news(&issues) {
        match news {
            IssueChange::Began(issue) | IssueChange::Grew(issue) => {
                noticed.records.push(RecordBody::Issue(Box::new(issue.clone())));
                noticed.issues.push(issue);
            }
            IssueChange::Ended(kind) => noticed.records.push(RecordBody::IssueEnded { kind }),
        }
    }
    // What ended is still in the controller, but what stands now is what it decides about; an issue that the last action did not add to waits.
    let added_to = |issue: &&Issue| issue.latest() == Some(behaviour.now());
    // Of a loop the same errors and the same test results are only parts, unless the tests alone end the session.
    let equal_runs = issues.iter().find(|issue| issue.kind == PatternKind::Stagnation);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of runs")]
    let equal_runs = equal_runs.map_or(0, |issue| issue.signal as u64);
    let strikes = config.stagnation_strikes_after(equal_runs);
    let out = |issue: &&Issue| state.controller().is_second_strike(issue, strikes);
    let stuck = |issue: &&Issue| issue.kind == PatternKind::StuckLoop && issue.severity > Severity::Low;
    // The verdict about the call in which a pattern of the user fired was the first word about it; and nothing that is found besides waits for it.
    let is_own = |issue: &&Issue| issue.kind == PatternKind::OwnPattern;
    let own = issues.iter().filter(added_to).find(is_own).filter(|issue| issue.signal > 1.0);
    let mut latest = issues.iter().filter(added_to).filter(|issue| !is_own(issue));
    // An offer stands at the end of a turn alone, where nothing else can be answered.
    let offer = |issue: &&Issue| issue.kind == PatternKind::Cascade;
    let found = latest
        .clone()
        .find(offer)
        .or_else(|| latest.clone().find(out))
        .or_else(|| latest.clone().find(stuck))
        .or_else(|| latest.next())
        .or(own);
    if let Some(issue) = found {
        let goals = [config.goals.clone(), state.goals()].concat();
        let workspace = state.workspace().map(ToString::to_string);
        let custom = match config.interventions.strategy.kind {
            StrategyType::Custom => texts.texts.strategy(environment).unwrap_or_else(|error| {
                noticed.records.push(unusable("strategy", error));
                None
            }),
            StrategyType::Progressive | StrategyType::PatternSpecific => None,
        };
        let occasion = DecisionContext {
            now,
            action: behaviour.now(),
            calls: &behaviour.calls(&issue.actions),
            task: Task {
                goals: &goals,
                workspace: workspace.as_deref(),
                scope: &config.scope.paths,
                outside: &state.places_outside(),
                made: &state.made_lately(),
            },
            settings: &config.interventions,
            consent: consent(config),
            stagnation: strikes,
            custom: custom.as_ref(),
            limits: &limits(state, config, &held_by(environment, now)),
            at_least: state.plugins().advice(issue.kind).filter_map(|advice| advice.rung).max(),
        };
        if let InterventionDecision::Intervene(mut made) = state.controller().decide(issue, occasion) {
            if let Some(because) = &texts.because {
                noticed.records.push(failure("interventions", "held", because.clone()));
            }
            match texts.texts.template(environment, config, made.kind, made.pattern) {
                Ok(Some(template)) => made.text = template.fill(&made, issue, occasion.task),
                Ok(None) => {}
                Err(error) => noticed.records.push(unusable("template", error)),
            }
            for advice in state.plugins().advice(made.pattern) {
                if let Some(words) = &advice.words {
                    made.text = format!("{}\nplugin {}: {words}", made.text, advice.plugin);
                }
            }
            noticed.records.push(RecordBody::Intervention(made.clone()));
            noticed.intervention = Some(*made);
            noticed.about = Some(issue.clone());
        }
    }
    noticed
}

/// The limits of a session, with what it used of each, as far as there are any.
pub(crate) fn limits(state: &SessionState, config: &Config, by: &HeldBy) -> Vec<SessionLimit> {
    // Both are far below the numbers that a double holds exactly.
    let limit = |resource, limit: Option<u64>, used: u64| {
        limit.map(|limit| SessionLimit { resource, limit: limit as f64, used: used as f64 })
    };
    let spent = state.spent();
    let dollars = match spent.cost() {
        Some(Cost::Known(cost) | Cost::About(cost) | Cost::AtLeast(cost)) => cost.dollars(),
        None => 0.0,
    };
    let files =
        limit(LimitedResource::FileOperations, config.file_operation_limit(), state.file_operations());
    let tokens = limit(LimitedResource::Tokens, config.token_limit(), spent.tokens().counted());
    let money = config.dollar_limit();
    let money = money.map(|limit| SessionLimit { resource: LimitedResource::Dollars, limit, used: dollars });
    let (time, memory) = match by {
        HeldBy::Run => (None, None),
        HeldBy::Hook(now) => {
            let lasted = state.entered().map_or(0, |entered| now.0.saturating_sub(entered.0) / 1000);
            let is_limit = |limit: &u64| *limit > 0;
            (
                limit(LimitedResource::Seconds, config.execution_limit_seconds().filter(is_limit), lasted),
                limit(LimitedResource::Megabytes, config.memory_limit_mb().filter(is_limit), 0),
            )
        }
    };
    [files, tokens, money, time, memory].into_iter().flatten().collect()
}

pub(crate) fn held_by(environment: &HostEnvironment, now: Timestamp) -> HeldBy {
    if environment.run_limits.is_some() { HeldBy::Run } else { HeldBy::Hook(now) }
}

/// Who holds time and memory of the session.
pub(crate) enum HeldBy {
    /// The hook, at this moment.
    Hook(Timestamp),
    /// A run above it, which does not know of interventions.
    Run,
}

/// That something the user wrote cannot be used.
fn unusable(stage: &str, error: CommandError) -> RecordBody {
    failure(stage, "invalid", error.message)
}

fn failure(stage: &str, kind: &str, detail: String) -> RecordBody {
    RecordBody::Failure { stage: stage.to_owned(), kind: kind.to_owned(), detail, verdict: VerdictKind::Ok }
}

/// Whether a user must agree before files are set back: where one is near, unless they said otherwise.
fn consent(config: &Config) -> RecoveryConsent {
    match config.profile {
        Profile::Interactive if !config.interventions.auto_rollback => RecoveryConsent::Required,
        Profile::Interactive | Profile::Unattended | Profile::Strict => RecoveryConsent::NotNeeded,
    }
}

/// Whether an intervention ends the session.
pub fn stops(made: &Intervention) -> bool {
    made.kind == InterventionKind::EmergencyStop
}
