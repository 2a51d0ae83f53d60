//! JavaScript and TypeScript, read by the parser of Oxc.

use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    self, AssignmentOperator, AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty,
    BinaryOperator, BindingPattern, ChainElement, ClassElement, Declaration, ExportDefaultDeclarationKind,
    ForStatementInit, ForStatementLeft, FormalParameters, ImportDeclarationSpecifier, LogicalOperator,
    MethodDefinitionKind, ModuleExportName, ObjectPropertyKind, PropertyKey, UnaryOperator, UpdateOperator,
};
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::DEPTH;
use crate::tree::{
    Argument, BindingTarget, CallStyle, Class, Definition, Expression, FunctionParameter, How, Import, Joint,
    Loop, Operator, Statement, SwitchCase, SyntaxTree, Takes, Try,
};

/// The tree of JavaScript code, or of TypeScript code when it is none.
pub(super) fn read(text: &str) -> SyntaxTree {
    let tree = read_as(text, SourceType::mjs().with_jsx(true));
    if tree.problem.is_none() {
        return tree;
    }
    // `with` and old forms of numbers are only known outside modules, types only to TypeScript.
    for other in [SourceType::cjs(), SourceType::ts()] {
        let other = read_as(text, other);
        if other.problem.is_none() {
            return other;
        }
    }
    tree
}

fn read_as(text: &str, source: SourceType) -> SyntaxTree {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, source).parse();
    let mut problem =
        (parsed.panicked || !parsed.diagnostics.is_empty()).then_some("cannot be read as a whole");
    let mut reader = Reader { depth: 0, cut: false };
    let statements = reader.statements(&parsed.program.body);
    if reader.cut {
        problem.get_or_insert("is nested too deeply");
    }
    SyntaxTree { statements, problem }
}

struct Reader {
    depth: usize,
    cut: bool,
}

