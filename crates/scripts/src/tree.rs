//! The own form of code that was read by a parser: as much of the tree as says what the code does.
//!
//! Types, annotations and positions are left out. What a language has that this form has not becomes the nearest form
//! that evaluates the same parts.

use std::sync::Arc;

/// Code as a tree.
#[derive(Debug, Default)]
pub struct SyntaxTree {
    /// The statements in order.
    pub statements: Vec<Statement>,
    /// Why the tree does not hold all of the code.
    pub problem: Option<&'static str>,
}

/// A value that is worked out.
#[derive(Debug)]
pub enum Expression {
    /// A text without anything put into it: `"a"`
    Text(String),
    /// A whole number.
    Number(i64),
    /// `True`, `false`
    Truth(bool),
    /// `None`, `null`, `undefined`
    Nothing,
    /// Parts that make one text: an f-string, a template.
    Template(Vec<Self>),
    /// A template behind a name, which is called with it.
    Tagged(Box<Self>, Box<Self>),
    /// The value of a variable: `a`
    Name(String),
    /// `object.name`
    Member(Box<Self>, String),
    /// `list[at]`
    Index(Box<Self>, Box<Self>),
    /// `list[from:to]`
    Slice(Box<Self>, Option<Box<Self>>, Option<Box<Self>>),
    /// `function(...)`
    Call(Box<Self>, Vec<Argument>),
    /// `new Class(...)`
    New(Box<Self>, Vec<Argument>),
    /// A list, tuple or set.
    List(Vec<Self>),
    /// Entries by key; without a key what is spread into it.
    Map(Vec<(Option<Self>, Self)>),
    /// A function without a place of its own: `lambda`, `=>`
    Function(Arc<Definition>),
    /// A class without a place of its own.
    Class(Arc<Class>),
    /// Parts with `+` between, from left to right.
    Sum(Vec<Self>),
    /// Two values with an operator between.
    Binary(Operator, Box<Self>, Box<Self>),
    /// The right value is worked out only when the left one asks for it.
    Joint(Joint, Box<Self>, Box<Self>),
    /// `not a`, `!a`
    Not(Box<Self>),
    /// `-a`
    Negative(Box<Self>),
    /// The test, the value when it is true, and the one when it is not: `a ? b : c`
    Choice(Box<Self>, Box<Self>, Box<Self>),
    /// Gives a place a value that is there already, or a new variable of the whole code.
    Assign(Box<BindingTarget>, How, Box<Self>),
    /// `[value for target in list if test]`
    Comprehension(Box<Self>, Vec<ComprehensionClause>),
    /// Each of its values: `*list`, `...list`.
    Spread(Box<Self>),
    /// Values one after the other; the last one counts.
    Several(Vec<Self>),
    /// Values that are worked out for something of which nothing matters.
    Within(Vec<Self>),
    /// `yield a`
    Yield(Box<Self>),
    /// Takes away an entry or a member: `del a["b"]`, `delete a.b`
    Delete(Box<Self>),
    /// What is nested too deeply to be looked at.
    Cut,
}

/// What a call is given.
#[derive(Debug)]
pub struct Argument {
    /// Its name: `name=value`
    pub name: Option<String>,
    /// What is given.
    pub value: Expression,
}

/// What two values are worked out to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `/`, which also joins paths
    Divide,
    /// `%`, which also fills in texts
    Remainder,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `==`, `===`, `is`
    Equal,
    /// `!=`, `!==`, `is not`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `in`
    In,
    /// Anything of which the value does not matter.
    Other,
}

/// When the right one of two values is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// When the left one is true.
    And,
    /// When the left one is not true, or not there.
    Or,
}

/// How a place gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
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
pub struct ComprehensionClause {
    /// What gets each value.
    pub target: BindingTarget,
    /// What it runs over.
    pub list: Expression,
    /// What all must be true for a value to count.
    pub tests: Vec<Expression>,
}

