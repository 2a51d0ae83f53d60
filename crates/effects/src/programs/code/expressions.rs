//! Expressions: what a value is, and the calls on the way.

use std::rc::Rc;

use crate::interpreter::Value;

use super::call_effects::is_own_process;
use super::evaluator::{Evaluator, Given};
use super::made::concatenated;
use super::value::ScriptValue;
use checkrein_scripts::token::{Language, Piece, Token};

/// What stands for the number of the running process, in the languages that are read as tokens.
const OWN_NUMBERS: [&str; 8] =
    ["$$", "$PID", "$PROCESS_ID", "getmypid", "posix_getpid", "Process.pid", "getpid", "Sys.getpid"];

/// Words that end an expression or join two.
pub(super) const JOINING: &[&str] = &[
    "if",
    "unless",
    "else",
    "elif",
    "elsif",
    "and",
    "or",
    "for",
    "foreach",
    "in",
    "is",
    "of",
    "then",
    "do",
    "end",
    "while",
    "until",
    "rescue",
    "instanceof",
    "as",
    "from",
    "eq",
    "ne",
    "lt",
    "gt",
    "le",
    "ge",
    "cmp",
    "x",
    "xor",
    "async",
    "with",
    "except",
    "finally",
    "catch",
];

impl Evaluator<'_, '_, '_> {
    /// The value of the expression that begins at a place, and where it ends.
    pub(super) fn expression(&mut self, at: usize, to: usize) -> (ScriptValue, usize) {
        if at >= to {
            return (ScriptValue::Local, to);
        }
        let (value, next) =
            self.deeper(|follower| follower.expression_here(at, to)).unwrap_or((ScriptValue::Foreign, to));
        (self.within_bounds(value), next)
    }

    /// Remembers that numbers next to the own one are worked out in these tokens: those of others are among them.
    fn note_near_own(&mut self, from: usize, to: usize) {
        let is_own = |place: usize| self.tokens.word(place).is_some_and(|word| OWN_NUMBERS.contains(&word));
        self.counts |= (from..to).any(is_own);
    }

    pub(super) fn expression_here(&mut self, at: usize, to: usize) -> (ScriptValue, usize) {
        if let Some(answer) = self.assignment(at, to) {
            return answer;
        }
        let start = at;
        let (mut left, mut at) = self.operand(at, to);
        if self.language == Language::Ruby && self.is_change_in_place(start, at) {
            self.change_in_place(start, &left);
        }
        while at < to && self.step() {
            let next = self.tokens.list.get(at).cloned();
            let operator = match &next {
                Some(Token::Mark(mark)) => (*mark).to_owned(),
                Some(Token::Word(word)) => word.clone(),
                Some(Token::Line) if self.continues_below(at) => {
                    at += 1;
                    continue;
                }
                _ => break,
            };
            let right_at = at + 1;
            match operator.as_str() {
                "+" if self.language != Language::Perl && self.language != Language::Php => {
                    let (right, next) = self.part(right_at, to);
                    if !matches!(left, ScriptValue::Text(Value::Exact(_))) {
                        self.note_near_own(start, next);
                    }
                    left = left.followed_by(&right);
                    at = next;
                }
                "." if matches!(self.language, Language::Perl | Language::Php) => {
                    let (right, next) = self.part(right_at, to);
                    left = left.followed_by(&right);
                    at = next;
                }
                ".." if self.language == Language::Lua => {
                    let (right, next) = self.part(right_at, to);
                    left = left.followed_by(&right);
                    at = next;
                }
                "/" if matches!(left, ScriptValue::Path(_)) => {
                    let (right, next) = self.part(right_at, to);
                    left = ScriptValue::Path(left.below(&right));
                    at = next;
                }
                "%" if matches!(left, ScriptValue::Text(_)) && self.language == Language::Ruby => {
                    let (right, next) = self.part(right_at, to);
                    left = formatted(&left, &right);
                    at = next;
                }
                "||" | "??" | "or" | "&&" | "and" => {
                    let decided = truth(&left);
                    let (right, next) = self.in_doubt(|follower| follower.expression(right_at, to));
                    left = match (operator.as_str(), decided) {
                        ("&&" | "and", _) => ScriptValue::Local,
                        (_, Some(true)) => left,
                        _ if matches!(left, ScriptValue::Local) => right,
                        _ => left.join(&right),
                    };
                    at = next;
                }
                "?" => {
                    let (first, next) = self.in_doubt(|follower| follower.expression(right_at, to));
                    at = next;
                    left = first;
                    if self.tokens.is(at, ":") {
                        let (second, next) = self.in_doubt(|follower| follower.expression(at + 1, to));
                        left = left.join(&second);
                        at = next;
                    }
                }
                "=" | "+=" | "-=" | ".=" | "||=" | "&&=" | "??=" | ":=" | "*=" | "|=" | "<-" => {
                    let (value, next) = self.expression(right_at, to);
                    self.assign_element(start, at, &value);
                    left = ScriptValue::Local;
                    at = next;
                }
                "++" | "--" => at = right_at,
                "<<" if self.language == Language::Ruby => {
                    let (right, next) = self.part(right_at, to);
                    self.push_into(&left, &right);
                    left = match left {
                        ScriptValue::List(mut items) => {
                            items.push(right);
                            ScriptValue::List(items)
                        }
                        text @ ScriptValue::Text(_) => text.followed_by(&right),
                        other => other,
                    };
                    self.change_in_place(start, &left);
                    at = next;
                }
                "-" | "*" | "**" | "/" | "//" | "%" | "==" | "!=" | "===" | "!==" | "<" | ">" | "<="
                | ">=" | "<=>" | "=~" | "!~" | "&" | "|" | "^" | "<<" | ">>" | ".." | "..." | "~=" | "in"
                | "is" | "of" | "instanceof" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "cmp" | "x"
                | "xor" | "not" | "+" | "@" | "|>" => {
                    if operator == "=~"
                        && let Some(Token::Pattern(pieces)) = self.tokens.list.get(right_at).cloned()
                    {
                        self.pattern(&pieces);
                    }
                    let (right, next) = self.part(right_at, to);
                    if matches!(operator.as_str(), "+" | "-") {
                        self.note_near_own(start, next);
                    }
                    if matches!(operator.as_str(), ".." | "...") {
                        self.counts |= is_own_process(&left)
                            || (start..to.min(next + 4)).any(|place| {
                                self.tokens.word(place).is_some_and(|word| OWN_NUMBERS.contains(&word))
                            });
                        self.note_counting(&right);
                    }
                    left = ScriptValue::Local;
                    at = next.max(right_at);
                }
                _ => break,
            }
        }
        (left, at)
    }

    /// Whether a method changes the variable that it is called for: `text.sub!("a", "b")`.
    fn is_change_in_place(&self, start: usize, end: usize) -> bool {
        let method = self.tokens.word(start + 2).unwrap_or_default();
        let name_end = if self.tokens.is(start + 3, "(") { self.tokens.partner(start + 3) + 1 } else { end };
        self.tokens.is(start + 1, ".")
            && name_end == end
            && (matches!(method, "concat" | "prepend" | "replace") || method.ends_with('!'))
    }

    /// Gives a variable what it has become where it is.
    fn change_in_place(&mut self, start: usize, value: &ScriptValue) {
        let Some(name) = self.tokens.word(start).map(str::to_owned) else { return };
        if matches!(value, ScriptValue::Text(_) | ScriptValue::List(_))
            && matches!(self.variable(&name), Some(ScriptValue::Text(_) | ScriptValue::List(_)))
        {
            self.put_under_all_names(&name, value.clone());
            // The value may be one that the function was given.
            if !self.is_outside_functions() {
                self.note_stray(value);
            }
        }
    }

    /// `$ENV{NAME} = value`
    fn assign_element(&mut self, from: usize, sign: usize, value: &ScriptValue) {
        let mut at = from;
        while matches!(self.tokens.word(at), Some("my" | "our" | "local")) {
            at += 1;
        }
        let is_environment = matches!(self.tokens.word(at), Some("$ENV" | "ENV" | "$_ENV" | "$_SERVER"));
        if !is_environment {
            return self.assign_entry(at, sign, value);
        }
        let close = self.tokens.partner(at + 1);
        if close <= at + 1 || close + 1 != sign {
            return;
        }
        let name = match self.tokens.list.get(at + 2) {
            Some(Token::Word(word)) if close == at + 3 && !word.starts_with('$') => Some(word.clone()),
            _ => self.expression(at + 2, close).0.exact(),
        };
        if let Some(name) = name {
            self.set_environment(&name, value);
        }
    }

    /// One operand with what is behind it.
    pub(super) fn part(&mut self, at: usize, to: usize) -> (ScriptValue, usize) {
        let at = if matches!(self.tokens.list.get(at), Some(Token::Line)) { at + 1 } else { at };
        if at >= to {
            return (ScriptValue::Local, to);
        }
        self.deeper(|follower| follower.operand(at, to)).unwrap_or((ScriptValue::Foreign, to))
    }

    /// Whether the statement goes on behind the end of a line.
    pub(super) fn continues_below(&self, at: usize) -> bool {
        match self.language {
            Language::Ruby | Language::Lua => {
                matches!(self.tokens.list.get(at + 1), Some(Token::Mark("." | "&." | "..")))
            }
            Language::Perl | Language::Php | Language::R | Language::Python | Language::JavaScript => false,
        }
    }

    /// `name = value`, `my $x = value`, `name += value`
    pub(super) fn assignment(&mut self, at: usize, to: usize) -> Option<(ScriptValue, usize)> {
        let mut at = at;
        let mut keyword = String::new();
        while matches!(self.tokens.word(at), Some("my" | "our" | "local" | "static" | "global" | "state"))
            && !self.tokens.is(at + 1, "=")
        {
            self.tokens.word(at).unwrap_or_default().clone_into(&mut keyword);
            at += 1;
        }
        let name = self.tokens.word(at)?.to_owned();
        let sign = at + 1;
        let Some(Token::Mark(mark)) = self.tokens.list.get(sign).cloned() else {
            // `local %ENV;`
            if keyword == "local" && name == "%ENV" {
                self.taken_from_environment(at, to);
            }
            self.declare_all_by(&keyword, at, to);
            return None;
        };
        if !matches!(mark, "=" | ":=" | "||=" | "??=" | "<-" | "+=" | ".=") {
            if keyword == "local" && name == "%ENV" && mark == ";" {
                self.taken_from_environment(at, to);
            }
            self.declare_all_by(&keyword, at, to);
            return None;
        }
        match mark {
            "=" | ":=" | "||=" | "??=" | "<-" => {
                let (mut value, next) = self.expression(sign + 1, to);
                if self.language == Language::Perl
                    && name.starts_with('@')
                    && !matches!(value, ScriptValue::List(_))
                {
                    value = ScriptValue::List(vec![value]);
                }
                if let (Language::Perl, true, ScriptValue::List(items)) =
                    (self.language, name.starts_with('%'), &value)
                {
                    value = ScriptValue::Map(pairs(items));
                }
                self.declare_by(&keyword, &name);
                if name == "%ENV" {
                    self.replace_environment(&value);
                }
                self.assign(&name, value.clone());
                self.note_reference(&name, sign + 1, to);
                Some((value, next))
            }
            "+=" | ".=" => {
                let (value, next) = self.expression(sign + 1, to);
                let before = self.lookup(&name);
                let joined = before.followed_by(&value);
                self.assign(&name, joined.clone());
                Some((joined, next))
            }
            _ => None,
        }
    }

    /// Says whose a name is that a keyword declares.
    pub(super) fn declare_by(&mut self, keyword: &str, name: &str) {
        match (self.language, keyword) {
            (Language::Perl, "my" | "state") | (Language::Lua, "local") | (Language::Php, "static") => {
                self.reserve_here(name);
            }
            (Language::Perl, "our") | (Language::Php, "global") => self.share_with_module(name),
            (Language::Perl, "local") => self.hold(name),
            _ => {}
        }
    }

    /// As [`Evaluator::declare_by`], of all names that stand at a place.
    fn declare_all_by(&mut self, keyword: &str, at: usize, to: usize) {
        if keyword.is_empty() {
            return;
        }
        let mut place = at;
        while let Some(name) = self.tokens.word(place).filter(|_| place < to).map(str::to_owned) {
            self.declare_by(keyword, &name);
            if !self.tokens.is(place + 1, ",") {
                break;
            }
            place += 2;
        }
    }

    /// Where the value that begins at a place ends: at a comma, the end of the statement or a closing bracket.
    pub(super) fn end_of_value(&self, at: usize, to: usize) -> usize {
        let mut at = at;
        while at < to {
            match self.tokens.list.get(at) {
                Some(Token::Mark("," | ";" | ")" | "]" | "}")) => return at,
                Some(Token::Line) if !self.continues_below(at) => return at,
                Some(Token::Mark("(" | "[" | "{")) => at = self.tokens.partner(at) + 1,
                _ => at += 1,
            }
        }
        to
    }

    /// The value at a place with its members, calls and indexes.
    pub(super) fn operand(&mut self, at: usize, to: usize) -> (ScriptValue, usize) {
        let Some(token) = self.tokens.list.get(at).cloned() else { return (ScriptValue::Local, to) };
        let (thing, next) = match token {
            Token::Text(pieces) => (self.text_of(&pieces), at + 1),
            Token::Words(words) => {
                (ScriptValue::List(words.into_iter().map(ScriptValue::text).collect()), at + 1)
            }
            Token::Command(pieces) => {
                let text = self.text_of(&pieces);
                (self.run_shell(&text), at + 1)
            }
            Token::Pattern(pieces) => {
                self.pattern(&pieces);
                (ScriptValue::Local, at + 1)
            }
            Token::Number(number) => (ScriptValue::text(number), at + 1),
            Token::Mark("(") => {
                let close = self.tokens.partner(at).min(to);
                (self.group(at + 1, close), (close + 1).min(to.max(close)))
            }
            // `["name" => value]`
            Token::Mark("[")
                if self.language == Language::Php
                    && self.find_mark(at + 1, self.tokens.partner(at).min(to), &["=>"]).is_some() =>
            {
                let close = self.tokens.partner(at).min(to);
                (self.map(at + 1, close), close + 1)
            }
            Token::Mark("[") => {
                let close = self.tokens.partner(at).min(to);
                (ScriptValue::List(self.given(at + 1, close).positional), close + 1)
            }
            Token::Mark("{") => {
                let close = self.tokens.partner(at).min(to);
                (self.map(at + 1, close), close + 1)
            }
            Token::Mark("!") => {
                let (value, next) = self.operand(at + 1, to);
                return (negated(&value), next);
            }
            Token::Mark(
                "-" | "+" | "&" | "*" | "**" | "..." | "\\" | "~" | "@" | "<" | "$" | "++" | "--" | "::"
                | "=>" | "->" | "<<" | "%" | ":" | "#",
            ) => {
                if self.language == Language::Ruby && self.tokens.is(at, "->") {
                    return self.ruby_lambda(at, to);
                }
                if self.language == Language::Perl && self.tokens.is(at, "-") && self.is_file_test(at + 1) {
                    let (_, next) = self.operand(at + 2, to);
                    return (ScriptValue::Local, next);
                }
                if at + 1 >= to
                    || matches!(
                        self.tokens.list.get(at + 1),
                        Some(Token::Mark("," | ")" | "]" | "}" | ";" | "=") | Token::Line)
                    )
                {
                    return (ScriptValue::Local, at + 1);
                }
                let negative = self.tokens.is(at, "-");
                let (value, next) = self
                    .deeper(|follower| follower.operand(at + 1, to))
                    .unwrap_or((ScriptValue::Foreign, to));
                return (if negative { negative_number(value) } else { value }, next);
            }
            Token::Word(word) => {
                self.note_bare_fork(&word, at);
                match self.keyword(&word, at, to) {
                    Some(answer) => answer,
                    None => (self.named(&word), at + 1),
                }
            }
            Token::Mark(_) | Token::Line => return (ScriptValue::Local, at + 1),
        };
        self.behind(thing, next, to)
    }

    /// `-e $file`
    pub(super) fn is_file_test(&self, at: usize) -> bool {
        self.tokens.word(at).is_some_and(|word| word.len() == 1)
            && !self.tokens.is(at + 1, "(")
            && !self.tokens.is(at + 1, "=>")
    }

    /// Members, calls and indexes behind a value.
    pub(super) fn behind(&mut self, thing: ScriptValue, at: usize, to: usize) -> (ScriptValue, usize) {
        let (mut thing, mut at) = (thing, at);
        // The variable in front, and the method of it that is called.
        let mut root = at.checked_sub(1).and_then(|before| self.tokens.word(before)).map(str::to_owned);
        let mut called: Option<(String, String)> = None;
        while at < to && self.step() {
            let next = self.tokens.list.get(at).cloned();
            match next {
                Some(Token::Mark("(")) => {
                    let (open, close) = (at, self.tokens.partner(at).min(to));
                    let given = self.given(at + 1, close);
                    at = (close + 1).min(to.max(close));
                    let receiver = thing.clone();
                    self.block_value = None;
                    thing = self.call_thing(&thing, &given);
                    (thing, at) = self.block_behind(&receiver, thing, at, to);
                    self.changed_by_call(&receiver, open, close, &given);
                    if let Some((name, method)) = called.take() {
                        self.changed_by_member(&name, &method, &given, &thing);
                    }
                    root = None;
                }
                Some(Token::Mark("[")) => {
                    let close = self.tokens.partner(at).min(to);
                    if self.language == Language::Ruby
                        && matches!(thing, ScriptValue::Name(_))
                        && at > 0
                        && self.takes_words(&thing)
                    {
                        break;
                    }
                    // A function of Perl has no elements: `run [...]`.
                    if self.language == Language::Perl
                        && matches!(&thing, ScriptValue::Name(name) if self.deed(name).is_some())
                        && self.takes_words(&thing)
                    {
                        let (given, next) = self.words(at, to);
                        thing = self.call_thing(&thing, &given);
                        at = next;
                        continue;
                    }
                    let index = self.given(at + 1, close).at(0);
                    thing = self.indexed(&thing, &index);
                    at = close + 1;
                }
                Some(Token::Mark("{")) if self.language == Language::Perl && self.is_perl_index(at) => {
                    let close = self.tokens.partner(at).min(to);
                    let index = match self.tokens.word(at + 1) {
                        Some(word) if close == at + 2 && !word.starts_with('$') => ScriptValue::text(word),
                        _ => self.expression(at + 1, close).0,
                    };
                    thing = self.indexed(&thing, &index);
                    at = close + 1;
                }
                Some(Token::Mark(mark @ ("." | "?." | "->" | "::" | "&." | ":")))
                    if self.is_member(mark, at) =>
                {
                    match self.tokens.list.get(at + 1).cloned() {
                        Some(Token::Word(name)) => {
                            let member = name.trim_start_matches(['$', '@']).to_owned();
                            let receiver = thing.clone();
                            thing = self.member(&thing, &member);
                            at += 2;
                            called = root.take().map(|name| (name, member));
                            if self.language == Language::Ruby && !self.tokens.is(at, "(") {
                                let has_words = self.begins_word(at);
                                self.block_value = None;
                                (thing, at) = self.called_bare(&receiver, thing, at, to);
                                if let Some((name, method)) = called.take_if(|_| !has_words) {
                                    self.changed_by_member(&name, &method, &Given::default(), &thing);
                                }
                            } else if self.language == Language::Perl
                                && !self.tokens.is(at, "(")
                                && matches!(thing, ScriptValue::Method(_, _))
                            {
                                thing = self.call_thing(&thing, &Given::default());
                            }
                        }
                        Some(Token::Mark("(" | "[" | "{")) => at += 1,
                        _ => {
                            at += 2;
                            thing = ScriptValue::Local;
                        }
                    }
                }
                Some(Token::Line)
                    if self.continues_below(at)
                        && matches!(self.tokens.list.get(at + 1), Some(Token::Mark("." | "?." | "&."))) =>
                {
                    at += 1;
                }
                _ => {
                    if self.takes_words(&thing) && self.begins_word(at) {
                        let (given, next) = self.words(at, to);
                        let receiver = thing.clone();
                        self.block_value = None;
                        thing = self.call_thing(&thing, &given);
                        (thing, at) = self.block_behind(&receiver, thing, next, to);
                        if let Some((name, method)) = called.take() {
                            self.changed_by_member(&name, &method, &given, &thing);
                        }
                        root = None;
                        continue;
                    }
                    let ends = matches!(self.tokens.list.get(at), Some(Token::Mark(";" | "}")));
                    if self.is_bare_call(&thing) || ends && self.is_call_alone(&thing) {
                        thing = self.call_bare(&thing);
                        continue;
                    }
                    break;
                }
            }
        }
        // Nothing stands behind it: `unlink` as the last word of all, `unlink for @files`.
        let is_last = match self.tokens.list.get(at) {
            None | Some(Token::Mark("}" | ";" | ")")) => true,
            Some(Token::Word(word)) => matches!(
                word.as_str(),
                "for" | "foreach" | "if" | "unless" | "while" | "until" | "and" | "or"
            ),
            Some(_) => false,
        };
        if at >= to && is_last && self.is_call_alone(&thing) {
            thing = self.call_bare(&thing);
        }
        match thing {
            // An attribute of what came over the network, as `response.text`.
            ScriptValue::Method(of, _) if matches!(*of, ScriptValue::Network(_)) => (*of, at),
            thing => (thing, at),
        }
    }

    /// Whether a mark behind a value leads to a member.
    pub(super) fn is_member(&self, mark: &str, at: usize) -> bool {
        match self.language {
            Language::R | Language::Python | Language::JavaScript => mark == ".",
            Language::Perl => {
                mark == "->" || (mark == "::" && matches!(self.tokens.list.get(at + 1), Some(Token::Word(_))))
            }
            Language::Ruby => matches!(mark, "." | "&." | "::"),
            Language::Php => mark == "->" || mark == "::",
            Language::Lua => {
                mark == "." || (mark == ":" && matches!(self.tokens.list.get(at + 1), Some(Token::Word(_))))
            }
        }
    }

    pub(super) fn is_perl_index(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| match self.tokens.list.get(before) {
            // `@map{...}` is several elements.
            Some(Token::Word(word)) => word.starts_with(['$', '@']),
            Some(Token::Mark("->" | "]" | "}")) => true,
            _ => false,
        })
    }

    /// The text that pieces make.
    pub(super) fn text_of(&mut self, pieces: &[Piece]) -> ScriptValue {
        let parts: Vec<ScriptValue> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => ScriptValue::text(text.as_str()),
                Piece::Code(code) => {
                    let code = Rc::clone(code);
                    self.with_tokens(code, |follower| {
                        let end = follower.tokens.list.len();
                        follower.all(0, end)
                    })
                }
            })
            .collect();
        let whole = concatenated(&parts);
        self.note_value(&whole);
        whole
    }

    /// The code in a regular expression.
    pub(super) fn pattern(&mut self, pieces: &[Piece]) {
        let text: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Code(_) => "",
            })
            .collect();
        // `(?{ code })` of Perl.
        let mut starts = ["(?{", "(??{"].iter().filter(|_| self.language == Language::Perl);
        let inside = starts.find_map(|start| text.split_once(start));
        if let Some((_, code)) = inside {
            let code = code.rsplit_once("})").map_or(code, |(code, _)| code).to_owned();
            self.run_code(&code);
        }
        for piece in pieces {
            if let Piece::Code(_) = piece {
                let value = self.text_of(std::slice::from_ref(piece));
                // It may be what is put in the place of a text: `s/build/$ENV{HOME}/`.
                if self.language == Language::Perl {
                    self.note_stray(&value);
                }
            }
        }
    }

    /// Every expression up to a place; the value when it is only one.
    pub(super) fn all(&mut self, at: usize, to: usize) -> ScriptValue {
        let (mut value, mut at) = self.expression(at, to);
        while at < to && self.step() {
            if matches!(self.tokens.list.get(at), Some(Token::Line)) {
                at += 1;
                continue;
            }
            let (_, next) = self.expression(at, to);
            at = next.max(at + 1);
            value = ScriptValue::Local;
        }
        value
    }

    /// The first of these marks outside brackets.
    pub(super) fn find_mark(&self, at: usize, to: usize, marks: &[&str]) -> Option<usize> {
        self.find(at, to, |token| matches!(token, Token::Mark(mark) if marks.contains(mark)))
    }

    /// The first of these words outside brackets.
    pub(super) fn find_word(&self, at: usize, to: usize, words: &[&str]) -> Option<usize> {
        self.find(at, to, |token| matches!(token, Token::Word(word) if words.contains(&word.as_str())))
    }

    /// The first fitting token outside brackets.
    pub(super) fn find(&self, at: usize, to: usize, fits: impl Fn(&Token) -> bool) -> Option<usize> {
        let mut at = at;
        while at < to {
            let token = self.tokens.list.get(at)?;
            if fits(token) {
                return Some(at);
            }
            at = match token {
                Token::Mark("(" | "[" | "{") => self.tokens.partner(at) + 1,
                _ => at + 1,
            };
        }
        None
    }
}

