//! Conditions of rules, tripwires and own patterns: CEL expressions, bounded in depth and cost.
//!
//! No type of the language's crate leaves this module. What a condition does not name is not prepared for it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::objects::Value;
use cel::parser::PrattParser;
use checkrein_protocol::{Amount, Depth, Effect, NetworkReach};
use serde_json::Value as Json;

use super::tools::server_of;
use super::{RuleContext, RuleFailure};

/// The greatest length of a condition, in bytes (ours).
const BYTES_LIMIT: usize = 4096;
/// How deep an expression may be nested (ours): its evaluation recurses.
const DEPTH_LIMIT: usize = 96;
/// How many steps the evaluation of one condition may take at most (ours).
const STEPS_LIMIT: u128 = 100_000;

/// The functions of the language; building them costs more than most conditions.
static FUNCTIONS: LazyLock<Arc<cel::Env>> = LazyLock::new(|| Arc::new(cel::Env::stdlib()));

/// A parsed condition.
#[derive(Debug)]
pub(crate) struct Condition {
    expression: IdedExpr,
    measure: Measure,
}

/// A text that is no condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadCondition {
    /// What is wrong with it.
    pub(crate) message: String,
    /// Where, from 1, in characters of its first line; `None` when it is about the whole.
    pub(crate) column: Option<usize>,
}

/// What evaluation may cost.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// How deep loops are nested.
    loops: usize,
    /// How many additions there are: each may double a list.
    additions: u32,
    /// The length of the longest list that is written out.
    elements: usize,
    /// Whether the input of the tool is looked at.
    names_arguments: bool,
}

/// How deep the input of a tool is handed to conditions (ours); what lies deeper is left out.
const ARGUMENTS_DEPTH: usize = 16;

impl Condition {
    /// Parses a condition.
    pub(crate) fn parse(text: &str) -> Result<Self, BadCondition> {
        let whole = |message: String| BadCondition { message, column: None };
        if text.len() > BYTES_LIMIT {
            return Err(whole(format!("it is longer than {BYTES_LIMIT} bytes")));
        }
        let expression = PrattParser::new().parse(text).map_err(|errors| BadCondition {
            message: message(&errors),
            column: errors.errors.first().and_then(|error| usize::try_from(error.pos.1).ok()),
        })?;
        let mut measure = Measure::default();
        measure
            .take(&expression.expr, 0, 0)
            .map_err(|TooDeep| whole(format!("it is nested more than {DEPTH_LIMIT} deep")))?;
        Ok(Self { expression, measure })
    }

    /// Whether the condition holds, given what was counted when something is.
    pub(crate) fn holds(
        &self,
        context: &RuleContext<'_>,
        count: Option<Amount>,
    ) -> Result<bool, RuleFailure> {
        match self.value(context, count)? {
            Value::Bool(answer) => Ok(answer),
            other => Err(RuleFailure::NotBoolean(other.type_of().to_string())),
        }
    }

    /// The amount that the expression stands for. What is below nothing adds nothing.
    pub(crate) fn amount(&self, context: &RuleContext<'_>) -> Result<Amount, RuleFailure> {
        match self.value(context, None)? {
            Value::Int(number) => Ok(Amount(u64::try_from(number).unwrap_or(0).saturating_mul(1000))),
            Value::UInt(number) => Ok(Amount(number.saturating_mul(1000))),
            Value::Float(number) if number.is_nan() => Err(RuleFailure::NotNumber("NaN".to_owned())),
            Value::Float(number) => Ok(thousandths(number)),
            other => Err(RuleFailure::NotNumber(other.type_of().to_string())),
        }
    }

