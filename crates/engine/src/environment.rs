//! The one place that reads the environment.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use checkrein_clients::ClientAdapter;
use checkrein_ledger::StateDirectory;
use checkrein_policy::{PipelineStep, SaidBy, Standpoint};
use checkrein_protocol::{AbsolutePath, Client, Timestamp};

use checkrein_sandbox::{Kernel, Network, Scope};
use checkrein_supervise::runs::{HookLimits, RUN_VARIABLE, StepSettings};
use checkrein_vault::{KeyFolder, Sealing, Vault};

use crate::approvals::Patience;
use crate::beside::SharedProcesses;
use crate::clock::{Clock, SystemClock};
use crate::diagnostics::Diagnostics;
use crate::error::CommandError;
use crate::gate_process::{GateProcess, GateRunner};
use crate::notifier::{Notifier, NotifyingProcess};
use crate::parsed_configurations::ParsedConfigurations;
use crate::plugins::{PluginProcess, PluginStarter};
use crate::processes;

/// What a process finds around itself.
#[derive(Debug, Clone)]
pub struct HostEnvironment {
    /// The home directory of the user.
    pub home: AbsolutePath,
    /// Their login name, when known.
    pub user: Option<String>,
    /// The working directory of this process.
    pub cwd: AbsolutePath,
    /// Where state is kept: `$CHECKREIN_HOME`, else `$XDG_STATE_HOME/checkrein`, else `~/.local/state/checkrein`.
    pub state: StateDirectory,
    /// Whether snapshots that are taken are sealed; `None` where no configuration was read yet.
    pub snapshot_sealing: Option<Sealing>,
    /// The state directory as a guarded path.
    pub state_path: AbsolutePath,
    /// Where the user's configuration is: `$XDG_CONFIG_HOME/checkrein`, else `~/.config/checkrein`.
    pub configuration: AbsolutePath,
    /// This program, when known.
    pub program: Option<PathBuf>,
    /// The process that asks: what stands above it is looked at. This one, unless it works for a hook that stays outside.
    pub process: i32,
    /// The limits of the run above, in the place of those of the configuration; `None` when there is no run that proves itself.
    pub run_limits: Option<Arc<HookLimits>>,
    /// What the file of a pipeline sets for the step that the work belongs to.
    pub step_settings: Option<Arc<StepSettings>>,
    /// Which pipeline the work belongs to, and what a call touches, as far as that is known.
    pub standpoint: Arc<Standpoint>,
    /// The environment variables with names and values of plain text; shared, since there may be many.
    pub variables: Arc<BTreeMap<String, String>>,
    /// The client that calls; the first of the table where none does.
    pub client: &'static ClientAdapter,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who tells people.
    pub notifier: Arc<dyn Notifier>,
    /// What has plugins look at a session.
    pub plugins: Arc<dyn PluginStarter>,
    /// What runs gates at the end of a turn.
    pub gates: Arc<dyn GateRunner>,
    /// How long a question may wait for an answer from outside the client; `None` where it may not.
    pub patience: Option<Arc<Patience>>,
    /// Configurations that were read already, where this process stays.
    pub parsed: Option<Arc<ParsedConfigurations>>,
    /// Where what does not work is collected.
    pub diagnostics: Diagnostics,
}

/// The program that runs commands within bounds, by its name.
const CONFINER: &str = "checkrein";

/// The variable that names those in which a run gave credentials to its agent.
pub const CREDENTIALS: &str = "CHECKREIN_CREDENTIALS";

/// The variables that name the pipeline and the step that an agent works in.
const PIPELINE: &str = "CHECKREIN_PIPELINE";
const STEP: &str = "CHECKREIN_STEP";

/// The configuration directory of the machine, set by its administrator.
pub const MANAGED: &str = "/etc/checkrein";

impl HostEnvironment {
    /// Looks around. Fails when no home directory or working directory can be found.
    pub fn of_process() -> Result<Self, CommandError> {
        let variables: BTreeMap<String, String> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let cwd =
            env::current_dir().ok().and_then(|path| AbsolutePath::new(path.to_str()?)).ok_or_else(|| {
                CommandError::user(
                    "the working directory is gone or has no plain name",
                    "change to another directory",
                )
            })?;
        Self::of(Arc::new(variables), cwd)
    }

