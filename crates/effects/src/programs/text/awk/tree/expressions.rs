//! Expressions of a program, from those that bind least to single words.

use super::{Around, DEPTH, Expression, LineSource, Parser};
use crate::programs::text::awk::tokens::Token;

impl Parser<'_> {
    pub(super) fn expression_without_colon(&mut self) -> Expression {
        self.concatenation()
    }

    pub(super) fn expression(&mut self, around: Around) -> Expression {
        if self.depth >= DEPTH {
            self.place += 1;
            return Expression::Figure(Vec::new());
        }
        self.depth += 1;
        let expression = self.assignment(around);
        self.depth -= 1;
        expression
    }

    fn assignment(&mut self, around: Around) -> Expression {
        let left = self.choice(around);
        let signs = &["=", "+=", "-=", "*=", "/=", "%=", "^=", "**="];
        let is_place = matches!(left, Expression::Name(_) | Expression::Field(_) | Expression::Item(_, _));
        if is_place && let Some(sign) = self.take_one_of(signs) {
            self.skip_ends();
            let value = self.expression(around);
            return Expression::Assign(Box::new(left), sign, Box::new(value));
        }
        left
    }

    fn choice(&mut self, around: Around) -> Expression {
        let test = self.truth(around);
        if !self.take_sign("?") {
            return test;
        }
        self.skip_ends();
        let then = self.expression(around);
        self.skip_ends();
        self.take_sign(":");
        self.skip_ends();
        let otherwise = self.expression(around);
        Expression::Choice(Box::new([test, then, otherwise]))
    }

    /// `||`, `&&`, `in`, `~` and comparisons: what they make is a truth, whatever they bind.
    fn truth(&mut self, around: Around) -> Expression {
        let first = self.piped();
        let mut parts = vec![first];
        loop {
            if self.take_one_of(&["||", "&&", "~", "!~", "<", "<=", "!=", "==", ">="]).is_some() {
                self.skip_ends();
            } else if self.is_sign(">") && around == Around::Anything {
                self.place += 1;
            } else if !self.take_word("in") {
                break;
            }
            let before = self.place;
            let right = self.piped();
            // `a ~ b = c` gives the last one a value.
            let right = match right {
                place @ (Expression::Name(_) | Expression::Item(_, _) | Expression::Field(_))
                    if self.is_sign("=") =>
                {
                    self.place += 1;
                    let value = self.expression(around);
                    Expression::Assign(Box::new(place), "=", Box::new(value))
                }
                other => other,
            };
            parts.push(right);
            if self.place == before {
                break;
            }
        }
        alone_or(Expression::Figure, parts)
    }

    /// `command | getline x`
    fn piped(&mut self) -> Expression {
        let mut left = self.concatenation();
        while matches!(self.peek(), Some(Token::Sign("|" | "|&")))
            && matches!(self.at(1), Some(Token::Word(word)) if word == "getline")
        {
            self.place += 2;
            let into = self.line_target();
            left = Expression::ReadLine(into, LineSource::Command(Box::new(left)));
        }
        left
    }

    pub(super) fn concatenation(&mut self) -> Expression {
        let mut parts = vec![self.sum()];
        while self.begins_value() {
            let before = self.place;
            parts.push(self.sum());
            if self.place == before {
                break;
            }
        }
        alone_or(Expression::Concat, parts)
    }

    /// Whether a value begins here that is put behind the one before.
    fn begins_value(&self) -> bool {
        match self.peek() {
            Some(Token::Text(_) | Token::Number(_) | Token::Pattern(_)) => true,
            Some(Token::Word(word)) => !matches!(
                word.as_str(),
                "in" | "getline" | "else" | "while" | "if" | "for" | "print" | "printf"
            ),
            Some(Token::Sign(sign)) => matches!(*sign, "$" | "(" | "!" | "-" | "+" | "++" | "--" | "@"),
            Some(Token::End) | None => false,
        }
    }

    fn sum(&mut self) -> Expression {
        let first = self.factor();
        let mut parts = vec![first];
        while self.take_one_of(&["+", "-", "*", "/", "%", "^", "**"]).is_some() {
            parts.push(self.factor());
        }
        alone_or(Expression::Figure, parts)
    }

    fn factor(&mut self) -> Expression {
        if self.depth >= DEPTH {
            self.place += 1;
            return Expression::Figure(Vec::new());
        }
        if let Some(sign) = self.take_one_of(&["!", "-", "+", "++", "--"]) {
            self.depth += 1;
            let inner = self.factor();
            self.depth -= 1;
            return if matches!(sign, "++" | "--") {
                counted(inner, sign)
            } else {
                Expression::Figure(vec![inner])
            };
        }
        let value = self.primary();
        match self.take_one_of(&["++", "--"]) {
            Some(sign) => counted(value, sign),
            None => value,
        }
    }

    fn primary(&mut self) -> Expression {
        let Some(token) = self.peek().cloned() else { return Expression::Figure(Vec::new()) };
        match token {
            Token::Text(text) | Token::Number(text) => {
                self.place += 1;
                Expression::Text(text)
            }
            Token::Pattern(text) => {
                self.place += 1;
                Expression::Pattern(text)
            }
            Token::Sign("$") => {
                self.place += 1;
                self.depth += 1;
                let which =
                    if self.depth < DEPTH { self.factor_of_field() } else { Expression::Figure(Vec::new()) };
                self.depth -= 1;
                Expression::Field(Box::new(which))
            }
            Token::Sign("(") => {
                let parts = self.in_parentheses();
                alone_or(Expression::Figure, parts)
            }
            Token::Sign("@") => {
                self.place += 1;
                match self.name() {
                    Some(name) => Expression::CallNamed(name, self.in_parentheses()),
                    None => Expression::Figure(Vec::new()),
                }
            }
            Token::Word(word) if word == "getline" => {
                self.place += 1;
                let into = self.line_target();
                let source = if self.take_sign("<") {
                    LineSource::File(Box::new(self.concatenation()))
                } else {
                    LineSource::Input
                };
                Expression::ReadLine(into, source)
            }
            Token::Word(word) => {
                self.place += 1;
                if self.is_sign("(") {
                    return Expression::Call(word, self.in_parentheses());
                }
                if self.take_sign("[") {
                    let mut subscripts = Vec::new();
                    while self.peek().is_some() && !self.take_sign("]") {
                        let before = self.place;
                        subscripts.push(self.expression(Around::Anything));
                        self.take_sign(",");
                        if self.place == before {
                            self.place += 1;
                        }
                    }
                    return Expression::Item(word, subscripts);
                }
                Expression::Name(word)
            }
            Token::Sign(_) | Token::End => Expression::Figure(Vec::new()),
        }
    }

    /// What stands behind `$`: it binds closer than anything but `++`.
    fn factor_of_field(&mut self) -> Expression {
        if let Some(sign) = self.take_one_of(&["++", "--", "-", "+", "!"]) {
            let inner = self.primary();
            return if matches!(sign, "++" | "--") {
                counted(inner, sign)
            } else {
                Expression::Figure(vec![inner])
            };
        }
        self.primary()
    }

    /// The variable behind `getline`.
    fn line_target(&mut self) -> Option<Box<Expression>> {
        match self.peek() {
            Some(Token::Word(word))
                if !matches!(word.as_str(), "in" | "while" | "if" | "print" | "printf") =>
            {
                Some(Box::new(self.primary()))
            }
            Some(Token::Sign("$")) => Some(Box::new(self.primary())),
            _ => None,
        }
    }
}

/// `x++`, `--x`: the variable has another value from then on.
fn counted(variable: Expression, sign: &'static str) -> Expression {
    Expression::Assign(Box::new(variable), sign, Box::new(Expression::Figure(Vec::new())))
}

/// The only part by itself, and several put together.
fn alone_or(put_together: fn(Vec<Expression>) -> Expression, mut parts: Vec<Expression>) -> Expression {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            put_together(parts)
        }
    }
}
