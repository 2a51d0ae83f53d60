//! What tokens cost. Prices are data; what has none is estimated by the dearest that resembles it, never free.

use std::cmp::Ordering;

use checkrein_protocol::{MicroDollars, TokenCounts};

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

impl Price {
    /// Which of two is dearer: first by what is answered, which costs most.
    fn by_dearness(&self, other: &Self) -> Ordering {
        let columns = |price: &Self| [price.output, price.input, price.cache_write, price.cache_read];
        columns(self)
            .iter()
            .zip(columns(other))
            .map(|(one, another)| one.total_cmp(&another))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

/// What tokens cost, and how well that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced {
    /// The sum.
    pub cost: MicroDollars,
    /// The name in the list by which it was estimated; `None` when the model is listed itself.
    pub like: Option<String>,
}

/// A list of prices, the one of a user before the one that comes with this version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// What holds for every model.
    all: Option<Price>,
    own: Vec<(String, Price)>,
}

impl Prices {
    /// The list of a user: lines `model,input,output,cache_write,cache_read` in US dollars for a million tokens, a head line and `#`
    /// comments left out. A model that ends with `*` stands for all that begin so. An error names line and column.
    pub fn with_own(text: &str) -> Result<Self, PriceError> {
        Ok(Self { all: None, own: parse(text)? })
    }

    /// The same, with one price for every model: `INPUT,OUTPUT`, then, where they differ from the input, `CACHE_WRITE` and `CACHE_READ`, in US
    /// dollars for a million tokens. An error names the column.
    pub fn for_all_models(self, text: &str) -> Result<Self, PriceError> {
        let wrong = || PriceError { line: 1, column: 1, found: text.to_owned() };
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let (input, output, write, read) = match cells.as_slice() {
            [input, output] => (input, output, input, input),
            [input, output, write] => (input, output, write, input),
            [input, output, write, read] => (input, output, write, read),
            _ => return Err(wrong()),
        };
        let (_, price) = parse_line(&format!("*,{input},{output},{write},{read}"), 1).map_err(|_| wrong())?;
        Ok(Self { all: Some(price), ..self })
    }

    /// Returns what tokens of a model cost. A model that is not listed costs as the dearest of its family (all rows that begin like the
    /// longest name with a `*` that it begins with), else as the dearest model with the same beginning. Else it costs as the dearest of all.
    pub fn cost(&self, model: &str, tokens: &TokenCounts) -> Priced {
        let (price, like) = self.price(model);
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
        let cost = MicroDollars(sum.round() as u64);
        Priced { cost, like }
    }

    fn price<'a>(&'a self, model: &str) -> (Price, Option<String>) {
        if let Some(price) = self.all {
            return (price, None);
        }
        let own = || self.own.iter().map(|(name, price): &'a (String, Price)| (name.as_str(), *price));
        let listed = own().find(|(name, _)| is_named(model, name));
        if let Some((_, price)) = listed.or_else(|| family(model, own())) {
            return (price, None);
        }
        if let Some((_, price)) = built_in().find(|(name, _)| is_named(model, name)) {
            return (price, None);
        }
        let estimate = dearest_of_family(model, || own().chain(built_in()))
            .or_else(|| resembling(model, own().chain(built_in())));
        let (name, price) = estimate.unwrap_or(DEAREST);
        (price, Some(name.to_owned()))
    }
}

/// Should the list be empty, which a test rules out.
const DEAREST: (&str, Price) =
    ("the dearest known", Price { input: 30.0, output: 180.0, cache_write: 30.0, cache_read: 30.0 });

/// The rows that come along, read only as far as they are needed.
fn built_in<'a>() -> impl Iterator<Item = (&'a str, Price)> {
    BUILT_IN.lines().filter(|line| is_row(line)).filter_map(|line| {
        let (_, price) = parse_line(line, 1).ok()?;
        Some((line.split(',').next()?, price))
    })
}

fn is_row(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("model,")
}

/// The row of the family that a model belongs to: of those with a `*`, the longest that it begins with.
fn family<'a>(model: &str, rows: impl Iterator<Item = (&'a str, Price)>) -> Option<(&'a str, Price)> {
    let model = plain(model);
    let fits = |name: &str| name.strip_suffix('*').is_some_and(|stem| model.starts_with(&simple(stem)));
    rows.filter(|(name, _)| fits(name)).max_by_key(|(name, _)| name.len())
}

/// The dearest row of the family that a model belongs to: what is new may cost what an older one of its kind did, and an estimate that is
/// too low lets a budget be exceeded. Of equal ones the last is named, which is that of the family.
fn dearest_of_family<'a, Rows: Iterator<Item = (&'a str, Price)>>(
    model: &str,
    rows: impl Fn() -> Rows,
) -> Option<(&'a str, Price)> {
    let (name, _) = family(model, rows())?;
    let stem = simple(name.trim_end_matches('*'));
    rows()
        .filter(|(name, _)| simple(name).starts_with(&stem))
        .max_by(|(_, first), (_, second)| first.by_dearness(second))
}

/// The dearest row of those with which a model has the most words in common, counted from the beginning.
fn resembling<'a>(model: &str, rows: impl Iterator<Item = (&'a str, Price)>) -> Option<(&'a str, Price)> {
    let model = plain(model);
    let common = |name: &str| {
        let name = simple(name.trim_end_matches('*'));
        model.split('-').zip(name.split('-')).take_while(|(one, other)| one == other).count()
    };
    rows.map(|(name, price)| (common(name), name, price))
        .max_by(|(one, _, first), (other, _, second)| one.cmp(other).then(first.by_dearness(second)))
        .map(|(_, name, price)| (name, price))
}