/// The entries of a map that is written as a list: each key with its value.
fn pairs(items: &[ScriptValue]) -> Vec<(String, ScriptValue)> {
    let pair = |pair: &[ScriptValue]| match pair {
        [ScriptValue::Name(key), value] => (key.clone(), value.clone()),
        [key, value] => (key.exact().unwrap_or_default(), value.clone()),
        _ => (String::new(), ScriptValue::Text(Value::Unknown)),
    };
    items.chunks(2).map(pair).collect()
}

/// Whether a value is known to be true or false.
pub(super) fn truth(thing: &ScriptValue) -> Option<bool> {
    match thing {
        ScriptValue::Truth(truth) => return Some(*truth),
        ScriptValue::Number(number) => return Some(*number != 0),
        _ => {}
    }
    match thing.exact()?.as_str() {
        "true" | "True" | "1" | "TRUE" => Some(true),
        "false" | "False" | "0" | "" | "FALSE" => Some(false),
        _ => None,
    }
}

pub(super) fn negated(thing: &ScriptValue) -> ScriptValue {
    match truth(thing) {
        Some(known) => ScriptValue::Truth(!known),
        None => ScriptValue::Local,
    }
}

fn negative_number(thing: ScriptValue) -> ScriptValue {
    match thing.exact() {
        Some(text) if text.starts_with(|c: char| c.is_ascii_digit()) => ScriptValue::text(format!("-{text}")),
        _ => thing,
    }
}

/// A text with `%s` filled in.
pub(super) fn formatted(format: &ScriptValue, values: &ScriptValue) -> ScriptValue {
    let Some(format) = format.exact() else { return ScriptValue::Text(Value::Unknown) };
    let mut values = values.items().into_iter();
    let mut whole = ScriptValue::text("");
    let mut parts = format.split('%');
    if let Some(first) = parts.next() {
        whole = ScriptValue::text(first);
    }
    let mut literal = false;
    for part in parts {
        if literal {
            whole = whole.followed_by(&ScriptValue::text(part));
            literal = false;
            continue;
        }
        if part.is_empty() {
            whole = whole.followed_by(&ScriptValue::text("%"));
            literal = true;
            continue;
        }
        let length = part.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
        let rest = part.get(length + 1..).unwrap_or_default();
        let value = if part.starts_with(['s', 'd', 'i']) {
            values.next().unwrap_or(ScriptValue::Local)
        } else {
            values.next().map_or(ScriptValue::Local, |_| ScriptValue::Local)
        };
        whole = whole.followed_by(&value).followed_by(&ScriptValue::text(rest));
    }
    whole
}
