//! Tripwires and own patterns as they stand in files.

use checkrein_protocol::{Severity, TallyWindow, VerdictKind};

use super::error::{ConfigErrorKind, Fault, Position};
use super::fields::{
    self, Keys, Proof, bad, condition_fault, is_plain_name, map, missing, text, text_or_texts, texts,
    unknown_key, word,
};
use super::yaml::{NodeValue, YamlEntry, YamlNode};
use crate::config::Config;
use crate::governance::{COUNTING_LIMIT, Count, Expectation, Tripwire, TripwireOrigin};

/// The keys of a tripwire.
pub(crate) static TRIPWIRE_KEYS: Keys = &[
    ("id", true, "a name of letters, digits, `_` and `-`", "The name."),
    ("description", false, "a text", "What the tripwire is for."),
    (
        "when",
        false,
        "a map with `tool` and `hook`",
        "`tool`: a name or a list of names of tools; `mcp__SERVER` means all tools of an MCP server, a `*` at the end any rest of a name. `hook`: `tool_call`, the only one.",
    ),
    (
        "condition",
        true,
        "an expression",
        "The condition, in the Common Expression Language; `count` is what `count` below has counted, this action included.",
    ),
    (
        "count",
        false,
        "a map with `of`, `add`, `within`, `reset`",
        "What is counted over the session. Only an action that adds something can fire the tripwire.",
    ),
    (
        "severity",
        false,
        "`low` or `medium` or `high` or `critical`",
        "How grave it is, for people; it never changes the verdict.",
    ),
    ("eval_tier", false, "`0` or `1`", "Accepted: both are evaluated at once, in the process."),
    (
        "on_fail",
        true,
        "a map with `decision`, `reason`, `alternatives`, `flag`",
        "What follows: `decision` is `ok`, `nudge`, `escalate`, `block` or `halt`; `flag` a severity.",
    ),
    ("match", false, "a list of examples", "Examples of which the last action must fire it."),
    ("not_match", false, "a list of examples", "Examples on which it must stay silent."),
];

/// The keys of an own pattern.
pub(crate) static PATTERN_KEYS: Keys = &[
    ("name", true, "a name of letters, digits, `_` and `-`", "The name."),
    ("description", false, "a text", "What the pattern is for."),
    (
        "tools",
        false,
        "a list of names of tools",
        "Only calls of these tools are looked at. `mcp__SERVER` means all tools of an MCP server, a `*` at the end any rest of a name.",
    ),
    ("of", true, "an expression", "Which actions count, in the Common Expression Language."),
    (
        "within",
        false,
        "`session`, `20 actions`, `30 s`, `10 m`, `1 h` or `1 d`",
        "How far back is counted; `session` when not set.",
    ),
    ("at_least", true, "a whole number from 1 up", "How many of them make the pattern."),
    (
        "without",
        false,
        "an expression",
        "An action that takes back what was counted before it, and does not count itself.",
    ),
    (
        "severity",
        false,
        "`low` or `medium` or `high` or `critical`",
        "How grave it is: `low` and `medium` give a hint, `high` asks the user, `critical` refuses. `medium` when not set.",
    ),
    ("reason", false, "a text", "One sentence for the agent: what was seen and why it matters."),
    ("alternatives", false, "a list of texts", "What to do instead, best first."),
    (
        "flag",
        false,
        "`low` or `medium` or `high` or `critical`",
        "The severity of the flag that it raises; none when not set.",
    ),
    ("match", false, "a list of examples", "Examples of which the last action must complete the pattern."),
    ("not_match", false, "a list of examples", "Examples on which it must stay silent."),
];

static WHEN_KEYS: Keys =
    &[("hook", false, "`tool_call`", ""), ("tool", false, "a name or a list of names of tools", "")];

static COUNT_KEYS: Keys = &[
    ("of", true, "an expression", ""),
    ("add", false, "an expression that gives a number", ""),
    ("within", false, "`session`, `20 actions`, `30 s`, `10 m`, `1 h` or `1 d`", ""),
    ("reset", false, "an expression", ""),
];

