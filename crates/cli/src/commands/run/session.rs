//! What `checkrein run` keeps of a run: its worktree, its lock, its state at every stage; and going on with one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_clients::{Continuity, going_on};
use checkrein_ledger::{FolderName, is_halted, mask::mask_text};
use checkrein_policy::Profile;
use checkrein_protocol::{HaltScope, SessionId};
use checkrein_supervise::{
    ProgressReport, Switches,
    runs::{
        AcquiredLock, CommandWord, Insistence, Lock, Profile as ProfileName, REWINDS, RUN_VARIABLE,
        RunAttempt, RunEnd, RunId, RunLimits, RunSettings as RunManner, RunSpending, RunStage, RunState,
        RunStateDamage, Runs, Whereabouts,
    },
};

use checkrein_worktree::{
    Made, Owner, SharedMoment, Uncommitted, WorktreeKind, WorktreeName, WorktreePlan, guard_files, make,
};

use super::super::for_no_agent;
use super::super::name_choice::{NEWEST, NamedKind};
use super::super::worktree::{Site, changes_since, note};
use super::{KillGuarantee, RunOptions};
use crate::credentials::RunCredential;
use crate::terminal::{log, plain};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Where an agent works and what is gone on with, in our words.
#[derive(Debug, Clone)]
pub struct RunSessionOptions {
    /// The name of a worktree of its own.
    pub worktree: Option<String>,
    /// Files of no commit that go along.
    pub carry: Vec<String>,
    /// Whether what is changed and not committed goes along.
    pub uncommitted: Uncommitted,
    /// The run that is gone on with, by the beginning of its name; the newest one that can when it is empty.
    pub resume: Option<String>,
    /// What is done about a lock of another machine.
    pub insistence: Insistence,
}

/// A run that is kept.
pub(super) struct RunSession {
    runs: Runs,
    state: RunState,
    /// What counted against the limits before this attempt.
    before: RunSpending,
    wanted: RunOptions,
    begins: RunOrigin,
    saved: Option<Instant>,
    has_failed: bool,
    locks: Vec<Lock>,
    /// The worktree of git, with the folder of what is known of it.
    watched: Option<(Owner, PathBuf)>,
}

/// A halt that keeps a run from going on.
struct Halted {
    reason: String,
    /// The command that takes it back.
    lifted_by: String,
}

impl Halted {
    /// The halt of a session, or of all.
    fn of(environment: &HostEnvironment, session: Option<&str>) -> Option<Self> {
        let folder = FolderName::of(&SessionId(session.unwrap_or_default().to_owned()));
        let halt = is_halted(&environment.state, &folder)?;
        let lifted_by = match halt.scope {
            HaltScope::All => "checkrein resume --all".to_owned(),
            HaltScope::Session => format!("checkrein resume {}", folder.as_str()),
        };
        Some(Self { reason: halt.reason, lifted_by })
    }
}

/// Whether a run begins or goes on.
enum RunOrigin {
    Anew,
    Again,
}

/// How often the whole state is written down while the agent runs; what it spends is at once.
const WRITING: Duration = Duration::from_secs(15);

impl RunSession {
    /// Prepares a run: its name, its lock, its worktree.
    pub(super) fn prepare(wanted: &RunOptions, environment: &HostEnvironment) -> Result<Self, CommandError> {
        match &wanted.keeping.resume {
            Some(run) => Self::again(wanted, run, environment),
            None => Self::anew(wanted, environment),
        }
    }

    fn anew(wanted: &RunOptions, environment: &HostEnvironment) -> Result<Self, CommandError> {
        let runs = Runs::new(environment.state.root());
        let now = environment.now().0;
        let (id, folder) = claim(&runs, now)?;
        let kept = Self::of_claimed(wanted, environment, &runs, &id, &folder);
        if kept.is_err() {
            runs.give_up(&id);
        }
        kept
    }

