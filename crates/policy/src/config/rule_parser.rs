//! Custom rules as they stand in files.

use checkrein_protocol::{Decision, EffectKind};

use super::error::{ConfigErrorKind, Fault, Position, closest};
use super::fields::{Keys, Proof, bad, condition_fault, is_plain_name, missing, text, texts, unknown_key};
use super::yaml::{NodeValue, YamlEntry, YamlNode};
use crate::config::Config;
use crate::rule::{CustomRule, RuleProblem};
use crate::rules;

/// The keys of a rule.
pub(crate) static RULE_KEYS: Keys = &[
    ("name", true, "a text", "The name; own rules cannot take the name of a built-in one."),
    ("description", false, "a text", "What the rule is for."),
    ("when", true, "an expression", "The condition, in the Common Expression Language."),
    (
        "decision",
        true,
        "`allow` or `warn` or `modify` or `block`",
        "What should be done when the condition holds. `allow` is recorded and loosens nothing.",
    ),
    ("reason", false, "a text", "One sentence for the agent: what was seen and why it matters."),
    ("alternatives", false, "a list of texts", "What to do instead, best first."),
    (
        "kinds",
        false,
        "a list of kinds of effect",
        "The condition is looked at only when an effect has one of these kinds.",
    ),
    (
        "tools",
        false,
        "a list of names of tools",
        "The condition is looked at only for these tools. `mcp__SERVER` means all tools of an MCP server, a `*` at the end any rest of a name.",
    ),
    ("match", false, "a list of examples", "Examples that the rule must catch."),
    ("not_match", false, "a list of examples", "Examples on which it must stay silent."),
];

