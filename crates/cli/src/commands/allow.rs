//! `checkrein allow`, `checkrein wrong` and `checkrein missed`: a user changes their mind about what was stopped, or let through.

use std::collections::BTreeMap;

use checkrein_engine::allowances::{self, Allowance, AllowedFor};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{Durability, FolderName, lines};
use checkrein_policy::rules;
use checkrein_protocol::{AbsolutePath, EffectKind, Record, RecordBody, ReviewRecord, Stake, VerdictKind};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;
use serde_json::json;

use super::name_choice::NamedKind;
use super::session_choice::{folders, only_folder};
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, sessions};
use crate::render::{call, time};
use crate::terminal::{Reply, confirm, cut, log, plain, print};

/// How far back earlier calls are looked at, in milliseconds (design: 30 days).
const PERIOD: u64 = 30 * 24 * 60 * 60 * 1000;
/// The name of the records about what a user says of a verdict.
pub(super) const JUDGED: &str = "checkrein.judged";
/// The word for the newest call that was asked about or refused here.
const NEWEST: &str = "LAST";
/// How much of a call is shown, in letters (ours).
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

/// What a user says of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opinion {
    /// It stopped what was all right.
    Wrong,
    /// It let pass what should have been stopped.
    Missed,
}

impl Opinion {
    const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Missed => "missed",
        }
    }
}

/// A review and the session that it is from.
struct Found {
    folder: FolderName,
    review: Box<ReviewRecord>,
}

