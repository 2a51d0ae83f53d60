//! `checkrein notice send`: sends the notices that wait. The hook starts it and does not wait for it.
//!
//! Who sends one holds the lock of its file, and removes the file once it is sent. Who is ended meanwhile leaves it to the next that comes by,
//! with the channels that were told already beside it. So who finds one that another holds waits for the end of that one: whoever is being
//! ended still holds what it will never send.
//!
//! Addresses and passwords go to `curl` through its standard input, so that no list of processes shows them.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_files::Forced;
use checkrein_ledger::{Durability, FolderName};
use checkrein_policy::{Config, Notifications};
use checkrein_protocol::RecordBody;
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;
use serde_json::json;

use super::{ExitStatus, OutputForm, Switch};
use crate::api;
use crate::authentications;
use crate::credentials::Credentials;
use crate::secure_deletion;
use crate::terminal::{log, print, print_exact};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::notification::{Notice, folder, opened, waiting, with_link};
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};

/// How long one way may take (ours).
const PATIENCE: Duration = Duration::from_secs(20);

/// How long it waits for others that hold a notice (ours): one that is being ended lets go at once, one that sends takes no longer as a rule.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(25);

/// How old a half-written file must be before its writer has been ended (ours).
const HALF_WRITTEN: Duration = Duration::from_mins(1);

/// How many notices one process sends at most (ours): each notice starts one.
const MOST: usize = 20;

/// How long a notice waits for somebody who sends it (ours).
const OUTDATED: u64 = 24 * 60 * 60 * 1000;

/// Sends everything that waits and that nobody else is sending; with `test` also a notice about itself.
pub fn notify(
    environment: &HostEnvironment,
    test: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut exit = ExitStatus::Done;
    let mut held_by_others = Vec::new();
    let mut sent = 0;
    for path in waiting(&folder(environment)) {
        if sent == MOST {
            break;
        }
        match HeldNotice::of(path.clone()) {
            Taken::Ours(held) => {
                sent += 1;
                if held.send_or_leave(environment, output) != ExitStatus::Done {
                    exit = ExitStatus::Failed;
                }
            }
            Taken::Others => held_by_others.push(path),
            Taken::Gone => {}
        }
    }
    let started = Instant::now();
    while !held_by_others.is_empty() && started.elapsed() < PATIENCE_WITH_OTHERS {
        thread::sleep(Duration::from_millis(50));
        held_by_others.retain(|path| match HeldNotice::of(path.clone()) {
            Taken::Ours(held) => {
                if held.send_or_leave(environment, output) != ExitStatus::Done {
                    exit = ExitStatus::Failed;
                }
                false
            }
            Taken::Others => true,
            Taken::Gone => false,
        });
    }
    clear_leavings(environment);
    if test == Switch::On {
        let notice = Notice {
            event: "test".to_owned(),
            session: String::new(),
            workspace: checkrein_world::find_workspace(&environment.cwd),
            at: environment.now(),
            title: "checkrein: a test".to_owned(),
            text: "If you read this, checkrein can reach you.".to_owned(),
            incident: None,
            question: None,
        };
        let config = config_files::load(environment, &notice.workspace)?.config;
        if config.interventions.emergency_stop.notification_channels.is_empty() {
            return Err(CommandError::user(
                "no channel is set, so nobody was told",
                "set `interventions.emergency_stop.notification_channels`, such as `[desktop]`",
            ));
        }
        if send(environment, &config, &notice, output, &mut Told::Nowhere)? != ExitStatus::Done {
            exit = ExitStatus::Failed;
        }
    }
    Ok(exit)
}

