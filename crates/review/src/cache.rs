//! Answers kept while the facts they rest on hold.
//!
//! The key is action, context and policy version (design 5). The file system is a part of the context that no fingerprint can
//! hold, so each entry carries the facts that its review asked for, and counts only while the world still answers the same.

use std::collections::{BTreeMap, HashMap};

use checkrein_facts::{RecordedWorld, Recorder, World};
use checkrein_policy::Policy;
use checkrein_protocol::{Action, Timestamp};

use crate::fingerprint::Fnv;
use crate::review::Forecast;
use crate::saving::Saved;
use crate::verdict::Review;

/// How long an answer stays good, in milliseconds. Default: five minutes (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeToLive(pub u64);

/// How many answers are kept. Default: 1000 (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub usize);

/// Reviews of one process, least recently used first out.
///
/// The hook does not use one: a process that judges a single action would have to read more than it saves.
#[derive(Debug)]
pub struct ReviewCache {
    time_to_live: TimeToLive,
    size: Size,
    turn: u64,
    found: u64,
    entries: HashMap<u64, Kept>,
    /// The keys by the turn in which each was used last.
    order: BTreeMap<u64, u64>,
}

#[derive(Debug)]
struct Kept {
    review: Review,
    facts: RecordedWorld,
    at: Timestamp,
    used: u64,
}

impl ReviewCache {
    /// An empty cache.
    pub fn new(time_to_live: TimeToLive, size: Size) -> Self {
        Self { time_to_live, size, turn: 0, found: 0, entries: HashMap::new(), order: BTreeMap::new() }
    }

    /// The review of an action: a kept one while it is fresh and its facts hold, else a new one.
    pub fn review(&mut self, action: &Action, world: &dyn World, policy: &Policy) -> Review {
        self.judge(&Forecast::of(action, world, policy))
    }

    /// The same of a forecast, which has what was found out when the review is a new one.
    pub fn judge(&mut self, forecast: &Forecast<'_>) -> Review {
        let (action, world, policy) = (forecast.action(), forecast.world(), forecast.policy());
        self.turn += 1;
        let key = key(action, world, policy);
        if let Some(kept) = self.entries.get_mut(&key) {
            let age = world.now().0.saturating_sub(kept.at.0);
            if age < self.time_to_live.0 && holds(&kept.facts, world) {
                self.order.remove(&kept.used);
                self.order.insert(self.turn, key);
                kept.used = self.turn;
                self.found += 1;
                return kept.review.clone();
            }
        }
        let recorder = Recorder::new(world);
        let forecast_with_facts = Forecast::of(action, &recorder, policy);
        let review = forecast_with_facts.judge(&Saved::default());
        forecast.take_over(forecast_with_facts);
        self.make_room();
        if self.size.0 > 0 {
            let kept = Kept {
                review: review.clone(),
                facts: recorder.into_facts(),
                at: world.now(),
                used: self.turn,
            };
            if let Some(former) = self.entries.insert(key, kept) {
                self.order.remove(&former.used);
            }
            self.order.insert(self.turn, key);
        }
        review
    }

    /// How many answers were kept ones.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// How many answers are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn make_room(&mut self) {
        if self.entries.len() < self.size.0 {
            return;
        }
        if let Some((_, oldest)) = self.order.pop_first() {
            self.entries.remove(&oldest);
        }
    }
}

fn key(action: &Action, world: &dyn World, policy: &Policy) -> u64 {
    let mut mark = Fnv::new();
    mark.text(action.tool.as_str());
    mark.text(&action.input.to_string());
    mark.text(action.cwd.as_str());
    mark.text(&policy.version().to_string());
    let history = world.history();
    mark.text(&format!("{} {} {}", history.actions, history.file_operations, history.active_issues));
    history.goals.iter().for_each(|goal| mark.text(goal));
    mark.0
}

/// Whether the world still answers every question of a review as it did.
fn holds(facts: &RecordedWorld, world: &dyn World) -> bool {
    facts.place == *world.place()
        && facts.history == *world.history()
        && facts.entries.iter().all(|(path, entry)| world.entry(path) == *entry)
        && facts.listings.iter().all(|(path, listing)| world.children(path) == *listing)
        && facts.texts.iter().all(|(path, text)| world.text(path) == *text)
        && facts.repositories.iter().all(|(path, repository)| world.repository(path) == *repository)
        && facts.versions.iter().all(|(path, version)| world.version(path) == *version)
        && facts
            .commits
            .iter()
            .all(|(place, revision, path, held)| world.committed(place, revision, path) == *held)
        && facts.guarded.as_ref().is_none_or(|guarded| guarded.as_slice() == &*world.guarded())
        && facts.archives.iter().all(|(path, members)| world.members(path) == *members)
        && facts.same_files.iter().all(|(one, other)| world.is_same_file(one, other))
        && facts.variables.iter().all(|(name, value)| world.variable(name) == *value)
        && facts.variable_names.iter().all(|name| world.variable(name).is_some())
}
