//! Parts of answers that other crates define. These types only describe what those write, as the forms of `fixed` do; a test holds what commands
//! print against them.
#![expect(dead_code, reason = "they describe what other crates write")]

use schemars::JsonSchema;
use serde_json::{Map, Value as Json};

/// How often each verdict was given.
#[derive(JsonSchema)]
pub(super) struct Verdicts {
    /// `ok`.
    ok: u64,
    /// `nudge`.
    nudge: u64,
    /// `escalate`.
    escalate: u64,
    /// `block`.
    block: u64,
    /// `halt`.
    halt: u64,
    /// Verdicts that this version does not know.
    other: u64,
    /// Flagged reviews, whatever the verdict.
    flagged: u64,
}

/// Numbers of tokens.
#[derive(JsonSchema)]
pub(super) struct Tokens {
    /// Input that was read anew.
    input: u64,
    /// Output of the model.
    output: u64,
    /// Input that was written to the cache.
    cache_write: u64,
    /// Input that was read from the cache.
    cache_read: u64,
}

/// What a session spent with one model.
#[derive(JsonSchema)]
pub(super) struct ModelSpending {
    /// The model; empty where the client does not name it.
    model: String,
    /// Answers of the model.
    answers: u64,
    /// Their tokens.
    tokens: Tokens,
    /// Their price in millionths of a US dollar; null is not known.
    cost: Option<u64>,
    /// The listed model by which the price is estimated; absent where the model is listed itself.
    like: Option<String>,
}

/// The limits of a run; null is not limited.
#[derive(JsonSchema)]
pub(super) struct LimitsOfRun {
    /// US dollars.
    dollars: Option<f64>,
    /// Tokens.
    tokens: Option<u64>,
    /// Answers of the model.
    iterations: Option<u64>,
    /// Milliseconds by the clock.
    milliseconds: Option<u64>,
    /// Bytes of memory at one time.
    memory: Option<u64>,
}

/// What a run has spent.
#[derive(JsonSchema)]
pub(super) struct SpentByRun {
    /// US dollars; null is not known.
    dollars: Option<f64>,
    /// Tokens, counted as limits count them; null is not known.
    tokens: Option<u64>,
    /// Answers of the model; null is not known.
    iterations: Option<u64>,
    /// Milliseconds by the clock.
    milliseconds: u64,
}

/// One start of the agent.
#[derive(JsonSchema)]
pub(super) struct AttemptOfRun {
    /// When it began, in milliseconds since 1970.
    at: u64,
    /// What it has spent so far.
    spent: SpentByRun,
    /// The client's name for its session.
    session: Option<String>,
    /// How it ended; null while it runs, and where it was cut off.
    end: Option<EndOfAttempt>,
}

/// The end of one start of the agent.
#[derive(JsonSchema)]
pub(super) struct EndOfAttempt {
    /// The exit status.
    status: u8,
    /// The switch that stopped it; null where it ended by itself.
    stopped_by: Option<String>,
    /// Why, in words.
    reason: Option<String>,
    /// What of the provider failed; null where nothing did.
    failure: Option<FailureOfProvider>,
}

/// What kind of failure ended a run.
#[derive(JsonSchema)]
pub(super) struct FailureOfProvider {
    /// `transient`, `idle_timeout`, `ceiling_timeout` or `permanent`.
    class: String,
    /// The cause, in one word.
    cause: String,
}

/// The model by which the price of another one is estimated.
#[derive(JsonSchema)]
pub(super) struct PriceEstimate {
    /// The model, as the client calls it.
    model: String,
    /// The listed model.
    like: String,
}

/// What was judged from the stream of an agent.
#[derive(JsonSchema)]
pub(super) struct JudgedCalls {
    /// Calls that the hooks reviewed.
    guarded: u64,
    /// Calls without a review.
    unguarded: u64,
    /// Calls without a review that the review would have refused.
    refusable: u64,
    /// Calls that came too fast to be judged.
    lost: u64,
    /// The patterns that the detectors found.
    patterns: Vec<String>,
}

/// What the reviews of the calls of a run came to.
#[derive(JsonSchema)]
pub(super) struct ReviewsOfRun {
    /// Calls that were reviewed.
    total: u64,
    /// How many of them by verdict, as far as there were any.
    verdicts: std::collections::BTreeMap<String, u64>,
    /// How many were blocked or halted.
    blocked: u64,
    /// The first 20 of these.
    blocked_calls: Vec<BlockedCallOfRun>,
}

/// A call that was blocked.
#[derive(JsonSchema)]
pub(super) struct BlockedCallOfRun {
    /// The name of the call; `checkrein show` takes it.
    id: String,
    /// The tool, and what it was to do.
    action: String,
    /// Why it was blocked.
    reason: String,
}