/// Sends a notice in every way that is set and was not gone already.
fn send(
    environment: &HostEnvironment,
    config: &Config,
    notice: &Notice,
    output: OutputForm,
    told: &mut Told,
) -> Result<ExitStatus, CommandError> {
    let mut exit = ExitStatus::Done;
    let mut channels = Vec::new();
    for channel in &config.interventions.emergency_stop.notification_channels {
        if told.holds(channel) {
            channels.push(channel.clone());
            continue;
        }
        let sent = tell(environment, config, channel, notice);
        match &sent {
            Ok(()) => {
                told.add(channel);
                channels.push(channel.clone());
            }
            Err(why) => {
                exit = ExitStatus::Failed;
                log(&format!("{channel}: {why}"));
                let detail = format!("{channel}: {why}");
                let failure = RecordBody::Failure {
                    stage: "notify".to_owned(),
                    kind: "not_sent".to_owned(),
                    detail,
                    verdict: VerdictKind::Ok,
                };
                record(environment, notice, failure);
            }
        }
        if output == OutputForm::Json {
            print_exact(&api::line(&api::installation::NoticeSent {
                channel: channel.clone(),
                sent: sent.is_ok(),
                why: sent.err(),
            })?);
        } else if sent.is_ok() {
            print(&format!("{channel}: sent"));
        }
    }
    if !channels.is_empty() {
        let mut fields = json!({ "event": notice.event, "channels": channels });
        if let Some(incident) = &notice.incident {
            fields["incident"] = json!(incident);
        }
        record(environment, notice, RecordBody::Event { name: "checkrein.notified".to_owned(), fields });
    }
    Ok(exit)
}

/// Which channels were told of a notice, so that who goes on after another tells none of them twice.
enum Told {
    /// Nobody goes on with it.
    Nowhere,
    /// Beside the notice, one a line.
    Beside { path: PathBuf, channels: Vec<String> },
}

impl Told {
    /// Those that were told of the notice in this file.
    fn of(path: &Path) -> Self {
        let path = path.with_extension("told");
        let text = checkrein_files::read_text(&path, checkrein_files::SMALL).unwrap_or_default();
        Self::Beside { path, channels: text.lines().map(str::to_owned).collect() }
    }

    fn holds(&self, channel: &str) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Beside { channels, .. } => channels.iter().any(|told| told == channel),
        }
    }

    fn add(&mut self, channel: &str) {
        let Self::Beside { path, channels } = self else { return };
        channels.push(channel.to_owned());
        let text = channels.join("\n");
        if let Err(error) = checkrein_files::replace(path, text.as_bytes(), 0o600, Forced::Nothing) {
            log(&format!("not written down that `{channel}` was told: {error}"));
        }
    }
}

/// A notice that this process sends, and no other one while it lives.
struct HeldNotice {
    path: PathBuf,
    notice: Option<Notice>,
    /// Its lock ends with it.
    _file: File,
}

/// What came of taking a notice.
enum Taken {
    /// This process sends it.
    Ours(Box<HeldNotice>),
    /// Another process holds it.
    Others,
    /// It was sent and is no longer there, or it cannot be opened.
    Gone,
}

impl HeldNotice {
    /// Takes the lock of a notice.
    fn of(path: PathBuf) -> Taken {
        let Ok(file) = checkrein_files::open_own(File::options().read(true), &path) else {
            return Taken::Gone;
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Taken::Others,
            Err(TryLockError::Error(_)) => return Taken::Gone,
        }
        // Who sent it meanwhile has removed it, and the lock is on a file that has no name any more.
        let (Ok(held), Ok(named)) = (file.metadata(), fs::symlink_metadata(&path)) else {
            return Taken::Gone;
        };
        if (held.dev(), held.ino()) != (named.dev(), named.ino()) {
            return Taken::Gone;
        }
        let text = checkrein_files::read_text(&path, checkrein_files::SMALL);
        let notice = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        Taken::Ours(Box::new(Self { path, notice, _file: file }))
    }

    /// Sends it; where its configuration cannot be read, it waits on until it can.
    fn send_or_leave(self, environment: &HostEnvironment, output: OutputForm) -> ExitStatus {
        self.send(environment, output).unwrap_or_else(|error| {
            log(&error.message);
            ExitStatus::Failed
        })
    }

