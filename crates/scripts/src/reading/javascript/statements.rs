//! Statements and declarations.

use std::sync::Arc;

use oxc_ast::ast::{
    self, Declaration, ExportDefaultDeclarationKind, ForStatementInit, ForStatementLeft,
    ImportDeclarationSpecifier, ModuleExportName,
};

use super::Reader;
use crate::tree::{BindingTarget, Expression, How, Import, Loop, Statement, SwitchCase, Try};

impl Reader {
    pub(super) fn statements(&mut self, statements: &[ast::Statement<'_>]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    pub(super) fn statement(&mut self, statement: &ast::Statement<'_>) -> Option<Statement> {
        if !self.nesting.enter() {
            return Some(Statement::Cut);
        }
        let read = self.statement_here(statement);
        self.nesting.leave();
        read
    }

    /// The statements of a body, which may be one statement or a block.
    pub(super) fn body(&mut self, statement: &ast::Statement<'_>) -> Vec<Statement> {
        match self.statement(statement) {
            Some(Statement::Block(statements)) => statements,
            Some(other) => vec![other],
            None => Vec::new(),
        }
    }

    /// Statements between braces: with names of their own where they declare some.
    fn block(&mut self, statements: &[ast::Statement<'_>]) -> Statement {
        let declares = statements.iter().any(|statement| match statement {
            ast::Statement::VariableDeclaration(declared) => !declared.kind.is_var(),
            ast::Statement::FunctionDeclaration(_) | ast::Statement::ClassDeclaration(_) => true,
            _ => false,
        });
        let read = self.statements(statements);
        if declares { Statement::Scope(read) } else { Statement::Block(read) }
    }

    /// As [`Reader::block`], in the place of a list of statements.
    fn block_alone(&mut self, statements: &[ast::Statement<'_>]) -> Vec<Statement> {
        match self.block(statements) {
            Statement::Block(statements) => statements,
            other => vec![other],
        }
    }

    pub(super) fn statement_here(&mut self, statement: &ast::Statement<'_>) -> Option<Statement> {
        Some(match statement {
            ast::Statement::BlockStatement(block) => self.block(&block.body),
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
                    fresh: Vec::new(),
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
                let (target, fresh) = self.left(&each.left);
                // The names of the entries, which say nothing.
                let list = Expression::Within(vec![self.expression(&each.right)]);
                self.each(target, fresh, list, &each.body)
            }
            ast::Statement::ForOfStatement(each) => {
                let (target, fresh) = self.left(&each.left);
                let list = self.expression(&each.right);
                self.each(target, fresh, list, &each.body)
            }
            ast::Statement::ForStatement(each) => {
                let mut fresh = Vec::new();
                let start = match &each.init {
                    Some(ForStatementInit::VariableDeclaration(declared)) => {
                        let start = self.declared(declared);
                        if !declared.kind.is_var() {
                            start.iter().for_each(|one| names_declared(one, &mut fresh));
                        }
                        start
                    }
                    Some(other) => other
                        .as_expression()
                        .map(|expression| Statement::Expression(self.expression(expression)))
                        .into_iter()
                        .collect(),
                    None => Vec::new(),
                };
                let has_own = !fresh.is_empty();
                let each = Statement::Loop(Box::new(Loop {
                    start,
                    fresh,
                    over: None,
                    test: each.test.as_ref().map(|test| self.expression(test)),
                    body: self.body(&each.body),
                    step: each.update.as_ref().map(|step| self.expression(step)),
                    otherwise: Vec::new(),
                }));
                if has_own { Statement::Scope(vec![each]) } else { each }
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
                        body: self.block_alone(&case.consequent),
                    })
                    .collect();
                Statement::Match(subject, cases)
            }
            ast::Statement::ThrowStatement(thrown) => {
                Statement::Throw(vec![self.expression(&thrown.argument)])
            }
            ast::Statement::TryStatement(tried) => {
                let body = self.block_alone(&tried.block.body);
                let handlers = tried
                    .handler
                    .iter()
                    .map(|handler| {
                        let target = handler.param.as_ref().map(|param| self.pattern(&param.pattern));
                        (target, self.block_alone(&handler.body.body))
                    })
                    .collect();
                let last = tried.finalizer.as_ref().map(|block| self.block_alone(&block.body));
                Statement::Try(Box::new(Try {
                    body,
                    handlers,
                    otherwise: Vec::new(),
                    last: last.unwrap_or_default(),
                }))
            }
            ast::Statement::WhileStatement(each) => Statement::Loop(Box::new(Loop {
                start: Vec::new(),
                fresh: Vec::new(),
                over: None,
                test: Some(self.expression(&each.test)),
                body: self.body(&each.body),
                step: None,
                otherwise: Vec::new(),
            })),
            ast::Statement::WithStatement(with) => {
                // Any name may mean a member of the object.
                self.nesting.is_cut = true;
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
                self.nesting.is_cut = true;
                Statement::Cut
            }
        })
    }

