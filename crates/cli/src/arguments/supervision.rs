//! The command line of what runs programs: `exec`, `run`, `route`, and the credentials that an agent gets.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::commands::exec::{self, HeldProgram, InheritedEnvironment, ScopeStrictness};
#[cfg(target_os = "linux")]
use crate::commands::{acp, route, run};
use crate::credentials::{CredentialName, RunCredential};
use checkrein_clients::Prices;
use checkrein_sandbox::{Bytes, Period};
#[cfg(target_os = "linux")]
use checkrein_supervise::Phase;
use clap::{Args, Subcommand};

use super::nouns::NumberArguments;
use super::words::{HoldName, PhaseName, PresetName, RunProfile, RunnerName};
use super::worktrees::KeepingArguments;

#[derive(Debug, Args)]
pub(crate) struct ExecArguments {
    /// File or folder the command may change, with its contents
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// File or folder it may read, and nothing else but system folders
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// `none`, `loopback`, `open`, or hosts it may connect to, HOST:PORT
    #[arg(long, value_name = "WHO", value_delimiter = ',')]
    net: Vec<String>,
    /// Memory limit of all its processes together, such as 512M
    #[arg(long, value_name = "AMOUNT")]
    memory: Option<Bytes>,
    /// CPU time limit of each process, such as 60s
    #[arg(long, value_name = "TIME")]
    cpu: Option<Period>,
    /// Timeout, such as 5m
    #[arg(long, value_name = "TIME")]
    time: Option<Period>,
    /// Maximum number of processes, and 16 times as many threads [default: 512]
    #[arg(long, value_name = "COUNT")]
    processes: Option<u32>,
    /// Maximum size of each file it writes, such as 1G
    #[arg(long, value_name = "AMOUNT")]
    file_size: Option<Bytes>,
    /// Pass on basic variables only: no keys, no tokens
    #[arg(long)]
    clean_environment: bool,
    /// Run nothing unless this machine enforces all of it
    #[arg(long)]
    require: bool,
    /// Leave our own state to the hooks of an agent; given by `run`
    #[arg(long, hide = true)]
    around_agent: bool,
    /// Command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct AcpArguments {
    /// Run the agent in a sandbox, as `exec` does
    #[arg(long)]
    contain: bool,
    /// File or folder the agent may change [default: working directory]
    #[arg(long, value_name = "PATH", requires = "contain")]
    write: Vec<PathBuf>,
    /// `none`, `loopback`, `open`, or hosts it may connect to, HOST:PORT
    #[arg(long, value_name = "WHO", value_delimiter = ',', requires = "contain")]
    net: Vec<String>,
    /// Agent and its arguments
    #[arg(last = true, required = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Maximum cost in US dollars; 0 is no limit, as for all limits
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    budget: Option<f64>,
    /// Price of all models, in dollars per million tokens; see below
    #[arg(long, value_name = "PRICES", value_parser = price)]
    price: Option<String>,
    /// Maximum number of tokens
    #[arg(long, value_name = "COUNT")]
    tokens: Option<u64>,
    /// Maximum number of answers of the model
    #[arg(long, value_name = "COUNT")]
    max_iterations: Option<u64>,
    /// Maximum duration, such as 30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Maximum memory of all its processes together, such as 4G
    #[arg(long, value_name = "AMOUNT", value_parser = memory)]
    memory: Option<Bytes>,
    /// Maximum number of processes and threads [default: 8192]
    #[arg(long, value_name = "COUNT")]
    processes: Option<u32>,
    /// Maximum time without output, such as 10m; 12m when unattended
    #[arg(long, value_name = "TIME", value_parser = time)]
    idle_time: Option<Duration>,
    /// Set of limits; see below [default: that of the configuration]
    #[arg(long, value_enum)]
    profile: Option<RunProfile>,
    /// Numbers for the limits that nothing else sets; see below
    #[arg(long, value_enum)]
    limits: Option<PresetName>,
    /// Pipeline of the agent: a section of `safety.pipelines`
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Step of the pipeline: a section of its `steps`
    #[arg(long, value_name = "NAME", requires = "pipeline")]
    step: Option<String>,
    /// What the file of the pipeline sets for the step
    #[arg(long, value_name = "FILE", hide = true, requires = "pipeline")]
    step_settings: Option<PathBuf>,
    /// Retry up to this many times after a transient failure
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    retries: u32,
    /// Start even if the provider is known to fail
    #[arg(long)]
    ignore_breaker: bool,
    /// What ends the agent if all of checkrein is killed; see below
    #[arg(long, value_enum)]
    hold: Option<HoldName>,
    /// Pass on basic variables and these only
    #[arg(long, value_name = "NAMES", num_args = 0.., value_delimiter = ',')]
    clean_environment: Option<Vec<OsString>>,
    /// Hold the agent in a sandbox: it may change this only; see below
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Hold it in a sandbox: it may read this only, and system folders
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// Hold it in a sandbox: `none`, `loopback`, `open`, or HOST:PORT
    #[arg(long, value_name = "WHO", value_delimiter = ',')]
    net: Vec<String>,
    /// Give the agent alone a kept credential; further names are used when the provider refuses
    #[arg(long = "credential", value_name = "NAME[,NAME]=VARIABLE", value_parser = credential)]
    credentials: Vec<RunCredential>,
    #[command(flatten)]
    keeping: KeepingArguments,
    /// Agent and its arguments
    #[arg(last = true, required_unless_present = "resume", value_name = "AGENT")]
    agent: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RouteArguments {
    /// Test runner
    #[arg(long)]
    runner: RunnerName,
    /// Expected result: failure before the code exists (red), or success
    #[arg(long, value_enum, default_value_t = PhaseName::Green)]
    phase: PhaseName,
    /// Timeout, such as 10m
    #[arg(long, value_name = "TIME")]
    time: Option<Period>,
    /// File with the last result [default: one per command and folder]
    #[arg(long, value_name = "FILE")]
    remember: Option<String>,
    /// Command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[cfg(target_os = "linux")]
impl From<AcpArguments> for acp::AcpOptions {
    fn from(wanted: AcpArguments) -> Self {
        let AcpArguments { contain, write, net, agent } = wanted;
        let containment = if contain {
            acp::AgentConfinement::Exec { write, network: net }
        } else {
            acp::AgentConfinement::None
        };
        Self { containment, agent }
    }
}

#[cfg(target_os = "linux")]
impl From<RouteArguments> for route::RouteOptions {
    fn from(wanted: RouteArguments) -> Self {
        Self {
            runner: wanted.runner.into(),
            phase: match wanted.phase {
                PhaseName::Red => Phase::Red,
                PhaseName::Green => Phase::Green,
            },
            time: wanted.time.map(|period| period.0),
            remember: wanted.remember,
            command: wanted.command,
        }
    }
}

/// A credential, with the names of its values, and the variable that it goes into.
fn credential(text: &str) -> Result<RunCredential, String> {
    let (names, variable) = text.split_once('=').ok_or("write NAME=VARIABLE")?;
    let is_variable = !variable.is_empty()
        && variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !variable.starts_with(|c: char| c.is_ascii_digit());
    if !is_variable {
        return Err(format!("`{variable}` is not a variable name"));
    }
    if changes_programs(variable) {
        return Err(format!("`{variable}` changes which programs run or how, so it holds no credential"));
    }
    Ok(RunCredential { names: RunCredential::names(names)?, variable: variable.into() })
}

/// A sum of money.
fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.parse::<f64>().ok().filter(|dollars| dollars.is_finite() && *dollars >= 0.0);
    dollars.ok_or_else(|| "write dollars, such as 2 or 0.50; 0 is no limit".to_owned())
}

/// Time; 0 is no limit.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    if is_zero(text) {
        return Ok(Duration::ZERO);
    }
    text.parse::<Period>().map(|period| period.0).map_err(|error| error.to_string())
}