static ON_FAIL_KEYS: Keys = &[
    ("decision", true, "`ok` or `nudge` or `escalate` or `block` or `halt`", ""),
    ("reason", false, "a text", ""),
    ("alternatives", false, "a list of texts", ""),
    ("flag", false, "`low` or `medium` or `high` or `critical`", ""),
];

const SEVERITIES: [&str; 4] = ["low", "medium", "high", "critical"];
const SEVERITY: &str = "`low` or `medium` or `high` or `critical`";

/// The tripwires in a list.
pub(crate) fn tripwires(node: &YamlNode, proof: Proof) -> Result<Vec<Tripwire>, Vec<Fault>> {
    list("governance.tripwires", node, proof, tripwire)
}

/// The own patterns in a list.
pub(crate) fn patterns(node: &YamlNode, proof: Proof) -> Result<Vec<Tripwire>, Vec<Fault>> {
    list("patterns.custom_patterns", node, proof, pattern)
}

/// A tripwire, the place of its name, and the nodes of its conditions.
type Read<'a> = (Tripwire, Position, Vec<&'a YamlNode>);

fn list<'a>(
    key: &'static str,
    node: &'a YamlNode,
    proof: Proof,
    read: impl Fn(&'a YamlNode) -> Result<Read<'a>, Vec<Fault>>,
) -> Result<Vec<Tripwire>, Vec<Fault>> {
    let NodeValue::List(items) = &node.value else {
        return Err(vec![bad(key, node, "a list of maps")]);
    };
    let mut all: Vec<Tripwire> = Vec::with_capacity(items.len());
    let mut faults = Vec::new();
    for item in items {
        match read(item) {
            Ok((tripwire, at, _)) if all.iter().any(|other| other.name == tripwire.name) => {
                let kind =
                    ConfigErrorKind::NameTaken { name: tripwire.name, owner: "another entry of this list" };
                faults.push(Fault::new(at, kind).with_hint("give it a name of its own"));
            }
            Ok((tripwire, _, conditions)) => {
                if proof == Proof::Everything {
                    faults.extend(proved(&tripwire, item, &conditions));
                }
                all.push(tripwire);
            }
            Err(more) => faults.extend(more),
        }
    }
    let counting = all.iter().filter(|tripwire| tripwire.count.is_some()).count();
    if counting > COUNTING_LIMIT {
        faults.push(bad(key, node, &format!("at most {COUNTING_LIMIT} entries that count")));
    }
    if faults.is_empty() { Ok(all) } else { Err(faults) }
}

/// What is wrong with conditions and examples.
fn proved(tripwire: &Tripwire, item: &YamlNode, conditions: &[&YamlNode]) -> Vec<Fault> {
    let faults: Vec<Fault> = conditions.iter().filter_map(|node| condition_fault(node)).collect();
    if !faults.is_empty() {
        return faults;
    }
    let config = Config::default();
    let NodeValue::Map(entries) = &item.value else { return faults };
    let examples = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key);
        entry.map_or(&[][..], |entry| match &entry.value.value {
            NodeValue::List(items) => items.as_slice(),
            NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::Map(_) => &[],
        })
    };
    let wanted = [("match", Expectation::Match), ("not_match", Expectation::Silence)];
    wanted
        .into_iter()
        .flat_map(|(key, wanted)| examples(key).iter().map(move |node| (node, wanted)))
        .filter_map(|(node, wanted)| {
            let problem = tripwire.rehearse(node.scalar()?, wanted, &config).err()?;
            Some(Fault::new(node.at, ConfigErrorKind::BadExample { message: problem.to_string() }))
        })
        .collect()
}

fn blank(origin: TripwireOrigin) -> Tripwire {
    Tripwire {
        name: String::new(),
        origin,
        description: String::new(),
        tools: Vec::new(),
        condition: "true".to_owned(),
        count: None,
        decision: VerdictKind::Block,
        reason: String::new(),
        alternatives: Vec::new(),
        severity: Severity::Medium,
        flag: None,
        matches: Vec::new(),
        ignores: Vec::new(),
    }
}

