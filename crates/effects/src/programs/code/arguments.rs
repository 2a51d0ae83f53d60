//! What stands between brackets, and the words of calls without them.

use super::evaluator::{Evaluator, Given};
use super::expressions::JOINING;
use super::value::ScriptValue;
use checkrein_scripts::token::{Language, Token};

impl Evaluator<'_, '_, '_> {
    /// Whether a function may be called without parentheses.
    pub(super) fn takes_words(&self, thing: &ScriptValue) -> bool {
        self.language.calls_without_parentheses()
            && match thing {
                ScriptValue::Name(name) => {
                    !name.starts_with(['$', '@', '%'])
                        && (self.language != Language::Ruby
                            || self.deed(name).is_some()
                            || name.contains('.'))
                }
                ScriptValue::Function(_) => true,
                ScriptValue::Method(_, _) => self.language == Language::Ruby,
                _ => false,
            }
    }

    /// Whether the first word of a call without parentheses stands at a place.
    pub(super) fn begins_word(&self, at: usize) -> bool {
        match self.tokens.list.get(at) {
            Some(Token::Text(_)) => true,
            Some(Token::Mark("{")) if self.language == Language::Lua => true,
            _ if self.language == Language::Lua => false,
            Some(Token::Words(_) | Token::Command(_) | Token::Number(_) | Token::Pattern(_)) => true,
            Some(Token::Word(word)) => {
                !JOINING.contains(&word.as_str()) || word == "do" && self.language == Language::Perl
            }
            Some(Token::Mark("\\" | "[" | "->" | "::")) => {
                self.language == Language::Ruby || self.tokens.is(at, "\\")
            }
            // A signal for a group: `kill -9, $group`.
            Some(Token::Mark("-")) if self.language == Language::Perl => {
                let before = at.checked_sub(1).and_then(|before| self.tokens.word(before));
                before == Some("kill")
            }
            Some(Token::Mark("*" | "-" | "&" | ":")) => {
                self.language == Language::Ruby
                    && matches!(
                        self.tokens.list.get(at + 1),
                        Some(Token::Word(_) | Token::Text(_) | Token::Words(_) | Token::Mark("["))
                    )
            }
            Some(Token::Mark("{")) => self.language == Language::Perl,
            _ => false,
        }
    }

    /// What a call without parentheses is given.
    pub(super) fn words(&mut self, at: usize, to: usize) -> (Given, usize) {
        let end = self.end_of_words(at, to);
        if self.language == Language::Lua {
            let (value, next) = if let Some(Token::Text(pieces)) = self.tokens.list.get(at).cloned() {
                (self.text_of(&pieces), at + 1)
            } else {
                let close = self.tokens.partner(at).min(to);
                (self.map(at + 1, close), close + 1)
            };
            return (Given { positional: vec![value], named: Vec::new() }, next);
        }
        let (given, next) = self.given_until(at, end);
        (given, next.max(at + 1))
    }

    /// Where the words of a call without parentheses end at the latest.
    pub(super) fn end_of_words(&self, at: usize, to: usize) -> usize {
        let mut at = at;
        while at < to {
            match self.tokens.list.get(at) {
                Some(Token::Mark(";" | ")" | "]" | "}")) | None => return at,
                Some(Token::Line) => {
                    if matches!(
                        at.checked_sub(1).and_then(|before| self.tokens.list.get(before)),
                        Some(Token::Mark("," | "=>"))
                    ) {
                        at += 1;
                    } else {
                        return at;
                    }
                }
                Some(Token::Word(word))
                    if matches!(
                        word.as_str(),
                        "if" | "unless"
                            | "while"
                            | "until"
                            | "for"
                            | "foreach"
                            | "rescue"
                            | "do"
                            | "then"
                            | "or"
                            | "and"
                    ) =>
                {
                    return at;
                }
                Some(Token::Mark("(" | "[" | "{")) => at = self.tokens.partner(at) + 1,
                _ => at += 1,
            }
        }
        to
    }

    /// The values between brackets, by place and by name.
    pub(super) fn given(&mut self, at: usize, to: usize) -> Given {
        self.given_until(at, to).0
    }

    pub(super) fn given_until(&mut self, at: usize, to: usize) -> (Given, usize) {
        let mut given = Given::default();
        let mut at = at;
        while at < to && self.step() {
            if matches!(self.tokens.list.get(at), Some(Token::Line | Token::Mark("," | "=>"))) {
                at += 1;
                continue;
            }
            let name = self.argument_name(at);
            let from = if name.is_some() { at + 2 } else { at };
            let spread = matches!(self.tokens.list.get(from), Some(Token::Mark("*" | "..." | "@")))
                || matches!(self.tokens.word(from), Some(word) if word.starts_with('@'));
            // `print {$handle} "text"`
            let is_handle = self.language == Language::Perl
                && self.tokens.is(from, "{")
                && self.tokens.is(from + 2, "}")
                && self.tokens.word(from + 1).is_some_and(|word| word.starts_with('$'));
            let names_program = given.positional.is_empty() && self.names_program(from);
            let (value, mut next) = if is_handle {
                (self.expression(from + 1, from + 2).0, from + 3)
            } else if names_program {
                let close = self.tokens.partner(from).min(to);
                (self.expression(from + 1, close).0, close + 1)
            } else {
                self.expression(from, to)
            };
            let mut behind = Vec::new();
            next = next.max(from + 1).min(to.max(from + 1));
            // What the expression does not reach is looked at on its own.
            while next < to
                && !matches!(self.tokens.list.get(next), Some(Token::Mark("," | "=>")))
                && self.step()
            {
                let (further_value, further) = self.expression(next, to);
                match further_value {
                    // The first of the words is only what the program is called.
                    ScriptValue::List(words) if names_program => behind.extend(words.into_iter().skip(1)),
                    _ if names_program => {}
                    // `print $handle "text"`
                    further_value if matches!(value, ScriptValue::Process(_) | ScriptValue::File(_)) => {
                        behind.push(further_value);
                    }
                    _ => {}
                }
                next = further.max(next + 1);
            }
            match (name, value) {
                (Some(name), value) => given.named.push((name, value)),
                (None, ScriptValue::List(items)) if spread => given.positional.extend(items),
                (None, value) => given.positional.push(value),
            }
            given.positional.append(&mut behind);
            at = next;
        }
        (given, at.min(to))
    }

    /// Whether a block in front of the words of a call says which program runs: `system { "/bin/rm" } "ls", "x"` (perlfunc, "exec").
    fn names_program(&self, at: usize) -> bool {
        let is_call = |at: usize| matches!(self.tokens.word(at), Some("system" | "exec"));
        self.language == Language::Perl
            && self.tokens.is(at, "{")
            && (at.checked_sub(1).is_some_and(is_call)
                || at > 1 && self.tokens.is(at - 1, "(") && at.checked_sub(2).is_some_and(is_call))
    }

    /// `name=` of R, `name:` of Ruby and PHP.
    pub(super) fn argument_name(&self, at: usize) -> Option<String> {
        let name = self.tokens.word(at)?;
        let named = match self.language {
            Language::R => self.tokens.is(at + 1, "="),
            Language::Ruby | Language::Php => self.tokens.is(at + 1, ":"),
            Language::Perl | Language::Lua | Language::Python | Language::JavaScript => false,
        };
        named.then(|| name.to_owned())
    }

    /// What stands in parentheses: one value, or several.
    pub(super) fn group(&mut self, at: usize, to: usize) -> ScriptValue {
        let several = self.find_mark(at, to, &[","]).is_some();
        let mut given = self.given(at, to);
        match given.positional.len() {
            1 if !several => given.positional.pop().unwrap_or(ScriptValue::Local),
            _ => ScriptValue::List(given.positional),
        }
    }

    /// The entries of an object or dictionary.
    pub(super) fn map(&mut self, at: usize, to: usize) -> ScriptValue {
        let mut entries = Vec::new();
        let mut at = at;
        while at < to && self.step() {
            if matches!(self.tokens.list.get(at), Some(Token::Line | Token::Mark("," | ";"))) {
                at += 1;
                continue;
            }
            let end = self.find_mark(at, to, &[","]).unwrap_or(to);
            let sign = self.find_mark(at, end, &[":", "=>", "="]);
            match sign {
                Some(sign) if sign > at => {
                    let key = match self.tokens.list.get(at).cloned() {
                        Some(Token::Word(word)) if sign == at + 1 => Some(word),
                        _ => self.expression(at, sign).0.exact(),
                    };
                    let (value, _) = self.expression(sign + 1, end);
                    if let Some(key) = key {
                        entries.push((key, value));
                    }
                }
                _ => {
                    let mut from = at;
                    while from < end && self.step() {
                        let (_, next) = self.expression(from, end);
                        from = next.max(from + 1);
                    }
                }
            }
            at = end.max(at + 1);
        }
        ScriptValue::Map(entries)
    }
}
