//! Parameter expansion: `$x`, `${x:-word}`, `${x%.txt}`, `${a[@]}`.

mod lists;
pub(super) mod text;

use checkrein_shell::{ParameterExpansion, ParameterOperation, Word};

use super::ambient::is_array_of_shells;
use super::exit::{Output, Status};
use super::expand::joined_values;
use super::guarded::stands_for_process;
use super::machine::Machine;
use super::pattern::{Letters, Pattern, depends_on_language};
use super::printed::ALL_VARIABLES;
use super::process_lists::ListedProcesses;
use super::shell::{Speech, VariableContent};
use super::value::Value;
use super::ways::Leaving;
pub(crate) use lists::counted;
use lists::{counted_exactly, list_item, one_at};
use text::{Length, change_case, change_letters, remove_prefix, remove_suffix, replace, slice_bounds};

/// What a parameter expansion becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expanded {
    /// One text, with the name of the variable when it is not set.
    One(Value, Option<String>),
    /// One word for each: `"$@"`, `"${a[@]}"`.
    Many(Vec<Value>),
}

/// What a parameter holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Held {
    Unset,
    One(Value),
    Many(Vec<Value>),
    /// Any number of values.
    Any,
}

impl Machine<'_> {
    /// What a parameter expansion becomes.
    pub(super) fn expand_parameter(&mut self, parameter: &ParameterExpansion, quoted: bool) -> Expanded {
        let tells_value = !matches!(
            parameter.operation,
            ParameterOperation::Length
                | ParameterOperation::Alternative { .. }
                | ParameterOperation::NamesWithPrefix
                | ParameterOperation::Keys
        );
        if tells_value {
            self.note_origin(&parameter.name);
        }
        match &parameter.operation {
            ParameterOperation::NamesWithPrefix => {
                let mut names: Vec<String> = self.shell.variables.keys().cloned().collect();
                names.extend(self.world.variable_names());
                let is_unset = |name: &String| {
                    self.shell.variables.get(name).is_some_and(|held| held.content == VariableContent::Unset)
                };
                names.retain(|name| name.starts_with(&parameter.name) && !is_unset(name));
                names.sort_unstable();
                names.dedup();
                // What the agent's shell was started with is not seen.
                if names.is_empty() && self.is_unseen(&parameter.name) {
                    return Expanded::Many(vec![Value::Unknown]);
                }
                return Expanded::Many(names.into_iter().map(Value::exact).collect());
            }
            ParameterOperation::Keys => return self.keys(&parameter.name),
            ParameterOperation::Other(words) => {
                for word in words {
                    self.expand_text(word);
                }
                // It may be none that a shell knows, which is an error.
                self.perhaps_gives_up_line(Leaving::Unexpected);
                return Expanded::One(Value::Unknown, None);
            }
            ParameterOperation::Plain
            | ParameterOperation::Length
            | ParameterOperation::Default { .. }
            | ParameterOperation::Assign { .. }
            | ParameterOperation::Error { .. }
            | ParameterOperation::Alternative { .. }
            | ParameterOperation::RemovePrefix { .. }
            | ParameterOperation::RemoveSuffix { .. }
            | ParameterOperation::Replace { .. }
            | ParameterOperation::Substring { .. }
            | ParameterOperation::Case { .. }
            | ParameterOperation::Transform(_) => {}
        }
        let mut name = parameter.name.clone();
        let mut subscript = parameter.index.clone();
        if parameter.indirect {
            // Of a reference it is the name that it stands for.
            let target = match self.shell.references.get(&name) {
                Some(target) => Some(target.clone()),
                None if is_special(&name) => match self.held(&name, None, false) {
                    Held::One(value) => value.as_exact().map(str::to_owned),
                    Held::Unset | Held::Many(_) | Held::Any => None,
                },
                None => self.variable(&name).and_then(|value| value.as_exact().map(str::to_owned)),
            };
            let Some(target) = target else {
                if subscript.is_none() && self.variable(&name).is_none() && !is_special(&name) {
                    // Nothing is named: an error.
                    self.call.failed = true;
                    self.unseen += 1;
                }
                if tells_value && !parameter.name.starts_with(|c: char| c.is_ascii_digit()) {
                    // It may be any of them.
                    self.call.substituted.push(Output::Secret(ALL_VARIABLES.to_owned()));
                }
                return Expanded::One(Value::Unknown, None);
            };
            if tells_value {
                self.note_origin(&target);
            }
            self.evaluate_subscript(&target);
            if let Some((array, element)) = target.split_once('[') {
                self.variable(array);
                if self.shell.options.nounset {
                    // Whether there is such an element is not known; without it the shell ends.
                    self.perhaps_ends();
                }
                let element = element.strip_suffix(']').unwrap_or_default();
                let is_plain =
                    !element.is_empty() && element.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !is_plain || parameter.index.is_some() {
                    return Expanded::One(Value::Unknown, None);
                }
                let span = checkrein_shell::Span { start: 0, end: 0 };
                let parts = vec![checkrein_shell::Part::Literal(element.to_owned())];
                subscript = Some(Word { parts, span });
                array.clone_into(&mut name);
            } else {
                name = target;
            }
        }
        let all = all_of(parameter);
        let held = self.held(&name, subscript.as_ref(), all);
        if tells_value {
            self.note_held(&name, &held);
        }
        if held == Held::Unset && self.is_unseen(&name) {
            self.unseen += 1;
        }
        let is_refused =
            held == Held::Unset && self.shell.options.nounset && !all && needs_a_value(parameter);
        if is_refused {
            self.fail_shell();
        }
        if matches!(parameter.operation, ParameterOperation::Length) {
            let count = match &held {
                Held::Unset => Some(0),
                // How many letters there are depends on the language of the shell.
                Held::One(value) if !all => value
                    .as_exact()
                    .filter(|text| text.is_ascii() && !stands_for_process(text))
                    .map(|text| text.chars().count()),
                Held::One(_) => Some(1),
                // What is not known of an array may be several of its elements.
                Held::Many(values) if all && !is_special(&name) => counted_exactly(values),
                Held::Many(values) => counted(values),
                Held::Any => None,
            };
            return Expanded::One(
                count.map_or(Value::Unknown, |count| Value::Exact(count.to_string())),
                None,
            );
        }
        let expanded = if is_refused {
            self.possibly(|machine| machine.operate(&name, parameter, held, all))
        } else {
            self.operate(&name, parameter, held, all)
        };
        match expanded {
            Expanded::Many(values) if quoted && is_joined(parameter) => {
                Expanded::One(self.joined_by_separator(&values), None)
            }
            other => other,
        }
    }

    /// Whether nothing here says anything about a variable: the start-up files of the shell or the client may have set it.
    pub(crate) fn is_unseen(&self, name: &str) -> bool {
        !self.shell.variables.contains_key(name)
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The value of a parameter named by a text alone.
    pub(super) fn plain_parameter(&mut self, name: &str) -> Value {
        match self.held(name, None, false) {
            Held::Unset => {
                self.unseen += usize::from(self.is_unseen(name));
                Value::exact("")
            }
            Held::One(value) => value,
            Held::Many(values) => joined_values(&values, " "),
            Held::Any => Value::Unknown,
        }
    }

    /// The length of a variable, or the number of elements of an array.
    pub(super) fn length_of(&mut self, name: &str, all: bool) -> Option<usize> {
        match self.held(name, None, all) {
            Held::Unset => Some(0),
            Held::One(_) if all => Some(1),
            Held::One(value) => {
                value.as_exact().filter(|text| !stands_for_process(text)).map(|text| text.chars().count())
            }
            Held::Many(values) => counted_exactly(&values),
            Held::Any => None,
        }
    }

    /// The word that certainly stands in for a parameter: `w` of `${unset:-w}` or `${set:+w}`. Its own quotes hold it together.
    pub(super) fn stand_in<'word>(&mut self, parameter: &'word ParameterExpansion) -> Option<&'word Word> {
        let (word, colon, when_empty) = match &parameter.operation {
            ParameterOperation::Default { word, colon } => (word, *colon, true),
            ParameterOperation::Alternative { word, colon } => (word, *colon, false),
            ParameterOperation::Plain
            | ParameterOperation::Length
            | ParameterOperation::NamesWithPrefix
            | ParameterOperation::Keys
            | ParameterOperation::Assign { .. }
            | ParameterOperation::Error { .. }
            | ParameterOperation::RemovePrefix { .. }
            | ParameterOperation::RemoveSuffix { .. }
            | ParameterOperation::Replace { .. }
            | ParameterOperation::Substring { .. }
            | ParameterOperation::Case { .. }
            | ParameterOperation::Transform(_)
            | ParameterOperation::Other(_) => return None,
        };
        let all = all_of(parameter);
        if parameter.indirect || parameter.index.is_some() && !all {
            return None;
        }
        let held = self.held(&parameter.name, parameter.index.as_ref(), all);
        (emptiness(&held, colon) == Some(when_empty)).then_some(word)
    }

    /// Keeps what a variable that holds a secret expands to; a shell that shows its commands shows it.
    fn note_held(&mut self, name: &str, held: &Held) {
        let name = self.shell.referred(name).to_owned();
        let text = match held {
            Held::One(value) => value.as_exact(),
            Held::Unset | Held::Many(_) | Held::Any => None,
        };
        let secret = self.note_secret(&name, text);
        if let Some(secret) = secret.filter(|_| self.flow.shows_commands && *held != Held::Unset) {
            self.note_traced(&secret);
        }
    }

    /// A value that came out of a network or a secret keeps that.
    fn note_origin(&mut self, name: &str) {
        let name = &self.shell.referred(name).to_owned();
        if matches!(name.as_str(), "RANDOM" | "SRANDOM") && !self.shell.variables.contains_key(name) {
            // Only where processes are meant it says something.
            self.call.substituted.push(ListedProcesses::Counted.output());
        }
        let kept = self.shell.variables.get(name).and_then(|variable| variable.origin.clone());
        if let Some(origin) = kept.or_else(|| self.secret_in(name))
            && !self.call.substituted.contains(&origin)
        {
            self.call.substituted.push(origin);
        }
    }

    fn keys(&mut self, name: &str) -> Expanded {
        self.unseen += usize::from(self.is_presumed(name));
        match self.shell.variables.get(name).map(|variable| &variable.content) {
            Some(VariableContent::List(items))
                if items.values().any(|value| matches!(value, Value::Glob(_))) =>
            {
                Expanded::One(Value::Unknown, None)
            }
            Some(VariableContent::List(items)) => {
                Expanded::Many(items.keys().map(|key| Value::Exact(key.to_string())).collect())
            }
            Some(VariableContent::Map(items)) => Expanded::Many(items.keys().map(Value::exact).collect()),
            Some(VariableContent::Scalar(_)) => Expanded::Many(vec![Value::exact("0")]),
            Some(VariableContent::Unknown) => Expanded::One(Value::Unknown, None),
            None if is_array_of_shells(name) => Expanded::One(Value::Unknown, None),
            Some(VariableContent::Unset) | None => Expanded::Many(Vec::new()),
        }
    }

    fn held(&mut self, name: &str, index: Option<&Word>, all: bool) -> Held {
        let name = &self.shell.referred(name).to_owned();
        self.unseen += usize::from(self.is_presumed(name));
        match name.as_str() {
            "@" | "*" => {
                return self.shell.positional.clone().map_or(Held::Any, Held::Many);
            }
            "#" => {
                let count = self.shell.positional.as_deref().and_then(counted);
                return Held::One(count.map_or(Value::Unknown, |count| Value::Exact(count.to_string())));
            }
            "?" => {
                // Which number a failure has is not known.
                return Held::One(match self.shell.last_status {
                    Status::Success => Value::exact("0"),
                    Status::Failure | Status::Unknown | Status::Open => Value::Unknown,
                });
            }
            // The number of the process stands for itself: it is the same wherever it is used.
            "$" => return Held::One(Value::exact("$$")),
            "_" if self.budget.scanning == 0 => return Held::One(self.shell.last_word.clone()),
            // So does that of the last job, when one was started.
            "!" => {
                let started = ListedProcesses::Chosen("$!".to_owned()).output();
                if !self.call.substituted.contains(&started) {
                    self.call.substituted.push(started);
                }
                return Held::One(if self.shell.has_job { Value::exact("$!") } else { Value::Unknown });
            }
            "-" | "_" => return Held::One(Value::Unknown),
            "0" => return Held::One(self.shell.name.clone()),
            "BASH_ARGV" if self.shell.options.extdebug && self.budget.scanning == 0 => {
                // From the last one on.
                let Some(values) = self.shell.positional.clone() else { return Held::Any };
                let values: Vec<Value> = values.into_iter().rev().collect();
                if all {
                    return Held::Any;
                }
                let place = match index {
                    None => Some(0),
                    Some(index) => {
                        self.expand_text(index).as_exact().and_then(|text| text.parse::<usize>().ok())
                    }
                };
                let known = place.and_then(|place| values.get(place).cloned());
                return Held::One(known.unwrap_or(Value::Unknown));
            }
            // In a function it is the file that the function stands in, which is not kept.
            "BASH_SOURCE" if !all && self.shell.speech == Speech::Bash && self.shell.locals.is_empty() => {
                let is_first = match index {
                    None => true,
                    Some(index) => self.expand_text(index).as_exact() == Some("0"),
                };
                if let Some(file) = self.shell.sources.last().filter(|_| is_first) {
                    return Held::One(file.clone());
                }
            }
            "FUNCNAME" if !all && self.shell.speech == Speech::Bash && self.budget.scanning == 0 => {
                let is_first = match index {
                    None => true,
                    Some(index) => self.expand_text(index).as_exact() == Some("0"),
                };
                // Further out it is also told which files are read.
                let is_function = self.shell.returns == 1 && self.shell.locals.len() == 1;
                if let Some(function) = self.position.calls.last().filter(|_| is_first && is_function) {
                    return Held::One(Value::exact(function.as_str()));
                }
            }
            _ => {}
        }
        if let Ok(number) = name.parse::<usize>() {
            return match &self.shell.positional {
                None => Held::One(Value::Unknown),
                Some(values) => one_at(values, number.saturating_sub(1)).map_or(Held::Unset, Held::One),
            };
        }
        let content = self.shell.variables.get(name).map(|variable| variable.content.clone());
        match content {
            // How many there are is not followed.
            None if all && is_array_of_shells(name) && self.shell.speech == Speech::Bash => Held::Any,
            Some(VariableContent::List(items)) if all => Held::Many(items.into_values().collect()),
            Some(VariableContent::Map(items)) if all => Held::Many(items.into_values().collect()),
            Some(VariableContent::List(items)) => {
                let Some(index) = index else { return items.get(&0).cloned().map_or(Held::Unset, Held::One) };
                let text = self.expand_text(index);
                match text.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text)) {
                    Some(number) => list_item(&items, number).map_or(Held::Unset, Held::One),
                    None => Held::One(
                        items.into_values().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown),
                    ),
                }
            }
            Some(VariableContent::Map(items)) => {
                let Some(index) = index else { return Held::Unset };
                match self.expand_text(index).as_exact() {
                    Some(key) => items.get(key).cloned().map_or(Held::Unset, Held::One),
                    None => Held::One(
                        items.into_values().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown),
                    ),
                }
            }
            Some(VariableContent::Unknown) if all => Held::Any,
            Some(VariableContent::Scalar(value)) => {
                if let Some(index) = index
                    && !all
                    && let Some(text) = self.expand_text(index).as_exact().map(str::to_owned)
                    && self.arithmetic_text(&text).is_some_and(|number| number != 0)
                {
                    return Held::Unset;
                }
                Held::One(value)
            }
            Some(VariableContent::Unknown | VariableContent::Unset) | None => {
                if let Some(index) = index
                    && !all
                    && let Some(text) = self.expand_text(index).as_exact().map(str::to_owned)
                {
                    self.arithmetic_text(&text);
                }
                self.variable(name).map_or(Held::Unset, Held::One)
            }
        }
    }

    fn operate(&mut self, name: &str, parameter: &ParameterExpansion, held: Held, all: bool) -> Expanded {
        match &parameter.operation {
            ParameterOperation::Default { word, colon } => self.otherwise(held, *colon, all, word, |_, _| {}),
            ParameterOperation::Assign { word, colon } => {
                let name = name.to_owned();
                let is_fixed = name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_');
                self.otherwise(held, *colon, all, word, move |machine, value| {
                    if is_fixed {
                        // The arguments cannot be changed so.
                        machine.call.failed = true;
                        machine.unseen += 1;
                    } else {
                        machine.assign(&name, value.clone());
                    }
                })
            }
            ParameterOperation::Error { word, colon } => match emptiness(&held, *colon) {
                Some(true) => {
                    let told = self.expand_text(word);
                    if let Some(secret) = self.secret_held(&told) {
                        self.note_traced(&secret);
                    }
                    self.fail_shell();
                    if *colon && !self.shell.variables.contains_key(name) {
                        // Where the shell goes on, it had something from its environment.
                        self.assume_something(name);
                    }
                    Expanded::One(Value::exact(""), None)
                }
                Some(false) | None => held.expanded(name, all),
            },
            ParameterOperation::Alternative { word, colon } => match emptiness(&held, *colon) {
                Some(true) if all => Expanded::Many(Vec::new()),
                Some(true) => Expanded::One(Value::exact(""), None),
                Some(false) => Expanded::One(self.expand_text(word), None),
                None => Expanded::One(self.expand_text(word).join(&Value::exact("")), None),
            },
            ParameterOperation::Plain
            | ParameterOperation::Length
            | ParameterOperation::NamesWithPrefix
            | ParameterOperation::Keys
            | ParameterOperation::Other(_) => held.expanded(name, all),
            ParameterOperation::RemovePrefix { pattern, longest } => {
                let pattern = self.pattern_for(&held, pattern);
                let compiled = pattern.as_deref().map(Pattern::new);
                let longest = *longest;
                let in_doubt = self.is_group_in_doubt(pattern.as_deref());
                held.mapped(name, all, |text| {
                    let pattern =
                        pattern.as_deref().filter(|pattern| !in_doubt && !depends_on_language(pattern, text));
                    remove_prefix(text, pattern.and(compiled.as_ref())?, longest)
                })
            }
            ParameterOperation::RemoveSuffix { pattern, longest } => {
                let pattern = self.pattern_for(&held, pattern);
                let compiled = pattern.as_deref().map(Pattern::new);
                let longest = *longest;
                let in_doubt = self.is_group_in_doubt(pattern.as_deref());
                held.mapped(name, all, |text| {
                    let pattern =
                        pattern.as_deref().filter(|pattern| !in_doubt && !depends_on_language(pattern, text));
                    remove_suffix(text, pattern.and(compiled.as_ref())?, longest)
                })
            }
            ParameterOperation::Replace { pattern, with, scope } => {
                let pattern = self.pattern_for(&held, pattern);
                let compiled = pattern.as_deref().map(Pattern::new);
                let with = if held.is_nothing() {
                    self.unless_nothing(|machine| machine.expand_text(with))
                } else {
                    self.expand_text(with)
                };
                let with = with.as_exact().map(str::to_owned);
                // What `&` stands for depends on an option, on how it is quoted and on the age of the shell.
                let with = with.filter(|with| !with.contains('&'));
                let scope = *scope;
                let letters = self.letters();
                let in_doubt =
                    self.shell.options.perhaps_nocasematch || self.is_group_in_doubt(pattern.as_deref());
                held.mapped(name, all, |text| {
                    let pattern =
                        pattern.as_deref().filter(|pattern| !in_doubt && !depends_on_language(pattern, text));
                    let compiled = pattern.and(compiled.as_ref())?;
                    // Without any of it in the text nothing is put there.
                    if with.is_none() && replace(text, compiled, "", scope, letters)? == text {
                        return Some(text.to_owned());
                    }
                    replace(text, compiled, with.as_deref()?, scope, letters)
                })
            }
            ParameterOperation::Substring { offset, length } => {
                // Nothing is looked at where there is nothing to cut, unless the variable is there all the same.
                let there = held.length();
                let offset = if there.is_some() {
                    self.arithmetic(offset)
                } else {
                    self.possibly(|machine| machine.arithmetic(offset))
                };
                let is_cut = matches!((there, offset), (Some(there), Some(offset))
                    if usize::try_from(offset).is_ok_and(|offset| offset <= there));
                let wanted = match length {
                    None => Length::Rest,
                    Some(length) => {
                        let length = if is_cut {
                            self.arithmetic(length)
                        } else {
                            self.possibly(|machine| machine.arithmetic(length))
                        };
                        length.map_or(Length::Unknown, Length::Known)
                    }
                };
                if held == Held::Unset {
                    return held.expanded(name, all);
                }
                if matches!(wanted, Length::Known(wanted) if wanted < 0) {
                    // An end in front of the beginning is an error.
                    self.perhaps_gives_up_line(Leaving::Unexpected);
                }
                let whole = self.shell.name.clone();
                match held {
                    // Which of them are meant is not known where one stands for several.
                    Held::Many(values) if counted(&values).is_none() => Expanded::Many(values),
                    Held::Many(mut values) => {
                        if name == "@" || name == "*" {
                            values.insert(0, whole);
                        }
                        match slice_bounds(values.len(), offset, wanted) {
                            Some(range) => Expanded::Many(values.get(range).unwrap_or_default().to_vec()),
                            None => Expanded::One(Value::Unknown, None),
                        }
                    }
                    other => other.mapped(name, all, |text| {
                        // How many letters there are is for the language of the shell to say.
                        let chars: Vec<char> = Some(text).filter(|text| text.is_ascii())?.chars().collect();
                        let range = slice_bounds(chars.len(), offset, wanted)?;
                        Some(chars.get(range)?.iter().collect())
                    }),
                }
            }
            ParameterOperation::Case { upper, all: whole, pattern } => {
                let (upper, whole) = (*upper, *whole);
                if pattern.parts.is_empty() {
                    return held.mapped(name, all, |text| change_case(text, upper, whole));
                }
                let pattern = self.expand_pattern(pattern);
                let in_doubt = self.is_group_in_doubt(pattern.as_deref());
                let compiled = pattern.as_deref().filter(|_| !in_doubt).map(Pattern::new);
                held.mapped(name, all, |text| {
                    change_letters(text, upper, whole, |letter| {
                        compiled.as_ref()?.matches_chars(&[letter], Letters::Exact)
                    })
                })
            }
            ParameterOperation::Transform(letter) => {
                let letter = *letter;
                if letter == 'P' {
                    return match held {
                        Held::One(value) => Expanded::One(self.as_prompt(&value), None),
                        Held::Many(values) => {
                            Expanded::Many(values.iter().map(|value| self.as_prompt(value)).collect())
                        }
                        Held::Unset | Held::Any => Expanded::One(Value::Unknown, None),
                    };
                }
                if held == Held::Unset {
                    return held.expanded(name, all);
                }
                held.mapped(name, all, |text| match letter {
                    'Q' => Some(format!("'{}'", text.replace('\'', "'\\''"))),
                    // Without an escape in it a text stays as it is.
                    'E' => Some(text.to_owned()).filter(|text| !text.contains('\\')),
                    'U' => change_case(text, true, true),
                    'L' => change_case(text, false, true),
                    'u' => change_case(text, true, false),
                    _ => None,
                })
            }
        }
    }

    /// What a value becomes that is expanded like a prompt (`${x@P}`).
    fn as_prompt(&mut self, value: &Value) -> Value {
        let mut prompt: Option<Value> = None;
        for text in value.alternatives().unwrap_or_default() {
            let expanded = self.expand_again(&text.replace("\\$", "$"));
            // What the signs of a prompt stand for is not known.
            let shown = if text.contains('\\') { Value::Unknown } else { expanded };
            prompt = Some(prompt.map_or(shown.clone(), |other| other.join(&shown)));
        }
        prompt.unwrap_or(Value::Unknown)
    }

    fn otherwise(
        &mut self,
        held: Held,
        colon: bool,
        all: bool,
        word: &Word,
        then: impl FnOnce(&mut Self, &Value),
    ) -> Expanded {
        match emptiness(&held, colon) {
            Some(false) => held.expanded("", all),
            Some(true) => {
                let value = self.expand_text(word);
                then(self, &value);
                Expanded::One(value, None)
            }
            None => {
                let value = self.expand_text(word);
                let known = match held {
                    Held::One(known) => known.join(&value),
                    Held::Unset | Held::Many(_) | Held::Any => Value::Unknown,
                };
                then(self, &known);
                Expanded::One(known, None)
            }
        }
    }

    /// The pattern that a value is compared with. Where there is nothing to compare the shells differ about looking at it.
    fn pattern_for(&mut self, held: &Held, pattern: &Word) -> Option<String> {
        if held.is_nothing() {
            self.unless_nothing(|machine| machine.expand_pattern(pattern))
        } else {
            self.expand_pattern(pattern)
        }
    }

    /// Expands what is perhaps not looked at; an error in it may then not show.
    fn unless_nothing<T>(&mut self, expand: impl FnOnce(&mut Self) -> T) -> T {
        let failed = std::mem::replace(&mut self.call.failed, false);
        let ends_shell = std::mem::replace(&mut self.call.ends_shell, false);
        let expanded = self.possibly(expand);
        let ends = std::mem::replace(&mut self.call.ends_shell, ends_shell);
        match std::mem::replace(&mut self.call.failed, failed) {
            true if ends => self.perhaps_ends(),
            true => self.perhaps_gives_up_line(Leaving::Doubts),
            false => {}
        }
        expanded
    }

    /// Whether a pattern has groups (`@(a)`) that are none for a shell which was not told of them.
    fn is_group_in_doubt(&self, pattern: Option<&str>) -> bool {
        !self.shell.options.extglob && pattern.is_some_and(|pattern| pattern.contains('('))
    }
}