    fn of_claimed(
        wanted: &RunOptions,
        environment: &HostEnvironment,
        runs: &Runs,
        id: &RunId,
        folder: &Path,
    ) -> Result<Self, CommandError> {
        let keeping = &wanted.keeping;
        let now = environment.now().0;
        let mut locks = vec![lock(folder, &format!("run {id}"), keeping.insistence)?];
        let cwd = PathBuf::from(environment.cwd.as_str());
        let workspace = super::super::worktree::workspace(environment)?;
        let mut directory = cwd.clone();
        let mut watched = None;
        let name = keeping.worktree.as_deref().map(str::parse::<WorktreeName>).transpose()?;
        if let Some(name) = &name {
            let site = Site::open(environment)?;
            let record = site.places.record(name);
            let lock = lock(&record, &format!("the worktree `{name}`"), keeping.insistence)?;
            let plan = WorktreePlan {
                name,
                run: id,
                workspace: &site.workspace,
                now,
                carry: &keeping.carry,
                changes: keeping.uncommitted,
                always: &guard_files().collect::<Vec<_>>(),
            };
            let made = lock
                .lend(|| site.with_origin(environment, name, |origin| make(&site.places, &plan, origin)))??;
            locks.push(lock);
            tell_of(&made, &site);
            note(environment, &workspace, (&made.owner, &record), id, SharedMoment::Before);
            watched = Some((made.owner.clone(), record));
            directory = inside(&made.owner, &workspace, &cwd);
        }
        let key = environment.state.mask_key()?;
        let mut masked = false;
        let agent = wanted.agent.iter().map(|word| match word.to_str() {
            Some(text) => {
                let safe = mask_text(text, &key);
                masked |= safe != text;
                CommandWord::Text(safe.into_owned())
            }
            None => CommandWord::from(word.as_os_str()),
        });
        let state = RunState {
            version: RunState::VERSION,
            id: id.clone(),
            stage: RunStage::Prepared,
            created: now,
            written: now,
            agent: agent.collect(),
            masked: false,
            directory,
            workspace,
            worktree: name.map(String::from),
            profile: ProfileName(wanted.profile.unwrap_or(Profile::Interactive).word().to_owned()),
            keeps: wanted
                .keeps
                .as_ref()
                .map(|names| names.iter().map(|name| CommandWord::from(name.as_os_str())).collect()),
            manner: manner(wanted),
            limits: RunLimits::default(),
            counted: RunSpending::default(),
            attempts: Vec::new(),
        };
        Ok(Self {
            runs: runs.clone(),
            state: RunState { masked, ..state },
            before: RunSpending::default(),
            wanted: wanted.clone(),
            begins: RunOrigin::Anew,
            saved: None,
            has_failed: false,
            locks,
            watched,
        })
    }

