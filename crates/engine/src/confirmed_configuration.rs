//! The user's own configuration as they last confirmed it, so that one that was made looser behind their back is noticed.
//!
//! A process that a call left behind can write the configuration when no call runs any more, and then it looks like a change of the
//! user. So what lets pass more than what the user last confirmed does not count before they confirm it, in a running session or in a
//! new one: the stricter of the two holds (`rules.rs`). The start of the next session says once that it changed and since when, and
//! `doctor` says so until `checkrein trust` confirms it. Described commands count as confirmed until others are, too. What is stricter
//! needs no word. What is found first is taken as confirmed.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;

use checkrein_clients::is_canary;
use checkrein_policy::{Config, ConfigSource, Layer, LayerKind, settings_of, strictest};
use checkrein_protocol::{AbsolutePath, HookEvent, HookEventKind, RecordBody, Timestamp};
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;
use serde::{Deserialize, Serialize};

use crate::config_files;
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::notification::{self, Notice};
use crate::rules::{OwnTexts, different};
use crate::sealed_texts::{self, KeptText};

/// What is kept in the state directory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Confirmed {
    /// What was confirmed.
    #[serde(default)]
    own: OwnTexts,
    /// The hash of looser texts of which the start of a session has told.
    told: Option<[u8; 32]>,
}

/// A configuration that lets pass more than the one that was confirmed.
#[derive(Debug)]
pub struct LoosenedConfiguration {
    /// The file, or the folder of described commands where only these are others.
    pub path: AbsolutePath,
    /// What differs, by name; empty where the file cannot be used.
    pub settings: Vec<&'static str>,
    /// The values of these settings that were confirmed and those of now, each as it would be written, behind its name.
    pub values: Vec<(&'static str, String, String)>,
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
        format!(
            "`{}` lets pass more{what}{since} than the user confirmed, so what is looser does not count yet",
            self.path
        )
    }
}

/// What the user does about it.
pub const HINT: &str = "`checkrein trust` in a terminal confirms it; otherwise put the file back";

/// What the user reads in their client when a session begins with a configuration that waits for them.
pub(crate) const FOR_USER: &str = "checkrein: your configuration lets pass more than you confirmed; `checkrein trust` shows what, and lets it count";

/// Whether the configuration is looser than the one that was confirmed; `None` where it is not, or nothing was confirmed yet.
pub fn loosened(environment: &HostEnvironment) -> Result<Option<LoosenedConfiguration>, CommandError> {
    let Some(confirmed) = stored(environment)? else { return Ok(None) };
    Ok(compared(environment, &confirmed.own, &OwnTexts::read(environment)?))
}

/// Takes the configuration of now as confirmed.
pub fn confirm(environment: &HostEnvironment) -> Result<(), CommandError> {
    store(environment, &Confirmed { own: OwnTexts::read(environment)?, told: None })
}

/// Runs a command of the user that writes their configuration, and takes what it wrote as confirmed, unless something waited before.
///
/// # Errors
/// Those of the command, and where what was confirmed cannot be read or written.
pub fn confirming<T>(
    environment: &HostEnvironment,
    write: impl FnOnce() -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let is_known = stored(environment)?.is_some();
    let waits = loosened(environment)?.is_some();
    let written = write()?;
    if is_known && !waits {
        confirm(environment)?;
    }
    Ok(written)
}

/// What the user confirmed last, where what is there now lets pass more or describes other commands; `None` where what is there counts.
pub(crate) fn agreed(
    environment: &HostEnvironment,
    now: &OwnTexts,
) -> Result<Option<OwnTexts>, CommandError> {
    let confirmed = stored(environment)?.map(|confirmed| confirmed.own).filter(|own| own != now);
    Ok(confirmed.filter(|own| compared(environment, own, now).is_some()))
}

/// At the start of a session: takes what is found first, and what is no looser, as confirmed; what is told of a looser one, once for
/// each text.
pub(crate) fn at_start(context: &Context, ledger: &SessionLedger, event: &HookEvent) -> Option<String> {
    // Not each client says that a session begins.
    let begins = context.begun.is_some() || matches!(event.moment, HookEventKind::SessionStarted { .. });
    if is_canary(event.session.as_str()) || !begins {
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
    let own = OwnTexts::read(environment)?;
    let Some(mut confirmed) = stored(environment)? else {
        return store(environment, &Confirmed { own, told: None }).map(|()| None);
    };
    if confirmed.own == own {
        return Ok(None);
    }
    let Some(found) = compared(environment, &confirmed.own, &own) else {
        // What cannot be used is refused by the next call, and is nothing to go back to.
        if own.config().is_none() {
            return Ok(None);
        }
        return store(environment, &Confirmed { own, told: None }).map(|()| None);
    };
    let hash = own.hash().0;
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
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(context.environment(), context.policy().config(), &notice) {
        context.environment().diagnostics.add(format!("{text}; nobody was told: {error}"));
    }
}

fn compared(environment: &HostEnvironment, was: &OwnTexts, now: &OwnTexts) -> Option<LoosenedConfiguration> {
    if was == now {
        return None;
    }
    // A file that cannot be used is refused by the next call, with what is wrong in it.
    let (before, is) = (was.config()?, now.config()?);
    let least = strictest(&is, &before);
    let has_same_commands = was.has_catalogue_of(now);
    if least == is && has_same_commands {
        return None;
    }
    let described = (!has_same_commands).then_some("described commands");
    let settings: Vec<&'static str> = different(&is, &least).into_iter().chain(described).collect();
    let path = if least == is {
        config_files::catalogue_folder(environment)
    } else {
        config_files::user_file(environment)
    };
    let since = fs::metadata(path.as_str()).ok().as_ref().and_then(status_changed);
    let pairs = settings_of(&before).into_iter().zip(settings_of(&is));
    let values = pairs
        .filter(|(old, _)| settings.contains(&old.path))
        .map(|(old, new)| (old.path, old.value, new.value))
        .collect();
    Some(LoosenedConfiguration { path, settings, values, since })
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

/// What the copy is bound to.
const PURPOSE: &str = "configuration.json";

fn place(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("configuration.json")
}

fn stored(environment: &HostEnvironment) -> Result<Option<Confirmed>, CommandError> {
    let path = place(environment);
    let damaged = |why: String| {
        CommandError::user(format!("`{path}` is damaged: {why}"), "`checkrein trust` writes it anew")
    };
    match sealed_texts::read(&environment.state, &path, PURPOSE).map_err(|error| damaged(error.message))? {
        // Without a key nothing is recorded either, which makes what changes something ask.
        KeptText::Nothing | KeptText::Shut(_) => Ok(None),
        KeptText::Text(text) => {
            serde_json::from_str(&text).map(Some).map_err(|error| damaged(error.to_string()))
        }
    }
}

/// Takes the configuration of now as confirmed where the copy of what was confirmed is sealed with a key that is gone for good; whether it was so.
/// For a person who makes another key.
pub fn confirm_unreadable(environment: &HostEnvironment) -> Result<bool, CommandError> {
    let is_unreadable = stored(environment).is_err();
    if is_unreadable {
        confirm(environment)?;
    }
    Ok(is_unreadable)
}

fn store(environment: &HostEnvironment, confirmed: &Confirmed) -> Result<(), CommandError> {
    let text = serde_json::to_string(confirmed)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    sealed_texts::write(&environment.state, &place(environment), &text, PURPOSE)
}
