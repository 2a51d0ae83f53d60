//! `checkrein doctor`: proves that the protection works, by feeding the registered hook command exactly as the client does.

mod allowed;
mod answering;
mod plugin;
mod plugins_of_user;
mod probe;
mod shown;
mod team_policy;
mod unprotected;
mod unregistered;
use checkrein_clients::{
    ClientAdapter, ClientPath, FIRST, HookCommand, Registration, ServerWay, SettingsScope, Source, Unanswered,
};
use checkrein_ledger::lines;
use checkrein_policy::{Config, ContainedCommands, Mode};
use checkrein_protocol::AbsolutePath;
use checkrein_protocol::{RecordBody, Timestamp};
use checkrein_sandbox::NOT_HELD;
use checkrein_world::find_workspace;

use self::probe::probe_all;
use super::config::loosened_in_a_line;
use super::halt::halt_of_all;
use super::init::{self, read, settings_file};
use super::{ExitStatus, OutputForm, Switch, mcp_servers, status_line};
use crate::api;
use crate::api::installation::{self, FindingHealth};
use crate::terminal::{Health, counted, plain, plain_name, print_exact};
use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration;
use checkrein_engine::context::Context;
use checkrein_engine::environment::{HostEnvironment, confinement_gaps};
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::FALLEN_HINT;
use checkrein_engine::run_by_client;

/// How often the hook is run for the latency figure.
const RUNS: usize = 20;

/// How much is shown of what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosisDetail {
    /// Problems in full; of several clients else a line each.
    Summary,
    /// Everything.
    Whole,
}

/// Whether agents are named that are on this machine and have no hooks of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherAgents {
    /// Those whose program is found on `PATH`.
    Named,
    /// None: the user asked about certain agents.
    LeftOut,
}

impl OtherAgents {
    /// Returns what holds where the user named these agents, or none.
    pub fn beside(name: Option<&str>) -> Self {
        if name.is_some() { Self::LeftOut } else { Self::Named }
    }
}

#[derive(Debug)]
struct Finding {
    check: String,
    health: Health,
    detail: String,
    hint: Option<String>,
    /// What is open on every machine.
    not_held: Vec<&'static str>,
    /// The client that it is about, where it is about one.
    client: Option<&'static ClientAdapter>,
}

/// The findings for programs.
fn diagnosis(findings: Vec<Finding>, result: Protection) -> installation::Diagnosis {
    let one = |finding: Finding| installation::DiagnosisEntry {
        check: finding.check,
        health: match finding.health {
            Health::Well => FindingHealth::Well,
            Health::Noted => FindingHealth::Noted,
            Health::Doubtful => FindingHealth::Doubtful,
            Health::Broken => FindingHealth::Broken,
        },
        detail: finding.detail,
        hint: finding.hint,
        not_held: finding.not_held,
    };
    installation::Diagnosis { result: result.name(), findings: findings.into_iter().map(one).collect() }
}

/// What all findings amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    Whole,
    WithRemarks,
    /// The hook refuses as the documentation of the client asks for; nobody saw the client obey.
    Untested,
    NotEnforced,
    None,
}

impl Protection {
    fn of(findings: &[Finding], mode: Mode, clients: &[&'static ClientAdapter]) -> Self {
        let are_untested = clients.iter().all(|client| is_untested(client));
        let worst = findings.iter().map(|finding| finding.health).max().unwrap_or(Health::Broken);
        match (worst, mode) {
            (Health::Broken, _) => Self::None,
            (Health::Well | Health::Noted | Health::Doubtful, Mode::Observe) => Self::NotEnforced,
            (Health::Well | Health::Noted | Health::Doubtful, Mode::Enforce) if are_untested => {
                Self::Untested
            }
            (Health::Well | Health::Noted, Mode::Enforce) => Self::Whole,
            (Health::Doubtful, Mode::Enforce) => Self::WithRemarks,
        }
    }

    /// For programs.
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "protected",
            Self::WithRemarks => "protected_with_remarks",
            Self::Untested => "registered_not_tested",
            Self::NotEnforced => "not_enforced",
            Self::None => "not_protected",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Whole => "protected",
            Self::WithRemarks => "protected, with remarks",
            Self::Untested => "registered, not tested with the real client",
            Self::NotEnforced => "NOT enforced: the mode is observe",
            Self::None => "NOT protected",
        }
    }
}

