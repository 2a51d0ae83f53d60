//! Programs of `awk` as trees (POSIX awk, "Grammar"; gawk 5.3, "Expressions", "Getline", "Redirection", "Indirect Calls").
//!
//! Total: what is no program is read as far as it goes.

mod expressions;

use super::tokens::Token;

/// How deep expressions and statements are followed inside each other (ours).
const DEPTH: usize = 32;

/// A value that is worked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    Text(String),
    /// A regular expression.
    Pattern(String),
    Name(String),
    /// `$1`
    Field(Box<Expression>),
    /// `a[1]`
    Item(String, Vec<Expression>),
    Call(String, Vec<Expression>),
    /// `@name(...)`: the function that the variable names.
    CallNamed(String, Vec<Expression>),
    /// To what, how (`=`, `+=`), and the value.
    Assign(Box<Expression>, &'static str, Box<Expression>),
    /// One behind the other.
    Concat(Vec<Expression>),
    Choice(Box<[Expression; 3]>),
    /// `getline x < "file"`
    ReadLine(Option<Box<Expression>>, LineSource),
    /// A number or truth made of these.
    Figure(Vec<Expression>),
}

/// Where `getline` has its line from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineSource {
    Input,
    File(Box<Expression>),
    Command(Box<Expression>),
}

/// Where `print` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Redirection {
    File(Expression),
    Command(Expression),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    Expression(Expression),
    Print {
        format: bool,
        values: Vec<Expression>,
        to: Option<Redirection>,
    },
    Block(Vec<Statement>),
    /// The conditions, and the ways of which one is gone.
    Branch(Vec<Expression>, Vec<Statement>),
    /// What is worked out around the turns, and what happens in each.
    Loop(Vec<Expression>, Box<Statement>),
    /// `for (name in array)`
    Each(String, String, Box<Statement>),
    Return(Option<Expression>),
}

/// A function of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) body: Statement,
}

/// A whole program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    /// What happens once before the input.
    pub(super) start: Vec<Statement>,
    /// What happens for each line, and at the end.
    pub(super) rules: Vec<Statement>,
    pub(super) functions: Vec<Function>,
    /// Files that are part of it: `@include "name"`.
    pub(super) included: Vec<String>,
    /// Whether a library is loaded that may do anything: `@load "name"`.
    pub(super) loads: bool,
}

/// Whether `>` and `|` compare and read, or say where a statement prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Printing,
    Anything,
}

struct Parser<'t> {
    tokens: &'t [Token],
    place: usize,
    depth: usize,
}

