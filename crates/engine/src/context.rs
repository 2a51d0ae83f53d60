//! What is known around a call: configuration, policy, installations, what the session began with, and the world as it is now.

use std::collections::BTreeSet;
use std::sync::Arc;

use checkrein_effects::predict_with;
use checkrein_facts::{GuardedPath, GuardedStart, History};
use checkrein_ledger::Durability;
use checkrein_policy::{LogLevel, Mode, Policy, PolicyVersion, Standpoint, TargetKnowledge, Tier, location};
use checkrein_protocol::{
    AbsolutePath, Action, Aim, Beginning, Depth, EffectKind, RecordBody, SessionId, Target, Timestamp,
    ToolOutput, VerificationRecord,
};
use checkrein_session::SessionLedger;

use checkrein_world::changes::real_path;
use checkrein_world::{RealWorld, find_workspace};

use crate::config_files;
use crate::earlier::EarlyStart;
use crate::environment::{HostEnvironment, confiner, masker};
use crate::error::CommandError;
use crate::fail_closed::Failure;
use crate::guarded_start::guarded_start;
use crate::installation::{self, Installations};
use crate::places::{self, Ground};
use crate::rules::{RuleTexts, standing};
use crate::run_by_client;
use crate::session_ledger;
use crate::tiers::{self, AgentName};

/// Everything that is needed to judge actions in one workspace.
#[derive(Debug)]
pub struct Context {
    environment: HostEnvironment,
    workspace: AbsolutePath,
    installations: Installations,
    pub(crate) policy: Policy,
    /// The tier that a person gave the agent.
    tier: Option<Tier>,
    pub(crate) failures: Vec<Failure>,
    /// What the policy was read from; `None` when it could not be read.
    rules: Option<RuleTexts>,
    /// What the session began with, once that is known.
    pub(crate) beginning: Option<Beginning>,
    /// The same, when it is to be written into the next record.
    pub(crate) begun: Option<Box<Beginning>>,
    /// When the call may have begun, where its agent does not wait for an answer.
    pub(crate) early_start: Option<EarlyStart>,
    /// The settings that are looser now than at the beginning, and do not count.
    pub(crate) waiting: Vec<&'static str>,
    /// The call that just ended, when its records are gone.
    pub(crate) unrecorded: Option<Unrecorded>,
    /// The snapshot that was taken for the call that just ended, when it is gone.
    pub(crate) snapshot_gone: Option<u64>,
    /// What the model reads of outputs at most: of what no client runs everything.
    readable: ToolOutput,
}

impl Context {
    /// Reads configuration and installations for the workspace that holds `cwd`. What cannot be read becomes a failure that every
    /// later answer takes into account.
    pub fn open(environment: HostEnvironment, cwd: &AbsolutePath) -> Self {
        Self::of_session(environment, cwd, None)
    }

    /// The same for a call of a session.
    pub fn of_session(environment: HostEnvironment, cwd: &AbsolutePath, session: Option<&SessionId>) -> Self {
        // A directory that is entered through a link is the same directory.
        let real = if *cwd == environment.cwd { cwd.clone() } else { real_path(cwd) };
        Self::settled(environment, find_workspace(&real), session)
    }

    /// The same with the workspace given.
    pub fn in_workspace(environment: HostEnvironment, workspace: AbsolutePath) -> Self {
        Self::settled(environment, workspace, None)
    }

    fn settled(environment: HostEnvironment, workspace: AbsolutePath, session: Option<&SessionId>) -> Self {
        let settled = places::settle(environment, &workspace, session);
        let mut environment = settled.environment;
        let complaint = match settled.ground {
            Ground::Found => Failure::Configuration,
            Ground::Missing => Failure::Resources,
        };
        let mut failures: Vec<Failure> = settled.complaints.into_iter().map(complaint).collect();
        let installations = Installations::load(&environment).unwrap_or_else(|error| {
            failures.push(Failure::Configuration(error.to_string()));
            Installations::default()
        });
        let loaded = policy(&environment, &workspace)
            .map_err(|error| Failure::Configuration(error.in_short().to_owned()));
        let (policy, rules) = match loaded {
            Ok((policy, rules)) => (policy, Some(rules)),
            Err(failure) => {
                failures.push(failure);
                (standing(&environment, &workspace), None)
            }
        };
        let agent =
            AgentName { client: environment.client.client.name().to_owned(), workspace: workspace.clone() };
        let tier = tiers::given(&environment, &agent).unwrap_or_else(|error| {
            failures.push(Failure::Configuration(error.to_string()));
            None
        });
        let tier = tier.map(|given| given.tier);
        let policy = tiers::tightened(policy, tier);
        if rules.is_some() {
            let config = policy.config();
            environment.snapshot_sealing = Some(session_ledger::snapshot_sealing(&config.snapshots));
            environment.state = environment.state.with_sealing(session_ledger::sealing(&config.audit));
        }
        let readable = session.map_or(ToolOutput::Shown, |_| environment.client.tool_output);
        Self {
            environment,
            workspace,
            installations,
            policy,
            tier,
            failures,
            rules,
            beginning: None,
            begun: None,
            early_start: None,
            waiting: Vec::new(),
            unrecorded: None,
            snapshot_gone: None,
            readable,
        }
    }