/// The clients that are to be examined: the one that is named, all that are found here, or without a name those with hooks of ours.
pub fn clients(
    environment: &HostEnvironment,
    name: Option<&str>,
) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    if let Some(name) = name {
        return init::clients(environment, name);
    }
    let found = init::holding(environment);
    Ok(if found.is_empty() { vec![FIRST] } else { found })
}

/// Examines the installation of clients in this project; fails when it does not protect. `all` lists what no machine holds, too.
pub fn doctor(
    environment: HostEnvironment,
    clients: &[&'static ClientAdapter],
    others: OtherAgents,
    all: Switch,
    detail: DiagnosisDetail,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut findings = Vec::new();
    let mut unprotected: Vec<&'static str> = Vec::new();
    let settings: Vec<ClientSettings> = clients
        .iter()
        .map(|client| {
            let before = findings.len();
            let settings = settings_findings(&environment, client, &mut findings);
            belong_to(client, &mut findings, before);
            note_broken(client, findings.get(before..), &mut unprotected);
            settings
        })
        .collect();
    let state = environment.state.clone();
    let context = Context::open(environment, &crate_cwd()?);
    for failure in context.failures() {
        findings.push(finding(
            "configuration",
            Health::Broken,
            failure.to_string(),
            Some(failure.hint_for_user()),
        ));
    }
    let mode = context.policy().config().mode;
    // A rule that cannot be evaluated asks about each call that it may concern, so it is no small thing.
    let unproved = context.failures().is_empty().then(|| {
        let environment = context.environment();
        config_files::load_proved(environment, &find_workspace(&environment.cwd)).err()
    });
    if let Some(Some(error)) = &unproved {
        findings.push(finding("configuration", Health::Broken, error.message.clone(), error.hint.as_deref()));
    }
    if let Some(None) = unproved {
        let mode = context.policy().config().mode.word();
        let health = if mode == "observe" { Health::Doubtful } else { Health::Well };
        findings.push(finding(
            "configuration",
            health,
            format!("mode {mode}"),
            (mode == "observe").then_some("observe records and stops nothing"),
        ));
    }
    match confirmed_configuration::loosened(context.environment()) {
        Ok(None) => {}
        Ok(Some(found)) => {
            let hint = Some(confirmed_configuration::HINT);
            let detail = loosened_in_a_line(context.environment(), &found);
            findings.push(finding("configuration", Health::Doubtful, detail, hint));
        }
        Err(error) => {
            findings.push(finding("configuration", Health::Doubtful, error.message, error.hint.as_deref()));
        }
    }
    findings.extend(team_policy::findings(context.environment()));
    state_finding(&state, &mut findings);
    findings.extend(unreviewed_finding(&state, context.environment().now()));
    if let Some(reason) = halt_of_all(&state) {
        let detail = format!("all sessions are halted, so every call is refused: {}", plain(&reason));
        let hint = Some("`checkrein resume --all` lets them continue");
        findings.push(finding("halt", Health::Doubtful, detail, hint));
    }
    findings.extend(allowed::findings(context.environment()));
    findings.extend(plugins_of_user::findings(context.environment(), context.policy().config()));
    findings.push(containment_finding(context.policy().config(), all));
    for client in clients {
        let before = findings.len();
        findings.extend(status_line_finding(&context, client));
        belong_to(client, &mut findings, before);
    }
    for settings in &settings {
        let before = findings.len();
        probe_all(&context, settings, RUNS, &mut findings);
        belong_to(settings.client, &mut findings, before);
        note_broken(settings.client, findings.get(before..), &mut unprotected);
        findings.extend(settings.client.open.iter().map(|open| Finding {
            check: "client".to_owned(),
            health: Health::Noted,
            detail: format!("{}: {open}", settings.client.title),
            hint: None,
            not_held: Vec::new(),
            client: Some(settings.client),
        }));
    }
    for settings in &settings {
        let (before, client) = (findings.len(), settings.client);
        findings.extend(server_findings(context.environment(), settings));
        findings.extend(answering::findings(context.environment(), client));
        belong_to(client, &mut findings, before);
    }
    match others {
        OtherAgents::Named => findings.extend(unregistered::findings(context.environment(), clients)),
        OtherAgents::LeftOut => {}
    }
    for fallen in context.installations().fallen() {
        let detail = fallen.to_string();
        findings.push(finding("projects", Health::Doubtful, detail, Some(FALLEN_HINT)));
    }
    if all == Switch::On {
        for project in unprotected::unprotected(context.environment()) {
            let detail = format!("sessions in `{}` are not reviewed", plain(project.as_str()));
            let hint =
                Some("`checkrein init` there registers the hooks, `checkrein init --user` in every project");
            findings.push(finding("projects", Health::Doubtful, detail, hint));
        }
    }
    let result = Protection::of(&findings, mode, clients);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&diagnosis(findings, result))?),
        OutputForm::Text => shown::Shown {
            environment: context.environment(),
            clients,
            findings: &findings,
            result,
            unprotected: &unprotected,
            mode,
            all,
        }
        .print(detail),
    }
    Ok(if result == Protection::None { ExitStatus::Failed } else { ExitStatus::Done })
}

