//! Arithmetic as a shell evaluates it: the variables, elements and substitutions in an expression.

use super::arithmetic;
use super::guarded::PARENT;
use super::machine::Machine;
use super::process_lists::ListedProcesses;
use super::shell::Speech;
use super::value::Value;
use super::ways::Leaving;

/// What stands for the number of this shell, for one near it, or for any.
const NEAR_OWN: [&str; 4] = ["$$", "BASHPID", "PPID", "RANDOM"];

/// Whether an expression leads from the number of this shell to others near it, or to any, one after the other.
fn counts_from_own(text: &str) -> bool {
    NEAR_OWN.iter().chain(&["++", "--", "+=", "-="]).any(|part| text.contains(part))
}

impl Machine<'_> {
    /// The value of an arithmetic expansion as a text.
    pub(super) fn arithmetic_value(&mut self, arithmetic: &checkrein_shell::Arithmetic) -> Value {
        if self.shell.speech == Speech::Posix && is_of_bash(&arithmetic.text) {
            // That is an error there, which ends the shell; busybox knows some of it.
            self.perhaps_ends();
        }
        // As `$PPID`: which process is meant matters, not its number.
        if arithmetic.text.trim().trim_start_matches('$') == "PPID" {
            return self.variable("PPID").unwrap_or(Value::Unknown);
        }
        let before = std::mem::replace(&mut self.call.arithmetic_failed, false);
        let value = self.arithmetic(arithmetic);
        // An error in an expansion ends the shell; bash leaves the line alone in which it stands, and reads on.
        if std::mem::replace(&mut self.call.arithmetic_failed, before) {
            self.call.failed = true;
            self.unseen += 1;
        }
        if value.is_none() && !self.call.failed && arithmetic.text.contains(['/', '%']) {
            // It may be divided by nothing.
            self.perhaps_gives_up_line(Leaving::Unexpected);
        }
        if value.is_none() && counts_from_own(&arithmetic.text) {
            // Only where processes are meant it says something.
            self.call.substituted.push(ListedProcesses::Counted.output());
        }
        value.map_or(Value::Unknown, |value| Value::Exact(value.to_string()))
    }

    /// The value of an arithmetic expression; the substitutions inside it run.
    pub(super) fn arithmetic(&mut self, arithmetic: &checkrein_shell::Arithmetic) -> Option<i64> {
        if !arithmetic.substitutions.is_empty() {
            let text = self.expand_again(&arithmetic.text);
            let text = text.as_exact()?.to_owned();
            return self.evaluated(&text);
        }
        let text = self.expand_dollars(&arithmetic.text)?;
        self.note_no_expression(&text);
        self.evaluated(&text)
    }

    /// The value of an expression given as text (`let`, `declare -i`).
    pub(crate) fn arithmetic_text(&mut self, text: &str) -> Option<i64> {
        if super::again::holds_command(text) {
            let text = self.run_substitutions(text)?;
            return self.evaluated(&text);
        }
        let text = self.expand_dollars(text)?;
        self.note_no_expression(&text);
        self.evaluated(&text)
    }

    /// The value of an expression; `None` where it assigns to what cannot be changed, too.
    fn evaluated(&mut self, text: &str) -> Option<i64> {
        if text.trim().is_empty() && self.shell.speech == Speech::Posix {
            // Of nothing only bash says that it is zero.
            self.call.arithmetic_failed = true;
            return None;
        }
        let mut variables = Variables { machine: self, is_refused: false };
        let value = arithmetic::evaluate(text, &mut variables);
        value.filter(|_| !variables.is_refused)
    }

    /// The text of an expression with `$name`, `${name}`, `$1`, `$#`, `$?` put in; `None` when one is not known.
    fn expand_dollars(&mut self, text: &str) -> Option<String> {
        if !text.contains('$') {
            return Some(text.to_owned());
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let (name, more) = if let Some(inner) = after.strip_prefix('{') {
                let (length, inner) = match inner.strip_prefix('#') {
                    Some(inner) if !inner.starts_with('}') => (true, inner),
                    Some(_) | None => (false, inner),
                };
                let (name, more) = inner.split_once('}')?;
                if length {
                    let (name, all) = match name.strip_suffix("[@]").or_else(|| name.strip_suffix("[*]")) {
                        Some(name) => (name, true),
                        None => (name, false),
                    };
                    out.push_str(&self.length_of(name, all)?.to_string());
                    rest = more;
                    continue;
                }
                (name, more)
            } else {
                let end = match after.chars().next()? {
                    '#' | '?' | '@' | '*' => 1,
                    c if c.is_ascii_digit() => 1,
                    _ => {
                        after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len())
                    }
                };
                after.split_at(end)
            };
            let is_name = !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '?'));
            if !is_name {
                return None;
            }
            // A secret is known again in an error message.
            self.secret_variable(name);
            let value = self.plain_parameter(name);
            out.push_str(value.as_exact()?);
            rest = more;
        }
        out.push_str(rest);
        Some(out)
    }
}