    fn again(wanted: &RunOptions, run: &str, environment: &HostEnvironment) -> Result<Self, CommandError> {
        for_no_agent(environment, "run --resume")?;
        let keeping = &wanted.keeping;
        let runs = Runs::new(environment.state.root());
        let id = if run.is_empty() || run == NEWEST {
            newest(&runs, environment, keeping.worktree.as_deref())?
        } else {
            let all: Vec<RunId> = runs.all()?.into_iter().map(|found| found.id).collect();
            NamedKind::Run.only(run, all.iter().map(RunId::as_str))?.parse()?
        };
        let folder = runs.folder(&id, Whereabouts::Active);
        if !folder.is_dir() {
            return Err(CommandError::user(
                format!("run {id} is done, and what is done stays as it is"),
                "begin a new run; `checkrein run list` lists those that can go on",
            ));
        }
        let mut locks = vec![lock(&folder, &format!("run {id}"), keeping.insistence)?];
        let (loaded, _) = runs.load(&id)?;
        if let Some(Halted { reason, lifted_by }) = Halted::of(environment, loaded.state.session()) {
            return Err(CommandError::user(
                format!("run {id} cannot go on: it is halted ({})", plain(&reason)),
                format!("`{lifted_by}` lifts the halt; then `checkrein run --resume {id}` goes on"),
            ));
        }
        if let RunStateDamage::Backup(why) = &loaded.damage {
            log(&plain(&format!(
                "checkrein: the state of run {id} is damaged ({why}); going on from the one before it"
            )));
        }
        let mut state = loaded.state;
        let mut watched = None;
        if let Some(name) = &state.worktree {
            let name: WorktreeName = name.parse()?;
            let places = super::super::worktree::places(environment, &state.workspace)?;
            let record = places.record(&name);
            locks.push(lock(&record, &format!("the worktree `{name}`"), keeping.insistence)?);
            let owner = Owner::load(&record)?.ok_or_else(|| {
                CommandError::user(
                    format!("the worktree `{name}` of run {id} is not there any more"),
                    "it was merged or discarded; begin a new run",
                )
            })?;
            owner.prove()?;
            note(environment, &state.workspace, (&owner, &record), &id, SharedMoment::Before);
            watched = Some((owner, record));
        }
        if !state.directory.is_dir() {
            return Err(CommandError::user(
                format!(
                    "`{}`, where run {id} worked, is not there any more",
                    plain(&state.directory.to_string_lossy())
                ),
                "begin a new run",
            ));
        }
        let mut wanted = wanted.clone();
        if let Some(scope) = &mut wanted.scope {
            scope.settle()?;
        }
        let profile = Profile::from_word(&state.profile.0).ok_or_else(|| {
            CommandError::user(format!("the profile of run {id} is not known here"), "begin a new run")
        })?;
        wanted.profile = Some(profile);
        wanted.keeps = state.keeps.clone().map(|names| names.into_iter().map(OsString::from).collect());
        if wanted.agent.is_empty() {
            if state.masked {
                return Err(CommandError::user(
                    format!("the command line of run {id} held a secret, which was not written down"),
                    format!("give it again: `checkrein run --resume {id} -- AGENT ...`"),
                ));
            }
            wanted.agent = state.agent.iter().cloned().map(OsString::from).collect();
        }
        let going = going_on(&wanted.agent, state.session());
        wanted.agent = going.words;
        go_on_as_before(&mut wanted, &mut state)?;
        renew(&mut state, &wanted);
        state.limits.left(&state.counted)?;
        log(&plain(&match (going.manner, state.session()) {
            (Continuity::SameSession, Some(session)) => {
                format!("checkrein: run {id} goes on, with session {session}")
            }
            _ => format!(
                "checkrein: run {id} goes on; the agent is started again as it was, without what it knew"
            ),
        }));
        let before = state.counted;
        Ok(Self {
            runs,
            state,
            before,
            wanted,
            begins: RunOrigin::Again,
            saved: None,
            has_failed: false,
            locks,
            watched,
        })
    }

    /// What is wanted: as it was given, or as it was when the run began.
    pub(super) fn wanted(&self) -> &RunOptions {
        &self.wanted
    }

    /// Where the agent works.
    pub(super) fn directory(&self) -> &Path {
        &self.state.directory
    }

    /// What limits the run: what is given when it begins, and what is left of that when it goes on. How long it may be silent, and how many
    /// processes it may have, is given each time.
    pub(super) fn limited(&mut self, given: Switches) -> Result<Switches, CommandError> {
        match self.begins {
            RunOrigin::Anew => {
                self.state.limits = RunLimits::of(&given);
                Ok(given)
            }
            RunOrigin::Again => {
                let Switches { idle, tasks, .. } = given;
                Ok(Switches { idle, tasks, ..self.state.limits.left(&self.state.counted)? })
            }
        }
    }

    /// Leaves the locks to the process that we were split from, which waits until we have ended.
    pub(super) fn leave_locks_to_the_other(&mut self) {
        self.locks.drain(..).for_each(std::mem::forget);
    }

    /// Writes down that the agent is about to start.
    pub(super) fn start(&mut self, now: u64) -> Result<(), CommandError> {
        self.before = self.state.counted;
        self.save(now)?;
        self.state.stage = RunStage::Started;
        self.state.attempts.push(RunAttempt {
            at: now,
            spent: RunSpending::default(),
            session: None,
            end: None,
        });
        self.save(now)
    }

    /// The agent ran so far; written down now and then, and as soon as its session is known.
    pub(super) fn progressed(&mut self, moment: &ProgressReport, now: impl FnOnce() -> u64) {
        let (known, spent) = (self.state.session().is_some(), self.state.spent());
        self.state.progressed(&moment.progress, moment.running, &self.before);
        let is_new = self.state.session().is_some() && !known;
        let after = self.state.spent();
        let has_worked = (after.tokens, after.iterations) != (spent.tokens, spent.iterations);
        if is_new || self.saved.is_none_or(|time| time.elapsed() >= WRITING) {
            self.save_or_say(now());
        } else if has_worked && let Err(error) = self.runs.spend(&self.state) {
            self.say_once(&error);
        }
    }