    /// What these variables say, for work in this directory.
    pub fn of(variables: Arc<BTreeMap<String, String>>, cwd: AbsolutePath) -> Result<Self, CommandError> {
        let directory = |name: &str| variables.get(name).and_then(|text| AbsolutePath::new(text));
        let login = directory("HOME").is_none().then(login_from_system).flatten();
        let home =
            directory("HOME").or_else(|| login.as_ref().map(|(_, home)| home.clone())).ok_or_else(|| {
                CommandError::user(
                    "no home directory: `HOME` is not set and the system knows none",
                    "set `HOME`",
                )
            })?;
        let state_path = directory("CHECKREIN_HOME").unwrap_or_else(|| {
            directory("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("checkrein")
        });
        let configuration =
            directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("checkrein");
        let user = variables
            .get("USER")
            .or_else(|| variables.get("LOGNAME"))
            .cloned()
            .or(login.map(|(name, _)| name));
        let run_limits = variables
            .get(RUN_VARIABLE)
            .and_then(|value| HookLimits::of_variable(state_path.as_str().as_ref(), value))
            .map(Arc::new);
        let standpoint = Standpoint {
            pipelines: pipelines(run_limits.as_deref(), &variables),
            home: Some(home.clone()),
            ..Standpoint::default()
        };
        Ok(Self {
            user,
            cwd,
            step_settings: run_limits.as_deref().and_then(|run| run.settings.clone()).map(Arc::new),
            run_limits,
            standpoint: Arc::new(standpoint),
            state: StateDirectory::new(state_path.as_str())
                .hiding(credentials(&variables))
                .testified_in(testimony_folder(&home).as_str().as_ref())
                .with_vault(Vault::new(keys(&configuration))),
            snapshot_sealing: None,
            home,
            state_path,
            configuration,
            program: env::current_exe().ok(),
            process: processes::own(),
            variables,
            client: checkrein_clients::FIRST,
            clock: Arc::new(SystemClock),
            notifier: Arc::new(NotifyingProcess::default()),
            plugins: Arc::new(PluginProcess::default()),
            gates: Arc::new(GateProcess),
            patience: None,
            parsed: None,
            diagnostics: Diagnostics::default(),
        })
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The same with somebody else who tells people.
    #[must_use]
    pub fn with_notifier(self, notifier: Arc<dyn Notifier>) -> Self {
        Self { notifier, ..self }
    }

    /// The same for a call that another process asks about: that of a hook, with its number and its program. What is started beside the call
    /// is started as that process would.
    #[must_use]
    pub fn asked_by(self, process: i32, program: PathBuf, started: &SharedProcesses) -> Self {
        let beside = started.with(Arc::clone(&self.variables), self.cwd.clone());
        Self {
            process,
            program: Some(program),
            notifier: Arc::new(NotifyingProcess::new(beside.clone())),
            plugins: Arc::new(PluginProcess::new(beside)),
            ..self
        }
    }

    /// The same in a process that stays, which keeps what it read here.
    #[must_use]
    pub fn keeping(self, parsed: Arc<ParsedConfigurations>) -> Self {
        Self { parsed: Some(parsed), ..self }
    }

    /// The same where questions may wait for an answer from outside the client.
    #[must_use]
    pub fn with_patience(self, patience: Arc<Patience>) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// The same for one call of a client, of which what does not work is collected by itself.
    pub(crate) fn for_a_call(&self, client: Client) -> Self {
        Self {
            client: checkrein_clients::adapter(client),
            diagnostics: Diagnostics::default(),
            ..self.clone()
        }
    }

    /// The folder of the client that calls.
    pub fn client_folder(&self) -> AbsolutePath {
        self.folder_of(self.client)
    }

    /// The folder of a client.
    pub fn folder_of(&self, client: &ClientAdapter) -> AbsolutePath {
        client.places.folder(&self.home, |name| self.variables.get(name))
    }

    /// The directory in which the client was started, when it says so.
    pub(crate) fn started_in(&self) -> Option<AbsolutePath> {
        AbsolutePath::new(self.variables.get(self.client.project_variable?)?)
    }

    /// The directories for temporary files.
    pub fn temporary(&self) -> Vec<AbsolutePath> {
        let mut found: Vec<AbsolutePath> =
            ["/tmp", "/var/tmp"].into_iter().filter_map(AbsolutePath::new).collect();
        let own = self.variables.get("TMPDIR").and_then(|text| AbsolutePath::new(text));
        found.extend(own.filter(|path| path.parent().is_some() && !self.home.is_within(path)));
        found
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether this process was started by an agent: the clients say so in the environment of their tools.
    pub fn is_inside_agent(&self) -> bool {
        checkrein_clients::marks().any(|name| self.variables.get(name).is_some_and(|value| !value.is_empty()))
    }
}

/// Where the keys of the records are: with the configuration, never in the state directory. Those of the keyring are in memory while the user is
/// logged in, where no variable moves them.
fn keys(configuration: &AbsolutePath) -> KeyFolder {
    let memory = format!("/run/user/{}/checkrein-keys", rustix::process::getuid().as_raw());
    KeyFolder::new(configuration.join("keys").as_str().into()).with_memory(memory.into())
}

/// Where it is kept of sessions that they were there, beside the state directory. No variable moves it: a project may set those.
pub(crate) fn testimony_folder(home: &AbsolutePath) -> AbsolutePath {
    home.join(".local/share/checkrein/testimony")
}

/// The program that runs a command within bounds: it stands beside this one. `None` when it does not, or when the kernel does not hold
/// all of what it would promise.
pub(crate) fn confiner() -> Option<AbsolutePath> {
    masker().filter(|_| confinement_gaps().is_empty())
}

/// The program that masks secrets in what is piped through it: the same. `None` when it does not stand there.
pub(crate) fn masker() -> Option<AbsolutePath> {
    let path = env::current_exe().ok()?.parent()?.join(CONFINER);
    path.is_file().then(|| path.to_str().and_then(AbsolutePath::new)).flatten()
}

/// What the kernel does not hold of the bounds that a contained command is promised, each in words; empty when it holds all.
pub fn confinement_gaps() -> Vec<String> {
    let kernel = Kernel::probe();
    // As `checkrein exec --require` takes it: inside another scope it is narrower.
    let scope = kernel.held(Scope { network: Network::Loopback, ..Scope::default() });
    kernel.open_gaps(&scope).iter().map(ToString::to_string).collect()
}

/// The credentials that this process was given by a run above it.
fn credentials(variables: &BTreeMap<String, String>) -> Vec<String> {
    let names = variables.get(CREDENTIALS).map(String::as_str).unwrap_or_default();
    names.split(',').filter_map(|name| variables.get(name).cloned()).collect()
}

/// The home directory of the user of this process, as the system's list has it; `None` when it has none.
pub(crate) fn home_from_system() -> Option<AbsolutePath> {
    login_from_system().map(|(_, home)| home)
}

/// Name and home directory of the user of this process from the system's list.
fn login_from_system() -> Option<(String, AbsolutePath)> {
    let number = rustix::process::getuid().as_raw().to_string();
    let list = checkrein_files::read_text("/etc/passwd", 16 * checkrein_files::SMALL).ok()?;
    list.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (name, user, home) = (fields.first()?, fields.get(2)?, fields.get(5)?);
        (*user == number).then(|| Some(((*name).to_owned(), AbsolutePath::new(home)?)))?
    })
}

/// The pipelines that the run above and the environment name.
fn pipelines(run: Option<&HookLimits>, variables: &BTreeMap<String, String>) -> Vec<PipelineStep> {
    let step = |pipeline: &Option<String>, step: &Option<String>, said_by| {
        Some(PipelineStep { pipeline: pipeline.clone()?, step: step.clone(), said_by })
    };
    let of_run = run.and_then(|run| step(&run.pipeline, &run.step, SaidBy::Run));
    let variable = |name: &str| variables.get(name).filter(|text| !text.is_empty()).cloned();
    let of_environment = step(&variable(PIPELINE), &variable(STEP), SaidBy::Environment);
    of_run.into_iter().chain(of_environment).collect()
}