/// Reads a program.
pub(super) fn read(tokens: &[Token]) -> Program {
    let mut parser = Parser { tokens, place: 0, depth: 0 };
    let mut program = Program::default();
    while parser.peek().is_some() {
        let before = parser.place;
        parser.item(&mut program);
        if parser.place == before {
            parser.place += 1;
        }
    }
    program
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.place)
    }

    fn at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.place + ahead)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(here)) if *here == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(here)) if here == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.place += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.place += usize::from(found);
        found
    }

    /// The sign here, when it is one of these.
    fn take_one_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Sign(here)) = self.peek() else { return None };
        let found = signs.iter().find(|sign| *sign == here).copied();
        self.place += usize::from(found.is_some());
        found
    }

    fn skip_ends(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.place += 1;
        }
    }

    fn item(&mut self, program: &mut Program) {
        self.skip_ends();
        if self.take_sign("@") {
            let word = self.name();
            let name = match self.peek() {
                Some(Token::Text(name)) => Some(name.clone()),
                _ => None,
            };
            match word.as_deref() {
                Some("include") => program.included.extend(name),
                Some("load") => program.loads = true,
                _ => {}
            }
            self.place += 1;
            return;
        }
        if self.take_word("function") || self.take_word("func") {
            let Some(name) = self.name() else { return };
            let mut parameters = Vec::new();
            if self.take_sign("(") {
                while let Some(token) = self.peek() {
                    match token {
                        Token::Word(word) => parameters.push(word.clone()),
                        Token::Sign(")" | "{") => break,
                        _ => {}
                    }
                    self.place += 1;
                }
                self.take_sign(")");
            }
            self.skip_ends();
            let body = self.block();
            program.functions.push(Function { name, parameters, body });
            return;
        }
        if self.take_word("BEGIN") || self.take_word("BEGINFILE") {
            let body = self.block();
            program.start.push(body);
            return;
        }
        let mut tests = Vec::new();
        if !self.take_word("END") && !self.take_word("ENDFILE") {
            while self.peek().is_some() && !self.is_sign("{") && self.peek() != Some(&Token::End) {
                let before = self.place;
                tests.push(self.expression(Around::Anything));
                if !self.take_sign(",") && self.place == before {
                    self.place += 1;
                }
            }
        }
        let body = if self.is_sign("{") { self.block() } else { Statement::Block(Vec::new()) };
        program.rules.push(Statement::Branch(tests, vec![body]));
    }

    fn name(&mut self) -> Option<String> {
        let Some(Token::Word(name)) = self.peek() else { return None };
        let name = name.clone();
        self.place += 1;
        Some(name)
    }

    fn block(&mut self) -> Statement {
        if !self.take_sign("{") {
            return Statement::Block(Vec::new());
        }
        let mut statements = Vec::new();
        loop {
            self.skip_ends();
            if self.peek().is_none() || self.take_sign("}") {
                break;
            }
            let before = self.place;
            statements.push(self.statement());
            if self.place == before {
                self.place += 1;
            }
        }
        Statement::Block(statements)
    }

    fn statement(&mut self) -> Statement {
        if self.depth >= DEPTH {
            return Statement::Block(Vec::new());
        }
        self.depth += 1;
        let statement = self.statement_inside();
        self.depth -= 1;
        statement
    }

    fn statement_inside(&mut self) -> Statement {
        self.skip_ends();
        if self.is_sign("{") {
            return self.block();
        }
        if self.take_word("if") {
            let test = self.in_parentheses();
            let mut ways = vec![self.statement()];
            let before = self.place;
            self.skip_ends();
            if self.take_word("else") {
                ways.push(self.statement());
            } else {
                self.place = before;
            }
            return Statement::Branch(test, ways);
        }
        if self.take_word("while") {
            let test = self.in_parentheses();
            return Statement::Loop(test, Box::new(self.statement()));
        }
        if self.take_word("do") {
            let body = self.statement();
            self.skip_ends();
            let test = if self.take_word("while") { self.in_parentheses() } else { Vec::new() };
            return Statement::Loop(test, Box::new(body));
        }
        if self.take_word("for") {
            if let (
                Some(Token::Sign("(")),
                Some(Token::Word(name)),
                Some(Token::Word(word)),
                Some(Token::Word(array)),
                Some(Token::Sign(")")),
            ) = (self.at(0), self.at(1), self.at(2), self.at(3), self.at(4))
                && word == "in"
            {
                let (name, array) = (name.clone(), array.clone());
                self.place += 5;
                return Statement::Each(name, array, Box::new(self.statement()));
            }
            let parts = self.in_parentheses();
            return Statement::Loop(parts, Box::new(self.statement()));
        }
        if self.take_word("switch") {
            let test = self.in_parentheses();
            self.skip_ends();
            return Statement::Branch(test, vec![self.block()]);
        }
        if self.take_word("case") {
            let test = self.expression_without_colon();
            self.take_sign(":");
            return Statement::Expression(test);
        }
        if self.take_word("default") {
            self.take_sign(":");
            return Statement::Block(Vec::new());
        }
        if self.take_word("return") {
            let value = (!self.is_over()).then(|| self.expression(Around::Anything));
            return Statement::Return(value);
        }
        if self.is_word("print") || self.is_word("printf") {
            let format = self.is_word("printf");
            self.place += 1;
            return self.printing(format);
        }
        for word in ["next", "nextfile", "break", "continue"] {
            if self.take_word(word) {
                return Statement::Block(Vec::new());
            }
        }
        if self.take_word("exit") || self.take_word("delete") {
            if self.is_over() {
                return Statement::Block(Vec::new());
            }
            return Statement::Expression(Expression::Figure(vec![self.expression(Around::Anything)]));
        }
        Statement::Expression(self.expression(Around::Anything))
    }

    fn is_over(&self) -> bool {
        matches!(self.peek(), None | Some(Token::End | Token::Sign("}")))
    }

    /// What stands between parentheses, divided by whatever.
    fn in_parentheses(&mut self) -> Vec<Expression> {
        let mut parts = Vec::new();
        if !self.take_sign("(") {
            return parts;
        }
        while self.peek().is_some() && !self.take_sign(")") {
            let before = self.place;
            self.skip_ends();
            if self.take_sign(")") {
                break;
            }
            parts.push(self.expression(Around::Anything));
            self.take_sign(",");
            if self.place == before {
                self.place += 1;
            }
        }
        parts
    }

    fn printing(&mut self, format: bool) -> Statement {
        let mut values = Vec::new();
        // `print (a, b) > c`: the parentheses hold the values; `print (a) b` begins with one.
        if self.is_sign("(") && self.closes_before_target() {
            values = self.in_parentheses();
        } else {
            while !self.is_over() && !self.is_target() {
                let before = self.place;
                values.push(self.expression(Around::Printing));
                self.take_sign(",");
                self.skip_after_comma();
                if self.place == before {
                    break;
                }
            }
        }
        let to = match self.take_one_of(&[">", ">>", "|", "|&"]) {
            Some(">" | ">>") => Some(Redirection::File(self.concatenation())),
            Some(_) => Some(Redirection::Command(self.concatenation())),
            None => None,
        };
        Statement::Print { format, values, to }
    }

    fn skip_after_comma(&mut self) {
        let after_comma = self.place.checked_sub(1).and_then(|before| self.tokens.get(before));
        if after_comma == Some(&Token::Sign(",")) {
            self.skip_ends();
        }
    }

    fn is_target(&self) -> bool {
        matches!(self.peek(), Some(Token::Sign(">" | ">>" | "|" | "|&")))
    }

    /// Whether the parentheses that open here hold everything that is printed.
    fn closes_before_target(&self) -> bool {
        let mut depth = 0_usize;
        for (ahead, token) in self.tokens.get(self.place..).unwrap_or_default().iter().enumerate() {
            match token {
                Token::Sign("(" | "[" | "{") => depth += 1,
                Token::Sign(")" | "]" | "}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return matches!(
                            self.at(ahead + 1),
                            None | Some(Token::End | Token::Sign(">" | ">>" | "|" | "|&" | "}"))
                        );
                    }
                }
                Token::Sign(_)
                | Token::Word(_)
                | Token::Number(_)
                | Token::Text(_)
                | Token::Pattern(_)
                | Token::End => {}
            }
        }
        false
    }
}