/// Where a value goes.
#[derive(Debug)]
pub enum BindingTarget {
    /// A variable.
    Name(String),
    /// `object.name`
    Member(Expression, String),
    /// `list[at]`
    Index(Expression, Expression),
    /// One target for each value: `a, b`, `[a, b]`
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
pub struct Definition {
    /// Its name; empty when it has none.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<FunctionParameter>,
    /// Its statements.
    pub body: Vec<Statement>,
    /// How it is called.
    pub sort: CallStyle,
    /// Whether the code that calls it may go on before it is through.
    pub may_wait: bool,
    /// Functions that this one is given to first: `@name`.
    pub decorators: Vec<Expression>,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStyle {
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
pub struct FunctionParameter {
    /// What gets the value.
    pub target: BindingTarget,
    /// What it gets when nothing is given.
    pub default: Option<Expression>,
    /// How much it takes.
    pub takes: Takes,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
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
pub struct Class {
    /// Its name; empty when it has none.
    pub name: String,
    /// The classes that it extends.
    pub bases: Vec<Expression>,
    /// Its statements.
    pub body: Vec<Statement>,
    /// Functions that it is given to first: `@name`.
    pub decorators: Vec<Expression>,
}

/// A statement.
#[derive(Debug)]
pub enum Statement {
    /// A value that is worked out for what doing so does.
    Expression(Expression),
    /// Gives variables of the present function their values.
    Declare(BindingTarget, Option<Expression>),
    /// A function under its name.
    Define(Arc<Definition>),
    /// A class under its name.
    Class(Arc<Class>),
    /// `import`
    Import(Import),
    /// Names that belong to the file: `global a`
    ShareWithFile(Vec<String>),
    /// Names that belong to a function around this one: `nonlocal a`
    ShareAround(Vec<String>),
    /// Names of the present function that hold nothing yet, wherever in it they are declared: `var a`
    Reserve(Vec<String>),
    /// The test, what runs when it is true, and what runs when it is not.
    If(Expression, Vec<Self>, Vec<Self>),
    /// `for`, `while`
    Loop(Box<Loop>),
    /// `try`
    Try(Box<Try>),
    /// Values with the names that they get for as long as the statements run.
    With(Vec<(Expression, Option<BindingTarget>)>, Vec<Self>),
    /// `match`, `switch`
    Match(Expression, Vec<SwitchCase>),
    /// Statements together.
    Block(Vec<Self>),
    /// Statements with names of their own: `{ let a; ... }`
    Scope(Vec<Self>),
    /// `return`
    Return(Option<Expression>),
    /// `raise`, `throw`
    Throw(Vec<Expression>),
    /// `break`, `continue`
    Leave,
    /// What is nested too deeply to be looked at.
    Cut,
}

/// A loop.
#[derive(Debug)]
pub struct Loop {
    /// What runs once before.
    pub start: Vec<Statement>,
    /// Names of which each turn has its own.
    pub fresh: Vec<String>,
    /// The target and what it runs over.
    pub over: Option<(BindingTarget, Expression)>,
    /// What must be true for each turn.
    pub test: Option<Expression>,
    /// What runs in each turn.
    pub body: Vec<Statement>,
    /// What runs after each turn.
    pub step: Option<Expression>,
    /// What runs when the loop is at its end.
    pub otherwise: Vec<Statement>,
}

/// Statements with what is done when they fail.
#[derive(Debug)]
pub struct Try {
    /// What is tried.
    pub body: Vec<Statement>,
    /// What runs after a failure, with the name that it gets.
    pub handlers: Vec<(Option<BindingTarget>, Vec<Statement>)>,
    /// What runs when nothing failed.
    pub otherwise: Vec<Statement>,
    /// What runs in any case.
    pub last: Vec<Statement>,
}

/// One case of several.
#[derive(Debug)]
pub struct SwitchCase {
    /// Values that are worked out to decide; empty when the case always fits.
    pub tests: Vec<Expression>,
    /// Names that get a part of the subject.
    pub targets: Vec<BindingTarget>,
    /// What runs when the case fits.
    pub body: Vec<Statement>,
}

/// What is imported.
#[derive(Debug)]
pub enum Import {
    /// `import a.b`, `import a.b as own`, `import * as own from "a"`
    Module {
        /// The module.
        module: String,
        /// The name that it gets here.
        own: Option<String>,
    },
    /// `from module import name as own`, `import {name as own} from "module"`
    Parts {
        /// The module.
        module: String,
        /// How many directories up the module is looked for, and one more; none when it stands for itself.
        level: u32,
        /// Names in the module with their own names.
        parts: Vec<(String, String)>,
    },
    /// `from module import *`
    All {
        /// The module.
        module: String,
        /// As with parts.
        level: u32,
    },
}
