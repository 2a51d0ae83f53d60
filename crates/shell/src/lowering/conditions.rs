//! `[[ ... ]]`

use shuck_ast::{ConditionalBinaryOp, ConditionalExpr, ConditionalUnaryOp};

use super::Lowering;
use crate::tree::{ConditionalExpression, Word};

impl Lowering<'_, '_> {
    pub(super) fn condition(&mut self, expression: &ConditionalExpr) -> ConditionalExpression {
        self.deeper(|lowering| lowering.condition_inside(expression))
            .unwrap_or_else(|| ConditionalExpression::Word(Word::default()))
    }

    fn condition_inside(&mut self, expression: &ConditionalExpr) -> ConditionalExpression {
        match expression {
            ConditionalExpr::Parenthesized(inner) => self.condition(&inner.expr),
            ConditionalExpr::Unary(unary) => match unary.op {
                ConditionalUnaryOp::Not => ConditionalExpression::Not(Box::new(self.condition(&unary.expr))),
                _ => ConditionalExpression::Unary(
                    self.operator(unary.op_span, unary.op.as_str()),
                    self.operand(&unary.expr),
                ),
            },
            ConditionalExpr::Binary(binary) => match binary.op {
                ConditionalBinaryOp::And => ConditionalExpression::And(
                    Box::new(self.condition(&binary.left)),
                    Box::new(self.condition(&binary.right)),
                ),
                ConditionalBinaryOp::Or => ConditionalExpression::Or(
                    Box::new(self.condition(&binary.left)),
                    Box::new(self.condition(&binary.right)),
                ),
                _ => ConditionalExpression::Binary(
                    self.operand(&binary.left),
                    self.operator(binary.op_span, binary.op.as_str()),
                    self.operand(&binary.right),
                ),
            },
            ConditionalExpr::Word(_)
            | ConditionalExpr::Pattern(_)
            | ConditionalExpr::Regex(_)
            | ConditionalExpr::VarRef(_) => ConditionalExpression::Word(self.operand(expression)),
        }
    }

    /// Operators are kept as written: `-h` and `-L` are one to the parser.
    fn operator(&self, span: shuck_ast::Span, canonical: &str) -> String {
        let written = self.slice(span);
        if written.is_empty() { canonical } else { written }.to_owned()
    }

    fn operand(&mut self, expression: &ConditionalExpr) -> Word {
        match expression {
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.word_of_condition(word),
            ConditionalExpr::Pattern(pattern) => self.word_at(pattern.span, None),
            ConditionalExpr::VarRef(reference) => self.word_at(reference.span, None),
            ConditionalExpr::Binary(_) | ConditionalExpr::Unary(_) | ConditionalExpr::Parenthesized(_) => {
                self.word_at(expression.span(), None)
            }
        }
    }
}