/// Whether all that is known of a client comes from its documentation.
pub(super) fn is_untested(client: &ClientAdapter) -> bool {
    client.conduct.source == Source::Documented
}

/// Says of the findings from `first` on which client they are about.
fn belong_to(client: &'static ClientAdapter, findings: &mut [Finding], first: usize) {
    findings.iter_mut().skip(first).for_each(|finding| finding.client = Some(client));
}

/// Notes a client of which something is broken.
fn note_broken(client: &ClientAdapter, found: Option<&[Finding]>, unprotected: &mut Vec<&'static str>) {
    let is_broken = found.into_iter().flatten().any(|finding| finding.health == Health::Broken);
    if is_broken && !unprotected.contains(&client.title) {
        unprotected.push(client.title);
    }
}

/// Whether calls in this project are reviewed and refused; what is wrong when they are not.
pub(super) fn protection(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
) -> Result<(), CommandError> {
    let mut findings = Vec::new();
    let settings = settings_findings(environment, client, &mut findings);
    let context = Context::open(environment.clone(), &environment.cwd);
    for failure in context.failures() {
        findings.push(finding(
            "configuration",
            Health::Broken,
            failure.to_string(),
            Some(failure.hint_for_user()),
        ));
    }
    probe_all(&context, &settings, 1, &mut findings);
    // How fast the hook is is no matter of protection.
    findings.retain(|finding| finding.check != "latency");
    match findings.into_iter().max_by_key(|finding| finding.health) {
        Some(worst) if worst.health != Health::Well => Err(CommandError::user(
            format!("the calls of the agent would not be reviewed: {}", worst.detail),
            worst
                .hint
                .as_deref()
                .unwrap_or("`checkrein init` registers the hooks, `checkrein doctor` proves them"),
        )),
        _ => Ok(()),
    }
}

/// Whether hooks that review each call are registered here, as far as the settings tell.
pub(super) fn has_hooks(environment: &HostEnvironment, client: &'static ClientAdapter) -> bool {
    let mut findings = Vec::new();
    let settings = settings_findings(environment, client, &mut findings);
    !settings.commands.is_empty() && findings.iter().all(|finding| finding.health != Health::Broken)
}

fn crate_cwd() -> Result<AbsolutePath, CommandError> {
    Ok(HostEnvironment::of_process()?.cwd)
}

/// What a client would read here.
struct ClientSettings {
    client: &'static ClientAdapter,
    /// The command lines that it would run before each call.
    commands: Vec<String>,
    /// The variables that it would set for them, later ones before earlier ones.
    variables: Vec<(String, String)>,
    /// The settings files that cannot be read.
    unreadable: Vec<AbsolutePath>,
}

