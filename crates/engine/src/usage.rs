//! What a session spends: the transcript of its client read on, and the budget checked before the next call.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use checkrein_clients::transcript::{Meter, TranscriptReading};
use checkrein_clients::{Prices, Transcript};
use checkrein_patterns::{ActionNumber, Fingerprint};
use checkrein_policy::Config;
use checkrein_protocol::{
    AbsolutePath, HookEvent, LimitedResource, MessagePlace, MicroDollars, RecordBody, TranscriptMark,
    UsageRecord,
};
use checkrein_session::{Cost, KnownSession, SessionState};

use checkrein_supervise::runs::{HookLimits, HookSwitch, RunSpending};

use crate::context::Context;
use crate::docket::Docket;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::lineage::Family;
use crate::records::{message_mark, message_record};

/// How much of a transcript is read after a call (ours); what is left is read after the next.
pub(crate) const AFTER_A_CALL: usize = 1024 * 1024;

/// How much is read at the end of a turn, when nobody waits for the next call (ours).
pub(crate) const AT_THE_END: usize = 16 * 1024 * 1024;

/// Reads a transcript on from where the session has read it; `None` when there is nothing new or it cannot be read, which the list of
/// sessions shows as unknown.
pub(crate) fn read(
    environment: &HostEnvironment,
    state: &SessionState,
    transcript: Option<&AbsolutePath>,
    most: usize,
) -> Option<TranscriptReading> {
    let path = transcript?;
    let file = u64::from(Fingerprint::of(path.as_str()).0);
    let (mark, named) = (state.spent().mark(file), state.spent().named(file));
    match piece(path, mark, most) {
        Ok(Piece::Nothing) => None,
        Ok(Piece::New(bytes)) => {
            let price = environment.run_limits.as_ref().and_then(|limits| limits.price.as_deref());
            let (prices, gap) = match prices(environment, price) {
                Ok(prices) => (prices, None),
                Err(error) => (Prices::default(), Some(error.message)),
            };
            let mut meter = Meter::new(mark, named, &prices);
            meter.take(&bytes, most);
            let mut reading = meter.finish();
            reading.usage.gap = gap;
            (reading.usage.mark != mark).then_some(reading)
        }
        Ok(Piece::Shorter(length)) => {
            let gap =
                "the transcript was written anew; what went before is counted, what came between is not";
            let mark = TranscriptMark {
                offset: length,
                ..TranscriptMark { file: mark.file, ..TranscriptMark::default() }
            };
            let from = state.spent().mark(mark.file).offset;
            let usage = UsageRecord { from, mark, gap: Some(gap.to_owned()), ..UsageRecord::default() };
            Some(TranscriptReading { usage, said: Vec::new() })
        }
        Err(error) => {
            environment.diagnostics.add(format!("`{path}` is not read: {error}"));
            None
        }
    }
}

/// What stands behind the mark.
enum Piece {
    Nothing,
    New(Vec<u8>),
    /// The file is shorter than it was: its length.
    Shorter(u64),
}

fn piece(path: &AbsolutePath, mark: TranscriptMark, most: usize) -> io::Result<Piece> {
    // The path comes from outside: what is no ordinary file must not keep anybody waiting.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = match fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path.as_str()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Piece::Nothing),
        Err(error) => return Err(error),
    };
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::other("no ordinary file"));
    }
    let length = facts.len();
    if length < mark.offset {
        return Ok(Piece::Shorter(length));
    }
    let wanted = usize::try_from(length - mark.offset).unwrap_or(most).min(most);
    let mut bytes = vec![0; wanted];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, mark.offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(if bytes.is_empty() { Piece::Nothing } else { Piece::New(bytes) })
}

/// How many messages between calls are written down from one reading of a transcript (ours).
const MESSAGES: usize = 8;

