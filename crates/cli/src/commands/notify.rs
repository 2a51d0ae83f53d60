//! `checkrein notice send`: sends the notices that wait. The hook starts it and does not wait for it.
//!
//! Addresses and passwords go to `curl` through its standard input, so that no list of processes shows them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_ledger::{Durability, FolderName};
use checkrein_policy::{Config, Notifications};
use checkrein_protocol::RecordBody;
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;
use serde_json::json;

use super::{ExitStatus, OutputForm, Switch};
use crate::api;
use crate::credentials::Credentials;
use crate::secure_deletion;
use crate::terminal::{log, print};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::notification::{Notice, folder, with_link};

/// How long one way may take (ours).
const PATIENCE: Duration = Duration::from_secs(20);

/// How many notices are sent at most; more than that at once is a flood (ours).
const MOST: usize = 20;

/// Sends everything that waits; with `test` also a notice about itself.
pub fn notify(
    environment: &HostEnvironment,
    test: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut notices = take(environment);
    if test == Switch::On {
        notices.push(Notice {
            event: "test".to_owned(),
            session: String::new(),
            workspace: checkrein_world::find_workspace(&environment.cwd),
            at: environment.now(),
            title: "checkrein: a test".to_owned(),
            text: "If you read this, checkrein can reach you.".to_owned(),
            question: None,
        });
    }
    let mut exit = ExitStatus::Done;
    for notice in notices {
        let config = config_files::load(environment, &notice.workspace)?.config;
        let notice = &with_link(environment, &config, notice);
        if notice.event == "test" && config.interventions.emergency_stop.notification_channels.is_empty() {
            return Err(CommandError::user(
                "no channel is set, so nobody was told",
                "set `interventions.emergency_stop.notification_channels`, such as `[desktop]`",
            ));
        }
        let mut told = Vec::new();
        for channel in &config.interventions.emergency_stop.notification_channels {
            let sent = tell(environment, &config, channel, notice);
            match &sent {
                Ok(()) => told.push(channel.clone()),
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
                print(&api::line(&api::installation::NoticeSent {
                    channel: channel.clone(),
                    sent: sent.is_ok(),
                    why: sent.err(),
                })?);
            } else if sent.is_ok() {
                print(&format!("{channel}: sent"));
            }
        }
        if !told.is_empty() {
            let fields = json!({ "event": notice.event, "channels": told });
            record(environment, notice, RecordBody::Event { name: "checkrein.notified".to_owned(), fields });
        }
    }
    Ok(exit)
}

/// Takes the notices that wait, oldest first. Each belongs to whoever removes its file.
fn take(environment: &HostEnvironment) -> Vec<Notice> {
    let folder = folder(environment);
    let mut paths: Vec<_> =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|one| one.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let mut notices = Vec::new();
    for path in paths {
        let text = checkrein_files::read_text(&path, checkrein_files::SMALL);
        if secure_deletion::remove_file(&path).is_ok()
            && let Some(notice) = text.ok().and_then(|text| serde_json::from_str(&text).ok())
        {
            notices.push(notice);
        }
    }
    notices.truncate(MOST);
    notices
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
        other => {
            Err(format!("there is no channel `{other}`; there are desktop, command, webhook, slack, email"))
        }
    }
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
fn setting(name: &str, value: &str) -> String {
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
            Ok(None) => thread::sleep(Duration::from_millis(20)),
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
        Some(Ok(secret)) => Ok(secret.reveal().to_owned()),
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
