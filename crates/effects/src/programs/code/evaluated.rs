//! Text that functions of libraries run as code, and the lines that code goes through.

use crate::interpreter::{Input, Output, Value};

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// The greatest number of parts of one template that are run (ours).
const PARTS: usize = 64;

impl Evaluator<'_, '_, '_> {
    /// The function that `Function("a", "b", "text")` of JavaScript makes (ECMA-262, "The Function Constructor").
    pub(super) fn made_function(&mut self, given: &Given) -> ScriptValue {
        let texts: Option<Vec<String>> = given.positional.iter().map(ScriptValue::exact).collect();
        let Some(mut texts) = texts else {
            self.runs_unknown_code("runs code that is put together while it runs");
            return ScriptValue::Foreign;
        };
        let body = texts.pop().unwrap_or_default();
        let name = "functionMadeOfText";
        self.run_code(&format!("var {name} = function ({}) {{\n{body}\n}};", texts.join(", ")));
        self.lookup(name)
    }

    /// What a text comes to as code of JavaScript (Node 22, "VM"): the function that it is, so that a call of it is followed. What is given as
    /// global variables is known to the text by its names.
    pub(super) fn evaluated_value(&mut self, name: &str, given: &Given) -> ScriptValue {
        let Some(text) = given.at(0).exact() else {
            self.evaluate(&given.at(0));
            return ScriptValue::Text(Value::Unknown);
        };
        if name.ends_with("compileFunction") {
            let parameters: Vec<String> = given.at(1).items().iter().filter_map(ScriptValue::exact).collect();
            let body = ScriptValue::text(text);
            let positional = parameters.into_iter().map(ScriptValue::text).chain([body]).collect();
            return self.made_function(&Given { positional, ..Given::default() });
        }
        if let ScriptValue::Map(globals) = given.at(1) {
            for (name, value) in globals {
                self.put_in_module(&name, value);
            }
        }
        let whole = text.trim().trim_end_matches(';');
        let first = whole.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        // A function with a name is a declaration: it stays known by it, and gives no value.
        let behind = whole.strip_prefix("async").map_or(whole, str::trim_start);
        let is_unnamed = behind
            .strip_prefix("function")
            .is_some_and(|rest| rest.trim_start().trim_start_matches('*').trim_start().starts_with('('));
        let is_function = whole.starts_with('(')
            || is_unnamed
            || first == "async" && !behind.starts_with("function")
            || whole.get(first.len()..).is_some_and(|rest| rest.trim_start().starts_with("=>"));
        if is_function {
            let made = "valueMadeOfText";
            self.run_code(&format!("var {made} = {whole};"));
            return self.lookup(made);
        }
        self.evaluate(&given.at(0));
        ScriptValue::Text(Value::Unknown)
    }

    /// Runs every text that is given as code, and calls the functions.
    pub(super) fn evaluated_texts(&mut self, name: &str, given: &Given) -> ScriptValue {
        let texts = given.positional.iter().chain(given.named.iter().map(|(_, value)| value));
        for text in texts.cloned().collect::<Vec<_>>() {
            match text {
                ScriptValue::Text(Value::Exact(text)) => {
                    // Examples of documentation stand behind a prompt.
                    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches(">>> ")).collect();
                    self.run_code(&lines.join("\n"));
                }
                ScriptValue::Function(_) | ScriptValue::Network(_) => self.evaluate(&text),
                ScriptValue::Text(_) => self.not_known(name),
                _ => {}
            }
        }
        ScriptValue::Text(Value::Unknown)
    }

    /// Runs what stands between the marks of a template.
    pub(super) fn template(&mut self, given: &Given) -> ScriptValue {
        if let Some(text) = given.at(0).exact() {
            for (place, part) in text.split("<%").skip(1).enumerate() {
                if place == PARTS {
                    self.runs_unknown_code("runs more parts of a template than are looked at");
                    break;
                }
                let code = part.split("%>").next().unwrap_or_default();
                self.run_code(code.trim_start_matches(['=', '-', '#']));
            }
        }
        ScriptValue::Text(Value::Unknown)
    }

    /// The paths below directories, as `File::Find` gives them to its function.
    pub(super) fn found_files(&mut self, given: &Given) -> ScriptValue {
        let roots: Vec<ScriptValue> = given
            .positional
            .iter()
            .filter(|thing| !matches!(thing, ScriptValue::Function(_) | ScriptValue::Map(_)))
            .flat_map(ScriptValue::items)
            .collect();
        let root = roots.first().cloned().unwrap_or_else(|| ScriptValue::text("."));
        let inside =
            ScriptValue::Text(root.value().followed_by(&Value::exact("/")).followed_by(&Value::Unknown));
        for name in ["$_", "$File::Find::name"] {
            self.put(name, inside.clone());
        }
        ScriptValue::Text(Value::Unknown)
    }

    /// Whether the code stands in the command itself, not in a script of its own.
    pub(super) fn is_inline(&self) -> bool {
        self.call.arguments.has(&["-c", "-e", "-E", "-r", "-n", "-p", "--eval", "--print"])
            || matches!(self.call.input, Input::Text(_))
    }

    /// The lines of a text, of an open file or of the standard input; where they are not known, they may name any file.
    pub(super) fn lines(&mut self, of: &ScriptValue) -> ScriptValue {
        let text = match of {
            ScriptValue::Text(Value::Exact(text)) => Some(text.clone()),
            ScriptValue::File(file) => match self.machine.peek(file) {
                Output::Text(Value::Exact(text)) => Some(text),
                Output::Secret(_) | Output::Network(_) => return of.clone(),
                Output::Nothing | Output::Text(_) | Output::Local(_) | Output::Setup(_) | Output::Unknown => {
                    None
                }
            },
            ScriptValue::Name(name) if matches!(name.as_str(), "sys.stdin" | "STDIN" | "$stdin" | "ARGF") => {
                self.standard_input().exact()
            }
            ScriptValue::Text(_) => None,
            other => return other.clone(),
        };
        if let Some(text) = text {
            return ScriptValue::List(
                text.lines().map(|line| ScriptValue::text(format!("{line}\n"))).collect(),
            );
        }
        self.reads_names = true;
        ScriptValue::List(vec![ScriptValue::Text(Value::Unknown)])
    }

    /// The lines that `perl -n` and `ruby -n` go through.
    pub(super) fn take_lines(&mut self) {
        if !matches!(self.language, Language::Perl | Language::Ruby)
            || !self.call.arguments.has(&["-n", "-p"])
        {
            return;
        }
        let files = self.call.arguments.operands.clone();
        let text = match files.as_slice() {
            [] => self.standard_input(),
            [file] => Self::from_output(self.machine.peek(file)),
            _ => ScriptValue::Text(Value::Unknown),
        };
        let lines = self.lines(&text);
        let each = match lines.each() {
            ScriptValue::Text(Value::AnyOf(lines)) => {
                Value::one_of(lines.iter().map(|line| line.trim_end().to_owned()).collect())
            }
            ScriptValue::Text(Value::Exact(line)) => Value::exact(line.trim_end()),
            _ => {
                self.reads_names = true;
                Value::Unknown
            }
        };
        self.put("$_", ScriptValue::Text(each));
    }
}
