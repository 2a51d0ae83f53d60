//! What is told at the end of a run.

use std::io::{PipeReader, Read as _};

use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_protocol::TokenCounts;
use checkrein_supervise::runs::SetBack;
use checkrein_supervise::{Estimate, ProviderError, ProviderFailure, RunOutcome, SpendingShare, Stop};
use serde::{Deserialize, Serialize};

use super::super::OutputForm;
use super::super::exec::{left_behind, still_there};
use super::super::runs::word;
use super::review_sum::ReviewSum;
use super::stream_monitor::{Findings, StreamMonitor};
use crate::api;
use crate::terminal::{answer_aside, cut, log, plain};
use checkrein_engine::error::CommandError;

/// What one attempt came to; written by the process that supervised it, read by the one above.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Attempt {
    /// The exit status of the run, should this be the last attempt.
    pub(super) status: u8,
    /// By which switch it was stopped.
    pub(super) stopped_by: Option<String>,
    /// In words.
    pub(super) reason: Option<String>,
    /// What of the provider failed.
    pub(super) failure: Option<ProviderFailure>,
    /// Whether the client told anything of its work in a form that is understood.
    pub(super) told: bool,
    /// Its session.
    pub(super) session: Option<String>,
    /// How long it ran.
    pub(super) seconds: f64,
    /// From the decision to stop until nothing was left.
    pub(super) stopping_seconds: Option<f64>,
    /// Tokens of its answers.
    pub(super) tokens: TokenCounts,
    /// What they cost.
    pub(super) cost: f64,
    /// The first model that is not listed, and what it is counted as.
    pub(super) estimated: Option<Estimate>,
    /// Whether that was told while the agent ran.
    #[serde(default)]
    pub(super) estimate_is_told: bool,
    /// Why that is not all that was spent; `None` when all was counted.
    pub(super) uncounted: Option<String>,
    /// Lines of its stream that were too long to be read.
    pub(super) unread: u64,
    /// Answers of the model.
    pub(super) iterations: u64,
    /// Processes that had to be ended.
    pub(super) ended: usize,
    /// Processes that could not be ended.
    #[serde(default)]
    pub(super) left: usize,
    /// What was seen in its stream.
    pub(super) watched: Findings,
    /// Where it goes on from, where it was set back.
    #[serde(default)]
    pub(super) back: Option<SetBack>,
}

/// A whole run.
#[derive(Debug)]
pub(super) struct Report {
    /// How often it was started.
    pub(super) attempts: u32,
    /// The last attempt, with the sums of all.
    pub(super) last: Attempt,
    /// The provider, by name.
    pub(super) provider: String,
    /// When it may be called again (ISO 8601), when that is not at once.
    pub(super) earliest_retry: Option<String>,
    /// Whether there was a limit that needs the client's words.
    pub(super) counts: bool,
    /// What ends the agent when we are all killed at once.
    pub(super) held_by: &'static str,
    /// The name of the run.
    pub(super) run: String,
    /// Its worktree, when it has one of its own.
    pub(super) worktree: Option<String>,
    /// Where the agent worked.
    pub(super) directory: String,
    /// What the run changed in the repository beside its worktree, and the command that takes it back.
    pub(super) repository: Vec<String>,
    /// What the reviews of its calls came to.
    pub(super) reviews: ReviewSum,
    /// What a user can do now.
    pub(super) next_step: Option<String>,
}