/// Memory; 0 is no limit.
fn memory(text: &str) -> Result<Bytes, String> {
    if is_zero(text) {
        return Ok(Bytes(0));
    }
    match text.parse::<Bytes>() {
        Ok(bytes) if bytes < Bytes::LEAST_MEMORY => Err(format!(
            "less than {} lets no program start; write the unit too, such as 512M",
            Bytes::LEAST_MEMORY
        )),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

fn is_zero(text: &str) -> bool {
    text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()) == "0"
}

/// A price for every model.
fn price(text: &str) -> Result<String, String> {
    Prices::default()
        .for_all_models(text)
        .map(|_| text.to_owned())
        .map_err(|_| "write two to four numbers with commas, such as 5,25 or 5,25,6.25,0.5".to_owned())
}

/// Whether a variable changes which programs, libraries or start-up files are used (ld.so(8), bash(1), python(1), node(1), perlrun(1),
/// ruby(1), java(1), git(1)), or what checkrein itself does.
fn changes_programs(variable: &str) -> bool {
    const BEGINNINGS: [&str; 8] =
        ["LD_", "DYLD_", "PYTHON", "BASH_", "GIT_CONFIG", "CHECKREIN_", "SAFETY_", "XDG_"];
    const NAMES: [&str; 46] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "PWD",
        "TMPDIR",
        "IFS",
        "ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "CDPATH",
        "GLOBIGNORE",
        "ZDOTDIR",
        "FPATH",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PERL5LIB",
        "PERL5OPT",
        "PERL5DB",
        "PERLLIB",
        "RUBYOPT",
        "RUBYLIB",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "LUA_INIT",
        "LUA_PATH",
        "LUA_CPATH",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "BROWSER",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_EXTERNAL_DIFF",
    ];
    BEGINNINGS.iter().any(|beginning| variable.starts_with(beginning)) || NAMES.contains(&variable)
}

