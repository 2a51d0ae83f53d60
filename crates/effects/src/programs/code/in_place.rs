//! Calls that change what they are called for or given, where what that becomes is not worked out exactly: it may be each place that the call was
//! given, and what stands in it may stand anywhere in it. Sources: Ruby 3.4, `Array`, `Hash`, `String`, "Methods for Assigning", "... Deleting";
//! the manual of PHP, functions with parameters by reference; perlfunc; Lua 5.4, 6.1. `checkrein/tests/changed_by_calls.rs` holds the cases
//! against the programs that are installed.

use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::maps::in_any_order;
use super::references::changed;
use super::value::ScriptValue;
use crate::interpreter::Value;
use checkrein_scripts::Language;
use checkrein_scripts::token::Token;
use checkrein_scripts::tree::{Argument, Expression};

/// What a call does to a variable that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// What stands in it stands elsewhere in it, and what else the call is given may stand there too.
    Stirs,
    /// It holds something that is not known.
    Fills,
}

/// Methods of Ruby that change what they are called for, beside those that end in `!`.
const RUBY_CHANGES: &[&str] = &[
    "append",
    "push",
    "pop",
    "shift",
    "unshift",
    "prepend",
    "insert",
    "concat",
    "replace",
    "clear",
    "delete",
    "delete_at",
    "delete_if",
    "keep_if",
    "fill",
    "store",
    "update",
    "default=",
    "setbyte",
    "append_as_bytes",
    "initialize_copy",
];

/// Methods of maps and lists that only look at what they are given (Python 3.13, ECMAScript 2025).
const ONLY_LOOK: &[&str] = &[
    "index",
    "count",
    "get",
    "includes",
    "indexOf",
    "lastIndexOf",
    "has",
    "hasOwnProperty",
    "concat",
    "join",
    "filter",
    "find",
    "findIndex",
    "some",
    "every",
    "map",
    "flatMap",
    "reduce",
    "forEach",
    "slice",
    "copy",
    "keys",
    "values",
    "items",
    "entries",
    "at",
    "with",
    "toSorted",
    "toSpliced",
    "__contains__",
    "__getitem__",
    "__eq__",
    "__add__",
];

/// Functions that give variables values by names that they are given, or values that a table has not itself.
fn sets_names(language: Language, function: &str) -> bool {
    match language {
        Language::Ruby => matches!(
            function,
            "local_variable_set" | "instance_variable_set" | "class_variable_set" | "const_set"
        ),
        Language::Php => function.eq_ignore_ascii_case("extract"),
        Language::Lua => {
            matches!(function, "rawset" | "setmetatable" | "debug.setlocal" | "debug.setupvalue")
        }
        Language::R => matches!(function, "assign" | "delayedAssign" | "list2env" | "attach"),
        Language::Perl | Language::Python | Language::JavaScript => false,
    }
}

/// What a function of PHP does to the variable that stands at a place of what it is given.
fn by_reference(function: &str, place: usize) -> Option<Change> {
    let function = function.to_ascii_lowercase();
    let stirs = match function.as_str() {
        "sort"
        | "rsort"
        | "usort"
        | "uasort"
        | "uksort"
        | "asort"
        | "arsort"
        | "ksort"
        | "krsort"
        | "natsort"
        | "natcasesort"
        | "shuffle"
        | "array_push"
        | "array_pop"
        | "array_shift"
        | "array_unshift"
        | "array_splice"
        | "array_walk"
        | "array_walk_recursive" => place == 0,
        "array_multisort" => true,
        _ => false,
    };
    let fills = match function.as_str() {
        "preg_match" | "preg_match_all" | "mb_ereg" | "mb_eregi" | "proc_open" => place == 2,
        "exec" => place == 1 || place == 2,
        "system" | "passthru" | "parse_str" | "mb_parse_str" | "openssl_sign" | "getimagesize" => place == 1,
        "settype" | "mb_convert_variables" => place == 0 || place == 2,
        "sscanf" | "fscanf" => place >= 2,
        _ => false,
    };
    match (stirs, fills) {
        (true, _) => Some(Change::Stirs),
        (false, true) => Some(Change::Fills),
        (false, false) => None,
    }
}

