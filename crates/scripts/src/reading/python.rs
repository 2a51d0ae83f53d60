//! Python, read by the parser of Ruff.

use std::sync::Arc;

use ruff_python_ast::{
    Arguments, CmpOp, Comprehension, ExceptHandler, Expr, InterpolatedStringElement, Number,
    Operator as PythonOperator, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef, StmtImport,
    StmtImportFrom, UnaryOp,
};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::Nesting;
use crate::tree::{
    Argument, BindingTarget, CallStyle, Class, ComprehensionClause, Definition, Expression,
    FunctionParameter, How, Import, Joint, Loop, Operator, Statement, SwitchCase, SyntaxTree, Takes, Try,
};

/// The tree of Python code, with what could be read when not all could.
pub(super) fn read(text: &str) -> SyntaxTree {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let problem = (!parsed.errors().is_empty()).then_some("cannot be read as a whole");
    let mut reader = Reader::default();
    let statements = match parsed.syntax() {
        ruff_python_ast::Mod::Module(module) => reader.statements(&module.body),
        ruff_python_ast::Mod::Expression(expression) => {
            vec![Statement::Expression(reader.expression(&expression.body))]
        }
    };
    SyntaxTree { statements, problem: reader.nesting.problem(problem) }
}

#[derive(Default)]
struct Reader {
    nesting: Nesting,
}

impl Reader {
    fn statements(&mut self, statements: &[Stmt]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Stmt) -> Option<Statement> {
        if !self.nesting.enter() {
            return Some(Statement::Cut);
        }
        let read = self.statement_here(statement);
        self.nesting.leave();
        read
    }

