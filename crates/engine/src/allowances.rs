//! What a user allowed by `checkrein allow`: single calls, told by their exact text, once, for a session, or always.
//!
//! An allowance lifts the question or refusal of a review, before session, limits and flow are looked at: what these say stays. It never
//! lifts what touches the guard, what the call did not do when it was allowed (a script of the same name may hold something else by now), a check that did not run, a tripwire or rule that the user or the team wrote, and what must not be lost
//! only once. Each allowance is a file of its own in the state directory, which the agent cannot write; the use of one that holds once is
//! that its file is renamed, so that no two calls have it.

use std::fs;
use std::io::ErrorKind;

use checkrein_policy::{Digest, rules};
use checkrein_protocol::{AbsolutePath, Action, Decision, Effect, EffectKind, Stake, Timestamp};
use checkrein_review::{Review, VerdictKind};
use serde::{Deserialize, Serialize};

use crate::config_files::{read, write_private};
use crate::environment::HostEnvironment;
use crate::error::CommandError;

/// How long an allowance for once waits for its call, in milliseconds (ours).
pub const WAITS: u64 = 60 * 60 * 1000;
/// For how long after its use the client may still ask about the call, in milliseconds (ours).
const ASKED_AGAIN: u64 = 10 * 60 * 1000;
/// The greatest number of allowances that are read (ours).
const MOST: usize = 1000;

/// For how long something is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowedFor {
    /// For one call, within an hour.
    Once,
    /// For the rest of a session, by the name of its folder.
    Session(String),
    /// Until it is forgotten.
    Always,
}

/// Something that a user allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The digest of the call, without where it runs.
    pub digest: String,
    /// Where it runs; with `is_below` there and anywhere below.
    pub directory: AbsolutePath,
    /// Whether it holds below that directory too.
    pub is_below: bool,
    /// For how long.
    pub span: AllowedFor,
    /// When it was given.
    pub at: Timestamp,
    /// The call in words, masked.
    pub words: String,
    /// What it would have done when it was allowed; a call that would do anything else is another one.
    pub effects: Vec<String>,
}

/// An effect as allowances compare it.
pub fn in_short(effect: &Effect) -> String {
    format!("{} {}", effect.kind.name(), effect.target.text().unwrap_or("?"))
}

/// Why a call cannot be allowed beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unliftable {
    /// It touches the guard.
    Guard,
    /// A check did not run.
    Failure,
    /// A tripwire fired, or a rule of the user or the team refuses it.
    Policy,
    /// It takes away what must not be lost, and was allowed for more than once.
    Critical,
}

/// The digest of a call, without where it runs and without the description beside a command.
pub(crate) fn digest(action: &Action) -> String {
    let text = match action.shell_text() {
        Some(text) => text.to_owned(),
        None => action.input.to_string(),
    };
    Digest::of(&format!("checkrein call 1\n{}\n{text}", action.tool.as_str())).to_string()
}

/// All allowances with their names, oldest first.
pub fn all(environment: &HostEnvironment) -> Result<Vec<(String, Allowance)>, CommandError> {
    let folder = folder(environment);
    let entries = match fs::read_dir(folder.as_str()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CommandError::file("read", &folder, &error)),
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut found = Vec::new();
    for name in names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).take(MOST) {
        // One that is damaged allows nothing.
        let text = read(&folder.join(&format!("{name}.json")))?;
        let allowance = text.and_then(|text| serde_json::from_str::<Allowance>(&text).ok());
        found.extend(allowance.map(|allowance| (name, allowance)));
    }
    found.sort_by_key(|(_, allowance)| allowance.at);
    Ok(found)
}

/// Writes an allowance down; its name.
pub fn give(environment: &HostEnvironment, allowance: &Allowance) -> Result<String, CommandError> {
    let digits = allowance.digest.strip_prefix("sha256:").unwrap_or(&allowance.digest);
    let name = format!("{}-{}", digits.get(..8).unwrap_or(digits), allowance.at.0);
    let bytes = serde_json::to_vec_pretty(allowance)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    write_private(&folder(environment).join(&format!("{name}.json")), &bytes)?;
    forget_used(environment);
    Ok(name)
}