    pub(super) fn each(
        &mut self,
        target: BindingTarget,
        fresh: Vec<String>,
        list: Expression,
        body: &ast::Statement<'_>,
    ) -> Statement {
        Statement::Loop(Box::new(Loop {
            start: Vec::new(),
            fresh,
            over: Some((target, list)),
            test: None,
            body: self.body(body),
            step: None,
            otherwise: Vec::new(),
        }))
    }

    /// What gets each value, and the names of it that each turn has for itself.
    pub(super) fn left(&mut self, left: &ForStatementLeft<'_>) -> (BindingTarget, Vec<String>) {
        match left {
            ForStatementLeft::VariableDeclaration(declared) => {
                let target = declared
                    .declarations
                    .first()
                    .map_or(BindingTarget::Nowhere, |declarator| self.pattern(&declarator.id));
                let mut names = Vec::new();
                names_of(&target, &mut names);
                if declared.kind.is_var() {
                    self.reserved.extend(names);
                    names = Vec::new();
                }
                (target, names)
            }
            other => {
                let target = other.as_assignment_target();
                (target.map_or(BindingTarget::Nowhere, |target| self.target(target)), Vec::new())
            }
        }
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration<'_>) -> Option<Statement> {
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
                self.nesting.is_cut = true;
                Statement::Cut
            }
        })
    }

    pub(super) fn declared(&mut self, declared: &ast::VariableDeclaration<'_>) -> Vec<Statement> {
        let mut all = Vec::new();
        for declarator in &declared.declarations {
            let target = self.pattern(&declarator.id);
            let value = declarator.init.as_ref().map(|value| self.expression(value));
            if !declared.kind.is_var() {
                all.push(Statement::Declare(target, value));
                continue;
            }
            names_of(&target, &mut self.reserved);
            if let Some(value) = value {
                let assigned = Expression::Assign(Box::new(target), How::Plain, Box::new(value));
                all.push(Statement::Expression(assigned));
            }
        }
        all
    }

    pub(super) fn import(import: &ast::ImportDeclaration<'_>) -> Vec<Statement> {
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
}

/// The names that a statement declares.
fn names_declared(statement: &Statement, names: &mut Vec<String>) {
    match statement {
        Statement::Declare(target, _) => names_of(target, names),
        Statement::Block(several) => several.iter().for_each(|one| names_declared(one, names)),
        _ => {}
    }
}

/// The names that a target gives values to.
fn names_of(target: &BindingTarget, names: &mut Vec<String>) {
    match target {
        BindingTarget::Name(name) => names.push(name.clone()),
        BindingTarget::List(targets) => targets.iter().for_each(|one| names_of(one, names)),
        BindingTarget::Map(entries) => entries.iter().for_each(|(_, one)| names_of(one, names)),
        BindingTarget::Rest(inner) | BindingTarget::Default(inner, _) => names_of(inner, names),
        BindingTarget::Member(_, _) | BindingTarget::Index(_, _) | BindingTarget::Nowhere => {}
    }
}