    /// The same guard as it oversees another agent than one of its client: a tier that a person gave that one holds.
    #[must_use]
    pub(crate) fn overseeing(mut self, client: &str) -> Self {
        let agent = AgentName { client: client.to_owned(), workspace: self.workspace.clone() };
        match tiers::given(&self.environment, &agent) {
            Ok(given) => {
                self.tier = self.tier.max(given.map(|given| given.tier));
                self.keep_tier();
            }
            Err(error) => self.failures.push(Failure::Configuration(error.to_string())),
        }
        self
    }

    /// The same guard where it knows what this call touches, with the sections of the configuration that hold there; `None` where no
    /// section is limited to paths.
    #[must_use]
    pub(crate) fn at(&self, action: &Action) -> Option<Self> {
        let rules = self.rules.as_ref().filter(|rules| rules.may_speak_of_paths())?;
        let prediction = predict_with(action, &self.world(History::default()), self.policy.catalogue());
        let (mut touched, mut extent) = (Vec::new(), TargetKnowledge::Known);
        for effect in &prediction.effects {
            match location(&effect.target) {
                Some(path) => {
                    let is_one = matches!(effect.target, Target::Path(_)) && effect.depth == Depth::Single;
                    touched.push((path, if is_one { Depth::Single } else { Depth::Recursive }));
                }
                None if effect.kind.aim() == Aim::Files || effect.kind == EffectKind::Opaque => {
                    extent = TargetKnowledge::Open;
                }
                None => {}
            }
        }
        if touched.is_empty() || extent == TargetKnowledge::Open {
            touched.push((real_path(&action.cwd), Depth::Single));
        }
        let mut environment = self.environment.clone();
        environment.standpoint = Arc::new(Standpoint {
            touched,
            extent,
            workspace: Some(self.workspace.clone()),
            ..(*environment.standpoint).clone()
        });
        let mut failures = self.failures.clone();
        let loaded =
            config_files::trusted(&environment).and_then(|trusted| rules.config(&environment, &trusted));
        let config = loaded.unwrap_or_else(|error| {
            failures.push(Failure::Configuration(error.in_short().to_owned()));
            self.policy.config().clone()
        });
        Some(Self {
            policy: tiers::tightened(
                Policy::new(config).with_catalogue(self.policy.catalogue().clone()),
                self.tier,
            ),
            tier: self.tier,
            environment,
            failures,
            workspace: self.workspace.clone(),
            installations: self.installations.clone(),
            rules: self.rules.clone(),
            beginning: self.beginning.clone(),
            begun: self.begun.clone(),
            early_start: self.early_start,
            waiting: self.waiting.clone(),
            unrecorded: self.unrecorded.clone(),
            snapshot_gone: self.snapshot_gone,
            readable: self.readable,
        })
    }

    /// Has the tier that a person gave the agent hold again, where the policy was read anew.
    pub(crate) fn keep_tier(&mut self) {
        self.policy = tiers::tightened(std::mem::take(&mut self.policy), self.tier);
    }