/// Allows a call that was asked about or refused.
pub fn allow(
    environment: &HostEnvironment,
    wanted: &Wanted,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "allow")?;
    let Found { folder, review } = found(environment, &wanted.id)?;
    let words = cut(&plain(&call(&review)), SHOWN);
    let Some(digest) = review.digest.clone() else {
        return Err(CommandError::user(
            format!("`{words}` was neither asked about nor refused"),
            "there is nothing to allow; `checkrein log --risky` shows what was stopped",
        ));
    };
    if let Some((why, hint)) = cannot(&review, wanted.span) {
        return Err(CommandError::user(format!("`{words}` cannot be allowed: {why}"), hint));
    }
    let here = AbsolutePath::new(&review.cwd).unwrap_or_else(|| environment.cwd.clone());
    let directory = wanted.directory.as_deref().map(|text| place(environment, text));
    let is_below = directory.is_some();
    let allowance = Allowance {
        digest,
        directory: directory.unwrap_or(here),
        is_below,
        span: match wanted.span {
            WantedSpan::Once => AllowedFor::Once,
            WantedSpan::Session => AllowedFor::Session(folder.as_str().to_owned()),
            WantedSpan::Always => AllowedFor::Always,
        },
        at: environment.now(),
        words: words.clone(),
        effects: review.effects.iter().map(allowances::in_short).collect(),
    };
    let earlier = covered(environment, &allowance)?;
    if output == OutputForm::Text {
        print(&format!("`{words}`\n  {}: {}", stopped(review.verdict), plain(&review.reason)));
        print(&format!("  allowed {}", in_words(&allowance)));
        print(&match earlier {
            0 | 1 => {
                "  no other call of the last 30 days was stopped that this would have let pass".to_owned()
            }
            many => format!(
                "  {} more calls of the last 30 days were stopped that this would have let pass",
                many - 1
            ),
        });
    }
    if wanted.yes == Switch::Off {
        match confirm("Allow exactly this call?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let name = allowances::give(environment, &allowance)?;
    let ledger = SessionLedger::of_folder(&environment.state, folder);
    let fields = json!({ "action": review.action_id, "allowance": name, "span": span_word(&allowance.span) });
    let body = RecordBody::Event { name: "checkrein.allowed".to_owned(), fields };
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
    match output {
        OutputForm::Json => print(&api::line(&sessions::Allowed {
            allowance: name,
            call: words,
            span: span_word(&allowance.span).to_owned(),
            directory: allowance.directory.to_string(),
            below: allowance.is_below,
            earlier,
        })?),
        OutputForm::Text => print(&format!("done; `checkrein allow --forget {name}` takes it back")),
    }
    Ok(ExitStatus::Done)
}

/// Lists what is allowed.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = allowances::all(environment)?;
    match output {
        OutputForm::Json => {
            for (name, one) in &all {
                print(&api::line(&sessions::Allowed {
                    allowance: name.clone(),
                    call: one.words.clone(),
                    span: span_word(&one.span).to_owned(),
                    directory: one.directory.to_string(),
                    below: one.is_below,
                    earlier: 0,
                })?);
            }
        }
        OutputForm::Text if all.is_empty() => print("nothing is allowed beforehand"),
        OutputForm::Text => {
            for (name, one) in &all {
                print(&format!("{name}  {}  {}\n  `{}`", time(one.at.0), in_words(one), plain(&one.words)));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Takes an allowance back.
pub fn forget(
    environment: &HostEnvironment,
    name: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "allow --forget")?;
    let all = allowances::all(environment)?;
    // Only names that were listed are looked up: a path is none.
    let is_known = all.iter().any(|(known, _)| known == name);
    if !is_known || !allowances::forget(environment, name)? {
        return Err(CommandError::user(
            format!("nothing is allowed under the name `{}`", plain(name)),
            "`checkrein allow --list` shows the names",
        ));
    }
    match output {
        OutputForm::Json => print(&api::line(&sessions::Forgotten { allowance: name.to_owned() })?),
        OutputForm::Text => print("it is asked about again"),
    }
    Ok(ExitStatus::Done)
}

/// Writes down what a user says of a verdict, and tells how often that was said of the rules behind it.
pub fn judge(
    environment: &HostEnvironment,
    id: &str,
    opinion: Opinion,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, opinion.name())?;
    let Found { folder, review } = found(environment, id)?;
    let was_stopped = review.verdict >= VerdictKind::Escalate;
    match (opinion, was_stopped) {
        (Opinion::Wrong, true) | (Opinion::Missed, false) => {}
        (Opinion::Wrong, false) => {
            return Err(CommandError::user(
                "that call was not stopped, so nothing was wrong with stopping it",
                "`checkrein missed ID` says that one should have been",
            ));
        }
        (Opinion::Missed, true) => {
            return Err(CommandError::user(
                "that call was stopped, so nothing was missed",
                "`checkrein wrong ID` says that it should have run",
            ));
        }
    }
    let names: Vec<&str> = review.rules.iter().filter_map(|rule| rule.split(':').next()).collect();
    let fields = json!({ "action": review.action_id, "opinion": opinion.name(), "rules": names });
    let body = RecordBody::Event { name: JUDGED.to_owned(), fields };
    SessionLedger::of_folder(&environment.state, folder).append(
        environment.now(),
        body,
        Durability::Durable,
    )?;
    let rates = rates(environment)?;
    let of_it: Vec<sessions::RuleRate> =
        rates.into_iter().filter(|rate| names.contains(&rate.rule.as_str())).collect();
    match output {
        OutputForm::Json => print(&api::line(&sessions::OpinionMarked {
            action: review.action_id.as_str().to_owned(),
            opinion: opinion.name().to_owned(),
            rules: of_it,
        })?),
        OutputForm::Text => {
            print("noted");
            for rate in &of_it {
                print(&format!(
                    "  {}: {} of {} stops in the last 30 days were wrong",
                    rate.rule, rate.wrong, rate.stopped
                ));
            }
            if opinion == Opinion::Wrong && review.digest.is_some() {
                print(&format!(
                    "`checkrein allow {} --always` lets this very call pass from now on",
                    review.action_id.as_str()
                ));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// How often each rule stopped a call in the last 30 days, and how often a user said that it was wrong.
fn rates(environment: &HostEnvironment) -> Result<Vec<sessions::RuleRate>, CommandError> {
    let since = environment.now().0.saturating_sub(PERIOD);
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for folder in folders(environment, None)? {
        // A user may say something of a call again: the last word counts, once.
        let mut opinions = BTreeMap::new();
        for record in records(environment, &folder)?.into_iter().filter(|record| record.at.0 >= since) {
            match record.body {
                RecordBody::Review(review) if review.verdict >= VerdictKind::Escalate => {
                    for rule in review.rules.iter().filter_map(|rule| rule.split(':').next()) {
                        counts.entry(rule.to_owned()).or_default().0 += 1;
                    }
                }
                RecordBody::Event { name, fields } if name == JUDGED => {
                    opinions.insert(fields["action"].to_string(), fields);
                }
                _ => {}
            }
        }
        for fields in opinions.values().filter(|fields| fields["opinion"] == Opinion::Wrong.name()) {
            for rule in fields["rules"].as_array().into_iter().flatten().filter_map(|rule| rule.as_str()) {
                counts.entry(rule.to_owned()).or_default().1 += 1;
            }
        }
    }
    Ok(counts
        .into_iter()
        .map(|(rule, (stopped, wrong))| sessions::RuleRate { rule, stopped, wrong })
        .collect())
}

/// How many calls of the last 30 days were stopped that an allowance would have let pass.
fn covered(environment: &HostEnvironment, allowance: &Allowance) -> Result<u64, CommandError> {
    let since = environment.now().0.saturating_sub(PERIOD);
    let mut count = 0;
    for folder in folders(environment, None)? {
        let is_session = match &allowance.span {
            AllowedFor::Session(of) => of == folder.as_str(),
            AllowedFor::Once | AllowedFor::Always => true,
        };
        if !is_session {
            continue;
        }
        for record in records(environment, &folder)?.into_iter().filter(|record| record.at.0 >= since) {
            let RecordBody::Review(review) = record.body else { continue };
            let is_there = AbsolutePath::new(&review.cwd).is_some_and(|cwd| {
                cwd == allowance.directory || allowance.is_below && cwd.is_within(&allowance.directory)
            });
            count += u64::from(is_there && review.digest.as_deref() == Some(allowance.digest.as_str()));
        }
    }
    Ok(count)
}

/// Why a call cannot be allowed, and what a user can do; `None` where it can.
fn cannot(review: &ReviewRecord, span: WantedSpan) -> Option<(&'static str, &'static str)> {
    let is_own = |rule: &str| {
        let (name, decision) = rule.split_once(": ").unwrap_or((rule, ""));
        rules::find(name).is_none() && matches!(decision, "modify" | "block")
    };
    let fired = review.governance.as_ref().is_some_and(|one| {
        one.fired.iter().any(|fired| ["escalate", "block", "halt"].iter().any(|word| fired.ends_with(word)))
    });
    if review.effects.iter().any(|effect| effect.kind == EffectKind::GuardTampering) {
        Some(("it touches the guard itself", "make the change yourself, outside the agent"))
    } else if fired || review.rules.iter().any(|rule| is_own(rule)) {
        Some(("a rule of your own configuration or of your team stops it", "change that rule"))
    } else if span != WantedSpan::Once && review.effects.iter().any(|effect| effect.stake == Stake::Critical)
    {
        Some(("it takes away what must not be lost, which can be allowed for one call only", "use `--once`"))
    } else if review.further_file_operations > 0 {
        Some((
            "it would do more than the record holds, so that nobody could tell it from another call",
            "run it yourself, or divide it",
        ))
    } else {
        None
    }
}

/// The review of the call that a user names.
fn found(environment: &HostEnvironment, id: &str) -> Result<Found, CommandError> {
    if id == NEWEST {
        return newest(environment);
    }
    if let Some((session, number)) = id.rsplit_once(':').filter(|(_, number)| number.parse::<u64>().is_ok()) {
        let folder = only_folder(environment, session)?;
        let mut all = records(environment, &folder)?.into_iter();
        let record = all.find(|record| record.seq.to_string() == number);
        return match record.map(|record| record.body) {
            Some(RecordBody::Review(review)) => Ok(Found { folder, review }),
            Some(_) | None => Err(NamedKind::Action.unknown(id)),
        };
    }
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            if let RecordBody::Review(review) = record.body
                && review.action_id.as_str().starts_with(id)
            {
                all.push(Found { folder: folder.clone(), review });
            }
        }
    }
    let only = NamedKind::Action.only(id, all.iter().map(|one| one.review.action_id.as_str()))?.to_owned();
    let mut meant = all.into_iter().rev().filter(|one| one.review.action_id.as_str() == only);
    meant.next().ok_or_else(|| NamedKind::Action.unknown(id))
}

/// The newest call in this workspace that was asked about or refused.
fn newest(environment: &HostEnvironment) -> Result<Found, CommandError> {
    let workspace = find_workspace(&environment.cwd);
    let mut newest: Option<(u64, Found)> = None;
    for folder in folders(environment, None)? {
        for record in records(environment, &folder)? {
            let RecordBody::Review(review) = record.body else { continue };
            let is_here = AbsolutePath::new(&review.cwd).is_some_and(|cwd| cwd.is_within(&workspace));
            let is_newer = newest.as_ref().is_none_or(|(at, _)| record.at.0 >= *at);
            if is_here && is_newer && review.digest.is_some() {
                newest = Some((record.at.0, Found { folder: folder.clone(), review }));
            }
        }
    }
    newest.map(|(_, found)| found).ok_or_else(|| {
        CommandError::user(
            "nothing was asked about or refused in this project",
            "`checkrein log` shows the ids of other calls",
        )
    })
}

fn records(environment: &HostEnvironment, folder: &FolderName) -> Result<Vec<Record>, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    Ok(lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect())
}

fn place(environment: &HostEnvironment, text: &str) -> AbsolutePath {
    AbsolutePath::new(text).unwrap_or_else(|| environment.cwd.join(text))
}

fn stopped(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Escalate => "was asked about",
        VerdictKind::Block | VerdictKind::Halt => "was refused",
        VerdictKind::Ok | VerdictKind::Nudge => "ran",
    }
}

fn span_word(span: &AllowedFor) -> &'static str {
    match span {
        AllowedFor::Once => "once",
        AllowedFor::Session(_) => "session",
        AllowedFor::Always => "always",
    }
}

fn in_words(allowance: &Allowance) -> String {
    let span = match &allowance.span {
        AllowedFor::Once => "once, within an hour".to_owned(),
        AllowedFor::Session(session) => format!("in the session {}", plain(session)),
        AllowedFor::Always => "always".to_owned(),
    };
    let below = if allowance.is_below { " and below" } else { "" };
    format!("{span}, in `{}`{below}", plain(allowance.directory.as_str()))
}