    fn statement_here(&mut self, statement: &Stmt) -> Option<Statement> {
        Some(match statement {
            Stmt::FunctionDef(function) => Statement::Define(Arc::new(self.function(function))),
            Stmt::ClassDef(class) => Statement::Class(Arc::new(self.class(class))),
            Stmt::Return(returned) => {
                Statement::Return(returned.value.as_deref().map(|value| self.expression(value)))
            }
            Stmt::Delete(deleted) => {
                let targets = self.expressions(&deleted.targets);
                let taken = targets.into_iter().map(|target| Expression::Delete(Box::new(target)));
                Statement::Expression(Expression::Within(taken.collect()))
            }
            Stmt::TypeAlias(_) | Stmt::Pass(_) => return None,
            Stmt::Assign(assigned) => match assigned.targets.as_slice() {
                [only] => Statement::Declare(self.target(only), Some(self.expression(&assigned.value))),
                several => {
                    // `a = b = value`: the value goes to the last one, and from there on.
                    let mut value = self.expression(&assigned.value);
                    let mut targets: Vec<BindingTarget> =
                        several.iter().map(|target| self.target(target)).collect();
                    let first = if targets.is_empty() { BindingTarget::Nowhere } else { targets.remove(0) };
                    for target in targets.into_iter().rev() {
                        value = Expression::Assign(Box::new(target), How::Plain, Box::new(value));
                    }
                    Statement::Declare(first, Some(value))
                }
            },
            Stmt::AugAssign(assigned) => {
                let target = self.target(&assigned.target);
                let value = self.boxed(&assigned.value);
                let (how, value) = match assigned.op {
                    PythonOperator::Add => (How::Add, value),
                    other => {
                        let before = self.boxed(&assigned.target);
                        (How::Plain, Box::new(Expression::Binary(operator(other), before, value)))
                    }
                };
                Statement::Expression(Expression::Assign(Box::new(target), how, value))
            }
            Stmt::AnnAssign(assigned) => {
                let mut value = assigned.value.as_deref().map(|value| self.expression(value));
                if calls(&assigned.annotation) {
                    let annotation = Expression::Within(vec![self.expression(&assigned.annotation)]);
                    value = Some(Expression::Several(vec![annotation, value.unwrap_or(Expression::Nothing)]));
                }
                Statement::Declare(self.target(&assigned.target), value)
            }
            Stmt::For(each) => Statement::Loop(Box::new(Loop {
                start: Vec::new(),
                fresh: Vec::new(),
                over: Some((self.target(&each.target), self.expression(&each.iter))),
                test: None,
                body: self.statements(&each.body),
                step: None,
                otherwise: self.statements(&each.orelse),
            })),
            Stmt::While(each) => Statement::Loop(Box::new(Loop {
                start: Vec::new(),
                fresh: Vec::new(),
                over: None,
                test: Some(self.expression(&each.test)),
                body: self.statements(&each.body),
                step: None,
                otherwise: self.statements(&each.orelse),
            })),
            Stmt::If(branch) => {
                let test = self.expression(&branch.test);
                let body = self.statements(&branch.body);
                // From the last clause to the first: each is the other way of the one before.
                let mut otherwise = Vec::new();
                for clause in branch.elif_else_clauses.iter().rev() {
                    let body = self.statements(&clause.body);
                    otherwise = match &clause.test {
                        Some(test) => vec![Statement::If(self.expression(test), body, otherwise)],
                        None => body,
                    };
                }
                Statement::If(test, body, otherwise)
            }
            Stmt::With(with) => {
                let items = with
                    .items
                    .iter()
                    .map(|item| {
                        let value = self.expression(&item.context_expr);
                        (value, item.optional_vars.as_deref().map(|target| self.target(target)))
                    })
                    .collect();
                Statement::With(items, self.statements(&with.body))
            }
            Stmt::Match(several) => {
                let subject = self.expression(&several.subject);
                let cases = several
                    .cases
                    .iter()
                    .map(|case| {
                        let (mut tests, mut targets) = (Vec::new(), Vec::new());
                        self.pattern(&case.pattern, &mut tests, &mut targets);
                        if let Some(guard) = &case.guard {
                            tests.push(self.expression(guard));
                        }
                        SwitchCase { tests, targets, body: self.statements(&case.body) }
                    })
                    .collect();
                Statement::Match(subject, cases)
            }
            Stmt::Raise(raised) => {
                let values = [raised.exc.as_deref(), raised.cause.as_deref()];
                Statement::Throw(values.into_iter().flatten().map(|value| self.expression(value)).collect())
            }
            Stmt::Try(tried) => {
                let body = self.statements(&tried.body);
                let handlers = tried
                    .handlers
                    .iter()
                    .map(|ExceptHandler::ExceptHandler(handler)| {
                        let target =
                            handler.name.as_ref().map(|name| BindingTarget::Name(name.as_str().to_owned()));
                        let mut body = self.statements(&handler.body);
                        if let Some(kind) = handler.type_.as_deref().filter(|kind| calls(kind)) {
                            body.insert(0, Statement::Expression(self.expression(kind)));
                        }
                        (target, body)
                    })
                    .collect();
                Statement::Try(Box::new(Try {
                    body,
                    handlers,
                    otherwise: self.statements(&tried.orelse),
                    last: self.statements(&tried.finalbody),
                }))
            }
            Stmt::Assert(asserted) => {
                let mut values = vec![self.expression(&asserted.test)];
                values.extend(asserted.msg.as_deref().map(|message| self.expression(message)));
                Statement::Expression(Expression::Within(values))
            }
            Stmt::Import(import) => Statement::Block(Self::import(import)),
            Stmt::ImportFrom(import) => Statement::Import(Self::import_from(import)),
            Stmt::Global(shared) => {
                Statement::ShareWithFile(shared.names.iter().map(|name| name.as_str().to_owned()).collect())
            }
            Stmt::Nonlocal(shared) => {
                Statement::ShareAround(shared.names.iter().map(|name| name.as_str().to_owned()).collect())
            }
            Stmt::Expr(expression) => Statement::Expression(self.expression(&expression.value)),
            Stmt::Break(_) | Stmt::Continue(_) => Statement::Leave,
            Stmt::IpyEscapeCommand(_) => Statement::Cut,
        })
    }

    fn import(import: &StmtImport) -> Vec<Statement> {
        let modules = import.names.iter().map(|alias| {
            Statement::Import(Import::Module {
                module: alias.name.as_str().to_owned(),
                own: alias.asname.as_ref().map(|name| name.as_str().to_owned()),
            })
        });
        modules.collect()
    }

    fn import_from(import: &StmtImportFrom) -> Import {
        let module = import.module.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default();
        if import.names.iter().any(|alias| alias.name.as_str() == "*") {
            return Import::All { module, level: import.level };
        }
        let parts = import.names.iter().map(|alias| {
            let own = alias.asname.as_ref().unwrap_or(&alias.name);
            (alias.name.as_str().to_owned(), own.as_str().to_owned())
        });
        Import::Parts { module, level: import.level, parts: parts.collect() }
    }