fn tripwire(node: &YamlNode) -> Result<Read<'_>, Vec<Fault>> {
    let entries = map("tripwire", node, "a map with `id`, `condition` and `on_fail`")?;
    let mut read = blank(TripwireOrigin::Tripwire);
    let mut name_at = node.at;
    let mut conditions = Vec::new();
    let mut faults = missing("tripwire", node, entries, TRIPWIRE_KEYS);
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "id" => {
                name_at = entry.value.at;
                name(entry).map(|text| read.name = text)
            }
            "description" => text(entry).map(|text| read.description = text),
            "when" => when(&entry.value).map(|tools| read.tools = tools),
            "condition" => {
                conditions.push(&entry.value);
                text(entry).map(|text| read.condition = text)
            }
            "count" => count(&entry.value).map(|(count, nodes)| {
                read.count = Some(count);
                conditions.extend(nodes);
            }),
            "severity" => severity(entry).map(|severity| read.severity = severity),
            "eval_tier" => {
                word(entry, "`0` or `1`", &["0", "1"], |word| matches!(word, "0" | "1").then_some(()))
            }
            "on_fail" => on_fail(&entry.value, &mut read),
            "match" => texts(entry).map(|texts| read.matches = texts),
            "not_match" => texts(entry).map(|texts| read.ignores = texts),
            _ => Err(vec![unknown_key(entry, TRIPWIRE_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    finish(read, faults).map(|read| (read, name_at, conditions))
}

fn pattern(node: &YamlNode) -> Result<Read<'_>, Vec<Fault>> {
    let entries = map("pattern", node, "a map with `name`, `of` and `at_least`")?;
    let mut read = blank(TripwireOrigin::Pattern);
    let mut counted = Count { of: String::new(), add: None, window: TallyWindow::Session, reset: None };
    let mut name_at = node.at;
    let mut conditions = Vec::new();
    let mut faults = missing("pattern", node, entries, PATTERN_KEYS);
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "name" => {
                name_at = entry.value.at;
                name(entry).map(|text| read.name = text)
            }
            "description" => text(entry).map(|text| read.description = text),
            "tools" => texts(entry).map(|texts| read.tools = texts),
            "of" => {
                conditions.push(&entry.value);
                text(entry).map(|text| counted.of = text)
            }
            "within" => window(entry).map(|window| counted.window = window),
            "at_least" => at_least(entry).map(|count| read.condition = format!("count >= {count}")),
            "without" => {
                conditions.push(&entry.value);
                text(entry).map(|text| counted.reset = Some(text))
            }
            "severity" => severity(entry).map(|severity| read.severity = severity),
            "reason" => text(entry).map(|text| read.reason = text),
            "alternatives" => texts(entry).map(|texts| read.alternatives = texts),
            "flag" => severity(entry).map(|severity| read.flag = Some(severity)),
            "match" => texts(entry).map(|texts| read.matches = texts),
            "not_match" => texts(entry).map(|texts| read.ignores = texts),
            _ => Err(vec![unknown_key(entry, PATTERN_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    read.decision = match read.severity {
        Severity::Low | Severity::Medium => VerdictKind::Nudge,
        Severity::High => VerdictKind::Escalate,
        Severity::Critical => VerdictKind::Block,
    };
    read.count = Some(counted);
    finish(read, faults).map(|read| (read, name_at, conditions))
}

fn finish(mut read: Tripwire, faults: Vec<Fault>) -> Result<Tripwire, Vec<Fault>> {
    if read.reason.is_empty() {
        read.reason = match (read.description.as_str(), read.origin) {
            ("", TripwireOrigin::Tripwire) => {
                format!("the tripwire `{}` of this configuration fired", read.name)
            }
            ("", TripwireOrigin::Pattern) => {
                format!("the pattern `{}` of this configuration is complete", read.name)
            }
            (description, _) => description.to_owned(),
        };
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn name(entry: &YamlEntry) -> Result<String, Vec<Fault>> {
    match entry.value.scalar() {
        Some(text) if is_plain_name(text) => Ok(text.to_owned()),
        Some(_) | None => Err(vec![bad(&entry.key, &entry.value, "a name of letters, digits, `_` and `-`")]),
    }
}

fn when(node: &YamlNode) -> Result<Vec<String>, Vec<Fault>> {
    let mut tools = Vec::new();
    let mut faults = Vec::new();
    for entry in map("when", node, "a map with `tool` and `hook`")? {
        let outcome = match entry.key.as_str() {
            "hook" => word(entry, "`tool_call`", &["tool_call"], |word| (word == "tool_call").then_some(())),
            "tool" => text_or_texts(entry).map(|names| tools = names),
            _ => Err(vec![unknown_key(entry, WHEN_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(tools) } else { Err(faults) }
}

fn count(node: &YamlNode) -> Result<(Count, Vec<&YamlNode>), Vec<Fault>> {
    let entries = map("count", node, "a map with `of`, `add`, `within`, `reset`")?;
    let mut read = Count { of: String::new(), add: None, window: TallyWindow::Session, reset: None };
    let mut conditions = Vec::new();
    let mut faults = missing("count", node, entries, COUNT_KEYS);
    for entry in entries {
        if matches!(entry.key.as_str(), "of" | "add" | "reset") {
            conditions.push(&entry.value);
        }
        let outcome = match entry.key.as_str() {
            "of" => text(entry).map(|text| read.of = text),
            "add" => text(entry).map(|text| read.add = Some(text)),
            "within" => window(entry).map(|window| read.window = window),
            "reset" => text(entry).map(|text| read.reset = Some(text)),
            _ => Err(vec![unknown_key(entry, COUNT_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok((read, conditions)) } else { Err(faults) }
}

fn on_fail(node: &YamlNode, read: &mut Tripwire) -> Result<(), Vec<Fault>> {
    let entries = map("on_fail", node, "a map with `decision` and `reason`")?;
    let mut faults = missing("`on_fail`", node, entries, ON_FAIL_KEYS);
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "decision" => verdict(entry).map(|verdict| read.decision = verdict),
            "reason" => text(entry).map(|text| read.reason = text),
            "alternatives" => texts(entry).map(|texts| read.alternatives = texts),
            "flag" => severity(entry).map(|severity| read.flag = Some(severity)),
            _ => Err(vec![unknown_key(entry, ON_FAIL_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn verdict(entry: &YamlEntry) -> Result<VerdictKind, Vec<Fault>> {
    let names = VerdictKind::ALL.map(VerdictKind::name);
    let expected = "`ok` or `nudge` or `escalate` or `block` or `halt`";
    word(entry, expected, &names, VerdictKind::from_name)
}

fn severity(entry: &YamlEntry) -> Result<Severity, Vec<Fault>> {
    word(entry, SEVERITY, &SEVERITIES, |word| match word {
        "low" => Some(Severity::Low),
        "medium" => Some(Severity::Medium),
        "high" => Some(Severity::High),
        "critical" => Some(Severity::Critical),
        _ => None,
    })
}

fn at_least(entry: &YamlEntry) -> Result<u32, Vec<Fault>> {
    let count = entry.value.scalar().and_then(|text| text.parse().ok()).filter(|count| *count >= 1);
    count.ok_or_else(|| vec![bad(&entry.key, &entry.value, "a whole number from 1 up")])
}

fn window(entry: &YamlEntry) -> Result<TallyWindow, Vec<Fault>> {
    let read = |text: &str| {
        if text == "session" {
            return Some(TallyWindow::Session);
        }
        let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
        let milliseconds = |each: u64| number.checked_mul(each).map(TallyWindow::Milliseconds);
        match unit.trim() {
            "actions" | "action" => Some(TallyWindow::Actions(number)),
            "s" => milliseconds(1000),
            "m" => milliseconds(60_000),
            "h" => milliseconds(3_600_000),
            "d" => milliseconds(86_400_000),
            _ => None,
        }
    };
    let expected = "`session`, `20 actions`, `30 s`, `10 m`, `1 h` or `1 d`";
    fields::word(entry, expected, &["session"], read)
}