    /// Sends it, and removes it.
    fn send(self, environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
        let now = environment.now();
        // A question that is over waits for nobody.
        let is_current = |notice: &Notice| {
            let end = notice.question.as_ref().map_or(u64::MAX, |question| question.expires_at.0);
            now.0 < end.min(notice.at.0.saturating_add(OUTDATED))
        };
        let mut told = Told::of(&self.path);
        let exit = match self.notice.clone().filter(is_current) {
            Some(notice) => {
                let notice = opened(environment, notice);
                let config = config_files::load(environment, &notice.workspace)?.config;
                let notice = with_link(environment, &config, notice);
                send(environment, &config, &notice, output, &mut told)?
            }
            None => ExitStatus::Done,
        };
        // What is on record now is not to be sent again.
        if let Err(error) = secure_deletion::remove_file(&self.path) {
            log(&format!("`{}` stays: {error}", self.path.display()));
        }
        if let Told::Beside { path, .. } = told {
            drop(fs::remove_file(path));
        }
        Ok(exit)
    }
}

/// Removes what senders and writers left that were ended: channels told of a notice that is gone, and half-written files.
fn clear_leavings(environment: &HostEnvironment) {
    for entry in fs::read_dir(folder(environment)).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_left = if path.extension().is_some_and(|end| end == "told") {
            !path.with_extension("json").exists()
        } else {
            let age = entry.metadata().and_then(|facts| facts.modified()).ok();
            let age = age.and_then(|written| written.elapsed().ok()).unwrap_or_default();
            entry.file_name().as_encoded_bytes().starts_with(b".") && age > HALF_WRITTEN
        };
        if is_left {
            drop(secure_deletion::remove_file(&path));
        }
    }
}

fn record(environment: &HostEnvironment, notice: &Notice, body: RecordBody) {
    let Some(folder) = FolderName::on_disk(notice.session.as_ref()) else { return };
    let ledger = SessionLedger::of_folder(&environment.state, folder);
    if let Err(error) = ledger.append(environment.now(), body, Durability::Plain) {
        log(&format!("not recorded: {error}"));
    }
}

/// Tells people in one way; why that failed.
fn tell(
    environment: &HostEnvironment,
    config: &Config,
    channel: &str,
    notice: &Notice,
) -> Result<(), String> {
    let settings = &config.notifications;
    let secret = |set: &Option<String>, name: &str| match set {
        Some(value) => Ok(value.clone()),
        None => secret(environment, name),
    };
    match channel {
        "desktop" => {
            let mut command = Command::new("notify-send");
            command.args(["--app-name=checkrein", "--urgency=critical", "--", &notice.title, &notice.text]);
            run(command, "")
        }
        "command" => {
            let text = settings.command.as_ref().ok_or("`notifications.command` is not set")?;
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            run(command, &json!(notice).to_string())
        }
        "webhook" => post(&secret(&settings.webhook, "webhook_url")?, &json!(notice).to_string()),
        "slack" => {
            let text = json!({ "text": format!("*{}*\n{}", notice.title, notice.text) });
            post(&secret(&settings.slack, "slack_url")?, &text.to_string())
        }
        "email" => mail(environment, settings, notice),
        other if other.starts_with(BY_PLUGIN) => by_plugin(environment, other, notice),
        other => Err(format!(
            "there is no channel `{other}`; there are desktop, command, webhook, slack, email, plugin:NAME"
        )),
    }
}

/// How a channel begins that a plugin of the user is.
const BY_PLUGIN: &str = "plugin:";

#[cfg(target_os = "linux")]
fn by_plugin(environment: &HostEnvironment, channel: &str, notice: &Notice) -> Result<(), String> {
    let name = channel.strip_prefix(BY_PLUGIN).unwrap_or(channel);
    super::plugin::tell_by(environment, name, json!(notice))
}

#[cfg(not(target_os = "linux"))]
fn by_plugin(_: &HostEnvironment, _: &str, _: &Notice) -> Result<(), String> {
    Err("plugins run on Linux only".to_owned())
}

fn post(url: &str, body: &str) -> Result<(), String> {
    let lines = [
        setting("url", url),
        setting("header", "Content-Type: application/json"),
        setting("data-raw", body),
        "fail".to_owned(),
    ];
    curl(&lines)
}