impl Machine<'_> {
    /// An element of an array as arithmetic sees it; `None` when it is not known.
    fn element(&mut self, array: &str, subscript: &str) -> Option<Value> {
        let unset = !self.shell.variables.contains_key(array);
        let key = if unset && self.shell.options.nounset {
            self.unseen += 1;
            self.fail_shell();
            self.possibly(|machine| machine.expand_again(subscript))
        } else {
            self.expand_again(subscript)
        };
        if key.as_exact().is_some_and(|text| text.trim().is_empty()) {
            return None;
        }
        let content = self.shell.variables.get(array).map(|variable| variable.content.clone());
        if let Some(super::shell::VariableContent::Map(items)) = content {
            return Some(items.get(key.as_exact()?).cloned().unwrap_or_else(|| Value::exact("0")));
        }
        let number = key.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text))?;
        match content {
            // From the end; in front of the beginning there is an error.
            Some(super::shell::VariableContent::List(items)) if number < 0 => {
                super::assignment::place_in(&items, number)
                    .map(|place| items.get(&place).cloned().unwrap_or_else(|| Value::exact("0")))
            }
            Some(super::shell::VariableContent::List(items)) => {
                Some(items.get(&number).cloned().unwrap_or_else(|| Value::exact("0")))
            }
            Some(super::shell::VariableContent::Scalar(value)) if number == 0 => Some(value),
            _ if number < 0 => None,
            None if super::ambient::is_array_of_shells(array) => None,
            None | Some(super::shell::VariableContent::Unset | super::shell::VariableContent::Scalar(_)) => {
                Some(Value::exact("0"))
            }
            Some(super::shell::VariableContent::Map(_) | super::shell::VariableContent::Unknown) => None,
        }
    }
}

/// Whether an expression holds what only bash evaluates (source: the manual of dash, "Arithmetic Expansion").
fn is_of_bash(text: &str) -> bool {
    text.contains([',', '#', '[', '"']) || ["**", "++", "--"].iter().any(|operator| text.contains(operator))
}

/// The variables of a shell as arithmetic sees them.
struct Variables<'m, 'w> {
    machine: &'m mut Machine<'w>,
    /// Whether a variable was to be changed that cannot be.
    is_refused: bool,
}

impl arithmetic::Names for Variables<'_, '_> {
    fn substituted(&mut self, text: &str) -> Option<String> {
        self.machine.run_substitutions(text)
    }

    fn fails(&mut self) {
        self.machine.call.arithmetic_failed = true;
    }

    fn get(&mut self, name: &str) -> Option<String> {
        if let Some((array, subscript)) = name.split_once('[') {
            let subscript = subscript.strip_suffix(']')?.to_owned();
            return self.machine.element(array, &subscript)?.as_exact().map(str::to_owned);
        }
        self.machine.unseen += usize::from(self.machine.is_presumed(name));
        match self.machine.variable(name) {
            None => {
                self.machine.unseen += usize::from(self.machine.is_unseen(name));
                if self.machine.shell.options.nounset {
                    self.machine.fail_shell();
                }
                Some(String::new())
            }
            Some(value) => {
                let text = value.as_exact().filter(|text| *text != PARENT).map(str::to_owned)?;
                let is_number = |text: &str| {
                    text.trim().trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
                };
                if self.machine.shell.speech == Speech::Posix && !text.is_empty() && !is_number(&text) {
                    // Only bash reads on in the text of a variable.
                    self.machine.call.arithmetic_failed = true;
                }
                self.machine.note_expression_in(name, &text);
                Some(text)
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<i64>) {
        let array = name.split_once('[').map_or(name, |(array, _)| array);
        let held = self.machine.shell.variables.get(self.machine.shell.referred(array));
        if held.is_some_and(|variable| variable.readonly) {
            self.machine.call.arithmetic_failed = true;
            self.is_refused = true;
            return;
        }
        let value = value.map_or(Value::Unknown, |value| Value::Exact(value.to_string()));
        self.machine.assign_named(name, value);
    }
}
