//! Reading what a client tells of its use: strictly, so that what cannot be counted is known to be uncounted, and in whatever order, escapes
//! and spaces it is written.

use std::fmt;

use checkrein_protocol::TokenCounts;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

/// Why something could not be counted, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Uncounted(pub(crate) String);

/// JSON in which a key may stand twice: numbers count with the greater, objects with all of their keys, else the first counts.
pub(crate) struct Lenient(pub(crate) Json);

/// A line as JSON. Bytes that are no text are replaced, a mark of the byte order is left out.
pub(crate) fn parse(line: &[u8]) -> Option<Json> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let parsed = serde_json::from_slice::<Lenient>(line);
    let parsed = parsed.or_else(|_| serde_json::from_str(&String::from_utf8_lossy(line)));
    parsed.ok().map(|Lenient(value)| value)
}

/// A count of tokens: nothing there is none; a whole number, also one that is written as `2e6`; more than fits is as much as fits.
pub(crate) fn count(usage: &Json, name: &str) -> Result<u64, Uncounted> {
    let number = match usage.get(name) {
        None | Some(Json::Null) => return Ok(0),
        Some(Json::Number(number)) => number,
        Some(_) => return Err(Uncounted(format!("`{name}` is not a number"))),
    };
    if let Some(count) = number.as_u64() {
        return Ok(count);
    }
    match number.as_f64() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and not negative; saturates"
        )]
        Some(count) if count >= 0.0 && count.fract() == 0.0 => Ok(count as u64),
        _ => Err(Uncounted(format!("`{name}` is {number}, not a number of tokens"))),
    }
}

/// How the sum of all tokens is called, which Qwen Code tells and Claude does not.
const SUM: &str = "total_tokens";

/// What Qwen Code tells at its end of all that it used, sub-agents too; `None` of other rows.
pub(crate) fn sum_of_qwen(row: &Json) -> Option<&Json> {
    row.get("usage").filter(|usage| usage.get(SUM).is_some() && row["modelUsage"].is_null())
}

/// The tokens of an answer of Claude or Qwen. `Err` when that cannot be said.
pub(crate) fn of_claude(usage: &Json) -> Result<TokenCounts, Uncounted> {
    if !usage.is_object() {
        return Err(Uncounted("an answer says nothing of its tokens (`usage`)".to_owned()));
    }
    if usage.get("input_tokens").is_none() && usage.get("output_tokens").is_none() {
        return Err(Uncounted("an answer names neither `input_tokens` nor `output_tokens`".to_owned()));
    }
    let (input, known) = (count(usage, "input_tokens")?, count(usage, "cache_read_input_tokens")?);
    // Who tells a sum counts what came from the cache as a part of the input.
    let new = if usage.get(SUM).is_some() { input.saturating_sub(known) } else { input };
    Ok(TokenCounts {
        input: new,
        output: count(usage, "output_tokens")?,
        cache_read: known,
        cache_write: count(usage, "cache_creation_input_tokens")?,
    })
}

/// How many bytes an answer of Claude, or a part of it, holds: words, thoughts and what calls are given.
pub(crate) fn written(message: &Json) -> u64 {
    let text = |block: &Json, name: &str| block[name].as_str().map_or(0, str::len);
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .map(|block| match block["type"].as_str() {
            Some("tool_use" | "server_tool_use") => block["input"].to_string().len(),
            _ => text(block, "text") + text(block, "thinking"),
        })
        .sum::<usize>() as u64
}

/// What Claude tells at its end of the tokens of all models; none where it tells nothing of them. `Err` when that cannot be said.
pub(crate) fn of_models(models: &Json) -> Result<TokenCounts, Uncounted> {
    let mut all = TokenCounts::default();
    for (_, usage) in models.as_object().into_iter().flatten() {
        all = all.plus(&TokenCounts {
            input: count(usage, "inputTokens")?,
            output: count(usage, "outputTokens")?,
            cache_read: count(usage, "cacheReadInputTokens")?,
            cache_write: count(usage, "cacheCreationInputTokens")?,
        });
    }
    Ok(all)
}