/// The end of a test run.
#[derive(JsonSchema)]
pub(super) struct RouteOfTests {
    /// The kind of failure: `docs/scripts.md` lists them.
    failure: String,
    /// `go_on`, `implement`, `scaffold`, `wait` or `stop`.
    next: String,
    /// Tests that passed; null is not known.
    passed: Option<u64>,
    /// Tests that failed; null is not known.
    failed: Option<u64>,
    /// Tests that were skipped or not selected; null is not known.
    left_out: Option<u64>,
    /// Names of tests that failed, the first 100.
    failing: Vec<String>,
    /// Runs in a row with the same result, this one included.
    same: u32,
}

/// A setting that waits for your consent.
#[derive(JsonSchema)]
pub(super) struct PendingSetting {
    /// Its key.
    key: String,
    /// The value that holds.
    from: String,
    /// The value that the file asks for.
    to: String,
    /// The file.
    file: String,
    /// The line, from 1.
    line: usize,
}

/// Where the value of a setting comes from.
#[derive(JsonSchema)]
pub(super) struct SettingSource {
    /// The layer that set it last.
    layer: String,
    /// The file; `environment` or `flags`.
    file: String,
    /// The line, from 1.
    line: usize,
}

/// Up to which value of 1 - CTQ each verdict goes; above the last one it is block.
#[derive(JsonSchema)]
pub(super) struct VerdictThresholds {
    /// Of ok.
    ok: f64,
    /// Of nudge.
    nudge: f64,
    /// Of escalate.
    escalate: f64,
}

/// From which trust debt each posture holds.
#[derive(JsonSchema)]
pub(super) struct DebtThresholds {
    /// Whether trust debt counts.
    enabled: bool,
    /// Of `elevated_monitoring`.
    elevated_monitoring: f64,
    /// Of `restricted_mode`.
    restricted_mode: f64,
    /// Of `re_tiering_review`.
    re_tiering_review: f64,
}

/// The contract of a review.
#[derive(JsonSchema)]
pub(super) struct ContractTerms {
    /// The risk level; null where it follows from the action.
    risk_level: Option<String>,
    /// What follows when a review takes longer.
    fallback_on_timeout: String,
}

/// An issue as it is recorded.
#[derive(JsonSchema)]
pub(super) struct RecordedIssue {
    /// Its pattern.
    kind: String,
    /// `low`, `medium`, `high` or `critical`.
    severity: String,
    /// How sure the detection is, from 0 to 1.
    confidence: f64,
    /// How much harm it does beyond its severity, from 0 to 1.
    impact: f64,
    /// How strong the signal is, in the unit of the pattern.
    signal: f64,
    /// What was seen.
    summary: String,
    /// What to do instead.
    advice: String,
    /// The numbers of the actions that it rests on, oldest first.
    actions: Vec<u64>,
    /// The growth of resources, of a spiral.
    growth: Option<f64>,
    /// Of a spiral: the growth of each resource that a limit is about, as pairs of a name and a number.
    growths: Option<Vec<(String, f64)>>,
}

/// The ways out of a failure, best first.
#[derive(JsonSchema)]
pub(super) struct WaysOut {
    /// What to try, in order; empty when all attempts are used up.
    attempts: Vec<WayOut>,
    /// How many attempts are left.
    left: u32,
    /// `required` where a user must agree first, else `not_needed`.
    consent: String,
}

/// One way out.
#[derive(JsonSchema)]
pub(super) struct WayOut {
    /// The strategy.
    strategy: String,
    /// The steps, in order.
    steps: Vec<String>,
}

/// A change that was not predicted, or a predicted one that was not seen.
#[derive(JsonSchema)]
pub(super) struct UnpredictedChange {
    /// `created`, `modified`, `deleted`, `rearranged` or `missing`.
    kind: String,
    /// The path.
    path: String,
    /// What had been predicted about it.
    predicted: String,
}

/// A record of the ledger.
#[derive(JsonSchema)]
pub(super) struct LedgerRecord {
    /// Its number in the session, from 1.
    seq: u64,
    /// The hash of the record before it.
    prev: String,
    /// When it was written, in milliseconds since 1970.
    at: u64,
    /// What it says: `type`, and fields that depend on it.
    body: Map<String, Json>,
    /// Its own hash.
    hash: String,
}

