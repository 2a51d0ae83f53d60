//! Expressions.

use std::sync::Arc;

use oxc_ast::ast::{
    self, AssignmentOperator, BinaryOperator, ChainElement, LogicalOperator, ObjectPropertyKind,
    UnaryOperator, UpdateOperator,
};

use super::{Reader, key};
use crate::tree::{Argument, BindingTarget, Expression, How, Joint, Operator};

impl Reader {
    pub(super) fn boxed(&mut self, expression: &ast::Expression<'_>) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    pub(super) fn expression(&mut self, expression: &ast::Expression<'_>) -> Expression {
        if !self.nesting.enter() {
            return Expression::Cut;
        }
        let read = self.expression_here(expression);
        self.nesting.leave();
        read
    }

    pub(super) fn expression_here(&mut self, expression: &ast::Expression<'_>) -> Expression {
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
                    | UnaryOperator::Void => Expression::Within(vec![*operand]),
                    UnaryOperator::Delete => Expression::Delete(operand),
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

    pub(super) fn member(&mut self, member: &ast::MemberExpression<'_>) -> Expression {
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

    pub(super) fn call(&mut self, call: &ast::CallExpression<'_>) -> Expression {
        let callee = self.boxed(&call.callee);
        Expression::Call(callee, self.arguments(&call.arguments))
    }

    pub(super) fn arguments(&mut self, arguments: &[ast::Argument<'_>]) -> Vec<Argument> {
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

    pub(super) fn object(&mut self, object: &ast::ObjectExpression<'_>) -> Expression {
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

    pub(super) fn template(&mut self, template: &ast::TemplateLiteral<'_>) -> Expression {
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
    pub(super) fn binary(&mut self, expression: &ast::Expression<'_>) -> Expression {
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
