//! Functions and classes that the code defines, with a name or without.

use crate::interpreter::Value;

use super::evaluator::{Body, Evaluator, Function, Given};
use super::later::Moment;
use super::maps::in_any_order;
use super::references::changed;
use super::statements::{flat, known_items};
use super::value::ScriptValue;
use super::walk::scopes::ScopeSort;
use checkrein_scripts::token::{Language, Token};
use std::rc::Rc;

impl Evaluator<'_, '_, '_> {
    /// A class: its methods are functions that something may call.
    pub(super) fn class(&mut self, at: usize, to: usize) -> usize {
        if let Some(name) = self.tokens.word(at + 1).map(str::to_owned) {
            self.assign(&name, ScriptValue::Local);
        }
        if self.language == Language::Ruby {
            let end = self.tokens.partner(at).min(to);
            let from =
                self.find(at, end, |token| matches!(token, Token::Line | Token::Mark(";"))).unwrap_or(end);
            self.run(from, end);
            return end + 1;
        }
        let Some(open) = self.find_mark(at, to, &["{"]) else { return at + 1 };
        let close = self.tokens.partner(open).min(to);
        let mut place = open + 1;
        while place < close && self.step() {
            let is_method =
                matches!(self.tokens.list.get(place), Some(Token::Word(_))) && self.tokens.is(place + 1, "(");
            if !is_method {
                place += 1;
                continue;
            }
            let behind = self.tokens.partner(place + 1) + 1;
            let body = (behind..close.min(behind + 6)).find(|at| self.tokens.is(*at, "{"));
            let Some(body) = body else {
                place = behind;
                continue;
            };
            let parameters = self.parameters(place + 2, behind - 1);
            let end = self.tokens.partner(body).min(close);
            self.define("", parameters, body + 1, end);
            place = end + 1;
        }
        close + 1
    }

    /// Notes down every function that is defined between two places, before it is needed.
    pub(super) fn define_functions(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to && self.step() {
            at = match self.definition_at(at, to) {
                Some(next) => next.max(at + 1),
                None => match self.tokens.list.get(at) {
                    Some(Token::Mark("(" | "[" | "{")) => self.tokens.partner(at) + 1,
                    _ => at + 1,
                },
            };
        }
    }

    /// Notes down the function that is defined at a place; answers where the code goes on.
    pub(super) fn definition_at(&mut self, at: usize, to: usize) -> Option<usize> {
        let word = self.tokens.word(at)?;
        let mut at = at;
        let word = match word {
            "async" | "local" | "export" | "static" | "public" | "private" | "protected" | "default" => {
                at += 1;
                self.tokens.word(at)?
            }
            word => word,
        };
        let fits = match self.language {
            Language::Ruby => word == "def",
            Language::Php | Language::Lua => word == "function",
            Language::Perl => word == "sub",
            Language::R | Language::Python | Language::JavaScript => false,
        };
        if !fits {
            return None;
        }
        let mut name_at = at + 1;
        if self.tokens.is(name_at, "*") || self.tokens.is(name_at, "&") {
            name_at += 1;
        }
        let mut name = self.tokens.word(name_at)?.to_owned();
        while matches!(self.tokens.list.get(name_at + 1), Some(Token::Mark("." | ":")))
            && self.tokens.word(name_at + 2).is_some()
        {
            name_at += 2;
            name = self.tokens.word(name_at)?.to_owned();
        }
        let mut body = name_at + 1;
        let mut parameters = Vec::new();
        if self.tokens.is(body, "(") {
            let close = self.tokens.partner(body);
            parameters = self.parameters(body + 1, close);
            body = close + 1;
        }
        let (from, end, next) = match self.language {
            Language::Ruby | Language::Lua => {
                let end = self.tokens.partner(at).min(to);
                (body, end, end + 1)
            }
            Language::Perl | Language::Php | Language::R | Language::Python | Language::JavaScript => {
                let open = self.find_mark(body, to, &["{"])?;
                let end = self.tokens.partner(open).min(to);
                (open + 1, end, end + 1)
            }
        };
        self.define(&name, parameters, from, end);
        Some(next)
    }

    /// Notes down a function; answers its place in the list.
    pub(super) fn define(&mut self, name: &str, parameters: Vec<String>, from: usize, to: usize) -> usize {
        let scope = self.scopes.keep();
        let present = Rc::clone(&self.tokens);
        let known =
            self.functions.iter_mut().enumerate().find_map(|(place, function)| match &mut function.body {
                Body::Tokens { tokens, from: first, to: last, around, .. }
                    if *first == from && *last == to && Rc::ptr_eq(tokens, &present) =>
                {
                    *around = scope;
                    Some(place)
                }
                Body::Tokens { .. } | Body::Tree { .. } => None,
            });
        if let Some(place) = known {
            return place;
        }
        let body = Body::Tokens { parameters, tokens: present, from, to, around: scope };
        self.functions.push(Function { name: name.to_owned(), body, called: false, active: 0 });
        self.functions.len() - 1
    }

    /// The names of parameters between parentheses.
    pub(super) fn parameters(&self, at: usize, to: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = at;
        while at < to {
            let end = self.find_mark(at, to, &[","]).unwrap_or(to);
            let word = match self.language {
                // The type stands before the name.
                Language::Php => {
                    (at..end).find_map(|place| self.tokens.word(place).filter(|word| word.starts_with('$')))
                }
                _ => (at..end).find_map(|place| self.tokens.word(place)),
            };
            if matches!(self.tokens.list.get(at), Some(Token::Mark("{" | "["))) {
                names.push(String::new());
            } else if let Some(word) = word {
                names.push(word.to_owned());
            }
            at = end + 1;
        }
        names
    }

    /// Keywords that are values: functions without a name, imports, code blocks.
    pub(super) fn keyword(&mut self, word: &str, at: usize, to: usize) -> Option<(ScriptValue, usize)> {
        match (self.language, word) {
            // `array("a", "name" => value)`
            (Language::Php, "array") if self.tokens.is(at + 1, "(") => {
                let close = self.tokens.partner(at + 1).min(to);
                let value = if self.find_mark(at + 2, close, &["=>"]).is_some() {
                    self.map(at + 2, close)
                } else {
                    ScriptValue::List(self.given(at + 2, close).positional)
                };
                Some((value, close + 1))
            }
            (Language::Php | Language::Lua | Language::R, "function") => {
                let mut open = at + 1;
                while open < to && !self.tokens.is(open, "(") && open < at + 4 {
                    open += 1;
                }
                let close = self.tokens.partner(open);
                let parameters = self.parameters(open + 1, close);
                if self.language == Language::Lua {
                    let end = self.tokens.partner(at).min(to);
                    let place = self.define("", parameters, close + 1, end);
                    return Some((ScriptValue::Function(place), end + 1));
                }
                let body = self.find_mark(close + 1, to, &["{"])?;
                let end = self.tokens.partner(body).min(to);
                let place = self.define("", parameters, body + 1, end);
                Some((ScriptValue::Function(place), end + 1))
            }
            (Language::Php, "fn") => {
                let close = self.tokens.partner(at + 1);
                let parameters = self.parameters(at + 2, close);
                let arrow = self.find_mark(close, to, &["=>"])?;
                let end = self.end_of_value(arrow + 1, to);
                let place = self.define("", parameters, arrow + 1, end);
                Some((ScriptValue::Function(place), end))
            }
            (Language::Perl, "sub") => {
                let body = self.find_mark(at + 1, to, &["{"])?;
                let end = self.tokens.partner(body).min(to);
                let place = self.define("", Vec::new(), body + 1, end);
                Some((ScriptValue::Function(place), end + 1))
            }
            (Language::Perl, "push" | "unshift") => {
                let has_brackets = self.tokens.is(at + 1, "(");
                let place = at + 1 + usize::from(has_brackets);
                let name = self.tokens.word(place).filter(|name| name.len() > 1 && name.starts_with('@'))?;
                let name = name.to_owned();
                if !self.tokens.is(place + 1, ",") {
                    return None;
                }
                let end =
                    if has_brackets { self.tokens.partner(at + 1) } else { self.end_of_words(place, to) };
                let given = flat(&ScriptValue::List(self.given(place + 2, end.min(to)).positional)).items();
                let mut items = self.variable(&name).map(ScriptValue::items).unwrap_or_default();
                let from = if word == "push" { items.len() } else { 0 };
                items.splice(from..from, given);
                self.assign(&name, ScriptValue::List(items));
                Some((ScriptValue::Local, if has_brackets { end + 1 } else { end }))
            }
            // What is left has other places in the list. What a function was given it takes one after the other.
            (Language::Perl, "shift" | "pop" | "splice") => {
                let has_brackets = self.tokens.is(at + 1, "(");
                let place = at + 1 + usize::from(has_brackets);
                let name = self.tokens.word(place).filter(|name| name.len() > 1 && name.starts_with('@'))?;
                let name = name.to_owned();
                if matches!(name.as_str(), "@_" | "@ARGV") {
                    return None;
                }
                let end =
                    if has_brackets { self.tokens.partner(at + 1) } else { self.end_of_words(place, to) };
                let given = if self.tokens.is(place + 1, ",") {
                    self.given(place + 2, end.min(to)).positional
                } else {
                    Vec::new()
                };
                let mut items = self.variable(&name).map(ScriptValue::items)?;
                items.extend(given.iter().skip(2).flat_map(ScriptValue::items));
                let answer = ScriptValue::any(&items);
                self.put_under_all_names(&name, ScriptValue::List(in_any_order(&items)));
                Some((answer, if has_brackets { end + 1 } else { end }))
            }
            (Language::Perl, "do" | "eval") if self.tokens.is(at + 1, "{") => {
                let end = self.tokens.partner(at + 1).min(to);
                self.run_block(at + 2, end);
                Some((ScriptValue::Text(Value::Unknown), end + 1))
            }
            // What it reads stands in the variable from then on.
            (Language::Perl, "read" | "sysread" | "recv" | "msgrcv" | "shmread") => {
                let open = at + 1 + usize::from(self.tokens.is(at + 1, "("));
                let until = self.end_of_statement(open, to);
                let second = self.find_mark(open, until, &[","])? + 1;
                let second = second + usize::from(matches!(self.tokens.word(second), Some("my" | "our")));
                let name = self.tokens.word(second).filter(|name| name.starts_with('$'))?.to_owned();
                self.fill(&name);
                None
            }
            // A file that is a variable: `open(my $file, ">", \$text)`.
            (Language::Perl, "open") => {
                let until = self.end_of_statement(at, to);
                let names: Vec<String> = (at + 1..until)
                    .filter(|place| self.tokens.is(*place, "\\"))
                    .filter_map(|place| self.tokens.word(place + 1).map(str::to_owned))
                    .collect();
                names.iter().for_each(|name| self.fill(name));
                None
            }
            // `sysopen(my $file, "name", O_WRONLY | O_TRUNC)` as the mode of `open` (perlfunc, "sysopen"; fcntl.h of Linux).
            (Language::Perl, "sysopen") => {
                let has_brackets = self.tokens.is(at + 1, "(");
                let open = at + 1 + usize::from(has_brackets);
                let until = if has_brackets {
                    self.tokens.partner(at + 1).min(to)
                } else {
                    self.end_of_statement(open, to)
                };
                let mut given = self.given(open, until);
                let flags = |name: &str| {
                    let is_named = |place| {
                        self.tokens.word(place).is_some_and(|word| word.rsplit("::").next() == Some(name))
                    };
                    (open..until).any(is_named)
                };
                let number = match given.positional.get(2) {
                    Some(ScriptValue::Number(flags)) => *flags,
                    Some(flags) => flags.exact().and_then(|text| text.parse().ok()).unwrap_or(0),
                    None => 0,
                };
                let mode = if flags("O_APPEND") || number & 0o2000 != 0 {
                    ">>"
                } else if flags("O_TRUNC") || flags("O_WRONLY") || number & 0o1001 != 0 {
                    ">"
                } else if flags("O_RDWR") || number & 2 != 0 {
                    "+<"
                } else {
                    "<"
                };
                let path = given.at(1);
                given.positional.truncate(1);
                given.positional.extend([ScriptValue::text(mode), path]);
                let value = self.open(&given);
                Some((value, if has_brackets { until + 1 } else { until }))
            }
            // `substr($text, 0, 5, "new")`
            (Language::Perl, "substr") if self.tokens.is(at + 1, "(") => {
                let close = self.tokens.partner(at + 1).min(to);
                let name = self.tokens.word(at + 2).filter(|name| name.starts_with('$'))?.to_owned();
                let given = self.given(at + 2, close);
                let new = given.positional.get(3)?.clone();
                let known = self.variable(&name)?.clone();
                self.put_under_all_names(&name, changed(known, &new));
                Some((ScriptValue::Text(Value::Unknown), close + 1))
            }
            (Language::Perl, "map" | "grep" | "sort" | "first" | "any") if self.tokens.is(at + 1, "{") => {
                let end = self.tokens.partner(at + 1).min(to);
                let until =
                    self.end_of_statement(end + 1, to).min(self.find_mark(end + 1, to, &[")"]).unwrap_or(to));
                let list = ScriptValue::List(self.given(end + 1, until).positional);
                let each = flat(&list).each();
                let mut after = None;
                self.in_scope(ScopeSort::Block, |follower| {
                    follower.declare("$_", each.clone());
                    follower.run(at + 2, end);
                    after = follower.variable("$_").cloned();
                });
                // `$_` is the value itself.
                let lists = self.lists_named(end + 1, until);
                self.change_looped(&lists, &each, after.as_ref());
                let answer = if word == "map" {
                    ScriptValue::List(vec![ScriptValue::Text(Value::Unknown)])
                } else {
                    list
                };
                Some((answer, until))
            }
            (Language::Ruby, "at_exit")
                if self.tokens.is(at + 1, "{") || self.tokens.is_word(at + 1, "do") =>
            {
                let end = self.tokens.partner(at + 1).min(to);
                let place = self.define("", Vec::new(), at + 2, end);
                self.wait(ScriptValue::Function(place), Given::default(), Moment::AtEnd, true);
                Some((ScriptValue::Local, end + 1))
            }
            (Language::Ruby, "lambda" | "proc") => self
                .ruby_block(at + 1, to, &ScriptValue::Text(Value::Unknown))
                .map(|next| (ScriptValue::Local, next)),
            (Language::Ruby, "begin" | "if" | "unless" | "case" | "while" | "until")
                if self.tokens.partner(at) > at =>
            {
                let end = self.tokens.partner(at).min(to);
                if word == "begin" {
                    self.run(at + 1, end);
                } else {
                    self.branch(at, to, word);
                }
                Some((ScriptValue::Text(Value::Unknown), end + 1))
            }
            (
                _,
                "await" | "new" | "not" | "yield" | "typeof" | "void" | "delete" | "return" | "async"
                | "throw" | "raise" | "else" | "then" | "my" | "our" | "local" | "in",
            ) if !(self.tokens.is(at + 1, ".") || word == "delete" && self.tokens.is(at + 1, "(")) => {
                if at + 1 >= to
                    || matches!(
                        self.tokens.list.get(at + 1),
                        Some(Token::Mark("," | ")" | "]" | "}" | ";") | Token::Line)
                    )
                {
                    return Some((ScriptValue::Local, at + 1));
                }
                if word == "delete" {
                    self.taken_from_environment(at + 1, to);
                }
                let (value, next) = self.expression(at + 1, to);
                Some((if word == "not" { super::expressions::negated(&value) } else { value }, next))
            }
            (_, "true" | "True" | "TRUE") => Some((ScriptValue::text("true"), at + 1)),
            (_, "false" | "False" | "FALSE") => Some((ScriptValue::text("false"), at + 1)),
            (Language::Perl, "undef") if matches!(self.tokens.word(at + 1), Some("$ENV" | "%ENV")) => {
                self.taken_from_environment(at + 1, to);
                Some((ScriptValue::Local, at + 1))
            }
            (
                _,
                "None" | "null" | "undefined" | "nil" | "NULL" | "undef" | "this" | "self" | "pass" | "break"
                | "continue" | "next" | "last" | "redo" | "super" | "cls",
            ) => Some((ScriptValue::Local, at + 1)),
            _ => None,
        }
    }

    /// `->(x) { body }`
    pub(super) fn ruby_lambda(&mut self, at: usize, to: usize) -> (ScriptValue, usize) {
        let mut at = at + 1;
        if self.tokens.is(at, "(") {
            at = self.tokens.partner(at) + 1;
        }
        let next = self.ruby_block(at, to, &ScriptValue::Text(Value::Unknown)).unwrap_or(at);
        (ScriptValue::Local, next)
    }

    /// Follows `{ |x| body }` or `do |x| body end`, with what the parameters are given; `None` when no block stands there.
    pub(super) fn ruby_block(&mut self, at: usize, to: usize, value: &ScriptValue) -> Option<usize> {
        if !self.tokens.is(at, "{") && !self.tokens.is_word(at, "do") {
            return None;
        }
        let end = self.tokens.partner(at).min(to);
        let mut from = at + 1;
        let outer = self.enter(ScopeSort::Block);
        if self.tokens.is(from, "|")
            && let Some(close) = self.find_mark(from + 1, end, &["|"])
        {
            let names = self.parameters(from + 1, close);
            for name in &names {
                self.declare(name, ScriptValue::Local);
            }
            match names.as_slice() {
                [name] => {
                    self.put(name, value.clone());
                }
                several => match &value {
                    ScriptValue::Process(_) => self.assign_all(several, value),
                    _ => self.assign_all(several, &ScriptValue::Local),
                },
            }
            from = close + 1;
        } else {
            for name in ["it", "_1"] {
                self.declare(name, value.clone());
            }
        }
        // What one expression comes to is what the block gives.
        let is_single = from < end
            && self.find(from, end, |token| matches!(token, Token::Line | Token::Mark(";"))).is_none()
            && self
                .find_word(from, end, &["if", "unless", "while", "until", "case", "begin", "for"])
                .is_none();
        self.block_value = None;
        if is_single {
            let value = self.all(from, end);
            self.block_value = Some(value);
        } else {
            self.run(from, end);
        }
        self.leave(outer);
        Some(end + 1)
    }

    /// The block behind a call of Ruby, and functions given to calls elsewhere.
    pub(super) fn block_behind(
        &mut self,
        receiver: &ScriptValue,
        result: ScriptValue,
        at: usize,
        to: usize,
    ) -> (ScriptValue, usize) {
        if self.language != Language::Ruby {
            return (result, at);
        }
        let of = match receiver {
            ScriptValue::Method(of, _) => of.as_ref().clone(),
            other => other.clone(),
        };
        // The value as a whole: `list.then { |list| ... }`
        if let ScriptValue::Method(whole, name) = receiver
            && matches!(name.as_str(), "then" | "tap" | "yield_self")
        {
            let next = self.ruby_block(at, to, whole);
            let made = self.block_value.take();
            let result = match (name.as_str(), next) {
                ("tap", Some(_)) => whole.as_ref().clone(),
                (_, Some(_)) => made.unwrap_or(ScriptValue::Text(Value::Unknown)),
                (_, None) => result,
            };
            return (result, next.unwrap_or(at));
        }
        let maps = matches!(receiver, ScriptValue::Method(_, name)
            if matches!(name.as_str(), "map" | "collect" | "flat_map" | "map!" | "collect!" | "filter_map"));
        if let Some(items) = known_items(&of) {
            let mut next = None;
            let mut made = Vec::new();
            for item in items {
                next = self.ruby_block(at, to, item);
                made.push(self.block_value.take().unwrap_or(ScriptValue::Text(Value::Unknown)));
            }
            let result = if maps && next.is_some() { ScriptValue::List(made) } else { result };
            return (result, next.unwrap_or(at));
        }
        let value = match (&result, of.each()) {
            (
                ScriptValue::File(_)
                | ScriptValue::Network(_)
                | ScriptValue::Socket(_)
                | ScriptValue::Process(_),
                _,
            ) => result.clone(),
            (_, each @ (ScriptValue::Text(_) | ScriptValue::Path(_) | ScriptValue::Network(_))) => each,
            _ => match result.each() {
                ScriptValue::Local => ScriptValue::Text(Value::Unknown),
                each => each,
            },
        };
        match self.ruby_block(at, to, &value) {
            Some(next) => (result, next),
            None => (result, at),
        }
    }

    /// A member of Ruby without parentheses: a call, with words behind it or not.
    pub(super) fn called_bare(
        &mut self,
        receiver: &ScriptValue,
        thing: ScriptValue,
        at: usize,
        to: usize,
    ) -> (ScriptValue, usize) {
        let callable = matches!(thing, ScriptValue::Method(_, _))
            || matches!(&thing, ScriptValue::Name(name) if self.deed(name).is_some() || is_function_name(name));
        if !callable {
            return (thing, at);
        }
        if self.begins_word(at) {
            return (thing, at);
        }
        let result = self.call_thing(&thing, &Given::default());
        let called = match &thing {
            ScriptValue::Method(_, _) => &thing,
            _ => receiver,
        };
        self.block_behind(called, result, at, to)
    }
}

/// Whether the last part of a name is that of a function of Ruby, not of a constant.
pub(super) fn is_function_name(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_lowercase() || c == '_'))
}