/// What the transcript says that is new, as records: what was spent, and messages between calls that speak of new work. `last` is the
/// message that is recorded anyway.
pub(crate) fn transcribed(
    context: &Context,
    event: &HookEvent,
    known: &KnownSession,
    most: usize,
    last: Option<&str>,
) -> Vec<RecordBody> {
    let (environment, own) = (context.environment(), &context.policy().config().patterns.cascade_patterns);
    let transcript = event.transcript.clone().or_else(|| kept(environment, event));
    let Some(reading) = read(environment, known.state(), transcript.as_ref(), most) else {
        return Vec::new();
    };
    let known_marks = [Some(known.state().said()), last.map(message_mark)];
    let is_new = |text: &&String| !known_marks.contains(&Some(message_mark(text)));
    let speaks = |body: &RecordBody| matches!(body, RecordBody::Message { cascade: Some(_), .. });
    let said = reading.said.iter().filter(is_new).map(|text| message_record(text, MessagePlace::Midway, own));
    let mut bodies: Vec<RecordBody> = said.filter(speaks).take(MESSAGES).collect();
    bodies.push(RecordBody::Usage(Box::new(reading.usage)));
    bodies
}

/// The transcript of a session, of which its client does not tell.
fn kept(environment: &HostEnvironment, event: &HookEvent) -> Option<AbsolutePath> {
    let client = checkrein_clients::named(event.client.name())?;
    let place = client.transcripts.filter(|_| client.transcript == Transcript::Keeps)?;
    Some(environment.folder_of(client).join(&place.only(event.session.as_str())?))
}

/// The prices in force: one for every model that was given for a run, `prices.csv` of the configuration, and those that come along.
pub fn prices(environment: &HostEnvironment, given: Option<&str>) -> Result<Prices, CommandError> {
    if let Some(given) = given {
        return Prices::default().for_all_models(given).map_err(|error| {
            CommandError::user(format!("`{}` is not a price", error.found), "write INPUT,OUTPUT in dollars")
        });
    }
    let path = environment.configuration.join("prices.csv");
    let text = match checkrein_files::read_text(path.as_str(), checkrein_files::SMALL) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Prices::default());
        }
        Err(error) => return Err(CommandError::file("read", &path, &error)),
    };
    Prices::with_own(&text).map_err(|error| {
        CommandError::user(format!("`{path}` {error}"), "mend the line; until then only known prices count")
    })
}

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reached {
    /// By what a run ends for it.
    pub(crate) switch: HookSwitch,
    /// In words.
    pub(crate) reason: String,
}

/// Why a call is refused for what was spent and what the next answer will take, when that is more than the limits, tighter ones included. A
/// session that is older than the run above it is left to the run, which knows what was spent since.
pub(crate) fn exceeded(
    docket: &mut Docket,
    state: &SessionState,
    config: &Config,
    (run, family): (Option<&HookLimits>, Option<Family>),
) -> Option<Reached> {
    let mut gaps = Vec::new();
    let reached = reached(state, config, (run, family), &mut gaps);
    gaps.into_iter().for_each(|gap| docket.did_not_run(gap));
    reached
}

/// The limit that is used up, if one is; `gaps` is what could not be checked.
pub(crate) fn reached(
    state: &SessionState,
    config: &Config,
    (run, family): (Option<&HookLimits>, Option<Family>),
    gaps: &mut Vec<String>,
) -> Option<Reached> {
    let is_older = |run: &HookLimits| state.started().is_some_and(|started| started.0 < run.since);
    let (tokens, dollars) = (config.token_limit(), config.dollar_limit());
    let answers = run.and_then(|run| run.iterations);
    if run.is_some_and(is_older) || tokens.is_none() && dollars.is_none() && answers.is_none() {
        return None;
    }
    // A run counts every session that began in it, and knows them from others.
    let family = family.filter(|_| run.is_none()).unwrap_or_default();
    over(state, tokens, dollars, family, gaps).or_else(|| over_answers(state, answers?))
}

fn over_answers(state: &SessionState, limit: u64) -> Option<Reached> {
    (state.spent().answers() >= limit).then(|| Reached {
        switch: HookSwitch::Iterations,
        reason: format!("the model has answered {limit} times, which is the limit"),
    })
}