    fn value(&self, context: &RuleContext<'_>, count: Option<Amount>) -> Result<Value, RuleFailure> {
        let arguments =
            if self.measure.names_arguments { Some(arguments(&context.action.input, 0)) } else { None };
        let longest = arguments.as_ref().map_or(0, longest_list);
        let longest = longest.max(context.effects.len()).max(context.history.recent.len());
        if self.measure.steps(longest) > STEPS_LIMIT {
            return Err(RuleFailure::TooCostly { elements: longest, nesting: self.measure.loops });
        }
        let mut variables = cel::Context::with_env(Arc::clone(&FUNCTIONS));
        variables.add_variable_from_value("action", action(context));
        variables
            .add_variable_from_value("effects", context.effects.iter().map(effect).collect::<Vec<Value>>());
        variables.add_variable_from_value("history", history(context));
        variables.add_variable_from_value("place", place(context));
        if let Some(arguments) = arguments {
            variables.add_variable_from_value("args", arguments);
        }
        if let Some(Amount(thousandths)) = count {
            let whole = i64::try_from(thousandths / 1000).ok().filter(|_| thousandths % 1000 == 0);
            let number = whole.map_or(Value::Float(thousandths as f64 / 1000.0), Value::Int);
            variables.add_variable_from_value("count", number);
        }
        variables.resolve(&self.expression).map_err(|error| {
            let words = lower(&error.to_string());
            match error {
                cel::ExecutionError::UndeclaredReference(_) => RuleFailure::Undeclared(words),
                _ => RuleFailure::Evaluation(words),
            }
        })
    }

    /// Whether the input of a tool is looked at, which may hold anything.
    pub(crate) fn names_arguments(&self) -> bool {
        self.measure.names_arguments
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; below zero is zero"
)]
fn thousandths(number: f64) -> Amount {
    Amount((number * 1000.0).round() as u64)
}

struct TooDeep;

impl Measure {
    /// An upper bound of the steps over lists of at most so many elements.
    fn steps(self, elements: usize) -> u128 {
        let longest = elements.max(self.elements).max(1) as u128;
        let longest = longest.saturating_mul(1_u128.checked_shl(self.additions).unwrap_or(u128::MAX));
        let loops = u32::try_from(self.loops).unwrap_or(u32::MAX);
        if self.loops == 0 { 1 } else { longest.saturating_pow(loops) }
    }

