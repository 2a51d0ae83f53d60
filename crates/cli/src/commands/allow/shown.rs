//! What a user reads before they allow a call: all of it, and for programs the same.

use checkrein_engine::allowances::{Allowance, AllowedFor, Granted, in_words, manner, span_word};
use checkrein_engine::text::plain_lines;
use checkrein_protocol::{AbsolutePath, Action, ReviewRecord, Unliftable, VerdictKind};
use checkrein_review::sentence;
use serde_json::Value as Json;

use crate::api::{recorded, sessions};
use crate::render::severity_name;
use crate::terminal::{counted, hanging, wrapped};

/// How wide the words are in front of what is told of a call, in characters.
const LABEL: usize = 9;

/// What is shown before a call is allowed: the whole call, why it was stopped, what it does and runs, and for what it would be allowed.
pub(super) fn question(
    review: &ReviewRecord,
    allowance: &Allowance,
    against: &[Unliftable],
    others: u64,
    home: &AbsolutePath,
) -> String {
    let tool = one_line(review.tool.as_str());
    let head = format!("{tool} in `{}` {}:", one_line(&review.cwd), stopped(review.verdict_at_door()));
    let mut lines = vec![wrapped(&head)];
    lines.extend(whole_call(review).iter().map(|line| format!("    {line}")));
    let told = |line: &str| hanging(line, LABEL);
    lines.push(told(&format!("why      {}", one_line(&review.reason))));
    // Where the client takes no changed call, what is allowed is the call itself.
    let is_changed = review.verdict >= VerdictKind::Escalate;
    if let Some(rewrite) = review.rewrite.as_ref().and_then(Json::as_str).filter(|_| is_changed) {
        lines.push("instead  this safer form runs, not the call itself:".to_owned());
        lines.extend(plain_lines(rewrite).iter().map(|line| format!("    {line}")));
    }
    lines.extend(stopping_rules(review).map(|rule| told(&format!("rule     {}", one_line(rule)))));
    lines.extend(effects(review).into_iter().map(|effect| told(&format!("effect   {effect}"))));
    let code = review.code.iter().flatten();
    lines.extend(
        code.map(|code| told(&format!("file     `{}`, as it was then", one_line(code.path.as_str())))),
    );
    lines.extend(against.iter().map(|reason| told(&format!("note     {}: for one call only", reason.why()))));
    lines.push(told(&format!("allowed  {}", one_line(&in_words(allowance)))));
    let scope = match &allowance.span {
        AllowedFor::Once => "the next such call",
        AllowedFor::Session(_) | AllowedFor::Always => "such calls",
    };
    if allowance.span == AllowedFor::Always && allowance.is_below && allowance.directory == *home {
        lines.push(told(
            "         that is your home directory: from now on, in every project, in every session",
        ));
    }
    lines.push(told(&format!("         lets {scope} pass while effects and files are the same")));
    let earlier = match others {
        0 => {
            "         no other call of the last 30 days was stopped that this would have let pass".to_owned()
        }
        many => {
            let (calls, were) = (counted(many, "other call"), if many == 1 { "was" } else { "were" });
            format!("         {calls} of the last 30 days {were} stopped that this would have let pass")
        }
    };
    lines.push(told(&earlier));
    lines.join("\n")
}

/// The same for programs, once it is allowed.
pub(super) fn allowed(
    name: String,
    review: &ReviewRecord,
    allowance: &Allowance,
    against: &[Unliftable],
    others: u64,
) -> sessions::Allowed {
    sessions::Allowed {
        allowance: name,
        action: review.action_id.as_str().to_owned(),
        call: allowance.words.clone(),
        tool: review.tool.as_str().to_owned(),
        input: review.input.clone(),
        reason: review.reason.clone(),
        rules: stopping_rules(review).map(str::to_owned).collect(),
        effects: review.effects.iter().map(recorded).collect(),
        code: code(allowance),
        span: span_word(&allowance.span).to_owned(),
        directory: allowance.directory.to_string(),
        below: allowance.is_below,
        earlier: others,
        once_only: against.iter().map(|reason| reason.name().to_owned()).collect(),
    }
}

/// An entry of the list for programs.
pub(super) fn listed(one: &Granted, state: &str) -> sessions::ListedAllowance {
    let allowance = one.allowance.as_ref();
    sessions::ListedAllowance {
        allowance: one.name.clone(),
        state: state.to_owned(),
        at: allowance.map(|allowance| allowance.at.into()),
        call: allowance.map(|allowance| allowance.words.clone()),
        span: allowance.map(|allowance| span_word(&allowance.span).to_owned()),
        directory: allowance.map(|allowance| allowance.directory.to_string()),
        below: allowance.map(|allowance| allowance.is_below),
        code: allowance.map(code).unwrap_or_default(),
    }
}

fn code(allowance: &Allowance) -> Vec<sessions::AllowedCode> {
    let one = |code: &checkrein_protocol::CodeRecord| sessions::AllowedCode {
        path: code.path.to_string(),
        digest: code.digest.clone(),
    };
    allowance.code.iter().map(one).collect()
}

/// All lines of a call.
pub(in crate::commands) fn whole_call(review: &ReviewRecord) -> Vec<String> {
    let action = Action {
        tool: review.tool.clone(),
        input: review.input.clone(),
        cwd: checkrein_protocol::AbsolutePath::root(),
    };
    if let Some(text) = action.shell_text() {
        let beside = manner(&action).into_iter().flat_map(|(name, value)| field(name, value));
        return plain_lines(text).into_iter().chain(beside).collect();
    }
    match &review.input {
        Json::Object(fields) => fields.iter().flat_map(|(name, value)| field(name, value)).collect(),
        other => plain_lines(&other.to_string()),
    }
}

/// A field of an input: a text of several lines below its name.
fn field(name: &str, value: &Json) -> Vec<String> {
    let name = one_line(name);
    match value {
        Json::String(text) if text.contains('\n') => {
            let below = plain_lines(text).into_iter().map(|line| format!("  {line}"));
            std::iter::once(format!("{name}:")).chain(below).collect()
        }
        Json::String(text) => vec![format!("{name}: {}", one_line(text))],
        other => vec![format!("{name}: {}", one_line(&other.to_string()))],
    }
}

/// The rules that asked about a call or refused it, each with what it decided.
pub(in crate::commands) fn stopping_rules(review: &ReviewRecord) -> impl Iterator<Item = &str> {
    let stops = |rule: &&str| rule.ends_with(": modify") || rule.ends_with(": block");
    review.rules.iter().map(String::as_str).filter(stops)
}

pub(in crate::commands) fn effects(review: &ReviewRecord) -> Vec<String> {
    let one = |effect: &checkrein_protocol::Effect| {
        format!("{}, severity {}", one_line(&sentence(effect)), severity_name(effect.severity))
    };
    if review.effects.is_empty() {
        return vec!["none is predicted".to_owned()];
    }
    review.effects.iter().map(one).collect()
}

fn stopped(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Escalate => "was asked about",
        VerdictKind::Block | VerdictKind::Halt => "was refused",
        VerdictKind::Ok | VerdictKind::Nudge => "ran",
    }
}

pub(in crate::commands) fn one_line(text: &str) -> String {
    plain_lines(text).join("\\n")
}