    fn function(&mut self, function: &StmtFunctionDef) -> Definition {
        let mut decorators: Vec<Expression> =
            function.decorator_list.iter().map(|decorator| self.expression(&decorator.expression)).collect();
        let sort = decorators
            .iter()
            .find_map(|decorator| match decorator {
                Expression::Name(name) => match name.as_str() {
                    "staticmethod" => Some(CallStyle::Static),
                    "classmethod" => Some(CallStyle::OfClass),
                    "property" | "cached_property" => Some(CallStyle::Property),
                    _ => None,
                },
                _ => None,
            })
            .unwrap_or(CallStyle::Plain);
        // Annotations are worked out where the function is defined, as decorators are.
        let parameters = function.parameters.iter().filter_map(ruff_python_ast::AnyParameterRef::annotation);
        for annotation in parameters.chain(function.returns.as_deref()).filter(|one| calls(one)) {
            decorators.push(Expression::Within(vec![self.expression(annotation)]));
        }
        Definition {
            name: function.name.as_str().to_owned(),
            parameters: self.parameters(&function.parameters),
            body: self.statements(&function.body),
            sort,
            may_wait: false,
            decorators,
        }
    }

    fn class(&mut self, class: &StmtClassDef) -> Class {
        let bases = class.arguments.as_deref().map(|arguments| self.expressions(&arguments.args));
        let keywords = class.arguments.iter().flat_map(|arguments| arguments.keywords.iter());
        let keywords: Vec<Expression> = keywords.map(|keyword| self.expression(&keyword.value)).collect();
        Class {
            name: class.name.as_str().to_owned(),
            bases: bases.unwrap_or_default(),
            body: self.statements(&class.body),
            decorators: class
                .decorator_list
                .iter()
                .map(|decorator| self.expression(&decorator.expression))
                .chain(keywords)
                .collect(),
        }
    }

    fn parameters(&mut self, parameters: &Parameters) -> Vec<FunctionParameter> {
        let mut all = Vec::new();
        let plain = parameters.posonlyargs.iter().chain(&parameters.args).map(|one| (one, Takes::One));
        let rest = |name: &str, takes| FunctionParameter {
            target: BindingTarget::Name(name.to_owned()),
            default: None,
            takes,
        };
        for (one, takes) in plain {
            all.push(FunctionParameter {
                target: BindingTarget::Name(one.parameter.name.as_str().to_owned()),
                default: one.default.as_deref().map(|value| self.expression(value)),
                takes,
            });
        }
        if let Some(one) = &parameters.vararg {
            all.push(rest(one.name.as_str(), Takes::Rest));
        }
        for one in &parameters.kwonlyargs {
            all.push(FunctionParameter {
                target: BindingTarget::Name(one.parameter.name.as_str().to_owned()),
                default: one.default.as_deref().map(|value| self.expression(value)),
                takes: Takes::Named,
            });
        }
        if let Some(one) = &parameters.kwarg {
            all.push(rest(one.name.as_str(), Takes::RestNamed));
        }
        all
    }

    fn expressions(&mut self, expressions: &[Expr]) -> Vec<Expression> {
        expressions.iter().map(|expression| self.expression(expression)).collect()
    }

    fn boxed(&mut self, expression: &Expr) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    fn expression(&mut self, expression: &Expr) -> Expression {
        if !self.nesting.enter() {
            return Expression::Cut;
        }
        let read = self.expression_here(expression);
        self.nesting.leave();
        read
    }