fn over(
    state: &SessionState,
    tokens: Option<u64>,
    dollars: Option<f64>,
    family: Family,
    gaps: &mut Vec<String>,
) -> Option<Reached> {
    let spent = state.spent();
    if family.is_untold {
        gaps.push(
            "what agents spend that belong to this session is not known: a client of theirs does not tell it"
                .to_owned(),
        );
    }
    let together = match family.others {
        0 => String::new(),
        1 => ", together with one other agent of the same family,".to_owned(),
        others => format!(", together with {others} other agents of the same family,"),
    };
    if !spent.is_metered() {
        if state.outcomes() > 0 {
            gaps.push("what the session spends is not known: its client does not tell it, or its transcript cannot be read".to_owned());
        }
        // What others spent for it is used up all the same.
        if family.others == 0 {
            return None;
        }
    }
    let throttle = state.controller().throttle();
    let action = ActionNumber(state.actions() + 1);
    let (next_tokens, next_cost) = spent.estimate();
    if let Some(limit) = tokens {
        let whole = limit;
        let limit =
            throttle.map_or(limit, |throttle| throttle.reduced(LimitedResource::Tokens, limit, action));
        let tighter = tighter(limit < whole, &whole.to_string());
        let used = spent.tokens().counted().saturating_add(family.spent.tokens);
        if used.saturating_add(next_tokens) > limit {
            return Some(Reached {
                switch: if used > limit { HookSwitch::Tokens } else { HookSwitch::NextCall },
                reason: format!(
                    "the session{together} has used {used} tokens, and about {next_tokens} more would exceed its limit of {limit} (`limits.tokens`{tighter})"
                ),
            });
        }
    }
    let limit = dollars?;
    let factor = throttle.map_or(1.0, |throttle| throttle.factor_for(LimitedResource::Dollars, action));
    let (known, is_whole) = match spent.cost() {
        None if family.others == 0 => return None,
        None => (MicroDollars(0), true),
        Some(Cost::Known(known) | Cost::About(known)) => (known, true),
        Some(Cost::AtLeast(known)) => (known, false),
    };
    let next = next_cost.unwrap_or_default();
    let used = known.dollars() + family.spent.dollars;
    if used + next.dollars() > limit * factor {
        let is_over = used > limit * factor;
        let known = if family.others == 0 { known.to_string() } else { in_cents(used) };
        return Some(Reached {
            switch: if is_over { HookSwitch::Budget } else { HookSwitch::NextCall },
            reason: format!(
                "the session{together} has cost {known}, and about {next} more would exceed its limit of {} (`limits.dollars`{})",
                in_cents(limit * factor),
                tighter(factor < 1.0, &in_cents(limit))
            ),
        });
    }
    if !is_whole {
        let names: Vec<&str> =
            spent.models().iter().filter(|one| one.cost.is_none()).map(|one| one.model.as_str()).collect();
        gaps.push(format!(
            "the limit of dollars was not checked as a whole: no price is known for {} (`prices.csv` can name one)",
            names.join(", ")
        ));
    }
    None
}

/// What stands behind a limit that is tighter for now than the configuration says.
fn tighter(is_tighter: bool, whole: &str) -> String {
    if is_tighter {
        format!(", tighter for now than {whole} because the session went wrong")
    } else {
        String::new()
    }
}

fn in_cents(dollars: f64) -> String {
    format!("${dollars:.2}")
}

/// What a session has spent, as runs count it.
pub fn spent_by(state: &SessionState) -> RunSpending {
    let spent = state.spent();
    let dollars = match spent.cost() {
        None => Some(0.0),
        Some(Cost::Known(known) | Cost::About(known)) => Some(known.dollars()),
        Some(Cost::AtLeast(_)) => None,
    };
    RunSpending { dollars, tokens: spent.tokens().counted(), iterations: spent.answers(), milliseconds: 0 }
}

/// A cost in words.
pub fn cost_in_words(cost: Option<Cost>) -> String {
    match cost {
        None | Some(Cost::AtLeast(MicroDollars(0))) => "unknown".to_owned(),
        Some(Cost::Known(known)) => known.to_string(),
        Some(Cost::About(known)) => format!("about {known}"),
        Some(Cost::AtLeast(known)) => format!("{known} + unknown"),
    }
}