impl Attempt {
    /// What the process that supervised wrote; `None` when nothing was run.
    pub(super) fn heard(mut told: PipeReader) -> Option<Self> {
        let mut text = Vec::new();
        told.read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// What an attempt came to that is over.
    pub(super) fn of(outcome: &RunOutcome, monitor: StreamMonitor) -> Self {
        let progress = &outcome.moment.progress;
        let (watched, found) = monitor.finish();
        // What came with the last words counts too.
        let stop = outcome.stop.as_ref().or(found.as_ref());
        Self {
            status: stop.map_or(outcome.status, Stop::status),
            stopped_by: stop.map(|stop| stop.name().to_owned()),
            // Short, whatever the stream said: this goes through a pipe that is read when we have ended.
            reason: stop.map(|stop| cut(&stop.to_string(), 1000)),
            failure: ProviderFailure::of_end(outcome.status, stop, told_error(outcome)),
            told: progress.iterations > 0 || progress.session.is_some(),
            session: progress.session.clone().filter(|session| session.len() <= 256),
            seconds: outcome.moment.running.as_secs_f64(),
            stopping_seconds: outcome.stopping.map(|time| time.as_secs_f64()),
            tokens: progress.tokens,
            cost: progress.dollars(),
            estimated: progress.estimated.clone(),
            estimate_is_told: false,
            uncounted: progress.uncounted.clone().or_else(|| progress.untold().map(str::to_owned)),
            unread: progress.unread,
            iterations: progress.iterations,
            ended: outcome.ended,
            left: outcome.left,
            watched,
            back: match stop {
                Some(Stop::Hooks(stop)) => stop.back.clone(),
                _ => None,
            },
        }
    }

    /// Adds what earlier attempts used.
    pub(super) fn after(mut self, before: Option<&Self>) -> Self {
        if let Some(before) = before {
            self.seconds += before.seconds;
            self.tokens = self.tokens.plus(&before.tokens);
            self.cost += before.cost;
            self.estimated = before.estimated.clone().or(self.estimated);
            self.estimate_is_told |= before.estimate_is_told;
            self.uncounted = before.uncounted.clone().or(self.uncounted);
            self.unread += before.unread;
            self.iterations += before.iterations;
            self.ended += before.ended;
            self.watched.reviews = self.watched.reviews.after(&before.watched.reviews);
        }
        self
    }

    fn summary(&self) -> String {
        let spent = if self.tells_spending() {
            let about = if self.estimated.is_some() { "about " } else { "" };
            format!("{} tokens · {about}{:.2} dollars", self.tokens.counted(), self.cost)
        } else {
            "tokens and cost unknown".to_owned()
        };
        format!("{} s · {} · {spent}", self.seconds.floor(), answers(self.iterations))
    }

    /// Whether anybody told what the agent spent: an answer takes some tokens.
    fn tells_spending(&self) -> bool {
        self.tokens != TokenCounts::default() || self.cost > 0.0 || self.iterations == 0 && self.told
    }
}

/// The last thing that went wrong, as the agent told: in its stream, or where that says nothing and it failed, beside it.
fn told_error(outcome: &RunOutcome) -> Option<&ProviderError> {
    let progress = &outcome.moment.progress;
    let aside = progress.error_aside.as_ref().filter(|_| outcome.status != 0);
    progress.error.as_ref().or(aside)
}

/// A number of answers in words.
pub(super) fn answers(number: u64) -> String {
    format!("{number} {}", if number == 1 { "answer" } else { "answers" })
}

/// Takes secrets out of what is said: those of known forms, and those that were given to the agent.
pub(super) struct Veil {
    pub(super) key: Option<MaskKey>,
    pub(super) credentials: Vec<(String, String)>,
}

impl Veil {
    pub(super) fn over(&self, text: &str) -> String {
        let text = self.over_credentials(text);
        match &self.key {
            Some(key) => mask_text(&text, key).into_owned(),
            None => text,
        }
    }

    /// Only those that were given: names of sessions have the form of a key.
    fn over_credentials(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.credentials {
            let veiled = format!("[credential {name}]");
            text = text.replace(value.as_str(), &veiled);
            // As it stands in JSON.
            let escaped = serde_json::Value::from(value.as_str()).to_string();
            text = text.replace(escaped.trim_matches('"'), &veiled);
        }
        text
    }
}

impl Report {
    pub(super) fn tell(&self, veil: &Veil, output: OutputForm) -> Result<(), CommandError> {
        let last = &self.last;
        if output == OutputForm::Json {
            let text = api::line(&api::programs::RunEndAnswer {
                status: api::recorded(&last.status),
                stopped_by: api::recorded(&last.stopped_by),
                reason: last.reason.as_deref().map(|reason| veil.over(reason)),
                failure: api::recorded(&last.failure),
                provider: api::recorded(&self.provider),
                earliest_retry: api::recorded(&self.earliest_retry),
                attempts: api::recorded(&self.attempts),
                told: api::recorded(&last.told),
                session: api::recorded(&last.session),
                seconds: api::recorded(&last.seconds),
                stopping_seconds: api::recorded(&last.stopping_seconds),
                tokens: api::recorded(&last.tells_spending().then_some(last.tokens)),
                cost: api::recorded(&last.tells_spending().then_some(last.cost)),
                estimated: api::recorded(&last.estimated),
                uncounted: api::recorded(&last.uncounted),
                unread: api::recorded(&last.unread),
                iterations: api::recorded(&last.iterations),
                ended: api::recorded(&last.ended),
                left: api::recorded(&last.left),
                watched: api::recorded(&Findings { reviews: ReviewSum::default(), ..last.watched.clone() }),
                reviews: api::recorded(&self.reviews),
                held_by: api::recorded(&self.held_by),
                run: api::recorded(&self.run),
                worktree: api::recorded(&self.worktree),
                directory: api::recorded(&self.directory),
                repository: api::recorded(&self.repository),
            })?;
            answer_aside(&veil.over_credentials(&text));
            return Ok(());
        }
        self.in_words().iter().for_each(|text| log(&format!("checkrein: {}", plain(&veil.over(text)))));
        Ok(())
    }

