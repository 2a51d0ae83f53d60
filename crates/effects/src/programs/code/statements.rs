//! Statements: branches, loops, imports, definitions.

use crate::interpreter::Value;

use super::evaluator::{Evaluator, Given};
use super::expressions::truth;
use super::later::Moment;
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use super::walk::scopes::ScopeSort;
use checkrein_scripts::token::{Language, Token};

/// The greatest number of turns of a loop that are followed one by one (ours).
const TURNS: usize = 32;

/// Words by which a loop waits in each turn, or comes to an end: servers and supervisors that start a process for each task.
const WAITS: &[&str] = &[
    "accept",
    "wait",
    "wait2",
    "waitpid",
    "waitall",
    "pcntl_wait",
    "pcntl_waitpid",
    "socket_accept",
    "stream_socket_accept",
    "select",
    "sleep",
    "usleep",
    "gets",
    "readline",
    "exit",
    "exit!",
    "_exit",
    "last",
    "break",
    "return",
    "die",
    "raise",
];

impl Evaluator<'_, '_, '_> {
    /// Follows the statements between two places.
    pub(super) fn run(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to && self.step() {
            let next = self.deeper(|follower| follower.statement(at, to)).unwrap_or(to);
            at = next.max(at + 1);
        }
    }

    /// Follows the statements of a block, which has names of its own in some languages.
    pub(super) fn run_block(&mut self, from: usize, to: usize) {
        match self.language {
            Language::Perl | Language::Lua => {
                self.in_scope(ScopeSort::Block, |follower| follower.run(from, to));
            }
            Language::Ruby | Language::Php | Language::R | Language::Python | Language::JavaScript => {
                self.run(from, to);
            }
        }
    }

    /// Follows one statement; answers where the next begins.
    pub(super) fn statement(&mut self, at: usize, to: usize) -> usize {
        match self.tokens.list.get(at) {
            Some(Token::Line | Token::Mark(";" | "," | ")" | "]" | "}" | ":")) => return at + 1,
            Some(Token::Mark("{")) => {
                let close = self.tokens.partner(at).min(to);
                let repeats =
                    self.language == Language::Perl && self.find_word(at + 1, close, &["redo"]).is_some();
                self.turning(repeats, (at + 1, close), |follower| follower.run_block(at + 1, close));
                return close + 1;
            }
            None => return to,
            Some(_) => {}
        }
        if let Some(next) = self.modified(at, to) {
            return next;
        }
        let Some(word) = self.tokens.word(at).map(str::to_owned) else { return self.plain(at, to) };
        if let Some(next) = self.definition_at(at, to) {
            return next;
        }
        match (self.language, word.as_str()) {
            (Language::Perl, "my" | "our" | "local") if self.tokens.is(at + 1, "(") => {
                self.declaration(at, to)
            }
            (Language::Perl, "use" | "no") => {
                let end = self.find_mark(at, to, &[";"]).unwrap_or(to);
                self.perl_use(at + 1, end);
                end + 1
            }
            (Language::Perl, "package") | (Language::Php, "use" | "namespace") => {
                self.find_mark(at, to, &[";", "{"]).unwrap_or(to)
            }
            (Language::Php | Language::Ruby, "class" | "module" | "interface" | "trait") => {
                self.class(at, to)
            }
            (
                _,
                "if" | "elif" | "elsif" | "elseif" | "unless" | "while" | "until" | "switch" | "match"
                | "case" | "for" | "foreach",
            ) => self.branch(at, to, &word),
            (_, "else" | "except" | "catch" | "rescue" | "default" | "when") => self.otherwise(at, to, &word),
            // `do "file"`
            (Language::Perl, "do") if !self.tokens.is(at + 1, "{") => self.plain(at, to),
            (
                _,
                "try" | "finally" | "do" | "begin" | "ensure" | "repeat" | "BEGIN" | "END" | "then" | "loop",
            ) if !(word == "loop" && self.language != Language::Ruby) => {
                let end = self.end_of_body(at + 1, to);
                // What stands there runs when the program ends.
                if word == "END" && self.tokens.is(at + 1, "{") {
                    let place = self.define("", Vec::new(), at + 2, end);
                    self.wait(ScriptValue::Function(place), Given::default(), Moment::AtEnd, true);
                    return end + 1;
                }
                let repeats = word == "loop" || word == "do" && self.is_repeated(end, to);
                let mut next = at + 1;
                self.turning(repeats, (at + 1, end), |follower| next = follower.body_of(at + 1, to));
                next
            }
            (_, "return") => {
                let end = self.end_of_statement(at, to);
                let value = if at + 1 < end { self.all(at + 1, end) } else { ScriptValue::Local };
                self.returned = Some(match self.returned.take() {
                    Some(known) => known.join(&value),
                    None => value,
                });
                end
            }
            (Language::Php, "echo" | "print") => {
                let end = self.end_of_statement(at, to);
                let printed = self.given(at + 1, end);
                self.shows(&printed.positional);
                end
            }
            (Language::Php, "include" | "include_once" | "require" | "require_once")
                if !self.tokens.is(at + 1, "(") =>
            {
                let end = self.end_of_statement(at, to);
                let given = self.given(at + 1, end);
                self.call_thing(&ScriptValue::Name(word), &given);
                end
            }
            (_, "throw" | "raise" | "yield" | "await" | "async" | "assert" | "print" | "echo" | "die")
                if !self.tokens.is(at + 1, "(") && self.deed(&word).is_none() =>
            {
                if matches!(word.as_str(), "print" | "echo" | "die" | "raise") {
                    let end = self.end_of_statement(at, to);
                    let printed = self.given(at + 1, end);
                    self.shows(&printed.positional);
                    return end;
                }
                at + 1
            }
            _ => self.plain(at, to),
        }
    }

    /// A statement that is an expression, or several with commas between.
    pub(super) fn plain(&mut self, at: usize, to: usize) -> usize {
        if let Some(next) = self.several_targets(at, to) {
            return next;
        }
        let (_, next) = self.expression(at, to);
        next
    }

    /// `a, b = values`
    pub(super) fn several_targets(&mut self, at: usize, to: usize) -> Option<usize> {
        let end = self.end_of_statement(at, to);
        let sign = self.find_mark(at, end, &["="])?;
        let at = at + usize::from(self.language == Language::Php && self.tokens.is_word(at, "list"));
        let in_brackets = matches!(self.tokens.list.get(at), Some(Token::Mark("(" | "[")))
            && self.tokens.partner(at) + 1 == sign;
        let (from, until) = if in_brackets { (at + 1, sign - 1) } else { (at, sign) };
        let mut names = Vec::new();
        let mut place = from;
        while place < until {
            names.push(self.tokens.word(place)?.to_owned());
            place += 1;
            if place < until && !self.tokens.is(place, ",") {
                return None;
            }
            place += 1;
        }
        if names.len() < 2 && !in_brackets {
            return None;
        }
        let given = self.given(sign + 1, end);
        let value =
            if given.positional.len() == 1 { given.at(0) } else { ScriptValue::List(given.positional) };
        self.assign_all(&names, &value);
        Some(end)
    }

    pub(super) fn assign_all(&mut self, names: &[String], value: &ScriptValue) {
        for (index, name) in names.iter().enumerate() {
            let part = match value {
                ScriptValue::List(items) if self.language == Language::Perl && name.starts_with('@') => {
                    ScriptValue::List(items.get(index..).unwrap_or_default().to_vec())
                }
                ScriptValue::List(items) => {
                    items.get(index).cloned().unwrap_or(ScriptValue::Text(Value::Unknown))
                }
                ScriptValue::Network(url) => ScriptValue::Network(url.clone()),
                ScriptValue::Process(process) => ScriptValue::Process(*process),
                _ => ScriptValue::Text(Value::Unknown),
            };
            self.assign(name, part);
        }
    }

    /// `my ($a, $b) = @_`
    pub(super) fn declaration(&mut self, at: usize, to: usize) -> usize {
        let open = at + 1;
        if !matches!(self.tokens.list.get(open), Some(Token::Mark("{" | "[" | "("))) {
            return open;
        }
        let close = self.tokens.partner(open).min(to);
        if !self.tokens.is(close + 1, "=") {
            return close + 1;
        }
        let by_name = self.tokens.is(open, "{");
        let (value, next) = self.expression(close + 2, to);
        let keyword = self.tokens.word(at).unwrap_or_default().to_owned();
        for word in open + 1..close {
            if let Some(name) = self.tokens.word(word).map(str::to_owned) {
                self.declare_by(&keyword, &name);
            }
        }
        let mut place = open + 1;
        let mut names = Vec::new();
        while place < close {
            let end = self.find_mark(place, close, &[","]).unwrap_or(close);
            if let Some(name) = self.tokens.word(place).map(str::to_owned) {
                let own = if self.tokens.is(place + 1, ":") {
                    self.tokens.word(place + 2).map(str::to_owned)
                } else {
                    None
                };
                if by_name {
                    let member = self.member(&value, &name);
                    self.assign(&own.unwrap_or(name), member);
                } else {
                    names.push(name);
                }
            }
            place = end + 1;
        }
        self.assign_all(&names, &value);
        next
    }

    /// `statement if condition`, `statement for list`
    pub(super) fn modified(&mut self, at: usize, to: usize) -> Option<usize> {
        if !matches!(self.language, Language::Perl | Language::Ruby) {
            return None;
        }
        let end = self.end_of_statement(at, to);
        // Ruby has methods of that name: `IO.foreach(file)`.
        let words: &[&str] = match self.language {
            Language::Ruby => &["if", "unless", "while", "until", "for"],
            _ => &["if", "unless", "while", "until", "for", "foreach"],
        };
        let place = self.find_word(at + 1, end, words)?;
        // A value or a name stands before a modifier, an operator before a branch that is a value.
        if self.tokens.word(at).is_some_and(|word| {
            matches!(
                word,
                "if" | "unless"
                    | "while"
                    | "until"
                    | "for"
                    | "foreach"
                    | "case"
                    | "elsif"
                    | "else"
                    | "when"
                    | "sub"
                    | "def"
            )
        }) || matches!(
            self.tokens.list.get(place - 1),
            Some(Token::Mark("=" | "(" | "," | "}" | "->" | "||=") | Token::Line)
        ) && !self.is_do_block(place)
            || self
                .tokens
                .word(place - 1)
                .is_some_and(|word| matches!(word, "else" | "then" | "do" | "begin"))
        {
            return None;
        }
        let word = self.tokens.word(place).unwrap_or_default().to_owned();
        match word.as_str() {
            "for" | "foreach" => {
                let list = self.given(place + 1, end);
                let list = flat(&ScriptValue::List(list.positional));
                let lists = self.lists_named(place + 1, end);
                self.for_each(&["$_".to_owned()], &list, &lists, |follower| follower.run(at, place));
            }
            _ => {
                if self.never_holds(&word, place + 1, end) {
                    return Some(end);
                }
                let condition = self.tested(&word, place + 1, end);
                let known = truth(&condition).map(|known| known != (word == "unless" || word == "until"));
                let is_endless = known == Some(true) && is_while(&word);
                self.decided(known, |follower| {
                    follower.turning(is_endless, (at, place), |follower| follower.run(at, place));
                });
            }
        }
        Some(end)
    }

    /// A word or a number as it is written.
    fn plain_text(&self, at: usize) -> Option<&str> {
        match self.tokens.list.get(at)? {
            Token::Word(text) | Token::Number(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the condition of a branch is written out so that it never holds: `if 0`, `unless true`. A loop is none: the block in front of one
    /// runs before it is asked (perlsyn, "Statement Modifiers"; Ruby, "Modifier while"). What is false is told by the reference of each language;
    /// a bare `false` of Perl is a text.
    fn never_holds(&self, word: &str, from: usize, to: usize) -> bool {
        let parenthesised = self.tokens.is(from, "(") && self.tokens.partner(from) + 1 == to;
        let (from, to) = if parenthesised { (from + 1, to.saturating_sub(1)) } else { (from, to) };
        let wanted: &[&str] = match (self.language, word) {
            (Language::Perl, "if" | "elsif") => &["0"],
            (Language::Perl, "unless") => &["1"],
            (Language::Ruby, "if" | "elsif") => &["false", "nil"],
            (Language::Ruby, "unless") => &["true"],
            (Language::Php, "if" | "elseif") => &["false", "FALSE", "False", "0", "null"],
            (
                Language::Perl
                | Language::Ruby
                | Language::Php
                | Language::Lua
                | Language::R
                | Language::Python
                | Language::JavaScript,
                _,
            ) => &[],
        };
        from + 1 == to && self.plain_text(from).is_some_and(|only| wanted.contains(&only))
    }

    pub(super) fn is_do_block(&self, place: usize) -> bool {
        self.language == Language::Perl && place > 0 && self.tokens.is(place - 1, "}")
    }

    /// Runs work that happens when a condition holds.
    pub(super) fn decided(&mut self, condition: Option<bool>, work: impl FnOnce(&mut Self)) {
        if condition == Some(true) {
            work(self);
        } else {
            self.in_doubt(work);
        }
    }

    /// Where the statement at a place ends.
    pub(super) fn end_of_statement(&self, at: usize, to: usize) -> usize {
        let mut at = at;
        while at < to {
            match self.tokens.list.get(at) {
                Some(Token::Mark(";" | "}")) | None => return at,
                Some(Token::Line) => match self.tokens.list.get(at + 1) {
                    Some(Token::Mark("." | "?." | "&.")) => at += 1,
                    _ => return at,
                },
                Some(Token::Word(word))
                    if word == "end" && matches!(self.language, Language::Ruby | Language::Lua) =>
                {
                    return at;
                }
                Some(Token::Mark("(" | "[" | "{")) => at = self.tokens.partner(at) + 1,
                Some(Token::Word(_)) if self.tokens.partner(at) > at => at = self.tokens.partner(at) + 1,
                _ => at += 1,
            }
        }
        to
    }

    /// `if`, `while`, `for`, ...
    pub(super) fn branch(&mut self, at: usize, to: usize, word: &str) -> usize {
        let is_loop = word == "for" || word == "foreach";
        if self.tokens.is(at + 1, "=") || self.tokens.is(at + 1, ".") {
            return self.plain(at, to);
        }
        // What stands behind the colon belongs to the way.
        if word == "case"
            && self.language == Language::Php
            && let Some(colon) = self.find_mark(at + 1, to, &[":"])
        {
            return colon + 1;
        }
        match self.language {
            Language::Perl | Language::Php | Language::R | Language::Python | Language::JavaScript => {
                let mut open = at + 1;
                while open < to && !self.tokens.is(open, "(") && open < at + 5 {
                    open += 1;
                }
                let close = self.tokens.partner(open).min(to);
                if is_loop {
                    let (names, list) = self.c_loop(at, open, close);
                    // The values themselves change in PHP where `&` says so alone.
                    let by_name =
                        self.language == Language::Perl || self.find_mark(open + 1, close, &["&"]).is_some();
                    let lists = if by_name { self.lists_named(open + 1, close) } else { Vec::new() };
                    let mut next = close + 1;
                    let is_endless = self.tokens.is(open + 1, ";") && self.tokens.is(open + 2, ";");
                    let body = (close + 1, self.end_of_body(close + 1, to));
                    self.for_each(&names, &list, &lists, |follower| {
                        follower.turning(is_endless, body, |follower| next = follower.body_of(close + 1, to));
                    });
                    return next;
                }
                let has_braces = self.tokens.is(close + 1, "{");
                if has_braces && self.never_holds(word, open + 1, close) {
                    return self.tokens.partner(close + 1).min(to) + 1;
                }
                let condition = self.tested(word, open + 1, close);
                let condition = truth(&condition).map(|known| known != (word == "unless" || word == "until"));
                let is_endless = condition == Some(true) && is_while(word);
                let body = (close + 1, self.end_of_body(close + 1, to));
                let mut next = close + 1;
                self.turning(is_endless, body, |follower| {
                    next = follower.decided_body(condition, close + 1, to);
                });
                next
            }
            Language::Ruby | Language::Lua => {
                let end = self.tokens.partner(at).min(to);
                let header = self
                    .find(at + 1, end, |token| {
                        matches!(token, Token::Line | Token::Mark(";"))
                            || matches!(token, Token::Word(word) if word == "then" || word == "do")
                    })
                    .unwrap_or(end);
                let is_lua_do = self.language == Language::Lua && self.tokens.is_word(header, "do");
                if is_loop {
                    let (names, list) = self.loop_over(at + 1, header);
                    // The block belongs to the `do` in Lua.
                    let close = if is_lua_do { self.tokens.partner(header).min(to) } else { end };
                    self.for_each(&names, &list, &[], |follower| follower.run_block(header + 1, close));
                    return close + 1;
                }
                let condition = self.tested(word, at + 1, header);
                let condition = truth(&condition).map(|known| known != (word == "unless" || word == "until"));
                let is_endless = condition == Some(true) && is_while(word);
                let close = if is_lua_do { self.tokens.partner(header).min(to) } else { end };
                self.decided(condition, |follower| {
                    follower.turning(is_endless, (header + 1, close), |follower| {
                        follower.run_block(header + 1, close);
                    });
                });
                close + 1
            }
        }
    }

    /// The condition of a branch or loop. One that starts a process in each turn goes on as long as it can.
    fn tested(&mut self, word: &str, from: usize, to: usize) -> ScriptValue {
        let asks_whether = self.find_word(from, to, &["defined"]).is_some();
        let mut condition = ScriptValue::Local;
        self.turning(word == "while" && !asks_whether, (from, to), |follower| {
            condition = follower.all(from, to);
        });
        condition
    }

    /// Follows a turn of a loop, which has no end when it is said to have none and nothing in it waits or leaves it.
    fn turning(&mut self, is_endless: bool, (from, to): (usize, usize), work: impl FnOnce(&mut Self)) {
        let counts = is_endless && !self.waits(from, to);
        self.endless += usize::from(counts);
        work(self);
        self.endless -= usize::from(counts);
    }

    /// Whether what starts a process between two places waits, or comes to an end; what the new process does is its own.
    fn waits(&self, from: usize, to: usize) -> bool {
        let mut at = from;
        while at < to {
            match self.tokens.word(at) {
                Some(word) if WAITS.contains(&word) => return true,
                Some("fork") => {
                    let block = at + 1;
                    let is_block = self.tokens.is(block, "{") || self.tokens.is_word(block, "do");
                    at = if is_block { self.tokens.partner(block).max(block) } else { block };
                }
                Some(_) | None => at += 1,
            }
        }
        false
    }

    /// `fork` without parentheses is a call.
    pub(super) fn note_bare_fork(&mut self, word: &str, at: usize) {
        let is_call = word == "fork"
            && matches!(self.language, Language::Perl | Language::Ruby)
            && !matches!(
                self.tokens.list.get(at + 1),
                Some(Token::Mark("(" | "=>" | ":" | "=" | "." | "->"))
            );
        if is_call && self.endless > 0 {
            self.perform(LibraryCall::Fork, word, &Given::default());
        }
    }

    /// Where the block or the statement at a place ends.
    fn end_of_body(&self, at: usize, to: usize) -> usize {
        match self.tokens.list.get(at) {
            Some(Token::Mark("{")) => self.tokens.partner(at).min(to),
            Some(Token::Word(_)) if self.tokens.partner(at) > at => self.tokens.partner(at).min(to),
            _ => self.end_of_statement(at, to),
        }
    }

    /// Whether `while (1)` stands behind the block of a `do`.
    fn is_repeated(&self, end: usize, to: usize) -> bool {
        let is_true = |place: usize| match self.tokens.list.get(place) {
            Some(Token::Number(number)) => number != "0",
            Some(Token::Word(word)) => word.eq_ignore_ascii_case("true"),
            _ => false,
        };
        end + 1 < to
            && self.tokens.is_word(end + 1, "while")
            && (is_true(end + 2) || self.tokens.is(end + 2, "(") && is_true(end + 3))
    }

    pub(super) fn decided_body(&mut self, condition: Option<bool>, at: usize, to: usize) -> usize {
        let mut next = at;
        self.decided(condition, |follower| next = follower.body_of(at, to));
        next
    }

    /// `else`, `except`, `catch`, ...
    pub(super) fn otherwise(&mut self, at: usize, to: usize, word: &str) -> usize {
        if self.tokens.is_word(at + 1, "if") {
            return at + 1;
        }
        let mut next = at + 1;
        self.in_doubt(|follower| {
            next = match follower.language {
                Language::Ruby | Language::Lua => at + 1,
                _ if word == "catch" && follower.tokens.is(at + 1, "(") => {
                    follower.body_of(follower.tokens.partner(at + 1) + 1, to)
                }
                _ if word == "default" => at + 2,
                _ => follower.body_of(at + 1, to),
            };
        });
        next
    }

    /// Follows the block or the one statement at a place.
    pub(super) fn body_of(&mut self, at: usize, to: usize) -> usize {
        match self.tokens.list.get(at) {
            Some(Token::Mark("{")) => {
                let close = self.tokens.partner(at).min(to);
                self.run_block(at + 1, close);
                close + 1
            }
            _ if at >= to => to,
            _ => self.deeper(|follower| follower.statement(at, to)).unwrap_or(to),
        }
    }

    /// The variables of a loop and what they run over: `a, b in values`.
    pub(super) fn loop_over(&mut self, at: usize, to: usize) -> (Vec<String>, ScriptValue) {
        let Some(place) = self.find_word(at, to, &["in", "of"]) else {
            // `i = 2, 99` of Lua: in the first turn alone it is the first number.
            if let (Some(name), true) = (self.tokens.word(at).map(str::to_owned), self.tokens.is(at + 1, "="))
            {
                let bounds = self.given(at + 2, to);
                self.note_counting(&bounds.at(1));
                return (vec![name], ScriptValue::Text(Value::Unknown));
            }
            self.all(at, to);
            return (Vec::new(), ScriptValue::Local);
        };
        let mut names = Vec::new();
        for index in at..place {
            if let Some(name) = self.tokens.word(index).filter(|name| !matches!(*name, "my" | "local")) {
                names.push(name.to_owned());
            }
        }
        let given = self.given(place + 1, to);
        let list =
            if given.positional.len() == 1 { given.at(0) } else { ScriptValue::List(given.positional) };
        (names, list)
    }

    /// Follows the body of a loop: once for each value when they are all known, else once for all.
    ///
    /// What the variable of the loop has become, an entry of the lists may be that stand there by their names.
    pub(super) fn for_each(
        &mut self,
        names: &[String],
        list: &ScriptValue,
        lists: &[String],
        mut work: impl FnMut(&mut Self),
    ) {
        // The variable of a loop is its own in Perl and Lua.
        let has_own = matches!(self.language, Language::Perl | Language::Lua);
        let outer = has_own.then(|| self.enter(ScopeSort::Block));
        if has_own {
            for name in names {
                self.declare(name, ScriptValue::Local);
            }
        }
        if let ([name], Some(items)) = (names, known_items(list)) {
            for item in items {
                self.put(name, item.clone());
                work(self);
                let after = self.variable(name).cloned();
                self.change_looped(lists, item, after.as_ref());
            }
        } else {
            self.bind_each(names, list);
            let before = names.last().and_then(|name| self.variable(name)).cloned();
            work(self);
            if let (Some(name), Some(before)) = (names.last(), before) {
                let after = self.variable(name).cloned();
                self.change_looped(lists, &before, after.as_ref());
            }
        }
        if let Some(outer) = outer {
            self.leave(outer);
        }
    }

    pub(super) fn bind_each(&mut self, names: &[String], list: &ScriptValue) {
        let each = match list.each() {
            ScriptValue::Local if matches!(list, ScriptValue::Text(_)) => ScriptValue::Text(Value::Unknown),
            other => other,
        };
        match names {
            [] => {}
            [name] => {
                self.put(name, each);
            }
            several => self.assign_all(several, &each),
        }
    }

    /// `for (const x of list)`, `for my $x (list)`, `foreach ($list as $x)`, `for (i = 0; ...)`
    pub(super) fn c_loop(&mut self, at: usize, open: usize, close: usize) -> (Vec<String>, ScriptValue) {
        if self.counting_loop(open + 1, close).is_some() {
            return (Vec::new(), ScriptValue::Local);
        }
        match self.language {
            Language::Perl => {
                let name =
                    (at + 1..open).rev().find_map(|place| self.tokens.word(place)).unwrap_or("$_").to_owned();
                let list = ScriptValue::List(self.given(open + 1, close).positional);
                (vec![name], flat(&list))
            }
            Language::Php => {
                let Some(place) = self.find_word(open + 1, close, &["as"]) else {
                    self.all(open + 1, close);
                    return (Vec::new(), ScriptValue::Local);
                };
                let list = self.all(open + 1, place);
                let names: Vec<String> = (place + 1..close)
                    .filter_map(|place| self.tokens.word(place))
                    .map(str::to_owned)
                    .collect();
                let value_name = names.last().cloned().into_iter().collect::<Vec<_>>();
                (value_name, list)
            }
            _ if self.find_word(open + 1, close, &["of", "in"]).is_some() => self.loop_over(open + 1, close),
            _ => {
                self.run(open + 1, close);
                (Vec::new(), ScriptValue::Local)
            }
        }
    }

    /// `$i = 2; $i < 99; $i++`: what the last part changes is known in the first turn alone.
    fn counting_loop(&mut self, from: usize, to: usize) -> Option<()> {
        let first = self.find_mark(from, to, &[";"])?;
        let second = self.find_mark(first + 1, to, &[";"])?;
        self.run(from, first);
        self.all(first + 1, second);
        for place in first + 1..second {
            if let Some(Token::Number(number)) = self.tokens.list.get(place).cloned() {
                self.note_counting(&ScriptValue::text(number));
            }
        }
        self.all(second + 1, to);
        for place in second + 1..to {
            if let Some(name) = self.tokens.word(place).map(str::to_owned)
                && self.variable(&name).is_some()
            {
                self.put(&name, ScriptValue::Text(Value::Unknown));
            }
        }
        Some(())
    }

    /// `use File::Path qw(rmtree)`, `use lib "x"`
    pub(super) fn perl_use(&mut self, at: usize, end: usize) {
        if self.tokens.word(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_uppercase())) {
            return;
        }
        self.given(at, end);
    }
}

/// Whether a word begins a loop that goes on while something holds.
fn is_while(word: &str) -> bool {
    matches!(word, "while" | "until")
}

/// The items of a list when all are known and not too many.
pub(super) fn known_items(list: &ScriptValue) -> Option<&[ScriptValue]> {
    match list {
        ScriptValue::List(items)
            if (1..=TURNS).contains(&items.len()) && items.iter().all(|item| item.exact().is_some()) =>
        {
            Some(items)
        }
        _ => None,
    }
}

/// A list in which lists are part of the whole, as in Perl.
pub(super) fn flat(list: &ScriptValue) -> ScriptValue {
    ScriptValue::List(list.items())
}