    /// The agent has ended. One that its provider failed, by a wrong key for instance, has not done its work: it can go on.
    pub(super) fn end(&mut self, last: &ProgressReport, end: RunEnd, now: u64) {
        self.state.progressed(&last.progress, last.running, &self.before);
        let goes_on = end.stopped_by.is_some() || end.failure.is_some();
        let stage = if goes_on { RunStage::Stopped } else { RunStage::Ended };
        self.finish(stage, end, now);
    }

    /// The agent could not be started.
    pub(super) fn fail(&mut self, status: u8, reason: &str, now: u64) {
        let end = RunEnd { status, stopped_by: None, reason: Some(reason.to_owned()), failure: None };
        self.finish(RunStage::Ended, end, now);
    }

    fn finish(&mut self, stage: RunStage, end: RunEnd, now: u64) {
        self.state.stage = stage;
        if let Some(attempt) = self.state.attempts.last_mut() {
            attempt.end = Some(end);
        }
        self.save_or_say(now);
    }

    /// Takes up what another process of ours wrote down of this run.
    pub(super) fn read_again(&mut self) {
        if let Ok((loaded, _)) = self.runs.load(&self.state.id) {
            self.state = loaded.state;
        }
    }

    /// Puts the run among those that are done, when it ended by itself. With a worktree it is done when that is merged or discarded; what was
    /// stopped can go on. Only who holds the locks does so: the process above, when nothing is tried again.
    pub(super) fn archive_what_is_done(&self) {
        if self.state.stage == RunStage::Ended
            && !self.locks.is_empty()
            && self.state.worktree.is_none()
            && let Err(error) = self.runs.archive(&self.state.id)
        {
            log(&format!("checkrein: {error}"));
        }
    }

    /// What the run changed in the repository beside its worktree, in words; to be asked once, at its end.
    pub(super) fn shared_changes(&self, environment: &HostEnvironment) -> Vec<String> {
        let Some((owner, record)) = &self.watched else { return Vec::new() };
        note(environment, &self.state.workspace, (owner, record), &self.state.id, SharedMoment::After);
        changes_since(environment, &self.state.workspace, owner, record)
    }

    /// When the run was prepared, in milliseconds since 1970.
    pub(super) fn created(&self) -> u64 {
        self.state.created
    }

    /// The name of the run.
    pub(super) fn id(&self) -> &RunId {
        &self.state.id
    }

    /// The worktree of the run.
    pub(super) fn worktree(&self) -> Option<&str> {
        self.state.worktree.as_deref()
    }

    /// What a user can do now; `None` when there is nothing to do.
    pub(super) fn next_step(&self, environment: &HostEnvironment) -> Option<String> {
        match (self.state.stage, &self.state.worktree) {
            (RunStage::Stopped, _) => {
                let mut goes_on = format!("`checkrein run --resume {}` goes on", self.state.id);
                match self.state.limits.left(&self.state.counted) {
                    Err(error) => goes_on = format!("{goes_on}; {}", error.hint),
                    Ok(left) => {
                        // What is as good as used up ends the next attempt at its first answer.
                        let budget = left.budget.zip(self.state.limits.dollars);
                        if let Some((left, limit)) = budget.filter(|(left, limit)| left * 20.0 < *limit) {
                            goes_on = format!(
                                "{goes_on}; {left:.2} of its {limit:.2} dollars are left, `--budget` gives it more"
                            );
                        }
                    }
                }
                Some(match Halted::of(environment, self.state.session()) {
                    Some(Halted { lifted_by, .. }) => format!("`{lifted_by}` lifts the halt; then {goes_on}"),
                    None => goes_on,
                })
            }
            (RunStage::Ended, Some(name)) => Some(format!(
                "`checkrein worktree diff {name}` shows what it changed, `merge` brings it back"
            )),
            _ => None,
        }
    }

