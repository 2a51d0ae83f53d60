//! What a session has spent and used, bounded: tokens and money as transcripts tell them, processes and bytes as reviews do.

use std::collections::VecDeque;

use checkrein_protocol::{MicroDollars, ModelUsage, TokenCounts, TranscriptMark, UsageRecord};
use serde::{Deserialize, Serialize};

/// How many transcripts are read on, the last ones: that of the session and those of its sub-agents (ours).
const TRANSCRIPTS: usize = 8;

/// How many models are told apart; further ones are counted together, without a name (ours).
const MODELS: usize = 8;

/// How much of the name of a model is kept, in characters (ours).
const LONGEST_NAME: usize = 200;

/// From how many of the last readings the next answer is estimated (ours).
const RECENT: usize = 5;

/// What a session has spent and used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageTotals {
    marks: VecDeque<TranscriptMark>,
    /// The model that each transcript named last, by its fingerprint.
    named: VecDeque<(u64, String)>,
    models: Vec<ModelUsage>,
    recent: VecDeque<Answer>,
    /// What the answers with a price cost.
    cost: MicroDollars,
    /// Whether there were answers without one.
    unpriced: bool,
    /// Whether some of the prices are estimates.
    #[serde(default)]
    estimated: bool,
    /// How many programs were started.
    pub processes: u64,
    /// How many bytes the tools of the client were to write; what programs write is not known.
    pub bytes_written: u64,
}

/// What one answer of a model took, on average over a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    tokens: u64,
    cost: Option<MicroDollars>,
}

/// What a session cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cost {
    /// Every answer has a listed price; this is the sum.
    Known(MicroDollars),
    /// Some answers are counted by an estimate.
    About(MicroDollars),
    /// Some answers have no known price; the others cost this.
    AtLeast(MicroDollars),
}

impl UsageTotals {
    /// Takes up a reading, unless the same piece was taken up before; the tokens that were new.
    pub(crate) fn take(&mut self, usage: &UsageRecord) -> Option<u64> {
        if self.mark(usage.mark.file).offset != usage.from {
            return None;
        }
        self.marks.retain(|mark| mark.file != usage.mark.file);
        while self.marks.len() >= TRANSCRIPTS {
            self.marks.pop_front();
        }
        self.marks.push_back(usage.mark);
        if let Some(model) = &usage.named {
            self.named.retain(|(file, _)| *file != usage.mark.file);
            while self.named.len() >= TRANSCRIPTS {
                self.named.pop_front();
            }
            self.named.push_back((usage.mark.file, model.chars().take(LONGEST_NAME).collect()));
        }
        let mut all = 0;
        for one in &usage.models {
            all += one.tokens.counted();
            self.recent_answer(one);
            match one.cost {
                Some(cost) => self.cost.0 = self.cost.0.saturating_add(cost.0),
                None => self.unpriced = true,
            }
            self.estimated |= one.like.is_some();
            let known = self.models.iter().position(|known| known.model == one.model);
            match known.or((self.models.len() >= MODELS).then_some(MODELS - 1)) {
                Some(place) => {
                    let Some(known) = self.models.get_mut(place) else { continue };
                    if known.model != one.model {
                        known.model.clear();
                    }
                    known.answers += one.answers;
                    known.tokens = known.tokens.plus(&one.tokens);
                    known.like = one.like.clone().or(known.like.take());
                    known.cost = known.cost.zip(one.cost).map(|(sum, more)| MicroDollars(sum.0 + more.0));
                }
                None => self.models.push(one.clone()),
            }
        }
        Some(all)
    }

