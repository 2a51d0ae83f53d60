//! `checkrein stats`: what became of the calls of some time, what people said about it, and what it cost.
//!
//! The records of each session are read once, one after another; what is kept are sums.

mod telling;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use checkrein_clients::is_canary;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{Projection as _, lines};
use checkrein_protocol::{
    AbsolutePath, InterventionKind, MicroDollars, PatternKind, Record, RecordBody, RollbackStage,
    UsageRecord, VerdictKind,
};
use checkrein_session::{CallCounts, SessionLedger, SessionState, SessionSummary};
use checkrein_world::find_workspace;

use super::answers::{AnswerReader, QuestionOutcome};
use super::incidents;
use super::opinion::JUDGED;
use super::session_reading::read_each;
use super::{ExitStatus, OutputForm, Switch};
use crate::api;
use crate::api::sessions::{InterventionCount, NamedCount, RuleRate, Spending, Stats};
use crate::moments::TimeStart;
use crate::render::time;
use crate::terminal::{counted, log, plain, print, print_exact};

/// How many projects, models, days and rules are told apart (ours); what comes after is summed up.
const MOST: usize = 1000;
/// What they are summed up under.
const OTHERS: &str = "others";
/// How far into a ledger the first reviewed call is looked for, in records (ours).
const HEAD: usize = 40;

/// Counts the records since a time, of all projects or of this one.
pub fn stats(
    environment: &HostEnvironment,
    since: &TimeStart,
    here: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let period = since.period();
    let since = since.start(environment.now())?;
    let workspace = (here == Switch::On).then(|| find_workspace(&environment.cwd));
    let mut sessions = checkrein_session::sessions(&environment.state)?;
    sessions.retain(|session| {
        !is_canary(session.folder.as_str())
            && session.last.is_some_and(|last| last.0 >= since)
            && workspace.as_ref().is_none_or(|workspace| {
                place(environment, session).is_some_and(|own| own.is_within(workspace))
            })
    });
    let mut sums = Sums::default();
    read_each(environment, &sessions, output, |session| sums.read(environment, session, since));
    let folders: BTreeSet<&str> = sessions.iter().map(|session| session.folder.as_str()).collect();
    let incidents = incidents::of_sessions(environment, &folders, since)?;
    let stats = sums.told(since, incidents);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&stats)?),
        OutputForm::Text => print(&telling::in_words(
            &stats,
            &period_in_words(period, since),
            workspace.as_ref(),
            &environment.home,
        )),
    }
    Ok(ExitStatus::Done)
}

/// The time that is counted in words; `period` in milliseconds, where it is one that ends now.
fn period_in_words(period: Option<u64>, since: u64) -> String {
    match period.map(|period| period / 60_000) {
        Some(minutes) if minutes % 1440 == 0 => format!("the last {}", counted(minutes / 1440, "day")),
        Some(minutes) if minutes % 60 == 0 => format!("the last {}", counted(minutes / 60, "hour")),
        Some(minutes) => format!("the last {}", counted(minutes, "minute")),
        None => format!("since {}", time(since)),
    }
}

/// What was counted.
#[derive(Debug, Default)]
struct Sums {
    sessions: u64,
    calls: u64,
    verdicts: BTreeMap<VerdictKind, u64>,
    became: BTreeMap<&'static str, u64>,
    risk: BTreeMap<checkrein_protocol::RiskLevel, u64>,
    questions: BTreeMap<&'static str, u64>,
    interventions: BTreeMap<&'static str, InterventionSums>,
    escalations: u64,
    /// Of each rule: how often it stopped something, and how often that was called wrong.
    rules: BTreeMap<String, (u64, u64)>,
    wrong: u64,
    missed: u64,
    saved: u64,
    undone: u64,
    days: BTreeMap<String, Spent>,
    projects: BTreeMap<String, Spent>,
    models: BTreeMap<String, Spent>,
}

