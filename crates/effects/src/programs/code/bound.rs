//! Functions of Python that keep what they are given for later: `functools.partial`, the options that a program takes (`argparse`), the
//! repository that is worked on (GitPython 3.1). Sources: "The Python Standard Library" 3.13, functools, argparse, netrc, os.

use std::collections::HashMap;

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;
use super::variables::Variables;
use crate::interpreter::Value;

/// The greatest number of options that are kept (ours).
const OPTIONS: usize = 256;
/// The names of the fields of a function that is bound to values.
const FUNCTION: &str = "\u{0}function";
const POSITIONAL: &str = "\u{0}positional";
const METHOD: &str = "\u{0}method";
const MEMBER: &str = "\u{0}member";
const NAMED: &str = "\u{0}named";

/// What functions of Python keep for later.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The options of the program, and what each is when it is not given.
    options: HashMap<String, ScriptValue>,
    /// The repository that was opened last.
    pub(super) repository: Option<Value>,
    /// The secrets that settings hold which were read.
    pub(super) parsed: Option<ScriptValue>,
}

impl Evaluator<'_, '_, '_> {
    /// Calls of Python that keep something, or give what was kept; `None` for others.
    pub(super) fn through_kept(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        match name {
            "functools.partial" => self.bound(given),
            "operator.methodcaller" | "operator.attrgetter" => self.method_kept(name, given),
            "argparse.parser.add_argument" => {
                self.note_option(given);
                Some(ScriptValue::Local)
            }
            "argparse.parser.add_argument_group" | "argparse.parser.add_mutually_exclusive_group" => {
                Some(ScriptValue::Name("argparse.parser".to_owned()))
            }
            "argparse.parser.set_defaults" => {
                self.kept.options.extend(given.named.iter().cloned());
                Some(ScriptValue::Local)
            }
            "argparse.parser.parse_args" if given.positional.is_empty() => Some(self.options_given()),
            "argparse.parser.parse_known_args" if given.positional.is_empty() => {
                let options = self.options_given();
                Some(ScriptValue::List(vec![options, ScriptValue::Local]))
            }
            "git.Repo" | "git.repo.Repo" => {
                self.kept.repository = given.positional.first().map(ScriptValue::value);
                None
            }
            // They append unless a mode says otherwise, and that is told as a change all the same.
            "logging.basicConfig" => {
                let file = given.named("filename")?.value();
                self.append(&file);
                Some(ScriptValue::Local)
            }
            "configparser.parser.read" => {
                let parsed = self.read(&given.at(0));
                self.kept.parsed = Some(parsed).filter(|parsed| matches!(parsed, ScriptValue::Secret(_, _)));
                Some(ScriptValue::Local)
            }
            "configparser.parser.get" | "configparser.parser.items" => self.kept.parsed.clone(),
            "keyring.get_password" | "keyring.get_credential" => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                let place = home.followed_by(&Value::exact("/.local/share/keyrings"));
                Some(ScriptValue::secret(place.known_start()))
            }
            "netrc.netrc" => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                let file = match given.positional.first() {
                    Some(file) => file.clone(),
                    None => ScriptValue::Text(home.followed_by(&Value::exact("/.netrc"))),
                };
                Some(self.read(&file))
            }
            _ => None,
        }
    }

    /// A function with values that it is given first: `partial(open, mode="w")`.
    fn bound(&mut self, given: &Given) -> Option<ScriptValue> {
        let function = given.positional.first()?;
        if !matches!(function, ScriptValue::Name(_) | ScriptValue::Function(_) | ScriptValue::Method(_, _)) {
            return None;
        }
        let rest = given.positional.get(1..).unwrap_or_default().to_vec();
        let fields: Variables = [
            (FUNCTION.to_owned(), function.clone()),
            (POSITIONAL.to_owned(), ScriptValue::List(rest)),
            (NAMED.to_owned(), ScriptValue::Map(given.named.clone())),
        ]
        .into_iter()
        .collect();
        self.note_value(function);
        self.new_object(None, fields)
    }

    /// A function that asks what it will be given for a member, and calls that: `methodcaller("unlink")`, `attrgetter("unlink")`.
    fn method_kept(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let rest = given.positional.get(1..).unwrap_or_default().to_vec();
        let member = if name == "operator.methodcaller" { METHOD } else { MEMBER };
        let fields: Variables = [
            (member.to_owned(), given.at(0)),
            (POSITIONAL.to_owned(), ScriptValue::List(rest)),
            (NAMED.to_owned(), ScriptValue::Map(given.named.clone())),
        ]
        .into_iter()
        .collect();
        self.new_object(None, fields)
    }

    /// Calls a function that is bound to values; `None` where an object is none.
    pub(super) fn call_bound(&mut self, object: &ScriptValue, given: &Given) -> Option<ScriptValue> {
        let ScriptValue::Object(place) = object else { return None };
        let fields = &self.objects.get(*place)?.fields;
        let asked = fields.get(METHOD).or_else(|| fields.get(MEMBER)).cloned();
        let is_called = fields.get(MEMBER).is_none();
        let function = fields.get(FUNCTION).cloned();
        let (positional, named) = (fields.get(POSITIONAL)?.clone(), fields.get(NAMED)?.clone());
        let mut all = Given::default();
        if let ScriptValue::List(items) = positional {
            all.positional = items;
        }
        if let ScriptValue::Map(entries) = named {
            all.named = entries;
        }
        // The first value is that which is asked for its member.
        let own = usize::from(asked.is_some());
        all.positional.extend(given.positional.iter().skip(own).cloned());
        all.named.extend(given.named.iter().cloned());
        let function = match (asked, function) {
            (Some(member), _) => {
                let Some(member) = member.exact() else {
                    self.runs_unknown_code("calls a method whose name is put together while it runs");
                    return Some(ScriptValue::Foreign);
                };
                member.split('.').fold(given.at(0), |of, member| self.member(&of, member))
            }
            (None, function) => function?,
        };
        if !is_called {
            return Some(function);
        }
        Some(self.call_thing(&function, &all))
    }

    fn note_option(&mut self, given: &Given) {
        let names: Vec<String> = given.positional.iter().filter_map(ScriptValue::exact).collect();
        let long = names.iter().find(|name| name.starts_with("--")).or(names.first());
        let Some(first) = long.filter(|_| self.kept.options.len() < OPTIONS) else { return };
        let is_option = first.starts_with('-');
        let name = given.named("dest").and_then(ScriptValue::exact);
        let name = name.unwrap_or_else(|| first.trim_start_matches('-').replace('-', "_"));
        let takes_none =
            matches!(given.named("nargs").and_then(ScriptValue::exact).as_deref(), Some("?" | "*"));
        let value = match (given.named("default"), given.named("action").and_then(ScriptValue::exact)) {
            (Some(default), _) => default.clone(),
            (None, Some(action)) if action == "store_true" => ScriptValue::Truth(false),
            (None, Some(action)) if action == "store_false" => ScriptValue::Truth(true),
            (None, _) if is_option || takes_none => ScriptValue::Local,
            // It has to be given.
            (None, _) => ScriptValue::Text(Value::Unknown),
        };
        let is_path = matches!(given.named("type"), Some(ScriptValue::Name(name)) if name.ends_with("Path"));
        let value = match value {
            ScriptValue::Text(text) if is_path => ScriptValue::Path(text),
            value => value,
        };
        self.kept.options.insert(name, value);
    }

    /// The options of the program: what they are when they are not given, where nothing is given.
    fn options_given(&mut self) -> ScriptValue {
        let code = self.call.arguments.value(&["-c"]);
        let last = self.call.words.last();
        let is_given_nothing = match (code, self.call.arguments.operands.first()) {
            (Some(code), _) => last == Some(code),
            (None, Some(script)) => last == Some(script),
            (None, None) => true,
        };
        let unknown = ScriptValue::Text(Value::Unknown);
        let mut all: Vec<(String, ScriptValue)> = self
            .kept
            .options
            .iter()
            .map(|(name, value)| {
                (name.clone(), if is_given_nothing { value.clone() } else { unknown.clone() })
            })
            .collect();
        all.sort_by(|(first, _), (second, _)| first.cmp(second));
        ScriptValue::Map(all)
    }
}