    fn expression_here(&mut self, expression: &Expr) -> Expression {
        match expression {
            Expr::BoolOp(several) => {
                let joint = match several.op {
                    ruff_python_ast::BoolOp::And => Joint::And,
                    ruff_python_ast::BoolOp::Or => Joint::Or,
                };
                let mut values = self.expressions(&several.values).into_iter().rev();
                let last = values.next().unwrap_or(Expression::Nothing);
                values.fold(last, |right, left| Expression::Joint(joint, Box::new(left), Box::new(right)))
            }
            Expr::Named(named) => {
                let target = self.target(&named.target);
                Expression::Assign(Box::new(target), How::Plain, self.boxed(&named.value))
            }
            Expr::BinOp(_) => self.binary(expression),
            Expr::UnaryOp(unary) => {
                let operand = self.boxed(&unary.operand);
                match unary.op {
                    UnaryOp::Not => Expression::Not(operand),
                    UnaryOp::USub => Expression::Negative(operand),
                    UnaryOp::UAdd => *operand,
                    UnaryOp::Invert => Expression::Within(vec![*operand]),
                }
            }
            Expr::Lambda(lambda) => {
                let parameters = lambda.parameters.as_deref().map(|parameters| self.parameters(parameters));
                Expression::Function(Arc::new(Definition {
                    name: String::new(),
                    parameters: parameters.unwrap_or_default(),
                    body: vec![Statement::Return(Some(self.expression(&lambda.body)))],
                    sort: CallStyle::Plain,
                    may_wait: false,
                    decorators: Vec::new(),
                }))
            }
            Expr::If(choice) => Expression::Choice(
                self.boxed(&choice.test),
                self.boxed(&choice.body),
                self.boxed(&choice.orelse),
            ),
            Expr::Dict(entries) => Expression::Map(
                entries
                    .items
                    .iter()
                    .map(|item| {
                        let key = item.key.as_ref().map(|key| self.expression(key));
                        (key, self.expression(&item.value))
                    })
                    .collect(),
            ),
            Expr::Set(list) => Expression::List(self.expressions(&list.elts)),
            Expr::List(list) => Expression::List(self.expressions(&list.elts)),
            Expr::Tuple(list) => Expression::List(self.expressions(&list.elts)),
            Expr::ListComp(made) => self.comprehension(&made.elt, &made.generators),
            Expr::SetComp(made) => self.comprehension(&made.elt, &made.generators),
            Expr::Generator(made) => self.comprehension(&made.elt, &made.generators),
            Expr::DictComp(made) => {
                let clauses = self.clauses(&made.generators);
                let key = made.key.as_deref().map(|key| self.expression(key));
                let mut values: Vec<Expression> = key.into_iter().collect();
                values.push(self.expression(&made.value));
                Expression::Comprehension(Box::new(Expression::Within(values)), clauses)
            }
            Expr::Await(awaited) => self.expression(&awaited.value),
            Expr::Yield(yielded) => match yielded.value.as_deref() {
                Some(value) => Expression::Yield(self.boxed(value)),
                None => Expression::Nothing,
            },
            Expr::YieldFrom(yielded) => {
                Expression::Yield(Box::new(Expression::Spread(self.boxed(&yielded.value))))
            }
            Expr::Compare(compared) => {
                let operator = match compared.ops.as_ref() {
                    [CmpOp::Eq] => Operator::Equal,
                    [CmpOp::NotEq] => Operator::Unequal,
                    [CmpOp::In] => Operator::In,
                    [CmpOp::Lt] => Operator::Less,
                    [CmpOp::LtE] => Operator::LessOrEqual,
                    [CmpOp::Gt] => Operator::Greater,
                    [CmpOp::GtE] => Operator::GreaterOrEqual,
                    _ => Operator::Other,
                };
                let left = self.boxed(&compared.left);
                match compared.comparators.as_ref() {
                    [only] => Expression::Binary(operator, left, self.boxed(only)),
                    several => {
                        let mut all = vec![*left];
                        all.extend(self.expressions(several));
                        Expression::Within(all)
                    }
                }
            }
            Expr::Call(call) => {
                let callee = self.boxed(&call.func);
                Expression::Call(callee, self.arguments(&call.arguments))
            }
            Expr::FString(text) => {
                let mut parts = Vec::new();
                for part in &text.value {
                    match part {
                        ruff_python_ast::FStringPart::Literal(literal) => {
                            parts.push(Expression::Text(literal.value.to_string()));
                        }
                        ruff_python_ast::FStringPart::FString(text) => {
                            self.template(&text.elements, &mut parts);
                        }
                    }
                }
                Expression::Template(parts)
            }
            Expr::TString(text) => {
                let mut parts = Vec::new();
                for part in &text.value {
                    self.template(&part.elements, &mut parts);
                }
                Expression::Within(parts)
            }
            Expr::StringLiteral(text) => Expression::Text(text.value.to_str().to_owned()),
            Expr::BytesLiteral(text) => {
                let bytes: Vec<u8> = text.value.iter().flat_map(|part| part.value.iter().copied()).collect();
                match String::from_utf8(bytes) {
                    Ok(text) => Expression::Text(text),
                    Err(_) => Expression::Within(Vec::new()),
                }
            }
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(number) => match number.as_i64() {
                    Some(number) => Expression::Number(number),
                    None => Expression::Within(Vec::new()),
                },
                Number::Float(_) | Number::Complex { .. } => Expression::Within(Vec::new()),
            },
            Expr::BooleanLiteral(truth) => Expression::Truth(truth.value),
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => Expression::Nothing,
            Expr::Attribute(member) => {
                Expression::Member(self.boxed(&member.value), member.attr.as_str().to_owned())
            }
            Expr::Subscript(index) => {
                let of = self.boxed(&index.value);
                match index.slice.as_ref() {
                    Expr::Slice(slice) if slice.step.is_some() => {
                        let backward = matches!(
                            slice.step.as_deref(),
                            Some(Expr::UnaryOp(step)) if step.op == UnaryOp::USub
                        ) && slice.lower.is_none()
                            && slice.upper.is_none();
                        if backward {
                            let reverse = Expression::Member(of, "__reversed__".to_owned());
                            return Expression::Call(Box::new(reverse), Vec::new());
                        }
                        let parts = [slice.lower.as_deref(), slice.upper.as_deref(), slice.step.as_deref()];
                        let mut values = vec![*of];
                        values.extend(parts.into_iter().flatten().map(|part| self.expression(part)));
                        Expression::Within(values)
                    }
                    Expr::Slice(slice) => {
                        let from = slice.lower.as_deref().map(|from| self.boxed(from));
                        let to = slice.upper.as_deref().map(|to| self.boxed(to));
                        Expression::Slice(of, from, to)
                    }
                    index => Expression::Index(of, self.boxed(index)),
                }
            }
            Expr::Starred(spread) => Expression::Spread(self.boxed(&spread.value)),
            Expr::Name(name) => Expression::Name(name.id.as_str().to_owned()),
            Expr::Slice(slice) => {
                let parts = [slice.lower.as_deref(), slice.upper.as_deref(), slice.step.as_deref()];
                Expression::Within(parts.into_iter().flatten().map(|part| self.expression(part)).collect())
            }
            Expr::IpyEscapeCommand(_) => Expression::Cut,
        }
    }

    /// Two values and what is between; a long row of `+` is one sum, not a deep tree.
    fn binary(&mut self, expression: &Expr) -> Expression {
        let mut parts = Vec::new();
        let mut left = expression;
        while let Expr::BinOp(sum) = left
            && sum.op == PythonOperator::Add
        {
            parts.push(self.expression(&sum.right));
            left = &sum.left;
        }
        if !parts.is_empty() {
            parts.push(self.expression(left));
            parts.reverse();
            return Expression::Sum(parts);
        }
        let Expr::BinOp(binary) = expression else { return Expression::Nothing };
        let operator = operator(binary.op);
        let left = self.boxed(&binary.left);
        Expression::Binary(operator, left, self.boxed(&binary.right))
    }

    fn arguments(&mut self, arguments: &Arguments) -> Vec<Argument> {
        let mut all: Vec<Argument> = arguments
            .args
            .iter()
            .map(|value| Argument { name: None, value: self.expression(value) })
            .collect();
        for keyword in &arguments.keywords {
            let value = self.expression(&keyword.value);
            all.push(match &keyword.arg {
                Some(name) => Argument { name: Some(name.as_str().to_owned()), value },
                None => Argument { name: None, value: Expression::Map(vec![(None, value)]) },
            });
        }
        all
    }

    fn comprehension(&mut self, element: &Expr, generators: &[Comprehension]) -> Expression {
        let clauses = self.clauses(generators);
        Expression::Comprehension(self.boxed(element), clauses)
    }

    fn clauses(&mut self, generators: &[Comprehension]) -> Vec<ComprehensionClause> {
        generators
            .iter()
            .map(|generator| ComprehensionClause {
                target: self.target(&generator.target),
                list: self.expression(&generator.iter),
                tests: self.expressions(&generator.ifs),
            })
            .collect()
    }

    fn template(&mut self, elements: &[InterpolatedStringElement], parts: &mut Vec<Expression>) {
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(literal) => {
                    parts.push(Expression::Text(literal.value.to_string()));
                }
                InterpolatedStringElement::Interpolation(value) => {
                    let read = self.expression(&value.expression);
                    // What a format makes of a value is not worked out.
                    parts.push(match &value.format_spec {
                        Some(format) => {
                            let mut all = Vec::new();
                            self.template(&format.elements, &mut all);
                            all.push(read);
                            Expression::Within(all)
                        }
                        None => read,
                    });
                }
            }
        }
    }

    fn target(&mut self, target: &Expr) -> BindingTarget {
        match target {
            Expr::Name(name) => BindingTarget::Name(name.id.as_str().to_owned()),
            Expr::Attribute(member) => {
                BindingTarget::Member(self.expression(&member.value), member.attr.as_str().to_owned())
            }
            Expr::Subscript(index) => {
                BindingTarget::Index(self.expression(&index.value), self.expression(&index.slice))
            }
            Expr::List(list) => self.targets(&list.elts),
            Expr::Tuple(list) => self.targets(&list.elts),
            Expr::Starred(rest) => BindingTarget::Rest(Box::new(self.target(&rest.value))),
            _ => BindingTarget::Nowhere,
        }
    }

    fn targets(&mut self, targets: &[Expr]) -> BindingTarget {
        if !self.nesting.enter() {
            return BindingTarget::Nowhere;
        }
        let all = targets.iter().map(|target| self.target(target)).collect();
        self.nesting.leave();
        BindingTarget::List(all)
    }

    fn pattern(&mut self, pattern: &Pattern, tests: &mut Vec<Expression>, targets: &mut Vec<BindingTarget>) {
        if !self.nesting.enter() {
            return;
        }
        let name = |name: Option<&ruff_python_ast::Identifier>, targets: &mut Vec<BindingTarget>| {
            targets.extend(name.map(|name| BindingTarget::Name(name.as_str().to_owned())));
        };
        match pattern {
            Pattern::MatchValue(value) => tests.push(self.expression(&value.value)),
            Pattern::MatchSingleton(_) => tests.push(Expression::Nothing),
            Pattern::MatchSequence(several) => {
                tests.push(Expression::Nothing);
                for pattern in &several.patterns {
                    self.pattern(pattern, tests, targets);
                }
            }
            Pattern::MatchMapping(several) => {
                tests.push(Expression::Nothing);
                for pattern in &several.patterns {
                    self.pattern(pattern, tests, targets);
                }
                name(several.rest.as_ref(), targets);
            }
            Pattern::MatchClass(class) => {
                tests.push(Expression::Nothing);
                let named = class.arguments.keywords.iter().map(|keyword| &keyword.pattern);
                for pattern in class.arguments.patterns.iter().chain(named) {
                    self.pattern(pattern, tests, targets);
                }
            }
            Pattern::MatchStar(star) => name(star.name.as_ref(), targets),
            Pattern::MatchAs(bound) => {
                if let Some(pattern) = &bound.pattern {
                    self.pattern(pattern, tests, targets);
                }
                name(bound.name.as_ref(), targets);
            }
            Pattern::MatchOr(several) => {
                tests.push(Expression::Nothing);
                for pattern in &several.patterns {
                    self.pattern(pattern, tests, targets);
                }
            }
        }
        self.nesting.leave();
    }
}

