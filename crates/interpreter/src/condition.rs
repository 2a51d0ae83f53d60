//! Conditions: `[[ ... ]]`, `[ ... ]`, `test`.

use checkrein_shell::ConditionalExpression;

use crate::effect::Target;
use crate::expression::{Dialect, Expression, LetterCase};
use crate::path::AbsolutePath;
use crate::world::{Entry, Right};

use super::branches::matches_value;
use super::guarded::stands_for_process;
use super::machine::{Absence, Machine};
use super::overlay::Overlay;
use super::parameter::is_empty;
use super::pattern::{Letters, escape};
use super::shell::VariableContent;
use super::value::Value;

impl Machine<'_> {
    /// The answer of a condition of `[[ ... ]]`; `None` when it is not known.
    pub(super) fn condition(&mut self, condition: &ConditionalExpression) -> Option<bool> {
        match condition {
            ConditionalExpression::Word(word) => {
                let value = self.expand_text(word);
                is_empty(&value).map(|empty| !empty)
            }
            ConditionalExpression::Unary(operator, word) => {
                let value = self.expand_text(word);
                self.unary(operator, &value)
            }
            ConditionalExpression::Binary(left, operator, right) => {
                let left = self.expand_text(left);
                match operator.as_str() {
                    "=" | "==" | "!=" => {
                        let pattern = self.expand_pattern(right);
                        if self.shell.options.perhaps_nocasematch {
                            return None;
                        }
                        let answer = matches_value(&pattern?, &left, self.letters())?;
                        Some(answer == (operator != "!="))
                    }
                    // What is quoted in it stands for itself, and no longer shows.
                    "=~" if right.parts.iter().any(|part| {
                        matches!(
                            part,
                            checkrein_shell::Part::Quoted(_) | checkrein_shell::Part::DoubleQuoted(_)
                        )
                    }) =>
                    {
                        None
                    }
                    "=~" => {
                        let text = self.expand_text(right);
                        self.matches_expression(left.as_exact()?, text.as_exact()?)
                    }
                    _ => {
                        let right = self.expand_text(right);
                        self.binary(&left, operator, &right)
                    }
                }
            }
            ConditionalExpression::Not(inner) => self.condition(inner).map(|answer| !answer),
            ConditionalExpression::And(left, right) => match self.condition(left) {
                Some(false) => Some(false),
                left => match (left, self.condition(right)) {
                    (_, Some(false)) => Some(false),
                    (Some(true), right) => right,
                    (Some(false) | None, _) => None,
                },
            },
            ConditionalExpression::Or(left, right) => match self.condition(left) {
                Some(true) => Some(true),
                left => match (left, self.condition(right)) {
                    (_, Some(true)) => Some(true),
                    (Some(false), right) => right,
                    (Some(true) | None, _) => None,
                },
            },
        }
    }

    /// `left =~ right`: what matched is put into `BASH_REMATCH`.
    fn matches_expression(&mut self, text: &str, expression: &str) -> Option<bool> {
        if !text.is_ascii() && expression.contains(['[', '.']) || stands_for_process(text) {
            return None;
        }
        if self.shell.options.perhaps_nocasematch {
            return None;
        }
        let case = match self.letters() {
            Letters::Exact => LetterCase::Kept,
            Letters::AnyCase => LetterCase::Ignored,
        };
        let expression = Expression::new(expression, Dialect::Extended, case)?;
        let chars: Vec<char> = text.chars().collect();
        let Some(found) = expression.find(&chars, 0).ok()? else {
            self.assign_content("BASH_REMATCH", VariableContent::List(std::collections::BTreeMap::new()));
            return Some(false);
        };
        let texts = found.iter().map(|place| {
            let part = place.and_then(|(start, end)| chars.get(start..end)).unwrap_or_default();
            Value::Exact(part.iter().collect())
        });
        let items = (0_i64..).zip(texts).collect();
        self.assign_content("BASH_REMATCH", VariableContent::List(items));
        Some(true)
    }

    /// The answer of `test` for words; `None` when it is not known.
    pub(crate) fn test_words(&mut self, words: &[Value]) -> Option<bool> {
        let exact = |index: usize| words.get(index).and_then(Value::as_exact);
        match words.len() {
            0 => Some(false),
            1 => is_empty(words.first()?).map(|empty| !empty),
            2 if exact(0) == Some("!") => self.test_words(words.get(1..)?).map(|answer| !answer),
            2 => self.unary(exact(0)?, words.get(1)?),
            3 if exact(1).is_some_and(is_numeric) && !(is_number(exact(0)?) && is_number(exact(2)?)) => None,
            // To `[` a number is decimal, whatever it begins with.
            3 if exact(1).is_some_and(is_numeric) => {
                let number = |text: &str| text.trim_matches([' ', '\t']).parse::<i64>().ok();
                compared(number(exact(0)?)?, exact(1)?, number(exact(2)?)?)
            }
            3 if exact(1).is_some_and(is_binary) => self.binary(words.first()?, exact(1)?, words.get(2)?),
            3 | 4 if exact(0) == Some("!") => self.test_words(words.get(1..)?).map(|answer| !answer),
            length if exact(0) == Some("(") && exact(length - 1) == Some(")") => {
                self.test_words(words.get(1..length - 1)?)
            }
            length if length <= 64 => {
                if let Some(place) = words.iter().position(|word| word.as_exact() == Some("-o")) {
                    let left = self.test_words(words.get(..place)?);
                    let right = self.test_words(words.get(place + 1..)?);
                    return match (left, right) {
                        (Some(true), _) | (_, Some(true)) => Some(true),
                        (Some(false), Some(false)) => Some(false),
                        _ => None,
                    };
                }
                let place = words.iter().position(|word| word.as_exact() == Some("-a"))?;
                let left = self.test_words(words.get(..place)?);
                let right = self.test_words(words.get(place + 1..)?);
                match (left, right) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn unary(&mut self, operator: &str, value: &Value) -> Option<bool> {
        match operator {
            "-n" => is_empty(value).map(|empty| !empty),
            "-z" => is_empty(value),
            "-v" => {
                let name = value.as_exact()?.to_owned();
                self.evaluate_subscript(&name);
                let base = name.split('[').next().unwrap_or_default();
                let known = self.variable(base).is_some();
                let is_open = self.is_presumed(base) || self.is_perhaps_unset(base);
                self.unseen += usize::from(is_open);
                // What the agent's shell was started with is not seen.
                // A shell may give it a value, or not.
                let is_made_up = !self.shell.variables.contains_key(base)
                    && self.environment(base).is_some_and(|value| value.as_exact().is_none());
                let is_unseen = !known && self.is_unseen(&name) || is_made_up;
                self.unseen += usize::from(is_unseen);
                (!is_unseen).then_some(known)
            }
            "-t" => Some(false),
            "-e" | "-a" | "-f" | "-d" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h" | "-b" | "-c" | "-p"
            | "-S" | "-O" | "-G" | "-N" | "-u" | "-g" | "-k" => self.file_test(operator, value),
            _ => None,
        }
    }

    fn file_test(&mut self, operator: &str, value: &Value) -> Option<bool> {
        if value.as_exact() == Some("") {
            return Some(false);
        }
        let link = matches!(operator, "-L" | "-h");
        let aims = if link { self.paths(value) } else { self.paths_through(value) };
        let [aim] = aims.as_slice() else { return None };
        let Target::Path(path) = &aim.target else { return None };
        value.as_exact()?;
        let disturbed = self.tree.is_disturbed() && !self.tree.is_new(path);
        let entry = self.entry(path);
        let is_racing = |before: &Overlay| before.entry(self.world, path) != entry;
        if self.position.before_pipeline.as_ref().is_some_and(is_racing) {
            return None;
        }
        if entry == Entry::Unknown || disturbed && entry == Entry::Missing {
            return None;
        }
        let exists = entry != Entry::Missing;
        if self.may_be_otherwise(path) {
            self.absent = Some(Absence::Changed);
        } else if !exists {
            self.absent = Some(Absence::Path);
        }
        if matches!(entry, Entry::Symlink(_)) && !link {
            // Links that lead to one another lead nowhere, or further than is followed.
            return None;
        }
        let right = match operator {
            "-x" => Right::Enter,
            "-r" => Right::Read,
            _ => Right::Write,
        };
        match (operator, &entry) {
            ("-e" | "-a" | "-r" | "-w" | "-O" | "-G", _) if matches!(operator, "-e" | "-a") || !exists => {
                Some(exists)
            }
            ("-f", _) => Some(matches!(entry, Entry::File(_))),
            ("-d", _) => Some(entry == Entry::Directory),
            ("-L" | "-h", _) => Some(matches!(entry, Entry::Symlink(_))),
            ("-s", Entry::File(facts)) => {
                let text = self.text(path);
                if self.tree.is_new(path) {
                    is_empty(&text).map(|empty| !empty)
                } else {
                    Some(facts.bytes > 0)
                }
            }
            ("-s", Entry::Directory) => Some(true),
            ("-x" | "-r" | "-w", Entry::Directory) => {
                (self.is_own_place(path) && self.may(path, right)).then_some(true)
            }
            ("-x" | "-r" | "-w", Entry::File(facts)) => {
                let of_anybody = match operator {
                    "-x" => 0o001,
                    "-r" => 0o004,
                    _ => 0o002,
                };
                // The owner has rights of their own; whose the files elsewhere are is not known.
                let bits = if self.is_own_place(path) { of_anybody << 6 } else { of_anybody };
                (facts.mode & bits != 0 && self.may(path, right)).then_some(true)
            }
            _ if !exists => Some(false),
            _ => None,
        }
    }

    /// Whether a path lies where the files belong to the user: in the workspace, at home, among temporary files.
    fn is_own_place(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        path.is_within(&place.workspace) || path.is_within(&place.home) || self.is_temporary(path)
    }

    fn binary(&mut self, left: &Value, operator: &str, right: &Value) -> Option<bool> {
        match operator {
            "=" | "==" => equal(left, right),
            "!=" => equal(left, right).map(|answer| !answer),
            "<" => is_before(left.as_exact()?, right.as_exact()?),
            ">" => is_before(right.as_exact()?, left.as_exact()?),
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                let left = self.arithmetic_text(left.as_exact()?)?;
                let right = self.arithmetic_text(right.as_exact()?)?;
                compared(left, operator, right)
            }
            _ => None,
        }
    }
}

/// Whether a text comes before another, where the languages agree. Some sort by the code points of letters, others first without regard to
/// case and marks (source: the locales `C` and `en_US.UTF-8` of the GNU C Library).
fn is_before(left: &str, right: &str) -> Option<bool> {
    let bare =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let by_number = left < right;
    if left == right
        || left.is_ascii()
            && right.is_ascii()
            && bare(left) != bare(right)
            && (bare(left) < bare(right)) == by_number
    {
        return Some(by_number);
    }
    None
}

fn compared(left: i64, operator: &str, right: i64) -> Option<bool> {
    Some(match operator {
        "-eq" => left == right,
        "-ne" => left != right,
        "-lt" => left < right,
        "-le" => left <= right,
        "-gt" => left > right,
        "-ge" => left >= right,
        _ => return None,
    })
}

fn is_numeric(operator: &str) -> bool {
    matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// Whether `[` takes a text for a number. Of anything else it says that it is none, and answers neither yes nor no.
fn is_number(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_binary(operator: &str) -> bool {
    matches!(
        operator,
        "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef"
    )
}

fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left.as_exact(), right.as_exact()) {
        (Some(left), Some(right))
            if left != right && (stands_for_process(left) || stands_for_process(right)) =>
        {
            None
        }
        (Some(left), Some(right)) => Some(left == right),
        (None, Some(right)) => {
            matches_value(&escape(right), left, Letters::Exact).or_else(|| cannot_be(left, right))
        }
        (Some(left), None) => {
            matches_value(&escape(left), right, Letters::Exact).or_else(|| cannot_be(right, left))
        }
        (None, None) => None,
    }
}

/// `Some(false)` when what is known of a text's ends rules the other out.
fn cannot_be(value: &Value, text: &str) -> Option<bool> {
    match value {
        Value::Between { prefix, suffix }
            if !text.starts_with(prefix.as_str()) || !text.ends_with(suffix.as_str()) =>
        {
            Some(false)
        }
        Value::Exact(_) | Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => None,
    }
}
