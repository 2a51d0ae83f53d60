//! `checkrein allow`: a user lets a call pass that was asked about or refused.

pub(super) mod shown;

use checkrein_engine::allowances::{self, Allowance, AllowedFor, Granted, GrantedState, in_words, span_word};
use checkrein_engine::approvals;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{Durability, FolderName};
use checkrein_protocol::{
    AbsolutePath, Effect, EffectKind, Record, RecordBody, ReviewRecord, RuledOut, Stake, Unliftable,
};
use checkrein_session::SessionLedger;
use serde_json::json;

use super::session_choice::folders;
use super::stopped_calls::{Found, Newest, found, newer_refusal, recent, records, refused_by_client};
use super::story::SessionHead;
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, sessions};
use crate::render::{call, time};
use crate::terminal::{Reply, confirm, counted, cut, log, page, plain, print, print_exact, wrapped};

/// How much of a call is shown in a list and in an error, in letters (ours).
const SHOWN: usize = 100;

/// What is wanted of `allow`.
#[derive(Debug)]
pub struct Wanted {
    /// The call: the beginning of its id, `SESSION:NUMBER` or `LAST`.
    pub id: String,
    /// For how long.
    pub span: WantedSpan,
    /// The directory at and below which it holds; `None` where it ran, and nowhere else.
    pub directory: Option<String>,
    /// Whether the question is answered already.
    pub yes: Switch,
}

/// For how long a call is to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedSpan {
    /// One call.
    Once,
    /// The session in which it was stopped.
    Session,
    /// From now on.
    Always,
}

