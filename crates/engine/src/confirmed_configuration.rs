//! The user's own configuration as they last confirmed it, so that one that was made looser behind their back is noticed.
//!
//! A process that a call left behind can write the configuration when no call runs any more, and then it looks like a change of the
//! user. Running sessions keep the rules they began with (`beginning.rs`). The next ones begin with what is there, so the start of the
//! next one says once that it changed and since when, and `doctor` says so until the user confirms it with `checkrein trust`. What is
//! stricter needs no word. What is found first is taken as confirmed.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;

use checkrein_clients::CANARY_SESSION;
use checkrein_policy::{Config, ConfigSource, FileHash, Layer, LayerKind, settings_of, strictest};
use checkrein_protocol::{AbsolutePath, HookEvent, HookEventKind, RecordBody, Timestamp};
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;
use serde::{Deserialize, Serialize};

use crate::config_files;
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::notification::{self, Notice};

/// What is kept in the state directory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Confirmed {
    /// The text that was confirmed; `None` where there was no file.
    text: Option<String>,
    /// The hash of a looser text of which the start of a session has told.
    told: Option<[u8; 32]>,
}

/// A configuration that lets pass more than the one that was confirmed.
#[derive(Debug)]
pub struct LoosenedConfiguration {
    /// The file.
    pub path: AbsolutePath,
    /// The settings that differ, by name; empty where the file cannot be used.
    pub settings: Vec<&'static str>,
    /// When the file changed last; `None` where it is gone.
    pub since: Option<Timestamp>,
}

impl LoosenedConfiguration {
    /// What happened, in words.
    pub fn in_words(&self) -> String {
        let since =
            self.since.map_or_else(String::new, |since| format!(" since {}", since.calendar().to_rfc3339()));
        let what =
            if self.settings.is_empty() { String::new() } else { format!(" ({})", self.settings.join(", ")) };
        format!("`{}` lets pass more{what}{since} than the user confirmed", self.path)
    }
}

/// What the user does about it.
pub const HINT: &str = "`checkrein trust` in a terminal confirms it; otherwise put the file back";

/// Whether the configuration is looser than the one that was confirmed; `None` where it is not, or nothing was confirmed yet.
pub fn loosened(environment: &HostEnvironment) -> Result<Option<LoosenedConfiguration>, CommandError> {
    let Some(confirmed) = stored(environment)? else { return Ok(None) };
    Ok(compared(environment, &confirmed, now(environment)?.as_deref()))
}

/// Takes the configuration of now as confirmed.
pub fn confirm(environment: &HostEnvironment) -> Result<(), CommandError> {
    store(environment, &Confirmed { text: now(environment)?, told: None })
}

/// At the start of a session: takes what is found first, and what is no looser, as confirmed; what is told of a looser one, once for
/// each text.
pub(crate) fn at_start(context: &Context, ledger: &SessionLedger, event: &HookEvent) -> Option<String> {
    if event.session.as_str() == CANARY_SESSION
        || !matches!(event.moment, HookEventKind::SessionStarted { .. })
    {
        return None;
    }
    looked(context, ledger).unwrap_or_else(|error| {
        let problem = format!("what was confirmed of the configuration is not known: {error}");
        context.environment().diagnostics.add(problem);
        None
    })
}

fn looked(context: &Context, ledger: &SessionLedger) -> Result<Option<String>, CommandError> {
    let environment = context.environment();
    let text = now(environment)?;
    let Some(mut confirmed) = stored(environment)? else {
        return store(environment, &Confirmed { text, told: None }).map(|()| None);
    };
    if confirmed.text == text {
        return Ok(None);
    }
    let Some(found) = compared(environment, &confirmed, text.as_deref()) else {
        return store(environment, &Confirmed { text, told: None }).map(|()| None);
    };
    let hash = FileHash::of(text.as_deref().unwrap_or_default()).0;
    if confirmed.told == Some(hash) {
        return Ok(None);
    }
    confirmed.told = Some(hash);
    store(environment, &confirmed)?;
    Ok(Some(tell(context, ledger, &found)))
}

