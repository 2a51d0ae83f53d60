//! What a session began with, and being held to it.
//!
//! What the next call is judged by lies in files, and an agent may reach them through something that nobody can read. So the beginning
//! of a session is written down: the settings from which its client calls the hooks, where our places really are, and the rules. What
//! makes the rules stricter counts at once; what makes them looser waits for a user (`checkrein trust`) or, in a project, for the next session. A
//! session that goes on in another workspace keeps the rules of the one where it began.

use std::path::PathBuf;

use checkrein_clients::is_canary;
use checkrein_effects::remote_hosts;
use checkrein_facts::{GuardedPath, History};
use checkrein_policy::{FileHash, Policy, strictest};
use checkrein_protocol::{AbsolutePath, Action, Beginning, HookEvent, HookEventKind};
use checkrein_session::{SessionLedger, SessionState};

use checkrein_review::review;

use crate::config_files;
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::fail_closed::Failure;
use crate::installation::{self, Installations};
use crate::intervention_texts::InterventionTexts;
use crate::monitor::HeldTexts;
use crate::places::real_place;
use crate::rules::{RuleTexts, different};
use crate::sealed_texts::{self, KeptText};
use crate::session_texts::SessionTexts as _;

/// The rules that a session is held to.
#[derive(Debug)]
pub(crate) struct Held {
    /// The rules.
    pub(crate) policy: Policy,
    /// The same with the described commands that there were; kept when they are others now.
    pub(crate) earlier: Option<Policy>,
    /// What is looser now and does not count: the settings, by name.
    pub(crate) waiting: Vec<&'static str>,
}

/// Holds the session to what it began with, and to the described commands that the user agreed to. Where a beginning is not on record, and
/// something is about to be recorded, this is it.
pub(crate) fn hold(context: &mut Context, ledger: &SessionLedger, event: &HookEvent, state: &SessionState) {
    hold_to_the_beginning(context, ledger, event, state);
    context.keep_tier();
    if let Some(rules) = context.rules() {
        // A list of trusted texts that cannot be read is a failure of its own by now.
        let trusted = config_files::trusted(context.environment()).unwrap_or_default();
        let more = rules.waiting(context.environment(), &trusted);
        context.waiting.extend(
            more.into_iter().filter(|setting| !context.waiting.contains(setting)).collect::<Vec<_>>(),
        );
    }
    let HookEventKind::BeforeAction { action, .. } = &event.moment else { return };
    match context.rules().map_or(Ok(None), RuleTexts::agreed_catalogue) {
        Ok(None) => {}
        Ok(Some(catalogue)) => {
            let earlier = Policy::new(context.policy.config().clone()).with_catalogue(catalogue);
            let world = context.world(state.history());
            let kind = |policy: &Policy| review(action, &world, policy).verdict.kind;
            if kind(&earlier) > kind(&context.policy) {
                context.policy = earlier;
            }
        }
        Err(error) => context.failures.push(Failure::Configuration(error.in_short().to_owned())),
    }
}

fn hold_to_the_beginning(
    context: &mut Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    state: &SessionState,
) {
    let Some(beginning) = state.beginning().cloned() else {
        if let HookEventKind::BeforeAction { .. } | HookEventKind::SessionStarted { .. } = &event.moment {
            match begin(context, ledger, event) {
                Ok(begun) => context.begun = begun,
                Err(failure) => context.failures.push(failure),
            }
        }
        context.beginning = context.begun.as_deref().cloned();
        return;
    };
    let none = RuleTexts::default();
    let now = (&context.policy, context.rules().unwrap_or(&none));
    let held = held(context.environment(), ledger, &beginning, context.workspace(), now);
    context.beginning = Some(beginning);
    match held {
        Ok(None) => {}
        Ok(Some(held)) => {
            let stricter = match &event.moment {
                HookEventKind::BeforeAction { action, .. } => {
                    was_stricter(context, action, state.history(), &held)
                }
                _ => false,
            };
            context.waiting = held.waiting;
            context.policy = held.earlier.filter(|_| stricter).unwrap_or(held.policy);
        }
        Err(error) => context.failures.push(Failure::Configuration(error.in_short().to_owned())),
    }
}