#[cfg(target_os = "linux")]
impl From<RunArguments> for run::RunOptions {
    fn from(wanted: RunArguments) -> Self {
        Self {
            budget: wanted.budget,
            tokens: wanted.tokens,
            iterations: wanted.max_iterations,
            time: wanted.time,
            memory: wanted.memory,
            processes: wanted.processes,
            profile: wanted.profile.map(Into::into),
            preset: wanted.limits.map(Into::into),
            price: wanted.price,
            pipeline: wanted.pipeline,
            step: wanted.step,
            settings: None,
            settings_file: wanted.step_settings,
            idle: wanted.idle_time,
            retries: wanted.retries,
            ignore_breaker: wanted.ignore_breaker.into(),
            hold: match wanted.hold {
                None => run::KillGuarantee::Profile,
                Some(HoldName::Processes) => run::KillGuarantee::Processes,
                Some(HoldName::Namespace) => run::KillGuarantee::Namespace,
            },
            keeps: wanted.clean_environment,
            scope: run::AgentBounds::of(wanted.write, wanted.read, wanted.net),
            credentials: wanted.credentials,
            agent: wanted.agent,
            keeping: wanted.keeping.into(),
        }
    }
}

#[cfg(target_os = "linux")]
impl From<ExecArguments> for exec::ExecOptions {
    fn from(wanted: ExecArguments) -> Self {
        Self {
            write: wanted.write,
            read: wanted.read,
            network: wanted.net,
            memory: wanted.memory,
            processor: wanted.cpu.map(|period| period.0),
            time: wanted.time.map(|period| period.0),
            processes: wanted.processes,
            file_size: wanted.file_size,
            environment: if wanted.clean_environment {
                InheritedEnvironment::Plain
            } else {
                InheritedEnvironment::Whole
            },
            enforcement: if wanted.require { ScopeStrictness::Whole } else { ScopeStrictness::Possible },
            held: if wanted.around_agent { HeldProgram::Agent } else { HeldProgram::Command },
            command: wanted.command,
        }
    }
}

/// The records of runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// List the runs and how they ended
    #[command(
        after_help = "The newest run comes last. A stopped or interrupted run continues with `checkrein run --resume RUN`.\n\nExamples:\n  checkrein run list\n  checkrein run list --json"
    )]
    List(NumberArguments),
    /// Show one run: limits, consumption, end
    #[command(after_help = "Example:\n  checkrein run show 20261121")]
    Show {
        /// Start of the name of the run, or LAST
        run: String,
    },
    /// Check that the archived runs are unchanged
    #[command(
        after_help = "Exit status: 0 intact, 1 changed or damaged.\n\nExample:\n  checkrein run verify"
    )]
    Verify,
}

/// What to do with credentials.
#[derive(Debug, Subcommand)]
pub(crate) enum CredentialCommand {
    /// Read a credential from standard input and keep it
    #[command(
        after_help = "Does not show it. Keeps it in the keyring, through `secret-tool` (libsecret). Without that, or without a session bus, it keeps it in a file of mode 600 in ~/.config/checkrein/credentials, and refuses the file if others can read it.\n\nExamples:\n  checkrein credential set anthropic\n  checkrein credential set anthropic < key.txt"
    )]
    Set {
        /// Name of the credential
        name: CredentialName,
    },
    /// Print a credential
    #[command(after_help = "Example:\n  checkrein credential get anthropic")]
    Get {
        /// Name of the credential
        name: CredentialName,
    },
    /// List the names of the credentials, and their places
    #[command(after_help = "Example:\n  checkrein credential list")]
    List,
    /// Delete a credential; a file is overwritten first
    #[command(
        after_help = "Exit status: 0 deleted, 1 not found.\n\nExample:\n  checkrein credential delete anthropic"
    )]
    Delete {
        /// Name of the credential
        name: CredentialName,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_goes_into_a_variable_that_changes_no_program() {
        let several = credential("one,two=KEY").map(|one| one.listed());
        assert_eq!(several.as_deref(), Ok("one,two"));
        assert!(credential("one,one=KEY").is_err() && credential("one,=KEY").is_err());
        for name in
            ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PATH2"]
        {
            assert!(credential(&format!("x={name}")).is_ok(), "{name}");
        }
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PATH",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "BASH_ENV",
            "GIT_SSH_COMMAND",
            "CHECKREIN_HOME",
            "CHECKREIN_RUN",
            "HOME",
            "1X",
            "A B",
            "",
        ] {
            assert!(credential(&format!("x={name}")).is_err(), "{name}");
        }
    }

    #[test]
    fn zero_is_no_limit_of_a_run_in_every_unit() {
        assert_eq!(
            (time("0"), time("0s"), memory("0"), memory("0M")),
            (Ok(Duration::ZERO), Ok(Duration::ZERO), Ok(Bytes(0)), Ok(Bytes(0)))
        );
        assert!(time("x").is_err() && time("-1s").is_err() && memory("0.5x").is_err());
    }
}
