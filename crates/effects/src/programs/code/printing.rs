//! What programs print that code starts, in the forms in which functions of its language give it.

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;
use crate::interpreter::Value;
use checkrein_scripts::Language;

impl Evaluator<'_, '_, '_> {
    /// What a function gives that starts a program, by what the program prints.
    pub(super) fn given_by_start(&mut self, name: &str, output: ScriptValue, given: &Given) -> ScriptValue {
        match (self.language, name.trim_end_matches("Sync")) {
            (Language::Python, "subprocess.getoutput" | "commands.getoutput") => {
                without_last_line_end(output)
            }
            (Language::Python, "subprocess.getstatusoutput" | "commands.getstatusoutput") => {
                ScriptValue::List(vec![ScriptValue::Local, without_last_line_end(output)])
            }
            (Language::Ruby, "Open3.capture2" | "Open3.capture2e") => {
                ScriptValue::List(vec![output, ScriptValue::Local])
            }
            (Language::Ruby, "Open3.capture3") => {
                ScriptValue::List(vec![output, ScriptValue::Text(Value::Unknown), ScriptValue::Local])
            }
            // The function that is given the error, and what was printed.
            (Language::JavaScript, "child_process.exec" | "child_process.execFile") => {
                let function = given.positional.iter().find_map(|thing| match thing {
                    ScriptValue::Function(place) => Some(*place),
                    _ => None,
                });
                if let Some(place) = function {
                    let printed = match &output {
                        ScriptValue::Process(process) => self.member_of_process(*process, "stdout"),
                        other => other.clone(),
                    };
                    let values = vec![ScriptValue::Local, printed, ScriptValue::Text(Value::Unknown)];
                    let given = Given { positional: values, named: Vec::new() };
                    self.call_function_with(place, &given, None);
                    self.may_wait(place, &given);
                }
                output
            }
            _ => output,
        }
    }
}

/// Whether a function was called with what a program printed, where it is given to the call that starts it.
pub(super) fn calls_with_output(name: &str) -> bool {
    matches!(name, "child_process.exec" | "child_process.execFile")
}

fn without_last_line_end(output: ScriptValue) -> ScriptValue {
    match output {
        ScriptValue::Text(Value::Exact(text)) => match text.strip_suffix('\n') {
            Some(line) => ScriptValue::text(line),
            None => ScriptValue::text(text),
        },
        other => other,
    }
}