/// Keeps what a session begins with, to be written into its next record; `None` for a session that is none.
pub(crate) fn begin(
    context: &mut Context,
    ledger: &SessionLedger,
    event: &HookEvent,
) -> Result<Option<Box<Beginning>>, Failure> {
    if is_canary(event.session.as_str()) {
        return Ok(None);
    }
    let workspace = context.workspace().clone();
    let files = settings_of_client(context.environment(), &workspace, &event.cwd);
    let environment = context.environment().clone();
    let settings = context
        .installations_mut()
        .remember(&environment, &files)
        .map_err(|error| Failure::Record(error.message))?;
    let texts = context.rules().cloned().unwrap_or_default();
    let write = |error: CommandError| Failure::Record(error.message);
    keep_text(&environment, ledger, RULES, &texts.to_text()).map_err(write)?;
    let places = other_names(&installation::guarded(&environment, &workspace, context.installations()));
    let words = InterventionTexts::read(&environment, context.policy().config());
    if words != InterventionTexts::default() {
        keep_text(&environment, ledger, WORDS, &words.to_text()).map_err(write)?;
    }
    let interventions = Some(words.hash().0);
    let commit = checkrein_world::checked_out(&workspace);
    let remotes = Some(remote_hosts(&context.world(History::default()), &workspace));
    Ok(Some(Box::new(Beginning {
        workspace,
        rules: texts.hash().0,
        settings,
        places,
        interventions,
        commit,
        remotes,
    })))
}

/// The settings files of the client for a session in a workspace: it reads those of the directory where it was started.
pub(crate) fn settings_of_client(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    cwd: &AbsolutePath,
) -> Vec<AbsolutePath> {
    let (started_in, own) = (environment.started_in(), environment.client_folder());
    let places = &environment.client.places;
    let mut files: Vec<AbsolutePath> = Vec::new();
    for folder in [Some(workspace), Some(cwd), started_in.as_ref()].into_iter().flatten() {
        let all = places.settings.iter().map(|(_, place)| place).chain(places.switches).chain(places.managed);
        files.extend(all.map(|place| place.at(folder, &own)));
    }
    files.sort();
    files.dedup();
    files
}

/// Where guarded paths really are, for those that go through links: effects name what they really touch.
fn other_names(guarded: &[GuardedPath]) -> Vec<AbsolutePath> {
    let mut names: Vec<AbsolutePath> = Vec::new();
    for GuardedPath { path, .. } in guarded {
        let real = real_place(path);
        if real != *path && !names.contains(&real) {
            names.push(real);
        }
    }
    names
}

/// The rules that a session is held to, which began otherwise; `None` where what holds now may hold.
pub(crate) fn held(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    beginning: &Beginning,
    workspace: &AbsolutePath,
    now: (&Policy, &RuleTexts),
) -> Result<Option<Held>, CommandError> {
    let (policy, texts) = now;
    let hash = texts.hash();
    if hash.0 == beginning.rules {
        return Ok(None);
    }
    let trusted = config_files::trusted(environment)?;
    let is_agreed = |hash: &FileHash| hash.0 == beginning.rules || trusted.contains(hash);
    let is_elsewhere = *workspace != beginning.workspace;
    if !is_elsewhere && is_agreed(&hash) {
        return Ok(None);
    }
    let mut first = stored(environment, ledger, beginning)?;
    // A session that goes on in another step is held to what that step sets. The run above proves which one it is; without a run, what the
    // session began with stays.
    if environment.step_settings.is_some() {
        first = first.in_step_of(texts);
        if !is_elsewhere && first.hash() == hash {
            return Ok(None);
        }
    }
    let began = first.config(environment, &trusted)?;
    let least = if is_elsewhere {
        let there = RuleTexts::read(environment, &beginning.workspace)?;
        let config = there.config(environment, &trusted)?;
        if is_agreed(&there.hash()) { config } else { strictest(&config, &began) }
    } else {
        began
    };
    let config = strictest(policy.config(), &least);
    let waiting = if is_elsewhere { Vec::new() } else { different(policy.config(), &config) };
    let earlier = if texts.has_catalogue_of(&first) {
        None
    } else {
        Some(Policy::new(config.clone()).with_catalogue(first.catalogue()?))
    };
    let policy = Policy::new(config).with_catalogue(texts.catalogue()?);
    Ok(Some(Held { policy, earlier, waiting }))
}

/// The settings that are looser now than when a session of this workspace began, and wait for a user.
pub fn waiting(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    ledger: &SessionLedger,
) -> Result<Vec<&'static str>, CommandError> {
    let state = ledger.state()?;
    let Some(beginning) = state.beginning().filter(|beginning| beginning.workspace == *workspace) else {
        return Ok(Vec::new());
    };
    let texts = RuleTexts::read(environment, workspace)?;
    let policy = Policy::new(texts.config(environment, &config_files::trusted(environment)?)?);
    let held = held(environment, ledger, beginning, workspace, (&policy, &texts))?;
    let mut waiting = held.map_or_else(Vec::new, |held| {
        let mut waiting = held.waiting;
        if held.earlier.is_some() {
            waiting.push("catalogue");
        }
        waiting
    });
    let now = InterventionTexts::read(environment, policy.config());
    if let Some(began) = words_held(environment, ledger, beginning, &now)? {
        waiting.extend(began.different(environment, &now));
    }
    Ok(waiting)
}