#[derive(Debug, Default)]
struct InterventionSums {
    helped: u64,
    repeated: u64,
    open: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Spent {
    calls: u64,
    tokens: u64,
    cost: MicroDollars,
    unpriced: bool,
}

impl Sums {
    /// Takes up the records of one session.
    fn read(
        &mut self,
        environment: &HostEnvironment,
        session: &SessionSummary,
        since: u64,
    ) -> Result<(), CommandError> {
        let ledger = SessionLedger::of_folder(&environment.state, session.folder.clone());
        let place = place(environment, session);
        let project = place.as_ref().map_or("unknown", |place| place.as_str());
        let mut answers = AnswerReader::default();
        // Of a piece of a transcript that two hooks read at once the first record counts.
        let mut offsets: HashMap<u64, u64> = HashMap::new();
        let mut open: HashMap<PatternKind, &'static str> = HashMap::new();
        // A user may say something of a call again: the last word counts, once.
        let mut opinions = BTreeMap::new();
        // What became of calls is counted as everywhere else: by the state of the session.
        let mut state = SessionState::default();
        let mut unread = 0;
        for line in lines(&ledger.path())? {
            let Some(record) = line.ok().and_then(|line| line.record) else {
                unread += 1;
                continue;
            };
            let is_new = match &record.body {
                RecordBody::Usage(usage) => {
                    offsets.insert(usage.mark.file, usage.mark.offset).unwrap_or_default() <= usage.from
                }
                _ => true,
            };
            if record.at.0 < since || !is_new {
                continue;
            }
            answers.take(&record);
            state.apply(&record);
            match &record.body {
                RecordBody::Event { name, fields } if name == JUDGED => {
                    opinions.insert(fields["action"].to_string(), fields.clone());
                }
                _ => self.take(&record, project, &mut open),
            }
        }
        opinions.values().for_each(|fields| self.judged(fields));
        open.into_values().for_each(|kind| self.interventions.entry(kind).or_default().open += 1);
        for answer in answers
            .found
            .into_values()
            .filter(|answer| !matches!(answer, QuestionOutcome::NotRun | QuestionOutcome::Untold))
        {
            *self.questions.entry(answer.name()).or_default() += 1;
        }
        for (count, word) in state.calls().parts() {
            *self.became.entry(word).or_default() += count;
        }
        self.sessions += 1;
        if unread > 0 {
            log(&format!(
                "checkrein: left out, since it cannot be read: session {}: {}; `checkrein audit verify` says more",
                plain(session.folder.as_str()),
                counted(unread, "line")
            ));
        }
        Ok(())
    }

    fn take(&mut self, record: &Record, project: &str, open: &mut HashMap<PatternKind, &'static str>) {
        let day = time(record.at.0).split(' ').next().unwrap_or_default().to_owned();
        match &record.body {
            RecordBody::Review(review) => {
                self.calls += 1;
                *self.verdicts.entry(review.verdict).or_default() += 1;
                *self.risk.entry(review.risk.level).or_default() += 1;
                self.saved += u64::from(review.snapshot.as_ref().is_some_and(|saved| saved.entries > 0));
                at(&mut self.days, &day).calls += 1;
                at(&mut self.projects, project).calls += 1;
                if review.was_stopped() {
                    for rule in review.rules.iter().filter_map(|rule| rule.split(':').next()) {
                        at(&mut self.rules, rule).0 += 1;
                    }
                }
            }
            RecordBody::Event { name, .. } if name == "checkrein.restored" => self.undone += 1,
            RecordBody::Rollback(rollback) if rollback.stage == RollbackStage::Done => self.undone += 1,
            RecordBody::Intervention(intervention) => {
                if let Some(kind) = open.insert(intervention.pattern, intervention.kind.name()) {
                    self.interventions.entry(kind).or_default().repeated += 1;
                    let rung =
                        |name: &str| InterventionKind::LADDER.iter().position(|one| one.name() == name);
                    self.escalations += u64::from(rung(intervention.kind.name()) > rung(kind));
                }
            }
            RecordBody::IssueEnded { kind } => {
                if let Some(kind) = open.remove(kind) {
                    self.interventions.entry(kind).or_default().helped += 1;
                }
            }
            RecordBody::Usage(usage) => self.spent(usage, &day, project),
            _ => {}
        }
    }