/// The rules in a list.
pub(crate) fn rules(node: &YamlNode, proof: Proof) -> Result<Vec<CustomRule>, Vec<Fault>> {
    let items = match &node.value {
        NodeValue::List(items) => items,
        NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::Map(_) => {
            return Err(vec![bad("step_reviewer.rules.custom", node, "a list of rules")]);
        }
    };
    let mut rules: Vec<CustomRule> = Vec::with_capacity(items.len());
    let mut faults = Vec::new();
    for item in items {
        match rule(item) {
            Ok((rule, at)) if rules.iter().any(|other| other.name == rule.name) => {
                faults.push(name_taken(at, rule.name, "another rule of this list"));
            }
            Ok((rule, _)) => {
                if proof == Proof::Everything {
                    faults.extend(proved(&rule, item));
                }
                rules.push(rule);
            }
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(rules) } else { Err(faults) }
}

/// What is wrong with the condition and the examples.
fn proved(rule: &CustomRule, item: &YamlNode) -> Vec<Fault> {
    let NodeValue::Map(entries) = &item.value else { return Vec::new() };
    let find = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
    if let Some(fault) = find("when").and_then(condition_fault) {
        return vec![fault];
    }
    let config = Config::default();
    // A problem names its example, so that it is found again in the file.
    let examples = ["match", "not_match"].into_iter().filter_map(find).flat_map(|node| match &node.value {
        NodeValue::List(items) => items.as_slice(),
        NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::Map(_) => &[],
    });
    let examples: Vec<&YamlNode> = examples.collect();
    rule.problems(&config)
        .into_iter()
        .map(|problem| {
            let about = problem.example().and_then(|text| {
                examples.iter().find(|node| node.scalar() == Some(text)).map(|node| node.at)
            });
            if let Some(at) = about {
                return Fault::new(at, ConfigErrorKind::BadExample { message: problem.to_string() });
            }
            let message = match &problem {
                RuleProblem::Error(error) => error.cause.to_string(),
                other => other.to_string(),
            };
            let at = find("when").map_or(item.at, |node| node.at);
            Fault::new(at, ConfigErrorKind::BadCondition { message })
        })
        .collect()
}

fn rule(node: &YamlNode) -> Result<(CustomRule, Position), Vec<Fault>> {
    let NodeValue::Map(entries) = &node.value else {
        return Err(vec![bad("rule", node, "a map with `name`, `when` and `decision`")]);
    };
    let mut faults = Vec::new();
    let mut rule = CustomRule {
        name: String::new(),
        description: String::new(),
        when: String::new(),
        decision: Decision::Block,
        reason: String::new(),
        alternatives: Vec::new(),
        kinds: Vec::new(),
        tools: Vec::new(),
        matches: Vec::new(),
        ignores: Vec::new(),
    };
    let mut name_at = node.at;
    for entry in entries {
        let value = &entry.value;
        let outcome = match entry.key.as_str() {
            "name" => {
                name_at = value.at;
                name(value).map(|text| rule.name = text)
            }
            "description" => text(entry).map(|text| rule.description = text),
            "when" => text(entry).map(|text| rule.when = text),
            "decision" => decision(value).map(|decision| rule.decision = decision),
            "reason" => text(entry).map(|text| rule.reason = text),
            "alternatives" => texts(entry).map(|texts| rule.alternatives = texts),
            "kinds" => kinds(entry).map(|kinds| rule.kinds = kinds),
            "tools" => texts(entry).map(|texts| rule.tools = texts),
            "match" => texts(entry).map(|texts| rule.matches = texts),
            "not_match" => texts(entry).map(|texts| rule.ignores = texts),
            _ => Err(vec![unknown_key(entry, RULE_KEYS)]),
        };
        if let Err(more) = outcome {
            faults.extend(more);
        }
    }
    faults.extend(missing("rule", node, entries, RULE_KEYS));
    if rule.reason.is_empty() {
        rule.reason = match rule.description.as_str() {
            "" => format!("the rule `{}` of this configuration says so", rule.name),
            description => description.to_owned(),
        };
    }
    if faults.is_empty() { Ok((rule, name_at)) } else { Err(faults) }
}

fn name(value: &YamlNode) -> Result<String, Vec<Fault>> {
    let expected = "a name of letters, digits, `_` and `-`";
    let Some(text) = value.scalar() else {
        return Err(vec![bad("name", value, expected)]);
    };
    if !is_plain_name(text) {
        return Err(vec![bad("name", value, expected)]);
    }
    if rules::ALL.iter().any(|rule| rule.name == text) {
        return Err(vec![name_taken(value.at, text.to_owned(), "a built-in rule")]);
    }
    Ok(text.to_owned())
}

fn name_taken(at: Position, name: String, owner: &'static str) -> Fault {
    Fault::new(at, ConfigErrorKind::NameTaken { name, owner }).with_hint("give the rule a name of its own")
}

fn decision(value: &YamlNode) -> Result<Decision, Vec<Fault>> {
    let names = Decision::ALL.map(Decision::name);
    let word = value.scalar().unwrap_or_default();
    Decision::from_name(word).ok_or_else(|| {
        let hint = match word {
            "deny" | "halt" | "stop" => Some("block"),
            "ask" | "escalate" => Some("modify"),
            word => closest(word, names.into_iter()),
        };
        let fault = bad("decision", value, "`allow` or `warn` or `modify` or `block`");
        vec![fault.with_optional_hint(hint.map(|word| format!("did you mean `{word}`?")))]
    })
}

fn kinds(entry: &YamlEntry) -> Result<Vec<EffectKind>, Vec<Fault>> {
    let NodeValue::List(items) = &entry.value.value else {
        return Err(vec![bad("kinds", &entry.value, "a list of kinds of effect")]);
    };
    let mut kinds = Vec::new();
    let mut faults = Vec::new();
    for item in items {
        let word = item.scalar().unwrap_or_default();
        if let Some(kind) = EffectKind::ALL.into_iter().find(|kind| kind.name() == word) {
            kinds.push(kind);
            continue;
        }
        let hint = closest(word, EffectKind::ALL.into_iter().map(EffectKind::name));
        let fault = bad("kinds", item, "a kind of effect, such as `file_delete`");
        faults.push(fault.with_optional_hint(hint.map(|word| format!("did you mean `{word}`?"))));
    }
    if faults.is_empty() { Ok(kinds) } else { Err(faults) }
}
