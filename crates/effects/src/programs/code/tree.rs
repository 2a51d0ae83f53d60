//! The own form of code that was read by a parser: as much of the tree as says what the code does.
//!
//! Types, annotations and positions are left out. What a language has that this form has not becomes the nearest form
//! that evaluates the same parts.

use std::sync::Arc;

/// Code as a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) statements: Vec<Statement>,
    /// Why the tree does not hold all of the code.
    pub(super) problem: Option<&'static str>,
}

/// A value that is worked out.
#[derive(Debug)]
pub(super) enum Expression {
    Text(String),
    Number(i64),
    Truth(bool),
    /// `None`, `null`, `undefined`
    Nothing,
    /// Parts that make one text: an f-string, a template.
    Template(Vec<Self>),
    /// A template behind a name, which is called with it.
    Tagged(Box<Self>, Box<Self>),
    Name(String),
    Member(Box<Self>, String),
    Index(Box<Self>, Box<Self>),
    /// `list[from:to]`
    Slice(Box<Self>, Option<Box<Self>>, Option<Box<Self>>),
    Call(Box<Self>, Vec<Argument>),
    /// `new Class(...)`
    New(Box<Self>, Vec<Argument>),
    /// A list, tuple or set.
    List(Vec<Self>),
    /// Entries by key; without a key what is spread into it.
    Map(Vec<(Option<Self>, Self)>),
    Function(Arc<Definition>),
    Class(Arc<Class>),
    /// Parts with `+` between, from left to right.
    Sum(Vec<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
    /// The right value is worked out only when the left one asks for it.
    Joint(Joint, Box<Self>, Box<Self>),
    Not(Box<Self>),
    Negative(Box<Self>),
    Choice(Box<Self>, Box<Self>, Box<Self>),
    /// Gives a place a value that is there already, or a new variable of the whole code.
    Assign(Box<Target>, How, Box<Self>),
    Comprehension(Box<Self>, Vec<Clause>),
    /// Each of its values: `*list`, `...list`.
    Spread(Box<Self>),
    /// Values one after the other; the last one counts.
    Several(Vec<Self>),
    /// Values that are worked out for something of which nothing matters.
    Within(Vec<Self>),
    Yield(Box<Self>),
    /// What is nested too deeply to be looked at.
    Cut,
}

/// What a call is given.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: Option<String>,
    pub(super) value: Expression,
}

/// What two values are worked out to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `/`, which also joins paths
    Divide,
    /// `%`, which also fills in texts
    Remainder,
    Subtract,
    Multiply,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    /// Anything of which the value does not matter.
    Other,
}

/// When the right one of two values is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// When the left one is true.
    And,
    /// When the left one is not true, or not there.
    Or,
}

/// How a place gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// The value as it is.
    Plain,
    /// The value behind what is there.
    Add,
    /// The value when there is none.
    Perhaps,
    /// Some value made from both, of which nothing is known.
    Other,
}

/// `for target in list if test`
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) target: Target,
    pub(super) list: Expression,
    pub(super) tests: Vec<Expression>,
}

/// Where a value goes.
#[derive(Debug)]
pub(super) enum Target {
    Name(String),
    Member(Expression, String),
    Index(Expression, Expression),
    List(Vec<Self>),
    /// What is left of a list or map.
    Rest(Box<Self>),
    /// Values by their key.
    Map(Vec<(Option<String>, Self)>),
    /// A target with what it gets when there is no value.
    Default(Box<Self>, Box<Expression>),
    /// Nowhere.
    Nowhere,
}

/// A function.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Vec<Statement>,
    pub(super) sort: Sort,
    /// Functions that this one is given to first: `@name`.
    pub(super) decorators: Vec<Expression>,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// With what stands between the brackets, and with its object when it is a method.
    Plain,
    /// Without an object, though it stands in a class.
    Static,
    /// With its class.
    OfClass,
    /// By its name alone.
    Property,
}

/// A parameter of a function.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) target: Target,
    pub(super) default: Option<Expression>,
    pub(super) takes: Takes,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// One value, by place or name.
    One,
    /// One value by its name.
    Named,
    /// All that are left.
    Rest,
    /// All that are left and have names.
    RestNamed,
}

/// A class.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) bases: Vec<Expression>,
    pub(super) body: Vec<Statement>,
    pub(super) decorators: Vec<Expression>,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Statement {
    Expression(Expression),
    /// Gives variables of the present function their values.
    Declare(Target, Option<Expression>),
    Define(Arc<Definition>),
    Class(Arc<Class>),
    Import(Import),
    /// Names that belong to the code around the function.
    Share(Vec<String>),
    If(Expression, Vec<Self>, Vec<Self>),
    Loop(Box<Loop>),
    Try(Box<Try>),
    With(Vec<(Expression, Option<Target>)>, Vec<Self>),
    Match(Expression, Vec<Case>),
    Block(Vec<Self>),
    Return(Option<Expression>),
    Throw(Vec<Expression>),
    /// `break`, `continue`
    Leave,
    /// What is nested too deeply to be looked at.
    Cut,
}

/// A loop.
#[derive(Debug)]
pub(super) struct Loop {
    /// What runs once before.
    pub(super) start: Vec<Statement>,
    /// The target and what it runs over.
    pub(super) over: Option<(Target, Expression)>,
    pub(super) test: Option<Expression>,
    pub(super) body: Vec<Statement>,
    /// What runs after each turn.
    pub(super) step: Option<Expression>,
    /// What runs when the loop is at its end.
    pub(super) otherwise: Vec<Statement>,
}

/// Statements with what is done when they fail.
#[derive(Debug)]
pub(super) struct Try {
    pub(super) body: Vec<Statement>,
    pub(super) handlers: Vec<(Option<Target>, Vec<Statement>)>,
    pub(super) otherwise: Vec<Statement>,
    pub(super) last: Vec<Statement>,
}

/// One case of several.
#[derive(Debug)]
pub(super) struct Case {
    /// Values that are worked out to decide; empty when the case always fits.
    pub(super) tests: Vec<Expression>,
    /// Names that get a part of the subject.
    pub(super) targets: Vec<Target>,
    pub(super) body: Vec<Statement>,
}

/// What is imported.
#[derive(Debug)]
pub(super) enum Import {
    /// `import a.b`, `import a.b as own`, `import * as own from "a"`
    Module { module: String, own: Option<String> },
    /// `from module import name as own`, `import {name as own} from "module"`
    Parts {
        module: String,
        /// How many directories up the module is looked for, and one more; none when it stands for itself.
        level: u32,
        /// Names in the module with their own names.
        parts: Vec<(String, String)>,
    },
    /// `from module import *`
    All { module: String, level: u32 },
}
