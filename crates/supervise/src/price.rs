//! What tokens cost.
//!
//! A short list of families of models. A model that is not on it has no price: never zero, for then a budget would never be reached.

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What is answered, thinking included.
    pub output: f64,
    /// What is sent again and still known.
    pub cache_read: f64,
    /// What is sent and kept.
    pub cache_write: f64,
}

/// Input and output of families, the more special name first. Reading what is kept costs a tenth, keeping a quarter more (public price lists, 2026).
const PRICES: [(&str, f64, f64); 15] = [
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-opus-4-6", 5.0, 25.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-3-opus", 15.0, 75.0),
    ("claude-sonnet", 3.0, 15.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-haiku-4", 1.0, 5.0),
    ("claude-3-5-haiku", 0.8, 4.0),
    ("claude-3-haiku", 0.25, 1.25),
    ("gpt-5-nano", 0.05, 0.4),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5", 1.25, 10.0),
    ("gemini-2.5-pro", 1.25, 10.0),
    ("gemini-2.5-flash", 0.3, 2.5),
];

impl Price {
    /// The price of a model; `None` when it is not known.
    pub fn of(model: &str) -> Option<Self> {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let found = PRICES.iter().find(|(family, _, _)| name.starts_with(family));
        found.map(|(_, input, output)| Self {
            input: *input,
            output: *output,
            cache_read: input / 10.0,
            cache_write: input * 1.25,
        })
    }

    /// What these tokens cost in US dollars.
    pub fn cost(&self, tokens: Tokens) -> f64 {
        let part = |count: u64, price: f64| count as f64 * price / 1e6;
        part(tokens.input, self.input)
            + part(tokens.output, self.output)
            + part(tokens.cache_read, self.cache_read)
            + part(tokens.cache_write, self.cache_write)
    }
}

/// Counts of tokens, by how they are paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Answered.
    pub output: u64,
    /// Sent again and still known.
    pub cache_read: u64,
    /// Sent and kept.
    pub cache_write: u64,
}

impl Tokens {
    /// What counts against a limit: everything but what was known already.
    pub fn counted(self) -> u64 {
        self.input + self.output + self.cache_write
    }

    /// Everything that was sent, known or not: how long the conversation is.
    pub fn sent(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Both together.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_write: self.cache_write.saturating_add(more.cache_write),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_known_has_no_price() {
        assert_eq!(Price::of("experimental-9"), None);
        assert_eq!(Price::of(""), None);
    }

    #[test]
    fn the_more_special_family_counts() {
        let input = |model: &str| Price::of(model).map(|price| price.input);
        assert_eq!(input("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input("claude-opus-4-20250514"), Some(15.0));
        assert_eq!(input("anthropic/claude-sonnet-4-5"), Some(3.0));
        assert_eq!(input("gpt-5-mini"), Some(0.25));
    }

    #[test]
    fn a_million_tokens_of_each_kind() {
        let price = Price::of("claude-sonnet-4-5").unwrap();
        let million =
            Tokens { input: 1_000_000, output: 1_000_000, cache_read: 1_000_000, cache_write: 1_000_000 };
        assert!((price.cost(million) - (3.0 + 15.0 + 0.3 + 3.75)).abs() < 1e-9);
    }
}