/// A rollback of a session: what it would do, or did.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct RecordedRollback {
    /// The number of the action before which it goes back.
    before: u64,
    /// `proposed`, `done` or `not_done`.
    stage: String,
    /// `intervention` or `person`.
    by: String,
    /// The snapshots that it rests on.
    #[schemars(default)]
    snapshots: Vec<u64>,
    /// The snapshots of the state before, which take it back.
    #[schemars(default)]
    saved_as: Vec<u64>,
    /// How many files, links and directories it changes.
    changes: u64,
    /// The first of them.
    #[schemars(default)]
    named: Vec<String>,
    /// The first paths that are not as they were, and why.
    #[schemars(default)]
    left: Vec<String>,
    /// The same in one sentence.
    text: String,
}

/// The report on an emergency stop.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct ReportOnStop {
    /// Its name.
    id: String,
    /// The session; empty where no session was heard of.
    session: String,
    /// When it was stopped, in milliseconds since 1970.
    at: u64,
    /// What happened, in one sentence.
    summary: String,
    /// Who stopped it: `person`, `emergency_stop`, `tripwire NAME`, `run: SWITCH` or `budget`.
    by: String,
    /// Who else stopped it while this stop stood, oldest first.
    further_stops: Option<Vec<StopBesides>>,
    /// Who closed it; null or missing while it is open.
    closed: Option<ClosingOfIncident>,
    /// The issue for which it was stopped.
    issue: Option<RecordedIssue>,
    /// The interventions before, oldest first.
    interventions: Vec<RecordedIntervention>,
    /// What happened before, oldest first.
    timeline: Vec<PastEvent>,
    /// What was changed and used.
    impact: ImpactOfSession,
    /// In what it happened.
    context: Option<ContextOfStop>,
    /// What it came from.
    root_cause: String,
    /// Other patterns at the time.
    contributing_factors: Vec<String>,
    /// What to do.
    recommendations: Advice,
    /// The ways on.
    recovery_options: Vec<WayOn>,
    /// What to try, in order.
    recovery_plan: Option<WaysOut>,
}

/// A stop of what was stopped already.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
pub(super) struct StopBesides {
    /// When, in milliseconds since 1970.
    at: u64,
    /// By whom.
    by: String,
    /// Why, in one sentence.
    reason: String,
}

/// The word of a user with which an incident is closed.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
pub(super) struct ClosingOfIncident {
    /// When, in milliseconds since 1970.
    at: u64,
    /// Who.
    by: String,
    /// From where: `command_line`, `console` or `api`.
    source: String,
    /// What they say about it.
    note: String,
}

/// An intervention as it is recorded.
#[derive(JsonSchema)]
pub(super) struct RecordedIntervention {
    /// Its kind.
    kind: String,
    /// The pattern of the issue.
    pattern: String,
    /// The severity of the issue.
    severity: String,
    /// The score with which it was chosen, from 0 to 1.
    score: f64,
    /// How strong the signal of the issue was.
    signal: f64,
    /// The number of the action after which it came.
    action: u64,
    /// Why it was chosen.
    reason: String,
    /// What the agent reads.
    text: String,
    /// The limits that hold from then on.
    throttle: Option<Map<String, Json>>,
    /// Where to go back to.
    rollback: Option<Map<String, Json>>,
}

/// Something that happened in a session.
#[derive(JsonSchema)]
pub(super) struct PastEvent {
    /// When, in milliseconds since 1970.
    at: u64,
    /// What, in one line.
    what: String,
}

/// What a session changed and used.
#[derive(JsonSchema)]
pub(super) struct ImpactOfSession {
    /// The files that changed.
    files: Vec<String>,
    /// How many actions it made.
    actions: u64,
    /// How many operations on files.
    file_operations: u64,
    /// Its duration in milliseconds.
    duration_ms: u64,
    /// How many tokens its models were given and gave.
    tokens: Option<u64>,
    /// What that cost in dollars.
    dollars: Option<f64>,
    /// How many programs it started.
    processes: Option<u64>,
    /// How many bytes its tools were to write.
    bytes_written: Option<u64>,
    /// What the records of the whole session come to.
    sum: Option<SumOfRecords>,
}

/// What the records of a session come to, from the first to the last.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
pub(super) struct SumOfRecords {
    /// From how many records it is made.
    records: u64,
    /// Why it is not made from all records.
    gaps: Option<Vec<String>>,
    /// How many files changed.
    files: u64,
    /// Whether there may be more files than that.
    more_files: bool,
    /// How many calls ran.
    ran: u64,
    /// How many of them were commands.
    commands: u64,
    /// How many of them failed.
    failed: u64,
    /// How many calls were refused and did not run.
    refused: u64,
    /// How many changes differed from what was predicted.
    surprises: u64,
    /// Before how many of the calls that ran a snapshot was taken, by which they can be taken back.
    saved: u64,
    /// What calls that ran may have destroyed without a copy, the first of it.
    not_saved: Option<Vec<String>>,
    /// How much more of that there was.
    more_not_saved: u64,
}