/// Records it and tells people; returns what the agent is told.
pub(crate) fn tell(context: &Context, ledger: &SessionLedger, found: &LoosenedConfiguration) -> String {
    let text = found.in_words();
    tell_people(context, ledger, "checkrein: the configuration lets pass more than before", &text, HINT);
    format!(
        "checkrein: {text}. Leave it as it is, and tell the user: `checkrein trust` in a terminal confirms it, and if they did not change it, \
         they put the file back."
    )
}

/// Records that rules became looser behind the user's back, and tells people.
pub(crate) fn tell_people(context: &Context, ledger: &SessionLedger, title: &str, text: &str, hint: &str) {
    let body = RecordBody::Failure {
        stage: "settings".to_owned(),
        kind: "loosened".to_owned(),
        detail: text.to_owned(),
        verdict: VerdictKind::Nudge,
    };
    context.record(ledger, body);
    let notice = Notice {
        event: "protection_lost".to_owned(),
        session: ledger.folder().as_str().to_owned(),
        workspace: context.workspace().clone(),
        at: context.environment().now(),
        title: title.to_owned(),
        text: format!("{text}\n{hint}"),
    };
    if let Err(error) = notification::send(context.environment(), context.policy().config(), &notice) {
        context.environment().diagnostics.add(format!("{text}; nobody was told: {error}"));
    }
}

fn compared(
    environment: &HostEnvironment,
    confirmed: &Confirmed,
    now: Option<&str>,
) -> Option<LoosenedConfiguration> {
    let path = config_files::user_file(environment);
    if confirmed.text.as_deref() == now {
        return None;
    }
    let was = config_of(&path, confirmed.text.as_deref())?;
    // A file that cannot be used is refused by the next call, with what is wrong in it.
    let is = config_of(&path, now)?;
    let least = strictest(&is, &was);
    if least == is {
        return None;
    }
    let pairs = settings_of(&is).into_iter().zip(settings_of(&least));
    let settings = pairs.filter(|(one, other)| one.value != other.value).map(|(one, _)| one.path).collect();
    let since = fs::metadata(path.as_str()).ok().as_ref().and_then(status_changed);
    Some(LoosenedConfiguration { path, settings, since })
}

fn now(environment: &HostEnvironment) -> Result<Option<String>, CommandError> {
    config_files::read(&config_files::user_file(environment))
}

/// What a text says, with what is built in; `None` when it cannot be used.
pub(crate) fn config_of(path: &AbsolutePath, text: Option<&str>) -> Option<Config> {
    let Some(text) = text else { return Some(Config::default()) };
    let source = ConfigSource::File { name: path.to_string(), text: text.to_owned() };
    let loaded = checkrein_policy::load(&[Layer { kind: LayerKind::User, source }], &[]);
    loaded.ok().map(|loaded| loaded.config)
}

/// When the status of a file changed last; `None` when that cannot be told.
pub(crate) fn status_changed(facts: &Metadata) -> Option<Timestamp> {
    let milliseconds = facts.ctime().checked_mul(1_000)?.checked_add(facts.ctime_nsec() / 1_000_000)?;
    u64::try_from(milliseconds).ok().map(Timestamp)
}

fn place(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("configuration.json")
}

fn stored(environment: &HostEnvironment) -> Result<Option<Confirmed>, CommandError> {
    let path = place(environment);
    let Some(text) = config_files::read(&path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        CommandError::user(format!("`{path}` is damaged: {error}"), "`checkrein trust` writes it anew")
    })
}

fn store(environment: &HostEnvironment, confirmed: &Confirmed) -> Result<(), CommandError> {
    let text = serde_json::to_string(confirmed)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    config_files::write_private(&place(environment), text.as_bytes())
}
