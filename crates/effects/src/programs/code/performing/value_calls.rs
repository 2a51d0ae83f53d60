//! What functions give that change nothing by themselves.

use checkrein_scripts::Language;

use super::super::call_effects::joined_text;
use super::super::evaluator::{Evaluator, Given};
use super::super::library_calls::LibraryCall;
use super::super::maps;
use super::super::value::ScriptValue;
use crate::interpreter::{Input, Value, filters};
use crate::programs::sql;

impl Evaluator<'_, '_, '_> {
    pub(super) fn perform_print(&mut self, deed: LibraryCall, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        // A list is printed with its brackets where it is a value of its own.
        let texts: Vec<ScriptValue> = if self.language.has_tree() {
            given.positional.clone()
        } else {
            given.positional.iter().flat_map(ScriptValue::items).collect()
        };
        let (between, end) = match (self.language, deed) {
            (Language::Ruby, LibraryCall::Print) => ("\n", "\n"),
            (_, LibraryCall::Print) => (" ", "\n"),
            _ => ("", ""),
        };
        if given.named.is_empty() {
            self.print(&texts, between, end);
        } else {
            self.printed = None;
        }
        unknown
    }

    pub(super) fn perform_range(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let bounds: Option<Vec<i64>> =
            given.positional.iter().map(|thing| thing.exact()?.parse().ok()).collect();
        let (from, to) = match bounds.as_deref() {
            Some([to]) => (0, *to),
            Some([from, to]) => (*from, *to),
            _ => return unknown,
        };
        if to.saturating_sub(from) > 32 {
            self.note_counting(&ScriptValue::Number(to));
            return unknown;
        }
        ScriptValue::List((from..to).map(ScriptValue::Number).collect())
    }

    pub(super) fn perform_same(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match (name, given.at(0)) {
            ("URL", ScriptValue::Text(Value::Exact(text))) if text.starts_with("file://") => {
                ScriptValue::text(text.trim_start_matches("file://"))
            }
            ("reversed", ScriptValue::Text(Value::Exact(text))) => {
                ScriptValue::text(text.chars().rev().collect::<String>())
            }
            ("sorted", ScriptValue::List(items)) => ScriptValue::List(maps::in_any_order(&items)),
            ("sort" | "reverse", _) if self.language == Language::Perl => {
                let all: Vec<ScriptValue> = given.positional.iter().flat_map(ScriptValue::items).collect();
                ScriptValue::List(maps::in_any_order(&all))
            }
            ("reversed", ScriptValue::List(items)) => ScriptValue::List(items.into_iter().rev().collect()),
            ("json.loads" | "JSON.parse", ScriptValue::Text(Value::Exact(text)))
                if text.len() > 1 && text.starts_with('"') && text.ends_with('"') =>
            {
                let inner = text.trim_matches('"');
                if inner.contains('\\') { unknown } else { ScriptValue::text(inner) }
            }
            ("Object.values" | "values", map @ ScriptValue::Map(_)) => {
                maps::listed(&map, "values").unwrap_or(map)
            }
            ("Object.keys" | "keys" | "list" | "sorted" | "tuple", map @ ScriptValue::Map(_)) => {
                maps::listed(&map, "keys").unwrap_or(map)
            }
            (_, value) => value,
        }
    }

    pub(super) fn perform_join_text(given: &Given) -> ScriptValue {
        let between = given.at(0);
        let parts: Vec<ScriptValue> = given.positional.iter().skip(1).flat_map(ScriptValue::items).collect();
        joined_text(&between, &parts)
    }

    pub(super) fn perform_names(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.positional.first() {
            // `vars(os)`
            Some(ScriptValue::Name(of)) => {
                self.is_loose |= matches!(of.as_str(), "os" | "subprocess" | "shutil");
                ScriptValue::Name(format!("{of}.__dict__"))
            }
            Some(_) => unknown,
            None => ScriptValue::Name("globals".to_owned()),
        }
    }

    pub(super) fn perform_whereabouts(&mut self, given: &Given) -> ScriptValue {
        let name = given.at(0).value();
        let mut found = Value::Unknown;
        self.act(|machine| found = machine.whereabouts(&name));
        ScriptValue::Text(found)
    }

    pub(super) fn perform_attribute(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match (given.at(0), given.at(1).exact()) {
            (of, Some(name)) => self.member(&of, &name),
            (ScriptValue::Name(_) | ScriptValue::Foreign, None) => {
                self.runs_unknown_code("calls a function whose name is put together while it runs");
                ScriptValue::Local
            }
            (_, None) => unknown,
        }
    }

    pub(super) fn perform_base64(given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.at(0) {
            kept @ (ScriptValue::Network(_) | ScriptValue::Secret(_, _)) => kept,
            thing => thing
                .exact()
                .and_then(|text| filters::decoded_base64(&text))
                .map_or(unknown, ScriptValue::text),
        }
    }

    pub(super) fn perform_in_base64(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.at(0) {
            ScriptValue::Text(text @ Value::Exact(_)) => {
                let words = [Value::exact("base64"), Value::exact("-w0")];
                Self::from_output(self.act(|machine| machine.run_words(&words, Input::Text(text))).output)
            }
            secret @ ScriptValue::Secret(_, _) => secret,
            _ => unknown,
        }
    }

    pub(super) fn perform_loaded(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let loader = given.named("Loader").or_else(|| given.positional.get(1));
        match loader {
            Some(ScriptValue::Name(name)) if name.contains("Safe") || name.contains("Base") => unknown,
            _ => {
                self.not_known(name);
                ScriptValue::Foreign
            }
        }
    }

    pub(super) fn perform_decoded(&mut self, name: &str, given: &Given) -> ScriptValue {
        match given.at(1).exact().as_deref() {
            Some("base64" | "base64url") => self.perform(LibraryCall::Base64, name, given),
            Some("hex") => self.perform(LibraryCall::Hexadecimal, name, given),
            Some(_) | None => given.at(0),
        }
    }

    pub(super) fn perform_hexadecimal(given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        given
            .at(0)
            .exact()
            .and_then(|text| filters::decoded_hexadecimal(&text))
            .map_or(unknown, ScriptValue::text)
    }

    pub(super) fn perform_character(given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let letters: Option<String> = given
            .positional
            .iter()
            .map(|thing| thing.exact()?.parse::<u32>().ok().and_then(char::from_u32))
            .collect();
        letters.map_or(unknown, ScriptValue::text)
    }

    pub(super) fn perform_foreign(&mut self, name: &str, given: &Given) -> ScriptValue {
        // Who chooses what is loaded means what it runs.
        if let Some(ScriptValue::Network(url)) = given.positional.first() {
            let url = url.clone();
            self.act(|machine| machine.runs_from_network(&url));
            return ScriptValue::Foreign;
        }
        self.not_known(name);
        ScriptValue::Foreign
    }

    pub(super) fn perform_first(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let list = match given.positional.first() {
            Some(list) => list.clone(),
            None => self.variable("@_").cloned().unwrap_or_else(|| self.arguments(0)),
        };
        match list {
            ScriptValue::List(items) => {
                let mut items = items.into_iter();
                let first = items.next().unwrap_or(unknown);
                if given.positional.is_empty() && self.variable("@_").is_some() {
                    self.put("@_", ScriptValue::List(items.collect()));
                }
                first
            }
            _ => unknown,
        }
    }

    pub(super) fn perform_statement(&mut self, given: &Given) -> ScriptValue {
        let text = given.at(0).value();
        self.act(|machine| sql::run_text(machine, &text, sql::Language::Generic, "the database"));
        ScriptValue::Name("cursor".to_owned())
    }

    pub(super) fn perform_record(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.positional.first() {
            None => ScriptValue::Map(given.named.clone()),
            Some(ScriptValue::Map(entries)) => {
                ScriptValue::Map(entries.iter().chain(&given.named).cloned().collect())
            }
            Some(of) => self.passed_secret(name, given).unwrap_or_else(|| match of {
                kept @ ScriptValue::Network(_) => kept.clone(),
                _ => unknown,
            }),
        }
    }

    pub(super) fn perform_merge(given: &Given) -> ScriptValue {
        let module = given
            .positional
            .iter()
            .find(|thing| matches!(thing, ScriptValue::Name(_)) && !Self::is_environment(thing));
        let environment = given.positional.iter().any(Self::is_environment);
        match (module, environment) {
            (_, true) => ScriptValue::secret(crate::interpreter::printed::ALL_VARIABLES),
            (Some(module), _) => module.clone(),
            (None, false) => ScriptValue::Map(
                given
                    .positional
                    .iter()
                    .flat_map(|thing| match thing {
                        ScriptValue::Map(entries) => entries.clone(),
                        _ => Vec::new(),
                    })
                    .collect(),
            ),
        }
    }

    pub(super) fn perform_call_by_name(&mut self, name: &str, given: &Given) -> ScriptValue {
        let rest = match given.positional.get(1) {
            Some(ScriptValue::List(items)) if name.ends_with("array") => items.clone(),
            _ => given.positional.get(1..).unwrap_or_default().to_vec(),
        };
        let callee = given.at(0);
        self.call_by_name(&callee, &Given { positional: rest, named: Vec::new() })
    }

    pub(super) fn perform_expand(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0).value();
        let known = path.known_start();
        match known
            .strip_prefix('~')
            .or_else(|| known.strip_prefix("$HOME"))
            .or_else(|| known.strip_prefix("${HOME}"))
        {
            Some(rest) if path.as_exact().is_some() && (rest.is_empty() || rest.starts_with('/')) => {
                ScriptValue::Text(
                    self.machine.variable("HOME").unwrap_or(Value::Unknown).followed_by(&Value::exact(rest)),
                )
            }
            Some(_) => unknown,
            None if known.contains('$') => unknown,
            None => given.at(0),
        }
    }
}