impl Held {
    /// Whether it is unset or empty.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Unset => true,
            Self::One(value) => value.as_exact() == Some(""),
            Self::Many(values) => values.is_empty(),
            Self::Any => false,
        }
    }

    /// The least number of letters or elements; `None` where it may be that nothing is there.
    fn length(&self) -> Option<usize> {
        match self {
            Self::One(value) => {
                let texts = value.alternatives()?;
                if texts.iter().any(|text| stands_for_process(text)) {
                    return None;
                }
                let lengths = texts.iter().map(|text| text.chars().count());
                let least = lengths.min()?;
                (least > 0 || value.as_exact().is_some()).then_some(least)
            }
            Self::Many(values) => Some(values.len()).filter(|count| *count > 0),
            Self::Unset | Self::Any => None,
        }
    }

    fn expanded(self, name: &str, all: bool) -> Expanded {
        match self {
            Self::Unset if all => Expanded::Many(Vec::new()),
            Self::Unset => Expanded::One(Value::exact(""), Some(name.to_owned())),
            Self::One(value) => Expanded::One(value, None),
            Self::Many(values) => Expanded::Many(values),
            Self::Any => Expanded::One(Value::Unknown, None),
        }
    }

    fn mapped(self, name: &str, all: bool, change: impl Fn(&str) -> Option<String>) -> Expanded {
        match self.expanded(name, all) {
            Expanded::One(value, hollow) => Expanded::One(mapped(&value, &change), hollow),
            Expanded::Many(values) => {
                Expanded::Many(values.iter().map(|value| mapped(value, &change)).collect())
            }
        }
    }
}