    fn save(&mut self, now: u64) -> Result<(), CommandError> {
        self.state.written = now;
        self.saved = Some(Instant::now());
        Ok(self.runs.save(&self.state)?)
    }

    fn save_or_say(&mut self, now: u64) {
        if let Err(error) = self.save(now) {
            self.say_once(&error.message);
        }
    }

    fn say_once(&mut self, error: &impl std::fmt::Display) {
        if !std::mem::replace(&mut self.has_failed, true) {
            log(&format!("checkrein: the state of the run is not kept: {error}"));
        }
    }

    /// Takes up that the agent is set back, and goes on.
    pub(super) fn set_back(&self) -> Result<(), CommandError> {
        Ok(self.runs.heard_set_back(&self.state.id)?)
    }

    /// Writes down what the hooks of the agent hold to; the variable that tells them.
    pub(super) fn tell_hooks(&self) -> Result<(OsString, OsString), CommandError> {
        let rewinds = if checkrein_clients::can_rewind(&self.wanted.agent) { REWINDS } else { 0 };
        let told = self.runs.tell_hooks(&self.state, self.wanted.price.as_deref(), rewinds)?;
        Ok((RUN_VARIABLE.into(), told.into()))
    }
}

/// A name that nobody has, and its folder.
fn claim(runs: &Runs, now: u64) -> Result<(RunId, PathBuf), CommandError> {
    let twist = std::process::id();
    for more in 0..0x1_0000 {
        let id = RunId::at(now / 1_000, twist.wrapping_add(more));
        if let Some(folder) = runs.claim(&id)? {
            return Ok((id, folder));
        }
    }
    Err(CommandError::user("too many runs begin in this second", "try again"))
}

fn lock(folder: &Path, what: &str, insistence: Insistence) -> Result<Lock, CommandError> {
    let AcquiredLock { lock, stale } = Lock::take(&Lock::path(folder), what, insistence)?;
    if let Some(holder) = stale {
        log(&plain(&format!("checkrein: {what} was held by {holder}, which is gone; going on")));
    }
    Ok(lock)
}

/// The directory in a worktree that stands for the one from which it was started.
fn inside(owner: &Owner, workspace: &Path, cwd: &Path) -> PathBuf {
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let below = real.strip_prefix(workspace).map(|below| owner.place.join(below)).unwrap_or_default();
    if below.is_dir() { below } else { owner.place.clone() }
}

/// How many files are named before the rest is counted (ours).
const NAMED: usize = 5;

/// The first names of a list, and how many more there are.
fn named(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().take(NAMED).map(|file| format!("`{}`", file.display())).collect();
    let more = files.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", names.join(", "))
}

fn tell_of(made: &Made, site: &Site) {
    let owner = &made.owner;
    let place = owner.place.display();
    let branch = match &owner.kind {
        WorktreeKind::Git { branch, .. } => format!(" on branch `{branch}`"),
        WorktreeKind::Copy { .. } => String::new(),
    };
    match &made.carried {
        None => log(&plain(&format!("checkrein: going on in the worktree `{place}`{branch}"))),
        Some(carried) => {
            log(&plain(&format!("checkrein: the agent works in `{place}`{branch}")));
            if !carried.files.is_empty() {
                log(&plain(&format!(
                    "checkrein: carried over, although in no commit: {}",
                    named(&carried.files)
                )));
            }
            if let Some(first) = carried.secrets.first() {
                log(&plain(&format!(
                    "checkrein: what looks like a secret stays behind ({}), such as `{}`; `--carry` with its whole path takes it along",
                    carried.secrets.len(),
                    first.display()
                )));
            }
            if let Some((first, why)) = carried.undressed.first() {
                log(&plain(&format!(
                    "checkrein: copied, but not as it was in all respects ({}), such as `{}`: {why}",
                    carried.undressed.len(),
                    first.display()
                )));
            }
            if let Some(disabled) = site.disabled() {
                log(&plain(&format!(
                    "checkrein: what the repository's own configuration would run is not run for worktrees: {disabled}"
                )));
            }
        }
    }
}