    fn take(&mut self, expression: &Expr, depth: usize, loops: usize) -> Result<(), TooDeep> {
        if depth > DEPTH_LIMIT {
            return Err(TooDeep);
        }
        self.loops = self.loops.max(loops);
        match expression {
            Expr::Ident(name) => self.names_arguments |= name == "args",
            Expr::Unspecified | Expr::Literal(_) => {}
            Expr::Call(call) => {
                self.additions += u32::from(call.func_name == "_+_");
                for inner in call.target.iter().map(AsRef::as_ref).chain(&call.args) {
                    self.take(&inner.expr, depth + 1, loops)?;
                }
            }
            Expr::Comprehension(comprehension) => {
                self.take(&comprehension.iter_range.expr, depth + 1, loops)?;
                self.take(&comprehension.accu_init.expr, depth + 1, loops)?;
                // The step of a macro adds to its own accumulator; that is no doubling.
                let additions = self.additions;
                let step = &comprehension.loop_step.expr;
                for inner in [&comprehension.loop_cond.expr, step, &comprehension.result.expr] {
                    self.take(inner, depth + 1, loops + 1)?;
                }
                if gathers(step, &comprehension.accu_var) {
                    self.additions = self.additions.saturating_sub(1).max(additions);
                }
            }
            Expr::List(list) => {
                self.elements = self.elements.max(list.elements.len());
                for inner in &list.elements {
                    self.take(&inner.expr, depth + 1, loops)?;
                }
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), depth, loops)?,
            Expr::Struct(structure) => {
                self.entries(structure.entries.iter().map(|entry| &entry.expr), depth, loops)?;
            }
            Expr::Select(select) => self.take(&select.operand.expr, depth + 1, loops)?,
        }
        Ok(())
    }

    fn entries<'a>(
        &mut self,
        entries: impl Iterator<Item = &'a EntryExpr>,
        depth: usize,
        loops: usize,
    ) -> Result<(), TooDeep> {
        for entry in entries {
            self.elements += 1;
            match entry {
                EntryExpr::StructField(field) => self.take(&field.value.expr, depth + 1, loops)?,
                EntryExpr::MapEntry(entry) => {
                    self.take(&entry.key.expr, depth + 1, loops)?;
                    self.take(&entry.value.expr, depth + 1, loops)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether the step of a loop adds one element to what it has gathered (`map`, `filter`).
fn gathers(step: &Expr, accumulator: &str) -> bool {
    let Expr::Call(call) = step else { return false };
    let adds = |call: &cel::common::ast::CallExpr| {
        call.func_name == "_+_"
            && matches!(call.args.first().map(|arg| &arg.expr), Some(Expr::Ident(name)) if name == accumulator)
    };
    adds(call) || call.args.iter().any(|arg| matches!(&arg.expr, Expr::Call(inner) if adds(inner)))
}

/// The input of a tool as conditions see it.
fn arguments(input: &Json, depth: usize) -> Value {
    match input {
        _ if depth > ARGUMENTS_DEPTH => Value::Null,
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .or_else(|| number.as_u64().map(Value::UInt))
            .unwrap_or_else(|| Value::Float(number.as_f64().unwrap_or(f64::NAN))),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => {
            Value::from(items.iter().map(|item| arguments(item, depth + 1)).collect::<Vec<Value>>())
        }
        Json::Object(fields) => Value::from(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), arguments(value, depth + 1)))
                .collect::<HashMap<String, Value>>(),
        ),
    }
}

/// The length of the longest list in a value.
fn longest_list(value: &Value) -> usize {
    match value {
        Value::List(items) => items.iter().map(longest_list).max().unwrap_or(0).max(items.len()),
        Value::Map(entries) => {
            entries.map.values().map(longest_list).max().unwrap_or(0).max(entries.map.len())
        }
        _ => 0,
    }
}

fn action(context: &RuleContext<'_>) -> Value {
    map([
        ("tool", Value::from(context.action.tool.as_str())),
        ("server", Value::from(server_of(context.action.tool.as_str()).unwrap_or_default())),
        ("command", Value::from(context.action.shell_text().unwrap_or_default())),
        ("cwd", Value::from(context.action.cwd.as_str())),
        ("intent", Value::from(word(&context.intent))),
    ])
}

fn effect(effect: &Effect) -> Value {
    let reach = match effect.reach {
        None => "",
        Some(NetworkReach::Local) => "local",
        Some(NetworkReach::Known) => "known",
        Some(NetworkReach::External) => "external",
    };
    map([
        ("kind", Value::from(effect.kind.name())),
        ("target", Value::from(effect.target.text().unwrap_or_default())),
        ("certainty", Value::from(word(&effect.certainty))),
        ("recursive", Value::Bool(effect.depth == Depth::Recursive)),
        ("stake", Value::from(word(&effect.stake))),
        ("severity", Value::from(word(&effect.severity))),
        ("reversible", Value::Bool(effect.reversible)),
        ("reach", Value::from(reach)),
        ("nature", Value::from(effect.nature.name())),
        ("cause", Value::from(effect.cause.as_str())),
        ("note", Value::from(effect.note.as_str())),
    ])
}

fn history(context: &RuleContext<'_>) -> Value {
    let count = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    map([
        ("actions", count(context.history.actions)),
        ("file_operations", count(context.history.file_operations)),
        ("active_issues", count(u64::from(context.history.active_issues))),
        (
            "last_failed",
            Value::Bool(context.history.recent.last().is_some_and(|last| last.failed == Some(true))),
        ),
    ])
}

fn place(context: &RuleContext<'_>) -> Value {
    map([
        ("home", Value::from(context.place.home.as_str())),
        ("workspace", Value::from(context.place.workspace.as_str())),
        ("user", Value::from(context.place.user.as_deref().unwrap_or_default())),
    ])
}

fn map<const LENGTH: usize>(entries: [(&str, Value); LENGTH]) -> Value {
    Value::from(HashMap::<String, Value>::from_iter(entries.map(|(key, value)| (key.to_owned(), value))))
}

/// The word that a unit variant has on the wire.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

fn message(errors: &cel::ParseErrors) -> String {
    let messages: Vec<String> = errors
        .errors
        .iter()
        .take(3)
        .map(|error| format!("{} at column {}", lower(&error.msg), error.pos.1))
        .collect();
    if messages.is_empty() { "it is not an expression".to_owned() } else { messages.join("; ") }
}

/// A foreign message in the form of ours: first letter small, no stop at the end.
fn lower(message: &str) -> String {
    let message: String = message.trim().trim_end_matches('.').chars().take(300).collect();
    let mut letters = message.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}