/// Looks at every settings file that takes part; one that the client cannot read silences all hooks in it.
fn settings_findings(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    findings: &mut Vec<Finding>,
) -> ClientSettings {
    let mut found =
        ClientSettings { client, commands: Vec::new(), variables: Vec::new(), unreadable: Vec::new() };
    let again = format!("run `{}`", init::init_for(client));
    let again = Some(again.as_str());
    for (scope, _) in client.places.settings {
        let Some(path) = settings_file(environment, client, *scope) else { continue };
        let first = findings.len();
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) => {
                found.unreadable.push(path.clone());
                findings.push(finding("settings", Health::Broken, error.message, error.hint.as_deref()));
                continue;
            }
        };
        match client.hooks.registration(&text) {
            Err(error) => {
                // Hooks may be in it: what is to be registered shows once it can be read.
                found.unreadable.push(path.clone());
                findings.push(broken(format!("{path}: {error}"), Some(error.remedy())));
            }
            Ok(Registration::Absent) if text.contains("checkrein-hook") => {
                let detail =
                    format!("{path}: hooks of checkrein that were changed; the client does not obey them");
                findings.push(broken(detail, again));
            }
            Ok(Registration::Absent) => {}
            Ok(Registration::Partial { missing, .. }) => {
                let detail =
                    format!("{path}: {} events are not registered: {}", missing.len(), missing.join(", "));
                let vital = missing.contains(&client.hooks.reviewing);
                let health = if vital { Health::Broken } else { Health::Doubtful };
                findings.push(finding("settings", health, detail, again));
            }
            Ok(Registration::Complete { unanswered: Unanswered::Passes, .. }) => {
                let detail =
                    format!("{path}: all events registered, but calls pass when the hook cannot run");
                findings.push(finding("settings", Health::Doubtful, detail, again));
            }
            Ok(Registration::Complete { unanswered: Unanswered::Refused, commands }) => {
                let wanted = init::waits(environment);
                let is_short = |command: &HookCommand| {
                    client.hooks.waiting(command.clone(), wanted).waits() > command.waits()
                };
                if commands.iter().any(is_short) {
                    let detail = format!(
                        "{path}: a call waits {} s at most for your answer, and `approvals.wait_seconds` is {wanted}",
                        commands.iter().find_map(HookCommand::waits).or(client.hooks.patience()).unwrap_or(0)
                    );
                    findings.push(finding("settings", Health::Doubtful, detail, again));
                } else {
                    let detail = format!("{path}: all events registered");
                    findings.push(finding("settings", Health::Well, detail, None));
                }
            }
        }
        let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(key) = (client.hooks.switched_off)(&settings) {
            let hint = format!("remove `{key}` from it");
            findings.push(broken(format!("{path}: all hooks are switched off"), Some(&hint)));
        }
        if let Some(why) = client.hooks.dropped(&settings) {
            let detail = format!(
                "{path}: {} passes over this whole file without a word, hooks and permissions alike: {why}",
                client.title
            );
            findings.push(broken(
                detail,
                Some("correct or remove that entry, then run `checkrein doctor` again"),
            ));
        }
        let set = (client.hooks.variables)(&text);
        let leads = |name: &str| *scope != SettingsScope::User && (client.hooks.leads_guard)(name);
        if let Some((name, _)) = set.iter().find(|(name, _)| leads(name)) {
            let detail =
                format!("{path}: it sets `{name}`, which decides where the hooks look, or whether they run");
            findings.push(broken(detail, Some("take it out of `env`")));
        }
        found.variables.extend(set);
        let ours = client.hooks.reviewing_command(&text);
        if let (Some(trust), Some(_)) = (&client.trust, &ours)
            && let Some(why) = (trust.doubt)(&path, &text, &trust_of(environment, client, trust.file))
        {
            findings
                .push(broken(format!("{path}: {} passes it over: {why}", client.title), client.next_step));
        } else if let (Some(trust), Some(_)) = (&client.trust, &ours) {
            findings.extend(stale_trust(environment, client, &path, trust.file));
        }
        // One file is well or it is not.
        if findings.iter().skip(first).any(|found| matches!(found.health, Health::Broken | Health::Doubtful))
        {
            let mut place = 0;
            findings.retain(|found| {
                place += 1;
                place <= first || found.health != Health::Well
            });
        }
        found.commands.extend(ours);
    }
    for place in client.places.switches {
        let path = place.at(&find_workspace(&environment.cwd), &environment.folder_of(client));
        let settings: serde_json::Value =
            serde_json::from_str(&read(&path).unwrap_or_default()).unwrap_or_default();
        if let Some(key) = (client.hooks.switched_off)(&settings) {
            let hint = format!("remove `{key}` from it");
            findings.push(broken(format!("{path}: all hooks are switched off"), Some(&hint)));
        }
    }
    if let Some(detail) = run_by_client::found(client, &find_workspace(&environment.cwd)) {
        let hint = "look at what it names, and take the key out";
        findings.push(finding("settings", Health::Doubtful, detail, Some(hint)));
    }
    if let Some((path, text)) = plugin::hooks(environment, client) {
        let is_whole = matches!(
            client.hooks.registration(&text),
            Ok(Registration::Complete { unanswered: Unanswered::Refused, .. })
        );
        findings.push(if is_whole {
            finding("settings", Health::Well, format!("{path}: all events registered, by the plugin"), None)
        } else {
            let detail = format!("{path}: the plugin does not register every event");
            finding("settings", Health::Doubtful, detail, Some("update the plugin"))
        });
        found.commands.extend(client.hooks.reviewing_command(&text).filter(|_| is_whole));
    }
    found.commands.sort();
    found.commands.dedup();
    if found.commands.is_empty() && found.unreadable.is_empty() {
        let init = init::init_for(client);
        let hint = match client.places.own_scope() {
            SettingsScope::User => format!("run `{init}`"),
            SettingsScope::Local | SettingsScope::Team => {
                format!("run `{init}` in the project, or `{init} --user`")
            }
        };
        let detail = "no hook is registered here".to_owned();
        findings.push(finding("settings", Health::Broken, detail, Some(&hint)));
    }
    if found.commands.len() > 1 {
        let detail = format!("{} different hooks review each call", found.commands.len());
        let hint = Some("keep one: `checkrein uninstall`, with `--user`, `--team` or `--local`");
        findings.push(finding("settings", Health::Doubtful, detail, hint));
    }
    found
}