/// The tokens of a turn of Codex. `Err` when that cannot be said.
pub(crate) fn of_codex(usage: &Json) -> Result<TokenCounts, Uncounted> {
    if usage.get("input_tokens").is_none() && usage.get("output_tokens").is_none() {
        return Err(Uncounted("a turn names neither `input_tokens` nor `output_tokens`".to_owned()));
    }
    let known = count(usage, "cached_input_tokens")?;
    Ok(TokenCounts {
        input: count(usage, "input_tokens")?.saturating_sub(known),
        output: count(usage, "output_tokens")?,
        cache_read: known,
        cache_write: 0,
    })
}

/// A sum of money that the client tells; nothing there is nothing told.
pub(crate) fn dollars(row: &Json, name: &str) -> Result<Option<f64>, Uncounted> {
    match row.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0) {
            Some(dollars) => Ok(Some(dollars)),
            None => Err(Uncounted(format!("`{name}` is not a sum of money"))),
        },
    }
}

fn join(old: &mut Json, new: Json) {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            new.into_iter().for_each(|(key, value)| put(old, key, value));
        }
        (Json::Number(old), Json::Number(new)) if new.as_f64() > old.as_f64() => *old = new,
        (Json::Array(old), Json::Array(new)) => old.extend(new),
        (old @ Json::Null, new) => *old = new,
        _ => {}
    }
}

fn put(object: &mut Map<String, Json>, key: String, value: Json) {
    match object.get_mut(&key) {
        Some(old) => join(old, value),
        None => drop(object.insert(key, value)),
    }
}

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor)
    }
}

struct LenientVisitor;

impl<'de> Visitor<'de> for LenientVisitor {
    type Value = Lenient;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Lenient, E> {
        Ok(Lenient(Json::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Lenient, E> {
        Ok(Lenient(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Lenient, E> {
        Ok(Lenient(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Lenient, E> {
        Ok(Lenient(Number::from_f64(value).map_or(Json::Null, Json::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Lenient, E> {
        Ok(Lenient(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Lenient, E> {
        Ok(Lenient(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Lenient, E> {
        Ok(Lenient(Json::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rest: A) -> Result<Lenient, A::Error> {
        let mut all = Vec::new();
        while let Some(Lenient(value)) = rest.next_element()? {
            all.push(value);
        }
        Ok(Lenient(Json::Array(all)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Lenient, A::Error> {
        let mut all = Map::new();
        while let Some((key, Lenient(value))) = rest.next_entry::<String, Lenient>()? {
            put(&mut all, key, value);
        }
        Ok(Lenient(Json::Object(all)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers_however_they_are_written() {
        let of = |text: &str| {
            let usage = parse(format!(r#"{{"n":{text}}}"#).as_bytes()).unwrap();
            count(&usage, "n").ok()
        };
        for (text, number) in [("0", 0), ("7", 7), ("2e6", 2_000_000), ("2000000.0", 2_000_000), ("null", 0)]
        {
            assert_eq!(of(text), Some(number), "{text}");
        }
        assert_eq!(of("18446744073709551616000"), Some(u64::MAX), "as much as fits");
        for text in ["-1", "-1.0", "2.5", "\"7\"", "true", "[7]", "{}"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_counts_with_the_greater() {
        let row = parse(br#"{"u":{"a":5},"u":{"a":1,"b":2},"t":"x","t":"y"}"#).unwrap();
        assert_eq!(row, serde_json::json!({ "u": { "a": 5, "b": 2 }, "t": "x" }));
    }

    #[test]
    fn marks_escapes_and_bytes_that_are_no_text_are_read() {
        for line in [
            &b"\xef\xbb\xbf{\"type\":\"x\"}"[..],
            b"{\"typ\\u0065\":\"x\"}",
            b"{\"a\":\"\xff\",\"type\":\"x\"}",
        ] {
            assert_eq!(parse(line).unwrap()["type"], "x");
        }
        assert_eq!(parse(b"{\"type\":1e999}"), None);
    }
}