/// A name as it is compared: some write `claude-opus-4.8`.
fn simple(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// A model without the route through which it was reached, and without notes.
fn plain(model: &str) -> String {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = model.split_once("anthropic.").map_or(model, |(_, model)| model);
    simple(model.split('[').next().unwrap_or(model))
}

/// Whether a model goes by a name: the name itself, or with a date, a version of the route (`-v1:0`) or `latest` behind it.
fn is_named(model: &str, name: &str) -> bool {
    let model = plain(model);
    let Some(rest) = model.strip_prefix(&simple(name)) else { return false };
    let is_route = |text: &str| {
        text.strip_prefix('v').is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        })
    };
    let rest = rest.rsplit_once('-').filter(|(_, last)| is_route(last)).map_or(rest, |(before, _)| before);
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    version == "latest" || digits == 8 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn parse(text: &str) -> Result<Vec<(String, Price)>, PriceError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| is_row(line)).map(|(number, line)| parse_line(line, number)).collect()
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

    const TOKENS: TokenCounts =
        TokenCounts { input: 1_000_000, output: 100_000, cache_write: 10_000, cache_read: 1_000 };

    #[test]
    fn every_price_that_comes_along_can_be_read() {
        assert!(parse(BUILT_IN).unwrap().len() > 20);
    }

    #[test]
    fn every_vendor_says_where_its_prices_are_from_and_when() {
        let sources: Vec<&str> = BUILT_IN.lines().filter(|line| line.contains(", https://")).collect();
        assert_eq!(sources.len(), 3);
        for source in sources {
            let date = source.rsplit(", ").next().unwrap();
            assert!(date.len() == 10 && date.starts_with("202"), "{source}");
        }
    }

    fn cost(model: &str) -> Priced {
        Prices::default().cost(model, &TOKENS)
    }

    #[test]
    fn tokens_cost_by_their_sort() {
        // 3 + 1.5 + 0.0375 + 0.0003 dollars.
        let known = Priced { cost: MicroDollars(4_537_800), like: None };
        for model in [
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5@20250929",
            "claude-sonnet-4-5[1m]",
        ] {
            assert_eq!(cost(model), known, "{model}");
        }
        assert_eq!(cost("claude-opus-4-8").like, None);
    }

    #[test]
    fn a_model_that_is_not_listed_costs_as_the_dearest_of_its_family_else_as_the_dearest_like_it() {
        for (model, like) in [
            ("claude-opus-4-9", "claude-opus-4"),
            ("anthropic/claude-opus-4.9-20270101", "claude-opus-4"),
            ("claude-opus-5-6", "claude-opus-5*"),
            ("claude-opus-7", "claude-opus*"),
            ("claude-sonnet-9-20300101", "claude-sonnet*"),
            ("claude-sonnet-4-5-turbo", "claude-sonnet*"),
            ("claude-fable-6", "claude-fable*"),
            ("gpt-5.9-codex", "gpt-5.4-pro"),
            ("gpt-7", "gpt-5.4-pro"),
            ("claude-epic-1", "claude-opus*"),
            ("gemini-3.9-flash", "gemini-3*"),
            ("gemini-9-ultra", "gemini-3*"),
            ("mystery", "gpt-5.4-pro"),
            ("", "gpt-5.4-pro"),
        ] {
            assert_eq!(cost(model).like.as_deref(), Some(like), "{model}");
        }
        // The dearest of the family: 15 + 7.5 + .1875 + .0015 dollars.
        assert_eq!(cost("claude-opus-4-9").cost, MicroDollars(22_689_000));
        assert_eq!(cost("claude-epic-1").cost, MicroDollars(22_689_000));
        assert_eq!(cost("").cost, cost("gpt-5.5-pro").cost);
    }

    #[test]
    fn what_a_user_pays_for_one_of_a_family_counts_for_its_dearest_too() {
        let prices = Prices::with_own("claude-opus-4-8,20,90,25,2\n").unwrap();
        assert_eq!(prices.cost("claude-opus-4-9", &TOKENS).like.as_deref(), Some("claude-opus-4-8"));
    }

    #[test]
    fn the_price_of_a_person_counts_before_ours() {
        let prices = Prices::with_own(
            "# mine\nmodel,input,output,cache_write,cache_read\ngpt-5,0,0,0,1\nclaude*,1,0,0,0\n",
        )
        .unwrap();
        let listed = |micros| Priced { cost: MicroDollars(micros), like: None };
        assert_eq!(prices.cost("openai/gpt-5", &TOKENS), listed(1_000));
        assert_eq!(prices.cost("claude-opus-4-8", &TOKENS), listed(1_000_000));
        assert_eq!(prices.for_all_models("2,0,0,0").unwrap().cost("gpt-5", &TOKENS), listed(2_000_000));
    }

    #[test]
    fn one_price_for_every_model_needs_two_to_four_numbers() {
        let cost = |text: &str| {
            Prices::default().for_all_models(text).ok().map(|prices| prices.cost("x", &TOKENS).cost.0)
        };
        assert_eq!(cost("5,25"), Some(5_000_000 + 2_500_000 + 50_000 + 5_000));
        assert_eq!(cost("5, 25, 6.25, 0.5"), Some(5_000_000 + 2_500_000 + 62_500 + 500));
        for wrong in ["", "5", "5,25,1,1,1", "5,x", "-1,2", "inf,1"] {
            assert_eq!(cost(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_mistake_is_found_by_line_and_column() {
        let wrong = |text: &str| Prices::with_own(text).map(drop).unwrap_err();
        assert_eq!((wrong("\nx,1,two,3,4").line, wrong("\nx,1,two,3,4").column), (2, 5));
        assert_eq!(wrong("x,1,2").line, 1);
        assert_eq!(wrong("x,1,2,3,-4").found, "-4");
    }
}