/// Which MCP servers of a client its calls reach directly. A file with hooks of which is said already that it cannot be read is passed over.
fn server_findings(environment: &HostEnvironment, settings: &ClientSettings) -> Vec<Finding> {
    let client = settings.client;
    let again = format!("run `{} --mcp`", init::init_for(client));
    let of_file = |file: mcp_servers::ServerList| match file.servers {
        Err(_) if settings.unreadable.contains(&file.path) => None,
        Err(error) => {
            let detail = format!("{}: {error}", file.path);
            Some(finding("mcp servers", Health::Doubtful, detail, Some(error.remedy())))
        }
        Ok(servers) => {
            let names = |wanted: &[ServerWay]| -> Vec<String> {
                let found = servers.iter().filter(|server| wanted.contains(&server.way));
                found.map(|server| plain(&server.name)).collect()
            };
            let (direct, gateway) = (names(&[ServerWay::Direct]), names(&[ServerWay::Gateway]));
            if direct.is_empty() {
                let detail = format!("{}: behind checkrein: {}", file.path, gateway.join(", "));
                return (!gateway.is_empty()).then(|| finding("mcp servers", Health::Well, detail, None));
            }
            let detail = format!(
                "{}: not behind checkrein, so what they return is not masked and their descriptions may change: {}",
                file.path,
                direct.join(", ")
            );
            Some(finding("mcp servers", Health::Doubtful, detail, Some(&again)))
        }
    };
    mcp_servers::lists(environment, client).into_iter().filter_map(of_file).collect()
}

/// Whether our status line can be shown, where the settings name it.
fn status_line_finding(context: &Context, client: &ClientAdapter) -> Option<Finding> {
    let (path, program) = status_line::ours(context.environment(), client)?;
    Some(if program.iter().any(init::is_executable) {
        finding("status line", Health::Well, format!("{path}: registered"), None)
    } else {
        let detail = format!("{path}: the program that prints it is not there");
        let hint = "run `checkrein init --statusline`";
        finding("status line", Health::Doubtful, detail, Some(hint))
    })
}

/// What a user has agreed to for a client, as it is written down; empty where it cannot be read.
fn trust_of(environment: &HostEnvironment, client: &ClientAdapter, place: ClientPath) -> String {
    let path = place.at(&find_workspace(&environment.cwd), &environment.folder_of(client));
    read(&path).unwrap_or_default()
}

/// A doubt where the hooks were written after the user agreed to them: the client holds the hash of the definition that they saw, and passes
/// over a hook that has another one. Only the client knows the hash, so the times tell.
fn stale_trust(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    hooks: &AbsolutePath,
    trusted: ClientPath,
) -> Option<Finding> {
    let trusted = trusted.at(&find_workspace(&environment.cwd), &environment.folder_of(client));
    let written = |path: &AbsolutePath| std::fs::metadata(path.as_str()).ok()?.modified().ok();
    if written(hooks)? <= written(&trusted)? {
        return None;
    }
    let detail = format!(
        "{hooks}: written after {trusted}, which holds the hash of the hook that you trusted: if its definition changed, {} passes it over \
         without a word",
        client.title
    );
    Some(finding("settings", Health::Doubtful, detail, client.next_step))
}