/// The value with every possible text changed; unknown where one cannot be.
pub(super) fn mapped(value: &Value, change: &impl Fn(&str) -> Option<String>) -> Value {
    match value.alternatives() {
        Some(texts) if !texts.iter().any(|text| stands_for_process(text)) => {
            let changed: Option<Vec<String>> = texts.iter().map(|text| change(text)).collect();
            changed.map_or(Value::Unknown, Value::one_of)
        }
        Some(_) | None => Value::Unknown,
    }
}

/// Whether a parameter is unset, or with `colon` empty; `None` when that is not known.
fn emptiness(held: &Held, colon: bool) -> Option<bool> {
    match held {
        Held::Unset => Some(true),
        Held::Many(values) => {
            if values.is_empty() {
                Some(true)
            } else {
                Some(colon && values.iter().all(|value| value.as_exact() == Some("")))
            }
        }
        Held::Any => None,
        Held::One(_) if !colon => Some(false),
        Held::One(value) => is_empty(value),
    }
}

/// Whether a text is empty; `None` when that is not known.
pub(super) fn is_empty(value: &Value) -> Option<bool> {
    match value {
        Value::Exact(text) => Some(text.is_empty()),
        Value::AnyOf(texts) if texts.iter().all(|text| !text.is_empty()) => Some(false),
        Value::Between { .. } | Value::Glob(_) => Some(false),
        Value::AnyOf(_) | Value::Unknown => None,
    }
}