fn mail(environment: &HostEnvironment, settings: &Notifications, notice: &Notice) -> Result<(), String> {
    let need = |value: &Option<String>, key: &str| {
        value.clone().ok_or_else(|| format!("`notifications.{key}` is not set"))
    };
    let (server, from, to) = (
        need(&settings.smtp, "smtp")?,
        need(&settings.mail_from, "mail_from")?,
        need(&settings.mail_to, "mail_to")?,
    );
    // Nothing that comes from a session may begin a line of the head.
    let subject: String =
        notice.title.chars().filter(|letter| letter.is_ascii() && !letter.is_control()).collect();
    let text = format!(
        "From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{}\r\n",
        notice.text.replace('\n', "\r\n")
    );
    // A link in it answers a question for whoever reads it: where nothing contained sees it.
    let path = environment.state.root().join("server").join(format!(".mail-{}", std::process::id()));
    let written = config_files::write_private(
        &checkrein_protocol::AbsolutePath::new(&path.to_string_lossy())
            .ok_or("the state has no plain path")?,
        text.as_bytes(),
    );
    written.map_err(|error| error.message)?;
    let mut lines = vec![
        setting("url", &server),
        setting("mail-from", &from),
        setting("mail-rcpt", &to),
        setting("upload-file", &path.to_string_lossy()),
    ];
    if let Some(user) = &settings.smtp_user {
        lines.push(setting("user", &format!("{user}:{}", secret(environment, "smtp_password")?)));
        // A password only goes over a line that nobody reads along.
        lines.push("ssl-reqd".to_owned());
    }
    let sent = curl(&lines);
    drop(fs::remove_file(&path));
    sent
}

/// A line of the settings of `curl`.
pub(super) fn setting(name: &str, value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    for letter in value.chars() {
        match letter {
            '\\' | '"' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {}
            letter => quoted.push(letter),
        }
    }
    format!("{name} = \"{quoted}\"")
}

fn curl(lines: &[String]) -> Result<(), String> {
    let mut command = Command::new("curl");
    // `--disable` first: a `.curlrc` has no say here.
    command.args([
        "--disable",
        "--silent",
        "--show-error",
        "--max-time",
        "15",
        "--proto",
        "=http,https,smtp,smtps",
    ]);
    command.args(["--config", "-"]);
    run(command, &lines.join("\n"))
}

/// Runs a program with this on its standard input; why it failed, without what it was given.
fn run(mut command: Command, input: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // Who does not read it does not want it.
        drop(pipe.write_all(input.as_bytes()));
    }
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                let mut words = String::new();
                if let Some(pipe) = child.stderr.take() {
                    drop(std::io::Read::read_to_string(&mut std::io::Read::take(pipe, 2_000), &mut words));
                }
                return Err(format!("`{program}` ended with {status}: {}", words.trim()));
            }
            Ok(None) if started.elapsed() > PATIENCE => {
                drop(child.kill());
                drop(child.wait());
                return Err(format!("`{program}` took longer than {} s", PATIENCE.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_millis(2)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// A secret from `notify.secrets` of the configuration, which nobody else may read, else from the environment.
fn secret(environment: &HostEnvironment, name: &str) -> Result<String, String> {
    let path = environment.configuration.join("notify.secrets");
    if let Some(found) = secrets(Path::new(path.as_str()))?.remove(name) {
        return Ok(found);
    }
    let variable = format!("CHECKREIN_{}", name.to_uppercase());
    if let Some(found) = environment.variables.get(&variable) {
        return Ok(found.clone());
    }
    let credential = name.parse().ok().map(|name| Credentials::of(environment).get(&name));
    match credential {
        Some(Ok(secret)) => {
            authentications::record(
                environment,
                Authentication {
                    act: AuthenticationAct::CredentialUsed,
                    subject: name.to_owned(),
                    by: "notice".to_owned(),
                    from: authentications::place(),
                    result: AuthenticationResult::Taken,
                    detail: String::new(),
                },
            );
            Ok(secret.reveal().to_owned())
        }
        _ => Err(format!("`{name}` is neither in `{path}` nor in `{variable}`, nor a credential")),
    }
}

/// Lines `name=value`; empty when there is no such file.
fn secrets(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let Ok(facts) = fs::metadata(path) else { return Ok(BTreeMap::new()) };
    if facts.permissions().mode() & 0o077 != 0 {
        return Err(format!("others can read `{}`; `chmod 600` it", path.display()));
    }
    let text = checkrein_files::read_text(path, checkrein_files::SMALL).map_err(|error| error.to_string())?;
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Ok(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect())
}