    /// Takes up what a user said of a call.
    fn judged(&mut self, fields: &serde_json::Value) {
        if fields["opinion"] == "wrong" {
            self.wrong += 1;
            let rules = fields["rules"].as_array().into_iter().flatten();
            rules.filter_map(|rule| rule.as_str()).for_each(|rule| at(&mut self.rules, rule).1 += 1);
        } else {
            self.missed += 1;
        }
    }

    fn spent(&mut self, usage: &UsageRecord, day: &str, project: &str) {
        for one in &usage.models {
            let model = if one.model.is_empty() { "unknown" } else { &one.model };
            for spent in
                [at(&mut self.days, day), at(&mut self.projects, project), at(&mut self.models, model)]
            {
                spent.tokens = spent.tokens.saturating_add(one.tokens.counted());
                match one.cost {
                    Some(cost) => spent.cost.0 = spent.cost.0.saturating_add(cost.0),
                    None => spent.unpriced = true,
                }
            }
            at(&mut self.models, model).calls += one.answers;
        }
    }

    fn told(self, since: u64, incidents: u64) -> Stats {
        use VerdictKind::{Block, Escalate, Halt, Nudge, Ok};
        let counted = |name: &str, count: u64| NamedCount { name: name.to_owned(), count };
        let verdict =
            |kind: VerdictKind| counted(kind.name(), self.verdicts.get(&kind).copied().unwrap_or_default());
        Stats {
            since: since.into(),
            sessions: self.sessions,
            calls: self.calls,
            verdicts: [Ok, Nudge, Escalate, Block, Halt].map(verdict).into(),
            became: CallCounts::default()
                .parts()
                .into_iter()
                .map(|(_, word)| counted(word, self.became.get(word).copied().unwrap_or_default()))
                .collect(),
            incidents,
            risk: self.risk.iter().map(|(level, count)| counted(level.name(), *count)).collect(),
            questions: self.questions.iter().map(|(answer, count)| counted(answer, *count)).collect(),
            interventions: self
                .interventions
                .into_iter()
                .map(|(kind, sums)| InterventionCount {
                    kind: kind.to_owned(),
                    helped: sums.helped,
                    repeated: sums.repeated,
                    open: sums.open,
                })
                .collect(),
            escalations: self.escalations,
            rules: self
                .rules
                .into_iter()
                .map(|(rule, (stopped, wrong))| RuleRate { rule, stopped, wrong })
                .collect(),
            wrong: self.wrong,
            missed: self.missed,
            saved: self.saved,
            undone: self.undone,
            days: spendings(self.days),
            projects: spendings(self.projects),
            models: spendings(self.models),
        }
    }
}

/// Where a session works: as its start says, or its first reviewed call.
fn place(environment: &HostEnvironment, session: &SessionSummary) -> Option<AbsolutePath> {
    session.workspace.clone().or_else(|| {
        let ledger = SessionLedger::of_folder(&environment.state, session.folder.clone());
        let first = lines(&ledger.path()).ok()?.take(HEAD).filter_map(|line| line.ok()?.record);
        first.into_iter().find_map(|record| match record.body {
            RecordBody::Review(review) => match review.beginning {
                Some(beginning) => Some(beginning.workspace),
                None => AbsolutePath::new(&review.cwd).map(|cwd| find_workspace(&cwd)),
            },
            _ => None,
        })
    })
}

/// The sum of a name. Those that come after the first thousand share one.
fn at<'a, T: Default>(sums: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let name = if sums.len() < MOST || sums.contains_key(name) { name } else { OTHERS };
    sums.entry(name.to_owned()).or_default()
}

fn spendings(sums: BTreeMap<String, Spent>) -> Vec<Spending> {
    sums.into_iter()
        .map(|(name, spent)| Spending {
            name,
            calls: spent.calls,
            tokens: (spent.tokens > 0).then_some(spent.tokens),
            dollars: spent.cost.0 as f64 / 1e6,
            at_least: spent.unpriced,
        })
        .collect()
}