fn is_literal(word: &Word, text: &str) -> bool {
    matches!(word.parts.as_slice(), [checkrein_shell::Part::Literal(known) | checkrein_shell::Part::Quoted(known)] if known == text)
}

/// Whether `set -u` ends the shell where the parameter is not set: everything but what says what stands in for it.
fn needs_a_value(parameter: &ParameterExpansion) -> bool {
    match &parameter.operation {
        ParameterOperation::Default { .. }
        | ParameterOperation::Assign { .. }
        | ParameterOperation::Error { .. }
        | ParameterOperation::Alternative { .. }
        | ParameterOperation::NamesWithPrefix
        | ParameterOperation::Keys => false,
        ParameterOperation::Plain
        | ParameterOperation::Length
        | ParameterOperation::RemovePrefix { .. }
        | ParameterOperation::RemoveSuffix { .. }
        | ParameterOperation::Replace { .. }
        | ParameterOperation::Substring { .. }
        | ParameterOperation::Case { .. }
        | ParameterOperation::Transform(_)
        | ParameterOperation::Other(_) => true,
    }
}

pub(super) fn all_of(parameter: &ParameterExpansion) -> bool {
    matches!(parameter.name.as_str(), "@" | "*")
        || parameter.index.as_ref().is_some_and(|index| is_literal(index, "@") || is_literal(index, "*"))
}

/// Whether a parameter stands for all of several values as one text: `$*`, `${array[*]}`.
pub(super) fn is_joined(parameter: &ParameterExpansion) -> bool {
    parameter.name == "*" || parameter.index.as_ref().is_some_and(|index| is_literal(index, "*"))
}

/// Whether a name is that of a parameter which is no variable: `1`, `#`, `?`.
fn is_special(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