/// In what a session was stopped.
#[derive(JsonSchema)]
pub(super) struct ContextOfStop {
    /// The root of the workspace.
    workspace: Option<String>,
    /// The client.
    client: Option<String>,
    /// The profile.
    profile: String,
    /// What the user asked for, newest last.
    goals: Vec<String>,
    /// What the detectors found, gravest first.
    detections: Vec<DetectionAtStop>,
    /// What the session made and is still there.
    left: Vec<String>,
}

/// A pattern that stood when a session was stopped.
#[derive(JsonSchema)]
pub(super) struct DetectionAtStop {
    /// The pattern.
    pattern: String,
    /// The severity.
    severity: String,
    /// The confidence from 0 to 1.
    confidence: f64,
    /// What was seen.
    summary: String,
}

/// What to do after a stop.
#[derive(JsonSchema)]
pub(super) struct Advice {
    /// Now.
    immediate: Vec<String>,
    /// From now on.
    preventive: Vec<String>,
    /// In the configuration.
    configuration: Vec<String>,
}

/// A way on after a stop.
#[derive(JsonSchema)]
pub(super) struct WayOn {
    /// Its name.
    option: String,
    /// What it does.
    description: String,
    /// The command that does it.
    command: String,
}

/// Where a command is broken.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
pub(super) struct SyntaxErrorPlace {
    /// The line, from 1.
    line: u64,
    /// The column, from 1, in characters.
    column: u64,
}

/// The risk of an action.
#[derive(JsonSchema)]
pub(super) struct RiskOfAction {
    /// From 0 to 1.
    score: f64,
    /// `low`, `medium`, `high` or `critical`.
    level: String,
    /// The factors, the base first.
    factors: Vec<String>,
}

/// Whether an action makes sense.
#[derive(JsonSchema)]
pub(super) struct RationalityOfAction {
    /// From 0 to 1.
    score: f64,
    /// `low`, `medium` or `high`.
    level: String,
}

/// What an action uses of the machine.
#[derive(JsonSchema)]
pub(super) struct PredictedUse {
    /// How many files and trees it makes, changes or deletes.
    file_operations: u64,
    /// How many programs it starts by name.
    programs: u64,
    /// How many times it talks to other machines, or to a service of this one.
    connections: u64,
    /// How many bytes it is given to write.
    bytes_written: u64,
    /// `whole`, or `at_least` where it may be more.
    extent: String,
}

/// A predicted change.
#[derive(JsonSchema)]
pub(super) struct PredictedEffect {
    /// Its kind, such as `file_delete`.
    kind: String,
    /// What it changes; null is not known.
    target: Option<String>,
    /// `certain` or `possible`.
    certainty: String,
    /// Whether it reaches below the target.
    recursive: bool,
    /// What would be lost.
    stake: String,
    /// Whether it can be taken back.
    reversible: bool,
    /// `low`, `medium`, `high` or `critical`.
    severity: String,
    /// What is special about it: `docs/catalogue.md`; absent where nothing is.
    nature: Option<String>,
    /// Whether the target is saved before; absent where it is not.
    saved: Option<bool>,
    /// Its cause, in words.
    cause: Option<String>,
    /// What is special about it, in words.
    note: Option<String>,
}

/// The quality of the trace and what follows from it.
#[derive(JsonSchema)]
pub(super) struct TraceQuality {
    /// From 0 to 1.
    ctq: f64,
    /// The tier; null where governance is off.
    tier: Option<String>,
    /// The verdict by the thresholds of the tier.
    by_thresholds: String,
    /// The severity of the flag; null where there is none.
    flag: Option<String>,
    /// Tripwires and patterns that fired.
    fired: Vec<String>,
    /// The trust debt before the action.
    trust_debt: f64,
    /// What follows from the debt.
    posture: String,
}

/// A detection in a replay.
#[derive(JsonSchema)]
pub(super) struct Detection {
    /// The step.
    step: usize,
    /// The pattern.
    #[schemars(rename = "type")]
    kind: String,
    /// `low`, `medium`, `high` or `critical`.
    severity: String,
    /// From 0 to 1.
    confidence: f64,
}

/// An intervention in a replay.
#[derive(JsonSchema)]
pub(super) struct ReplayedIntervention {
    /// The step.
    step: usize,
    /// Its kind.
    kind: String,
    /// The pattern that it is about.
    about: String,
}

/// A call on which two configurations differ.
#[derive(JsonSchema)]
pub(super) struct DifferentVerdict {
    /// The step.
    step: usize,
    /// The call.
    call: String,
    /// The verdict now.
    verdict: String,
    /// The verdict with the other configuration.
    against: String,
    /// The reason now.
    reason: String,
    /// The reason with the other configuration.
    against_reason: String,
}
