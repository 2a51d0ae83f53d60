//! What tokens cost. Prices are data; what has none is unknown, never free.

use checkrein_protocol::{MicroDollars, Tokens};

use crate::error::PriceError;

/// The prices that come with this version.
const BUILT_IN: &str = include_str!("../data/prices.csv");

/// The price of a model, in US dollars for a million tokens, which is millionths of a dollar for one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Price {
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

/// A list of prices, the one of a person before the one that comes with this version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    own: Vec<(String, Price)>,
}

impl Prices {
    /// The list of a person: lines `model,input,output,cache_write,cache_read`, a head line and `#` comments left out. An error names line
    /// and column.
    pub fn with_own(text: &str) -> Result<Self, PriceError> {
        Ok(Self { own: parse(text)? })
    }

    /// What tokens of a model cost; `None` when its price is not known.
    pub fn cost(&self, model: &str, tokens: &Tokens) -> Option<MicroDollars> {
        let price = self.own.iter().find(|(name, _)| is_named(model, name)).map(|(_, price)| *price);
        let price = price.or_else(|| built_in(model))?;
        let part = |tokens: u64, price: f64| tokens as f64 * price;
        let sum = part(tokens.input, price.input)
            + part(tokens.output, price.output)
            + part(tokens.cache_write, price.cache_write)
            + part(tokens.cache_read, price.cache_read);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative; saturates"
        )]
        Some(MicroDollars(sum.round() as u64))
    }
}

/// Only the line that is needed is read.
fn built_in(model: &str) -> Option<Price> {
    let line = BUILT_IN.lines().find(|line| {
        !line.starts_with('#') && line.split(',').next().is_some_and(|name| is_named(model, name))
    })?;
    parse_line(line, 1).ok().map(|(_, price)| price)
}

/// Whether a model goes by a name: the name itself, or with a date or `latest` behind it. The route through which it was reached does not
/// matter.
fn is_named(model: &str, name: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = model.strip_prefix("anthropic.").unwrap_or(model);
    let Some(rest) = model.strip_prefix(name) else { return false };
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    version == "latest" || digits == 8 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn parse(text: &str) -> Result<Vec<(String, Price)>, PriceError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let wanted =
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("model,"));
    wanted.map(|(number, line)| parse_line(line, number)).collect()
}

fn parse_line(line: &str, number: usize) -> Result<(String, Price), PriceError> {
    let mut column = 1;
    let mut cells = Vec::new();
    for cell in line.split(',') {
        cells.push((column, cell.trim()));
        column += cell.chars().count() + 1;
    }
    let [(_, name), numbers @ ..] = cells.as_slice() else {
        return Err(PriceError { line: number, column: 1, found: line.to_owned() });
    };
    let [input, output, cache_write, cache_read] = numbers else {
        return Err(PriceError { line: number, column, found: line.to_owned() });
    };
    let price = |(column, text): &(usize, &str)| {
        let price = text.parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        price.ok_or_else(|| PriceError { line: number, column: *column, found: (*text).to_owned() })
    };
    let price = Price {
        input: price(input)?,
        output: price(output)?,
        cache_write: price(cache_write)?,
        cache_read: price(cache_read)?,
    };
    Ok(((*name).to_owned(), price))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: Tokens =
        Tokens { input: 1_000_000, output: 100_000, cache_write: 10_000, cache_read: 1_000 };

    #[test]
    fn every_price_that_comes_along_can_be_read() {
        assert!(parse(BUILT_IN).unwrap().len() > 20);
    }

    #[test]
    fn tokens_cost_by_their_sort() {
        let cost = Prices::default().cost("claude-sonnet-4-5-20250929", &TOKENS).unwrap();
        // 3 + 1.5 + 0.0375 + 0.0003 dollars.
        assert_eq!(cost, MicroDollars(4_537_800));
    }

    #[test]
    fn an_unknown_model_costs_nobody_knows_what() {
        for model in ["claude-sonnet-5", "claude-sonnet-4-5-turbo", "gpt-5-20", "", "<synthetic>"] {
            assert_eq!(Prices::default().cost(model, &TOKENS), None, "{model}");
        }
    }

    #[test]
    fn the_price_of_a_person_counts_before_ours() {
        let prices =
            Prices::with_own("# mine\nmodel,input,output,cache_write,cache_read\ngpt-5,0,0,0,1\n").unwrap();
        assert_eq!(prices.cost("openai/gpt-5", &TOKENS), Some(MicroDollars(1_000)));
    }

    #[test]
    fn a_mistake_is_found_by_line_and_column() {
        let wrong = |text: &str| Prices::with_own(text).map(drop).unwrap_err();
        assert_eq!((wrong("\nx,1,two,3,4").line, wrong("\nx,1,two,3,4").column), (2, 5));
        assert_eq!(wrong("x,1,2").line, 1);
        assert_eq!(wrong("x,1,2,3,-4").found, "-4");
    }
}