/// Whether commands can run within bounds here, and what these leave open; not a fault where nobody wants that.
fn containment_finding(config: &Config, all: Switch) -> Finding {
    let commands = config.contained_commands();
    let gaps = confinement_gaps();
    let detail = |held: &str| {
        format!(
            "{held}; {} stay open on every machine{}; `containment.commands` is {}",
            counted(NOT_HELD.len() as u64, "known gap"),
            if all == Switch::On { "" } else { " (`checkrein doctor --all` lists them)" },
            commands.word()
        )
    };
    let not_held = NOT_HELD.iter().map(|open| open.brief).collect();
    if gaps.is_empty() {
        let held = detail("the kernel holds all bounds");
        return Finding { not_held, ..finding("containment", Health::Well, held, None) };
    }
    let health = if commands == ContainedCommands::Off { Health::Well } else { Health::Doubtful };
    let held = detail(&format!("the kernel does not hold: {}", gaps.join("; ")));
    let hint = Some("nothing is rewritten to run contained here; such calls are judged as they are");
    Finding { not_held, ..finding("containment", health, held, hint) }
}

fn state_finding(state: &checkrein_ledger::StateDirectory, findings: &mut Vec<Finding>) {
    let verified = checkrein_ledger::verify_all(state);
    match verified {
        Err(error) => {
            findings.push(finding("records", Health::Broken, error.to_string(), Some(error.hint())));
        }
        Ok(all) => {
            let broken = all.problems.len()
                + all.sessions.values().map(|session| session.problems.len()).sum::<usize>();
            let records: u64 = all.sessions.values().map(|session| session.records).sum();
            let detail = {
                let sessions = counted(all.sessions.len() as u64, "session");
                let problems = counted(broken as u64, "problem");
                format!("{} in {sessions}, {problems}", counted(records, "record"))
            };
            let gone = all.missing.len();
            let detail = match gone {
                0 => detail,
                _ => format!("records were lost: {} gone; {detail}", counted(gone as u64, "session")),
            };
            let hint = (broken + gone > 0).then_some("run `checkrein audit verify`");
            let health = match (broken, gone) {
                (0, 0) => Health::Well,
                (_, 0) => Health::Doubtful,
                _ => Health::Broken,
            };
            findings.push(finding("records", health, detail, hint));
        }
    }
}

/// How long a call that ran without review is a remark, in milliseconds (ours): a week.
const REMEMBERED: u64 = 7 * 24 * 60 * 60 * 1_000;

/// The calls of the last days that ran although no review had let them run; `None` when there are none.
fn unreviewed_finding(state: &checkrein_ledger::StateDirectory, now: Timestamp) -> Option<Finding> {
    let since = now.0.saturating_sub(REMEMBERED);
    let mut calls = Vec::new();
    for folder in state.folders().ok()? {
        let Ok(lines) = lines(&state.ledger(&folder)) else { continue };
        let told = lines.holding(r#""type":"unreviewed""#).filter_map(|line| line.ok()?.record);
        calls.extend(told.filter(|record| record.at.0 >= since).filter_map(|record| match record.body {
            RecordBody::Unreviewed(call) => Some((record.at, call)),
            _ => None,
        }));
    }
    let (_, newest) = calls.iter().max_by_key(|(at, _)| *at)?;
    let detail = format!(
        "{} of the last 7 days ran although no review had let them run, the newest: {}",
        counted(calls.len() as u64, "call"),
        plain_name(&newest.call)
    );
    let hint = format!(
        "run `checkrein show {}`: something may have ended the hooks",
        plain_name(newest.action_id.as_str())
    );
    Some(finding("review", Health::Doubtful, detail, Some(&hint)))
}

fn finding(check: &str, health: Health, detail: String, hint: Option<&str>) -> Finding {
    Finding {
        check: check.to_owned(),
        health,
        detail,
        hint: hint.map(str::to_owned),
        not_held: Vec::new(),
        client: None,
    }
}

fn broken(detail: String, hint: Option<&str>) -> Finding {
    finding("settings", Health::Broken, detail, hint)
}
