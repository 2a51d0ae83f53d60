//! Functions and classes.

use std::sync::Arc;

use oxc_ast::ast::{self, ClassElement, FormalParameters, MethodDefinitionKind};

use super::{Reader, key};
use crate::tree::{
    BindingTarget, CallStyle, Class, Definition, Expression, FunctionParameter, Statement, Takes,
};

impl Reader {
    pub(super) fn function(&mut self, function: &ast::Function<'_>) -> Definition {
        let body = function
            .body
            .as_ref()
            .map(|body| self.with_reserved(|reader| reader.statements(&body.statements)));
        Definition {
            name: function.id.as_ref().map(|id| id.name.to_string()).unwrap_or_default(),
            parameters: self.parameters(&function.params),
            body: body.unwrap_or_default(),
            sort: CallStyle::Plain,
            may_wait: function.r#async,
            decorators: Vec::new(),
        }
    }

    pub(super) fn parameters(&mut self, parameters: &FormalParameters<'_>) -> Vec<FunctionParameter> {
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

    pub(super) fn class(&mut self, class: &ast::Class<'_>) -> Class {
        let mut body = Vec::new();
        for element in &class.body.body {
            match element {
                ClassElement::StaticBlock(block) => {
                    body.push(Statement::Scope(self.with_reserved(|reader| reader.statements(&block.body))));
                }
                ClassElement::MethodDefinition(method) => {
                    self.computed_key(&method.key, &mut body);
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
                    self.computed_key(&property.key, &mut body);
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

    /// What is worked out for a name in brackets.
    fn computed_key(&mut self, name: &ast::PropertyKey<'_>, body: &mut Vec<Statement>) {
        if let (None, Some(value)) = (key(name), name.as_expression()) {
            body.push(Statement::Expression(self.expression(value)));
        }
    }

    pub(super) fn arrow(&mut self, function: &ast::ArrowFunctionExpression<'_>) -> Expression {
        let parameters = self.parameters(&function.params);
        let body = match (function.expression, function.body.statements.as_slice()) {
            (true, [ast::Statement::ExpressionStatement(only)]) => {
                vec![Statement::Return(Some(self.expression(&only.expression)))]
            }
            (_, statements) => self.with_reserved(|reader| reader.statements(statements)),
        };
        Expression::Function(Arc::new(Definition {
            name: String::new(),
            parameters,
            body,
            sort: CallStyle::Plain,
            may_wait: function.r#async,
            decorators: Vec::new(),
        }))
    }
}