/// The newest run of this workspace that can go on.
fn newest(runs: &Runs, environment: &HostEnvironment, worktree: Option<&str>) -> Result<RunId, CommandError> {
    let workspace = super::super::worktree::workspace(environment)?;
    let is_meant = |state: &RunState| {
        (state.workspace == workspace || state.directory.starts_with(&workspace))
            && worktree.is_none_or(|name| state.worktree.as_deref() == Some(name))
    };
    runs.all()?
        .into_iter()
        .rev()
        .filter(|found| found.whereabouts == Whereabouts::Active)
        .find(|found| found.loaded.as_ref().is_ok_and(|loaded| is_meant(&loaded.state)))
        .map(|found| found.id)
        .ok_or_else(|| {
            CommandError::user("no run of this workspace can go on", "`checkrein run list` lists all of them")
        })
}

/// What is written down of how a run is run besides its limits.
fn manner(wanted: &RunOptions) -> RunManner {
    RunManner {
        retries: wanted.retries,
        idle: wanted.idle.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        tasks: wanted.processes,
        hold: wanted.hold.word().map(str::to_owned),
        credentials: wanted
            .credentials
            .iter()
            .map(|one| (one.listed(), CommandWord::from(one.variable.as_os_str())))
            .collect(),
        price: wanted.price.clone(),
        pipeline: wanted.pipeline.clone(),
        step: wanted.step.clone(),
        settings: wanted.settings.clone(),
        scope: wanted.scope.as_ref().and_then(|scope| serde_json::to_value(scope).ok()),
    }
}

/// What is not given again is as it was.
fn go_on_as_before(wanted: &mut RunOptions, state: &mut RunState) -> Result<(), CommandError> {
    if wanted.retries == 0 {
        wanted.retries = state.manner.retries;
    }
    wanted.idle = wanted.idle.or(state.manner.idle.map(Duration::from_millis));
    wanted.processes = wanted.processes.or(state.manner.tasks);
    wanted.price = wanted.price.take().or_else(|| state.manner.price.clone());
    if wanted.pipeline.is_none() {
        wanted.pipeline.clone_from(&state.manner.pipeline);
        wanted.step = wanted.step.take().or_else(|| state.manner.step.clone());
    }
    wanted.settings = wanted.settings.take().or_else(|| state.manner.settings.clone());
    if let (None, Some(scope)) = (&wanted.scope, &state.manner.scope) {
        let scope = serde_json::from_value(scope.clone());
        wanted.scope = Some(scope.map_err(|error| {
            CommandError::user(
                format!("the scope of the run cannot be read: {error}"),
                "give it again with `--write`, `--read` or `--net`",
            )
        })?);
    }
    if wanted.hold == KillGuarantee::Profile {
        wanted.hold = KillGuarantee::from_word(state.manner.hold.as_deref());
    }
    if wanted.credentials.is_empty() {
        let named = |(names, variable): &(String, CommandWord)| {
            let names = RunCredential::names(names)
                .map_err(|why| CommandError::user(why, "give it again with `--credential`"))?;
            Ok(RunCredential { names, variable: OsString::from(variable.clone()) })
        };
        wanted.credentials =
            state.manner.credentials.iter().map(named).collect::<Result<_, CommandError>>()?;
    }
    state.manner = manner(wanted);
    Ok(())
}

/// A limit that is given again counts from now on.
fn renew(state: &mut RunState, wanted: &RunOptions) {
    if let Some(dollars) = wanted.budget {
        state.limits.dollars = Some(dollars).filter(|dollars| *dollars > 0.0);
        state.counted.dollars = Some(0.0);
    }
    if let Some(tokens) = wanted.tokens {
        (state.limits.tokens, state.counted.tokens) = (Some(tokens).filter(|tokens| *tokens > 0), 0);
    }
    if let Some(iterations) = wanted.iterations {
        let limit = Some(iterations).filter(|iterations| *iterations > 0);
        (state.limits.iterations, state.counted.iterations) = (limit, 0);
    }
    if let Some(time) = wanted.time {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let limit = Some(milliseconds).filter(|milliseconds| *milliseconds > 0);
        (state.limits.milliseconds, state.counted.milliseconds) = (limit, 0);
    }
    if let Some(memory) = wanted.memory {
        state.limits.memory = Some(memory.0).filter(|bytes| *bytes > 0);
    }
}