    fn in_words(&self) -> Vec<String> {
        let last = &self.last;
        let mut words = Vec::new();
        if let Some(reason) = &last.reason {
            let rest =
                if last.left == 0 { "no process of it is left".to_owned() } else { still_there(last.left) };
            words.push(format!("the agent is stopped: {reason} ({}); {rest}", last.summary()));
        } else if self.counts && !last.told {
            words.push(
                "the agent reported no answers in a form that checkrein reads, so tokens, cost and answers were not limited"
                    .to_owned(),
            );
        } else if last.ended > 0 {
            words.push(left_behind(last.ended));
        }
        if last.reason.is_none() && last.left > 0 {
            words.push(still_there(last.left));
        }
        if let Some(estimate) = last.estimated.as_ref().filter(|_| !last.estimate_is_told) {
            words.push(estimate_in_words(estimate));
        }
        if let (Some(why), false) = (&last.uncounted, last.stopped_by.as_deref() == Some("uncounted")) {
            words.push(format!("it spent more than was counted: {why}"));
        } else if last.unread > 0 {
            words.push(format!("lines of its stream that were too long to be read: {}", last.unread));
        }
        words.extend(last.watched.in_words());
        // What we stopped ourselves says nothing about its provider, unless that is not called again for a while.
        if let (Some(failure), true) = (last.failure, last.reason.is_none() || self.earliest_retry.is_some())
        {
            let again = match &self.earliest_retry {
                Some(time) => format!("; earliest retry at {time}"),
                None => String::new(),
            };
            let tries =
                if self.attempts > 1 { format!(" after {} attempts", self.attempts) } else { String::new() };
            words.push(format!(
                "`{}` failed{tries}: {} ({}){again}",
                self.provider,
                word(failure.class),
                word(failure.cause)
            ));
        }
        words.extend(self.repository.iter().cloned());
        words.extend(self.next_step.clone());
        words
    }
}

/// Warns of what a run has spent of its budget, at each share once over all of its attempts.
pub(super) struct SpendingWarnings {
    limit: Option<f64>,
    /// What earlier attempts have cost.
    earlier: f64,
    spent: f64,
}

impl SpendingWarnings {
    pub(super) fn new(limit: Option<f64>, earlier: f64) -> Self {
        Self { limit, earlier, spent: earlier }
    }

    /// What is said now that this attempt has cost so much; `None` where no share was reached since the last time.
    pub(super) fn next(&mut self, cost: f64) -> Option<String> {
        let (limit, now) = (self.limit?, self.earlier + cost);
        let share = SpendingShare::reached(self.spent, now, limit);
        self.spent = self.spent.max(now);
        share.map(|share| share.in_words(now, limit))
    }
}

/// That a price is an estimate, and what to do about it.
pub(super) fn estimate_in_words(estimate: &Estimate) -> String {
    let Estimate { model, like } = estimate;
    let model =
        if model.is_empty() { "a model without a name".to_owned() } else { format!("`{}`", cut(model, 80)) };
    format!(
        "no price is listed for {model}, so it counts as `{like}`; `--price INPUT,OUTPUT` or a line in `~/.config/checkrein/prices.csv` gives the real one"
    )
}