impl Reader {
    fn statements(&mut self, statements: &[ast::Statement<'_>]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &ast::Statement<'_>) -> Option<Statement> {
        if self.depth >= DEPTH {
            self.cut = true;
            return Some(Statement::Cut);
        }
        self.depth += 1;
        let read = self.statement_here(statement);
        self.depth -= 1;
        read
    }

    /// The statements of a body, which may be one statement or a block.
    fn body(&mut self, statement: &ast::Statement<'_>) -> Vec<Statement> {
        match self.statement(statement) {
            Some(Statement::Block(statements)) => statements,
            Some(other) => vec![other],
            None => Vec::new(),
        }
    }

    fn statement_here(&mut self, statement: &ast::Statement<'_>) -> Option<Statement> {
        Some(match statement {
            ast::Statement::BlockStatement(block) => Statement::Block(self.statements(&block.body)),
            ast::Statement::BreakStatement(_) | ast::Statement::ContinueStatement(_) => Statement::Leave,
            ast::Statement::DebuggerStatement(_)
            | ast::Statement::EmptyStatement(_)
            | ast::Statement::TSNamespaceExportDeclaration(_)
            | ast::Statement::TSTypeAliasDeclaration(_)
            | ast::Statement::TSInterfaceDeclaration(_)
            | ast::Statement::TSEnumDeclaration(_)
            | ast::Statement::TSGlobalDeclaration(_) => return None,
            ast::Statement::DoWhileStatement(each) => {
                let body = self.body(&each.body);
                let test = self.expression(&each.test);
                // The first turn always happens.
                Statement::Block(vec![Statement::Loop(Box::new(Loop {
                    start: Vec::new(),
                    over: None,
                    test: None,
                    body,
                    step: Some(test),
                    otherwise: Vec::new(),
                }))])
            }
            ast::Statement::ExpressionStatement(expression) => {
                Statement::Expression(self.expression(&expression.expression))
            }
            ast::Statement::ForInStatement(each) => {
                let target = self.left(&each.left);
                // The names of the entries, which say nothing.
                let list = Expression::Within(vec![self.expression(&each.right)]);
                self.each(target, list, &each.body)
            }
            ast::Statement::ForOfStatement(each) => {
                let target = self.left(&each.left);
                let list = self.expression(&each.right);
                self.each(target, list, &each.body)
            }
            ast::Statement::ForStatement(each) => {
                let start = match &each.init {
                    Some(ForStatementInit::VariableDeclaration(declared)) => self.declared(declared),
                    Some(other) => other
                        .as_expression()
                        .map(|expression| Statement::Expression(self.expression(expression)))
                        .into_iter()
                        .collect(),
                    None => Vec::new(),
                };
                Statement::Loop(Box::new(Loop {
                    start,
                    over: None,
                    test: each.test.as_ref().map(|test| self.expression(test)),
                    body: self.body(&each.body),
                    step: each.update.as_ref().map(|step| self.expression(step)),
                    otherwise: Vec::new(),
                }))
            }
            ast::Statement::IfStatement(branch) => {
                let test = self.expression(&branch.test);
                let then = self.body(&branch.consequent);
                let otherwise = branch.alternate.as_ref().map(|other| self.body(other)).unwrap_or_default();
                Statement::If(test, then, otherwise)
            }
            ast::Statement::LabeledStatement(labeled) => Statement::Block(self.body(&labeled.body)),
            ast::Statement::ReturnStatement(returned) => {
                Statement::Return(returned.argument.as_ref().map(|value| self.expression(value)))
            }
            ast::Statement::SwitchStatement(several) => {
                let subject = self.expression(&several.discriminant);
                let cases = several
                    .cases
                    .iter()
                    .map(|case| SwitchCase {
                        tests: case.test.iter().map(|test| self.expression(test)).collect(),
                        targets: Vec::new(),
                        body: self.statements(&case.consequent),
                    })
                    .collect();
                Statement::Match(subject, cases)
            }
            ast::Statement::ThrowStatement(thrown) => {
                Statement::Throw(vec![self.expression(&thrown.argument)])
            }
            ast::Statement::TryStatement(tried) => {
                let body = self.statements(&tried.block.body);
                let handlers = tried
                    .handler
                    .iter()
                    .map(|handler| {
                        let target = handler.param.as_ref().map(|param| self.pattern(&param.pattern));
                        (target, self.statements(&handler.body.body))
                    })
                    .collect();
                let last = tried.finalizer.as_ref().map(|block| self.statements(&block.body));
                Statement::Try(Box::new(Try {
                    body,
                    handlers,
                    otherwise: Vec::new(),
                    last: last.unwrap_or_default(),
                }))
            }
            ast::Statement::WhileStatement(each) => Statement::Loop(Box::new(Loop {
                start: Vec::new(),
                over: None,
                test: Some(self.expression(&each.test)),
                body: self.body(&each.body),
                step: None,
                otherwise: Vec::new(),
            })),
            ast::Statement::WithStatement(with) => {
                // Any name may mean a member of the object.
                self.cut = true;
                Statement::Expression(self.expression(&with.object))
            }
            ast::Statement::ImportDeclaration(import) => Statement::Block(Self::import(import)),
            ast::Statement::ExportAllDeclaration(export) => {
                Statement::Import(Import::Module { module: export.source.value.to_string(), own: None })
            }
            ast::Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                    Statement::Define(Arc::new(self.function(function)))
                }
                ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                    Statement::Class(Arc::new(self.class(class)))
                }
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => return None,
                other => {
                    let value = other.as_expression().map(|value| self.expression(value));
                    Statement::Declare(BindingTarget::Name("default".to_owned()), value)
                }
            },
            ast::Statement::ExportNamedDeclaration(export) => match (&export.declaration, &export.source) {
                (Some(declaration), _) => return self.declaration(declaration),
                (None, Some(source)) => {
                    Statement::Import(Import::Module { module: source.value.to_string(), own: None })
                }
                (None, None) => return None,
            },
            ast::Statement::TSExportAssignment(export) => {
                Statement::Expression(self.expression(&export.expression))
            }
            ast::Statement::VariableDeclaration(declared) => Statement::Block(self.declared(declared)),
            ast::Statement::FunctionDeclaration(function) => {
                Statement::Define(Arc::new(self.function(function)))
            }
            ast::Statement::ClassDeclaration(class) => Statement::Class(Arc::new(self.class(class))),
            ast::Statement::TSModuleDeclaration(_) | ast::Statement::TSImportEqualsDeclaration(_) => {
                self.cut = true;
                Statement::Cut
            }
        })
    }

    fn each(&mut self, target: BindingTarget, list: Expression, body: &ast::Statement<'_>) -> Statement {
        Statement::Loop(Box::new(Loop {
            start: Vec::new(),
            over: Some((target, list)),
            test: None,
            body: self.body(body),
            step: None,
            otherwise: Vec::new(),
        }))
    }

    fn left(&mut self, left: &ForStatementLeft<'_>) -> BindingTarget {
        match left {
            ForStatementLeft::VariableDeclaration(declared) => declared
                .declarations
                .first()
                .map_or(BindingTarget::Nowhere, |declarator| self.pattern(&declarator.id)),
            other => {
                other.as_assignment_target().map_or(BindingTarget::Nowhere, |target| self.target(target))
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'_>) -> Option<Statement> {
        Some(match declaration {
            Declaration::VariableDeclaration(declared) => Statement::Block(self.declared(declared)),
            Declaration::FunctionDeclaration(function) => {
                Statement::Define(Arc::new(self.function(function)))
            }
            Declaration::ClassDeclaration(class) => Statement::Class(Arc::new(self.class(class))),
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSEnumDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => return None,
            Declaration::TSModuleDeclaration(_) | Declaration::TSImportEqualsDeclaration(_) => {
                self.cut = true;
                Statement::Cut
            }
        })
    }

    fn declared(&mut self, declared: &ast::VariableDeclaration<'_>) -> Vec<Statement> {
        declared
            .declarations
            .iter()
            .map(|declarator| {
                let target = self.pattern(&declarator.id);
                Statement::Declare(target, declarator.init.as_ref().map(|value| self.expression(value)))
            })
            .collect()
    }

    fn import(import: &ast::ImportDeclaration<'_>) -> Vec<Statement> {
        let module = import.source.value.to_string();
        let whole = |own: Option<String>| Statement::Import(Import::Module { module: module.clone(), own });
        let Some(specifiers) = &import.specifiers else { return vec![whole(None)] };
        let mut parts = Vec::new();
        let mut all = Vec::new();
        for specifier in specifiers {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(part) => {
                    let name = match &part.imported {
                        ModuleExportName::IdentifierName(name) => name.name.to_string(),
                        ModuleExportName::IdentifierReference(name) => name.name.to_string(),
                        ModuleExportName::StringLiteral(name) => name.value.to_string(),
                    };
                    parts.push((name, part.local.name.to_string()));
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(part) => {
                    parts.push(("default".to_owned(), part.local.name.to_string()));
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(part) => {
                    all.push(whole(Some(part.local.name.to_string())));
                }
            }
        }
        if !parts.is_empty() || all.is_empty() {
            all.push(Statement::Import(Import::Parts { module: module.clone(), level: 0, parts }));
        }
        all
    }

    fn function(&mut self, function: &ast::Function<'_>) -> Definition {
        let body = function.body.as_ref().map(|body| self.statements(&body.statements));
        Definition {
            name: function.id.as_ref().map(|id| id.name.to_string()).unwrap_or_default(),
            parameters: self.parameters(&function.params),
            body: body.unwrap_or_default(),
            sort: CallStyle::Plain,
            decorators: Vec::new(),
        }
    }

    fn parameters(&mut self, parameters: &FormalParameters<'_>) -> Vec<FunctionParameter> {
        let mut all: Vec<FunctionParameter> = parameters
            .items
            .iter()
            .map(|one| FunctionParameter {
                target: self.pattern(&one.pattern),
                default: one.initializer.as_ref().map(|value| self.expression(value)),
                takes: Takes::One,
            })
            .collect();
        if let Some(rest) = &parameters.rest {
            let target = self.pattern(&rest.rest.argument);
            all.push(FunctionParameter { target, default: None, takes: Takes::Rest });
        }
        all
    }

    fn class(&mut self, class: &ast::Class<'_>) -> Class {
        let mut body = Vec::new();
        for element in &class.body.body {
            match element {
                ClassElement::StaticBlock(block) => {
                    body.push(Statement::Block(self.statements(&block.body)));
                }
                ClassElement::MethodDefinition(method) => {
                    let mut definition = self.function(&method.value);
                    definition.name = key(&method.key).unwrap_or_default();
                    definition.sort = match method.kind {
                        MethodDefinitionKind::Get => CallStyle::Property,
                        _ if method.r#static => CallStyle::Static,
                        MethodDefinitionKind::Constructor
                        | MethodDefinitionKind::Method
                        | MethodDefinitionKind::Set => CallStyle::Plain,
                    };
                    body.push(Statement::Define(Arc::new(definition)));
                }
                ClassElement::PropertyDefinition(property) => {
                    let value = property.value.as_ref().map(|value| self.expression(value));
                    let target = key(&property.key).map_or(BindingTarget::Nowhere, BindingTarget::Name);
                    body.push(Statement::Declare(target, value));
                }
                ClassElement::AccessorProperty(_) | ClassElement::TSIndexSignature(_) => {}
            }
        }
        Class {
            name: class.id.as_ref().map(|id| id.name.to_string()).unwrap_or_default(),
            bases: class.super_class.as_ref().map(|base| self.expression(base)).into_iter().collect(),
            body,
            decorators: Vec::new(),
        }
    }

    fn arrow(&mut self, function: &ast::ArrowFunctionExpression<'_>) -> Expression {
        let parameters = self.parameters(&function.params);
        let body = match (function.expression, function.body.statements.as_slice()) {
            (true, [ast::Statement::ExpressionStatement(only)]) => {
                vec![Statement::Return(Some(self.expression(&only.expression)))]
            }
            (_, statements) => self.statements(statements),
        };
        Expression::Function(Arc::new(Definition {
            name: String::new(),
            parameters,
            body,
            sort: CallStyle::Plain,
            decorators: Vec::new(),
        }))
    }

    fn boxed(&mut self, expression: &ast::Expression<'_>) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    fn expression(&mut self, expression: &ast::Expression<'_>) -> Expression {
        if self.depth >= DEPTH {
            self.cut = true;
            return Expression::Cut;
        }
        self.depth += 1;
        let read = self.expression_here(expression);
        self.depth -= 1;
        read
    }

    fn expression_here(&mut self, expression: &ast::Expression<'_>) -> Expression {
        match expression {
            ast::Expression::BooleanLiteral(truth) => Expression::Truth(truth.value),
            ast::Expression::NullLiteral(_) => Expression::Nothing,
            ast::Expression::NumericLiteral(number) => whole_number(number.value),
            ast::Expression::BigIntLiteral(_)
            | ast::Expression::RegExpLiteral(_)
            | ast::Expression::V8IntrinsicExpression(_) => Expression::Within(Vec::new()),
            ast::Expression::StringLiteral(text) => Expression::Text(text.value.to_string()),
            ast::Expression::TemplateLiteral(template) => self.template(template),
            ast::Expression::Identifier(name) => match name.name.as_str() {
                "undefined" | "NaN" | "Infinity" => Expression::Nothing,
                name => Expression::Name(name.to_owned()),
            },
            ast::Expression::MetaProperty(meta) => Expression::Member(
                Box::new(Expression::Name(meta.meta.name.to_string())),
                meta.property.name.to_string(),
            ),
            ast::Expression::Super(_) => Expression::Name("super".to_owned()),
            ast::Expression::ArrayExpression(list) => {
                let items = list.elements.iter().map(|element| match element {
                    ast::ArrayExpressionElement::SpreadElement(spread) => {
                        Expression::Spread(self.boxed(&spread.argument))
                    }
                    ast::ArrayExpressionElement::Elision(_) => Expression::Nothing,
                    other => {
                        other.as_expression().map_or(Expression::Nothing, |value| self.expression(value))
                    }
                });
                Expression::List(items.collect())
            }
            ast::Expression::ArrowFunctionExpression(function) => self.arrow(function),
            ast::Expression::AssignmentExpression(assigned) => {
                let how = match assigned.operator {
                    AssignmentOperator::Assign => How::Plain,
                    AssignmentOperator::Addition => How::Add,
                    AssignmentOperator::LogicalOr
                    | AssignmentOperator::LogicalAnd
                    | AssignmentOperator::LogicalNullish => How::Perhaps,
                    _ => How::Other,
                };
                let target = self.target(&assigned.left);
                Expression::Assign(Box::new(target), how, self.boxed(&assigned.right))
            }
            ast::Expression::AwaitExpression(awaited) => self.expression(&awaited.argument),
            ast::Expression::BinaryExpression(_) => self.binary(expression),
            ast::Expression::CallExpression(call) => self.call(call),
            ast::Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::CallExpression(call) => self.call(call),
                ChainElement::TSNonNullExpression(value) => self.expression(&value.expression),
                other => match other.as_member_expression() {
                    Some(member) => self.member(member),
                    None => Expression::Nothing,
                },
            },
            ast::Expression::ClassExpression(class) => Expression::Class(Arc::new(self.class(class))),
            ast::Expression::ConditionalExpression(choice) => Expression::Choice(
                self.boxed(&choice.test),
                self.boxed(&choice.consequent),
                self.boxed(&choice.alternate),
            ),
            ast::Expression::FunctionExpression(function) => {
                Expression::Function(Arc::new(self.function(function)))
            }
            ast::Expression::ImportExpression(import) => Expression::Call(
                Box::new(Expression::Name("import".to_owned())),
                vec![Argument { name: None, value: self.expression(&import.source) }],
            ),
            ast::Expression::LogicalExpression(both) => {
                let joint = match both.operator {
                    LogicalOperator::And => Joint::And,
                    LogicalOperator::Or | LogicalOperator::Coalesce => Joint::Or,
                };
                let left = self.boxed(&both.left);
                Expression::Joint(joint, left, self.boxed(&both.right))
            }
            ast::Expression::NewExpression(made) => {
                let callee = self.boxed(&made.callee);
                Expression::New(callee, self.arguments(&made.arguments))
            }
            ast::Expression::ObjectExpression(object) => self.object(object),
            ast::Expression::ParenthesizedExpression(inner) => self.expression(&inner.expression),
            ast::Expression::SequenceExpression(several) => {
                Expression::Several(several.expressions.iter().map(|value| self.expression(value)).collect())
            }
            ast::Expression::TaggedTemplateExpression(tagged) => {
                let tag = self.boxed(&tagged.tag);
                Expression::Tagged(tag, Box::new(self.template(&tagged.quasi)))
            }
            ast::Expression::ThisExpression(_) => Expression::Name("this".to_owned()),
            ast::Expression::UnaryExpression(unary) => {
                let operand = self.boxed(&unary.argument);
                match unary.operator {
                    UnaryOperator::LogicalNot => Expression::Not(operand),
                    UnaryOperator::UnaryNegation => Expression::Negative(operand),
                    UnaryOperator::UnaryPlus
                    | UnaryOperator::BitwiseNot
                    | UnaryOperator::Typeof
                    | UnaryOperator::Void
                    | UnaryOperator::Delete => Expression::Within(vec![*operand]),
                }
            }
            ast::Expression::UpdateExpression(update) => {
                let target = update
                    .argument
                    .get_identifier_name()
                    .map_or(BindingTarget::Nowhere, |name| BindingTarget::Name(name.to_owned()));
                let step = match update.operator {
                    UpdateOperator::Increment => 1,
                    UpdateOperator::Decrement => -1,
                };
                Expression::Assign(Box::new(target), How::Add, Box::new(Expression::Number(step)))
            }
            ast::Expression::YieldExpression(yielded) => match &yielded.argument {
                Some(value) => Expression::Yield(self.boxed(value)),
                None => Expression::Nothing,
            },
            ast::Expression::PrivateInExpression(inside) => {
                Expression::Within(vec![self.expression(&inside.right)])
            }
            // Marks of a page have no calls worth a look.
            ast::Expression::JSXElement(_) | ast::Expression::JSXFragment(_) => Expression::Cut,
            ast::Expression::TSAsExpression(value) => self.expression(&value.expression),
            ast::Expression::TSSatisfiesExpression(value) => self.expression(&value.expression),
            ast::Expression::TSTypeAssertion(value) => self.expression(&value.expression),
            ast::Expression::TSNonNullExpression(value) => self.expression(&value.expression),
            ast::Expression::TSInstantiationExpression(value) => self.expression(&value.expression),
            ast::Expression::ComputedMemberExpression(_)
            | ast::Expression::StaticMemberExpression(_)
            | ast::Expression::PrivateFieldExpression(_) => match expression.as_member_expression() {
                Some(member) => self.member(member),
                None => Expression::Nothing,
            },
        }
    }

    fn member(&mut self, member: &ast::MemberExpression<'_>) -> Expression {
        match member {
            ast::MemberExpression::ComputedMemberExpression(member) => {
                let of = self.boxed(&member.object);
                Expression::Index(of, self.boxed(&member.expression))
            }
            ast::MemberExpression::StaticMemberExpression(member) => {
                Expression::Member(self.boxed(&member.object), member.property.name.to_string())
            }
            ast::MemberExpression::PrivateFieldExpression(member) => {
                Expression::Member(self.boxed(&member.object), format!("#{}", member.field.name))
            }
        }
    }

    fn call(&mut self, call: &ast::CallExpression<'_>) -> Expression {
        let callee = self.boxed(&call.callee);
        Expression::Call(callee, self.arguments(&call.arguments))
    }

    fn arguments(&mut self, arguments: &[ast::Argument<'_>]) -> Vec<Argument> {
        arguments
            .iter()
            .map(|argument| {
                let value = match argument {
                    ast::Argument::SpreadElement(spread) => Expression::Spread(self.boxed(&spread.argument)),
                    other => {
                        other.as_expression().map_or(Expression::Nothing, |value| self.expression(value))
                    }
                };
                Argument { name: None, value }
            })
            .collect()
    }

    fn object(&mut self, object: &ast::ObjectExpression<'_>) -> Expression {
        let entries = object.properties.iter().map(|property| match property {
            ObjectPropertyKind::ObjectProperty(property) => {
                let key = match (key(&property.key), property.key.as_expression()) {
                    (Some(key), _) => Expression::Text(key),
                    (None, Some(key)) => self.expression(key),
                    (None, None) => Expression::Nothing,
                };
                (Some(key), self.expression(&property.value))
            }
            ObjectPropertyKind::SpreadProperty(spread) => (None, self.expression(&spread.argument)),
        });
        Expression::Map(entries.collect())
    }

    fn template(&mut self, template: &ast::TemplateLiteral<'_>) -> Expression {
        let mut parts = Vec::new();
        let mut values = template.expressions.iter();
        for text in &template.quasis {
            let text = text.value.cooked.unwrap_or(text.value.raw);
            parts.push(Expression::Text(text.to_string()));
            if let Some(value) = values.next() {
                parts.push(self.expression(value));
            }
        }
        Expression::Template(parts)
    }

    /// Two values and what is between; a long row of `+` is one sum, not a deep tree.
    fn binary(&mut self, expression: &ast::Expression<'_>) -> Expression {
        let mut parts = Vec::new();
        let mut left = expression;
        while let ast::Expression::BinaryExpression(sum) = left
            && sum.operator == BinaryOperator::Addition
        {
            parts.push(self.expression(&sum.right));
            left = &sum.left;
        }
        if !parts.is_empty() {
            parts.push(self.expression(left));
            parts.reverse();
            return Expression::Sum(parts);
        }
        let ast::Expression::BinaryExpression(binary) = expression else { return Expression::Nothing };
        let operator = match binary.operator {
            BinaryOperator::Equality | BinaryOperator::StrictEquality => Operator::Equal,
            BinaryOperator::Inequality | BinaryOperator::StrictInequality => Operator::Unequal,
            BinaryOperator::Subtraction => Operator::Subtract,
            BinaryOperator::Multiplication => Operator::Multiply,
            BinaryOperator::LessThan => Operator::Less,
            BinaryOperator::LessEqualThan => Operator::LessOrEqual,
            BinaryOperator::GreaterThan => Operator::Greater,
            BinaryOperator::GreaterEqualThan => Operator::GreaterOrEqual,
            _ => Operator::Other,
        };
        let left = self.boxed(&binary.left);
        Expression::Binary(operator, left, self.boxed(&binary.right))
    }

    fn pattern(&mut self, pattern: &BindingPattern<'_>) -> BindingTarget {
        if self.depth >= DEPTH {
            self.cut = true;
            return BindingTarget::Nowhere;
        }
        self.depth += 1;
        let target = match pattern {
            BindingPattern::BindingIdentifier(name) => BindingTarget::Name(name.name.to_string()),
            BindingPattern::ObjectPattern(object) => {
                let mut entries: Vec<(Option<String>, BindingTarget)> = Vec::new();
                for property in &object.properties {
                    entries.push((key(&property.key), self.pattern(&property.value)));
                }
                if let Some(rest) = &object.rest {
                    entries.push((None, BindingTarget::Rest(Box::new(self.pattern(&rest.argument)))));
                }
                BindingTarget::Map(entries)
            }
            BindingPattern::ArrayPattern(list) => {
                let mut targets: Vec<BindingTarget> = Vec::new();
                for element in &list.elements {
                    targets
                        .push(element.as_ref().map_or(BindingTarget::Nowhere, |inner| self.pattern(inner)));
                }
                if let Some(rest) = &list.rest {
                    targets.push(BindingTarget::Rest(Box::new(self.pattern(&rest.argument))));
                }
                BindingTarget::List(targets)
            }
            BindingPattern::AssignmentPattern(assigned) => {
                let target = self.pattern(&assigned.left);
                BindingTarget::Default(Box::new(target), self.boxed(&assigned.right))
            }
        };
        self.depth -= 1;
        target
    }

    fn target(&mut self, target: &AssignmentTarget<'_>) -> BindingTarget {
        if self.depth >= DEPTH {
            self.cut = true;
            return BindingTarget::Nowhere;
        }
        self.depth += 1;
        let target = match target {
            AssignmentTarget::AssignmentTargetIdentifier(name) => BindingTarget::Name(name.name.to_string()),
            AssignmentTarget::StaticMemberExpression(member) => {
                BindingTarget::Member(self.expression(&member.object), member.property.name.to_string())
            }
            AssignmentTarget::PrivateFieldExpression(member) => {
                BindingTarget::Member(self.expression(&member.object), format!("#{}", member.field.name))
            }
            AssignmentTarget::ComputedMemberExpression(member) => {
                BindingTarget::Index(self.expression(&member.object), self.expression(&member.expression))
            }
            AssignmentTarget::ArrayAssignmentTarget(list) => {
                let mut targets: Vec<BindingTarget> = Vec::new();
                for element in &list.elements {
                    targets
                        .push(element.as_ref().map_or(BindingTarget::Nowhere, |inner| self.perhaps(inner)));
                }
                if let Some(rest) = &list.rest {
                    targets.push(BindingTarget::Rest(Box::new(self.target(&rest.target))));
                }
                BindingTarget::List(targets)
            }
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                let mut entries: Vec<(Option<String>, BindingTarget)> = Vec::new();
                for property in &object.properties {
                    entries.push(match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(property) => {
                            let name = property.binding.name.to_string();
                            (Some(name.clone()), BindingTarget::Name(name))
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) => {
                            (key(&property.name), self.perhaps(&property.binding))
                        }
                    });
                }
                BindingTarget::Map(entries)
            }
            AssignmentTarget::TSAsExpression(_)
            | AssignmentTarget::TSSatisfiesExpression(_)
            | AssignmentTarget::TSNonNullExpression(_)
            | AssignmentTarget::TSTypeAssertion(_) => BindingTarget::Nowhere,
        };
        self.depth -= 1;
        target
    }

    fn perhaps(&mut self, target: &AssignmentTargetMaybeDefault<'_>) -> BindingTarget {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(assigned) => {
                let inner = self.target(&assigned.binding);
                BindingTarget::Default(Box::new(inner), self.boxed(&assigned.init))
            }
            other => {
                other.as_assignment_target().map_or(BindingTarget::Nowhere, |target| self.target(target))
            }
        }
    }
}

/// The key of an entry or a member, when it is written as it is.
fn key(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
        PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name)),
        PropertyKey::StringLiteral(text) => Some(text.value.to_string()),
        PropertyKey::NumericLiteral(number) => Some(number.value.to_string()),
        _ => None,
    }
}

/// A number when it is whole and small enough to be exact.
fn whole_number(number: f64) -> Expression {
    let limit = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= limit {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and within the limit above")]
        let whole = number as i64;
        Expression::Number(whole)
    } else {
        Expression::Within(Vec::new())
    }
}
