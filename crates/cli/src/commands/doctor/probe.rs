//! Feeds canaries to the registered hooks, as the client would.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checkrein_clients::{Answering, CANARY_SESSION, HookOutput};
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_facts::hook_line::NO_ANSWER;
use checkrein_ledger::Testimony;
use checkrein_policy::Mode;

use super::{ClientSettings, Finding, finding};
use crate::terminal::Health;

/// How long one run of the hook may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(15);

/// Tries every hook command as the client would run it.
pub(super) fn probe_all(
    context: &Context,
    settings: &ClientSettings,
    runs: usize,
    findings: &mut Vec<Finding>,
) {
    for command in &settings.commands {
        probe(context, settings, command, runs, findings);
    }
}

/// A canary in a session and with a name of its own, so that none is refused for what the others did.
fn fresh(payload: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(payload);
    text.replace(CANARY_SESSION, &format!("{CANARY_SESSION}-{number}")).into_bytes()
}

/// Feeds the canary to the hook command through a shell, with the variables that the client sets, and measures it.
fn probe(
    context: &Context,
    settings: &ClientSettings,
    command: &str,
    runs: usize,
    findings: &mut Vec<Finding>,
) {
    let ClientSettings { client, variables, .. } = settings;
    let name = client.hooks.parse(command).map_or(command.to_owned(), |(known, _)| known.to_string());
    let home = match ThrownAway::beside(context.environment()) {
        Ok(home) => home,
        Err(error) => {
            let path = &context.environment().state_path;
            findings.push(finding(
                "canary",
                Health::Broken,
                format!("`{path}` cannot be written: {error}"),
                None,
            ));
            return;
        }
    };
    let mut times = Vec::with_capacity(runs);
    for number in 0..runs {
        let payload = fresh(&client.canary.payload(context.workspace()), number);
        let started = Instant::now();
        match run_hook(command, client.hooks.answering, variables, &home, &payload) {
            Err(HookFault::Missing) => {
                let hint = Some("install checkrein for this account; until then no tool of the agent runs");
                let detail = format!("`{name}`: no program answers there, so every tool call is refused");
                findings.push(finding("canary", Health::Broken, detail, hint));
                return;
            }
            Err(HookFault::Failed(cause)) => {
                let hint = Some(
                    "run `checkrein init` again; the client lets calls run when its hook cannot be started",
                );
                findings.push(finding("canary", Health::Broken, format!("`{name}`: {cause}"), hint));
                return;
            }
            Ok(output) if !client.canary.is_denied(&output) => {
                let observing = context.policy().config().mode == Mode::Observe;
                let detail = format!("`{name}` let `rm -rf ~` pass");
                let (health, hint) = if observing {
                    (Health::Doubtful, "the mode is observe: nothing is stopped")
                } else {
                    (Health::Broken, "run `checkrein check 'rm -rf ~'` to see why")
                };
                findings.push(finding("canary", health, detail, Some(hint)));
                return;
            }
            Ok(_) => times.push(started.elapsed()),
        }
    }
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    // Where it is looked for stands with the registration; here counts that it answered.
    let answered = client.hooks.parse(command).and_then(|(known, _)| known.program().map(str::to_owned));
    let by = answered.map_or_else(|| "the registered hook".to_owned(), |program| format!("`{program}`"));
    let detail = format!("`rm -rf ~` is denied by {by}");
    findings.push(finding("canary", Health::Well, detail, None));
    let health = if median > Duration::from_millis(100) { Health::Doubtful } else { Health::Well };
    let detail = format!(
        "{:.1} ms for one call, a durable record included (median of {runs})",
        median.as_secs_f64() * 1000.0
    );
    findings.push(finding("latency", health, detail, None));
}

/// A state directory for canaries, with what the user trusts and confirmed and nothing else: no halt, no history, no run. What is kept of it outside goes
/// with it.
struct ThrownAway {
    state: PathBuf,
    outside: Option<PathBuf>,
}

/// The files of the state directory with what the user agreed to: a canary is judged by the same rules as a call.
const AGREED: [&str; 2] = ["configuration.json", "trusted.json"];

impl ThrownAway {
    fn beside(environment: &HostEnvironment) -> io::Result<Self> {
        let around = environment.state.root();
        let state = around.join(format!("canary-{}", std::process::id()));
        let testimony = environment.state.testimony().and_then(|testimony| testimony.folder().parent());
        let outside = testimony.map(|folder| Testimony::new(folder, &state).folder().to_owned());
        let home = Self { state, outside };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&home.state)?;
        for name in AGREED {
            match fs::copy(around.join(name), home.state.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(home)
    }
}

impl Drop for ThrownAway {
    fn drop(&mut self) {
        // What stays is of no session, and the next one of this name takes its place.
        drop(fs::remove_dir_all(&self.state));
        if let Some(outside) = &self.outside {
            drop(fs::remove_dir_all(outside));
        }
    }
}

/// Why a hook gave no answer.
enum HookFault {
    /// What is registered found no program that answers, and refuses in its place.
    Missing,
    /// Anything else.
    Failed(String),
}

fn run_hook(
    command: &str,
    answering: Answering,
    variables: &[(String, String)],
    home: &ThrownAway,
    payload: &[u8],
) -> Result<HookOutput, HookFault> {
    let failed = |error: io::Error| HookFault::Failed(error.to_string());
    let mut child = Command::new("sh")
        .args(["-c", command])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("CHECKREIN_HOME", &home.state)
        .env_remove("CHECKREIN_RUN")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A hook that does not read is seen by what it answers.
        drop(input.write_all(payload));
    }
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if started.elapsed() > PATIENCE => {
                drop(child.kill());
                return Err(HookFault::Failed(format!("gave no answer in {} s", PATIENCE.as_secs())));
            }
            Ok(None) => std::thread::sleep(Duration::from_micros(200)),
            Err(error) => return Err(failed(error)),
        }
    }
    let output = child.wait_with_output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains(NO_ANSWER) {
        return Err(HookFault::Missing);
    }
    let is_refusal = answering == Answering::Status && output.status.code() == Some(HookOutput::REFUSED);
    if !output.status.success() && !is_refusal {
        return Err(HookFault::Failed(format!("ended with {}", output.status)));
    }
    Ok(HookOutput { object: output.stdout, refusal: (!output.status.success()).then_some(said) })
}