impl Evaluator<'_, '_, '_> {
    /// Follows that a method was called for a variable of a language that is read as tokens: `list.unshift(value)`, `text.gsub!(/a/) { value }`.
    pub(super) fn changed_by_member(
        &mut self,
        name: &str,
        method: &str,
        given: &Given,
        answer: &ScriptValue,
    ) {
        if self.language != Language::Ruby {
            return;
        }
        if sets_names(self.language, method) {
            return self.note_strays(given);
        }
        if !(RUBY_CHANGES.contains(&method) || method.ends_with('!') && method != "!") {
            return;
        }
        if method == "clear" && self.doubt == 0 {
            let empty = match self.variable(name) {
                Some(ScriptValue::Text(_)) => ScriptValue::text(""),
                Some(ScriptValue::List(_)) => ScriptValue::List(Vec::new()),
                Some(ScriptValue::Map(_)) => ScriptValue::Map(Vec::new()),
                _ => return,
            };
            return self.put_under_all_names(name, empty);
        }
        let entries: Vec<(String, ScriptValue)> = match (self.variable(name), method) {
            (Some(ScriptValue::Map(_)), "store") => {
                given.at(0).exact().map(|key| (key, given.at(1))).into_iter().collect()
            }
            (Some(ScriptValue::Map(_)), "merge!" | "update") if self.block_value.is_none() => {
                let maps = given.positional.iter().filter_map(|value| match value {
                    ScriptValue::Map(entries) => Some(entries.clone()),
                    _ => None,
                });
                maps.flatten().chain(given.named.iter().cloned()).collect()
            }
            _ => Vec::new(),
        };
        if !entries.is_empty() {
            entries.into_iter().for_each(|(key, value)| self.put_entry(name, Some(key), &value));
            return;
        }
        let mut given = given.clone();
        given.positional.extend(self.block_value.clone());
        if method.ends_with('!') {
            given.positional.push(answer.clone());
        }
        self.stir(name, &given);
    }

    /// Follows what a function of a language that is read as tokens does to the variables that stand between its brackets.
    pub(super) fn changed_by_call(&mut self, callee: &ScriptValue, open: usize, close: usize, given: &Given) {
        let ScriptValue::Name(function) = callee else { return };
        if sets_names(self.language, function.rsplit('.').next().unwrap_or(function))
            || sets_names(self.language, function)
        {
            return self.note_strays(given);
        }
        if self.language != Language::Php {
            return;
        }
        let mut at = open + 1;
        for place in 0..given.positional.len() {
            let end = self.find_mark(at, close, &[","]).unwrap_or(close);
            let name = match self.tokens.list.get(at) {
                Some(Token::Word(word)) if end == at + 1 && word.starts_with('$') => Some(word.clone()),
                _ => None,
            };
            match (name, by_reference(function, place)) {
                (Some(name), Some(Change::Stirs)) => self.stir(&name, given),
                (Some(name), Some(Change::Fills)) => self.fill(&name),
                (None, _) | (_, None) => {}
            }
            at = end + 1;
        }
    }

    /// A variable of a function of PHP that stands for one of who called it, or of the function around it: `function f(&$x)`, `use (&$x)`.
    pub(super) fn note_given_by_reference(&mut self, name: &str, value: &ScriptValue) {
        if self.language != Language::Php || self.is_outside_functions() || !self.is_outside(&value.value()) {
            return;
        }
        let is_reference = self
            .tokens
            .list
            .windows(2)
            .any(|pair| matches!(pair, [Token::Mark("&"), Token::Word(word)] if word == name));
        if is_reference {
            self.note_stray(value);
        }
    }

    /// Gives a variable that holds something what is not known.
    pub(super) fn fill(&mut self, name: &str) {
        if self.variable(name).is_some() {
            self.put_under_all_names(name, ScriptValue::Text(Value::Unknown));
        }
    }

    /// What a variable holds may stand anywhere in it, beside the places that a call was given.
    fn stir(&mut self, name: &str, given: &Given) {
        let Some(known) = self.variable(name).cloned() else { return };
        let known = match known {
            ScriptValue::List(items) => ScriptValue::List(in_any_order(&items)),
            ScriptValue::Map(_) | ScriptValue::Text(_) => known,
            _ => return,
        };
        let outside = self.outside_in(given);
        let stirred = if outside.is_empty() { known } else { changed(known, &ScriptValue::any(&outside)) };
        self.put_under_all_names(name, stirred);
    }

    /// Of what a call is given, the places outside that in which the code works may be held by any variable.
    fn note_strays(&mut self, given: &Given) {
        for place in self.outside_in(given) {
            self.note_stray(&place);
        }
    }

    /// Follows that something is called of which is not known what it does with a list, map or object that it is called for or given.
    pub(super) fn may_change_given(
        &mut self,
        of: Option<(&Expression, &str)>,
        arguments: &[Argument],
        given: &Given,
    ) {
        let outside = self.outside_in(given);
        if outside.is_empty() || of.is_some_and(|(_, method)| ONLY_LOOK.contains(&method)) {
            return;
        }
        let any = ScriptValue::any(&outside);
        let receivers =
            of.into_iter().map(|(of, _)| of).chain(arguments.iter().map(|argument| &argument.value));
        for receiver in receivers {
            if !is_place(receiver) {
                continue;
            }
            match self.value(receiver) {
                known @ (ScriptValue::List(_) | ScriptValue::Map(_)) => {
                    let new = changed(known.clone(), &any);
                    if new != known {
                        self.store(receiver, new);
                    }
                }
                ScriptValue::Object(place) => {
                    if let Some(object) = self.objects.get_mut(place) {
                        object.fields.change_each(|known| Some(changed(known.clone(), &any)));
                    }
                }
                _ => {}
            }
        }
    }

    /// An entry of this name may hold this value now, whatever map has it.
    pub(super) fn change_entries_named(&mut self, name: &str, value: &ScriptValue) {
        self.variables.change_each(|known| {
            let ScriptValue::Map(entries) = known else { return None };
            let mut entries = entries.clone();
            for (_, known) in entries.iter_mut().filter(|(key, _)| key == name) {
                *known = changed(known.clone(), value);
            }
            Some(ScriptValue::Map(entries))
        });
    }

    /// Whether it is not known what a function, or a method of a value, does to the values that it is given.
    pub(super) fn is_unfollowed(&self, callee: &ScriptValue, method: Option<&str>) -> bool {
        let is_known = |name: &str| self.deed(name).is_some_and(|deed| deed != LibraryCall::Nothing);
        match (callee, method) {
            (ScriptValue::Name(name), Some(method)) => !is_known(&format!("{name}.{method}")),
            (ScriptValue::Name(name), None) => !is_known(name),
            (ScriptValue::List(_) | ScriptValue::Map(_), Some(_))
            | (ScriptValue::Foreign | ScriptValue::Local | ScriptValue::Text(Value::Unknown), _) => true,
            (_, _) => false,
        }
    }

    /// The places outside that in which the code works among what a call is given, in lists and maps too.
    fn outside_in(&self, given: &Given) -> Vec<ScriptValue> {
        let mut all = Vec::new();
        for value in given.positional.iter().chain(given.named.iter().map(|(_, value)| value)) {
            self.gather_outside(value, &mut all);
        }
        all
    }

    fn gather_outside(&self, value: &ScriptValue, all: &mut Vec<ScriptValue>) {
        match value {
            ScriptValue::List(items) => items.iter().for_each(|item| self.gather_outside(item, all)),
            ScriptValue::Map(entries) => entries.iter().for_each(|(_, item)| self.gather_outside(item, all)),
            ScriptValue::Text(text) | ScriptValue::Path(text)
                if self.is_outside(text) && !all.contains(value) =>
            {
                all.push(value.clone());
            }
            _ => {}
        }
    }
}

/// Whether an expression names something that keeps what is put into it.
fn is_place(expression: &Expression) -> bool {
    match expression {
        Expression::Name(_) => true,
        Expression::Member(of, _) | Expression::Index(of, _) => is_place(of),
        _ => false,
    }
}