/// The texts about interventions that a session is held to: those of its beginning, until a user agrees to others.
pub(crate) fn intervention_texts(context: &Context, ledger: &SessionLedger) -> HeldTexts {
    let (environment, config) = (context.environment(), context.policy().config());
    let now = InterventionTexts::read(environment, config);
    let as_now = HeldTexts { texts: now.clone(), because: None };
    let Some(beginning) = &context.beginning else { return as_now };
    match words_held(environment, ledger, beginning, &now) {
        Ok(None) => as_now,
        Ok(Some(texts)) => {
            let different = texts.different(environment, &now).join(" and ");
            let because =
                format!("{different} changed since the session began; `checkrein trust` agrees to that");
            HeldTexts { texts, because: Some(because) }
        }
        // Neither what is there now nor what was there: what is built in.
        Err(error) => HeldTexts { because: Some(error.message), ..HeldTexts::default() },
    }
}

/// The texts about interventions with which a session began, where others are there now to which nobody agreed; `None` where those of now
/// may hold.
fn words_held(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    beginning: &Beginning,
    now: &InterventionTexts,
) -> Result<Option<InterventionTexts>, CommandError> {
    let Some(began) = beginning.interventions else { return Ok(None) };
    let hash = now.hash();
    if hash.0 == began || config_files::trusted(environment)?.contains(&hash) {
        return Ok(None);
    }
    let nothing = InterventionTexts::default();
    if nothing.hash().0 == began {
        return Ok(Some(nothing));
    }
    let texts = kept_text(environment, ledger, WORDS)?.and_then(|text| InterventionTexts::parse(&text));
    let texts = texts.filter(|texts| texts.hash().0 == began);
    texts.map(Some).ok_or_else(|| damaged(&kept_at(ledger, WORDS)))
}

/// Whether the described commands of the beginning are stricter about an action than those of now.
pub(crate) fn was_stricter(context: &Context, action: &Action, history: History, held: &Held) -> bool {
    let Some(earlier) = &held.earlier else { return false };
    let world = context.world(history);
    review(action, &world, earlier).verdict.kind > review(action, &world, &held.policy).verdict.kind
}

/// The copy of the rules in the folder of a session.
const RULES: &str = "rules.json";
/// The copy of the texts about interventions.
const WORDS: &str = "interventions.json";

fn kept_at(ledger: &SessionLedger, name: &str) -> AbsolutePath {
    let path: PathBuf = ledger.directory().join(name);
    AbsolutePath::root().join(&path.to_string_lossy())
}

/// What a copy of a session is bound to: nobody puts it in the place of another one.
fn purpose(ledger: &SessionLedger, name: &str) -> String {
    format!("{}/{name}", ledger.folder().as_str())
}

fn keep_text(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    name: &str,
    text: &str,
) -> Result<(), CommandError> {
    sealed_texts::write(&environment.state, &kept_at(ledger, name), text, &purpose(ledger, name))
}

fn kept_text(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    name: &str,
) -> Result<Option<String>, CommandError> {
    let path = kept_at(ledger, name);
    match sealed_texts::read(&environment.state, &path, &purpose(ledger, name))? {
        KeptText::Nothing => Ok(None),
        KeptText::Text(text) => Ok(Some(text)),
        KeptText::Shut(why) => {
            let message = format!("the rules with which the session began cannot be read: {why}");
            Err(CommandError::user(message, "`checkrein audit key list` shows the keys and where they are"))
        }
    }
}

/// The rules of the beginning; the record bears witness that they are what they were.
fn stored(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    beginning: &Beginning,
) -> Result<RuleTexts, CommandError> {
    let texts = kept_text(environment, ledger, RULES)?.and_then(|text| RuleTexts::parse(&text));
    let texts = texts.filter(|texts| texts.hash().0 == beginning.rules);
    texts.ok_or_else(|| damaged(&kept_at(ledger, RULES)))
}

fn damaged(path: &AbsolutePath) -> CommandError {
    CommandError::user(
        format!("`{path}` does not hold the rules with which the session began"),
        "begin a new session, or agree to the rules of now with `checkrein trust`",
    )
}

/// The settings from which the hooks of a session were called and are no more, in words; empty while they stand.
pub(crate) fn lost(installations: &Installations, beginning: Option<&Beginning>) -> Vec<String> {
    let own =
        |settings: &AbsolutePath| beginning.is_none_or(|beginning| beginning.settings.contains(settings));
    let fallen = installations.fallen().into_iter().filter(|fallen| own(&fallen.settings));
    fallen.map(|fallen| fallen.to_string()).collect()
}