    /// The same guard with another policy, to compare the two.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// What was found around.
    pub fn environment(&self) -> &HostEnvironment {
        &self.environment
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The version of the policy that holds where this call touches something.
    pub fn policy_version(&self, action: &Action) -> PolicyVersion {
        self.at(action).as_ref().unwrap_or(self).policy.version()
    }

    /// Where hooks were registered.
    pub fn installations(&self) -> &Installations {
        &self.installations
    }

    /// The same, to be added to.
    pub(crate) fn installations_mut(&mut self) -> &mut Installations {
        &mut self.installations
    }

    /// What the policy was read from; `None` when it could not be read.
    pub(crate) fn rules(&self) -> Option<&RuleTexts> {
        self.rules.as_ref()
    }

    /// The root of the workspace.
    pub fn workspace(&self) -> &AbsolutePath {
        &self.workspace
    }

    /// What went wrong while opening.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The work tree that is looked at and saved as a whole; `None` where that is a home directory or one that everybody writes to.
    pub(crate) fn work_tree(&self) -> Option<AbsolutePath> {
        let workspace = real_path(&self.workspace);
        let holds = |place: &AbsolutePath| real_path(place).is_within(&workspace);
        let is_crowded = holds(&self.environment.home) || self.environment.temporary().iter().any(holds);
        (!is_crowded).then_some(workspace)
    }

    /// The real world as it is now, with this history.
    pub fn world(&self, history: History) -> RealWorld {
        self.world_at(history, self.environment.now())
    }

    /// The same at another time, for what is played again.
    pub fn world_at(&self, history: History, now: Timestamp) -> RealWorld {
        let environment = &self.environment;
        let mut history = history;
        let expected = [".cache"].iter().chain(environment.client.places.expected);
        let expected = expected.map(|folder| environment.home.join(folder)).collect();
        let is_used = !self.installations.0.is_empty();
        let found = environment.clone();
        let start = move |program: &str, directory: &AbsolutePath| {
            if is_used { guarded_start(&found, program, directory) } else { GuardedStart::Unknown }
        };
        history.goals.splice(0..0, self.policy.config().goals.iter().cloned());
        RealWorld::new(checkrein_world::WorldInputs {
            home: environment.home.clone(),
            user: environment.user.clone(),
            workspace: self.workspace.clone(),
            temporary: environment.temporary(),
            guarded: self.guarded(),
            expected,
            variables: environment.variables.clone(),
            history,
            now,
            confiner,
            masker,
            tool_output: self.tool_output(),
        })
        .with_typing(self.environment.client.typing)
        .with_run_by_client(run_by_client::facts(self.environment.client))
        .with_guarded_starts(start)
        .with_owned_remotes(self.policy.config().owned.remotes.clone())
    }

    /// What the model reads of what a tool answers: masks in place of secrets, where the client allows it and the user has not switched
    /// that off.
    pub(crate) fn tool_output(&self) -> ToolOutput {
        let config = self.policy.config();
        match config.mode {
            Mode::Enforce if config.output.mask_secrets => self.readable,
            Mode::Enforce | Mode::Observe => ToolOutput::Shown,
        }
    }

    /// Everything of the guard that the agent must not change, blueprints of the project included.
    pub(crate) fn guarded(&self) -> Vec<GuardedPath> {
        let mut guarded = installation::guarded(&self.environment, &self.workspace, &self.installations);
        for entry in &self.policy.config().governance.blueprints {
            let path = self.workspace.join(config_files::blueprint_entry(entry).0);
            guarded.push(GuardedPath { path, role: "a blueprint of this project".to_owned() });
        }
        let more = |path: AbsolutePath, role: &str| GuardedPath { path, role: role.to_owned() };
        let files = self.rules.iter().flat_map(RuleTexts::project_files);
        guarded.extend(files.map(|path| more(path, "the policy of a project around this one")));
        if let Some(beginning) = &self.beginning {
            guarded.extend(beginning.places.iter().map(|path| more(path.clone(), "a place of checkrein")));
            if beginning.workspace != self.workspace {
                let began = &beginning.workspace;
                guarded.push(more(
                    config_files::project_file(began),
                    "the policy of the project where the session began",
                ));
                guarded.extend(installation::client_settings(&self.environment, began));
            }
        }
        let mut seen = BTreeSet::new();
        guarded.retain(|one| seen.insert(one.path.clone()));
        guarded
    }

    /// Writes down what has no verdict. A record that cannot be written cannot be reported through the ledger either, so it goes to
    /// the client's log, and the next action that needs the ledger is stopped by the table.
    pub(crate) fn record(&self, ledger: &SessionLedger, body: RecordBody) {
        let _told = self.record_or_tell(ledger, body);
    }

    /// The same, and what the agent is told where it cannot be written, since nobody may read the client's log.
    pub(crate) fn record_or_tell(&self, ledger: &SessionLedger, body: RecordBody) -> Option<String> {
        let error = ledger.append(self.environment.now(), body, Durability::Plain).err()?;
        let said = format!("not recorded: {error}");
        session_ledger::diagnose(&self.environment, self.policy.config(), LogLevel::Error, &said);
        self.environment.diagnostics.add(said);
        let failure = Failure::Record(error.to_string());
        Some(format!(
            "checkrein cannot record this session: {error}. Until it can, a call that changes something is asked about or refused; tell the user: {}.",
            failure.hint()
        ))
    }
}

/// The policy that configuration and described commands make.
fn policy(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Result<(Policy, RuleTexts), CommandError> {
    let rules = RuleTexts::read(environment, workspace)?;
    let config = rules.config(environment, &config_files::trusted(environment)?)?;
    Ok((Policy::new(config).with_catalogue(rules.catalogue()?), rules))
}

/// What is left of a call of which the records are gone.
#[derive(Debug, Clone)]
pub(crate) struct Unrecorded {
    /// Not later than it began.
    pub(crate) since: Timestamp,
    /// What was seen after it.
    pub(crate) seen: Option<VerificationRecord>,
}