/// Allows a call that was asked about or refused.
pub fn allow(
    environment: &HostEnvironment,
    wanted: &Wanted,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "allow")?;
    if output == OutputForm::Json && wanted.yes == Switch::Off {
        return Err(CommandError::user(
            "`--json` cannot ask, so nothing was allowed",
            "give `--yes` too, or leave `--json` out and answer the question",
        ));
    }
    // Where none can be allowed, the newest one says why.
    let meant = found(environment, &wanted.id, Newest::Allowable)
        .or_else(|_| found(environment, &wanted.id, Newest::Stopped))?;
    let Found { folder, review, name: called, .. } = &meant;
    if !review.was_stopped()
        && let Some(client) = refused_by_client(environment, &meant)
    {
        let words = cut(&plain(&call(review)), SHOWN);
        return Err(CommandError::user(
            format!("checkrein let `{words}` pass; {client} or its user refused it"),
            format!("allow it in the settings or at the question of {client}"),
        ));
    }
    newer_refusal(environment, &wanted.id, &meant).iter().for_each(|remark| log(&wrapped(remark)));
    let against = speaks_against(review)?;
    let barred = against.iter().find(|reason| match reason.rules_out() {
        RuledOut::All => true,
        RuledOut::Lasting => wanted.span != WantedSpan::Once,
    });
    if let Some(reason) = barred {
        return Err(refusal((review, called), *reason));
    }
    if wanted.span == WantedSpan::Session && has_ended(environment, folder.as_str())? {
        let id = plain(called);
        return Err(CommandError::user(
            format!(
                "the session of `{}` has ended, so that nothing of it is left to allow",
                cut(&plain(&call(review)), SHOWN)
            ),
            format!(
                "`checkrein allow {id} --once` allows the call once in any session, `--always` from now on"
            ),
        ));
    }
    let allowance = allowance(environment, wanted, folder, review)?;
    not_too_broad(environment, &allowance)?;
    let others = others(environment, &allowance, &meant)?;
    if output == OutputForm::Text {
        page(&shown::question(review, &allowance, &against, others, &environment.home));
    }
    if wanted.yes == Switch::Off {
        match confirm("Allow exactly this call?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let name = allowances::give(environment, &allowance)?;
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let fields = json!({ "action": review.action_id, "allowance": name, "span": span_word(&allowance.span) });
    let body = RecordBody::Event { name: "checkrein.allowed".to_owned(), fields };
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
    match output {
        OutputForm::Json => {
            print_exact(&api::line(&shown::allowed(name, review, &allowance, &against, others))?);
        }
        OutputForm::Text => print(&format!(
            "done: tell the agent to try again; `checkrein allow --forget {name}` takes it back"
        )),
    }
    Ok(ExitStatus::Done)
}

/// What speaks against allowing a call, what rules out most first.
fn speaks_against(review: &ReviewRecord) -> Result<Vec<Unliftable>, CommandError> {
    let words = cut(&plain(&call(review)), SHOWN);
    if !review.was_stopped() {
        return Err(CommandError::user(
            format!("`{words}` was neither asked about nor refused"),
            "there is nothing to allow; `checkrein log --risky` shows what was stopped",
        ));
    }
    Ok(approvals::speaks_against(review))
}

fn refusal((review, called): (&ReviewRecord, &str), reason: Unliftable) -> CommandError {
    let words = cut(&plain(&call(review)), SHOWN);
    let extent = match reason.rules_out() {
        RuledOut::All => "cannot be allowed",
        RuledOut::Lasting => "can be allowed for one call only",
    };
    let (why, instead) = in_words_of((review, called), reason);
    CommandError::user(format!("`{words}` {extent}: {why}"), instead)
}

/// Why a call cannot be allowed that commands know by a name, as a clause, and what to do instead.
pub(super) fn in_words_of((review, called): (&ReviewRecord, &str), reason: Unliftable) -> (String, String) {
    let id = plain(called);
    let instead = reason.instead().replace("show ID", &format!("show {id}"));
    // What was meant may be a directory in which a part of the guard lies: it is named, so that nobody has to guess.
    let of_guard = review.effects.iter().find(|effect| effect.kind == EffectKind::GuardTampering);
    let place = of_guard.and_then(|effect| effect.target.path()).filter(|_| reason == Unliftable::Guard);
    let lost = review.effects.iter().find(|effect| is_grave_loss(effect));
    let lost = lost.and_then(|effect| effect.target.text()).filter(|_| reason == Unliftable::Guard);
    let why = match (place, lost) {
        (Some(place), Some(lost)) => {
            let (lost, place, why) = (plain(lost), plain(place.as_str()), reason.why());
            format!("it destroys `{lost}`, which must not be lost, and {why} (`{place}`)")
        }
        (Some(place), None) => format!("{} (`{}`)", reason.why(), plain(place.as_str())),
        (None, _) => reason.why().to_owned(),
    };
    (why, instead)
}

/// Whether an effect takes something from the user that must not be lost, which is graver for them than any change of the guard.
pub(super) fn is_grave_loss(effect: &Effect) -> bool {
    effect.kind != EffectKind::GuardTampering && effect.kind.is_mutating() && effect.stake == Stake::Critical
}

fn allowance(
    environment: &HostEnvironment,
    wanted: &Wanted,
    folder: &FolderName,
    review: &ReviewRecord,
) -> Result<Allowance, CommandError> {
    let ran = AbsolutePath::new(&review.cwd).unwrap_or_else(|| environment.cwd.clone());
    let directory = wanted.directory.as_deref().map(|text| place(environment, text)).transpose()?;
    let is_below = directory.is_some();
    Ok(Allowance {
        digest: review.digest.clone().unwrap_or_default(),
        directory: directory.unwrap_or(ran),
        is_below,
        span: match wanted.span {
            WantedSpan::Once => AllowedFor::Once,
            WantedSpan::Session => AllowedFor::Session(folder.as_str().to_owned()),
            WantedSpan::Always => AllowedFor::Always,
        },
        at: environment.now(),
        words: call(review),
        effects: review.effects.clone(),
        code: review.code.clone().unwrap_or_default(),
    })
}

/// An error where a call would be allowed from now on above all that the user works on.
fn not_too_broad(environment: &HostEnvironment, allowance: &Allowance) -> Result<(), CommandError> {
    let is_lasting = allowance.span == AllowedFor::Always && allowance.is_below;
    let is_above =
        environment.home.is_within(&allowance.directory) && allowance.directory != environment.home;
    if !(is_lasting && is_above) {
        return Ok(());
    }
    Err(CommandError::user(
        format!(
            "`--always --in {}` would let the call pass everywhere on this machine, also outside your home directory",
            allowance.directory
        ),
        "name the directory of the projects in which it may run: `--in ~/work`",
    ))
}

/// The directory that a user names; it must be there.
fn place(environment: &HostEnvironment, text: &str) -> Result<AbsolutePath, CommandError> {
    let path = AbsolutePath::new(text).unwrap_or_else(|| environment.cwd.join(text));
    if std::path::Path::new(path.as_str()).is_dir() {
        return Ok(path);
    }
    Err(CommandError::user(
        format!("`{}` is not a directory", plain(text)),
        "`--in` takes the directory at and below which the call may run",
    ))
}

/// How many other calls of the last 30 days were stopped that an allowance would have let pass.
fn others(environment: &HostEnvironment, allowance: &Allowance, meant: &Found) -> Result<u64, CommandError> {
    let would_pass = |(folder, record): (FolderName, Record)| match record.body {
        RecordBody::Review(other) => {
            (record.seq, &folder) != (meant.seq, &meant.folder)
                && other.was_stopped()
                && allowances::would_pass(allowance, &other, folder.as_str())
        }
        _ => false,
    };
    Ok(recent(environment)?.map(would_pass).filter(|passes| *passes).count() as u64)
}

/// Lists what is allowed, and how it stands with each.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = allowances::all(environment)?;
    match output {
        OutputForm::Json => {
            for one in &all {
                print_exact(&api::line(&shown::listed(one, &state_in_words(environment, one)?))?);
            }
        }
        OutputForm::Text if all.is_empty() => print("nothing is allowed beforehand"),
        OutputForm::Text => {
            for one in &all {
                let state = state_in_words(environment, one)?;
                print(&wrapped(&match &one.allowance {
                    Some(allowance) => format!(
                        "{}  {}  {}, for {}: {state}\n  `{}`",
                        plain(&one.name),
                        time(allowance.at.0),
                        plain(&in_words(allowance)),
                        agent_of(environment, allowance)?,
                        cut(&plain(&allowance.words), SHOWN)
                    ),
                    None => format!(
                        "{}  {state}\n  `checkrein allow --forget {}` removes it",
                        plain(&one.name),
                        plain(&one.name)
                    ),
                }));
            }
            if all.len() >= allowances::MOST {
                print(&format!("only {} are looked at", counted(allowances::MOST as u64, "file")));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// For whose calls an allowance holds, in words: that of a session for its agent, every other for all of them.
fn agent_of(environment: &HostEnvironment, allowance: &Allowance) -> Result<String, CommandError> {
    let AllowedFor::Session(session) = &allowance.span else { return Ok("any agent".to_owned()) };
    let folder = folders(environment, None)?.into_iter().find(|one| one.as_str() == session);
    let client = folder.and_then(|folder| SessionHead::of(environment, &folder).client);
    Ok(client.map_or_else(|| "its agent".to_owned(), |client| plain(&client)))
}

/// How it stands with an allowance, in words.
fn state_in_words(environment: &HostEnvironment, one: &Granted) -> Result<String, CommandError> {
    Ok(match &one.state {
        GrantedState::Waiting => "waiting for its call".to_owned(),
        GrantedState::Lasting => "holds".to_owned(),
        GrantedState::Used(at) => format!("used {}", time(at.0)),
        GrantedState::Expired => "expired, its call did not come".to_owned(),
        GrantedState::ForSession(session) if has_ended(environment, session)? => {
            "its session has ended".to_owned()
        }
        GrantedState::ForSession(_) => "holds for its session".to_owned(),
        GrantedState::Damaged(reason) => format!("damaged, allows nothing: {}", plain(reason)),
    })
}

/// Whether a session has ended, or is not there any more.
pub(super) fn has_ended(environment: &HostEnvironment, session: &str) -> Result<bool, CommandError> {
    let Some(folder) = folders(environment, None)?.into_iter().find(|one| one.as_str() == session) else {
        return Ok(true);
    };
    let mut has_ended = false;
    for record in records(environment, &folder)? {
        match &record.body {
            RecordBody::Event { name, .. } if name == "SessionEnd" => has_ended = true,
            RecordBody::SessionStarted { .. } | RecordBody::Review(_) => has_ended = false,
            _ => {}
        }
    }
    Ok(has_ended)
}

/// Takes an allowance back.
pub fn forget(
    environment: &HostEnvironment,
    name: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "allow --forget")?;
    if !allowances::forget(environment, name)? {
        return Err(CommandError::user(
            format!("nothing is allowed under the name `{}`", plain(name)),
            "`checkrein allow --list` shows the names",
        ));
    }
    match output {
        OutputForm::Json => print_exact(&api::line(&sessions::Forgotten { allowance: name.to_owned() })?),
        OutputForm::Text => print("it is asked about again"),
    }
    Ok(ExitStatus::Done)
}