/// Removes what was used up so long ago that no client asks about it any more.
fn forget_used(environment: &HostEnvironment) {
    let entries = fs::read_dir(folder(environment).as_str()).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".used")).take(MOST) {
        let is_old = entry.metadata().and_then(|facts| facts.modified()).is_ok_and(|then| {
            then.elapsed().is_ok_and(|age| age.as_millis() > u128::from(WAITS + ASKED_AGAIN))
        });
        if is_old {
            // What stays is looked at again next time.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Forgets an allowance; whether there was one of this name.
pub fn forget(environment: &HostEnvironment, name: &str) -> Result<bool, CommandError> {
    let path = folder(environment).join(&format!("{name}.json"));
    match fs::remove_file(path.as_str()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(CommandError::file("remove", &path, &error)),
    }
}

/// Why nothing lifts a review; `None` where something may.
pub(crate) fn unliftable(review: &Review, span: &AllowedFor) -> Option<Unliftable> {
    let effects = &review.side_effects.effects;
    let is_of_user =
        |rule: &str, decision: Decision| decision >= Decision::Modify && rules::find(rule).is_none();
    if effects.iter().any(|effect| effect.kind == EffectKind::GuardTampering) {
        Some(Unliftable::Guard)
    } else if !review.failures.is_empty() {
        Some(Unliftable::Failure)
    } else if review.governance.fired.iter().any(|fired| fired.verdict >= VerdictKind::Escalate)
        || review.rules.iter().any(|finding| is_of_user(&finding.rule, finding.decision))
    {
        Some(Unliftable::Policy)
    } else if *span != AllowedFor::Once && effects.iter().any(|effect| effect.stake == Stake::Critical) {
        Some(Unliftable::Critical)
    } else {
        None
    }
}

/// Lifts a review where the user allowed the call. What was allowed once is used up by that.
pub(crate) fn lift(environment: &HostEnvironment, session: &str, action: &Action, review: Review) -> Review {
    if review.verdict.kind < VerdictKind::Escalate {
        return review;
    }
    let now = environment.now();
    let Some(given) = covering(environment, session, action, now) else { return review };
    let fits = given.into_iter().filter(|(_, allowance)| fits(&review, allowance));
    // What holds for longer is not used up.
    let (once, lasting): (Vec<_>, Vec<_>) =
        fits.partition(|(_, allowance)| allowance.span == AllowedFor::Once);
    let is_lifted = !lasting.is_empty() || once.iter().any(|(name, _)| is_used_now(environment, name));
    if is_lifted { review.lifted("the user allowed this call with `checkrein allow`") } else { review }
}

/// The same where the client asks by itself about a call that is on its way: an allowance that was used for it counts.
pub(crate) fn lift_asked(
    environment: &HostEnvironment,
    session: &str,
    action: &Action,
    review: Review,
) -> Review {
    if review.verdict.kind < VerdictKind::Escalate {
        return review;
    }
    let now = environment.now();
    let given = covering(environment, session, action, now).unwrap_or_default();
    let is_lifted = given.iter().any(|(_, allowance)| fits(&review, allowance))
        || was_used(environment, action, &review, now);
    if is_lifted { review.lifted("the user allowed this call with `checkrein allow`") } else { review }
}

/// Whether an allowance for the call lifts its review: nothing in it is beyond what was allowed.
fn fits(review: &Review, allowance: &Allowance) -> bool {
    let is_known = |effect: &Effect| allowance.effects.contains(&in_short(effect));
    unliftable(review, &allowance.span).is_none() && review.side_effects.effects.iter().all(is_known)
}

fn covering(
    environment: &HostEnvironment,
    session: &str,
    action: &Action,
    now: Timestamp,
) -> Option<Vec<(String, Allowance)>> {
    let digest = digest(action);
    // What cannot be read allows nothing.
    let all = all(environment).ok()?;
    let covers = |allowance: &Allowance| {
        let is_there = action.cwd == allowance.directory
            || allowance.is_below && action.cwd.is_within(&allowance.directory);
        let is_time = match &allowance.span {
            AllowedFor::Once => now.0.saturating_sub(allowance.at.0) <= WAITS,
            AllowedFor::Session(of) => of == session,
            AllowedFor::Always => true,
        };
        allowance.digest == digest && is_there && is_time
    };
    Some(all.into_iter().filter(|(_, allowance)| covers(allowance)).collect())
}

/// Uses an allowance up: of all that try, one succeeds.
fn is_used_now(environment: &HostEnvironment, name: &str) -> bool {
    let folder = folder(environment);
    let (from, to) = (folder.join(&format!("{name}.json")), folder.join(&format!("{name}.used")));
    fs::rename(from.as_str(), to.as_str()).is_ok()
}

/// Whether an allowance for this call was used a moment ago.
fn was_used(environment: &HostEnvironment, action: &Action, review: &Review, now: Timestamp) -> bool {
    let digest = digest(action);
    let entries = fs::read_dir(folder(environment).as_str()).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".used")).take(MOST).any(|entry| {
        let text =
            entry.path().to_str().and_then(AbsolutePath::new).and_then(|path| read(&path).ok().flatten());
        let allowance = text.and_then(|text| serde_json::from_str::<Allowance>(&text).ok());
        let is_new =
            allowance.as_ref().is_some_and(|one| now.0.saturating_sub(one.at.0) <= WAITS + ASKED_AGAIN);
        is_new
            && allowance
                .is_some_and(|one| one.digest == digest && one.directory == action.cwd && fits(review, &one))
    })
}

fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("allowed")
}
