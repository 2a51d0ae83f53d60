//! What `checkrein policy` wrote last about the policy of a team, kept a second time in the state directory.
//!
//! The two files in the configuration say which key signs and which text was checked, and the hook believes them. Whoever removes or
//! forges both leaves nothing there that tells. So the command writes first here what it is going to write there. Only the command
//! changes these files: any other change is put back where a call made it (`kept_settings.rs`), told at the start of the next session,
//! and by `doctor` until the command has spoken. What is found first is taken as confirmed.

use std::fs;

use checkrein_clients::is_canary;
use checkrein_policy::FileHash;
use checkrein_protocol::{AbsolutePath, HookEvent, HookEventKind, Timestamp};
use checkrein_session::SessionLedger;
use serde::{Deserialize, Serialize};

use crate::config_files;
use crate::confirmed_configuration::{self, status_changed};
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::pinned_policy::{PinnedPolicy, pin_file, policy_file};

/// The two files, as the command wrote them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Files {
    /// What is pinned; `None` where nothing is.
    pin: Option<String>,
    /// The text that was checked.
    policy: Option<String>,
}

/// What is kept in the state directory.
#[derive(Debug, Serialize, Deserialize)]
struct Confirmed {
    files: Files,
    /// The hash of files of which the start of a session has told.
    told: Option<[u8; 32]>,
}

/// Files about the policy of a team that `checkrein policy` did not write.
#[derive(Debug)]
pub struct ChangedTeamPolicy {
    /// The file that says it.
    pub path: AbsolutePath,
    /// What is another thing now.
    pub cause: &'static str,
    /// When the file changed last; `None` where it is gone.
    pub since: Option<Timestamp>,
}

impl ChangedTeamPolicy {
    /// What happened, in words.
    pub fn in_words(&self) -> String {
        let since = self
            .since
            .map_or_else(String::new, |since| format!(" (since {})", since.calendar().to_rfc3339()));
        format!("`{}`: {}{since}, and `checkrein policy` did not write that", self.path, self.cause)
    }
}

/// What the user does about it.
pub const HINT: &str = "`checkrein policy update` in a terminal puts back what you pinned; `checkrein policy unpin` does without it";

/// Whether the files are other ones than `checkrein policy` wrote; `None` where they are the same, or nothing is known yet.
pub fn changed(environment: &HostEnvironment) -> Result<Option<ChangedTeamPolicy>, CommandError> {
    let Some(confirmed) = stored(environment)? else { return Ok(None) };
    Ok(compared(environment, &confirmed.files, &now(environment)?))
}

/// What was pinned last by `checkrein policy`; `None` where nothing was, or that cannot be read.
pub fn pinned(environment: &HostEnvironment) -> Option<PinnedPolicy> {
    serde_json::from_str(&stored(environment).ok()??.files.pin?).ok()
}

/// Writes down what the two files are going to hold: before they do, so that at no moment they seem to be forged.
pub(crate) fn confirm(
    environment: &HostEnvironment,
    pin: Option<&str>,
    policy: Option<&str>,
) -> Result<(), CommandError> {
    let files = Files { pin: pin.map(str::to_owned), policy: policy.map(str::to_owned) };
    store(environment, &Confirmed { files, told: None })
}

/// Whether one of the two files holds what `checkrein policy` wrote.
pub(crate) fn is_confirmed(environment: &HostEnvironment, path: &AbsolutePath, text: Option<&str>) -> bool {
    let Ok(Some(confirmed)) = stored(environment) else { return false };
    let is_pin = *path == pin_file(environment);
    text == if is_pin { confirmed.files.pin.as_deref() } else { confirmed.files.policy.as_deref() }
}

/// At the start of a session: takes what is found first as confirmed; what is told of files that the command did not write, once for each
/// state of them.
pub(crate) fn at_start(context: &Context, ledger: &SessionLedger, event: &HookEvent) -> Option<String> {
    if is_canary(event.session.as_str()) || !matches!(event.moment, HookEventKind::SessionStarted { .. }) {
        return None;
    }
    looked(context, ledger).unwrap_or_else(|error| {
        context
            .environment()
            .diagnostics
            .add(format!("what was pinned of a team's policy is not known: {error}"));
        None
    })
}

fn looked(context: &Context, ledger: &SessionLedger) -> Result<Option<String>, CommandError> {
    let environment = context.environment();
    let files = now(environment)?;
    let Some(mut confirmed) = stored(environment)? else {
        return store(environment, &Confirmed { files, told: None }).map(|()| None);
    };
    let Some(found) = compared(environment, &confirmed.files, &files) else { return Ok(None) };
    let shown = serde_json::to_string(&files).unwrap_or_default();
    let hash = FileHash::of(&shown).0;
    if confirmed.told == Some(hash) {
        return Ok(None);
    }
    confirmed.told = Some(hash);
    store(environment, &confirmed)?;
    Ok(Some(tell(context, ledger, &found)))
}

/// Records it and tells people; returns what the agent is told.
pub(crate) fn tell(context: &Context, ledger: &SessionLedger, found: &ChangedTeamPolicy) -> String {
    let text = found.in_words();
    confirmed_configuration::tell_people(
        context,
        ledger,
        "checkrein: the policy of the team is not the one that was pinned",
        &text,
        HINT,
    );
    format!("checkrein: {text}. Leave it as it is, and tell the user: {HINT}.")
}

fn compared(environment: &HostEnvironment, was: &Files, is: &Files) -> Option<ChangedTeamPolicy> {
    if was == is {
        return None;
    }
    let read = |text: &Option<String>| text.as_deref().map(serde_json::from_str::<PinnedPolicy>);
    let (pin, policy) = (pin_file(environment), policy_file(environment));
    let (path, cause) = match (read(&was.pin), read(&is.pin)) {
        (Some(_), None) => (pin, "the policy of the team that you pinned does not count any more"),
        (None, Some(_)) => (pin, "a policy counts that you did not pin"),
        (Some(Ok(was)), Some(Ok(is))) if was.key != is.key => (pin, "another key is the one to trust"),
        (Some(Ok(was)), Some(Ok(is))) if was.source != is.source => {
            (pin, "the policy is fetched from another place")
        }
        (Some(Ok(was)), Some(Ok(is))) if was.digest != is.digest => (pin, "another text counts as checked"),
        (None, None) => return None,
        (Some(_), Some(_)) if was.pin != is.pin => (pin, "it is not what was written"),
        (Some(_), Some(_)) => (policy, "it is not the text that was checked"),
    };
    let since = fs::metadata(path.as_str()).ok().as_ref().and_then(status_changed);
    Some(ChangedTeamPolicy { path, cause, since })
}

fn now(environment: &HostEnvironment) -> Result<Files, CommandError> {
    Ok(Files {
        pin: config_files::read(&pin_file(environment))?,
        policy: config_files::read(&policy_file(environment))?,
    })
}

fn place(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("team-policy.json")
}

fn stored(environment: &HostEnvironment) -> Result<Option<Confirmed>, CommandError> {
    let path = place(environment);
    let Some(text) = config_files::read(&path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        CommandError::user(
            format!("`{path}` is damaged: {error}"),
            "`checkrein policy update` in a terminal writes it anew, and `checkrein policy unpin` where no policy is pinned",
        )
    })
}

fn store(environment: &HostEnvironment, confirmed: &Confirmed) -> Result<(), CommandError> {
    let text = serde_json::to_string(confirmed)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    config_files::write_private(&place(environment), text.as_bytes())
}