/// Whether a type calls something, which happens where it stands.
fn calls(kind: &Expr) -> bool {
    match kind {
        Expr::Subscript(index) => calls(&index.value) || calls(&index.slice),
        Expr::Attribute(member) => calls(&member.value),
        Expr::BinOp(both) => calls(&both.left) || calls(&both.right),
        Expr::BoolOp(several) => several.values.iter().any(calls),
        Expr::Tuple(list) => list.elts.iter().any(calls),
        Expr::List(list) => list.elts.iter().any(calls),
        Expr::Call(_)
        | Expr::Named(_)
        | Expr::If(_)
        | Expr::Lambda(_)
        | Expr::Compare(_)
        | Expr::ListComp(_) => true,
        _ => false,
    }
}

fn operator(operator: PythonOperator) -> Operator {
    match operator {
        PythonOperator::Div => Operator::Divide,
        PythonOperator::Mod => Operator::Remainder,
        PythonOperator::Sub => Operator::Subtract,
        PythonOperator::Mult => Operator::Multiply,
        PythonOperator::Add
        | PythonOperator::MatMult
        | PythonOperator::Pow
        | PythonOperator::LShift
        | PythonOperator::RShift
        | PythonOperator::BitOr
        | PythonOperator::BitXor
        | PythonOperator::BitAnd
        | PythonOperator::FloorDiv => Operator::Other,
    }
}
