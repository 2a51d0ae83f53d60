//! Which model an answer says that it came from, and the answer itself, out of the forms in which clients and providers write both.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// What an output tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelClaim {
    /// The model that wrote the answer, where the output names one: of several the one that wrote most of it.
    pub model: Option<String>,
    /// Other models that took part.
    pub others: Vec<String>,
    /// What was answered.
    pub text: String,
    /// What the provider says went wrong.
    pub error: Option<String>,
    /// Why the answer is not whole, in the word of its provider, such as `max_tokens`.
    pub unfinished: Option<String>,
}

/// Reads the output of a reviewer; `aside` is what it wrote to standard error.
pub fn model_claim(output: &str, aside: &str) -> ModelClaim {
    let mut tokens: BTreeMap<String, u64> = BTreeMap::new();
    let mut text = Vec::new();
    let (mut error, mut unfinished) = (None, None);
    let trimmed = output.trim();
    let values: Vec<Json> = match serde_json::from_str::<Json>(trimmed) {
        Ok(Json::Array(values)) => values,
        Ok(value @ Json::Object(_)) => vec![value],
        _ => trimmed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    let mut known = 0;
    for value in &values {
        known += usize::from(take(value, &mut tokens, &mut text, &mut error));
        unfinished = unfinished.or_else(|| cut_off(value));
    }
    if known == 0 {
        text = vec![output.to_owned()];
    }
    if tokens.is_empty()
        && let Some(model) = header(aside)
    {
        tokens.insert(model, 0);
    }
    let model = tokens.iter().max_by_key(|(_, count)| **count).map(|(model, _)| model.clone());
    let others = tokens.into_keys().filter(|one| Some(one) != model.as_ref()).collect();
    ModelClaim { model, others, text: text.join("\n"), error, unfinished }
}

/// Takes up an object of a known form; whether it is one.
fn take(
    value: &Json,
    tokens: &mut BTreeMap<String, u64>,
    text: &mut Vec<String>,
    error: &mut Option<String>,
) -> bool {
    let word = |pointer: &str| value.pointer(pointer).and_then(Json::as_str);
    let mut add = |model: &str, count: u64| {
        let all = tokens.entry(model.to_owned()).or_default();
        *all = all.saturating_add(count);
    };
    match (word("/type"), word("/object")) {
        // Claude Code: the end of a session.
        (Some("result"), _) => {
            for (model, usage) in value["modelUsage"].as_object().into_iter().flatten() {
                add(model, usage["outputTokens"].as_u64().unwrap_or(0).max(1));
            }
            let result = word("/result").unwrap_or_default().to_owned();
            if value["is_error"] == true {
                *error = Some(result);
            } else {
                // What was said before is in it.
                *text = vec![result];
            }
            true
        }
        // Claude Code: what it says of itself, and what was answered, while a session goes on.
        (Some("system"), _) => true,
        (Some("assistant"), _) => {
            if let Some(model) = word("/message/model") {
                add(model, value.pointer("/message/usage/output_tokens").and_then(Json::as_u64).unwrap_or(1));
            }
            text.extend(parts(value.pointer("/message/content")));
            true
        }
        // The API of Anthropic.
        (Some("message"), _) => {
            if let Some(model) = word("/model") {
                add(model, 1);
            }
            text.extend(parts(value.get("content")));
            true
        }
        // The APIs of OpenAI.
        (_, Some("chat.completion")) => {
            if let Some(model) = word("/model") {
                add(model, 1);
            }
            // One choice is asked for. Of several, none is the answer.
            for choice in value["choices"].as_array().into_iter().flatten() {
                let content = choice.pointer("/message/content");
                text.extend(content.and_then(Json::as_str).map(str::to_owned));
                text.extend(parts(content));
            }
            true
        }
        (_, Some("response")) => {
            if let Some(model) = word("/model") {
                add(model, 1);
            }
            for item in value["output"].as_array().into_iter().flatten() {
                text.extend(parts(item.get("content")));
            }
            true
        }
        // Codex.
        (Some("item.completed"), _) => {
            if word("/item/type") == Some("agent_message") {
                text.extend(word("/item/text").map(str::to_owned));
            }
            true
        }
        (Some("session_configured"), _) => {
            if let Some(model) = word("/model") {
                add(model, 1);
            }
            true
        }
        (Some("error" | "turn.failed"), _) => {
            let message = word("/error/message").or_else(|| word("/message")).unwrap_or("it failed");
            *error = Some(message.to_owned());
            true
        }
        (Some("thread.started" | "turn.started" | "turn.completed" | "item.started" | "item.updated"), _) => {
            true
        }
        _ => gemini(value, add, text, error),
    }
}

/// Why an answer of an API is not whole; `None` where it is, and where nothing is said about it. The words are those of the API references:
/// `stop_reason` of Anthropic, `finish_reason` and `status` of OpenAI.
fn cut_off(value: &Json) -> Option<String> {
    let word = |value: &Json, pointer: &str| value.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    let kind = (value["type"].as_str(), value["object"].as_str());
    match kind {
        (Some("message"), _) => {
            word(value, "/stop_reason").filter(|why| !matches!(why.as_str(), "end_turn" | "stop_sequence"))
        }
        (_, Some("chat.completion")) => {
            let choices = value["choices"].as_array().into_iter().flatten();
            choices.filter_map(|choice| word(choice, "/finish_reason")).find(|why| why != "stop")
        }
        (_, Some("response")) => {
            let status = word(value, "/status").filter(|status| status != "completed")?;
            Some(word(value, "/incomplete_details/reason").unwrap_or(status))
        }
        _ => None,
    }
}

/// Gemini CLI: one object with the response and its statistics.
fn gemini(
    value: &Json,
    mut add: impl FnMut(&str, u64),
    text: &mut Vec<String>,
    error: &mut Option<String>,
) -> bool {
    let models = value.pointer("/stats/models").and_then(Json::as_object);
    let response = value.get("response").and_then(Json::as_str);
    let failed = value.pointer("/error/message").and_then(Json::as_str);
    if models.is_none() && response.is_none() && failed.is_none() {
        return false;
    }
    for (model, usage) in models.into_iter().flatten() {
        add(model, usage.pointer("/tokens/candidates").and_then(Json::as_u64).unwrap_or(0));
    }
    text.extend(response.map(str::to_owned));
    if let Some(failed) = failed {
        *error = Some(failed.to_owned());
    }
    true
}

/// The texts of a list of parts.
fn parts(content: Option<&Json>) -> Vec<String> {
    let parts = content.and_then(Json::as_array).into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
}

/// The model that Codex names before it begins: a line `model: NAME` among the first of standard error.
fn header(aside: &str) -> Option<String> {
    let name = aside.lines().take(30).find_map(|line| line.trim().strip_prefix("model:"))?.trim();
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(output: &str, aside: &str) -> (Option<String>, String) {
        let ModelClaim { model, text, .. } = model_claim(output, aside);
        (model, text)
    }

    #[test]
    fn each_client_names_its_model_in_its_own_form() {
        let said = |model: &str| (Some(model.to_owned()), "yes".to_owned());
        let claude = r#"{"type":"result","subtype":"success","is_error":false,"result":"yes","modelUsage":{"claude-haiku-4-5":{"outputTokens":9},"claude-opus-4-8":{"outputTokens":90}}}"#;
        assert_eq!(claim(claude, ""), said("claude-opus-4-8"));
        assert_eq!(model_claim(claude, "").others, ["claude-haiku-4-5"]);
        let gemini = r#"{"response":"yes","stats":{"models":{"gemini-3-pro":{"tokens":{"candidates":7}}}}}"#;
        assert_eq!(claim(gemini, ""), said("gemini-3-pro"));
        let codex = "{\"type\":\"thread.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"yes\"}}\n";
        assert_eq!(claim(codex, ""), (None, "yes".to_owned()));
        assert_eq!(claim("yes", "OpenAI Codex\n--------\nmodel: gpt-5.2\n"), said("gpt-5.2"));
        let anthropic =
            r#"{"type":"message","model":"claude-opus-4-8","content":[{"type":"text","text":"yes"}]}"#;
        assert_eq!(claim(anthropic, ""), said("claude-opus-4-8"));
        let openai =
            r#"{"object":"chat.completion","model":"gpt-5.2","choices":[{"message":{"content":"yes"}}]}"#;
        assert_eq!(claim(openai, ""), said("gpt-5.2"));
        let response = r#"{"object":"response","model":"gpt-5.2","output":[{"content":[{"type":"output_text","text":"yes"}]}]}"#;
        assert_eq!(claim(response, ""), said("gpt-5.2"));
    }

    #[test]
    fn what_an_answer_says_in_its_text_is_no_claim() {
        assert_eq!(
            claim("I am claude-opus-4-8\nmodel: gpt-5.2", ""),
            (None, "I am claude-opus-4-8\nmodel: gpt-5.2".to_owned())
        );
        assert_eq!(claim("{\"model\": \"gpt-5.2\", \"verdict\": \"APPROVED\"}", "").0, None);
    }

    #[test]
    fn an_answer_that_is_not_whole_says_so() {
        let unfinished = |output: &str| model_claim(output, "").unfinished;
        for (whole, cut, why) in [
            (
                r#"{"type":"message","model":"m","stop_reason":"end_turn","content":[]}"#,
                r#"{"type":"message","model":"m","stop_reason":"max_tokens","content":[]}"#,
                "max_tokens",
            ),
            (
                r#"{"object":"chat.completion","choices":[{"finish_reason":"stop"}]}"#,
                r#"{"object":"chat.completion","choices":[{"finish_reason":"length"}]}"#,
                "length",
            ),
            (
                r#"{"object":"response","status":"completed","output":[]}"#,
                r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#,
                "max_output_tokens",
            ),
        ] {
            assert_eq!(unfinished(whole), None);
            assert_eq!(unfinished(cut).as_deref(), Some(why));
        }
        assert_eq!(unfinished(r#"{"type":"message","model":"m","content":[]}"#), None, "nothing is said");
    }

    #[test]
    fn each_choice_is_part_of_an_answer() {
        let two = r#"{"object":"chat.completion","model":"m","choices":[{"message":{"content":"yes"}},{"message":{"content":[{"type":"text","text":"no"}]}}]}"#;
        assert_eq!(claim(two, "").1, "yes\nno");
    }

    #[test]
    fn an_error_is_no_answer() {
        let failed = r#"{"type":"result","is_error":true,"result":"API Error: 429 quota","modelUsage":{}}"#;
        let claim = model_claim(failed, "");
        assert_eq!((claim.error.as_deref(), claim.text.as_str()), (Some("API Error: 429 quota"), ""));
    }
}