    fn recent_answer(&mut self, one: &ModelUsage) {
        let answers = one.answers.max(1);
        while self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Answer {
            tokens: one.tokens.counted() / answers,
            cost: one.cost.map(|cost| MicroDollars(cost.0 / answers)),
        });
    }

    /// How far a transcript was read.
    pub fn mark(&self, file: u64) -> TranscriptMark {
        let known = self.marks.iter().find(|mark| mark.file == file).copied();
        known.unwrap_or(TranscriptMark { file, ..TranscriptMark::default() })
    }

    /// The model that a transcript named last for the answers behind it.
    pub fn named(&self, file: u64) -> Option<&str> {
        self.named.iter().find(|(known, _)| *known == file).map(|(_, model)| model.as_str())
    }

    /// Whether a client told of tokens: otherwise nothing is known about them, which is not none. A transcript that was read and names none,
    /// or only zeros, tells nothing: an answer always takes some.
    pub fn is_metered(&self) -> bool {
        self.tokens().all() > 0
    }

    /// By model.
    pub fn models(&self) -> &[ModelUsage] {
        &self.models
    }

    /// The tokens of all models.
    pub fn tokens(&self) -> TokenCounts {
        self.models.iter().fold(TokenCounts::default(), |sum, one| sum.plus(&one.tokens))
    }

    /// The answers of all models.
    pub fn answers(&self) -> u64 {
        self.models.iter().map(|one| one.answers).sum()
    }

    /// What it cost; `None` when nothing was read yet.
    pub fn cost(&self) -> Option<Cost> {
        let cost = match (self.unpriced, self.estimated) {
            (true, _) => Cost::AtLeast(self.cost),
            (false, true) => Cost::About(self.cost),
            (false, false) => Cost::Known(self.cost),
        };
        self.is_metered().then_some(cost)
    }

    /// What the next answer will take, by the mean of the last ones: tokens, and money when all of them have a price.
    pub fn estimate(&self) -> (u64, Option<MicroDollars>) {
        let count = self.recent.len().max(1) as u64;
        let tokens = self.recent.iter().map(|answer| answer.tokens).sum::<u64>() / count;
        let costs: Option<Vec<u64>> =
            self.recent.iter().map(|answer| answer.cost.map(|cost| cost.0)).collect();
        (tokens, costs.map(|costs| MicroDollars(costs.iter().sum::<u64>() / count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(file: u64, from: u64, to: u64, model: &str, input: u64, cost: Option<u64>) -> UsageRecord {
        UsageRecord {
            from,
            mark: TranscriptMark { file, offset: to, ..TranscriptMark::default() },
            models: vec![ModelUsage {
                model: model.to_owned(),
                answers: 1,
                tokens: TokenCounts { input, cache_read: 1000, ..TokenCounts::default() },
                cost: cost.map(MicroDollars),
                like: None,
            }],
            named: None,
            gap: None,
        }
    }

    #[test]
    fn the_model_that_a_transcript_named_last_is_known_for_its_next_piece() {
        let mut spent = UsageTotals::default();
        let named = |file, from, to, named: Option<&str>| UsageRecord {
            named: named.map(str::to_owned),
            ..reading(file, from, to, "m", 5, None)
        };
        spent.take(&named(1, 0, 10, Some("one")));
        spent.take(&named(2, 0, 10, Some("two")));
        spent.take(&named(1, 10, 20, None));
        assert_eq!((spent.named(1), spent.named(2), spent.named(3)), (Some("one"), Some("two"), None));
        spent.take(&named(1, 20, 30, Some("three")));
        assert_eq!((spent.named(1), spent.named(2)), (Some("three"), Some("two")));
    }

    #[test]
    fn a_piece_that_two_hooks_read_counts_once() {
        let mut spent = UsageTotals::default();
        assert_eq!(spent.take(&reading(1, 0, 10, "m", 5, Some(7))), Some(5));
        assert_eq!(spent.take(&reading(1, 0, 10, "m", 5, Some(7))), None);
        assert_eq!(spent.take(&reading(1, 10, 20, "m", 6, Some(7))), Some(6));
        assert_eq!(spent.take(&reading(2, 0, 10, "m", 1, Some(7))), Some(1), "a sub-agent has its own");
        assert_eq!((spent.tokens().counted(), spent.tokens().all()), (12, 3012));
        assert_eq!(spent.cost(), Some(Cost::Known(MicroDollars(21))));
    }

    #[test]
    fn an_unknown_price_is_unknown_never_zero() {
        let mut spent = UsageTotals::default();
        assert_eq!(spent.cost(), None, "nothing was read");
        spent.take(&reading(1, 0, 10, "known", 5, Some(7)));
        spent.take(&reading(1, 10, 20, "new", 5, None));
        assert_eq!(spent.cost(), Some(Cost::AtLeast(MicroDollars(7))));
        assert_eq!(spent.estimate(), (5, None));
    }

    #[test]
    fn a_transcript_that_names_no_tokens_is_no_count_of_zero() {
        let mut spent = UsageTotals::default();
        let silent = UsageRecord { models: Vec::new(), ..reading(1, 0, 10, "m", 0, None) };
        assert_eq!(spent.take(&silent), Some(0));
        assert!(!spent.is_metered() && spent.cost().is_none());
        let mut zeros = reading(1, 10, 20, "m", 0, Some(0));
        zeros.models.iter_mut().for_each(|one| one.tokens = TokenCounts::default());
        spent.take(&zeros);
        assert!(!spent.is_metered() && spent.cost().is_none());
        spent.take(&reading(1, 20, 30, "m", 5, Some(7)));
        assert!(spent.is_metered());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut spent = UsageTotals::default();
        for index in 0..100 {
            spent.take(&reading(index, 0, 10, &format!("m{index}"), 10, Some(1)));
        }
        assert_eq!((spent.models().len(), spent.marks.len()), (MODELS, TRANSCRIPTS));
        assert_eq!((spent.tokens().counted(), spent.estimate()), (1000, (10, Some(MicroDollars(1)))));
    }
}
